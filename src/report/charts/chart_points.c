/* Values of single runs, their mean and its interval, one row per condition; a diamond for published values. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

/* Layout of rows: names to the left of the dots if the widest is short, which halves the height, else above them. */
typedef struct {
    double left, right, row, line; /* line: of the dots, below the top of a row */
    bool beside;
} points_layout;

static points_layout compute_layout(const dis__point_chart *p, const dis__axis_scale *x)
{
    enum { SHORT = 150, LONGER = 205, MANY = 5 }; /* with many rows the height matters more than the width */
    double widest = 0;
    for (size_t i = 0; i < p->n; i++)
        widest = fmax(widest, dis__text_width(p->row[i].row) * (p->row[i].strong ? 1.12 : 1));
    const bool beside = widest <= (p->n > MANY ? LONGER : SHORT);
    const double half =
        dis__text_width(dis__axis_scale_format_tick(x, x->first).text) / 2 + 2; /* the first tick is not cut off */
    return (points_layout){.left = beside ? widest + 14 : fmax(6, half),
                           .right = DIS__CHART_WIDTH - 62,
                           .row = beside ? 24 : 44,
                           .line = beside ? 12 : 29,
                           .beside = beside};
}

static void widen(double x, double *low, double *high)
{
    if (isnan(x)) return;
    *low = fmin(*low, x);
    *high = fmax(*high, x);
}

static dis__axis_scale scale_of(const dis__point_chart *p, int ticks)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        const dis__point_chart_row *r = &p->row[i];
        widen(r->mean, &low, &high);
        widen(r->low, &low, &high);
        widen(r->high, &low, &high);
        widen(r->other, &low, &high);
        for (size_t k = 0; k < r->n; k++) widen(r->value[k], &low, &high);
    }
    if (low > high) low = 0, high = 1;
    if (high - low < 1e-9 * fmax(1, fabs(high))) {
        const double x = low, margin = .05 * fmax(.1, fabs(x));
        const bool any = p->min_possible == p->max_possible;
        low = any ? x - margin : fmax(x - margin, p->min_possible);
        high = any ? x + margin : fmin(x + margin, p->max_possible);
    }
    return dis__axis_scale_nice(low, high, ticks, false);
}

/* Spacing of ticks. */
static bool ticks_fit(const dis__axis_scale *x, const points_layout *l)
{
    const double widest = fmax(dis__text_width(dis__axis_scale_format_tick(x, x->low).text),
                               dis__text_width(dis__axis_scale_format_tick(x, x->high).text));
    return (widest + 6) * (x->high - x->low) / x->step <= l->right - l->left;
}

static void put_axis(dis__markup *m, const dis__point_chart *p, const dis__axis_scale *x, const points_layout *l,
                     double top, double height)
{
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x->first; t <= x->high + x->step * 1e-6; t += x->step) {
        const double at = dis__axis_scale_position(x, t, l->left, l->right);
        dis__markup_appendf(m, "<path class=\"g\" d=\"M%s %sV%s\"/><text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                            dis__format_fixed(at, 1).text, dis__format_fixed(top, 1).text,
                            dis__format_fixed(height - 44, 1).text, dis__format_fixed(at, 1).text,
                            dis__format_fixed(height - 26, 1).text, dis__axis_scale_format_tick(x, t).text);
    }
    dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n",
                        dis__format_fixed(l->right, 1).text, dis__format_fixed(height - 7, 1).text, p->x_title);
}

static void put_name(dis__markup *m, const dis__point_chart_row *r, const points_layout *l, double y)
{
    const char *class = l->beside ? r->strong ? "b e" : "e" : r->strong ? "b" : "";
    dis__markup_appendf(m, "<text class=\"%s\" x=\"%s\" y=\"%s\">", class,
                        dis__format_fixed(l->beside ? l->left - 10 : 11, 1).text,
                        dis__format_fixed(y + (l->beside ? l->line + 4.5 : 14), 1).text);
    dis__markup_append_label(m, r->row, strlen(r->row), dis__text_fit(r->row, l->beside ? 2 * l->left : l->right));
    dis__markup_append(m, "</text>");
}

