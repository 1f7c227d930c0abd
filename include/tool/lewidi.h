/* lewidi.h: the shared task Le-Wi-Di 2025 (Learning with Disagreements, third edition): its files, its scores with
 * their rounding, and files to submit.
 *
 *     const dis__lewidi_set *set = dis__lewidi_set_find("MP");
 *     dis__lewidi *official;
 *     if (dis__lewidi_read(ctx, "MP_test.json", set, &official) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     printf("%zu items\n", dis__lewidi_get_view(official).n_items);
 *     dis__lewidi_destroy(official);
 *
 * An item has one part, or in VariErrNLI three: contradiction, entailment and neutral, each yes or no. In files of
 * dissent a part is an item of its own, "ID:entailment". docs/guides/perspectives.md.
 * Threads: a file may be read by any number of threads at once. */
#ifndef DIS_TOOL_LEWIDI_H
#define DIS_TOOL_LEWIDI_H
#include "dissent/labels.h"
#include "dissent/votes.h"

#define DIS_LEWIDI_PARTS 3u

/* One of the sets; rows are static. */
typedef struct {
    const char *name; /* MP, CSC, Paraphrase, VariErrNLI */
    const char *summary;
    const char *part[DIS_LEWIDI_PARTS]; /* names of parts; NULL: there is one */
    size_t n_parts, n_classes;
    int low;       /* the first class; the others follow in steps of 1 */
    int first_bin; /* the first number of a soft label in a file to submit */
    bool ordered;  /* Wasserstein distance and absolute distance; else Manhattan and error rate */
    double scale;  /* what absolute distances are divided by */
} dis__lewidi_set;
const dis__lewidi_set *dis__lewidi_set_get(size_t i);
/* By its name, in any case, or Par and VEN. NULL: unknown. */
const dis__lewidi_set *dis__lewidi_set_find(const char *name);

typedef struct dis__lewidi dis__lewidi;

/* An official file with its annotations; soft labels where it has them (test files before the end have none). DIS_EDATA
 * with the place, DIS_EIO. */
dis_status dis__lewidi_read(dis_context *ctx, const char *path, const dis__lewidi_set *set, dis__lewidi **out);
void dis__lewidi_destroy(dis__lewidi *official);

typedef struct {
    const dis__lewidi_set *set;
    size_t n_items, n_workers, n_annotations;
    const dis_names *items, *workers;
    const dis_names *texts; /* (n_items) the texts of an item, a tab between them */
    const uint64_t *start;  /* (n_items + 1) annotations of an item, in the order of a file to submit */
    const uint32_t *worker; /* (n_annotations) */
    const int32_t *value;   /* (n_annotations, n_parts) */
    const double *soft;     /* (n_items, n_parts, n_classes) as the file has them; NULL: it has none */
} dis__lewidi_view;
dis__lewidi_view dis__lewidi_get_view(const dis__lewidi *official);

/* Official soft score of p (n_items, n_parts, n_classes); DIS_EUSAGE: the file has no soft labels. */
dis_status dis__lewidi_soft_score(const dis__lewidi *official, const double *p, double *score);
/* Official perspectivist score of value (n_annotations, n_parts). */
double dis__lewidi_perspective_score(const dis__lewidi *official, const int32_t *value);

/* Soft predictions for the items of the file: a label file (CSV, TSV with a header, JSONL, npy) whose tasks are the
 * ids, or a file to submit. *p (dis_free): (n_items, n_parts, n_classes). DIS_EDATA: an item is missing. */
dis_status dis__lewidi_read_soft(dis_context *ctx, const dis__lewidi *official, const char *path, double **p);
/* Predictions for each annotation: a table of task, worker and label, or a file to submit. *value (dis_free):
 * (n_annotations, n_parts). */
dis_status dis__lewidi_read_perspectives(dis_context *ctx, const dis__lewidi *official, const char *path,
                                         int32_t **value);
/* The same in the form to submit: id, a tab, a list. */
dis_status dis__lewidi_write_soft(const dis__lewidi *official, const double *p, const char *path);
dis_status dis__lewidi_write_perspectives(const dis__lewidi *official, const int32_t *value, const char *path);
/* Annotations as task,worker,label, and texts as task,text (text_2, ...): what train and the other commands read. NULL:
 * not written. */
dis_status dis__lewidi_export(const dis__lewidi *official, const char *votes, const char *texts);

#endif
