/* agreement_jackknife.h: the coefficients of patterns and of classes without one annotator, and without one vote.
 *
 * A vote that is left out changes the totals of its item; the changes of all votes of an annotator, added up, give the
 * coefficients without that annotator. The variances are those of the jackknife; values are numbered as
 * agreement_intervals.c numbers them: the coefficients, then DIS_CLASS_MEASURES of each class. */
#ifndef DIS_AGREEMENT_AGREEMENT_JACKKNIFE_H
#define DIS_AGREEMENT_AGREEMENT_JACKKNIFE_H
#include "agreement/agreement_internal.h"

/* The coefficients of all votes, and their inputs. */
typedef struct {
    const dis__vote_patterns *patterns;
    const dis__coefficients *coefficients;
    size_t n_classes, n_values, n_distances;
    bool singles; /* items with one vote count in the class shares */
    dis__agreement_totals totals;
    dis__class_sums *classes; /* (n_classes) */
    double *rank;             /* (n_classes) */
    double *value;            /* (n_values) NaN: undefined, or set by convention */
} dis__agreement_base;
dis_status dis__agreement_base_create(const dis__vote_patterns *patterns, const dis__coefficients *coefficients,
                                      size_t n_classes, size_t n_values, bool singles, dis__agreement_base *out);
void dis__agreement_base_destroy(dis__agreement_base *base);
/* The values from totals and class sums; NaN if undefined or set by convention. */
void dis__agreement_base_compute_values(const dis__agreement_base *base, const dis__agreement_totals *totals,
                                        const dis__class_sums *classes, double *values);

/* The contribution of one item to the totals, and to the sums of each of its n classes. */
typedef struct {
    dis__agreement_totals totals;
    dis__class_sums *classes; /* (n) */
} dis__item_totals;
/* count: (n) votes for each class of the item, r in all; apart: sum_kl c_k c_l d_kl for each distance. */
void dis__item_totals_compute(const dis__agreement_base *base, const uint32_t *count, size_t n, uint64_t r,
                              const double apart[DIS_DISTANCES], dis__item_totals *out);
/* `apart` of an item, and for each of its classes `near` (n, DIS_DISTANCES): sum_l c_l d_kl. */
void dis__item_compute_distances(const dis__agreement_base *base, const dis__tally *tally, size_t n, double *near,
                                 double apart[DIS_DISTANCES]);

/* Jackknife variances (n_values): over annotators, and over votes. */
typedef struct {
    double *annotators, *votes;
    double effective; /* effective number of annotators: unequal weights reduce it */
    size_t n;         /* annotators compared */
} dis__agreement_jackknife;
/* Collective: all ranks must call it. */
dis_status dis__agreement_jackknife_annotators(dis_context *ctx, const dis__agreement_base *base,
                                               const dis_votes_view *votes, dis__agreement_jackknife *out);
dis_status dis__agreement_jackknife_votes(dis_context *ctx, const dis__agreement_base *base,
                                          dis__agreement_jackknife *out);
void dis__agreement_jackknife_destroy(dis__agreement_jackknife *out);

#endif
