/* Gold labels from a file of task and label, whatever items they are for; and groups of items, which are read alike.
 * Cost: two lookups per row; none for tasks in ascending order. A table of labels may come from several sources,
 * renamed and chosen as each says. */
#include "tables/gold_labels/gold_table.h"
#include "tool/table_columns.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "core/names/name_index.h"
#include "core/names/name_order.h"
#include "core/names/names_internal.h"
#include "io/files/file_format.h"
#include "tables/gold_labels/gold_columns.h"
#include "votes/table/class_names.h"
#include "votes/ids/intern.h"
#include "votes/table/votes_table.h"
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_gold_view, .size = sizeof(dis_gold_view))

/* A list of different names that grows. While they ascend (core/names/name_order.h) there is no table of them. */
typedef struct {
    bool broken[DIS_NAME_ORDERS];
    dis__key_table table; /* value: index */
    dis__name_list names;
} list;

static bool ascends(const list *l)
{
    return !l->broken[DIS_ORDER_BYTES] || !l->broken[DIS_ORDER_LENGTH];
}

static dis_status put_key(list *l, const dis__secret *secret, dis__arena *texts, const char *text, size_t n, size_t i)
{
    const dis__key *at;
    bool fresh;
    if (n > DIS_KEY_INLINE) DIS_TRY(dis__arena_copy(texts, text, n, &text));
    dis__key key = dis__key_from_text(secret, text, n);
    key.value = (uint32_t)i;
    return dis__key_table_insert(&l->table, &key, &at, &fresh);
}

/* The first table, of names that have ascended so far. */
static dis_status make_table(list *l, const dis__secret *secret, dis__arena *texts)
{
    for (size_t i = 0; i < l->names.n; i++) {
        const uint64_t *start = &l->names.start[i];
        DIS_TRY(put_key(l, secret, texts, l->names.bytes + start[0], (size_t)(start[1] - start[0]) - 1, i));
    }
    return DIS_OK;
}

/* Where a name is; SIZE_MAX: it is new. */
static dis_status list_find(list *l, const dis__secret *secret, dis__arena *texts, const dis__table_row_cell *cell,
                            size_t *index)
{
    const bool first = l->names.n == 0, ascended = ascends(l);
    *index = SIZE_MAX;
    if (!first && ascended) {
        const uint64_t *start = &l->names.start[l->names.n - 1];
        const size_t n = (size_t)(start[1] - start[0]) - 1;
        if (!dis__name_differs(l->names.bytes + start[0], n, cell->text, cell->n, l->broken)) *index = l->names.n - 1;
    }
    if (ascends(l)) return DIS_OK;
    if (ascended) DIS_TRY(make_table(l, secret, texts));
    const dis__key key = dis__key_from_text(secret, cell->text, cell->n), *at = dis__key_table_find(&l->table, &key);
    if (at) *index = at->value;
    return DIS_OK;
}

