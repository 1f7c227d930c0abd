/* Reading large tables of votes: neither threads, nor the size of chunks, nor the way a row goes make a difference,
 * whatever the ids are like. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/random/random.h"
#include "support/sanitized.h"
#include "support/votes_read_support.h"
#include "support/votes_support.h"

/* A file of some thousand rows: ids of 0 to 40 bytes, mostly short; in runs or scattered; few labels or many; columns
 * in any order, perhaps one more; quotes and CRLF never, seldom or often. */
static size_t random_rows(uint64_t p, char *text)
{
    uint64_t draw = 0;
#define DRAW_ROWS(n) dis__random_below(43, p, draw++, n)
    static const char *const heads[] = {"task,worker,label", "task,worker,label", "label,task,worker",
                                        "task,more,worker,label"};
    static const unsigned often[] = {0, 0, 2, 30};
    const unsigned quoted = often[DRAW_ROWS(4)], crlf = often[DRAW_ROWS(4)], long_ids = often[DRAW_ROWS(4)],
                   odd = often[DRAW_ROWS(3)];
    const char *head = heads[DRAW_ROWS(4)];
    const size_t n_rows = 1 + DRAW_ROWS(3000), run = 1 + DRAW_ROWS(6), n_ids = 1 + DRAW_ROWS(2000);
    const size_t n_labels = 1 + DRAW_ROWS(p % 2 ? 5 : 40);
    size_t n = (size_t)sprintf(text, "%s\n", head);
    for (size_t r = 0; r < n_rows; r++) {
        for (const char *column = head; column; column = strchr(column, ',') ? strchr(column, ',') + 1 : NULL) {
            char id[64];
            const size_t number = column[0] == 'l'   ? DRAW_ROWS(n_labels)
                                  : column[0] == 'w' ? DRAW_ROWS(300)
                                  : run == 1         ? DRAW_ROWS(n_ids)
                                                     : r / run;
            size_t length = (size_t)sprintf(id, "%c%zu", column[0], number);
            if (number % 100 < long_ids) {
                memset(id + length, 'x', 40 - length);
                length += number % (40 - length);
            }
            if (DRAW_ROWS(1000) < odd) length = 0;
            const bool quote = DRAW_ROWS(100) < quoted;
            n += (size_t)sprintf(text + n, quote ? "\"%.*s\"," : "%.*s,", (int)length, id);
        }
        n--; /* the last comma */
        n += (size_t)sprintf(text + n, DRAW_ROWS(100) < crlf ? "\r\n" : "\n");
    }
    return n;
#undef DRAW_ROWS
}

/* With a drop rule every row goes the careful way; without one, most go the fast way, which differs by instruction
 * set. */
static void fast_and_careful_agree(void **state)
{
    (void)state;
    enum { PROBLEMS = SANITIZED ? 12 : 120 };
    static const dis_drop_rule never[] = {{"label", "no label is like this"}};
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    static const dis__tuning tunings[] = {{.chunk = 1 << 19, .round = 2}, {.chunk = 3000, .round = 4}};
    char *text = malloc(3000 * 200);
    for (uint64_t p = 0; p < PROBLEMS; p++) {
        put_file("rows.csv", text, random_rows(p, text));
        const char *path = in_folder("rows.csv");
        dis_votes_options o = {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL, .lenient = p % 3 != 0};
        dis_votes_options careful = o;
        careful.drop = never;
        careful.n_drop = 1;
        dis_votes *want = NULL;
        const dis_status expected = dis__votes_read(NULL, &path, 1, &careful, &tunings[0], &want);
        char message[1000];
        snprintf(message, sizeof message, "%s", dis_last_error());
        for (size_t way = 0; way < 6; way++) {
            setenv("DISSENT_ISA", sets[way / 2], 1);
            dis_context *ctx = context_of(way % 2 ? 3 : 1);
            dis_votes *votes = NULL;
            assert_int_equal(dis__votes_read(ctx, &path, 1, &o, &tunings[way % 2], &votes), expected);
            if (expected == DIS_OK)
                assert_same_votes(votes, want);
            else
                assert_string_equal(dis_last_error(), message);
            dis_votes_destroy(votes);
            dis_context_destroy(ctx);
        }
        unsetenv("DISSENT_ISA");
        dis_votes_destroy(want);
    }
    free(text);
}

/* Many ids, more than one round of chunks, in runs, shuffled and by worker; the same bytes for 1, 2, 3, 7 and 16
 * threads. */
