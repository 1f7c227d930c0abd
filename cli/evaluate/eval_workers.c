/* dissent eval --perspectives votes: predictions for single workers against their votes. */
#include "tool/json_writer.h"
#include "tool/value_names.h"
#include "tool/table_writer.h"
#include "evaluate/cmd_eval.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { NAME_WIDTH = 30, FIGURE_WIDTH = 26 };

typedef struct {
    cli *c;
    const eval_values *v;
    dis_context *ctx;
    votes_input votes;
    groups_input people;
    dis_votes *predicted, *history;
    dis_perspectives *found;
    dis_perspectives_view view;
    bool ordered;
} workers_command;

static int check(workers_command *job, size_t n_operands)
{
    const eval_values *v = job->v;
    if (n_operands || v->gold || v->human || v->official || v->soft)
        return cli_usage(
            job->c, "--perspectives votes needs predictions as --annotators FILE, and compares them with --votes only");
    if (v->votes.n == 0 || !v->annotators)
        return cli_usage(job->c, "--perspectives votes: give the votes with --votes FILE and predictions for each "
                                 "worker with --annotators FILE");
    if (v->submission || v->save_votes || v->save_texts)
        return cli_usage(job->c, "--submission, --save-votes and --save-texts apply only to the sets of Le-Wi-Di");
    const int code = groups_input_check(&job->people);
    return code ? code : votes_input_check(&job->votes);
}

/* Predictions and earlier votes have the classes of the votes. */
static dis_status read_like(const workers_command *job, const char *path, bool predictions, dis_votes **out)
{
    const dis_votes_view v = dis_votes_get_view(job->votes.votes);
    dis_votes_options how = dis_votes_options_default();
    const char **name = malloc((v.n_classes + 1) * sizeof *name);
    if (!name) return DIS_ELIMIT;
    for (size_t k = 0; k < v.n_classes; k++) name[k] = dis_names_get(v.classes, k, NULL);
    how.classes = name;
    how.n_classes = v.n_classes;
    how.duplicates = predictions ? DIS_DUPLICATES_ERROR : DIS_DUPLICATES_ALL;
    const dis_status status = dis_votes_read(job->ctx, &path, 1, &how, out);
    free(name);
    return status;
}

static int read_all(workers_command *job)
{
    const eval_values *v = job->v;
    int code = votes_input_read(&job->votes, job->ctx);
    if (code == 0) code = groups_input_read(&job->people, job->ctx, job->votes.votes);
    if (code == 0) code = cli_failed(job->c, read_like(job, v->annotators, true, &job->predicted));
    if (code == 0 && v->history) code = cli_failed(job->c, read_like(job, v->history, false, &job->history));
    return code;
}

static dis_status measure(workers_command *job)
{
    const eval_values *v = job->v;
    dis_perspectives_options o = dis_perspectives_options_default();
    o.resamples = (size_t)v->figures.resamples;
    o.seed = v->figures.seed;
    o.lenient = v->reading.lenient;
    o.ordered = job->ordered;
    o.groups = job->people.groups;
    const dis_status status =
        dis_perspectives_run(job->ctx, job->votes.votes, job->predicted, job->history, &o, &job->found);
    if (status == DIS_OK) job->view = dis_perspectives_get_view(job->found);
    return status;
}

/* ---- files ---- */

static const char *const keys[] = {"model", "worker_most_frequent", "majority_of_others"};

