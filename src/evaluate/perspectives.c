/* Predictions for single workers against their votes: error rates and steps, by votes, items and workers, compared with
 * two baselines. Intervals: bootstrap over items; for means over workers, bootstrap over workers.
 *
 * A vote is left out of its own baselines, by subtracting one from the count of its class. Cost: O(votes + workers x
 * classes), and one pass over items or workers per resample. */
#include "dissent/perspectives.h"
#include "tool/value_names.h"
#include "tool/arrays.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/options/sized_structs.h"
#include "stats/bootstrap.h"
#include <math.h>

DIS_OPTIONS_DEFAULTS(dis_perspectives_options, .size = sizeof(dis_perspectives_options), .resamples = 1000)

enum { WRONG, STEPS, N_KINDS };

struct dis_perspectives {
    dis_perspectives_view view;
    dis_perspectives_row *row;
    dis_perspectives_group *group;
    dis_names *workers;
    dis_metric mean[N_KINDS][DIS_PREDICTION_SOURCES][DIS_AVERAGES];
    const dis_metric *means[N_KINDS][DIS_PREDICTION_SOURCES]; /* rows of `mean` */
    dis_metric *group_mean;                                   /* (n_groups, N_KINDS, DIS_PREDICTION_SOURCES) */
    double *worker_mean;                                      /* (n_workers, N_KINDS, DIS_PREDICTION_SOURCES) */
};

typedef struct {
    dis_context *ctx;
    const dis_perspectives_options *o;
    dis_votes_view v, predictions, history;
    bool has_history;
    size_t *prediction_item, *prediction_worker, *prediction_class; /* of each vote: the row of its prediction */
    int32_t *predicted;                                             /* (n_votes) -1: not predicted */
    float *off[DIS_PREDICTION_SOURCES];                             /* (n_votes) distance in steps; -1: undefined */
    uint32_t *count;   /* (workers, classes) of the history, or of the votes */
    double *column[2]; /* (items or workers) sums, counts */
    double *sums;      /* (resamples, 2) */
    double *figure;    /* (resamples) */
    dis_perspectives *out;
} work;

const char *dis__prediction_source_name(dis_prediction_source source)
{
    static const char *const names[] = {"model", "worker's most frequent", "majority of others"};
    return source < DIS_PREDICTION_SOURCES ? names[source] : NULL;
}

const char *dis__average_name(dis_average over)
{
    static const char *const names[] = {"votes", "items", "workers"};
    return over < DIS_AVERAGES ? names[over] : NULL;
}

static dis_perspectives_view view_of(const dis_perspectives *p)
{
    return p->view;
}
DIS_VIEW_DEFINE(dis_perspectives, p, view_of(p))

void dis_perspectives_destroy(dis_perspectives *p)
{
    if (!p) return;
    dis__free(p->row);
    dis__free(p->group_mean);
    dis__free(p->worker_mean);
    dis__free(p->group);
    dis_names_destroy(p->workers);
    dis__free(p);
}

static void work_free(work *w)
{
    dis__free(w->prediction_item);
    dis__free(w->prediction_worker);
    dis__free(w->prediction_class);
    dis__free(w->predicted);
    for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++) dis__free(w->off[s]);
    dis__free(w->count);
    for (size_t c = 0; c < 2; c++) dis__free(w->column[c]);
    dis__free(w->sums);
    dis__free(w->figure);
}

static size_t label_of(const dis_votes_view *v, uint64_t vote)
{
    return v->label8 ? v->label8[vote] : v->label16[vote];
}

/* ---- predictions ---- */

/* The predicted class of worker w on item i, as an index of the votes; -1: none. */
static int32_t find_prediction(const work *w, size_t item, size_t worker)
{
    const size_t i = w->prediction_item[item], a = w->prediction_worker[worker];
    if (i == SIZE_MAX || a == SIZE_MAX) return -1;
    for (uint64_t t = w->predictions.start[i]; t < w->predictions.start[i + 1]; t++)
        if (w->predictions.worker[t] == a) return (int32_t)w->prediction_class[label_of(&w->predictions, t)];
    return -1;
}

