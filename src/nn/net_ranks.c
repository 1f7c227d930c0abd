/* What ranks that train one network together tell each other: sums of gradients, means of statistics. Each rank adds
 * up its share of the numbers, in the order of ranks, and tells it to all: a given number of ranks always gives the
 * same bits.
 *
 * Devices that can do so add gradients up themselves, in the same order: the same bytes.
 *
 * Cost: 2 (1 - 1/ranks) times the gradients are sent and received. Memory: twice the gradients. */
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "nn/net_internal.h"
#include <stdio.h>
#include <string.h>

/* Whether all ranks succeeded; net->team_name has the error of the first one that failed. */
static dis_status all_well(dis__net *net, const dis__comm *comm, dis_status status, bool *well)
{
    uint64_t failed = status != DIS_OK, *all;
    if (failed) snprintf(net->team_name, sizeof net->team_name, "the host: %s", dis_last_error());
    DIS_TRY(dis__alloc_array(&all, (size_t)comm->size, sizeof *all));
    const dis_status talked = dis__comm_allgather_counts(comm, failed, all);
    int first = 0;
    while (talked == DIS_OK && first < comm->size && !all[first]) first++;
    dis__free(all);
    DIS_TRY(talked);
    *well = first == comm->size;
    return *well ? DIS_OK : dis__comm_broadcast(comm, net->team_name, sizeof net->team_name, first);
}

static dis_status join(dis__net *net, const dis__comm *comm)
{
    const dis__device *device = net->device;
    char name[sizeof net->team_name] = "", id[DIS_TEAM_ID] = {0};
    bool well;
    DIS_TRY(all_well(net, comm, device->team_open(net->session, name, sizeof name), &well));
    if (!well) return DIS_OK;
    DIS_TRY(all_well(net, comm, comm->rank == 0 ? device->team_id(net->session, id) : DIS_OK, &well));
    if (!well) return DIS_OK;
    DIS_TRY(dis__comm_broadcast(comm, id, sizeof id, 0));
    DIS_TRY(all_well(net, comm, device->team_join(net->session, id, comm->rank, comm->size), &well));
    if (well) memcpy(net->team_name, name, sizeof name);
    net->team = well;
    return DIS_OK;
}

dis_status dis__net_join_ranks(dis__net *net, const dis__comm *comm, const char **by)
{
    snprintf(net->team_name, sizeof net->team_name, "the host");
    if (dis__comm_is_parallel(comm) && net->device->team_open) DIS_TRY(join(net, comm));
    *by = net->team_name;
    return DIS_OK;
}

dis_status dis__net_share_gradients(dis__net *net, const dis__comm *comm)
{
    const size_t n = net->n_trained;
    DIS_TRY(dis__net_clear_stale(net)); /* a rank without rows has no backward pass */
    if (net->team) return net->device->team_sum(net->session, net->grad_arena, n);
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

void dis__net_skip_pass(dis__net *net)
{
    net->pass++;
}

void dis__net_set_rank(dis__net *net, int rank)
{
    net->pass += (uint64_t)rank << 32;
}
