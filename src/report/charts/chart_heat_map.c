/* Heat maps of square matrices: rows and columns stand for the same names, every cell carries its number, in smaller
 * letters where it is narrow. Names that do not fit above their column stand upright there; those that are too long
 * even for that are replaced by letters, which the rows show too. Rows may end with how many votes they are
 * of. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

int dis__heat_map_step(double x, double low, double high)
{
    const double t = high > low ? (x - low) / (high - low) : 0;
    const int step = (int)(t * DIS__HEAT_STEPS);
    return !(t > 0) ? 0 : step < DIS__HEAT_STEPS ? step : DIS__HEAT_STEPS - 1;
}

int dis__heat_map_ordered_step(size_t i, size_t n)
{
    return n < 2 ? DIS__HEAT_STEPS / 2 : (int)(1 + i * (DIS__HEAT_STEPS - 2) / (n - 1));
}

const char *dis__heat_map_text_class(int step)
{
    return step >= 7 ? "hi" : step == 6 ? "mid" : "lo";
}

typedef struct {
    double names; /* width of the names of rows */
    double left;  /* where the cells begin */
    double right; /* where they end, or the start of the counts */
    double cell, high;
    double head;  /* height of what stands above the cells */
    bool letters; /* over the columns */
    bool upright; /* names over the columns, turned */
} layout;

enum { HEAD = 40, TITLE = 18, LETTER = 18, UPRIGHT = 96, TALLEST = 40 };

/* The text after a row: its number of votes. */
static dis__number_text count_of(const dis__heat_map *h, size_t r)
{
    return dis__format_abbreviated((uint64_t)(h->count[r] + .5));
}

static layout compute_layout(const dis__heat_map *h)
{
    layout l = {.head = HEAD};
    double widest = 0, counts = 0;
    for (size_t i = 0; i < h->n; i++) {
        widest = fmax(widest, dis__text_width(h->name[i]));
        if (h->count) counts = fmax(counts, dis__text_width(count_of(h, i).text));
    }
    if (h->count) counts = fmax(counts, dis__text_width(h->count_title)) + 10;
    l.names = fmin(fmax(dis__text_width(h->row_title), widest), .4 * h->width);
    for (int pass = 0; pass < 2; pass++) { /* the letters need space themselves */
        l.left = l.names + 14 + (l.letters ? LETTER : 0);
        l.cell = fmin(56, (h->width - l.left - counts - 2) / (double)h->n);
        const bool fits = widest <= l.cell - 2;
        l.upright = !fits && widest <= UPRIGHT;
        l.letters |= !fits && !l.upright;
    }
    if (l.upright) l.head = TITLE + 8 + widest;
    l.right = l.left + l.cell * (double)h->n + counts;
    l.high = fmin(l.cell, h->n > 6 ? 30 : TALLEST);
    return l;
}

/* In cells there is no room for "0." */
static void put_value(dis__markup *m, const dis__heat_map *h, double x)
{
    if (h->percent) {
        dis__markup_append(m, dis__format_fixed(100 * x, 0).text);
        return;
    }
    const dis__number_text d = dis__format_fixed(x, h->decimals);
    dis__markup_append(m, d.text[0] == '0' && d.text[1] == '.' ? d.text + 1 : d.text);
}

static void put_letter(dis__markup *m, size_t i, double x, double y)
{
    dis__markup_appendf(m, "<text class=\"m b\" x=\"%s\" y=\"%s\">%c</text>", dis__format_fixed(x, 1).text,
                        dis__format_fixed(y, 1).text, (char)('A' + (char)(i % 26)));
}

static void put_fitted(dis__markup *m, const char *text, double width)
{
    dis__markup_append_label(m, text, strlen(text), dis__text_fit(text, width));
}

static void put_cell(dis__markup *m, const dis__heat_map *h, const layout *l, size_t r, size_t c, double y)
{
    const double x = l->left + l->cell * (double)c, value = h->value[r * h->n + c];
    if (isnan(value)) {
        dis__markup_append(m, "<rect class=\"none\"");
    } else {
        dis__markup_appendf(m, "<rect class=\"h%d\"", dis__heat_map_step(value, h->low, h->high));
    }
    dis__markup_appendf(m, " x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>", dis__format_fixed(x, 1).text,
                        dis__format_fixed(y, 1).text, dis__format_fixed(l->cell - 1, 1).text,
                        dis__format_fixed(l->high - 1, 1).text);
    dis__markup_append_label(m, h->name[r], strlen(h->name[r]), 40);
    dis__markup_append(m, ", ");
    dis__markup_append_label(m, h->name[c], strlen(h->name[c]), 40);
    dis__markup_appendf(m, ": %s</title></rect>",
                        isnan(value) ? "nothing"
                        : h->percent ? dis__format_percent(value).text
                                     : dis__format_brief(value).text);
    if (isnan(value)) return;
    const double letters = !h->percent ? (double)h->decimals + .7 : value >= .995 ? 3 : value >= .095 ? 2 : 1;
    const int step = dis__heat_map_step(value, h->low, h->high);
    dis__markup_appendf(m, "<text class=\"c %s%s\" x=\"%s\" y=\"%s\">", letters * 6.6 > l->cell - 1 ? "small " : "",
                        h->percent && value < .005 ? "z" : dis__heat_map_text_class(step),
                        dis__format_fixed(x + (l->cell - 1) / 2, 1).text,
                        dis__format_fixed(y + l->high / 2 + 3.5, 1).text);
    put_value(m, h, value);
    dis__markup_append(m, "</text>\n");
}

