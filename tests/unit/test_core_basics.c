/* Memory, errors, fault hooks, lists of names and the choice of an instruction set. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/fault_injection.h"
#include "core/kernel.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/os/os.h"
#include "dissent/version.h"

static void sizes(void **state)
{
    (void)state;
    assert_true(dis__saturating_size(6, 7, 8) == 50);
    assert_true(dis__saturating_size(0, SIZE_MAX, 0) == 0);
    assert_true(dis__saturating_size(SIZE_MAX, 1, 0) == SIZE_MAX);
    assert_true(dis__saturating_size(SIZE_MAX, 1, 1) == SIZE_MAX);
    assert_true(dis__saturating_size(SIZE_MAX, 2, 0) == SIZE_MAX);
    assert_true(dis__saturating_size((size_t)1 << 32, (size_t)1 << 32, 0) == SIZE_MAX);
    assert_true(dis__saturating_size(((size_t)1 << 32) - 1, ((size_t)1 << 32) + 1, 0) ==
                SIZE_MAX); /* 2^64 - 1 fits, and is the same */
}

static void allocation(void **state)
{
    (void)state;
    for (size_t n = 0; n < 300; n++) {
        unsigned char *block;
        assert_int_equal(dis__alloc_zeroed(&block, n, 3), DIS_OK);
        assert_true((uintptr_t)block % 64 == 0);
        for (size_t i = 0; i < 3 * n; i++) assert_int_equal(block[i], 0);
        dis__free(block);
    }
    unsigned char *large; /* the path that asks for huge pages */
    assert_int_equal(dis__alloc_zeroed(&large, 9 << 20, 1), DIS_OK);
    for (size_t i = 0; i < 9 << 20; i += 4096) assert_int_equal(large[i], 0);
    dis__free(large);
    dis__free(NULL);
    /* Pages that were written read as zeros once released, which zeroed blocks rely on; the others keep their bytes. */
    const size_t n = 9 << 20, part = 4 << 20;
    assert_int_equal(dis__alloc_array(&large, n, 1), DIS_OK);
    memset(large, 0xff, n);
    const bool released = dis__os_zero_pages(large, part);
    for (size_t i = 0; i < n; i++)
        if (large[i] != (released && i < part ? 0 : 0xff)) fail_msg("byte %zu is %d", i, large[i]);
    dis__free(large);
    assert_true(dis__memory_available() > 0);
}

/* Sizes that overflow, or that no machine has, are refused and leave the pointer alone. */
static void impossible_sizes(void **state)
{
    (void)state;
    static const size_t pairs[][2] = {{SIZE_MAX, 1},     {SIZE_MAX, 8},      {SIZE_MAX / 2, 3},
                                      {1, SIZE_MAX - 5}, {SIZE_MAX - 62, 1}, {(size_t)1 << 33, (size_t)1 << 33}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int here;
        int *p = &here;
        assert_int_equal(dis__alloc_array(&p, pairs[i][0], pairs[i][1]), DIS_ELIMIT);
        assert_int_equal(dis__alloc_zeroed(&p, pairs[i][0], pairs[i][1]), DIS_ELIMIT);
        assert_int_equal(dis__resize_array(&p, 1, pairs[i][0], pairs[i][1]), DIS_ELIMIT);
        assert_ptr_equal(p, &here);
        assert_non_null(strstr(dis_last_error(), "no memory for"));
    }
    char *text = NULL;
    assert_int_equal(dis__copy_text(&text, "x", SIZE_MAX), DIS_ELIMIT);
    size_t capacity = 0;
    assert_int_equal(dis__reserve(&text, &capacity, 0, SIZE_MAX - 1, 16), DIS_ELIMIT);
    assert_true(capacity == 0 && !text);
}

static void growing(void **state)
{
    (void)state;
    uint32_t *list = NULL;
    size_t capacity = 0;
    int grown = 0;
    for (size_t n = 0; n < 10000; n++) {
        const size_t before = capacity;
        assert_int_equal(dis__reserve(&list, &capacity, n, n + 1, sizeof *list), DIS_OK);
        grown += capacity != before;
        list[n] = (uint32_t)n * 7;
    }
    assert_true(grown < 12); /* doubling */
    for (size_t n = 0; n < 10000; n++) assert_int_equal(list[n], (uint32_t)n * 7);
    dis__fault_arm(DIS_FAULT_ALLOC, 1);
    uint32_t *const before = list;
    assert_int_equal(dis__reserve(&list, &capacity, 10000, 100000, sizeof *list), DIS_ELIMIT);
    assert_ptr_equal(list, before);
    assert_int_equal(list[9999], 9999 * 7);
    assert_int_equal(dis__resize_array(&list, 10000, 5, sizeof *list), DIS_OK);
    assert_int_equal(list[4], 28);
    dis__free(list);
}

