/* dissent agree: how far the voters agree, overall and by worker, item, class and pair of workers. */
#include "annotators/cmd_agree.h"
#include "labels/scaled_command.h"
#include <stdlib.h>
#include <string.h>

#define TEXT(field, name_, argument_, names_, summary_)                                                  \
    {                                                                                                    \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(agree_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                             \
    }
#define COUNT(field, name_, fallback_, low_, high_, summary_)                                       \
    {                                                                                               \
        .name = name_, .kind = CLI_COUNT, .offset = offsetof(agree_values, field), .argument = "N", \
        .fallback = fallback_, .low = low_, .high = high_, .summary = summary_                      \
    }

static const cli_option options[] = {
    CLI_TABLE_OPTIONS(agree_values, figures),
    CLI_RESAMPLES_OPTION(agree_values, figures, "1000"),
    CLI_OVER_OPTION(agree_values, over),
    TEXT(gold, "gold", "FILE", CLI_NAMES_FILE, "known labels (task,label): also how good the workers are"),
    CLI_OUTPUT_OPTION(
        agree_values, workers, "workers", CLI_TABLE_FORMATS,
        "per worker: votes, agreement with the others, alpha without that worker, accuracy (CSV, TSV or JSONL by the "
        "name)"),
    CLI_OUTPUT_OPTION(agree_values, items, "items", CLI_TABLE_FORMATS,
                      "per item: votes, classes chosen, the most chosen one, agreement"),
    CLI_OUTPUT_OPTION(agree_values, by_class, "classes-table", CLI_TABLE_FORMATS,
                      "per class: votes, agreement on it, Fleiss' kappa and alpha of it against all others"),
    CLI_OUTPUT_OPTION(agree_values, pairs, "pairs", CLI_TABLE_FORMATS,
                      "per pair of workers: votes on the same items, agreement, Cohen's kappas, Scott's pi"),
    COUNT(max_pairs, "max-pairs", "100000", 0, 1e8,
          "look at no more pairs of workers; beyond, at those among the workers with most votes; 0: at none"),
    COUNT(min_common, "min-common", "5", 1, 0,
          "votes on the same items that a pair must have to count in Cohen's kappa"),
    CLI_GROUPS_OPTIONS(agree_values, groups),
    CLI_OUTPUT_OPTION(agree_values, group_table, "group-table", CLI_TABLE_FORMATS,
                      "per group: agreement within, with the others, their ratio, with tests"),
    CLI_OUTPUT_OPTION(agree_values, group_pairs, "group-pairs", CLI_TABLE_FORMATS,
                      "per pair of groups: agreement between them, with a test"),
    CLI_OUTPUT_OPTION(agree_values, divided, "divided", CLI_TABLE_FORMATS,
                      "per item and pair of groups with two votes each: how far they differ, the most divided first"),
    COUNT(permutations, "permutations", "1000", 0, 1e6,
          "of who is in which group, for the tests of groups; 0 for none"),
    {.name = "singles",
     .kind = CLI_FLAG,
     .offset = offsetof(agree_values, singles),
     .summary = "items with one vote count in the chance agreement of Fleiss and Gwet, as in Gwet's own software"},
    CLI_GOLD_COLUMNS_OPTION(agree_values, reading.gold_columns),
    CLI_VOTES_OPTIONS(agree_values, reading),
    CLI_SCALE_OPTIONS(agree_values, reading),
    CLI_PARTS_OPTIONS(agree_values, reading),
    CLI_TABLES_OPTION(agree_values, reading),
    CLI_DEVICE_OPTION_FOR(agree_values, CLI_RESAMPLES),
    CLI_COMMON_OPTIONS(agree_values),
};

static int check_options(agree_command *job)
{
    const int code = cli_metric_table_check(job->c, &job->v->figures);
    return code == 0 ? agree_groups_check(job) : code;
}

static int need_workers(const agree_command *job)
{
    const char *option = job->v->workers ? "workers" : job->v->pairs ? "pairs" : job->v->groups.group ? "group" : NULL;
    if (!option || job->in.look.start) return 0;
    return cli_error(job->c, DIS_EDATA, "--%s: this input does not say who voted; bring one row per vote", option);
}

static int measure(agree_command *job, dis_context *ctx)
{
    const agree_values *v = job->v;
    dis_agreement_options o = dis_agreement_options_default();
    o.parts = (v->items ? DIS_AGREEMENT_ITEMS : 0u) | (v->workers ? DIS_AGREEMENT_WORKERS : 0u) |
              (v->max_pairs ? DIS_AGREEMENT_PAIRS : 0u);
    o.gold = job->in.gold;
    o.ordinal = votes_input_is_ordered(&v->reading);
    o.singles = v->singles;
    o.resamples = (size_t)v->figures.resamples;
    o.seed = v->figures.seed;
    o.max_pairs = (size_t)v->max_pairs;
    o.min_common = (size_t)v->min_common;
    o.over = (dis_interval_scope)v->over;
    const dis_status status = dis_agreement_run(ctx, job->in.votes, &o, &job->agreement);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->look = dis_agreement_get_view(job->agreement);
    return 0;
}

static void tell_ranks(const agree_command *job, const dis_context *ctx)
{
    char items[CLI_NUMBER], votes[CLI_NUMBER];
    size_t n_items, n_votes;
    dis_votes_get_totals(job->in.votes, &n_items, &n_votes);
    cli_print(job->c, "%s items, %s votes by %zu workers on %d ranks, %.2f s", cli_count_format(n_items, items),
              cli_count_format(n_votes, votes), job->in.look.n_workers, dis_context_n_ranks(ctx),
              cli_seconds_since(&job->c->start));
}

static int work(agree_command *job, dis_context **ctx)
{
    const agree_values *v = job->v;
    int code = check_options(job);
    if (code == 0) code = votes_input_check(&job->in);
    job->c->whole = v->gold || v->workers || v->items || v->groups.group; /* else ranks deal votes out */
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &v->common, ctx));
    if (code == 0) code = votes_input_read(&job->in, *ctx);
    if (code == 0) code = need_workers(job);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, *ctx, job->v->gold);
    if (code == 0) code = groups_input_read(&job->groups, *ctx, job->in.votes);
    if (code == 0) code = measure(job, *ctx);
    if (code == 0) code = agree_groups_compute(job, *ctx);
    if (code != 0) return code;
    if (votes_input_count_ranks(&job->in) > 1) {
        tell_ranks(job, *ctx);
        cli_ranks_print(job->c, *ctx, job->in.look.n_votes);
    } else
        agree_print(job);
    return dis_context_rank(*ctx) == 0 ? agree_write(job) : 0;
}

