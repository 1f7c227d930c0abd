/* Growing states, one safetensors file:
 *
 *     names/workers, names/classes, names/tasks (U8, NUL-ended) and where each begins (.../start, U64)
 *     tasks/index (U32, a power of 2 of slots: item + 1, 0 free), tasks/key (U64, 2: of its SipHash)
 *     votes/start (U64), votes/worker (U32), votes/label (U16): votes by item
 *     counts (F64, workers x voted x true): sum of p(t | item) over votes; class_sum (F64): sum of p over items
 *
 * New votes: items that get some have their posteriors made from all their votes and the counts of their workers, the
 * counts move by the difference (online.h, an item's own share left in, as in a fit), twice for all of them and then
 * for those that still change by more than 1e-4. So workers learn from the new votes and items with new votes from their workers; other
 * items, whose labels a refit would change by the little that their workers changed, are not looked at.
 *
 * Cost: a look-up per item and the table of workers, then O(votes on the items touched) per round. Of the mapped file
 * only the pages of these items are read. */
#include "dissent/growing.h"
#include "core/memory.h"
#include "core/name_index.h"
#include "core/names_build.h"
#include "core/spill.h"
#include "dissent/version.h"
#include "io/input.h"
#include "io/outfile.h"
#include "io/safetensors.h"
#include "labels/method.h"
#include "labels/online.h"
#include <math.h>
#include <string.h>

#define GROWING_FORMAT  "dissent-growing"
#define GROWING_VERSION "1"

/* In the order in which they are written: wide numbers first, so that all are aligned. */
enum {
    KEY,
    START,
    TASK_START,
    WORKER_START,
    CLASS_START,
    COUNTS,
    CLASS_SUM,
    WORKER,
    INDEX,
    LABEL,
    TASKS,
    WORKERS,
    CLASSES,
    PARTS
};
static const struct {
    const char *name, *type;
} parts[PARTS] = {{"tasks/key", "U64"},           {"votes/start", "U64"},         {"names/tasks/start", "U64"},
                  {"names/workers/start", "U64"}, {"names/classes/start", "U64"}, {"counts", "F64"},
                  {"class_sum", "F64"},           {"votes/worker", "U32"},        {"tasks/index", "U32"},
                  {"votes/label", "U16"},         {"names/tasks", "U8"},          {"names/workers", "U8"},
                  {"names/classes", "U8"}};

struct dis_growing {
    dis__input input;
    char *path;
    dis__safetensors file;
    const dis__tensor *part[PARTS];
    dis_names *workers, *classes;
    size_t n_items, n_workers, n_classes;
};

/* ---- writing ---- */

typedef struct {
    uint64_t key[2];
    uint32_t *index;
    size_t n_index;
    uint16_t *label;
    double *counts, *class_sum;
} writing;

static dis_status index_tasks(const dis_names *tasks, writing *x)
{
    const size_t n = dis_names_count(tasks);
    for (x->n_index = 2; x->n_index < 2 * n; x->n_index *= 2) continue;
    DIS_TRY(dis__alloc_zeroed(&x->index, x->n_index, sizeof *x->index));
    dis__draw_key(x->key, x);
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *name = dis_names_get(tasks, i, &length);
        size_t s = (size_t)dis__siphash(x->key, name, length) & (x->n_index - 1);
        while (x->index[s]) s = (s + 1) & (x->n_index - 1);
        x->index[s] = (uint32_t)(i + 1);
    }
    return DIS_OK;
}

static dis_status count_votes(const dis_votes_view *v, const double *p, writing *x)
{
    const size_t K = v->n_classes;
    DIS_TRY(dis__alloc_zeroed(&x->counts, dis__size(v->n_workers, K * K, 0), sizeof *x->counts));
    DIS_TRY(dis__alloc_zeroed(&x->class_sum, K, sizeof *x->class_sum));
    DIS_TRY(dis__alloc_array(&x->label, v->n_votes, sizeof *x->label));
    for (size_t i = 0; i < v->n_items; i++, p += K) {
        for (size_t t = 0; t < K; t++) x->class_sum[t] += p[t];
        for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
            const size_t l = dis__vote_label(v, a);
            double *row = x->counts + (v->worker[a] * K + l) * K;
            for (size_t t = 0; t < K; t++) row[t] += p[t];
            x->label[a] = (uint16_t)l;
        }
    }
    return DIS_OK;
}

