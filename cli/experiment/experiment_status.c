/* Existing runs: cell by cell, and one run in full. */
#include "tool/json_writer.h"
#include "tool/experiments.h"
#include "experiment/cmd_experiment.h"
#include "output/json_summary.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- status ---- */

typedef struct {
    size_t n[DIS_RUN_STATES], runs;
    double seconds; /* of those that are done */
} tally;

static void count(const experiment_command *job, const dis_run_state *state, const double *seconds, size_t cell,
                  tally *t)
{
    *t = (tally){0};
    for (size_t r = 0; r < job->view.n_runs; r++) {
        if (!job->view.selected[r] || (cell != SIZE_MAX && job->view.run[r].cell != cell)) continue;
        t->runs++;
        t->n[state[r]]++;
        if (state[r] == DIS_RUN_DONE && !isnan(seconds[r])) t->seconds += seconds[r];
    }
}

/* Seconds that the runs of a cell which are not done will take, as its own or all cells' took so far. */
static double seconds_left(const tally *cell, const tally *all)
{
    const tally *known = cell->n[DIS_RUN_DONE] ? cell : all;
    const size_t left = cell->runs - cell->n[DIS_RUN_DONE] - cell->n[DIS_RUN_FAILED];
    if (left == 0) return 0;
    return known->n[DIS_RUN_DONE] ? (double)left * known->seconds / (double)known->n[DIS_RUN_DONE] : (double)NAN;
}

static void status_line(const char *name, const tally *t, double left)
{
    char safe[CLI_SAFE], so_far[CLI_NUMBER], to_go[CLI_NUMBER];
    printf("%-36s%8zu%8zu%8zu%8zu%14s%14s\n", cli_safe(name, safe), t->n[DIS_RUN_DONE], t->n[DIS_RUN_FAILED],
           t->n[DIS_RUN_RUNNING], t->n[DIS_RUN_MISSING], experiment_duration_format(t->seconds, so_far),
           left > 0 || isnan(left) ? experiment_duration_format(left, to_go) : "-");
}

static void status_text(const experiment_command *job, const dis_run_state *state, const double *seconds)
{
    tally all;
    count(job, state, seconds, SIZE_MAX, &all);
    double left = 0;
    printf("%-36s%8s%8s%8s%8s%14s%14s\n", "cell", "done", "failed", "running", "missing", "time so far", "left");
    for (size_t i = 0; i < job->view.n_cells; i++) {
        tally t;
        count(job, state, seconds, i, &t);
        if (t.runs == 0) continue;
        left += seconds_left(&t, &all);
        status_line(job->view.cell[i].name, &t, seconds_left(&t, &all));
    }
    status_line("all", &all, left);
}

static dis_status status_json(const experiment_command *job, const dis_run_state *state, const double *seconds)
{
    dis__json_writer *j;
    const dis_status status = experiment_summary_open(job, &j);
    if (status != DIS_OK) return status;
    dis__json_writer_key(j, "runs");
    dis__json_writer_begin_array(j);
    for (size_t r = 0; r < job->view.n_runs; r++) {
        const dis_run *run = &job->view.run[r];
        if (!job->view.selected[r]) continue;
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "key", run->key);
        cli_json_write_text(j, "cell", job->view.cell[run->cell].name);
        cli_json_write_text(j, "data", job->view.cell[run->cell].data);
        cli_json_write_count(j, "fold", run->fold);
        cli_json_write_count(j, "seed", run->seed);
        cli_json_write_text(j, "state", dis_run_state_name(state[r]));
        cli_json_write_real(j, "seconds", seconds[r]);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    return cli_summary_close(j, DIS_OK);
}

int experiment_status_print(experiment_command *job)
{
    cli *c = job->c;
    dis_run_state *state = calloc(job->view.n_runs + 1, sizeof *state);
    double *seconds = calloc(job->view.n_runs + 1, sizeof *seconds);
    int code;
    if (!state || !seconds)
        code = cli_error(c, DIS_ELIMIT, "no memory for %zu runs", job->view.n_runs);
    else
        code = cli_failed(c, dis_experiment_get_states(job->ctx, job->experiment, state, seconds));
    if (code == 0 && !cli_is_dash(job->v->json)) {
        status_text(job, state, seconds);
        code = cli_flush(c);
    }
    if (code == 0 && job->v->json) code = cli_failed(c, status_json(job, state, seconds));
    free(state);
    free(seconds);
    return code;
}

/* ---- show ---- */

static void line(const char *what, const char *text)
{
    char safe[2048];
    if (!text) return;
    cli_text_escape(text, safe, sizeof safe);
    printf("%-14s%s\n", what, safe);
}

