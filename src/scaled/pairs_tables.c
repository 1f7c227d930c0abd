/* Scores, pairs and raters as tables, and how far raters agree: see bradley_terry.c. */
#include "tool/arrays.h"
#include "scaled/pairs.h"
#include "stats/distributions.h"
#include <math.h>
#include <stdlib.h>

#define TIE 1e-9 /* difference of scores that is rounding */

/* Score less the mean of the group, and the rank within it. */
static void score_groups(const dis__pairs *m, double *score, double *rank)
{
    for (size_t k = 0; k < m->n_things; k++) {
        double sum = 0, n = 0;
        rank[k] = 1;
        for (size_t l = 0; l < m->n_things; l++) {
            if (m->group[l] != m->group[k]) continue;
            sum += m->score[l];
            n++;
            rank[k] += m->score[l] > m->score[k] + TIE;
        }
        score[k] = m->score[k] - sum / n;
    }
}

static void count_results(const dis__pairs *m, double *won, double *lost, double *tied)
{
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *x = &m->c[i];
        won[x->a] += x->verdict == DIS_PAIR_FIRST;
        lost[x->b] += x->verdict == DIS_PAIR_FIRST;
        won[x->b] += x->verdict == DIS_PAIR_SECOND;
        lost[x->a] += x->verdict == DIS_PAIR_SECOND;
        tied[x->a] += x->verdict == DIS_PAIR_TIE;
        tied[x->b] += x->verdict == DIS_PAIR_TIE;
    }
}

/* Several groups have one more column, and stand one after the other. */
static dis_status add_groups(const dis__pairs *m, const double *rank, dis_scaled_column *column, dis_scaled *out)
{
    const size_t n = m->n_things;
    double *group = NULL, *key;
    if (m->n_groups > 1) {
        DIS_TRY(dis__scaled_init_column(out, column, "group", n, &group));
        for (size_t k = 0; k < n; k++) group[k] = m->group[k] + 1;
        dis__scaled_add_note(out,
                             "%zu groups of things were never compared with each other: scores and ranks hold within a "
                             "group alone",
                             m->n_groups);
    }
    DIS_TRY(dis__scaled_allocate(out, &key, n, sizeof *key));
    for (size_t k = 0; k < n; k++) key[k] = -((double)m->group[k] * (double)(n + 1) + rank[k]);
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

static dis_status add_scores(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_things;
    dis_scaled_column *c;
    double *score, *se, *rank, *won, *lost, *tied;
    DIS_TRY(dis__scaled_add_table(out, "labels", "scores of what was compared, the best first", n,
                                  7 + (m->n_groups > 1), &c));
    c[0] = (dis_scaled_column){.name = "thing", .names = m->things};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "score", n, &score));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "se", n, &se));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "rank", n, &rank));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "won", n, &won));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "lost", n, &lost));
    DIS_TRY(dis__scaled_init_column(out, &c[6], "tied", n, &tied));
    for (size_t k = 0; k < n; k++) se[k] = m->se[k];
    score_groups(m, score, rank);
    count_results(m, won, lost, tied);
    return add_groups(m, rank, &c[7], out);
}

static double difference_error(const dis__pairs *m, size_t k, size_t l)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_things; i++) {
        const double d = m->spread[k * m->n_things + i] - m->spread[l * m->n_things + i];
        sum += d * d;
    }
    return sqrt(sum);
}

/* Which ranks a thing can have: 1 plus the things that are clearly better, and the size of the group less those that
 * are clearly worse, in the plain model. Clearly: a two-sided test at 5 %, divided by the number of comparisons of the thing (Bonferroni).
 */
