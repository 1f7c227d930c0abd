/* Heat maps: a matrix whose cells carry their number where there is room for it. */
#include "report/chart.h"
#include <math.h>
#include <string.h>

int dis__heat_step(double x, double low, double high)
{
    const double t = high > low ? (x - low) / (high - low) : 0;
    const int step = (int)(t * DIS__HEAT_STEPS);
    return !(t > 0) ? 0 : step < DIS__HEAT_STEPS ? step : DIS__HEAT_STEPS - 1;
}

static size_t longest(const char *const *names, size_t n, size_t most)
{
    size_t length = 1;
    for (size_t i = 0; i < n; i++)
        if (dis__length(names[i]) > length) length = dis__length(names[i]);
    return length < most ? length : most;
}

/* In cells there is no room for "0." */
static void put_value(dis__markup *m, const dis__heat *h, double x)
{
    if (h->percent) {
        dis__put(m, dis__fixed(100 * x, 0).text);
        return;
    }
    const dis__digits d = dis__fixed(x, h->decimals);
    dis__put(m, d.text[0] == '0' && d.text[1] == '.' ? d.text + 1 : d.text);
}

void dis__chart_heat(dis__markup *m, const dis__heat *h, const dis__markup *name)
{
    const size_t row_letters = longest(h->row, h->n_rows, 18), column_letters = longest(h->column, h->n_columns, 12);
    const double left = fmax(6.6 * (double)row_letters + 12, 7.0 * (double)strlen(h->row_title) + 14),
                 room = h->width - left - 2;
    const double cell = fmin(56, room / (double)h->n_columns), high = fmin(cell, 40);
    const bool upright = 6.8 * (double)column_letters > cell;
    const double head = 20 + (upright ? 6.8 * (double)column_letters + 4 : 18);
    const double bottom = head + high * (double)h->n_rows, height = bottom + (h->legend ? 40 : 6);
    const bool numbers = cell >= (h->percent ? 19 : 24);
    dis__svg_begin(m, h->width, height, name);
    dis__putf(m, "<g class=\"ax\" aria-hidden=\"true\"><text class=\"at\" x=\"%s\" y=\"12\">%s</text>",
              dis__fixed(left, 1).text, h->column_title);
    dis__putf(m, "<text class=\"at e\" x=\"%s\" y=\"12\">%s</text></g>\n", dis__fixed(left - 10, 1).text, h->row_title);
    for (size_t c = 0; c < h->n_columns; c++) {
        const double x = left + cell * ((double)c + .5);
        if (upright)
            dis__putf(m, "<text transform=\"translate(%s %s) rotate(-90)\">", dis__fixed(x + 4, 1).text,
                      dis__fixed(head - 5, 1).text);
        else
            dis__putf(m, "<text class=\"m\" x=\"%s\" y=\"%s\">", dis__fixed(x, 1).text, dis__fixed(head - 6, 1).text);
        dis__put_label(m, h->column[c], strlen(h->column[c]), column_letters);
        dis__put(m, "</text>\n");
    }
    for (size_t r = 0; r < h->n_rows; r++) {
        const double y = head + high * (double)r;
        dis__putf(m, "<text class=\"e\" x=\"%s\" y=\"%s\">", dis__fixed(left - 6, 1).text,
                  dis__fixed(y + high / 2 + 4.5, 1).text);
        dis__put_label(m, h->row[r], strlen(h->row[r]), row_letters);
        dis__put(m, "</text>\n");
        for (size_t c = 0; c < h->n_columns; c++) {
            const double x = left + cell * (double)c, value = h->value[r * h->n_columns + c];
            const bool there = !isnan(value);
            const int step = there ? dis__heat_step(value, h->low, h->high) : 0;
            dis__putf(m, "<rect class=\"%s%.*s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>",
                      there ? "h" : "none", there, &"0123456789"[step], dis__fixed(x, 1).text, dis__fixed(y, 1).text,
                      dis__fixed(cell - 1, 1).text, dis__fixed(high - 1, 1).text);
            dis__put_label(m, h->row[r], strlen(h->row[r]), 40);
            dis__put(m, ", ");
            dis__put_label(m, h->column[c], strlen(h->column[c]), 40);
            dis__putf(m, ": %s</title></rect>",
                      there ? (h->percent ? dis__share(value).text : dis__brief(value).text) : "nothing");
            if (numbers && there) {
                dis__putf(m, "<text class=\"c %s\" x=\"%s\" y=\"%s\">", step >= 5 ? "hi" : "lo",
                          dis__fixed(x + (cell - 1) / 2, 1).text, dis__fixed(y + high / 2 + 3.5, 1).text);
                put_value(m, h, value);
                dis__put(m, "</text>");
            }
            dis__put(m, "\n");
        }
    }
    if (h->legend) {
        dis__put(m, "<g class=\"ax\" aria-hidden=\"true\">");
        const dis__digits low = h->percent ? dis__share(h->low) : dis__brief(h->low);
        const dis__digits top = h->percent ? dis__share(h->high) : dis__brief(h->high);
        const double from = left + 7 * (double)strlen(low.text) + 6;
        dis__putf(m, "<text x=\"%s\" y=\"%s\">%s</text>", dis__fixed(left, 1).text, dis__fixed(height - 9, 1).text,
                  low.text);
        for (int s = 0; s < DIS__HEAT_STEPS; s++)
            dis__putf(m, "<rect class=\"h%d\" x=\"%s\" y=\"%s\" width=\"12\" height=\"10\"/>", s,
                      dis__fixed(from + 12 * s, 1).text, dis__fixed(height - 19, 1).text);
        dis__putf(m, "<text x=\"%s\" y=\"%s\">%s %s</text></g>\n", dis__fixed(from + 12 * DIS__HEAT_STEPS + 6, 1).text,
                  dis__fixed(height - 9, 1).text, top.text, h->value_title);
    }
    dis__svg_end(m);
}
