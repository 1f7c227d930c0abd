/* models.h: the rows that models.c lists, one per file. */
#ifndef DIS_TRAIN_MODELS_H
#define DIS_TRAIN_MODELS_H
#include "train/model.h"

extern const dis__model_row dis__model_encoder, dis__model_encoder_tagger, dis__model_mlp, dis__model_text,
    dis__model_tagger, dis__model_stem_cnn, dis__model_resnet;

#endif
