/* Items: every kind from every format that holds it, what is refused and where, and every fault on the way. */
#include "dissent/dissent.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

static dis_items *read_items(const char *path, const dis_items_options *o)
{
    dis_items *items = NULL;
    const dis_status status = dis_items_read(NULL, path, o, &items);
    if (status != DIS_OK) print_message("%s\n", dis_last_error());
    assert_int_equal(status, DIS_OK);
    return items;
}

static void texts(void **state)
{
    (void)state;
    const char *columns[] = {"premise", "hypothesis"};
    dis_items_options o = dis_items_options_default();
    o.columns = columns;
    o.n_columns = 2;
    static const char *const files[][2] = {{"a.csv", "task,hypothesis,premise\nx,\"so, what\",p1\ny,h2,\n"},
                                           {"a.tsv", "premise\ttask\thypothesis\np1\tx\tso, what\n\ty\th2\n"},
                                           {"a.jsonl",
                                            "{\"task\": \"x\", \"premise\": \"p1\", \"hypothesis\": \"so, what\"}\n"
                                            "{\"task\": \"y\", \"premise\": \"\", \"hypothesis\": \"h2\"}\n"}};
    for (size_t i = 0; i < 3; i++) {
        dis_items *items = read_items(put_text(files[i][0], files[i][1]), &o);
        const dis_items_view v = dis_items_get_view(items);
        assert_int_equal(v.kind, DIS_ITEMS_TEXT);
        assert_int_equal(v.n_items, 2);
        assert_int_equal(v.n_texts, 2);
        assert_string_equal(dis_names_get(v.tasks, 1, NULL), "y");
        assert_string_equal(dis_names_get(v.texts, 0, NULL), "p1");
        assert_string_equal(dis_names_get(v.texts, 1, NULL), "so, what");
        assert_string_equal(dis_names_get(v.texts, 2, NULL), "");
        assert_string_equal(dis_names_get(v.texts, 3, NULL), "h2");
        dis_items_destroy(items);
    }
}

static void tokens(void **state)
{
    (void)state;
    dis_items_options o = dis_items_options_default();
    o.kind = DIS_ITEMS_TOKENS;
    const dis_drop_rule train = {"set", "trn"};
    o.keep = &train;
    o.n_keep = 1;
    dis_items *items = read_items(
        put_text("t.csv", "task,sentence,token,set\n0,a,I,trn\n1,a,am,trn\n2,b,x,dev\n3,b,y,trn\n4,a,z,trn\n"), &o);
    dis_items_view v = dis_items_get_view(items);
    assert_int_equal(v.n_items, 4);
    assert_int_equal(v.n_sentences, 3); /* equal names count only one after the other */
    assert_int_equal(v.sentence[0], 0);
    assert_int_equal(v.sentence[1], 2);
    assert_int_equal(v.sentence[2], 3);
    assert_int_equal(v.sentence[3], 4);
    assert_string_equal(dis_names_get(v.texts, 2, NULL), "y");
    dis_items_destroy(items);

    const char *second = "2";
    o = dis_items_options_default();
    o.kind = DIS_ITEMS_TOKENS;
    o.columns = &second;
    o.n_columns = 1;
    items = read_items(put_text("t.conll", "\n0\tI\tPRON\r\n1\t#am\tVERB\r\n\r\n\n0\tno\tX"), &o);
    v = dis_items_get_view(items);
    assert_int_equal(v.n_items, 3);
    assert_int_equal(v.n_sentences, 2);
    assert_int_equal(v.sentence[1], 2);
    assert_string_equal(dis_names_get(v.tasks, 2, NULL), "2");
    assert_string_equal(dis_names_get(v.texts, 1, NULL), "#am");
    dis_items_destroy(items);
}

