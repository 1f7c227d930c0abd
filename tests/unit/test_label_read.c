/* Label files read back: equal to the bit in every format; what is malformed is refused with its position. */
#include "core/names/name_index.h"
#include "core/random/random.h"
#include "dissent/dissent.h"
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

static dis_labels *read_text(const char *name, const char *text)
{
    dis_labels *labels;
    if (dis_labels_read(NULL, put_text(name, text), NULL, &labels) != DIS_OK) fail_msg("%s", dis_last_error());
    return labels;
}

static void same(const dis_labels_view *a, const dis_labels_view *b)
{
    assert_int_equal(a->n_items, b->n_items);
    assert_int_equal(a->n_classes, b->n_classes);
    assert_memory_equal(a->p, b->p, a->n_items * a->n_classes * sizeof *a->p);
    for (size_t i = 0; i < a->n_items; i++)
        assert_string_equal(dis_names_get(a->tasks, i, NULL), dis_names_get(b->tasks, i, NULL));
    for (size_t k = 0; k < a->n_classes; k++)
        assert_string_equal(dis_names_get(a->classes, k, NULL), dis_names_get(b->classes, k, NULL));
}

static void reads_back_equal(void **state)
{
    (void)state;
    enum { N = 500, K = 5 };
    static char names[N][24];
    static const char *tasks[N], *const classes[K] = {"a", "b,c", "\"d\"", " e ", "\xC3\xA4"};
    static double p[N * K];
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "%s%zu", i % 5 == 0 ? " ,\"" : i % 5 == 1 ? "\t" : "task", i);
        tasks[i] = names[i];
        double sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += p[i * K + k] = i % 3 == 0 && k ? 0 : exp(-40 * dis__random_uniform(1, k, i));
        for (size_t k = 0; k < K; k++) p[i * K + k] /= sum;
    }
    dis_names *t, *c;
    assert_int_equal(dis_names_create(tasks, N, &t), DIS_OK);
    assert_int_equal(dis_names_create(classes, K, &c), DIS_OK);
    const dis_labels_view view = {
        .size = sizeof(dis_labels_view), .n_items = N, .n_classes = K, .p = p, .tasks = t, .classes = c};
    static const char *const files[] = {"r.csv", "r.tsv", "r.jsonl", "r.npy"};
    for (int f = 0; f < 4; f++) {
        dis_labels *labels;
        assert_int_equal(dis_labels_write(NULL, &view, in_folder(files[f]), NULL), DIS_OK);
        if (dis_labels_read(NULL, in_folder(files[f]), NULL, &labels) != DIS_OK) fail_msg("%s", dis_last_error());
        const dis_labels_view got = dis_labels_get_view(labels);
        same(&view, &got);
        assert_int_equal(dis_labels_n_renormalised(labels), 0);
        dis_labels_destroy(labels);
    }
    dis_names_destroy(t);
    dis_names_destroy(c);
}

static void accepts(void **state)
{
    (void)state;
    /* No p: columns: all but task, label and entropy; any order; BOM, CRLF, no final newline. */
    dis_labels *a = read_text("a.csv", "\xEF\xBB\xBFyes,label,task,no\r\n.25,no,t1,.75\r\n1,yes,t2,0");
    dis_labels_view v = dis_labels_get_view(a);
    assert_int_equal(v.n_items, 2);
    assert_int_equal(v.n_classes, 2);
    assert_string_equal(dis_names_get(v.classes, 1, NULL), "no");
    assert_true(v.p[0] == .25 && v.p[1] == .75 && v.p[2] == 1 && v.p[3] == 0);
    dis_labels_destroy(a);
    /* -0 is 0, to the bit: found by fuzzing. */
    a = read_text("a.csv", "task,p:x,p:y\n1,-0,1\n");
    assert_false(signbit(dis_labels_get_view(a).p[0]));
    dis_labels_destroy(a);
    /* With p: columns the others are not classes. */
    a = read_text("a.csv", "task,note,p:x,p:y\n1,hello,0.5,0.5\n");
    assert_int_equal(dis_labels_get_view(a).n_classes, 2);
    dis_labels_destroy(a);
    /* JSONL: classes in another order, numbers as tasks, other keys. */
    a = read_text("a.jsonl",
                  "{\"task\":\"t\",\"p\":{\"x\":0.25,\"y\":0.75}}\n{\"p\":{\"y\":1,\"x\":0},\"task\":17,\"why\":[1]}");
    v = dis_labels_get_view(a);
    assert_string_equal(dis_names_get(v.tasks, 1, NULL), "17");
    assert_true(v.p[2] == 0 && v.p[3] == 1);
    dis_labels_destroy(a);
    /* npy with names that have Windows line ends. */
    static const char header[] =
        "\x93NUMPY\1\0\x46\0{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }            \n";
    char npy[88];
    const float p[] = {.5f, .5f};
    memcpy(npy, header, 80);
    memcpy(npy + 80, p, 8);
    put_file("w.npy", npy, sizeof npy);
    put_text("w.tasks.txt", "t1\r\n");
    put_text("w.classes.txt", "a\nb");
    if (dis_labels_read(NULL, in_folder("w.npy"), NULL, &a) != DIS_OK) fail_msg("%s", dis_last_error());
    assert_string_equal(dis_names_get(dis_labels_get_view(a).tasks, 0, NULL), "t1");
    dis_labels_destroy(a);
    static const char *const wrong[] = {"t1\nt2\n", "", "\n", "t\x80\n", NULL};
    for (int i = 0; wrong[i]; i++) {
        put_text("w.tasks.txt", wrong[i]);
        assert_int_equal(dis_labels_read(NULL, in_folder("w.npy"), NULL, &a), DIS_EDATA);
    }
    put_text("w.tasks.txt", "t1\n");
    put_text("w.classes.txt", "a\na\n");
    assert_int_equal(dis_labels_read(NULL, in_folder("w.npy"), NULL, &a), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "w.classes.txt:2: \"a\" is repeated"));
    unlink(in_folder("w.classes.txt"));
    assert_int_equal(dis_labels_read(NULL, in_folder("w.npy"), NULL, &a), DIS_EIO);
}

