/* Checksums of the blocks of a safetensors file: see checked_tensors.h.
 *
 * A block's checksum runs over its words in four lanes, h = (h ^ word) * odd. Each step is a bijection of h, so a
 * change within one word always changes the result; other changes are missed with a probability of about 2^-64. Cost:
 * 16 dependent multiplications per block, less than reading it from memory. */
#include "io/tensors/checked_tensors.h"
#include "core/memory/memory.h"
#include "core/text/sha256.h"
#include <string.h>

#define SUMS     "checksums"
#define CHECKSUM "checksum"

static uint64_t block_sum(const char *bytes, size_t n)
{
    enum { LANES = 4, STEP = LANES * sizeof(uint64_t) };
    uint64_t h[LANES] = {n, 1, 2, 3}, sum = 0;
    for (size_t at = 0; at < n; at += STEP) {
        uint64_t word[LANES] = {0};
        if (n - at >= STEP)
            memcpy(word, bytes + at, STEP);
        else
            memcpy(word, bytes + at, n - at);
        for (size_t k = 0; k < LANES; k++) h[k] = (h[k] ^ word[k]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (size_t k = 0; k < LANES; k++) sum = (sum ^ h[k] ^ h[k] >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return sum;
}

static size_t n_blocks(size_t n)
{
    return n / DIS_CHECK_BLOCK + (n % DIS_CHECK_BLOCK != 0);
}

/* ---- the digest of everything but the blocks ---- */

static void hash_text(dis__sha256 *sha, const char *text, size_t n)
{
    const uint64_t length = n;
    dis__sha256_update(sha, &length, sizeof length);
    dis__sha256_update(sha, text, n);
}

/* Descriptions of tensors are summed, independent of order: a reader sorts tensors by offset, and some have no
 * bytes. */
typedef struct {
    uint64_t sum[4];
} descriptions;

static void describe(descriptions *all, const dis__tensor *t, size_t name_length)
{
    uint64_t digest[4];
    dis__sha256 sha;
    dis__sha256_init(&sha);
    hash_text(&sha, t->name, name_length);
    hash_text(&sha, t->dtype->name, strlen(t->dtype->name));
    for (size_t d = 0; d < t->n_dims; d++) {
        const uint64_t dim = t->dim[d];
        dis__sha256_update(&sha, &dim, sizeof dim);
    }
    dis__sha256_final(&sha, (unsigned char *)digest);
    for (int k = 0; k < 4; k++) all->sum[k] += digest[k];
}

/* ---- writing ---- */

/* Feeds the bytes of tensors, in sequence, into blocks. */
typedef struct {
    char block[DIS_CHECK_BLOCK];
    size_t used, n_sums;
    uint64_t *sum;
} summing;

static void sum_bytes(summing *s, const char *bytes, size_t n)
{
    while (n) {
        if (s->used == 0 && n >= DIS_CHECK_BLOCK) { /* without a copy */
            s->sum[s->n_sums++] = block_sum(bytes, DIS_CHECK_BLOCK);
            bytes += DIS_CHECK_BLOCK;
            n -= DIS_CHECK_BLOCK;
            continue;
        }
        const size_t part = n < DIS_CHECK_BLOCK - s->used ? n : DIS_CHECK_BLOCK - s->used;
        memcpy(s->block + s->used, bytes, part);
        s->used += part;
        bytes += part;
        n -= part;
        if (s->used < DIS_CHECK_BLOCK) return;
        s->sum[s->n_sums++] = block_sum(s->block, DIS_CHECK_BLOCK);
        s->used = 0;
    }
}

static size_t n_bytes_of(const dis__tensor *t)
{
    return t->n * t->dtype->size;
}

static void digest_parts(const dis__tensor *all, size_t n_all, const char *const (*metadata)[2], size_t n_metadata,
                         char hex[65])
{
    dis__sha256 sha;
    dis__sha256_init(&sha);
    for (size_t i = 0; i < n_metadata; i++)
        for (int j = 0; j < 2; j++) hash_text(&sha, metadata[i][j], strlen(metadata[i][j]));
    descriptions sum = {.sum = {0}};
    for (size_t i = 0; i < n_all; i++) describe(&sum, &all[i], strlen(all[i].name));
    dis__sha256_update(&sha, &sum, sizeof sum);
    dis__sha256_update(&sha, all[0].data, n_bytes_of(&all[0]));
    dis__sha256_hex(&sha, hex);
}

static dis_status write_parts(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                              const char *const (*metadata)[2], size_t n_metadata, summing *s, dis__tensor *all,
                              const char *(*with)[2])
{
    char hex[65];
    for (size_t i = 0; i < n_tensors; i++) sum_bytes(s, tensors[i].data, n_bytes_of(&tensors[i]));
    if (s->used) s->sum[s->n_sums++] = block_sum(s->block, s->used);
    all[0] = (dis__tensor){.name = SUMS,
                           .dtype = dis__dtype_find("U64", 3),
                           .n_dims = 1,
                           .dim = {s->n_sums},
                           .n = s->n_sums,
                           .data = s->sum};
    memcpy(all + 1, tensors, n_tensors * sizeof *tensors);
    digest_parts(all, n_tensors + 1, metadata, n_metadata, hex);
    memcpy(with, metadata, n_metadata * sizeof *with);
    with[n_metadata][0] = CHECKSUM;
    with[n_metadata][1] = hex;
    return dis__safetensors_write(out, all, n_tensors + 1, (const char *const(*)[2])with, n_metadata + 1);
}

dis_status dis__checked_write(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                              const char *const (*metadata)[2], size_t n_metadata)
{
    summing *s = NULL;
    dis__tensor *all = NULL;
    const char *(*with)[2] = NULL;
    size_t n = 0;
    dis_status status;
    for (size_t i = 0; i < n_tensors; i++) n += n_bytes_of(&tensors[i]);
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    DIS_TRY_GOTO(status, dis__alloc_array(&s->sum, n_blocks(n), sizeof *s->sum), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&all, n_tensors + 1, sizeof *all), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&with, n_metadata + 1, sizeof *with), end);
    status = write_parts(out, tensors, n_tensors, metadata, n_metadata, s, all, with);
end:
    dis__free(s->sum);
    dis__free(s);
    dis__free(all);
    dis__free(with);
    return status;
}

/* ---- reading ---- */

static dis_status damaged(const char *path)
{
    return dis__fail_at(DIS_EDATA, path, 0, 0,
                        "its checksum is wrong: the file was damaged after it was written; save it again");
}

static bool digest_matches(const dis__safetensors *file, const dis__tensor *sums, const dis__json_value *expected)
{
    const dis__json_value *m = file->metadata;
    char hex[65];
    dis__sha256 sha;
    dis__sha256_init(&sha);
    for (const dis__json_value *key = m + 1; key < m + m->skip; key += 2) {
        if (dis__json_equals(key, CHECKSUM)) continue;
        hash_text(&sha, key->text, key->length);
        hash_text(&sha, key[1].text, key[1].length);
    }
    descriptions sum = {.sum = {0}};
    for (size_t i = 0; i < file->n_tensors; i++) describe(&sum, &file->tensors[i], file->tensors[i].name_length);
    dis__sha256_update(&sha, &sum, sizeof sum);
    dis__sha256_update(&sha, sums->data, n_bytes_of(sums));
    dis__sha256_hex(&sha, hex);
    return dis__json_equals(expected, hex);
}

dis_status dis__tensor_check_open(const dis__safetensors *file, const char *path, dis__tensor_check *out)
{
    const dis__tensor *sums = dis__safetensors_find(file, SUMS);
    const dis__json_value *expected = dis__safetensors_metadata(file, CHECKSUM);
    dis__tensor_check check = {.path = path, .sums = sums};
    if (!sums || !expected || sums->n_dims != 1 || strcmp(sums->dtype->name, "U64") != 0)
        return dis__fail_at(DIS_EDATA, path, 0, 0, "it has no checksums; save it again with this version of dissent");
    if (!digest_matches(file, sums, expected)) return damaged(path);
    check.data = (const char *)sums->data + n_bytes_of(sums);
    for (size_t i = 0; i < file->n_tensors; i++) {
        if (file->tensors[i].data < sums->data) return damaged(path); /* the checksums come first */
        if (&file->tensors[i] != sums) check.n += n_bytes_of(&file->tensors[i]);
    }
    if (sums->n != n_blocks(check.n)) return damaged(path);
    DIS_TRY(dis__alloc_zeroed(&check.verified, sums->n / 8 + 1, 1));
    *out = check;
    return DIS_OK;
}

void dis__tensor_check_close(dis__tensor_check *check)
{
    dis__free(check->verified);
    *check = (dis__tensor_check){0};
}

dis_status dis__tensor_check_range(const dis__tensor_check *check, const void *from, size_t n)
{
    if (n == 0) return DIS_OK;
    const size_t at = (size_t)((const char *)from - check->data), last = (at + n - 1) / DIS_CHECK_BLOCK;
    for (size_t b = at / DIS_CHECK_BLOCK; b <= last; b++) {
        if (check->verified[b / 8] >> b % 8 & 1) continue;
        const size_t begin = b * DIS_CHECK_BLOCK, left = check->n - begin;
        uint64_t expected;
        memcpy(&expected, (const char *)check->sums->data + b * sizeof expected, sizeof expected);
        if (block_sum(check->data + begin, left < DIS_CHECK_BLOCK ? left : DIS_CHECK_BLOCK) != expected)
            return damaged(check->path);
        check->verified[b / 8] |= (unsigned char)(1u << b % 8);
    }
    return DIS_OK;
}

dis_status dis__tensor_check_all(const dis__tensor_check *check)
{
    return dis__tensor_check_range(check, check->data, check->n);
}
