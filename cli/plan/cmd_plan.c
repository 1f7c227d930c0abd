/* dissent plan: how many items, annotators and votes a study needs. */
#include "tool/table_writer.h"
#include "core/cli.h"
#include "input/voters_input.h"
#include "output/json_summary.h"
#include "output/result_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 64, SENTENCE = 400 };

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_voters_values voters;
    const char *metric, *gold, *judge, *second_judge, *class_name;
    double value, kappa, spread, discordant, judge_kappa;
    uint64_t n_classes, max_items, seed;
    const char *items, *annotators, *votes_per_item;
    double effect, power, half_width, min_accuracy, budget;
    double vote_cost, item_cost, annotator_cost, judge_cost;
    const char *output, *json, *page;
} plan_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(plan_values, kind, field, name, __VA_ARGS__)
#define FIGURE(field, name, high_, group, text)                                                               \
    OPTION(REAL, field, name, .argument = "X", .fallback = "none", .none = "none", .low = 0, .high = (high_), \
           CLI_HELP(group, text))
#define COST(field, name, usual, text) \
    OPTION(REAL, field, name, .argument = "X", .fallback = usual, .low = 0, .high = 1e12, CLI_HELP(METHOD, text))

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, metric, "metric", .argument = "NAME", .fallback = "labels",
           CLI_HELP(METHOD, "labels, alpha, kappa, percent, judge, difference or share")),
    FIGURE(effect, "effect", 2, METHOD, "smallest difference that the study should detect"),
    OPTION(REAL, power, "power", .argument = "X", .fallback = ".8", .low = .05, .high = .9999,
           CLI_HELP(METHOD, "probability of detecting --effect")),
    FIGURE(half_width, "half-width", 1, METHOD, "desired half width of the 95 % interval"),
    FIGURE(min_accuracy, "min-accuracy", 1, METHOD, "labels: required accuracy of the labels"),
    OPTION(TEXT, items, "items", .argument = "N,...", .fallback = "50,100,200,400,800,1600",
           CLI_HELP(METHOD, "numbers of items in the table")),
    OPTION(TEXT, annotators, "annotators", .argument = "N,...", .fallback = "5,8,12,20,30,50,100",
           CLI_HELP(METHOD, "possible numbers of annotators")),
    OPTION(TEXT, votes_per_item, "votes-per-item", .argument = "N,...", .fallback = "1,2,3,5,7,10",
           CLI_HELP(METHOD, "possible numbers of votes per item")),
    OPTION(COUNT, max_items, "max-items", .argument = "N", .fallback = "0", .none = "unlimited", .high = 10000000,
           CLI_HELP(METHOD, "number of items that are available")),
    FIGURE(budget, "budget", 1e15, METHOD, "maximum cost of the study"),
    COST(vote_cost, "vote-cost", "1", "cost of a vote"),
    COST(item_cost, "item-cost", "0", "cost of an item, in addition to its votes"),
    COST(annotator_cost, "annotator-cost", "0", "cost of an annotator, e.g. of training"),
    COST(judge_cost, "judge-cost", ".01", "share: cost of an answer of the judge"),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0"),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE, CLI_SHARED_HELP),
    CLI_GOLD_COLUMNS_OPTION(plan_values, reading.gold_columns),
    OPTION(TEXT, judge, "judge", .argument = "NAME",
           CLI_HELP(GROUPS, "annotator id of the judge; without --voter-type and --people, all others are people")),
    OPTION(TEXT, second_judge, "second-judge", .argument = "NAME", CLI_HELP(GROUPS, "difference: annotator id of the second judge")),
    CLI_VOTER_TYPE_OPTIONS(plan_values, voters),
    CLI_VOTER_TABLE_OPTIONS(plan_values, voters),
    OPTION(TEXT, class_name, "class-name", .argument = "CLASS", CLI_HELP(INPUT, "share: the class [the first one]")),
    FIGURE(value, "value", 1, STATISTICS, "expected value; labels: accuracy of a single vote"),
    FIGURE(kappa, "kappa", 1, STATISTICS, "chance-corrected agreement of two people"),
    FIGURE(spread, "spread", .5, STATISTICS, "standard deviation of the value over annotators [.05]"),
    FIGURE(discordant, "discordant", 1, STATISTICS, "difference: share of votes that equal the answer of one judge only"),
    FIGURE(judge_kappa, "judge-kappa", 1, STATISTICS, "share: kappa of the judge and a person"),
    OPTION(COUNT, n_classes, "n-classes", .argument = "N", .fallback = "2", .low = 2, .high = 64,
           CLI_HELP(STATISTICS, "number of classes")),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT, .formats = CLI_TABLE_FORMATS,
           CLI_HELP(OUTPUT, "write one row per design (items, annotators, votes per item)")),
    OPTION(TEXT, page, "page", .argument = "FILE", .names = CLI_NAMES_OUTPUT, CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(plan_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_VOTES_OPTIONS(plan_values, reading),
    CLI_COMMON_OPTIONS(plan_values),
};
/* clang-format on */

typedef struct {
    cli *c;
    const plan_values *v;
    dis_context *ctx;
    votes_input in;
    voters_input voters;
    bool *person;
    size_t items[MAX_LIST], annotators[MAX_LIST], votes_per_item[MAX_LIST];
    dis_study_options o;
    dis_study_design *rows;
    dis_study_plan plan;
} plan_command;

/* ---- options ---- */

static int parse_list(cli *c, const char *option, const char *text, size_t list[MAX_LIST], size_t *n)
{
    *n = 0;
    for (const char *at = text;; at++) {
        char *end;
        const unsigned long long x = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
        if (x == 0 || (*end && *end != ','))
            return cli_usage(c, "--%s: \"%.60s\" is not a list of numbers such as 100,200,400", option, text);
        if (*n == MAX_LIST) return cli_usage(c, "--%s: more than %d numbers", option, MAX_LIST);
        list[(*n)++] = (size_t)x;
        at = end;
        if (!*at) return 0;
    }
}

static int parse_options(plan_command *job)
{
    const plan_values *v = job->v;
    dis_study_options *o = &job->o;
    *o = dis_study_options_default();
    int code = parse_list(job->c, "items", v->items, job->items, &o->n_items);
    if (code == 0) code = parse_list(job->c, "annotators", v->annotators, job->annotators, &o->n_annotators);
    if (code == 0)
        code = parse_list(job->c, "votes-per-item", v->votes_per_item, job->votes_per_item, &o->n_votes_per_item);
    o->items = job->items;
    o->annotators = job->annotators;
    o->votes_per_item = job->votes_per_item;
    o->metric = v->metric;
    o->judge = v->judge;
    o->second_judge = v->second_judge;
    o->class_name = v->class_name;
    o->figures = (dis_study_figures){.value = v->value,
                                     .kappa = v->kappa,
                                     .spread = v->spread,
                                     .discordant = v->discordant,
                                     .judge_kappa = v->judge_kappa,
                                     .n_classes = (size_t)v->n_classes};
    o->effect = v->effect;
    o->power = v->power;
    o->half_width = v->half_width;
    o->min_accuracy = v->min_accuracy;
    o->budget = v->budget;
    o->max_items = (size_t)v->max_items;
    o->vote_cost = v->vote_cost;
    o->item_cost = v->item_cost;
    o->annotator_cost = v->annotator_cost;
    o->judge_cost = v->judge_cost;
    o->seed = v->seed;
    return code;
}

static int check_options(const plan_command *job, size_t n_operands)
{
    const plan_values *v = job->v;
    const struct {
        const char *name;
        bool given;
    } stated[] = {{"value", !isnan(v->value)},
                  {"kappa", !isnan(v->kappa)},
                  {"spread", !isnan(v->spread)},
                  {"discordant", !isnan(v->discordant)},
                  {"judge-kappa", !isnan(v->judge_kappa)}},
      of_votes[] = {{"gold", v->gold != NULL},
                    {"judge", v->judge != NULL},
                    {"second-judge", v->second_judge != NULL},
                    {"class-name", v->class_name != NULL},
                    {"voter-type", voters_input_is_given(&v->voters)}};
    for (size_t i = 0; n_operands && i < sizeof stated / sizeof *stated; i++)
        if (stated[i].given)
            return cli_usage(job->c, "--%s is for plans without a pilot; leave out VOTES", stated[i].name);
    for (size_t i = 0; !n_operands && i < sizeof of_votes / sizeof *of_votes; i++)
        if (of_votes[i].given)
            return cli_usage(job->c, "--%s is about the votes of a pilot; give VOTES", of_votes[i].name);
    return n_operands ? 0 : votes_input_check_unused(job->c, &v->reading, "give VOTES");
}

/* ---- votes ---- */

/* Without --voter-type and --people, everyone but --judge and --second-judge is a person. */
static int mark_people(plan_command *job)
{
    const plan_values *v = job->v;
    const size_t n = job->in.view.n_workers;
    const char *const judges[] = {v->judge, v->second_judge};
    static const char *const names[] = {"judge", "second-judge"};
    if (voters_input_is_given(&v->voters)) {
        const int code = voters_input_read(&job->voters, job->ctx, &job->in);
        job->person = job->voters.person;
        return code;
    }
    job->person = job->voters.person = malloc((n ? n : 1) * sizeof *job->person);
    if (!job->person) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu annotators", n);
    for (size_t w = 0; w < n; w++) job->person[w] = true;
    for (size_t j = 0; j < 2; j++) {
        size_t w = 0;
        while (judges[j] && w < n && strcmp(dis_names_get(job->in.view.workers, w, NULL), judges[j]) != 0) w++;
        if (judges[j] && w == n) return cli_usage(job->c, "--%s: no annotator is called \"%s\"", names[j], judges[j]);
        if (judges[j]) job->person[w] = false;
    }
    return 0;
}

static int read_votes(plan_command *job)
{
    int code = votes_input_check(&job->in);
    if (code == 0) code = votes_input_read(&job->in, job->ctx);
    if (code == 0 && job->in.view.n_workers) code = mark_people(job);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, job->ctx, job->v->gold);
    job->o.votes = job->in.votes;
    job->o.people = job->person;
    job->o.gold = job->v->gold ? job->in.gold : NULL;
    return code;
}

