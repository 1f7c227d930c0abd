/* worker_net.h: the part of a network that knows who is asked, behind what a model makes of an item. */
#ifndef DIS_TRAIN_WORKER_NET_H
#define DIS_TRAIN_WORKER_NET_H
#include "train/model.h"

typedef struct dis__worker_net {
    int workers;   /* input of who is asked: one per row, two where rows are mixed */
    int vectors;   /* of these */
    int features;  /* input, DIS_NONE: there is none */
    int other;     /* input: the two rows that each is a mixture of, DIS_NONE: rows are not mixed */
    int share;     /* input: logarithms of their shares */
    int confusion; /* logits (rows, classes x classes), DIS_NONE: the worker is part of the trunk */
    /* One batch of those; also what targets are to be mixed by. */
    int32_t *id, *pair;       /* (units, 1 or 2), (units, 2) */
    float *logarithm, *known; /* (units, 2), (units, width of the features) */
    float *first;             /* (units): share of the row itself, else of pair[1] */
    bool mixed;               /* this batch is */
} dis__worker_net;

/* Adds to the network what the model's objective asks for; r->in->trunk becomes what heads start from. */
dis_status dis__worker_net_build(const dis_model *model, const dis__batch_limits *limits, dis__model_net *r);
void dis__worker_net_free(dis__worker_net *w);
/* Starts of parameters that are not random, after planning. */
dis_status dis__worker_net_init_weights(const dis_model *model, dis__net *net);
/* After training: the row of whoever is not known, where no vote was learned without saying whose it is. */
void dis__worker_net_set_unknown(dis_model *model);
/* Who is asked in this batch, and how its rows are mixed. */
dis_status dis__worker_net_set_batch(const dis_model *model, dis__model_net *r, const dis__encoded_items *encoded,
                                     const dis__unit_batch *batch);

/* Beta(alpha, alpha), a function of its arguments; attempt numbers that it uses stay below 2^24. */
double dis__random_beta(double alpha, uint64_t seed, uint64_t stream, uint64_t index);

#endif
