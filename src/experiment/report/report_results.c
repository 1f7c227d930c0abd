/* Results: the table, and every measure as dots with intervals. */
#include "experiment/report/experiment_report.h"
#include "tool/value_names.h"
#include "core/memory/memory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 80 };

/* "macro-F1" and the arrow for the better direction. */
static void plain_metric(const dis__experiment_page *p, size_t m, char out[WORDS])
{
    const size_t metric = p->e->plan->measure[m].metric;
    const char *arrow = dis__evaluation_metric_arrow(metric);
    snprintf(out, WORDS, "%s%s%s", dis_evaluation_metric_get(metric)->title, *arrow ? " " : "", arrow);
}

static void put_cell_name(dis__markup *m, const char *name)
{
    dis__markup_append(m, "\xE2\x80\x9C");
    dis__markup_append_name(m, name, strlen(name), 40);
    dis__markup_append(m, "\xE2\x80\x9D");
}

/* ---- sentences and tiles ---- */

static void add_progress(dis__experiment_page *p)
{
    size_t runs = 0, done = 0, failed = 0;
    for (size_t r = 0; r < p->t.n_rows; r++) {
        runs += p->t.row[r].n_runs;
        done += p->t.row[r].n_done;
        failed += p->t.row[r].n_failed;
    }
    dis__page_tile_add(p->page, dis__format_abbreviated(p->t.n_rows).text, p->t.n_rows == 1 ? "cell" : "cells");
    dis__page_tile_add(p->page, dis__format_abbreviated(done).text, done == 1 ? "run done" : "runs done");
    if (failed) dis__page_tile_add(p->page, dis__format_abbreviated(failed).text, "failed");
    if (runs > done + failed)
        dis__page_tile_add(p->page, dis__format_abbreviated(runs - done - failed).text, "still missing");
    dis__markup sentence = {0};
    if (done < runs) {
        dis__markup_appendf(&sentence, "%s of %s runs are done%s; the figures below are about these.",
                            dis__format_grouped(done).text, dis__format_grouped(runs).text,
                            failed ? ", and some have failed" : "");
        dis__page_finding_add(p->page, &sentence);
    }
    dis__markup_free(&sentence);
}

/* The best cell of a data set by one measure, compared with its baseline; true: a finding was added. */
static bool add_best(dis__experiment_page *p, size_t first, size_t end, size_t m)
{
    const char *metric = dis_evaluation_metric_get(p->e->plan->measure[m].metric)->title;
    size_t n_best = 0;
    for (size_t r = first; r < end; r++) n_best += p->t.row[r].values[m].best;
    for (size_t r = first; r < end; r++) {
        const dis_experiment_value *f = &p->t.row[r].values[m];
        if (!f->best) continue;
        const dis_experiment_cell *cell = dis__row_cell(p, r);
        dis__markup sentence = {0};
        dis__markup_append(&sentence, "On ");
        dis__markup_append_name(&sentence, cell->data, strlen(cell->data), 40);
        dis__markup_appendf(&sentence, ", ");
        put_cell_name(&sentence, cell->name);
        if (n_best > 1) dis__markup_appendf(&sentence, " and %zu other%s", n_best - 1, dis__plural_suffix(n_best - 1));
        if (p->one_class && strcmp(cell->name, p->one_class) == 0)
            dis__markup_append(&sentence, ", which predicts a single class,");
        dis__markup_appendf(&sentence, " %s best in %s (", n_best > 1 ? "are alike and" : "is", metric);
        dis__markup_append_name(&sentence, p->e->plan->measure[m].set, strlen(p->e->plan->measure[m].set), 30);
        dis__markup_appendf(&sentence, "): %s", dis__format_fixed(f->mean, 3).text);
        if (f->n > 1)
            dis__markup_appendf(&sentence, " over %zu seeds, 95\xC2\xA0%% from %s to %s", f->n,
                                dis__format_fixed(f->ci_low, 3).text, dis__format_fixed(f->ci_high, 3).text);
        if (f->has_comparison) {
            dis__markup_appendf(&sentence, "; %s%s than ", dis__format_fixed(fabs(f->difference), 3).text,
                                f->difference >= 0 ? " more" : " less");
            put_cell_name(&sentence, p->e->plan->cell[cell->baseline].name);
            dis__markup_appendf(&sentence, f->stars == 2   ? ", p at most .01"
                                           : f->stars == 1 ? ", p at most .05"
                                                           : ": no clear difference");
        }
        dis__markup_append(&sentence, ".");
        dis__page_finding_add(p->page, &sentence);
        dis__markup_free(&sentence);
        return true;
    }
    return false;
}

