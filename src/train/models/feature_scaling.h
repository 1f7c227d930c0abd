/* feature_scaling.h: numbers of items become (x - shift) * scale, learned from the training items, for models of numbers. */
#ifndef DIS_TRAIN_FEATURE_SCALING_H
#define DIS_TRAIN_FEATURE_SCALING_H
#include "tool/json_writer.h"
#include "core/text/sha256.h"
#include "train/files/model_json.h"

typedef struct {
    size_t n_features;    /* of an item */
    float *shift, *scale; /* (n_features); NULL: as they are */
} dis__feature_scaling;

void dis__feature_scaling_free(dis__feature_scaling *scaling);
void dis__feature_scaling_hash(const dis__feature_scaling *scaling, dis__sha256 *sha);
void dis__feature_scaling_write(const dis__feature_scaling *scaling, dis__json_writer *json);
dis_status dis__feature_scaling_read(const dis__model_json *source, const dis__json_value *object,
                                     dis__feature_scaling *scaling);

#endif
