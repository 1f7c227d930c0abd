/* The safetensors format (github.com/huggingface/safetensors): u64 length, JSON {"name": {"dtype", "shape",
 * "data_offsets"}}, the values. Tensors are not copied: they point into the file. Cost: O(header) and O(n log n) for n
 * tensors; the values are not read. */
#include "io/tensors/safetensors.h"
#include "core/memory/memory.h"
#include "io/output/format_fields.h"
#include <stdlib.h>
#include <string.h>

static const dis__dtype dtypes[] = {
    {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},     {"I32", 4},     {"I16", 2},  {"I8", 1},
    {"U64", 8}, {"U32", 4}, {"U16", 2}, {"U8", 1},   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1},
};

const dis__dtype *dis__dtype_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strlen(dtypes[i].name) == length && memcmp(dtypes[i].name, name, length) == 0) return &dtypes[i];
    return NULL;
}

/* An integer that a double represents exactly. */
static bool as_size(const dis__json_value *v, size_t *out)
{
    if (v->kind != DIS_JSON_NUMBER || v->length > 16) return false;
    size_t x = 0;
    for (uint32_t i = 0; i < v->length; i++) {
        if (v->text[i] < '0' || v->text[i] > '9') return false;
        x = x * 10 + (size_t)(v->text[i] - '0');
    }
    *out = x;
    return true;
}

static dis_status read_shape(const dis__json *json, const dis__json_value *shape, dis__tensor *t)
{
    if (!shape || shape->kind != DIS_JSON_ARRAY)
        return dis__json_fail(json, shape ? shape : json->values, "a tensor without its shape");
    if (shape->n > DIS_TENSOR_DIMS) return dis__json_fail(json, shape, "more than %d dimensions", DIS_TENSOR_DIMS);
    t->n_dims = shape->n;
    t->n = 1;
    size_t max = t->dtype->size; /* a dimension of 0 must not hide an overflow of the others */
    for (size_t d = 0; d < t->n_dims; d++) {
        if (!as_size(shape + 1 + d, &t->dim[d])) return dis__json_fail(json, shape, "a dimension is not an integer");
        if (__builtin_mul_overflow(max, t->dim[d] ? t->dim[d] : 1, &max))
            return dis__json_fail(json, shape, "a shape too large for any file");
        t->n *= t->dim[d];
    }
    return DIS_OK;
}

/* The tensor `name`: {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}, whose values are within n bytes. */
static dis_status read_tensor(const dis__json *json, const dis__json_value *name, const char *bytes, size_t n,
                              dis__tensor *t)
{
    const dis__json_value *v = name + 1;
    const dis__json_value *dtype = dis__json_member(v, "dtype"), *offsets = dis__json_member(v, "data_offsets");
    if (v->kind != DIS_JSON_OBJECT || v->n != 3 || !dtype || !offsets)
        return dis__json_fail(json, v, "a tensor needs dtype, shape and data_offsets");
    *t = (dis__tensor){.name = name->text, .name_length = name->length};
    t->dtype = dtype->kind == DIS_JSON_STRING ? dis__dtype_find(dtype->text, dtype->length) : NULL;
    if (!t->dtype) return dis__json_fail(json, dtype, "unknown dtype");
    DIS_TRY(read_shape(json, dis__json_member(v, "shape"), t));
    size_t begin, end;
    if (offsets->kind != DIS_JSON_ARRAY || offsets->n != 2 || !as_size(offsets + 1, &begin) ||
        !as_size(offsets + 2, &end))
        return dis__json_fail(json, offsets, "data_offsets must be two integers");
    if (begin > end || end > n)
        return dis__json_fail(
            json, offsets,
            "data_offsets beyond the file, which has %zu bytes of values: it is truncated; download it again", n);
    if (end - begin != t->n * t->dtype->size)
        return dis__json_fail(json, offsets, "%zu bytes for a shape that takes %zu", end - begin,
                              t->n * t->dtype->size);
    t->data = bytes + begin;
    return DIS_OK;
}

static size_t n_bytes_of(const dis__tensor *t)
{
    return t->n * t->dtype->size;
}

/* By offset; empty tensors before the one that begins at the same offset. */
static bool later(const dis__tensor *a, const dis__tensor *b)
{
    if (a->data != b->data) return (uintptr_t)a->data > (uintptr_t)b->data;
    return n_bytes_of(a) > n_bytes_of(b);
}

static void sift_down(dis__tensor *heap, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && later(&heap[child + 1], &heap[child])) child++;
        if (!later(&heap[child], &heap[i])) return;
        const dis__tensor swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