/* ---- the table ---- */

/* Whether a cell is better than its baseline by a measure, as far as its sign goes. */
static bool is_better(const dis__experiment_page *p, size_t m, const dis_experiment_value *f)
{
    const char *better = dis_evaluation_metric_get(p->e->plan->measure[m].metric)->better;
    return strcmp(better, "lower") == 0 ? f->difference < 0 : f->difference > 0;
}

static void put_figure(const dis__experiment_page *p, dis__data_table *g, size_t m, const dis_experiment_value *f)
{
    static const char *const stars[] = {"", "*", "**"};
    const bool starred = f->n && f->has_comparison && f->stars, published = !isnan(f->published);
    char note[160];
    const bool alike = f->n && f->has_comparison && !f->stars;
    snprintf(note, sizeof note, "%s%s%s%s%s%s%s%s", f->n && f->best ? "best, " : "", f->n > 1 ? "sd " : "",
             f->n > 1 ? dis__format_fixed(f->sd, 4).text : "", starred ? is_better(p, m, f) ? " " : ", worse " : "",
             starred ? stars[f->stars] : "",
             alike ? f->n > 1 || f->best ? ", no clear difference" : "no clear difference" : "",
             published ? ", paper " : "", published ? dis__format_fixed(f->published, 4).text : "");
    const size_t n = strlen(note), from = strncmp(note, ", ", 2) == 0 ? 2 : 0;
    if (n >= 2 && strcmp(note + n - 2, ", ") == 0) note[n - 2] = 0;
    dis__data_table_add_noted(g, f->n ? f->mean : (double)NAN, note + from);
    dis__data_table_add_number(g, f->n > 1 ? f->sd : (double)NAN);
    dis__data_table_add_static_text(g, f->n && f->has_comparison ? stars[f->stars] : "");
    dis__data_table_add_number(g, f->published);
}

/* Findings on these rows: seeds, comparisons, the paper's values. */
static void put_table_caption(const dis__experiment_page *p, size_t first, size_t end, dis__markup *m)
{
    bool seeds = false, compared = false, published = false;
    for (size_t r = first; r < end; r++)
        for (size_t i = 0; i < p->t.n_measures; i++) {
            const dis_experiment_value *f = &p->t.row[r].values[i];
            seeds |= f->n > 1;
            compared |= f->n && f->has_comparison;
            published |= !isnan(f->published);
        }
    dis__markup_append(
        m, seeds ? "Mean over seeds, with the standard deviation (sd) below it; of each seed the mean over its folds."
                 : "One run per cell.");
    if (compared)
        dis__markup_append(
            m, " Stars: test against the baseline (paired bootstrap for accuracy and macro-F1, paired permutation "
               "of items for other metrics), * p at most .05, ** p at most .01; \xE2\x80\x9Cno clear "
               "difference\xE2\x80\x9D: p above .05.");
    if (published) dis__markup_append(m, " \xE2\x80\x9Cpaper\xE2\x80\x9D is what the paper reports.");
}

/* The values of always answering the most frequent gold label, and the cells that predict a single class. */
typedef struct {
    double accuracy, macro_f1;
    bool is_known;
} majority;

static dis_status measure_majority(dis_context *ctx, const dis__pooled *x, majority *out)
{
    bool wanted[DIS_EVALUATION_METRICS] = {false};
    dis_evaluation_options o = dis_evaluation_options_default();
    dis_evaluation *evaluation;
    wanted[DIS_EVALUATION_MAJORITY_ACCURACY] = wanted[DIS_EVALUATION_MAJORITY_MACRO_F1] = true;
    o.resamples = 0;
    o.metrics = wanted;
    o.n_metrics = DIS_EVALUATION_METRICS;
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = x->n_items,
                                     .n_classes = x->n_classes,
                                     .q = x->p,
                                     .gold = x->gold};
    DIS_TRY(dis_evaluation_run(ctx, &in, &o, &evaluation));
    const dis_evaluation_view v = dis_evaluation_get_view(evaluation);
    const dis_metric *accuracy = &v.metric[DIS_EVALUATION_MAJORITY_ACCURACY];
    out->is_known = !accuracy->reason;
    out->accuracy = accuracy->value;
    out->macro_f1 = v.metric[DIS_EVALUATION_MAJORITY_MACRO_F1].value;
    dis_evaluation_destroy(evaluation);
    return DIS_OK;
}

