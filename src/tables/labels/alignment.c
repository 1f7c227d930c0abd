/* Tables of labels matched by name. First the classes of all are put into one list, then the items of the first table
 * are looked up in the others, then rows and columns are copied where a table is not in that order already.
 *
 * Cost: one hash table per source and a lookup for each name. */
#include "dissent/align.h"
#include "votes/table/class_names.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "tables/gold_labels/gold_table.h"
#include "votes/read/reader.h"

struct dis_alignment {
    size_t n_items, n_classes, n_sources;
    const double **p; /* (n_sources): a source's own, or the table in `copy` */
    double **copy;    /* (n_sources), NULL where none was needed */
    int32_t *gold;
    const dis_names *tasks, *classes; /* those of the first source, or */
    dis_names *own_tasks, *own_classes;
    dis_alignment_notes *notes; /* (n_sources) */
    size_t without_gold, gold_left_out;
};

typedef struct {
    dis_context *ctx;
    const dis_alignment_source *source;
    size_t n_sources;
    const dis_gold *gold;
    const dis_names *declared; /* or NULL */
    const char *declared_by;   /* what messages call them: the first source, or that they were declared */
    bool lenient;
    uint32_t **column;    /* (n_sources): where each class of the source goes; NULL: where it is */
    uint32_t *gold_class; /* the same for the labels of the gold file */
    size_t **row;         /* (n_sources): the row of each item, SIZE_MAX: none; NULL: the same row */
    size_t *keep;         /* (n_items) rows of the first source; NULL: all */
    dis_alignment *out;
} matcher;

/* ---- classes ---- */

/* All classes seen, in order of appearance: those of the first source, then others. */
typedef struct {
    dis__secret secret;
    dis__key_table table;
    dis__key *key;
    size_t n, room;
} class_list;

static dis_status class_put(class_list *l, const dis_names *names, size_t k, uint32_t *index, bool *fresh)
{
    size_t n;
    const char *text = dis_names_get(names, k, &n);
    dis__key key = dis__key_from_text(&l->secret, text, n);
    key.value = (uint32_t)l->n;
    const dis__key *at;
    DIS_TRY(dis__key_table_insert(&l->table, &key, &at, fresh));
    *index = at->value;
    if (!*fresh) return DIS_OK;
    if (l->n >= DIS_MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "more than %u classes in all files together", DIS_MAX_CLASSES);
    DIS_TRY(dis__reserve(&l->key, &l->room, l->n, l->n + 1, sizeof *l->key));
    l->key[l->n++] = key;
    return DIS_OK;
}

/* A class that the first source lacks. */
static dis_status strange_class(const matcher *m, const char *where, const char *class)
{
    return dis__fail(DIS_EDATA,
                     "%s: the class \"%.200s\" is not among the classes of %s; give both the same classes, or read "
                     "missing classes as probability 0 (`lenient`)",
                     where, class, m->declared_by);
}

static dis_status gold_classes(matcher *m, class_list *l)
{
    const dis_gold *g = m->gold;
    const size_t n = dis_names_count(g->classes);
    DIS_TRY(dis__alloc_array(&m->gold_class, n, sizeof *m->gold_class));
    for (size_t k = 0; k < n; k++) {
        bool fresh;
        DIS_TRY(class_put(l, g->classes, k, &m->gold_class[k], &fresh));
        if (!fresh || (m->lenient && !m->declared)) continue;
        size_t i = 0;
        while (g->label[i] != (int32_t)k) i++;
        return dis__fail(DIS_EDATA,
                         "%s, row %llu: the gold label \"%.200s\" of task \"%.200s\" is not among the classes of %s; "
                         "correct it, or read missing classes as probability 0 (`lenient`)",
                         g->path, (unsigned long long)g->row[i], dis_names_get(g->classes, k, NULL),
                         dis_names_get(g->tasks, i, NULL), m->declared_by);
    }
    return DIS_OK;
}

static dis_status source_classes(matcher *m, class_list *l, size_t s)
{
    const dis_names *first = m->out->classes, *names = m->source[s].labels.classes;
    const size_t n = dis_names_count(names), n_first = dis_names_count(first);
    if (first != names && dis__names_equal(first, names)) return DIS_OK;
    DIS_TRY(dis__alloc_array(&m->column[s], n, sizeof *m->column[s]));
    for (size_t k = 0; k < n; k++) {
        bool fresh;
        DIS_TRY(class_put(l, names, k, &m->column[s][k], &fresh));
        if (first != names && fresh && (!m->lenient || m->declared))
            return strange_class(m, m->source[s].name, dis_names_get(names, k, NULL));
    }
    if (m->lenient || m->declared || n == n_first) return DIS_OK;
    for (size_t k = 0; k < n_first; k++) { /* it has fewer: name one */
        size_t length;
        const char *name = dis_names_get(first, k, &length);
        if (dis_names_find(names, name, length) == SIZE_MAX)
            return dis__fail(DIS_EDATA,
                             "%s: no class \"%.200s\", which %s has; give both the same classes, or read missing "
                             "classes as probability 0 (`lenient`)",
                             m->source[s].name, name, m->source[0].name);
    }
    return DIS_OK;
}

