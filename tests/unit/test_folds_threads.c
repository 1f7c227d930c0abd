/* Predictions out of fold: every item once, by a model that has not seen it, with the same bytes whatever the threads
 * and the order of folds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>
#include "tool/arrays.h"
#include "support/train_support.h"
#include "support/fault_walk.h"
#include "train/runs/train_runs_internal.h"

static dis_context *context(int threads)
{
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    o.threads = threads;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

static dis_folds_options folds_of(size_t n, double dev)
{
    dis_folds_options f = dis_folds_options_default();
    f.n_folds = n;
    f.dev = dev;
    f.jobs = n % 3; /* automatic, 1 or 2 at once: the same bytes */
    return f;
}

static void same(const dis_labels *a, const dis_labels *b)
{
    const dis_labels_view x = dis_labels_get_view(a), y = dis_labels_get_view(b);
    assert_int_equal(x.n_items, y.n_items);
    assert_memory_equal(x.p, y.p, x.n_items * x.n_classes * sizeof *x.p);
}

/* Three seeds and the folds of `predicted`, three trainings at once: the bytes of single trainings. */
static void runs_at_once(dis_context *ctx, const dis_examples *e, const dis_model_train_options *o,
                         const dis_folds *folds, const dis_labels *predicted)
{
    dis_train_runs_options several = dis_train_runs_options_default();
    dis_train_runs *runs;
    several.n_runs = 3;
    several.jobs = 3;
    several.folds = folds;
    assert_int_equal(dis_model_train_runs(ctx, e, NULL, o, &several, &runs), DIS_OK);
    const dis_train_runs_view v = dis_train_runs_get_view(runs);
    same(v.out_of_fold, predicted);
    assert_int_equal(v.n_runs, 3);
    for (size_t r = 0; r < 3; r++) {
        dis_model_train_options own = *o;
        dis_model *model;
        own.seed = o->seed + r;
        assert_int_equal(dis_model_train(NULL, e, NULL, &own, &model), DIS_OK);
        const dis_model_view m = dis_model_get_view(model);
        assert_int_equal(v.curve[r].seed, own.seed);
        assert_int_equal(v.curve[r].n_epochs, m.n_epochs);
        assert_int_equal(v.curve[r].best_epoch, m.best_epoch);
        for (size_t i = 0; i < m.n_epochs; i++) assert_true(v.curve[r].epoch[i].loss == m.epoch[i].loss);
        if (r == 0) assert_string_equal(dis_model_get_view(v.model).spec, m.spec);
        dis_model_destroy(model);
    }
    dis_train_runs_destroy(runs);
}

static void every_item_once(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.size = sizeof(dis_examples), .labels = c.soft, .gold = c.gold};
        const dis_model_train_options o = quick(small_model(&c, i, &e.items), "soft-ce");
        const dis_folds_options f = folds_of(4, i % 2 ? .2 : 0);
        dis_context *one = context(1), *three = context(3);
        dis_labels *p, *q, *r, *part[4];
        assert_int_equal(dis_folds_predict(one, &e, NULL, &o, &f, &p), DIS_OK);
        const dis_labels_view v = dis_labels_get_view(p);
        const dis_items_view items = dis_items_get_view(e.items);
        assert_int_equal(v.n_items, items.n_items);
        for (size_t j = 0; j < v.n_items; j++) {
            double sum = 0;
            for (size_t k = 0; k < v.n_classes; k++) sum += v.p[j * v.n_classes + k];
            assert_true(fabs(sum - 1) < 1e-6);
            assert_string_equal(dis_names_get(v.tasks, j, NULL), dis_names_get(items.tasks, j, NULL));
        }
        assert_int_equal(dis_folds_predict(three, &e, NULL, &o, &f, &q), DIS_OK);
        same(p, q);
        dis_folds *folds;
        assert_int_equal(dis_folds_create(NULL, &e, &f, o.seed, &folds), DIS_OK);
        for (size_t j = 4; j > 0; j--)
            assert_int_equal(dis__folds_train(one, folds, j - 1, NULL, &o, &part[j - 1]), DIS_OK);
        assert_int_equal(dis__folds_join(NULL, folds, part, &r), DIS_OK);
        same(p, r);
        for (size_t j = 0; j < 4; j++) dis_labels_destroy(part[j]);
        runs_at_once(three, &e, &o, folds, p);
        dis_folds_destroy(folds);
        dis_labels_destroy(p);
        dis_labels_destroy(q);
        dis_labels_destroy(r);
        dis_context_destroy(one);
        dis_context_destroy(three);
    }
    free_crowd(&c);
}

