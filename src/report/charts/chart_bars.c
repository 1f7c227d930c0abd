/* Horizontal bars, plain and stacked. */
#include "report/charts/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* All values of a chart with the same decimals. */
static const char *format_value(const dis__bar_chart *b, double x, dis__number_text *d)
{
    bool small = false;
    for (size_t i = 0; i < b->n * b->n_series; i++) small |= b->value[i] > 0 && b->value[i] < .0995;
    *d = b->share ? dis__format_fixed(100 * x, small ? 1 : 0) : dis__format_fixed(x, 3);
    if (b->share) strcat(d->text, " %");
    return d->text;
}

/* Position of names and bars: names to the left of the bars if all are short, otherwise above them. */
typedef struct {
    double top, left, right, height, head, row, bar;
} bar_layout;

static bar_layout compute_layout(const dis__bar_chart *b)
{
    enum { BESIDE = 110, GAP = 9, LEGEND = 10, AXIS = 44 };
    double widest = 0;
    for (size_t i = 0; i < b->n; i++) widest = fmax(widest, dis__text_width(b->row[i]));
    bar_layout l = {.right = DIS__CHART_WIDTH - 60, .bar = b->n_series > 2 ? 10.5 : 12};
    const bool beside = widest <= BESIDE;
    const double bars = fmax(beside ? 14 : 0, (l.bar + 1) * (double)b->n_series);
    l.top = b->n_series > 1 ? dis__legend_height(b->series, b->n_series) + LEGEND : 4;
    l.left = beside ? widest + 12 : 4;
    l.head = beside ? 0 : 19;
    l.row = l.head + bars + GAP;
    l.height = l.top + l.row * (double)b->n + AXIS;
    return l;
}

static void put_bar_axis(dis__markup *m, const dis__bar_chart *b, const bar_layout *l, const dis__axis_scale *x)
{
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x->low; t <= x->high + x->step * 1e-6; t += x->step) {
        const double at = dis__axis_scale_position(x, t, l->left, l->right);
        dis__markup_appendf(m, "<path class=\"g\" d=\"M%s %sV%s\"/><text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                            dis__format_fixed(at, 1).text, dis__format_fixed(l->top, 1).text,
                            dis__format_fixed(l->height - 40, 1).text, dis__format_fixed(fmax(at, 6), 1).text,
                            dis__format_fixed(l->height - 24, 1).text, dis__axis_scale_format_tick(x, t).text);
    }
    dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n",
                        dis__format_fixed(l->right, 1).text, dis__format_fixed(l->height - 6, 1).text, b->x_title);
}

static void put_bar_row(dis__markup *m, const dis__bar_chart *b, const bar_layout *l, const dis__axis_scale *x,
                        size_t i)
{
    const double y = l->top + l->row * (double)i, unit = b->share ? 100 : 1;
    const double *value = b->value + i * b->n_series, bars = (l->bar + 1) * (double)b->n_series;
    dis__markup_appendf(m, "<text class=\"%s\" x=\"%s\" y=\"%s\">", l->head > 0 ? "" : "e",
                        dis__format_fixed(l->head > 0 ? l->left : l->left - 8, 1).text,
                        dis__format_fixed(l->head > 0 ? y + 14 : y + fmax(7, bars / 2) + 4.5, 1).text);
    dis__markup_append_label(m, b->row[i], strlen(b->row[i]),
                             dis__text_fit(b->row[i], l->head > 0 ? l->right : l->left));
    dis__markup_append(m, "</text>\n");
    const double first = y + l->head + (l->head > 0 ? 0 : fmax(0, 7 - bars / 2));
    for (size_t s = 0; s < b->n_series; s++) {
        if (isnan(value[s])) continue;
        const double at = dis__axis_scale_position(x, unit * value[s], l->left, l->right);
        dis__number_text d;
        dis__markup_appendf(m, "<rect class=\"s%zu\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"1.5\"><title>",
                            s % DIS__SERIES_COLOURS, dis__format_fixed(l->left, 1).text,
                            dis__format_fixed(first + (l->bar + 1) * (double)s, 1).text,
                            dis__format_fixed(fmax(.5, at - l->left), 1).text, dis__format_fixed(l->bar, 1).text);
        dis__markup_append_label(m, b->row[i], strlen(b->row[i]), 40);
        if (b->n_series > 1) {
            dis__markup_append(m, ", ");
            dis__markup_append_label(m, b->series[s], strlen(b->series[s]), DIS__CHART_NAME);
        }
        dis__markup_appendf(m, ": %s</title></rect>", format_value(b, value[s], &d));
        dis__markup_appendf(
            m, "<text class=\"q%s\" x=\"%s\" y=\"%s\">%s</text>\n", b->n_series > 1 ? " v" : "",
            dis__format_fixed(l->right + 8, 1).text,
            dis__format_fixed(first + (l->bar + 1) * (double)s + l->bar / 2 + (b->n_series > 1 ? 3.6 : 4.5), 1).text,
            format_value(b, value[s], &d));
    }
}

void dis__bar_chart_draw(dis__markup *m, const dis__bar_chart *b, const dis__markup *name)
{
    const bar_layout l = compute_layout(b);
    double high = 0;
    for (size_t i = 0; i < b->n * b->n_series; i++)
        if (b->value[i] > high) high = b->value[i];
    const dis__axis_scale x = dis__axis_scale_nice(0, b->share ? 100 * high : high, 5, false);
    dis__svg_begin(m, DIS__CHART_WIDTH, l.height, name);
    if (b->n_series > 1) dis__legend_draw(m, 0, b->series, b->n_series, DIS__MARK_BOX);
    put_bar_axis(m, b, &l, &x);
    for (size_t i = 0; i < b->n; i++) put_bar_row(m, b, &l, &x, i);
    dis__svg_end(m);
}

