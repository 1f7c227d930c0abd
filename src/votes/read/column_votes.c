/* Votes from columns in memory: see dissent/columns.h. Rows are divided into chunks of equal size; the chunks of a
 * round are processed in parallel, each into a batch (batch.h), which are then merged (collector.h), as for files.
 * Within a chunk, rows are processed block by block: texts are converted (column_cells.h), keys are computed and their
 * slots prefetched before the first lookup. Tasks that fit into words are usually numbered later (collector.h).
 *
 * An invalid row stops the reader, or under lenient is skipped; it adds no ids.
 *
 * Cost per row: its three texts read once, two cache lines for its ids, 5 or 6 bytes written. */
#include "dissent/columns.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "core/text/utf8.h"
#include "votes/read/column_cells.h"
#include "votes/read/reader.h"
#include "votes/collect/fast_rows.h"
#include <stdarg.h>
#include <stdio.h>

DIS_OPTIONS_DEFAULTS(dis_votes_columns, .size = sizeof(dis_votes_columns))

enum { BLOCK = DIS_COLUMN_BLOCK, CHUNK_ROWS = 8192, BUCKET_ROWS = 1 << 16 };
enum { COLUMNS = DIS_ID_COLUMNS + 1, LABEL = DIS_ID_COLUMNS };
static const char *const column_name[COLUMNS] = {"task", "worker", "label"};

typedef struct {
    dis__reader reader;
    dis__vote_column column[COLUMNS];
    size_t n_rows, chunk;
    size_t from, n; /* the current round: its first row and number of chunks */
    void (*find_buckets)(const dis__ids *ids, const uint64_t *word, size_t n, uint32_t *first_slot);
    size_t (*find_in_buckets)(const dis__ids *ids, const uint64_t *word, const uint32_t *first_slot, size_t n,
                              uint32_t *out, uint32_t *missed, dis__bucket_prefetch prefetch);
    dis__batch **batches;
} table;

/* ---- flaws ---- */

__attribute__((format(printf, 2, 3))) static dis_status flaw(dis__row_problem *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, sizeof p->text, format, args);
    va_end(args);
    return DIS_EDATA;
}

static dis_status check_text(const dis_text *t, int column, size_t row, dis__row_problem *problem)
{
    const char *name = column_name[column];
    if (t->n == DIS_CELL_BROKEN)
        return flaw(problem, "row %zu: the %s lies outside its buffer or dictionary; the column is damaged", row, name);
    if (column != LABEL && t->n == 0) return flaw(problem, "row %zu: no %s; every vote needs one", row, name);
    if (t->n > DIS_MAX_ID)
        return flaw(problem, "row %zu: a %s of more than %u bytes; shorten it", row, name, DIS_MAX_ID);
    if (t->n == 0) return DIS_OK;
    if (memchr(t->bytes, 0, t->n)) return flaw(problem, "row %zu: the %s has a NUL byte in it; take it out", row, name);
    if (dis__utf8_check(t->bytes, t->n) < t->n)
        return flaw(problem, "row %zu: the %s is not valid UTF-8; convert it", row, name);
    return DIS_OK;
}

/* The index and kind of row i's label. */
static dis_status find_label(dis__batch *b, const dis__column_block *c, size_t i, size_t row, dis__label *label,
                             dis__row_problem *problem)
{
    const dis_text *t = &c->text[i];
    dis__cached_label *recent = NULL;
    if (t->n - 1 < DIS_ID_INLINE && !(c->is_special >> i & 1)) {
        recent = &b->recent[dis__label_slot(c->word[i])];
        *label = recent->label;
        if (recent->word == c->word[i] && label->kind == DIS_LABEL_VOTE) return DIS_OK;
    }
    const dis__key key = dis__key_from_text(&b->rules->secret, t->bytes ? t->bytes : "", t->n);
    const size_t n = b->label.n;
    DIS_TRY(dis__batch_label(b, &key, label));
    if (recent) *recent = (dis__cached_label){.word = c->word[i], .label = *label};
    if (b->label.n > n && t->n > DIS_KEY_INLINE && !c->is_stable) { /* it is new */
        const char *copy;
        DIS_TRY(dis__arena_copy(b->texts, t->bytes, t->n, &copy));
        b->label.key[n].high = (uint64_t)(uintptr_t)copy;
    }
    switch ((dis__label_kind)label->kind) {
    case DIS_LABEL_VOTE:
    case DIS_LABEL_NA: return DIS_OK;
    case DIS_LABEL_EMPTY:
        return flaw(problem, "row %zu: no label; if a missing label means \"no vote\", list \"\" in `na`", row);
    case DIS_LABEL_INVALID:
        return flaw(problem, "row %zu: the label \"%.*s\" is not %s, as scale %s has it; correct it, or add it to `na`",
                    row, t->n > 100 ? 100 : (int)t->n, t->bytes, b->rules->scale->info.label,
                    b->rules->scale->info.name);
    case DIS_LABEL_UNDECLARED: break;
    }
    return flaw(problem,
                "row %zu: the label \"%.*s\" is not among the declared classes; add it to `classes`, or to `na`", row,
                t->n > 200 ? 200 : (int)t->n, t->bytes);
}

