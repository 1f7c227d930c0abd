/* dissent convert: votes of any source as task,worker,label; soft labels as annotation tools import them; preferences
 * for reward models (convert_trl.c). */
#include "tool/files.h"
#include "tool/table_columns.h"
#include "labels/cmd_convert.h"
#include <string.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(convert_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           .holds = "data.jsonl|README.md", .formats = "csv|tsv|jsonl|json", .standard = "the result"),
    OPTION(CHOICE, to, "to", .argument = "TARGET", .fallback = "votes",
           .choices = "votes|label-studio|argilla|huggingface|trl",
           CLI_HELP(OUTPUT, "votes: task,worker,label; trl: preferences from pairwise votes; others: import soft "
                            "labels")),
    OPTION(TEXT, format, "format", .argument = "FORMAT"),
    OPTION(FLAG, anonymise, "anonymise",
           CLI_HELP(OUTPUT, "votes: replace annotator names by numbers in order of first appearance")),
    OPTION(TEXT, numbers, "numbers", .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           CLI_HELP(OUTPUT, "with --anonymise: keep the numbers in FILE (worker,number); new names are added")),
    OPTION(TEXT, control, "control", .argument = "NAME",
           CLI_HELP(OUTPUT, "label-studio: name of the control; argilla: the question [that of --source, else label]")),
    OPTION(TEXT, object, "object", .argument = "NAME",
           CLI_HELP(OUTPUT, "label-studio: name of the object (to_name) [that of --source, else text]")),
    OPTION(TEXT, model, "model", .argument = "NAME",
           CLI_HELP(OUTPUT, "label-studio, argilla: source of the labels (model_version, agent) [dissent]")),
    OPTION(TEXT, source, "source", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "label-studio, argilla: JSON export of the project, whose data are copied")),
    CLI_TEXTS_OPTIONS(convert_values, texts),
    OPTION(TEXT, answers, "answers", .argument = "A,B",
           CLI_HELP(INPUT, "trl: columns or JSON paths of the texts of the two answers in VOTES")),
    OPTION(TEXT, answers_file, "answers-file", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "trl: table of the answers: the task column of VOTES, thing and text")),
    OPTION(FLAG, conversational, "conversational",
           CLI_HELP(OUTPUT, "trl: write prompt and answers as messages of user and assistant")),
    OPTION(FLAG, margin, "margin", CLI_HELP(OUTPUT, "trl: add the column margin, the log-odds of p_chosen")),
    OPTION(FLAG, per_vote, "per-vote",
           CLI_HELP(OUTPUT, "trl: one row per vote instead of per pair, for trainers without soft targets")),
    OPTION(REAL, min_preference, "min-preference", .argument = "P", .fallback = "0.5", .low = .5, .high = 1,
           CLI_HELP(OUTPUT, "trl: skip pairs whose p_chosen is smaller")),
    OPTION(LIST, method, "method", .argument = "SPEC", .names = CLI_NAMES_METHOD),
    OPTION(LIST, covariate, "covariate", .argument = "NAME=COLUMNS"),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0"),
    CLI_OPTION(convert_values, TEXT, reading.pair_a, "a", .argument = "COLUMN"),
    CLI_OPTION(convert_values, TEXT, reading.pair_b, "b", .argument = "COLUMN"),
    CLI_OPTION(convert_values, TEXT, groups.table, "worker-table", .argument = "FILE", .names = CLI_NAMES_FILE),
    CLI_VOTES_OPTIONS(convert_values, reading),
    CLI_COMMON_OPTIONS(convert_values),
};
/* clang-format on */

typedef struct {
    cli *c;
    const convert_values *v;
    dis_context *ctx;
    votes_input in;
} convert_command;

static const char *target(const convert_values *v)
{
    return v->to > 0 && dis__export_target_get((size_t)v->to - 1) ? dis__export_target_get((size_t)v->to - 1)->name
                                                                  : NULL;
}

static bool is_trl(const convert_values *v)
{
    return v->to > 0 && !target(v);
}

