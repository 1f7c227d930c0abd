/* scale.h: kinds of labels: classes, ordered classes, sets of classes, numbers, comparisons, spans.
 *
 * A scale is declared, never guessed: `scale` of dis_votes_options. It defines the contents of a label cell, the order
 * of classes, the default label method, and the first agreement coefficient.
 *
 *     dis_votes_options o = dis_votes_options_default();
 *     o.scale = DIS_SCALE_ORDINAL;
 *     if (dis_votes_read(NULL, &path, 1, &o, &votes) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     puts(dis_scale_get(dis_votes_scale(votes))->method);   // "ordinal"
 *
 * docs/guides/scales.md describes each scale. */
#ifndef DIS_SCALE_H
#define DIS_SCALE_H
#include "dissent/status.h"

typedef enum {
    DIS_SCALE_NOMINAL,     /* classes without an order */
    DIS_SCALE_ORDINAL,     /* classes in an order */
    DIS_SCALE_MULTI_LABEL, /* any number of classes at once */
    DIS_SCALE_NUMERIC,     /* numbers */
    DIS_SCALE_PAIRWISE,    /* which of two things is better */
    DIS_SCALE_SPANS,       /* classes of spans of a text */
} dis_scale;

/* A row of the table of scales; static. The table grows. */
typedef struct {
    const char *name, *summary;
    const char *label;    /* what a label cell holds */
    const char *method;   /* label method when none is named; NULL: the default recipe */
    const char *headline; /* agreement that comes first, names separated by spaces; NULL: all in their order */
    const char *columns;  /* of a file of labels */
    bool ordered;         /* the order of the classes means something */
    bool has_own_labels;  /* labels are not soft labels: see dis_scaled_run (dissent/scaled.h) */
} dis_scale_row;

/* Row i, in the order of dis_scale; NULL past the end. */
DIS_API const dis_scale_row *dis_scale_get(size_t i);

#endif
