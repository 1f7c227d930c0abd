/* Scales with round ticks, frames, legends.
 *
 * Ticks are at multiples of 1, 2 or 5 times a power of ten (Heckbert, "Nice numbers for graph labels", 1990). Widths of
 * texts are guessed: a picture without a browser has no other way. */
#include "report/charts/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGIT 8.0

dis__axis_scale dis__axis_scale_nice(double low, double high, int ticks, bool integers)
{
    /* Values that differ only by rounding are equal: steps between them would vanish when added. */
    if (!(high - low > 1e-12 * fmax(fabs(low), fabs(high)))) high = low + (fabs(low) > 1e-300 ? fabs(low) : 1);
    const double rough = (high - low) / ticks, power = pow(10, floor(log10(rough))), mantissa = rough / power;
    double step = power * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
    if (integers && step < 1) step = 1;
    dis__axis_scale s = {.low = floor(low / step + 1e-9) * step, .high = ceil(high / step - 1e-9) * step, .step = step};
    if (!(s.high > s.low)) s.high = s.low + step;
    s.first = s.low;
    return s;
}

dis__axis_scale dis__axis_scale_log(double low, double high)
{
    dis__axis_scale s = {.low = pow(10, floor(log10(low) + 1e-9)),
                         .high = pow(10, ceil(log10(high) - 1e-9)),
                         .log = true};
    if (!(s.high > s.low)) s.high = s.low * 10;
    s.first = s.low;
    const double decades = log10(s.high / s.low);
    s.step = pow(10, decades > 7 ? ceil(decades / 7) : 1);
    return s;
}

/* The next of 1, 2, 5, 10, ... from x on, which is one of them. */
static double next_125(double x)
{
    const double power = pow(10, floor(log10(x) + 1e-9)), mantissa = floor(x / power + .5);
    return power * (mantissa < 2 ? 2 : mantissa < 5 ? 5 : 10);
}

dis__axis_scale dis__axis_scale_log_around(double low, double high)
{
    dis__axis_scale s = {.log = true, .low = pow(10, floor(log10(low) + 1e-9))};
    while (next_125(s.low) <= low * (1 + 1e-9)) s.low = next_125(s.low);
    for (s.high = next_125(s.low); s.high < high * (1 - 1e-9);) s.high = next_125(s.high);
    s.first = s.low;
    if (s.high > 250 * s.low) { /* powers of ten are enough */
        s.step = 10;
        s.first = pow(10, ceil(log10(s.low) - 1e-9));
    }
    return s;
}

double dis__axis_scale_position(const dis__axis_scale *s, double x, double from, double to)
{
    double t = s->log ? log(x / s->low) / log(s->high / s->low) : (x - s->low) / (s->high - s->low);
    if (!(t >= 0)) t = 0;
    if (t > 1) t = 1;
    return from + t * (to - from);
}

dis__number_text dis__axis_scale_format_tick(const dis__axis_scale *s, double x)
{
    const double size = fmax(fabs(s->low), fabs(s->high));
    if (s->log || size > 1e15) {
        if (fabs(x) < 9999.5 && fabs(x) >= 1e-3)
            return dis__format_fixed(x, x < .00999 ? 3 : x < .0999 ? 2 : x < .999 ? 1 : 0);
        dis__number_text d;
        if (x >= 1e4 && x < 1e6)
            snprintf(d.text, sizeof d.text, "%dk", (int)(x / 1000 + .5));
        else
            snprintf(d.text, sizeof d.text, "1e%d", (int)floor(log10(fabs(x)) + .5));
        return d;
    }
    const double unit = size >= 1e6 && s->step >= 1e4 ? 1e6 : size >= 1e4 && s->step >= 100 ? 1e3 : 1;
    int decimals = 0;
    for (double step = s->step / unit; decimals < 9 && fabs(step - floor(step + .5)) > 1e-6 * step; step *= 10)
        decimals++;
    if (unit == 1 && decimals == 0 && x >= 1000) return dis__format_grouped((uint64_t)(x + .5));
    dis__number_text d = dis__format_fixed(x / unit, decimals);
    if (unit > 1 && x != 0) strcat(d.text, unit > 1e3 ? "M" : "k");
    return d;
}

void dis__svg_begin(dis__markup *m, double width, double height, const dis__markup *name)
{
    dis__markup_appendf(m, "<svg role=\"img\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\" aria-label=\"",
                        dis__format_fixed(width, 0).text, dis__format_fixed(height, 0).text,
                        dis__format_fixed(width, 0).text, dis__format_fixed(height, 0).text);
    dis__markup_append_markup_escaped(m, name);
    dis__markup_append(m, "\">\n");
}

