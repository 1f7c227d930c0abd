/* Spans from the votes, and the pieces that they cut tasks into: see spans.c. A task is the text before its two
 * positions. */
#include "scaled/spans.h"
#include "core/os/os.h"
#include "votes/table/scales.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n, item;
} named;

static int by_text(const void *x, const void *y)
{
    const named *a = x, *b = y;
    const int order = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    return order ? order : a->n < b->n ? -1 : a->n > b->n ? 1 : a->item < b->item ? -1 : 1;
}

static bool same_text(const named *a, const named *b)
{
    return a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

/* Numbers of tasks in the order in which they were read first; doc (n_items). */
static dis_status number_docs(dis__spans *x, uint32_t *doc)
{
    const dis_votes_view *v = &x->args->view;
    named *at;
    char **text;
    uint32_t *first;
    size_t n = 0;
    DIS_TRY(dis__scaled_allocate(x->out, &at, v->n_items, sizeof *at));
    DIS_TRY(dis__scaled_allocate(x->out, &first, v->n_items, sizeof *first));
    for (size_t i = 0; i < v->n_items; i++) {
        size_t length;
        const char *name = dis_names_get(v->tasks, i, &length),
                   *last = dis__os_find_last(name, DIS_PART_SEPARATOR, length);
        const char *middle = last ? dis__os_find_last(name, DIS_PART_SEPARATOR, (size_t)(last - name)) : NULL;
        if (!middle)
            return dis__fail(DIS_EDATA, "\"%.100s\" has no positions; read the votes with their columns start and end",
                             name);
        at[i] = (named){.text = name, .n = (size_t)(middle - name), .item = i};
    }
    qsort(at, v->n_items, sizeof *at, by_text);
    for (size_t i = 0, group = 0; i < v->n_items; i++) { /* the first item of each group stands for it */
        if (!same_text(&at[group], &at[i])) group = i;
        first[at[i].item] = (uint32_t)at[group].item;
    }
    DIS_TRY(dis__alloc_zeroed(&text, v->n_items, sizeof *text));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->n_items && status == DIS_OK; i++) {
        if (first[i] != i) {
            doc[i] = doc[first[i]];
            continue;
        }
        size_t length;
        const char *name = dis_names_get(v->tasks, i, &length),
                   *end = dis__os_find_last(name, DIS_PART_SEPARATOR, length);
        end = dis__os_find_last(name, DIS_PART_SEPARATOR, (size_t)(end - name));
        status = dis__copy_text(&text[n], name, (size_t)(end - name));
        doc[i] = (uint32_t)n++;
    }
    x->n_docs = n;
    if (status == DIS_OK) status = dis__scaled_add_names(x->out, (const char *const *)text, n, &x->docs);
    for (size_t i = 0; i < v->n_items; i++) dis__free(text[i]);
    dis__free(text);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const dis__span *x = a, *y = b;
    if (x->doc != y->doc) return x->doc < y->doc ? -1 : 1;
    if (x->worker != y->worker) return x->worker < y->worker ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Classes in their order, O first. number (n_labels). */
static dis_status name_classes(dis__spans *x, uint32_t *number)
{
    const dis_votes_view *v = &x->args->view;
    const char **text;
    DIS_TRY(dis__alloc_array(&text, v->n_classes + 1, sizeof *text));
    x->n_classes = 0;
    text[x->n_classes++] = "O";
    for (size_t k = 0; k < v->n_classes; k++) {
        const char *name = dis_names_get(v->classes, k, NULL);
        number[k] = 0;
        if (strcmp(name, "O") == 0) continue;
        number[k] = (uint32_t)x->n_classes;
        text[x->n_classes++] = name;
    }
    const dis_status status = dis__scaled_add_names(x->out, text, x->n_classes, &x->classes);
    dis__free(text);
    return status;
}

dis_status dis__spans_read(dis__spans *x)
{
    const dis_votes_view *v = &x->args->view;
    uint32_t *doc, *number;
    DIS_TRY(dis__scaled_allocate(x->out, &doc, v->n_items, sizeof *doc));
    DIS_TRY(dis__scaled_allocate(x->out, &number, v->n_classes, sizeof *number));
    DIS_TRY(dis__scaled_allocate(x->out, &x->s, v->n_votes, sizeof *x->s));
    DIS_TRY(name_classes(x, number));
    DIS_TRY(number_docs(x, doc));
    for (size_t i = 0; i < v->n_items; i++) {
        const char *name = dis_names_get(v->tasks, i, NULL), *end = strrchr(name, DIS_PART_SEPARATOR), *start = end;
        do start--;
        while (*start != DIS_PART_SEPARATOR);
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++)
            x->s[x->n] = (dis__span){.doc = doc[i],
                                     .worker = v->worker[n],
                                     .label = number[v->label8 ? v->label8[n] : v->label16[n]],
                                     .start = strtoull(start + 1, NULL, 10),
                                     .end = strtoull(end + 1, NULL, 10),
                                     .row = x->n},
            x->n++;
    }
    qsort(x->s, x->n, sizeof *x->s, by_place);
    DIS_TRY(dis__scaled_allocate(x->out, &x->doc_start, x->n_docs + 1, sizeof *x->doc_start));
    for (size_t i = 0; i < x->n; i++) x->doc_start[x->s[i].doc + 1] = i + 1;
    return DIS_OK;
}

