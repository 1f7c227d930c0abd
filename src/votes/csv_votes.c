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
    /* a byte behind each field, and one in each that must not be empty */
    f->least = f->csv.n_columns;
    for (int i = 0; i <= DIS_ID_COLUMNS; i++) {
        bool again = false;
        for (int k = 0; k < i; k++) again |= f->column[k] == f->column[i];
        f->least += !again;
    }
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

/* What to keep of 8 bytes when the text has n. */
static const uint64_t keep[DIS_ID_INLINE + 1] = {0,          0xff,         0xffff,         0xffffff,
                                                 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
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

enum { MOST_ROWS = WINDOW / 2, MARGIN = 64 }; /* a row with a task has at least two bytes */

/* Room for one window, and what is known of its rows: their labels and workers, and runs of rows with one task. */
typedef struct dis__csv_scratch {
    dis__csv_scan (*scan)(const char *text, size_t n, char separator, uint32_t *list);
    uint32_t list[16 + WINDOW + DIS_SCAN_STEP]; /* from the 16th on; the one before it stands for the row before */
    size_t n_votes, n_runs;
    bool is_long[DIS_ID_COLUMNS];      /* some ids have more than 8 bytes */
    uint64_t task[MOST_ROWS + 1];      /* (n_runs) the first 8 bytes */
    uint32_t first[MOST_ROWS + 1];     /* (n_runs) of its votes */
    uint64_t worker[MOST_ROWS + 1];    /* (n_votes) the first 8 bytes */
    uint32_t row[MOST_ROWS + 1];       /* (n_votes) index into the list; only when some are long */
    uint32_t home[MOST_ROWS + MARGIN]; /* where short ids belong in their table */
} dis__csv_scratch;

/* What handles rows is compiled twice: for any window, and for the usual one, whose shape is known then. */
#define FOR_BOTH static inline __attribute__((always_inline))
/* What has a loop that counts is on its own, so that all it needs stays in registers. */
#define ALONE static __attribute__((noinline))

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

/* How many rows of the window begin before the limit and may be looked at 8 bytes at a time, which must not lead behind
 * the input. */
static size_t count_rows(const dis__file *f, const window *w)
{
    const size_t readable = (size_t)(f->end - w->text);
    size_t n = w->n_entries / w->n_columns;
    const uint32_t *row = w->list + n * w->n_columns; /* behind the last one */
    for (; n && (((row - w->n_columns)[-1] + 1) & ~DIS_SCAN_LF) >= w->limit; n--) row -= w->n_columns;
    while (n && (w->list[n * w->n_columns - 1] & ~DIS_SCAN_LF) + DIS_ID_INLINE > readable) n--;
    return n;
}

/* The rows that are easiest, from the first up to one that is not: short ids, and a short label of a vote that was seen
 * before. Nothing is looked up but the label. */
FOR_BOTH size_t take_easy(const dis__batch *b, const window *w, size_t n, dis__csv_scratch *s)
{
    const size_t n_columns = w->n_columns, last = n_columns - 1;
    uint16_t *label_out = b->row_label + b->n_rows;
    const uint32_t *row = w->list;
    uint64_t before = 0; /* no task is empty, so none has this word */
    size_t n_runs = 0, r = 0;
    for (; r < n; r++, row += n_columns) {
        uint32_t within = 0;
        for (size_t c = 0; c < last; c++) within |= row[c];
        size_t n_task, n_worker, n_label;
        const char *task = field(w, row, w->column[DIS_COLUMN_TASK], &n_task);
        const char *worker = field(w, row, w->column[DIS_COLUMN_WORKER], &n_worker);
        const char *label = field(w, row, w->column[DIS_ID_COLUMNS], &n_label);
        if (((within | ~row[last]) & DIS_SCAN_LF) | ((n_task - 1) | (n_worker - 1)) / DIS_ID_INLINE |
            (n_label > DIS_ID_INLINE))
            break;
        const uint64_t word = dis__load64(label) & keep[n_label];
        const dis__recent *found = &b->recent[dis__label_slot(word)];
        if (found->word != word || found->label.kind != DIS_LABEL_VOTE) break;
        label_out[r] = (uint16_t)found->label.index;
        const uint64_t task_word = dis__load64(task) & keep[n_task];
        s->task[n_runs] = task_word;
        s->first[n_runs] = (uint32_t)r;
        n_runs += task_word != before;
        before = task_word;
        s->worker[r] = dis__load64(worker) & keep[n_worker];
    }
    s->n_runs = n_runs;
    s->n_votes = r;
    s->is_long[DIS_COLUMN_TASK] = s->is_long[DIS_COLUMN_WORKER] = false;
    return r;
}

static dis_status find_label(dis__batch *b, const char *text, size_t n, dis__label *label)
{
    uint64_t word = 0;
    dis__recent *recent = NULL;
    if (n <= DIS_ID_INLINE) {
        word = dis__load64(text) & keep[n];
        recent = &b->recent[dis__label_slot(word)];
        *label = recent->label;
        if (recent->word == word) return DIS_OK;
    }
    const dis__key key = dis__key_of(&b->rules->secret, text, n);
    DIS_TRY(dis__batch_label(b, &key, label));
    if (recent) *recent = (dis__recent){.word = word, .label = *label};
    return DIS_OK;
}

static uint64_t word_of(const char *text, size_t n)
{
    return dis__load64(text) & keep[n < DIS_ID_INLINE ? n : DIS_ID_INLINE];
}

/* Goes on with the rows from `r`, all of them votes so far, up to one that is not plain or whose label is refused. *n
 * becomes the number of rows that were good. */
static dis_status take_others(dis__batch *b, const window *w, size_t r, size_t *n, dis__csv_scratch *s)
{
    const size_t n_columns = w->n_columns, last = n_columns - 1;
    uint16_t *label_out = b->row_label + b->n_rows;
    const char *task_before = "";
    size_t n_before = 0, n_votes = r, n_runs = s->n_runs;
    for (size_t i = 0; i < r; i++) s->row[i] = (uint32_t)(i * n_columns);
    for (; r < *n; r++) {
        const uint32_t *row = w->list + r * n_columns;
        uint32_t within = 0;
        for (size_t c = 0; c < last; c++) within |= row[c];
        if ((within | ~row[last]) & DIS_SCAN_LF) break;
        size_t n_task, n_worker, n_label;
        const char *task = field(w, row, w->column[DIS_COLUMN_TASK], &n_task);
        const char *worker = field(w, row, w->column[DIS_COLUMN_WORKER], &n_worker);
        const char *text = field(w, row, w->column[DIS_ID_COLUMNS], &n_label);
        if (n_task == 0 || n_worker == 0) break;
        dis__label label;
        DIS_TRY(find_label(b, text, n_label, &label));
        if (label.kind > DIS_LABEL_NA) break;
        if (label.kind == DIS_LABEL_NA) continue;
        label_out[n_votes] = (uint16_t)label.index;
        if (n_task != n_before || memcmp(task, task_before, n_task) != 0) {
            s->task[n_runs] = word_of(task, n_task);
            s->first[n_runs++] = (uint32_t)n_votes;
            s->is_long[DIS_COLUMN_TASK] |= n_task > DIS_ID_INLINE;
            task_before = task;
            n_before = n_task;
        }
        s->worker[n_votes] = word_of(worker, n_worker);
        s->is_long[DIS_COLUMN_WORKER] |= n_worker > DIS_ID_INLINE;
        s->row[n_votes++] = (uint32_t)(r * n_columns);
    }
    *n = r;
    s->n_votes = n_votes;
    s->n_runs = n_runs;
    return DIS_OK;
}

static inline bool has_word(const dis__id_slot *slot, uint64_t word)
{
    return atomic_load_explicit(&slot->word, memory_order_relaxed) == word;
}

/* The slot of a bucket that has that word, or its first: without a branch, for it may well be any of the four. */
static inline const dis__id_slot *in_bucket(const dis__id_slot *bucket, uint64_t word)
{
    const dis__id_slot *at = has_word(&bucket[1], word) ? &bucket[1] : bucket;
    at = has_word(&bucket[2], word) ? &bucket[2] : at;
    return has_word(&bucket[3], word) ? &bucket[3] : at;
}

/* A short id that is not where it belongs, or not there yet. */
ALONE uint32_t find_elsewhere(dis__id_share *share, uint64_t word)
{
    const dis__id_key key = {.word = word,
                             .tag = dis__id_tag(&share->ids->secret, word),
                             .n = (uint32_t)(71 - __builtin_clzll(word)) / 8};
    return dis__ids_find(share, &key);
}

/* The numbers of short ids. Their slots are fetched ahead. */
ALONE void find_short(dis__id_share *share, const uint64_t *word, size_t n, uint32_t *home, uint32_t *out)
{
    enum { AHEAD = 32 };
    const dis__ids *ids = share->ids;
    const dis__secret secret = ids->secret;
    const dis__id_slot *slot = ids->slot;
    const size_t n_buckets = ids->n_buckets;
    const uint32_t sure = ids->in_order ? UINT32_MAX : (uint32_t)ids->n; /* smaller numbers are as good as final */
    for (size_t i = 0; i < n; i++)
        home[i] = (uint32_t)(DIS_BUCKET * dis__slot_of(dis__id_tag(&secret, word[i]), n_buckets));
    for (size_t i = 0; i < AHEAD; i++) home[n + i] = 0;
    for (size_t i = 0; ids->fill == DIS_WIDE_BUCKET && i < n; i++) {
        __builtin_prefetch(&slot[home[i + AHEAD]]);
        out[i] = find_elsewhere(share, word[i]);
    }
    for (size_t i = 0; ids->fill == DIS_BUCKET && i < n; i++) {
        __builtin_prefetch(&slot[home[i + AHEAD]]);
        const dis__id_slot *at = in_bucket(&slot[home[i]], word[i]);
        const uint64_t meta = atomic_load_explicit(&at->meta, memory_order_acquire);
        const uint32_t number = (uint32_t)meta - 1;
        const bool here = has_word(at, word[i]) && number < sure && !(meta & DIS_SLOT_IS_LONG);
        out[i] = here ? number : find_elsewhere(share, word[i]);
    }
}

/* The numbers of ids of any length; vote: (n) which votes they are of, NULL: all. A long id leads to its slot, from there
 * to where its name begins, and from there to the name: block by block, each is fetched before the next is asked for. */
ALONE void find_any(dis__id_share *share, const window *w, size_t column, const uint32_t *row, const uint32_t *vote,
                    size_t n, uint32_t *out)
{
    enum { BLOCK = 64 };
    const dis__ids *ids = share->ids;
    dis__id_key key[BLOCK];
    uint32_t likely[BLOCK];
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t size = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < size; i++) {
            size_t length;
            const char *text = field(w, w->list + row[vote ? vote[first + i] : first + i], column, &length);
            dis__id_key_make(ids, text, length, true, &key[i]);
            __builtin_prefetch(&ids->slot[dis__ids_home(ids, key[i].tag)]);
        }
        for (size_t i = 0; i < size; i++) {
            likely[i] = (key[i].tag & 3) == DIS_ID_LONG ? dis__ids_peek(ids, &key[i]) : DIS_ID_NONE;
            if (likely[i] < ids->n) __builtin_prefetch(&ids->start[likely[i]]);
        }
        for (size_t i = 0; i < size; i++)
            if (likely[i] < ids->n) __builtin_prefetch(ids->bytes + ids->start[likely[i]]);
        for (size_t i = 0; i < size; i++) out[first + i] = dis__ids_find(share, &key[i]);
    }
}

