/* Label files as text: CSV and TSV with a header, JSONL.
 *
 * Class columns are those called p:CLASS or, when there is none, all but task, label and entropy; label and entropy are
 * not read, they follow from the rest. One pass over the file, then one over the task names to find one that comes
 * twice. Cost: O(bytes); memory: the table itself, whose size is bounded by the size of the file before anything is
 * allocated. */
#include "labels/label_files.h"
#include "labels/label_table.h"
#include "core/memory.h"
#include "core/name_index.h"
#include "core/names_build.h"
#include "core/number.h"
#include "core/pool.h"
#include "dissent/votes.h"
#include "io/csv.h"
#include "io/format_name.h"
#include "io/input.h"
#include "io/json.h"
#include <string.h>

/* A list of names that grows. */
typedef struct {
    char *bytes;
    size_t used, capacity;
    uint64_t *start;
    size_t n, start_capacity;
} name_list;

static dis_status add_name(name_list *list, const char *text, size_t n)
{
    DIS_TRY(dis__reserve(&list->bytes, &list->capacity, list->used, dis__size(n, 1, list->used + 1), 1));
    DIS_TRY(dis__reserve(&list->start, &list->start_capacity, list->n + 1, list->n + 2, sizeof *list->start));
    if (n) memcpy(list->bytes + list->used, text, n);
    list->bytes[list->used + n] = 0;
    list->start[list->n++] = list->used;
    list->used += n + 1;
    list->start[list->n] = list->used;
    return DIS_OK;
}

static dis_status finish_names(name_list *list, dis_names **out)
{
    DIS_TRY(dis__names_adopt(list->bytes, list->start, list->n, out));
    *list = (name_list){0};
    return DIS_OK;
}

static void free_names(name_list *list)
{
    dis__free(list->bytes);
    dis__free(list->start);
}

typedef struct {
    dis_context *ctx;
    const dis__input *input;
    const dis_labels_read_options *options;
    dis_labels *labels;
    name_list tasks;
    size_t p_capacity; /* rows */
} reading;

/* Room for one more row: allocated once, for as many rows as there are lines. Every row takes at least n_classes bytes,
 * which bounds what a file can ask for. */
static dis_status make_room(reading *r)
{
    dis_labels *labels = r->labels;
    if (r->tasks.n < r->p_capacity) return DIS_OK;
    if (r->p_capacity == 0) {
        size_t lines = 1;
        const char *at = r->input->bytes, *end = at + r->input->n;
        while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) lines++, at++;
        const size_t most = r->input->n / labels->n_classes + 1;
        if (lines > most) lines = most;
        DIS_TRY(
            dis__check_memory(r->ctx, dis__size(lines, labels->n_classes * sizeof(double), 0), "the table of labels"));
        DIS_TRY(dis__alloc_array(&labels->p, lines, labels->n_classes * sizeof *labels->p));
        r->p_capacity = lines;
        return DIS_OK;
    }
    return dis__fail(DIS_EBUG, "more labels than lines");
}

/* What is wrong with a task id of n bytes; NULL: nothing. */
static const char *task_problem(size_t n)
{
    return n == 0           ? "an empty task id; give every item a name"
           : n > DIS_MAX_ID ? "a task id of more than 64 KiB"
                            : NULL;
}

/* ---- CSV and TSV ---- */

/* Which columns hold what. */
typedef struct {
    size_t task;
    size_t *p; /* (n_classes) */
} columns;

static bool has_prefix(const dis__csv_field *f)
{
    return f->n >= 2 && memcmp(f->text, "p:", 2) == 0;
}

static bool named(const dis__csv_field *f, const char *name)
{
    return f->n == strlen(name) && memcmp(f->text, name, f->n) == 0;
}

