/* What layers are made of: exp, log and erf in float against double, the matrix product of every instruction set
 * against plain loops, dropout's words against Philox, the table of operations. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/kernel.h"
#include "core/random/random.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/mathf.h"
#include "nn/host/operation_jobs.h"
#include "nn/ops.h"

/* Units in the last position of the right answer. */
static double ulps(float got, double wanted)
{
    const double unit = ldexp(1, (wanted == 0 ? -126 : ilogb(wanted)) - 23);
    return fabs((double)got - wanted) / unit;
}

static void mathematics(void **state)
{
    (void)state;
    double worst_exp = 0, worst_log = 0, worst_erf = 0;
    for (int i = 0; i <= 2000000; i++) {
        const float x = -87 + 175 * (float)i / 2000000;
        worst_exp = fmax(worst_exp, ulps(dis__expf(x), exp((double)x)));
        const float y = (float)exp((double)x * .98);
        if (fabs(log((double)y)) > 1e-3) worst_log = fmax(worst_log, ulps(dis__logf(y), log((double)y)));
        const float z = -5 + 10 * (float)i / 2000000;
        worst_erf = fmax(worst_erf, fabs((double)dis__erff(z) - erf((double)z)));
    }
    if (worst_exp > 2 || worst_log > 1 || worst_erf > 6e-7)
        fail_msg("exp %g ulp, log %g ulp, erf %g", worst_exp, worst_log, worst_erf);
    assert_true(dis__expf(0) == 1 && dis__logf(1) == 0 && dis__erff(0) <= 1e-9f);
    assert_true(dis__expf(-1000) == 0 && isfinite(dis__expf(1000)));
}

DIS_KERNEL_DECLARE(void, dis__sgemm, (const dis__gemm *g, void *scratch));

/* All shapes up to a tile and a little more, and some around the blocks; every way of lying in memory. */
static void products(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1},     {1, 17, 3},    {5, 7, 11},   {12, 32, 16}, {13, 33, 17},
                                      {11, 31, 15},  {25, 65, 33},  {4, 16, 320}, {6, 16, 321}, {193, 40, 9},
                                      {200, 513, 5}, {3, 600, 650}, {64, 10, 40}, {0, 5, 3},    {5, 0, 3},
                                      {5, 3, 0},     {48, 96, 641}, {7, 48, 20}};
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int way = 0; way < 8; way++)
            for (int set = 0; set < 3; set++) {
                const bool ta = way & 1, tb = way & 2, add = way & 4;
                const size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2], pad = 3;
                const size_t lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad;
                float *a = calloc((ta ? k : m) * lda + 1, sizeof *a), *b = calloc((tb ? n : k) * ldb + 1, sizeof *b);
                float *c = calloc(m * ldc + 1, sizeof *c), *d = calloc(m * ldc + 1, sizeof *d), *packed;
                for (size_t i = 0; i < (ta ? k : m) * lda; i++) a[i] = (float)dis__random_normal(1, 1, i);
                for (size_t i = 0; i < (tb ? n : k) * ldb; i++) b[i] = (float)dis__random_normal(1, 2, i);
                for (size_t i = 0; i < m * ldc; i++) c[i] = d[i] = (float)dis__random_normal(1, 3, i);
                dis__gemm g = {ta, tb, add, m, n, k, a, b, c, lda, ldb, ldc, NULL, NULL};
                void *scratch;
                assert_int_equal(posix_memalign(&scratch, 64, DIS_GEMM_SCRATCH), 0);
                setenv("DISSENT_ISA", sets[set], 1);
                assert_int_equal(posix_memalign((void **)&packed, 64,
                                                (DIS_KERNEL_SELECT(dis__sgemm_packed_size)(k, n) + 1) * 4),
                                 0);
                DIS_KERNEL_SELECT(dis__sgemm)(&g, scratch);
                g.c = d;
                DIS_KERNEL_SELECT(dis__sgemm_pack)(&g, packed);
                DIS_KERNEL_SELECT(dis__sgemm_with_packed)(&g, packed, scratch);
                unsetenv("DISSENT_ISA");
                assert_memory_equal(c, d, m * ldc * sizeof *c); /* packed before or now: the same bytes */
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < ldc; j++) {
                        double wanted = add || j >= n ? (double)(float)dis__random_normal(1, 3, i * ldc + j) : 0;
                        for (size_t p = 0; p < k && j < n; p++)
                            wanted += (double)(ta ? a[p * lda + i] : a[i * lda + p]) *
                                      (double)(tb ? b[j * ldb + p] : b[p * ldb + j]);
                        if (!(fabs((double)c[i * ldc + j] - wanted) <= 1e-5 * (1 + sqrt((double)k))))
                            fail_msg("%zu x %zu x %zu, way %d, %s: C[%zu][%zu] is %g, not %g", m, n, k, way, sets[set],
                                     i, j, (double)c[i * ldc + j], wanted);
                    }
                free(a);
                free(b);
                free(c);
                free(d);
                free(packed);
                free(scratch);
            }
}

/* Numbers of A that are zero: none, some columns, some columns of bands of rows, about half, all. */
static bool left_out(int zeros, size_t row, size_t col)
{
    switch (zeros) {
    case 1: return col % 3 == 1;
    case 2: return (col / 5 + row / 10) % 2 == 0;
    case 3: return dis__random_normal(2, 3, row * 1000 + col) < 0;
    default: return zeros == 4;
    }
}

