/* Comparisons of two things: scores by the model of Bradley and Terry (1952) with the reliability of raters.
 *
 *     P(a is preferred to b by rater w) = 1 / (1 + exp(-r_w (s_a - s_b)))
 *
 * Scores s have a penalty `penalty` s^2 (choix' alpha), reliabilities a prior N(1, spread^2): 0 is a rater who says
 * nothing, below 0 one who says the opposite (Chen et al. 2013 have raters who do). A tie counts as half a comparison
 * each way. reliability=no is the plain model, all r_w = 1.
 *
 * Newton's method for all scores at once (dense, at most MAX_THINGS of them), halved until it does not lose; then one for
 * each r_w, which is concave given the scores; in turn until the objective settles. Standard errors come from the inverse
 * of the negative Hessian, for scores less their mean; scores sum to 0.
 *
 * Agreement: the share of pairs of raters who say the same of the same two things (of one task), in whatever order they
 * saw them, and alpha of that; of raters who saw two things in both orders, the share that kept to their opinion; how
 * often the first of two is preferred.
 *
 * Cost: an iteration is a pass over the comparisons and n^3 / 3 for n things. */
#include "scaled/scaled_internal.h"
#include "votes/scales.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance, penalty, spread;
    int reliability;
} pairs_options;

static const dis_option options[] = {
    {.key = "reliability",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(pairs_options, reliability),
     .fallback = "yes",
     .choices = "no|yes",
     .summary = "whether raters differ in how far they can be relied on"},
    {.key = "penalty",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(pairs_options, penalty),
     .fallback = ".01",
     .low = 1e-9,
     .high = 1e6,
     .summary = "of the square of a score: keeps things that always win finite"},
    {.key = "spread",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(pairs_options, spread),
     .fallback = ".5",
     .low = 1e-3,
     .high = 100,
     .summary = "how far reliabilities are expected to differ from 1"},
    {.key = "iterations",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(pairs_options, iterations),
     .fallback = "200",
     .low = 1,
     .high = 1e9,
     .summary = "maximum number of iterations"},
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(pairs_options, tolerance),
     .fallback = "1e-10",
     .low = 0,
     .high = 1,
     .summary = "stop when the objective changes by less, relative to itself; 0: never"},
};

enum { MAX_THINGS = 2000, MAX_HALVINGS = 40, FIRST = 0, SECOND = 1, TIE = 2 };

typedef struct {
    uint32_t task, a, b, worker; /* task: number of the text before the parts */
    uint32_t verdict;            /* FIRST, SECOND, TIE */
} comparison;

typedef struct {
    const dis__scaled_args *args;
    const pairs_options *o;
    const dis_names *things;
    size_t n_things, n;
    comparison *c;              /* (n) */
    double *score, *trial, *se; /* (n_things) */
    double *reliability;        /* (n_workers) */
    double *hessian, *slope;    /* (n_things, n_things), (n_things) */
} model;

/* ---- reading ---- */

typedef struct {
    const char *text;
    uint32_t n, number;
} named;

static int by_text(const void *x, const void *y)
{
    const named *a = x, *b = y;
    const int order = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    return order ? order : a->n < b->n ? -1 : a->n > b->n;
}

/* Numbers of texts by their order; room for `list` (n) names, of which *n_different are different. */
static void number_texts(named *at, size_t n, uint32_t *number, size_t *n_different)
{
    for (size_t i = 0; i < n; i++) at[i].number = (uint32_t)i;
    qsort(at, n, sizeof *at, by_text);
    *n_different = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_text(&at[i - 1], &at[i]) != 0) ++*n_different;
        number[at[i].number] = (uint32_t)(*n_different - 1);
    }
}

/* The text before the parts of a task, and both parts. */
static bool split(const char *text, size_t n, named part[3])
{
    const char *last = memrchr(text, DIS_PARTS, n);
    const char *middle = last ? memrchr(text, DIS_PARTS, (size_t)(last - text)) : NULL;
    if (!last) return false;
    part[2] = (named){.text = last + 1, .n = (uint32_t)(text + n - last - 1)};
    part[1] = middle ? (named){.text = middle + 1, .n = (uint32_t)(last - middle - 1)}
                     : (named){.text = text, .n = (uint32_t)(last - text)};
    part[0] = middle ? (named){.text = text, .n = (uint32_t)(middle - text)} : (named){.text = "", .n = 0};
    return true;
}

