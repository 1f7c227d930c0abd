/* Measured numbers with their intervals: a dot per row, a whisker where there is an interval. Names stand to the left
 * of the dots if all of them are short, else above; the whole row shows the numbers when the pointer is on it. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

enum { VALUE_ROOM = 60, RANK_ROOM = 84, AXIS_ROOM = 52 };

typedef struct {
    double left, right, row, line; /* line: of the dots, below the top of a row */
    bool beside;
} interval_layout;

static interval_layout compute_layout(const dis__interval_chart *c)
{
    enum { SHORT = 150, LONGER = 205, MANY = 3 }; /* of many rows the height counts more than the width */
    double widest = 0;
    for (size_t i = 0; i < c->n; i++) widest = fmax(widest, dis__text_width(c->row[i]));
    const bool beside = widest <= (c->n > MANY ? LONGER : SHORT);
    return (interval_layout){.left = beside ? widest + 14 : 6,
                             .right = DIS__CHART_WIDTH - (c->ranks ? RANK_ROOM : VALUE_ROOM),
                             .row = beside ? 26 : 40,
                             .line = beside ? 13 : 26,
                             .beside = beside};
}

static dis__axis_scale compute_scale(const dis__interval_chart *c)
{
    double low = 0, high = c->high;
    for (size_t i = 0; i < c->n; i++) {
        low = fmin(low, fmin(c->value[i], isnan(c->low[i]) ? c->value[i] : c->low[i]));
        high = fmax(high, fmax(c->value[i], isnan(c->high_end[i]) ? c->value[i] : c->high_end[i]));
    }
    if (!c->ranks) return dis__axis_scale_nice(low, high, 5, false);
    return (dis__axis_scale){.low = 1, .high = fmax(2, high), .first = 1, .step = fmax(1, ceil((high - 1) / 6))};
}

static void put_axis(dis__markup *m, const dis__interval_chart *c, const dis__axis_scale *x, const interval_layout *l,
                     double height)
{
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x->low; t <= x->high + x->step * 1e-6; t += x->step) {
        const double at = dis__axis_scale_position(x, t, l->left, l->right);
        dis__markup_appendf(m, "<path class=\"%s\" d=\"M%s 4V%s\"/><text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                            fabs(t) < x->step * 1e-6 ? "t" : "g", dis__format_fixed(at, 1).text,
                            dis__format_fixed(height - 44, 1).text,
                            dis__format_fixed(at + (t == x->low && !l->beside ? 4 : 0), 1).text,
                            dis__format_fixed(height - 26, 1).text, dis__axis_scale_format_tick(x, t).text);
    }
    dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n",
                        dis__format_fixed(l->right, 1).text, dis__format_fixed(height - 7, 1).text, c->x_title);
}

static void put_row(dis__markup *m, const dis__interval_chart *c, const dis__axis_scale *x, const interval_layout *l,
                    size_t i)
{
    const double size = fmax(fabs(x->low), fabs(x->high));
    const int decimals = c->ranks ? 0 : size > 5 ? 1 : size > 1.5 ? 2 : 3;
    const double top = 4 + l->row * (double)i, y = top + l->line;
    const bool interval = !isnan(c->low[i]);
    const dis__number_text value = dis__format_fixed(c->value[i], decimals),
                           low = dis__format_fixed(c->low[i], decimals),
                           high = dis__format_fixed(c->high_end[i], decimals);
    dis__markup_appendf(m, "<g><rect class=\"hit\" x=\"0\" y=\"%s\" width=\"%d\" height=\"%s\"/>",
                        dis__format_fixed(top, 1).text, (int)DIS__CHART_WIDTH, dis__format_fixed(l->row, 1).text);
    dis__markup_appendf(m, "<text class=\"halo%s\" x=\"%s\" y=\"%s\">", l->beside ? " e" : "",
                        dis__format_fixed(l->beside ? l->left - 10 : l->left + 5, 1).text,
                        dis__format_fixed(l->beside ? y + 4.5 : top + 13, 1).text);
    dis__markup_append_label(m, c->row[i], strlen(c->row[i]), dis__text_fit(c->row[i], l->beside ? l->left : l->right));
    dis__markup_append(m, "</text>");
    if (interval)
        dis__markup_appendf(m, "<path class=\"l l0\" d=\"M%s %sH%s\"/>",
                            dis__format_fixed(dis__axis_scale_position(x, c->low[i], l->left, l->right), 1).text,
                            dis__format_fixed(y, 1).text,
                            dis__format_fixed(dis__axis_scale_position(x, c->high_end[i], l->left, l->right), 1).text);
    dis__markup_appendf(m, "<circle class=\"s0\" cx=\"%s\" cy=\"%s\" r=\"4\"/><text class=\"q\" x=\"%s\" y=\"%s\">%s",
                        dis__format_fixed(dis__axis_scale_position(x, c->value[i], l->left, l->right), 1).text,
                        dis__format_fixed(y, 1).text, dis__format_fixed(l->right + 10, 1).text,
                        dis__format_fixed(y + 4.5, 1).text, value.text);
    if (c->ranks && interval && c->low[i] < c->high_end[i])
        dis__markup_appendf(m, " (%s\xE2\x80\x93%s)", low.text, high.text);
    dis__markup_append(m, "</text><title>");
    dis__markup_append_label(m, c->row[i], strlen(c->row[i]), 40);
    dis__markup_appendf(m, ": %s", value.text);
    if (interval) dis__markup_appendf(m, ", 95 %% from %s to %s", low.text, high.text);
    dis__markup_append(m, "</title></g>\n");
}

void dis__interval_chart_draw(dis__markup *m, const dis__interval_chart *c, const dis__markup *name)
{
    const dis__axis_scale x = compute_scale(c);
    const interval_layout l = compute_layout(c);
    const double height = l.row * (double)c->n + AXIS_ROOM;
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    put_axis(m, c, &x, &l, height);
    for (size_t i = 0; i < c->n; i++) put_row(m, c, &x, &l, i);
    dis__svg_end(m);
}