/* One bar of one row, its parts from left to right; a sufficiently wide part shows its name. */
static void put_parts(dis__markup *m, const dis__stacked_bar_chart *s, const double *share, double left, double right,
                      double y, double height)
{
    double x = left;
    for (size_t k = 0; k < s->n_parts; k++) {
        const double width = share[k] * (right - left);
        if (width < .3) {
            x += width;
            continue;
        }
        const int step = dis__heat_map_ordered_step(k, s->n_parts);
        char colour[16], text_colour[16];
        if (s->is_ordered) {
            snprintf(colour, sizeof colour, "h%d", step);
            snprintf(text_colour, sizeof text_colour, "v %s", dis__heat_map_text_class(step));
        } else {
            snprintf(colour, sizeof colour, "s%zu", k % DIS__SERIES_COLOURS);
            snprintf(text_colour, sizeof text_colour, "on%zu", k % DIS__SERIES_COLOURS);
        }
        dis__markup_appendf(m, "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>", colour,
                            dis__format_fixed(x, 1).text, dis__format_fixed(y, 1).text,
                            dis__format_fixed(fmax(.3, width - 1), 1).text, dis__format_fixed(height, 1).text);
        dis__markup_append_label(m, s->part[k], strlen(s->part[k]), 40);
        dis__markup_appendf(m, ": %s</title></rect>", dis__format_percent(share[k]).text);
        const size_t fits = width > 12 ? dis__text_fit(s->part[k], 1.12 * (width - 7)) : 0;
        const bool fits_inside = dis__text_width(s->part[k]) <= 1.12 * (width - 7);
        if (fits && (fits_inside || fits >= 4)) {
            dis__markup_appendf(m, "<text class=\"%s\" x=\"%s\" y=\"%s\">", text_colour,
                                dis__format_fixed(x + 4, 1).text, dis__format_fixed(y + height - 3.5, 1).text);
            dis__markup_append_label(m, s->part[k], strlen(s->part[k]), fits);
            dis__markup_append(m, "</text>");
        }
        dis__markup_append(m, "\n");
        x += width;
    }
}

/* The beginning of an item's text; the tooltip of the mark shows more. */
static void put_item_text(dis__markup *m, const char *text, double x, double y, double width)
{
    enum { TOOLTIP = 1000 };
    if (!*text) return;
    dis__markup_appendf(m, "<text class=\"q v\" x=\"%s\" y=\"%s\"><title>", dis__format_fixed(x, 1).text,
                        dis__format_fixed(y, 1).text);
    dis__markup_append_label(m, text, strlen(text), TOOLTIP);
    dis__markup_append(m, "</title>");
    dis__markup_append_label(m, text, strlen(text), dis__text_fit(text, width));
    dis__markup_append(m, "</text>");
}

void dis__stacked_bar_chart_draw(dis__markup *m, const dis__stacked_bar_chart *s, const dis__markup *name)
{
    enum { BAR = 15, HEAD = 20, TEXT = 15, GAP = 12 };
    double longest = 0;
    for (size_t b = 0; b < s->n_bars; b++) longest = fmax(longest, dis__text_width(s->bar[b]));
    const double top = dis__legend_height(s->part, s->n_parts) + 8, left = 8 + longest;
    const double head = HEAD + (s->text ? TEXT : 0);
    const double row = head + (BAR + 2) * (double)s->n_bars + GAP, right = DIS__CHART_WIDTH - 4;
    dis__svg_begin(m, DIS__CHART_WIDTH, top + row * (double)s->n, name);
    dis__legend_draw(m, 0, s->part, s->n_parts, s->is_ordered ? DIS__MARK_STEP : DIS__MARK_BOX);
    for (size_t i = 0; i < s->n; i++) {
        const double y = top + row * (double)i;
        dis__markup_appendf(m, "<text class=\"b\" x=\"%s\" y=\"%s\">", dis__format_fixed(left, 1).text,
                            dis__format_fixed(y + 14, 1).text);
        dis__markup_append_label(m, s->row[i], strlen(s->row[i]), dis__text_fit(s->row[i], 290));
        dis__markup_append(m, "</text>");
        if (s->note)
            dis__markup_appendf(m, "<text class=\"e q\" x=\"%s\" y=\"%s\">%s</text>\n",
                                dis__format_fixed(right, 1).text, dis__format_fixed(y + 14, 1).text, s->note[i]);
        /* the font is smaller there than the estimate assumes */
        if (s->text) put_item_text(m, s->text[i], left, y + 29, 1.15 * (right - left));
        for (size_t b = 0; b < s->n_bars; b++) {
            const double at = y + head + (BAR + 2) * (double)b;
            dis__markup_appendf(m, "<text class=\"q e\" x=\"%s\" y=\"%s\">", dis__format_fixed(left - 6, 1).text,
                                dis__format_fixed(at + BAR - 3.5, 1).text);
            dis__markup_append_label(m, s->bar[b], strlen(s->bar[b]), dis__text_fit(s->bar[b], left + 1));
            dis__markup_append(m, "</text>");
            put_parts(m, s, s->share + (i * s->n_bars + b) * s->n_parts, left, right, at, BAR);
        }
    }
    dis__svg_end(m);
}
