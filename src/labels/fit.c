/* Runs a method: checks, the fit, and the guarantee that every row is a distribution. */
#include "dissent/labels.h"
#include "labels/em/em_device.h"
#include "tool/method_checks.h"
#include "labels/passes/item_passes.h"
#include "labels/em/item_prior.h"
#include "core/parallel/comm.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "labels/method.h"
#include "labels/methods.h"
#include "core/options/option_spec.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_fit_options, .size = sizeof(dis_fit_options), .predictions_weight = -1)

static dis_status parse(const char *spec, const dis__method **method, void **options)
{
    const dis__method *m;
    DIS_TRY(dis__method_find(spec, &m));
    void *parsed;
    DIS_TRY(dis__alloc_zeroed(&parsed, 1, m->options_size));
    dis_status status = dis__spec_parse("method", spec, m->info.options, m->info.n_options, parsed, m->options_size);
    if (status == DIS_OK && m->check) status = m->check(parsed);
    if (status != DIS_OK) {
        dis__free(parsed);
        return status;
    }
    *method = m;
    *options = parsed;
    return DIS_OK;
}

dis_status dis_method_check(const char *spec)
{
    const dis__method *method;
    void *options;
    DIS_TRY(parse(spec, &method, &options));
    dis__free(options);
    return DIS_OK;
}

dis_status dis__fit_check_start(const dis__method *method, const dis_state *start)
{
    char held[200];
    const char *name = method->info.name;
    if (!start || (method->starts && dis__state_has_method(start, name))) return DIS_OK;
    if (!method->starts)
        return dis__fail(DIS_EUSAGE, "%s has no parameters to start from; leave the state out, or use another method",
                         name);
    dis__state_describe_methods(start, held, sizeof held);
    return dis__fail(DIS_EUSAGE, "the state has %s but nothing of %s; save one with %s, or leave the state out", held,
                     name, name);
}

static dis_status check_predictions(const dis__method *m, const dis_fit_options *o)
{
    if (o->predictions && m->info.predictions == DIS_PREDICTIONS_UNUSED)
        return dis__fail(
            DIS_EUSAGE,
            "%s cannot use predictions; leave them out, or choose a method that can, such as dawid-skene or ibcc",
            m->info.name);
    if (!o->predictions && m->info.predictions == DIS_PREDICTIONS_REQUIRED)
        return dis__fail(DIS_EUSAGE,
                         "%s combines votes with out-of-fold predictions of a model; give them as `predictions`",
                         m->info.name);
    if (o->predictions && !(o->predictions_weight <= 100))
        return dis__fail(DIS_EUSAGE, "a weight of predictions of %g; use 0 to 100", o->predictions_weight);
    return DIS_OK;
}

/* `n_tables`: number of tables of labels in memory during the run, including its own. */
static dis_status check_fits(dis_context *ctx, const dis__method *m, const dis_votes_view *v, const void *options,
                             size_t n_tables)
{
    if (dis__comm_is_parallel(dis__context_comm(ctx)) && !m->ranks)
        return dis__fail(DIS_EUSAGE, "%s cannot be split across MPI ranks; run without mpirun, or use another method",
                         m->info.name);
    if (m->info.needs_workers && !v->start)
        return dis__fail(DIS_EDATA,
                         "%s needs annotator ids, and this input has none; use majority, standard or softmax, or give "
                         "one row per vote with a worker column",
                         m->info.name);
    size_t bytes =
        dis__saturating_size(dis__saturating_size(v->n_items, v->n_classes, 0), n_tables * sizeof(double), 0);
    const size_t own = m->memory ? m->memory(v, options) : 0;
    bytes = bytes == SIZE_MAX || own == SIZE_MAX ? SIZE_MAX : dis__saturating_size(bytes, 1, own);
    char what[160];
    snprintf(what, sizeof what, "%s with %zu items, %zu classes and %zu workers", m->info.name, v->n_items,
             v->n_classes, v->n_workers);
    return dis__check_memory(ctx, bytes, what);
}

void dis__fit_free_parameters(dis_fit *fit)
{
    for (size_t i = 0; i < fit->n_parameters; i++) dis__free((void *)(uintptr_t)fit->parameter[i].values);
    dis__free(fit->trace);
    fit->trace = NULL;
    fit->n_parameters = fit->n_trace = fit->trace_capacity = 0;
}

static void empty(dis_fit *fit)
{
    dis__fit_free_parameters(fit);
    dis__free(fit->p);
    *fit = (dis_fit){0};
}

static dis_status run(const dis__fit_args *args, const dis__method *m, dis_fit *fit)
{
    *fit = (dis_fit){.method = m,
                     .n_items = args->votes.n_items,
                     .n_workers = args->votes.n_workers,
                     .n_classes = args->votes.n_classes,
                     .converged = true,
                     .objective = NAN,
                     .predictions_weight = NAN,
                     .strength = NAN};
    DIS_TRY(dis__alloc_array(&fit->p, dis__saturating_size(fit->n_items, fit->n_classes, 0), sizeof *fit->p));
    return m->fit(args, fit);
}

