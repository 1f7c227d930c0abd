/* gpu_encoder: time of a step of training, or of a forward pass, of an encoder of roberta-base's size with random
 * weights on a device. bench/gpu/gpu_encoder.py does the same with PyTorch.
 *
 *     gpu_encoder DEVICE PRECISION ROWS LENGTH [predict|embed] [mpnet]
 *     gpu_encoder DEVICE PRECISION texts BATCHES predict|embed [mpnet]
 *
 * Steps run in groups of 20 with one wait each; the median group counts. predict: a classifier on the first token;
 * embed: the mean of each row's tokens. texts: short texts of 8 to 64 tokens, each length as often, in batches of up to
 * 65,536 tokens in their order; a step is a pass over all batches, its time is told per 65,536 tokens. */
#include "encoder/encoder.h"
#include "nn/devices.h"
#include "nn/net_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP = 20, GROUPS = 7, CLASSES = 3 };
enum { TOKENS = 1 << 16, SHORTEST = 8, LONGEST = 64, MAX_TOKENS = 1 << 20, MAX_ROWS = MAX_TOKENS / SHORTEST };

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

typedef enum { TRAIN, PREDICT, EMBED } work;

typedef struct {
    dis__encoder_config config;
    dis__net *net;
    dis__encoder_net built;
    int head;
    work work;
    bool texts;
    size_t n_texts, n_batches, start[MAX_ROWS + 1], first[MAX_ROWS + 1]; /* first: text of each batch */
} bench;

/* Rows of one length are one batch; texts are cut where the next one would be too much. */
static void lay_out(bench *b, size_t rows, size_t length)
{
    const size_t n_batches = b->texts ? length : 1;
    size_t t = 0;
    while (b->texts ? b->n_batches < n_batches : t < rows) {
        const uint32_t drawn = (uint32_t)(t + 1) * 2654435761u;
        b->start[t + 1] = b->start[t] + (b->texts ? SHORTEST + (drawn >> 8) % (LONGEST - SHORTEST + 1) : length);
        if (b->texts && b->start[t + 1] - b->start[b->first[b->n_batches]] > TOKENS)
            b->first[++b->n_batches] = t;
        else
            t++;
    }
    b->n_texts = b->first[b->n_batches = n_batches] = t;
}

static dis_status open_bench(bench *b, const dis__device *device)
{
    dis__encoder_limits limits = {.dropout = b->work == TRAIN,
                                  .predicts = b->work != TRAIN,
                                  .first = b->work == PREDICT};
    dis__plan_options plan = dis__plan_options_default();
    plan.training = b->work == TRAIN;
    plan.optimizer.kind = DIS_OPTIMIZER_ADAMW;
    plan.optimizer.weight_decay = .01;
    plan.optimizer.clip = 1;
    for (size_t i = 0; i < b->n_batches; i++) {
        const size_t from = b->first[i], to = b->first[i + 1], tokens = b->start[to] - b->start[from];
        if (to - from > limits.rows) limits.rows = to - from;
        if (tokens > limits.tokens) limits.tokens = tokens;
    }
    DIS_TRY(dis__net_create(device, 1, &b->net));
    DIS_TRY(dis__encoder_build(b->net, &b->config, &limits, &b->built));
    if (b->work == EMBED) {
        dis__layer_pool_packed(b->net, b->built.hidden, b->built.start, b->built.length, DIS_POOL_MEAN);
    } else {
        const int top = dis__encoder_pooler_build(b->net, &b->config, &b->built, false);
        b->head = dis__head_soft(b->net, "gold", dis__layer_linear(b->net, "out", top, CLASSES, DIS_ACT_NONE), NULL);
    }
    dis__net_init_normal(b->net, "", .02);
    return dis__net_plan(b->net, NULL, &plan);
}

