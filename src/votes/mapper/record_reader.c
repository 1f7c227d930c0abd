/* Records of tables and JSON: see record_reader.h. A table is read row by row by the strict reader, JSON is split into
 * records that are parsed one at a time (json_records.h). Pages of the input are released after they were read; an
 * archive is decompressed as it is read. */
#include "votes/mapper/record_reader.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/text/utf8.h"
#include "io/input/text_format.h"
#include <stdio.h>

dis_status dis__record_reader_fail(dis__record_reader *s)
{
    return dis__vote_file_fail(&s->file, &s->problem);
}

/* Names derived from a file: "a/b/ann1.jsonl.gz" is ann1 in b. */
static void name_file(dis__mapped_record *r, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strchr(*name == '.' ? name + 1 : name, '.');
    r->file = name;
    r->n_file = dot ? (size_t)(dot - name) : strlen(name);
    r->folder = slash ? slash : path;
    while (r->folder > path && r->folder[-1] != '/') r->folder--;
    r->n_folder = slash ? (size_t)(slash - r->folder) : 0;
    if (r->n_folder == 1 && *r->folder == '.') r->n_folder = 0; /* "./a" has no folder name */
}

/* Numbered columns, as many as the first row that is not blank has. */
static dis_status number_columns(dis__record_reader *s)
{
    dis__csv first = {0};
    dis__csv_open(&first, s->input, s->csv.separator);
    while (first.next < first.end && (*first.next == '\n' || *first.next == '\r')) first.next++;
    dis_status status = first.next < first.end ? dis__csv_row(&first)
                                               : dis__fail_at(DIS_EDATA, s->input->path, 0, 0, "the file is empty");
    if (status == DIS_EDATA && first.problem_at) {
        s->problem.at = first.problem_at;
        snprintf(s->problem.text, sizeof s->problem.text, "%s", first.problem);
        status = dis__record_reader_fail(s);
    }
    const size_t n = first.n_fields;
    dis__csv_close(&first);
    DIS_TRY(status);
    DIS_TRY(dis__alloc_zeroed(&s->column, n, sizeof *s->column));
    for (; s->n_columns < n; s->n_columns++) {
        char name[24];
        const int length = snprintf(name, sizeof name, "%zu", s->n_columns);
        DIS_TRY(dis__copy_text(&s->column[s->n_columns], name, (size_t)length));
    }
    return dis__csv_set_columns(&s->csv, (const char *const *)s->column, n);
}

static dis_status open_table(dis__record_reader *s, const char *format)
{
    const dis_votes_options *o = &s->reader->o;
    const char separator = dis__votes_separator(o, format);
    s->table = true;
    s->raw = o->no_header && separator != ',';
    dis__csv_open(&s->csv, s->input, separator);
    s->record.csv = &s->csv;
    s->record.bare = o->no_header;
    if (s->raw) return s->input->n ? DIS_OK : dis__fail_at(DIS_EDATA, s->input->path, 0, 0, "the file is empty");
    DIS_TRY(o->no_header ? number_columns(s) : dis__csv_header(&s->csv));
    if (!o->no_header && s->csv.next == s->csv.end)
        return dis__fail_at(DIS_EDATA, s->input->path, 0, 0, "a header and no rows");
    return DIS_OK;
}

dis_status dis__record_reader_open(dis__record_reader *s, dis__reader *reader, dis__input *input)
{
    *s = (dis__record_reader){.reader = reader, .input = input};
    DIS_TRY(dis__input_rewind(input));
    s->file = (dis__vote_file){.reader = reader, .input = input};
    dis__csv_open(&s->file.csv, input, ',');
    name_file(&s->record, input->path);
    const char *format;
    DIS_TRY(dis__votes_format(reader->o.format, input->path, &format));
    const bool lines = strcmp(format, "jsonl") == 0;
    dis_status status;
    if (strcmp(format, "npy") == 0)
        status = dis__fail(DIS_EUSAGE, "%s: npy files hold counts, not records; leave paths out", input->path);
    else
        status = lines || strcmp(format, "json") == 0
                     ? dis__json_records_open(&s->values, input, &s->file.csv, reader->o.records, lines)
                     : open_table(s, format);
    if (status != DIS_OK) dis__record_reader_close(s);
    return status;
}

void dis__record_reader_close(dis__record_reader *s)
{
    for (size_t i = 0; i < s->n_columns; i++) dis__free(s->column[i]);
    dis__free(s->column);
    dis__free(s->used);
    dis__csv_close(&s->csv);
    dis__csv_close(&s->file.csv);
    dis__json_free(&s->json);
    dis__json_free(&s->key);
    dis__mapped_record_free(&s->record);
    s->column = NULL;
    s->used = NULL;
    s->n_columns = 0;
}

