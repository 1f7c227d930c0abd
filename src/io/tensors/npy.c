/* NumPy's file format (numpy.lib.format, versions 1.0 to 3.0): a magic, a length, a Python dictionary as text
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (800, 2), }
 *
 * followed by the values. The dictionary is read by a parser for exactly its three keys, in any order; no code is
 * evaluated. Cost: O(header) to open, one pass to convert. */
#include "io/tensors/npy.h"
#include <stdio.h>
#include <string.h>

enum { MAGIC = 6, MAX_HEADER = 1 << 20 };

typedef struct {
    const char *file;
    const char *start, *at, *end; /* of the whole file; of the dictionary */
} reader;

static dis_status fail(const reader *r, const char *reason)
{
    return dis__fail_at(DIS_EDATA, r->file, 0, 0, "%s (byte %zu)", reason, (size_t)(r->at - r->start));
}

/* Other formats that users pass instead of an npy file, by their first bytes. */
static dis_status refuse_other(const reader *r, size_t n)
{
    const unsigned char *b = (const unsigned char *)r->start;
    if (n >= 4 && memcmp(b, "PK\3\4", 4) == 0)
        return fail(
            r,
            "a zip archive (npz, or a PyTorch file), not npy; load it in Python and write each array with numpy.save");
    if (n >= 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5)
        return fail(
            r,
            "a Python pickle, which can run code when it is read: dissent never does; load it in Python and write the "
            "array with numpy.save");
    return fail(r, "not an npy file: it does not begin with \\x93NUMPY");
}

static void skip_spaces(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n')) r->at++;
}

static bool match_text(reader *r, const char *text)
{
    skip_spaces(r);
    const size_t n = strlen(text);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0) return false;
    r->at += n;
    return true;
}

/* Parses digits as a size. */
static bool parse_size(reader *r, size_t *out)
{
    skip_spaces(r);
    const char *begin = r->at;
    size_t x = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, (size_t)(*r->at - '0'), &x)) return false;
    *out = x;
    return r->at > begin;
}

/* '<f8' and similar. */
static dis_status read_type(reader *r, dis__npy *a)
{
    skip_spaces(r);
    if (r->at < r->end && *r->at == '[') return fail(r, "an array of records; write each field as an array of its own");
    if (!match_text(r, "'") && !match_text(r, "\"")) return fail(r, "the type of the numbers is not a text");
    const char *t = r->at, *close = t;
    while (close < r->end && *close != '\'' && *close != '"') close++;
    if (close == r->end || close - t < 2) return fail(r, "the type of the numbers is truncated");
    const char order = t[0], kind = t[1];
    if (memchr(t, 'O', (size_t)(close - t)))
        return fail(
            r, "an array of Python objects, which is a pickle and can run code when it is read: dissent never does; in "
               "Python, convert it with .astype('<f8') and write it again");
    if (order == '>' && (close - t != 3 || t[2] != '1'))
        return fail(r, "big-endian numbers; in Python, convert them with .astype('<f8') and write them again");
    static const struct {
        char kind;
        const char *sizes;
    } known[] = {{'f', "48"}, {'i', "1248"}, {'u', "1248"}, {'b', "1"}};
    if ((order == '<' || order == '|' || order == '=' || order == '>') && close - t == 3)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (known[k].kind == kind && t[2] && strchr(known[k].sizes, t[2])) {
                a->kind = kind;
                a->size = (size_t)(t[2] - '0');
                r->at = close + 1;
                return DIS_OK;
            }
    return fail(r, "an unsupported number type; in Python, convert it with .astype('<f8') and write it again");
}

static dis_status read_shape(reader *r, dis__npy *a)
{
    if (!match_text(r, "(")) return fail(r, "the shape is not a tuple");
    for (a->n_dims = 0; !match_text(r, ")");) {
        if (a->n_dims == DIS_NPY_DIMS) return fail(r, "more than 8 dimensions");
        if (!parse_size(r, &a->dim[a->n_dims++])) return fail(r, "a dimension that is not a number, or too large");
        (void)match_text(r, "L"); /* as Python 2 wrote it */
        if (match_text(r, ",")) continue;
        if (!match_text(r, ")")) return fail(r, "the shape is truncated");
        break;
    }
    return DIS_OK;
}

static dis_status read_dictionary(reader *r, dis__npy *a)
{
    enum { DESCR, ORDER, SHAPE, KEYS };
    static const char *const keys[KEYS][2] = {{"'descr'", "\"descr\""},
                                              {"'fortran_order'", "\"fortran_order\""},
                                              {"'shape'", "\"shape\""}};
    bool have[KEYS] = {false};
    if (!match_text(r, "{")) return fail(r, "the header does not begin with {");
    while (!match_text(r, "}")) {
        int k = 0;
        while (k < KEYS && !match_text(r, keys[k][0]) && !match_text(r, keys[k][1])) k++;
        if (k == KEYS)
            return fail(r, "the header has a key other than descr, fortran_order and shape, or is truncated");
        if (have[k]) return fail(r, "the header has a key twice");
        have[k] = true;
        if (!match_text(r, ":")) return fail(r, "a colon is missing in the header");
        if (k == DESCR) DIS_TRY(read_type(r, a));
        if (k == SHAPE) DIS_TRY(read_shape(r, a));
        if (k == ORDER) {
            a->fortran = match_text(r, "True");
            if (!a->fortran && !match_text(r, "False")) return fail(r, "fortran_order is neither True nor False");
        }
        if (match_text(r, ",")) continue;
        if (!match_text(r, "}")) return fail(r, "the header is truncated");
        break;
    }
    if (!have[DESCR] || !have[ORDER] || !have[SHAPE]) return fail(r, "the header lacks descr, fortran_order or shape");
    skip_spaces(r);
    return r->at == r->end ? DIS_OK : fail(r, "something follows the dictionary of the header");
}

