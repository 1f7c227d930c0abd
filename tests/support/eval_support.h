/* eval_support.h: made-up items for tests of evaluation: predictions, people who agree with them a little, gold
 * labels. */
#ifndef DIS_SUPPORT_EVAL_SUPPORT_H
#define DIS_SUPPORT_EVAL_SUPPORT_H
#include "dissent/dissent.h"
#include "core/random/random.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
    size_t n, k;
    double *q, *p;
    int32_t *gold;
} items;

static inline void random_row(uint64_t seed, size_t i, size_t k, double sharp, double *row)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++) sum += row[c] = exp(sharp * dis__random_normal(seed, 1000, i * k + c));
    for (size_t c = 0; c < k; c++) row[c] /= sum;
}

static inline items make(size_t n, size_t k, uint64_t seed)
{
    items x = {.n = n, .k = k};
    x.q = malloc(n * k * sizeof *x.q);
    x.p = malloc(n * k * sizeof *x.p);
    x.gold = malloc(n * sizeof *x.gold);
    for (size_t i = 0; i < n; i++) {
        random_row(seed, i, k, 1.5, x.q + i * k);
        random_row(seed + 1, i, k, 1, x.p + i * k);
        double sum = 0; /* people agree with the model a little */
        for (size_t c = 0; c < k; c++) sum += x.p[i * k + c] *= .2 + x.q[i * k + c];
        for (size_t c = 0; c < k; c++) x.p[i * k + c] /= sum;
        double u = dis__random_uniform(seed + 2, 1000, i);
        x.gold[i] = 0;
        while ((size_t)x.gold[i] + 1 < k && (u -= x.p[i * k + (size_t)x.gold[i]]) > 0) x.gold[i]++;
    }
    return x;
}

static inline void unmake(items *x)
{
    free(x->q);
    free(x->p);
    free(x->gold);
}

static inline dis_evaluation_input input(const items *x)
{
    return (dis_evaluation_input){.size = sizeof(dis_evaluation_input),
                                  .n_items = x->n,
                                  .n_classes = x->k,
                                  .q = x->q,
                                  .human = x->p,
                                  .gold = x->gold};
}

static inline dis_evaluation *run(const dis_evaluation_input *in, const dis_evaluation_options *o)
{
    dis_evaluation *e;
    assert_int_equal(dis_evaluation_run(NULL, in, o, &e), DIS_OK);
    return e;
}

#endif
