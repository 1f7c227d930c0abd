/* Words of a text, words to numbers, and word vectors. */
#include "text/word_vectors.h"
#include "text/split_words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"

static void words_of_a_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ""},
        {" \t\n", ""},
        {"Don't panic!", "don't|panic|!"},
        {"a.b,c 3.14", "a|.|b|,|c|3|.|14"},
        {"'quoted' rock_n_roll_", "'|quoted|'|rock_n_roll|_"},
        {"caf\xc3\xa9 \xd0\x9c\xd0\xb8\xd1\x80", "caf\xc3\xa9|\xd0\x9c\xd0\xb8\xd1\x80"},
        {"it\xe2\x80\x99s\xc2\xa0\xe2\x80\x9cso\xe2\x80\x9d\xe2\x80\xa6",
         "it\xe2\x80\x99s|\xe2\x80\x9c|so|\xe2\x80\x9d|\xe2\x80\xa6"},
        {"@USER #tag :-)", "@|user|#|tag|:|-|)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[256] = "";
        dis__words w = dis__words_begin(cases[i].text, strlen(cases[i].text), true);
        while (dis__words_next(&w)) {
            if (*got) strcat(got, "|");
            strncat(got, w.word, w.n);
        }
        assert_string_equal(got, cases[i].words);
    }
}

static void long_words_are_cut_between_characters(void **state)
{
    (void)state;
    char text[3 * 200 + 1];
    for (size_t i = 0; i < 200; i++) memcpy(text + 3 * i, "\xe6\xbc\xa2", 3);
    dis__words w = dis__words_begin(text, sizeof text - 1, true);
    size_t bytes = 0, n = 0;
    while (dis__words_next(&w)) {
        assert_int_equal(w.n % 3, 0);
        bytes += w.n;
        n++;
    }
    assert_int_equal(bytes, 600);
    assert_int_equal(n, 5); /* of at most 126 bytes */
}

static dis__vocabulary count_words(const char *text)
{
    dis__vocabulary v = {0};
    dis__words w = dis__words_begin(text, strlen(text), false);
    while (dis__words_next(&w)) assert_int_equal(dis__vocabulary_count(&v, w.word, w.n), DIS_OK);
    return v;
}

static void numbers_go_by_frequency(void **state)
{
    (void)state;
    dis__vocabulary v = count_words("b a c a b a d");
    assert_int_equal(dis__vocabulary_finish(&v, 1, 3), DIS_OK);
    assert_int_equal(dis__vocabulary_size(&v), 4);
    assert_int_equal(dis__vocabulary_find(&v, "a", 1), 1);
    assert_int_equal(dis__vocabulary_find(&v, "b", 1), 2);
    assert_int_equal(dis__vocabulary_find(&v, "c", 1), 3); /* c before d: by bytes */
    assert_int_equal(dis__vocabulary_find(&v, "d", 1), DIS_UNKNOWN);
    dis__vocabulary again;
    assert_int_equal(dis__vocabulary_from_words(v.words, &again), DIS_OK);
    assert_int_equal(dis__vocabulary_find(&again, "b", 1), 2);
    dis__vocabulary_free(&again);
    dis__vocabulary_free(&v);

    v = (dis__vocabulary){0};
    for (int i = 0; i < 5000; i++) { /* the table grows */
        char word[16];
        const int n = snprintf(word, sizeof word, "w%d", i % 2500);
        assert_int_equal(dis__vocabulary_count(&v, word, (size_t)n), DIS_OK);
    }
    assert_int_equal(dis__vocabulary_finish(&v, 2, SIZE_MAX), DIS_OK);
    assert_int_equal(dis__vocabulary_size(&v), 2501);
    dis__vocabulary_free(&v);

    v = (dis__vocabulary){0}; /* no words at all */
    assert_int_equal(dis__vocabulary_finish(&v, 1, 10), DIS_OK);
    assert_int_equal(dis__vocabulary_size(&v), 1);
    dis__vocabulary_free(&v);
}

static char path[64];

static void put(const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void vectors_of_known_words(void **state)
{
    (void)state;
    dis__vocabulary v = count_words("b a c");
    assert_int_equal(dis__vocabulary_finish(&v, 1, 10), DIS_OK);
    static const char *const files[] = {"a 1 2\nz 9 9\nb -.5 3e1\na 7 7\n", "4 2\na 1 2\r\nb -.5 30 \n"};
    for (size_t i = 0; i < 2; i++) {
        put(files[i]);
        dis__word_vectors x;
        assert_int_equal(dis__word_vectors_read(NULL, path, &v, &x), DIS_OK);
        assert_int_equal(x.width, 2);
        assert_int_equal(x.n_known, 2);
        assert_true(x.x[2] == 1 && x.x[3] == 2 && x.x[4] == -.5f && x.x[5] == 30);
        assert_false(x.known[3]);
        dis__word_vectors_free(&x);
    }
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"a 1 2\nb 1\n", ":2:1: expected a word and 2 numbers"},
        {"a 1 x\n", ":1:5: \"x\" is not a number"},
        {"a\n", "no numbers after the first word"},
        {"", "it contains no word vectors"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(bad[i].text);
        dis__word_vectors x = {0};
        assert_int_equal(dis__word_vectors_read(NULL, path, &v, &x), DIS_EDATA);
        assert_non_null(strstr(dis_last_error(), bad[i].message));
        assert_null(x.x);
    }
    dis__vocabulary_free(&v);
}

static dis_status everything(void *arg)
{
    (void)arg;
    dis__vocabulary v = {0};
    dis__word_vectors x = {0};
    dis_status status = dis__vocabulary_count(&v, "a", 1);
    if (status == DIS_OK) status = dis__vocabulary_count(&v, "b", 1);
    if (status == DIS_OK) status = dis__vocabulary_finish(&v, 1, 5);
    if (status == DIS_OK) status = dis__word_vectors_read(NULL, path, &v, &x);
    dis__word_vectors_free(&x);
    dis__vocabulary_free(&v);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    put("a 1 2\nb 3 4\n");
    walk_faults(everything, NULL, NULL);
}

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/dissent-text-XXXXXX");
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_a_text),         cmocka_unit_test(long_words_are_cut_between_characters),
        cmocka_unit_test(numbers_go_by_frequency), cmocka_unit_test(vectors_of_known_words),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