/* ---- blocks of rows ---- */

static bool same_text(const dis_text *a, const dis_text *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* The indices of ids of any length at `list` (n) of a block; a row with the same task as the previous row copies its
 * index. */
static dis_status find_any(dis__chunk_ids *chunk_ids, const dis__column_block *c, const uint8_t *list, size_t n,
                           bool runs, uint32_t *out)
{
    dis__id_key key[BLOCK];
    uint32_t likely[BLOCK];
    bool again[BLOCK];
    const dis__ids *ids = chunk_ids->ids;
    for (size_t i = 0; i < n; i++) {
        const dis_text *t = &c->text[list[i]];
        again[i] = runs && i && same_text(t, &c->text[list[i - 1]]);
        if (again[i]) continue;
        if (t->n <= DIS_ID_INLINE && !(c->is_special >> list[i] & 1))
            key[i] = (dis__id_key){.word = c->word[list[i]],
                                   .tag = dis__id_tag(&ids->secret, c->word[list[i]]),
                                   .n = (uint32_t)t->n,
                                   .text = t->bytes};
        else
            dis__id_key_init(ids, t->bytes, t->n, c->is_stable, &key[i]);
        __builtin_prefetch(&ids->slot[dis__ids_bucket(ids, key[i].tag)]);
    }
    for (size_t i = 0; i < n; i++) {
        if (again[i]) continue;
        likely[i] = (key[i].tag & 3) == DIS_ID_LONG ? dis__ids_guess(ids, &key[i]) : DIS_ID_NONE;
        if (likely[i] < ids->n) __builtin_prefetch(&ids->start[likely[i]]);
    }
    for (size_t i = 0; i < n; i++)
        if (!again[i] && likely[i] < ids->n) __builtin_prefetch(ids->bytes + ids->start[likely[i]]);
    for (size_t i = 0; i < n; i++) {
        out[i] = again[i] ? out[i - 1] : dis__ids_find(chunk_ids, &key[i]);
        if (out[i] == DIS_ID_NONE) return DIS_ELIMIT; /* the allocator has set the message */
    }
    return DIS_OK;
}

/* The words of the texts at `list` (n) of a block; false: one of them is not a word. */
static bool words_of(const dis__column_block *c, const uint8_t *list, size_t n, uint64_t *word)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        all &= c->text[list[i]].n <= DIS_ID_INLINE;
        word[i] = c->word[list[i]];
    }
    return all;
}

/* Tasks as words, 0 for long ones, which the batch keeps. */
static dis_status keep_tasks(dis__batch *b, const dis__column_block *c, const uint8_t *list, size_t n, uint64_t *word)
{
    if (words_of(c, list, n, word)) return DIS_OK;
    for (size_t i = 0; i < n; i++) {
        const dis_text *t = &c->text[list[i]];
        if (t->n <= DIS_ID_INLINE) continue;
        DIS_TRY(dis__batch_add_long_task(b, t->bytes, t->n, c->is_stable));
        word[i] = 0;
    }
    return DIS_OK;
}

