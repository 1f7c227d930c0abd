/* Loops of recurrent layers, gates and gradients as PyTorch has them:
 *
 *     LSTM (Hochreiter & Schmidhuber 1997, with forget gate): i, f, o = sigmoid(.), g = tanh(.);
 *         c = f c' + i g;  h = o tanh(c)
 *     GRU (Cho et al. 2014, r behind the product): r, z = sigmoid(.), n = tanh(. + r (W h' + b));  h = n + z (h' - n)
 *
 * The inputs' part of all gates comes from products before. Here each block of rows runs through all its steps on one
 * core, with the matrix of the state packed once: no meeting of threads per step. Nothing is done after a row's
 * length, nor twice where rows share a step.
 *
 * Cost: 8 (GRU: 6) nodes hidden^2 operations forward, as many backward. */
#include "nn/loops/loops.h"

typedef struct {
    size_t direction, first, rows; /* rows [first, first + rows) in order */
    const dis__recurrent_layout *layout;
    const dis__recurrent_step *steps;
} recurrent_block;

static inline recurrent_block block_of(const dis__recurrent_args *a, size_t index)
{
    const size_t blocks = (a->n_rows + DIS_RECURRENT_BLOCK - 1) / DIS_RECURRENT_BLOCK, number = index % blocks;
    recurrent_block b = {.direction = index / blocks, .first = number * DIS_RECURRENT_BLOCK};
    b.rows = a->n_rows - b.first < DIS_RECURRENT_BLOCK ? a->n_rows - b.first : DIS_RECURRENT_BLOCK;
    b.layout = &a->layout[b.direction];
    b.steps = b.layout->steps + number * a->n_times;
    return b;
}

/* States before the first `n_parents` nodes of a step, one after another: where they lie, or copied together. */
static const real *states_before(const dis__recurrent_layout *l, const dis__recurrent_step *s, size_t n,
                                 const real *state, real *together)
{
    const int32_t *parent = l->parent + s->begin;
    int32_t i = 1;
    while (i < s->n_parents && parent[i] == parent[0] + i) i++;
    if (i >= s->n_parents) return state + (size_t)parent[0] * n;
    for (i = 0; i < s->n_parents; i++)
        memcpy(together + (size_t)i * n, state + (size_t)parent[i] * n, n * sizeof *together);
    return together;
}

/* One row at one step: pre-activations to gates, c and h. c0, h0 NULL: the previous state is 0. */
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
    bool passes; /* part of dh is passed to the previous step outside the GEMM */
} recurrent_cell;

static const recurrent_cell recurrent_cells[DIS_N_CELLS] = {
    [DIS_CELL_LSTM] = {lstm_step, lstm_step_grad, false},
    [DIS_CELL_GRU] = {gru_step, gru_step_grad, true},
};

/* y of a block's rows: the states of their nodes. */
static void put_states(const dis__recurrent_args *a, const recurrent_block *b, const real *state)
{
    const size_t n = a->n_hidden, ld = a->n_directions * n;
    for (size_t i = b->first; i < b->first + b->rows; i++) {
        const size_t row = (size_t)b->layout->order[i] * a->n_times;
        for (size_t t = 0; t < a->n_times; t++) {
            const int32_t node = b->layout->node[row + t];
            real *to = (real *)a->y + (row + t) * ld + b->direction * n;
            if (node < 0)
                memset(to, 0, n * sizeof *to);
            else
                memcpy(to, state + (size_t)node * n, n * sizeof *to);
        }
    }
}

void OP(recurrent)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__recurrent_args *a = args;
    const recurrent_cell *cell = &recurrent_cells[a->cell];
    const size_t n = a->n_hidden, nc = a->n_memory, width = DIS_RECURRENT_GATES * n;
    real *passing = (real *)((char *)scratch + TIMES_SCRATCH), *together = passing + DIS_RECURRENT_BLOCK * width;
    real *packed = together + DIS_RECURRENT_BLOCK * n;
    for (size_t index = first; index < last; index++) {
        const recurrent_block b = block_of(a, index);
        const real *projected = a->projected[b.direction];
        real *gates = a->gates[b.direction], *memory = a->memory[b.direction], *state = a->state[b.direction];
        matrices x = {.tb = true, .add = true, .n = a->n_state * n, .k = n, .lda = n, .ldc = width};
        x.b = a->weight[b.direction];
        x.ldb = n;
        pack(&x, packed);
        for (size_t s = 0; s < a->n_times; s++) {
            const dis__recurrent_step *step = &b.steps[s];
            const size_t begin = (size_t)step->begin, count = (size_t)step->count, n_parents = (size_t)step->n_parents;
            const int32_t *parent = b.layout->parent + begin, *from = b.layout->from + begin;
            real *const now = a->forget ? passing : gates + begin * width;
            for (size_t i = 0; projected && i < count; i++)
                memcpy(now + i * width, projected + (size_t)from[i] * width, width * sizeof *now);
            x.m = n_parents;
            x.c = now + a->first_state * n;
            if (n_parents) {
                x.a = states_before(b.layout, step, n, state, together);
                times_packed(&x, packed, scratch);
            }
            for (size_t i = 0; i < count; i++) {
                const size_t then = i < n_parents ? (size_t)parent[i] : 0, at = begin + i;
                cell->step(n, now + i * width, i < n_parents ? memory + then * nc : NULL, memory + at * nc,
                           i < n_parents ? state + then * n : NULL, state + at * n);
            }
        }
        put_states(a, &b, state);
    }
}

