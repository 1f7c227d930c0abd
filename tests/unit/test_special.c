/* exp, log, digamma and log-gamma on arrays against values from scipy 1.x and the C library, for every instruction set.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/numbers/elementary.h"
#include "core/numbers/erfc.h"
#include "core/numbers/special_functions.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static double ulps(double a, double b)
{
    return a == b ? 0 : fabs(a - b) / (nextafter(fabs(b), INFINITY) - fabs(b));
}

static double one(void (*f)(double *, size_t), double x)
{
    f(&x, 1);
    return x;
}

static const char *const sets[] = {"baseline", "avx2", "avx512"}; /* those that the machine lacks fall back */

static void exp_and_log(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        setenv("DISSENT_ISA", sets[i], 1);
        const dis__special_functions f = dis__special_functions_select();
        uint64_t s = 1;
        double worst_exp = 0, worst_log = 0;
        for (int n = 0; n < 200000; n++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            const double u = (double)(s >> 11) * 0x1p-53;
            const double x = n % 2 ? -708 * u : -2 * u, y = n % 2 ? exp(1400 * u - 700) : .5 + u;
            worst_exp = fmax(worst_exp, ulps(one(f.exp, x), exp(x)));
            worst_log = fmax(worst_log, ulps(one(f.log, y), log(y)));
        }
        assert_true(worst_exp <= 2); /* each within 1 of the truth */
        assert_true(worst_log <= 2);
        assert_true(one(f.exp, 0) == 1);
        assert_true(one(f.exp, -INFINITY) == 0);
        assert_true(one(f.exp, -1e300) == 0);
        assert_true(one(f.log, 1) == 0);
        assert_true(one(f.log, 0) == -INFINITY);
        assert_true(one(f.log, INFINITY) == INFINITY);
        assert_true(ulps(one(f.log, 5e-324), log(5e-324)) <= 1);
        assert_true(ulps(one(f.log, 1e-310), log(1e-310)) <= 1);
    }
    unsetenv("DISSENT_ISA");
}

/* x, digamma, log-gamma */
static const double reference[][3] = {
    {1e-06, -1000000.57721402, 13.81550998074943},
    {0.001, -1000.5755719318103, 6.907178885383853},
    {0.01, -100.56088545786868, 4.599479878042022},
    {0.1, -10.423754940411076, 2.252712651734206},
    {0.25, -4.2274535333762655, 1.2880225246980774},
    {0.5, -1.9635100260214235, 0.5723649429247},
    {0.9, -0.7549269499470516, 0.06637623973474327},
    {1, -0.5772156649015329, 0.0},
    {1.25, -0.2274535333762654, -0.09827183642181311},
    {1.5, 0.03648997397857652, -0.12078223763524526},
    {2, 0.42278433509846713, 0.0},
    {2.5, 0.7031566406452432, 0.2846828704729192},
    {3, 0.9227843350984671, 0.6931471805599453},
    {4.75, 1.4492040552784629, 2.808571418575737},
    {5, 1.5061176684318003, 3.1780538303479458},
    {7.5, 1.9467574842460866, 7.534364236758734},
    {10, 2.251752589066721, 12.801827480081469},
    {10.5, 2.3030010342976865, 13.940625219403763},
    {25, 3.198742512851974, 54.78472939811232},
    {100.25, 4.602671243274712, 360.28455963776423},
    {1000, 6.907255195648812, 5905.220423209181},
    {12345.5, 9.421006402052685, 103958.24296512322},
    {1000000.0, 13.81551005796419, 12815504.569147611},
    {100000000.0, 18.420680738952367, 1742068066.1038349},
};

static void digamma_and_lgamma(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        setenv("DISSENT_ISA", sets[i], 1);
        const dis__special_functions f = dis__special_functions_select();
        for (size_t n = 0; n < sizeof reference / sizeof *reference; n++) {
            const double *r = reference[n];
            assert_true(fabs(one(f.digamma, r[0]) - r[1]) <= 1e-15 * fmax(1, fabs(r[1])));
            assert_true(fabs(one(f.lgamma, r[0]) - r[2]) <= 2e-14 * fmax(1, fabs(r[2])));
        }
    }
    unsetenv("DISSENT_ISA");
}

/* x, erfc(x) from 200-bit arithmetic (mpmath) */
static const double erfc_reference[][2] = {
    {-5, 1.9999999999984626},      {-1.25, 1.9229001282564582},
    {-.25, 1.276326390168237},     {0, 1},
    {.1, .887537083981715},        {.46875, .507386526782062},
    {.75, .28884436634648486},     {1, .15729920705028513},
    {2.5, .0004069520174449589},   {4, 1.541725790028002e-08},
    {6.5, 3.8421483271206475e-20}, {12, 1.3562611692059042e-64},
    {20, 5.395865611607901e-176},  {26, 5.663192408856143e-296},
};

