/* Label files as text: CSV and TSV `task,label,entropy,p:CLASS,...`, JSONL {"task", "label", "p": {class: x}}.
 *
 * Rows are formatted in blocks by all threads and written in order. While the blocks of one round are formatted, one
 * thread writes those of the round before: two rounds of blocks, some 4 MiB at K = 4, is all the memory it takes. With
 * many threads one writer would be what all wait for (the system lets one thread write to a file at a time): the file
 * is mapped then, round by round, and each thread copies its block. Ranks count their bytes first, and then write their
 * rows behind those of the ranks before, into the same file; where not all of them reach it, they send their text to
 * the first. What a block holds depends on the data alone, so any number of threads writes the same bytes. Cost:
 * O(items * classes), about 50 ns per number and a logarithm for each that is not 0. */
#include "tool/arrays.h"
#include "tables/labels/label_npy.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "io/files/file_format.h"
#include "io/output/output_file.h"
#include "io/output/format_fields.h"
#include "core/system_calls.h"
#include "core/options/sized_structs.h"
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 17, MAX_ROUND = 64, FEW_ROUND = 16, MANY_THREADS = 8 };

typedef struct {
    char *bytes;
    size_t used, capacity;
} block;

typedef struct writing {
    const dis_labels_view *labels;
    const char *path;
    char delimiter;
    dis__out *out; /* NULL: another rank's, which gets what there is unless there is */
    int part;      /* a file of which this rank writes a part; -1: none */
    bool counting; /* bytes are only counted */
    uint64_t n_bytes;
    const dis__comm *comm;
    /* One row at `at`; room is there. NULL: its numbers are not finite. */
    char *(*row)(const struct writing *w, char *at, size_t i);
    char *class_text;      /* names of the classes as they are written, consecutively */
    uint64_t *class_start; /* (n_classes + 1) */
    size_t row_bytes;      /* maximum of a row, its task apart */
    size_t n_rows;         /* of a block */
    size_t n_blocks;
    block slot[2][MAX_ROUND]; /* of the current round and of the one before */
    size_t n_slots;           /* blocks of a round */
    size_t round;
    bool maps;            /* blocks are copied into the file by all threads */
    char *room;           /* where those of the round before go; NULL: they are written */
    size_t at[MAX_ROUND]; /* from there */
} writing;

static char *put(char *at, const char *text, size_t n)
{
    memcpy(at, text, n);
    return at + n;
}

static char *put_class(const writing *w, char *at, size_t k)
{
    return put(at, w->class_text + w->class_start[k], (size_t)(w->class_start[k + 1] - w->class_start[k]));
}

static bool all_finite(const double *p, size_t n)
{
    double sum = 0; /* of zeros unless one is infinite or NaN */
    for (size_t k = 0; k < n; k++) sum += p[k] * 0;
    return sum == 0;
}

static char *delimited_row(const writing *w, char *at, size_t i)
{
    const size_t n_classes = w->labels->n_classes;
    const double *p = w->labels->p + i * n_classes;
    if (!all_finite(p, n_classes)) return NULL;
    size_t n;
    const char *task = dis_names_get(w->labels->tasks, i, &n);
    at = dis__format_csv_field(at, task, n, w->delimiter);
    *at++ = w->delimiter;
    at = put_class(w, at, dis__argmax(p, n_classes));
    *at++ = w->delimiter;
    at += dis__format_real(dis__entropy(p, n_classes), at);
    for (size_t k = 0; k < n_classes; k++) {
        *at++ = w->delimiter;
        at += dis__format_real(p[k], at);
    }
    *at++ = '\n';
    return at;
}

static char *jsonl_row(const writing *w, char *at, size_t i)
{
    const size_t n_classes = w->labels->n_classes;
    const double *p = w->labels->p + i * n_classes;
    if (!all_finite(p, n_classes)) return NULL;
    size_t n;
    const char *task = dis_names_get(w->labels->tasks, i, &n);
    at = put(at, "{\"task\":", 8);
    at = dis__format_json_string(at, task, n);
    at = put(at, ",\"label\":", 9);
    at = put_class(w, at, dis__argmax(p, n_classes));
    at = put(at, ",\"p\":", 5);
    for (size_t k = 0; k < n_classes; k++) {
        *at++ = k ? ',' : '{';
        at = put_class(w, at, k);
        *at++ = ':';
        at += dis__format_real(p[k], at);
    }
    return put(at, "}}\n", 3);
}

