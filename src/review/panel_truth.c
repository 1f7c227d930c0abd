/* The answer that most people would give to each item, estimated from people's votes alone.
 *
 * People vote independently given this answer T, with one confusion matrix for all (Dawid and Skene 1979, pooled); EM
 * on counts of votes, the matrix smoothed by PRIOR votes per class towards one accuracy for all classes. The posterior
 * q is not T: judges and people both err, and q counts errors of people as errors of judges. Therefore it is decoded:
 * with M(j, k) = sum_i q_ij q_ik / sum_i q_ij, the expectation of q_k when T = j, the values s = q M^-1 have
 * expectation 1 for T and 0 for other classes. The mean over items of a function of (T, judges) is then estimated
 * without bias by the sum over k of s_k times the function at k (Natarajan et al. 2013, learning from noisy labels).
 *
 * Clarity is (sum_k pi_k M_kk - sum_k pi_k^2) / (1 - sum_k pi_k^2): 1 when people's votes identify T, 0 when they are
 * noise. Items with equal counts are one pattern, so that EM costs O(patterns x classes^2) per iteration. */
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

enum { ITERATIONS = 300 };
#define PRIOR 10.
#define TINY  1e-9

/* ---- patterns ---- */

static uint64_t hash_counts(const uint32_t *count, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t k = 0; k < n; k++) {
        h = (h ^ count[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* The pattern of an item; a new one is written to t->count. */
static uint32_t find_pattern(dis__panel_truth *t, uint32_t *slot, size_t mask, const uint32_t *count)
{
    const size_t n = t->n_classes;
    for (size_t at = hash_counts(count, n) & mask;; at = (at + 1) & mask) {
        if (slot[at] == UINT32_MAX) {
            slot[at] = (uint32_t)t->n_patterns;
            memcpy(t->count + t->n_patterns++ * n, count, n * sizeof *count);
        }
        if (memcmp(t->count + slot[at] * n, count, n * sizeof *count) == 0) return slot[at];
    }
}

static dis_status find_patterns(const dis__panel_data *d, dis__panel_truth *t)
{
    const size_t n_items = d->votes->n_items, n = t->n_classes;
    size_t room = 16;
    uint32_t *slot;
    while (room < 2 * n_items) room *= 2;
    DIS_TRY(dis__alloc_array(&slot, room, sizeof *slot));
    memset(slot, 0xff, room * sizeof *slot);
    for (size_t i = 0; i < n_items; i++) {
        t->group[i] = (uint8_t)dis__random_below(d->o->seed, DIS_STREAM_PANEL | (uint64_t)1 << 32, i, DIS_PANEL_GROUPS);
        t->pattern[i] = d->n_votes[i] ? find_pattern(t, slot, room - 1, d->people + i * n) : UINT32_MAX;
        if (d->n_votes[i]) t->weight[t->pattern[i] * DIS_PANEL_GROUPS + t->group[i]]++;
    }
    dis__free(slot);
    return DIS_OK;
}

void dis__panel_truth_destroy(dis__panel_truth *t)
{
    dis__free(t->pattern);
    dis__free(t->count);
    dis__free(t->weight);
    dis__free(t->group);
    dis__free(t->posterior);
    dis__free(t->matrix);
    dis__free(t->prior);
}

static dis_status create(const dis__panel_data *d, dis__panel_truth *t)
{
    const size_t n_items = d->votes->n_items, n = t->n_classes;
    DIS_TRY(dis__alloc_array(&t->pattern, n_items, sizeof *t->pattern));
    DIS_TRY(dis__alloc_array(&t->group, n_items, sizeof *t->group));
    DIS_TRY(dis__alloc_array(&t->count, dis__saturating_size(n_items, n, 0), sizeof *t->count));
    DIS_TRY(dis__alloc_zeroed(&t->weight, dis__saturating_size(n_items, DIS_PANEL_GROUPS, 0), sizeof *t->weight));
    DIS_TRY(dis__alloc_array(&t->matrix, n * n, sizeof *t->matrix));
    DIS_TRY(dis__alloc_array(&t->prior, n, sizeof *t->prior));
    DIS_TRY(find_patterns(d, t));
    return dis__alloc_array(&t->posterior, dis__saturating_size(t->n_patterns, n, 0), sizeof *t->posterior);
}

dis_status dis__panel_truth_create(const dis__panel_data *d, dis__panel_truth *t)
{
    *t = (dis__panel_truth){.n_classes = d->votes->n_classes};
    const dis_status status = create(d, t);
    if (status != DIS_OK) dis__panel_truth_destroy(t);
    return status;
}

/* ---- EM ---- */

static double weight_of(const dis__panel_truth *t, size_t p, size_t without)
{
    double sum = 0;
    for (size_t g = 0; g < DIS_PANEL_GROUPS; g++) sum += g == without ? 0 : t->weight[p * DIS_PANEL_GROUPS + g];
    return sum;
}

/* Confusion matrix and prior from a posterior. */
static void maximize(const dis__panel_truth *t, size_t without, const double *q, double *matrix, double *prior)
{
    const size_t n = t->n_classes;
    double all = 0, right = 0;
    for (size_t x = 0; x < n * n; x++) matrix[x] = 0;
    for (size_t k = 0; k < n; k++) prior[k] = 1 / (double)n;
    for (size_t p = 0; p < t->n_patterns; p++) {
        const double w = weight_of(t, p, without);
        for (size_t k = 0; k < n; k++) {
            const double share = w * q[p * n + k];
            prior[k] += share;
            for (size_t c = 0; share > 0 && c < n; c++) matrix[k * n + c] += share * t->count[p * n + c];
        }
    }
    double total = 0;
    for (size_t k = 0; k < n; k++) {
        total += prior[k];
        right += matrix[k * n + k];
        for (size_t c = 0; c < n; c++) all += matrix[k * n + c];
    }
    const double accuracy = all > 0 ? right / all : 1 / (double)n, other = (1 - accuracy) / (double)(n - 1);
    for (size_t k = 0; k < n; k++) {
        double row = 0;
        prior[k] /= total;
        for (size_t c = 0; c < n; c++) row += matrix[k * n + c] += PRIOR * (c == k ? accuracy : other);
        for (size_t c = 0; c < n; c++) matrix[k * n + c] = fmax(TINY, matrix[k * n + c] / row);
    }
}

/* Posterior of a pattern; returns the largest change. */
static double expect(const dis__panel_truth *t, size_t p, const double *matrix, const double *prior, double *q)
{
    const size_t n = t->n_classes;
    double log_q[DIS_PANEL_MAX_CLASSES], top = -INFINITY, sum = 0, change = 0;
    for (size_t k = 0; k < n; k++) {
        log_q[k] = dis__log(prior[k]);
        for (size_t c = 0; c < n; c++)
            if (t->count[p * n + c]) log_q[k] += t->count[p * n + c] * dis__log(matrix[k * n + c]);
        top = fmax(top, log_q[k]);
    }
    for (size_t k = 0; k < n; k++) sum += log_q[k] = dis__exp(log_q[k] - top);
    for (size_t k = 0; k < n; k++) {
        change = fmax(change, fabs(log_q[k] / sum - q[k]));
        q[k] = log_q[k] / sum;
    }
    return change;
}

static void iterate(const dis__panel_truth *t, size_t without, double *q, double *matrix, double *prior)
{
    double change = 1;
    for (int step = 0; step < ITERATIONS && change > 1e-6; step++) {
        change = 0;
        maximize(t, without, q, matrix, prior);
        for (size_t p = 0; p < t->n_patterns; p++)
            change = fmax(change, expect(t, p, matrix, prior, q + p * t->n_classes));
    }
}

void dis__panel_truth_fit(dis__panel_truth *t)
{
    const size_t n = t->n_classes;
    for (size_t p = 0; p < t->n_patterns; p++) {
        double votes = 0;
        for (size_t k = 0; k < n; k++) votes += t->count[p * n + k];
        for (size_t k = 0; k < n; k++) t->posterior[p * n + k] = (t->count[p * n + k] + 1 / (double)n) / (votes + 1);
    }
    iterate(t, DIS_PANEL_GROUPS, t->posterior, t->matrix, t->prior);
}

/* ---- decoding ---- */

/* M and its clarity; rows of classes that almost no item has are not changed. */
static double mean_posteriors(const dis__panel_truth *t, size_t without, const double *q, double *m)
{
    const size_t n = t->n_classes;
    double mass[DIS_PANEL_MAX_CLASSES] = {0}, total = 0, same = 0, squares = 0;
    for (size_t x = 0; x < n * n; x++) m[x] = 0;
    for (size_t p = 0; p < t->n_patterns; p++) {
        const double w = weight_of(t, p, without), *row = q + p * n;
        total += w;
        for (size_t j = 0; j < n; j++) {
            mass[j] += w * row[j];
            for (size_t k = 0; k < n; k++) m[j * n + k] += w * row[j] * row[k];
        }
    }
    for (size_t j = 0; j < n; j++) {
        same += m[j * n + j] / total;
        squares += mass[j] * mass[j] / (total * total);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) {
            const bool rare = mass[j] < .5 || mass[k] < .5;
            m[j * n + k] = rare ? (double)(j == k) : m[j * n + k] / mass[j];
        }
    return 1 - squares > TINY ? (same - squares) / (1 - squares) : 0;
}

/* x (n) = b M^-1 for each row of b: Gauss-Jordan elimination of M^T with its inverse in `inverse`. */
static bool invert(double *m, size_t n, double *inverse)
{
    for (size_t x = 0; x < n * n; x++) inverse[x] = x / n == x % n;
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(m[r * n + c]) > fabs(m[pivot * n + c])) pivot = r;
        if (fabs(m[pivot * n + c]) < 1e-3) return false;
        for (size_t k = 0; k < n; k++) {
            const double a = m[c * n + k], b = inverse[c * n + k];
            m[c * n + k] = m[pivot * n + k];
            inverse[c * n + k] = inverse[pivot * n + k];
            m[pivot * n + k] = a;
            inverse[pivot * n + k] = b;
        }
        const double scale = 1 / m[c * n + c];
        for (size_t k = 0; k < n; k++) {
            m[c * n + k] *= scale;
            inverse[c * n + k] *= scale;
        }
        for (size_t r = 0; r < n; r++) {
            const double factor = m[r * n + c];
            if (r == c || factor == 0) continue;
            for (size_t k = 0; k < n; k++) {
                m[r * n + k] -= factor * m[c * n + k];
                inverse[r * n + k] -= factor * inverse[c * n + k];
            }
        }
    }
    return true;
}

bool dis__panel_truth_decode(const dis__panel_truth *t, size_t without, double *posterior, double *decoded,
                             double *clarity)
{
    const size_t n = t->n_classes;
    double m[DIS_PANEL_MAX_CLASSES * DIS_PANEL_MAX_CLASSES], inverse[DIS_PANEL_MAX_CLASSES * DIS_PANEL_MAX_CLASSES];
    double prior[DIS_PANEL_MAX_CLASSES];
    memcpy(posterior, t->posterior, t->n_patterns * n * sizeof *posterior);
    if (without < DIS_PANEL_GROUPS) iterate(t, without, posterior, m, prior);
    *clarity = mean_posteriors(t, without, posterior, m);
    if (!invert(m, n, inverse)) return false;
    for (size_t p = 0; p < t->n_patterns; p++)
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) sum += posterior[p * n + j] * inverse[j * n + k];
            decoded[p * n + k] = sum;
        }
    return true;
}
