/* embed.h: computes vectors of texts with a pretrained encoder, as features for other models.
 *
 *     dis_encoder *encoder;
 *     float x[2 * 384];
 *     const dis_token_text texts[] = {{.first = "A man eats.", .n_first = 11}, {.first = "Nobody eats.", .n_first =
 *         12}};
 *     if (dis_encoder_read(ctx, "minilm", &encoder) != DIS_OK) return 1;
 *     if (dis_encoder_embed(ctx, encoder, texts, 2, NULL, x) == DIS_OK) printf("%g\n", x[0]);
 *     dis_encoder_destroy(encoder);
 *
 * An encoder is a folder as Hugging Face lays it out: config.json, a tokenizer (tokenizer.h), and model.safetensors or
 * the files of its index, F32, F16 or BF16. Families: bert, roberta, xlm-roberta, distilbert, electra, mpnet. Texts are
 * computed without padding. Threads: an encoder serves one call at a time; the number of threads never changes a
 * result. */
#ifndef DIS_EMBED_H
#define DIS_EMBED_H
#include "dissent/context.h"
#include "dissent/items.h"
#include "dissent/tokenizer.h"

typedef struct dis_encoder dis_encoder;

/* DIS_EDATA with the position: an unsupported value in config.json, weights of another kind or shape; DIS_EIO,
 * DIS_ELIMIT. The caller destroys it. */
DIS_API dis_status dis_encoder_read(dis_context *ctx, const char *folder, dis_encoder **out);
DIS_API void dis_encoder_destroy(dis_encoder *encoder);

typedef struct {
    const char *family; /* model_type of config.json */
    size_t width;       /* values per text */
    size_t n_layers, n_heads, n_parameters;
    size_t max_length; /* tokens per text, special ones included */
} dis_encoder_view;
DIS_VIEW_API(dis_encoder);

typedef enum {
    DIS_EMBED_MEAN,  /* the mean of all tokens of the last layer, special ones included */
    DIS_EMBED_FIRST, /* the first token: [CLS] or <s> */
} dis_embed_pooling;

typedef struct {
    size_t size; /* of this struct */
    dis_embed_pooling pooling;
    bool normalise;    /* to length 1 */
    size_t max_length; /* tokens per text, special ones included; 0: what the folder allows */
} dis_embed_options;
DIS_OPTIONS_API(dis_embed_options); /* mean, as they are */

/* Writes n vectors to `out`: (n, width). `ctx` has at most the threads of the context that the encoder was opened with.
 * DIS_EUSAGE: max_length above what the encoder has positions for; otherwise as dis_tokenizer_encode. */
DIS_API dis_status dis_encoder_embed(dis_context *ctx, dis_encoder *encoder, const dis_token_text *texts, size_t n,
                                     const dis_embed_options *options, float *out);
/* The same for items of one text or two. DIS_EUSAGE: items of another kind, or of more texts. */
DIS_API dis_status dis_encoder_embed_items(dis_context *ctx, dis_encoder *encoder, const dis_items *items,
                                           const dis_embed_options *options, float *out);

/* Writes vectors of items as NAME.npy and NAME.tasks.txt; dis_items_read reads them for models on rows of numbers.
 * DIS_EUSAGE: standard output. DIS_EDATA: an id with a line break. DIS_EIO. */
DIS_API dis_status dis_embedding_write(const dis_names *tasks, const float *x, size_t width, const char *path);

#endif