static dis_status name_things(model *m, dis_scaled *out, const named *sorted, size_t n)
{
    char **text;
    size_t k = 0;
    DIS_TRY(dis__alloc_zeroed(&text, m->n_things, sizeof *text));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        if (i == 0 || by_text(&sorted[i - 1], &sorted[i]) != 0)
            status = dis__copy_text(&text[k++], sorted[i].text, sorted[i].n);
    if (status == DIS_OK) status = dis__scaled_list(out, (const char *const *)text, m->n_things, &m->things);
    for (size_t i = 0; i < m->n_things; i++) dis__free(text[i]);
    dis__free(text);
    return status;
}

static dis_status take(model *m, dis_scaled *out)
{
    const dis_votes_view *v = &m->args->look;
    named *thing, *task;
    uint32_t *of_thing, *of_task;
    size_t n_tasks;
    DIS_TRY(dis__scaled_room(out, &thing, 2 * v->n_items, sizeof *thing));
    DIS_TRY(dis__scaled_room(out, &task, v->n_items, sizeof *task));
    DIS_TRY(dis__scaled_room(out, &of_thing, 2 * v->n_items, sizeof *of_thing));
    DIS_TRY(dis__scaled_room(out, &of_task, v->n_items, sizeof *of_task));
    DIS_TRY(dis__scaled_room(out, &m->c, v->n_votes, sizeof *m->c));
    for (size_t i = 0; i < v->n_items; i++) {
        size_t n;
        named part[3];
        const char *text = dis_names_get(v->tasks, i, &n);
        if (!split(text, n, part))
            return dis__fail(DIS_EDATA, "\"%.100s\" is no pair of things; read the votes with their columns a and b",
                             text);
        task[i] = part[0];
        thing[2 * i] = part[1];
        thing[2 * i + 1] = part[2];
    }
    number_texts(thing, 2 * v->n_items, of_thing, &m->n_things);
    DIS_TRY(name_things(m, out, thing, 2 * v->n_items));
    number_texts(task, v->n_items, of_task, &n_tasks);
    uint32_t verdict[3] = {TIE, TIE, TIE};
    for (size_t k = 0; k < v->n_classes && k < 3; k++) {
        const char *name = dis_names_get(v->classes, k, NULL);
        verdict[k] = strcmp(name, "a") == 0 ? FIRST : strcmp(name, "b") == 0 ? SECOND : TIE;
    }
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
            const size_t label = v->label8 ? v->label8[n] : v->label16[n];
            m->c[m->n++] = (comparison){.task = of_task[i],
                                        .a = of_thing[2 * i],
                                        .b = of_thing[2 * i + 1],
                                        .worker = v->worker[n],
                                        .verdict = label < 3 ? verdict[label] : TIE};
        }
    return DIS_OK;
}

/* ---- the model ---- */

static double log_sigma(double x)
{
    return x >= 0 ? -log1p(exp(-x)) : x - log1p(exp(x));
}

/* Log-likelihood of a comparison at x = r (s_a - s_b). */
static double log_chance(const comparison *c, double x)
{
    return c->verdict == FIRST    ? log_sigma(x)
           : c->verdict == SECOND ? log_sigma(-x)
                                  : .5 * (log_sigma(x) + log_sigma(-x));
}

static double objective(const model *m, const double *score)
{
    double sum = 0;
    for (size_t i = 0; i < m->n; i++) {
        const comparison *c = &m->c[i];
        sum += log_chance(c, m->reliability[c->worker] * (score[c->a] - score[c->b]));
    }
    for (size_t k = 0; k < m->n_things; k++) sum -= m->o->penalty * score[k] * score[k];
    for (size_t w = 0; w < m->args->look.n_workers; w++) {
        const double z = (m->reliability[w] - 1) / m->o->spread;
        sum -= .5 * z * z;
    }
    return sum;
}

/* Slopes, and the negative Hessian (lower half), of the scores. */
static void derive(const model *m)
{
    const size_t n = m->n_things;
    memset(m->hessian, 0, n * n * sizeof *m->hessian);
    for (size_t k = 0; k < n; k++) {
        m->slope[k] = -2 * m->o->penalty * m->score[k];
        m->hessian[k * n + k] = 2 * m->o->penalty;
    }
    for (size_t i = 0; i < m->n; i++) {
        const comparison *c = &m->c[i];
        const double r = m->reliability[c->worker], p = 1 / (1 + exp(-r * (m->score[c->a] - m->score[c->b])));
        const double won = c->verdict == FIRST ? 1 : c->verdict == SECOND ? 0 : .5, bend = r * r * p * (1 - p);
        if (c->a == c->b) continue;
        m->slope[c->a] += r * (won - p);
        m->slope[c->b] -= r * (won - p);
        m->hessian[c->a * n + c->a] += bend;
        m->hessian[c->b * n + c->b] += bend;
        m->hessian[(c->a > c->b ? c->a * n + c->b : c->b * n + c->a)] -= bend;
    }
}

