/* em_support.h: what the tests of the EM methods share: simple CSV files by name, votes from them, problems made up at
 * random. */
#ifndef DIS_SUPPORT_EM_SUPPORT_H
#define DIS_SUPPORT_EM_SUPPORT_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka compares floats; these are doubles. */
#define em_assert_close(a, b, within) em_assert_close_(a, b, within, __FILE__, __LINE__)
static inline void em_assert_close_(double a, double b, double within, const char *file, int line)
{
    if (!(fabs(a - b) <= within)) fail_msg("%s:%d: %.17g and %.17g differ by %.3g", file, line, a, b, fabs(a - b));
}

/* A table of text cells: plain commas, no quotes. */
typedef struct {
    char *text;
    size_t n_rows, n_columns; /* header apart */
    char **header, **cell;    /* cell[row * n_columns + column] */
} em_table;

static inline void em_table_free(em_table *t)
{
    free(t->text);
    free(t->header);
    free(t->cell);
}

/* False when the file is not there. */
static inline bool em_table_read(const char *path, em_table *t)
{
    *t = (em_table){0};
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    fseek(f, 0, SEEK_END);
    const size_t size = (size_t)ftell(f);
    rewind(f);
    *t = (em_table){.text = malloc(size + 1)};
    assert_non_null(t->text);
    assert_int_equal(fread(t->text, 1, size, f), size);
    fclose(f);
    t->text[size] = 0;
    size_t n_lines = 0, n_commas = 0;
    for (const char *c = t->text; *c; c++) {
        n_lines += *c == '\n';
        n_commas += *c == ',' && n_lines == 0;
    }
    t->n_columns = n_commas + 1;
    t->header = calloc(t->n_columns, sizeof *t->header);
    t->cell = calloc((n_lines + 1) * t->n_columns, sizeof *t->cell);
    assert_non_null(t->header);
    assert_non_null(t->cell);
    size_t line = 0;
    for (char *c = t->text; *c; line++) {
        char **row = line ? t->cell + (line - 1) * t->n_columns : t->header;
        for (size_t k = 0; k < t->n_columns; k++) {
            row[k] = c;
            c += strcspn(c, ",\r\n");
            if (*c == '\r') *c++ = 0;
            if (*c) *c++ = 0;
        }
    }
    t->n_rows = line - 1;
    return true;
}

/* The folder of shared files, "" when there is none. */
static inline const char *em_shared(const char *what, char *path, size_t size, const char *file)
{
    const char *data = getenv("DISSENT_DATA");
    if (data && strcmp(what, "data") == 0)
        snprintf(path, size, "%s/%s", data, file);
    else
        snprintf(path, size, "%s/../shared/%s/%s", DIS_SOURCE_DIR, what, file);
    return path;
}

typedef struct {
    size_t n;
    char **text;
} em_names;

/* Index of a text, added when new. Linear for classes, sorted lookup is not needed: workers and tasks are few thousand.
 */
typedef struct {
    size_t n, capacity;
    char **text;
    uint32_t *slot;
    size_t n_slots;
} em_index;

