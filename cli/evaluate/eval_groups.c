/* dissent eval by groups of people: which group the predictions represent. */
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "evaluate/cmd_eval.h"
#include "output/result_rows.h"
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { NAME_WIDTH = 30 };

int eval_groups_check(eval_command *job)
{
    const eval_values *v = job->v;
    if (v->people.group && v->votes.n == 0)
        return cli_usage(job->c, "--group needs the votes of the annotators; add --votes FILE");
    if (v->group_table && !v->people.group)
        return cli_usage(job->c, "--group-table needs groups of annotators; add --worker-table and --group");
    return groups_input_check(&job->people);
}

int eval_groups_compute(eval_command *job, dis_context *ctx)
{
    const eval_values *v = job->v;
    const dis_alignment_view *t = &job->in.alignment;
    int code = groups_input_read(&job->people, ctx, job->votes.votes);
    if (code != 0 || !job->people.groups) return code;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.resamples = (size_t)v->figures.resamples;
    o.permutations = (size_t)v->permutations;
    o.seed = v->figures.seed;
    o.interval_scope = (dis_interval_scope)v->over;
    for (size_t i = 0; i < job->n; i++) {
        const dis_group_evaluation_input in = {
            .n_items = t->n_items, .n_classes = t->n_classes, .q = t->p[i], .tasks = t->tasks, .classes = t->classes};
        const dis_status status =
            dis_group_evaluation_run(ctx, job->votes.votes, job->people.groups, &in, &o, &job->by_group[i]);
        if (status != DIS_OK) return cli_failed(job->c, status);
    }
    groups_input_print(&job->people);
    return 0;
}

/* Rows of one file of predictions. */
typedef struct {
    const eval_command *job;
    size_t i;
} of_file;

static const char *name_of(const void *user, const cli_field *field, size_t g)
{
    const of_file *f = user;
    return strcmp(field->name, "group") == 0 ? dis_names_get(f->job->people.view.names, g, NULL)
                                             : f->job->in.path[f->i];
}

static cli_rows rows_of(const of_file *f, bool with_path)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("predictions"),
        CLI_NAME_FIELD("group"),
        CLI_FIELD(dis_group_evaluation_row, COUNT, workers),
        CLI_FIELD(dis_group_evaluation_row, COUNT, votes),
        CLI_FIELD(dis_group_evaluation_row, COUNT, items),
        CLI_FIELD(dis_group_evaluation_row, METRIC, log_loss),
        CLI_FIELD(dis_group_evaluation_row, METRIC, agreement),
        CLI_FIELD_AS(dis_group_evaluation_row, METRIC, "apart", excess_log_loss),
        CLI_FIELD(dis_group_evaluation_row, REAL, p),
        CLI_FIELD(dis_group_evaluation_row, REAL, q),
    };
    const dis_group_evaluation_view v = dis_group_evaluation_get_view(f->job->by_group[f->i]);
    const size_t first = with_path ? 0 : 1;
    return (cli_rows){.field = fields + first,
                      .n_fields = N(fields) - first,
                      .row = v.groups,
                      .n_rows = v.n_groups,
                      .row_size = sizeof *v.groups,
                      .text = name_of,
                      .user = f};
}

dis_status eval_groups_write(const eval_command *job)
{
    dis__table_writer *t = NULL;
    if (!job->v->group_table) return DIS_OK;
    for (size_t i = 0; i < job->n; i++) {
        const of_file f = {.job = job, .i = i};
        const cli_rows rows = rows_of(&f, true);
        const dis_status status = t ? DIS_OK : cli_rows_open(&rows, job->v->group_table, NULL, &t);
        if (status != DIS_OK) return status;
        cli_rows_add(&rows, t);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static void put_rows(const eval_command *job, dis__json_writer *j, size_t i)
{
    const of_file f = {.job = job, .i = i};
    const cli_rows rows = rows_of(&f, false);
    cli_rows_write_json(&rows, j, "by_group");
    cli_json_write_count(j, "votes_left_out", dis_group_evaluation_get_view(job->by_group[i]).n_votes_excluded);
}

void eval_groups_write_json(const eval_command *job, dis__json_writer *j)
{
    if (!job->people.groups) return;
    dis__json_writer_key(j, "people");
    dis__json_writer_begin_object(j);
    groups_input_write_json(&job->people, j);
    cli_json_write_count(j, "permutations", job->v->permutations);
    dis__json_writer_key(j, "predictions");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < job->n; i++) {
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "path", job->in.path[i]);
        put_rows(job, j, i);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_end_object(j);
}

void eval_groups_print(const eval_command *job)
{
    const int width = job->v->figures.resamples ? 24 : 10;
    if (!job->people.groups) return;
    for (size_t i = 0; i < job->n; i++) {
        const dis_group_evaluation_view v = dis_group_evaluation_get_view(job->by_group[i]);
        char safe[CLI_SAFE], number[CLI_NUMBER];
        printf("\nby %s, vote by vote, nats%s%s\n", cli_safe(job->v->people.group, safe), job->n > 1 ? ": " : "",
               job->n > 1 ? job->in.path[i] : "");
        printf("%-*s %9s  %-*s%-*s%-*sq\n", NAME_WIDTH, "group", "votes", width, "log_loss", width, "agreement", width,
               "apart");
        for (size_t g = 0; g < v.n_groups; g++) {
            const dis_group_evaluation_row *x = &v.groups[g];
            cli_text_escape(dis_names_get(job->people.view.names, g, NULL), safe, NAME_WIDTH - 1);
            printf("%-*s %9s  ", NAME_WIDTH, safe, cli_count_format(x->votes, number));
            cli_metric_print(&x->log_loss, width);
            cli_metric_print(&x->agreement, width);
            cli_metric_print(&x->excess_log_loss, width);
            cli_p_value_print(x->q, "\n");
        }
    }
}