/* Cholesky in place, lower half. */
static void factor(double *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = h[i * n + j];
            for (size_t l = 0; l < j; l++) x -= h[i * n + l] * h[j * n + l];
            h[i * n + j] = i > j ? x / h[j * n + j] : sqrt(x > 1e-300 ? x : 1e-300);
        }
}

static void solve(const double *h, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < i; l++) x[i] -= h[i * n + l] * x[l];
        x[i] /= h[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t l = i + 1; l < n; l++) x[i] -= h[l * n + i] * x[l];
        x[i] /= h[i * n + i];
    }
}

static void step_scores(const model *m)
{
    const size_t n = m->n_things;
    const double before = objective(m, m->score);
    double length = 1;
    derive(m);
    factor(m->hessian, n);
    solve(m->hessian, n, m->slope);
    for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
        for (size_t k = 0; k < n; k++) m->trial[k] = m->score[k] + length * m->slope[k];
        if (!(objective(m, m->trial) >= before - 1e-12 * fabs(before))) continue;
        memcpy(m->score, m->trial, n * sizeof *m->score);
        return;
    }
}

/* One Newton step of every reliability, halved until the worker's own part does not lose. */
static dis_status step_raters(const model *m, const uint64_t *start, const uint32_t *of)
{
    const double tau = 1 / (m->o->spread * m->o->spread);
    for (size_t w = 0; w < m->args->look.n_workers; w++) {
        const double r = m->reliability[w];
        double before = -.5 * tau * (r - 1) * (r - 1), slope = -tau * (r - 1), bend = tau;
        for (uint64_t k = start[w]; k < start[w + 1]; k++) {
            const comparison *c = &m->c[of[k]];
            const double d = m->score[c->a] - m->score[c->b], p = 1 / (1 + exp(-r * d));
            const double won = c->verdict == FIRST ? 1 : c->verdict == SECOND ? 0 : .5;
            before += log_chance(c, r * d);
            slope += d * (won - p);
            bend += d * d * p * (1 - p);
        }
        double step = slope / bend;
        for (int halving = 0; halving < MAX_HALVINGS; halving++, step /= 2) {
            double now = -.5 * tau * (r + step - 1) * (r + step - 1);
            for (uint64_t k = start[w]; k < start[w + 1]; k++) {
                const comparison *c = &m->c[of[k]];
                now += log_chance(c, (r + step) * (m->score[c->a] - m->score[c->b]));
            }
            if (!(now >= before - 1e-12 * fabs(before))) continue;
            m->reliability[w] = r + step;
            break;
        }
    }
    return DIS_OK;
}

static dis_status index_raters(const model *m, dis_scaled *out, uint64_t **start, uint32_t **of)
{
    const size_t n_workers = m->args->look.n_workers;
    DIS_TRY(dis__scaled_room(out, start, n_workers + 2, sizeof **start));
    DIS_TRY(dis__scaled_room(out, of, m->n, sizeof **of));
    for (size_t i = 0; i < m->n; i++) (*start)[m->c[i].worker + 2]++;
    for (size_t w = 0; w < n_workers; w++) (*start)[w + 2] += (*start)[w + 1];
    for (size_t i = 0; i < m->n; i++) (*of)[(*start)[m->c[i].worker + 1]++] = (uint32_t)i;
    return DIS_OK;
}

static dis_status fit(model *m, dis_scaled *out)
{
    uint64_t *start;
    uint32_t *of;
    double before = -INFINITY;
    DIS_TRY(index_raters(m, out, &start, &of));
    for (size_t w = 0; w < m->args->look.n_workers; w++) m->reliability[w] = 1;
    out->converged = false;
    for (int64_t n = 1; n <= m->o->iterations && !out->converged; n++) {
        DIS_TRY(dis__check_stop(m->args->ctx));
        step_scores(m);
        if (m->o->reliability) DIS_TRY(step_raters(m, start, of));
        const double now = objective(m, m->score);
        out->converged = m->o->tolerance > 0 && fabs(now - before) <= m->o->tolerance * fabs(now);
        out->iterations = (int)n;
        before = now;
    }
    return DIS_OK;
}

