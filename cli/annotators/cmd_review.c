/* dissent review: ranks items to relabel and workers to check, with reasons. */
#include "output/chance_output.h"
#include "annotators/cmd_review.h"
#include "labels/scaled_command.h"
#include <math.h>
#include <stdlib.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(review_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    CLI_TABLE_OPTIONS(review_values, figures),
    OPTION(COUNT, top, "top", .argument = "N", .fallback = "0",
           CLI_HELP(OUTPUT, "number of items and annotators to show [20 as text, all in a file]")),
    OPTION(CHOICE, by, "by", .argument = "ORDER", .fallback = "auto", .choices = "gain|uncertainty|surprise|auto",
           CLI_HELP(OUTPUT, "order items by expected gain of another vote, probability of a wrong label (uncertainty), or "
                            "unexpected votes; auto: gain with --budget, else uncertainty")),
    OPTION(COUNT, budget, "budget", .argument = "N", .fallback = "0"),
    CLI_OUTPUT_OPTION(review_values, items, "items", CLI_TABLE_FORMATS, CLI_HELP(OUTPUT, "write one row per item")),
    CLI_OUTPUT_OPTION(review_values, workers, "workers", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    OPTION(TEXT, labels, "labels", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(REAL, accept, "accept", .argument = "P", .fallback = "0", .low = 0, .high = 1,
           CLI_HELP(METHOD, "accept labels with at least this probability, send back the others [off]")),
    CLI_OUTPUT_OPTION(review_values, accepted, "accepted", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "with --accept: write the accepted items")),
    CLI_OUTPUT_OPTION(review_values, send_back, "send-back", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "with --accept: write the other items, the least probable label first")),
    CLI_OUTPUT_OPTION(review_values, causes, "causes", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write for each vote the probability of a slip, another reading, a group's view")),
    OPTION(TEXT, readings, "readings", .argument = "FILE", .names = CLI_NAMES_OUTPUT, .formats = CLI_LABEL_FORMATS,
           CLI_HELP(OUTPUT, "write soft labels without slips")),
    CLI_OUTPUT_OPTION(review_values, camps, "camps", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "test for two camps of annotators, and write the camp of each")),
    CLI_GROUPS_OPTIONS(review_values, groups),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    CLI_TEXTS_OPTIONS(review_values, texts),
    OPTION(LIST, method, "method", .argument = "SPEC", .names = CLI_NAMES_METHOD),
    OPTION(TEXT, combine, "combine", .argument = "SPEC", .names = CLI_NAMES_COMBINER),
    CLI_GOLD_COLUMNS_OPTION(review_values, reading.gold_columns),
    CLI_VOTES_OPTIONS(review_values, reading),
    CLI_SCALE_OPTIONS(review_values, reading),
    CLI_PARTS_OPTIONS(review_values, reading),
    CLI_TABLES_OPTION(review_values, reading),
    CLI_COMMON_OPTIONS(review_values),
};
/* clang-format on */

static bool for_people(const review_values *v)
{
    return !cli_metric_table_format(&v->figures);
}

static dis_status choose(const review_command *job, bool workers, dis_label_plan *out)
{
    return votes_input_select_methods(&job->v->reading, &job->v->method, job->v->combine, workers, out);
}

static int check_options(const review_command *job)
{
    const review_values *v = job->v;
    if ((v->accepted || v->send_back) && !(v->accept > 0))
        return cli_error(job->c, DIS_EUSAGE, "%s needs --accept P", v->accepted ? "--accepted" : "--send-back");
    if (v->groups.group && !v->causes && !v->readings)
        return cli_usage(job->c, "--group needs --causes FILE or --readings FILE");
    int code = cli_metric_table_check(job->c, &v->figures);
    if (code == 0) code = texts_input_check(job->c, &v->texts, true);
    if (code == 0 && cli_is_dash(v->labels))
        return cli_usage(job->c, "--labels is read twice and cannot be standard input; give a file");
    if (code == 0 && v->combine && v->method.n == 1 && !dis_recipe_find(v->method.value[0]))
        return cli_usage(
            job->c,
            "--combine needs several label sets and only one --method is given; add another, or leave --combine out");
    dis_label_plan choice = dis_label_plan_default();
    return code == 0 ? cli_failed(job->c, choose(job, true, &choice)) : code;
}

