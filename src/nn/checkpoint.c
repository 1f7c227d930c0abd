/* Checkpoints: one safetensors file. Parameters are stored under their names, optimiser state number s of a parameter
 * under "state.s/NAME". The metadata has format, version, seed, steps, pass, the caller's entries, and "checksum": the
 * SHA-256 of every other metadata text and of every tensor's name, shape and bytes, in the order of the file. A
 * truncated file, or one with a changed bit, fails with an error before the network is changed. Cost: one pass over the
 * bytes for the checksum, one for the disk. */
#include "core/text/sha256.h"
#include "dissent/version.h"
#include "io/input/input.h"
#include "io/tensors/safetensors.h"
#include "nn/net_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NET_FORMAT  "dissent-net"
#define NET_VERSION "1"

enum { OWN_KEYS = 7, KEY = DIS_NET_NAME + 24, MAX_STATES = 2 };

static void hash_text(dis__sha256 *sha, const char *text, size_t n)
{
    const uint64_t length = n;
    dis__sha256_update(sha, &length, sizeof length);
    dis__sha256_update(sha, text, n);
}

static void hash_shape(dis__sha256 *sha, const dis__tensor *t)
{
    hash_text(sha, t->name, t->name_length);
    for (size_t d = 0; d < t->n_dims; d++) {
        const uint64_t dim = t->dim[d];
        dis__sha256_update(sha, &dim, sizeof dim);
    }
}

static void hash_tensor(dis__sha256 *sha, const dis__tensor *t)
{
    hash_shape(sha, t);
    dis__sha256_update(sha, t->data, t->n * t->dtype->size);
}

static const char *type_name(const dis__net *net)
{
    return dis__number_name(net->device->number[DIS_ROLE_PARAM]);
}

/* ---- writing ---- */

static dis_status fetch(void *arg, const dis__tensor *t, size_t at, size_t n, void *to)
{
    const dis__net *net = arg;
    return net->device->copy_out(net->session, to, (const char *)t->data + at, n);
}

static dis_status hash_fetched(const dis__net *net, dis__sha256 *sha, const dis__tensor *t)
{
    enum { PIECE = 1 << 14 };
    const size_t bytes = t->n * t->dtype->size;
    char room[PIECE];
    hash_shape(sha, t);
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        DIS_TRY(fetch((void *)net, t, at, n, room));
        dis__sha256_update(sha, room, n);
    }
    return DIS_OK;
}

typedef struct {
    dis__tensor *tensors;
    size_t n_tensors;
    char (*names)[KEY];
    const char *(*metadata)[2];
    size_t n_metadata;
} parts;

/* Its data is device memory. */
static void add_tensor(parts *p, const dis__net *net, const dis__param *param, const char *arena, int state)
{
    char *name = p->names[p->n_tensors];
    if (state < 0)
        snprintf(name, KEY, "%s", param->info.name);
    else
        snprintf(name, KEY, "state.%d/%s", state, param->info.name);
    dis__tensor *t = &p->tensors[p->n_tensors++];
    *t = (dis__tensor){.name = name,
                       .name_length = strlen(name),
                       .dtype = dis__dtype_find(type_name(net), strlen(type_name(net))),
                       .n_dims = param->info.n_dims,
                       .n = param->info.n,
                       .data = state < 0 ? dis__param_place(net, param) : dis__param_at(net, arena, param->at)};
    memcpy(t->dim, param->info.dim, sizeof param->info.dim);
}

static char *state_of(const dis__net *net, int state)
{
    return dis__param_at(net, net->state_arena, (size_t)state * net->n_trained);
}

static void add_text(parts *p, const char *key, const char *value)
{
    p->metadata[p->n_metadata][0] = key;
    p->metadata[p->n_metadata++][1] = value;
}

