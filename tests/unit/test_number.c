/* Numbers as text: shortest, exact both ways, strict. References: Python's repr (tests/data/reals.txt) and strtod. */
#include "core/numbers/decimal.h"
#include "core/random/random.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/sanitized.h"

enum { MANY = SANITIZED ? 100000 : 2000000, SOME = SANITIZED ? 5000 : 50000 };

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static int significant_digits(const char *text, size_t n)
{
    int count = 0, zeros = 0;
    for (size_t i = 0; i < n && text[i] != 'e'; i++) {
        if (text[i] < '0' || text[i] > '9') continue;
        if (text[i] == '0') {
            if (count) zeros++;
        } else {
            count += 1 + zeros;
            zeros = 0;
        }
    }
    return count;
}

static void check_round_trip(double x)
{
    char text[DIS_REAL_TEXT + 1];
    memset(text, '#', sizeof text);
    const size_t n = dis__format_real(x, text);
    assert_true(n > 0 && n < DIS_REAL_TEXT);
    assert_int_equal(text[DIS_REAL_TEXT], '#');
    double y = 7;
    if (!dis__parse_real(text, n, &y) || to_bits(x) != to_bits(y))
        fail_msg("%a is written %.*s and read %a", x, (int)n, text, y);
}

static double some_real(uint64_t i)
{
    const uint64_t bits = dis__random(3, 1, i) & INT64_MAX;
    return bits >> 52 == 0x7FF ? 1.0 : from_bits(bits);
}

static void reads_back_equal(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        check_round_trip(some_real(i));
        check_round_trip(-dis__random_uniform(3, 2, i));
    }
    for (int e = -1074; e <= 1023; e++)
        for (int64_t off = -2; off <= 2; off++) {
            const double x = ldexp(1, e);
            if (to_bits(x) > 2 && to_bits(x) + (uint64_t)off < to_bits(INFINITY))
                check_round_trip(from_bits(to_bits(x) + (uint64_t)off));
        }
    for (uint64_t b = 1; b < 2000; b++) check_round_trip(from_bits(b)); /* subnormals */
    check_round_trip(DBL_MAX);
    check_round_trip(DBL_MIN);
    check_round_trip(0);
}

static void agrees_with_strtod(void **state)
{
    (void)state;
    char text[64], *end;
    for (uint64_t i = 0; i < SOME; i++) {
        const double x = some_real(i);
        char mine[DIS_REAL_TEXT + 1];
        mine[dis__format_real(x, mine)] = 0;
        assert_true(strtod(mine, &end) == x && *end == 0);
        /* No shorter text reads back equal. */
        const int digits = significant_digits(mine, strlen(mine));
        if (digits > 1) {
            snprintf(text, sizeof text, "%.*e", digits - 2, x);
            assert_true(strtod(text, NULL) != x);
        }
        /* And of that length it is the nearest one: printf's rounding of as many digits is never closer. */
        for (int d = 1; d <= 20; d += 3) {
            snprintf(text, sizeof text, "%.*e", d, x);
            double y = 0;
            if (isinf(strtod(text, NULL))) continue;
            assert_true(dis__parse_real(text, strlen(text), &y));
            assert_true(y == strtod(text, NULL));
        }
    }
}

static void agrees_with_python(void **state)
{
    (void)state;
    FILE *f = fopen(DIS_SOURCE_DIR "/tests/data/reals.txt", "r");
    assert_non_null(f);
    unsigned long long bits;
    char theirs[64];
    int n_lines = 0;
    while (fscanf(f, "%llx %63s", &bits, theirs) == 2) {
        const double x = from_bits(bits);
        char mine[DIS_REAL_TEXT + 1];
        mine[dis__format_real(x, mine)] = 0;
        double y = 0;
        assert_true(dis__parse_real(theirs, strlen(theirs), &y) && y == x);
        assert_true(dis__parse_real(mine, strlen(mine), &y) && y == x);
        assert_int_equal(significant_digits(mine, strlen(mine)), significant_digits(theirs, strlen(theirs)));
        assert_true(strlen(mine) <= strlen(theirs));
        n_lines++;
    }
    fclose(f);
    assert_true(n_lines > 300);
}

