/* Groups of parameters (rates, decay, starts), buckets of distances, and parameters from arrays of other names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "io/input/input.h"
#include "nn/load_weights.h"
#include "nn/models/network_models.h"
#include "nn/net_internal.h"
#include "support/scratch.h"

enum { IN = 3, OUT = 4, N = OUT * IN };

/* x -> "body.one" -> "out" -> a head. */
static dis__net *make(void (*set)(dis__net *net), const dis__plan_options *plan)
{
    dis__net *net;
    assert_int_equal(dis__net_create(&dis__device_cpu, 1, &net), DIS_OK);
    const int rows = dis__net_axis(net, 5), x = dis__net_reals(net, "x", dis__shape_rows(rows, IN));
    const int h = dis__layer_linear(net, "body.one", x, OUT, DIS_ACT_TANH);
    dis__head_soft(net, "head", dis__layer_linear(net, "out", h, 2, DIS_ACT_NONE), NULL);
    if (set) set(net);
    if (dis__net_plan(net, NULL, plan) != DIS_OK) fail_msg("%s", dis_last_error());
    return net;
}

static double param(const dis__net *net, const char *name, size_t i)
{
    static double x[1 << 16];
    const size_t p = dis__net_find_param(net, name);
    assert_true(p != SIZE_MAX && dis__net_param(net, p)->n <= 1 << 16);
    assert_int_equal(dis__param_get(net, p, x), DIS_OK);
    return x[i];
}

/* ---- groups ---- */

static void step(dis__net *net)
{
    static const float x[5 * IN] = {1, -1, .5f, 2, 0, 1, -1, 1, 1, .25f, 3, -2, 1, 0, 0};
    assert_int_equal(dis__net_put(net, dis__net_find_reals(net, "x"), x), DIS_OK);
    assert_int_equal(dis__head_put_labels(net, 0, (const int32_t[]){0, 1, 1, 0, 1}), DIS_OK);
    assert_int_equal(dis__net_train(net, .5, true), DIS_OK);
}

static void set_half(dis__net *net)
{
    dis__net_rate_factor(net, "body.", .5);
}

static void set_frozen(dis__net *net)
{
    dis__net_freeze(net, "body.");
}

static void set_no_decay(dis__net *net)
{
    dis__net_set_decay(net, "body.", false);
}

static void rates(void **state)
{
    (void)state;
    dis__plan_options o = dis__plan_options_default();
    o.optimizer.kind = DIS_OPTIMIZER_SGD;
    void (*const sets[])(dis__net * net) = {NULL, set_half, set_frozen};
    double moved[3], out[3];
    for (int i = 0; i < 3; i++) {
        dis__net *net = make(sets[i], &o);
        const double before = param(net, "body.one.weight", 5), out_before = param(net, "out.weight", 1);
        step(net);
        moved[i] = param(net, "body.one.weight", 5) - before;
        out[i] = param(net, "out.weight", 1) - out_before;
        dis__net_destroy(net);
    }
    assert_true(moved[0] != 0 && fabs(moved[1] - .5 * moved[0]) < 1e-7 && moved[2] == 0);
    assert_true(out[0] != 0 && out[0] == out[1] && out[0] == out[2]);
}

static void decay(void **state)
{
    (void)state;
    dis__plan_options o = dis__plan_options_default();
    o.optimizer.kind = DIS_OPTIMIZER_ADAMW;
    double after[2], out[2], before = 0;
    for (int i = 0; i < 2; i++) {
        o.optimizer.weight_decay = .1;
        dis__net *net = make(i ? set_no_decay : NULL, &o);
        before = param(net, "body.one.weight", 5);
        step(net);
        after[i] = param(net, "body.one.weight", 5);
        out[i] = param(net, "out.weight", 1);
        dis__net_destroy(net);
    }
    assert_true(fabs(after[1] - after[0] - .5 * .1 * before) < 1e-6 && out[0] == out[1]);
}

static void spread(void **state)
{
    (void)state;
    dis__net *net;
    assert_int_equal(dis__net_create(&dis__device_cpu, 3, &net), DIS_OK);
    const int rows = dis__net_axis(net, 1), x = dis__net_reals(net, "x", dis__shape_rows(rows, 200));
    const int y = dis__layer_layernorm(net, "norm", dis__layer_linear(net, "one", x, 200, DIS_ACT_NONE), DIS_NONE);
    dis__head_soft(net, "head", dis__layer_linear(net, "two", y, 2, DIS_ACT_NONE), NULL);
    dis__net_init_normal(net, "one", .02);
    dis__net_init_normal(net, "norm", .02);
    assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_OK);
    double squares = 0, largest = 0;
    static double w[200 * 200];
    assert_int_equal(dis__param_get(net, dis__net_find_param(net, "one.weight"), w), DIS_OK);
    for (size_t i = 0; i < 200 * 200; i++) {
        squares += w[i] * w[i];
        largest = fmax(largest, fabs(w[i]));
    }
    assert_true(fabs(sqrt(squares / 40000) / .02 - 1) < .02 && largest > .06);
    assert_true(param(net, "one.bias", 7) == 0 && param(net, "two.bias", 0) != 0);
    assert_true(param(net, "norm.weight", 3) == 1 && param(net, "norm.bias", 3) == 0);
    dis__net_destroy(net);
}