/* The indices of the ids at `list` (n) of a block. */
static dis_status find_ids(const table *t, dis__chunk_ids *chunk_ids, const dis__column_block *c, const uint8_t *list,
                           size_t n, bool runs, uint32_t *out)
{
    uint64_t word[BLOCK + DIS_FAST_ROWS_MARGIN];
    if (chunk_ids->ids->fill == DIS_BUCKET && words_of(c, list, n, word)) {
        uint32_t first_slot[BLOCK + DIS_FAST_ROWS_MARGIN], missed[BLOCK + DIS_FAST_ROWS_MARGIN];
        t->find_buckets(chunk_ids->ids, word, n, first_slot);
        const size_t n_missed =
            t->find_in_buckets(chunk_ids->ids, word, first_slot, n, out, missed, (dis__bucket_prefetch){0});
        dis__ids_find_short(chunk_ids, word, first_slot, missed, n_missed, out);
        return DIS_OK;
    }
    return find_any(chunk_ids, c, list, n, runs, out);
}

/* A block of rows into the batch. */
static dis_status read_block(const table *t, dis__batch *b, size_t row, size_t n, dis__column_block block[COLUMNS])
{
    uint8_t list[BLOCK];
    uint16_t label_of[BLOCK];
    uint32_t number[DIS_ID_COLUMNS][BLOCK + DIS_FAST_ROWS_MARGIN];
    uint64_t word[BLOCK];
    size_t n_votes = 0;
    uint64_t is_special = 0;
    for (int c = 0; c < COLUMNS; c++) {
        dis__column_read_block(&t->column[c], row, n, &block[c]);
        is_special |= block[c].is_special;
    }
    for (size_t i = 0; i < n; i++) {
        dis__row_problem problem;
        dis__label label;
        dis_status status = DIS_OK;
        for (int c = 0; is_special >> i & 1 && c < COLUMNS && status == DIS_OK; c++)
            status = check_text(&block[c].text[i], c, row + i, &problem);
        if (status == DIS_OK) status = find_label(b, &block[LABEL], i, row + i, &label, &problem);
        b->seen++;
        if (status == DIS_EDATA) {
            if (!t->reader.o.lenient) return dis__fail(DIS_EDATA, "%s", problem.text);
            DIS_TRY(dis__batch_skip(b, &problem));
            continue;
        }
        DIS_TRY(status);
        if (label.kind == DIS_LABEL_NA) {
            b->na++;
            continue;
        }
        list[n_votes] = (uint8_t)i;
        label_of[n_votes++] = (uint16_t)label.index;
    }
    if (b->numbered_later) DIS_TRY(keep_tasks(b, &block[DIS_COLUMN_TASK], list, n_votes, word));
    for (int c = b->numbered_later ? DIS_COLUMN_WORKER : DIS_COLUMN_TASK; c < DIS_ID_COLUMNS; c++)
        DIS_TRY(find_ids(t, &b->chunk_ids[c], &block[c], list, n_votes, c == DIS_COLUMN_TASK, number[c]));
    DIS_TRY(dis__batch_reserve(b, n_votes));
    const uint32_t *task = number[DIS_COLUMN_TASK], *worker = number[DIS_COLUMN_WORKER];
    for (size_t i = 0; b->numbered_later && i < n_votes; i++)
        dis__batch_add_unnumbered(b, word[i], worker[i], label_of[i]);
    for (size_t i = 0; !b->numbered_later && i < n_votes; i++) dis__batch_add(b, task[i], worker[i], label_of[i]);
    return DIS_OK;
}

static size_t chunk_first(const table *t, size_t j)
{
    const size_t left = t->n_rows - t->from;
    return t->from + (left < dis__saturating_size(j, t->chunk, 0) ? left : j * t->chunk);
}

static dis_status chunk_job(void *arg, size_t j, int thread)
{
    (void)thread;
    table *t = arg;
    dis__collector *c = &t->reader.collector;
    dis__batch *b = t->batches[j];
    dis__column_block block[COLUMNS];
    dis__batch_reset(b, &t->reader.rules, &c->labels, c->ids, j, j ? t->batches[j - 1] : NULL, &t->reader.texts[j]);
    b->numbered_later = c->tasks->numbered_later;
    const size_t end = chunk_first(t, j + 1);
    for (size_t row = chunk_first(t, j); row < end && !dis__batch_is_full(b); row += BLOCK)
        DIS_TRY(read_block(t, b, row, end - row < BLOCK ? end - row : BLOCK, block));
    return DIS_OK;
}

