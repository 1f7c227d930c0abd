/* Metrics of single items whose labels are sets of classes: each class is a question with two answers, yes and no, and
 * the value of an item is the mean over its classes. So cross-entropy is that of independent classes, divided by their
 * number. soft_jaccard is sum min(p, q) / sum max(p, q) over the classes, 1 if both are 0. */
#include "evaluate/evaluation_internal.h"
#include "tool/arrays.h"
#include <math.h>

size_t dis__set_metrics_scratch(size_t n_classes)
{
    return (DIS_ITEM_COLUMNS + 5) * n_classes;
}

static void put_answers(const double *p, size_t n_classes, double *rows)
{
    for (size_t k = 0; k < n_classes; k++) {
        rows[2 * k] = 1 - p[k];
        rows[2 * k + 1] = p[k];
    }
}

static double jaccard(const double *p, const double *q, size_t n_classes)
{
    double both = 0, any = 0;
    for (size_t k = 0; k < n_classes; k++) {
        both += fmin(p[k], q[k]);
        any += fmax(p[k], q[k]);
    }
    return any > 0 ? both / any : 1;
}

void dis__set_metrics(const dis__item_args *args, size_t first, size_t n, double *const column[DIS_ITEM_COLUMNS],
                      int32_t *predicted, dis__item_count_votes *counts, double *scratch)
{
    const size_t K = args->n_classes;
    double *q = scratch, *human = q + 2 * K, *of_class[DIS_ITEM_COLUMNS];
    int32_t *answer = (int32_t *)(human + 2 * K);
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) of_class[c] = human + 3 * K + c * K;
    const dis__item_args answers = {.n_classes = 2, .top_k = 1, .q = q, .human = args->human ? human : NULL};
    for (size_t i = 0; i < n; i++) {
        const double *row = args->q + (first + i) * K, *people = args->human ? args->human + (first + i) * K : NULL;
        put_answers(row, K, q);
        if (people) put_answers(people, K, human);
        DIS_KERNEL_SELECT(dis__item_metrics)(&answers, 0, K, of_class, answer, counts);
        for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) {
            double sum = 0;
            if (dis__item_columns[c].needs & DIS_NEEDS_GOLD ||
                (dis__item_columns[c].needs & DIS_NEEDS_HUMAN && !people))
                continue;
            for (size_t k = 0; k < K; k++) sum += of_class[c][k];
            column[c][i] = sum / (double)K;
        }
        if (people) column[DIS_ITEM_SOFT_JACCARD][i] = jaccard(people, row, K);
        predicted[i] = (int32_t)dis__argmax(row, K);
    }
}