static dis_status add_ranks(const dis__pairs *m, const dis__pairs *plain, dis_scaled *out)
{
    const size_t n = m->n_things;
    dis_scaled_column *c;
    double *rank, *best, *worst, *size;
    DIS_TRY(dis__scaled_add_table(out, "ranks", "ranks of things with 95 % intervals, the best first", n, 4, &c));
    c[0] = (dis_scaled_column){.name = "thing", .names = m->things};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "rank", n, &rank));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "rank_low", n, &best));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "rank_high", n, &worst));
    DIS_TRY(dis__scaled_allocate(out, &size, m->n_groups, sizeof *size));
    for (size_t k = 0; k < n; k++) size[m->group[k]]++;
    for (size_t k = 0; k < n; k++) {
        const double others = fmax(1, size[m->group[k]] - 1), z = dis__normal_quantile(1 - .025 / others);
        rank[k] = best[k] = 1;
        worst[k] = size[m->group[k]];
        for (size_t l = 0; l < n; l++) {
            if (l == k || m->group[l] != m->group[k]) continue;
            const double d = plain->score[l] - plain->score[k], se = difference_error(plain, k, l);
            rank[k] += m->score[l] - m->score[k] > TIE;
            best[k] += d > z * se;
            worst[k] -= d < -z * se;
        }
        best[k] = fmin(best[k], rank[k]);
        worst[k] = fmax(worst[k], rank[k]);
    }
    double *key;
    DIS_TRY(dis__scaled_allocate(out, &key, n, sizeof *key));
    for (size_t k = 0; k < n; k++) key[k] = -((double)m->group[k] * (double)(n + 1) + rank[k]);
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

/* The same two things of one task lie together, and within them the same worker. */
static int by_place(const void *x, const void *y)
{
    const dis__comparison *p = x, *q = y;
    const uint32_t low_p = p->a < p->b ? p->a : p->b, low_q = q->a < q->b ? q->a : q->b;
    const uint32_t high_p = p->a + p->b - low_p, high_q = q->a + q->b - low_q;
    if (p->task != q->task) return p->task < q->task ? -1 : 1;
    if (low_p != low_q) return low_p < low_q ? -1 : 1;
    if (high_p != high_q) return high_p < high_q ? -1 : 1;
    return p->worker < q->worker ? -1 : p->worker > q->worker;
}

static bool same_place(const dis__comparison *p, const dis__comparison *q)
{
    return p->task == q->task && ((p->a == q->a && p->b == q->b) || (p->a == q->b && p->b == q->a));
}

/* DIS_PAIR_FIRST: the thing with the lower number. */
static uint32_t opinion(const dis__comparison *c)
{
    return c->verdict == DIS_PAIR_TIE                        ? DIS_PAIR_TIE
           : (c->verdict == DIS_PAIR_FIRST) == (c->a < c->b) ? DIS_PAIR_FIRST
                                                             : DIS_PAIR_SECOND;
}

typedef struct {
    double *votes, *share, *first, *both, *kept, *agreed, *compared; /* (n_workers) */
} rater_counts;

static double is_other(const void *arg, size_t a, size_t b)
{
    (void)arg;
    return a != b;
}

/* Opinions of one worker on one pair of a task, by the order in which the pair was shown. */
typedef struct {
    double n[2], opinion[2][3]; /* [lower number first, higher number first] */
} rater_opinions;

static rater_opinions count_opinions(const dis__comparison *c, const uint32_t *kind, size_t n)
{
    rater_opinions own = {.n = {0}};
    for (size_t i = 0; i < n; i++) {
        const int order = c[i].a > c[i].b;
        own.n[order]++;
        own.opinion[order][kind[i]]++;
    }
    return own;
}

static size_t end_of_worker(const dis__comparison *c, size_t i, size_t end)
{
    size_t last = i;
    while (last < end && c[last].worker == c[i].worker) last++;
    return last;
}

/* What is measured, with a value per item or per worker and item: at most one per comparison. */
typedef struct {
    uint64_t *start;
    uint32_t *kind;
    double *same, *kept, *first;
    size_t n_items, n_kept;
} pair_agreement;

/* Comparisons from `from` to `end` are of one pair of a task. Pairs of opinions are counted, not listed: a pair that
 * one worker saw n times has n^2 of them. */
