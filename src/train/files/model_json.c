/* Values of model.json: one function per kind of value and direction. */
#include "tool/json_writer.h"
#include "train/files/model_json.h"
#include "core/memory/memory.h"
#include <math.h>

void dis__model_json_write_text(dis__json_writer *j, const char *key, const char *text)
{
    dis__json_writer_key(j, key);
    dis__json_writer_text(j, text);
}

void dis__model_json_write_count(dis__json_writer *j, const char *key, uint64_t n)
{
    dis__json_writer_key(j, key);
    dis__json_writer_count(j, n);
}

void dis__model_json_write_names(dis__json_writer *j, const char *key, const dis_names *names)
{
    dis__json_writer_key(j, key);
    dis__json_writer_begin_array(j);
    for (size_t i = 0; names && i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        dis__json_writer_text_n(j, name, n);
    }
    dis__json_writer_end_array(j);
}

void dis__model_json_write_floats(dis__json_writer *j, const char *key, const float *x, size_t n)
{
    dis__json_writer_key(j, key);
    dis__json_writer_begin_array(j);
    for (size_t i = 0; x && i < n; i++) dis__json_writer_real(j, (double)x[i]);
    dis__json_writer_end_array(j);
}

/* ---- reading ---- */

dis_status dis__model_json_member(const dis__model_json *s, const dis__json_value *of, const char *key,
                                  dis__json_kind kind, const dis__json_value **out)
{
    *out = dis__json_member(of, key);
    if (!*out) return dis__json_fail(&s->json, of, "no \"%s\": not a model that dissent has written", key);
    if ((*out)->kind != kind) return dis__json_fail(&s->json, *out, "\"%s\" has another type", key);
    return DIS_OK;
}

dis_status dis__model_json_read_text(const dis__model_json *s, const dis__json_value *of, const char *key, char **out)
{
    const dis__json_value *v;
    DIS_TRY(dis__model_json_member(s, of, key, DIS_JSON_STRING, &v));
    return dis__copy_text(out, v->text, v->length);
}

dis_status dis__model_json_read_count(const dis__model_json *s, const dis__json_value *of, const char *key, size_t *out)
{
    const dis__json_value *v;
    DIS_TRY(dis__model_json_member(s, of, key, DIS_JSON_NUMBER, &v));
    if (!(v->number >= 0 && v->number <= 1e15) || v->number != floor(v->number))
        return dis__json_fail(&s->json, v, "\"%s\" is not a count", key);
    *out = (size_t)v->number;
    return DIS_OK;
}

dis_status dis__model_json_read_seed(const dis__model_json *s, const dis__json_value *of, const char *key,
                                     uint64_t *out)
{
    const dis__json_value *v;
    DIS_TRY(dis__model_json_member(s, of, key, DIS_JSON_NUMBER, &v));
    uint64_t x = 0;
    for (uint32_t i = 0; i < v->length; i++) {
        const unsigned digit = (unsigned)(v->text[i] - '0');
        if (digit > 9 || x > (UINT64_MAX - digit) / 10) return dis__json_fail(&s->json, v, "\"%s\" is not a seed", key);
        x = x * 10 + digit;
    }
    *out = x;
    return DIS_OK;
}

dis_status dis__model_json_read_names(const dis__model_json *s, const dis__json_value *of, const char *key,
                                      dis_names **out)
{
    const dis__json_value *v;
    DIS_TRY(dis__model_json_member(s, of, key, DIS_JSON_ARRAY, &v));
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    const dis__json_value *e = v + 1;
    for (uint32_t i = 0; i < v->n && status == DIS_OK; i++, e += e->skip) {
        if (e->kind != DIS_JSON_STRING)
            status = dis__json_fail(&s->json, e, "\"%s\" must hold texts", key);
        else
            status = dis__name_list_add(&list, e->text, e->length);
    }
    if (status == DIS_OK && list.n) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    return status;
}

dis_status dis__model_json_read_floats(const dis__model_json *s, const dis__json_value *of, const char *key, size_t n,
                                       float **out)
{
    const dis__json_value *v;
    DIS_TRY(dis__model_json_member(s, of, key, DIS_JSON_ARRAY, &v));
    if (v->n == 0) return DIS_OK;
    if (v->n != n) return dis__json_fail(&s->json, v, "\"%s\" has %u numbers, not %zu", key, v->n, n);
    DIS_TRY(dis__alloc_array(out, n, sizeof **out));
    for (size_t i = 0; i < n; i++) {
        const dis__json_value *e = v + 1 + i;
        if (e->kind != DIS_JSON_NUMBER || !isfinite((float)e->number))
            return dis__json_fail(&s->json, e, "\"%s\" must hold numbers", key);
        (*out)[i] = (float)e->number;
    }
    return DIS_OK;
}

dis_status dis__model_json_read_vocabulary(const dis__model_json *s, const dis__json_value *of, const char *key,
                                           dis__vocabulary *out)
{
    dis_names *names = NULL;
    DIS_TRY(dis__model_json_read_names(s, of, key, &names));
    if (!names) return DIS_OK;
    const dis_status status = dis__vocabulary_from_words(names, out);
    dis_names_destroy(names);
    return status == DIS_EDATA ? dis__json_fail(&s->json, of, "a word twice in \"%s\"", key) : status;
}
