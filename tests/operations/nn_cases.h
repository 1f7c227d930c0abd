/* nn_cases.h: one list of small networks, at least one per layer and a head, that every device is tested with. */
#ifndef DIS_OPERATIONS_NN_CASES_H
#define DIS_OPERATIONS_NN_CASES_H
#include "nn_cases_rows.h"
#include "nn_cases_tokens.h"
#include "nn_cases_windows.h"

#define CASE(name)                \
    {                             \
#name, case_##name, false \
    }
#define LARGE(name)              \
    {                            \
#name, case_##name, true \
    }
static const nn_case nn_cases[] = {
    CASE(linear),
    CASE(relu),
    CASE(tanh),
    CASE(sigmoid),
    CASE(gelu),
    CASE(gelu_vectors),
    CASE(activations_alone),
    CASE(activations_wide),
    CASE(wide_norms),
    CASE(norm_widths),
    LARGE(wide),
    CASE(embed),
    CASE(embed_bag),
    CASE(embed_again),
    CASE(softmax_pool),
    CASE(softmax_pool_wide),
    CASE(reshape),
    CASE(layernorm),
    CASE(layernorm_residual),
    CASE(dropout),
    CASE(layernorm_sample),
    CASE(position),
    CASE(add_itself),
    CASE(concat),
    CASE(pool_max),
    CASE(pool_mean),
    CASE(pool_first),
    CASE(pool_last),
    CASE(gather),
    CASE(ce),
    CASE(kl),
    CASE(inverse_kl),
    CASE(js),
    CASE(crowd_mw),
    CASE(crowd_vw),
    CASE(crowd_vb),
    CASE(crowd_vwb),
    CASE(crowd_sw),
    CASE(crowd_wide),
    CASE(crowd_q_mw),
    CASE(crowd_q_vw),
    CASE(crowd_q_vb),
    CASE(crowd_q_vwb),
    CASE(crowd_q_sw),
    CASE(confusion),
    LARGE(confusion_wide),
    CASE(pair_terms),
    CASE(mixed),
    CASE(pool_ends),
    CASE(lstm),
    CASE(lstm_both),
    CASE(lstm_ids),
    CASE(lstm_alike),
    CASE(lstm_all),
    CASE(gru),
    CASE(gru_both),
    CASE(gru_ids),
    CASE(gru_alike),
    CASE(gru_all),
    LARGE(lstm_wide),
    LARGE(gru_wide),
    CASE(padded_attention),
    CASE(padded_attention_alone),
    CASE(encoder),
    CASE(encoder_fork),
    CASE(packed_attention),
    CASE(packed_attention_bias),
    CASE(packed_attention_mask),
    CASE(pool_packed_first),
    CASE(layernorm_options),
    CASE(linear_options),
    CASE(low_rank),
    CASE(conv_time),
    CASE(conv_fixed),
    CASE(lookup_conv),
    CASE(lookup_conv_inner),
    CASE(sigmoid_head),
    CASE(conv_image),
    LARGE(conv_wide),
    LARGE(conv_bare),
    CASE(windows),
    CASE(conv_odd),
    CASE(shortcut),
    CASE(batchnorm),
    CASE(batchnorm_odd),
    LARGE(batchnorm_wide),
    LARGE(tagger_encoder),
    LARGE(tagger_additive),
    LARGE(tagger_gru),
    LARGE(tagger_linear),
    LARGE(tagger_released),
    LARGE(stem_cnn),
    LARGE(stem_released),
    LARGE(resnet_cifar),
    LARGE(resnet_imagenet),
    CASE(many_heads),
    CASE(frozen),
};
enum { NN_CASES = sizeof nn_cases / sizeof *nn_cases };

/* rows, time, tokens: tiny, odd, nothing at all, and the most that was planned for. */
static const size_t nn_sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {0, 3, 0}, {17, 12, 33}, {40, 7, 60}};
enum { NN_SIZES = sizeof nn_sizes / sizeof *nn_sizes };

/* Sizes of their own: devices may take other ways where there is much to do. */
static const struct {
    nn_case net;
    size_t size[3][3];
} nn_many[] = {
    {LARGE(heads_64), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(heads_64_bias), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(heads_32_bias), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(heads_64_mask), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(many_norms), {{4096, 1, 1}, {4099, 1, 1}, {4200, 1, 1}}},
    {LARGE(many_gelus), {{4096, 1, 1}, {4099, 1, 1}, {4200, 1, 1}}},
    {LARGE(conv_64), {{1, 1, 1}, {3, 1, 1}, {40, 1, 1}}},
    {LARGE(conv_weights), {{1, 1, 1}, {3, 1, 1}, {21, 1, 1}}},
    {LARGE(batchnorm_many), {{11, 1, 1}, {3799, 1, 1}, {NN_MANY_IMAGES, 1, 1}}},
    {LARGE(lstm_units), {{3, 2, 1}, {70, 3, 1}, {200, 5, 1}}},
    {LARGE(gru_units), {{3, 2, 1}, {70, 3, 1}, {200, 5, 1}}},
};
enum { NN_MANY = sizeof nn_many / sizeof *nn_many };

#endif
