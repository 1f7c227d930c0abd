/* Writes votes as a table: one row per vote, item by item; with numbers for anonymous workers, by first appearance, or
 * from a file. Cost: one pass; a lookup per worker for numbers. */
#include "dissent/export.h"
#include "core/os/os.h"
#include "tool/table_writer.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/options/sized_structs.h"
#include "io/files/file_lock.h"
#include "io/table_rows.h"
#include "votes/ids/intern.h"
#include "votes/table/votes_table.h"
#include <string.h>
#include <unistd.h>

DIS_OPTIONS_DEFAULTS(dis_votes_write_options, .size = sizeof(dis_votes_write_options))

/* Numbers of names, existing and new. */
typedef struct {
    dis__secret secret;
    dis__key_table known; /* value: index into entry */
    dis__arena texts;
    struct entry {
        const char *name;
        size_t n;
        uint64_t number;
    } * entry;
    size_t n, capacity;
    uint64_t max;
} numbering;

static void free_numbering(numbering *t)
{
    dis__key_table_free(&t->known);
    dis__arena_free(&t->texts);
    dis__free(t->entry);
}

/* *number 0: the next free one. */
static dis_status put_number(numbering *t, const char *name, size_t n, uint64_t *number, bool *fresh)
{
    const char *copy;
    const dis__key *at;
    dis__key key = dis__key_from_text(&t->secret, name, n);
    at = dis__key_table_find(&t->known, &key);
    *fresh = !at;
    if (at) {
        *number = t->entry[at->value].number;
        return DIS_OK;
    }
    if (*number == 0) *number = t->max + 1;
    if (*number > t->max) t->max = *number;
    DIS_TRY(dis__arena_copy(&t->texts, name, n, &copy));
    DIS_TRY(dis__reserve(&t->entry, &t->capacity, t->n, t->n + 1, sizeof *t->entry));
    key = dis__key_from_text(&t->secret, copy, n);
    key.value = (uint32_t)t->n;
    t->entry[t->n++] = (struct entry){.name = copy, .n = n, .number = *number};
    bool added;
    return dis__key_table_insert(&t->known, &key, &at, &added);
}

static dis_status read_row(numbering *t, dis__table_rows *r)
{
    double x;
    uint64_t number;
    bool fresh;
    if (!dis__parse_real(r->cell[1].text, r->cell[1].n, &x) || !(x >= 1 && x < 9e15) || x != (double)(uint64_t)x)
        return dis__table_rows_fail(r, 1, "the number of a worker must be 1, 2, 3, ...; correct it");
    number = (uint64_t)x;
    DIS_TRY(put_number(t, r->cell[0].text, r->cell[0].n, &number, &fresh));
    return fresh ? DIS_OK : dis__table_rows_fail(r, 0, "this worker has a number already; remove one of the rows");
}

static dis_status read_numbers(dis_context *ctx, numbering *t, const char *path)
{
    static const char *const names[] = {"worker", "number"};
    if (dis__os_access(path, F_OK) != 0) return DIS_OK;
    dis__table_rows r;
    bool more;
    DIS_TRY(dis__table_rows_open(ctx, path, NULL, &r));
    dis_status status = dis__table_rows_select(&r, names, 2);
    while (status == DIS_OK && (status = dis__table_rows_next(&r, &more)) == DIS_OK && more) status = read_row(t, &r);
    return dis__table_rows_finish(&r, status);
}

static dis_status write_numbers(const numbering *t, const char *path)
{
    static const char *const names[] = {"worker", "number"};
    dis__table_writer *table;
    DIS_TRY(dis__table_writer_create(path, NULL, names, 2, &table));
    for (size_t i = 0; i < t->n; i++) {
        dis__table_writer_text(table, t->entry[i].name, t->entry[i].n);
        dis__table_writer_count(table, t->entry[i].number);
    }
    return dis__table_writer_finish(table, DIS_OK);
}

/* (n_workers) the number of each. */
static dis_status number_workers(dis_context *ctx, const dis_votes *votes, const char *path, uint64_t *number)
{
    numbering t = {.secret = dis__secret_draw()};
    int lock = -1;
    dis_status status = path ? dis__file_lock(ctx, path, &lock) : DIS_OK; /* otherwise two processes could assign the
                                                                           * same number */
    if (status == DIS_OK && path) status = read_numbers(ctx, &t, path);
    for (size_t w = 0; w < votes->n_workers && status == DIS_OK; w++) {
        size_t n;
        bool fresh;
        const char *name = dis_names_get(votes->workers, w, &n);
        number[w] = 0;
        status = put_number(&t, name, n, &number[w], &fresh);
    }
    if (status == DIS_OK && path) status = write_numbers(&t, path);
    free_numbering(&t);
    if (lock >= 0) dis__file_unlock(lock);
    return status;
}

static void put_name(dis__table_writer *table, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    dis__table_writer_text(table, text, n);
}

static dis_status write_votes(const dis_votes *v, const char *path, const char *format, const uint64_t *number)
{
    static const char *const columns[] = {"task", "worker", "label"};
    dis__table_writer *table;
    DIS_TRY(dis__table_writer_create(path, format, columns, 3, &table));
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            put_name(table, v->tasks, i);
            if (number)
                dis__table_writer_count(table, number[v->worker[k]]);
            else
                put_name(table, v->workers, v->worker[k]);
            put_name(table, v->classes, v->label8 ? v->label8[k] : v->label16[k]);
        }
    return dis__table_writer_finish(table, DIS_OK);
}

static dis_status write_counts(const dis_votes *v, const char *path, const char *format)
{
    const char **columns;
    dis__table_writer *table;
    DIS_TRY(dis__alloc_array(&columns, v->n_classes + 1, sizeof *columns));
    columns[0] = "task";
    for (size_t k = 0; k < v->n_classes; k++) columns[k + 1] = dis_names_get(v->classes, k, NULL);
    const dis_status status = dis__table_writer_create(path, format, columns, v->n_classes + 1, &table);
    dis__free(columns);
    DIS_TRY(status);
    for (size_t i = 0; i < v->n_items; i++) {
        put_name(table, v->tasks, i);
        for (size_t k = 0; k < v->n_classes; k++) dis__table_writer_real(table, v->counts[i * v->n_classes + k]);
    }
    return dis__table_writer_finish(table, DIS_OK);
}

dis_status dis_votes_write(dis_context *ctx, const dis_votes *votes, const char *path,
                           const dis_votes_write_options *options)
{
    dis_votes_write_options o = dis_votes_write_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_write_options, &o, options));
    if (o.number_file && !o.anonymise)
        return dis__fail(DIS_EUSAGE, "`number_file` needs `anonymise`; add it, or leave `number_file` out");
    if (o.anonymise && !votes->start)
        return dis__fail(DIS_EDATA, "`anonymise` needs annotator ids, and this input has none");
    if (!votes->start) return write_counts(votes, path, o.format);
    if (!o.anonymise) return write_votes(votes, path, o.format, NULL);
    uint64_t *number;
    DIS_TRY(dis__alloc_array(&number, votes->n_workers, sizeof *number));
    dis_status status = number_workers(ctx, votes, o.number_file, number);
    if (status == DIS_OK) status = write_votes(votes, path, o.format, number);
    dis__free(number);
    return status;
}
