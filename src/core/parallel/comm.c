/* The table of communicators, and functions that use them: see comm.h. DISSENT_MPI names another plug-in file. */
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/plugin.h"
#include "core/parallel/pool.h"
#include "dissent/version.h"
#include <stdio.h>
#include <string.h>

#define LIBRARY "libdissent-mpi.so"
enum { WHY = 400 };

static int open_none(int *rank, int *size, char *why, size_t why_size)
{
    (void)why, (void)why_size;
    *rank = 0;
    *size = 1;
    return 0;
}

static int exchange_none(int size, const void *const *to, const size_t *n_to, void *const *from, const size_t *n_from)
{
    (void)size, (void)n_from;
    if (n_to[0]) memcpy(from[0], to[0], n_to[0]);
    return 0;
}

static int move_none(const void *bytes, size_t n, int to)
{
    (void)bytes, (void)n, (void)to;
    return 1; /* no other rank */
}

static int receive_none(void *bytes, size_t n, int from)
{
    return move_none(bytes, n, from);
}

static int broadcast_none(void *bytes, size_t n, int from)
{
    (void)bytes, (void)n, (void)from;
    return 0;
}

static void nothing(void)
{
}

static void abort_none(int code)
{
    (void)code;
}

static const dis__comm_row none = {.name = "none",
                                   .open = open_none,
                                   .exchange = exchange_none,
                                   .send = move_none,
                                   .receive = receive_none,
                                   .broadcast = broadcast_none,
                                   .wait = nothing,
                                   .abort = abort_none,
                                   .close = nothing};

const char *dis__comm_plugin_status(void)
{
    return dis__plugin_is_installed(LIBRARY) ? "MPI: " LIBRARY : "MPI: absent (one process)";
}

static dis_status load_mpi(dis__comm_row *row)
{
    void *library = dis__plugin_open(LIBRARY, "DISSENT_MPI"),
         *symbol = library ? dis__os_find_symbol(library, DIS_COMM_SYMBOL) : NULL;
    if (!symbol)
        return dis__fail(DIS_EUSAGE,
                         "started by mpirun, but the MPI plug-in cannot be loaded (%s); build it with the CMake preset "
                         "mpi, or run without mpirun",
                         dis__os_library_error());
    dis__comm_plugin *plugin;
    memcpy(&plugin, &symbol, sizeof plugin);
    if (plugin(DIS_VERSION, sizeof *row, row) != 0)
        return dis__fail(DIS_EUSAGE, LIBRARY " is of another version of dissent; build both together");
    return DIS_OK;
}

static dis_status load_none(dis__comm_row *row)
{
    *row = none;
    return DIS_OK;
}

static const struct {
    const char *name;
    dis_status (*load)(dis__comm_row *row);
} table[] = {{"none", load_none}, {"mpi", load_mpi}};

dis_status dis__comm_open(const char *name, dis__comm *comm)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name ? name : "none") != 0) continue;
        char why[WHY] = "";
        DIS_TRY(table[i].load(&comm->row));
        if (comm->row.open(&comm->rank, &comm->size, why, sizeof why) == 0) return DIS_OK;
        return dis__fail(DIS_EUSAGE, "cannot join the other ranks: %s", why);
    }
    return dis__fail(DIS_EUSAGE, "no communicator \"%.40s\"; use none or mpi", name);
}

void dis__comm_close(dis__comm *comm)
{
    if (comm->row.close) comm->row.close();
}

static dis_status fine(int failed)
{
    return failed ? dis__fail(DIS_EIO, "the connection to another rank is broken; repeat the run") : DIS_OK;
}

static void count(const dis__comm *comm, size_t n)
{
    if (comm->sent) *comm->sent += n;
}

dis_status dis__comm_exchange_sized(const dis__comm *comm, const void *const *to, const size_t *n_to, void *const *from,
                                    const size_t *n_from)
{
    for (int r = 0; r < comm->size; r++) count(comm, r == comm->rank ? 0 : n_to[r]);
    return fine(comm->row.exchange(comm->size, to, n_to, from, n_from));
}

dis_status dis__comm_block_append(dis__comm_block *b, const void *bytes, size_t n)
{
    DIS_TRY(dis__reserve(&b->bytes, &b->capacity, b->n, dis__saturating_size(n, 1, b->n), 1));
    if (n) memcpy(b->bytes + b->n, bytes, n);
    b->n += n;
    return DIS_OK;
}

void dis__comm_blocks_free(const dis__comm *comm, dis__comm_block *blocks)
{
    for (int r = 0; blocks && r < comm->size; r++) dis__free(blocks[r].bytes);
    dis__free(blocks);
}