/* n items of which each has a feature of its own, and labels that follow from nothing. */
static void make_noise(size_t n, dis_items **items, dis_gold **gold)
{
    float *x = calloc(n * n, sizeof *x);
    char(*text)[24] = calloc(n, sizeof *text);
    const char **name = calloc(n, sizeof *name);
    int32_t *label = calloc(n, sizeof *label);
    for (size_t i = 0; i < n; i++) {
        x[i * n + i] = 1;
        snprintf(text[i], sizeof *text, "i%zu", i);
        name[i] = text[i];
        label[i] = (int32_t)((i * 2654435761u >> 7) % 2);
    }
    static const char *const classes[] = {"no", "yes"};
    dis_names *tasks, *both;
    assert_int_equal(dis_names_create(name, n, &tasks), DIS_OK);
    assert_int_equal(dis_names_create(classes, 2, &both), DIS_OK);
    const dis_items_view v = {.size = sizeof(dis_items_view),
                              .kind = DIS_ITEMS_FEATURES,
                              .n_items = n,
                              .tasks = tasks,
                              .n_features = n,
                              .x = x};
    const dis_gold_view g = {
        .size = sizeof(dis_gold_view), .n_items = n, .label = label, .tasks = tasks, .classes = both};
    assert_int_equal(dis_items_create(NULL, &v, items), DIS_OK);
    assert_int_equal(dis_gold_create(NULL, &g, gold), DIS_OK);
    dis_names_destroy(tasks);
    dis_names_destroy(both);
    free(x);
    free(text);
    free(name);
    free(label);
}

static double share_right(const dis_labels *p, const dis_gold *gold)
{
    const dis_labels_view v = dis_labels_get_view(p);
    size_t right = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        const char *predicted = dis_names_get(v.classes, dis__argmax(v.p + i * v.n_classes, v.n_classes), NULL);
        right += strcmp(predicted, dis_names_get(dis_gold_get_view(gold).classes,
                                                 (size_t)dis_gold_get_view(gold).label[i], NULL)) == 0;
    }
    return (double)right / (double)v.n_items;
}

/* What can only be learned by heart is known of items that were seen, and of no others. */
static void nobody_predicts_what_it_has_seen(void **state)
{
    (void)state;
    dis_items *items;
    dis_gold *gold;
    make_noise(60, &items, &gold);
    const dis_examples e = {.size = sizeof(dis_examples), .items = items, .gold = gold};
    dis_model_train_options o = dis_model_train_options_default();
    o.model = "mlp:hidden=16,dropout=0";
    o.objective = "gold";
    o.epochs = 60;
    o.rate = .05;
    const dis_folds_options f = folds_of(5, 0);
    dis_model *m;
    dis_labels *in, *out;
    assert_int_equal(dis_model_train(NULL, &e, NULL, &o, &m), DIS_OK);
    assert_int_equal(dis_model_predict(NULL, m, items, NULL, &in), DIS_OK);
    assert_int_equal(dis_folds_predict(NULL, &e, NULL, &o, &f, &out), DIS_OK);
    assert_true(share_right(in, gold) > .95);
    assert_true(share_right(out, gold) < .7);
    dis_model_destroy(m);
    dis_labels_destroy(in);
    dis_labels_destroy(out);
    dis_items_destroy(items);
    dis_gold_destroy(gold);
}

static void refusals(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_examples e = {.size = sizeof(dis_examples), .items = c.features, .labels = c.soft};
    const dis_model_train_options o = quick("mlp:hidden=8", "soft-ce");
    const struct {
        size_t n;
        double dev;
        const dis_examples *own;
        dis_status status;
        const char *message;
    } bad[] = {{1, 0, NULL, DIS_EUSAGE, "2 to"},
               {91, 0, NULL, DIS_EDATA, "too few for 91 folds"},
               {2, 1, NULL, DIS_EUSAGE, "development share"},
               {2, .001, NULL, DIS_EDATA, "the training or the development set"},
               {2, .5, &e, DIS_EUSAGE, "use one of them"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const dis_folds_options f = folds_of(bad[i].n, bad[i].dev);
        dis_labels *out = NULL;
        assert_int_equal(dis_folds_predict(NULL, &e, bad[i].own, &o, &f, &out), bad[i].status);
        assert_non_null(strstr(dis_last_error(), bad[i].message));
        assert_null(out);
    }
    free_crowd(&c);
}

static dis_status two_folds(void *arg)
{
    const dis_examples *e = arg;
    dis_model_train_options o = dis_model_train_options_default();
    o.model = "mlp:hidden=2";
    o.objective = "gold";
    o.epochs = 1;
    const dis_folds_options f = folds_of(2, 0);
    dis_labels *out = NULL;
    const dis_status status = dis_folds_predict(NULL, e, NULL, &o, &f, &out);
    if (status != DIS_OK) assert_null(out);
    dis_labels_destroy(out);
    return status;
}

static void faults(void **state)
{
    (void)state;
    dis_items *items;
    dis_gold *gold;
    make_noise(6, &items, &gold);
    dis_examples e = {.size = sizeof(dis_examples), .items = items, .gold = gold};
    walk_faults(two_folds, NULL, &e);
    dis_items_destroy(items);
    dis_gold_destroy(gold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_item_once),
                                       cmocka_unit_test(nobody_predicts_what_it_has_seen), cmocka_unit_test(refusals),
                                       cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