dis_status dis__net_save(const dis__net *net, const char *path, bool with_state, const char *const (*extra)[2],
                         size_t n_extra)
{
    if (!net->training_plan) return dis__fail(DIS_EBUG, "a network that is never trained has no checkpoint");
    const int n_states = with_state && net->state_arena ? net->n_states : 0;
    const size_t max = dis__saturating_size(net->n_params, 1 + MAX_STATES, 0);
    char seed[24], steps[24], pass[24], checksum[65];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)net->seed);
    snprintf(steps, sizeof steps, "%llu", (unsigned long long)net->steps);
    snprintf(pass, sizeof pass, "%llu", (unsigned long long)net->pass);
    parts p = {0};
    dis__out *out;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&p.tensors, max, sizeof *p.tensors), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&p.names, max, sizeof *p.names), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&p.metadata, dis__saturating_size(n_extra, 1, OWN_KEYS), sizeof *p.metadata),
                 end);
    for (size_t i = 0; i < net->n_params; i++) add_tensor(&p, net, &net->params[i], net->param_arena, -1);
    for (int s = 0; s < n_states; s++)
        for (size_t i = 0; i < net->n_params; i++)
            if (net->params[i].info.trained) add_tensor(&p, net, &net->params[i], state_of(net, s), s);
    add_text(&p, "format", NET_FORMAT);
    add_text(&p, "version", NET_VERSION);
    add_text(&p, "dissent", DIS_VERSION);
    add_text(&p, "seed", seed);
    add_text(&p, "steps", steps);
    add_text(&p, "pass", pass);
    for (size_t i = 0; i < n_extra; i++) add_text(&p, extra[i][0], extra[i][1]);
    dis__sha256 sha;
    dis__sha256_init(&sha);
    for (size_t i = 0; i < p.n_metadata; i++)
        for (int j = 0; j < 2; j++) hash_text(&sha, p.metadata[i][j], strlen(p.metadata[i][j]));
    for (size_t i = 0; i < p.n_tensors; i++) DIS_TRY_GOTO(status, hash_fetched(net, &sha, &p.tensors[i]), end);
    dis__sha256_hex(&sha, checksum);
    add_text(&p, "checksum", checksum);
    DIS_TRY_GOTO(status, dis__out_open(path, &out), end);
    status = dis__safetensors_write_fetched(out, p.tensors, p.n_tensors, (const char *const(*)[2])p.metadata,
                                            p.n_metadata, fetch, (void *)net);
    status = dis__out_finish(out, status);
end:
    dis__free(p.tensors);
    dis__free(p.names);
    dis__free(p.metadata);
    return status;
}

/* ---- reading ---- */

static dis_status bad(const char *path, const char *reason)
{
    return dis__fail_at(DIS_EDATA, path, 0, 0, "%s", reason);
}

/* Releases pages of the file, because a checkpoint is three times as large as its parameters. */
static void pass_tensor(const dis__input *in, const dis__tensor *t, const char **passed)
{
    dis__input_release_pages(in, (const char *)t->data + t->n * t->dtype->size, passed);
}

static dis_status check_sum(const dis__input *in, const dis__safetensors *file)
{
    const char *const path = in->path;
    const dis__json_value *format = dis__safetensors_metadata(file, "format"), *m = file->metadata;
    const dis__json_value *version = dis__safetensors_metadata(file, "version");
    const dis__json_value *wanted = dis__safetensors_metadata(file, "checksum");
    if (!format || !dis__json_equals(format, NET_FORMAT) || !wanted)
        return bad(path, "a safetensors file, but not a network that dissent has saved");
    if (!version || !dis__json_equals(version, NET_VERSION))
        return bad(path, "a network of another version of dissent; train it again with this one");
    dis__sha256 sha;
    dis__sha256_init(&sha);
    for (const dis__json_value *key = m + 1; key < m + m->skip; key += 2) {
        if (dis__json_equals(key, "checksum")) continue;
        hash_text(&sha, key->text, key->length);
        hash_text(&sha, key[1].text, key[1].length);
    }
    const char *passed = NULL;
    for (size_t i = 0; i < file->n_tensors; i++) {
        hash_tensor(&sha, &file->tensors[i]);
        pass_tensor(in, &file->tensors[i], &passed);
    }
    char hex[65];
    dis__sha256_hex(&sha, hex);
    return dis__json_equals(wanted, hex)
               ? DIS_OK
               : bad(path, "its checksum is wrong: the file was damaged after it was written");
}