static void measure_item(const dis__pairs *m, const rater_counts *r, size_t from, size_t end, pair_agreement *x)
{
    double all[3] = {0}, pairs = 0, agree = 0;
    for (size_t i = from; i < end; i++) all[x->kind[i]]++;
    for (size_t i = from, last; i < end; i = last) {
        last = end_of_worker(m->c, i, end);
        const rater_opinions own = count_opinions(m->c + i, x->kind + i, last - i);
        const size_t w = m->c[i].worker;
        double same = 0, kept = 0;
        for (int k = 0; k < 3; k++) {
            const double mine = own.opinion[0][k] + own.opinion[1][k];
            same += mine * (all[k] - mine);
            kept += own.opinion[0][k] * own.opinion[1][k];
        }
        const double compared = (double)(last - i) * (double)(end - from - (last - i)), both = own.n[0] * own.n[1];
        r->compared[w] += compared;
        r->agreed[w] += same;
        r->both[w] += both;
        r->kept[w] += kept;
        pairs += compared / 2;
        agree += same / 2;
        if (both > 0) x->kept[x->n_kept++] = kept / both;
    }
    x->same[x->n_items] = pairs > 0 ? agree / pairs : NAN;
    x->start[++x->n_items] = end;
}

/* Items are pairs of a task; of a worker who saw a pair more than once, all opinions count. */
static dis_status measure(dis__pairs *m, const rater_counts *r, dis_scaled *out)
{
    pair_agreement x = {.n_items = 0};
    dis_status status = DIS_OK;
    const size_t resamples = m->args->o->resamples;
    const uint64_t seed = m->args->o->seed;
    DIS_TRY(dis__scaled_allocate(out, &x.start, m->n + 1, sizeof *x.start));
    DIS_TRY(dis__scaled_allocate(out, &x.kind, m->n, sizeof *x.kind));
    DIS_TRY(dis__scaled_allocate(out, &x.same, m->n, sizeof *x.same));
    DIS_TRY(dis__scaled_allocate(out, &x.kept, m->n, sizeof *x.kept));
    DIS_TRY(dis__scaled_allocate(out, &x.first, m->n, sizeof *x.first));
    qsort(m->c, m->n, sizeof *m->c, by_place);
    for (size_t i = 0, end; i < m->n; i = end) {
        for (end = i; end < m->n && same_place(&m->c[i], &m->c[end]); end++) x.kind[end] = opinion(&m->c[end]);
        measure_item(m, r, i, end, &x);
    }
    for (size_t i = 0; i < m->n; i++) x.first[i] = dis__comparison_outcome(&m->c[i]);
    const dis__alpha_input in = {
        .n_items = x.n_items, .n_kinds = 3, .start = x.start, .kind = x.kind, .distance = is_other};
    dis__scaled_add_measure(out, "agreement", "Votes that agree on the same pair",
                            dis__mean_metric_compute(m->args->ctx, x.same, x.n_items, resamples, seed, &status));
    dis__scaled_add_measure(out, "alpha_nominal", "Krippendorff's alpha of votes on the same pair",
                            dis__alpha_compute(m->args->ctx, &in, resamples, seed, &status));
    dis__scaled_add_measure(out, "kept", "Votes unchanged when the order is swapped",
                            dis__mean_metric_compute(m->args->ctx, x.kept, x.n_kept, resamples, seed, &status));
    dis__scaled_add_measure(out, "first_preferred", "Share of votes for the first shown (a tie is half)",
                            dis__mean_metric_compute(m->args->ctx, x.first, m->n, resamples, seed, &status));
    return status;
}

/* The share of comparisons without a tie that the scores foretell. */
static void add_foretold(const dis__pairs *m, dis_scaled *out)
{
    double right = 0;
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        if (c->verdict == DIS_PAIR_TIE) continue;
        n++;
        const double d = m->score[c->a] - m->score[c->b];
        right += d == 0 ? .5 : (d > 0) == (c->verdict == DIS_PAIR_FIRST);
    }
    dis__scaled_add_measure(out, "foretold", "Comparisons that agree with the scores",
                            n ? (dis_metric){.value = right / (double)n, .n = n}
                              : dis__metric_undefined("there are only ties"));
}

