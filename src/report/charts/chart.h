/* chart.h: the few charts a report needs, as SVG.
 *
 * A chart is drawn 440 units wide with 13-unit letters: readable at the width of a phone, and not blown up on a wide
 * screen, where figures stand side by side. Colours are classes that the page's style sheet fills in, for light and
 * dark (page_style.c); no marks differ by colour alone: series have dashes or shapes of their own, cells
 * and segments carry their number or name. Every chart is role="img" with an accessible name. Every mark has a <title>,
 * which the page's script shows at once when the pointer is on it.
 *
 * Texts that come from users are shown by dis__markup_append_label. Arrays stay the caller's. */
#ifndef DIS_REPORT_CHART_H
#define DIS_REPORT_CHART_H
#include "report/markup.h"

enum { DIS__CHART_WIDTH = 440, DIS__SERIES_COLOURS = 8, DIS__HEAT_STEPS = 10, DIS__CHART_NAME = 26 };

/* ---- chart_axis.c ---- */

/* Numbers to positions: ticks at first, first + step, ... as far as high. On a log scale ticks are `step` times the one
 * before, or go 1, 2, 5, 10, 20, ... where step is 0. */
typedef struct {
    double low, high, first, step;
    bool log;
} dis__axis_scale;

/* About `ticks` steps of 1, 2 or 5 times a power of ten that cover low .. high. `whole`: no fractions. */
dis__axis_scale dis__axis_scale_nice(double low, double high, int ticks, bool integers);
/* From a power of ten to another. */
dis__axis_scale dis__axis_scale_log(double low, double high);
/* A log scale just around low .. high (above 0): its ends are 1, 2 or 5 times a power of ten. */
dis__axis_scale dis__axis_scale_log_around(double low, double high);
/* Position of x on a scale from `from` to `to`. */
double dis__axis_scale_position(const dis__axis_scale *s, double x, double from, double to);
/* Format of a tick: 0.25, 12,000 as 12k. */
dis__number_text dis__axis_scale_format_tick(const dis__axis_scale *s, double x);

typedef struct {
    dis__axis_scale x, y;
    const char *x_title, *y_title; /* with units */
    double left, right, top, bottom;
} dis__frame;

/* Opens the picture; `name` is plain text. */
void dis__svg_begin(dis__markup *m, double width, double height, const dis__markup *name);
void dis__svg_end(dis__markup *m);
/* Margins for these scales in a picture of this height. */
dis__frame dis__frame_init(dis__axis_scale x, dis__axis_scale y, const char *x_title, const char *y_title, double top,
                           double height);
/* Grid lines, ticks, titles. */
void dis__frame_draw(dis__markup *m, const dis__frame *f);
double dis__frame_x(const dis__frame *f, double x);
double dis__frame_y(const dis__frame *f, double y);

/* Names of series with their marks, in lines from `top`; returns the end position. */
/* DIS__MARK_STEP: boxes from light to dark, for names that have an order. */
typedef enum { DIS__MARK_BOX, DIS__MARK_STEP, DIS__MARK_LINE, DIS__MARK_SHAPE } dis__legend_mark;
double dis__legend_draw(dis__markup *m, double top, const char *const *names, size_t n, dis__legend_mark mark);
/* Height of the legend. */
double dis__legend_height(const char *const *names, size_t n);
/* Shape s (circle, triangle, square, diamond) around a point. */
void dis__marker_draw(dis__markup *m, size_t s, double x, double y, double r, const char *class);
/* Approximate width of a text, and the number of its characters that fit (all, or some and three dots). */
double dis__text_width(const char *text);
size_t dis__text_fit(const char *text, double width);

/* ---- chart_histogram.c ---- */

typedef struct {
    const double *edge;    /* (n + 1) */
    const uint64_t *count; /* (n) */
    size_t n;
    bool integers;                        /* edges surround integers: bar b represents edge[b] + .5 */
    const char *x_title, *y_title, *unit; /* unit of what is counted, plural: "items" */
} dis__histogram;
void dis__histogram_draw(dis__markup *m, const dis__histogram *h, const dis__markup *name);

/* Several histograms over the same edges, one below the other, each on its own scale of shares. */
typedef struct {
    const double *edge;
    size_t n, n_panels;
    const char *const *panel;     /* names, hostile */
    const uint64_t *const *count; /* (n_panels, n) */
    const double *mean;           /* (n_panels): marked by a line */
    const char *x_title, *unit;
} dis__histogram_panels;
void dis__histogram_panels_draw(dis__markup *m, const dis__histogram_panels *p, const dis__markup *name);

/* ---- chart_bars.c ---- */

/* Horizontal bars: one row per name, one bar per series, the first on top. */
typedef struct {
    const char *const *row;    /* (n), hostile */
    const char *const *series; /* (n_series), hostile */
    size_t n, n_series;
    const double *value; /* (n, n_series), NaN: no value */
    const char *x_title;
    bool share; /* values are shown in percent */
} dis__bar_chart;
void dis__bar_chart_draw(dis__markup *m, const dis__bar_chart *b, const dis__markup *name);