static void put_row(dis__markup *m, const dis__point_chart *p, const dis__point_chart_row *r, const dis__axis_scale *x,
                    const points_layout *l, double y)
{
    const double line = y + l->line;
    put_name(m, r, l, y);
    for (size_t k = 0; k < r->n; k++)
        dis__markup_appendf(m, "<circle class=\"p s4\" cx=\"%s\" cy=\"%s\" r=\"2.6\"><title>%s</title></circle>",
                            dis__format_fixed(dis__axis_scale_position(x, r->value[k], l->left, l->right), 1).text,
                            dis__format_fixed(line, 1).text, dis__format_fixed(r->value[k], 3).text);
    if (!isnan(r->low))
        dis__markup_appendf(m, "<path class=\"l l0\" d=\"M%s %sH%s\"/>",
                            dis__format_fixed(dis__axis_scale_position(x, r->low, l->left, l->right), 1).text,
                            dis__format_fixed(line, 1).text,
                            dis__format_fixed(dis__axis_scale_position(x, r->high, l->left, l->right), 1).text);
    if (!isnan(r->other)) {
        dis__marker_draw(m, 3, dis__axis_scale_position(x, r->other, l->left, l->right), line, 4, "s5");
        dis__markup_appendf(m, "<title>%s %s</title></path>", p->other_name, dis__format_fixed(r->other, 3).text);
    }
    if (!isnan(r->mean)) {
        dis__markup_appendf(m, "<circle class=\"s0\" cx=\"%s\" cy=\"%s\" r=\"4\"><title>",
                            dis__format_fixed(dis__axis_scale_position(x, r->mean, l->left, l->right), 1).text,
                            dis__format_fixed(line, 1).text);
        dis__markup_append_label(m, r->row, strlen(r->row), 40);
        dis__markup_appendf(m, ": %s", dis__format_fixed(r->mean, 3).text);
        if (!isnan(r->low))
            dis__markup_appendf(m, ", 95 %% from %s to %s", dis__format_fixed(r->low, 3).text,
                                dis__format_fixed(r->high, 3).text);
        dis__markup_appendf(m, "</title></circle><text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>", r->strong ? "b" : "q",
                            dis__format_fixed(l->right + 10, 1).text, dis__format_fixed(line + 4.5, 1).text,
                            dis__format_fixed(r->mean, 3).text);
    }
    dis__markup_append(m, "\n");
}

/* Legend of the marks, in one line. */
static void put_legend(dis__markup *m, const dis__point_chart *p, bool intervals, bool values, bool other)
{
    double x = 6;
    dis__markup_appendf(m, "<circle class=\"s0\" cx=\"%s\" cy=\"9\" r=\"4\"/>", dis__format_fixed(x + 9, 1).text);
    if (intervals) dis__markup_appendf(m, "<path class=\"l l0\" d=\"M%s 9h18\"/>", dis__format_fixed(x, 1).text);
    dis__markup_appendf(m, "<text x=\"%s\" y=\"13.5\">%s</text>", dis__format_fixed(x + 24, 1).text, p->mean_name);
    x += 38 + dis__text_width(p->mean_name);
    if (values) {
        dis__markup_appendf(m,
                            "<circle class=\"p s4\" cx=\"%s\" cy=\"9\" r=\"2.6\"/><text x=\"%s\" y=\"13.5\">%s</text>",
                            dis__format_fixed(x + 4, 1).text, dis__format_fixed(x + 12, 1).text, p->value_name);
        x += 26 + dis__text_width(p->value_name);
    }
    if (other) {
        dis__marker_draw(m, 3, x + 5, 9, 4, "s5");
        dis__markup_appendf(m, "</path><text x=\"%s\" y=\"13.5\">%s</text>", dis__format_fixed(x + 15, 1).text,
                            p->other_name);
    }
    dis__markup_append(m, "\n");
}

void dis__point_chart_draw(dis__markup *m, const dis__point_chart *p, const dis__markup *name)
{
    enum { LEGEND = 24 };
    int ticks = 5;
    dis__axis_scale x = scale_of(p, ticks);
    points_layout l = compute_layout(p, &x);
    while (ticks > 1 && !ticks_fit(&x, &l)) {
        x = scale_of(p, --ticks);
        l = compute_layout(p, &x);
    }
    const double height = LEGEND + l.row * (double)p->n + 52;
    bool intervals = false, values = false, other = false;
    for (size_t i = 0; i < p->n; i++) {
        intervals |= !isnan(p->row[i].low);
        values |= p->row[i].n > 1;
        other |= !isnan(p->row[i].other);
    }
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    put_legend(m, p, intervals, values, other);
    put_axis(m, p, &x, &l, LEGEND, height);
    for (size_t i = 0; i < p->n; i++) put_row(m, p, &p->row[i], &x, &l, LEGEND + l.row * (double)i);
    dis__svg_end(m);
}
