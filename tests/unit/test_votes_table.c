/* The votes table from arrays and counts: grouping, duplicates, ties, against a plain sort. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "core/fault_injection.h"
#include "core/random/random.h"
#include <stdlib.h>
#include <string.h>

static size_t label(const dis_votes_view *v, size_t i)
{
    return v->label8 ? v->label8[i] : v->label16[i];
}

static void groups_in_order(void **state)
{
    (void)state;
    const uint32_t task[] = {2, 0, 2, 1, 0, 2}, worker[] = {0, 1, 2, 0, 2, 1};
    const uint16_t given[] = {1, 0, 2, 2, 1, 0};
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = 6,
                                .n_items = 4,
                                .n_workers = 3,
                                .n_classes = 3,
                                .task = task,
                                .worker = worker,
                                .label = given};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes);
    const uint64_t start[] = {0, 2, 3, 6, 6};
    const uint32_t workers[] = {1, 2, 0, 0, 2, 1};
    const uint8_t labels[] = {0, 1, 2, 1, 2, 0};
    assert_int_equal(v.n_items, 4);
    assert_int_equal(v.n_votes, 6);
    assert_memory_equal(v.start, start, sizeof start);
    assert_memory_equal(v.worker, workers, sizeof workers);
    assert_memory_equal(v.label8, labels, sizeof labels);
    assert_null(v.label16);
    assert_string_equal(dis_names_get(v.tasks, 3, NULL), "3");
    /* items 0 and 2 have no largest class; item 3 has no votes and is no tie */
    assert_int_equal(dis_votes_get_notes(votes).ties, 2);
    dis_votes_destroy(votes);
}

static void duplicates_as_requested(void **state)
{
    (void)state;
    const uint32_t task[] = {0, 0, 0, 1, 1}, worker[] = {0, 1, 0, 1, 1};
    const uint16_t given[] = {0, 1, 1, 0, 1};
    dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                          .n_votes = 5,
                          .n_items = 2,
                          .n_workers = 2,
                          .n_classes = 2,
                          .task = task,
                          .worker = worker,
                          .label = given};
    dis_votes *votes = (dis_votes *)&a;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_EDATA);
    assert_ptr_equal(votes, &a);
    assert_non_null(strstr(dis_last_error(), "worker \"0\" voted twice on item \"0\""));
    static const struct {
        dis_duplicates rule;
        size_t n_votes;
        uint8_t labels[5];
        uint64_t ties;
    } cases[] = {{DIS_DUPLICATES_FIRST, 3, {0, 1, 0}, 1},
                 {DIS_DUPLICATES_LAST, 3, {1, 1, 1}, 0},
                 {DIS_DUPLICATES_ALL, 5, {0, 1, 1, 0, 1}, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        a.duplicates = cases[c].rule;
        assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
        assert_int_equal(dis_votes_get_view(votes).n_votes, cases[c].n_votes);
        assert_memory_equal(dis_votes_get_view(votes).label8, cases[c].labels, cases[c].n_votes);
        assert_int_equal(dis_votes_get_notes(votes).duplicates, 2);
        assert_int_equal(dis_votes_get_notes(votes).ties, cases[c].ties);
        dis_votes_destroy(votes);
    }
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    uint32_t task = 1, worker = 0;
    uint16_t given = 0;
    dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                          .n_votes = 1,
                          .n_items = 1,
                          .n_workers = 1,
                          .n_classes = 1,
                          .task = &task,
                          .worker = &worker,
                          .label = &given};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_EDATA);
    task = 0, worker = 1;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_EDATA);
    worker = 0, given = 1;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_EDATA);
    given = 0, a.n_classes = DIS_MAX_CLASSES + 1;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_ELIMIT);
    const double counts[] = {1, -1, 0, 0};
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 2, 2, NULL, NULL, &votes), DIS_EDATA);
}

static void counts_are_stored(void **state)
{
    (void)state;
    const double counts[] = {1, 2, 2, 2, 0, 0, .5, .25};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 4, 2, NULL, NULL, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes);
    assert_memory_equal(v.counts, counts, sizeof counts);
    assert_null(v.start);
    assert_int_equal(v.n_workers, 0);
    assert_int_equal(dis_names_count(v.workers), 0);
    assert_int_equal(dis_votes_get_notes(votes).ties, 1);
    dis_votes_destroy(votes);
}

