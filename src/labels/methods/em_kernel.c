/* The fused pass over one shard of items (labels/methods/em.h), for each instruction set.
 *
 * Probabilities are multiplied as they are, not added up as logarithms: no exp, no log, one division per item. Items
 * are taken in blocks of up to DIS_EM_BLOCK with at most DIS_EM_VOTES votes:
 *
 *     1. index   where the row of each vote of the block lies, in whole vectors of votes
 *     2. score   the product of the prior and the rows of each item's votes, item by item into scratch[b * row + k]
 *     3. share   products become posteriors (or the best class gets all)
 *     4. spread  the posterior of each item is added to the sums of its votes
 *
 * The sum of the products of an item is its normaliser. Logarithms of normalisers cost nothing: their exponents are
 * added up as integers, their mantissas multiplied, and a shard takes one log at its end.
 *
 * What a double cannot hold: factors are at most 1 (but for the pairs below), so a class that underflows on the way
 * would have underflowed in the end, and is at most 2^-300 of an item whose normaliser is above 2^-700. Items outside
 * 2^-700 .. 2^700, impossible ones among them, are done again by careful(): mantissa and exponent of each class apart,
 * a factor of 0 taken as 2^DIS_EM_NEVER. Numbers below 2^-1022 count as 0 (core/vmath.h): they are slow, and mean
 * nothing here.
 *
 * Everything that depends on the problem is decided outside the loops: pass() below is expanded for constant numbers of
 * classes and of 4-wide pieces per row, so the loops over classes vanish for K <= 8, and the loops over pieces for K
 * <= 16.
 *
 * Cost per vote at K = 4: a worker, a label, one cache line read twice and written once; some 10 instructions. */
#include "labels/methods/em.h"
#include "core/random.h"
#include "core/vmath.h"

#define INLINE static inline __attribute__((always_inline))

typedef double v4 __attribute__((vector_size(32), may_alias));
typedef double v2 __attribute__((vector_size(16), may_alias));
typedef int64_t i4 __attribute__((vector_size(32), may_alias));

#define MIN 0x1p-700
#define MAX 0x1p700

/* The constants of one expansion. */
typedef struct {
    size_t n_classes; /* K: labels */
    size_t n_states;  /* K times the groups */
    size_t pieces;    /* 4-wide pieces of a row; 0: one piece of 2 */
    size_t row;       /* doubles: 4 * pieces, or 2 */
    size_t block;
    bool wide;      /* 16-bit labels */
    bool pairs;     /* two numbers a (worker, label) or a worker instead of two rows */
    bool groups;    /* several states per class */
    bool registers; /* pieces is a constant, up to IN_REGISTERS */
} shape;

enum { IN_REGISTERS = 8 }; /* pieces of a row that are kept there at most */

/* The arrays of a job. A local copy, so that compilers see that the sums written through `table` do not change it. */
typedef struct {
    const uint64_t *start;
    const uint32_t *worker;
    const uint8_t *label8;
    const uint16_t *label16;
    const double *prior;
    const double *item; /* of the first item of all; NULL: none */
    const int32_t *gold;
    double *table, *scratch, *sum, *line;
    uint32_t *index;
    bool by_label; /* pairs: one for each (worker, label), not for each worker */
    size_t n_groups;
    const uint64_t *signature;
    uint64_t key;
    double *part; /* (n_groups, padded to vectors) */
} arrays;

INLINE size_t label_of(const arrays *a, uint64_t v, const shape *s)
{
    return s->wide ? a->label16[v] : a->label8[v];
}

/* Doubles from the start of the table to the row or pair of vote v. */
INLINE uint64_t place_of(const arrays *a, uint64_t v, const shape *s)
{
    const uint64_t w = a->worker[v];
    if (!s->pairs) return (w * s->n_classes + label_of(a, v, s)) * (2 * s->row);
    return 2 * (a->by_label ? w * s->n_classes + label_of(a, v, s) : w);
}

