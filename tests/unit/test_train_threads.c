/* Training: what must be equal is equal to the bit, whatever the threads, the stops and the disk do; what can be learned
 * is learned; what makes no sense is refused before work starts. */
#include "dissent/dissent.h"
#include "train/model.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "fault_walk.h"
#include "scratch.h"

enum { N = 90, K = 3, F = 5 };

static FILE *begin(const char *name)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    return f;
}

/* Class k of item i has a bump at feature k; texts say it in words. Labels: hard as a one-hot table, soft, gold, votes of
 * three workers of whom the last is always wrong. */
static void write_crowd(void)
{
    FILE *x = begin("x.csv"), *t = begin("t.csv"), *hard = begin("hard.csv"), *soft = begin("soft.csv"),
         *gold = begin("gold.csv"), *votes = begin("votes.csv"), *tokens = begin("tokens.csv"),
         *images = begin("images.npy");
    static const char *const words[] = {"red apple", "green pear", "blue plum"};
    fprintf(x, "task,a,b,c,d,e\n");
    fprintf(t, "task,text,stem\n");
    fprintf(tokens, "task,sentence,token\n");
    char head[129];
    snprintf(head, sizeof head, "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 4, 4), }", N);
    fprintf(images, "\x93NUMPY\x01%c\x76%c%-117s\n", 0, 0, head);
    fprintf(hard, "task,p:0,p:1,p:2\n");
    fprintf(soft, "task,p:0,p:1,p:2\n");
    fprintf(gold, "task,label\n");
    fprintf(votes, "task,worker,label\n");
    for (int i = 0; i < N; i++) {
        const int k = i % K;
        fprintf(x, "i%d", i);
        for (int f = 0; f < F; f++) fprintf(x, ",%g", (f == k) + .3 * sin(i * 7 + f * 3));
        fprintf(x, "\n");
        fprintf(t, "i%d,\"the %s number %d\",%s\n", i, words[k], i / 2, words[k]);
        fprintf(tokens, "i%d,%d,%s%d\n", i, (i + i / 4) / 5, words[k], i % 2);
        for (int pixel = 0; pixel < 16; pixel++) fputc(pixel / 4 == k ? 200 + i % 9 : 20 + pixel, images);
        fprintf(hard, "i%d,%d,%d,%d\n", i, k == 0, k == 1, k == 2);
        fprintf(soft, "i%d,%g,%g,%g\n", i, k == 0 ? .7 : .15, k == 1 ? .7 : .15, k == 2 ? .7 : .15);
        fprintf(gold, "i%d,%d\n", i, k);
        for (int w = 0; w < 3; w++) fprintf(votes, "i%d,w%d,%d\n", i, w, w == 2 ? (k + 1) % K : k);
    }
    FILE *const all[] = {x, t, hard, soft, gold, votes, tokens, images};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) fclose(all[i]);
}

typedef struct {
    dis_items *features, *texts, *pairs, *tokens, *images;
    dis_labels *hard, *soft;
    dis_gold *gold;
    dis_votes *votes;
} crowd;

static crowd read_crowd(void)
{
    crowd c;
    write_crowd();
    dis_items_options o = dis_items_options_default();
    assert_int_equal(dis_items_read(NULL, in_folder("t.csv"), &o, &c.texts), DIS_OK);
    const char *const both[] = {"text", "stem"};
    o.columns = both;
    o.n_columns = 2;
    assert_int_equal(dis_items_read(NULL, in_folder("t.csv"), &o, &c.pairs), DIS_OK);
    o = dis_items_options_default();
    o.kind = DIS_ITEMS_TOKENS;
    assert_int_equal(dis_items_read(NULL, in_folder("tokens.csv"), &o, &c.tokens), DIS_OK);
    FILE *ids = begin("ids.txt");
    for (int i = 0; i < N; i++) fprintf(ids, "i%d\n", i);
    fclose(ids);
    o.kind = DIS_ITEMS_IMAGES;
    o.tasks = in_folder("ids.txt");
    assert_int_equal(dis_items_read(NULL, in_folder("images.npy"), &o, &c.images), DIS_OK);
    o = dis_items_options_default();
    o.kind = DIS_ITEMS_FEATURES;
    assert_int_equal(dis_items_read(NULL, in_folder("x.csv"), &o, &c.features), DIS_OK);
    assert_int_equal(dis_labels_read(NULL, in_folder("hard.csv"), NULL, &c.hard), DIS_OK);
    assert_int_equal(dis_labels_read(NULL, in_folder("soft.csv"), NULL, &c.soft), DIS_OK);
    assert_int_equal(dis_gold_load(NULL, in_folder("gold.csv"), &c.gold), DIS_OK);
    const char *votes = in_folder("votes.csv");
    assert_int_equal(dis_votes_read(NULL, &votes, 1, NULL, &c.votes), DIS_OK);
    return c;
}

