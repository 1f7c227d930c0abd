/* What workers confuse: how often each said what, where the trusted labels say what it is. First the workers with most
 * votes, then those whom the review doubts. Cost: one pass over the votes. */
#include "report/sections/worker_statistics.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include <math.h>
#include <string.h>

enum { SHOWN_MATRICES = 4, MIN_VOTES = 10 }; /* fewer votes make no matrix */

typedef struct {
    size_t worker[2 * SHOWN_MATRICES], n;
    double *sum; /* (n, true class, class voted) of the shown classes */
} matrices;

/* Expected counts: the label's probability of each true class, at the class voted. */
static void count_confusions(const dis__report_job *job, matrices *m, const uint32_t *slot, const size_t *place)
{
    const dis_votes_view *v = &job->votes_view;
    const double *p = job->r->view[job->main].p;
    const size_t shown = job->n_shown;
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            const uint32_t s = slot[v->worker[k]];
            const size_t voted = place[dis__vote_label(v, k)];
            if (s == UINT32_MAX || voted == SIZE_MAX) continue;
            for (size_t t = 0; t < shown; t++)
                m->sum[(s * shown + t) * shown + voted] += p[i * v->n_classes + job->top_class[t]];
        }
}

/* "800 votes, 48 % correct", by the estimate of the review. */
static void put_record(dis__markup *m, const dis__report_job *job, const dis__worker_statistics *c, size_t w)
{
    const dis_review_worker *row = dis__worker_statistics_find_review(job, c, w);
    dis__markup_appendf(m, "%s vote%s", dis__format_grouped(c->votes[w]).text, dis__plural_suffix(c->votes[w]));
    if (row && !isnan(row->accuracy)) dis__markup_appendf(m, ", %s correct", dis__format_percent(row->accuracy).text);
}

static void draw_matrix(dis__report_job *job, const dis__worker_statistics *c, const matrices *m, size_t i,
                        dis__figure *f, const char *const *names)
{
    const size_t shown = job->n_shown, w = m->worker[i];
    double value[DIS__REPORT_SHOWN_CLASSES * DIS__REPORT_SHOWN_CLASSES], of[DIS__REPORT_SHOWN_CLASSES];
    size_t length;
    const char *name = dis_names_get(job->votes_view.workers, w, &length);
    for (size_t t = 0; t < shown; t++) {
        const double *row = m->sum + (i * shown + t) * shown;
        double total = 0;
        for (size_t k = 0; k < shown; k++) total += row[k];
        of[t] = total;
        for (size_t k = 0; k < shown; k++) value[t * shown + k] = total >= .5 ? row[k] / total : NAN;
        for (size_t k = 0; k < shown; k++) {
            dis__data_table_add_text(&f->table, name, length);
            dis__data_table_add_text(&f->table, names[t], strlen(names[t]));
            dis__data_table_add_text(&f->table, names[k], strlen(names[k]));
            dis__data_table_add_number(&f->table, row[k]);
            dis__data_table_add_number(&f->table, value[t * shown + k]);
        }
    }
    dis__markup label = {0};
    dis__markup_append(&label, "Confusion matrix of annotator ");
    dis__markup_append_name(&label, name, length, 40);
    dis__markup_append(&label, ": ");
    put_record(&label, job, c, w);
    dis__markup_append(&label, ".");
    dis__markup_appendf(&f->chart, "<div class=\"one%s\"><p><b><bdi>", shown > 6 ? " big" : "");
    dis__markup_append_bdi(&f->chart, name, length, 24);
    dis__markup_append(&f->chart, "</bdi></b> <span class=\"q\">");
    put_record(&f->chart, job, c, w);
    dis__markup_append(&f->chart, "</span></p>");
    const dis__heat_map h = {.name = names,
                             .n = shown,
                             .value = value,
                             .count = of,
                             .count_title = "votes",
                             .low = 0,
                             .high = 1,
                             .percent = true,
                             .row_title = "label",
                             .column_title = "annotator said (%)",
                             .value_title = "",
                             .width = shown > 6 ? 440 : 216};
    dis__heat_map_draw(&f->chart, &h, &label);
    dis__markup_append(&f->chart, "</div>\n");
    dis__markup_free(&label);
}

static void draw_matrices(dis__report_job *job, const dis__worker_statistics *c, const matrices *m, size_t n_busy)
{
    dis__figure f = {.id = "worker-confusion",
                     .title = "Confusion by annotator",
                     .question = "Which classes do annotators confuse?",
                     .wide = true};
    const char *names[DIS__REPORT_SHOWN_CLASSES];
    for (size_t k = 0; k < job->n_shown; k++) names[k] = dis__class_name(job, job->top_class[k]);
    dis__markup_appendf(
        &f.caption,
        "Rows are labels, columns the votes of the annotator, in percent of the row. A careful annotator has a dark "
        "diagonal; one who always gives the same class has a dark column. First the %zu with most votes",
        n_busy);
    if (m->n > n_busy)
        dis__markup_appendf(&f.caption, ", then %zu more with the strongest evidence of a problem", m->n - n_busy);
    dis__markup_append(&f.caption, ".");
    if (job->n_shown < job->r->n_classes)
        dis__markup_appendf(&f.caption, " The %zu most frequent classes of %zu.", job->n_shown, job->r->n_classes);
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "true class (labels)", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "class voted", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "expected votes", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "share of the true class", DIS__CELL_PERCENT);
    for (size_t i = 0; i < m->n; i++) draw_matrix(job, c, m, i, &f, names);
    dis__page_figure_add(&job->page, &f);
}

dis_status dis__figure_confusions(dis__report_job *job, const dis__worker_statistics *c)
{
    const size_t shown = job->n_shown, n_workers = job->votes_view.n_workers, n_classes = job->r->n_classes;
    matrices m = {0};
    uint32_t *slot = NULL;
    size_t *place = NULL, n_busy;
    dis_status status;
    for (size_t i = 0; i < c->n_busiest && m.n < SHOWN_MATRICES; i++)
        if (c->votes[c->busiest[i].item] >= MIN_VOTES) m.worker[m.n++] = c->busiest[i].item;
    n_busy = m.n;
    for (size_t i = 0; i < job->verdicts.n_unreliable + job->verdicts.n_weak && m.n < 2 * SHOWN_MATRICES; i++) {
        const dis_review_worker *row = &job->verdicts.workers[i];
        bool new = row->votes >= MIN_VOTES;
        for (size_t j = 0; j < n_busy; j++) new &= m.worker[j] != row->worker;
        if (new) m.worker[m.n++] = row->worker;
    }
    if (m.n == 0) return DIS_OK;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&m.sum, m.n * shown * shown, sizeof *m.sum), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&slot, n_workers, sizeof *slot), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&place, n_classes, sizeof *place), end);
    for (size_t w = 0; w < n_workers; w++) slot[w] = UINT32_MAX;
    for (size_t k = 0; k < n_classes; k++) place[k] = SIZE_MAX;
    for (size_t i = 0; i < m.n; i++) slot[m.worker[i]] = (uint32_t)i;
    for (size_t k = 0; k < shown; k++) place[job->top_class[k]] = k;
    count_confusions(job, &m, slot, place);
    draw_matrices(job, c, &m, n_busy);
end:
    dis__free(m.sum);
    dis__free(slot);
    dis__free(place);
    return status;
}
