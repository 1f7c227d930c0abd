/* encoder_model.h: what a model of a pretrained encoder keeps of the encoder's folder, for learning and for handing it
 * back. */
#ifndef DIS_TRAIN_ENCODER_MODEL_H
#define DIS_TRAIN_ENCODER_MODEL_H
#include "encoder/encoder.h"
#include "train/model.h"

/* Files of a folder that a model keeps; config.json comes first. */
#define DIS_KEPT_FILES                                                                                    \
    {                                                                                                     \
        "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", \
            "vocab.json", "merges.txt"                                                                    \
    }
enum { DIS_N_KEPT = 7, DIS_PRETRAINED_HEX = 65 };

typedef struct {
    size_t n_texts; /* 0: tokens */
    dis__encoder_config config;
    dis_tokenizer *tokenizer;
    char *file[DIS_N_KEPT]; /* NULL: not there */
    size_t n_file[DIS_N_KEPT];
    char *folder;                    /* where the numbers are; NULL: the model has its own */
    char digest[DIS_PRETRAINED_HEX]; /* of these numbers */
} dis__pretrained;

/* A folder that transformers loads: its numbers under their names there, the first head as its classifier. */
dis_status dis__encoder_export(const dis_model *model, const char *folder);

#endif