static inline uint64_t em_hash(const char *s)
{
    uint64_t h = 1469598103934665603u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

static inline em_index em_index_make(size_t max)
{
    em_index x = {.capacity = max, .n_slots = 1};
    while (x.n_slots < 2 * max + 2) x.n_slots *= 2;
    x.text = calloc(max + 1, sizeof *x.text);
    x.slot = calloc(x.n_slots, sizeof *x.slot);
    assert_non_null(x.text);
    assert_non_null(x.slot);
    return x;
}

static inline void em_index_free(em_index *x)
{
    free(x->text);
    free(x->slot);
}

/* SIZE_MAX when it is not there and not to be added. */
static inline size_t em_index_get(em_index *x, char *text, bool add)
{
    size_t s = em_hash(text) & (x->n_slots - 1);
    for (; x->slot[s]; s = (s + 1) & (x->n_slots - 1))
        if (strcmp(x->text[x->slot[s] - 1], text) == 0) return x->slot[s] - 1;
    if (!add) return SIZE_MAX;
    x->text[x->n++] = text;
    x->slot[s] = (uint32_t)x->n;
    return x->n - 1;
}

static inline int em_compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Votes of a file task,worker,label with their names; classes in byte order. */
typedef struct {
    em_table file;
    em_index tasks, workers, classes;
    size_t n_votes;
    uint32_t *task, *worker;
    uint16_t *label;
    dis_votes *votes;
} em_set;

static inline dis_votes *em_make_votes(size_t n_votes, const uint32_t *task, const uint32_t *worker,
                                       const uint16_t *label, size_t n_items, size_t n_workers, size_t n_classes)
{
    dis_votes *votes = NULL;
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n_votes,
                                .n_items = n_items,
                                .n_workers = n_workers,
                                .n_classes = n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .duplicates = DIS_DUPLICATES_ALL};
    const dis_status status = dis_votes_create_from_arrays(NULL, &a, &votes);
    if (status != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static inline bool em_set_read(const char *path, em_set *s)
{
    *s = (em_set){0};
    if (!em_table_read(path, &s->file)) return false;
    const size_t n = s->n_votes = s->file.n_rows;
    s->tasks = em_index_make(n);
    s->workers = em_index_make(n);
    s->classes = em_index_make(n);
    s->task = calloc(n, sizeof *s->task);
    s->worker = calloc(n, sizeof *s->worker);
    s->label = calloc(n, sizeof *s->label);
    for (size_t v = 0; v < n; v++) em_index_get(&s->classes, s->file.cell[3 * v + 2], true);
    em_index sorted = em_index_make(n);
    qsort(s->classes.text, s->classes.n, sizeof *s->classes.text, em_compare_text);
    for (size_t k = 0; k < s->classes.n; k++) em_index_get(&sorted, s->classes.text[k], true);
    em_index_free(&s->classes);
    s->classes = sorted;
    for (size_t v = 0; v < n; v++) {
        s->task[v] = (uint32_t)em_index_get(&s->tasks, s->file.cell[3 * v], true);
        s->worker[v] = (uint32_t)em_index_get(&s->workers, s->file.cell[3 * v + 1], true);
        s->label[v] = (uint16_t)em_index_get(&s->classes, s->file.cell[3 * v + 2], false);
    }
    s->votes = em_make_votes(n, s->task, s->worker, s->label, s->tasks.n, s->workers.n, s->classes.n);
    return true;
}

static inline void em_set_free(em_set *s)
{
    if (s->votes) dis_votes_destroy(s->votes);
    em_table_free(&s->file);
    em_index_free(&s->tasks);
    em_index_free(&s->workers);
    em_index_free(&s->classes);
    free(s->task);
    free(s->worker);
    free(s->label);
}

static inline dis_fit *em_fit(dis_context *ctx, const dis_votes *votes, const char *spec,
                              const dis_fit_options *options)
{
    dis_fit *fit = NULL;
    if (dis_fit_run(ctx, votes, spec, options, &fit) != DIS_OK) fail_msg("%s: %s", spec, dis_last_error());
    return fit;
}

/* Largest difference between a fit's posteriors and a file task,CLASS,...; numbers below `floor` are raised to it. */
static inline double em_compare_posteriors(em_set *s, const double *p, const char *path, double floor)
{
    em_table t;
    if (!em_table_read(path, &t)) return NAN;
    double worst = 0;
    assert_int_equal(t.n_rows, s->tasks.n);
    for (size_t r = 0; r < t.n_rows; r++) {
        const size_t i = em_index_get(&s->tasks, t.cell[r * t.n_columns], false);
        assert_true(i != SIZE_MAX);
        for (size_t c = 1; c < t.n_columns; c++) {
            const size_t k = em_index_get(&s->classes, t.header[c], false);
            assert_true(k != SIZE_MAX);
            const double x = p[i * s->classes.n + k];
            worst = fmax(worst, fabs((x > floor ? x : floor) - strtod(t.cell[r * t.n_columns + c], NULL)));
        }
    }
    em_table_free(&t);
    return worst;
}

/* Share of items with a known label (file task,label) whose likeliest class it is. */
static inline double em_accuracy(em_set *s, const double *p, const char *path)
{
    em_table t;
    if (!em_table_read(path, &t)) return NAN;
    size_t right = 0, n = 0;
    for (size_t r = 0; r < t.n_rows; r++) {
        const size_t i = em_index_get(&s->tasks, t.cell[r * t.n_columns], false);
        if (i == SIZE_MAX) continue;
        const size_t k = em_index_get(&s->classes, t.cell[r * t.n_columns + 1], false);
        right += dis__argmax(p + i * s->classes.n, s->classes.n) == k;
        n++;
    }
    em_table_free(&t);
    return (double)right / (double)n;
}

#endif
