/* encoder_model.h: what a model of a pretrained encoder keeps of the encoder's folder, for learning and for handing it
 * back; LoRA. */
#ifndef DIS_TRAIN_ENCODER_MODEL_H
#define DIS_TRAIN_ENCODER_MODEL_H
#include "encoder/encoder.h"
#include "encoder/encoder_folder.h"
#include "train/model.h"

enum { DIS_ENCODER_DIGEST_SIZE = 65, DIS_MAX_CHOICES = 1000 };

typedef struct {
    size_t n_texts; /* 0: tokens */
    dis__encoder_config config;
    dis_tokenizer *tokenizer;
    char *file[DIS_ENCODER_N_FILES]; /* DIS_ENCODER_FILES, which a model keeps; NULL: not there */
    size_t n_file[DIS_ENCODER_N_FILES];
    char *folder;                         /* where the numbers are; NULL: the model has its own */
    char digest[DIS_ENCODER_DIGEST_SIZE]; /* of these numbers */
} dis__pretrained_encoder;

typedef struct {
    int64_t frozen, max_length, choices, lora;
    double layer_decay, lora_alpha, lora_dropout;
    int dropout, lora_targets;
} dis__encoder_settings;

/* Words of sentences as tokens of at most o->max_length each: *unit (n_units + 1), to be freed, has the first item of
 * each sentence, or of each piece of a longer one. */
dis_status dis__encode_words(dis_context *ctx, const dis_tokenizer *t, const dis_items_view *items,
                             const dis_tokenizer_options *o, dis_tokens **tokens, uint64_t **unit, size_t *n_units);

/* Texts per item: some that all choices share, then n choices. DIS_EUSAGE: other items, or too few texts. */
dis_status dis__choices_check(const dis_items_view *items, size_t n);
/* Choice c of item i as text i * n + c of tokens: what comes before the choices, joined by spaces, and the choice as a
 * pair; the choice alone where nothing comes before it. */
dis_status dis__encode_choices(dis_context *ctx, const dis_tokenizer *t, const dis_items_view *items, size_t n,
                               const dis_tokenizer_options *o, dis_tokens **tokens);

/* What the settings say of LoRA; false: there is none. */
bool dis__encoder_lora_parse(const dis__encoder_settings *settings, dis__encoder_lora *out);
/* Numbers of a parameter with the LoRA update added, to be freed; NULL: it is none of those. */
dis_status dis__encoder_merge_lora_weight(const dis_model *model, size_t weight, float **out);
/* The same of all parameters of a network without LoRA's. */
dis_status dis__encoder_merge_lora(const dis_model *model, dis__net *net);

/* A folder that transformers loads: its numbers under their names there, the first head as its classifier. */
dis_status dis__encoder_export(const dis_model *model, const char *folder);

#endif
