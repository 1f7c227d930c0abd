/* Wide tables in MACE's format: no header, one row per item, one column per worker, an empty cell for a missing vote. A
 * blank line is an item without votes: it is not kept, but counts in the numbering, as in MACE. Items and workers are
 * named by their indices, from 0.
 *
 * All rows must have as many cells as the first that is not blank. */
#include "votes/mapper/record_reader.h"
#include "core/memory/memory.h"
#include <stdio.h>

typedef struct {
    dis__reader *reader;
    dis__vote_file file; /* for positions only */
    dis__csv csv;
    dis__batch *batch;
    uint64_t row;
} wide;

/* A number as a text. */
static dis__vote_field number_cell(uint64_t number, char room[24], const char *at)
{
    return (
        dis__vote_field){.text = room, .n = (size_t)snprintf(room, 24, "%llu", (unsigned long long)number), .at = at};
}

/* A row is checked completely before it counts. */
static dis_status check_row(const wide *w, dis__row_problem *problem)
{
    for (size_t c = 0; c < w->csv.n_fields; c++) {
        const dis__csv_field *field = &w->csv.field[c];
        const dis__key key = dis__key_from_text(&w->reader->rules.secret, field->text, field->n);
        problem->at = field->at;
        if (field->n > DIS_MAX_ID) {
            snprintf(problem->text, sizeof problem->text, "a label of more than %u bytes; shorten it", DIS_MAX_ID);
            return DIS_EDATA;
        }
        if (field->n && dis__label_classify(&w->reader->rules, &key) == DIS_LABEL_UNDECLARED) {
            snprintf(problem->text, sizeof problem->text,
                     "the label \"%.*s\" is not among the declared classes; add it, or make it an NA value",
                     field->n > 200 ? 200 : (int)field->n, field->text);
            return DIS_EDATA;
        }
    }
    return DIS_OK;
}

static dis_status read_row(wide *w, dis__row_problem *problem)
{
    char task[24], worker[24];
    DIS_TRY(check_row(w, problem));
    for (size_t c = 0; c < w->csv.n_fields; c++) {
        const dis__csv_field *field = &w->csv.field[c];
        if (field->n == 0) continue;
        const dis__vote_field cell[] = {number_cell(w->row, task, field->at),
                                        number_cell(c, worker, field->at),
                                        {.text = field->text, .n = field->n, .at = field->at}};
        DIS_TRY(dis__batch_row(w->batch, cell, w->csv.begin, w->csv.end, problem));
    }
    return DIS_OK;
}

enum { ROWS_A_BATCH = 1 << 17 };

static dis_status begin_batch(wide *w)
{
    dis__reader *reader = w->reader;
    const size_t n_bytes = (size_t)reader->collector.n_bytes, max = ROWS_A_BATCH + DIS_MAX_COLUMNS;
    const dis__round round = {.n_batches = 1,
                              .n_bytes = n_bytes,
                              .max_rows = n_bytes < max ? n_bytes + 1 : max,
                              .room = DIS_HEADROOM_UNLIMITED,
                              .in_order = true};
    DIS_TRY(dis__collector_begin_round(&reader->collector, &round));
    dis__batch_reset(w->batch, &reader->rules, &reader->collector.labels, reader->collector.ids, 0, NULL,
                     &reader->texts[0]);
    return DIS_OK;
}

static dis_status flush(wide *w, uint64_t n_bytes)
{
    w->reader->votes->notes.missing_labels += w->batch->na;
    DIS_TRY(dis__collector_add_round(w->reader->ctx, &w->reader->collector, &w->batch, 1, n_bytes));
    return begin_batch(w);
}

static dis_status skip(wide *w, const dis__row_problem *problem)
{
    dis_votes *votes = w->reader->votes;
    votes->notes.bad_rows++;
    if (votes->n_skipped == DIS_MAX_MESSAGES) return DIS_OK;
    dis__vote_file_fail(&w->file, problem);
    DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
    votes->n_skipped++;
    return DIS_OK;
}

/* One line; under lenient a bad one is an item without votes. */
static dis_status read_line(wide *w, size_t *n_columns)
{
    dis__row_problem problem;
    dis_status status = dis__csv_row(&w->csv);
    if (status == DIS_EDATA) {
        problem.at = w->csv.problem_at;
        snprintf(problem.text, sizeof problem.text, "%s", w->csv.problem);
    } else if (status == DIS_OK && !(w->csv.n_fields == 1 && w->csv.field[0].n == 0)) {
        if (*n_columns == 0) *n_columns = w->csv.n_fields;
        if (w->csv.n_fields != *n_columns) {
            problem.at = w->csv.row;
            snprintf(problem.text, sizeof problem.text,
                     "%zu cells where the first row has %zu; every worker needs a cell", w->csv.n_fields, *n_columns);
            status = DIS_EDATA;
        } else {
            status = read_row(w, &problem);
        }
    }
    if (status == DIS_EDATA)
        status = w->reader->o.lenient ? skip(w, &problem) : dis__vote_file_fail(&w->file, &problem);
    return status;
}

static dis_status read_wide(wide *w, const dis__input *input, const char *format)
{
    const char separator = dis__votes_separator(&w->reader->o, format);
    dis__csv_open(&w->csv, input, separator);
    w->file.input = input;
    dis__csv_open(&w->file.csv, input, separator);
    if (w->csv.next == w->csv.end) return dis__fail_at(DIS_EDATA, input->path, 0, 0, "the file is empty");
    size_t n_columns = 0;
    const char *from = w->csv.next;
    while (w->csv.next < w->csv.end) {
        DIS_TRY(read_line(w, &n_columns));
        w->row++;
        if (w->batch->n_rows < ROWS_A_BATCH) continue;
        DIS_TRY(flush(w, (uint64_t)(w->csv.next - from)));
        from = w->csv.next;
    }
    return flush(w, (uint64_t)(w->csv.end - from));
}

dis_status dis__read_mace(dis__reader *reader)
{
    wide w = {.reader = reader, .batch = &reader->batch[0]};
    if (reader->o.task || reader->o.worker || reader->o.label)
        return dis__fail(DIS_EUSAGE, "a table in MACE's format has no column names; leave `task`, `worker` and "
                                     "`label` out, or add a header and set `input` wide");
    DIS_TRY(begin_batch(&w));
    for (size_t i = 0; i < reader->n_inputs; i++) {
        const char *format;
        DIS_TRY(dis__votes_format(reader->o.format, reader->input[i].path, &format));
        if (strcmp(format, "csv") != 0 && strcmp(format, "tsv") != 0)
            return dis__fail(DIS_EUSAGE, "wide tables are read from csv and tsv, not from %s", format);
        DIS_TRY(dis__check_wide(reader, &reader->input[i], format));
        const dis_status status = read_wide(&w, &reader->input[i], format);
        dis__csv_close(&w.csv);
        DIS_TRY(status);
    }
    reader->votes->notes.rows = w.row;
    return dis__reader_finish(reader);
}