static dis_status find_columns(reading *r, dis__csv *csv, columns *c)
{
    c->task = dis__csv_column(csv, "task");
    if (c->task == SIZE_MAX)
        return dis__fail_at(DIS_EDATA, csv->path, 1, 1,
                            "no column called task; label files begin with a header such as "
                            "task,label,entropy,p:yes,p:no");
    bool prefixed = false;
    for (size_t i = 0; i < csv->n_columns; i++) prefixed |= has_prefix(&csv->header[i]);
    name_list classes = {0};
    dis_status status = dis__alloc_array(&c->p, csv->n_columns, sizeof *c->p);
    for (size_t i = 0; i < csv->n_columns && status == DIS_OK; i++) {
        const dis__csv_field *f = &csv->header[i];
        if (prefixed ? !has_prefix(f) : (i == c->task || named(f, "label") || named(f, "entropy"))) continue;
        const size_t skip = prefixed ? 2 : 0;
        if (f->n == skip)
            status = dis__fail_at(DIS_EDATA, csv->path, 1, 0, "column %zu is of a class without a name", i + 1);
        else if (f->n - skip > DIS_MAX_ID)
            status = dis__fail_at(DIS_EDATA, csv->path, 1, 0,
                                  "column %zu is of a class with a name of more than 64 KiB", i + 1);
        else
            status = add_name(&classes, f->text + skip, f->n - skip);
        if (status == DIS_OK) c->p[classes.n - 1] = i;
    }
    if (status == DIS_OK && classes.n == 0)
        status = dis__fail_at(DIS_EDATA, csv->path, 1, 0, "no column with probabilities; they are called p:CLASS");
    if (status == DIS_OK && classes.n > DIS_MAX_CLASSES)
        status = dis__fail_at(DIS_ELIMIT, csv->path, 1, 0, "%zu classes; at most %u are possible", classes.n,
                              DIS_MAX_CLASSES);
    r->labels->n_classes = classes.n;
    if (status == DIS_OK) status = finish_names(&classes, &r->labels->classes);
    free_names(&classes);
    return status;
}

static dis_status read_csv_row(reading *r, dis__csv *csv, const columns *c)
{
    dis_labels *labels = r->labels;
    const dis__csv_field *task = &csv->field[c->task];
    if (task_problem(task->n)) return dis__csv_fail(csv, task, "%s", task_problem(task->n));
    DIS_TRY(make_room(r));
    double *p = labels->p + r->tasks.n * labels->n_classes;
    for (size_t k = 0; k < labels->n_classes; k++) {
        const dis__csv_field *f = &csv->field[c->p[k]];
        if (!dis__parse_real(f->text, f->n, &p[k]))
            return dis__csv_fail(csv, f, "\"%.*s\" is not a finite number", (int)(f->n < 100 ? f->n : 100), f->text);
        if (p[k] < 0) return dis__csv_fail(csv, f, "a probability below 0");
    }
    dis__row_sum sum;
    if (!dis__labels_check_sum(p, labels->n_classes, r->options->renormalise, &labels->renormalised, &sum))
        return dis__csv_fail(csv, NULL, "%s", sum.problem);
    return add_name(&r->tasks, task->text, task->n);
}

/* The task of row `twice` was there before: reads up to it once more to tell its place. */
static dis_status csv_task_twice(reading *r, char delimiter, const columns *c, size_t twice)
{
    dis__csv csv;
    bool more;
    dis__csv_open(&csv, r->input, delimiter);
    dis_status status = dis__csv_header(&csv);
    for (size_t i = 0; i <= twice && status == DIS_OK; i++) status = dis__csv_next(&csv, &more);
    if (status == DIS_OK) {
        const dis__csv_field *f = &csv.field[c->task];
        status =
            dis__csv_fail(&csv, f, "the task \"%.*s\" for the second time", (int)(f->n < 200 ? f->n : 200), f->text);
    }
    dis__csv_close(&csv);
    return status;
}

static dis_status finish_tasks(reading *r, size_t *twice)
{
    dis_labels *labels = r->labels;
    labels->n_items = r->tasks.n;
    DIS_TRY(finish_names(&r->tasks, &labels->tasks));
    dis__name_index index;
    DIS_TRY(dis__name_index_build(labels->tasks, &index, twice));
    dis__name_index_free(&index);
    return DIS_OK;
}

