/* groups.h: agreement within and between groups of annotators, and errors of predictions per group.
 *
 *     dis_worker_groups *groups = NULL;   // dissent/worker_table.h makes them
 *     dis_group_agreement *found;
 *     if (dis_group_agreement_run(ctx, votes, groups, NULL, &found) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_group_agreement_view v = dis_group_agreement_get_view(found);
 *     printf("%.3f within, %.3f with the others\n", v.groups[0].within.value, v.groups[0].across.value);
 *     dis_group_agreement_destroy(found);
 *
 * Within: Krippendorff's alpha of the group's own votes. Across: the same of pairs of votes, one of each group (xRR,
 * Wong et al. 2021). Their ratio is the group association index of Prabhakaran et al. 2024. p-values come from random
 * permutations of the groups over the workers, and q-values correct them for the number of tests
 * (docs/guides/groups.md). Results do not depend on the number of threads.
 * Threads: a result may be read by any number of threads at once. */
#ifndef DIS_GROUPS_H
#define DIS_GROUPS_H
#include "dissent/metric.h"
#include "dissent/worker_table.h"

typedef struct {
    size_t size;         /* of this struct */
    bool ordinal;        /* the order of the classes means something: distances go by their ranks among all votes */
    bool items;          /* also which items divide which groups */
    size_t resamples;    /* of the items, for 95 % intervals; 0: none */
    size_t permutations; /* of who is in which group, for p-values; 0: none */
    size_t min_side;     /* votes that each of two groups must have on an item to be compared there */
    uint64_t seed;
    dis_interval_scope interval_scope; /* what intervals hold for */
} dis_group_agreement_options;
DIS_OPTIONS_API(dis_group_agreement_options);

/* p and q are NaN where there is no test. */
typedef struct {
    uint64_t workers, votes;
    dis_metric percent;           /* share of agreeing pairs of votes within the group, mean over its items */
    dis_metric within;            /* alpha of the group's votes */
    dis_metric across;            /* of its votes with those of all other groups */
    dis_metric association_index; /* within / across: above 1, the group agrees more with itself than with the others */
    double p_within, p_across, p_association_index;
    double q_within, q_across, q_association_index;
} dis_group_row;

typedef struct {
    uint32_t a, b;      /* groups */
    dis_metric percent; /* share of agreeing pairs of votes, one of each */
    dis_metric across;
    double p, q;                       /* of across */
    dis_metric difference;             /* within of a less within of b */
    double p_difference, q_difference; /* of this */
} dis_group_pair;

typedef struct {
    size_t item;
    uint32_t a, b;                               /* groups */
    uint32_t votes_a, votes_b;                   /* of theirs on it */
    uint32_t majority_class_a, majority_class_b; /* the class with most votes of each, the first one on a tie */
    double distance;                             /* total variation between their votes, 0 to 1 */
    double p, q;                                 /* Fisher's exact test */
} dis_group_item;

typedef struct {
    size_t n_groups, n_pairs, n_items;
    const dis_group_row *groups;
    const dis_group_pair *pairs; /* a < b */
    /* rows of items and pairs of groups, the most divided first; NULL unless asked for */
    const dis_group_item *items;
    dis_metric separation;             /* mean over groups, by votes, of within - across: 0 when groups do not matter */
    double p_separation;               /* one-sided */
    dis_interval_scope interval_scope; /* what intervals hold for */
} dis_group_agreement_view;

typedef struct dis_group_agreement dis_group_agreement;

/* groups: of these votes. `options` NULL: the defaults. DIS_EUSAGE, DIS_ELIMIT, DIS_ECANCELLED; DIS_EDATA: the votes
 * name no workers. */
DIS_API dis_status dis_group_agreement_run(dis_context *ctx, const dis_votes *votes, const dis_worker_groups *groups,
                                           const dis_group_agreement_options *options, dis_group_agreement **out);
DIS_API void dis_group_agreement_destroy(dis_group_agreement *found);
DIS_VIEW_API(dis_group_agreement);

/* ---- predictions by group ---- */

/* Every vote is compared with the prediction for its item: whether it is the predicted class, and -log of its
 * probability (floored at 1e-12). Neither depends on how many votes a group has on an item, as distances between
 * distributions do. Votes on items, or for classes, that q does not have are left out and counted. */
typedef struct {
    size_t n_items, n_classes;
    const double *q; /* (n_items, n_classes) */
    const dis_names *tasks, *classes;
} dis_group_evaluation_input;

typedef struct {
    uint64_t workers, votes, items;
    dis_metric log_loss;        /* mean over the group's votes */
    dis_metric agreement;       /* share of them that are the predicted class */
    dis_metric excess_log_loss; /* log_loss minus that of all other groups: above 0, predictions fit this group less */
    double p, q;                /* p- and q-value by permutations of the groups over the workers; NaN: no test */
} dis_group_evaluation_row;

typedef struct {
    size_t n_groups;
    const dis_group_evaluation_row *groups;
    uint64_t n_votes_excluded;
    dis_interval_scope interval_scope; /* what intervals hold for */
} dis_group_evaluation_view;

typedef struct dis_group_evaluation dis_group_evaluation;

/* options: `ordinal`, `items` and `min_side` mean nothing here. As dis_group_agreement_run; DIS_EDATA: no vote is on an
 * item of q. */
DIS_API dis_status dis_group_evaluation_run(dis_context *ctx, const dis_votes *votes, const dis_worker_groups *groups,
                                            const dis_group_evaluation_input *input,
                                            const dis_group_agreement_options *options, dis_group_evaluation **out);
DIS_API void dis_group_evaluation_destroy(dis_group_evaluation *found);
DIS_VIEW_API(dis_group_evaluation);

#endif