static dis_status format_block(const writing *w, size_t b, block *to)
{
    const size_t n_items = w->labels->n_items;
    const size_t first = b * w->n_rows, last = n_items - first < w->n_rows ? n_items : first + w->n_rows;
    to->used = 0;
    for (size_t i = first; i < last; i++) {
        size_t n;
        dis_names_get(w->labels->tasks, i, &n);
        const size_t need = dis__saturating_size(n, 6, to->used + w->row_bytes);
        DIS_TRY(dis__reserve(&to->bytes, &to->capacity, to->used, need, 1));
        const char *end = w->row(w, to->bytes + to->used, i);
        if (!end)
            return dis__fail(DIS_EDATA, "the labels of task \"%.200s\" are not all finite numbers",
                             dis_names_get(w->labels->tasks, i, NULL));
        to->used = (size_t)(end - to->bytes);
    }
    return DIS_OK;
}

/* How many blocks round r has. */
static size_t blocks_of(const writing *w, size_t r)
{
    const size_t left = w->n_blocks - r * w->n_slots;
    return left < w->n_slots ? left : w->n_slots;
}

static dis_status put_part(const writing *w, const char *bytes, uint64_t n)
{
    while (n) {
        const ssize_t done = dis__sys_write(w->part, bytes, n);
        if (done < 0) return dis__fail_io("write", w->path);
        bytes += done;
        n -= (uint64_t)done;
    }
    return DIS_OK;
}

/* Bytes to the file, or to the rank that writes it, with their number before them. */
static dis_status put_bytes(writing *w, const char *bytes, uint64_t n)
{
    w->n_bytes += n;
    if (w->counting) return DIS_OK;
    if (w->part >= 0) return put_part(w, bytes, n);
    if (w->out) return dis__out_write(w->out, bytes, (size_t)n);
    DIS_TRY(dis__comm_send(w->comm, &n, sizeof n, 0));
    return n ? dis__comm_send(w->comm, bytes, (size_t)n, 0) : DIS_OK;
}

/* Blocks of round r in the file, or nothing for r = -1. */
static dis_status write_round(writing *w, size_t r)
{
    for (size_t i = 0; i < blocks_of(w, r); i++) DIS_TRY(put_bytes(w, w->slot[r & 1][i].bytes, w->slot[r & 1][i].used));
    return DIS_OK;
}

/* What the other ranks send, in their order; each ends with nothing. */
static dis_status write_others(writing *w)
{
    block *room = &w->slot[0][0];
    for (int r = 1; r < w->comm->size; r++)
        for (uint64_t n = 1; n;) {
            DIS_TRY(dis__comm_receive(w->comm, &n, sizeof n, r));
            DIS_TRY(dis__reserve(&room->bytes, &room->capacity, 0, (size_t)n, 1));
            if (n) DIS_TRY(dis__comm_receive(w->comm, room->bytes, (size_t)n, r));
            DIS_TRY(dis__out_write(w->out, room->bytes, (size_t)n));
        }
    return DIS_OK;
}

static dis_status copy_block(const writing *w, size_t i)
{
    const block *from = &w->slot[(w->round - 1) & 1][i];
    DIS_TRY(dis__out_populate(w->out, w->room + w->at[i], from->used));
    memcpy(w->room + w->at[i], from->bytes, from->used);
    return DIS_OK;
}

/* Job 0 writes the round before, unless all do: then it gives the one before that back to the system. The others format
 * a block each. */
static dis_status job(void *arg, size_t j, int thread)
{
    (void)thread;
    writing *w = arg;
    if (j == 0 && w->room) dis__out_release_map(w->out);
    if (j == 0) return w->round && !w->room ? write_round(w, w->round - 1) : DIS_OK;
    if (w->room && j - 1 < blocks_of(w, w->round - 1)) DIS_TRY(copy_block(w, j - 1));
    if (j - 1 >= blocks_of(w, w->round)) return DIS_OK;
    return format_block(w, w->round * w->n_slots + j - 1, &w->slot[w->round & 1][j - 1]);
}

/* Room in the file for the blocks of the round before. */
static dis_status map_round(writing *w)
{
    size_t n = 0;
    for (size_t i = 0; i < blocks_of(w, w->round - 1); i++) {
        w->at[i] = n;
        n += w->slot[(w->round - 1) & 1][i].used;
    }
    DIS_TRY(dis__out_map(w->out, n, &w->room));
    w->maps = w->room != NULL;
    return DIS_OK;
}

