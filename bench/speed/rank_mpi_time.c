/* Processor time of a rank, and how much of it went into calls of MPI, where a rank that waits keeps looking: a library
 * for LD_PRELOAD that stands before MPI by its profiling interface (PMPI_...). At the end each rank adds a line to the
 * file that RANKS_TIME names:
 *
 *     RANK SECONDS SECONDS_IN_MPI
 *
 * bench/speed/rank_time_model.py builds and uses it. Calls come from one thread, so its clock tells their share. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double within; /* s in calls of MPI so far */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double begin(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}

static int end(double begun, int code)
{
    within += seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const int code = PMPI_Init_thread(argc, argv, wanted, given);
    within += seconds(CLOCK_PROCESS_CPUTIME_ID) - before; /* it has threads of its own */
    return code;
}

int MPI_Irecv(void *to, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    const double begun = begin();
    return end(begun, PMPI_Irecv(to, n, type, from, tag, comm, request));
}

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    const double begun = begin();
    return end(begun, PMPI_Isend(bytes, n, type, to, tag, comm, request));
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    const double begun = begin();
    return end(begun, PMPI_Waitall(n, requests, statuses));
}

int MPI_Send(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    const double begun = begin();
    return end(begun, PMPI_Send(bytes, n, type, to, tag, comm));
}

int MPI_Recv(void *bytes, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    const double begun = begin();
    return end(begun, PMPI_Recv(bytes, n, type, from, tag, comm, status));
}

int MPI_Bcast(void *bytes, int n, MPI_Datatype type, int from, MPI_Comm comm)
{
    const double begun = begin();
    return end(begun, PMPI_Bcast(bytes, n, type, from, comm));
}

int MPI_Finalize(void)
{
    int rank;
    const double all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const char *path = getenv("RANKS_TIME");
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%d %.6f %.6f\n", rank, all, within);
        fclose(file);
    }
    return PMPI_Finalize();
}
