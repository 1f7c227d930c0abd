/* What ranks that train one net together tell each other: sums of gradients, means of statistics. Each rank adds up its
 * share of the numbers, in the order of ranks, and tells it to all: a given number of ranks always gives the same bits.
 *
 * Cost: 2 (1 - 1/ranks) times the gradients are sent and received. Memory: twice the gradients. */
#include "core/comm.h"
#include "core/memory.h"
#include "nn/net_internal.h"
#include <string.h>

/* x (n) becomes the sum over ranks of it, times `factor`. */
static dis_status sum_floats(const dis__comm *comm, float *x, size_t n, float factor)
{
    const size_t size = (size_t)comm->size, rank = (size_t)comm->rank;
    dis__comm_block *to = NULL, *from = NULL;
    const size_t first = dis__job_first(n, size, rank), own = dis__job_first(n, size, rank + 1) - first;
    dis_status status = dis__alloc_zeroed(&to, size, sizeof *to);
    if (status == DIS_OK) status = dis__alloc_zeroed(&from, size, sizeof *from);
    for (size_t r = 0; r < size && status == DIS_OK; r++) {
        const size_t at = dis__job_first(n, size, r);
        status = dis__comm_put(&to[r], x + at, (dis__job_first(n, size, r + 1) - at) * sizeof *x);
    }
    if (status == DIS_OK) status = dis__comm_exchange(comm, to, from);
    if (status == DIS_OK && own) memcpy(x + first, from[0].bytes, own * sizeof *x);
    for (size_t r = 0; r < size && status == DIS_OK; r++) {
        const float *of = (const float *)(const void *)from[r].bytes;
        for (size_t i = 0; r > 0 && i < own; i++) x[first + i] += of[i];
        dis__free(from[r].bytes);
        from[r] = (dis__comm_block){0};
    }
    for (size_t i = 0; i < own; i++) x[first + i] *= factor;
    if (status == DIS_OK) status = dis__comm_gather(comm, x + first, own * sizeof *x, from);
    for (size_t r = 0; r < size && status == DIS_OK; r++)
        if (from[r].n) memcpy(x + dis__job_first(n, size, r), from[r].bytes, from[r].n);
    dis__comm_free(comm, to);
    dis__comm_free(comm, from);
    return status;
}

dis_status dis__net_share_gradients(dis__net *net, const dis__comm *comm)
{
    const size_t n = net->n_trained;
    float *x;
    DIS_TRY(dis__alloc_array(&x, n, sizeof *x));
    dis_status status = dis__get_floats(net, DIS_ROLE_PARAM, net->grad_arena, x, n);
    if (status == DIS_OK) status = sum_floats(comm, x, n, 1);
    if (status == DIS_OK) status = dis__put_floats(net, DIS_ROLE_PARAM, net->grad_arena, x, n);
    dis__free(x);
    return status;
}

dis_status dis__net_share_statistics(dis__net *net, const dis__comm *comm)
{
    for (size_t i = 0; i < net->n_params; i++) {
        const dis__param *p = &net->params[i];
        if (!p->statistic) continue;
        float *x;
        void *at = dis__param_at(net, net->param_arena, p->at);
        DIS_TRY(dis__alloc_array(&x, p->info.n, sizeof *x));
        dis_status status = dis__get_floats(net, DIS_ROLE_PARAM, at, x, p->info.n);
        if (status == DIS_OK) status = sum_floats(comm, x, p->info.n, 1 / (float)comm->size);
        if (status == DIS_OK) status = dis__put_floats(net, DIS_ROLE_PARAM, at, x, p->info.n);
        dis__free(x);
        DIS_TRY(status);
    }
    return DIS_OK;
}

void dis__net_skip(dis__net *net)
{
    net->pass++;
}

void dis__net_be_rank(dis__net *net, int rank)
{
    net->pass += (uint64_t)rank << 32;
}
