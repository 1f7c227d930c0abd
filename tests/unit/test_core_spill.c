/* Large blocks in temporary files: when they are made, that they grow and go, and what a full disk does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>
#include "core/fault_injection.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"

enum { MIB = 1 << 20 };

static dis_context *context_of(uint64_t memory)
{
    dis_context_options o = dis_context_options_default();
    o.threads = 2;
    o.memory = memory;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

/* Files that this process has open: the least of some counts, for the thread that watches memory opens one now and then
 * for a moment. */
static size_t open_files(void)
{
    enum { COUNTS = 20 };
    size_t least = SIZE_MAX;
    for (int i = 0; i < COUNTS; i++) {
        size_t n = 0;
        DIR *folder = opendir("/proc/self/fd");
        if (!folder) return 0;
        while (readdir(folder)) n++;
        closedir(folder);
        least = n < least ? n : least;
    }
    return least;
}

static uint64_t word_at(size_t i)
{
    return i * 0x9e3779b97f4a7c15u;
}

static void blocks_go_to_files(void **state)
{
    (void)state;
    dis_context *ctx = context_of(64 * (uint64_t)MIB);
    const size_t before = open_files(), n = 40 * MIB / 8;
    uint64_t *first, *second = NULL, *third;
    {
        DIS_MEMORY_SCOPE(ctx);
        assert_int_equal(dis__alloc_array(&first, 16 * MIB, 1), DIS_OK);
        assert_int_equal(open_files(), before); /* there is room for it */
        assert_int_equal(dis__alloc_zeroed(&second, n, 8), DIS_OK);
        assert_int_equal(open_files(), before + 1);
        assert_int_equal(dis__alloc_resident(&third, 40 * MIB, 1), DIS_OK);
        assert_int_equal(open_files(), before + 1);
        for (size_t i = 0; i < n; i++) assert_true(second[i] == 0);
        for (size_t i = 0; i < n; i++) second[i] = word_at(i);
        assert_int_equal(dis__resize_array(&second, n, 3 * n, 8), DIS_OK); /* in its file */
        assert_int_equal(open_files(), before + 1);
        for (size_t i = n; i < 3 * n; i++) second[i] = word_at(i);
    }
    assert_int_equal(dis__memory_limit(), 0);
    dis_context_destroy(ctx); /* blocks do not need it */
    for (size_t i = 0; i < 3 * n; i++) assert_true(second[i] == word_at(i));
    assert_int_equal(dis__resize_array(&second, 3 * n, n, 8), DIS_OK); /* out of the scope: back in memory */
    assert_int_equal(open_files(), before);
    for (size_t i = 0; i < n; i++) assert_true(second[i] == word_at(i));
    dis__free(first);
    dis__free(second);
    dis__free(third);
}

/* A pass over far more than the limit leaves no more than that in memory. */
static void limit_holds(void **state)
{
    (void)state;
    struct rusage at_first, at_last;
    const size_t size = 600 * (size_t)MIB;
    dis_context *ctx = context_of(100 * (uint64_t)MIB);
    DIS_MEMORY_SCOPE(ctx);
    char *block;
    assert_int_equal(dis__alloc_array(&block, size, 1), DIS_OK);
    getrusage(RUSAGE_SELF, &at_first);
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < size; i++) block[i] = (char)(i + pass);
    getrusage(RUSAGE_SELF, &at_last);
    dis__free(block);
    dis_context_destroy(ctx);
    if (getenv("DISSENT_SANITIZE") && *getenv("DISSENT_SANITIZE")) return; /* shadow memory counts, too */
    const long most = at_first.ru_maxrss > 100 * 1024 ? at_first.ru_maxrss : 100 * 1024;
    assert_true(at_last.ru_maxrss <= most + most / 2); /* somebody else's load may keep the watching thread waiting */
}

