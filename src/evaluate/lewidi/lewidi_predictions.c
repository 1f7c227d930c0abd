/* Predictions for the items of an official file of Le-Wi-Di 2025, and files to submit: no header, "id<TAB>[0.81,0.19]"
 * for soft labels, "id<TAB>[0,0,1]" for annotators in the order of the official file, lists of three in VariErrNLI.
 * In these files, CSC's soft labels have a bin 0. Cost: O(predictions). */
#include "tool/table_writer.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "evaluate/lewidi/lewidi_internal.h"
#include "io/json/json_read.h"
#include "io/output/output_file.h"
#include "io/table_rows.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

size_t dis__lewidi_task(const dis__lewidi_view *v, size_t i, size_t part, char *out, size_t capacity)
{
    const char *name = dis_names_get(v->items, i, NULL);
    const int n = v->set->n_parts > 1 ? snprintf(out, capacity, "%s:%s", name, v->set->part[part])
                                      : snprintf(out, capacity, "%s", name);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity - 1;
}

/* Names of all tasks, items before parts. */
static dis_status list_tasks(const dis__lewidi_view *v, dis_names **out)
{
    dis__name_list list = {0};
    char *task;
    DIS_TRY(dis__alloc_array(&task, DIS__LEWIDI_TASK + 64, 1));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->n_items; i++)
        for (size_t p = 0; p < v->set->n_parts && status == DIS_OK; p++)
            status = dis__name_list_add(&list, task, dis__lewidi_task(v, i, p, task, DIS__LEWIDI_TASK + 64));
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    dis__free(task);
    return status;
}

/* ---- files to submit ---- */

static bool is_submission(const dis__input *in)
{
    const char *lf = in->n ? memchr(in->bytes, '\n', in->n) : NULL;
    const size_t line = lf ? (size_t)(lf - in->bytes) : in->n;
    for (size_t c = 0; c + 1 < line; c++)
        if (in->bytes[c] == '\t') return in->bytes[c + 1] == '[';
    return false;
}

/* A line's list of values, one row of `width` for each part; `shift` skips leading values. */
static dis_status parse_list(const dis__json *json, const dis__json_value *root, const dis__lewidi_view *v,
                             size_t width, size_t shift, double *out)
{
    const size_t parts = v->set->n_parts;
    const dis__json_value *list = root;
    if (root->kind != DIS_JSON_ARRAY || (parts > 1 && root->n != parts))
        return dis__json_fail(json, root, "a list%s is expected", parts > 1 ? " of three lists" : "");
    if (parts > 1) list = root + 1;
    for (size_t p = 0; p < parts; p++, list += list->skip) {
        if (list->kind != DIS_JSON_ARRAY || (list->n != width && list->n != width + shift))
            return dis__json_fail(json, list, "%u values where %zu are expected", list->n, width + shift);
        const size_t skip = list->n - width;
        const dis__json_value *x = list + 1;
        for (size_t k = 0; k < list->n; k++, x += x->skip) {
            if (x->kind != DIS_JSON_NUMBER) return dis__json_fail(json, x, "a number is expected");
            if (k >= skip) out[p * width + k - skip] = x->number;
        }
    }
    return DIS_OK;
}

typedef struct {
    const dis__lewidi_view *v;
    bool soft;
    double *p;
    int32_t *value;
    bool *seen;
    double *row;
} submission;

static dis_status append_line(submission *s, const dis__json *json, const dis__json_value *root, size_t i)
{
    const dis__lewidi_view *v = s->v;
    const size_t parts = v->set->n_parts, n = v->set->n_classes, annotators = v->start[i + 1] - v->start[i];
    if (s->soft) return parse_list(json, root, v, n, (size_t)(v->set->low - v->set->first_bin), s->p + i * parts * n);
    DIS_TRY(parse_list(json, root, v, annotators, 0, s->row));
    for (size_t p = 0; p < parts; p++)
        for (size_t a = 0; a < annotators; a++)
            s->value[(v->start[i] + a) * parts + p] = (int32_t)rint(s->row[p * annotators + a]);
    return DIS_OK;
}