static void renormalises(void **state)
{
    (void)state;
    const char *path = put_text("s.csv", "task,p:a,p:b\n1,0.5,0.5000005\n2,1,1\n3,0,0.5\n");
    dis_labels *labels = NULL;
    assert_int_equal(dis_labels_read(NULL, path, NULL, &labels), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "s.csv:3:1: probabilities that sum to 2, not 1"));
    dis_labels_read_options o = dis_labels_read_options_default();
    o.renormalise = true;
    assert_int_equal(dis_labels_read(NULL, path, &o, &labels), DIS_OK);
    assert_int_equal(dis_labels_n_renormalised(labels), 2);
    const double *p = dis_labels_get_view(labels).p;
    assert_true(p[0] == .5 && p[1] == .5000005 && p[2] == .5 && p[5] == 1);
    dis_labels_destroy(labels);
    assert_int_equal(dis_labels_read(NULL, put_text("s.csv", "task,p:a,p:b\n1,0,0\n"), &o, &labels), DIS_EDATA);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"x.csv", "", "x.csv"},
        {"x.csv", "task,p:a\n", "no labels"},
        {"x.csv", "item,p:a\n1,1\n", "x.csv:1:1: no column called task"},
        {"x.csv", "task,label,entropy\n1,a,0\n", "p:CLASS"},
        {"x.csv", "task,p:\n1,1\n", "has no name"},
        {"x.csv", "task,p:a,p:a\n1,1,0\n", "x.csv:1:"},
        {"x.csv", "task,p:a,p:b\nt1,1,0\nt2,0,1\nt1,0,1\n", "x.csv:4:1: the task \"t1\" is repeated"},
        {"x.csv", "task,p:a,p:b\nt1,1,zero\n", "x.csv:2:6: \"zero\" is not a finite number"},
        {"x.csv", "task,p:a,p:b\nt1,1e999,0\n", "x.csv:2:4: \"1e999\""},
        {"x.csv", "task,p:a,p:b\nt1,nan,0\n", "x.csv:2:4: \"nan\""},
        {"x.csv", "task,p:a,p:b\nt1,1.5,-0.5\n", "x.csv:2:8: a probability below 0"},
        {"x.csv", "task,p:a,p:b\nt1,1\n", "x.csv:2:"},
        {"x.csv", "task,p:a,p:b\n,1,0\n", "x.csv:2:1: an empty task id"},
        {"x.csv", "task,p:a,p:b\nt1,0.6,0.5\n", "sum to 1.1, not 1"},
        {"x.jsonl", "", "an empty file"},
        {"x.jsonl", "[1]\n", "x.jsonl:1:1: not an object"},
        {"x.jsonl", "{\"task\":\"t\"}\n", "x.jsonl:1:1: no key \"p\""},
        {"x.jsonl", "{\"p\":{\"a\":1}}\n", "no key \"task\""},
        {"x.jsonl", "{\"task\":[],\"p\":{\"a\":1}}\n", "x.jsonl:1:9: a task that is not a text"},
        {"x.jsonl", "{\"task\":\"\",\"p\":{\"a\":1}}\n", "empty task id"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":[1]}\n", "x.jsonl:1:17: p is not an object"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{}}\n", "no classes"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{\"a\":\"1\"}}\n", "x.jsonl:1:22: a probability that is not a number"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{\"a\":1}}\n\n{\"task\":\"u\",\"p\":{\"a\":1}}\n",
         "x.jsonl:2:1: a value is missing"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{\"a\":1}}\n{\"task\":\"u\",\"p\":{\"b\":1}}\n",
         "x.jsonl:2:18: a class is missing"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{\"a\":1}}\n{\"task\":\"u\",\"p\":{\"a\":1,\"b\":0}}\n",
         "2 classes where the first line has 1"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{\"a\":1}}\n{\"task\":\"t\",\"p\":{\"a\":1}}\n",
         "x.jsonl:2: the task \"t\" is repeated"},
        {"x.jsonl", "{\"task\":\"t\",\"p\":{\"a\":0.5}}\n", "sum to 0.5"},
        {"x.npy", "no numbers", "not an npy file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis_labels *labels = NULL;
        const dis_status status = dis_labels_read(NULL, put_text(cases[i].name, cases[i].text), NULL, &labels);
        if (status != DIS_EDATA || !strstr(dis_last_error(), cases[i].message))
            fail_msg("case %zu: status %d, \"%s\" lacks \"%s\"", i, status, dis_last_error(), cases[i].message);
        assert_null(labels);
    }
    dis_labels *labels;
    assert_int_equal(dis_labels_read(NULL, in_folder("none.csv"), NULL, &labels), DIS_EIO);
    assert_int_equal(
        dis_labels_read(NULL, "-", &(dis_labels_read_options){.size = sizeof(dis_labels_read_options), .format = "npy"},
                        &labels),
        DIS_EUSAGE);
}

/* 65,535 classes and ids of 64 KiB are read, one more of either is refused. */
static void limits(void **state)
{
    (void)state;
    char *text = malloc(4 << 20);
    dis_labels *labels;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t n = (size_t)sprintf(text, "task");
        for (size_t k = 0; k < DIS_MAX_CLASSES + extra; k++) n += (size_t)sprintf(text + n, ",p:%zu", k);
        n += (size_t)sprintf(text + n, "\nt,1");
        for (size_t k = 1; k < DIS_MAX_CLASSES + extra; k++) n += (size_t)sprintf(text + n, ",0");
        dis_status status = dis_labels_read(NULL, put_file("l.csv", text, n), NULL, &labels);
        assert_int_equal(status, extra ? DIS_EDATA : DIS_OK);
        if (status == DIS_OK) assert_int_equal(dis_labels_get_view(labels).n_classes, DIS_MAX_CLASSES);
        if (status == DIS_OK) dis_labels_destroy(labels);

        n = (size_t)sprintf(text, "{\"task\":\"t\",\"p\":{\"first\":1");
        for (size_t k = 1; k < DIS_MAX_CLASSES + extra; k++) n += (size_t)sprintf(text + n, ",\"%zu\":0", k);
        n += (size_t)sprintf(text + n, "}}");
        status = dis_labels_read(NULL, put_file("l.jsonl", text, n), NULL, &labels);
        assert_int_equal(status, extra ? DIS_EDATA : DIS_OK);
        if (status == DIS_OK) dis_labels_destroy(labels);

        n = (size_t)sprintf(text, "task,p:a\n");
        memset(text + n, 'x', DIS_MAX_ID + extra);
        n += DIS_MAX_ID + extra;
        n += (size_t)sprintf(text + n, ",1\n");
        status = dis_labels_read(NULL, put_file("l.csv", text, n), NULL, &labels);
        assert_int_equal(status, extra ? DIS_EDATA : DIS_OK);
        if (status == DIS_OK) dis_labels_destroy(labels);
    }
    free(text);
}

static void aligns(void **state)
{
    (void)state;
    dis_labels *a = read_text("a.csv", "task,p:x,p:y,p:z\n1,0.25,0.75,0\n2,0,0,1\n3,1,0,0\n");
    dis_labels *b = read_text("b.csv", "task,p:z,p:x,p:y\n3,0,1,0\n1,0,0.25,0.75\n2,1,0,0\n");
    const dis_labels_view va = dis_labels_get_view(a), vb = dis_labels_get_view(b);
    dis_labels *c;
    assert_int_equal(dis_labels_align(NULL, b, va.tasks, va.classes, &c), DIS_OK);
    dis_labels_view vc = dis_labels_get_view(c);
    same(&va, &vc);
    dis_labels_destroy(c);
    assert_int_equal(dis_labels_align(NULL, a, vb.tasks, vb.classes, &c), DIS_OK);
    vc = dis_labels_get_view(c);
    same(&vb, &vc);
    dis_labels_destroy(c);
    assert_int_equal(dis_labels_align(NULL, a, va.tasks, va.classes, &c), DIS_OK);
    vc = dis_labels_get_view(c);
    same(&va, &vc);
    dis_labels_destroy(c);

    dis_labels *fewer = read_text("c.csv", "task,p:x,p:y,p:z\n1,0.25,0.75,0\n2,0,0,1\n");
    dis_labels *other = read_text("d.csv", "task,p:x,p:y\n1,0.25,0.75\n2,0,1\n3,1,0\n");
    const dis_labels_view vf = dis_labels_get_view(fewer), vo = dis_labels_get_view(other);
    assert_int_equal(dis_labels_align(NULL, fewer, va.tasks, va.classes, &c), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "no labels for the task \"3\""));
    assert_int_equal(dis_labels_align(NULL, a, vf.tasks, va.classes, &c), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "labels for the task \"3\""));
    assert_int_equal(dis_labels_align(NULL, other, va.tasks, va.classes, &c), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "class \"z\""));
    assert_int_equal(dis_labels_align(NULL, a, va.tasks, vo.classes, &c), DIS_EDATA);
    dis_labels_destroy(a);
    dis_labels_destroy(b);
    dis_labels_destroy(fewer);
    dis_labels_destroy(other);
}

