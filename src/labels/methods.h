/* methods.h: the table of all label methods. */
#ifndef DIS_LABELS_METHODS_H
#define DIS_LABELS_METHODS_H
#include "labels/method.h"

/* The row that NAME[:key=value,...] asks for; DIS_EUSAGE when there is none. */
dis_status dis__method_find(const char *spec, const dis__method **out);

#endif
