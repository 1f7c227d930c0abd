/* Parses the rows of a file on all threads.
 *
 * The text is divided into chunks of equal size; a row belongs to the chunk in which it begins. The start of the first
 * row of a chunk is a guess: after the next LF, taking into account the parity of the quotes before it (counted only
 * once quotes have been seen). Several chunks form a round: they are parsed in parallel, then checked in order. If one
 * begins elsewhere than the previous one ended, the guess was wrong (a damaged file): the results of the round are
 * withdrawn, and its chunks are parsed again sequentially, each from the end of the previous one. So rows, errors and
 * rows skipped by lenient are those of a sequential reader, for any chunk size and any number of threads. The memory of
 * a round is reused by the next.
 *
 * An archive is a stream: while a round is parsed, one job decompresses text for the next. A round then ends at the end
 * of a row, according to the parity of quotes. If its last row is invalid, it may only be incomplete, and the round is
 * repeated with more text. */
#include "votes/read/reader.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "io/input/text_format.h"

enum { HEAD = 1 << 16 }; /* bytes of a round that are searched for quotes */

typedef struct {
    const char *begin;   /* of the first row */
    const char *limit;   /* rows that begin here or later belong to the next chunk */
    const char *end;     /* after the last row */
    const char *bad_end; /* after the last bad row; NULL: none */
    dis_status status;   /* DIS_EDATA: see cursor.problem */
    uint64_t quotes;     /* in the text of the chunk */
    dis__row_cursor cursor;
    dis__batch *batch;
} chunk;

typedef struct {
    dis__vote_file *file;
    chunk *chunks;        /* (round) */
    size_t n;             /* in the current round */
    size_t max;           /* chunks in it; the first rounds are short, because the rate of new ids is unknown */
    const char *from;     /* start of the round's text */
    bool quotes;          /* quotes have been seen: count them */
    uint64_t guess;       /* of a stream: bytes of text, as the collector knows */
    size_t ahead;         /* of a stream: bytes to decompress while the round is parsed */
    dis__batch **batches; /* (round) batches of the chunks */
} reading;

dis_status dis__vote_file_fail(dis__vote_file *file, const dis__row_problem *problem)
{
    uint64_t line, column;
    dis__csv_position(&file->csv, problem->at, &line, &column);
    const dis_status status = dis__fail_at(DIS_EDATA, file->csv.path, line, column, "%s", problem->text);
    const bool advice = file->reader && !file->reader->o.lenient && strcmp(problem->text, DIS_EMPTY_LABEL) == 0;
    return advice ? dis__fail_append(status, "\n  `na` \"\"") : status;
}

dis_status dis__vote_file_open(dis__vote_file *file, dis__reader *reader, const dis__input *input,
                               const dis__row_format *format)
{
    *file = (dis__vote_file){.reader = reader, .input = input, .format = format, .end = input->bytes + input->n};
    dis__csv_open(&file->csv, input, dis__votes_separator(&reader->o, format->name));
    file->rows = file->csv.next;
    dis_status status = dis__alloc_array(&file->drop_column, reader->o.n_drop, sizeof *file->drop_column);
    if (status == DIS_OK) status = format->open(file);
    if (status == DIS_OK && file->rows == file->end)
        status = dis__fail_at(DIS_EDATA, input->path, 0, 0,
                              file->csv.n_columns ? "a header and no rows" : "the file is empty");
    if (status != DIS_OK) dis__vote_file_close(file);
    return status;
}

void dis__vote_file_close(dis__vote_file *file)
{
    dis__csv_close(&file->csv);
    dis__free(file->drop_column);
    file->drop_column = NULL;
}

void dis__row_cursor_open(dis__row_cursor *cursor, const dis__vote_file *file, const char *at)
{
    *cursor = (dis__row_cursor){.file = file, .next = at};
    dis__csv_open(&cursor->csv, file->input, file->csv.separator);
    cursor->csv.n_columns = file->csv.n_columns;
}

void dis__row_cursor_close(dis__row_cursor *cursor)
{
    dis__csv_close(&cursor->csv);
    dis__json_free(&cursor->json);
    dis__free(cursor->scratch);
    cursor->scratch = NULL;
}

