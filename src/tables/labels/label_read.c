/* Label files as text: CSV and TSV with a header, JSONL.
 *
 * Class columns are those called p:CLASS or, when there is none, all but task, label and entropy; label and entropy are
 * not read, they follow from the rest. The text is cut at ends of lines into chunks that all threads read at once:
 * counting the lines first tells which row of the table each chunk begins with. A file with quotes, in which a line
 * need not be a row, is one chunk. Then one pass over the task names finds one that comes twice. Cost: O(bytes);
 * memory: the table and its names twice for a moment, bounded by the size of the file before anything is allocated. */
#include "tables/labels/label_npy.h"
#include "tables/labels/label_table.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "dissent/votes.h"
#include "io/csv/csv.h"
#include "io/files/file_format.h"
#include "io/input/input.h"
#include "io/json/json_read.h"
#include "io/input/text_format.h"
#include <string.h>

/* A piece of the file. */
typedef struct {
    const char *begin, *end;
    size_t first_row, max_rows;
    dis__name_list tasks; /* of its rows */
    uint64_t renormalised;
} chunk;

/* Which columns hold what. */
typedef struct {
    size_t task;
    size_t *p; /* (n_classes) */
} columns;

typedef struct {
    dis_context *ctx;
    const dis__input *input;
    const dis_labels_read_options *options;
    dis_labels *labels;
    char delimiter;          /* of CSV */
    size_t n_columns;        /* of CSV */
    columns columns;         /* of CSV */
    dis__name_index classes; /* of JSONL */
    chunk *chunks;
    size_t n_chunks;
} reading;

enum { CHUNK = 1 << 20, MAX_CHUNKS = 1 << 12 };

static size_t count_lines(const char *at, const char *end)
{
    size_t n = 0;
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        n++;
        at = lf ? lf + 1 : end;
    }
    return n;
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    chunk *c = &((reading *)arg)->chunks[j];
    c->max_rows = count_lines(c->begin, c->end);
    return DIS_OK;
}

/* Cuts what is behind `from` into chunks and allocates the table. */
static dis_status cut(reading *r, const char *from, bool one)
{
    dis_labels *labels = r->labels;
    const char *end = r->input->bytes + r->input->n;
    const size_t n = (size_t)(end - from);
    const size_t n_chunks = one ? 1 : dis__n_jobs(n, CHUNK, MAX_CHUNKS);
    DIS_TRY(dis__alloc_zeroed(&r->chunks, n_chunks, sizeof *r->chunks));
    r->n_chunks = n_chunks;
    for (size_t j = 0; j < r->n_chunks; j++) {
        const char *at = from + dis__job_first(n, r->n_chunks, j);
        if (j) { /* after the end of the line */
            if (at < r->chunks[j - 1].begin) at = r->chunks[j - 1].begin;
            const char *lf = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
            at = lf ? lf + 1 : end;
            r->chunks[j - 1].end = at;
        }
        r->chunks[j].begin = at;
    }
    r->chunks[r->n_chunks - 1].end = end;
    DIS_TRY(dis__run_jobs(r->ctx, r->n_chunks, count_job, r));
    size_t lines = 0;
    for (size_t j = 0; j < r->n_chunks; j++) {
        r->chunks[j].first_row = lines;
        lines += r->chunks[j].max_rows;
    }
    /* A row takes at least as many bytes as there are classes. More lines than that: one of them is malformed, and
     * reading from start to end finds it before the room for this many rows is used up. */
    const size_t max = n / labels->n_classes + 1;
    if (lines > max) {
        r->n_chunks = 1;
        r->chunks[0].end = end;
        r->chunks[0].max_rows = lines = max;
    }
    DIS_TRY(dis__check_memory(r->ctx, dis__saturating_size(lines, labels->n_classes * sizeof(double), 0),
                              "the table of labels"));
    return dis__alloc_array(&labels->p, lines, labels->n_classes * sizeof *labels->p);
}

/* The position in the table for the next row of a chunk; NULL: there are more rows than lines. */
static double *next_row(const reading *r, const chunk *c)
{
    return c->tasks.n < c->max_rows ? r->labels->p + (c->first_row + c->tasks.n) * r->labels->n_classes : NULL;
}

