/* Tokenizers: any number of threads gives the same tokens. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include <stdio.h>
#include <string.h>

static void threads_change_nothing(void **state)
{
    (void)state;
    enum { N = 3000 };
    static dis_token_text texts[N];
    static char bytes[N][24];
    dis_tokenizer *t;
    const char *folder = DIS_SOURCE_DIR "/tests/parity/fixtures/tokenizers/byte_level";
    assert_int_equal(dis_tokenizer_read(NULL, folder, &t), DIS_OK);
    for (size_t i = 0; i < N; i++) {
        snprintf(bytes[i], sizeof bytes[i], "man %zu eats %zu", i * i % 97, i % 13);
        texts[i] = (dis_token_text){.first = bytes[i], .n_first = strlen(bytes[i])};
    }
    dis_tokens *one, *many;
    dis_context_options o = dis_context_options_default();
    o.threads = 4;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis_tokenizer_encode(NULL, t, texts, N, NULL, &one), DIS_OK);
    assert_int_equal(dis_tokenizer_encode(ctx, t, texts, N, NULL, &many), DIS_OK);
    const dis_tokens_view a = dis_tokens_get_view(one), b = dis_tokens_get_view(many);
    assert_memory_equal(a.text_start, b.text_start, (N + 1) * sizeof *a.text_start);
    assert_memory_equal(a.id, b.id, a.text_start[N] * sizeof *a.id);
    assert_memory_equal(a.type, b.type, a.text_start[N]);
    dis_tokens_destroy(one);
    dis_tokens_destroy(many);
    dis_context_destroy(ctx);
    dis_tokenizer_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