/* Exchanges the sizes first, then the blocks. */
static dis_status exchange(const dis__comm *comm, const void **to, size_t *n_to, void **from, size_t *n_from,
                           dis__comm_block *out)
{
    const size_t size = (size_t)comm->size;
    const void **each = to + size;
    void **back = from + size;
    size_t *word = n_to + size;
    for (size_t r = 0; r < size; r++) {
        each[r] = &n_to[r];
        back[r] = &n_from[r];
        word[r] = sizeof(size_t);
    }
    DIS_TRY(dis__comm_exchange_sized(comm, each, word, back, word));
    for (size_t r = 0; r < size; r++) {
        DIS_TRY(dis__alloc_array(&out[r].bytes, n_from[r], 1));
        out[r].n = out[r].capacity = n_from[r];
        from[r] = out[r].bytes;
    }
    return dis__comm_exchange_sized(comm, to, n_to, from, n_from);
}

static dis_status exchange_with(const dis__comm *comm, const void *const *bytes, const size_t *n, dis__comm_block *from)
{
    const size_t size = (size_t)comm->size;
    void **room = NULL;
    size_t *sizes = NULL;
    dis_status status = dis__alloc_zeroed(&room, 4 * size, sizeof *room);
    if (status == DIS_OK) status = dis__alloc_zeroed(&sizes, 3 * size, sizeof *sizes);
    for (size_t r = 0; status == DIS_OK && r < size; r++) {
        from[r] = (dis__comm_block){0};
        room[r] = (void *)(uintptr_t)bytes[r];
        sizes[r] = n[r];
    }
    if (status == DIS_OK) status = exchange(comm, (const void **)room, sizes, room + 2 * size, sizes + 2 * size, from);
    dis__free(room);
    dis__free(sizes);
    return status;
}

dis_status dis__comm_exchange(const dis__comm *comm, dis__comm_block *to, dis__comm_block *from)
{
    enum { MAX = 4096 };
    const void *bytes[MAX];
    size_t n[MAX];
    if (comm->size > MAX) return dis__fail(DIS_ELIMIT, "%d ranks; at most %d are possible", comm->size, (int)MAX);
    for (int r = 0; r < comm->size; r++) {
        bytes[r] = to[r].bytes;
        n[r] = r == comm->rank ? 0 : to[r].n;
    }
    DIS_TRY(exchange_with(comm, bytes, n, from));
    dis__free(from[comm->rank].bytes);
    from[comm->rank] = to[comm->rank]; /* nothing is sent to the rank itself */
    to[comm->rank] = (dis__comm_block){0};
    for (int r = 0; r < comm->size; r++) {
        dis__free(to[r].bytes);
        to[r] = (dis__comm_block){0};
    }
    return DIS_OK;
}

dis_status dis__comm_allgather_blocks(const dis__comm *comm, const void *all, size_t n_all, dis__comm_block *from)
{
    enum { MAX = 4096 };
    const void *bytes[MAX];
    size_t n[MAX];
    if (comm->size > MAX) return dis__fail(DIS_ELIMIT, "%d ranks; at most %d are possible", comm->size, (int)MAX);
    for (int r = 0; r < comm->size; r++) {
        bytes[r] = all;
        n[r] = n_all;
    }
    return exchange_with(comm, bytes, n, from);
}

/* Adds the values of a rank to the sums. */
static void add_counts(void *sum, const void *x, size_t n)
{
    uint64_t *to = sum;
    for (size_t i = 0; i < n; i++) to[i] += ((const uint64_t *)x)[i];
}

static void add_floats(void *sum, const void *x, size_t n)
{
    float *to = sum;
    for (size_t i = 0; i < n; i++) to[i] += ((const float *)x)[i];
}

static void add_reals(void *sum, const void *x, size_t n)
{
    double *to = sum;
    for (size_t i = 0; i < n; i++) to[i] += ((const double *)x)[i];
}

/* Buffers for a call of the row's exchange. */
typedef struct {
    const void **to;
    void **from;
    size_t *n_to, *n_from; /* (ranks) each */
    char *room;            /* (ranks, largest share) received data */
} sharing;

/* Each rank's share of the values; all sizes are known. */
static dis_status send_shares(const dis__comm *comm, const sharing *s, const char *x, size_t n, size_t size)
{
    const size_t ranks = (size_t)comm->size, me = (size_t)comm->rank;
    const size_t own = dis__job_first(n, ranks, me + 1) - dis__job_first(n, ranks, me);
    for (size_t r = 0; r < ranks; r++) {
        const size_t at = dis__job_first(n, ranks, r);
        s->to[r] = x + at * size;
        s->n_to[r] = (dis__job_first(n, ranks, r + 1) - at) * size;
        s->from[r] = s->room + r * own * size;
        s->n_from[r] = own * size;
    }
    return dis__comm_exchange_sized(comm, s->to, s->n_to, s->from, s->n_from);
}

