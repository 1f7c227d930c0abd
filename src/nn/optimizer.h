/* optimizer.h: how parameters are updated, and how the learning rate changes from step to step. */
#ifndef DIS_NN_OPTIMIZER_H
#define DIS_NN_OPTIMIZER_H
#include "nn/ops.h"

typedef struct {
    size_t size;
    dis__optimizer_kind kind;
    double momentum; /* SGD */
    bool nesterov;
    double beta1, beta2, epsilon; /* Adam, AdamW */
    double weight_decay;
    bool decay_all; /* also for biases and the gains of normalisations; otherwise only for matrices and tables */
    double clip;    /* maximum norm of all gradients together; 0: unlimited */
} dis__optimizer_options;
dis__optimizer_options dis__optimizer_options_default(void); /* Adam as PyTorch has it */

typedef enum { DIS_SCHEDULE_CONSTANT, DIS_SCHEDULE_STEP, DIS_SCHEDULE_LINEAR, DIS_SCHEDULE_COSINE } dis__schedule_kind;

#define DIS_SCHEDULE_DROPS 8

typedef struct {
    size_t size;
    dis__schedule_kind kind;
    double rate;
    uint64_t warm_up;                  /* steps over which the rate rises from 0 (linear, cosine) */
    uint64_t steps;                    /* in all: where linear and cosine end at 0 */
    uint64_t drop[DIS_SCHEDULE_DROPS]; /* steps at which the rate is multiplied by `factor` (step); 0: none */
    double factor;
} dis__schedule;
dis__schedule dis__schedule_default(void); /* constant, 1e-3 */

/* The rate of step 0, 1, ... */
double dis__schedule_rate(const dis__schedule *schedule, uint64_t step);

#endif
