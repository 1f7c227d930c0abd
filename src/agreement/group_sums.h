/* group_sums.h: agreement within and between groups, for any assignment of workers to groups and any weights of items.
 *
 *     dis__group_sums s;
 *     DIS_TRY(dis__group_sums_create(&votes, rank, n_groups, &s));
 *     dis__group_sums_compute(&s, group, NULL);           // all items once
 *     dis__group_sums_compute_values(&s, values);                  // n_values of them, NaN where one is not defined
 *     dis__group_sums_destroy(&s); */
#ifndef DIS_AGREEMENT_GROUP_SUMS_H
#define DIS_AGREEMENT_GROUP_SUMS_H
#include "dissent/groups.h"
#include "core/error.h"

/* Votes of one side, over the items that count. */
typedef struct {
    double n, sum, square; /* of ranks, for ordered classes */
    double *margin;        /* (n_classes) votes per class, for others */
} dis__group_side;

/* Two sides that are compared; within a group both are that group. */
typedef struct {
    dis__group_side x, y;
    double weight, apart;    /* sum of weights, sum of weights times disagreement */
    double items, agreement; /* sum of shares of agreeing pairs */
} dis__group_relation;

/* Values of a group, then those of a pair. */
enum { DIS_GROUP_PERCENT, DIS_GROUP_WITHIN, DIS_GROUP_ACROSS, DIS_GROUP_INDEX, DIS_GROUP_VALUES };
enum { DIS_PAIR_PERCENT, DIS_PAIR_ACROSS, DIS_PAIR_DIFFERENCE, DIS_PAIR_VALUES };

typedef struct {
    const dis_votes_view *votes;
    const double *rank; /* (n_classes) of ordered classes; NULL: distances are 0 or 1 */
    size_t n_groups, n_pairs, n_values;
    dis__group_relation *within, *others, *pair; /* (n_groups), (n_groups), (n_pairs) */
    double *margins;
    double *count;   /* (n_groups + 1, n_classes) of the current item; the last row: all groups */
    uint32_t *class; /* (n_classes) classes with votes on it */
    bool *seen;      /* (n_classes) */
} dis__group_sums;

/* The index of the first value of a pair, of its group 0, and of the mean of within - across. */
size_t dis__group_pair_index(size_t n_groups, size_t a, size_t b); /* a < b: the index of the pair */
size_t dis__group_pair_value_index(const dis__group_sums *s, size_t pair);
size_t dis__group_difference_value_index(const dis__group_sums *s);

dis_status dis__group_sums_create(const dis_votes_view *votes, const double *rank, size_t n_groups, dis__group_sums *s);
void dis__group_sums_destroy(dis__group_sums *s);
/* Resets the sums and adds all items. group: (n_workers), -1: none. times: (n_items) the weight of each item; NULL:
 * 1. */
void dis__group_sums_compute(dis__group_sums *s, const int32_t *group, const uint8_t *times);
/* Adds item i `times` times; a negative number subtracts it. */
void dis__group_sums_add_item(dis__group_sums *s, size_t i, const int32_t *group, double times);
void dis__group_sums_copy(const dis__group_sums *from, dis__group_sums *to);
void dis__group_sums_compute_values(const dis__group_sums *s, double *values);

/* group_jackknife.c: variances of the values (n_values each). */
typedef struct {
    double *annotators, *df; /* jackknife variances over the annotators of each group, summed; degrees of freedom */
    double *votes;           /* of a jackknife over votes */
} dis__group_jackknife;
/* sums: (threads); their contents are overwritten. value: of all votes. */
dis_status dis__group_jackknife_run(dis_context *ctx, dis__group_sums *sums, const int32_t *group, const double *value,
                                    dis__group_jackknife *out);
void dis__group_jackknife_destroy(dis__group_jackknife *out);

/* group_divided_items.c: items that divide pairs of groups, sorted; the caller frees it with dis__free(). */
dis_status dis__group_find_divided_items(dis_context *ctx, const dis_votes_view *votes, const int32_t *group,
                                         size_t n_groups, size_t min_side, dis_group_item **out, size_t *n);

#endif
