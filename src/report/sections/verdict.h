/* verdict.h: what the votes say about their labels in three sentences: whether the labels can be used, what is wrong,
 * and what to do.
 *
 * All figures are those of the review, of the chance test and of gold labels; nothing is estimated here. The rules are
 * in docs/guides/report.md, and docs/evidence/report-review.md measures whether the answers hold. */
#ifndef DIS_REPORT_VERDICT_H
#define DIS_REPORT_VERDICT_H
#include "report/report_internal.h"

/* Two classes that people choose on the same items. Votes of unreliable annotators are left out. */
typedef struct {
    size_t a, b;
    uint64_t items;     /* with votes for both */
    double times;       /* pairs of votes for the two, divided by the number expected from class frequencies */
    size_t example;     /* the item with the most votes for both */
    double example_sum; /* votes for the less chosen of the two on it */
} dis__class_pair;

enum { DIS__CLASS_PAIRS = 10 };

typedef struct {
    dis__class_pair pair[DIS__CLASS_PAIRS]; /* the most items first */
    size_t n;
    uint64_t n_disputed; /* items with votes for more than one class */
} dis__class_pairs;

/* section_verdict.c: of ordered classes, the probability that the label of an item is at most one class off, and its mean
 * over the items; on gold labels the share of them. NaN: classes without an order, or two of them. */
double dis__report_probability_near(const dis__report_job *job, size_t item);
double dis__report_share_near(const dis__report_job *job);

/* class_pairs.c */
dis_status dis__class_pairs_find(const dis__report_job *job, dis__class_pairs *pairs);
/* The pair that a guideline should explain; NULL: no pair stands out. */
const dis__class_pair *dis__class_pairs_first(const dis__report_job *job, const dis__class_pairs *pairs);
void dis__figure_class_pairs(dis__report_job *job, const dis__class_pairs *pairs);

/* figure_camps.c: whether annotators fall into two camps; "nnotators fall into ...", without the first letter; the
 * figures. */
bool dis__report_has_camps(const dis__report_job *job);
void dis__report_append_camps(dis__markup *m, const dis__report_job *job);
dis_status dis__figure_camps(dis__report_job *job);

/* figure_votes_to_discuss.c */
dis_status dis__figure_votes_to_discuss(dis__report_job *job);
/* Votes that are probably slips, other readings or views of groups, if the report was asked for causes. */
void dis__figure_vote_causes(dis__report_job *job);

/* section_verdict.c: fills the answer at the top of the page. */
void dis__report_add_verdict(dis__report_job *job, const dis__class_pairs *pairs);

#endif