static dis_status read_it(void *path)
{
    dis_labels *labels = NULL;
    const dis_status status = dis_labels_read(NULL, path, NULL, &labels);
    if (status != DIS_OK) assert_null(labels);
    dis_labels_destroy(labels);
    return status;
}

static dis_status align_it(void *arg)
{
    dis_labels **ab = arg, *c = NULL;
    const dis_labels_view v = dis_labels_get_view(ab[1]);
    const dis_status status = dis_labels_align(NULL, ab[0], v.tasks, v.classes, &c);
    if (status != DIS_OK) assert_null(c);
    dis_labels_destroy(c);
    return status;
}

static void faults(void **state)
{
    (void)state;
    dis_labels *ab[] = {read_text("a.csv", "task,p:x,p:y\n1,0.25,0.75\n2,0,1\n"),
                        read_text("b.csv", "task,p:y,p:x\n2,\"1\",0\n1,0.75,0.25\n")};
    walk_faults(align_it, NULL, ab);
    const dis_labels_view v = dis_labels_get_view(ab[0]);
    static const char *const files[] = {"f.csv", "f.tsv", "f.jsonl", "f.npy"};
    for (int i = 0; i < 4; i++) {
        char path[256];
        strcpy(path, in_folder(files[i]));
        assert_int_equal(dis_labels_write(NULL, &v, path, NULL), DIS_OK);
        walk_faults(read_it, NULL, path);
    }
    dis_labels_destroy(ab[0]);
    dis_labels_destroy(ab[1]);
}