/* ---- text ---- */

static const dis_study_design *row_at(const plan_command *job, size_t i, size_t a, size_t m)
{
    return &job->rows[(i * job->o.n_annotators + a) * job->o.n_votes_per_item + m];
}

/* The annotators of the table: those of the answer, else the list's nearest to the pilot's, else its middle. */
static size_t shown_annotators(const plan_command *job)
{
    const dis_study_options *o = &job->o;
    const dis_study_plan *p = &job->plan;
    const double wanted = p->has_best ? (double)p->best.annotators : p->effective_annotators;
    size_t best = o->n_annotators / 2;
    for (size_t a = 0; wanted > 0 && a < o->n_annotators; a++)
        if (fabs((double)o->annotators[a] - wanted) < fabs((double)o->annotators[best] - wanted)) best = a;
    return best;
}

static void print_source(const plan_command *job)
{
    const dis_study_plan *p = &job->plan;
    const dis_study_variances *v = &p->variances;
    const double all = v->items + v->annotators + v->votes + v->pairs;
    char items[CLI_NUMBER], votes[CLI_NUMBER];
    if (job->in.votes)
        printf("Pilot: %s items, %s votes of %llu people, who weigh as much as %.1f with equal shares\n",
               cli_count_format(p->n_items, items), cli_count_format(p->n_votes, votes),
               (unsigned long long)p->n_annotators, p->effective_annotators);
    printf("Metric %s: %.3f%s\n", job->v->metric, p->value, p->metric == DIS_STUDY_LABELS ? " for single votes" : "");
    printf("Variance: items %.0f %%, annotators %.0f %%, votes %.0f %%\n", 100 * v->items / all,
           100 * v->annotators / all, 100 * (v->votes + v->pairs) / all);
}