/* ---- in sentences ---- */

static void print_split(const review_command *job)
{
    const dis_review_view *l = &job->view;
    char number[CLI_NUMBER], other[CLI_NUMBER];
    if (job->v->labels)
        cli_print(job->c, "  %-18s %s of %s items have a label in --labels, %s%s", "reviewed labels",
                  cli_count_format(job->n_labels, number), cli_count_format(l->n_items, other),
                  job->p ? "with its probability" : "with the probability that the default method gives it",
                  job->n_labels < l->n_items ? "; the others have default labels" : "");
    if (job->n_labels_unknown)
        cli_print(job->c, "  %-18s %s labels of other items", "not used",
                  cli_count_format(job->n_labels_unknown, number));
    if (job->v->accept > 0 && l->n_accepted)
        cli_print(job->c, "  %-18s %s items, %.1f %% of their labels are expected to be correct; %s to send back",
                  "accepted", cli_count_format(l->n_accepted, number), 100 * l->expected_accuracy_accepted,
                  cli_count_format(l->n_items - l->n_accepted, other));
    else if (job->v->accept > 0)
        cli_print(job->c, "  %-18s no item: no label has a probability of at least %.6g", "accepted", job->v->accept);
}

static void print_workers(const review_command *job)
{
    const dis_review_view *l = &job->view;
    char number[CLI_NUMBER], other[CLI_NUMBER], weak[CLI_NUMBER], doubtful[CLI_NUMBER], few[CLI_NUMBER + 48] = "";
    if (l->n_without_verdict)
        snprintf(few, sizeof few, "; %s have too few votes to judge", cli_count_format(l->n_without_verdict, number));
    cli_print(job->c, "  %-18s %s of %s to check: %s ignore the items, %s less accurate than others%s", "annotators",
              cli_count_format(l->n_unreliable + l->n_weak, number), cli_count_format(l->n_workers, other),
              cli_count_format(l->n_unreliable, doubtful), cli_count_format(l->n_weak, weak), few);
    if (l->ordinal_workers)
        cli_print(job->c, "  %-18s %s of %s by more than a quarter of a class", "biased",
                  cli_count_format(l->n_biased, number), cli_count_format(l->n_workers, other));
}

static void print_camps(const review_command *job)
{
    const dis_review_camps *camps = job->view.camps;
    if (!job->v->camps) return;
    if (!camps || isnan(camps->p))
        cli_print(job->c, "  %-18s too few votes to tell whether annotators fall into two camps", "camps");
    else if (camps->has_two)
        cli_print(job->c,
                  "  %-18s annotators fall into two camps of %zu and %zu (p = %.2g): two of the same camp agree on "
                  "%.0f %% of their common items, two of different camps on %.0f %%",
                  "camps", camps->n[0], camps->n[1], camps->p, 100 * camps->agreement_within,
                  100 * camps->agreement_across);
    else if (camps->p <= .05)
        cli_print(job->c,
                  "  %-18s annotators differ in more than accuracy (p = %.2g), such as strictness, but do not fall "
                  "into two camps",
                  "camps", camps->p);
    else
        cli_print(job->c, "  %-18s no evidence of two camps of annotators (p = %.2g)", "camps", camps->p);
}

static void print_next_steps(const review_command *job)
{
    static const char *const tables[] = {"--workers", "workers.csv", "--items", "items.csv", NULL};
    static const char *const workers[] = {"--workers", "workers.csv", NULL};
    if (job->v->workers || job->v->accept > 0 || job->v->labels || !job->in.view.start) return;
    if (job->v->figures.output || job->v->items || job->v->budget)
        cli_next_print(job->c, "review", workers, "all annotators with reasons");
    else
        cli_next_print(job->c, "review", tables, "all items and annotators with reasons");
}