/* SipHash-1-3 of the first bytes 00 01 02 ... under the key 00 01 ... 0f, from the reference implementation. */
static void siphash(void **state)
{
    (void)state;
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)i;
    assert_true(dis__siphash(key, bytes, 0) == UINT64_C(0xabac0158050fc4dc));
    assert_true(dis__siphash(key, bytes, 1) == UINT64_C(0xc9f49bf37d57ca93));
}

static void finds_names(void **state)
{
    (void)state;
    enum { N = 20000 };
    char(*text)[8] = calloc(N, sizeof *text);
    const char **pointer = calloc(N, sizeof *pointer);
    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], sizeof *text, "%zx", i * 7 % 19993);
        pointer[i] = text[i];
    }
    dis_names *names;
    dis__name_index index;
    size_t twice;
    assert_int_equal(dis_names_create(pointer, N, &names), DIS_OK);
    assert_int_equal(dis__name_index_build(names, &index, &twice), DIS_OK);
    assert_int_equal(twice, 19993); /* the first one that comes again */
    for (size_t i = 0; i < N; i++) assert_int_equal(dis__name_index_find(&index, text[i], strlen(text[i])), i % 19993);
    assert_int_equal(dis__name_index_find(&index, "none", 4), SIZE_MAX);
    assert_int_equal(dis__name_index_find(&index, "", 0), SIZE_MAX);
    dis__name_index_free(&index);
    dis_names_destroy(names);
    free(text);
    free(pointer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_equal), cmocka_unit_test(accepts), cmocka_unit_test(renormalises),
        cmocka_unit_test(refuses),          cmocka_unit_test(aligns),  cmocka_unit_test(limits),
        cmocka_unit_test(faults),           cmocka_unit_test(siphash), cmocka_unit_test(finds_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
