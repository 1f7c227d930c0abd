/* Saved states of comparisons: the comparisons and their fit, in one safetensors file with checksums.
 *
 *     names/things, names/tasks, names/workers (U8: texts, each with a NUL at its end); things and tasks are sorted
 *     votes/a, votes/b, votes/task, votes/worker (U32), votes/verdict (U8)
 *     plain/parameter, plain/scaled, model/parameter, model/scaled (F64): scores, tie parameter, coefficient of the
 *     position; scaled: variances times the diagonal of the Hessian
 *     workers/reliability, workers/side (F64): 1 and 0 if they were not estimated
 *
 * Joining merges the sorted lists of things and tasks with those of the new votes, so that all numbers are those of a
 * fit of all votes together; Newton's method then starts at the saved parameters. Cost: a pass over the file and over
 * all comparisons. */
#include "scaled/pairs/pairs.h"
#include "core/names/name_index.h"
#include "dissent/version.h"
#include "io/input/input.h"
#include "io/tensors/checked_tensors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT  "dissent-pairs"
#define VERSION "1"

enum {
    PLAIN_PARAMETER,
    PLAIN_SCALED,
    MODEL_PARAMETER,
    MODEL_SCALED,
    RELIABILITY,
    SIDE,
    VOTE_A,
    VOTE_B,
    VOTE_TASK,
    VOTE_WORKER,
    VOTE_VERDICT,
    THINGS,
    TASKS,
    WORKERS,
    TENSORS
};

static const struct {
    const char *name, *type;
} row_of[TENSORS] = {
    {"plain/parameter", "F64"},     {"plain/scaled", "F64"}, {"model/parameter", "F64"}, {"model/scaled", "F64"},
    {"workers/reliability", "F64"}, {"workers/side", "F64"}, {"votes/a", "U32"},         {"votes/b", "U32"},
    {"votes/task", "U32"},          {"votes/worker", "U32"}, {"votes/verdict", "U8"},    {"names/things", "U8"},
    {"names/tasks", "U8"},          {"names/workers", "U8"}};

/* ---- writing ---- */

typedef struct {
    uint32_t *vote[4]; /* (n) a, b, task, worker */
    uint8_t *verdict;  /* (n) */
    double *scaled[2]; /* (parameters) */
    double *reliability, *side;
} writing;

static dis_status fill(const dis__pairs *m, writing *x)
{
    const size_t n = dis__pair_n_parameters(&m->plain);
    const dis__pair_errors *const errors[2] = {&m->plain_errors, &m->errors};
    for (int k = 0; k < 4; k++) DIS_TRY(dis__alloc_array(&x->vote[k], m->n, sizeof **x->vote));
    DIS_TRY(dis__alloc_array(&x->verdict, m->n, 1));
    for (int k = 0; k < 2; k++) DIS_TRY(dis__alloc_array(&x->scaled[k], n, sizeof **x->scaled));
    DIS_TRY(dis__alloc_array(&x->reliability, m->n_workers, sizeof *x->reliability));
    DIS_TRY(dis__alloc_array(&x->side, m->n_workers, sizeof *x->side));
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        x->vote[0][i] = c->a;
        x->vote[1][i] = c->b;
        x->vote[2][i] = c->task;
        x->vote[3][i] = c->worker;
        x->verdict[i] = (uint8_t)c->verdict;
    }
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < n; i++) x->scaled[k][i] = errors[k]->variance[i] * errors[k]->information[i];
    for (size_t w = 0; w < m->n_workers; w++) {
        x->reliability[w] = m->reliability ? m->reliability[w] : 1;
        x->side[w] = m->side ? m->side[w] : 0;
    }
    return DIS_OK;
}