static void print_summary(review_command *job)
{
    const dis_review_view *l = &job->view;
    cli *c = job->c;
    char number[CLI_NUMBER], other[CLI_NUMBER];
    votes_input_print(&job->in);
    votes_input_print_gold(&job->in, "with known labels, used to evaluate annotators");
    texts_input_print(c, job->texts);
    if (!job->in.view.start)
        cli_warn(c, "no annotator ids in this input: all votes count as those of one typical annotator, and no "
                    "annotator is evaluated");
    if (l->n_items == 0) return;
    chance_test_print(c, &l->chance);
    if (!isnan(l->expected_accuracy))
        cli_print(c, "  %-18s %.1f %% are expected to be correct%s (%s)", "labels", 100 * l->expected_accuracy,
                  l->chance.verdict == DIS_CHANCE_UNKNOWN ? ", if annotators agree more than chance" : "", l->method);
    if (!isnan(l->typical_accuracy) && !l->ordinal_items)
        cli_print(c, "  %-18s %.1f %% are expected to be correct", "votes", 100 * l->typical_accuracy);
    print_split(job);
    if (job->v->budget && !isnan(l->expected_accuracy_after))
        cli_print(c, "  %-18s %s vote%s assigned: %.1f %% of labels are then expected to be correct",
                  "after the budget", cli_count_format(l->budget_spent, number), cli_plural(l->budget_spent),
                  100 * l->expected_accuracy_after);
    if (l->budget_spent < job->v->budget)
        cli_print(c, "  %-18s %s of %s votes: no further gain is expected before the next review", "not needed",
                  cli_count_format(job->v->budget - l->budget_spent, number), cli_count_format(job->v->budget, other));
    if (job->in.view.start && l->beyond_chance) {
        print_workers(job);
        print_camps(job);
        print_next_steps(job);
    }
}

/* ---- work ---- */

/* How many items are shown where --top leaves it open. */
static size_t n_shown(const review_command *job, bool people)
{
    const dis_review_view *l = &job->view;
    if (job->v->top) return review_rows_limit(l->n_items, job->v->top);
    if (!job->v->budget) return people ? review_rows_limit(l->n_items, REVIEW_TOP) : l->n_items;
    size_t last = 0;
    for (size_t r = 0; r < l->n_items; r++)
        if (l->items[r].votes_to_buy) last = r + 1;
    return last;
}

static int write_all(const review_command *job)
{
    const review_values *v = job->v;
    const bool people = for_people(v);
    const size_t n = n_shown(job, people);
    dis_status status = DIS_OK;
    if (people) {
        if (job->view.beyond_chance) review_items_print(job, n);
        const size_t workers =
            review_rows_limit(job->view.n_unreliable + job->view.n_weak, v->top ? v->top : REVIEW_TOP);
        if (workers) review_workers_print(job, workers);
        if (job->view.n_biased)
            review_biased_print(job, review_rows_limit(job->view.n_biased, v->top ? v->top : REVIEW_TOP));
    } else
        status = review_items_write(job, cli_metric_table_path(&v->figures), cli_metric_table_format(&v->figures), n,
                                    REVIEW_ALL_ITEMS);
    const size_t all = job->view.n_items;
    if (status == DIS_OK && v->items) status = review_items_write(job, v->items, NULL, all, REVIEW_ALL_ITEMS);
    if (status == DIS_OK && v->accepted)
        status = review_items_write(job, v->accepted, NULL, all, REVIEW_ACCEPTED_ITEMS);
    if (status == DIS_OK && v->send_back) status = review_items_write(job, v->send_back, NULL, all, REVIEW_OTHER_ITEMS);
    if (status == DIS_OK && v->workers) status = review_workers_write(job, v->workers);
    if (status == DIS_OK && v->causes) status = review_causes_write(job, v->causes);
    if (status == DIS_OK && v->camps) status = review_camps_write(job, v->camps);
    if (status == DIS_OK && v->readings && job->view.reading_p) {
        dis_labels_view labels = dis_labels_view_default();
        labels.n_items = job->in.view.n_items;
        labels.n_classes = job->in.view.n_classes;
        labels.p = job->view.reading_p;
        labels.tasks = job->in.view.tasks;
        labels.classes = job->in.view.classes;
        status = dis_labels_write(NULL, &labels, v->readings, NULL);
    }
    if (status == DIS_OK && v->figures.json) status = review_json_write(job, v->figures.json);
    if (status != DIS_OK) return cli_failed(job->c, status);
    return cli_flush(job->c);
}

