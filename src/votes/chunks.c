/* A file of rows, parsed on all threads.
 *
 * The text is cut into chunks of equal size, whatever is there; a row belongs to the chunk it begins in. Where the
 * first row of a chunk begins is a guess: behind the next LF, taking into account whether the number of quotes before
 * it is odd (counted only when quotes have been seen). Chunks are parsed side by side, then looked at in order: where
 * one begins elsewhere than the one before it ended, the guess was wrong (a damaged file) and the chunk is parsed again
 * from the right place. So rows, errors and what lenient skips are those of a reader that goes from start to end, for
 * any size of chunk and any number of threads.
 *
 * Several chunks make a round; what a round needs is used again by the next. */
#include "votes/reader.h"
#include "core/memory.h"
#include "core/pool.h"

typedef struct {
    const char *begin; /* of the first row */
    const char *limit; /* rows that begin here or later are the next chunk's */
    const char *end;   /* behind the last row */
    dis_status status; /* DIS_EDATA: see cursor.problem */
    uint64_t quotes;   /* in the text of the chunk */
    dis__cursor cursor;
    dis__batch *batch;
} chunk;

typedef struct {
    dis__file *file;
    chunk *chunks;    /* (round) */
    size_t n;         /* in the round at hand */
    const char *from; /* where the round's text begins */
    bool quotes;      /* have been seen: count them */
} reading;

dis_status dis__file_fail(dis__file *file, const dis__problem *problem)
{
    uint64_t line, column;
    dis__csv_place(&file->csv, problem->at, &line, &column);
    return dis__fail_at(DIS_EDATA, file->csv.path, line, column, "%s", problem->text);
}

dis_status dis__file_open(dis__file *file, dis__reader *reader, const dis__input *input, const dis__row_format *format)
{
    *file = (dis__file){.reader = reader, .input = input, .format = format, .end = input->bytes + input->n};
    dis__csv_open(&file->csv, input, format->separator);
    file->rows = file->csv.next;
    dis_status status = dis__alloc_array(&file->drop_column, reader->o.n_drop, sizeof *file->drop_column);
    if (status == DIS_OK) status = format->open(file);
    if (status == DIS_OK && file->rows == file->end)
        status = dis__fail_at(DIS_EDATA, input->path, 0, 0,
                              file->csv.n_columns ? "a header and no rows" : "the file is empty");
    if (status != DIS_OK) dis__file_close(file);
    return status;
}

void dis__file_close(dis__file *file)
{
    dis__csv_close(&file->csv);
    dis__free(file->drop_column);
    file->drop_column = NULL;
}

void dis__cursor_open(dis__cursor *cursor, const dis__file *file, const char *at)
{
    *cursor = (dis__cursor){.file = file, .next = at};
    dis__csv_open(&cursor->csv, file->input, file->format->separator);
    cursor->csv.n_columns = file->csv.n_columns;
}

void dis__cursor_close(dis__cursor *cursor)
{
    dis__csv_close(&cursor->csv);
    dis__json_free(&cursor->json);
    dis__free(cursor->list);
    dis__free(cursor->at);
    dis__free(cursor->key);
    cursor->list = cursor->at = NULL;
    cursor->key = NULL;
}

/* One row the careful way. */
static dis_status slow_row(dis__cursor *c, dis__batch *b, bool lenient)
{
    const dis__file *f = c->file;
    b->seen++;
    dis_status status = f->format->row(c);
    if (status == DIS_OK && c->dropped) {
        b->dropped++;
        return DIS_OK;
    }
    if (status == DIS_OK) status = dis__batch_row(b, c->cell, f->input->bytes, f->end, &c->problem);
    if (status == DIS_EDATA && lenient) return dis__batch_skip(b, &c->problem);
    return status;
}

static dis_status parse_rows(chunk *k, bool lenient)
{
    enum { MOST_SLOW = 64 };
    dis__cursor *c = &k->cursor;
    const dis__row_format *format = c->file->format;
    /* Rows in a row that go the careful way before the fast one is tried again; more where it keeps failing. */
    for (size_t slow = 1; c->next < k->limit;) {
        if (format->fast) {
            const char *before = c->next;
            DIS_TRY(format->fast(c, k->limit));
            slow = c->next > before ? 1 : slow < MOST_SLOW ? 2 * slow : MOST_SLOW;
        }
        for (size_t i = 0; i < slow && c->next < k->limit; i++) DIS_TRY(slow_row(c, k->batch, lenient));
    }
    return DIS_OK;
}

static void parse(const dis__file *f, chunk *k)
{
    const dis__table *frozen[DIS_ID_COLUMNS];
    dis__collect_frozen(&f->reader->collector, frozen);
    dis__batch_reset(k->batch, &f->reader->rules, frozen, k->batch->texts);
    k->cursor.next = k->begin;
    k->status = parse_rows(k, f->reader->o.lenient);
    k->end = k->cursor.next;
}