static void free_crowd(crowd *c)
{
    dis_items_destroy(c->features);
    dis_items_destroy(c->texts);
    dis_items_destroy(c->pairs);
    dis_items_destroy(c->tokens);
    dis_items_destroy(c->images);
    dis_labels_destroy(c->hard);
    dis_labels_destroy(c->soft);
    dis_gold_destroy(c->gold);
    dis_votes_destroy(c->votes);
}

/* One small model of each kind, and the items that it learns from. */
enum { MODELS = 7, GRU_TAGGER = 4 };
static const char *small_model(const crowd *c, size_t i, const dis_items **items)
{
    const struct {
        const char *spec;
        const dis_items *items;
    } models[MODELS] = {
        {"mlp:hidden=8", c->features},
        {"text:width=8,hidden=4,buckets=64", c->texts},
        {"text:width=8,hidden=4,buckets=0", c->pairs},
        {"tagger:word=8,character=4,hidden=4,layers=1,heads=2,feed=8", c->tokens},
        {"tagger:kind=additive,cell=gru,word=8,character=4,hidden=4", c->tokens},
        {"stem-cnn:width=4,length=12,first=2,second=4,feed=8", c->pairs},
        {"resnet:blocks=1/1/1,width=4,pad=1", c->images},
    };
    *items = models[i].items;
    return models[i].spec;
}

static dis_train_options quick(const char *model, const char *objective)
{
    dis_train_options o = dis_train_options_default();
    o.model = model;
    o.objective = objective;
    o.epochs = 4;
    o.batch = 16;
    o.rate = .02;
    return o;
}

static dis_model *train(const dis_examples *e, const dis_examples *dev, const dis_train_options *o, int threads)
{
    dis_context_options co = dis_context_options_default();
    co.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&co, &ctx), DIS_OK);
    dis_model *m = NULL;
    const dis_status status = dis_train(ctx, e, dev, o, &m);
    if (status != DIS_OK) print_message("%s\n", dis_last_error());
    assert_int_equal(status, DIS_OK);
    dis_context_destroy(ctx);
    return m;
}

/* The parameters whose name begins with `prefix` are the same to the bit. */
static void assert_same(const dis_model *a, const dis_model *b, const char *prefix)
{
    size_t n = 0;
    for (size_t i = 0; i < a->weights.n; i++) {
        if (strncmp(a->weights.info[i].name, prefix, strlen(prefix)) != 0) continue;
        for (size_t j = 0; j < b->weights.n; j++)
            if (strcmp(a->weights.info[i].name, b->weights.info[j].name) == 0) {
                assert_memory_equal(a->weights.value[i], b->weights.value[j],
                                    a->weights.info[i].n * sizeof **a->weights.value);
                n++;
            }
    }
    assert_true(n > 0);
}

static double accuracy(dis_model *m, const dis_items *items, const char *head)
{
    dis_labels *p;
    assert_int_equal(dis_model_predict(NULL, m, items, head, &p), DIS_OK);
    const dis_labels_view v = dis_labels_look(p);
    size_t right = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) sum += v.p[i * K + k];
        assert_true(fabs(sum - 1) < 1e-6);
        right += dis_argmax(v.p + i * K, K) == i % K;
    }
    dis_labels_destroy(p);
    return (double)right / N;
}

static void every_objective_learns(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; dis_objective_at(i); i++)
        for (int text = 0; text < 2; text++) {
            dis_train_options o = quick(text ? "text:width=16,hidden=0,buckets=512" : "mlp:hidden=16,dropout=0",
                                        dis_objective_at(i)->name);
            o.epochs = 25;
            const dis_examples e = {.items = text ? c.texts : c.features,
                                    .labels = c.soft,
                                    .gold = c.gold,
                                    .votes = c.votes};
            dis_model *m = train(&e, NULL, &o, 1);
            const dis_model_view v = dis_model_look(m);
            assert_int_equal(v.n_examples, N);
            assert_true(v.epoch[24].loss < v.epoch[0].loss);
            assert_true(accuracy(m, e.items, NULL) > .95);
            if (v.n_heads > 1) assert_true(accuracy(m, e.items, "soft") > .95);
            dis_model_destroy(m);
        }
    free_crowd(&c);
}

