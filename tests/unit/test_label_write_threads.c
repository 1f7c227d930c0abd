/* Label files: what is written, byte by byte; the same bytes for any number of threads; nothing left behind by a
 * failure. */
#include "core/random/random.h"
#include "dissent/dissent.h"
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "tool/arrays.h"
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

static void expect_file(const char *path, const char *text)
{
    size_t n;
    char *bytes = contents(path, &n);
    assert_string_equal(bytes, text);
    assert_int_equal(n, strlen(text));
    free(bytes);
}

static int count_files(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

typedef struct {
    dis_names *tasks, *classes;
    dis_labels_view view;
} table;

static const double p3[] = {.25, .75, 0, 1, 0, 0, 1e-10, .5, .5};

static table make(const char *const *tasks, size_t n, const char *const *classes, size_t k, const double *p)
{
    table t;
    assert_int_equal(dis_names_create(tasks, n, &t.tasks), DIS_OK);
    assert_int_equal(dis_names_create(classes, k, &t.classes), DIS_OK);
    t.view = (dis_labels_view){
        .size = sizeof(dis_labels_view), .n_items = n, .n_classes = k, .p = p, .tasks = t.tasks, .classes = t.classes};
    return t;
}

static void drop(table *t)
{
    dis_names_destroy(t->tasks);
    dis_names_destroy(t->classes);
}

static table odd_names(void)
{
    static const char *const tasks[] = {"plain", "with,comma\tand tab", " \"quoted\"\nline\r"};
    static const char *const classes[] = {"a", "b,\"c\"", "\xC3\xA4 \x01"};
    return make(tasks, 3, classes, 3, p3);
}

static void csv(void **state)
{
    (void)state;
    table t = odd_names();
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("a.csv"), NULL), DIS_OK);
    expect_file(in_folder("a.csv"), "task,label,entropy,p:a,\"p:b,\"\"c\"\"\",p:\xC3\xA4 \x01\n"
                                    "plain,\"b,\"\"c\"\"\",0.5623351446188083,0.25,0.75,0\n"
                                    "\"with,comma\tand tab\",a,0,1,0,0\n"
                                    "\" \"\"quoted\"\"\nline\r\",\"b,\"\"c\"\"\",0.6931471828625304,1e-10,0.5,0.5\n");
    /* A format that is named wins over the name of the file; a name that says nothing means CSV. */
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("b.jsonl"), "csv"), DIS_OK);
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("c"), NULL), DIS_OK);
    size_t n;
    char *a = contents(in_folder("a.csv"), &n);
    expect_file(in_folder("b.jsonl"), a);
    expect_file(in_folder("c"), a);
    free(a);
    drop(&t);
}

static void tsv(void **state)
{
    (void)state;
    table t = odd_names();
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("a.tsv"), NULL), DIS_OK);
    expect_file(in_folder("a.tsv"),
                "task\tlabel\tentropy\tp:a\t\"p:b,\"\"c\"\"\"\tp:\xC3\xA4 \x01\n"
                "plain\t\"b,\"\"c\"\"\"\t0.5623351446188083\t0.25\t0.75\t0\n"
                "\"with,comma\tand tab\"\ta\t0\t1\t0\t0\n"
                "\" \"\"quoted\"\"\nline\r\"\t\"b,\"\"c\"\"\"\t0.6931471828625304\t1e-10\t0.5\t0.5\n");
    drop(&t);
}

static void jsonl(void **state)
{
    (void)state;
    table t = odd_names();
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("a.jsonl"), NULL), DIS_OK);
    expect_file(in_folder("a.jsonl"),
                "{\"task\":\"plain\",\"label\":\"b,\\\"c\\\"\",\"p\":{\"a\":0.25,\"b,\\\"c\\\"\":0.75,\"\xC3\xA4 "
                "\\u0001\":0}}\n"
                "{\"task\":\"with,comma\\u0009and tab\",\"label\":\"a\",\"p\":{\"a\":1,\"b,\\\"c\\\"\":0,\"\xC3\xA4 "
                "\\u0001\":0}}\n"
                "{\"task\":\" \\\"quoted\\\"\\nline\\u000d\",\"label\":\"b,\\\"c\\\"\",\"p\":{\"a\":1e-10,"
                "\"b,\\\"c\\\"\":0.5,\"\xC3\xA4 \\u0001\":0.5}}\n");
    drop(&t);
}

static void npy(void **state)
{
    (void)state;
    static const char *const tasks[] = {"t1", "t 2", "t,3"}, *const classes[] = {"a", "b", "c"};
    table t = make(tasks, 3, classes, 3, p3);
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("a.npy"), NULL), DIS_OK);
    expect_file(in_folder("a.tasks.txt"), "t1\nt 2\nt,3\n");
    expect_file(in_folder("a.classes.txt"), "a\nb\nc\n");
    size_t n;
    char *bytes = contents(in_folder("a.npy"), &n);
    assert_int_equal(n, 128 + sizeof p3);
    assert_memory_equal(bytes, "\x93NUMPY\1\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }  ", 68);
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, p3, sizeof p3);
    free(bytes);
    const int before = count_files();
    assert_int_equal(dis_labels_write(NULL, &t.view, "-", "npy"), DIS_EUSAGE);
    drop(&t);
    t = odd_names();
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("b.npy"), NULL), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "line break"));
    assert_int_equal(count_files(), before);
    drop(&t);
}