static dis_status read_delimited(reading *r, char delimiter)
{
    enum { POLL = 1 << 16 };
    dis__csv csv;
    columns c = {0};
    bool more = true;
    size_t twice = SIZE_MAX;
    dis__csv_open(&csv, r->input, delimiter);
    dis_status status = dis__csv_header(&csv);
    if (status == DIS_OK) status = find_columns(r, &csv, &c);
    while (status == DIS_OK && (status = dis__csv_next(&csv, &more)) == DIS_OK && more) {
        status = read_csv_row(r, &csv, &c);
        if (status == DIS_OK && r->tasks.n % POLL == 0) status = dis__check_stop(r->ctx);
    }
    if (status == DIS_OK && r->tasks.n == 0) status = dis__fail_at(DIS_EDATA, csv.path, 0, 0, "a header and no labels");
    if (status == DIS_OK) status = finish_tasks(r, &twice);
    if (status == DIS_OK && twice != SIZE_MAX) status = csv_task_twice(r, delimiter, &c, twice);
    dis__csv_close(&csv);
    dis__free(c.p);
    return status;
}

/* ---- JSONL ---- */

/* The classes of the file are those of its first line, in its order. */
static dis_status json_classes(reading *r, const dis__json *json, const dis__json_value *p)
{
    if (p->n == 0) return dis__json_fail(json, p, "no classes");
    if (p->n > DIS_MAX_CLASSES)
        return dis__json_fail(json, p, "%u classes; at most %u are possible", p->n, DIS_MAX_CLASSES);
    name_list classes = {0};
    dis_status status = DIS_OK;
    const dis__json_value *v = p + 1;
    for (uint32_t k = 0; k < p->n && status == DIS_OK; k++, v += 1 + v[1].skip)
        status = v->length == 0           ? dis__json_fail(json, v, "a class without a name")
                 : v->length > DIS_MAX_ID ? dis__json_fail(json, v, "a class with a name of more than 64 KiB")
                                          : add_name(&classes, v->text, v->length);
    r->labels->n_classes = p->n;
    if (status == DIS_OK) status = finish_names(&classes, &r->labels->classes);
    free_names(&classes);
    return status;
}

static dis_status read_json_row(reading *r, const dis__json *json, const dis__json_value *root,
                                dis__name_index *classes)
{
    dis_labels *labels = r->labels;
    if (root->kind != DIS_JSON_OBJECT)
        return dis__json_fail(json, root, "not an object; each line reads {\"task\": ..., \"p\": {...}}");
    const dis__json_value *task = dis__json_member(root, "task"), *p = dis__json_member(root, "p");
    if (!task || !p) return dis__json_fail(json, root, "no key \"%s\"", task ? "p" : "task");
    if (task->kind != DIS_JSON_STRING && task->kind != DIS_JSON_NUMBER)
        return dis__json_fail(json, task, "a task that is no text");
    if (p->kind != DIS_JSON_OBJECT)
        return dis__json_fail(json, p, "p is no object; it reads {\"class\": probability, ...}");
    if (task_problem(task->length)) return dis__json_fail(json, task, "%s", task_problem(task->length));
    if (!labels->classes) {
        size_t twice; /* JSON has refused equal keys */
        DIS_TRY(json_classes(r, json, p));
        DIS_TRY(dis__name_index_build(labels->classes, classes, &twice));
    }
    if (p->n != labels->n_classes)
        return dis__json_fail(json, p, "%u classes where the first line has %zu", p->n, labels->n_classes);
    DIS_TRY(make_room(r));
    double *row = labels->p + r->tasks.n * labels->n_classes;
    const dis__json_value *v = p + 1;
    for (size_t k = 0; k < labels->n_classes; k++, v += 2) {
        size_t at = k, n;
        const char *expected = dis_names_get(labels->classes, k, &n);
        if (n != v->length || memcmp(expected, v->text, n) != 0) at = dis__name_index_find(classes, v->text, v->length);
        if (at == SIZE_MAX) return dis__json_fail(json, v, "a class that the first line does not have");
        if (v[1].kind != DIS_JSON_NUMBER) return dis__json_fail(json, v + 1, "a probability that is no number");
        if (v[1].number < 0) return dis__json_fail(json, v + 1, "a probability below 0");
        row[at] = v[1].number; /* equal keys are refused, so that every class is met once */
    }
    dis__row_sum sum;
    if (!dis__labels_check_sum(row, labels->n_classes, r->options->renormalise, &labels->renormalised, &sum))
        return dis__json_fail(json, p, "%s", sum.problem);
    return add_name(&r->tasks, task->text, task->length);
}

