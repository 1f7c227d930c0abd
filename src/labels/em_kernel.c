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

/* The arrays of a job. A local copy, so that compilers see that the sums written through `table` do not change it. */
typedef struct {
    const uint64_t *start;
    const uint32_t *worker;
    const uint8_t *label8;
    const uint16_t *label16;
    size_t n_votes;
    const double *log_prior;
    double *table, *scratch, *line;
    bool by_label; /* pairs: one for each (worker, label), not for each worker */
} arrays;

enum { MOST = 4 }; /* pieces of a row that are kept in registers */

INLINE size_t label_of(const arrays *a, size_t v, const shape *s)
{
    return s->wide ? a->label16[v] : a->label8[v];
}

INLINE double *row_of(const arrays *a, size_t v, const shape *s)
{
    return a->table + ((size_t)a->worker[v] * s->n_classes + label_of(a, v, s)) * (s->pieces ? 8 * s->pieces : 4);
}

INLINE void prefetch_row(const arrays *a, size_t v, const shape *s)
{
    if (v + AHEAD >= a->n_votes) return;
    const double *row = row_of(a, v + AHEAD, s);
    for (size_t c = 0; c < s->pieces + !s->pieces; c++) __builtin_prefetch(row + 8 * c, 1);
}

/* Scores of items first .. first + n - 1 into scratch, rows layout, few classes. */
INLINE void score_rows(arrays a, size_t first, size_t n, const shape *s, bool prefetch)
{
    v4 prior[MOST] = {{0}};
    v2 prior2 = {0};
    double padded[4 * MOST] = {0};
    for (size_t k = 0; k < s->n_classes; k++) padded[k] = a.log_prior[k];
    for (size_t c = 0; c < s->pieces; c++) memcpy(&prior[c], padded + 4 * c, sizeof prior[c]);
    if (!s->pieces) memcpy(&prior2, padded, sizeof prior2);
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++) {
        const uint64_t end = a.start[first + b + 1];
        v4 sum[MOST] = {{0}};
        v2 sum2 = prior2;
        for (size_t c = 0; c < s->pieces; c++) sum[c] = prior[c];
        for (; v + 4 <= end; v += 4) { /* four at a time: fewer branches, shorter chains of additions */
            const double *row[4];
            for (size_t j = 0; j < 4; j++) {
                if (prefetch) prefetch_row(&a, v + j, s);
                row[j] = row_of(&a, v + j, s);
            }
            for (size_t c = 0; c < s->pieces; c++)
                sum[c] += (*(const v4 *)(row[0] + 4 * c) + *(const v4 *)(row[1] + 4 * c)) +
                          (*(const v4 *)(row[2] + 4 * c) + *(const v4 *)(row[3] + 4 * c));
            if (!s->pieces)
                sum2 += (*(const v2 *)row[0] + *(const v2 *)row[1]) + (*(const v2 *)row[2] + *(const v2 *)row[3]);
        }
        for (; v < end; v++) {
            if (prefetch) prefetch_row(&a, v, s);
            const double *row = row_of(&a, v, s);
            for (size_t c = 0; c < s->pieces; c++) sum[c] += *(const v4 *)(row + 4 * c);
            if (!s->pieces) sum2 += *(const v2 *)row;
        }
        for (size_t k = 0; k < s->n_classes; k++)
            a.scratch[k * s->block + b] = s->pieces ? sum[k / 4][k % 4] : sum2[k % 2];
    }
}

INLINE void add_row(const arrays *a, size_t v, const v4 *p, v2 p2, const shape *s)
{
    double *row = row_of(a, v, s);
    for (size_t c = 0; c < s->pieces; c++) *(v4 *)(row + 4 * s->pieces + 4 * c) += p[c];
    if (!s->pieces) *(v2 *)(row + 2) += p2;
}

