/* Predictions of all folds of a seed are concatenated; seeds are brought into the order of the first by
 * task name, since folds may be cut anew for every seed. Seeds of which both sides have every fold are used; where a
 * side has but one by its nature (nothing is drawn in it), all of the other side. When seeds are of different items (a
 * test set drawn by seed), or there are more of them than a comparison takes, the pairs (item, seed) are the items: the
 * sides are then compared as one long set of predictions each, which treats seeds as independent.
 *
 * Cost: every file of predictions of both sides is read once. */
#include "tool/arrays.h"
#include "experiment/compare_cells.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- folds of one seed ---- */

void dis__pooled_free(dis__pooled *p)
{
    dis__free(p->label);
    dis__free(p->gold);
    dis__free(p->p);
    dis__free(p->human);
    dis_names_destroy(p->tasks);
    dis_names_destroy(p->classes);
    *p = (dis__pooled){0};
}

typedef struct {
    dis__stored_set *fold;
    size_t n, capacity;
    dis_names *plain; /* tasks of all folds, concatenated */
} folds;

static void folds_free(folds *f)
{
    for (size_t i = 0; i < f->n; i++) dis__stored_set_free(&f->fold[i]);
    dis__free(f->fold);
    dis_names_destroy(f->plain);
}

static dis_status read_folds(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                             size_t cell, uint64_t seed, const char *set, folds *f, bool *found)
{
    *found = true;
    for (size_t r = 0; r < plan->n_runs && *found; r++) {
        const dis__run *run = &plan->run[r];
        if (run->cell != cell || run->seed != seed) continue;
        *found = state[r] == DIS_RUN_DONE;
        if (!*found) break;
        DIS_TRY(dis__reserve(&f->fold, &f->capacity, f->n, f->n + 1, sizeof *f->fold));
        DIS_TRY(dis__store_predictions(store, ctx, run->key, set, &f->fold[f->n], found));
        f->n += *found;
    }
    *found = *found && f->n > 0;
    return DIS_OK;
}

/* Task names of all folds; with `numbered`, prefixed by the fold. */
static dis_status all_tasks(const folds *f, bool numbered, dis_names **out)
{
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    char *text = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < f->n && status == DIS_OK; i++) {
        const dis_labels_view v = dis_labels_get_view(f->fold[i].predicted);
        for (size_t t = 0; t < v.n_items && status == DIS_OK; t++) {
            size_t n;
            const char *name = dis_names_get(v.tasks, t, &n);
            if (numbered) {
                status = dis__reserve(&text, &capacity, 0, n + 32, 1);
                if (status != DIS_OK) break;
                n = (size_t)snprintf(text, capacity, "%zu\x1f%s", i, name);
                name = text;
            }
            status = dis__name_list_add(&list, name, n);
        }
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    dis__free(text);
    return status;
}

static dis_status name_tasks(const folds *f, dis_names **out)
{
    size_t twice = SIZE_MAX;
    DIS_TRY(all_tasks(f, false, out));
    const dis_status status = dis__names_find_duplicate(*out, &twice);
    if (status == DIS_OK && twice == SIZE_MAX) return DIS_OK;
    dis_names_destroy(*out);
    *out = NULL;
    return status == DIS_OK ? all_tasks(f, true, out) : status;
}

static dis_status join_folds(const folds *f, bool want_p, dis__pooled *p)
{
    const dis_labels_view first = dis_labels_get_view(f->fold[0].predicted);
    bool human = true;
    p->n_classes = first.n_classes;
    for (size_t i = 0; i < f->n; i++) {
        const dis_labels_view v = dis_labels_get_view(f->fold[i].predicted);
        if (!dis__names_equal(v.classes, first.classes))
            return dis__fail(DIS_EDATA, "folds of one run have different classes; the store is damaged");
        p->n_items += v.n_items;
        human = human && f->fold[i].human;
    }
    DIS_TRY(dis__names_copy(first.classes, &p->classes));
    DIS_TRY(name_tasks(f, &p->tasks));
    const size_t n = p->n_items, k = p->n_classes;
    DIS_TRY(dis__alloc_array(&p->label, n, sizeof *p->label));
    DIS_TRY(dis__alloc_array(&p->gold, n, sizeof *p->gold));
    if (want_p) DIS_TRY(dis__alloc_array(&p->p, dis__saturating_size(n, k, 0), sizeof *p->p));
    if (human) DIS_TRY(dis__alloc_array(&p->human, dis__saturating_size(n, k, 0), sizeof *p->human));
    size_t at = 0;
    for (size_t i = 0; i < f->n; i++) {
        const dis_labels_view v = dis_labels_get_view(f->fold[i].predicted);
        for (size_t t = 0; t < v.n_items; t++) {
            p->label[at + t] = (int32_t)dis__argmax(v.p + t * k, k);
            p->gold[at + t] = f->fold[i].gold ? f->fold[i].gold[t] : -1;
        }
        if (p->p) memcpy(p->p + at * k, v.p, v.n_items * k * sizeof *p->p);
        if (p->human) memcpy(p->human + at * k, f->fold[i].human, v.n_items * k * sizeof *p->human);
        at += v.n_items;
    }
    return DIS_OK;
}

