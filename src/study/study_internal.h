/* study_internal.h: what the parts of a plan share. */
#ifndef DIS_STUDY_STUDY_INTERNAL_H
#define DIS_STUDY_STUDY_INTERNAL_H
#include "dissent/study.h"
#include "judge/judge_internal.h"

/* Fractions of the variance of one vote that are typical of a metric: mean and standard deviation over crowds of the part
 * of items, median of that of annotators. */
typedef struct {
    double items, items_sd, annotators;
} dis__study_prior;

typedef struct {
    const char *name;
    dis_study_metric metric;
    bool pairs;     /* a figure of pairs of votes on an item */
    bool one_sided; /* its interval is symmetric in log(1 - value) */
    size_t judges;  /* that it needs */
    dis__study_prior prior;
} dis__study_metric_row;

/* The votes of a pilot. */
typedef struct {
    dis__judge_votes people; /* answer: of the first judge */
    int32_t *other;          /* (n_items) answer of the second judge; NULL: none */
    int32_t *gold;           /* (n_items) -1: unknown; without known labels, the most frequent vote */
    bool has_gold;           /* they are known labels */
    uint32_t class_index;
} dis__study_pilot;

/* study_means.c: the mean over items of the mean over votes of a value of a vote. */
dis_status dis__study_compute_means(const dis__study_metric_row *metric, const dis__study_pilot *pilot,
                                    dis_study_plan *out);
/* Pulls fractions of variance towards the prior by their standard errors. total: variance of one vote; per_item and
 * per_annotator: the variance of the mean of an item, and of an annotator apart from his own part. */
typedef struct {
    double total, items, annotators; /* estimates; NaN: unknown */
    double per_item, per_annotator;
    double n_items, n_annotators; /* effective */
} dis__study_estimate;
void dis__study_shrink(const dis__study_prior *prior, const dis__study_estimate *e, dis_study_variances *out);
/* study_pairs.c: coefficients of agreement. */
dis_status dis__study_compute_pairs(const dis__study_metric_row *metric, const dis__study_pilot *pilot, uint64_t seed,
                                    dis_study_plan *out);
void dis__study_state_pairs(const dis__study_metric_row *metric, const dis_study_figures *f, uint64_t seed,
                            dis_study_plan *out);

/* study_labels.c: majority labels. */
enum { DIS_STUDY_MAX_VOTES = 500 }; /* per item */
typedef struct dis__study_urns dis__study_urns;
/* accuracy: of single votes; alike: intraclass correlation of their correctness. pilot NULL: n_classes that are equally
 * frequent. The pilot must outlive the result. */
dis_status dis__study_urns_create(const dis__study_pilot *pilot, double accuracy, double alike, size_t n_classes,
                                  uint64_t seed, dis__study_urns **out);
void dis__study_urns_destroy(dis__study_urns *urns);
/* Expected accuracy of the majority of n_votes, and the change of it when one vote of an item becomes correct. */
void dis__study_labels_predict(const dis__study_urns *urns, size_t n_votes, double *accuracy, double *pivot);

/* study_split.c: the split of a budget between people and a judge. */
void dis__study_compute_split(const dis_study_options *o, const dis__study_pilot *pilot, dis_study_plan *out);

#endif
