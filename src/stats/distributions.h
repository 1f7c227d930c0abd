/* distributions.h: tail probabilities of the distributions used in tests, and corrections for multiple tests. */
#ifndef DIS_STATS_DISTRIBUTIONS_H
#define DIS_STATS_DISTRIBUTIONS_H
#include "core/error.h"

/* P(X > x) of chi-square with `df` degrees of freedom; x and df above 0, else 1. */
double dis__chi_square_tail(double x, double df);
/* P(T > t) of Student's t with `df` degrees of freedom. */
double dis__student_tail(double t, double df);
/* The t with P(T > t) = tail of Student's t; tail within (0, 1/2]. */
double dis__student_critical(double tail, double df);
/* The x with P(X <= x) = p of the standard normal distribution; p within (0, 1). */
double dis__normal_quantile(double p);

/* Wilson's (1927) bound of a share among n observations, n above 0: the lower one for side -1, the upper one for 1.
 * quantile: of the standard normal distribution, such as 1.96. */
double dis__wilson_bound(double share, double n, double quantile, int side);

/* p-values (n) of a family of tests, corrected for the false discovery rate: the smallest rate at which each test would
 * be rejected (Benjamini and Hochberg 1995; with `any_dependence` Benjamini and Yekutieli 2001). NaN stays NaN and is
 * not counted. q may be p. DIS_ELIMIT. */
dis_status dis__false_discovery(const double *p, size_t n, bool any_dependence, double *q);
/* The same for the probability of any false positive (Holm 1979). */
dis_status dis__holm_correction(const double *p, size_t n, double *q);

/* Two rows of counts over n classes: whether they come from one distribution, given their sums (Fisher's exact test,
 * for more than two classes Freeman and Halton 1951). Exact up to a million tables, otherwise Pearson's chi-square. 1
 * if a row is empty. DIS_ELIMIT. */
dis_status dis__fisher_exact_test(const uint32_t *a, const uint32_t *b, size_t n, double *p);

#endif