static int convert_votes(convert_command *job)
{
    const convert_values *v = job->v;
    dis_votes_write_options how = dis_votes_write_options_default();
    int code = votes_input_read(&job->in, job->ctx);
    if (code != 0) return code;
    votes_input_print(&job->in);
    how.format = v->format;
    how.anonymise = v->anonymise;
    how.number_file = v->numbers;
    code = cli_failed(job->c, dis_votes_write(job->ctx, job->in.votes, v->output ? v->output : "-", &how));
    if (code == 0 && v->output && !cli_is_dash(v->output) && v->reading.input <= 0) {
        const char *const labels[] = {v->output, "-o", "labels.csv", NULL};
        cli_next_print(job->c, "labels", labels, "estimate labels");
    }
    return code;
}

static void print_summary(const convert_command *job, const dis_export_notes *notes)
{
    char number[CLI_NUMBER], safe[CLI_SAFE];
    cli_print(job->c, "%s: %s item%s for %s", job->v->output ? cli_safe(job->v->output, safe) : "standard output",
              cli_count_format(notes->n_written, number), cli_plural(notes->n_written), target(job->v));
    if (notes->n_unlabelled)
        cli_print(job->c, "  %-18s %s record%s of --source skipped", "without a label",
                  cli_count_format(notes->n_unlabelled, number), cli_plural(notes->n_unlabelled));
    if (notes->n_unknown)
        cli_print(job->c, "  %-18s %s label%s of items that are not in --source skipped", "unknown",
                  cli_count_format(notes->n_unknown, number), cli_plural(notes->n_unknown));
}

static int export_labels(convert_command *job, const dis_labels_view *labels, const dis_names *texts)
{
    const convert_values *v = job->v;
    dis_labels_export_options how = dis_labels_export_options_default();
    dis_export_notes notes;
    how.target = target(v);
    how.control = v->control;
    how.object = v->object;
    how.model = v->model;
    how.source = v->source;
    how.text = texts;
    const int code = cli_failed(job->c, dis_labels_export(job->ctx, labels, v->output ? v->output : "-", &how, &notes));
    if (code == 0) print_summary(job, &notes);
    return code;
}

static int convert_labels(convert_command *job)
{
    const convert_values *v = job->v;
    dis_labels_read_options how = dis_labels_read_options_default();
    dis_labels *labels;
    dis_names *texts = NULL;
    how.format = v->reading.input_format;
    how.renormalise = v->reading.renormalise;
    const dis_status status = dis_labels_read(job->ctx, job->in.paths[0], &how, &labels);
    if (status != DIS_OK) return cli_failed(job->c, status);
    const dis_labels_view view = dis_labels_get_view(labels);
    const votes_input export = {.c = job->c, .v = &v->reading, .how = job->in.how};
    int code = texts_input_read(job->c, job->ctx, &v->texts, &export, view.tasks, &texts);
    if (code == 0) code = export_labels(job, &view, texts);
    dis_names_destroy(texts);
    dis_labels_destroy(labels);
    return code;
}

/* Options that the target does not have are an error: they would change nothing. */
static int check_unused(cli *c, const convert_values *v)
{
    const char *to = target(v);
    const bool votes = v->to <= 0, trl = is_trl(v), studio = to && strcmp(to, "label-studio") == 0,
               hugging = to && strcmp(to, "huggingface") == 0, tool = to && !hugging;
    const struct {
        bool given, fine;
        const char *name;
    } rows[] = {{v->format != NULL, votes, "format"},
                {v->anonymise, votes, "anonymise"},
                {v->numbers != NULL, votes, "numbers"},
                {v->control != NULL, tool, "control"},
                {v->object != NULL, studio, "object"},
                {v->model != NULL, tool, "model"},
                {v->source != NULL, tool, "source"},
                {v->texts.path != NULL, hugging || trl, "texts"},
                {v->answers != NULL, trl, "answers"},
                {v->answers_file != NULL, trl, "answers-file"},
                {v->conversational, trl, "conversational"},
                {v->margin, trl, "margin"},
                {v->per_vote, trl, "per-vote"},
                {v->min_preference > .5, trl, "min-preference"},
                {v->method.n > 0, trl, "method"},
                {v->covariate.n > 0, trl, "covariate"},
                {v->groups.table != NULL, trl, "worker-table"},
                {v->reading.pair_a != NULL, trl, "a"},
                {v->reading.pair_b != NULL, trl, "b"}};
    const char *const name = trl ? "trl" : to ? to : "votes";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given && !rows[i].fine)
            return cli_usage(c, "--%s has no effect with --to %s; leave it out", rows[i].name, name);
    return 0;
}

