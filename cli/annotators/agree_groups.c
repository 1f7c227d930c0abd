/* dissent agree by groups of people: within them, between them, and the items that divide them. */
#include "tool/json_writer.h"
#include "annotators/cmd_agree.h"
#include "output/result_rows.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { SHOWN_DIVIDED = 5, SHOWN_PAIRS = 10, NAME_WIDTH = 30, PAIR_WIDTH = 54 };

int agree_groups_check(agree_command *job)
{
    const agree_values *v = job->v;
    const char *option = v->group_table   ? "group-table"
                         : v->group_pairs ? "group-pairs"
                         : v->divided     ? "divided"
                                          : NULL;
    if (option && !v->groups.group)
        return cli_usage(job->c, "--%s needs groups of annotators; add --worker-table and --group", option);
    return groups_input_check(&job->groups);
}

int agree_groups_compute(agree_command *job, dis_context *ctx)
{
    const agree_values *v = job->v;
    if (!job->groups.groups) return 0;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.ordinal = votes_input_is_ordered(&v->reading);
    o.items = true;
    o.resamples = (size_t)v->figures.resamples;
    o.permutations = (size_t)v->permutations;
    o.seed = v->figures.seed;
    o.interval_scope = (dis_interval_scope)v->over;
    const dis_status status = dis_group_agreement_run(ctx, job->in.votes, job->groups.groups, &o, &job->of_groups);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->between = dis_group_agreement_get_view(job->of_groups);
    return 0;
}

/* ---- rows ---- */

static const char *group_name(const void *user, const cli_field *field, size_t g)
{
    (void)field;
    return dis_names_get(((const agree_command *)user)->groups.view.names, g, NULL);
}

static cli_rows rows_of_groups(const agree_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("group"),
        CLI_FIELD(dis_group_row, COUNT, workers),
        CLI_FIELD(dis_group_row, COUNT, votes),
        CLI_FIELD_AS(dis_group_row, COUNT, "items", within.n),
        CLI_FIELD(dis_group_row, METRIC, percent),
        CLI_FIELD(dis_group_row, METRIC, within),
        CLI_FIELD(dis_group_row, METRIC, across),
        CLI_FIELD_AS(dis_group_row, METRIC, "index", association_index),
        CLI_FIELD(dis_group_row, REAL, p_within),
        CLI_FIELD(dis_group_row, REAL, q_within),
        CLI_FIELD(dis_group_row, REAL, p_across),
        CLI_FIELD(dis_group_row, REAL, q_across),
        CLI_FIELD_AS(dis_group_row, REAL, "p_index", p_association_index),
        CLI_FIELD_AS(dis_group_row, REAL, "q_index", q_association_index),
    };
    return (cli_rows){.field = fields,
                      .n_fields = N(fields),
                      .row = job->between.groups,
                      .n_rows = job->between.n_groups,
                      .row_size = sizeof *job->between.groups,
                      .text = group_name,
                      .user = job};
}

static const char *pair_name(const void *user, const cli_field *field, size_t p)
{
    const agree_command *job = user;
    const dis_group_pair *x = &job->between.pairs[p];
    return dis_names_get(job->groups.view.names, strcmp(field->name, "group_a") == 0 ? x->a : x->b, NULL);
}

static cli_rows rows_of_pairs(const agree_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("group_a"),
        CLI_NAME_FIELD("group_b"),
        CLI_FIELD_AS(dis_group_pair, COUNT, "items", across.n),
        CLI_FIELD(dis_group_pair, METRIC, percent),
        CLI_FIELD(dis_group_pair, METRIC, across),
        CLI_FIELD(dis_group_pair, REAL, p),
        CLI_FIELD(dis_group_pair, REAL, q),
        CLI_FIELD(dis_group_pair, METRIC, difference),
        CLI_FIELD(dis_group_pair, REAL, p_difference),
        CLI_FIELD(dis_group_pair, REAL, q_difference),
    };
    return (cli_rows){.field = fields,
                      .n_fields = N(fields),
                      .row = job->between.pairs,
                      .n_rows = job->between.n_pairs,
                      .row_size = sizeof *job->between.pairs,
                      .text = pair_name,
                      .user = job};
}

