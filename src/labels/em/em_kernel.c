/* The fused pass over one shard of items (labels/methods/em.h), for each instruction set.
 *
 * Probabilities are multiplied directly, not added as logarithms: no exp, no log, one division per item. Items are
 * processed in blocks of up to DIS_EM_BLOCK with at most DIS_EM_VOTES votes:
 *
 *     1. index   the offsets of the rows of the block's votes, in full vectors
 *     2. score   the product of the prior and the rows of each item's votes, item by item into scratch[b * row + k]
 *     3. share   products become posteriors (or the best class gets probability 1)
 *     4. spread  the posterior of each item is added to the sums of its votes
 *
 * The sum of the products of an item is its normaliser. Logarithms of normalisers are nearly free: their exponents are
 * added as integers, their mantissas multiplied, and one logarithm per shard is computed at its end.
 *
 * Underflow: factors are at most 1 (except for the pairs below), so a class that underflows in an intermediate product
 * also underflows in the final one, and is at most 2^-300 of an item whose normaliser is above 2^-700. Items outside
 * 2^-700 .. 2^700, including impossible ones, are recomputed by careful(), with separate mantissa and exponent per
 * class and factors of 0 replaced by 2^DIS_EM_LOG2_ZERO. Subnormal numbers count as 0 (core/numbers/vector_math.h):
 * they are slow, and irrelevant here.
 *
 * Everything that depends on the problem is decided outside the loops: pass() below is expanded for constant numbers of
 * classes and of 4-wide pieces per row, so the loops over classes are unrolled for K <= 8, and the loops over pieces
 * for K <= 16.
 *
 * Cost per vote at K = 4: a worker, a label, one cache line read twice and written once; some 10 instructions. */
#include "core/random/random.h"
#include "labels/em/em_posteriors.h"
#include "core/kernel.h"
#include "labels/em/em.h"

/* x: class shares, each of which is split over the states of the class: normalised exponential variables. The random
 * numbers are keyed by the item's signature. */
static void split_shares(arrays a, size_t i, double *x, const shape *s)
{
    const size_t M = a.n_groups, padded = (M + DIS_LANES - 1) / DIS_LANES * DIS_LANES;
    for (size_t k = s->n_classes; k-- > 0;) { /* states of class k are stored at or after the shares still to be read */
        const double share = x[k];
        for (size_t m = 0; m < M; m++) x[k * M + m] = 0;
        if (!(share > 0)) continue;
        dis_random_block r = {{0}};
        double *part = a.part, sum = 0;
        for (size_t m = 0; m < padded; m++) {
            if (m % 4 == 0) r = dis__philox(a.signature[i], (uint64_t)k << 32 | m, a.key);
            part[m] = ((double)r.word[m % 4] + .5) * 0x1p-32;
        }
        for (size_t m = 0; m < padded; m += DIS_LANES) dis__vstore(part + m, dis__vlog(dis__vload(part + m)));
        for (size_t m = 0; m < M; m++) sum += part[m];
        for (size_t m = 0; m < M; m++) x[k * M + m] = share * part[m] / sum;
    }
}

/* Vote shares instead of products: the start of the methods. Without votes, all classes are equal. */
static void shares(arrays a, size_t first, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++) {
        const uint64_t begin = a.start[first + b], end = a.start[first + b + 1];
        double *x = a.scratch + b * s->row;
        for (size_t k = 0; k < s->row; k++) x[k] = end > begin || k >= s->n_classes ? 0 : 1 / (double)s->n_classes;
        for (uint64_t v = begin; v < end; v++) x[label_of(&a, v, s)] += 1;
        for (size_t k = 0; end > begin && k < s->n_classes; k++) x[k] /= (double)(end - begin);
        for (size_t k = 0; a.gold && a.gold[first + b] >= 0 && k < s->n_classes; k++)
            x[k] = k == (size_t)a.gold[first + b];
        if (s->groups) split_shares(a, first + b, x, s);
    }
}

