/* Models that are told who is asked: workers of two opinions are told apart, files keep what was learned, threads
 * change nothing, and what cannot be is refused. */
#include "em_support.h"
#include "scratch.h"
#include "core/random.h"

enum { ITEMS = 240, TRAINED = 200, WORKERS = 8, FEATURES = 6 };

static float x[ITEMS * FEATURES];
static size_t truth[ITEMS];

/* The class is the sign of the first feature; workers of odd number say the opposite. */
static int said(size_t item, size_t worker)
{
    return (int)(truth[item] ^ (worker & 1));
}

static dis_items *items_of(size_t first, size_t n)
{
    char text[ITEMS][16];
    const char *names[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) {
        for (size_t f = 0; f < FEATURES; f++) x[i * FEATURES + f] = (float)dis__normal(3, 1, i * FEATURES + f);
        truth[i] = x[i * FEATURES] > 0;
        snprintf(text[i], sizeof text[i], "t%zu", i);
        names[i] = text[i];
    }
    dis_names *tasks;
    dis_items *items;
    assert_int_equal(dis_names_create(names + first, n, &tasks), DIS_OK);
    const dis_items_view v = {
        .kind = DIS_ITEMS_FEATURES, .n_items = n, .tasks = tasks, .n_features = FEATURES, .x = x + first * FEATURES};
    assert_int_equal(dis_items_from_memory(NULL, &v, &items), DIS_OK);
    dis_names_destroy(tasks);
    return items;
}

static dis_votes *votes_of(void)
{
    static char lines[ITEMS * WORKERS * 16 + 64];
    char *at = lines + sprintf(lines, "task,worker,label\n");
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t w = 0; w < WORKERS; w++)
            if (w == i % WORKERS || dis__uniform(4, 1, i * WORKERS + w) < .5)
                at += sprintf(at, "t%zu,w%zu,%d\n", i, w, said(i, w));
    const char *path = put_text("votes.csv", lines);
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_OK);
    return votes;
}

static dis_model *trained(const char *objective, int threads)
{
    dis_items *items = items_of(0, TRAINED), *dev = items_of(TRAINED, ITEMS - TRAINED);
    dis_votes *votes = votes_of();
    const dis_examples train = {.items = items, .votes = votes}, held = {.items = dev};
    dis_model_train_options o = dis_model_train_options_default();
    dis_context_options how = dis_context_options_default();
    dis_context *ctx;
    dis_model *model;
    o.model = "mlp:hidden=32,dropout=0";
    o.objective = objective;
    o.epochs = 30;
    o.rate = 5e-3;
    how.threads = threads;
    assert_int_equal(dis_context_create(&how, &ctx), DIS_OK);
    const dis_status status = dis_model_train(ctx, &train, &held, &o, &model);
    if (status != DIS_OK) fail_msg("%s", dis_last_error());
    dis_context_destroy(ctx);
    dis_votes_destroy(votes);
    dis_items_destroy(items);
    dis_items_destroy(dev);
    return model;
}

/* Share of held-out pairs that are foretold, all workers asked about all items. */
static double foretold(dis_model *model, double *first)
{
    static char text[2][(ITEMS - TRAINED) * WORKERS][8];
    const char *names[2][(ITEMS - TRAINED) * WORKERS];
    dis_items *items = items_of(TRAINED, ITEMS - TRAINED);
    dis_names *tasks, *workers;
    dis_labels *labels;
    size_t n = 0, right = 0, unknown;
    for (size_t i = TRAINED; i < ITEMS; i++)
        for (size_t w = 0; w < WORKERS; w++, n++) {
            snprintf(text[0][n], sizeof text[0][n], "t%zu", i);
            snprintf(text[1][n], sizeof text[1][n], "w%zu", w);
            names[0][n] = text[0][n];
            names[1][n] = text[1][n];
        }
    assert_int_equal(dis_names_create(names[0], n, &tasks), DIS_OK);
    assert_int_equal(dis_names_create(names[1], n, &workers), DIS_OK);
    assert_int_equal(dis_model_predict_workers(NULL, model, items, tasks, workers, &labels, &unknown), DIS_OK);
    assert_int_equal(unknown, 0);
    const dis_labels_view l = dis_labels_look(labels);
    assert_int_equal(l.n_items, n);
    for (size_t r = 0; r < n; r++)
        right += (int)dis_argmax(l.p + r * l.n_classes, l.n_classes) == said(TRAINED + r / WORKERS, r % WORKERS);
    *first = l.p[0];
    dis_labels_destroy(labels);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    dis_items_destroy(items);
    return (double)right / (double)n;
}

