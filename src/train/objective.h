/* objective.h: what a model is trained towards, from the inside. */
#ifndef DIS_TRAIN_OBJECTIVE_H
#define DIS_TRAIN_OBJECTIVE_H
#include "dissent/train.h"
#include "nn/ops.h"

typedef enum { DIS_MAIN_NONE, DIS_MAIN_GOLD, DIS_MAIN_SILVER } dis__main_labels;

typedef struct {
    dis_objective info;
    dis__main_labels main; /* a head of its own on one label per item */
    int soft;              /* dis__loss of the soft head, -1: there is none */
    int crowd;             /* dis__crowd of the crowd head, -1: there is none */
} dis__objective_row;

const dis__objective_row *dis__objective_row_find(const char *name);

#endif
