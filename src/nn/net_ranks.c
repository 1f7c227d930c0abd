/* What ranks that train one net together tell each other: sums of gradients, means of statistics. Each rank adds up its
 * share of the numbers, in the order of ranks, and tells it to all: a given number of ranks always gives the same bits.
 *
 * Cost: 2 (1 - 1/ranks) times the gradients are sent and received. Memory: twice the gradients. */
#include "core/comm.h"
#include "core/memory.h"
#include "nn/net_internal.h"

dis_status dis__net_share_gradients(dis__net *net, const dis__comm *comm)
{
    const size_t n = net->n_trained;
    float *x;
    DIS_TRY(dis__alloc_array(&x, n, sizeof *x));
    dis_status status = dis__get_floats(net, DIS_ROLE_PARAM, net->grad_arena, x, n);
    if (status == DIS_OK) status = dis__comm_sum_floats(comm, x, n);
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
        if (status == DIS_OK) status = dis__comm_sum_floats(comm, x, p->info.n);
        for (size_t k = 0; k < p->info.n; k++) x[k] *= 1 / (float)comm->size;
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
