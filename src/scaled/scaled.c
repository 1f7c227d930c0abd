/* The table of scales with own labels, and the parts of a result: see scaled_internal.h. */
#include "tool/table_writer.h"
#include "tool/method_checks.h"
#include "scaled/scaled_internal.h"
#include "core/options/sized_structs.h"
#include "core/options/option_spec.h"
#include "core/memory/spill.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const dis__scaled_row dis__scaled_sets, dis__scaled_numeric, dis__scaled_pairs, dis__scaled_spans;

static const dis__scaled_row *const rows[] = {
    [DIS_SCALE_MULTI_LABEL] = &dis__scaled_sets,
    [DIS_SCALE_NUMERIC] = &dis__scaled_numeric,
    [DIS_SCALE_PAIRWISE] = &dis__scaled_pairs,
    [DIS_SCALE_SPANS] = &dis__scaled_spans,
};

DIS_OPTIONS_DEFAULTS(dis_scaled_options, .size = sizeof(dis_scaled_options), .resamples = 1000)

static const dis__scaled_row *row_of(dis_scale scale)
{
    return (size_t)scale < sizeof rows / sizeof *rows ? rows[scale] : NULL;
}

const dis_scaled_model *dis__scaled_model_find(dis_scale scale)
{
    const dis__scaled_row *row = row_of(scale);
    return row && row->model.name ? &row->model : NULL;
}

/* ---- what a result is made of ---- */

dis_status dis__scaled_allocate(dis_scaled *s, void *out, size_t n, size_t size)
{
    void *room;
    DIS_TRY(dis__reserve(&s->owned, &s->owned_capacity, s->n_owned, s->n_owned + 1, sizeof *s->owned));
    DIS_TRY(dis__alloc_zeroed(&room, n, size));
    s->owned[s->n_owned++] = room;
    *(void **)out = room;
    return DIS_OK;
}

dis_status dis__scaled_run_labels(const dis__scaled_args *args, const dis_votes_arrays *arrays,
                                  const dis_label_plan *choice, double **p)
{
    dis_votes *votes;
    dis_label_result *result;
    dis_fit_options how = dis_fit_options_default();
    dis_label_result_options making = dis_label_result_options_default();
    how.seed = args->o->seed;
    making.fit = &how;
    DIS_TRY(dis_votes_create_from_arrays(args->ctx, arrays, &votes));
    const dis_status status = dis_label_result_run(args->ctx, votes, choice, &making, &result);
    if (status == DIS_OK) {
        *p = dis_label_result_move_p(result);
        dis_label_result_destroy(result);
    }
    dis_votes_destroy(votes);
    return status;
}

dis_status dis__scaled_add_names(dis_scaled *s, const char *const *texts, size_t n, const dis_names **out)
{
    dis_names *list;
    DIS_TRY(dis__reserve(&s->lists, &s->lists_capacity, s->n_lists, s->n_lists + 1, sizeof *s->lists));
    DIS_TRY(dis_names_create(texts, n, &list));
    s->lists[s->n_lists++] = list;
    *out = list;
    return DIS_OK;
}

dis_status dis__scaled_move_names(dis_scaled *s, dis__name_list *list, const dis_names **out)
{
    dis_names *names;
    DIS_TRY(dis__reserve(&s->lists, &s->lists_capacity, s->n_lists, s->n_lists + 1, sizeof *s->lists));
    DIS_TRY(dis__name_list_move(list, &names));
    s->lists[s->n_lists++] = names;
    *out = names;
    return DIS_OK;
}

dis_status dis__scaled_add_table(dis_scaled *s, const char *name, const char *summary, size_t n_rows, size_t n_columns,
                                 dis_scaled_column **columns)
{
    if (s->n_tables == DIS_SCALED_TABLES) return dis__fail(DIS_EBUG, "too many tables");
    DIS_TRY(dis__scaled_allocate(s, columns, n_columns, sizeof **columns));
    s->table[s->n_tables++] = (dis_scaled_table){
        .name = name, .summary = summary, .n_rows = n_rows, .n_columns = n_columns, .columns = *columns};
    return DIS_OK;
}

dis_status dis__scaled_init_column(dis_scaled *s, dis_scaled_column *column, const char *name, size_t n,
                                   double **values)
{
    DIS_TRY(dis__scaled_allocate(s, values, n, sizeof **values));
    *column = (dis_scaled_column){.name = name, .values = *values};
    return DIS_OK;
}

void dis__scaled_add_measure(dis_scaled *s, const char *name, const char *title, dis_metric metric)
{
    if (s->n_measures < DIS_SCALED_MEASURES)
        s->measure[s->n_measures++] = (dis_scaled_measure){.name = name, .title = title, .value = metric};
}

void dis__scaled_add_note(dis_scaled *s, const char *format, ...)
{
    if (s->n_notes == DIS_SCALED_NOTES) return;
    va_list args;
    va_start(args, format);
    vsnprintf(s->note_text[s->n_notes], DIS_SCALED_NOTE, format, args);
    va_end(args);
    s->note[s->n_notes] = s->note_text[s->n_notes];
    s->n_notes++;
}

typedef struct {
    double key;
    size_t row;
} sorted;

static int by_key(const void *a, const void *b)
{
    const sorted *x = a, *y = b;
    return x->key > y->key ? -1 : x->key < y->key ? 1 : x->row < y->row ? -1 : 1;
}

