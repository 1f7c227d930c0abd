/* class_order.h: class names in the usual order. */
#ifndef DIS_VOTES_TABLE_CLASS_ORDER_H
#define DIS_VOTES_TABLE_CLASS_ORDER_H
#include "dissent/names.h"
#include "votes/ids/intern.h"

/* The same names, integers by value when all are, else by bytes. */
dis_status dis__names_in_class_order(const dis_names *names, dis_names **out);

/* class_order.c: the order of classes: as declared, else integers by value, else bytes; `ordered`: any
 * numbers by value. place: (n) where each label goes.
 */
dis_status dis__classes_order(const dis__key *labels, size_t n, bool ordered, uint16_t *place);
dis_status dis__classes_are_similar(const dis_names *classes, bool *similar);

#endif