/* Random tables, grouped or not, few or many items, long items, wide labels: the same as a stable sort by item, for any
 * number of threads. */
static void equal_to_a_stable_sort_threads(void **state)
{
    (void)state;
    static const struct {
        size_t n_votes, n_items, n_workers, n_classes;
        bool sorted;
    } shapes[] = {{1, 1, 1, 1, false},
                  {1000, 3, 50, 2, false},
                  {1000, 3, 50, 300, true},
                  {200000, 70000, 100, 4, false},
                  {300000, 1000, 2000, 7, false},
                  {300000, 90000, 20, 257, true},
                  {100000, 1, 100000, 5, false}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const size_t n = shapes[s].n_votes, n_items = shapes[s].n_items;
        uint32_t *task = malloc(n * sizeof *task), *worker = malloc(n * sizeof *worker);
        uint16_t *given = malloc(n * sizeof *given);
        uint64_t *next = calloc(n_items + 1, sizeof *next), *order = malloc(n * sizeof *order);
        for (size_t i = 0; i < n; i++) {
            task[i] = (uint32_t)(shapes[s].sorted ? i * n_items / n : dis__random_below(1, 1000, i, n_items));
            worker[i] = (uint32_t)dis__random_below(1, 1001, i, shapes[s].n_workers);
            given[i] = (uint16_t)dis__random_below(1, 1002, i, shapes[s].n_classes);
            next[task[i] + 1]++;
        }
        for (size_t i = 0; i < n_items; i++) next[i + 1] += next[i];
        const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                    .n_votes = n,
                                    .n_items = n_items,
                                    .n_workers = shapes[s].n_workers,
                                    .n_classes = shapes[s].n_classes,
                                    .task = task,
                                    .worker = worker,
                                    .label = given,
                                    .duplicates = DIS_DUPLICATES_ALL};
        uint64_t *start = malloc((n_items + 1) * sizeof *start);
        memcpy(start, next, (n_items + 1) * sizeof *start);
        for (size_t i = 0; i < n; i++) order[next[task[i]]++] = i;
        for (int threads = 1; threads <= 3; threads++) {
            dis_context_options o = dis_context_options_default();
            o.threads = threads;
            dis_context *ctx;
            dis_votes *votes;
            assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
            assert_int_equal(dis_votes_create_from_arrays(ctx, &a, &votes), DIS_OK);
            const dis_votes_view v = dis_votes_get_view(votes);
            assert_int_equal(v.n_votes, n);
            assert_memory_equal(v.start, start, (n_items + 1) * sizeof *start);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(v.worker[i], worker[order[i]]);
                assert_int_equal(label(&v, i), given[order[i]]);
            }
            dis_votes_destroy(votes);
            dis_context_destroy(ctx);
        }
        free(task), free(worker), free(given), free(next), free(order), free(start);
    }
}

/* Every allocation may fail: an error, no leak (the sanitizers look), nothing written. */
static void survives_no_memory(void **state)
{
    (void)state;
    uint32_t task[40], worker[40];
    uint16_t given[40];
    for (uint32_t i = 0; i < 40; i++) task[i] = i % 2, worker[i] = i % 19, given[i] = (uint16_t)(i % 3);
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = 40,
                                .n_items = 2,
                                .n_workers = 19,
                                .n_classes = 3,
                                .task = task,
                                .worker = worker,
                                .label = given,
                                .duplicates = DIS_DUPLICATES_LAST};
    for (uint64_t n = 1;; n++) {
        dis_votes *votes = NULL;
        dis__fault_arm(DIS_FAULT_ALLOC, n);
        const dis_status status = dis_votes_create_from_arrays(NULL, &a, &votes);
        const bool reached = dis__fault_reached(DIS_FAULT_ALLOC);
        dis__fault_arm(DIS_FAULT_ALLOC, 0);
        if (!reached) {
            assert_int_equal(status, DIS_OK);
            assert_int_equal(dis_votes_get_view(votes).n_votes, 38);
            dis_votes_destroy(votes);
            break;
        }
        assert_int_equal(status, DIS_ELIMIT);
        assert_null(votes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_in_order),
        cmocka_unit_test(duplicates_as_requested),
        cmocka_unit_test(wrong_arrays_are_refused),
        cmocka_unit_test(counts_are_stored),
        cmocka_unit_test(equal_to_a_stable_sort_threads),
        cmocka_unit_test(survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