INLINE void find_rows(arrays a, uint64_t first, size_t n, const shape *s)
{
    uint32_t *restrict index = a.index;
    if (s->pairs && !a.by_label)
        for (size_t i = 0; i < n; i++) index[i] = 2 * a.worker[first + i];
    else
        for (size_t i = 0; i < n; i++)
            index[i] = (uint32_t)((a.worker[first + i] * s->n_classes + label_of(&a, first + i, s)) *
                                  (s->pairs ? 2 : 2 * s->row));
}

/* Piece c of the row, or the whole row of 2, that at[j] leads to. */
#define PIECE(j, c) (*(const v4 *)(a.table + at[j] + 4 * (c)))
#define HALF(j)     (*(const v2 *)(a.table + at[j]))

/* Four votes, then two, then one: few branches, short chains of products. */
INLINE void score_rows(arrays a, size_t first, size_t n, const shape *s)
{
    v4 prior[IN_REGISTERS] = {{0}};
    v2 prior2 = {0};
    for (size_t c = 0; c < s->pieces; c++) memcpy(&prior[c], a.prior + 4 * c, sizeof prior[c]);
    if (!s->pieces) memcpy(&prior2, a.prior, sizeof prior2);
    const uint32_t *at = a.index;
    for (size_t b = 0; b < n; b++) {
        uint64_t left = a.start[first + b + 1] - a.start[first + b];
        v4 x[IN_REGISTERS] = {{0}};
        v2 x2 = prior2;
        for (size_t c = 0; c < s->pieces; c++) x[c] = prior[c];
        for (; left >= 4; left -= 4, at += 4) {
            for (size_t c = 0; c < s->pieces; c++) x[c] *= (PIECE(0, c) * PIECE(1, c)) * (PIECE(2, c) * PIECE(3, c));
            if (!s->pieces) x2 *= (HALF(0) * HALF(1)) * (HALF(2) * HALF(3));
        }
        if (left & 2) {
            for (size_t c = 0; c < s->pieces; c++) x[c] *= PIECE(0, c) * PIECE(1, c);
            if (!s->pieces) x2 *= HALF(0) * HALF(1);
            at += 2;
        }
        if (left & 1) {
            for (size_t c = 0; c < s->pieces; c++) x[c] *= PIECE(0, c);
            if (!s->pieces) x2 *= HALF(0);
            at++;
        }
        for (size_t c = 0; c < s->pieces; c++) memcpy(a.scratch + b * s->row + 4 * c, &x[c], sizeof x[c]);
        if (!s->pieces) memcpy(a.scratch + b * s->row, &x2, sizeof x2);
    }
}

INLINE void add_row(const arrays *a, uint64_t at, const v4 *p, v2 p2, const shape *s)
{
    double *row = a->table + at + s->row;
    for (size_t c = 0; c < s->pieces; c++) *(v4 *)(row + 4 * c) += p[c];
    if (!s->pieces) *(v2 *)row += p2;
}

INLINE void spread_rows(arrays a, size_t first, size_t n, const shape *s)
{
    const uint32_t *at = a.index;
    for (size_t b = 0; b < n; b++) {
        uint64_t left = a.start[first + b + 1] - a.start[first + b];
        v4 p[IN_REGISTERS] = {{0}};
        v2 p2 = {0};
        for (size_t c = 0; c < s->pieces; c++) memcpy(&p[c], a.scratch + b * s->row + 4 * c, sizeof p[c]);
        if (!s->pieces) memcpy(&p2, a.scratch + b * s->row, sizeof p2);
        for (; left >= 4; left -= 4, at += 4)
            for (size_t j = 0; j < 4; j++) add_row(&a, at[j], p, p2, s);
        if (left & 2) {
            for (size_t j = 0; j < 2; j++) add_row(&a, at[j], p, p2, s);
            at += 2;
        }
        if (left & 1) add_row(&a, *at++, p, p2, s);
    }
}