dis_status dis__npy_open(const char *file, const void *bytes, size_t n_bytes, dis__npy *out)
{
    reader r = {.file = file, .start = bytes, .at = bytes};
    const unsigned char *b = bytes;
    if (n_bytes < MAGIC || memcmp(b, "\x93NUMPY", MAGIC) != 0) return refuse_other(&r, n_bytes);
    if (n_bytes < MAGIC + 4) return fail(&r, "the npy file is truncated within its header");
    const unsigned version = b[6];
    if (version < 1 || version > 3 || b[7] != 0)
        return fail(&r, "an npy file of a version other than 1.0, 2.0 and 3.0");
    const size_t begin = version == 1 ? 10 : 12;
    if (n_bytes < begin) return fail(&r, "the npy file is truncated within its header");
    const size_t length = version == 1 ? (size_t)(b[8] | b[9] << 8)
                                       : (size_t)b[8] | (size_t)b[9] << 8 | (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length > n_bytes - begin || length > MAX_HEADER) return fail(&r, "a header longer than the file");
    r.at = r.start + begin;
    r.end = r.at + length;
    dis__npy a = {.data = r.end};
    DIS_TRY(read_dictionary(&r, &a));
    /* A dimension of 0 must not hide an overflow of the others. */
    size_t max = a.size;
    a.n = 1;
    for (size_t d = 0; d < a.n_dims; d++) {
        if (__builtin_mul_overflow(max, a.dim[d] ? a.dim[d] : 1, &max))
            return fail(&r, "a shape too large for any file");
        a.n *= a.dim[d];
    }
    const size_t have = n_bytes - begin - length;
    if (a.n * a.size != have)
        return dis__fail_at(DIS_EDATA, file, 0, 0, "the shape requires %zu bytes and the file has %zu; is it %s?",
                            a.n * a.size, have, a.n * a.size > have ? "truncated" : "more than one array");
    if (a.n_dims < 2) a.fortran = false;
    if (a.fortran && a.n_dims > 2)
        return fail(
            &r, "an array of more than 2 dimensions in Fortran order; in Python, write numpy.ascontiguousarray of it");
    *out = a;
    return DIS_OK;
}

static double one(const dis__npy *a, const char *p)
{
    union {
        double f8;
        float f4;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } x;
    memcpy(&x, p, a->size);
    if (a->kind == 'f') return a->size == 8 ? x.f8 : (double)x.f4;
    if (a->kind == 'i')
        return a->size == 8 ? (double)x.i8 : a->size == 4 ? (double)x.i4 : a->size == 2 ? (double)x.i2 : (double)x.i1;
    if (a->kind == 'b') return x.u1 ? 1 : 0;
    return a->size == 8 ? (double)x.u8 : a->size == 4 ? (double)x.u4 : a->size == 2 ? (double)x.u2 : (double)x.u1;
}

void dis__npy_read_doubles(const dis__npy *a, size_t first, size_t n, double *out)
{
    if (n == 0) return;
    if (a->fortran) {
        const size_t rows = a->dim[0], columns = a->dim[1];
        for (size_t i = 0; i < n; i++) {
            const size_t row = (first + i) / columns, column = (first + i) % columns;
            out[i] = one(a, a->data + (column * rows + row) * a->size);
        }
    } else if (a->kind == 'f' && a->size == 8) {
        memcpy(out, a->data + first * 8, n * 8);
    } else if (a->kind == 'f') {
        for (size_t i = 0; i < n; i++) {
            float x;
            memcpy(&x, a->data + (first + i) * sizeof x, sizeof x);
            out[i] = (double)x;
        }
    } else {
        for (size_t i = 0; i < n; i++) out[i] = one(a, a->data + (first + i) * a->size);
    }
}

dis_status dis__npy_write_header(dis__out *out, size_t size, size_t n_rows, size_t n_columns)
{
    char text[128];
    memset(text, ' ', sizeof text);
    const int n =
        snprintf(text + 10, sizeof text - 10, "{'descr': '<f%zu', 'fortran_order': False, 'shape': (%zu, %zu), }", size,
                 n_rows, n_columns);
    if (n < 0 || n > 117) return dis__fail(DIS_EBUG, "an npy header of %d bytes", n);
    text[10 + n] = ' ';
    memcpy(text, "\x93NUMPY\1\0\x76\0", 10); /* 0x76 = 118 bytes follow, so that the values begin at a multiple of 64 */
    text[127] = '\n';
    return dis__out_write(out, text, sizeof text);
}
