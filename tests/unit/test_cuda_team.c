/* Sums over ranks on CUDA devices (NCCL), as far as one rank shows them: the library is found, ranks join, numbers go
 * through its calls and the kernel that adds, and come back as they were. Skipped, with the reason, without a device or
 * the library. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/error.h"
#include "nn/devices.h"

static const dis__device *first_cuda(void)
{
    for (size_t d = 0; dis__device_at(d); d++)
        if (strcmp(dis__device_at(d)->row->machine, "cuda") == 0) return dis__device_at(d);
    return NULL;
}

static void one_rank(void **state)
{
    (void)state;
    const dis__device *device = first_cuda();
    static const size_t sizes[] = {1, 3, 1000, 1234567};
    void *session, *x;
    char name[64], id[DIS_TEAM_ID];
    assert_non_null(device->team_open);
    assert_int_equal(device->open(device, &session), DIS_OK);
    if (device->team_open(session, name, sizeof name) != DIS_OK) {
        print_message("skipped: %s\n", dis_last_error());
        device->close(session);
        skip();
    }
    print_message("%s\n", name);
    assert_memory_equal(name, "NCCL 2.", 7);
    assert_int_equal(device->team_id(session, id), DIS_OK);
    assert_int_equal(device->team_join(session, id, 0, 1), DIS_OK);
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        const size_t n = sizes[c];
        float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
        for (size_t i = 0; i < n; i++) in[i] = (float)((double)i / 7 - 3);
        assert_int_equal(device->allocate(session, DIS_MEMORY_OTHER, n * sizeof *in, true, &x), DIS_OK);
        assert_int_equal(device->copy_in(session, x, in, n * sizeof *in), DIS_OK);
        for (int twice = 0; twice < 2; twice++) assert_int_equal(device->team_sum(session, x, n), DIS_OK);
        assert_int_equal(device->copy_out(session, out, x, n * sizeof *in), DIS_OK);
        assert_int_equal(device->synchronise(session), DIS_OK);
        assert_memory_equal(in, out, n * sizeof *in);
        device->release(session, x);
        free(in);
        free(out);
    }
    device->close(session);
}

int main(void)
{
    if (!first_cuda()) {
        printf("skipped: no CUDA device: %s\n", dis__device_rows_missing());
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_rank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
