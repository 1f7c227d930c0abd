/* word_table.h: the words that a model knows, and vectors of theirs from a file, for models that read words.
 *
 *     DIS_TRY(dis__vocabulary_count(&table.words, word, n));          // each word of the training items
 *     DIS_TRY(dis__vocabulary_finish(&table.words, 2, SIZE_MAX));
 *     DIS_TRY(dis__word_table_read_vectors(ctx, "glove.txt", &table));
 *     ... build and plan a net whose table of words is "words.weight" ...
 *     dis__word_table_init_weights(net, &table); */
#ifndef DIS_TRAIN_WORD_TABLE_H
#define DIS_TRAIN_WORD_TABLE_H
#include "tool/json_writer.h"
#include "core/text/sha256.h"
#include "nn/net.h"
#include "text/word_vectors.h"
#include "train/files/model_json.h"

typedef struct {
    dis__vocabulary words;
    dis__word_vectors vectors; /* while a network is being built from scratch; not kept */
    size_t vector_width;       /* when vectors came from a file; 0: the model's own */
    size_t n_in_vectors;       /* words that the file had */
} dis__word_table;

void dis__word_table_free(dis__word_table *table);
/* Reads the vectors of the known words; `path` NULL: there are none. */
dis_status dis__word_table_read_vectors(dis_context *ctx, const char *path, dis__word_table *table);
/* Vectors into the rows of the parameter "words.weight"; words without one stay at their random start. */
dis_status dis__word_table_init_weights(dis__net *net, const dis__word_table *table);
void dis__word_table_hash(const dis__word_table *table, dis__sha256 *sha); /* the vectors */
void dis__word_table_write(const dis__word_table *table, dis__json_writer *json);
dis_status dis__word_table_read(const dis__model_json *source, const dis__json_value *object, dis__word_table *table);

#endif
