/* Shift and scale in model.json. */
#include "tool/json_writer.h"
#include "train/models/feature_scaling.h"
#include "core/memory/memory.h"
#include "train/files/model_digest.h"

void dis__feature_scaling_free(dis__feature_scaling *scaling)
{
    dis__free(scaling->shift);
    dis__free(scaling->scale);
    *scaling = (dis__feature_scaling){0};
}

void dis__feature_scaling_hash(const dis__feature_scaling *scaling, dis__sha256 *sha)
{
    const uint64_t n = scaling->n_features;
    dis__sha256_update(sha, &n, sizeof n);
    dis__hash_floats(sha, scaling->shift, scaling->n_features);
    dis__hash_floats(sha, scaling->scale, scaling->n_features);
}

void dis__feature_scaling_write(const dis__feature_scaling *scaling, dis__json_writer *json)
{
    dis__model_json_write_count(json, "features", scaling->n_features);
    dis__model_json_write_floats(json, "shift", scaling->shift, scaling->n_features);
    dis__model_json_write_floats(json, "scale", scaling->scale, scaling->n_features);
}

dis_status dis__feature_scaling_read(const dis__model_json *source, const dis__json_value *object,
                                     dis__feature_scaling *scaling)
{
    DIS_TRY(dis__model_json_read_count(source, object, "features", &scaling->n_features));
    DIS_TRY(dis__model_json_read_floats(source, object, "shift", scaling->n_features, &scaling->shift));
    DIS_TRY(dis__model_json_read_floats(source, object, "scale", scaling->n_features, &scaling->scale));
    if (!scaling->shift == !scaling->scale) return DIS_OK;
    return dis__json_fail(&source->json, object, "shift and scale must be used together");
}
