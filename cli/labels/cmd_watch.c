/* dissent watch: votes as they come, items that are sure enough as soon as they are. */
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

#define TEXT(field, name_, argument_, summary_)                                                          \
    {                                                                                                    \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(watch_values, field), .argument = argument_, \
        .summary = summary_                                                                              \
    }
#define COUNT(field, name_, fallback_, summary_)                                                    \
    {                                                                                               \
        .name = name_, .kind = CLI_COUNT, .offset = offsetof(watch_values, field), .argument = "N", \
        .fallback = fallback_, .summary = summary_                                                  \
    }

static const cli_option options[] = {
    {.name = "retire",
     .kind = CLI_REAL,
     .offset = offsetof(watch_values, retire),
     .argument = "P",
     .fallback = "0.95",
     .low = 1e-9,
     .high = 1,
     .summary = "an item is sure, and done, when its label has this probability"},
    COUNT(min_votes, "min-votes", "2", "never sure with fewer votes"),
    COUNT(ask_from, "ask-from", "3",
          "votes that every item gets: with as many and not sure it needs more, and is printed at each vote; 0: never"),
    COUNT(max_votes, "max-votes", "0", "done with so many votes, sure or not; 0: no such limit"),
    COUNT(remember, "remember", "0",
          "done items that are known when late votes come, the last N at least (13 to 27 bytes each); 0: all"),
    {.name = "power",
     .kind = CLI_REAL,
     .offset = offsetof(watch_values, power),
     .argument = "X",
     .fallback = "0.7",
     .high = 1,
     .summary = "how far probabilities are held back by the number of votes, as in the default labels; 0: votes are "
                "independent"},
    {.name = "limit",
     .kind = CLI_REAL,
     .offset = offsetof(watch_values, limit),
     .argument = "N",
     .fallback = "16",
     .low = 1,
     .high = 1e9,
     .summary = "number of votes from which they are held back no further"},
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(watch_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_OUTPUT,
     .summary = "in the end, the labels of items that are still open",
     .formats = CLI_LABEL_FORMATS},
    {.name = "format",
     .kind = CLI_CHOICE,
     .offset = offsetof(watch_values, format),
     .argument = "FORMAT",
     .fallback = "csv",
     .choices = CLI_TABLE_FORMATS,
     .summary = "of the rows on standard output"},
    TEXT(input_format, "input-format", "FORMAT", "csv, tsv or jsonl; without it, by the name of the input, else csv"),
    TEXT(delimiter, "delimiter", "C", "what separates columns: one character, or tab or space"),
    TEXT(task, "task", "NAME", "column or key of the task [task, or a synonym: dissent list columns]"),
    TEXT(worker, "worker", "NAME", "column or key of the worker [worker, or a synonym: dissent list columns]"),
    TEXT(label, "label", "NAME", "column or key of the label [label, or a synonym: dissent list columns]"),
    TEXT(classes, "classes", "LIST", "classes, as a list or a file; without it, those that turn up"),
    {.name = "na",
     .kind = CLI_LIST,
     .offset = offsetof(watch_values, na),
     .argument = "TEXT",
     .summary = "a label that means \"no vote\""},
    {.name = "duplicates",
     .kind = CLI_CHOICE,
     .offset = offsetof(watch_values, duplicates),
     .argument = "RULE",
     .fallback = "error",
     .choices = "error|first|last|all",
     .summary = "what to do when a worker votes again on an item that is open; on one that is done nobody knows"},
    {.name = "fold-case",
     .kind = CLI_FLAG,
     .offset = offsetof(watch_values, fold_case),
     .summary = "ignore case: labels that differ in case alone are one class, in lower case"},
    {.name = "trim",
     .kind = CLI_FLAG,
     .offset = offsetof(watch_values, trim),
     .summary = "remove spaces around labels"},
    {.name = "lenient",
     .kind = CLI_FLAG,
     .offset = offsetof(watch_values, lenient),
     .summary = "tell of bad rows and skip them, instead of ending with the first"},
    {.name = "memory",
     .kind = CLI_BYTES,
     .offset = offsetof(watch_values, common.memory),
     .argument = "SIZE",
     .fallback = "0",
     .summary = "memory limit for items, workers and done items, e.g. 500M or 3G; fails if they need more [all "
                "available]"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = offsetof(watch_values, common.quiet),
     .summary = "nothing on standard error but errors"},
    CLI_HELP_OPTION(watch_values),
};

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

static void tell_skipped(void *user, const char *message)
{
    watch_command *job = user;
    char named[8 * CLI_SAFE], safe[8 * CLI_SAFE];
    cli_message_format(message, named, sizeof named);
    cli_text_escape(named, safe, sizeof safe);
    cli_print(job->c, "skipped: %s", safe);
}

