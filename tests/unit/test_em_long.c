/* Items whose product of probabilities no double can hold: dawid-skene against the same rules in plain log space. */
#include "support/em_support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 40, WORKERS = 7, STEPS = 4, MAX_CLASSES = 40 };

#define SMOOTHING .01

static uint64_t state = 0x2545f4914f6cdd1du;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Soft counts of (worker, label, true class), smoothed, to P(label | true); the mean of p and one more item per class
 * is the prior. */
static void maximise(const dis_votes_view *v, const double *p, double *confusion, double *prior)
{
    const size_t K = v->n_classes;
    for (size_t j = 0; j < v->n_workers * K * K; j++) confusion[j] = SMOOTHING;
    for (size_t t = 0; t < K; t++) prior[t] = 1 / (double)(v->n_items + K);
    for (size_t i = 0; i < v->n_items; i++)
        for (size_t t = 0; t < K; t++) {
            prior[t] += p[i * K + t] / (double)(v->n_items + K);
            for (uint64_t j = v->start[i]; j < v->start[i + 1]; j++)
                confusion[(v->worker[j] * K + v->label8[j]) * K + t] += p[i * K + t];
        }
    for (size_t w = 0; w < v->n_workers; w++)
        for (size_t t = 0; t < K; t++) {
            double sum = 0;
            for (size_t l = 0; l < K; l++) sum += confusion[(w * K + l) * K + t];
            for (size_t l = 0; l < K; l++) confusion[(w * K + l) * K + t] /= sum;
        }
}

/* Posteriors; returns the log-likelihood plus the log-prior. */
static double expect(const dis_votes_view *v, const double *confusion, const double *prior, double *p)
{
    const size_t K = v->n_classes;
    long double total = 0;
    for (size_t j = 0; j < v->n_workers * K * K; j++) total += SMOOTHING * logl(confusion[j]);
    for (size_t t = 0; t < K; t++) total += logl(prior[t]);
    for (size_t i = 0; i < v->n_items; i++) {
        long double x[MAX_CLASSES], top = -INFINITY, sum = 0; /* thousands of logarithms add up: more digits */
        for (size_t t = 0; t < K; t++) {
            x[t] = logl(prior[t]);
            for (uint64_t j = v->start[i]; j < v->start[i + 1]; j++)
                x[t] += logl(confusion[(v->worker[j] * K + v->label8[j]) * K + t]);
            top = fmaxl(top, x[t]);
        }
        for (size_t t = 0; t < K; t++) sum += x[t] = expl(x[t] - top);
        for (size_t t = 0; t < K; t++) p[i * K + t] = (double)(x[t] / sum);
        total += top + logl(sum);
    }
    return (double)total;
}

/* A few items have `many` votes, the others 5; workers vote several times. */
static void as_in_log_space(void **unused)
{
    (void)unused;
    static const size_t classes[] = {2, 3, 4, 5, 8, 11, 16, 17, 40}, votes_of[] = {5, 63, 64, 700, 1024, 1025, 3000};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (size_t m = 0; m < sizeof votes_of / sizeof *votes_of; m++) {
            const size_t K = classes[c], max = ITEMS * votes_of[m] + ITEMS * 5;
            uint32_t *task = malloc(max * sizeof *task), *worker = malloc(max * sizeof *worker);
            uint16_t *label = malloc(max * sizeof *label);
            double *p = calloc(ITEMS * K, sizeof *p), *confusion = calloc(WORKERS * K * K, sizeof *confusion),
                   *prior = calloc(K, sizeof *prior), objective = 0;
            size_t n = 0;
            for (size_t i = 0; i < ITEMS; i++)
                for (size_t j = 0; j < (i % 8 == 3 ? votes_of[m] : 5); j++, n++) {
                    task[n] = (uint32_t)i;
                    worker[n] = (uint32_t)(next_random() % WORKERS);
                    label[n] = (uint16_t)(next_random() % 10 < 4 ? i % K : next_random() % K);
                }
            dis_votes *votes = em_make_votes(n, task, worker, label, ITEMS, WORKERS, K);
            const dis_votes_view v = dis_votes_get_view(votes);
            for (size_t i = 0; i < ITEMS; i++)
                for (uint64_t j = v.start[i]; j < v.start[i + 1]; j++)
                    p[i * K + v.label8[j]] += 1 / (double)(v.start[i + 1] - v.start[i]);
            dis_fit *fit = em_fit(NULL, votes,
                                  "dawid-skene:iterations=4,tolerance=0,smoothing=.01,diagonal=0,prior-count=1", NULL);
            for (int s = 0; s < STEPS; s++) {
                maximise(&v, p, confusion, prior);
                objective = expect(&v, confusion, prior, p);
            }
            const double found = dis_fit_get_view(fit).objective, *q = dis_fit_p(fit);
            double worst = 0;
            for (size_t i = 0; i < ITEMS * K; i++) worst = fmax(worst, fabs(p[i] - q[i]));
            if (!(worst < 1e-11) || !(fabs(found - objective) <= 1e-12 * fabs(objective)))
                fail_msg("K %zu, %zu votes: posteriors differ by %g, objectives %.17g and %.17g", K, votes_of[m], worst,
                         found, objective);
            dis_fit_destroy(fit);
            dis_votes_destroy(votes);
            free(task);
            free(worker);
            free(label);
            free(p);
            free(confusion);
            free(prior);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_in_log_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
