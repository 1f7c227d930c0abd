/* Models that are told who is asked: workers of two opinions are distinguished, by their votes or by what is known of
 * them, files keep what was learned, threads change nothing, and what cannot be is refused. */
#include "tool/arrays.h"
#include "support/em_support.h"
#include "support/scratch.h"
#include "core/random/random.h"
#include "train/workers/worker_net.h"

enum { ITEMS = 240, TRAINED = 200, WORKERS = 8, FEATURES = 6 };

static float x[ITEMS * FEATURES];
static size_t truth[ITEMS];

/* The class is the sign of the first feature; workers of odd number say the opposite. */
static int answer_of(size_t item, size_t worker)
{
    return (int)(truth[item] ^ (worker & 1));
}

static dis_items *items_of(size_t first, size_t n)
{
    char text[ITEMS][16];
    const char *names[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) {
        for (size_t f = 0; f < FEATURES; f++) x[i * FEATURES + f] = (float)dis__random_normal(3, 1, i * FEATURES + f);
        truth[i] = x[i * FEATURES] > 0;
        snprintf(text[i], sizeof text[i], "t%zu", i);
        names[i] = text[i];
    }
    dis_names *tasks;
    dis_items *items;
    assert_int_equal(dis_names_create(names + first, n, &tasks), DIS_OK);
    const dis_items_view v = {.size = sizeof(dis_items_view),
                              .kind = DIS_ITEMS_FEATURES,
                              .n_items = n,
                              .tasks = tasks,
                              .n_features = FEATURES,
                              .x = x + first * FEATURES};
    assert_int_equal(dis_items_create(NULL, &v, &items), DIS_OK);
    dis_names_destroy(tasks);
    return items;
}

static dis_votes *votes_of(void)
{
    static char lines[ITEMS * WORKERS * 16 + 64];
    char *at = lines + sprintf(lines, "task,worker,label\n");
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t w = 0; w < WORKERS; w++)
            if (w == i % WORKERS || dis__random_uniform(4, 1, i * WORKERS + w) < .5)
                at += sprintf(at, "t%zu,w%zu,%d\n", i, w, answer_of(i, w));
    const char *path = put_text("votes.csv", lines);
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_OK);
    return votes;
}

/* A number that says nothing, a group that tells the two opinions apart, and a column with holes. Workers from 8 on are
 * in no vote. */
static dis_worker_table *table_of(void)
{
    static char lines[1024];
    char *at = lines + sprintf(lines, "worker,age,group,city\n");
    for (int w = 0; w < WORKERS + 4; w++)
        at += sprintf(at, "w%d,%d,%s,%s\n", w, 20 + 7 * w % 31, w & 1 ? "odd" : "even", w % 3 ? "" : "Rome");
    dis_worker_table *table;
    assert_int_equal(dis_worker_table_read(NULL, put_text("workers.csv", lines), NULL, &table), DIS_OK);
    return table;
}

static dis_model *trained_with(const char *objective, const char *features, int threads)
{
    dis_items *items = items_of(0, TRAINED), *dev = items_of(TRAINED, ITEMS - TRAINED);
    dis_votes *votes = votes_of();
    const dis_examples train = {.size = sizeof(dis_examples), .items = items, .votes = votes},
                       held = {.size = sizeof(dis_examples), .items = dev};
    dis_model_train_options o = dis_model_train_options_default();
    dis_context_options how = dis_context_options_default();
    dis_context *ctx;
    dis_model *model;
    o.model = "mlp:hidden=32,dropout=0";
    o.objective = objective;
    o.epochs = 30;
    o.rate = 5e-3;
    o.worker_table = features ? table_of() : NULL;
    o.worker_features = features;
    how.threads = threads;
    assert_int_equal(dis_context_create(&how, &ctx), DIS_OK);
    const dis_status status = dis_model_train(ctx, &train, &held, &o, &model);
    if (status != DIS_OK) fail_msg("%s", dis_last_error());
    dis_worker_table_destroy((dis_worker_table *)o.worker_table);
    dis_context_destroy(ctx);
    dis_votes_destroy(votes);
    dis_items_destroy(items);
    dis_items_destroy(dev);
    return model;
}

static dis_model *trained(const char *objective, int threads)
{
    return trained_with(objective, NULL, threads);
}

