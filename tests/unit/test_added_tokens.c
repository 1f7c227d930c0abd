/* Added tokens: the leftmost, and of these the longest, whichever way they are looked for; bounds of steps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "tokens/tokenizer_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOKENS = 40, MAX_LENGTH = 200, TEXT = 4000 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Tokens and a text of few letters and many repetitions, so that most tokens nearly match everywhere. */
typedef struct {
    char token[MAX_TOKENS][MAX_LENGTH + 1], text[TEXT + 1];
    const char *list[MAX_TOKENS];
    size_t length[MAX_TOKENS], n;
} sample;

static void fill(char *out, size_t n, uint32_t *state)
{
    for (size_t i = 0; i < n; i++) out[i] = next_random(state) % 100 < 97 ? 'a' : (char)('b' + next_random(state) % 2);
    out[n] = 0;
}

static void draw(sample *s, uint32_t seed)
{
    uint32_t state = seed;
    s->n = 1 + next_random(&state) % MAX_TOKENS;
    for (size_t i = 0; i < s->n; i++) {
        s->length[i] = 1 + next_random(&state) % (seed % 3 ? MAX_LENGTH : 8);
        fill(s->token[i], s->length[i], &state);
        s->list[i] = s->token[i];
    }
    fill(s->text, TEXT, &state);
}

static void both_ways_find_the_same(void **state)
{
    (void)state;
    static sample s;
    static uint32_t longest[TEXT];
    for (uint32_t seed = 1; seed <= 60; seed++) {
        draw(&s, seed);
        dis__trie trie = {0};
        dis__added_search search = {0};
        for (size_t i = 0; i < s.n; i++)
            assert_int_equal(dis__trie_put(&trie, s.token[i], s.length[i], (uint32_t)i), DIS_OK);
        assert_int_equal(dis__added_search_build(&search, s.list, s.length, s.n), DIS_OK);
        dis__added_search_run(&search, s.text, TEXT, longest);
        for (size_t i = 0; i < TEXT; i++) {
            size_t length = 0;
            assert_int_equal(longest[i], dis__trie_longest(&trie, s.text + i, TEXT - i, &length));
        }
        dis__added_search_free(&search);
        dis__trie_free(&trie);
    }
}

/* tokenizer.json with the tokens of a sample; letters that are no token are unknown one by one. */
static dis_tokenizer *tokenizer_of(const sample *s)
{
    static char json[MAX_TOKENS * (MAX_LENGTH + 200) + 400];
    size_t at = (size_t)sprintf(json, "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"vocab\":{\"?\":0}},"
                                      "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{L}\"},"
                                      "\"behavior\":\"Isolated\",\"invert\":false},\"added_tokens\":[");
    for (size_t i = 0; i < s->n; i++)
        at += (size_t)sprintf(json + at, "%s{\"id\":%zu,\"content\":\"%s\",\"special\":true}", i ? "," : "", i + 1,
                              s->token[i]);
    at += (size_t)sprintf(json + at, "]}");
    dis_tokenizer *t = NULL;
    if (dis__tokenizer_from_text(json, at, &t) != DIS_OK) fail_msg("%s", dis_last_error());
    return t;
}

/* The longest token at text[i], by comparing all of them; SIZE_MAX: none. */
static size_t longest_at(const sample *s, size_t i)
{
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < s->n; k++)
        if (strncmp(s->text + i, s->token[k], s->length[k]) == 0 &&
            (best == SIZE_MAX || s->length[k] > s->length[best]))
            best = k;
    return best;
}

static void the_leftmost_longest_matches(void **state)
{
    (void)state;
    static sample s;
    for (uint32_t seed = 100; seed < 130; seed++) {
        draw(&s, seed);
        dis_tokenizer *t = tokenizer_of(&s);
        dis_tokens *tokens;
        const dis_token_text text = {.first = s.text, .n_first = TEXT};
        assert_int_equal(dis_tokenizer_encode(NULL, t, &text, 1, NULL, &tokens), DIS_OK);
        const dis_tokens_view v = dis_tokens_get_view(tokens);
        size_t k = 0;
        for (size_t i = 0; i < TEXT; k++) {
            const size_t best = longest_at(&s, i);
            const int32_t id = best == SIZE_MAX ? 0 : dis_tokenizer_find_id(t, s.token[best], s.length[best]);
            assert_true(k < v.text_start[1]);
            assert_int_equal(v.id[k], id);
            i += best == SIZE_MAX ? 1 : s.length[best];
        }
        assert_int_equal(k, v.text_start[1]);
        dis_tokens_destroy(tokens);
        dis_tokenizer_destroy(t);
    }
}

static void bounds_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *steps, *message;
    } cases[] = {
        {"{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"%0256d\"}",
         "(Replace) expands to more than"},
        {"{\"type\":\"Prepend\",\"prepend\":\"%0257d\"}", "prepend has 257 bytes; at most 256"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char step[512], json[1024], text[1000];
        snprintf(step, sizeof step, cases[i].steps, 0);
        const int n = snprintf(json, sizeof json,
                               "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"vocab\":{\"?\":0}},"
                               "\"normalizer\":%s}",
                               step);
        dis_tokenizer *t = NULL;
        dis_tokens *tokens = NULL;
        dis_status status = dis__tokenizer_from_text(json, (size_t)n, &t);
        memset(text, 'a', sizeof text);
        if (status == DIS_OK)
            status = dis_tokenizer_encode(NULL, t, &(dis_token_text){.first = text, .n_first = sizeof text}, 1, NULL,
                                          &tokens);
        assert_int_equal(status, DIS_ELIMIT);
        if (!strstr(dis_last_error(), cases[i].message)) fail_msg("%s", dis_last_error());
        dis_tokenizer_destroy(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_find_the_same),
        cmocka_unit_test(the_leftmost_longest_matches),
        cmocka_unit_test(bounds_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
