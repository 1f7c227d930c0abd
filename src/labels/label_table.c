/* Tables of soft labels: their life, aligning one with another, and what is asked of a single row. */
#include "labels/label_table.h"
#include "core/memory.h"
#include <math.h>

void dis_labels_destroy(dis_labels *labels)
{
    if (!labels) return;
    dis__free(labels->p);
    dis_names_destroy(labels->tasks);
    dis_names_destroy(labels->classes);
    dis__free(labels);
}

dis_labels_view dis_labels_look(const dis_labels *labels)
{
    return (dis_labels_view){.n_items = labels->n_items,
                             .n_classes = labels->n_classes,
                             .p = labels->p,
                             .tasks = labels->tasks,
                             .classes = labels->classes};
}

uint64_t dis_labels_renormalised(const dis_labels *labels)
{
    return labels->renormalised;
}

dis_status dis__labels_check_row(double *p, size_t n_classes, bool renormalise, dis__row_place place,
                                 uint64_t *renormalised)
{
    double sum = 0;
    for (size_t k = 0; k < n_classes; k++) {
        if (!isfinite(p[k]) || p[k] < 0)
            return dis__fail_at(DIS_EDATA, place.file, place.line, 0,
                                "a probability of %g; it must be a finite number from 0 up", p[k]);
        sum += p[k];
    }
    if (fabs(sum - 1) <= DIS_SUM_SLACK) return DIS_OK;
    if (!renormalise)
        return dis__fail_at(DIS_EDATA, place.file, place.line, 0,
                            "probabilities that sum to %.9g, not 1; mend them, or let them be scaled (renormalise)",
                            sum);
    if (!(sum > 0) || !isfinite(sum))
        return dis__fail_at(DIS_EDATA, place.file, place.line, 0, "probabilities that sum to %g: nothing to scale",
                            sum);
    for (size_t k = 0; k < n_classes; k++) p[k] /= sum;
    ++*renormalised;
    return DIS_OK;
}

size_t dis_argmax(const double *p, size_t n_classes)
{
    size_t best = 0;
    for (size_t k = 1; k < n_classes; k++)
        if (p[k] > p[best]) best = k;
    return best;
}

double dis_entropy(const double *p, size_t n_classes)
{
    double h = 0;
    for (size_t k = 0; k < n_classes; k++)
        if (p[k] > 0) h -= p[k] * log(p[k]);
    return h > 0 ? h : 0; /* one class with all the mass, rounded above 1, must not give less than nothing */
}
