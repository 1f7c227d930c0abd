/* CUDA devices: every layer, training, checkpoints and prediction of every model against ref, from the one list of
 * cases; the same bytes twice, in recorded steps and one by one. Skipped, with the reason, where there is no device.
 * All that differs is printed before a test fails. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "operations/nn_indexed.h"
#include "operations/nn_results.h"
#include "operations/rounded_net.h"
#include "core/names/name_index.h"
#include "nn/devices.h"
#include "support/train_support.h"
#include "train/loop/training.h"

static const dis__device *cuda_at(size_t i)
{
    for (size_t d = 0; dis__device_at(d); d++)
        if (strcmp(dis__device_at(d)->row->machine, "cuda") == 0 && i-- == 0) return dis__device_at(d);
    return NULL;
}

/* Every n-th case is run, from one on, `brief` once in two sizes, `once` in one (the large list: in training alone, in
 * float32 the smallest size alone), both without ref: for tools under which a network takes seconds, in parts side by
 * side (tests/devices/cuda_sanitizers.sh). */
static int first_case, cases_apart = 1;
static bool brief, once;

static bool chosen(int c)
{
    return c % cases_apart == first_case;
}

static bool rough(const dis__device *device)
{
    return device->number[DIS_ROLE_VALUE] != DIS_FLOAT32;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A prediction as it comes, recorded, and replayed: the same loss each time. */
static dis_status predict(nn_net *f)
{
    double first = 0, loss = 0;
    for (int pass = 0; pass < (once ? 1 : 4); pass++) {
        DIS_TRY(dis__net_forward(f->net, false));
        DIS_TRY(dis__net_get_loss(f->net, pass ? &loss : &first));
        if (pass && memcmp(&loss, &first, sizeof loss) != 0)
            return dis__fail(DIS_EBUG, "a loss of %.17g in pass %d, %.17g before", loss, pass, first);
    }
    return DIS_OK;
}

/* Loss and gradients; NULL after a failure, which is printed. */
static double *results(const nn_case *c, const dis__device *device, const size_t size[3], bool training, size_t *n)
{
    nn_net f = {0};
    dis__plan_options options = dis__plan_options_default();
    options.training = training;
    const double begin = now();
    dis_status status = nn_make(c, device, NULL, &options, &f);
    const double built = now();
    if (status == DIS_OK) status = nn_fill(&f, size[0], size[1], size[2]);
    if (status == DIS_OK && training) status = nn_pass(&f, true);
    if (status == DIS_OK && !training) status = predict(&f);
    if (status == DIS_OK) status = device->synchronise(f.net->session);
    const double ended = now();
    if (status != DIS_OK) {
        print_message("%s on %s: %s\n", c->name, device->name, dis_last_error());
        dis__net_destroy(f.net);
        return NULL;
    }
    size_t total = 1;
    for (size_t p = 0; p < f.net->n_params; p++) total += f.net->params[p].info.n;
    double *out = calloc(total, sizeof *out);
    out[0] = dis__net_loss(f.net);
    *n = 1;
    for (size_t p = 0; training && p < f.net->n_params; p++) {
        dis__param_get_grad(f.net, p, out + *n);
        *n += f.net->params[p].info.n;
    }
    if (brief)
        print_message("%s, %zu x %zu x %zu on %s: opened in %.2f s, run in %.2f s, bytes %016llx\n", c->name, size[0],
                      size[1], size[2], device->name, built - begin, ended - built,
                      (unsigned long long)dis__siphash((uint64_t[2]){0}, out, *n * sizeof *out));
    dis__net_destroy(f.net);
    return out;
}

/* How far apart two vectors are, relative to the second: float32 by the largest difference, bfloat16 by the norm. */
static double distance(const double *x, const double *wanted, size_t n, bool by_norm)
{
    double off = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(x[i] - wanted[i]), w = fabs(wanted[i]);
        off = by_norm ? off + d * d : !(d <= off) ? d : off;
        all = by_norm ? all + w * w : w > all ? w : all;
    }
    return all > 0 ? (by_norm ? sqrt(off / all) : off / all) : off;
}

/* How far off the worst case was, per device. */
enum { ROWS = 32 };

