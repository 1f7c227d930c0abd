/* gold_table.h: the inside of gold labels, for those who match them with items. */
#ifndef DIS_METRICS_GOLD_TABLE_H
#define DIS_METRICS_GOLD_TABLE_H
#include "dissent/align.h"

struct dis_gold {
    char *path;
    size_t n;
    int32_t *label;
    uint64_t *row; /* (n) which row of the file, header apart, from 1 */
    dis_names *tasks, *classes;
};

#endif
