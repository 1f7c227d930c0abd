/* Calibration: accuracy by confidence for each condition, from the first seed with stored predictions. */
#include "experiment/report/experiment_report.h"
#include "tool/arrays.h"
#include <math.h>
#include <string.h>

enum { BINS = 10, LINES = DIS__SERIES_COLOURS, LEAST = 5 };

typedef struct {
    double x[BINS], y[BINS], n[BINS];
    size_t points;
} calibration;

/* Mean confidence and accuracy of the bins with at least LEAST items. */
static void fill_bins(const dis__pooled *p, calibration *c)
{
    double n[BINS] = {0}, confidence[BINS] = {0}, correct[BINS] = {0};
    for (size_t i = 0; i < p->n_items; i++) {
        const double q = p->p[i * p->n_classes + (size_t)p->label[i]];
        const size_t b = (size_t)fmin(BINS - 1, fmax(0, q * BINS));
        if (p->gold[i] < 0) continue;
        n[b]++;
        confidence[b] += q;
        correct[b] += p->label[i] == p->gold[i];
    }
    c->points = 0;
    for (size_t b = 0; b < BINS; b++) {
        if (n[b] < LEAST) continue;
        c->x[c->points] = confidence[b] / n[b];
        c->y[c->points] = correct[b] / n[b];
        c->n[c->points++] = n[b];
    }
}

static void fill_table(dis__data_table *g, const char *name, const calibration *c)
{
    for (size_t i = 0; i < c->points; i++) {
        dis__data_table_add_text(g, name, strlen(name));
        dis__data_table_add_number(g, c->x[i]);
        dis__data_table_add_number(g, c->y[i]);
        dis__data_table_add_number(g, c->n[i]);
    }
}

dis_status dis__calibration_figure(dis__experiment_page *p, size_t first, size_t end, const char *set)
{
    calibration c[LINES];
    dis__chart_line line[LINES];
    size_t n = 0;
    if (!p->store) return DIS_OK;
    const dis__figure_id id = dis__next_id(p, "calibration");
    dis__markup title = {0};
    dis__figure f = {.id = id.text, .question = "Are the predicted probabilities calibrated?"};
    dis__data_table_add_column(&f.table, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "mean confidence", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "accuracy", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    dis_status status = DIS_OK;
    for (size_t r = first; r < end && n < LINES && status == DIS_OK; r++) {
        dis__pooled x = {0};
        bool found;
        status = dis__first_pooled(p, p->t.row[r].cell, set, &x, &found);
        if (status != DIS_OK || !found) continue;
        fill_bins(&x, &c[n]);
        dis__pooled_free(&x);
        if (c[n].points == 0) continue;
        const char *name = dis__short_name(p, first, end, r);
        fill_table(&f.table, name, &c[n]);
        line[n] = (dis__chart_line){.name = name, .x = c[n].x, .y = c[n].y, .n = c[n].points};
        n++;
    }
    if (status != DIS_OK || n == 0) {
        dis__figure_free(&f);
        return status;
    }
    dis__put_set_title(p, &title, "Calibration, ", set, dis__row_cell(p, first)->data);
    f.title = title.status == DIS_OK ? title.bytes : "";
    dis__markup_appendf(
        &f.caption,
        "Points on the diagonal are calibrated; below it a condition is too confident. One seed of each, "
        "bins of confidence with at least %d items.",
        (int)LEAST);
    if (end - first > LINES) dis__markup_appendf(&f.caption, " The first %d conditions.", (int)LINES);
    const dis__line_chart chart = {.line = line,
                                   .n = n,
                                   .x = {.low = 0, .high = 1, .first = 0, .step = .2},
                                   .y = {.low = 0, .high = 1, .first = 0, .step = .2},
                                   .x_title = "mean confidence",
                                   .y_title = "accuracy",
                                   .diagonal = true,
                                   .marks = true};
    dis__line_chart_draw(&f.chart, &chart, dis__figure_name(&f, "lines"));
    if (f.table.status == DIS_OK) f.table.status = title.status;
    dis__page_figure_add(p->page, &f);
    dis__markup_free(&title);
    return DIS_OK;
}