/* The same for many classes or many votes: a row at a time through memory. */
static void score_lines(arrays a, size_t first, size_t n, const shape *s)
{
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++) {
        double *x = a.scratch + b * s->row;
        for (size_t k = 0; k < s->row; k++) x[k] = a.prior[k];
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            const double *row = a.table + place_of(&a, v, s);
            for (size_t k = 0; k < s->row; k++) x[k] *= row[k];
        }
    }
}

static void spread_lines(arrays a, size_t first, size_t n, const shape *s)
{
    uint64_t v = a.start[first];
    for (size_t b = 0; b < n; b++) {
        const double *p = a.scratch + b * s->row;
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            double *row = a.table + place_of(&a, v, s) + s->row;
            for (size_t k = 0; k < s->row; k++) row[k] += p[k];
        }
    }
}

/* The same for pairs: a factor of the voted class, and the sum of the posterior there. With few classes the product
 * stays in registers: a chain of stores and loads of the same place would be slow. `indexed` is a constant. */
INLINE void score_pairs(arrays a, size_t first, size_t n, const shape *s, bool indexed)
{
    static const i4 lanes = {0, 1, 2, 3};
    const bool small = s->registers;
    const uint64_t begin = a.start[first];
    uint64_t v = begin;
    for (size_t b = 0; b < n; b++) {
        double *x = a.scratch + b * s->row;
        v4 y[IN_REGISTERS] = {{0}};
        for (size_t k = 0; !small && k < s->row; k++) x[k] = a.prior[k];
        for (size_t c = 0; small && c < s->pieces; c++) memcpy(&y[c], a.prior + 4 * c, sizeof y[c]);
        double x0 = a.prior[0], x1 = a.prior[1];
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++) {
            const size_t label = label_of(&a, v, s);
            const double factor = a.table[indexed ? a.index[v - begin] : place_of(&a, v, s)];
            for (size_t c = 0; small && c < s->pieces; c++) {
                const i4 hit = lanes + (int64_t)(4 * c) == (int64_t)label;
                y[c] = (v4)((hit & (i4)(y[c] * factor)) | (~hit & (i4)y[c]));
            }
            if (!s->pieces) {
                x0 *= label ? 1 : factor;
                x1 *= label ? factor : 1;
            }
            if (!small) x[label] *= factor;
        }
        for (size_t c = 0; small && c < s->pieces; c++) memcpy(x + 4 * c, &y[c], sizeof y[c]);
        if (!s->pieces) {
            x[0] = x0;
            x[1] = x1;
        }
    }
}

INLINE void spread_pairs(arrays a, size_t first, size_t n, const shape *s, bool indexed)
{
    const uint64_t begin = a.start[first];
    uint64_t v = begin;
    for (size_t b = 0; b < n; b++) {
        const double *p = a.scratch + b * s->row;
        for (const uint64_t end = a.start[first + b + 1]; v < end; v++)
            a.table[(indexed ? a.index[v - begin] : place_of(&a, v, s)) + 1] += p[label_of(&a, v, s)];
    }
}

/* x: shares of classes, of which the share of each is split over its states: exponential numbers, normalised. The
 * random numbers are those of the item's signature. */
static void split_shares(arrays a, size_t i, double *x, const shape *s)
{
    const size_t M = a.n_groups, padded = (M + DIS_LANES - 1) / DIS_LANES * DIS_LANES;
    for (size_t k = s->n_classes; k-- > 0;) { /* states of class k lie at or behind the shares still to be read */
        const double share = x[k];
        for (size_t m = 0; m < M; m++) x[k * M + m] = 0;
        if (!(share > 0)) continue;
        dis_random_block r = {{0}};
        double *part = a.part, sum = 0;
        for (size_t m = 0; m < padded; m++) {
            if (m % 4 == 0) r = dis__philox(a.signature[i], k << 32 | m, a.key);
            part[m] = ((double)r.word[m % 4] + .5) * 0x1p-32;
        }
        for (size_t m = 0; m < padded; m += DIS_LANES) dis__vstore(part + m, dis__vlog(dis__vload(part + m)));
        for (size_t m = 0; m < M; m++) sum += part[m];
        for (size_t m = 0; m < M; m++) x[k * M + m] = share * part[m] / sum;
    }
}