/* dh of a step's nodes += dy of all their positions. */
static void read_gradients(const dis__recurrent_args *a, const recurrent_block *b, size_t s, real *dh)
{
    const size_t n = a->n_hidden, ld = a->n_directions * n;
    for (size_t i = b->first; i < b->first + b->rows; i++) {
        const size_t row = (size_t)b->layout->order[i], length = (size_t)b->layout->length[row];
        const size_t end = b->layout->by_end ? length : a->n_times;
        if (s >= end) continue;
        const size_t t = b->direction ? end - 1 - s : s;
        if (t >= length) continue;
        const size_t node = (size_t)(b->layout->node[row * a->n_times + t] - b->steps[s].begin);
        const real *restrict from = (const real *)a->dy + (row * a->n_times + t) * ld + b->direction * n;
        real *restrict to = dh + node * n;
        for (size_t k = 0; k < n; k++) to[k] += from[k];
    }
}

static void zero_pads(const dis__recurrent_args *a, size_t d)
{
    const dis__recurrent_layout *l = &a->layout[d];
    const size_t n = a->n_hidden, width = DIS_RECURRENT_GATES * n;
    for (size_t i = l->n_nodes; i-- > 0 && l->parent[i] == DIS_RECURRENT_PAD;) {
        memset((real *)a->gates[d] + i * width, 0, width * sizeof(real));
        memset((real *)a->before[d] + i * n, 0, n * sizeof(real));
    }
}

void OP(recurrent_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__recurrent_args *a = args;
    const recurrent_cell *cell = &recurrent_cells[a->cell];
    const size_t n = a->n_hidden, nc = a->n_memory, width = DIS_RECURRENT_GATES * n,
                 block_size = DIS_RECURRENT_BLOCK * n;
    real *dh = (real *)((char *)scratch + TIMES_SCRATCH), *dc = dh + block_size; /* of the nodes of a step */
    real *dh_before = dc + block_size, *dc_before = dh_before + block_size;      /* and of those of the previous step */
    real *packed = dc_before + block_size;
    for (size_t index = first; index < last; index++) {
        const recurrent_block b = block_of(a, index);
        real *gates = a->gates[b.direction], *h_before = a->before[b.direction];
        const real *memory = a->memory[b.direction], *state = a->state[b.direction];
        matrices x = {.add = cell->passes, .n = n, .k = a->n_state * n, .lda = width, .ldc = n};
        x.b = a->weight[b.direction];
        x.ldb = n;
        pack(&x, packed);
        if (b.first == 0) zero_pads(a, b.direction);
        memset(dh, 0, 2 * block_size * sizeof *dh);
        for (size_t s = a->n_times; s-- > 0;) {
            const dis__recurrent_step *step = &b.steps[s];
            const size_t begin = (size_t)step->begin, count = (size_t)step->count, n_parents = (size_t)step->n_parents;
            const int32_t *parent = b.layout->parent + begin;
            read_gradients(a, &b, s, dh);
            for (size_t i = 0; i < count; i++) {
                const size_t then = i < n_parents ? (size_t)parent[i] : 0, at = begin + i;
                if (i < n_parents)
                    memcpy(h_before + at * n, state + then * n, n * sizeof *h_before);
                else
                    memset(h_before + at * n, 0, n * sizeof *h_before);
                cell->grad(n, gates + at * width, i < n_parents ? memory + then * nc : NULL, memory + at * nc,
                           i < n_parents ? state + then * n : NULL, dh + i * n, dc + i * n);
            }
            memset(dh_before, 0, 2 * block_size * sizeof *dh);
            x.m = n_parents;
            x.a = gates + begin * width + a->first_state * n;
            x.c = dh;
            if (n_parents) times_packed(&x, packed, scratch);
            for (size_t i = 0; i < n_parents; i++) {
                const size_t then = (size_t)(parent[i] - step[-1].begin);
                const real *restrict h = dh + i * n, *restrict c = dc + i * n;
                real *restrict to_h = dh_before + then * n, *restrict to_c = dc_before + then * n;
                for (size_t k = 0; k < n; k++) to_h[k] += h[k];
                for (size_t k = 0; k < n; k++) to_c[k] += c[k];
            }
            real *const h = dh, *const c = dc;
            dh = dh_before;
            dc = dc_before;
            dh_before = h;
            dc_before = c;
        }
    }
}