/* Of scores less their mean: the square root of u' H^-1 u, u being 1 at the thing less 1 / n everywhere. */
static void errors(const model *m)
{
    const size_t n = m->n_things;
    derive(m);
    factor(m->hessian, n);
    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) { /* L y = u, and the sum of y^2 */
            double x = (i == k) - 1 / (double)n;
            for (size_t l = 0; l < i; l++) x -= m->hessian[i * n + l] * m->slope[l];
            m->slope[i] = x / m->hessian[i * n + i];
            sum += m->slope[i] * m->slope[i];
        }
        m->se[k] = sqrt(sum);
    }
}

/* ---- tables ---- */

static dis_status add_scores(model *m, dis_scaled *out)
{
    const size_t n = m->n_things;
    dis_scaled_column *c;
    double *score, *se, *rank, *won, *lost, *tied;
    DIS_TRY(dis__scaled_add(out, "labels", "scores of what was compared, the best first", n, 7, &c));
    c[0] = (dis_scaled_column){.name = "thing", .names = m->things};
    DIS_TRY(dis__scaled_numbers(out, &c[1], "score", n, &score));
    DIS_TRY(dis__scaled_numbers(out, &c[2], "se", n, &se));
    DIS_TRY(dis__scaled_numbers(out, &c[3], "rank", n, &rank));
    DIS_TRY(dis__scaled_numbers(out, &c[4], "won", n, &won));
    DIS_TRY(dis__scaled_numbers(out, &c[5], "lost", n, &lost));
    DIS_TRY(dis__scaled_numbers(out, &c[6], "tied", n, &tied));
    double mean = 0;
    for (size_t k = 0; k < n; k++) mean += m->score[k] / (double)n;
    for (size_t k = 0; k < n; k++) {
        score[k] = m->score[k] - mean;
        se[k] = m->se[k];
        rank[k] = 1;
        for (size_t l = 0; l < n; l++) rank[k] += m->score[l] > m->score[k];
    }
    for (size_t i = 0; i < m->n; i++) {
        const comparison *x = &m->c[i];
        won[x->a] += x->verdict == FIRST;
        lost[x->b] += x->verdict == FIRST;
        won[x->b] += x->verdict == SECOND;
        lost[x->a] += x->verdict == SECOND;
        tied[x->a] += x->verdict == TIE;
        tied[x->b] += x->verdict == TIE;
    }
    return dis__scaled_sort(out, &out->table[out->n_tables - 1], score);
}

/* The same two things of one task lie together, and within them the same worker. */
static int by_place(const void *x, const void *y)
{
    const comparison *p = x, *q = y;
    const uint32_t low_p = p->a < p->b ? p->a : p->b, low_q = q->a < q->b ? q->a : q->b;
    const uint32_t high_p = p->a + p->b - low_p, high_q = q->a + q->b - low_q;
    if (p->task != q->task) return p->task < q->task ? -1 : 1;
    if (low_p != low_q) return low_p < low_q ? -1 : 1;
    if (high_p != high_q) return high_p < high_q ? -1 : 1;
    return p->worker < q->worker ? -1 : p->worker > q->worker;
}

static bool same_place(const comparison *p, const comparison *q)
{
    return p->task == q->task && ((p->a == q->a && p->b == q->b) || (p->a == q->b && p->b == q->a));
}

/* FIRST: the thing with the lower number. */
static uint32_t opinion(const comparison *c)
{
    return c->verdict == TIE ? TIE : (c->verdict == FIRST) == (c->a < c->b) ? FIRST : SECOND;
}

typedef struct {
    double *votes, *share, *first, *both, *kept, *agreed, *compared; /* (n_workers) */
} rater_counts;

static double is_other(const void *arg, size_t a, size_t b)
{
    (void)arg;
    return a != b;
}

