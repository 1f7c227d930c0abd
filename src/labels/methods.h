/* methods.h: the table of all label methods. */
#ifndef DIS_LABELS_METHODS_H
#define DIS_LABELS_METHODS_H
#include "labels/method.h"

/* The row named by NAME[:key=value,...]; DIS_EUSAGE: unknown method. */
dis_status dis__method_find(const char *spec, const dis__method **out);

#endif
