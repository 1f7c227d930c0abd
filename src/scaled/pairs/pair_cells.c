/* Comparisons sorted, merged into cells, and the components of their graph.
 *
 * Without covariates, comparisons of one annotator on the same two things of one task are one cell with counts, and the
 * model without parameters of annotators needs one cell for each two things. Cells are what every pass of a fit reads,
 * so 1e5 comparisons of 50 things cost 1,225 cells per pass.
 *
 * Components: two things whose scores can be compared are connected by comparisons (union-find). Ford (1957): scores
 * have a finite maximum only if a chain of wins or ties also leads from every thing to every other one, so strong
 * components of the graph "has won or tied against" (Tarjan 1972) are counted too. Cost: O(comparisons + things). */
#include "scaled/pairs/pairs.h"
#include <math.h>
#include <string.h>

/* ---- sorting ---- */

static uint32_t key_of(const dis__comparison *c, dis__pair_key key)
{
    switch (key) {
    case DIS_BY_ITEM: return c->item;
    case DIS_BY_TASK: return c->task;
    case DIS_BY_WORKER: return c->worker;
    case DIS_BY_A: return c->a;
    case DIS_BY_B: return c->b;
    case DIS_BY_LOW: return c->a < c->b ? c->a : c->b;
    case DIS_BY_HIGH: return c->a < c->b ? c->b : c->a;
    }
    return 0;
}

static size_t size_of_key(const dis__pairs *m, dis__pair_key key)
{
    return key == DIS_BY_ITEM     ? m->n_items
           : key == DIS_BY_TASK   ? m->n_tasks
           : key == DIS_BY_WORKER ? m->n_workers
                                  : m->n_things;
}

dis_status dis__pairs_sort(dis__pairs *m, const dis__pair_key *keys, size_t n_keys)
{
    size_t most = 0;
    uint64_t *at;
    for (size_t k = 0; k < n_keys; k++) most = size_of_key(m, keys[k]) > most ? size_of_key(m, keys[k]) : most;
    DIS_TRY(dis__alloc_array(&at, most + 1, sizeof *at));
    for (size_t k = n_keys; k-- > 0;) {
        const size_t n_values = size_of_key(m, keys[k]);
        if (n_values < 2) continue;
        memset(at, 0, (n_values + 1) * sizeof *at);
        for (size_t i = 0; i < m->n; i++) at[key_of(&m->c[i], keys[k]) + 1]++;
        for (size_t v = 0; v < n_values; v++) at[v + 1] += at[v];
        for (size_t i = 0; i < m->n; i++) m->spare[at[key_of(&m->c[i], keys[k])]++] = m->c[i];
        dis__comparison *sorted = m->spare;
        m->spare = m->c;
        m->c = sorted;
    }
    dis__free(at);
    return DIS_OK;
}

/* ---- cells ---- */

static bool keeps_order(const dis__pairs *m)
{
    return m->n_x || m->o->sides;
}

/* Whether two comparisons that follow one another are of one cell. */
static bool is_same_cell(const dis__pairs *m, const dis__comparison *p, const dis__comparison *q)
{
    if (p->worker != q->worker || p->task != q->task) return false;
    if (m->args->o->n_covariates) return p->item == q->item;
    if (p->a == q->a && p->b == q->b) return true;
    return !keeps_order(m) && p->a == q->b && p->b == q->a;
}

static void add_to_cell(const dis__pairs *m, const dis__comparison *c, dis__pair_cell *cell)
{
    const bool swap = !keeps_order(m) && c->a > c->b;
    cell->a = swap ? c->b : c->a;
    cell->b = swap ? c->a : c->b;
    cell->worker = c->worker;
    cell->task = c->task;
    cell->n[c->verdict == DIS_PAIR_TIE ? 2 : (c->verdict == DIS_PAIR_SECOND) != swap]++;
}

static double covariate_of(const dis_scaled_covariate *x, const dis__comparison *c)
{
    if (x->value) return x->value[c->item];
    const char *first = dis_names_get(x->first, c->item, NULL), *second = dis_names_get(x->second, c->item, NULL),
               *worker = dis_names_get(x->worker, c->worker, NULL);
    if (!*first || !*second || !*worker) return (double)NAN;
    return (strcmp(first, worker) == 0) - (double)(strcmp(second, worker) == 0);
}

/* Covariates of a cell, the position first. An unknown value counts as no difference. */
static void fill_covariates(dis__pairs *m, const dis__comparison *c, double *x)
{
    size_t j = 0;
    if (m->o->position) x[j++] = 1;
    for (size_t k = 0; k < m->args->o->n_covariates; k++, j++) {
        const double value = covariate_of(&m->args->o->covariates[k], c);
        m->n_unknown += isnan(value) != 0;
        x[j] = isnan(value) ? 0 : value;
    }
}

