/* Devices whose memory is elsewhere: every layer, and training, checkpoints and prediction of every model, on a device
 * whose memory the program cannot look at, give the bytes that `ref` gives. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/hidden_device.h"
#include "operations/nn_indexed.h"
#include "operations/nn_results.h"
#include "support/train_support.h"
#include "train/loop/training.h"

/* Gradients and losses of the whole list of cases. */
static void layers(void **state)
{
    (void)state;
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < 3; s++) {
            size_t n, m;
            double *wanted = nn_results(&nn_cases[c], &dis__device_ref, NULL, nn_sizes[s], &n);
            double *got = nn_results(&nn_cases[c], &hidden_device, NULL, nn_sizes[s], &m);
            assert_true(n == m);
            for (size_t i = 0; i < n; i++)
                if (!(got[i] == wanted[i]))
                    fail_msg("%s, %zu rows: number %zu is %.17g, on ref %.17g", nn_cases[c].name, nn_sizes[s][0], i,
                             got[i], wanted[i]);
            free(wanted);
            free(got);
        }
}

static void run_steps(const nn_case *c, double clip)
{
    nn_net f[2] = {0};
    dis__plan_options options = dis__plan_options_default();
    options.optimizer.clip = clip;
    assert_int_equal(nn_make(c, &dis__device_ref, NULL, &options, &f[0]), DIS_OK);
    assert_int_equal(nn_make(c, &hidden_device, NULL, &options, &f[1]), DIS_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(nn_fill(&f[i], 3, 5, 7), DIS_OK);
    for (int step = 0; step < 3; step++) {
        assert_int_equal(dis__net_forward(f[0].net, true), DIS_OK);
        assert_int_equal(dis__net_backward(f[0].net), DIS_OK);
        assert_int_equal(dis__net_step(f[0].net, .01), DIS_OK);
        if (dis__net_train(f[1].net, .01, true) != DIS_OK) fail_msg("%s: %s", c->name, dis_last_error());
        assert_true(dis__net_loss(f[0].net) == dis__net_loss(f[1].net));
    }
    double sums[2];
    for (int i = 0; i < 2; i++) assert_int_equal(dis__net_get_loss_sum(f[i].net, &sums[i]), DIS_OK);
    assert_true(sums[0] == sums[1]);
    assert_int_equal(((hidden_session *)f[1].net->session)->n_replayed, 2);
    for (size_t p = 0; p < f[0].net->n_params; p++) {
        const size_t n = f[0].net->params[p].info.n;
        double *x = calloc(2 * n, sizeof *x);
        for (int i = 0; i < 2; i++) dis__param_get(f[i].net, p, x + (size_t)i * n);
        assert_memory_equal(x, x + n, n * sizeof *x);
        free(x);
    }
    for (int i = 0; i < 2; i++) dis__net_destroy(f[i].net);
}

/* Steps as training takes them: the same as forward, backward and step one by one; of a second batch of the same
 * sizes the operations are replayed. */
static void steps(void **state)
{
    (void)state;
    for (int c = 0; c < NN_CASES; c++) run_steps(&nn_cases[c], 0);
}

/* The layer that goes backward last has most of the parameters: their squares are summed later than anything else. */
static void clipped_steps(void **state)
{
    (void)state;
    const nn_case wide = {"wide", case_wide, true};
    run_steps(&wide, .05);
}

static dis_model *train_on(const dis__device *device, const dis_examples *e, const dis_model_train_options *o)
{
    dis_model *m = NULL;
    if (dis__train_on_device(device, NULL, e, e, o, &m) != DIS_OK)
        fail_msg("%s, %s: %s", o->model, o->objective, dis_last_error());
    return m;
}

/* How many networks for predictions have no room yet. */
static int too_large;

static dis_status room_for_small(void *session, dis_context *ctx, size_t bytes, const char *what)
{
    (void)session;
    (void)ctx;
    (void)bytes;
    if (strncmp(what, "this net", 8) != 0 || too_large == 0) return DIS_OK;
    too_large--;
    return dis__fail(DIS_ELIMIT, "no room");
}

/* A device that likes other batches predicts the same, also where it has no room for them. */
static void predict_at_once(dis_model *m, const dis_items *items, const double *wanted)
{
    dis__device many = hidden_device;
    many.at_once = 30; /* tokens */
    many.fits = room_for_small;
    m->device = &many;
    for (too_large = 0; too_large < 2; too_large++) {
        const int before = too_large;
        dis_labels *p;
        if (dis_model_predict(NULL, m, items, NULL, &p) != DIS_OK) fail_msg("%s", dis_last_error());
        assert_memory_equal(dis_labels_get_view(p).p, wanted, N * K * sizeof *wanted);
        dis_labels_destroy(p);
        dis__model_net_free(&m->ready);
        assert_true(too_large == 0);
        too_large = before;
        if (!m->row->predict_total) break;
    }
    too_large = 0;
    m->device = &hidden_device;
}

static void models(void **state)
{
    (void)state;
    crowd c = read_crowd();
    static const char *const objectives[] = {"gold+kl", "crowd:vwb", "silver+inverse-kl"};
    for (size_t i = 0; i < MODELS; i++)
        for (size_t j = 0; j < sizeof objectives / sizeof *objectives; j++) {
            const dis_items *items;
            dis_model_train_options o = quick(small_model(&c, i, &items), objectives[j]);
            const dis_examples e = {
                .size = sizeof(dis_examples), .items = items, .labels = c.soft, .gold = c.gold, .votes = c.votes};
            o.epochs = 2;
            o.accumulate = 1 + j;
            o.optimizer = "adamw:decay=.01,clip=.5";
            o.folder = folder;
            dis_model *ref = train_on(&dis__device_ref, &e, &o), *hidden = train_on(&hidden_device, &e, &o);
            assert_same(ref, hidden, "");
            assert_true(ref->epoch[1].loss == hidden->epoch[1].loss && ref->epoch[1].dev == hidden->epoch[1].dev);
            dis_labels *p[2];
            assert_int_equal(dis_model_predict(NULL, ref, items, NULL, &p[0]), DIS_OK);
            assert_int_equal(dis_model_predict(NULL, hidden, items, NULL, &p[1]), DIS_OK);
            assert_memory_equal(dis_labels_get_view(p[0]).p, dis_labels_get_view(p[1]).p, N * K * sizeof(double));
            predict_at_once(hidden, items, dis_labels_get_view(p[0]).p);
            dis_labels_destroy(p[0]);
            dis_labels_destroy(p[1]);
            dis_model_destroy(ref);
            dis_model_destroy(hidden);
        }
    free_crowd(&c);
}

/* ---- batches by index ---- */

static dis_status no_room(void *session, dis_context *ctx, size_t bytes, const char *what)
{
    (void)session;
    (void)ctx;
    (void)bytes;
    return strcmp(what, "a copy of the items") == 0 ? dis__fail(DIS_ELIMIT, "no room") : DIS_OK;
}

/* Batches come from the host then. */
static void no_room_for_items(void **state)
{
    (void)state;
    dis__device narrow = hidden_device;
    narrow.fits = no_room;
    indexed s;
    make_indexed(&s, &narrow);
    for (int twice = 0; twice < 2; twice++) {
        const void *device_copy = &device_copy;
        assert_int_equal(dis__net_upload_ints(s.net, s.id, s.id, IDS, &device_copy), DIS_OK);
        assert_null(device_copy);
    }
    put_batch(&s, 1);
    assert_int_equal(dis__net_train(s.net, .01, true), DIS_OK);
    dis__net_destroy(s.net);
}

/* The same losses and parameters as with batches from the host, which may come between. */
static void by_index(void **state)
{
    (void)state;
    indexed put, gathered;
    make_indexed(&put, &dis__device_ref);
    make_indexed(&gathered, &hidden_device);
    const void *device_copy = &device_copy;
    assert_int_equal(dis__net_upload_ints(put.net, put.id, put.id, IDS, &device_copy), DIS_OK);
    assert_null(device_copy); /* the CPU has them where they are */
    for (size_t b = 0; b < 40; b++) {
        put_batch(&put, b);
        if (b % 7 == 6)
            put_batch(&gathered, b);
        else
            upload_batch(&gathered, b);
        assert_int_equal(dis__net_train(put.net, .01, true), DIS_OK);
        if (dis__net_train(gathered.net, .01, true) != DIS_OK) fail_msg("%s", dis_last_error());
        assert_true(dis__net_loss(put.net) == dis__net_loss(gathered.net));
    }
    assert_true(((hidden_session *)gathered.net->session)->n_replayed > 5);
    dis__net_destroy(put.net);
    dis__net_destroy(gathered.net);
}

/* Batches with ever other numbers of votes, of workers and of pairs: the steps of a few are recorded, all others
 * replayed, with the numbers of ref. */
enum { CROWD = 150, VOTES = 300, CROWD_ROWS = 16 };

typedef struct {
    dis__net *net;
    int rows, x, votes, pairs, id;
} crowded;

static void make_crowded(crowded *c, const dis__device *device)
{
    assert_int_equal(dis__net_create(device, 3, &c->net), DIS_OK);
    c->rows = dis__net_axis(c->net, CROWD_ROWS);
    c->x = dis__net_reals(c->net, "x", dis__shape_rows(c->rows, 5));
    c->id = dis__net_ints(c->net, "id", c->rows, DIS_NONE, 1);
    const int of = dis__layer_embed(c->net, "workers", c->id, CROWD, 4);
    const int both = dis__layer_concat(c->net, (int[]){c->x, of}, 2);
    const int logits = dis__layer_linear(c->net, "logits", both, CLASSES, DIS_ACT_NONE);
    c->votes = dis__head_crowd(c->net, "votes", logits, CROWD, VOTES, NULL);
    c->pairs = dis__head_pairs(c->net, "pairs", of, VOTES);
    if (dis__net_plan(c->net, NULL, NULL) != DIS_OK) fail_msg("%s", dis_last_error());
}

static void put_crowded(crowded *c, size_t b)
{
    int32_t row[VOTES], worker[VOTES], label[VOTES], pair[3 * VOTES], id[CROWD_ROWS];
    float x[CROWD_ROWS * 5], weight[VOTES];
    const size_t n = 100 + b * 37 % 190, n_pairs = 33 + b * 5 % 30;
    for (size_t i = 0; i < CROWD_ROWS * 5; i++) x[i] = (float)(i * 7 % 11) / 11 - .5f;
    for (size_t i = 0; i < CROWD_ROWS; i++) id[i] = (int32_t)((i * 13 + b) % CROWD);
    for (size_t v = 0; v < n; v++) {
        row[v] = (int32_t)(v * CROWD_ROWS / n);
        worker[v] = (int32_t)((v * 31 + b) % (65 + b % 60));
        label[v] = (int32_t)((v + b) % CLASSES);
    }
    for (size_t i = 0; i < n_pairs; i++) {
        pair[3 * i] = (int32_t)(i % CROWD);
        pair[3 * i + 1] = (int32_t)((i + b + 1) % CROWD);
        pair[3 * i + 2] = (int32_t)(i % DIS_N_PAIRS);
        weight[i] = .25f;
    }
    dis__net_resize(c->net, c->rows, CROWD_ROWS);
    assert_int_equal(dis__net_put(c->net, c->x, x), DIS_OK);
    assert_int_equal(dis__net_put_ints(c->net, c->id, id), DIS_OK);
    assert_int_equal(dis__head_put_votes(c->net, c->votes, n, row, worker, label), DIS_OK);
    assert_int_equal(dis__head_put_pairs(c->net, c->pairs, n_pairs, pair, weight), DIS_OK);
}

static void few_sizes(void **state)
{
    (void)state;
    crowded ref, hidden;
    make_crowded(&ref, &dis__device_ref);
    make_crowded(&hidden, &hidden_device);
    for (size_t b = 0; b < 30; b++) {
        put_crowded(&ref, b);
        put_crowded(&hidden, b);
        assert_int_equal(dis__net_train(ref.net, .01, true), DIS_OK);
        if (dis__net_train(hidden.net, .01, true) != DIS_OK) fail_msg("%s", dis_last_error());
        assert_true(dis__net_loss(ref.net) == dis__net_loss(hidden.net));
    }
    assert_true(((hidden_session *)hidden.net->session)->n_replayed >= 26);
    dis__net_destroy(ref.net);
    dis__net_destroy(hidden.net);
}

static void resume(void **state)
{
    (void)state;
    const char *path = "hidden_resume.safetensors";
    const nn_case dropped = {"dropout", case_dropout, false};
    nn_net f, g;
    nn_must_make(&dropped, &hidden_device, NULL, &f);
    nn_must_make(&dropped, &dis__device_ref, NULL, &g); /* another device reads it */
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
    unlink(path);
}

/* Values in bfloat16 beside parameters in float64: each is rounded to the nearest even on its way in, and no more. */
static void numbers(void **state)
{
    (void)state;
    static const float x[] = {1, 1.00390625f, 1.01171875f, -3.1415927f, 65280, 1e-40f};
    static const double rounded[] = {1, 1, 1.015625, -3.140625, 65280, 0x1p-133};
    dis__device device = hidden_device;
    device.number[DIS_ROLE_VALUE] = DIS_BFLOAT16;
    device.number[DIS_ROLE_STAT] = DIS_FLOAT32;
    dis__net *net;
    assert_int_equal(dis__net_create(&device, 1, &net), DIS_OK);
    const int rows = dis__net_axis(net, 6), in = dis__net_reals(net, "x", dis__shape_rows(rows, 1));
    dis__head_soft(net, "head", dis__layer_linear(net, "l", in, 2, DIS_ACT_NONE), NULL);
    assert_int_equal(dis__net_plan(net, NULL, NULL), DIS_OK);
    double got[6], weight[2] = {1.0000001, -2.25};
    assert_int_equal(dis__net_put(net, in, x), DIS_OK);
    assert_int_equal(dis__net_get(net, in, got), DIS_OK);
    for (int i = 0; i < 6; i++) assert_true(fabs(got[i] - rounded[i]) <= 1e-6 * fabs(rounded[i]));
    assert_int_equal(dis__param_put(net, 0, weight), DIS_OK);
    assert_int_equal(dis__param_get(net, 0, got), DIS_OK);
    assert_true(got[0] == weight[0] && got[1] == weight[1]);
    dis__net_destroy(net);
}

/* A context that names a row of the registry trains there, and nothing else has to be said. */
static void registered(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_items *items;
    dis_model_train_options o = quick(small_model(&c, 0, &items), "gold");
    const dis_examples e = {
        .size = sizeof(dis_examples), .items = items, .labels = c.soft, .gold = c.gold, .votes = c.votes};
    dis_context_options options = dis_context_options_default();
    const dis__device_row *row;
    dis_context *ctx;
    dis_model *m;
    assert_int_equal(dis__device_row_find("hidden", &row), DIS_OK);
    assert_true(row == &hidden_row && dis__device_find("hidden") == &hidden_device);
    assert_int_equal(dis__device_row_find("hidden:1", &row), DIS_EUSAGE);
    assert_int_equal(dis__device_row_find("hiding", &row), DIS_EUSAGE);
    options.device = "hidden";
    options.threads = 1;
    o.epochs = 1;
    o.folder = folder;
    assert_int_equal(dis_context_create(&options, &ctx), DIS_OK);
    if (dis_model_train(ctx, &e, NULL, &o, &m) != DIS_OK) fail_msg("%s", dis_last_error());
    assert_true(m->device == &hidden_device);
    dis_model_destroy(m);
    dis_context_destroy(ctx);
    free_crowd(&c);
}

int main(void)
{
    dis__device_row_add(&hidden_row);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),     cmocka_unit_test(steps),    cmocka_unit_test(clipped_steps),
        cmocka_unit_test(models),     cmocka_unit_test(by_index), cmocka_unit_test(no_room_for_items),
        cmocka_unit_test(few_sizes),  cmocka_unit_test(resume),   cmocka_unit_test(numbers),
        cmocka_unit_test(registered),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