/* MPNet's 32 buckets up to a distance of 128, as its code gives them. */
static void buckets(void **state)
{
    (void)state;
    static const int32_t wanted[][2] = {{0, 0},     {-1, 1},    {-7, 7},   {-8, 8},   {-11, 8},  {-12, 9},
                                        {-16, 10},  {-31, 11},  {-32, 12}, {-64, 14}, {-91, 15}, {-127, 15},
                                        {-128, 15}, {-500, 15}, {1, 17},   {8, 24},   {64, 30},  {300, 31}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (dis__distance_bucket(wanted[i][0], 32, 128) != wanted[i][1])
            fail_msg("distance %d is in bucket %d, not %d", wanted[i][0], dis__distance_bucket(wanted[i][0], 32, 128),
                     wanted[i][1]);
}

/* ---- arrays ---- */

typedef struct {
    dis__input input;
    dis__safetensors file;
} arrays;

/* The arrays of a model: a matrix in two halves, one of them in another type. */
static void write_arrays(const char *path, const char *second_type, size_t rows, bool extra)
{
    static float top[2 * IN], bias[OUT], out_bias[2];
    static uint16_t half[8 * IN];
    for (size_t i = 0; i < 2 * IN; i++) top[i] = (float)i + .5f;
    for (size_t i = 0; i < OUT; i++) bias[i] = -(float)i;
    for (size_t i = 0; i < 8 * IN; i++) half[i] = strcmp(second_type, "F16") == 0 ? 0x3e00 : 0x3fc0; /* 1.5 */
    dis__tensor t[] = {
        {.name = "m.top", .dtype = dis__dtype_find("F32", 3), .n_dims = 2, .dim = {2, IN}, .n = 2 * IN, .data = top},
        {.name = "m.low",
         .dtype = dis__dtype_find(second_type, strlen(second_type)),
         .n_dims = 2,
         .dim = {rows, IN},
         .n = rows * IN,
         .data = half},
        {.name = "m.bias", .dtype = dis__dtype_find("F32", 3), .n_dims = 1, .dim = {OUT}, .n = OUT, .data = bias},
        {.name = "m.pooler", .dtype = dis__dtype_find("F32", 3), .n_dims = 1, .dim = {2}, .n = 2, .data = out_bias},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) t[i].name_length = strlen(t[i].name);
    dis__out *file;
    assert_int_equal(dis__out_open(path, &file), DIS_OK);
    assert_int_equal(dis__out_finish(file, dis__safetensors_write(file, t, extra ? 4 : 3, NULL, 0)), DIS_OK);
}

static void open_arrays(const char *path, arrays *a)
{
    assert_int_equal(dis__input_open(NULL, path, &a->input), DIS_OK);
    assert_int_equal(dis__safetensors_open(path, a->input.bytes, a->input.n, &a->file), DIS_OK);
}

static void close_arrays(arrays *a)
{
    dis__safetensors_close(&a->file);
    dis__input_close(&a->input);
}

static const dis__fill_row rows[] = {{"m.top", "body.one.weight", 0, 2},
                                     {"m.low", "body.one.weight", 2, 2},
                                     {"m.bias", "body.one.bias", 0, 0},
                                     {"m.none", "out.bias", 0, 0}};

static void named(void **state)
{
    (void)state;
    static const char *const types[] = {"F16", "BF16"};
    const char *path = in_folder("model.safetensors");
    for (int i = 0; i < 2; i++) {
        arrays a;
        write_arrays(path, types[i], 2, true);
        open_arrays(path, &a);
        dis__net *net = make(NULL, NULL);
        const char *const ignored[] = {"pool", NULL};
        const dis__fill fill = {.file = &a.file,
                                .path = &path,
                                .n_files = 1,
                                .rows = rows,
                                .n_rows = 3,
                                .fresh = "out.",
                                .ignored = ignored};
        if (dis__net_fill(net, &fill) != DIS_OK) fail_msg("%s", dis_last_error());
        assert_true(param(net, "body.one.weight", 0) == .5 && param(net, "body.one.weight", 5) == 5.5);
        assert_true(param(net, "body.one.weight", 6) == 1.5 && param(net, "body.one.weight", N - 1) == 1.5);
        assert_true(param(net, "body.one.bias", 3) == -3);
        dis__net_destroy(net);
        close_arrays(&a);
    }
}

/* All finite numbers of 16 bits come out as what they are, in an array of more than one piece; others are refused. */
static void halves(void **state)
{
    (void)state;
    enum { WIDE = 600, HIGH = 500, ALL = WIDE * HIGH, FINITE = 0x7c00 };
    static const dis__fill_row row = {"all", "all.weight", 0, 0};
    const char *path = in_folder("halves.safetensors");
    uint16_t *half = malloc(ALL * sizeof *half);
    double *x = malloc(ALL * sizeof *x);
    assert_true(half && x);
    for (size_t i = 0; i < ALL; i++) half[i] = (uint16_t)(i % FINITE | (i / FINITE % 2 ? 0x8000 : 0));
    for (int endless = 0; endless < 2; endless++) {
        if (endless) half[ALL - 1] = 0xfc00;
        const dis__tensor tensor = {.name = "all",
                                    .name_length = 3,
                                    .dtype = dis__dtype_find("F16", 3),
                                    .n_dims = 2,
                                    .dim = {HIGH, WIDE},
                                    .n = ALL,
                                    .data = half};
        dis__out *file;
        assert_int_equal(dis__out_open(path, &file), DIS_OK);
        assert_int_equal(dis__out_finish(file, dis__safetensors_write(file, &tensor, 1, NULL, 0)), DIS_OK);
        arrays a;
        open_arrays(path, &a);
        dis__net *net;
        assert_int_equal(dis__net_create(&dis__device_cpu, 1, &net), DIS_OK);
        const int in = dis__net_reals(net, "x", dis__shape_rows(dis__net_axis(net, 5), WIDE));
        dis__head_soft(net, "head", dis__layer_linear(net, "all", in, HIGH, DIS_ACT_NONE), NULL);
        assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_OK);
        const dis__fill fill = {
            .file = &a.file, .path = &path, .n_files = 1, .rows = &row, .n_rows = 1, .fresh = "all.bias"};
        assert_int_equal(dis__net_fill(net, &fill), endless ? DIS_EDATA : DIS_OK);
        assert_int_equal(dis__param_get(net, dis__net_find_param(net, "all.weight"), x), DIS_OK);
        for (size_t i = 0; i < ALL && !endless; i++) {
            const int exponent = half[i] >> 10 & 31, fraction = half[i] & 1023;
            const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
            if (x[i] != (half[i] & 0x8000 ? -size : size)) fail_msg("%04x became %g", half[i], x[i]);
        }
        dis__net_destroy(net);
        close_arrays(&a);
    }
    free(half);
    free(x);
}

