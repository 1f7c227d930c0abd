/* Pretrained encoders against transformers: hidden states, logits, loss, the gradient of every array and 20 steps of
 * AdamW of tiny random models of every family (fixtures of tests/parity/make_encoder_fixtures.py), to 1e-8 on `ref` and
 * 1e-4 on `cpu`; config.json and weights that are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "encoder/encoder.h"
#include "dissent/embed.h"
#include "io/input/input.h"
#include "io/tensors/safetensors.h"
#include "core/memory/memory.h"
#include "io/output/output_file.h"
#include "nn/cpu/bf16.h"
#include "support/scratch.h"

enum { ROWS = 5, TOKENS = 40, K = 3, STEPS = 20, WARM_UP = 4, NAME = 256 };
static const char *const folders[] = {"bert",    "bert_relu",    "roberta",         "xlm-roberta", "distilbert",
                                      "electra", "electra_wide", "bert_vocabulary", "mpnet"};

typedef struct {
    const char *name;
    char folder[NAME];
    const dis__device *device;
    double tolerance, worst;
    dis__input input, weights_input;
    dis__safetensors file, weights;
    dis__encoder_config config;
    dis__net *net;
    dis__encoder_net built;
    int logits, head;
} fixture;

static void open_safetensors(const char *from, const char *name, dis__input *in, dis__safetensors *out)
{
    char file[2 * NAME];
    snprintf(file, sizeof file, "%s/%s", from, name);
    assert_int_equal(dis__input_open(NULL, file, in), DIS_OK);
    assert_int_equal(dis__safetensors_open(file, in->bytes, in->n, out), DIS_OK);
}

static const dis__tensor *tensor(const fixture *f, const char *name)
{
    const dis__tensor *t = dis__safetensors_find(&f->file, name);
    if (!t) fail_msg("%s: no %s", f->folder, name);
    return t;
}

static void compare(fixture *f, const char *what, const double *have, const double *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double off = fabs(have[i] - wanted[i]) / (f->tolerance * fmax(1, fabs(wanted[i])));
        if (!(off <= 1))
            fail_msg("%s on %s: %s [%zu] is %.12g, transformers has %.12g", f->name, f->device->name, what, i, have[i],
                     wanted[i]);
        if (off > f->worst) f->worst = off;
    }
}

static void *copy_of(const dis__tensor *t)
{
    void *x = malloc(t->n * t->dtype->size + 1);
    memcpy(x, t->data, t->n * t->dtype->size);
    return x;
}

static void put_param(fixture *f, const char *param, const char *array)
{
    const dis__tensor *t = dis__safetensors_find(&f->weights, array);
    assert_non_null(t);
    float *x = copy_of(t);
    double *exact = malloc(t->n * sizeof *exact);
    for (size_t i = 0; i < t->n; i++) exact[i] = x[i];
    assert_int_equal(dis__param_put(f->net, dis__net_find_param(f->net, param), exact), DIS_OK);
    free(exact);
    free(x);
}

static void open_files(fixture *f)
{
    snprintf(f->folder, sizeof f->folder, "%s/tests/parity/fixtures/encoders/%s", DIS_SOURCE_DIR, f->name);
    open_safetensors(f->folder, "expected.safetensors", &f->input, &f->file);
    open_safetensors(f->folder, "model.safetensors", &f->weights_input, &f->weights);
    assert_int_equal(dis__encoder_config_read(NULL, f->folder, &f->config), DIS_OK);
}

/* The classifier on top; then the network is planned and filled. */
static void put_head(fixture *f, const dis__plan_options *plan)
{
    const int top = dis__encoder_pooler_build(f->net, &f->config, &f->built, false);
    f->logits = dis__layer_linear(f->net, "out", top, K, DIS_ACT_NONE);
    f->head = dis__head_soft(f->net, "gold", f->logits, NULL);
    assert_int_equal(dis__net_plan(f->net, NULL, plan), DIS_OK);
    assert_int_equal(dis__encoder_read_weights(NULL, f->folder, &f->config, f->net), DIS_OK);
    char array[NAME];
    put_param(f, "out.weight", (snprintf(array, NAME, "%s.weight", f->config.family->top.out), array));
    put_param(f, "out.bias", (snprintf(array, NAME, "%s.bias", f->config.family->top.out), array));
}

