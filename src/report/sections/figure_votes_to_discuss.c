/* Votes to discuss: for each annotator whom the review flags, the votes that differ most clearly from the label; and the
 * probable causes of all votes that differ from the others. */
#include "tool/vote_reasons.h"
#include "report/sections/verdict.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include "tool/arrays.h"
#include <string.h>

enum { SHOWN_WORKERS = 20, VOTES_EACH = 3, NOT_SHOWN = 255, SHOWN_EACH = 40 };

typedef struct {
    dis__top_item best[SHOWN_WORKERS][VOTES_EACH]; /* item: position of the vote */
    size_t n[SHOWN_WORKERS];
    size_t n_workers;
    unsigned char *slot; /* (n_workers) */
} examples;

static size_t first_class(const dis__report_job *job, size_t item)
{
    return dis__argmax(job->r->view[job->main].p + item * job->r->n_classes, job->r->n_classes);
}

static void find_votes(const dis__report_job *job, examples *e)
{
    const dis_votes_view *v = &job->votes_view;
    const size_t n = job->r->n_classes;
    for (size_t i = 0; i < v->n_items; i++) {
        const double *p = job->r->view[job->main].p + i * n;
        const size_t label = first_class(job, i);
        for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
            const size_t s = e->slot[v->worker[a]], vote = dis__vote_label(v, a);
            if (s == NOT_SHOWN || vote == label) continue;
            e->n[s] = dis__top_items_add(e->best[s], e->n[s], VOTES_EACH,
                                         (dis__top_item){.score = p[label] - p[vote], .item = (size_t)a});
        }
    }
}

/* The item of a vote. */
static size_t item_of(const dis_votes_view *v, uint64_t vote)
{
    size_t low = 0, high = v->n_items;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (v->start[middle] <= vote)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add_row(const dis__report_job *job, dis__data_table *table, size_t worker, uint64_t vote)
{
    const dis_votes_view *v = &job->votes_view;
    const size_t item = item_of(v, vote), label = first_class(job, item), chosen = dis__vote_label(v, vote);
    size_t n, for_label = 0;
    const char *text = dis_names_get(v->workers, worker, &n);
    dis__data_table_add_text(table, text, n);
    text = dis_names_get(v->tasks, item, &n);
    dis__data_table_add_text(table, text, n);
    dis__report_add_text_cell(job, table, item);
    dis__data_table_add_text(table, dis__class_name(job, chosen), strlen(dis__class_name(job, chosen)));
    dis__data_table_add_text(table, dis__class_name(job, label), strlen(dis__class_name(job, label)));
    dis__data_table_add_number(table, job->r->view[job->main].p[item * job->r->n_classes + label]);
    for (uint64_t a = v->start[item]; a < v->start[item + 1]; a++) for_label += dis__vote_label(v, a) == label;
    dis__data_table_add_number(table, (double)for_label);
    dis__data_table_add_number(table, (double)(v->start[item + 1] - v->start[item]));
}

dis_status dis__figure_votes_to_discuss(dis__report_job *job)
{
    const dis_votes_view *v = &job->votes_view;
    const size_t out = job->verdicts.n_unreliable + job->verdicts.n_weak;
    examples *e;
    if (out == 0 || !v->start || job->r->n_views == 0 || dis__report_is_undecided(job)) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&e, 1, sizeof *e));
    const dis_status status = dis__alloc_array(&e->slot, v->n_workers, sizeof *e->slot);
    if (status != DIS_OK) {
        dis__free(e);
        return status;
    }
    memset(e->slot, NOT_SHOWN, v->n_workers);
    e->n_workers = out < SHOWN_WORKERS ? out : SHOWN_WORKERS;
    for (size_t s = 0; s < e->n_workers; s++) e->slot[job->verdicts.workers[s].worker] = (unsigned char)s;
    find_votes(job, e);
    dis__figure f = {.id = "votes-to-discuss",
                     .title = "Votes to discuss",
                     .question = job->r->panel ? "Which of their votes should you look at?"
                                               : "Which of their votes should you discuss with them?",
                     .wide = true,
                     .open = true,
                     .note = out > SHOWN_WORKERS ? "The first 20 annotators." : NULL};
    dis__markup_append(&f.caption,
                       "Up to three votes of each annotator above: those that differ most clearly from the label. A "
                       "vote that differs can be correct; ask for the reason before you drop it.");
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, &f.table);
    dis__data_table_add_column(&f.table, "vote", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "label", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(&f.table);
    dis__data_table_add_column(&f.table, "probability of the label", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "votes for the label", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "of votes", DIS__CELL_COUNT);
    dis__data_table_set_always_shown(&f.table);
    size_t rows = 0;
    for (size_t s = 0; s < e->n_workers; s++)
        for (size_t i = 0; i < e->n[s]; i++, rows++)
            add_row(job, &f.table, job->verdicts.workers[s].worker, e->best[s][i].item);
    if (rows)
        dis__page_figure_add(&job->page, &f);
    else
        dis__figure_free(&f);
    dis__free(e->slot);
    dis__free(e);
    return DIS_OK;
}

