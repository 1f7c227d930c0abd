/* column_roles.h: the columns of a file by the usual names of tasks, workers and labels (role_names.c).
 *
 * A known name is used, with a note. Two candidates of the same rank are an error that lists both. Without a known
 * name, the data are only used for a suggestion. */
#ifndef DIS_VOTES_ROLES_COLUMN_ROLES_H
#define DIS_VOTES_ROLES_COLUMN_ROLES_H
#include "votes/roles/suggestion.h"

typedef struct {
    dis_column_name *names; /* (n_names) of the columns, or the keys of the first record */
    size_t n_names;
    size_t found[3][2]; /* for task, worker, label: candidates, */
    size_t n_found[3];  /* their number */
    bool given[3];      /* set by the caller */
    bool standard;      /* task and label were found */
} dis__roles;

/* `source` has read its first record, and must not move. */
dis_status dis__roles_find(const dis__reader *reader, const dis__record_reader *source, dis__roles *out);
void dis__roles_free(dis__roles *roles);
/* Sets the columns in reader->o, and adds a note. DIS_EDATA: they are ambiguous, or unknown with a suggestion. DIS_OK
 * without a change: the reader will report missing columns. Reads on in `source`. */
dis_status dis__roles_apply(dis__reader *reader, dis__record_reader *source, const dis__roles *roles);

/* header_checks.c: DIS_EDATA with a suggestion to skip lines, if a later one of the first lines names task, worker and
 * label; DIS_OK: none does, or the first one does. */
dis_status dis__find_header(const dis__input *input);
/* DIS_EDATA for a table with one column whose header has several with another separator, which is suggested. */
dis_status dis__check_single_column(const dis__record_reader *source);
/* DIS_EDATA for a table of soft labels. */
dis_status dis__check_soft_labels(const dis__record_reader *source, const dis__roles *roles);
/* After DIS_EDATA for a header: the same with numbered columns, if the first line names task, worker and label, one of
 * them twice; otherwise DIS_OK. */
dis_status dis__check_header_twice(const dis__input *input, char separator);
/* The same DIS_EDATA as dis__roles_apply() for tables without a header, if a repeated name is about to be reported. */
dis_status dis__suggest_no_header(dis__reader *reader, dis__input *input);
/* For `input` wide without `worker`: DIS_EDATA if some columns are not answers, with the columns that are. */
dis_status dis__check_wide_columns(dis__reader *reader);

#endif
