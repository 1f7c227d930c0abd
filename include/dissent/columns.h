/* columns.h: reads votes from columns in memory.
 *
 * A column is a list of pieces. A piece is a list of texts, or a range of cells in the layout of Apache Arrow: texts
 * with offsets, string views, integers, or bits, also with a dictionary. Only the distinct ids are copied. Pieces
 * of the three columns may have different lengths.
 *
 *     dis_text task[] = {{"a", 1}, {"a", 1}}, worker[] = {{"x", 1}, {"y", 1}};
 *     int32_t label[] = {0, 1};
 *     dis_cells t = {.kind = DIS_CELLS_TEXTS, .n = 2, .values = task}, w = {.kind = DIS_CELLS_TEXTS, .n = 2, .values =
 *         worker},
 *               l = {.kind = DIS_CELLS_INT32, .n = 2, .values = label};
 *     dis_votes_columns columns = {.size = sizeof(dis_votes_columns), .task = {&t, 1}, .worker = {&w, 1}, .label = {&l, 1}};
 *     dis_votes *votes;
 *     if (dis_votes_create_from_columns(ctx, &columns, NULL, &votes) != DIS_OK) return 1;
 *
 * Numbering, the order of classes and the rules for empty labels, duplicates and bad rows are those of
 * dis_votes_read(). Integers become their decimal text, other numbers the shortest one that reads back equal ("1" for
 * 1.0), bits "false" and "true".
 * Threads: nothing of the arguments is written to; they may be shared. */
#ifndef DIS_COLUMNS_H
#define DIS_COLUMNS_H
#include "dissent/votes.h"

/* A text of n bytes, which need not end in a NUL. */
typedef struct {
    const char *bytes;
    size_t n;
} dis_text;

typedef enum {
    DIS_CELLS_TEXTS,        /* dis_text; bytes NULL: no value */
    DIS_CELLS_STRING,       /* int32_t, one more than cells: where each text begins in `bytes` */
    DIS_CELLS_LARGE_STRING, /* int64_t, likewise */
    DIS_CELLS_STRING_VIEW,  /* 16 bytes each, as Arrow's "vu": a short text, or length, prefix, buffer and offset */
    DIS_CELLS_INT8,
    DIS_CELLS_INT16,
    DIS_CELLS_INT32,
    DIS_CELLS_INT64,
    DIS_CELLS_UINT8,
    DIS_CELLS_UINT16,
    DIS_CELLS_UINT32,
    DIS_CELLS_UINT64,
    DIS_CELLS_FLOAT,  /* NaN: no value */
    DIS_CELLS_DOUBLE, /* likewise */
    DIS_CELLS_BOOL,   /* one bit per cell, the lowest first */
} dis_cells_kind;

typedef struct dis_cells dis_cells;
struct dis_cells {
    dis_cells_kind kind;
    size_t n;
    size_t offset; /* cells of `values` and bits of `valid` to leave out at the beginning */
    const void *values;
    /* one bit per cell, the lowest first: 0 means that it has no value; NULL: all have one */
    const uint8_t *valid;
    const char *bytes;          /* DIS_CELLS_STRING and DIS_CELLS_LARGE_STRING */
    const void *const *buffers; /* DIS_CELLS_STRING_VIEW: (n_buffers) */
    const int64_t *buffer_size; /* (n_buffers) bytes in each */
    size_t n_buffers;
    const dis_cells *dictionary; /* not NULL: values, which are integers, count its cells from 0 */
};

typedef struct {
    const dis_cells *piece; /* (n_pieces), in their order */
    size_t n_pieces;
} dis_column;

/* Cells at the same position of the three columns are one vote. */
typedef struct {
    size_t size; /* of this struct */
    dis_column task, worker, label;
} dis_votes_columns;
DIS_OPTIONS_API(dis_votes_columns);

/* `options` NULL: the defaults; format, column names and drop rules mean nothing here. A label without a value counts
 * as empty: an error, unless "" is among the NA values. DIS_EDATA with the row, counted from 0: columns of different
 * lengths, no task, no worker, invalid UTF-8, a NUL in a text. Also decreasing offsets, an index beyond its dictionary,
 * a duplicate under DIS_DUPLICATES_ERROR. DIS_EUSAGE: another kind of input, an unknown kind of cells, a dictionary of
 * dictionaries. */
DIS_API dis_status dis_votes_create_from_columns(dis_context *ctx, const dis_votes_columns *columns,
                                                 const dis_votes_options *options, dis_votes **out);

#endif