/* The factor of each item in addition to the class prior. */
static void weigh(arrays a, size_t first, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; k < s->n_classes; k++) a.scratch[b * s->row + k] *= a.item[(first + b) * s->n_classes + k];
}

/* Sum of log_q under the posteriors of a block. */
static double expect(const double *scratch, const double *log_q, size_t n, const shape *s)
{
    double sum = 0;
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; k < s->n_classes; k++) sum += scratch[b * s->row + k] * log_q[b * s->n_classes + k];
    return sum;
}

/* Items with gold labels: all other classes get probability 0, and the normaliser becomes the product of the gold
 * class. */
static void pin(double *scratch, const int32_t *gold, size_t n_groups, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; gold[b] >= 0 && k < s->n_states; k++)
            if ((s->groups ? k / n_groups : k) != (size_t)gold[b]) scratch[b * s->row + k] = 0;
}

/* Adds the posteriors of a block to the class sums. */
INLINE void add_classes(arrays a, size_t n, const shape *s, double *class_sum)
{
    if (!s->registers) {
        for (size_t b = 0; b < n; b++)
            for (size_t k = 0; k < s->n_states; k++) class_sum[k] += a.scratch[b * s->row + k];
        return;
    }
    double even[4 * IN_REGISTERS] = {0}, odd[4 * IN_REGISTERS] = {0};
    for (size_t b = 0; b + 2 <= n; b += 2)
        for (size_t k = 0; k < s->row; k++) {
            even[k] += a.scratch[b * s->row + k];
            odd[k] += a.scratch[(b + 1) * s->row + k];
        }
    for (size_t k = 0; n % 2 && k < s->row; k++) even[k] += a.scratch[(n - 1) * s->row + k];
    for (size_t k = 0; k < s->n_states; k++) class_sum[k] += even[k] + odd[k];
}

/* Class posteriors from state posteriors; exactly 0 and 1 with a gold label. */
static void write_classes(arrays a, size_t i, const double *x, double *p, const shape *s)
{
    const size_t M = a.n_groups;
    for (size_t k = 0; k < s->n_classes; k++) {
        p[k] = 0;
        for (size_t m = 0; m < M; m++) p[k] += x[k * M + m];
        if (a.gold && a.gold[i] >= 0) p[k] = k == (size_t)a.gold[i];
    }
}

/* Number of items from `first` on in the next block: as many as fit into the index, at least one. */
INLINE size_t block_of(const uint64_t *start, size_t first, size_t last, const shape *s)
{
    size_t n = last - first < s->block ? last - first : s->block;
    while (n > 1 && start[first + n] - start[first] > DIS_EM_VOTES) n /= 2;
    return n;
}

INLINE void pass(dis__em_job *job, shape s)
{
    const dis_votes_view *votes = job->votes;
    const arrays a = {.start = votes->start,
                      .worker = votes->worker,
                      .label8 = votes->label8,
                      .label16 = votes->label16,
                      .prior = job->prior,
                      .item = job->item,
                      .gold = job->gold,
                      .table = job->table,
                      .scratch = job->scratch,
                      .sum = job->normaliser,
                      .line = job->line,
                      .index = job->index,
                      .by_label = job->layout == DIS_EM_LABELS,
                      .n_groups = job->n_groups,
                      .signature = job->signature,
                      .key = job->key,
                      .part = job->line};
    logs l = {.product = dis__vset(1)};
    double evidence = 0;
    for (size_t k = 0; k < s.n_states; k++) job->class_sum[k] = 0;
    for (size_t first = job->first, n; first < job->last; first += n) {
        n = block_of(a.start, first, job->last, &s);
        const uint64_t n_votes = a.start[first + n] - a.start[first];
        const bool indexed = (s.pairs || s.registers) && n_votes <= DIS_EM_VOTES && job->index;
        if (indexed) find_rows(a, a.start[first], n_votes, &s);
        if (job->step == DIS_EM_SHARES) {
            shares(a, first, n, &s);
        } else {
            if (s.pairs && indexed)
                score_pairs(a, first, n, &s, true);
            else if (s.pairs)
                score_pairs(a, first, n, &s, false);
            else if (indexed)
                score_rows(a, first, n, &s);
            else
                score_lines(a, first, n, &s);
            if (a.item) weigh(a, first, n, &s);
            if (a.gold) pin(a.scratch, a.gold + first, a.n_groups, n, &s);
            share(a, first, n, &s, job->step == DIS_EM_HARD, &l);
        }
        add_classes(a, n, &s, job->class_sum);
        if (a.item) evidence += expect(a.scratch, job->log_q + first * s.n_classes, n, &s);
        for (size_t b = 0; job->p && s.groups && b < n; b++)
            write_classes(a, first + b, a.scratch + b * s.row, job->p + (first + b) * s.n_classes, &s);
        if (job->p && !s.groups)
            for (size_t b = 0; b < n; b++)
                memcpy(job->p + (first + b) * s.n_classes, a.scratch + b * s.row, s.n_classes * sizeof *job->p);
        if (!job->sum) continue;
        if (s.pairs && indexed)
            spread_pairs(a, first, n, &s, true);
        else if (s.pairs)
            spread_pairs(a, first, n, &s, false);
        else if (indexed)
            spread_rows(a, first, n, &s);
        else
            spread_lines(a, first, n, &s);
    }
    job->log_z = finish_logs(&l);
    job->evidence = evidence;
}

