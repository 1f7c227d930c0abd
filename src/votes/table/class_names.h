/* class_names.h: the order of class names, and labels compared without case and surrounding spaces. */
#ifndef DIS_VOTES_TABLE_CLASS_NAMES_H
#define DIS_VOTES_TABLE_CLASS_NAMES_H
#include "dissent/names.h"
#include "votes/ids/intern.h"

/* The same names, sorted: by value if all are integers, otherwise by bytes. */
dis_status dis__names_in_class_order(const dis_names *names, dis_names **out);

/* The order of classes: as declared; otherwise integers by value; otherwise bytes; `ordered`: all numbers by value.
 * position: (n) the index of each label. */
dis_status dis__classes_order(const dis__key *labels, size_t n, bool ordered, uint16_t *place);
dis_status dis__classes_are_similar(const dis_names *classes, bool *similar);

/* Writes the label in lower case, without surrounding spaces, or both, to `out` (n); returns its length, which is at
 * most n. Supports case of Latin, Greek and Cyrillic letters. */
size_t dis__label_fold(const char *text, size_t n, bool fold_case, bool trim, char *out);

#endif
