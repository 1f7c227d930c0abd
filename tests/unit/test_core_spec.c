/* NAME[:key=value,...]: what is taken, and what a user reads when it is not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <stdio.h>
#include <locale.h>
#include <cmocka.h>
#include "core/options/option_spec.h"

typedef struct {
    int64_t iterations;
    double tolerance;
    int how;
    dis_reals weights;
    dis_seed seed;
    int64_t unset;
} values;

static const dis_option options[] = {
    {.key = "iterations",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(values, iterations),
     .default_value = "100",
     .low = 0,
     .high = 1e9},
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(values, tolerance),
     .default_value = "1e-5",
     .low = 0,
     .high = 1},
    {.key = "how",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(values, how),
     .default_value = "vb",
     .choices = "em|vb|hard"},
    {.key = "weights",
     .kind = DIS_OPTION_REALS,
     .offset = offsetof(values, weights),
     .low = 0,
     .high = 1e9,
     .choices = "auto|equal"},
    {.key = "seed", .kind = DIS_OPTION_SEED, .offset = offsetof(values, seed)},
    {.key = "unset", .kind = DIS_OPTION_INT, .offset = offsetof(values, unset), .low = -5, .high = 5},
};
enum { N = sizeof options / sizeof *options };

static dis_status parse(const char *spec, values *v)
{
    return dis__spec_parse("method", spec, options, N, v, sizeof *v);
}

static void defaults(void **state)
{
    (void)state;
    static const char *const specs[] = {"mace", "x", ""};
    for (size_t s = 0; s < 3; s++) {
        values v;
        memset(&v, 0xff, sizeof v);
        assert_int_equal(parse(specs[s], &v), DIS_OK);
        assert_true(v.iterations == 100 && v.tolerance == 1e-5 && v.how == 1 && v.unset == 0);
        assert_true(v.weights.n == 0 && !v.seed.given && v.seed.value == 0);
    }
    assert_int_equal(dis__spec_name_length("mace:restarts=3"), 4);
    assert_int_equal(dis__spec_name_length("mace"), 4);
    assert_int_equal(dis__spec_name_length(":a=1"), 0);
}

static void given(void **state)
{
    (void)state;
    values v;
    assert_int_equal(parse("mace:how=em,iterations=0,tolerance=.5,seed=18446744073709551615,unset=-5", &v), DIS_OK);
    assert_true(v.how == 0 && v.iterations == 0 && v.tolerance == .5 && v.unset == -5);
    assert_true(v.seed.given && v.seed.value == UINT64_MAX);
    assert_int_equal(parse("mace:seed=0", &v), DIS_OK);
    assert_true(v.seed.given && v.seed.value == 0);
    assert_int_equal(parse("mace:how=hard", &v), DIS_OK);
    assert_int_equal(v.how, 2);
    assert_int_equal(parse("c:weights=.2/.3/0.5", &v), DIS_OK);
    assert_true(v.weights.n == 3 && v.weights.choice == -1);
    assert_true(v.weights.value[0] == .2 && v.weights.value[1] == .3 && v.weights.value[2] == .5);
    assert_int_equal(parse("c:weights=7", &v), DIS_OK);
    assert_true(v.weights.n == 1 && v.weights.value[0] == 7);
    assert_int_equal(parse("c:weights=equal", &v), DIS_OK);
    assert_true(v.weights.n == 0 && v.weights.choice == 1);
    assert_int_equal(parse("c:tolerance=1", &v), DIS_OK); /* bounds are inclusive */
    assert_int_equal(parse("c:tolerance=0", &v), DIS_OK);
    assert_int_equal(parse("c:tolerance=1e-3", &v), DIS_OK);
    assert_true(v.tolerance == 1e-3);
}

