/* dissent watch: updates labels vote by vote, and reports items with confident labels. */
#include "tool/table_writer.h"
#include "input/votes_input.h"
#include <string.h>

typedef struct {
    cli_common common;
    const char *output, *input_format, *task, *worker, *label, *classes, *delimiter;
    cli_list na;
    double retire, power, limit;
    uint64_t min_votes, ask_from, max_votes, remember;
    int duplicates, format;
    bool lenient, fold_case, trim;
} watch_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(watch_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(REAL, retire, "retire", .argument = "P", .fallback = "0.95", .low = 1e-9, .high = 1,
           CLI_HELP(METHOD, "an item is complete if its label has at least this probability")),
    OPTION(COUNT, min_votes, "min-votes", .argument = "N", .fallback = "2",
           CLI_HELP(METHOD, "minimum number of votes of a complete item")),
    OPTION(COUNT, ask_from, "ask-from", .argument = "N", .fallback = "3",
           CLI_HELP(METHOD, "report an incomplete item that has N or more votes; 0: never")),
    OPTION(COUNT, max_votes, "max-votes", .argument = "N", .fallback = "0",
           CLI_HELP(METHOD, "an item is complete after N votes, whatever its probability [no limit]")),
    OPTION(COUNT, remember, "remember", .argument = "N", .fallback = "0",
           CLI_HELP(PERFORMANCE, "complete items to keep for late votes, at least the last N (13 to 27 bytes each) [all]")),
    OPTION(REAL, power, "power", .argument = "X", .fallback = "0.7", .high = 1,
           CLI_HELP(METHOD, "temper probabilities by the number of votes; 0: votes are independent")),
    OPTION(REAL, limit, "limit", .argument = "N", .fallback = "16", .low = 1, .high = 1e9,
           CLI_HELP(METHOD, "number of votes above which the tempering stays constant")),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           .formats = CLI_LABEL_FORMATS, CLI_HELP(OUTPUT, "write the labels of incomplete items to FILE at the end")),
    OPTION(CHOICE, format, "format", .argument = "FORMAT", .fallback = "csv", .choices = CLI_TABLE_FORMATS,
           CLI_HELP(OUTPUT, "format of the rows on standard output")),
    OPTION(TEXT, input_format, "input-format", .argument = "FORMAT",
           CLI_HELP(FORMAT, "file format: csv, tsv or jsonl [by file extension, else csv]")),
    OPTION(TEXT, delimiter, "delimiter", .argument = "C"),
    OPTION(TEXT, task, "task", .argument = "COLUMN"),
    OPTION(TEXT, worker, "worker", .argument = "COLUMN"),
    OPTION(TEXT, label, "label", .argument = "COLUMN"),
    OPTION(TEXT, classes, "classes", .argument = "LIST|FILE"),
    OPTION(LIST, na, "na", .argument = "VALUE"),
    OPTION(CHOICE, duplicates, "duplicates", .argument = "RULE", .fallback = "error",
           .choices = "error|first|last|all"),
    OPTION(FLAG, fold_case, "fold-case", CLI_SHARED_HELP),
    OPTION(FLAG, trim, "trim", CLI_SHARED_HELP),
    OPTION(FLAG, lenient, "lenient", CLI_SHARED_HELP),
    OPTION(BYTES, common.memory, "memory", .argument = "SIZE", .fallback = "0",
           CLI_HELP(PERFORMANCE, "memory limit, e.g. 500M or 3G; fails if open items need more [all available]")),
    OPTION(FLAG, common.quiet, "quiet", .letter = 'q'),
    OPTION(FLAG, common.verbose, "verbose", .letter = 'v'),
    CLI_HELP_OPTION(watch_values),
};
/* clang-format on */

typedef struct {
    cli *c;
    const watch_values *v;
    dis_context *ctx;
    dis_watch *watch;
    dis__table_writer *rows;
    class_list classes;
    dis_votes_options reading;
} watch_command;

/* With the first row, or in the end: an input that cannot be read leaves no header behind. */
static dis_status open_rows(watch_command *job)
{
    static const char *const columns[] = {"task", "label", "p", "votes", "reason"};
    static const char *const formats[] = {"csv", "tsv", "jsonl"};
    if (job->rows) return DIS_OK;
    return dis__table_writer_create("-", formats[job->v->format], columns, 5, &job->rows);
}

static dis_status put_row(void *user, const dis_watch_row *row)
{
    watch_command *job = user;
    const dis_status status = open_rows(job);
    if (status != DIS_OK) return status;
    const char *reason = dis_watch_reason_name(row->reason);
    dis__table_writer_text(job->rows, row->task, row->n_task);
    dis__table_writer_text(job->rows, row->label, row->n_label);
    dis__table_writer_real(job->rows, row->p);
    dis__table_writer_count(job->rows, row->votes);
    dis__table_writer_text(job->rows, reason, strlen(reason));
    return DIS_OK;
}

static dis_status flush_rows(void *user)
{
    watch_command *job = user;
    return job->rows ? dis__table_writer_flush(job->rows) : DIS_OK;
}

static void print_skipped(void *user, const char *message)
{
    watch_command *job = user;
    char named[8 * CLI_SAFE], safe[8 * CLI_SAFE];
    cli_message_format(message, named, sizeof named);
    cli_text_escape(named, safe, sizeof safe);
    cli_print(job->c, "skipped: %s", safe);
}