/* Refits without predictions if their weight is 0: the labels then equal those without predictions to the last bit. */
static dis_status run_with_prior(dis__fit_args *args, const dis__method *m, double weight, dis_fit *fit)
{
    const dis_votes_view *v = &args->votes;
    const size_t bytes = dis__item_prior_memory(v->n_items, v->n_classes);
    DIS_TRY(dis__check_memory(args->ctx, bytes, "predictions as the prior of so many items"));
    dis__item_prior items;
    DIS_TRY(dis__item_prior_create(args, weight, &items));
    args->items = &items;
    dis_status status = run(args, m, fit);
    const double estimate = items.weight;
    dis__item_prior_destroy(&items);
    args->items = NULL;
    if (status == DIS_OK && estimate == 0) {
        empty(fit);
        status = run(args, m, fit);
    }
    if (status == DIS_OK) fit->predictions_weight = estimate;
    return status;
}

dis_status dis__fit_check(dis_context *ctx, const dis_votes *votes, const char *const *specs, size_t n_specs)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view v = dis_votes_get_view(votes);
    for (size_t i = 0; i < n_specs; i++) {
        const dis__method *m;
        void *own;
        DIS_TRY(parse(specs[i], &m, &own));
        const dis_status status = check_fits(ctx, m, &v, own, i + 1);
        dis__free(own);
        DIS_TRY(status);
    }
    return DIS_OK;
}

dis_status dis_fit_run(dis_context *ctx, const dis_votes *votes, const char *spec, const dis_fit_options *options,
                       dis_fit **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_fit_options o = dis_fit_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_fit_options, &o, options));
    const dis__method *m;
    void *own;
    DIS_TRY(parse(spec, &m, &own));
    dis__fit_args args = {.ctx = ctx,
                          .votes = dis_votes_get_view(votes),
                          .part = dis__votes_part_of(votes),
                          .options = own,
                          .seed = o.seed,
                          .gold = o.gold,
                          .start = o.initial_state,
                          .predictions = o.predictions};
    if (m->seed_offset) {
        const dis_seed *seed = (const dis_seed *)((const char *)own + m->seed_offset - 1);
        if (seed->given) args.seed = seed->value;
    }
    dis_fit *fit = NULL;
    dis_status status = check_predictions(m, &o);
    if (status == DIS_OK) status = dis__fit_check_start(m, o.initial_state);
    if (status == DIS_OK) status = check_fits(ctx, m, &args.votes, own, 1);
    if (status == DIS_OK) status = dis__alloc_zeroed(&fit, 1, sizeof *fit);
    if (status == DIS_OK && o.predictions && m->info.predictions == DIS_PREDICTIONS_PRIOR)
        status = run_with_prior(&args, m, o.predictions_weight, fit);
    else if (status == DIS_OK)
        status = run(&args, m, fit);
    if (status == DIS_OK) status = dis__fit_add_warnings(&args, fit);
    dis__free(own);
    if (status != DIS_OK) {
        dis_fit_destroy(fit);
        return status;
    }
    *out = fit;
    return DIS_OK;
}

void dis_fit_destroy(dis_fit *fit)
{
    if (!fit) return;
    empty(fit);
    dis__free(fit);
}

const double *dis_fit_p(const dis_fit *fit)
{
    return fit->p;
}

double *dis_fit_move_p(dis_fit *fit)
{
    double *p = fit->p;
    fit->p = NULL;
    return p;
}

static dis_fit_view view_of(const dis_fit *fit)
{
    return (dis_fit_view){.method = &fit->method->info,
                          .iterations = fit->iterations,
                          .converged = fit->converged,
                          .restart = fit->restart,
                          .objective = fit->objective,
                          .predictions_weight = fit->predictions_weight,
                          .n_trace = fit->n_trace,
                          .trace = fit->trace,
                          .device = fit->device ? fit->device : "cpu",
                          .prior_strength = fit->strength};
}
DIS_VIEW_DEFINE(dis_fit, fit, view_of(fit))

size_t dis_fit_n_items(const dis_fit *fit)
{
    return fit->n_items;
}

size_t dis_fit_n_classes(const dis_fit *fit)
{
    return fit->n_classes;
}

int dis_fit_iterations(const dis_fit *fit)
{
    return fit->iterations;
}

bool dis_fit_converged(const dis_fit *fit)
{
    return fit->converged;
}

double dis_fit_objective(const dis_fit *fit)
{
    return fit->objective;
}

dis_status dis__vote_labels_write(dis_context *ctx, const double *p, const dis_votes *votes, const char *path,
                                  const char *format)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    if (!p) return dis__fail(DIS_EUSAGE, "there are no labels to write: they were moved to the caller");
    const dis_labels_view labels = {.size = sizeof(dis_labels_view),
                                    .n_items = v.n_items,
                                    .n_classes = v.n_classes,
                                    .p = p,
                                    .tasks = v.tasks,
                                    .classes = v.classes};
    return dis_labels_write(ctx, &labels, path, format);
}

