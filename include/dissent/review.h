/* review.h: which items to label again, and which workers to look at.
 *
 * Everything follows from one model of the crowd: a confusion matrix for each worker, drawn towards that of the whole
 * crowd as far as their votes are few, and for each item how hard it is. From it come, for each item, the chance that
 * its label is right, how much one more vote of a typical worker would tell, and how surprising its
 * votes are given who cast them; for each worker the evidence that the votes were cast without looking at the items.
 * docs/review.md has the formulas and what following the ranking is worth.
 *
 *     dis_review *review;
 *     if (dis_review_run(NULL, votes, NULL, &review) == DIS_OK) {
 *         dis_review_view v = dis_review_look(review);
 *         char reason[DIS_REVIEW_REASON];
 *         dis_review_item_reason(review, votes, 0, reason, sizeof reason);
 *         printf("first: item %zu: %s\n", v.items[0].item, reason);
 *         dis_review_destroy(review);
 *     }
 *
 * Results do not depend on the order of rows, on names or on the number of threads; rows that are equal to ten digits
 * stand in order of first appearance. A review keeps no pointer into the votes. Threads: any number may look at one. */
#ifndef DIS_REVIEW_H
#define DIS_REVIEW_H
#include "dissent/votes.h"

typedef struct dis_review dis_review;

enum { DIS_REVIEW_REASON = 512 }; /* bytes that every reason fits into; long names are cut */

typedef enum {
    DIS_REVIEW_BY_GAIN,     /* where further votes of the same crowd help most */
    DIS_REVIEW_BY_DOUBT,    /* where the label is most likely wrong: for somebody who knows the answer */
    DIS_REVIEW_BY_SURPRISE, /* where votes are least like those workers: the item itself may be at fault */
} dis_review_order;

typedef struct {
    size_t size;         /* of this struct */
    const char *method;  /* first labels come from this label method; NULL: see docs/review.md */
    uint64_t seed;       /* for methods that use chance */
    const int32_t *gold; /* (n_items) class of items whose truth is known, -1 elsewhere; NULL: none */
    uint64_t budget;     /* votes that can be bought: they are spread over the items */
    dis_review_order by; /* order of the items */
} dis_review_options;
DIS_API dis_review_options dis_review_options_default(void);

typedef struct {
    size_t item;
    size_t label; /* the most probable class */
    size_t other; /* the most chosen class besides; `label` itself when nobody chose another */
    double votes; /* how many there are, and how many of them for these two classes */
    double for_label, for_other;
    double right;    /* chance that `label` is right */
    double gain;     /* expected fall of the entropy of the truth by one more vote of a typical worker, nats */
    double surprise; /* how many standard deviations the votes are more surprising than those workers' votes are; 0 with
                        fewer than two votes */
    double hard;     /* chance that the item is harder than most */
    uint32_t buy;    /* votes of the budget that go here */
    bool known;      /* gold: nothing to relabel */
} dis_review_item;

/* What makes a worker doubtful. */
typedef enum {
    DIS_REVIEW_FINE,     /* votes like the others, as far as can be told */
    DIS_REVIEW_CONSTANT, /* chooses `said` whatever the item */
    DIS_REVIEW_RANDOM,   /* votes do not depend on the item */
    DIS_REVIEW_CONFUSES, /* says `said` where the truth is `truth` */
} dis_review_cause;

typedef struct {
    size_t worker;
    uint64_t votes;
    double quality;   /* share of right votes, judged by everybody else's votes on the same items */
    double low, high; /* 95 % interval of that share, drawn towards `peers` by four votes */
    double peers;     /* what a typical worker would reach on the same items */
    double evidence;  /* log10 of how much better "without looking" explains the votes than "like the others" */
    dis_review_cause cause;
    size_t said, truth;     /* classes of the cause */
    double share, expected; /* how often `said` was chosen (of `of` votes), and how often a typical worker would */
    double of;
} dis_review_worker;

typedef struct {
    const char *method;               /* as given, or as chosen */
    size_t n_items, n_workers;        /* n_workers is 0 where it is not known who voted */
    const dis_review_item *items;     /* (n_items), ranked; known ones last */
    const dis_review_worker *workers; /* (n_workers), ranked */
    double right;                     /* expected share of right labels now */
    double right_after;               /* the same once the budget is spent as proposed */
    uint64_t spent;                   /* votes of the budget that have somewhere to go */
    double typical;                   /* chance that a typical worker's vote is right */
} dis_review_view;

/* DIS_EUSAGE: unknown method or option. DIS_EDATA: the method needs workers and there are none. DIS_ELIMIT.
 * DIS_ECANCELLED. The caller destroys the review. */
DIS_API dis_status dis_review_run(dis_context *ctx, const dis_votes *votes, const dis_review_options *options,
                                  dis_review **out);
DIS_API void dis_review_destroy(dis_review *review);
/* Valid as long as the review. */
DIS_API dis_review_view dis_review_look(const dis_review *review);

/* In plain words why row r of the items (of the workers) stands where it does; `votes` are those reviewed. Returns
 * `out`. Class names are part of the text: escape it where that matters. */
DIS_API const char *dis_review_item_reason(const dis_review *review, const dis_votes *votes, size_t r, char *out,
                                           size_t size);
DIS_API const char *dis_review_worker_reason(const dis_review *review, const dis_votes *votes, size_t r, char *out,
                                             size_t size);

#endif
