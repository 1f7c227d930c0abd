/* Shift and scale in model.json. */
#include "train/scaling.h"
#include "core/memory/memory.h"
#include "train/model_digest.h"

void dis__scaling_free(dis__scaling *scaling)
{
    dis__free(scaling->shift);
    dis__free(scaling->scale);
    *scaling = (dis__scaling){0};
}

void dis__scaling_hash(const dis__scaling *scaling, dis__sha256 *sha)
{
    const uint64_t n = scaling->n_features;
    dis__sha256_update(sha, &n, sizeof n);
    dis__digest_floats(sha, scaling->shift, scaling->n_features);
    dis__digest_floats(sha, scaling->scale, scaling->n_features);
}

void dis__scaling_save(const dis__scaling *scaling, dis_json *json)
{
    dis__model_put_count(json, "features", scaling->n_features);
    dis__model_put_floats(json, "shift", scaling->shift, scaling->n_features);
    dis__model_put_floats(json, "scale", scaling->scale, scaling->n_features);
}

dis_status dis__scaling_load(const dis__model_source *source, const dis__json_value *object, dis__scaling *scaling)
{
    DIS_TRY(dis__model_take_count(source, object, "features", &scaling->n_features));
    DIS_TRY(dis__model_take_floats(source, object, "shift", scaling->n_features, &scaling->shift));
    DIS_TRY(dis__model_take_floats(source, object, "scale", scaling->n_features, &scaling->scale));
    if (!scaling->shift == !scaling->scale) return DIS_OK;
    return dis__json_fail(&source->json, object, "shift and scale go together");
}