static dis_status scale_covariates(dis__pairs *m)
{
    const dis__pair_cells *cells = &m->by_worker;
    for (size_t j = 0; j < m->n_x; j++) {
        double sum = 0, n = 0, most = 0;
        for (size_t i = 0; i < cells->n; i++) most = fmax(most, fabs(cells->x[i * m->n_x + j]));
        if (!(most > 0) || !isfinite(most))
            return dis__fail(DIS_EDATA,
                             "the covariate \"%.100s\" %s; name columns whose values differ between the two things",
                             m->name_x[j], most > 0 ? "has an infinite value" : "is 0 in all comparisons");
        for (size_t i = 0; i < cells->n; i++) {
            const double *count = cells->cell[i].n, all = count[0] + count[1] + count[2];
            const double value = cells->x[i * m->n_x + j] / most;
            sum += all * value * value;
            n += all;
        }
        m->scale_x[j] = most * sqrt(sum / n);
        for (size_t i = 0; i < cells->n; i++) cells->x[i * m->n_x + j] /= m->scale_x[j];
    }
    return DIS_OK;
}

static dis_status merge_by_worker(dis__pairs *m, dis_scaled *out)
{
    static const dis__pair_key with_items[] = {DIS_BY_WORKER, DIS_BY_ITEM},
                               as_shown[] = {DIS_BY_WORKER, DIS_BY_TASK, DIS_BY_A, DIS_BY_B},
                               as_pairs[] = {DIS_BY_WORKER, DIS_BY_TASK, DIS_BY_LOW, DIS_BY_HIGH};
    dis__pair_cells *to = &m->by_worker;
    if (m->args->o->n_covariates)
        DIS_TRY(dis__pairs_sort(m, with_items, 2));
    else
        DIS_TRY(dis__pairs_sort(m, keeps_order(m) ? as_shown : as_pairs, 4));
    for (size_t i = 0; i < m->n; i++) to->n += i == 0 || !is_same_cell(m, &m->c[i - 1], &m->c[i]);
    DIS_TRY(dis__scaled_allocate(out, &to->cell, to->n, sizeof *to->cell));
    DIS_TRY(dis__scaled_allocate(out, &to->x, dis__saturating_size(to->n, m->n_x, 0), sizeof *to->x));
    DIS_TRY(dis__scaled_allocate(out, &m->worker_start, m->n_workers + 1, sizeof *m->worker_start));
    size_t at = 0;
    for (size_t i = 0; i < m->n; i++) {
        const bool is_new = i == 0 || !is_same_cell(m, &m->c[i - 1], &m->c[i]);
        at += is_new && i > 0;
        if (is_new) fill_covariates(m, &m->c[i], to->x + at * m->n_x);
        add_to_cell(m, &m->c[i], &to->cell[at]);
    }
    for (size_t i = 0; i < to->n; i++) m->worker_start[to->cell[i].worker + 1]++;
    for (size_t w = 0; w < m->n_workers; w++) m->worker_start[w + 1] += m->worker_start[w];
    return scale_covariates(m);
}

/* One cell for the same two things (and the same covariates): sorted by counting as comparisons are. */
static dis_status merge_all(dis__pairs *m, dis_scaled *out)
{
    const dis__pair_cells *from = &m->by_worker;
    dis__pair_cells *to = &m->merged;
    uint32_t *order, *other;
    uint64_t *at;
    *to = *from;
    if (m->args->o->n_covariates) return DIS_OK;
    DIS_TRY(dis__scaled_allocate(out, &order, 2 * from->n, sizeof *order));
    DIS_TRY(dis__scaled_allocate(out, &to->cell, from->n, sizeof *to->cell));
    DIS_TRY(dis__alloc_array(&at, m->n_things + 1, sizeof *at));
    other = order + from->n;
    for (size_t i = 0; i < from->n; i++) order[i] = (uint32_t)i;
    for (int pass = 0; pass < 2; pass++) {
        memset(at, 0, (m->n_things + 1) * sizeof *at);
        for (size_t i = 0; i < from->n; i++) at[(pass ? from->cell[i].a : from->cell[i].b) + 1]++;
        for (size_t k = 0; k < m->n_things; k++) at[k + 1] += at[k];
        for (size_t i = 0; i < from->n; i++) {
            const dis__pair_cell *c = &from->cell[order[i]];
            other[at[pass ? c->a : c->b]++] = order[i];
        }
        uint32_t *sorted = other;
        other = order;
        order = sorted;
    }
    dis__free(at);
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const dis__pair_cell *c = &from->cell[order[i]];
        dis__pair_cell *last = to->n ? &to->cell[to->n - 1] : NULL;
        if (!last || last->a != c->a || last->b != c->b) {
            to->cell[to->n++] = *c;
            continue;
        }
        for (int k = 0; k < 3; k++) last->n[k] += c->n[k];
    }
    return DIS_OK; /* without covariates of its own, every row of x is the position: the same in all cells */
}

