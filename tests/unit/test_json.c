/* The JSON reader: what it takes, what it refuses and where, and that no fault of memory hurts it. */
#include "io/json/json_read.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"

static const dis__json_position place = {.file = "x.json", .line = 1, .column = 1, .offset = 0};

static void accepts(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "1",
        "-12.5e+3",
        "1E-400",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[1]",
        "{\"a\":1}",
        "[[],{},[{}],{\"a\":[]}]",
        "\t[ 1 ,\r\n 2 ] ",
        "\"\\u00e4\\n\\\"\\/\\\\\"",
        "\"\\ud83d\\ude00\"",
        "\"\xF0\x9F\x98\x80\"",
        "\"\x7F\"",
        "{\"\":0,\"a\":0}",
        "123456789012345678901234567890",
    };
    dis__json json = {0};
    const dis__json_value *root;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (dis__json_parse(&json, cases[i], strlen(cases[i]), &place, &root) != DIS_OK)
            fail_msg("%s: %s", cases[i], dis_last_error());
    dis__json_free(&json);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "x.json:1:1: a value is missing: the text ends here; is the file complete? (byte 0)"},
        {"  ", "x.json:1:3:"},
        {"[1,]", "x.json:1:4: a value is missing; is there a comma too many? (byte 3)"},
        {"{\"a\":1,}", "x.json:1:8: a key is missing; is there a comma too many?"},
        {"{\"a\":1,\n\"a\":2}", "x.json:2:1: the key \"a\" twice in one object (byte 8)"},
        {"{\"b\":1,\"\\u0061\":1,\"a\":2}", "x.json:1:19: the key \"a\" twice"},
        {"[1 2]", "neither a comma nor ]"},
        {"{\"a\" 1}", "a colon is missing"},
        {"{a:1}", "a key in double quotes"},
        {"{\"a\"}", "a colon is missing"},
        {"{1:1}", "a key in double quotes"},
        {"{\"a\":}", "a value is missing"},
        {"[", "x.json:1:1: an array without closing ]"},
        {"[1", "x.json:1:1: an array without closing ]"},
        {"{\"a\":1", "an object without closing }"},
        {"[1}", "neither a comma nor ]"},
        {"]", "a value is missing"},
        {"1 2", "x.json:1:3: unexpected text after"},
        {"nul", "no JSON value begins like this; is it a JSON file"},
        {"True", "no JSON value begins like this"},
        {"NaN", "JSON has no NaN or Infinity; write null"},
        {"-Infinity", "not a number"},
        {"01", "not a number"},
        {"-", "not a number"},
        {"1.", "not a number"},
        {".5", "no JSON value begins"},
        {"+1", "no JSON value begins"},
        {"1e", "not a number"},
        {"0x10", "unexpected text after"},
        {"1e999", "too large"},
        {"-1e309", "too large"},
        {"\"abc", "x.json:1:1: a text without closing quote"},
        {"\"a\nb\"", "a control character"},
        {"\"\x1F\"", "a control character"},
        {"\"\\x\"", "without a valid escape"},
        {"\"\\", "without a valid escape"},
        {"\"\\u12", "four hexadecimal digits"},
        {"\"\\u12g4\"", "four hexadecimal digits"},
        {"\"\\u0000\"", "NUL"},
        {"\"\\ud800\"", "x.json:1:2: a lone surrogate"},
        {"\"\\udc00\"", "lone surrogate"},
        {"\"\\ud800\\n\"", "lone surrogate"},
        {"\"\\ud800\\ud800\"", "lone surrogate"},
        {"\"\x80\"", "invalid UTF-8"},
        {"\"\xC0\x80\"", "invalid UTF-8"},
        {"\"\xED\xA0\x80\"", "invalid UTF-8"},
        {"\"\xF4\x90\x80\x80\"", "invalid UTF-8"},
        {"\"\xE2\x82\"", "invalid UTF-8"},
        {"/* */ 1", "no JSON value begins"},
        {"'a'", "no JSON value begins"},
        {"\xEF\xBB\xBF"
         "1",
         "no JSON value begins"},
    };
    dis__json json = {0};
    const dis__json_value *root = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* a copy of just that length: what is read after it is seen by a sanitizer */
        const size_t n = strlen(cases[i].text);
        char *text = malloc(n + 1);
        memcpy(text, cases[i].text, n);
        const dis_status status = dis__json_parse(&json, text, n, &place, &root);
        if (status != DIS_EDATA || !strstr(dis_last_error(), cases[i].message))
            fail_msg("%s: status %d, \"%s\" lacks \"%s\"", cases[i].text, status, dis_last_error(), cases[i].message);
        assert_null(root);
        free(text);
    }
    assert_int_equal(dis__json_parse(&json, "1\0", 2, &place, &root), DIS_EDATA);
    dis__json_free(&json);
}