/* Lenient has added classes: the whole list in its usual order, under names of its own. */
static dis_status order_classes(matcher *m, class_list *l)
{
    uint16_t *place = NULL;
    const char **text = NULL;
    char *bytes = NULL;
    dis_status status;
    size_t total = 0;
    for (size_t k = 0; k < l->n; k++) total += l->key[k].n + 1;
    DIS_TRY_GOTO(status, dis__alloc_array(&place, l->n, sizeof *place), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&text, l->n, sizeof *text), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&bytes, total, 1), end);
    DIS_TRY_GOTO(status, dis__classes_order(l->key, l->n, false, place), end);
    char *to = bytes;
    for (size_t k = 0; k < l->n; k++) { /* keys hold texts without a NUL */
        memcpy(to, dis__key_text(&l->key[k]), l->key[k].n);
        to[l->key[k].n] = 0;
        text[place[k]] = to;
        to += l->key[k].n + 1;
    }
    DIS_TRY_GOTO(status, dis_names_create(text, l->n, &m->out->own_classes), end);
    m->out->classes = m->out->own_classes;
    for (size_t s = 0; s < m->n_sources; s++) {
        const size_t n = m->source[s].labels.n_classes;
        if (!m->column[s]) { /* it has the classes of the first source, in its order */
            DIS_TRY_GOTO(status, dis__alloc_array(&m->column[s], n, sizeof *m->column[s]), end);
            for (size_t k = 0; k < n; k++) m->column[s][k] = (uint32_t)k;
        }
        for (size_t k = 0; k < n; k++) m->column[s][k] = place[m->column[s][k]];
        m->out->notes[s].n_classes_added = l->n - n;
    }
    for (size_t k = 0; m->gold && k < dis_names_count(m->gold->classes); k++)
        m->gold_class[k] = place[m->gold_class[k]];
end:
    dis__free(place);
    dis__free(text);
    dis__free(bytes);
    return status;
}

static dis_status match_classes_in(matcher *m, class_list *l)
{
    m->out->classes = m->declared ? m->declared : m->source[0].labels.classes;
    const size_t n_first = dis_names_count(m->out->classes);
    for (size_t k = 0; m->declared && k < n_first; k++) {
        uint32_t index;
        bool fresh;
        DIS_TRY(class_put(l, m->declared, k, &index, &fresh));
        if (!fresh)
            return dis__fail(DIS_EUSAGE, "the class \"%.200s\" is declared twice", dis_names_get(m->declared, k, NULL));
    }
    for (size_t s = 0; s < m->n_sources; s++) DIS_TRY(source_classes(m, l, s));
    if (m->gold) DIS_TRY(gold_classes(m, l));
    m->out->n_classes = l->n;
    bool fewer = false;
    for (size_t s = 0; s < m->n_sources; s++) fewer = fewer || m->source[s].labels.n_classes < l->n;
    if (l->n > n_first) return order_classes(m, l);
    for (size_t s = 0; fewer && s < m->n_sources; s++)
        m->out->notes[s].n_classes_added = l->n - m->source[s].labels.n_classes;
    if (m->declared) return DIS_OK;
    dis__free(m->column[0]); /* the first source is as it should be */
    m->column[0] = NULL;
    return DIS_OK;
}

static dis_status match_classes(matcher *m)
{
    class_list l = {.secret = dis__secret_draw()};
    const dis_status status = match_classes_in(m, &l);
    dis__key_table_free(&l.table);
    dis__free(l.key);
    return status;
}

/* ---- items ---- */

/* DIS_EDATA when two lists do not hold the same items. */
static dis_status same_items(const dis_names *a, const char *a_is, const dis_names *b, const char *b_is, size_t found)
{
    size_t which;
    if (found < dis_names_count(a)) {
        DIS_TRY(dis__names_find_missing(a, b, &which));
        return dis__fail(DIS_EDATA, "%s: no item \"%.200s\", which %s has; add it, or leave such items out (`lenient`)",
                         b_is, dis_names_get(a, which, NULL), a_is);
    }
    if (found == dis_names_count(b)) return DIS_OK;
    DIS_TRY(dis__names_find_missing(b, a, &which));
    return dis__fail(DIS_EDATA, "%s: an item \"%.200s\", which %s does not have; leave it out, or all such (`lenient`)",
                     b_is, dis_names_get(b, which, NULL), a_is);
}

