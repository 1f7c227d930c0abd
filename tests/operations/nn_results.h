/* nn_results.h: what the cases of nn_cases.h come to. After cmocka.h. */
#ifndef DIS_OPERATIONS_NN_RESULTS_H
#define DIS_OPERATIONS_NN_RESULTS_H
#include "nn_cases.h"

static inline void nn_must_make(const nn_case *c, const dis__device *device, dis_context *ctx, nn_net *f)
{
    if (nn_make(c, device, ctx, NULL, f) != DIS_OK) fail_msg("%s: %s", c->name, dis_last_error());
}

/* Gradients and loss of a case at a size, all parameters one after another. Frees the network. */
static inline double *nn_results(const nn_case *c, const dis__device *device, dis_context *ctx, const size_t size[3],
                                 size_t *n)
{
    nn_net f;
    nn_must_make(c, device, ctx, &f);
    assert_int_equal(nn_fill(&f, size[0], size[1], size[2]), DIS_OK);
    assert_int_equal(nn_pass(&f, true), DIS_OK);
    size_t total = 1;
    for (size_t p = 0; p < f.net->n_params; p++) total += f.net->params[p].info.n;
    double *out = calloc(total, sizeof *out);
    out[0] = dis__net_loss(f.net);
    *n = 1;
    for (size_t p = 0; p < f.net->n_params; p++) {
        dis__param_get_grad(f.net, p, out + *n);
        *n += f.net->params[p].info.n;
    }
    dis__net_destroy(f.net);
    return out;
}

#endif