static bool predicts_one_class(const dis__pooled *x)
{
    for (size_t i = 1; i < x->n_items; i++)
        if (x->label[i] != x->label[0]) return false;
    return x->n_items >= 10;
}

static void warn_one_class(dis__experiment_page *p, size_t r, const char *set, const dis__pooled *x)
{
    dis__markup sentence = {0};
    size_t n;
    const char *name = dis_names_get(x->classes, (size_t)x->label[0], &n);
    dis__markup_append(&sentence, "Warning: ");
    put_cell_name(&sentence, dis__row_cell(p, r)->name);
    dis__markup_append(&sentence, " predicts the class \xE2\x80\x9C");
    dis__markup_append_name(&sentence, name, n, 40);
    dis__markup_appendf(&sentence, "\xE2\x80\x9D for all %s items of ", dis__format_grouped(x->n_items).text);
    dis__markup_append_name(&sentence, set, strlen(set), 40);
    dis__markup_append(&sentence,
                       ". It has learned nothing about the items: check the learning rate, the epochs and the labels.");
    dis__page_finding_add(p->page, &sentence);
    dis__markup_free(&sentence);
}

/* Warnings and the majority baseline of each set of a data set, from predictions that were kept. */
static dis_status check_predictions(dis__experiment_page *p, size_t first, size_t end, const char *set, majority *out)
{
    for (size_t r = first; r < end && p->store; r++) {
        dis__pooled x = {0};
        bool found;
        DIS_TRY(dis__first_pooled(p, p->t.row[r].cell, set, &x, &found));
        if (!found) continue;
        if (predicts_one_class(&x)) {
            warn_one_class(p, r, set, &x);
            if (p->n_one_class++ == 0) p->one_class = dis__row_cell(p, r)->name;
        }
        dis_status status = DIS_OK;
        bool gold = false;
        for (size_t i = 0; i < x.n_items; i++) gold |= x.gold[i] >= 0;
        if (!out->is_known && gold) status = measure_majority(p->ctx, &x, out);
        dis__pooled_free(&x);
        DIS_TRY(status);
    }
    return DIS_OK;
}

/* The last row of the table: no model at all. */
static void add_majority_row(const dis__experiment_page *p, dis__data_table *g, const char *const *sets,
                             const majority *known, size_t n_sets, size_t n_measures)
{
    bool any = false;
    for (size_t s = 0; s < n_sets; s++) any |= known[s].is_known;
    if (!any) return;
    dis__data_table_add_static_text(g, "always the most frequent class");
    dis__data_table_add_static_text(g, "");
    for (size_t m = 0; m < n_measures; m++) {
        const dis_evaluation_metric metric = p->e->plan->measure[m].metric;
        double x = NAN;
        for (size_t s = 0; s < n_sets; s++) {
            if (strcmp(sets[s], p->e->plan->measure[m].set) != 0 || !known[s].is_known) continue;
            x = metric == DIS_EVALUATION_ACCURACY   ? known[s].accuracy
                : metric == DIS_EVALUATION_MACRO_F1 ? known[s].macro_f1
                                                    : (double)NAN;
        }
        dis__data_table_add_noted(g, x, "");
        dis__data_table_add_number(g, NAN);
        dis__data_table_add_static_text(g, "");
        dis__data_table_add_number(g, NAN);
    }
}

static void put_latex(const dis__experiment_page *p, size_t first, size_t end, dis__markup *m)
{
    dis__markup text = {0};
    dis_experiment_table_view part = p->t;
    part.row += first;
    part.n_rows = end - first;
    const dis_status status = dis__experiment_table_format_latex(p->e, part, &text);
    if (m->status == DIS_OK) m->status = status;
    dis__markup_append(m, "<details><summary>LaTeX</summary><pre>");
    dis__markup_append_markup_escaped(m, &text);
    dis__markup_append(m, "</pre></details>");
    dis__markup_free(&text);
}

