/* Votes of a scale of its own (dissent/scaled.h): its measures with their intervals, then its tables, the first rows of
 * each. */
#include "report/report_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 100, MAX_MEASURES = 32 };

static void figure_measures(dis__report_job *job, const dis_scaled_view *look)
{
    const char *row[MAX_MEASURES];
    double value[MAX_MEASURES], low[MAX_MEASURES], high[MAX_MEASURES];
    size_t n = 0;
    dis__figure f = {.id = "measures", .title = "How far people agree", .wide = true, .open = true};
    dis__grid_column(&f.grid, "measure", DIS__LONG);
    dis__grid_column(&f.grid, "value", DIS__REAL);
    dis__grid_column(&f.grid, "low end", DIS__REAL);
    dis__grid_column(&f.grid, "high end", DIS__REAL);
    dis__grid_column(&f.grid, "of", DIS__COUNT);
    for (size_t m = 0; m < look->n_measures; m++) {
        const dis_scaled_measure *x = &look->measures[m];
        const bool interval = x->metric.has_interval;
        dis__grid_text(&f.grid, x->title, strlen(x->title));
        dis__grid_number(&f.grid, x->metric.value);
        dis__grid_number(&f.grid, interval ? x->metric.ci_low : (double)NAN);
        dis__grid_number(&f.grid, interval ? x->metric.ci_high : (double)NAN);
        dis__grid_number(&f.grid, (double)x->metric.n);
        if (!interval || n == MAX_MEASURES) continue;
        row[n] = x->title;
        value[n] = x->metric.value;
        low[n] = x->metric.ci_low;
        high[n++] = x->metric.ci_high;
    }
    dis__putf(&f.caption, "Votes are of scale %s. Intervals are over items (95 %%).", dis_scale_at(look->scale)->name);
    if (n) {
        const dis__intervals c = {.row = row,
                                  .value = value,
                                  .low = low,
                                  .high_end = high,
                                  .n = n,
                                  .high = 1,
                                  .x_title = "value, with 95 % interval"};
        dis__chart_intervals(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    }
    dis__page_figure(&job->page, &f);
}

static void figure_table(dis__report_job *job, const dis_scaled_table *t)
{
    static const char *const titles[][2] = {{"labels", "Labels"},
                                            {"items", "Items to look at"},
                                            {"workers", "Workers to look at"},
                                            {"classes", "Classes"},
                                            {"joint", "Sets of classes"}};
    dis__figure f = {.id = t->name, .title = t->name, .wide = true, .open = true};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], t->name) == 0) f.title = titles[i][1];
    if (t->n_rows > MAX_ROWS) f.note = "The first 100; --table NAME=FILE writes all.";
    dis__putf(&f.caption, "%c%s.", t->summary[0] - 'a' + 'A', t->summary + 1);
    const size_t n_columns = t->n_columns < DIS__GRID_COLUMNS ? t->n_columns : DIS__GRID_COLUMNS;
    for (size_t c = 0; c < n_columns; c++)
        dis__grid_column_named(&f.grid, t->columns[c].name, t->columns[c].names ? DIS__TEXT : DIS__REAL);
    for (size_t i = 0; i < t->n_rows && i < MAX_ROWS; i++)
        for (size_t c = 0; c < n_columns; c++) {
            const dis_scaled_column *x = &t->columns[c];
            size_t n = 0;
            if (!x->names) {
                dis__grid_number(&f.grid, x->values[i]);
                continue;
            }
            const char *text = dis_names_get(x->names, x->index ? x->index[i] : i, &n);
            dis__grid_text(&f.grid, text, n);
        }
    dis__page_figure(&job->page, &f);
}

dis_status dis__section_scaled(dis__report_job *job)
{
    if (!job->scaled) return DIS_OK;
    const dis_scaled_view look = dis_scaled_look(job->scaled);
    char text[40];
    for (size_t m = 0; m < look.n_measures && m < 3; m++) {
        const dis_metric *x = &look.measures[m].metric;
        snprintf(text, sizeof text, x->reason ? "-" : "%.3f", x->value);
        dis__page_tile(&job->page, text, look.measures[m].title);
    }
    dis__page_section(&job->page, "votes", "Votes",
                      "How far people agree, what the labels are, who and what to look at.");
    figure_measures(job, &look);
    for (size_t i = 0; i < look.n_tables; i++) figure_table(job, &look.tables[i]);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
