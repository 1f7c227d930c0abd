/* Features of workers: learned from a worker table, kept in the model, and made for workers told of later.
 * Cost: O(workers x columns), a column of many values by an index of their names. */
#include "tool/json_writer.h"
#include "train/workers/worker_features.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "train/files/model_digest.h"
#include <math.h>
#include <string.h>

enum { MAX_VALUES = 1000 }; /* of a category: more are most likely ids */

void dis__worker_features_free(dis__worker_features *f)
{
    for (size_t c = 0; c < f->n_columns; c++) {
        dis__free(f->column[c].name);
        dis_names_destroy(f->column[c].values);
    }
    dis__free(f->column);
    dis__free(f->known);
    dis_names_destroy(f->others);
    dis__free(f->of_others);
    dis__free(f->nothing);
    *f = (dis__worker_features){0};
}

static const char *cell_of(const dis_worker_table_view *t, size_t row, size_t column, size_t *n)
{
    return dis_names_get(t->values, row * t->n_columns + column, n);
}

static bool find_column(const dis_names *columns, const char *name, size_t *out)
{
    for (*out = 0; *out < dis_names_count(columns); ++*out)
        if (strcmp(dis_names_get(columns, *out, NULL), name) == 0) return true;
    return false;
}

/* ---- learning ---- */

/* Whether all that is said in the column is a number, with the mean and the standard deviation. */
static bool numbers_of(const dis_worker_table_view *t, size_t column, const size_t *row, size_t n_workers, double *mean,
                       double *sd)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t w = 0; w < n_workers; w++) {
            size_t length;
            double x;
            const char *cell = row[w] == SIZE_MAX ? NULL : cell_of(t, row[w], column, &length);
            if (!cell || !length) continue;
            if (!dis__parse_real(cell, length, &x) || !isfinite(x)) return false;
            if (pass == 0) n++;
            if (pass == 0)
                sum += x;
            else
                squares += (x - *mean) * (x - *mean);
        }
        if (n == 0) return false;
        *mean = sum / n;
    }
    *sd = squares > 0 ? sqrt(squares / n) : 1;
    return true;
}

