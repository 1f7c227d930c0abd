/* Sums of gradients over ranks by NCCL, if its library is found when ranks join: each rank sends every other rank its
 * share of the values, adds the received ones in the order of ranks, and sends the sums to all. So results have the
 * bytes of sums on the host, and do not depend on NCCL's algorithms.
 *
 * The required functions of the library are declared here, so it is not needed at build time. Its calls enqueue work on
 * the session's stream. Cost: 2 (1 - 1 / ranks) times the values are sent and received; memory: twice the values. */
#include "nn/cuda/session/nccl_sums.h"
#include "core/cuda/library_functions.h"
#include "core/cuda/cuda_memory.h"
#include <stdio.h>
#include <string.h>

/* nccl.h, from version 2.7 on */
typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[DIS_TEAM_ID];
} ncclUniqueId;
enum { NCCL_SUCCESS = 0, NCCL_FLOAT32 = 7 };
#define CALLS(X)                                                                                             \
    X(int, ncclGetVersion, (int *version))                                                                   \
    X(int, ncclGetUniqueId, (ncclUniqueId * id))                                                             \
    X(int, ncclCommInitRank, (ncclComm_t * comm, int n_ranks, ncclUniqueId id, int rank))                    \
    X(int, ncclCommDestroy, (ncclComm_t comm))                                                               \
    X(const char *, ncclGetErrorString, (int result))                                                        \
    X(int, ncclGroupStart, (void))                                                                           \
    X(int, ncclGroupEnd, (void))                                                                             \
    X(int, ncclSend, (const void *from, size_t n, int type, int peer, ncclComm_t comm, cudaStream_t stream)) \
    X(int, ncclRecv, (void *to, size_t n, int type, int peer, ncclComm_t comm, cudaStream_t stream))         \
    X(int, ncclAllGather, (const void *from, void *to, size_t n_from, int type, ncclComm_t comm, cudaStream_t stream))

struct dis__nccl {
    void *library;
    char name[32];
    ncclComm_t comm; /* NULL: not joined */
    int rank, size;
    float *room; /* (2, size, share): received values, then all sums */
    size_t n_room;
    struct {
#define FIELD(type, name, args) type(*name) args;
        CALLS(FIELD)
#undef FIELD
    } lib;
};

static dis_status nccl_status(dis__cuda_session *s, int result, const char *doing)
{
    if (result == NCCL_SUCCESS) return DIS_OK;
    return s->host->fail(DIS_EIO, "%s by NCCL on device cuda:%d: %s", doing, s->ordinal,
                         s->nccl->lib.ncclGetErrorString(result));
}

