/* Jobs distributed over ranks: see rank_jobs.h. A rank has consecutive jobs, so its rows are contiguous. Cost: the
 * table crosses the network once for each rank, in one exchange, and is copied twice in memory. */
#include "core/parallel/rank_jobs.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include <string.h>

typedef struct {
    dis_status (*job)(void *arg, size_t j, int thread);
    void *arg;
    size_t first;
} part;

static dis_status part_job(void *arg, size_t j, int thread)
{
    const part *p = arg;
    return p->job(p->arg, p->first + j, thread);
}

/* The first row of rank r. */
static size_t first_row(const dis__comm *team, size_t n_jobs, const dis__rank_rows *rows, size_t r)
{
    const size_t job = dis__job_first(n_jobs, (size_t)team->size, r);
    const size_t at = rows->per_job ? job * rows->per_job : dis__job_first(rows->n, n_jobs, job);
    return at < rows->n ? at : rows->n;
}

/* Bytes sent by rank r: its status, followed by its rows of each table. */
static size_t n_bytes(const dis__comm *team, size_t n_jobs, const dis__rank_rows *tables, size_t n_tables, size_t r)
{
    size_t n = sizeof(uint64_t);
    for (size_t t = 0; t < n_tables; t++)
        n += (first_row(team, n_jobs, &tables[t], r + 1) - first_row(team, n_jobs, &tables[t], r)) * tables[t].row_size;
    return n;
}

static void pack(const dis__comm *team, size_t n_jobs, const dis__rank_rows *tables, size_t n_tables, uint64_t failed,
                 char *to)
{
    memcpy(to, &failed, sizeof failed);
    to += sizeof failed;
    for (size_t t = 0; t < n_tables && !failed; t++) {
        const dis__rank_rows *rows = &tables[t];
        const size_t first = first_row(team, n_jobs, rows, (size_t)team->rank);
        const size_t n = (first_row(team, n_jobs, rows, (size_t)team->rank + 1) - first) * rows->row_size;
        if (n) memcpy(to, (const char *)rows->table + first * rows->row_size, n);
        to += n;
    }
}

static void unpack(const dis__comm *team, size_t n_jobs, const dis__rank_rows *tables, size_t n_tables, size_t r,
                   const char *bytes)
{
    bytes += sizeof(uint64_t);
    for (size_t t = 0; t < n_tables && r != (size_t)team->rank; t++) {
        const dis__rank_rows *rows = &tables[t];
        const size_t first = first_row(team, n_jobs, rows, r);
        const size_t n = (first_row(team, n_jobs, rows, r + 1) - first) * rows->row_size;
        if (n) memcpy((char *)rows->table + first * rows->row_size, bytes, n);
        bytes += n;
    }
}

/* Exchanges the blocks, whose sizes all ranks know; `failed` if a rank reports a failure, otherwise the rows are copied
 * to the tables. */
static dis_status exchange(const dis__comm *team, size_t n_jobs, const dis__rank_rows *tables, size_t n_tables,
                           bool *failed, char *bytes, void **pointers, size_t *sizes)
{
    const size_t size = (size_t)team->size, me = (size_t)team->rank;
    const void **to = (const void **)pointers;
    void **from = pointers + size;
    pack(team, n_jobs, tables, n_tables, *failed, bytes);
    char *at = bytes + n_bytes(team, n_jobs, tables, n_tables, me);
    for (size_t r = 0; r < size; r++) {
        to[r] = bytes;
        from[r] = at;
        sizes[r] = r == me ? 0 : n_bytes(team, n_jobs, tables, n_tables, me);
        sizes[size + r] = r == me ? 0 : n_bytes(team, n_jobs, tables, n_tables, r);
        at += sizes[size + r];
    }
    DIS_TRY(dis__comm_exchange_sized(team, to, sizes, from, sizes + size));
    for (size_t r = 0; r < size; r++) {
        uint64_t flag = 0;
        if (r != me) memcpy(&flag, from[r], sizeof flag);
        *failed |= flag != 0;
    }
    for (size_t r = 0; r < size && !*failed; r++) unpack(team, n_jobs, tables, n_tables, r, from[r]);
    return DIS_OK;
}

static dis_status gather(const dis__comm *team, size_t n_jobs, const dis__rank_rows *tables, size_t n_tables,
                         dis_status status)
{
    const size_t size = (size_t)team->size;
    size_t total = 0, *sizes = NULL;
    char *bytes = NULL;
    void **pointers = NULL;
    bool failed = status != DIS_OK;
    for (size_t r = 0; r < size; r++) total += n_bytes(team, n_jobs, tables, n_tables, r);
    dis_status talked;
    DIS_TRY_GOTO(talked, dis__alloc_array(&bytes, total, 1), end);
    DIS_TRY_GOTO(talked, dis__alloc_array(&pointers, 2 * size, sizeof *pointers), end);
    DIS_TRY_GOTO(talked, dis__alloc_array(&sizes, 2 * size, sizeof *sizes), end);
    talked = exchange(team, n_jobs, tables, n_tables, &failed, bytes, pointers, sizes);
end:
    dis__free(bytes);
    dis__free(pointers);
    dis__free(sizes);
    DIS_TRY(talked);
    return failed ? dis__comm_first_failure(team, status) : DIS_OK;
}

dis_status dis__gather_rank_rows(dis_context *ctx, size_t n_jobs, const dis__rank_rows *rows)
{
    const dis__comm *team = dis__context_all_ranks(ctx);
    return dis__comm_is_parallel(team) ? gather(team, n_jobs, rows, 1, DIS_OK) : DIS_OK;
}

dis_status dis__run_rank_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread),
                              void *arg, const dis__rank_rows *tables, size_t n_tables)
{
    const dis__comm *team = dis__context_all_ranks(ctx);
    if (!dis__comm_is_parallel(team)) return dis__run_jobs(ctx, n_jobs, job, arg);
    part p = {.job = job, .arg = arg, .first = dis__job_first(n_jobs, (size_t)team->size, (size_t)team->rank)};
    const size_t last = dis__job_first(n_jobs, (size_t)team->size, (size_t)team->rank + 1);
    return gather(team, n_jobs, tables, n_tables, dis__run_jobs(ctx, last - p.first, part_job, &p));
}
