/* methods.h: the table of all label methods. */
#ifndef DIS_LABELS_METHODS_H
#define DIS_LABELS_METHODS_H
#include "labels/method.h"

const dis__method *dis__method_find(const char *name, size_t length);

#endif
