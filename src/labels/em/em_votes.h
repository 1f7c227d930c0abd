/* em_votes.h: steps 1, 2 and 4 of em_kernel.c, over the votes of a block of items: the offset of each vote's row, the
 * product of the rows of each item's votes, and adding its posterior to the sums of these rows. Part of em_kernel.c: it
 * is compiled for each instruction set, and `shape` is a constant where it is expanded. */
#ifndef DIS_LABELS_EM_VOTES_H
#define DIS_LABELS_EM_VOTES_H
#include "labels/em/em.h"
#include "core/numbers/vector_math.h"

#define INLINE static inline __attribute__((always_inline))

typedef double v4 __attribute__((vector_size(32), may_alias));
typedef double v2 __attribute__((vector_size(16), may_alias));
typedef int64_t i4 __attribute__((vector_size(32), may_alias));

/* The constants of one expansion. */
typedef struct {
    size_t n_classes; /* K: labels */
    size_t n_states;  /* K times the groups */
    size_t pieces;    /* 4-wide pieces of a row; 0: one piece of 2 */
    size_t row;       /* doubles: 4 * pieces, or 2 */
    size_t block;
    bool wide;      /* 16-bit labels */
    bool pairs;     /* two values per (worker, label) or per worker instead of two rows */
    bool groups;    /* several states per class */
    bool registers; /* the number of pieces is a constant, up to IN_REGISTERS */
} shape;

enum { IN_REGISTERS = 8 }; /* maximum number of pieces of a row in registers */

/* The arrays of a job. A local copy, so that compilers see that stores to `table` do not change it. */
typedef struct {
    const uint64_t *start;
    const uint32_t *worker;
    const uint8_t *label8;
    const uint16_t *label16;
    const double *prior;
    const double *item; /* signature of the first item; NULL: none */
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

/* Offset in doubles of the row or pair of vote v. */
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

/* Piece c of the row, or the whole row of 2, at offset at[j]. */
#define PIECE(j, c) (*(const v4 *)(a.table + at[j] + 4 * (c)))
#define HALF(j)     (*(const v2 *)(a.table + at[j]))

/* Four votes, then two, then one: few branches, short chains of multiplications. */
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

/* The same for many classes or many votes: one row at a time through memory. */
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

/* The same for pairs: a factor of the voted class, and the sum of its posterior. With few classes the product stays in
 * registers: a chain of stores and loads of the same address would be slow. `indexed` is a constant. */
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

#endif
