/* The YAML reader: trees with positions, and everything that is refused, each with its exact message. */
#include "io/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

static int with_yaml(void **state)
{
    dis__yaml y;
    if (dis__yaml_parse("f", "a: 1", 4, &y) == DIS_EUSAGE) {
        assert_string_equal(dis_last_error(),
                            "f: this build has no experiments, because libyaml was missing when it was "
                            "made; install libyaml-dev and build again");
        puts("skipped: built without libyaml");
        exit(77);
    }
    dis__yaml_free(&y);
    return make_folder(state);
}

static void test_tree(void **state)
{
    static const char text[] = "name: x   # a comment\n"
                               "\"quoted\": 'it''s'\n"
                               "list: [a, {b: c, d: [e]}, \"\"]\n"
                               "long: |\n  two\n  lines\n";
    dis__yaml y;
    (void)state;
    assert_int_equal(dis__yaml_parse("f", text, strlen(text), &y), DIS_OK);
    const dis__yaml_node *root = y.node;
    assert_true(root->kind == DIS_YAML_MAP && root->n == 4 && root->skip == y.n_nodes);
    const dis__yaml_node *name = dis__yaml_member(root, "name"), *list = dis__yaml_member(root, "list");
    assert_string_equal(name->text, "x");
    assert_true(name->plain && name->line == 1 && name->column == 7);
    assert_string_equal(dis__yaml_member(root, "quoted")->text, "it's");
    assert_false(dis__yaml_member(root, "quoted")->plain);
    assert_true(list->kind == DIS_YAML_LIST && list->n == 3 && list->line == 3);
    const dis__yaml_node *map = list + 2;
    assert_string_equal(dis__yaml_member(map, "b")->text, "c");
    assert_string_equal((dis__yaml_member(map, "d") + 1)->text, "e");
    assert_int_equal(map->column, 11);
    assert_string_equal((map + map->skip)->text, "");
    assert_string_equal(dis__yaml_member(root, "long")->text, "two\nlines\n");
    assert_null(dis__yaml_member(root, "none"));
    assert_null(dis__yaml_member(name, "none"));
    assert_int_equal(dis__yaml_fail(&y, map, "wrong"), DIS_EDATA);
    assert_string_equal(dis_last_error(), "f:3:11: wrong");
    dis__yaml_free(&y);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "f: the file is empty"},
        {"# only a comment\n", "f: the file is empty"},
        {"a: b: c\n", "f:1:5: no YAML: mapping values are not allowed in this context"},
        {"a: [1, 2\nb: 3\n", "f:2:2: no YAML: did not find expected ',' or ']' while parsing a flow sequence"},
        {"a: \"x\nb: 1\n", "f:3:1: no YAML: found unexpected end of stream while scanning a quoted scalar"},
        {"\ta: 1\n", "f:1:1: no YAML: found character that cannot start any token while scanning for the next token"},
        {"a: 1\nb: 2\na: 3\n", "f:3:1: the key \"a\" is repeated, first in line 1; keep one"},
        {"x: {a: {b: 1}, c: 2, a: 3}\n", "f:1:22: the key \"a\" is repeated, first in line 1; keep one"},
        {"a: &x 1\n", "f:1:4: anchors (&) are not supported; write the part out, or use defaults"},
        {"a: &x [1]\n", "f:1:4: anchors (&) are not supported; write the part out, or use defaults"},
        {"a: *x\n", "f:1:4: aliases (*) are not supported; write the part out, or use defaults"},
        {"<<: {a: 1}\n", "f:1:1: merging maps with << is not supported; write the keys out"},
        {"a: !!int 3\n", "f:1:4: tags (!) are not supported; remove it"},
        {"a: !x {b: 1}\n", "f:1:4: tags (!) are not supported; remove it"},
        {"a: 1\n---\nb: 1\n", "f:2:1: a second document; an experiment is one document"},
        {"[a]: 1\n", "f:1:1: a key must be a text"},
        {"{a: 1}: 1\n", "f:1:1: a key must be a text"},
        {"a: \"x\\0y\"\n", "f:1:4: a text with a NUL in it"},
        {"a: 1\nb: \xff\n", "f:2:4: invalid UTF-8; save the file as UTF-8"},
        {"a: \x01\n", "f:1:1: no YAML: control characters are not allowed"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis__yaml y = {.path = (char *)"untouched"};
        assert_int_equal(dis__yaml_parse("f", cases[i].text, strlen(cases[i].text), &y), DIS_EDATA);
        assert_string_equal(dis_last_error(), cases[i].message);
        assert_string_equal(y.path, "untouched");
    }
    dis__yaml y;
    assert_int_equal(dis__yaml_parse("f", "a: 1\nb\0c", 8, &y), DIS_EDATA);
    assert_string_equal(dis_last_error(), "f:2:2: a NUL byte; is this a text file?");
}

/* A text of n pieces. */
static char *many(const char *piece, size_t n, const char *end)
{
    char *text = malloc(n * strlen(piece) + strlen(end) + 1), *to = text;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) to = stpcpy(to, piece);
    strcpy(to, end);
    return text;
}

static void test_limits(void **state)
{
    dis__yaml y;
    (void)state;
    for (size_t depth = DIS_YAML_DEPTH; depth <= DIS_YAML_DEPTH + 1; depth++) {
        char *text = many("[", depth, "");
        char *end = many("]", depth, "\n"), *all = malloc(strlen(text) + strlen(end) + 1);
        strcpy(stpcpy(all, text), end);
        assert_int_equal(dis__yaml_parse("f", all, strlen(all), &y), depth > DIS_YAML_DEPTH ? DIS_EDATA : DIS_OK);
        if (depth > DIS_YAML_DEPTH)
            assert_string_equal(dis_last_error(), "f:1:33: more than 32 levels");
        else
            dis__yaml_free(&y);
        free(text);
        free(end);
        free(all);
    }
    char *long_list = many("- x\n", DIS_YAML_NODES, "");
    assert_int_equal(dis__yaml_parse("f", long_list, strlen(long_list), &y), DIS_EDATA);
    assert_string_equal(dis_last_error(), "f:200000:3: the file has too many parts for an experiment");
    free(long_list);
    char *large = many("# a comment that fills the file\n", 1 + DIS_YAML_BYTES / 32, "");
    assert_int_equal(dis__yaml_parse("f", large, strlen(large), &y), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "bytes; at most 4194304 are read"));
    free(large);
    char *keys = malloc(16 * (DIS_YAML_KEYS + 2)), *to = keys;
    for (unsigned i = 0; i <= DIS_YAML_KEYS; i++) to += sprintf(to, "k%u: 1\n", i);
    assert_int_equal(dis__yaml_parse("f", keys, strlen(keys), &y), DIS_EDATA);
    assert_string_equal(dis_last_error(), "f:4097:1: more than 4096 keys in one map");
    free(keys);
}

static dis_status read_it(void *arg)
{
    dis__yaml y = {0};
    const dis_status status = dis__yaml_read(NULL, arg, &y);
    if (status == DIS_OK) dis__yaml_free(&y);
    assert_null(y.node);
    return status;
}

static void test_faults(void **state)
{
    char path[512];
    (void)state;
    strcpy(path, put_text("a.yaml", "a: {b: [c, d], e: f}\ng: h\n"));
    walk_faults(read_it, NULL, path);
    dis__yaml y;
    assert_int_equal(dis__yaml_read(NULL, in_folder("none.yaml"), &y), DIS_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, with_yaml, remove_folder);
}
