/* The attention encoder of Fornaciari et al. (2021): blocks that see one position, as the paper describes them or as
 * the authors released them (after Vaswani et al. 2017: scaled input, position term, final norm).
 *
 * Cost of a row forward: layers (4 c^2 + 4 c feed) operations, c channels. */
#include "nn/models/network_models.h"
#include <stdio.h>

dis__attention_encoder dis__attention_encoder_default(void)
{
    return (dis__attention_encoder){
        .size = sizeof(dis__attention_encoder), .layers = 1, .heads = 1, .feed = 2048, .dropout = .1};
}

static dis__encoder_options block_options(const dis__attention_encoder *e)
{
    dis__encoder_options o = dis__encoder_options_default();
    o.n_heads = e->heads;
    o.n_feed = e->feed;
    o.dropout = e->dropout;
    o.norm.sample = e->sample_norm;
    if (e->sample_norm) o.norm.epsilon = 1e-6;
    return o;
}

int dis__attention_encoder_build(dis__net *net, const char *name, int x, const dis__attention_encoder *e)
{
    char text[DIS_NET_NAME / 2], first[DIS_NET_NAME / 2];
    const dis__encoder_options o = block_options(e);
    if (e->position) x = dis__layer_position(net, x);
    snprintf(first, sizeof first, e->unnumbered ? "%.24s" : "%.24s.0", name);
    for (size_t i = 0; i < e->layers; i++) {
        snprintf(text, sizeof text, "%.24s.%zu", name, i);
        x = dis__layer_encoder(net, i ? text : first, x, DIS_NONE, &o);
        if (i && e->copies) dis__net_init_like(net, text, first);
    }
    snprintf(text, sizeof text, "%.24s.norm", name);
    return e->final_norm ? dis__layer_layernorm_with(net, text, x, DIS_NONE, &o.norm) : x;
}
