/* The text that stands for settings where equal settings must be told from others: one "key length:value" a line.
 * Lengths make it unambiguous whatever values hold; only values that are set are there, in the order of the rows, so
 * neither the order of a file nor its comments matter. Files stand there by the SHA-256 of what is in them. */
#include "tool/files.h"
#include "experiment/plan/schema.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "encoder/encoder_folder.h"
#include <stdio.h>
#include <string.h>

static dis_status put(dis__run_key *key_text, const char *text, size_t n)
{
    DIS_TRY(
        dis__reserve(&key_text->text, &key_text->capacity, key_text->n, dis__saturating_size(1, key_text->n, n), 1));
    if (n) memcpy(key_text->text + key_text->n, text, n);
    key_text->n += n;
    return DIS_OK;
}

dis_status dis__run_key_put(dis__run_key *key_text, const char *key, const char *value, size_t n)
{
    char head[128];
    const int length = snprintf(head, sizeof head, "%.80s %zu:", key, n);
    DIS_TRY(put(key_text, head, (size_t)length));
    DIS_TRY(put(key_text, value, n));
    return put(key_text, "\n", 1);
}

static dis_status encoder_digest(const char *path, char hex[65])
{
    return dis__encoder_folder_hash(NULL, path, hex);
}

/* Digest of a file or folder; each is read once. */
static dis_status put_contents(dis__run_key *key_text, const char *key, const char *path,
                               dis_status (*digest)(const char *path, char hex[65]))
{
    size_t i = 0;
    while (i < key_text->n_files && strcmp(key_text->path[i], path) != 0) i++;
    if (i == key_text->n_files) {
        DIS_TRY(dis__reserve(&key_text->path, &key_text->path_capacity, i, i + 1, sizeof *key_text->path));
        DIS_TRY(dis__reserve(&key_text->digest, &key_text->digest_capacity, i, i + 1, sizeof *key_text->digest));
        DIS_TRY(digest(path, key_text->digest[i]));
        key_text->path[key_text->n_files++] = path;
    }
    return dis__run_key_put(key_text, key, key_text->digest[i], 64);
}

/* Also its extension, which may determine the format. */
dis_status dis__run_key_file(dis__run_key *key_text, const char *key, const char *path)
{
    const char *slash = strrchr(path, '/'), *ending = strrchr(slash ? slash : path, '.');
    DIS_TRY(put_contents(key_text, key, path, dis__file_sha256));
    return dis__run_key_put(key_text, "", ending ? ending : "", ending ? strlen(ending) : 0);
}

dis_status dis__run_key_folder(dis__run_key *key_text, const char *key, const char *path)
{
    return put_contents(key_text, key, path, encoder_digest);
}

static dis_status put_count(dis__run_key *key_text, const char *key, uint64_t x)
{
    char text[32];
    return dis__run_key_put(key_text, key, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)x));
}

static dis_status put_texts(dis__run_key *key_text, const dis__field *field, const dis__texts *texts)
{
    DIS_TRY(put_count(key_text, field->key, texts->n));
    for (size_t i = 0; i < texts->n; i++) {
        if (field->kind == DIS_FIELD_FILES)
            DIS_TRY(dis__run_key_file(key_text, "", texts->text[i]));
        else
            DIS_TRY(dis__run_key_put(key_text, "", texts->text[i], strlen(texts->text[i])));
    }
    return DIS_OK;
}

/* In the order of the keys' bytes: that of the file means nothing. */
static dis_status put_pairs(dis__run_key *key_text, const dis__field *field, const dis__text_pairs *pairs)
{
    DIS_TRY(put_count(key_text, field->key, pairs->n));
    for (size_t done = 0, last = SIZE_MAX; done < pairs->n; done++) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < pairs->n; i++)
            if ((last == SIZE_MAX || strcmp(pairs->key[i], pairs->key[last]) > 0) &&
                (next == SIZE_MAX || strcmp(pairs->key[i], pairs->key[next]) < 0))
                next = i;
        DIS_TRY(dis__run_key_put(key_text, "", pairs->key[next], strlen(pairs->key[next])));
        DIS_TRY(dis__run_key_put(key_text, "", pairs->value[next], strlen(pairs->value[next])));
        last = next;
    }
    return DIS_OK;
}

