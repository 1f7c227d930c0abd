/* Data of experiments: tables without header, labels in binary files, several files as one set, counts in columns, some
 * of the votes; and what is wrong with data, told by its file. */
#include "experiment/run/dataset.h"
#include "dissent/dissent.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/plan_cases.h"

static dis__plan *plan_of(const char *data)
{
    char text[2048];
    dis__plan *plan = NULL;
    snprintf(text, sizeof text,
             "name: t\ndata: {d: {%s}}\nmeasure: {test: confidence}\ncells: [{labels: standard, name: a}]\n", data);
    if (dis__plan_read(NULL, put_text("e.yaml", text), NULL, &plan) != DIS_OK) fail_msg("%s", dis_last_error());
    return plan;
}

/* `set` SIZE_MAX: the data set itself. */
static dis__dataset read_dataset(const char *data, size_t set)
{
    dis__plan *plan = plan_of(data);
    dis__dataset m, own;
    if (dis__dataset_read(NULL, &dis__plan_internal_of(plan)->data[0], SIZE_MAX, NULL, &m) != DIS_OK)
        fail_msg("%s", dis_last_error());
    if (set != SIZE_MAX) {
        own = m;
        if (dis__dataset_read(NULL, &dis__plan_internal_of(plan)->data[0], set, &own, &m) != DIS_OK)
            fail_msg("%s", dis_last_error());
        dis__dataset_free(&own);
    }
    dis__plan_destroy(plan);
    return m;
}

static void expect_failure(const char *data, const char *message)
{
    dis__plan *plan = plan_of(data);
    dis__dataset m = {.n = 7}, own;
    dis_status status = dis__dataset_read(NULL, &dis__plan_internal_of(plan)->data[0], SIZE_MAX, NULL, &own);
    if (status == DIS_OK) {
        if (dis__plan_internal_of(plan)->data[0].part->sets.n)
            status = dis__dataset_read(NULL, &dis__plan_internal_of(plan)->data[0], 0, &own, &m);
        dis__dataset_free(&own);
    }
    assert_int_equal(status, DIS_EDATA);
    const char *path_in_message = strstr(dis_last_error(), folder);
    assert_string_equal(path_in_message ? path_in_message + strlen(folder) + 1 : dis_last_error(), message);
    assert_int_equal(m.n, 7);
    dis__plan_destroy(plan);
}

static void test_bare_table(void **state)
{
    (void)state;
    put_text("bare.tsv", "0\ta\tX\tx\n0\tb\tY\ty\n\n1\tc\tX\tx\n\n\n2\td\tZ\tz\n2\te\tX\tx\n");
    dis__dataset m = read_dataset("items: {file: tokens.csv, kind: tokens}, votes: votes.csv, gold: gold.csv, sets: "
                                  "{bare: {items: {file: bare.tsv, kind: "
                                  "tokens, header: [sentence, token, tag, class], numbered: yes}, gold: {file: "
                                  "bare.tsv, header: [sentence, token, tag, "
                                  "class], numbered: yes, label: class, where: {tag: X}}}}",
                                  0);
    static const int32_t label[] = {0, -1, 0, -1, 0};
    static const uint32_t sentence[] = {0, 0, 1, 2, 2};
    assert_true(m.n == 5 && m.n_groups == 3);
    assert_memory_equal(m.label, label, sizeof label);
    assert_memory_equal(m.group, sentence, sizeof sentence);
    assert_string_equal(dis_names_get(m.tasks, 4, NULL), "4");
    assert_string_equal(dis_names_get(dis_items_get_view(m.items).texts, 3, NULL), "d");
    dis__dataset_free(&m);
}

static void test_cifar(void **state)
{
    enum { RECORD = 3073 };
    static unsigned char bytes[3 * RECORD];
    (void)state;
    bytes[0] = 2;
    bytes[RECORD] = 0;
    bytes[2 * RECORD] = 1;
    put_file("images.bin", bytes, sizeof bytes);
    put_text("three.csv", "task,worker,label\n0,a,two\n1,a,none\n2,a,one\n");
    dis__dataset m =
        read_dataset("items: {file: images.bin, kind: images}, votes: three.csv, gold: {file: images.bin, map: "
                     "{0: none, 1: one, 2: two}}, classes: [none, one, two]",
                     SIZE_MAX);
    static const int32_t label[] = {2, 0, 1};
    assert_int_equal(m.n, 3);
    assert_memory_equal(m.label, label, sizeof label);
    dis__dataset_free(&m);
    expect_failure(
        "items: {file: images.bin, kind: images}, votes: three.csv, gold: {file: images.bin, map: {0: none, 2: two}}",
        "images.bin: \"1\" is not a key of the map; add it");
    put_file("cut.bin", bytes, RECORD + 1);
    expect_failure("votes: three.csv, gold: {file: cut.bin, format: cifar}",
                   "cut.bin: 3074 bytes are not records of 3073 bytes (a label, 3 x 32 x 32)");
}

