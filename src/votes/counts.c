/* Tables of numbers: counts (one row per item, one column per class) and soft votes (one row per vote, a distribution
 * over the classes). Both end as one row of sums per item; who voted is not kept.
 *
 * CSV and TSV: a column for the task, and the classes: columns called p:CLASS, or when there is none all the others but
 * those of task, worker and label. Counts of a task that comes twice are duplicates; soft votes are when the worker,
 * too, is the same. npy: (items, classes), both called by their numbers from 0. Cost: the strict CSV reader's, and one
 * lookup per row. */
#include "votes/reader.h"
#include "io/text_shape.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "core/number.h"
#include "io/npy.h"
#include <math.h>
#include <stdio.h>

typedef struct {
    dis__reader *reader;
    bool soft;
    dis__table tasks; /* value: item */
    dis__table pairs; /* of soft votes: "task NUL worker"; value: index into last */
    dis__arena texts;
    const char **name; /* (n_items) */
    uint32_t *n_name;
    size_t n_items, name_capacity, n_name_capacity;
    double *sum; /* (n_items, n_classes) */
    size_t sum_capacity;
    uint64_t *n_votes; /* (n_items) rows that count */
    size_t n_votes_capacity;
    /* When the last of duplicates wins, rows wait here until all are read: taking one back from a sum would leave
     * rounding. */
    double *last;      /* (n_pairs, n_classes) */
    size_t *last_item; /* (n_pairs) */
    size_t n_pairs, last_capacity, last_item_capacity;
    dis_names *classes; /* in their final order */
    size_t n_classes;
    double *row; /* (n_classes) of the row at hand */
    char *pair;
    size_t pair_capacity;
} numbers;

/* The columns of one file. */
typedef struct {
    dis__csv csv;
    size_t task, worker; /* worker SIZE_MAX: none */
    size_t *class_of;    /* (n_columns) SIZE_MAX: no class */
} table;

static void free_numbers(numbers *t)
{
    dis__table_free(&t->tasks);
    dis__table_free(&t->pairs);
    dis__arena_free(&t->texts);
    dis__free(t->name);
    dis__free(t->n_name);
    dis__free(t->sum);
    dis__free(t->n_votes);
    dis__free(t->last);
    dis__free(t->last_item);
    dis_names_destroy(t->classes);
    dis__free(t->row);
    dis__free(t->pair);
}

/* Classes of the columns, sorted or as declared. */
static dis_status name_classes(numbers *t, const dis__key *keys, size_t n)
{
    const dis_votes_options *o = &t->reader->o;
    if (o->n_classes) {
        t->n_classes = o->n_classes;
        return dis_names_create(o->classes, o->n_classes, &t->classes);
    }
    uint16_t *place = NULL;
    char **texts = NULL;
    dis_status status = dis__alloc_array(&place, n, sizeof *place);
    if (status == DIS_OK) status = dis__alloc_zeroed(&texts, n, sizeof *texts);
    if (status == DIS_OK) status = dis__classes_order(keys, n, place);
    for (size_t i = 0; status == DIS_OK && i < n; i++)
        status = dis__copy_text(&texts[place[i]], dis__key_text(&keys[i]), keys[i].n);
    if (status == DIS_OK) status = dis_names_create((const char *const *)texts, n, &t->classes);
    if (status == DIS_OK) t->n_classes = n;
    for (size_t i = 0; texts && i < n; i++) dis__free(texts[i]);
    dis__free(texts);
    dis__free(place);
    return status;
}

static bool is_called(const dis__csv_field *column, const char *name)
{
    return column->n == strlen(name) && memcmp(column->text, name, column->n) == 0;
}

