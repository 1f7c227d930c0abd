/* encoder_model.h: what a model of a pretrained encoder keeps of the encoder's folder, for learning and for handing it
 * back. */
#ifndef DIS_TRAIN_ENCODER_MODEL_H
#define DIS_TRAIN_ENCODER_MODEL_H
#include "encoder/encoder.h"
#include "encoder/encoder_folder.h"
#include "train/model.h"

enum { DIS_PRETRAINED_HEX = 65 };

typedef struct {
    size_t n_texts; /* 0: tokens */
    dis__encoder_config config;
    dis_tokenizer *tokenizer;
    char *file[DIS_ENCODER_N_FILES]; /* DIS_ENCODER_FILES, which a model keeps; NULL: not there */
    size_t n_file[DIS_ENCODER_N_FILES];
    char *folder;                    /* where the numbers are; NULL: the model has its own */
    char digest[DIS_PRETRAINED_HEX]; /* of these numbers */
} dis__pretrained;

/* A folder that transformers loads: its numbers under their names there, the first head as its classifier. */
dis_status dis__encoder_export(const dis_model *model, const char *folder);

#endif
