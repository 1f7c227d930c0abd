/* Training: optimisers against their formulas, schedules, clipping, adding up gradients, what must be equal exactly,
 * checkpoints, and faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "operations/nn_cases.h"
#include "support/fault_walk.h"

static const nn_case mlp = {"many_heads", case_many_heads, false}, small = {"linear", case_linear, false},
                     dropped = {"dropout", case_dropout, false};

static void make(const nn_case *c, const dis__device *device, dis_context *ctx, const dis__plan_options *o, nn_net *f)
{
    if (nn_make(c, device, ctx, o, f) != DIS_OK) fail_msg("%s: %s", c->name, dis_last_error());
    assert_int_equal(nn_fill(f, 17, 5, 20), DIS_OK);
}

/* All parameters, one after the other; the caller frees them. */
static double *parameters(const nn_net *f, size_t *n)
{
    *n = 0;
    for (size_t p = 0; p < f->net->n_params; p++) *n += f->net->params[p].info.n;
    double *x = calloc(*n, sizeof *x);
    size_t at = 0;
    for (size_t p = 0; p < f->net->n_params; p++) {
        dis__param_get(f->net, p, x + at);
        at += f->net->params[p].info.n;
    }
    return x;
}

static void train(nn_net *f, int steps)
{
    for (int s = 0; s < steps; s++) {
        assert_int_equal(dis__net_forward(f->net, true), DIS_OK);
        assert_int_equal(dis__net_backward(f->net), DIS_OK);
        assert_int_equal(dis__net_step(f->net, .01), DIS_OK);
    }
}

/* Every optimiser against the formula of its paper, written out for one number at a time. */
static void optimizers(void **state)
{
    (void)state;
    static const struct {
        dis__optimizer_kind kind;
        double momentum, decay;
        bool nesterov;
    } kinds[] = {{DIS_OPTIMIZER_SGD, 0, 0, false},
                 {DIS_OPTIMIZER_SGD, .9, .1, false},
                 {DIS_OPTIMIZER_SGD, .9, 0, true},
                 {DIS_OPTIMIZER_ADAM, 0, .1, false},
                 {DIS_OPTIMIZER_ADAMW, 0, .1, false}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        dis__plan_options o = dis__plan_options_default();
        o.optimizer.kind = kinds[k].kind;
        o.optimizer.momentum = kinds[k].momentum;
        o.optimizer.nesterov = kinds[k].nesterov;
        o.optimizer.weight_decay = kinds[k].decay;
        for (int which = 0; which < 2; which++) { /* the bias does not decay */
            nn_net f;
            make(&small, &dis__device_ref, NULL, &o, &f);
            double m[64] = {0}, v[64] = {0}, p[64], g[64], now[64];
            const size_t param = dis__net_find_param(f.net, which ? "above.weight" : "above.bias");
            assert_true(param != SIZE_MAX);
            const double decay = which ? kinds[k].decay : 0;
            const size_t n = dis__net_param(f.net, param)->n < 64 ? dis__net_param(f.net, param)->n : 4;
            double *all = calloc(dis__net_param(f.net, param)->n, sizeof *all);
            for (int s = 1; s <= 4; s++) {
                assert_int_equal(nn_pass(&f, true), DIS_OK);
                dis__param_get(f.net, param, all);
                memcpy(p, all, n * sizeof *p);
                dis__param_get_grad(f.net, param, all);
                memcpy(g, all, n * sizeof *g);
                assert_int_equal(dis__net_step(f.net, .01), DIS_OK);
                dis__param_get(f.net, param, all);
                memcpy(now, all, n * sizeof *now);
                for (size_t i = 0; i < n; i++) {
                    double x = p[i], d = g[i];
                    if (kinds[k].kind == DIS_OPTIMIZER_ADAMW)
                        x -= .01 * decay * x;
                    else
                        d += decay * x;
                    if (kinds[k].kind == DIS_OPTIMIZER_SGD) {
                        m[i] = s == 1 ? d : kinds[k].momentum * m[i] + d;
                        x -= .01 * (kinds[k].momentum == 0 ? d
                                    : kinds[k].nesterov    ? d + kinds[k].momentum * m[i]
                                                           : m[i]);
                    } else {
                        m[i] = .9 * m[i] + .1 * d;
                        v[i] = .999 * v[i] + .001 * d * d;
                        x -= .01 * (m[i] / (1 - pow(.9, s))) / (sqrt(v[i] / (1 - pow(.999, s))) + 1e-8);
                    }
                    assert_true(fabs(x - now[i]) <= 1e-12);
                }
                dis__param_get_grad(f.net, param, all);
                for (size_t i = 0; i < n; i++) assert_true(all[i] == 0);
            }
            free(all);
            dis__net_destroy(f.net);
        }
    }
}