static void print_grid(const plan_command *job)
{
    const dis_study_options *o = &job->o;
    const size_t a = shown_annotators(job);
    const bool power = !isnan(o->effect);
    printf("\nHalf width of the 95 %% interval%s with %zu annotators\n%8s", power ? " (power)" : "", o->annotators[a],
           "items");
    for (size_t m = 0; m < o->n_votes_per_item; m++)
        printf("  %3zu vote%s%*s", o->votes_per_item[m], o->votes_per_item[m] == 1 ? " " : "s", power ? 4 : 0, "");
    if (job->plan.metric == DIS_STUDY_LABELS) {
        printf("\n%8s", "accuracy");
        for (size_t m = 0; m < o->n_votes_per_item; m++)
            printf("  %9.3f%*s", row_at(job, 0, a, m)->value, power ? 4 : 0, "");
    }
    putchar('\n');
    for (size_t i = 0; i < o->n_items; i++) {
        printf("%8zu", o->items[i]);
        for (size_t m = 0; m < o->n_votes_per_item; m++) {
            const dis_study_design *r = row_at(job, i, a, m);
            if (isnan(r->half_width))
                printf("  %9s%*s", "-", power ? 4 : 0, "");
            else if (power)
                printf("  %6.3f (%.2f)", r->half_width, r->power);
            else
                printf("  %9.3f", r->half_width);
        }
        putchar('\n');
    }
}