/* What does not fit is told by its name, and the network stays as it was. */
static void misfits(void **state)
{
    (void)state;
    const char *path = in_folder("model.safetensors");
    static const struct {
        const char *type;
        size_t low, n_rows;
        bool extra;
        const char *fresh, *message;
    } bad[] = {
        {"F16", 2, 3, true, "out.", "the network has no array m.pooler"},
        {"F16", 3, 3, false, "out.", "m.low is 3 x 3; body.one.weight needs 2 x 3"},
        {"I16", 2, 3, false, "out.", "type I16"},
        {"F16", 2, 2, false, "out.", "no array for body.one.bias"},
        {"F16", 2, 1, false, "out.", "no array for all of body.one.weight"},
        {"F16", 2, 4, false, "out.", "no array m.none"},
        {"F16", 2, 3, false, NULL, "no array for out."},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        arrays a;
        write_arrays(path, bad[i].type, bad[i].low, bad[i].extra);
        open_arrays(path, &a);
        dis__net *net = make(NULL, NULL);
        const double before = param(net, "body.one.weight", 0);
        const dis__fill fill = {
            .file = &a.file, .path = &path, .n_files = 1, .rows = rows, .n_rows = bad[i].n_rows, .fresh = bad[i].fresh};
        assert_int_equal(dis__net_fill(net, &fill), DIS_EDATA);
        if (!strstr(dis_last_error(), bad[i].message)) fail_msg("%zu: %s", i, dis_last_error());
        assert_true(param(net, "body.one.weight", 0) == before);
        dis__net_destroy(net);
        close_arrays(&a);
    }
}

/* ---- numbers that are used where they lie ---- */

enum { WIDE = 16, HIGH = 48, ROWS = 7 };

