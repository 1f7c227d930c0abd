/* arrays.h: small functions of arrays and names that dissent's own programs share with the library. */
#ifndef DIS_TOOL_ARRAYS_H
#define DIS_TOOL_ARRAYS_H
#include "dissent/metric.h"
#include "dissent/names.h"

/* Index of the largest of n_classes values; the first one on a tie. */
size_t dis__argmax(const double *p, size_t n_classes);
/* Entropy in nats of one distribution. */
double dis__entropy(const double *p, size_t n_classes);
/* order (n): 0 .. n - 1, shuffled by the seed alone. */
void dis__shuffle(uint64_t seed, size_t n, size_t *order);
/* The name nearest to `word` among those that next(arg, i) returns until NULL, for "did you mean"; NULL: none is near. */
const char *dis__name_find_nearest(const char *word, const char *(*next)(const void *arg, size_t i), const void *arg);
/* *row: for each name of `to`, its index in `from`; SIZE_MAX: absent. *found: how many are not absent; may be NULL. The
 * caller frees *row with dis_free(). DIS_ELIMIT. */
dis_status dis__names_match_alloc(const dis_names *from, const dis_names *to, size_t **row, size_t *found);
/* A metric that could not be measured. `reason` must be static. */
dis_metric dis__metric_undefined(const char *reason);

#endif