/* One row per item with one or two stacked bars. */
typedef struct {
    const char *const *row;  /* (n) names, hostile */
    const char *const *note; /* (n) ours, at the right; may be NULL */
    const char *const *text; /* (n) hostile, below the name; may be NULL */
    const char *const *bar;  /* (n_bars) hostile: "votes", "labels" */
    size_t n, n_bars;
    const char *const *part; /* (n_parts) names, hostile */
    size_t n_parts;          /* at most DIS__SERIES_COLOURS */
    bool is_ordered;         /* parts from light to dark instead of one colour each */
    const double *share;     /* (n, n_bars, n_parts), rows sum to 1 */
} dis__stacked_bar_chart;
void dis__stacked_bar_chart_draw(dis__markup *m, const dis__stacked_bar_chart *s, const dis__markup *name);

/* ---- chart_intervals.c ---- */

typedef struct {
    const char *const *row;               /* (n), hostile */
    const double *value, *low, *high_end; /* (n); low and high_end NaN: no interval */
    size_t n;
    double high; /* the axis extends at least to this value, and to 0 */
    const char *x_title;
    bool ranks; /* integers from 1; the interval is written after the number */
} dis__interval_chart;
void dis__interval_chart_draw(dis__markup *m, const dis__interval_chart *c, const dis__markup *name);

/* ---- chart_points.c ---- */

/* One row per name: a mean with its interval, the single values, and a number to compare with. */
typedef struct {
    const char *row;        /* hostile */
    double mean, low, high; /* low and high NaN: no interval; mean NaN: no value */
    const double *value;
    size_t n;
    double other; /* NaN: none */
    bool strong;  /* the mean is in bold */
} dis__point_chart_row;
typedef struct {
    const dis__point_chart_row *row;
    size_t n;
    const char *x_title;
    const char *value_name, *mean_name, *other_name; /* ours, for the legend */
    double min_possible, max_possible; /* range of possible values: the axis around a single one ends there; both 0:
                                        * any */
} dis__point_chart;
/* The axis spans the data; it need not include 0, since no length is read from it. */
void dis__point_chart_draw(dis__markup *m, const dis__point_chart *p, const dis__markup *name);

/* ---- chart_lines.c ---- */

typedef struct dis__chart_line {
    const char *name; /* hostile */
    const double *x, *y;
    size_t n;
    const struct dis__chart_line *thin; /* lines summarized by this one, drawn thin in its colour */
    size_t n_thin;
    size_t marked;            /* one point has a shape: 1 for the first; 0: none */
    const double *low, *high; /* (n) intervals of y, NaN: none; low NULL: not drawn */
} dis__chart_line;
typedef struct {
    const dis__chart_line *line;
    size_t n;
    dis__axis_scale x, y;
    const char *x_title, *y_title;
    bool diagonal; /* a thin line where y = x */
    bool marks;    /* a shape at each point */
} dis__line_chart;
void dis__line_chart_draw(dis__markup *m, const dis__line_chart *l, const dis__markup *name);

/* ---- chart_scatter.c ---- */

typedef struct {
    const double *x, *y;
    const double *low, *high;  /* (n) intervals of y; low NULL: not drawn */
    const unsigned char *kind; /* (n): which of the kinds; NULL: all the first */
    size_t n;
    const char *const *kinds; /* names, ours */
    size_t n_kinds;
    const char *const *name; /* (n), hostile; NULL: none */
    dis__axis_scale sx, sy;
    const char *x_title, *y_title;
    const dis__chart_line *curve; /* thin lines for reference */
    size_t n_curves;
    bool fixed_positions;
} dis__scatter_chart;
/* Marks that would overlap are shifted along x if there is room, unless their positions are fixed. */
void dis__scatter_chart_draw(dis__markup *m, const dis__scatter_chart *s, const dis__markup *name);

/* How many points fall into each cell of a raster over the frame. */
typedef struct {
    const uint64_t *count; /* (n_y, n_x), lowest y first */
    size_t n_x, n_y;
    dis__axis_scale sx, sy;
    const char *x_title, *y_title, *unit;
    bool diagonal;
    const dis__chart_line *curve;
    size_t n_curves;
} dis__density_chart;
void dis__density_chart_draw(dis__markup *m, const dis__density_chart *d, const dis__markup *name);

/* ---- chart_heat_map.c ---- */

typedef struct {
    const char *const *name; /* (n) of rows and columns, hostile */
    size_t n;
    const double *value; /* (n, n), NaN: no value */
    const double *count; /* (n) how many `count_title` each row is of; NULL: not shown */
    const char *count_title;
    double low, high; /* of the colours */
    int decimals;
    bool percent;
    const char *row_title, *column_title, *value_title;
    double width; /* of the picture, DIS__CHART_WIDTH or less for small ones */
    bool legend;
} dis__heat_map;
void dis__heat_map_draw(dis__markup *m, const dis__heat_map *h, const dis__markup *name);
/* The colour class of a value: 0 .. DIS__HEAT_STEPS - 1. */
int dis__heat_map_step(double x, double low, double high);
/* The colour class of name i of n names that have an order. */
int dis__heat_map_ordered_step(size_t i, size_t n);
/* The class of a text on a colour. */
const char *dis__heat_map_text_class(int step);

#endif
