/* encoder.h: pretrained encoders from the inside: what a folder describes, its numbers, its layers.
 *
 *     dis__encoder_config config;
 *     DIS_TRY(dis__encoder_config_read(ctx, "minilm", &config));
 *     dis__encoder_net built;                                     // axes, inputs and the last hidden states
 *     dis__encoder_build(net, &config, &options, &built);
 *     DIS_TRY(dis__net_plan(net, ctx, &plan));
 *     DIS_TRY(dis__encoder_read_weights(ctx, "minilm", &config, net));    // the folder may go then
 *     dis__encoder_batch batch = {...};
 *     DIS_TRY(dis__encoder_set_batch(net, &built, &config, &batch));
 *
 * A family is a row of a table (encoder_families.c): how config.json calls its sizes, how its arrays are called, where
 * positions begin, what stands before its classifier. Tokens of a batch lie one after the other; there is no
 * padding. */
#ifndef DIS_ENCODER_ENCODER_H
#define DIS_ENCODER_ENCODER_H
#include "dissent/tokenizer.h"
#include "io/json/json_read.h"
#include "nn/net.h"

enum { DIS_ENCODER_LAYERS = 256, DIS_ENCODER_PATH = 4096 };

/* Arrays NAME.weight and NAME.bias that fill part `part` of `parts` equal ones of a layer's parameters. */
typedef struct {
    const char *array, *layer;
    size_t part, parts;
    bool bare; /* without bias */
} dis__encoder_array;

/* The input of a classifier: act(W h + b) of the first token, or that token itself without such a layer. */
typedef struct {
    const char *array; /* of W and b; NULL: there is none */
    const char *out;   /* of the classifier itself */
    dis__activation act;
    bool pretrained; /* part of the encoder: the pooler */
    bool dropped;    /* dropout before that layer too */
} dis__encoder_pooler;

typedef struct dis__encoder_family {
    const char *model_type, *prefix, *summary;
    const char *class;                               /* prefix of class names in transformers */
    const struct dis__encoder_config_field *fields;  /* ended by a row without key */
    const dis__encoder_array *embeddings, *in_layer; /* ended by rows without array */
    const char *layer;                               /* "encoder.layer." */
    dis__encoder_pooler top;
    dis__encoder_pooler choice; /* names of the same layers in transformers' multiple-choice models */
    bool shifted;               /* positions begin after the padding's id */
    bool types;                 /* the two texts of a pair are distinguished */
    bool relative;
} dis__encoder_family;

const dis__encoder_family *dis__encoder_family_at(size_t i); /* NULL past the end */

typedef struct {
    const dis__encoder_family *family;
    size_t n_words, n_positions, n_types; /* rows of tables; n_types 0: there is none */
    size_t width, n_layers, n_heads, feed;
    size_t embedding; /* width of the tables: if it differs from the encoder's, a layer converts; 0: equal */
    size_t padding;   /* id */
    size_t n_buckets; /* of relative positions */
    double epsilon, dropout, attention_dropout, top_dropout;
    dis__activation act;
} dis__encoder_config;

/* A field of config.json that changes what is computed. */
typedef enum {
    DIS_CONFIG_SIZE,
    DIS_CONFIG_COUNT,
    DIS_CONFIG_REAL,
    DIS_CONFIG_ACTIVATION,
    DIS_CONFIG_FIXED
} dis__encoder_config_kind;
typedef struct dis__encoder_config_field {
    const char *key;
    dis__encoder_config_kind kind; /* SIZE: from 1 on; COUNT: from 0 on; ONLY: must be `only`, or absent, or null */
    size_t offset;
    double fallback;    /* where it is absent; NAN: it must be there */
    const char *only;   /* as JSON writes it: "absolute", false */
    const char *backup; /* the field that counts where this one is absent or null */
} dis__encoder_config_field;

/* DIS_EDATA with the position: an unsupported architecture or setting. */
dis_status dis__encoder_config_read(dis_context *ctx, const char *folder, dis__encoder_config *out);
/* The same of a text. */
dis_status dis__encoder_config_parse(const char *file, const char *text, size_t n, dis__encoder_config *out);
/* Positions that tokens may have, and so the maximum length. */
size_t dis__encoder_max_length(const dis__encoder_config *config);