dis_status dis_fit_write_labels(dis_context *ctx, const dis_fit *fit, const dis_votes *votes, const char *path,
                                const char *format)
{
    if (fit->n_items != dis_votes_n_items(votes) || fit->n_classes != dis_votes_n_classes(votes))
        return dis__fail(DIS_EUSAGE,
                         "the fit has %zu items and %zu classes, the votes %zu and %zu; pass the votes of the fit",
                         fit->n_items, fit->n_classes, dis_votes_n_items(votes), dis_votes_n_classes(votes));
    return dis__vote_labels_write(ctx, fit->p, votes, path, format);
}

const dis_parameter *dis_fit_get_parameter(const dis_fit *fit, size_t i)
{
    return i < fit->n_parameters ? &fit->parameter[i] : NULL;
}

const dis_parameter *dis_fit_find_parameter(const dis_fit *fit, const char *name)
{
    for (size_t i = 0; i < fit->n_parameters; i++)
        if (strcmp(fit->parameter[i].name, name) == 0) return &fit->parameter[i];
    return NULL;
}

static size_t axis_size(const dis_fit *fit, char axis)
{
    switch (axis) {
    case 'w': return fit->n_workers;
    case 'i': return fit->n_items;
    case 'g': return fit->n_groups;
    default: return fit->n_classes;
    }
}

dis_status dis__fit_add_parameter(dis_fit *fit, const char *name, const char *axes, double **values)
{
    if (fit->n_parameters == DIS_MAX_PARAMETERS) return dis__fail(DIS_EBUG, "too many parameters");
    size_t n = 1;
    for (const char *a = axes; *a; a++) n = dis__saturating_size(n, axis_size(fit, *a), 0);
    DIS_TRY(dis__alloc_zeroed(values, n, sizeof **values));
    fit->parameter[fit->n_parameters++] = (dis_parameter){.name = name, .axes = axes, .n = n, .values = *values};
    return DIS_OK;
}

dis_status dis__fit_add_objective(dis_fit *fit, double objective)
{
    DIS_TRY(dis__reserve(&fit->trace, &fit->trace_capacity, fit->n_trace, fit->n_trace + 1, sizeof *fit->trace));
    fit->trace[fit->n_trace++] = objective;
    fit->objective = objective;
    return DIS_OK;
}

void dis__item_count_votes(const dis_votes_view *votes, size_t i, double *counts)
{
    const size_t n_classes = votes->n_classes;
    if (votes->counts) {
        memcpy(counts, votes->counts + i * n_classes, n_classes * sizeof *counts);
        return;
    }
    memset(counts, 0, n_classes * sizeof *counts);
    for (uint64_t v = votes->start[i]; v < votes->start[i + 1]; v++) counts[dis__vote_label(votes, v)] += 1;
}

/* Workers are spread over all items, so each job sums a range of items; a fixed number of jobs, added in order, makes
 * the bytes independent of the threads. */
typedef struct {
    const dis_votes_view *votes;
    const double *p;
} quality_work;

/* sums: (n_workers) of the labels' probabilities of votes, (n_workers) of votes. */
static void quality_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const quality_work *w = arg;
    const dis_votes_view *v = w->votes;
    double *count = sums + v->n_workers;
    for (size_t i = first; i < last; i++) {
        const double *p = w->p + i * v->n_classes;
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            sums[v->worker[k]] += p[dis__vote_label(v, k)];
            count[v->worker[k]]++;
        }
    }
}

dis_status dis_votes_worker_quality(dis_context *ctx, const dis_votes *votes, const double *p, double *quality,
                                    uint64_t *n_voted)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis__fit_args args = {.ctx = ctx, .votes = dis_votes_get_view(votes), .part = dis__votes_part_of(votes)};
    const size_t n = args.votes.n_workers;
    if (!args.votes.start) return dis__fail(DIS_EDATA, "this input has no annotator ids");
    quality_work w = {.votes = &args.votes, .p = p};
    dis__item_sums pass = {.args = &args,
                           .n_jobs = dis__n_jobs(args.part.n_votes, n * 4 + 100000, 8),
                           .n_sums = dis__saturating_size(n, 2, 0),
                           .job = quality_job,
                           .arg = &w};
    double *total;
    DIS_TRY(dis__alloc_array(&total, pass.n_sums, sizeof *total));
    dis_status status = dis__item_sums_create(&pass);
    if (status == DIS_OK) status = dis__item_sums_run(&pass, total);
    for (size_t i = 0; status == DIS_OK && i < n; i++) {
        if (quality) quality[i] = total[n + i] > 0 ? total[i] / total[n + i] : 0;
        if (n_voted) n_voted[i] = (uint64_t)total[n + i];
    }
    dis__item_sums_destroy(&pass);
    dis__free(total);
    return status;
}
