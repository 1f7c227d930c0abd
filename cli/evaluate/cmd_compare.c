/* dissent compare: tests whether one model is better than another, and on which items. */
#include "tool/arrays.h"
#include "evaluate/cmd_compare.h"
#include <stdlib.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(compare_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(WORDS, a, "a", .argument = "FILE...", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "predictions of model A, one file per seed (training run)")),
    OPTION(WORDS, b, "b", .argument = "FILE...", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "predictions of model B, usually the baseline")),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    CLI_GOLD_COLUMNS_OPTION(compare_values, gold_columns),
    OPTION(WORDS, votes, "votes", .argument = "FILE...", .names = CLI_NAMES_FILE),
    CLI_OVER_OPTION(compare_values, over),
    OPTION(TEXT, human, "human", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(FLAG, hard, "hard", CLI_HELP(INPUT, "predictions have one label per item (task,label), no probabilities")),
    OPTION(CHOICE, alternative, "alternative", .argument = "SIDE", .fallback = "two-sided",
           .choices = "two-sided|less|greater",
           CLI_HELP(STATISTICS, "alternative of the Mann-Whitney test (items that only A or only B gets right)")),
    OPTION(FLAG, pool_seeds, "pool-seeds",
           CLI_HELP(STATISTICS, "resample pairs of item and seed instead of items, as if seeds were independent")),
    CLI_METRIC_TABLE_OPTIONS(compare_values, figures, "10000"),
    CLI_VOTES_OPTIONS(compare_values, reading),
    CLI_DEVICE_OPTION(compare_values),
    CLI_COMMON_OPTIONS(compare_values),
};
/* clang-format on */

static int check(compare_command *job)
{
    const compare_values *v = job->v;
    if (v->a.n == 0 || v->b.n == 0)
        return cli_usage(job->c, "compare needs the predictions of two models: A B, or --a FILE... --b FILE...");
    if (!v->gold && v->votes.n == 0)
        return cli_usage(job->c, "compare needs the true labels: --gold FILE, or --votes FILE...");
    if (v->gold && v->votes.n)
        return cli_usage(job->c, "--gold and --votes both give the true labels; give one of them");
    if (v->votes.n && v->over == DIS_INTERVAL_ANNOTATORS && (v->pool_seeds || v->figures.fraction < 1))
        return cli_usage(job->c, "--%s applies to intervals for new items only; add --over items",
                         v->pool_seeds ? "pool-seeds" : "fraction");
    if (v->pool_seeds && v->a.n != v->b.n)
        return cli_usage(job->c, "--pool-seeds pairs the seeds of both sides in order, but A has %zu, B %zu", v->a.n,
                         v->b.n);
    int code = cli_metric_table_check(job->c, &v->figures);
    for (size_t i = 0; i < v->a.n && code == 0 && !v->hard; i++) code = label_input_add(&job->in, v->a.value[i], "a");
    for (size_t i = 0; i < v->b.n && code == 0 && !v->hard; i++) code = label_input_add(&job->in, v->b.value[i], "b");
    if (v->human && code == 0) code = label_input_add(&job->in, v->human, "human");
    job->in.gold_path = v->gold;
    job->in.gold_columns = v->gold_columns;
    job->in.fold_case = v->reading.fold_case;
    job->in.trim = v->reading.trim;
    return code == 0 && v->votes.n ? votes_input_check(&job->votes) : code;
}

/* ---- true labels from votes ---- */

