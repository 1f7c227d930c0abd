/* dissent experiment: a table of conditions from one file: run, status, table, show, report; stores merged. */
#include "tool/json_writer.h"
#include "tool/experiments.h"
#include "tool/files.h"
#include "tool/arrays.h"
#include "experiment/cmd_experiment.h"
#include "output/json_summary.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(experiment_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, store, "store", .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER, .holds = "results.sqlite*",
           CLI_HELP(INPUT, "folder of the results; merge: the target [NAME.results for NAME.yaml]")),
    OPTION(TEXT, data, "data", .argument = "FOLDER", .names = CLI_NAMES_FOLDER,
           CLI_HELP(INPUT, "folder of the relative data paths in FILE [current folder]")),
    OPTION(LIST, filter, "filter", .argument = "TEXT|KEY=VALUE",
           CLI_HELP(INPUT, "only runs of cells whose name contains TEXT, or with this setting, e.g. seed=8..19; values of "
                           "the same key are alternatives")),
    OPTION(COUNT, jobs, "jobs", .letter = 'j', .argument = "N", .fallback = "auto", .none = "auto", .high = 1024),
    OPTION(FLAG, retry_failed, "retry-failed", CLI_HELP(METHOD, "run: repeat failed runs")),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           CLI_HELP(OUTPUT, "table, report: write to FILE [standard output for the table]")),
    OPTION(TEXT, figures, "figures", .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER, .holds = "*.svg",
           CLI_HELP(OUTPUT, "report: write every chart as an SVG file")),
    OPTION(CHOICE, format, "format", .argument = "FORMAT", .choices = "text|markdown|csv|latex",
           CLI_HELP(OUTPUT, "table: output format [text on a terminal, else by file extension]")),
    CLI_OUTPUT_OPTION(experiment_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_DEVICE_OPTION(experiment_values),
    CLI_PRECISION_OPTION(experiment_values),
    CLI_COMMON_OPTIONS(experiment_values),
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *name;
    size_t operands, max;           /* after the action */
    const char *formats;            /* of its output, by the name */
    bool run, output, format, json; /* takes the options of running, and these */
    int (*act)(experiment_command *job);
} actions[] = {
    {"run", 1, SIZE_MAX, NULL, true, false, false, true, experiment_run},
    {"status", 1, 1, NULL, false, false, false, true, experiment_status_print},
    {"table", 1, 1, "csv|markdown|latex", false, true, true, true, experiment_table_write},
    {"show", 2, 2, NULL, false, false, false, true, experiment_run_print},
    {"report", 1, 1, "html", false, true, false, false, experiment_report_write},
    {"merge", 1, SIZE_MAX, NULL, false, false, false, false, NULL},
};
/* clang-format on */
enum { N_ACTIONS = sizeof actions / sizeof *actions };

const char *experiment_duration_format(double seconds, char out[CLI_NUMBER])
{
    const double s = seconds < 0 ? 0 : seconds;
    if (isnan(s))
        snprintf(out, CLI_NUMBER, "-");
    else if (s >= 3600)
        snprintf(out, CLI_NUMBER, "%.0f h %02.0f min", floor(s / 3600), floor(fmod(s, 3600) / 60));
    else if (s >= 60)
        snprintf(out, CLI_NUMBER, "%.0f min %02.0f s", floor(s / 60), floor(fmod(s, 60)));
    else
        snprintf(out, CLI_NUMBER, s < 10 ? "%.1f s" : "%.0f s", s);
    return out;
}

dis_status experiment_summary_open(const experiment_command *job, dis__json_writer **out)
{
    const dis_status status = cli_summary_open(job->v->json, "experiment", NULL, out);
    if (status != DIS_OK) return status;
    cli_inputs_begin(*out);
    const dis_status hashed = cli_input_write(*out, job->view.path, "experiment");
    cli_inputs_end(*out);
    if (hashed != DIS_OK) return dis__json_writer_finish(*out, hashed);
    cli_json_write_text(*out, "experiment", job->view.name);
    cli_json_write_text(*out, "store", job->view.store);
    return DIS_OK;
}

/* ---- run ---- */

