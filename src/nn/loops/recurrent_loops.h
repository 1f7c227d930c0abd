/* Loops of recurrent layers, gates and gradients as PyTorch has them:
 *
 *     LSTM (Hochreiter & Schmidhuber 1997, with forget gate): i, f, o = sigmoid(.), g = tanh(.);
 *         c = f c' + i g;  h = o tanh(c)
 *     GRU (Cho et al. 2014, r behind the product): r, z = sigmoid(.), n = tanh(. + r (W h' + b));  h = n + z (h' - n)
 *
 * The inputs' part of all gates comes from products over all positions before. Here each block of rows runs through its
 * whole sequence on one core, with the matrix of the state packed once: no meeting of threads a step. Behind a row's
 * length state and output are 0, so the backward direction starts from 0 at the last word whatever the padding.
 *
 * Cost: 8 (GRU: 6) rows times hidden^2 operations forward, as many backward. */
#include "nn/loops/loops.h"

typedef struct {
    size_t direction, first, rows, n; /* rows [first, first + rows); n: the longest of them */
} recurrent_block;

static inline recurrent_block block_of(const dis__recurrent_args *a, size_t index)
{
    const size_t blocks = (a->n_rows + DIS_RECURRENT_BLOCK - 1) / DIS_RECURRENT_BLOCK;
    recurrent_block b = {.direction = index / blocks, .first = index % blocks * DIS_RECURRENT_BLOCK};
    b.rows = a->n_rows - b.first < DIS_RECURRENT_BLOCK ? a->n_rows - b.first : DIS_RECURRENT_BLOCK;
    if (!a->length) b.n = a->n_times;
    for (size_t i = 0; a->length && i < b.rows; i++)
        if ((size_t)a->length[b.first + i] > b.n) b.n = (size_t)a->length[b.first + i];
    return b;
}

static inline bool is_alive(const dis__recurrent_args *a, size_t row, size_t t)
{
    return !a->length || t < (size_t)a->length[row];
}

