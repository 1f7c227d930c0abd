/* Lines over a frame: traces, calibration curves, training curves. */
#include "report/charts/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_line(dis__markup *m, const dis__frame *f, const dis__chart_line *l, const char *class)
{
    bool pen = false;
    dis__markup_appendf(m, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < l->n; i++) {
        const bool is_finite = isfinite(l->x[i]) && isfinite(l->y[i]);
        if (is_finite)
            dis__markup_appendf(m, "%c%s %s", pen ? 'L' : 'M', dis__format_fixed(dis__frame_x(f, l->x[i]), 1).text,
                                dis__format_fixed(dis__frame_y(f, l->y[i]), 1).text);
        pen = is_finite;
    }
    dis__markup_append(m, "\"/>\n");
}

/* A whisker at each point with an interval, shifted by `aside` so that several lines do not overlap. */
static void put_intervals(dis__markup *m, const dis__frame *f, const dis__chart_line *l, const char *class,
                          double aside)
{
    for (size_t i = 0; l->low && i < l->n; i++) {
        if (!isfinite(l->x[i]) || !isfinite(l->low[i]) || !isfinite(l->high[i])) continue;
        dis__markup_appendf(m, "<path class=\"%s thin whisker\" d=\"M%s %sV%s\"/>\n", class,
                            dis__format_fixed(dis__frame_x(f, l->x[i]) + aside, 1).text,
                            dis__format_fixed(dis__frame_y(f, l->low[i]), 1).text,
                            dis__format_fixed(dis__frame_y(f, l->high[i]), 1).text);
    }
}

void dis__line_chart_draw(dis__markup *m, const dis__line_chart *l, const dis__markup *name)
{
    enum { MAX = 16 };
    const char *names[MAX];
    const size_t n = l->n < MAX ? l->n : MAX;
    for (size_t i = 0; i < n; i++) names[i] = l->line[i].name;
    const double top = n > 1 ? dis__legend_height(names, n) + 6 : 0, height = top + 290;
    const dis__frame f = dis__frame_init(l->x, l->y, l->x_title, l->y_title, top, height);
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    if (n > 1) dis__legend_draw(m, 0, names, n, DIS__MARK_LINE);
    dis__frame_draw(m, &f);
    if (l->diagonal) {
        const double x[] = {fmax(f.x.low, f.y.low), fmin(f.x.high, f.y.high)};
        put_line(m, &f, &(dis__chart_line){.x = x, .y = x, .n = 2}, "ref");
    }
    for (size_t i = 0; i < n; i++) {
        char line[24], thin[24], mark[16];
        snprintf(thin, sizeof thin, "l l%zu thin", i % DIS__SERIES_COLOURS);
        snprintf(line, sizeof line, "l l%zu", i % DIS__SERIES_COLOURS);
        snprintf(mark, sizeof mark, "s%zu", i % DIS__SERIES_COLOURS);
        for (size_t t = 0; t < l->line[i].n_thin; t++) put_line(m, &f, &l->line[i].thin[t], thin);
        put_line(m, &f, &l->line[i], line);
        put_intervals(m, &f, &l->line[i], line, 3 * ((double)i - (double)(n - 1) / 2));
        for (size_t k = 0; k < l->line[i].n; k++) {
            if (!l->marks && k + 1 != l->line[i].marked) continue;
            const double x = l->line[i].x[k], y = l->line[i].y[k];
            if (!isfinite(x) || !isfinite(y)) continue;
            dis__marker_draw(m, i, dis__frame_x(&f, x), dis__frame_y(&f, y), 4, mark);
            dis__markup_append(m, "<title>");
            if (n > 1) {
                dis__markup_append_label(m, names[i], strlen(names[i]), 40);
                dis__markup_append(m, ": ");
            }
            dis__markup_appendf(m, "%s, %s</title>%s\n", dis__format_brief(x).text, dis__format_brief(y).text,
                                i % 4 == 0 ? "</circle>" : "</path>");
        }
    }
    dis__svg_end(m);
}