static dis_status read_lines(submission *s, const dis__input *in, const dis__name_index *index, dis__json *json)
{
    const char *line = in->bytes, *end = in->bytes + in->n;
    for (uint64_t number = 1; line < end; number++) {
        const char *lf = memchr(line, '\n', (size_t)(end - line)), *stop = lf ? lf : end;
        const char *tab = memchr(line, '\t', (size_t)(stop - line));
        const dis__json_value *root;
        if (!tab) return dis__fail_at(DIS_EDATA, in->path, number, 1, "an id, a tab and a list are expected");
        const size_t i = dis__name_index_find(index, line, (size_t)(tab - line));
        const dis__json_position at = {.file = in->path,
                                       .line = number,
                                       .column = (uint64_t)(tab - line) + 2,
                                       .offset = (uint64_t)(tab + 1 - in->bytes)};
        if (i == SIZE_MAX)
            return dis__fail_at(DIS_EDATA, in->path, number, 1, "no item \"%.*s\" in the official file",
                                (int)(tab - line > 60 ? 60 : tab - line), line);
        DIS_TRY(dis__json_parse(json, tab + 1, (size_t)(stop - tab - 1), &at, &root));
        DIS_TRY(append_line(s, json, root, i));
        s->seen[i] = true;
        line = lf ? lf + 1 : end;
    }
    for (size_t i = 0; i < s->v->n_items; i++)
        if (!s->seen[i])
            return dis__fail_at(DIS_EDATA, in->path, 0, 0, "item \"%.60s\" is missing",
                                dis_names_get(s->v->items, i, NULL));
    return DIS_OK;
}

static dis_status read_submission(submission *s, const dis__input *in)
{
    dis__name_index index;
    dis__json json = {0};
    size_t twice, max_length = 0;
    for (size_t i = 0; i < s->v->n_items; i++)
        if (s->v->start[i + 1] - s->v->start[i] > max_length) max_length = s->v->start[i + 1] - s->v->start[i];
    DIS_TRY(dis__name_index_build(s->v->items, &index, &twice));
    dis_status status = dis__alloc_zeroed(&s->seen, s->v->n_items, sizeof *s->seen);
    if (status == DIS_OK) status = dis__alloc_array(&s->row, max_length * s->v->set->n_parts, sizeof *s->row);
    if (status == DIS_OK) status = read_lines(s, in, &index, &json);
    dis__json_free(&json);
    dis__free(s->seen);
    dis__free(s->row);
    dis__name_index_free(&index);
    return status;
}

/* ---- tables ---- */

static dis_status soft_from_labels(dis_context *ctx, const dis__lewidi_view *v, const char *path, double *p)
{
    const size_t n = v->set->n_classes;
    char text[DIS_LEWIDI_PARTS * 8][16];
    const char *names[DIS_LEWIDI_PARTS * 8];
    dis_names *tasks = NULL, *classes = NULL;
    dis_labels *labels = NULL, *aligned = NULL;
    for (size_t k = 0; k < n; k++) {
        snprintf(text[k], sizeof text[k], "%d", v->set->low + (int)k);
        names[k] = text[k];
    }
    dis_status status = list_tasks(v, &tasks);
    if (status == DIS_OK) status = dis_names_create(names, n, &classes);
    if (status == DIS_OK) status = dis_labels_read(ctx, path, NULL, &labels);
    if (status == DIS_OK) status = dis_labels_align(ctx, labels, tasks, classes, &aligned);
    if (status == DIS_OK) memcpy(p, dis_labels_get_view(aligned).p, dis_names_count(tasks) * n * sizeof *p);
    dis_labels_destroy(aligned);
    dis_labels_destroy(labels);
    dis_names_destroy(tasks);
    dis_names_destroy(classes);
    return status;
}

/* The index of a worker's annotation of a task; SIZE_MAX: none. */
static size_t annotation_of(const dis__lewidi_view *v, size_t i, size_t worker)
{
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++)
        if (v->worker[a] == worker) return (size_t)a;
    return SIZE_MAX;
}

static dis_status gather_rows(const dis__lewidi_view *v, dis__table_rows *r, const dis__name_index *tasks,
                              const dis__name_index *workers, int32_t *value, size_t *filled)
{
    static const char *const columns[] = {"task", "worker|annotator", "label"};
    const size_t parts = v->set->n_parts;
    DIS_TRY(dis__table_rows_select(r, columns, 3));
    for (bool more;;) {
        double x;
        DIS_TRY(dis__table_rows_next(r, &more));
        if (!more) return DIS_OK;
        const size_t task = dis__name_index_find(tasks, r->cell[0].text, r->cell[0].n);
        const size_t worker = dis__name_index_find(workers, r->cell[1].text, r->cell[1].n);
        const size_t a = task == SIZE_MAX || worker == SIZE_MAX ? SIZE_MAX : annotation_of(v, task / parts, worker);
        if (a == SIZE_MAX) continue; /* other annotators were asked too */
        if (!dis__parse_real(r->cell[2].text, r->cell[2].n, &x) || x != floor(x))
            return dis__table_rows_fail(r, 2, "an integer is expected");
        if (value[a * parts + task % parts] != INT32_MIN)
            return dis__table_rows_fail(r, 0, "a second prediction for this task and worker; keep one");
        value[a * parts + task % parts] = (int32_t)x;
        ++*filled;
    }
}

