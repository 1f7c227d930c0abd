/* People: how many votes there are, for which classes, and how far they agree. */
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

/* Bars of one whole number each where there are few of them, else of a round number of them. */
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
    const double width = range <= MAX_BARS ? 1 : dis__scale_nice(0, range, MAX_BARS / 2, true).step;
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
    const double n_items = (double)job->look.n_items;
    const double share = (double)s->count[s->most_common] / n_items;
    dis__figure f = {.id = "votes-per-item", .title = "Votes per item"};
    if (s->min == s->max) return; /* one bar says no more than the sentence on top */
    dis__putf(&f.caption, "From %s to %s votes per item, %s on average. ", dis__brief(s->min).text,
              dis__brief(s->max).text, dis__brief(s->mean).text);
    dis__putf(&f.caption, "%s of the items have %s", dis__share(share).text,
              dis__fixed(fmax(s->min, s->edge[s->most_common] + .5), 0).text);
    if (s->edge[1] - s->edge[0] > 1.5)
        dis__putf(&f.caption, " to %s", dis__fixed(fmin(s->max, s->edge[s->most_common + 1] - .5), 0).text);
    dis__put(&f.caption, ".");
    if (s->min < 2) dis__put(&f.caption, " Items with a single vote say nothing about disagreement.");
    const dis__histogram h = {.edge = s->edge,
                              .count = s->count,
                              .n = s->n,
                              .whole = true,
                              .x_title = "votes",
                              .y_title = "items",
                              .unit = "items"};
    dis__chart_histogram(&f.chart, &h, dis__figure_name(&f, "histogram"));
    dis__grid_column(&f.grid, "votes, from", DIS__COUNT);
    dis__grid_column(&f.grid, "to", DIS__COUNT);
    dis__grid_column(&f.grid, "items", DIS__COUNT);
    dis__grid_column(&f.grid, "share", DIS__SHARE);
    for (size_t b = 0; b < s->n; b++) {
        dis__grid_number(&f.grid, s->edge[b] + .5);
        dis__grid_number(&f.grid, s->edge[b + 1] - .5);
        dis__grid_number(&f.grid, (double)s->count[b]);
        dis__grid_number(&f.grid, (double)s->count[b] / n_items);
    }
    dis__page_figure(&job->page, &f);
}

/* The class that the trusted view gives the most, relative to its share of the votes. */
static void say_prevalence(dis__report_job *job, dis__markup *m)
{
    const double *raw = job->raw, *estimated = job->tally[job->main].prevalence;
    size_t max = 0, moved = 0;
    for (size_t k = 1; k < job->r->n_classes; k++) {
        if (raw[k] > raw[max]) max = k;
        if (fabs(estimated[k] - raw[k]) > fabs(estimated[moved] - raw[moved])) moved = k;
    }
    const char *name = dis__class_name(job, max);
    dis__put(m, "Class ");
    dis__put_name(m, name, strlen(name), 30);
    dis__putf(m, " is chosen most: %s of the votes%s. ", dis__share(raw[max]).text,
              job->look.start ? ", each item counting the same" : "");
    name = dis__class_name(job, moved);
    if (fabs(estimated[moved] - raw[moved]) < .005) {
        dis__put(m, "The labels have nearly the same shares.");
        return;
    }
    dis__put(m, "The labels differ most for class ");
    dis__put_name(m, name, strlen(name), 30);
    dis__putf(m, ": %s of the votes, %s of the items.", dis__share(raw[moved]).text, dis__share(estimated[moved]).text);
}

