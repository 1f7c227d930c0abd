/* Pairs judged twice, the two answers in one order and in the other: how often the outcome stays, and whether flips go
 * to the position rather than to the answer.
 *
 * A vote of the second table is turned round (`mirror`) and then compared. Where it differs and the voter chose the
 * answer shown first both times, that is a flip towards the first position; both times the one shown second, towards
 * the second. The exact sign test asks whether one position is preferred. Intervals are Wilson's (1927). Cost:
 * O(votes). */
#include "dissent/panel.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "stats/distributions.h"
#include "dissent/compare.h"
#include "stats/significance.h"
#include <math.h>

#define Z 1.959963984540054

typedef struct {
    dis_votes_view a, b;
    const size_t *mirror;
    size_t first;
    size_t *item, *worker, *class; /* (of b) its item, worker and class in a, SIZE_MAX: none */
    dis_position_bias *row;        /* (a.n_workers) */
} work;

static size_t label_of(const dis_votes_view *v, uint64_t t)
{
    return v->label8 ? v->label8[t] : v->label16[t];
}

static void compare(const work *w, uint32_t worker, size_t label, size_t swapped)
{
    dis_position_bias *row = &w->row[worker];
    const size_t turned = w->mirror ? w->mirror[swapped] : swapped;
    row->n++;
    if (label == turned) {
        row->consistency.value++;
        return;
    }
    if (w->first == SIZE_MAX) return;
    const size_t second = w->mirror ? w->mirror[w->first] : SIZE_MAX;
    row->flips_to_first += label == w->first && swapped == w->first;
    row->flips_to_second += label == second && swapped == second;
}

static void compare_all(const work *w)
{
    for (size_t i = 0; i < w->b.n_items; i++) {
        if (w->item[i] == SIZE_MAX) continue;
        for (uint64_t t = w->b.start[i]; t < w->b.start[i + 1]; t++) {
            const size_t worker = w->worker[w->b.worker[t]], at = w->item[i], k = w->class[label_of(&w->b, t)];
            for (uint64_t u = w->a.start[at]; worker != SIZE_MAX && u < w->a.start[at + 1]; u++)
                if (w->a.worker[u] == worker) compare(w, (uint32_t)worker, label_of(&w->a, u), k);
        }
    }
}

static void finish(dis_position_bias *row)
{
    const double n = (double)row->n, share = row->consistency.value / n;
    row->consistency = (dis_metric){.value = share,
                                    .ci_low = dis__wilson_bound(share, n, Z, -1),
                                    .ci_high = dis__wilson_bound(share, n, Z, 1),
                                    .n = (size_t)row->n,
                                    .has_interval = true};
    row->p =
        row->flips_to_first + row->flips_to_second ? dis__mcnemar_test(row->flips_to_first, row->flips_to_second).p : 1;
}

static dis_status keep_rows(work *w, dis_position_bias **rows, size_t *n)
{
    size_t n_left = 0;
    for (size_t r = 0; r < w->a.n_workers; r++) {
        if (w->row[r].n == 0) continue;
        dis_position_bias row = w->row[r];
        row.worker = (uint32_t)r;
        finish(&row);
        w->row[n_left++] = row;
    }
    if (n_left == 0)
        return dis__fail(DIS_EDATA, "no pair was judged in both orders by the same voter; ids must be the same in both "
                                    "tables");
    *rows = w->row;
    *n = n_left;
    w->row = NULL;
    return DIS_OK;
}

static dis_status match(work *w)
{
    size_t found = 0;
    DIS_TRY(dis__names_match_alloc(w->a.tasks, w->b.tasks, &w->item, NULL));
    DIS_TRY(dis__names_match_alloc(w->a.workers, w->b.workers, &w->worker, NULL));
    DIS_TRY(dis__names_match_alloc(w->a.classes, w->b.classes, &w->class, &found));
    if (found < w->b.n_classes)
        return dis__fail(DIS_EDATA, "the swapped votes have a label that the others lack; declare all with `classes`");
    return dis__alloc_zeroed(&w->row, w->a.n_workers, sizeof *w->row);
}

dis_status dis_position_bias_run(const dis_votes *votes, const dis_votes *swapped, const size_t *mirror, size_t first,
                                 dis_position_bias **rows, size_t *n)
{
    work w = {.a = dis_votes_get_view(votes), .b = dis_votes_get_view(swapped), .mirror = mirror, .first = first};
    if (!w.a.start || !w.b.start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    dis_status status = match(&w);
    if (status == DIS_OK) {
        compare_all(&w);
        status = keep_rows(&w, rows, n);
    }
    dis__free(w.item);
    dis__free(w.worker);
    dis__free(w.class);
    dis__free(w.row);
    return status;
}