/* The names of all chunks as one list; *twice: the row of a task that was there before, SIZE_MAX when there is none. */
static dis_status join(reading *r, size_t *twice)
{
    dis_labels *labels = r->labels;
    dis__name_list all = {0};
    size_t n_bytes = 0;
    for (size_t j = 0; j < r->n_chunks; j++) {
        all.n += r->chunks[j].tasks.n;
        n_bytes += r->chunks[j].tasks.used;
        labels->renormalised += r->chunks[j].renormalised;
    }
    if (all.n == 0) return dis__fail_at(DIS_EDATA, r->input->path, 0, 0, "it contains no labels");
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&all.bytes, n_bytes, 1), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&all.start, all.n + 1, sizeof *all.start), end);
    size_t row = 0;
    for (size_t j = 0; j < r->n_chunks; j++) {
        dis__name_list *part = &r->chunks[j].tasks;
        if (part->n) memcpy(all.bytes + all.used, part->bytes, part->used);
        for (size_t i = 0; i < part->n; i++) all.start[row++] = all.used + part->start[i];
        all.used += part->used;
        dis__name_list_free(part);
        *part = (dis__name_list){0};
    }
    all.start[row] = all.used;
    labels->n_items = all.n;
    DIS_TRY_GOTO(status, dis__name_list_move(&all, &labels->tasks), end);
    DIS_TRY_GOTO(status, dis__names_find_duplicate(labels->tasks, twice), end);
end:
    dis__name_list_free(&all);
    return status;
}

/* What is wrong with a task id of n bytes; NULL: nothing. */
static const char *task_problem(size_t n)
{
    return n == 0           ? "an empty task id; give every item a name"
           : n > DIS_MAX_ID ? "a task id of more than 64 KiB"
                            : NULL;
}

/* ---- CSV and TSV ---- */

static bool has_prefix(const dis__csv_field *f)
{
    return f->n >= 2 && memcmp(f->text, "p:", 2) == 0;
}

static bool named(const dis__csv_field *f, const char *name)
{
    return f->n == strlen(name) && memcmp(f->text, name, f->n) == 0;
}

static dis_status find_columns(reading *r, dis__csv *csv)
{
    columns *c = &r->columns;
    c->task = dis__csv_column(csv, "task");
    if (c->task == SIZE_MAX)
        return dis__fail_at(DIS_EDATA, csv->path, 1, 1,
                            "no column called task; label files begin with a header such as "
                            "task,label,entropy,p:yes,p:no");
    bool prefixed = false;
    for (size_t i = 0; i < csv->n_columns; i++) prefixed |= has_prefix(&csv->header[i]);
    dis__name_list classes = {0};
    dis_status status = dis__alloc_array(&c->p, csv->n_columns, sizeof *c->p);
    for (size_t i = 0; i < csv->n_columns && status == DIS_OK; i++) {
        const dis__csv_field *f = &csv->header[i];
        if (prefixed ? !has_prefix(f) : (i == c->task || named(f, "label") || named(f, "entropy"))) continue;
        const size_t skip = prefixed ? 2 : 0;
        if (f->n == skip)
            status = dis__fail_at(DIS_EDATA, csv->path, 1, 0, "the class of column %zu has no name", i + 1);
        else if (f->n - skip > DIS_MAX_ID)
            status =
                dis__fail_at(DIS_EDATA, csv->path, 1, 0, "the class name of column %zu has more than 64 KiB", i + 1);
        else
            status = dis__name_list_add(&classes, f->text + skip, f->n - skip);
        if (status == DIS_OK) c->p[classes.n - 1] = i;
    }
    if (status == DIS_OK && classes.n == 0)
        status = dis__fail_at(DIS_EDATA, csv->path, 1, 0, "no column with probabilities; they are called p:CLASS");
    if (status == DIS_OK && classes.n > DIS_MAX_CLASSES)
        status = dis__fail_at(DIS_ELIMIT, csv->path, 1, 0, "%zu classes; at most %u are possible", classes.n,
                              DIS_MAX_CLASSES);
    r->labels->n_classes = classes.n;
    if (status == DIS_OK) status = dis__name_list_move(&classes, &r->labels->classes);
    dis__name_list_free(&classes);
    return status;
}

