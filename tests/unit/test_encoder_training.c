/* Fine-tuning of encoders against PyTorch: 20 steps of AdamW with warm-up, decay and clipping of a tiny BERT as a
 * whole, with frozen layers, with layer-wise rates, with LoRA and as multiple choice (fixtures of
 * tests/parity/make_encoder_training_fixtures.py), to 1e-8 on `ref` and 1e-4 on `cpu`; LoRA's models, merged, exported
 * and resumed; accumulated batches. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "support/train_support.h"
#include "train/models/encoder_model.h"
#include "train/loop/training.h"
#include "io/input/input.h"
#include "io/tensors/safetensors.h"

#define FOLDER DIS_SOURCE_DIR "/tests/parity/fixtures/encoders/bert_training"
enum { STEPS = 20, WARM_UP = 4, ROWS = 6 };

/* Pairs are the first and the second text; choices are the second, third and fourth, behind two texts that they
 * share. */
static const char items_text[] = "task,before,first,second,third,fourth\n"
                                 "1,it is red,the red apple,a man,two,apple\n"
                                 "2,so,green pears and plums,,red,pears and plums\n"
                                 "3,what?,one,two three four,three,four\n"
                                 "4,,nothing at all,everything,at all,blue\n"
                                 "5,all,\"blue, blue and blue!\",red,a man eats,blue\n"
                                 "6,who,a man eats a pear,nobody eats,one,nothing\n";
static const char *const columns[] = {"before", "first", "second", "third", "fourth"};

static const struct {
    const char *name, *spec;
} cases[] = {
    {"whole", "encoder"},
    {"frozen", "encoder:frozen=1"},
    {"embeddings", "encoder:frozen=0"},
    {"decayed", "encoder:layer-decay=0.7"},
    {"lora", "encoder:lora=2,lora-alpha=3,lora-dropout=0"},
    {"lora-all", "encoder:lora=3,lora-alpha=3,lora-dropout=0,lora-targets=all"},
    {"choices", "encoder:choices=3"},
    {"lora-frozen", "encoder:lora=2,lora-alpha=8,lora-dropout=0,frozen=1,layer-decay=0.5"},
};

typedef struct {
    const char *name;
    double tolerance, worst;
    dis__input in;
    dis__safetensors file;
    dis_items *items;
    dis_model *model;
    dis__encoded_items *encoded;
    dis__model_net built;
} fixture;

static const dis__tensor *find(const fixture *f, const char *what, const char *name)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s%s", f->name ? f->name : "", f->name ? "/" : "", what, name);
    return dis__safetensors_find(&f->file, text);
}

static void compare(fixture *f, const char *what, const double *have, const dis__tensor *t)
{
    const double *wanted = (const double *)t->data;
    for (size_t i = 0; i < t->n; i++) {
        double x;
        memcpy(&x, wanted + i, sizeof x);
        const double off = fabs(have[i] - x) / (f->tolerance * fmax(1, fabs(x)));
        if (!(off <= 1)) fail_msg("%s: %s [%zu] is %.12g, PyTorch has %.12g", f->name, what, i, have[i], x);
        if (off > f->worst) f->worst = off;
    }
}

static void put_start(fixture *f, const char *param, const dis__tensor *t)
{
    double x[1024];
    assert_true(t && t->n <= sizeof x / sizeof *x);
    memcpy(x, t->data, t->n * sizeof *x);
    const size_t p = dis__net_find_param(f->built.net, param);
    assert_true(p != SIZE_MAX && dis__net_param(f->built.net, p)->n == t->n);
    assert_int_equal(dis__param_put(f->built.net, p, x), DIS_OK);
}

static void open_fixture(fixture *f, size_t i, const dis__device *device, double tolerance)
{
    *f = (fixture){.name = cases[i].name, .tolerance = tolerance};
    assert_int_equal(dis__input_open(NULL, FOLDER "/training.safetensors", &f->in), DIS_OK);
    assert_int_equal(dis__safetensors_open("training", f->in.bytes, f->in.n, &f->file), DIS_OK);
    dis_items_options how = dis_items_options_default();
    const bool choices = strcmp(f->name, "choices") == 0;
    how.columns = columns + !choices;
    how.n_columns = choices ? 5 : 2;
    assert_int_equal(dis_items_read(NULL, put_text("items.csv", items_text), &how, &f->items), DIS_OK);
    assert_int_equal(dis__model_create(cases[i].spec, "gold", &f->model), DIS_OK);
    f->model->device = device;
    static const char *const names[] = {"0", "1", "2"};
    assert_int_equal(dis_names_create(names, 3, &f->model->classes), DIS_OK);
    const dis_items_view v = dis_items_get_view(f->items);
    const dis__preprocessor_files files = {.encoder = FOLDER};
    assert_int_equal(f->model->row->learn(NULL, f->model->settings, &v, &files, f->model->encoder), DIS_OK);
    assert_int_equal(dis__encode_items(NULL, f->model, &v, &f->encoded), DIS_OK);
    const dis__batch_limits limits = dis__batch_limits_compute(f->encoded, ROWS);
    dis__plan_options plan = dis__plan_options_default();
    plan.optimizer.kind = DIS_OPTIMIZER_ADAMW;
    plan.optimizer.weight_decay = .01;
    plan.optimizer.clip = 1;
    assert_int_equal(dis__model_net_build(f->model, &limits, 1, NULL, NULL, &f->built), DIS_OK);
    assert_int_equal(dis__net_plan(f->built.net, NULL, &plan), DIS_OK);
    assert_int_equal(f->model->row->start(NULL, f->built.net, f->model->encoder), DIS_OK);
    if (!choices) {
        put_start(f, "out.weight", dis__safetensors_find(&f->file, "out.weight"));
        put_start(f, "out.bias", dis__safetensors_find(&f->file, "out.bias"));
    }
    for (size_t p = 0; p < dis__net_n_params(f->built.net); p++) {
        const char *name = dis__net_param(f->built.net, p)->name;
        if (find(f, "start.", name)) put_start(f, name, find(f, "start.", name));
    }
}

