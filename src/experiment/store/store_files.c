/* Predictions and what is known of their items, as files.
 *
 * A set's tasks, classes, gold labels and soft labels of people are the same for many runs. They are kept once, under
 * the SHA-256 of all of them: truth/HASH.tasks.txt, .classes.txt, .gold.csv and .npy (people). Predictions are
 * predictions/KEY/SET.npy with symbolic links to these lists beside it: an ordinary label file, for two flushes of the
 * disk per set. The list of tasks is put in place last, so whoever finds it finds the others. */
#include "tool/table_writer.h"
#include "core/os/os.h"
#include "experiment/store/store_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/text/sha256.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include "io/name_file.h"
#include "io/tensors/npy.h"
#include "io/output/output_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_NAME = 100 };

static void add_names(dis__sha256 *h, const dis_names *names)
{
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        dis__sha256_update(h, name, n + 1); /* the NUL parts them */
    }
}

static void hash_truth(const dis__predicted_set *set, const dis_labels_view *v, char hex[65])
{
    const uint64_t shape[] = {v->n_items, v->n_classes, set->gold != NULL, set->human != NULL};
    dis__sha256 h;
    dis__sha256_init(&h);
    dis__sha256_update(&h, shape, sizeof shape);
    add_names(&h, v->tasks);
    add_names(&h, v->classes);
    if (set->gold) dis__sha256_update(&h, set->gold, v->n_items * sizeof *set->gold);
    if (set->human) dis__sha256_update(&h, set->human, v->n_items * v->n_classes * sizeof *set->human);
    dis__sha256_hex(&h, hex);
}

static dis_status write_array(const char *path, const double *p, size_t n_items, size_t n_classes)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = dis__npy_write_header(out, sizeof *p, n_items, n_classes);
    if (status == DIS_OK) status = dis__out_write(out, p, n_items * n_classes * sizeof *p);
    return dis__out_finish(out, status);
}

static dis_status write_list(const char *path, const dis_names *names)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    return dis__out_finish(out, dis__names_write(out, names));
}

static dis_status write_gold(const char *path, const dis_labels_view *v, const int32_t *gold)
{
    static const char *const columns[] = {"task", "label"};
    dis__table_writer *table;
    DIS_TRY(dis__table_writer_create(path, "csv", columns, 2, &table));
    for (size_t i = 0; i < v->n_items; i++) {
        if (gold[i] < 0) continue;
        size_t n;
        const char *name = dis_names_get(v->tasks, i, &n);
        dis__table_writer_text(table, name, n);
        name = dis_names_get(v->classes, (size_t)gold[i], &n);
        dis__table_writer_text(table, name, n);
    }
    return dis__table_writer_finish(table, DIS_OK);
}

static bool has_gold(const dis__predicted_set *set, const dis_labels_view *v)
{
    for (size_t i = 0; set->gold && i < v->n_items; i++)
        if (set->gold[i] >= 0) return true;
    return false;
}

/* One of the files of a truth; `kind` is what the file is called after the hash. */
static dis_status write_part(const dis__store *s, const char *hash, const char *kind, const dis__predicted_set *set,
                             const dis_labels_view *v)
{
    char *path;
    DIS_TRY(dis__store_path(s, "truth", hash, kind, &path));
    dis_status status = dis__remove_irregular(path);
    if (status != DIS_OK) {
        dis__free(path);
        return status;
    }
    if (strcmp(kind, ".npy") == 0) {
        if (set->human) status = write_array(path, set->human, v->n_items, v->n_classes);
    } else if (strcmp(kind, ".gold.csv") == 0) {
        if (has_gold(set, v)) status = write_gold(path, v, set->gold);
    } else {
        status = write_list(path, strcmp(kind, ".classes.txt") == 0 ? v->classes : v->tasks);
    }
    dis__free(path);
    return status;
}

static dis_status write_truth(const dis__store *s, const char *hash, const dis__predicted_set *set,
                              const dis_labels_view *v)
{
    static const char *const kinds[] = {".npy", ".gold.csv", ".classes.txt", ".tasks.txt"};
    char *last;
    DIS_TRY(dis__store_path(s, "truth", hash, ".tasks.txt", &last));
    const bool exists = dis__is_regular_file(last);
    dis__free(last);
    if (exists) return DIS_OK;
    DIS_TRY(dis__names_check_line_breaks(v->tasks, "task"));
    DIS_TRY(dis__names_check_line_breaks(v->classes, "class"));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) DIS_TRY(write_part(s, hash, kinds[i], set, v));
    return DIS_OK;
}

