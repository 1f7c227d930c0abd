/* The votes table: creation from arrays or by the readers, access, destruction. Grouping and the rules for duplicates
 * are in group_by_item.c, files in read_votes.c. */
#include "votes/table/votes_table.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_votes_arrays, .size = sizeof(dis_votes_arrays))
DIS_OPTIONS_DEFAULTS(dis_votes_options, .size = sizeof(dis_votes_options))

void dis_votes_destroy(dis_votes *votes)
{
    if (!votes) return;
    dis__free(votes->start);
    dis__free(votes->worker);
    dis__free(votes->label8);
    dis__free(votes->label16);
    dis__free(votes->counts);
    dis_names_destroy(votes->tasks);
    dis_names_destroy(votes->workers);
    dis_names_destroy(votes->classes);
    for (size_t i = 0; i < votes->n_skipped; i++) dis__free(votes->skipped[i]);
    for (size_t i = 0; i < votes->n_notes; i++) dis__free(votes->note[i]);
    dis__free(votes);
}

static dis_votes_view view_of(const dis_votes *votes)
{
    return (dis_votes_view){.n_items = votes->n_items,
                            .n_workers = votes->n_workers,
                            .n_classes = votes->n_classes,
                            .n_votes = votes->n_votes,
                            .start = votes->start,
                            .worker = votes->worker,
                            .label8 = votes->label8,
                            .label16 = votes->label16,
                            .counts = votes->counts,
                            .tasks = votes->tasks,
                            .workers = votes->workers,
                            .classes = votes->classes};
}
DIS_VIEW_DEFINE(dis_votes, votes, view_of(votes))

size_t dis_votes_n_items(const dis_votes *votes)
{
    return view_of(votes).n_items;
}

size_t dis_votes_n_workers(const dis_votes *votes)
{
    return view_of(votes).n_workers;
}

size_t dis_votes_n_classes(const dis_votes *votes)
{
    return view_of(votes).n_classes;
}

size_t dis_votes_n_votes(const dis_votes *votes)
{
    return view_of(votes).n_votes;
}

const dis_names *dis_votes_tasks(const dis_votes *votes)
{
    return votes->tasks;
}

const dis_names *dis_votes_workers(const dis_votes *votes)
{
    return votes->workers;
}

const dis_names *dis_votes_classes(const dis_votes *votes)
{
    return votes->classes;
}

dis_scale dis_votes_scale(const dis_votes *votes)
{
    return votes->scale;
}

static void notes_write(void *notes, size_t size, const void *votes)
{
    dis__sized_copy(notes, size, &((const dis_votes *)votes)->notes, sizeof(dis_votes_notes));
}

extern const dis__view_row dis__row_of_dis_votes_notes;
const dis__view_row dis__row_of_dis_votes_notes = {.type = "dis_votes_notes", .write = notes_write};

const char *dis_votes_get_skipped_row(const dis_votes *votes, size_t i)
{
    return i < votes->n_skipped ? votes->skipped[i] : NULL;
}

const char *dis_votes_get_note(const dis_votes *votes, size_t i, dis_note_kind *kind)
{
    if (i >= votes->n_notes) return NULL;
    if (kind) *kind = votes->note_kind[i];
    return votes->note[i];
}

dis_status dis__votes_add_note(dis_votes *votes, dis_note_kind kind, const char *format, ...)
{
    char text[600];
    if (votes->n_notes == DIS_MAX_NOTES) return DIS_OK;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    DIS_TRY(dis__copy_text(&votes->note[votes->n_notes], text, strlen(text)));
    votes->note_kind[votes->n_notes++] = kind;
    return DIS_OK;
}

void dis__votes_move_notes(dis_votes *from, dis_votes *to)
{
    memcpy(to->note, from->note, sizeof to->note);
    memcpy(to->note_kind, from->note_kind, sizeof to->note_kind);
    to->n_notes = from->n_notes;
    from->n_notes = 0;
}

/* A copy of the list, or numbers if there is none. */
static dis_status copy_names(const char *what, const dis_names *given, size_t n, dis_names **out)
{
    if (!given) return dis__names_from_numbers(n, out);
    if (dis_names_count(given) != n)
        return dis__fail(DIS_EDATA, "%zu %s, but %zu names", n, what, dis_names_count(given));
    return dis__names_copy(given, out);
}

static dis_status check_sizes(size_t n_items, size_t n_workers, size_t n_classes)
{
    if (n_items > DIS_MAX_IDS || n_workers > DIS_MAX_IDS)
        return dis__fail(DIS_ELIMIT, "%zu items and %zu workers; at most %u of each are possible", n_items, n_workers,
                         DIS_MAX_IDS);
    if (n_classes > DIS_MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "%zu classes; at most %u are possible", n_classes, DIS_MAX_CLASSES);
    return DIS_OK;
}

static dis_status check_arrays(const dis_votes_arrays *a)
{
    DIS_TRY(check_sizes(a->n_items, a->n_workers, a->n_classes));
    for (size_t v = 0; v < a->n_votes; v++) {
        if (a->task[v] >= a->n_items)
            return dis__fail(DIS_EDATA, "vote %zu is on item %u; there are %zu", v, a->task[v], a->n_items);
        if (a->worker[v] >= a->n_workers)
            return dis__fail(DIS_EDATA, "vote %zu is by worker %u; there are %zu", v, a->worker[v], a->n_workers);
        if (a->label[v] >= a->n_classes)
            return dis__fail(DIS_EDATA, "vote %zu has label %u; there are %zu classes", v, a->label[v], a->n_classes);
    }
    return DIS_OK;
}

