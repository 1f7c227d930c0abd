/* Pairs of workers: agreement, Scott's pi and Cohen's kappa on the items that both voted on.
 *
 * With n pairs of votes, of which e agree, and a_k, b_k votes of either worker for class k:
 *
 *   Scott 1955          1 - n (n - e) / (n^2 - sum ((a_k + b_k) / 2)^2)
 *   Cohen 1960          1 - n (n - e) / (n^2 - sum a_k b_k)
 *   Cohen 1968          1 - n sum d / sum_kl a_k b_l d_kl, d = |k - l| (linear) or (k - l)^2 (quadratic), k and l the
 *   positions of the classes
 *
 * All are ratios of integers, counted by agreement_pair_table.h. The sums over k and l come from sums along
 * the classes and from moments.
 *
 * Cost: O(classes) per pair, in addition to the counting. */
#include "agreement/agreement_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

double dis__kappa_compute(double observed, double expected)
{
    return expected > 0 ? 1 - observed / expected : 1;
}

void dis__kappa_compute_chance(const double *a, const double *b, size_t n_classes, double n, double out[DIS_KAPPAS])
{
    double same = 0, parted = 0, a_below = 0, b_below = 0, a_sum = 0, b_sum = 0, squares = 0;
    for (size_t k = 0; k < n_classes; k++) {
        const double place = (double)k;
        same += a[k] * b[k];
        a_below += a[k];
        b_below += b[k];
        parted += a_below * (n - b_below) + b_below * (n - a_below); /* pairs that are divided by the step from k to k +
                                                                      * 1 */
        a_sum += a[k] * place;
        b_sum += b[k] * place;
        squares += (a[k] + b[k]) * place * place;
    }
    out[0] = n * n - same;
    out[1] = parted;
    out[2] = n * squares - 2 * a_sum * b_sum;
}

/* Inputs of the coefficients of a pair: integers and quarters of integers. */
typedef struct {
    double equal, same, both; /* same: sum a_k b_k, both: sum ((a_k + b_k) / 2)^2 */
    double linear, quadratic, chance[DIS_KAPPAS];
} pair_sums;

static void conclude(bool ordered, const pair_sums *s, dis_agreement_pair *out)
{
    const double n = (double)out->n, apart = n * (n - s->equal);
    out->agreement = s->equal / n;
    out->cohen = dis__kappa_compute(apart, n * n - s->same);
    out->scott = dis__kappa_compute(apart, n * n - s->both);
    out->degenerate = n * n - s->same == 0;
    out->cohen_linear = ordered ? dis__kappa_compute(n * s->linear, s->chance[1]) : (double)NAN;
    out->cohen_quadratic = ordered ? dis__kappa_compute(n * s->quadratic, s->chance[2]) : (double)NAN;
}

/* a, b: (n_classes) scratch. */
static void measure(const dis__pair_counts *f, size_t n_classes, bool ordered, double *a, double *b,
                    dis_agreement_pair *out)
{
    pair_sums s = {.equal = (double)*f->equal, .linear = (double)*f->linear, .quadratic = (double)*f->quadratic};
    for (size_t k = 0; k < n_classes; k++) {
        a[k] = (double)f->a[k];
        b[k] = (double)f->b[k];
        s.same += a[k] * b[k];
        s.both += (a[k] + b[k]) * (a[k] + b[k]) / 4;
    }
    if (ordered) dis__kappa_compute_chance(a, b, n_classes, (double)out->n, s.chance);
    conclude(ordered, &s, out);
}

/* The pairs with shared items, in their order. */
static dis_status measure_all(dis_context *ctx, dis__pair_table *t, bool ordered, double *scratch,
                              dis__worker_pairs *out)
{
    const size_t n_classes = t->votes->n_classes;
    size_t x = 0, y = 1;
    for (size_t first = 0; first < t->n_pairs; first = t->last) {
        DIS_TRY(dis__pair_table_count(ctx, t, first));
        for (size_t p = first; p < t->last; p++) {
            const dis__pair_counts f = dis__pair_table_at(t, p);
            dis_agreement_pair *to = &out->pair[out->n];
            *to = (dis_agreement_pair){.a = t->worker[x], .b = t->worker[y], .n = *f.n};
            if (++y == t->n) y = ++x + 1;
            if (!to->n) continue;
            measure(&f, n_classes, ordered, scratch, scratch + n_classes, to);
            out->n++;
        }
    }
    return DIS_OK;
}

dis_status dis__agreement_compute_pairs(dis_context *ctx, dis__pair_table *t, bool ordered, dis__worker_pairs *out)
{
    double *scratch = NULL;
    *out = (dis__worker_pairs){.workers = t->n};
    dis_status status =
        dis__check_memory(ctx, dis__saturating_size(t->n_pairs, sizeof *out->pair, 0), "pairs of workers");
    if (status == DIS_OK) status = dis__alloc_array(&out->pair, t->n_pairs, sizeof *out->pair);
    if (status == DIS_OK)
        status = dis__alloc_array(&scratch, dis__saturating_size(2, t->votes->n_classes, 0), sizeof *scratch);
    if (status == DIS_OK) status = measure_all(ctx, t, ordered, scratch, out);
    dis__free(scratch);
    if (status == DIS_OK) return DIS_OK;
    dis__free(out->pair);
    *out = (dis__worker_pairs){0};
    return status;
}