static dis_status table(dis__experiment_page *p, size_t first, size_t end)
{
    enum { MAX_MEASURES = (DIS__DATA_TABLE_COLUMNS - 3) / 4, MAX_SETS = 8 };
    const size_t n_measures = p->t.n_measures < MAX_MEASURES ? p->t.n_measures : MAX_MEASURES;
    const dis__figure_id id = dis__next_id(p, "table");
    dis__markup title = {0}, head[MAX_MEASURES] = {{0}};
    const char *sets[MAX_SETS];
    majority known[MAX_SETS] = {{0}};
    size_t n_sets = 0;
    const char *set;
    for (size_t next = 0; n_sets < MAX_SETS && dis__next_set(p->e->plan, &next, &set); n_sets++) {
        sets[n_sets] = set;
        DIS_TRY(check_predictions(p, first, end, set, &known[n_sets]));
    }
    dis__put_title(&title, "All results on ", dis__row_cell(p, first)->data);
    dis__figure f = {.id = id.text, .title = title.status == DIS_OK ? title.bytes : "", .wide = true, .open = true};
    put_table_caption(p, first, end, &f.caption);
    dis__data_table_add_column(&f.table, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "runs", DIS__CELL_TEXT);
    for (size_t m = 0; m < n_measures; m++) {
        char metric[WORDS];
        plain_metric(p, m, metric);
        dis__markup_appendf(&head[m], "%s, ", metric);
        dis__markup_append_n(&head[m], p->e->plan->measure[m].set, strlen(p->e->plan->measure[m].set) + 1);
        dis__data_table_add_named_column(&f.table, head[m].status == DIS_OK ? head[m].bytes : "", DIS__CELL_NOTED);
        dis__data_table_set_always_shown(&f.table);
        dis__data_table_add_column(&f.table, "sd", DIS__CELL_REAL);
        dis__data_table_set_csv_only(&f.table);
        dis__data_table_add_column(&f.table, "stars", DIS__CELL_TEXT);
        dis__data_table_set_csv_only(&f.table);
        dis__data_table_add_column(&f.table, "published", DIS__CELL_REAL);
        dis__data_table_set_csv_only(&f.table);
    }
    for (size_t r = first; r < end; r++) {
        const dis_experiment_cell *cell = dis__row_cell(p, r);
        char runs[64];
        snprintf(runs, sizeof runs, "%zu/%zu", p->t.row[r].n_done, p->t.row[r].n_runs);
        dis__data_table_add_text(&f.table, cell->name, strlen(cell->name));
        dis__data_table_add_static_text(&f.table, runs);
        for (size_t m = 0; m < n_measures; m++) put_figure(p, &f.table, m, &p->t.row[r].values[m]);
    }
    add_majority_row(p, &f.table, sets, known, n_sets, n_measures);
    put_latex(p, first, end, &f.chart);
    if (f.table.status == DIS_OK) f.table.status = title.status;
    for (size_t m = 0; m < n_measures; m++)
        if (f.table.status == DIS_OK) f.table.status = head[m].status;
    dis__page_figure_add(p->page, &f);
    dis__markup_free(&title);
    for (size_t m = 0; m < n_measures; m++) dis__markup_free(&head[m]);
    return DIS_OK;
}

/* ---- one measure ---- */

static void measure_numbers(const dis__experiment_page *p, dis__data_table *g, size_t first, size_t end, size_t m)
{
    static const char *const heads[] = {"mean", "sd", "95 % from", "to", "published", "difference", "p"};
    dis__data_table_add_column(g, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(g, "seeds", DIS__CELL_COUNT);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) dis__data_table_add_column(g, heads[i], DIS__CELL_REAL);
    for (size_t r = first; r < end; r++) {
        const dis_experiment_value *f = &p->t.row[r].values[m];
        const double x[] = {f->mean,
                            f->sd,
                            f->ci_low,
                            f->ci_high,
                            f->published,
                            f->has_comparison ? f->difference : (double)NAN,
                            f->has_comparison ? f->p : (double)NAN};
        dis__data_table_add_text(g, dis__row_cell(p, r)->name, strlen(dis__row_cell(p, r)->name));
        dis__data_table_add_number(g, (double)f->n);
        for (size_t i = 0; i < sizeof x / sizeof *x; i++) dis__data_table_add_number(g, x[i]);
    }
}

