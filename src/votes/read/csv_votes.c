/* Votes from CSV and TSV. Most rows of most files contain no quotes: separators are found 64 bytes at a time
 * (csv_scan.h), and rows are processed in windows, column by column (fast_rows.h). A row that the fast path does not
 * support is parsed by the strict reader, which also produces all error messages; after it the fast path is tried
 * again.
 *
 * Cost of a row of three short fields with AVX-512: scan 2.5 ns, fields 3.5 ns, worker 4 ns; a task that is looked up
 * in a table larger than the caches 10 ns more, a new one 20 ns. */
#include "votes/read/reader.h"
#include "tool/table_columns.h"
#include "core/memory/memory.h"
#include "core/text/utf8.h"
#include "votes/collect/fast_rows.h"
#include <stdio.h>

/* The column of a role by a synonym; SIZE_MAX: none, or several. */
static dis_status find_synonym(const dis__csv *csv, const char *role, size_t *column)
{
    dis_column_name *names;
    size_t found[2];
    int r = DIS_ROLE_TASK;
    while (r < DIS_ROLE_LABEL && strcmp(role, dis__role_name((dis_role)r)) != 0) r++;
    DIS_TRY(dis__alloc_array(&names, csv->n_columns + 1, sizeof *names));
    for (size_t i = 0; i < csv->n_columns; i++) names[i] = (dis_column_name){csv->header[i].text, csv->header[i].n};
    if (dis_role_find((dis_role)r, names, csv->n_columns, found) == 1) *column = found[0];
    dis__free(names);
    return DIS_OK;
}

dis_status dis__csv_find_column_of_role(dis__csv *csv, const char *role, const char *given, const char *const *usual,
                                        size_t *column)
{
    *column = given ? dis__csv_column(csv, given) : SIZE_MAX;
    for (size_t i = 0; !given && usual[i] && *column == SIZE_MAX; i++) *column = dis__csv_column(csv, usual[i]);
    if (*column == SIZE_MAX && !given && strcmp(role, "drop") != 0) DIS_TRY(find_synonym(csv, role, column));
    if (*column != SIZE_MAX) return DIS_OK;
    char list[600];
    dis__csv_list_columns(csv, list, sizeof list);
    return dis__fail_at(DIS_EDATA, csv->path, 1, 0,
                        "no column \"%s\"; the columns are: %s; name the one to use with `%s`",
                        given ? given : usual[0], list, role);
}

static dis_status open_csv(dis__vote_file *f)
{
    static const char *const tasks[] = {"task", NULL}, *const workers[] = {"worker", "performer", NULL},
                             *const labels[] = {"label", NULL};
    const dis_votes_options *o = &f->reader->o;
    DIS_TRY(dis__csv_header(&f->csv));
    DIS_TRY(dis__csv_find_column_of_role(&f->csv, "task", o->task, tasks, &f->column[DIS_COLUMN_TASK]));
    DIS_TRY(dis__csv_find_column_of_role(&f->csv, "worker", o->worker, workers, &f->column[DIS_COLUMN_WORKER]));
    DIS_TRY(dis__csv_find_column_of_role(&f->csv, "label", o->label, labels, &f->column[DIS_ID_COLUMNS]));
    for (size_t d = 0; d < o->n_drop; d++) {
        const char *const none[] = {o->drop[d].column, NULL};
        DIS_TRY(dis__csv_find_column_of_role(&f->csv, "drop", NULL, none, &f->drop_column[d]));
    }
    f->rows = f->csv.next;
    /* one byte after each field, and one in each field that must not be empty */
    f->min = f->csv.n_columns;
    for (int i = 0; i <= DIS_ID_COLUMNS; i++) {
        bool again = false;
        for (int k = 0; k < i; k++) again |= f->column[k] == f->column[i];
        f->min += !again;
    }
    return DIS_OK;
}

