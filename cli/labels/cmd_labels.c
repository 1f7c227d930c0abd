/* dissent labels: computes soft labels from votes.
 *
 * Everything that can be checked is checked before the first byte is read. The labels are made by the library's recipes
 * (dissent/recipe.h); parameters of fits are kept where they are wanted (--workers, --save-state). */
#include "tool/files.h"
#include "tool/rank_calls.h"
#include "tool/method_checks.h"
#include "labels/cmd_labels.h"
#include "labels/scaled_command.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(labels_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT, .formats = CLI_LABEL_FORMATS, .standard = "the labels"),
    OPTION(TEXT, format, "format", .argument = "FORMAT"),
    OPTION(LIST, method, "method", .argument = "SPEC", .names = CLI_NAMES_METHOD),
    OPTION(TEXT, combine, "combine", .argument = "SPEC", .names = CLI_NAMES_COMBINER),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    CLI_GOLD_COLUMNS_OPTION(labels_values, reading.gold_columns),
    CLI_VOTES_OPTIONS(labels_values, reading),
    CLI_SCALE_OPTIONS(labels_values, reading),
    CLI_PARTS_OPTIONS(labels_values, reading),
    CLI_TABLES_OPTION(labels_values, reading),
    OPTION(LIST, covariate, "covariate", .argument = "NAME=COLUMNS"),
    OPTION(TEXT, predictions, "predictions", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(METHOD, "use out-of-fold predictions of a model (dissent train --folds) as prior of each item")),
    OPTION(REAL, predictions_weight, "predictions-weight", .argument = "X", .fallback = "-1", .low = -1, .high = 100,
           CLI_HELP(METHOD, "raise predictions to this power; 0 ignores them [estimated between 0 and 2]")),
    CLI_OUTPUT_OPTION(labels_values, save_state, "save-state", "safetensors",
                      CLI_HELP(OUTPUT, "save the parameters of the methods for --init-state")),
    CLI_OUTPUT_OPTION(labels_values, save_growing, "save-growing", "safetensors",
                      CLI_HELP(OUTPUT, "save the votes and the fit of dawid-skene or of pairwise votes for --append")),
    OPTION(TEXT, append, "append", .argument = "STATE", .names = CLI_NAMES_FILE,
           CLI_HELP(METHOD, "add VOTES to a state of --save-growing and update its labels or scores")),
    OPTION(FLAG, refit, "refit", CLI_HELP(METHOD, "with --append: estimate all items again from all votes")),
    OPTION(TEXT, init_state, "init-state", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(METHOD, "start from the parameters saved by --save-state")),
    CLI_OUTPUT_OPTION(labels_values, workers, "workers", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    OPTION(TEXT, save_views, "save-views", .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER,
           CLI_HELP(OUTPUT, "write the labels of each method to FOLDER")),
    CLI_GROUPS_OPTIONS(labels_values, groups),
    OPTION(TEXT, save_groups, "save-groups", .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER,
           CLI_HELP(GROUPS, "write labels of each group, estimated from its votes only, to FOLDER")),
    CLI_OUTPUT_OPTION(labels_values, json, "json", "json", CLI_SHARED_HELP),
    OPTION(FLAG, require_convergence, "require-convergence",
           CLI_HELP(METHOD, "exit with code 6 and write nothing if a method does not converge")),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0"),
    CLI_DEVICE_OPTION(labels_values),
    CLI_COMMON_OPTIONS(labels_values),
};
/* clang-format on */

extern const cli_command cli_cmd_labels;

/* ---- before reading ---- */

/* FOLDER/SPEC.EXTENSION with nothing in it that a file name should not have; distinguished by a number where two are
 * alike. */
