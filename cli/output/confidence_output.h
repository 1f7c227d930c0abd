/* confidence_output.h: how many labels are confident and how many items should be labelled again. */
#ifndef DIS_CLI_CONFIDENCE_OUTPUT_H
#define DIS_CLI_CONFIDENCE_OUTPUT_H
#include "core/cli.h"

/* p: (n_items, n_classes), rows sum to 1. `uncertain`: what the summary calls items without a clear label. Returns their
 * number. */
size_t confidence_print(cli *c, const double *p, size_t n_items, size_t n_classes, const char *uncertain);

#endif