static bool is_dropped(const dis__vote_file *f, const dis__csv *csv)
{
    const dis_votes_options *o = &f->reader->o;
    for (size_t d = 0; d < o->n_drop; d++) {
        const dis__csv_field *field = &csv->field[f->drop_column[d]];
        const size_t n = strlen(o->drop[d].value);
        if (field->n == n && memcmp(field->text, o->drop[d].value, n) == 0) return true;
    }
    return false;
}

static dis_status row_csv(dis__row_cursor *c)
{
    const dis__vote_file *f = c->file;
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
        c->cell[i] = (dis__vote_field){.text = field->text, .n = field->n, .at = field->at};
    }
    return DIS_OK;
}

/* Scratch of one window, and the kernels. */
typedef struct dis__csv_scratch {
    dis__csv_scan (*scan)(const char *text, size_t n, char separator, uint32_t *list);
    size_t (*read_rows)(const dis__batch *b, const dis__window *w, size_t n, dis__fast_rows *t);
    void (*find_buckets)(const dis__ids *ids, const uint64_t *word, size_t n, uint32_t *first_slot);
    size_t (*find_in_buckets)(const dis__ids *ids, const uint64_t *word, const uint32_t *first_slot, size_t n,
                              uint32_t *out, uint32_t *missed, dis__bucket_prefetch prefetch);
    uint32_t list[16 + DIS_WINDOW + DIS_SCAN_STEP]; /* from the 16th on; the one before it represents the end of the
                                                     * previous row */
    dis__fast_rows added[2];                        /* this window's and the previous window's */
    bool now;                                       /* the index of the current one */
    bool waits;                                     /* tasks of the other one are still to be looked up, */
    size_t first_run;                               /* and are the batch's runs from this one on */
} dis__csv_scratch;

static const uint32_t before_the_text = DIS_SCAN_LF - 1; /* plus one is offset 0 */

/* Number of rows of the window that begin before the limit and can be read 8 bytes at a time, without reading past the
 * input. */
static size_t count_rows(const dis__vote_file *f, const dis__window *w)
{
    const size_t readable = (size_t)(f->end - w->text);
    size_t n = w->n_entries / w->n_columns;
    const uint32_t *row = w->list + n * w->n_columns; /* after the last one */
    for (; n && (((row - w->n_columns)[-1] + 1) & ~DIS_SCAN_LF) >= w->limit; n--) row -= w->n_columns;
    while (n && (w->list[n * w->n_columns - 1] & ~DIS_SCAN_LF) + DIS_ID_INLINE > readable) n--;
    return n;
}

static dis_status find_label(dis__batch *b, const char *text, size_t n, dis__label *label)
{
    const uint64_t word = n <= DIS_ID_INLINE ? dis__load64(text) & dis__low_bytes_mask[n] : DIS_NO_WORD;
    if (word != DIS_NO_WORD) {
        const dis__cached_label *recent = &b->recent[dis__label_slot(word)];
        *label = recent->label;
        if (recent->word == word) return DIS_OK;
    }
    DIS_TRY(dis__batch_find_label(b, text, n, true, label));
    if (word != DIS_NO_WORD) dis__batch_cache_label(b, word, *label);
    return DIS_OK;
}

static uint64_t word_of(const char *text, size_t n)
{
    return dis__load64(text) & dis__low_bytes_mask[n < DIS_ID_INLINE ? n : DIS_ID_INLINE];
}

/* Processes the rows from `r`, all of them votes so far, up to one that is not plain or whose label is rejected. *n is
 * set to the number of accepted rows. */