/* Ids of the votes at hand into the batch. */
static void find_ids(dis__batch *b, const window *w, dis__csv_scratch *s)
{
    dis__id_share *tasks = &b->share[DIS_COLUMN_TASK], *workers = &b->share[DIS_COLUMN_WORKER];
    uint32_t *run = b->run + b->n_runs, *worker = b->worker + b->n_rows;
    if (s->is_long[DIS_COLUMN_TASK])
        find_any(tasks, w, w->column[DIS_COLUMN_TASK], s->row, s->first, s->n_runs, run);
    else
        find_short(tasks, s->task, s->n_runs, s->home, run);
    if (s->is_long[DIS_COLUMN_WORKER])
        find_any(workers, w, w->column[DIS_COLUMN_WORKER], s->row, NULL, s->n_votes, worker);
    else
        find_short(workers, s->worker, s->n_votes, s->home, worker);
    for (size_t i = 0; i < s->n_runs; i++) b->run_row[b->n_runs + i] = (uint32_t)b->n_rows + s->first[i];
    b->n_runs += s->n_runs;
    b->n_rows += s->n_votes;
}

static bool is_usual(const window *w)
{
    return w->n_columns == 3 && !w->crlf && w->column[DIS_COLUMN_TASK] == 0 && w->column[DIS_COLUMN_WORKER] == 1 &&
           w->column[DIS_ID_COLUMNS] == 2;
}