/* ---- rounds ---- */

/* All chunks of a round, with as much room for new ids as required. */
static dis_status fill_round(dis_context *ctx, table *t)
{
    dis__collector *c = &t->reader.collector;
    for (size_t room = 1;; room *= 4) {
        const dis__round round = {.n_batches = t->n,
                                  .n_bytes = t->chunk,
                                  .max_rows = t->chunk,
                                  .room = room,
                                  .in_order = dis_context_n_threads(ctx) == 1};
        DIS_TRY(dis__collector_begin_round(c, &round));
        DIS_TRY(dis__run_jobs(ctx, t->n, chunk_job, t));
        bool full = false;
        for (size_t j = 0; j < t->n; j++) full = full || dis__batch_is_full(t->batches[j]);
        if (!full) return DIS_OK;
        dis__collector_undo_round(c, t->batches, t->n);
    }
}

static dis_status add_notes(dis_votes *votes, const dis__batch *b)
{
    votes->notes.rows += b->seen;
    votes->notes.missing_labels += b->na;
    votes->notes.bad_rows += b->bad;
    for (size_t i = 0; i < b->n_skipped && votes->n_skipped < DIS_MAX_MESSAGES; i++) {
        const char *message = b->skipped[i].message;
        DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], message, strlen(message)));
        votes->n_skipped++;
    }
    return DIS_OK;
}

static dis_status read_rounds(dis_context *ctx, table *t)
{
    t->from = 0;
    size_t max = 1; /* the first rounds are short, because the rate of new ids is unknown */
    while (t->from < t->n_rows) {
        for (t->n = 0; t->n < max && chunk_first(t, t->n) < t->n_rows; t->n++) continue;
        DIS_TRY(fill_round(ctx, t));
        for (size_t j = 0; j < t->n; j++) DIS_TRY(add_notes(t->reader.votes, t->batches[j]));
        const size_t end = chunk_first(t, t->n);
        DIS_TRY(dis__collector_add_round(ctx, &t->reader.collector, t->batches, t->n, end - t->from));
        t->from = end;
        max = 2 * max < t->reader.tuning.round ? 2 * max : t->reader.tuning.round;
        dis__progress(ctx, "taking votes", (double)t->from / (double)t->n_rows);
    }
    return DIS_OK;
}

/* ---- the whole ---- */

static bool is_integer(dis_cells_kind kind)
{
    return kind >= DIS_CELLS_INT8 && kind <= DIS_CELLS_UINT64;
}

static dis_status check_kind(const dis_cells *c, int column)
{
    const char *name = column_name[column];
    if ((unsigned)c->kind > DIS_CELLS_BOOL)
        return dis__fail(DIS_EUSAGE, "the %s column has cells of an unknown type: %d", name, (int)c->kind);
    if (c->dictionary && (!is_integer(c->kind) || c->dictionary->dictionary))
        return dis__fail(DIS_EUSAGE, "the dictionary of the %s column has indices that are not integers", name);
    return c->dictionary ? check_kind(c->dictionary, column) : DIS_OK;
}

static dis_status measure(table *t)
{
    size_t n[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++) {
        const dis_column *column = &t->column[c].cells;
        size_t *first;
        DIS_TRY(dis__alloc_array(&first, dis__saturating_size(column->n_pieces, 1, 1), sizeof *first));
        t->column[c].first = first;
        for (size_t k = 0; k < column->n_pieces; k++) {
            DIS_TRY(check_kind(&column->piece[k], c));
            first[k] = n[c];
            n[c] = dis__saturating_size(n[c], 1, column->piece[k].n);
        }
        first[column->n_pieces] = n[c];
        if (n[c] != n[0])
            return dis__fail(DIS_EDATA, "%zu tasks, but %zu %ss; columns of votes must have the same length", n[0],
                             n[c], column_name[c]);
    }
    if (n[0] == 0) return dis__fail(DIS_EDATA, "no votes: the columns are empty");
    t->n_rows = n[0];
    return DIS_OK;
}