static void open_fixture(fixture *f, const char *name, const dis__device *device, double tolerance)
{
    *f = (fixture){.name = name, .device = device, .tolerance = tolerance};
    open_files(f);
    const dis__encoder_limits limits = {.rows = ROWS, .tokens = TOKENS};
    dis__plan_options plan = dis__plan_options_default();
    plan.optimizer.kind = DIS_OPTIMIZER_ADAMW;
    plan.optimizer.weight_decay = .01;
    plan.optimizer.clip = 1;
    assert_int_equal(dis__net_create(device, 1, &f->net), DIS_OK);
    assert_int_equal(dis__encoder_build(f->net, &f->config, &limits, &f->built), DIS_OK);
    put_head(f, &plan);
}

static void close_fixture(fixture *f)
{
    dis__net_destroy(f->net);
    dis__free(f->built.room);
    dis__safetensors_close(&f->file);
    dis__safetensors_close(&f->weights);
    dis__input_close(&f->input);
    dis__input_close(&f->weights_input);
}

static void put_batch(fixture *f, const char *ids, bool odd)
{
    const dis__tensor *t = tensor(f, ids), *types = tensor(f, "types"), *length = tensor(f, "length");
    int32_t *id = copy_of(t), *type = copy_of(types), *lengths = copy_of(length);
    uint8_t small[TOKENS] = {0};
    size_t start[ROWS + 1] = {0, t->n};
    const uint32_t row[ROWS] = {0, 1, 2, 3, 4};
    const size_t n = odd ? 1 : ROWS;
    for (size_t i = 0; i < n && !odd; i++) start[i + 1] = start[i] + (size_t)lengths[i];
    for (size_t i = 0; i < t->n && !odd; i++) small[i] = (uint8_t)type[i];
    const dis_tokens_view view = {.n_texts = n, .text_start = start, .id = id, .type = small};
    assert_int_equal(dis__encoder_set_batch(f->net, &f->built, &f->config, &view, row, n), DIS_OK);
    free(id);
    free(type);
    free(lengths);
}

static void compare_value(fixture *f, const char *what, int value)
{
    const dis__tensor *t = tensor(f, what);
    double *have = malloc(t->n * sizeof *have), *wanted = copy_of(t);
    assert_int_equal(dis__net_get(f->net, value, have), DIS_OK);
    compare(f, what, have, wanted, t->n);
    free(have);
    free(wanted);
}

/* The gradient of a part of a parameter, by the names of the family's arrays. */
static size_t compare_grads(fixture *f, const dis__encoder_array *list, const char *before, const char *layer)
{
    size_t n = 0;
    for (const dis__encoder_array *a = list; a->array; a++)
        for (int bias = 0; bias < (a->bare ? 1 : 2); bias++, n++) {
            char array[NAME], param[NAME];
            snprintf(array, NAME, "grad.%s%s.%s", before, a->array, bias ? "bias" : "weight");
            snprintf(param, NAME, "%s%s.%s", layer, a->layer, bias ? "bias" : "weight");
            const size_t p = dis__net_find_param(f->net, param);
            if (p == SIZE_MAX) continue;
            const dis__tensor *t = tensor(f, array);
            const size_t all = dis__net_param(f->net, p)->n;
            double *have = malloc(all * sizeof *have), *wanted = copy_of(t);
            assert_int_equal(dis__param_get_grad(f->net, p, have), DIS_OK);
            assert_int_equal(t->n, all / a->parts);
            compare(f, array, have + a->part * t->n, wanted, t->n);
            free(have);
            free(wanted);
        }
    return n;
}