/* A name of a set as part of a file's name: letters, digits, . - _ as they are, other bytes as %XX; a long one is cut
 * and told from others by its hash. */
static void file_name(const char *set, char out[LONGEST_NAME + 1])
{
    size_t used = 0;
    bool cut = false;
    for (const unsigned char *c = (const unsigned char *)set; *c && !cut; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                           *c == '-' || *c == '_' || (*c == '.' && used);
        cut = used + 3 > LONGEST_NAME - 17;
        if (!cut) used += (size_t)snprintf(out + used, LONGEST_NAME - used, plain ? "%c" : "%%%02X", *c);
    }
    if (cut) {
        dis__sha256 h;
        char hex[65];
        dis__sha256_init(&h);
        dis__sha256_update(&h, set, strlen(set));
        dis__sha256_hex(&h, hex);
        snprintf(out + used, LONGEST_NAME + 1 - used, "-%.16s", hex);
    } else {
        out[used] = 0;
    }
}

/* FOLDER/FILE.KIND points to the list in truth/. */
static dis_status link_list(const dis__store *s, const char *file, const char *hash, const char *kind)
{
    char target[128], *path;
    snprintf(target, sizeof target, "../../truth/%s%s", hash, kind);
    DIS_TRY(dis__store_path(s, file, NULL, kind, &path));
    dis_status status = DIS_OK;
    dis__os_remove_file(path);
    if (dis__sys_symlink(target, path) != 0) status = dis__fail_io("make the link", path);
    dis__free(path);
    return status;
}

dis_status dis__link_lists(const dis__store *store, const char *file, const char *truth)
{
    DIS_TRY(link_list(store, file, truth, ".classes.txt"));
    return link_list(store, file, truth, ".tasks.txt");
}

static dis_status write_predictions(const dis__store *s, const char *key, const char *file, const char *hash,
                                    const dis_labels_view *v)
{
    char *path;
    DIS_TRY(dis__store_path(s, "predictions", key, "", &path));
    dis_status status = dis__create_folder(path);
    dis__free(path);
    DIS_TRY(status);
    DIS_TRY(dis__link_lists(s, file, hash));
    DIS_TRY(dis__store_path(s, file, NULL, ".npy", &path));
    status = write_array(path, v->p, v->n_items, v->n_classes);
    dis__free(path);
    return status;
}

dis_status dis__write_set(dis__store *store, const char *key, const dis__predicted_set *set, char **file,
                          char truth[65])
{
    const dis_labels_view v = dis_labels_get_view(set->predicted);
    char name[LONGEST_NAME + 1], path[256], hash[65];
    file_name(set->set, name);
    snprintf(path, sizeof path, "predictions/%s/%s", key, name);
    hash_truth(set, &v, hash);
    DIS_TRY(write_truth(store, hash, set, &v));
    DIS_TRY(write_predictions(store, key, path, hash, &v));
    memcpy(path + strlen(path), ".npy", 5);
    memcpy(truth, hash, sizeof hash);
    return dis__copy_text(file, path, strlen(path));
}

static dis_status clear_folder(const char *path)
{
    DIS_TRY(dis__remove_irregular(path));
    if (dis__os_remove_files(path, "") != 0) return errno == ENOENT ? DIS_OK : dis__fail_io("open", path);
    dis__os_remove_folder(path); /* one that stays is in no one's way */
    return DIS_OK;
}

dis_status dis__remove_predictions(const dis__store *store, const char *key)
{
    char *path;
    DIS_TRY(dis__store_path(store, "predictions", key, "", &path));
    const dis_status status = clear_folder(path);
    dis__free(path);
    return status;
}

/* ---- reading ---- */

