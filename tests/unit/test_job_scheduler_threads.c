/* The scheduler of runs, with jobs that need a known amount of memory: it always ends, results do not depend on how
 * many jobs run at once, and failures, stopping and progress reach the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/memory/memory.h"
#include "support/fault_walk.h"
#include "train/runs/job_scheduler.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { JOBS = 24 };

typedef struct {
    size_t capacity, need[JOBS]; /* memory of all jobs that run, and of one */
    unsigned sleep_ms;
    size_t bad[2];      /* these jobs fail; SIZE_MAX: none */
    size_t slow;        /* this job takes ten times as long */
    bool until_stopped; /* jobs run until their context is stopped */
    bool go_on;         /* after a failure */
    unsigned busy_asks; /* so often job 3 is busy; then it is over */
    size_t threads;     /* of the call */
    uint64_t memory;    /* of the call */
    _Atomic size_t used, running, max_running, n_starts, start_at[JOBS], tries[JOBS], asks;
    uint64_t result[JOBS];
    _Atomic int finished[JOBS], given_up[JOBS], failed[JOBS]; /* how often */
    _Atomic int threads_used;
    pthread_t caller;
    _Atomic bool stop;
    _Atomic size_t stop_after; /* polls */
    double progress;
    _Atomic size_t n_reports, wrong_thread;
} simulation;

static void simulate(simulation *s)
{
    memset(s, 0, sizeof *s);
    s->capacity = SIZE_MAX;
    s->bad[0] = s->bad[1] = s->slow = SIZE_MAX;
    s->caller = pthread_self();
}

static void pause_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

static void raise_maximum(_Atomic size_t *max, size_t x)
{
    size_t old = atomic_load(max);
    while (old < x && !atomic_compare_exchange_weak(max, &old, x)) {}
}

static dis_status work_for_a_while(dis_context *ctx, simulation *s, size_t job)
{
    pause_ms(job == s->slow ? s->sleep_ms * 10 : s->sleep_ms);
    while (s->until_stopped) {
        DIS_TRY(dis__check_stop(ctx));
        pause_ms(1);
    }
    return dis__check_stop(ctx);
}

static dis_status run(dis_context *ctx, void *user, size_t job)
{
    simulation *s = user;
    const size_t n = atomic_fetch_add(&s->n_starts, 1);
    if (atomic_fetch_add(&s->tries[job], 1) == 0) atomic_store(&s->start_at[job], n);
    const size_t used = atomic_fetch_add(&s->used, s->need[job]) + s->need[job];
    const size_t running = atomic_fetch_add(&s->running, 1) + 1;
    dis_status status = used > s->capacity ? dis__fail(DIS_ELIMIT, "job %zu needs %zu", job, s->need[job]) : DIS_OK;
    if (status == DIS_OK) {
        raise_maximum(&s->max_running, running);
        const int threads = atomic_fetch_add(&s->threads_used, dis_context_n_threads(ctx)) + dis_context_n_threads(ctx);
        if (s->threads && (size_t)threads > s->threads) status = dis__fail(DIS_EDATA, "%d threads at once", threads);
        if (s->memory && dis__context_memory(ctx) * running > s->memory)
            status = dis__fail(DIS_EDATA, "more memory than allowed");
        if (status == DIS_OK) status = work_for_a_while(ctx, s, job);
        atomic_fetch_sub(&s->threads_used, dis_context_n_threads(ctx));
    }
    atomic_fetch_sub(&s->running, 1);
    atomic_fetch_sub(&s->used, s->need[job]);
    if (status != DIS_OK) return status;
    if (job == s->bad[0] || job == s->bad[1]) return dis__fail(DIS_EDATA, "job %zu is bad", job);
    s->result[job] = job * 31 + 7;
    return DIS_OK;
}

static dis_status claim(void *user, size_t job, dis__job_claim *out)
{
    simulation *s = user;
    *out = DIS__JOB_OWNED;
    if (job == 3 && s->busy_asks) *out = atomic_fetch_add(&s->asks, 1) < s->busy_asks ? DIS__JOB_BUSY : DIS__JOB_OVER;
    return DIS_OK;
}

static dis_status finish(void *user, size_t job, dis_status status)
{
    simulation *s = user;
    atomic_fetch_add(status == DIS_OK           ? &s->finished[job]
                     : status == DIS_ECANCELLED ? &s->given_up[job]
                                                : &s->failed[job],
                     1);
    if (status == DIS_ECANCELLED) return DIS_OK;
    return s->go_on ? DIS_OK : status;
}

static void progress(void *user, const char *what, double done)
{
    simulation *s = user;
    assert_string_equal(what, "jobs");
    assert_true(done >= s->progress && done <= 1);
    s->progress = done;
    atomic_fetch_add(&s->n_reports, 1);
    atomic_fetch_add(&s->wrong_thread, !pthread_equal(pthread_self(), s->caller));
}

static int stop(void *user)
{
    simulation *s = user;
    atomic_fetch_add(&s->wrong_thread, !pthread_equal(pthread_self(), s->caller));
    return s->stop_after && atomic_load(&s->n_starts) >= s->stop_after;
}