static dis_status write_parts(const dis__pairs *m, const writing *x, const char *path)
{
    const char *const tie = m->plain.has_tie ? "1" : "0", *const position = m->n_x ? "1" : "0";
    const char *const metadata[][2] = {{"format", FORMAT},       {"version", VERSION},
                                       {"dissent", DIS_VERSION}, {"ties", m->plain.ties->name},
                                       {"tie parameter", tie},   {"position", position}};
    const size_t n_parameters = dis__pair_n_parameters(&m->plain);
    const dis_names *const names[] = {m->things, m->tasks, m->workers};
    const void *data[TENSORS] = {[PLAIN_PARAMETER] = m->plain_parameter,
                                 [PLAIN_SCALED] = x->scaled[0],
                                 [MODEL_PARAMETER] = m->parameter,
                                 [MODEL_SCALED] = x->scaled[1],
                                 [RELIABILITY] = x->reliability,
                                 [SIDE] = x->side,
                                 [VOTE_A] = x->vote[0],
                                 [VOTE_B] = x->vote[1],
                                 [VOTE_TASK] = x->vote[2],
                                 [VOTE_WORKER] = x->vote[3],
                                 [VOTE_VERDICT] = x->verdict};
    dis__tensor tensor[TENSORS];
    dis__out *out;
    for (size_t k = 0; k < 3; k++) data[THINGS + k] = names[k]->bytes;
    for (size_t k = 0; k < TENSORS; k++) {
        const size_t n = k >= THINGS        ? (size_t)names[k - THINGS]->start[dis_names_count(names[k - THINGS])]
                         : k >= VOTE_A      ? m->n
                         : k >= RELIABILITY ? m->n_workers
                                            : n_parameters;
        tensor[k] = (dis__tensor){.name = row_of[k].name,
                                  .dtype = dis__dtype_find(row_of[k].type, strlen(row_of[k].type)),
                                  .n_dims = 1,
                                  .dim = {n},
                                  .n = n,
                                  .data = data[k]};
    }
    DIS_TRY(dis__out_open(path, &out));
    return dis__out_finish(out, dis__checked_write(out, tensor, TENSORS, metadata, sizeof metadata / sizeof *metadata));
}

dis_status dis__pair_state_write(const dis__pairs *m, const char *path)
{
    writing x = {.verdict = NULL};
    dis_status status =
        m->args->o->n_covariates
            ? dis__fail(DIS_EUSAGE, "a saved state of comparisons cannot have covariates; fit all votes "
                                    "together, or leave them out")
            : fill(m, &x);
    if (status == DIS_OK) status = write_parts(m, &x, path);
    for (int k = 0; k < 4; k++) dis__free(x.vote[k]);
    for (int k = 0; k < 2; k++) dis__free(x.scaled[k]);
    dis__free(x.verdict);
    dis__free(x.reliability);
    dis__free(x.side);
    return status;
}

/* ---- reading ---- */

typedef struct {
    const char *path;
    dis__input input;
    dis__safetensors file;
    dis__tensor_check check;
    bool is_open, is_checked;
    const dis__tensor *part[TENSORS];
    dis_names *names[3]; /* things, tasks, workers */
    const dis__tie_model *ties;
    bool has_tie;
    size_t n_x, n;
    uint32_t *old_thing, *new_thing, *old_task, *new_task; /* their numbers among all */
} state;

static dis_status fail(const state *s, const char *reason)
{
    return dis__fail_at(DIS_EDATA, s->path, 0, 0, "%s; save the state again", reason);
}