static void view_path(const labels_values *v, const char *const *specs, size_t m, char *out, size_t size)
{
    enum { MAX = 100 };
    char name[DIS_MAX_VIEWS][MAX + 1];
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

/* That no view replaces an input, another output, or a file that dissent did not write. */
static int check_views(labels_command *job)
{
    const labels_values *v = job->v;
    const size_t n = job->choice.n_views, size = strlen(v->save_views) + VIEW_PATH;
    char *path = malloc(size);
    if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
    int code = 0;
    for (size_t m = 0; m < n && code == 0; m++) {
        view_path(v, job->choice.views, m, path, size);
        code = cli_output_check(job->c, &cli_cmd_labels, v, job->in.paths, job->in.n_paths, "save-views", path);
        if (code == 0) code = cli_failed(job->c, dis__file_check_replace(path, DIS__OUTPUT_LABELS));
    }
    free(path);
    return code;
}

static dis_status choose(labels_command *job, bool workers)
{
    const labels_values *v = job->v;
    static const char *const with_model[] = {"with-model"};
    job->choice = dis_label_plan_default();
    if (v->predictions && v->method.n == 0)
        return dis_label_plan_parse(with_model, 1, v->combine, workers, &job->choice);
    return votes_input_select_methods(&v->reading, &v->method, v->combine, workers, &job->choice);
}

static int check_options(labels_command *job)
{
    const labels_values *v = job->v;
    if (v->combine && v->method.n == 1 && !dis_recipe_find(v->method.value[0]))
        return cli_usage(
            job->c,
            "--combine needs several label sets and only one --method is given; add another, or leave --combine out");
    if (v->covariate.n) return cli_usage(job->c, "--covariate has an effect with --scale pairwise only; leave it out");
    int code = cli_failed(job->c, choose(job, true));
    if (code == 0) code = cli_format_check(job->c, "format", v->format);
    if (code == 0) code = labels_predictions_check(job);
    if (code == 0) code = labels_groups_check(job);
    if (code == 0) code = labels_append_check(job);
    return code == 0 && v->save_views ? check_views(job) : code;
}

static void print_ranks(const labels_command *job)
{
    char items[CLI_NUMBER], votes[CLI_NUMBER];
    size_t n_items, n_votes;
    dis__votes_get_totals(job->in.votes, &n_items, &n_votes);
    cli_print(job->c, "%s items, %s votes by %zu workers on %d ranks, %.2f s", cli_count_format(n_items, items),
              cli_count_format(n_votes, votes), job->in.view.n_workers, dis_context_n_ranks(job->ctx),
              cli_seconds_since(&job->c->start));
}

/* A recipe has other views for votes without annotator ids, and for known labels. */
static int choose_views(labels_command *job)
{
    int code = 0;
    if (!job->in.view.start) {
        code = cli_failed(job->c, choose(job, false));
        if (code == 0 && job->choice.recipe) votes_input_warn_no_workers(&job->in, &job->choice);
        if (code == 0) code = labels_predictions_check(job);
    }
    job->choice = dis__label_plan_for_gold(&job->choice, job->in.n_gold);
    return code == 0 && job->in.gold && job->v->save_views ? check_views(job) : code;
}

/* ---- fitting ---- */

static dis_labels_view labels_of(const labels_command *job, const double *p)
{
    return (dis_labels_view){.size = sizeof(dis_labels_view),
                             .n_items = job->in.view.n_items,
                             .n_classes = job->in.view.n_classes,
                             .p = p,
                             .tasks = job->in.view.tasks,
                             .classes = job->in.view.classes};
}

static int save_view(labels_command *job, size_t m, const double *p)
{
    const size_t size = strlen(job->v->save_views) + VIEW_PATH;
    char *path = malloc(size);
    if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
    view_path(job->v, job->choice.views, m, path, size);
    const dis_labels_view view = labels_of(job, p);
    const dis_status status = dis_labels_write(job->ctx, &view, path, job->v->format);
    free(path);
    return cli_failed(job->c, status);
}

static int check_view(labels_command *job, const labels_result *r)
{
    /* Our own reader, and most others, would choke on more. */
    if (job->v->workers && labels_worker_columns_count(job) > DIS_MAX_COLUMNS)
        return cli_error(
            job->c, DIS_ELIMIT,
            "--workers: %zu classes make %zu columns and %u are possible; --save-state keeps all parameters in "
            "one file of arrays",
            job->in.view.n_classes, labels_worker_columns_count(job), DIS_MAX_COLUMNS);
    if (job->v->require_convergence && !r->fit_view.converged)
        return cli_error(
            job->c, DIS_ENOTCONVERGED,
            "%s did not converge in %d iterations; allow more (iterations=N), or a larger tolerance (tolerance=X)",
            r->spec, r->fit_view.iterations);
    return 0;
}

static dis_status store_view(void *user, size_t m, const dis_label_result_part *part)
{
    labels_command *job = user;
    labels_result *r = &job->view[m];
    job->choice.views[m] = part->spec; /* known labels may have left views out */
    *r = (labels_result){.spec = part->spec,
                         .fit = part->fit,
                         .fit_view = dis_fit_get_view(part->fit),
                         .seconds = cli_seconds_since(&job->since)};
    job->n_views = m + 1;
    cli_fit_warn(job->c, part->spec, part->fit);
    job->code = check_view(job, r);
    clock_gettime(CLOCK_MONOTONIC, &job->since);
    return job->code == 0 ? DIS_OK : DIS_ECANCELLED;
}

static int make_views_folder(labels_command *job)
{
    return cli_create_folder(job->c, job->v->save_views);
}

static int make_labels(labels_command *job)
{
    const labels_values *v = job->v;
    dis_fit_options how = dis_fit_options_default();
    how.seed = v->seed;
    how.gold = job->in.gold;
    how.initial_state = job->start;
    how.predictions = job->predictions;
    how.predictions_weight = v->predictions_weight;
    dis_label_result_options making = dis_label_result_options_default();
    making.fit = &how;
    making.keep_fits = v->workers || v->save_state;
    making.keep_views = v->save_views;
    making.on_fit = store_view;
    making.user = job;
    int code = v->save_views ? make_views_folder(job) : 0; /* before work that may take hours */
    if (code != 0) return code;
    clock_gettime(CLOCK_MONOTONIC, &job->since);
    const dis_status status = dis_label_result_run(job->ctx, job->in.votes, &job->choice, &making, &job->result);
    if (job->code != 0) return job->code;
    if (status != DIS_OK) return cli_failed(job->c, status);
    const dis_label_result_view result = dis_label_result_get_view(job->result);
    job->p = result.p;
    job->did = *result.combination;
    job->class_weight = result.class_weight;
    job->choice.n_views = result.n_views;
    job->choice.combine = result.combine;
    for (size_t m = 0; v->save_views && code == 0 && m < result.n_views; m++)
        code = save_view(job, m, result.parts[m].p);
    return code;
}

static int count_workers(labels_command *job)
{
    const size_t n = job->in.view.n_workers;
    if (!job->in.view.start) {
        if (!job->v->workers) return 0;
        return cli_error(job->c, DIS_EDATA,
                         "--workers: this input has no annotator ids; give one row per vote with a worker column");
    }
    if (!job->v->workers) return 0;
    job->expected_accuracy = calloc(n ? n : 1, sizeof *job->expected_accuracy);
    job->n_voted = calloc(n ? n : 1, sizeof *job->n_voted);
    if (!job->expected_accuracy || !job->n_voted)
        return cli_error(job->c, DIS_ELIMIT, "no memory for the shares of %zu workers", n);
    return cli_failed(job->c,
                      dis_votes_worker_quality(job->ctx, job->in.votes, job->p, job->expected_accuracy, job->n_voted));
}

static int write_all(labels_command *job)
{
    const labels_values *v = job->v;
    const dis_fit *fits[DIS_MAX_VIEWS];
    for (size_t m = 0; m < job->n_views; m++) fits[m] = job->view[m].fit;
    const dis_labels_view labels = labels_of(job, job->p);
    int code = cli_failed(job->c, dis_labels_write(job->ctx, &labels, v->output ? v->output : "-", v->format));
    const bool first = dis_context_rank(job->ctx) == 0;
    if (code == 0 && v->workers && first) code = labels_workers_write(job, v->workers);
    if (code == 0 && v->save_state)
        code = cli_failed(job->c, dis_state_write(job->ctx, job->in.votes, fits, job->n_views, v->save_state));
    if (code == 0 && v->save_growing)
        code = cli_failed(job->c, dis_incremental_write(job->ctx, job->in.votes, job->p, v->save_growing));
    return code;
}

static int work(labels_command *job)
{
    int code = check_options(job);
    if (code == 0) code = votes_input_check(&job->in);
    if (code != 0) return code;
    dis_status status = cli_context_create(job->c, &job->v->common, &job->ctx);
    if (status != DIS_OK) return cli_failed(job->c, status);
    if (job->v->init_state) status = dis_state_read(job->ctx, job->v->init_state, &job->start);
    status = dis__context_reduce_status(job->ctx, status);
    if (status != DIS_OK) return cli_failed(job->c, status);
    if (job->v->append && !job->v->refit) return labels_append_run(job);
    code = job->v->append ? labels_refit_read(job) : votes_input_read(&job->in, job->ctx);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, job->ctx, job->v->gold);
    if (code == 0) code = groups_input_read(&job->groups, job->ctx, job->in.votes);
    if (code == 0) code = labels_group_files_check(job);
    if (code == 0) code = labels_predictions_read(job);
    if (code != 0) return code;
    const bool shared = dis_context_n_ranks(job->ctx) > 1;
    if (shared)
        print_ranks(job);
    else
        labels_input_print(job);
    code = choose_views(job);
    if (code == 0) labels_predictions_print(job);
    if (code == 0) code = make_labels(job);
    if (code == 0) code = cli_failed(job->c, dis_votes_chance_test(job->ctx, job->in.votes, &job->chance));
    if (code == 0) code = count_workers(job);
    if (code == 0) code = write_all(job);
    if (code == 0 && !shared) labels_result_print(job);
    if (code == 0 && shared) cli_ranks_print(job->c, job->ctx, job->in.view.n_votes);
    if (code == 0) code = labels_groups_write(job);
    if (code == 0 && job->v->json) code = labels_json_write(job, job->v->json);
    return code;
}