static void features(void **state)
{
    (void)state;
    dis_items_options o = dis_items_options_default();
    o.kind = DIS_ITEMS_FEATURES;
    dis_items *items = read_items(put_text("f.csv", "f1,task,f2\n1,a,-.5\n2e0,b,3\n"), &o);
    dis_items_view v = dis_items_get_view(items);
    assert_int_equal(v.n_features, 2);
    assert_true(v.x[0] == 1 && v.x[1] == -.5f && v.x[2] == 2 && v.x[3] == 3);
    dis_items_destroy(items);

    const float raw[] = {1, 2, 3, 4, 5, 6};
    o.width = 3;
    const char *path = put_file("f.f32", raw, sizeof raw);
    items = read_items(path, &o);
    v = dis_items_get_view(items);
    assert_int_equal(v.n_items, 2);
    assert_true(v.x[5] == 6);
    assert_string_equal(dis_names_get(v.tasks, 1, NULL), "1");
    dis_items_destroy(items);

    char ids[160];
    snprintf(ids, sizeof ids, "%s", put_text("ids.txt", "left\nright\n"));
    o.tasks = ids;
    items = read_items(put_file("f.f32", raw, sizeof raw), &o);
    assert_string_equal(dis_names_get(dis_items_get_view(items).tasks, 0, NULL), "left");
    dis_items_destroy(items);
}

static void images(void **state)
{
    (void)state;
    enum { RECORD = 3073 };
    unsigned char *bytes = calloc(2, RECORD);
    bytes[1] = 255;                /* red of the first pixel of the first image */
    bytes[RECORD + 1 + 2048] = 51; /* blue of the first pixel of the second */
    dis_items_options o = dis_items_options_default();
    o.kind = DIS_ITEMS_IMAGES;
    dis_items *items = read_items(put_file("c.bin", bytes, 2 * RECORD), &o);
    free(bytes);
    const dis_items_view v = dis_items_get_view(items);
    assert_int_equal(v.n_items, 2);
    assert_int_equal(v.height * v.width * v.channels, v.n_features);
    assert_int_equal(v.n_features, 3072);
    assert_true(v.x[0] == 1 && v.x[1] == 0 && v.x[3072 + 2] == .2f);
    dis_items_destroy(items);

    char npy[256] = "\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 2), }";
    const size_t head = 10 + 0x76;
    for (size_t i = 10 + strlen(npy + 10); i < head; i++) npy[i] = ' ';
    npy[head - 1] = '\n';
    memcpy(npy + head, "\x00\x33\x66\xff", 4);
    items = read_items(put_file("i.npy", npy, head + 4), &o);
    const dis_items_view w = dis_items_get_view(items);
    assert_int_equal(w.height, 2);
    assert_int_equal(w.channels, 1);
    assert_true(w.x[0] == 0 && w.x[3] == 1);
    dis_items_destroy(items);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        dis_items_kind kind;
        const char *name, *text, *message;
        dis_status status;
        size_t width;
    } cases[] = {
        {DIS_ITEMS_TEXT, "a.csv", "task,words\na,b\n", "a.csv:1: no column \"text\"; there are: task, words", DIS_EDATA,
         0},
        {DIS_ITEMS_TEXT, "a.csv", "task,text\n,b\n", "a.csv:2:1: an empty id", DIS_EDATA, 0},
        {DIS_ITEMS_TEXT, "a.csv", "task,text\na,b\na,c\n", "the item \"a\" is repeated", DIS_EDATA, 0},
        {DIS_ITEMS_TEXT, "a.csv", "task,text\n", "it contains no items", DIS_EDATA, 0},
        {DIS_ITEMS_TEXT, "a.jsonl", "{\"task\": 1}\n", "a.jsonl:1:1: no key \"text\"", DIS_EDATA, 0},
        {DIS_ITEMS_TEXT, "a.jsonl", "[]\n", "a.jsonl:1:1: a line must be one object", DIS_EDATA, 0},
        {DIS_ITEMS_TEXT, "a.jsonl", "{\"task\": 1, \"text\": [1]}\n", "\"text\" must be a text or a number", DIS_EDATA,
         0},
        {DIS_ITEMS_FEATURES, "a.csv", "task,x\na,1\nb,two\n", "a.csv:3:3: \"two\" is not a number", DIS_EDATA, 0},
        {DIS_ITEMS_FEATURES, "a.csv", "task\na\n", "a.csv:1: no columns except the ids", DIS_EDATA, 0},
        {DIS_ITEMS_FEATURES, "a.jsonl", "{}\n",
         "jsonl files hold texts, tokens, not features; dissent list models says which model reads what", DIS_EUSAGE,
         0},
        {DIS_ITEMS_FEATURES, "a.f32", "12345678", "set the width", DIS_EUSAGE, 0},
        {DIS_ITEMS_FEATURES, "a.f32", "1234567", "7 bytes are not rows of 1 float32 numbers", DIS_EDATA, 1},
        {DIS_ITEMS_FEATURES, "a.f32", "\xff\xff\xff\x7f", "row 0, number 0 is not finite", DIS_EDATA, 1},
        {DIS_ITEMS_IMAGES, "a.bin", "1234567", "7 bytes are not records", DIS_EDATA, 0},
        {DIS_ITEMS_TOKENS, "a.conll", "a\n\tb\n", "a.conll:2:1: field 1 is missing or empty", DIS_EDATA, 0},
        {DIS_ITEMS_TOKENS, "a.conll", "\xff\n", "not valid UTF-8", DIS_EDATA, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis_items_options o = dis_items_options_default();
        o.kind = cases[i].kind;
        o.width = cases[i].width;
        dis_items *items = NULL;
        assert_int_equal(dis_items_read(NULL, put_text(cases[i].name, cases[i].text), &o, &items), cases[i].status);
        if (!strstr(dis_last_error(), cases[i].message)) print_message("%s\n", dis_last_error());
        assert_non_null(strstr(dis_last_error(), cases[i].message));
        assert_null(items);
    }
}

