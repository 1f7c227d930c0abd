/* Votes of a scale of its own (dissent/scaled.h): its measures with their intervals, then its tables, the first rows of
 * each. */
#include "report/report_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 100, MAX_MEASURES = 32 };

static void figure_measures(dis__report_job *job, const dis_scaled_view *scaled_view)
{
    const char *row[MAX_MEASURES];
    double value[MAX_MEASURES], low[MAX_MEASURES], high[MAX_MEASURES];
    size_t n = 0;
    dis__figure f = {.id = "measures", .title = "How far people agree"};
    dis__grid_column(&f.grid, "measure", DIS__LONG);
    dis__grid_column(&f.grid, "value", DIS__REAL);
    dis__grid_column(&f.grid, "95 % from", DIS__REAL);
    dis__grid_column(&f.grid, "to", DIS__REAL);
    dis__grid_column(&f.grid, "of", DIS__COUNT);
    for (size_t m = 0; m < scaled_view->n_measures; m++) {
        const dis_scaled_measure *x = &scaled_view->measures[m];
        const bool interval = x->metric.has_interval;
        dis__grid_text(&f.grid, x->title, strlen(x->title));
        dis__grid_metric(&f.grid, &x->metric);
        dis__grid_number(&f.grid, (double)x->metric.n);
        if (!interval || n == MAX_MEASURES) continue;
        row[n] = x->title;
        value[n] = x->metric.value;
        low[n] = x->metric.ci_low;
        high[n++] = x->metric.ci_high;
    }
    dis__putf(&f.caption, "Votes of scale %s. Intervals are over items (95 %%); 1 is full agreement.",
              dis_scale_at(scaled_view->scale)->name);
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
    static const char *const titles[][2] = {
        {"labels", "Labels"},   {"items", "Items to look at"}, {"workers", "Workers to look at"},
        {"classes", "Classes"}, {"joint", "Sets of classes"},  {"pieces", "Pieces of the texts"}};
    dis__figure f = {.id = t->name, .title = t->name, .wide = true, .open = true};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], t->name) == 0) f.title = titles[i][1];
    if (t->n_rows > MAX_ROWS) f.note = "The first 100 rows; the complete table can be written to a file.";
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

/* What people did, in the words of the scale; `table`: one row for each thing that was judged. */
typedef struct {
    dis_scale scale;
    const char *did, *vote, *prepared, *thing, *table;
} words;

static const words *words_of(dis_scale scale)
{
    static const words rows[] = {{DIS_SCALE_MULTI_LABEL, "cast", "vote", "on", "item", "labels"},
                                 {DIS_SCALE_NUMERIC, "cast", "vote", "on", "item", "labels"},
                                 {DIS_SCALE_PAIRWISE, "made", "comparison", "of", "thing", "labels"},
                                 {DIS_SCALE_SPANS, "marked", "span", "in", "text", "items"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].scale == scale) return &rows[i];
    return NULL;
}

static void tile(dis__report_job *job, size_t n, const char *what)
{
    char label[32];
    snprintf(label, sizeof label, "%s%s", what, dis__plural(n));
    dis__page_tile(&job->page, dis__large(n).text, label);
}

static void say_size(dis__report_job *job, const words *w)
{
    const dis_votes_view *v = &job->look;
    const dis_scaled_table *things = dis_scaled_find(job->scaled, w->table);
    const size_t n = things ? things->n_rows : 0;
    dis__markup say = {0};
    tile(job, n, w->thing);
    tile(job, v->n_workers, "worker");
    tile(job, v->n_votes, w->vote);
    dis__putf(&say, "%s %s %s %s %s%s %s %s %s%s.", dis__grouped(v->n_workers).text,
              v->n_workers == 1 ? "person" : "people", w->did, dis__grouped(v->n_votes).text, w->vote,
              dis__plural(v->n_votes), w->prepared, dis__grouped(n).text, w->thing, dis__plural(n));
    dis__page_say(&job->page, &say);
    dis__markup_free(&say);
}

static void say_agreement(dis__report_job *job, const dis_scaled_view *scaled_view)
{
    const dis_metric *alpha = NULL;
    dis__markup say = {0};
    for (size_t m = 0; m < scaled_view->n_measures && !alpha; m++)
        if (strncmp(scaled_view->measures[m].name, "alpha", 5) == 0 && !scaled_view->measures[m].metric.reason)
            alpha = &scaled_view->measures[m].metric;
    if (!alpha) return;
    dis__put(&say, "Votes on the same item: ");
    dis__put_beyond_chance(&say, alpha, NULL);
    dis__put(&say, ".");
    dis__page_say(&job->page, &say);
    dis__markup_free(&say);
}

/* The names at the head of the first row of a table. */
static bool put_first(dis__markup *m, const dis_scaled_table *t)
{
    if (!t || t->n_rows == 0) return false;
    for (size_t c = 0; c < t->n_columns && t->columns[c].names; c++) {
        size_t n;
        const char *text = dis_names_get(t->columns[c].names, t->columns[c].index ? t->columns[c].index[0] : 0, &n);
        if (c == 1 && strcmp(t->columns[c].name, "b") != 0) return true;
        if (c) dis__put(m, " and ");
        dis__put_name(m, text, n, 30);
    }
    return true;
}

static void say_where_to_look(dis__report_job *job)
{
    dis__markup item = {0}, worker = {0}, say = {0};
    const bool items = put_first(&item, dis_scaled_find(job->scaled, "items"));
    const bool workers = put_first(&worker, dis_scaled_find(job->scaled, "workers"));
    if (items || workers) dis__put(&say, "Look first at ");
    dis__put_markup(&say, &item);
    if (items && workers) dis__put(&say, ", and of the workers at ");
    dis__put_markup(&say, &worker);
    if (items || workers) {
        dis__put(&say, ": they stand at the head of the tables below.");
        dis__page_say(&job->page, &say);
    }
    dis__markup_free(&item);
    dis__markup_free(&worker);
    dis__markup_free(&say);
}

static void say_notes(dis__report_job *job, const dis_scaled_view *scaled_view)
{
    for (size_t i = 0; i < scaled_view->n_notes; i++) {
        dis__markup say = {0};
        dis__put_name(&say, scaled_view->notes[i], strlen(scaled_view->notes[i]), 300);
        dis__page_say(&job->page, &say);
        dis__markup_free(&say);
    }
}

dis_status dis__section_scaled(dis__report_job *job)
{
    if (!job->scaled) return DIS_OK;
    const dis_scaled_view scaled_view = dis_scaled_look(job->scaled);
    const words *w = words_of(scaled_view.scale);
    if (w) say_size(job, w);
    if (scaled_view.n_measures && !scaled_view.measures[0].metric.reason)
        dis__page_tile(&job->page, dis__fixed(scaled_view.measures[0].metric.value, 2).text,
                       scaled_view.measures[0].title);
    say_agreement(job, &scaled_view);
    say_where_to_look(job);
    say_notes(job, &scaled_view);
    dis__page_section(&job->page, "votes", "Votes",
                      "How far people agree, what the labels are, who and what to look at.");
    figure_measures(job, &scaled_view);
    dis__figure_scaled(job);
    for (size_t i = 0; i < scaled_view.n_tables; i++) figure_table(job, &scaled_view.tables[i]);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