/* Names for the first n columns of lines with a variable number of columns. */
static dis_status name_columns(dis__record_reader *s, size_t n)
{
    dis__csv *csv = &s->csv;
    DIS_TRY(dis__reserve(&s->column, &s->column_capacity, s->n_columns, n, sizeof *s->column));
    DIS_TRY(dis__reserve(&csv->header, &s->header_capacity, s->n_columns, n, sizeof *csv->header));
    for (; s->n_columns < n; s->n_columns++) {
        char name[24];
        const int length = snprintf(name, sizeof name, "%zu", s->n_columns);
        DIS_TRY(dis__copy_text(&s->column[s->n_columns], name, (size_t)length));
        csv->header[s->n_columns] =
            (dis__csv_field){.text = s->column[s->n_columns], .n = (size_t)length, .at = csv->begin};
    }
    return DIS_OK;
}

static dis_status bad_line(dis__record_reader *s, const char *at, const char *reason)
{
    s->problem.at = at;
    snprintf(s->problem.text, sizeof s->problem.text, "%s", reason);
    return dis__record_reader_fail(s);
}

static dis_status check_text(dis__record_reader *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (text[i] == 0) return bad_line(s, text + i, "the character NUL in a text");
        const size_t length = (unsigned char)text[i] < 0x80 ? 1 : dis__utf8_length(text + i, n - i);
        if (length == 0) return bad_line(s, text + i, "invalid UTF-8; save the file as UTF-8");
        i += length;
    }
    return DIS_OK;
}

/* A line of cells without quotes, as written by taggers and brat. */
static dis_status next_raw_line(dis__record_reader *s, bool *more)
{
    dis__csv *csv = &s->csv;
    while (csv->next < csv->end && (*csv->next == '\n' || *csv->next == '\r')) csv->next++;
    *more = csv->next < csv->end;
    if (!*more) return DIS_OK;
    const char *lf = memchr(csv->next, '\n', (size_t)(csv->end - csv->next));
    const char *p = csv->row = csv->next, *end = lf ? lf : csv->end;
    csv->next = lf ? lf + 1 : csv->end;
    if (end > p && end[-1] == '\r') end--;
    DIS_TRY(check_text(s, p, (size_t)(end - p)));
    size_t n = 1;
    for (const char *c = p; c < end; c++) n += *c == csv->separator;
    if (n > DIS_MAX_COLUMNS) return bad_line(s, p, "too many columns");
    DIS_TRY(name_columns(s, n));
    DIS_TRY(dis__reserve(&csv->field, &csv->capacity, 0, n, sizeof *csv->field));
    for (size_t i = 0; i < n; i++) {
        const char *stop = memchr(p, csv->separator, (size_t)(end - p));
        if (!stop) stop = end;
        csv->field[i] = (dis__csv_field){.text = p, .n = (size_t)(stop - p), .at = p};
        p = stop + (stop < end);
    }
    csv->n_fields = csv->n_columns = n;
    return DIS_OK;
}

/* A row that ends at the end of the available part of an archive may be incomplete, unless it exceeds the maximum row
 * size. */
static dis_status read_row(dis__record_reader *s, bool *more)
{
    dis__input *in = s->input;
    const dis_votes_options *o = &s->reader->o;
    const char *from = s->csv.next;
    *more = false;
    if (in->stream) dis__input_advance(in, from, &s->csv, &s->passed);
    dis__input_advance(in, from, &s->file.csv, &s->passed);
    for (size_t n = DIS_RECORDS_READ_AHEAD;; n *= 2) {
        DIS_TRY(dis__input_extend(in, (size_t)(from - in->bytes) + n));
        if (in->stream && (!o->delimiter || s->reader->delimiter_found) && !o->no_header)
            dis__text_trim_blank_lines(in);
        if (in->stream) s->csv.end = s->file.csv.end = in->bytes + in->n;
        s->csv.next = from;
        const dis_status status = s->raw ? next_raw_line(s, more) : dis__csv_next(&s->csv, more);
        const bool cut = !dis__input_is_complete(in) && (status == DIS_EDATA || s->csv.next == s->csv.end);
        if (!cut || n > 2 * (size_t)DIS_MAX_FIELD) return status;
    }
}

static dis_status next_row(dis__record_reader *s, bool *more, bool *go_on)
{
    const dis_status status = read_row(s, more);
    if (!*more) return status;
    *go_on = true;
    DIS_TRY(status);
    s->record.root = (dis__node){.kind = DIS_NODE_ROW, .at = s->csv.row};
    return DIS_OK;
}

static dis_status next_value(dis__record_reader *s, bool *more, bool *go_on)
{
    dis__json_records *v = &s->values;
    const dis__json_value *root, *key;
    const dis_status status = dis__json_records_next(v, more);
    *go_on = status != DIS_EDATA || (v->split.kind == DIS_SPLIT_LINES && v->split.problem);
    if (status != DIS_OK || !*more) return status;
    DIS_TRY(dis__json_records_parse(v, &s->json, &root));
    if (v->split.key) {
        DIS_TRY(dis__json_records_text(v, v->split.key, v->split.n_key, &s->key, &key));
        s->record.key = key->text;
        s->record.n_key = key->length;
    }
    s->record.root = (dis__node){.kind = DIS_NODE_JSON, .json = root, .base = v->split.text, .at = v->split.text};
    return DIS_OK;
}