/* One device against ref, twice; wanted NULL: it need only be a number. */
static size_t one_net(const nn_case *c, const dis__device *device, const size_t size[3], bool training,
                      const double *wanted, double *worst)
{
    size_t n = 0, m = 0;
    double *got = results(c, device, size, training, &n);
    double *again = brief ? got : results(c, device, size, training, &m);
    size_t bad = !got || !again;
    if (!bad) {
        const double off = wanted ? distance(got, wanted, n, rough(device)) : isfinite(got[0]) ? 0 : INFINITY;
        const double bound = rough(device) ? .06 : 5e-5;
        bad = !(off <= bound) || memcmp(got, again, n * sizeof *got) != 0;
        if (!(off <= bound))
            print_message("%s%s, %zu x %zu x %zu on %s: %.2g off (loss %.9g, ref %.9g)\n", c->name,
                          training ? "" : " without training", size[0], size[1], size[2], device->name, off, got[0],
                          wanted ? wanted[0] : NAN);
        if (memcmp(got, again, n * sizeof *got) != 0)
            print_message("%s, %zu x %zu x %zu on %s: other bytes the second time\n", c->name, size[0], size[1],
                          size[2], device->name);
        if (off <= bound && off > *worst) *worst = off;
    }
    if (again != got) free(again);
    free(got);
    return bad;
}

/* rough_only: of what repeats kernels that smaller sizes have run. */
static size_t one_case(const nn_case *c, const size_t size[3], bool training, bool rough_only, double worst[ROWS])
{
    size_t n = 0, bad = 0;
    double *wanted = brief ? NULL : results(c, &dis__device_ref, size, training, &n);
    for (size_t d = 0; cuda_at(d) && d < ROWS; d++)
        if (!rough_only || rough(cuda_at(d))) bad += one_net(c, cuda_at(d), size, training, wanted, &worst[d]);
    free(wanted);
    return bad;
}

static void tell(const char *what, int n, const double worst[ROWS], size_t bad)
{
    for (size_t d = 0; cuda_at(d) && d < ROWS; d++)
        print_message("%s: %d %s, at most %.2g off\n", cuda_at(d)->name, n, what, worst[d]);
    if (bad) fail_msg("%zu cases differ", bad);
}

static void layers(void **state)
{
    (void)state;
    double worst[ROWS] = {0};
    size_t bad = 0;
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < NN_SIZES; s++) {
            if (!chosen(c) || (nn_cases[c].large && s == NN_SIZES - 1)) continue;
            if (brief && s != 1 && s != NN_SIZES - 1 - nn_cases[c].large) continue;
            const bool trains = !once || s == (nn_cases[c].large ? 1 : NN_SIZES - 1);
            if (trains) bad += one_case(&nn_cases[c], nn_sizes[s], true, false, worst);
            if (s == 1) bad += one_case(&nn_cases[c], nn_sizes[s], false, false, worst);
        }
    tell("cases", NN_CASES, worst, bad);
}

static void many(void **state)
{
    (void)state;
    double worst[ROWS] = {0};
    size_t bad = 0;
    for (int c = 0; c < NN_MANY; c++)
        for (int s = 0; s < 3; s++) {
            const bool large = nn_many[c].size[0][0] >= 4096, alike = large || nn_many[c].size[0][1] > 1;
            if (!chosen(3 * c + s) || (once && alike && s != large)) continue; /* all sizes take the same ways */
            bad += one_case(&nn_many[c].net, nn_many[c].size[s], true, once && (large || s > 0), worst);
            if (!once || (s == 0 && !alike)) bad += one_case(&nn_many[c].net, nn_many[c].size[s], false, once, worst);
        }
    tell("large cases", NN_MANY, worst, bad);
}

/* ---- rounding ---- */

/* Nets of a size at which bfloat16 still tells the way: four stages of a ResNet, and convolutions over letters. */
static void four_stages(nn_net *f)
{
    dis__resnet_options o = dis__resnet_options_default();
    static const size_t blocks[] = {2, 1, 1, 1};
    o.kind = DIS_RESNET_IMAGENET;
    o.height = o.width = 16;
    o.first_width = 16;
    o.rows = 40;
    memcpy(o.blocks, blocks, sizeof blocks);
    const dis__resnet r = dis__resnet_build(f->net, &o);
    f->rows = r.rows;
    f->reals[f->n_reals++] = r.images;
    nn_soft(f, "gold", dis__layer_linear(f->net, "out", r.trunk, 10, DIS_ACT_NONE), NULL);
}

