/* Tables and measures of votes of a scale of its own: see scaled_command.h. */
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "labels/scaled_command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_TOP = 20 };

static int check(const scaled_command *job)
{
    const dis_scale_row *scale = dis_scale_get(votes_input_scale(job->in.v));
    for (size_t i = 0; i < job->n_unused; i++)
        if (job->unused[i].given)
            return cli_usage(job->c, "--%s has no effect with --scale %s; leave it out", job->unused[i].name,
                             scale->name);
    for (size_t i = 0; i < job->in.v->table.n; i++) {
        const char *at = strchr(job->in.v->table.value[i], '=');
        if (!at || !at[1]) return cli_usage(job->c, "--table takes NAME=FILE, not \"%s\"", job->in.v->table.value[i]);
    }
    return 0;
}

static dis_status make(scaled_command *job, dis_context *ctx, const scaled_covariates *covariates, dis_scaled **out)
{
    dis_scaled_options o = dis_scaled_options_default();
    if (job->method) {
        o.method = job->method->value;
        o.n_methods = job->method->n;
    }
    o.combine = job->combine;
    o.resamples = (size_t)job->resamples;
    o.seed = job->seed;
    o.measures_only = !job->table && !job->labels && !job->items && job->in.v->table.n == 0;
    o.covariates = covariates->row;
    o.n_covariates = covariates->n;
    o.groups = covariates->groups.groups;
    o.append = job->append;
    o.state_file = dis_context_rank(ctx) == 0 ? job->save_state : NULL;
    return dis_scaled_run(ctx, job->in.votes, &o, out);
}

/* ---- for people ---- */

static void print_measures(const dis_scaled_view *view, bool intervals)
{
    char title[64];
    snprintf(title, sizeof title, "Agreement, %s", dis_scale_get(view->scale)->name);
    printf("%-54s %10s%s\n", title, "value", intervals ? "  95 % interval" : "");
    for (size_t m = 0; m < view->n_measures; m++) {
        const dis_metric *x = &view->measures[m].value;
        printf("  %-52s ", view->measures[m].title);
        if (x->reason)
            printf("%10s  %s", "-", x->reason);
        else
            printf("%10.4f", x->value);
        if (x->has_interval) printf("  [%.4f, %.4f]", x->ci_low, x->ci_high);
        if (x->degenerate) printf("  (all labels are the same: 1 by convention)");
        printf("\n");
    }
}

static void print_table(const dis_scaled_table *t, uint64_t top)
{
    if (!t) return;
    char safe[CLI_SAFE];
    for (size_t c = 0; c < t->n_columns; c++)
        printf(t->columns[c].names ? "%s%-24s" : "%s%12s", c ? " " : "", cli_safe(t->columns[c].name, safe));
    printf("\n");
    for (size_t i = 0; i < t->n_rows && i < top; i++) {
        for (size_t c = 0; c < t->n_columns; c++) {
            const dis_scaled_column *x = &t->columns[c];
            if (x->names)
                printf("%s%-24s", c ? " " : "",
                       cli_safe(dis_names_get(x->names, x->index ? x->index[i] : i, NULL), safe));
            else if (isnan(x->values[i]))
                printf(" %12s", "-");
            else
                printf(" %12.5g", x->values[i]);
        }
        printf("\n");
    }
}

static void print_summary(scaled_command *job, const dis_scaled_view *view)
{
    votes_input_print(&job->in);
    if (view->method)
        cli_print(job->c, "  %-18s %s%s", "model", view->method, view->converged ? "" : ": did not converge");
    for (size_t i = 0; i < view->n_notes; i++) cli_print(job->c, "  %-18s %s", "note", view->notes[i]);
}

/* ---- files ---- */

