/* Labels: confidence of each method, differences, disputed items, convergence of the methods. */
#include "tool/arrays.h"
#include "report/sections/verdict.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_view(dis__markup *m, const dis__report_job *job, size_t view)
{
    const char *name = job->r->view[view].name;
    const dis_recipe *usual = dis_recipe_get(0); /* the default labels */
    if (usual->combine && strcmp(name, usual->combine) == 0 && job->r->votes)
        dis__markup_append(m, "the default method");
    else
        dis__markup_append_name(m, name, strlen(name), 30);
}

void dis__figure_label_entropies(dis__report_job *job)
{
    const dis_report *r = job->r;
    const size_t n = r->n_views < DIS__REPORT_SHOWN_VIEWS ? r->n_views : DIS__REPORT_SHOWN_VIEWS;
    const size_t first = r->n_views - n; /* the trusted one is the last */
    const char *names[DIS__REPORT_SHOWN_VIEWS];
    const uint64_t *count[DIS__REPORT_SHOWN_VIEWS];
    double mean[DIS__REPORT_SHOWN_VIEWS], edge[DIS__REPORT_BINS + 1];
    size_t surest = first, min = first;
    for (size_t i = 0; i < n; i++) {
        const dis__view_statistics *t = &job->statistics[first + i];
        names[i] = r->view[first + i].name;
        count[i] = t->bin;
        mean[i] = t->mean_entropy;
        if (t->mean_entropy < job->statistics[surest].mean_entropy) surest = first + i;
        if (t->mean_entropy > job->statistics[min].mean_entropy) min = first + i;
    }
    for (size_t b = 0; b <= DIS__REPORT_BINS; b++) edge[b] = (double)b / DIS__REPORT_BINS;
    dis__figure f = {.id = "item-entropy",
                     .title = "Uncertainty of the labels",
                     .question = "How uncertain are the labels?"};
    dis__markup_append(&f.caption, "0: one class is certain; 1: all are equally likely. ");
    put_view(&f.caption, job, surest);
    if (surest != min) {
        dis__markup_appendf(&f.caption, " is the most confident (mean %s), ",
                            dis__format_fixed(job->statistics[surest].mean_entropy, 2).text);
        put_view(&f.caption, job, min);
        dis__markup_appendf(&f.caption, " is the least confident (%s). The dashed line is the mean.",
                            dis__format_fixed(job->statistics[min].mean_entropy, 2).text);
    } else {
        dis__markup_appendf(&f.caption, " has a mean of %s, the dashed line.", dis__format_fixed(mean[0], 2).text);
    }
    const dis__histogram_panels p = {.edge = edge,
                                     .n = DIS__REPORT_BINS,
                                     .n_panels = n,
                                     .panel = names,
                                     .count = count,
                                     .mean = mean,
                                     .x_title = "uncertainty of an item\xE2\x80\x99s label (entropy, 0 to 1)",
                                     .unit = "items"};
    dis__histogram_panels_draw(&f.chart, &p, dis__figure_name(&f, "one histogram per method"));
    dis__data_table_add_column(&f.table, "uncertainty, from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    for (size_t i = 0; i < n; i++) dis__data_table_add_named_column(&f.table, names[i], DIS__CELL_COUNT);
    for (size_t b = 0; b < DIS__REPORT_BINS; b++) {
        dis__data_table_add_number(&f.table, edge[b]);
        dis__data_table_add_number(&f.table, edge[b + 1]);
        for (size_t i = 0; i < n; i++) dis__data_table_add_number(&f.table, (double)count[i][b]);
    }
    dis__page_figure_add(&job->page, &f);
}

/* ---- disputed items ---- */

enum { MAX_ITEMS = 100, DRAWN_ITEMS = 12, MAX_PARTS = DIS__SERIES_COLOURS - 1 };

typedef struct {
    dis__top_item best[MAX_ITEMS];
    size_t n;
    double share[DRAWN_ITEMS * 2 * DIS__SERIES_COLOURS];
    char note[DRAWN_ITEMS][64];
    double *counts; /* (n_classes) */
} disputed;

/* Vote shares of an item into d->counts; returns the number of votes. */
static double vote_shares(const dis__report_job *job, disputed *d, size_t item)
{
    const size_t n_classes = job->r->n_classes;
    double total = 0;
    dis__item_count_votes(&job->votes_view, item, d->counts);
    for (size_t k = 0; k < n_classes; k++) total += d->counts[k];
    for (size_t k = 0; total > 0 && k < n_classes; k++) d->counts[k] /= total;
    return total;
}

static void find_disputed(const dis__report_job *job, disputed *d)
{
    const dis_report *r = job->r;
    for (size_t i = 0; i < r->n_items; i++) {
        double votes = 0;
        const double *p = d->counts;
        if (r->votes)
            votes = vote_shares(job, d, i);
        else
            p = r->view[job->main].p + i * r->n_classes;
        if (r->votes && votes == 0) continue;
        const double h = dis__entropy(p, r->n_classes);
        /* to ten digits: equal shares in another order must tie */
        if (h > 0)
            d->n = dis__top_items_add(d->best, d->n, MAX_ITEMS, (dis__top_item){floor(h * 1e10 + .5) / 1e10, votes, i});
    }
}

/* The classes that the drawn items are about, most mass first; the rest is one more part. */
static size_t choose_parts(const dis__report_job *job, disputed *d, size_t n, size_t *part, double *mass)
{
    const dis_report *r = job->r;
    memset(mass, 0, r->n_classes * sizeof *mass);
    for (size_t i = 0; i < n; i++) {
        const size_t item = d->best[i].item;
        if (r->votes) vote_shares(job, d, item);
        for (size_t k = 0; k < r->n_classes; k++) {
            if (r->votes) mass[k] += d->counts[k];
            if (r->n_views) mass[k] += r->view[job->main].p[item * r->n_classes + k];
        }
    }
    dis__top_item best[MAX_PARTS];
    size_t found = 0;
    const bool all = r->n_classes <= MAX_PARTS;
    for (size_t k = 0; k < r->n_classes; k++)
        found = dis__top_items_add(best, found, MAX_PARTS, (dis__top_item){.score = all ? 0 : mass[k], .item = k});
    for (size_t k = 0; k < found; k++) part[k] = best[k].item;
    return found;
}

static void fill_shares(const double *p, const size_t *part, size_t n_parts, size_t n_shown, double *out)
{
    double rest = 1;
    for (size_t k = 0; k < n_parts; k++) rest -= out[k] = p[part[k]];
    if (n_shown > n_parts) out[n_parts] = fmax(0, rest);
}

/* How many of them have one probable class all the same. */
static void append_decided(const dis__report_job *job, const disputed *d, dis__markup *caption)
{
    const dis_report *r = job->r;
    size_t n_decided = 0;
    for (size_t i = 0; i < d->n; i++) {
        const double *p = r->view[job->main].p + d->best[i].item * r->n_classes;
        n_decided += p[dis__argmax(p, r->n_classes)] >= .8;
    }
    if (n_decided == d->n)
        dis__markup_appendf(
            caption,
            "All %zu still end with one class at 80 %% or more: the method weights annotators by their accuracy.",
            d->n);
    else if (n_decided)
        dis__markup_appendf(caption,
                            "Of the %zu most disputed, %zu still end%s with one class at 80 %% or more: there the "
                            "method weights annotators by their accuracy. The others are worth another look.",
                            d->n, n_decided, n_decided == 1 ? "s" : "");
    else
        dis__markup_appendf(
            caption, "None of the %zu most disputed ends with one class at 80 %% or more: they are worth another look.",
            d->n);
}

static void fill_disputed(const dis__report_job *job, const disputed *d, dis__data_table *table)
{
    const dis_report *r = job->r;
    dis__data_table_add_column(table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, table);
    if (r->votes) dis__data_table_add_column(table, "votes", job->votes_view.start ? DIS__CELL_COUNT : DIS__CELL_REAL);
    dis__data_table_add_column(table, r->votes ? "spread of the votes (entropy, nats)" : "entropy (nats)",
                               DIS__CELL_REAL);
    if (r->n_views) dis__data_table_add_column(table, "label", DIS__CELL_TEXT);
    if (r->n_views) dis__data_table_add_column(table, "its probability", DIS__CELL_REAL);
    for (size_t i = 0; i < d->n; i++) {
        const size_t item = d->best[i].item;
        size_t length;
        const char *name = dis_names_get(r->tasks, item, &length);
        dis__data_table_add_text(table, name, length);
        dis__report_add_text_cell(job, table, item);
        if (r->votes) dis__data_table_add_number(table, d->best[i].weight);
        dis__data_table_add_number(table, d->best[i].score);
        if (!r->n_views) continue;
        const double *p = r->view[job->main].p + item * r->n_classes;
        const size_t k = dis__argmax(p, r->n_classes);
        dis__data_table_add_text(table, dis__class_name(job, k), strlen(dis__class_name(job, k)));
        dis__data_table_add_number(table, p[k]);
    }
}

static void draw_disputed(dis__report_job *job, disputed *d, double *mass)
{
    const dis_report *r = job->r;
    const size_t n = d->n < DRAWN_ITEMS ? d->n : DRAWN_ITEMS;
    size_t part[MAX_PARTS];
    const size_t n_parts = choose_parts(job, d, n, part, mass), n_shown = n_parts + (n_parts < r->n_classes);
    const char *names[DIS__SERIES_COLOURS], *rows[DRAWN_ITEMS], *notes[DRAWN_ITEMS], *texts[DRAWN_ITEMS], *bars[2];
    size_t n_bars = 0;
    if (r->votes) bars[n_bars++] = "votes";
    if (r->n_views) bars[n_bars++] = "label";
    for (size_t k = 0; k < n_parts; k++) names[k] = dis__class_name(job, part[k]);
    if (n_shown > n_parts) names[n_parts] = "all others";
    for (size_t i = 0; i < n; i++) {
        const size_t item = d->best[i].item;
        size_t b = 0;
        rows[i] = dis_names_get(r->tasks, item, NULL);
        texts[i] = r->texts ? dis_names_get(r->texts, item, NULL) : "";
        notes[i] = d->note[i];
        if (r->votes) {
            const double votes = vote_shares(job, d, item);
            snprintf(d->note[i], sizeof d->note[i], "%s vote%s", dis__format_brief(votes).text, votes == 1 ? "" : "s");
            fill_shares(d->counts, part, n_parts, n_shown, d->share + (i * n_bars + b++) * n_shown);
        }
        if (r->n_views)
            fill_shares(r->view[job->main].p + item * r->n_classes, part, n_parts, n_shown,
                        d->share + (i * n_bars + b) * n_shown);
    }
    dis__figure f = {.id = "most-disputed",
                     .title = "The most disputed items",
                     .question = "Which items are disputed most?",
                     .wide = true,
                     .note = "The 100 items whose votes are spread most evenly."};
    if (d->n < MAX_ITEMS) f.note = NULL;
    dis__markup_append(&f.caption, "The items whose votes are spread most evenly over the classes");
    if (r->n_views) {
        dis__markup_append(&f.caption, ", and their labels by ");
        put_view(&f.caption, job, job->main);
    }
    dis__markup_append(&f.caption, ". ");
    if (r->n_views && r->votes) append_decided(job, d, &f.caption);
    /* two pictures: side by side where there is room */
    for (size_t first = 0, end = (n + 1) / 2; first < n; first = end, end = n) {
        const dis__stacked_bar_chart s = {.row = rows + first,
                                          .note = r->votes ? notes + first : NULL,
                                          .text = r->texts ? texts + first : NULL,
                                          .bar = bars,
                                          .n = end - first,
                                          .n_bars = n_bars,
                                          .part = names,
                                          .n_parts = n_shown,
                                          .is_ordered = r->ordinal && n_shown == n_parts,
                                          .share = d->share + first * n_bars * n_shown};
        dis__stacked_bar_chart_draw(&f.chart, &s,
                                    dis__figure_name(&f, first ? "stacked bars, continued" : "stacked bars"));
    }
    fill_disputed(job, d, &f.table);
    dis__page_figure_add(&job->page, &f);
}

static dis_status disputed_items(dis__report_job *job)
{
    disputed *d = NULL;
    double *mass = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&d, 1, sizeof *d), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&d->counts, job->r->n_classes, sizeof *d->counts), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&mass, job->r->n_classes, sizeof *mass), end);
    find_disputed(job, d);
    if (d->n && job->r->n_items > 1) draw_disputed(job, d, mass);