extern const cli_command cli_cmd_agree;

/* Votes whose labels are no distribution over classes. */
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
    .summary = "how far the voters agree: kappas, alpha, workers, items, pairs",
    .operands = "VOTES...",
    .text =
        "Reads votes as dissent labels does and measures agreement: the share of agreeing pairs of votes, Cohen's "
        "kappa of pairs of workers (unweighted, linear, quadratic), Fleiss' kappa, Scott's pi, Krippendorff's alpha "
        "(nominal, ordinal, interval, ratio) and Gwet's AC1 and AC2, each with a 95 % interval for other "
        "annotators and other items.\n\n"
        "Items with fewer than two votes are left out and counted. Coefficients that need ordered classes or "
        "numbers are there when the classes are numbers; --scale ordinal with --classes says that other classes have "
        "an order; what goes by it then comes first. With --gold: how good the crowd is. Counts (--input counts) serve "
        "wherever no workers are needed.\n\n"
        "--worker-table with --group COLUMN asks whether groups of people agree: within a group (alpha of its votes), "
        "across (its votes with those of all others), and their ratio, the index: above 1, the group agrees more with "
        "itself than with the others. p-values come from dealing out the groups to the workers anew, q-values correct "
        "them for the number of tests. docs/guides/groups.md.",
    .examples = "  dissent agree votes.csv\n"
                "  dissent agree votes.csv --gold gold.csv --workers workers.csv --pairs pairs.csv\n"
                "  dissent agree votes.csv --worker-table people.csv --group gender --divided divided.csv\n"
                "  dissent agree ratings.csv --classes low,medium,high --scale ordinal --json agreement.json -o "
                "agreement.csv\n",
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
