/* State files: named parameters of fits.
 *
 * One safetensors file. "METHOD/PARAMETER" has the values as F64, with the shape of the parameter's axes (w worker, i
 * item, v class voted, t true class, g kind of items), which are in the metadata under the same key. "names/workers",
 * "names/classes" and, when a parameter has an axis i, "names/tasks" have the NUL-terminated names as U8, and
 * "names/workers/start" and so on their offsets (U64, one more than names). Of several fits of one method the first is
 * stored: a method looks up its start by its name. The file has checksums (io/tensors/checked_tensors.h).
 *
 * A later fit fills its parameters by name: workers, items and classes that are not in the state keep the method's
 * default start. Cost: O(names) to read; O(names + cells) for each parameter that is filled. With several ranks the
 * first one writes; it gathers the values and names of items. */
#include "labels/fit_state.h"
#include "core/parallel/comm.h"
#include "labels/method.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/text/utf8.h"
#include "dissent/version.h"
#include "io/input/input.h"
#include "io/output/output_file.h"
#include "io/tensors/checked_tensors.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STATE_FORMAT  "dissent-state"
#define STATE_VERSION "2"

enum { WORKERS, CLASSES, TASKS, LISTS };
static const char *const list_name[LISTS] = {"names/workers", "names/classes", "names/tasks"};
static const char *const list_start[LISTS] = {"names/workers/start", "names/classes/start", "names/tasks/start"};

enum { GROUPS = LISTS, AXES }; /* groups have indices, not names */

/* The list that an axis refers to, GROUPS; AXES: no such axis. */
static int list_of(char axis)
{
    return axis == 'w'                  ? WORKERS
           : axis == 'i'                ? TASKS
           : axis == 'v' || axis == 't' ? CLASSES
           : axis == 'g'                ? GROUPS
                                        : AXES;
}

struct dis_state {
    dis__input input; /* the tensors are in it */
    char *path;
    dis__safetensors file;
    dis_names *names[LISTS]; /* NULL: the file has no such list */
    dis__name_index index[LISTS];
};

/* ---- writing ---- */

typedef struct {
    dis__tensor *tensors; /* capacity for all parameters and lists */
    size_t n_tensors;
    const char *(*metadata)[2];
    size_t n_metadata;
    char *keys; /* "METHOD/PARAMETER" texts */
    size_t keys_used;
    void **gathered; /* number of items of all ranks; freed by the caller */
    size_t n_gathered;
    dis_names *tasks; /* of all ranks; NULL: not requested */
} plan;

static void add_starts(plan *p, int list, const dis_names *names)
{
    const size_t n = dis_names_count(names) + 1;
    p->tensors[p->n_tensors++] = (dis__tensor){.name = list_start[list],
                                               .dtype = dis__dtype_find("U64", 3),
                                               .n_dims = 1,
                                               .dim = {n},
                                               .n = n,
                                               .data = names->start};
}

static void add_bytes(plan *p, int list, const dis_names *names)
{
    const size_t n = (size_t)names->start[dis_names_count(names)];
    p->tensors[p->n_tensors++] = (dis__tensor){.name = list_name[list],
                                               .dtype = dis__dtype_find("U8", 2),
                                               .n_dims = 1,
                                               .dim = {n},
                                               .n = n,
                                               .data = names->bytes};
}

static dis_status add_parameter(plan *p, const char *method, const dis_parameter *parameter, const size_t n_names[AXES])
{
    char *key = p->keys + p->keys_used;
    p->keys_used += (size_t)sprintf(key, "%s/%s", method, parameter->name) + 1;
    dis__tensor t = {.name = key, .dtype = dis__dtype_find("F64", 3), .n = 1, .data = parameter->values};
    for (const char *a = parameter->axes; *a; a++) {
        const int list = list_of(*a);
        if (list == AXES || t.n_dims == DIS_TENSOR_DIMS)
            return dis__fail(DIS_EBUG, "%s has the axes %s", key, parameter->axes);
        t.dim[t.n_dims++] = n_names[list];
        t.n *= n_names[list];
    }
    if (t.n != parameter->n) return dis__fail(DIS_EUSAGE, "%s belongs to a fit to other votes", key);
    p->tensors[p->n_tensors++] = t;
    p->metadata[p->n_metadata][0] = key;
    p->metadata[p->n_metadata++][1] = parameter->axes;
    return DIS_OK;
}

