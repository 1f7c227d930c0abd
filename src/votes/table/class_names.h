/* class_names.h: the order of class names, and labels without regard to case and surrounding spaces. */
#ifndef DIS_VOTES_TABLE_CLASS_NAMES_H
#define DIS_VOTES_TABLE_CLASS_NAMES_H
#include "dissent/names.h"
#include "votes/ids/intern.h"

/* The same names, integers by value when all are, else by bytes. */
dis_status dis__names_in_class_order(const dis_names *names, dis_names **out);

/* The order of classes: as declared, else integers by value, else bytes; `ordered`: any
 * numbers by value. position: (n) where each label goes.
 */
dis_status dis__classes_order(const dis__key *labels, size_t n, bool ordered, uint16_t *place);
dis_status dis__classes_are_similar(const dis_names *classes, bool *similar);

/* The label in lower case, without the spaces around it, or either, into `out` (n); returns how many bytes it has,
 * which are never more. Upper case of Latin, Greek and Cyrillic letters is known. */
size_t dis__label_fold(const char *text, size_t n, bool fold_case, bool trim, char *out);

#endif