dis_status dis__scaled_sort_table(dis_scaled *s, dis_scaled_table *table, const double *key)
{
    sorted *order;
    DIS_TRY(dis__scaled_allocate(s, &order, table->n_rows, sizeof *order));
    for (size_t i = 0; i < table->n_rows; i++) order[i] = (sorted){isnan(key[i]) ? -INFINITY : key[i], i};
    qsort(order, table->n_rows, sizeof *order, by_key);
    dis_scaled_column *columns = (dis_scaled_column *)(uintptr_t)table->columns;
    for (size_t c = 0; c < table->n_columns; c++) {
        dis_scaled_column *x = &columns[c];
        if (x->names) {
            uint32_t *index;
            DIS_TRY(dis__scaled_allocate(s, &index, table->n_rows, sizeof *index));
            for (size_t i = 0; i < table->n_rows; i++)
                index[i] = x->index ? x->index[order[i].row] : (uint32_t)order[i].row;
            x->index = index;
        } else {
            double *values;
            DIS_TRY(dis__scaled_allocate(s, &values, table->n_rows, sizeof *values));
            for (size_t i = 0; i < table->n_rows; i++) values[i] = x->values[order[i].row];
            x->values = values;
        }
    }
    return DIS_OK;
}

/* ---- the call ---- */

static dis_status run(dis_context *ctx, const dis_votes *votes, const dis_scaled_options *o, dis_scaled *s)
{
    const dis__scaled_row *row = row_of(s->scale);
    const dis_scale_row *scale = dis_scale_get(s->scale);
    dis__scaled_args args = {.ctx = ctx, .votes = votes, .view = dis_votes_get_view(votes), .o = o};
    if (!row) return dis__fail(DIS_EUSAGE, "votes of scale %s have class labels; use label methods", scale->name);
    if (!args.view.start)
        return dis__fail(DIS_EDATA, "scale %s needs one row per vote; counts and soft votes have none", scale->name);
    if (s->scale != DIS_SCALE_PAIRWISE && (o->n_covariates || o->groups))
        return dis__fail(DIS_EUSAGE, "scale %s has no model of %s; only the scale pairwise has one", scale->name,
                         o->groups ? "groups" : "covariates");
    if (s->scale != DIS_SCALE_PAIRWISE && (o->append || o->state_file))
        return dis__fail(DIS_EUSAGE, "scale %s has no saved states; only the scale pairwise has", scale->name);
    void *options = NULL;
    if (row->model.name) {
        const char *spec = o->n_methods ? o->method[0] : row->model.name;
        if (o->n_methods > 1 || o->combine)
            return dis__fail(DIS_EUSAGE, "scale %s has one model, %s; remove other methods and combinations",
                             scale->name, row->model.name);
        if (dis__spec_name_length(spec) != strlen(row->model.name) ||
            strncmp(spec, row->model.name, strlen(row->model.name)) != 0)
            return dis__fail(DIS_EUSAGE, "scale %s has one model, %s, not \"%.100s\"", scale->name, row->model.name,
                             spec);
        DIS_TRY(dis__scaled_allocate(s, &options, 1, row->options_size));
        DIS_TRY(dis__spec_parse("method", spec, row->model.options, row->model.n_options, options, row->options_size));
        DIS_TRY(dis__copy_text(&s->method_text, spec, strlen(spec)));
        s->method = s->method_text;
    }
    args.options = options;
    return row->run(&args, s);
}

dis_status dis_scaled_run(dis_context *ctx, const dis_votes *votes, const dis_scaled_options *options, dis_scaled **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_scaled_options o = dis_scaled_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_scaled_options, &o, options));
    dis_scaled *s;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    s->scale = dis_votes_scale(votes);
    s->converged = true;
    const dis_status status = run(ctx, votes, &o, s);
    if (status != DIS_OK) {
        dis_scaled_destroy(s);
        return status;
    }
    *out = s;
    return DIS_OK;
}

void dis_scaled_destroy(dis_scaled *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_owned; i++) dis__free(s->owned[i]);
    for (size_t i = 0; i < s->n_lists; i++) dis_names_destroy(s->lists[i]);
    dis__free(s->owned);
    dis__free(s->lists);
    dis__free(s->method_text);
    dis__free(s);
}

static dis_scaled_view view_of(const dis_scaled *s)
{
    return (dis_scaled_view){.scale = s->scale,
                             .method = s->method,
                             .iterations = s->iterations,
                             .converged = s->converged,
                             .n_tables = s->n_tables,
                             .tables = s->table,
                             .n_measures = s->n_measures,
                             .measures = s->measure,
                             .n_notes = s->n_notes,
                             .notes = s->note};
}
DIS_VIEW_DEFINE(dis_scaled, scaled, view_of(scaled))

const dis_scaled_table *dis_scaled_find_table(const dis_scaled *s, const char *table)
{
    for (size_t i = 0; i < s->n_tables; i++)
        if (strcmp(s->table[i].name, table) == 0) return &s->table[i];
    return NULL;
}

static void put_cell(dis__table_writer *t, const dis_scaled_column *x, size_t i)
{
    if (!x->names) {
        dis__table_writer_real(t, x->values[i]);
        return;
    }
    size_t n;
    const char *text = dis_names_get(x->names, x->index ? x->index[i] : i, &n);
    dis__table_writer_text(t, text, n);
}

dis_status dis_scaled_table_write(const dis_scaled_table *table, const char *path, const char *format, size_t max_rows)
{
    const char **columns;
    dis__table_writer *t;
    DIS_TRY(dis__alloc_array(&columns, table->n_columns, sizeof *columns));
    for (size_t c = 0; c < table->n_columns; c++) columns[c] = table->columns[c].name;
    const dis_status status = dis__table_writer_create(path, format, columns, table->n_columns, &t);
    dis__free(columns);
    if (status != DIS_OK) return status;
    for (size_t i = 0; i < table->n_rows && i < max_rows; i++)
        for (size_t c = 0; c < table->n_columns; c++) put_cell(t, &table->columns[c], i);
    return dis__table_writer_finish(t, DIS_OK);
}