/* DIS_EDATA with the first ids of both files. */
static dis_status no_common_item(const char *a_is, const dis_names *a, const char *b_is, const dis_names *b)
{
    char list[2][200] = {"", ""};
    for (size_t i = 0; i < 3; i++) {
        size_t n;
        const char *text = i < dis_names_count(a) ? dis_names_get(a, i, &n) : NULL;
        if (text) dis__text_list_append(list[0], sizeof list[0], text, n);
        text = i < dis_names_count(b) ? dis_names_get(b, i, &n) : NULL;
        if (text) dis__text_list_append(list[1], sizeof list[1], text, n);
    }
    return dis__fail(
        DIS_EDATA, "no item of %s (%s, ...) is in %s (%s, ...), so nothing can be computed; are the task ids the same?",
        a_is, list[0], b_is, list[1]);
}

static dis_status match_items(matcher *m)
{
    dis_alignment *out = m->out;
    const dis_names *first = m->source[0].labels.tasks;
    const size_t n = dis_names_count(first);
    bool all = true;
    for (size_t s = 1; s < m->n_sources; s++) {
        const dis_names *other = m->source[s].labels.tasks;
        if (dis__names_equal(first, other)) continue;
        size_t found;
        DIS_TRY(dis__check_stop(m->ctx));
        DIS_TRY(dis__alloc_array(&m->row[s], n, sizeof *m->row[s]));
        DIS_TRY(dis__names_match(other, first, m->row[s], &found));
        if (!m->lenient) DIS_TRY(same_items(first, m->source[0].name, other, m->source[s].name, found));
        all = all && found == n;
    }
    out->n_items = n;
    out->tasks = first;
    if (!all) {
        DIS_TRY(dis__alloc_array(&m->keep, n, sizeof *m->keep));
        out->n_items = 0;
        for (size_t i = 0; i < n; i++) {
            bool everywhere = true;
            for (size_t s = 1; s < m->n_sources; s++)
                everywhere = everywhere && !(m->row[s] && m->row[s][i] == SIZE_MAX);
            if (everywhere) m->keep[out->n_items++] = i;
        }
    }
    if (out->n_items == 0 && m->n_sources == 2)
        return no_common_item(m->source[0].name, first, m->source[1].name, m->source[1].labels.tasks);
    if (out->n_items == 0)
        return dis__fail(DIS_EDATA, "%s%s: no item is in all of these files; are the task ids the same?",
                         m->source[0].name, m->n_sources > 1 ? " and the others" : "");
    for (size_t s = 0; s < m->n_sources; s++)
        out->notes[s].n_items_dropped = m->source[s].labels.n_items - out->n_items;
    return DIS_OK;
}

/* The names of the kept items. */
static dis_status keep_names(matcher *m)
{
    if (!m->keep) return DIS_OK;
    const dis_names *from = m->source[0].labels.tasks;
    const size_t n = m->out->n_items;
    char *bytes = NULL;
    uint64_t *start = NULL, total = 0;
    dis_status status;
    for (size_t i = 0; i < n; i++) total += from->start[m->keep[i] + 1] - from->start[m->keep[i]];
    DIS_TRY_GOTO(status, dis__alloc_array(&bytes, (size_t)total, 1), fail);
    DIS_TRY_GOTO(status, dis__alloc_array(&start, n + 1, sizeof *start), fail);
    total = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t length = from->start[m->keep[i] + 1] - from->start[m->keep[i]];
        memcpy(bytes + total, from->bytes + from->start[m->keep[i]], (size_t)length);
        start[i] = total;
        total += length;
    }
    start[n] = total;
    DIS_TRY_GOTO(status, dis__names_from_buffers(bytes, start, n, &m->out->own_tasks), fail);
    m->out->tasks = m->out->own_tasks;
    return DIS_OK;
fail:
    dis__free(bytes);
    dis__free(start);
    return status;
}

static dis_status match_gold(matcher *m)
{
    if (!m->gold) return DIS_OK;
    dis_alignment *out = m->out;
    size_t *row = NULL, found;
    DIS_TRY(dis__alloc_array(&out->gold, out->n_items, sizeof *out->gold));
    DIS_TRY(dis__alloc_array(&row, out->n_items, sizeof *row));
    dis_status status = dis__names_match(m->gold->tasks, out->tasks, row, &found);
    if (status == DIS_OK && found == 0)
        status = no_common_item(m->source[0].name, out->tasks, m->gold->path, m->gold->tasks);
    if (status == DIS_OK && !m->lenient)
        status = same_items(out->tasks, m->source[0].name, m->gold->tasks, m->gold->path, found);
    if (status == DIS_OK) {
        for (size_t i = 0; i < out->n_items; i++)
            out->gold[i] = row[i] == SIZE_MAX ? -1 : (int32_t)m->gold_class[m->gold->label[row[i]]];
        out->without_gold = out->n_items - found;
        out->gold_left_out = m->gold->n - found;
    }
    dis__free(row);
    return status;
}