/* Gathers a parameter of items over all ranks: complete on the first one. */
static dis_status gather_parameter(const dis__comm *comm, plan *p, size_t n_items, dis_parameter *parameter)
{
    size_t row = parameter->n && n_items ? parameter->n / n_items : 0, n;
    uint64_t widest = row;
    if (!dis__comm_is_parallel(comm) || parameter->axes[0] != 'i') return DIS_OK;
    DIS_TRY(dis__comm_broadcast(comm, &widest, sizeof widest, 0)); /* the first rank always has items */
    row = (size_t)widest * sizeof *parameter->values;
    DIS_TRY(dis__comm_gather_rows(comm, parameter->values, n_items, row, &p->gathered[p->n_gathered], &n));
    parameter->values = p->gathered[p->n_gathered++];
    parameter->n = n * (size_t)widest;
    return DIS_OK;
}

static bool was_before(const dis_fit *const *fits, size_t f)
{
    for (size_t i = 0; i < f; i++)
        if (fits[i]->method == fits[f]->method) return true;
    return false;
}

static dis_status make_plan(const dis__comm *comm, const dis_votes_view *votes, const dis_fit *const *fits,
                            size_t n_fits, plan *p)
{
    size_t n_parameters = 0, key_bytes = 0;
    for (size_t f = 0; f < n_fits; f++)
        for (size_t i = 0; i < fits[f]->n_parameters; i++, n_parameters++)
            key_bytes += strlen(fits[f]->method->info.name) + strlen(fits[f]->parameter[i].name) + 2;
    DIS_TRY(dis__alloc_array(&p->tensors, n_parameters + 2 * LISTS, sizeof *p->tensors));
    DIS_TRY(dis__alloc_array(&p->metadata, n_parameters + 3, sizeof *p->metadata));
    DIS_TRY(dis__alloc_array(&p->keys, key_bytes, 1));
    DIS_TRY(dis__alloc_array(&p->gathered, n_parameters, sizeof *p->gathered));
    p->metadata[0][0] = "format", p->metadata[0][1] = STATE_FORMAT;
    p->metadata[1][0] = "version", p->metadata[1][1] = STATE_VERSION;
    p->metadata[2][0] = "dissent", p->metadata[2][1] = DIS_VERSION;
    p->n_metadata = 3;
    bool items = false;
    for (size_t f = 0; f < n_fits; f++)
        for (size_t i = 0; i < fits[f]->n_parameters; i++) items |= strchr(fits[f]->parameter[i].axes, 'i') != NULL;
    if (items && dis__comm_is_parallel(comm)) DIS_TRY(dis__names_gather(comm, votes->tasks, &p->tasks));
    const size_t n_items = p->tasks ? dis_names_count(p->tasks) : votes->n_items;
    for (size_t f = 0; f < n_fits; f++) {
        if (was_before(fits, f)) continue;
        const size_t n_names[AXES] = {votes->n_workers, votes->n_classes, n_items, fits[f]->n_groups};
        for (size_t i = 0; i < fits[f]->n_parameters; i++) {
            dis_parameter parameter = fits[f]->parameter[i];
            DIS_TRY(gather_parameter(comm, p, votes->n_items, &parameter));
            DIS_TRY(add_parameter(p, fits[f]->method->info.name, &parameter, n_names));
        }
    }
    /* Wide types first keeps all arrays aligned, which some readers of safetensors require. */
    const dis_names *const names[LISTS] = {votes->workers, votes->classes, p->tasks ? p->tasks : votes->tasks};
    for (int list = 0; list < (items ? LISTS : TASKS); list++) add_starts(p, list, names[list]);
    for (int list = 0; list < (items ? LISTS : TASKS); list++) add_bytes(p, list, names[list]);
    return DIS_OK;
}

