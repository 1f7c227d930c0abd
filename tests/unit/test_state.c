/* State files: what is saved comes back under the right names; damaged files are refused. Safetensors and npy at their
 * limits. */
#include "core/memory/memory.h"
#include "dissent/dissent.h"
#include "io/tensors/npy.h"
#include "io/tensors/safetensors.h"
#include "labels/method.h"
#include "labels/methods.h"
#include "labels/fit_state.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

#define STATE "state.safetensors"
static char path[128];

static int name_file(void **state)
{
    if (make_folder(state)) return -1;
    strcpy(path, in_folder(STATE));
    return 0;
}

/* Votes of which only the names matter here. */
static dis_votes *make_votes(const char *const *tasks, size_t n_items, const char *const *workers, size_t n_workers,
                             const char *const *classes, size_t n_classes)
{
    dis_names *t, *w, *c;
    assert_int_equal(dis_names_create(tasks, n_items, &t), DIS_OK);
    assert_int_equal(dis_names_create(workers, n_workers, &w), DIS_OK);
    assert_int_equal(dis_names_create(classes, n_classes, &c), DIS_OK);
    uint32_t task[16], worker[16];
    uint16_t label[16];
    size_t n = 0;
    for (uint32_t i = 0; i < n_items; i++)
        for (uint32_t j = 0; j < n_workers; j++, n++)
            task[n] = i, worker[n] = j, label[n] = (uint16_t)((i + j) % n_classes);
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n_items,
                                .n_workers = n_workers,
                                .n_classes = n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .tasks = t,
                                .workers = w,
                                .classes = c};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    dis_names_destroy(t);
    dis_names_destroy(w);
    dis_names_destroy(c);
    return votes;
}

/* A fit with parameters of every kind of axis, numbered through. */
static dis_fit *make_fit(const char *method, size_t n_items, size_t n_workers, size_t n_classes, double first)
{
    dis_fit *fit;
    assert_int_equal(dis__alloc_zeroed(&fit, 1, sizeof *fit), DIS_OK);
    assert_int_equal(dis__method_find(method, &fit->method), DIS_OK);
    fit->n_items = n_items, fit->n_workers = n_workers, fit->n_classes = n_classes;
    static const char *const names[] = {"prior", "confusion", "ease", "skill"}, *const axes[] = {"t", "wvt", "i", "w"};
    for (size_t p = 0; p < 4; p++) {
        double *values;
        assert_int_equal(dis__fit_add_parameter(fit, names[p], axes[p], &values), DIS_OK);
        for (size_t i = 0; i < fit->parameter[p].n; i++) values[i] = first + (double)(100 * p + i);
    }
    return fit;
}

static const char *const old_tasks[] = {"t1", "t2"}, *const old_workers[] = {"ann", "bob"},
                         *const old_classes[] = {"x", "y"};
static const char *const new_tasks[] = {"t3", "t2", "t1"}, *const new_workers[] = {"bob", "cy", "ann"},
                         *const new_classes[] = {"y", "x", "z"};