static void watch(void *user, const dis_experiment_counts *n)
{
    experiment_command *job = user;
    cli *c = job->c;
    if (!c->terminal || c->quiet || cli_seconds_since(&c->start) < .4 || cli_seconds_since(&job->drawn) < .1) return;
    clock_gettime(CLOCK_MONOTONIC, &job->drawn);
    char left[CLI_NUMBER], failed[CLI_NUMBER] = "", remote[48] = "";
    if (n->failed) snprintf(failed, sizeof failed, ", %zu failed", n->failed);
    if (n->running_remotely) snprintf(remote, sizeof remote, ", %zu in other processes", n->running_remotely);
    fprintf(stderr, "\r\033[K  %zu of %zu runs done%s, %zu at work%s, %s%s", n->done, n->total, failed, n->running,
            remote,
            isnan(n->seconds_left) ? "time left not known yet" : experiment_duration_format(n->seconds_left, left),
            isnan(n->seconds_left) ? "" : " left");
    c->bar = true;
}

static void counts_json(dis__json_writer *j, const dis_experiment_counts *n)
{
    cli_json_write_count(j, "runs", n->total);
    cli_json_write_count(j, "done", n->done);
    cli_json_write_count(j, "failed", n->failed);
    cli_json_write_count(j, "computed", n->computed);
}

static dis_status run_json(const experiment_command *job)
{
    dis__json_writer *j;
    const dis_status status = experiment_summary_open(job, &j);
    if (status != DIS_OK) return status;
    counts_json(j, &job->counts);
    return cli_summary_close(j, DIS_OK);
}

static void print_next_steps(const experiment_command *job)
{
    const experiment_values *v = job->v;
    const char *words[8] = {"table", job->path};
    size_t n = 2;
    if (v->store) {
        words[n++] = "--store";
        words[n++] = v->store;
    }
    if (v->data) {
        words[n++] = "--data";
        words[n++] = v->data;
    }
    cli_next_print(job->c, "experiment", words, "means and intervals of all cells");
}

/* One file; with several files, `name` is printed before the counts. */
static int run_one(experiment_command *job, const char *name)
{
    cli *c = job->c;
    dis_experiment_run_options o = dis_experiment_run_options_default();
    o.jobs = (size_t)job->v->jobs;
    o.retry_failed = job->v->retry_failed;
    o.progress = watch;
    o.user = job;
    dis_experiment_counts *n = &job->counts;
    const dis_status status = dis_experiment_run(job->ctx, job->experiment, &o, n);
    char message[2048], time[CLI_NUMBER], safe[CLI_SAFE];
    snprintf(message, sizeof message, "%s", dis_last_error());
    cli_bar_clear(c);
    const bool broken = status != DIS_OK && status != DIS_ECANCELLED && n->failed == 0 && n->computed == 0;
    if (!broken)
        cli_print(c, "%s%s%zu of %zu runs complete, %zu of them new, %zu failed (%s)", name ? cli_safe(name, safe) : "",
                  name ? ": " : "", n->done, n->total, n->computed, n->failed,
                  experiment_duration_format(n->seconds, time));
    if (status == DIS_ECANCELLED) {
        cli_print(c, "stopped; the same command continues");
        return cli_failed(c, status);
    }
    if (status != DIS_OK)
        return cli_error(c, status, "%s%s", message, n->failed ? "; --retry-failed repeats them" : "");
    if (!name) print_next_steps(job);
    return 0;
}

int experiment_run(experiment_command *job)
{
    const int code = run_one(job, NULL);
    if (!job->v->json || code > 128) return code;
    const int written = cli_failed(job->c, run_json(job));
    return code ? code : written;
}

/* ---- report ---- */

int experiment_report_write(experiment_command *job)
{
    cli *c = job->c;
    const char *output = job->v->output, *figures = job->v->figures;
    if (!output && !figures) return cli_usage(c, "report needs an output: -o FILE.html or --figures FOLDER");
    int code = output ? cli_failed(c, dis_experiment_write_report(job->ctx, job->experiment, output)) : 0;
    if (code == 0 && figures) code = cli_failed(c, dis_experiment_write_charts(job->ctx, job->experiment, figures));
    char safe[CLI_SAFE];
    if (code == 0 && output && !cli_is_dash(output)) cli_print(c, "wrote %s", cli_safe(output, safe));
    if (code == 0 && figures) cli_print(c, "wrote charts into %s", cli_safe(figures, safe));
    return code;
}

/* ---- all ---- */

static const char *action_name(const void *arg, size_t i)
{
    (void)arg;
    return i < N_ACTIONS ? actions[i].name : NULL;
}

static int check_operands(cli *c, size_t a, size_t n)
{
    const char *name = actions[a].name;
    if (n >= 1 + actions[a].operands && (actions[a].max == SIZE_MAX || n <= 1 + actions[a].max)) return 0;
    if (actions[a].operands == 2) return cli_usage(c, "%s takes a FILE and the beginning of a run's key", name);
    return cli_usage(c, actions[a].max == 1 ? "%s takes one FILE" : "%s takes at least one operand", name);
}

