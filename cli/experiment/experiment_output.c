/* dissent experiment table: the table in its formats, and as a JSON summary. */
#include "tool/json_writer.h"
#include "experiment/cmd_experiment.h"
#include "output/json_summary.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *table_format(const experiment_values *v)
{
    static const char *const names[] = {"text", "markdown", "csv", "latex"};
    static const char *const endings[][2] = {{".txt", "text"},
                                             {".md", "markdown"},
                                             {".markdown", "markdown"},
                                             {".tex", "latex"}};
    if (v->format >= 0) return names[v->format];
    if (!v->output || cli_is_dash(v->output)) return isatty(STDOUT_FILENO) ? "text" : "csv";
    const size_t n = strlen(v->output);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t m = strlen(endings[i][0]);
        if (n >= m && strcmp(v->output + n - m, endings[i][0]) == 0) return endings[i][1];
    }
    return "csv";
}

static void figure_json(dis__json_writer *j, const experiment_command *job, const dis_experiment_value *f, size_t m)
{
    const dis_experiment_measure *measure = &job->view.measure[m];
    dis__json_writer_begin_object(j);
    cli_json_write_text(j, "set", measure->set);
    cli_json_write_text(j, "metric", dis_evaluation_metric_get(measure->metric)->name);
    cli_json_write_text(j, "better", dis_evaluation_metric_get(measure->metric)->better);
    cli_json_write_count(j, "seeds", f->n);
    if (f->n_items) cli_json_write_count(j, "items", f->n_items);
    cli_json_write_real(j, "mean", f->mean);
    cli_json_write_real(j, "sd", f->sd);
    cli_json_write_real(j, "ci_low", f->ci_low);
    cli_json_write_real(j, "ci_high", f->ci_high);
    dis__json_writer_key(j, "values");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < f->n; i++) dis__json_writer_real(j, f->seed[i]);
    dis__json_writer_end_array(j);
    if (!isnan(f->published)) cli_json_write_real(j, "published", f->published);
    if (f->has_comparison) {
        cli_json_write_real(j, "difference", f->difference);
        cli_json_write_real(j, "p", f->p);
        cli_json_write_count(j, "stars", (uint64_t)f->stars);
    }
    cli_json_write_bool(j, "best", f->best);
    dis__json_writer_end_object(j);
}

static dis_status table_json(const experiment_command *job, const dis_experiment_table_view *t)
{
    dis__json_writer *j;
    const dis_status status = experiment_summary_open(job, &j);
    if (status != DIS_OK) return status;
    dis__json_writer_key(j, "cells");
    dis__json_writer_begin_array(j);
    for (size_t r = 0; r < t->n_rows; r++) {
        const dis_experiment_row *row = &t->row[r];
        const dis_experiment_cell *cell = &job->view.cell[row->cell];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "name", cell->name);
        cli_json_write_text(j, "data", cell->data);
        cli_json_write_text(j, "baseline", cell->baseline == SIZE_MAX ? NULL : job->view.cell[cell->baseline].name);
        cli_json_write_count(j, "runs", row->n_runs);
        cli_json_write_count(j, "done", row->n_done);
        cli_json_write_count(j, "failed", row->n_failed);
        dis__json_writer_key(j, "measures");
        dis__json_writer_begin_array(j);
        for (size_t m = 0; m < t->n_measures; m++) figure_json(j, job, &row->values[m], m);
        dis__json_writer_end_array(j);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    return cli_summary_close(j, DIS_OK);
}

int experiment_table_write(experiment_command *job)
{
    cli *c = job->c;
    const experiment_values *v = job->v;
    dis_experiment_table *table;
    dis_status status = dis_experiment_table_create(job->ctx, job->experiment, &table);
    if (status != DIS_OK) return cli_failed(c, status);
    const dis_experiment_table_view t = dis_experiment_table_get_view(table);
    cli_bar_clear(c);
    if (v->output || !cli_is_dash(v->json))
        status = dis_experiment_table_write(job->experiment, table, v->output ? v->output : "-", table_format(v));
    if (status == DIS_OK && v->json) status = table_json(job, &t);
    size_t runs = 0, done = 0, failed = 0;
    for (size_t r = 0; r < t.n_rows; r++) {
        runs += t.row[r].n_runs;
        done += t.row[r].n_done;
        failed += t.row[r].n_failed;
    }
    dis_experiment_table_destroy(table);
    if (status == DIS_OK && done < runs)
        cli_warn(c, "%zu of %zu runs are missing%s; compute them with dissent experiment run", runs - done, runs,
                 failed ? ", including failed ones" : "");
    return cli_failed(c, status);
}