/* Which columns are classes: sets class_of[c] to 0 for those, SIZE_MAX elsewhere, and gives their names. */
static dis_status find_classes(numbers *t, table *f, dis__key *keys, size_t *n)
{
    const dis_votes_options *o = &t->reader->o;
    bool marked = false;
    for (size_t c = 0; c < f->csv.n_columns; c++)
        marked = marked || (f->csv.header[c].n > 2 && memcmp(f->csv.header[c].text, "p:", 2) == 0);
    *n = 0;
    for (size_t c = 0; c < f->csv.n_columns; c++) {
        const dis__csv_field *column = &f->csv.header[c];
        const bool mark = column->n > 2 && memcmp(column->text, "p:", 2) == 0;
        bool other = c == f->task || c == f->worker || is_called(column, o->label ? o->label : "label") ||
                     is_called(column, "worker") || is_called(column, "performer");
        for (size_t d = 0; d < o->n_drop; d++) other = other || is_called(column, o->drop[d].column);
        f->class_of[c] = (marked ? mark : !other) ? 0 : SIZE_MAX;
        if (f->class_of[c] == SIZE_MAX) continue;
        const size_t skip = marked ? 2 : 0;
        if (column->n == skip) return dis__csv_fail(&f->csv, column, "a column without a name; name its class");
        if (column->n - skip > DIS_MAX_ID)
            return dis__csv_fail(&f->csv, column, "a class of more than %u bytes", DIS_MAX_ID);
        keys[(*n)++] = dis__key_of(&t->reader->rules.secret, column->text + skip, column->n - skip);
    }
    if (*n == 0) return dis__csv_fail(&f->csv, NULL, "no column for a class; there must be one column per class");
    if (*n > DIS_MAX_CLASSES) return dis__fail(DIS_ELIMIT, "%zu classes; at most %u are possible", *n, DIS_MAX_CLASSES);
    return DIS_OK;
}

static dis_status map_classes(numbers *t, table *f, dis__key *keys)
{
    size_t n;
    DIS_TRY(find_classes(t, f, keys, &n));
    const bool first = !t->classes;
    if (first) DIS_TRY(name_classes(t, keys, n));
    size_t k = 0;
    for (size_t c = 0; c < f->csv.n_columns; c++) {
        if (f->class_of[c] == SIZE_MAX) continue;
        f->class_of[c] = dis_names_find(t->classes, dis__key_text(&keys[k]), keys[k].n);
        if (f->class_of[c] == SIZE_MAX)
            return dis__csv_fail(&f->csv, &f->csv.header[c],
                                 t->reader->o.n_classes ? "the class \"%.*s\" is not among the declared ones"
                                                        : "the class \"%.*s\" is not in the first file",
                                 keys[k].n > 200 ? 200 : (int)keys[k].n, dis__key_text(&keys[k]));
        k++;
    }
    if (!first && !t->reader->o.n_classes && n != t->n_classes)
        return dis__csv_fail(&f->csv, NULL, "%zu classes where the first file has %zu", n, t->n_classes);
    return DIS_OK;
}

static dis_status open_table(numbers *t, table *f)
{
    static const char *const tasks[] = {"task", NULL}, *const workers[] = {"worker", "performer", NULL};
    const dis_votes_options *o = &t->reader->o;
    DIS_TRY(dis__csv_header(&f->csv));
    if (f->csv.next == f->csv.end) return dis__fail_at(DIS_EDATA, f->csv.path, 0, 0, "a header and no rows");
    DIS_TRY(dis__csv_role(&f->csv, "task", o->task, tasks, &f->task));
    f->worker = SIZE_MAX;
    if (t->soft && (o->worker || dis__csv_column(&f->csv, workers[0]) != SIZE_MAX ||
                    dis__csv_column(&f->csv, workers[1]) != SIZE_MAX))
        DIS_TRY(dis__csv_role(&f->csv, "worker", o->worker, workers, &f->worker));
    DIS_TRY(dis__alloc_array(&f->class_of, f->csv.n_columns, sizeof *f->class_of));
    dis__key *keys;
    DIS_TRY(dis__alloc_array(&keys, f->csv.n_columns, sizeof *keys));
    const dis_status status = map_classes(t, f, keys);
    dis__free(keys);
    return status;
}