static const char *divided_name(const void *user, const cli_field *field, size_t i)
{
    const agree_command *job = user;
    const dis_group_item *x = &job->between.items[i];
    const dis_names *groups = job->groups.view.names, *classes = job->in.view.classes;
    const struct {
        const char *name;
        const dis_names *names;
        size_t i;
    } row[] = {{"task", job->in.view.tasks, x->item},
               {"group_a", groups, x->a},
               {"group_b", groups, x->b},
               {"label_a", classes, x->majority_class_a},
               {"label_b", classes, x->majority_class_b}};
    size_t k = 0;
    while (strcmp(row[k].name, field->name) != 0) k++;
    return dis_names_get(row[k].names, row[k].i, NULL);
}

static cli_rows rows_of_divided(const agree_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("task"),
        CLI_NAME_FIELD("group_a"),
        CLI_NAME_FIELD("group_b"),
        CLI_FIELD(dis_group_item, SMALL, votes_a),
        CLI_FIELD(dis_group_item, SMALL, votes_b),
        CLI_NAME_FIELD("label_a"),
        CLI_NAME_FIELD("label_b"),
        CLI_FIELD(dis_group_item, REAL, distance),
        CLI_FIELD(dis_group_item, REAL, p),
        CLI_FIELD(dis_group_item, REAL, q),
    };
    return (cli_rows){.field = fields,
                      .n_fields = N(fields),
                      .row = job->between.items,
                      .n_rows = job->between.n_items,
                      .row_size = sizeof *job->between.items,
                      .text = divided_name,
                      .user = job};
}

dis_status agree_groups_write(const agree_command *job)
{
    const struct {
        const char *path;
        cli_rows rows;
    } table[] = {{job->v->group_table, rows_of_groups(job)},
                 {job->v->group_pairs, rows_of_pairs(job)},
                 {job->v->divided, rows_of_divided(job)}};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < N(table) && status == DIS_OK; i++)
        if (table[i].path) status = cli_rows_write(&table[i].rows, table[i].path, NULL);
    return status;
}

void agree_groups_write_json(const agree_command *job, dis__json_writer *j)
{
    if (!job->of_groups) return;
    const cli_rows groups = rows_of_groups(job), pairs = rows_of_pairs(job);
    dis__json_writer_key(j, "groups");
    dis__json_writer_begin_object(j);
    groups_input_write_json(&job->groups, j);
    cli_json_write_count(j, "permutations", job->v->permutations);
    cli_json_write_text(j, "intervals_over", dis_interval_scope_name(job->between.interval_scope));
    dis__json_writer_key(j, "apart");
    dis__json_writer_metric(j, &job->between.separation);
    cli_json_write_real(j, "p_apart", job->between.p_separation);
    cli_rows_write_json(&groups, j, "by_group");
    cli_rows_write_json(&pairs, j, "pairs");
    cli_json_write_count(j, "items_compared", job->between.n_items);
    dis__json_writer_end_object(j);
}

/* ---- for people ---- */

static int figure_width(const agree_command *job)
{
    return job->v->figures.resamples ? 24 : 8;
}

static void print_table(const agree_command *job)
{
    const int width = figure_width(job);
    char safe[CLI_SAFE], number[CLI_NUMBER], votes[CLI_NUMBER];
    snprintf(safe, sizeof safe, "Within groups, by ");
    cli_text_escape(job->v->groups.group, safe + strlen(safe), NAME_WIDTH - strlen(safe));
    printf("\n%-*s %8s %9s  %-*s%-*s%-*s%s\n", NAME_WIDTH, safe, "workers", "votes", width, "within", width, "across",
           width, "index", "q");
    for (size_t g = 0; g < job->between.n_groups; g++) {
        const dis_group_row *x = &job->between.groups[g];
        cli_text_escape(dis_names_get(job->groups.view.names, g, NULL), safe, NAME_WIDTH - 1);
        printf("  %-*s %8s %9s  ", NAME_WIDTH - 2, safe, cli_count_format(x->workers, number),
               cli_count_format(x->votes, votes));
        cli_metric_print(&x->within, width);
        cli_metric_print(&x->across, width);
        cli_metric_print(&x->association_index, width);
        cli_p_value_print(x->q_association_index, "\n");
    }
}