static dis_status add_raters(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->args->view.n_workers;
    dis_scaled_column *c;
    rater_counts r;
    double *reliability, *key;
    DIS_TRY(dis__scaled_add_table(out, "workers", "raters by their reliability, the lowest first", n, 9, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = m->args->view.workers};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "votes", n, &r.votes));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "reliability", n, &reliability));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "by_scores", n, &r.share));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "first_preferred", n, &r.first));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "agreement", n, &r.agreed));
    DIS_TRY(dis__scaled_init_column(out, &c[6], "compared", n, &r.compared));
    DIS_TRY(dis__scaled_init_column(out, &c[7], "kept", n, &r.kept));
    DIS_TRY(dis__scaled_init_column(out, &c[8], "swapped", n, &r.both));
    DIS_TRY(dis__scaled_allocate(out, &key, n, sizeof *key));
    const size_t at = out->n_tables - 1;
    DIS_TRY(measure(m, &r, out));
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *x = &m->c[i];
        const double d = m->score[x->a] - m->score[x->b], won = dis__comparison_outcome(x);
        r.votes[x->worker]++;
        r.first[x->worker] += won;
        r.share[x->worker] += d == 0 || x->verdict == DIS_PAIR_TIE ? .5 : (d > 0) == (x->verdict == DIS_PAIR_FIRST);
    }
    for (size_t w = 0; w < n; w++) {
        reliability[w] = m->o->reliability ? m->reliability[w] : NAN;
        r.share[w] = r.votes[w] > 0 ? r.share[w] / r.votes[w] : NAN;
        r.first[w] = r.votes[w] > 0 ? r.first[w] / r.votes[w] : NAN;
        r.agreed[w] = r.compared[w] > 0 ? r.agreed[w] / r.compared[w] : NAN;
        r.kept[w] = r.both[w] > 0 ? r.kept[w] / r.both[w] : NAN;
        key[w] = m->o->reliability ? -m->reliability[w] : -r.share[w];
    }
    return dis__scaled_sort_table(out, &out->table[at], key);
}

/* Pairs of things by how evenly opinions are split. */
static dis_status add_pairs(dis__pairs *m, dis_scaled *out)
{
    const size_t K = m->n_things;
    size_t n = 0;
    double *cell, *key, *first, *second, *ties, *chance;
    uint32_t *a, *b;
    DIS_TRY(dis__alloc_zeroed(&cell, dis__saturating_size(dis__saturating_size(K, K, 0), 3, 0), sizeof *cell));
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        const size_t low = c->a < c->b ? c->a : c->b, high = c->a < c->b ? c->b : c->a;
        cell[(low * K + high) * 3 + opinion(c)]++;
    }
    for (size_t i = 0; i < K * K; i++) n += cell[3 * i] + cell[3 * i + 1] + cell[3 * i + 2] > 0;
    dis_scaled_column *c;
    dis_status status =
        dis__scaled_add_table(out, "items", "pairs of things by how evenly opinions are split", n, 6, &c);
    if (status == DIS_OK) status = dis__scaled_allocate(out, &a, n, sizeof *a);
    if (status == DIS_OK) status = dis__scaled_allocate(out, &b, n, sizeof *b);
    if (status == DIS_OK) status = dis__scaled_allocate(out, &key, n, sizeof *key);
    if (status == DIS_OK) status = dis__scaled_init_column(out, &c[2], "for_a", n, &first);
    if (status == DIS_OK) status = dis__scaled_init_column(out, &c[3], "for_b", n, &second);
    if (status == DIS_OK) status = dis__scaled_init_column(out, &c[4], "ties", n, &ties);
    if (status == DIS_OK) status = dis__scaled_init_column(out, &c[5], "p_a", n, &chance);
    n = 0;
    for (size_t i = 0; status == DIS_OK && i < K * K; i++) {
        const double *x = cell + 3 * i, all = x[0] + x[1] + x[2];
        if (!(all > 0)) continue;
        a[n] = (uint32_t)(i / K);
        b[n] = (uint32_t)(i % K);
        first[n] = x[0];
        second[n] = x[1];
        ties[n] = x[2];
        chance[n] = 1 / (1 + exp(m->score[b[n]] - m->score[a[n]]));
        key[n++] = -fabs((x[0] + .5 * x[2]) / all - .5);
    }
    dis__free(cell);
    if (status != DIS_OK) return status;
    c[0] = (dis_scaled_column){.name = "a", .names = m->things, .index = a};
    c[1] = (dis_scaled_column){.name = "b", .names = m->things, .index = b};
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

dis_status dis__pairs_add_results(dis__pairs *m, const dis__pairs *plain, dis_scaled *out)
{
    DIS_TRY(add_scores(m, out));
    DIS_TRY(add_pairs(m, out));
    DIS_TRY(add_raters(m, out));
    add_foretold(m, out);
    return add_ranks(m, plain, out);
}
