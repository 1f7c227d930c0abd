/* names.h: an immutable list of names: item ids, annotator ids, classes.
 *
 * Names are UTF-8, never contain a NUL byte and are stored with one at their end. Index i of a list stands for the
 * same thing wherever the list goes with a table. */
#ifndef DIS_NAMES_H
#define DIS_NAMES_H
#include "dissent/status.h"

typedef struct dis_names dis_names;

/* A list with copies of `n` texts. DIS_ELIMIT. The caller destroys it. */
DIS_API dis_status dis_names_create(const char *const *texts, size_t n, dis_names **out);
DIS_API void dis_names_destroy(dis_names *names);

DIS_API size_t dis_names_count(const dis_names *names);

/* Name i, valid as long as the list. `length` (may be NULL) gets its bytes without the NUL. */
DIS_API const char *dis_names_get(const dis_names *names, size_t i, size_t *length);

/* The index of a text, SIZE_MAX if it is missing. Compares every name: for short lists such as classes. */
DIS_API size_t dis_names_find(const dis_names *names, const char *text, size_t length);

#endif
