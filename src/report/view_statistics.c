/* One pass over each view: entropies, class shares, who agrees with the trusted view and with gold.
 *
 * Items are cut into jobs by their number alone; sums of jobs are added in order, so any number of threads gives the
 * same bytes. Cost: O(views * items * classes), a logarithm each. */
#include "tool/arrays.h"
#include "report/report_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "labels/method.h"
#include <math.h>
#include <string.h>

typedef struct {
    uint64_t bin[DIS__REPORT_BINS], changed, right, n_gold;
    double entropy;
} part;

typedef struct {
    const dis_report *r;
    const double *p, *trusted;
    size_t n_jobs;
    part *part;   /* (n_jobs) */
    double *sums; /* (n_jobs, n_classes) */
} pass;

static dis_status pass_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pass *w = arg;
    const dis_report *r = w->r;
    const size_t n_classes = r->n_classes, last = dis__job_first(r->n_items, w->n_jobs, j + 1);
    const double scale = n_classes > 1 ? 1 / log((double)n_classes) : 0;
    part *out = &w->part[j];
    double *sums = w->sums + j * n_classes;
    for (size_t i = dis__job_first(r->n_items, w->n_jobs, j); i < last; i++) {
        const double *p = w->p + i * n_classes, h = dis__entropy(p, n_classes) * scale;
        const size_t b = (size_t)(h * DIS__REPORT_BINS), first = dis__argmax(p, n_classes);
        out->bin[b < DIS__REPORT_BINS ? b : DIS__REPORT_BINS - 1]++;
        out->entropy += h;
        for (size_t k = 0; k < n_classes; k++) sums[k] += p[k];
        out->changed += first != dis__argmax(w->trusted + i * n_classes, n_classes);
        if (r->gold && r->gold[i] >= 0) {
            out->n_gold++;
            out->right += first == (size_t)r->gold[i];
        }
    }
    return DIS_OK;
}

static dis_status compute_view(dis__report_job *job, pass *w, size_t m)
{
    const dis_report *r = job->r;
    dis__view_statistics *t = &job->statistics[m];
    memset(w->part, 0, w->n_jobs * sizeof *w->part);
    memset(w->sums, 0, w->n_jobs * r->n_classes * sizeof *w->sums);
    w->p = r->view[m].p;
    DIS_TRY(dis__alloc_zeroed(&t->prevalence, r->n_classes, sizeof *t->prevalence));
    DIS_TRY(dis__run_jobs(job->ctx, w->n_jobs, pass_job, w));
    for (size_t j = 0; j < w->n_jobs; j++) {
        const part *one = &w->part[j];
        for (size_t b = 0; b < DIS__REPORT_BINS; b++) t->bin[b] += one->bin[b];
        t->mean_entropy += one->entropy;
        t->changed += one->changed;
        t->right += one->right;
        t->n_gold += one->n_gold;
        for (size_t k = 0; k < r->n_classes; k++) t->prevalence[k] += w->sums[j * r->n_classes + k];
    }
    const double n = r->n_items ? (double)r->n_items : 1;
    t->mean_entropy /= n;
    for (size_t k = 0; k < r->n_classes; k++) t->prevalence[k] /= n;
    return DIS_OK;
}

static dis_status compute_views(dis__report_job *job)
{
    const dis_report *r = job->r;
    if (r->n_views == 0) return DIS_OK;
    pass w = {.r = r, .trusted = r->view[job->main].p, .n_jobs = dis__n_jobs(r->n_items, 4096, 64)};
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&w.part, w.n_jobs, sizeof *w.part), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&w.sums, dis__saturating_size(w.n_jobs, r->n_classes, 0), sizeof *w.sums),
                 end);
    for (size_t m = 0; m < r->n_views && status == DIS_OK; m++) {
        status = compute_view(job, &w, m);
        dis__progress(job->ctx, "reading labels", (double)(m + 1) / (double)r->n_views);
    }
end:
    dis__free(w.part);
    dis__free(w.sums);
    return status;
}

/* Mean over the items of the share of each class among their votes: an item with 177 votes counts as much as one with
 * five, as it does among the labels. */