#define EXPAND(name, k, pieces_, block_, wide_, registers_) \
    static void name(dis__em_job *job)                      \
    {                                                       \
        shape s = {.n_classes = k,                          \
                   .n_states = k,                           \
                   .pieces = pieces_,                       \
                   .row = (pieces_) ? 4 * (pieces_) : 2,    \
                   .block = block_,                         \
                   .wide = wide_,                           \
                   .registers = registers_};                \
        if (job->layout == DIS_EM_ROWS) {                   \
            pass(job, s);                                   \
        } else {                                            \
            s.pairs = true;                                 \
            pass(job, s);                                   \
        }                                                   \
    }
EXPAND(pass_1, 1, 0, DIS_EM_BLOCK, false, true)
EXPAND(pass_2, 2, 0, DIS_EM_BLOCK, false, true)
EXPAND(pass_3, 3, 1, DIS_EM_BLOCK, false, true)
EXPAND(pass_4, 4, 1, DIS_EM_BLOCK, false, true)
EXPAND(pass_5, 5, 2, DIS_EM_BLOCK, false, true)
EXPAND(pass_6, 6, 2, DIS_EM_BLOCK, false, true)
EXPAND(pass_7, 7, 2, DIS_EM_BLOCK, false, true)
EXPAND(pass_8, 8, 2, DIS_EM_BLOCK, false, true)
EXPAND(pass_12, job->votes->n_classes, 3, DIS_EM_BLOCK, false, true)
EXPAND(pass_16, job->votes->n_classes, 4, DIS_EM_BLOCK, false, true)
EXPAND(pass_256, job->votes->n_classes, (job->votes->n_classes + 3) / 4, job->block, false, false)
EXPAND(pass_65535, job->votes->n_classes, (job->votes->n_classes + 3) / 4, job->block, true, false)

/* Several states per class: the number of pieces is a constant up to IN_REGISTERS. */
#define EXPAND_GROUPS(name, pieces_, wide_, registers_)        \
    static void name(dis__em_job *job)                         \
    {                                                          \
        const shape s = {.n_classes = job->votes->n_classes,   \
                         .n_states = job->n_states,            \
                         .pieces = pieces_,                    \
                         .row = (pieces_) ? 4 * (pieces_) : 2, \
                         .block = job->block,                  \
                         .wide = wide_,                        \
                         .groups = true,                       \
                         .registers = registers_};             \
        pass(job, s);                                          \
    }
