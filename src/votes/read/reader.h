/* reader.h: internals of dis_votes_read(): what to read, from which container, and the parts shared by readers.
 *
 * A mapping is a complete dis_votes_options: a container (format), the column or key of each role, and drop rules. A
 * preset (presets.c) is a row of such settings; a container is a row of formats[] in read_votes.c. */
#ifndef DIS_VOTES_READ_READER_H
#define DIS_VOTES_READ_READER_H
#include "dissent/columns.h"
#include "io/csv/csv.h"
#include "io/csv/csv_scan.h"
#include "io/json/json_read.h"
#include "votes/collect/collector.h"

/* Sizes that tests reduce; results do not depend on them. */
typedef struct {
    size_t chunk;  /* bytes of text parsed by one job */
    size_t round;  /* chunks that are parsed before they are merged */
    size_t bucket; /* text (of columns: rows) per bucket, if votes are partitioned; 0: default for the cache size */
    bool in_file;  /* partitioned votes are in a file, even if there are few */
    const dis__numbering *tasks; /* the initial numbering; NULL: sorted */
} dis__tuning;

typedef struct dis__reader dis__reader;
struct dis__reader {
    dis_context *ctx;
    dis_votes_options o;      /* roles filled in */
    dis_votes_options caller; /* as passed by the caller */
    dis__tuning tuning;
    dis__label_rules rules;
    dis__input *input; /* (n_inputs) */
    size_t n_inputs;
    dis__collector collector;
    dis__arena *texts; /* (tuning.round) */
    dis__batch *batch; /* (tuning.round) */
    dis_votes *votes;
    /* a preset's additions to the caller's options (apply_preset.c) */
    char **named; /* (n_named) texts with the caller's name inserted */
    size_t n_named, named_capacity;
    bool delimiter_found; /* o.delimiter was detected from the header, not set by the caller */
    char *wide_label, *wide_worker;
    dis_drop_rule *filters;
    const char **na;
    /* DIS_EDATA that names the position of a repeated vote. */
    dis_status (*fail_duplicate)(dis__reader *reader, const dis__duplicate *twice);
    /* Resolves votes of a worker on an item before the check for duplicates; NULL: only by the rule. */
    dis_status (*choose)(dis__reader *reader, void *user);
    void *choose_user;
};

/* One file of a container with rows: CSV, TSV, JSONL. */
typedef struct dis__vote_file dis__vote_file;

/* A cursor over the rows of a file, for one thread. */
typedef struct {
    const dis__vote_file *file;
    const char *next;                         /* start of the next row */
    dis__vote_field cell[DIS_ID_COLUMNS + 1]; /* task, worker, label of the current row */
    bool dropped;                             /* by a drop rule */
    dis__row_problem problem;                 /* of a bad row; reading continues at `next` */
    dis__csv csv;
    dis__json json;
    dis__batch *batch;                /* destination of rows */
    struct dis__csv_scratch *scratch; /* of the fast path of CSV */
} dis__row_cursor;

typedef struct {
    const char *name;
    /* Reads the header and finds the columns. */
    dis_status (*open)(dis__vote_file *file);
    /* The row at cursor->next. DIS_EDATA: see problem. */
    dis_status (*row)(dis__row_cursor *cursor);
    /* Reads as many rows as the fast path supports, from cursor->next up to those that begin at `limit`, into
     * cursor->batch; NULL: no fast path. */
    dis_status (*fast)(dis__row_cursor *cursor, const char *limit);
    bool quotes; /* a row may contain newlines, within quotes */
} dis__row_format;

struct dis__vote_file {
    dis__reader *reader;
    const dis__input *input;
    const dis__row_format *format;
    dis__csv csv;                      /* header, and counting of lines */
    size_t column[DIS_ID_COLUMNS + 1]; /* of task, worker, label */
    size_t *drop_column;               /* (o.n_drop) */
    const char *rows;                  /* start of the rows */
    const char *end;                   /* end of the available text */
    dis__input *stream;                /* a stream: more text may follow; NULL: complete */
    size_t min;                        /* bytes of a row that is a vote */
};

extern const dis__row_format dis__rows_csv, dis__rows_tsv, dis__rows_jsonl;

/* read_chunks.c: reads all rows of the file into the reader's collector. */
dis_status dis__read_rows(dis__vote_file *file);
/* The first row that begins at byte `at` of the input or later, given whether `at` is within quotes. */
const char *dis__find_row_start(const dis__vote_file *file, uint64_t at, bool quotes, bool in_quotes);
/* DIS_EDATA with the position of a problem. */
dis_status dis__vote_file_fail(dis__vote_file *file, const dis__row_problem *problem);

