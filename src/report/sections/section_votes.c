/* People: numbers of votes, class frequencies, and agreement. */
#include "report/report_internal.h"
#include "core/memory/memory.h"
#include "dissent/panel.h"
#include "labels/method.h"
#include <math.h>
#include <string.h>

static double votes_of(const dis_votes_view *v, size_t i)
{
    if (v->start) return (double)(v->start[i + 1] - v->start[i]);
    double sum = 0;
    for (size_t k = 0; k < v->n_classes; k++) sum += v->counts[i * v->n_classes + k];
    return sum;
}

/* Bars of one integer each where there are few of them, else of a round number of them. */
enum { MAX_BARS = 40 };

typedef struct {
    double edge[MAX_BARS + 2];
    uint64_t count[MAX_BARS + 1];
    size_t n, most_common;
    double min, max, mean;
} spread;

static void spread_of(const dis_votes_view *v, spread *s)
{
    *s = (spread){.min = INFINITY};
    for (size_t i = 0; i < v->n_items; i++) {
        const double n = votes_of(v, i);
        s->min = fmin(s->min, n);
        s->max = fmax(s->max, n);
        s->mean += n;
    }
    s->mean /= (double)v->n_items;
    const double first = floor(s->min + .5), range = floor(s->max + .5) - first + 1;
    const double width = range <= MAX_BARS ? 1 : dis__axis_scale_nice(0, range, MAX_BARS / 2, true).step;
    const double low = width > 1 ? floor(first / width) * width : first;
    s->n = (size_t)((s->max - low + .5) / width) + 1;
    if (s->n > MAX_BARS + 1) s->n = MAX_BARS + 1;
    for (size_t b = 0; b <= s->n; b++) s->edge[b] = low - .5 + width * (double)b;
    for (size_t i = 0; i < v->n_items; i++) {
        const size_t b = (size_t)((votes_of(v, i) - s->edge[0]) / width);
        s->count[b < s->n ? b : s->n - 1]++;
    }
    for (size_t b = 1; b < s->n; b++)
        if (s->count[b] > s->count[s->most_common]) s->most_common = b;
}

static void votes_per_item(dis__report_job *job, const spread *s)
{
    const double n_items = (double)job->votes_view.n_items;
    const double share = (double)s->count[s->most_common] / n_items;
    dis__figure f = {.id = "votes-per-item",
                     .title = "Votes per item",
                     .question = "Does every item have enough votes?"};
    if (s->min == s->max) return; /* one bar says no more than the sentence on top */
    dis__markup_appendf(&f.caption, "From %s to %s votes per item, %s on average. ", dis__format_brief(s->min).text,
                        dis__format_brief(s->max).text, dis__format_brief(s->mean).text);
    const bool is_nearly_all = share < 1 && strcmp(dis__format_percent(share).text, dis__format_percent(1).text) == 0;
    dis__markup_appendf(&f.caption, "%s of the items have %s",
                        is_nearly_all ? "Nearly all" : dis__format_percent(share).text,
                        dis__format_fixed(fmax(s->min, s->edge[s->most_common] + .5), 0).text);
    if (s->edge[1] - s->edge[0] > 1.5)
        dis__markup_appendf(&f.caption, " to %s",
                            dis__format_fixed(fmin(s->max, s->edge[s->most_common + 1] - .5), 0).text);
    dis__markup_append(&f.caption, ".");
    if (s->min < 2)
        dis__markup_append(&f.caption, " Items with a single vote contain no information about disagreement.");
    const dis__histogram h = {.edge = s->edge,
                              .count = s->count,
                              .n = s->n,
                              .integers = true,
                              .x_title = "votes",
                              .y_title = "items",
                              .unit = "items"};
    dis__histogram_draw(&f.chart, &h, dis__figure_name(&f, "histogram"));
    dis__data_table_add_column(&f.table, "votes, from", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "share", DIS__CELL_PERCENT);
    for (size_t b = 0; b < s->n; b++) {
        dis__data_table_add_number(&f.table, s->edge[b] + .5);
        dis__data_table_add_number(&f.table, s->edge[b + 1] - .5);
        dis__data_table_add_number(&f.table, (double)s->count[b]);
        dis__data_table_add_number(&f.table, (double)s->count[b] / n_items);
    }
    dis__page_figure_add(&job->page, &f);
}

