/* gpu_encoder: time of a step of training, or of a forward pass, of an encoder of roberta-base's size with random
 * weights on a device. bench/gpu_encoder.py does the same with PyTorch.
 *
 *     gpu_encoder DEVICE PRECISION ROWS LENGTH [predict] [mpnet]
 *
 * Steps run in groups of 20 with one wait each; the median group counts. */
#include "encoder/encoder.h"
#include "nn/devices.h"
#include "nn/net_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP = 20, GROUPS = 7, CLASSES = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static dis__encoder_config base_config(const char *type)
{
    dis__encoder_config c = {.n_words = 50265,
                             .n_positions = 514,
                             .n_types = 1,
                             .width = 768,
                             .n_layers = 12,
                             .n_heads = 12,
                             .feed = 3072,
                             .padding = 1,
                             .epsilon = 1e-5,
                             .dropout = .1,
                             .attention_dropout = .1,
                             .top_dropout = .1,
                             .act = DIS_ACT_GELU};
    for (size_t i = 0; dis__encoder_family_at(i); i++)
        if (strcmp(dis__encoder_family_at(i)->model_type, type) == 0) c.family = dis__encoder_family_at(i);
    if (c.family && c.family->relative) c.n_buckets = 32;
    if (c.family && !c.family->types) c.n_types = 0;
    return c;
}

typedef struct {
    dis__encoder_config config;
    dis__net *net;
    dis__encoder_net built;
    int head;
    bool predict;
    size_t rows, length;
} bench;

static dis_status open_bench(bench *b, const dis__device *device)
{
    const dis__encoder_limits limits = {.rows = b->rows, .tokens = b->rows * b->length, .dropout = !b->predict};
    dis__plan_options plan = dis__plan_options_default();
    plan.training = !b->predict;
    plan.optimizer.kind = DIS_OPTIMIZER_ADAMW;
    plan.optimizer.weight_decay = .01;
    plan.optimizer.clip = 1;
    DIS_TRY(dis__net_create(device, 1, &b->net));
    DIS_TRY(dis__encoder_build(b->net, &b->config, &limits, &b->built));
    const int top = dis__encoder_top_build(b->net, &b->config, &b->built, false);
    b->head = dis__head_soft(b->net, "gold", dis__layer_linear(b->net, "out", top, CLASSES, DIS_ACT_NONE), NULL);
    dis__net_spread(b->net, "", .02);
    return dis__net_plan(b->net, NULL, &plan);
}

static dis_status one_step(bench *b, uint64_t number)
{
    static int32_t id[1 << 17], label[1 << 13];
    static uint8_t type[1 << 17];
    static size_t start[(1 << 13) + 1];
    static uint32_t row[1 << 13];
    for (size_t i = 0; i < b->rows * b->length; i++) id[i] = (int32_t)(4 + (number * 7919 + i * 104729) % 50000);
    for (size_t i = 0; i < b->rows; i++) {
        row[i] = (uint32_t)i;
        start[i + 1] = start[i] + b->length;
        label[i] = (int32_t)((i + number) % CLASSES);
    }
    const dis_tokens_view view = {.n_texts = b->rows, .start = start, .id = id, .type = type};
    DIS_TRY(dis__encoder_put(b->net, &b->built, &b->config, &view, row, b->rows));
    if (b->predict) {
        dis__head_put_nothing(b->net, b->head);
        return dis__net_forward(b->net, false);
    }
    DIS_TRY(dis__head_put_labels(b->net, b->head, label));
    return dis__net_train(b->net, 1e-5, true);
}

static dis_status run(bench *b, const dis__device *device)
{
    double took[GROUPS + 1], loss = 0;
    DIS_TRY(open_bench(b, device));
    for (int g = 0; g <= GROUPS; g++) {
        const double from = now();
        for (int i = 0; i < GROUP; i++) DIS_TRY(one_step(b, (uint64_t)(g * GROUP + i)));
        DIS_TRY(device->synchronise(b->net->session));
        took[g] = (now() - from) / GROUP * 1e3;
    }
    DIS_TRY(dis__net_get_loss(b->net, &loss));
    qsort(took + 1, GROUPS, sizeof *took, by_value); /* the first group records */
    printf("%s %s, %s, %zu x %zu: %.3f ms (%.3f to %.3f; loss %.4f)\n", b->config.family->model_type,
           b->predict ? "forward" : "step", device->name, b->rows, b->length, took[1 + GROUPS / 2], took[1],
           took[GROUPS], loss);
    return DIS_OK;
}

int main(int argc, char **argv)
{
    const dis__device *device;
    bench b = {0};
    if (argc < 5) {
        fprintf(stderr, "usage: gpu_encoder DEVICE PRECISION ROWS LENGTH [predict] [mpnet]\n");
        return 2;
    }
    b.rows = strtoul(argv[3], NULL, 10);
    b.length = strtoul(argv[4], NULL, 10);
    if (b.rows > 1 << 13 || b.rows * b.length > 1 << 17) return 2;
    const char *type = "roberta";
    const dis_precision precision = strcmp(argv[2], "bf16") == 0 ? DIS_PRECISION_BF16 : DIS_PRECISION_FLOAT32;
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "predict") == 0)
            b.predict = true;
        else
            type = argv[i];
    }
    b.config = base_config(type);
    if (dis__device_choose(argv[1], precision, !b.predict, &device) != DIS_OK || run(&b, device) != DIS_OK) {
        fprintf(stderr, "%s\n", dis_last_error());
        return 1;
    }
    dis__net_destroy(b.net);
    return 0;
}
