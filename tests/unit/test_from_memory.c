/* Items, soft labels and gold labels from memory: the same tables as from files, the same model, what is refused, every
 * fault. */
#include "dissent/dissent.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

enum { N = 12, K = 2, F = 3 };

typedef struct {
    dis_names *tasks, *texts, *words, *classes;
    double p[N * K];
    float x[N * F];
    int32_t label[N];
    uint64_t sentence[4];
} world;

static dis_names *names(const char *const *text, size_t n)
{
    dis_names *out = NULL;
    assert_int_equal(dis_names_create(text, n, &out), DIS_OK);
    return out;
}

static world make_world(void)
{
    static const char *const ids[N] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    static const char *const texts[N] = {"good dog", "bad cat", "good", "bad",  "fine dog", "poor cat",
                                         "good cat", "bad dog", "fine", "poor", "so good",  "so bad"};
    static const char *const classes[K] = {"no", "yes"};
    world w = {.sentence = {0, 5, 6, N}};
    w.tasks = names(ids, N);
    w.texts = names(texts, N);
    w.words = names(ids, N);
    w.classes = names(classes, K);
    for (int i = 0; i < N; i++) {
        const bool yes = i % 2 == 0;
        w.p[i * K + 1] = yes ? .75 : .25;
        w.p[i * K] = 1 - w.p[i * K + 1];
        w.label[i] = yes;
        for (int f = 0; f < F; f++) w.x[i * F + f] = (float)(yes ? f : -f) + .125f * (float)i;
    }
    return w;
}

static void free_world(world *w)
{
    dis_names_destroy(w->tasks);
    dis_names_destroy(w->texts);
    dis_names_destroy(w->words);
    dis_names_destroy(w->classes);
}

static dis_items_view text_view(const world *w)
{
    return (dis_items_view){.size = sizeof(dis_items_view),
                            .kind = DIS_ITEMS_TEXT,
                            .n_items = N,
                            .tasks = w->tasks,
                            .n_texts = 1,
                            .texts = w->texts};
}

static dis_items_view feature_view(const world *w)
{
    return (dis_items_view){.size = sizeof(dis_items_view),
                            .kind = DIS_ITEMS_FEATURES,
                            .n_items = N,
                            .tasks = w->tasks,
                            .n_features = F,
                            .x = w->x};
}

static dis_items_view token_view(const world *w)
{
    return (dis_items_view){.size = sizeof(dis_items_view),
                            .kind = DIS_ITEMS_TOKENS,
                            .n_items = N,
                            .tasks = w->tasks,
                            .n_texts = 1,
                            .texts = w->words,
                            .n_sentences = 3,
                            .sentence = w->sentence};
}

static void keeps_what_it_is_shown(void **state)
{
    (void)state;
    world w = make_world();
    const dis_items_view views[] = {text_view(&w), feature_view(&w), token_view(&w)};
    for (size_t i = 0; i < 3; i++) {
        dis_items *items = NULL;
        assert_int_equal(dis_items_create(NULL, &views[i], &items), DIS_OK);
        const dis_items_view v = dis_items_get_view(items);
        assert_int_equal(v.kind, views[i].kind);
        assert_int_equal(v.n_items, N);
        assert_string_equal(dis_names_get(v.tasks, 3, NULL), "d");
        if (v.texts)
            assert_string_equal(dis_names_get(v.texts, 4, NULL), dis_names_get(views[i].texts, 4, NULL));
        else
            assert_memory_equal(v.x, w.x, sizeof w.x);
        assert_int_equal(v.n_sentences, views[i].n_sentences);
        dis_items_destroy(items);
    }
    dis_items_view images = {.size = sizeof(dis_items_view),
                             .kind = DIS_ITEMS_IMAGES,
                             .n_items = 2,
                             .height = 3,
                             .width = 2,
                             .channels = 3,
                             .n_features = 18,
                             .x = w.x};
    dis_items *items = NULL;
    assert_int_equal(dis_items_create(NULL, &images, &items), DIS_OK);
    assert_string_equal(dis_names_get(dis_items_get_view(items).tasks, 1, NULL), "1");
    assert_int_equal(dis_items_get_view(items).width, 2);
    dis_items_destroy(items);

    const dis_labels_view lv = {.size = sizeof(dis_labels_view),
                                .n_items = N,
                                .n_classes = K,
                                .p = w.p,
                                .tasks = w.tasks,
                                .classes = w.classes};
    dis_labels *labels = NULL;
    assert_int_equal(dis_labels_create(NULL, &lv, &labels), DIS_OK);
    assert_memory_equal(dis_labels_get_view(labels).p, w.p, sizeof w.p);
    dis_labels_destroy(labels);
    const dis_gold_view gv = {
        .size = sizeof(dis_gold_view), .n_items = N, .label = w.label, .tasks = w.tasks, .classes = w.classes};
    dis_gold *gold = NULL;
    assert_int_equal(dis_gold_create(NULL, &gv, &gold), DIS_OK);
    assert_int_equal(dis_gold_get_view(gold).label[2], 1);
    dis_gold_destroy(gold);
    free_world(&w);
}