/* Groups that are too small are named nowhere. */
static void print_hidden(const agree_command *job)
{
    const dis_worker_groups_view *g = &job->groups.view;
    char people[CLI_NUMBER];
    if (g->n_merged)
        printf("  %zu groups of fewer than %zu people are merged into \"other\"\n", (size_t)g->n_merged,
               (size_t)g->min_group);
    if (g->n_hidden)
        printf("  %zu group%s of fewer than %zu people hidden (%s worker%s): nothing is computed from their votes\n",
               (size_t)g->n_hidden, cli_plural(g->n_hidden), (size_t)g->min_group,
               cli_count_format(g->n_hidden_workers, people), cli_plural(g->n_hidden_workers));
}

/* With two groups the table above has said most of it. */
static void print_pairs(const agree_command *job)
{
    const dis_group_agreement_view *b = &job->between;
    const size_t shown = b->n_pairs < SHOWN_PAIRS ? b->n_pairs : SHOWN_PAIRS;
    const int width = figure_width(job);
    char line[2 * CLI_SAFE + 8], one[CLI_SAFE], two[CLI_SAFE], items[CLI_NUMBER];
    if (b->n_pairs == 1 && !b->pairs->difference.reason) {
        cli_text_escape(dis_names_get(job->groups.view.names, b->pairs->a, NULL), one, 26);
        cli_text_escape(dis_names_get(job->groups.view.names, b->pairs->b, NULL), two, 26);
        printf("\nWithin %s less within %s: %s\n", one, two, cli_metric_format(&b->pairs->difference, 4, line));
    }
    if (b->n_pairs < 2) return;
    printf("\n%-*s %8s  %-*s%-*s%s\n", PAIR_WIDTH, "Between groups", "items", width, "percent", width, "across", "q");
    for (size_t p = 0; p < shown; p++) {
        const dis_group_pair *x = &b->pairs[p];
        cli_text_escape(dis_names_get(job->groups.view.names, x->a, NULL), one, 26);
        cli_text_escape(dis_names_get(job->groups.view.names, x->b, NULL), two, 26);
        snprintf(line, sizeof line, "%s, %s", one, two);
        printf("  %-*s %8s  ", PAIR_WIDTH - 2, line, cli_count_format(x->across.n, items));
        cli_metric_print(&x->percent, width);
        cli_metric_print(&x->across, width);
        cli_p_value_print(x->q, "\n");
    }
    if (shown < b->n_pairs) printf("  ... and %zu more: --group-pairs FILE has them all\n", b->n_pairs - shown);
}

static void print_apart(const agree_command *job)
{
    const dis_group_agreement_view *b = &job->between;
    char text[CLI_METRIC_SIZE];
    if (b->separation.reason) return;
    printf("\nWithin less across, mean of the groups: %s", cli_metric_format(&b->separation, 4, text));
    if (isnan(b->p_separation))
        printf("\n");
    else
        printf(" (p = %.4f that the groups do not matter)\n", b->p_separation);
}

static void print_divided(const agree_command *job)
{
    const dis_group_agreement_view *b = &job->between;
    char task[CLI_SAFE], one[CLI_SAFE], two[CLI_SAFE], majority[CLI_SAFE], other[CLI_SAFE];
    if (b->n_items == 0) return;
    printf("\n%-*s %8s %8s\n", 2 * NAME_WIDTH, "Items that divide groups most", "distance", "q");
    for (size_t i = 0; i < b->n_items && i < SHOWN_DIVIDED; i++) {
        const dis_group_item *x = &b->items[i];
        char line[6 * CLI_SAFE];
        cli_text_escape(dis_names_get(job->in.view.tasks, x->item, NULL), task, 24);
        cli_text_escape(dis_names_get(job->groups.view.names, x->a, NULL), one, 20);
        cli_text_escape(dis_names_get(job->groups.view.names, x->b, NULL), two, 20);
        cli_text_escape(dis_names_get(job->in.view.classes, x->majority_class_a, NULL), majority, 16);
        cli_text_escape(dis_names_get(job->in.view.classes, x->majority_class_b, NULL), other, 16);
        snprintf(line, sizeof line, "%s: %s say %s, %s say %s", task, one, majority, two, other);
        printf("  %-*s %8.3f %8.3f\n", 2 * NAME_WIDTH - 2, line, x->distance, x->q);
    }
}

void agree_groups_print(const agree_command *job)
{
    if (!job->of_groups) return;
    print_table(job);
    print_hidden(job);
    print_pairs(job);
    print_apart(job);
    print_divided(job);
}