/* ---- rows and columns ---- */

static dis_status copy_table(matcher *m, size_t s)
{
    dis_alignment *out = m->out;
    const dis_labels_view *from = &m->source[s].labels;
    const uint32_t *column = m->column[s];
    if (!m->row[s] && !m->keep && !column) {
        out->p[s] = from->p;
        return DIS_OK;
    }
    const size_t k_out = out->n_classes, k_from = from->n_classes;
    DIS_TRY(dis__alloc_array(&out->copy[s], dis__saturating_size(out->n_items, k_out, 0), sizeof(double)));
    out->p[s] = out->copy[s];
    for (size_t i = 0; i < out->n_items; i++) {
        const size_t item = m->keep ? m->keep[i] : i;
        const double *p = from->p + (m->row[s] ? m->row[s][item] : item) * k_from;
        double *to = out->copy[s] + i * k_out;
        if (!column) {
            memcpy(to, p, k_from * sizeof *to);
            continue;
        }
        if (k_from < k_out) memset(to, 0, k_out * sizeof *to);
        for (size_t k = 0; k < k_from; k++) to[column[k]] = p[k];
    }
    return DIS_OK;
}

static dis_status match(matcher *m)
{
    dis_alignment *out = m->out;
    out->n_sources = m->n_sources;
    DIS_TRY(dis__alloc_zeroed(&out->p, m->n_sources, sizeof *out->p));
    DIS_TRY(dis__alloc_zeroed(&out->copy, m->n_sources, sizeof *out->copy));
    DIS_TRY(dis__alloc_zeroed(&out->notes, m->n_sources, sizeof *out->notes));
    DIS_TRY(dis__alloc_zeroed(&m->column, m->n_sources, sizeof *m->column));
    DIS_TRY(dis__alloc_zeroed(&m->row, m->n_sources, sizeof *m->row));
    DIS_TRY(match_classes(m));
    DIS_TRY(match_items(m));
    DIS_TRY(keep_names(m));
    DIS_TRY(match_gold(m));
    for (size_t s = 0; s < m->n_sources; s++) DIS_TRY(copy_table(m, s));
    return DIS_OK;
}

DIS_OPTIONS_DEFAULTS(dis_alignment_options, .size = sizeof(dis_alignment_options))

dis_status dis_alignment_run(dis_context *ctx, const dis_alignment_source *sources, size_t n_sources,
                             const dis_alignment_options *options, dis_alignment **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_alignment_options o = dis_alignment_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_alignment_options, &o, options));
    if (n_sources == 0) return dis__fail(DIS_EUSAGE, "there are no labels to match");
    matcher m = {.ctx = ctx,
                 .source = sources,
                 .n_sources = n_sources,
                 .gold = o.gold,
                 .declared = o.classes,
                 .declared_by = o.classes ? "this comparison (`classes`)" : sources[0].name,
                 .lenient = o.lenient};
    DIS_TRY(dis__alloc_zeroed(&m.out, 1, sizeof *m.out));
    const dis_status status = match(&m);
    for (size_t s = 0; s < n_sources; s++) {
        if (m.column) dis__free(m.column[s]);
        if (m.row) dis__free(m.row[s]);
    }
    dis__free(m.column);
    dis__free(m.row);
    dis__free(m.keep);
    dis__free(m.gold_class);
    if (status == DIS_OK)
        *out = m.out;
    else
        dis_alignment_destroy(m.out);
    return status;
}

void dis_alignment_destroy(dis_alignment *aligned)
{
    if (!aligned) return;
    for (size_t s = 0; aligned->copy && s < aligned->n_sources; s++) dis__free(aligned->copy[s]);
    dis__free(aligned->copy);
    dis__free(aligned->p);
    dis__free(aligned->gold);
    dis__free(aligned->notes);
    dis_names_destroy(aligned->own_tasks);
    dis_names_destroy(aligned->own_classes);
    dis__free(aligned);
}

static dis_alignment_view view_of(const dis_alignment *a)
{
    return (dis_alignment_view){.n_items = a->n_items,
                                .n_classes = a->n_classes,
                                .n_sources = a->n_sources,
                                .p = a->p,
                                .gold = a->gold,
                                .tasks = a->tasks,
                                .classes = a->classes,
                                .notes = a->notes,
                                .n_items_without_gold = a->without_gold,
                                .n_gold_dropped = a->gold_left_out};
}
DIS_VIEW_DEFINE(dis_alignment, a, view_of(a))
