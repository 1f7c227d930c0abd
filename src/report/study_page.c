/* A plan as a page: the answer, how precise designs are, what the variance consists of, and all designs. */
#include "dissent/study.h"
#include "report/page/page.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINES = 6, MAX_POINTS = 64, NAME = 24 };

typedef struct {
    dis__page page;
    dis_study_options o;
    const dis_study_design *rows;
    const dis_study_plan *plan;
} work;

static const struct {
    const char *figure, *what;
} metrics[DIS_STUDY_METRICS] = {
    [DIS_STUDY_LABELS] = {"accuracy of labels", "share of items whose majority label is correct"},
    [DIS_STUDY_ALPHA] = {"alpha", "Krippendorff's alpha of people"},
    [DIS_STUDY_KAPPA] = {"kappa", "Fleiss' kappa of people"},
    [DIS_STUDY_PERCENT] = {"equal pairs", "share of equal pairs of votes"},
    [DIS_STUDY_JUDGE] = {"agreement", "share of people's votes that equal the answer of the judge"},
    [DIS_STUDY_DIFFERENCE] = {"difference", "agreement of the first judge with people minus that of the second"},
    [DIS_STUDY_SHARE] = {"class share", "share of the class among people's votes"},
};

static const dis_study_design *row_at(const work *w, size_t i, size_t a, size_t m)
{
    return &w->rows[(i * w->o.n_annotators + a) * w->o.n_votes_per_item + m];
}

static bool has_target(const work *w)
{
    return !isnan(w->o.effect) || !isnan(w->o.half_width);
}

/* ---- findings ---- */

/* A number that the user gave, without zeros at its end. */
static dis__number_text short_number(double x)
{
    dis__number_text out = dis__format_fixed(x, 6);
    for (size_t n = strlen(out.text); n > 1 && (out.text[n - 1] == '0' || out.text[n - 1] == '.'); n--) {
        const bool point = out.text[n - 1] == '.';
        out.text[n - 1] = 0;
        if (point) break;
    }
    return out;
}

static void append_target(const work *w, dis__markup *m)
{
    if (!isnan(w->o.effect))
        dis__markup_appendf(m, "to detect a difference of %s with power %s", short_number(w->o.effect).text,
                            short_number(w->o.power).text);
    if (!isnan(w->o.half_width))
        dis__markup_appendf(m, "%s an interval of ±%s", isnan(w->o.effect) ? "for" : " and for",
                            short_number(w->o.half_width).text);
}

static void add_answer(work *w)
{
    const dis_study_design *r = &w->plan->best;
    const char *id = "unknown", *words = "No target was set";
    dis__markup m = {0};
    if (!has_target(w))
        dis__markup_append(&m, "The table shows the expected interval of every design.");
    else if (!w->plan->has_best) {
        id = "no";
        words = "No such design was found";
        dis__markup_append_capitalized(&m, w->plan->reason);
        dis__markup_append(&m, ".");
    } else {
        id = "yes";
        words = "This design is the cheapest";
        dis__markup_appendf(&m, "You need %s items with %zu vote%s each by at least %zu annotators ",
                            dis__format_grouped(r->items).text, r->votes_per_item,
                            dis__plural_suffix(r->votes_per_item), r->annotators);
        append_target(w, &m);
        dis__markup_append(&m, ".");
    }
    dis__page_verdict_set(&w->page, "How many annotations does the study need?", id, words, &m);
    dis__markup_free(&m);
}

static void add_range(work *w)
{
    const dis_study_plan *p = w->plan;
    dis__markup m = {0};
    if (!p->has_best || p->n_items == 0 || !(p->items_high > p->items_low)) return;
    dis__markup_appendf(&m,
                        "The pilot has %s items, so the variances are uncertain. One standard error lower or higher, ",
                        dis__format_grouped(p->n_items).text);
    if (isinf(p->items_high))
        dis__markup_appendf(&m, "%s items would suffice, or more annotators would be needed.",
                            dis__format_grouped((uint64_t)p->items_low).text);
    else
        dis__markup_appendf(&m, "%s to %s items are needed.", dis__format_grouped((uint64_t)p->items_low).text,
                            dis__format_grouped((uint64_t)p->items_high).text);
    dis__page_finding_add(&w->page, &m);
    dis__markup_free(&m);
}

