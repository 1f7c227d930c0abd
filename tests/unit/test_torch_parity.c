/* Nets against PyTorch: forward, gradients and training of every model, with fixtures that
 * tests/parity/make_torch_fixtures.py and make_released_fixtures.py have made. The same start and batches give the same
 * losses, gradients, probabilities and parameters: to 1e-10 on `ref`, 1e-8 after training, and 1e-4 on `cpu`, which
 * computes in float32. What rounding to bfloat16 does to gradients is measured with `ref` alone (rounded_net.h):
 * networks this small, in which the winner of a maximum may turn on the last bit, are then compared with that and not
 * with PyTorch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "io/input/input.h"
#include "io/tensors/safetensors.h"
#include "nn/models/network_models.h"
#include "nn/net_internal.h"
#include "train/model.h"
#include "nn/devices.h"
#include "operations/rounded_net.h"

enum { K = 3, WORKERS = 4, MAX_BINDINGS = 16, TENSOR_NAME = 160 };
static const double RATE = .01;

/* Where the tensors of a batch go: values, integers, and sizes that they tell. */
typedef enum { AXIS, REALS, INTS } binding_kind;

typedef struct {
    const char *tensor;
    binding_kind kind;
    int number;
    size_t dim; /* AXIS: which one of the tensor */
    size_t per; /* AXIS: that many of it make one */
} binding;

typedef struct {
    dis__net *net;
    dis__model_inputs *in; /* of models that are built by their row */
    dis_model *model;      /* the same */
    int trunk, logits;
    size_t classes; /* 0: K */
    binding bind[MAX_BINDINGS];
    size_t n_bound;
    int head, second;
    int terms; /* head of terms of workers' vectors */
} fixture_net;

typedef struct {
    const char *name;
    void (*build)(fixture_net *f); /* up to the logits */
    dis__loss loss;
    int crowd; /* kind, or DIS_NONE */
    bool two;  /* labels, and a second head of KL in bits at weight .5 */
    bool momentum;
    bool turns; /* bfloat16 moves gradients by more than a tenth */
} parity_case;

static void bind(fixture_net *f, const char *tensor, binding_kind kind, int number, size_t dim, size_t per)
{
    assert_true(f->n_bound < MAX_BINDINGS);
    f->bind[f->n_bound++] = (binding){tensor, kind, number, dim, per};
}

/* ---- networks ---- */

/* The encoder is one of a model file. */
static void build_row(fixture_net *f, const char *spec, size_t rows, size_t longest, const char *encoder)
{
    const dis__batch_limits limits = {.units = rows, .items = rows, .longest = longest};
    assert_int_equal(dis__model_create(spec, "kl", &f->model), DIS_OK);
    const dis__model_row *row = f->model->row;
    dis__model_json source = {.path = "encoder"};
    const dis__json_position place = {.file = source.path};
    assert_int_equal(dis__json_parse(&source.json, encoder, strlen(encoder), &place, &source.root), DIS_OK);
    assert_int_equal(row->load(&source, source.root, NULL, f->model->encoder), DIS_OK);
    dis__json_free(&source.json);
    f->in = calloc(1, row->inputs_size);
    assert_int_equal(row->build(f->net, f->model->settings, f->model->encoder, &limits, f->in), DIS_OK);
    f->trunk = f->in->trunk;
    f->logits = dis__layer_linear(f->net, "out", f->trunk, K, DIS_ACT_NONE);
}

static void build_mlp(fixture_net *f)
{
    build_row(f, "mlp:hidden=6/4,dropout=0", 7, 1, "{\"features\": 5, \"shift\": [], \"scale\": []}");
    const int x = dis__net_find_reals(f->net, "features");
    bind(f, "x", AXIS, dis__shape_of(f->net, x)->rows, 0, 1);
    bind(f, "x", REALS, x, 0, 0);
}

