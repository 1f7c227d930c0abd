/* scales.h: a scale from the inside: the public row, and what a label cell may hold. */
#ifndef DIS_VOTES_SCALES_H
#define DIS_VOTES_SCALES_H
#include "dissent/names.h"
#include "dissent/scale.h"

typedef struct {
    dis_scale_row info;
    bool (*fits)(const char *text, size_t n); /* whether a label cell can be of the scale; NULL: any text can */
} dis__scale;

/* NULL: there is no such scale. */
const dis__scale *dis__scale_of(dis_scale scale);

/* DIS_EUSAGE: classes of an ordered scale whose order is not known. */
dis_status dis__scale_check_classes(const dis__scale *scale, const dis_names *classes, bool declared);

#endif
