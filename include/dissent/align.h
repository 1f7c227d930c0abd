/* align.h: several tables of labels, and gold labels, matched by the names of items and classes.
 *
 * Whatever compares label files first brings them into one order: rows by task, columns by class.
 *
 *     dis_labels *model, *people;
 *     dis_gold *gold;
 *     if (dis_labels_read(NULL, "model.csv", NULL, &model) != DIS_OK) return 1;
 *     if (dis_labels_read(NULL, "people.csv", NULL, &people) != DIS_OK) return 1;
 *     if (dis_gold_read(NULL, "gold.csv", NULL, &gold) != DIS_OK) return 1;
 *     const dis_alignment_source sources[] = {{"model.csv", dis_labels_get_view(model)}, {"people.csv",
 *         dis_labels_get_view(people)}};
 *     dis_alignment_options o = dis_alignment_options_default();
 *     o.gold = gold;
 *     dis_alignment *aligned;
 *     if (dis_alignment_run(NULL, sources, 2, &o, &aligned) == DIS_OK) {
 *         dis_alignment_view v = dis_alignment_get_view(aligned);   // v.p[0], v.p[1], v.gold
 *         dis_alignment_destroy(aligned);
 *     }
 *
 * Strict by default: an item or class of one that another lacks is an error that names it. With `lenient` items that
 * some table lacks are left out, a class that a table lacks has probability 0 there, and all of that is counted.
 * Tables that are in order already are not copied: the sources must outlive the alignment. */
#ifndef DIS_ALIGN_H
#define DIS_ALIGN_H
#include "dissent/labels.h"
#include "dissent/votes.h"

/* ---- gold labels as a file has them ---- */

typedef struct dis_gold dis_gold;

/* From CSV, TSV or JSONL with task and label, or their usual synonyms. DIS_EDATA with the place: a malformed row, an
 * empty label, a task with two labels. DIS_EIO, DIS_ELIMIT. `options` NULL: the defaults. The caller destroys it. */
DIS_API dis_status dis_gold_read(dis_context *ctx, const char *path, const dis_gold_options *options, dis_gold **out);
DIS_API void dis_gold_destroy(dis_gold *gold);

typedef struct {
    size_t size; /* of this struct */
    size_t n_items;
    const int32_t *label;             /* (n_items) index into classes */
    const dis_names *tasks, *classes; /* in order of first appearance */
} dis_gold_view;
DIS_OPTIONS_API(dis_gold_view);
DIS_VIEW_API(dis_gold);
/* Gold labels with copies of what `view` shows. DIS_EDATA: none, a task twice, a label that is not a class, an empty
 * name. DIS_EUSAGE: lists of other lengths. */
DIS_API dis_status dis_gold_create(dis_context *ctx, const dis_gold_view *view, dis_gold **out);

/* ---- everything in one order ---- */

typedef struct {
    const char *name; /* what messages call it: mostly the file */
    dis_labels_view labels;
} dis_alignment_source;

typedef struct {
    size_t size; /* of this struct */
    bool lenient;
    const dis_gold *gold; /* NULL: none */
    /* declared, in their order; a table that lacks one has probability 0 there. NULL: those of the first source. They
     * must outlive the alignment */
    const dis_names *classes;
} dis_alignment_options;
DIS_OPTIONS_API(dis_alignment_options);

typedef struct dis_alignment dis_alignment;

/* At least one source. Items are in the order of the first source; classes too, unless lenient had to add some: then
 * integers by value, else by bytes (declared ones never change). DIS_EDATA: what does not match, or no item is left.
 * DIS_EUSAGE: no source. */
DIS_API dis_status dis_alignment_run(dis_context *ctx, const dis_alignment_source *sources, size_t n_sources,
                                     const dis_alignment_options *options, dis_alignment **out);
DIS_API void dis_alignment_destroy(dis_alignment *aligned);

/* What lenient let pass in one source. */
typedef struct {
    size_t n_items_dropped; /* that another source lacks */
    size_t n_classes_added; /* that it lacks and another, or the gold labels, have */
} dis_alignment_notes;

typedef struct {
    size_t n_items, n_classes, n_sources;
    const double *const *p; /* (n_sources) tables (n_items, n_classes) */
    const int32_t *gold;    /* (n_items) class, -1: none; NULL when no gold was given */
    const dis_names *tasks, *classes;
    const dis_alignment_notes *notes; /* (n_sources) */
    size_t n_items_without_gold;      /* items that the gold labels lack */
    size_t n_gold_dropped;            /* gold labels of no item */
} dis_alignment_view;
DIS_VIEW_API(dis_alignment);

#endif
