/* Gathers the votes of all ranks on the first one, and redistributes them to their owners: see votes_table.h. Cost:
 * each vote (5 or 6 bytes) and each name crosses the network once. */
#include "dissent/incremental.h"
#include "tool/rank_calls.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/memory/spill.h"
#include "votes/table/votes_table.h"

/* Global offsets: n + 1 values on the first rank. `first` is the total before those of this rank, n_behind the overall
 * total. */
static dis_status gather_starts(const dis__comm *comm, const uint64_t *start, size_t n, size_t first, size_t n_behind,
                                uint64_t **out)
{
    dis__comm_range have;
    size_t n_all;
    uint64_t *own, *all = NULL;
    DIS_TRY(dis__comm_row_range(comm, n, &have, &n_all));
    const dis__comm_range want = {.n = comm->rank == 0 ? n_all : 0};
    DIS_TRY(dis__alloc_array(&own, n, sizeof *own));
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&all, want.n + 1, sizeof *all), end);
    for (size_t i = 0; i < n; i++) own[i] = start[i] + first;
    DIS_TRY_GOTO(status, dis__comm_redistribute_rows(comm, have, own, sizeof *own, want, all), end);
    all[want.n] = n_behind;
    *out = all;
    all = NULL;
end:
    dis__free(own);
    dis__free(all);
    return status;
}

dis_status dis__names_gather(const dis__comm *comm, const dis_names *names, dis_names **out)
{
    const size_t n = dis_names_count(names), n_bytes = n ? (size_t)names->start[n] : 0;
    dis__comm_range have;
    size_t n_all, n_gathered;
    uint64_t *start = NULL;
    void *bytes = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__comm_row_range(comm, n_bytes, &have, &n_all), fail);
    DIS_TRY_GOTO(status, gather_starts(comm, names->start, n, have.first, n_all, &start), fail);
    DIS_TRY_GOTO(status, dis__comm_gather_rows(comm, names->bytes, n_bytes, 1, &bytes, &n_gathered), fail);
    DIS_TRY_GOTO(status, dis__comm_row_range(comm, n, &have, &n_all), fail);
    if (comm->rank > 0) start[n_all = 0] = 0;
    DIS_TRY_GOTO(status, dis__names_from_buffers(bytes, start, n_all, out), fail);
    return DIS_OK;
fail:
    dis__free(bytes);
    dis__free(start);
    return status;
}

static dis_status gather_votes(const dis__comm *comm, const dis_votes *own, dis_votes *out)
{
    const dis__votes_part part = dis__votes_part_of(own);
    const void *const label = own->label8 ? (const void *)own->label8 : own->label16;
    void *worker, *labels;
    size_t n;
    DIS_TRY(dis__names_gather(comm, own->tasks, &out->tasks));
    DIS_TRY(gather_starts(comm, own->start, own->n_items, (size_t)part.first_vote, part.n_votes, &out->start));
    DIS_TRY(dis__comm_gather_rows(comm, own->worker, own->n_votes, sizeof *own->worker, &worker, &n));
    out->worker = worker;
    DIS_TRY(dis__comm_gather_rows(comm, label, own->n_votes, own->label8 ? sizeof *own->label8 : sizeof *own->label16,
                                  &labels, &n));
    out->label8 = own->label8 ? labels : NULL;
    out->label16 = own->label8 ? NULL : labels;
    out->n_votes = n;
    out->n_items = dis_names_count(out->tasks);
    out->n_workers = own->n_workers;
    out->n_classes = own->n_classes;
    DIS_TRY(dis__names_copy(own->workers, &out->workers));
    return dis__names_copy(own->classes, &out->classes);
}

dis_status dis__votes_gather(const dis__comm *comm, const dis_votes *votes, dis_votes **out)
{
    dis_votes *all;
    DIS_TRY(dis__alloc_zeroed(&all, 1, sizeof *all));
    const dis_status status = gather_votes(comm, votes, all);
    if (status != DIS_OK) {
        dis_votes_destroy(all);
        return status;
    }
    *out = all;
    return DIS_OK;
}

/* Sends the names of the first rank to all others. */
static dis_status broadcast_names(const dis__comm *comm, dis_names **names)
{
    uint64_t n[2] = {0, 0};
    if (comm->rank == 0) {
        n[0] = dis_names_count(*names);
        n[1] = n[0] ? (*names)->start[n[0]] : 0;
    }
    DIS_TRY(dis__comm_broadcast(comm, n, sizeof n, 0));
    if (comm->rank == 0) {
        DIS_TRY(dis__comm_broadcast(comm, (*names)->start, (n[0] + 1) * sizeof *(*names)->start, 0));
        return dis__comm_broadcast(comm, (*names)->bytes, n[1], 0);
    }
    uint64_t *start;
    char *bytes = NULL;
    DIS_TRY(dis__alloc_array(&start, n[0] + 1, sizeof *start));
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&bytes, n[1], 1), fail);
    DIS_TRY_GOTO(status, dis__comm_broadcast(comm, start, (n[0] + 1) * sizeof *start, 0), fail);
    DIS_TRY_GOTO(status, dis__comm_broadcast(comm, bytes, n[1], 0), fail);
    DIS_TRY_GOTO(status, dis__names_from_buffers(bytes, start, n[0], names), fail);
    return DIS_OK;
fail:
    dis__free(start);
    dis__free(bytes);
    return status;
}

static dis_status scatter_votes(dis_context *ctx, dis_votes *votes)
{
    const dis__comm *comm = dis__context_comm(ctx);
    DIS_TRY(broadcast_names(comm, &votes->workers));
    DIS_TRY(broadcast_names(comm, &votes->classes));
    DIS_TRY(dis__comm_broadcast(comm, &votes->scale, sizeof votes->scale, 0));
    if (comm->rank > 0) {
        votes->n_workers = dis_names_count(votes->workers);
        votes->n_classes = dis_names_count(votes->classes);
        DIS_TRY(dis_names_create(NULL, 0, &votes->tasks));
        DIS_TRY(dis__alloc_zeroed(&votes->start, 1, sizeof *votes->start));
    }
    const dis_scale scale = votes->scale;
    DIS_TRY(dis__votes_redistribute(ctx, true, votes));
    votes->scale = scale;
    return DIS_OK;
}

dis_status dis__votes_scatter(dis_context *ctx, dis_votes **votes)
{
    DIS_MEMORY_SCOPE(ctx);
    if (!dis__comm_is_parallel(dis__context_comm(ctx))) return DIS_OK;
    const bool mine = dis__context_comm(ctx)->rank > 0;
    if (mine) DIS_TRY(dis__alloc_zeroed(votes, 1, sizeof **votes));
    if (!mine && !(*votes)->start)
        return dis__fail(
            DIS_EDATA,
            "votes without annotator ids cannot be split across MPI ranks; run without mpirun or add a worker column");
    const dis_status status = scatter_votes(ctx, *votes);
    if (status != DIS_OK && mine) {
        dis_votes_destroy(*votes);
        *votes = NULL;
    }
    return status;
}
