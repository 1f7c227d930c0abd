/* dissent convert: votes of any source as task,worker,label; soft labels as annotation tools import them. */
#include "tool/files.h"
#include "input/texts_input.h"
#include <string.h>

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_texts_values texts;
    const char *output, *format, *numbers, *control, *object, *model, *source;
    int to;
    bool anonymise;
} convert_values;

#define TEXT(field, name_, argument_, names_, summary_)                                                    \
    {                                                                                                      \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(convert_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                               \
    }

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(convert_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_OUTPUT,
     .holds = "data.jsonl|README.md",
     .summary = "where it goes (huggingface: a folder); without it, standard output",
     .formats = "csv|tsv|jsonl|json",
     .standard = "the result"},
    {.name = "to",
     .kind = CLI_CHOICE,
     .offset = offsetof(convert_values, to),
     .argument = "TARGET",
     .fallback = "votes",
     .choices = "votes|label-studio|argilla|huggingface",
     .summary = "votes: the input is votes, the output task,worker,label; else the input is a file of soft labels, and "
                "the output what the tool imports"},
    TEXT(format, "format", "FORMAT", CLI_NAMES_NOTHING,
         "votes: csv, tsv or jsonl; without it, by the name of the output, else csv"),
    {.name = "anonymise",
     .kind = CLI_FLAG,
     .offset = offsetof(convert_values, anonymise),
     .summary = "votes: numbers in place of the names of workers, from 1 in order of first appearance"},
    TEXT(numbers, "numbers", "FILE", CLI_NAMES_OUTPUT,
         "with --anonymise: worker,number; who is in it keeps the number, new ones are added to it"),
    TEXT(control, "control", "NAME", CLI_NAMES_NOTHING,
         "label-studio: name of the control (from_name) [that of --source, else label]; argilla: the question [that of "
         "--source, else label]"),
    TEXT(object, "object", "NAME", CLI_NAMES_NOTHING,
         "label-studio: what the control is about (to_name) [that of --source, else text]"),
    TEXT(model, "model", "NAME", CLI_NAMES_NOTHING,
         "what the labels are said to come from (model_version, agent); without it, dissent"),
    TEXT(source, "source", "FILE", CLI_NAMES_FILE,
         "label-studio, argilla: the JSON export of the project, whose data or fields go along"),
    CLI_TEXTS_OPTIONS(convert_values, texts),
    CLI_VOTES_OPTIONS(convert_values, reading),
    CLI_COMMON_OPTIONS(convert_values),
};

extern const cli_command cli_cmd_convert;

typedef struct {
    cli *c;
    const convert_values *v;
    dis_context *ctx;
    votes_input in;
} convert_command;

static const char *target(const convert_values *v)
{
    return v->to > 0 && dis_export_target_get((size_t)v->to - 1) ? dis_export_target_get((size_t)v->to - 1)->name
                                                                 : NULL;
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
    how.numbers = v->numbers;
    return cli_failed(job->c, dis_votes_write(job->ctx, job->in.votes, v->output ? v->output : "-", &how));
}

static void tell(const convert_command *job, const dis_export_notes *notes)
{
    char number[CLI_NUMBER], safe[CLI_SAFE];
    cli_print(job->c, "%s: %s item%s for %s", job->v->output ? cli_safe(job->v->output, safe) : "standard output",
              cli_count_format(notes->n_written, number), cli_plural(notes->n_written), target(job->v));
    if (notes->n_unlabelled)
        cli_print(job->c, "  %-18s %s record%s of --source, left out", "without a label",
                  cli_count_format(notes->n_unlabelled, number), cli_plural(notes->n_unlabelled));
    if (notes->n_unknown)
        cli_print(job->c, "  %-18s %s label%s of items that --source does not have, left out", "unknown",
                  cli_count_format(notes->n_unknown, number), cli_plural(notes->n_unknown));
}