dis_status dis_state_write(dis_context *ctx, const dis_votes *votes, const dis_fit *const *fits, size_t n_fits,
                           const char *path)
{
    DIS_MEMORY_SCOPE(ctx);
    DIS_TRY(dis__check_stop(ctx));
    const dis_votes_view view = dis_votes_get_view(votes);
    const dis__comm *comm = dis__context_comm(ctx);
    plan p = {0};
    dis__out *out;
    dis_status status;
    DIS_TRY_GOTO(status, make_plan(comm, &view, fits, n_fits, &p), end);
    if (comm->rank > 0) goto end;
    DIS_TRY_GOTO(status, dis__out_open(path, &out), end);
    status = dis__checked_write(out, p.tensors, p.n_tensors, (const char *const(*)[2])p.metadata, p.n_metadata);
    status = dis__out_finish(out, status);
end:
    dis__free(p.tensors);
    dis__free(p.metadata);
    dis__free(p.keys);
    for (size_t i = 0; i < p.n_gathered; i++) dis__free(p.gathered[i]);
    dis__free(p.gathered);
    dis_names_destroy(p.tasks);
    return status;
}

/* ---- reading ---- */

static dis_status bad(const dis_state *s, const char *what, const char *reason)
{
    return dis__fail_at(DIS_EDATA, s->path, 0, 0, "%s: %s; save the state again", what, reason);
}

static bool is_flat(const dis__tensor *t, const char *dtype)
{
    return t && t->n_dims == 1 && strcmp(t->dtype->name, dtype) == 0;
}

/* A list of names, checked and copied; NULL if the file has none. */
static dis_status read_list(dis_state *s, int list)
{
    const dis__tensor *bytes = dis__safetensors_find(&s->file, list_name[list]);
    const dis__tensor *starts = dis__safetensors_find(&s->file, list_start[list]);
    if (!bytes && !starts) return DIS_OK;
    if (!is_flat(bytes, "U8") || !is_flat(starts, "U64") || starts->n == 0)
        return bad(s, list_name[list], "not a list of names");
    const size_t n = starts->n - 1;
    char *text = NULL;
    uint64_t *start = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&text, bytes->n, 1), fail);
    DIS_TRY_GOTO(status, dis__alloc_array(&start, n + 1, sizeof *start), fail);
    if (bytes->n) memcpy(text, bytes->data, bytes->n);
    memcpy(start, starts->data, (n + 1) * sizeof *start);
    bool good = start[0] == 0 && start[n] == bytes->n && dis__utf8_check(text, bytes->n) == bytes->n;
    for (size_t i = 0; i < n && good; i++)
        good = start[i] < start[i + 1] && start[i + 1] <= bytes->n &&
               memchr(text + start[i], 0, (size_t)(start[i + 1] - start[i])) == text + start[i + 1] - 1;
    if (!good) DIS_TRY_GOTO(status, bad(s, list_name[list], "names that do not fit together"), fail);
    DIS_TRY_GOTO(status, dis__names_from_buffers(text, start, n, &s->names[list]), fail);
    size_t twice;
    DIS_TRY(dis__name_index_build(s->names[list], &s->index[list], &twice));
    return twice == SIZE_MAX ? DIS_OK : bad(s, list_name[list], "a name that comes twice");
fail:
    dis__free(text);
    dis__free(start);
    return status;
}

/* A parameter: F64, with the shape of its axes, all values finite. */
static dis_status check_parameter(const dis_state *s, const dis__json_value *key, const dis__json_value *axes)
{
    char name[256];
    if (key->length >= sizeof name || axes->length > DIS_TENSOR_DIMS)
        return bad(s, "metadata", "a name or axes too long");
    memcpy(name, key->text, key->length);
    name[key->length] = 0;
    const dis__tensor *t = dis__safetensors_find(&s->file, name);
    if (!t || strcmp(t->dtype->name, "F64") != 0 || t->n_dims != axes->length)
        return bad(s, name, "not the table it should be");
    for (size_t d = 0; d < t->n_dims; d++) {
        const int list = list_of(axes->text[d]);
        if (list == GROUPS && t->dim[d] > 0) continue;
        if (list >= LISTS || !s->names[list] || t->dim[d] != dis_names_count(s->names[list]))
            return bad(s, name, "a shape that does not match the names");
    }
    for (size_t i = 0; i < t->n; i++) {
        double x;
        memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
        if (!isfinite(x)) return bad(s, name, "a number that is not finite");
    }
    return DIS_OK;
}