static void test_joined(void **state)
{
    (void)state;
    put_text("pairs.jsonl", "{\"id\": \"a\", \"left\": \"one\", \"l\": 0, \"right\": \"two\", \"r\": 2}\n"
                            "{\"id\": \"b\", \"left\": \"three\", \"l\": 3, \"right\": \"four\", \"r\": 1}\n");
    put_text("v.csv", "task,worker,label\nl-a,w,no\nr-b,w,yes\n");
#define PAIRS(map)                                                                                               \
    "items: [{file: pairs.jsonl, task: id, text: left, prefix: l-}, {file: pairs.jsonl, task: id, text: right, " \
    "prefix: "                                                                                                   \
    "r-}], votes: v.csv, gold: [{file: pairs.jsonl, task: id, label: l, prefix: l-, map: " map                   \
    "}, {file: pairs.jsonl, task: id, label: r, prefix: r-, map: " map "}]"
    dis__dataset m = read_dataset(PAIRS("{0: no, 1: no, 2: yes, 3: yes}"), SIZE_MAX);
    static const int32_t label[] = {0, 1, 1, 0};
    static const char *const tasks[] = {"l-a", "l-b", "r-a", "r-b"}, *const texts[] = {"one", "three", "two", "four"};
    assert_int_equal(m.n, 4);
    assert_memory_equal(m.label, label, sizeof label);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(dis_names_get(m.tasks, i, NULL), tasks[i]);
        assert_string_equal(dis_names_get(dis_items_get_view(m.items).texts, i, NULL), texts[i]);
        assert_int_equal(m.vote_row[i], i == 0 ? 0 : i == 3 ? 1 : SIZE_MAX);
    }
    dis__dataset_free(&m);
    expect_failure(PAIRS("{0: no, 1: no, 2: yes}"),
                   "pairs.jsonl:2:35: \"3\" is not a key of the map; add it (byte 93)");
    expect_failure("items: [items.csv, items.csv], votes: votes.csv",
                   "two files have an item \"i0\"; give each file its own prefix");
}

static void test_columns(void **state)
{
    (void)state;
    dis__dataset m = read_dataset("votes: votes.csv, gold: gold.csv", SIZE_MAX),
                 c = read_dataset(
                     "items: items.csv, votes: {file: counts.csv, input: counts, columns: {n_z: z, n_x: x, n_y: "
                     "y}}, gold: gold.csv",
                     SIZE_MAX);
    const dis__labels_part softmax = {.method = "softmax"};
    dis__label_set a, b;
    assert_int_equal(dis__label_set_make(NULL, &m, &softmax, NULL, NULL, NULL, &a), DIS_OK);
    assert_int_equal(dis__label_set_make(NULL, &c, &softmax, NULL, NULL, NULL, &b), DIS_OK);
    assert_memory_equal(a.p, b.p, CROWD * CROWD_CLASSES * sizeof *a.p);
    dis__label_set_free(&a);
    dis__label_set_free(&b);
    dis__dataset_free(&m);
    dis__dataset_free(&c);
    put_text("few.csv", "task,n,part\na,1,1\nb,x,2\na,2,3\n");
#define FEW(more) "votes: {file: few.csv, input: counts, columns: {n: x}" more "}"
    expect_failure(FEW(""), "few.csv:3:3: \"x\" is not a count");
    expect_failure("classes: [y], " FEW(""), "columns: \"x\" is not a declared class");
    expect_failure(FEW(", where: {part: 7}"), "few.csv: it contains no counts");
    m = read_dataset(FEW(", where: {part: 1}"), SIZE_MAX);
    assert_int_equal(m.n, 1);
    dis__dataset_free(&m);
    put_text("few.csv", "task,n\na,1\na,2\n");
    expect_failure(FEW(""), "few.csv: the task \"a\" is repeated; keep one row of it");
}

