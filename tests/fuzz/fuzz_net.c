/* Checkpoints of networks: any bytes are taken or refused; a network that took one can be run, one that refused it is
 * as it was. The network is that of corpus/net/small: 2 inputs, 3 hidden, 2 classes. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "nn/net.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis__net *net;
    MUST(dis__net_create(&dis__device_cpu, 1, &net) == DIS_OK);
    const int rows = dis__net_axis(net, 1), x = dis__net_reals(net, "x", dis__shape_rows(rows, 2));
    const int h = dis__layer_linear(net, "hidden", x, 3, DIS_ACT_TANH);
    const int head = dis__head_soft(net, "head", dis__layer_linear(net, "out", h, 2, DIS_ACT_NONE), NULL);
    MUST(dis__net_plan(net, NULL, NULL) == DIS_OK);
    double before[6], after[6], q[2];
    dis__param_get(net, 0, before);
    const dis_status status = dis__net_load(net, NULL, fuzz_file("s", data, size));
    dis__param_get(net, 0, after);
    if (status != DIS_OK) MUST(memcmp(before, after, sizeof before) == 0);
    dis__net_put(net, x, (const float[]){1, -1});
    MUST(dis__net_forward(net, false) == DIS_OK);
    dis__head_get(net, head, q);
    if (status != DIS_OK) MUST(fabs(q[0] + q[1] - 1) < 1e-5);
    dis__net_destroy(net);
    return 0;
}