static void letters(nn_net *f)
{
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.n_characters = 30;
    o.width = 16;
    o.channels[0] = 16;
    o.channels[1] = 32;
    o.encoder.feed = 64;
    o.rows = 40;
    o.encoder.dropout = 0;
    const dis__stem_cnn s = dis__stem_cnn_build(f->net, &o);
    f->rows = s.rows;
    for (int i = 0; i < 2; i++) f->ints[f->n_ints++] = (nn_ints){s.text[i], -1, 29};
    nn_soft(f, "gold", dis__layer_linear(f->net, "out", s.trunk, 4, DIS_ACT_NONE), NULL);
}

/* Loss and gradients of ref with values rounded to bfloat16. */
static double *rounded_results(const nn_case *c, const size_t size[3], size_t *n)
{
    static rounded_kind kinds[ROUNDED_LAYERS];
    nn_net f;
    nn_must_make(c, rounded_device(), NULL, &f);
    rounded_begin(f.net, kinds);
    assert_int_equal(nn_fill(&f, size[0], size[1], size[2]), DIS_OK);
    assert_int_equal(nn_pass(&f, true), DIS_OK);
    double *out = calloc(f.net->n_numbers + 1, sizeof *out);
    out[0] = dis__net_loss(f.net);
    *n = 1;
    for (size_t p = 0; p < f.net->n_params; p++) {
        dis__param_get_grad(f.net, p, out + *n);
        *n += f.net->params[p].info.n;
    }
    dis__net_destroy(f.net);
    return out;
}

static void rounding(void **state)
{
    (void)state;
    static const nn_case nets[] = {{"a ResNet of four stages", four_stages, false}, {"a stem CNN", letters, false}};
    const size_t size[3] = {24, 1, 24};
    size_t bad = 0;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        size_t n, m;
        double *exact = results(&nets[i], &dis__device_ref, size, true, &n);
        double *wanted = rounded_results(&nets[i], size, &m);
        for (size_t d = 0; cuda_at(d); d++) {
            double *got = results(&nets[i], cuda_at(d), size, true, &m);
            const double *to = rough(cuda_at(d)) ? wanted : exact;
            const double off = got ? distance(got, to, n, true) : 1, moved = distance(wanted, exact, n, true);
            const double bound = rough(cuda_at(d)) ? fmax(.02, .7 * moved) : 1e-4;
            bad += off <= bound ? 0 : 1;
            print_message("%s on %s: gradients %.2g off; rounding alone moves them by %.2g\n", nets[i].name,
                          cuda_at(d)->name, off, moved);
            free(got);
        }
        free(exact);
        free(wanted);
    }
    if (bad) fail_msg("%zu differ", bad);
}

/* ---- steps ---- */

static dis_status run_step(nn_net *f, bool recorded)
{
    if (recorded) return dis__net_train(f->net, .01, true);
    DIS_TRY(dis__net_forward(f->net, true));
    DIS_TRY(dis__net_backward(f->net));
    return dis__net_step(f->net, .01);
}

static double *all_params(const dis__net *net, size_t *n)
{
    *n = 0;
    for (size_t p = 0; p < net->n_params; p++) *n += net->params[p].info.n;
    double *x = calloc(*n + 1, sizeof *x);
    for (size_t p = 0, at = 0; p < net->n_params; at += net->params[p++].info.n) dis__param_get(net, p, x + at);
    return x;
}

/* Seven steps (four under tools) of two sizes in turn; those of the first size are run, recorded, replayed. */
static double *after_steps(const nn_case *c, const dis__device *device, bool recorded, size_t *n)
{
    nn_net f = {0};
    dis_status status = nn_make(c, device, NULL, NULL, &f);
    for (int step = 0; step < (once ? 4 : 7) && status == DIS_OK; step++) {
        const size_t *size = step % 3 == 1 ? nn_sizes[0] : nn_sizes[1];
        status = nn_fill(&f, size[0], size[1], size[2]);
        if (status == DIS_OK) status = run_step(&f, recorded);
    }
    double *x = status == DIS_OK ? all_params(f.net, n) : NULL;
    if (status != DIS_OK) print_message("%s on %s: %s\n", c->name, device->name, dis_last_error());
    dis__net_destroy(f.net);
    return x;
}

