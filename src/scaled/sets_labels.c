/* Labels per class and over sets, by the label methods: see sets.c. */
#include "core/numbers/elementary.h"
#include "scaled/sets.h"
#include <math.h>
#include <string.h>

enum { FEW_SETS = 64 };

/* Labels of one table of indices, (n_items, n_classes), to be freed. */
static dis_status label(const dis__sets *x, size_t n_classes, const dis_label_plan *choice, double **p)
{
    const dis_votes_view *v = &x->args->view;
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = x->n_votes,
                                     .n_items = v->n_items,
                                     .n_workers = v->n_workers,
                                     .n_classes = n_classes,
                                     .task = x->task,
                                     .worker = x->worker,
                                     .label = x->label};
    return dis__scaled_run_labels(x->args, &arrays, choice, p);
}

static dis_status label_classes(dis__sets *x)
{
    const size_t n = x->args->view.n_items;
    DIS_TRY(dis__scaled_allocate(x->out, &x->p, dis__saturating_size(x->n_classes, n, 0), sizeof *x->p));
    for (size_t c = 0; c < x->n_classes; c++) {
        double *p;
        DIS_TRY(dis__check_stop(x->args->ctx));
        for (size_t k = 0; k < x->n_votes; k++) x->label[k] = x->has[x->kind[k] * x->n_classes + c];
        DIS_TRY(label(x, 2, &x->choice, &p));
        for (size_t i = 0; i < n; i++) x->p[c * n + i] = p[2 * i + 1];
        dis_free(p);
    }
    return DIS_OK;
}

/* "a+b" of the classes for which `in` says so. */
static dis_status join(const dis__sets *x, bool (*in)(const dis__sets *x, size_t at, size_t c), size_t at, char **room,
                       size_t *capacity)
{
    size_t used = 0;
    for (size_t c = 0; c < x->n_classes; c++) {
        size_t n;
        const char *name = dis_names_get(x->classes, c, &n);
        if (!in(x, at, c)) continue;
        DIS_TRY(dis__reserve(room, capacity, used, used + n + 2, 1));
        if (used) (*room)[used++] = '+';
        memcpy(*room + used, name, n);
        used += n;
    }
    DIS_TRY(dis__reserve(room, capacity, used, used + 1, 1));
    (*room)[used] = 0;
    return DIS_OK;
}

static bool is_probable(const dis__sets *x, size_t item, size_t c)
{
    return x->p[c * x->args->view.n_items + item] >= .5;
}

static bool is_in_set(const dis__sets *x, size_t set, size_t c)
{
    return x->has[set * x->n_classes + c];
}

/* A list of n joined names. */
static dis_status join_all(dis__sets *x, bool (*in)(const dis__sets *x, size_t at, size_t c), size_t n,
                           const dis_names **out)
{
    char **text, *room = NULL;
    size_t capacity = 0;
    DIS_TRY(dis__alloc_zeroed(&text, n, sizeof *text));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++) {
        status = join(x, in, i, &room, &capacity);
        if (status == DIS_OK) status = dis__copy_text(&text[i], room, strlen(room));
    }
    if (status == DIS_OK) status = dis__scaled_add_names(x->out, (const char *const *)text, n, out);
    for (size_t i = 0; i < n; i++) dis__free(text[i]);
    dis__free(text);
    dis__free(room);
    return status;
}

static double binary_entropy(double p)
{
    return p > 0 && p < 1 ? -p * dis__log(p) - (1 - p) * dis__log(1 - p) : 0;
}

/* "p:CLASS" for every class. */
static dis_status column_names(dis__sets *x, char ***names)
{
    DIS_TRY(dis__scaled_allocate(x->out, names, x->n_classes, sizeof **names));
    for (size_t c = 0; c < x->n_classes; c++) {
        size_t n;
        const char *name = dis_names_get(x->classes, c, &n);
        DIS_TRY(dis__scaled_allocate(x->out, &(*names)[c], n + 3, 1));
        memcpy((*names)[c], "p:", 2);
        memcpy((*names)[c] + 2, name, n);
    }
    return DIS_OK;
}