end:
    if (d) dis__free(d->counts);
    dis__free(d);
    dis__free(mass);
    return status;
}

/* ---- the table of views ---- */

void dis__figure_views(dis__report_job *job)
{
    const dis_report *r = job->r;
    const bool gold = job->statistics[job->main].n_gold > 0;
    size_t best = job->main;
    dis__figure f = {.id = "views",
                     .title = "Comparison of the methods",
                     .question = "How do the label methods compare?",
                     .wide = true,
                     .open = true};
    for (size_t m = 0; m < r->n_views; m++)
        if (job->statistics[m].right > job->statistics[best].right) best = m;
    if (gold) {
        put_view(&f.caption, job, best);
        dis__markup_appendf(
            &f.caption, " is the most accurate: %s of the %s items whose class is known. ",
            dis__format_percent((double)job->statistics[best].right / (double)job->statistics[best].n_gold).text,
            dis__format_grouped(job->statistics[best].n_gold).text);
    }
    if (r->n_views > 1) {
        dis__markup_append(&f.caption, "Labels that differ are counted against ");
        put_view(&f.caption, job, job->main);
        dis__markup_append(&f.caption, ", the labels that this report uses. ");
    }
    dis__markup_append(&f.caption,
                       "Uncertainty is the entropy of a label: 0 when one class is certain, 1 when all are equally "
                       "likely.");
    dis__data_table_add_column(&f.table, "view", DIS__CELL_TEXT);
    if (gold) dis__data_table_add_column(&f.table, "accuracy", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "mean uncertainty", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "labels that differ", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "iterations", DIS__CELL_NOTED);
    for (size_t m = 0; m < r->n_views; m++) {
        const dis__view_statistics *t = &job->statistics[m];
        const dis_fit_view fit_view = r->view[m].fit ? dis_fit_get_view(r->view[m].fit) : (dis_fit_view){0};
        dis__data_table_add_text(&f.table, r->view[m].name, strlen(r->view[m].name));
        if (gold) dis__data_table_add_number(&f.table, t->n_gold ? (double)t->right / (double)t->n_gold : NAN);
        dis__data_table_add_number(&f.table, floor(1e4 * t->mean_entropy + .5) / 1e4);
        dis__data_table_add_number(&f.table, (double)t->changed);
        dis__data_table_add_noted(&f.table, fit_view.iterations ? (double)fit_view.iterations : (double)NAN,
                                  fit_view.iterations && !fit_view.converged ? "not converged" : "");
    }
    dis__page_figure_add(&job->page, &f);
}

