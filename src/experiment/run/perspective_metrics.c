/* Perspectives within a run: every voter of a set is asked by name, and the model's predictions are compared with the
 * votes: wrong or not by the most probable class, steps off by the median, both as means over items of means over their
 * votes, which is how Le-Wi-Di 2025 scores. Cost: a prediction per vote. */
#include "tool/arrays.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "experiment/run/run_examples.h"
#include "tables/labels/label_table.h"
#include <math.h>
#include <string.h>

typedef struct {
    const dis__dataset *m;
    const dis__examples *e;
    dis_votes_view v;
    size_t *class; /* of the votes' classes: which of the data set */
} asking;

static size_t label_of(const asking *a, uint64_t vote)
{
    return a->class[a->v.label8 ? a->v.label8[vote] : a->v.label16[vote]];
}

static dis_status list_pairs(const asking *a, dis__name_list *tasks, dis__name_list *workers)
{
    for (size_t i = 0; i < a->e->n; i++) {
        const size_t row = a->m->vote_row[a->e->task[i]];
        for (uint64_t t = row == SIZE_MAX ? 0 : a->v.start[row]; row != SIZE_MAX && t < a->v.start[row + 1]; t++) {
            size_t n;
            const char *task = dis_names_get(a->m->tasks, a->e->task[i], &n);
            DIS_TRY(dis__name_list_add(tasks, task, n));
            const char *worker = dis_names_get(a->v.workers, a->v.worker[t], &n);
            DIS_TRY(dis__name_list_add(workers, worker, n));
        }
    }
    return DIS_OK;
}

static size_t median_of(const double *q, size_t n)
{
    double sum = 0;
    size_t k = 0;
    while (k + 1 < n && (sum += q[k]) < .5) k++;
    return k;
}

/* q: a row per vote, in the order of list_pairs. */
static void compare(const asking *a, const double *q, size_t k, double *p, dis__perspective *out)
{
    double error = 0, distance = 0, items = 0;
    for (size_t i = 0; i < a->e->n; i++) {
        const size_t task = a->e->task[i], row = a->m->vote_row[task];
        const uint64_t n = row == SIZE_MAX ? 0 : a->v.start[row + 1] - a->v.start[row];
        double wrong = 0, off = 0;
        if (n == 0) continue;
        memset(p + task * k, 0, k * sizeof *p);
        for (uint64_t t = a->v.start[row]; t < a->v.start[row + 1]; t++, q += k) {
            const size_t label = label_of(a, t);
            wrong += dis__argmax(q, k) != label;
            off += fabs((double)median_of(q, k) - (double)label);
            for (size_t c = 0; c < k; c++) p[task * k + c] += q[c] / (double)n;
        }
        error += wrong / (double)n;
        distance += off / (double)n;
        items++;
    }
    out->error = items > 0 ? error / items : (double)NAN;
    out->distance = items > 0 ? distance / items : (double)NAN;
}

static dis_status ask(dis_context *ctx, dis_model *model, asking *a, double *p, dis__perspective *out)
{
    dis__name_list lists[2] = {{0}};
    dis_names *tasks = NULL, *workers = NULL;
    dis_labels *labels = NULL;
    dis_status status = list_pairs(a, &lists[0], &lists[1]);
    if (status == DIS_OK && lists[0].n) {
        status = dis__name_list_move(&lists[0], &tasks);
        if (status == DIS_OK) status = dis__name_list_move(&lists[1], &workers);
        if (status == DIS_OK)
            status = dis_model_predict_workers(ctx, model, a->e->items, tasks, workers, &labels, NULL);
        if (status == DIS_OK) compare(a, dis_labels_get_view(labels).p, dis_names_count(a->m->classes), p, out);
    }
    dis__name_list_free(&lists[0]);
    dis__name_list_free(&lists[1]);
    dis_labels_destroy(labels);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    return status;
}

dis_status dis__ask_voters(dis_context *ctx, dis_model *model, const dis__dataset *m, const dis__examples *e, double *p,
                           dis__perspective *out)
{
    *out = (dis__perspective){NAN, NAN};
    if (!m->votes || !m->vote_row) return DIS_OK;
    asking a = {.m = m, .e = e, .v = dis_votes_get_view(m->votes)};
    size_t found;
    if (!a.v.start) return DIS_OK;
    DIS_TRY(dis__names_match_alloc(m->classes, a.v.classes, &a.class, &found));
    const dis_status status = found < a.v.n_classes
                                  ? dis__fail(DIS_EDATA, "the votes have a class that the data set does not have")
                                  : ask(ctx, model, &a, p, out);
    dis__free(a.class);
    return status;
}
