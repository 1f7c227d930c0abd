/* reader.h: the inside of dis_votes_read(): what to read, from which container, and the parts that readers share.
 *
 * The mapper is dis_votes_options itself, complete: a container (format), which column or key plays which role, and
 * drop rules. A preset (presets.c) is a row of such settings; a container is a row of formats[] in read_votes.c. */
#ifndef DIS_VOTES_READ_READER_H
#define DIS_VOTES_READ_READER_H
#include "dissent/columns.h"
#include "io/csv/csv.h"
#include "io/csv/csv_scan.h"
#include "io/json/json_read.h"
#include "votes/collect/collector.h"

/* Sizes that tests make small; results do not depend on them. */
typedef struct {
    size_t chunk;  /* bytes of text that one job parses */
    size_t round;  /* chunks that are parsed before they are collected */
    size_t bucket; /* text (of columns: rows) per bucket, if votes are partitioned; 0: what is good for the cache */
    bool in_file;  /* partitioned votes are in a file, however few they are */
    const dis__numbering *tasks; /* how they are numbered at first; NULL: sorted */
} dis__tuning;

typedef struct dis__reader dis__reader;
struct dis__reader {
    dis_context *ctx;
    dis_votes_options o;      /* roles filled in */
    dis_votes_options caller; /* as the caller gave them */
    dis__tuning tuning;
    dis__label_rules rules;
    dis__input *input; /* (n_inputs) */
    size_t n_inputs;
    dis__collector collector;
    dis__arena *texts; /* (tuning.round) */
    dis__batch *batch; /* (tuning.round) */
    dis_votes *votes;
    /* what a preset gives beside the caller's own (apply_preset.c) */
    char **named; /* (n_named) texts with the caller's name in them */
    size_t n_named, named_capacity;
    bool delimiter_found; /* o.delimiter is what the header has, not what the caller said */
    char *wide_label, *wide_worker;
    dis_drop_rule *filters;
    const char **na;
    /* DIS_EDATA that names the position of a vote that was there before. */
    dis_status (*fail_duplicate)(dis__reader *reader, const dis__duplicate *twice);
    /* Which votes of a worker on an item count, before duplicates are looked at; NULL: by the rule alone. */
    dis_status (*choose)(dis__reader *reader, void *user);
    void *choose_user;
};

/* One file of a container with rows: CSV, TSV, JSONL. */
typedef struct dis__vote_file dis__vote_file;

/* A cursor over the rows of a file, for one thread. */
typedef struct {
    const dis__vote_file *file;
    const char *next;                         /* where the next row begins */
    dis__vote_field cell[DIS_ID_COLUMNS + 1]; /* task, worker, label of the current row */
    bool dropped;                             /* by a drop rule */
    dis__row_problem problem;                 /* of a bad row; `next` is then where to go on */
    dis__csv csv;
    dis__json json;
    dis__batch *batch;                /* where rows go */
    struct dis__csv_scratch *scratch; /* of the fast path of CSV */
} dis__row_cursor;

typedef struct {
    const char *name;
    /* Reads what comes before the rows (the header) and finds the columns. */
    dis_status (*open)(dis__vote_file *file);
    /* The row at cursor->next. DIS_EDATA: see problem. */
    dis_status (*row)(dis__row_cursor *cursor);
    /* As many rows as go fast, from cursor->next up to those that begin at `limit`, into cursor->batch; NULL: there is
     * no fast way. */
    dis_status (*fast)(dis__row_cursor *cursor, const char *limit);
    bool quotes; /* a row may hold newlines, within quotes */
} dis__row_format;

struct dis__vote_file {
    dis__reader *reader;
    const dis__input *input;
    const dis__row_format *format;
    dis__csv csv;                      /* header, and counting of lines */
    size_t column[DIS_ID_COLUMNS + 1]; /* of task, worker, label */
    size_t *drop_column;               /* (o.n_drop) */
    const char *rows;                  /* where they begin */
    const char *end;                   /* of what is there */
    dis__input *stream;                /* more comes by and by; NULL: all is there */
    size_t min;                        /* bytes of a row that is a vote */
};

extern const dis__row_format dis__rows_csv, dis__rows_tsv, dis__rows_jsonl;

