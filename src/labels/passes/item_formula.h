/* item_formula.h: methods that look at one item at a time. */
#ifndef DIS_LABELS_METHODS_EACH_ITEM_H
#define DIS_LABELS_METHODS_EACH_ITEM_H
#include "labels/method.h"

/* Makes the soft label of an item. `item` gets p with how often each class was chosen and turns it (n_classes) into the
 * label; it is not called for items that nobody voted on and for pinned ones. */
typedef struct {
    void (*item)(const dis__fit_args *args, const void *arg, size_t i, double *p);
    const void *arg;
    const double *unvoted; /* (n_classes) the label of items that nobody voted on; NULL: the uniform distribution */
} dis__item_formula;

dis_status dis__item_formula_fit(const dis__fit_args *args, dis_fit *fit, const dis__item_formula *rule);

#endif
