/* model_digest.h: SHA-256 digests that tie the files of a model's folder together. */
#ifndef DIS_TRAIN_MODEL_DIGEST_H
#define DIS_TRAIN_MODEL_DIGEST_H
#include "train/model.h"

enum { DIS_MODEL_HEX = 64 };

/* Of what the numbers would mean something else without: the settings, and classes and words in their order. */
void dis__model_hash_metadata(const dis_model *m, char hex[DIS_MODEL_HEX + 1]);

/* Of names, shapes and numbers, begun by `salt`: known before the file is, which is called after it. */
void dis__model_hash_weights(const dis_model *m, const char *salt, char hex[DIS_MODEL_HEX + 1]);

/* For what encoders add: lists with their lengths before them. */
void dis__hash_names(dis__sha256 *sha, const dis_names *names);
void dis__hash_floats(dis__sha256 *sha, const float *x, size_t n);

#endif
