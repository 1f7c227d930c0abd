/* Accuracy, precision, recall and F1 from the confusion counts.
 *
 * F1 of a class is 2 correct / (gold + predicted), precision correct / predicted, recall correct / gold, each 0 if it
 * would be 0 / 0. Macro-F1 is the mean over the classes that occur in gold or predictions, weighted F1 weights them by
 * gold, micro-F1 pools all decisions, as in scikit-learn. The baseline always answers the most frequent gold label.
 *
 * Intervals: all of these depend on the counts of (gold, predicted) only. Resampling items makes those counts
 * multinomial, so a resample is one draw of cells. Accuracy has its own two cells, correct and wrong, so that it is
 * cheap without F1 and has the same value with it. Cost: a binomial variable for each cell that is not empty. */
#include "evaluate/evaluation_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Per class, of the current items. */
typedef struct {
    uint64_t *gold, *predicted, *right; /* (n_classes) each, stored consecutively */
    uint64_t n;
} class_counts;

enum { MAX_CLASS_INTERVALS = 4096 }; /* classes with an interval each: three columns of resamples */

static bool is_score(size_t metric)
{
    return dis__metrics[metric].aggregate == DIS_CLASS_SCORE;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double f1_of(const class_counts *t, size_t k)
{
    return ratio(2 * (double)t->right[k], (double)(t->gold[k] + t->predicted[k]));
}

static void figures(const class_counts *t, size_t n_classes, size_t majority, double out[DIS_SCORES])
{
    double macro = 0, weighted = 0;
    size_t n = 0, n_base = 0;
    uint64_t right = 0;
    for (size_t k = 0; k < n_classes; k++) {
        const double f1 = f1_of(t, k);
        const bool in_gold = t->gold[k] > 0;
        n += in_gold || t->predicted[k];
        n_base += in_gold || k == majority;
        macro += f1;
        weighted += f1 * (double)t->gold[k];
        right += t->right[k];
    }
    const double all = (double)t->n, base = (double)t->gold[majority];
    out[DIS_SCORE_ACCURACY] = (double)right / all;
    out[DIS_SCORE_MACRO_F1] = macro / (double)n;
    out[DIS_SCORE_WEIGHTED_F1] = weighted / all;
    out[DIS_SCORE_MAJORITY_ACCURACY] = base / all;
    out[DIS_SCORE_MAJORITY_MACRO_F1] = 2 * base / (base + all) / (double)n_base;
}

/* ---- cells ---- */

static int by_code(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static dis_status cells_add(dis__confusion_cells *c, size_t *capacity, uint64_t code, size_t n_classes, uint64_t count)
{
    if (c->n == *capacity) {
        size_t capacities[2] = {*capacity, *capacity};
        DIS_TRY(dis__reserve(&c->gold, &capacities[0], c->n, c->n + 1, sizeof *c->gold));
        DIS_TRY(dis__reserve(&c->predicted, &capacities[1], c->n, c->n + 1, sizeof *c->predicted));
        DIS_TRY(dis__reserve(&c->count, capacity, c->n, c->n + 1, sizeof *c->count));
    }
    c->gold[c->n] = (uint32_t)(code / n_classes);
    c->predicted[c->n] = (uint32_t)(code % n_classes);
    c->count[c->n++] = count;
    return DIS_OK;
}

/* Few classes: a matrix. */
static dis_status cells_by_matrix(dis_evaluation *e)
{
    const size_t k = e->in.n_classes;
    size_t capacity = 0;
    DIS_TRY(dis__alloc_zeroed(&e->confusion, dis__saturating_size(k, k, 0), sizeof *e->confusion));
    for (size_t i = 0; i < e->in.n_items; i++)
        if (e->in.gold[i] >= 0) e->confusion[(size_t)e->in.gold[i] * k + (size_t)e->predicted[i]]++;
    for (size_t c = 0; c < k * k; c++)
        if (e->confusion[c]) DIS_TRY(cells_add(&e->cells, &capacity, c, k, e->confusion[c]));
    return DIS_OK;
}

/* Many: the sorted list of cells that occur. */
static dis_status cells_by_sorting(dis_evaluation *e)
{
    const size_t k = e->in.n_classes, n = e->view.n_gold;
    uint64_t *code;
    DIS_TRY(dis__alloc_array(&code, n, sizeof *code));
    size_t j = 0, capacity = 0;
    for (size_t i = 0; i < e->in.n_items; i++)
        if (e->in.gold[i] >= 0) code[j++] = (uint64_t)e->in.gold[i] * k + (uint64_t)e->predicted[i];
    qsort(code, n, sizeof *code, by_code);
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i = j) {
        for (j = i + 1; j < n && code[j] == code[i];) j++;
        status = cells_add(&e->cells, &capacity, code[i], k, j - i);
    }
    dis__free(code);
    return status;
}

static class_counts class_counts_init(uint64_t *capacity, size_t n_classes)
{
    return (class_counts){.gold = capacity, .predicted = capacity + n_classes, .right = capacity + 2 * n_classes};
}

static void count_classes(class_counts *t, const dis__confusion_cells *c, const uint64_t *count, size_t n_classes)
{
    memset(t->gold, 0, 3 * n_classes * sizeof *t->gold);
    t->n = 0;
    for (size_t i = 0; i < c->n; i++) {
        t->gold[c->gold[i]] += count[i];
        t->predicted[c->predicted[i]] += count[i];
        if (c->gold[i] == c->predicted[i]) t->right[c->gold[i]] += count[i];
        t->n += count[i];
    }
}

static dis_metric measured(double value, size_t n, bool degenerate)
{
    return (dis_metric){.value = value, .ci_low = NAN, .ci_high = NAN, .n = n, .degenerate = degenerate};
}

dis_status dis__class_scores_compute(dis_evaluation *e)
{
    const size_t k = e->in.n_classes;
    DIS_TRY(k <= DIS_EVALUATION_MAX_CONFUSED ? cells_by_matrix(e) : cells_by_sorting(e));
    DIS_TRY(dis__alloc_zeroed(&e->classes, k, sizeof *e->classes));
    uint64_t *capacity;
    DIS_TRY(dis__alloc_array(&capacity, dis__saturating_size(k, 3, 0), sizeof *capacity));
    class_counts t = class_counts_init(capacity, k);
    count_classes(&t, &e->cells, e->cells.count, k);
    const size_t n = e->view.n_gold;
    e->view.majority_class = 0;
    for (size_t c = 0; c < k; c++) {
        if (t.gold[c] > t.gold[e->view.majority_class]) e->view.majority_class = c;
        const double right = (double)t.right[c];
        e->classes[c] = (dis_class_scores){
            .precision = measured(ratio(right, (double)t.predicted[c]), n, t.predicted[c] == 0),
            .recall = measured(ratio(right, (double)t.gold[c]), n, t.gold[c] == 0),
            .f1 = measured(f1_of(&t, c), n, t.predicted[c] + t.gold[c] == 0),
            .n_gold = t.gold[c],
            .n_predicted = t.predicted[c],
            .n_correct = t.right[c],
        };
    }
    double x[DIS_SCORES];
    figures(&t, k, e->view.majority_class, x);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (is_score(m) && e->wanted[m]) e->metric[m] = measured(x[dis__metrics[m].score], n, false);
    e->view.classes = e->classes;
    e->view.confusion = e->confusion;
    dis__free(capacity);
    return DIS_OK;
}

/* ---- intervals ---- */

typedef struct {
    const dis_evaluation *e;
    uint64_t *capacity; /* per thread: (3 n_classes) */
    bool by_class;
} resampled;

static dis_status one_resample(void *arg, const uint64_t *drawn, size_t resample, int thread, double *values)
{
    (void)resample;
    const resampled *r = arg;
    const size_t k = r->e->in.n_classes;
    class_counts t = class_counts_init(r->capacity + (size_t)thread * 3 * k, k);
    count_classes(&t, &r->e->cells, drawn, k);
    figures(&t, k, r->e->view.majority_class, values);
    for (size_t c = 0; r->by_class && c < k; c++) {
        double *to = values + DIS_SCORES + 3 * c;
        to[0] = ratio((double)t.right[c], (double)t.predicted[c]);
        to[1] = ratio((double)t.right[c], (double)t.gold[c]);
        to[2] = f1_of(&t, c);
    }
    return DIS_OK;
}

static dis_status accuracy_resample(void *arg, const uint64_t *drawn, size_t resample, int thread, double *values)
{
    (void)resample;
    (void)thread;
    *values = (double)drawn[0] / *(const double *)arg;
    return DIS_OK;
}

static dis_status accuracy_interval(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b, double *figure)
{
    uint64_t cells[2] = {0, e->view.n_gold};
    for (size_t c = 0; c < e->in.n_classes; c++) cells[0] += e->classes[c].n_correct;
    cells[1] -= cells[0];
    double draws = (double)b->n_draws, low = NAN, high = NAN;
    DIS_TRY(dis__bootstrap_cells(ctx, b, cells, 2, accuracy_resample, &draws, 1, figure));
    const bool has_interval = dis__bootstrap_interval(figure, b->n_resamples, &low, &high);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        dis_metric *x = &e->metric[m];
        if (!is_score(m) || dis__metrics[m].score != DIS_SCORE_ACCURACY || x->reason) continue;
        x->has_interval = has_interval;
        x->ci_low = low;
        x->ci_high = high;
    }
    return DIS_OK;
}

