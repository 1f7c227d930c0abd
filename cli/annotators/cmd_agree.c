/* dissent agree: agreement of the annotators, overall and by worker, item, class and pair of workers. */
#include "annotators/cmd_agree.h"
#include "tool/rank_calls.h"
#include "labels/scaled_command.h"
#include <stdlib.h>
#include <string.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(agree_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    CLI_TABLE_OPTIONS(agree_values, figures),
    CLI_RESAMPLES_OPTION(agree_values, figures, "1000"),
    CLI_OVER_OPTION(agree_values, over),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    CLI_OUTPUT_OPTION(agree_values, workers, "workers", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(agree_values, items, "items", CLI_TABLE_FORMATS, CLI_HELP(OUTPUT, "write one row per item")),
    CLI_OUTPUT_OPTION(agree_values, by_class, "classes-table", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(agree_values, pairs, "pairs", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    OPTION(COUNT, max_pairs, "max-pairs", .argument = "N", .fallback = "100000", .high = 1e8,
           CLI_HELP(STATISTICS, "maximum number of annotator pairs; those with most votes are compared first")),
    OPTION(COUNT, min_common, "min-common", .argument = "N", .fallback = "5", .low = 1,
           CLI_HELP(STATISTICS, "minimum number of common items of a pair in Cohen's kappa")),
    CLI_GROUPS_OPTIONS(agree_values, groups),
    CLI_OUTPUT_OPTION(agree_values, group_table, "group-table", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(agree_values, group_pairs, "group-pairs", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write one row per pair of groups")),
    CLI_OUTPUT_OPTION(agree_values, divided, "divided", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write items on which groups differ, the largest difference first")),
    OPTION(COUNT, permutations, "permutations", .argument = "N", .fallback = "1000", .high = 1e6),
    OPTION(FLAG, singles, "singles",
           CLI_HELP(STATISTICS, "count items with one vote in the chance agreement of Fleiss and Gwet")),
    CLI_GOLD_COLUMNS_OPTION(agree_values, reading.gold_columns),
    CLI_VOTES_OPTIONS(agree_values, reading),
    CLI_SCALE_OPTIONS(agree_values, reading),
    CLI_PARTS_OPTIONS(agree_values, reading),
    CLI_TABLES_OPTION(agree_values, reading),
    CLI_DEVICE_OPTION(agree_values),
    CLI_COMMON_OPTIONS(agree_values),
};
/* clang-format on */

static int check_options(agree_command *job)
{
    const int code = cli_metric_table_check(job->c, &job->v->figures);
    return code == 0 ? agree_groups_check(job) : code;
}

static int need_workers(const agree_command *job)
{
    const char *option = job->v->workers ? "workers" : job->v->pairs ? "pairs" : job->v->groups.group ? "group" : NULL;
    if (!option || job->in.view.start) return 0;
    return cli_error(job->c, DIS_EDATA,
                     "--%s: this input has no annotator ids; give one row per vote with a worker column", option);
}

static int measure(agree_command *job, dis_context *ctx)
{
    const agree_values *v = job->v;
    dis_agreement_options o = dis_agreement_options_default();
    o.parts = (v->items ? DIS_AGREEMENT_ITEMS : 0u) | (v->workers ? DIS_AGREEMENT_WORKERS : 0u) |
              (v->max_pairs ? DIS_AGREEMENT_PAIRS : 0u);
    o.gold = job->in.gold;
    o.ordinal = votes_input_is_ordered(&v->reading);
    o.include_single_votes = v->singles;
    o.resamples = (size_t)v->figures.resamples;
    o.seed = v->figures.seed;
    o.max_pairs = (size_t)v->max_pairs;
    o.min_common = (size_t)v->min_common;
    o.interval_scope = (dis_interval_scope)v->over;
    const dis_status status = dis_agreement_run(ctx, job->in.votes, &o, &job->agreement);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->view = dis_agreement_get_view(job->agreement);
    return 0;
}

static void print_ranks(const agree_command *job, const dis_context *ctx)
{
    char items[CLI_NUMBER], votes[CLI_NUMBER];
    size_t n_items, n_votes;
    dis__votes_get_totals(job->in.votes, &n_items, &n_votes);
    cli_print(job->c, "%s items, %s votes by %zu workers on %d ranks, %.2f s", cli_count_format(n_items, items),
              cli_count_format(n_votes, votes), job->in.view.n_workers, dis_context_n_ranks(ctx),
              cli_seconds_since(&job->c->start));
}

static int work(agree_command *job, dis_context **ctx)
{
    const agree_values *v = job->v;
    int code = check_options(job);
    if (code == 0) code = votes_input_check(&job->in);
    job->c->replicates_data =
        v->gold || v->workers || v->items || v->groups.group; /* else votes are split across ranks */
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &v->common, ctx));
    if (code == 0) code = votes_input_read(&job->in, *ctx);
    if (code == 0) code = need_workers(job);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, *ctx, job->v->gold);
    if (code == 0) code = groups_input_read(&job->groups, *ctx, job->in.votes);
    if (code == 0) code = measure(job, *ctx);
    if (code == 0) code = agree_groups_compute(job, *ctx);
    if (code != 0) return code;
    if (votes_input_count_ranks(&job->in) > 1) {
        print_ranks(job, *ctx);
        cli_ranks_print(job->c, *ctx, job->in.view.n_votes);
    } else
        agree_print(job);
    return dis_context_rank(*ctx) == 0 ? agree_write(job) : 0;
}

extern const cli_command cli_cmd_agree;

/* Votes whose labels are not distribution over classes. */
static int run_scaled(cli *c, const agree_values *v, char **operands, size_t n_operands)
{
    const scaled_unused unused[] = {{v->gold, "gold"},
                                    {v->by_class, "classes-table"},
                                    {v->pairs, "pairs"},
                                    {v->groups.table, "worker-table"},
                                    {v->singles, "singles"}};
    const int code = cli_metric_table_check(c, &v->figures);
    if (code != 0) return code;
    scaled_command job = {.c = c,
                          .command = &cli_cmd_agree,
                          .common = &v->common,
                          .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands},
                          .resamples = v->figures.resamples,
                          .seed = v->figures.seed,
                          .output = v->figures.output,
                          .format = cli_metric_table_format(&v->figures),
                          .people = !cli_metric_table_format(&v->figures),
                          .items = v->items,
                          .workers = v->workers,
                          .json = v->figures.json,
                          .unused = unused,
                          .n_unused = sizeof unused / sizeof *unused};
    return scaled_command_run(&job);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const agree_values *v = values;
    if (votes_input_is_scaled(&v->reading)) return run_scaled(c, v, operands, n_operands);
    agree_command job = {.c = c,
                         .v = v,
                         .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands},
                         .groups = {.c = c, .v = &v->groups}};
    dis_context *ctx = NULL;
    int code = work(&job, &ctx);
    code = cli_ranks_end(c, ctx, code);
    dis_agreement_destroy(job.agreement);
    dis_group_agreement_destroy(job.of_groups);
    groups_input_free(&job.groups);
    votes_input_free(&job.in);
    dis_context_destroy(ctx);
    return code;
}

