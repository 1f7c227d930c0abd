/* Tokenizers: what Hugging Face tokenizers makes of odd texts with every option (fixtures of
 * tests/parity/make_tokenizer_fixtures.py), pairs, cuts, words, positions; bad texts and bad files; long words in
 * linear time; every fault. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "io/json/json_read.h"
#include "tokens/tokenizer_internal.h"
#include "tokens/unicode/unicode.h"
#include "support/scratch.h"
#include "support/fault_walk.h"
#include <dirent.h>
#include <time.h>

#define FIXTURES DIS_SOURCE_DIR "/tests/parity/fixtures/tokenizers"

static const dis_token_text *one_text(const char *text)
{
    static dis_token_text t;
    t = (dis_token_text){.first = text, .n_first = strlen(text)};
    return &t;
}

static dis_tokenizer *open_fixture(const char *name)
{
    char path[512];
    dis_tokenizer *t = NULL;
    snprintf(path, sizeof path, "%s/%s", FIXTURES, name);
    if (dis_tokenizer_read(NULL, path, &t) != DIS_OK) fail_msg("%s: %s", name, dis_last_error());
    return t;
}

/* ---- fixtures ---- */

static void compare_numbers(const char *name, const dis__json_value *text, const dis__json_value *list, size_t i,
                            long got)
{
    if ((long)list[1 + i].number != got)
        fail_msg("%s: \"%.*s\": number %zu is %ld, not %ld", name, (int)text->length, text->text, i, got,
                 (long)list[1 + i].number);
}

static void check_line(const char *name, const dis_tokenizer *t, const dis__json_value *root)
{
    const dis__json_value *text = dis__json_member(root, "text"), *pair = dis__json_member(root, "pair");
    const dis__json_value *ids = dis__json_member(root, "ids"), *types = dis__json_member(root, "types");
    const dis__json_value *places = dis__json_member(root, "places");
    const dis_token_text in = {text->text, text->length, pair->kind == DIS_JSON_STRING ? pair->text : NULL,
                               pair->length};
    dis_tokenizer_options o = dis_tokenizer_options_default();
    for (int traced = 0; traced < 2; traced++) {
        dis_tokens *tokens;
        o.offsets = traced;
        assert_int_equal(dis_tokenizer_encode(NULL, t, &in, 1, &o, &tokens), DIS_OK);
        const dis_tokens_view v = dis_tokens_get_view(tokens);
        assert_int_equal(v.n_texts, 1);
        if (v.text_start[1] != ids->n)
            fail_msg("%s: \"%.*s\": %zu tokens, not %u", name, (int)text->length, text->text, v.text_start[1], ids->n);
        for (size_t i = 0; i < ids->n; i++) {
            compare_numbers(name, text, ids, i, v.id[i]);
            compare_numbers(name, text, types, i, v.type[i]);
            if (traced && places->kind == DIS_JSON_ARRAY) {
                const dis__json_value *place = places + 1 + 3 * i;
                compare_numbers(name, text, place, 0, v.start_byte[i]);
                compare_numbers(name, text, place, 1, v.end_byte[i]);
            }
        }
        dis_tokens_destroy(tokens);
    }
}

static size_t check_fixture(const char *name)
{
    char path[512];
    size_t n, lines = 0;
    snprintf(path, sizeof path, "%s/%s/expected.jsonl", FIXTURES, name);
    char *text = contents(path, &n);
    dis_tokenizer *t = open_fixture(name);
    dis__json json = {0};
    for (char *at = text, *end; at < text + n && (end = strchr(at, '\n')); at = end + 1, lines++) {
        const dis__json_position place = {.file = path, .line = lines + 1, .column = 1};
        const dis__json_value *root;
        assert_int_equal(dis__json_parse(&json, at, (size_t)(end - at), &place, &root), DIS_OK);
        check_line(name, t, root);
    }
    dis__json_free(&json);
    dis_tokenizer_destroy(t);
    free(text);
    return lines;
}

static void fixtures(void **state)
{
    (void)state;
    size_t folders = 0;
    DIR *d = opendir(FIXTURES);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        assert_true(check_fixture(e->d_name) > 50);
        folders++;
    }
    closedir(d);
    assert_true(folders >= 16);
}

/* ---- pairs, cuts, words ---- */

static void cut_to(const dis_tokenizer *t, const dis_token_text *in, size_t max, dis_tokens **out)
{
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.max_length = max;
    assert_int_equal(dis_tokenizer_encode(NULL, t, in, 1, &o, out), DIS_OK);
}

