/* review.h: which labels are probably wrong, which items to label again, and which annotators to check.
 *
 * The label of an item and its probability are those that `dissent labels` writes, or those that the caller passes: a
 * review has no labels of its own. A model of the crowd adds what labels alone cannot tell. For each item: how much one
 * more vote is expected to tell, and how surprising its votes are given who cast them. For each worker: the share of
 * correct votes with its interval, and the evidence that the votes ignore the items. Verdicts on workers come from here
 * alone. docs/reference/review-formulas.md has the formulas, docs/evidence/review.md their measured quality.
 *
 *     dis_review *review;
 *     if (dis_review_run(NULL, votes, NULL, &review) == DIS_OK) {
 *         dis_review_view v = dis_review_get_view(review);
 *         char reason[DIS_REVIEW_REASON_SIZE];
 *         dis_review_format_item_reason(review, votes, 0, reason, sizeof reason);
 *         printf("first: item %zu: %s\n", v.items[0].item, reason);
 *         dis_review_destroy(review);
 *     }
 *
 * Results do not depend on the order of rows, on names or on the number of threads; rows that are equal to ten digits
 * stand in order of first appearance. A review keeps no pointer into the votes. Threads: any number may look at one. */
#ifndef DIS_REVIEW_H
#define DIS_REVIEW_H
#include "dissent/agreement.h"
#include "dissent/recipe.h"
#include "dissent/worker_table.h"

typedef struct dis_review dis_review;

enum { DIS_REVIEW_REASON_SIZE = 512 }; /* bytes that every reason fits into; long names are cut */

typedef enum {
    DIS_REVIEW_BY_GAIN,        /* where further votes of the same crowd help most */
    DIS_REVIEW_BY_UNCERTAINTY, /* where the label is most likely wrong: smallest `p_correct` first */
    DIS_REVIEW_BY_SURPRISE,    /* where votes are least like those workers: the item itself may be at fault */
    DIS_REVIEW_BY_DEFAULT,     /* by uncertainty; by gain with a budget */
} dis_review_order;

typedef struct {
    size_t size;                /* of this struct */
    const dis_label_plan *plan; /* how labels are made (dis_label_plan_parse); NULL: the default recipe */
    uint64_t seed;              /* random seed */
    const int32_t *gold;        /* (n_items) class of items whose truth is known, -1 elsewhere; NULL: none */
    uint64_t budget;            /* votes that can be bought: they are spread over the items */
    dis_review_order order;     /* order of the items [DIS_REVIEW_BY_DEFAULT] */
    const int32_t *labels; /* (n_items) labels to be reviewed, a class each, -1: the most probable one; NULL: all the
                              most probable ones */
    double accept;         /* labels are accepted that are correct with at least this probability; 0: no such split */
    const double *p;       /* (n_items, n_classes) probabilities of the classes, rows sum to 1 or are NaN; NULL and rows
                              of NaN: made by `plan` */
    bool causes;           /* also why votes differ from the reading of most others (dis_review_vote) */
    const dis_worker_groups *groups; /* of annotators, for causes: groups may read an item differently; NULL: none */
    bool camps;                      /* also whether annotators fall into two camps (dis_review_camps) */
} dis_review_options;
DIS_OPTIONS_API(dis_review_options);

typedef struct {
    size_t item;
    size_t label;         /* the label under review: the one given, else `most_probable` */
    size_t most_probable; /* the most probable class; the first one on a tie */
    size_t second_class;  /* the second most chosen class; `label` if no other class was chosen */
    double votes;         /* how many there are, and how many of them for these two classes */
    double votes_for_label, votes_for_second;
    double p_correct; /* probability that `label` is correct; NaN if labels cannot be assessed (`beyond_chance`,
                        `n_compared`) */
    double gain;      /* expected fall of the entropy of the truth by one more vote of a typical worker, nats */
    double surprise; /* how many standard deviations the votes are more surprising than those workers' votes are; 0 with
                        fewer than two votes */
    double p_hard;   /* probability that the item is harder than most */
    uint32_t votes_to_buy; /* votes of the budget that go here */
    bool is_gold;          /* gold: nothing to relabel */
    bool accepted;         /* p_correct >= accept */
} dis_review_item;