static void saves_by_name(void **state)
{
    (void)state;
    dis_votes *before = make_votes(old_tasks, 2, old_workers, 2, old_classes, 2);
    dis_votes *after = make_votes(new_tasks, 3, new_workers, 3, new_classes, 3);
    dis_fit *fits[] = {make_fit("standard", 2, 2, 2, 1), make_fit("majority", 2, 2, 2, 1000),
                       make_fit("standard", 2, 2, 2, 5000)};
    assert_int_equal(dis_state_write(NULL, before, (const dis_fit *const *)fits, 3, path), DIS_OK);
    dis_state *s;
    if (dis_state_read(NULL, path, &s) != DIS_OK) fail_msg("%s", dis_last_error());

    const dis_votes_view v = dis_votes_get_view(after);
    double prior[3] = {-1, -1, -1}, confusion[27], ease[3] = {-1, -1, -1}, skill[3] = {-1, -1, -1};
    for (int i = 0; i < 27; i++) confusion[i] = -1;
    bool found = false;
    assert_int_equal(dis__state_get(s, "standard", "prior", "t", &v, prior, &found), DIS_OK);
    assert_true(found && prior[0] == 2 && prior[1] == 1 && prior[2] == -1);
    assert_int_equal(dis__state_get(s, "standard", "skill", "w", &v, skill, &found), DIS_OK);
    assert_true(found && skill[0] == 302 && skill[1] == -1 && skill[2] == 301);
    assert_int_equal(dis__state_get(s, "majority", "ease", "i", &v, ease, &found), DIS_OK);
    assert_true(found && ease[0] == -1 && ease[1] == 1201 && ease[2] == 1200);
    assert_int_equal(dis__state_get(s, "standard", "confusion", "wvt", &v, confusion, &found), DIS_OK);
    for (size_t w = 0; w < 3; w++)
        for (size_t a = 0; a < 3; a++)
            for (size_t t = 0; t < 3; t++) {
                /* bob was 1, ann 0; y was 1, x 0 */
                const bool known = w != 1 && a < 2 && t < 2;
                const double expected = known ? (double)(101 + (w == 0) * 4 + (a == 0) * 2 + (t == 0)) : -1;
                assert_true(confusion[(w * 3 + a) * 3 + t] == expected);
            }
    /* What the state does not have leaves everything as it was. */
    assert_int_equal(dis__state_get(s, "standard", "nothing", "w", &v, skill, &found), DIS_OK);
    assert_true(!found && skill[0] == 302);
    assert_int_equal(dis__state_get(s, "none", "skill", "w", &v, skill, &found), DIS_OK);
    assert_false(found);
    assert_int_equal(dis__state_get(s, "standard", "skill", "i", &v, skill, &found), DIS_EDATA);
    dis_state_destroy(s);
    for (int i = 0; i < 3; i++) dis_fit_destroy(fits[i]);
    dis_votes_destroy(before);
    dis_votes_destroy(after);
}

typedef struct {
    dis_votes *votes;
    dis_fit *fit;
} attempt;

static dis_status write_it(void *arg)
{
    attempt *a = arg;
    const dis_fit *fits[] = {a->fit};
    return dis_state_write(NULL, a->votes, fits, 1, path);
}

static dis_status read_and_fill(void *arg)
{
    attempt *a = arg;
    dis_state *s = NULL;
    dis_status status = dis_state_read(NULL, path, &s);
    if (status != DIS_OK) {
        assert_null(s);
        return status;
    }
    const dis_votes_view v = dis_votes_get_view(a->votes);
    double confusion[8];
    bool found;
    status = dis__state_get(s, "standard", "confusion", "wvt", &v, confusion, &found);
    dis_state_destroy(s);
    return status;
}

static void file_remains(void *arg)
{
    assert_int_equal(read_and_fill(arg), DIS_OK);
}

static void faults(void **state)
{
    (void)state;
    attempt a = {make_votes(old_tasks, 2, old_workers, 2, old_classes, 2), make_fit("standard", 2, 2, 2, 0)};
    assert_int_equal(write_it(&a), DIS_OK);
    walk_faults(write_it, file_remains, &a);
    walk_faults(read_and_fill, NULL, &a);
    dis_fit_destroy(a.fit);
    dis_votes_destroy(a.votes);
}

/* Every cut is refused; a flipped bit is refused or gives a state (numbers have no checksum), never a crash. */
static void damaged(void **state)
{
    (void)state;
    attempt a = {make_votes(old_tasks, 2, old_workers, 2, old_classes, 2), make_fit("standard", 2, 2, 2, 0)};
    assert_int_equal(write_it(&a), DIS_OK);
    size_t n;
    char *bytes = contents(path, &n);
    dis_state *s = NULL;
    for (size_t cut = 0; cut < n; cut++) {
        put_file(STATE, bytes, cut);
        assert_int_equal(dis_state_read(NULL, path, &s), DIS_EDATA);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            put_file(STATE, bytes, n);
            const dis_status status = dis_state_read(NULL, path, &s);
            assert_true(status == DIS_EDATA || (status == DIS_ELIMIT && i < 8)); /* every flip is detected */
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
        }
    free(bytes);
    dis_fit_destroy(a.fit);
    dis_votes_destroy(a.votes);
}

/* A file of a header and n zero bytes. */
static size_t build(char *out, const char *header, size_t n)
{
    const size_t length = strlen(header);
    for (int i = 0; i < 8; i++) out[i] = (char)(length >> (8 * i));
    memcpy(out + 8, header, length);
    memset(out + 8 + length, 0, n);
    return 8 + length + n;
}