static void steps(void **state)
{
    (void)state;
    size_t bad = 0;
    for (size_t d = 0; cuda_at(d); d++)
        for (int c = 0; c < NN_CASES; c++) {
            if (!chosen(c) || (once && nn_cases[c].large)) continue;
            size_t n, m;
            double *one = after_steps(&nn_cases[c], cuda_at(d), false, &n);
            double *other = after_steps(&nn_cases[c], cuda_at(d), true, &m);
            const bool same = one && other && memcmp(one, other, n * sizeof *one) == 0;
            if (one && other && !same)
                print_message("%s on %s: recorded steps give other bytes, %.2g off\n", nn_cases[c].name,
                              cuda_at(d)->name, distance(other, one, n, false));
            bad += !same;
            free(one);
            free(other);
        }
    if (bad) fail_msg("%zu cases differ", bad);
}

/* Batches by index: the bytes of those from the host. */
static void by_index(void **state)
{
    (void)state;
    for (size_t d = 0; cuda_at(d); d++) {
        indexed put, gathered;
        make_indexed(&put, cuda_at(d));
        make_indexed(&gathered, cuda_at(d));
        for (size_t b = 0; b < (once ? 8 : 40); b++) {
            put_batch(&put, b);
            if (b % 7 == 6)
                put_batch(&gathered, b);
            else
                upload_batch(&gathered, b);
            if (dis__net_train(put.net, .01, true) != DIS_OK || dis__net_train(gathered.net, .01, true) != DIS_OK)
                fail_msg("%s", dis_last_error());
            assert_true(dis__net_loss(put.net) == dis__net_loss(gathered.net));
        }
        dis__net_destroy(put.net);
        dis__net_destroy(gathered.net);
    }
}

/* Every optimiser with clipped gradients, as on ref, and SGD without momentum (which is kind DIS_N_OPTIMIZERS here):
 * the norm of what parameters moved by. Of the second network the layer that goes backward last has most of the
 * parameters: squares are summed beside it to the last. */
static double *moved(const nn_case *net, const dis__device *device, size_t kind, size_t *n)
{
    dis__plan_options options = dis__plan_options_default();
    options.optimizer.kind = kind < DIS_N_OPTIMIZERS ? (dis__optimizer_kind)kind : DIS_OPTIMIZER_SGD;
    options.optimizer.momentum = kind < DIS_N_OPTIMIZERS ? .9 : 0;
    options.optimizer.weight_decay = .01;
    options.optimizer.clip = .05;
    options.optimizer.epsilon = 1e-3; /* Adam follows gradients that are nearly 0 less than their sign */
    nn_net f = {0};
    if (nn_make(net, device, NULL, &options, &f) != DIS_OK || nn_fill(&f, 3, 5, 7) != DIS_OK)
        fail_msg("%s", dis_last_error());
    double *before = all_params(f.net, n);
    for (int i = 0; i < 3; i++)
        if (dis__net_train(f.net, .05, true) != DIS_OK) fail_msg("%s", dis_last_error());
    double *after = all_params(f.net, n);
    for (size_t i = 0; i < *n; i++) after[i] -= before[i];
    free(before);
    dis__net_destroy(f.net);
    return after;
}

static void optimizers(void **state)
{
    (void)state;
    static const nn_case nets[] = {{"many_heads", case_many_heads, false}, {"wide", case_wide, true}};
    for (size_t i = 0; i < 2 * ((size_t)DIS_N_OPTIMIZERS + 1); i++) {
        const nn_case *net = &nets[i % 2];
        const size_t kind = i / 2;
        size_t n, m;
        double *wanted = moved(net, &dis__device_ref, kind, &n);
        for (size_t d = 0; cuda_at(d); d++) {
            double *got = moved(net, cuda_at(d), kind, &m);
            const double off = distance(got, wanted, n, true);
            print_message("optimiser %zu, %s on %s: steps are %.2g off\n", kind, net->name, cuda_at(d)->name, off);
            if (!(off <= (rough(cuda_at(d)) ? .3 : 1e-4))) fail_msg("that is too much");
            free(got);
        }
        free(wanted);
    }
}