static void schedules(void **state)
{
    (void)state;
    dis__schedule s = dis__schedule_default();
    assert_true(dis__schedule_rate(&s, 0) == 1e-3 && dis__schedule_rate(&s, 1000000) == 1e-3);
    s.kind = DIS_SCHEDULE_STEP;
    s.drop[0] = 10;
    s.drop[1] = 20;
    assert_true(dis__schedule_rate(&s, 9) == 1e-3);
    assert_true(fabs(dis__schedule_rate(&s, 10) - 1e-4) < 1e-18 && fabs(dis__schedule_rate(&s, 20) - 1e-5) < 1e-18);
    s.kind = DIS_SCHEDULE_LINEAR;
    s.warm_up = 10;
    s.steps = 110;
    assert_true(dis__schedule_rate(&s, 0) == 0 && dis__schedule_rate(&s, 110) == 0 && dis__schedule_rate(&s, 500) == 0);
    assert_true(fabs(dis__schedule_rate(&s, 5) - 5e-4) < 1e-18 && fabs(dis__schedule_rate(&s, 10) - 1e-3) < 1e-18);
    assert_true(fabs(dis__schedule_rate(&s, 60) - 5e-4) < 1e-18);
    s.kind = DIS_SCHEDULE_COSINE;
    assert_true(fabs(dis__schedule_rate(&s, 60) - 5e-4) < 1e-18 && fabs(dis__schedule_rate(&s, 110)) < 1e-18);
}

/* Gradients longer than the limit are scaled to it. */
static void clipping(void **state)
{
    (void)state;
    double moved[2] = {0};
    for (int clipped = 0; clipped < 2; clipped++) {
        dis__plan_options o = dis__plan_options_default();
        o.optimizer.kind = DIS_OPTIMIZER_SGD;
        o.optimizer.clip = clipped ? .5 : 0;
        nn_net f;
        make(&small, &dis__device_ref, NULL, &o, &f);
        size_t n;
        double *before = parameters(&f, &n);
        assert_int_equal(nn_pass(&f, true), DIS_OK);
        assert_int_equal(dis__net_step(f.net, 1), DIS_OK);
        double *after = parameters(&f, &n);
        for (size_t i = 0; i < n; i++) moved[clipped] += (after[i] - before[i]) * (after[i] - before[i]);
        free(before);
        free(after);
        dis__net_destroy(f.net);
    }
    assert_true(sqrt(moved[0]) > .6);
    assert_true(fabs(sqrt(moved[1]) - .5) < 1e-5);
}