static void print_answer(const plan_command *job)
{
    const dis_study_options *o = &job->o;
    const dis_study_plan *p = &job->plan;
    const dis_study_design *r = &p->best;
    char items[CLI_NUMBER], votes[CLI_NUMBER];
    if (isnan(o->effect) && isnan(o->half_width)) return;
    if (!p->has_best) {
        printf("\nNo design reaches the target: %s.\n", p->reason);
        return;
    }
    printf("\nYou need %s items with %zu vote%s each by at least %zu annotators (%s votes, cost %.6g)",
           cli_count_format(r->items, items), r->votes_per_item, cli_plural(r->votes_per_item), r->annotators,
           cli_count_format((uint64_t)r->items * r->votes_per_item, votes), r->cost);
    if (!isnan(o->effect)) printf("\nto detect a difference of %.6g with power %.6g", o->effect, o->power);
    if (!isnan(o->half_width))
        printf("%s an interval of +-%.6g", isnan(o->effect) ? "\nfor" : " and for", o->half_width);
    if (!isnan(o->min_accuracy)) printf(", with labels that are correct for %.3f of the items", r->value);
    puts(".");
    if (job->in.votes && p->items_high > p->items_low) {
        printf("If the variances are one standard error lower or higher than in the pilot: %s",
               cli_count_format((uint64_t)p->items_low, items));
        if (isinf(p->items_high))
            puts(" items, or more annotators.");
        else
            printf(" to %s items.\n", cli_count_format((uint64_t)p->items_high, items));
    }
}

static void print_split(const plan_command *job)
{
    const dis_study_split *s = &job->plan.split;
    char people[CLI_NUMBER], judge[CLI_NUMBER], alone[CLI_NUMBER];
    if (!job->plan.has_split) return;
    printf("\nPeople and a judge, for a cost of %.6g:\n", s->cost);
    printf("  people label %s items with %zu vote%s each, the judge these and %s more: +-%.4f\n",
           cli_count_format(s->n_people, people), s->votes_per_item, cli_plural(s->votes_per_item),
           cli_count_format(s->n_judge, judge), s->half_width);
    printf("  people alone, %s items: +-%.4f\n", cli_count_format(s->n_people_only, alone), s->half_width_people);
}

/* ---- files ---- */