static int check(cli *c, const experiment_values *v, size_t a, size_t n_operands)
{
    const char *name = actions[a].name;
    const int code = check_operands(c, a, n_operands);
    if (code != 0) return code;
    if (!actions[a].run && (v->jobs || v->retry_failed))
        return cli_usage(c, "--jobs and --retry-failed are for run, not for %s", name);
    if (!actions[a].output && v->output) return cli_usage(c, "--output is for table and report, not for %s", name);
    if (v->figures && actions[a].act != experiment_report_write)
        return cli_usage(c, "--figures is for report, not for %s", name);
    if (!actions[a].format && v->format >= 0) return cli_usage(c, "--format is for table, not for %s", name);
    bool known;
    if (v->output && v->format < 0 && dis__file_check_output(v->output, actions[a].formats, &known) != DIS_OK)
        return cli_usage(c, "--output %s", dis_last_error());
    if (!actions[a].json && v->json) return cli_usage(c, "%s has no machine-readable summary; use table", name);
    if (!actions[a].act && (v->filter.n || v->data))
        return cli_usage(c, "--filter and --data apply to a FILE, but %s reads stores", name);
    return 0;
}

/* ---- one file ---- */

static dis_status open_file(experiment_command *job, const char *path, bool may_be_empty)
{
    const experiment_values *v = job->v;
    dis_experiment_options o = dis_experiment_options_default();
    o.store = v->store;
    o.data_folder = v->data;
    o.filter = v->filter.value;
    o.n_filters = v->filter.n;
    o.allow_no_runs = may_be_empty;
    const dis_status status = dis_experiment_read(job->ctx, path, &o, &job->experiment);
    if (status == DIS_OK) job->view = dis_experiment_get_view(job->experiment);
    return status;
}

static int act_on_one(experiment_command *job, size_t a, const char *path)
{
    cli *c = job->c;
    int code = cli_failed(c, open_file(job, path, false));
    const char *const outputs[] = {job->v->output, job->v->json};
    for (size_t i = 0; i < 2 && code == 0; i++)
        if (outputs[i]) code = cli_failed(c, dis__experiment_check_output(job->experiment, outputs[i]));
    if (code == 0 && !actions[a].run && job->v->store && access(job->v->store, F_OK) != 0)
        cli_warn(c, "the store %s does not exist: no run has been completed", job->v->store);
    if (code == 0) code = actions[a].act(job);
    dis_experiment_destroy(job->experiment);
    return code;
}

/* ---- several files ---- */

/* A file's part of the summary: name, paper, store and counts. */
static void file_json(dis__json_writer *j, const experiment_command *job)
{
    dis__json_writer_begin_object(j);
    cli_json_write_text(j, "experiment", job->view.name);
    cli_json_write_text(j, "paper", *job->view.paper ? job->view.paper : NULL);
    cli_json_write_text(j, "store", job->view.store);
    counts_json(j, &job->counts);
    dis__json_writer_end_object(j);
}

/* All files are read before the first run, so that a mistake in the last one costs nothing. */
static int check_files(experiment_command *job, char **path, size_t n)
{
    size_t fit = 0;
    for (size_t i = 0; i < n; i++) {
        int code = cli_failed(job->c, open_file(job, path[i], true));
        if (code == 0 && job->v->json)
            code = cli_failed(job->c, dis__experiment_check_output(job->experiment, job->v->json));
        fit += code == 0 && job->view.n_selected > 0;
        dis_experiment_destroy(job->experiment);
        job->experiment = NULL;
        if (code != 0) return code;
    }
    return fit ? 0 : cli_usage(job->c, "no run of these %zu files matches the filters", n);
}

static int run_files(experiment_command *job, char **path, size_t n)
{
    cli *c = job->c;
    dis__json_writer *j = NULL;
    int code = check_files(job, path, n);
    if (code == 0 && job->v->json) code = cli_failed(c, cli_summary_open(job->v->json, "experiment", NULL, &j));
    if (code != 0) return code;
    if (j) {
        dis__json_writer_key(j, "experiments");
        dis__json_writer_begin_array(j);
    }
    double seconds = 0;
    for (size_t i = 0; i < n && code <= 128; i++) {
        const int opened = cli_failed(c, open_file(job, path[i], true));
        if (opened == 0 && job->view.n_selected) {
            const int one = run_one(job, job->view.name);
            if (j) file_json(j, job);
            seconds += job->counts.seconds;
            if (code == 0 || one > 128) code = one;
        }
        if (code == 0) code = opened;
        dis_experiment_destroy(job->experiment);
        job->experiment = NULL;
    }
    if (j) {
        dis__json_writer_end_array(j);
        const int written = cli_failed(c, cli_summary_close(j, DIS_OK));
        if (code == 0) code = written;
    }
    char time[CLI_NUMBER];
    cli_print(c, "all files: %s", experiment_duration_format(seconds, time));
    return code;
}