dis_status dis__pool_folds(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                           size_t cell, uint64_t seed, const char *set, bool want_p, dis__pooled *out, bool *found)
{
    folds f = {0};
    dis__pooled pooled = {0};
    dis_status status = read_folds(ctx, store, plan, state, cell, seed, set, &f, found);
    if (status == DIS_OK && *found) status = join_folds(&f, want_p, &pooled);
    folds_free(&f);
    if (status == DIS_OK && *found)
        *out = pooled;
    else
        dis__pooled_free(&pooled);
    return status;
}

/* ---- two cells ---- */

/* The completed seeds of one side. */
typedef struct {
    dis__pooled *one;
    uint64_t *seed;
    size_t n, capacity, seed_capacity;
} side;

static void side_free(side *s)
{
    for (size_t i = 0; i < s->n; i++) dis__pooled_free(&s->one[i]);
    dis__free(s->one);
    dis__free(s->seed);
}

/* Rows of `p` in the order of `tasks`; *same false: the items differ. */
static dis_status reorder(dis__pooled *p, const dis_names *tasks, const dis_names *classes, bool *same)
{
    *same = p->n_items == dis_names_count(tasks) && dis__names_equal(p->classes, classes);
    if (!*same || dis__names_equal(p->tasks, tasks)) return DIS_OK;
    size_t *row, found;
    int32_t *label = NULL, *gold = NULL;
    double *human = NULL;
    DIS_TRY(dis__names_match_alloc(p->tasks, tasks, &row, &found));
    *same = found == p->n_items;
    dis_status status = dis__alloc_array(&label, p->n_items, sizeof *label);
    if (status == DIS_OK) status = dis__alloc_array(&gold, p->n_items, sizeof *gold);
    if (status == DIS_OK && p->human)
        status = dis__alloc_array(&human, dis__saturating_size(p->n_items, p->n_classes, 0), sizeof *human);
    for (size_t i = 0; i < p->n_items && status == DIS_OK && *same; i++) {
        label[i] = p->label[row[i]];
        gold[i] = p->gold[row[i]];
        if (human) memcpy(human + i * p->n_classes, p->human + row[i] * p->n_classes, p->n_classes * sizeof *human);
    }
    dis__free(row);
    if (status == DIS_OK && *same) {
        int32_t *const old[] = {p->label, p->gold};
        double *const old_human = p->human;
        p->label = label;
        p->gold = gold;
        p->human = human;
        label = old[0];
        gold = old[1];
        human = old_human;
    }
    dis__free(label);
    dis__free(gold);
    dis__free(human);
    return status;
}

static dis_status gather(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                         size_t cell, const char *set, side *s)
{
    for (size_t r = 0; r < plan->n_runs; r++) {
        const dis__run *run = &plan->run[r];
        bool seen = run->cell != cell, found;
        for (size_t q = 0; q < r && !seen; q++) seen = plan->run[q].cell == cell && plan->run[q].seed == run->seed;
        if (seen) continue;
        DIS_TRY(dis__reserve(&s->one, &s->capacity, s->n, s->n + 1, sizeof *s->one));
        DIS_TRY(dis__reserve(&s->seed, &s->seed_capacity, s->n, s->n + 1, sizeof *s->seed));
        DIS_TRY(dis__pool_folds(ctx, store, plan, state, cell, run->seed, set, false, &s->one[s->n], &found));
        s->seed[s->n] = run->seed;
        s->n += found;
    }
    return DIS_OK;
}

/* Number of seeds that the plan has for a cell; 2 stands for several. */
static size_t count_seeds(const dis__plan *plan, size_t cell)
{
    size_t first = SIZE_MAX;
    for (size_t r = 0; r < plan->n_runs; r++) {
        if (plan->run[r].cell != cell) continue;
        if (first == SIZE_MAX) first = r;
        if (plan->run[r].seed != plan->run[first].seed) return 2;
    }
    return first != SIZE_MAX;
}

/* Keeps the seeds that both sides have, in the same order. */
static void pair_seeds(side *a, side *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = n; j < b->n; j++) {
            if (a->seed[i] != b->seed[j]) continue;
            const dis__pooled x = a->one[n], y = b->one[n];
            const uint64_t seed = b->seed[n];
            a->one[n] = a->one[i];
            a->one[i] = x;
            a->seed[i] = a->seed[n];
            b->one[n] = b->one[j];
            b->one[j] = y;
            b->seed[j] = seed;
            n++;
            break;
        }
    for (side *s = a;; s = b) {
        while (s->n > n) dis__pooled_free(&s->one[--s->n]);
        if (s == b) return;
    }
}

/* Reorders all seeds like A's first; *same false: the items differ. */
static dis_status reorder_all(side *a, side *b, bool *same)
{
    *same = a->n <= DIS_COMPARE_MAX_SEEDS && b->n <= DIS_COMPARE_MAX_SEEDS;
    for (size_t i = 1; i < a->n && *same; i++) DIS_TRY(reorder(&a->one[i], a->one[0].tasks, a->one[0].classes, same));
    for (size_t i = 0; i < b->n && *same; i++) DIS_TRY(reorder(&b->one[i], a->one[0].tasks, a->one[0].classes, same));
    return DIS_OK;
}