static int export_labels(convert_command *job, const dis_labels_view *labels, const dis_names *texts)
{
    const convert_values *v = job->v;
    dis_labels_export_options how = dis_labels_export_options_default();
    dis_export_notes notes;
    how.to = target(v);
    how.control = v->control;
    how.object = v->object;
    how.model = v->model;
    how.source = v->source;
    how.text = texts;
    const int code = cli_failed(job->c, dis_labels_export(job->ctx, labels, v->output ? v->output : "-", &how, &notes));
    if (code == 0) tell(job, &notes);
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
    const dis_labels_view look = dis_labels_get_view(labels);
    const votes_input export = {.c = job->c, .v = &v->reading, .how = job->in.how};
    int code = texts_input_read(job->c, job->ctx, &v->texts, &export, look.tasks, &texts);
    if (code == 0) code = export_labels(job, &look, texts);
    dis_names_destroy(texts);
    dis_labels_destroy(labels);
    return code;
}

/* Options that the target does not have are refused: they would change nothing. */
static int check_unused(cli *c, const convert_values *v)
{
    const char *to = target(v);
    const bool votes = !to, studio = to && strcmp(to, "label-studio") == 0,
               hugging = to && strcmp(to, "huggingface") == 0;
    const struct {
        bool given, fine;
        const char *name;
    } rows[] = {{v->format != NULL, votes, "format"},          {v->anonymise, votes, "anonymise"},
                {v->numbers != NULL, votes, "numbers"},        {v->control != NULL, to && !hugging, "control"},
                {v->object != NULL, studio, "object"},         {v->model != NULL, to && !hugging, "model"},
                {v->source != NULL, to && !hugging, "source"}, {v->texts.path != NULL, hugging, "texts"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given && !rows[i].fine)
            return cli_usage(c, "--%s has no meaning with --to %s; leave it out", rows[i].name, to ? to : "votes");
    return 0;
}

/* A name that promises another format than the target's. */
static int check_name(const convert_command *job)
{
    const convert_values *v = job->v;
    bool known;
    if (!v->output || cli_is_dash(v->output) || v->to == 3 || (v->format && !target(v))) return 0;
    return cli_failed(job->c, dis__file_check_output(v->output, target(v) ? "json" : "csv|tsv|jsonl", &known));
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
    if (code == 0) code = texts_input_check(c, &v->texts, false);
    if (code == 0 && target(v) && job->in.n_paths > 1)
        code = cli_usage(c, "--to %s takes one file of labels, not %zu", target(v), job->in.n_paths);
    if (code == 0 && v->to == 3 && !v->output) code = cli_usage(c, "--to huggingface makes a folder; name it with -o");
    if (code == 0 && v->to == 3) code = check_dataset(job);
    if (code == 0 && v->format && cli_choice_find("csv|tsv|jsonl", v->format) < 0)
        code = cli_usage(c, "--format %s: must be one of csv|tsv|jsonl%s", v->format,
                         strcmp(v->format, "parquet") == 0
                             ? " (Parquet: pandas.read_csv(VOTES).to_parquet(FILE) in Python)"
                             : "");
    return code == 0 ? votes_input_check(&job->in) : code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    convert_command job = {.c = c, .v = values};
    job.in = (votes_input){.c = c, .v = &job.v->reading, .paths = operands, .n_paths = n_operands};
    int code = check(&job);
    if (code == 0) code = cli_failed(c, cli_context_create(c, &job.v->common, &job.ctx));
    if (code == 0) code = target(job.v) ? convert_labels(&job) : convert_votes(&job);
    votes_input_free(&job.in);
    dis_context_destroy(job.ctx);
    return code;
}

const cli_command cli_cmd_convert = {
    .name = "convert",
    .summary = "votes of any source as task,worker,label; labels as tools import them",
    .operands = "FILE...",
    .text =
        "Reads votes as the other commands do (presets, paths, wide tables) and writes one row per vote: "
        "task,worker,label. Counts are written as one row per item, task and a column per class.\n\n"
        "With --to another tool it reads one file of soft labels, as dissent labels writes it, and writes what that "
        "tool imports: predictions of Label Studio, suggestions of Argilla, a folder that datasets.load_dataset of "
        "Hugging Face reads.",
    .examples =
        "  dissent convert export.json --preset label-studio --label sentiment -o votes.csv\n"
        "  dissent convert export.json --preset label-studio --anonymise --numbers workers.csv -o votes.csv.gz\n"
        "  dissent convert labels.csv --to label-studio --source export.json --control sentiment -o import.json\n"
        "  dissent convert labels.csv --to huggingface --texts items.csv -o dataset\n",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(convert_values),
    .run = run,
};
