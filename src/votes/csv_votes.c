/* Votes from CSV and TSV. Most rows of most files hold no quotes: they are found by looking for separators 64 bytes at
 * a time (csv_scan.h) and their ids are hashed where they stand. A row with anything difficult goes through the strict
 * reader, which alone says what is wrong with it; after such a row the fast way is tried again.
 *
 * Cost: for a row of three short fields some 25 ns, of which the scan is a fifth. */
#include "votes/reader.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "io/csv_scan.h"
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

/* A field's key; 16 bytes can be read from where it begins. */
static inline dis__key key_at(const dis__secret *secret, const char *text, size_t n)
{
    if (n > DIS_KEY_INLINE) return dis__key_of(secret, text, n);
    return dis__key_short(secret, dis__load64(text) & keep_low[n], dis__load64(text + 8) & keep_high[n], n);
}

typedef struct {
    const char *text;
    const uint32_t *list;
    size_t n;
    bool crlf;
} window;

/* Field c of the row whose first entry is `entry` and which begins at `row`. */
static inline const char *field_at(const window *w, const uint32_t *entry, size_t row, size_t c, bool last, size_t *n)
{
    const size_t begin = c ? (entry[c - 1] & ~DIS_SCAN_LF) + 1 : row;
    size_t end = entry[c] & ~DIS_SCAN_LF;
    if (last && w->crlf && end > begin && w->text[end - 1] == '\r') end--;
    *n = end - begin;
    return w->text + begin;
}

/* Adds rows of a window until one is not plain or begins at `limit`; gives the offset behind the last one added. */
static dis_status walk(const dis__cursor *c, const window *w, size_t limit, dis__batch *b, size_t *done)
{
    const dis__file *f = c->file;
    const size_t n_columns = f->csv.n_columns, last = n_columns - 1;
    const size_t task = f->column[DIS_COLUMN_TASK], worker = f->column[DIS_COLUMN_WORKER],
                 label = f->column[DIS_ID_COLUMNS];
    const dis__secret secret = b->rules->secret;
    const size_t readable = (size_t)(f->end - w->text);
    DIS_TRY(dis__batch_reserve(b, w->n / n_columns));
    size_t row = 0;
    for (size_t i = 0; i + n_columns <= w->n && row < limit; i += n_columns) {
        const uint32_t *entry = w->list + i;
        uint32_t within = 0;
        for (size_t k = 0; k < last; k++) within |= entry[k];
        const size_t end = entry[last] & ~DIS_SCAN_LF;
        if (within & DIS_SCAN_LF || !(entry[last] & DIS_SCAN_LF) || end + DIS_KEY_INLINE > readable) break;

        size_t n_task, n_worker, n_label;
        const char *task_text = field_at(w, entry, row, task, task == last, &n_task);
        const char *worker_text = field_at(w, entry, row, worker, worker == last, &n_worker);
        const char *label_text = field_at(w, entry, row, label, label == last, &n_label);
        if (n_task == 0 || n_worker == 0) break;
        dis__key key = key_at(&secret, label_text, n_label);
        uint32_t given, index[DIS_ID_COLUMNS];
        DIS_TRY(dis__batch_label(b, &key, &given));
        if (b->kind[given] != DIS_LABEL_VOTE) {
            if (b->kind[given] != DIS_LABEL_NA) break;
            b->na++;
            b->seen++;
            row = end + 1;
            continue;
        }
        b->seen++;
        row = end + 1;
        const dis__key id[DIS_ID_COLUMNS] = {key_at(&secret, task_text, n_task),
                                             key_at(&secret, worker_text, n_worker)};
        for (int k = 0; k < DIS_ID_COLUMNS; k++)
            if (!dis__column_repeats(&b->id[k], &id[k], &index[k]))
                DIS_TRY(dis__column_lookup(&b->id[k], &id[k], &index[k]));
        dis__batch_add(b, index[DIS_COLUMN_TASK], index[DIS_COLUMN_WORKER], given);
    }
    *done = row;
    return DIS_OK;
}

static dis_status fast_csv(dis__cursor *c, const char *limit, dis__batch *b)
{
    const dis__file *f = c->file;
    if (f->reader->o.n_drop) return DIS_OK;
    if (!c->list) DIS_TRY(dis__alloc_array(&c->list, WINDOW + DIS_SCAN_STEP, sizeof *c->list));
    while (c->next < limit) {
        const size_t left = (size_t)(f->end - c->next), n = left < WINDOW ? left : WINDOW;
        const dis__csv_scan scan = DIS_KERNEL_PICK(dis__csv_scan_text)(c->next, n, c->csv.separator, c->list);
        if (scan.not_ascii) { /* up to the last whole row, so that no sequence is cut */
            size_t k = scan.n;
            while (k && !(c->list[k - 1] & DIS_SCAN_LF)) k--;
            const size_t whole = k ? (c->list[k - 1] & ~DIS_SCAN_LF) + 1 : 0;
            if (dis__utf8_check(c->next, whole) < whole) return DIS_OK;
        }
        const window w = {.text = c->next, .list = c->list, .n = scan.n, .crlf = scan.crlf};
        size_t done = 0;
        DIS_TRY(walk(c, &w, (size_t)(limit - c->next), b, &done));
        if (done == 0) return DIS_OK;
        c->next += done;
    }
    return DIS_OK;
}

const dis__row_format dis__rows_csv = {
    .name = "csv", .separator = ',', .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
const dis__row_format dis__rows_tsv = {
    .name = "tsv", .separator = '\t', .open = open_csv, .row = row_csv, .fast = fast_csv, .quotes = true};