/* read_chunks.c: all rows of the file into the reader's collector. */
dis_status dis__read_rows(dis__vote_file *file);
/* The first row that begins at byte `at` of the input or later, given whether that is within quotes. */
const char *dis__find_row_start(const dis__vote_file *file, uint64_t at, bool quotes, bool in_quotes);
/* DIS_EDATA with the position of a problem. */
dis_status dis__vote_file_fail(dis__vote_file *file, const dis__row_problem *problem);

void dis__row_cursor_open(dis__row_cursor *cursor, const dis__vote_file *file, const char *at);
void dis__row_cursor_close(dis__row_cursor *cursor);

dis_status dis__vote_file_open(dis__vote_file *file, dis__reader *reader, const dis__input *input,
                               const dis__row_format *format);
void dis__vote_file_close(dis__vote_file *file);

/* csv_votes.c: the column that plays a role, by the user's name for it or the usual ones; DIS_EDATA lists those that
 * are there. */
dis_status dis__csv_find_column_of_role(dis__csv *csv, const char *role, const char *given, const char *const *usual,
                                        size_t *column);

/* read_mace_table.c, read_counts.c: other shapes, each from all inputs into reader->votes. */
dis_status dis__read_mace(dis__reader *reader);
dis_status dis__read_counts(dis__reader *reader);

/* read_votes.c: the container that `given` names (DIS_EUSAGE: no such), or that a path ends on; csv when it says
 * nothing. */
dis_status dis__votes_format(const char *given, const char *path, const char **format);
/* The character that separates columns of csv and tsv. */
char dis__votes_separator(const dis_votes_options *o, const char *format);
/* What the first line says of a file: DIS_EDATA for JSON that is read as a table and the like. Finds the delimiter,
 * unless the caller has named one, with a note. */
dis_status dis__reader_check_format(dis__reader *reader, dis__input *input, const char *format);
/* apply_preset.c: the preset that the options name, put where they leave the default. */
dis_status dis__preset_apply(dis__reader *reader);
/* Paths of a wide table with a header, once the inputs are open. */
dis_status dis__wide_table_apply(dis__reader *reader);
/* Rules for labels and an empty collector. n_to_come: bytes, or whatever else the source counts in. */
dis_status dis__reader_init(dis__reader *reader, uint64_t n_expected);
/* A part of a file: rows that begin in [first, last). */
typedef struct {
    uint64_t first, last;      /* bytes */
    bool quotes;               /* there are some */
    uint64_t quotes_before[2]; /* of them before first, and before last */
} dis__file_part;
/* All text of all inputs is there. */
dis_status dis__reader_load_inputs(dis__reader *reader);
/* The rows of a file, or of a part of it (NULL: all), into the collector. */
dis_status dis__read_file(dis__reader *reader, dis__input *input, const dis__file_part *part);
/* read_on_ranks.c: narrows a file to a part; the table of this rank from all inputs, into reader->votes. */
void dis__file_part_apply(const dis__file_part *part, dis__vote_file *file);
dis_status dis__read_on_ranks(dis__reader *reader);
/* The rules about votes that are grouped; the end of dis__reader_finish() where there are no ranks. */
dis_status dis__reader_apply_rules(dis__reader *reader);
/* reader_classes.c: names of classes, and the class of each label that the collector has seen. */
dis_status dis__reader_classes(dis__reader *reader, uint16_t *class_of);
/* The failure when nothing is left. */
dis_status dis__reader_no_votes(const dis__reader *reader);
/* The table from what the collector holds. */
dis_status dis__reader_finish(dis__reader *reader);
/* What there is to know of its classes, the last thing to do. DIS_EUSAGE: the scale wants another order. */
dis_status dis__reader_check_classes(dis__reader *reader);
/* Gives back all but the table. */
void dis__reader_free(dis__reader *reader);
/* How many chunks a round has. */
size_t dis__round_size(const dis_context *ctx);

/* column_votes.c: dis_votes_create_from_columns() with sizes of one's own; a chunk counts rows. */
dis_status dis__votes_from_columns(dis_context *ctx, const dis_votes_columns *columns, const dis_votes_options *options,
                                   const dis__tuning *tuning, dis_votes **out);
/* dis_votes_read() with sizes of one's own. */
dis_status dis__votes_read(dis_context *ctx, const char *const *paths, size_t n_paths, const dis_votes_options *options,
                           const dis__tuning *tuning, dis_votes **out);

#endif