/* Sends the sums of each rank to all. */
static dis_status allgather_shares(const dis__comm *comm, const sharing *s, char *x, size_t n, size_t size)
{
    const size_t ranks = (size_t)comm->size, me = (size_t)comm->rank;
    for (size_t r = 0; r < ranks; r++) {
        const size_t at = dis__job_first(n, ranks, r), many = dis__job_first(n, ranks, r + 1) - at;
        s->to[r] = s->room;
        s->n_to[r] = r == me ? 0 : (dis__job_first(n, ranks, me + 1) - dis__job_first(n, ranks, me)) * size;
        s->from[r] = x + at * size;
        s->n_from[r] = r == me ? 0 : many * size;
    }
    return dis__comm_exchange_sized(comm, s->to, s->n_to, s->from, s->n_from);
}

static dis_status sum_shares(const dis__comm *comm, const sharing *s, char *x, size_t n, size_t size,
                             void (*add)(void *sum, const void *x, size_t n))
{
    const size_t ranks = (size_t)comm->size, first = dis__job_first(n, ranks, (size_t)comm->rank);
    const size_t own = dis__job_first(n, ranks, (size_t)comm->rank + 1) - first;
    DIS_TRY(send_shares(comm, s, x, n, size));
    for (size_t r = 1; r < ranks && own; r++) add(s->room, s->room + r * own * size, own);
    if (own) memcpy(x + first * size, s->room, own * size);
    return allgather_shares(comm, s, x, n, size);
}

/* Sums over ranks, in their order, of n values of `size` bytes. Each rank adds up its share of the values and sends the
 * sums to all: 2 n values over the network per rank, for any number of ranks. */
static dis_status sum_over(const dis__comm *comm, void *x, size_t n, size_t size,
                           void (*add)(void *sum, const void *x, size_t n))
{
    if (!dis__comm_is_parallel(comm)) return DIS_OK;
    const size_t ranks = (size_t)comm->size;
    sharing s = {0};
    void **pointers = NULL;
    dis_status status = dis__alloc_array(&pointers, 2 * ranks, sizeof *pointers);
    if (status == DIS_OK) status = dis__alloc_array(&s.n_to, 2 * ranks, sizeof *s.n_to);
    if (status == DIS_OK) status = dis__alloc_array(&s.room, dis__saturating_size(n / ranks + 1, ranks, 0), size);
    if (status == DIS_OK) {
        s.to = (const void **)pointers;
        s.from = pointers + ranks;
        s.n_from = s.n_to + ranks;
        status = sum_shares(comm, &s, x, n, size, add);
    }
    dis__free(pointers);
    dis__free(s.n_to);
    dis__free(s.room);
    return status;
}

dis_status dis__comm_sum_counts(const dis__comm *comm, uint64_t *x, size_t n)
{
    return sum_over(comm, x, n, sizeof *x, add_counts);
}

dis_status dis__comm_sum_reals(const dis__comm *comm, double *x, size_t n)
{
    return sum_over(comm, x, n, sizeof *x, add_reals);
}

dis_status dis__comm_sum_floats(const dis__comm *comm, float *x, size_t n)
{
    return sum_over(comm, x, n, sizeof *x, add_floats);
}

dis_status dis__comm_allgather(const dis__comm *comm, const void *own, size_t n, void *all)
{
    dis__comm_block *from;
    DIS_TRY(dis__alloc_zeroed(&from, (size_t)comm->size, sizeof *from));
    const dis_status status = dis__comm_allgather_blocks(comm, own, n, from);
    for (size_t r = 0; status == DIS_OK && r < (size_t)comm->size; r++) memcpy((char *)all + r * n, from[r].bytes, n);
    dis__comm_blocks_free(comm, from);
    return status;
}

dis_status dis__comm_allgather_counts(const dis__comm *comm, uint64_t x, uint64_t *all)
{
    return dis__comm_allgather(comm, &x, sizeof x, all);
}

dis_status dis__comm_first_failure(const dis__comm *comm, dis_status status)
{
    if (!dis__comm_is_parallel(comm)) return status;
    uint64_t *all;
    DIS_TRY(dis__alloc_array(&all, (size_t)comm->size, sizeof *all));
    const dis_status talked = dis__comm_allgather_counts(comm, status != DIS_OK, all);
    int first = 0;
    while (talked == DIS_OK && first < comm->size && !all[first]) first++;
    dis__free(all);
    DIS_TRY(talked);
    if (first == comm->size || first == comm->rank) return status;
    comm->row.wait();
    return dis__fail(DIS_ECANCELLED, "another rank failed");
}

dis_status dis__comm_send(const dis__comm *comm, const void *bytes, size_t n, int to)
{
    count(comm, n);
    return fine(comm->row.send(bytes, n, to));
}

dis_status dis__comm_receive(const dis__comm *comm, void *bytes, size_t n, int from)
{
    return fine(comm->row.receive(bytes, n, from));
}

dis_status dis__comm_broadcast(const dis__comm *comm, void *bytes, size_t n, int from)
{
    count(comm, comm->rank == from ? n : 0);
    return fine(comm->row.broadcast(bytes, n, from));
}