static void faults_count(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 5; n++) {
        dis__fault_arm(DIS_FAULT_ALLOC, n);
        for (uint64_t call = 1; call < 8; call++) {
            void *p = NULL;
            assert_int_equal(dis__alloc_array(&p, 1, 1), call == n ? DIS_ELIMIT : DIS_OK); /* once, at the n-th */
            assert_true(dis__fault_reached(DIS_FAULT_ALLOC) == (call >= n));
            dis__free(p);
        }
    }
    dis__fault_arm(DIS_FAULT_ALLOC, 0);
    assert_false(dis__fault_reached(DIS_FAULT_ALLOC));
    assert_false(dis__fault_inject(DIS_FAULT_IO));
}

static void messages(void **state)
{
    (void)state;
    assert_int_equal(dis__fail(DIS_EDATA, "%s and %d", "this", 5), DIS_EDATA);
    assert_string_equal(dis_last_error(), "this and 5");
    assert_int_equal(dis__fail_at(DIS_EDATA, "votes.csv", 12, 5, "no %s", "good"), DIS_EDATA);
    assert_string_equal(dis_last_error(), "votes.csv:12:5: no good");
    dis__fail_at(DIS_EDATA, "votes.csv", 12, 0, "no good");
    assert_string_equal(dis_last_error(), "votes.csv:12: no good");
    dis__fail_at(DIS_EDATA, "-", 0, 0, "no good");
    assert_string_equal(dis_last_error(), "standard input: no good");
    errno = ENOENT;
    assert_int_equal(dis__fail_io("open", "votes.csv"), DIS_EIO);
    assert_string_equal(dis_last_error(), "cannot open votes.csv: No such file or directory");
    dis__set_error("carried over");
    assert_string_equal(dis_last_error(), "carried over");
    /* what comes from a user's file cannot steer a terminal or fake a second line */
    dis__fail(DIS_EDATA, "label \"%s\"",
              "a\x1b[2J\nb\x7f\xc2\x9b"
              "31m\xc3\xa9");
    assert_string_equal(dis_last_error(), "label \"a?[2J?b???31m\xc3\xa9\"");
    char id[70000];
    memset(id, 'x', sizeof id - 1);
    id[sizeof id - 1] = 0;
    dis__fail_at(DIS_EDATA, id, 1, 2, "%s", id); /* cut, not overrun; the position survives a long file name */
    assert_true(strlen(dis_last_error()) < 2048);
    assert_non_null(strstr(dis_last_error(), ":1:2: xxx"));
    assert_string_equal(dis_status_meaning(DIS_OK), "fine");
    assert_string_equal(dis_status_meaning(DIS_EDATA), "bad data");
    assert_string_equal(dis_status_meaning((dis_status)99), "an unknown status");
    assert_int_equal(DIS_ECANCELLED, 7);
}

static void check_names(const dis_names *names, const char *const *texts, size_t n)
{
    assert_int_equal(dis_names_count(names), n);
    for (size_t i = 0; i < n; i++) {
        size_t length;
        assert_string_equal(dis_names_get(names, i, &length), texts[i]);
        assert_int_equal(length, strlen(texts[i]));
        assert_ptr_equal(dis_names_get(names, i, NULL), dis_names_get(names, i, &length));
        assert_int_equal(dis_names_find(names, texts[i], length), i);
    }
    assert_true(dis_names_find(names, "absent", 6) == SIZE_MAX);
    assert_true(dis_names_find(names, "ca", 2) == SIZE_MAX); /* the start of a name is not the name */
    assert_true(dis_names_find(names, "cats", 4) == SIZE_MAX);
}

static void names(void **state)
{
    (void)state;
    const char *const texts[] = {"cat", "", "dog", "\xe7\x8c\xab", "a,\"b"};
    for (size_t n = 0; n <= 5; n++) {
        dis_names *one, *copy;
        assert_int_equal(dis_names_create(texts, n, &one), DIS_OK);
        assert_int_equal(dis__names_copy(one, &copy), DIS_OK);
        check_names(one, texts, n);
        dis_names_destroy(one);
        check_names(copy, texts, n);
        dis_names_destroy(copy);
    }
    dis_names *numbers;
    assert_int_equal(dis__names_from_numbers(1234, &numbers), DIS_OK);
    assert_string_equal(dis_names_get(numbers, 0, NULL), "0");
    assert_string_equal(dis_names_get(numbers, 10, NULL), "10");
    assert_string_equal(dis_names_get(numbers, 1233, NULL), "1233");
    dis_names_destroy(numbers);
    assert_int_equal(dis__names_from_numbers(0, &numbers), DIS_OK);
    assert_int_equal(dis_names_count(numbers), 0);
    dis_names_destroy(numbers);
    dis_names_destroy(NULL);
}

static void names_without_memory(void **state)
{
    (void)state;
    const char *const texts[] = {"a", "b"};
    dis_names *source;
    assert_int_equal(dis_names_create(texts, 2, &source), DIS_OK);
    for (int what = 0; what < 3; what++)
        for (uint64_t n = 1;; n++) {
            dis_names *names = NULL;
            dis__fault_arm(DIS_FAULT_ALLOC, n);
            const dis_status status = what == 0   ? dis_names_create(texts, 2, &names)
                                      : what == 1 ? dis__names_copy(source, &names)
                                                  : dis__names_from_numbers(5, &names);
            const bool reached = dis__fault_reached(DIS_FAULT_ALLOC);
            dis__fault_arm(DIS_FAULT_ALLOC, 0);
            assert_int_equal(status, reached ? DIS_ELIMIT : DIS_OK);
            assert_true((names == NULL) == reached);
            dis_names_destroy(names);
            if (!reached) break;
        }
    dis_names_destroy(source);
}