static const struct {
    const char *spec, *message;
} wrong[] = {
    {"mace:iteration=5",
     "method mace: no option \"iteration\"; options are: iterations, tolerance, how, weights, seed, unset"},
    {"mace:iterations=many", "method mace: iterations=many: must be an integer from 0 to 1000000000"},
    {"mace:iterations=", "method mace: iterations=: must be an integer from 0 to 1000000000"},
    {"mace:iterations=-1", "method mace: iterations=-1: must be an integer from 0 to 1000000000"},
    {"mace:iterations=1.5", "method mace: iterations=1.5: must be an integer from 0 to 1000000000"},
    {"mace:iterations=99999999999999999999",
     "method mace: iterations=99999999999999999999: must be an integer from 0 to 1000000000"},
    {"mace:unset=6", "method mace: unset=6: must be an integer from -5 to 5"},
    {"mace:tolerance=2", "method mace: tolerance=2: must be a number from 0 to 1"},
    {"mace:tolerance=-1e-300", "method mace: tolerance=-1e-300: must be a number from 0 to 1"},
    {"mace:tolerance=nan", "method mace: tolerance=nan: must be a number from 0 to 1"},
    {"mace:tolerance=1e999", "method mace: tolerance=1e999: must be a number from 0 to 1"},
    {"mace:tolerance=0,5", "method mace: \"5\" is not key=value"},
    {"mace:tolerance=", "method mace: tolerance=: must be a number from 0 to 1"},
    {"mace:how=vbb", "method mace: how=vbb: must be em|vb|hard"},
    {"mace:how=", "method mace: how=: must be em|vb|hard"},
    {"mace:how=em|vb", "method mace: how=em|vb: must be em|vb|hard"},
    {"mace:weights=.2//.3", "method mace: weights=.2//.3: must be a number from 0 to 1e+09"},
    {"mace:weights=", "method mace: weights=: must be a number from 0 to 1e+09"},
    {"mace:weights=automatic", "method mace: weights=automatic: must be a number from 0 to 1e+09"},
    {"mace:seed=-1", "method mace: seed=-1: must be an integer from 0 to 18446744073709551615"},
    {"mace:seed=18446744073709551616",
     "method mace: seed=18446744073709551616: must be an integer from 0 to 18446744073709551615"},
    {"mace:seed=", "method mace: seed=: must be an integer from 0 to 18446744073709551615"},
    {"mace:", "method mace: \"\" is not key=value"},
    {"mace:how=em,", "method mace: \"\" is not key=value"},
    {"mace:,how=em", "method mace: \"\" is not key=value"},
    {"mace:how", "method mace: \"how\" is not key=value"},
    {"mace:=em", "method mace: no option \"\"; options are: iterations, tolerance, how, weights, seed, unset"},
    {"mace:how=em,how=vb", "method mace: how is given twice"},
    {"mace:how=em,seed=1,how=em", "method mace: how is given twice"},
    {"mace:ho\x1b[31mw=em",
     "method mace: no option \"ho?[31mw\"; options are: iterations, tolerance, how, weights, seed, unset"},
};

static void messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        values v;
        assert_int_equal(parse(wrong[i].spec, &v), DIS_EUSAGE);
        assert_string_equal(dis_last_error(), wrong[i].message);
    }
    values v;
    assert_int_equal(dis__spec_parse("method", "standard:a=1", NULL, 0, &v, sizeof v), DIS_EUSAGE);
    assert_string_equal(dis_last_error(), "method standard: no option \"a\"; options are: none");
}

static void long_input(void **state)
{
    (void)state;
    values v;
    char spec[4000] = "c:weights=1";
    for (int i = 1; i < 64; i++) strcat(spec, "/1");
    assert_int_equal(parse(spec, &v), DIS_OK);
    assert_int_equal(v.weights.n, 64);
    strcat(spec, "/1");
    assert_int_equal(parse(spec, &v), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "must be at most 64 numbers with / between them"));
    memset(spec, '9', sizeof spec - 1);
    spec[sizeof spec - 1] = 0;
    memcpy(spec, "c:seed=", 7);
    assert_int_equal(parse(spec, &v), DIS_EUSAGE);
    assert_string_equal(dis_last_error(), "method c: seed=...: must be shorter");
    memset(spec, 'k', sizeof spec - 1);
    memcpy(spec, "c:", 2);
    assert_int_equal(parse(spec, &v), DIS_EUSAGE);
    spec[1000] = '=';
    assert_int_equal(parse(spec, &v), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "no option \"kkkkk"));
}

/* A program in a language that writes 0,5 reads the same options. */
static void locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "nl_NL.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < 4 && !set; i++) set = setlocale(LC_NUMERIC, locales[i]) != NULL;
    if (!set) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    values v;
    const dis_status status = parse("c:tolerance=.25", &v);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(status, DIS_OK);
    assert_true(v.tolerance == .25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults), cmocka_unit_test(given), cmocka_unit_test(messages),
                                       cmocka_unit_test(long_input), cmocka_unit_test(locale_does_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