/* Two halves of a batch, each divided by the weight of the whole, add up to its gradient. */
static void accumulation(void **state)
{
    (void)state;
    nn_net f;
    if (nn_make(&small, &dis__device_ref, NULL, NULL, &f) != DIS_OK) fail_msg("%s", dis_last_error());
    enum { N = 10, K = 4, IN = 7 };
    double x[N * IN], p[N * K], full[64], halves[64];
    for (int i = 0; i < N * IN; i++) x[i] = nn_random(1, (uint64_t)i);
    for (int i = 0; i < N * K; i++) p[i] = i % K == i / K % K;
    const size_t bias = dis__net_find_param(f.net, "above.bias");
    dis__net_resize(f.net, f.rows, N);
    dis__net_put_exact(f.net, f.reals[0], x);
    dis__head_put_exact(f.net, 0, p, NULL);
    assert_int_equal(nn_pass(&f, true), DIS_OK);
    dis__param_get_grad(f.net, bias, full);
    assert_int_equal(dis__net_step(f.net, 0), DIS_OK);
    dis__head_set_norm(f.net, 0, N);
    for (int half = 0; half < 2; half++) {
        dis__net_resize(f.net, f.rows, N / 2);
        dis__net_put_exact(f.net, f.reals[0], x + half * N / 2 * IN);
        dis__head_put_exact(f.net, 0, p + half * N / 2 * K, NULL);
        assert_int_equal(nn_pass(&f, true), DIS_OK);
    }
    dis__param_get_grad(f.net, bias, halves);
    for (int k = 0; k < K; k++) assert_true(fabs(full[k] - halves[k]) < 1e-15);
    dis__net_destroy(f.net);
}

/* Labels are one-hot targets, to the last bit; a head of weight 0 changes nothing; frozen identity matrices give each
 * vote the cross-entropy to softmax(q). */
static void exact_equalities(void **state)
{
    (void)state;
    double *weights[2];
    size_t n;
    for (int hard = 0; hard < 2; hard++) {
        nn_net f;
        make(&small, &dis__device_cpu, NULL, NULL, &f);
        int32_t label[17];
        float p[17 * 4] = {0};
        for (int i = 0; i < 17; i++) {
            label[i] = i % 4;
            p[i * 4 + i % 4] = 1;
        }
        if (hard)
            dis__head_put_labels(f.net, 0, label);
        else
            dis__head_put_targets(f.net, 0, p, NULL);
        train(&f, 5);
        weights[hard] = parameters(&f, &n);
        dis__net_destroy(f.net);
    }
    assert_memory_equal(weights[0], weights[1], n * sizeof **weights);
    free(weights[0]);
    free(weights[1]);

    double *shared[2];
    for (int several = 0; several < 2; several++) {
        nn_net f;
        make(&mlp, &dis__device_cpu, NULL, NULL, &f);
        if (several) {
            dis__head_set_weight(f.net, 1, 0);
            dis__head_set_weight(f.net, 2, 0);
        } else {
            dis__head_clear_targets(f.net, 1);
            dis__head_clear_targets(f.net, 2);
        }
        train(&f, 5);
        shared[several] = parameters(&f, &n);
        dis__net_destroy(f.net);
    }
    assert_memory_equal(shared[0], shared[1], n * sizeof **shared);
    free(shared[0]);
    free(shared[1]);
}

