/* Two camps of annotators: the items that they read differently, and who belongs to which camp. */
#include "report/sections/verdict.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include "tool/arrays.h"
#include <stdio.h>
#include <string.h>

enum { SHOWN_ITEMS = 10, SHOWN_WORKERS = 500, NAMED = 12 };

typedef struct {
    const dis__report_job *job;
    double *share; /* (2, n_classes): votes of each camp */
    double n[2];
} camp_votes;

bool dis__report_has_camps(const dis__report_job *job)
{
    return job->verdicts.camps && job->verdicts.camps->has_two;
}

void dis__report_append_camps(dis__markup *m, const dis__report_job *job)
{
    const dis_review_camps *camps = job->verdicts.camps;
    dis__markup_appendf(m, "nnotators fall into two camps of %zu and %zu: two of the same camp agree on ", camps->n[0],
                        camps->n[1]);
    dis__markup_append(m, dis__format_percent(camps->agreement_within).text);
    dis__markup_append(m, " of their common items, two of different camps on ");
    dis__markup_append(m, dis__format_percent(camps->agreement_across).text);
}

static void count_votes(camp_votes *c, size_t item)
{
    const dis_votes_view *v = &c->job->votes_view;
    const size_t n_classes = c->job->r->n_classes;
    memset(c->share, 0, 2 * n_classes * sizeof *c->share);
    c->n[0] = c->n[1] = 0;
    for (uint64_t a = v->start[item]; a < v->start[item + 1]; a++) {
        const uint8_t camp = c->job->verdicts.camps->camp[v->worker[a]];
        if (camp == 0) continue;
        c->share[(camp - 1u) * n_classes + dis__vote_label(v, a)]++;
        c->n[camp - 1u]++;
    }
}

/* How clearly the camps differ: 0 if one did not vote, or if both chose the same class most often. */
static double difference(const camp_votes *c)
{
    const size_t n_classes = c->job->r->n_classes;
    const double *first = c->share, *second = c->share + n_classes;
    double squares = 0;
    if (c->n[0] == 0 || c->n[1] == 0) return 0;
    if (dis__argmax(first, n_classes) == dis__argmax(second, n_classes)) return 0;
    for (size_t k = 0; k < n_classes; k++) {
        const double d = first[k] / c->n[0] - second[k] / c->n[1];
        squares += d * d;
    }
    return squares * c->n[0] * c->n[1] / (c->n[0] + c->n[1]);
}