/* The verdict on a worker. The first four are found by evidence; `doubtful` are constant, random and confuses. */
typedef enum {
    DIS_REVIEW_FINE,       /* votes like the others, as far as can be told */
    DIS_REVIEW_CONSTANT,   /* gives `said` for every item */
    DIS_REVIEW_RANDOM,     /* votes do not depend on the item */
    DIS_REVIEW_CONFUSES,   /* says `said` where the truth is `truth` */
    DIS_REVIEW_WEAK,       /* looks at the items, but is less accurate than the others on them: p_adjusted <= .05 */
    DIS_REVIEW_NO_VERDICT, /* no other votes on these items, or no agreement beyond chance */
} dis_review_verdict;
enum { DIS_REVIEW_VERDICTS = DIS_REVIEW_NO_VERDICT + 1 };
/* "fine", "constant", "random", "confuses", "weak", "unjudged". */
DIS_ENUM_API(dis_review_verdict);

typedef struct {
    size_t worker;
    uint64_t votes;
    uint64_t shared; /* those on items that another annotator voted on, or whose class is known: only these count */
    double accuracy; /* accuracy: probability of a correct vote on an item like these; NaN where `shared` is 0 or votes
                         agree no more than chance */
    double accuracy_low, accuracy_high; /* its 95 % interval; NaN likewise */
    double peer_accuracy; /* the same of the others on the same items; NaN likewise, and where there are no others */
    double evidence;      /* log10 of how much better "without looking" explains the votes than "like the others" */
    dis_review_verdict verdict;
    size_t chosen_class, true_class; /* classes of the cause */
    double chosen_share,
        expected_share; /* how often `chosen_class` was chosen (of `n_share_votes` votes), and how often a typical worker would */
    double n_share_votes;
    double difference;                      /* how often votes agree with the others on the item (or are correct, where
                                               the class is known), less the same of these others; NaN as `peer_accuracy` */
    double difference_low, difference_high; /* its 95 % interval */
    double p_adjusted;    /* p-value of `difference` < 0, adjusted for the false discovery rate over all annotators */
    uint64_t gold_votes;  /* votes on items whose class is known */
    double gold_accuracy; /* share of them that are correct; NaN without any */
    double gold_low, gold_high; /* its 95 % interval (Wilson) */
} dis_review_worker;

/* Where classes have an order (DIS_SCALE_ORDINAL), also the results of the method ordinal, in classes
 * (docs/guides/ordinal.md): */
typedef struct {
    double position, position_se; /* of the item on the line of classes, which are at 0, 1, 2, ... */
    double gain; /* expected information about the position from one more attentive vote, nats: `gain` of its row */
} dis_review_ordinal_item;

typedef struct {
    double bias, bias_low, bias_high;       /* above 0: votes too high; with its 95 % interval */
    double spread, spread_low, spread_high; /* standard deviation of votes around the item's position */
    double lapse_rate;                      /* share of votes that ignore the item */
    bool biased;                            /* by more than a quarter of a class: the whole interval */
} dis_review_ordinal_worker;

/* Why a vote is what it is. The rest, 1 - p_slip - p_reading - p_group, is the probability that an attentive annotator
 * chose the most common reading. */
typedef struct {
    size_t item, worker, label;
    double p_slip;    /* given without regard to the item */
    double p_reading; /* attentive, with another reading than the most common one */
    double p_group;   /* attentive, with the reading of the annotator's group, where groups differ */
} dis_review_vote;

/* Whether annotators fall into two camps that read items differently. The camps are found on one half of the items and
 * tested on the other, for several splits. */
