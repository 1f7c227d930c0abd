/* Votes from CSV and TSV. Most rows of most files hold no quotes: they are found by looking for separators 64 bytes at
 * a time (csv_scan.h) and their ids are hashed where they stand. A row with anything difficult goes through the strict
 * reader, which alone says what is wrong with it; after such a row the fast way is tried again.
 *
 * Cost: for a row of three short fields some 25 ns, of which the scan is a fifth. */
#include "votes/reader.h"
#include "core/memory.h"
#include "core/utf8.h"
#include <stdio.h>

enum {
    WINDOW = 1 << 14
}; /* bytes scanned at once: they and the list stay in the first cache; no id in it is too long */

dis_status dis__csv_role(dis__csv *csv, const char *role, const char *given, const char *const *usual, size_t *column)
{
    *column = given ? dis__csv_column(csv, given) : SIZE_MAX;
    for (size_t i = 0; !given && usual[i] && *column == SIZE_MAX; i++) *column = dis__csv_column(csv, usual[i]);
    if (*column != SIZE_MAX) return DIS_OK;
    char list[600];
    size_t used = 0;
    list[0] = 0;
    for (size_t i = 0; i < csv->n_columns && used < sizeof list - 100; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "",
                                 csv->header[i].n > 60 ? 60 : (int)csv->header[i].n, csv->header[i].text);
    return dis__fail_at(DIS_EDATA, csv->path, 1, 0,
                        "no column \"%s\"; the columns are: %s; name the one to use with --%s",
                        given ? given : usual[0], list, role);
}

static dis_status open_csv(dis__file *f)
{
    static const char *const tasks[] = {"task", NULL}, *const workers[] = {"worker", "performer", NULL},
                             *const labels[] = {"label", NULL};
    const dis_votes_options *o = &f->reader->o;
    DIS_TRY(dis__csv_header(&f->csv));
    DIS_TRY(dis__csv_role(&f->csv, "task", o->task, tasks, &f->column[DIS_COLUMN_TASK]));
    DIS_TRY(dis__csv_role(&f->csv, "worker", o->worker, workers, &f->column[DIS_COLUMN_WORKER]));
    DIS_TRY(dis__csv_role(&f->csv, "label", o->label, labels, &f->column[DIS_ID_COLUMNS]));
    for (size_t d = 0; d < o->n_drop; d++) {
        const char *const none[] = {o->drop[d].column, NULL};
        DIS_TRY(dis__csv_role(&f->csv, "drop", NULL, none, &f->drop_column[d]));
    }
    f->rows = f->csv.next;
    return DIS_OK;
}

static bool is_dropped(const dis__file *f, const dis__csv *csv)
{
    const dis_votes_options *o = &f->reader->o;
    for (size_t d = 0; d < o->n_drop; d++) {
        const dis__csv_field *field = &csv->field[f->drop_column[d]];
        const size_t n = strlen(o->drop[d].value);
        if (field->n == n && memcmp(field->text, o->drop[d].value, n) == 0) return true;
    }
    return false;
}

static dis_status row_csv(dis__cursor *c)
{
    const dis__file *f = c->file;
    c->csv.next = c->next;
    const dis_status status = dis__csv_row(&c->csv);
    c->next = c->csv.next;
    if (status == DIS_EDATA) {
        c->problem.at = c->csv.problem_at;
        snprintf(c->problem.text, sizeof c->problem.text, "%s", c->csv.problem);
    }
    DIS_TRY(status);
    c->dropped = is_dropped(f, &c->csv);
    for (int i = 0; i <= DIS_ID_COLUMNS; i++) {
        const dis__csv_field *field = &c->csv.field[f->column[i]];
        c->cell[i] = (dis__cell){.text = field->text, .n = field->n, .at = field->at};
    }
    return DIS_OK;
}