static void test_two_opinions(void **state)
{
    (void)state;
    double p, again;
    dis_model *model = trained("annotator:hidden=16", 1), *read;
    assert_string_equal(dis_model_look(model).keep, "log_loss");
    const double share = foretold(model, &p);
    if (share < .9) fail_msg("%.3f", share); /* without knowing who is asked: one half */
    assert_int_equal(dis_model_write(NULL, model, in_folder("model")), DIS_OK);
    assert_int_equal(dis_model_read(NULL, in_folder("model"), &read), DIS_OK);
    em_assert_close(foretold(read, &again), share, 0);
    em_assert_close(again, p, 0);
    dis_model_destroy(read);
    dis_model_destroy(model);
}

static void test_threads(void **state)
{
    (void)state;
    double one, three;
    dis_model *a = trained("annotator", 1), *b = trained("annotator", 3);
    foretold(a, &one);
    foretold(b, &three);
    em_assert_close(one, three, 0);
    dis_model_destroy(a);
    dis_model_destroy(b);
}

static void test_nobody_in_particular(void **state)
{
    (void)state;
    dis_model *model = trained("annotator", 1);
    dis_items *items = items_of(TRAINED, 2);
    static const char *const task[] = {"t200", "t200", "t201"}, *const worker[] = {"stranger", "other", "w1"};
    dis_names *tasks, *workers;
    dis_labels *labels, *plain;
    size_t unknown;
    assert_int_equal(dis_names_create(task, 3, &tasks), DIS_OK);
    assert_int_equal(dis_names_create(worker, 3, &workers), DIS_OK);
    assert_int_equal(dis_model_predict_workers(NULL, model, items, tasks, workers, &labels, &unknown), DIS_OK);
    assert_int_equal(unknown, 2);
    assert_int_equal(dis_model_predict(NULL, model, items, NULL, &plain), DIS_OK);
    const double *p = dis_labels_look(labels).p, *q = dis_labels_look(plain).p;
    em_assert_close(p[0], p[2], 0); /* two strangers are alike, and what is predicted without asking anybody */
    em_assert_close(p[0], q[0], 1e-6);
    dis_labels_destroy(labels);
    dis_labels_destroy(plain);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    dis_items_destroy(items);
    dis_model_destroy(model);
}

static void test_refused(void **state)
{
    (void)state;
    dis_items *items = items_of(0, TRAINED);
    dis_votes *votes = votes_of();
    dis_model_train_options o = dis_model_train_options_default();
    dis_model *model = NULL;
    o.model = "mlp";
    o.objective = "annotator";
    dis_names *classes, *tasks = NULL, *workers = NULL;
    static const char *const names[] = {"0", "1"};
    assert_int_equal(dis_names_create(names, 2, &classes), DIS_OK);
    o.classes = classes;
    const dis_examples none = {.items = items};
    assert_int_equal(dis_model_train(NULL, &none, NULL, &o, &model), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "needs votes"));
    o.objective = "crowd:mw";
    o.epochs = 1;
    const dis_examples train = {.items = items, .votes = votes};
    assert_int_equal(dis_model_train(NULL, &train, NULL, &o, &model), DIS_OK);
    dis_labels *labels = NULL;
    assert_int_equal(dis_names_create(names, 1, &tasks), DIS_OK);
    assert_int_equal(dis_names_create(names, 1, &workers), DIS_OK);
    assert_int_equal(dis_model_predict_workers(NULL, model, items, tasks, workers, &labels, NULL), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "not told who is asked"));
    dis_model_destroy(model);
    dis_names_destroy(classes);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    dis_votes_destroy(votes);
    dis_items_destroy(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_opinions),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nobody_in_particular),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