/* ---- models ---- */

static dis_model *train_on(const dis__device *device, const dis_examples *e, const dis_model_train_options *o)
{
    dis_model *m = NULL;
    if (dis__train_on_device(device, NULL, e, e, o, &m) == DIS_OK) return m;
    print_message("%s, %s on %s: %s\n", o->model, o->objective, device->name, dis_last_error());
    return NULL;
}

static bool same_weights(const dis_model *a, const dis_model *b)
{
    for (size_t i = 0; i < a->weights.n; i++)
        if (memcmp(a->weights.value[i], b->weights.value[i], a->weights.info[i].n * sizeof(float)) != 0) return false;
    return true;
}

static size_t one_model(const dis__device *device, const dis_examples *e, const dis_model_train_options *o)
{
    dis_model *ref = train_on(&dis__device_ref, e, o), *m = train_on(device, e, o), *again = train_on(device, e, o);
    size_t bad = !m || !again;
    if (!bad) {
        const double off = fabs(m->epoch[0].loss / ref->epoch[0].loss - 1), bound = rough(device) ? .02 : 2e-4;
        dis_labels *p = NULL;
        const bool predicts = dis_model_predict(NULL, m, e->items, NULL, &p) == DIS_OK;
        bad = !(off <= bound) || !same_weights(m, again) || !predicts;
        if (!(off <= bound))
            print_message("%s, %s on %s: a loss of %.9g, on ref %.9g\n", o->model, o->objective, device->name,
                          m->epoch[0].loss, ref->epoch[0].loss);
        if (!same_weights(m, again))
            print_message("%s, %s on %s: other bytes the second time\n", o->model, o->objective, device->name);
        if (!predicts) print_message("%s on %s: %s\n", o->model, device->name, dis_last_error());
        dis_labels_destroy(p);
    }
    dis_model_destroy(ref);
    dis_model_destroy(m);
    dis_model_destroy(again);
    return bad;
}

static void models(void **state)
{
    (void)state;
    size_t bad = 0;
    crowd c = read_crowd();
    static const char *const objectives[] = {"gold+kl", "crowd:vwb", "silver+inverse-kl",
                                             "annotator:norm=.05,contrast=.1", "annot-mix:alpha=.4"};
    for (size_t d = 0; cuda_at(d); d++)
        for (size_t i = 0; i < MODELS; i++)
            for (size_t j = 0; chosen((int)i) && j < sizeof objectives / sizeof *objectives; j++) {
                const dis_items *items;
                dis_model_train_options o = quick(small_model(&c, i, &items), objectives[j]);
                if (j > 2 && items == c.tokens) continue; /* who is asked is asked about items */
                const dis_examples e = {
                    .size = sizeof(dis_examples), .items = items, .labels = c.soft, .gold = c.gold, .votes = c.votes};
                o.epochs = 3;
                o.rate = .002;
                o.accumulate = 1 + j % 3;
                o.optimizer = "adamw:decay=.01,clip=.5";
                bad += one_model(cuda_at(d), &e, &o);
            }
    free_crowd(&c);
    if (bad) fail_msg("%zu models differ", bad);
}

/* A checkpoint goes on, on the same device, to the bytes of an unbroken run. */
static void resume(void **state)
{
    (void)state;
    const char *path = "cuda_resume.safetensors";
    const nn_case dropped = {"dropout", case_dropout, false};
    for (size_t d = 0; cuda_at(d); d++) {
        nn_net f, g;
        nn_must_make(&dropped, cuda_at(d), NULL, &f);
        nn_must_make(&dropped, cuda_at(d), NULL, &g);
        assert_int_equal(nn_fill(&f, 3, 5, 7), DIS_OK);
        assert_int_equal(nn_fill(&g, 3, 5, 7), DIS_OK);
        for (int i = 0; i < 3; i++) assert_int_equal(dis__net_train(f.net, .01, true), DIS_OK);
        assert_int_equal(dis__net_save(f.net, path, true, NULL, 0), DIS_OK);
        if (dis__net_load(g.net, NULL, path) != DIS_OK) fail_msg("%s", dis_last_error());
        for (int i = 0; i < 3; i++) {
            assert_int_equal(dis__net_train(f.net, .01, true), DIS_OK);
            assert_int_equal(dis__net_train(g.net, .01, true), DIS_OK);
            assert_true(dis__net_loss(f.net) == dis__net_loss(g.net));
        }
        dis__net_destroy(f.net);
        dis__net_destroy(g.net);
    }
    unlink(path);
}

