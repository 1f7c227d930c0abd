/* class_order.h: class names in the usual order. */
#ifndef DIS_VOTES_TABLE_CLASS_ORDER_H
#define DIS_VOTES_TABLE_CLASS_ORDER_H
#include "dissent/names.h"

/* The same names, integers by value when all are, else by bytes. */
dis_status dis__names_in_class_order(const dis_names *names, dis_names **out);

#endif
