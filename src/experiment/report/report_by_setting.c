/* A measure as a function of a number that the file varies (votes per item, share of random workers, a rate): one line
 * per group of cells that differ by that number alone. Three values or more make a line; cells without the number, and
 * those that nothing else is like, are left to the dots of report_results.c. */
#include "experiment/report/experiment_report.h"
#include "core/numbers/decimal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERIES = DIS__SERIES_COLOURS, POINTS = 16, FEWEST = 3 };

typedef struct {
    size_t row; /* of its first cell */
    char name[96];
    double x[POINTS], y[POINTS], low[POINTS], high[POINTS];
    size_t n;
} series;

typedef struct {
    const char *key;
    series one[SERIES];
    size_t n;
} many;

static const char *value_of(const dis_experiment_cell *c, const char *key)
{
    for (size_t i = 0; i < c->n_settings; i++)
        if (strcmp(c->setting[i].key, key) == 0) return c->setting[i].value;
    return NULL;
}

static bool number_of(const dis_experiment_cell *c, const char *key, double *x)
{
    const char *value = value_of(c, key);
    return value && dis__parse_real(value, strlen(value), x) && isfinite(*x);
}

/* All settings but this one are equal. */
static bool same_but(const dis_experiment_cell *a, const dis_experiment_cell *b, const char *key)
{
    if (a->n_settings != b->n_settings) return false;
    for (size_t i = 0; i < a->n_settings; i++) {
        const char *other = value_of(b, a->setting[i].key);
        if (!other || (strcmp(a->setting[i].key, key) != 0 && strcmp(a->setting[i].value, other) != 0)) return false;
    }
    return true;
}

/* Number of bytes before `at` to remove together with the value, if the name ends with it. */
static size_t joint_before(const char *name, const char *at)
{
    static const char *const joints[] = {", of ", " of ", ", "};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        const size_t n = strlen(joints[i]);
        if ((size_t)(at - name) > n && strncmp(at - n, joints[i], n) == 0) return n;
    }
    return 0;
}

/* The cell's name with dots in place of the last mention of the value; at the end the value is left out, with a comma
 * or "of" before it. */
static void name_series(const dis_experiment_cell *c, const char *value, char out[96])
{
    const char *at = NULL;
    for (const char *s = c->name; *value && (s = strstr(s, value)) != NULL; s++) at = s;
    if (!at) {
        snprintf(out, 96, "%.80s", c->name);
        return;
    }
    const char *rest = at + strlen(value);
    const size_t joint = *rest ? 0 : joint_before(c->name, at), n = (size_t)(at - c->name) - joint;
    snprintf(out, 96, "%.*s%s%.40s", (int)(n < 48 ? n : 48), c->name, joint ? "" : "\xE2\x80\xA6", rest);
}

static bool all_integers(const many *all)
{
    for (size_t s = 0; s < all->n; s++)
        for (size_t i = 0; i < all->one[s].n; i++)
            if (floor(all->one[s].x[i]) < all->one[s].x[i]) return false;
    return true;
}

/* Words in place of a name with underscores. */
static void put_words(char *text)
{
    for (; *text; text++)
        if (*text == '_') *text = ' ';
}

static void put_point(series *s, double x, const dis_experiment_value *f)
{
    size_t i = s->n;
    if (s->n == POINTS) return;
    for (; i > 0 && s->x[i - 1] > x; i--) {
        s->x[i] = s->x[i - 1];
        s->y[i] = s->y[i - 1];
        s->low[i] = s->low[i - 1];
        s->high[i] = s->high[i - 1];
    }
    s->x[i] = x;
    s->y[i] = f->mean;
    s->low[i] = f->n > 2 ? f->ci_low : (double)NAN; /* with two seeds the interval would cover the whole chart */
    s->high[i] = f->n > 2 ? f->ci_high : (double)NAN;
    s->n++;
}

static void gather(const dis__experiment_page *p, size_t first, size_t end, size_t m, many *all)
{
    for (size_t r = first; r < end; r++) {
        const dis_experiment_cell *c = dis__row_cell(p, r);
        const dis_experiment_value *f = &p->t.row[r].values[m];
        double x;
        size_t s = 0;
        if (!number_of(c, all->key, &x) || f->n == 0 || !isfinite(f->mean)) continue;
        while (s < all->n && !same_but(dis__row_cell(p, all->one[s].row), c, all->key)) s++;
        if (s == SERIES) continue;
        if (s == all->n) {
            all->one[all->n++] = (series){.row = r};
            name_series(c, value_of(c, all->key), all->one[s].name);
        }
        put_point(&all->one[s], x, f);
    }
    size_t n_left = 0;
    for (size_t s = 0; s < all->n; s++)
        if (all->one[s].n >= FEWEST) all->one[n_left++] = all->one[s];
    all->n = n_left;
}