dis_status dis__pair_cells_make(dis__pairs *m, dis_scaled *out)
{
    const dis_scaled_options *o = m->args->o;
    if (o->n_covariates > DIS_PAIRS_MAX_COVARIATES)
        return dis__fail(DIS_ELIMIT, "%zu covariates are named, and at most %d are possible", o->n_covariates,
                         DIS_PAIRS_MAX_COVARIATES);
    if (m->o->position) m->name_x[m->n_x++] = "position";
    for (size_t k = 0; k < o->n_covariates; k++) {
        if (m->o->position && strcmp(o->covariates[k].name, "position") == 0)
            return dis__fail(DIS_EUSAGE, "a covariate is called position, and position=yes estimates another one of "
                                         "that name; rename it");
        m->name_x[m->n_x++] = o->covariates[k].name;
    }
    DIS_TRY(merge_by_worker(m, out));
    return merge_all(m, out);
}

/* ---- components ---- */

static uint32_t root_of(uint32_t *parent, uint32_t k)
{
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
}

/* Arcs of a graph, from the loser to the winner and both ways for ties: start (n_things + 1), to. */
typedef struct {
    uint64_t *start;
    uint32_t *to;
} arcs;

static void count_arc(const dis__pair_cell *c, uint64_t *count)
{
    count[c->b + 1] += c->n[0] + c->n[2] > 0;
    count[c->a + 1] += c->n[1] + c->n[2] > 0;
}

static dis_status list_arcs(const dis__pairs *m, dis_scaled *out, arcs *g)
{
    const dis__pair_cells *cells = &m->merged;
    uint64_t *at;
    DIS_TRY(dis__scaled_allocate(out, &g->start, m->n_things + 1, sizeof *g->start));
    DIS_TRY(dis__scaled_allocate(out, &g->to, 2 * cells->n, sizeof *g->to));
    for (size_t i = 0; i < cells->n; i++) count_arc(&cells->cell[i], g->start);
    for (size_t k = 0; k < m->n_things; k++) g->start[k + 1] += g->start[k];
    DIS_TRY(dis__alloc_array(&at, m->n_things + 1, sizeof *at));
    memcpy(at, g->start, (m->n_things + 1) * sizeof *at);
    for (size_t i = 0; i < cells->n; i++) {
        const dis__pair_cell *c = &cells->cell[i];
        if (c->n[0] + c->n[2] > 0) g->to[at[c->b]++] = c->a;
        if (c->n[1] + c->n[2] > 0) g->to[at[c->a]++] = c->b;
    }
    dis__free(at);
    return DIS_OK;
}

/* The number of strong components: Tarjan's algorithm with a stack of its own. */
static dis_status count_strong(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_things;
    arcs g;
    uint32_t *index, *low, *stack, *path;
    uint64_t *next;
    bool *on_stack;
    uint32_t n_index = 0;
    size_t n_stack = 0, n_path = 0;
    DIS_TRY(list_arcs(m, out, &g));
    DIS_TRY(dis__scaled_allocate(out, &index, 4 * n, sizeof *index));
    DIS_TRY(dis__scaled_allocate(out, &next, n, sizeof *next));
    DIS_TRY(dis__scaled_allocate(out, &on_stack, n, sizeof *on_stack));
    low = index + n;
    stack = low + n;
    path = stack + n;
    for (size_t root = 0; root < n; root++) {
        if (index[root]) continue;
        path[n_path++] = (uint32_t)root;
        while (n_path) {
            const uint32_t k = path[n_path - 1];
            if (!index[k]) {
                index[k] = low[k] = ++n_index;
                next[k] = g.start[k];
                stack[n_stack++] = k;
                on_stack[k] = true;
            }
            if (next[k] < g.start[k + 1]) {
                const uint32_t l = g.to[next[k]++];
                if (!index[l])
                    path[n_path++] = l;
                else if (on_stack[l] && index[l] < low[k])
                    low[k] = index[l];
                continue;
            }
            if (low[k] == index[k]) {
                m->n_strong++;
                uint32_t l;
                do on_stack[l = stack[--n_stack]] = false;
                while (l != k);
            }
            n_path--;
            if (n_path && low[k] < low[path[n_path - 1]]) low[path[n_path - 1]] = low[k];
        }
    }
    return DIS_OK;
}

/* Components in the order of their first things. */
dis_status dis__pairs_find_components(dis__pairs *m, dis_scaled *out)
{
    uint32_t *parent;
    DIS_TRY(dis__scaled_allocate(out, &parent, m->n_things, sizeof *parent));
    DIS_TRY(dis__scaled_allocate(out, &m->component, m->n_things, sizeof *m->component));
    for (size_t k = 0; k < m->n_things; k++) parent[k] = (uint32_t)k;
    for (size_t i = 0; i < m->merged.n; i++) {
        const uint32_t a = root_of(parent, m->merged.cell[i].a), b = root_of(parent, m->merged.cell[i].b);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t k = 0; k < m->n_things; k++) {
        const uint32_t root = root_of(parent, (uint32_t)k);
        m->component[k] = root == k ? (uint32_t)m->n_components++ : m->component[root];
    }
    return count_strong(m, out);
}
