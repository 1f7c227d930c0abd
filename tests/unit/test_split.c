/* Splits: every kind is a partition, in the shares that it says, the same for the same seed and another for another. */
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

typedef struct {
    dis__plan *plan;
    const dis__data *data;
    dis__dataset m;
} split_case;

static split_case open_case(const char *data)
{
    char text[1024];
    split_case s = {0};
    snprintf(text, sizeof text,
             "name: t\ndata: {d: {%s}}\nmeasure: {test: accuracy}\ncells: [{labels: standard}]\nlabels: {x: softmax}\n",
             data);
    if (dis__plan_read(NULL, put_text("e.yaml", text), NULL, &s.plan) != DIS_OK) fail_msg("%s", dis_last_error());
    s.data = &dis__plan_internal_of(s.plan)->data[0];
    if (dis__dataset_read(NULL, s.data, SIZE_MAX, NULL, &s.m) != DIS_OK) fail_msg("%s", dis_last_error());
    return s;
}

static void close_case(split_case *s)
{
    dis__dataset_free(&s->m);
    dis__plan_destroy(s->plan);
}

static void split_it(const split_case *s, size_t fold, uint64_t seed, uint8_t *part)
{
    if (dis__split_make(s->data, &s->m, fold, seed, part) != DIS_OK) fail_msg("%s", dis_last_error());
}

static size_t count(const split_case *s, const uint8_t *part, uint8_t of, int label)
{
    size_t n = 0;
    for (size_t i = 0; i < s->m.n; i++) n += part[i] == of && (label < 0 || s->m.label[i] == label);
    return n;
}

#define FILES "items: items.csv, votes: votes.csv, gold: gold.csv, "

static void test_folds(void **state)
{
    static const char *const cases[] = {FILES "split: {by: folds, folds: 5}",
                                        FILES "split: {by: folds, folds: 5, stratify: no}",
                                        FILES "split: {by: folds, folds: 5}, dev: none",
                                        FILES "split: {by: folds, folds: 5}, dev: .25"};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        split_case s = open_case(cases[c]);
        uint8_t part[CROWD], again[CROWD];
        int tested[CROWD] = {0}, judged[CROWD] = {0};
        assert_int_equal(s.data->n_folds, 5);
        for (size_t fold = 0; fold < 5; fold++) {
            split_it(&s, fold, 0, part);
            split_it(&s, fold, 9, again); /* folds do not change with the run's seed; shares do not either */
            assert_memory_equal(part, again, sizeof part);
            assert_int_equal(count(&s, part, DIS_PART_TEST, -1), 12);
            for (int k = 0; k < 3 && c != 1; k++) assert_int_equal(count(&s, part, DIS_PART_TEST, k), 4);
            const size_t n_dev = c == 2 ? 0 : 12;
            assert_int_equal(count(&s, part, DIS_PART_DEV, -1), n_dev);
            for (int k = 0; k < 3 && c != 1; k++) assert_int_equal(count(&s, part, DIS_PART_DEV, k), n_dev / 3);
            assert_int_equal(count(&s, part, DIS_PART_TRAIN, -1), CROWD - 12 - n_dev);
            for (size_t i = 0; i < CROWD; i++) {
                tested[i] += part[i] == DIS_PART_TEST;
                judged[i] += part[i] == DIS_PART_DEV;
            }
            if (c == 0) { /* dev is the fold behind */
                split_it(&s, (fold + 1) % 5, 0, again);
                for (size_t i = 0; i < CROWD; i++) assert_int_equal(part[i] == DIS_PART_DEV, again[i] == DIS_PART_TEST);
            }
        }
        for (size_t i = 0; i < CROWD; i++) assert_true(tested[i] == 1 && (c > 1 || judged[i] == 1));
        close_case(&s);
    }
    split_case s = open_case(FILES "split: {by: folds, folds: 5, seed: run}");
    uint8_t a[CROWD], b[CROWD];
    split_it(&s, 0, 0, a);
    split_it(&s, 0, 1, b);
    assert_memory_not_equal(a, b, sizeof a);
    close_case(&s);
}

/* Blocks in the order of the file: the folds of scikit-learn's StratifiedKFold(5) without shuffling. */
static void test_blocks_of_labels(void **state)
{
    (void)state;
    static const char expected[] = "000001000100110101111122122212322322322333333344433444444444";
    split_case s = open_case(FILES "split: {by: folds, folds: 5, order: file}");
    uint8_t part[CROWD];
    assert_int_equal(s.m.n, sizeof expected - 1);
    for (size_t i = 0; i < s.m.n; i++) s.m.label[i] = (int32_t)((i * i + i / 7) % 3);
    for (size_t fold = 0; fold < 5; fold++) {
        split_it(&s, fold, 0, part);
        for (size_t i = 0; i < s.m.n; i++) {
            const size_t f = (size_t)(expected[i] - '0');
            const uint8_t other = f == (fold + 1) % 5 ? DIS_PART_DEV : DIS_PART_TRAIN;
            assert_int_equal(part[i], f == fold ? DIS_PART_TEST : other);
        }
    }
    close_case(&s);
}

