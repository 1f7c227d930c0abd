/* The fused pass over one shard of items (labels/em.h), for each instruction set.
 *
 * Items are taken in blocks of up to DIS_EM_BLOCK. The block's scores lie class by class, scratch[k * block + b], so
 * that softmax runs down whole vectors of items: one division and no shuffles for as many items as a vector has lanes,
 * and the same code for every number of classes. Log normalisers cost one log a block: the sums (each in [1, K]) are
 * multiplied first.
 *
 *     1. score   add up log-probability rows, one row a vote; transpose into scratch
 *     2. softmax scratch becomes posteriors (or argmax)
 *     3. spread  add the posterior of each item into the sums of its votes
 *
 * Everything that depends on the problem is decided outside the loops: pass() below is expanded for constant numbers of
 * classes and of 4-wide pieces a row, so the loops over classes vanish for K <= 8, and the loops over pieces for K
 * <= 16.
 *
 * Cost a vote at K = 4: a worker, a label, one cache line read twice and written once. */
#include "labels/em.h"
#include "core/vmath.h"

#define INLINE static inline __attribute__((always_inline))

typedef double v4 __attribute__((vector_size(32), may_alias));
typedef double v2 __attribute__((vector_size(16), may_alias));

enum { AHEAD = 24 }; /* votes between a prefetch and its use */

/* The constants of one expansion. */
typedef struct {
    size_t n_classes; /* K */
    size_t pieces;    /* 4-wide pieces of a row; 0: one piece of 2 */
    size_t block;
    bool wide; /* 16-bit labels */
} shape;

INLINE size_t label_of(const dis_votes_view *votes, size_t v, bool wide)
{
    return wide ? votes->label16[v] : votes->label8[v];
}

INLINE double *row_of(const dis__em_job *job, size_t v, const shape *s)
{
    const size_t index = (size_t)job->votes->worker[v] * s->n_classes + label_of(job->votes, v, s->wide);
    return job->table + index * (s->pieces ? 8 * s->pieces : 4);
}

INLINE void prefetch_row(const dis__em_job *job, size_t v, const shape *s)
{
    const double *row = row_of(job, v, s);
    for (size_t c = 0; c < s->pieces + !s->pieces; c++) __builtin_prefetch(row + 8 * c, 1);
}

/* Scores of items first .. first + n - 1 into scratch, rows layout. */
INLINE void score_rows(const dis__em_job *job, size_t first, size_t n, const shape *s, bool prefetch)
{
    const uint64_t *start = job->votes->start;
    const size_t n_votes = job->votes->n_votes;
    double *scratch = job->scratch;
    enum { MOST = 4 };
    if (s->pieces <= MOST) {
        v4 prior[MOST] = {{0}};
        v2 prior2 = {0};
        double padded[4 * MOST] = {0};
        for (size_t k = 0; k < s->n_classes; k++) padded[k] = job->log_prior[k];
        for (size_t c = 0; c < s->pieces; c++) memcpy(&prior[c], padded + 4 * c, sizeof prior[c]);
        if (!s->pieces) memcpy(&prior2, padded, sizeof prior2);
        uint64_t v = start[first];
        for (size_t b = 0; b < n; b++) {
            const uint64_t end = start[first + b + 1];
            v4 sum[MOST] = {{0}};
            v2 sum2 = prior2;
            for (size_t c = 0; c < s->pieces; c++) sum[c] = prior[c];
            for (; v < end; v++) {
                if (prefetch && v + AHEAD < n_votes) prefetch_row(job, v + AHEAD, s);
                const double *row = row_of(job, v, s);
                for (size_t c = 0; c < s->pieces; c++) sum[c] += *(const v4 *)(row + 4 * c);
                if (!s->pieces) sum2 += *(const v2 *)row;
            }
            if (!s->pieces)
                for (size_t k = 0; k < s->n_classes; k++) scratch[k * s->block + b] = sum2[k];
            else
                for (size_t k = 0; k < s->n_classes; k++) scratch[k * s->block + b] = sum[k / 4][k % 4];
        }
        return;
    }
    double *line = job->line;
    for (size_t b = 0; b < n; b++) {
        for (size_t k = 0; k < s->n_classes; k++) line[k] = job->log_prior[k];
        for (uint64_t v = start[first + b]; v < start[first + b + 1]; v++) {
            const double *row = row_of(job, v, s);
            for (size_t k = 0; k < s->n_classes; k++) line[k] += row[k];
        }
        for (size_t k = 0; k < s->n_classes; k++) scratch[k * s->block + b] = line[k];
    }
}