static dis_status number_of(const char *path, const dis__safetensors *file, const char *key, uint64_t *out)
{
    const dis__json_value *v = dis__safetensors_metadata(file, key);
    uint64_t x = 0;
    if (!v || v->length == 0 || v->length > 20) return bad(path, "a network without its seed, steps or pass");
    for (uint32_t i = 0; i < v->length; i++) {
        const unsigned digit = (unsigned)(v->text[i] - '0');
        if (digit > 9 || x > (UINT64_MAX - digit) / 10) return bad(path, "a network without its seed, steps or pass");
        x = x * 10 + digit;
    }
    *out = x;
    return DIS_OK;
}

/* The tensor of a parameter, of the same type and shape, with finite values. */
static dis_status find_tensor(const dis__net *net, const char *path, const dis__safetensors *file, const char *name,
                              const dis__param *param, const dis__tensor **out)
{
    const dis__tensor *t = dis__safetensors_find(file, name);
    bool good = t && t->n_dims == param->info.n_dims && strcmp(t->dtype->name, type_name(net)) == 0;
    for (size_t d = 0; good && d < t->n_dims; d++) good = t->dim[d] == param->info.dim[d];
    if (!good)
        return dis__fail_at(DIS_EDATA, path, 0, 0, "a checkpoint of another network: %s is %s", name,
                            t ? "of another shape" : "missing");
    for (size_t i = 0; i < t->n; i++) {
        float f;
        double x;
        const char *at = (const char *)t->data + i * t->dtype->size;
        if (t->dtype->size == sizeof f)
            memcpy(&f, at, sizeof f), x = (double)f;
        else
            memcpy(&x, at, sizeof x);
        if (!isfinite(x)) return dis__fail_at(DIS_EDATA, path, 0, 0, "%s has a number that is not finite", name);
    }
    *out = t;
    return DIS_OK;
}

/* First all parameters are found, then all are copied: `fill` selects the pass. */
static dis_status each_tensor(dis__net *net, const dis__input *in, const dis__safetensors *file, int n_states,
                              bool fill)
{
    const char *passed = NULL;
    for (int s = -1; s < n_states; s++)
        for (size_t i = 0; i < net->n_params; i++) {
            const dis__param *p = &net->params[i];
            if (s >= 0 && !p->info.trained) continue;
            char name[KEY];
            if (s < 0)
                snprintf(name, KEY, "%s", p->info.name);
            else
                snprintf(name, KEY, "state.%d/%s", s, p->info.name);
            const dis__tensor *t = NULL;
            if (!fill) {
                DIS_TRY(find_tensor(net, in->path, file, name, p, &t));
                pass_tensor(in, t, &passed);
                continue;
            }
            t = dis__safetensors_find(file, name);
            if (s < 0) net->params[i].n_host_parts = 0;
            void *to = dis__param_at(net, s < 0 ? net->param_arena : state_of(net, s), p->at);
            if (!t) continue;
            DIS_TRY(dis__copy_in(net, to, t->data, t->n * t->dtype->size));
            pass_tensor(in, t, &passed);
        }
    return DIS_OK;
}

static bool has_state(const dis__safetensors *file)
{
    for (size_t i = 0; i < file->n_tensors; i++)
        if (file->tensors[i].name_length > 6 && memcmp(file->tensors[i].name, "state.", 6) == 0) return true;
    return false;
}

dis_status dis__net_load(dis__net *net, dis_context *ctx, const char *path)
{
    dis__input input;
    dis__safetensors file;
    DIS_TRY(dis__input_open_regular(ctx, path, SIZE_MAX / 2, &input));
    dis_status status = dis__safetensors_open(path, input.bytes, input.n, &file);
    if (status != DIS_OK) return dis__input_finish(&input, status);
    uint64_t seed, steps, pass;
    DIS_TRY_GOTO(status, check_sum(&input, &file), end);
    DIS_TRY_GOTO(status, number_of(path, &file, "seed", &seed), end);
    DIS_TRY_GOTO(status, number_of(path, &file, "steps", &steps), end);
    DIS_TRY_GOTO(status, number_of(path, &file, "pass", &pass), end);
    const int n_states = net->state_arena && has_state(&file) ? net->n_states : 0;
    DIS_TRY_GOTO(status, each_tensor(net, &input, &file, n_states, false), end);
    DIS_TRY_GOTO(status, each_tensor(net, &input, &file, n_states, true), end);
    net->seed = seed;
    net->steps = steps;
    net->pass = pass;
    net->prepared = false;
end:
    dis__safetensors_close(&file);
    return dis__input_finish(&input, status);
}
