/* optimizer_spec.h: optimisers and schedules as users name them, NAME[:key=value,...]. */
#ifndef DIS_TRAIN_OPTIMIZER_SPEC_H
#define DIS_TRAIN_OPTIMIZER_SPEC_H
#include "dissent/option.h"
#include "nn/optimizer.h"

/* DIS_EUSAGE with the names and keys that there are. */
dis_status dis__optimizer_parse(const char *spec, dis__optimizer_options *out);
/* `per_epoch`: steps of an epoch, since people think of drops in epochs; `epochs` in all. */
dis_status dis__schedule_parse(const char *spec, double rate, size_t per_epoch, size_t epochs, dis__schedule *out);

#endif