const cli_command cli_cmd_agree = {
    .name = "agree",
    .section = CLI_CHECK,
    .summary = "measure inter-annotator agreement",
    .operands = "VOTES...",
    .text = "Measures the share of agreeing pairs of votes, Cohen's kappa (unweighted, linear, quadratic), Fleiss' "
            "kappa, Scott's pi, Krippendorff's alpha (nominal, ordinal, interval, ratio), and Gwet's AC1 and AC2. Each "
            "has a 95 % interval that holds for new annotators and new items.\n\n"
            "Items with fewer than two votes are left out and counted. Coefficients for ordered classes are computed "
            "if all classes are numbers. For other classes, use --scale ordinal with --classes; the ordinal "
            "coefficients are then printed first. With --gold, the accuracy of the annotators is measured too. Counts "
            "(--input counts) can be used for everything that does not need annotator ids.\n\n"
            "With --worker-table and --group, agreement within a group (alpha of its votes) is compared with agreement "
            "across groups. The index is their ratio: above 1, the group agrees more with itself than with others. "
            "p-values come from permutations of group membership; q-values correct them for the number of tests.",
    .examples = "  dissent agree votes.csv\n"
                "  dissent agree ratings.csv --scale ordinal --classes low,medium,high\n"
                "  dissent agree votes.csv --gold gold.csv --workers workers.csv --pairs pairs.csv\n"
                "  dissent agree votes.csv --worker-table people.csv --group gender --divided divided.csv\n",
    .basic = "preset|task,worker,label|scale|gold|worker-table|group|output|workers|pairs|quiet",
    .ranks = true,
    .late_device = true,
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(agree_values),
    .run = run,
};
