/* name_order.h: sorted names are distinct, and two sorted lists are matched by merging, without a hash table with its
 * random accesses. Two orders are supported, since "t10" may be sorted before or after "t2": by bytes, and by length
 * and then bytes. */
#ifndef DIS_CORE_NAMES_NAME_ORDER_H
#define DIS_CORE_NAMES_NAME_ORDER_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef enum { DIS_ORDER_BYTES, DIS_ORDER_LENGTH, DIS_NAME_ORDERS } dis__name_order;

/* Negative, 0 or positive if the first name is smaller, equal or greater. */
static inline int dis__name_compare(dis__name_order order, const char *a, size_t n_a, const char *b, size_t n_b)
{
    const int length = (n_a > n_b) - (n_a < n_b);
    if (order == DIS_ORDER_LENGTH && length) return length;
    const size_t n = n_a < n_b ? n_a : n_b;
    const int bytes = n ? memcmp(a, b, n) : 0;
    return bytes ? bytes : length;
}

/* Whether a name differs from the previous one; notes the orders in which it is smaller. */
static inline bool dis__name_differs(const char *before, size_t n_before, const char *name, size_t n,
                                     bool broken[DIS_NAME_ORDERS])
{
    const size_t common = n < n_before ? n : n_before;
    const int bytes = common ? memcmp(name, before, common) : 0;
    if (bytes == 0 && n == n_before) return false;
    broken[DIS_ORDER_BYTES] |= bytes < 0 || (bytes == 0 && n < n_before);
    broken[DIS_ORDER_LENGTH] |= n < n_before || (bytes < 0 && n == n_before);
    return true;
}

#endif
