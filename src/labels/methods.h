/* methods.h: the table of all label methods. */
#ifndef DIS_LABELS_METHODS_H
#define DIS_LABELS_METHODS_H
#include "labels/method.h"

/* The row that NAME[:key=value,...] asks for; DIS_EUSAGE when there is none. */
dis_status dis__method_find(const char *spec, const dis__method **out);

/* The names of those that other devices than the processor can run: "dawid-skene, mace". */
void dis__methods_describe_devices(char *text, size_t n);

/* Where one of n_views views is made: a method that knows the processor alone is made there beside others. */
static inline const char *dis__view_select_device(const dis__method *method, size_t n_views, const char *device)
{
    return n_views > 1 && !method->devices ? NULL : device;
}

#endif