/* Classes are those of votes and gold together: softmax gives a class that no one voted for its share. */
static void test_classes(void **state)
{
    (void)state;
    put_text("v.csv", "task,worker,label\n1,w,b\n2,w,d\n");
    put_text("g.csv", "task,label\n1,c\n2,a\n");
    dis__dataset m = read_dataset("votes: v.csv, gold: g.csv", SIZE_MAX);
    static const int32_t label[] = {2, 0};
    assert_int_equal(dis_names_count(m.classes), 4);
    assert_memory_equal(m.label, label, sizeof label);
    assert_int_equal(dis_votes_get_view(m.votes).n_classes, 4);
    dis__dataset_free(&m);
    expect_failure("classes: [a, b, d], votes: v.csv, gold: g.csv",
                   "g.csv: the gold label \"c\" is not a class of d; rename it with map");
    put_text("g.csv", "task,label\nx,c\n");
    expect_failure("votes: v.csv, gold: g.csv",
                   "g.csv: no gold label for any item of d; do the ids (\"1\", ...) match?");
    expect_failure("items: items.csv, votes: v.csv",
                   "d: no votes on any of its items; do the ids (\"i0\", ...) match?");
}

/* Some workers vote at random on everything, the others as they did; who does depends on the seed alone. */
static void test_random_workers(void **state)
{
    (void)state;
    dis__dataset m = read_dataset("votes: votes.csv", SIZE_MAX);
    const dis_votes_view v = dis_votes_get_view(m.votes);
    const dis__vote_draw half = {.random_workers = .5, .seed = 3}, every = {.random_workers = 1, .seed = 3};
    dis_votes *some, *again, *all;
    assert_int_equal(dis__votes_pick(NULL, &m, NULL, &half, &some), DIS_OK);
    assert_int_equal(dis__votes_pick(NULL, &m, NULL, &half, &again), DIS_OK);
    assert_int_equal(dis__votes_pick(NULL, &m, NULL, &every, &all), DIS_OK);
    const dis_votes_view h = dis_votes_get_view(some), a = dis_votes_get_view(all);
    assert_true(h.n_votes == v.n_votes && a.n_votes == v.n_votes);
    assert_memory_equal(h.label8, dis_votes_get_view(again).label8, h.n_votes);
    size_t changed[64] = {0}, votes[64] = {0}, n_random = 0, n[CROWD_CLASSES] = {0};
    for (size_t i = 0; i < v.n_votes; i++) {
        assert_true(h.worker[i] == v.worker[i] && v.worker[i] < 64);
        votes[v.worker[i]]++;
        changed[v.worker[i]] += h.label8[i] != v.label8[i];
        n[a.label8[i]]++;
    }
    for (size_t w = 0; w < v.n_workers; w++) n_random += changed[w] > 0;
    assert_true(n_random > 0 && n_random < v.n_workers);
    for (size_t w = 0; w < v.n_workers; w++) /* two of three answers at random are others */
        assert_true(changed[w] == 0 ||
                    fabs((double)changed[w] - (double)votes[w] * 2 / 3) < 4 * sqrt((double)votes[w]));
    for (size_t k = 0; k < CROWD_CLASSES; k++)
        assert_true(fabs((double)n[k] - (double)v.n_votes / CROWD_CLASSES) < 4 * sqrt((double)v.n_votes * 2 / 9));
    dis_votes_destroy(some);
    dis_votes_destroy(again);
    dis_votes_destroy(all);
    dis__dataset_free(&m);
}