/* One row on the slow path. */
static dis_status slow_row(chunk *k, bool lenient)
{
    dis__row_cursor *c = &k->cursor;
    dis__batch *b = k->batch;
    const dis__vote_file *f = c->file;
    b->seen++;
    dis_status status = f->format->row(c);
    if (status == DIS_OK && c->dropped) {
        b->dropped++;
        return DIS_OK;
    }
    if (status == DIS_OK) status = dis__batch_row(b, c->cell, f->input->bytes, f->end, &c->problem);
    if (status == DIS_EDATA) k->bad_end = c->next;
    if (status == DIS_EDATA && lenient) return dis__batch_skip(b, &c->problem);
    return status;
}

static dis_status parse_rows(chunk *k, bool lenient)
{
    enum { MAX_SLOW = 64 };
    dis__row_cursor *c = &k->cursor;
    const dis__row_format *format = c->file->format;
    /* Consecutive rows on the slow path before the fast one is tried again; more if it keeps failing. */
    for (size_t slow = 1; c->next < k->limit && !dis__batch_is_full(k->batch);) {
        if (format->fast) {
            const char *before = c->next;
            DIS_TRY(format->fast(c, k->limit));
            slow = c->next > before ? 1 : slow < MAX_SLOW ? 2 * slow : MAX_SLOW;
        }
        for (size_t i = 0; i < slow && c->next < k->limit; i++) DIS_TRY(slow_row(k, lenient));
    }
    return DIS_OK;
}

static void parse(const reading *r, size_t j)
{
    dis__reader *reader = r->file->reader;
    chunk *k = &r->chunks[j];
    dis__collector *c = &reader->collector;
    dis__batch_reset(k->batch, &reader->rules, &c->labels, c->ids, j, j ? k[-1].batch : NULL, k->batch->texts);
    k->batch->numbered_later = c->tasks->numbered_later;
    k->batch->input_is_transient = r->file->stream != NULL;
    k->bad_end = NULL;
    k->cursor.next = k->begin;
    k->status = parse_rows(k, reader->o.lenient);
    k->end = k->cursor.next;
}

/* After the chunks of a stream: decompresses text for the next round. It starts first, since others may depend on
 * it. */
static dis_status parse_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const reading *r = arg;
    const bool stream = r->file->stream != NULL;
    if (stream && j == 0) return dis__input_extend(r->file->stream, r->ahead);
    j -= stream;
    parse(r, j);
    const dis_status status = r->chunks[j].status;
    return status == DIS_EDATA ? DIS_OK : status; /* bad data counts only after the guess was confirmed */
}

static dis_status quotes_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const reading *r = arg;
    const char *p = j ? r->chunks[j - 1].limit : r->from, *end = r->chunks[j].limit;
    uint64_t n = 0;
    for (; p < end; p++) n += *p == '"';
    r->chunks[j].quotes = n;
    return DIS_OK;
}

/* The first row that begins at `at` or later, if `inside` correctly states whether `at` is within quotes. */
static const char *guess_row(const char *at, const char *end, bool quotes, bool in_quotes)
{
    if (!quotes) {
        const char *lf = memchr(at - 1, '\n', (size_t)(end - at) + 1);
        return lf ? lf + 1 : end;
    }
    if (!in_quotes && at[-1] == '\n') return at;
    for (const char *p = at; p < end; p++) {
        in_quotes ^= *p == '"';
        if (*p == '\n' && !in_quotes) return p + 1;
    }
    return end;
}

const char *dis__find_row_start(const dis__vote_file *file, uint64_t at, bool quotes, bool in_quotes)
{
    const char *from = file->input->bytes + (at < file->input->n ? at : file->input->n);
    if (from <= file->rows) return file->rows;
    return from >= file->end ? file->end : guess_row(from, file->end, quotes, in_quotes);
}

/* Sets begin and limit of the round's chunks. */
static dis_status plan(dis_context *ctx, reading *r)
{
    const dis__vote_file *f = r->file;
    const size_t size = f->reader->tuning.chunk, max = r->max;
    const char *at = r->from;
    for (r->n = 0; r->n < max && at < f->end; r->n++) {
        at += (size_t)(f->end - at) < size ? (size_t)(f->end - at) : size;
        r->chunks[r->n].limit = at;
    }
    const bool quotes = f->format->quotes && r->quotes;
    if (quotes && r->n > 1) DIS_TRY(dis__run_jobs(ctx, r->n, quotes_job, r));
    uint64_t before = 0;
    r->chunks[0].begin = r->from;
    for (size_t j = 1; j < r->n; j++) {
        before += r->chunks[j - 1].quotes;
        r->chunks[j].begin = guess_row(r->chunks[j - 1].limit, f->end, quotes, quotes && before % 2);
    }
    return DIS_OK;
}

