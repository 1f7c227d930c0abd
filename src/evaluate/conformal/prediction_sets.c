/* Conformal prediction sets from several votes per item.
 *
 * s(x, k) is the implausibility of class k: 1 - q_k (lac), or the probability of all more probable classes plus u q_k,
 * u uniform in [0, 1) for each item (aps). With n calibration items and m_i votes on item i, class k of a new item x has
 * the p-value
 *
 *     p_k = (1 + sum_i share of the votes y on item i with s(x_i, y) >= s(x, k)) / (n + 1)
 *
 * and the set contains the classes with p_k > 1 - coverage. This is the limit of Monte Carlo conformal prediction
 * (Stutz, Roy, Matejovicova, Strachan, Cemgil and Doucet 2023, equation 11) for infinitely many labels drawn from the
 * votes. They prove a coverage of 1 - 2 (1 - coverage) for any dependence among the draws. If items are exchangeable and
 * the votes on an item are exchangeable, the coverage is at least as stated: the same set is that of Lee, Barber and
 * Willett (2023, theorem 1), who weight each vote by 1 / ((n + 1) m_i). With one vote per item it is ordinary split
 * conformal prediction. Votes on one item may depend on each other.
 *
 * p-values of a calibration item leave out its own votes: n - 1 items remain.
 *
 * Cost: a sort of the (item, class) pairs with votes, a binary search per item and class, a sort per item for aps. */
#include "evaluate/conformal/conformal.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/names/name_index.h"
#include "core/options/enum_names.h"
#include "core/options/sized_structs.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include "stats/ranks.h"
#include "tool/arrays.h"
#include <math.h>

DIS_OPTIONS_DEFAULTS(dis_prediction_sets_input, .size = sizeof(dis_prediction_sets_input))
DIS_OPTIONS_DEFAULTS(dis_prediction_sets_options, .size = sizeof(dis_prediction_sets_options), .coverage = .9)
DIS_ENUM_NAMES(dis_set_score, "lac", "aps")
DIS_ENUM_NAMES(dis_coverage_kind, "all", "class", "size", "entropy", "annotator", "new_annotators")

#define ROUNDING 1e-12 /* of sums of shares: a p-value equal to 1 - coverage excludes a class */

bool dis__conformal_includes(const dis__conformal *x, double p)
{
    return p > 1 - x->o.coverage + ROUNDING;
}

/* ---- votes ---- */

static void count_row(dis__conformal *x, size_t row)
{
    const size_t K = x->in.n_classes, item = x->in.item_map[row];
    double *count = x->count + row * K;
    if (item >= x->votes.n_items) return;
    if (x->votes.start) {
        for (uint64_t v = x->votes.start[item]; v < x->votes.start[item + 1]; v++) {
            const size_t k = dis__vote_class(x, v);
            if (k == SIZE_MAX)
                x->unmatched[row]++;
            else
                count[k]++;
        }
    } else {
        for (size_t c = 0; c < x->votes.n_classes; c++) {
            const double n = x->votes.counts[item * x->votes.n_classes + c];
            if (x->in.class_map[c] < K)
                count[x->in.class_map[c]] += n;
            else
                x->unmatched[row] += n;
        }
    }
    x->n_votes[row] = x->unmatched[row];
    for (size_t k = 0; k < K; k++) x->n_votes[row] += count[k];
}

static dis_status count_votes(dis__conformal *x)
{
    dis_prediction_sets_view *v = &x->out->view;
    for (size_t r = 0; r < x->in.n_items; r++) {
        count_row(x, r);
        if (x->n_votes[r] <= 0) continue;
        x->calibrates[r] = !x->in.calibrates || x->in.calibrates[r];
        v->n_tested += !x->calibrates[r];
        if (!x->calibrates[r]) continue;
        v->n_calibration++;
        v->n_votes += x->n_votes[r];
        for (size_t k = 0; k < x->in.n_classes; k++) x->n_cells += x->count[r * x->in.n_classes + k] > 0;
    }
    if (v->n_calibration == 0)
        return dis__fail(DIS_EDATA,
                         "no item with predictions has votes that calibrate; check that the item ids are the same");
    return DIS_OK;
}