static void append_most_chosen(dis__report_job *job, dis__markup *m)
{
    size_t max = 0;
    for (size_t k = 1; k < job->r->n_classes; k++)
        if (job->raw[k] > job->raw[max]) max = k;
    const char *name = dis__class_name(job, max);
    dis__markup_append(m, "Class ");
    dis__markup_append_name(m, name, strlen(name), 30);
    dis__markup_appendf(m, " is chosen most: %s of the votes%s. ", dis__format_percent(job->raw[max]).text,
                        job->votes_view.start ? ", each item counting the same" : "");
}

/* The class that the trusted view gives the most, relative to its share of the votes. */
static void append_prevalence(dis__report_job *job, dis__markup *m)
{
    const double *raw = job->raw, *estimated = job->statistics[job->main].prevalence;
    size_t moved = 0;
    for (size_t k = 1; k < job->r->n_classes; k++)
        if (fabs(estimated[k] - raw[k]) > fabs(estimated[moved] - raw[moved])) moved = k;
    append_most_chosen(job, m);
    const char *name = dis__class_name(job, moved);
    if (fabs(estimated[moved] - raw[moved]) < .005) {
        dis__markup_append(m, "The labels have nearly the same shares.");
        return;
    }
    dis__markup_append(m, "The labels differ most for class ");
    dis__markup_append_name(m, name, strlen(name), 30);
    dis__markup_appendf(m, ": %s of the votes, %s of the items.", dis__format_percent(raw[moved]).text,
                        dis__format_percent(estimated[moved]).text);
}

static dis_status prevalence(dis__report_job *job)
{
    const dis_report *r = job->r;
    enum { MAX_SERIES = 3 };
    const char *series[MAX_SERIES] = {"votes"}, *rows[DIS__REPORT_SHOWN_CLASSES];
    const double *from[MAX_SERIES] = {job->raw};
    size_t n_series = job->raw ? 1 : 0;
    double value[DIS__REPORT_SHOWN_CLASSES * MAX_SERIES];
    const bool labels = r->n_views && !dis__report_is_chance_level(job);
    if (labels) {
        series[n_series] = "labels";
        from[n_series++] = job->statistics[job->main].prevalence;
    }
    if (job->gold_share) {
        series[n_series] = "known classes";
        from[n_series++] = job->gold_share;
    }
    if (n_series == 0) return DIS_OK;
    for (size_t i = 0; i < job->n_shown; i++) {
        rows[i] = dis__class_name(job, job->top_class[i]);
        for (size_t s = 0; s < n_series; s++) value[i * n_series + s] = from[s][job->top_class[i]];
    }
    dis__figure f = {.id = "class-prevalence", .title = "Class frequencies", .question = "How frequent is each class?"};
    if (job->raw && labels)
        append_prevalence(job, &f.caption);
    else if (job->raw)
        append_most_chosen(job, &f.caption);
    else
        dis__markup_append(&f.caption, "Share of each class among the items.");
    if (job->n_shown < r->n_classes)
        dis__markup_appendf(&f.caption, " The %zu most frequent of %zu classes.", job->n_shown, r->n_classes);
    const dis__bar_chart b = {.row = rows,
                              .series = series,
                              .n = job->n_shown,
                              .n_series = n_series,
                              .value = value,
                              .x_title = "share (%)",
                              .share = true};
    dis__bar_chart_draw(&f.chart, &b, dis__figure_name(&f, "bars"));
    dis__data_table_add_column(&f.table, "class", DIS__CELL_TEXT);
    for (size_t s = 0; s < n_series; s++) dis__data_table_add_column(&f.table, series[s], DIS__CELL_PERCENT);
    enum { MAX_ROWS = 500 };
    for (size_t k = 0; k < r->n_classes && k < MAX_ROWS; k++) {
        dis__data_table_add_text(&f.table, dis__class_name(job, k), strlen(dis__class_name(job, k)));
        for (size_t s = 0; s < n_series; s++) dis__data_table_add_number(&f.table, from[s][k]);
    }
    dis__page_figure_add(&job->page, &f);
    return DIS_OK;
}

