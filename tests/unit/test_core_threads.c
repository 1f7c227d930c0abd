/* The thread pool: every job once, the lowest failure wins whatever the threads do, stopping, limits. Runs under tsan.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <stdio.h>
#include <stdatomic.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "core/fault_injection.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"

static const int thread_counts[] = {1, 2, 3, 7, 16};
enum { N_COUNTS = sizeof thread_counts / sizeof *thread_counts };

static dis_context *context(int threads)
{
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis_context_n_threads(ctx), threads);
    return ctx;
}

typedef struct {
    _Atomic int runs[1000];
    int n_threads;
    double result[1000];
} tally;

static dis_status count(void *arg, size_t j, int thread)
{
    tally *t = arg;
    if (thread < 0 || thread >= t->n_threads) return dis__fail(DIS_EBUG, "thread %d of %d", thread, t->n_threads);
    atomic_fetch_add(&t->runs[j], 1);
    double x = (double)j;
    for (int i = 0; i < 100; i++) x = x * .75 + 1 / (x + 1);
    t->result[j] = x; /* plain memory: the pool must publish it to the caller */
    return DIS_OK;
}

static void every_job_once(void **state)
{
    (void)state;
    static tally first, now;
    for (int c = 0; c < N_COUNTS; c++) {
        dis_context *ctx = context(thread_counts[c]);
        for (size_t n = 0; n <= 1000; n += n < 20 ? 1 : 490) {
            memset(&now, 0, sizeof now);
            now.n_threads = thread_counts[c];
            assert_int_equal(dis__run_jobs(ctx, n, count, &now), DIS_OK);
            for (size_t j = 0; j < 1000; j++) assert_int_equal(now.runs[j], j < n);
        }
        if (c == 0) first = now;
        assert_memory_equal(first.result, now.result, sizeof now.result);
        dis_context_destroy(ctx);
    }
    memset(&now, 0, sizeof now);
    now.n_threads = 1;
    assert_int_equal(dis__run_jobs(NULL, 10, count, &now), DIS_OK); /* no context: the caller's own thread */
    for (size_t j = 0; j < 10; j++) assert_int_equal(now.runs[j], 1);
}

typedef struct {
    size_t fails_from;
    _Atomic size_t n_run;
} failing;

static dis_status fail_late_first(void *arg, size_t j, int thread)
{
    (void)thread;
    failing *f = arg;
    atomic_fetch_add(&f->n_run, 1);
    if (j < f->fails_from) return DIS_OK;
    if (j == f->fails_from) usleep(2000); /* the others that fail are done first */
    return dis__fail(j % 2 ? DIS_EDATA : DIS_EIO, "job %zu", j);
}

static void lowest_failure_wins(void **state)
{
    (void)state;
    for (int c = 0; c < N_COUNTS; c++) {
        dis_context *ctx = context(thread_counts[c]);
        for (size_t from = 0; from < 60; from += 7) {
            failing f = {.fails_from = from};
            char expected[32];
            snprintf(expected, sizeof expected, "job %zu", from);
            dis__set_error("");
            assert_int_equal(dis__run_jobs(ctx, 1000, fail_late_first, &f), from % 2 ? DIS_EDATA : DIS_EIO);
            assert_string_equal(dis_last_error(), expected);
            assert_true(f.n_run <= from + 2 * (size_t)thread_counts[c]); /* no new jobs after a failure */
        }
        failing fine = {.fails_from = SIZE_MAX}; /* and the pool is as good as new */
        assert_int_equal(dis__run_jobs(ctx, 50, fail_late_first, &fine), DIS_OK);
        assert_int_equal(fine.n_run, 50);
        dis_context_destroy(ctx);
    }
}

typedef struct {
    pthread_t caller;
    _Atomic int n_run;
    int polls, stop_after;
} stopper;

static int stop(void *user)
{
    stopper *s = user;
    assert_true(pthread_equal(pthread_self(), s->caller)); /* promised in context.h */
    return ++s->polls > s->stop_after;
}

static void watch(void *user, const char *what, double done)
{
    assert_true(pthread_equal(pthread_self(), ((stopper *)user)->caller));
    assert_string_equal(what, "working");
    assert_true(done == .5);
    ((stopper *)user)->polls = -1;
}

static dis_status slow(void *arg, size_t j, int thread)
{
    (void)j;
    (void)thread;
    atomic_fetch_add(&((stopper *)arg)->n_run, 1);
    usleep(200);
    return DIS_OK;
}

static void stopping(void **state)
{
    (void)state;
    for (int c = 0; c < N_COUNTS; c++) {
        stopper s = {.caller = pthread_self(), .stop_after = 3};
        dis_context_options o = dis_context_options_default();
        o.threads = thread_counts[c];
        o.stop = stop;
        o.progress = watch;
        o.user = &s;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        assert_int_equal(dis__run_jobs(ctx, 100000, slow, &s), DIS_ECANCELLED);
        assert_string_equal(dis_last_error(), "stopped");
        assert_true(s.n_run >= 3 && s.n_run < 10000);
        s.polls = 0;
        assert_int_equal(dis__check_stop(ctx), DIS_OK);
        s.polls = 3;
        assert_int_equal(dis__check_stop(ctx), DIS_ECANCELLED);
        dis__progress(ctx, "working", .5);
        assert_int_equal(s.polls, -1);
        dis_context_destroy(ctx);
    }
    assert_int_equal(dis__check_stop(NULL), DIS_OK);
    dis__progress(NULL, "nobody", 1);
}

