/* dissent judge check: later votes against a certificate. */
#include "tool/junit.h"
#include "tool/table_writer.h"
#include "judge/cmd_judge.h"
#include "output/metric_table.h"
#include "output/json_summary.h"
#include "output/result_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHAT = 96, FAILURE = 320 };

typedef struct {
    judge_command *job;
    dis_certificate *certificate;
    dis_certificate_view certified;
    dis_drift *drift;
    dis_drift_view view;
} check;

/* ---- the certificate and these files ---- */

static const char *certified_hash(const check *w, const char *role)
{
    for (size_t s = 0; s < w->certified.n_sources; s++)
        if (strcmp(w->certified.sources[s].role, role) == 0) return w->certified.sources[s].sha256;
    return NULL;
}

static int compare_file(const check *w, const char *role, const char *path)
{
    const char *hash = certified_hash(w, role);
    char here[65], safe[CLI_SAFE];
    if (!path && hash)
        cli_warn(w->job->c, "the certificate is for a certain %s; add --%s FILE to compare it", role, role);
    if (!path) return 0;
    if (!hash)
        return cli_error(w->job->c, DIS_EDATA, "%s: the certificate has no %s to compare with %s", w->job->certificate,
                         role, cli_safe(path, safe));
    const int code = judge_file_hash(w->job, path, here);
    if (code != 0 || strcmp(here, hash) == 0) return code;
    return cli_error(w->job->c, DIS_EDATA,
                     "%s is not the certified %s (SHA-256 %.12s..., certified %.12s...); a judge with another %s needs "
                     "a new certificate",
                     cli_safe(path, safe), role, here, hash, role);
}

static int compare_votes(const check *w)
{
    char here[65], safe[CLI_SAFE];
    for (size_t i = 0; i < w->job->in.n_paths; i++) {
        const int code = judge_file_hash(w->job, w->job->in.paths[i], here);
        if (code != 0) return code;
        for (size_t s = 0; *here && s < w->certified.n_sources; s++)
            if (strcmp(w->certified.sources[s].role, "votes") == 0 && strcmp(w->certified.sources[s].sha256, here) == 0)
                return cli_error(w->job->c, DIS_EDATA,
                                 "%s has the votes that the certificate was made from; check takes later votes",
                                 cli_safe(w->job->in.paths[i], safe));
    }
    return 0;
}

/* ---- rows ---- */

static void describe(const check *w, const dis_drift_row *r, char out[WHAT])
{
    char safe[CLI_SAFE];
    if (r->kind == DIS_DRIFT_AGREEMENT) {
        snprintf(out, WHAT, "agreement with people");
        return;
    }
    cli_text_escape(dis_names_get(w->certified.classes, r->class_index, NULL), safe, 60);
    snprintf(out, WHAT, r->kind == DIS_DRIFT_SHARE ? "share of %s" : "bias for %s", safe);
}

static const char *since_of(const check *w, const dis_drift_row *r)
{
    return r->drifted ? dis_names_get(w->job->in.view.tasks, r->since, NULL) : NULL;
}

static void describe_drift(const check *w, const dis_drift_row *r, char out[FAILURE])
{
    char what[WHAT], now[CLI_METRIC_SIZE], safe[CLI_SAFE];
    describe(w, r, what);
    cli_text_escape(since_of(w, r), safe, 60);
    snprintf(out, FAILURE, "%s has changed: certified %.3f, now %s; most likely since item %s", what, r->certified,
             cli_metric_format(&r->now, 3, now), safe);
}

static void print_rows(const check *w)
{
    char what[WHAT], safe[CLI_SAFE];
    printf("%-34s %7s %9s  %-*s%8s  %s\n", "", "items", "certified", JUDGE_METRIC_WIDTH, "now", "p", "since item");
    for (size_t r = 0; r < w->view.n_rows; r++) {
        const dis_drift_row *x = &w->view.rows[r];
        describe(w, x, what);
        printf("%-34s %7llu %9.3f  ", what, (unsigned long long)x->n, x->certified);
        cli_metric_print(&x->now, JUDGE_METRIC_WIDTH);
        printf("%8.2g  %s\n", x->p, x->drifted ? (cli_text_escape(since_of(w, x), safe, 60), safe) : "no change");
    }
}