static dis_status prevalence(dis__report_job *job)
{
    const dis_report *r = job->r;
    enum { MAX_SERIES = 3 };
    const char *series[MAX_SERIES] = {"votes"}, *rows[DIS__REPORT_SHOWN_CLASSES];
    const double *from[MAX_SERIES] = {job->raw};
    size_t n_series = job->raw ? 1 : 0;
    double value[DIS__REPORT_SHOWN_CLASSES * MAX_SERIES];
    const bool labels = r->n_views && !dis__votes_are_noise(job);
    if (labels) {
        series[n_series] = "labels";
        from[n_series++] = job->tally[job->main].prevalence;
    }
    if (job->known) {
        series[n_series] = "known classes";
        from[n_series++] = job->known;
    }
    if (n_series == 0) return DIS_OK;
    for (size_t i = 0; i < job->n_shown; i++) {
        rows[i] = dis__class_name(job, job->top_class[i]);
        for (size_t s = 0; s < n_series; s++) value[i * n_series + s] = from[s][job->top_class[i]];
    }
    dis__figure f = {.id = "class-prevalence", .title = "How common each class is"};
    if (job->raw && labels)
        say_prevalence(job, &f.caption);
    else
        dis__put(&f.caption, "Share of each class.");
    if (job->n_shown < r->n_classes)
        dis__putf(&f.caption, " The %zu most frequent of %zu classes.", job->n_shown, r->n_classes);
    const dis__bars b = {.row = rows,
                         .series = series,
                         .n = job->n_shown,
                         .n_series = n_series,
                         .value = value,
                         .x_title = "share (%)",
                         .share = true};
    dis__chart_bars(&f.chart, &b, dis__figure_name(&f, "bars"));
    dis__grid_column(&f.grid, "class", DIS__TEXT);
    for (size_t s = 0; s < n_series; s++) dis__grid_column(&f.grid, series[s], DIS__SHARE);
    enum { MAX_ROWS = 500 };
    for (size_t k = 0; k < r->n_classes && k < MAX_ROWS; k++) {
        dis__grid_text(&f.grid, dis__class_name(job, k), strlen(dis__class_name(job, k)));
        for (size_t s = 0; s < n_series; s++) dis__grid_number(&f.grid, from[s][k]);
    }
    dis__page_figure(&job->page, &f);
    return DIS_OK;
}

static void tiles(dis__report_job *job)
{
    const uint64_t ties = dis_votes_read_notes(job->r->votes).ties;
    const dis_votes_view *v = &job->look;
    dis__page *page = &job->page;
    dis__page_tile(page, dis__large(v->n_items).text, v->n_items == 1 ? "item" : "items");
    if (v->start) dis__page_tile(page, dis__large(v->n_workers).text, v->n_workers == 1 ? "worker" : "workers");
    if (v->start) dis__page_tile(page, dis__large(v->n_votes).text, v->n_votes == 1 ? "vote" : "votes");
    dis__page_tile(page, dis__grouped(v->n_classes).text, v->n_classes == 1 ? "class" : "classes");
    if (ties) dis__page_tile(page, dis__large(ties).text, ties == 1 ? "item with a tie" : "items with a tie");
}

/* "60 people", of a panel "16 people and 4 models". */
static void put_voters(const dis__report_job *job, dis__markup *say)
{
    const size_t all = job->look.n_workers, people = job->r->panel ? dis_panel_look(job->r->panel).n_people : all;
    dis__putf(say, "%s %s", dis__grouped(people).text, people == 1 ? "person" : "people");
    if (people < all) dis__putf(say, " and %s model%s", dis__grouped(all - people).text, dis__plural(all - people));
}

static void say_size(dis__report_job *job, const spread *s)
{
    const dis_votes_view *v = &job->look;
    const dis_votes_notes notes = dis_votes_read_notes(job->r->votes);
    dis__markup say = {0};
    if (v->start) {
        put_voters(job, &say);
        dis__putf(&say, " cast %s vote%s on %s item%s: %s%s per item and %s per %s%s.", dis__grouped(v->n_votes).text,
                  dis__plural(v->n_votes), dis__grouped(v->n_items).text, dis__plural(v->n_items),
                  s->min == s->max && s->max > 1 ? "exactly " : "", dis__brief(s->mean).text,
                  dis__brief((double)v->n_votes / fmax(1, (double)v->n_workers)).text,
                  job->r->panel ? "voter" : "person", v->n_workers > 1 ? " on average" : "");
    } else
        dis__putf(&say, "%s items have %s votes each on average; who voted is not known.",
                  dis__grouped(v->n_items).text, dis__brief(s->mean).text);
    if (notes.ties)
        dis__putf(&say, " On %s item%s (%s) the first place is tied: counting votes alone does not settle these.",
                  dis__grouped(notes.ties).text, dis__plural(notes.ties),
                  dis__share((double)notes.ties / (double)v->n_items).text);
    dis__page_say(&job->page, &say);
    dis__markup_free(&say);
}

dis_status dis__section_people(dis__report_job *job)
{
    if (!job->r->votes || job->look.n_items == 0) return DIS_OK;
    spread s;
    spread_of(&job->look, &s);
    tiles(job);
    say_size(job, &s);
    dis__say_agreement(job);
    dis__page_section(&job->page, "people", "People", "What was asked of whom, and how far the answers agree.");
    votes_per_item(job, &s);
    dis__figure_coefficients(job);
    dis__figure_class_agreement(job);
    DIS_TRY(prevalence(job));
    dis__page_section_end(&job->page);
    return DIS_OK;
}
