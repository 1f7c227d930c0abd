/* Records of tables and JSON: see map_read.h. A table is read row by row by the strict reader, JSON is split into
 * records (json_split.h) that are parsed one at a time. Pages of the input that were passed are given back. */
#include "votes/map_read.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/utf8.h"
#include <stdio.h>

dis_status dis__source_fail(dis__source *s)
{
    return dis__file_fail(&s->file, &s->problem);
}

/* Names of a file: "a/b/ann1.jsonl.gz" is ann1 in b. */
static void name_file(dis__record *r, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strchr(*name == '.' ? name + 1 : name, '.');
    r->file = name;
    r->n_file = dot ? (size_t)(dot - name) : strlen(name);
    r->folder = slash ? slash : path;
    while (r->folder > path && r->folder[-1] != '/') r->folder--;
    r->n_folder = slash ? (size_t)(slash - r->folder) : 0;
}

/* Columns called by their numbers, as many as the first row that is not blank has. */
static dis_status number_columns(dis__source *s)
{
    dis__csv first = {0};
    dis__csv_open(&first, s->input, s->csv.separator);
    while (first.next < first.end && (*first.next == '\n' || *first.next == '\r')) first.next++;
    dis_status status = first.next < first.end ? dis__csv_row(&first)
                                               : dis__fail_at(DIS_EDATA, s->input->path, 0, 0, "the file is empty");
    if (status == DIS_EDATA && first.problem_at) {
        s->problem.at = first.problem_at;
        snprintf(s->problem.text, sizeof s->problem.text, "%s", first.problem);
        status = dis__source_fail(s);
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
    return dis__csv_declare(&s->csv, (const char *const *)s->column, n);
}

static dis_status open_table(dis__source *s, const char *format)
{
    const dis_votes_options *o = &s->reader->o;
    const char separator = dis__votes_separator(o, format);
    s->table = true;
    s->raw = o->no_header && separator != ',';
    dis__csv_open(&s->csv, s->input, separator);
    s->record.csv = &s->csv;
    if (s->raw) return DIS_OK;
    DIS_TRY(o->no_header ? number_columns(s) : dis__csv_header(&s->csv));
    if (!o->no_header && s->csv.next == s->csv.end)
        return dis__fail_at(DIS_EDATA, s->input->path, 0, 0, "a header and no rows");
    return DIS_OK;
}

static dis_status split_problem(dis__source *s)
{
    s->problem.at = s->split.problem_at;
    snprintf(s->problem.text, sizeof s->problem.text, "%s", s->split.problem);
    return dis__source_fail(s);
}

static dis_status open_json(dis__source *s, bool lines)
{
    const dis_status status = dis__json_split_open(&s->split, s->input, s->reader->o.records, lines);
    return status == DIS_EDATA ? split_problem(s) : status;
}

dis_status dis__source_open(dis__source *s, dis__reader *reader, const dis__input *input)
{
    *s = (dis__source){.reader = reader, .input = input};
    s->file = (dis__file){.reader = reader, .input = input};
    dis__csv_open(&s->file.csv, input, ',');
    name_file(&s->record, input->path);
    const char *format;
    DIS_TRY(dis__votes_format(reader->o.format, input->path, &format));
    const bool lines = strcmp(format, "jsonl") == 0;
    dis_status status;
    if (strcmp(format, "npy") == 0)
        status = dis__fail(DIS_EUSAGE, "%s: npy files hold counts, not records; leave paths out", input->path);
    else
        status = lines || strcmp(format, "json") == 0 ? open_json(s, lines) : open_table(s, format);
    if (status != DIS_OK) dis__source_close(s);
    return status;
}

void dis__source_close(dis__source *s)
{
    for (size_t i = 0; i < s->n_columns; i++) dis__free(s->column[i]);
    dis__free(s->column);
    dis__free(s->used);
    dis__csv_close(&s->csv);
    dis__csv_close(&s->file.csv);
    dis__json_free(&s->json);
    dis__json_free(&s->key);
    dis__record_free(&s->record);
    s->column = NULL;
    s->used = NULL;
    s->n_columns = 0;
}

/* Names for the first n columns of lines that may have any number of them. */
static dis_status name_columns(dis__source *s, size_t n)
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

static dis_status bad_line(dis__source *s, const char *at, const char *reason)
{
    s->problem.at = at;
    snprintf(s->problem.text, sizeof s->problem.text, "%s", reason);
    return dis__source_fail(s);
}

static dis_status check_text(dis__source *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (text[i] == 0) return bad_line(s, text + i, "the character NUL in a text");
        const size_t length = (unsigned char)text[i] < 0x80 ? 1 : dis__utf8_length(text + i, n - i);
        if (length == 0) return bad_line(s, text + i, "invalid UTF-8; convert the file (iconv -t UTF-8)");
        i += length;
    }
    return DIS_OK;
}

