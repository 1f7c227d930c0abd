/* Label sets of an experiment: fitted and combined as `dissent labels` does it, or read from a file, then put in the
 * order of the data set's tasks and classes.
 *
 * What was fitted is kept in a file of the cache under its key: one line that says what follows, with a SHA-256 of it,
 * then the numbers as they are in memory. A file that is not exactly that is as good as none. */
#include "experiment/run/dataset.h"
#include "core/random/rng.h"
#include "core/context_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/random/random.h"
#include "core/text/sha256.h"
#include "dissent/recipe.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include "io/output/output_file.h"
#include <stdio.h>
#include <string.h>

void dis__label_set_free(dis__label_set *set)
{
    dis__free(set->p);
    dis__free(set->has);
    *set = (dis__label_set){0};
}

/* ---- some of the votes ---- */

/* Random draws for an item depend on its id, not on its position. */
static dis__rng source_of(const dis_names *tasks, size_t i, uint64_t seed)
{
    size_t n;
    const char *task = dis_names_get(tasks, i, &n);
    return dis__rng_at(seed, DIS_STREAM_SUBSAMPLE, dis__random_key(task, n));
}

/* `max` of the votes first .. end - 1, each with the same probability (selection sampling; Knuth, volume 2, algorithm
 * S). */
static void pick_votes(const dis_votes_view *v, size_t item, const dis__vote_draw *draw, dis_votes_arrays *a,
                       uint32_t *task, uint32_t *worker, uint16_t *label)
{
    const uint64_t max = draw->per_item;
    dis__rng source = source_of(v->tasks, item, draw->seed);
    uint64_t left = v->start[item + 1] - v->start[item], need = max && max < left ? max : left;
    for (uint64_t j = v->start[item]; need; j++, left--) {
        if (need < left && dis__rng_below(&source, left) >= need) continue;
        task[a->n_votes] = (uint32_t)item;
        worker[a->n_votes] = v->worker[j];
        label[a->n_votes++] = v->label8 ? v->label8[j] : v->label16[j];
        need--;
    }
}

/* Workers, and their answers, are drawn by their ids, independent of the rest of the data. */
static void answer_at_random(const dis_votes_view *v, const dis__vote_draw *draw, size_t n, const uint32_t *task,
                             const uint32_t *worker, uint16_t *label)
{
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *name = dis_names_get(v->workers, worker[i], &length);
        const uint64_t who = dis__random_key(name, length);
        dis__rng source = dis__rng_at(draw->seed, DIS_STREAM_RANDOM_WORKER, who);
        if (dis__rng_uniform(&source) >= draw->random_workers) continue;
        name = dis_names_get(v->tasks, task[i], &length);
        source = dis__rng_at(draw->seed ^ who, DIS_STREAM_RANDOM_VOTE, dis__random_key(name, length));
        label[i] = (uint16_t)dis__rng_below(&source, v->n_classes);
    }
}

static dis_status pick_from_votes(dis_context *ctx, const dis_votes_view *v, const bool *wanted,
                                  const dis__vote_draw *draw, dis_votes **out)
{
    uint32_t *task = NULL, *worker = NULL;
    uint16_t *label = NULL;
    dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                          .n_items = v->n_items,
                          .n_workers = v->n_workers,
                          .n_classes = v->n_classes,
                          .tasks = v->tasks,
                          .workers = v->workers,
                          .classes = v->classes,
                          .duplicates = DIS_DUPLICATES_ALL};
    dis_status status = dis__alloc_array(&task, v->n_votes, sizeof *task);
    if (status == DIS_OK) status = dis__alloc_array(&worker, v->n_votes, sizeof *worker);
    if (status == DIS_OK) status = dis__alloc_array(&label, v->n_votes, sizeof *label);
    if (status == DIS_OK) {
        for (size_t i = 0; i < v->n_items; i++)
            if (!wanted || wanted[i]) pick_votes(v, i, draw, &a, task, worker, label);
        if (draw->random_workers > 0) answer_at_random(v, draw, a.n_votes, task, worker, label);
        a.task = task;
        a.worker = worker;
        a.label = label;
        status = dis_votes_create_from_arrays(ctx, &a, out);
    }
    dis__free(task);
    dis__free(worker);
    dis__free(label);
    return status;
}

