/* What models learn of items before training, and items as numbers: what all models share. */
#include "train/model.h"

void dis__encoder_free(dis__encoder *encoder)
{
    dis__vocabulary_free(&encoder->words);
    dis__vocabulary_free(&encoder->characters);
    dis__vectors_free(&encoder->vectors);
    dis__free(encoder->shift);
    dis__free(encoder->scale);
    *encoder = (dis__encoder){0};
}

void dis__encoded_free(dis__encoded *encoded)
{
    dis__free(encoded->length);
    dis__free(encoded->start);
    dis__free(encoded->ids);
    dis__free(encoded->scaled);
    dis__free(encoded->type);
    dis__free(encoded->spelt);
    dis__free(encoded->letters);
    dis__free(encoded->mark);
    *encoded = (dis__encoded){0};
}

void dis__start_words(dis__net *net, const dis__encoder *encoder)
{
    const dis__vectors *v = &encoder->vectors;
    const size_t param = dis__net_find_param(net, "words.weight");
    for (size_t i = 0; v->known && i < dis__vocabulary_size(&encoder->words); i++)
        if (v->known[i]) dis__param_put_rows(net, param, i, 1, v->x + i * v->width);
}

dis_status dis__learn_vectors(dis_context *ctx, const char *path, dis__encoder *encoder)
{
    if (!path) return DIS_OK;
    DIS_TRY(dis__vectors_read(ctx, path, &encoder->words, &encoder->vectors));
    encoder->vector_width = encoder->vectors.width;
    encoder->n_in_vectors = encoder->vectors.n_known;
    return DIS_OK;
}
