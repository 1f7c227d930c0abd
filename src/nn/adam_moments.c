/* Copies the optimiser's state from one network to another, by the names of parameters: training continues with the
 * Adam moments of an earlier training. A new parameter, or one of another size, begins with zeros. */
#include "nn/net_internal.h"
#include "core/memory/memory.h"
#include <string.h>

enum { MAX_STATES = 2 };

struct dis__moment {
    char name[DIS_NET_NAME];
    size_t n;
    float *state[MAX_STATES];
};

void dis__moments_free(dis__moments *m)
{
    for (size_t i = 0; i < m->n; i++)
        for (int s = 0; s < MAX_STATES; s++) dis__free(m->param[i].state[s]);
    dis__free(m->param);
    *m = (dis__moments){0};
}

static void *state_of(const dis__net *net, int state, const dis__param *p)
{
    return dis__param_at(net, net->state_arena, (size_t)state * net->n_trained + p->at);
}

static dis_status copy_moments(const dis__net *net, dis__moments *m)
{
    DIS_TRY(dis__alloc_zeroed(&m->param, net->n_params, sizeof *m->param));
    m->steps = net->steps;
    for (size_t i = 0; i < net->n_params; i++) {
        const dis__param *p = &net->params[i];
        if (!p->info.trained) continue;
        struct dis__moment *one = &m->param[m->n++];
        memcpy(one->name, p->info.name, sizeof one->name);
        one->n = p->info.n;
        for (int s = 0; s < net->n_states; s++) {
            DIS_TRY(dis__alloc_array(&one->state[s], one->n, sizeof *one->state[s]));
            DIS_TRY(dis__get_floats(net, DIS_ROLE_PARAM, state_of(net, s, p), one->state[s], one->n));
        }
    }
    return DIS_OK;
}

dis_status dis__net_get_moments(const dis__net *net, dis__moments *m)
{
    dis__moments_free(m);
    return net->state_arena ? copy_moments(net, m) : DIS_OK;
}

dis_status dis__net_put_moments(dis__net *net, const dis__moments *m)
{
    if (m->n == 0) return DIS_OK;
    for (size_t i = 0; i < m->n; i++) {
        const size_t at = dis__net_find_param(net, m->param[i].name);
        if (at == SIZE_MAX || !net->params[at].info.trained || net->params[at].info.n != m->param[i].n) continue;
        for (int s = 0; s < net->n_states && m->param[i].state[s]; s++)
            DIS_TRY(dis__put_floats(net, DIS_ROLE_PARAM, state_of(net, s, &net->params[at]), m->param[i].state[s],
                                    m->param[i].n));
    }
    net->steps = m->steps;
    return DIS_OK;
}
