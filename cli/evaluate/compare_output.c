/* Results of `dissent compare`: as text, as a table with one value per row, and as a JSON summary. */
#include "tool/json_writer.h"
#include "tool/value_names.h"
#include "tool/table_writer.h"
#include "evaluate/cmd_compare.h"
#include <math.h>
#include <string.h>

static const char *const cell_titles[DIS_CELLS] = {"both correct", "both wrong", "only A correct", "only B correct"};
static const char *const statistic_titles[DIS_CELL_STATISTICS] = {"kurtosis", "entropy", "max. p"};
static const char *const stars[] = {"", "*", "**"};

/* ---- for people ---- */

/* "p < .0001", "p = .0312"; `min`: the smallest that can be told from 0. */
static const char *p_text(double p, double min, char out[CLI_NUMBER])
{
    if (isnan(p))
        snprintf(out, CLI_NUMBER, "-");
    else if (p < min)
        snprintf(out, CLI_NUMBER, "p < %.4g", min);
    else
        snprintf(out, CLI_NUMBER, p < 1e-4 ? "p = %.1e" : "p = %.4f", p);
    return out;
}

static void metrics_text(const compare_command *job)
{
    const dis_comparison_view *v = &job->view;
    const uint64_t resamples = job->v->figures.resamples;
    printf("%-10s%-26s%-26s%s\n", "", "A", "B",
           !resamples                                     ? "A - B"
           : v->interval_scope == DIS_INTERVAL_ANNOTATORS ? "A - B                       for other annotators and items"
                                                          : "A - B                       paired bootstrap");
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        const dis_significance *s = &v->metric[m];
        char a[CLI_METRIC_SIZE], b[CLI_METRIC_SIZE], d[CLI_METRIC_SIZE], p[CLI_NUMBER];
        const bool ahead = s->difference.value >= 0;
        printf("%-10s%-26s%-26s%s", dis_comparison_metric_get(m)->title, cli_metric_format(&s->a, 4, a),
               cli_metric_format(&s->b, 4, b), ahead ? "+" : "");
        if (resamples)
            printf("%-*s%s%s%s\n", ahead ? 27 : 28, cli_metric_format(&s->difference, 4, d),
                   p_text(s->p, 1 / (double)resamples, p), s->stars ? " " : "", stars[s->stars]);
        else
            printf("%s\n", cli_metric_format(&s->difference, 4, d));
        if (v->n_a > 1 || v->n_b > 1) {
            printf("%-10s", "  sd");
            if (v->n_a > 1)
                printf("%-26.4f", s->sd_a);
            else
                printf("%-26s", "-");
            if (v->n_b > 1) printf("%.4f", s->sd_b);
            printf("\n");
        }
    }
}

static const char *law_of(const dis_mcnemar *t)
{
    return t->exact ? "exact" : "chi-square";
}

static void mcnemar_text(const dis_comparison_view *v)
{
    enum { SHOWN = 5 };
    for (size_t q = 0; q < v->n_pairs && q < SHOWN; q++) {
        const dis_mcnemar *t = &v->mcnemar[q];
        char p[CLI_NUMBER];
        printf("%-10sonly A correct %llu, only B correct %llu, %s (%s)\n", q ? "" : "McNemar",
               (unsigned long long)t->only_a, (unsigned long long)t->only_b, p_text(t->p, 0, p), law_of(t));
    }
    size_t below = 0;
    for (size_t q = 0; q < v->n_pairs; q++) below += v->mcnemar[q].p <= .05;
    if (v->n_pairs > 1) printf("%-10sp <= .05 for %zu of %zu pairs of seeds\n", "", below, v->n_pairs);
}

