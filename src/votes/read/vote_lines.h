/* vote_lines.h: reads votes from a file or a pipe, line by line, as they arrive.
 *
 *     dis__vote_lines lines;
 *     DIS_TRY(dis__vote_lines_open(path, &options, &lines));
 *     for (;;) {
 *         if (!dis__vote_lines_ready(&lines)) {
 *             flush the results of the lines so far;
 *             DIS_TRY_GOTO(status, dis__vote_lines_wait(ctx, &lines), end);
 *         }
 *         DIS_TRY_GOTO(status, dis__vote_lines_next(&lines, &more), end);
 *         if (!more) break;
 *         lines.cell, lines.dropped
 *     }
 *     end: dis__vote_lines_close(&lines);
 *
 * A row is a line: unlike in files that are read as a whole, a quoted field cannot contain a line break, since an
 * unclosed quote would block all output. */
#ifndef DIS_VOTES_READ_VOTE_LINES_H
#define DIS_VOTES_READ_VOTE_LINES_H
#include "votes/read/reader.h"

typedef struct {
    const dis__vote_field *cell; /* task, worker, label of the row, until the next call; NULL: the line is a header */
    bool dropped;                /* by a drop rule */
    int fd;
    const char *path;
    dis__reader reader; /* its options only */
    dis__input input;   /* the current line */
    dis__vote_file file;
    dis__row_cursor cursor;
    bool started, ended; /* whether the first line was read; whether the end was reached */
    uint64_t line;       /* of the current row, from 1 */
    char *buffer;
    size_t capacity, at, used, searched; /* the next line begins at `at`; there is no line end before `searched` */
} dis__vote_lines;

/* Opens CSV, TSV or JSONL, by the options or the name; path and options must outlive the lines. DIS_EUSAGE, DIS_EIO. */
dis_status dis__vote_lines_open(const char *path, const dis_votes_options *options, dis__vote_lines *lines);
/* Whether a complete line, or the end, is available without waiting. */
bool dis__vote_lines_ready(dis__vote_lines *lines);
/* Waits for input. DIS_ECANCELLED: the caller requested to stop. */
dis_status dis__vote_lines_wait(dis_context *ctx, dis__vote_lines *lines);
/* Reads the next row; there must be a line or the end. DIS_EDATA with position and reason: reading may continue with
 * the next row, except after a header without the columns (lines->started is false then). */
dis_status dis__vote_lines_next(dis__vote_lines *lines, bool *more);
/* DIS_EDATA with the position of a cell of the current row, with the last error message as the reason. */
dis_status dis__vote_lines_fail(dis__vote_lines *lines, const dis__vote_field *cell);
void dis__vote_lines_close(dis__vote_lines *lines);

#endif
