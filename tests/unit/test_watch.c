/* Votes as they come: rows, late votes, duplicates, classes that turn up, agreement with a fit to all votes; memory
 * that runs out at any point. */
#include "core/memory/memory.h"
#include "dissent/dissent.h"
#include "labels/online/retired_items.h"
#include "labels/online/watch_internal.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

typedef struct {
    size_t n, sure, more, limit;
    char last[64];
    double p;
    uint64_t sum; /* of what rows hold, in their order */
} heard;

static dis_status hear(void *user, const dis_watch_row *row)
{
    heard *h = user;
    h->n++;
    h->sure += row->reason == DIS_WATCH_CONFIDENT;
    h->more += row->reason == DIS_WATCH_NEEDS_VOTES;
    h->limit += row->reason == DIS_WATCH_VOTE_LIMIT;
    snprintf(h->last, sizeof h->last, "%s %.*s %llu %s", row->task, (int)row->n_label, row->label,
             (unsigned long long)row->votes, dis_watch_reason_name(row->reason));
    h->p = row->p;
    uint64_t bits;
    memcpy(&bits, &row->p, sizeof bits);
    h->sum = h->sum * 31 + bits + row->votes;
    return DIS_OK;
}

static dis_status vote(dis_watch *w, const char *task, const char *worker, const char *label)
{
    const dis_watch_vote v = {.size = sizeof(dis_watch_vote),
                              .task = task,
                              .n_task = strlen(task),
                              .worker = worker,
                              .n_worker = strlen(worker),
                              .label = label,
                              .n_label = strlen(label)};
    return dis_watch_add(w, &v);
}

static dis_watch *start(heard *h, dis_watch_options o)
{
    dis_watch *w;
    o.on_row = hear;
    o.user = h;
    if (dis_watch_create(&o, &w) != DIS_OK) fail_msg("%s", dis_last_error());
    return w;
}

static void an_item_is_reported_once(void **state)
{
    (void)state;
    static const char *const ab[] = {"a", "b"};
    heard h = {0};
    dis_watch_options o = dis_watch_options_default();
    o.power = 0;
    o.classes = ab;
    o.n_classes = 2;
    dis_watch *w = start(&h, o);
    assert_int_equal(vote(w, "t", "ann", "a"), DIS_OK);
    assert_int_equal(h.n, 0); /* one vote of a stranger: 2.5 / 3 */
    assert_int_equal(vote(w, "t", "bob", "a"), DIS_OK);
    assert_string_equal(h.last, "t a 2 confident"); /* 25 to 1 */
    assert_true(fabs(h.p - 25. / 26) < 1e-12);
    assert_int_equal(vote(w, "t", "cy", "b"), DIS_OK);
    assert_int_equal(h.n, 1);
    const dis_watch_view v = dis_watch_get_view(w);
    assert_int_equal(v.late, 1);
    assert_int_equal(v.votes, 3);
    assert_int_equal(v.open, 0);
    /* and cy is now known to be wrong at times: 0.5 + ... against a stranger */
    assert_true(w->model.sum[(2 * w->model.row + 1) * w->model.row + 0] == 1);
    assert_int_equal(vote(w, "u", "cy", "c"), DIS_EDATA);
    assert_int_equal(vote(w, "", "cy", "a"), DIS_EDATA);
    dis_watch_destroy(w);
}

static void unsure_items_ask_and_end(void **state)
{
    (void)state;
    heard h = {0};
    dis_watch_options o = dis_watch_options_default();
    o.max_votes = 5;
    dis_watch *w = start(&h, o);
    static const char *const worker[] = {"1", "2", "3", "4", "5"}, *const label[] = {"x", "y", "x", "y", "z"};
    for (int i = 0; i < 5; i++) assert_int_equal(vote(w, "hard", worker[i], label[i]), DIS_OK);
    assert_int_equal(h.more, 2); /* with 3 and with 4 */
    assert_int_equal(h.limit, 1);
    assert_int_equal(dis_watch_get_view(w).n_classes, 3);
    dis_watch_destroy(w);
}