/* Maps that stay as they start: of logits the cross-entropy itself, of q that of softmax(q). */
static void check_identity(bool on_probabilities)
{
    dis__net *net;
    assert_int_equal(dis__net_create(&dis__device_ref, 1, &net), DIS_OK);
    const int rows = dis__net_axis(net, 4), z = dis__net_reals(net, "z", dis__shape_rows(rows, 3));
    const int x = dis__layer_linear(net, "l", z, 3, DIS_ACT_NONE);
    dis__crowd_head_options o = dis__crowd_head_options_default();
    assert_false(o.on_probabilities);
    o.on_probabilities = on_probabilities;
    const int head = dis__head_crowd(net, "crowd", x, 2, 8, &o);
    dis__net_freeze(net, "crowd");
    assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_OK);
    const double logits[] = {1, 2, -1, 0, .5, .25};
    dis__net_resize(net, rows, 2);
    dis__net_put_exact(net, z, logits);
    const int32_t row[] = {0, 0, 1}, worker[] = {0, 1, 1}, label[] = {2, 1, 0};
    assert_int_equal(dis__head_put_votes(net, head, 3, row, worker, label), DIS_OK);
    assert_int_equal(dis__net_forward(net, false), DIS_OK);
    double q[6], y[6], wanted = 0;
    dis__head_get(net, head, q);
    dis__net_get(net, x, y);
    for (int i = 0; i < 2; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += exp(y[i * 3 + k]);
        for (int k = 0; k < 3; k++) assert_true(fabs(q[i * 3 + k] - exp(y[i * 3 + k]) / sum) < 1e-15);
    }
    for (int v = 0; v < 3; v++) {
        const double *r = (on_probabilities ? q : y) + row[v] * 3;
        wanted += log(exp(r[0]) + exp(r[1]) + exp(r[2])) - r[label[v]];
    }
    assert_true(fabs(dis__head_loss(net, head) - wanted / 3) < 1e-14);
    const int32_t unsorted[] = {1, 0};
    assert_int_equal(dis__head_put_votes(net, head, 2, unsorted, worker, label), DIS_EUSAGE);
    const int32_t far[] = {0, 2};
    assert_int_equal(dis__head_put_votes(net, head, 2, row, far, label), DIS_EUSAGE);
    dis__net_destroy(net);
}

static void identity_crowd(void **state)
{
    (void)state;
    check_identity(false);
    check_identity(true);
}

static void threads_train_alike(void **state)
{
    (void)state;
    double *first = NULL;
    size_t n;
    static const int counts[] = {1, 2, 3, 7};
    for (int t = 0; t < 4; t++) {
        dis_context_options o = dis_context_options_default();
        o.threads = counts[t];
        dis_context *ctx;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        const nn_case wide = {"wide", case_wide, false};
        nn_net f;
        make(&wide, &dis__device_cpu, ctx, NULL, &f);
        train(&f, 3);
        double *x = parameters(&f, &n);
        if (first) assert_memory_equal(first, x, n * sizeof *x);
        if (!first)
            first = x;
        else
            free(x);
        dis__net_destroy(f.net);
        dis_context_destroy(ctx);
    }
    free(first);
}

/* Saved in the middle and loaded into a new network, training goes on to the same bytes, dropout included. */
static void resume(void **state)
{
    (void)state;
    const char *path = "nn_resume.safetensors";
    const char *const extra[][2] = {{"epoch", "3"}};
    size_t n;
    nn_net f, g;
    make(&dropped, &dis__device_cpu, NULL, NULL, &f);
    train(&f, 3);
    assert_int_equal(dis__net_save(f.net, path, true, extra, 1), DIS_OK);
    train(&f, 3);
    make(&dropped, &dis__device_cpu, NULL, NULL, &g);
    if (dis__net_load(g.net, NULL, path) != DIS_OK) fail_msg("%s", dis_last_error());
    assert_true(dis__net_steps(g.net) == 3);
    train(&g, 3);
    double *x = parameters(&f, &n), *y = parameters(&g, &n);
    assert_memory_equal(x, y, n * sizeof *x);
    free(x);
    free(y);
    dis__net_destroy(f.net);
    dis__net_destroy(g.net);
    unlink(path);
}