EXPAND_GROUPS(groups_2, 0, false, true)
EXPAND_GROUPS(groups_4, 1, false, true)
EXPAND_GROUPS(groups_8, 2, false, true)
EXPAND_GROUPS(groups_12, 3, false, true)
EXPAND_GROUPS(groups_16, 4, false, true)
EXPAND_GROUPS(groups_20, 5, false, true)
EXPAND_GROUPS(groups_24, 6, false, true)
EXPAND_GROUPS(groups_28, 7, false, true)
EXPAND_GROUPS(groups_32, 8, false, true)
EXPAND_GROUPS(groups_256, (job->n_states + 3) / 4, false, false)
EXPAND_GROUPS(groups_65535, (job->n_states + 3) / 4, true, false)

static void pass_groups(dis__em_job *job)
{
    static void (*const passes[])(dis__em_job *) = {groups_2,  groups_4,  groups_8,  groups_12, groups_16,
                                                    groups_20, groups_24, groups_28, groups_32};
    const size_t pieces = job->n_states <= 2 ? 0 : (job->n_states + 3) / 4;
    if (!job->votes->label8)
        groups_65535(job);
    else if (pieces <= IN_REGISTERS)
        passes[pieces](job);
    else
        groups_256(job);
}

void DIS_KERNEL(dis__em_kernel)(dis__em_job *job);
void DIS_KERNEL(dis__em_kernel)(dis__em_job *job)
{
    static void (*const passes[])(dis__em_job *) = {pass_1,  pass_1,  pass_2,  pass_3,  pass_4,  pass_5,
                                                    pass_6,  pass_7,  pass_8,  pass_12, pass_12, pass_12,
                                                    pass_12, pass_16, pass_16, pass_16, pass_16};
    const size_t n_classes = job->votes->n_classes;
    const unsigned before = dis__flush_subnormals();
    if (job->n_groups > 1)
        pass_groups(job);
    else
        (n_classes <= 16 ? passes[n_classes] : job->votes->label8 ? pass_256 : pass_65535)(job);
    dis__restore_subnormals(before);
}

/* ---- tables between two passes ---- */

/* The tables of the shards between two passes (em_cpu.c): sums of a worker's rows added over the shards, and new
 * probabilities copied into each of them. A row of probabilities and its row of sums are adjacent, so with up to 4
 * classes both share a cache line.
 *
 * Every sum is added in the order of the shards, for all instruction sets.
 *
 * Cost: one read and one write of the tables. */
#define INLINE static inline __attribute__((always_inline))

/* With a constant `row`, the inner loops are unrolled. */
INLINE void add_rows(const dis__em_worker_rows *t, size_t row, double *restrict out)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        const double *restrict sums = t->first + (2 * r + 1) * row;
        for (size_t j = 0; j < t->n; j++)
            for (size_t k = 0; k < row; k++) out[r * row + k] += sums[j * t->size + k];
    }
}

INLINE void set_rows(const dis__em_worker_rows *t, size_t row, const double *restrict values)
{
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t j = 0; j < t->n; j++) {
            double *restrict to = t->first + j * t->size + 2 * r * row;
            for (size_t k = 0; k < row; k++) to[k] = values[r * row + k];
            for (size_t k = 0; k < row; k++) to[row + k] = 0;
        }
}

void DIS_KERNEL(dis__em_add_sums)(const dis__em_worker_rows *t, double *out);
void DIS_KERNEL(dis__em_add_sums)(const dis__em_worker_rows *t, double *out)
{
    switch (t->row) {
    case 1: add_rows(t, 1, out); break;
    case 2: add_rows(t, 2, out); break;
    case 4: add_rows(t, 4, out); break;
    case 8: add_rows(t, 8, out); break;
    default: add_rows(t, t->row, out);
    }
}

void DIS_KERNEL(dis__em_set_rows)(const dis__em_worker_rows *t, const double *values);
void DIS_KERNEL(dis__em_set_rows)(const dis__em_worker_rows *t, const double *values)
{
    switch (t->row) {
    case 1: set_rows(t, 1, values); break;
    case 2: set_rows(t, 2, values); break;
    case 4: set_rows(t, 4, values); break;
    case 8: set_rows(t, 8, values); break;
    default: set_rows(t, t->row, values);
    }
}
