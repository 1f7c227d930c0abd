/* Loops of dense layers: products, activations, sums of columns, rows gathered from a table, copies of columns, sums.
 * All but the product are bound by memory: O(elements). */
#include "nn/loops/loops.h"

static inline real sigmoid(real x)
{
    return 1 / (1 + EXP(-x));
}

/* tanh from exp: an absolute error of a few ulp of 1. */
static inline real tanh_of(real x)
{
    return 1 - 2 / (1 + EXP(2 * x));
}

/* GELU(x) = x Phi(x), Phi by the error function. */
static inline real gelu(real x)
{
    return x * (real)0.5 * (1 + ERF(x * (real)0.70710678118654752440));
}

static inline real gelu_slope(real x)
{
    return (real)0.5 * (1 + ERF(x * (real)0.70710678118654752440)) +
           x * (real)0.39894228040143267794 * EXP(x * x * (real)-0.5);
}

#define EACH(i) for (size_t i = 0; i < n; i++)

static inline void activate_row(dis__activation act, const real *x, real *y, size_t n)
{
    switch (act) {
    case DIS_ACT_RELU: EACH(i) y[i] = x[i] > 0 ? x[i] : 0; break;
    case DIS_ACT_TANH: EACH(i) y[i] = tanh_of(x[i]); break;
    case DIS_ACT_SIGMOID: EACH(i) y[i] = sigmoid(x[i]); break;
    case DIS_ACT_GELU: EACH(i) y[i] = gelu(x[i]); break;
    case DIS_ACT_NONE:
    case DIS_N_ACTS:
        if (y != x) memmove(y, x, n * sizeof *y);
    }
}

/* dx = dy act'. x: see dis__activate_args. */
static inline void activate_grad_row(dis__activation act, const real *x, const real *dy, real *dx, size_t n)
{
    switch (act) {
    case DIS_ACT_RELU: EACH(i) dx[i] = x[i] > 0 ? dy[i] : 0; break;
    case DIS_ACT_TANH: EACH(i) dx[i] = dy[i] * (1 - x[i] * x[i]); break;
    case DIS_ACT_SIGMOID: EACH(i) dx[i] = dy[i] * x[i] * (1 - x[i]); break;
    case DIS_ACT_GELU: EACH(i) dx[i] = dy[i] * gelu_slope(x[i]); break;
    case DIS_ACT_NONE:
    case DIS_N_ACTS:
        if (dx != dy) memmove(dx, dy, n * sizeof *dx);
    }
}
#undef EACH

/* The start of a tile of C. */
typedef struct {
    const dis__product_args *a;
    size_t row, col;
} product_tile;

/* Biases and activation of a part of it. */
static void end_product(const void *arg, size_t row, size_t col, size_t m, size_t n)
{
    const product_tile *t = arg;
    const dis__product_args *a = t->a;
    const real *bias = a->bias ? (const real *)a->bias + t->col + col : NULL;
    const real *bias2 = a->bias2 ? (const real *)a->bias2 + t->col + col : NULL;
    real *c = (real *)a->c + (t->row + row) * a->ldc + t->col + col;
    for (size_t i = 0; i < m; i++, c += a->ldc) {
        for (size_t j = 0; bias && j < n; j++) c[j] += bias[j];
        for (size_t j = 0; bias2 && j < n; j++) c[j] += bias2[j];
        activate_row(a->act, c, c, n);
    }
}

/* An empty factor (k = 0) may be NULL. */
static const real *behind(const real *x, size_t n)
{
    return x ? x + n : NULL;
}

void OP(product)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__product_args *a = args;
    const size_t across = (a->n + a->tile_cols - 1) / a->tile_cols;
    const bool ends = a->bias || a->bias2 || a->act != DIS_ACT_NONE;
    for (size_t t = first; t < last; t++) {
        const product_tile tile = {a, t / across * a->tile_rows, t % across * a->tile_cols};
        const size_t row = tile.row, col = tile.col;
        const size_t m = a->m - row < a->tile_rows ? a->m - row : a->tile_rows;
        const size_t n = a->n - col < a->tile_cols ? a->n - col : a->tile_cols;
        const size_t left = a->ta ? row : row * a->lda, right = a->tb ? col * a->ldb : col;
        times(&(matrices){a->ta, a->tb, a->add, m, n, a->k, behind(a->a, left), a->lda, behind(a->b, right), a->ldb,
                          (real *)a->c + row * a->ldc + col, a->ldc, ends ? end_product : NULL, &tile},
              scratch);
    }
}