static dis_status put_parts(dis__run_key *key_text, const dis__field *field, const dis__parts *parts)
{
    DIS_TRY(put_count(key_text, field->key, parts->n));
    for (size_t i = 0; i < parts->n; i++) {
        if (parts->name) DIS_TRY(dis__run_key_put(key_text, "", parts->name[i], strlen(parts->name[i])));
        DIS_TRY(dis__run_key_record(key_text, field->part, dis__part(parts, i)));
    }
    return DIS_OK;
}

bool dis__field_is_set(const dis__field *field, const void *record)
{
    const void *at = (const char *)record + field->offset;
    switch (field->kind) {
    case DIS_FIELD_TEXTS:
    case DIS_FIELD_FILES: return ((const dis__texts *)at)->n > 0;
    case DIS_FIELD_COUNT: return *(const uint64_t *)at != 0;
    case DIS_FIELD_REAL: return *(const double *)at != 0;
    case DIS_FIELD_FLAG: return *(const bool *)at;
    case DIS_FIELD_CHOICE: return *(const int *)at != 0;
    case DIS_FIELD_PAIRS: return ((const dis__text_pairs *)at)->n > 0;
    case DIS_FIELD_LIST:
    case DIS_FIELD_NAMED: return ((const dis__parts *)at)->n > 0;
    case DIS_FIELD_TEXT:
    case DIS_FIELD_FILE:
    case DIS_FIELD_FOLDER:
    case DIS_FIELD_RECORD:
    case DIS_FIELD_NODE: return *(const void *const *)at != NULL;
    }
    return false;
}

/* The name of a value within a key. It is not renamed with its field, so that keys of stored runs stay valid. */
static const char *name_in_key(const dis__field *field)
{
    return strcmp(field->key, "log_base") == 0 ? "base" : field->key;
}

dis_status dis__run_key_field(dis__run_key *key_text, const dis__field *field, const void *record)
{
    const void *at = (const char *)record + field->offset;
    const char *const *text = at;
    if (!dis__field_is_set(field, record)) return DIS_OK;
    switch (field->kind) {
    case DIS_FIELD_TEXT: return dis__run_key_put(key_text, field->key, *text, strlen(*text));
    case DIS_FIELD_FILE: return dis__run_key_file(key_text, field->key, *text);
    case DIS_FIELD_FOLDER: return dis__run_key_folder(key_text, field->key, *text);
    case DIS_FIELD_TEXTS:
    case DIS_FIELD_FILES: return put_texts(key_text, field, at);
    case DIS_FIELD_COUNT: return put_count(key_text, field->key, *(const uint64_t *)at);
    case DIS_FIELD_FLAG: return put_count(key_text, field->key, *(const bool *)at);
    case DIS_FIELD_CHOICE: return put_count(key_text, field->key, (uint64_t)(*(const int *)at));
    case DIS_FIELD_REAL: {
        char number[DIS_REAL_TEXT];
        return dis__run_key_put(key_text, name_in_key(field), number, dis__format_real(*(const double *)at, number));
    }
    case DIS_FIELD_PAIRS: return put_pairs(key_text, field, at);
    case DIS_FIELD_LIST:
    case DIS_FIELD_NAMED: return put_parts(key_text, field, at);
    case DIS_FIELD_RECORD:
        DIS_TRY(dis__run_key_put(key_text, field->key, "", 0));
        return dis__run_key_record(key_text, field->part, *(const void *const *)at);
    case DIS_FIELD_NODE: return DIS_OK; /* its reader adds the meaning */
    }
    return DIS_OK;
}

dis_status dis__run_key_record(dis__run_key *key_text, const dis__schema *schema, const void *record)
{
    DIS_TRY(dis__run_key_put(key_text, schema->info.name, "", 0));
    for (size_t i = 0; i < schema->n_fields; i++) DIS_TRY(dis__run_key_field(key_text, &schema->field[i], record));
    return dis__run_key_put(key_text, "end", "", 0);
}

void dis__run_key_digest(const dis__run_key *key_text, char hex[65])
{
    dis__sha256 s;
    dis__sha256_init(&s);
    dis__sha256_update(&s, key_text->text, key_text->n);
    dis__sha256_hex(&s, hex);
}

void dis__run_key_free(dis__run_key *key_text)
{
    dis__free(key_text->text);
    dis__free(key_text->path);
    dis__free(key_text->digest);
    *key_text = (dis__run_key){0};
}
