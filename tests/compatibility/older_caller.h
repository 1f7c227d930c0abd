/* older_caller.h: an evaluation by a caller that was compiled against a shorter struct of options. */
#ifndef DIS_COMPATIBILITY_OLDER_CALLER_H
#define DIS_COMPATIBILITY_OLDER_CALLER_H
#include "dissent/context.h"

dis_status evaluate_as_older_caller(const void *input, uint64_t seed, uint64_t resamples, void **out);

#endif
