/* dissent conformal: prediction sets that contain an annotator's answer with a stated probability. */
#include "tool/arrays.h"
#include "tool/json_writer.h"
#include "input/votes_input.h"
#include "output/json_summary.h"
#include "output/result_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 24 };

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_list votes;
    const char *calibration, *output, *coverage_table, *json;
    double coverage;
    uint64_t seed;
    int score, format;
    bool allow_empty;
} conformal_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(conformal_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(WORDS, votes, "votes", .argument = "FILE...", .names = CLI_NAMES_FILE),
    OPTION(TEXT, calibration, "calibration", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "predictions for the calibration items [the items of PRED that have votes]")),
    OPTION(REAL, coverage, "coverage", .argument = "P", .fallback = ".9", .low = .01, .high = .9999,
           CLI_HELP(METHOD, "probability that a set contains an annotator's answer")),
    OPTION(CHOICE, score, "score", .argument = "NAME", .fallback = "lac", .choices = "lac|aps",
           CLI_HELP(METHOD, "lac: smallest sets; aps: more equal coverage of clear and unclear items")),
    OPTION(FLAG, allow_empty, "allow-empty",
           CLI_HELP(METHOD, "keep empty sets [the most probable class is added]")),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0"),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           .formats = CLI_TABLE_FORMATS, .standard = "the sets"),
    OPTION(CHOICE, format, "format", .argument = "FORMAT", .choices = "csv|tsv|jsonl",
           CLI_HELP(OUTPUT, "output format [by extension, else csv]")),
    CLI_OUTPUT_OPTION(conformal_values, coverage_table, "coverage-table", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the coverage by class, set size, entropy and annotator")),
    CLI_OUTPUT_OPTION(conformal_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_VOTES_OPTIONS(conformal_values, reading),
    CLI_COMMON_OPTIONS(conformal_values),
};
/* clang-format on */

typedef struct {
    cli *c;
    const conformal_values *v;
    dis_context *ctx;
    const char *path; /* PRED */
    dis_labels *predictions, *calibration;
    votes_input in;
    dis_names *tasks; /* of PRED, then of the calibration items */
    const dis_names *classes;
    size_t n_predictions, n_items;
    double *q;        /* (n_items, n_classes) */
    bool *calibrates; /* (n_items) */
    size_t *item, *class;
    dis_prediction_sets *sets;
    dis_prediction_sets_view view;
    bool has_new;               /* items without votes that calibrate */
    char (*number)[MAX_DIGITS]; /* (n_rows) sizes and quarters as text */
} conformal_command;

/* ---- reading ---- */

static int read_labels(conformal_command *job, const char *path, dis_labels **out)
{
    dis_labels_read_options o = dis_labels_read_options_default();
    o.renormalise = job->v->reading.renormalise;
    const dis_status status = dis_labels_read(job->ctx, path, &o, out);
    if (status == DIS_OK && dis_labels_n_renormalised(*out))
        cli_warn(job->c, "%s: %llu rows that did not sum to 1 were rescaled", path,
                 (unsigned long long)dis_labels_n_renormalised(*out));
    return cli_failed(job->c, status);
}

/* In the classes of PRED; no item may be in both files. */
static int read_calibration(conformal_command *job)
{
    dis_labels *read = NULL;
    const dis_labels_view p = dis_labels_get_view(job->predictions);
    size_t *row = NULL;
    int code = read_labels(job, job->v->calibration, &read);
    if (code == 0)
        code = cli_failed_on(job->c,
                             dis_labels_align(job->ctx, read, dis_labels_get_view(read).tasks, p.classes,
                                              &job->calibration),
                             job->v->calibration);
    if (code == 0)
        code = cli_failed(job->c, dis__names_match_alloc(p.tasks, dis_labels_get_view(read).tasks, &row, NULL));
    for (size_t i = 0; code == 0 && i < dis_labels_get_view(read).n_items; i++)
        if (row[i] != SIZE_MAX)
            code = cli_error(job->c, DIS_EDATA,
                             "item \"%.60s\" is in %s and in %s; leave calibration items out of one of them, or leave "
                             "out --calibration",
                             dis_names_get(p.tasks, row[i], NULL), job->path, job->v->calibration);
    dis_free(row);
    dis_labels_destroy(read);
    return code;
}

/* Both files as one table. */
static int join(conformal_command *job)
{
    const dis_labels_view p = dis_labels_get_view(job->predictions);
    const dis_labels_view c =
        job->calibration ? dis_labels_get_view(job->calibration) : (dis_labels_view){.n_items = 0};
    const size_t n = p.n_items + c.n_items, K = p.n_classes;
    const char **names = malloc((n + 1) * sizeof *names);
    job->q = malloc((n * K + 1) * sizeof *job->q);
    job->calibrates = calloc(n + 1, sizeof *job->calibrates);
    int code = names && job->q && job->calibrates
                   ? 0
                   : cli_error(job->c, DIS_ELIMIT, "no memory for the predictions of %zu items", n);
    if (code == 0) {
        memcpy(job->q, p.p, p.n_items * K * sizeof *job->q);
        if (c.n_items) memcpy(job->q + p.n_items * K, c.p, c.n_items * K * sizeof *job->q);
        for (size_t i = 0; i < n; i++) {
            names[i] = i < p.n_items ? dis_names_get(p.tasks, i, NULL) : dis_names_get(c.tasks, i - p.n_items, NULL);
            job->calibrates[i] = !job->calibration || i >= p.n_items;
        }
        code = cli_failed(job->c, dis_names_create(names, n, &job->tasks));
    }
    free(names);
    job->classes = p.classes;
    job->n_predictions = p.n_items;
    job->n_items = n;
    return code;
}

static int read_all(conformal_command *job)
{
    int code = read_labels(job, job->path, &job->predictions);
    if (code == 0 && job->v->calibration) code = read_calibration(job);
    if (code == 0) code = join(job);
    if (code == 0) code = votes_input_read_with_classes(&job->in, job->ctx, job->classes);
    if (code == 0) code = votes_input_match(job->c, &job->in.view, job->tasks, job->classes, &job->item, &job->class);
    return code;
}

/* ---- for people ---- */

static const dis_coverage_row *first_row(const conformal_command *job, dis_coverage_kind kind)
{
    for (size_t r = 0; r < job->view.n_rows; r++)
        if (job->view.rows[r].kind == kind) return &job->view.rows[r];
    return NULL;
}

/* Whether sets are written for row i: new items, or all if there are none. */
static bool is_written(const conformal_command *job, size_t i)
{
    const size_t item = job->item[i];
    if (i >= job->n_predictions) return false;
    return !job->has_new || job->calibration || item == SIZE_MAX;
}

static void print_sizes(const conformal_command *job)
{
    const size_t K = job->view.n_classes;
    size_t n = 0, single = 0, every = 0, sum = 0;
    char items[CLI_NUMBER];
    for (size_t i = 0; i < job->n_predictions; i++) {
        if (!is_written(job, i)) continue;
        n++;
        sum += job->view.set_size[i];
        single += job->view.set_size[i] == 1;
        every += job->view.set_size[i] == K;
    }
    if (n)
        cli_print(job->c, "%s set%s: %.2f classes on average, %.1f %% with one class, %.1f %% with all %zu classes",
                  cli_count_format(n, items), cli_plural(n), (double)sum / (double)n, 100 * (double)single / (double)n,
                  100 * (double)every / (double)n, K);
    if (job->view.n_filled)
        cli_print(job->c, "%s empty set%s got the most probable class; --allow-empty keeps them empty",
                  cli_count_format(job->view.n_filled, items), cli_plural(job->view.n_filled));
}

/* "class \"x\"", "size 2", "entropy .21 to .55" */
static const char *row_name(const conformal_command *job, const dis_coverage_row *r, char out[CLI_SAFE + 16])
{
    char safe[CLI_SAFE];
    const size_t room = CLI_SAFE + 16;
    switch (r->kind) {
    case DIS_COVERAGE_CLASS:
        snprintf(out, room, "class \"%s\"", cli_safe(dis_names_get(job->classes, r->index, NULL), safe));
        break;
    case DIS_COVERAGE_SIZE: snprintf(out, room, "sets of %zu", r->index); break;
    case DIS_COVERAGE_ENTROPY: snprintf(out, room, "entropy %.2f to %.2f", r->low, r->high); break;
    default: snprintf(out, room, "%s", dis_coverage_kind_name(r->kind));
    }
    return out;
}

/* Rows whose whole interval is below the stated coverage: what holds on average need not hold there. */
static void print_exceptions(const conformal_command *job)
{
    enum { SHOWN = 6 };
    size_t n = 0;
    char name[CLI_SAFE + 16], value[CLI_METRIC_SIZE];
    for (size_t r = 0; r < job->view.n_rows; r++) {
        const dis_coverage_row *x = &job->view.rows[r];
        if (x->kind == DIS_COVERAGE_ALL || x->kind >= DIS_COVERAGE_ANNOTATOR || !x->coverage.has_interval ||
            x->coverage.ci_high >= job->view.coverage)
            continue;
        if (n++ < SHOWN)
            cli_print(job->c, "covered less: %s, %s", row_name(job, x, name),
                      cli_metric_format(&x->coverage, 3, value));
    }
    if (n > SHOWN) cli_print(job->c, "covered less: %zu more, see --coverage-table", n - SHOWN);
}

/* Returns whether the stated coverage can be reached. */
static bool print_limits(const conformal_command *job)
{
    const dis_prediction_sets_view *v = &job->view;
    if (v->unmatched > 0)
        cli_warn(job->c, "%.1f %% of the votes are for classes that the predictions lack; no set contains them",
                 100 * v->unmatched);
    if (v->unmatched > 1 - v->coverage) {
        cli_warn(job->c, "coverage %g cannot be reached; predict these classes, or leave out their votes (--na)",
                 v->coverage);
        return false;
    }
    if (isinf(v->threshold))
        cli_warn(job->c,
                 "with %zu calibration items, coverage %g needs sets of all classes; it takes %zu items or more",
                 v->n_calibration, v->coverage, v->min_items);
    else if (v->score == DIS_SET_SCORE_LAC)
        cli_print(job->c, "a set contains the classes with a probability of at least %.4g", 1 - v->threshold);
    return true;
}

static void print_guarantee(const conformal_command *job)
{
    if (print_limits(job))
        cli_print(job->c,
                  "a set contains the answer of %s with probability at least %g, on average over new items of the same "
                  "kind",
                  job->view.n_annotators ? "one of these annotators" : "an annotator of the same kind",
                  job->view.coverage);
}

static void print_summary(conformal_command *job)
{
    const dis_prediction_sets_view *v = &job->view;
    const dis_coverage_row *all = first_row(job, DIS_COVERAGE_ALL),
                           *others = first_row(job, DIS_COVERAGE_NEW_ANNOTATORS);
    char items[CLI_NUMBER], votes[CLI_NUMBER], people[CLI_NUMBER], value[CLI_METRIC_SIZE], by[64] = "";
    if (v->n_annotators) snprintf(by, sizeof by, " by %s annotators", cli_count_format(v->n_annotators, people));
    votes_input_print(&job->in);
    cli_print(job->c, "calibrated on %s items with %s votes%s (%.2f s)", cli_count_format(v->n_calibration, items),
              cli_count_format((uint64_t)v->n_votes, votes), by, cli_seconds_since(&job->c->start));
    const size_t unused = job->in.view.n_items - v->n_calibration - v->n_tested;
    if (unused) cli_warn(job->c, "items with votes, but without predictions: %s", cli_count_format(unused, items));
    if (job->calibration && v->n_calibration < job->n_items - job->n_predictions)
        cli_warn(job->c, "%s: items without votes: %s", job->v->calibration,
                 cli_count_format(job->n_items - job->n_predictions - v->n_calibration, items));
    print_guarantee(job);
    if (!job->has_new) cli_print(job->c, "every item has votes; its set is computed without its own votes");
    print_sizes(job);
    if (all && v->n_tested)
        cli_print(job->c, "measured on %s items of %s with votes: coverage %s", cli_count_format(v->n_tested, items),
                  job->path, cli_metric_format(&all->coverage, 3, value));
    if (others)
        cli_print(job->c, "annotators who did not calibrate: coverage %s (each left out in turn)",
                  cli_metric_format(&others->coverage, 3, value));
    print_exceptions(job);
}

/* ---- files ---- */

/* "a+b"; the caller frees it. */
static char *join_set(const conformal_command *job, const bool *in_set)
{
    size_t room = 1, used = 0, n;
    for (size_t k = 0; k < job->view.n_classes; k++)
        if (in_set[k]) {
            (void)dis_names_get(job->classes, k, &n);
            room += n + 1;
        }
    char *text = malloc(room);
    for (size_t k = 0; text && k < job->view.n_classes; k++) {
        if (!in_set[k]) continue;
        const char *name = dis_names_get(job->classes, k, &n);
        if (used) text[used++] = '+';
        memcpy(text + used, name, n);
        used += n;
    }
    if (text) text[used] = 0;
    return text;
}

/* task, set, size, in:CLASS, ... */
static char **column_names(const conformal_command *job)
{
    static const char *const first[] = {"task", "set", "size"};
    const size_t K = job->view.n_classes;
    char **names = calloc(4 + K, sizeof *names);
    bool fine = names != NULL;
    for (size_t c = 0; fine && c < 3 + K; c++) {
        const char *class = c < 3 ? first[c] : dis_names_get(job->classes, c - 3, NULL);
        names[c] = malloc(strlen(class) + 4);
        fine = names[c] != NULL;
        if (fine) sprintf(names[c], "%s%s", c < 3 ? "" : "in:", class);
    }
    if (fine) return names;
    for (size_t c = 0; names && c < 3 + K; c++) free(names[c]);
    free(names);
    return NULL;
}

static int write_sets(const conformal_command *job)
{
    const size_t K = job->view.n_classes;
    static const char *const formats[] = {"csv", "tsv", "jsonl"};
    char **names = column_names(job);
    if (!names) return cli_error(job->c, DIS_ELIMIT, "no memory for the names of %zu columns", 3 + K);
    dis__table_writer *t;
    dis_status status = dis__table_writer_create(job->v->output ? job->v->output : "-",
                                                 job->v->format < 0 ? NULL : formats[job->v->format],
                                                 (const char *const *)names, 3 + K, &t);
    bool fine = status == DIS_OK;
    for (size_t i = 0; fine && i < job->n_predictions; i++) {
        if (!is_written(job, i)) continue;
        const bool *in_set = job->view.in_set + i * K;
        char *set = join_set(job, in_set);
        fine = set != NULL;
        if (!fine) break;
        cli_cell_write_name(t, job->tasks, i);
        cli_cell_write_text(t, set);
        dis__table_writer_count(t, job->view.set_size[i]);
        for (size_t k = 0; k < K; k++) dis__table_writer_count(t, in_set[k]);
        free(set);
    }
    for (size_t c = 0; c < 3 + K; c++) free(names[c]);
    free(names);
    if (status != DIS_OK) return cli_failed(job->c, status);
    status = dis__table_writer_finish(t, fine ? DIS_OK : DIS_ELIMIT);
    return fine ? cli_failed(job->c, status) : cli_error(job->c, DIS_ELIMIT, "no memory for a set");
}

static const char *row_text(const void *user, const cli_field *field, size_t r)
{
    const conformal_command *job = user;
    const dis_coverage_row *x = &job->view.rows[r];
    if (strcmp(field->name, "by") == 0) return dis_coverage_kind_name(x->kind);
    switch (x->kind) {
    case DIS_COVERAGE_CLASS: return dis_names_get(job->classes, x->index, NULL);
    case DIS_COVERAGE_ANNOTATOR: return dis_names_get(job->in.view.workers, x->index, NULL);
    case DIS_COVERAGE_SIZE:
    case DIS_COVERAGE_ENTROPY: return job->number[r];
    default: return NULL;
    }
}

static cli_rows rows_of(const conformal_command *job)
{
    static const cli_field fields[] = {CLI_NAME_FIELD("by"),
                                       CLI_NAME_FIELD("value"),
                                       CLI_FIELD(dis_coverage_row, REAL, low),
                                       CLI_FIELD(dis_coverage_row, REAL, high),
                                       CLI_FIELD_AS(dis_coverage_row, COUNT, "items", n_items),
                                       CLI_FIELD_AS(dis_coverage_row, REAL, "votes", n_votes),
                                       CLI_FIELD(dis_coverage_row, REAL, mean_size),
                                       CLI_FIELD(dis_coverage_row, METRIC, coverage)};
    return (cli_rows){.field = fields,
                      .n_fields = sizeof fields / sizeof *fields,
                      .row = job->view.rows,
                      .n_rows = job->view.n_rows,
                      .row_size = sizeof *job->view.rows,
                      .text = row_text,
                      .user = job};
}

static dis_status write_json(const conformal_command *job)
{
    const conformal_values *v = job->v;
    const dis_prediction_sets_view *x = &job->view;
    const cli_rows rows = rows_of(job);
    dis__json_writer *j;
    dis_status status = cli_summary_open(v->json, "conformal", &v->seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = cli_input_write(j, job->path, "predictions");
    if (status == DIS_OK && v->calibration) status = cli_input_write(j, v->calibration, "calibration");
    if (status == DIS_OK) status = votes_input_write_json_files(&job->in, j);
    cli_inputs_end(j);
    cli_json_write_count(j, "items", job->n_predictions);
    cli_json_write_names(j, "classes", job->classes);
    cli_json_write_real(j, "coverage", x->coverage);
    cli_json_write_text(j, "score", dis_set_score_name(x->score));
    cli_json_write_real(j, "threshold", x->threshold);
    cli_json_write_count(j, "calibration_items", x->n_calibration);
    cli_json_write_count(j, "min_items", x->min_items);
    cli_json_write_real(j, "calibration_votes", x->n_votes);
    cli_json_write_real(j, "unmatched_votes", x->unmatched);
    cli_json_write_count(j, "annotators", x->n_annotators);
    cli_json_write_count(j, "tested_items", x->n_tested);
    cli_json_write_count(j, "filled", x->n_filled);
    cli_json_write_text(j, "checked_on", x->n_tested ? "tested items" : "calibration items without their own votes");
    cli_rows_write_json(&rows, j, "rows");
    votes_input_write_json_notes(&job->in, j);
    return cli_summary_close(j, status);
}

/* ---- the command ---- */

static int compute(conformal_command *job)
{
    const conformal_values *v = job->v;
    const dis_prediction_sets_input in = {.size = sizeof(dis_prediction_sets_input),
                                          .n_items = job->n_items,
                                          .n_classes = dis_names_count(job->classes),
                                          .q = job->q,
                                          .tasks = job->tasks,
                                          .calibrates = job->calibrates,
                                          .votes = job->in.votes,
                                          .item_map = job->item,
                                          .class_map = job->class};
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    o.coverage = v->coverage;
    o.score = (dis_set_score)v->score;
    o.allow_empty = v->allow_empty;
    o.seed = v->seed;
    const int code = cli_failed(job->c, dis_prediction_sets_run(job->ctx, &in, &o, &job->sets));
    if (code != 0) return code;
    job->view = dis_prediction_sets_get_view(job->sets);
    job->has_new = job->calibration || job->view.n_calibration < job->n_predictions;
    job->number = calloc(job->view.n_rows + 1, sizeof *job->number);
    if (!job->number) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu rows", job->view.n_rows);
    for (size_t r = 0; r < job->view.n_rows; r++) {
        const dis_coverage_row *x = &job->view.rows[r];
        snprintf(job->number[r], MAX_DIGITS, "%zu", x->index + (x->kind == DIS_COVERAGE_ENTROPY));
    }
    return 0;
}

static int act(conformal_command *job)
{
    const conformal_values *v = job->v;
    if (v->votes.n == 0) return cli_usage(job->c, "conformal needs votes of people on calibration items: --votes FILE");
    int code = votes_input_check(&job->in);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &v->common, &job->ctx));
    if (code == 0) code = read_all(job);
    if (code == 0) code = compute(job);
    if (code != 0) return code;
    if (!cli_is_dash(v->json) || v->output) code = write_sets(job);
    if (code == 0 && v->coverage_table) {
        const cli_rows rows = rows_of(job);
        code = cli_failed(job->c, cli_rows_write(&rows, v->coverage_table, NULL));
    }
    if (code == 0 && v->json) code = cli_failed(job->c, write_json(job));
    if (code == 0) print_summary(job);
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)n_operands;
    const conformal_values *v = values;
    conformal_command job = {.c = c, .v = v, .path = operands[0]};
    job.in = (votes_input){.c = c, .v = &v->reading, .paths = (char *const *)v->votes.value, .n_paths = v->votes.n};
    const int code = act(&job);
    dis_prediction_sets_destroy(job.sets);
    dis_free(job.item);
    dis_free(job.class);
    free(job.q);
    free(job.calibrates);
    free(job.number);
    dis_names_destroy(job.tasks);
    dis_labels_destroy(job.predictions);
    dis_labels_destroy(job.calibration);
    votes_input_free(&job.in);
    dis_context_destroy(job.ctx);
    return code;
}