/* The same seed by seed, for sides whose seeds have different items; pairs that do not match are dropped. */
static dis_status match_pairs(side *a, side *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        bool same;
        DIS_TRY(reorder(&b->one[i], a->one[i].tasks, a->one[i].classes, &same));
        same = same && dis__names_equal(a->one[i].classes, a->one[0].classes);
        if (!same) continue;
        const dis__pooled x = a->one[n], y = b->one[n];
        a->one[n] = a->one[i];
        a->one[i] = x;
        b->one[n] = b->one[i];
        b->one[i] = y;
        n++;
    }
    while (a->n > n) dis__pooled_free(&a->one[--a->n]);
    while (b->n > n) dis__pooled_free(&b->one[--b->n]);
    return DIS_OK;
}

/* All seeds concatenated: (item, seed) pairs are the items. */
static dis_status chain(dis__pooled *p, size_t n)
{
    dis__pooled all = {.n_classes = p[0].n_classes};
    bool human = true;
    for (size_t i = 0; i < n; i++) {
        all.n_items += p[i].n_items;
        human = human && p[i].human;
    }
    dis_status status = dis__alloc_array(&all.label, all.n_items, sizeof *all.label);
    if (status == DIS_OK) status = dis__alloc_array(&all.gold, all.n_items, sizeof *all.gold);
    if (status == DIS_OK && human)
        status = dis__alloc_array(&all.human, dis__saturating_size(all.n_items, all.n_classes, 0), sizeof *all.human);
    if (status != DIS_OK) {
        dis__pooled_free(&all);
        return status;
    }
    for (size_t i = 0, at = 0; i < n; at += p[i++].n_items) {
        memcpy(all.label + at, p[i].label, p[i].n_items * sizeof *all.label);
        memcpy(all.gold + at, p[i].gold, p[i].n_items * sizeof *all.gold);
        if (human) memcpy(all.human + at * all.n_classes, p[i].human, p[i].n_items * all.n_classes * sizeof *all.human);
    }
    all.tasks = p[0].tasks; /* kept because it owns the memory */
    all.classes = p[0].classes;
    p[0].tasks = p[0].classes = NULL;
    dis__pooled_free(&p[0]);
    p[0] = all;
    return DIS_OK;
}

static dis_status compare(dis_context *ctx, const dis__plan *plan, const side *one, size_t n_a, const side *other,
                          size_t n_b, dis_comparison **out)
{
    const int32_t *a[DIS_COMPARE_MAX_SEEDS], *b[DIS_COMPARE_MAX_SEEDS];
    const dis__pooled *first = &one->one[0];
    for (size_t i = 0; i < n_a; i++) a[i] = one->one[i].label;
    for (size_t i = 0; i < n_b; i++) b[i] = other->one[i].label;
    bool gold = false;
    for (size_t i = 0; i < first->n_items && !gold; i++) gold = first->gold[i] >= 0;
    if (!gold) return DIS_OK;
    const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                     .n_items = first->n_items,
                                     .n_classes = first->n_classes,
                                     .gold = first->gold,
                                     .n_a = n_a,
                                     .n_b = n_b,
                                     .a = a,
                                     .b = b,
                                     .human = first->human};
    dis_comparison_options o = dis_comparison_options_default();
    o.resamples = plan->resamples;
    o.fraction = plan->fraction;
    o.pool_seeds = plan->pool_seeds && n_a == n_b;
    return dis_comparison_run(ctx, &in, &o, out);
}

static dis_status compare_sides(dis_context *ctx, const dis__plan *plan, side *a, side *b, bool one_seed,
                                dis_comparison **out)
{
    bool same = false;
    if (!one_seed) pair_seeds(a, b);
    if (a->n == 0 || b->n == 0) return DIS_OK;
    DIS_TRY(reorder_all(a, b, &same));
    if (same) return compare(ctx, plan, a, a->n, b, b->n, out);
    pair_seeds(a, b);
    if (a->n == 0) return DIS_OK;
    DIS_TRY(match_pairs(a, b));
    if (a->n == 0) return DIS_OK;
    DIS_TRY(chain(a->one, a->n));
    DIS_TRY(chain(b->one, b->n));
    return compare(ctx, plan, a, 1, b, 1, out);
}

dis_status dis__pairwise(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                         size_t cell, size_t against, const char *set, dis_comparison **out)
{
    side a = {0}, b = {0};
    dis_comparison *found = NULL;
    const bool one_seed = count_seeds(plan, cell) < 2 || count_seeds(plan, against) < 2;
    dis_status status = gather(ctx, store, plan, state, cell, set, &a);
    if (status == DIS_OK) status = gather(ctx, store, plan, state, against, set, &b);
    if (status == DIS_OK) status = compare_sides(ctx, plan, &a, &b, one_seed, &found);
    side_free(&a);
    side_free(&b);
    if (status == DIS_OK) *out = found;
    return status;
}
