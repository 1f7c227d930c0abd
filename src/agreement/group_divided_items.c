/* Finds items that divide groups: Fisher's exact test between the votes of two groups on an item, for all items and
 * pairs of groups with enough votes, corrected together for the false discovery rate.
 *
 * Two passes over the items count the rows and fill them, since their number must be known before the tests run on all
 * threads. Cost: O(votes x groups), a test per row, a sort. */
#include "agreement/group_sums.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "stats/distributions.h"
#include <math.h>
#include <stdlib.h>

enum { ROWS_A_JOB = 256, MAX_JOBS = 4096 };

typedef struct {
    const dis_votes_view *votes;
    const int32_t *group;
    size_t n_groups, min_side, n, n_jobs;
    dis_group_item *row;
} work;

static void count_sides(const work *w, size_t i, uint32_t side[DIS_MAX_GROUPS])
{
    for (size_t g = 0; g < w->n_groups; g++) side[g] = 0;
    for (uint64_t t = w->votes->start[i]; t < w->votes->start[i + 1]; t++) {
        const int32_t g = w->group[w->votes->worker[t]];
        if (g >= 0) side[g]++;
    }
}

/* Writes the rows to w->row, or only counts them if that is NULL. */
static size_t list_rows(const work *w)
{
    uint32_t side[DIS_MAX_GROUPS];
    size_t n = 0;
    for (size_t i = 0; i < w->votes->n_items; i++) {
        count_sides(w, i, side);
        for (size_t a = 0; a < w->n_groups; a++)
            for (size_t b = a + 1; b < w->n_groups; b++) {
                if (side[a] < w->min_side || side[b] < w->min_side) continue;
                if (w->row)
                    w->row[n] = (dis_group_item){
                        .item = i, .a = (uint32_t)a, .b = (uint32_t)b, .votes_a = side[a], .votes_b = side[b]};
                n++;
            }
    }
    return n;
}

static dis_status test_row(const work *w, dis_group_item *row, uint32_t *a, uint32_t *b)
{
    const dis_votes_view *v = w->votes;
    for (size_t k = 0; k < v->n_classes; k++) a[k] = b[k] = 0;
    for (uint64_t t = v->start[row->item]; t < v->start[row->item + 1]; t++) {
        const int32_t g = w->group[v->worker[t]];
        const uint32_t k = v->label8 ? v->label8[t] : v->label16[t];
        a[k] += g == (int32_t)row->a;
        b[k] += g == (int32_t)row->b;
    }
    for (size_t k = 0; k < v->n_classes; k++) {
        row->distance += .5 * fabs((double)a[k] / row->votes_a - (double)b[k] / row->votes_b);
        if (a[k] > a[row->majority_class_a]) row->majority_class_a = (uint32_t)k;
        if (b[k] > b[row->majority_class_b]) row->majority_class_b = (uint32_t)k;
    }
    return dis__fisher_exact_test(a, b, v->n_classes, &row->p);
}

static dis_status test_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const work *w = arg;
    uint32_t *count;
    DIS_TRY(dis__alloc_array(&count, dis__saturating_size(w->votes->n_classes, 2, 0), sizeof *count));
    dis_status status = DIS_OK;
    const size_t last = dis__job_first(w->n, w->n_jobs, j + 1);
    for (size_t r = dis__job_first(w->n, w->n_jobs, j); status == DIS_OK && r < last; r++)
        status = test_row(w, &w->row[r], count, count + w->votes->n_classes);
    dis__free(count);
    return status;
}

static int more_divided(const void *x, const void *y)
{
    const dis_group_item *a = x, *b = y;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    if (a->distance != b->distance) return a->distance > b->distance ? -1 : 1;
    if (a->item != b->item) return a->item < b->item ? -1 : 1;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

static dis_status correct(const work *w)
{
    double *p;
    DIS_TRY(dis__alloc_array(&p, w->n, sizeof *p));
    for (size_t r = 0; r < w->n; r++) p[r] = w->row[r].p;
    const dis_status status = dis__false_discovery(p, w->n, false, p);
    for (size_t r = 0; status == DIS_OK && r < w->n; r++) w->row[r].q = p[r];
    dis__free(p);
    return status;
}

dis_status dis__group_find_divided_items(dis_context *ctx, const dis_votes_view *votes, const int32_t *group,
                                         size_t n_groups, size_t min_side, dis_group_item **out, size_t *n)
{
    work w = {.votes = votes, .group = group, .n_groups = n_groups, .min_side = min_side};
    w.n = list_rows(&w);
    DIS_TRY(dis__alloc_array(&w.row, w.n, sizeof *w.row));
    list_rows(&w);
    w.n_jobs = dis__n_jobs(w.n, ROWS_A_JOB, MAX_JOBS);
    dis_status status = w.n ? dis__run_jobs(ctx, w.n_jobs, test_job, &w) : DIS_OK;
    if (status == DIS_OK) status = correct(&w);
    if (status != DIS_OK) {
        dis__free(w.row);
        return status;
    }
    if (w.n) qsort(w.row, w.n, sizeof *w.row, more_divided);
    *out = w.row;
    *n = w.n;
    return DIS_OK;
}