/* The same model as from files, to the last bit of its predictions. */
static void trains_as_files_do(void **state)
{
    (void)state;
    world w = make_world();
    char items_csv[2048] = "task,text\n", labels_csv[2048] = "task,p:no,p:yes\n";
    for (size_t i = 0; i < N; i++) {
        char row[100];
        snprintf(row, sizeof row, "%s,%s\n", dis_names_get(w.tasks, i, NULL), dis_names_get(w.texts, i, NULL));
        strcat(items_csv, row);
        snprintf(row, sizeof row, "%s,%g,%g\n", dis_names_get(w.tasks, i, NULL), w.p[i * K], w.p[i * K + 1]);
        strcat(labels_csv, row);
    }
    dis_items *items[2] = {NULL};
    dis_labels *labels[2] = {NULL}, *predicted[2] = {NULL};
    dis_model *model[2] = {NULL};
    const dis_items_view iv = text_view(&w);
    const dis_labels_view lv = {.size = sizeof(dis_labels_view),
                                .n_items = N,
                                .n_classes = K,
                                .p = w.p,
                                .tasks = w.tasks,
                                .classes = w.classes};
    assert_int_equal(dis_items_read(NULL, put_text("items.csv", items_csv), NULL, &items[0]), DIS_OK);
    assert_int_equal(dis_labels_read(NULL, put_text("labels.csv", labels_csv), NULL, &labels[0]), DIS_OK);
    assert_int_equal(dis_items_create(NULL, &iv, &items[1]), DIS_OK);
    assert_int_equal(dis_labels_create(NULL, &lv, &labels[1]), DIS_OK);
    dis_model_train_options o = dis_model_train_options_default();
    o.model = "text:width=8,hidden=0,buckets=64";
    o.epochs = 2;
    for (int i = 0; i < 2; i++) {
        const dis_examples e = {.size = sizeof(dis_examples), .items = items[i], .labels = labels[i]};
        assert_int_equal(dis_model_train(NULL, &e, NULL, &o, &model[i]), DIS_OK);
        assert_int_equal(dis_model_predict(NULL, model[i], items[i], NULL, &predicted[i]), DIS_OK);
    }
    assert_memory_equal(dis_labels_get_view(predicted[0]).p, dis_labels_get_view(predicted[1]).p,
                        N * K * sizeof(double));
    for (int i = 0; i < 2; i++) {
        dis_labels_destroy(predicted[i]);
        dis_model_destroy(model[i]);
        dis_labels_destroy(labels[i]);
        dis_items_destroy(items[i]);
    }
    free_world(&w);
}

static void refused(const dis_items_view *v, dis_status status, const char *message)
{
    dis_items *items = NULL;
    assert_int_equal(dis_items_create(NULL, v, &items), status);
    if (!strstr(dis_last_error(), message)) print_message("%s\n", dis_last_error());
    assert_non_null(strstr(dis_last_error(), message));
    assert_null(items);
}