/* Votes are often named where labels are wanted. */
static dis_status number_problem(const reading *r, dis__csv *csv, const dis__csv_field *f, size_t k)
{
    return dis__csv_fail(csv, f, "\"%.*s\" is not a finite number%s", (int)(f->n < 100 ? f->n : 100), f->text,
                         strcmp(dis_names_get(r->labels->classes, k, NULL), "worker") == 0
                             ? "; these look like votes: compute labels with dissent labels"
                             : "");
}

static dis_status read_csv_row(const reading *r, chunk *to, dis__csv *csv)
{
    const size_t n_classes = r->labels->n_classes;
    const dis__csv_field *task = &csv->field[r->columns.task];
    if (task_problem(task->n)) return dis__csv_fail(csv, task, "%s", task_problem(task->n));
    double *p = next_row(r, to);
    if (!p) return dis__fail_file_changed(r->input->path);
    for (size_t k = 0; k < n_classes; k++) {
        const dis__csv_field *f = &csv->field[r->columns.p[k]];
        if (!dis__parse_real(f->text, f->n, &p[k])) return number_problem(r, csv, f, k);
        if (p[k] < 0) return dis__csv_fail(csv, f, "a probability below 0");
    }
    dis__row_sum_error sum;
    if (!dis__labels_check_row(p, n_classes, r->options, &to->renormalised, &sum))
        return dis__csv_fail(csv, NULL, "%s", sum.problem);
    return dis__name_list_add(&to->tasks, task->text, task->n);
}

static dis_status csv_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const reading *r = arg;
    chunk *c = &r->chunks[j];
    dis__csv csv;
    dis__csv_open(&csv, r->input, r->delimiter);
    csv.n_columns = r->n_columns;
    csv.row = csv.next = c->begin;
    csv.end = c->end;
    bool more = true;
    dis_status status = DIS_OK;
    while (status == DIS_OK && (status = dis__csv_next(&csv, &more)) == DIS_OK && more)
        status = read_csv_row(r, c, &csv);
    dis__csv_close(&csv);
    return status;
}

/* The task of row `twice` was there before: reads up to it once more to tell its position. */
static dis_status csv_task_twice(const reading *r, size_t twice)
{
    dis__csv csv;
    bool more;
    dis__csv_open(&csv, r->input, r->delimiter);
    dis_status status = dis__csv_header(&csv);
    for (size_t i = 0; i <= twice && status == DIS_OK; i++) status = dis__csv_next(&csv, &more);
    if (status == DIS_OK) {
        const dis__csv_field *f = &csv.field[r->columns.task];
        status = dis__csv_fail(&csv, f, "the task \"%.*s\" is repeated", (int)(f->n < 200 ? f->n : 200), f->text);
    }
    dis__csv_close(&csv);
    return status;
}

static dis_status read_delimited(reading *r)
{
    dis__csv csv;
    dis__csv_open(&csv, r->input, r->delimiter);
    dis_status status = dis__csv_header(&csv);
    if (status == DIS_OK) status = find_columns(r, &csv);
    r->n_columns = csv.n_columns;
    const char *rows = csv.next, *end = csv.end;
    dis__csv_close(&csv);
    DIS_TRY(status);
    DIS_TRY(cut(r, rows, rows < end && memchr(rows, '"', (size_t)(end - rows)) != NULL));
    DIS_TRY(dis__run_jobs(r->ctx, r->n_chunks, csv_job, r));
    size_t twice = SIZE_MAX;
    DIS_TRY(join(r, &twice));
    return twice == SIZE_MAX ? DIS_OK : csv_task_twice(r, twice);
}

/* ---- JSONL ---- */