/* In the order of other tasks, columns joined, empty where there is none. */
static void texts_of_tasks(void **state)
{
    (void)state;
    const char *columns[] = {"p", "h"}, *wanted[] = {"y", "z", "x"};
    dis_items_options o = dis_items_options_default();
    o.columns = columns;
    o.n_columns = 2;
    dis_items *items = read_items(put_text("t.csv", "task,p,h\nx,one,two\ny,,three\nunused,a,b\n"), &o);
    dis_names *tasks, *texts = NULL;
    size_t found = 0;
    assert_int_equal(dis_names_create(wanted, 3, &tasks), DIS_OK);
    assert_int_equal(dis_items_get_texts(items, tasks, &texts, &found), DIS_OK);
    assert_int_equal(found, 2);
    assert_int_equal(dis_names_count(texts), 3);
    assert_string_equal(dis_names_get(texts, 0, NULL), "three");
    assert_string_equal(dis_names_get(texts, 1, NULL), "");
    assert_string_equal(dis_names_get(texts, 2, NULL), "one / two");
    dis_names_destroy(texts);
    dis_items_destroy(items);
    o = dis_items_options_default();
    o.kind = DIS_ITEMS_FEATURES;
    items = read_items(put_text("n.csv", "task,a\nx,1\n"), &o);
    assert_int_equal(dis_items_get_texts(items, tasks, &texts, &found), DIS_EUSAGE);
    dis_items_destroy(items);
    dis_names_destroy(tasks);
}

static dis_status read_once(void *arg)
{
    const dis_items_options o = {.size = sizeof o, .kind = DIS_ITEMS_TOKENS};
    dis_items *items = NULL;
    const dis_status status = dis_items_read(NULL, arg, &o, &items);
    dis_items_destroy(items);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s", put_text("w.csv", "task,sentence,token\n0,a,I\n1,b,you\n"));
    walk_faults(read_once, NULL, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),          cmocka_unit_test(tokens),   cmocka_unit_test(features),
        cmocka_unit_test(images),         cmocka_unit_test(refusals), cmocka_unit_test(survives_every_fault),
        cmocka_unit_test(texts_of_tasks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
