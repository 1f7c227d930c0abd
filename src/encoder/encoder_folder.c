/* An encoder's folder as a whole. Its digest is one pass over its bytes, nearly all of which are weights. */
#include "encoder/encoder_folder.h"
#include "core/memory/memory.h"
#include "core/text/sha256.h"
#include "encoder/encoder.h"
#include "io/files/folder.h"
#include "tokens/tokenizer_internal.h"
#include <string.h>

static const char *const files[DIS_ENCODER_N_FILES] = DIS_ENCODER_FILES;

dis_status dis__encoder_folder_check(dis_context *ctx, const char *folder)
{
    dis__encoder_config config;
    DIS_TRY(dis__encoder_config_read(ctx, folder, &config));
    return dis__encoder_weights_check(ctx, folder);
}

/* Name and digest of a file, where it is there. */
static dis_status add_file(dis__sha256 *sha, const char *folder, const char *name)
{
    bool exists;
    char *path, hex[65];
    DIS_TRY(dis__file_exists(folder, name, &exists));
    if (!exists) return DIS_OK;
    DIS_TRY(dis__path_join(folder, name, &path));
    const dis_status status = dis__sha256_file(path, hex);
    dis__free(path);
    DIS_TRY(status);
    dis__sha256_update(sha, name, strlen(name) + 1);
    dis__sha256_update(sha, hex, sizeof hex);
    return DIS_OK;
}

dis_status dis__encoder_folder_hash(dis_context *ctx, const char *folder, char hex[65])
{
    dis__sha256 sha;
    char numbers[65];
    dis__sha256_init(&sha);
    for (size_t i = 0; i < DIS_ENCODER_N_FILES; i++) DIS_TRY(add_file(&sha, folder, files[i]));
    DIS_TRY(dis__encoder_hash_weights(ctx, folder, numbers));
    dis__sha256_update(&sha, numbers, sizeof numbers);
    dis__sha256_hex(&sha, hex);
    return DIS_OK;
}