static dis_status write_parts(const dis_votes_view *v, const writing *x, const char *path)
{
    static const char *const metadata[][2] = {{"format", GROWING_FORMAT},
                                              {"version", GROWING_VERSION},
                                              {"dissent", DIS_VERSION}};
    const size_t K = v->n_classes;
    const dis_names *const names[] = {v->tasks, v->workers, v->classes};
    const void *data[PARTS] = {
        [KEY] = x->key,       [START] = v->start, [COUNTS] = x->counts, [CLASS_SUM] = x->class_sum,
        [WORKER] = v->worker, [INDEX] = x->index, [LABEL] = x->label};
    size_t n[PARTS] = {[KEY] = 2,           [START] = v->n_items + 1, [COUNTS] = v->n_workers * K * K,
                       [CLASS_SUM] = K,     [WORKER] = v->n_votes,    [INDEX] = x->n_index,
                       [LABEL] = v->n_votes};
    for (size_t i = 0; i < 3; i++) {
        data[TASK_START + i] = names[i]->start;
        n[TASK_START + i] = dis_names_count(names[i]) + 1;
        data[TASKS + i] = names[i]->bytes;
        n[TASKS + i] = (size_t)names[i]->start[dis_names_count(names[i])];
    }
    dis__tensor tensor[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        tensor[i] = (dis__tensor){.name = parts[i].name,
                                  .dtype = dis__dtype_find(parts[i].type, strlen(parts[i].type)),
                                  .n_dims = 1,
                                  .dim = {n[i]},
                                  .n = n[i],
                                  .data = data[i]};
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    return dis__out_finish(out,
                           dis__safetensors_write(out, tensor, PARTS, metadata, sizeof metadata / sizeof *metadata));
}

dis_status dis_growing_write(dis_context *ctx, const dis_votes *votes, const double *p, const char *path)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view v = dis_votes_look(votes);
    if (!v.start) return dis__fail(DIS_EDATA, "this input does not say who voted; bring one row per vote");
    writing x = {.n_index = 0};
    dis_status status;
    DIS_TRY_GOTO(status, index_tasks(v.tasks, &x), end);
    DIS_TRY_GOTO(status, count_votes(&v, p, &x), end);
    status = write_parts(&v, &x, path);
end:
    dis__free(x.index);
    dis__free(x.label);
    dis__free(x.counts);
    dis__free(x.class_sum);
    return status;
}

/* ---- opening ---- */

static dis_status bad(const dis_growing *g, const char *reason)
{
    return dis__fail_at(DIS_EDATA, g->path, 0, 0, "%s; save the state again", reason);
}

