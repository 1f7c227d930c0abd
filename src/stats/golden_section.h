/* golden_section.h: the minimum of a function of one variable. */
#ifndef DIS_STATS_GOLDEN_SECTION_H
#define DIS_STATS_GOLDEN_SECTION_H

/* The minimum of a unimodal function between from and to; each step divides the interval by 1.618. */
double dis__golden_section(double (*function)(void *arg, double x), void *arg, double from, double to, int n_steps);

#endif