void dis__svg_end(dis__markup *m)
{
    dis__markup_append(m, "</svg>\n");
}

/* The tick after x. */
static double next_tick(const dis__axis_scale *s, double x)
{
    if (s->log) return s->step > 0 ? x * s->step : next_125(x);
    return s->first + floor((x - s->first) / s->step + 1.5) * s->step;
}

static double end_of(const dis__axis_scale *s)
{
    return s->high + (s->log ? s->high : s->step) * 1e-6;
}

dis__frame dis__frame_init(dis__axis_scale x, dis__axis_scale y, const char *x_title, const char *y_title, double top,
                           double height)
{
    size_t longest = 1, last = 1;
    for (double t = y.first; t <= end_of(&y); t = next_tick(&y, t)) {
        const size_t n = strlen(dis__axis_scale_format_tick(&y, t).text);
        if (n > longest) longest = n;
    }
    for (double t = x.first; t <= end_of(&x); t = next_tick(&x, t))
        last = strlen(dis__axis_scale_format_tick(&x, t).text);
    return (dis__frame){.x = x,
                        .y = y,
                        .x_title = x_title,
                        .y_title = y_title,
                        .left = 12 + DIGIT * (double)longest,
                        .right = DIS__CHART_WIDTH - fmax(14, DIGIT / 2 * (double)last + 2),
                        .top = top + 26,
                        .bottom = height - 42};
}

double dis__frame_x(const dis__frame *f, double x)
{
    return dis__axis_scale_position(&f->x, x, f->left, f->right);
}

double dis__frame_y(const dis__frame *f, double y)
{
    return dis__axis_scale_position(&f->y, y, f->bottom, f->top);
}

void dis__frame_draw(dis__markup *m, const dis__frame *f)
{
    dis__markup_append(m, "<g class=\"ax\" aria-hidden=\"true\">");
    for (double t = f->y.first; t <= end_of(&f->y); t = next_tick(&f->y, t)) {
        const double y = dis__frame_y(f, t);
        dis__markup_appendf(m, "<path class=\"g\" d=\"M%s %sH%s\"/><text x=\"%s\" y=\"%s\" class=\"e\">%s</text>",
                            dis__format_fixed(f->left, 1).text, dis__format_fixed(y, 1).text,
                            dis__format_fixed(f->right, 1).text, dis__format_fixed(f->left - 6, 1).text,
                            dis__format_fixed(y + 4, 1).text, dis__axis_scale_format_tick(&f->y, t).text);
    }
    for (double t = f->x.first; t <= end_of(&f->x); t = next_tick(&f->x, t)) {
        const double x = dis__frame_x(f, t);
        dis__markup_appendf(m, "<path class=\"t\" d=\"M%s %sv5\"/><text x=\"%s\" y=\"%s\" class=\"m\">%s</text>",
                            dis__format_fixed(x, 1).text, dis__format_fixed(f->bottom, 1).text,
                            dis__format_fixed(x, 1).text, dis__format_fixed(f->bottom + 18, 1).text,
                            dis__axis_scale_format_tick(&f->x, t).text);
    }
    dis__markup_appendf(m, "<path class=\"t\" d=\"M%s %sH%s\"/>", dis__format_fixed(f->left, 1).text,
                        dis__format_fixed(f->bottom, 1).text, dis__format_fixed(f->right, 1).text);
    dis__markup_appendf(m, "<text class=\"at\" x=\"2\" y=\"%s\">%s</text>", dis__format_fixed(f->top - 12, 1).text,
                        f->y_title);
    dis__markup_appendf(m, "<text class=\"at e\" x=\"%s\" y=\"%s\">%s</text></g>\n",
                        dis__format_fixed(f->right, 1).text, dis__format_fixed(f->bottom + 36, 1).text, f->x_title);
}

/* Approximate character widths of a common sans serif at 13 units; characters beyond Latin count as wide. */
static double letter_width(const char *text)
{
    const unsigned char c = (unsigned char)*text;
    if ((c & 0xC0) == 0x80) return 0;
    if (c >= 0xE1) return 13.5;
    if (c >= 0x80 || (c >= '0' && c <= '9')) return 8.3;
    if (strchr("ijl.,:;|!'()[] ft/", c)) return 4.9;
    if (strchr("mwMW@%", c)) return 12.4;
    return c >= 'A' && c <= 'Z' ? 9.2 : 7.9;
}

double dis__text_width(const char *text)
{
    double width = 0;
    for (; *text; text++) width += letter_width(text);
    return width;
}