/* "spam (4 of 5)" */
static void add_votes(const camp_votes *c, size_t camp, dis__data_table *table)
{
    char text[256];
    const size_t n_classes = c->job->r->n_classes, k = dis__argmax(c->share + camp * n_classes, n_classes);
    const int n = snprintf(text, sizeof text, "%.200s (%.0f of %.0f)", dis__class_name(c->job, k),
                           c->share[camp * n_classes + k], c->n[camp]);
    dis__data_table_add_text(table, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void add_items(dis__report_job *job, camp_votes *c)
{
    dis__top_item best[SHOWN_ITEMS];
    size_t n = 0, n_different = 0;
    char note[128];
    for (size_t i = 0; i < job->r->n_items; i++) {
        count_votes(c, i);
        const double d = difference(c);
        if (!(d > 0)) continue;
        n_different++;
        n = dis__top_items_add(best, n, SHOWN_ITEMS,
                               (dis__top_item){.score = d, .weight = c->n[0] + c->n[1], .item = i});
    }
    dis__figure f = {.id = "camps",
                     .title = "Two camps of annotators",
                     .question = "Do annotators read the guidelines in two ways?",
                     .wide = true,
                     .open = true};
    dis__markup_append(&f.caption, "It seems so: a");
    dis__report_append_camps(&f.caption, job);
    if (job->verdicts.camps->p < .001)
        dis__markup_append(&f.caption, " (p below 0.001");
    else
        dis__markup_appendf(&f.caption, " (p %s", dis__format_fixed(job->verdicts.camps->p, 3).text);
    dis__markup_append(&f.caption, ", on items that were not used to find the camps). ");
    dis__markup_append(&f.caption,
                       "Ask both camps for their reasons on the items below, and state in the guidelines which reading "
                       "applies. One camp may also be stricter than the other, or its members may talk to each other.");
    snprintf(note, sizeof note, "The %zu items with the clearest difference, of %zu whose most frequent votes differ.",
             n, n_different);
    if (n_different > n) f.note = note;
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, &f.table);
    dis__data_table_add_column(&f.table, "larger camp", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(&f.table);
    dis__data_table_add_column(&f.table, "smaller camp", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(&f.table);
    for (size_t x = 0; x < n; x++) {
        size_t length;
        const char *name = dis_names_get(job->r->tasks, best[x].item, &length);
        count_votes(c, best[x].item);
        dis__data_table_add_text(&f.table, name, length);
        dis__report_add_text_cell(job, &f.table, best[x].item);
        add_votes(c, 0, &f.table);
        add_votes(c, 1, &f.table);
    }
    dis__page_figure_add(&job->page, &f);
}

/* "Larger camp: ada, ben and 10 more. " */
static void put_members(dis__markup *m, const dis__report_job *job, uint8_t camp)
{
    const dis_review_camps *camps = job->verdicts.camps;
    const size_t all = camps->n[camp - 1], shown = all <= NAMED + 1 ? all : NAMED;
    size_t n = 0;
    dis__markup_append(m, camp == 1 ? "Larger camp: " : "Smaller camp: ");
    for (size_t w = 0; w < job->verdicts.n_workers && n < shown; w++) {
        size_t length;
        const char *name = dis_names_get(job->votes_view.workers, w, &length);
        if (camps->camp[w] != camp) continue;
        dis__markup_append(m, n == 0 ? "" : n + 1 == all ? " and " : ", ");
        dis__markup_append_name(m, name, length, 24);
        n++;
    }
    if (n < all) dis__markup_appendf(m, " and %zu more", all - n);
    dis__markup_append(m, ". ");
}

static void add_members(dis__report_job *job)
{
    const dis_review_camps *camps = job->verdicts.camps;
    dis__figure f = {.id = "camp-members",
                     .title = "Members of the camps",
                     .question = "Who belongs to which camp?",
                     .wide = true,
                     .note = job->verdicts.n_workers > SHOWN_WORKERS ? "The first 500 annotators." : NULL};
    size_t n = 0, n_without = 0;
    for (size_t w = 0; w < job->verdicts.n_workers; w++) n_without += camps->camp[w] == 0;
    put_members(&f.caption, job, 1);
    put_members(&f.caption, job, 2);
    if (n_without)
        dis__markup_appendf(&f.caption, "%zu annotator%s with fewer than ten votes belong%s to no camp.", n_without,
                            dis__plural_suffix(n_without), n_without == 1 ? "s" : "");
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "camp", DIS__CELL_TEXT);
    for (uint8_t camp = 1; camp <= 2; camp++)
        for (size_t w = 0; w < job->verdicts.n_workers && n < SHOWN_WORKERS; w++) {
            size_t length;
            const char *name = dis_names_get(job->votes_view.workers, w, &length);
            if (camps->camp[w] != camp) continue;
            dis__data_table_add_text(&f.table, name, length);
            dis__data_table_add_text(&f.table, camp == 1 ? "larger" : "smaller", camp == 1 ? 6 : 7);
            n++;
        }
    dis__page_figure_add(&job->page, &f);
}

dis_status dis__figure_camps(dis__report_job *job)
{
    camp_votes c = {.job = job};
    if (!dis__report_has_camps(job)) return DIS_OK;
    DIS_TRY(dis__alloc_array(&c.share, 2 * job->r->n_classes, sizeof *c.share));
    add_items(job, &c);
    add_members(job);
    dis__free(c.share);
    return DIS_OK;
}