static dis_status measure(dis__experiment_page *p, size_t first, size_t end, size_t m, bool several)
{
    dis__point_chart_row *row;
    const char *set = p->e->plan->measure[m].set, *data = dis__row_cell(p, first)->data;
    const dis_evaluation_metric_row *metric = dis_evaluation_metric_get(p->e->plan->measure[m].metric);
    char name[WORDS], ours[WORDS + 8], unit[DIS__METRIC_UNIT], axis[WORDS + DIS__METRIC_UNIT];
    size_t n = 0, seeds = 0;
    DIS_TRY(dis__alloc_array(&row, end - first, sizeof *row));
    for (size_t r = first; r < end; r++) {
        const dis_experiment_value *f = &p->t.row[r].values[m];
        if (f->n == 0) continue;
        if (f->n > seeds) seeds = f->n;
        row[n++] = (dis__point_chart_row){.row = dis__short_name(p, first, end, r),
                                          .mean = f->mean,
                                          .low = f->ci_low,
                                          .high = f->ci_high,
                                          .value = f->seed,
                                          .n = f->n,
                                          .other = f->published,
                                          .strong = f->best};
    }
    if (n) {
        const dis__figure_id id = dis__next_id(p, "measure");
        dis__markup title = {0};
        char question[WORDS + 40];
        snprintf(question, sizeof question, "Which condition is best in %s?", metric->title);
        plain_metric(p, m, name);
        snprintf(ours, sizeof ours, "%s, ", name);
        snprintf(axis, sizeof axis, "%s%s", name, dis__metric_unit(p->e->plan->measure[m].metric, unit));
        dis__put_set_title(p, &title, ours, set, data);
        dis__figure f = {.id = id.text, .title = title.status == DIS_OK ? title.bytes : ""};
        if (strcmp(metric->better, "higher") == 0 || strcmp(metric->better, "lower") == 0) f.question = question;
        dis__markup_append_name(&f.caption, set, strlen(set), 40);
        dis__markup_append(&f.caption, ": ");
        if (several) {
            dis__markup_append_name(&f.caption, data, strlen(data), 40);
            dis__markup_append(&f.caption, ": ");
        }
        dis__markup_append_capitalized(&f.caption, metric->summary);
        dis__markup_append(&f.caption, ". ");
        if (strcmp(metric->better, "higher") == 0 || strcmp(metric->better, "lower") == 0)
            dis__markup_appendf(&f.caption, "%s is better; the best is in bold.",
                                strcmp(metric->better, "higher") == 0 ? "Higher" : "Lower");
        const dis__point_chart points = {.row = row,
                                         .min_possible = metric->low,
                                         .max_possible = metric->high,
                                         .n = n,
                                         .x_title = axis,
                                         .value_name = "single seeds",
                                         .mean_name = seeds > 1 ? "mean, 95 % interval" : "value",
                                         .other_name = "published"};
        dis__point_chart_draw(&f.chart, &points, dis__figure_name(&f, "dots with intervals"));
        measure_numbers(p, &f.table, first, end, m);
        if (f.table.status == DIS_OK) f.table.status = title.status;
        dis__page_figure_add(p->page, &f);
        dis__markup_free(&title);
        dis__by_setting_figures(p, first, end, m, name);
    }
    dis__free(row);
    return DIS_OK;
}

/* By the first measure of the file: how many conditions differ from their baseline. */
typedef struct {
    size_t better, worse, alike, best; /* best: the row with the largest difference; SIZE_MAX: none is better */
    double least_p;                    /* of the better ones */
} outcome;

static outcome count_outcomes(const dis__experiment_page *p)
{
    outcome o = {.best = SIZE_MAX, .least_p = 1};
    for (size_t r = 0; r < p->t.n_rows; r++) {
        const dis_experiment_value *f = &p->t.row[r].values[0];
        if (!f->n || !f->has_comparison) continue;
        const bool is_up = is_better(p, 0, f);
        o.better += f->stars && is_up;
        o.worse += f->stars && !is_up;
        o.alike += !f->stars;
        if (!f->stars || !is_up) continue;
        o.least_p = fmin(o.least_p, f->p);
        if (o.best == SIZE_MAX || fabs(f->difference) > fabs(p->t.row[o.best].values[0].difference)) o.best = r;
    }
    return o;
}