static dis_status parse_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const reading *r = arg;
    chunk *k = &r->chunks[j];
    parse(r->file, k);
    return k->status == DIS_EDATA ? DIS_OK : k->status; /* bad data counts only once the guess has been proved right */
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

/* The first row that begins at `at` or later, if `inside` says rightly whether `at` lies within quotes. */
static const char *guess_row(const char *at, const char *end, bool quotes, bool inside)
{
    if (!quotes) {
        const char *lf = memchr(at - 1, '\n', (size_t)(end - at) + 1);
        return lf ? lf + 1 : end;
    }
    if (!inside && at[-1] == '\n') return at;
    for (const char *p = at; p < end; p++) {
        inside ^= *p == '"';
        if (*p == '\n' && !inside) return p + 1;
    }
    return end;
}

/* Sets begin and limit of the round's chunks. */
static dis_status plan(dis_context *ctx, reading *r)
{
    const dis__file *f = r->file;
    const size_t size = f->reader->tuning.chunk, most = f->reader->tuning.round;
    const char *at = r->from;
    for (r->n = 0; r->n < most && at < f->end; r->n++) {
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

/* Keeps messages of skipped rows, with their places, and adds up what batches counted. */
static dis_status take_notes(dis__file *f, const dis__batch *b)
{
    dis_votes *votes = f->reader->votes;
    votes->notes.rows += b->seen;
    votes->notes.na += b->na;
    votes->notes.dropped += b->dropped;
    votes->notes.bad_rows += b->bad;
    for (size_t i = 0; i < b->n_skipped && votes->n_skipped < DIS_KEPT_MESSAGES; i++) {
        dis__problem problem = {.at = b->skipped[i].at};
        memcpy(problem.text, b->skipped[i].message, strlen(b->skipped[i].message) + 1);
        dis__file_fail(f, &problem);
        DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
        votes->n_skipped++;
    }
    return DIS_OK;
}

/* Proves the guesses right, or parses again. */
static dis_status check(reading *r)
{
    for (size_t j = 0; j < r->n; j++) {
        chunk *k = &r->chunks[j];
        if (j && k->begin != r->chunks[j - 1].end) {
            k->begin = r->chunks[j - 1].end;
            parse(r->file, k);
        }
        if (k->status == DIS_EDATA) return dis__file_fail(r->file, &k->cursor.problem);
        DIS_TRY(k->status);
        DIS_TRY(take_notes(r->file, k->batch));
    }
    return DIS_OK;
}

static dis_status read_rounds(dis_context *ctx, reading *r)
{
    dis__file *f = r->file;
    dis__reader *reader = f->reader;
    dis__batch **batches;
    DIS_TRY(dis__alloc_array(&batches, reader->tuning.round, sizeof *batches));
    dis_status status = DIS_OK;
    while (status == DIS_OK && r->from < f->end) {
        status = plan(ctx, r);
        if (status == DIS_OK) status = dis__run_jobs(ctx, r->n, parse_job, r);
        if (status == DIS_OK) status = check(r);
        for (size_t j = 0; j < r->n; j++) batches[j] = r->chunks[j].batch;
        if (status == DIS_OK)
            status =
                dis__collect(ctx, &reader->collector, batches, r->n, (uint64_t)(r->chunks[r->n - 1].end - r->from));
        if (status == DIS_OK) {
            const char *end = r->chunks[r->n - 1].end;
            r->quotes =
                r->quotes || memchr(r->from, '"', (size_t)(end - r->from) < 65536 ? (size_t)(end - r->from) : 65536);
            r->from = end;
            dis__progress(ctx, "reading votes", (double)(r->from - f->input->bytes) / (double)f->input->n);
        }
    }
    dis__free(batches);
    return status;
}

dis_status dis__read_rows(dis__file *file)
{
    dis__reader *reader = file->reader;
    const size_t head = (size_t)(file->end - file->rows) < 65536 ? (size_t)(file->end - file->rows) : 65536;
    reading r = {.file = file, .from = file->rows, .quotes = memchr(file->rows, '"', head) != NULL};
    DIS_TRY(dis__alloc_zeroed(&r.chunks, reader->tuning.round, sizeof *r.chunks));
    for (size_t j = 0; j < reader->tuning.round; j++) {
        r.chunks[j].batch = &reader->batch[j];
        r.chunks[j].batch->texts = &reader->texts[j];
        dis__cursor_open(&r.chunks[j].cursor, file, file->rows);
        r.chunks[j].cursor.batch = r.chunks[j].batch;
    }
    const dis_status status = read_rounds(reader->ctx, &r);
    for (size_t j = 0; j < reader->tuning.round; j++) dis__cursor_close(&r.chunks[j].cursor);
    dis__free(r.chunks);
    return status;
}