static uint64_t u64_at(const dis__tensor *t, size_t i)
{
    uint64_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

static uint32_t u32_at(const dis__tensor *t, size_t i)
{
    uint32_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

static uint16_t u16_at(const dis__tensor *t, size_t i)
{
    uint16_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

/* Name i of a list: *n bytes. False: the file is damaged there. */
static bool name_at(const dis__tensor *start, const dis__tensor *bytes, size_t i, const char **name, size_t *n)
{
    const uint64_t from = u64_at(start, i), to = u64_at(start, i + 1);
    if (from >= to || to > bytes->n || ((const char *)bytes->data)[to - 1]) return false;
    *name = (const char *)bytes->data + from;
    *n = (size_t)(to - from) - 1;
    return true;
}

static dis_status read_names(const dis_growing *g, const dis__tensor *start, const dis__tensor *bytes, dis_names **out)
{
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    for (size_t i = 0; i + 1 < start->n && status == DIS_OK; i++) {
        const char *name;
        size_t n;
        status = name_at(start, bytes, i, &name, &n) ? dis__name_list_add(&list, name, n) : bad(g, "damaged names");
    }
    if (status == DIS_OK) status = dis__name_list_finish(&list, out);
    dis__name_list_free(&list);
    return status;
}

static dis_status check_parts(dis_growing *g)
{
    const dis__json_value *format = dis__safetensors_metadata(&g->file, "format");
    const dis__json_value *version = dis__safetensors_metadata(&g->file, "version");
    if (!format || !dis__json_is(format, GROWING_FORMAT))
        return dis__fail_at(DIS_EDATA, g->path, 0, 0,
                            "not a state that votes can be added to; save one with --save-growing");
    if (!version || !dis__json_is(version, GROWING_VERSION)) return bad(g, "a state of another version of dissent");
    for (size_t i = 0; i < PARTS; i++) {
        const dis__tensor *t = g->part[i] = dis__safetensors_find(&g->file, parts[i].name);
        if (!t || t->n_dims != 1 || strcmp(t->dtype->name, parts[i].type) != 0) return bad(g, parts[i].name);
    }
    const dis__tensor *const *p = g->part;
    if (!p[START]->n || !p[TASK_START]->n || !p[WORKER_START]->n || !p[CLASS_START]->n) return bad(g, "empty lists");
    g->n_items = p[START]->n - 1;
    g->n_workers = p[WORKER_START]->n - 1;
    g->n_classes = p[CLASS_START]->n - 1;
    const size_t K = g->n_classes, slots = p[INDEX]->n;
    if (p[KEY]->n != 2 || p[TASK_START]->n != g->n_items + 1 || K == 0 || K > DIS_MAX_CLASSES || p[CLASS_SUM]->n != K ||
        p[COUNTS]->n != dis__size(g->n_workers, K * K, 0) || p[LABEL]->n != p[WORKER]->n || slots <= g->n_items ||
        (slots & (slots - 1)))
        return bad(g, "parts that do not fit together");
    for (size_t x = 0; x < p[COUNTS]->n; x++) {
        double count;
        memcpy(&count, (const char *)p[COUNTS]->data + x * sizeof count, sizeof count);
        if (!(count >= 0 && isfinite(count))) return bad(g, "counts that are no counts");
    }
    return DIS_OK;
}

static dis_status open_growing(dis_context *ctx, const char *path, dis_growing *g)
{
    DIS_TRY(dis__copy_text(&g->path, path, strlen(path)));
    DIS_TRY(dis__input_open(ctx, g->path, &g->input));
    DIS_TRY(dis__safetensors_open(g->path, g->input.bytes, g->input.n, &g->file));
    DIS_TRY(check_parts(g));
    DIS_TRY(read_names(g, g->part[WORKER_START], g->part[WORKERS], &g->workers));
    return read_names(g, g->part[CLASS_START], g->part[CLASSES], &g->classes);
}

dis_status dis_growing_open(dis_context *ctx, const char *path, dis_growing **out)
{
    dis_growing *g;
    DIS_TRY(dis__alloc_zeroed(&g, 1, sizeof *g));
    const dis_status status = open_growing(ctx, path, g);
    if (status != DIS_OK) {
        dis_growing_destroy(g);
        return status;
    }
    *out = g;
    return DIS_OK;
}

void dis_growing_destroy(dis_growing *g)
{
    if (!g) return;
    dis_names_destroy(g->workers);
    dis_names_destroy(g->classes);
    dis__safetensors_close(&g->file);
    dis__input_close(&g->input);
    dis__free(g->path);
    dis__free(g);
}

const dis_names *dis_growing_classes(const dis_growing *g)
{
    return g->classes;
}

/* ---- new votes ---- */

typedef struct {
    const dis_growing *g;
    const dis_votes_view *more;
    size_t *worker;         /* (more->n_workers) in the model */
    size_t *item;           /* (more->n_items) in the state, SIZE_MAX: it is new */
    uint64_t *start;        /* (more->n_items + 1) votes on each, old ones first */
    dis__online_vote *vote; /* (start[n]) */
    size_t n_old;
    double *p, *next; /* (more->n_items, K), (K) */
    dis__online model;
    dis_growing_notes notes;
} appending;

static size_t find_task(const dis_growing *g, const char *name, size_t n)
{
    const uint64_t key[2] = {u64_at(g->part[KEY], 0), u64_at(g->part[KEY], 1)};
    const size_t mask = g->part[INDEX]->n - 1;
    size_t s = (size_t)dis__siphash(key, name, n) & mask;
    for (size_t tried = 0; tried <= mask; tried++, s = (s + 1) & mask) {
        const uint32_t i = u32_at(g->part[INDEX], s);
        const char *other;
        size_t length;
        if (i == 0) break;
        if (i <= g->n_items && name_at(g->part[TASK_START], g->part[TASKS], i - 1, &other, &length) && length == n &&
            memcmp(name, other, n) == 0)
            return i - 1;
    }
    return SIZE_MAX;
}

/* Where things of the new votes are in the state. */
static dis_status find_all(appending *a)
{
    const dis_growing *g = a->g;
    const dis_votes_view *m = a->more;
    DIS_TRY(dis__alloc_array(&a->worker, m->n_workers, sizeof *a->worker));
    DIS_TRY(dis__alloc_array(&a->item, m->n_items, sizeof *a->item));
    DIS_TRY(dis__alloc_array(&a->start, m->n_items + 1, sizeof *a->start));
    DIS_TRY(dis__names_match(g->workers, m->workers, a->worker, NULL));
    for (size_t w = 0; w < m->n_workers; w++)
        if (a->worker[w] == SIZE_MAX) a->worker[w] = g->n_workers + a->notes.new_workers++;
    a->start[0] = 0;
    for (size_t i = 0; i < m->n_items; i++) {
        size_t n;
        const char *name = dis_names_get(m->tasks, i, &n);
        const size_t at = a->item[i] = find_task(g, name, n);
        uint64_t old = 0;
        if (at == SIZE_MAX) {
            a->notes.new_items++;
        } else {
            const uint64_t from = u64_at(g->part[START], at), to = u64_at(g->part[START], at + 1);
            if (from > to || to > g->part[WORKER]->n) return bad(g, "damaged votes");
            old = to - from;
        }
        a->notes.old_votes += (size_t)old;
        a->start[i + 1] = a->start[i] + old + m->start[i + 1] - m->start[i];
    }
    return DIS_OK;
}

static size_t old_votes(const appending *a, size_t i)
{
    return (size_t)(a->start[i + 1] - a->start[i] - (a->more->start[i + 1] - a->more->start[i]));
}

static dis_status check_again(const appending *a, size_t i, size_t n_old, uint32_t worker, size_t w)
{
    const dis__online_vote *vote = a->vote + a->start[i];
    for (size_t v = 0; v < n_old; v++)
        if (vote[v].worker == worker)
            return dis__fail(DIS_EDATA,
                             "worker \"%.100s\" has a vote on task \"%.100s\" in %s already; leave the new one out",
                             dis_names_get(a->more->workers, w, NULL), dis_names_get(a->more->tasks, i, NULL),
                             a->g->path);
    return DIS_OK;
}

static dis_status take_votes(appending *a)
{
    const dis_growing *g = a->g;
    const dis_votes_view *m = a->more;
    DIS_TRY(dis__alloc_array(&a->vote, (size_t)a->start[m->n_items], sizeof *a->vote));
    for (size_t i = 0; i < m->n_items; i++) {
        dis__online_vote *to = a->vote + a->start[i];
        const size_t n_old = old_votes(a, i);
        const uint64_t from = n_old ? u64_at(g->part[START], a->item[i]) : 0;
        for (size_t v = 0; v < n_old; v++, to++) {
            *to = (dis__online_vote){.worker = u32_at(g->part[WORKER], (size_t)from + v),
                                     .label = u16_at(g->part[LABEL], (size_t)from + v)};
            if (to->worker >= g->n_workers || to->label >= g->n_classes) return bad(g, "damaged votes");
        }
        for (uint64_t v = m->start[i]; v < m->start[i + 1]; v++, to++) {
            *to = (dis__online_vote){.worker = (uint32_t)a->worker[m->worker[v]],
                                     .label = (uint16_t)dis__vote_label(m, v)};
            DIS_TRY(check_again(a, i, n_old, to->worker, m->worker[v]));
        }
    }
    return DIS_OK;
}

/* The model as the state has it. */
static dis_status take_model(appending *a)
{
    const dis_growing *g = a->g;
    const size_t K = g->n_classes;
    dis__online *m = &a->model;
    *m = (dis__online){.smoothing = .5, .diagonal = 2, .own = true};
    DIS_TRY(dis__online_classes(m, K));
    DIS_TRY(dis__online_reserve(m, g->n_workers + a->notes.new_workers));
    for (size_t w = 0; w < g->n_workers + a->notes.new_workers; w++) DIS_TRY(dis__online_worker(m));
    const char *counts = g->part[COUNTS]->data;
    for (size_t w = 0; w < g->n_workers; w++)
        for (size_t l = 0; l < K; l++, counts += K * sizeof(double)) {
            double *row = m->sum + (w * m->row + l) * m->row;
            memcpy(row, counts, K * sizeof *row);
            for (size_t t = 0; t < K; t++) m->total[w * m->row + t] += row[t];
        }
    memcpy(m->class_sum, g->part[CLASS_SUM]->data, K * sizeof *m->class_sum);
    m->n_items = (double)g->n_items;
    return DIS_OK;
}

/* What the counts hold of the items: posteriors from their old votes. All before any counts move. */
static dis_status take_posteriors(appending *a)
{
    const size_t K = a->g->n_classes, n = a->more->n_items;
    DIS_TRY(dis__alloc_zeroed(&a->p, dis__size(n, K, 0), sizeof *a->p));
    DIS_TRY(dis__alloc_array(&a->next, K, sizeof *a->next));
    for (size_t i = 0; i < n; i++)
        if (old_votes(a, i))
            dis__online_estimate(&a->model, a->vote + a->start[i], old_votes(a, i), 0, NULL, a->p + i * K);
    return DIS_OK;
}

/* The posterior of an item anew; by how much it changed. */
static double renew(appending *a, size_t i, size_t before)
{
    const dis__online_vote *vote = a->vote + a->start[i];
    const size_t K = a->g->n_classes, all = (size_t)(a->start[i + 1] - a->start[i]);
    double *p = a->p + i * K, change = 0;
    dis__online_estimate(&a->model, vote, all, before, p, a->next);
    dis__online_move(&a->model, vote, all, before, p, a->next);
    for (size_t t = 0; t < K; t++) {
        change = fmax(change, fabs(a->next[t] - p[t]));
        p[t] = a->next[t];
    }
    return change;
}

/* The first two rounds go over all items, the others over those that are still moving. */
static dis_status do_rounds(appending *a)
{
    enum { MAX_ROUNDS = 50, WHOLE = 2 };
    const double settled = 1e-4;
    const size_t n = a->more->n_items;
    bool *moves;
    DIS_TRY(dis__alloc_zeroed(&moves, n, sizeof *moves));
    a->notes.change = 1;
    for (int r = 0; r < MAX_ROUNDS && (r < WHOLE || a->notes.change > settled); r++) {
        a->notes.change = 0;
        a->notes.rounds = r + 1;
        for (size_t i = 0; i < n; i++) {
            if (r >= WHOLE && !moves[i]) continue;
            const double change = renew(a, i, r ? (size_t)(a->start[i + 1] - a->start[i]) : old_votes(a, i));
            moves[i] = change > settled;
            a->notes.change = fmax(a->notes.change, change);
        }
    }
    dis__free(moves);
    return DIS_OK;
}

static dis_status append(dis_context *ctx, appending *a, dis_labels **out)
{
    const dis_votes_view *m = a->more;
    if (!m->start) return dis__fail(DIS_EDATA, "the new votes do not say who voted; bring one row per vote");
    if (!dis__names_same(m->classes, a->g->classes))
        return dis__fail(DIS_EDATA, "the new votes have other classes than %s", a->g->path);
    DIS_TRY(find_all(a));
    DIS_TRY(take_votes(a));
    DIS_TRY(take_model(a));
    DIS_TRY(take_posteriors(a));
    DIS_TRY(do_rounds(a));
    const dis_labels_view labels = {
        .n_items = m->n_items, .n_classes = a->g->n_classes, .p = a->p, .tasks = m->tasks, .classes = m->classes};
    return dis_labels_from_memory(ctx, &labels, out);
}

dis_status dis_growing_append(dis_context *ctx, const dis_growing *g, const dis_votes *more, dis_labels **out,
                              dis_growing_notes *notes)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view m = dis_votes_look(more);
    appending a = {.g = g,
                   .more = &m,
                   .notes = {.n_items = g->n_items, .n_workers = g->n_workers, .n_votes = g->part[WORKER]->n}};
    const dis_status status = append(ctx, &a, out);
    if (status == DIS_OK && notes) *notes = a.notes;
    dis__free(a.worker);
    dis__free(a.item);
    dis__free(a.start);
    dis__free(a.vote);
    dis__free(a.p);
    dis__free(a.next);
    dis__online_free(&a.model);
    return status;
}