/* Items are two things of a task; of a worker who saw them more than once, all opinions count. */
static dis_status measure(model *m, const rater_counts *r, dis_scaled *out)
{
    uint64_t *start;
    uint32_t *kind;
    double *same, *kept, *first;
    size_t n_items = 0, n_kept = 0;
    dis_status status = DIS_OK;
    const size_t resamples = m->args->o->resamples;
    const uint64_t seed = m->args->o->seed;
    DIS_TRY(dis__scaled_room(out, &start, m->n + 1, sizeof *start));
    DIS_TRY(dis__scaled_room(out, &kind, m->n, sizeof *kind));
    DIS_TRY(dis__scaled_room(out, &same, m->n, sizeof *same));
    DIS_TRY(dis__scaled_room(out, &kept, m->n, sizeof *kept));
    DIS_TRY(dis__scaled_room(out, &first, m->n, sizeof *first));
    qsort(m->c, m->n, sizeof *m->c, by_place);
    for (size_t i = 0, end; i < m->n; i = end) {
        double pairs = 0, agree = 0;
        for (end = i; end < m->n && same_place(&m->c[i], &m->c[end]); end++) kind[end] = opinion(&m->c[end]);
        for (size_t x = i; x < end; x++)
            for (size_t y = i; y < x; y++) {
                const comparison *p = &m->c[x], *q = &m->c[y];
                if (p->worker != q->worker) {
                    pairs++;
                    agree += kind[x] == kind[y];
                    r->compared[p->worker]++;
                    r->compared[q->worker]++;
                    r->agreed[p->worker] += kind[x] == kind[y];
                    r->agreed[q->worker] += kind[x] == kind[y];
                } else if (p->a == q->b && p->a != p->b) {
                    kept[n_kept++] = kind[x] == kind[y];
                    r->both[p->worker]++;
                    r->kept[p->worker] += kind[x] == kind[y];
                }
            }
        same[n_items] = pairs > 0 ? agree / pairs : NAN;
        start[++n_items] = end;
    }
    for (size_t i = 0; i < m->n; i++) first[i] = m->c[i].verdict == FIRST ? 1 : m->c[i].verdict == SECOND ? 0 : .5;
    const dis__alpha_input in = {.n_items = n_items, .n_kinds = 3, .start = start, .kind = kind, .distance = is_other};
    dis__scaled_measure(out, "agreement", "Raters who say the same of the same two",
                        dis__mean_metric(m->args->ctx, same, n_items, resamples, seed, &status));
    dis__scaled_measure(out, "alpha_nominal", "Krippendorff's alpha of the same two",
                        dis__alpha(m->args->ctx, &in, resamples, seed, &status));
    dis__scaled_measure(out, "kept", "Opinions kept when the order was swapped",
                        dis__mean_metric(m->args->ctx, kept, n_kept, resamples, seed, &status));
    dis__scaled_measure(out, "first_preferred", "Share of the first of two (a tie is half)",
                        dis__mean_metric(m->args->ctx, first, m->n, resamples, seed, &status));
    return status;
}

/* The share of comparisons without a tie that the scores foretell. */
static void add_foretold(const model *m, dis_scaled *out)
{
    double right = 0;
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const comparison *c = &m->c[i];
        if (c->verdict == TIE) continue;
        n++;
        const double d = m->score[c->a] - m->score[c->b];
        right += d == 0 ? .5 : (d > 0) == (c->verdict == FIRST);
    }
    dis__scaled_measure(out, "foretold", "Comparisons that go by the scores",
                        n ? (dis_metric){.value = right / (double)n, .n = n}
                          : dis_metric_undefined("there are only ties"));
}

