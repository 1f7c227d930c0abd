/* Loops of recurrent layers, gates and gradients as PyTorch has them:
 *
 *     LSTM (Hochreiter & Schmidhuber 1997, with forget gate): i, f, o = sigmoid(.), g = tanh(.);
 *         c = f c' + i g;  h = o tanh(c)
 *     GRU (Cho et al. 2014, r behind the product): r, z = sigmoid(.), n = tanh(. + r (W h' + b));  h = n + z (h' - n)
 *
 * The inputs' part of all gates comes from products over all positions before. Here each block of rows runs through its
 * whole sequence on one core, with the matrix of the state packed once: no meeting of threads a step. Rows lie longest
 * first, so those that a step has are the first of the block, and nothing is done behind a row's length.
 *
 * Cost: 8 (GRU: 6) positions hidden^2 operations forward, as many backward. */
#include "nn/loops/loops.h"

typedef struct {
    size_t direction, first, rows; /* rows [first, first + rows) in order */
} recurrent_block;

static inline recurrent_block block_of(const dis__recurrent_args *a, size_t index)
{
    const size_t blocks = (a->n_rows + DIS_RECURRENT_BLOCK - 1) / DIS_RECURRENT_BLOCK;
    recurrent_block b = {.direction = index / blocks, .first = index % blocks * DIS_RECURRENT_BLOCK};
    b.rows = a->n_rows - b.first < DIS_RECURRENT_BLOCK ? a->n_rows - b.first : DIS_RECURRENT_BLOCK;
    return b;
}

/* One step of a block, the s-th of its direction: its time, how many of the block's rows it has, how many of these come
 * from a step before, and the positions of the first row now and before. */
typedef struct {
    size_t t, here, from, at, then;
} recurrent_moment;

static inline size_t rows_at(const dis__recurrent_args *a, const recurrent_block *b, size_t t)
{
    const size_t n = (size_t)(a->start[t + 1] - a->start[t]), left = n > b->first ? n - b->first : 0;
    return left < b->rows ? left : b->rows;
}

static inline recurrent_moment moment_of(const dis__recurrent_args *a, const recurrent_block *b, size_t s)
{
    const bool back = b->direction == 1;
    recurrent_moment m = {.t = back ? a->n_times - 1 - s : s};
    m.here = rows_at(a, b, m.t);
    m.at = (size_t)a->start[m.t] + b->first;
    if (s == 0) return m;
    const size_t before = back ? m.t + 1 : m.t - 1, rows = rows_at(a, b, before);
    m.from = rows < m.here ? rows : m.here;
    m.then = (size_t)a->start[before] + b->first;
    return m;
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
    const size_t n = a->n_hidden, nc = a->n_memory, ld = a->n_directions * n, width = DIS_RECURRENT_GATES * n;
    real *passing = (real *)((char *)scratch + TIMES_SCRATCH), *packed = passing + DIS_RECURRENT_BLOCK * width;
    for (size_t index = first; index < last; index++) {
        const recurrent_block b = block_of(a, index);
        const real *made = a->made[b.direction];
        real *gates = a->gates[b.direction], *memory = a->memory[b.direction], *state = a->state[b.direction];
        real *y = (real *)a->y + b.direction * n;
        matrices x = {.tb = true, .add = true, .n = a->n_state * n, .k = n, .lda = n, .ldc = width};
        x.b = a->weight[b.direction];
        x.ldb = n;
        pack(&x, packed);
        for (size_t s = 0; s < a->n_times; s++) {
            const recurrent_moment m = moment_of(a, &b, s);
            real *const now = a->forget ? passing : gates + m.at * width;
            for (size_t i = 0; made && i < m.here; i++)
                memcpy(now + i * width, made + (size_t)a->from[m.at + i] * width, width * sizeof *now);
            x.m = m.from;
            x.a = state + m.then * n;
            x.c = now + a->first_state * n;
            if (m.from) times_packed(&x, packed, scratch);
            for (size_t i = 0; i < b.rows; i++) {
                const size_t at = m.at + i, then = m.then + i;
                real *to = y + ((size_t)a->order[b.first + i] * a->n_times + m.t) * ld;
                if (i >= m.here) {
                    memset(to, 0, n * sizeof *to);
                    continue;
                }
                const bool had = i < m.from;
                cell->step(n, now + i * width, had ? memory + then * nc : NULL, memory + at * nc,
                           had ? state + then * n : NULL, state + at * n);
                memcpy(to, state + at * n, n * sizeof *to);
            }
        }
    }
}

void OP(recurrent_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__recurrent_args *a = args;
    const recurrent_cell *cell = &recurrent_cells[a->cell];
    const size_t n = a->n_hidden, nc = a->n_memory, ld = a->n_directions * n, width = DIS_RECURRENT_GATES * n;
    real *dh = (real *)((char *)scratch + TIMES_SCRATCH), *dc = dh + DIS_RECURRENT_BLOCK * n;
    real *packed = dc + DIS_RECURRENT_BLOCK * n;
    for (size_t index = first; index < last; index++) {
        const recurrent_block b = block_of(a, index);
        real *gates = a->gates[b.direction], *kept = a->before[b.direction];
        const real *memory = a->memory[b.direction], *state = a->state[b.direction];
        const real *dy = (const real *)a->dy + b.direction * n;
        matrices x = {.add = cell->passes, .n = n, .k = a->n_state * n, .lda = width, .c = dh, .ldc = n};
        x.b = a->weight[b.direction];
        x.ldb = n;
        pack(&x, packed);
        memset(dh, 0, 2 * DIS_RECURRENT_BLOCK * n * sizeof *dh); /* a row joins at its last step */
        for (size_t s = a->n_times; s-- > 0;) {
            const recurrent_moment m = moment_of(a, &b, s);
            for (size_t i = 0; i < m.here; i++) {
                const size_t at = m.at + i, then = m.then + i;
                const bool had = i < m.from;
                const real *restrict above = dy + ((size_t)a->order[b.first + i] * a->n_times + m.t) * ld;
                real *restrict h = dh + i * n;
                if (had)
                    memcpy(kept + at * n, state + then * n, n * sizeof *kept);
                else
                    memset(kept + at * n, 0, n * sizeof *kept);
                for (size_t k = 0; k < n; k++) h[k] += above[k];
                cell->grad(n, gates + at * width, had ? memory + then * nc : NULL, memory + at * nc,
                           had ? state + then * n : NULL, h, dc + i * n);
            }
            x.m = m.from;
            x.a = gates + m.at * width + a->first_state * n;
            if (m.from) times_packed(&x, packed, scratch);
        }
    }
}