static void second_votes_follow_the_rule(void **state)
{
    (void)state;
    static const struct {
        dis_duplicates rule;
        dis_status status;
        size_t votes;
        uint16_t label;
    } cases[] = {{DIS_DUPLICATES_ERROR, DIS_EDATA, 1, 0},
                 {DIS_DUPLICATES_FIRST, DIS_OK, 1, 0},
                 {DIS_DUPLICATES_LAST, DIS_OK, 1, 1},
                 {DIS_DUPLICATES_ALL, DIS_OK, 2, 0}};
    static const char *const ab[] = {"a", "b"};
    for (size_t c = 0; c < 4; c++) {
        heard h = {0};
        dis_watch_options o = dis_watch_options_default();
        o.duplicates = cases[c].rule;
        o.classes = ab;
        o.n_classes = 2;
        dis_watch *w = start(&h, o);
        assert_int_equal(vote(w, "t", "ann", "a"), DIS_OK);
        assert_int_equal(vote(w, "t", "ann", "b"), cases[c].status);
        assert_int_equal(w->item[0].n_votes, cases[c].votes);
        assert_int_equal(w->item[0].vote[0].label, cases[c].label);
        /* the counts hold what the item's posterior says, whatever happened */
        double sum = 0;
        for (size_t x = 0; x < w->model.row * w->model.row; x++) sum += w->model.sum[x];
        assert_true(fabs(sum - (double)cases[c].votes) < 1e-12);
        dis_watch_destroy(w);
    }
}

/* A crowd: worker w is right with a chance that depends on w; item i has class i % K. */
enum { ITEMS = 400, WORKERS = 12, K = 5, EACH = 6 };

static uint32_t noise(uint32_t x)
{
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

static uint16_t label_of(uint32_t i, uint32_t w)
{
    const uint32_t r = noise(i * 131 + w * 7919 + 5);
    return (uint16_t)(r % 100 < 45 + 4 * w ? i % K : (i + 1 + r / 100 % (K - 1)) % K);
}

static void feed(dis_watch *w)
{
    for (uint32_t n = 0; n < EACH; n++)
        for (uint32_t i = 0; i < ITEMS; i++) {
            char task[40], worker[40], label[40];
            const uint32_t who = (i * 5 + n * (1 + i % 2)) % WORKERS;
            snprintf(task, sizeof task, "task %u of many", i);
            snprintf(worker, sizeof worker, "w%u", who);
            snprintf(label, sizeof label, "c%u", label_of(i, who));
            const dis_status status = vote(w, task, worker, label);
            if (status != DIS_OK) fail_msg("%s", dis_last_error());
        }
}

static void it_agrees_with_a_fit_to_all_votes(void **state)
{
    (void)state;
    heard h = {0};
    dis_watch_options o = dis_watch_options_default();
    o.confidence = 1;
    o.min_votes = 1000;
    o.request_from = 0;
    o.power = 0;
    dis_watch *w = start(&h, o);
    feed(w);
    assert_int_equal(dis_watch_finalize(w), DIS_OK);
    uint32_t task[ITEMS * EACH], worker[ITEMS * EACH];
    uint16_t label[ITEMS * EACH];
    size_t n = 0;
    for (uint32_t k = 0; k < EACH; k++)
        for (uint32_t i = 0; i < ITEMS; i++, n++) {
            task[n] = i;
            worker[n] = (i * 5 + k * (1 + i % 2)) % WORKERS;
            label[n] = label_of(i, worker[n]);
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = K,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes;
    dis_fit *fit;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    assert_int_equal(dis_fit_run(NULL, votes, "dawid-skene", NULL, &fit), DIS_OK);
    const double *p = dis_fit_p(fit);
    double apart = 0;
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t t = 0; t < K; t++) { /* classes of the watch are in order of appearance */
            size_t at = 0;
            char name[16];
            snprintf(name, sizeof name, "c%zu", t);
            while (strcmp(w->class_name.bytes + w->class_name.start[at], name) != 0) at++;
            apart += fabs(p[i * K + t] - w->p[i * w->row + at]) / 2 / ITEMS;
        }
    assert_true(apart < .02); /* what leaving an item's own votes out makes of it */
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
    dis_watch_destroy(w);
}

static void rows_are_a_function_of_the_votes(void **state)
{
    (void)state;
    heard h[2] = {{0}, {0}};
    dis_watch_options o = dis_watch_options_default();
    o.power = 0;
    size_t right = 0;
    for (int r = 0; r < 2; r++) {
        dis_watch *w = start(&h[r], o);
        feed(w);
        assert_int_equal(dis_watch_finalize(w), DIS_OK);
        const dis_watch_view v = dis_watch_get_view(w);
        assert_int_equal(v.n_confident + v.open, ITEMS);
        assert_int_equal(v.votes, ITEMS * EACH);
        assert_int_equal(v.votes_confident + v.votes_open + v.late, v.votes);
        assert_int_equal(v.n_confident, h[r].sure);
        right = v.n_confident;
        dis_watch_destroy(w);
    }
    assert_true(right > ITEMS / 2);
    assert_true(h[0].sum == h[1].sum);
}

static void done_items_are_known_again(void **state)
{
    (void)state;
    enum { N = 10000, REMEMBERED = 500 };
    dis__retired_items all = {0}, some = {.remember = REMEMBERED};
    size_t label, n_some = 0;
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(dis__retired_items_add(&all, i * 0x9e3779b97f4a7c15u, (uint16_t)(i % 7)), DIS_OK);
        assert_int_equal(dis__retired_items_add(&some, i * 0x9e3779b97f4a7c15u, (uint16_t)(i % 7)), DIS_OK);
    }
    for (uint64_t i = 0; i < N; i++) {
        assert_true(dis__retired_items_find(&all, i * 0x9e3779b97f4a7c15u, &label));
        assert_int_equal(label, i % 7);
        const bool remembered = dis__retired_items_find(&some, i * 0x9e3779b97f4a7c15u, &label);
        assert_true(remembered || i < N - REMEMBERED);
        n_some += remembered;
    }
    assert_false(dis__retired_items_find(&all, 12345, &label));
    assert_true(n_some <= 2 * REMEMBERED);
    dis__retired_items_destroy(&all);
    dis__retired_items_destroy(&some);
}

