/* Warnings about a fit.
 *
 *   - iterations ended before the objective converged (not with tolerance=0, which requests that);
 *   - a class has the most votes on at least 2 % of the items, and on at least 10, but gets less than a tenth as many
 *     labels: the model has merged it into another class;
 *   - on at least 1 % of the items, and on at least 3, the label is a class without votes on the item.
 *
 * Only methods with workers can cause the last two; items without votes and items with gold labels do not count. The
 * bounds are chosen so that the methods' defaults give no warning on most real crowds (docs/evidence/methods.md).
 *
 * Cost: one pass over the votes, which a device that computed the labels runs too. */
#include "labels/method.h"
#include "core/parallel/comm.h"
#include "dissent/labels.h"
#include "tool/arrays.h"
#include <stdio.h>
#include <string.h>

enum { MIN_ITEMS = 10, MIN_UNVOTED = 3, MAX_JOBS = 64, QUICK_CLASSES = 8, QUICK_VOTES = 255 };
static const double few_labels = .1, much_voted = .02, unvoted_share = .01;

typedef struct {
    const dis__fit_args *args;
    const double *p;
    size_t n_jobs, width;
    uint64_t *count; /* (n_jobs, width), of which 3 K + 2 are used: items where a class has most votes, where it is the
                 * label; scratch; all items, items whose label has no votes */
} check_work;

static void check_item(const check_work *w, size_t i, uint64_t *count)
{
    const dis_votes_view *v = &w->args->votes;
    const size_t K = v->n_classes;
    const uint64_t begin = v->start[i], end = v->start[i + 1];
    uint64_t *of = count + 2 * K;
    if (begin == end || dis__item_gold(w->args, i) >= 0) return;
    for (uint64_t n = begin; n < end; n++) of[dis__vote_label(v, n)] = 0;
    const size_t label = dis__argmax(w->p + i * K, K);
    bool voted = false;
    for (uint64_t n = begin; n < end; n++) of[dis__vote_label(v, n)]++;
    size_t max = dis__vote_label(v, begin);
    for (uint64_t n = begin; n < end; n++) {
        const size_t l = dis__vote_label(v, n);
        voted |= l == label;
        if (of[l] > of[max] || (of[l] == of[max] && l < max)) max = l;
    }
    count[max]++;
    count[K + label]++;
    count[3 * K]++;
    count[3 * K + 1] += !voted;
}

/* The votes of an item with few classes, in one word: a count per class, of 8 bits. */
static uint64_t counts_of(const dis_votes_view *v, uint64_t begin, uint64_t end)
{
    uint64_t counts = 0;
    for (uint64_t n = begin; n < end; n++) counts += 1ull << 8 * v->label8[n];
    return counts;
}

/* The same as check_item() for at most 8 classes and 255 votes, without data-dependent branches. */
static void check_small_item(const check_work *w, size_t i, uint64_t *count)
{
    const dis_votes_view *v = &w->args->votes;
    const size_t K = v->n_classes;
    const uint64_t counts = counts_of(v, v->start[i], v->start[i + 1]);
    const double *p = w->p + i * K;
    size_t label = 0, max = 0;
    for (size_t k = 1; k < K; k++) label = p[k] > p[label] ? k : label;
    for (size_t k = 1; k < K; k++) max = (counts >> 8 * k & 255) > (counts >> 8 * max & 255) ? k : max;
    count[max]++;
    count[K + label]++;
    count[3 * K]++;
    count[3 * K + 1] += (counts >> 8 * label & 255) == 0;
}

static dis_status check_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const check_work *w = arg;
    const dis_votes_view *v = &w->args->votes;
    uint64_t *count = w->count + j * w->width;
    const size_t last = dis__job_first(v->n_items, w->n_jobs, j + 1);
    const uint64_t few = v->label8 && v->n_classes <= QUICK_CLASSES && !w->args->gold ? QUICK_VOTES : 0;
    for (size_t i = dis__job_first(v->n_items, w->n_jobs, j); i < last; i++)
        if (v->start[i + 1] - v->start[i] - 1 < few)
            check_small_item(w, i, count);
        else
            check_item(w, i, count);
    return DIS_OK;
}

static char *next_warning(dis_fit *fit)
{
    return fit->warning[fit->n_warnings++];
}

