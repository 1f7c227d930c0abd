/* Texts through tokenizers of every family; the first byte says which. Any bytes are encoded or, where they are no
 * UTF-8, refused. Ids do not depend on whether positions are wanted, and positions are within the text. */
#include "fuzz.h"
#include "tokens/tokenizer_internal.h"
#include "core/text/utf8.h"
#include <string.h>

#define HEAD "{\"version\":\"1.0\","
#define ADDED                                                                                    \
    "\"added_tokens\":[{\"content\":\"[M]\",\"lstrip\":true,\"special\":true},{\"content\":\"  " \
    "\",\"normalized\":true},{\"content\":\"x\",\"single_word\":true,\"rstrip\":true}],"
#define BYTES                                                                                                        \
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}," \
    "\"post_processor\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true},"
#define META                                                                                                \
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":" \
    "\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"first\"}]},"
#define WORDPIECE                                                                                                    \
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"vocab\":{\"u\":0,\"a\":1,\"##b\":2,\"##a\":3,\"ab\":4," \
    "\"e\":5,\"1\":6,\".\":7}}}"
#define UNIGRAM                                                                                                        \
    "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[[\"<u>\",0],[\"a\",-1.5],[\"ab\"," \
    "-2],[\"b\",-0.7],[\"\xe2\x96\x81\",-1],[\"\xe2\x96\x81"                                                           \
    "a\",-1.2],[\"<0x41>\",-9]]}}"
#define BPE                                                                                                          \
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"u\",\"fuse_unk\":true,\"vocab\":{\"u\":0,\"a\":1,\"b\":2,\"ab\":3," \
    "\"\xc4\xa0\":4,\"\xc4\xa0"                                                                                      \
    "a\":5,\"aba\":6},\"merges\":[\"a b\",\"\xc4\xa0 a\",\"ab a\"]}}"

static const char *const specs[] = {
    HEAD ADDED
    "\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}," WORDPIECE,
    HEAD ADDED "\"normalizer\":{\"type\":\"NFC\"}," BYTES BPE,
    HEAD ADDED "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Nmt\"},{\"type\":\"NFKC\"},{"
               "\"type\":\"Strip\"},{"
               "\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"}]}," META UNIGRAM,
    HEAD
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKD\"},{\"type\":\"StripAccents\"},{\"type\":"
    "\"Lowercase\"},{\"type\":\"Prepend\",\"prepend\":\"_\"}]},\"pre_tokenizer\":{\"type\":\"Sequence\","
    "\"pretokenizers\":[{"
    "\"type\":\"Whitespace\"},{\"type\":\"Punctuation\",\"behavior\":\"MergedWithNext\"},{\"type\":\"Digits\","
    "\"individual_"
    "digits\":false}]}," BPE,
};
enum { N_SPECS = sizeof specs / sizeof *specs };

static dis_tokens *encode(const dis_tokenizer *t, const dis_token_text *text, bool places, dis_status *status)
{
    dis_tokens *tokens = NULL;
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.offsets = places;
    *status = dis_tokenizer_encode(NULL, t, text, 1, &o, &tokens);
    return tokens;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dis_tokenizer *tokenizers[N_SPECS];
    if (size == 0) return 0;
    dis_tokenizer **t = &tokenizers[data[0] % N_SPECS];
    if (!*t) MUST(dis__tokenizer_from_text(specs[data[0] % N_SPECS], strlen(specs[data[0] % N_SPECS]), t) == DIS_OK);
    const dis_token_text text = {.first = (const char *)data + 1, .n_first = size - 1};
    dis_status plain, traced;
    dis_tokens *a = encode(*t, &text, false, &plain), *b = encode(*t, &text, true, &traced);
    MUST(plain == traced && plain == (dis__utf8_check(text.first, text.n_first) == text.n_first ? DIS_OK : DIS_EDATA));
    if (plain == DIS_OK) {
        const dis_tokens_view v = dis_tokens_get_view(a), w = dis_tokens_get_view(b);
        MUST(v.text_start[1] == w.text_start[1]);
        for (size_t i = 0; i < v.text_start[1]; i++)
            MUST(v.id[i] == w.id[i] && w.start_byte[i] <= w.end_byte[i] && w.end_byte[i] <= text.n_first);
    }
    dis_tokens_destroy(a);
    dis_tokens_destroy(b);
    return 0;
}
