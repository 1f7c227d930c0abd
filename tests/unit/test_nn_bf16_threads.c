/* Products with weights in bfloat16: against plain loops over rounded numbers, the same bytes for any number of
 * threads and any row of the batch it stands in; what refuses it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/random/random.h"
#include "dissent/train.h"
#include "nn/cpu/bf16.h"
#include "nn/devices.h"

static double rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static bool lacking(void)
{
    if (dis__bf16_lacks()) printf("skipped: %s\n", dis__bf16_lacks());
    return dis__bf16_lacks();
}

static void multiply(int threads, const dis__product_args *given)
{
    const dis__device *device = &dis__device_cpu_bf16;
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    void *session;
    dis__product_args args = *given;
    o.threads = threads;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(device->open(device, &session), DIS_OK);
    const size_t bytes = device->plan(session, DIS_OP_product, &args);
    assert_true(bytes >= args.n * args.k * 2);
    assert_int_equal(device->begin(session, ctx), DIS_OK);
    assert_int_equal(device->allocate(session, DIS_MEMORY_OTHER, bytes, false, &args.work), DIS_OK);
    assert_int_equal(device->run(session, DIS_OP_product, &args), DIS_OK);
    if (!args.add) { /* what is made is used again */
        args.prepared = true;
        assert_int_equal(device->run(session, DIS_OP_product, &args), DIS_OK);
    }
    device->release(session, args.work);
    device->close(session);
    dis_context_destroy(ctx);
}

static void products(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1},    {1, 17, 3},   {5, 7, 11},    {6, 64, 32},    {7, 65, 33},
                                      {13, 80, 17}, {97, 130, 9}, {100, 48, 31}, {97, 140, 769}, {103, 400, 1540},
                                      {7, 65, 32},  {33, 96, 64}, {50, 81, 96},  {40, 410, 800}};
    if (lacking()) return;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int way = 0; way < 8; way++) {
            const bool tb = way & 1, add = way & 2, bias = way & 4;
            const size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2], lda = k + 3, ldb = (tb ? k : n) + 5,
                         ldc = n + 2, n_b = (tb ? n : k) * ldb;
            float *a = malloc(m * lda * 4), *b = malloc(n_b * 4), *c = malloc(m * ldc * 4), *d = malloc(m * ldc * 4),
                  *e = malloc(n * 4);
            for (size_t i = 0; i < m * lda; i++) a[i] = (float)dis__random_normal(1, 1, i);
            for (size_t i = 0; i < n_b; i++) b[i] = (float)dis__random_normal(1, 2, i);
            for (size_t i = 0; i < m * ldc; i++) c[i] = d[i] = (float)dis__random_normal(1, 3, i);
            for (size_t i = 0; i < n; i++) e[i] = (float)dis__random_normal(1, 4, i);
            dis__product_args args = {.tb = tb,
                                      .add = add,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .lda = lda,
                                      .ldb = ldb,
                                      .ldc = ldc,
                                      .a = a,
                                      .b = b,
                                      .c = c,
                                      .bias = bias ? e : NULL};
            multiply(1, &args);
            args.c = d;
            multiply(3, &args);
            assert_memory_equal(c, d, m * ldc * sizeof *c);
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < ldc; j++) {
                    double wanted = add || j >= n ? (double)(float)dis__random_normal(1, 3, i * ldc + j) : 0;
                    if (bias && j < n) wanted += (double)e[j];
                    for (size_t p = 0; p < k && j < n; p++)
                        wanted += rounded(a[i * lda + p]) * rounded(tb ? b[j * ldb + p] : b[p * ldb + j]);
                    if (!(fabs((double)c[i * ldc + j] - wanted) <= 1e-5 * (1 + sqrt((double)k))))
                        fail_msg("%zu x %zu x %zu, way %d: C[%zu][%zu] is %g, not %g", m, n, k, way, i, j,
                                 (double)c[i * ldc + j], wanted);
                }
            args.m = 1; /* a row alone has the bytes that it has among others */
            args.a = a + (m - 1) * lda;
            args.c = e;
            if (!add && !bias) {
                multiply(1, &args);
                assert_memory_equal(e, c + (m - 1) * ldc, n * sizeof *c);
            }
            free(a);
            free(b);
            free(c);
            free(d);
            free(e);
        }
}

static void refused(void **state)
{
    (void)state;
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    const dis__device *device = NULL;
    o.precision = (dis_precision)7;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_EUSAGE);
    o.precision = DIS_PRECISION_BF16;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis__device_for(ctx, &dis__device_cpu, true, &device), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "trains in float32"));
    assert_int_equal(dis__device_for(ctx, &dis__device_ref, false, &device), DIS_EUSAGE);
    setenv("DISSENT_ISA", "baseline", 1);
    assert_int_equal(dis__device_for(ctx, &dis__device_cpu, false, &device), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "bf16"));
    assert_null(device);
    unsetenv("DISSENT_ISA");
    if (!dis__bf16_lacks()) {
        assert_int_equal(dis__device_for(ctx, &dis__device_cpu, false, &device), DIS_OK);
        assert_true(device == &dis__device_cpu_bf16);
    }
    assert_int_equal(dis__device_for(NULL, &dis__device_cpu, true, &device), DIS_OK);
    assert_true(device == &dis__device_cpu);
    dis_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
