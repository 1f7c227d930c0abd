#include <mpi.h>

int main(int argc, char **argv)
{
    int provided = 0, rank = 0, value = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