static void set_interval(dis_metric *m, const double *values, size_t n_resamples, size_t n_values, size_t v,
                         double *scratch)
{
    if (!m->reason)
        m->has_interval =
            dis__bootstrap_interval_of(values, n_resamples, n_values, v, scratch, &m->ci_low, &m->ci_high);
}

dis_status dis__class_scores_intervals(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b)
{
    const size_t k = e->in.n_classes;
    bool f1 = false; /* or a baseline */
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        f1 = f1 || (is_score(m) && dis__metrics[m].score != DIS_SCORE_ACCURACY && e->wanted[m]);
    resampled r = {.e = e, .by_class = k <= MAX_CLASS_INTERVALS};
    const size_t n_values = DIS_SCORES + (r.by_class ? 3 * k : 0);
    double *values = NULL, *scratch = NULL;
    dis_status status;
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&r.capacity, dis__saturating_size((size_t)dis_context_n_threads(ctx), 3 * k, 0),
                                  sizeof *r.capacity),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&values, dis__saturating_size(b->n_resamples, n_values, 0), sizeof *values),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&scratch, b->n_resamples, sizeof *scratch), end);
    DIS_TRY_GOTO(status, accuracy_interval(ctx, e, b, scratch), end);
    if (!f1) goto end;
    DIS_TRY_GOTO(status, dis__bootstrap_cells(ctx, b, e->cells.count, e->cells.n, one_resample, &r, n_values, values),
                 end);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (is_score(m) && dis__metrics[m].score != DIS_SCORE_ACCURACY)
            set_interval(&e->metric[m], values, b->n_resamples, n_values, dis__metrics[m].score, scratch);
    for (size_t c = 0; r.by_class && c < k; c++) {
        dis_metric *const of[] = {&e->classes[c].precision, &e->classes[c].recall, &e->classes[c].f1};
        for (size_t v = 0; v < 3; v++)
            set_interval(of[v], values, b->n_resamples, n_values, DIS_SCORES + 3 * c + v, scratch);
    }
end:
    dis__free(r.capacity);
    dis__free(values);
    dis__free(scratch);
    return status;
}