/* Models that know who is asked, as train/worker_net.c builds them: rows mixed two by two, features of workers. */
static int build_with_workers(fixture_net *f, int *e)
{
    const int rows = dis__net_axis(f->net, 7), x = dis__net_reals(f->net, "x", dis__shape_rows(rows, 5));
    const int other = dis__net_ints(f->net, "rows", rows, DIS_NONE, 2);
    const int who = dis__net_ints(f->net, "workers", rows, DIS_NONE, 2);
    const int share = dis__net_reals(f->net, "share", (dis__shape){rows, DIS_NONE, 1, 2, 1});
    const int known = dis__net_reals(f->net, "known", dis__shape_rows(rows, 2));
    int h = dis__layer_linear(f->net, "hidden.1", dis__layer_linear(f->net, "hidden.0", x, 6, DIS_ACT_RELU), 4,
                              DIS_ACT_RELU);
    h = dis__layer_softmax_pool(f->net, dis__layer_gather(f->net, h, other), share, DIS_NONE);
    const int vectors = dis__layer_embed(f->net, "workers", who, WORKERS, 4);
    *e = dis__layer_add(f->net, dis__layer_softmax_pool(f->net, vectors, share, DIS_NONE),
                        dis__layer_linear(f->net, "workers.features", known, 4, DIS_ACT_NONE));
    f->terms = dis__head_pairs(f->net, "terms", vectors, 12);
    bind(f, "x", AXIS, rows, 0, 1);
    bind(f, "x", REALS, x, 0, 0);
    bind(f, "rows", INTS, other, 0, 0);
    bind(f, "workers", INTS, who, 0, 0);
    bind(f, "share", REALS, share, 0, 0);
    bind(f, "known", REALS, known, 0, 0);
    return h;
}

static void build_aart(fixture_net *f)
{
    int e;
    const int h = build_with_workers(f, &e);
    f->logits = dis__layer_linear(f->net, "out", dis__layer_layernorm(f->net, "workers.norm", e, h), K, DIS_ACT_NONE);
}

static void build_annot_mix(fixture_net *f)
{
    int e;
    const int h = build_with_workers(f, &e),
              both = dis__layer_concat(f->net, (int[]){dis__layer_stop(f->net, h), e}, 2);
    f->logits = dis__layer_confusion(f->net, dis__layer_linear(f->net, "out", h, K, DIS_ACT_NONE),
                                     dis__layer_linear(f->net, "workers.confusion", both, K * K, DIS_ACT_NONE));
}

/* Of two texts a model makes four lists of words, whose means stand side by side. */
static void build_text(fixture_net *f)
{
    build_row(f, "text:width=4,hidden=5,buckets=10,dropout=0", 8, 5,
              "{\"texts\": 2, \"vector_width\": 0, \"words_in_vectors\": 0, \"words\": []}");
    const int ids = dis__net_find_ints(f->net, "ids"), list = dis__net_find_ints(f->net, "list.0");
    bind(f, "ids", AXIS, f->net->ints[list].rows, 0, 4);
    bind(f, "ids", AXIS, f->net->ints[ids].rows, 0, 1);
    bind(f, "ids", AXIS, f->net->ints[ids].time, 1, 1);
    bind(f, "ids", INTS, ids, 0, 0);
    bind(f, "lengths", INTS, dis__net_find_ints(f->net, "lengths"), 0, 0);
}

static void build_stacked(fixture_net *f, dis__recurrent_cell cell)
{
    const int rows = dis__net_axis(f->net, 5), time = dis__net_axis(f->net, 5);
    const int words = dis__net_ints(f->net, "words", rows, time, 1);
    const int lengths = dis__net_ints(f->net, "lengths", rows, DIS_NONE, 1);
    const int x = dis__layer_embed(f->net, "words", words, 9, 3);
    const int y = dis__layer_recurrent(f->net, "reader", cell, x, lengths, 2, true, 2, 0);
    f->trunk = dis__layer_pool(f->net, y, lengths, DIS_POOL_ENDS);
    f->logits = dis__layer_linear(f->net, "out", f->trunk, K, DIS_ACT_NONE);
    bind(f, "words", AXIS, rows, 0, 1);
    bind(f, "words", AXIS, time, 1, 1);
    bind(f, "words", INTS, words, 0, 0);
    bind(f, "lengths", INTS, lengths, 0, 0);
}

static void build_stacked_lstm(fixture_net *f)
{
    build_stacked(f, DIS_CELL_LSTM);
}

static void build_stacked_gru(fixture_net *f)
{
    build_stacked(f, DIS_CELL_GRU);
}

static void build_tagger_with(fixture_net *f, dis__tagger_options o)
{
    o.n_words = 9 + o.padded;
    o.n_characters = 7 + o.padded;
    o.word_width = o.character_width = 3;
    o.hidden = 2;
    o.encoder.feed = 6;
    o.encoder.dropout = o.dropout = 0;
    o.sentences = 5;
    o.positions = 6;
    o.tokens = 30;
    o.distinct = 6;
    o.characters = 5;
    const dis__tagger t = dis__tagger_build(f->net, &o);
    f->trunk = t.trunk;
    f->logits = dis__tagger_head(f->net, &o, &t, "gold", K);
    bind(f, "words", AXIS, t.sentences, 0, 1);
    bind(f, "words", AXIS, t.positions, 1, 1);
    bind(f, "place", AXIS, t.tokens, 0, 1);
    bind(f, "characters", AXIS, t.distinct, 0, 1);
    bind(f, "characters", AXIS, t.characters, 1, 1);
    bind(f, "words", INTS, t.word_ids, 0, 0);
    bind(f, "lengths", INTS, t.lengths, 0, 0);
    bind(f, "characters", INTS, t.character_ids, 0, 0);
    bind(f, "spelt", INTS, t.spelt, 0, 0);
    bind(f, "place", INTS, t.place, 0, 0);
    bind(f, "word", INTS, t.word, 0, 0);
    if (o.padded) bind(f, "reversed", INTS, t.reversed, 0, 0);
    if (o.padded) bind(f, "from_end", INTS, t.from_end, 0, 0);
    if (o.last_state) bind(f, "last", INTS, t.last, 0, 0);
}