dis_status dis__record_reader_next(dis__record_reader *s, dis__mapped_record **record, bool *go_on)
{
    bool more;
    *record = NULL;
    *go_on = false;
    s->record.key = s->number;
    s->record.n_key = (size_t)snprintf(s->number, sizeof s->number, "%llu", (unsigned long long)s->n_records++);
    s->record.n_embedded = 0;
    DIS_TRY(s->table ? next_row(s, &more, go_on) : next_value(s, &more, go_on));
    if (more) *record = &s->record;
    return DIS_OK;
}

/* The column named by the first step of a part. */
static void mark(dis__record_reader *s, const dis__path *path)
{
    for (size_t i = 0; path->text && i < path->n_parts; i++) {
        const dis__path_step *step = &path->part[i].step[0];
        for (size_t c = 0; c < s->csv.n_columns; c++) {
            const dis__csv_field *h = &s->csv.header[c];
            const bool index = step->kind == DIS_STEP_INDEX && step->index == c;
            for (size_t k = step->kind == DIS_STEP_KEY ? step->chain : 0; k > 0; k--) {
                const dis__path_step *last = step + k - 1;
                const size_t n = (size_t)(last->text + last->n - step->text);
                if (h->n == n && memcmp(h->text, step->text, n) == 0) s->used[c] = true;
            }
            s->used[c] = s->used[c] || index;
        }
    }
}

dis_status dis__record_reader_mark_columns(dis__record_reader *s, const dis__mapping *m)
{
    if (!s->table || s->raw) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&s->used, s->csv.n_columns, sizeof *s->used));
    mark(s, &m->task);
    mark(s, &m->worker);
    mark(s, &m->time);
    for (size_t i = 0; i < m->n_rules; i++) mark(s, &m->rule[i].path);
    s->record.used = s->used;
    return DIS_OK;
}

/* Under lenient the last message is kept; otherwise it is reported. */
static dis_status skip(dis__mapping_run *run)
{
    dis_votes *votes = run->reader->votes;
    if (!run->reader->o.lenient) return DIS_EDATA;
    if (!run->count) return DIS_OK;
    votes->notes.bad_rows++;
    votes->notes.rows++;
    if (votes->n_skipped == DIS_MAX_MESSAGES) return DIS_OK;
    DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
    votes->n_skipped++;
    return DIS_OK;
}

/* Answers that are not votes are skipped one by one, not with their whole record. */
static dis_status add_answer_leniently(void *user, const dis__answer *answer, dis__row_problem *problem)
{
    dis__mapping_run *run = user;
    const dis_status status = run->on_answer(run->user, answer, problem);
    if (status != DIS_EDATA || !run->reader->o.lenient) return status;
    run->source->problem = *problem;
    (void)dis__record_reader_fail(run->source);
    return skip(run);
}

/* A missing column is reported for the header, once, and is not a bad row. */
static dis_status check_columns(dis__record_reader *s, dis__record_walk *walk)
{
    if (!s->table || s->reader->o.no_header) return DIS_OK;
    s->record.root = (dis__node){.kind = DIS_NODE_ROW, .at = s->csv.row};
    const dis_status status = dis__record_walk_check_columns(walk, &s->record, &s->problem);
    return status == DIS_EDATA ? dis__record_reader_fail(s) : status;
}

static dis_status run_source(dis__mapping_run *run, dis__record_walk *walk)
{
    dis__record_reader *s = run->source;
    DIS_TRY(dis__record_reader_mark_columns(s, run->mapping));
    DIS_TRY(check_columns(s, walk));
    for (;;) {
        dis__mapped_record *record;
        bool go_on;
        uint64_t dropped = 0;
        dis_status status = dis__record_reader_next(s, &record, &go_on);
        if (status == DIS_OK && !record) return DIS_OK;
        if (status == DIS_OK) {
            status = dis__map_record(walk, record, add_answer_leniently, run, &dropped, &s->problem);
            if (status == DIS_EDATA) status = dis__record_reader_fail(s);
            go_on = true;
        }
        if (run->count) run->reader->votes->notes.dropped += dropped;
        if (run->count) run->reader->votes->notes.rows += dropped;
        if (status == DIS_EDATA && go_on) status = skip(run);
        DIS_TRY(status);
        if (s->n_records % 4096 == 0) {
            DIS_TRY(dis__check_stop(run->reader->ctx));
            const char *at = s->table ? s->csv.next : s->values.split.at;
            const double n_bytes = (double)dis__input_size(s->input);
            dis__progress(run->reader->ctx, "reading votes",
                          (double)(at - s->input->bytes) / (n_bytes > 0 ? n_bytes : 1));
        }
    }
}

dis_status dis__mapping_run_all(dis__mapping_run *run)
{
    dis__record_walk *walk;
    DIS_TRY(dis__record_walk_create(run->mapping, &walk));
    dis_status status = DIS_OK;
    for (run->input = 0; run->input < run->reader->n_inputs && status == DIS_OK; run->input++) {
        dis__record_reader source;
        status = dis__record_reader_open(&source, run->reader, &run->reader->input[run->input]);
        if (status != DIS_OK) break;
        run->source = &source;
        status = run_source(run, walk);
        dis__record_reader_close(&source);
    }
    dis__record_walk_destroy(walk);
    return status;
}