static void equal_targets_give_equal_models(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_examples e = {.items = c.features, .labels = c.hard, .gold = c.gold};
    dis_train_options o = quick("mlp:hidden=16", "gold");
    dis_model *gold = train(&e, NULL, &o, 1);
    o.objective = "silver";
    dis_model *silver = train(&e, NULL, &o, 1);
    assert_same(gold, silver, "");
    o.objective = "soft-ce";
    dis_model *soft = train(&e, NULL, &o, 1);
    assert_same(gold, soft, "");
    dis_model_destroy(soft);
    o.objective = "gold+kl"; /* weight 0 on the soft head */
    o.soft_weight = 0;
    dis_model *multi = train(&e, NULL, &o, 1);
    assert_same(gold, multi, "hidden");
    assert_same(gold, multi, "out.w");
    dis_model_destroy(gold);
    dis_model_destroy(silver);
    dis_model_destroy(multi);
    free_crowd(&c);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.labels = c.soft, .gold = c.gold};
        const dis_train_options o = quick(small_model(&c, i, &e.items), "gold+ce");
        dis_model *one = train(&e, &e, &o, 1);
        static const int threads[] = {2, 3, 7};
        for (size_t t = 0; t < 3; t++) {
            dis_model *more = train(&e, &e, &o, threads[t]);
            assert_same(one, more, "");
            assert_memory_equal(one->epoch, more->epoch, one->n_epochs * sizeof *one->epoch);
            dis_model_destroy(more);
        }
        dis_model_destroy(one);
    }
    free_crowd(&c);
}

static int stop_after(void *user)
{
    return --*(int *)user < 0;
}

/* Stopped after every `stride`-th number of looks, and resumed: the same model. */
static void resume_everywhere(const dis_examples *e, dis_train_options o, int stride)
{
    dis_model *whole = train(e, e, &o, 1);
    o.folder = folder;
    bool finished = false;
    for (int looks = 1; !finished; looks += stride) {
        unlink(in_folder("checkpoint.safetensors"));
        int left = looks;
        dis_context_options co = dis_context_options_default();
        co.threads = 1;
        co.stop = stop_after;
        co.user = &left;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&co, &ctx), DIS_OK);
        dis_model *m = NULL;
        o.resume = false;
        const dis_status status = dis_train(ctx, e, e, &o, &m);
        dis_context_destroy(ctx);
        finished = status == DIS_OK;
        if (!finished) {
            assert_int_equal(status, DIS_ECANCELLED);
            o.resume = true;
            m = train(e, e, &o, 2);
        }
        assert_same(whole, m, "");
        assert_int_equal(whole->best_epoch, m->best_epoch);
        assert_memory_equal(whole->epoch, m->epoch, whole->n_epochs * sizeof *whole->epoch);
        dis_model_destroy(m);
    }
    dis_model_destroy(whole);
}

static void resumed_is_the_same(void **state)
{
    (void)state;
    crowd c = read_crowd();
    dis_examples e = {.labels = c.soft, .gold = c.gold};
    dis_train_options o = quick(small_model(&c, GRU_TAGGER, &e.items), "gold+kl");
    resume_everywhere(&e, o, 37);
    e.items = c.features;
    o = quick("mlp:hidden=8", "gold+kl");
    o.schedule = "linear:warm-up=3";
    o.optimizer = "adamw:decay=.01,clip=1";
    resume_everywhere(&e, o, 5);
    /* Another run's checkpoint, and a damaged one. */
    dis_model *m = NULL;
    o.folder = folder;
    o.resume = true;
    o.seed = 1;
    assert_int_equal(dis_train(NULL, &e, &e, &o, &m), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "other settings or other data"));
    o.seed = 0;
    FILE *f = fopen(in_folder("checkpoint.safetensors"), "r+b");
    assert_non_null(f);
    fseek(f, -3, SEEK_END);
    const int byte = fgetc(f);
    fseek(f, -3, SEEK_END);
    fputc(byte ^ 1, f);
    fclose(f);
    assert_int_equal(dis_train(NULL, &e, &e, &o, &m), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "damaged"));
    assert_null(m);
    free_crowd(&c);
}

static void saved_is_the_same(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.labels = c.soft, .gold = c.gold};
        const char *spec = small_model(&c, i, &e.items);
        const dis_train_options o = quick(i ? spec : "mlp:hidden=4/3,scale=standard", "gold+inverse-kl");
        dis_model *m = train(&e, &e, &o, 1), *again;
        const char *to = in_folder("model");
        assert_int_equal(dis_model_save(NULL, m, to), DIS_OK);
        assert_int_equal(dis_model_load(NULL, to, &again), DIS_OK);
        assert_same(m, again, "");
        const dis_model_view v = dis_model_look(again);
        assert_string_equal(v.objective, "gold+inverse-kl");
        assert_string_equal(v.keep, "macro_f1");
        assert_int_equal(v.n_epochs, 4);
        dis_labels *p, *q;
        assert_int_equal(dis_model_predict(NULL, m, e.items, "soft", &p), DIS_OK);
        assert_int_equal(dis_model_predict(NULL, again, e.items, "soft", &q), DIS_OK);
        assert_memory_equal(dis_labels_look(p).p, dis_labels_look(q).p, N * K * sizeof(double));
        dis_labels_destroy(p);
        dis_labels_destroy(q);
        dis_model_destroy(m);
        dis_model_destroy(again);
    }
    free_crowd(&c);
}