static dis_status match_predictions(work *w)
{
    const dis_votes_view *v = &w->v;
    size_t lacking, found;
    DIS_TRY(dis__names_match_alloc(w->predictions.tasks, v->tasks, &w->prediction_item, NULL));
    DIS_TRY(dis__names_match_alloc(w->predictions.workers, v->workers, &w->prediction_worker, NULL));
    DIS_TRY(dis__names_match_alloc(v->classes, w->predictions.classes, &w->prediction_class, &found));
    if (found < w->predictions.n_classes) {
        DIS_TRY(dis__names_find_missing(w->predictions.classes, v->classes, &lacking));
        return dis__fail(DIS_EDATA, "the prediction \"%.100s\" is not a class of the votes; declare it (`classes`)",
                         dis_names_get(w->predictions.classes, lacking, NULL));
    }
    DIS_TRY(dis__alloc_array(&w->predicted, v->n_votes, sizeof *w->predicted));
    dis_perspectives_view *out = &w->out->view;
    for (size_t i = 0; i < v->n_items; i++) {
        const uint64_t before = out->n_votes_unpredicted;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            w->predicted[t] = find_prediction(w, i, v->worker[t]);
            out->n_votes_unpredicted += w->predicted[t] < 0;
            if (w->predicted[t] < 0 && !w->o->lenient)
                return dis__fail(DIS_EDATA,
                                 "no prediction for task \"%.100s\" and worker \"%.100s\"; `lenient` leaves "
                                 "such votes out",
                                 dis_names_get(v->tasks, i, NULL), dis_names_get(v->workers, v->worker[t], NULL));
        }
        out->n_items += out->n_votes_unpredicted - before < v->start[i + 1] - v->start[i];
    }
    out->n_votes = v->n_votes - (size_t)out->n_votes_unpredicted;
    if (out->n_votes == 0) return dis__fail(DIS_EDATA, "no vote has a prediction; do tasks and workers match?");
    out->n_predictions_unused = w->predictions.n_votes > out->n_votes ? w->predictions.n_votes - out->n_votes : 0;
    return DIS_OK;
}

/* ---- baselines ---- */

/* The most frequent class of `count` without one vote for `own` (SIZE_MAX: none); SIZE_MAX: no votes remain. */
static size_t most_frequent(const uint32_t *count, size_t n, size_t own)
{
    size_t best = SIZE_MAX;
    uint32_t most = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t c = count[k] - (k == own);
        if (c > most) {
            most = c;
            best = k;
        }
    }
    return best;
}

static dis_status count_answers(work *w)
{
    const dis_votes_view *v = &w->v, *h = w->has_history ? &w->history : v;
    const size_t k = v->n_classes;
    DIS_TRY(dis__alloc_zeroed(&w->count, dis__saturating_size(v->n_workers, k, 0), sizeof *w->count));
    size_t *worker = NULL, *class = NULL;
    dis_status status = dis__names_match_alloc(v->workers, h->workers, &worker, NULL);
    if (status == DIS_OK) status = dis__names_match_alloc(v->classes, h->classes, &class, NULL);
    for (uint64_t t = 0; status == DIS_OK && t < h->n_votes; t++) {
        const size_t a = worker[h->worker[t]], c = class[label_of(h, t)];
        if (a != SIZE_MAX && c != SIZE_MAX) w->count[a * k + c]++;
    }
    dis__free(worker);
    dis__free(class);
    return status;
}

static float steps_off(size_t answer, size_t label)
{
    if (answer == SIZE_MAX) return -1;
    return (float)(answer > label ? answer - label : label - answer);
}

static dis_status measure_votes(work *w)
{
    const dis_votes_view *v = &w->v;
    const size_t k = v->n_classes;
    uint32_t *item;
    for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++)
        DIS_TRY(dis__alloc_array(&w->off[s], v->n_votes, sizeof *w->off[s]));
    DIS_TRY(dis__alloc_array(&item, k, sizeof *item));
    for (size_t i = 0; i < v->n_items; i++) {
        for (size_t c = 0; c < k; c++) item[c] = 0;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) item[label_of(v, t)]++;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const size_t label = label_of(v, t), model = w->predicted[t] < 0 ? SIZE_MAX : (size_t)w->predicted[t];
            const uint32_t *own = w->count + v->worker[t] * k;
            w->off[DIS_PREDICTION_OF_MODEL][t] = steps_off(model, label);
            w->off[DIS_PREDICTION_MOST_FREQUENT][t] = w->off[DIS_PREDICTION_MAJORITY_OF_OTHERS][t] = -1;
            if (model == SIZE_MAX) continue; /* baselines use the same votes as the model */
            w->off[DIS_PREDICTION_MOST_FREQUENT][t] =
                steps_off(most_frequent(own, k, w->has_history ? SIZE_MAX : label), label);
            w->off[DIS_PREDICTION_MAJORITY_OF_OTHERS][t] = steps_off(most_frequent(item, k, label), label);
        }
    }
    dis__free(item);
    return DIS_OK;
}