static dis_status group_arrays(dis_context *ctx, const dis_votes_arrays *a, dis_votes *votes)
{
    dis__rows rows = {.task = (uint32_t *)(uintptr_t)a->task, /* not written to */
                      .worker = (uint32_t *)(uintptr_t)a->worker,
                      .label = (uint16_t *)(uintptr_t)a->label,
                      .n = a->n_votes};
    return dis__votes_group(ctx, &rows, NULL, false, votes);
}

static dis_status fill_from_arrays(dis_context *ctx, const dis_votes_arrays *a, dis_votes *votes)
{
    votes->n_items = a->n_items;
    votes->n_workers = a->n_workers;
    votes->n_classes = a->n_classes;
    votes->notes.rows = a->n_votes;
    DIS_TRY(copy_names("items", a->tasks, a->n_items, &votes->tasks));
    DIS_TRY(copy_names("workers", a->workers, a->n_workers, &votes->workers));
    DIS_TRY(copy_names("classes", a->classes, a->n_classes, &votes->classes));
    DIS_TRY(group_arrays(ctx, a, votes));
    dis__duplicate twice = {0};
    DIS_TRY(dis__votes_dedup(ctx, votes, a->duplicates, 0, &twice));
    if (twice.found)
        return dis__fail(DIS_EDATA,
                         "worker \"%.200s\" voted twice on item \"%.200s\"; choose the vote to keep: "
                         "duplicates first, last or all",
                         dis_names_get(votes->workers, twice.worker, NULL),
                         dis_names_get(votes->tasks, twice.item, NULL));
    return DIS_OK;
}

dis_status dis_votes_create_from_arrays(dis_context *ctx, const dis_votes_arrays *arrays, dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_votes_arrays a = dis_votes_arrays_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_arrays, &a, arrays));
    DIS_TRY(check_arrays(&a));
    dis_votes *votes;
    DIS_TRY(dis__alloc_zeroed(&votes, 1, sizeof *votes));
    votes->scale = a.scale;
    const dis_status status = fill_from_arrays(ctx, &a, votes);
    if (status != DIS_OK) {
        dis_votes_destroy(votes);
        return status;
    }
    *out = votes;
    return DIS_OK;
}

static dis_status fill_from_counts(const double *counts, const dis_names *tasks, const dis_names *classes,
                                   dis_votes *votes)
{
    const size_t n = dis__saturating_size(votes->n_items, votes->n_classes, 0);
    DIS_TRY(copy_names("items", tasks, votes->n_items, &votes->tasks));
    DIS_TRY(copy_names("classes", classes, votes->n_classes, &votes->classes));
    DIS_TRY(dis__names_from_numbers(0, &votes->workers));
    DIS_TRY(dis__alloc_array(&votes->counts, n, sizeof *votes->counts));
    for (size_t i = 0; i < n; i++)
        if (!(counts[i] >= 0) || isinf(counts[i]))
            return dis__fail(DIS_EDATA, "item %zu, class %zu: a count must be a number of 0 or more, not %g",
                             i / votes->n_classes, i % votes->n_classes, counts[i]);
    if (n) memcpy(votes->counts, counts, n * sizeof *counts);
    dis__votes_count_ties(votes);
    return DIS_OK;
}

dis_status dis_votes_create_from_counts(dis_context *ctx, const double *counts, size_t n_items, size_t n_classes,
                                        const dis_names *tasks, const dis_names *classes, dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    (void)ctx;
    DIS_TRY(check_sizes(n_items, 0, n_classes));
    dis_votes *votes;
    DIS_TRY(dis__alloc_zeroed(&votes, 1, sizeof *votes));
    votes->n_items = n_items;
    votes->n_classes = n_classes;
    votes->n_votes = n_items;
    votes->notes.rows = n_items;
    const dis_status status = fill_from_counts(counts, tasks, classes, votes);
    if (status != DIS_OK) {
        dis_votes_destroy(votes);
        return status;
    }
    *out = votes;
    return DIS_OK;
}

/* ---- shards ---- */

/* How a pass over the votes is divided into shards.
 *
 * A shard's copy of the table costs about as much as four votes per row, and space in the L2 cache: at least 64 votes
 * per row keep this overhead at a few per cent. Up to FEW_SHARDS are used from 10 votes per row on, so that a second
 * thread has work. Beyond ENOUGH shards half as many votes per row suffice: threads are seldom equally fast, and with
 * one shard each all would wait for the slowest. Powers of two divide evenly over the usual numbers of threads and
 * ranks. Beyond MANY_VOTES, which take minutes per pass on one machine, there are more shards, for ranks to share. */
enum { SHARD_BYTES = 256 << 20, FEW_SHARDS = 4, ENOUGH = 16, MAX_SHARDS = 64, LARGE_SHARDS = 256 };
#define MANY_VOTES (UINT64_C(1) << 33)

size_t dis__votes_shards(size_t n_votes, size_t table_size, size_t row)
{
    const size_t rows = table_size / (2 * row) + 1, max = n_votes < MANY_VOTES ? MAX_SHARDS : LARGE_SHARDS;
    const size_t few = dis__n_jobs(n_votes, 20000 + 10 * rows, FEW_SHARDS),
                 enough = dis__n_jobs(n_votes / 64, rows, ENOUGH),
                 many = enough == ENOUGH ? dis__n_jobs(n_votes / 32, rows, max) : enough,
                 wanted = many > few ? many : few;
    size_t n = 1;
    while (2 * n <= wanted) n *= 2;
    while (n > 1 && dis__saturating_size(table_size, n * sizeof(double), 0) > SHARD_BYTES) n /= 2;
    return n;
}