/* Which tasks have a true label. What it is does not matter here: the library finds the class with most votes. */
static int gold_of_votes(compare_command *job, dis_context *ctx)
{
    votes_input *in = &job->votes;
    const int code = votes_input_read(in, ctx);
    if (code != 0) return code;
    int32_t *label = calloc(in->view.n_items + 1, sizeof *label);
    if (!label) return cli_error(job->c, DIS_ELIMIT, "no memory for the labels of %zu items", in->view.n_items);
    for (size_t i = 0; i < in->view.n_items && in->view.start; i++) {
        const uint64_t v = in->view.start[i];
        if (v < in->view.start[i + 1]) label[i] = in->view.label8 ? in->view.label8[v] : in->view.label16[v];
    }
    const dis_gold_view view = {.size = sizeof(dis_gold_view),
                                .n_items = in->view.n_items,
                                .label = label,
                                .tasks = in->view.tasks,
                                .classes = in->view.classes};
    const dis_status status = dis_gold_create(ctx, &view, &job->in.gold);
    free(label);
    job->in.gold_path = in->paths[0];
    job->in.gold_role = "votes";
    return cli_failed(job->c, status);
}

static int place_votes(compare_command *job, dis_comparison_votes *out)
{
    const int code = label_input_match_votes(&job->in, &job->votes.view, &job->vote_item, &job->vote_class);
    *out = (dis_comparison_votes){.size = sizeof(dis_comparison_votes),
                                  .votes = job->votes.votes,
                                  .item_map = job->vote_item,
                                  .class_map = job->vote_class};
    return code;
}

/* Labels as predictions, behind what was read already. A class that a file does not have is not a mistake there; one
 * that people do not have is, since their soft labels say what classes there are. */
static int read_hard(compare_command *job, dis_context *ctx)
{
    const compare_values *v = job->v;
    const size_t n = v->a.n + v->b.n;
    const dis_names *lists[2 * CLI_MAX_VALUES + 2];
    size_t n_lists = 0;
    const bool all = !v->human || v->reading.lenient;
    if (v->human) lists[n_lists++] = dis_labels_get_view(job->in.labels[0]).classes;
    if (all) lists[n_lists++] = dis_gold_get_view(job->in.gold).classes;
    job->hard = calloc(n, sizeof *job->hard);
    if (!job->hard) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu files", n);
    int code = 0;
    for (size_t s = 0; s < n && code == 0; s++) {
        const bool is_a = s < v->a.n;
        const char *path = is_a ? v->a.value[s] : v->b.value[s - v->a.n];
        code = hard_labels_read(job->c, ctx, path, &job->hard[s]);
        if (code == 0) code = label_input_add_view(&job->in, path, is_a ? "a" : "b", &job->hard[s].view);
        if (code == 0 && all) lists[n_lists++] = job->hard[s].view.classes;
    }
    if (code == 0) code = hard_labels_merge_classes(job->c, lists, n_lists, &job->classes);
    job->in.classes = job->classes;
    return code;
}

static int read_all(compare_command *job, dis_context *ctx)
{
    int code = label_input_read_files(&job->in, ctx);
    if (code == 0 && job->v->votes.n) code = gold_of_votes(job, ctx);
    if (code == 0 && job->v->hard) code = read_hard(job, ctx);
    if (code == 0) code = label_input_align(&job->in, ctx);
    if (code == 0) label_input_print(&job->in);
    return code;
}

/* The class of the largest probability, for each item and seed. */
static int compute_labels(compare_command *job, const int32_t **sides)
{
    const dis_alignment_view *t = &job->in.alignment;
    const size_t n = job->v->a.n + job->v->b.n, first = job->v->hard && job->v->human;
    job->labels = calloc(t->n_items * n, sizeof *job->labels);
    if (!job->labels) return cli_error(job->c, DIS_ELIMIT, "no memory for the predictions of %zu items", t->n_items);
    for (size_t s = 0; s < n; s++) {
        int32_t *side = job->labels + s * t->n_items;
        for (size_t i = 0; i < t->n_items; i++)
            side[i] = (int32_t)dis__argmax(t->p[first + s] + i * t->n_classes, t->n_classes);
        sides[s] = side;
    }
    return 0;
}

