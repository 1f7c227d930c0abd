/* Votes to discuss: for each annotator whom the review flags, the votes that differ most clearly from the label. */
#include "report/sections/verdict.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include "tool/arrays.h"
#include <string.h>

enum { SHOWN_WORKERS = 20, VOTES_EACH = 3, NOT_SHOWN = 255 };

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