static void cells_text(const dis_comparison_view *v)
{
    printf("\n%-14s%10s", "soft labels", "n");
    for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) printf("%10s", statistic_titles[s]);
    putchar('\n');
    for (size_t c = 0; c < DIS_CELLS; c++) {
        printf("%-14s%10llu", cell_titles[c], (unsigned long long)v->cell[c]);
        for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) {
            const dis_metric *m = &v->statistic[s].mean[c];
            if (m->reason)
                printf("%10s", "-");
            else
                printf("%10.4f", m->value);
        }
        putchar('\n');
    }
    printf("only A correct against only B correct, Mann-Whitney:\n");
    for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) {
        const dis_cell_statistic *x = &v->statistic[s];
        char p[CLI_NUMBER];
        printf("  %-10s", statistic_titles[s]);
        if (x->test.reason)
            printf("- (%s)", x->test.reason);
        else
            printf("U = %.1f, %s (%s)", x->test.u, p_text(x->test.p, 0, p), x->test.exact ? "exact" : "normal");
        if (x->n_excluded && !x->test.reason) printf("; %zu uniform soft labels have none", x->n_excluded);
        putchar('\n');
    }
}

void compare_text_print(const compare_command *job)
{
    metrics_text(job);
    mcnemar_text(&job->view);
    if (job->view.has_statistics) cells_text(&job->view);
}

/* ---- one figure per row ---- */

static void row(dis__table_writer *t, const char *metric, const char *what, const dis_metric *m, double p)
{
    dis__table_writer_text(t, metric, strlen(metric));
    dis__table_writer_text(t, what, strlen(what));
    dis__table_writer_real(t, m->reason ? NAN : m->value);
    dis__table_writer_real(t, m->has_interval ? m->ci_low : NAN);
    dis__table_writer_real(t, m->has_interval ? m->ci_high : NAN);
    dis__table_writer_count(t, m->n);
    dis__table_writer_real(t, p);
    if (m->reason)
        dis__table_writer_text(t, m->reason, strlen(m->reason));
    else
        dis__table_writer_null(t);
}