static void refuses_items(void **state)
{
    (void)state;
    world w = make_world();
    dis_items_view v = text_view(&w);
    v.n_items = 0;
    refused(&v, DIS_EDATA, "no items");
    v.n_items = N - 1;
    refused(&v, DIS_EUSAGE, "12 ids for 11 items");
    v = text_view(&w);
    v.n_texts = 2;
    refused(&v, DIS_EUSAGE, "12 texts for 12 items of 2 each");
    v = token_view(&w);
    w.sentence[1] = 6;
    refused(&v, DIS_EDATA, "sentence 1 (counted from 0) has no tokens");
    w.sentence[1] = 5;
    w.sentence[3] = N - 1;
    refused(&v, DIS_EDATA, "tokens 0 to 11 of 12");
    v.n_sentences = 0;
    refused(&v, DIS_EUSAGE, "and a sentence");
    v = feature_view(&w);
    w.x[4] = NAN;
    refused(&v, DIS_EDATA, "row 1, number 1 is not finite");
    v.x = NULL;
    refused(&v, DIS_EUSAGE, "items without numbers");
    v = (dis_items_view){.size = sizeof(dis_items_view),
                         .kind = DIS_ITEMS_IMAGES,
                         .n_items = 2,
                         .height = 3,
                         .width = 2,
                         .channels = 2,
                         .n_features = 18,
                         .x = w.x};
    refused(&v, DIS_EUSAGE, "images of 3 x 2 x 2, but 18 numbers each");
    static const char *const twice[N] = {"a", "b", "c", "d", "a", "f", "g", "h", "i", "j", "k", "l"};
    static const char *const empty[N] = {"a", "b", "", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    dis_names *odd = names(twice, N);
    v = text_view(&w);
    v.tasks = odd;
    refused(&v, DIS_EDATA, "the item \"a\" is repeated");
    dis_names_destroy(odd);
    v.tasks = odd = names(empty, N);
    refused(&v, DIS_EDATA, "item 2 (counted from 0) has an empty id");
    dis_names_destroy(odd);
    free_world(&w);
}

static void refuses_labels(void **state)
{
    (void)state;
    world w = make_world();
    dis_labels *labels = NULL;
    dis_gold *gold = NULL;
    static const char *const twice[K] = {"no", "no"}, *const empty[K] = {"no", ""};
    dis_names *same = names(twice, K), *blank = names(empty, K);
    const dis_labels_view good = {.size = sizeof(dis_labels_view),
                                  .n_items = N,
                                  .n_classes = K,
                                  .p = w.p,
                                  .tasks = w.tasks,
                                  .classes = w.classes};
    const dis_gold_view known = {
        .size = sizeof(dis_gold_view), .n_items = N, .label = w.label, .tasks = w.tasks, .classes = w.classes};
    dis_labels_view l = good;
    l.n_items = 0;
    assert_int_equal(dis_labels_create(NULL, &l, &labels), DIS_EDATA);
    l = good;
    l.n_items = N - 1;
    assert_int_equal(dis_labels_create(NULL, &l, &labels), DIS_EUSAGE);
    l = good;
    l.classes = same;
    assert_int_equal(dis_labels_create(NULL, &l, &labels), DIS_EDATA);
    assert_string_equal(dis_last_error(), "the class \"no\" is repeated");
    l.classes = blank;
    assert_int_equal(dis_labels_create(NULL, &l, &labels), DIS_EDATA);
    w.p[2] = .7;
    assert_int_equal(dis_labels_create(NULL, &good, &labels), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "the task \"b\" has probabilities that sum to 0.95"));
    w.p[2] = -1;
    assert_int_equal(dis_labels_create(NULL, &good, &labels), DIS_EDATA);
    w.p[2] = NAN;
    assert_int_equal(dis_labels_create(NULL, &good, &labels), DIS_EDATA);
    assert_null(labels);

    dis_gold_view g = known;
    g.n_items = 0;
    assert_int_equal(dis_gold_create(NULL, &g, &gold), DIS_EDATA);
    g = known;
    g.n_items = N - 1;
    assert_int_equal(dis_gold_create(NULL, &g, &gold), DIS_EUSAGE);
    g = known;
    g.classes = same;
    assert_int_equal(dis_gold_create(NULL, &g, &gold), DIS_EDATA);
    g.classes = blank;
    assert_int_equal(dis_gold_create(NULL, &g, &gold), DIS_EDATA);
    w.label[5] = K;
    assert_int_equal(dis_gold_create(NULL, &known, &gold), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "the label 2 of task \"f\" is outside of 2 classes"));
    assert_null(gold);
    dis_names_destroy(same);
    dis_names_destroy(blank);
    free_world(&w);
}

static dis_status make_all(void *arg)
{
    const world *w = arg;
    const dis_items_view views[] = {text_view(w), feature_view(w), token_view(w)};
    for (size_t i = 0; i < 3; i++) {
        dis_items *items = NULL;
        const dis_status status = dis_items_create(NULL, &views[i], &items);
        assert_true((status == DIS_OK) == (items != NULL));
        dis_items_destroy(items);
        if (status != DIS_OK) return status;
    }
    const dis_labels_view lv = {.size = sizeof(dis_labels_view),
                                .n_items = N,
                                .n_classes = K,
                                .p = w->p,
                                .tasks = w->tasks,
                                .classes = w->classes};
    dis_labels *labels = NULL;
    dis_status status = dis_labels_create(NULL, &lv, &labels);
    dis_labels_destroy(labels);
    if (status != DIS_OK) return status;
    const dis_gold_view gv = {
        .size = sizeof(dis_gold_view), .n_items = N, .label = w->label, .tasks = w->tasks, .classes = w->classes};
    dis_gold *gold = NULL;
    status = dis_gold_create(NULL, &gv, &gold);
    dis_gold_destroy(gold);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    world w = make_world();
    walk_faults(make_all, NULL, &w);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_it_is_shown), cmocka_unit_test(trains_as_files_do),
        cmocka_unit_test(refuses_items),          cmocka_unit_test(refuses_labels),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