/* What to keep of 16 bytes when the text has n. */
static const uint64_t keep_low[DIS_KEY_INLINE + 1] = {0,          0xff,         0xffff,         0xffffff,
                                                      0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
                                                      ~0ull,      ~0ull,        ~0ull,          ~0ull,
                                                      ~0ull,      ~0ull,        ~0ull,          ~0ull,
                                                      ~0ull};
static const uint64_t keep_high[DIS_KEY_INLINE + 1] = {
    0,    0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
    ~0ull};

/* A window of text whose rows are plain, and the offsets of its separators and line ends. A field lies between two
 * entries of the list; the entry before the first one stands for the end of a row before the window. */
typedef struct {
    const char *text;
    const uint32_t *list;
    size_t n_entries, limit; /* rows that begin at `limit` are not ours */
    size_t n_columns;
    size_t column[DIS_ID_COLUMNS + 1]; /* of task, worker, label */
    bool crlf;
} window;

/* What handles rows is compiled twice: for any window, and for the usual one, whose shape is known then. */
#define FOR_BOTH static inline __attribute__((always_inline))

static const uint32_t before_the_text = DIS_SCAN_LF - 1; /* plus one is offset 0 */

/* A field of a row of n_columns: only the entries before it and behind it are line ends. */
FOR_BOTH const char *field(const window *w, const uint32_t *row, size_t c, size_t *n)
{
    const size_t begin = c ? row[c - 1] + 1 : (row[-1] + 1) & ~DIS_SCAN_LF;
    size_t end = c + 1 == w->n_columns ? row[c] & ~DIS_SCAN_LF : row[c];
    if (w->crlf && c + 1 == w->n_columns && end > begin && w->text[end - 1] == '\r') end--;
    *n = end - begin;
    return w->text + begin;
}

/* How many rows, from the first, are plain, with a task and a worker, and begin before the limit. */
FOR_BOTH size_t count_rows(const dis__file *f, const window *w)
{
    const size_t n_columns = w->n_columns, last = n_columns - 1, most = w->n_entries / n_columns;
    size_t n = 0, n_task, n_worker;
    for (const uint32_t *row = w->list; n < most; row += n_columns, n++) {
        uint32_t within = 0;
        for (size_t c = 0; c < last; c++) within |= row[c];
        if ((within | ~row[last]) & DIS_SCAN_LF || ((row[-1] + 1) & ~DIS_SCAN_LF) >= w->limit) break;
        field(w, row, w->column[DIS_COLUMN_TASK], &n_task);
        field(w, row, w->column[DIS_COLUMN_WORKER], &n_worker);
        if (n_task == 0 || n_worker == 0) break;
    }
    /* keys are read 16 bytes at a time, which must not lead behind the input */
    const size_t readable = (size_t)(f->end - w->text);
    while (n && (w->list[n * n_columns - 1] & ~DIS_SCAN_LF) + DIS_KEY_INLINE > readable) n--;
    return n;
}

/* Keys are written field by field: as a whole they would go through memory, 16 bytes read back just after 8 were
 * written. */
static inline void put_key(dis__key *to, uint64_t low, uint64_t high, uint64_t hash_of, size_t n)
{
    to->low = low;
    to->high = high;
    to->hash = hash_of;
    to->n = (uint32_t)n;
}

static inline void make_key(const dis__secret *secret, const char *text, size_t n, dis__key *to)
{
    if (n > DIS_KEY_INLINE) {
        *to = dis__key_of(secret, text, n);
        return;
    }
    const uint64_t low = dis__load64(text) & keep_low[n], high = dis__load64(text + 8) & keep_high[n];
    put_key(to, low, high, dis__hash_short(secret, low, high), n);
}