static dis_status list_put(list *l, const dis__secret *secret, dis__arena *texts, const dis__table_row_cell *cell,
                           uint32_t *index, bool *fresh)
{
    size_t at;
    DIS_TRY(list_find(l, secret, texts, cell, &at));
    *fresh = at == SIZE_MAX;
    *index = (uint32_t)(*fresh ? l->names.n : at);
    if (!*fresh) return DIS_OK;
    if (l->names.n >= DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u different names", DIS_MAX_IDS);
    if (!ascends(l)) DIS_TRY(put_key(l, secret, texts, cell->text, cell->n, l->names.n));
    return dis__name_list_add(&l->names, cell->text, cell->n);
}

static void list_free(list *l)
{
    dis__key_table_free(&l->table);
    dis__name_list_free(&l->names);
}

/* What the second column is. */
typedef struct {
    const char *column, *what; /* its names; what messages call it */
    size_t max;                /* different values */
} column_kind;
static const column_kind labels_kind = {"label|gold", "gold label", DIS_MAX_CLASSES},
                         groups_kind = {"group|sentence", "group", DIS_MAX_IDS};

typedef struct {
    const column_kind *kind;
    dis__secret secret;
    dis__arena texts;
    list tasks, classes;
    size_t label_room, row_room;
    dis_gold *gold;
    const dis__gold_source *source; /* being read */
    dis__gold_columns columns;      /* of the file being read, where they were looked for */
    char *task;                     /* prefix and id, when there is a prefix */
    size_t task_room;
} loader;

enum { LABEL, TASK }; /* cells of a row; those of rules stand behind, and numbered rows have no task */

static dis_status add(loader *l, const dis__table_row_cell *task, const dis__table_row_cell *label, uint64_t row,
                      bool *two)
{
    uint32_t item = 0, class = 0;
    bool fresh, fresh_class;
    DIS_TRY(list_put(&l->tasks, &l->secret, &l->texts, task, &item, &fresh));
    DIS_TRY(list_put(&l->classes, &l->secret, &l->texts, label, &class, &fresh_class));
    dis_gold *g = l->gold;
    *two = !fresh && g->label[item] != (int32_t) class;
    if (!fresh) return DIS_OK;
    DIS_TRY(dis__reserve(&g->label, &l->label_room, g->n, g->n + 1, sizeof *g->label));
    DIS_TRY(dis__reserve(&g->row, &l->row_room, g->n, g->n + 1, sizeof *g->row));
    g->label[g->n] = (int32_t) class;
    g->row[g->n++] = row;
    return DIS_OK;
}

/* The id with what the source puts before it, or the row's number. */
static dis_status full_task(loader *l, const dis__table_row_cell *cell, uint64_t row, dis__table_row_cell *out)
{
    const dis__gold_source *s = l->source;
    const size_t before = s->prefix ? strlen(s->prefix) : 0, n = s->numbered ? 24 : cell->n;
    *out = cell ? *cell : (dis__table_row_cell){0};
    if (!before && !s->numbered) return DIS_OK;
    DIS_TRY(dis__reserve(&l->task, &l->task_room, 0, dis__saturating_size(1, before, n), 1));
    if (before) memcpy(l->task, s->prefix, before);
    if (s->numbered)
        out->n = before + (size_t)snprintf(l->task + before, n, "%llu", (unsigned long long)row - 1);
    else if (cell->n)
        memcpy(l->task + before, cell->text, cell->n);
    if (!s->numbered) out->n = before + cell->n;
    out->text = l->task;
    return DIS_OK;
}

static bool same(const dis__table_row_cell *cell, const char *text)
{
    return cell->n == strlen(text) && memcmp(cell->text, text, cell->n) == 0;
}

static dis_status renamed(loader *l, dis__table_rows *r, dis__table_row_cell *label)
{
    const dis__gold_source *s = l->source;
    for (size_t i = 0; i < s->n_map; i++)
        if (same(label, s->from[i])) {
            *label = (dis__table_row_cell){.text = s->to[i], .n = strlen(s->to[i])};
            return DIS_OK;
        }
    if (s->n_map == 0) return DIS_OK;
    if (r)
        return dis__table_rows_fail(r, LABEL, "\"%.*s\" is not a key of the map; add it",
                                    (int)(label->n > 200 ? 200 : label->n), label->text);
    return dis__fail_at(DIS_EDATA, s->path, 0, 0, "\"%.*s\" is not a key of the map; add it", (int)label->n,
                        label->text);
}

static dis_status read_row(loader *l, dis__table_rows *r, uint64_t row)
{
    const dis__gold_source *s = l->source;
    const size_t rules = s->numbered ? TASK : TASK + 1;
    for (size_t i = 0; i < s->n_where; i++)
        if (!same(&r->cell[rules + i], s->where[i].value)) return DIS_OK;
    for (size_t i = 0; i < s->n_leave_out; i++)
        if (same(&r->cell[rules + s->n_where + i], s->leave_out[i].value)) return DIS_OK;
    dis__table_row_cell task, label = r->cell[LABEL];
    DIS_TRY(full_task(l, s->numbered ? NULL : &r->cell[TASK], row, &task));
    if (task.n > DIS_MAX_ID || label.n > DIS_MAX_ID)
        return dis__table_rows_fail(r, task.n > DIS_MAX_ID ? rules - 1 : LABEL, "a name of more than %u bytes",
                                    DIS_MAX_ID);
    if (label.n == 0 && s->skip_empty) return DIS_OK;
    if (label.n == 0) return dis__table_rows_fail(r, LABEL, "an empty %s; remove tasks without one", l->kind->what);
    bool two;
    char folded[DIS_MAX_ID];
    if (s->fold_case || s->trim) {
        label.n = dis__label_fold(label.text, label.n, s->fold_case, s->trim, folded);
        label.text = folded;
    }
    DIS_TRY(renamed(l, r, &label));
    DIS_TRY(add(l, &task, &label, row, &two));
    if (two)
        return dis__gold_fail_duplicate(r, LABEL, s->subject ? s->subject : "task", task,
                                        s->what ? s->what : l->kind->what);
    if (l->classes.names.n > l->kind->max)
        return dis__table_rows_fail(r, LABEL, "more than %zu different %ss", l->kind->max, l->kind->what);
    return DIS_OK;
}

static dis_status read_rows(loader *l, dis__table_rows *r, const char **columns)
{
    const dis__gold_source *s = l->source;
    size_t n = 0;
    columns[n++] = l->columns.label ? l->columns.label : s->label ? s->label : l->kind->column;
    if (!s->numbered) columns[n++] = l->columns.task ? l->columns.task : s->task ? s->task : "task";
    if (!s->label && !s->task)
        r->hint =
            s->options ? "; name the columns to use with `dis_gold_options`" : "; name the columns task and label";
    for (size_t i = 0; i < s->n_where; i++) columns[n++] = s->where[i].column;
    for (size_t i = 0; i < s->n_leave_out; i++) columns[n++] = s->leave_out[i].column;
    DIS_TRY(dis__table_rows_select(r, columns, n));
    for (uint64_t row = 1;; row++) {
        bool more;
        DIS_TRY(dis__table_rows_next(r, &more));
        if (!more) return DIS_OK;
        DIS_TRY(read_row(l, r, row));
    }
}

static dis_status read_table(dis_context *ctx, loader *l)
{
    const dis__gold_source *s = l->source;
    const char **columns;
    dis__table_rows r;
    DIS_TRY(dis__alloc_array(&columns, 2 + s->n_where + s->n_leave_out, sizeof *columns));
    dis_status status = dis__table_rows_open_headerless(ctx, s->path, s->format, s->header, s->n_header, &r);
    if (status == DIS_OK) {
        if (l->kind == &labels_kind && !s->n_header && !s->numbered)
            status = dis__gold_columns_find(&r, s->task, s->label, &l->columns);
        if (status == DIS_OK) status = read_rows(l, &r, columns);
        dis__gold_columns_free(&l->columns);
        status = dis__table_rows_finish(&r, status);
    }
    dis__free(columns);
    return status;
}

/* CIFAR's records begin with a byte that is the label. */
static dis_status read_cifar(dis_context *ctx, loader *l)
{
    enum { RECORD = 1 + 3 * 32 * 32 };
    dis__gold_source s = *l->source;
    dis__input in;
    s.numbered = true;
    l->source = &s;
    DIS_TRY(dis__input_open(ctx, s.path, &in));
    dis_status status = DIS_OK;
    if (in.n % RECORD)
        status = dis__fail_at(DIS_EDATA, s.path, 0, 0, "%zu bytes are not records of %d bytes (a label, 3 x 32 x 32)",
                              in.n, RECORD);
    for (size_t i = 0; status == DIS_OK && i < in.n / RECORD; i++) {
        char number[8];
        bool two;
        const int n = snprintf(number, sizeof number, "%d", (unsigned char)in.bytes[i * RECORD]);
        dis__table_row_cell task, label = {.text = number, .n = (size_t)n};
        status = renamed(l, NULL, &label);
        if (status == DIS_OK) status = full_task(l, NULL, i + 1, &task);
        if (status == DIS_OK) status = add(l, &task, &label, i + 1, &two);
    }
    return dis__input_finish(&in, status);
}

static dis_status load(dis_context *ctx, loader *l, const dis__gold_source *sources, size_t n)
{
    DIS_TRY(dis__copy_text(&l->gold->path, sources[0].path, strlen(sources[0].path)));
    for (size_t i = 0; i < n; i++) {
        const dis__gold_source *s = l->source = &sources[i];
        const bool cifar = s->format ? strcmp(s->format, "cifar") == 0 : dis__path_has_ending(s->path, ".bin");
        DIS_TRY(cifar ? read_cifar(ctx, l) : read_table(ctx, l));
    }
    if (l->tasks.names.n == 0) return dis__fail(DIS_EDATA, "%s: it contains no %ss", l->gold->path, l->kind->what);
    DIS_TRY(dis__name_list_move(&l->tasks.names, &l->gold->tasks));
    return dis__name_list_move(&l->classes.names, &l->gold->classes);
}

static dis_status load_kind(dis_context *ctx, const dis__gold_source *sources, size_t n, const column_kind *kind,
                            dis_gold **out)
{
    loader l = {.kind = kind, .secret = dis__secret_draw()};
    DIS_TRY(dis__alloc_zeroed(&l.gold, 1, sizeof *l.gold));
    const dis_status status = load(ctx, &l, sources, n);
    list_free(&l.tasks);
    list_free(&l.classes);
    dis__arena_free(&l.texts);
    dis__free(l.task);
    if (status == DIS_OK)
        *out = l.gold;
    else
        dis_gold_destroy(l.gold);
    return status;
}

dis_status dis__gold_table_read(dis_context *ctx, const dis__gold_source *sources, size_t n, dis_gold **out)
{
    return load_kind(ctx, sources, n, &labels_kind, out);
}

dis_status dis_gold_read(dis_context *ctx, const char *path, const dis_gold_options *options, dis_gold **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_gold_options o = dis_gold_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_gold_options, &o, options));
    const dis__gold_source source = {.path = path,
                                     .task = o.task,
                                     .label = o.label,
                                     .fold_case = o.fold_case,
                                     .trim = o.trim,
                                     .options = options != NULL};
    return load_kind(ctx, &source, 1, &labels_kind, out);
}