static bool cell_is(const table *t, int column, size_t row, const dis_names *names, size_t name)
{
    char room[DIS_CELL_BYTES];
    const dis_text text = dis__column_text(&t->column[column], row, room);
    dis_text wanted;
    wanted.bytes = dis_names_get(names, name, &wanted.n);
    return text.bytes && text.n != DIS_CELL_BROKEN && same_text(&text, &wanted);
}

/* Whether the label of a row is a vote. */
static bool is_vote(const table *t, size_t row)
{
    char room[DIS_CELL_BYTES];
    const dis_text text = dis__column_text(&t->column[LABEL], row, room);
    if (!text.bytes || text.n > DIS_MAX_ID) return false;
    const dis__key key = dis__key_from_text(&t->reader.rules.secret, text.bytes, text.n);
    return dis__label_classify(&t->reader.rules, &key) == DIS_LABEL_VOTE;
}

/* Reads the columns again for the two rows of a duplicate. */
static dis_status fail_duplicate(dis__reader *r, const dis__duplicate *twice)
{
    const table *t = (const table *)(const void *)((char *)r - offsetof(table, reader));
    const dis_names *tasks = r->votes->tasks, *workers = r->votes->workers;
    size_t place[2] = {0}, n = 0;
    for (size_t row = 0; row < t->n_rows && n < 2; row++)
        if (cell_is(t, DIS_COLUMN_TASK, row, tasks, twice->item) &&
            cell_is(t, DIS_COLUMN_WORKER, row, workers, twice->worker) && is_vote(t, row))
            place[n++] = row;
    return dis__fail(
        DIS_EDATA,
        "row %zu: worker \"%.200s\" has already voted on task \"%.200s\" (row %zu); choose the vote to keep: "
        "duplicates first, last or all",
        place[1], dis_names_get(workers, twice->worker, NULL), dis_names_get(tasks, twice->item, NULL), place[0]);
}

static dis_status read_table(dis_context *ctx, table *t)
{
    dis__reader *r = &t->reader;
    if (r->o.input != DIS_INPUT_VOTES)
        return dis__fail(DIS_EUSAGE, "columns must contain single votes, no other kind of input");
    DIS_TRY(measure(t));
    DIS_TRY(dis__reader_init(r, t->n_rows));
    DIS_TRY(dis__alloc_array(&t->batches, r->tuning.round, sizeof *t->batches));
    for (size_t j = 0; j < r->tuning.round; j++) t->batches[j] = &r->batch[j];
    r->collector.in_file = r->tuning.in_file;
    r->collector.bucket = r->tuning.bucket ? r->tuning.bucket : BUCKET_ROWS;
    r->collector.tasks = r->tuning.tasks ? r->tuning.tasks : &dis__tasks_sorted;
    DIS_TRY(read_rounds(ctx, t));
    DIS_TRY(dis__reader_finish(r));
    return dis__reader_check_classes(r);
}

dis_status dis__votes_from_columns(dis_context *ctx, const dis_votes_columns *columns, const dis_votes_options *options,
                                   const dis__tuning *tuning, dis_votes **out)
{
    table t = {
        .reader = {.ctx = ctx, .o = dis_votes_options_default(), .tuning = *tuning, .fail_duplicate = fail_duplicate},
        .column = {{.cells = columns->task}, {.cells = columns->worker}, {.cells = columns->label}},
        .chunk = tuning->chunk,
        .find_buckets = DIS_KERNEL_SELECT(dis__find_buckets),
        .find_in_buckets = DIS_KERNEL_SELECT(dis__find_in_buckets)};
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_options, &t.reader.o, options));
    const dis_status status = read_table(ctx, &t);
    dis__reader_free(&t.reader);
    dis__free(t.batches);
    for (int c = 0; c < COLUMNS; c++) dis__free(t.column[c].first);
    if (status != DIS_OK) {
        dis_votes_destroy(t.reader.votes);
        return status;
    }
    *out = t.reader.votes;
    return DIS_OK;
}

dis_status dis_votes_create_from_columns(dis_context *ctx, const dis_votes_columns *columns,
                                         const dis_votes_options *options, dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_votes_columns own = dis_votes_columns_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_columns, &own, columns));
    const dis__tuning tuning = {.chunk = CHUNK_ROWS, .round = dis__round_size(ctx)};
    return dis__votes_from_columns(ctx, &own, options, &tuning, out);
}