/* Decimals that lie exactly between two doubles, and a hair to either side. */
static void rounds_midpoints_to_even(void **state)
{
    (void)state;
    static char text[1200];
    for (uint64_t i = 0; i < SOME / 10; i++) {
        /* All ranges in turn: any, subnormal, around 1, large. */
        const uint64_t r = dis__random(4, 1, i);
        const uint64_t bits = i % 4 == 0   ? r % (to_bits(DBL_MAX) - 1)
                              : i % 4 == 1 ? r % (UINT64_C(1) << (r % 52 + 1))
                              : i % 4 == 2 ? to_bits(1) + (r >> 20)
                                           : to_bits(DBL_MAX) - 2 - (r >> 50);
        const double a = from_bits(bits), b = from_bits(bits + 1);
        /* long double of x86 and of arm64 holds the midpoint exactly, and printf writes it exactly. */
        const long double middle = ((long double)a + (long double)b) / 2;
        const int n = snprintf(text, sizeof text, "%.780Le", middle);
        char *e = memchr(text, 'e', (size_t)n);
        double y = 0;
        assert_true(dis__parse_real(text, (size_t)n, &y));
        assert_true(to_bits(y) == (bits & 1 ? bits + 1 : bits));
        e[-1] = '1'; /* the 781st digit: beyond any midpoint's last one */
        assert_true(dis__parse_real(text, (size_t)n, &y) && to_bits(y) == bits + 1);
        e[-1] = '0';
        /* one less in the last digit that is not 0 */
        char *last = e - 1;
        while (*last == '0' || *last == '.') last--;
        --*last;
        assert_true(dis__parse_real(text, (size_t)n, &y) && to_bits(y) == bits);
    }
}

static void hard_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"0e999999999999999999999", 0},
        {"1e-999999999999999999999", 0},
        {"2.4703282292062327208e-324", 0},
        {"2.4703282292062328e-324", 5e-324},
        {"2.2250738585072011360574097967091319759348e-308", 0x0.fffffffffffffp-1022},
        {"2.2250738585072012e-308", 0x1p-1022},
        {"1.7976931348623158e308", DBL_MAX},
        {"17976931348623157e292", DBL_MAX},
        {"0.000000000000000000000000000000000000000000000000017976931348623157e358", DBL_MAX},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000000000000000000001", 9007199254740994.0},
        {"9007199254740995", 9007199254740996.0},
        {"6929495644600919.5", 6929495644600920.0},
        {"3.7455744005952583e15", 3745574400595258.5},
        {"8.41e21", 8.41e21},
        {"1e23", 1e23},
        {"9214843084008499", 9214843084008499.0},
        {"30078505129381147446200", 3.007850512938115e22},
        {"1448997445238699", 1448997445238699.0},
        {"0.1", .1},
        {".5", .5},
        {"5.", 5},
        {"+1.5E+2", 150},
        {"00012", 12},
        {"123456789012345678901234567890e-20", 1234567890.1234567},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double y = 7;
        if (!dis__parse_real(cases[i].text, strlen(cases[i].text), &y) || y != cases[i].value)
            fail_msg("%s is read %a, not %a", cases[i].text, y, cases[i].value);
    }
}

static void refuses_what_is_no_number(void **state)
{
    (void)state;
    static const char *const cases[] = {"",       ".",
                                        "+",      "-.",
                                        "e5",     "1e",
                                        "1e+",    "1 ",
                                        " 1",     "1,5",
                                        "0x10",   "inf",
                                        "nan",    "1..2",
                                        "1.2.3",  "--1",
                                        "1e5.0",  "1e999",
                                        "-1e309", "1.7976931348623159e308",
                                        "1_000",  "1e99999999999999999999",
                                        "١"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double y = 7;
        if (dis__parse_real(cases[i], strlen(cases[i]), &y)) fail_msg("\"%s\" is read as %g", cases[i], y);
        assert_true(y == 7);
    }
    double y = 7;
    assert_false(dis__parse_real("1\0", 2, &y));
}

static void styles(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {-1, "-1"},
                 {.25, "0.25"},
                 {.5, "0.5"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-5"},
                 {9e-6, "9e-6"},
                 {1e-10, "1e-10"},
                 {1.5e-7, "1.5e-7"},
                 {123456, "123456"},
                 {120, "120"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e16"},
                 {2.5e300, "2.5e300"},
                 {123.456, "123.456"},
                 {5e-324, "5e-324"},
                 {1.0 / 3, "0.3333333333333333"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[DIS_REAL_TEXT + 1];
        text[dis__format_real(cases[i].value, text)] = 0;
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_equal),
        cmocka_unit_test(agrees_with_strtod),
        cmocka_unit_test(agrees_with_python),
        cmocka_unit_test(rounds_midpoints_to_even),
        cmocka_unit_test(hard_texts),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(styles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