/* ---- several at once ---- */

typedef struct {
    const dis__device *device;
    int which;
    double *x;
    size_t n;
} side;

static void *beside(void *arg)
{
    side *s = arg;
    const nn_case encoder = {"encoder", case_encoder, false};
    s->x = after_steps(&encoder, s->device, true, &s->n);
    return NULL;
}

static void side_by_side(void **state)
{
    (void)state;
    enum { SIDES = 6 };
    for (size_t d = 0; cuda_at(d); d++) {
        side alone = {.device = cuda_at(d)}, sides[SIDES];
        pthread_t thread[SIDES];
        beside(&alone);
        assert_non_null(alone.x);
        for (int i = 0; i < SIDES; i++) {
            sides[i] = (side){.device = cuda_at(d)};
            assert_int_equal(pthread_create(&thread[i], NULL, beside, &sides[i]), 0);
        }
        for (int i = 0; i < SIDES; i++) {
            pthread_join(thread[i], NULL);
            assert_true(sides[i].x && memcmp(sides[i].x, alone.x, alone.n * sizeof *alone.x) == 0);
            free(sides[i].x);
        }
        free(alone.x);
    }
}

/* Threads that launch the same kernels with other sizes of shared memory: networks of batch normalisation. */
static double *after_passes(const dis__device *device, const size_t size[3], size_t *n)
{
    const nn_case norms = {"batchnorm_many", case_batchnorm_many, true};
    nn_net f = {0};
    dis_status status = nn_make(&norms, device, NULL, NULL, &f);
    if (status == DIS_OK) status = nn_fill(&f, size[0], size[1], size[2]);
    for (int i = 0; i < 40 && status == DIS_OK; i++) status = nn_pass(&f, true);
    double *x = status == DIS_OK ? all_params(f.net, n) : NULL;
    for (size_t p = 0, at = 0; x && p < f.net->n_params; at += f.net->params[p++].info.n)
        dis__param_get_grad(f.net, p, x + at);
    if (status != DIS_OK) print_message("%s: %s\n", device->name, dis_last_error());
    dis__net_destroy(f.net);
    return x;
}

static const size_t beside_sizes[][3] = {{11, 1, 1}, {300, 1, 1}, {1100, 1, 1}};

static void *beside_others(void *arg)
{
    side *s = arg;
    s->x = after_passes(s->device, beside_sizes[s->which], &s->n);
    return NULL;
}

static void beside_other_sizes(void **state)
{
    (void)state;
    enum { SIZES = 3, SIDES = 6 };
    for (size_t d = 0; cuda_at(d); d++) {
        side alone[SIZES], sides[SIDES];
        pthread_t thread[SIDES];
        for (int i = 0; i < SIZES; i++) {
            alone[i] = (side){.device = cuda_at(d), .which = i};
            beside_others(&alone[i]);
            assert_non_null(alone[i].x);
        }
        for (int i = 0; i < SIDES; i++) {
            sides[i] = (side){.device = cuda_at(d), .which = i % SIZES};
            assert_int_equal(pthread_create(&thread[i], NULL, beside_others, &sides[i]), 0);
        }
        for (int i = 0; i < SIDES; i++) {
            const side *a = &alone[i % SIZES];
            pthread_join(thread[i], NULL);
            assert_true(sides[i].x && memcmp(sides[i].x, a->x, a->n * sizeof *a->x) == 0);
            free(sides[i].x);
        }
        for (int i = 0; i < SIZES; i++) free(alone[i].x);
    }
}

/* A recording that is lost: here because the layers wait in the middle of it, which is not allowed. */
static const dis__device *spoilt_like;
static bool spoil_now;