/* ---- causes ---- */

static void add_cause_row(const dis__report_job *job, dis__data_table *table, size_t vote)
{
    char reason[DIS_REVIEW_REASON_SIZE];
    double p[DIS_CAUSES];
    const dis_votes_view *v = &job->votes_view;
    const dis_review_vote *x = &job->verdicts.votes[vote];
    const char *cause = dis__vote_cause_name(dis__vote_cause_find(x, p));
    size_t n;
    const char *text = dis_names_get(v->tasks, x->item, &n);
    dis__data_table_add_text(table, text, n);
    dis__report_add_text_cell(job, table, x->item);
    text = dis_names_get(v->workers, x->worker, &n);
    dis__data_table_add_text(table, text, n);
    dis__data_table_add_text(table, dis__class_name(job, x->label), strlen(dis__class_name(job, x->label)));
    dis__data_table_add_text(table, cause, strlen(cause));
    dis__data_table_add_number(table, x->p_slip);
    dis__data_table_add_number(table, x->p_reading);
    if (job->r->groups) dis__data_table_add_number(table, x->p_group);
    dis__vote_reason_format(&job->verdicts, v, job->r->groups, vote, reason, sizeof reason);
    dis__data_table_add_text(table, reason, strlen(reason));
}

static void put_cause_caption(const dis__report_job *job, const size_t *n_cause, dis__markup *m)
{
    const size_t n = n_cause[DIS_CAUSE_SLIP] + n_cause[DIS_CAUSE_READING] + n_cause[DIS_CAUSE_GROUP];
    dis__markup_appendf(m,
                        "%zu of %zu votes probably differ from the most common reading of their item: %zu slip%s, %zu "
                        "other reading%s",
                        n, job->verdicts.n_votes, n_cause[DIS_CAUSE_SLIP], dis__plural_suffix(n_cause[DIS_CAUSE_SLIP]),
                        n_cause[DIS_CAUSE_READING], dis__plural_suffix(n_cause[DIS_CAUSE_READING]));
    if (job->r->groups)
        dis__markup_appendf(m, " and %zu view%s of a group", n_cause[DIS_CAUSE_GROUP],
                            dis__plural_suffix(n_cause[DIS_CAUSE_GROUP]));
    dis__markup_append(m, ". A slip is a vote without regard to the item. Votes alone cannot show an error that its "
                          "author would take back after reading the item again: such a vote looks like another "
                          "reading. Where annotators judged their own labels (VariErr-NLI), the number of votes for a "
                          "label found errors better than these probabilities. Read the item before you drop a vote.");
}

void dis__figure_vote_causes(dis__report_job *job)
{
    if (!job->r->causes || !job->verdicts.votes || dis__report_is_undecided(job)) return;
    dis__top_item best[DIS_CAUSES][SHOWN_EACH];
    size_t n_cause[DIS_CAUSES] = {0}, n[DIS_CAUSES] = {0};
    bool more = false;
    for (size_t i = 0; i < job->verdicts.n_votes; i++) {
        double p[DIS_CAUSES];
        const dis__vote_cause cause = dis__vote_cause_find(&job->verdicts.votes[i], p);
        if (n_cause[cause]++ >= SHOWN_EACH && cause != DIS_CAUSE_COMMON) more = true;
        n[cause] = dis__top_items_add(best[cause], n[cause], SHOWN_EACH, (dis__top_item){.score = p[cause], .item = i});
    }
    dis__figure f = {.id = "vote-causes",
                     .title = "Slips and other readings",
                     .question = "Which votes are slips, and which are other readings?",
                     .wide = true,
                     .open = true,
                     .note = more ? "The 40 most probable votes of each cause; dissent review lists all." : NULL};
    put_cause_caption(job, n_cause, &f.caption);
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, &f.table);
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "vote", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "cause", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "slip", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "reading", DIS__CELL_PERCENT);
    if (job->r->groups) dis__data_table_add_column(&f.table, "group", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "why", DIS__CELL_LONG_TEXT);
    for (int cause = DIS_CAUSE_SLIP; cause < DIS_CAUSES; cause++)
        for (size_t i = 0; i < n[cause]; i++) add_cause_row(job, &f.table, best[cause][i].item);
    dis__page_figure_add(&job->page, &f);
}