static dis_status read_other_rows(dis__batch *b, const dis__window *w, size_t r, size_t *n, dis__fast_rows *s)
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
        const char *task = dis__window_field(w, row, w->column[DIS_COLUMN_TASK], &n_task);
        const char *worker = dis__window_field(w, row, w->column[DIS_COLUMN_WORKER], &n_worker);
        const char *text = dis__window_field(w, row, w->column[DIS_ID_COLUMNS], &n_label);
        if (n_task == 0 || n_worker == 0) break;
        const uint64_t task_word = word_of(task, n_task), worker_word = word_of(worker, n_worker);
        if ((!task_word && n_task <= DIS_ID_INLINE) || (!worker_word && n_worker <= DIS_ID_INLINE)) break; /* NUL */
        dis__label label;
        DIS_TRY(find_label(b, text, n_label, &label));
        if (label.kind > DIS_LABEL_NA) break;
        if (label.kind == DIS_LABEL_NA) continue;
        label_out[n_votes] = (uint16_t)label.index;
        if (n_task != n_before || memcmp(task, task_before, n_task) != 0) {
            s->task[n_runs] = task_word;
            s->first[n_runs++] = (uint32_t)n_votes;
            s->is_long[DIS_COLUMN_TASK] |= n_task > DIS_ID_INLINE;
            task_before = task;
            n_before = n_task;
        }
        s->worker[n_votes] = worker_word;
        s->is_long[DIS_COLUMN_WORKER] |= n_worker > DIS_ID_INLINE;
        s->row[n_votes++] = (uint32_t)(r * n_columns);
    }
    *n = r;
    s->n_votes = n_votes;
    s->n_runs = n_runs;
    return DIS_OK;
}

/* The indices of ids of any length; vote: (n) their votes, NULL: all. A long id needs its slot, then the start of its
 * name, then the name: each is prefetched block by block. */
static __attribute__((noinline)) void find_any(dis__chunk_ids *chunk_ids, const dis__window *w, size_t column,
                                               const uint32_t *row, const uint32_t *vote, size_t n, uint32_t *out)
{
    enum { BLOCK = 64 };
    const dis__ids *ids = chunk_ids->ids;
    dis__id_key key[BLOCK];
    uint32_t likely[BLOCK];
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t size = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < size; i++) {
            size_t length;
            const char *text = dis__window_field(w, w->list + row[vote ? vote[first + i] : first + i], column, &length);
            dis__id_key_init(ids, text, length, true, &key[i]);
            __builtin_prefetch(&ids->slot[dis__ids_bucket(ids, key[i].tag)]);
        }
        for (size_t i = 0; i < size; i++) {
            likely[i] = (key[i].tag & 3) == DIS_ID_LONG ? dis__ids_guess(ids, &key[i]) : DIS_ID_NONE;
            if (likely[i] < ids->n) __builtin_prefetch(&ids->start[likely[i]]);
        }
        for (size_t i = 0; i < size; i++)
            if (likely[i] < ids->n) __builtin_prefetch(ids->bytes + ids->start[likely[i]]);
        for (size_t i = 0; i < size; i++) out[first + i] = dis__ids_find(chunk_ids, &key[i]);
    }
}

/* The indices of short ids are found in two steps, with other work in between: those in their home bucket, then the
 * others. After a full bucket the next one is searched, and prefetched. */
static size_t find_short(const dis__csv_scratch *k, const dis__ids *ids, dis__fast_rows *t, int c, uint32_t *out,
                         dis__bucket_prefetch prefetch)
{
    const size_t n = c == DIS_COLUMN_TASK ? t->n_runs : t->n_votes;
    const uint64_t *word = c == DIS_COLUMN_TASK ? t->task : t->worker;
    const uint32_t *first_slot = t->first_slot[c];
    if (ids->fill == DIS_WIDE_BUCKET) {
        for (size_t i = 0; i < prefetch.n; i++) __builtin_prefetch(&prefetch.ids->slot[prefetch.first_slot[i]]);
        for (size_t i = 0; i < n; i++) t->missed[c][i] = (uint32_t)i;
        return n;
    }
    const size_t n_missed = k->find_in_buckets(ids, word, first_slot, n, out, t->missed[c], prefetch);
    const dis__id_slot *end = ids->slot + DIS_BUCKET * ids->n_buckets;
    for (size_t i = 0; i < n_missed; i++) {
        const dis__id_slot *next = &ids->slot[first_slot[t->missed[c][i]]] + DIS_BUCKET;
        if (next < end && atomic_load_explicit(&next[-1].meta, memory_order_relaxed)) __builtin_prefetch(next);
    }
    return n_missed;
}

