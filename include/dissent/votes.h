/* votes.h: tables of annotations: item, annotator, label.
 *
 * A votes table is read once (from CSV, TSV, JSONL, MACE, npy, or arrays), never changes afterwards, and is what
 * label methods, agreement and reports work on. It holds ids as indices in order of first appearance, votes grouped
 * by item.
 *
 *     const char *path = "votes.csv";
 *     dis_votes *votes;
 *     if (dis_votes_read(NULL, &path, 1, NULL, &votes) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     printf("%zu items\n", dis_votes_get_view(votes).n_items);
 *     dis_votes_destroy(votes);
 *
 * Three kinds: votes (item, worker, label), counts (how many chose each class: no workers known), soft votes (each
 * vote a distribution over the classes). Counts and soft votes are kept as one table of numbers per item.
 * Threads: a table may be read by any number of threads at once. */
#ifndef DIS_VOTES_H
#define DIS_VOTES_H
#include "dissent/context.h"
#include "dissent/labels.h"
#include "dissent/names.h"
#include "dissent/scale.h"

/* Limits, each with a test at the limit. */
#define DIS_MAX_CLASSES 65535u
#define DIS_MAX_IDS     4294967294u /* tasks, and workers */
#define DIS_MAX_FIELD   (16u << 20) /* bytes */
#define DIS_MAX_COLUMNS 65536u
#define DIS_MAX_ID      (64u << 10) /* bytes */

typedef struct dis_votes dis_votes;

typedef enum {
    DIS_INPUT_VOTES,  /* one row per vote */
    DIS_INPUT_COUNTS, /* one row per item, one column per class */
    DIS_INPUT_MACE,   /* wide: one row per item, one column per worker, no header */
    DIS_INPUT_SOFT,   /* one row per vote, one column per class */
    DIS_INPUT_WIDE,   /* one row per item, one column per worker, with a header and the ids of items */
} dis_input;

typedef enum { DIS_DUPLICATES_ERROR, DIS_DUPLICATES_FIRST, DIS_DUPLICATES_LAST, DIS_DUPLICATES_ALL } dis_duplicates;

/* What to do when a worker gave several labels to an item at once: refuse, make each a vote, or make them one class
 * ("a+b", sorted). */
typedef enum { DIS_MULTIPLE_ERROR, DIS_MULTIPLE_ALL, DIS_MULTIPLE_JOIN } dis_multiple_labels;

/* Rows whose `column` holds `value` are left out and counted. */
typedef struct {
    const char *column, *value;
} dis_drop_rule;

typedef struct {
    size_t size; /* of this struct */
    dis_input input;
    const char *format; /* "csv", "tsv", "json", "jsonl", "npy"; NULL: by the file's name, csv when that says nothing */
    /* column names (keys in JSON), or paths (docs/reference/paths.md); NULL: task, worker (or performer), label */
    const char *task, *worker, *label;
    const dis_drop_rule *drop;
    size_t n_drop;
    /* declared classes in their order; NULL: those found, integers by value, else by bytes */
    const char *const *classes;
    size_t n_classes;
    const char *const *na; /* labels that mean "no vote" */
    size_t n_na;
    dis_duplicates duplicates; /* what to do when a worker voted on an item twice */
    bool lenient;              /* skip bad rows, count and list them */
    bool renormalise;          /* soft rows that do not sum to 1 are scaled, and counted */
    size_t min_votes;          /* items with fewer votes are left out, and counted */
    const char *preset;        /* name of a preset: its settings hold where the caller leaves the default; NULL: none */
    const char *time;          /* path of the time of a vote: duplicates first and last go by it; NULL: by row */
    const char *records; /* path of the list in a JSON file whose elements are the records; NULL: the file itself */
    const dis_drop_rule *keep; /* rows whose `column` holds something else are left out, and counted */
    size_t n_keep;
    dis_multiple_labels multiple_labels;
    int delimiter;  /* of csv: another character than ','; 0: by the format */
    bool no_header; /* of csv and tsv: columns are called by their numbers, from 0 */
    bool reserved[7];
    dis_scale scale; /* what labels are */
    int reserved_scale;
    const char *pair_a, *pair_b;       /* pairwise: columns, or paths, of what is compared; NULL: a and b */
    const char *span_start, *span_end; /* spans: columns of the start and the end (exclusive); NULL: start and end */
    bool fold_case;          /* labels that differ in upper and lower case alone are one class, in lower case */
    bool trim;               /* spaces around labels are not part of them */
    bool allow_many_classes; /* most labels may be different texts; else DIS_EDATA */
    bool reserved_flags[5];
    size_t skip; /* csv and tsv: lines before the header that are not read */
} dis_votes_options;

DIS_OPTIONS_API(dis_votes_options);

/* A named source of votes: settings of dis_votes_options under one name (`preset`). The table grows; rows are static.
 */