static void test_some_votes(void **state)
{
    static const char *const data[] = {"votes: votes.csv",
                                       "votes: {file: counts.csv, input: counts, columns: {n_x: x, n_y: y, n_z: z}}"};
    const dis__labels_part standard = {.method = "standard"};
    (void)state;
    for (size_t d = 0; d < 2; d++) {
        dis__dataset m = read_dataset(data[d], SIZE_MAX);
        dis__label_set all, some, again, other;
        assert_int_equal(dis__label_set_make(NULL, &m, &standard, NULL, NULL, NULL, &all), DIS_OK);
        assert_int_equal(dis__label_set_make(NULL, &m, &standard, &(dis__vote_draw){.per_item = 3, .seed = 1}, NULL,
                                             NULL, &some),
                         DIS_OK);
        assert_int_equal(dis__label_set_make(NULL, &m, &standard, &(dis__vote_draw){.per_item = 3, .seed = 1}, NULL,
                                             NULL, &again),
                         DIS_OK);
        assert_int_equal(dis__label_set_make(NULL, &m, &standard, &(dis__vote_draw){.per_item = 3, .seed = 2}, NULL,
                                             NULL, &other),
                         DIS_OK);
        const size_t bytes = CROWD * CROWD_CLASSES * sizeof *all.p;
        assert_memory_equal(some.p, again.p, bytes);
        assert_memory_not_equal(some.p, other.p, bytes);
        for (size_t i = 0; i < CROWD * CROWD_CLASSES; i++) { /* thirds, of classes that somebody voted for */
            assert_true(some.p[i] == 0 || all.p[i] > 0);
            assert_true(fabs(some.p[i] * 3 - round(some.p[i] * 3)) < 1e-12);
        }
        dis__label_set_free(&again);
        assert_int_equal(dis__label_set_make(NULL, &m, &standard, &(dis__vote_draw){.per_item = 99, .seed = 1}, NULL,
                                             NULL, &again),
                         DIS_OK);
        assert_memory_equal(again.p, all.p, bytes);
        /* A single vote is of each class as often as its share says: 60 items, 40 seeds. */
        double sum = 0, expected = 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            dis__label_set one;
            assert_int_equal(dis__label_set_make(NULL, &m, &standard, &(dis__vote_draw){.per_item = 1, .seed = seed},
                                                 NULL, NULL, &one),
                             DIS_OK);
            for (size_t i = 0; i < CROWD; i++) sum += one.p[i * 3 + i % 3];
            dis__label_set_free(&one);
        }
        for (size_t i = 0; i < CROWD; i++) expected += 40 * all.p[i * 3 + i % 3];
        assert_true(fabs(sum - expected) < 4 * sqrt(40 * CROWD * .25));
        dis__label_set_free(&all);
        dis__label_set_free(&some);
        dis__label_set_free(&again);
        dis__label_set_free(&other);
        dis__dataset_free(&m);
    }
    dis__dataset m = read_dataset("votes: votes.csv", SIZE_MAX);
    bool wanted[CROWD] = {[3] = true, [8] = true};
    dis_votes *votes;
    assert_int_equal(dis__votes_pick(NULL, &m, wanted, NULL, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes), w = dis_votes_get_view(m.votes);
    assert_true(v.n_votes == 10 && v.n_workers == w.n_workers && v.n_items == w.n_items);
    dis_votes_destroy(votes);
    dis__dataset_free(&m);
    put_text("half.csv", "task,n_x,n_y\na,1.5,1\n");
    m = read_dataset("votes: {file: half.csv, input: counts, columns: {n_x: x, n_y: y}}", SIZE_MAX);
    dis__label_set none;
    assert_int_equal(dis__label_set_make(NULL, &m, &standard, &(dis__vote_draw){.per_item = 1, .seed = 0}, NULL, NULL,
                                         &none),
                     DIS_EDATA);
    dis__dataset_free(&m);
}

/* Labels made elsewhere, in another order of classes, of some of the items. */
static void test_label_file(void **state)
{
    (void)state;
    put_text("l.csv", "task,p:z,p:x\ni3,.25,.75\ni1,1,0\n");
    char path[512];
    strcpy(path, in_folder("l.csv"));
    const dis__labels_part file = {.file = path};
    dis__dataset m = read_dataset("items: items.csv, votes: votes.csv", SIZE_MAX);
    dis__label_set set;
    assert_int_equal(dis__label_set_make(NULL, &m, &file, NULL, NULL, NULL, &set), DIS_OK);
    for (size_t i = 0; i < CROWD; i++) assert_int_equal(set.has[i], i == 1 || i == 3);
    assert_true(set.p[9] == .75 && set.p[10] == 0 && set.p[11] == .25 && set.p[5] == 1);
    dis__label_set_free(&set);
    put_text("l.csv", "task,p:q\ni3,1\n");
    assert_int_equal(dis__label_set_make(NULL, &m, &file, NULL, NULL, NULL, &set), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "l.csv: the class \"q\" is not a class of the data set"));
    dis__dataset_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bare_table), cmocka_unit_test(test_cifar),      cmocka_unit_test(test_joined),
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_classes),    cmocka_unit_test(test_random_workers),
        cmocka_unit_test(test_some_votes), cmocka_unit_test(test_label_file),
    };
    return cmocka_run_group_tests(tests, make_crowd, remove_folder);
}
