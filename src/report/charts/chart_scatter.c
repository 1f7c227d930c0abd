/* Points, and rasters of points where there are too many to draw. */
#include "core/memory/memory.h"
#include "report/charts/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_curve(dis__markup *m, const dis__frame *f, const dis__chart_line *c)
{
    dis__markup_append(m, "<path class=\"ref\" d=\"");
    for (size_t i = 0; i < c->n; i++)
        dis__markup_appendf(m, "%c%s %s", i ? 'L' : 'M', dis__format_fixed(dis__frame_x(f, c->x[i]), 1).text,
                            dis__format_fixed(dis__frame_y(f, c->y[i]), 1).text);
    dis__markup_append(m, "\"/>");
    if (c->name && c->n) { /* at its right end, above the line: there are fewer marks */
        dis__markup_appendf(m, "<text class=\"q e\" x=\"%s\" y=\"%s\">", dis__format_fixed(f->right, 1).text,
                            dis__format_fixed(dis__frame_y(f, c->y[c->n - 1]) - 5, 1).text);
        dis__markup_append_label(m, c->name, strlen(c->name), 30);
        dis__markup_append(m, "</text>");
    }
    dis__markup_append(m, "\n");
}

/* Does a mark at (x, y) touch one of the first n? */
static bool touches(const double *px, const double *py, size_t n, double x, double y, double apart)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(py[i] - y) < apart && hypot(px[i] - x, py[i] - y) < apart) return true;
    return false;
}

/* The free position nearest to x, alternating right and left; x itself if no position in reach is free. */
static double aside(const dis__frame *f, const double *px, const double *py, size_t n, double x, double y, double apart)
{
    enum { MAX_STEPS = 60 };
    const double step = apart / 2;
    for (int k = 0; k <= MAX_STEPS; k++) {
        const int steps = (k + 1) / 2;
        const double at = x + (k % 2 ? steps : -steps) * step;
        if (at < f->left || at > f->right) continue;
        if (!touches(px, py, n, at, y, apart)) return at;
    }
    return x;
}

static void put_interval(dis__markup *m, const dis__frame *f, const dis__scatter_chart *s, size_t i, double x)
{
    if (!s->low || isnan(s->low[i])) return;
    dis__markup_appendf(m, "<path class=\"iv\" d=\"M%s %sV%s\"/>", dis__format_fixed(x, 1).text,
                        dis__format_fixed(dis__frame_y(f, s->low[i]), 1).text,
                        dis__format_fixed(dis__frame_y(f, s->high[i]), 1).text);
}

static void put_mark(dis__markup *m, const dis__scatter_chart *s, size_t i, double x, double y, double r)
{
    const size_t kind = s->kind ? s->kind[i] : 0;
    char class[16];
    snprintf(class, sizeof class, "p s%zu", kind % DIS__SERIES_COLOURS);
    dis__marker_draw(m, kind, x, y, r, class);
    if (s->name) {
        dis__markup_append(m, "<title>");
        dis__markup_append_label(m, s->name[i], strlen(s->name[i]), 40);
        dis__markup_appendf(m, ": %s, %s</title>", dis__format_brief(s->x[i]).text, dis__format_fixed(s->y[i], 3).text);
    }
    dis__markup_append(m, kind % 4 == 0 ? "</circle>\n" : "</path>\n");
}

void dis__scatter_chart_draw(dis__markup *m, const dis__scatter_chart *s, const dis__markup *name)
{
    const double top = s->n_kinds > 1 ? dis__legend_height(s->kinds, s->n_kinds) + 6 : 0, height = top + 320;
    const double r = s->n > 400 ? 2.2 : s->n > 120 ? 3 : 4;
    const dis__frame f = dis__frame_init(s->sx, s->sy, s->x_title, s->y_title, top, height);
    double *x = NULL, *y = NULL;
    if (m->status == DIS_OK) m->status = dis__alloc_array(&x, s->n, sizeof *x);
    if (m->status == DIS_OK) m->status = dis__alloc_array(&y, s->n, sizeof *y);
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    dis__markup_append(m, "<g class=\"kinds\">");
    if (s->n_kinds > 1) dis__legend_draw(m, 0, s->kinds, s->n_kinds, DIS__MARK_SHAPE);
    dis__frame_draw(m, &f);
    for (size_t c = 0; c < s->n_curves; c++) put_curve(m, &f, &s->curve[c]);
    for (size_t i = 0; i < s->n && m->status == DIS_OK; i++) {
        y[i] = dis__frame_y(&f, s->y[i]);
        x[i] = dis__frame_x(&f, s->x[i]);
        if (!s->fixed_positions) x[i] = aside(&f, x, y, i, x[i], y[i], 1.9 * r);
        put_interval(m, &f, s, i, x[i]);
    }
    for (size_t i = 0; i < s->n && m->status == DIS_OK; i++) put_mark(m, s, i, x[i], y[i], r);
    dis__markup_append(m, "</g>");
    dis__free(x);
    dis__free(y);
    dis__svg_end(m);
}

/* Colours are logarithmic: a raster of a million points has cells with one point and cells with a hundred thousand. */
void dis__density_chart_draw(dis__markup *m, const dis__density_chart *d, const dis__markup *name)
{
    enum { HEIGHT = 350, STEPS = 5 };
    const dis__frame f = dis__frame_init(d->sx, d->sy, d->x_title, d->y_title, 0, HEIGHT - 30);
    double max = 1;
    for (size_t i = 0; i < d->n_x * d->n_y; i++)
        if ((double)d->count[i] > max) max = (double)d->count[i];
    dis__svg_begin(m, DIS__CHART_WIDTH, HEIGHT, name);
    dis__frame_draw(m, &f);
    const double w = (f.right - f.left) / (double)d->n_x, h = (f.bottom - f.top) / (double)d->n_y;
    for (size_t j = 0; j < d->n_y; j++)
        for (size_t i = 0; i < d->n_x; i++) {
            const uint64_t n = d->count[j * d->n_x + i];
            if (n == 0) continue;
            dis__markup_appendf(
                m, "<rect class=\"h%d\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>%s %s</title></rect>\n",
                1 + dis__heat_map_step(log((double)n), 0, log(max)) * (DIS__HEAT_STEPS - 2) / (DIS__HEAT_STEPS - 1),
                dis__format_fixed(f.left + w * (double)i, 1).text,
                dis__format_fixed(f.bottom - h * (double)(j + 1), 1).text, dis__format_fixed(w - .4, 1).text,
                dis__format_fixed(h - .4, 1).text, dis__format_grouped(n).text, d->unit);
        }
    if (d->diagonal) {
        const double x[] = {fmax(f.x.low, f.y.low), fmin(f.x.high, f.y.high)};
        put_curve(m, &f, &(dis__chart_line){.x = x, .y = x, .n = 2});
    }
    for (size_t c = 0; c < d->n_curves; c++) put_curve(m, &f, &d->curve[c]);
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (int s = 0; s < STEPS; s++)
        dis__markup_appendf(m, "<rect class=\"h%d\" x=\"%d\" y=\"%d\" width=\"22\" height=\"10\"/>", 1 + s * 2,
                            40 + 22 * s, (int)HEIGHT - 14);
    dis__markup_appendf(
        m,
        "<text class=\"e\" x=\"34\" y=\"%d\">1</text><text x=\"%d\" y=\"%d\">%s %s (steps of equal ratio)</text></g>\n",
        (int)HEIGHT - 5, 40 + 22 * STEPS + 6, (int)HEIGHT - 5, dis__format_grouped((uint64_t)max).text, d->unit);
    dis__svg_end(m);
}