static void add_label_findings(dis__report_job *job)
{
    const dis_report *r = job->r;
    const dis__view_statistics *trusted = &job->statistics[job->main];
    dis__markup finding = {0};
    const double near = dis__report_share_near(job);
    size_t max = job->main;
    for (size_t m = 0; m < r->n_views; m++)
        if (job->statistics[m].changed > job->statistics[max].changed) max = m;
    if (r->n_views > 1) {
        dis__markup_append(&finding, "The labels come from ");
        put_view(&finding, job, job->main);
        if (job->statistics[max].changed) {
            dis__markup_append(&finding, ". The method that differs most, ");
            put_view(&finding, job, max);
            dis__markup_appendf(
                &finding, ", gives %s of the items another label.",
                dis__format_percent((double)job->statistics[max].changed / fmax(1, (double)r->n_items)).text);
        } else {
            dis__markup_append(&finding, ". All methods give every item the same label.");
        }
        dis__page_finding_add(&job->page, &finding);
    }
    if (job->review && !isnan(job->verdicts.expected_accuracy) && !trusted->n_gold && !dis__report_is_undecided(job))
        dis__page_tile_add(&job->page, dis__format_percent(isnan(near) ? job->verdicts.expected_accuracy : near).text,
                           isnan(near) ? "labels expected correct" : "labels at most one class off");
    if (trusted->n_gold) {
        size_t best = job->main;
        for (size_t m = 0; m < r->n_views; m++)
            if (job->statistics[m].right > job->statistics[best].right) best = m;
        const uint64_t more = job->statistics[best].right - trusted->right;
        dis__markup_appendf(&finding, "Of %s item%s with a known class, %s label%s are correct.",
                            dis__format_grouped(trusted->n_gold).text, dis__plural_suffix(trusted->n_gold),
                            dis__format_grouped(trusted->right).text, dis__plural_suffix(trusted->right));
        if (more) {
            dis__markup_appendf(&finding, " No method has more correct labels than ");
            put_view(&finding, job, best);
            dis__markup_appendf(&finding, ", with %s more.", dis__format_grouped(more).text);
        }
        dis__page_finding_add(&job->page, &finding);
        dis__page_tile_add(&job->page, dis__format_percent((double)trusted->right / (double)trusted->n_gold).text,
                           "labels correct");
    }
    dis__markup_free(&finding);
}