static dis_status read_jsonl(reading *r, char delimiter)
{
    (void)delimiter;
    const char *begin = r->input->bytes, *end = begin + r->input->n, *at = begin;
    if (r->input->n >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    dis__json json = {0};
    dis__name_index classes = {0};
    dis_status status = DIS_OK;
    size_t twice = SIZE_MAX;
    const char *path = r->input->path;
    for (uint64_t line = 1; at < end && status == DIS_OK; line++) {
        const char *lf = memchr(at, '\n', (size_t)(end - at)), *stop = lf ? lf : end;
        const dis__json_place place = {.file = path, .line = line, .column = 1, .offset = (uint64_t)(at - begin)};
        const dis__json_value *root;
        status = dis__json_parse(&json, at, (size_t)(stop - at), &place, &root);
        if (status == DIS_OK) status = read_json_row(r, &json, root, &classes);
        at = lf ? lf + 1 : end;
    }
    if (status == DIS_OK && r->tasks.n == 0) status = dis__fail_at(DIS_EDATA, path, 0, 0, "an empty file");
    if (status == DIS_OK) status = finish_tasks(r, &twice);
    if (status == DIS_OK && twice != SIZE_MAX) /* one line a task */
        status = dis__fail_at(DIS_EDATA, path, twice + 1, 0, "the task \"%.200s\" for the second time",
                              dis_names_get(r->labels->tasks, twice, NULL));
    dis__name_index_free(&classes);
    dis__json_free(&json);
    return status;
}

static dis_status read_text(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                            dis_status (*read)(reading *r, char delimiter), char delimiter, dis_labels *labels)
{
    dis__input input;
    DIS_TRY(dis__input_open(ctx, path, &input));
    reading r = {.ctx = ctx, .input = &input, .options = options, .labels = labels};
    const dis_status status = read(&r, delimiter);
    free_names(&r.tasks);
    dis__input_close(&input);
    return status;
}

dis_labels_read_options dis_labels_read_options_default(void)
{
    return (dis_labels_read_options){.size = sizeof(dis_labels_read_options)};
}

dis_status dis_labels_read(dis_context *ctx, const char *path, const dis_labels_read_options *options, dis_labels **out)
{
    static const struct {
        const char *name;
        dis_status (*read)(reading *r, char delimiter);
        char delimiter;
    } texts[] = {{"csv", read_delimited, ','}, {"tsv", read_delimited, '\t'}, {"jsonl", read_jsonl, '\0'}};
    const dis_labels_read_options o = options ? *options : dis_labels_read_options_default();
    const char *name;
    DIS_TRY(dis__format_name(o.format, path, "csv|tsv|jsonl|npy", &name));
    dis_labels *labels;
    DIS_TRY(dis__alloc_zeroed(&labels, 1, sizeof *labels));
    dis_status status = DIS_OK;
    size_t t = 0;
    while (t < sizeof texts / sizeof *texts && strcmp(texts[t].name, name) != 0) t++;
    if (t < sizeof texts / sizeof *texts)
        status = read_text(ctx, path, &o, texts[t].read, texts[t].delimiter, labels);
    else
        status = dis__labels_read_npy(ctx, path, &o, labels);
    if (status != DIS_OK) {
        dis_labels_destroy(labels);
        return status;
    }
    *out = labels;
    return DIS_OK;
}