static void erfc_on_all_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof erfc_reference / sizeof *erfc_reference; i++) {
        const double *r = erfc_reference[i];
        assert_true(fabs(dis__erfc(r[0]) - r[1]) <= 1e-15 * r[1]);
    }
    for (double x = -6; x < 26; x += .01) assert_true(fabs(dis__erfc(x) - erfc(x)) <= 2e-15 * erfc(x));
    assert_true(dis__erfc(INFINITY) == 0 && dis__erfc(-INFINITY) == 2 && isnan(dis__erfc(NAN)));
}

/* Distance from a value in more digits, in units of the last place. */
static double error_of(double found, long double truth)
{
    const double near = fabs((double)truth);
    return (double)fabsl((long double)found - truth) / (nextafter(near, INFINITY) - near);
}

static void elementary_functions(void **state)
{
    (void)state;
    const double slack = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 1; /* of the C library, without wider numbers */
    double worst[5] = {0};
    uint64_t s = 1;
    for (int n = 0; n < 200000; n++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        const double u = (double)(s >> 11) * 0x1p-53, sign = n & 1 ? -1 : 1;
        const double x = sign * (n % 3 ? 708 * u : 2 * u), small = sign * exp(-40 * u), y = 40 * u - 20;
        const double positive = n % 3 ? exp(1400 * u - 700) : .5 + u;
        worst[0] = fmax(worst[0], error_of(dis__exp(x), expl(x)));
        worst[1] = fmax(worst[1], error_of(dis__log(positive), logl(positive)));
        if (small > -.999) worst[2] = fmax(worst[2], error_of(dis__log1p(small), log1pl(small)));
        worst[3] = fmax(worst[3], error_of(dis__expm1(n % 2 ? small : x), expm1l(n % 2 ? small : x)));
        const double base = .5 + u, bound = 2 + 2 * fabs(y * log(base));
        worst[4] = fmax(worst[4], error_of(dis__pow(base, y), powl(base, y)) / bound);
    }
    assert_true(worst[0] <= 1.01 + slack && worst[1] <= 1 + slack && worst[2] <= 3 + slack && worst[3] <= 3 + slack);
    assert_true(worst[4] <= 1 + slack);

    assert_true(dis__exp(0) == 1 && dis__exp(-INFINITY) == 0 && dis__exp(INFINITY) == INFINITY && isnan(dis__exp(NAN)));
    assert_true(dis__exp(710) == INFINITY && ulps(dis__exp(709.7), exp(709.7)) <= 1 && dis__exp(-1e9) == 0);
    assert_true(dis__log(1) == 0 && dis__log(0) == -INFINITY && dis__log(INFINITY) == INFINITY);
    assert_true(isnan(dis__log(-1)) && isnan(dis__log(NAN)) && ulps(dis__log(5e-324), log(5e-324)) <= 1);
    assert_true(dis__log1p(0) == 0 && dis__log1p(-1) == -INFINITY && dis__log1p(INFINITY) == INFINITY);
    assert_true(dis__log1p(1e-300) == 1e-300 && isnan(dis__log1p(-2)) && isnan(dis__log1p(NAN)));
    assert_true(dis__expm1(0) == 0 && dis__expm1(-INFINITY) == -1 && dis__expm1(INFINITY) == INFINITY);
    assert_true(dis__expm1(-1e-300) == -1e-300 && dis__expm1(-1000) == -1 && isnan(dis__expm1(NAN)));
    assert_true(dis__pow(0, 0) == 1 && dis__pow(0, 2) == 0 && dis__pow(0, -1) == INFINITY && dis__pow(1, NAN) == 1);
    assert_true(dis__pow(INFINITY, .5) == INFINITY && dis__pow(INFINITY, -1) == 0 && isnan(dis__pow(2, NAN)));
}

/* Where in an array a number lies does not change its result. */
static void position(void **state)
{
    (void)state;
    const dis__special_functions f = dis__special_functions_select();
    double x[37], y[37];
    for (size_t i = 0; i < 37; i++) x[i] = y[i] = .3 + 1.7 * (double)i;
    f.digamma(y, 37);
    for (size_t i = 0; i < 37; i++) assert_true(y[i] == one(f.digamma, x[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_and_log),        cmocka_unit_test(digamma_and_lgamma),
        cmocka_unit_test(erfc_on_all_ranges), cmocka_unit_test(elementary_functions),
        cmocka_unit_test(position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