static void put_legend(dis__markup *m, const dis__heat_map *h, double left, double bottom)
{
    const dis__number_text low = h->percent ? dis__format_percent(h->low) : dis__format_brief(h->low);
    const dis__number_text high = h->percent ? dis__format_percent(h->high) : dis__format_brief(h->high);
    const double swatches = 12 * DIS__HEAT_STEPS + 12,
                 end = dis__text_width(high.text) + dis__text_width(h->value_title) + 8;
    left = fmax(0, fmin(left, h->width - dis__text_width(low.text) - swatches - end));
    const double from = left + dis__text_width(low.text) + 6;
    dis__markup_appendf(m, "<g class=\"ax\" aria-hidden=\"true\"><text x=\"%s\" y=\"%s\">%s</text>",
                        dis__format_fixed(left, 1).text, dis__format_fixed(bottom - 9, 1).text, low.text);
    for (int s = 0; s < DIS__HEAT_STEPS; s++)
        dis__markup_appendf(m, "<rect class=\"h%d\" x=\"%s\" y=\"%s\" width=\"12\" height=\"10\"/>", s,
                            dis__format_fixed(from + 12 * s, 1).text, dis__format_fixed(bottom - 19, 1).text);
    dis__markup_appendf(m, "<text x=\"%s\" y=\"%s\">%s %s</text></g>\n",
                        dis__format_fixed(from + 12 * DIS__HEAT_STEPS + 6, 1).text,
                        dis__format_fixed(bottom - 9, 1).text, high.text, h->value_title);
}

static void put_column_head(dis__markup *m, const dis__heat_map *h, const layout *l, size_t i)
{
    const double x = l->left + l->cell * ((double)i + .5), y = l->head - 6;
    if (l->letters) {
        put_letter(m, i, x, y);
        return;
    }
    if (l->upright)
        dis__markup_appendf(m, "<text transform=\"translate(%s %s)rotate(-90)\">", dis__format_fixed(x + 4.5, 1).text,
                            dis__format_fixed(y, 1).text);
    else
        dis__markup_appendf(m, "<text class=\"m\" x=\"%s\" y=\"%s\">", dis__format_fixed(x, 1).text,
                            dis__format_fixed(y, 1).text);
    put_fitted(m, h->name[i], l->upright ? UPRIGHT : l->cell);
    dis__markup_append(m, "</text>");
}

static void put_row(dis__markup *m, const dis__heat_map *h, const layout *l, size_t i)
{
    const double y = l->head + l->high * (double)i, middle = y + l->high / 2 + 4.5;
    if (l->letters) put_letter(m, i, l->left - 12, middle);
    dis__markup_appendf(m, "<text class=\"e\" x=\"%s\" y=\"%s\">", dis__format_fixed(l->names + 4, 1).text,
                        dis__format_fixed(middle, 1).text);
    put_fitted(m, h->name[i], l->names);
    dis__markup_append(m, "</text>\n");
    for (size_t c = 0; c < h->n; c++) put_cell(m, h, l, i, c, y);
    if (h->count)
        dis__markup_appendf(m, "<text class=\"e q v\" x=\"%s\" y=\"%s\">%s</text>\n",
                            dis__format_fixed(l->right, 1).text, dis__format_fixed(middle - .5, 1).text,
                            count_of(h, i).text);
}

void dis__heat_map_draw(dis__markup *m, const dis__heat_map *h, const dis__markup *name)
{
    const layout l = compute_layout(h);
    const double height = l.head + l.high * (double)h->n + (h->legend ? 40 : 6);
    dis__svg_begin(m, h->width, height, name);
    dis__markup_appendf(m,
                        "<g class=\"ax\" aria-hidden=\"true\"><text class=\"at\" x=\"%s\" y=\"12\">%s</text>"
                        "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text>",
                        dis__format_fixed(l.left, 1).text, h->column_title, dis__format_fixed(l.names + 4, 1).text,
                        dis__format_fixed(l.head - 6, 1).text, h->row_title);
    if (h->count)
        dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text>", dis__format_fixed(l.right, 1).text,
                            dis__format_fixed(l.head - 6, 1).text, h->count_title);
    dis__markup_append(m, "</g>\n");
    for (size_t i = 0; i < h->n; i++) put_column_head(m, h, &l, i);
    for (size_t i = 0; i < h->n; i++) put_row(m, h, &l, i);
    if (h->legend) put_legend(m, h, l.left, height);
    dis__svg_end(m);
}