/* With a context of that many threads; finish and claim only if `with_hooks`. */
static dis_status schedule(simulation *s, int threads, size_t at_once, bool with_hooks)
{
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    o.threads = threads;
    o.memory = s->memory;
    o.progress = progress;
    o.stop = stop;
    o.user = s;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    const dis__jobs jobs = {.n = JOBS,
                            .at_once = at_once,
                            .what = "jobs",
                            .user = s,
                            .run = run,
                            .claim = with_hooks ? claim : NULL,
                            .finish = with_hooks ? finish : NULL};
    const dis_status status = dis__jobs_run(ctx, &jobs);
    dis_context_destroy(ctx);
    assert_int_equal(atomic_load(&s->used), 0);
    assert_int_equal(atomic_load(&s->running), 0);
    assert_int_equal(atomic_load(&s->wrong_thread), 0);
    return status;
}

static void all_results(const simulation *s)
{
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(s->result[i], i * 31 + 7);
}

static void the_number_at_once_changes_no_result(void **state)
{
    (void)state;
    for (size_t at_once = 0; at_once <= 30; at_once += 5)
        for (int hooks = 0; hooks < 2; hooks++) {
            simulation s;
            simulate(&s);
            s.sleep_ms = 1;
            assert_int_equal(schedule(&s, 4, at_once, hooks), DIS_OK);
            all_results(&s);
            const size_t limit = at_once == 0 ? 4 : at_once > JOBS ? JOBS : at_once;
            assert_true(s.max_running <= limit);
            if (limit <= 5) assert_true(s.max_running > 1);
            for (size_t i = 0; i < JOBS; i++) {
                assert_int_equal(s.tries[i], 1);
                if (hooks) assert_int_equal(s.finished[i], 1);
            }
        }
}

static void jobs_start_in_their_order(void **state)
{
    (void)state;
    simulation s;
    simulate(&s);
    size_t order[JOBS];
    for (size_t i = 0; i < JOBS; i++) order[i] = (i * 7 + 5) % JOBS;
    const dis__jobs jobs = {.n = JOBS - 4, .job = order, .at_once = 1, .what = "jobs", .user = &s, .run = run};
    assert_int_equal(dis__jobs_run(NULL, &jobs), DIS_OK);
    for (size_t i = 0; i < JOBS - 4; i++) assert_int_equal(s.start_at[order[i]], i);
    for (size_t i = JOBS - 4; i < JOBS; i++) assert_int_equal(s.tries[order[i]], 0);
    const dis__jobs none = {.n = 0, .run = run};
    assert_int_equal(dis__jobs_run(NULL, &none), DIS_OK);
    const dis__jobs too_many = {.n = 1, .at_once = 1025, .run = run};
    assert_int_equal(dis__jobs_run(NULL, &too_many), DIS_EUSAGE);
}

static void a_job_waits_until_its_memory_is_free(void **state)
{
    (void)state;
    for (int hooks = 0; hooks < 2; hooks++) {
        simulation s;
        simulate(&s);
        s.capacity = 100;
        s.sleep_ms = 2;
        for (size_t i = 0; i < JOBS; i++) s.need[i] = i % 6 == 5 ? 95 : 20 + i % 3 * 15;
        assert_int_equal(schedule(&s, 8, 0, hooks), DIS_OK);
        all_results(&s);
        assert_true(s.max_running >= 2 && s.max_running <= 5);
        size_t tries = 0;
        for (size_t i = 0; i < JOBS; i++) tries += s.tries[i];
        assert_true(tries > JOBS); /* some had to wait */
        for (size_t i = 0; hooks && i < JOBS; i++) {
            assert_int_equal(s.finished[i], 1);
            assert_int_equal(s.failed[i], 0);
            assert_int_equal(s.given_up[i], s.tries[i] - 1);
        }
    }
}

static void memory_too_small_for_one_job_is_an_error(void **state)
{
    (void)state;
    simulation s;
    for (int threads = 1; threads <= 8; threads += 7)
        for (int hooks = 0; hooks < 2; hooks++) {
            simulate(&s);
            s.capacity = 10;
            s.sleep_ms = 1;
            for (size_t i = 0; i < JOBS; i++) s.need[i] = 11;
            assert_int_equal(schedule(&s, threads, 0, hooks), DIS_ELIMIT);
            assert_string_equal(dis_last_error(), "job 0 needs 11");
        }
    /* one of them alone: all others end, whether they started before or after it */
    for (int go_on = 0; go_on < 2; go_on++) {
        simulate(&s);
        s.capacity = 10;
        s.sleep_ms = 1;
        s.go_on = go_on;
        for (size_t i = 0; i < JOBS; i++) s.need[i] = i == 13 ? 11 : 3;
        assert_int_equal(schedule(&s, 8, 0, true), go_on ? DIS_OK : DIS_ELIMIT);
        if (!go_on) assert_string_equal(dis_last_error(), "job 13 needs 11");
        assert_int_equal(s.failed[13], 1);
        assert_true(s.tries[13] >= 1);
        for (size_t i = 0; i < (go_on ? JOBS : 13); i++)
            if (i != 13) assert_int_equal(s.finished[i], 1);
    }
}