static void sort_by_place(dis__tensor *tensors, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(tensors, i, n);
    for (size_t i = n; i-- > 1;) {
        const dis__tensor swap = tensors[0];
        tensors[0] = tensors[i];
        tensors[i] = swap;
        sift_down(tensors, 0, i);
    }
}

static dis_status read_header(const dis__json *json, const dis__json_value *root, const char *bytes, size_t n,
                              dis__safetensors *out)
{
    if (root->kind != DIS_JSON_OBJECT) return dis__json_fail(json, root, "the header is not a JSON object");
    DIS_TRY(dis__alloc_array(&out->tensors, root->n, sizeof *out->tensors));
    const dis__json_value *v = root + 1;
    for (uint32_t i = 0; i < root->n; i++, v += 1 + v[1].skip) {
        if (dis__json_equals(v, "__metadata__")) {
            out->metadata = v + 1;
            if (v[1].kind != DIS_JSON_OBJECT) return dis__json_fail(json, v + 1, "__metadata__ is not an object");
            for (uint32_t m = 0; m < 2 * v[1].n; m++)
                if (v[2 + m].kind != DIS_JSON_STRING)
                    return dis__json_fail(json, v + 2 + m, "__metadata__ contains values other than texts");
        } else {
            DIS_TRY(read_tensor(json, v, bytes, n, &out->tensors[out->n_tensors++]));
        }
    }
    sort_by_place(out->tensors, out->n_tensors);
    const char *at = bytes;
    for (size_t i = 0; i < out->n_tensors; i++) {
        const dis__tensor *t = &out->tensors[i];
        if (t->data != at)
            return dis__fail_at(DIS_EDATA, json->position.file, 0, 0, "the tensor \"%.*s\" %s the one before it",
                                (int)(t->name_length < 200 ? t->name_length : 200), t->name,
                                (const char *)t->data < at ? "overlaps" : "does not follow");
        at += n_bytes_of(t);
    }
    if (at != bytes + n)
        return dis__fail_at(DIS_EDATA, json->position.file, 0, 0, "%zu bytes at the end that belong to no tensor",
                            (size_t)(bytes + n - at));
    return DIS_OK;
}

dis_status dis__safetensors_open(const char *file, const void *bytes, size_t n_bytes, dis__safetensors *out)
{
    const unsigned char *b = bytes;
    /* A length may begin with the same two bytes; after it comes the header. */
    const bool has_length = n_bytes > 8 && memcmp(b + 4, "\0\0\0\0{", 5) == 0;
    if (!has_length && n_bytes >= 2 && (memcmp(b, "PK", 2) == 0 || (b[0] == 0x80 && b[1] >= 2 && b[1] <= 5)))
        return dis__fail_at(DIS_EDATA, file, 0, 0,
                            "a PyTorch file or a pickle, which can run code when it is read: dissent never does; "
                            "in Python, convert it with safetensors.torch.save_file");
    if (n_bytes < 8) return dis__fail_at(DIS_EDATA, file, 0, 0, "not a safetensors file: %zu bytes", n_bytes);
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--) length = length << 8 | b[i];
    if (length > DIS_SAFETENSORS_HEADER || length > n_bytes - 8)
        return dis__fail_at(DIS_EDATA, file, 0, 0,
                            "not a safetensors file, or one that is truncated: a header of %llu bytes in a file of %zu",
                            (unsigned long long)length, n_bytes);
    dis__safetensors opened = {0};
    const char *header = (const char *)b + 8, *numbers = header + length;
    const dis__json_position position = {.file = file, .offset = 8};
    const dis__json_value *root;
    dis_status status = dis__json_parse(&opened.json, header, (size_t)length, &position, &root);
    if (status == DIS_OK) status = read_header(&opened.json, root, numbers, n_bytes - 8 - (size_t)length, &opened);
    if (status != DIS_OK) {
        dis__safetensors_close(&opened);
        return status;
    }
    *out = opened;
    return DIS_OK;
}

void dis__safetensors_close(dis__safetensors *file)
{
    dis__json_free(&file->json);
    dis__free(file->tensors);
    *file = (dis__safetensors){0};
}

const dis__tensor *dis__safetensors_find(const dis__safetensors *file, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < file->n_tensors; i++)
        if (file->tensors[i].name_length == n && memcmp(file->tensors[i].name, name, n) == 0) return &file->tensors[i];
    return NULL;
}

const dis__json_value *dis__safetensors_metadata(const dis__safetensors *file, const char *key)
{
    return file->metadata ? dis__json_member(file->metadata, key) : NULL;
}