typedef struct {
    const char *name, *summary;
    dis_input input;
    const char *format, *task, *worker, *label;
    const dis_drop_rule *drop;
    size_t n_drop;
    const char *tool; /* what its files are called in messages: "a Label Studio export" */
    const char *
        label_template; /* `label`, where the caller names a question or control: "@" stands for the name; NULL: a path */
    const char *time, *records;
    const dis_drop_rule *keep;
    size_t n_keep;
    const char *signature; /* paths, separated by spaces, by which a file is recognised; NULL: it is not */
    const char *container; /* the container it is recognised in: "table", "json" or "lines"; NULL: any */
    bool empty_is_na;      /* an empty label means "no vote" */
    bool no_header;
    const char *pair_task;     /* `task` of comparisons, whose two things are part of it anyway; NULL: as `task` */
    const char *text;          /* path of the text of an item; NULL: not known */
    const char *text_template; /* the same where the caller names a field: "@" stands for the name; NULL: a path */
    const char *label_names;   /* path of the names that `label` can have; NULL: not known */
} dis_votes_preset;

/* Row i of the table of presets, NULL past the end. */
DIS_API const dis_votes_preset *dis_votes_preset_get(size_t i);
/* The row of that name, NULL if it is unknown. */
DIS_API const dis_votes_preset *dis_votes_preset_find(const char *name);

/* Reads one table from all files together; "-" is standard input; gzip and zstd are recognised by content.
 * `options` NULL: the defaults. DIS_EDATA with file:line:column, DIS_EIO, DIS_EUSAGE, DIS_ELIMIT. */
DIS_API dis_status dis_votes_read(dis_context *ctx, const char *const *paths, size_t n_paths,
                                  const dis_votes_options *options, dis_votes **out);

/* A table from indices in memory: vote v is (task[v], worker[v], label[v]). Lists of names may be NULL: numbers from 0
 * stand in. Nothing is kept of the arguments. DIS_EDATA: an index out of range, or a duplicate pair under
 * DIS_DUPLICATES_ERROR. */
typedef struct {
    size_t size; /* of this struct */
    size_t n_votes, n_items, n_workers, n_classes;
    const uint32_t *task, *worker;
    const uint16_t *label;
    const dis_names *tasks, *workers, *classes;
    dis_duplicates duplicates;
    dis_scale scale; /* what labels are: kept, and not checked */
} dis_votes_arrays;
DIS_OPTIONS_API(dis_votes_arrays);
DIS_API dis_status dis_votes_create_from_arrays(dis_context *ctx, const dis_votes_arrays *arrays, dis_votes **out);

/* A table of counts from memory: counts (n_items, n_classes), none negative. Names as above. */
DIS_API dis_status dis_votes_create_from_counts(dis_context *ctx, const double *counts, size_t n_items,
                                                size_t n_classes, const dis_names *tasks, const dis_names *classes,
                                                dis_votes **out);

DIS_API void dis_votes_destroy(dis_votes *votes);

/* The inside of a table, valid as long as the table. */
typedef struct {
    size_t n_items, n_workers, n_classes, n_votes; /* n_workers 0 and n_votes = rows read, for counts */
    /* (n_items + 1): votes of item i are start[i] .. start[i + 1] - 1; NULL for counts and soft */
    const uint64_t *start;
    const uint32_t *worker;                     /* (n_votes) */
    const uint8_t *label8;                      /* (n_votes), when n_classes <= 256, else NULL */
    const uint16_t *label16;                    /* (n_votes), when n_classes > 256, else NULL */
    const double *counts;                       /* (n_items, n_classes) for counts and soft votes, else NULL */
    const dis_names *tasks, *workers, *classes; /* workers is empty for counts */
} dis_votes_view;
DIS_VIEW_API(dis_votes);
/* Fields of the view as functions, for bindings of other languages. */
DIS_API size_t dis_votes_n_items(const dis_votes *votes);
DIS_API size_t dis_votes_n_workers(const dis_votes *votes);
DIS_API size_t dis_votes_n_classes(const dis_votes *votes);
DIS_API size_t dis_votes_n_votes(const dis_votes *votes);
DIS_API const dis_names *dis_votes_tasks(const dis_votes *votes);
DIS_API const dis_names *dis_votes_workers(const dis_votes *votes);
DIS_API const dis_names *dis_votes_classes(const dis_votes *votes);

/* The scale of its labels, as declared when it was read; nominal by default. */
DIS_API dis_scale dis_votes_scale(const dis_votes *votes);

/* What the columns of a table of votes (or keys of JSON) are for. DIS_ROLE_GOLD: the label of a gold file. */
typedef enum { DIS_ROLE_TASK, DIS_ROLE_WORKER, DIS_ROLE_LABEL, DIS_ROLE_GOLD, DIS_COLUMN_ROLES } dis_role;