/* "2 conditions are better than the baseline, 1 is worse, and 3 do not differ clearly." */
static void put_counts(dis__markup *m, const outcome *o, const char *metric)
{
    const struct {
        size_t n;
        const char *one, *many;
    } parts[] = {{o->better, "is better than the baseline", "are better than the baseline"},
                 {o->worse, "is worse", "are worse"},
                 {o->alike, "does not differ clearly", "do not differ clearly"}};
    size_t left = 0;
    bool any = false;
    for (size_t i = 0; i < 3; i++) left += parts[i].n > 0;
    dis__markup_appendf(m, "By %s, ", metric);
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].n == 0) continue;
        left--;
        dis__markup_appendf(m, "%s%zu%s %s",
                            !any   ? ""
                            : left ? ", "
                                   : " and ",
                            parts[i].n,
                            any               ? ""
                            : parts[i].n == 1 ? " condition"
                                              : " conditions",
                            parts[i].n == 1 ? parts[i].one : parts[i].many);
        if (!any && i > 0) dis__markup_append(m, i == 1 ? " than the baseline" : " from the baseline");
        any = true;
    }
    dis__markup_append(m, ". ");
}

/* One of many conditions is better by chance: the smallest p-value is multiplied by their number (Bonferroni). */
static void add_verdict(dis__experiment_page *p)
{
    char metric[WORDS];
    dis__markup text = {0};
    if (p->t.n_measures == 0) return;
    const outcome o = count_outcomes(p);
    const size_t n_tests = o.better + o.worse + o.alike;
    if (n_tests == 0) return;
    const bool is_sure = o.better && o.least_p * (double)n_tests <= .05;
    snprintf(metric, sizeof metric, "%s", dis_evaluation_metric_get(p->e->plan->measure[0].metric)->title);
    if (o.best != SIZE_MAX) {
        const dis_experiment_value *f = &p->t.row[o.best].values[0];
        dis__markup_appendf(&text, "The largest difference in %s is that of ", metric);
        put_cell_name(&text, dis__row_cell(p, o.best)->name);
        dis__markup_appendf(&text, ": %s against %s (p %s). ", dis__format_fixed(f->mean, 3).text,
                            dis__format_fixed(f->mean - f->difference, 3).text,
                            f->p < .001 ? "below .001" : dis__format_fixed(f->p, 3).text);
    }
    put_counts(&text, &o, metric);
    if (o.better && !is_sure) dis__markup_appendf(&text, "Corrected for %zu tests, no difference is left. ", n_tests);
    if (p->n_one_class) {
        put_cell_name(&text, p->one_class);
        if (p->n_one_class > 1) dis__markup_appendf(&text, " and %zu more", p->n_one_class - 1);
        dis__markup_appendf(&text, " predict%s a single class for all items. ", p->n_one_class == 1 ? "s" : "");
    }
    dis__markup_append(&text, "Tests are for these items only; a difference is confirmed when it holds on other data.");
    dis__page_verdict_set(p->page, "Does any condition beat the baseline?",
                          is_sure    ? "yes"
                          : o.better ? "care"
                                     : "no",
                          is_sure    ? "Yes"
                          : o.better ? "Perhaps"
                                     : "Not by these tests",
                          &text);
    dis__markup_free(&text);
}

dis_status dis__experiment_results(dis__experiment_page *p)
{
    enum { MAX_SENTENCES = 8 };
    const bool several = p->t.n_rows && dis__data_end(p, 0) < p->t.n_rows;
    size_t n_printed = 0;
    add_progress(p);
    dis__page_section_begin(p->page, "results", "Results",
                            "Every condition by every measure: means over seeds with their spread.");
    for (size_t first = 0, end; first < p->t.n_rows; first = end) {
        end = dis__data_end(p, first);
        DIS_TRY(table(p, first, end));
        for (size_t m = 0; m < p->t.n_measures; m++) {
            n_printed += n_printed < MAX_SENTENCES && add_best(p, first, end, m);
            DIS_TRY(measure(p, first, end, m, several));
        }
        const char *set;
        for (size_t next = 0; dis__next_set(p->e->plan, &next, &set);)
            DIS_TRY(dis__calibration_figure(p, first, end, set));
    }
    dis__page_section_end(p->page);
    add_verdict(p);
    return DIS_OK;
}