static dis_status values_from_table(dis_context *ctx, const dis__lewidi_view *v, const char *path, int32_t *value)
{
    const size_t cells = v->n_annotations * v->set->n_parts;
    dis_names *names = NULL;
    dis__name_index tasks, workers;
    dis__table_rows r;
    size_t twice, filled = 0;
    for (size_t c = 0; c < cells; c++) value[c] = INT32_MIN;
    DIS_TRY(list_tasks(v, &names));
    dis_status status = dis__name_index_build(names, &tasks, &twice);
    if (status == DIS_OK) {
        status = dis__name_index_build(v->workers, &workers, &twice);
        if (status == DIS_OK) {
            status = dis__table_rows_open(ctx, path, NULL, &r);
            if (status == DIS_OK) {
                status = gather_rows(v, &r, &tasks, &workers, value, &filled);
                status = dis__table_rows_finish(&r, status);
            }
            dis__name_index_free(&workers);
        }
        dis__name_index_free(&tasks);
    }
    dis_names_destroy(names);
    if (status == DIS_OK && filled < cells)
        status = dis__fail_at(DIS_EDATA, path, 0, 0,
                              "predictions for %zu of %zu annotations; every annotator of every item "
                              "needs one",
                              filled, cells);
    return status;
}

static dis_status read_predictions(dis_context *ctx, const dis__lewidi *official, const char *path, bool soft,
                                   double *p, int32_t *value)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    submission s = {.v = &v, .soft = soft, .p = p, .value = value};
    dis__input in;
    DIS_TRY(dis__input_open(ctx, path, &in));
    const bool official_form = is_submission(&in);
    const dis_status status = dis__input_finish(&in, official_form ? read_submission(&s, &in) : DIS_OK);
    if (status != DIS_OK || official_form) return status;
    return soft ? soft_from_labels(ctx, &v, path, p) : values_from_table(ctx, &v, path, value);
}

dis_status dis__lewidi_read_soft(dis_context *ctx, const dis__lewidi *official, const char *path, double **p)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    double *own;
    DIS_TRY(
        dis__alloc_zeroed(&own, dis__saturating_size(v.n_items, v.set->n_parts * v.set->n_classes, 0), sizeof *own));
    const dis_status status = read_predictions(ctx, official, path, true, own, NULL);
    if (status == DIS_OK)
        *p = own;
    else
        dis__free(own);
    return status;
}

dis_status dis__lewidi_read_perspectives(dis_context *ctx, const dis__lewidi *official, const char *path,
                                         int32_t **value)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    int32_t *own;
    DIS_TRY(dis__alloc_zeroed(&own, dis__saturating_size(v.n_annotations, v.set->n_parts, 0), sizeof *own));
    const dis_status status = read_predictions(ctx, official, path, false, NULL, own);
    if (status == DIS_OK)
        *value = own;
    else
        dis__free(own);
    return status;
}

/* ---- writing ---- */

typedef struct {
    dis__out *out;
    dis_status status;
} writer;

static void append(writer *w, const char *text, size_t n)
{
    if (w->status == DIS_OK) w->status = dis__out_write(w->out, text, n);
}

static void append_number(writer *w, double x)
{
    char text[64];
    append(w, text, dis__format_real(x, text));
}

/* One item: its id, then a list for each part. */
static void append_item(writer *w, const dis__lewidi_view *v, size_t i, const double *p, const int32_t *value)
{
    const size_t parts = v->set->n_parts, n = v->set->n_classes;
    size_t length;
    const char *name = dis_names_get(v->items, i, &length);
    append(w, name, length);
    append(w, "\t", 1);
    if (parts > 1) append(w, "[", 1);
    for (size_t part = 0; part < parts; part++) {
        append(w, part ? ",[" : "[", part ? 2 : 1);
        for (int bin = v->set->first_bin; p && bin < v->set->low; bin++) append(w, "0,", 2);
        for (size_t k = 0; p && k < n; k++) {
            if (k) append(w, ",", 1);
            append_number(w, p[(i * parts + part) * n + k]);
        }
        for (uint64_t a = v->start[i]; value && a < v->start[i + 1]; a++) {
            if (a > v->start[i]) append(w, ",", 1);
            append_number(w, value[a * parts + part]);
        }
        append(w, "]", 1);
    }
    append(w, parts > 1 ? "]\n" : "\n", parts > 1 ? 2 : 1);
}