static int merge(const experiment_command *job, char **stores, size_t n)
{
    cli *c = job->c;
    dis_merge_counts counts;
    if (!job->v->store) return cli_usage(c, "merge needs the target store: --store FOLDER");
    const int code =
        cli_failed(c, dis_experiment_merge(job->ctx, job->v->store, (const char *const *)stores, n, &counts));
    if (code != 0) return code;
    cli_print(c, "%zu runs added, %zu known already", counts.added, counts.present);
    if (counts.unfinished)
        cli_warn(c, "%zu runs are unfinished in the source store, or running in the target store; they are not copied",
                 counts.unfinished);
    if (counts.conflicting)
        cli_warn(c, "%zu runs exist in the target store with other metrics; the existing ones are kept",
                 counts.conflicting);
    return 0;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const experiment_values *v = values;
    size_t a = 0;
    while (a < N_ACTIONS && strcmp(actions[a].name, operands[0]) != 0) a++;
    if (a == N_ACTIONS) {
        const char *near = dis__name_find_nearest(operands[0], action_name, NULL);
        return cli_usage(c, "no action \"%s\"; choose run, status, table, show, report or merge%s%s%s", operands[0],
                         near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    int code = check(c, v, a, n_operands);
    if (code != 0) return code;
    experiment_command job = {.c = c,
                              .v = v,
                              .path = operands[1],
                              .run = actions[a].operands == 2 ? operands[2] : NULL};
    cli_common common = v->common;
    common.skips_device_check = !actions[a].run;
    code = cli_failed(c, cli_context_create(c, &common, &job.ctx));
    if (code == 0) {
        if (!actions[a].act)
            code = merge(&job, operands + 1, n_operands - 1);
        else if (actions[a].max > 1 && n_operands > 2 && actions[a].run)
            code = run_files(&job, operands + 1, n_operands - 1);
        else
            code = act_on_one(&job, a, operands[1]);
    }
    dis_context_destroy(job.ctx);
    return code;
}

extern const cli_command cli_cmd_experiment;
const cli_command cli_cmd_experiment = {
    .name = "experiment",
    .section = CLI_STUDY,
    .summary = "run a grid of training runs from one file and tabulate it",
    .operands = "run|status|table|show|report|merge FILE...",
    .text = "FILE (YAML) defines data, label methods, objectives, models, seeds and metrics (see: dissent list keys). "
            "Every combination is a cell; every cell, fold and seed is a run. The key of a run is the SHA-256 of "
            "everything that determines its result.\n"
            "\n"
            "Actions:\n"
            "- run: executes the runs that are missing in the store, several in parallel\n"
            "- status: counts completed, failed and missing runs per cell\n"
            "- table: prints mean, standard deviation and 95 % interval over seeds, stars of the paired bootstrap "
            "against the baseline cell, and published values if the file has them\n"
            "- show FILE RUN: prints settings, metrics, curve and files of one run, or why it failed\n"
            "- report: writes an HTML page with the table, all metrics with intervals, training curves and differences "
            "between conditions\n"
            "- merge: copies the runs of other stores into --store\n"
            "\n"
            "run can be stopped at any time; the same command continues it, and only the unfinished runs are lost. "
            "Several processes may share a store. A failed run is recorded and does not stop the others; the exit code "
            "then reports the failure. With several files, the selected runs of each are executed in turn.\n"
            "\n"
            "Intervals are Student's t, and the value of a seed is the mean over its folds. Stars are computed for "
            "accuracy and macro-F1. If the file changes, the table shows the runs that are still valid, and the others "
            "as missing. Runs of removed cells stay in the store.",
    .examples = "  dissent experiment run study.yaml --jobs 2\n"
                "  dissent experiment status study.yaml\n"
                "  dissent experiment table study.yaml --format markdown -o study.md\n"
                "  dissent experiment report study.yaml -o study.html\n"
                "  dissent experiment run study.yaml --filter gold --filter seed=0\n"
                "  dissent experiment merge first.results second.results --store all.results\n",
    .basic = "store|data|filter|retry-failed|output|format|jobs|device|quiet|verbose",
    .names = CLI_NAMES_FILE,
    .words = "run|status|table|show|report|merge",
    .min = 2,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(experiment_values),
    .run = run,
};