/* ---- scores ---- */

/* Uniform in [0, 1), a function of the item's name. */
static double random_share(const dis__conformal *x, size_t row)
{
    static const uint64_t key[2] = {0, 0};
    uint64_t index = row;
    if (x->in.tasks) {
        size_t n;
        const char *name = dis_names_get(x->in.tasks, row, &n);
        index = dis__siphash(key, name, n);
    }
    return dis__random_uniform(x->o.seed, DIS_STREAM_PREDICTION_SETS, index);
}

typedef struct {
    const dis__conformal *x;
    size_t n_jobs;
    dis__indexed_value *sorting; /* per thread: (2, n_classes) */
} score_work;

/* aps: classes by descending probability, equal ones in class order. */
static void sorted_scores(const dis__conformal *x, size_t row, dis__indexed_value *sorted, double *score)
{
    const size_t K = x->in.n_classes;
    const double *q = x->in.q + row * K, share = random_share(x, row);
    double before = 0;
    for (size_t k = 0; k < K; k++) sorted[k] = (dis__indexed_value){.value = -q[k], .index = k};
    dis__sort_indexed(sorted, sorted + K, K);
    for (size_t j = 0; j < K; j++) {
        const double own = -sorted[j].value;
        score[sorted[j].index] = before + share * own;
        before += own;
    }
}

static dis_status score_job(void *arg, size_t j, int thread)
{
    const score_work *w = arg;
    const dis__conformal *x = w->x;
    const size_t K = x->in.n_classes, last = dis__job_first(x->in.n_items, w->n_jobs, j + 1);
    for (size_t r = dis__job_first(x->in.n_items, w->n_jobs, j); r < last; r++) {
        double *score = x->score + r * K;
        if (x->o.score == DIS_SET_SCORE_APS)
            sorted_scores(x, r, w->sorting + (size_t)thread * 2 * K, score);
        else
            for (size_t k = 0; k < K; k++) score[k] = 1 - x->in.q[r * K + k];
    }
    return DIS_OK;
}

static dis_status compute_scores(dis__conformal *x)
{
    score_work w = {.x = x, .n_jobs = dis__n_jobs(x->in.n_items, 1024, 64)};
    DIS_TRY(dis__alloc_array(&w.sorting,
                             dis__saturating_size((size_t)dis_context_n_threads(x->ctx), 2 * x->in.n_classes, 0),
                             sizeof *w.sorting));
    const dis_status status = dis__run_jobs(x->ctx, w.n_jobs, score_job, &w);
    dis__free(w.sorting);
    return status;
}

/* ---- calibration ---- */

static dis_status sort_cells(dis__conformal *x)
{
    const size_t K = x->in.n_classes;
    dis__indexed_value *cell;
    size_t n = 0;
    DIS_TRY(dis__alloc_array(&x->order, x->n_cells, sizeof *x->order));
    DIS_TRY(dis__alloc_array(&cell, dis__saturating_size(x->n_cells, 2, 0), sizeof *cell));
    for (size_t r = 0; r < x->in.n_items; r++)
        for (size_t k = 0; x->calibrates[r] && k < K; k++)
            if (x->count[r * K + k] > 0)
                cell[n++] = (dis__indexed_value){.value = -x->score[r * K + k], .index = r * K + k};
    dis__sort_indexed(cell, cell + n, n);
    for (size_t c = 0; c < n; c++) x->order[c] = cell[c].index;
    dis__free(cell);
    return DIS_OK;
}

void dis__vote_tail_fill(const dis__conformal *x, const double *count, const double *n_votes, dis__vote_tail *tail)
{
    tail->n = 0;
    for (size_t c = 0; c < x->n_cells; c++) {
        const size_t cell = x->order[c];
        if (count[cell] <= 0) continue;
        const bool tied = tail->n && tail->score[tail->n - 1] == x->score[cell];
        const double before = tail->n ? tail->mass[tail->n - 1] : tail->unmatched;
        tail->n += !tied;
        tail->score[tail->n - 1] = x->score[cell];
        tail->mass[tail->n - 1] = before + count[cell] / n_votes[cell / x->in.n_classes];
    }
}