static dis_status spoil(void *session)
{
    if (spoil_now) (void)spoilt_like->synchronise(session);
    spoil_now = false;
    return spoilt_like->layer_done(session);
}

static void lost_recording(void **state)
{
    (void)state;
    const nn_case encoder = {"encoder", case_encoder, false};
    for (size_t d = 0; cuda_at(d); d++) {
        spoilt_like = cuda_at(d);
        dis__device spoilt = *spoilt_like;
        spoilt.layer_done = spoil;
        nn_net f, g;
        size_t n, m;
        nn_must_make(&encoder, &spoilt, NULL, &f);
        nn_must_make(&encoder, spoilt_like, NULL, &g);
        assert_int_equal(nn_fill(&f, 3, 5, 7), DIS_OK);
        assert_int_equal(nn_fill(&g, 3, 5, 7), DIS_OK);
        for (int i = 0; i < 4; i++) {
            spoil_now = i == 1;
            if (dis__net_train(f.net, .01, true) != DIS_OK) fail_msg("step %d: %s", i, dis_last_error());
            assert_false(spoil_now);
            assert_int_equal(dis__net_train(g.net, .01, true), DIS_OK);
        }
        double *lost = all_params(f.net, &n), *expected = all_params(g.net, &m);
        assert_memory_equal(lost, expected, n * sizeof *lost);
        free(lost);
        free(expected);
        dis__net_destroy(f.net);
        dis__net_destroy(g.net);
    }
}

static void wide_rows(dis__net *net)
{
    const int rows = dis__net_axis(net, 1 << 30), x = dis__net_reals(net, "x", dis__shape_rows(rows, 4096));
    dis__head_soft(net, "head", dis__layer_linear(net, "l", x, 4096, DIS_ACT_NONE), NULL);
}

/* Kernels count positions by 31 bits; there would be memory for them. */
static void many_places(dis__net *net)
{
    const int rows = dis__net_axis(net, (1 << 21) + 1);
    const int x = dis__net_reals(net, "x", (dis__shape){rows, DIS_NONE, 32, 32, 1});
    dis__conv_options o = dis__conv_options_default();
    o.out = o.kernel = 1;
    dis__layer_conv(net, "c", x, DIS_NONE, &o);
}

/* More memory, or more to count, than there is: a sentence, and the device goes on. */
static void out_of_memory(void **state)
{
    (void)state;
    static void (*const builders[])(dis__net * net) = {wide_rows, many_places};
    dis__plan_options predicts = dis__plan_options_default();
    predicts.training = false;
    for (size_t d = 0; cuda_at(d); d++)
        for (size_t i = 0; i < 2; i++) {
            dis__net *net;
            assert_int_equal(dis__net_create(cuda_at(d), 1, &net), DIS_OK);
            builders[i](net);
            assert_int_equal(dis__net_plan(net, NULL, i ? &predicts : NULL), DIS_ELIMIT);
            assert_non_null(strstr(dis_last_error(), "of the memory of device cuda:"));
            dis__net_destroy(net);
            const nn_case small = {"linear", case_linear, false};
            size_t n;
            double *after = results(&small, cuda_at(d), nn_sizes[1], true, &n);
            assert_non_null(after);
            free(after);
        }
}

/* Arguments: a pattern of tests' names; I/N: every N-th case from I on; brief or once. */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (argc > 2 && (sscanf(argv[2], "%d/%d", &first_case, &cases_apart) != 2 || cases_apart < 1)) return 2;
    once = argc > 3 && strcmp(argv[3], "once") == 0;
    brief = once || (argc > 3 && strcmp(argv[3], "brief") == 0);
    if (!cuda_at(0)) {
        printf("skipped: no CUDA device: %s\n", dis__device_rows_missing());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),         cmocka_unit_test(rounding),
        cmocka_unit_test(steps),          cmocka_unit_test(models),
        cmocka_unit_test(resume),         cmocka_unit_test(side_by_side),
        cmocka_unit_test(lost_recording), cmocka_unit_test(out_of_memory),
        cmocka_unit_test(many),           cmocka_unit_test(beside_other_sizes),
        cmocka_unit_test(by_index),       cmocka_unit_test(optimizers),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