/* Keeps messages of skipped rows, with their positions, and adds up the counters of batches. */
static dis_status add_notes(dis__vote_file *f, const dis__batch *b)
{
    dis_votes *votes = f->reader->votes;
    votes->notes.rows += b->seen;
    votes->notes.missing_labels += b->na;
    votes->notes.dropped += b->dropped;
    votes->notes.bad_rows += b->bad;
    for (size_t i = 0; i < b->n_skipped && votes->n_skipped < DIS_MAX_MESSAGES; i++) {
        dis__row_problem problem = {.at = b->skipped[i].at};
        memcpy(problem.text, b->skipped[i].message, strlen(b->skipped[i].message) + 1);
        dis__vote_file_fail(f, &problem);
        DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
        votes->n_skipped++;
    }
    return DIS_OK;
}

static dis_status prepare(const reading *r, size_t room, bool in_order)
{
    dis__reader *reader = r->file->reader;
    dis__round round = {.n_batches = r->n, .room = room, .in_order = in_order};
    for (size_t j = 0; j < r->n; j++) {
        const size_t n = (size_t)(r->chunks[j].limit - (j ? r->chunks[j - 1].limit : r->from));
        round.n_bytes = n > round.n_bytes ? n : round.n_bytes;
    }
    round.max_rows = round.n_bytes / r->file->min + 2;
    return dis__collector_begin_round(&reader->collector, &round);
}

static void withdraw(const reading *r)
{
    dis__collector_undo_round(&r->file->reader->collector, r->batches, r->n);
}

/* Parses all chunks in parallel, with as much room for new ids as required. */
static dis_status parse_all(dis_context *ctx, reading *r)
{
    for (size_t room = 1;; room *= 4) {
        DIS_TRY(prepare(r, room, dis_context_n_threads(ctx) == 1));
        DIS_TRY(dis__run_jobs(ctx, r->n + (r->file->stream != NULL), parse_job, r));
        bool full = false;
        for (size_t j = 0; j < r->n; j++) full = full || dis__batch_is_full(r->batches[j]);
        if (!full) return DIS_OK;
        withdraw(r);
    }
}

static dis_status parse_in_order(const reading *r)
{
    withdraw(r);
    DIS_TRY(prepare(r, DIS_HEADROOM_UNLIMITED, true));
    for (size_t j = 0; j < r->n; j++) {
        if (j) r->chunks[j].begin = r->chunks[j - 1].end;
        parse(r, j);
        if (r->chunks[j].status != DIS_OK) break;
    }
    return DIS_OK;
}

/* Confirms the guesses, or parses again. */
static dis_status prove(const reading *r)
{
    for (size_t j = 1; j < r->n && r->chunks[j - 1].status == DIS_OK; j++)
        if (r->chunks[j].begin != r->chunks[j - 1].end) return parse_in_order(r);
    return DIS_OK;
}

/* Checks chunks in order, for bad data and for notes. */
static dis_status check(const reading *r)
{
    for (size_t j = 0; j < r->n; j++) {
        const chunk *k = &r->chunks[j];
        if (k->status == DIS_EDATA) return dis__vote_file_fail(r->file, &k->cursor.problem);
        DIS_TRY(k->status);
        DIS_TRY(add_notes(r->file, k->batch));
    }
    return DIS_OK;
}

/* ---- streams ---- */

/* After the last complete row of the text; `from` if there is none. */
static const char *last_row_end(const char *from, const char *end, bool quotes)
{
    if (!quotes || !memchr(from, '"', (size_t)(end - from))) {
        while (end > from && end[-1] != '\n') end--;
        return end;
    }
    const char *last = from;
    bool in_quotes = false;
    for (const char *p = from; p < end; p++) {
        in_quotes ^= *p == '"';
        if (*p == '\n' && !in_quotes) last = p + 1;
    }
    return last;
}

/* Makes n bytes of text available for the round, and more if they contain no complete row; as much again may be
 * decompressed while it is parsed. */
static dis_status fetch(reading *r, size_t n)
{
    dis__vote_file *f = r->file;
    dis__input *in = f->stream;
    const dis_votes_options *o = &f->reader->o;
    const size_t from = (size_t)(r->from - in->bytes);
    for (bool again = true; again; n *= 2) {
        DIS_TRY(dis__input_extend(in, from + n));
        const bool ends = dis__input_is_complete(in);
        if (ends && !o->delimiter && !o->no_header) dis__text_trim_blank_lines(in);
        f->end = in->bytes + in->n;
        if (!ends) f->end = last_row_end(r->from, f->end, f->format->quotes);
        again = !ends && f->end == r->from;
    }
    for (size_t j = 0; j < f->reader->tuning.round; j++) r->chunks[j].cursor.csv.end = f->end;
    r->ahead = from + 2 * n;
    return DIS_OK;
}