static void test_columns(void **state)
{
    (void)state;
    uint8_t part[CROWD];
    split_case s = open_case(FILES "split: {by: folds, column: fold}");
    assert_int_equal(s.data->n_folds, 4);
    for (size_t fold = 0; fold < 4; fold++) {
        split_it(&s, fold, 0, part);
        for (size_t i = 0; i < CROWD; i++)
            assert_int_equal(part[i], i % 4 == fold             ? DIS_PART_TEST
                                      : i % 4 == (fold + 1) % 4 ? DIS_PART_DEV
                                                                : DIS_PART_TRAIN);
    }
    close_case(&s);
    s = open_case(FILES "split: {by: column, column: part, train: train, dev: dev, test: test}");
    split_it(&s, 0, 0, part);
    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(part[i], i % 5 == 0 ? DIS_PART_TEST : i % 5 == 1 ? DIS_PART_DEV : DIS_PART_TRAIN);
    close_case(&s);
    s = open_case("votes: votes.csv, gold: gold.csv, split: {by: column, file: items.csv, column: fold, test: [1, 3]}");
    split_it(&s, 0, 0, part);
    for (size_t i = 0; i < CROWD; i++) assert_int_equal(part[i], i % 2 == 1 ? DIS_PART_TEST : DIS_PART_TRAIN);
    close_case(&s);
}

static void test_hold_out(void **state)
{
    static const struct {
        const char *split;
        size_t n;
    } cases[] = {{"{by: hold-out, size: 7}", 7},
                 {"{by: hold-out, size: .3}", 18},
                 {"{by: hold-out, size: .3, stratify: no}", 18}};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        char text[300];
        snprintf(text, sizeof text, FILES "split: %s, dev: .1", cases[c].split);
        split_case s = open_case(text);
        uint8_t part[CROWD], again[CROWD], other[CROWD];
        split_it(&s, 0, 3, part);
        split_it(&s, 0, 3, again);
        split_it(&s, 0, 4, other);
        assert_memory_equal(part, again, sizeof part);
        assert_memory_not_equal(part, other, sizeof part);
        assert_int_equal(count(&s, part, DIS_PART_TEST, -1), cases[c].n);
        for (int k = 0; k < 3 && c < 2; k++)
            assert_in_range(count(&s, part, DIS_PART_TEST, k), cases[c].n / 3, (cases[c].n + 2) / 3);
        assert_int_equal(count(&s, part, DIS_PART_DEV, -1), (CROWD - cases[c].n + 5) / 10);
        assert_int_equal(count(&s, part, DIS_PART_NONE, -1), 0);
        close_case(&s);
    }
    split_case s = open_case(FILES "split: {by: hold-out, size: 7, seed: 5}");
    uint8_t a[CROWD], b[CROWD];
    split_it(&s, 0, 0, a);
    split_it(&s, 0, 1, b);
    assert_memory_equal(a, b, sizeof a);
    close_case(&s);
    s = open_case(FILES "split: {by: block, size: 7}");
    split_it(&s, 0, 0, a);
    for (size_t i = 0; i < CROWD; i++) assert_int_equal(a[i], i >= CROWD - 7 ? DIS_PART_TEST : DIS_PART_TRAIN);
    close_case(&s);
    s = open_case(FILES "split: {by: block, size: 7, from: start}");
    split_it(&s, 0, 0, a);
    for (size_t i = 0; i < CROWD; i++) assert_int_equal(a[i], i < 7 ? DIS_PART_TEST : DIS_PART_TRAIN);
    close_case(&s);
    s = open_case(FILES "split: {by: hold-out, size: 60}");
    assert_int_equal(dis__split_make(s.data, &s.m, 0, 0, a), DIS_EDATA);
    assert_string_equal(dis_last_error(),
                        "d: holding out 60 leaves the training or the held-out part of 60 items empty");
    close_case(&s);
}

/* Rows that are left out give no gold label. */
static void test_left_out(void **state)
{
    (void)state;
    split_case s =
        open_case("items: items.csv, votes: votes.csv, classes: [x, y, z, other], "
                  "gold: {file: items.csv, label: truth, skip_empty: yes, leave_out: {truth: x}}, split: none");
    bool any = false;
    for (size_t i = 0; i < CROWD; i++) {
        any |= s.m.label[i] > 0;
        assert_int_not_equal(s.m.label[i], 0);
    }
    assert_true(any);
    close_case(&s);
}

/* Items that nothing is known of are in no part, and gold is that of the map. */
static void test_unknown(void **state)
{
    (void)state;
    split_case s = open_case(
        "items: items.csv, gold: {file: items.csv, label: truth, skip_empty: yes, map: {x: yes, other: no}}, "
        "votes: {file: votes.csv, min_votes: 5}, classes: [x, y, z, yes, no], split: {by: hold-out, size: 9}");
    uint8_t part[CROWD];
    split_it(&s, 0, 0, part);
    for (size_t i = 0; i < CROWD; i++) {
        assert_int_equal(s.m.label[i], i % 6 == 5 ? -1 : i % 3 == 0 ? 3 : 4);
        assert_int_equal(part[i] == DIS_PART_NONE, i % 6 == 5 && i % 10 == 9);
        assert_int_equal(s.m.vote_row[i] == SIZE_MAX, i % 10 == 9);
    }
    close_case(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds),    cmocka_unit_test(test_blocks_of_labels), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_hold_out), cmocka_unit_test(test_unknown),          cmocka_unit_test(test_left_out),
    };
    return cmocka_run_group_tests(tests, make_crowd, remove_folder);
}
