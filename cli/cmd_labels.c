/* dissent labels: votes in, soft labels out.
 *
 * Everything that can be checked is checked before the first byte is read. Of a fit only its labels are kept, unless
 * its parameters are wanted (--workers, --save-state), and the combination is written over the first view: the peak is
 * the votes, one table of labels a view, and what one method needs while it runs. */
#include "labels_job.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT(field, name_, argument_, names_, summary_)                                                   \
    {                                                                                                     \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(labels_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                              \
    }
#define LIST(field, name_, argument_, names_, summary_)                                                   \
    {                                                                                                     \
        .name = name_, .kind = CLI_LIST, .offset = offsetof(labels_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                              \
    }
#define FLAG(field, name_, summary_)                                                                   \
    {                                                                                                  \
        .name = name_, .kind = CLI_FLAG, .offset = offsetof(labels_values, field), .summary = summary_ \
    }

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(labels_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_OUTPUT,
     .summary = "where the labels go; without it, standard output",
     .formats = CLI_LABEL_FORMATS,
     .standard = "the labels"},
    TEXT(format, "format", "FORMAT", CLI_NAMES_NOTHING,
         "csv, tsv, jsonl or npy; without it, by the name of the output, else csv"),
    LIST(method, "method", "SPEC", CLI_NAMES_METHOD,
         "NAME[:key=value,...]; one: its own labels; several: combined; none: standard, softmax, dawid-skene and mace"),
    TEXT(
        combine, "combine", "SPEC", CLI_NAMES_COMBINER,
        "NAME[:key=value,...] for several methods; weights=.2/.3/.5 or weights=auto weighs them; without it, centroid"),
    CLI_VOTES_OPTIONS(labels_values, reading),
    TEXT(gold, "gold", "FILE", CLI_NAMES_FILE, "known labels (task,label): these items are pinned to them"),
    TEXT(predictions, "predictions", "FILE", CLI_NAMES_FILE,
         "what a model says of the items, out of fold (dissent train --folds): the prior of each item for methods that "
         "have one"),
    {.name = "predictions-weight",
     .kind = CLI_REAL,
     .offset = offsetof(labels_values, predictions_weight),
     .argument = "X",
     .fallback = "-1",
     .low = -1,
     .high = 100,
     .summary = "power to which predictions are raised: 0 none, 1 as they are; below 0: estimated, between 0 and 1"},
    CLI_OUTPUT_OPTION(labels_values, save_state, "save-state", "safetensors",
                      "keep what the methods learned, to start a later run from"),
    TEXT(init_state, "init-state", "FILE", CLI_NAMES_FILE, "start from a state saved before"),
    CLI_OUTPUT_OPTION(labels_values, workers, "workers", CLI_TABLE_FORMATS,
                      "per worker: votes, quality, parameters of each method (CSV, TSV or JSONL by the name)"),
    TEXT(save_views, "save-views", "FOLDER", CLI_NAMES_OUTPUT_FOLDER, "keep the labels of each method in this folder"),
    CLI_OUTPUT_OPTION(labels_values, json, "json", "json",
                      "summary for machines; - is standard output (then the labels need -o)"),
    FLAG(require_convergence, "require-convergence",
         "exit with 6, and write no labels, when a method did not converge"),
    {.name = "seed",
     .kind = CLI_COUNT,
     .offset = offsetof(labels_values, seed),
     .argument = "N",
     .fallback = "0",
     .summary = "for whatever is random; seed= of a method wins"},
    CLI_COMMON_OPTIONS(labels_values),
};

extern const cli_command cli_cmd_labels;
static const char *const default_methods[] = {"standard", "softmax", "dawid-skene", "mace"};
enum { N_DEFAULTS = 4, N_DEFAULTS_WITHOUT_WORKERS = 2 };

/* ---- before reading ---- */

/* FOLDER/SPEC.EXTENSION with nothing in it that a file name should not have; told apart by a number where two are
 * alike. */
static void view_path(const labels_values *v, const char *const *specs, size_t m, char *out, size_t size)
{
    enum { MOST = 100 };
    char name[DIS_MAX_VIEWS][MOST + 1];
    size_t same = 0;
    for (size_t i = 0; i <= m; i++) {
        snprintf(name[i], sizeof name[i], "%s", specs[i]);
        for (char *s = name[i]; *s; s++)
            if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789=._-", *s)) *s = '-';
        if (i < m) continue;
        for (size_t j = 0; j < m; j++) same += strcmp(name[j], name[m]) == 0;
    }
    char number[24] = "";
    if (same) snprintf(number, sizeof number, "-%zu", same + 1);
    snprintf(out, size, "%s/%s%s.%s", v->save_views, name[m], number, v->format ? v->format : "csv");
}

enum { VIEW_PATH = 160 }; /* what a path of a view has beyond the folder's */

/* That no view goes where an input or another output is. */
static int check_views(labels_job *job)
{
    const labels_values *v = job->v;
    const char *const *specs = v->method.n ? v->method.value : default_methods;
    const size_t n = v->method.n ? v->method.n : N_DEFAULTS, size = strlen(v->save_views) + VIEW_PATH;
    char *path = malloc(size);
    if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
    int code = 0;
    for (size_t m = 0; m < n && m < DIS_MAX_VIEWS && code == 0; m++) {
        view_path(v, specs, m, path, size);
        code = cli_check_output(job->c, &cli_cmd_labels, v, job->in.paths, job->in.n_paths, "save-views", path);
    }
    free(path);
    return code;
}

static int check_options(labels_job *job)
{
    cli *c = job->c;
    const labels_values *v = job->v;
    int code = 0;
    for (size_t m = 0; m < v->method.n && code == 0; m++) code = cli_failed(c, dis_method_check(v->method.value[m]));
    if (code == 0 && v->combine) code = cli_failed(c, dis_combiner_check(v->combine));
    if (code != 0) return code;
    if (v->combine && v->method.n == 1)
        return cli_usage(
            c, "--combine needs several views and there is one --method; name another, or leave --combine out");
    code = cli_check_format(c, "format", v->format);
    if (code == 0) code = labels_check_predictions(job);
    return code == 0 && v->save_views ? check_views(job) : code;
}

static void choose_methods(labels_job *job)
{
    const labels_values *v = job->v;
    job->methods_are_default = v->method.n == 0;
    if (job->methods_are_default) {
        job->n_views = job->in.look.start ? N_DEFAULTS : N_DEFAULTS_WITHOUT_WORKERS;
        for (size_t m = 0; m < job->n_views; m++) job->view[m].spec = default_methods[m];
        if (!job->in.look.start)
            cli_warn(
                job->c,
                "this input does not say who voted: dawid-skene and mace are left out, standard and softmax remain");
    } else {
        job->n_views = v->method.n;
        for (size_t m = 0; m < job->n_views; m++) job->view[m].spec = v->method.value[m];
    }
    job->combine_is_default = !v->combine;
    job->combine = job->n_views == 1 ? NULL : v->combine ? v->combine : "centroid";
}

/* ---- fitting ---- */

static dis_labels_view labels_of(const labels_job *job, const double *p)
{
    return (dis_labels_view){.n_items = job->in.look.n_items,
                             .n_classes = job->in.look.n_classes,
                             .p = p,
                             .tasks = job->in.look.tasks,
                             .classes = job->in.look.classes};
}

static int save_view(labels_job *job, size_t m)
{
    const char *specs[DIS_MAX_VIEWS];
    const size_t size = strlen(job->v->save_views) + VIEW_PATH;
    char *path = malloc(size);
    if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
    for (size_t i = 0; i <= m; i++) specs[i] = job->view[i].spec;
    view_path(job->v, specs, m, path, size);
    const dis_labels_view view = labels_of(job, job->view[m].p);
    const dis_status status = dis_labels_write(job->ctx, &view, path, job->v->format);
    free(path);
    return cli_failed(job->c, status);
}

static int fit_view(labels_job *job, size_t m, const dis_fit_options *how)
{
    labels_result *r = &job->view[m];
    struct timespec since;
    clock_gettime(CLOCK_MONOTONIC, &since);
    dis_fit *fit;
    dis_fit_options own = *how;
    if (!labels_use_predictions(job, r->spec)) own.predictions = NULL;
    const dis_status status = dis_fit_run(job->ctx, job->in.votes, r->spec, &own, &fit);
    if (status != DIS_OK) return cli_failed(job->c, status);
    r->fit = fit;
    r->look = dis_fit_look(fit);
    r->look.n_trace = 0;
    r->look.trace = NULL;
    r->p = dis_fit_take_p(fit);
    r->seconds = cli_seconds(&since);
    if (!job->v->workers && !job->v->save_state) {
        dis_fit_destroy(fit);
        r->fit = NULL;
    }
    /* Our own reader, and most others, would choke on more. */
    if (job->v->workers && labels_worker_columns(job) > DIS_MAX_COLUMNS)
        return cli_error(
            job->c, DIS_ELIMIT,
            "--workers: %zu classes make %zu columns and %u are possible; --save-state keeps all parameters in "
            "one file of arrays",
            job->in.look.n_classes, labels_worker_columns(job), DIS_MAX_COLUMNS);
    return job->v->save_views ? save_view(job, m) : 0;
}

/* Combines nothing at all: tells what is wrong with the number of weights before any fit is made. */
static dis_status check_combination(const labels_job *job)
{
    double equal[DIS_MAX_VIEWS];
    const double *p[DIS_MAX_VIEWS], none = 0;
    for (size_t m = 0; m < job->n_views; m++) {
        equal[m] = 1;
        p[m] = &none;
    }
    const bool automatic = dis_combiner_wants_auto_weights(job->combine);
    const dis_views views = {
        .n_classes = 1, .n_views = job->n_views, .p = p, .weight = automatic ? equal : NULL, .votes = job->in.votes};
    return dis_combine(job->ctx, &views, job->combine, equal, NULL);
}

static int fit_all(labels_job *job)
{
    const char *specs[DIS_MAX_VIEWS];
    for (size_t m = 0; m < job->n_views; m++) specs[m] = job->view[m].spec;
    dis_status status = dis_fit_check(job->ctx, job->in.votes, specs, job->n_views);
    if (status == DIS_OK && job->combine) status = check_combination(job);
    if (status != DIS_OK) return cli_failed(job->c, status);
    if (job->v->save_views && mkdir(job->v->save_views, 0777) != 0 && errno != EEXIST)
        return cli_error(job->c, DIS_EIO, "cannot make the folder %s: %s", job->v->save_views, strerror(errno));

    dis_fit_options how = dis_fit_options_default();
    how.seed = job->v->seed;
    how.gold = job->in.gold;
    how.start = job->start;
    how.predictions = job->predictions;
    how.predictions_weight = job->v->predictions_weight;
    for (size_t m = 0; m < job->n_views; m++) {
        const int code = fit_view(job, m, &how);
        if (code != 0) return code;
        if (job->v->require_convergence && !job->view[m].look.converged)
            return cli_error(job->c, DIS_ENOTCONVERGED,
                             "%s did not converge in %d iterations; allow more (iterations=N) or a larger tolerance",
                             job->view[m].spec, job->view[m].look.iterations);
    }
    double weight[DIS_MAX_VIEWS];
    const bool automatic = job->combine && dis_combiner_wants_auto_weights(job->combine);
    if (automatic) {
        status = dis_auto_weights(job->ctx, job->in.votes, specs, job->n_views, &how, weight);
        if (status != DIS_OK) return cli_failed(job->c, status);
    }
    job->p = job->view[0].p;
    job->did.weight[0] = 1;
    if (!job->combine) return 0;
    const double *p[DIS_MAX_VIEWS];
    for (size_t m = 0; m < job->n_views; m++) p[m] = job->view[m].p;
    const dis_views views = {.n_items = job->in.look.n_items,
                             .n_classes = job->in.look.n_classes,
                             .n_views = job->n_views,
                             .p = p,
                             .weight = automatic ? weight : NULL,
                             .votes = job->in.votes};
    status = dis_combine(job->ctx, &views, job->combine, job->p, &job->did);
    return cli_failed(job->c, status);
}

static void free_views_but_first(labels_job *job)
{
    for (size_t m = 1; m < job->n_views; m++) {
        dis_free(job->view[m].p);
        job->view[m].p = NULL;
    }
}

static int judge_workers(labels_job *job)
{
    const size_t n = job->in.look.n_workers;
    if (!job->in.look.start) {
        if (!job->v->workers) return 0;
        return cli_error(job->c, DIS_EDATA, "--workers: this input does not say who voted; bring one row a vote");
    }
    if (!job->v->workers && !job->v->json && job->c->quiet) return 0;
    job->quality = calloc(n ? n : 1, sizeof *job->quality);
    job->n_voted = calloc(n ? n : 1, sizeof *job->n_voted);
    if (!job->quality || !job->n_voted)
        return cli_error(job->c, DIS_ELIMIT, "no memory for the quality of %zu workers", n);
    return cli_failed(job->c, dis_worker_quality(job->ctx, job->in.votes, job->p, job->quality, job->n_voted));
}

static int write_all(labels_job *job)
{
    const labels_values *v = job->v;
    const dis_fit *fits[DIS_MAX_VIEWS];
    for (size_t m = 0; m < job->n_views; m++) fits[m] = job->view[m].fit;
    const dis_labels_view labels = labels_of(job, job->p);
    int code = cli_failed(job->c, dis_labels_write(job->ctx, &labels, v->output ? v->output : "-", v->format));
    if (code == 0 && v->workers) code = labels_write_workers(job, v->workers);
    if (code == 0 && v->save_state)
        code = cli_failed(job->c, dis_state_write(job->ctx, job->in.votes, fits, job->n_views, v->save_state));
    if (code == 0 && v->json) code = cli_failed(job->c, labels_write_json(job, v->json));
    return code;
}

static int work(labels_job *job)
{
    int code = check_options(job);
    if (code == 0) code = votes_input_check(&job->in);
    if (code != 0) return code;
    dis_status status = cli_context(job->c, &job->v->common, &job->ctx);
    if (status == DIS_OK && job->v->init_state) status = dis_state_read(job->ctx, job->v->init_state, &job->start);
    if (status != DIS_OK) return cli_failed(job->c, status);
    code = votes_input_read(&job->in, job->ctx);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, job->ctx, job->v->gold);
    if (code == 0) code = labels_read_predictions(job);
    if (code != 0) return code;
    labels_tell_input(job);
    choose_methods(job);
    labels_tell_predictions(job);
    code = fit_all(job);
    free_views_but_first(job);
    if (code == 0) code = judge_workers(job);
    if (code == 0) code = write_all(job);
    if (code == 0) labels_tell_result(job);
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    labels_job *job = calloc(1, sizeof *job);
    if (!job) return cli_error(c, DIS_ELIMIT, "no memory");
    job->c = c;
    job->v = values;
    job->in = (votes_input){.c = c, .v = &job->v->reading, .paths = operands, .n_paths = n_operands};
    const int code = work(job);
    for (size_t m = 0; m < job->n_views; m++) {
        dis_free(job->view[m].p);
        dis_fit_destroy(job->view[m].fit);
    }
    free(job->quality);
    free(job->n_voted);
    dis_free(job->predictions);
    dis_state_destroy(job->start);
    votes_input_free(&job->in);
    dis_context_destroy(job->ctx);
    free(job);
    return code;
}

const cli_command cli_cmd_labels = {
    .name = "labels",
    .summary = "soft labels from votes",
    .operands = "VOTES...",
    .text = "Reads votes (columns task, worker, label; CSV, TSV or JSONL, also gzip or zstd; - is standard input; "
            "several files make "
            "one table), estimates for each item how probable each class is, and writes one row an item: "
            "task,label,entropy,p:CLASS,...\n\n"
            "Reading is strict: anything odd is an error with its place; --lenient, --duplicates, --na and "
            "--renormalise say "
            "otherwise, and what they let pass is counted. Results depend neither on the order of rows nor on the "
            "number of "
            "threads.",
    .examples = "  dissent labels votes.csv -o labels.csv\n"
                "  dissent labels votes.csv --method dawid-skene --workers workers.csv -o labels.csv\n"
                "  dissent labels votes.csv --method standard --method mace:method=em --combine hybrid:weights=auto\n",
    .methods = true,
    .combiners = true,
    .names = CLI_NAMES_FILE,
    .least = 1,
    .most = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(labels_values),
    .run = run,
};
