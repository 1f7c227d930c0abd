/* spans.h: the parts of the scale spans: reading and cutting (spans_read.c), labels (spans_labels.c), agreement
 * (spans_agreement.c); spans.c says what is computed. */
#ifndef DIS_SCALED_SPANS_H
#define DIS_SCALED_SPANS_H
#include "scaled/scaled_internal.h"
#include "dissent/recipe.h"

enum { DIS_SPAN_CLASSES = 60, DIS_NO_SPAN = 0 /* the class O */ };

typedef struct {
    uint32_t doc, worker, label; /* label 0: the task was annotated */
    uint64_t start, end;
    size_t row; /* in the order of reading */
} dis__span;

typedef struct {
    const dis__scaled_args *args;
    dis_scaled *out;
    const dis_names *docs, *classes; /* classes[0] is O */
    size_t n_docs, n_classes;        /* with O */
    dis__span *s;                    /* (n) by task, worker, row */
    size_t n;
    size_t *doc_start; /* (n_docs + 1) */
    /* pieces of tasks */
    size_t *piece_start; /* (n_docs + 1) */
    uint64_t *from, *to; /* (n_pieces) */
    uint32_t *piece_doc; /* (n_pieces) */
    size_t n_pieces;
    /* votes: a piece and a worker of its task */
    size_t *vote_start; /* (n_pieces + 1) */
    uint32_t *worker;
    uint16_t *label;
    size_t n_votes, n_overlaps;
} dis__spans;

/* The end of the spans of the worker that begin at i. */
size_t dis__spans_worker_end(const dis__spans *x, size_t i);

static inline double dis__spans_piece_length(const dis__spans *x, size_t piece)
{
    return (double)(x->to[piece] - x->from[piece]);
}

dis_status dis__spans_read(dis__spans *x);                                     /* spans, by task, worker and row */
dis_status dis__spans_split(dis__spans *x);                                    /* pieces, and votes on them */
dis_status dis__spans_add_labels(dis__spans *x, const dis_label_plan *choice); /* tables labels and pieces */
dis_status dis__spans_add_measures(dis__spans *x);                             /* measures, tables items and workers */

#endif
