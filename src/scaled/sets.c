/* Several classes at once: every vote is a set of classes.
 *
 * Labels per class: a vote says yes or no to each class, and the label methods (the default recipe, or those that are
 * named) are fitted to these answers, class by class. The joint label is a distribution over chosen sets:
 * the same methods with the sets as classes while there are few of them, else the shares of votes.
 *
 * Agreement: alpha over sets with the distances of Jaccard, 1 - |A and B| / |A or B|, and MASI (Passonneau 2006), 1 - J
 * M, M = 1 for equal sets, 2/3 where one holds the other, 1/3 where they overlap, 0 where they do not; two empty sets
 * are the same. Per class: nominal alpha of yes and no.
 *
 * Cost: one fit per class over all votes; distances of all pairs of different sets. */
#include "scaled/sets.h"
#include "votes/table/scales.h"
#include <stdlib.h>
#include <string.h>

static int find_part(const char *const *known, size_t n, const char *text, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(known[i]) == length && memcmp(known[i], text, length) == 0) return (int)i;
    return -1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *next_part(const char **at, size_t *n)
{
    const char *from = *at, *end = strchr(from, DIS_PART_SEPARATOR);
    *n = end ? (size_t)(end - from) : strlen(from);
    *at = end ? end + 1 : NULL;
    return from;
}

/* The classes of the sets, and which of them each label contains (n_labels, n_classes). */
static dis_status collect_classes(dis__sets *x, bool **has)
{
    const dis_votes_view *v = &x->args->view;
    char **part = NULL;
    size_t capacity = 0, n_parts = 0;
    dis_status status = DIS_OK;
    for (size_t s = 0; s < v->n_classes && status == DIS_OK; s++)
        for (const char *at = dis_names_get(v->classes, s, NULL); at && status == DIS_OK;) {
            size_t n;
            const char *text = next_part(&at, &n);
            if (n == 0 || find_part((const char *const *)part, n_parts, text, n) >= 0) continue;
            status = dis__reserve(&part, &capacity, n_parts, n_parts + 1, sizeof *part);
            if (status == DIS_OK) status = dis__copy_text(&part[n_parts], text, n);
            n_parts += status == DIS_OK;
        }
    if (n_parts) qsort(part, n_parts, sizeof *part, by_name);
    x->n_classes = n_parts;
    if (status == DIS_OK) status = dis__scaled_add_names(x->out, (const char *const *)part, n_parts, &x->classes);
    if (status == DIS_OK)
        status = dis__scaled_allocate(x->out, has, dis__saturating_size(v->n_classes, n_parts, 1), sizeof **has);
    for (size_t s = 0; s < v->n_classes && status == DIS_OK; s++)
        for (const char *at = dis_names_get(v->classes, s, NULL); at;) {
            size_t n;
            const char *text = next_part(&at, &n);
            const int c = n ? find_part((const char *const *)part, n_parts, text, n) : -1;
            if (c >= 0) (*has)[s * n_parts + (size_t)c] = true;
        }
    for (size_t i = 0; i < n_parts; i++) dis__free(part[i]);
    dis__free(part);
    return status;
}

/* The index of a set, new ones at the end; slots (a power of 2) have index + 1. */
static size_t number_of(dis__sets *x, const bool *set, uint32_t *slot, size_t n_slots)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t c = 0; c < x->n_classes; c++) hash = (hash ^ set[c]) * 1099511628211u;
    size_t i = (size_t)(hash ^ hash >> 29) & (n_slots - 1);
    for (; slot[i]; i = (i + 1) & (n_slots - 1))
        if (memcmp(x->has + (slot[i] - 1) * x->n_classes, set, x->n_classes * sizeof *set) == 0) return slot[i] - 1;
    memcpy(x->has + x->n_sets * x->n_classes, set, x->n_classes * sizeof *set);
    for (size_t c = 0; c < x->n_classes; c++) x->size[x->n_sets] += set[c];
    slot[i] = (uint32_t)++x->n_sets;
    return x->n_sets - 1;
}

/* One set per worker and item: the union, if a worker has several rows for an item. */
static dis_status gather_votes(dis__sets *x, const bool *has)
{
    const dis_votes_view *v = &x->args->view;
    const size_t C = x->n_classes;
    size_t n_slots = 64;
    uint32_t *slot;
    bool *set;
    while (n_slots < 2 * v->n_votes + 2) n_slots *= 2;
    DIS_TRY(dis__scaled_allocate(x->out, &x->has, dis__saturating_size(v->n_votes + 1, C, 1), sizeof *x->has));
    DIS_TRY(dis__scaled_allocate(x->out, &x->size, v->n_votes + 1, sizeof *x->size));
    DIS_TRY(dis__scaled_allocate(x->out, &x->start, v->n_items + 1, sizeof *x->start));
    DIS_TRY(dis__scaled_allocate(x->out, &x->worker, v->n_votes, sizeof *x->worker));
    DIS_TRY(dis__scaled_allocate(x->out, &x->kind, v->n_votes, sizeof *x->kind));
    DIS_TRY(dis__scaled_allocate(x->out, &x->task, v->n_votes, sizeof *x->task));
    DIS_TRY(dis__scaled_allocate(x->out, &x->label, v->n_votes, sizeof *x->label));
    DIS_TRY(dis__scaled_allocate(x->out, &slot, n_slots, sizeof *slot));
    DIS_TRY(dis__scaled_allocate(x->out, &set, C + 1, sizeof *set));
    for (size_t i = 0; i < v->n_items; i++) {
        const uint64_t first = v->start[i], last = v->start[i + 1];
        for (uint64_t n = first; n < last; n++) {
            bool before = false;
            for (uint64_t k = first; k < n && !before; k++) before = v->worker[k] == v->worker[n];
            if (before) continue;
            memset(set, 0, C * sizeof *set);
            for (uint64_t k = n; k < last; k++) {
                const size_t label = v->label8 ? v->label8[k] : v->label16[k];
                for (size_t c = 0; v->worker[k] == v->worker[n] && c < C; c++) set[c] |= has[label * C + c];
            }
            x->task[x->n_votes] = (uint32_t)i;
            x->worker[x->n_votes] = v->worker[n];
            x->kind[x->n_votes++] = (uint32_t)number_of(x, set, slot, n_slots);
        }
        x->start[i + 1] = x->n_votes;
    }
    return DIS_OK;
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    dis__sets x = {.args = args, .out = out};
    bool *has;
    x.choice = dis_label_plan_default();
    DIS_TRY(dis_label_plan_parse(args->o->method, args->o->n_methods, args->o->combine, true, &x.choice));
    const char *method = x.choice.recipe    ? x.choice.recipe->name
                         : x.choice.combine ? x.choice.combine
                                            : x.choice.views[0];
    DIS_TRY(dis__copy_text(&out->method_text, method, strlen(method)));
    out->method = args->o->measures_only ? NULL : out->method_text;
    DIS_TRY(collect_classes(&x, &has));
    if (x.n_classes == 0) return dis__fail(DIS_EDATA, "no vote names a class");
    DIS_TRY(gather_votes(&x, has));
    if (!args->o->measures_only) DIS_TRY(dis__sets_add_labels(&x));
    return dis__sets_add_measures(&x);
}

const dis__scaled_row dis__scaled_sets = {.run = run};
