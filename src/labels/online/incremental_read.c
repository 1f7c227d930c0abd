/* Opens a growing state: maps the file, and checks the sizes and types of its parts and the validity of counts.
 * Checksums of votes, tasks and the index are verified when they are read (dis__incremental_check_values). Cost: the
 * names and counts of workers, and 8 bytes per 512 bytes of the file. */
#include "labels/online/incremental_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "core/names/names_internal.h"
#include <math.h>

dis_status dis__incremental_fail(const dis_incremental *g, const char *reason)
{
    return dis__fail_at(DIS_EDATA, g->path, 0, 0, "%s; save the state again", reason);
}

dis_status dis__incremental_check_values(const dis_incremental *g, int part, uint64_t first, uint64_t n)
{
    const dis__tensor *t = g->part[part];
    if (first > t->n || n > t->n - first) return dis__incremental_fail(g, "the parts have inconsistent sizes");
    return dis__tensor_check_range(&g->check, (const char *)t->data + first * t->dtype->size,
                                   (size_t)n * t->dtype->size);
}

bool dis__incremental_name_at(const dis__tensor *start, const dis__tensor *bytes, size_t i, const char **name,
                              size_t *n)
{
    const uint64_t from = dis__u64_at(start, i), to = dis__u64_at(start, i + 1);
    if (from >= to || to > bytes->n || ((const char *)bytes->data)[to - 1]) return false;
    *name = (const char *)bytes->data + from;
    *n = (size_t)(to - from) - 1;
    return true;
}

static dis_status read_names(const dis_incremental *g, int starts, int names, dis_names **out)
{
    const dis__tensor *start = g->part[starts], *bytes = g->part[names];
    dis__name_list list = {0};
    dis_status status = dis__incremental_check_values(g, starts, 0, start->n);
    if (status == DIS_OK) status = dis__incremental_check_values(g, names, 0, bytes->n);
    for (size_t i = 0; i + 1 < start->n && status == DIS_OK; i++) {
        const char *name;
        size_t n;
        status = dis__incremental_name_at(start, bytes, i, &name, &n) ? dis__name_list_add(&list, name, n)
                                                                      : dis__incremental_fail(g, "damaged names");
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    return status;
}

static dis_status check_parts(dis_incremental *g)
{
    const dis__json_value *format = dis__safetensors_metadata(&g->file, "format");
    const dis__json_value *version = dis__safetensors_metadata(&g->file, "version");
    if (!format || !dis__json_equals(format, DIS_INCREMENTAL_FORMAT))
        return dis__fail_at(DIS_EDATA, g->path, 0, 0, "not a growing state; save one with `dis_incremental_write`");
    if (!version || !dis__json_equals(version, DIS_INCREMENTAL_VERSION))
        return dis__incremental_fail(g, "a state of another version of dissent");
    DIS_TRY(dis__tensor_check_open(&g->file, g->path, &g->check));
    for (size_t i = 0; i < DIS_INCREMENTAL_TENSORS; i++) {
        const dis__tensor *t = g->part[i] = dis__safetensors_find(&g->file, dis__incremental_tensors[i].name);
        if (!t || t->n_dims != 1 || strcmp(t->dtype->name, dis__incremental_tensors[i].type) != 0)
            return dis__incremental_fail(g, dis__incremental_tensors[i].name);
    }
    const dis__tensor *const *p = g->part;
    if (!p[DIS_INCREMENTAL_START]->n || !p[DIS_INCREMENTAL_TASK_START]->n || !p[DIS_INCREMENTAL_WORKER_START]->n ||
        !p[DIS_INCREMENTAL_CLASS_START]->n)
        return dis__incremental_fail(g, "empty lists");
    g->n_items = p[DIS_INCREMENTAL_START]->n - 1;
    g->n_workers = p[DIS_INCREMENTAL_WORKER_START]->n - 1;
    g->n_classes = p[DIS_INCREMENTAL_CLASS_START]->n - 1;
    const size_t K = g->n_classes, slots = p[DIS_INCREMENTAL_INDEX]->n;
    if (p[DIS_INCREMENTAL_KEY]->n != 2 || p[DIS_INCREMENTAL_TASK_START]->n != g->n_items + 1 || K == 0 ||
        K > DIS_MAX_CLASSES || p[DIS_INCREMENTAL_CLASS_SUM]->n != K ||
        p[DIS_INCREMENTAL_COUNTS]->n != dis__saturating_size(g->n_workers, K * K, 0) ||
        p[DIS_INCREMENTAL_LABEL]->n != p[DIS_INCREMENTAL_WORKER]->n || slots <= g->n_items || (slots & (slots - 1)))
        return dis__incremental_fail(g, "the parts have inconsistent sizes");
    DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_KEY, 0, 2));
    DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_CLASS_SUM, 0, K));
    DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_COUNTS, 0, p[DIS_INCREMENTAL_COUNTS]->n));
    for (size_t x = 0; x < p[DIS_INCREMENTAL_COUNTS]->n; x++) {
        double count;
        memcpy(&count, (const char *)p[DIS_INCREMENTAL_COUNTS]->data + x * sizeof count, sizeof count);
        if (!(count >= 0 && isfinite(count))) return dis__incremental_fail(g, "invalid counts");
    }
    return DIS_OK;
}

static dis_status open_growing(dis_context *ctx, const char *path, dis_incremental *g)
{
    DIS_TRY(dis__copy_text(&g->path, path, strlen(path)));
    DIS_TRY(dis__input_open(ctx, g->path, &g->input));
    DIS_TRY(dis__safetensors_open(g->path, g->input.bytes, g->input.n, &g->file));
    DIS_TRY(check_parts(g));
    DIS_TRY(read_names(g, DIS_INCREMENTAL_WORKER_START, DIS_INCREMENTAL_WORKERS, &g->workers));
    return read_names(g, DIS_INCREMENTAL_CLASS_START, DIS_INCREMENTAL_CLASSES, &g->classes);
}

dis_status dis_incremental_read(dis_context *ctx, const char *path, dis_incremental **out)
{
    dis_incremental *g;
    DIS_TRY(dis__alloc_zeroed(&g, 1, sizeof *g));
    const dis_status status = dis__input_check(&g->input, open_growing(ctx, path, g));
    if (status != DIS_OK) {
        dis_incremental_destroy(g);
        return status;
    }
    *out = g;
    return DIS_OK;
}

void dis_incremental_destroy(dis_incremental *g)
{
    if (!g) return;
    dis_names_destroy(g->workers);
    dis_names_destroy(g->classes);
    dis__tensor_check_close(&g->check);
    dis__safetensors_close(&g->file);
    dis__input_close(&g->input);
    dis__free(g->path);
    dis__free(g);
}

DIS_VIEW_DEFINE(dis_incremental, state,
                ((dis_incremental_view){.n_items = state->n_items,
                                        .n_workers = state->n_workers,
                                        .n_classes = state->n_classes,
                                        .classes = state->classes}))