/* A name that is accepted for a role. Rank 0 is the standard name; a lower rank takes precedence over a higher one. */
typedef struct {
    const char *text; /* not ended by a NUL */
    size_t n;
    int rank;
} dis_synonym;

typedef struct {
    const char *text;
    size_t n;
} dis_column_name;
/* Finds the column that plays a role among the names (n) of a table. Upper and lower case, '_', '-', '.' and spaces are
 * ignored. Returns 0: none; 1: found[0]; 2: ambiguous, found has the first two candidates. */
DIS_API size_t dis_role_find(dis_role role, const dis_column_name *names, size_t n, size_t found[2]);

/* What reading let pass, for the user to be told. */
typedef struct {
    uint64_t rows;           /* of votes, header apart */
    uint64_t bad_rows;       /* skipped under lenient */
    uint64_t missing_labels; /* votes without a label */
    uint64_t dropped;        /* by drop rules */
    uint64_t duplicates;     /* (task, worker) pairs seen before: kept or not as asked */
    uint64_t renormalised;   /* soft rows scaled */
    uint64_t items_left_out; /* fewer than min_votes votes */
    uint64_t ties;           /* items whose largest count is shared */
    bool similar_classes;    /* e.g. "0" and "0.0" are two classes */
    /* The reader of the files. From fast to slow: "columns" (plain CSV and TSV), "rows" (one row at a time), "records"
     * (JSON, wide tables, paths). "counts" and "mace" read these tables. NULL: not from files. */
    const char *reader;
    /* The option that keeps the files from a faster reader, as a field of dis_votes_options between backquotes: `drop`.
     * NULL: none does; this reader is the fastest one for these files. */
    const char *reader_cause;
} dis_votes_notes;
static inline dis_votes_notes dis_votes_get_notes(const dis_votes *votes)
{
    dis_votes_notes notes;
    dis_view_init("dis_votes_notes", &notes, sizeof notes, votes);
    return notes;
}

/* Something about the table that the user should know: one line of text. */
typedef enum {
    DIS_NOTE_COLUMNS,   /* columns that were used because of their names, a delimiter that was found */
    DIS_NOTE_SUSPICIOUS /* the data may not be what the user thinks it is */
} dis_note_kind;
/* Note i of reading, NULL past the end. */
DIS_API const char *dis_votes_get_note(const dis_votes *votes, size_t i, dis_note_kind *kind);

/* The message of bad row i that was skipped under lenient, NULL past the end; the first 20 are kept. */
DIS_API const char *dis_votes_get_skipped_row(const dis_votes *votes, size_t i);

/* How a gold file is read. */
typedef struct {
    size_t size;              /* of this struct */
    const char *task, *label; /* columns, or keys in JSON Lines; NULL: by their usual names */
    bool fold_case, trim;     /* as in dis_votes_options; votes that were read so imply it */
    bool reserved[6];
} dis_gold_options;
DIS_OPTIONS_API(dis_gold_options);
/* Known labels for the items of `votes` from a CSV, TSV or JSONL file of task and label, as class indices (n_items), -1
 * for items that the file lacks. `options` NULL: the defaults. Tasks that have no votes are counted in *unknown (may be
 * NULL). DIS_EDATA: a label that is not a class, a task twice with two labels, a malformed file. */
DIS_API dis_status dis_votes_read_gold(dis_context *ctx, const char *path, const dis_gold_options *options,
                                       const dis_votes *votes, int32_t *gold, size_t *unknown);

/* Texts of the items, from the files of the votes: exports contain both. One text per name of `tasks`, from the first
 * record of each item; empty if it is missing. `options` are those of the votes. `text` (n_text): columns, paths, or
 * fields of the preset's data, joined by " / "; 0: the preset's, else text. *found (may be NULL): how many items have
 * one. The caller destroys the list. DIS_EDATA with the place, DIS_EIO, DIS_EUSAGE, DIS_ELIMIT. */
DIS_API dis_status dis_votes_read_texts(dis_context *ctx, const char *const *paths, size_t n_paths,
                                        const dis_votes_options *options, const char *const *text, size_t n_text,
                                        const dis_names *tasks, dis_names **out, size_t *found);

/* Labels for the items of `votes` from a file of labels: as dissent labels writes it (`options` as for
 * dis_labels_read(), NULL: the defaults), or of task and label. label (n_items): class indices, of probabilities the
 * largest, -1 where the file says nothing. *p: the probabilities (n_items, n_classes), rows of NaN where it says
 * nothing; the caller frees them with dis_free(). *p is NULL for a file without probabilities, or with nothing but 0
 * and 1. *unknown as above. DIS_EDATA: as dis_labels_read() and dis_votes_read_gold(). The file is opened twice, so it
 * cannot be a pipe. */
DIS_API dis_status dis_votes_read_labels(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                                         const dis_votes *votes, int32_t *label, double **p, size_t *unknown);

#endif
