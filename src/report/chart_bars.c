/* Horizontal bars, plain and stacked. */
#include "report/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *shown(double x, bool share, dis__digits *d)
{
    *d = share ? dis__share(x) : dis__brief(x);
    return d->text;
}

static const char *close_of(size_t shape)
{
    return shape % 4 == 0 ? "</circle>" : "</path>";
}

void dis__chart_bars(dis__markup *m, const dis__bars *b, const dis__markup *name)
{
    enum { ROW = 40 };
    const double top = dis__legend_height(b->series, b->n_series) + 8, height = top + ROW * (double)b->n + 44;
    double high = 0;
    for (size_t i = 0; i < b->n * b->n_series; i++)
        if (b->value[i] > high) high = b->value[i];
    const dis__scale x = dis__scale_nice(0, b->share ? 100 * high : high, 5, false);
    const double left = 4, right = DIS__CHART_WIDTH - 60, unit = b->share ? 100 : 1;
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    dis__legend(m, 0, b->series, b->n_series, DIS__MARK_SHAPE);
    dis__put(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x.low; t <= x.high + x.step * 1e-6; t += x.step) {
        const double at = dis__scale_place(&x, t, left, right);
        dis__putf(m, "<path class=\"g\" d=\"M%s %sV%s\"/><text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                  dis__fixed(at, 1).text, dis__fixed(top, 1).text, dis__fixed(height - 40, 1).text,
                  dis__fixed(at + (t == x.low ? 4 : 0), 1).text, dis__fixed(height - 24, 1).text,
                  dis__scale_text(&x, t).text);
    }
    dis__putf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n", dis__fixed(right, 1).text,
              dis__fixed(height - 6, 1).text, b->x_title);
    for (size_t i = 0; i < b->n; i++) {
        const double y = top + ROW * (double)i, *value = b->value + i * b->n_series;
        dis__digits d;
        dis__putf(m, "<text x=\"%s\" y=\"%s\">", dis__fixed(left, 1).text, dis__fixed(y + 14, 1).text);
        dis__put_label(m, b->row[i], strlen(b->row[i]), dis__text_fit(b->row[i], right));
        dis__put(m, "</text>\n");
        for (size_t s = 0; s < b->n_series; s++) {
            if (isnan(value[s])) continue;
            const double at = dis__scale_place(&x, unit * value[s], left, right);
            char class[16];
            snprintf(class, sizeof class, "p s%zu", s % DIS__SERIES_COLOURS);
            if (s == 0)
                dis__putf(m, "<rect class=\"s0\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"13\" rx=\"2\">",
                          dis__fixed(left, 1).text, dis__fixed(y + 20, 1).text,
                          dis__fixed(fmax(.5, at - left), 1).text);
            else
                dis__shape(m, s, at, y + 26.5, 5, class);
            dis__put(m, "<title>");
            dis__put_label(m, b->series[s], strlen(b->series[s]), DIS__CHART_NAME);
            dis__putf(m, ": %s</title>%s\n", shown(value[s], b->share, &d), s == 0 ? "</rect>" : close_of(s));
        }
        if (!isnan(value[0]))
            dis__putf(m, "<text class=\"q\" x=\"%s\" y=\"%s\">%s</text>\n", dis__fixed(right + 8, 1).text,
                      dis__fixed(y + 31, 1).text, shown(value[0], b->share, &d));
    }
    dis__svg_end(m);
}

/* One bar of one row, its parts from left to right; a part that is wide enough carries its name. */
static void put_parts(dis__markup *m, const dis__stack *s, const double *share, double left, double right, double y,
                      double height)
{
    double x = left;
    for (size_t k = 0; k < s->n_parts; k++) {
        const double width = share[k] * (right - left);
        if (width < .3) {
            x += width;
            continue;
        }
        dis__putf(m, "<rect class=\"s%zu\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>",
                  k % DIS__SERIES_COLOURS, dis__fixed(x, 1).text, dis__fixed(y, 1).text,
                  dis__fixed(fmax(.3, width - 1), 1).text, dis__fixed(height, 1).text);
        dis__put_label(m, s->part[k], strlen(s->part[k]), 40);
        dis__putf(m, ": %s</title></rect>", dis__share(share[k]).text);
        const size_t fits = width > 12 ? dis__text_fit(s->part[k], 1.12 * (width - 7)) : 0;
        const bool whole = dis__text_width(s->part[k]) <= 1.12 * (width - 7);
        if (fits && (whole || fits >= 4)) {
            dis__putf(m, "<text class=\"on%zu\" x=\"%s\" y=\"%s\">", k % DIS__SERIES_COLOURS, dis__fixed(x + 4, 1).text,
                      dis__fixed(y + height - 3.5, 1).text);
            dis__put_label(m, s->part[k], strlen(s->part[k]), fits);
            dis__put(m, "</text>");
        }
        dis__put(m, "\n");
        x += width;
    }
}

void dis__chart_stack(dis__markup *m, const dis__stack *s, const dis__markup *name)
{
    enum { BAR = 15, HEAD = 20, GAP = 12 };
    double longest = 0;
    for (size_t b = 0; b < s->n_bars; b++) longest = fmax(longest, dis__text_width(s->bar[b]));
    const double top = dis__legend_height(s->part, s->n_parts) + 8, left = 8 + longest;
    const double row = HEAD + (BAR + 2) * (double)s->n_bars + GAP, right = DIS__CHART_WIDTH - 4;
    dis__svg_begin(m, DIS__CHART_WIDTH, top + row * (double)s->n, name);
    dis__legend(m, 0, s->part, s->n_parts, DIS__MARK_BOX);
    for (size_t i = 0; i < s->n; i++) {
        const double y = top + row * (double)i;
        dis__putf(m, "<text class=\"b\" x=\"%s\" y=\"%s\">", dis__fixed(left, 1).text, dis__fixed(y + 14, 1).text);
        dis__put_label(m, s->row[i], strlen(s->row[i]), dis__text_fit(s->row[i], 290));
        dis__put(m, "</text>");
        if (s->note)
            dis__putf(m, "<text class=\"e q\" x=\"%s\" y=\"%s\">%s</text>\n", dis__fixed(right, 1).text,
                      dis__fixed(y + 14, 1).text, s->note[i]);
        for (size_t b = 0; b < s->n_bars; b++) {
            const double at = y + HEAD + (BAR + 2) * (double)b;
            dis__putf(m, "<text class=\"q e\" x=\"%s\" y=\"%s\">%s</text>", dis__fixed(left - 6, 1).text,
                      dis__fixed(at + BAR - 3.5, 1).text, s->bar[b]);
            put_parts(m, s, s->share + (i * s->n_bars + b) * s->n_parts, left, right, at, BAR);
        }
    }
    dis__svg_end(m);
}
