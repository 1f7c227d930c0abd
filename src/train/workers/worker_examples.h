/* worker_examples.h: examples of (item, worker): what each worker says of each item, for models that know who is asked. */
#ifndef DIS_TRAIN_WORKER_EXAMPLES_H
#define DIS_TRAIN_WORKER_EXAMPLES_H
#include "dissent/train.h"
#include "train/objectives/targets.h"

typedef struct {
    dis_items *items; /* (n) an item once for each of its votes */
    int32_t *worker;  /* (n) of the model, -1: not one of its */
    uint32_t *first;  /* (n): the first row of the same item; its rows lie together */
    size_t n;
    size_t n_left_out; /* items without a vote */
} dis__worker_examples;

/* A row per vote on one of the items; targets have its label. workers: those of the model. `lenient`: items without
 * votes are left out, else they are an error. */
dis_status dis__worker_examples_init(dis_context *ctx, const dis_items *items, const dis_votes *votes,
                                     const dis_names *classes, const dis_names *workers, bool lenient,
                                     dis__worker_examples *pairs, dis__targets *targets);
void dis__worker_examples_free(dis__worker_examples *pairs);

#endif
