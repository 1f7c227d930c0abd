/* Are the items with votes of people similar to the others, judged by the answers of the judges?
 *
 * Estimates from labelled items hold for all items if the labelled items are a random sample. Compared are the mean
 * over items of the share of judges that answer each class, and of the share of pairs of judges that agree (hard items
 * have fewer), by Welch's test with normal tails; the smallest p-value times the number of tests (Bonferroni). Cost:
 * O(items x judges x classes). */
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/erfc.h"
#include "stats/distributions.h"
#include <math.h>

#define LEVEL .01

typedef struct {
    double n, sum, squares;
} moments;

static void add(moments *m, double x)
{
    m->n++;
    m->sum += x;
    m->squares += x * x;
}

/* Two-sided p that two means are equal; NaN: cannot be tested. */
static double test(const moments *a, const moments *b)
{
    if (a->n < DIS_PANEL_MIN_ITEMS || b->n < DIS_PANEL_MIN_ITEMS) return NAN;
    const double x = a->sum / a->n, y = b->sum / b->n;
    const double variance =
        fmax(0, a->squares / a->n - x * x) / (a->n - 1) + fmax(0, b->squares / b->n - y * y) / (b->n - 1);
    if (!(variance > 0)) return NAN;
    return dis__erfc(fabs(x - y) / sqrt(2 * variance));
}

/* Shares of the classes among the judges' answers to an item, and then the share of pairs that agree, if any. */
static size_t scores_of(const dis__panel_data *d, size_t i, double *score)
{
    const size_t n = d->votes->n_classes;
    double votes = 0, same = 0;
    for (size_t k = 0; k <= n; k++) score[k] = 0;
    for (size_t j = 0; j < d->n_judges; j++) {
        const int32_t answer = d->answer[j * d->votes->n_items + i];
        if (answer < 0) continue;
        same += score[answer]++;
        votes++;
    }
    for (size_t k = 0; k < n && votes > 0; k++) score[k] /= votes;
    if (votes > 1) score[n] = 2 * same / (votes * (votes - 1));
    return votes == 0 ? 0 : votes > 1 ? n + 1 : n;
}

static void compare(const dis__panel_data *d, double *score, moments *m, dis_panel_view *view)
{
    const size_t n = d->votes->n_classes;
    double tests = 0, smallest = 1;
    for (size_t i = 0; i < d->votes->n_items; i++) {
        const size_t known = scores_of(d, i, score);
        for (size_t s = 0; s < known; s++) add(&m[2 * s + (d->n_votes[i] > 0)], score[s]);
    }
    for (size_t s = n == 2 ? 1 : 0; s <= n; s++) { /* with two classes, one share determines the other */
        const double p = test(&m[2 * s], &m[2 * s + 1]);
        if (isnan(p)) continue;
        tests++;
        smallest = fmin(smallest, p);
    }
    view->p_labelled = tests > 0 ? fmin(1, tests * smallest) : (double)NAN;
    view->labelled_items_differ = view->p_labelled < LEVEL;
}

dis_status dis__panel_test_labelled(const dis__panel_data *d, dis_panel_view *view)
{
    const size_t n = d->votes->n_classes + 1;
    double *score;
    moments *m = NULL;
    DIS_TRY(dis__alloc_array(&score, n, sizeof *score));
    const dis_status status = dis__alloc_zeroed(&m, 2 * n, sizeof *m);
    if (status == DIS_OK) compare(d, score, m, view);
    dis__free(score);
    dis__free(m);
    return status;
}
