/* Votes from columns in memory: see dissent/columns.h. Rows are cut into chunks of equal size; a round of chunks goes
 * side by side, each into a batch (batch.h), and is then collected (collect.h), as when a file is read. Within a chunk,
 * rows go block by block: the texts of a block's cells are looked at where they lie; those that are plain (1 to 64 KiB
 * of ASCII, nearly all) need no second look, and of those of up to 8 bytes the word that they are is all that is
 * needed. Keys are made and their slots fetched before the first is looked up. Tasks that are words are mostly numbered
 * later (collect.h).
 *
 * A row with a flaw stops everything, or under lenient is skipped; it leaves no ids behind.
 *
 * Cost per row: its three texts read once, two lines of memory for its ids, 5 or 6 bytes written. */
#include "dissent/columns.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/pool.h"
#include "core/spill.h"
#include "core/sized_options.h"
#include "core/utf8.h"
#include "votes/reader.h"
#include "votes/fast_rows.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { BLOCK = 64, CHUNK_ROWS = 8192, BUCKET_ROWS = 1 << 16, NUMBER_END = DIS_REAL_TEXT, NUMBER_ROOM = NUMBER_END + 8 };
enum { COLUMNS = DIS_ID_COLUMNS + 1, LABEL = DIS_ID_COLUMNS };
static const char *const column_name[COLUMNS] = {"task", "worker", "label"};

typedef struct {
    dis__reader reader;
    dis_column column[COLUMNS];
    size_t *first[COLUMNS]; /* (n_pieces + 1) row that each piece begins with */
    size_t n_rows, chunk;
    size_t from, n; /* the round at hand: its first row, how many chunks it has */
    void (*find_homes)(const dis__ids *ids, const uint64_t *word, size_t n, uint32_t *home);
    size_t (*find_at_home)(const dis__ids *ids, const uint64_t *word, const uint32_t *home, size_t n, uint32_t *out,
                           uint32_t *missed, dis__ask ask);
    dis__batch **batches;
} table;

/* The texts of one column in a block of rows. */
typedef struct {
    dis_text text[BLOCK];
    uint64_t word[BLOCK];            /* of plain texts of up to 8 bytes: padded with zeros */
    uint64_t odd;                    /* one bit per row: its text is not plain */
    char number[BLOCK][NUMBER_ROOM]; /* 8 bytes may be read from where a text begins */
    bool stays;                      /* texts lie in the column, not in `number` */
} cells;

/* ---- cells ---- */

