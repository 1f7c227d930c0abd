/* fast_rows.h: processes the rows of a window of plain text, many at a time: the hot path for large files.
 *
 * A window is a range of text without quotes, with the list of its separators and line ends (io/csv/csv_scan.h). Fields
 * of up to 8 bytes are words padded with zeros. Rows are processed column by column:
 *
 *     n = dis__fast_rows_read(batch, &window, n, scratch);          words of tasks, workers; indices of labels
 *     dis__find_buckets(ids, word, n, home);                     home buckets of ids in their table
 *     n_missed = dis__find_in_buckets(ids, word, home, n, ...);   indices of ids found in their home bucket
 *
 * The first function reads rows up to one that is not simple: simple rows have three short fields without an empty id,
 * and a label that was seen before. Results do not depend on the instruction set. */
#ifndef DIS_VOTES_READ_FAST_ROWS_H
#define DIS_VOTES_READ_FAST_ROWS_H
#include "io/csv/csv_scan.h"
#include "votes/collect/batch.h"

enum { DIS_WINDOW = 1 << 14 }; /* bytes scanned at once: they and the list stay in the cache; no id in it is too long */
enum { DIS_WINDOW_ROWS = DIS_WINDOW / 2, DIS_FAST_ROWS_MARGIN = 16 }; /* a row with a task has at least two bytes */

/* A field is between two entries of the list; the entry before the first one represents the end of the row before the
 * window. */
typedef struct {
    const char *text;
    const uint32_t *list;
    size_t n_entries, limit; /* rows that begin at `limit` belong to the next chunk */
    size_t n_columns;
    size_t column[DIS_ID_COLUMNS + 1]; /* of task, worker, label */
    bool crlf;
} dis__window;

/* The parsed rows of a window: labels and workers, and runs of rows with the same task. */
typedef struct {
    size_t n_votes, n_runs;
    bool is_long[DIS_ID_COLUMNS];                            /* some ids have more than 8 bytes */
    uint64_t task[DIS_WINDOW_ROWS + DIS_FAST_ROWS_MARGIN];   /* (n_runs) the first 8 bytes */
    uint32_t first[DIS_WINDOW_ROWS + DIS_FAST_ROWS_MARGIN];  /* (n_runs) of its votes */
    uint64_t worker[DIS_WINDOW_ROWS + DIS_FAST_ROWS_MARGIN]; /* (n_votes) the first 8 bytes */
    uint32_t row[DIS_WINDOW_ROWS + DIS_FAST_ROWS_MARGIN]; /* (n_votes) index into the list; only when some are long */
    uint32_t first_slot[DIS_ID_COLUMNS]
                       [DIS_WINDOW_ROWS + DIS_FAST_ROWS_MARGIN]; /* home buckets of short ids in their tables */
    uint32_t missed[DIS_ID_COLUMNS][DIS_WINDOW_ROWS + DIS_FAST_ROWS_MARGIN]; /* ids not found in their home bucket */
} dis__fast_rows;

static const uint64_t dis__low_bytes_mask[] = {0,          0xff,         0xffff,         0xffffff,
                                               0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
                                               UINT64_MAX};

/* Whether a field is in a row of n_columns: only the entries before it and after it are line ends. */
static inline __attribute__((always_inline)) const char *dis__window_field(const dis__window *w, const uint32_t *row,
                                                                           size_t c, size_t *n)
{
    const size_t begin = c ? row[c - 1] + 1 : (row[-1] + 1) & ~DIS_SCAN_LF;
    size_t end = c + 1 == w->n_columns ? row[c] & ~DIS_SCAN_LF : row[c];
    if (w->crlf && c + 1 == w->n_columns && end > begin && w->text[end - 1] == '\r') end--;
    *n = end - begin;
    return w->text + begin;
}

/* Reads the simple ones of the first n rows; 8 bytes after each field must be readable, and the batch must have room
 * for DIS_FAST_ROWS_MARGIN more rows. */
DIS_KERNEL_DECLARE(size_t, dis__fast_rows_read,
                   (const dis__batch *b, const dis__window *w, size_t n, dis__fast_rows *t));
/* Arrays have a margin of DIS_FAST_ROWS_MARGIN. */
DIS_KERNEL_DECLARE(void, dis__find_buckets,
                   (const dis__ids *ids, const uint64_t *word, size_t n, uint32_t *first_slot));
/* Computes the buckets of later lookups and prefetches them, interleaved with other lookups: the hardware sustains
 * about ten outstanding misses; more stall. */
typedef struct {
    const dis__ids *ids;
    const uint32_t *first_slot;
    size_t n;
} dis__bucket_prefetch;
/* Returns the number of misses: new ids, ids added in this round by other threads, and displaced ids. Buckets must not
 * be wide. */
DIS_KERNEL_DECLARE(size_t, dis__find_in_buckets,
                   (const dis__ids *ids, const uint64_t *word, const uint32_t *first_slot, size_t n, uint32_t *out,
                    uint32_t *missed, dis__bucket_prefetch prefetch));

#endif
