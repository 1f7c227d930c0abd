/* project_controls.h: what the export of an annotation project says about its questions. Labels that go back must name the
 * question: a Label Studio prediction has the name of a control (from_name), of the object it is about (to_name) and the
 * control's type; an Argilla suggestion has the name of the question. */
#ifndef DIS_TABLES_LABELS_PROJECT_CONTROLS_H
#define DIS_TABLES_LABELS_PROJECT_CONTROLS_H
#include "core/error.h"
#include "dissent/context.h"

enum { DIS_CONTROL_NAME = 128 };

typedef struct {
    char control[DIS_CONTROL_NAME];
    char object[DIS_CONTROL_NAME]; /* Label Studio; "" if unknown */
    char type[DIS_CONTROL_NAME];   /* Label Studio: its type; Argilla: "text", "number" or "list", by the values */
} dis__project_control;

typedef struct dis__project_reader dis__project_reader; /* of one tool */
extern const dis__project_reader dis__studio_controls, dis__argilla_questions;

/* Finds the control `name` in the export at `path`. NULL: the only one of type choices (Label Studio), the only question
 * (Argilla). Reads the first thousand records; *out is untouched if these have no answers and `name` is given.
 * DIS_EUSAGE: no such control, none at all, or several; the message lists those of the export. */
dis_status dis__project_find_control(dis_context *ctx, const char *path, const dis__project_reader *reader,
                                     const char *name, dis__project_control *out);

#endif