typedef struct {
    bool has_two;        /* p <= .05, and both camps agree within themselves as two camps would */
    double p;            /* if all annotators read items in the same way, median of the splits; NaN: too few votes */
    size_t n[2];         /* annotators of each camp, the larger one first; 0: not found */
    const uint8_t *camp; /* (n_workers) 1 or 2; 0: fewer than ten votes */
    double agreement_within, agreement_across; /* share of equal votes among two annotators of the same camp and of
                                                   different camps, on the tested items; NaN as `p` */
} dis_review_camps;

typedef struct {
    const char *method;               /* source of the labels: a recipe, methods, or "given" */
    size_t n_items, n_workers;        /* n_workers is 0 for votes without workers */
    const dis_review_item *items;     /* (n_items), ranked; known ones last */
    const dis_review_worker *workers; /* (n_workers), ranked */
    double expected_accuracy;         /* expected share of correct labels: mean of `expected_accuracy`; NaN likewise */
    double expected_accuracy_after;   /* the same once the budget is spent as proposed */
    uint64_t budget_spent;            /* votes of the budget that have somewhere to go */
    double typical_accuracy;          /* expected share of correct votes among all that can be judged; NaN likewise */
    bool beyond_chance;               /* false: votes are noise (`chance`); labels and workers are then not assessed */
    double agreement;                 /* coefficient of `chance`: 0 chance, 1 full */
    double agreement_z;               /* by how many standard errors it is above 0 */
    size_t
        n_compared; /* items with votes of two workers or more, or known: without any, `expected_accuracy` says nothing */
    size_t n_unreliable, n_weak, n_without_verdict;   /* workers by verdict; of all with votes */
    size_t n_accepted;                                /* items, with `accept` */
    double expected_accuracy_accepted;                /* expected share of correct labels among them */
    const dis_review_ordinal_item *ordinal_items;     /* (n_items) by number of the item; NULL: classes have no order */
    const dis_review_ordinal_worker *ordinal_workers; /* (n_workers) by number of the worker; likewise */
    size_t n_biased;                                  /* workers */
    dis_review_order order;                           /* the order of `items` */
    dis_chance_test chance;                           /* whether votes agree more than chance */
    const dis_review_vote *votes; /* (n_votes) in the order of the votes; NULL: not requested, or no agreement beyond
                                     chance */
    size_t n_votes;
    const double *slip_rate;       /* (n_workers) share of votes that are slips; NULL as `votes` */
    const double *reading_p;       /* (n_items, n_classes) soft labels without slips; NULL as `votes` */
    const dis_review_camps *camps; /* NULL: not requested, or no agreement beyond chance */
} dis_review_view;

/* DIS_EUSAGE: unknown method or option. DIS_EDATA: the method needs workers and the votes have none, a class or
 * probability that cannot be one. DIS_ELIMIT. DIS_ECANCELLED. The caller destroys the review. */
DIS_API dis_status dis_review_run(dis_context *ctx, const dis_votes *votes, const dis_review_options *options,
                                  dis_review **out);
DIS_API void dis_review_destroy(dis_review *review);
/* Valid as long as the review. */
DIS_VIEW_API(dis_review);
/* The row of a worker by number, and of an item by number; NULL: votes have none such. */
DIS_API const dis_review_worker *dis_review_find_worker(const dis_review *review, size_t worker);
DIS_API const dis_review_item *dis_review_find_item(const dis_review *review, size_t item);

/* In plain words why row r of the items (of the workers) stands where it does; `votes` are those reviewed. Returns
 * `out`. Class names are part of the text: escape it where that matters. */
DIS_API const char *dis_review_format_item_reason(const dis_review *review, const dis_votes *votes, size_t r, char *out,
                                                  size_t size);
DIS_API const char *dis_review_format_worker_reason(const dis_review *review, const dis_votes *votes, size_t r,
                                                    char *out, size_t size);

#endif
