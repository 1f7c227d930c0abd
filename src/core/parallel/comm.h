/* comm.h: communication between processes that share work (ranks), as used by a context.
 *
 * A communicator is a row of a table: `none`, a single process, and `mpi`, which a plug-in (libdissent-mpi.so)
 * provides, so that the library does not link MPI. All ranks make the same calls in the same order; results do not
 * depend on timing. Sums over ranks are added in the order of ranks.
 *
 * A rank that fails must terminate the others (dis__context_abort), because they may be waiting for it. */
#ifndef DIS_CORE_PARALLEL_COMM_H
#define DIS_CORE_PARALLEL_COMM_H
#include "dissent/context.h"
#include "tool/rank_calls.h"
#include "core/error.h"

typedef struct {
    const char *name;
    /* Joins the other ranks. 0: success; otherwise `why` has the reason. */
    int (*open)(int *rank, int *size, char *why, size_t why_size);
    /* Block r of `to` (n_to[r] bytes) is sent to rank r, which receives it as the block of this rank in `from`; all
     * sizes are known. */
    int (*exchange)(int size, const void *const *to, const size_t *n_to, void *const *from, const size_t *n_from);
    int (*send)(const void *bytes, size_t n, int to);
    int (*receive)(void *bytes, size_t n, int from);
    int (*broadcast)(void *bytes, size_t n, int from);
    void (*wait)(void);      /* waits for another rank to terminate this one */
    void (*abort)(int code); /* terminates all ranks, including this one */
    void (*close)(void);
} dis__comm_row;

/* A plug-in exports: int DIS_COMM_SYMBOL(const char *version, dis__comm_row *row); 0: success. */
#define DIS_COMM_SYMBOL "dis_mpi_plugin"
typedef int dis__comm_plugin(const char *version, size_t row_size, dis__comm_row *row);

typedef struct dis__comm {
    dis__comm_row row;
    int rank, size;
    uint64_t *sent; /* bytes sent to other ranks, a broadcast counted once; NULL: not counted */
} dis__comm;

/* Whether the plug-in is installed near the program, for dis_version_part(). */
const char *dis__comm_plugin_status(void);

/* Finds a row by name; NULL: none. DIS_EUSAGE: unknown name, or missing plug-in. */
dis_status dis__comm_open(const char *name, dis__comm *comm);
void dis__comm_close(dis__comm *comm);

/* The communicator over which data are partitioned: a row of one process for NULL, and if each rank has all data. */
const dis__comm *dis__context_comm(const dis_context *ctx);
/* The communicator of all ranks, however data are distributed. */
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
/* Sends to[r] to rank r; from (size) receives the blocks of the others, to be freed by the caller; `to` is freed. */
dis_status dis__comm_exchange(const dis__comm *comm, dis__comm_block *to, dis__comm_block *from);
/* Sends the same block to all ranks: from (size). */
dis_status dis__comm_allgather_blocks(const dis__comm *comm, const void *bytes, size_t n, dis__comm_block *from);
void dis__comm_blocks_free(const dis__comm *comm, dis__comm_block *blocks);
dis_status dis__comm_block_append(dis__comm_block *block, const void *bytes, size_t n);

/* Sends block r of `to` (n_to[r] bytes) to rank r, and receives the blocks of the others; all sizes are known. */
dis_status dis__comm_exchange_sized(const dis__comm *comm, const void *const *to, const size_t *n_to, void *const *from,
                                    const size_t *n_from);

/* The rows of a global table that a rank holds: those after the rows of the previous rank. */
typedef struct {
    size_t first, n;
} dis__comm_range;
/* Sends the rows `have` of this rank to the ranks that want them; out (want.n, row_size) receives the wanted rows.
 * Collective: all ranks call it. */
dis_status dis__comm_redistribute_rows(const dis__comm *comm, dis__comm_range have, const void *rows, size_t row_size,
                                       dis__comm_range want, void *out);
/* The range of this rank's n rows in the global table, which has n_all. */
dis_status dis__comm_row_range(const dis__comm *comm, size_t n, dis__comm_range *have, size_t *n_all);
/* Gathers the rows of all ranks on the first one, to be freed by the caller; other ranks receive no row. */
dis_status dis__comm_gather_rows(const dis__comm *comm, const void *rows, size_t n, size_t row_size, void **out,
                                 size_t *n_out);

/* Sums over ranks, in their order, on every rank. */
dis_status dis__comm_sum_counts(const dis__comm *comm, uint64_t *x, size_t n);
dis_status dis__comm_sum_reals(const dis__comm *comm, double *x, size_t n);
dis_status dis__comm_sum_floats(const dis__comm *comm, float *x, size_t n);
/* all (size, n bytes): the value of each rank. */
dis_status dis__comm_allgather(const dis__comm *comm, const void *own, size_t n, void *all);
dis_status dis__comm_allgather_counts(const dis__comm *comm, uint64_t x, uint64_t *all);

/* Returns the failure of the lowest rank with one on that rank; the other ranks wait to be terminated. */
dis_status dis__comm_first_failure(const dis__comm *comm, dis_status status);

dis_status dis__comm_send(const dis__comm *comm, const void *bytes, size_t n, int to);
dis_status dis__comm_receive(const dis__comm *comm, void *bytes, size_t n, int from);
dis_status dis__comm_broadcast(const dis__comm *comm, void *bytes, size_t n, int from);

#endif