static void build_tagger(fixture_net *f, dis__tagger_kind kind, dis__recurrent_cell cell)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = kind;
    o.cell = cell;
    o.encoder.layers = 1;
    build_tagger_with(f, o);
}

static void build_tagger_released(fixture_net *f)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.encoder.position = o.encoder.final_norm = o.encoder.sample_norm = true;
    o.padded = o.last_state = true;
    o.head_relu = false;
    build_tagger_with(f, o);
}

static void build_tagger_linear(fixture_net *f)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = DIS_TAGGER_LINEAR;
    o.frozen = true;
    o.linear[o.n_linears++] = 7;
    o.linear[o.n_linears++] = 5;
    build_tagger_with(f, o);
}

static void build_tagger_encoder(fixture_net *f)
{
    build_tagger(f, DIS_TAGGER_ENCODER, DIS_CELL_LSTM);
}

static void build_tagger_additive(fixture_net *f)
{
    build_tagger(f, DIS_TAGGER_ADDITIVE, DIS_CELL_LSTM);
}

static void build_tagger_gru(fixture_net *f)
{
    build_tagger(f, DIS_TAGGER_ADDITIVE, DIS_CELL_GRU);
}

static void build_stem(fixture_net *f, dis__stem_cnn_options o)
{
    o.width = 4;
    o.length = 7;
    o.channels[1] = 3;
    o.windows[0] = 2;
    o.windows[1] = 3;
    o.n_windows = 2;
    o.encoder.feed = 5;
    o.encoder.dropout = 0;
    o.rows = 8;
    const dis__stem_cnn s = dis__stem_cnn_build(f->net, &o);
    f->trunk = s.trunk;
    bind(f, "word", AXIS, s.rows, 0, 1);
    bind(f, "word", INTS, s.text[0], 0, 0);
    bind(f, "stem", INTS, s.text[1], 0, 0);
}

static void build_stem_cnn(fixture_net *f)
{
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.n_characters = 8;
    o.channels[0] = 2;
    build_stem(f, o);
    f->logits = dis__layer_linear(f->net, "out", f->trunk, K, DIS_ACT_NONE);
}

/* The main head is a sigmoid: a softmax with 0 as the other logit. */
static void build_stem_released(fixture_net *f)
{
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.n_characters = 9;
    o.channels[0] = 0;
    o.encoder.position = o.encoder.final_norm = o.encoder.sample_norm = true;
    build_stem(f, o);
    f->classes = 2;
    f->logits = dis__layer_shortcut(f->net, dis__layer_linear(f->net, "out", f->trunk, 1, DIS_ACT_NONE), 1, 2);
}

static void build_resnet(fixture_net *f, dis__resnet_kind kind)
{
    dis__resnet_options o = dis__resnet_options_default();
    o.kind = kind;
    o.height = 7;
    o.width = 6;
    o.first_width = 2;
    for (size_t s = 0; s < 4; s++) o.blocks[s] = s < (kind == DIS_RESNET_CIFAR ? 3 : 2);
    o.rows = 6;
    const dis__resnet r = dis__resnet_build(f->net, &o);
    f->trunk = r.trunk;
    f->logits = dis__layer_linear(f->net, "out", r.trunk, K, DIS_ACT_NONE);
    bind(f, "images", AXIS, r.rows, 0, 1);
    bind(f, "images", REALS, r.images, 0, 0);
}

static void build_resnet_cifar(fixture_net *f)
{
    build_resnet(f, DIS_RESNET_CIFAR);
}

static void build_resnet_imagenet(fixture_net *f)
{
    build_resnet(f, DIS_RESNET_IMAGENET);
}

