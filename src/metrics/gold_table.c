/* Gold labels from a file of task and label, whatever items they are for. Cost: two lookups a row. */
#include "metrics/gold_table.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "io/records.h"
#include "votes/intern.h"
#include "votes/table.h"

/* A list of different names that grows. */
typedef struct {
    dis__table table; /* value: index */
    char *bytes;
    uint64_t *start;
    size_t n, n_bytes, bytes_room, start_room;
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
    if (l->n >= DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u different names", DIS_MAX_IDS);
    const char *stays = cell->text;
    if (cell->n > DIS_KEY_INLINE) {
        DIS_TRY(dis__arena_copy(texts, cell->text, cell->n, &stays));
        key = dis__key_of(secret, stays, cell->n);
    }
    key.value = (uint32_t)l->n;
    DIS_TRY(dis__table_put(&l->table, &key, &at, fresh));
    DIS_TRY(dis__reserve(&l->bytes, &l->bytes_room, l->n_bytes, l->n_bytes + cell->n + 1, 1));
    DIS_TRY(dis__reserve(&l->start, &l->start_room, l->n, l->n + 2, sizeof *l->start));
    if (cell->n) memcpy(l->bytes + l->n_bytes, cell->text, cell->n);
    l->bytes[l->n_bytes + cell->n] = 0;
    l->start[l->n++] = l->n_bytes;
    l->n_bytes += cell->n + 1;
    l->start[l->n] = l->n_bytes;
    *index = key.value;
    return DIS_OK;
}

static void list_free(list *l)
{
    dis__table_free(&l->table);
    dis__free(l->bytes);
    dis__free(l->start);
}

static dis_status list_finish(list *l, dis_names **out)
{
    DIS_TRY(dis__names_adopt(l->bytes, l->start, l->n, out));
    l->bytes = NULL;
    l->start = NULL;
    return DIS_OK;
}

typedef struct {
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
    if (label->n == 0) return dis__records_fail(r, 1, "an empty label; leave out tasks that have none");
    uint32_t item, class;
    bool fresh, fresh_class;
    DIS_TRY(list_put(&l->tasks, &l->secret, &l->texts, task, &item, &fresh));
    DIS_TRY(list_put(&l->classes, &l->secret, &l->texts, label, &class, &fresh_class));
    dis_gold *g = l->gold;
    if (!fresh) {
        if (g->label[item] == (int32_t) class) return DIS_OK;
        return dis__records_fail(r, 1, "task \"%.*s\" has two gold labels; keep one",
                                 (int)(task->n > 200 ? 200 : task->n), task->text);
    }
    if (l->classes.n > DIS_MAX_CLASSES)
        return dis__records_fail(r, 1, "more than %u different labels", DIS_MAX_CLASSES);
    DIS_TRY(dis__reserve(&g->label, &l->label_room, g->n, g->n + 1, sizeof *g->label));
    DIS_TRY(dis__reserve(&g->row, &l->row_room, g->n, g->n + 1, sizeof *g->row));
    g->label[g->n] = (int32_t) class;
    g->row[g->n++] = row;
    return DIS_OK;
}

static dis_status read_rows(loader *l, dis__records *r)
{
    static const char *const columns[] = {"task", "label|gold"};
    DIS_TRY(dis__records_want(r, columns, 2));
    for (uint64_t row = 1;; row++) {
        bool more;
        DIS_TRY(dis__records_next(r, &more));
        if (!more) break;
        DIS_TRY(take(l, r, row));
    }
    if (l->tasks.n == 0) return dis__fail(DIS_EDATA, "%s: no gold labels in it", l->gold->path);
    DIS_TRY(list_finish(&l->tasks, &l->gold->tasks));
    return list_finish(&l->classes, &l->gold->classes);
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

dis_status dis_gold_load(dis_context *ctx, const char *path, dis_gold **out)
{
    loader l = {.secret = dis__secret_draw()};
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