static dis_status write_table(const plan_command *job)
{
    static const char *const columns[] = {"items", "annotators", "votes_per_item", "value", "half_width",
                                          "power", "cost"};
    const dis_study_options *o = &job->o;
    dis__table_writer *t;
    const dis_status status =
        dis__table_writer_create(job->v->output, NULL, columns, sizeof columns / sizeof *columns, &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < o->n_items * o->n_annotators * o->n_votes_per_item; r++) {
        const dis_study_design *x = &job->rows[r];
        if (isnan(x->half_width)) continue;
        dis__table_writer_count(t, x->items);
        dis__table_writer_count(t, x->annotators);
        dis__table_writer_count(t, x->votes_per_item);
        dis__table_writer_real(t, x->value);
        dis__table_writer_real(t, x->half_width);
        dis__table_writer_real(t, x->power);
        dis__table_writer_real(t, x->cost);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static void put_row(dis__json_writer *j, const dis_study_design *r)
{
    dis__json_writer_begin_object(j);
    cli_json_write_count(j, "items", r->items);
    cli_json_write_count(j, "annotators", r->annotators);
    cli_json_write_count(j, "votes_per_item", r->votes_per_item);
    cli_json_write_real(j, "value", r->value);
    cli_json_write_real(j, "half_width", r->half_width);
    cli_json_write_real(j, "power", r->power);
    cli_json_write_real(j, "cost", r->cost);
    dis__json_writer_end_object(j);
}

static void put_pilot(const plan_command *job, dis__json_writer *j)
{
    const dis_study_plan *p = &job->plan;
    dis__json_writer_key(j, "pilot");
    dis__json_writer_begin_object(j);
    cli_json_write_count(j, "items", p->n_items);
    cli_json_write_count(j, "annotators", p->n_annotators);
    cli_json_write_real(j, "effective_annotators", p->effective_annotators);
    cli_json_write_count(j, "votes", p->n_votes);
    dis__json_writer_end_object(j);
}

static void put_variances(const dis_study_variances *v, dis__json_writer *j)
{
    dis__json_writer_key(j, "variances");
    dis__json_writer_begin_object(j);
    cli_json_write_real(j, "items", v->items);
    cli_json_write_real(j, "annotators", v->annotators);
    cli_json_write_real(j, "votes", v->votes);
    cli_json_write_real(j, "pairs", v->pairs);
    cli_json_write_real(j, "items_error", v->items_error);
    cli_json_write_real(j, "annotators_error", v->annotators_error);
    dis__json_writer_end_object(j);
}

static void put_answer(const plan_command *job, dis__json_writer *j)
{
    const dis_study_plan *p = &job->plan;
    dis__json_writer_key(j, "answer");
    if (p->has_best)
        put_row(j, &p->best);
    else
        dis__json_writer_null(j);
    cli_json_write_text(j, "reason", p->reason);
    if (p->has_best && job->in.votes) {
        cli_json_write_real(j, "items_low", p->items_low);
        cli_json_write_real(j, "items_high", p->items_high);
    }
    if (!p->has_split) return;
    dis__json_writer_key(j, "split");
    dis__json_writer_begin_object(j);
    cli_json_write_count(j, "people_items", p->split.n_people);
    cli_json_write_count(j, "judge_items", p->split.n_judge);
    cli_json_write_count(j, "votes_per_item", p->split.votes_per_item);
    cli_json_write_real(j, "half_width", p->split.half_width);
    cli_json_write_real(j, "cost", p->split.cost);
    cli_json_write_count(j, "people_items_only", p->split.n_people_only);
    cli_json_write_real(j, "half_width_people", p->split.half_width_people);
    dis__json_writer_end_object(j);
}

static dis_status write_json(const plan_command *job)
{
    dis__json_writer *j;
    dis_status status = cli_summary_open(job->v->json, "plan", &job->v->seed, &j);
    if (status != DIS_OK) return status;
    if (job->in.votes) {
        cli_inputs_begin(j);
        status = votes_input_write_json_files(&job->in, j);
        if (status == DIS_OK && job->v->gold) status = cli_input_write(j, job->v->gold, "gold");
        cli_inputs_end(j);
    }
    cli_json_write_text(j, "metric", job->v->metric);
    cli_json_write_real(j, "value", job->plan.value);
    if (job->in.votes) put_pilot(job, j);
    put_variances(&job->plan.variances, j);
    put_answer(job, j);
    dis__json_writer_key(j, "designs");
    dis__json_writer_begin_array(j);
    for (size_t r = 0; r < job->o.n_items * job->o.n_annotators * job->o.n_votes_per_item; r++)
        if (!isnan(job->rows[r].half_width)) put_row(j, &job->rows[r]);
    dis__json_writer_end_array(j);
    return cli_summary_close(j, status);
}

/* ---- all ---- */

static int finish(plan_command *job)
{
    const plan_values *v = job->v;
    int code = 0;
    if (job->in.votes) votes_input_print(&job->in);
    if (v->output) code = cli_failed(job->c, write_table(job));
    if (code == 0 && v->json) code = cli_failed(job->c, write_json(job));
    if (code == 0 && v->page) code = cli_failed(job->c, dis_study_write_page(&job->o, job->rows, &job->plan, v->page));
    if (code != 0 || cli_is_dash(v->output) || cli_is_dash(v->json)) return code;
    print_source(job);
    print_grid(job);
    print_answer(job);
    print_split(job);
    return cli_flush(job->c);
}

static int act(plan_command *job, size_t n_operands)
{
    int code = parse_options(job);
    if (code == 0) code = check_options(job, n_operands);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &job->v->common, &job->ctx));
    if (code == 0 && n_operands) code = read_votes(job);
    if (code != 0) return code;
    job->rows = calloc(job->o.n_items * job->o.n_annotators * job->o.n_votes_per_item, sizeof *job->rows);
    if (!job->rows) return cli_error(job->c, DIS_ELIMIT, "no memory for the table of designs");
    code = cli_failed(job->c, dis_study_predict(&job->o, job->rows, &job->plan));
    return code == 0 ? finish(job) : code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const plan_values *v = values;
    plan_command job = {.c = c, .v = v, .plan = dis_study_plan_default()};
    job.in = (votes_input){.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands};
    job.voters = (voters_input){.c = c, .v = &v->voters};
    const int code = act(&job, n_operands);
    free(job.rows);
    voters_input_free(&job.voters);
    votes_input_free(&job.in);
    dis_context_destroy(job.ctx);
    return code;
}

