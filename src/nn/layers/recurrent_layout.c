/* Layouts of recurrent layers: rows by length, or tries of common prefixes of rows. */
#include "nn/layers/recurrent_layout.h"
#include "core/memory/memory.h"
#include <string.h>

enum { STEP_INTS = sizeof(dis__recurrent_step) / sizeof(int32_t) };

/* Builder state of a layout. */
typedef struct {
    const dis__recurrent_rows *rows;
    size_t direction;
    dis__recurrent_layout *to;
    int32_t *spare;        /* (rows) */
    int32_t *path, *count; /* (n_times + 1): counters and the nodes of one row */
} maker;

static size_t n_blocks(size_t n_rows)
{
    return (n_rows + DIS_RECURRENT_BLOCK - 1) / DIS_RECURRENT_BLOCK;
}

size_t dis__recurrent_layout_size(size_t n_rows, size_t n_times)
{
    const size_t steps = dis__saturating_size(dis__saturating_size(n_blocks(n_rows), n_times, 0), STEP_INTS, 0);
    return dis__saturating_size(dis__saturating_size(n_rows, n_times, 0), 3,
                                dis__saturating_size(n_rows, 3, dis__saturating_size(n_times + 1, 2, steps)));
}

static maker begin(const dis__recurrent_rows *r, size_t direction, int32_t *memory, dis__recurrent_layout *to)
{
    const size_t positions = r->n_rows * r->n_times;
    int32_t *parts[7]; /* parent, from, node; order, length, spare; path */
    parts[0] = memory + n_blocks(r->n_rows) * r->n_times * STEP_INTS;
    for (int i = 1; i < 7; i++) parts[i] = parts[i - 1] + (i <= 3 ? positions : r->n_rows);
    *to = (dis__recurrent_layout){.steps = (dis__recurrent_step *)memory,
                                  .parent = parts[0],
                                  .from = parts[1],
                                  .node = parts[2],
                                  .order = parts[3],
                                  .length = parts[4]};
    for (size_t i = 0; i < r->n_rows; i++)
        to->length[i] = r->length && (size_t)r->length[i] < r->n_times ? r->length[i] : (int32_t)r->n_times;
    return (maker){r, direction, to, parts[5], parts[6], parts[6] + r->n_times + 1};
}

/* ---- rows that share nothing ---- */

/* Descending length, stable. */
static void order_by_length(const maker *m)
{
    const size_t n_rows = m->rows->n_rows, n_times = m->rows->n_times;
    memset(m->count, 0, (n_times + 1) * sizeof *m->count);
    for (size_t i = 0; i < n_rows; i++) m->count[n_times - (size_t)m->to->length[i]]++; /* by the missing positions */
    for (size_t t = 0, sum = 0; t <= n_times; t++) {
        const size_t n = (size_t)m->count[t];
        m->count[t] = (int32_t)sum;
        sum += n;
    }
    for (size_t i = 0; i < n_rows; i++) m->to->order[m->count[n_times - (size_t)m->to->length[i]]++] = (int32_t)i;
}

/* Nodes are the positions of a block, time by time, the same in both directions. */
static void lay_chains(const maker *m)
{
    dis__recurrent_layout *to = m->to;
    const size_t n_times = m->rows->n_times;
    order_by_length(m);
    memset(to->node, -1, m->rows->n_rows * n_times * sizeof *to->node);
    for (size_t first = 0; first < m->rows->n_rows; first += DIS_RECURRENT_BLOCK) {
        dis__recurrent_step *steps = to->steps + first / DIS_RECURRENT_BLOCK * n_times;
        size_t alive = m->rows->n_rows - first < DIS_RECURRENT_BLOCK ? m->rows->n_rows - first : DIS_RECURRENT_BLOCK;
        for (size_t t = 0; t < n_times; t++) {
            while (alive && (size_t)to->length[to->order[first + alive - 1]] <= t) alive--;
            steps[m->direction ? n_times - 1 - t : t] = (dis__recurrent_step){(int32_t)to->n_nodes, (int32_t)alive, 0};
            for (size_t i = 0; i < alive; i++) {
                const size_t place = (size_t)to->order[first + i] * n_times + t;
                to->from[to->n_nodes] = m->rows->ids ? m->rows->ids[place] : (int32_t)place;
                to->parent[to->n_nodes] = -1;
                to->node[place] = (int32_t)to->n_nodes++;
            }
        }
        for (size_t s = 1; s < n_times; s++) {
            const dis__recurrent_step *before = &steps[s - 1];
            steps[s].n_parents = before->count < steps[s].count ? before->count : steps[s].count;
            for (int32_t i = 0; i < steps[s].n_parents; i++) to->parent[steps[s].begin + i] = before->begin + i;
        }
    }
}

/* ---- trees ---- */