static bool bit_at(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static size_t write_number(uint64_t magnitude, bool negative, char room[NUMBER_ROOM], const char **text)
{
    char *p = room + NUMBER_END;
    do {
        *--p = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude);
    if (negative) *--p = '-';
    *text = p;
    return (size_t)(room + NUMBER_END - p);
}

static dis_text signed_text(int64_t x, char room[NUMBER_ROOM])
{
    dis_text t;
    t.n = write_number(x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0, room, &t.bytes);
    return t;
}

static dis_text unsigned_text(uint64_t x, char room[NUMBER_ROOM])
{
    dis_text t;
    t.n = write_number(x, false, room, &t.bytes);
    return t;
}

/* A word in the room, of which 8 bytes can be read whatever its length. */
static dis_text word_text(const char *word, char room[NUMBER_ROOM])
{
    const size_t n = strlen(word);
    memcpy(room, word, n);
    return (dis_text){.bytes = room, .n = n};
}

static dis_text real_text(double x, char room[NUMBER_ROOM])
{
    if (isnan(x)) return (dis_text){0};
    if (isinf(x)) return word_text(x < 0 ? "-inf" : "inf", room);
    return (dis_text){.bytes = room, .n = dis__format_real(x, room)};
}

static bool is_integer(dis_cells_kind kind)
{
    return kind >= DIS_CELLS_INT8 && kind <= DIS_CELLS_UINT64;
}

/* An integer that counts cells; SIZE_MAX: a negative one. */
static size_t index_at(const dis_cells *c, size_t i)
{
    int64_t x = -1;
    switch (c->kind) {
    case DIS_CELLS_INT8: x = 1 * ((const int8_t *)c->values)[i]; break; /* a number, not a letter */
    case DIS_CELLS_INT16: x = ((const int16_t *)c->values)[i]; break;
    case DIS_CELLS_INT32: x = ((const int32_t *)c->values)[i]; break;
    case DIS_CELLS_INT64: x = ((const int64_t *)c->values)[i]; break;
    case DIS_CELLS_UINT8: return ((const uint8_t *)c->values)[i];
    case DIS_CELLS_UINT16: return ((const uint16_t *)c->values)[i];
    case DIS_CELLS_UINT32: return ((const uint32_t *)c->values)[i];
    case DIS_CELLS_UINT64: return (size_t)((const uint64_t *)c->values)[i];
    case DIS_CELLS_TEXTS:
    case DIS_CELLS_STRING:
    case DIS_CELLS_LARGE_STRING:
    case DIS_CELLS_STRING_VIEW:
    case DIS_CELLS_FLOAT:
    case DIS_CELLS_DOUBLE:
    case DIS_CELLS_BOOL: break;
    }
    return x < 0 ? SIZE_MAX : (size_t)x;
}

/* A text of which only the end is wrong has this many bytes: no text is as long. */
#define BROKEN SIZE_MAX

static dis_text between(const char *bytes, int64_t begin, int64_t end)
{
    if (begin < 0 || end < begin) return (dis_text){.bytes = "", .n = BROKEN};
    return (dis_text){.bytes = begin == end ? "" : bytes + begin, .n = (size_t)(end - begin)};
}

static dis_text view_text(const dis_cells *c, const char *view)
{
    enum { INSIDE = 12 };
    int32_t n, buffer, offset;
    memcpy(&n, view, sizeof n);
    if (n < 0) return (dis_text){.bytes = "", .n = BROKEN};
    if (n <= INSIDE) return (dis_text){.bytes = view + 4, .n = (size_t)n};
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    if (buffer < 0 || (size_t)buffer >= c->n_buffers || offset < 0 || c->buffer_size[buffer] < (int64_t)offset + n)
        return (dis_text){.bytes = "", .n = BROKEN};
    return (dis_text){.bytes = (const char *)c->buffers[buffer] + offset, .n = (size_t)n};
}

/* The text of cell i; bytes NULL: it has no value. Numbers are written into `room`. */
static dis_text cell_text(const dis_cells *c, size_t i, char room[NUMBER_ROOM])
{
    i += c->first;
    if (c->valid && !bit_at(c->valid, i)) return (dis_text){0};
    if (c->dictionary) {
        const size_t k = index_at(c, i);
        if (k >= c->dictionary->n) return (dis_text){.bytes = "", .n = BROKEN};
        c = c->dictionary;
        i = k + c->first;
        if (c->valid && !bit_at(c->valid, i)) return (dis_text){0};
    }
    switch (c->kind) {
    case DIS_CELLS_TEXTS: return ((const dis_text *)c->values)[i];
    case DIS_CELLS_STRING: {
        const int32_t *at = (const int32_t *)c->values + i;
        return between(c->bytes, at[0], at[1]);
    }
    case DIS_CELLS_LARGE_STRING: {
        const int64_t *at = (const int64_t *)c->values + i;
        return between(c->bytes, at[0], at[1]);
    }
    case DIS_CELLS_STRING_VIEW: return view_text(c, (const char *)c->values + 16 * i);
    case DIS_CELLS_INT8: return signed_text(((const int8_t *)c->values)[i], room);
    case DIS_CELLS_INT16: return signed_text(((const int16_t *)c->values)[i], room);
    case DIS_CELLS_INT32: return signed_text(((const int32_t *)c->values)[i], room);
    case DIS_CELLS_INT64: return signed_text(((const int64_t *)c->values)[i], room);
    case DIS_CELLS_UINT8: return unsigned_text(((const uint8_t *)c->values)[i], room);
    case DIS_CELLS_UINT16: return unsigned_text(((const uint16_t *)c->values)[i], room);
    case DIS_CELLS_UINT32: return unsigned_text(((const uint32_t *)c->values)[i], room);
    case DIS_CELLS_UINT64: return unsigned_text(((const uint64_t *)c->values)[i], room);
    case DIS_CELLS_FLOAT: return real_text((double)((const float *)c->values)[i], room);
    case DIS_CELLS_DOUBLE: return real_text(((const double *)c->values)[i], room);
    case DIS_CELLS_BOOL: return word_text(bit_at(c->values, i) ? "true" : "false", room);
    }
    return (dis_text){.bytes = "", .n = BROKEN};
}

/* ---- plain texts ---- */

#define EVERY_BYTE(x) (0x0101010101010101u * (x))

/* Whether all 8 bytes are ASCII and none is NUL. */
static inline bool plain_word(uint64_t word)
{
    return ((word | (word - EVERY_BYTE(1u))) & EVERY_BYTE(0x80u)) == 0;
}

static inline uint64_t first_bytes(size_t n)
{
    return n >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * n) - 1;
}