static void compare_all_grads(fixture *f)
{
    const dis__encoder_family *family = f->config.family;
    char before[NAME], layer[NAME];
    assert_true(compare_grads(f, family->embeddings, family->prefix, "encoder.") > 0);
    for (size_t l = 0; l < f->config.n_layers; l++) {
        snprintf(before, NAME, "%s%s%zu.", family->prefix, family->layer, l);
        snprintf(layer, NAME, "encoder.layer.%zu.", l);
        assert_int_equal(compare_grads(f, family->in_layer, before, layer), 16);
    }
    const dis__encoder_array top[] = {{family->top.array, "top", 0, 1, false}, {NULL, NULL, 0, 0, false}};
    const dis__encoder_array out[] = {{family->top.out, "out", 0, 1, false}, {NULL, NULL, 0, 0, false}};
    compare_grads(f, top, family->top.pretrained ? family->prefix : "", "");
    compare_grads(f, out, "", "");
}

static void twenty_steps(fixture *f, const int32_t *labels)
{
    double *wanted = copy_of(tensor(f, "losses"));
    dis__schedule schedule = dis__schedule_default();
    schedule.kind = DIS_SCHEDULE_LINEAR;
    schedule.rate = 1e-2;
    schedule.warm_up = WARM_UP;
    schedule.steps = STEPS;
    for (uint64_t s = 0; s < STEPS; s++) {
        assert_int_equal(dis__head_put_labels(f->net, f->head, labels), DIS_OK);
        assert_int_equal(dis__net_train(f->net, dis__schedule_rate(&schedule, s), true), DIS_OK);
        const double loss = dis__net_loss(f->net);
        compare(f, "the loss of a step", &loss, wanted + s, 1);
    }
    free(wanted);
}

static void check_family(const char *name, const dis__device *device, double tolerance)
{
    fixture f;
    open_fixture(&f, name, device, tolerance);
    put_batch(&f, "odd_ids", true);
    dis__head_clear_targets(f.net, f.head);
    assert_int_equal(dis__net_forward(f.net, false), DIS_OK);
    compare_value(&f, "odd_hidden", f.built.hidden);
    int32_t *labels = copy_of(tensor(&f, "labels"));
    put_batch(&f, "ids", false);
    assert_int_equal(dis__head_put_labels(f.net, f.head, labels), DIS_OK);
    assert_int_equal(dis__net_forward(f.net, true), DIS_OK);
    compare_value(&f, "hidden", f.built.hidden);
    compare_value(&f, "logits", f.logits);
    const double loss = dis__net_loss(f.net);
    double *wanted = copy_of(tensor(&f, "loss"));
    compare(&f, "loss", &loss, wanted, 1);
    assert_int_equal(dis__net_backward(f.net), DIS_OK);
    compare_all_grads(&f);
    free(wanted);
    const double worst = f.worst;
    close_fixture(&f);
    open_fixture(&f, name, device, tolerance);
    put_batch(&f, "ids", false);
    twenty_steps(&f, labels);
    printf("%s on %s: at most %.2g off, after 20 steps %.2g\n", name, device->name, worst * tolerance,
           f.worst * tolerance);
    close_fixture(&f);
    free(labels);
}

static void same_as_transformers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        check_family(folders[i], &dis__device_ref, 1e-8);
        check_family(folders[i], &dis__device_cpu, 1e-4);
        for (size_t d = 0; dis__device_at(d); d++) { /* CUDA devices; bfloat16 rounds to 2 or 3 digits */
            const dis__device *device = dis__device_at(d);
            if (strcmp(device->row->machine, "cuda") == 0)
                check_family(folders[i], device, device->number[DIS_ROLE_VALUE] == DIS_FLOAT32 ? 1e-4 : .1);
        }
    }
}

/* ---- networks that never train ---- */

/* Weights used where the files have them give the same hidden states; what is changed afterwards becomes the network's
 * own. In bfloat16 the states are close. */
