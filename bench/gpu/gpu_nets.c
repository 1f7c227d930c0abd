/* Times steps of training of the papers' networks on one device. One line of JSON; bench/gpu/gpu_nets.py runs it beside
 * PyTorch.
 *
 *     gpu_nets DEVICE resnet34|tagger SIZE [STEPS]
 *
 * SIZE: images, or tokens, of a batch. same: milliseconds of a step that is taken again and again, the numbers on the
 * device; fed: with the batch copied to the device before each step, one of four of different sizes in turn; taken: of
 * a ResNet, with images and labels on the device and their rows told before each step; fresh: of a tagger, with a batch
 * of other sizes every time. Each is the median of rounds of ten steps. `checksum` of the parameters at the end: equal
 * from run to run. */
#include "core/random/random.h"
#include "nn/models/network_models.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 4, ROUND = 10, WORDS = 10000, LETTERS = 80, CLASSES = 12, SPELT = 15, LONGEST = 40 };

static void must(dis_status status)
{
    if (status == DIS_OK) return;
    fprintf(stderr, "gpu_nets: %s\n", dis_last_error());
    exit((int)status);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct {
    dis__net *net;
    size_t size;
    int heads[2], n_heads;
    dis__resnet resnet;
    dis__tagger tagger;
    float *images;
    void (*feed)(void *run, size_t which);
} run;

static int32_t draw(uint64_t stream, size_t i, uint64_t n)
{
    return (int32_t)dis__random_below(7, stream << 32, i, n);
}

static void put_labels(run *r, size_t which, size_t rows)
{
    int32_t *label = calloc(rows + 1, sizeof *label);
    for (int h = 0; h < r->n_heads; h++) {
        for (size_t i = 0; i < rows; i++) label[i] = draw(20 + which, i + (size_t)h, h ? CLASSES : 10);
        must(dis__head_put_labels(r->net, r->heads[h], label));
    }
    free(label);
}

/* ---- ResNet-34 ---- */

static void feed_images(void *arg, size_t which)
{
    run *r = arg;
    dis__net_resize(r->net, r->resnet.rows, r->size);
    must(dis__net_put(r->net, r->resnet.images, r->images + which * 64));
    put_labels(r, which, r->size);
}

/* Rows of what is on the device, shifted and mirrored. */
static void load_images(void *arg, size_t which)
{
    run *r = arg;
    const size_t per = 32 * 32 * 3;
    const void *images, *labels;
    int32_t *label = calloc(r->size, sizeof *label), *row = calloc(r->size * 4, sizeof *row);
    for (size_t i = 0; i < r->size; i++) label[i] = (int32_t)(i % 10);
    must(dis__net_upload_reals(r->net, DIS_ROLE_VALUE, r->images, r->images, r->size * per, &images));
    must(dis__net_upload_ints(r->net, r, label, r->size, &labels));
    if (!images || !labels) exit(1);
    for (size_t i = 0; i < r->size; i++) label[i] = row[4 * i] = (int32_t)((7 * i + which) % r->size);
    for (size_t i = 0; i < r->size; i++) row[4 * i + 1] = (int32_t)(i % 9) - 4, row[4 * i + 3] = i % 2;
    dis__net_resize(r->net, r->resnet.rows, r->size);
    must(dis__net_gather_reals(r->net, r->resnet.images, images, row, true));
    must(dis__head_gather_labels(r->net, r->heads[0], labels, label, (double)r->size));
    free(label), free(row);
}

static void build_resnet(run *r)
{
    dis__resnet_options o = dis__resnet_options_default();
    static const size_t blocks[] = {3, 4, 6, 3};
    o.kind = DIS_RESNET_IMAGENET;
    memcpy(o.blocks, blocks, sizeof blocks);
    o.first_width = 64;
    o.rows = r->size;
    r->resnet = dis__resnet_build(r->net, &o);
    r->heads[r->n_heads++] =
        dis__head_soft(r->net, "head", dis__layer_linear(r->net, "out", r->resnet.trunk, 10, DIS_ACT_NONE), NULL);
    const size_t n = r->size * o.height * o.width * o.channels + BATCHES * 64;
    r->images = calloc(n, sizeof *r->images);
    for (size_t i = 0; i < n; i++) r->images[i] = (float)dis__random_normal(3, 1, i);
    r->feed = feed_images;
}

/* ---- tagger ---- */

/* Sentences of 4 to LONGEST words; six words of ten are new in the batch, spelt with 2 to SPELT letters. */
static void feed_sentences(void *arg, size_t which)
{
    run *r = arg;
    const size_t tokens = r->size;
    const dis__tagger_sizes most = dis__tagger_round(r->net, (dis__tagger_sizes){tokens, LONGEST, tokens, SPELT});
    const size_t characters = most.characters;
    int32_t *length = calloc(most.sentences, sizeof *length), *place = calloc(tokens, sizeof *place),
            *word = calloc(tokens, sizeof *word), *spelt = calloc(most.distinct, sizeof *spelt),
            *ids = calloc(most.sentences * most.positions, sizeof *ids),
            *letters = calloc(most.distinct * characters, sizeof *letters);
    size_t sentences = 0, longest = 0, distinct = 0;
    for (size_t t = 0; t < tokens; sentences++) {
        size_t n = 4 + (size_t)draw(which, sentences, 20) + (size_t)(draw(9, sentences, 8) == 0) * 16;
        n = n < tokens - t ? n : tokens - t;
        length[sentences] = (int32_t)n;
        longest = n > longest ? n : longest;
        t += n;
    }
    longest = dis__tagger_round(r->net, (dis__tagger_sizes){.positions = longest}).positions;
    for (size_t i = 0, t = 0; i < sentences; i++)
        for (size_t j = 0; j < (size_t)length[i]; j++, t++) {
            place[t] = (int32_t)(i * longest + j);
            ids[i * longest + j] = draw(10 + which, t, WORDS);
            word[t] = t == 0 || draw(11, t, 10) < 6 ? (int32_t)distinct++ : draw(12, t, distinct);
        }
    for (size_t i = 0; i < distinct; i++) {
        spelt[i] = 2 + draw(13 + which, i, 6) + (draw(14, i, 4) == 0) * draw(15, i, SPELT - 7);
        for (size_t j = 0; j < SPELT; j++) letters[i * characters + j] = draw(16, i * SPELT + j, LETTERS);
    }
    const dis__tagger_sizes now =
        dis__tagger_round(r->net, (dis__tagger_sizes){.sentences = sentences, .distinct = distinct});
    dis__net_resize(r->net, r->tagger.sentences, now.sentences);
    dis__net_resize(r->net, r->tagger.positions, longest);
    dis__net_resize(r->net, r->tagger.tokens, tokens);
    dis__net_resize(r->net, r->tagger.distinct, now.distinct);
    dis__net_resize(r->net, r->tagger.characters, characters);
    must(dis__net_put_ints(r->net, r->tagger.word_ids, ids));
    must(dis__net_put_ints(r->net, r->tagger.lengths, length));
    must(dis__net_put_ints(r->net, r->tagger.character_ids, letters));
    must(dis__net_put_ints(r->net, r->tagger.spelt, spelt));
    must(dis__net_put_ints(r->net, r->tagger.place, place));
    must(dis__net_put_ints(r->net, r->tagger.word, word));
    put_labels(r, which, tokens);
    free(length), free(place), free(word), free(spelt), free(ids), free(letters);
}

static void build_tagger(run *r)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.n_words = WORDS;
    o.n_characters = LETTERS;
    o.sentences = r->size / 4 + 1;
    o.positions = LONGEST;
    o.tokens = o.distinct = r->size;
    r->tagger = dis__tagger_build(r->net, &o);
    r->heads[r->n_heads++] =
        dis__head_soft(r->net, "gold", dis__tagger_head(r->net, &o, &r->tagger, "gold", CLASSES), NULL);
    r->heads[r->n_heads++] =
        dis__head_soft(r->net, "soft", dis__tagger_head(r->net, &o, &r->tagger, "soft", CLASSES), NULL);
    r->feed = feed_sentences;
}