/* A block as BERT's, normalised after attention and feed-forward. */
static int encoder_block(dis__net *net, int layer, int x, int start, int length, const dis__packed_attention_options *o)
{
    char name[32];
    dis__layernorm_options norm = dis__layernorm_options_default();
    dis__linear_options bare = dis__linear_options_default();
    norm.epsilon = 1e-3;
    bare.bias = false;
#define NAME(what) (snprintf(name, sizeof name, "layer.%d." what, layer), name)
    int y = dis__layer_linear(net, NAME("qkv"), x, 24, DIS_ACT_NONE);
    y = dis__layer_packed_attention(net, NAME("packed_attention"), y, start, length, o);
    y = dis__layer_linear(net, NAME("proj"), y, 8, DIS_ACT_NONE);
    x = dis__layer_layernorm_with(net, NAME("norm1"), y, x, &norm);
    y = dis__layer_linear(net, NAME("up"), x, 11, DIS_ACT_GELU);
    y = dis__layer_linear_with(net, NAME("down"), y, 8, &bare);
    return dis__layer_layernorm_with(net, NAME("norm2"), y, x, &norm);
#undef NAME
}

static void build_encoder(fixture_net *f)
{
    const int rows = dis__net_axis(f->net, 5), tokens = dis__net_axis_packed(f->net, 28);
    const int ids = dis__net_ints(f->net, "ids", tokens, DIS_NONE, 1);
    const int places = dis__net_ints(f->net, "places", tokens, DIS_NONE, 1);
    const int start = dis__net_ints(f->net, "start", rows, DIS_NONE, 1);
    const int length = dis__net_ints(f->net, "length", rows, DIS_NONE, 1);
    dis__layernorm_options norm = dis__layernorm_options_default();
    dis__packed_attention_options o = dis__packed_attention_options_default();
    norm.epsilon = 1e-3;
    o.n_heads = 2;
    o.longest = 12;
    o.bias = dis__layer_table(f->net, "relative", 8, 2);
    o.farthest = 7;
    int x = dis__layer_embed(f->net, "words", ids, 9, 8), y = dis__layer_embed(f->net, "places", places, 12, 8);
    x = dis__layer_layernorm_with(f->net, "norm", x, y, &norm);
    for (int layer = 0; layer < 2; layer++) x = encoder_block(f->net, layer, x, start, length, &o);
    y = dis__layer_pool_packed(f->net, x, start, length, DIS_POOL_FIRST);
    f->trunk = dis__layer_linear(f->net, "pooler", y, 8, DIS_ACT_TANH);
    f->logits = dis__layer_linear(f->net, "out", f->trunk, K, DIS_ACT_NONE);
    bind(f, "start", AXIS, rows, 0, 1);
    bind(f, "ids", AXIS, tokens, 0, 1);
    bind(f, "ids", INTS, ids, 0, 0);
    bind(f, "places", INTS, places, 0, 0);
    bind(f, "start", INTS, start, 0, 0);
    bind(f, "length", INTS, length, 0, 0);
}

static const parity_case cases[] = {
    {"mlp_ce", build_mlp, DIS_LOSS_CE, DIS_NONE, false, true, false},
    {"mlp_kl", build_mlp, DIS_LOSS_KL, DIS_NONE, false, true, false},
    {"mlp_inverse_kl", build_mlp, DIS_LOSS_INVERSE_KL, DIS_NONE, false, true, false},
    {"mlp_js", build_mlp, DIS_LOSS_JS, DIS_NONE, false, true, false},
    {"mlp_two", build_mlp, DIS_LOSS_CE, DIS_NONE, true, true, false},
    {"mlp_crowd_mw", build_mlp, DIS_LOSS_CE, DIS_CROWD_MW, false, true, false},
    {"mlp_crowd_vw", build_mlp, DIS_LOSS_CE, DIS_CROWD_VW, false, true, false},
    {"mlp_crowd_vb", build_mlp, DIS_LOSS_CE, DIS_CROWD_VB, false, true, false},
    {"mlp_crowd_vwb", build_mlp, DIS_LOSS_CE, DIS_CROWD_VWB, false, true, false},
    {"mlp_crowd_sw", build_mlp, DIS_LOSS_CE, DIS_CROWD_SW, false, true, false},
    {"text", build_text, DIS_LOSS_KL, DIS_NONE, false, false, false},
    {"stacked_lstm", build_stacked_lstm, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"stacked_gru", build_stacked_gru, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"tagger_encoder", build_tagger_encoder, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"tagger_additive", build_tagger_additive, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"tagger_gru", build_tagger_gru, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"stem_cnn", build_stem_cnn, DIS_LOSS_INVERSE_KL, DIS_NONE, false, false, true},
    {"tagger_released", build_tagger_released, DIS_LOSS_INVERSE_KL, DIS_NONE, false, false, true},
    {"tagger_linear", build_tagger_linear, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"stem_released", build_stem_released, DIS_LOSS_CE, DIS_NONE, true, false, true},
    {"encoder", build_encoder, DIS_LOSS_KL, DIS_NONE, false, false, false},
    {"resnet_cifar", build_resnet_cifar, DIS_LOSS_CE, DIS_NONE, false, false, true},
    {"aart", build_aart, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"annot_mix", build_annot_mix, DIS_LOSS_CE, DIS_NONE, false, false, false},
    {"resnet_imagenet", build_resnet_imagenet, DIS_LOSS_JS, DIS_NONE, false, false, false},
};

