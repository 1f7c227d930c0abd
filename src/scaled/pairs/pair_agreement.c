/* How far annotators agree on the same two things, and whether the order in which they see them matters.
 *
 * Agreement: the share of pairs of annotators who say the same of the same two things (of one task), in whatever order
 * they saw them, and alpha of that; of annotators who saw two things in both orders, the share that kept to their
 * opinion; how often the first of two is preferred. Cost: a sort by counting and a pass. */
#include "scaled/pairs/pairs.h"
#include <math.h>

static bool same_place(const dis__comparison *p, const dis__comparison *q)
{
    return p->task == q->task && ((p->a == q->a && p->b == q->b) || (p->a == q->b && p->b == q->a));
}

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
    double *same, *consistent, *first;
    size_t n_items, n_consistent;
} pair_agreement;

/* Comparisons from `from` to `end` are of one pair of a task. Pairs of opinions are counted, not listed: a pair that
 * one worker saw n times has n^2 of them. */
static void measure_item(const dis__pairs *m, const dis__rater_counts *r, size_t from, size_t end, pair_agreement *x)
{
    double all[3] = {0}, pairs = 0, agree = 0;
    for (size_t i = from; i < end; i++) all[x->kind[i]]++;
    for (size_t i = from, last; i < end; i = last) {
        last = end_of_worker(m->c, i, end);
        const rater_opinions own = count_opinions(m->c + i, x->kind + i, last - i);
        const size_t w = m->c[i].worker;
        double same = 0, consistent = 0;
        for (int k = 0; k < 3; k++) {
            const double mine = own.opinion[0][k] + own.opinion[1][k];
            same += mine * (all[k] - mine);
            consistent += own.opinion[0][k] * own.opinion[1][k];
        }
        const double compared = (double)(last - i) * (double)(end - from - (last - i)), both = own.n[0] * own.n[1];
        r->compared[w] += compared;
        r->agreed[w] += same;
        r->both[w] += both;
        r->consistent[w] += consistent;
        pairs += compared / 2;
        agree += same / 2;
        if (both > 0) x->consistent[x->n_consistent++] = consistent / both;
    }
    x->same[x->n_items] = pairs > 0 ? agree / pairs : NAN;
    x->start[++x->n_items] = end;
}

/* Items are pairs of a task; of a worker who saw a pair more than once, all opinions count. */
dis_status dis__pairs_measure(dis__pairs *m, const dis__rater_counts *r, dis_scaled *out)
{
    pair_agreement x = {.n_items = 0};
    dis_status status = DIS_OK;
    const size_t resamples = m->args->o->resamples;
    const uint64_t seed = m->args->o->seed;
    DIS_TRY(dis__scaled_allocate(out, &x.start, m->n + 1, sizeof *x.start));
    DIS_TRY(dis__scaled_allocate(out, &x.kind, m->n, sizeof *x.kind));
    DIS_TRY(dis__scaled_allocate(out, &x.same, m->n, sizeof *x.same));
    DIS_TRY(dis__scaled_allocate(out, &x.consistent, m->n, sizeof *x.consistent));
    DIS_TRY(dis__scaled_allocate(out, &x.first, m->n, sizeof *x.first));
    static const dis__pair_key keys[] = {DIS_BY_TASK, DIS_BY_LOW, DIS_BY_HIGH, DIS_BY_WORKER};
    DIS_TRY(dis__pairs_sort(m, keys, sizeof keys / sizeof *keys));
    for (size_t i = 0, end; i < m->n; i = end) {
        for (end = i; end < m->n && same_place(&m->c[i], &m->c[end]); end++)
            x.kind[end] = dis__pair_opinion(&m->c[end]);
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
                            dis__mean_metric_compute(m->args->ctx, x.consistent, x.n_consistent, resamples, seed,
                                                     &status));
    dis__scaled_add_measure(out, "first_preferred", "Share of votes for the first shown (a tie is half)",
                            dis__mean_metric_compute(m->args->ctx, x.first, m->n, resamples, seed, &status));
    return status;
}
