/* What models learn of items before training, and items as numbers: their ends. */
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
    dis__free(encoded->x);
    *encoded = (dis__encoded){0};
}