double dis__vote_tail_at(const dis__vote_tail *tail, double score)
{
    size_t low = 0, high = tail->n; /* scores before `low` are at least `score`, those from `high` are below it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (tail->score[middle] >= score)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? tail->mass[low - 1] : tail->unmatched;
}

static dis_status calibrate(dis__conformal *x)
{
    DIS_TRY(sort_cells(x));
    DIS_TRY(dis__alloc_array(&x->tail.score, x->n_cells, sizeof *x->tail.score));
    DIS_TRY(dis__alloc_array(&x->tail.mass, x->n_cells, sizeof *x->tail.mass));
    for (size_t r = 0; r < x->in.n_items; r++)
        if (x->calibrates[r]) x->tail.unmatched += x->unmatched[r] / x->n_votes[r];
    x->tail.n_items = (double)x->out->view.n_calibration;
    x->out->view.unmatched = x->tail.unmatched / x->tail.n_items;
    dis__vote_tail_fill(x, x->count, x->n_votes, &x->tail);
    double *threshold = &x->out->view.threshold;
    *threshold = INFINITY;
    if (dis__conformal_includes(x, (1 + x->tail.unmatched) / (x->tail.n_items + 1))) return DIS_OK;
    *threshold = -INFINITY;
    for (size_t j = 0; j < x->tail.n && *threshold == -INFINITY; j++)
        if (dis__conformal_includes(x, (1 + x->tail.mass[j]) / (x->tail.n_items + 1))) *threshold = x->tail.score[j];
    return DIS_OK;
}

double dis__own_share(const dis__conformal *x, const double *count, double unmatched, double n_votes, size_t row,
                      double score)
{
    const size_t K = x->in.n_classes;
    double n = unmatched;
    if (n_votes <= 0) return 0;
    for (size_t k = 0; k < K; k++)
        if (x->score[row * K + k] >= score) n += count[row * K + k];
    return n / n_votes;
}

/* ---- sets ---- */

static void set_of_row(const dis__conformal *x, size_t row, const double *p, bool *in_set)
{
    const size_t K = x->in.n_classes;
    uint32_t n = 0;
    for (size_t k = 0; k < K; k++) n += in_set[k] = dis__conformal_includes(x, p[k]);
    const bool fill = n == 0 && !x->o.allow_empty;
    if (fill) in_set[dis__argmax(x->in.q + row * K, K)] = true;
    x->out->set_size[row] = fill ? 1 : n;
    x->out->view.n_filled += fill && (!x->calibrates[row] || x->out->view.n_calibration == x->in.n_items);
}

static dis_status make_sets(dis__conformal *x)
{
    const size_t K = x->in.n_classes;
    const double n = x->tail.n_items;
    for (size_t r = 0; r < x->in.n_items; r++) {
        double *p = x->out->p_value + r * K;
        if (r % 4096 == 0) DIS_TRY(dis__check_stop(x->ctx));
        for (size_t k = 0; k < K; k++) {
            const double score = x->score[r * K + k], tail = dis__vote_tail_at(&x->tail, score);
            if (!x->calibrates[r]) {
                p[k] = (1 + tail) / (n + 1);
                continue;
            }
            const double own = dis__own_share(x, x->count, x->unmatched[r], x->n_votes[r], r, score);
            p[k] = fmin((1 + fmax(tail - own, 0)) / n, 1);
        }
        set_of_row(x, r, p, x->out->in_set + r * K);
    }
    return DIS_OK;
}

/* ---- the call ---- */

static dis_status check(const dis_prediction_sets_input *in, const dis_prediction_sets_options *o)
{
    if (in->n_items == 0 || in->n_classes == 0 || !in->q) return dis__fail(DIS_EUSAGE, "there are no predictions");
    if (!in->votes || !in->item_map || !in->class_map)
        return dis__fail(DIS_EUSAGE, "prediction sets need votes of people on calibration items");
    if (!(o->coverage > 0 && o->coverage < 1))
        return dis__fail(DIS_EUSAGE, "coverage is %g; it must be between 0 and 1", o->coverage);
    if ((unsigned)o->score >= DIS_SET_SCORES) return dis__fail(DIS_EUSAGE, "score %u is unknown", (unsigned)o->score);
    return DIS_OK;
}

static dis_status run(dis__conformal *x)
{
    const size_t n = x->in.n_items, cells = dis__saturating_size(n, x->in.n_classes, 0);
    dis_prediction_sets *out = x->out;
    DIS_TRY(dis__check_memory(x->ctx, dis__saturating_size(cells, 7 * sizeof(double), 1 << 16), "prediction sets"));
    DIS_TRY(dis__alloc_array(&x->score, cells, sizeof *x->score));
    DIS_TRY(dis__alloc_zeroed(&x->count, cells, sizeof *x->count));
    DIS_TRY(dis__alloc_zeroed(&x->unmatched, n, sizeof *x->unmatched));
    DIS_TRY(dis__alloc_zeroed(&x->n_votes, n, sizeof *x->n_votes));
    DIS_TRY(dis__alloc_zeroed(&x->calibrates, n, sizeof *x->calibrates));
    DIS_TRY(dis__alloc_array(&out->p_value, cells, sizeof *out->p_value));
    DIS_TRY(dis__alloc_array(&out->in_set, cells, sizeof *out->in_set));
    DIS_TRY(dis__alloc_array(&out->set_size, n, sizeof *out->set_size));
    out->view.n_items = n;
    out->view.n_classes = x->in.n_classes;
    out->view.coverage = x->o.coverage;
    out->view.score = x->o.score;
    out->view.min_items = (size_t)ceil(1 / (1 - x->o.coverage) - 1e-9) - 1;
    DIS_TRY(count_votes(x));
    DIS_TRY(compute_scores(x));
    DIS_TRY(calibrate(x));
    DIS_TRY(make_sets(x));
    DIS_TRY(dis__set_coverage_add(x));
    return x->votes.start ? dis__new_annotators_add(x) : DIS_OK;
}

dis_status dis_prediction_sets_run(dis_context *ctx, const dis_prediction_sets_input *input,
                                   const dis_prediction_sets_options *options, dis_prediction_sets **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis__conformal x = {.ctx = ctx,
                        .in = dis_prediction_sets_input_default(),
                        .o = dis_prediction_sets_options_default()};
    DIS_TRY(DIS_OPTIONS_COPY(dis_prediction_sets_options, &x.o, options));
    DIS_TRY(DIS_OPTIONS_COPY(dis_prediction_sets_input, &x.in, input));
    DIS_TRY(check(&x.in, &x.o));
    DIS_TRY(dis__alloc_zeroed(&x.out, 1, sizeof *x.out));
    x.votes = dis_votes_get_view(x.in.votes);
    const dis_status status = run(&x);
    dis__free(x.score);
    dis__free(x.count);
    dis__free(x.unmatched);
    dis__free(x.n_votes);
    dis__free(x.calibrates);
    dis__free(x.order);
    dis__free(x.tail.score);
    dis__free(x.tail.mass);
    if (status == DIS_OK)
        *out = x.out;
    else
        dis_prediction_sets_destroy(x.out);
    return status;
}

static dis_prediction_sets_view view_of(const dis_prediction_sets *sets)
{
    dis_prediction_sets_view v = sets->view;
    v.p_value = sets->p_value;
    v.in_set = sets->in_set;
    v.set_size = sets->set_size;
    v.rows = sets->rows;
    return v;
}
DIS_VIEW_DEFINE(dis_prediction_sets, sets, view_of(sets))

void dis_prediction_sets_destroy(dis_prediction_sets *sets)
{
    if (!sets) return;
    dis__free(sets->p_value);
    dis__free(sets->in_set);
    dis__free(sets->set_size);
    dis__free(sets->rows);
    dis__free(sets);
}