/* Matrices of a layer with a low-rank update (LoRA, Hu et al. 2022): W + alpha / rank B A. */
enum {
    DIS_LORA_QUERY = 1,
    DIS_LORA_KEY = 2,
    DIS_LORA_VALUE = 4,
    DIS_LORA_OUTPUT = 8, /* of attention */
    DIS_LORA_UP = 16,
    DIS_LORA_DOWN = 32
};
typedef struct {
    size_t rank;
    double alpha, dropout; /* dropout: of what goes into A */
    unsigned targets;
    size_t first; /* layers below this have none */
} dis__encoder_lora;

typedef struct {
    size_t rows, tokens;           /* of a batch, maximum */
    bool dropout;                  /* as in training */
    bool predicts;                 /* the network only predicts */
    bool first;                    /* only the first token of each row is read */
    const dis__encoder_lora *lora; /* NULL: none */
} dis__encoder_limits;

typedef struct {
    int rows, tokens; /* axes */
    int ids, positions, types, start, length;
    int hidden; /* (tokens, width) of the last layer; of the first token of each row alone: (rows, width) */
    bool first;
    int32_t *room; /* to lay out a batch */
} dis__encoder_net;

/* Parameters are called "encoder.words.weight", "encoder.layer.0.qkv.weight" and so on, those of LoRA
 * "lora.layer.0.qkv.a" and "lora.layer.0.qkv.b". The caller frees `room`. */
dis_status dis__encoder_build(dis__net *net, const dis__encoder_config *config, const dis__encoder_limits *limits,
                              dis__encoder_net *out);

/* Which columns of a layer's linear layer ("qkv", "proj", "up", "down") LoRA is for; false: none of them. */
bool dis__encoder_lora_select(const dis__encoder_lora *lora, size_t layer, const char *name, size_t width,
                              dis__low_rank_options *out);

/* What a classifier of texts stands on: (rows, width). Its layer is called "top"; the pooler of a folder fills it, and
 * so does the layer of a classifier that was saved. */
int dis__encoder_pooler_build(dis__net *net, const dis__encoder_config *config, const dis__encoder_net *built,
                              bool dropout);

/* The same as dis__encoder_set_batch, of tokens that stay as they are while the network trains: they are on the device
 * where there is room, and a batch is gathered there. */
dis_status dis__encoder_gather_batch(dis__net *net, const dis__encoder_net *built, const dis__encoder_config *config,
                                     const dis_tokens_view *tokens, const uint32_t *row, size_t n_rows);
/* Row r of a batch is the text row[r] of `tokens`. */
dis_status dis__encoder_set_batch(dis__net *net, const dis__encoder_net *built, const dis__encoder_config *config,
                                  const dis_tokens_view *tokens, const uint32_t *row, size_t n_rows);

/* Numbers of all parameters that begin with "encoder.", and of "top" where they are there, from model.safetensors, or
 * from the files of its index. DIS_EDATA: files of another kind, an array that is missing or of another shape, or that
 * has no position. */
dis_status dis__encoder_read_weights(dis_context *ctx, const char *folder, const dis__encoder_config *config,
                                     dis__net *net);
/* Whether there are weight files in a supported format; only their headers are read. */
dis_status dis__encoder_weights_check(dis_context *ctx, const char *folder);
/* The same for a network that never trains: it may use the numbers where the files have them, which stay open until
 * dis__encoder_weight_files_close, to be called after the network is destroyed. A failure leaves nothing open, and the
 * network is not to be used. */
typedef struct dis__encoder_weight_files dis__encoder_weight_files;
dis_status dis__encoder_map_weights(dis_context *ctx, const char *folder, const dis__encoder_config *config,
                                    dis__net *net, dis__encoder_weight_files **out);
/* After a pass: `so_far`, or DIS_EIO if a file has changed since it was opened. */
dis_status dis__encoder_weight_files_check(const dis__encoder_weight_files *files, dis_status so_far);
void dis__encoder_weight_files_close(dis__encoder_weight_files *files);
/* SHA-256 over the weight files. */
dis_status dis__encoder_hash_weights(dis_context *ctx, const char *folder, char hex[65]);

#endif
