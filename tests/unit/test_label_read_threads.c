/* Label files of several chunks: the same table and the same message for any number of threads. */
#include "core/random/random.h"
#include "dissent/dissent.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { N = 60000, K = 3 };
static char path[64];
static const int thread_counts[] = {1, 2, 7};

static dis_context *make_context(int threads)
{
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

static dis_status read_with(int threads, const char *format, dis_labels **out)
{
    dis_labels_read_options o = dis_labels_read_options_default();
    o.format = format;
    dis_context *ctx = make_context(threads);
    const dis_status status = dis_labels_read(ctx, path, &o, out);
    dis_context_destroy(ctx);
    return status;
}

/* Row i as CSV or JSONL; `quoted`: with a line break in the name. */
static void put_row(FILE *f, bool json, size_t i, bool quoted, const char *last)
{
    const double u = dis__random_uniform(1, 1, i) / 2;
    if (json)
        fprintf(f, "{\"task\":\"a rather long name for a task %zu\",\"p\":{\"x\":%.17g,\"y\":%.17g,\"z\":%s}}\n", i, u,
                .5 - u, last);
    else
        fprintf(f,
                quoted ? "\"a rather long\nname for a task %zu\",x,0,%.17g,%.17g,%s\n"
                       : "a rather long name for a task %zu,x,0,%.17g,%.17g,%s\n",
                i, u, .5 - u, last);
}

/* A file whose row `bad` has a wrong number in it. */
static void put_file(bool json, bool quoted, size_t bad)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    if (!json) fprintf(f, "task,label,entropy,p:x,p:y,p:z\n");
    for (size_t i = 0; i < N; i++)
        put_row(f, json, i, quoted && i % 3 == 0, i == bad || i == bad + 20000 ? "-1" : "0.5");
    fclose(f);
}

static void same_for_all(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        put_file(kind == 2, kind == 1, SIZE_MAX / 2);
        for (size_t t = 0; t < 3; t++) {
            dis_labels *labels;
            if (read_with(thread_counts[t], kind == 2 ? "jsonl" : "csv", &labels) != DIS_OK)
                fail_msg("%s", dis_last_error());
            const dis_labels_view v = dis_labels_get_view(labels);
            assert_int_equal(v.n_items, N);
            assert_int_equal(v.n_classes, K);
            for (size_t i = 0; i < N; i++) {
                char name[64];
                snprintf(name, sizeof name, "a rather long%cname for a task %zu", kind == 1 && i % 3 == 0 ? '\n' : ' ',
                         i);
                assert_string_equal(dis_names_get(v.tasks, i, NULL), name);
                const double u = dis__random_uniform(1, 1, i) / 2;
                assert_true(v.p[K * i] == u && v.p[K * i + 1] == .5 - u && v.p[K * i + 2] == .5);
            }
            dis_labels_destroy(labels);
        }
    }
}

/* The first of two bad rows is told, with its line. */
static void same_message(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (size_t t = 0; t < 3; t++) {
            put_file(kind == 2, kind == 1, 30000);
            dis_labels *labels;
            assert_int_equal(read_with(thread_counts[t], kind == 2 ? "jsonl" : "csv", &labels), DIS_EDATA);
            /* a header, 30000 rows before it, a third of which took two lines in the quoted file */
            char expected[128];
            snprintf(expected, sizeof expected, "%s:%d:", path, kind == 0 ? 30002 : kind == 1 ? 40003 : 30001);
            if (!strstr(dis_last_error(), expected)) fail_msg("%s lacks %s", dis_last_error(), expected);
            assert_non_null(strstr(dis_last_error(), "a probability below 0"));
        }
}

static void task_twice(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        put_file(kind == 2, kind == 1, SIZE_MAX / 2);
        FILE *f = fopen(path, "a");
        put_row(f, kind == 2, 5, false, "0.5");
        fclose(f);
        for (size_t t = 0; t < 3; t++) {
            dis_labels *labels;
            assert_int_equal(read_with(thread_counts[t], kind == 2 ? "jsonl" : "csv", &labels), DIS_EDATA);
            char expected[128];
            snprintf(expected, sizeof expected, "%s:%d:", path, kind == 0 ? N + 2 : kind == 1 ? N + 2 + N / 3 : N + 1);
            if (!strstr(dis_last_error(), expected)) fail_msg("%s lacks %s", dis_last_error(), expected);
            assert_non_null(strstr(dis_last_error(), "is repeated"));
        }
    }
}

/* More lines than there can be rows of that width: refused at the first bad one, without room for all of them. */
static void many_short_lines(void **state)
{
    (void)state;
    FILE *f = fopen(path, "w");
    fprintf(f, "task");
    for (int k = 0; k < 60000; k++) fprintf(f, ",p:%d", k);
    for (int i = 0; i < 3000000; i++) fputc('\n', f);
    fputs("x\n", f); /* blank lines at the very end would be fine */
    fclose(f);
    dis_labels *labels;
    assert_int_equal(read_with(2, "csv", &labels), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), ":2:"));
}

static int make_path(void **state)
{
    (void)state;
    strcpy(path, "/tmp/dissent-chunks-XXXXXX");
    const int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_for_all), cmocka_unit_test(same_message),
                                       cmocka_unit_test(task_twice), cmocka_unit_test(many_short_lines)};
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