extern const cli_command cli_cmd_plan;
const cli_command cli_cmd_plan = {
    .name = "plan",
    .section = CLI_CHECK,
    .summary = "plan a study: how many items, annotators and votes it needs",
    .operands = "[VOTES...]",
    .text = "Predicts the 95 % interval and the power of a study from the votes of a pilot, or from stated figures "
            "(--value, --kappa, ...). Intervals hold for new items and new annotators. Metrics:\n"
            "- labels: accuracy of majority labels, against --gold or against the label that many votes would give\n"
            "- alpha, kappa, percent: agreement of people (Krippendorff, Fleiss, share of equal pairs)\n"
            "- judge: share of people's votes that equal the answer of --judge, a model or LLM judge\n"
            "- difference: the same of --judge minus that of --second-judge\n"
            "- share: share of a class; with --judge also the best split of the budget between people and the judge\n\n"
            "With --effect or --half-width, the command prints the cheapest design that reaches the target.",
    .examples = "  dissent plan pilot.csv --metric alpha --half-width .05\n"
                "  dissent plan pilot.csv --metric difference --judge gpt --second-judge claude --effect .03\n"
                "  dissent plan --metric judge --value .8 --kappa .5 --half-width .03\n",
    .basic = "metric|effect|power|half-width|judge|second-judge|gold|budget|output|json",
    .names = CLI_NAMES_FILE,
    .min = 0,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(plan_values),
    .run = run,
};