/* ---- means ---- */

/* Sums and counts of a metric in columns of n_units; `group` below 0: all votes. */
static void sum_units(work *w, size_t kind, dis_prediction_source source, dis_average over, const int32_t *group,
                      int32_t which)
{
    const dis_votes_view *v = &w->v;
    const size_t n = over == DIS_AVERAGE_OVER_WORKERS ? v->n_workers : v->n_items;
    double *sum = w->column[0], *count = w->column[1];
    for (size_t u = 0; u < n; u++) sum[u] = count[u] = 0;
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const float off = w->off[source][t];
            const size_t u = over == DIS_AVERAGE_OVER_WORKERS ? v->worker[t] : i;
            if (off < 0 || (group && group[v->worker[t]] != which)) continue;
            sum[u] += kind == WRONG ? off > 0 : (double)off;
            count[u]++;
        }
    for (size_t u = 0; over != DIS_AVERAGE_OVER_VOTES && u < n; u++) {
        if (count[u] == 0) continue;
        sum[u] /= count[u];
        count[u] = 1;
    }
}

/* The mean of the sums, with its interval over units. */
static dis_status mean_of(work *w, size_t n_units, dis_metric *out)
{
    const double *const columns[] = {w->column[0], w->column[1]};
    const dis__bootstrap b = {.n_items = n_units,
                              .n_draws = n_units,
                              .n_resamples = w->o->resamples,
                              .seed = w->o->seed};
    double sum = 0, count = 0;
    for (size_t u = 0; u < n_units; u++) {
        sum += columns[0][u];
        count += columns[1][u];
    }
    *out = count > 0 ? (dis_metric){.value = sum / count, .n = (size_t)count}
                     : dis__metric_undefined("no vote has a prediction");
    if (count == 0 || b.n_resamples == 0) return DIS_OK;
    DIS_TRY(dis__bootstrap_sums(w->ctx, &b, columns, 2, w->sums));
    for (size_t r = 0; r < b.n_resamples; r++)
        w->figure[r] = w->sums[2 * r + 1] > 0 ? w->sums[2 * r] / w->sums[2 * r + 1] : (double)NAN;
    out->has_interval = dis__bootstrap_interval(w->figure, b.n_resamples, &out->ci_low, &out->ci_high);
    return DIS_OK;
}

static dis_status one_mean(work *w, size_t kind, dis_prediction_source source, dis_average over, const int32_t *group,
                           int32_t which, dis_metric *out)
{
    if (kind == STEPS && !w->o->ordered) {
        *out = dis__metric_undefined("classes have no order");
        return DIS_OK;
    }
    sum_units(w, kind, source, over, group, which);
    return mean_of(w, over == DIS_AVERAGE_OVER_WORKERS ? w->v.n_workers : w->v.n_items, out);
}

static dis_status means(work *w)
{
    dis_perspectives *out = w->out;
    for (size_t kind = 0; kind < N_KINDS; kind++)
        for (dis_prediction_source s = 0; s < DIS_PREDICTION_SOURCES; s++) {
            for (dis_average over = 0; over < DIS_AVERAGES; over++)
                DIS_TRY(one_mean(w, kind, s, over, NULL, 0, &out->mean[kind][s][over]));
            out->means[kind][s] = out->mean[kind][s];
        }
    out->view.error = out->means[WRONG];
    out->view.distance = out->means[STEPS];
    return DIS_OK;
}

static dis_status group_means(work *w)
{
    if (!w->o->groups) return DIS_OK;
    const dis_worker_groups_view g = dis_worker_groups_get_view(w->o->groups);
    if (g.n_workers != w->v.n_workers) return dis__fail(DIS_EUSAGE, "the groups belong to other votes");
    dis_perspectives *out = w->out;
    DIS_TRY(dis__alloc_zeroed(&out->group, g.n_groups ? g.n_groups : 1, sizeof *out->group));
    const size_t row = N_KINDS * DIS_PREDICTION_SOURCES;
    DIS_TRY(dis__alloc_zeroed(&out->group_mean, dis__saturating_size(g.n_groups, row, 1), sizeof *out->group_mean));
    for (size_t i = 0; i < g.n_groups; i++) {
        dis_perspectives_group *x = &out->group[i];
        dis_metric *mean = out->group_mean + i * row;
        for (size_t kind = 0; kind < N_KINDS; kind++)
            for (dis_prediction_source s = 0; s < DIS_PREDICTION_SOURCES; s++)
                DIS_TRY(one_mean(w, kind, s, DIS_AVERAGE_OVER_VOTES, g.group, (int32_t)i,
                                 &mean[kind * DIS_PREDICTION_SOURCES + s]));
        x->error = mean + WRONG * DIS_PREDICTION_SOURCES;
        x->distance = mean + STEPS * DIS_PREDICTION_SOURCES;
        x->workers = g.workers[i];
        x->votes = x->error[DIS_PREDICTION_OF_MODEL].n;
    }
    out->view.n_groups = g.n_groups;
    out->view.group = out->group;
    return DIS_OK;
}