/* ---- fixtures ---- */

typedef struct {
    const parity_case *c;
    const char *path;
    dis__input input;
    dis__safetensors file;
    double tolerance;
    const dis__device *device;
    double worst; /* of all that was compared, relative to the tolerance */
    double stir;  /* the start is changed by that much, relatively */
} parity;

static const dis__tensor *tensor(const parity *p, const char *format, ...)
{
    char name[TENSOR_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    const dis__tensor *t = dis__safetensors_find(&p->file, name);
    if (!t) fail_msg("%s: no %s", p->path, name);
    return t;
}

/* A copy that the caller frees. */
static void *numbers(const dis__tensor *t)
{
    const size_t bytes = t->n * t->dtype->size;
    void *x = malloc(bytes ? bytes : 1);
    memcpy(x, t->data, bytes);
    return x;
}

/* stirred: what came out on ref from a start that was stirred a little; NULL: not known. What differs there may differ
 * twice as much here. */
static void compare_with(parity *p, const char *what, const char *name, const double *have, const dis__tensor *wanted,
                         const double *stirred)
{
    double *x = numbers(wanted);
    for (size_t i = 0; i < wanted->n; i++) {
        const double slack = stirred ? 2 * fabs(stirred[i] - x[i]) : 0;
        const double off = fabs(have[i] - x[i]) / (p->tolerance * fmax(1, fabs(x[i])) + slack);
        if (!(off <= 1))
            fail_msg("%s on %s: %s %s [%zu] is %.12g, PyTorch has %.12g", p->c->name, p->device->name, what, name, i,
                     have[i], x[i]);
        if (off > p->worst) p->worst = off;
    }
    free(x);
}

static void compare(parity *p, const char *what, const char *name, const double *have, const dis__tensor *wanted)
{
    compare_with(p, what, name, have, wanted, NULL);
}

static void put_batch(const parity *p, fixture_net *f, size_t batch)
{
    for (size_t i = 0; i < f->n_bound; i++) {
        const binding *b = &f->bind[i];
        const dis__tensor *t = tensor(p, "batch.%zu/%s", batch, b->tensor);
        if (b->kind == AXIS) {
            dis__net_resize(f->net, b->number, t->dim[b->dim] / b->per);
            continue;
        }
        void *x = numbers(t);
        if (b->kind == REALS)
            dis__net_put_exact(f->net, b->number, x);
        else
            dis__net_put_ints(f->net, b->number, x);
        free(x);
    }
    if (p->c->build == build_text) { /* list l of row i is bag 4 i + l */
        const size_t rows = tensor(p, "batch.%zu/ids", batch)->dim[0] / 4;
        int32_t at[8];
        for (size_t l = 0; l < 4; l++) {
            for (size_t i = 0; i < rows; i++) at[i] = (int32_t)(4 * i + l);
            char name[16];
            snprintf(name, sizeof name, "list.%zu", l);
            dis__net_put_ints(f->net, dis__net_find_ints(f->net, name), at);
        }
    }
    if (p->c->build == build_aart || p->c->build == build_annot_mix) {
        const dis__tensor *t = tensor(p, "batch.%zu/pair", batch);
        int32_t *pair = numbers(t);
        double *exact = numbers(tensor(p, "batch.%zu/pair_weight", batch));
        float weight[12];
        for (size_t i = 0; i < t->dim[0]; i++) weight[i] = (float)exact[i];
        assert_int_equal(dis__head_put_pairs(f->net, f->terms, t->dim[0], pair, weight), DIS_OK);
        free(pair);
        free(exact);
    }
    if (p->c->crowd != DIS_NONE) {
        const dis__tensor *t = tensor(p, "batch.%zu/vote_row", batch);
        int32_t *row = numbers(t), *worker = numbers(tensor(p, "batch.%zu/vote_worker", batch)),
                *label = numbers(tensor(p, "batch.%zu/vote_label", batch));
        assert_int_equal(dis__head_put_votes(f->net, f->head, t->n, row, worker, label), DIS_OK);
        free(row);
        free(worker);
        free(label);
        return;
    }
    double *target = numbers(tensor(p, "batch.%zu/target", batch)),
           *weight = numbers(tensor(p, "batch.%zu/weight", batch));
    dis__head_put_exact(f->net, p->c->two ? f->second : f->head, target, weight);
    free(target);
    free(weight);
    if (p->c->two) {
        int32_t *label = numbers(tensor(p, "batch.%zu/label", batch));
        dis__head_put_labels(f->net, f->head, label);
        free(label);
    }
}

static void add_heads(const parity_case *c, fixture_net *f)
{
    if (c->crowd != DIS_NONE) {
        dis__crowd_head_options o = dis__crowd_head_options_default();
        o.kind = (dis__crowd)c->crowd;
        o.on_probabilities = true;
        f->head = dis__head_crowd(f->net, "crowd", f->logits, WORKERS, 40, &o);
        return;
    }
    dis__soft_head_options o = dis__soft_head_options_default();
    o.loss = c->loss;
    f->head = dis__head_soft(f->net, "head", f->logits, &o);
    if (!c->two) return;
    o.loss = DIS_LOSS_KL;
    o.weight = .5;
    o.base = 2;
    f->second =
        dis__head_soft(f->net, "soft",
                       dis__layer_linear(f->net, "soft.out", f->trunk, f->classes ? f->classes : K, DIS_ACT_NONE), &o);
}

/* Built, planned, and at the fixture's start: every parameter of the network is there in the same shape. */
static void make(const parity *p, const dis__optimizer_options *optimizer, fixture_net *f)
{
    dis__plan_options o = dis__plan_options_default();
    if (optimizer) o.optimizer = *optimizer;
    *f = (fixture_net){0};
    assert_int_equal(dis__net_create(p->device, 1, &f->net), DIS_OK);
    p->c->build(f);
    add_heads(p->c, f);
    if (dis__net_plan(f->net, NULL, &o) != DIS_OK) fail_msg("%s: %s", p->c->name, dis_last_error());
    for (size_t i = 0; i < dis__net_n_params(f->net); i++) {
        const dis__param_info *info = dis__net_param(f->net, i);
        const dis__tensor *t = tensor(p, "start/%s", info->name);
        assert_int_equal(t->n_dims, info->n_dims);
        for (size_t d = 0; d < t->n_dims; d++) assert_int_equal(t->dim[d], info->dim[d]);
        double *x = numbers(t);
        for (size_t j = 0; p->stir > 0 && j < t->n; j++) x[j] *= 1 + p->stir * sin((double)(77 * i + j));
        dis__param_put(f->net, i, x);
        free(x);
    }
}

static void destroy(fixture_net *f)
{
    dis__net_destroy(f->net);
    if (f->in && f->model->row->free_inputs) f->model->row->free_inputs(f->in);
    free(f->in);
    dis_model_destroy(f->model);
}

/* Adam scales a gradient that is nothing but rounding up to a whole step: a bias that softmax takes out again. */
static bool undetermined(const parity *p, const char *name)
{
    return p->device != &dis__device_ref && strcmp(name, "attention.score.bias") == 0;
}

/* Nor do keys' biases change any share: the middle third of queries', keys' and values'. */
static void leave_out(const parity *p, const char *name, double *x, const dis__tensor *wanted)
{
    const char *end = strrchr(name, 'q');
    if (p->device == &dis__device_ref || !end || strcmp(end, "qkv.bias") != 0) return;
    double *y = numbers(wanted);
    memcpy(x + wanted->n / 3, y + wanted->n / 3, wanted->n / 3 * sizeof *x);
    free(y);
}

static void compare_params(parity *p, const fixture_net *f, const char *prefix, const char *what,
                           dis_status (*get)(const dis__net *net, size_t param, double *x), bool trained_only,
                           const double *stirred)
{
    size_t at = 0;
    for (size_t i = 0; i < dis__net_n_params(f->net); at += dis__net_param(f->net, i++)->n) {
        const dis__param_info *info = dis__net_param(f->net, i);
        if ((trained_only && !info->trained) || undetermined(p, info->name)) continue;
        double *x = calloc(info->n, sizeof *x);
        assert_int_equal(get(f->net, i, x), DIS_OK);
        const dis__tensor *wanted = tensor(p, "%s%s", prefix, info->name);
        leave_out(p, info->name, x, wanted);
        compare_with(p, what, info->name, x, wanted, stirred ? stirred + at : NULL);
        free(x);
    }
}

static void compare_q(parity *p, const fixture_net *f, const char *what, const dis__tensor *wanted)
{
    double *q = calloc(wanted->n, sizeof *q);
    dis__head_get(f->net, f->head, q);
    compare(p, what, "q", q, wanted);
    free(q);
}

static void forward_and_backward(parity *p)
{
    fixture_net f;
    const double tolerance = p->tolerance;
    if (p->device == &dis__device_ref) p->tolerance = 1e-10;
    make(p, NULL, &f);
    put_batch(p, &f, 0);
    assert_int_equal(dis__net_forward(f.net, true), DIS_OK);
    const double loss = dis__net_loss(f.net);
    compare(p, "forward", "loss", &loss, tensor(p, "loss"));
    compare_q(p, &f, "forward", tensor(p, "q"));
    assert_int_equal(dis__net_backward(f.net), DIS_OK);
    if (!p->c->turns || p->device->number[DIS_ROLE_VALUE] != DIS_BFLOAT16)
        compare_params(p, &f, "grad/", "gradient of", dis__param_get_grad, true, NULL);
    p->tolerance = tolerance;
    p->worst = 0;
    destroy(&f);
}

/* All gradients after one pass, one after the other; the caller frees them. */
static double *gradients(const parity *p, bool in_bfloat16, size_t *n)
{
    static rounded_kind kinds[ROUNDED_LAYERS];
    fixture_net f;
    make(p, NULL, &f);
    if (in_bfloat16) rounded_begin(f.net, kinds);
    put_batch(p, &f, 0);
    assert_int_equal(dis__net_forward(f.net, true), DIS_OK);
    assert_int_equal(dis__net_backward(f.net), DIS_OK);
    double *x = calloc(f.net->n_numbers + 1, sizeof *x);
    *n = 0;
    for (size_t i = 0; i < dis__net_n_params(f.net); i++) {
        const dis__param_info *info = dis__net_param(f.net, i);
        if (info->trained) assert_int_equal(dis__param_get_grad(f.net, i, x + *n), DIS_OK);
        if (info->trained) *n += info->n;
    }
    destroy(&f);
    return x;
}

/* The norm of what differs, by that of the second. */
static double apart(const double *x, const double *y, size_t n)
{
    double off = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        off += (x[i] - y[i]) * (x[i] - y[i]);
        all += y[i] * y[i];
    }
    return sqrt(off / all);
}