static void check_forward(const char *name, const dis__device *device, double tolerance)
{
    const dis__encoder_limits limits = {.rows = ROWS, .tokens = TOKENS, .predicts = true};
    dis__plan_options plan = dis__plan_options_default();
    dis__encoder_weight_files *files;
    fixture f = {.name = name, .device = device, .tolerance = tolerance};
    plan.training = false;
    plan.unset = true;
    open_files(&f);
    assert_int_equal(dis__net_create(device, 1, &f.net), DIS_OK);
    assert_int_equal(dis__encoder_build(f.net, &f.config, &limits, &f.built), DIS_OK);
    assert_int_equal(dis__net_plan(f.net, NULL, &plan), DIS_OK);
    assert_int_equal(dis__encoder_map_weights(NULL, f.folder, &f.config, f.net, &files), DIS_OK);
    for (int pass = 0; pass < 8; pass++) { /* devices record the second one of a size */
        const bool odd = pass % 2;
        put_batch(&f, odd ? "odd_ids" : "ids", odd);
        assert_int_equal(dis__net_forward(f.net, false), DIS_OK);
        compare_value(&f, odd ? "odd_hidden" : "hidden", f.built.hidden);
    }
    const size_t words = dis__net_find_param(f.net, "encoder.words.weight");
    const dis__param_info *info = dis__net_param(f.net, words);
    double *before = malloc(info->n * sizeof *before), *after = malloc(info->n * sizeof *after);
    float *row = calloc(info->dim[1], sizeof *row);
    assert_int_equal(dis__param_get(f.net, words, before), DIS_OK);
    assert_int_equal(dis__param_put_rows(f.net, words, 1, 1, row), DIS_OK);
    assert_int_equal(dis__param_get(f.net, words, after), DIS_OK);
    for (size_t i = 0; i < info->n; i++) assert_true(after[i] == (i / info->dim[1] == 1 ? 0 : before[i]));
    free(before);
    free(after);
    free(row);
    close_fixture(&f);
    dis__encoder_weight_files_close(files);
}

/* A network for the first token of each row gives the logits, and the same bytes when other batches were between. */
static void check_first(const char *name, const dis__device *device, double tolerance)
{
    const dis__encoder_limits limits = {.rows = ROWS, .tokens = TOKENS, .predicts = true, .first = true};
    dis__plan_options plan = dis__plan_options_default();
    fixture f = {.name = name, .device = device, .tolerance = tolerance};
    double together[ROWS * K], again[ROWS * K], alone[2][K];
    plan.training = false;
    open_files(&f);
    assert_int_equal(dis__net_create(device, 1, &f.net), DIS_OK);
    assert_int_equal(dis__encoder_build(f.net, &f.config, &limits, &f.built), DIS_OK);
    put_head(&f, &plan);
    for (int pass = 0; pass < 8; pass++) {
        const bool odd = pass % 2;
        put_batch(&f, odd ? "odd_ids" : "ids", odd);
        dis__head_clear_targets(f.net, f.head);
        assert_int_equal(dis__net_forward(f.net, false), DIS_OK);
        if (!odd) compare_value(&f, "logits", f.logits);
        assert_int_equal(dis__head_get(f.net, f.head, odd ? alone[pass > 2] : pass ? again : together), DIS_OK);
    }
    assert_memory_equal(together, again, sizeof together);
    assert_memory_equal(alone[0], alone[1], sizeof *alone);
    close_fixture(&f);
}

/* Products that add residuals, as CUDA devices have them in bfloat16, too. */
static void forward_alone(void **state)
{
    (void)state;
    dis__device adding = dis__device_ref;
    adding.sums = true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        check_forward(folders[i], &dis__device_ref, 1e-8);
        check_first(folders[i], &dis__device_ref, 1e-8);
        check_forward(folders[i], &adding, 1e-8);
        check_first(folders[i], &adding, 1e-8);
        check_forward(folders[i], &dis__device_cpu, 1e-4);
        check_first(folders[i], &dis__device_cpu, 1e-4);
        if (!dis__bf16_lacks()) check_forward(folders[i], &dis__device_cpu_bf16, .1);
        for (size_t d = 0; dis__device_at(d); d++) {
            const dis__device *device = dis__device_at(d);
            const double near = device->number[DIS_ROLE_VALUE] == DIS_FLOAT32 ? 1e-4 : .1;
            if (strcmp(device->row->machine, "cuda") != 0) continue;
            check_forward(folders[i], device, near);
            check_first(folders[i], device, near);
        }
    }
    if (dis__bf16_lacks()) printf("bf16 is skipped: %s\n", dis__bf16_lacks());
}