/* Sets word and odd of row i; room: bytes that may be read from where its text begins. */
static inline void weigh(cells *c, size_t i, size_t room)
{
    const char *text = c->text[i].bytes;
    const size_t n = c->text[i].n;
    bool plain;
    if (n - 1 < DIS_ID_INLINE) {
        uint64_t word = 0;
        if (room >= sizeof word)
            word = dis__load64(text) & first_bytes(n);
        else
            memcpy(&word, text, n);
        c->word[i] = word;
        plain = plain_word(word | (EVERY_BYTE(1u) & ~first_bytes(n)));
    } else if (n - 1 < DIS_MAX_ID) {
        plain = plain_word(dis__load64(text + n - 8));
        for (size_t k = 0; k + 8 < n; k += 8) plain = plain && plain_word(dis__load64(text + k));
    } else {
        plain = false;
    }
    c->odd |= (uint64_t)!plain << i;
}

/* ---- flaws ---- */

__attribute__((format(printf, 2, 3))) static dis_status flaw(dis__problem *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, sizeof p->text, format, args);
    va_end(args);
    return DIS_EDATA;
}

static dis_status check_text(const dis_text *t, int column, size_t row, dis__problem *problem)
{
    const char *name = column_name[column];
    if (t->n == BROKEN)
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
static dis_status find_label(dis__batch *b, const cells *c, size_t i, size_t row, dis__label *label,
                             dis__problem *problem)
{
    const dis_text *t = &c->text[i];
    dis__recent *recent = NULL;
    if (t->n - 1 < DIS_ID_INLINE && !(c->odd >> i & 1)) {
        recent = &b->recent[dis__label_slot(c->word[i])];
        *label = recent->label;
        if (recent->word == c->word[i] && label->kind == DIS_LABEL_VOTE) return DIS_OK;
    }
    const dis__key key = dis__key_of(&b->rules->secret, t->bytes ? t->bytes : "", t->n);
    const size_t n = b->label.n;
    DIS_TRY(dis__batch_label(b, &key, label));
    if (recent) *recent = (dis__recent){.word = c->word[i], .label = *label};
    if (b->label.n > n && t->n > DIS_KEY_INLINE && !c->stays) { /* it is new */
        const char *copy;
        DIS_TRY(dis__arena_copy(b->texts, t->bytes, t->n, &copy));
        b->label.key[n].high = (uint64_t)(uintptr_t)copy;
    }
    switch ((dis__label_kind)label->kind) {
    case DIS_LABEL_VOTE:
    case DIS_LABEL_NA: return DIS_OK;
    case DIS_LABEL_EMPTY:
        return flaw(problem, "row %zu: no label; if that means \"no vote\", make \"\" an NA value", row);
    case DIS_LABEL_ODD:
        return flaw(problem,
                    "row %zu: the label \"%.*s\" is not %s, as scale %s has it; correct it, or make it an NA value",
                    row, t->n > 100 ? 100 : (int)t->n, t->bytes, b->rules->scale->info.label,
                    b->rules->scale->info.name);
    case DIS_LABEL_UNDECLARED: break;
    }
    return flaw(problem,
                "row %zu: the label \"%.*s\" is not among the declared classes; add it, or make it an NA value", row,
                t->n > 200 ? 200 : (int)t->n, t->bytes);
}

/* ---- blocks of rows ---- */

/* The piece that has a row. */
static size_t piece_of(const table *t, int column, size_t row)
{
    const size_t *first = t->first[column];
    size_t low = 0, high = t->column[column].n_pieces;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        *(first[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

/* Cells first .. last - 1 of a piece into rows i .. of a block. Texts of one buffer, the most frequent kind, go by the
 * shortest way: all but those at its end have room for a word. */
static void look_at_texts(const dis_cells *p, size_t first, size_t last, cells *out, size_t i)
{
    const bool wide = p->kind == DIS_CELLS_LARGE_STRING;
    const int32_t *at32 = (const int32_t *)p->values + p->first;
    const int64_t *at64 = (const int64_t *)p->values + p->first;
    const int64_t end = wide ? at64[p->n] : at32[p->n];
    for (size_t k = first; k < last; k++, i++) {
        const int64_t a = wide ? at64[k] : at32[k], z = wide ? at64[k + 1] : at32[k + 1];
        out->text[i] = between(p->bytes, a, z);
        if (p->valid && !bit_at(p->valid, p->first + k)) out->text[i] = (dis_text){0};
        weigh(out, i, end > a ? (size_t)(end - a) : out->text[i].n);
    }
}

static void look(const table *t, int column, size_t row, size_t n, cells *out)
{
    const dis_column *c = &t->column[column];
    size_t k = piece_of(t, column, row);
    out->stays = true;
    out->odd = 0;
    for (size_t i = 0; i < n; k++) {
        const size_t begin = t->first[column][k], end = t->first[column][k + 1];
        const size_t last = row + n < end ? row + n : end;
        const dis_cells *piece = &c->piece[k], *texts = piece->dictionary ? piece->dictionary : piece;
        const bool stays = texts->kind <= DIS_CELLS_STRING_VIEW;
        if (row + i >= last) continue; /* an empty piece */
        if (piece->kind == DIS_CELLS_STRING || piece->kind == DIS_CELLS_LARGE_STRING) {
            look_at_texts(piece, row + i - begin, last - begin, out, i);
            i = last - row;
        }
        for (; row + i < last; i++) {
            out->text[i] = cell_text(piece, row + i - begin, out->number[i]);
            weigh(out, i, stays ? out->text[i].n : 8);
        }
        out->stays = out->stays && stays;
    }
}

static bool same_text(const dis_text *a, const dis_text *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* The numbers of ids of any length at `list` (n) of a block; a row whose task is that of the row before takes its
 * number. */
static dis_status find_any(dis__id_share *share, const cells *c, const uint8_t *list, size_t n, bool runs,
                           uint32_t *out)
{
    dis__id_key key[BLOCK];
    uint32_t likely[BLOCK];
    bool again[BLOCK];
    const dis__ids *ids = share->ids;
    for (size_t i = 0; i < n; i++) {
        const dis_text *t = &c->text[list[i]];
        again[i] = runs && i && same_text(t, &c->text[list[i - 1]]);
        if (again[i]) continue;
        if (t->n <= DIS_ID_INLINE && !(c->odd >> list[i] & 1))
            key[i] = (dis__id_key){.word = c->word[list[i]],
                                   .tag = dis__id_tag(&ids->secret, c->word[list[i]]),
                                   .n = (uint32_t)t->n,
                                   .text = t->bytes};
        else
            dis__id_key_make(ids, t->bytes, t->n, c->stays, &key[i]);
        __builtin_prefetch(&ids->slot[dis__ids_home(ids, key[i].tag)]);
    }
    for (size_t i = 0; i < n; i++) {
        if (again[i]) continue;
        likely[i] = (key[i].tag & 3) == DIS_ID_LONG ? dis__ids_peek(ids, &key[i]) : DIS_ID_NONE;
        if (likely[i] < ids->n) __builtin_prefetch(&ids->start[likely[i]]);
    }
    for (size_t i = 0; i < n; i++)
        if (!again[i] && likely[i] < ids->n) __builtin_prefetch(ids->bytes + ids->start[likely[i]]);
    for (size_t i = 0; i < n; i++) {
        out[i] = again[i] ? out[i - 1] : dis__ids_find(share, &key[i]);
        if (out[i] == DIS_ID_NONE) return DIS_ELIMIT; /* the message is the allocator's */
    }
    return DIS_OK;
}

/* The words of the texts at `list` (n) of a block; false: one of them has none. */
static bool words_of(const cells *c, const uint8_t *list, size_t n, uint64_t *word)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        all &= c->text[list[i]].n <= DIS_ID_INLINE;
        word[i] = c->word[list[i]];
    }
    return all;
}

/* Tasks as words, 0 for long ones, which the batch keeps. */
static dis_status keep_tasks(dis__batch *b, const cells *c, const uint8_t *list, size_t n, uint64_t *word)
{
    if (words_of(c, list, n, word)) return DIS_OK;
    for (size_t i = 0; i < n; i++) {
        const dis_text *t = &c->text[list[i]];
        if (t->n <= DIS_ID_INLINE) continue;
        DIS_TRY(dis__batch_keep_long(b, t->bytes, t->n, c->stays));
        word[i] = 0;
    }
    return DIS_OK;
}

/* The numbers of the ids at `list` (n) of a block. */
static dis_status find_ids(const table *t, dis__id_share *share, const cells *c, const uint8_t *list, size_t n,
                           bool runs, uint32_t *out)
{
    uint64_t word[BLOCK + DIS_FAST_ROWS_MARGIN];
    if (share->ids->fill == DIS_BUCKET && words_of(c, list, n, word)) {
        uint32_t home[BLOCK + DIS_FAST_ROWS_MARGIN], missed[BLOCK + DIS_FAST_ROWS_MARGIN];
        t->find_homes(share->ids, word, n, home);
        const size_t n_missed = t->find_at_home(share->ids, word, home, n, out, missed, (dis__ask){0});
        dis__ids_find_short(share, word, home, missed, n_missed, out);
        return DIS_OK;
    }
    return find_any(share, c, list, n, runs, out);
}

/* A block of rows into the batch. */
static dis_status take_block(const table *t, dis__batch *b, size_t row, size_t n, cells block[COLUMNS])
{
    uint8_t list[BLOCK];
    uint16_t label_of[BLOCK];
    uint32_t number[DIS_ID_COLUMNS][BLOCK + DIS_FAST_ROWS_MARGIN];
    uint64_t word[BLOCK];
    size_t n_votes = 0;
    uint64_t odd = 0;
    for (int c = 0; c < COLUMNS; c++) {
        look(t, c, row, n, &block[c]);
        odd |= block[c].odd;
    }
    for (size_t i = 0; i < n; i++) {
        dis__problem problem;
        dis__label label;
        dis_status status = DIS_OK;
        for (int c = 0; odd >> i & 1 && c < COLUMNS && status == DIS_OK; c++)
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
    if (b->late) DIS_TRY(keep_tasks(b, &block[DIS_COLUMN_TASK], list, n_votes, word));
    for (int c = b->late ? DIS_COLUMN_WORKER : DIS_COLUMN_TASK; c < DIS_ID_COLUMNS; c++)
        DIS_TRY(find_ids(t, &b->share[c], &block[c], list, n_votes, c == DIS_COLUMN_TASK, number[c]));
    DIS_TRY(dis__batch_reserve(b, n_votes));
    const uint32_t *task = number[DIS_COLUMN_TASK], *worker = number[DIS_COLUMN_WORKER];
    for (size_t i = 0; b->late && i < n_votes; i++) dis__batch_add_late(b, word[i], worker[i], label_of[i]);
    for (size_t i = 0; !b->late && i < n_votes; i++) dis__batch_add(b, task[i], worker[i], label_of[i]);
    return DIS_OK;
}

static size_t chunk_first(const table *t, size_t j)
{
    const size_t left = t->n_rows - t->from;
    return t->from + (left < dis__size(j, t->chunk, 0) ? left : j * t->chunk);
}

static dis_status chunk_job(void *arg, size_t j, int thread)
{
    (void)thread;
    table *t = arg;
    dis__collector *c = &t->reader.collector;
    dis__batch *b = t->batches[j];
    cells block[COLUMNS];
    dis__batch_reset(b, &t->reader.rules, &c->labels, c->ids, j, j ? t->batches[j - 1] : NULL, &t->reader.texts[j]);
    b->late = c->tasks->late;
    const size_t end = chunk_first(t, j + 1);
    for (size_t row = chunk_first(t, j); row < end && !dis__batch_is_full(b); row += BLOCK)
        DIS_TRY(take_block(t, b, row, end - row < BLOCK ? end - row : BLOCK, block));
    return DIS_OK;
}

/* ---- rounds ---- */

/* All chunks of a round, with as much room for new ids as it takes. */
static dis_status fill_round(dis_context *ctx, table *t)
{
    dis__collector *c = &t->reader.collector;
    for (size_t room = 1;; room *= 4) {
        const dis__round round = {.n_batches = t->n,
                                  .n_bytes = t->chunk,
                                  .max_rows = t->chunk,
                                  .room = room,
                                  .in_order = dis_context_threads(ctx) == 1};
        DIS_TRY(dis__collect_prepare(c, &round));
        DIS_TRY(dis__run_jobs(ctx, t->n, chunk_job, t));
        bool full = false;
        for (size_t j = 0; j < t->n; j++) full = full || dis__batch_is_full(t->batches[j]);
        if (!full) return DIS_OK;
        dis__collect_withdraw(c, t->batches, t->n);
    }
}

static dis_status take_notes(dis_votes *votes, const dis__batch *b)
{
    votes->notes.rows += b->seen;
    votes->notes.na += b->na;
    votes->notes.bad_rows += b->bad;
    for (size_t i = 0; i < b->n_skipped && votes->n_skipped < DIS_KEPT_MESSAGES; i++) {
        const char *message = b->skipped[i].message;
        DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], message, strlen(message)));
        votes->n_skipped++;
    }
    return DIS_OK;
}

static dis_status read_rounds(dis_context *ctx, table *t)
{
    t->from = 0;
    size_t max = 1; /* the first rounds are short, for nothing is known yet of what is to come */
    while (t->from < t->n_rows) {
        for (t->n = 0; t->n < max && chunk_first(t, t->n) < t->n_rows; t->n++) continue;
        DIS_TRY(fill_round(ctx, t));
        for (size_t j = 0; j < t->n; j++) DIS_TRY(take_notes(t->reader.votes, t->batches[j]));
        const size_t end = chunk_first(t, t->n);
        DIS_TRY(dis__collect(ctx, &t->reader.collector, t->batches, t->n, end - t->from));
        t->from = end;
        max = 2 * max < t->reader.tuning.round ? 2 * max : t->reader.tuning.round;
        dis__progress(ctx, "taking votes", (double)t->from / (double)t->n_rows);
    }
    return DIS_OK;
}

/* ---- the whole ---- */

static dis_status check_kind(const dis_cells *c, int column)
{
    const char *name = column_name[column];
    if ((unsigned)c->kind > DIS_CELLS_BOOL)
        return dis__fail(DIS_EUSAGE, "the %s column has cells of an unknown kind: %d", name, (int)c->kind);
    if (c->dictionary && (!is_integer(c->kind) || c->dictionary->dictionary))
        return dis__fail(DIS_EUSAGE, "the dictionary of the %s column is looked up by something else than integers",
                         name);
    return c->dictionary ? check_kind(c->dictionary, column) : DIS_OK;
}

static dis_status measure(table *t)
{
    size_t n[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++) {
        const dis_column *column = &t->column[c];
        DIS_TRY(dis__alloc_array(&t->first[c], dis__size(column->n_pieces, 1, 1), sizeof *t->first[c]));
        for (size_t k = 0; k < column->n_pieces; k++) {
            DIS_TRY(check_kind(&column->piece[k], c));
            t->first[c][k] = n[c];
            n[c] = dis__size(n[c], 1, column->piece[k].n);
        }
        t->first[c][column->n_pieces] = n[c];
        if (n[c] != n[0])
            return dis__fail(DIS_EDATA, "%zu tasks, but %zu %ss; columns of votes are equally long", n[0], n[c],
                             column_name[c]);
    }
    if (n[0] == 0) return dis__fail(DIS_EDATA, "no votes: the columns are empty");
    t->n_rows = n[0];
    return DIS_OK;
}

static bool cell_is(const table *t, int column, size_t row, const dis_names *names, size_t name)
{
    char room[NUMBER_ROOM];
    const size_t k = piece_of(t, column, row);
    const dis_text text = cell_text(&t->column[column].piece[k], row - t->first[column][k], room);
    dis_text wanted;
    wanted.bytes = dis_names_get(names, name, &wanted.n);
    return text.bytes && text.n != BROKEN && same_text(&text, &wanted);
}

/* Whether the label of a row is a vote. */
static bool is_vote(const table *t, size_t row)
{
    char room[NUMBER_ROOM];
    const size_t k = piece_of(t, LABEL, row);
    const dis_text text = cell_text(&t->column[LABEL].piece[k], row - t->first[LABEL][k], room);
    if (!text.bytes || text.n > DIS_MAX_ID) return false;
    const dis__key key = dis__key_of(&t->reader.rules.secret, text.bytes, text.n);
    return dis__label_kind_of(&t->reader.rules, &key) == DIS_LABEL_VOTE;
}

/* Goes through the columns once more for the two rows of a duplicate. */
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
        "row %zu: worker \"%.200s\" has already voted on task \"%.200s\" (row %zu); say which vote to keep: "
        "duplicates first, last or all",
        place[1], dis_names_get(workers, twice->worker, NULL), dis_names_get(tasks, twice->item, NULL), place[0]);
}

