/* Redistributes the rows of a table that is partitioned in ranges over the ranks: see comm.h. Cost: each row crosses
 * the network once, from its source to its destination. */
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include <string.h>

static dis__comm_range overlap(dis__comm_range a, dis__comm_range b)
{
    const size_t first = a.first > b.first ? a.first : b.first, end_a = a.first + a.n, end_b = b.first + b.n,
                 end = end_a < end_b ? end_a : end_b;
    return (dis__comm_range){.first = first, .n = end > first ? end - first : 0};
}

typedef struct {
    dis__comm_range have, want;
} ranges;

static dis_status move(const dis__comm *comm, const ranges *all, const char *rows, size_t row_size, char *out,
                       void **pointers, size_t *sizes)
{
    const size_t size = (size_t)comm->size;
    const ranges own = all[comm->rank];
    const void **to = (const void **)pointers;
    void **from = pointers + size;
    for (size_t r = 0; r < size; r++) {
        const dis__comm_range goes = overlap(own.have, all[r].want), comes = overlap(all[r].have, own.want);
        to[r] = goes.n ? rows + (goes.first - own.have.first) * row_size : NULL;
        from[r] = comes.n ? out + (comes.first - own.want.first) * row_size : NULL;
        sizes[r] = goes.n * row_size;
        sizes[size + r] = comes.n * row_size;
    }
    return dis__comm_exchange_sized(comm, to, sizes, from, sizes + size);
}

dis_status dis__comm_redistribute_rows(const dis__comm *comm, dis__comm_range have, const void *rows, size_t row_size,
                                       dis__comm_range want, void *out)
{
    const size_t size = (size_t)comm->size;
    ranges *all;
    void **pointers = NULL;
    size_t *sizes = NULL;
    DIS_TRY(dis__alloc_array(&all, size, sizeof *all));
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&pointers, 2 * size, sizeof *pointers), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&sizes, 2 * size, sizeof *sizes), end);
    DIS_TRY_GOTO(status, dis__comm_allgather(comm, &(ranges){have, want}, sizeof *all, all), end);
    status = move(comm, all, rows, row_size, out, pointers, sizes);
end:
    dis__free(all);
    dis__free(pointers);
    dis__free(sizes);
    return status;
}

dis_status dis__comm_row_range(const dis__comm *comm, size_t n, dis__comm_range *have, size_t *n_all)
{
    uint64_t *all;
    DIS_TRY(dis__alloc_array(&all, (size_t)comm->size, sizeof *all));
    const dis_status status = dis__comm_allgather_counts(comm, n, all);
    *have = (dis__comm_range){.n = n};
    *n_all = 0;
    for (int r = 0; status == DIS_OK && r < comm->size; r++) {
        if (r < comm->rank) have->first += (size_t)all[r];
        *n_all += (size_t)all[r];
    }
    dis__free(all);
    return status;
}

dis_status dis__comm_gather_rows(const dis__comm *comm, const void *rows, size_t n, size_t row_size, void **out,
                                 size_t *n_out)
{
    dis__comm_range have;
    size_t n_all;
    DIS_TRY(dis__comm_row_range(comm, n, &have, &n_all));
    const dis__comm_range want = {.n = comm->rank == 0 ? n_all : 0};
    char *bytes;
    DIS_TRY(dis__alloc_array(&bytes, dis__saturating_size(want.n, row_size, 0), 1));
    const dis_status status = dis__comm_redistribute_rows(comm, have, rows, row_size, want, bytes);
    if (status != DIS_OK) {
        dis__free(bytes);
        return status;
    }
    *out = bytes;
    *n_out = want.n;
    return DIS_OK;
}