static int review(review_command *job, dis_context *ctx)
{
    const review_values *v = job->v;
    if (v->workers && !job->in.view.start)
        return cli_error(job->c, DIS_EDATA,
                         "--workers: this input has no annotator ids; give one row per vote with a worker column");
    dis_review_options o = dis_review_options_default();
    if (v->method.n || v->combine) {
        const int code = cli_failed(job->c, choose(job, job->in.view.start != NULL, &job->choice));
        if (code != 0) return code;
        o.plan = &job->choice;
    }
    o.p = job->p;
    o.seed = v->figures.seed;
    o.gold = job->in.gold;
    o.budget = v->budget;
    o.order = (dis_review_order)v->by;
    o.labels = job->labels;
    o.accept = v->accept;
    o.causes = v->causes || v->readings;
    o.groups = job->groups.groups;
    o.camps = v->camps != NULL;
    const dis_status status = dis_review_run(ctx, job->in.votes, &o, &job->review);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->view = dis_review_get_view(job->review);
    if (o.causes && !job->view.votes)
        return cli_error(job->c, DIS_EDATA,
                         "votes agree no more than chance: slips and readings cannot be distinguished; leave out "
                         "--causes and --readings");
    return 0;
}

static int read_labels(review_command *job, dis_context *ctx)
{
    const size_t n = job->in.view.n_items;
    job->labels = malloc((n ? n : 1) * sizeof *job->labels);
    if (!job->labels) return cli_error(job->c, DIS_ELIMIT, "no memory for the labels of %zu items", n);
    dis_labels_read_options how = dis_labels_read_options_default();
    how.renormalise = job->v->reading.renormalise;
    const dis_status status =
        dis_votes_read_labels(ctx, job->v->labels, &how, job->in.votes, job->labels, &job->p, &job->n_labels_unknown);
    for (size_t i = 0; status == DIS_OK && i < n; i++) job->n_labels += job->labels[i] >= 0;
    return cli_failed(job->c, status);
}

static int work(review_command *job, dis_context **ctx)
{
    int code = check_options(job);
    job->groups = (groups_input){.c = job->c, .v = &job->v->groups};
    if (code == 0) code = groups_input_check(&job->groups);
    if (code == 0) code = votes_input_check(&job->in);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &job->v->common, ctx));
    if (code == 0) code = votes_input_read(&job->in, *ctx);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, *ctx, job->v->gold);
    if (code == 0) code = texts_input_read(job->c, *ctx, &job->v->texts, &job->in, job->in.view.tasks, &job->texts);
    if (code == 0 && job->v->labels) code = read_labels(job, *ctx);
    if (code == 0) code = groups_input_read(&job->groups, *ctx, job->in.votes);
    if (code == 0) code = review(job, *ctx);
    if (code != 0) return code;
    print_summary(job);
    return dis_context_rank(*ctx) == 0 ? write_all(job) : 0;
}

extern const cli_command cli_cmd_review;