INLINE void spread_rows(const dis__em_job *job, size_t first, size_t n, const shape *s)
{
    const uint64_t *start = job->votes->start;
    const double *scratch = job->scratch;
    enum { MOST = 4 };
    uint64_t v = start[first];
    if (s->pieces <= MOST) {
        for (size_t b = 0; b < n; b++) {
            const uint64_t end = start[first + b + 1];
            v4 p[MOST] = {{0}};
            v2 p2 = {0};
            for (size_t c = 0; c < s->pieces; c++) {
                double at[4] = {0};
                for (size_t k = 0; k < 4 && 4 * c + k < s->n_classes; k++) at[k] = scratch[(4 * c + k) * s->block + b];
                p[c] = (v4){at[0], at[1], at[2], at[3]};
            }
            if (!s->pieces)
                for (size_t k = 0; k < 2; k++) p2[k] = k < s->n_classes ? scratch[k * s->block + b] : 0;
            for (; v < end; v++) {
                double *row = row_of(job, v, s);
                for (size_t c = 0; c < s->pieces; c++) *(v4 *)(row + 4 * s->pieces + 4 * c) += p[c];
                if (!s->pieces) *(v2 *)(row + 2) += p2;
            }
        }
        return;
    }
    double *line = job->line;
    for (size_t b = 0; b < n; b++) {
        for (size_t k = 0; k < s->n_classes; k++) line[k] = scratch[k * s->block + b];
        for (; v < start[first + b + 1]; v++) {
            double *row = row_of(job, v, s) + 4 * s->pieces;
            for (size_t k = 0; k < s->n_classes; k++) row[k] += line[k];
        }
    }
}

/* The same for two numbers a (worker, label) or a worker: B and the sum of the posterior at the voted class. */
INLINE double *pair_of(const dis__em_job *job, size_t v, size_t label, const shape *s)
{
    const size_t w = job->votes->worker[v];
    return job->table + 2 * (job->layout == DIS_EM_LABELS ? w * s->n_classes + label : w);
}

INLINE void score_pairs(const dis__em_job *job, size_t first, size_t n, const shape *s, bool prefetch)
{
    const uint64_t *start = job->votes->start;
    const size_t n_votes = job->votes->n_votes;
    double *scratch = job->scratch;
    for (size_t k = 0; k < s->n_classes; k++)
        for (size_t b = 0; b < n; b++) scratch[k * s->block + b] = job->log_prior[k];
    uint64_t v = start[first];
    for (size_t b = 0; b < n; b++)
        for (const uint64_t end = start[first + b + 1]; v < end; v++) {
            if (prefetch && v + AHEAD < n_votes)
                __builtin_prefetch(pair_of(job, v + AHEAD, label_of(job->votes, v + AHEAD, s->wide), s), 1);
            const size_t label = label_of(job->votes, v, s->wide);
            scratch[label * s->block + b] += *pair_of(job, v, label, s);
        }
}

INLINE void spread_pairs(const dis__em_job *job, size_t first, size_t n, const shape *s)
{
    const uint64_t *start = job->votes->start;
    uint64_t v = start[first];
    for (size_t b = 0; b < n; b++)
        for (const uint64_t end = start[first + b + 1]; v < end; v++) {
            const size_t label = label_of(job->votes, v, s->wide);
            pair_of(job, v, label, s)[1] += job->scratch[label * s->block + b];
        }
}

/* Vote shares instead of scores and softmax: where the methods start. Nobody voted: all classes alike. */
INLINE void shares(const dis__em_job *job, size_t first, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++) {
        const uint64_t begin = job->votes->start[first + b], end = job->votes->start[first + b + 1];
        for (size_t k = 0; k < s->n_classes; k++) job->scratch[k * s->block + b] = 0;
        for (uint64_t v = begin; v < end; v++) job->scratch[label_of(job->votes, v, s->wide) * s->block + b] += 1;
        for (size_t k = 0; k < s->n_classes; k++)
            if (end > begin)
                job->scratch[k * s->block + b] /= (double)(end - begin);
            else
                job->scratch[k * s->block + b] = 1 / (double)s->n_classes;
        const int32_t gold = job->gold ? job->gold[first + b] : -1;
        for (size_t k = 0; gold >= 0 && k < s->n_classes; k++) job->scratch[k * s->block + b] = k == (size_t)gold;
    }
}

/* Known items: every other class is impossible, and the normaliser becomes the score of the known one by itself. */
static void pin(const dis__em_job *job, size_t first, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++)
        if (job->gold[first + b] >= 0)
            for (size_t k = 0; k < s->n_classes; k++)
                if (k != (size_t)job->gold[first + b]) job->scratch[k * s->block + b] = -1e300;
}

INLINE double lanes_sum(dis__vec v)
{
    double sum = 0;
    for (size_t l = 0; l < DIS_LANES; l++) sum += v[l];
    return sum;
}