static int compare(compare_command *job, dis_context *ctx)
{
    const compare_values *v = job->v;
    const dis_alignment_view *t = &job->in.alignment;
    const int32_t *sides[2 * CLI_MAX_VALUES];
    dis_comparison_votes votes;
    int code = compute_labels(job, sides);
    if (code == 0 && v->votes.n) code = place_votes(job, &votes);
    if (code != 0) return code;
    const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                     .n_items = t->n_items,
                                     .n_classes = t->n_classes,
                                     .gold = v->votes.n ? NULL : t->gold,
                                     .votes = v->votes.n ? &votes : NULL,
                                     .n_a = v->a.n,
                                     .n_b = v->b.n,
                                     .a = sides,
                                     .b = sides + v->a.n,
                                     .human = v->human ? t->p[v->hard ? 0 : v->a.n + v->b.n] : NULL};
    dis_comparison_options o = dis_comparison_options_default();
    o.seed = v->figures.seed;
    o.resamples = v->figures.resamples;
    o.fraction = v->figures.fraction;
    o.pool_seeds = v->pool_seeds;
    o.interval_scope = (dis_interval_scope)v->over;
    o.alternative = (dis_alternative)v->alternative;
    const dis_status status = dis_comparison_run(ctx, &in, &o, &job->comparison);
    if (status == DIS_OK) job->view = dis_comparison_get_view(job->comparison);
    return cli_failed(job->c, status);
}

static void print_finding(const compare_command *job, size_t m)
{
    const dis_significance *s = &job->view.metric[m];
    const double d = s->difference.value;
    char value[CLI_METRIC_SIZE];
    if (s->difference.reason || !job->v->figures.resamples) return;
    dis_metric size = s->difference;
    if (d < 0) {
        size.value = -d;
        size.ci_low = -s->difference.ci_high;
        size.ci_high = -s->difference.ci_low;
    }
    const char *words = dis_comparison_metric_get(m)->title;
    if (s->stars && (!size.has_interval || size.ci_low > 0))
        cli_print(job->c, "%s: %s%s is better%s by %s", words, cli_bold(job->c), d > 0 ? "A" : "B", cli_plain(job->c),
                  cli_metric_format(&size, 3, value));
    else if (s->stars)
        cli_print(job->c, "%s: %s is ahead by %s, but the interval contains 0", words, d > 0 ? "A" : "B",
                  cli_metric_format(&size, 3, value));
    else
        cli_print(job->c, "%s: no significant difference (p = %.2g)", words, s->p);
}

static void print_summary(compare_command *job)
{
    const dis_comparison_view *v = &job->view;
    const uint64_t apart = v->cell[DIS_CELL_ONLY_A] + v->cell[DIS_CELL_ONLY_B];
    char items[CLI_NUMBER];
    bool starred = false;
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) starred |= v->metric[m].stars > 0;
    if (v->few_annotators)
        cli_warn(job->c, "the true labels are from only %zu annotator%s: other annotators might reverse the result",
                 v->n_annotators, cli_plural(v->n_annotators));
    if (starred && !v->n_annotators && apart < DIS_MCNEMAR_FEW * v->n_pairs)
        cli_warn(job->c,
                 "only %llu items are correct for one model alone: the p-value of the bootstrap is then too small; use "
                 "McNemar's",
                 (unsigned long long)(apart / v->n_pairs));
    cli_print(job->c, "%s items; seeds: A %zu, B %zu (%.2f s)", cli_count_format(v->n_items, items), v->n_a, v->n_b,
              cli_seconds_since(&job->c->start));
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) print_finding(job, m);
}

static int work(compare_command *job, dis_context *ctx)
{
    int code = read_all(job, ctx);
    if (code == 0) code = compare(job, ctx);
    if (code != 0 || dis_context_rank(ctx) > 0) return code;
    const char *format = cli_metric_table_format(&job->v->figures);
    if (format)
        code = cli_failed(job->c, compare_table_write(job, format));
    else {
        compare_text_print(job);
        code = cli_flush(job->c);
    }
    if (code == 0 && job->v->figures.json) code = cli_failed(job->c, compare_json_write(job));
    if (code == 0) print_summary(job);
    return code;
}