static dis_status one_batch(bench *b, uint64_t number, size_t batch)
{
    static int32_t id[MAX_TOKENS], label[MAX_ROWS];
    static uint8_t type[MAX_TOKENS];
    static uint32_t row[MAX_ROWS];
    const size_t from = b->first[batch], n = b->first[batch + 1] - from;
    for (size_t i = b->start[from]; i < b->start[from + n]; i++)
        id[i] = (int32_t)(4 + (number * 7919 + i * 104729) % 50000);
    for (size_t i = 0; i < n; i++) {
        row[i] = (uint32_t)(from + i);
        label[i] = (int32_t)((i + number) % CLASSES);
    }
    const dis_tokens_view view = {.n_texts = b->n_texts, .text_start = b->start, .id = id, .type = type};
    DIS_TRY(dis__encoder_set_batch(b->net, &b->built, &b->config, &view, row, n));
    if (b->work == PREDICT) dis__head_clear_targets(b->net, b->head);
    if (b->work != TRAIN) return dis__net_forward(b->net, false);
    DIS_TRY(dis__head_put_labels(b->net, b->head, label));
    return dis__net_train(b->net, 1e-5, true);
}

static dis_status one_step(bench *b, uint64_t number)
{
    for (size_t i = 0; i < b->n_batches; i++) DIS_TRY(one_batch(b, number, i));
    return DIS_OK;
}

static dis_status run(bench *b, const dis__device *device, const char *rows, const char *length)
{
    static const char *const works[] = {"step", "forward", "embed"};
    const int group = b->texts ? GROUP / 10 : GROUP;
    const double per = b->texts ? (double)b->start[b->n_texts] / TOKENS : 1;
    double step_ms[GROUPS + 1], loss = 0;
    DIS_TRY(open_bench(b, device));
    for (int g = 0; g <= GROUPS; g++) {
        const double from = now();
        for (int i = 0; i < group; i++) DIS_TRY(one_step(b, (uint64_t)(g * group + i)));
        DIS_TRY(device->synchronise(b->net->session));
        step_ms[g] = (now() - from) / group / per * 1e3;
    }
    DIS_TRY(dis__net_get_loss(b->net, &loss));
    qsort(step_ms + 1, GROUPS, sizeof *step_ms, by_value); /* the first group records */
    printf("%s %s, %s, %s x %s: %.3f ms (%.3f to %.3f; loss %.4f)\n", b->config.family->model_type, works[b->work],
           device->name, rows, length, step_ms[1 + GROUPS / 2], step_ms[1], step_ms[GROUPS], loss);
    return DIS_OK;
}

int main(int argc, char **argv)
{
    const dis__device *device;
    static bench b;
    if (argc < 5) {
        fprintf(stderr, "usage: gpu_encoder DEVICE PRECISION ROWS|texts LENGTH|BATCHES [predict|embed] [mpnet]\n");
        return 2;
    }
    const char *type = "roberta";
    const dis_precision precision = strcmp(argv[2], "bf16") == 0 ? DIS_PRECISION_BF16 : DIS_PRECISION_FLOAT32;
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "predict") == 0)
            b.work = PREDICT;
        else if (strcmp(argv[i], "embed") == 0)
            b.work = EMBED;
        else
            type = argv[i];
    }
    b.texts = strcmp(argv[3], "texts") == 0;
    const size_t rows = strtoul(argv[3], NULL, 10), length = strtoul(argv[4], NULL, 10);
    if (b.texts ? !b.work || length >= MAX_TOKENS / TOKENS : rows > 1 << 13 || rows * length > 1 << 17) return 2;
    lay_out(&b, rows, length);
    b.config = base_config(type);
    if (dis__device_choose(argv[1], precision, b.work == TRAIN, &device) != DIS_OK ||
        run(&b, device, argv[3], argv[4]) != DIS_OK) {
        fprintf(stderr, "%s\n", dis_last_error());
        return 1;
    }
    dis__net_destroy(b.net);
    return 0;
}