/* How far rounding to bfloat16 moves the gradients of `ref`, and how far those of the device are from these. */
static void compare_rounding(const parity *p, double *moved, double *off)
{
    parity q = *p;
    size_t n, m;
    q.device = &dis__device_ref;
    double *exact = gradients(&q, false, &n);
    q.device = rounded_device();
    double *wanted = gradients(&q, true, &m);
    assert_int_equal(n, m);
    *moved = apart(wanted, exact, n);
    double *have = gradients(p, false, &m);
    *off = apart(have, wanted, n);
    free(exact);
    free(wanted);
    free(have);
}

/* All steps of the fixture, whose losses it returns; the caller frees them. */
static double *run_steps(const parity *p, fixture_net *f, size_t n)
{
    double *losses = calloc(n, sizeof *losses);
    for (size_t s = 0; s < n; s++) {
        put_batch(p, f, s % 2);
        assert_int_equal(dis__net_forward(f->net, true), DIS_OK);
        losses[s] = dis__net_loss(f->net);
        assert_int_equal(dis__net_backward(f->net), DIS_OK);
        assert_int_equal(dis__net_step(f->net, RATE), DIS_OK);
    }
    return losses;
}

/* The parameters after these steps on ref, from a start that differs by what float32 adds up to: Adam divides by the
 * size of a gradient, and one that passes 0 turns rounding into parts of a step. NULL where the device is exact. */
