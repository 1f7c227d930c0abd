/* Metrics that are computed from all items at once, such as ECE and the correlation of entropies: one cell against
 * another by a paired permutation test, in which the predictions of the two sides for an item are exchanged at random.
 * If the sides are equally good, every exchange is as likely as what was observed, so the test is exact up to the number of
 * exchanges drawn.
 *
 * Seeds are paired by number, as in the paired bootstrap; the statistic is the mean over seeds of the difference. An item
 * is exchanged in all seeds at once. Where seeds have different items (a test set drawn by seed), each pair of item and
 * seed is exchanged on its own. Cost: the metric of both sides for each exchange; with many items fewer are drawn. */
#include "experiment/compare_cells.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/random/random.h"
#include "evaluate/evaluation_internal.h"
#include "stats/ranks.h"
#include "tool/arrays.h"
#include <math.h>
#include <string.h>

enum { SEED = 0, PURPOSE = 0x53776170, LEAST_DRAWS = 200, MAX_CLASSES = 256 };
#define MAX_WORK 2e8 /* values of items in all exchanges of a metric */

typedef struct {
    double confidence, entropy;
    int32_t label;
} prediction;

typedef struct {
    prediction side[2];
    double human_entropy;
    int32_t gold;
    size_t unit; /* what is exchanged together */
} paired_item;

typedef struct {
    paired_item *item;
    size_t n, capacity, n_units, n_classes, n_seeds;
    size_t *end; /* (n_seeds): items of the seeds up to it */
    size_t end_capacity;
    bool has_human, has_gold;
    dis_names *tasks;                /* of the first seed */
    double *x, *y, *rank_x, *rank_y; /* (n): room for correlations */
} paired_items;

static void paired_items_free(paired_items *s)
{
    dis__free(s->item);
    dis__free(s->end);
    dis__free(s->x);
    dis__free(s->y);
    dis__free(s->rank_x);
    dis__free(s->rank_y);
    dis_names_destroy(s->tasks);
}

static prediction predict(const dis__pooled *p, size_t i)
{
    const double *q = p->p + i * p->n_classes;
    return (prediction){.confidence = q[p->label[i]], .entropy = dis__entropy(q, p->n_classes), .label = p->label[i]};
}

/* Row of each task of `p` among those of `tasks`; *same: all are there. */
static dis_status match(const dis_names *tasks, const dis__pooled *p, size_t **row, bool *same)
{
    size_t found;
    DIS_TRY(dis__names_match_alloc(p->tasks, tasks, row, &found));
    *same = found == p->n_items && dis_names_count(tasks) == p->n_items;
    return DIS_OK;
}

/* The items of one seed; sides that predicted other items or classes are left out. */
static dis_status add_seed(paired_items *s, const dis__pooled *a, const dis__pooled *b)
{
    size_t *unit = NULL, *row = NULL;
    bool same = false, alike = false;
    dis_status status;
    if (!dis__names_equal(a->classes, b->classes) || a->n_classes > MAX_CLASSES) return DIS_OK;
    DIS_TRY_GOTO(status, match(b->tasks, a, &row, &same), end);
    if (!same) goto end;
    if (!s->tasks) DIS_TRY_GOTO(status, dis__names_copy(a->tasks, &s->tasks), end);
    DIS_TRY_GOTO(status, match(s->tasks, a, &unit, &alike), end);
    DIS_TRY_GOTO(status, dis__reserve(&s->item, &s->capacity, s->n, s->n + a->n_items, sizeof *s->item), end);
    DIS_TRY_GOTO(status, dis__reserve(&s->end, &s->end_capacity, s->n_seeds, s->n_seeds + 1, sizeof *s->end), end);
    if (s->n_seeds == 0) {
        s->n_classes = a->n_classes;
        s->n_units = a->n_items;
        s->has_human = true;
    }
    s->has_human = s->has_human && a->human;
    for (size_t i = 0; i < a->n_items; i++) {
        s->has_gold |= a->gold[i] >= 0;
        s->item[s->n++] = (paired_item){
            .side = {predict(a, i), predict(b, row[i])},
            .human_entropy = a->human ? dis__entropy(a->human + i * a->n_classes, a->n_classes) : (double)NAN,
            .gold = a->gold[i],
            .unit = alike ? unit[i] : s->n_units++,
        };
    }
    s->end[s->n_seeds++] = s->n;
end:
    dis__free(unit);
    dis__free(row);
    return status;
}