static void close_fixture(fixture *f)
{
    dis__model_net_free(&f->built);
    dis__encoded_items_free(f->model, f->encoded);
    dis_model_destroy(f->model);
    dis_items_destroy(f->items);
    dis__safetensors_close(&f->file);
    dis__input_close(&f->in);
}

static void put_batch(fixture *f)
{
    static const uint32_t unit[ROWS] = {0, 1, 2, 3, 4, 5};
    int32_t label[ROWS];
    memcpy(label, dis__safetensors_find(&f->file, "labels")->data, sizeof label);
    const dis__unit_batch batch = {.unit = unit, .n = ROWS, .training = true};
    assert_int_equal(f->model->row->put(f->built.net, f->built.in, f->encoded, &batch), DIS_OK);
    assert_int_equal(dis__head_put_labels(f->built.net, f->built.head[0], label), DIS_OK);
}

static void twenty_steps(fixture *f)
{
    dis__schedule schedule = dis__schedule_default();
    double losses[STEPS];
    schedule.kind = DIS_SCHEDULE_LINEAR;
    schedule.rate = 1e-2;
    schedule.warm_up = WARM_UP;
    schedule.steps = STEPS;
    for (uint64_t s = 0; s < STEPS; s++) {
        put_batch(f);
        assert_int_equal(dis__net_train(f->built.net, dis__schedule_rate(&schedule, s), true), DIS_OK);
        losses[s] = dis__net_loss(f->built.net);
    }
    compare(f, "losses", losses, find(f, "losses", ""));
}

/* What LoRA has become, and what the model predicts with it merged. */
static void compare_end(fixture *f)
{
    double x[1024], q[ROWS * 3];
    for (size_t p = 0; p < dis__net_n_params(f->built.net); p++) {
        const dis__param_info *info = dis__net_param(f->built.net, p);
        if (strncmp(info->name, "lora.", 5) != 0) continue;
        assert_int_equal(dis__param_get(f->built.net, p, x), DIS_OK);
        assert_non_null(find(f, "end.", info->name));
        compare(f, info->name, x, find(f, "end.", info->name));
    }
    double logits[ROWS * 3], wanted[ROWS * 3];
    memcpy(logits, find(f, "logits", "")->data, sizeof logits);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++) sum += wanted[i * 3 + k] = exp(logits[i * 3 + k]);
        for (size_t k = 0; k < 3; k++) wanted[i * 3 + k] /= sum;
    }
    const dis__batch_limits limits = dis__batch_limits_compute(f->encoded, ROWS);
    assert_int_equal(dis__model_weights_get(f->built.net, &f->model->weights), DIS_OK);
    assert_int_equal(dis__model_prepare_prediction(NULL, f->model, &limits, 0), DIS_OK);
    assert_int_equal(dis__net_find_param(f->model->ready.net, "lora.layer.1.qkv.a"), SIZE_MAX);
    assert_int_equal(dis__model_net_predict(&f->model->ready, f->model, f->encoded, 0, &limits, q), DIS_OK);
    for (size_t i = 0; i < ROWS * 3; i++) /* a model's numbers are float32 */
        assert_true(fabs(q[i] - wanted[i]) < 1e-5);
}

static void same_as_pytorch(void **state)
{
    (void)state;
    const struct {
        const dis__device *device;
        double tolerance;
    } devices[] = {{&dis__device_ref, 1e-8}, {&dis__device_cpu, 1e-4}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        fixture f;
        open_fixture(&f, i / 2, devices[i % 2].device, devices[i % 2].tolerance);
        twenty_steps(&f);
        compare_end(&f);
        printf("%s on %s: at most %.2g off\n", f.name, devices[i % 2].device->name, f.worst * f.tolerance);
        close_fixture(&f);
    }
}

