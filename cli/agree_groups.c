/* dissent agree by groups of people: within them, between them, and the items that divide them. */
#include "agree_job.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { SHOWN_DIVIDED = 5, NAME_WIDTH = 30 };

int agree_check_groups(agree_job *job)
{
    const agree_values *v = job->v;
    const char *option = v->group_table   ? "group-table"
                         : v->group_pairs ? "group-pairs"
                         : v->divided     ? "divided"
                                          : NULL;
    if (option && !v->groups.group)
        return cli_usage(job->c, "--%s is about groups of people; name them with --worker-table and --group", option);
    return groups_input_check(&job->groups);
}

int agree_measure_groups(agree_job *job, dis_context *ctx)
{
    const agree_values *v = job->v;
    if (!job->groups.groups) return 0;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.ordinal = votes_input_ordered(&v->reading);
    o.items = true;
    o.resamples = (size_t)v->figures.resamples;
    o.permutations = (size_t)v->permutations;
    o.seed = v->figures.seed;
    const dis_status status = dis_group_agreement_run(ctx, job->in.votes, job->groups.groups, &o, &job->of_groups);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->between = dis_group_agreement_look(job->of_groups);
    return 0;
}

/* ---- tables ---- */

static dis_status write_table(const agree_job *job, const char *path)
{
    static const char *const columns[] = {"group",          "workers",        "votes",           "items",
                                          "percent",        "percent_ci_low", "percent_ci_high", "within",
                                          "within_ci_low",  "within_ci_high", "across",          "across_ci_low",
                                          "across_ci_high", "index",          "index_ci_low",    "index_ci_high",
                                          "p_within",       "q_within",       "p_across",        "q_across",
                                          "p_index",        "q_index"};
    dis_table *t;
    const dis_status status = dis_table_open(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t g = 0; g < job->between.n_groups; g++) {
        const dis_group_row *x = &job->between.groups[g];
        const double tests[] = {x->p_within, x->q_within, x->p_across, x->q_across, x->p_index, x->q_index};
        cli_cell_name(t, job->groups.look.names, g);
        dis_table_count(t, x->workers);
        dis_table_count(t, x->votes);
        dis_table_count(t, x->within.n);
        cli_cell_metric(t, &x->percent);
        cli_cell_metric(t, &x->within);
        cli_cell_metric(t, &x->across);
        cli_cell_metric(t, &x->index);
        for (size_t i = 0; i < N(tests); i++) dis_table_real(t, tests[i]);
    }
    return dis_table_finish(t, DIS_OK);
}

static dis_status write_pairs(const agree_job *job, const char *path)
{
    static const char *const columns[] = {
        "group_a",       "group_b",        "items", "percent", "percent_ci_low", "percent_ci_high", "across",
        "across_ci_low", "across_ci_high", "p",     "q"};
    dis_table *t;
    const dis_status status = dis_table_open(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t p = 0; p < job->between.n_pairs; p++) {
        const dis_group_pair *x = &job->between.pairs[p];
        cli_cell_name(t, job->groups.look.names, x->a);
        cli_cell_name(t, job->groups.look.names, x->b);
        dis_table_count(t, x->across.n);
        cli_cell_metric(t, &x->percent);
        cli_cell_metric(t, &x->across);
        dis_table_real(t, x->p);
        dis_table_real(t, x->q);
    }
    return dis_table_finish(t, DIS_OK);
}

static dis_status write_divided(const agree_job *job, const char *path)
{
    static const char *const columns[] = {"task",    "group_a", "group_b",  "votes_a", "votes_b",
                                          "label_a", "label_b", "distance", "p",       "q"};
    dis_table *t;
    const dis_status status = dis_table_open(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t i = 0; i < job->between.n_items; i++) {
        const dis_group_item *x = &job->between.items[i];
        cli_cell_name(t, job->in.look.tasks, x->item);
        cli_cell_name(t, job->groups.look.names, x->a);
        cli_cell_name(t, job->groups.look.names, x->b);
        dis_table_count(t, x->votes_a);
        dis_table_count(t, x->votes_b);
        cli_cell_name(t, job->in.look.classes, x->top_a);
        cli_cell_name(t, job->in.look.classes, x->top_b);
        dis_table_real(t, x->distance);
        dis_table_real(t, x->p);
        dis_table_real(t, x->q);
    }
    return dis_table_finish(t, DIS_OK);
}

dis_status agree_write_groups(const agree_job *job)
{
    const agree_values *v = job->v;
    dis_status status = DIS_OK;
    if (v->group_table) status = write_table(job, v->group_table);
    if (status == DIS_OK && v->group_pairs) status = write_pairs(job, v->group_pairs);
    if (status == DIS_OK && v->divided) status = write_divided(job, v->divided);
    return status;
}

/* ---- for machines ---- */