/* Vote shares instead of products: where the methods start. Nobody voted: all classes alike. */
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

/* The factor that each item has beside the class prior. */
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

/* Known items: every other class is impossible, and the normaliser becomes the product of the known one by itself. */
static void pin(double *scratch, const int32_t *gold, size_t n_groups, size_t n, const shape *s)
{
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; gold[b] >= 0 && k < s->n_states; k++)
            if ((s->groups ? k / n_groups : k) != (size_t)gold[b]) scratch[b * s->row + k] = 0;
}

/* x = mantissa * 2^exponent with 1 <= mantissa < 2; the exponent is added to e. 0: see above. */
INLINE double split(double x, double *e)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const bool zero = x < 0x1p-1022;
    *e += zero ? DIS_EM_NEVER : (double)(int64_t)(bits >> 52) - 1023;
    bits = zero ? 0x3ff0000000000000u : (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The product of item i into x, whatever its size; returns the power of 2 that it is to be multiplied with. */
static double careful(arrays a, size_t i, double *x, const shape *s)
{
    double *e = a.line;
    for (size_t k = 0; k < s->n_states; k++) {
        e[k] = 0;
        x[k] = split(a.prior[k], &e[k]);
        if (a.item) x[k] = split(x[k] * split(a.item[i * s->n_classes + k], &e[k]), &e[k]);
    }
    for (uint64_t v = a.start[i]; v < a.start[i + 1]; v++) {
        const double *row = a.table + place_of(&a, v, s);
        if (s->pairs) {
            const size_t k = label_of(&a, v, s);
            x[k] = split(x[k] * split(row[0], &e[k]), &e[k]);
        } else {
            for (size_t k = 0; k < s->n_states; k++) x[k] = split(x[k] * split(row[k], &e[k]), &e[k]);
        }
    }
    const bool pinned = a.gold && a.gold[i] >= 0;
    const size_t from = pinned ? (size_t)a.gold[i] * a.n_groups : 0, to = pinned ? from + a.n_groups : s->n_states;
    double top = -1e300;
    for (size_t k = 0; k < s->n_states; k++)
        if (k >= from && k < to && e[k] > top) top = e[k];
    for (size_t k = 0; k < s->n_states; k++) {
        const uint64_t bits = (uint64_t)(e[k] - top < -1000 ? 0 : 1023 + e[k] - top) << 52;
        double scale;
        memcpy(&scale, &bits, sizeof scale);
        x[k] = k >= from && k < to && e[k] - top >= -1000 ? x[k] * scale : 0;
    }
    for (size_t k = s->n_states; k < s->row; k++) x[k] = 0;
    return top;
}

/* Sums of log normalisers: mantissas multiplied, exponents (the bias of 1023 included) added. */
typedef struct {
    dis__vec product;
    dis__uvec exponent;
    double n;     /* numbers in each lane */
    double extra; /* powers of 2 besides */
} logs;

INLINE void take_exponent(logs *l, dis__vec x, bool fresh)
{
    const dis__uvec bits = (dis__uvec)x;
    const dis__vec mantissa = (dis__vec)((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    l->exponent += bits >> 52;
    l->product = fresh ? mantissa : l->product * mantissa;
    l->n += 1;
}

static double finish_logs(const logs *l)
{
    double exponents = l->extra, sum = 0;
    const dis__vec mantissas = dis__vlog(l->product);
    for (size_t j = 0; j < DIS_LANES; j++) {
        exponents += (double)l->exponent[j] - 1023 * l->n;
        sum += mantissas[j];
    }
    return sum + exponents * 0.693147180559945309417;
}

INLINE size_t whole_vectors(size_t n)
{
    return (n + DIS_LANES - 1) / DIS_LANES * DIS_LANES;
}

/* The normaliser of one item: the sum of its products, under DIS_EM_HARD the largest. */
INLINE double total_of(const double *x, bool hard, const shape *s)
{
    if (hard) {
        double top = x[0];
        for (size_t k = 1; k < s->n_classes; k++) top = x[k] > top ? x[k] : top;
        return top;
    }
    if (s->row == 2) return x[0] + x[1];
    double y[4] = {x[0], x[1], x[2], x[3]};
    for (size_t k = 4; k < s->row; k += 4)
        for (size_t j = 0; j < 4; j++) y[j] += x[k + j];
    return (y[0] + y[1]) + (y[2] + y[3]);
}

/* All of an item to its best class, the first one on a tie. */
INLINE void harden(double *x, double top, const shape *s)
{
    bool found = false;
    for (size_t k = 0; k < s->row; k++) {
        const bool best = !found && x[k] == top;
        found |= best;
        x[k] = best;
    }
}

/* x / y given 1 / y: a product and its correction (Markstein 1990), so that x / x is 1. */
INLINE double quotient(double x, double y, double inverse)
{
#ifdef __FMA__
    const double q = x * inverse;
    return __builtin_fma(__builtin_fma(-q, y, x), inverse, q);
#else
    (void)inverse;
    return x / y;
#endif
}

/* Products to posteriors. Items past n, up to whole vectors, are certain ones: log normaliser 0. */
INLINE void share(arrays a, size_t first, size_t n, const shape *s, bool hard, logs *l)
{
    const size_t padded = whole_vectors(n);
    double *restrict sum = a.sum, *restrict x = a.scratch;
    for (size_t b = n; b < padded; b++)
        for (size_t k = 0; k < s->row; k++) x[b * s->row + k] = k == 0;
    for (size_t b = 0; b < padded; b++) sum[b] = total_of(x + b * s->row, hard, s);
    dis__ivec fit = ~(dis__ivec){0};
    for (size_t b = 0; b < padded; b += DIS_LANES)
        fit &= (dis__ivec)(dis__vload(sum + b) > MIN) & (dis__ivec)(dis__vload(sum + b) < MAX);
    bool fits = true;
    for (size_t j = 0; j < DIS_LANES; j++) fits &= fit[j] != 0;
    for (size_t b = 0; !fits && b < n; b++)
        if (!(sum[b] > MIN && sum[b] < MAX)) {
            l->extra += careful(a, first + b, x + b * s->row, s);
            sum[b] = total_of(x + b * s->row, hard, s);
        }
    for (size_t b = 0; b < padded; b += DIS_LANES) take_exponent(l, dis__vload(sum + b), false);
    take_exponent(l, l->product, true); /* the product stays small */
    if (hard) {
        for (size_t b = 0; b < n; b++) harden(x + b * s->row, sum[b], s);
        return;
    }
    double *restrict inverse = a.sum + DIS_EM_BLOCK;
    for (size_t b = 0; b < padded; b++) inverse[b] = 1 / sum[b];
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; k < s->row; k++) x[b * s->row + k] = quotient(x[b * s->row + k], sum[b], inverse[b]);
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

/* Posteriors of classes from those of states; of known items exactly 0 and 1. */
static void write_classes(arrays a, size_t i, const double *x, double *p, const shape *s)
{
    const size_t M = a.n_groups;
    for (size_t k = 0; k < s->n_classes; k++) {
        p[k] = 0;
        for (size_t m = 0; m < M; m++) p[k] += x[k * M + m];
        if (a.gold && a.gold[i] >= 0) p[k] = k == (size_t)a.gold[i];
    }
}

/* How many items from `first` on make a block: as many as the index has room for, at least one. */
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

/* Several states per class: pieces are constants up to IN_REGISTERS of them. */
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
    const unsigned before = dis__flush_tiny();
    if (job->n_groups > 1)
        pass_groups(job);
    else
        (n_classes <= 16 ? passes[n_classes] : job->votes->label8 ? pass_256 : pass_65535)(job);
    dis__flush_restore(before);
}