/* A short label is first looked for among recent ones, where no hash is needed. */
FOR_BOTH dis_status find_label(dis__batch *b, const char *text, size_t n, uint32_t *index, uint32_t *kind)
{
    dis__recent *recent = NULL;
    uint64_t low = 0, high = 0;
    if (n <= DIS_KEY_INLINE) {
        low = dis__load64(text) & keep_low[n];
        high = n <= 8 ? 0 : dis__load64(text + 8) & keep_high[n];
        recent = &b->recent[dis__label_slot(low, high)];
        if (recent->low == low && recent->high == high) {
            *index = recent->index;
            *kind = recent->kind;
            return DIS_OK;
        }
    }
    dis__key key;
    make_key(&b->rules->secret, text, n, &key);
    DIS_TRY(dis__batch_label(b, &key, index));
    *kind = b->kind[*index];
    if (recent) *recent = (dis__recent){.low = low, .high = high, .index = *index, .kind = *kind};
    return DIS_OK;
}

/* Labels of n rows; at[] gets where the rows are that are votes. *n becomes smaller where a label is refused. */
FOR_BOTH dis_status take_labels(dis__batch *b, const window *w, size_t *n, uint32_t *at, size_t *n_votes)
{
    const size_t column = w->column[DIS_ID_COLUMNS];
    uint16_t *out = b->row_label + b->n_rows;
    size_t votes = 0;
    for (size_t r = 0; r < *n; r++) {
        size_t length;
        uint32_t label, kind;
        const char *text = field(w, w->list + r * w->n_columns, column, &length);
        DIS_TRY(find_label(b, text, length, &label, &kind));
        at[votes] = (uint32_t)(r * w->n_columns);
        out[votes] = (uint16_t)label;
        votes += kind == DIS_LABEL_VOTE;
        if (kind > DIS_LABEL_NA) *n = r;
    }
    b->na += *n - votes;
    *n_votes = votes;
    return DIS_OK;
}

/* Ids of a column whose values hardly repeat but in a row. */
FOR_BOTH void append_ids(dis__batch *b, dis__column *col, const window *w, size_t column, const uint32_t *at, size_t n,
                         uint32_t *out)
{
    const dis__secret secret = b->rules->secret;
    dis__key *key = col->key;
    uint32_t last = col->last;
    size_t n_keys = col->n;
    uint64_t low_before = 0, high_before = 0; /* of a short key: no field is empty, so none equals this */
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *text = field(w, w->list + at[i], column, &length);
        if (length <= DIS_KEY_INLINE) {
            const uint64_t low = dis__load64(text) & keep_low[length], high = dis__load64(text + 8) & keep_high[length];
            if (low != low_before || high != high_before) {
                last = (uint32_t)n_keys++;
                put_key(&key[last], low, high, dis__hash_short(&secret, low, high), length);
                low_before = low;
                high_before = high;
            }
        } else {
            const dis__key long_key = dis__key_of(&secret, text, length);
            if (n_keys == 0 || !dis__key_same(&key[last], &long_key)) {
                last = (uint32_t)n_keys++;
                key[last] = long_key;
            }
            low_before = high_before = 0;
        }
        out[i] = last;
    }
    col->n = n_keys;
    col->last = last;
}

/* Ids of a column whose values repeat: first all keys, so that where they are looked up is fetched meanwhile. */
FOR_BOTH dis_status look_up_ids(dis__batch *b, dis__column *col, const window *w, size_t column, const uint32_t *at,
                                size_t n, dis__key *key, uint32_t *out)
{
    const dis__secret secret = b->rules->secret;
    const dis__table *frozen = col->frozen;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *text = field(w, w->list + at[i], column, &length);
        make_key(&secret, text, length, &key[i]);
        if (frozen) __builtin_prefetch(&frozen->slot[dis__slot_of(key[i].hash, frozen->n_slots)]);
    }
    for (size_t i = 0; i < n; i++) {
        if (frozen) {
            const dis__key *slot = &frozen->slot[dis__table_seek(frozen, &key[i])];
            if (slot->value != DIS_KEY_NONE) {
                out[i] = slot->value | DIS_ROW_IS_ID;
                continue;
            }
        }
        if (!dis__column_repeats(col, &key[i], &out[i])) DIS_TRY(dis__column_lookup(col, &key[i], &out[i]));
    }
    return DIS_OK;
}