/* ---- real ones ---- */

/* DISSENT_ENCODERS: the folder that tools/fetch_encoders.sh has filled. */
static void check_real(const char *parent, const char *name)
{
    char where[2 * NAME], items_path[NAME], expected[NAME];
    dis_encoder *e;
    dis_items *items;
    dis__input in;
    dis__safetensors file;
    snprintf(where, sizeof where, "%s/%s/config.json", parent, name);
    if (access(where, R_OK) != 0) {
        printf("%s is skipped: there is no %s\n", name, where);
        return;
    }
    snprintf(where, sizeof where, "%s/%s", parent, name);
    snprintf(items_path, NAME, "%s/tests/parity/fixtures/encoders/real_items.csv", DIS_SOURCE_DIR);
    snprintf(expected, NAME, "%s/tests/parity/fixtures/encoders", DIS_SOURCE_DIR);
    dis_items_options how = dis_items_options_default();
    how.columns = (const char *const[]){"first", "second"};
    how.n_columns = 2;
    assert_int_equal(dis_items_read(NULL, items_path, &how, &items), DIS_OK);
    assert_int_equal(dis_encoder_read(NULL, where, &e), DIS_OK);
    open_safetensors(expected, strcmp(name, "minilm") == 0 ? "real_minilm.safetensors" : "real_mpnet.safetensors", &in,
                     &file);
    const size_t n = dis_items_get_view(items).n_items * dis_encoder_get_view(e).width;
    float *x = malloc(n * sizeof *x);
    for (int pool = 0; pool < 2; pool++) {
        const dis__tensor *t = dis__safetensors_find(&file, pool == DIS_EMBED_MEAN ? "mean" : "first");
        dis_embed_options o = dis_embed_options_default();
        o.pooling = (dis_embed_pooling)pool;
        assert_int_equal(dis_encoder_embed_items(NULL, e, items, &o, x), DIS_OK);
        assert_int_equal(t->n, n);
        float *wanted = copy_of(t), worst = 0;
        for (size_t i = 0; i < n; i++) worst = fmaxf(worst, fabsf(x[i] - wanted[i]));
        printf("%s, %s: at most %.2g off\n", name, pool == DIS_EMBED_MEAN ? "mean" : "first", (double)worst);
        assert_true(worst < 1e-4f);
        free(wanted);
    }
    free(x);
    dis__safetensors_close(&file);
    dis__input_close(&in);
    dis_encoder_destroy(e);
    dis_items_destroy(items);
}

static void real_encoders(void **state)
{
    (void)state;
    const char *parent = getenv("DISSENT_ENCODERS");
    if (!parent) {
        printf("real encoders are skipped: DISSENT_ENCODERS does not name the folder that tools/fetch_encoders.sh "
               "filled\n");
        skip();
        return;
    }
    check_real(parent, "minilm");
    check_real(parent, "mpnet");
}

/* ---- other forms of the same weights ---- */

typedef struct {
    const char *before, *type; /* what names begin with instead of "bert.", and the type of numbers */
    bool shards, older;        /* two files; gains and biases of normalisations as TensorFlow calls them */
} form;

static void to_half(const float *x, size_t n, bool brain, uint16_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, 4);
        if (brain) {
            out[i] = (uint16_t)(bits >> 16);
        } else { /* cut off, which is exact enough to tell */
            const int32_t exponent = (int32_t)(bits >> 23 & 255) - 112;
            out[i] =
                (uint16_t)((bits >> 16 & 0x8000) | (exponent > 0 ? (uint32_t)exponent << 10 | (bits >> 13 & 1023) : 0));
        }
    }
}