/* Gold labels of the items of `v`, -1 for those that have none. */
static dis_status match_gold(const char *path, const dis_gold_view *gold, const dis_labels_view *v, int32_t *out)
{
    size_t *row;
    DIS_TRY(dis__names_match_alloc(gold->tasks, v->tasks, &row, NULL));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->n_items && status == DIS_OK; i++) {
        size_t n;
        out[i] = -1;
        if (row[i] == SIZE_MAX) continue;
        const char *name = dis_names_get(gold->classes, (size_t)gold->label[row[i]], &n);
        const size_t class = dis_names_find(v->classes, name, n);
        if (class == SIZE_MAX) status = dis__fail(DIS_EDATA, "%s: a class that the predictions do not have", path);
        out[i] = (int32_t) class;
    }
    dis__free(row);
    return status;
}

static dis_status read_gold(const dis__store *s, dis_context *ctx, const char *hash, const dis_labels_view *v,
                            int32_t **out)
{
    char *path;
    DIS_TRY(dis__store_path(s, "truth", hash, ".gold.csv", &path));
    dis_status status = DIS_OK;
    if (dis__os_access(path, F_OK) == 0) {
        dis_gold *gold = NULL;
        status = dis_gold_read(ctx, path, NULL, &gold);
        if (status == DIS_OK) status = dis__alloc_array(out, v->n_items, sizeof **out);
        if (status == DIS_OK) {
            const dis_gold_view view = dis_gold_get_view(gold);
            status = match_gold(path, &view, v, *out);
        }
        dis_gold_destroy(gold);
    }
    dis__free(path);
    return status;
}

static dis_status read_human(const dis__store *s, dis_context *ctx, const char *hash, const dis_labels_view *v,
                             double **out)
{
    char *path;
    DIS_TRY(dis__store_path(s, "truth", hash, ".npy", &path));
    dis_status status = DIS_OK;
    if (dis__os_access(path, F_OK) == 0) {
        dis_labels *human = NULL;
        status = dis_labels_read(ctx, path, NULL, &human);
        if (status == DIS_OK) {
            const dis_labels_view h = dis_labels_get_view(human);
            if (h.n_items != v->n_items || h.n_classes != v->n_classes)
                status = dis__fail(DIS_EDATA, "%s: %zu items and %zu classes, but predictions have %zu and %zu", path,
                                   h.n_items, h.n_classes, v->n_items, v->n_classes);
            if (status == DIS_OK) status = dis__alloc_array(out, h.n_items * h.n_classes, sizeof **out);
            if (status == DIS_OK) memcpy(*out, h.p, h.n_items * h.n_classes * sizeof **out);
            dis_labels_destroy(human);
        }
    }
    dis__free(path);
    return status;
}

static dis_status find_set(dis__store *s, const char *key, const char *set, char **path, char truth[65])
{
    pthread_mutex_lock(&s->mutex);
    dis__query q = dis__sql_query(s->db, "SELECT path, truth FROM sets WHERE key = ? AND set_name = ?");
    dis__bind_text(&q, key);
    dis__bind_text(&q, set);
    *path = NULL;
    if (dis__sql_next(&q)) {
        const char *file = dis__sql_text(&q, 0), *hash = dis__sql_text(&q, 1);
        dis_status status = dis__store_check_set(s, key, file, hash);
        if (status == DIS_OK) status = dis__store_path(s, file, NULL, "", path);
        if (status == DIS_OK) memcpy(truth, hash, 65);
        if (status != DIS_OK) q.status = status;
    }
    const dis_status status = dis__sql_end(&q);
    pthread_mutex_unlock(&s->mutex);
    return status;
}

dis_status dis__store_predictions(dis__store *store, dis_context *ctx, const char *key, const char *set,
                                  dis__stored_set *out, bool *found)
{
    char *path, truth[65];
    DIS_TRY(find_set(store, key, set, &path, truth));
    *found = path != NULL;
    if (!path) return DIS_OK;
    dis__stored_set stored = {0};
    dis_status status = dis_labels_read(ctx, path, NULL, &stored.predicted);
    dis__free(path);
    if (status == DIS_OK) {
        const dis_labels_view v = dis_labels_get_view(stored.predicted);
        status = read_gold(store, ctx, truth, &v, &stored.gold);
        if (status == DIS_OK) status = read_human(store, ctx, truth, &v, &stored.human);
    }
    if (status == DIS_OK)
        *out = stored;
    else
        dis__stored_set_free(&stored);
    return status;
}

void dis__stored_set_free(dis__stored_set *set)
{
    dis_labels_destroy(set->predicted);
    dis__free(set->gold);
    dis__free(set->human);
    *set = (dis__stored_set){0};
}
