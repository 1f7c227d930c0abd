/* label_fold.h: labels without regard to case and surrounding spaces (`fold_case`, `trim`). */
#ifndef DIS_VOTES_TABLE_LABEL_FOLD_H
#define DIS_VOTES_TABLE_LABEL_FOLD_H
#include <stdbool.h>
#include <stddef.h>

/* The label in lower case, without the spaces around it, or either, into `out` (n); returns how many bytes it has, which
 * are never more. Upper case of Latin, Greek and Cyrillic letters is known. */
size_t dis__label_fold(const char *text, size_t n, bool fold_case, bool trim, char *out);

#endif