static double *stirred_params(const parity *p, const dis__optimizer_options *optimizer, size_t n_steps)
{
    fixture_net f;
    parity q = *p;
    if (strcmp(p->device->row->machine, "cuda") != 0) return NULL;
    q.device = &dis__device_ref;
    q.stir = 1e-6;
    make(&q, optimizer, &f);
    free(run_steps(&q, &f, n_steps));
    double *x = calloc(f.net->n_numbers + 1, sizeof *x);
    for (size_t i = 0, at = 0; i < dis__net_n_params(f.net); at += dis__net_param(f.net, i++)->n)
        dis__param_get(f.net, i, x + at);
    destroy(&f);
    return x;
}

static void train(parity *p, const char *name, const dis__optimizer_options *optimizer)
{
    fixture_net f;
    const dis__tensor *wanted = tensor(p, "%s/losses", name);
    assert_true(wanted->n == 20 || (wanted->n == 5 && strncmp(p->c->name, "resnet", 6) == 0));
    double *stirred = stirred_params(p, optimizer, wanted->n);
    make(p, optimizer, &f);
    double *losses = run_steps(p, &f, wanted->n);
    compare(p, name, "loss of step", losses, wanted);
    free(losses);
    char prefix[TENSOR_NAME];
    snprintf(prefix, sizeof prefix, "%s/final/", name);
    compare_params(p, &f, prefix, name, dis__param_get, false, stirred);
    free(stirred);
    put_batch(p, &f, 0);
    assert_int_equal(dis__net_forward(f.net, false), DIS_OK);
    compare_q(p, &f, name, tensor(p, "%s/q", name));
    destroy(&f);
}