/* Frozen parameters take no memory for gradients and states. */
static void smaller(void **state)
{
    (void)state;
    fixture full, lora;
    open_fixture(&full, 0, &dis__device_cpu, 1);
    open_fixture(&lora, 4, &dis__device_cpu, 1);
    assert_true(dis__net_n_parameters(lora.built.net) < dis__net_n_parameters(full.built.net) / 5);
    assert_true(dis__net_bytes(lora.built.net) < dis__net_bytes(full.built.net));
    close_fixture(&full);
    close_fixture(&lora);
}

/* ---- models ---- */

static dis_model *trained(const crowd *c, const dis_model_train_options *o, const dis_items *items)
{
    const dis_examples e = {
        .size = sizeof(dis_examples), .items = items, .labels = c->soft, .gold = c->gold, .votes = c->votes};
    return train(&e, NULL, o, 1);
}

static void predicted(dis_model *m, const dis_items *items, double q[N * K])
{
    dis_labels *p;
    assert_int_equal(dis_model_predict(NULL, m, items, NULL, &p), DIS_OK);
    memcpy(q, dis_labels_get_view(p).p, N * K * sizeof *q);
    dis_labels_destroy(p);
}

/* The encoder's own numbers stay; a model that was written and read says the same; what is exported has the sums. */
static void lora_models(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const struct {
        const char *spec;
        const dis_items *items;
    } kinds[] = {{"encoder:lora=2,lora-targets=all", c.pairs}, {"encoder-tagger:lora=2", c.tokens}};
    for (size_t i = 0; i < 2; i++) {
        dis_model_train_options o = quick(kinds[i].spec, "gold+kl");
        dis_model *m = trained(&c, &o, kinds[i].items), *again;
        double q[N * K], r[N * K];
        predicted(m, kinds[i].items, q);
        assert_int_equal(dis_model_write(NULL, m, in_folder("lora")), DIS_OK);
        assert_int_equal(dis_model_read(NULL, in_folder("lora"), &again), DIS_OK);
        predicted(again, kinds[i].items, r);
        assert_memory_equal(q, r, sizeof q);
        assert_int_equal(dis_model_export(again, in_folder("merged")), DIS_OK);
        dis__input in[2];
        dis__safetensors file[2];
        const char *const paths[2] = {in_folder("merged/model.safetensors"), DIS_SOURCE_DIR
                                      "/tests/parity/fixtures/encoders/bert_vocabulary/model.safetensors"};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(dis__input_open(NULL, paths[k], &in[k]), DIS_OK);
            assert_int_equal(dis__safetensors_open(paths[k], in[k].bytes, in[k].n, &file[k]), DIS_OK);
        }
        const char *const changed = "bert.encoder.layer.0.attention.self.query.weight",
                          *const stays = "bert.embeddings.word_embeddings.weight",
                          *const key = "bert.encoder.layer.0.attention.self.key.weight";
        const dis__tensor *a = dis__safetensors_find(&file[0], changed), *b = dis__safetensors_find(&file[1], changed);
        assert_memory_not_equal(a->data, b->data, a->n * sizeof(float));
        a = dis__safetensors_find(&file[0], stays), b = dis__safetensors_find(&file[1], stays);
        assert_memory_equal(a->data, b->data, a->n * sizeof(float));
        a = dis__safetensors_find(&file[0], key), b = dis__safetensors_find(&file[1], key);
        if (i)
            assert_memory_equal(a->data, b->data, a->n * sizeof(float));
        else
            assert_memory_not_equal(a->data, b->data, a->n * sizeof(float));
        for (size_t k = 0; k < 2; k++) {
            dis__safetensors_close(&file[k]);
            dis__input_close(&in[k]);
        }
        dis_model_destroy(m);
        dis_model_destroy(again);
    }
    free_crowd(&c);
}

/* As many batches as there are make one step: that of one batch of all, to rounding. */
static void accumulated(void **state)
{
    (void)state;
    static const char *const objectives[] = {"gold+kl", "crowd:mw", "silver+inverse-kl"};
    crowd c = read_crowd();
    for (size_t i = 0; i < 6; i++) {
        dis_model_train_options o =
            quick(i < 3 ? "encoder:dropout=none" : "encoder-tagger:dropout=none", objectives[i % 3]);
        const dis_items *items = i < 3 ? c.texts : c.tokens;
        double q[N * K], r[N * K];
        o.epochs = 3;
        o.rate = 1e-3;
        o.optimizer = "sgd:clip=1";
        o.batch = N;
        dis_model *one = trained(&c, &o, items);
        o.batch = 7;
        o.accumulate = N;
        dis_model *many = trained(&c, &o, items);
        predicted(one, items, q);
        predicted(many, items, r);
        for (size_t k = 0; k < N * K; k++) assert_true(fabs(q[k] - r[k]) < 1e-5);
        for (size_t k = 0; k < 3; k++) assert_true(fabs(one->epoch[k].loss - many->epoch[k].loss) < 1e-5);
        dis_model_destroy(one);
        dis_model_destroy(many);
    }
    free_crowd(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_pytorch),
        cmocka_unit_test(smaller),
        cmocka_unit_test(lora_models),
        cmocka_unit_test(accumulated),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