static void find_missed(dis__chunk_ids *chunk_ids, const dis__fast_rows *t, int c, size_t n_missed, uint32_t *out)
{
    dis__ids_find_short(chunk_ids, c == DIS_COLUMN_TASK ? t->task : t->worker, t->first_slot[c], t->missed[c], n_missed,
                        out);
}

/* Adds tasks as texts to the batch; the words of long ones are only their first bytes. */
static dis_status keep_tasks(dis__batch *b, const dis__window *w, const dis__fast_rows *t)
{
    uint64_t *word = b->run_word + b->n_runs;
    memcpy(word, t->task, t->n_runs * sizeof *t->task);
    for (size_t i = 0; t->is_long[DIS_COLUMN_TASK] && i < t->n_runs; i++) {
        size_t n;
        const char *text = dis__window_field(w, w->list + t->row[t->first[i]], w->column[DIS_COLUMN_TASK], &n);
        if (n <= DIS_ID_INLINE) continue;
        DIS_TRY(dis__batch_add_long_task(b, text, n, true));
        word[i] = 0;
    }
    return DIS_OK;
}

/* Adds the ids of the current votes to the batch, which may need tasks as texts only. Short tasks are looked up with
 * the next window, when their buckets have been prefetched. */
static dis_status find_ids(dis__batch *b, const dis__window *w, dis__csv_scratch *k)
{
    dis__fast_rows *t = &k->added[k->now], *waiting = &k->added[!k->now];
    dis__chunk_ids *tasks = &b->chunk_ids[DIS_COLUMN_TASK], *workers = &b->chunk_ids[DIS_COLUMN_WORKER];
    uint32_t *worker = b->worker + b->n_rows;
    size_t n_missed = 0;
    dis__bucket_prefetch prefetch[2] = {{.ids = tasks->ids}, {.ids = tasks->ids}};
    if (b->numbered_later) {
        DIS_TRY(keep_tasks(b, w, t));
    } else if (!t->is_long[DIS_COLUMN_TASK]) {
        k->find_buckets(tasks->ids, t->task, t->n_runs, t->first_slot[DIS_COLUMN_TASK]);
        prefetch[0] = (dis__bucket_prefetch){tasks->ids, t->first_slot[DIS_COLUMN_TASK], k->waits ? t->n_runs / 2 : 0};
        prefetch[1] = (dis__bucket_prefetch){tasks->ids, t->first_slot[DIS_COLUMN_TASK] + prefetch[0].n,
                                             t->n_runs - prefetch[0].n};
    }
    if (k->waits) n_missed = find_short(k, tasks->ids, waiting, DIS_COLUMN_TASK, b->run + k->first_run, prefetch[0]);
    if (t->is_long[DIS_COLUMN_WORKER]) {
        find_any(workers, w, w->column[DIS_COLUMN_WORKER], t->row, NULL, t->n_votes, worker);
    } else {
        k->find_buckets(workers->ids, t->worker, t->n_votes, t->first_slot[DIS_COLUMN_WORKER]);
        const size_t n = find_short(k, workers->ids, t, DIS_COLUMN_WORKER, worker, prefetch[1]);
        find_missed(workers, t, DIS_COLUMN_WORKER, n, worker);
    }
    if (k->waits) find_missed(tasks, waiting, DIS_COLUMN_TASK, n_missed, b->run + k->first_run);
    k->waits = !b->numbered_later && !t->is_long[DIS_COLUMN_TASK];
    k->first_run = b->n_runs;
    k->now = !k->now;
    if (!b->numbered_later && !k->waits)
        find_any(tasks, w, w->column[DIS_COLUMN_TASK], t->row, t->first, t->n_runs, b->run + b->n_runs);
    for (size_t i = 0; i < t->n_runs; i++) b->run_row[b->n_runs + i] = (uint32_t)b->n_rows + t->first[i];
    b->n_runs += t->n_runs;
    b->n_rows += t->n_votes;
    return DIS_OK;
}

