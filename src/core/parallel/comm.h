/* comm.h: processes that share a piece of work (ranks), from the inside of a context.
 *
 * A communicator is a row of a table: `none`, one process by itself, and `mpi`, which a plug-in (libdissent-mpi.so)
 * brings, so that the library links no MPI. All ranks make the same calls in the same order; what a call gives does not
 * depend on timing. Sums over ranks are added in the order of ranks.
 *
 * A rank that fails must end the others (dis__context_abort): they may wait for it. */
#ifndef DIS_CORE_PARALLEL_COMM_H
#define DIS_CORE_PARALLEL_COMM_H
#include "dissent/context.h"
#include "tool/rank_calls.h"
#include "core/error.h"

typedef struct {
    const char *name;
    /* Joins the others. 0: fine, else `why` says why not. */
    int (*open)(int *rank, int *size, char *why, size_t why_size);
    /* Block r of `to` (n_to[r] bytes) goes to rank r, which gets it as its block `from` of this rank; all sizes
     * known. */
    int (*exchange)(int size, const void *const *to, const size_t *n_to, void *const *from, const size_t *n_from);
    int (*send)(const void *bytes, size_t n, int to);
    int (*receive)(void *bytes, size_t n, int from);
    int (*broadcast)(void *bytes, size_t n, int from);
    void (*wait)(void);      /* for the end, which another rank brings */
    void (*abort)(int code); /* ends all ranks, this one too */
    void (*close)(void);
} dis__comm_row;

/* What a plug-in exports: int DIS_COMM_SYMBOL(const char *version, dis__comm_row *row); 0: fine. */
#define DIS_COMM_SYMBOL "dis_mpi_plugin"
typedef int dis__comm_plugin(const char *version, size_t row_size, dis__comm_row *row);

typedef struct dis__comm {
    dis__comm_row row;
    int rank, size;
    uint64_t *sent; /* bytes to other ranks so far, a broadcast once; NULL: no one counts */
} dis__comm;

/* Whether the plug-in lies near the program, for dis_version_part(). */
const char *dis__comm_plugin_status(void);

/* By its name, NULL: none. DIS_EUSAGE: there is no such row, or no plug-in. */
dis_status dis__comm_open(const char *name, dis__comm *comm);
void dis__comm_close(dis__comm *comm);

/* The communicator over which data are dealt out: a row of one process for NULL, and where each rank holds all. */
const dis__comm *dis__context_comm(const dis_context *ctx);
/* That of all ranks, whatever they hold. */
const dis__comm *dis__context_all_ranks(const dis_context *ctx);
static inline bool dis__comm_is_parallel(const dis__comm *comm)
{
    return comm->size > 1;
}

/* A block for, or from, each rank. */
typedef struct {
    char *bytes;
    size_t n, capacity;
} dis__comm_block;
/* Sends to[r] to rank r; from (size) gets what the others sent, to be freed by the caller; `to` is freed. */
dis_status dis__comm_exchange(const dis__comm *comm, dis__comm_block *to, dis__comm_block *from);
/* The same block to all: from (size). */
dis_status dis__comm_allgather_blocks(const dis__comm *comm, const void *bytes, size_t n, dis__comm_block *from);
void dis__comm_blocks_free(const dis__comm *comm, dis__comm_block *blocks);
dis_status dis__comm_block_append(dis__comm_block *block, const void *bytes, size_t n);

/* Block r of `to` (n_to[r] bytes) to rank r, and its blocks from the others; all sizes known. */
dis_status dis__comm_exchange_sized(const dis__comm *comm, const void *const *to, const size_t *n_to, void *const *from,
                                    const size_t *n_from);

/* Rows of a table of all ranks that one of them has: each has those after the rows of the rank before. */
typedef struct {
    size_t first, n;
} dis__comm_range;
/* Rows `have` of this rank go to the ranks that want them; out (want.n, row_size) gets those of all. All ranks call it.
 */
dis_status dis__comm_redistribute_rows(const dis__comm *comm, dis__comm_range have, const void *rows, size_t row_size,
                                       dis__comm_range want, void *out);
/* Where n rows of this rank are in the whole, which has n_all. */
dis_status dis__comm_row_range(const dis__comm *comm, size_t n, dis__comm_range *have, size_t *n_all);
/* The rows of all ranks on the first one, to be freed by the caller; no row elsewhere. */
dis_status dis__comm_gather_rows(const dis__comm *comm, const void *rows, size_t n, size_t row_size, void **out,
                                 size_t *n_out);

/* Sums over ranks, in their order, on every rank. */
dis_status dis__comm_sum_counts(const dis__comm *comm, uint64_t *x, size_t n);
dis_status dis__comm_sum_reals(const dis__comm *comm, double *x, size_t n);
dis_status dis__comm_sum_floats(const dis__comm *comm, float *x, size_t n);
/* all (size, n bytes): what each rank has. */
dis_status dis__comm_allgather(const dis__comm *comm, const void *own, size_t n, void *all);
dis_status dis__comm_allgather_counts(const dis__comm *comm, uint64_t x, uint64_t *all);

/* The failure of the lowest rank that has one: it comes back there; the other ranks wait to be ended. */
dis_status dis__comm_first_failure(const dis__comm *comm, dis_status status);

dis_status dis__comm_send(const dis__comm *comm, const void *bytes, size_t n, int to);
dis_status dis__comm_receive(const dis__comm *comm, void *bytes, size_t n, int from);
dis_status dis__comm_broadcast(const dis__comm *comm, void *bytes, size_t n, int from);

#endif