/* ---- timing ---- */

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Milliseconds of a step; batches: how many there are in turn, 0: the one that is there. */
static double time_steps(run *r, size_t batches, size_t rounds)
{
    double *ms = calloc(rounds, sizeof *ms), loss;
    for (size_t i = 0; i < rounds; i++) {
        const double begun = now();
        for (size_t j = 0; j < ROUND; j++) {
            if (batches) r->feed(r, (i * ROUND + j) % batches);
            must(dis__net_train(r->net, 1e-4, true));
        }
        must(dis__net_get_loss(r->net, &loss)); /* waits */
        ms[i] = (now() - begun) / ROUND;
    }
    qsort(ms, rounds, sizeof *ms, by_size);
    const double median = ms[rounds / 2];
    free(ms);
    return median;
}

static uint64_t checksum(const dis__net *net)
{
    uint64_t h = 1469598103934665603u;
    for (size_t p = 0; p < dis__net_n_params(net); p++) {
        const size_t n = dis__net_param(net, p)->n;
        float *x = calloc(n, sizeof *x);
        must(dis__param_get_floats(net, p, x));
        for (size_t i = 0; i < n * sizeof *x; i++) h = (h ^ ((unsigned char *)x)[i]) * 1099511628211u;
        free(x);
    }
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: gpu_nets DEVICE resnet34|tagger SIZE [STEPS]\n");
        return 2;
    }
    const dis__device *device = dis__device_find(argv[1]);
    if (!device) {
        fprintf(stderr, "gpu_nets: no device %s\n", argv[1]);
        return 4;
    }
    const size_t steps = argc > 4 ? strtoul(argv[4], NULL, 10) : 200, rounds = steps / ROUND ? steps / ROUND : 1;
    run r = {.size = strtoul(argv[3], NULL, 10)};
    must(dis__net_create(device, 1, &r.net));
    if (strcmp(argv[2], "tagger") == 0)
        build_tagger(&r);
    else
        build_resnet(&r);
    dis__plan_options o = dis__plan_options_default();
    if (strcmp(argv[2], "tagger") != 0) {
        o.optimizer.kind = DIS_OPTIMIZER_SGD;
        o.optimizer.momentum = .9;
        o.optimizer.weight_decay = 1e-4;
    }
    must(dis__net_plan(r.net, NULL, &o));
    r.feed(&r, 0);
    time_steps(&r, 0, 1); /* kernels are loaded, products chosen, the step is recorded */
    const double same = time_steps(&r, 0, rounds);
    time_steps(&r, BATCHES, 2);
    const double fed = time_steps(&r, BATCHES, rounds);
    double step_seconds = 0;
    if (strcmp(argv[2], "tagger") != 0 && !device->shares) {
        r.feed = load_images;
        time_steps(&r, BATCHES, 2);
        step_seconds = time_steps(&r, BATCHES, rounds);
    }
    const double fresh = strcmp(argv[2], "tagger") == 0 ? time_steps(&r, SIZE_MAX, rounds) : 0;
    double loss;
    must(dis__net_get_loss(r.net, &loss));
    printf("{\"model\": \"%s\", \"size\": %zu, \"device\": \"%s\", \"parameters\": %zu, \"same\": %.4f, \"fed\": %.4f, "
           "\"taken\": %.4f, \"fresh\": %.4f, "
           "\"loss\": %.6f, \"checksum\": \"%016llx\"}\n",
           argv[2], r.size, device->name, dis__net_n_parameters(r.net), same, fed, step_seconds, fresh, loss,
           (unsigned long long)checksum(r.net));
    dis__net_destroy(r.net);
    free(r.images);
    return 0;
}
