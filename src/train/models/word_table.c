/* Words and their vectors. O(words), and one pass over the file of vectors. */
#include "tool/json_writer.h"
#include "train/models/word_table.h"

void dis__word_table_free(dis__word_table *table)
{
    dis__vocabulary_free(&table->words);
    dis__word_vectors_free(&table->vectors);
    *table = (dis__word_table){0};
}

dis_status dis__word_table_read_vectors(dis_context *ctx, const char *path, dis__word_table *table)
{
    if (!path) return DIS_OK;
    DIS_TRY(dis__word_vectors_read(ctx, path, &table->words, &table->vectors));
    table->vector_width = table->vectors.width;
    table->n_in_vectors = table->vectors.n_known;
    return DIS_OK;
}

dis_status dis__word_table_init_weights(dis__net *net, const dis__word_table *table)
{
    const dis__word_vectors *v = &table->vectors;
    const size_t param = dis__net_find_param(net, "words.weight");
    for (size_t i = 0; v->known && i < dis__vocabulary_size(&table->words); i++)
        if (v->known[i]) DIS_TRY(dis__param_put_rows(net, param, i, 1, v->x + i * v->width));
    return DIS_OK;
}

void dis__word_table_hash(const dis__word_table *table, dis__sha256 *sha)
{
    const dis__word_vectors *v = &table->vectors;
    if (v->x) dis__sha256_update(sha, v->x, dis__vocabulary_size(&table->words) * v->width * sizeof *v->x);
}

void dis__word_table_write(const dis__word_table *table, dis__json_writer *json)
{
    dis__model_json_write_count(json, "vector_width", table->vector_width);
    dis__model_json_write_count(json, "words_in_vectors", table->n_in_vectors);
    dis__model_json_write_names(json, "words", table->words.words);
}

dis_status dis__word_table_read(const dis__model_json *source, const dis__json_value *object, dis__word_table *table)
{
    DIS_TRY(dis__model_json_read_count(source, object, "vector_width", &table->vector_width));
    DIS_TRY(dis__model_json_read_count(source, object, "words_in_vectors", &table->n_in_vectors));
    return dis__model_json_read_vocabulary(source, object, "words", &table->words);
}