/* Whether an error may be due to truncated text: not if there is more text than a row may have. */
static bool may_be_cut(const reading *r)
{
    const dis__vote_file *f = r->file;
    if (!f->stream || dis__input_is_complete(f->stream)) return false;
    for (size_t j = 0; j < r->n; j++) {
        const chunk *k = &r->chunks[j];
        const bool bad = k->status == DIS_EDATA || (k->bad_end && k->bad_end >= f->end);
        if (bad && f->end - k->begin < 2 * (ptrdiff_t)DIS_MAX_FIELD) return true;
    }
    return false;
}

/* Releases the part of a stream that was read, after counting its lines. */
static dis_status pass(reading *r)
{
    dis__csv *csv = &r->file->csv;
    dis__collector *c = &r->file->reader->collector;
    if (!r->file->stream) return DIS_OK;
    uint64_t n = 0;
    for (const char *p = csv->counted; p < r->from; p++) n += *p == '\n';
    csv->line += n;
    csv->counted = r->from;
    dis__input_discard(r->file->stream, (size_t)(r->from - r->file->stream->bytes));
    const uint64_t size = dis__input_size(r->file->stream);
    c->n_bytes += size - r->guess; /* the rest of the input can be estimated better after this round */
    r->guess = size;
    return DIS_OK;
}

static dis_status parse_round(dis_context *ctx, reading *r)
{
    const size_t size = r->max * r->file->reader->tuning.chunk;
    if (r->file->stream) DIS_TRY(fetch(r, size));
    for (size_t n = 2 * size;; n *= 2) {
        DIS_TRY(plan(ctx, r));
        if (r->n == 0) return DIS_OK;
        DIS_TRY(parse_all(ctx, r));
        DIS_TRY(prove(r));
        if (!may_be_cut(r)) return check(r);
        withdraw(r);
        DIS_TRY(fetch(r, n));
    }
}

static dis_status read_round(dis_context *ctx, reading *r)
{
    dis__vote_file *f = r->file;
    DIS_TRY(parse_round(ctx, r));
    if (r->n == 0) return DIS_OK;
    const char *end = r->chunks[r->n - 1].end;
    const size_t n = (size_t)(end - r->from);
    DIS_TRY(dis__collector_add_round(ctx, &f->reader->collector, r->batches, r->n, n));
    r->quotes = r->quotes || memchr(r->from, '"', n < HEAD ? n : HEAD);
    r->from = end;
    DIS_TRY(pass(r));
    r->max = 2 * r->max < f->reader->tuning.round ? 2 * r->max : f->reader->tuning.round;
    dis__progress(ctx, "reading votes", (double)(r->from - f->input->bytes) / (double)dis__input_size(f->input));
    return DIS_OK;
}

static dis_status read_rounds(reading *r)
{
    dis__reader *reader = r->file->reader;
    const size_t n = reader->tuning.round;
    DIS_TRY(dis__alloc_zeroed(&r->chunks, n, sizeof *r->chunks));
    DIS_TRY(dis__alloc_array(&r->batches, n, sizeof *r->batches));
    for (size_t j = 0; j < n; j++) {
        r->batches[j] = r->chunks[j].batch = &reader->batch[j];
        r->batches[j]->texts = &reader->texts[j];
        dis__row_cursor_open(&r->chunks[j].cursor, r->file, r->file->rows);
        r->chunks[j].cursor.batch = r->batches[j];
    }
    while (r->from < r->file->end || (r->file->stream && !dis__input_is_complete(r->file->stream)))
        DIS_TRY(read_round(reader->ctx, r));
    return DIS_OK;
}

dis_status dis__read_rows(dis__vote_file *file)
{
    const size_t head = (size_t)(file->end - file->rows) < HEAD ? (size_t)(file->end - file->rows) : HEAD;
    reading r = {.file = file,
                 .from = file->rows,
                 .max = 1,
                 .guess = dis__input_size(file->input),
                 .quotes = memchr(file->rows, '"', head) != NULL};
    const dis_status status = read_rounds(&r);
    for (size_t j = 0; r.batches && j < file->reader->tuning.round; j++) dis__row_cursor_close(&r.chunks[j].cursor);
    dis__free(r.chunks);
    dis__free(r.batches);
    return status;
}
