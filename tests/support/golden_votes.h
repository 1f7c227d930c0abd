/* golden_votes.h: votes and gold labels of the reference sets for tests, read without the library's own readers
 * (task,worker,label with a header and no quotes), so that a test of a method does not depend on them. */
#ifndef DIS_SUPPORT_GOLDEN_VOTES_H
#define DIS_SUPPORT_GOLDEN_VOTES_H
#include "dissent/dissent.h"
#include "golden_csv.h"
#include <math.h>

typedef struct {
    char **text;
    size_t n, room;
    size_t *slot; /* open addressing, index + 1 */
    size_t n_slots;
} golden_ids;

static inline size_t golden_intern(golden_ids *ids, const char *text)
{
    if (2 * ids->n >= ids->n_slots) {
        free(ids->slot);
        ids->n_slots = ids->n_slots ? 4 * ids->n_slots : 1024;
        ids->slot = calloc(ids->n_slots, sizeof *ids->slot);
        const size_t n = ids->n;
        char **old = ids->text;
        *ids = (golden_ids){.slot = ids->slot, .n_slots = ids->n_slots};
        for (size_t i = 0; i < n; i++) {
            golden_intern(ids, old[i]);
            free(old[i]);
        }
        free(old);
    }
    size_t h = 5381;
    for (const char *c = text; *c; c++) h = h * 33 + (unsigned char)*c;
    for (h %= ids->n_slots; ids->slot[h]; h = (h + 1) % ids->n_slots)
        if (strcmp(ids->text[ids->slot[h] - 1], text) == 0) return ids->slot[h] - 1;
    if (ids->n == ids->room) {
        ids->room = ids->room ? 2 * ids->room : 256;
        ids->text = realloc(ids->text, ids->room * sizeof *ids->text);
    }
    ids->text[ids->n++] = strdup(text);
    return (ids->slot[h] = ids->n) - 1;
}

static inline void golden_forget(golden_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++) free(ids->text[i]);
    free(ids->text);
    free(ids->slot);
}

/* classes: names in the order wanted, "a|b|c", or NULL for the order of bytes. NULL when the file is not there. Pairs
 * that come twice are kept. */
static inline dis_votes *golden_votes(const char *file, const char *classes)
{
    FILE *f = fopen(golden_path(file), "r");
    if (!f) return NULL;
    golden_ids tasks = {0}, workers = {0}, labels = {0};
    size_t n = 0, room = 0;
    uint32_t *task = NULL, *worker = NULL;
    uint16_t *label = NULL;
    char line[4096];
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = 0;
        char *rest = line;
        const char *t = strsep(&rest, ","), *w = strsep(&rest, ","), *l = rest;
        if (n == room) {
            room = room ? 2 * room : 4096;
            task = realloc(task, room * sizeof *task);
            worker = realloc(worker, room * sizeof *worker);
            label = realloc(label, room * sizeof *label);
        }
        task[n] = (uint32_t)golden_intern(&tasks, t);
        worker[n] = (uint32_t)golden_intern(&workers, w);
        label[n++] = (uint16_t)golden_intern(&labels, l);
    }
    fclose(f);
    golden_ids sorted = {0};
    char copy[1024];
    if (classes) {
        snprintf(copy, sizeof copy, "%s", classes);
        char *rest = copy;
        for (const char *c; (c = strsep(&rest, "|"));) golden_intern(&sorted, c);
    } else {
        char **order = malloc(labels.n * sizeof *order);
        memcpy(order, labels.text, labels.n * sizeof *order);
        for (size_t i = 0; i < labels.n; i++)
            for (size_t j = i + 1; j < labels.n; j++)
                if (strcmp(order[j], order[i]) < 0) {
                    char *swap = order[i];
                    order[i] = order[j];
                    order[j] = swap;
                }
        for (size_t i = 0; i < labels.n; i++) golden_intern(&sorted, order[i]);
        free(order);
    }
    for (size_t v = 0; v < n; v++) label[v] = (uint16_t)golden_intern(&sorted, labels.text[label[v]]);
    dis_names *names[3];
    const golden_ids *ids[3] = {&tasks, &workers, &sorted};
    for (int i = 0; i < 3; i++) dis_names_create((const char *const *)ids[i]->text, ids[i]->n, &names[i]);
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = tasks.n,
                                .n_workers = workers.n,
                                .n_classes = sorted.n,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .tasks = names[0],
                                .workers = names[1],
                                .classes = names[2],
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes = NULL;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
    for (int i = 0; i < 3; i++) dis_names_destroy(names[i]);
    golden_forget(&tasks);
    golden_forget(&workers);
    golden_forget(&labels);
    golden_forget(&sorted);
    free(task);
    free(worker);
    free(label);
    return votes;
}

/* Classes of the items of `votes` from a file of task,label, -1 where it says nothing; the caller frees. NULL: no file.
 */
static inline int32_t *golden_truth(const char *file, const dis_votes *votes)
{
    FILE *f = fopen(golden_path(file), "r");
    if (!f) return NULL;
    const dis_votes_view v = dis_votes_get_view(votes);
    golden_ids tasks = {0};
    int32_t *truth = malloc(v.n_items * sizeof *truth);
    for (size_t i = 0; i < v.n_items; i++) {
        truth[i] = -1;
        golden_intern(&tasks, dis_names_get(v.tasks, i, NULL));
    }
    char line[4096];
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = 0;
        char *rest = line;
        const size_t i = golden_intern(&tasks, strsep(&rest, ","));
        const size_t k = rest ? dis_names_find(v.classes, rest, strlen(rest)) : SIZE_MAX;
        if (i < v.n_items && k != SIZE_MAX) truth[i] = (int32_t)k;
    }
    fclose(f);
    golden_forget(&tasks);
    return truth;
}

/* Largest difference between p (n_items, n_classes) and a reference file, matched by names; *mean (may be NULL) their
 * mean. */
static inline double golden_difference(const golden_csv *expected, const dis_votes_view *v, const double *p,
                                       double *mean)
{
    double worst = 0, sum = 0;
    for (size_t i = 0; i < v->n_items; i++)
        for (size_t k = 0; k < v->n_classes; k++) {
            const size_t row = golden_row(expected, dis_names_get(v->tasks, i, NULL)),
                         column = golden_column(expected, dis_names_get(v->classes, k, NULL));
            if (row == SIZE_MAX || column == SIZE_MAX) return INFINITY;
            const double d = fabs(expected->value[row * expected->n_columns + column] - p[i * v->n_classes + k]);
            worst = d > worst ? d : worst;
            sum += d;
        }
    if (mean) *mean = sum / (double)(v->n_items * v->n_classes);
    return worst;
}

#endif