static dis__net *make_wide(const dis__device *device)
{
    dis__net *net;
    dis__plan_options plan = dis__plan_options_default();
    plan.training = false;
    plan.unset = true;
    assert_int_equal(dis__net_create(device, 1, &net), DIS_OK);
    const int axis = dis__net_axis(net, ROWS), x = dis__net_reals(net, "x", dis__shape_rows(axis, WIDE));
    dis__layer_linear(net, "wide", x, HIGH, DIS_ACT_NONE);
    assert_int_equal(dis__net_plan(net, NULL, &plan), DIS_OK);
    return net;
}

static void run_wide(dis__net *net, const float *x, double *y)
{
    assert_int_equal(dis__net_put(net, dis__net_find_reals(net, "x"), x), DIS_OK);
    assert_int_equal(dis__net_forward(net, false), DIS_OK);
    assert_int_equal(dis__net_get(net, 1, y), DIS_OK);
}

/* A matrix in three parts is multiplied as the whole of it, and is whole again when one part is replaced. */
static void parts(void **state)
{
    (void)state;
    static float w[HIGH * WIDE], bias[HIGH], x[ROWS * WIDE], third[WIDE * WIDE];
    static double at_once[ROWS * HIGH], parted[ROWS * HIGH], got[HIGH * WIDE];
    for (size_t i = 0; i < HIGH * WIDE; i++) w[i] = (float)sin((double)i);
    for (size_t i = 0; i < HIGH; i++) bias[i] = (float)cos((double)i);
    for (size_t i = 0; i < ROWS * WIDE; i++) x[i] = (float)sin(3 * (double)i);
    for (size_t i = 0; i < WIDE * WIDE; i++) third[i] = (float)i;
    const dis__device *const devices[] = {&dis__device_ref, &dis__device_cpu, &dis__device_cpu_bf16};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        if (devices[d]->usable && devices[d]->usable(devices[d]) != DIS_OK) continue;
        dis__net *one = make_wide(devices[d]), *three = make_wide(devices[d]);
        const size_t weight = dis__net_find_param(one, "wide.weight"), b = dis__net_find_param(one, "wide.bias");
        assert_int_equal(dis__param_use(one, weight, w), DIS_OK);
        assert_int_equal(dis__param_use(one, b, bias), DIS_OK);
        assert_int_equal(dis__param_use(three, b, bias), DIS_OK);
        static const size_t order[] = {1, 2, 0};
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(dis__param_use_rows(three, weight, order[i] * WIDE, WIDE, w + order[i] * WIDE * WIDE),
                             DIS_OK);
        for (int again = 0; again < 2; again++) {
            run_wide(one, x, at_once);
            run_wide(three, x, parted);
            assert_memory_equal(at_once, parted, sizeof at_once);
        }
        assert_int_equal(dis__param_get(three, weight, got), DIS_OK);
        for (size_t i = 0; i < HIGH * WIDE; i++) assert_true(got[i] == (double)w[i]);
        assert_int_equal(dis__param_put_rows(three, weight, 2 * WIDE, WIDE, third), DIS_OK);
        assert_int_equal(dis__param_put_rows(one, weight, 2 * WIDE, WIDE, third), DIS_OK);
        run_wide(one, x, at_once);
        run_wide(three, x, parted);
        assert_memory_equal(at_once, parted, sizeof at_once);
        assert_int_equal(dis__param_get(three, weight, got), DIS_OK);
        assert_true(got[0] == (double)w[0] && got[HIGH * WIDE - 1] == WIDE * WIDE - 1);
        dis__net_destroy(one);
        dis__net_destroy(three);
    }
}

/* Layers that start as copies have the first one's values; others have their own. */
static void copies(void **state)
{
    (void)state;
    for (int copied = 0; copied < 2; copied++) {
        dis__net *net;
        dis__attention_encoder e = dis__attention_encoder_default();
        e.layers = 3;
        e.feed = 5;
        e.copies = copied;
        assert_int_equal(dis__net_create(&dis__device_cpu, 1, &net), DIS_OK);
        const int x = dis__net_reals(net, "x", dis__shape_rows(dis__net_axis(net, 5), 4));
        dis__head_soft(net, "head", dis__attention_encoder_build(net, "encoder", x, &e), NULL);
        if (dis__net_plan(net, NULL, NULL) != DIS_OK) fail_msg("%s", dis_last_error());
        for (size_t i = 0; i < 5; i++) {
            const double first = param(net, "encoder.0.linear1.weight", i);
            assert_int_equal(param(net, "encoder.1.linear1.weight", i) == first, copied);
            assert_int_equal(param(net, "encoder.2.linear1.weight", i) == first, copied);
            assert_true(param(net, "encoder.0.linear2.weight", i) != first);
        }
        dis__net_destroy(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),   cmocka_unit_test(decay), cmocka_unit_test(spread),
        cmocka_unit_test(buckets), cmocka_unit_test(named), cmocka_unit_test(halves),
        cmocka_unit_test(misfits), cmocka_unit_test(parts), cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