static void small_limits_refuse(void **state)
{
    (void)state;
    dis_context *ctx = context_of(1000);
    DIS_MEMORY_SCOPE(ctx);
    assert_int_equal(dis__memory_limit(), 0);
    assert_int_equal(dis__check_memory(ctx, 1001, "this"), DIS_ELIMIT);
    dis_context_destroy(ctx);
}

static void scopes_nest(void **state)
{
    (void)state;
    dis_context *small = context_of(DIS_SPILL_MIN), *large = context_of(2 * DIS_SPILL_MIN);
    {
        DIS_MEMORY_SCOPE(small);
        const uint64_t before = dis__memory_scope_begin(large);
        assert_true(dis__memory_limit() == 2 * DIS_SPILL_MIN);
        dis__memory_scope_end(&before);
        assert_true(dis__memory_limit() == DIS_SPILL_MIN);
        assert_int_equal(dis__check_memory(small, 100 * DIS_SPILL_MIN, "this"), DIS_OK);
        assert_int_equal(dis__check_resident(small, 100 * DIS_SPILL_MIN, "this"), DIS_ELIMIT);
    }
    {
        DIS_MEMORY_SCOPE(NULL);
        assert_true(dis__memory_limit() == DIS_MEMORY_AVAILABLE);
    }
    dis_context_destroy(small);
    dis_context_destroy(large);
}

static dis_status limit_job(void *arg, size_t j, int thread)
{
    (void)thread;
    ((uint64_t *)arg)[j] = dis__memory_limit();
    return DIS_OK;
}

/* Jobs allocate by the rule of whoever started them. */
static void jobs_have_the_limit(void **state)
{
    (void)state;
    enum { JOBS = 64 };
    uint64_t limit[JOBS];
    dis_context *ctx = context_of(DIS_SPILL_MIN);
    {
        DIS_MEMORY_SCOPE(ctx);
        assert_int_equal(dis__run_jobs(ctx, JOBS, limit_job, limit), DIS_OK);
        for (size_t j = 0; j < JOBS; j++) assert_true(limit[j] == DIS_SPILL_MIN);
    }
    assert_int_equal(dis__run_jobs(ctx, JOBS, limit_job, limit), DIS_OK);
    for (size_t j = 0; j < JOBS; j++) assert_true(limit[j] == 0);
    dis_context_destroy(ctx);
}

/* Every system call on the way to a file may fail: an error that says where, and nothing is left open. */
static void disk_faults(void **state)
{
    (void)state;
    dis_context *ctx = context_of(64 * (uint64_t)MIB);
    DIS_MEMORY_SCOPE(ctx);
    const size_t before = open_files();
    uint64_t walked = 0;
    for (uint64_t n = 1;; n++, walked++) {
        char *block = NULL;
        dis__fault_arm(DIS_FAULT_IO, n);
        const dis_status status = dis__alloc_array(&block, 200 * MIB, 1);
        const bool reached = dis__fault_reached(DIS_FAULT_IO);
        dis__fault_arm(DIS_FAULT_IO, 0);
        if (!reached) {
            assert_int_equal(status, DIS_OK);
            dis__free(block);
            break;
        }
        assert_int_equal(status, DIS_EIO);
        assert_non_null(strstr(dis_last_error(), "in a temporary file in"));
        assert_null(block);
        assert_int_equal(open_files(), before);
    }
    assert_int_equal(walked, 3); /* make, reserve, map */
    setenv("TMPDIR", "/nowhere", 1);
    char *block = NULL;
    assert_int_equal(dis__alloc_array(&block, 200 * MIB, 1), DIS_EIO);
    assert_non_null(strstr(dis_last_error(), "/nowhere"));
    unsetenv("TMPDIR");
    dis_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_go_to_files),  cmocka_unit_test(limit_holds),
        cmocka_unit_test(small_limits_refuse), cmocka_unit_test(scopes_nest),
        cmocka_unit_test(jobs_have_the_limit), cmocka_unit_test(disk_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