/* A line of cells without quotes, as taggers and brat write them. */
static dis_status next_raw_line(dis__source *s, bool *more)
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

static dis_status next_row(dis__source *s, bool *more, bool *go_on)
{
    const dis_status status = s->raw ? next_raw_line(s, more) : dis__csv_next(&s->csv, more);
    if (!*more) return DIS_OK;
    *go_on = true;
    DIS_TRY(status);
    s->record.root = (dis__node){.kind = DIS_NODE_ROW, .at = s->csv.row};
    return DIS_OK;
}

/* The name of a member as a text. */
static dis_status take_key(dis__source *s)
{
    const dis__json_split *p = &s->split;
    s->record.key = p->key + 1;
    s->record.n_key = p->n_key - 2;
    const dis__json_value *root;
    uint64_t line, column;
    dis_status status = dis__json_parse(&s->key, p->key, p->n_key, &(dis__json_place){.file = ""}, &root);
    if (status == DIS_EDATA) {
        dis__csv_place(&s->file.csv, p->key, &line, &column);
        const dis__json_place place = {.file = s->input->path, .line = line, .column = column};
        return dis__json_parse(&s->key, p->key, p->n_key, &place, &root);
    }
    DIS_TRY(status);
    s->record.key = root->text;
    s->record.n_key = root->length;
    return DIS_OK;
}

static dis_status next_value(dis__source *s, bool *more, bool *go_on)
{
    dis_status status = dis__json_split_next(&s->split, more);
    if (status == DIS_EDATA) {
        *go_on = s->split.kind == DIS_SPLIT_LINES;
        return split_problem(s);
    }
    if (!*more) return DIS_OK;
    const dis__json_split *p = &s->split;
    const dis__json_value *root;
    *go_on = true;
    dis__json_place place = {.file = "", .offset = (uint64_t)(p->text - s->input->bytes)};
    status = dis__json_parse(&s->json, p->text, p->n, &place, &root);
    if (status == DIS_EDATA) { /* once more, for the place */
        place.file = s->input->path;
        dis__csv_place(&s->file.csv, p->text, &place.line, &place.column);
        return dis__json_parse(&s->json, p->text, p->n, &place, &root);
    }
    DIS_TRY(status);
    if (p->key) DIS_TRY(take_key(s));
    s->record.root = (dis__node){.kind = DIS_NODE_JSON, .json = root, .base = p->text, .at = p->text};
    return DIS_OK;
}

dis_status dis__source_next(dis__source *s, dis__record **record, bool *go_on)
{
    bool more;
    *record = NULL;
    *go_on = false;
    s->record.key = s->number;
    s->record.n_key = (size_t)snprintf(s->number, sizeof s->number, "%llu", (unsigned long long)s->n_records++);
    s->record.n_embedded = 0;
    DIS_TRY(s->table ? next_row(s, &more, go_on) : next_value(s, &more, go_on));
    dis__input_passed(s->input, s->table ? s->csv.row : s->split.text, &s->passed);
    if (more) *record = &s->record;
    return DIS_OK;
}

