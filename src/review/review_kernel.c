/* The votes of an item multiplied up for a draw of its truth: probabilities of wrong votes at each level, odds where a
 * vote is right, shares of mistakes. Only products and quotients, in the order of the votes: every instruction set
 * gives the same bits.
 *
 * Products of an item stay in registers: products() is expanded for each small number of classes, and a vote multiplies
 * by 1 where its odds do not belong. Rows of workers are asked for some votes ahead, so that memory has time to answer.
 */
#include "core/kernel.h"
#include "labels/method.h"
#include "review/review_sampler.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

void DIS_KERNEL(dis__sampler_products)(const dis__sampler *s, size_t i, double *joint, double *mistakes);

enum { LEVELS = DIS_SAMPLER_LEVELS, RESCALE_EVERY = 16, IN_REGISTERS = 8, AHEAD = 8 };

/* Brings the largest number to 1: hundreds of votes would underflow. */
INLINE void rescale(double *joint, double *mistakes, size_t K)
{
    double max = 0;
    for (size_t e = 0; e < LEVELS; e++)
        for (size_t t = 0; t < K; t++) {
            joint[e * K + t] *= mistakes[t];
            max = joint[e * K + t] > max ? joint[e * K + t] : max;
        }
    for (size_t t = 0; t < K; t++) mistakes[t] = 1;
    for (size_t x = 0; x < LEVELS * K && max > 0; x++) joint[x] /= max;
}

INLINE void look_ahead(const dis__sampler *s, uint64_t a, size_t K)
{
    const dis_votes_view *v = &s->m->votes;
    if (a + AHEAD >= v->n_votes) return;
    const size_t w = v->worker[a + AHEAD], n = LEVELS * K;
    __builtin_prefetch(s->wrong + w * n);
    __builtin_prefetch(s->wrong + w * n + n - 1);
    __builtin_prefetch(s->odds + w * n);
    __builtin_prefetch(s->odds + w * n + n - 1);
    __builtin_prefetch(s->mistake + (w * K + dis__vote_label(v, a + AHEAD)) * K);
}

/* K a constant, at most IN_REGISTERS. */
INLINE void products(const dis__sampler *s, size_t i, size_t K, double *joint, double *mistakes)
{
    const dis_votes_view *v = &s->m->votes;
    const size_t n = LEVELS * K;
    double q[LEVELS * IN_REGISTERS], m[IN_REGISTERS];
    size_t since = 0;
    memcpy(q, s->prior, n * sizeof *q);
    for (size_t t = 0; t < K; t++) m[t] = 1;
    for (uint64_t a = v->start[i], end = v->start[i + 1]; a < end; a++) {
        const size_t w = v->worker[a], l = dis__vote_label(v, a);
        const double *wrong = s->wrong + w * n, *odds = s->odds + w * n, *row = s->mistake + (w * K + l) * K;
        look_ahead(s, a, K);
        for (size_t t = 0; t < K; t++) m[t] *= row[t];
        for (size_t x = 0; x < n; x++) {
            const double right = x % K == l ? odds[x] : 1;
            q[x] = q[x] * wrong[x] * right;
        }
        if (++since == RESCALE_EVERY) {
            rescale(q, m, K);
            since = 0;
        }
    }
    rescale(q, m, K);
    memcpy(joint, q, n * sizeof *q);
    memcpy(mistakes, m, K * sizeof *m);
}

static void products_of_many(const dis__sampler *s, size_t i, size_t K, double *joint, double *mistakes)
{
    const dis_votes_view *v = &s->m->votes;
    const size_t n = LEVELS * K;
    size_t since = 0;
    memcpy(joint, s->prior, n * sizeof *joint);
    for (size_t t = 0; t < K; t++) mistakes[t] = 1;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
        const size_t w = v->worker[a], l = dis__vote_label(v, a);
        const double *wrong = s->wrong + w * n, *odds = s->odds + w * n, *row = s->mistake + (w * K + l) * K;
        for (size_t t = 0; t < K; t++) mistakes[t] *= row[t];
        for (size_t x = 0; x < n; x++) joint[x] *= wrong[x];
        for (size_t e = 0; e < LEVELS; e++) joint[e * K + l] *= odds[e * K + l];
        if (++since == RESCALE_EVERY) {
            rescale(joint, mistakes, K);
            since = 0;
        }
    }
    rescale(joint, mistakes, K);
}

void DIS_KERNEL(dis__sampler_products)(const dis__sampler *s, size_t i, double *joint, double *mistakes)
{
    switch (s->K) {
    case 2: products(s, i, 2, joint, mistakes); break;
    case 3: products(s, i, 3, joint, mistakes); break;
    case 4: products(s, i, 4, joint, mistakes); break;
    case 5: products(s, i, 5, joint, mistakes); break;
    default: products_of_many(s, i, s->K, joint, mistakes);
    }
}