static void longest_first(void **state)
{
    (void)state;
    dis_tokenizer *t = open_fixture("wordpiece_cased");
    const dis_token_text pair = {"a a a a a a a", 13, "the the", 7};
    static const size_t expected[][3] = {{12, 7, 2}, {10, 5, 2}, {8, 3, 2}, {7, 2, 2},
                                         {6, 2, 1},  {5, 1, 1},  {4, 1, 0}, {3, 0, 0}};
    const int32_t a = dis_tokenizer_find_id(t, "a", 1), the = dis_tokenizer_find_id(t, "the", 3);
    assert_true(a >= 0 && the >= 0);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        dis_tokens *tokens;
        size_t n[2] = {0};
        cut_to(t, &pair, expected[k][0], &tokens);
        const dis_tokens_view v = dis_tokens_get_view(tokens);
        for (size_t i = 0; i < v.text_start[1]; i++) {
            n[0] += v.id[i] == a;
            n[1] += v.id[i] == the;
        }
        assert_int_equal(v.text_start[1], expected[k][1] + expected[k][2] + 3);
        assert_int_equal(n[0], expected[k][1]);
        assert_int_equal(n[1], expected[k][2]);
        dis_tokens_destroy(tokens);
    }
    dis_tokens *none = NULL;
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.max_length = 2;
    assert_int_equal(dis_tokenizer_encode(NULL, t, &pair, 1, &o, &none), DIS_EUSAGE);
    assert_null(none);
    dis_tokenizer_destroy(t);
}

static void words_find_their_first_token(void **state)
{
    (void)state;
    dis_tokenizer *t = open_fixture("wordpiece_uncased");
    const char *word[] = {"Hello", "\xc2\xad", "world", "people", "the"};
    const size_t length[] = {5, 2, 5, 6, 3}, start[] = {0, 3, 3, 5};
    dis_tokens *tokens;
    assert_int_equal(dis_tokenizer_encode_words(NULL, t, word, length, start, 3, NULL, &tokens), DIS_OK);
    dis_tokens_view v = dis_tokens_get_view(tokens);
    assert_int_equal(v.text_start[2] - v.text_start[1], 2); /* a sentence without words: the special tokens alone */
    assert_int_equal(v.first_token[0], 1);
    assert_true(v.first_token[1] == SIZE_MAX); /* a soft hyphen is cleaned away */
    assert_int_equal(v.first_token[3], v.text_start[2] + 1);
    assert_int_equal(v.id[v.first_token[4]], dis_tokenizer_find_id(t, "the", 3));
    for (size_t i = 0; i < 5; i++) /* each word's first token is that of the word alone */
        if (v.first_token[i] != SIZE_MAX) {
            dis_tokens *alone;
            assert_int_equal(dis_tokenizer_encode(NULL, t, one_text(word[i]), 1, NULL, &alone), DIS_OK);
            assert_int_equal(dis_tokens_get_view(alone).id[1], v.id[v.first_token[i]]);
            dis_tokens_destroy(alone);
        }
    dis_tokens_destroy(tokens);
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.max_length = 3;
    assert_int_equal(dis_tokenizer_encode_words(NULL, t, word, length, start, 3, &o, &tokens), DIS_OK);
    v = dis_tokens_get_view(tokens);
    assert_int_equal(v.first_token[0], 1);
    assert_true(v.first_token[2] == SIZE_MAX && v.first_token[4] == SIZE_MAX); /* cut off */
    dis_tokens_destroy(tokens);
    dis_tokenizer_destroy(t);
}

/* ---- bad texts, long texts ---- */

static void bad_utf8_is_refused(void **state)
{
    (void)state;
    dis_tokenizer *t = open_fixture("wordpiece_cased");
    const dis_token_text texts[] = {{"fine", 4, NULL, 0}, {"fine", 4, "not \xc3(", 6}};
    dis_tokens *tokens = NULL;
    assert_int_equal(dis_tokenizer_encode(NULL, t, texts, 2, NULL, &tokens), DIS_EDATA);
    assert_null(tokens);
    assert_non_null(strstr(dis_last_error(), "pair 2 is not UTF-8: byte 5"));
    dis_tokenizer_destroy(t);
}

static void long_words_cost_linear_time(void **state)
{
    (void)state;
    static const char *const names[] = {"byte_level",          "byte_level_later",  "bpe_chars",
                                        "bpe_fallback",        "wordpiece_uncased", "unigram_never",
                                        "unigram_precompiled", "split_contiguous"};
    static const char *const unit[] = {"a", " ", "ab", "\xcc\x81\xcc\xa3", "eat", "\xe4\xb8\xad", "1", "'"};
    enum { N = 1 << 20 };
    char *text = malloc(N + 8);
    assert_non_null(text);
    const clock_t begin = clock();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dis_tokenizer *t = open_fixture(names[i]);
        for (size_t u = 0; u < sizeof unit / sizeof *unit; u++) {
            const size_t n = strlen(unit[u]);
            for (size_t k = 0; k + n <= N; k += n) memcpy(text + k, unit[u], n);
            dis_tokens *tokens;
            assert_int_equal(dis_tokenizer_encode(NULL, t, &(dis_token_text){text, N / n * n, NULL, 0}, 1, NULL,
                                                  &tokens),
                             DIS_OK);
            dis_tokens_destroy(tokens);
        }
        dis_tokenizer_destroy(t);
    }
    free(text);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 120); /* quadratic would be hours */
}