static dis_status write_workers(const workers_command *job)
{
    static const char *const columns[] = {"worker",
                                          "votes",
                                          "error_model",
                                          "error_worker_most_frequent",
                                          "error_majority_of_others",
                                          "distance_model",
                                          "distance_worker_most_frequent",
                                          "distance_majority_of_others"};
    dis__table_writer *t;
    if (!job->v->worker_errors) return DIS_OK;
    const dis_status status =
        dis__table_writer_create(job->v->worker_errors, NULL, columns, job->ordered ? N(columns) : N(columns) - 3, &t);
    if (status != DIS_OK) return status;
    for (size_t w = 0; w < dis_names_count(job->view.workers); w++) {
        const dis_perspectives_row *x = &job->view.row[w];
        if (x->votes == 0) continue;
        cli_cell_write_name(t, job->view.workers, w);
        dis__table_writer_count(t, x->votes);
        for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++) dis__table_writer_real(t, x->error[s]);
        for (size_t s = 0; job->ordered && s < DIS_PREDICTION_SOURCES; s++) dis__table_writer_real(t, x->distance[s]);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static void put_metrics(dis__json_writer *j, const char *key, const dis_metric *const *m)
{
    dis__json_writer_key(j, key);
    dis__json_writer_begin_object(j);
    for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++) {
        dis__json_writer_key(j, keys[s]);
        dis__json_writer_begin_object(j);
        for (dis_average over = 0; over < DIS_AVERAGES; over++) {
            dis__json_writer_key(j, dis__average_name(over));
            dis__json_writer_metric(j, &m[s][over]);
        }
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_object(j);
}

static void put_group(const workers_command *job, dis__json_writer *j, size_t g)
{
    const dis_perspectives_group *x = &job->view.group[g];
    dis__json_writer_begin_object(j);
    cli_json_write_text(j, "group", dis_names_get(job->people.view.names, g, NULL));
    cli_json_write_count(j, "workers", x->workers);
    cli_json_write_count(j, "votes", x->votes);
    for (size_t kind = 0; kind < (job->ordered ? 2 : 1); kind++) {
        dis__json_writer_key(j, kind ? "absolute_distance" : "error_rate");
        dis__json_writer_begin_object(j);
        for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++) {
            dis__json_writer_key(j, keys[s]);
            dis__json_writer_metric(j, kind ? &x->distance[s] : &x->error[s]);
        }
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_object(j);
}

static dis_status write_json(const workers_command *job)
{
    const eval_values *v = job->v;
    const dis_perspectives_view *p = &job->view;
    dis__json_writer *j;
    if (!v->figures.json) return DIS_OK;
    dis_status status = cli_summary_open(v->figures.json, "eval", &v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    for (size_t i = 0; i < v->votes.n && status == DIS_OK; i++) status = cli_input_write(j, v->votes.value[i], "votes");
    if (status == DIS_OK) status = cli_input_write(j, v->annotators, "annotators");
    if (status == DIS_OK && v->history) status = cli_input_write(j, v->history, "history");
    if (status == DIS_OK && job->people.groups) status = groups_input_write_json_file(&job->people, j);
    cli_inputs_end(j);
    cli_json_write_count(j, "votes", p->n_votes);
    cli_json_write_count(j, "items", p->n_items);
    cli_json_write_count(j, "workers", p->n_workers);
    cli_json_write_count(j, "left_out", p->n_votes_unpredicted);
    put_metrics(j, "error_rate", p->error);
    if (job->ordered) put_metrics(j, "absolute_distance", p->distance);
    if (job->people.groups) {
        dis__json_writer_key(j, "people");
        dis__json_writer_begin_object(j);
        groups_input_write_json(&job->people, j);
        dis__json_writer_key(j, "groups");
        dis__json_writer_begin_array(j);
        for (size_t g = 0; g < p->n_groups; g++) put_group(job, j, g);
        dis__json_writer_end_array(j);
        dis__json_writer_end_object(j);
    }
    return cli_summary_close(j, status);
}

static dis_status write_table(const workers_command *job, const char *format)
{
    static const char *const columns[] = {"metric", "over", "said_by", "value", "ci_low", "ci_high", "n"};
    dis__table_writer *t;
    const dis_status status =
        dis__table_writer_create(cli_metric_table_path(&job->v->figures), format, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t kind = 0; kind < (job->ordered ? 2 : 1); kind++)
        for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++)
            for (dis_average over = 0; over < DIS_AVERAGES; over++) {
                const dis_metric *m = kind ? &job->view.distance[s][over] : &job->view.error[s][over];
                cli_cell_write_text(t, kind ? "absolute_distance" : "error_rate");
                cli_cell_write_text(t, dis__average_name(over));
                cli_cell_write_text(t, keys[s]);
                cli_cell_write_metric(t, m);
                dis__table_writer_count(t, m->n);
            }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_groups(const workers_command *job)
{
    static const char *const columns[] = {"group", "workers", "votes",   "metric", "said_by",
                                          "value", "ci_low",  "ci_high", "n"};
    dis__table_writer *t;
    if (!job->v->group_table) return DIS_OK;
    const dis_status status = dis__table_writer_create(job->v->group_table, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t g = 0; g < job->view.n_groups; g++)
        for (size_t kind = 0; kind < (job->ordered ? 2 : 1); kind++)
            for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++) {
                const dis_perspectives_group *x = &job->view.group[g];
                const dis_metric *m = kind ? &x->distance[s] : &x->error[s];
                cli_cell_write_name(t, job->people.view.names, g);
                dis__table_writer_count(t, x->workers);
                dis__table_writer_count(t, x->votes);
                cli_cell_write_text(t, kind ? "absolute_distance" : "error_rate");
                cli_cell_write_text(t, keys[s]);
                cli_cell_write_metric(t, m);
                dis__table_writer_count(t, m->n);
            }
    return dis__table_writer_finish(t, DIS_OK);
}

/* ---- text ---- */

static void print_row(const char *name, const dis_metric *const m[DIS_PREDICTION_SOURCES])
{
    char text[CLI_METRIC_SIZE];
    printf("%-*s", NAME_WIDTH, name);
    for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++) {
        if (m[s]->reason)
            snprintf(text, sizeof text, "-");
        else
            cli_metric_format(m[s], 3, text);
        printf(s + 1 < DIS_PREDICTION_SOURCES ? " %-*s" : " %.*s\n",
               s + 1 < DIS_PREDICTION_SOURCES ? FIGURE_WIDTH : CLI_METRIC_SIZE, text);
    }
}

