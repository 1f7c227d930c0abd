/* Parameters from named arrays: all rows are checked, then all are copied, or used where they lie if that lasts. One
 * pass over the numbers for finiteness, one for the copies, which change them to float on the way. Names are found by
 * walking lists: O(rows x arrays). */
#include "nn/load_weights.h"
#include "nn/net_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOME = 1024, MANY = 1 << 18, SHAPE = 96 };

/* Exponent and fraction where those of a float are, times 2^112, the difference of what the exponents are counted from:
 * exact, also of numbers below the normal ones. A loop of it has no branches. */
static float from_float16(uint16_t x)
{
    const uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13, endless = (x & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
    float out;
    memcpy(&out, &magnitude, sizeof out);
    out *= 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &out, sizeof bits);
    bits |= endless | (uint32_t)(x & 0x8000) << 16;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static float from_bfloat16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static void read_float64(const char *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++) {
        double exact;
        memcpy(&exact, from + i * sizeof exact, sizeof exact);
        to[i] = (float)exact;
    }
}

static void read_float32(const char *from, size_t n, float *to)
{
    memcpy(to, from, n * sizeof *to);
}

static void read_float16(const char *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        to[i] = from_float16(half);
    }
}

static void read_bfloat16(const char *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        to[i] = from_bfloat16(half);
    }
}

/* n values of an array from index `at` on; false: unknown type. */
static bool read_numbers(const dis__tensor *t, size_t at, size_t n, float *to)
{
    static const struct {
        const char *name;
        void (*read)(const char *from, size_t n, float *to);
    } types[] = {{"F32", read_float32}, {"F16", read_float16}, {"BF16", read_bfloat16}, {"F64", read_float64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(t->dtype->name, types[i].name) == 0) {
            types[i].read((const char *)t->data + at * t->dtype->size, n, to);
            return true;
        }
    return false;
}

static const dis__tensor *find_array(const dis__fill *fill, const char *name, size_t *file)
{
    for (*file = 0; *file < fill->n_files; ++*file) {
        const dis__tensor *t = dis__safetensors_find(&fill->file[*file], name);
        if (t) return t;
    }
    *file = 0;
    return NULL;
}

static const char *shape_text(size_t n_dims, const size_t *dim, char text[SHAPE])
{
    size_t at = 0;
    text[0] = 0;
    for (size_t d = 0; d < n_dims && at < SHAPE - 24; d++)
        at += (size_t)snprintf(text + at, SHAPE - at, "%s%zu", d ? " x " : "", dim[d]);
    return text;
}

/* Whether the array has the host's float format. */
static bool plain_floats(const dis__tensor *t)
{
    return strcmp(t->dtype->name, "F32") == 0 && (uintptr_t)t->data % _Alignof(float) == 0;
}

bool dis__all_finite(const float *x, size_t n)
{
    uint32_t bad = 0; /* values that are not finite have all bits of the exponent set */
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

/* The same of numbers of 16 bits whose exponent is `exponent`. */
static bool halves_finite(const char *from, size_t n, uint16_t exponent)
{
    unsigned bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        bad |= (half & exponent) == exponent;
    }
    return !bad;
}

static dis_status check_numbers(const dis__fill *fill, size_t file, const dis__tensor *t)
{
    const float *plain = plain_floats(t) ? t->data : NULL;
    float x[SOME];
    if (strcmp(t->dtype->name, "F16") == 0 && halves_finite(t->data, t->n, 0x7c00)) return DIS_OK;
    if (strcmp(t->dtype->name, "BF16") == 0 && halves_finite(t->data, t->n, 0x7f80)) return DIS_OK;
    for (size_t at = 0; at < t->n; at += SOME) {
        const size_t n = t->n - at < SOME ? t->n - at : SOME;
        if (!plain && !read_numbers(t, at, n, x))
            return dis__fail_at(DIS_EDATA, fill->path[file], 0, 0,
                                "%.*s is of type %s; F64, F32, F16 and BF16 can be read", (int)t->name_length, t->name,
                                t->dtype->name);
        if (!dis__all_finite(plain ? plain + at : x, n))
            return dis__fail_at(DIS_EDATA, fill->path[file], 0, 0, "%.*s has a number that is not finite",
                                (int)t->name_length, t->name);
    }
    return DIS_OK;
}

static dis_status check_row(const dis__net *net, const dis__fill *fill, const dis__fill_row *row, size_t *filled)
{
    size_t file;
    const size_t param = dis__net_find_param(net, row->param);
    const dis__tensor *t = find_array(fill, row->array, &file);
    if (param == SIZE_MAX) return dis__fail(DIS_EBUG, "the network has no parameter %s", row->param);
    const dis__param_info *info = dis__net_param(net, param);
    if (!t)
        return dis__fail_at(DIS_EDATA, fill->path[0], 0, 0, "no array %s, which %s begins with", row->array,
                            row->param);
    size_t dim[DIS_PARAM_DIMS];
    memcpy(dim, info->dim, sizeof dim);
    if (row->n) dim[0] = row->n;
    char have[SHAPE], wanted[SHAPE];
    if (t->n_dims != info->n_dims || memcmp(t->dim, dim, info->n_dims * sizeof *dim) != 0)
        return dis__fail_at(DIS_EDATA, fill->path[file], 0, 0, "%s is %s; %s %s %s", row->array,
                            shape_text(t->n_dims, t->dim, have), fill->by ? fill->by : row->param,
                            fill->by ? "asks for" : "needs", shape_text(info->n_dims, dim, wanted));
    if (row->first + dim[0] > info->dim[0]) return dis__fail(DIS_EBUG, "%s: rows are out of range", row->param);
    filled[param] += t->n;
    return check_numbers(fill, file, t);
}

static bool is_ignored(const dis__fill *fill, const dis__tensor *t)
{
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)t->name_length, t->name);
    for (const char *const *i = fill->ignored; i && *i; i++)
        if (strstr(name, *i)) return true;
    for (size_t r = 0; r < fill->n_rows; r++)
        if (strcmp(fill->rows[r].array, name) == 0) return true;
    return false;
}

