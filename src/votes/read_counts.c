/* Tables of values: counts (one row per item, one column per class) and soft votes (one row per vote, a distribution
 * over the classes). Both become one row of sums per item; workers are not kept.
 *
 * CSV and TSV: a column for the task, and the classes: columns called p:CLASS, or if there are none, all except those
 * of task, worker and label. A repeated task in counts is a duplicate; in soft votes, a repeated pair of task and
 * worker. npy: (items, classes), both named by their indices from 0. Cost: the strict CSV reader, and one lookup per
 * row. */
#include "votes/mapper/record_reader.h"
#include "votes/read/count_table.h"
#include "io/input/text_format.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "io/tensors/npy.h"

/* The columns of one file. */
typedef struct {
    dis__csv csv;
    size_t task, worker; /* worker SIZE_MAX: none */
    size_t *class_of;    /* (n_columns) SIZE_MAX: no class */
} table;

static bool is_called(const dis__csv_field *column, const char *name)
{
    return column->n == strlen(name) && memcmp(column->text, name, column->n) == 0;
}

/* Finds the columns of classes: sets class_of[c] to 0 for these, SIZE_MAX for others, and returns their names. */
static dis_status find_classes(dis__count_table *t, table *f, dis__key *keys, size_t *n)
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
        keys[(*n)++] = dis__key_from_text(&t->reader->rules.secret, column->text + skip, column->n - skip);
    }
    if (*n == 0) return dis__csv_fail(&f->csv, NULL, "no column for a class; there must be one column per class");
    if (*n > DIS_MAX_CLASSES) return dis__fail(DIS_ELIMIT, "%zu classes; at most %u are possible", *n, DIS_MAX_CLASSES);
    return DIS_OK;
}

static dis_status map_classes(dis__count_table *t, table *f, dis__key *keys)
{
    size_t n;
    DIS_TRY(find_classes(t, f, keys, &n));
    const bool first = !t->classes;
    if (first) DIS_TRY(dis__count_table_set_classes(t, keys, n));
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

static dis_status open_table(dis__count_table *t, table *f)
{
    static const char *const tasks[] = {"task", NULL}, *const workers[] = {"worker", "performer", NULL};
    const dis_votes_options *o = &t->reader->o;
    DIS_TRY(dis__csv_header(&f->csv));
    if (f->csv.next == f->csv.end) return dis__fail_at(DIS_EDATA, f->csv.path, 0, 0, "a header and no rows");
    DIS_TRY(dis__csv_find_column_of_role(&f->csv, "task", o->task, tasks, &f->task));
    f->worker = SIZE_MAX;
    if (t->soft && (o->worker || dis__csv_column(&f->csv, workers[0]) != SIZE_MAX ||
                    dis__csv_column(&f->csv, workers[1]) != SIZE_MAX))
        DIS_TRY(dis__csv_find_column_of_role(&f->csv, "worker", o->worker, workers, &f->worker));
    DIS_TRY(dis__alloc_array(&f->class_of, f->csv.n_columns, sizeof *f->class_of));
    dis__key *keys;
    DIS_TRY(dis__alloc_array(&keys, f->csv.n_columns, sizeof *keys));
    const dis_status status = map_classes(t, f, keys);
    dis__free(keys);
    return status;
}

/* The values of a row, checked. */
static dis_status read_counts(dis__count_table *t, table *f)
{
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
    }
    return DIS_OK;
}

static bool is_dropped(const dis__count_table *t, const dis__csv *csv)
{
    const dis_votes_options *o = &t->reader->o;
    for (size_t d = 0; d < o->n_drop; d++) {
        const size_t c = dis__csv_column(csv, o->drop[d].column);
        if (c != SIZE_MAX && is_called(&csv->field[c], o->drop[d].value)) return true;
    }
    return false;
}

static dis_status read_row(dis__count_table *t, table *f)
{
    if (is_dropped(t, &f->csv)) {
        t->reader->votes->notes.dropped++;
        return DIS_OK;
    }
    dis__vote_field cell[2];
    const size_t column[2] = {f->task, f->worker};
    for (size_t i = 0; i < 2 && column[i] != SIZE_MAX; i++) {
        const dis__csv_field *field = &f->csv.field[column[i]];
        cell[i] = (dis__vote_field){.text = field->text, .n = field->n, .at = field->at};
    }
    DIS_TRY(read_counts(t, f));
    dis__row_problem problem;
    const dis_status status =
        dis__count_table_add(t, &cell[0], f->worker == SIZE_MAX ? NULL : &cell[1], f->csv.row, &problem);
    if (status != DIS_EDATA) return status;
    const dis__csv_field place = {.at = problem.at};
    return dis__csv_fail(&f->csv, &place, "%s", problem.text);
}

static dis_status keep_message(dis_votes *votes)
{
    votes->notes.bad_rows++;
    if (votes->n_skipped == DIS_MAX_MESSAGES) return DIS_OK;
    DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
    votes->n_skipped++;
    return DIS_OK;
}

static dis_status read_table(dis__count_table *t, table *f)
{
    dis_votes *votes = t->reader->votes;
    DIS_TRY(open_table(t, f));
    for (bool more = true;;) {
        dis_status status = dis__csv_next(&f->csv, &more);
        if (!more) return DIS_OK;
        votes->notes.rows++;
        if (status == DIS_OK) status = read_row(t, f);
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
        dis__npy_read_doubles(&a, 0, a.n, counts);
        status = dis_votes_create_from_counts(r->ctx, counts, a.dim[0], n_classes, NULL, classes, &votes);
    }
    dis__free(counts);
    dis_names_destroy(classes);
    DIS_TRY(status);
    dis__votes_move_notes(r->votes, votes);
    dis_votes_destroy(r->votes);
    r->votes = votes;
    return DIS_OK;
}

static dis_status read_tables(dis__count_table *t)
{
    for (size_t i = 0; i < t->reader->n_inputs; i++) {
        dis__input *in = &t->reader->input[i];
        const char *format;
        DIS_TRY(dis__votes_format(t->reader->o.format, in->path, &format));
        if (strcmp(format, "csv") != 0 && strcmp(format, "tsv") != 0)
            return dis__fail(DIS_EUSAGE, "%s are read from csv and tsv%s, not from %s",
                             t->soft ? "soft votes" : "counts", t->soft ? "" : " and npy", format);
        DIS_TRY(dis__reader_check_format(t->reader, in, format));
        table f = {0};
        dis__csv_open(&f.csv, in, dis__votes_separator(&t->reader->o, format));
        const dis_status status = read_table(t, &f);
        dis__csv_close(&f.csv);
        dis__free(f.class_of);
        DIS_TRY(status);
    }
    return dis__count_table_finish(t);
}

dis_status dis__read_counts(dis__reader *reader)
{
    const char *format;
    DIS_TRY(dis__votes_format(reader->o.format, reader->input[0].path, &format));
    if (reader->o.input == DIS_INPUT_COUNTS && strcmp(format, "npy") == 0) return read_npy(reader);
    if (strncmp(format, "json", 4) == 0 || dis__path_is_special(reader->o.label, false))
        return dis__read_mapped_counts(reader);
    dis__count_table t = {.reader = reader, .soft = reader->o.input == DIS_INPUT_SOFT};
    const dis_status status = read_tables(&t);
    dis__count_table_free(&t);
    return status;
}