/* ---- pieces ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static dis_status cut(dis__spans *x)
{
    uint64_t *cuts;
    DIS_TRY(dis__scaled_allocate(x->out, &cuts, 2 * x->n + 1, sizeof *cuts));
    DIS_TRY(dis__scaled_allocate(x->out, &x->piece_start, x->n_docs + 1, sizeof *x->piece_start));
    DIS_TRY(dis__scaled_allocate(x->out, &x->from, 2 * x->n + 1, sizeof *x->from));
    DIS_TRY(dis__scaled_allocate(x->out, &x->to, 2 * x->n + 1, sizeof *x->to));
    DIS_TRY(dis__scaled_allocate(x->out, &x->piece_doc, 2 * x->n + 1, sizeof *x->piece_doc));
    for (size_t d = 0; d < x->n_docs; d++) {
        size_t n = 0;
        cuts[n++] = 0;
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i++)
            if (x->s[i].label != DIS_NO_SPAN) {
                cuts[n++] = x->s[i].start;
                cuts[n++] = x->s[i].end;
            }
        qsort(cuts, n, sizeof *cuts, by_number);
        for (size_t k = 1; k < n; k++) {
            if (cuts[k] == cuts[k - 1]) continue;
            x->from[x->n_pieces] = cuts[k - 1];
            x->to[x->n_pieces] = cuts[k];
            x->piece_doc[x->n_pieces++] = (uint32_t)d;
        }
        x->piece_start[d + 1] = x->n_pieces;
    }
    return DIS_OK;
}

size_t dis__spans_worker_end(const dis__spans *x, size_t i)
{
    size_t end = i;
    while (end < x->doc_start[x->s[i].doc + 1] && x->s[end].worker == x->s[i].worker) end++;
    return end;
}

static dis_status vote(dis__spans *x)
{
    size_t n = 0;
    for (size_t d = 0; d < x->n_docs; d++)
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = dis__spans_worker_end(x, i))
            n += x->piece_start[d + 1] - x->piece_start[d];
    DIS_TRY(dis__scaled_allocate(x->out, &x->vote_start, x->n_pieces + 1, sizeof *x->vote_start));
    DIS_TRY(dis__scaled_allocate(x->out, &x->worker, n, sizeof *x->worker));
    DIS_TRY(dis__scaled_allocate(x->out, &x->label, n, sizeof *x->label));
    for (size_t d = 0; d < x->n_docs; d++)
        for (size_t p = x->piece_start[d]; p < x->piece_start[d + 1]; p++) {
            for (size_t i = x->doc_start[d], end; i < x->doc_start[d + 1]; i = end) {
                end = dis__spans_worker_end(x, i);
                uint32_t label = DIS_NO_SPAN;
                for (size_t k = i; k < end; k++) {
                    const dis__span *s = &x->s[k];
                    if (s->label == DIS_NO_SPAN || s->start > x->from[p] || s->end < x->to[p]) continue;
                    x->n_overlaps += label != DIS_NO_SPAN && label != s->label;
                    if (label == DIS_NO_SPAN) label = s->label;
                }
                x->worker[x->n_votes] = x->s[i].worker;
                x->label[x->n_votes++] = (uint16_t)label;
            }
            x->vote_start[p + 1] = x->n_votes;
        }
    if (x->n_overlaps)
        dis__scaled_add_note(x->out, "%zu piece%s where spans of one worker overlap: the first one counts",
                             x->n_overlaps, x->n_overlaps == 1 ? "" : "s");
    return DIS_OK;
}

dis_status dis__spans_split(dis__spans *x)
{
    DIS_TRY(cut(x));
    return vote(x);
}