static dis_status worker_rows(work *w)
{
    dis_perspectives *out = w->out;
    const size_t row = N_KINDS * DIS_PREDICTION_SOURCES;
    DIS_TRY(dis__alloc_zeroed(&out->row, w->v.n_workers, sizeof *out->row));
    DIS_TRY(
        dis__alloc_zeroed(&out->worker_mean, dis__saturating_size(w->v.n_workers, row, 1), sizeof *out->worker_mean));
    for (dis_prediction_source s = 0; s < DIS_PREDICTION_SOURCES; s++) {
        for (size_t kind = 0; kind < N_KINDS; kind++) {
            sum_units(w, kind, s, DIS_AVERAGE_OVER_WORKERS, NULL, 0);
            for (size_t a = 0; a < w->v.n_workers; a++) {
                const bool is_defined = w->column[1][a] > 0 && (kind == WRONG || w->o->ordered);
                out->worker_mean[a * row + kind * DIS_PREDICTION_SOURCES + s] =
                    is_defined ? w->column[0][a] : (double)NAN;
            }
        }
    }
    for (size_t a = 0; a < w->v.n_workers; a++) {
        out->row[a].error = out->worker_mean + a * row + WRONG * DIS_PREDICTION_SOURCES;
        out->row[a].distance = out->worker_mean + a * row + STEPS * DIS_PREDICTION_SOURCES;
    }
    for (uint64_t t = 0; t < w->v.n_votes; t++) out->row[w->v.worker[t]].votes += w->predicted[t] >= 0;
    for (size_t a = 0; a < w->v.n_workers; a++) out->view.n_workers += out->row[a].votes > 0;
    out->view.row = out->row;
    out->view.workers = out->workers;
    return DIS_OK;
}

static dis_status run(work *w)
{
    const size_t units = w->v.n_items > w->v.n_workers ? w->v.n_items : w->v.n_workers;
    DIS_TRY(match_predictions(w));
    DIS_TRY(count_answers(w));
    DIS_TRY(measure_votes(w));
    for (size_t c = 0; c < 2; c++) DIS_TRY(dis__alloc_array(&w->column[c], units, sizeof *w->column[c]));
    DIS_TRY(dis__alloc_array(&w->sums, dis__saturating_size(w->o->resamples, 2, 1), sizeof *w->sums));
    DIS_TRY(dis__alloc_array(&w->figure, dis__saturating_size(w->o->resamples, 1, 1), sizeof *w->figure));
    DIS_TRY(worker_rows(w));
    DIS_TRY(means(w));
    return group_means(w);
}

dis_status dis_perspectives_run(dis_context *ctx, const dis_votes *votes, const dis_votes *predictions,
                                const dis_votes *history, const dis_perspectives_options *options,
                                dis_perspectives **out)
{
    dis_perspectives_options o = dis_perspectives_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_perspectives_options, &o, options));
    work w = {.ctx = ctx, .o = &o, .v = dis_votes_get_view(votes), .predictions = dis_votes_get_view(predictions)};
    if (history) w.history = dis_votes_get_view(history);
    w.has_history = history != NULL;
    if (!w.v.start || !w.predictions.start || (history && !w.history.start))
        return dis__fail(DIS_EDATA, "this input has no annotator ids; give one row per vote with a worker column");
    DIS_TRY(dis__alloc_zeroed(&w.out, 1, sizeof *w.out));
    dis_status status = dis__names_copy(w.v.workers, &w.out->workers);
    if (status == DIS_OK) status = run(&w);
    work_free(&w);
    if (status != DIS_OK) {
        dis_perspectives_destroy(w.out);
        return status;
    }
    *out = w.out;
    return DIS_OK;
}