/* The item of a task, a new one with a row of zeros. */
static dis_status find_item(numbers *t, const dis__csv_field *task, size_t *item, bool *fresh)
{
    dis__key key = dis__key_of(&t->reader->rules.secret, task->text, task->n);
    const dis__key *at = dis__table_find(&t->tasks, &key);
    *fresh = !at;
    if (at) {
        *item = at->value;
        return DIS_OK;
    }
    if (t->n_items == DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u tasks", DIS_MAX_IDS);
    const size_t i = t->n_items;
    DIS_TRY(dis__reserve(&t->name, &t->name_capacity, i, i + 1, sizeof *t->name));
    DIS_TRY(dis__reserve(&t->n_name, &t->n_name_capacity, i, i + 1, sizeof *t->n_name));
    DIS_TRY(dis__reserve(&t->n_votes, &t->n_votes_capacity, i, i + 1, sizeof *t->n_votes));
    DIS_TRY(
        dis__reserve(&t->sum, &t->sum_capacity, i * t->n_classes, dis__size(i + 1, t->n_classes, 0), sizeof *t->sum));
    DIS_TRY(dis__arena_copy(&t->texts, task->text, task->n, &t->name[i]));
    key = dis__key_of(&t->reader->rules.secret, t->name[i], task->n);
    key.value = (uint32_t)i;
    bool added;
    DIS_TRY(dis__table_put(&t->tasks, &key, &at, &added));
    t->n_name[i] = (uint32_t)task->n;
    t->n_votes[i] = 0;
    memset(t->sum + i * t->n_classes, 0, t->n_classes * sizeof *t->sum);
    t->n_items++;
    *item = i;
    return DIS_OK;
}

/* Whether this worker voted on this task before; *index is then which pair it was. */
static dis_status find_pair(numbers *t, const dis__csv_field *task, const dis__csv_field *worker, size_t *index,
                            bool *fresh)
{
    const size_t n = task->n + 1 + worker->n;
    DIS_TRY(dis__reserve(&t->pair, &t->pair_capacity, 0, n, 1));
    memcpy(t->pair, task->text, task->n);
    t->pair[task->n] = 0;
    memcpy(t->pair + task->n + 1, worker->text, worker->n);
    dis__key key = dis__key_of(&t->reader->rules.secret, t->pair, n);
    const dis__key *at = dis__table_find(&t->pairs, &key);
    *fresh = !at;
    if (at) {
        *index = at->value;
        return DIS_OK;
    }
    const char *copy;
    DIS_TRY(dis__arena_copy(&t->texts, t->pair, n, &copy));
    key = dis__key_of(&t->reader->rules.secret, copy, n);
    key.value = (uint32_t)(*index = t->n_pairs++);
    bool added;
    return dis__table_put(&t->pairs, &key, &at, &added);
}

/* The numbers of a row, checked. */
static dis_status take_numbers(numbers *t, table *f)
{
    double total = 0;
    memset(t->row, 0, t->n_classes * sizeof *t->row);
    for (size_t c = 0; c < f->csv.n_columns; c++) {
        if (f->class_of[c] == SIZE_MAX) continue;
        const dis__csv_field *field = &f->csv.field[c];
        double x;
        if (!dis__parse_real(field->text, field->n, &x) || x < 0)
            return dis__csv_fail(&f->csv, field, "\"%.*s\" is not %s", field->n > 100 ? 100 : (int)field->n,
                                 field->text,
                                 t->soft ? "a probability: a number of 0 or more" : "a count: a number of 0 or more");
        t->row[f->class_of[c]] = x;
        total += x;
    }
    if (isinf(total)) return dis__csv_fail(&f->csv, NULL, "the numbers of this row are too large to add");
    if (!t->soft || fabs(total - 1) <= 1e-6) return DIS_OK;
    if (!t->reader->o.renormalise)
        return dis__csv_fail(&f->csv, NULL, "the row sums to %.9g, not to 1; correct it, or say `renormalise`", total);
    if (total == 0) return dis__csv_fail(&f->csv, NULL, "a row of zeros is no distribution; correct it");
    for (size_t k = 0; k < t->n_classes; k++) t->row[k] /= total;
    t->reader->votes->notes.renormalised++;
    return DIS_OK;
}

static bool is_dropped(const numbers *t, const dis__csv *csv)
{
    const dis_votes_options *o = &t->reader->o;
    for (size_t d = 0; d < o->n_drop; d++) {
        const size_t c = dis__csv_column(csv, o->drop[d].column);
        if (c != SIZE_MAX && is_called(&csv->field[c], o->drop[d].value)) return true;
    }
    return false;
}

static dis_status check_id(dis__csv *csv, const dis__csv_field *id, const char *what)
{
    if (id->n == 0) return dis__csv_fail(csv, id, "an empty %s; every row needs one", what);
    if (id->n > DIS_MAX_ID) return dis__csv_fail(csv, id, "a %s of more than %u bytes; shorten it", what, DIS_MAX_ID);
    return DIS_OK;
}

static void add(double *to, const double *row, size_t n)
{
    for (size_t k = 0; k < n; k++) to[k] += row[k];
}

static dis_status keep_last(numbers *t, size_t pair, size_t item)
{
    const size_t n = t->n_classes, used = pair + 1 == t->n_pairs ? pair : t->n_pairs;
    DIS_TRY(dis__reserve(&t->last, &t->last_capacity, used * n, dis__size(t->n_pairs, n, 0), sizeof *t->last));
    DIS_TRY(dis__reserve(&t->last_item, &t->last_item_capacity, used, t->n_pairs, sizeof *t->last_item));
    memcpy(t->last + pair * n, t->row, n * sizeof *t->row);
    t->last_item[pair] = item;
    return DIS_OK;
}

static dis_status take_row(numbers *t, table *f)
{
    const dis_duplicates rule = t->reader->o.duplicates;
    const dis__csv_field *task = &f->csv.field[f->task],
                         *worker = f->worker == SIZE_MAX ? NULL : &f->csv.field[f->worker];
    dis_votes_notes *notes = &t->reader->votes->notes;
    if (is_dropped(t, &f->csv)) {
        notes->dropped++;
        return DIS_OK;
    }
    DIS_TRY(check_id(&f->csv, task, "task"));
    if (worker) DIS_TRY(check_id(&f->csv, worker, "worker"));
    const uint64_t renormalised = notes->renormalised;
    DIS_TRY(take_numbers(t, f));

    const size_t n = t->n_classes;
    size_t item = 0, pair = 0;
    bool fresh_item, fresh_pair = true;
    if (worker) DIS_TRY(find_pair(t, task, worker, &pair, &fresh_pair));
    DIS_TRY(find_item(t, task, &item, &fresh_item));
    const bool again = worker ? !fresh_pair : !t->soft && !fresh_item;
    notes->duplicates += again;
    if (again && rule == DIS_DUPLICATES_ERROR) {
        notes->renormalised = renormalised;
        return worker ? dis__csv_fail(&f->csv, worker,
                                      "this worker has already voted on task \"%.*s\"; say which vote to keep: "
                                      "`duplicates` first, last or all",
                                      task->n > 200 ? 200 : (int)task->n, task->text)
                      : dis__csv_fail(&f->csv, task,
                                      "the task \"%.*s\" comes a second time; say which row to keep: `duplicates` "
                                      "first, last or all",
                                      task->n > 200 ? 200 : (int)task->n, task->text);
    }
    if (again && rule == DIS_DUPLICATES_FIRST) return DIS_OK;
    const bool replaces = again && rule == DIS_DUPLICATES_LAST;
    if (!replaces) t->n_votes[item]++;
    if (worker && rule == DIS_DUPLICATES_LAST) return keep_last(t, pair, item);
    if (replaces) memset(t->sum + item * n, 0, n * sizeof *t->sum);
    add(t->sum + item * n, t->row, n);
    return DIS_OK;
}

static dis_status keep_message(dis_votes *votes)
{
    votes->notes.bad_rows++;
    if (votes->n_skipped == DIS_KEPT_MESSAGES) return DIS_OK;
    DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
    votes->n_skipped++;
    return DIS_OK;
}

static dis_status read_table(numbers *t, table *f)
{
    dis_votes *votes = t->reader->votes;
    DIS_TRY(open_table(t, f));
    if (!t->row) DIS_TRY(dis__alloc_array(&t->row, t->n_classes, sizeof *t->row));
    for (bool more = true;;) {
        dis_status status = dis__csv_next(&f->csv, &more);
        if (!more) return DIS_OK;
        votes->notes.rows++;
        if (status == DIS_OK) status = take_row(t, f);
        if (status == DIS_EDATA && t->reader->o.lenient) status = keep_message(votes);
        DIS_TRY(status);
    }
}

static dis_status read_npy(dis__reader *r)
{
    if (r->n_inputs != 1)
        return dis__fail(DIS_EUSAGE, "npy counts have no names: they are read from one file, not %zu", r->n_inputs);
    const dis__input *in = &r->input[0];
    dis__npy a;
    DIS_TRY(dis__npy_open(in->path, in->bytes, in->n, &a));
    if (a.n_dims != 2)
        return dis__fail_at(DIS_EDATA, in->path, 0, 0, "an array of %zu dimensions; counts have two: items and classes",
                            a.n_dims);
    const size_t n_classes = a.dim[1];
    if (a.n == 0) return dis__fail_at(DIS_EDATA, in->path, 0, 0, "an empty array");
    if (r->o.n_classes && r->o.n_classes != n_classes)
        return dis__fail_at(DIS_EDATA, in->path, 0, 0, "%zu columns, but %zu classes are declared", n_classes,
                            r->o.n_classes);
    dis_names *classes = NULL;
    double *counts = NULL;
    dis_votes *votes;
    dis_status status = dis__alloc_array(&counts, a.n, sizeof *counts);
    if (status == DIS_OK && r->o.n_classes) status = dis_names_create(r->o.classes, r->o.n_classes, &classes);
    if (status == DIS_OK) {
        dis__npy_reals(&a, 0, a.n, counts);
        status = dis_votes_from_counts(r->ctx, counts, a.dim[0], n_classes, NULL, classes, &votes);
    }
    dis__free(counts);
    dis_names_destroy(classes);
    DIS_TRY(status);
    dis_votes_destroy(r->votes);
    r->votes = votes;
    return DIS_OK;
}

/* Names and sums of the items that have enough votes. */
static dis_status make_table(numbers *t)
{
    dis_votes *votes = t->reader->votes;
    const size_t min_votes = t->reader->o.min_votes;
    size_t n_items = 0, n_bytes = 0;
    for (size_t p = 0; t->last && p < t->n_pairs; p++)
        add(t->sum + t->last_item[p] * t->n_classes, t->last + p * t->n_classes, t->n_classes);
    for (size_t i = 0; i < t->n_items; i++) {
        double total = 0;
        for (size_t k = 0; k < t->n_classes; k++) total += t->sum[i * t->n_classes + k];
        if ((t->soft ? (double)t->n_votes[i] : total) < (double)min_votes) {
            t->n_votes[i] = 0;
            votes->notes.items_left_out++;
            continue;
        }
        t->n_votes[i] = 1;
        n_items++;
        n_bytes += (size_t)t->n_name[i] + 1;
    }
    if (n_items == 0)
        return dis__fail_at(DIS_EDATA, t->reader->input[0].path, 0, 0, "no items are left of %llu rows",
                            (unsigned long long)votes->notes.rows);
    char *bytes = NULL;
    uint64_t *start = NULL;
    dis_status status = dis__alloc_array(&bytes, n_bytes, 1);
    if (status == DIS_OK) status = dis__alloc_array(&start, n_items + 1, sizeof *start);
    if (status == DIS_OK)
        status = dis__alloc_array(&votes->counts, dis__size(n_items, t->n_classes, 0), sizeof *votes->counts);
    if (status == DIS_OK) {
        size_t at = 0, item = 0;
        for (size_t i = 0; i < t->n_items; i++) {
            if (!t->n_votes[i]) continue;
            memcpy(bytes + at, t->name[i], t->n_name[i]);
            start[item] = at;
            at += t->n_name[i];
            bytes[at++] = 0;
            memcpy(votes->counts + item++ * t->n_classes, t->sum + i * t->n_classes, t->n_classes * sizeof *t->sum);
        }
        start[n_items] = at;
        status = dis__names_adopt(bytes, start, n_items, &votes->tasks);
    }
    if (status != DIS_OK) {
        dis__free(bytes);
        dis__free(start);
        return status;
    }
    DIS_TRY(dis__names_numbers(0, &votes->workers));
    votes->classes = t->classes;
    t->classes = NULL;
    votes->n_items = n_items;
    votes->n_classes = t->n_classes;
    votes->n_votes = (size_t)(votes->notes.rows - votes->notes.bad_rows - votes->notes.dropped);
    dis__votes_count_ties(votes);
    return DIS_OK;
}

static dis_status read_tables(numbers *t)
{
    for (size_t i = 0; i < t->reader->n_inputs; i++) {
        dis__input *in = &t->reader->input[i];
        const char *format;
        DIS_TRY(dis__votes_format(t->reader->o.format, in->path, &format));
        if (strcmp(format, "csv") != 0 && strcmp(format, "tsv") != 0)
            return dis__fail(DIS_EUSAGE, "%s are read from csv and tsv%s, not from %s",
                             t->soft ? "soft votes" : "counts", t->soft ? "" : " and npy", format);
        DIS_TRY(dis__text_shape(in, format, "`format`"));
        table f = {0};
        dis__csv_open(&f.csv, in, strcmp(format, "tsv") == 0 ? '\t' : ',');
        const dis_status status = read_table(t, &f);
        dis__csv_close(&f.csv);
        dis__free(f.class_of);
        DIS_TRY(status);
    }
    return make_table(t);
}

dis_status dis__read_counts(dis__reader *reader)
{
    const char *format;
    DIS_TRY(dis__votes_format(reader->o.format, reader->input[0].path, &format));
    if (reader->o.input == DIS_INPUT_COUNTS && strcmp(format, "npy") == 0) return read_npy(reader);
    numbers t = {.reader = reader, .soft = reader->o.input == DIS_INPUT_SOFT};
    const dis_status status = read_tables(&t);
    free_numbers(&t);
    return status;
}