/* Labels that are not distribution over classes. */
static int run_scaled(cli *c, const labels_values *v, char **operands, size_t n_operands)
{
    const bool pairs = votes_input_scale(&v->reading) == DIS_SCALE_PAIRWISE;
    const scaled_unused unused[] = {{v->gold, "gold"},
                                    {v->append && !pairs, "append"},
                                    {v->save_growing && !pairs, "save-growing"},
                                    {v->refit, "refit"},
                                    {v->predictions, "predictions"},
                                    {v->save_state, "save-state"},
                                    {v->init_state, "init-state"},
                                    {v->save_views, "save-views"},
                                    {v->save_groups, "save-groups"},
                                    {labels_is_on_device(v), "device"},
                                    {v->format && strcmp(v->format, "npy") == 0, "format npy"}};
    scaled_command job = {.c = c,
                          .command = &cli_cmd_labels,
                          .common = &v->common,
                          .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands},
                          .method = &v->method,
                          .combine = v->combine,
                          .covariates = &v->covariate,
                          .groups = &v->groups,
                          .seed = v->seed,
                          .table = "labels",
                          .output = v->output,
                          .format = v->format,
                          .workers = v->workers,
                          .json = v->json,
                          .append = v->append,
                          .save_state = v->save_growing,
                          .unused = unused,
                          .n_unused = sizeof unused / sizeof *unused};
    return scaled_command_run(&job);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    if (votes_input_is_scaled(&((const labels_values *)values)->reading))
        return run_scaled(c, values, operands, n_operands);
    labels_command *job = calloc(1, sizeof *job);
    if (!job) return cli_error(c, DIS_ELIMIT, "no memory");
    job->c = c;
    job->v = values;
    job->in = (votes_input){.c = c, .v = &job->v->reading, .paths = operands, .n_paths = n_operands};
    job->groups = (groups_input){.c = c, .v = &job->v->groups};
    const int code = work(job);
    if (code != 0) dis__context_abort(job->ctx, code);
    dis_label_result_destroy(job->result);
    free(job->expected_accuracy);
    free(job->n_voted);
    dis_free(job->predictions);
    dis_state_destroy(job->start);
    groups_input_free(&job->groups);
    votes_input_free(&job->in);
    dis_context_destroy(job->ctx);
    free(job);
    return code;
}