static void put_group(const agree_job *job, dis_json *j, size_t g)
{
    const dis_group_row *x = &job->between.groups[g];
    const struct {
        const char *name;
        const dis_metric *metric;
    } metrics[] = {{"percent", &x->percent}, {"within", &x->within}, {"across", &x->across}, {"index", &x->index}};
    dis_json_begin_object(j);
    cli_put_text(j, "group", dis_names_get(job->groups.look.names, g, NULL));
    cli_put_count(j, "workers", x->workers);
    cli_put_count(j, "votes", x->votes);
    for (size_t m = 0; m < N(metrics); m++) {
        dis_json_key(j, metrics[m].name);
        dis_json_metric(j, metrics[m].metric);
    }
    cli_put_real(j, "p_within", x->p_within);
    cli_put_real(j, "q_within", x->q_within);
    cli_put_real(j, "p_across", x->p_across);
    cli_put_real(j, "q_across", x->q_across);
    cli_put_real(j, "p_index", x->p_index);
    cli_put_real(j, "q_index", x->q_index);
    dis_json_end_object(j);
}

static void put_pair(const agree_job *job, dis_json *j, const dis_group_pair *x)
{
    dis_json_begin_object(j);
    cli_put_text(j, "a", dis_names_get(job->groups.look.names, x->a, NULL));
    cli_put_text(j, "b", dis_names_get(job->groups.look.names, x->b, NULL));
    dis_json_key(j, "percent");
    dis_json_metric(j, &x->percent);
    dis_json_key(j, "across");
    dis_json_metric(j, &x->across);
    cli_put_real(j, "p", x->p);
    cli_put_real(j, "q", x->q);
    dis_json_end_object(j);
}

void agree_put_groups(const agree_job *job, dis_json *j)
{
    if (!job->of_groups) return;
    dis_json_key(j, "groups");
    dis_json_begin_object(j);
    groups_input_put(&job->groups, j);
    cli_put_count(j, "permutations", job->v->permutations);
    dis_json_key(j, "apart");
    dis_json_metric(j, &job->between.apart);
    cli_put_real(j, "p_apart", job->between.p_apart);
    dis_json_key(j, "by_group");
    dis_json_begin_array(j);
    for (size_t g = 0; g < job->between.n_groups; g++) put_group(job, j, g);
    dis_json_end_array(j);
    dis_json_key(j, "pairs");
    dis_json_begin_array(j);
    for (size_t p = 0; p < job->between.n_pairs; p++) put_pair(job, j, &job->between.pairs[p]);
    dis_json_end_array(j);
    cli_put_count(j, "items_compared", job->between.n_items);
    dis_json_end_object(j);
}

/* ---- for people ---- */

static void print_figure(const dis_metric *m, int width)
{
    char text[CLI_FIGURE];
    if (m->reason)
        snprintf(text, sizeof text, "-");
    else
        cli_figure(m, 3, text);
    printf("%-*s", width, text);
}

static void print_q(double q)
{
    if (isnan(q))
        printf("%-7s", "-");
    else
        printf("%-7.3f", q);
}

static void print_table(const agree_job *job)
{
    const int width = job->v->figures.resamples ? 24 : 8;
    char safe[CLI_SAFE], number[CLI_NUMBER], votes[CLI_NUMBER];
    printf("\n%-*s %8s %9s  %-*s%-*s%-*s%s\n", NAME_WIDTH, "Group", "workers", "votes", width, "within", width,
           "across", width, "index", "q");
    for (size_t g = 0; g < job->between.n_groups; g++) {
        const dis_group_row *x = &job->between.groups[g];
        cli_escape(dis_names_get(job->groups.look.names, g, NULL), safe, NAME_WIDTH - 1);
        printf("  %-*s %8s %9s  ", NAME_WIDTH - 2, safe, cli_grouped(x->workers, number), cli_grouped(x->votes, votes));
        print_figure(&x->within, width);
        print_figure(&x->across, width);
        print_figure(&x->index, width);
        print_q(x->q_index);
        putchar('\n');
    }
    if (!job->between.apart.reason)
        printf("\nWithin less across, mean of the groups: %.4f%s", job->between.apart.value,
               isnan(job->between.p_apart) ? "\n" : "");
    if (!job->between.apart.reason && !isnan(job->between.p_apart))
        printf(" (p = %.4f that the groups do not matter)\n", job->between.p_apart);
}

static void print_divided(const agree_job *job)
{
    const dis_group_agreement_view *b = &job->between;
    char task[CLI_SAFE], one[CLI_SAFE], two[CLI_SAFE], said[CLI_SAFE], other[CLI_SAFE];
    if (b->n_items == 0) return;
    printf("\n%-*s %8s %8s\n", 2 * NAME_WIDTH, "Items that divide groups most", "distance", "q");
    for (size_t i = 0; i < b->n_items && i < SHOWN_DIVIDED; i++) {
        const dis_group_item *x = &b->items[i];
        char line[6 * CLI_SAFE];
        cli_escape(dis_names_get(job->in.look.tasks, x->item, NULL), task, 24);
        cli_escape(dis_names_get(job->groups.look.names, x->a, NULL), one, 20);
        cli_escape(dis_names_get(job->groups.look.names, x->b, NULL), two, 20);
        cli_escape(dis_names_get(job->in.look.classes, x->top_a, NULL), said, 16);
        cli_escape(dis_names_get(job->in.look.classes, x->top_b, NULL), other, 16);
        snprintf(line, sizeof line, "%s: %s say %s, %s say %s", task, one, said, two, other);
        printf("  %-*s %8.3f %8.3f\n", 2 * NAME_WIDTH - 2, line, x->distance, x->q);
    }
}

void agree_print_groups(const agree_job *job)
{
    if (!job->of_groups) return;
    print_table(job);
    print_divided(job);
}
