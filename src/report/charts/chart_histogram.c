/* Histograms: one, or several below each other over the same axis. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

static double largest(const uint64_t *count, size_t n)
{
    uint64_t max = 0;
    for (size_t b = 0; b < n; b++)
        if (count[b] > max) max = count[b];
    return (double)max;
}

static void put_bar(dis__markup *m, double x0, double x1, double top, double bottom, const char *class)
{
    const double gap = x1 - x0 > 6 ? 1.5 : x1 - x0 > 3 ? .5 : 0;
    dis__markup_appendf(m, "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\">", class,
                        dis__format_fixed(x0 + gap / 2, 2).text, dis__format_fixed(top, 1).text,
                        dis__format_fixed(x1 - x0 - gap, 2).text, dis__format_fixed(bottom - top, 1).text);
}

/* "3", "3 to 5", "0.25 to 0.3" */
static void put_range(dis__markup *m, const double *edge, bool integers)
{
    if (!integers)
        dis__markup_appendf(m, "%s to %s", dis__format_brief(edge[0]).text, dis__format_brief(edge[1]).text);
    else if (edge[1] - edge[0] < 1.5)
        dis__markup_append(m, dis__format_grouped((uint64_t)(edge[0] + 1)).text);
    else
        dis__markup_appendf(m, "%s to %s", dis__format_grouped((uint64_t)(edge[0] + 1)).text,
                            dis__format_grouped((uint64_t)edge[1]).text);
}

void dis__histogram_draw(dis__markup *m, const dis__histogram *h, const dis__markup *name)
{
    enum { HEIGHT = 270 };
    const double half = h->integers ? .5 : 0; /* integers are in the middle of their bars */
    /* A single bar needs neighbours to be recognized as one. */
    const double margin = h->integers && h->n < 4 ? 2 : 0;
    const dis__axis_scale x =
        dis__axis_scale_nice(fmax(0, h->edge[0] + half - margin), h->edge[h->n] - half + margin, 6, h->integers);
    const dis__axis_scale y = dis__axis_scale_nice(0, fmax(1, largest(h->count, h->n)), 4, true);
    dis__frame f = dis__frame_init(x, y, h->x_title, h->y_title, 0, HEIGHT);
    /* The bars may begin before the first tick and end after the last. */
    const double low = fmin(x.low, h->edge[0]), high = fmax(x.high, h->edge[h->n]);
    dis__svg_begin(m, DIS__CHART_WIDTH, HEIGHT, name);
    f.x.first = x.low;
    f.x.low = low;
    f.x.high = high;
    dis__frame_draw(m, &f);
    for (size_t b = 0; b < h->n; b++) {
        if (h->count[b] == 0) continue;
        put_bar(m, dis__frame_x(&f, h->edge[b]), dis__frame_x(&f, h->edge[b + 1]),
                dis__frame_y(&f, (double)h->count[b]), f.bottom, "s0");
        dis__markup_append(m, "<title>");
        put_range(m, h->edge + b, h->integers);
        dis__markup_appendf(m, ": %s %s</title></rect>\n", dis__format_grouped(h->count[b]).text, h->unit);
    }
    dis__svg_end(m);
}

void dis__histogram_panels_draw(dis__markup *m, const dis__histogram_panels *p, const dis__markup *name)
{
    enum { PANEL = 74, BAR = 46 };
    const double height = PANEL * (double)p->n_panels + 40;
    const dis__axis_scale x = dis__axis_scale_nice(p->edge[0], p->edge[p->n], 5, false);
    const double left = 14, right = DIS__CHART_WIDTH - 14; /* half of "0.0" and "1.0" fits beside */
    dis__svg_begin(m, DIS__CHART_WIDTH, height, name);
    for (size_t i = 0; i < p->n_panels; i++) {
        const double bottom = PANEL * (double)(i + 1), max = fmax(1, largest(p->count[i], p->n));
        double total = 0;
        for (size_t b = 0; b < p->n; b++) total += (double)p->count[i][b];
        dis__markup_appendf(m, "<text class=\"b\" x=\"%s\" y=\"%s\">", dis__format_fixed(left, 1).text,
                            dis__format_fixed(bottom - BAR - 11, 1).text);
        dis__markup_append_label(m, p->panel[i], strlen(p->panel[i]), dis__text_fit(p->panel[i], 300));
        dis__markup_appendf(m, "</text><text class=\"e q\" x=\"%s\" y=\"%s\">mean %s</text>\n",
                            dis__format_fixed(right, 1).text, dis__format_fixed(bottom - BAR - 11, 1).text,
                            dis__format_fixed(p->mean[i], 3).text);
        for (size_t b = 0; b < p->n; b++) {
            if (p->count[i][b] == 0) continue;
            const double h = fmax(.8, BAR * (double)p->count[i][b] / max);
            put_bar(m, dis__axis_scale_position(&x, p->edge[b], left, right),
                    dis__axis_scale_position(&x, p->edge[b + 1], left, right), bottom - h, bottom, "s0");
            dis__markup_append(m, "<title>");
            put_range(m, p->edge + b, false);
            dis__markup_appendf(m, ": %s %s (%s)</title></rect>\n", dis__format_grouped(p->count[i][b]).text, p->unit,
                                dis__format_percent((double)p->count[i][b] / fmax(1, total)).text);
        }
        const double at = dis__axis_scale_position(&x, p->mean[i], left, right);
        dis__markup_appendf(m, "<path class=\"t\" d=\"M%s %sH%s\"/><path class=\"mean\" d=\"M%s %sv-%d\"/>\n",
                            dis__format_fixed(left, 1).text, dis__format_fixed(bottom, 1).text,
                            dis__format_fixed(right, 1).text, dis__format_fixed(at, 1).text,
                            dis__format_fixed(bottom, 1).text, (int)BAR);
    }
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = x.low; t <= x.high + x.step * 1e-6; t += x.step)
        dis__markup_appendf(m, "<text class=\"m\" x=\"%s\" y=\"%s\">%s</text>",
                            dis__format_fixed(dis__axis_scale_position(&x, t, left, right), 1).text,
                            dis__format_fixed(height - 24, 1).text, dis__axis_scale_format_tick(&x, t).text);
    dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n", dis__format_fixed(right, 1).text,
                        dis__format_fixed(height - 6, 1).text, p->x_title);
    dis__svg_end(m);
}
