/* Reads lines from a file descriptor into a buffer of pending lines; each is passed to the row formats of votes
 * (reader.h) as a separate text, so columns, keys and messages are the same as for files. Reading waits for input in
 * steps of 200 ms at most, and checks for cancellation in between.
 *
 * Cost: a copy of the rest of the buffer per read; memory only grows for a long line. */
#include "votes/read/vote_lines.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/parallel/pool.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16, STEP_MS = 200 };

static const dis__row_format *rows_of(const char *format)
{
    static const dis__row_format *const rows[] = {&dis__rows_csv, &dis__rows_tsv, &dis__rows_jsonl};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i]->name, format) == 0) return rows[i];
    return NULL;
}

dis_status dis__vote_lines_open(const char *path, const dis_votes_options *options, dis__vote_lines *l)
{
    const char *format;
    DIS_TRY(dis__votes_format(options->format, path, &format));
    const dis__row_format *rows = rows_of(format);
    if (!rows)
        return dis__fail_at(
            DIS_EUSAGE, path, 0, 0,
            "%s cannot be read line by line; csv, tsv and jsonl can: dissent convert FILE | dissent watch -", format);
    const bool standard = strcmp(path, "-") == 0;
    const int fd = standard ? STDIN_FILENO : dis__sys_open(path, O_RDONLY, 0);
    if (fd < 0) return dis__fail_io("open", path);
    struct stat st;
    if (dis__os_file_stat(fd, &st) == 0) {
        const dis_status status = S_ISDIR(st.st_mode) ? dis__fail_folder(path) : dis__check_not_endless(fd, &st, path);
        if (status != DIS_OK && !standard) close(fd);
        DIS_TRY(status);
    }
    *l = (dis__vote_lines){.fd = fd, .path = standard ? "standard input" : path};
    l->reader.o = *options;
    l->file = (dis__vote_file){.reader = &l->reader, .input = &l->input, .format = rows};
    return DIS_OK;
}

void dis__vote_lines_close(dis__vote_lines *l)
{
    dis__row_cursor_close(&l->cursor);
    dis__vote_file_close(&l->file);
    if (l->fd != STDIN_FILENO) close(l->fd);
    dis__free(l->buffer);
}

bool dis__vote_lines_ready(dis__vote_lines *l)
{
    if (l->ended) return true;
    if (l->searched < l->used && memchr(l->buffer + l->searched, '\n', l->used - l->searched)) return true;
    l->searched = l->used;
    return false;
}

/* Reserves a piece after the rest of the buffer. */
static dis_status make_room(dis__vote_lines *l)
{
    if (l->at) {
        memmove(l->buffer, l->buffer + l->at, l->used - l->at);
        l->used -= l->at;
        l->searched -= l->at;
        l->at = 0;
    }
    if (l->used > DIS_MAX_FIELD)
        return dis__fail_at(DIS_ELIMIT, l->path, l->line + 1, 1, "a line of more than %u bytes", DIS_MAX_FIELD);
    return dis__reserve(&l->buffer, &l->capacity, l->used, l->used + PIECE, 1);
}

dis_status dis__vote_lines_wait(dis_context *ctx, dis__vote_lines *l)
{
    while (!dis__vote_lines_ready(l)) {
        DIS_TRY(make_room(l));
        int ready;
        do {
            DIS_TRY(dis__check_stop(ctx));
            ready = dis__sys_poll_input(l->fd, STEP_MS);
        } while (ready == 0);
        const ssize_t n = ready < 0 ? -1 : dis__sys_read(l->fd, l->buffer + l->used, l->capacity - l->used);
        if (n < 0) return dis__fail_io("read", l->path);
        l->used += (size_t)n;
        l->ended = n == 0;
    }
    return DIS_OK;
}

/* Sets the input, the file and the cursor to one line. */
static void set_line(dis__vote_lines *l, const char *line, size_t n)
{
    l->input = dis__input_from_bytes(l->path, line, n);
    dis__vote_file *f = &l->file;
    f->end = line + n;
    f->csv.begin = f->csv.counted = line;
    f->csv.line = l->line;
    l->cursor.next = line;
    l->cursor.csv.begin = line;
    l->cursor.csv.end = line + n;
}

static bool is_packed(const char *line, size_t n)
{
    return n >= 4 && (memcmp(line, "\x1f\x8b", 2) == 0 || memcmp(line, "\x28\xb5\x2f\xfd", 4) == 0);
}

/* The first line: a header, or a row. */
static dis_status start(dis__vote_lines *l, const char *line, size_t n)
{
    dis__vote_file *f = &l->file;
    if (is_packed(line, n))
        return dis__fail_at(DIS_EDATA, l->path, 0, 0,
                            "an archive; decompress it in a pipe, as in zcat FILE | dissent watch -");
    l->input = dis__input_from_bytes(l->path, line, n);
    f->end = line + n;
    dis__csv_open(&f->csv, &l->input, dis__votes_separator(&l->reader.o, f->format->name));
    DIS_TRY(dis__alloc_array(&f->drop_column, l->reader.o.n_drop, sizeof *f->drop_column));
    f->rows = f->csv.next;
    DIS_TRY(f->format->open(f));
    dis__row_cursor_open(&l->cursor, f, f->rows);
    l->started = true;
    return DIS_OK;
}

/* The next line including its end; n = 0: none. */
static const char *next_line(dis__vote_lines *l, size_t *n)
{
    const char *line = l->buffer + l->at;
    const char *lf = l->used > l->at ? memchr(line, '\n', l->used - l->at) : NULL;
    *n = lf ? (size_t)(lf - line) + 1 : l->used - l->at;
    l->at += *n;
    l->searched = l->at;
    l->line += *n > 0;
    return line;
}

dis_status dis__vote_lines_next(dis__vote_lines *l, bool *more)
{
    size_t n;
    const char *line = next_line(l, &n);
    *more = n > 0;
    if (!l->started && n == 0) return dis__fail_at(DIS_EDATA, l->path, 0, 0, "the input is empty");
    if (n == 0) return DIS_OK;
    const bool first = !l->started;
    if (first) DIS_TRY(start(l, line, n));
    l->cell = NULL;
    if (first && l->file.csv.n_columns > 0) return DIS_OK;         /* a header */
    const size_t mark = first ? (size_t)(l->file.rows - line) : 0; /* byte order mark */
    set_line(l, line + mark, n - mark);
    const dis_status status = l->file.format->row(&l->cursor);
    l->cell = l->cursor.cell;
    l->dropped = l->cursor.dropped;
    return status == DIS_EDATA ? dis__vote_file_fail(&l->file, &l->cursor.problem) : status;
}

dis_status dis__vote_lines_fail(dis__vote_lines *l, const dis__vote_field *cell)
{
    dis__row_problem problem = {.at = cell->at};
    snprintf(problem.text, sizeof problem.text, "%s", dis_last_error());
    return dis__vote_file_fail(&l->file, &problem);
}
