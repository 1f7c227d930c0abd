/* libdissent-mpi.so: the communicator `mpi` (core/parallel/comm.h). MPI counts have 32 bits, so larger blocks are sent
 * in pieces. Calls come from one thread at a time. */
#include "core/parallel/comm.h"
#include "dissent/version.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 30, TAG = 7 };

static size_t n_pieces(size_t n)
{
    return n / PIECE + (n % PIECE > 0);
}

static int piece_size(size_t n, size_t i)
{
    return n - i * PIECE > PIECE ? PIECE : (int)(n - i * PIECE);
}

static int open_mpi(int *rank, int *size, char *why, size_t why_size)
{
    int level = 0, started = 0;
    MPI_Initialized(&started);
    if (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
        snprintf(why, why_size, "MPI does not start");
        return 1;
    }
    if (!started && level < MPI_THREAD_SERIALIZED) {
        snprintf(why, why_size, "this MPI does not work with threads");
        return 1;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return 0;
}

static int exchange(int size, const void *const *to, const size_t *n_to, void *const *from, const size_t *n_from)
{
    size_t n = 0;
    for (int r = 0; r < size; r++) n += n_pieces(n_to[r]) + n_pieces(n_from[r]);
    MPI_Request *request = malloc((n ? n : 1) * sizeof *request);
    if (!request) return 1;
    n = 0;
    int failed = 0;
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < n_pieces(n_from[r]); i++)
            failed |= MPI_Irecv((char *)from[r] + i * PIECE, piece_size(n_from[r], i), MPI_BYTE, r, TAG, MPI_COMM_WORLD,
                                &request[n++]);
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < n_pieces(n_to[r]); i++)
            failed |= MPI_Isend((const char *)to[r] + i * PIECE, piece_size(n_to[r], i), MPI_BYTE, r, TAG,
                                MPI_COMM_WORLD, &request[n++]);
    failed |= MPI_Waitall((int)n, request, MPI_STATUSES_IGNORE);
    free(request);
    return failed != MPI_SUCCESS;
}

static int send(const void *bytes, size_t n, int to)
{
    int failed = 0;
    for (size_t i = 0; i < n_pieces(n); i++)
        failed |= MPI_Send((const char *)bytes + i * PIECE, piece_size(n, i), MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    return failed != MPI_SUCCESS;
}

static int receive(void *bytes, size_t n, int from)
{
    int failed = 0;
    for (size_t i = 0; i < n_pieces(n); i++)
        failed |= MPI_Recv((char *)bytes + i * PIECE, piece_size(n, i), MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
    return failed != MPI_SUCCESS;
}

static int broadcast(void *bytes, size_t n, int from)
{
    int failed = 0;
    for (size_t i = 0; i < n_pieces(n); i++)
        failed |= MPI_Bcast((char *)bytes + i * PIECE, piece_size(n, i), MPI_BYTE, from, MPI_COMM_WORLD);
    return failed != MPI_SUCCESS;
}

static void wait_for_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void abort_all(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void close_mpi(void)
{
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Finalize();
}

__attribute__((visibility("default"))) int dis_mpi_plugin(const char *version, size_t row_size, dis__comm_row *row);
int dis_mpi_plugin(const char *version, size_t row_size, dis__comm_row *row)
{
    if (strcmp(version, DIS_VERSION) != 0 || row_size != sizeof *row) return 1;
    *row = (dis__comm_row){.name = "mpi",
                           .open = open_mpi,
                           .exchange = exchange,
                           .send = send,
                           .receive = receive,
                           .broadcast = broadcast,
                           .wait = wait_for_end,
                           .abort = abort_all,
                           .close = close_mpi};
    return 0;
}