static void rename_array(const form *f, const dis__tensor *t, char out[NAME])
{
    const bool inside = t->name_length > 5 && memcmp(t->name, "bert.", 5) == 0;
    snprintf(out, NAME, "%s%.*s", inside ? f->before : "", (int)(t->name_length - (inside ? 5 : 0)),
             t->name + (inside ? 5 : 0));
    char *norm = f->older ? strstr(out, "LayerNorm.") : NULL;
    if (norm) strcpy(norm + 10, strstr(norm, "weight") ? "gamma" : "beta");
}

static void write_part(const form *f, const dis__safetensors *from, const char *file, size_t part, FILE *index)
{
    dis__tensor converted[64];
    char name[64][NAME];
    size_t n = 0;
    for (size_t i = 0; i < from->n_tensors; i++) {
        if (f->shards && i % 2 != part) continue;
        converted[n] = from->tensors[i];
        rename_array(f, &from->tensors[i], name[n]);
        converted[n].name = name[n];
        converted[n].name_length = strlen(name[n]);
        float *x = copy_of(&from->tensors[i]);
        converted[n].data = x;
        if (strcmp(f->type, "F32") != 0) {
            uint16_t *half = malloc(2 * converted[n].n + 1);
            to_half(x, converted[n].n, strcmp(f->type, "BF16") == 0, half);
            free(x);
            converted[n].data = half;
            converted[n].dtype = dis__dtype_find(f->type, strlen(f->type));
        }
        if (index) fprintf(index, "%s\"%s\": \"%s\"", part + n ? ", " : "", name[n], file);
        n++;
    }
    dis__out *out;
    assert_int_equal(dis__out_open(in_folder(file), &out), DIS_OK);
    assert_int_equal(dis__out_finish(out, dis__safetensors_write(out, converted, n, NULL, 0)), DIS_OK);
    for (size_t i = 0; i < n; i++) free((void *)converted[i].data);
}

static void other_forms(void **state)
{
    (void)state;
    static const form forms[] = {
        {"bert.", "F32", true, false}, {"", "F32", false, false}, {"0.auto_model.", "F32", false, false},
        {"bert.", "F32", false, true}, {"", "F16", true, false},  {"bert.", "BF16", false, false}};
    static const char *const probes[] = {"encoder.words.weight", "encoder.layer.1.qkv.weight",
                                         "encoder.layer.0.norm2.bias", "top.weight"};
    fixture f;
    open_fixture(&f, "bert", &dis__device_cpu, 1e-4);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        remove(in_folder("model.safetensors"));
        FILE *index = forms[i].shards ? fopen(in_folder("model.safetensors.index.json"), "w") : NULL;
        if (index) fprintf(index, "{\"weight_map\": {");
        write_part(&forms[i], &f.weights, index ? "model-1.safetensors" : "model.safetensors", 0, index);
        if (index) write_part(&forms[i], &f.weights, "model-2.safetensors", 1, index);
        if (index) fprintf(index, "}}");
        if (index) fclose(index);
        double *before[4], *after[4];
        for (size_t p = 0; p < 4; p++) {
            const size_t param = dis__net_find_param(f.net, probes[p]), n = dis__net_param(f.net, param)->n;
            before[p] = malloc(n * sizeof **before);
            after[p] = calloc(n, sizeof **after);
            assert_int_equal(dis__encoder_read_weights(NULL, f.folder, &f.config, f.net), DIS_OK);
            assert_int_equal(dis__param_get(f.net, param, before[p]), DIS_OK);
            assert_int_equal(dis__param_put(f.net, param, after[p]), DIS_OK);
            assert_int_equal(dis__encoder_read_weights(NULL, folder, &f.config, f.net), DIS_OK);
            assert_int_equal(dis__param_get(f.net, param, after[p]), DIS_OK);
            const double close = strcmp(forms[i].type, "F32") == 0   ? 0
                                 : strcmp(forms[i].type, "F16") == 0 ? 1e-3
                                                                     : 8e-3;
            for (size_t k = 0; k < n; k++)
                assert_true(fabs(after[p][k] - before[p][k]) <= close * fabs(before[p][k]) + (close > 0 ? 1e-4 : 0));
            free(before[p]);
            free(after[p]);
        }
    }
    close_fixture(&f);
}

