/* word_vectors.h: word vectors from a text file in GloVe's format: one line per word, with the word and its values
 * separated by spaces.
 *
 * Only requested words are kept, so a file of gigabytes takes the memory of the vocabulary. */
#ifndef DIS_TEXT_WORD_VECTORS_H
#define DIS_TEXT_WORD_VECTORS_H
#include "dissent/context.h"
#include "text/vocabulary.h"

typedef struct {
    size_t width;
    float *x;       /* (size of the vocabulary, width); rows of words without a vector are 0 */
    uint8_t *known; /* (size of the vocabulary): whether the file contains the word */
    size_t n_known;
} dis__word_vectors;

/* DIS_EDATA with the line: rows of different widths, an invalid value. A first line "COUNT WIDTH" (as written by
 * word2vec) is skipped. If a word is repeated, its first line counts. `words` must be finished. */
dis_status dis__word_vectors_read(dis_context *ctx, const char *path, const dis__vocabulary *words,
                                  dis__word_vectors *out);
void dis__word_vectors_free(dis__word_vectors *v);

#endif