/* A checkpoint that is cut anywhere, or has any bit changed, is refused, and the network stays as it was. */
static void damaged(void **state)
{
    (void)state;
    const char *path = "nn_damaged.safetensors";
    nn_net f;
    make(&small, &dis__device_cpu, NULL, NULL, &f);
    assert_int_equal(dis__net_save(f.net, path, false, NULL, 0), DIS_OK);
    FILE *file = fopen(path, "rb");
    static unsigned char bytes[1 << 16];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 100 && size < sizeof bytes);
    size_t n;
    double *before = parameters(&f, &n);
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 37)
        for (int cut = 0; cut < 2; cut++) {
            const unsigned char weights = bytes[i];
            if (!cut) bytes[i] ^= (unsigned char)(1 << (i % 8));
            file = fopen(path, "wb");
            fwrite(bytes, 1, cut ? i : size, file);
            fclose(file);
            bytes[i] = weights;
            assert_int_equal(dis__net_load(f.net, NULL, path), DIS_EDATA);
        }
    double *after = parameters(&f, &n);
    assert_memory_equal(before, after, n * sizeof *before);
    free(before);
    free(after);
    dis__net_destroy(f.net);

    nn_net other; /* another network's checkpoint */
    make(&mlp, &dis__device_cpu, NULL, NULL, &other);
    assert_int_equal(dis__net_save(other.net, path, true, NULL, 0), DIS_OK);
    make(&small, &dis__device_cpu, NULL, NULL, &f);
    assert_int_equal(dis__net_load(f.net, NULL, path), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "another net"));
    dis__net_destroy(f.net);
    dis__net_destroy(other.net);
    unlink(path);
}

static dis_status full_cycle(void *arg)
{
    nn_net f;
    const dis_status created = nn_make(arg, &dis__device_cpu, NULL, NULL, &f);
    dis_status status = created;
    if (status == DIS_OK) status = nn_fill(&f, 5, 3, 6);
    if (status == DIS_OK) status = nn_pass(&f, true);
    if (status == DIS_OK) status = dis__net_step(f.net, .01);
    if (status == DIS_OK) status = dis__net_save(f.net, "nn_faults.safetensors", true, NULL, 0);
    if (status == DIS_OK) status = dis__net_load(f.net, NULL, "nn_faults.safetensors");
    dis__net_destroy(f.net);
    return status;
}

static void faults(void **state)
{
    (void)state;
    walk_faults(full_cycle, NULL, (void *)&mlp);
    unlink("nn_faults.safetensors");
}

/* What cannot be built says why, once, at planning. */
static void bad_nets(void **state)
{
    (void)state;
    dis__net *net;
    assert_int_equal(dis__net_create(&dis__device_cpu, 1, &net), DIS_OK);
    assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_EUSAGE);
    dis__net_destroy(net);

    assert_int_equal(dis__net_create(&dis__device_cpu, 1, &net), DIS_OK);
    const int rows = dis__net_axis(net, 8), x = dis__net_reals(net, "x", dis__shape_rows(rows, 3));
    const int y = dis__layer_dropout(net, x, 1.5);
    assert_int_equal(y, DIS_NONE);
    assert_int_equal(dis__layer_linear(net, "l", y, 4, DIS_ACT_NONE), DIS_NONE);
    assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "dropout rate of 1.5"));
    dis__net_destroy(net);

    assert_int_equal(dis__net_create(&dis__device_cpu, 1, &net), DIS_OK);
    const int many = dis__net_axis(net, 1 << 30), z = dis__net_reals(net, "x", dis__shape_rows(many, 1 << 30));
    dis__head_soft(net, "h", dis__layer_linear(net, "l", z, 4, DIS_ACT_NONE), NULL);
    assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_ELIMIT);
    dis__net_destroy(net);
    assert_non_null(dis__device_find("ref"));
    assert_null(dis__device_find("abacus"));
    for (size_t i = 0; dis__device_at(i); i++) {
        char text[128] = "";
        dis__device_at(i)->describe(dis__device_at(i), text, sizeof text);
        assert_true(dis__device_find(dis__device_at(i)->name) == dis__device_at(i) && *text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimizers),
        cmocka_unit_test(schedules),
        cmocka_unit_test(clipping),
        cmocka_unit_test(accumulation),
        cmocka_unit_test(exact_equalities),
        cmocka_unit_test(identity_crowd),
        cmocka_unit_test(threads_train_alike),
        cmocka_unit_test(resume),
        cmocka_unit_test(damaged),
        cmocka_unit_test(faults),
        cmocka_unit_test(bad_nets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