/* ---- what is refused ---- */

#define BERT                                                                                        \
    "\"vocab_size\": 9, \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, " \
    "\"intermediate_size\": 4, \"max_position_embeddings\": 7"

static void configs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: fine */
    } cases[] = {
        {"{\"model_type\": \"bert\", " BERT "}", NULL},
        {"{\"model_type\": \"bert\", \"pruned_heads\": {}, \"is_decoder\": false, " BERT "}", NULL},
        {"{\"model_type\": \"deberta-v2\", " BERT "}", "deberta-v2"},
        {"{\"model_type\": \"modernbert\", " BERT "}", "modernbert"},
        {"{\"model_type\": \"llama\", " BERT "}", "model_type llama is not supported"},
        {"{" BERT "}", "model_type"},
        {"{\"model_type\": \"bert\", \"hidden_act\": \"gelu_new\", " BERT "}", "hidden_act: gelu_new"},
        {"{\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\", " BERT "}",
         "position_embedding_type: only absolute"},
        {"{\"model_type\": \"bert\", \"is_decoder\": true, " BERT "}", "is_decoder: only false"},
        {"{\"model_type\": \"bert\", \"pruned_heads\": {\"0\": [1]}, " BERT "}", "pruned_heads"},
        {"{\"model_type\": \"bert\", \"quantization_config\": {\"bits\": 4}, " BERT "}", "quantization_config"},
        {"{\"model_type\": \"bert\", \"layer_norm_eps\": \"a\", " BERT "}", "layer_norm_eps must be a number"},
        {"{\"model_type\": \"mpnet\", \"relative_attention_num_buckets\": 8, " BERT "}",
         "relative_attention_num_buckets"},
        {"{\"model_type\": \"mpnet\", \"pad_token_id\": 0, " BERT "}", "pad_token_id"},
        {"{\"model_type\": \"bert\"}", "there is no vocab_size"},
        {"{\"model_type\": \"distilbert\", " BERT "}", "there is no dim"},
        {"{\"model_type\": \"bert\", \"vocab_size\": 9, \"hidden_size\": 8, \"num_hidden_layers\": 1, "
         "\"num_attention_heads\": 3, \"intermediate_size\": 4, \"max_position_embeddings\": 7}",
         "config.json:1:106: num_attention_heads 3 does not divide hidden_size 8"},
        {"{\"model_type\": \"distilbert\", \"vocab_size\": 9, \"dim\": 8, \"n_layers\": 999, \"n_heads\": 2, "
         "\"hidden_dim\": 4, \"max_position_embeddings\": 7}",
         "n_layers 999; at most 256"},
        {"[]", "object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis__encoder_config c;
        const dis_status status = dis__encoder_config_parse("config.json", cases[i].text, strlen(cases[i].text), &c);
        assert_int_equal(status, cases[i].message ? DIS_EDATA : DIS_OK);
        if (cases[i].message && !strstr(dis_last_error(), cases[i].message))
            fail_msg("\"%s\" does not say %s", dis_last_error(), cases[i].message);
    }
}

static void files(void **state)
{
    (void)state;
    dis_encoder *e = NULL;
    assert_int_equal(dis_encoder_read(NULL, "pytorch_model.bin", &e), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "pickled"));
    assert_int_equal(dis_encoder_read(NULL, "no/such/folder", &e), DIS_EIO);
    assert_null(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_transformers), cmocka_unit_test(forward_alone), cmocka_unit_test(other_forms),
        cmocka_unit_test(real_encoders),        cmocka_unit_test(configs),       cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
