/* Loops of the LSTM (Hochreiter & Schmidhuber 1997, with forget gate), gates in PyTorch's order:
 *
 *     i, f, o = sigmoid(.), g = tanh(.);  c = f c' + i g;  h = o tanh(c)
 *
 * The inputs' part of all gates comes from one product over all positions before. Here each block of rows runs through
 * its whole sequence on one core, with the matrix of the state packed once: no meeting of threads a step. Behind a row's
 * length state and output are 0, so the backward direction starts from 0 at the last word whatever the padding.
 *
 * Cost: 8 rows times hidden^2 operations forward, as many backward. */
#include "nn/loops/loops.h"

typedef struct {
    size_t direction, first, rows, n; /* rows [first, first + rows); n: the longest of them */
} lstm_block;

static inline lstm_block block_of(const dis__lstm_args *a, size_t index)
{
    const size_t blocks = (a->n_rows + DIS_LSTM_BLOCK - 1) / DIS_LSTM_BLOCK;
    lstm_block b = {.direction = index / blocks, .first = index % blocks * DIS_LSTM_BLOCK};
    b.rows = a->n_rows - b.first < DIS_LSTM_BLOCK ? a->n_rows - b.first : DIS_LSTM_BLOCK;
    if (!a->length) b.n = a->n_times;
    for (size_t i = 0; a->length && i < b.rows; i++)
        if ((size_t)a->length[b.first + i] > b.n) b.n = (size_t)a->length[b.first + i];
    return b;
}

static inline bool is_alive(const dis__lstm_args *a, size_t row, size_t t)
{
    return !a->length || t < (size_t)a->length[row];
}

/* One row at one step: gate arguments to gates, c and h. c0 NULL: the state before is 0. */
static inline void lstm_cell(size_t n, real *restrict gate, const real *restrict c0, real *restrict c, real *restrict h)
{
    real *restrict i = gate, *restrict f = gate + n, *restrict g = gate + 2 * n, *restrict o = gate + 3 * n;
    for (size_t k = 0; k < 2 * n; k++) gate[k] = sigmoid(gate[k]);
    for (size_t k = 0; k < n; k++) g[k] = tanh_of(g[k]);
    for (size_t k = 0; k < n; k++) o[k] = sigmoid(o[k]);
    if (c0)
        for (size_t k = 0; k < n; k++) c[k] = f[k] * c0[k] + i[k] * g[k];
    else
        for (size_t k = 0; k < n; k++) c[k] = i[k] * g[k];
    for (size_t k = 0; k < n; k++) h[k] = o[k] * tanh_of(c[k]);
}

/* dh, dc: gradients of this step's state; dc becomes that of the cell before, gates those of their arguments. */
static inline void lstm_cell_grad(size_t n, real *restrict gate, const real *restrict c0, const real *restrict c,
                                  const real *restrict dh, real *restrict dc)
{
    real *restrict gi = gate, *restrict gf = gate + n, *restrict gg = gate + 2 * n, *restrict go = gate + 3 * n;
    for (size_t k = 0; k < n; k++) {
        const real i = gi[k], f = gf[k], g = gg[k], o = go[k], t = tanh_of(c[k]), before = c0 ? c0[k] : 0;
        const real d = dc[k] + dh[k] * o * (1 - t * t);
        go[k] = dh[k] * t * o * (1 - o);
        gi[k] = d * g * i * (1 - i);
        gg[k] = d * i * (1 - g * g);
        gf[k] = d * before * f * (1 - f);
        dc[k] = d * f;
    }
}

void OP(lstm)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__lstm_args *a = args;
    const size_t n = a->n_hidden, times_all = a->n_times, ld = a->n_directions * n;
    real *packed = (real *)((char *)scratch + TIMES_SCRATCH);
    for (size_t index = first; index < last; index++) {
        const lstm_block b = block_of(a, index);
        const bool back = b.direction == 1;
        real *gates = a->gates[b.direction], *cell = a->cell[b.direction], *y = (real *)a->y + b.direction * n;
        matrices x = {.tb = true, .add = true, .m = b.rows, .n = 4 * n, .k = n, .ldc = times_all * 4 * n};
        x.b = a->weight[b.direction];
        x.ldb = n;
        x.lda = times_all * ld;
        pack(&x, packed);
        for (size_t s = 0; s < times_all; s++) {
            const size_t t = back ? times_all - 1 - s : s, before = back ? t + 1 : t - 1;
            const size_t start = b.first * times_all;
            const bool has_before = s > 0 && before < b.n;
            if (has_before && t < b.n) {
                x.a = y + (start + before) * ld;
                x.c = gates + (start + t) * 4 * n;
                times_packed(&x, packed, scratch);
            }
            for (size_t i = 0; i < b.rows; i++) {
                const size_t at = start + i * times_all + t, then = start + i * times_all + before;
                if (!is_alive(a, b.first + i, t)) {
                    memset(y + at * ld, 0, n * sizeof *y);
                    memset(cell + at * n, 0, n * sizeof *cell);
                    continue;
                }
                lstm_cell(n, gates + at * 4 * n, has_before ? cell + then * n : NULL, cell + at * n, y + at * ld);
            }
        }
    }
}

void OP(lstm_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__lstm_args *a = args;
    const size_t n = a->n_hidden, times_all = a->n_times, ld = a->n_directions * n;
    real *dh = (real *)((char *)scratch + TIMES_SCRATCH), *dc = dh + DIS_LSTM_BLOCK * n;
    real *packed = dc + DIS_LSTM_BLOCK * n;
    for (size_t index = first; index < last; index++) {
        const lstm_block b = block_of(a, index);
        const bool back = b.direction == 1;
        real *gates = a->gates[b.direction], *kept = a->before[b.direction];
        const real *cell = a->cell[b.direction], *y = (const real *)a->y + b.direction * n;
        const real *dy = (const real *)a->dy + b.direction * n;
        matrices x = {.m = b.rows, .n = n, .k = 4 * n, .lda = times_all * 4 * n, .c = dh, .ldc = n};
        x.b = a->weight[b.direction];
        x.ldb = n;
        pack(&x, packed);
        memset(dh, 0, 2 * DIS_LSTM_BLOCK * n * sizeof *dh);
        for (size_t s = times_all; s-- > 0;) {
            const size_t t = back ? times_all - 1 - s : s, before = back ? t + 1 : t - 1;
            const size_t start = b.first * times_all;
            const bool has_before = s > 0 && before < b.n;
            for (size_t i = 0; i < b.rows; i++) {
                const size_t at = start + i * times_all + t, then = start + i * times_all + before;
                real *restrict h = dh + i * n;
                if (has_before)
                    memcpy(kept + at * n, y + then * ld, n * sizeof *kept);
                else
                    memset(kept + at * n, 0, n * sizeof *kept);
                if (!is_alive(a, b.first + i, t)) {
                    memset(gates + at * 4 * n, 0, 4 * n * sizeof *gates);
                    memset(h, 0, n * sizeof *h);
                    continue;
                }
                for (size_t k = 0; k < n; k++) h[k] += dy[at * ld + k];
                lstm_cell_grad(n, gates + at * 4 * n, has_before ? cell + then * n : NULL, cell + at * n, h,
                               dc + i * n);
            }
            if (!has_before || t >= b.n) {
                memset(dh, 0, b.rows * n * sizeof *dh);
                continue;
            }
            x.a = gates + (start + t) * 4 * n;
            times_packed(&x, packed, scratch);
        }
    }
}
