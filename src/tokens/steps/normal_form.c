/* Normal forms of Unicode (UAX 15): decompose every character fully, put runs of combining marks in order of their
 * classes, compose again where asked for. O(n log n).
 *
 * Places are those that tokenizers gives: characters of the result take the positions of the text's characters in their
 * order, also where marks were reordered; what a character decomposed into beyond its first part shares the position
 * before it, and characters that were composed into one leave their positions out. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <stdlib.h>

void dis__normal_form_begin(dis__encode_workspace *b)
{
    b->n_points = b->n_sources = 0;
}

dis_status dis__normal_form_add(dis__encode_workspace *b, uint32_t c, uint32_t from, uint32_t to, dis__parts parts)
{
    uint32_t part[DIS_CHAR_PARTS] = {c};
    const size_t n = parts == DIS_PARTS_NONE ? 1 : dis__char_decompose(c, parts == DIS_PARTS_COMPATIBLE, part);
    DIS_TRY(dis__reserve(&b->point, &b->point_room, b->n_points, b->n_points + n, sizeof *b->point));
    DIS_TRY(dis__reserve(&b->source, &b->source_room, b->n_sources, b->n_sources + 1, sizeof *b->source));
    b->source[b->n_sources][0] = from;
    b->source[b->n_sources++][1] = to;
    for (size_t i = 0; i < n; i++)
        b->point[b->n_points++] =
            (dis__normal_char){.c = part[i],
                               .class = parts == DIS_PARTS_NONE ? 0 : dis__char_kind(part[i]) >> 24,
                               .added = i > 0};
    return DIS_OK;
}

enum { CLASS_SHIFT = 21 }; /* characters are below 2^21 */

/* While a long run is sorted, the class stands above the character and the position in the run where the class was,
 * since qsort is not stable. */
static int by_class(const void *a, const void *b)
{
    const dis__normal_char *x = a, *y = b;
    const uint32_t i = x->c >> CLASS_SHIFT, j = y->c >> CLASS_SHIFT;
    if (i != j) return i < j ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

static void sort_long_run(dis__normal_char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i].c |= p[i].class << CLASS_SHIFT;
        p[i].class = (uint32_t)i;
    }
    qsort(p, n, sizeof *p, by_class);
    for (size_t i = 0; i < n; i++) {
        p[i].class = p[i].c >> CLASS_SHIFT;
        p[i].c &= (1u << CLASS_SHIFT) - 1;
    }
}

static void sort_run(dis__normal_char *p, size_t n)
{
    enum { SHORT = 32 };
    if (n > SHORT) {
        sort_long_run(p, n);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const dis__normal_char x = p[i];
        size_t j = i;
        for (; j > 0 && p[j - 1].class > x.class; j--) p[j] = p[j - 1];
        p[j] = x;
    }
}

static size_t compose(dis__normal_char *p, size_t n)
{
    size_t used = 0, starter = SIZE_MAX;
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const bool open = starter != SIZE_MAX && (used == starter + 1 || last < p[i].class);
        const uint32_t composed = open ? dis__char_compose(p[starter].c, p[i].c) : 0;
        if (composed) {
            p[starter].c = composed;
            p[starter].absorbed += !p[i].added;
            continue;
        }
        if (p[i].class == 0) starter = used;
        last = p[i].class;
        p[used++] = p[i];
    }
    return used;
}

static void place_points(dis__encode_workspace *b)
{
    size_t next = 0; /* position */
    for (size_t i = 0; i < b->n_points; i++) {
        dis__normal_char *p = &b->point[i];
        const size_t at = p->added ? next - (next > 0) : next++;
        p->from = b->source[at < b->n_sources ? at : b->n_sources - 1][0];
        p->to = b->source[at < b->n_sources ? at : b->n_sources - 1][1];
        next += p->absorbed;
    }
}

void dis__normal_form_finish(dis__encode_workspace *b, bool composed)
{
    for (size_t i = 0; i < b->n_points;) {
        size_t end = i + 1;
        if (b->point[i].class)
            for (; end < b->n_points && b->point[end].class;) end++;
        if (end - i > 1) sort_run(b->point + i, end - i);
        i = end;
    }
    if (composed) b->n_points = compose(b->point, b->n_points);
    place_points(b);
}