/* ---- faults ---- */

static dis_status open_and_encode(void *arg)
{
    dis_tokenizer *t = NULL;
    dis_tokens *tokens = NULL;
    dis_status status = dis_tokenizer_read(NULL, arg, &t);
    if (status != DIS_OK) {
        assert_null(t);
        return status;
    }
    dis_tokenizer_options o = dis_tokenizer_options_default();
    const dis_token_text texts[] = {{"A m\xc3\xa1n [MASK] eats 123.", 23, "two", 3}};
    for (int traced = 0; traced < 2 && status == DIS_OK; traced++) {
        o.offsets = traced;
        status = dis_tokenizer_encode(NULL, t, texts, 1, &o, &tokens);
        if (status == DIS_OK) dis_tokens_destroy(tokens);
    }
    dis_tokenizer_destroy(t);
    return status;
}

static void every_fault(void **state)
{
    (void)state;
    static const char vocabulary[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nman\neat\n##s\n1\n##2\n";
    static const char unigram[] =
        "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":0,\"content\":\"<unk>\",\"special\":true}],\"normalizer\":{"
        "\"type\":"
        "\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" "
        "{2,}\"},\"content\":\" "
        "\"}]},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\",\"split\":"
        "true},"
        "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"_\",-1],[\"a\",-2],[\"_m\",-1.5]]}}";
    char path[512];
    remove_in_folder("old");
    snprintf(path, sizeof path, "mkdir '%s/old' '%s/new'", folder, folder);
    assert_int_equal(system(path), 0);
    put_text("old/vocab.txt", vocabulary);
    put_text("old/config.json", "{\"max_position_embeddings\": 40}");
    put_text("new/tokenizer.json", unigram);
    snprintf(path, sizeof path, "%s/old", folder);
    walk_faults(open_and_encode, NULL, path);
    snprintf(path, sizeof path, "%s/new", folder);
    walk_faults(open_and_encode, NULL, path);
}

/* ---- characters ---- */

static void characters(void **state)
{
    (void)state;
    uint32_t part[DIS_CHAR_PARTS];
    assert_int_equal(dis__char_lower(0x130), 'i');
    assert_int_equal(dis__char_lower(0x3a3), 0x3c3);
    assert_int_equal(dis__char_decompose(0xac01, false, part), 3);
    assert_int_equal(dis__char_decompose(0x1e9b, true, part), 2);
    assert_int_equal(dis__char_compose(0x1100, 0x1161), 0xac00);
    assert_int_equal(dis__char_compose('e', 0x301), 0xe9);
    assert_int_equal(dis__char_compose('q', 0x301), 0);
    for (uint32_t c = 0; c < 0x110000; c++) { /* nothing decomposes into more than there is room for */
        if (c >= 0xd800 && c < 0xe000) continue;
        const size_t n = dis__char_decompose(c, true, part);
        assert_true(n >= 1 && n <= DIS_CHAR_PARTS);
        char bytes[4];
        size_t step;
        const size_t written = dis__char_put(bytes, c);
        assert_int_equal(written, dis__utf8_step(bytes[0]));
        assert_int_equal(dis__char_at(bytes, &step), c);
    }
    static const struct {
        const char *text;
        size_t n;
    } clusters[] = {{"a", 1},
                    {"\r\n", 2},
                    {"a\xcc\x81x", 3},
                    {"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xf0\x9f\x87\xa9", 8},
                    {"\r\xcc\x81", 1},
                    {"\xd8\x80"
                     "a",
                     3}};
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++)
        assert_int_equal(dis__grapheme_bytes(clusters[i].text, strlen(clusters[i].text)), clusters[i].n);
}

static void tries(void **state)
{
    (void)state;
    dis__trie trie = {0};
    char key[16];
    assert_true(dis__trie_get(&trie, "a", 1) == DIS_TRIE_NONE);
    for (uint32_t i = 0; i < 20000; i++) {
        const int n = snprintf(key, sizeof key, "%u", i * 7919 % 20011);
        assert_int_equal(dis__trie_put(&trie, key, (size_t)n, i), DIS_OK);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        const int n = snprintf(key, sizeof key, "%u", i * 7919 % 20011);
        assert_int_equal(dis__trie_get(&trie, key, (size_t)n), i);
    }
    size_t length = 0;
    assert_true(dis__trie_longest(&trie, "123x", 4, &length) != DIS_TRIE_NONE);
    assert_int_equal(length, 3);
    dis__trie_free(&trie);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures),
        cmocka_unit_test(longest_first),
        cmocka_unit_test(words_find_their_first_token),
        cmocka_unit_test(bad_utf8_is_refused),
        cmocka_unit_test(long_words_cost_linear_time),
        cmocka_unit_test(every_fault),
        cmocka_unit_test(characters),
        cmocka_unit_test(tries),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
