/* studio_controls.h: the controls of a Label Studio project, by what its export says of them. A prediction is shown only
 * if it has the names of a control (from_name) and of what it is about (to_name), and the type of the control. */
#ifndef DIS_TABLES_STUDIO_CONTROLS_H
#define DIS_TABLES_STUDIO_CONTROLS_H
#include "core/error.h"
#include "dissent/context.h"

enum { DIS_STUDIO_NAME = 128 };

typedef struct {
    char control[DIS_STUDIO_NAME], object[DIS_STUDIO_NAME], type[DIS_STUDIO_NAME];
} dis__studio_control;

/* The control `name` of the export at `path`, NULL: the only one of type choices. Looks at the first thousand tasks;
 * *out is untouched where these have no annotations and the name is given. DIS_EUSAGE: there is no such control, none, or several; the message lists those that are there. */
dis_status dis__studio_find_control(dis_context *ctx, const char *path, const char *name, dis__studio_control *out);

#endif
