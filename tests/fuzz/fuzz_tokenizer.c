/* tokenizer.json: any bytes are taken or refused with a message and a position; a tokenizer that is taken encodes
 * texts. */
#include "fuzz.h"
#include "tokens/tokenizer_internal.h"
#include <string.h>

static void encode(const dis_tokenizer *t)
{
    static const char one[] = "A m\xc3\xa1n [MASK] eats  12.5% <s>\t\xe4\xb8\xad\xe6\x96\x87";
    static const char two[] = "it's \xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 a\xcc\x81\xcc\xa3\r\n \xe2\x96\x81x";
    static const dis_token_text texts[] = {{one, sizeof one - 1, NULL, 0}, {"", 0, two, sizeof two - 1}};
    dis_tokenizer_options o = dis_tokenizer_options_default();
    for (int traced = 0; traced < 2; traced++) {
        dis_tokens *tokens;
        o.offsets = traced;
        const dis_status status = dis_tokenizer_encode(NULL, t, texts, 2, &o, &tokens);
        if (status != DIS_OK) {
            MUST(status == DIS_EDATA || status == DIS_ELIMIT);
            return;
        }
        const dis_tokens_view v = dis_tokens_get_view(tokens);
        MUST(v.n_texts == 2 && v.text_start[0] == 0 && v.text_start[1] <= v.text_start[2]);
        for (size_t i = 0; i < v.text_start[2]; i++) MUST(v.id[i] >= 0 && v.id[i] < DIS_TOKEN_MAX_IDS);
        dis_tokens_destroy(tokens);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis_tokenizer *t = NULL;
    const dis_status status = dis__tokenizer_from_text((const char *)data, size, &t);
    if (status == DIS_OK) {
        encode(t);
        dis_tokenizer_destroy(t);
    } else {
        MUST(!t);
        MUST(status == DIS_EDATA || status == DIS_ELIMIT);
        MUST(status != DIS_EDATA || strncmp(dis_last_error(), "tokenizer.json", 14) == 0);
    }
    return 0;
}