static dis_status pick_from_counts(dis_context *ctx, const dis_votes_view *v, uint64_t max, uint64_t seed,
                                   dis_votes **out)
{
    const size_t k = v->n_classes;
    double *counts;
    DIS_TRY(dis__alloc_zeroed(&counts, dis__saturating_size(v->n_items, k, 0), sizeof *counts));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->n_items && status == DIS_OK; i++) {
        dis__rng source = source_of(v->tasks, i, seed);
        uint64_t left = 0;
        for (size_t c = 0; c < k; c++) {
            const double x = v->counts[i * k + c];
            if (x != (double)(uint64_t)x)
                status = dis__fail(DIS_EDATA,
                                   "votes_per_item: the counts of \"%.100s\" are not integers, so votes "
                                   "cannot be drawn from them",
                                   dis_names_get(v->tasks, i, NULL));
            left += (uint64_t)x;
        }
        uint64_t need = max && max < left ? max : left;
        for (size_t c = 0; c < k && status == DIS_OK; c++)
            for (uint64_t j = (uint64_t)v->counts[i * k + c]; j; j--, left--) {
                if (need == 0 || (need < left && dis__rng_below(&source, left) >= need)) continue;
                counts[i * k + c]++;
                need--;
            }
    }
    if (status == DIS_OK) status = dis_votes_create_from_counts(ctx, counts, v->n_items, k, v->tasks, v->classes, out);
    dis__free(counts);
    return status;
}

dis_status dis__votes_pick(dis_context *ctx, const dis__dataset *m, const bool *wanted, const dis__vote_draw *draw,
                           dis_votes **out)
{
    static const dis__vote_draw all = {0};
    const dis_votes_view v = dis_votes_get_view(m->votes);
    if (!draw) draw = &all;
    if (v.counts) return pick_from_counts(ctx, &v, draw->per_item, draw->seed, out);
    if (!wanted) return pick_from_votes(ctx, &v, NULL, draw, out);
    bool *of_votes;
    DIS_TRY(dis__alloc_zeroed(&of_votes, v.n_items, sizeof *of_votes));
    for (size_t i = 0; i < m->n; i++)
        if (wanted[i] && m->vote_row[i] != SIZE_MAX) of_votes[m->vote_row[i]] = true;
    const dis_status status = pick_from_votes(ctx, &v, of_votes, draw, out);
    dis__free(of_votes);
    return status;
}

/* ---- fitting ---- */

/* On the CPU: the key of a label set contains no device. */
static dis_status make_labels(dis_context *ctx, const dis_votes *votes, const dis__labels_part *l, double **p)
{
    const bool workers = dis_votes_get_view(votes).start != NULL;
    const char *const *specs = l->method ? &l->method : l->methods.text;
    dis_label_plan choice = dis_label_plan_default();
    dis_label_result *result;
    DIS_TRY(dis_label_plan_parse(specs, l->method ? 1 : l->methods.n, l->methods.n == 1 ? NULL : l->combine, workers,
                                 &choice));
    dis__context_use_cpu(ctx, true);
    const dis_status status = dis_label_result_run(ctx, votes, &choice, NULL, &result);
    dis__context_use_cpu(ctx, false);
    DIS_TRY(status);
    *p = dis_label_result_move_p(result);
    dis_label_result_destroy(result);
    return DIS_OK;
}

static dis_status fit(dis_context *ctx, const dis__dataset *m, const dis__labels_part *labels,
                      const dis__vote_draw *draw, double **p)
{
    dis_votes *some = NULL;
    if (draw) DIS_TRY(dis__votes_pick(ctx, m, NULL, draw, &some));
    const dis_votes *votes = some ? some : m->votes;
    const dis_status status = make_labels(ctx, votes, labels, p);
    dis_votes_destroy(some);
    return status;
}

/* ---- the cache ---- */

enum { HEAD = 256 };

static void head_of(const char *key, size_t n, size_t k, const double *p, char head[HEAD])
{
    char hex[65];
    dis__sha256 s;
    dis__sha256_init(&s);
    dis__sha256_update(&s, p, n * k * sizeof *p);
    dis__sha256_hex(&s, hex);
    memset(head, ' ', HEAD);
    const int length = snprintf(head, HEAD, "dissent labels 1 %s %zu x %zu %s", key, n, k, hex);
    head[length] = ' ';
    head[HEAD - 1] = '\n';
}

static dis_status cache_path(const char *folder, const char *key, char **out)
{
    const size_t n = strlen(folder) + strlen(key) + 16;
    DIS_TRY(dis__alloc_array(out, n, 1));
    snprintf(*out, n, "%s/labels-%s", folder, key);
    return DIS_OK;
}

/* NULL in *p: missing or incomplete. */
static dis_status cache_get(dis_context *ctx, const char *path, const char *key, size_t n, size_t k, double **p)
{
    dis__input in;
    *p = NULL;
    if (!dis__is_regular_file(path)) return DIS_OK;
    dis_status status = dis__input_open_binary(ctx, path, &in);
    if (status == DIS_EDATA) return DIS_OK; /* damaged in a way that resembles another format */
    DIS_TRY(status);
    const size_t bytes = n * k * sizeof **p;
    if (in.n == HEAD + bytes) {
        status = dis__alloc_array(p, n * k, sizeof **p);
        if (status == DIS_OK) {
            char head[HEAD];
            memcpy(*p, in.bytes + HEAD, bytes);
            head_of(key, n, k, *p, head);
            if (memcmp(head, in.bytes, HEAD) != 0) {
                dis__free(*p);
                *p = NULL;
            }
        }
    }
    status = dis__input_finish(&in, status);
    if (status != DIS_OK) {
        dis__free(*p);
        *p = NULL;
    }
    return status;
}