static dis_status write_rows(dis_context *ctx, writing *w)
{
    const size_t n_rounds = (w->n_blocks + w->n_slots - 1) / w->n_slots;
    for (w->round = 0; w->round < n_rounds; w->round++) {
        const size_t own = blocks_of(w, w->round);
        w->room = NULL;
        if (w->round && w->maps) DIS_TRY(map_round(w));
        DIS_TRY(dis__run_jobs(ctx, 1 + (w->room ? w->n_slots : own), job, w));
        if (w->room) DIS_TRY(dis__out_unmap(w->out));
        dis__progress(ctx, "writing labels", (double)(w->round + 1) / (double)n_rounds);
    }
    return n_rounds ? write_round(w, n_rounds - 1) : DIS_OK;
}

/* Renders the class names once and works out how large things are. */
static dis_status prepare(writing *w)
{
    const dis_names *classes = w->labels->classes;
    const size_t n_classes = w->labels->n_classes;
    size_t total = 0, longest = 0;
    for (size_t k = 0; k < n_classes; k++) {
        size_t n;
        dis_names_get(classes, k, &n);
        total = dis__saturating_size(n, 6, total + 2);
        longest = n > longest ? n : longest;
    }
    DIS_TRY(dis__alloc_array(&w->class_text, total, 1));
    DIS_TRY(dis__alloc_array(&w->class_start, n_classes + 1, sizeof *w->class_start));
    char *at = w->class_text;
    for (size_t k = 0; k < n_classes; k++) {
        size_t n;
        const char *name = dis_names_get(classes, k, &n);
        w->class_start[k] = (uint64_t)(at - w->class_text);
        at = w->delimiter ? dis__format_csv_field(at, name, n, w->delimiter) : dis__format_json_string(at, name, n);
    }
    w->class_start[n_classes] = (uint64_t)(at - w->class_text);
    w->row_bytes =
        64 + 6 * longest + (n_classes + 1) * (DIS_REAL_TEXT + 2) + (w->delimiter ? 0 : (size_t)(at - w->class_text));
    w->n_rows = BLOCK_BYTES / (24 * n_classes + 48);
    if (w->n_rows == 0) w->n_rows = 1;
    w->n_blocks = (w->labels->n_items + w->n_rows - 1) / w->n_rows;
    return DIS_OK;
}

static dis_status write_header(writing *w)
{
    char start[] = "task,label,entropy";
    for (char *c = start; *c; c++)
        if (*c == ',') *c = w->delimiter;
    DIS_TRY(put_bytes(w, start, strlen(start)));
    char *field = NULL;
    size_t capacity = 0;
    dis_status status = DIS_OK;
    for (size_t k = 0; k < w->labels->n_classes && status == DIS_OK; k++) {
        size_t n;
        const char *name = dis_names_get(w->labels->classes, k, &n);
        /* the plain "p:CLASS" first, its field after it */
        status = dis__reserve(&field, &capacity, 0, dis__saturating_size(n, 3, 16), 1);
        if (status != DIS_OK) break;
        memcpy(field, "p:", 2);
        memcpy(field + 2, name, n);
        char *out = field + n + 2;
        *out = w->delimiter;
        const char *end = dis__format_csv_field(out + 1, field, n + 2, w->delimiter);
        status = put_bytes(w, out, (size_t)(end - out));
    }
    dis__free(field);
    return status != DIS_OK ? status : put_bytes(w, "\n", 1);
}

/* ---- ranks ---- */

/* Whether all ranks reach the file that the first has begun; w->part is then open in the others. */
static dis_status open_parts(writing *w, bool *all)
{
    char path[PATH_MAX] = "";
    const char *begun = w->out ? dis__out_temporary(w->out) : NULL;
    if (begun && strlen(begun) < sizeof path) strcpy(path, begun);
    DIS_TRY(dis__comm_broadcast(w->comm, path, sizeof path, 0));
    if (!w->out && *path) w->part = dis__sys_open(path, O_WRONLY, 0);
    uint64_t missing = !*path || (!w->out && w->part < 0);
    DIS_TRY(dis__comm_sum_counts(w->comm, &missing, 1));
    *all = missing == 0;
    if (!*all && w->part >= 0) (void)dis__sys_close(w->part);
    if (!*all) w->part = -1;
    return DIS_OK;
}