static dis_status add_raters(model *m, dis_scaled *out)
{
    const size_t n = m->args->look.n_workers;
    dis_scaled_column *c;
    rater_counts r;
    double *reliability, *key;
    DIS_TRY(dis__scaled_add(out, "workers", "raters by their reliability, the lowest first", n, 9, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = m->args->look.workers};
    DIS_TRY(dis__scaled_numbers(out, &c[1], "votes", n, &r.votes));
    DIS_TRY(dis__scaled_numbers(out, &c[2], "reliability", n, &reliability));
    DIS_TRY(dis__scaled_numbers(out, &c[3], "by_scores", n, &r.share));
    DIS_TRY(dis__scaled_numbers(out, &c[4], "first_preferred", n, &r.first));
    DIS_TRY(dis__scaled_numbers(out, &c[5], "agreement", n, &r.agreed));
    DIS_TRY(dis__scaled_numbers(out, &c[6], "compared", n, &r.compared));
    DIS_TRY(dis__scaled_numbers(out, &c[7], "kept", n, &r.kept));
    DIS_TRY(dis__scaled_numbers(out, &c[8], "swapped", n, &r.both));
    DIS_TRY(dis__scaled_room(out, &key, n, sizeof *key));
    const size_t at = out->n_tables - 1;
    DIS_TRY(measure(m, &r, out));
    for (size_t i = 0; i < m->n; i++) {
        const comparison *x = &m->c[i];
        const double d = m->score[x->a] - m->score[x->b], won = x->verdict == FIRST ? 1 : x->verdict == SECOND ? 0 : .5;
        r.votes[x->worker]++;
        r.first[x->worker] += won;
        r.share[x->worker] += d == 0 || x->verdict == TIE ? .5 : (d > 0) == (x->verdict == FIRST);
    }
    for (size_t w = 0; w < n; w++) {
        reliability[w] = m->o->reliability ? m->reliability[w] : NAN;
        r.share[w] = r.votes[w] > 0 ? r.share[w] / r.votes[w] : NAN;
        r.first[w] = r.votes[w] > 0 ? r.first[w] / r.votes[w] : NAN;
        r.agreed[w] = r.compared[w] > 0 ? r.agreed[w] / r.compared[w] : NAN;
        r.kept[w] = r.both[w] > 0 ? r.kept[w] / r.both[w] : NAN;
        key[w] = m->o->reliability ? -m->reliability[w] : -r.share[w];
    }
    return dis__scaled_sort(out, &out->table[at], key);
}

/* Pairs of things by how evenly opinions are split. */
static dis_status add_pairs(model *m, dis_scaled *out)
{
    const size_t K = m->n_things;
    size_t n = 0;
    double *cell, *key, *first, *second, *ties, *chance;
    uint32_t *a, *b;
    DIS_TRY(dis__alloc_zeroed(&cell, dis__size(dis__size(K, K, 0), 3, 0), sizeof *cell));
    for (size_t i = 0; i < m->n; i++) {
        const comparison *c = &m->c[i];
        const size_t low = c->a < c->b ? c->a : c->b, high = c->a < c->b ? c->b : c->a;
        cell[(low * K + high) * 3 + opinion(c)]++;
    }
    for (size_t i = 0; i < K * K; i++) n += cell[3 * i] + cell[3 * i + 1] + cell[3 * i + 2] > 0;
    dis_scaled_column *c;
    dis_status status = dis__scaled_add(out, "items", "pairs of things by how evenly opinions are split", n, 6, &c);
    if (status == DIS_OK) status = dis__scaled_room(out, &a, n, sizeof *a);
    if (status == DIS_OK) status = dis__scaled_room(out, &b, n, sizeof *b);
    if (status == DIS_OK) status = dis__scaled_room(out, &key, n, sizeof *key);
    if (status == DIS_OK) status = dis__scaled_numbers(out, &c[2], "for_a", n, &first);
    if (status == DIS_OK) status = dis__scaled_numbers(out, &c[3], "for_b", n, &second);
    if (status == DIS_OK) status = dis__scaled_numbers(out, &c[4], "ties", n, &ties);
    if (status == DIS_OK) status = dis__scaled_numbers(out, &c[5], "p_a", n, &chance);
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
    return dis__scaled_sort(out, &out->table[out->n_tables - 1], key);
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    model m = {.args = args, .o = args->options};
    DIS_TRY(take(&m, out));
    if (m.n_things > MAX_THINGS)
        return dis__fail(DIS_ELIMIT,
                         "%zu things are compared, and at most %d are possible; are a and b the right columns?",
                         m.n_things, MAX_THINGS);
    DIS_TRY(dis__scaled_room(out, &m.score, 4 * m.n_things, sizeof *m.score));
    DIS_TRY(dis__scaled_room(out, &m.hessian, m.n_things * m.n_things, sizeof *m.hessian));
    DIS_TRY(dis__scaled_room(out, &m.reliability, args->look.n_workers, sizeof *m.reliability));
    m.trial = m.score + m.n_things;
    m.se = m.trial + m.n_things;
    m.slope = m.se + m.n_things;
    DIS_TRY(fit(&m, out));
    errors(&m);
    DIS_TRY(add_scores(&m, out));
    DIS_TRY(add_pairs(&m, out));
    DIS_TRY(add_raters(&m, out));
    add_foretold(&m, out);
    return DIS_OK;
}

const dis__scaled_row dis__scaled_pairs = {
    .model = {.name = "bradley-terry",
              .summary = "scores of things from comparisons, with the reliability of raters",
              .source = "Bradley & Terry 1952; Chen et al. 2013",
              .options = options,
              .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(pairs_options),
    .run = run,
};