static dis_status compute_vote_shares(dis__report_job *job)
{
    const dis_votes_view *v = &job->votes_view;
    if (!job->r->votes) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&job->raw, v->n_classes, sizeof *job->raw));
    double items = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        double total = 0;
        if (v->start) {
            const double one = 1 / (double)(v->start[i + 1] - v->start[i]);
            items += v->start[i + 1] > v->start[i];
            for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) job->raw[dis__vote_label(v, a)] += one;
            continue;
        }
        const double *count = v->counts + i * v->n_classes;
        for (size_t k = 0; k < v->n_classes; k++) total += count[k];
        items += total > 0;
        for (size_t k = 0; total > 0 && k < v->n_classes; k++) job->raw[k] += count[k] / total;
    }
    for (size_t k = 0; items > 0 && k < v->n_classes; k++) job->raw[k] /= items;
    return DIS_OK;
}

/* Shares of the known classes. */
static dis_status compute_gold_shares(dis__report_job *job)
{
    const dis_report *r = job->r;
    double n = 0;
    if (!r->gold) return DIS_OK;
    for (size_t i = 0; i < r->n_items; i++) n += r->gold[i] >= 0;
    if (n == 0) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&job->gold_share, r->n_classes, sizeof *job->gold_share));
    for (size_t i = 0; i < r->n_items; i++)
        if (r->gold[i] >= 0) job->gold_share[r->gold[i]] += 1 / n;
    return DIS_OK;
}

size_t dis__top_items_add(dis__top_item *best, size_t n, size_t max, dis__top_item one)
{
    size_t at = n < max ? n++ : max;
    if (at == max) {
        const dis__top_item *last = &best[max - 1];
        if (one.score < last->score || (one.score == last->score && one.weight <= last->weight)) return n;
        at--;
    }
    for (; at > 0 &&
           (one.score > best[at - 1].score || (one.score == best[at - 1].score && one.weight > best[at - 1].weight));
         at--)
        best[at] = best[at - 1];
    best[at] = one;
    return n;
}

/* Charts show the classes that matter; when there are few, all, in their order. */
static dis_status choose_classes(dis__report_job *job)
{
    const size_t n = job->r->n_classes, max = DIS__REPORT_SHOWN_CLASSES;
    const double *weight = job->raw ? job->raw : job->r->n_views ? job->statistics[job->main].prevalence : NULL;
    job->n_shown = n < max ? n : max;
    DIS_TRY(dis__alloc_array(&job->top_class, job->n_shown, sizeof *job->top_class));
    dis__top_item best[DIS__REPORT_SHOWN_CLASSES];
    size_t found = 0;
    for (size_t k = 0; k < n; k++)
        found = dis__top_items_add(best, found, max,
                                   (dis__top_item){.score = weight && n > max ? weight[k] : 0, .item = k});
    for (size_t k = 0; k < found; k++) job->top_class[k] = best[k].item;
    return DIS_OK;
}

dis_status dis__report_statistics_compute(dis__report_job *job)
{
    DIS_TRY(compute_views(job));
    DIS_TRY(compute_vote_shares(job));
    DIS_TRY(compute_gold_shares(job));
    return choose_classes(job);
}

void dis__report_statistics_free(dis__report_job *job)
{
    for (size_t m = 0; m < DIS_MAX_VIEWS; m++) dis__free(job->statistics[m].prevalence);
    dis__free(job->raw);
    dis__free(job->gold_share);
    dis__free(job->top_class);
}

const char *dis__class_name(const dis__report_job *job, size_t k)
{
    return dis_names_get(job->r->classes, k, NULL);
}

void dis__report_add_text_column(const dis__report_job *job, dis__data_table *g)
{
    if (job->r->texts) dis__data_table_add_column(g, "text", DIS__CELL_ITEM_TEXT);
}

void dis__report_add_text_cell(const dis__report_job *job, dis__data_table *g, size_t item)
{
    size_t n = 0;
    if (!job->r->texts) return;
    const char *text = item < job->r->n_items ? dis_names_get(job->r->texts, item, &n) : "";
    dis__data_table_add_text(g, text, n);
}