static void put_numbers(dis__data_table *g, const many *all)
{
    dis__data_table_add_column(g, "cells", DIS__CELL_TEXT);
    dis__data_table_add_named_column(g, all->key, DIS__CELL_REAL);
    dis__data_table_add_column(g, "mean", DIS__CELL_REAL);
    dis__data_table_add_column(g, "95 % from", DIS__CELL_REAL);
    dis__data_table_add_column(g, "to", DIS__CELL_REAL);
    for (size_t s = 0; s < all->n; s++)
        for (size_t i = 0; i < all->one[s].n; i++) {
            dis__data_table_add_text(g, all->one[s].name, strlen(all->one[s].name));
            dis__data_table_add_number(g, all->one[s].x[i]);
            dis__data_table_add_number(g, all->one[s].y[i]);
            dis__data_table_add_number(g, all->one[s].low[i]);
            dis__data_table_add_number(g, all->one[s].high[i]);
        }
}

static void draw(dis__experiment_page *p, const many *all, size_t first, size_t m, const char *metric)
{
    dis__chart_line line[SERIES];
    double near = INFINITY, far = -INFINITY, low = INFINITY, high = -INFINITY;
    char ours[160], x_title[64], y_title[128], unit[DIS__METRIC_UNIT];
    dis__markup title = {0};
    for (size_t s = 0; s < all->n; s++) {
        const series *one = &all->one[s];
        line[s] = (dis__chart_line){
            .name = one->name, .x = one->x, .y = one->y, .n = one->n, .low = one->low, .high = one->high};
        near = fmin(near, one->x[0]);
        far = fmax(far, one->x[one->n - 1]);
        for (size_t i = 0; i < one->n; i++) {
            low = fmin(low, isfinite(one->low[i]) ? one->low[i] : one->y[i]);
            high = fmax(high, isfinite(one->high[i]) ? one->high[i] : one->y[i]);
        }
    }
    const dis__figure_id id = dis__next_id(p, "by-setting");
    snprintf(ours, sizeof ours, "%s by %s, ", metric, all->key);
    snprintf(x_title, sizeof x_title, "%s", all->key);
    put_words(ours);
    put_words(x_title);
    snprintf(y_title, sizeof y_title, "%s%s", metric, dis__metric_unit(p->e->plan->measure[m].metric, unit));
    dis__put_set_title(p, &title, ours, p->e->plan->measure[m].set, dis__row_cell(p, first)->data);
    char question[160];
    snprintf(question, sizeof question, "How does %s depend on %s?", metric, x_title);
    dis__figure f = {.id = id.text, .title = title.status == DIS_OK ? title.bytes : "", .question = question};
    dis__markup_append(&f.caption,
                       "Means over seeds, with 95\xC2\xA0% intervals, of cells that differ by this number alone.");
    const dis__line_chart l = {.line = line,
                               .n = all->n,
                               .x = dis__axis_scale_nice(near, far, 5, all_integers(all)),
                               .y = dis__axis_scale_nice(low, high, 5, false),
                               .x_title = x_title,
                               .y_title = y_title,
                               .marks = true};
    dis__line_chart_draw(&f.chart, &l, dis__figure_name(&f, "line chart"));
    put_numbers(&f.table, all);
    if (f.table.status == DIS_OK) f.table.status = title.status;
    dis__page_figure_add(p->page, &f);
    dis__markup_free(&title);
}

/* A key is processed at the first cell that has it. */
static bool seen_before(const dis__experiment_page *p, size_t first, size_t row, const char *key)
{
    for (size_t r = first; r < row; r++)
        if (value_of(dis__row_cell(p, r), key)) return true;
    return false;
}

void dis__by_setting_figures(dis__experiment_page *p, size_t first, size_t end, size_t m, const char *metric)
{
    for (size_t r = first; r < end; r++) {
        const dis_experiment_cell *c = dis__row_cell(p, r);
        for (size_t i = 0; i < c->n_settings; i++) {
            many all = {.key = c->setting[i].key};
            if (seen_before(p, first, r, all.key)) continue;
            gather(p, first, end, m, &all);
            if (all.n) draw(p, &all, first, m, metric);
        }
    }
}