/* ---- metrics: of the predictions of one side, `swapped` (n_units) says which are those of the other ---- */

static const prediction *chosen(const paired_item *x, const uint8_t *swapped, int side)
{
    return &x->side[side ^ (int)swapped[x->unit]];
}

static dis_status ece(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side, double *out)
{
    double excess[DIS_EVALUATION_MAX_BINS] = {0}, n = 0, sum = 0;
    const size_t n_bins = dis_evaluation_options_default().n_bins;
    for (size_t i = from; i < to; i++) {
        const prediction *p = chosen(&s->item[i], swapped, side);
        if (s->item[i].gold < 0) continue;
        excess[dis__reliability_bin_of(p->confidence, n_bins)] += p->confidence - (p->label == s->item[i].gold);
        n++;
    }
    for (size_t b = 0; b < n_bins; b++) sum += fabs(excess[b]);
    *out = sum / n;
    return DIS_OK;
}

static double pearson(const double *x, const double *y, size_t n)
{
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static void gather_entropies(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side)
{
    for (size_t i = from; i < to; i++) {
        s->x[i - from] = chosen(&s->item[i], swapped, side)->entropy;
        s->y[i - from] = s->item[i].human_entropy;
    }
}

static dis_status correlation(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side, double *out)
{
    gather_entropies(s, from, to, swapped, side);
    *out = pearson(s->x, s->y, to - from);
    return DIS_OK;
}

static dis_status rank_correlation(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side,
                                   double *out)
{
    gather_entropies(s, from, to, swapped, side);
    DIS_TRY(dis__ranks(s->x, to - from, s->rank_x, NULL));
    DIS_TRY(dis__ranks(s->y, to - from, s->rank_y, NULL));
    *out = pearson(s->rank_x, s->rank_y, to - from);
    return DIS_OK;
}

/* Mean of F1 over classes, weighted by the gold labels of a class. */
static dis_status weighted_f1(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side, double *out)
{
    double correct[MAX_CLASSES] = {0}, predicted[MAX_CLASSES] = {0}, gold[MAX_CLASSES] = {0}, n = 0;
    for (size_t i = from; i < to; i++) {
        const prediction *p = chosen(&s->item[i], swapped, side);
        if (s->item[i].gold < 0) continue;
        n++;
        gold[s->item[i].gold]++;
        predicted[p->label]++;
        correct[p->label] += p->label == s->item[i].gold;
    }
    *out = 0;
    for (size_t k = 0; k < s->n_classes; k++)
        if (gold[k] > 0) *out += gold[k] / n * 2 * correct[k] / (gold[k] + predicted[k]);
    return DIS_OK;
}

static dis_status micro_f1(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side, double *out)
{
    double correct = 0, n = 0;
    for (size_t i = from; i < to; i++) {
        if (s->item[i].gold < 0) continue;
        n++;
        correct += chosen(&s->item[i], swapped, side)->label == s->item[i].gold;
    }
    *out = correct / n;
    return DIS_OK;
}

typedef dis_status (*metric_of_side)(paired_items *s, size_t from, size_t to, const uint8_t *swapped, int side,
                                     double *out);

static metric_of_side find_metric(dis_evaluation_metric metric)
{
    static const struct {
        dis_evaluation_metric metric;
        metric_of_side compute;
    } rows[] = {{DIS_EVALUATION_ECE, ece},
                {DIS_EVALUATION_ENTROPY_CORRELATION, correlation},
                {DIS_EVALUATION_ENTROPY_SPEARMAN, rank_correlation},
                {DIS_EVALUATION_WEIGHTED_F1, weighted_f1},
                {DIS_EVALUATION_MICRO_F1, micro_f1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].metric == metric) return rows[i].compute;
    return NULL;
}

bool dis__swap_is_testable(dis_evaluation_metric metric)
{
    return find_metric(metric) != NULL;
}

/* Mean over seeds of the difference of the two sides. */
static dis_status difference(paired_items *s, metric_of_side compute, const uint8_t *swapped, double *out)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_seeds; k++) {
        double value[2];
        for (int side = 0; side < 2; side++)
            DIS_TRY(compute(s, k ? s->end[k - 1] : 0, s->end[k], swapped, side, &value[side]));
        sum += value[0] - value[1];
    }
    *out = sum / (double)s->n_seeds;
    return DIS_OK;
}