dis_status dis__nccl_open(void *session, char *name, size_t n)
{
#define NAME(type, name, args) #name,
    static const char *const names[] = {CALLS(NAME)};
#undef NAME
    dis__cuda_session *s = session;
    if (!s->nccl) DIS_TRY(s->host->alloc_zeroed(&s->nccl, 1, sizeof *s->nccl));
    struct dis__nccl *c = s->nccl;
    int version = 0;
    if (!c->library) c->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return s->host->fail(DIS_EUSAGE, "libnccl.so.2 is not installed");
    if (!dis__cuda_load_functions(c->library, names, sizeof names / sizeof *names, &c->lib) ||
        c->lib.ncclGetVersion(&version) != NCCL_SUCCESS)
        return s->host->fail(DIS_EUSAGE, "libnccl.so.2 is too old");
    snprintf(name, n, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return DIS_OK;
}

dis_status dis__nccl_id(void *session, void *id)
{
    dis__cuda_session *s = session;
    ncclUniqueId unique;
    DIS_TRY(nccl_status(s, s->nccl->lib.ncclGetUniqueId(&unique), "opening"));
    memcpy(id, &unique, sizeof unique);
    return DIS_OK;
}

dis_status dis__nccl_join(void *session, const void *id, int rank, int size)
{
    dis__cuda_session *s = session;
    ncclUniqueId unique;
    memcpy(&unique, id, sizeof unique);
    CUDA_TRY(s, cudaSetDevice(s->ordinal), "joining other ranks");
    dis__cuda_lock();
    const int result = s->nccl->lib.ncclCommInitRank(&s->nccl->comm, size, unique, rank);
    dis__cuda_unlock();
    if (result != NCCL_SUCCESS) s->nccl->comm = NULL;
    s->nccl->rank = rank;
    s->nccl->size = size;
    return nccl_status(s, result, "joining other ranks");
}

void dis__nccl_close(dis__cuda_session *s)
{
    struct dis__nccl *c = s->nccl;
    if (!c) return;
    if (c->comm) c->lib.ncclCommDestroy(c->comm);
    dis__cuda_release(c->room);
    if (c->library) dlclose(c->library);
    s->host->free(c);
    s->nccl = NULL;
}

static dis_status reserve_room(dis__cuda_session *s, size_t n)
{
    struct dis__nccl *c = s->nccl;
    if (n <= c->n_room) return DIS_OK;
    cudaError_t error = cudaStreamSynchronize(s->stream); /* errors while freeing are ignored */
    dis__cuda_lock();
    dis__cuda_release(c->room);
    c->room = NULL;
    c->n_room = 0;
    if (error == cudaSuccess)
        error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, n * sizeof *c->room, (void **)&c->room);
    if (error == cudaSuccess) c->n_room = n;
    dis__cuda_unlock();
    return dis__cuda_status(s, error, "taking memory for sums over ranks");
}

/* Size of rank r's share, of n values in shares of this size. */
static size_t share_of(size_t n, size_t share, int r)
{
    const size_t first = (size_t)r * share;
    return first >= n ? 0 : n - first < share ? n - first : share;
}

static int send_shares(dis__cuda_session *s, const float *x, size_t n, size_t share)
{
    struct dis__nccl *c = s->nccl;
    const size_t own = share_of(n, share, c->rank);
    int result = c->lib.ncclGroupStart();
    for (int r = 0; r < c->size && result == NCCL_SUCCESS; r++) {
        const size_t n_sent = share_of(n, share, r);
        if (n_sent) result = c->lib.ncclSend(x + (size_t)r * share, n_sent, NCCL_FLOAT32, r, c->comm, s->stream);
        if (own && result == NCCL_SUCCESS)
            result = c->lib.ncclRecv(c->room + (size_t)r * share, own, NCCL_FLOAT32, r, c->comm, s->stream);
    }
    const int ended = c->lib.ncclGroupEnd();
    return result == NCCL_SUCCESS ? ended : result;
}

dis_status dis__nccl_sum(void *session, void *x, size_t n)
{
    static const char doing[] = "adding up over ranks";
    dis__cuda_session *s = session;
    struct dis__nccl *c = s->nccl;
    const size_t share = (n + (size_t)c->size - 1) / (size_t)c->size, own = share_of(n, share, c->rank);
    CUDA_TRY(s, cudaSetDevice(s->ordinal), doing);
    CUDA_TRY(s, dis__cuda_flush(s), doing);
    DIS_TRY(reserve_room(s, 2 * (size_t)c->size * share));
    float *all = c->room + (size_t)c->size * share, *sums = all + (size_t)c->rank * share;
    DIS_TRY(nccl_status(s, send_shares(s, x, n, share), doing));
    CUDA_TRY(s, dis__cuda_add_rows(s, sums, c->room, (size_t)c->size, share, own), doing);
    DIS_TRY(nccl_status(s, c->lib.ncclAllGather(sums, all, share, NCCL_FLOAT32, c->comm, s->stream), doing));
    CUDA_TRY(s, cudaMemcpyAsync(x, all, n * sizeof(float), cudaMemcpyDeviceToDevice, s->stream), doing);
    return DIS_OK;
}