INLINE void spread_rows(arrays a, size_t first, size_t n, const shape *s)
{
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++) {
        const uint64_t end = a.start[first + b + 1];
        double at[4 * MOST] = {0};
        for (size_t k = 0; k < s->n_classes; k++) at[k] = a.scratch[k * s->block + b];
        v4 p[MOST] = {{0}};
        for (size_t c = 0; c < s->pieces; c++) p[c] = (v4){at[4 * c], at[4 * c + 1], at[4 * c + 2], at[4 * c + 3]};
        const v2 p2 = {at[0], at[1]};
        for (; v + 4 <= end; v += 4)
            for (size_t j = 0; j < 4; j++) add_row(&a, v + j, p, p2, s);
        for (; v < end; v++) add_row(&a, v, p, p2, s);
    }
}

/* The same for many classes: a row at a time through memory. */
static void score_lines(arrays a, size_t first, size_t n, const shape *s)
{
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++) {
        for (size_t k = 0; k < s->n_classes; k++) a.line[k] = a.log_prior[k];
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            const double *row = row_of(&a, v, s);
            for (size_t k = 0; k < s->n_classes; k++) a.line[k] += row[k];
        }
        for (size_t k = 0; k < s->n_classes; k++) a.scratch[k * s->block + b] = a.line[k];
    }
}

static void spread_lines(arrays a, size_t first, size_t n, const shape *s)
{
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++) {
        for (size_t k = 0; k < s->n_classes; k++) a.line[k] = a.scratch[k * s->block + b];
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            double *row = row_of(&a, v, s) + 4 * s->pieces;
            for (size_t k = 0; k < s->n_classes; k++) row[k] += a.line[k];
        }
    }
}

/* The same for two numbers a (worker, label) or a worker: B and the sum of the posterior at the voted class. */
INLINE double *pair_of(const arrays *a, size_t v, size_t label, const shape *s)
{
    const size_t w = a->worker[v];
    return a->table + 2 * (a->by_label ? w * s->n_classes + label : w);
}

INLINE void score_pairs(arrays a, size_t first, size_t n, const shape *s, bool prefetch)
{
    for (size_t k = 0; k < s->n_classes; k++)
        for (size_t b = 0; b < n; b++) a.scratch[k * s->block + b] = a.log_prior[k];
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++)
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            if (prefetch && v + AHEAD < a.n_votes)
                __builtin_prefetch(pair_of(&a, v + AHEAD, label_of(&a, v + AHEAD, s), s), 1);
            const size_t label = label_of(&a, v, s);
            a.scratch[label * s->block + b] += *pair_of(&a, v, label, s);
        }
}

INLINE void spread_pairs(arrays a, size_t first, size_t n, const shape *s)
{
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++)
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            const size_t label = label_of(&a, v, s);
            pair_of(&a, v, label, s)[1] += a.scratch[label * s->block + b];
        }
}

/* Vote shares instead of scores and softmax: where the methods start. Nobody voted: all classes alike. */
static void shares(arrays a, const int32_t *gold, size_t first, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++) {
        const uint64_t begin = a.start[first + b], end = a.start[first + b + 1];
        for (size_t k = 0; k < s->n_classes; k++)
            a.scratch[k * s->block + b] = end > begin ? 0 : 1 / (double)s->n_classes;
        for (uint64_t v = begin; v < end; v++) a.scratch[label_of(&a, v, s) * s->block + b] += 1;
        for (size_t k = 0; end > begin && k < s->n_classes; k++) a.scratch[k * s->block + b] /= (double)(end - begin);
        for (size_t k = 0; gold && gold[first + b] >= 0 && k < s->n_classes; k++)
            a.scratch[k * s->block + b] = k == (size_t)gold[first + b];
    }
}

/* Known items: every other class is impossible, and the normaliser becomes the score of the known one by itself. */
static void pin(double *scratch, const int32_t *gold, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; gold[b] >= 0 && k < s->n_classes; k++)
            if (k != (size_t)gold[b]) scratch[k * s->block + b] = -1e300;
}