static int32_t id_of(const maker *m, int32_t row, int32_t s)
{
    return m->rows->ids[(size_t)row * m->rows->n_times + (size_t)(m->direction ? m->to->length[row] - 1 - s : s)];
}

/* Length of the common prefix of two rows. */
static int32_t in_common(const maker *m, int32_t x, int32_t y)
{
    const int32_t max = m->to->length[x] < m->to->length[y] ? m->to->length[x] : m->to->length[y];
    int32_t s = 0;
    while (s < max && id_of(m, x, s) == id_of(m, y, s)) s++;
    return s;
}

/* Rows without ids come last, so that they do not change the other blocks. */
static bool comes_after(const maker *m, int32_t x, int32_t y)
{
    if (m->to->length[x] == 0 || m->to->length[y] == 0) return m->to->length[y] > 0;
    const int32_t s = in_common(m, x, y);
    if (s == m->to->length[x] || s == m->to->length[y]) return m->to->length[x] > m->to->length[y];
    return id_of(m, x, s) > id_of(m, y, s);
}

/* Sorted by ids, so that common prefixes are adjacent; merge sort with doubling runs. */
static void order_by_ids(const maker *m)
{
    const size_t n = m->rows->n_rows;
    int32_t *from = m->to->order, *to = m->spare;
    for (size_t i = 0; i < n; i++) from[i] = (int32_t)i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t first = 0; first < n; first += 2 * run) {
            const size_t middle = first + run < n ? first + run : n, end = middle + run < n ? middle + run : n;
            size_t i = first, j = middle;
            for (size_t k = first; k < end; k++)
                to[k] = j == end || (i < middle && !comes_after(m, from[i], from[j])) ? from[i++] : from[j++];
        }
        int32_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != m->to->order) memcpy(m->to->order, from, n * sizeof *from);
}

/* Nodes are the prefixes of the rows of a block, step by step, each once. */
static void lay_trees(const maker *m)
{
    dis__recurrent_layout *to = m->to;
    const size_t n_rows = m->rows->n_rows, n_times = m->rows->n_times;
    to->by_end = m->direction == 1;
    memset(to->node, -1, n_rows * n_times * sizeof *to->node);
    for (size_t first = 0; first < n_rows; first += DIS_RECURRENT_BLOCK) {
        const size_t last = n_rows - first < DIS_RECURRENT_BLOCK ? n_rows : first + DIS_RECURRENT_BLOCK;
        dis__recurrent_step *steps = to->steps + first / DIS_RECURRENT_BLOCK * n_times;
        memset(steps, 0, n_times * sizeof *steps);
        for (size_t i = first; i < last; i++) {
            const int32_t row = to->order[i], old = i > first ? in_common(m, to->order[i - 1], row) : 0;
            for (int32_t s = old; s < to->length[row]; s++) steps[s].count++;
        }
        for (size_t s = 0; s < n_times; s++) {
            steps[s].begin = m->count[s] = (int32_t)to->n_nodes;
            steps[s].n_parents = s ? steps[s].count : 0;
            to->n_nodes += (size_t)steps[s].count;
        }
        for (size_t i = first; i < last; i++) {
            const int32_t row = to->order[i], old = i > first ? in_common(m, to->order[i - 1], row) : 0;
            for (int32_t s = 0; s < to->length[row]; s++) {
                if (s >= old) {
                    const int32_t node = m->path[s] = m->count[s]++;
                    to->from[node] = id_of(m, row, s);
                    to->parent[node] = s ? m->path[s - 1] : -1;
                }
                const int32_t t = m->direction ? to->length[row] - 1 - s : s;
                to->node[(size_t)row * n_times + (size_t)t] = m->path[s];
            }
        }
    }
}

void dis__recurrent_pad(const dis__recurrent_rows *rows, size_t round, dis__recurrent_layout *layout)
{
    const size_t n = layout->n_nodes, positions = rows->n_rows * rows->n_times;
    const size_t rounded = (n + round - 1) / round * round;
    layout->n_nodes = rounded < positions ? rounded : positions;
    for (size_t i = n; i < layout->n_nodes; i++) {
        layout->parent[i] = DIS_RECURRENT_PAD;
        layout->from[i] = -1;
    }
}

void dis__recurrent_lay_out(const dis__recurrent_rows *rows, size_t direction, int32_t *memory,
                            dis__recurrent_layout *layout)
{
    const maker m = begin(rows, direction, memory, layout);
    size_t positions = 0, shared = 0;
    if (rows->ids) order_by_ids(&m);
    for (size_t i = 0; rows->ids && i < rows->n_rows; i++) {
        positions += (size_t)layout->length[i];
        if (i) shared += (size_t)in_common(&m, layout->order[i - 1], layout->order[i]);
    }
    if (shared && shared >= positions / 8)
        lay_trees(&m);
    else
        lay_chains(&m);
}
