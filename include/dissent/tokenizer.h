/* tokenizer.h: converts texts to token ids of a pretrained encoder, equal to those of Hugging Face.
 *
 *     dis_tokenizer *t;
 *     dis_tokens *tokens;
 *     const dis_token_text text = {.first = "A man eats.", .n_first = 11};
 *     if (dis_tokenizer_read(NULL, "encoder", &t) != DIS_OK) return 1;
 *     if (dis_tokenizer_encode(NULL, t, &text, 1, NULL, &tokens) == DIS_OK) {
 *         const dis_tokens_view v = dis_tokens_get_view(tokens);
 *         for (size_t i = v.text_start[0]; i < v.text_start[1]; i++) printf("%d ", (int)v.id[i]);
 *         dis_tokens_destroy(tokens);
 *     }
 *     dis_tokenizer_destroy(t);
 *
 * A tokenizer is read from the folder of an encoder: tokenizer.json, or vocab.json and merges.txt, or vocab.txt, with
 * tokenizer_config.json and config.json in the same folder. It needs no weights. An unsupported setting is an error
 * that names the field. Threads: one tokenizer may serve any number of threads at once. */
#ifndef DIS_TOKENIZER_H
#define DIS_TOKENIZER_H
#include "dissent/context.h"

typedef struct dis_tokenizer dis_tokenizer;
typedef struct dis_tokens dis_tokens;

/* DIS_EIO, DIS_EDATA (with file, line and column), DIS_ELIMIT. The caller destroys it. */
DIS_API dis_status dis_tokenizer_read(dis_context *ctx, const char *folder, dis_tokenizer **out);
DIS_API void dis_tokenizer_destroy(dis_tokenizer *t);

typedef enum {
    DIS_TOKEN_CLS, /* [CLS], <s> */
    DIS_TOKEN_SEP, /* [SEP], </s> */
    DIS_TOKEN_UNKNOWN,
    DIS_TOKEN_PADDING,
    DIS_TOKEN_MASK,
    DIS_SPECIAL_TOKENS,
} dis_special_token;

typedef struct {
    const char *model;      /* BPE, WordPiece or Unigram */
    int32_t n_ids;          /* the largest id + 1, added tokens included */
    size_t max_length;      /* min(model_max_length, positions of the encoder); 0: no limit is named */
    const int32_t *special; /* (DIS_SPECIAL_TOKENS) ids, -1: none; by the names of tokenizer_config.json or usage */
} dis_tokenizer_view;

DIS_VIEW_API(dis_tokenizer);
/* The id of a token by its text as the vocabulary writes it, -1: unknown. */
DIS_API int32_t dis_tokenizer_find_id(const dis_tokenizer *t, const char *token, size_t n);

typedef struct {
    size_t size;            /* of this struct */
    size_t max_length;      /* tokens per text or pair, special ones included; 0: that of the tokenizer */
    bool no_special_tokens; /* no special tokens around */
    bool offsets;           /* from and to are wanted; takes longer */
} dis_tokenizer_options;

DIS_OPTIONS_API(dis_tokenizer_options);

/* One text, or two that belong together. `second` NULL: there is no second one. UTF-8, NULs are characters. */
typedef struct {
    const char *first;
    size_t n_first;
    const char *second;
    size_t n_second;
} dis_token_text;

/* Encodes n texts on the context's threads. What is too long loses tokens at its end, of a pair the longer text first.
 * DIS_EDATA: a text that is not UTF-8 (the message has its number from 1, and the byte). Also a character that the
 * model cannot encode if it has no unknown token. DIS_EUSAGE: max_length leaves no room for special tokens. DIS_ELIMIT.
 * The caller destroys *out. */
DIS_API dis_status dis_tokenizer_encode(dis_context *ctx, const dis_tokenizer *t, const dis_token_text *texts, size_t n,
                                        const dis_tokenizer_options *options, dis_tokens **out);

/* The same for sentences that are split into words: sentence i has the words start[i] .. start[i + 1], word j is
 * length[j] bytes at word[j]. Each word is encoded by itself; where ByteLevel is the only pre-tokenizer, with a
 * space before it, as after add_prefix_space. Places are bytes of the word. */
DIS_API dis_status dis_tokenizer_encode_words(dis_context *ctx, const dis_tokenizer *t, const char *const *word,
                                              const size_t *length, const size_t *start, size_t n,
                                              const dis_tokenizer_options *options, dis_tokens **out);

/* Concatenated tokens of all texts. Arrays live as long as the tokens. */
typedef struct {
    size_t n_texts;
    const size_t *text_start; /* (n_texts + 1): text i has the tokens start[i] .. start[i + 1] */
    const int32_t *id;        /* (start[n_texts]) */
    const uint8_t *type;      /* the same: 0, or 1 for the second text where the encoder tells them apart */
    const uint32_t *start_byte,
        *end_byte; /* the same: bytes of the text that a token stands for, 0 and 0 for special ones; NULL unless
                                  asked for */
    const size_t *first_token; /* words: (start[n]) the first token of each word, SIZE_MAX where it has none or was cut
                                  off; NULL for texts */
} dis_tokens_view;

DIS_VIEW_API(dis_tokens);
DIS_API void dis_tokens_destroy(dis_tokens *tokens);

#endif
