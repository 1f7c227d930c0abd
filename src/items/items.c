/* Items: the table of formats, ids, creation and destruction of a table. */
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/os/os.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "io/files/folder.h"
#include "io/files/file_format.h"
#include "io/name_file.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[] = {"texts", "tokens", "features", "images"};

/* What each format can hold: one bit per kind. */
static const struct {
    const char *name, *ending;
    unsigned kinds;
    dis__items_reader *read;
} formats[] = {
    {"csv", ".csv", 1u << DIS_ITEMS_TEXT | 1u << DIS_ITEMS_TOKENS | 1u << DIS_ITEMS_FEATURES, dis__items_read_table},
    {"tsv", ".tsv", 1u << DIS_ITEMS_TEXT | 1u << DIS_ITEMS_TOKENS | 1u << DIS_ITEMS_FEATURES, dis__items_read_table},
    {"jsonl", ".jsonl", 1u << DIS_ITEMS_TEXT | 1u << DIS_ITEMS_TOKENS, dis__items_read_table},
    {"npy", ".npy", 1u << DIS_ITEMS_FEATURES | 1u << DIS_ITEMS_IMAGES, dis__items_read_npy},
    {"f32", ".f32", 1u << DIS_ITEMS_FEATURES, dis__items_read_f32},
    {"cifar", ".bin", 1u << DIS_ITEMS_IMAGES, dis__items_read_cifar},
    {"conll", ".conll", 1u << DIS_ITEMS_TOKENS, dis__items_read_conll},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

DIS_OPTIONS_DEFAULTS(dis_items_view, .size = sizeof(dis_items_view))
DIS_OPTIONS_DEFAULTS(dis_items_options, .size = sizeof(dis_items_options), .kind = DIS_ITEMS_TEXT)

void dis_items_destroy(dis_items *items)
{
    if (!items) return;
    dis_names_destroy(items->tasks);
    dis_names_destroy(items->texts);
    dis__free(items->sentence);
    dis__free(items->x);
    dis__free(items->path);
    dis__free(items->line);
    dis__free(items);
}

static dis_items_view view_of(const dis_items *items)
{
    return (dis_items_view){.size = sizeof(dis_items_view),
                            .kind = items->kind,
                            .n_items = items->n_items,
                            .tasks = items->tasks,
                            .n_texts = items->n_texts,
                            .texts = items->texts,
                            .n_sentences = items->n_sentences,
                            .sentence = items->sentence,
                            .height = items->height,
                            .width = items->width,
                            .channels = items->channels,
                            .n_features = items->n_features,
                            .x = items->x};
}
DIS_SIZED_VIEW_DEFINE(dis_items, items, view_of(items))

static dis_status find_format(const char *requested, const char *path, size_t *format)
{
    *format = 0; /* csv */
    for (size_t i = 0; i < N_FORMATS; i++)
        if (requested ? strcmp(requested, formats[i].name) == 0 : dis__path_has_ending(path, formats[i].ending)) {
            *format = i;
            return DIS_OK;
        }
    if (!requested) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "no format \"%s\" of items; there are csv, tsv, jsonl, npy, f32, cifar and conll",
                     requested);
}

/* NAME.tasks.txt next to NAME.npy if the file exists; otherwise NULL. */
static dis_status list_beside(const char *path, char **out)
{
    *out = NULL;
    if (!dis__path_has_ending(path, ".npy")) return DIS_OK;
    DIS_TRY(dis__companion_path(path, ".tasks.txt", out));
    if (dis__os_access(*out, R_OK) == 0) return DIS_OK;
    dis__free(*out);
    *out = NULL;
    return DIS_OK;
}

dis_status dis__items_set_tasks(dis_context *ctx, const char *path, const dis_items_options *options, size_t n,
                                dis_items *items)
{
    char *beside = NULL;
    if (!options->tasks) DIS_TRY(list_beside(path, &beside));
    const char *list = options->tasks ? options->tasks : beside;
    dis_status status = beside ? dis__check_regular(beside) : DIS_OK;
    if (status == DIS_OK)
        status = list ? dis__names_read(ctx, list, &items->tasks) : dis__names_from_numbers(n, &items->tasks);
    if (status == DIS_OK && dis_names_count(items->tasks) != n)
        status = dis__fail_at(DIS_EDATA, list, 0, 0, "%zu ids for the %zu items of %s", dis_names_count(items->tasks),
                              n, path);
    dis__free(beside);
    return status;
}

dis_status dis__items_fail(const dis_items *items, size_t i, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!items->path) return dis__fail(DIS_EDATA, "%s", message);
    return dis__fail_at(DIS_EDATA, items->path, items->line ? items->line[i] : 0, 0, "%s", message);
}

dis_status dis__items_check_duplicates(const dis_items *items)
{
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(items->tasks, &twice));
    if (twice == SIZE_MAX) return DIS_OK;
    return dis__items_fail(items, twice, "the item \"%.200s\" is repeated; item ids must be unique",
                           dis_names_get(items->tasks, twice, NULL));
}

/* DIS_EUSAGE for a file whose items are not the requested ones. */
static dis_status other_kind(const char *path, size_t format, dis_items_kind kind)
{
    char held[64] = "";
    for (unsigned k = 0; k < sizeof kind_names / sizeof *kind_names; k++)
        if (formats[format].kinds >> k & 1)
            dis__text_list_append(held, sizeof held, kind_names[k], strlen(kind_names[k]));
    return dis__fail(DIS_EUSAGE, "%s: %s files hold %s, not %s; dissent list models says which model reads what", path,
                     formats[format].name, held, kind_names[kind]);
}

dis_status dis_items_read(dis_context *ctx, const char *path, const dis_items_options *options, dis_items **out)
{
    dis_items_options o = dis_items_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_items_options, &o, options));
    size_t format;
    DIS_TRY(find_format(o.format, path, &format));
    if (!(formats[format].kinds >> o.kind & 1)) return other_kind(path, format, o.kind);
    DIS_TRY(dis__check_stop(ctx));
    dis_items *items;
    DIS_TRY(dis__alloc_zeroed(&items, 1, sizeof *items));
    items->kind = o.kind;
    dis_status status = dis__copy_text(&items->path, path, strlen(path));
    if (status == DIS_OK) status = formats[format].read(ctx, path, formats[format].name, &o, items);
    if (status == DIS_OK && items->n_items == 0) status = dis__fail_at(DIS_EDATA, path, 0, 0, "it contains no items");
    if (status == DIS_OK) status = dis__items_check_duplicates(items);
    if (status != DIS_OK) {
        dis_items_destroy(items);
        return status;
    }
    *out = items;
    return DIS_OK;
}
