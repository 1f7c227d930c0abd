/* Gold labels from a file of task and label, whatever items they are for; and groups of items, which are read alike. Cost:
 * two lookups a row. */
#include "metrics/gold_table.h"
#include "core/memory.h"
#include "core/name_index.h"
#include "core/names_build.h"
#include "io/records.h"
#include "votes/intern.h"
#include "votes/table.h"

/* A list of different names that grows. */
typedef struct {
    dis__table table; /* value: index */
    dis__name_list names;
} list;

static dis_status list_put(list *l, const dis__secret *secret, dis__arena *texts, const dis__record_cell *cell,
                           uint32_t *index, bool *fresh)
{
    dis__key key = dis__key_of(secret, cell->text, cell->n);
    const dis__key *at = dis__table_find(&l->table, &key);
    *fresh = !at;
    if (at) {
        *index = at->value;
        return DIS_OK;
    }
    if (l->names.n >= DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u different names", DIS_MAX_IDS);
    const char *stays = cell->text;
    if (cell->n > DIS_KEY_INLINE) {
        DIS_TRY(dis__arena_copy(texts, cell->text, cell->n, &stays));
        key = dis__key_of(secret, stays, cell->n);
    }
    key.value = (uint32_t)l->names.n;
    DIS_TRY(dis__table_put(&l->table, &key, &at, fresh));
    DIS_TRY(dis__name_list_add(&l->names, cell->text, cell->n));
    *index = key.value;
    return DIS_OK;
}

static void list_free(list *l)
{
    dis__table_free(&l->table);
    dis__name_list_free(&l->names);
}

/* What the second column is. */
typedef struct {
    const char *column, *what; /* its names; what messages call it */
    size_t most;               /* different values */
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
} loader;

static dis_status take(loader *l, dis__records *r, uint64_t row)
{
    const dis__record_cell *task = &r->cell[0], *label = &r->cell[1];
    if (task->n > DIS_MAX_ID || label->n > DIS_MAX_ID)
        return dis__records_fail(r, task->n > DIS_MAX_ID ? 0 : 1, "a name of more than %u bytes", DIS_MAX_ID);
    if (label->n == 0) return dis__records_fail(r, 1, "an empty %s; leave out tasks that have none", l->kind->what);
    uint32_t item, class;
    bool fresh, fresh_class;
    DIS_TRY(list_put(&l->tasks, &l->secret, &l->texts, task, &item, &fresh));
    DIS_TRY(list_put(&l->classes, &l->secret, &l->texts, label, &class, &fresh_class));
    dis_gold *g = l->gold;
    if (!fresh) {
        if (g->label[item] == (int32_t) class) return DIS_OK;
        return dis__records_fail(r, 1, "task \"%.*s\" has two %ss; keep one", (int)(task->n > 200 ? 200 : task->n),
                                 task->text, l->kind->what);
    }
    if (l->classes.names.n > l->kind->most)
        return dis__records_fail(r, 1, "more than %zu different %ss", l->kind->most, l->kind->what);
    DIS_TRY(dis__reserve(&g->label, &l->label_room, g->n, g->n + 1, sizeof *g->label));
    DIS_TRY(dis__reserve(&g->row, &l->row_room, g->n, g->n + 1, sizeof *g->row));
    g->label[g->n] = (int32_t) class;
    g->row[g->n++] = row;
    return DIS_OK;
}

static dis_status read_rows(loader *l, dis__records *r)
{
    const char *const columns[] = {"task", l->kind->column};
    DIS_TRY(dis__records_want(r, columns, 2));
    for (uint64_t row = 1;; row++) {
        bool more;
        DIS_TRY(dis__records_next(r, &more));
        if (!more) break;
        DIS_TRY(take(l, r, row));
    }
    if (l->tasks.names.n == 0) return dis__fail(DIS_EDATA, "%s: no %ss in it", l->gold->path, l->kind->what);
    DIS_TRY(dis__name_list_finish(&l->tasks.names, &l->gold->tasks));
    return dis__name_list_finish(&l->classes.names, &l->gold->classes);
}

static dis_status load(dis_context *ctx, loader *l, const char *path)
{
    DIS_TRY(dis__copy_text(&l->gold->path, path, strlen(path)));
    dis__records r;
    DIS_TRY(dis__records_open(ctx, path, NULL, &r));
    const dis_status status = read_rows(l, &r);
    dis__records_close(&r);
    return status;
}

static dis_status load_kind(dis_context *ctx, const char *path, const column_kind *kind, dis_gold **out)
{
    loader l = {.kind = kind, .secret = dis__secret_draw()};
    DIS_TRY(dis__alloc_zeroed(&l.gold, 1, sizeof *l.gold));
    const dis_status status = load(ctx, &l, path);
    list_free(&l.tasks);
    list_free(&l.classes);
    dis__arena_free(&l.texts);
    if (status == DIS_OK)
        *out = l.gold;
    else
        dis_gold_destroy(l.gold);
    return status;
}

dis_status dis_gold_load(dis_context *ctx, const char *path, dis_gold **out)
{
    return load_kind(ctx, path, &labels_kind, out);
}

static dis_status look_up_groups(const dis_gold *file, const dis_names *tasks, uint32_t *group)
{
    dis__name_index index;
    size_t twice;
    DIS_TRY(dis__name_index_build(file->tasks, &index, &twice));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < dis_names_count(tasks) && status == DIS_OK; i++) {
        size_t n;
        const char *name = dis_names_get(tasks, i, &n);
        const size_t at = dis__name_index_find(&index, name, n);
        if (at == SIZE_MAX)
            status = dis__fail(DIS_EDATA, "%s: no group for the item \"%.200s\"; add it", file->path, name);
        else
            group[i] = (uint32_t)file->label[at];
    }
    dis__name_index_free(&index);
    return status;
}

dis_status dis_groups_read(dis_context *ctx, const char *path, const dis_names *tasks, uint32_t *group,
                           size_t *n_groups)
{
    dis_gold *file;
    uint32_t *found = NULL;
    const size_t n = dis_names_count(tasks);
    DIS_TRY(load_kind(ctx, path, &groups_kind, &file));
    dis_status status = dis__alloc_array(&found, n, sizeof *found);
    if (status == DIS_OK) status = look_up_groups(file, tasks, found);
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

dis_gold_view dis_gold_look(const dis_gold *gold)
{
    return (dis_gold_view){.n_items = gold->n, .label = gold->label, .tasks = gold->tasks, .classes = gold->classes};
}