static dis_status read_table(dis_context *ctx, table *t)
{
    dis__reader *r = &t->reader;
    if (r->o.input != DIS_INPUT_VOTES)
        return dis__fail(DIS_EUSAGE, "columns hold single votes; no other kind of input");
    DIS_TRY(measure(t));
    DIS_TRY(dis__reader_begin(r, t->n_rows));
    DIS_TRY(dis__alloc_array(&t->batches, r->tuning.round, sizeof *t->batches));
    for (size_t j = 0; j < r->tuning.round; j++) t->batches[j] = &r->batch[j];
    r->collector.bucket = r->tuning.bucket ? r->tuning.bucket : BUCKET_ROWS;
    r->collector.tasks = r->tuning.tasks ? r->tuning.tasks : &dis__tasks_sorted;
    DIS_TRY(read_rounds(ctx, t));
    DIS_TRY(dis__reader_finish(r));
    return dis__reader_look(r);
}

dis_status dis__votes_from_columns(dis_context *ctx, const dis_votes_columns *columns, const dis_votes_options *options,
                                   const dis__tuning *tuning, dis_votes **out)
{
    table t = {
        .reader = {.ctx = ctx, .o = dis_votes_options_default(), .tuning = *tuning, .fail_duplicate = fail_duplicate},
        .column = {columns->task, columns->worker, columns->label},
        .chunk = tuning->chunk,
        .find_homes = DIS_KERNEL_PICK(dis__find_homes),
        .find_at_home = DIS_KERNEL_PICK(dis__find_at_home)};
    DIS_TRY(DIS_OPTIONS_TAKE(dis_votes_options, &t.reader.o, options));
    const dis_status status = read_table(ctx, &t);
    dis__reader_release(&t.reader);
    dis__free(t.batches);
    for (int c = 0; c < COLUMNS; c++) dis__free(t.first[c]);
    if (status != DIS_OK) {
        dis_votes_destroy(t.reader.votes);
        return status;
    }
    *out = t.reader.votes;
    return DIS_OK;
}

dis_status dis_votes_from_columns(dis_context *ctx, const dis_votes_columns *columns, const dis_votes_options *options,
                                  dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis__tuning tuning = {.chunk = CHUNK_ROWS, .round = dis__round_size(ctx)};
    return dis__votes_from_columns(ctx, columns, options, &tuning, out);
}