static dis_status read_names(const state *s, const dis__tensor *t, dis_names **out)
{
    const char *text = t->data, *end = text + t->n;
    dis__name_list list = {0};
    dis_status status = t->n && !end[-1] ? DIS_OK : fail(s, "damaged names");
    while (status == DIS_OK && text < end) {
        const size_t n = strlen(text);
        status = dis__name_list_add(&list, text, n);
        text += n + 1;
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    return status;
}

static bool metadata_is(const state *s, const char *key, const char *text)
{
    const dis__json_value *value = dis__safetensors_metadata(&s->file, key);
    return value && dis__json_equals(value, text);
}

static dis_status open_state(dis_context *ctx, state *s)
{
    DIS_TRY(dis__input_open(ctx, s->path, &s->input));
    DIS_TRY(dis__safetensors_open(s->path, s->input.bytes, s->input.n, &s->file));
    s->is_open = true;
    if (!metadata_is(s, "format", FORMAT))
        return dis__fail_at(
            DIS_EDATA, s->path, 0, 0,
            "not a saved state of comparisons; save one that can grow, from votes of the scale pairwise");
    if (!metadata_is(s, "version", VERSION)) return fail(s, "a state of another version of dissent");
    DIS_TRY(dis__tensor_check_open(&s->file, s->path, &s->check));
    s->is_checked = true;
    DIS_TRY(dis__tensor_check_all(&s->check));
    for (size_t k = 0; k < TENSORS; k++) {
        const dis__tensor *t = s->part[k] = dis__safetensors_find(&s->file, row_of[k].name);
        if (!t || t->n_dims != 1 || strcmp(t->dtype->name, row_of[k].type) != 0) return fail(s, row_of[k].name);
    }
    for (size_t k = 0; k < 3; k++) DIS_TRY(read_names(s, s->part[THINGS + k], &s->names[k]));
    for (size_t i = 0; dis__tie_model_get(i); i++)
        if (metadata_is(s, "ties", dis__tie_model_get(i)->name)) s->ties = dis__tie_model_get(i);
    s->has_tie = metadata_is(s, "tie parameter", "1");
    s->n_x = metadata_is(s, "position", "1");
    s->n = s->part[VOTE_A]->n;
    const size_t n_parameters = dis_names_count(s->names[0]) + s->has_tie + s->n_x;
    bool fits = s->ties != NULL;
    for (int k = PLAIN_PARAMETER; k <= MODEL_SCALED; k++) fits = fits && s->part[k]->n == n_parameters;
    for (int k = VOTE_A; k <= VOTE_VERDICT; k++) fits = fits && s->part[k]->n == s->n;
    for (int k = RELIABILITY; k <= SIDE; k++) fits = fits && s->part[k]->n == dis_names_count(s->names[2]);
    return fits ? DIS_OK : fail(s, "the parts have inconsistent sizes");
}

static void close_state(state *s)
{
    for (size_t k = 0; k < 3; k++) dis_names_destroy(s->names[k]);
    if (s->is_checked) dis__tensor_check_close(&s->check);
    if (s->is_open) dis__safetensors_close(&s->file);
    dis__input_close(&s->input);
    dis__free(s->old_thing);
    dis__free(s->new_thing);
    dis__free(s->old_task);
    dis__free(s->new_task);
}

static uint32_t u32_at(const dis__tensor *t, size_t i)
{
    uint32_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

static double f64_at(const dis__tensor *t, size_t i)
{
    double x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

/* ---- joining ---- */

static int compare(const dis_names *a, size_t i, const dis_names *b, size_t j)
{
    size_t n, k;
    const char *x = dis_names_get(a, i, &n), *y = dis_names_get(b, j, &k);
    const int order = memcmp(x, y, n < k ? n : k);
    return order ? order : (n > k) - (n < k);
}

/* The union of two sorted lists, and the number there of each name. */
static dis_status merge_names(const dis_names *a, const dis_names *b, uint32_t **of_a, uint32_t **of_b, dis_scaled *out,
                              const dis_names **names)
{
    const size_t n = dis_names_count(a), k = dis_names_count(b);
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    DIS_TRY(dis__alloc_array(of_a, n, sizeof **of_a));
    DIS_TRY(dis__alloc_array(of_b, k, sizeof **of_b));
    for (size_t i = 0, j = 0; (i < n || j < k) && status == DIS_OK;) {
        const int order = i == n ? 1 : j == k ? -1 : compare(a, i, b, j);
        size_t length;
        const char *text = order <= 0 ? dis_names_get(a, i, &length) : dis_names_get(b, j, &length);
        if (order <= 0) (*of_a)[i++] = (uint32_t)list.n;
        if (order >= 0) (*of_b)[j++] = (uint32_t)list.n;
        status = dis__name_list_add(&list, text, length);
    }
    if (status == DIS_OK) status = dis__scaled_move_names(out, &list, names);
    dis__name_list_free(&list);
    return status;
}

/* Annotators of the state, then new ones; *of_new: the numbers of those of the votes. */
static dis_status append_workers(dis__pairs *m, const state *s, dis_scaled *out, uint32_t **of_new)
{
    const dis_names *old = s->names[2];
    dis__name_list list = {0};
    size_t *row;
    DIS_TRY(dis__alloc_array(of_new, m->n_workers, sizeof **of_new));
    DIS_TRY(dis__names_match_alloc(old, m->workers, &row, NULL));
    dis_status status = DIS_OK;
    for (size_t w = 0; w < dis_names_count(old) && status == DIS_OK; w++) {
        size_t n;
        const char *text = dis_names_get(old, w, &n);
        status = dis__name_list_add(&list, text, n);
    }
    for (size_t w = 0; w < m->n_workers && status == DIS_OK; w++) {
        size_t n;
        const char *text = dis_names_get(m->workers, w, &n);
        (*of_new)[w] = (uint32_t)(row[w] == SIZE_MAX ? list.n : row[w]);
        if (row[w] == SIZE_MAX) status = dis__name_list_add(&list, text, n);
    }
    dis__free(row);
    if (status == DIS_OK) status = dis__scaled_move_names(out, &list, &m->workers);
    dis__name_list_free(&list);
    return status;
}

/* All comparisons: those of the state, then the new ones. */
static dis_status join_comparisons(dis__pairs *m, const state *s, const uint32_t *of_worker, dis_scaled *out)
{
    const size_t n_things = dis_names_count(s->names[0]), n_tasks = dis_names_count(s->names[1]),
                 n_workers = dis_names_count(s->names[2]);
    dis__comparison *all;
    DIS_TRY(dis__scaled_allocate(out, &all, s->n + m->n, sizeof *all));
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t a = u32_at(s->part[VOTE_A], i), b = u32_at(s->part[VOTE_B], i),
                       task = u32_at(s->part[VOTE_TASK], i), worker = u32_at(s->part[VOTE_WORKER], i);
        const uint8_t verdict = ((const uint8_t *)s->part[VOTE_VERDICT]->data)[i];
        if (a >= n_things || b >= n_things || a == b || task >= n_tasks || worker >= n_workers ||
            verdict > DIS_PAIR_TIE)
            return fail(s, "damaged votes");
        all[i] = (dis__comparison){.task = s->old_task[task],
                                   .a = s->old_thing[a],
                                   .b = s->old_thing[b],
                                   .worker = worker,
                                   .verdict = verdict};
    }
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        all[s->n + i] = (dis__comparison){.item = 1, /* new, for now */
                                          .task = s->new_task[c->task],
                                          .a = s->new_thing[c->a],
                                          .b = s->new_thing[c->b],
                                          .worker = of_worker[c->worker],
                                          .verdict = c->verdict};
    }
    m->c = all;
    m->n += s->n;
    return dis__scaled_allocate(out, &m->spare, m->n, sizeof *m->spare);
}

/* Items, a task and two things in order, are numbered again; a second vote of an annotator on one is an error. */
static dis_status number_items(dis__pairs *m, const state *s)
{
    static const dis__pair_key keys[] = {DIS_BY_TASK, DIS_BY_A, DIS_BY_B, DIS_BY_WORKER};
    DIS_TRY(dis__pairs_sort(m, keys, sizeof keys / sizeof *keys));
    m->n_items = 0;
    bool was_new = false;
    for (size_t i = 0; i < m->n; i++) {
        dis__comparison *c = &m->c[i];
        const dis__comparison *p = i ? c - 1 : NULL;
        const bool same = p && p->task == c->task && p->a == c->a && p->b == c->b, is_new = c->item;
        if (same && p->worker == c->worker && is_new != was_new)
            return dis__fail(DIS_EDATA,
                             "annotator \"%.60s\" has compared \"%.60s\" and \"%.60s\" in %.200s already; append only "
                             "votes that are new",
                             dis_names_get(m->workers, c->worker, NULL), dis_names_get(m->things, c->a, NULL),
                             dis_names_get(m->things, c->b, NULL), s->path);
        m->n_items += !same;
        c->item = (uint32_t)(m->n_items - 1);
        was_new = is_new;
    }
    return DIS_OK;
}

/* Parameters of the state for all things; new things have a score of 0 and the mean of the scaled variances. */
static dis_status copy_fit(const dis__pairs *m, const state *s, int parameter, dis_scaled *out, dis__pair_saved *to)
{
    const size_t n_old = dis_names_count(s->names[0]), n_rest = s->has_tie + s->n_x, n = m->n_things + n_rest;
    double mean = 0;
    *to = (dis__pair_saved){.ties = s->ties, .has_tie = s->has_tie, .n_x = s->n_x};
    DIS_TRY(dis__scaled_allocate(out, &to->parameter, n, sizeof *to->parameter));
    DIS_TRY(dis__scaled_allocate(out, &to->scaled, n, sizeof *to->scaled));
    for (size_t k = 0; k < n_old; k++) mean += f64_at(s->part[parameter + 1], k) / (double)n_old;
    for (size_t k = 0; k < m->n_things; k++) to->scaled[k] = mean;
    for (size_t k = 0; k < n_old + n_rest; k++) {
        const size_t at = k < n_old ? s->old_thing[k] : m->n_things + k - n_old;
        to->parameter[at] = f64_at(s->part[parameter], k);
        to->scaled[at] = f64_at(s->part[parameter + 1], k);
        if (!isfinite(to->parameter[at]) || !(to->scaled[at] >= 0)) return fail(s, "damaged scores");
    }
    return DIS_OK;
}

static dis_status join(dis__pairs *m, state *s, dis__pair_start *start, dis_scaled *out)
{
    uint32_t *of_worker = NULL;
    DIS_TRY(merge_names(s->names[0], m->things, &s->old_thing, &s->new_thing, out, &m->things));
    DIS_TRY(merge_names(s->names[1], m->tasks, &s->old_task, &s->new_task, out, &m->tasks));
    dis_status status = append_workers(m, s, out, &of_worker);
    m->n_things = dis_names_count(m->things);
    m->n_tasks = dis_names_count(m->tasks);
    if (status == DIS_OK) status = join_comparisons(m, s, of_worker, out);
    dis__free(of_worker);
    DIS_TRY(status);
    m->n_workers = dis_names_count(m->workers);
    DIS_TRY(number_items(m, s));
    DIS_TRY(copy_fit(m, s, PLAIN_PARAMETER, out, &start->plain));
    DIS_TRY(copy_fit(m, s, MODEL_PARAMETER, out, &start->model));
    DIS_TRY(dis__scaled_allocate(out, &start->reliability, 2 * m->n_workers, sizeof *start->reliability));
    start->side = start->reliability + m->n_workers;
    for (size_t w = 0; w < m->n_workers; w++) {
        const bool known = w < dis_names_count(s->names[2]);
        start->reliability[w] = known ? f64_at(s->part[RELIABILITY], w) : (double)NAN;
        start->side[w] = known ? f64_at(s->part[SIDE], w) : (double)NAN;
    }
    return DIS_OK;
}

dis_status dis__pair_state_join(dis__pairs *m, const char *path, dis_scaled *out)
{
    state s = {.path = path};
    dis__pair_start *start;
    if (m->args->o->n_covariates)
        return dis__fail(DIS_EUSAGE, "covariates cannot be added to a saved state; fit all votes together");
    if (m->args->o->groups)
        return dis__fail(DIS_EUSAGE, "groups of annotators cannot be added to a saved state; fit all votes together");
    DIS_TRY(dis__scaled_allocate(out, &start, 1, sizeof *start));
    dis_status status = open_state(m->args->ctx, &s);
    if (status == DIS_OK) status = join(m, &s, start, out);
    status = dis__input_check(&s.input, status);
    if (status == DIS_OK)
        dis__scaled_add_note(out, "the votes are added to %zu comparisons of %zu things in the state", s.n,
                             dis_names_count(s.names[0]));
    close_state(&s);
    m->start = start;
    return status;
}