static int parse_options(watch_command *job)
{
    const watch_values *v = job->v;
    dis_watch_options o = dis_watch_options_default();
    int code = class_list_read(job->c, v->classes, &job->classes);
    if (code == 0) code = votes_input_delimiter(job->c, v->delimiter, &job->reading.delimiter);
    if (code != 0) return code;
    o.confidence = v->retire;
    o.min_votes = v->min_votes;
    o.request_from = v->ask_from;
    o.max_votes = v->max_votes;
    o.n_remembered = v->remember;
    o.memory = v->common.memory;
    o.power = v->power;
    o.limit = v->limit;
    o.duplicates = (dis_duplicates)v->duplicates;
    o.classes = job->classes.name;
    o.n_classes = job->classes.n;
    o.on_row = put_row;
    o.user = job;
    job->reading.format = v->input_format;
    job->reading.task = v->task;
    job->reading.worker = v->worker;
    job->reading.label = v->label;
    job->reading.na = v->na.value;
    job->reading.n_na = v->na.n;
    job->reading.lenient = v->lenient;
    job->reading.fold_case = v->fold_case;
    job->reading.trim = v->trim;
    return cli_failed(job->c, dis_watch_create(&o, &job->watch));
}

/* A watch ends at the end of the input, or at a signal. */
static int read_votes(watch_command *job, const char *path)
{
    dis_watch_read_options o = dis_watch_read_options_default();
    o.votes = &job->reading;
    o.skipped = print_skipped;
    o.idle = flush_rows;
    o.user = job;
    dis_status status = dis_watch_read(job->ctx, job->watch, path, &o);
    if (status == DIS_ECANCELLED) status = DIS_OK;
    if (status == DIS_OK) status = dis_watch_finalize(job->watch);
    if (status == DIS_OK) status = open_rows(job);
    if (status != DIS_OK) return cli_failed(job->c, status); /* rows so far are still written */
    dis__table_writer *rows = job->rows;
    job->rows = NULL;
    return cli_failed(job->c, dis__table_writer_finish(rows, DIS_OK));
}

static void print_items(watch_command *job, const char *what, uint64_t n, uint64_t votes)
{
    char number[CLI_NUMBER];
    if (n)
        cli_print(job->c, "  %-18s %s item%s, %.2f votes each", what, cli_count_format(n, number), cli_plural(n),
                  (double)votes / (double)n);
}

static void print_count(watch_command *job, const char *what, uint64_t n, const char *note)
{
    char number[CLI_NUMBER];
    if (n) cli_print(job->c, "  %-18s %s %s", what, cli_count_format(n, number), note);
}

static void print_result(watch_command *job)
{
    const dis_watch_view w = dis_watch_get_view(job->watch);
    char votes[CLI_NUMBER], workers[CLI_NUMBER];
    cli_print(job->c, "%s vote%s by %s annotator%s, %zu class%s", cli_count_format(w.votes, votes), cli_plural(w.votes),
              cli_count_format(w.n_workers, workers), cli_plural(w.n_workers), w.n_classes,
              w.n_classes == 1 ? "" : "es");
    if (w.votes >= 20 && 2 * w.n_classes > w.votes && !job->v->classes)
        cli_warn(job->c,
                 "most labels are different, so they may not be classes; select another column with --label, or "
                 "list the classes with --classes");
    print_items(job, "complete", w.n_confident, w.votes_confident);
    print_items(job, "at --max-votes", w.n_at_vote_limit, w.votes_at_vote_limit);
    print_items(job, "incomplete", w.open, w.votes_open);
    print_count(job, "late votes", w.late, "on complete items; used for the annotator only");
    print_count(job, "invalid rows", w.bad_rows, "skipped (--lenient)");
    print_count(job, "no label", w.na, "skipped (--na)");
    print_count(job, "duplicates", w.duplicates, "repeated votes of an annotator on an incomplete item");
    cli_next_print(job->c, "labels", NULL, "final labels (those of watch are provisional)");
}

static int work(watch_command *job, const char *path)
{
    const watch_values *v = job->v;
    int code = parse_options(job);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &v->common, &job->ctx));
    if (code == 0) code = read_votes(job, path);
    if (code == 0 && v->output) code = cli_failed(job->c, dis_watch_write(job->watch, v->output, NULL));
    if (code == 0) print_result(job);
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)n_operands;
    watch_command job = {.c = c, .v = values, .reading = dis_votes_options_default()};
    const int code = work(&job, operands[0]);
    if (job.rows) (void)dis__table_writer_finish(job.rows, DIS_OK);
    dis_watch_destroy(job.watch);
    dis_context_destroy(job.ctx);
    class_list_free(&job.classes);
    return code;
}

extern const cli_command cli_cmd_watch;
const cli_command cli_cmd_watch = {
    .name = "watch",
    .section = CLI_CHECK,
    .summary = "report items that have enough votes while votes come in",
    .operands = "VOTES",
    .text = "Reads votes (columns task, worker and label; CSV, TSV or JSONL) line by line, from a file or from "
            "standard input (-). Prints a row task,label,p,votes,reason as soon as an item is complete (reason sure), "
            "has --ask-from votes and is not complete (more), or has reached --max-votes (limit).\n\n"
            "Votes of incomplete items and statistics of each annotator are kept in memory. Of a complete item, only a "
            "hash is kept, to recognise late votes. watch ends at the end of the input, or after SIGINT or SIGTERM "
            "with exit code 0; it then checks all incomplete items once more. The same votes in the same order give "
            "the same rows.\n\n"
            "Labels and probabilities are updated with every vote and are provisional. Use dissent labels to compute "
            "the final labels from all votes.",
    .examples = "  dissent watch votes.csv\n"
                "  dissent watch votes.csv --retire .9 --max-votes 10 --format jsonl\n"
                "  tail -n +1 -f votes.csv | dissent watch - --retire .95 -o open.csv\n",
    .basic = "task,worker,label|retire|min-votes|ask-from|max-votes|duplicates|output|format|lenient|quiet",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(watch_values),
    .run = run,
};
