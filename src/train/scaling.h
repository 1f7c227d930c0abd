/* scaling.h: numbers of items become (x - shift) * scale, learned from the training items, for models of numbers. */
#ifndef DIS_TRAIN_SCALING_H
#define DIS_TRAIN_SCALING_H
#include "core/text/sha256.h"
#include "train/model_json.h"

typedef struct {
    size_t n_features;    /* of an item */
    float *shift, *scale; /* (n_features); NULL: as they are */
} dis__scaling;

void dis__scaling_free(dis__scaling *scaling);
void dis__scaling_hash(const dis__scaling *scaling, dis__sha256 *sha);
void dis__scaling_save(const dis__scaling *scaling, dis_json *json);
dis_status dis__scaling_load(const dis__model_source *source, const dis__json_value *object, dis__scaling *scaling);

#endif