/* Votes whose labels are not distribution over classes. */
static int run_scaled(cli *c, const review_values *v, char **operands, size_t n_operands)
{
    const scaled_unused unused[] = {{v->gold, "gold"},
                                    {v->labels, "labels"},
                                    {v->accept > 0, "accept"},
                                    {v->budget, "budget"},
                                    {v->by != DIS_REVIEW_BY_DEFAULT, "by"},
                                    {v->combine, "combine"},
                                    {v->causes, "causes"},
                                    {v->camps, "camps"},
                                    {v->readings, "readings"},
                                    {v->groups.group, "group"},
                                    {v->texts.path, "texts"},
                                    {v->texts.text.n > 0, "text"}};
    const int code = cli_metric_table_check(c, &v->figures);
    if (code != 0) return code;
    scaled_command job = {.c = c,
                          .command = &cli_cmd_review,
                          .common = &v->common,
                          .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands},
                          .method = &v->method,
                          .seed = v->figures.seed,
                          .table = "items",
                          .output = v->figures.output,
                          .format = cli_metric_table_format(&v->figures),
                          .people = !cli_metric_table_format(&v->figures),
                          .items = v->items,
                          .workers = v->workers,
                          .json = v->figures.json,
                          .top = v->top,
                          .unused = unused,
                          .n_unused = sizeof unused / sizeof *unused};
    return scaled_command_run(&job);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const review_values *v = values;
    if (votes_input_is_scaled(&v->reading)) return run_scaled(c, v, operands, n_operands);
    review_command job = {.c = c, .v = v, .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands}};
    dis_context *ctx = NULL;
    c->replicates_data = true;
    int code = work(&job, &ctx);
    code = cli_ranks_end(c, ctx, code);
    dis_review_destroy(job.review);
    dis_names_destroy(job.texts);
    groups_input_free(&job.groups);
    free(job.labels);
    dis_free(job.p);
    votes_input_free(&job.in);
    dis_context_destroy(ctx);
    return code;
}

const cli_command cli_cmd_review = {
    .name = "review",
    .section = CLI_CHECK,
    .summary = "find items to relabel and annotators to check, with reasons",
    .operands = "VOTES...",
    .text =
        "Ranks items by the probability that their label is wrong, and annotators by the evidence that they ignore "
        "the items. Each row gives the reason. If votes agree no more than chance, review reports this and gives "
        "no verdict on labels or annotators.\n"
        "\n"
        "Columns of items:\n"
        "- label, correct: the label that dissent labels writes, and its probability (p_correct in files); with "
        "--labels, both come from "
        "that file\n"
        "- gain: expected decrease in entropy (nats) from another vote of a typical annotator\n"
        "- surprise: how unexpected the votes are for these annotators, in standard deviations; at 2 or more, the item "
        "may be unclear\n"
        "- p_hard (in files): probability that the item is harder than most\n"
        "\n"
        "Columns of annotators:\n"
        "- evidence: log10 Bayes factor that the annotator ignores the items; above 1, the annotator is flagged "
        "(above a larger value, if few annotators ignore the items)\n"
        "- quality: probability that a vote is correct, with a 95 % interval that allows for shared errors\n"
        "- weak: the annotator agrees with others less than they agree on the same items, at a false discovery "
        "rate of 5 %\n"
        "- gold_accuracy: with --gold, accuracy on known labels\n"
        "\n"
        "Items that no one else voted on say nothing about an annotator and are left out. Items with known labels "
        "are not relabelled.\n"
        "\n"
        "With --scale ordinal, labels come from the method ordinal, and annotators have a bias, a spread and a "
        "share of random votes.\n"
        "\n"
        "With --camps FILE, a test tells whether annotators fall into two camps that read items differently. The camps "
        "are found on one half of the items and tested on the other.\n"
        "\n"
        "With --accept P, items are split into those with a label of at least that probability and those to send "
        "back. With --budget N, votes are assigned to items one by one, each to the item with the largest expected "
        "gain. Run review again when the votes have come in.",
    .examples = "  dissent review votes.csv\n"
                "  dissent review votes.csv --budget 500 -o buy.csv --workers workers.csv\n"
                "  dissent review votes.csv --accept .9 --accepted good.csv --send-back again.csv\n"
                "  dissent review votes.csv --top 50 --gold known.csv -o for_the_expert.csv\n",
    .basic = "preset|task,worker,label|gold|texts|budget|accept|output|workers|send-back|quiet",
    .methods = true,
    .combiners = true,
    .ranks = true,
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(review_values),
    .run = run,
};