/* What rounding alone does to the gradients. */
static void check_rounding(const parity *p)
{
    const bool rough = p->device->number[DIS_ROLE_VALUE] == DIS_BFLOAT16;
    double moved, off;
    if (!rough && p->device != &dis__device_ref) return;
    compare_rounding(p, &moved, &off);
    const double bound = p->c->turns ? .5 : .15;
    if (!(moved <= bound)) fail_msg("%s: rounding moves gradients by %.2g", p->c->name, moved);
    if (rough && !(off <= .05))
        fail_msg("%s on %s: gradients are %.2g off those of ref, rounded", p->c->name, p->device->name, off);
    print_message("%-16s rounding moves gradients by %.2g; %s is %.2g from there\n", p->c->name, moved, p->device->name,
                  off);
}

static void compare_case(const parity_case *c, const dis__device *device, double tolerance)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/parity/fixtures/torch_%s.safetensors", DIS_SOURCE_DIR, c->name);
    parity p = {.c = c, .path = path, .tolerance = tolerance, .device = device};
    assert_int_equal(dis__input_open(NULL, path, &p.input), DIS_OK);
    if (dis__safetensors_open(path, p.input.bytes, p.input.n, &p.file) != DIS_OK) fail_msg("%s", dis_last_error());
    forward_and_backward(&p);
    /* In bfloat16 Adam makes whole steps of what is rounding: gradients are compared, steps are not. */
    const bool rough = device->number[DIS_ROLE_VALUE] == DIS_BFLOAT16;
    static const struct {
        const char *name;
        dis__optimizer_kind kind;
        double momentum, decay;
        bool nesterov, decay_all;
    } optimizers[] = {
        {"momentum", DIS_OPTIMIZER_SGD, .9, .01, false, true},
        {"nesterov", DIS_OPTIMIZER_SGD, .9, 0, true, true},
        {"adam", DIS_OPTIMIZER_ADAM, 0, .01, false, true},
        {"adamw", DIS_OPTIMIZER_ADAMW, 0, .1, false, false},
    };
    for (size_t i = c->momentum ? 0 : 1; !rough && i < sizeof optimizers / sizeof *optimizers; i++) {
        dis__optimizer_options o = dis__optimizer_options_default();
        o.kind = optimizers[i].kind;
        o.momentum = optimizers[i].momentum;
        o.nesterov = optimizers[i].nesterov;
        o.weight_decay = optimizers[i].decay;
        o.decay_all = optimizers[i].decay_all;
        train(&p, optimizers[i].name, &o);
    }
    check_rounding(&p);
    print_message("%-16s %s: largest difference %.1e\n", c->name, device->name, p.worst * tolerance);
    dis__safetensors_close(&p.file);
    dis__input_close(&p.input);
}

static void exact(void **state)
{
    compare_case(*state, &dis__device_ref, 1e-8);
}

static void fast(void **state)
{
    compare_case(*state, &dis__device_cpu, 1e-4);
}

/* On CUDA devices, where there are any. */
#define EXACT 1e-4
#define BF16  .05
static void on_cuda(void **state)
{
    bool any = false;
    for (size_t i = 0; dis__device_at(i); i++) {
        const dis__device *device = dis__device_at(i);
        if (strcmp(device->row->machine, "cuda") != 0) continue;
        compare_case(*state, device, device->number[DIS_ROLE_VALUE] == DIS_FLOAT32 ? EXACT : BF16);
        any = true;
    }
    if (!any) skip();
}

int main(void)
{
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[3 * N];
    if (dis__device_rows_missing()) printf("on_cuda is skipped: no CUDA device: %s\n", dis__device_rows_missing());
    for (size_t i = 0; i < N; i++) {
        tests[3 * i + 2] = (struct CMUnitTest){cases[i].name, on_cuda, NULL, NULL, (void *)&cases[i]};
        tests[3 * i] = (struct CMUnitTest){cases[i].name, exact, NULL, NULL, (void *)&cases[i]};
        tests[3 * i + 1] = (struct CMUnitTest){cases[i].name, fast, NULL, NULL, (void *)&cases[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
