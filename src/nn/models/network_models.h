/* network_models.h: the networks of the papers, as builders over net.h. Each adds its axes, inputs and layers to a
 * network, up to the value that heads start from, and says where they are; a second call adds what stands below one
 * head.
 *
 *     dis__tagger_options o = dis__tagger_options_default();
 *     o.n_words = ..., o.n_characters = ...;
 *     const dis__tagger t = dis__tagger_build(net, &o);
 *     dis__head_soft(net, "gold", dis__tagger_head(net, &o, &t, "gold", n_classes), NULL);
 *
 * A failure is the network's, told by dis__net_plan(). */
#ifndef DIS_NN_MODELS_NETWORK_MODELS_H
#define DIS_NN_MODELS_NETWORK_MODELS_H
#include "nn/net.h"

/* ---- attention encoder: blocks with attention to a single position ---- */

typedef struct {
    size_t size;
    size_t layers, heads, feed;
    double dropout;
    bool position;    /* the input is scaled by sqrt(channels), and the term of position 0 is added */
    bool final_norm;  /* the output is normalised */
    bool sample_norm; /* norms divide by the sample standard deviation + 1e-6, not by sqrt(variance + 1e-5) */
    bool copies;      /* further layers are initialized with the values of the first */
    bool unnumbered;  /* the first layer has the encoder's name, not NAME.0 */
} dis__attention_encoder;
dis__attention_encoder dis__attention_encoder_default(void); /* 1 layer, 1 head, 2048, .1, none of the others */
int dis__attention_encoder_build(dis__net *net, const char *name, int x, const dis__attention_encoder *encoder);

/* ---- tagger: a label for each token ---- */

/* How a token's two vectors, of its context and of its characters, become one: concatenated and passed through an
 * attention encoder (multi-task learning), weighted by additive attention, or concatenated and passed through linear
 * layers (SOFT-LOSS, later code). */
typedef enum { DIS_TAGGER_ENCODER, DIS_TAGGER_ADDITIVE, DIS_TAGGER_LINEAR } dis__tagger_kind;
enum { DIS_TAGGER_LINEARS = 8 };

typedef struct {
    size_t size;
    dis__tagger_kind kind;
    dis__recurrent_cell cell;                   /* of the layers over words and characters */
    size_t n_words, n_characters;               /* of either: from 0; below 0 is padding */
    size_t word_width, character_width, hidden; /* hidden: of each direction */
    dis__attention_encoder encoder;             /* the shared one, and each head's */
    double dropout;
    bool dropout_between; /* from the shared encoder to the heads' */
    bool head_relu;       /* between the two linear layers of a head */
    bool padded;          /* words and sentences end in a learned padding vector, up to the largest size */
    bool last_state;      /* both states of the characters' layers at the last position; otherwise final states */
    bool frozen;          /* vectors of words and characters are not trained */
    size_t linear[DIS_TAGGER_LINEARS], n_linears; /* DIS_TAGGER_LINEAR: widths; n_linears 0: none */
    /* the largest batch */
    size_t sentences, positions; /* positions: of the longest sentence */
    size_t tokens;               /* rows with a target in the heads */
    size_t distinct, characters; /* distinct words of a batch, and characters of each */
} dis__tagger_options;
dis__tagger_options
dis__tagger_options_default(void); /* LSTM; 300, 100, 256; 2 layers, 2 heads, 2048, .1; 15 characters */

/* Axes, inputs of integers, and the value (tokens, .) at the end. Each distinct word of a batch is spelt once,
 * each sentence read once. */
typedef struct {
    int sentences, positions, tokens, distinct, characters;
    int word_ids, lengths;    /* (sentences, positions), (sentences) */
    int character_ids, spelt; /* (distinct, characters), (distinct): how many characters */
    int place, word;          /* (tokens): sentence * positions + position; index of the distinct word */
    int reversed, from_end;   /* padded: (sentences, all positions): ids from the end; (tokens): position in these */
    int last;                 /* last_state: (distinct): the character at the last position */
    int trunk;
} dis__tagger;

dis__tagger dis__tagger_build(dis__net *net, const dis__tagger_options *options);
/* The sizes that a batch is laid out in: rounded up where that lets steps repeat. What is added is empty: sentences and
 * words of length 0, ids of none after anothers. */
typedef struct {
    size_t sentences, positions, distinct, characters;
} dis__tagger_sizes;
dis__tagger_sizes dis__tagger_round(const dis__net *net, dis__tagger_sizes batch);
/* The logits of one head: with DIS_TAGGER_ENCODER another encoder and two linear layers. */
int dis__tagger_head(dis__net *net, const dis__tagger_options *options, const dis__tagger *tagger, const char *name,
                     size_t n_classes);

/* ---- stem CNN: is a candidate the stem of a word? ---- */

typedef struct {
    size_t size;
    size_t n_characters, width, length; /* ids, of a vector, characters of a word and of a stem */
    size_t channels[2];                 /* of the two layers, for each window; the first 0: one layer, unpadded */
    size_t windows[4], n_windows;
    size_t dropouts; /* after the maxima, stacked */
    dis__attention_encoder encoder;
    size_t rows; /* of the largest batch */
} dis__stem_cnn_options;
dis__stem_cnn_options dis__stem_cnn_options_default(void); /* 300; 20; 64 and 128; 3, 4, 5; 2048; .1 */

typedef struct {
    int rows;
    int text[2]; /* (rows, length) ids of word and stem, below 0 after their end */
    int trunk;   /* (rows, 2 x windows x channels[1]) */
} dis__stem_cnn;
dis__stem_cnn dis__stem_cnn_build(dis__net *net, const dis__stem_cnn_options *options);

/* ---- ResNets for small images ---- */

/* CIFAR: 6 n + 2 layers of widths 16, 32, 64 with strided identities as shortcuts (He et al. 2016, section 4.2, option
 * A). IMAGENET: basic blocks of widths 64 to 512, with projections; the first layer is 3 x 3 and nothing is pooled
 * before the end, as usual for images of 32 x 32. */
typedef enum { DIS_RESNET_CIFAR, DIS_RESNET_IMAGENET } dis__resnet_kind;

typedef struct {
    size_t size;
    dis__resnet_kind kind;
    size_t height, width, channels; /* of images */
    size_t blocks[4];               /* of each stage; the fourth is IMAGENET's */
    size_t first_width;             /* of the first stage; each further one is twice as wide */
    size_t rows;                    /* of the largest batch */
} dis__resnet_options;
dis__resnet_options dis__resnet_options_default(void); /* CIFAR, 32 x 32 x 3, 5 blocks a stage (32 layers), 16 */

typedef struct {
    int rows, images; /* axis, value (rows, height, width, channels) */
    int trunk;        /* (rows, width of the last stage) */
} dis__resnet;
dis__resnet dis__resnet_build(dis__net *net, const dis__resnet_options *options);

#endif
