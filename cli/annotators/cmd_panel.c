/* dissent panel: compares judges with people. */
#include "annotators/cmd_panel.h"
#include "input/swapped_input.h"

#define OPTION(kind, field, name, ...) CLI_OPTION(panel_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    CLI_VOTER_TYPE_OPTIONS(panel_values, voters),
    CLI_VOTER_TABLE_OPTIONS(panel_values, voters),
    CLI_OUTPUT_OPTION(panel_values, labels, "save-labels", CLI_LABEL_FORMATS,
                      CLI_HELP(OUTPUT, "write soft labels of all items, calibrated to people")),
    CLI_OUTPUT_OPTION(panel_values, rates, "rates", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the bias of each judge per class, and class shares of people")),
    CLI_OUTPUT_OPTION(panel_values, pairs, "pairs", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(panel_values, copies, "copies", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write judges that copy a person or the majority of people")),
    CLI_OUTPUT_OPTION(panel_values, buy, "buy", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the gain of another human vote per item, and the plan for --budget")),
    OPTION(COUNT, budget, "budget", .argument = "N", .fallback = "0", .high = 1e8),
    CLI_ALTERNATIVE_TEST_OPTIONS(panel_values),
    OPTION(REAL, same_errors, "same-errors", .argument = "X", .fallback = ".5", .low = -1, .high = 1,
           CLI_HELP(STATISTICS, "minimum mean error correlation within a group of judges")),
    OPTION(REAL, precision, "half-width", .argument = "X", .fallback = ".05", .low = 1e-6, .high = 1),
    CLI_SWAPPED_OPTIONS(panel_values),
    CLI_OUTPUT_OPTION(panel_values, swaps, "swaps", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the share of consistent pairs per annotator")),
    CLI_TABLE_OPTIONS(panel_values, figures),
    CLI_VOTES_OPTIONS(panel_values, reading),
    CLI_SCALE_OPTIONS(panel_values, reading),
    CLI_COMMON_OPTIONS(panel_values),
};
/* clang-format on */

static int check_options(panel_command *job)
{
    const panel_values *v = job->v;
    if (!voters_input_is_given(&v->voters))
        return cli_usage(job->c,
                         "people and judges are not marked; give --voter-type COLUMN, or the names of the people: "
                         "--people A,B,...");
    if (!v->voters.table && (v->voters.table_id || v->voters.table_prefix))
        return cli_usage(job->c, "--%s needs --worker-table", v->voters.table_id ? "table-id" : "table-prefix");
    const char *alone = v->swaps ? "swaps" : v->mirror.n ? "mirror" : v->first ? "first" : NULL;
    if (alone && v->swapped.n == 0)
        return cli_usage(job->c, "--%s needs pairs judged in both orders; add --swapped FILE", alone);
    return cli_metric_table_check(job->c, &v->figures);
}

static int compare_orders(panel_command *job, dis_context *ctx)
{
    const panel_values *v = job->v;
    const swapped_input in = {&v->swapped, &v->mirror, v->first, &v->reading};
    return swapped_input_read(&in, ctx, &job->in, &job->swap, &job->n_swaps);
}

/* ---- work ---- */

static int measure(panel_command *job, dis_context *ctx)
{
    const panel_values *v = job->v;
    dis_panel_options o = dis_panel_options_default();
    o.epsilon = v->epsilon;
    o.fdr = v->fdr;
    o.min_people = (size_t)v->min_people;
    o.min_items = (size_t)v->min_items;
    o.numeric_classes = votes_input_is_ordered(&v->reading);
    o.error_correlation = v->same_errors;
    o.half_width = v->precision;
    o.budget = v->budget;
    o.seed = v->figures.seed;
    const dis_status status = dis_panel_run(ctx, job->in.votes, job->voters.person, &o, &job->panel);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->view = dis_panel_get_view(job->panel);
    return 0;
}

static int write_all(panel_command *job, dis_context *ctx)
{
    const char *format = cli_metric_table_format(&job->v->figures);
    dis_status status = DIS_OK;
    if (format)
        status = panel_judges_write(job, cli_metric_table_path(&job->v->figures), format);
    else
        panel_text_print(job);
    if (status == DIS_OK) status = panel_tables_write(job);
    if (status == DIS_OK) status = panel_labels_write(job, ctx);
    if (status == DIS_OK) status = panel_json_write(job);
    if (status != DIS_OK) return cli_failed(job->c, status);
    return cli_flush(job->c);
}

static int work(panel_command *job, dis_context **ctx)
{
    int code = check_options(job);
    if (code == 0) code = votes_input_check(&job->in);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &job->v->common, ctx));
    if (code == 0) code = votes_input_read(&job->in, *ctx);
    if (code == 0) code = voters_input_read(&job->voters, *ctx, &job->in);
    if (code == 0) code = measure(job, *ctx);
    if (code == 0) code = compare_orders(job, *ctx);
    if (code != 0) return code;
    panel_messages_print(job);
    return write_all(job, *ctx);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const panel_values *v = values;
    panel_command job = {.c = c,
                         .v = v,
                         .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands},
                         .voters = {.c = c, .v = &v->voters}};
    dis_context *ctx = NULL;
    const int code = work(&job, &ctx);
    dis_panel_destroy(job.panel);
    dis_free(job.swap);
    voters_input_free(&job.voters);
    votes_input_free(&job.in);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_panel;
const cli_command cli_cmd_panel = {
    .name = "panel",
    .section = CLI_CHECK,
    .summary = "compare LLM judges with human annotators",
    .operands = "VOTES...",
    .text = "Reads votes of people and of judges (LLM judges, classifiers). People must have voted on a part of the "
            "items, if possible on a random sample. Agreement is tested against chance first. If people agree no more "
            "than chance, nothing is reported about judges. A judge that agrees with people no more than chance gets "
            "no other verdict.\n"
            "\n"
            "For each judge:\n"
            "- agreement with people, and the error rate corrected for errors of people\n"
            "- bias per class\n"
            "- the alternative-annotator test, which measures similarity to people, not quality\n"
            "- whether the judge copies a person or the majority\n"
            "\n"
            "For all judges: which of them make the same errors, and how many independent judges they are worth. For "
            "each class: its share among answers of people (prediction-powered inference; Rogan and Gladen). The "
            "options also write soft labels calibrated to people, and a plan of further human votes.\n"
            "\n"
            "With --swapped: how often the outcome of a pair stays the same when the two answers are exchanged.",
    .examples = "  dissent panel votes.csv --voter-type kind\n"
                "  dissent panel votes.csv --worker-table voters.csv --voter-type kind --epsilon .2\n"
                "  dissent panel votes.csv --voter-type kind --budget 500 --buy buy.csv --save-labels labels.csv\n"
                "  dissent panel ab.csv --voter-type kind --swapped ba.csv --mirror first=second --first first\n",
    .basic = "task,worker,label|voter-type|people|worker-table|budget|epsilon|output|save-labels|buy|quiet",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(panel_values),
    .run = run,
};