ALONE size_t take_easy_usual(const dis__batch *b, const window *w, size_t n, dis__csv_scratch *s)
{
    const window usual = {.text = w->text, .list = w->list, .n_columns = 3, .column = {0, 1, 2}, .crlf = false};
    return take_easy(b, &usual, n, s);
}

ALONE size_t take_easy_any(const dis__batch *b, const window *w, size_t n, dis__csv_scratch *s)
{
    return take_easy(b, w, n, s);
}

/* Adds the rows of a window up to one that is not plain or begins at the limit; *done: bytes of text they take. */
static dis_status take_window(dis__cursor *c, const window *w, size_t *done)
{
    dis__batch *b = c->batch;
    dis__csv_scratch *s = c->scratch;
    size_t n = count_rows(c->file, w);
    *done = 0;
    if (n == 0) return DIS_OK;
    DIS_TRY(dis__batch_reserve(b, n));
    const size_t easy = is_usual(w) ? take_easy_usual(b, w, n, s) : take_easy_any(b, w, n, s);
    if (easy < n) DIS_TRY(take_others(b, w, easy, &n, s));
    find_ids(b, w, s);
    b->na += n - s->n_votes;
    b->seen += n;
    *done = n ? (w->list[n * w->n_columns - 1] & ~DIS_SCAN_LF) + 1 : 0;
    return DIS_OK;
}

static dis_status fast_csv(dis__cursor *c, const char *limit)
{
    enum { FIRST = 16 };
    const dis__file *f = c->file;
    if (f->reader->o.n_drop) return DIS_OK;
    if (!c->scratch) {
        DIS_TRY(dis__alloc_array(&c->scratch, 1, sizeof *c->scratch));
        c->scratch->list[FIRST - 1] = before_the_text;
        c->scratch->scan = DIS_KERNEL_PICK(dis__csv_scan_text);
    }
    uint32_t *list = c->scratch->list + FIRST;
    while (c->next < limit) {
        const size_t left = (size_t)(f->end - c->next), n = left < WINDOW ? left : WINDOW;
        const dis__csv_scan scan = c->scratch->scan(c->next, n, c->csv.separator, list);
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
        DIS_TRY(take_window(c, &w, &done));
        if (done == 0) return DIS_OK;
        c->next += done;
    }
    return DIS_OK;
}

const dis__row_format dis__rows_csv = {
    .name = "csv", .separator = ',', .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
const dis__row_format dis__rows_tsv = {
    .name = "tsv", .separator = '\t', .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
