/* annotator_camps.h: whether annotators fall into two camps that read the items differently. */
#ifndef DIS_REVIEW_CAMPS_ANNOTATOR_CAMPS_H
#define DIS_REVIEW_CAMPS_ANNOTATOR_CAMPS_H
#include "dissent/review.h"
#include "labels/crowd/crowd_model.h"

/* m: fitted, of known annotators. camp (n_workers): zeroed; the result points to it. */
dis_status dis__review_find_camps(const dis__crowd_model *m, uint64_t seed, uint8_t *camp, dis_review_camps *out);

#endif