/* A name that promises another format than the target's. */
static int check_name(const convert_command *job)
{
    const convert_values *v = job->v;
    bool known;
    if (!v->output || cli_is_dash(v->output) || v->to == 3 || (v->format && !target(v))) return 0;
    const char *const formats = is_trl(v) ? "jsonl" : target(v) ? "json" : "csv|tsv|jsonl";
    return cli_failed(job->c, dis__file_check_output(v->output, formats, &known));
}

/* The folder of a dataset: what is written in it must not be what is read. */
static int check_dataset(const convert_command *job)
{
    static const char *const files[] = {"data.jsonl", "README.md"};
    const convert_values *v = job->v;
    int code = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && code == 0; i++) {
        char path[4096];
        if ((size_t)snprintf(path, sizeof path, "%s/%s", v->output, files[i]) >= sizeof path) break;
        code = cli_output_check(job->c, &cli_cmd_convert, v, job->in.paths, job->in.n_paths, "output", path);
    }
    return code;
}

static int check(convert_command *job)
{
    const convert_values *v = job->v;
    cli *c = job->c;
    int code = check_unused(c, v);
    if (code == 0) code = check_name(job);
    if (code == 0) code = texts_input_check(c, &v->texts, is_trl(v));
    if (code == 0 && target(v) && job->in.n_paths > 1)
        code = cli_usage(c, "--to %s takes one file of labels, not %zu", target(v), job->in.n_paths);
    if (code == 0 && v->to == 3 && !v->output) code = cli_usage(c, "--to huggingface writes a folder; name it with -o");
    if (code == 0 && v->to == 3) code = check_dataset(job);
    if (code == 0 && v->format && cli_choice_find("csv|tsv|jsonl", v->format) < 0)
        code = cli_usage(c, "--format %s: must be one of csv|tsv|jsonl%s", v->format,
                         strcmp(v->format, "parquet") == 0
                             ? " (Parquet: pandas.read_csv(VOTES).to_parquet(FILE) in Python)"
                             : "");
    return code == 0 && !is_trl(v) ? votes_input_check(&job->in) : code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    convert_command job = {.c = c, .v = values};
    job.in = (votes_input){.c = c, .v = &job.v->reading, .paths = operands, .n_paths = n_operands};
    int code = check(&job);
    if (code == 0 && is_trl(job.v)) return convert_to_trl(c, job.v, operands, n_operands);
    if (code == 0) code = cli_failed(c, cli_context_create(c, &job.v->common, &job.ctx));
    if (code == 0) code = target(job.v) ? convert_labels(&job) : convert_votes(&job);
    votes_input_free(&job.in);
    dis_context_destroy(job.ctx);
    return code;
}

const cli_command cli_cmd_convert = {
    .name = "convert",
    .section = CLI_START,
    .summary = "convert exports to votes, and labels to imports of other tools",
    .operands = "FILE...",
    .text = "Reads votes as the other commands do (presets, JSON paths, wide tables) and writes one row per vote: "
            "task,worker,label. Counts are written as one row per item with one column per class.\n\n"
            "With --to, the input is a file of soft labels as written by dissent labels. The output is what the other "
            "tool imports: predictions for Label Studio, suggestions for Argilla, or a folder for "
            "datasets.load_dataset of Hugging Face.\n\n"
            "With --to trl, the input is pairwise votes. The output has one JSON line per pair of answers: chosen, "
            "rejected and p_chosen, the probability that chosen is preferred.",
    .examples = "  dissent convert export.json --preset label-studio -o votes.csv\n"
                "  dissent convert export.json --preset label-studio --anonymise --numbers workers.csv -o votes.csv\n"
                "  dissent convert labels.csv --to label-studio --source export.json -o import.json\n"
                "  dissent convert labels.csv --to huggingface --texts items.csv -o dataset\n"
                "  dissent convert votes.csv --to trl --task question --answers text_a,text_b -o pairs.jsonl\n",
    .basic = "preset|task,worker,label|source|texts|to|output|format|anonymise|numbers|quiet",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(convert_values),
    .run = run,
};