/* compare A B: a file per side. */
static int parse_sides(cli *c, compare_values *v, char **operands, size_t n)
{
    if (v->a.n || v->b.n)
        return cli_usage(c, "%s: files are named by --a and --b, or as A and B without these", operands[0]);
    if (n != 2) return cli_usage(c, "compare takes two files, A and B; several per side: --a FILE... --b FILE...");
    v->a.value[v->a.n++] = operands[0];
    v->b.value[v->b.n++] = operands[1];
    return 0;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    compare_values given = *(const compare_values *)values;
    if (n_operands) {
        const int wrong = parse_sides(c, &given, operands, n_operands);
        if (wrong != 0) return wrong;
    }
    const compare_values *v = &given;
    compare_command job = {
        .c = c,
        .v = v,
        .votes = {.c = c, .v = &v->reading, .paths = (char *const *)v->votes.value, .n_paths = v->votes.n},
        .in = {.c = c, .lenient = v->reading.lenient, .renormalise = v->reading.renormalise, .hard = v->hard}};
    int code = check(&job);
    if (code != 0) return code;
    dis_context *ctx;
    c->replicates_data = true;
    const dis_status status = cli_context_create(c, &v->common, &ctx);
    if (status != DIS_OK) return cli_failed(c, status);
    code = cli_ranks_end(c, ctx, work(&job, ctx));
    dis_comparison_destroy(job.comparison);
    free(job.labels);
    dis_free(job.vote_item);
    dis_free(job.vote_class);
    label_input_free(&job.in);
    votes_input_free(&job.votes);
    for (size_t s = 0; job.hard && s < v->a.n + v->b.n; s++) hard_labels_free(&job.hard[s]);
    free(job.hard);
    dis_names_destroy(job.classes);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_compare;
const cli_command cli_cmd_compare = {
    .name = "compare",
    .section = CLI_LEARN,
    .summary = "test whether one model is better than another",
    .operands = "A B --gold FILE",
    .text = "Computes accuracy and macro-F1 of two models and their difference with a 95 % interval. The p-value is "
            "that of the paired bootstrap: the share of resamples whose difference is more than twice the observed "
            "one. One star: p <= .05; two stars: p <= .01.\n"
            "\n"
            "Pass several files per model for several seeds. Items are then resampled for all seeds together, and the "
            "value of a model is the mean over its seeds. McNemar's test is computed for each pair of seeds: in order "
            "if both models have the same number, otherwise for all pairs.\n"
            "\n"
            "With --votes instead of --gold, the true label of an item is the class with most votes; ties are broken "
            "at random. Intervals and the two-sided p-value then hold for new annotators and new items, or with --over "
            "items for new items only.\n"
            "\n"
            "With --human, items are divided into four cells: both correct, both wrong, only A correct, only B "
            "correct. Each cell has the mean kurtosis, entropy and largest probability of the human soft labels. A "
            "Mann-Whitney test compares the two mixed cells.\n"
            "\n"
            "Predictions are files of soft labels as written by dissent labels; the most probable class counts. With "
            "--hard, they are files of task and label.",
    .examples = "  dissent compare soft.csv hard.csv --gold test.csv\n"
                "  dissent compare --a soft-*.csv --b hard-*.csv --gold test.csv --human people.csv\n"
                "  dissent compare --a new.csv --b old.csv --votes votes.csv\n"
                "  dissent compare --a soft-*.csv --b hard-*.csv --gold test.csv --pool-seeds --fraction .33\n",
    .basic = "a|b|gold|votes|human|hard|over|output|json|quiet",
    .ranks = true,
    .late_device = true,
    .names = CLI_NAMES_FILE,
    .min = 0,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(compare_values),
    .run = run,
};