static dis_status verify(const dis_state *s)
{
    dis__tensor_check check;
    DIS_TRY(dis__tensor_check_open(&s->file, s->path, &check));
    const dis_status status = dis__tensor_check_all(&check);
    dis__tensor_check_close(&check);
    return status;
}

/* Checks the contents of the input. A state that a program builds in memory needs no checksums. */
static dis_status read_state(const char *path, bool in_memory, dis_state *s)
{
    DIS_TRY(dis__safetensors_open(s->path, s->input.bytes, s->input.n, &s->file));
    const dis__json_value *format = dis__safetensors_metadata(&s->file, "format");
    const dis__json_value *version = dis__safetensors_metadata(&s->file, "version");
    if (!format || !dis__json_equals(format, STATE_FORMAT))
        return dis__fail_at(DIS_EDATA, path, 0, 0, "a safetensors file, but not a state that dissent has saved");
    if (!version || !dis__json_equals(version, STATE_VERSION))
        return dis__fail_at(DIS_EDATA, path, 0, 0,
                            "a state of another version of dissent; save it again with this one");
    if (!in_memory) DIS_TRY(verify(s));
    for (int list = 0; list < LISTS; list++) DIS_TRY(read_list(s, list));
    const dis__json_value *m = s->file.metadata;
    for (const dis__json_value *key = m + 1; key < m + m->skip; key += 2)
        if (memchr(key->text, '/', key->length)) DIS_TRY(check_parameter(s, key, key + 1));
    return DIS_OK;
}

/* Copies the given bytes, otherwise those of the file, which may change later. */
static dis_status open_state(dis_context *ctx, const char *path, const char *bytes, size_t n, dis_state *s)
{
    dis__input file = dis__input_from_bytes(path, bytes, n);
    char *copy = NULL;
    DIS_TRY(dis__copy_text(&s->path, path, strlen(path)));
    if (!bytes) DIS_TRY(dis__input_open(ctx, s->path, &file));
    const dis_status status = dis__input_check(&file, dis__copy_text(&copy, file.bytes, file.n));
    s->input = (dis__input){.path = s->path, .bytes = copy, .n = file.n, .owned = copy};
    dis__input_close(&file);
    return status == DIS_OK ? read_state(path, bytes != NULL, s) : status;
}

static dis_status make_state(dis_context *ctx, const char *path, const char *bytes, size_t n, dis_state **out)
{
    dis_state *state;
    DIS_TRY(dis__alloc_zeroed(&state, 1, sizeof *state));
    const dis_status status = open_state(ctx, path, bytes, n, state);
    if (status != DIS_OK) {
        dis_state_destroy(state);
        return status;
    }
    *out = state;
    return DIS_OK;
}

dis_status dis_state_read(dis_context *ctx, const char *path, dis_state **out)
{
    return make_state(ctx, path, NULL, 0, out);
}

dis_status dis_state_parse(const void *bytes, size_t n, dis_state **out)
{
    return make_state(NULL, "state", bytes, n, out);
}

void dis_state_destroy(dis_state *state)
{
    if (!state) return;
    for (int list = 0; list < LISTS; list++) {
        dis__name_index_free(&state->index[list]);
        dis_names_destroy(state->names[list]);
    }
    dis__safetensors_close(&state->file);
    dis__input_close(&state->input);
    dis__free(state->path);
    dis__free(state);
}

/* ---- filling ---- */

/* map[i]: index in the state of name i of the votes; SIZE_MAX: absent. */
static dis_status make_map(const dis_state *s, int list, const dis_names *names, size_t **map)
{
    const size_t n = dis_names_count(names);
    DIS_TRY(dis__alloc_array(map, n, sizeof **map));
    dis__name_index_match(&s->index[list], names, *map);
    return DIS_OK;
}