static void instruction_set(void **state)
{
    (void)state;
    unsetenv("DISSENT_ISA");
    const dis_isa best = dis__isa();
    static const char *const all[] = {"baseline", "avx2", "avx512"};
    for (int isa = 0; isa < 3; isa++) {
        assert_string_equal(dis__isa_name((dis_isa)isa), all[isa]);
        setenv("DISSENT_ISA", all[isa], 1);
        assert_int_equal(dis__isa(), isa <= (int)best ? isa : (int)best); /* never one that the machine lacks */
    }
    setenv("DISSENT_ISA", "nonsense", 1);
    assert_int_equal(dis__isa(), best);
    unsetenv("DISSENT_ISA");
}

/* Lists of names that ascend, by bytes or by length, or do not, or have one twice. */
static const char *const lists[][6] = {
    {"a", "b", "c", "d", "e", "f"},           {"t1", "t2", "t3", "t10", "t11", "t100"},
    {"t1", "t10", "t100", "t11", "t2", "t3"}, {"", "t1", "t10", "t2", "t3", "z"},
    {"t3", "t2", "t1", "t10", "t11", "t100"}, {"t1", "t1", "t2", "t3", "t10", "t11"},
    {"t1", "t2", "t2", "t10", "t3", "t2"},    {"x1", "x2", "x3", "x4", "x5", "x6"},
    {"t", "t1", "t12", "t2", "t10", "t100"},
};
enum { LISTS = sizeof lists / sizeof *lists, LISTED = 6 };

static size_t place_in(const char *const *list, const char *name)
{
    for (size_t i = 0; i < LISTED; i++)
        if (strcmp(list[i], name) == 0) return i;
    return SIZE_MAX;
}

/* Names are matched as by looking for each from the first on, whatever order lets do without a table. */
static void names_that_ascend(void **state)
{
    (void)state;
    dis_names *names[LISTS];
    for (size_t a = 0; a < LISTS; a++) assert_int_equal(dis_names_create(lists[a], LISTED, &names[a]), DIS_OK);
    for (size_t a = 0; a < LISTS; a++) {
        size_t twice, want_twice = SIZE_MAX;
        assert_int_equal(dis__names_find_duplicate(names[a], &twice), DIS_OK);
        for (size_t i = LISTED; i-- > 0;)
            if (place_in(lists[a], lists[a][i]) < i) want_twice = i;
        assert_true(twice == want_twice);
        for (size_t b = 0; b < LISTS; b++) {
            size_t row[LISTED], found, want_found = 0, lacking, want_lacking = SIZE_MAX;
            assert_int_equal(dis__names_match(names[a], names[b], row, &found), DIS_OK);
            assert_int_equal(dis__names_find_missing(names[b], names[a], &lacking), DIS_OK);
            for (size_t i = LISTED; i-- > 0;) {
                const size_t want = place_in(lists[a], lists[b][i]);
                assert_true(row[i] == want);
                want_found += want != SIZE_MAX;
                if (want == SIZE_MAX) want_lacking = i;
            }
            assert_true(found == want_found);
            assert_true(lacking == want_lacking);
        }
    }
    for (size_t a = 0; a < LISTS; a++) dis_names_destroy(names[a]);
}

/* Lists in messages: whole texts, a long one cut between characters, an end that says so, never after the room. */
static void lists_in_messages(void **state)
{
    (void)state;
    char list[24] = "", small[4] = "", wide[100] = "", text[62];
    dis__text_list_append(list, sizeof list, "one", 3);
    dis__text_list_append(list, sizeof list, "two, which is cut", 3);
    assert_string_equal(list, "one, two");
    dis__text_list_append(list, sizeof list, "much too long", 13);
    assert_string_equal(list, "one, two, ...");
    dis__text_list_append(list, sizeof list, "x", 1);
    assert_string_equal(list, "one, two, ...");
    dis__text_list_append(small, sizeof small, "much too long", 13);
    assert_string_equal(small, "");
    memset(text, 'a', sizeof text);
    memcpy(text + 59, "\xC3\xA9", 2);
    dis__text_list_append(wide, sizeof wide, text, sizeof text);
    assert_int_equal(strlen(wide), 59);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_in_messages),    cmocka_unit_test(sizes),
        cmocka_unit_test(allocation),           cmocka_unit_test(growing),
        cmocka_unit_test(impossible_sizes),     cmocka_unit_test(messages),
        cmocka_unit_test(faults_count),         cmocka_unit_test(names),
        cmocka_unit_test(names_without_memory), cmocka_unit_test(names_that_ascend),
        cmocka_unit_test(instruction_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
