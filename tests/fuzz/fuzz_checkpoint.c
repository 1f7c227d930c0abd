/* Checkpoints: any bytes are taken or refused. Refused, the network is as it was; taken, all its numbers are finite and
 * it saves and loads again. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "nn/net.h"
#include <math.h>

enum { MAX = 64 };

static dis__net *make(void)
{
    dis__net *net;
    MUST(dis__net_create(&dis__device_cpu, 1, &net) == DIS_OK);
    const int rows = dis__net_axis(net, 2), ids = dis__net_ints(net, "ids", rows, DIS_NONE, 1);
    const int x = dis__layer_embed(net, "words", ids, 3, 2);
    const int y = dis__layer_batchnorm(net, "norm", x, DIS_NONE, DIS_ACT_RELU);
    dis__head_soft(net, "head", dis__layer_linear(net, "out", y, 2, DIS_ACT_NONE), NULL);
    MUST(dis__net_plan(net, NULL, NULL) == DIS_OK);
    return net;
}

static size_t parameters(const dis__net *net, double *x)
{
    size_t n = 0;
    for (size_t p = 0; p < dis__net_n_params(net); p++) {
        MUST(n + dis__net_param(net, p)->n <= MAX);
        dis__param_get(net, p, x + n);
        n += dis__net_param(net, p)->n;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double before[MAX], after[MAX], again[MAX];
    dis__net *net = make();
    const size_t n = parameters(net, before);
    const dis_status status = dis__net_load(net, NULL, fuzz_file("s", data, size));
    parameters(net, after);
    if (status != DIS_OK) {
        MUST(status == DIS_EDATA);
        MUST(memcmp(before, after, n * sizeof *before) == 0 && dis__net_steps(net) == 0);
    } else {
        for (size_t i = 0; i < n; i++) MUST(isfinite(after[i]));
        MUST(dis__net_save(net, fuzz_path("s"), true, NULL, 0) == DIS_OK);
        MUST(dis__net_load(net, NULL, fuzz_path("s")) == DIS_OK);
        parameters(net, again);
        MUST(memcmp(after, again, n * sizeof *after) == 0);
    }
    dis__net_destroy(net);
    return 0;
}