/* Looks up the pending tasks. */
static void find_rest(dis__batch *b, dis__csv_scratch *k)
{
    if (!k->waits) return;
    dis__fast_rows *t = &k->added[!k->now];
    dis__chunk_ids *tasks = &b->chunk_ids[DIS_COLUMN_TASK];
    uint32_t *run = b->run + k->first_run;
    k->waits = false;
    find_missed(tasks, t, DIS_COLUMN_TASK,
                find_short(k, tasks->ids, t, DIS_COLUMN_TASK, run, (dis__bucket_prefetch){0}), run);
}

/* Adds the rows of a window up to one that is not plain or begins at the limit; *done: bytes of text processed. */
static dis_status read_window(dis__row_cursor *c, const dis__window *w, size_t *done)
{
    dis__batch *b = c->batch;
    dis__csv_scratch *s = c->scratch;
    size_t n = count_rows(c->file, w);
    *done = 0;
    if (n == 0) return DIS_OK;
    DIS_TRY(dis__batch_reserve(b, n + DIS_FAST_ROWS_MARGIN));
    dis__fast_rows *t = &s->added[s->now];
    const size_t easy = s->read_rows(b, w, n, t);
    if (easy < n) DIS_TRY(read_other_rows(b, w, easy, &n, t));
    b->na += n - t->n_votes;
    DIS_TRY(find_ids(b, w, s));
    b->seen += n;
    *done = n ? (w->list[n * w->n_columns - 1] & ~DIS_SCAN_LF) + 1 : 0;
    return DIS_OK;
}

static dis_status read_windows(dis__row_cursor *c, const char *limit)
{
    enum { FIRST = 16 };
    const dis__vote_file *f = c->file;
    if (!c->scratch) {
        DIS_TRY(dis__alloc_array(&c->scratch, 1, sizeof *c->scratch));
        c->scratch->now = c->scratch->waits = false;
        c->scratch->list[FIRST - 1] = before_the_text;
        c->scratch->scan = DIS_KERNEL_SELECT(dis__csv_scan_text);
        c->scratch->read_rows = DIS_KERNEL_SELECT(dis__fast_rows_read);
        c->scratch->find_buckets = DIS_KERNEL_SELECT(dis__find_buckets);
        c->scratch->find_in_buckets = DIS_KERNEL_SELECT(dis__find_in_buckets);
    }
    uint32_t *list = c->scratch->list + FIRST;
    while (c->next < limit) {
        const size_t left = (size_t)(f->end - c->next), n = left < DIS_WINDOW ? left : DIS_WINDOW;
        const dis__csv_scan scan = c->scratch->scan(c->next, n, c->csv.separator, list);
        if (scan.not_ascii) { /* up to the last complete row, so that no UTF-8 sequence is split */
            size_t k = scan.n;
            while (k && !(list[k - 1] & DIS_SCAN_LF)) k--;
            const size_t n_complete = k ? (list[k - 1] & ~DIS_SCAN_LF) + 1 : 0;
            if (dis__utf8_check(c->next, n_complete) < n_complete) return DIS_OK;
        }
        const dis__window w = {.text = c->next,
                               .list = list,
                               .n_entries = scan.n,
                               .limit = (size_t)(limit - c->next),
                               .n_columns = f->csv.n_columns,
                               .column = {f->column[0], f->column[1], f->column[2]},
                               .crlf = scan.crlf};
        size_t done = 0;
        DIS_TRY(read_window(c, &w, &done));
        if (done == 0) return DIS_OK;
        c->next += done;
    }
    return DIS_OK;
}

static dis_status fast_csv(dis__row_cursor *c, const char *limit)
{
    if (c->file->reader->o.n_drop) return DIS_OK;
    DIS_TRY(read_windows(c, limit));
    if (c->scratch) find_rest(c->batch, c->scratch);
    return DIS_OK;
}

const dis__row_format dis__rows_csv = {
    .name = "csv", .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
const dis__row_format dis__rows_tsv = {
    .name = "tsv", .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