extern const cli_command cli_cmd_conformal;
const cli_command cli_cmd_conformal = {
    .name = "conformal",
    .section = CLI_LEARN,
    .summary = "compute prediction sets that contain an annotator's answer with probability P",
    .operands = "PRED",
    .text =
        "Reads predicted distributions (PRED) and votes of people on calibration items (--votes), and writes a set of "
        "classes for each new item. The sets contain the answer of an annotator with probability --coverage or more, "
        "whatever the quality of the model. This holds on average over items, if calibration items and new items are "
        "of the same kind and the model was not trained on the calibration items.\n\n"
        "Items of PRED with votes calibrate the sets of the other items. With --calibration FILE, the items of FILE "
        "calibrate, and votes on items of PRED measure the coverage. The columns of the result are task, set (classes "
        "joined by +), size, and in:CLASS (1 or 0) for each class.\n\n"
        "The summary reports for which classes, set sizes and entropies the coverage is lower, and the coverage of "
        "annotators who did not calibrate.",
    .examples = "  dissent conformal predicted.csv --votes votes.csv -o sets.csv\n"
                "  dissent conformal new.csv --calibration old.csv --votes votes.csv --coverage .8 --score aps\n"
                "  dissent conformal predicted.csv --votes votes.csv --coverage-table coverage.csv --json sets.json\n",
    .basic = "votes|calibration|coverage|score|allow-empty|coverage-table|output|json|seed|quiet",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(conformal_values),
    .run = run,
};