const cli_command cli_cmd_labels = {
    .name = "labels",
    .section = CLI_START,
    .summary = "estimate soft labels from annotations",
    .operands = "VOTES...",
    .text = "Reads votes (columns task, worker and label; CSV, TSV or JSONL, also gzip or zstd). Several files are "
            "read as one table; - is standard input. Estimates the probability of each class for each item and writes "
            "one row per item: task,label,entropy,p:CLASS,...\n\n"
            "Without --method, the default recipe is used (see Recipes below). With --gold, these items keep their "
            "known labels; 10 or more known labels also calibrate the default recipe. With --predictions, the default "
            "recipe is with-model.\n\n"
            "Reading is strict: invalid rows, duplicate votes and empty labels are errors that name the line. "
            "--lenient, --duplicates, --na and --renormalise accept them and report their number. Results depend "
            "neither on the order of rows nor on the number of threads.",
    .examples = "  dissent labels votes.csv -o labels.csv\n"
                "  dissent labels export.json --preset label-studio -o labels.csv\n"
                "  dissent labels votes.csv --method dawid-skene --workers workers.csv -o labels.csv\n"
                "  dissent labels votes.csv --method standard --method mace --combine average -o labels.csv\n",
    .basic = "preset|task,worker,label|gold|method|combine|seed|output|workers|json|quiet",
    .ranks = true,
    .late_device = true,
    .methods = true,
    .combiners = true,
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(labels_values),
    .run = run,
};