/* The classes of the file are those of its first line, in its order. */
static dis_status json_classes(reading *r, const dis__json *json, const dis__json_value *p)
{
    if (p->n == 0) return dis__json_fail(json, p, "no classes");
    if (p->n > DIS_MAX_CLASSES)
        return dis__json_fail(json, p, "%u classes; at most %u are possible", p->n, DIS_MAX_CLASSES);
    dis__name_list classes = {0};
    dis_status status = DIS_OK;
    const dis__json_value *v = p + 1;
    for (uint32_t k = 0; k < p->n && status == DIS_OK; k++, v += 1 + v[1].skip)
        status = v->length == 0           ? dis__json_fail(json, v, "a class without a name")
                 : v->length > DIS_MAX_ID ? dis__json_fail(json, v, "a class with a name of more than 64 KiB")
                                          : dis__name_list_add(&classes, v->text, v->length);
    r->labels->n_classes = p->n;
    if (status == DIS_OK) status = dis__name_list_move(&classes, &r->labels->classes);
    dis__name_list_free(&classes);
    return status;
}

/* The task and the probabilities of a line. */
static dis_status json_parts(const dis__json *json, const dis__json_value *root, const dis__json_value **task,
                             const dis__json_value **p)
{
    if (root->kind != DIS_JSON_OBJECT)
        return dis__json_fail(json, root, "not an object; each line reads {\"task\": ..., \"p\": {...}}");
    *task = dis__json_member(root, "task");
    *p = dis__json_member(root, "p");
    if (!*task || !*p) {
        char keys[200];
        dis__json_list_keys(root, keys, sizeof keys);
        return dis__json_fail(json, root,
                              "no key \"%s\"; the keys are: %s; each line reads {\"task\": ..., \"p\": {...}}",
                              *task ? "p" : "task", keys);
    }
    if ((*task)->kind != DIS_JSON_STRING && (*task)->kind != DIS_JSON_NUMBER)
        return dis__json_fail(json, *task, "a task that is not a text");
    if (task_problem((*task)->length)) return dis__json_fail(json, *task, "%s", task_problem((*task)->length));
    if ((*p)->kind != DIS_JSON_OBJECT)
        return dis__json_fail(json, *p, "p is not an object; it reads {\"class\": probability, ...}");
    return DIS_OK;
}

static dis_status read_json_row(const reading *r, chunk *to, const dis__json *json, const dis__json_value *root)
{
    const dis_labels *labels = r->labels;
    const dis__json_value *task, *p;
    DIS_TRY(json_parts(json, root, &task, &p));
    if (p->n != labels->n_classes)
        return dis__json_fail(json, p, "%u classes where the first line has %zu", p->n, labels->n_classes);
    double *row = next_row(r, to);
    if (!row) return dis__fail_file_changed(r->input->path);
    const dis__json_value *v = p + 1;
    for (size_t k = 0; k < labels->n_classes; k++, v += 2) {
        size_t at = k, n;
        const char *expected = dis_names_get(labels->classes, k, &n);
        if (n != v->length || memcmp(expected, v->text, n) != 0)
            at = dis__name_index_find(&r->classes, v->text, v->length);
        if (at == SIZE_MAX) return dis__json_fail(json, v, "a class is missing from the first line");
        if (v[1].kind != DIS_JSON_NUMBER) return dis__json_fail(json, v + 1, "a probability that is not a number");
        if (v[1].number < 0) return dis__json_fail(json, v + 1, "a probability below 0");
        row[at] = v[1].number; /* equal keys are refused, so that every class is met once */
    }
    dis__row_sum_error sum;
    if (!dis__labels_check_row(row, labels->n_classes, r->options, &to->renormalised, &sum))
        return dis__json_fail(json, p, "%s", sum.problem);
    return dis__name_list_add(&to->tasks, task->text, task->length);
}

/* Parses the line at `at`, which ends before *next. */
static dis_status parse_line(const reading *r, dis__json *json, const char *at, uint64_t line, const char **next,
                             const dis__json_value **root)
{
    const char *end = r->input->bytes + r->input->n, *lf = memchr(at, '\n', (size_t)(end - at));
    const dis__json_position place = {.file = r->input->path,
                                      .line = line,
                                      .column = 1,
                                      .offset = (uint64_t)(at - r->input->bytes)};
    *next = lf ? lf + 1 : end;
    return dis__json_parse(json, at, (size_t)((lf ? lf : end) - at), &place, root);
}