static dis_status check_all(const dis__net *net, const dis__fill *fill, size_t *filled)
{
    for (size_t r = 0; r < fill->n_rows; r++) DIS_TRY(check_row(net, fill, &fill->rows[r], filled));
    for (size_t p = 0; p < dis__net_n_params(net); p++) {
        const dis__param_info *info = dis__net_param(net, p);
        if (filled[p] == info->n) continue;
        if (filled[p] == 0 && fill->fresh && strncmp(info->name, fill->fresh, strlen(fill->fresh)) == 0) continue;
        if (filled[p] == 0 && fill->only && strncmp(info->name, fill->only, strlen(fill->only)) != 0) continue;
        return dis__fail_at(DIS_EDATA, fill->path[0], 0, 0, "no array for %s%s", filled[p] ? "all of " : "",
                            info->name);
    }
    for (size_t f = 0; f < fill->n_files; f++)
        for (size_t i = 0; i < fill->file[f].n_tensors; i++)
            if (!is_ignored(fill, &fill->file[f].tensors[i]))
                return dis__fail_at(DIS_EDATA, fill->path[f], 0, 0, "the network has no array %.*s",
                                    (int)fill->file[f].tensors[i].name_length, fill->file[f].tensors[i].name);
    return DIS_OK;
}

/* room (MANY): few copies, since each copy to a device costs microseconds. */
static dis_status copy_row(dis__net *net, const dis__fill *fill, const dis__fill_row *row, float *room)
{
    size_t file;
    const dis__tensor *t = find_array(fill, row->array, &file);
    dis__param *p = &net->params[dis__net_find_param(net, row->param)];
    const size_t param = (size_t)(p - net->params);
    if (fill->lasting && plain_floats(t))
        return row->n ? dis__param_use_rows(net, param, row->first, row->n, t->data)
                      : dis__param_use(net, param, t->data);
    DIS_TRY(dis__param_copy_in(net, p));
    const size_t first = row->first * (p->info.n / (p->info.dim[0] ? p->info.dim[0] : 1));
    char *to = dis__param_at(net, net->param_arena, p->at + first);
    for (size_t at = 0; at < t->n; at += MANY) {
        const size_t n = t->n - at < MANY ? t->n - at : MANY;
        read_numbers(t, at, n, room);
        DIS_TRY(dis__put_floats(net, DIS_ROLE_PARAM, dis__param_at(net, to, at), room, n));
    }
    return DIS_OK;
}

dis_status dis__net_fill(dis__net *net, const dis__fill *fill)
{
    size_t *filled;
    float *room = NULL;
    DIS_TRY(dis__alloc_zeroed(&filled, dis__net_n_params(net), sizeof *filled));
    dis_status status = check_all(net, fill, filled);
    dis__free(filled);
    if (status == DIS_OK) status = dis__alloc_array(&room, MANY, sizeof *room);
    net->prepared = false;
    for (size_t r = 0; r < fill->n_rows && status == DIS_OK; r++) status = copy_row(net, fill, &fill->rows[r], room);
    dis__free(room);
    return status;
}