typedef struct {
    const char *axes;
    size_t *map[LISTS];
    size_t n_here[AXES], n_target[AXES];
    const char *from;
} filling;

/* Copies all cells below one index of the axes so far; `to` and `at` are their offsets in destination and source. At
 * most DIS_TENSOR_DIMS levels. */
static void fill_axis(const filling *f, size_t axis, size_t at, double **to)
{
    if (!f->axes[axis]) {
        if (at != SIZE_MAX) memcpy(*to, f->from + at * sizeof **to, sizeof **to);
        ++*to;
        return;
    }
    const int list = list_of(f->axes[axis]);
    for (size_t i = 0; i < f->n_here[list]; i++) {
        const size_t target_index = list == GROUPS ? i : f->map[list][i];
        fill_axis(f, axis + 1,
                  at == SIZE_MAX || target_index == SIZE_MAX ? SIZE_MAX : at * f->n_target[list] + target_index, to);
    }
}

dis_status dis__state_get_groups(const dis_state *state, const char *method, const char *name, const char *axes,
                                 const dis_votes_view *votes, size_t n_groups, double *values, bool *found)
{
    char key[256];
    const int n = snprintf(key, sizeof key, "%s/%s", method, name);
    const dis__tensor *t = n > 0 && (size_t)n < sizeof key ? dis__safetensors_find(&state->file, key) : NULL;
    const dis__json_value *stored = t ? dis__safetensors_metadata(&state->file, key) : NULL;
    if (!stored) {
        *found = false;
        return DIS_OK;
    }
    if (!dis__json_equals(stored, axes)) return bad(state, key, "a table of another shape than this version has");
    const dis_names *const names[LISTS] = {votes->workers, votes->classes, votes->tasks};
    filling f = {.axes = axes, .from = t->data};
    dis_status status = DIS_OK;
    for (const char *a = axes; *a && status == DIS_OK; a++) {
        const int list = list_of(*a);
        if (list == GROUPS) {
            f.n_here[GROUPS] = n_groups;
            f.n_target[GROUPS] = t->dim[a - axes];
            if (n_groups != t->dim[a - axes])
                status = dis__fail_at(DIS_EDATA, state->path, 0, 0, "%s: it has %zu groups, not %zu; use groups=%zu",
                                      key, t->dim[a - axes], n_groups, t->dim[a - axes]);
            continue;
        }
        if (f.map[list]) continue;
        f.n_here[list] = dis_names_count(names[list]);
        f.n_target[list] = dis_names_count(state->names[list]);
        status = make_map(state, list, names[list], &f.map[list]);
    }
    if (status == DIS_OK) {
        double *to = values;
        fill_axis(&f, 0, 0, &to);
        *found = true;
    }
    for (int list = 0; list < LISTS; list++) dis__free(f.map[list]);
    return status;
}

dis_status dis__state_get(const dis_state *state, const char *method, const char *name, const char *axes,
                          const dis_votes_view *votes, double *values, bool *found)
{
    return dis__state_get_groups(state, method, name, axes, votes, 1, values, found);
}

/* The length of METHOD in a key METHOD/PARAMETER, 0: another key. */
static size_t method_length(const dis__json_value *key)
{
    const char *slash = memchr(key->text, '/', key->length);
    return slash ? (size_t)(slash - key->text) : 0;
}

bool dis__state_has_method(const dis_state *state, const char *method)
{
    const dis__json_value *m = state->file.metadata;
    for (const dis__json_value *key = m + 1; key < m + m->skip; key += 2)
        if (method_length(key) == strlen(method) && memcmp(key->text, method, strlen(method)) == 0) return true;
    return false;
}

void dis__state_describe_methods(const dis_state *state, char *out, size_t size)
{
    out[0] = 0;
    for (size_t i = 0; dis_method_get(i); i++) {
        const char *name = dis_method_get(i)->name;
        if (dis__state_has_method(state, name)) dis__text_list_append(out, size, name, strlen(name));
    }
    if (!out[0]) snprintf(out, size, "nothing");
}
