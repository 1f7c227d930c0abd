/* name_index.h: hash index of a list of names.
 *
 *     dis__name_index index;
 *     size_t twice;
 *     DIS_TRY(dis__name_index_build(names, &index, &twice));
 *     size_t i = dis__name_index_find(&index, text, n);          // SIZE_MAX: absent
 *     dis__name_index_free(&index);
 *
 * The hash is keyed with random bits, so that names cannot be chosen to collide; results do not depend on them. */
#ifndef DIS_CORE_NAMES_NAME_INDEX_H
#define DIS_CORE_NAMES_NAME_INDEX_H
#include "dissent/names.h"
#include "core/error.h"
#include "tool/arrays.h"

typedef struct {
    const dis_names *names; /* must outlive the index */
    uint64_t key[2];
    uint64_t *slot; /* (mask + 1): 24 bits of hash above a 40-bit index + 1; 0: free */
    size_t mask;
} dis__name_index;

/* *twice: the lowest index of a repeated name, SIZE_MAX if all names differ. Lookups return the first of equal names.
 * DIS_ELIMIT: nothing to free. */
dis_status dis__name_index_build(const dis_names *names, dis__name_index *index, size_t *twice);
size_t dis__name_index_find(const dis__name_index *index, const char *text, size_t n);
/* row[i]: index of name i of `names`, SIZE_MAX: absent. Returns the number of names found. */
size_t dis__name_index_match(const dis__name_index *index, const dis_names *names, size_t *row);
/* The same for a list that is used once: row[i] is the index of name i of `to` in `from`. *found: their number; may be
 * NULL. */
dis_status dis__names_match(const dis_names *from, const dis_names *to, size_t *row, size_t *found);
/* *which: the first name of `from` that `to` lacks; SIZE_MAX: none. */
dis_status dis__names_find_missing(const dis_names *from, const dis_names *to, size_t *which);
/* *twice: as in dis__name_index_build(). */
dis_status dis__names_find_duplicate(const dis_names *names, size_t *twice);
void dis__name_index_free(dis__name_index *index);

/* Random bits for a key; without a source of randomness, bits that are hard to predict. `somewhere`: any address of the
 * caller. */
void dis__hash_key_draw(uint64_t key[2], const void *somewhere);
/* SipHash-1-3 (Aumasson and Bernstein 2012). */
uint64_t dis__siphash(const uint64_t key[2], const void *bytes, size_t n);

#endif