static dis_status write_lines(const dis__lewidi *official, const double *p, const int32_t *value, const char *path)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    writer w = {0};
    DIS_TRY(dis__out_open(path, &w.out));
    for (size_t i = 0; i < v.n_items; i++) append_item(&w, &v, i, p, value);
    return dis__out_finish(w.out, w.status);
}

dis_status dis__lewidi_write_soft(const dis__lewidi *official, const double *p, const char *path)
{
    return write_lines(official, p, NULL, path);
}

dis_status dis__lewidi_write_perspectives(const dis__lewidi *official, const int32_t *value, const char *path)
{
    return write_lines(official, NULL, value, path);
}

/* ---- for the other commands ---- */

static dis_status export_votes(const dis__lewidi_view *v, char *task, const char *path)
{
    static const char *const columns[] = {"task", "worker", "label"};
    dis__table_writer *t;
    DIS_TRY(dis__table_writer_create(path, NULL, columns, 3, &t));
    for (size_t i = 0; i < v->n_items; i++)
        for (size_t p = 0; p < v->set->n_parts; p++) {
            const size_t n = dis__lewidi_task(v, i, p, task, DIS__LEWIDI_TASK + 64);
            for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
                const int32_t x = v->value[a * v->set->n_parts + p];
                const char *worker = dis_names_get(v->workers, v->worker[a], NULL);
                dis__table_writer_text(t, task, n);
                dis__table_writer_text(t, worker, strlen(worker));
                if (x < 0)
                    dis__table_writer_real(t, x);
                else
                    dis__table_writer_count(t, (uint64_t)x);
            }
        }
    return dis__table_writer_finish(t, DIS_OK);
}

static size_t count_texts(const dis__lewidi_view *v)
{
    size_t max_length = 1;
    for (size_t i = 0; i < v->n_items; i++) {
        size_t n = 1;
        for (const char *s = dis_names_get(v->texts, i, NULL); *s; s++) n += *s == '\t';
        if (n > max_length) max_length = n;
    }
    return max_length;
}

static dis_status export_texts(const dis__lewidi_view *v, char *task, const char *path)
{
    enum { MAX_TEXTS = 8 };
    static const char *const columns[MAX_TEXTS + 2] = {"task",   "text",   "text_2", "text_3", "text_4",
                                                       "text_5", "text_6", "text_7", "text_8", "part"};
    const char *used[MAX_TEXTS + 2];
    size_t n = count_texts(v);
    if (n > MAX_TEXTS) return dis__fail(DIS_EDATA, "items of %zu texts; at most %d are possible", n, MAX_TEXTS);
    for (size_t c = 0; c <= n; c++) used[c] = columns[c];
    if (v->set->n_parts > 1) used[++n] = "part";
    dis__table_writer *t;
    DIS_TRY(dis__table_writer_create(path, NULL, used, n + 1, &t));
    for (size_t i = 0; i < v->n_items; i++)
        for (size_t p = 0; p < v->set->n_parts; p++) {
            const char *s = dis_names_get(v->texts, i, NULL);
            dis__table_writer_text(t, task, dis__lewidi_task(v, i, p, task, DIS__LEWIDI_TASK + 64));
            for (size_t c = v->set->n_parts > 1 ? 2 : 1; c <= n; c++) {
                const size_t length = strcspn(s, "\t");
                dis__table_writer_text(t, s, length);
                s += length + (s[length] == '\t');
            }
            if (v->set->n_parts > 1) dis__table_writer_text(t, v->set->part[p], strlen(v->set->part[p]));
        }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status dis__lewidi_export(const dis__lewidi *official, const char *votes, const char *texts)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    char *task;
    DIS_TRY(dis__alloc_array(&task, DIS__LEWIDI_TASK + 64, 1));
    dis_status status = votes ? export_votes(&v, task, votes) : DIS_OK;
    if (status == DIS_OK && texts) status = export_texts(&v, task, texts);
    dis__free(task);
    return status;
}