/* The values of a category, in the order of the workers. */
static dis_status values_of(const dis_worker_table_view *t, size_t column, const size_t *row, size_t n_workers,
                            const char *name, dis_names **out)
{
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    const char *seen[MAX_VALUES];
    size_t n = 0;
    for (size_t w = 0; w < n_workers && status == DIS_OK; w++) {
        size_t length, v = 0;
        const char *cell = row[w] == SIZE_MAX ? NULL : cell_of(t, row[w], column, &length);
        if (!cell || !length) continue;
        while (v < n && strcmp(seen[v], cell) != 0) v++;
        if (v < n) continue;
        if (n == MAX_VALUES)
            status =
                dis__fail(DIS_EDATA, "the column \"%.60s\" has more than %d values, which are not groups of people",
                          name, MAX_VALUES);
        else
            status = dis__name_list_add(&list, seen[n++] = cell, length);
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    return status;
}

static dis_status learn_column(const dis_worker_table_view *t, const char *name, size_t length, const size_t *row,
                               size_t n_workers, dis__worker_features *f)
{
    dis__worker_column *c = &f->column[f->n_columns];
    size_t column;
    *c = (dis__worker_column){.at = f->width};
    DIS_TRY(dis__copy_text(&c->name, name, length));
    f->n_columns++;
    if (!find_column(t->columns, c->name, &column))
        return dis__fail(DIS_EUSAGE, "the worker table has no column \"%.100s\"", c->name);
    if (numbers_of(t, column, row, n_workers, &c->mean, &c->sd)) {
        c->width = 2;
    } else {
        DIS_TRY(values_of(t, column, row, n_workers, c->name, &c->values));
        if (dis_names_count(c->values) == 0)
            return dis__fail(DIS_EDATA, "the column \"%.100s\" has no values for the workers of the votes", c->name);
        c->width = dis_names_count(c->values) + 1;
    }
    f->width += c->width;
    return DIS_OK;
}

/* ---- numbers ---- */

static void fill_missing(const dis__worker_features *f, float *x)
{
    memset(x, 0, f->width * sizeof *x);
    for (size_t c = 0; c < f->n_columns; c++) x[f->column[c].at + f->column[c].width - 1] = 1;
}

static void put_cell(const dis__worker_column *c, const char *cell, size_t n, float *x)
{
    double number;
    size_t v = 0;
    if (!n) return;
    if (!c->values) {
        if (!dis__parse_real(cell, n, &number) || !isfinite(number)) return;
        x[c->at] = (float)((number - c->mean) / c->sd);
        x[c->at + 1] = 0;
        return;
    }
    while (v + 1 < c->width && strcmp(dis_names_get(c->values, v, NULL), cell) != 0) v++;
    x[c->at + c->width - 1] = 0;
    x[c->at + v] = 1;
}

/* Numbers of n workers, row[w] being theirs in the table (SIZE_MAX: none). */
static dis_status make_numbers(const dis__worker_features *f, const dis_worker_table_view *t, const size_t *row,
                               size_t n, float **out)
{
    DIS_TRY(dis__alloc_array(out, dis__saturating_size(n ? n : 1, f->width, 0), sizeof **out));
    for (size_t w = 0; w < n; w++) fill_missing(f, *out + w * f->width);
    for (size_t c = 0; c < f->n_columns; c++) {
        size_t column;
        if (!find_column(t->columns, f->column[c].name, &column))
            return dis__fail(DIS_EUSAGE, "the worker table has no column \"%.100s\", which the model requires",
                             f->column[c].name);
        for (size_t w = 0; w < n; w++) {
            size_t length;
            if (row[w] == SIZE_MAX) continue;
            const char *cell = cell_of(t, row[w], column, &length);
            put_cell(&f->column[c], cell, length, *out + w * f->width);
        }
    }
    return DIS_OK;
}

static dis_status make_nothing(dis__worker_features *f)
{
    DIS_TRY(dis__alloc_array(&f->nothing, f->width, sizeof *f->nothing));
    fill_missing(f, f->nothing);
    return DIS_OK;
}

static dis_status learn(const dis_worker_table_view *t, const char *columns, const dis_names *workers,
                        const size_t *row, dis__worker_features *f)
{
    const size_t n = dis_names_count(workers);
    size_t n_columns = 1;
    for (const char *s = columns; *s; s++) n_columns += *s == ',';
    DIS_TRY(dis__alloc_zeroed(&f->column, n_columns, sizeof *f->column));
    for (const char *s = columns;; s++) {
        const size_t length = strcspn(s, ",");
        if (length == 0) return dis__fail(DIS_EUSAGE, "`worker_features`: expected column names separated by commas");
        DIS_TRY(learn_column(t, s, length, row, n, f));
        s += length;
        if (!*s) break;
    }
    DIS_TRY(make_numbers(f, t, row, n, &f->known));
    return make_nothing(f);
}

dis_status dis__worker_features_fit(const dis_worker_table *table, const char *columns, const dis_names *workers,
                                    dis__worker_features *out)
{
    const dis_worker_table_view t = dis_worker_table_get_view(table);
    size_t *row, found;
    *out = (dis__worker_features){0};
    DIS_TRY(dis__names_match_alloc(t.workers, workers, &row, &found));
    dis_status status = found ? learn(&t, columns, workers, row, out)
                              : dis__fail(DIS_EDATA, "none of the workers of the votes is in the worker table; do the "
                                                     "ids match?");
    dis__free(row);
    if (status != DIS_OK) dis__worker_features_free(out);
    return status;
}

dis_status dis__worker_features_set_new_workers(dis__worker_features *f, const dis_worker_table *table,
                                                const dis_names *workers)
{
    const dis_worker_table_view t = dis_worker_table_get_view(table);
    size_t *known, *row = NULL, n = 0;
    dis__name_list list = {0};
    dis_names *others = NULL;
    float *numbers = NULL;
    DIS_TRY(dis__names_match_alloc(workers, t.workers, &known, NULL));
    dis_status status = dis__alloc_array(&row, t.n_workers + 1, sizeof *row);
    for (size_t w = 0; w < t.n_workers && status == DIS_OK; w++) {
        size_t length;
        if (known[w] != SIZE_MAX) continue;
        const char *name = dis_names_get(t.workers, w, &length);
        row[n++] = w;
        status = dis__name_list_add(&list, name, length);
    }
    if (status == DIS_OK) status = make_numbers(f, &t, row, n, &numbers);
    if (status == DIS_OK && n) status = dis__name_list_move(&list, &others);
    dis__name_list_free(&list);
    dis__free(known);
    dis__free(row);
    if (status != DIS_OK) {
        dis__free(numbers);
        return status;
    }
    dis_names_destroy(f->others);
    dis__free(f->of_others);
    f->others = others;
    f->of_others = numbers;
    return DIS_OK;
}

/* ---- files ---- */

void dis__worker_features_write(const dis__worker_features *f, size_t n_workers, dis__json_writer *j)
{
    dis__json_writer_key(j, "worker_features");
    dis__json_writer_begin_object(j);
    dis__json_writer_key(j, "columns");
    dis__json_writer_begin_array(j);
    for (size_t c = 0; c < f->n_columns; c++) {
        dis__json_writer_begin_object(j);
        dis__model_json_write_text(j, "name", f->column[c].name);
        if (f->column[c].values) {
            dis__model_json_write_names(j, "values", f->column[c].values);
        } else {
            dis__json_writer_key(j, "mean");
            dis__json_writer_real(j, f->column[c].mean);
            dis__json_writer_key(j, "sd");
            dis__json_writer_real(j, f->column[c].sd);
        }
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__model_json_write_floats(j, "numbers", f->known, n_workers * f->width);
    dis__json_writer_end_object(j);
}

static dis_status load_column(const dis__model_json *s, const dis__json_value *of, dis__worker_features *f)
{
    dis__worker_column *c = &f->column[f->n_columns];
    const dis__json_value *mean, *sd;
    *c = (dis__worker_column){.at = f->width, .width = 2};
    DIS_TRY(dis__model_json_read_text(s, of, "name", &c->name));
    f->n_columns++;
    if (dis__json_member(of, "values")) {
        DIS_TRY(dis__model_json_read_names(s, of, "values", &c->values));
        if (!c->values) return dis__json_fail(&s->json, of, "a category without values");
        c->width = dis_names_count(c->values) + 1;
    } else {
        DIS_TRY(dis__model_json_member(s, of, "mean", DIS_JSON_NUMBER, &mean));
        DIS_TRY(dis__model_json_member(s, of, "sd", DIS_JSON_NUMBER, &sd));
        c->mean = mean->number;
        c->sd = sd->number;
        if (!(c->sd > 0)) return dis__json_fail(&s->json, sd, "a standard deviation that is not above 0");
    }
    f->width += c->width;
    return DIS_OK;
}

static dis_status load(const dis__model_json *s, size_t n_workers, dis__worker_features *f)
{
    const dis__json_value *of = dis__json_member(s->root, "worker_features"), *columns;
    DIS_TRY(dis__model_json_member(s, of, "columns", DIS_JSON_ARRAY, &columns));
    if (columns->n == 0) return dis__json_fail(&s->json, columns, "features of workers without columns");
    DIS_TRY(dis__alloc_zeroed(&f->column, columns->n, sizeof *f->column));
    const dis__json_value *c = columns + 1;
    for (uint32_t i = 0; i < columns->n; i++, c += c->skip) DIS_TRY(load_column(s, c, f));
    DIS_TRY(dis__model_json_read_floats(s, of, "numbers", n_workers * f->width, &f->known));
    if (!f->known) return dis__json_fail(&s->json, of, "features of workers without numbers");
    return make_nothing(f);
}

dis_status dis__worker_features_read(const dis__model_json *s, size_t n_workers, dis__worker_features *out)
{
    *out = (dis__worker_features){0};
    const dis_status status = load(s, n_workers, out);
    if (status != DIS_OK) dis__worker_features_free(out);
    return status;
}

void dis__worker_features_hash(const dis__worker_features *f, size_t n_workers, dis__sha256 *sha)
{
    for (size_t c = 0; c < f->n_columns; c++) {
        dis__sha256_update(sha, f->column[c].name, strlen(f->column[c].name) + 1);
        dis__hash_names(sha, f->column[c].values);
        dis__sha256_update(sha, &f->column[c].mean, sizeof f->column[c].mean);
        dis__sha256_update(sha, &f->column[c].sd, sizeof f->column[c].sd);
    }
    dis__hash_floats(sha, f->known, n_workers * f->width);
}
