/* dissent eval by groups of people: whom predictions speak for. */
#include "eval_job.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { NAME_WIDTH = 30 };

int eval_check_groups(eval_job *job)
{
    const eval_values *v = job->v;
    if (v->people.group && v->votes.n == 0)
        return cli_usage(job->c, "--group needs the votes of people, to know who said what; give --votes FILE");
    if (v->group_table && !v->people.group)
        return cli_usage(job->c, "--group-table is about groups of people; name them with --worker-table and --group");
    return groups_input_check(&job->people);
}

int eval_measure_groups(eval_job *job, dis_context *ctx)
{
    const eval_values *v = job->v;
    const dis_alignment_view *t = &job->in.look;
    int code = groups_input_read(&job->people, ctx, job->votes.votes);
    if (code != 0 || !job->people.groups) return code;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.resamples = (size_t)v->figures.resamples;
    o.permutations = (size_t)v->permutations;
    o.seed = v->figures.seed;
    for (size_t i = 0; i < job->n; i++) {
        const dis_group_evaluation_input in = {
            .n_items = t->n_items, .n_classes = t->n_classes, .q = t->p[i], .tasks = t->tasks, .classes = t->classes};
        const dis_status status =
            dis_group_evaluation_run(ctx, job->votes.votes, job->people.groups, &in, &o, &job->by_group[i]);
        if (status != DIS_OK) return cli_failed(job->c, status);
    }
    groups_input_tell(&job->people);
    return 0;
}

dis_status eval_write_groups(const eval_job *job)
{
    static const char *const columns[] = {"predictions",
                                          "group",
                                          "workers",
                                          "votes",
                                          "items",
                                          "log_loss",
                                          "log_loss_ci_low",
                                          "log_loss_ci_high",
                                          "agreement",
                                          "agreement_ci_low",
                                          "agreement_ci_high",
                                          "apart",
                                          "apart_ci_low",
                                          "apart_ci_high",
                                          "p",
                                          "q"};
    dis_table *t;
    if (!job->v->group_table) return DIS_OK;
    const dis_status status = dis_table_open(job->v->group_table, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t i = 0; i < job->n; i++) {
        const dis_group_evaluation_view v = dis_group_evaluation_look(job->by_group[i]);
        for (size_t g = 0; g < v.n_groups; g++) {
            const dis_group_evaluation_row *x = &v.groups[g];
            cli_cell_text(t, job->in.path[i]);
            cli_cell_name(t, job->people.look.names, g);
            dis_table_count(t, x->workers);
            dis_table_count(t, x->votes);
            dis_table_count(t, x->items);
            cli_cell_metric(t, &x->log_loss);
            cli_cell_metric(t, &x->agreement);
            cli_cell_metric(t, &x->apart);
            dis_table_real(t, x->p);
            dis_table_real(t, x->q);
        }
    }
    return dis_table_finish(t, DIS_OK);
}

static void put_rows(const eval_job *job, dis_json *j, size_t i)
{
    const dis_group_evaluation_view v = dis_group_evaluation_look(job->by_group[i]);
    dis_json_key(j, "by_group");
    dis_json_begin_array(j);
    for (size_t g = 0; g < v.n_groups; g++) {
        const dis_group_evaluation_row *x = &v.groups[g];
        dis_json_begin_object(j);
        cli_put_text(j, "group", dis_names_get(job->people.look.names, g, NULL));
        cli_put_count(j, "workers", x->workers);
        cli_put_count(j, "votes", x->votes);
        cli_put_count(j, "items", x->items);
        dis_json_key(j, "log_loss");
        dis_json_metric(j, &x->log_loss);
        dis_json_key(j, "agreement");
        dis_json_metric(j, &x->agreement);
        dis_json_key(j, "apart");
        dis_json_metric(j, &x->apart);
        cli_put_real(j, "p", x->p);
        cli_put_real(j, "q", x->q);
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
    cli_put_count(j, "votes_left_out", v.votes_left_out);
}

void eval_put_groups(const eval_job *job, dis_json *j)
{
    if (!job->people.groups) return;
    dis_json_key(j, "people");
    dis_json_begin_object(j);
    groups_input_put(&job->people, j);
    cli_put_count(j, "permutations", job->v->permutations);
    dis_json_key(j, "predictions");
    dis_json_begin_array(j);
    for (size_t i = 0; i < job->n; i++) {
        dis_json_begin_object(j);
        cli_put_text(j, "path", job->in.path[i]);
        put_rows(job, j, i);
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
    dis_json_end_object(j);
}

static void print_figure(const dis_metric *m, int width)
{
    char text[CLI_FIGURE];
    if (m->reason)
        snprintf(text, sizeof text, "-");
    else
        cli_figure(m, 3, text);
    printf("%-*s", width, text);
}

void eval_print_groups(const eval_job *job)
{
    const int width = job->v->figures.resamples ? 24 : 10;
    if (!job->people.groups) return;
    for (size_t i = 0; i < job->n; i++) {
        const dis_group_evaluation_view v = dis_group_evaluation_look(job->by_group[i]);
        char safe[CLI_SAFE], number[CLI_NUMBER];
        printf("\nby %s, vote by vote, nats%s%s\n", cli_safe(job->v->people.group, safe), job->n > 1 ? ": " : "",
               job->n > 1 ? job->in.path[i] : "");
        printf("%-*s %9s  %-*s%-*s%-*sq\n", NAME_WIDTH, "group", "votes", width, "log_loss", width, "agreement", width,
               "apart");
        for (size_t g = 0; g < v.n_groups; g++) {
            const dis_group_evaluation_row *x = &v.groups[g];
            cli_escape(dis_names_get(job->people.look.names, g, NULL), safe, NAME_WIDTH - 1);
            printf("%-*s %9s  ", NAME_WIDTH, safe, cli_grouped(x->votes, number));
            print_figure(&x->log_loss, width);
            print_figure(&x->agreement, width);
            print_figure(&x->apart, width);
            if (isnan(x->q))
                puts("-");
            else
                printf("%.3f\n", x->q);
        }
    }
}