static dis_status test(paired_items *s, metric_of_side compute, size_t n_draws, dis__item_test *out)
{
    uint8_t *swapped;
    double observed, now = 0;
    size_t extreme = 1; /* the observed predictions are one of the exchanges */
    n_draws = (size_t)fmax(fmin((double)n_draws, LEAST_DRAWS), fmin((double)n_draws, MAX_WORK / (double)s->n));
    DIS_TRY(dis__alloc_zeroed(&swapped, s->n_units, sizeof *swapped));
    dis_status status = difference(s, compute, swapped, &observed);
    for (size_t d = 0; d < n_draws && status == DIS_OK; d++) {
        for (size_t u = 0; u < s->n_units; u++)
            swapped[u] = (uint8_t)dis__random_below(SEED, PURPOSE, d * s->n_units + u, 2);
        status = difference(s, compute, swapped, &now);
        if (!(fabs(now) < fabs(observed) * (1 - 1e-12))) extreme++;
    }
    dis__free(swapped);
    DIS_TRY(status);
    if (isnan(observed)) return DIS_OK;
    out->is_tested = true;
    out->difference = observed;
    out->p = (double)extreme / (double)(n_draws + 1);
    out->stars = out->p <= .01 ? 2 : out->p <= .05 ? 1 : 0;
    return DIS_OK;
}

/* Seeds that both cells have. */
static dis_status gather(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                         size_t cell, size_t against, const char *set, paired_items *s)
{
    for (size_t r = 0; r < plan->n_runs; r++) {
        const uint64_t seed = plan->run[r].seed;
        dis__pooled a = {0}, b = {0};
        bool seen = plan->run[r].cell != cell, found = false;
        for (size_t q = 0; q < r && !seen; q++) seen = plan->run[q].cell == cell && plan->run[q].seed == seed;
        if (seen) continue;
        dis_status status = dis__pool_folds(ctx, store, plan, state, cell, seed, set, true, &a, &found);
        if (status == DIS_OK && found)
            status = dis__pool_folds(ctx, store, plan, state, against, seed, set, true, &b, &found);
        if (status == DIS_OK && found) status = add_seed(s, &a, &b);
        dis__pooled_free(&a);
        dis__pooled_free(&b);
        DIS_TRY(status);
    }
    return DIS_OK;
}

static dis_status allocate_room(paired_items *s)
{
    DIS_TRY(dis__alloc_array(&s->x, s->n, sizeof *s->x));
    DIS_TRY(dis__alloc_array(&s->y, s->n, sizeof *s->y));
    DIS_TRY(dis__alloc_array(&s->rank_x, s->n, sizeof *s->rank_x));
    return dis__alloc_array(&s->rank_y, s->n, sizeof *s->rank_y);
}

dis_status dis__swap_test(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                          size_t cell, size_t against, const char *set, dis__item_test *tests)
{
    paired_items s = {0};
    dis_status status = gather(ctx, store, plan, state, cell, against, set, &s);
    if (status == DIS_OK && s.n && plan->resamples) status = allocate_room(&s);
    for (size_t m = 0; m < plan->n_measures && status == DIS_OK && s.x; m++) {
        const dis_experiment_measure *measure = &plan->measure[m];
        const metric_of_side compute = find_metric(measure->metric);
        const unsigned needs = (unsigned)dis_evaluation_metric_get(measure->metric)->needs;
        if (!compute || strcmp(measure->set, set) != 0) continue;
        if (((needs & DIS_NEEDS_GOLD) && !s.has_gold) || ((needs & DIS_NEEDS_HUMAN) && !s.has_human)) continue;
        status = test(&s, compute, plan->resamples, &tests[m]);
    }
    paired_items_free(&s);
    return status;
}