/* ---- writing ---- */

typedef struct {
    char *bytes;
    size_t used, capacity;
} text;

static dis_status put(text *t, const char *bytes)
{
    const size_t n = strlen(bytes);
    DIS_TRY(dis__reserve(&t->bytes, &t->capacity, t->used, dis__saturating_size(n, 1, t->used), 1));
    memcpy(t->bytes + t->used, bytes, n);
    t->used += n;
    return DIS_OK;
}

static dis_status put_string(text *t, const char *bytes)
{
    const size_t n = strlen(bytes);
    DIS_TRY(dis__reserve(&t->bytes, &t->capacity, t->used, dis__saturating_size(n, 6, t->used + 2), 1));
    t->used = (size_t)(dis__format_json_string(t->bytes + t->used, bytes, n) - t->bytes);
    return DIS_OK;
}

static dis_status put_size(text *t, size_t x)
{
    char digits[21];
    *dis__format_count(digits, x) = 0;
    return put(t, digits);
}

static dis_status put_header(text *t, const dis__tensor *tensors, size_t n_tensors, const char *const (*metadata)[2],
                             size_t n_metadata)
{
    DIS_TRY(put(t, "{"));
    for (size_t i = 0; i < n_metadata; i++) {
        DIS_TRY(put(t, i ? "," : "\"__metadata__\":{"));
        DIS_TRY(put_string(t, metadata[i][0]));
        DIS_TRY(put(t, ":"));
        DIS_TRY(put_string(t, metadata[i][1]));
    }
    if (n_metadata) DIS_TRY(put(t, "}"));
    size_t at = 0;
    for (size_t i = 0; i < n_tensors; i++) {
        const dis__tensor *s = &tensors[i];
        if (i || n_metadata) DIS_TRY(put(t, ","));
        DIS_TRY(put_string(t, s->name));
        DIS_TRY(put(t, ":{\"dtype\":"));
        DIS_TRY(put_string(t, s->dtype->name));
        DIS_TRY(put(t, ",\"shape\":["));
        for (size_t d = 0; d < s->n_dims; d++) {
            if (d) DIS_TRY(put(t, ","));
            DIS_TRY(put_size(t, s->dim[d]));
        }
        DIS_TRY(put(t, "],\"data_offsets\":["));
        DIS_TRY(put_size(t, at));
        DIS_TRY(put(t, ","));
        at += n_bytes_of(s);
        DIS_TRY(put_size(t, at));
        DIS_TRY(put(t, "]}"));
    }
    DIS_TRY(put(t, "}"));
    while (t->used % 8) DIS_TRY(put(t, " ")); /* aligns the values */
    if (t->used > DIS_SAFETENSORS_HEADER) return dis__fail(DIS_ELIMIT, "a safetensors header of %zu bytes", t->used);
    return DIS_OK;
}

/* In pieces, so that tensors on a device need no full copy in host memory. */
static dis_status write_fetched(dis__out *out, const dis__tensor *t, dis__tensor_fetch *fetch, void *arg)
{
    enum { PIECE = 1 << 18 };
    const size_t bytes = n_bytes_of(t);
    char *room;
    DIS_TRY(dis__alloc_array(&room, bytes < PIECE ? bytes : PIECE, 1));
    dis_status status = DIS_OK;
    for (size_t at = 0; at < bytes && status == DIS_OK; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        status = fetch(arg, t, at, n, room);
        if (status == DIS_OK) status = dis__out_write(out, room, n);
    }
    dis__free(room);
    return status;
}

dis_status dis__safetensors_write(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                                  const char *const (*metadata)[2], size_t n_metadata)
{
    return dis__safetensors_write_fetched(out, tensors, n_tensors, metadata, n_metadata, NULL, NULL);
}

dis_status dis__safetensors_write_fetched(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                                          const char *const (*metadata)[2], size_t n_metadata, dis__tensor_fetch *fetch,
                                          void *arg)
{
    text header = {0};
    dis_status status = put_header(&header, tensors, n_tensors, metadata, n_metadata);
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)header.used >> (8 * i));
    if (status == DIS_OK) status = dis__out_write(out, length, sizeof length);
    if (status == DIS_OK) status = dis__out_write(out, header.bytes, header.used);
    for (size_t i = 0; i < n_tensors && status == DIS_OK; i++)
        status = fetch ? write_fetched(out, &tensors[i], fetch, arg)
                       : dis__out_write(out, tensors[i].data, n_bytes_of(&tensors[i]));
    dis__free(header.bytes);
    return status;
}