static void safetensors(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t n;
        const char *problem; /* NULL: fine */
    } cases[] = {
        {"{}", 0, NULL},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}  ", 24, NULL},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, NULL},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[0,0]},\"b\":{\"dtype\":\"U8\",\"shape\":[1],"
         "\"data_offsets\":[0,1]}}",
         1, NULL},
        {"{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_"
         "offsets\":[0,1]}}",
         2, NULL},
        {"{\"__metadata__\":{\"k\":\"v\"}}", 0, NULL},
        {"[]", 0, "not a JSON object"},
        {"{\"a\":1}", 0, "a tensor needs"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "other than texts"},
        {"{\"__metadata__\":[]}", 0, "not an object"},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "unknown dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "for a shape that takes 8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, "beyond the file"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, "belong to no tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "beyond the file"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}", 5, "does not follow"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_"
         "offsets\":[1,3]}}",
         3, "overlaps"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_"
         "offsets\":[2,3]}}",
         3, "does not follow"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, "too large"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4294967296,4294967296,0],\"data_offsets\":[0,0]}}", 0, "too large"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[-1],\"data_offsets\":[0,8]}}", 8, "not an integer"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1.0],\"data_offsets\":[0,8]}}", 8, "not an integer"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,8]}}", 8, "more than 8"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1,1,1,1,1,1,1,1],\"data_offsets\":[0,8]}}", 8, NULL},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0]}}", 8, "two integers"},
        {"{\"a\":{\"dtype\":\"F64\",\"data_offsets\":[0,8],\"x\":1}}", 8, "without its shape"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},\"a\":{}}", 8, "twice"},
        {"{\"a\":", 0, "value is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[1024];
        const size_t n = build(bytes, cases[i].header, cases[i].n);
        dis__safetensors file;
        const dis_status status = dis__safetensors_open("x", bytes, n, &file);
        if (cases[i].problem) {
            if (status != DIS_EDATA || !strstr(dis_last_error(), cases[i].problem))
                fail_msg("case %zu: status %d, \"%s\"", i, status, dis_last_error());
        } else {
            if (status != DIS_OK) fail_msg("case %zu: %s", i, dis_last_error());
            dis__safetensors_close(&file);
        }
    }
    char bytes[64] = {0};
    dis__safetensors file;
    assert_int_equal(dis__safetensors_open("x", bytes, 7, &file), DIS_EDATA);
    memset(bytes, 0xFF, 8);
    assert_int_equal(dis__safetensors_open("x", bytes, 64, &file), DIS_EDATA);
    assert_int_equal(dis__safetensors_open("x.pt", "PK\3\4aaaaaaaaaaa", 12, &file), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "pickle"));

    /* The longest header: 100,000,000 bytes are read, one more is refused. */
    const size_t limit = DIS_SAFETENSORS_HEADER;
    char *big = malloc(limit + 9);
    memset(big, ' ', limit + 9);
    for (size_t extra = 0; extra < 2; extra++) {
        for (int i = 0; i < 8; i++) big[i] = (char)((limit + extra) >> (8 * i));
        big[8] = '{', big[9] = '}';
        const dis_status status = dis__safetensors_open("x", big, limit + 8 + extra, &file);
        assert_int_equal(status, extra ? DIS_EDATA : DIS_OK);
        if (status == DIS_OK) dis__safetensors_close(&file);
    }
    free(big);
}

static size_t build_npy(char *out, int version, const char *header, const void *data, size_t n)
{
    const size_t length = strlen(header);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++) out[8 + i] = (char)(length >> (8 * i));
    const size_t begin = version == 1 ? 10 : 12;
    memcpy(out + begin, header, length);
    memcpy(out + begin + length, data, n);
    return begin + length + n;
}