static void cutting(void **state)
{
    (void)state;
    assert_int_equal(dis__n_jobs(0, 10, 8), 1);
    assert_int_equal(dis__n_jobs(9, 10, 8), 1);
    assert_int_equal(dis__n_jobs(25, 10, 8), 2);
    assert_int_equal(dis__n_jobs(1000, 10, 8), 8);
    assert_int_equal(dis__n_jobs(5, 0, 8), 5);
    static const size_t sizes[] = {0, 1, 2, 7, 100, 12345, SIZE_MAX};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t jobs = 1; jobs < 40; jobs++) {
            assert_true(dis__job_first(sizes[s], jobs, 0) == 0);
            assert_true(dis__job_first(sizes[s], jobs, jobs) == sizes[s]);
            for (size_t j = 0; j < jobs; j++) {
                const size_t n = dis__job_first(sizes[s], jobs, j + 1) - dis__job_first(sizes[s], jobs, j);
                assert_true(n == sizes[s] / jobs || n == sizes[s] / jobs + 1);
            }
        }
}

static void memory_limit(void **state)
{
    (void)state;
    dis_context_options o = dis_context_options_default();
    o.threads = 1;
    o.memory = 1000;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis__check_memory(ctx, 1000, "this"), DIS_OK);
    assert_int_equal(dis__check_memory(ctx, 1001, "this"), DIS_ELIMIT);
    assert_string_equal(dis_last_error(), "this would need 1001 bytes, and `memory` allows 1000 bytes; raise it");
    assert_int_equal(dis__check_memory(ctx, SIZE_MAX, "this"), DIS_ELIMIT);
    assert_string_equal(dis_last_error(), "this would need more memory than any machine has");
    dis_context_destroy(ctx);
    assert_int_equal(dis__check_memory(NULL, 1 << 20, "this"), DIS_OK);
    assert_int_equal(dis__check_memory(NULL, SIZE_MAX, "this"), DIS_ELIMIT);
    assert_int_equal(dis__check_memory(NULL, (size_t)1 << 60, "this"), DIS_ELIMIT);
}

static void bad_counts(void **state)
{
    (void)state;
    dis_context_options o = dis_context_options_default();
    dis_context *ctx = (void *)&o, *const before = ctx;
    o.threads = -1;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_EUSAGE);
    assert_string_equal(dis_last_error(), "threads must be between 0 (all) and 1024, not -1");
    o.threads = 1025;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_EUSAGE);
    assert_ptr_equal(ctx, before);
    assert_int_equal(dis_context_create(NULL, &ctx), DIS_OK);
    assert_true(dis_context_n_threads(ctx) >= 1);
    dis_context_destroy(ctx);
    dis_context_destroy(NULL);
    assert_int_equal(dis_context_n_threads(NULL), 1);
}

static void allocation_faults(void **state)
{
    (void)state;
    dis_context_options o = dis_context_options_default();
    o.threads = 3;
    for (uint64_t n = 1;; n++) {
        dis_context *ctx = NULL;
        dis__fault_arm(DIS_FAULT_ALLOC, n);
        const dis_status status = dis_context_create(&o, &ctx);
        const bool reached = dis__fault_reached(DIS_FAULT_ALLOC);
        dis__fault_arm(DIS_FAULT_ALLOC, 0);
        assert_int_equal(status, reached ? DIS_ELIMIT : DIS_OK);
        assert_true((ctx == NULL) == reached);
        dis_context_destroy(ctx);
        if (!reached) break;
    }
}

/* A system without threads to give. The sanitizers need address space themselves. */
static void no_more_threads(void **state)
{
    (void)state;
#ifdef DIS_SANITIZED
    skip();
#else
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit space = {1u << 30, 1u << 30};
        setrlimit(RLIMIT_AS, &space);
        dis_context_options o = dis_context_options_default();
        o.threads = 1024;
        dis_context *ctx = NULL;
        int got = 0;
        const dis_status status = dis_context_create(&o, &ctx);
        const bool has_message =
            sscanf(dis_last_error(), "the system provides only %d threads; request fewer", &got) == 1;
        _exit(status == DIS_ELIMIT && has_message && got > 1 && got < 1024 && !ctx ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
#endif
}

/* Contexts of different threads do not meet, and neither do their messages. */
static void *own_context(void *arg)
{
    for (int i = 0; i < 20; i++) {
        dis_context_options o = dis_context_options_default();
        o.threads = 2;
        dis_context *ctx;
        if (dis_context_create(&o, &ctx) != DIS_OK) return "create";
        failing f = {.fails_from = (size_t)(uintptr_t)arg};
        const dis_status status = dis__run_jobs(ctx, 100, fail_late_first, &f);
        char expected[32];
        snprintf(expected, sizeof expected, "job %zu", f.fails_from);
        dis_context_destroy(ctx);
        if (status == DIS_OK || strcmp(dis_last_error(), expected) != 0) return "message";
    }
    return NULL;
}

static void contexts_side_by_side(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (uintptr_t t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, own_context, (void *)(t * 3)), 0);
    for (int t = 0; t < 4; t++) {
        void *wrong;
        pthread_join(threads[t], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_once),
        cmocka_unit_test(lowest_failure_wins),
        cmocka_unit_test(stopping),
        cmocka_unit_test(cutting),
        cmocka_unit_test(memory_limit),
        cmocka_unit_test(bad_counts),
        cmocka_unit_test(allocation_faults),
        cmocka_unit_test(no_more_threads),
        cmocka_unit_test(contexts_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
