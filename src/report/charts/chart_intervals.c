/* Measured numbers with their intervals: a dot per row, a whisker where there is an interval. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

void dis__interval_chart_draw(dis__markup *m, const dis__interval_chart *c, const dis__markup *name)
{
    enum { ROW = 40 };
    const int decimals = c->integers ? 0 : 3;
    double low = 0, high = c->high;
    for (size_t i = 0; i < c->n; i++) {
        low = fmin(low, fmin(c->value[i], isnan(c->low[i]) ? c->value[i] : c->low[i]));
        high = fmax(high, fmax(c->value[i], isnan(c->high_end[i]) ? c->value[i] : c->high_end[i]));
    }
    const dis__axis_scale x = dis__axis_scale_nice(low, high, 5, c->integers);
    const double left = 6, right = DIS__CHART_WIDTH - 60, height = ROW * (double)c->n + 52;
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x.low; t <= x.high + x.step * 1e-6; t += x.step) {
        const double at = dis__axis_scale_position(&x, t, left, right);
        dis__markup_appendf(m, "<path class=\"%s\" d=\"M%s 4V%s\"/><text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                            fabs(t) < x.step * 1e-6 ? "t" : "g", dis__format_fixed(at, 1).text,
                            dis__format_fixed(height - 44, 1).text,
                            dis__format_fixed(at + (t == x.low ? 4 : 0), 1).text,
                            dis__format_fixed(height - 26, 1).text, dis__axis_scale_format_tick(&x, t).text);
    }
    dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n", dis__format_fixed(right, 1).text,
                        dis__format_fixed(height - 7, 1).text, c->x_title);
    for (size_t i = 0; i < c->n; i++) {
        const double y = 4 + ROW * (double)i, at = dis__axis_scale_position(&x, c->value[i], left, right);
        dis__markup_appendf(m, "<text x=\"%s\" y=\"%s\">", dis__format_fixed(left + 5, 1).text,
                            dis__format_fixed(y + 13, 1).text);
        dis__markup_append_label(m, c->row[i], strlen(c->row[i]), dis__text_fit(c->row[i], right));
        dis__markup_append(m, "</text>");
        if (!isnan(c->low[i]))
            dis__markup_appendf(m, "<path class=\"l l0\" d=\"M%s %sH%s\"/>",
                                dis__format_fixed(dis__axis_scale_position(&x, c->low[i], left, right), 1).text,
                                dis__format_fixed(y + 26, 1).text,
                                dis__format_fixed(dis__axis_scale_position(&x, c->high_end[i], left, right), 1).text);
        dis__markup_appendf(m, "<circle class=\"s0\" cx=\"%s\" cy=\"%s\" r=\"4\"><title>",
                            dis__format_fixed(at, 1).text, dis__format_fixed(y + 26, 1).text);
        dis__markup_append_label(m, c->row[i], strlen(c->row[i]), 40);
        dis__markup_appendf(m, ": %s", dis__format_fixed(c->value[i], decimals).text);
        if (!isnan(c->low[i]))
            dis__markup_appendf(m, ", 95 %% from %s to %s", dis__format_fixed(c->low[i], decimals).text,
                                dis__format_fixed(c->high_end[i], decimals).text);
        dis__markup_appendf(m, "</title></circle><text class=\"q\" x=\"%s\" y=\"%s\">%s</text>\n",
                            dis__format_fixed(right + 10, 1).text, dis__format_fixed(y + 30.5, 1).text,
                            dis__format_fixed(c->value[i], decimals).text);
    }
    dis__svg_end(m);
}