static void npy(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *header;
        size_t n;
        const char *problem;
    } cases[] = {
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }\n", 16, NULL},
        {2, "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }", 16, NULL},
        {3, "{'shape': (2L, 2L), 'fortran_order': True, 'descr': '<u4'}", 16, NULL},
        {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 1, NULL},
        {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 3), }", 0, NULL},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1), }", 8, NULL},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 8, "more than 8"},
        {1, "{'descr': '|O', 'fortran_order': False, 'shape': (2, 1), }", 16, "pickle"},
        {1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 1), }", 16, "big-endian"},
        {1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", 16, "unsupported number type"},
        {1, "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }", 16, "unsupported number type"},
        {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (8,), }", 16, "unsupported number type"},
        {1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", 16, "records"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 16, "truncated"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", 16, "more than one"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 16, "too large"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0), }", 0, "too large"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,), }", 16, "too large"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", 16, "not a number"},
        {1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1, 1), }", 16, "Fortran"},
        {1, "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 1), }", 16, "neither True"},
        {1, "{'descr': '<f8', 'shape': (2, 1), }", 16, "lacks"},
        {1, "{'descr': '<f8', 'descr': '<f8', 'shape': (2, 1), }", 16, "twice"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), 'x': 1}", 16, "other than"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), } x", 16, "follows"},
        {1, "{'descr': __import__('os'), 'fortran_order': False, 'shape': (2, 1), }", 16, "not a text"},
        {4, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }", 16, "version"},
        {1, "", 16, "{"},
    };
    const double zeros[2] = {0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[512];
        const size_t n = build_npy(bytes, cases[i].version, cases[i].header, zeros, cases[i].n);
        dis__npy a;
        const dis_status status = dis__npy_open("x.npy", bytes, n, &a);
        if (cases[i].problem ? status != DIS_EDATA || !strstr(dis_last_error(), cases[i].problem) : status != DIS_OK)
            fail_msg("case %zu: status %d, \"%s\"", i, status, dis_last_error());
        for (size_t cut = 0; cut < n && !cases[i].problem; cut++)
            assert_int_equal(dis__npy_open("x.npy", bytes, cut, &a), DIS_EDATA);
    }
    dis__npy a;
    assert_int_equal(dis__npy_open("x", "\x80\x04\x95 pickled", 12, &a), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "pickle"));
    assert_int_equal(dis__npy_open("x", "PK\3\4 zipped", 10, &a), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "npz"));
}

static void npy_numbers(void **state)
{
    (void)state;
    char bytes[512];
    double got[6];
    dis__npy a;
    const int16_t i2[] = {1, -2, 3, -4, 5, -6};
    size_t n = build_npy(bytes, 1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", i2, sizeof i2);
    assert_int_equal(dis__npy_open("x", bytes, n, &a), DIS_OK);
    dis__npy_read_doubles(&a, 0, 6, got);
    const double rows[] = {1, 3, 5, -2, -4, -6};
    assert_memory_equal(got, rows, sizeof rows);
    dis__npy_read_doubles(&a, 3, 2, got);
    assert_true(got[0] == -2 && got[1] == -4);
#define CHECK(type, code, ...)                                                                                  \
    do {                                                                                                        \
        const type x[] = {__VA_ARGS__};                                                                         \
        n = build_npy(bytes, 1, "{'descr': '" code "', 'fortran_order': False, 'shape': (2,), }", x, sizeof x); \
        assert_int_equal(dis__npy_open("x", bytes, n, &a), DIS_OK);                                             \
        dis__npy_read_doubles(&a, 0, 2, got);                                                                   \
        assert_true(got[0] == (double)x[0] && got[1] == (double)x[1]);                                          \
    } while (0)
    CHECK(double, "<f8", .1, -2);
    CHECK(float, "<f4", .5f, 1e30f);
    CHECK(int8_t, "|i1", -128, 127);
    CHECK(int32_t, "<i4", INT32_MIN, INT32_MAX);
    CHECK(int64_t, "<i8", INT64_MIN, 1);
    CHECK(uint8_t, "|u1", 255, 0);
    CHECK(uint16_t, "<u2", 65535, 0);
    CHECK(uint32_t, "<u4", UINT32_MAX, 0);
    CHECK(uint64_t, "<u8", UINT64_MAX, 0);
    CHECK(uint8_t, "|b1", 1, 0);
#undef CHECK
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_by_name), cmocka_unit_test(faults), cmocka_unit_test(damaged),
        cmocka_unit_test(safetensors),   cmocka_unit_test(npy),    cmocka_unit_test(npy_numbers),
    };
    return cmocka_run_group_tests(tests, name_file, remove_folder);
}