/* One row at one step: gate arguments to gates, c and h. c0, h0 NULL: what was before is 0. */
static void lstm_step(size_t n, real *restrict gate, const real *restrict c0, real *restrict c, const real *restrict h0,
                      real *restrict h)
{
    (void)h0;
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

/* dh, dc: gradients of this step's state; they become what goes to the step before past the product (the LSTM's dh:
 * nothing), gates the gradients of their arguments. */
static void lstm_step_grad(size_t n, real *restrict gate, const real *restrict c0, const real *restrict c,
                           const real *restrict h0, real *restrict dh, real *restrict dc)
{
    (void)h0;
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

static void gru_step(size_t n, real *restrict gate, const real *restrict c0, real *restrict c, const real *restrict h0,
                     real *restrict h)
{
    (void)c0;
    (void)c;
    real *restrict m = gate, *restrict r = gate + n, *restrict z = gate + 2 * n;
    const real *restrict s = gate + 3 * n;
    for (size_t k = 0; k < 2 * n; k++) r[k] = sigmoid(r[k]);
    for (size_t k = 0; k < n; k++) m[k] = tanh_of(m[k] + r[k] * s[k]);
    if (h0)
        for (size_t k = 0; k < n; k++) h[k] = m[k] + z[k] * (h0[k] - m[k]);
    else
        for (size_t k = 0; k < n; k++) h[k] = m[k] - z[k] * m[k];
}

static void gru_step_grad(size_t n, real *restrict gate, const real *restrict c0, const real *restrict c,
                          const real *restrict h0, real *restrict dh, real *restrict dc)
{
    (void)c0;
    (void)c;
    (void)dc;
    real *restrict gm = gate, *restrict gr = gate + n, *restrict gz = gate + 2 * n, *restrict gs = gate + 3 * n;
    for (size_t k = 0; k < n; k++) {
        const real m = gm[k], r = gr[k], z = gz[k], s = gs[k], before = h0 ? h0[k] : 0;
        const real d = dh[k] * (1 - z) * (1 - m * m);
        gm[k] = d;
        gs[k] = d * r;
        gr[k] = d * s * r * (1 - r);
        gz[k] = dh[k] * (before - m) * z * (1 - z);
        dh[k] *= z;
    }
}

typedef struct {
    void (*step)(size_t n, real *restrict gate, const real *restrict c0, real *restrict c, const real *restrict h0,
                 real *restrict h);
    void (*grad)(size_t n, real *restrict gate, const real *restrict c0, const real *restrict c,
                 const real *restrict h0, real *restrict dh, real *restrict dc);
    bool passes; /* part of dh goes to the step before past the product */
} recurrent_cell;

static const recurrent_cell recurrent_cells[DIS_N_CELLS] = {
    [DIS_CELL_LSTM] = {lstm_step, lstm_step_grad, false},
    [DIS_CELL_GRU] = {gru_step, gru_step_grad, true},
};

void OP(recurrent)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__recurrent_args *a = args;
    const recurrent_cell *cell = &recurrent_cells[a->cell];
    const size_t n = a->n_hidden, times_all = a->n_times, ld = a->n_directions * n, width = DIS_RECURRENT_GATES * n;
    const size_t nc = a->n_memory;
    real *packed = (real *)((char *)scratch + TIMES_SCRATCH);
    for (size_t index = first; index < last; index++) {
        const recurrent_block b = block_of(a, index);
        const bool back = b.direction == 1;
        real *gates = a->gates[b.direction], *memory = a->memory[b.direction], *y = (real *)a->y + b.direction * n;
        matrices x = {.tb = true, .add = true, .m = b.rows, .n = a->n_state * n, .k = n, .ldc = times_all * width};
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
                x.c = gates + (start + t) * width + a->first_state * n;
                times_packed(&x, packed, scratch);
            }
            for (size_t i = 0; i < b.rows; i++) {
                const size_t at = start + i * times_all + t, then = start + i * times_all + before;
                if (!is_alive(a, b.first + i, t)) {
                    memset(y + at * ld, 0, n * sizeof *y);
                    memset(memory + at * nc, 0, nc * sizeof *memory);
                    continue;
                }
                cell->step(n, gates + at * width, has_before ? memory + then * nc : NULL, memory + at * nc,
                           has_before ? y + then * ld : NULL, y + at * ld);
            }
        }
    }
}

void OP(recurrent_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__recurrent_args *a = args;
    const recurrent_cell *cell = &recurrent_cells[a->cell];
    const size_t n = a->n_hidden, times_all = a->n_times, ld = a->n_directions * n, width = DIS_RECURRENT_GATES * n;
    const size_t nc = a->n_memory;
    real *dh = (real *)((char *)scratch + TIMES_SCRATCH), *dc = dh + DIS_RECURRENT_BLOCK * n;
    real *packed = dc + DIS_RECURRENT_BLOCK * n;
    for (size_t index = first; index < last; index++) {
        const recurrent_block b = block_of(a, index);
        const bool back = b.direction == 1;
        real *gates = a->gates[b.direction], *kept = a->before[b.direction];
        const real *memory = a->memory[b.direction], *y = (const real *)a->y + b.direction * n;
        const real *dy = (const real *)a->dy + b.direction * n;
        matrices x = {.add = cell->passes, .m = b.rows, .n = n, .k = a->n_state * n, .c = dh, .ldc = n};
        x.b = a->weight[b.direction];
        x.ldb = n;
        x.lda = times_all * width;
        pack(&x, packed);
        memset(dh, 0, 2 * DIS_RECURRENT_BLOCK * n * sizeof *dh);
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
                    memset(gates + at * width, 0, width * sizeof *gates);
                    memset(h, 0, n * sizeof *h);
                    continue;
                }
                for (size_t k = 0; k < n; k++) h[k] += dy[at * ld + k];
                cell->grad(n, gates + at * width, has_before ? memory + then * nc : NULL, memory + at * nc,
                           has_before ? y + then * ld : NULL, h, dc + i * n);
            }
            if (!has_before || t >= b.n) {
                memset(dh, 0, b.rows * n * sizeof *dh);
                continue;
            }
            x.a = gates + (start + t) * width + a->first_state * n;
            times_packed(&x, packed, scratch);
        }
    }
}