static void depth_at_the_limit(void **state)
{
    (void)state;
    char text[2 * DIS_JSON_DEPTH + 2];
    dis__json json = {0};
    const dis__json_value *root;
    for (size_t extra = 0; extra < 2; extra++) {
        const size_t n = DIS_JSON_DEPTH + extra;
        memset(text, '[', n);
        memset(text + n, ']', n);
        assert_int_equal(dis__json_parse(&json, text, 2 * n, &place, &root), extra ? DIS_EDATA : DIS_OK);
    }
    assert_non_null(strstr(dis_last_error(), "256 levels"));
    /* A million opening brackets are no more of a problem. */
    char *many = malloc(1000000);
    memset(many, '[', 1000000);
    assert_int_equal(dis__json_parse(&json, many, 1000000, &place, &root), DIS_EDATA);
    free(many);
    dis__json_free(&json);
}

static void tree(void **state)
{
    (void)state;
    const char *text =
        "{\"t\": \"a\\tb\", \"n\": [1, [2, 3], {\"x\": null}], \"u\": \"\\ud83d\\ude00\", \"last\": -2.5}";
    dis__json json = {0};
    const dis__json_value *root;
    assert_int_equal(dis__json_parse(&json, text, strlen(text), &place, &root), DIS_OK);
    assert_int_equal(root->n, 4);
    const dis__json_value *t = dis__json_member(root, "t"), *n = dis__json_member(root, "n"),
                          *u = dis__json_member(root, "u");
    assert_true(dis__json_equals(t, "a\tb"));
    assert_true(dis__json_equals(u, "\xF0\x9F\x98\x80"));
    assert_int_equal(n->kind, DIS_JSON_ARRAY);
    assert_int_equal(n->n, 3);
    const dis__json_value *second = n + 1 + n[1].skip;
    assert_int_equal(second->n, 2);
    assert_true(second[2].number == 3);
    assert_int_equal((second + second->skip)->kind, DIS_JSON_OBJECT);
    assert_true(dis__json_member(root, "last")->number == -2.5);
    assert_int_equal(memcmp(dis__json_member(root, "last")->text, "-2.5", 4), 0);
    assert_null(dis__json_member(root, "x"));
    assert_null(dis__json_member(n, "x"));
    const dis__json_position other_position = {.file = "y", .line = 7, .column = 1, .offset = 100};
    assert_int_equal(dis__json_parse(&json, text, strlen(text), &other_position, &root), DIS_OK);
    assert_int_equal(dis__json_fail(&json, dis__json_member(root, "n"), "no %s", "good"), DIS_EDATA);
    assert_string_equal(dis_last_error(), "y:7:20: no good (byte 119)");
    const dis__json_position unknown = {.file = "z", .offset = 8};
    assert_int_equal(dis__json_parse(&json, "]", 1, &unknown, &root), DIS_EDATA);
    assert_string_equal(dis_last_error(), "z: a value is missing; is there a comma too many? (byte 8)");
    dis__json_free(&json);
}

/* Objects of many keys: no equal pair among them, then one. Also that it is not quadratic: a million keys take no time.
 */
static void many_keys(void **state)
{
    (void)state;
    enum { N = 300000 };
    char *text = malloc(16 * N + 64);
    dis__json json = {0};
    const dis__json_value *root;
    for (int twice = 0; twice < 2; twice++) {
        size_t n = 0;
        for (int i = 0; i < N; i++)
            n += (size_t)sprintf(text + n, "%c\"%d\":1", i ? ',' : '{', (int)((i * 7919LL) % N));
        if (twice) n += (size_t)sprintf(text + n, ",\"123\":2");
        text[n++] = '}';
        assert_int_equal(dis__json_parse(&json, text, n, &place, &root), twice ? DIS_EDATA : DIS_OK);
    }
    assert_non_null(strstr(dis_last_error(), "the key \"123\" twice"));
    dis__json_free(&json);
    free(text);
}

static dis_status parse_it(void *arg)
{
    (void)arg;
    static const char text[] = "{\"a\\n\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18],\"b\":1,\"c\":2}";
    dis__json json = {0};
    const dis__json_value *root = NULL;
    const dis_status status = dis__json_parse(&json, text, sizeof text - 1, &place, &root);
    if (status != DIS_OK) assert_null(root);
    dis__json_free(&json);
    return status;
}

static void faults(void **state)
{
    (void)state;
    walk_faults(parse_it, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts), cmocka_unit_test(refuses),   cmocka_unit_test(depth_at_the_limit),
        cmocka_unit_test(tree),    cmocka_unit_test(many_keys), cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