static dis_status cache_put(const char *path, const char *key, size_t n, size_t k, const double *p)
{
    char head[HEAD];
    dis__out *out;
    head_of(key, n, k, p, head);
    DIS_TRY(dis__remove_irregular(path));
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = dis__out_write(out, head, HEAD);
    if (status == DIS_OK) status = dis__out_write(out, p, n * k * sizeof *p);
    return dis__out_finish(out, status);
}

/* Labels in the order of the votes' items. */
static dis_status load_or_fit(dis_context *ctx, const dis__dataset *m, const dis__labels_part *labels,
                              const dis__vote_draw *draw, const char *folder, const char *key, double **p)
{
    const dis_votes_view v = dis_votes_get_view(m->votes);
    if (!folder) return fit(ctx, m, labels, draw, p);
    char *path;
    DIS_TRY(cache_path(folder, key, &path));
    dis_status status = cache_get(ctx, path, key, v.n_items, v.n_classes, p);
    if (status == DIS_OK && !*p) {
        status = fit(ctx, m, labels, draw, p);
        if (status == DIS_OK && (status = cache_put(path, key, v.n_items, v.n_classes, *p)) != DIS_OK) {
            dis_free(*p);
            *p = NULL;
        }
    }
    dis__free(path);
    return status;
}

/* ---- in the order of the data set ---- */

static dis_status room_for(const dis__dataset *m, size_t k, dis__label_set *set)
{
    DIS_TRY(dis__alloc_zeroed(&set->p, dis__saturating_size(m->n, k, 0), sizeof *set->p));
    return dis__alloc_zeroed(&set->has, m->n, sizeof *set->has);
}

static dis_status from_votes(dis_context *ctx, const dis__dataset *m, const dis__labels_part *labels,
                             const dis__vote_draw *draw, const char *folder, const char *key, dis__label_set *set)
{
    const size_t k = dis_names_count(m->classes);
    double *p;
    DIS_TRY(room_for(m, k, set));
    DIS_TRY(load_or_fit(ctx, m, labels, draw, folder, key, &p));
    for (size_t i = 0; i < m->n; i++) {
        set->has[i] = m->vote_row[i] != SIZE_MAX;
        if (set->has[i]) memcpy(set->p + i * k, p + m->vote_row[i] * k, k * sizeof *p);
    }
    dis_free(p);
    return DIS_OK;
}

static dis_status place_rows(const dis__dataset *m, const dis_labels_view *v, const char *path, dis__label_set *set)
{
    const size_t k = dis_names_count(m->classes);
    size_t *place, *row = NULL;
    DIS_TRY(room_for(m, k, set));
    DIS_TRY(dis__alloc_array(&place, v->n_classes, sizeof *place));
    dis_status status = DIS_OK;
    for (size_t c = 0; c < v->n_classes && status == DIS_OK; c++) {
        size_t n;
        const char *name = dis_names_get(v->classes, c, &n);
        if ((place[c] = dis_names_find(m->classes, name, n)) == SIZE_MAX)
            status = dis__fail_at(DIS_EDATA, path, 0, 0, "the class \"%.100s\" is not a class of the data set", name);
    }
    if (status == DIS_OK) status = dis__names_match_alloc(v->tasks, m->tasks, &row, NULL);
    for (size_t i = 0; i < m->n && status == DIS_OK; i++) {
        set->has[i] = row[i] != SIZE_MAX;
        for (size_t c = 0; set->has[i] && c < v->n_classes; c++)
            set->p[i * k + place[c]] = v->p[row[i] * v->n_classes + c];
    }
    dis__free(row);
    dis__free(place);
    return status;
}

static dis_status from_file(dis_context *ctx, const dis__dataset *m, const char *path, dis__label_set *set)
{
    dis_labels *labels;
    DIS_TRY(dis_labels_read(ctx, path, NULL, &labels));
    const dis_labels_view v = dis_labels_get_view(labels);
    const dis_status status = place_rows(m, &v, path, set);
    dis_labels_destroy(labels);
    return status;
}

dis_status dis__label_set_make(dis_context *ctx, const dis__dataset *m, const dis__labels_part *labels,
                               const dis__vote_draw *draw, const char *folder, const char *key, dis__label_set *out)
{
    dis__label_set set = {0};
    const dis_status status =
        labels->file ? from_file(ctx, m, labels->file, &set) : from_votes(ctx, m, labels, draw, folder, key, &set);
    if (status == DIS_OK)
        *out = set;
    else
        dis__label_set_free(&set);
    return status;
}