static dis_status write_table(const check *w, const char *path)
{
    static const char *const columns[] = {"figure",  "class",    "items", "certified", "now",
                                          "now_low", "now_high", "p",     "drifted",   "since"};
    static const char *const kinds[] = {"agreement", "share", "bias"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, NULL, columns, sizeof columns / sizeof *columns, &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < w->view.n_rows; r++) {
        const dis_drift_row *x = &w->view.rows[r];
        cli_cell_write_text(t, kinds[x->kind]);
        cli_cell_write_text(t, x->kind == DIS_DRIFT_AGREEMENT
                                   ? NULL
                                   : dis_names_get(w->certified.classes, x->class_index, NULL));
        dis__table_writer_count(t, x->n);
        dis__table_writer_real(t, x->certified);
        cli_cell_write_metric(t, &x->now);
        dis__table_writer_real(t, x->p);
        cli_cell_write_text(t, x->drifted ? "true" : "false");
        cli_cell_write_text(t, since_of(w, x));
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_json(const check *w, const char *path)
{
    static const char *const kinds[] = {"agreement", "share", "bias"};
    dis__json_writer *j;
    const dis_status status = cli_summary_open(path, "judge check", NULL, &j);
    if (status != DIS_OK) return status;
    cli_json_write_text(j, "judge", w->certified.judge);
    cli_json_write_real(j, "level", w->job->v->level);
    cli_json_write_count(j, "items", w->view.n_items);
    cli_json_write_count(j, "items_with_people", w->view.n_shared);
    cli_json_write_bool(j, "drifted", w->view.drifted);
    dis__json_writer_key(j, "rows");
    dis__json_writer_begin_array(j);
    for (size_t r = 0; r < w->view.n_rows; r++) {
        const dis_drift_row *x = &w->view.rows[r];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "figure", kinds[x->kind]);
        cli_json_write_text(j, "class",
                            x->kind == DIS_DRIFT_AGREEMENT ? NULL
                                                           : dis_names_get(w->certified.classes, x->class_index, NULL));
        cli_json_write_count(j, "items", x->n);
        cli_json_write_real(j, "certified", x->certified);
        dis__json_writer_key(j, "now");
        dis__json_writer_metric(j, &x->now);
        cli_json_write_real(j, "p", x->p);
        cli_json_write_bool(j, "drifted", x->drifted);
        cli_json_write_text(j, "since", since_of(w, x));
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    return cli_summary_close(j, DIS_OK);
}

static int write_junit(const check *w)
{
    const size_t n = w->view.n_rows;
    dis__junit_case *row = calloc(n, sizeof *row);
    char(*name)[WHAT] = calloc(n, sizeof *name), (*failure)[FAILURE] = calloc(n, sizeof *failure);
    dis_status status = DIS_OK;
    if (row && name && failure) {
        for (size_t r = 0; r < n; r++) {
            describe(w, &w->view.rows[r], name[r]);
            row[r].name = name[r];
            if (!w->view.rows[r].drifted) continue;
            describe_drift(w, &w->view.rows[r], failure[r]);
            row[r].failure = failure[r];
        }
        status = dis__junit_write(w->job->v->junit, "dissent judge check", row, n);
    }
    const bool memory = row && name && failure;
    free(row);
    free(name);
    free(failure);
    return memory ? cli_failed(w->job->c, status) : cli_error(w->job->c, DIS_ELIMIT, "no memory for %zu rows", n);
}

/* ---- all ---- */

static int write_all(const check *w)
{
    const judge_values *v = w->job->v;
    int code = 0;
    if (v->output)
        code = cli_failed(w->job->c, write_table(w, v->output));
    else if (!cli_is_dash(v->json) && !cli_is_dash(v->junit))
        print_rows(w);
    if (code == 0 && v->json) code = cli_failed(w->job->c, write_json(w, v->json));
    if (code == 0 && v->junit) code = write_junit(w);
    return code == 0 ? cli_flush(w->job->c) : code;
}

static int report(const check *w)
{
    cli *c = w->job->c;
    char text[FAILURE];
    size_t drifted = 0;
    votes_input_print(&w->job->in);
    if (w->view.n_shared == 0)
        cli_warn(c, "people voted on none of these items; only the shares of the classes can be checked");
    const int code = write_all(w);
    if (code != 0) return code;
    for (size_t r = 0; r < w->view.n_rows; r++) {
        if (!w->view.rows[r].drifted) continue;
        describe_drift(w, &w->view.rows[r], text);
        if (drifted++ < 3) cli_print(c, "%s", text);
    }
    if (drifted) return CLI_NOT_MET;
    cli_print(c, "no change found in %llu items, %llu of them with votes of people",
              (unsigned long long)w->view.n_items, (unsigned long long)w->view.n_shared);
    return 0;
}

int judge_check(judge_command *job)
{
    check w = {.job = job};
    dis_drift_options o = dis_drift_options_default();
    o.name = job->v->judge;
    o.level = job->v->level;
    int code = cli_failed(job->c, dis_certificate_read(job->ctx, job->certificate, &w.certificate));
    if (code == 0) w.certified = dis_certificate_get_view(w.certificate);
    if (code == 0) code = compare_file(&w, "prompt", job->v->prompt);
    if (code == 0) code = compare_file(&w, "guideline", job->v->guideline);
    if (code == 0) code = compare_votes(&w);
    if (code == 0)
        code = cli_failed(job->c, dis_drift_run(job->ctx, w.certificate, job->in.votes, job->person, &o, &w.drift));
    if (code == 0) {
        w.view = dis_drift_get_view(w.drift);
        code = report(&w);
    }
    dis_drift_destroy(w.drift);
    dis_certificate_destroy(w.certificate);
    return code;
}
