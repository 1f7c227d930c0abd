/* Confusion matrices from expected counts, and their initial values. Cost: O(n_workers * K * K) per update. */
#include "core/numbers/elementary.h"
#include "labels/em/confusion.h"
#include <math.h>
#include <string.h>

dis_status dis__confusion_create(dis__confusion *c, const dis__fit_args *args, dis_fit *fit)
{
    DIS_TRY(dis__fit_add_parameter(fit, "confusion", "wvt", &c->confusion));
    DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &c->prior));
    return dis__em_create(args, fit, DIS_EM_ROWS, 1, &c->em);
}

size_t dis__confusion_memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    return dis__saturating_size(dis__saturating_size(votes->n_workers, votes->n_classes, 0),
                                votes->n_classes * sizeof(double), dis__em_memory(votes, DIS_EM_ROWS, 1));
}

/* Normalises expected counts x (K, row) of one worker to P(label
 * true). Called with constants for the usual K, so that the inner loops are unrolled. */
static inline __attribute__((always_inline)) void normalise_rows(const dis__confusion *c, size_t K, size_t row,
                                                                 double *restrict x, double *restrict scratch)
{
    double *total = scratch, *used = scratch + row; /* (K) each */
    size_t n_used = 0;
    memset(total, 0, row * sizeof *total);
    for (size_t l = 0; l < K; l++) {
        double *count = x + l * row, sum = 0;
        for (size_t t = 0; t < K; t++) sum += count[t];
        used[l] = sum > 0;
        n_used += sum > 0;
        if (c->smoothing > 0)
            for (size_t t = 0; t < K; t++) count[t] += c->smoothing;
        count[l] += c->diagonal;
        if (c->floor > 0 && sum > 0)
            for (size_t t = 0; t < K; t++) count[t] = count[t] > c->floor ? count[t] : c->floor;
        for (size_t t = 0; t < row; t++) total[t] += count[t];
    }
    for (size_t t = K; t < row; t++) total[t] = 1;
    for (size_t l = 0; l < K; l++)
        for (size_t t = 0; t < row; t++) x[l * row + t] /= total[t];
    for (size_t t = 0; t < K; t++)
        for (size_t l = 0; !(total[t] > 0) && l < K; l++)
            x[l * row + t] = n_used ? used[l] / (double)n_used : 1 / (double)K;
}

static void normalise(const dis__confusion *c, double *x, double *scratch)
{
    switch (c->em.n_classes) {
    case 2: normalise_rows(c, 2, 2, x, scratch); break;
    case 3: normalise_rows(c, 3, 4, x, scratch); break;
    case 4: normalise_rows(c, 4, 4, x, scratch); break;
    default: normalise_rows(c, c->em.n_classes, c->em.row, x, scratch);
    }
}

double dis__confusion_update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    dis__confusion *c = arg;
    const size_t K = c->em.n_classes, row = c->em.row;
    double *confusion = c->confusion + w * K * K;
    if (c->warm)
        for (size_t l = 0; l < K; l++) memcpy(x + l * row, confusion + l * K, K * sizeof *x);
    else
        normalise(c, x, scratch);
    if (keep)
        for (size_t l = 0; l < K; l++) memcpy(confusion + l * K, x + l * row, K * sizeof *x);
    if (!(c->smoothing > 0 || c->diagonal > 0)) return 0;
    memcpy(scratch, x, K * row * sizeof *x);
    c->em.special.log(scratch, K * row);
    double cells = 0, diagonal = 0;
    for (size_t l = 0; l < K; l++) {
        double line = 0; /* separate rows, so that their sums are independent */
        for (size_t t = 0; c->smoothing > 0 && t < K; t++) line += scratch[l * row + t];
        cells += line;
        if (c->diagonal > 0) diagonal += scratch[l * row + l];
    }
    return c->smoothing * cells + c->diagonal * diagonal;
}

double dis__confusion_update_prior(void *arg, const double *sum, size_t n_items, double *out, bool keep)
{
    dis__confusion *c = arg;
    const size_t K = c->em.n_classes;
    double penalty = 0;
    for (size_t k = 0; k < K; k++) {
        double prior = 1 / (double)K;
        if (c->warm)
            prior = c->prior[k];
        else if (!c->uniform_prior && n_items)
            prior = (sum[k] + c->prior_count) / ((double)n_items + (double)K * c->prior_count);
        if (keep) c->prior[k] = prior;
        out[k] = prior > c->floor ? prior : c->floor;
        if (c->prior_count > 0 && !c->uniform_prior) penalty += c->prior_count * dis__log(out[k]);
    }
    return penalty;
}

/* Parameters of an earlier fit as a starting point. Estimates without a prior have exact zeros if a worker had few
 * votes, which EM cannot change. So each column of worker w counts as n_votes[w] / K votes, plus `soften` votes spread
 * over all labels. */
static void soften(dis__confusion *c, const double *n_votes)
{
    const size_t K = c->em.n_classes, n_workers = c->em.args->votes.n_workers;
    const double even = 1 / (double)K;
    for (size_t w = 0; w < n_workers; w++)
        for (size_t t = 0; t < K; t++) {
            double *x = c->confusion + w * K * K + t, sum = 0;
            const double share = n_votes[w] / (n_votes[w] + c->soften * (double)K);
            for (size_t l = 0; l < K; l++) sum += x[l * K];
            for (size_t l = 0; l < K; l++) x[l * K] = share * (sum > 0 ? x[l * K] / sum : even) + (1 - share) * even;
        }
    const double n_items = (double)c->em.args->part.n_items, share = n_items / (n_items + c->soften);
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += c->prior[k];
    for (size_t k = 0; k < K; k++) c->prior[k] = share * (sum > 0 ? c->prior[k] / sum : even) + (1 - share) * even;
}

static dis_status read_state(dis__confusion *c, const char *method, bool *found)
{
    const dis__fit_args *args = c->em.args;
    const size_t K = c->em.n_classes;
    for (size_t i = 0; i < args->votes.n_workers * K * K; i++)
        c->confusion[i] = i / K % K == i % K ? (K > 1 ? .7 : 1) : .3 / (double)(K - 1);
    for (size_t k = 0; k < K; k++) c->prior[k] = 1 / (double)K;
    bool prior;
    DIS_TRY(dis__state_get(args->start, method, "confusion", "wvt", &args->votes, c->confusion, found));
    return dis__state_get(args->start, method, "prior", "t", &args->votes, c->prior, &prior);
}

static dis_status start_warm(dis__confusion *c, const dis__em_rules *rules)
{
    double *n_votes;
    DIS_TRY(dis__alloc_zeroed(&n_votes, c->em.args->votes.n_workers, sizeof *n_votes));
    dis_status status = dis__em_count_votes(c->em.args, n_votes);
    if (status == DIS_OK) soften(c, n_votes);
    dis__free(n_votes);
    c->warm = true;
    if (status == DIS_OK) status = dis__em_update(&c->em, rules, false);
    c->warm = false;
    return status;
}

dis_status dis__confusion_init(dis__confusion *c, const dis__em_rules *rules, const char *method, bool only)
{
    bool warm = false;
    if (c->em.args->start) DIS_TRY(read_state(c, method, &warm));
    if (warm) DIS_TRY(start_warm(c, rules));
    DIS_TRY(dis__em_pass(&c->em, warm ? DIS_EM_SOFT : DIS_EM_SHARES, true, only));
    return dis__em_update(&c->em, rules, only);
}
