/* export.h: writes votes as a table, and soft labels in the import formats of annotation tools.
 *
 *     dis_votes_write_options how = dis_votes_write_options_default();
 *     how.anonymise = true;
 *     if (dis_votes_write(NULL, votes, "votes.csv", &how) != DIS_OK) puts(dis_last_error());
 */
#ifndef DIS_EXPORT_H
#define DIS_EXPORT_H
#include "dissent/labels.h"
#include "dissent/votes.h"

typedef struct {
    size_t size;        /* of this struct */
    const char *format; /* "csv", "tsv", "jsonl"; NULL: by the file's name, csv when that says nothing */
    /* Numbers for the names of workers, from 1 in order of first appearance. With it `number_file` may name a file of
     * worker,number: names in it keep their numbers, new ones get the next, and it is rewritten. */
    bool anonymise;
    const char *number_file;
} dis_votes_write_options;
DIS_OPTIONS_API(dis_votes_write_options);

/* One row per vote: task,worker,label, grouped by item. Counts and soft votes: task and a column per class. `options`
 * NULL: the defaults. DIS_EUSAGE, DIS_EDATA (a malformed `numbers`), DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_votes_write(dis_context *ctx, const dis_votes *votes, const char *path,
                                   const dis_votes_write_options *options);

typedef struct {
    size_t size;         /* of this struct */
    const char *target;  /* the name of a target, see below */
    const char *control; /* Label Studio's from_name, Argilla's question; NULL: the only one of `source`, else label */
    const char *object;  /* Label Studio's to_name; NULL: that of `source`, else text */
    const char *model;   /* what the labels are said to come from; NULL: dissent */
    const char *source;  /* the tool's own export, whose data (Label Studio) or fields (Argilla) go along; NULL: none */
    const dis_names *text; /* what each item says, for targets that hold it; NULL: nothing */
} dis_labels_export_options;
DIS_OPTIONS_API(dis_labels_export_options);

/* Where labels can go. Rows are static. */
typedef struct {
    const char *name, *summary;
    bool folder; /* `path` is a folder, that is made */
    bool source; /* an export of the tool may be given */
} dis_export_target;

/* What came of it. */
typedef struct {
    size_t n_written;
    size_t n_unlabelled; /* records of `source` that have no label: left out */
    size_t n_unknown;    /* labels of items that `source` does not have: left out */
} dis_export_notes;

/* DIS_EUSAGE: no such target, or an option that it does not have. DIS_EDATA: a malformed source. */
DIS_API dis_status dis_labels_export(dis_context *ctx, const dis_labels_view *labels, const char *path,
                                     const dis_labels_export_options *options, dis_export_notes *notes);

#endif