static void refuses(void **state)
{
    (void)state;
    static const char *const tasks[] = {"t1", "t2"}, *const classes[] = {"a", "b"};
    const double bad[] = {.5, .5, NAN, 1}, worse[] = {INFINITY, 0, 0, 1};
    table t = make(tasks, 2, classes, 2, bad);
    const int before = count_files();
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("n.csv"), NULL), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "t2"));
    t.view.p = worse;
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("n.jsonl"), NULL), DIS_EDATA);
    t.view.p = p3;
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("n.csv"), "xml"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "csv|tsv|jsonl|npy"));
    t.view.n_items = 3;
    assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("n.csv"), NULL), DIS_EUSAGE);
    assert_int_equal(count_files(), before);
    drop(&t);
}

/* Enough rows for several rounds of blocks. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum { N = 40000, K = 3 };
    char(*names)[24] = calloc(N, sizeof *names);
    const char **tasks = calloc(N, sizeof *tasks);
    double *p = calloc(N * K, sizeof *p);
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof *names, "task%s%zu", i % 7 ? "" : ",", i);
        tasks[i] = names[i];
        const double u = dis__random_uniform(1, 1, i), w = dis__random_uniform(1, 2, i) * (1 - u);
        p[i * K] = u, p[i * K + 1] = w, p[i * K + 2] = 1 - u - w;
    }
    static const char *const classes[] = {"x", "y", "z"}, *const formats[] = {"csv", "tsv", "jsonl", "npy"};
    table t = make(tasks, N, classes, K, p);
    for (size_t f = 0; f < 4; f++) {
        assert_int_equal(dis_labels_write(NULL, &t.view, in_folder("one"), formats[f]), DIS_OK);
        size_t n, m;
        char *one = contents(in_folder("one"), &n);
        for (int threads = 2; threads <= 7; threads += 5) {
            dis_context_options o = dis_context_options_default();
            o.threads = threads;
            dis_context *ctx;
            assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
            assert_int_equal(dis_labels_write(ctx, &t.view, in_folder("many"), formats[f]), DIS_OK);
            dis_context_destroy(ctx);
            char *many = contents(in_folder("many"), &m);
            assert_true(n == m && memcmp(one, many, n) == 0);
            free(many);
        }
        free(one);
    }
    drop(&t);
    free(p);
    free(tasks);
    free(names);
}

typedef struct {
    table t;
    const char *path;
} attempt;

static dis_status write_it(void *arg)
{
    attempt *a = arg;
    return dis_labels_write(NULL, &a->t.view, a->path, NULL);
}

static void old_files_intact(void *arg)
{
    (void)arg;
    assert_int_equal(count_files(), 6);
}

static void faults(void **state)
{
    (void)state;
    static const char *const tasks[] = {"t1", "t2", "t3"}, *const classes[] = {"a", "b", "c"};
    static const char *const names[] = {"f.csv", "f.tsv", "f.jsonl", "f.npy"};
    remove_folder(NULL);
    mkdir(folder, 0777);
    attempt a = {.t = make(tasks, 3, classes, 3, p3)};
    for (int i = 0; i < 4; i++) assert_int_equal(dis_labels_write(NULL, &a.t.view, in_folder(names[i]), NULL), DIS_OK);
    for (int i = 0; i < 4; i++) {
        char path[256];
        strcpy(path, in_folder(names[i]));
        a.path = path;
        walk_faults(write_it, old_files_intact, &a);
    }
    drop(&a.t);
}

static void rows(void **state)
{
    (void)state;
    const double tie[] = {.2, .4, .4}, one[] = {1.0000000000000002, 0}, u[] = {.25, .25, .25, .25};
    assert_int_equal(dis__argmax(tie, 3), 1);
    assert_int_equal(dis__argmax(one, 1), 0);
    assert_true(dis__entropy(one, 2) == 0 && !signbit(dis__entropy(one, 2)));
    assert_true(fabs(dis__entropy(u, 4) - log(4)) < 1e-15);
}

static void json_files(void **state)
{
    (void)state;
    dis__json_writer *j;
    const char *path = in_folder("s.json");
    assert_int_equal(dis__json_writer_create(path, &j), DIS_OK);
    dis__json_writer_begin_object(j);
    dis__json_writer_key(j, "a\"b");
    dis__json_writer_begin_array(j);
    dis__json_writer_real(j, .5);
    dis__json_writer_real(j, INFINITY);
    dis__json_writer_real(j, -INFINITY);
    dis__json_writer_real(j, NAN);
    dis__json_writer_count(j, UINT64_MAX);
    dis__json_writer_bool(j, true);
    dis__json_writer_text(j, NULL);
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "e");
    dis__json_writer_begin_object(j);
    dis__json_writer_end_object(j);
    dis__json_writer_key(j, "t");
    dis__json_writer_text(j, "x\x01\xFFz");
    dis__json_writer_end_object(j);
    assert_int_equal(dis__json_writer_finish(j, DIS_OK), DIS_OK);
    expect_file(path, "{\n  \"a\\\"b\": [\n    0.5,\n    \"inf\",\n    \"-inf\",\n    null,\n    "
                      "18446744073709551615,\n    true,\n    "
                      "null\n  ],\n  \"e\": {},\n  \"t\": \"x\\u0001\xEF\xBF\xBDz\"\n}\n");

    /* Long texts are cut between characters. */
    char *text = malloc(6001);
    for (int i = 0; i < 6000; i += 3) memcpy(text + i, "\xE2\x82\xAC", 3);
    text[6000] = 0;
    assert_int_equal(dis__json_writer_create(path, &j), DIS_OK);
    dis__json_writer_text(j, text);
    assert_int_equal(dis__json_writer_finish(j, DIS_OK), DIS_OK);
    size_t n;
    char *bytes = contents(path, &n);
    assert_int_equal(n, 6003);
    assert_memory_equal(bytes + 1, text, 6000);
    free(bytes);
    free(text);

    /* Out of order is refused and leaves the old file. */
    static const int wrong[] = {0, 1, 2, 3, 4};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(dis__json_writer_create(path, &j), DIS_OK);
        if (i == 0) dis__json_writer_begin_object(j), dis__json_writer_null(j), dis__json_writer_end_object(j);
        if (i == 1) dis__json_writer_begin_array(j), dis__json_writer_end_object(j);
        if (i == 2) dis__json_writer_begin_array(j);
        if (i == 3) dis__json_writer_null(j), dis__json_writer_null(j);
        if (i == 4) dis__json_writer_begin_object(j), dis__json_writer_key(j, "a"), dis__json_writer_end_object(j);
        assert_int_equal(dis__json_writer_finish(j, DIS_OK), DIS_EBUG);
    }
    bytes = contents(path, &n);
    assert_int_equal(n, 6003);
    free(bytes);
}

