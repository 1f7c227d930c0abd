/* train_internal.h: training that begins with the optimizer's moments of the training before, and leaves its own. */
#ifndef DIS_TRAIN_TRAIN_INTERNAL_H
#define DIS_TRAIN_TRAIN_INTERNAL_H
#include "dissent/train.h"
#include "nn/net.h"

/* dis_model_train() with moments, which are zeroed for a first training and freed by the caller. */
dis_status dis__train_with_moments(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                                   const dis_model_train_options *options, dis__moments *moments, dis_model **out);

#endif