void OP(activate)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__activate_args *a = args;
    activate_row(a->act, (const real *)a->x + first, (real *)a->y + first, last - first);
}

void OP(activate_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__activate_args *a = args;
    activate_grad_row(a->act, (const real *)a->x + first, (const real *)a->dy + first, (real *)a->y + first,
                      last - first);
}

void OP(column_sums)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__column_sums_args *a = args;
    const real *x = a->x;
    real *restrict out = a->out;
    for (size_t c = first; c < last;) { /* a few vectors of columns at a time, over all rows */
        const size_t n = last - c < 64 ? last - c : 64;
        real total[64] = {0};
        for (size_t i = 0; i < a->n_rows; i++)
            for (size_t j = 0; j < n; j++) total[j] += x[i * a->ld + c + j];
        for (size_t j = 0; j < n; j++) out[c + j] += total[j];
        c += n;
    }
}

void OP(gather)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__gather_args *a = args;
    const size_t width = a->width;
    const real *table = a->table;
    for (size_t i = first; i < last; i++) {
        const size_t n = a->count ? (size_t)a->count[i] : a->per;
        const int32_t *id = a->id + i * a->per;
        real *restrict y = (real *)a->y + i * width;
        if (a->per == 1 && id[0] >= 0) {
            memcpy(y, table + (size_t)id[0] * width, width * sizeof *y);
            continue;
        }
        memset(y, 0, width * sizeof *y);
        size_t used = 0;
        for (size_t j = 0; j < n; j++) {
            if (id[j] < 0) continue;
            const real *restrict row = table + (size_t)id[j] * width;
            for (size_t c = 0; c < width; c++) y[c] += row[c];
            used++;
        }
        if (a->mean && used > 1) {
            const real share = 1 / (real)used;
            for (size_t c = 0; c < width; c++) y[c] *= share;
        }
    }
}

void OP(gather_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__gather_args *a = args;
    const size_t width = a->width;
    for (size_t i = 0; i < a->n_rows; i++) {
        const size_t n = a->count ? (size_t)a->count[i] : a->per;
        const int32_t *id = a->id + i * a->per;
        const real *restrict dy = (const real *)a->dy + i * width;
        size_t used = 0;
        if (a->mean)
            for (size_t j = 0; j < n; j++) used += id[j] >= 0;
        const real share = used > 1 ? 1 / (real)used : 1;
        for (size_t j = 0; j < n; j++) {
            if (id[j] < 0) continue;
            real *restrict row = (real *)a->d_table + (size_t)id[j] * width;
            for (size_t c = first; c < last; c++) row[c] += share * dy[c];
        }
    }
}

void OP(add)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__add_args *a = args;
    const real *x = a->x, *z = a->z ? a->z : a->y;
    real *y = a->y;
    for (size_t i = first; i < last; i++) y[i] = x[i] + z[i];
}

void OP(shift)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__shift_args *a = args;
    const real scale = (real)a->scale, odd = (real)a->odd;
    for (size_t i = first; i < last; i++) {
        const real *x = (const real *)a->x + i * a->width;
        real *y = (real *)a->y + i * a->width;
        for (size_t c = 0; c < a->width; c++) {
            const real z = scale * x[c] + (c % 2 ? odd : 0);
            y[c] = a->add ? y[c] + z : z;
        }
    }
}

void OP(copy_columns)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__copy_columns_args *a = args;
    for (size_t i = first; i < last; i++)
        store_or_add((real *)a->to + i * a->to_ld, (const real *)a->from + i * a->from_ld, a->width, a->add);
}