static dis_status write_measures(const dis_scaled_view *view, const char *path, const char *format)
{
    static const char *const columns[] = {"measure", "value", "ci_low", "ci_high", "n", "degenerate", "reason"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, format, columns, sizeof columns / sizeof *columns, &t);
    if (status != DIS_OK) return status;
    for (size_t m = 0; m < view->n_measures; m++) {
        const dis_metric *x = &view->measures[m].value;
        cli_cell_write_text(t, view->measures[m].name);
        cli_cell_write_metric(t, x);
        dis__table_writer_count(t, x->n);
        cli_cell_write_text(t, x->degenerate ? "true" : NULL);
        cli_cell_write_text(t, x->reason);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_json(const scaled_command *job, const dis_scaled_view *view)
{
    dis__json_writer *j;
    dis_status status = cli_summary_open(job->json, job->command->name, &job->seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = votes_input_write_json_files(&job->in, j);
    cli_inputs_end(j);
    if (status == DIS_OK) status = votes_input_write_json_table(&job->in, j);
    votes_input_write_json_notes(&job->in, j);
    if (view->method) cli_json_write_text(j, "method", view->method);
    cli_json_write_count(j, "iterations", (uint64_t)view->iterations);
    cli_json_write_bool(j, "converged", view->converged);
    cli_json_write_count(j, "resamples", job->resamples);
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    for (size_t m = 0; m < view->n_measures; m++) {
        dis__json_writer_key(j, view->measures[m].name);
        dis__json_writer_metric(j, &view->measures[m].value);
    }
    dis__json_writer_end_object(j);
    return cli_summary_close(j, status);
}

static int write_named(const scaled_command *job, const dis_scaled *result, const char *name, size_t n,
                       const char *path, const char *format, size_t max_rows)
{
    char text[64], known[200] = "";
    snprintf(text, sizeof text, "%.*s", n > 60 ? 60 : (int)n, name);
    const dis_scaled_table *t = dis_scaled_find_table(result, text);
    if (t) return cli_failed(job->c, dis_scaled_table_write(t, path, format, max_rows));
    const dis_scaled_view view = dis_scaled_get_view(result);
    for (size_t i = 0; i < view.n_tables; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", view.tables[i].name);
    return cli_usage(job->c, "scale %s has no table \"%s\"; there are %s", dis_scale_get(view.scale)->name, text,
                     known);
}

static int write_all(const scaled_command *job, const dis_scaled *result, const dis_scaled_view *view)
{
    int code = 0;
    const char *output = job->output ? job->output : "-";
    const uint64_t top = job->top ? job->top : job->people ? USUAL_TOP : UINT64_MAX;
    if (job->people && !job->table) {
        print_measures(view, job->resamples > 0);
    } else if (job->people) {
        print_table(dis_scaled_find_table(result, "items"), top);
        printf("\n");
        print_table(dis_scaled_find_table(result, "workers"), top);
    } else if (job->table) {
        code = write_named(job, result, job->table, strlen(job->table), output, job->format, (size_t)top);
    } else {
        code = cli_failed(job->c, write_measures(view, output, job->format));
    }
    const struct {
        const char *table, *path;
    } files[] = {{"labels", job->labels}, {"items", job->items}, {"workers", job->workers}};
    for (size_t i = 0; i < sizeof files / sizeof *files && code == 0; i++)
        if (files[i].path)
            code = write_named(job, result, files[i].table, strlen(files[i].table), files[i].path, NULL, SIZE_MAX);
    for (size_t i = 0; i < job->in.v->table.n && code == 0; i++) {
        const char *spec = job->in.v->table.value[i], *at = strchr(spec, '=');
        code = write_named(job, result, spec, (size_t)(at - spec), at + 1, NULL, SIZE_MAX);
    }
    if (code == 0 && job->json) code = cli_failed(job->c, write_json(job, view));
    return code == 0 ? cli_flush(job->c) : code;
}

static int work(scaled_command *job, dis_context **ctx)
{
    dis_scaled *result = NULL;
    scaled_covariates covariates = {0};
    int code = check(job);
    if (code == 0) code = votes_input_check(&job->in);
    if (code == 0) code = scaled_covariates_check(job, &covariates);
    job->c->replicates_data = true; /* ranks share resamples out, and the first one writes */
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, job->common, ctx));
    if (code == 0) code = votes_input_read(&job->in, *ctx);
    if (code == 0) code = scaled_covariates_read(job, *ctx, &covariates);
    if (code == 0) code = cli_failed(job->c, make(job, *ctx, &covariates, &result));
    scaled_covariates_free(&covariates);
    if (code == 0 && dis_context_rank(*ctx) == 0) {
        const dis_scaled_view view = dis_scaled_get_view(result);
        print_summary(job, &view);
        code = job->write ? job->write(job, *ctx, result) : write_all(job, result, &view);
    }
    dis_scaled_destroy(result);
    return code;
}

int scaled_command_run(scaled_command *job)
{
    dis_context *ctx = NULL;
    int code = work(job, &ctx);
    code = cli_ranks_end(job->c, ctx, code);
    votes_input_free(&job->in);
    dis_context_destroy(ctx);
    return code;
}
