/* Digests of a model: of its numbers, and of what they mean. Numbers go in as they are in memory (little-endian, as the
 * files have them), lists with their lengths before them. Cost: one pass over the model. */
#include "train/files/model_digest.h"
#include "core/text/sha256.h"
#include <string.h>

void dis__hash_names(dis__sha256 *sha, const dis_names *names)
{
    const uint64_t n = names ? dis_names_count(names) : 0;
    dis__sha256_update(sha, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *name = dis_names_get(names, i, &length);
        dis__sha256_update(sha, name, length + 1);
    }
}

void dis__hash_floats(dis__sha256 *sha, const float *x, size_t n)
{
    const uint64_t count = x ? n : 0;
    dis__sha256_update(sha, &count, sizeof count);
    if (x) dis__sha256_update(sha, x, n * sizeof *x);
}

void dis__model_hash_metadata(const dis_model *m, char hex[DIS_MODEL_HEX + 1])
{
    dis__sha256 sha;
    dis__sha256_init(&sha);
    dis__sha256_update(&sha, m->spec, strlen(m->spec) + 1);
    dis__sha256_update(&sha, m->objective, strlen(m->objective) + 1);
    dis__hash_names(&sha, m->classes);
    m->row->hash_meaning(m->encoder, &sha);
    if (m->workers) dis__hash_names(&sha, m->workers);
    if (m->features.width) dis__worker_features_hash(&m->features, dis_names_count(m->workers), &sha);
    dis__sha256_hex(&sha, hex);
}

void dis__model_hash_weights(const dis_model *m, const char *salt, char hex[DIS_MODEL_HEX + 1])
{
    dis__sha256 sha;
    dis__sha256_init(&sha);
    dis__sha256_update(&sha, salt, strlen(salt));
    for (size_t i = 0; i < m->weights.n; i++) {
        const dis__param_info *info = &m->weights.info[i];
        dis__sha256_update(&sha, info->name, strlen(info->name) + 1);
        for (size_t d = 0; d < info->n_dims; d++) {
            const uint64_t dim = info->dim[d];
            dis__sha256_update(&sha, &dim, sizeof dim);
        }
        dis__sha256_update(&sha, m->weights.value[i], info->n * sizeof **m->weights.value);
    }
    dis__sha256_hex(&sha, hex);
}