/* Of votes that agree no more than chance: labels are shown only against known ones. */
static dis_status without_labels(dis__report_job *job)
{
    dis__markup finding = {0};
    dis__markup_appendf(&finding,
                        "Annotators agree no more than chance (p %s): the labels of these items cannot be assessed.",
                        dis__format_fixed(job->chance.p, 2).text);
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
    if (job->r->n_views == 0 || job->statistics[job->main].n_gold == 0) return DIS_OK;
    dis__page_section_begin(&job->page, "labels", "Labels", "Accuracy of the labels on items with known classes.");
    dis__figure_views(job);
    dis__page_section_end(&job->page);
    return DIS_OK;
}

dis_status dis__section_labels(dis__report_job *job)
{
    if (job->r->n_items == 0 || (job->r->n_views == 0 && !job->r->votes)) return DIS_OK;
    if (dis__report_is_chance_level(job)) return without_labels(job);
    dis__page_section_begin(&job->page, "labels", "Labels",
                            "Estimated labels: a distribution over the classes for each item.");
    if (job->r->n_views) {
        add_label_findings(job);
        if (job->statistics[job->main].n_gold) dis__figure_views(job);
    }
    DIS_TRY(disputed_items(job));
    dis__page_section_end(&job->page);
    return DIS_OK;
}