void dis__row_cursor_open(dis__row_cursor *cursor, const dis__vote_file *file, const char *at);
void dis__row_cursor_close(dis__row_cursor *cursor);

dis_status dis__vote_file_open(dis__vote_file *file, dis__reader *reader, const dis__input *input,
                               const dis__row_format *format);
void dis__vote_file_close(dis__vote_file *file);

/* csv_votes.c: the column of a role, by the user's name for it or the usual ones; DIS_EDATA lists the existing ones. */
dis_status dis__csv_find_column_of_role(dis__csv *csv, const char *role, const char *given, const char *const *usual,
                                        size_t *column);

/* read_mace_table.c, read_counts.c: other shapes; each reads all inputs into reader->votes. */
dis_status dis__read_mace(dis__reader *reader);
dis_status dis__read_counts(dis__reader *reader);

/* read_votes.c: the container named by `given` (DIS_EUSAGE: unknown), or by the extension of a path; csv for other
 * extensions. */
dis_status dis__votes_format(const char *given, const char *path, const char **format);
/* The column separator of csv and tsv. */
char dis__votes_separator(const dis_votes_options *o, const char *format);
/* Checks the first line of a file: DIS_EDATA for JSON that is read as a table and similar cases. Detects the delimiter,
 * unless the caller has set it, with a note. */
dis_status dis__reader_check_format(dis__reader *reader, dis__input *input, const char *format);
/* apply_preset.c: applies the preset named by the options to those with default values. */
dis_status dis__preset_apply(dis__reader *reader);
/* label_names.c: after a failure with a preset and without a label, adds to the message the names that `label` can have
 * in these files. Returns `status`. */
dis_status dis__preset_add_names(dis__reader *reader, dis_status status, const char *const *paths, size_t n_paths);
/* A task with several parts, as a path, from the additional columns of the scale. */
dis_status dis__reader_use_parts(dis__reader *reader);
/* Sets paths of a wide table with a header, once the inputs are open. */
dis_status dis__wide_table_apply(dis__reader *reader);
/* Initializes rules for labels and an empty collector. n_to_come: bytes, or other units of the source. */
dis_status dis__reader_init(dis__reader *reader, uint64_t n_expected);
/* A part of a file: rows that begin in [first, last). */
typedef struct {
    uint64_t first, last;      /* bytes */
    bool quotes;               /* the part contains quotes */
    uint64_t quotes_before[2]; /* number of quotes before first, and before last */
} dis__file_part;
/* All text of all inputs is available. */
dis_status dis__reader_load_inputs(dis__reader *reader);
/* Reads the rows of a file, or of a part of it (NULL: all), into the collector. */
dis_status dis__read_file(dis__reader *reader, dis__input *input, const dis__file_part *part);
/* read_on_ranks.c: narrows a file to a part; reads the table of this rank from all inputs, into reader->votes. */
void dis__file_part_apply(const dis__file_part *part, dis__vote_file *file);
dis_status dis__read_on_ranks(dis__reader *reader);
/* Applies the rules for grouped votes; the end of dis__reader_finish() without ranks. */
dis_status dis__reader_apply_rules(dis__reader *reader);
/* reader_classes.c: names of classes, and the class of each collected label. */
dis_status dis__reader_classes(dis__reader *reader, uint16_t *class_of);
/* The error for a table without votes. */
dis_status dis__reader_no_votes(const dis__reader *reader);
/* Creates the table from the collected votes. */
dis_status dis__reader_finish(dis__reader *reader);
/* Final checks of its classes. DIS_EUSAGE: the scale requires another order. */
dis_status dis__reader_check_classes(dis__reader *reader);
/* Frees everything except the table. */
void dis__reader_free(dis__reader *reader);
/* How many chunks a round has. */
size_t dis__round_size(const dis_context *ctx);

/* column_votes.c: dis_votes_create_from_columns() with given sizes; a chunk counts rows. */
dis_status dis__votes_from_columns(dis_context *ctx, const dis_votes_columns *columns, const dis_votes_options *options,
                                   const dis__tuning *tuning, dis_votes **out);
/* dis_votes_read() with given sizes. */
dis_status dis__votes_read(dis_context *ctx, const char *const *paths, size_t n_paths, const dis_votes_options *options,
                           const dis__tuning *tuning, dis_votes **out);

#endif
