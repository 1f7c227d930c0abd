/* model_json.h: values of model.json, written and read by the models for their encoders and by model_folder.c for the
 * rest.
 *
 *     dis__model_json_write_count(json, "texts", encoder->n_texts);                       // when saving
 *     DIS_TRY(dis__model_json_read_count(source, object, "texts", &encoder->n_texts));  // when loading
 *
 * Reading fails with DIS_EDATA and the position in the file. */
#ifndef DIS_TRAIN_MODEL_JSON_H
#define DIS_TRAIN_MODEL_JSON_H
#include "tool/json_writer.h"
#include "io/json/json_read.h"
#include "text/vocabulary.h"

/* A model.json that is being read. */
typedef struct {
    dis__json json;
    const dis__json_value *root;
    const char *path;
    size_t schema;
} dis__model_json;

void dis__model_json_write_text(dis__json_writer *j, const char *key, const char *text);
void dis__model_json_write_count(dis__json_writer *j, const char *key, uint64_t n);
void dis__model_json_write_names(dis__json_writer *j, const char *key, const dis_names *names); /* NULL: none */
void dis__model_json_write_floats(dis__json_writer *j, const char *key, const float *x, size_t n);

/* The member of an object that must be there, of this kind. */
dis_status dis__model_json_member(const dis__model_json *s, const dis__json_value *of, const char *key,
                                  dis__json_kind kind, const dis__json_value **out);
dis_status dis__model_json_read_text(const dis__model_json *s, const dis__json_value *of, const char *key, char **out);
dis_status dis__model_json_read_count(const dis__model_json *s, const dis__json_value *of, const char *key,
                                      size_t *out);
/* All 64 bits, which a double does not hold. */
dis_status dis__model_json_read_seed(const dis__model_json *s, const dis__json_value *of, const char *key,
                                     uint64_t *out);
/* No names: *out stays as it is. */
dis_status dis__model_json_read_names(const dis__model_json *s, const dis__json_value *of, const char *key,
                                      dis_names **out);
/* n numbers, or none: *out stays as it is. */
dis_status dis__model_json_read_floats(const dis__model_json *s, const dis__json_value *of, const char *key, size_t n,
                                       float **out);
dis_status dis__model_json_read_vocabulary(const dis__model_json *s, const dis__json_value *of, const char *key,
                                           dis__vocabulary *out);

#endif