static void print_head(const char *title)
{
    printf("%-*s", NAME_WIDTH, title);
    for (dis_prediction_source s = 0; s < DIS_PREDICTION_SOURCES; s++)
        printf(s + 1 < DIS_PREDICTION_SOURCES ? " %-*s" : " %.*s\n",
               s + 1 < DIS_PREDICTION_SOURCES ? FIGURE_WIDTH : CLI_METRIC_SIZE, dis__prediction_source_name(s));
}

static void print_text(const workers_command *job)
{
    const dis_perspectives_view *p = &job->view;
    char name[64], safe[CLI_SAFE];
    print_head("");
    for (size_t kind = 0; kind < (job->ordered ? 2 : 1); kind++)
        for (dis_average over = 0; over < DIS_AVERAGES; over++) {
            const dis_metric *m[DIS_PREDICTION_SOURCES];
            for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++)
                m[s] = kind ? &p->distance[s][over] : &p->error[s][over];
            snprintf(name, sizeof name, "%s, mean over %s", kind ? "steps off" : "error rate", dis__average_name(over));
            print_row(name, m);
        }
    for (size_t kind = 0; p->n_groups && kind < (job->ordered ? 2 : 1); kind++) {
        snprintf(name, sizeof name, "\n%s by %s", kind ? "steps off" : "error rate",
                 cli_safe(job->v->people.group, safe));
        printf("\n");
        print_head(name + 1);
        for (size_t g = 0; g < p->n_groups; g++) {
            const dis_metric *m[DIS_PREDICTION_SOURCES];
            for (size_t s = 0; s < DIS_PREDICTION_SOURCES; s++)
                m[s] = kind ? &p->group[g].distance[s] : &p->group[g].error[s];
            cli_text_escape(dis_names_get(job->people.view.names, g, NULL), safe, NAME_WIDTH - 1);
            print_row(safe, m);
        }
    }
}

static int write_all(const workers_command *job)
{
    const char *format = cli_metric_table_format(&job->v->figures);
    dis_status status = write_workers(job);
    if (status == DIS_OK) status = write_groups(job);
    if (status == DIS_OK && format) status = write_table(job, format);
    if (status == DIS_OK) status = write_json(job);
    if (status != DIS_OK || format) return cli_failed(job->c, status);
    print_text(job);
    return cli_flush(job->c);
}

static void print_summary(const workers_command *job)
{
    char votes[CLI_NUMBER], items[CLI_NUMBER], workers[CLI_NUMBER], left[CLI_NUMBER];
    const dis_perspectives_view *p = &job->view;
    groups_input_print(&job->people);
    if (p->n_votes_unpredicted)
        cli_print(job->c, "%s vote%s without a prediction left out", cli_count_format(p->n_votes_unpredicted, left),
                  cli_plural(p->n_votes_unpredicted));
    cli_print(job->c, "%s votes of %s worker%s on %s item%s (%.2f s)", cli_count_format(p->n_votes, votes),
              cli_count_format(p->n_workers, workers), cli_plural(p->n_workers), cli_count_format(p->n_items, items),
              cli_plural(p->n_items), cli_seconds_since(&job->c->start));
}

int eval_workers_run(cli *c, const eval_values *v, size_t n_operands)
{
    workers_command job = {
        .c = c,
        .v = v,
        .votes = {.c = c, .v = &v->reading, .paths = (char *const *)v->votes.value, .n_paths = v->votes.n},
        .people = {.c = c, .v = &v->people},
        .ordered = v->reading.scale == DIS_SCALE_ORDINAL};
    c->replicates_data = true;
    int code = check(&job, n_operands);
    if (code == 0) code = cli_metric_table_check(c, &v->figures);
    if (code == 0) code = cli_failed(c, cli_context_create(c, &v->common, &job.ctx));
    if (code == 0) code = read_all(&job);
    if (code == 0) code = cli_failed(c, measure(&job));
    if (code == 0 && dis_context_rank(job.ctx) == 0) code = write_all(&job);
    if (code == 0) print_summary(&job);
    code = cli_ranks_end(c, job.ctx, code);
    dis_perspectives_destroy(job.found);
    dis_votes_destroy(job.predicted);
    dis_votes_destroy(job.history);
    groups_input_free(&job.people);
    votes_input_free(&job.votes);
    dis_context_destroy(job.ctx);
    return code;
}
