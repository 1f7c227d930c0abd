/* model_curves.h: the training curves of what dissent train has written, for a report. */
#ifndef DIS_CLI_MODEL_CURVES_H
#define DIS_CLI_MODEL_CURVES_H
#include "core/cli.h"

/* `folder`: a model, or seed-S folders of models, which are runs of one name. Returns an exit code, errors are reported
 * already. */
int model_curves_add(cli *c, dis_context *ctx, dis_report *report, const char *name, const char *folder);

#endif