dis_status compare_table_write(const compare_command *job, const char *format)
{
    static const char *const columns[] = {"figure", "of", "value", "ci_low", "ci_high", "n", "p", "reason"};
    const dis_comparison_view *v = &job->view;
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(cli_metric_table_path(&job->v->figures), format, columns,
                                                       sizeof columns / sizeof *columns, &t);
    if (status != DIS_OK) return status;
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        const char *name = dis_comparison_metric_get(m)->name;
        row(t, name, "a", &v->metric[m].a, NAN);
        row(t, name, "b", &v->metric[m].b, NAN);
        row(t, name, "difference", &v->metric[m].difference, v->metric[m].p);
    }
    for (size_t q = 0; q < v->n_pairs; q++) {
        char pair[2 * CLI_NUMBER];
        const bool in_order = v->n_a == v->n_b;
        const dis_metric m = {.value = v->mcnemar[q].statistic,
                              .n = (size_t)(v->mcnemar[q].only_a + v->mcnemar[q].only_b)};
        snprintf(pair, sizeof pair, "a%zu:b%zu", (in_order ? q : q / v->n_b) + 1, (in_order ? q : q % v->n_b) + 1);
        row(t, v->mcnemar[q].exact ? "mcnemar_exact" : "mcnemar", pair, &m, v->mcnemar[q].p);
    }
    for (size_t s = 0; v->has_statistics && s < DIS_CELL_STATISTICS; s++) {
        const char *name = dis__comparison_statistic_name(s);
        const dis_cell_statistic *x = &v->statistic[s];
        for (size_t c = 0; c < DIS_CELLS; c++) row(t, name, dis__comparison_cell_name(c), &x->mean[c], NAN);
        const dis_metric u = {.value = x->test.u, .n = x->test.n_x + x->test.n_y, .reason = x->test.reason};
        row(t, name, "mann_whitney", &u, x->test.p);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

/* ---- for machines ---- */

static void put_metric(dis__json_writer *j, const char *key, const dis_metric *m)
{
    dis__json_writer_key(j, key);
    dis__json_writer_metric(j, m);
}

static void put_metrics(const dis_comparison_view *v, dis__json_writer *j)
{
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        const dis_significance *s = &v->metric[m];
        dis__json_writer_key(j, dis_comparison_metric_get(m)->name);
        dis__json_writer_begin_object(j);
        put_metric(j, "a", &s->a);
        put_metric(j, "b", &s->b);
        put_metric(j, "difference", &s->difference);
        cli_json_write_real(j, "sd_a", s->sd_a);
        cli_json_write_real(j, "sd_b", s->sd_b);
        cli_json_write_real(j, "p", s->p);
        cli_json_write_real(j, "p_two_sided", s->p_two_sided);
        cli_json_write_text(j, "stars", stars[s->stars]);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_object(j);
}

static void put_mcnemar(const dis_comparison_view *v, dis__json_writer *j)
{
    dis__json_writer_key(j, "mcnemar");
    dis__json_writer_begin_array(j);
    for (size_t q = 0; q < v->n_pairs; q++) {
        const bool in_order = v->n_a == v->n_b;
        const dis_mcnemar *t = &v->mcnemar[q];
        dis__json_writer_begin_object(j);
        cli_json_write_count(j, "seed_a", (in_order ? q : q / v->n_b) + 1);
        cli_json_write_count(j, "seed_b", (in_order ? q : q % v->n_b) + 1);
        cli_json_write_count(j, "only_a_correct", t->only_a);
        cli_json_write_count(j, "only_b_correct", t->only_b);
        cli_json_write_text(j, "law", law_of(t));
        cli_json_write_real(j, "statistic", t->statistic);
        cli_json_write_real(j, "p", t->p);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_cells(const compare_command *job, dis__json_writer *j)
{
    static const char *const alternatives[] = {"two-sided", "less", "greater"};
    const dis_comparison_view *v = &job->view;
    dis__json_writer_key(j, "cells");
    dis__json_writer_begin_object(j);
    for (size_t c = 0; c < DIS_CELLS; c++) cli_json_write_count(j, dis__comparison_cell_name(c), v->cell[c]);
    dis__json_writer_end_object(j);
    dis__json_writer_key(j, "soft_labels");
    if (!v->has_statistics) {
        dis__json_writer_null(j);
        return;
    }
    dis__json_writer_begin_object(j);
    for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) {
        const dis_cell_statistic *x = &v->statistic[s];
        dis__json_writer_key(j, dis__comparison_statistic_name(s));
        dis__json_writer_begin_object(j);
        for (size_t c = 0; c < DIS_CELLS; c++) put_metric(j, dis__comparison_cell_name(c), &x->mean[c]);
        cli_json_write_count(j, "left_out", x->n_excluded);
        dis__json_writer_key(j, "mann_whitney");
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "alternative", alternatives[job->v->alternative]);
        cli_json_write_real(j, "u", x->test.u);
        cli_json_write_real(j, "p", x->test.p);
        cli_json_write_text(j, "law", x->test.reason ? NULL : x->test.exact ? "exact" : "normal");
        if (x->test.reason) cli_json_write_text(j, "reason", x->test.reason);
        dis__json_writer_end_object(j);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_object(j);
}

dis_status compare_json_write(const compare_command *job)
{
    const dis_comparison_view *v = &job->view;
    dis__json_writer *j;
    dis_status status = cli_summary_open(job->v->figures.json, "compare", &job->v->figures.seed, &j);
    if (status != DIS_OK) return status;
    status = label_input_write_json(&job->in, j);
    cli_json_write_count(j, "items", v->n_items);
    cli_json_write_names(j, "classes", job->in.alignment.classes);
    cli_json_write_count(j, "seeds_a", v->n_a);
    cli_json_write_count(j, "seeds_b", v->n_b);
    cli_json_write_bool(j, "pool_seeds", job->v->pool_seeds);
    cli_json_write_count(j, "resamples", job->v->figures.resamples);
    cli_json_write_real(j, "fraction", job->v->figures.fraction);
    cli_json_write_count(j, "drawn", v->n_resample);
    cli_json_write_text(j, "intervals_over", dis_interval_scope_name(v->interval_scope));
    cli_json_write_count(j, "annotators", v->n_annotators);
    cli_json_write_bool(j, "few_annotators", v->few_annotators);
    put_metrics(v, j);
    put_mcnemar(v, j);
    put_cells(job, j);
    return cli_summary_close(j, status);
}
