/* vocabulary.h: maps words to ids.
 *
 *     dis__vocabulary v = {0};
 *     DIS_TRY(dis__vocabulary_count(&v, word, n));        // for every word of the training texts
 *     DIS_TRY(dis__vocabulary_finish(&v, 1, 100000));      // seen at least once, at most 100000
 *     int32_t id = dis__vocabulary_find(&v, word, n);     // DIS_UNKNOWN if absent
 *     dis__vocabulary_free(&v);
 *
 * Ids are assigned by descending frequency, ties in byte order: they depend on the texts only. DIS_UNKNOWN is 0; known
 * words begin at 1. Threads: dis__vocabulary_find() may run concurrently; the other functions may not. */
#ifndef DIS_TEXT_VOCABULARY_H
#define DIS_TEXT_VOCABULARY_H
#include "core/names/name_index.h"
#include "core/names/names_internal.h"

enum { DIS_UNKNOWN = 0 };
#define DIS_MAX_WORDS 100000000u

typedef struct {
    dis_names *words; /* after finishing: word i has id i + 1 */
    dis__name_index index;
    /* while counting */
    dis__name_list seen;
    uint64_t *count; /* (seen.n) */
    uint64_t key[2];
    uint32_t *slot; /* (mask + 1): index in `seen` + 1; 0: free */
    size_t mask, count_room;
} dis__vocabulary;

dis_status dis__vocabulary_count(dis__vocabulary *v, const char *word, size_t n);
/* Assigns ids to the words seen at least `min` times, at most `max` of them. */
dis_status dis__vocabulary_finish(dis__vocabulary *v, uint64_t min, size_t max);
/* A finished vocabulary from its words, as stored in a model file. They are copied. DIS_EDATA: a repeated word. */
dis_status dis__vocabulary_from_words(const dis_names *words, dis__vocabulary *v);
int32_t dis__vocabulary_find(const dis__vocabulary *v, const char *word, size_t n);
/* Number of ids, DIS_UNKNOWN included. */
size_t dis__vocabulary_size(const dis__vocabulary *v);
void dis__vocabulary_free(dis__vocabulary *v);

#endif