static dis_status write_json(void *path)
{
    dis__json_writer *j;
    const dis_status opened = dis__json_writer_create(path, &j);
    if (opened != DIS_OK) return opened;
    dis__json_writer_begin_array(j);
    for (int i = 0; i < 100000; i++) dis__json_writer_count(j, (uint64_t)i);
    dis__json_writer_end_array(j);
    return dis__json_writer_finish(j, DIS_OK);
}

static dis_status write_table(void *path)
{
    static const char *const columns[] = {"worker", "votes", "quality", "x,y"};
    dis__table_writer *t;
    const dis_status opened = dis__table_writer_create(path, NULL, columns, 4, &t);
    if (opened != DIS_OK) return opened;
    dis__table_writer_text(t, "a,b", 3);
    dis__table_writer_count(t, 7);
    dis__table_writer_real(t, .125);
    dis__table_writer_null(t);
    dis__table_writer_text(t, "c\"", 2);
    dis__table_writer_count(t, 0);
    dis__table_writer_real(t, NAN);
    dis__table_writer_real(t, INFINITY);
    return dis__table_writer_finish(t, DIS_OK);
}

static void tables(void **state)
{
    (void)state;
    assert_int_equal(write_table((void *)(uintptr_t)in_folder("w.csv")), DIS_OK);
    expect_file(in_folder("w.csv"), "worker,votes,quality,\"x,y\"\n\"a,b\",7,0.125,\n\"c\"\"\",0,,inf\n");
    assert_int_equal(write_table((void *)(uintptr_t)in_folder("w.jsonl")), DIS_OK);
    expect_file(in_folder("w.jsonl"), "{\"worker\":\"a,b\",\"votes\":7,\"quality\":0.125,\"x,y\":null}\n"
                                      "{\"worker\":\"c\\\"\",\"votes\":0,\"quality\":null,\"x,y\":\"inf\"}\n");
    assert_int_equal(write_table((void *)(uintptr_t)in_folder("w.npy")), DIS_EUSAGE);
    char path[256];
    for (int i = 0; i < 3; i++) {
        strcpy(path, in_folder(i == 0 ? "w.csv" : i == 1 ? "w.jsonl" : "s.json"));
        walk_faults(i < 2 ? write_table : write_json, NULL, path);
    }
    dis__table_writer *t;
    static const char *const columns[] = {"a", "b"};
    assert_int_equal(dis__table_writer_create(in_folder("half.csv"), NULL, columns, 2, &t), DIS_OK);
    dis__table_writer_count(t, 1);
    assert_int_equal(dis__table_writer_finish(t, DIS_OK), DIS_EBUG);
    assert_int_equal(access(in_folder("half.csv"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),    cmocka_unit_test(tsv),     cmocka_unit_test(jsonl),
        cmocka_unit_test(npy),    cmocka_unit_test(refuses), cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(faults), cmocka_unit_test(rows),    cmocka_unit_test(json_files),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