/* An element's bytes do not depend on which tile it is computed in, nor on what is skipped because it is zero in all
 * rows of a tile. */
static void tiles(void **state)
{
    (void)state;
    enum { M = 50, N = 90, K = 701 };
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    static const size_t cuts[] = {0, 1, 8, 29, M}, across[] = {0, 5, 40, 57, N};
    static float a[M * K], b[K * N], at_once[M * N], part[M * N];
    void *scratch;
    assert_int_equal(posix_memalign(&scratch, 64, DIS_GEMM_SCRATCH), 0);
    for (size_t i = 0; i < K * N; i++) b[i] = (float)dis__random_normal(2, 2, i);
    for (int zeros = 0; zeros < 5; zeros++)
        for (int set = 0; set < 3; set++) {
            for (size_t i = 0; i < M * K; i++)
                a[i] = !left_out(zeros, i / K, i % K) ? (float)dis__random_normal(2, 1, i) : i % 7 ? 0 : -0.f;
            setenv("DISSENT_ISA", sets[set], 1);
            const dis__gemm g = {false, false, false, M, N, K, a, b, at_once, K, N, N, NULL, NULL};
            DIS_KERNEL_SELECT(dis__sgemm)(&g, scratch);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    dis__gemm h = g;
                    h.m = cuts[i + 1] - cuts[i];
                    h.n = across[j + 1] - across[j];
                    h.a = a + cuts[i] * K;
                    h.b = b + across[j];
                    h.c = part + cuts[i] * N + across[j];
                    DIS_KERNEL_SELECT(dis__sgemm)(&h, scratch);
                }
            assert_memory_equal(at_once, part, sizeof at_once);
            for (size_t i = 0; i < M; i++) /* and row by row, where nothing is skipped */
                DIS_KERNEL_SELECT(dis__sgemm)
            (&(dis__gemm){false, false, false, 1, N, K, a + i * K, b, part + i * N, K, N, N, NULL, NULL}, scratch);
            unsetenv("DISSENT_ISA");
            assert_memory_equal(at_once, part, sizeof at_once);
        }
    free(scratch);
}

static void dropout(void **state)
{
    (void)state;
    enum { N = 5000 };
    static float x[N], y[N];
    static double z[N];
    dis__op_function *cpu[DIS_N_OPS], *ref[DIS_N_OPS];
    dis__ops_cpu(cpu);
    dis__ops_ref(ref);
    for (int i = 0; i < N; i++) x[i] = 1, z[i] = 1;
    const double pass = 7;
    dis__dropout_args args = {
        .x = x, .y = y, .n = N, .rate = .3, .seed = 0x123456789abcdef0u, .pass = &pass, .layer = 3};
    const size_t blocks = (N + DIS_DROPOUT_BLOCK - 1) / DIS_DROPOUT_BLOCK;
    cpu[DIS_OP_dropout](&args, 0, blocks, NULL);
    args.x = args.y = z;
    ref[DIS_OP_dropout](&args, 0, blocks, NULL);
    size_t n_nonzero = 0;
    for (size_t i = 0; i < N; i++) {
        const size_t side = DIS_DROPOUT_BLOCK / 4, counter = i / DIS_DROPOUT_BLOCK * side + i % side;
        const dis_random_block b =
            dis__philox((uint64_t)pass << 32 | counter, (uint64_t)args.layer << 32 | DIS_STREAM_DROPOUT, args.seed);
        const bool stays = b.word[i % DIS_DROPOUT_BLOCK / side] >= (uint32_t)(.3 * 0x1p32);
        assert_true((y[i] != 0) == stays && (z[i] != 0) == stays);
        assert_true(!stays || (fabs(z[i] - 1 / .7) < 1e-12 && fabsf(y[i] - 1 / .7f) < 1e-6f));
        n_nonzero += stays;
    }
    assert_true(n_nonzero > N * 67 / 100 && n_nonzero < N * 73 / 100);
}

static void table(void **state)
{
    (void)state;
    dis__op_function *cpu[DIS_N_OPS], *ref[DIS_N_OPS];
    dis__ops_cpu(cpu);
    dis__ops_ref(ref);
    for (int op = 0; op < DIS_N_OPS; op++) {
        assert_non_null(cpu[op]);
        assert_non_null(ref[op]);
        assert_true(cpu[op] != ref[op]);
        assert_true(strlen(dis__op_name((dis__op)op)) > 0);
    }
    for (size_t m = 0; m < 300; m += 7) /* tiles cover C once */
        for (size_t n = 0; n < 1200; n += 113) {
            dis__product_args p = {.m = m, .n = n, .k = 100000};
            const size_t count = dis__product_tiles(&p, (int)(m % 5) + 1);
            if (m == 0 || n == 0)
                assert_true(count == 0);
            else
                assert_true(count == (m + p.tile_rows - 1) / p.tile_rows * ((n + p.tile_cols - 1) / p.tile_cols));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mathematics), cmocka_unit_test(products), cmocka_unit_test(tiles),
        cmocka_unit_test(dropout),     cmocka_unit_test(table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