static dis_status find_groups(const dis_gold *file, const dis_names *tasks, uint32_t *group)
{
    size_t *row;
    DIS_TRY(dis__names_match_alloc(file->tasks, tasks, &row, NULL));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < dis_names_count(tasks) && status == DIS_OK; i++) {
        if (row[i] == SIZE_MAX)
            status = dis__fail(DIS_EDATA, "%s: no group for the item \"%.200s\"; add it", file->path,
                               dis_names_get(tasks, i, NULL));
        else
            group[i] = (uint32_t)file->label[row[i]];
    }
    dis__free(row);
    return status;
}

dis_status dis__item_groups_read(dis_context *ctx, const char *path, const dis_names *tasks, uint32_t *group,
                                 size_t *n_groups)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_gold *file;
    uint32_t *found = NULL;
    const size_t n = dis_names_count(tasks);
    const dis__gold_source source = {.path = path};
    DIS_TRY(load_kind(ctx, &source, 1, &groups_kind, &file));
    dis_status status = dis__alloc_array(&found, n, sizeof *found);
    if (status == DIS_OK) status = find_groups(file, tasks, found);
    if (status == DIS_OK) {
        if (n) memcpy(group, found, n * sizeof *group);
        *n_groups = dis_names_count(file->classes);
    }
    dis__free(found);
    dis_gold_destroy(file);
    return status;
}

void dis_gold_destroy(dis_gold *gold)
{
    if (!gold) return;
    dis__free(gold->path);
    dis__free(gold->label);
    dis__free(gold->row);
    dis_names_destroy(gold->tasks);
    dis_names_destroy(gold->classes);
    dis__free(gold);
}

static dis_gold_view view_of(const dis_gold *gold)
{
    return (dis_gold_view){.size = sizeof(dis_gold_view),
                           .n_items = gold->n,
                           .label = gold->label,
                           .tasks = gold->tasks,
                           .classes = gold->classes};
}
DIS_SIZED_VIEW_DEFINE(dis_gold, gold, view_of(gold))