/* Share of held-out pairs that are foretold, workers `from` .. + 7 asked about all items. */
static double foretold_of(dis_model *model, size_t from, double *first, size_t *unknown)
{
    static char text[2][(ITEMS - TRAINED) * WORKERS][8];
    const char *names[2][(ITEMS - TRAINED) * WORKERS];
    dis_items *items = items_of(TRAINED, ITEMS - TRAINED);
    dis_names *tasks, *workers;
    dis_labels *labels;
    size_t n = 0, right = 0;
    for (size_t i = TRAINED; i < ITEMS; i++)
        for (size_t w = 0; w < WORKERS; w++, n++) {
            snprintf(text[0][n], sizeof text[0][n], "t%zu", i);
            snprintf(text[1][n], sizeof text[1][n], "w%zu", from + w);
            names[0][n] = text[0][n];
            names[1][n] = text[1][n];
        }
    assert_int_equal(dis_names_create(names[0], n, &tasks), DIS_OK);
    assert_int_equal(dis_names_create(names[1], n, &workers), DIS_OK);
    assert_int_equal(dis_model_predict_workers(NULL, model, items, tasks, workers, &labels, unknown), DIS_OK);
    const dis_labels_view l = dis_labels_get_view(labels);
    assert_int_equal(l.n_items, n);
    for (size_t r = 0; r < n; r++)
        right += (int)dis__argmax(l.p + r * l.n_classes, l.n_classes) == answer_of(TRAINED + r / WORKERS, r % WORKERS);
    *first = l.p[0];
    dis_labels_destroy(labels);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    dis_items_destroy(items);
    return (double)right / (double)n;
}

static double foretold(dis_model *model, double *first)
{
    size_t unknown;
    const double share = foretold_of(model, 0, first, &unknown);
    assert_int_equal(unknown, 0);
    return share;
}

static void test_two_opinions(void **state)
{
    (void)state;
    static const char *const objectives[] = {"annotator:hidden=16", "annotator:hidden=16,alpha=.3,norm=.01,contrast=.1",
                                             "annot-mix:hidden=16", "annot-mix:alpha=0,unknown=0,norm=.01"};
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++) {
        double p, again;
        dis_model *model = trained(objectives[i], 1), *read;
        assert_string_equal(dis_model_get_view(model).keep, "log_loss");
        const double share = foretold(model, &p);
        if (share < .9) fail_msg("%s: %.3f", objectives[i], share); /* without knowing who is asked: one half */
        assert_int_equal(dis_model_write(NULL, model, in_folder("model")), DIS_OK);
        assert_int_equal(dis_model_read(NULL, in_folder("model"), &read), DIS_OK);
        em_assert_close(foretold(read, &again), share, 0);
        em_assert_close(again, p, 0);
        dis_model_destroy(read);
        dis_model_destroy(model);
    }
}

/* annot-mix's classifier: most workers here say the class, so that it is the class. */
static void test_class_head(void **state)
{
    (void)state;
    dis_model *model = trained("annot-mix:hidden=16", 1);
    dis_items *items = items_of(TRAINED, ITEMS - TRAINED);
    dis_labels *class, *vote;
    const dis_model_view v = dis_model_get_view(model);
    assert_int_equal(v.n_heads, 2);
    assert_string_equal(v.head[0], "vote");
    assert_string_equal(v.head[1], "class");
    assert_int_equal(dis_model_predict(NULL, model, items, "class", &class), DIS_OK);
    assert_int_equal(dis_model_predict(NULL, model, items, NULL, &vote), DIS_OK);
    const double *q = dis_labels_get_view(class).p, *p = dis_labels_get_view(vote).p;
    double sure = 0, unsure = 0;
    for (size_t i = 0; i < ITEMS - TRAINED; i++) {
        sure += fabs(q[2 * i] - .5);
        unsure += fabs(p[2 * i] - .5);
    }
    assert_true(sure > 1.5 * unsure); /* half of all workers say the opposite: no one in particular says nothing */
    dis_labels_destroy(class);
    dis_labels_destroy(vote);
    dis_items_destroy(items);
    dis_model_destroy(model);
}