static dis_status some_votes(void *arg)
{
    const char *const *path = arg;
    dis_watch_options o = dis_watch_options_default();
    o.power = 0;
    dis_watch *w;
    DIS_TRY(dis_watch_create(&o, &w));
    dis_status status = dis_watch_read(NULL, w, path[0], NULL);
    if (status == DIS_OK) status = dis_watch_finalize(w);
    if (status == DIS_OK) status = dis_watch_write(w, path[1], "csv");
    if (status == DIS_OK) assert_int_equal(dis_watch_get_view(w).votes, 300);
    dis_watch_destroy(w);
    return status;
}

static void memory_and_disk_failures_are_reported(void **state)
{
    (void)state;
    char votes[512], open[512];
    snprintf(votes, sizeof votes, "%s", in_folder("votes.csv"));
    snprintf(open, sizeof open, "%s", in_folder("open.csv"));
    FILE *f = fopen(votes, "w");
    assert_non_null(f);
    fputs("task,worker,label\n", f);
    for (int i = 0; i < 300; i++)
        fprintf(f, "a task with a long name %d,a worker with a long name %d,a label with a long name %d\n", i % 80,
                i / 8, i % 6);
    fclose(f);
    const char *path[] = {votes, open};
    walk_faults(some_votes, NULL, path);
}

/* Votes on items that stay open, or of workers, or with labels, that are all new, until memory is used up. */
static size_t votes_until_full(uint64_t memory, bool tasks, bool workers, bool labels)
{
    enum { MANY = 200000 };
    heard h = {0};
    dis_watch_options o = dis_watch_options_default();
    o.memory = memory;
    o.confidence = 1;
    o.request_from = 0;
    o.duplicates = DIS_DUPLICATES_ALL;
    dis_watch *w = start(&h, o);
    dis_status status = DIS_OK;
    size_t n = 0;
    for (; n < MANY && status == DIS_OK; n++) {
        char task[64], worker[64], label[64];
        snprintf(task, sizeof task, "task %zu", tasks ? n : n % 100);
        snprintf(worker, sizeof worker, "worker with a long name %zu", workers ? n : n % 10);
        snprintf(label, sizeof label, "%zu", labels ? n % 3000 : n % 2);
        status = vote(w, task, worker, label);
    }
    assert_int_equal(status, n < MANY ? DIS_ELIMIT : DIS_OK);
    if (n < MANY) assert_non_null(strstr(dis_last_error(), "`memory` allows"));
    assert_true(dis__watch_bytes(w) <= memory);
    dis_watch_destroy(w);
    return n;
}

static void memory_is_bounded(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20;
    for (int what = 0; what < 3; what++) {
        const size_t few = votes_until_full(mib, what == 0, what == 1, what == 2);
        const size_t more = votes_until_full(8 * mib, what == 0, what == 1, what == 2);
        assert_true(few > 10 && few < more); /* what fits is not refused */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_reported_once),
        cmocka_unit_test(unsure_items_ask_and_end),
        cmocka_unit_test(second_votes_follow_the_rule),
        cmocka_unit_test(it_agrees_with_a_fit_to_all_votes),
        cmocka_unit_test(rows_are_a_function_of_the_votes),
        cmocka_unit_test(done_items_are_known_again),
        cmocka_unit_test(memory_and_disk_failures_are_reported),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