static dis_status jsonl_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const reading *r = arg;
    chunk *c = &r->chunks[j];
    dis__json json = {0};
    const dis__json_value *root;
    dis_status status = DIS_OK;
    uint64_t line = c->first_row; /* one line per row */
    for (const char *at = c->begin; at < c->end && status == DIS_OK;) {
        status = parse_line(r, &json, at, ++line, &at, &root);
        if (status == DIS_OK) status = read_json_row(r, c, &json, root);
    }
    dis__json_free(&json);
    return status;
}

static dis_status read_jsonl(reading *r)
{
    const char *at = r->input->bytes, *next;
    if (r->input->n >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    if (at == r->input->bytes + r->input->n) return dis__fail_at(DIS_EDATA, r->input->path, 0, 0, "an empty file");
    dis__json json = {0};
    const dis__json_value *root, *task, *p;
    size_t twice = SIZE_MAX; /* JSON has refused equal keys */
    dis_status status = parse_line(r, &json, at, 1, &next, &root);
    if (status == DIS_OK) status = json_parts(&json, root, &task, &p);
    if (status == DIS_OK) status = json_classes(r, &json, p);
    dis__json_free(&json);
    DIS_TRY(status);
    DIS_TRY(dis__name_index_build(r->labels->classes, &r->classes, &twice));
    DIS_TRY(cut(r, at, false));
    DIS_TRY(dis__run_jobs(r->ctx, r->n_chunks, jsonl_job, r));
    DIS_TRY(join(r, &twice));
    if (twice == SIZE_MAX) return DIS_OK;
    return dis__fail_at(DIS_EDATA, r->input->path, twice + 1, 0, "the task \"%.200s\" is repeated",
                        dis_names_get(r->labels->tasks, twice, NULL));
}

static dis_status read_text(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                            dis_status (*read)(reading *r), char delimiter, dis_labels *labels)
{
    dis__input input;
    DIS_TRY(dis__input_open(ctx, path, &input));
    const char *format = delimiter == ',' ? "csv" : delimiter ? "tsv" : "jsonl";
    const dis_status shape = dis__text_format_check(&input, format, NULL, delimiter ? &delimiter : NULL);
    if (shape != DIS_OK) return dis__input_finish(&input, shape);
    reading r = {.ctx = ctx, .input = &input, .options = options, .labels = labels, .delimiter = delimiter};
    const dis_status status = read(&r);
    for (size_t j = 0; j < r.n_chunks; j++) dis__name_list_free(&r.chunks[j].tasks);
    dis__free(r.chunks);
    dis__free(r.columns.p);
    dis__name_index_free(&r.classes);
    return dis__input_finish(&input, status);
}

DIS_OPTIONS_DEFAULTS(dis_labels_read_options, .size = sizeof(dis_labels_read_options))

dis_status dis_labels_read(dis_context *ctx, const char *path, const dis_labels_read_options *options, dis_labels **out)
{
    DIS_MEMORY_SCOPE(ctx);
    static const struct {
        const char *name;
        dis_status (*read)(reading *r);
        char delimiter;
    } texts[] = {{"csv", read_delimited, ','}, {"tsv", read_delimited, '\t'}, {"jsonl", read_jsonl, '\0'}};
    dis_labels_read_options o = dis_labels_read_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_read_options, &o, options));
    const char *name;
    DIS_TRY(dis__file_format(o.format, path, "csv|tsv|jsonl|npy", &name));
    dis_labels *labels;
    DIS_TRY(dis__alloc_zeroed(&labels, 1, sizeof *labels));
    dis_status status = dis__copy_text(&labels->path, path, strlen(path));
    size_t t = 0;
    while (t < sizeof texts / sizeof *texts && strcmp(texts[t].name, name) != 0) t++;
    if (status == DIS_OK && t < sizeof texts / sizeof *texts)
        status = read_text(ctx, path, &o, texts[t].read, texts[t].delimiter, labels);
    else if (status == DIS_OK)
        status = dis__labels_read_npy(ctx, path, &o, labels);
    if (status != DIS_OK) {
        dis_labels_destroy(labels);
        return status;
    }
    *out = labels;
    return DIS_OK;
}