/* People who are in no vote are asked by what is known of them. */
static void test_features(void **state)
{
    (void)state;
    static const char *const objectives[] = {"annotator:hidden=16", "annot-mix:hidden=16,alpha=.2"};
    for (size_t i = 0; i < 2; i++) {
        dis_worker_table *table = table_of();
        dis_model *model = trained_with(objectives[i], "age,group,city", 1), *read;
        double p, q, first;
        size_t unknown;
        assert_true(foretold(model, &first) > .9);
        foretold_of(model, WORKERS, &p, &unknown);
        assert_int_equal(unknown, WORKERS * (ITEMS - TRAINED));
        assert_int_equal(dis_model_write(NULL, model, in_folder("model")), DIS_OK);
        assert_int_equal(dis_model_read(NULL, in_folder("model"), &read), DIS_OK);
        assert_int_equal(dis_model_set_workers(read, table), DIS_OK);
        assert_true(foretold(read, &q) > .9);
        em_assert_close(q, first, 0);
        /* w8 to w11 are in the table, w12 to w15 are not: half of the latter's answers are right by chance */
        const double share = foretold_of(read, WORKERS, &q, &unknown);
        assert_int_equal(unknown, WORKERS / 2 * (ITEMS - TRAINED));
        if (share < .65) fail_msg("%s: %.3f", objectives[i], share);
        dis_model_destroy(read);
        dis_model_destroy(model);
        dis_worker_table_destroy(table);
    }
}

static void test_beta(void **state)
{
    (void)state;
    static const double alphas[] = {.2, 1, 4};
    for (size_t a = 0; a < 3; a++) {
        enum { DRAWS = 4000 };
        double sum = 0, squares = 0;
        for (uint64_t i = 0; i < DRAWS; i++) {
            const double share = dis__random_beta(alphas[a], 5, DIS_STREAM_MIXUP, i);
            assert_true(share >= 0 && share <= 1);
            sum += share;
            squares += (share - .5) * (share - .5);
        }
        em_assert_close(sum / DRAWS, .5, .03);
        em_assert_close(squares / DRAWS * 4 * (2 * alphas[a] + 1), 1, .06); /* variance 1 / (4 (2 alpha + 1)) */
    }
}

static void test_threads(void **state)
{
    (void)state;
    double one, three;
    static const char *const objectives[] = {"annotator", "annot-mix:norm=.1,contrast=.1"};
    for (size_t i = 0; i < 2; i++) {
        dis_model *a = trained_with(objectives[i], "age,group", 1), *b = trained_with(objectives[i], "age,group", 3);
        foretold(a, &one);
        foretold(b, &three);
        em_assert_close(one, three, 0);
        dis_model_destroy(a);
        dis_model_destroy(b);
    }
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
    const double *p = dis_labels_get_view(labels).p, *q = dis_labels_get_view(plain).p;
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
    const dis_examples none = {.size = sizeof(dis_examples), .items = items};
    assert_int_equal(dis_model_train(NULL, &none, NULL, &o, &model), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "needs votes"));
    const dis_examples all = {.size = sizeof(dis_examples), .items = items, .votes = votes};
    dis_worker_table *table = table_of();
    o.epochs = 1;
    o.objective = "annotator:norm=.5,contrast=.5";
    assert_int_equal(dis_model_train(NULL, &all, NULL, &o, &model), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "leave no weight for the votes"));
    o.objective = "annotator";
    o.worker_features = "shoe size";
    assert_int_equal(dis_model_train(NULL, &all, NULL, &o, &model), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "`worker_table`"));
    o.worker_table = table;
    assert_int_equal(dis_model_train(NULL, &all, NULL, &o, &model), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "no column \"shoe size\""));
    o.worker_features = "age";
    o.objective = "crowd:mw";
    assert_int_equal(dis_model_train(NULL, &all, NULL, &o, &model), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "objectives annotator and annot-mix"));
    o.worker_features = NULL;
    const dis_examples train = {.size = sizeof(dis_examples), .items = items, .votes = votes};
    assert_int_equal(dis_model_train(NULL, &train, NULL, &o, &model), DIS_OK);
    dis_labels *labels = NULL;
    assert_int_equal(dis_names_create(names, 1, &tasks), DIS_OK);
    assert_int_equal(dis_names_create(names, 1, &workers), DIS_OK);
    assert_int_equal(dis_model_predict_workers(NULL, model, items, tasks, workers, &labels, NULL), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "this model has no annotators"));
    assert_int_equal(dis_model_set_workers(model, table), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "uses no worker features"));
    dis_worker_table_destroy(table);
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
        cmocka_unit_test(test_two_opinions), cmocka_unit_test(test_class_head),
        cmocka_unit_test(test_features),     cmocka_unit_test(test_beta),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_nobody_in_particular),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