static void add_split(work *w)
{
    const dis_study_split *s = &w->plan->split;
    dis__markup m = {0};
    if (!w->plan->has_split) return;
    dis__markup_appendf(&m, "With a judge, the same cost gives ±%s instead of ±%s: ",
                        dis__format_fixed(s->half_width, 3).text, dis__format_fixed(s->half_width_people, 3).text);
    dis__markup_appendf(&m, "people label %s items with %zu vote%s each, ", dis__format_grouped(s->n_people).text,
                        s->votes_per_item, dis__plural_suffix(s->votes_per_item));
    dis__markup_appendf(&m, "and the judge labels these and %s more.", dis__format_grouped(s->n_judge).text);
    dis__page_finding_add(&w->page, &m);
    dis__markup_free(&m);
}

static void add_tiles(work *w)
{
    const dis_study_design *r = &w->plan->best;
    if (w->plan->has_best) {
        dis__page_tile_add(&w->page, dis__format_grouped(r->items).text, "items");
        dis__page_tile_add(&w->page, dis__format_grouped(r->annotators).text, "annotators at least");
        dis__page_tile_add(&w->page, dis__format_grouped(r->votes_per_item).text, "votes per item");
        dis__page_tile_add(&w->page, dis__format_brief(r->cost).text, "cost");
    }
    dis__page_tile_add(&w->page, dis__format_fixed(w->plan->value, 2).text,
                       w->plan->metric == DIS_STUDY_LABELS ? "accuracy of single votes"
                                                           : metrics[w->plan->metric].figure);
}

/* ---- sections ---- */

static size_t shown_annotators(const work *w)
{
    size_t best = w->o.n_annotators / 2;
    for (size_t a = 0; a < w->o.n_annotators; a++)
        if (w->plan->has_best && w->o.annotators[a] == w->plan->best.annotators) best = a;
    return best;
}

/* Half width by the number of items, one line per number of votes. */
static void draw_precision(const work *w, size_t a, size_t n_lines, dis__figure *f)
{
    double x[MAX_LINES][MAX_POINTS], y[MAX_LINES][MAX_POINTS], most = 0;
    char name[MAX_LINES][NAME];
    dis__chart_line line[MAX_LINES];
    size_t n = 0;
    for (size_t m = 0; m < n_lines; m++) {
        size_t points = 0;
        for (size_t i = 0; i < w->o.n_items && points < MAX_POINTS; i++) {
            const dis_study_design *r = row_at(w, i, a, m);
            if (isnan(r->half_width)) continue;
            x[n][points] = (double)r->items;
            y[n][points++] = r->half_width;
            most = fmax(most, r->half_width);
        }
        if (points < 2) continue;
        snprintf(name[n], NAME, "%zu vote%s", w->o.votes_per_item[m], dis__plural_suffix(w->o.votes_per_item[m]));
        line[n] = (dis__chart_line){.name = name[n], .x = x[n], .y = y[n], .n = points};
        n++;
    }
    if (n == 0) return;
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < w->o.n_items; i++) {
        low = fmin(low, (double)w->o.items[i]);
        high = fmax(high, (double)w->o.items[i]);
    }
    const dis__line_chart chart = {.line = line,
                                   .n = n,
                                   .x = dis__axis_scale_log_around(low, high),
                                   .y = dis__axis_scale_nice(0, most, 5, false),
                                   .x_title = "items",
                                   .y_title = "half width",
                                   .marks = true};
    dis__line_chart_draw(&f->chart, &chart, dis__figure_name(f, "half widths"));
}

static void add_precision(work *w)
{
    const size_t a = shown_annotators(w);
    dis__figure f = {.id = "precision",
                     .title = "Expected half width of the 95 % interval",
                     .wide = true,
                     .open = true};
    dis__markup_appendf(&f.caption, "With %zu annotators. A dash marks an impossible design.", w->o.annotators[a]);
    dis__data_table_set_always_shown(&f.table);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    char head[MAX_LINES][NAME];
    const size_t n = w->o.n_votes_per_item < MAX_LINES ? w->o.n_votes_per_item : MAX_LINES;
    for (size_t m = 0; m < n; m++) {
        snprintf(head[m], NAME, "%zu vote%s", w->o.votes_per_item[m], dis__plural_suffix(w->o.votes_per_item[m]));
        dis__data_table_add_column(&f.table, head[m], DIS__CELL_REAL);
    }
    for (size_t i = 0; i < w->o.n_items; i++) {
        dis__data_table_add_number(&f.table, (double)w->o.items[i]);
        for (size_t m = 0; m < n; m++) dis__data_table_add_number(&f.table, row_at(w, i, a, m)->half_width);
    }
    draw_precision(w, a, n, &f);
    dis__page_figure_add(&w->page, &f);
}