/* Scores to posteriors; returns the sum of the log normalisers. Lanes past n hold a certain item: log normaliser 0. */
INLINE double softmax(const dis__em_job *job, size_t n, const shape *s)
{
    double *scratch = job->scratch;
    const size_t padded = (n + DIS_LANES - 1) / DIS_LANES * DIS_LANES;
    for (size_t b = n; b < padded; b++)
        for (size_t k = 0; k < s->n_classes; k++) scratch[k * s->block + b] = k ? -1e300 : 0;
    dis__vec shift = {0}, product = dis__vset(1);
    for (size_t b = 0; b < padded; b += DIS_LANES) {
        dis__vec top = dis__vload(scratch + b), sum = {0};
        for (size_t k = 1; k < s->n_classes; k++) top = dis__vmax(top, dis__vload(scratch + k * s->block + b));
        for (size_t k = 0; k < s->n_classes; k++) {
            const dis__vec e = dis__vexp(dis__vload(scratch + k * s->block + b) - top);
            dis__vstore(scratch + k * s->block + b, e);
            sum += e;
        }
        const dis__vec scale = 1.0 / sum;
        for (size_t k = 0; k < s->n_classes; k++)
            dis__vstore(scratch + k * s->block + b, dis__vload(scratch + k * s->block + b) * scale);
        shift += top;
        product *= sum; /* at most K^(block / lanes) <= 65535^8 for large K, 16^32 for small */
    }
    return lanes_sum(shift + dis__vlog(product));
}

/* All of an item to its best class, the first one on a tie; returns the sum of the best scores. */
static double harden(const dis__em_job *job, size_t n, const shape *s)
{
    double total = 0;
    for (size_t b = 0; b < n; b++) {
        size_t best = 0;
        for (size_t k = 1; k < s->n_classes; k++)
            if (job->scratch[k * s->block + b] > job->scratch[best * s->block + b]) best = k;
        total += job->scratch[best * s->block + b];
        for (size_t k = 0; k < s->n_classes; k++) job->scratch[k * s->block + b] = k == best;
    }
    return total;
}

INLINE void pass(dis__em_job *job, shape s, bool prefetch)
{
    job->log_z = 0;
    for (size_t k = 0; k < s.n_classes; k++) job->class_sum[k] = 0;
    for (size_t first = job->first; first < job->last; first += s.block) {
        const size_t n = job->last - first < s.block ? job->last - first : s.block;
        if (job->step == DIS_EM_SHARES) {
            shares(job, first, n, &s);
        } else {
            if (job->layout == DIS_EM_ROWS)
                score_rows(job, first, n, &s, prefetch);
            else
                score_pairs(job, first, n, &s, prefetch);
            if (job->gold) pin(job, first, n, &s);
            job->log_z += job->step == DIS_EM_SOFT ? softmax(job, n, &s) : harden(job, n, &s);
        }
        for (size_t k = 0; k < s.n_classes; k++) {
            double sum = 0;
            for (size_t b = 0; b < n; b++) sum += job->scratch[k * s.block + b];
            job->class_sum[k] += sum;
        }
        if (job->sum) {
            if (job->layout == DIS_EM_ROWS)
                spread_rows(job, first, n, &s);
            else
                spread_pairs(job, first, n, &s);
        }
        if (job->p)
            for (size_t b = 0; b < n; b++)
                for (size_t k = 0; k < s.n_classes; k++)
                    job->p[(first + b) * s.n_classes + k] = job->scratch[k * s.block + b];
    }
}

#define EXPAND(name, k, pieces_, block_, wide_)                                              \
    static void name(dis__em_job *job)                                                       \
    {                                                                                        \
        const shape s = {.n_classes = k, .pieces = pieces_, .block = block_, .wide = wide_}; \
        if (job->prefetch)                                                                   \
            pass(job, s, true);                                                              \
        else                                                                                 \
            pass(job, s, false);                                                             \
    }
EXPAND(pass_1, 1, 0, DIS_EM_BLOCK, false)
EXPAND(pass_2, 2, 0, DIS_EM_BLOCK, false)
EXPAND(pass_3, 3, 1, DIS_EM_BLOCK, false)
EXPAND(pass_4, 4, 1, DIS_EM_BLOCK, false)
EXPAND(pass_5, 5, 2, DIS_EM_BLOCK, false)
EXPAND(pass_6, 6, 2, DIS_EM_BLOCK, false)
EXPAND(pass_7, 7, 2, DIS_EM_BLOCK, false)
EXPAND(pass_8, 8, 2, DIS_EM_BLOCK, false)
EXPAND(pass_12, job->votes->n_classes, 3, DIS_EM_BLOCK, false)
EXPAND(pass_16, job->votes->n_classes, 4, DIS_EM_BLOCK, false)
EXPAND(pass_256, job->votes->n_classes, (job->votes->n_classes + 3) / 4, job->block, false)
EXPAND(pass_65535, job->votes->n_classes, (job->votes->n_classes + 3) / 4, job->block, true)

void DIS_KERNEL(dis__em_kernel)(dis__em_job *job);
void DIS_KERNEL(dis__em_kernel)(dis__em_job *job)
{
    static void (*const passes[])(dis__em_job *) = {pass_1,  pass_1,  pass_2,  pass_3,  pass_4,  pass_5,
                                                    pass_6,  pass_7,  pass_8,  pass_12, pass_12, pass_12,
                                                    pass_12, pass_16, pass_16, pass_16, pass_16};
    const size_t n_classes = job->votes->n_classes;
    (n_classes <= 16 ? passes[n_classes] : job->votes->label8 ? pass_256 : pass_65535)(job);
}
