/* each_item.h: methods that look at one item at a time. */
#ifndef DIS_LABELS_METHODS_EACH_ITEM_H
#define DIS_LABELS_METHODS_EACH_ITEM_H
#include "labels/method.h"

/* Calls `item` for every item with p holding how often each class was chosen; it turns p (n_classes) into the soft
 * label. Items that nobody voted on get the uniform distribution and pinned ones their class, without a call. */
dis_status dis__fit_each_item(const dis__fit_args *args, dis_fit *fit,
                              void (*item)(const dis__fit_args *args, size_t i, double *p));

#endif
