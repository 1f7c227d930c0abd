/* Memory that the GPU library keeps between networks, with a runtime whose card is a number: what stays, and what
 * others on the card find. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cuda/cuda_memory.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
enum { ALLOCATIONS = 256 };

/* Blocks are addresses that no one touches. */
static size_t total = 128 * GIB, in_use, size[ALLOCATIONS], n_sizes, n_queries, freed;

static cudaError_t allocate_some(void **at, size_t bytes)
{
    if (bytes > total - in_use) return cudaErrorMemoryAllocation;
    assert_true(n_sizes < ALLOCATIONS);
    in_use += bytes;
    size[n_sizes++] = bytes;
    *at = (void *)(uintptr_t)(n_sizes << 12);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
    return allocate_some(at, bytes);
}

cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate_some(at, bytes);
}

cudaError_t cudaFree(void *at)
{
    in_use -= size[((uintptr_t)at >> 12) - 1];
    freed++;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *at)
{
    return cudaFree(at);
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    n_queries++;
    *left = total - in_use;
    *all = total;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

static int start(void **state)
{
    (void)state;
    dis__cuda_free_cached();
    assert_int_equal(in_use, 0);
    total = 128 * GIB;
    n_sizes = n_queries = freed = 0;
    return 0;
}

static void *get(size_t bytes)
{
    void *at = NULL;
    assert_int_equal(dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, 0, bytes, &at), cudaSuccess);
    return at;
}

/* The networks of one process, side by side and one after another: nothing goes back, and small blocks ask no one. */
static void stays(void **state)
{
    (void)state;
    void *block[8];
    for (int run = 0; run < 5; run++) {
        for (int i = 0; i < 8; i++) block[i] = get(i % 2 ? 2 * GIB : 10 * MIB);
        for (int i = 0; i < 8; i++) dis__cuda_release(block[i]);
    }
    assert_int_equal(freed, 0);
    assert_int_equal(n_sizes, 8);
    assert_int_equal(dis__cuda_cached_bytes(0), 4 * (2 * GIB + 10 * MIB));
    assert_true(n_queries <= 20);
}

/* An eighth of a card that is free, the largest blocks first to go. */
static void eighth(void **state)
{
    (void)state;
    static const size_t sizes[] = {9, 1, 3, 5, 8};
    void *block[5];
    for (int i = 0; i < 5; i++) block[i] = get(sizes[i] * GIB);
    for (int i = 0; i < 5; i++) dis__cuda_release(block[i]);
    assert_true(dis__cuda_cached_bytes(0) <= 16 * GIB);
    assert_int_equal(dis__cuda_cached_bytes(0), in_use);
    assert_int_equal(in_use, 9 * GIB); /* 1, 3, 5: 9 and 8 are gone */
}

/* Others have most of the card: what they leave is divided. */
static void beside_others(void **state)
{
    (void)state;
    void *block[4];
    for (int i = 0; i < 4; i++) block[i] = get(4 * GIB);
    dis__cuda_release(block[0]);
    assert_int_equal(dis__cuda_cached_bytes(0), 4 * GIB);
    total = 24 * GIB; /* 8 GiB are free: an eighth of those and of what is idle is too little for a block */
    dis__cuda_release(block[1]);
    assert_int_equal(dis__cuda_cached_bytes(0), 0);
    dis__cuda_release(block[2]);
    dis__cuda_release(block[3]);
    assert_int_equal(in_use, 0);
}

/* n processes that do nothing leave (7/8)^n of a card; each is here what the last has left. */
static void many_processes(void **state)
{
    (void)state;
    double share = 1;
    for (int n = 0; n < 8; n++) {
        void *block[64];
        const size_t found = total - in_use;
        int i = 0;
        while (i < 64 && total - in_use > GIB) block[i++] = get(GIB);
        while (i) dis__cuda_release(block[--i]);
        share *= 7. / 8;
        assert_true((double)(total - in_use) >= share * 128. * (double)GIB);
        assert_true(dis__cuda_cached_bytes(0) * 8 <= found);
        assert_true(dis__cuda_cached_bytes(0) > 0);
        total -= in_use; /* the process that comes next */
        in_use = 0;
        n_sizes = 0;
        dis__cuda_free_cached();
        in_use = 0;
    }
}

/* A GiB stays whatever is free; all of it goes where somebody in this process needs it. */
static void used_up(void **state)
{
    (void)state;
    total = 3 * GIB;
    void *small = get(700 * MIB), *other = get(300 * MIB);
    dis__cuda_release(small);
    dis__cuda_release(other);
    assert_int_equal(dis__cuda_cached_bytes(0), 1000 * MIB);
    void *large = get(5 * GIB / 2);
    assert_int_equal(freed, 2);
    void *none;
    assert_int_equal(dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, 0, GIB, &none), cudaErrorMemoryAllocation);
    dis__cuda_release(large);
    assert_int_equal(in_use, 0);
}

/* Pinned memory is the host's: a GiB of it stays. */
static void pinned(void **state)
{
    (void)state;
    dis__cuda_block block[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(dis__cuda_memory_allocate(DIS_CUDA_PINNED_MEMORY, 0, 600 * MIB, &block[i]), cudaSuccess);
    for (int i = 0; i < 3; i++) dis__cuda_memory_return(&block[i]);
    assert_int_equal(in_use, 600 * MIB);
    assert_int_equal(n_queries, 0);
    assert_int_equal(dis__cuda_cached_bytes(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(stays, start),          cmocka_unit_test_setup(eighth, start),
        cmocka_unit_test_setup(beside_others, start),  cmocka_unit_test_setup(used_up, start),
        cmocka_unit_test_setup(many_processes, start), cmocka_unit_test_setup(pinned, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