static void tiles(dis__report_job *job)
{
    const uint64_t ties = dis_votes_get_notes(job->r->votes).ties;
    const dis_votes_view *v = &job->votes_view;
    dis__page *page = &job->page;
    dis__page_tile_add(page, dis__format_abbreviated(v->n_items).text, v->n_items == 1 ? "item" : "items");
    const size_t people = job->r->panel ? dis_panel_get_view(job->r->panel).n_people : v->n_workers,
                 judges = v->n_workers - people;
    if (v->start)
        dis__page_tile_add(page, dis__format_abbreviated(people).text, people == 1 ? "annotator" : "annotators");
    if (judges) dis__page_tile_add(page, dis__format_abbreviated(judges).text, judges == 1 ? "judge" : "judges");
    if (v->start)
        dis__page_tile_add(page, dis__format_abbreviated(v->n_votes).text, v->n_votes == 1 ? "vote" : "votes");
    dis__page_tile_add(page, dis__format_grouped(v->n_classes).text, v->n_classes == 1 ? "class" : "classes");
    if (ties)
        dis__page_tile_add(page, dis__format_abbreviated(ties).text,
                           ties == 1 ? "item with a tie" : "items with a tie");
}

/* "60 people", of a panel "16 people and 4 models". */
static void put_voters(const dis__report_job *job, dis__markup *finding)
{
    const size_t all = job->votes_view.n_workers,
                 people = job->r->panel ? dis_panel_get_view(job->r->panel).n_people : all;
    dis__markup_appendf(finding, "%s %s", dis__format_grouped(people).text, people == 1 ? "person" : "people");
    if (people < all)
        dis__markup_appendf(finding, " and %s judge%s", dis__format_grouped(all - people).text,
                            dis__plural_suffix(all - people));
}

static void add_size_finding(dis__report_job *job, const spread *s)
{
    const dis_votes_view *v = &job->votes_view;
    const dis_votes_notes notes = dis_votes_get_notes(job->r->votes);
    dis__markup finding = {0};
    if (v->start) {
        put_voters(job, &finding);
        dis__markup_appendf(&finding, " cast %s vote%s on %s item%s: %s%s per item and %s per %s%s.",
                            dis__format_grouped(v->n_votes).text, dis__plural_suffix(v->n_votes),
                            dis__format_grouped(v->n_items).text, dis__plural_suffix(v->n_items),
                            s->min == s->max && s->max > 1 ? "exactly " : "", dis__format_brief(s->mean).text,
                            dis__format_brief((double)v->n_votes / fmax(1, (double)v->n_workers)).text,
                            job->r->panel ? "voter" : "person", v->n_workers > 1 ? " on average" : "");
    } else
        dis__markup_appendf(&finding, "%s items have %s votes each on average; who voted is not known.",
                            dis__format_grouped(v->n_items).text, dis__format_brief(s->mean).text);
    if (notes.ties)
        dis__markup_appendf(&finding,
                            " On %s item%s (%s) the first place is tied: counting votes alone does not decide these.",
                            dis__format_grouped(notes.ties).text, dis__plural_suffix(notes.ties),
                            dis__format_percent((double)notes.ties / (double)v->n_items).text);
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
}

dis_status dis__section_votes(dis__report_job *job)
{
    if (!job->r->votes || job->votes_view.n_items == 0) return DIS_OK;
    spread s;
    spread_of(&job->votes_view, &s);
    tiles(job);
    add_size_finding(job, &s);
    dis__report_add_agreement_finding(job);
    dis__page_section_begin(&job->page, "people", "People",
                            "Items, annotators and votes, and how well annotators agree.");
    votes_per_item(job, &s);
    dis__figure_coefficients(job);
    dis__figure_class_agreement(job);
    DIS_TRY(prevalence(job));
    dis__page_section_end(&job->page);
    return DIS_OK;
}