static int take_options(watch_command *job)
{
    const watch_values *v = job->v;
    dis_watch_options o = dis_watch_options_default();
    int code = class_list_read(job->c, v->classes, &job->classes);
    if (code == 0) code = votes_input_delimiter(job->c, v->delimiter, &job->reading.delimiter);
    if (code != 0) return code;
    o.retire = v->retire;
    o.min_votes = v->min_votes;
    o.ask_from = v->ask_from;
    o.max_votes = v->max_votes;
    o.remember = v->remember;
    o.memory = v->common.memory;
    o.power = v->power;
    o.limit = v->limit;
    o.duplicates = (dis_duplicates)v->duplicates;
    o.classes = job->classes.name;
    o.n_classes = job->classes.n;
    o.each = put_row;
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

/* Whatever ends the reading, the end of the input or a signal, is how a watch ends. */
static int read_votes(watch_command *job, const char *path)
{
    dis_watch_read_options o = dis_watch_read_options_default();
    o.votes = &job->reading;
    o.skipped = tell_skipped;
    o.idle = flush_rows;
    o.user = job;
    dis_status status = dis_watch_read(job->ctx, job->watch, path, &o);
    if (status == DIS_ECANCELLED) status = DIS_OK;
    if (status == DIS_OK) status = dis_watch_finalize(job->watch);
    if (status == DIS_OK) status = open_rows(job);
    if (status != DIS_OK) return cli_failed(job->c, status); /* rows so far go out all the same */
    dis__table_writer *rows = job->rows;
    job->rows = NULL;
    return cli_failed(job->c, dis__table_writer_finish(rows, DIS_OK));
}

static void tell_items(watch_command *job, const char *what, uint64_t n, uint64_t votes)
{
    char number[CLI_NUMBER];
    if (n)
        cli_print(job->c, "  %-18s %s item%s, %.2f votes each", what, cli_count_format(n, number), cli_plural(n),
                  (double)votes / (double)n);
}

static void tell_count(watch_command *job, const char *what, uint64_t n, const char *note)
{
    char number[CLI_NUMBER];
    if (n) cli_print(job->c, "  %-18s %s %s", what, cli_count_format(n, number), note);
}

static void tell_result(watch_command *job)
{
    const dis_watch_view w = dis_watch_get_view(job->watch);
    char votes[CLI_NUMBER], workers[CLI_NUMBER];
    cli_print(job->c, "%s vote%s by %s worker%s, %zu class%s", cli_count_format(w.votes, votes), cli_plural(w.votes),
              cli_count_format(w.n_workers, workers), cli_plural(w.n_workers), w.n_classes,
              w.n_classes == 1 ? "" : "es");
    if (w.votes >= 20 && 2 * w.n_classes > w.votes && !job->v->classes)
        cli_warn(job->c, "most labels are different: are these classes? Name another column with --label, or the "
                         "classes with --classes");
    tell_items(job, "sure", w.sure, w.votes_sure);
    tell_items(job, "at --max-votes", w.unsure, w.votes_unsure);
    tell_items(job, "open", w.open, w.votes_open);
    cli_print(job->c, "  %-18s updated vote by vote: dissent labels makes the final ones from all votes", "labels");
    tell_count(job, "late votes", w.late, "on items that were done; they count for their workers");
    tell_count(job, "bad rows", w.bad_rows, "skipped (--lenient)");
    tell_count(job, "no label", w.na, "left out (--na)");
    tell_count(job, "duplicates", w.duplicates, "by a worker on an open item again");
}

static int work(watch_command *job, const char *path)
{
    const watch_values *v = job->v;
    int code = take_options(job);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &v->common, &job->ctx));
    if (code == 0) code = read_votes(job, path);
    if (code == 0 && v->output) code = cli_failed(job->c, dis_watch_write(job->watch, v->output, NULL));
    if (code == 0) tell_result(job);
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
    .summary = "votes as they come: which items need no more of them",
    .operands = "VOTES",
    .text =
        "Reads votes (columns task, worker, label; CSV, TSV or JSONL) line by line as they come, - from standard "
        "input, and prints a row task,label,p,votes,reason as soon as an item is sure enough (reason sure, once), "
        "needs more votes than it was to get (more), or has as many as it may get (limit).\n\n"
        "Votes of open items are kept, and what is known of each worker; of items that are done no more than a "
        "hash, so that late votes are known to be late. Ends with the input, or with SIGINT or SIGTERM (exit code "
        "0), after a last look at the open items. The same votes in the same order give the same rows.\n\n"
        "Labels and probabilities are updated vote by vote, so they are provisional; dissent labels makes the final "
        "ones from all votes.",
    .examples = "  tail -n +1 -f votes.csv | dissent watch - --retire .95 -o open.csv\n"
                "  dissent watch votes.csv --max-votes 10 --format jsonl\n",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(watch_values),
    .run = run,
};