/* Counts what the rows of this rank take, and goes to where they begin. */
static dis_status find_place(dis_context *ctx, writing *w)
{
    uint64_t *all, at = 0;
    const uint64_t header = w->n_bytes;
    DIS_TRY(dis__alloc_array(&all, (size_t)w->comm->size, sizeof *all));
    w->counting = true;
    const dis_status counted = write_rows(ctx, w);
    w->counting = false;
    const dis_status comm_status = dis__comm_allgather_counts(w->comm, w->n_bytes, all);
    for (int r = 0; r < w->comm->rank; r++) at += all[r];
    dis__free(all);
    w->n_bytes = header;
    DIS_TRY(counted);
    DIS_TRY(comm_status);
    return w->part >= 0 && lseek(w->part, (off_t)at, SEEK_SET) < 0 ? dis__fail_io("write", w->path) : DIS_OK;
}

static dis_status write_part(dis_context *ctx, writing *w)
{
    dis_status status = find_place(ctx, w);
    if (status == DIS_OK) status = write_rows(ctx, w);
    if (w->part < 0) return status;
    if (status == DIS_OK && dis__sys_fsync(w->part) != 0) status = dis__fail_io("flush", w->path);
    if (dis__sys_close(w->part) != 0 && status == DIS_OK) status = dis__fail_io("close", w->path);
    return status;
}

/* The failure of any rank is that of the file: the first gives it up before the others end it. */
static dis_status finish_parts(writing *w, dis_status status)
{
    uint64_t failed = status != DIS_OK;
    const dis_status comm_status = dis__comm_sum_counts(w->comm, &failed, 1);
    if (w->out && (comm_status != DIS_OK || failed)) {
        (void)dis__out_finish(w->out, DIS_ECANCELLED);
        w->out = NULL;
    }
    DIS_TRY(comm_status);
    return dis__comm_first_failure(w->comm, status);
}

static dis_status write_as_rank(dis_context *ctx, writing *w)
{
    bool all;
    DIS_TRY(open_parts(w, &all));
    if (all) return finish_parts(w, write_part(ctx, w));
    DIS_TRY(write_rows(ctx, w));
    return w->out ? write_others(w) : put_bytes(w, NULL, 0);
}

static dis_status write_text(dis_context *ctx, writing *w)
{
    dis_status status;
    const bool shared = dis__comm_is_parallel(w->comm = dis__context_comm(ctx));
    w->maps = dis_context_n_threads(ctx) >= MANY_THREADS && !shared;
    w->n_slots = w->maps ? MAX_ROUND : FEW_ROUND;
    w->part = -1;
    DIS_TRY_GOTO(status, prepare(w), end);
    if (w->comm->rank == 0) {
        DIS_TRY_GOTO(status, dis__out_open(w->path, &w->out), end);
        if (w->delimiter) status = write_header(w);
    }
    if (status == DIS_OK) status = shared ? write_as_rank(ctx, w) : write_rows(ctx, w);
    if (w->out) status = dis__out_finish(w->out, status);
end:
    for (size_t i = 0; i < 2 * MAX_ROUND; i++) dis__free(w->slot[i / MAX_ROUND][i % MAX_ROUND].bytes);
    dis__free(w->class_text);
    dis__free(w->class_start);
    return status;
}

dis_status dis_labels_write(dis_context *ctx, const dis_labels_view *given, const char *path, const char *format)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_labels_view own = dis_labels_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_view, &own, given));
    const dis_labels_view *labels = &own;
    static const struct {
        const char *name;
        char delimiter;
        char *(*row)(const writing *w, char *at, size_t i);
    } texts[] = {{"csv", ',', delimited_row}, {"tsv", '\t', delimited_row}, {"jsonl", '\0', jsonl_row}};
    const char *name;
    DIS_TRY(dis__output_file_format(format, path, "csv|tsv|jsonl|npy", &name));
    if (labels->n_classes == 0) return dis__fail(DIS_EUSAGE, "labels without classes cannot be written");
    if (dis_names_count(labels->tasks) != labels->n_items || dis_names_count(labels->classes) != labels->n_classes)
        return dis__fail(DIS_EUSAGE, "labels have %zu items and %zu classes, but %zu and %zu names", labels->n_items,
                         labels->n_classes, dis_names_count(labels->tasks), dis_names_count(labels->classes));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].name, name) == 0) {
            writing w = {.labels = labels, .path = path, .delimiter = texts[i].delimiter, .row = texts[i].row};
            return write_text(ctx, &w);
        }
    return dis__labels_write_npy(dis__context_comm(ctx), labels, path);
}