static void large_tables_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { VOTES = 60000 };
    char *text = malloc(VOTES * 64);
    for (int shape = 0; shape < 3; shape++) {
        size_t n = (size_t)sprintf(text, "task,worker,label\n");
        static uint32_t task[VOTES], worker[VOTES];
        for (uint32_t i = 0; i < VOTES; i++) {
            const uint32_t j = shape == 1 ? (uint32_t)(i * 7919ull % VOTES) : i;
            task[i] = shape == 2 ? j % 9000 : j / 4;
            worker[i] = shape == 2 ? j / 9000 : j % 4 * 5000 + task[i] % 5000;
            n += (size_t)sprintf(text + n, "item-%u%s,w%u,%u\n", task[i], task[i] % 3 ? "" : "-with-a-long-name",
                                 worker[i], (task[i] + worker[i]) % 5);
        }
        put_file("big.csv", text, n);
        const char *path = in_folder("big.csv");
        dis_votes *first = NULL;
        static const int threads[] = {1, 2, 3, 7, 16};
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            dis_context *ctx = context_of(threads[t]);
            dis_votes *votes;
            const dis__tuning tuning = {.chunk = t % 2 ? 5000 : 1 << 19, .round = t % 2 ? 4 : 16};
            assert_int_equal(dis__votes_read(ctx, &path, 1, NULL, &tuning, &votes), DIS_OK);
            dis_context_destroy(ctx);
            const dis_votes_view v = dis_votes_get_view(votes);
            if (!first) {
                first = votes;
                assert_int_equal(v.n_votes, VOTES);
                uint64_t *next = malloc(v.n_items * sizeof *next);
                memcpy(next, v.start, v.n_items * sizeof *next);
                static uint32_t item_of[VOTES];
                uint32_t items = 0;
                memset(item_of, 0, sizeof item_of);
                for (uint32_t i = 0; i < VOTES; i++) {
                    if (!item_of[task[i]]) item_of[task[i]] = ++items;
                    const uint64_t at = next[item_of[task[i]] - 1]++;
                    char name[16];
                    snprintf(name, sizeof name, "w%u", worker[i]);
                    assert_string_equal(dis_names_get(v.workers, v.worker[at], NULL), name);
                    assert_int_equal(v.label8[at], (task[i] + worker[i]) % 5);
                }
                assert_int_equal(v.n_items, items);
                free(next);
                continue;
            }
            const dis_votes_view f = dis_votes_get_view(first);
            assert_int_equal(v.n_items, f.n_items);
            assert_int_equal(v.n_workers, f.n_workers);
            assert_memory_equal(v.start, f.start, (v.n_items + 1) * sizeof *v.start);
            assert_memory_equal(v.worker, f.worker, v.n_votes * sizeof *v.worker);
            assert_memory_equal(v.label8, f.label8, v.n_votes);
            for (size_t i = 0; i < v.n_items; i++)
                assert_string_equal(dis_names_get(v.tasks, i, NULL), dis_names_get(f.tasks, i, NULL));
            dis_votes_destroy(votes);
        }
        dis_votes_destroy(first);
    }
    free(text);
}

/* Ids that collide under hashes without a key (sums, and multiplication by 31 as in Java): "Aa" and "BB" in all orders.
 * Were they to collide here, this would take minutes. */
static void colliding_ids_do_no_harm(void **state)
{
    (void)state;
    enum { PAIRS = 16 };
    char *text = malloc((1u << PAIRS) * (2 * PAIRS + 8) + 100);
    size_t n = (size_t)sprintf(text, "task,worker,label\n");
    for (uint32_t i = 0; i < 1u << PAIRS; i++) {
        for (int p = 0; p < PAIRS; p++) n += (size_t)sprintf(text + n, "%s", i >> p & 1 ? "Aa" : "BB");
        n += (size_t)sprintf(text + n, ",w,x\n");
    }
    put_file("a.csv", text, n);
    free(text);
    const char *path = in_folder("a.csv");
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_OK);
    assert_int_equal(dis_votes_get_view(votes).n_items, 1u << PAIRS);
    dis_votes_destroy(votes);
}

/* Long stretches of one task and worker, then many at once: rounds that find no room for their new ids are read again,
 * and the ids are numbered as if nothing had happened. Some ids are long, some are quoted. */
static void bursts_of_new_ids(void **state)
{
    (void)state;
    static char text[1 << 16], out[ROOM], id[64];
    size_t n = (size_t)sprintf(text, "task,worker,label\n");
    static const char *const forms[] = {"%zx", "%zxabcdefg", "%zx-and-more-than-sixteen-bytes",
                                        "\"%zx, a quoted task\""};
    for (size_t i = 0, k = 0; i < 2400; i++) {
        const bool burst = i % 800 >= 500;
        k += burst;
        sprintf(id, forms[i / 800 + (k % 50 == 49)], k);
        n += (size_t)sprintf(text + n, "%s,w%zu,x\n", burst ? id : "t", burst ? k : 0);
    }
    const dis_votes_options o = {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL};
    assert_int_equal(read_bytes("a.csv", text, n, &o, out), DIS_OK);
    assert_non_null(strstr(out, "| t:w0=x,w0=x,"));
    assert_non_null(strstr(out, " 1:w1=x, 2:w2=x, 3:w3=x,"));
    assert_non_null(strstr(out, " 12dabcdefg:w301=x,"));
    assert_non_null(strstr(out, "| rows 2400 twice 1499"));
    dis_votes *votes;
    const char *path = in_folder("a.csv");
    assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes);
    assert_int_equal(v.n_items, 901);
    assert_int_equal(v.n_workers, 901);
    for (size_t k = 0; k < v.n_workers; k++) { /* as they appear */
        sprintf(id, "w%zu", k);
        assert_string_equal(dis_names_get(v.workers, k, NULL), id);
    }
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_and_careful_agree),
        cmocka_unit_test(large_tables_do_not_depend_on_threads),
        cmocka_unit_test(colliding_ids_do_no_harm),
        cmocka_unit_test(bursts_of_new_ids),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