static void an_explicit_number_holds(void **state)
{
    (void)state;
    simulation s;
    simulate(&s);
    s.capacity = 10;
    s.sleep_ms = 5;
    for (size_t i = 0; i < JOBS; i++) s.need[i] = 6;
    assert_int_equal(schedule(&s, 2, 2, false), DIS_ELIMIT);
    for (size_t i = 0; i < JOBS; i++) assert_true(s.tries[i] <= 1);
}

static void the_first_failure_is_returned(void **state)
{
    (void)state;
    simulation s;
    for (int hooks = 0; hooks < 2; hooks++) {
        simulate(&s);
        s.sleep_ms = 2;
        s.bad[0] = 2;
        s.bad[1] = 3;
        s.slow = 2; /* job 3 fails before it */
        assert_int_equal(schedule(&s, 4, 4, hooks), DIS_EDATA);
        assert_string_equal(dis_last_error(), "job 2 is bad");
        assert_int_equal(s.tries[JOBS - 1], 0);
        assert_int_equal(s.result[0], 7); /* jobs that had started went to their end */
    }
    simulate(&s);
    s.go_on = true;
    s.bad[0] = 0;
    s.bad[1] = 9;
    assert_int_equal(schedule(&s, 4, 4, true), DIS_OK);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(s.failed[i], i == 0 || i == 9);
        assert_int_equal(s.finished[i], i != 0 && i != 9);
    }
}

static void stopping_reaches_running_and_waiting_jobs(void **state)
{
    (void)state;
    simulation s;
    for (size_t at_once = 1; at_once <= 4; at_once += 3)
        for (int hooks = 0; hooks < 2; hooks++) {
            simulate(&s);
            s.until_stopped = true;
            s.stop_after = at_once;
            assert_int_equal(schedule(&s, 4, at_once, hooks), DIS_ECANCELLED);
            assert_int_equal(s.n_starts, at_once);
            for (size_t i = 0; hooks && i < JOBS; i++) {
                assert_int_equal(s.given_up[i], i < at_once);
                assert_int_equal(s.failed[i] + s.finished[i], 0);
            }
        }
    /* job 1 has no memory while job 0 runs for ever: a stop is no failure of job 1 */
    simulate(&s);
    s.until_stopped = true;
    s.capacity = 10;
    for (size_t i = 0; i < JOBS; i++) s.need[i] = 8;
    s.stop_after = 2;
    s.go_on = true;
    assert_int_equal(schedule(&s, 2, 0, true), DIS_ECANCELLED);
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(s.failed[i] + s.finished[i], 0);
}

static void progress_is_reported_by_the_calling_thread(void **state)
{
    (void)state;
    simulation s;
    simulate(&s);
    s.sleep_ms = 30;
    assert_int_equal(schedule(&s, 2, 2, false), DIS_OK);
    assert_true(s.n_reports >= 3);
    assert_true(s.progress == 1);
}

static void busy_jobs_are_checked_again(void **state)
{
    (void)state;
    simulation s;
    simulate(&s);
    s.busy_asks = 4;
    assert_int_equal(schedule(&s, 3, 3, true), DIS_OK);
    assert_int_equal(s.asks, 5);
    assert_int_equal(s.tries[3], 0);
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(s.finished[i], i != 3);
}

static void threads_and_memory_are_shared(void **state)
{
    (void)state;
    simulation s;
    for (size_t at_once = 0; at_once <= 4; at_once += 2) {
        simulate(&s);
        s.sleep_ms = 2;
        s.threads = 8;
        s.memory = (uint64_t)1 << 30;
        assert_int_equal(schedule(&s, 8, at_once, false), DIS_OK);
        all_results(&s);
    }
}

/* ---- faults ---- */

static dis_status allocate(dis_context *ctx, void *user, size_t job)
{
    (void)ctx;
    (void)user;
    void *bytes;
    DIS_TRY(dis__alloc_array(&bytes, job + 1, 8));
    dis__free(bytes);
    return DIS_OK;
}

static dis_status some_jobs(void *arg)
{
    const dis__jobs jobs = {.n = 4, .at_once = *(size_t *)arg, .what = "jobs", .run = allocate};
    return dis__jobs_run(NULL, &jobs);
}

static void every_fault_is_returned(void **state)
{
    (void)state;
    for (size_t at_once = 1; at_once <= 3; at_once++) walk_faults(some_jobs, NULL, &at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_at_once_changes_no_result),
        cmocka_unit_test(jobs_start_in_their_order),
        cmocka_unit_test(a_job_waits_until_its_memory_is_free),
        cmocka_unit_test(memory_too_small_for_one_job_is_an_error),
        cmocka_unit_test(an_explicit_number_holds),
        cmocka_unit_test(the_first_failure_is_returned),
        cmocka_unit_test(stopping_reaches_running_and_waiting_jobs),
        cmocka_unit_test(progress_is_reported_by_the_calling_thread),
        cmocka_unit_test(busy_jobs_are_checked_again),
        cmocka_unit_test(threads_and_memory_are_shared),
        cmocka_unit_test(every_fault_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