/* The column that the first step of a part names. */
static void mark(dis__source *s, const dis__path *path)
{
    for (size_t i = 0; path->text && i < path->n_parts; i++) {
        const dis__step *step = &path->part[i].step[0];
        for (size_t c = 0; c < s->csv.n_columns; c++) {
            const dis__csv_field *h = &s->csv.header[c];
            const bool index = step->kind == DIS_STEP_INDEX && step->index == c;
            for (size_t k = step->kind == DIS_STEP_KEY ? step->chain : 0; k > 0; k--) {
                const dis__step *last = step + k - 1;
                const size_t n = (size_t)(last->text + last->n - step->text);
                if (h->n == n && memcmp(h->text, step->text, n) == 0) s->used[c] = true;
            }
            s->used[c] = s->used[c] || index;
        }
    }
}

dis_status dis__source_use(dis__source *s, const dis__mapping *m)
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

/* Under lenient the last message is kept; otherwise it is what is said. */
static dis_status skip(dis__map_run *run)
{
    dis_votes *votes = run->reader->votes;
    if (!run->reader->o.lenient) return DIS_EDATA;
    if (!run->count) return DIS_OK;
    votes->notes.bad_rows++;
    votes->notes.rows++;
    if (votes->n_skipped == DIS_KEPT_MESSAGES) return DIS_OK;
    DIS_TRY(dis__copy_text(&votes->skipped[votes->n_skipped], dis_last_error(), strlen(dis_last_error())));
    votes->n_skipped++;
    return DIS_OK;
}

/* Answers that are no votes are skipped one by one, not with all of their record. */
static dis_status take_leniently(void *user, const dis__answer *answer, dis__problem *problem)
{
    dis__map_run *run = user;
    const dis_status status = run->take(run->user, answer, problem);
    if (status != DIS_EDATA || !run->reader->o.lenient) return status;
    run->source->problem = *problem;
    (void)dis__source_fail(run->source);
    return skip(run);
}

static dis_status run_source(dis__map_run *run, dis__walk *walk)
{
    dis__source *s = run->source;
    const double n_bytes = s->input->n ? (double)s->input->n : 1;
    DIS_TRY(dis__source_use(s, run->mapping));
    for (;;) {
        dis__record *record;
        bool go_on;
        uint64_t dropped = 0;
        dis_status status = dis__source_next(s, &record, &go_on);
        if (status == DIS_OK && !record) return DIS_OK;
        if (status == DIS_OK) {
            status = dis__map_record(walk, record, take_leniently, run, &dropped, &s->problem);
            if (status == DIS_EDATA) status = dis__source_fail(s);
            go_on = true;
        }
        if (run->count) run->reader->votes->notes.dropped += dropped;
        if (run->count) run->reader->votes->notes.rows += dropped;
        if (status == DIS_EDATA && go_on) status = skip(run);
        DIS_TRY(status);
        if (s->n_records % 4096 == 0) {
            DIS_TRY(dis__check_stop(run->reader->ctx));
            const char *at = s->table ? s->csv.next : s->split.at;
            dis__progress(run->reader->ctx, "reading votes", (double)(at - s->input->bytes) / n_bytes);
        }
    }
}

dis_status dis__map_run_all(dis__map_run *run)
{
    dis__walk *walk;
    DIS_TRY(dis__walk_create(run->mapping, &walk));
    dis_status status = DIS_OK;
    for (run->input = 0; run->input < run->reader->n_inputs && status == DIS_OK; run->input++) {
        dis__source source;
        status = dis__source_open(&source, run->reader, &run->reader->input[run->input]);
        if (status != DIS_OK) break;
        run->source = &source;
        status = run_source(run, walk);
        dis__source_close(&source);
    }
    dis__walk_destroy(walk);
    return status;
}
