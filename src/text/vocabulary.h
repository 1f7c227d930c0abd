/* vocabulary.h: words to numbers.
 *
 *     dis__vocabulary v = {0};
 *     DIS_TRY(dis__vocabulary_count(&v, word, n));        // for every word of the training texts
 *     DIS_TRY(dis__vocabulary_finish(&v, 1, 100000));      // seen at least once, at most so many
 *     int32_t id = dis__vocabulary_find(&v, word, n);     // DIS_UNKNOWN when it is not there
 *     dis__vocabulary_free(&v);
 *
 * Numbers go by how often a word was seen, more often first, equal ones by bytes: they depend on the texts alone.
 * DIS_UNKNOWN is 0; known words begin at 1. Threads: any number may find at once; the rest is for one. */
#ifndef DIS_TEXT_VOCABULARY_H
#define DIS_TEXT_VOCABULARY_H
#include "core/names/name_index.h"
#include "core/names/names_internal.h"

enum { DIS_UNKNOWN = 0 };
#define DIS_MAX_WORDS 100000000u

typedef struct {
    dis_names *words; /* after closing: word i has number i + 1 */
    dis__name_index index;
    /* while counting */
    dis__name_list seen;
    uint64_t *count; /* (seen.n) */
    uint64_t key[2];
    uint32_t *slot; /* (mask + 1): number in `seen` + 1; 0: free */
    size_t mask, count_room;
} dis__vocabulary;

dis_status dis__vocabulary_count(dis__vocabulary *v, const char *word, size_t n);
/* Numbers the words seen at least `min` times, at most `max` of them. */
dis_status dis__vocabulary_finish(dis__vocabulary *v, uint64_t min, size_t max);
/* A closed one from its words, as a model file keeps them. They are copied. DIS_EDATA: a word twice. */
dis_status dis__vocabulary_from_words(const dis_names *words, dis__vocabulary *v);
int32_t dis__vocabulary_find(const dis__vocabulary *v, const char *word, size_t n);
/* How many numbers there are, DIS_UNKNOWN included. */
size_t dis__vocabulary_size(const dis__vocabulary *v);
void dis__vocabulary_free(dis__vocabulary *v);

#endif
