/* Measured numbers with their intervals: a dot per row, a whisker where there is an interval. */
#include "report/chart.h"
#include <math.h>
#include <string.h>

void dis__chart_intervals(dis__markup *m, const dis__intervals *c, const dis__markup *name)
{
    enum { ROW = 40 };
    double low = 0, high = c->high;
    for (size_t i = 0; i < c->n; i++) {
        low = fmin(low, fmin(c->value[i], isnan(c->low[i]) ? c->value[i] : c->low[i]));
        high = fmax(high, fmax(c->value[i], isnan(c->high_end[i]) ? c->value[i] : c->high_end[i]));
    }
    const dis__scale x = dis__scale_nice(low, high, 5, false);
    const double left = 6, right = DIS__CHART_WIDTH - 60, height = ROW * (double)c->n + 52;
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    dis__put(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x.low; t <= x.high + x.step * 1e-6; t += x.step) {
        const double at = dis__scale_place(&x, t, left, right);
        dis__putf(m, "<path class=\"%s\" d=\"M%s 4V%s\"/><text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                  fabs(t) < x.step * 1e-6 ? "t" : "g", dis__fixed(at, 1).text, dis__fixed(height - 44, 1).text,
                  dis__fixed(at + (t == x.low ? 4 : 0), 1).text, dis__fixed(height - 26, 1).text,
                  dis__scale_text(&x, t).text);
    }
    dis__putf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n", dis__fixed(right, 1).text,
              dis__fixed(height - 7, 1).text, c->x_title);
    for (size_t i = 0; i < c->n; i++) {
        const double y = 4 + ROW * (double)i, at = dis__scale_place(&x, c->value[i], left, right);
        dis__putf(m, "<text x=\"%s\" y=\"%s\">", dis__fixed(left + 5, 1).text, dis__fixed(y + 13, 1).text);
        dis__put_label(m, c->row[i], strlen(c->row[i]), dis__text_fit(c->row[i], right));
        dis__put(m, "</text>");
        if (!isnan(c->low[i]))
            dis__putf(m, "<path class=\"l l0\" d=\"M%s %sH%s\"/>",
                      dis__fixed(dis__scale_place(&x, c->low[i], left, right), 1).text, dis__fixed(y + 26, 1).text,
                      dis__fixed(dis__scale_place(&x, c->high_end[i], left, right), 1).text);
        dis__putf(m, "<circle class=\"s0\" cx=\"%s\" cy=\"%s\" r=\"4\"><title>", dis__fixed(at, 1).text,
                  dis__fixed(y + 26, 1).text);
        dis__put_label(m, c->row[i], strlen(c->row[i]), 40);
        dis__putf(m, ": %s", dis__fixed(c->value[i], 3).text);
        if (!isnan(c->low[i]))
            dis__putf(m, ", 95 %% from %s to %s", dis__fixed(c->low[i], 3).text, dis__fixed(c->high_end[i], 3).text);
        dis__putf(m, "</title></circle><text class=\"q\" x=\"%s\" y=\"%s\">%s</text>\n", dis__fixed(right + 10, 1).text,
                  dis__fixed(y + 30.5, 1).text, dis__fixed(c->value[i], 3).text);
    }
    dis__svg_end(m);
}