INLINE double lanes_sum(dis__vec v)
{
    double sum = 0;
    for (size_t l = 0; l < DIS_LANES; l++) sum += v[l];
    return sum;
}

INLINE size_t whole_vectors(size_t n)
{
    return (n + DIS_LANES - 1) / DIS_LANES * DIS_LANES;
}

/* Scores to posteriors; returns the sum of the log normalisers. Lanes past n hold a certain item: log normaliser 0. */
INLINE double softmax(double *scratch, size_t n, const shape *s)
{
    const size_t padded = whole_vectors(n);
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
        product *= sum; /* at most K^(block / lanes): 65535^4 for large K, 16^32 for small */
    }
    return lanes_sum(shift + dis__vlog(product));
}

/* All of an item to its best class, the first one on a tie; returns the sum of the best scores. */
static double harden(double *scratch, size_t n, const shape *s)
{
    double total = 0;
    for (size_t b = 0; b < n; b++) {
        size_t best = 0;
        for (size_t k = 1; k < s->n_classes; k++)
            if (scratch[k * s->block + b] > scratch[best * s->block + b]) best = k;
        total += scratch[best * s->block + b];
        for (size_t k = 0; k < s->n_classes; k++) scratch[k * s->block + b] = k == best;
    }
    return total;
}

/* Adds the posteriors of a block to the class sums. */
INLINE void add_classes(double *scratch, size_t n, const shape *s, double *class_sum)
{
    const size_t padded = whole_vectors(n);
    for (size_t k = 0; k < s->n_classes; k++) {
        double *p = scratch + k * s->block;
        for (size_t b = n; b < padded; b++) p[b] = 0;
        dis__vec sum = {0};
        for (size_t b = 0; b < padded; b += DIS_LANES) sum += dis__vload(p + b);
        class_sum[k] += lanes_sum(sum);
    }
}

INLINE void pass(dis__em_job *job, shape s, bool prefetch)
{
    const dis_votes_view *votes = job->votes;
    const arrays a = {.start = votes->start,
                      .worker = votes->worker,
                      .label8 = votes->label8,
                      .label16 = votes->label16,
                      .n_votes = votes->n_votes,
                      .log_prior = job->log_prior,
                      .table = job->table,
                      .scratch = job->scratch,
                      .line = job->line,
                      .by_label = job->layout == DIS_EM_LABELS};
    const bool rows = job->layout == DIS_EM_ROWS;
    double log_z = 0;
    for (size_t k = 0; k < s.n_classes; k++) job->class_sum[k] = 0;
    for (size_t first = job->first; first < job->last; first += s.block) {
        const size_t n = job->last - first < s.block ? job->last - first : s.block;
        if (job->step == DIS_EM_SHARES) {
            shares(a, job->gold, first, n, &s);
        } else {
            if (!rows)
                score_pairs(a, first, n, &s, prefetch);
            else if (s.pieces <= MOST)
                score_rows(a, first, n, &s, prefetch);
            else
                score_lines(a, first, n, &s);
            if (job->gold) pin(a.scratch, job->gold + first, n, &s);
            log_z += job->step == DIS_EM_SOFT ? softmax(a.scratch, n, &s) : harden(a.scratch, n, &s);
        }
        add_classes(a.scratch, n, &s, job->class_sum);
        if (job->p)
            for (size_t b = 0; b < n; b++)
                for (size_t k = 0; k < s.n_classes; k++)
                    job->p[(first + b) * s.n_classes + k] = a.scratch[k * s.block + b];
        if (!job->sum) continue;
        if (!rows)
            spread_pairs(a, first, n, &s);
        else if (s.pieces <= MOST)
            spread_rows(a, first, n, &s);
        else
            spread_lines(a, first, n, &s);
    }
    job->log_z = log_z;
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