size_t dis__text_fit(const char *text, double width)
{
    const double dots = 12;
    double used = 0;
    size_t fits = 0, all = 0;
    for (; *text && used <= width; text++) {
        used += letter_width(text);
        if (((unsigned char)text[1] & 0xC0) == 0x80) continue; /* within a character */
        all++;
        if (used <= width - dots) fits = all;
    }
    return used <= width ? all : fits;
}

enum { LINE = 20, SWATCH = 24, LONGEST = 240 };

static double entry_width(const char *name)
{
    return SWATCH + fmin(dis__text_width(name), LONGEST) + 12;
}

void dis__marker_draw(dis__markup *m, size_t s, double x, double y, double r, const char *class)
{
    char at[3][48];
    snprintf(at[0], sizeof at[0], "%s", dis__format_fixed(x, 1).text);
    snprintf(at[1], sizeof at[1], "%s", dis__format_fixed(y, 1).text);
    snprintf(at[2], sizeof at[2], "%s", dis__format_fixed(r, 1).text);
    switch (s % 4) {
    case 0:
        dis__markup_appendf(m, "<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"%s\">", class, at[0], at[1], at[2]);
        return;
    case 1:
        dis__markup_appendf(m, "<path class=\"%s\" d=\"M%s %sl%s %sh-%sz\">", class, at[0],
                            dis__format_fixed(y - 1.25 * r, 1).text, dis__format_fixed(1.2 * r, 1).text,
                            dis__format_fixed(2.1 * r, 1).text, dis__format_fixed(2.4 * r, 1).text);
        return;
    case 2:
        dis__markup_appendf(m, "<path class=\"%s\" d=\"M%s %sh%sv%sh-%sz\">", class,
                            dis__format_fixed(x - .9 * r, 1).text, dis__format_fixed(y - .9 * r, 1).text,
                            dis__format_fixed(1.8 * r, 1).text, dis__format_fixed(1.8 * r, 1).text,
                            dis__format_fixed(1.8 * r, 1).text);
        return;
    default:
        dis__markup_appendf(m, "<path class=\"%s\" d=\"M%s %sl%s %sl-%s %sl-%s -%sz\">", class, at[0],
                            dis__format_fixed(y - 1.3 * r, 1).text, dis__format_fixed(1.3 * r, 1).text,
                            dis__format_fixed(1.3 * r, 1).text, dis__format_fixed(1.3 * r, 1).text,
                            dis__format_fixed(1.3 * r, 1).text, dis__format_fixed(1.3 * r, 1).text,
                            dis__format_fixed(1.3 * r, 1).text);
    }
}

double dis__legend_height(const char *const *names, size_t n)
{
    double x = 0, lines = n ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const double width = entry_width(names[i]);
        if (x > 0 && x + width > DIS__CHART_WIDTH) {
            x = 0;
            lines++;
        }
        x += width;
    }
    return lines * LINE;
}

double dis__legend_draw(dis__markup *m, double top, const char *const *names, size_t n, dis__legend_mark mark)
{
    double x = 0, y = top;
    for (size_t i = 0; i < n; i++) {
        const double width = entry_width(names[i]);
        if (x > 0 && x + width > DIS__CHART_WIDTH) {
            x = 0;
            y += LINE;
        }
        const size_t colour = i % DIS__SERIES_COLOURS;
        char class[16];
        if (mark == DIS__MARK_STEP)
            snprintf(class, sizeof class, "h%d", dis__heat_map_ordered_step(i, n));
        else
            snprintf(class, sizeof class, "s%zu", colour);
        if (mark == DIS__MARK_BOX || mark == DIS__MARK_STEP) {
            dis__markup_appendf(m, "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"14\" height=\"12\" rx=\"2\"/>", class,
                                dis__format_fixed(x + 3, 1).text, dis__format_fixed(y + 3, 1).text);
        } else {
            if (mark == DIS__MARK_LINE)
                dis__markup_appendf(m, "<path class=\"l l%zu\" d=\"M%s %sh18\"/>", colour,
                                    dis__format_fixed(x + 2, 1).text, dis__format_fixed(y + 9, 1).text);
            dis__marker_draw(m, i, x + 11, y + 9, 4, class);
            dis__markup_append(m, i % 4 == 0 ? "</circle>" : "</path>");
        }
        dis__markup_appendf(m, "<text x=\"%s\" y=\"%s\">", dis__format_fixed(x + SWATCH, 1).text,
                            dis__format_fixed(y + 13.5, 1).text);
        dis__markup_append_label(m, names[i], strlen(names[i]), dis__text_fit(names[i], LONGEST));
        dis__markup_append(m, "</text>\n");
        x += width;
    }
    return n ? y + LINE : top;
}