static void add_designs(work *w)
{
    static const char *const heads[] = {"annotators", "votes per item"}, *const reals[] = {"value", "half width",
                                                                                           "power", "cost"};
    dis__figure f = {.id = "designs", .title = "All designs", .wide = true};
    dis__markup_append(&f.caption, "Annotators have equal shares of the votes. If a few people give most votes, more "
                                   "annotators are needed.");
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    for (size_t h = 0; h < 2; h++) dis__data_table_add_column(&f.table, heads[h], DIS__CELL_COUNT);
    for (size_t h = 0; h < 4; h++) dis__data_table_add_column(&f.table, reals[h], DIS__CELL_REAL);
    for (size_t r = 0; r < w->o.n_items * w->o.n_annotators * w->o.n_votes_per_item; r++) {
        const dis_study_design *x = &w->rows[r];
        if (isnan(x->half_width)) continue;
        dis__data_table_add_number(&f.table, (double)x->items);
        dis__data_table_add_number(&f.table, (double)x->annotators);
        dis__data_table_add_number(&f.table, (double)x->votes_per_item);
        dis__data_table_add_number(&f.table, x->value);
        dis__data_table_add_number(&f.table, x->half_width);
        dis__data_table_add_number(&f.table, x->power);
        dis__data_table_add_number(&f.table, x->cost);
    }
    dis__page_figure_add(&w->page, &f);
}

static void add_variances(work *w)
{
    static const char *const parts[] = {"items", "annotators", "single votes"};
    static const char *const remedies[] = {"more items", "more annotators", "more items or more votes per item"};
    const dis_study_variances *v = &w->plan->variances;
    const double values[] = {v->items, v->annotators, v->votes + v->pairs};
    const double all = values[0] + values[1] + values[2];
    dis__figure f = {.id = "variance", .title = "What the result depends on", .wide = true, .open = true};
    dis__markup_append(&f.caption, "Share of the variance of one vote, and what reduces it.");
    dis__data_table_set_always_shown(&f.table);
    dis__data_table_add_column(&f.table, "part", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "share", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "smaller with", DIS__CELL_TEXT);
    for (size_t p = 0; p < 3; p++) {
        dis__data_table_add_static_text(&f.table, parts[p]);
        dis__data_table_add_number(&f.table, values[p] / all);
        dis__data_table_add_static_text(&f.table, remedies[p]);
    }
    dis__page_figure_add(&w->page, &f);
}

/* ---- all ---- */

static dis_status write_page(work *w, const char *path)
{
    dis__markup title = {0}, subtitle = {0};
    dis__markup_append(&title, "Plan of a study");
    dis__markup_appendf(&subtitle, "%s", metrics[w->plan->metric].what);
    if (w->plan->n_items)
        dis__markup_appendf(&subtitle, ", from a pilot with %s items and %s people",
                            dis__format_grouped(w->plan->n_items).text,
                            dis__format_grouped(w->plan->n_annotators).text);
    return dis__page_write(&w->page, &title, &subtitle, path);
}

dis_status dis_study_write_page(const dis_study_options *options, const dis_study_design *rows,
                                const dis_study_plan *summary, const char *path)
{
    dis_study_plan plan = dis_study_plan_default();
    work w = {.o = dis_study_options_default(), .rows = rows, .plan = &plan};
    DIS_TRY(DIS_OPTIONS_COPY(dis_study_options, &w.o, options));
    DIS_TRY(DIS_OPTIONS_COPY(dis_study_plan, &plan, summary));
    add_answer(&w);
    add_range(&w);
    add_split(&w);
    add_tiles(&w);
    dis__page_section_begin(&w.page, "designs-section", "How precise is a study?",
                            "Intervals hold for new items and new annotators like these.");
    add_precision(&w);
    add_designs(&w);
    dis__page_section_end(&w.page);
    dis__page_section_begin(&w.page, "variance-section", "What would make it more precise?",
                            "Votes of one annotator, and votes on one item, are alike. More of them add less than more "
                            "annotators and items.");
    add_variances(&w);
    dis__page_section_end(&w.page);
    const dis_status status = write_page(&w, path);
    dis__page_free(&w.page);
    return status;
}