static void show_text(const experiment_command *job, const dis_run_record *r)
{
    char time[CLI_NUMBER];
    line("key", r->key);
    line("state", dis_run_state_name(r->state));
    line("why", r->message);
    line("experiment", r->experiment);
    line("cell", r->cell);
    line("data", r->data);
    printf("%-14s%llu\n%-14s%llu\n", "fold", (unsigned long long)r->fold, "seed", (unsigned long long)r->seed);
    for (size_t i = 0; i < r->n_settings; i++) line(r->setting[i].key, r->setting[i].value);
    line("finished", r->finished);
    if (!isnan(r->seconds)) line("took", experiment_duration_format(r->seconds, time));
    line("version", r->version);
    if (r->n_parameters) printf("%-14s%zu\n", "parameters", r->n_parameters);
    if (r->n_examples) printf("%-14s%zu\n", "examples", r->n_examples);
    if (r->n_measures) printf("\nmeasures\n");
    for (size_t i = 0; i < r->n_measures; i++) {
        char metric[CLI_SAFE], set[CLI_SAFE];
        printf("  %-28s%-16s", cli_safe(r->metric[i], metric), cli_safe(r->set[i], set));
        if (isnan(r->value[i]))
            printf("-\n");
        else
            printf("%.6f\n", r->value[i]);
    }
    if (r->n_epochs) printf("\n%-8s%12s%12s%12s%12s\n", "epoch", "loss", "rate", "dev", "dev ce");
    for (size_t e = 0; e < r->n_epochs; e++) {
        const double x[] = {r->epoch[e].loss, r->epoch[e].rate, r->epoch[e].dev, r->epoch[e].dev_cross_entropy};
        printf("%zu%-7s", e + 1, e == r->best_epoch ? " kept" : "");
        for (size_t i = 0; i < sizeof x / sizeof *x; i++)
            if (isnan(x[i]))
                printf("%12s", "-");
            else
                printf(" %11.6g", x[i]);
        putchar('\n');
    }
    if (r->n_files) printf("\nfiles in %s\n", job->view.store);
    for (size_t i = 0; i < r->n_files; i++) {
        char safe[512];
        cli_text_escape(r->file[i], safe, sizeof safe);
        printf("  %s\n", safe);
    }
}

static dis_status show_json(const experiment_command *job, const dis_run_record *r)
{
    dis__json_writer *j;
    const dis_status status = experiment_summary_open(job, &j);
    if (status != DIS_OK) return status;
    cli_json_write_text(j, "key", r->key);
    cli_json_write_text(j, "state", dis_run_state_name(r->state));
    cli_json_write_text(j, "message", r->message);
    cli_json_write_text(j, "cell", r->cell);
    cli_json_write_text(j, "data", r->data);
    cli_json_write_count(j, "fold", r->fold);
    cli_json_write_count(j, "seed", r->seed);
    dis__json_writer_key(j, "settings");
    dis__json_writer_begin_object(j);
    for (size_t i = 0; i < r->n_settings; i++) cli_json_write_text(j, r->setting[i].key, r->setting[i].value);
    dis__json_writer_end_object(j);
    cli_json_write_text(j, "run_version", r->version);
    cli_json_write_text(j, "finished", r->finished);
    cli_json_write_real(j, "seconds", r->seconds);
    cli_json_write_count(j, "parameters", r->n_parameters);
    cli_json_write_count(j, "examples", r->n_examples);
    dis__json_writer_key(j, "measures");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < r->n_measures; i++) {
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "set", r->set[i]);
        cli_json_write_text(j, "metric", r->metric[i]);
        cli_json_write_real(j, "value", r->value[i]);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "curve");
    dis__json_writer_begin_array(j);
    for (size_t e = 0; e < r->n_epochs; e++) {
        dis__json_writer_begin_object(j);
        cli_json_write_real(j, "loss", r->epoch[e].loss);
        cli_json_write_real(j, "rate", r->epoch[e].rate);
        cli_json_write_real(j, "dev", r->epoch[e].dev);
        cli_json_write_real(j, "dev_cross_entropy", r->epoch[e].dev_cross_entropy);
        cli_json_write_bool(j, "kept", e == r->best_epoch);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "files");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < r->n_files; i++) dis__json_writer_text(j, r->file[i]);
    dis__json_writer_end_array(j);
    return cli_summary_close(j, DIS_OK);
}

int experiment_run_print(experiment_command *job)
{
    cli *c = job->c;
    dis_run_record *record;
    int code = cli_failed(c, dis__run_record_read(job->ctx, job->experiment, job->run, &record));
    if (code != 0) return code;
    if (!cli_is_dash(job->v->json)) {
        show_text(job, record);
        code = cli_flush(c);
    }
    if (code == 0 && job->v->json) code = cli_failed(c, show_json(job, record));
    dis__run_record_destroy(record);
    return code;
}