/* Adds the rows of a window up to one that is not plain or begins at the limit; *done: bytes of text they take. */
FOR_BOTH dis_status take_window(dis__cursor *c, const window *w, size_t *done)
{
    dis__batch *b = c->batch;
    size_t n = count_rows(c->file, w), n_votes;
    DIS_TRY(dis__batch_reserve(b, n));
    DIS_TRY(take_labels(b, w, &n, c->at, &n_votes));
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        dis__column *col = &b->id[k];
        uint32_t *out = b->row[k] + b->n_rows;
        if (col->repeats)
            DIS_TRY(look_up_ids(b, col, w, w->column[k], c->at, n_votes, c->key, out));
        else
            append_ids(b, col, w, w->column[k], c->at, n_votes, out);
    }
    b->n_rows += n_votes;
    b->seen += n;
    *done = n ? (w->list[n * w->n_columns - 1] & ~DIS_SCAN_LF) + 1 : 0;
    return DIS_OK;
}

static dis_status take_any(dis__cursor *c, const window *w, size_t *done)
{
    return take_window(c, w, done);
}

static bool is_usual(const window *w)
{
    return w->n_columns == 3 && !w->crlf && w->column[DIS_COLUMN_TASK] == 0 && w->column[DIS_COLUMN_WORKER] == 1 &&
           w->column[DIS_ID_COLUMNS] == 2;
}

static dis_status take_usual(dis__cursor *c, const window *w, size_t *done)
{
    const window usual = {.text = w->text,
                          .list = w->list,
                          .n_entries = w->n_entries,
                          .limit = w->limit,
                          .n_columns = 3,
                          .column = {0, 1, 2},
                          .crlf = false};
    return take_window(c, &usual, done);
}

static dis_status fast_csv(dis__cursor *c, const char *limit)
{
    enum { MOST_ROWS = WINDOW / 2 }; /* a row has at least two columns or it could not be a vote */
    const dis__file *f = c->file;
    if (f->reader->o.n_drop) return DIS_OK;
    if (!c->list) {
        DIS_TRY(dis__alloc_array(&c->list, 1 + WINDOW + DIS_SCAN_STEP, sizeof *c->list));
        DIS_TRY(dis__alloc_array(&c->at, MOST_ROWS, sizeof *c->at));
        DIS_TRY(dis__alloc_array(&c->key, MOST_ROWS, sizeof *c->key));
        c->list[0] = before_the_text;
        c->scan = DIS_KERNEL_PICK(dis__csv_scan_text);
    }
    uint32_t *list = c->list + 1;
    while (c->next < limit) {
        const size_t left = (size_t)(f->end - c->next), n = left < WINDOW ? left : WINDOW;
        const dis__csv_scan scan = c->scan(c->next, n, c->csv.separator, list);
        if (scan.not_ascii) { /* up to the last whole row, so that no sequence is cut */
            size_t k = scan.n;
            while (k && !(list[k - 1] & DIS_SCAN_LF)) k--;
            const size_t whole = k ? (list[k - 1] & ~DIS_SCAN_LF) + 1 : 0;
            if (dis__utf8_check(c->next, whole) < whole) return DIS_OK;
        }
        const window w = {.text = c->next,
                          .list = list,
                          .n_entries = scan.n,
                          .limit = (size_t)(limit - c->next),
                          .n_columns = f->csv.n_columns,
                          .column = {f->column[0], f->column[1], f->column[2]},
                          .crlf = scan.crlf};
        size_t done = 0;
        DIS_TRY(is_usual(&w) ? take_usual(c, &w, &done) : take_any(c, &w, &done));
        if (done == 0) return DIS_OK;
        c->next += done;
    }
    return DIS_OK;
}

const dis__row_format dis__rows_csv = {
    .name = "csv", .separator = ',', .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
const dis__row_format dis__rows_tsv = {
    .name = "tsv", .separator = '\t', .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