/* What each model can learn, it learns: its items tell the classes apart. */
static void every_model_learns(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.gold = c.gold};
        dis_train_options o = quick(small_model(&c, i, &e.items), "gold");
        o.epochs = 60;
        o.rate = .01;
        o.optimizer = "adam";
        dis_model *m = train(&e, &e, &o, 1);
        assert_true(accuracy(m, e.items, NULL) > .95);
        dis_model_destroy(m);
    }
    free_crowd(&c);
}

static void refusals(void **state)
{
    (void)state;
    crowd c = read_crowd();
    FILE *f = begin("few.csv");
    fputs("task,label\ni0,0\ni1,1\n", f);
    fclose(f);
    f = begin("odd.csv");
    fputs("task,label\ni0,0\ni1,9\n", f);
    fclose(f);
    dis_gold *few, *odd;
    assert_int_equal(dis_gold_load(NULL, in_folder("few.csv"), &few), DIS_OK);
    assert_int_equal(dis_gold_load(NULL, in_folder("odd.csv"), &odd), DIS_OK);
    const struct {
        const char *model, *objective, *message;
        dis_examples e;
        dis_status status;
    } cases[] = {
        {"mpl", "gold", "no model \"mpl\"; did you mean mlp? There are: mlp, text", {.items = c.features}, DIS_EUSAGE},
        {"mlp", "glod", "no objective \"glod\"", {.items = c.features}, DIS_EUSAGE},
        {"mlp:hide=3", "gold", "no option \"hide\"", {.items = c.features}, DIS_EUSAGE},
        {"mlp", "gold", "these items are texts", {.items = c.texts, .gold = c.gold}, DIS_EUSAGE},
        {"mlp", "gold", "needs gold labels", {.items = c.features, .labels = c.soft}, DIS_EUSAGE},
        {"mlp", "kl", "needs soft labels", {.items = c.features, .gold = c.gold}, DIS_EUSAGE},
        {"mlp", "crowd:mw", "needs votes", {.items = c.features, .labels = c.soft}, DIS_EUSAGE},
        {"mlp",
         "gold",
         "the item \"i2\" has no label, as have 87 others",
         {.items = c.features, .gold = few},
         DIS_EDATA},
        {"mlp",
         "gold+kl",
         "the class \"9\" of the gold labels is none of the model's",
         {.items = c.features, .labels = c.soft, .gold = odd},
         DIS_EDATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis_train_options o = quick(cases[i].model, cases[i].objective);
        dis_model *m = NULL;
        assert_int_equal(dis_train(NULL, &cases[i].e, NULL, &o, &m), cases[i].status);
        if (!strstr(dis_last_error(), cases[i].message)) print_message("%s\n", dis_last_error());
        assert_non_null(strstr(dis_last_error(), cases[i].message));
        assert_null(m);
    }
    dis_train_options o = quick("mlp", "gold");
    o.lenient = true;
    const dis_examples some = {.items = c.features, .gold = few};
    dis_model *m = train(&some, NULL, &o, 1);
    assert_int_equal(dis_model_look(m).n_left_out, N - 2);
    dis_model_destroy(m);
    dis_gold_destroy(few);
    dis_gold_destroy(odd);
    free_crowd(&c);
}

typedef struct {
    crowd c;
    size_t model;
} fault_case;

static dis_status everything(void *arg)
{
    fault_case *f = arg;
    dis_examples e = {.labels = f->c.soft, .gold = f->c.gold};
    dis_train_options o = quick(small_model(&f->c, f->model, &e.items), "gold+kl");
    o.epochs = 1;
    o.batch = N;
    o.folder = folder;
    dis_model *m = NULL, *again = NULL;
    dis_labels *p = NULL;
    dis_status status = dis_train(NULL, &e, &e, &o, &m);
    if (status == DIS_OK) status = dis_model_save(NULL, m, in_folder("faulty"));
    if (status == DIS_OK) status = dis_model_load(NULL, in_folder("faulty"), &again);
    if (status == DIS_OK) status = dis_model_predict(NULL, again, e.items, NULL, &p);
    dis_labels_destroy(p);
    dis_model_destroy(m);
    dis_model_destroy(again);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    fault_case f = {.c = read_crowd()};
    for (f.model = 0; f.model < MODELS; f.model++) walk_faults(everything, NULL, &f);
    free_crowd(&f.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_objective_learns),
        cmocka_unit_test(equal_targets_give_equal_models),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(resumed_is_the_same),
        cmocka_unit_test(every_model_learns),
        cmocka_unit_test(saved_is_the_same),
        cmocka_unit_test(refusals),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