static dis_status add_labels(dis__sets *x)
{
    const dis_votes_view *v = &x->args->view;
    const dis_names *joined;
    dis_scaled_column *c;
    double *entropy, *key;
    char **names;
    DIS_TRY(join_all(x, is_probable, v->n_items, &joined));
    DIS_TRY(column_names(x, &names));
    DIS_TRY(dis__scaled_add_table(x->out, "labels",
                                  "per item the classes of at least one half, and the probability of each class",
                                  v->n_items, 3 + x->n_classes, &c));
    c[0] = (dis_scaled_column){.name = "task", .names = v->tasks};
    c[1] = (dis_scaled_column){.name = "label", .names = joined};
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "entropy", v->n_items, &entropy));
    for (size_t k = 0; k < x->n_classes; k++) {
        c[3 + k] = (dis_scaled_column){.name = names[k], .values = x->p + k * v->n_items};
        for (size_t i = 0; i < v->n_items; i++) entropy[i] += binary_entropy(x->p[k * v->n_items + i]);
    }
    dis_scaled_column *item;
    DIS_TRY(dis__scaled_add_table(x->out, "items", "items by the entropy of their labels, summed over classes",
                                  v->n_items, 4, &item));
    item[0] = c[0];
    item[1] = c[1];
    item[2] = c[2];
    DIS_TRY(dis__scaled_init_column(x->out, &item[3], "votes", v->n_items, &key));
    for (size_t i = 0; i < v->n_items; i++) key[i] = (double)(x->start[i + 1] - x->start[i]);
    return dis__scaled_sort_table(x->out, &x->out->table[x->out->n_tables - 1], entropy);
}

/* Rows of sets that have a share; p (n_items, n_sets). */
static dis_status add_joint(dis__sets *x)
{
    const dis_votes_view *v = &x->args->view;
    const dis_names *sets;
    dis_label_plan shares = dis_label_plan_default();
    static const char *const standard[] = {"standard"};
    double *p, *out;
    uint32_t *task, *set;
    size_t n = 0;
    DIS_TRY(dis_label_plan_parse(standard, 1, NULL, true, &shares));
    if (x->n_sets > DIS_MAX_CLASSES) {
        dis__scaled_add_note(x->out, "%zu different sets: no joint labels", x->n_sets);
        return DIS_OK;
    }
    for (size_t k = 0; k < x->n_votes; k++) x->label[k] = (uint16_t)x->kind[k];
    DIS_TRY(label(x, x->n_sets, x->n_sets <= FEW_SETS ? &x->choice : &shares, &p));
    for (size_t i = 0; i < v->n_items * x->n_sets; i++) n += p[i] > 1e-6;
    dis_scaled_column *c;
    dis_status status = join_all(x, is_in_set, x->n_sets, &sets);
    if (status == DIS_OK)
        status = dis__scaled_add_table(x->out, "joint", "per item the probability of each set of classes", n, 3, &c);
    if (status == DIS_OK) status = dis__scaled_allocate(x->out, &task, n, sizeof *task);
    if (status == DIS_OK) status = dis__scaled_allocate(x->out, &set, n, sizeof *set);
    if (status == DIS_OK) status = dis__scaled_init_column(x->out, &c[2], "p", n, &out);
    n = 0;
    for (size_t i = 0; status == DIS_OK && i < v->n_items * x->n_sets; i++) {
        if (!(p[i] > 1e-6)) continue;
        task[n] = (uint32_t)(i / x->n_sets);
        set[n] = (uint32_t)(i % x->n_sets);
        out[n++] = p[i];
    }
    if (status == DIS_OK) {
        c[0] = (dis_scaled_column){.name = "task", .names = v->tasks, .index = task};
        c[1] = (dis_scaled_column){.name = "set", .names = sets, .index = set};
    }
    dis_free(p);
    return status;
}

dis_status dis__sets_add_labels(dis__sets *x)
{
    DIS_TRY(label_classes(x));
    DIS_TRY(add_labels(x));
    return add_joint(x);
}