/* The class with the fewest labels relative to the items on which it has most votes. */
static void judge_classes(const dis_votes_view *v, const uint64_t *max, const uint64_t *label, double n_items,
                          dis_fit *fit)
{
    size_t worst = SIZE_MAX, n = 0;
    for (size_t k = 0; k < v->n_classes; k++) {
        const double voted = (double)max[k];
        if (voted < MIN_ITEMS || voted < much_voted * n_items || (double)label[k] >= few_labels * voted) continue;
        n++;
        if (worst == SIZE_MAX || max[k] - label[k] > max[worst] - label[worst]) worst = k;
    }
    if (n == 0) return;
    char more[40] = "";
    if (n > 1) snprintf(more, sizeof more, " (%zu more likewise)", n - 1);
    snprintf(next_warning(fit), DIS_WARNING_SIZE,
             "\"%.40s\" has the most votes on %llu items but is the label of %llu%s",
             dis_names_get(v->classes, worst, NULL), (unsigned long long)max[worst], (unsigned long long)label[worst],
             more);
}

static void judge(const dis_votes_view *v, const uint64_t *max, const uint64_t *label, const uint64_t *all,
                  dis_fit *fit)
{
    const double n_items = (double)all[0], unvoted = (double)all[1];
    judge_classes(v, max, label, n_items, fit);
    if (unvoted >= MIN_UNVOTED && unvoted >= unvoted_share * n_items)
        snprintf(next_warning(fit), DIS_WARNING_SIZE,
                 "on %.0f of %.0f items (%.1f %%) the label is a class without a vote on that item", unvoted, n_items,
                 100 * unvoted / n_items);
}

static dis_status judge_labels(const dis__fit_args *args, dis_fit *fit)
{
    const dis_votes_view *v = &args->votes;
    const size_t K = v->n_classes, size = 3 * K + 2;
    check_work w = {.args = args,
                    .p = fit->p,
                    .n_jobs = dis__n_jobs(v->n_votes, 100000 + 8 * K, MAX_JOBS),
                    .width = (size / 8 + 2) * 8}; /* no cache line is written by two threads */
    DIS_TRY(dis__alloc_zeroed(&w.count, dis__saturating_size(w.n_jobs, w.width, 0), sizeof *w.count));
    dis_status status = dis__run_jobs(args->ctx, w.n_jobs, check_job, &w);
    for (size_t j = 1; j < w.n_jobs; j++)
        for (size_t i = 0; i < size; i++) w.count[i] += w.count[j * w.width + i];
    if (status == DIS_OK) status = dis__comm_sum_counts(dis__context_comm(args->ctx), w.count, size);
    if (status == DIS_OK) judge(v, w.count, w.count + K, w.count + 3 * K, fit);
    dis__free(w.count);
    return status;
}

/* The option tolerance of the method; 0 without one. */
static double tolerance_of(const dis__fit_args *args, const dis_fit *fit)
{
    const dis_method *m = &fit->method->info;
    for (size_t i = 0; i < m->n_options; i++)
        if (strcmp(m->options[i].key, "tolerance") == 0)
            return *(const double *)((const char *)args->options + m->options[i].offset);
    return 0;
}

dis_status dis__fit_add_warnings(const dis__fit_args *args, dis_fit *fit)
{
    fit->n_warnings = 0;
    if (!fit->converged && fit->iterations > 0 && tolerance_of(args, fit) > 0)
        snprintf(next_warning(fit), DIS_WARNING_SIZE,
                 "did not converge in %d iterations; allow more (iterations=N), or a larger tolerance (tolerance=X)",
                 fit->iterations);
    if (*fit->ran_on_cpu) snprintf(next_warning(fit), DIS_WARNING_SIZE, "%s", fit->ran_on_cpu);
    if (fit->strength_assumed)
        snprintf(next_warning(fit), DIS_WARNING_SIZE,
                 "strength %g was assumed: estimating it needs items with two or more votes, counted in whole numbers",
                 fit->strength);
    if (!fit->method->info.needs_workers) return DIS_OK;
    if (!fit->counted) return judge_labels(args, fit);
    judge(&args->votes, fit->counts, fit->counts + fit->n_classes, fit->counts + 2 * fit->n_classes, fit);
    return DIS_OK;
}

const char *dis_fit_get_warning(const dis_fit *fit, size_t i)
{
    return i < fit->n_warnings ? fit->warning[i] : NULL;
}
