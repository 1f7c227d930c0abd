/* A table of predictions brought into the order of a table of votes, by the names of items and classes. Cost:
 * linear. */
#include "dissent/predictions.h"
#include "core/parallel/comm.h"
#include "core/error.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"

static dis_status lacks(const char *who, const char *name, const char *remedy)
{
    return dis__fail(DIS_EDATA, "%s the class \"%.200s\"; %s", who, name, remedy);
}

/* column[k]: where the predictions keep class k of the votes. */
static dis_status match_classes(const dis_names *from, const dis_names *to, size_t *column)
{
    for (size_t k = 0; k < dis_names_count(to); k++) {
        size_t n;
        const char *name = dis_names_get(to, k, &n);
        column[k] = dis_names_find(from, name, n);
        if (column[k] == SIZE_MAX)
            return lacks("the predictions lack", name, "train the model with all classes of the votes (`classes`)");
    }
    for (size_t k = 0; k < dis_names_count(from) && dis_names_count(from) > dis_names_count(to); k++) {
        size_t n;
        const char *name = dis_names_get(from, k, &n);
        if (dis_names_find(to, name, n) == SIZE_MAX)
            return lacks("no vote is for", name,
                         "the predictions have it: declare all classes of the votes (`classes`)");
    }
    return DIS_OK;
}

static void fill(const dis_labels_view *labels, const size_t *from, const dis_votes_view *v, const size_t *column,
                 double *p, dis_predictions_counts *counts)
{
    for (size_t i = 0; i < v->n_items; i++) {
        for (size_t k = 0; k < v->n_classes; k++)
            p[i * v->n_classes + k] = from[i] == SIZE_MAX ? 0 : labels->p[from[i] * v->n_classes + column[k]];
        counts->n_matched += from[i] != SIZE_MAX;
        counts->n_missing += from[i] == SIZE_MAX;
    }
}

/* Of all ranks, each of which has other items. */
static dis_status sum_counts(const dis__comm *comm, const dis_labels_view *labels, dis_predictions_counts *counts)
{
    uint64_t n[] = {counts->n_matched, counts->n_missing};
    DIS_TRY(dis__comm_sum_counts(comm, n, sizeof n / sizeof *n));
    counts->n_matched = (size_t)n[0];
    counts->n_missing = (size_t)n[1];
    counts->n_without_votes = labels->n_items - counts->n_matched;
    return DIS_OK;
}

dis_status dis_predictions_align(dis_context *ctx, const dis_labels_view *given, const dis_votes *votes, double **p,
                                 dis_predictions_counts *counts)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_labels_view own = dis_labels_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_view, &own, given));
    const dis_labels_view *labels = &own;
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_predictions_counts found = {0};
    const dis__comm *comm = dis__context_comm(ctx);
    size_t *column = NULL, *row = NULL;
    double *out = NULL;
    dis_status status = dis__check_stop(ctx);
    if (status == DIS_OK) status = dis__alloc_array(&column, v.n_classes, sizeof *column);
    if (status == DIS_OK) status = match_classes(labels->classes, v.classes, column);
    if (status == DIS_OK) status = dis__alloc_array(&out, dis__saturating_size(v.n_items, v.n_classes, 0), sizeof *out);
    if (status == DIS_OK) status = dis__names_match_alloc(labels->tasks, v.tasks, &row, NULL);
    status = dis__comm_first_failure(comm, status);
    if (status == DIS_OK) {
        fill(labels, row, &v, column, out, &found);
        status = sum_counts(comm, labels, &found);
    }
    if (status == DIS_OK) {
        if (found.n_matched == 0)
            status = dis__fail(DIS_EDATA,
                               "no task of the votes is among the %zu of the predictions; they are matched by "
                               "name",
                               labels->n_items);
    }
    dis__free(column);
    dis__free(row);
    if (status != DIS_OK) {
        dis__free(out);
        return status;
    }
    *p = out;
    *counts = found;
    return DIS_OK;
}
