/* Training: what must be equal is equal to the bit, whatever the disk does; what can be learned is learned; what makes
 * no sense is refused before work starts. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/train_support.h"

static void every_objective_learns(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; dis_objective_get(i); i++)
        for (int way = 0; way < 4; way++) {
            const dis_objective *row = dis_objective_get(i);
            const int text = way % 2;
            const bool crowd_layer = strncmp(row->name, "crowd:", 6) == 0; /* annotator learns vote by vote */
            /* One of three workers is always wrong, and maps of logits may then settle on another order of the classes
             * than the majority's: a warm-up tells them which one is meant, a small rate keeps it. */
            char spec[64];
            snprintf(spec, sizeof spec, "%s%s", row->name,
                     !row->needs_votes ? ""
                     : !crowd_layer    ? ":hidden=16"
                     : way < 2         ? ":on=probabilities"
                                       : ":on=logits,warm-up=10");
            if (way >= 2 && !crowd_layer) continue;
            dis_model_train_options o =
                quick(text ? "text:width=16,hidden=0,buckets=512" : "mlp:hidden=16,dropout=0", spec);
            const size_t epochs = SANITIZED && way < 2 ? 6 : 25;
            o.epochs = epochs;
            if (way >= 2) o.rate = .005;
            const dis_examples e = {.size = sizeof(dis_examples),
                                    .items = text ? c.texts : c.features,
                                    .labels = c.soft,
                                    .gold = c.gold,
                                    .votes = c.votes};
            dis_model *m = train(&e, NULL, &o, 1);
            const dis_model_view v = dis_model_get_view(m);
            assert_int_equal(v.n_examples, row->needs_votes && !crowd_layer ? dis_votes_get_view(c.votes).n_votes : N);
            assert_true(v.epoch[epochs - 1].loss < v.epoch[0].loss);
            /* annotator: no one in particular is asked here, and a tenth of the votes were learned so */
            const double learned = epochs < 25 ? 0 : row->needs_votes && !crowd_layer ? .6 : .95;
            assert_true(accuracy(m, e.items, NULL) > learned);
            if (v.n_heads > 1 && !row->needs_votes) assert_true(accuracy(m, e.items, "soft") > learned);
            dis_model_destroy(m);
        }
    free_crowd(&c);
}

/* One head and two learn silver labels from the same items: with ties dropped neither sees a tied item. */
static void silver_ties(void **state)
{
    (void)state;
    enum { TIED = 4 };
    crowd c = read_crowd();
    FILE *f = begin("tied.csv");
    fputs("task,p:0,p:1,p:2\n", f);
    for (int i = 0; i < N; i++) fprintf(f, "i%d,%s\n", i, i < TIED ? ".4,.2,.4" : i % K ? ".1,.8,.1" : "1,0,0");
    fclose(f);
    dis_labels *tied;
    assert_int_equal(dis_labels_read(NULL, in_folder("tied.csv"), NULL, &tied), DIS_OK);
    const struct {
        const char *objective;
        size_t used;
    } cases[] = {
        {"silver", N - TIED},
        {"silver+kl", N - TIED},
        {"silver+js:ties=drop", N - TIED},
        {"silver:ties=first", N},
        {"silver+inverse-kl:ties=first", N},
        {"kl", N},
    };
    const dis_examples e = {.size = sizeof(dis_examples), .items = c.features, .labels = tied, .gold = c.gold};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis_model_train_options o = quick("mlp:hidden=4", cases[i].objective);
        dis_model *m = train(&e, NULL, &o, 1);
        assert_int_equal(dis_model_get_view(m).n_examples, cases[i].used);
        assert_int_equal(dis_model_get_view(m).n_left_out, N - cases[i].used);
        dis_model_destroy(m);
    }
    dis_model_train_options o = quick("mlp:hidden=4", "silver");
    dis_model *one = train(&e, NULL, &o, 1);
    o.objective = "silver+kl";
    o.soft_weight = 0;
    dis_model *two = train(&e, NULL, &o, 1);
    assert_same(one, two, "hidden");
    dis_model_destroy(one);
    dis_model_destroy(two);
    dis_labels_destroy(tied);
    free_crowd(&c);
}

/* Up to its last epoch a warm-up is training on the majority of the votes; then the crowd layer takes over. */
static void warm_up_is_majority_training(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_examples e = {.size = sizeof(dis_examples), .items = c.features, .gold = c.gold, .votes = c.votes};
    dis_model_train_options o = quick("mlp:hidden=8", "crowd:mw:warm-up=4");
    o.epochs = 6;
    dis_model *warm = train(&e, &e, &o, 1);
    o.objective = "gold"; /* the majority is right everywhere */
    dis_model *plain = train(&e, &e, &o, 1);
    const dis_model_view a = dis_model_get_view(warm), b = dis_model_get_view(plain);
    for (size_t i = 0; i < 4; i++) assert_true(a.epoch[i].loss == b.epoch[i].loss && a.epoch[i].dev == b.epoch[i].dev);
    assert_true(a.epoch[4].loss != b.epoch[4].loss);
    assert_true(a.best_epoch >= 4);
    dis_model_destroy(warm);
    dis_model_destroy(plain);
    free_crowd(&c);
}

static void equal_targets_give_equal_models(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_examples e = {.size = sizeof(dis_examples), .items = c.features, .labels = c.hard, .gold = c.gold};
    dis_model_train_options o = quick("mlp:hidden=16", "gold");
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

static void saved_is_the_same(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.size = sizeof(dis_examples), .labels = c.soft, .gold = c.gold};
        const char *spec = small_model(&c, i, &e.items);
        const dis_model_train_options o = quick(i ? spec : "mlp:hidden=4/3,scale=standard", "gold+inverse-kl");
        dis_model *m = train(&e, &e, &o, 1), *again;
        const char *to = in_folder("model");
        assert_int_equal(dis_model_write(NULL, m, to), DIS_OK);
        assert_int_equal(dis_model_read(NULL, to, &again), DIS_OK);
        assert_same(m, again, "");
        const dis_model_view v = dis_model_get_view(again);
        assert_string_equal(v.objective, "gold+inverse-kl");
        assert_string_equal(v.keep, "macro_f1");
        assert_int_equal(v.n_epochs, 4);
        dis_labels *p, *q;
        assert_int_equal(dis_model_predict(NULL, m, e.items, "soft", &p), DIS_OK);
        assert_int_equal(dis_model_predict(NULL, again, e.items, "soft", &q), DIS_OK);
        assert_memory_equal(dis_labels_get_view(p).p, dis_labels_get_view(q).p, N * K * sizeof(double));
        dis_labels_destroy(p);
        dis_labels_destroy(q);
        dis_model_destroy(m);
        dis_model_destroy(again);
    }
    free_crowd(&c);
}

/* Numbers of a large file are used where they lie; a file that was changed is refused all the same. */
static void large_files_are_mapped(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_examples e = {.size = sizeof(dis_examples), .items = c.features, .gold = c.gold};
    dis_model_train_options o = quick("mlp:hidden=1600/1600,dropout=0", "gold");
    o.epochs = 1;
    o.batch = N;
    dis_model *m = train(&e, NULL, &o, 1), *again = NULL;
    assert_null(m->weights.file.map);
    assert_int_equal(dis_model_write(NULL, m, in_folder("large")), DIS_OK);
    assert_int_equal(dis_model_read(NULL, in_folder("large"), &again), DIS_OK);
    assert_non_null(again->weights.file.map);
    assert_same(m, again, "");
    assert_int_equal(dis_model_write(NULL, again, in_folder("large")), DIS_OK); /* over what is mapped */
    dis_labels *p, *q;
    assert_int_equal(dis_model_predict(NULL, m, e.items, NULL, &p), DIS_OK);
    assert_int_equal(dis_model_predict(NULL, again, e.items, NULL, &q), DIS_OK);
    assert_memory_equal(dis_labels_get_view(p).p, dis_labels_get_view(q).p, N * K * sizeof(double));
    dis_labels_destroy(p);
    dis_labels_destroy(q);
    dis_model_destroy(again);
    dis_model_destroy(m);
    glob_t found;
    assert_int_equal(glob(in_folder("large/weights-*"), 0, NULL, &found), 0);
    FILE *f = fopen(found.gl_pathv[0], "r+b");
    assert_non_null(f);
    fseek(f, -3, SEEK_END);
    fputc(1, f);
    fclose(f);
    globfree(&found);
    assert_int_equal(dis_model_read(NULL, in_folder("large"), &again), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "damaged or replaced"));
    free_crowd(&c);
}

/* What a model says of a sentence does not depend on the sentences around it, nor on what it was asked before. */
static void predictions_stand_alone(void **state)
{
    (void)state;
    enum { COPIES = 900, WORDS = 5 };
    crowd c = read_crowd();
    FILE *f = begin("many.conll");
    for (int i = 0; i < COPIES; i++)
        fputs(i % 3 ? "i1\ni2\ni3\ni4\nelsewhere\n\n" : "i1\ni2\ni3\ni4\nelsewhere\n\nodd\n\n", f);
    fclose(f);
    dis_items_options io = dis_items_options_default();
    io.kind = DIS_ITEMS_TOKENS;
    dis_items *many;
    assert_int_equal(dis_items_read(NULL, in_folder("many.conll"), &io, &many), DIS_OK);
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.size = sizeof(dis_examples), .labels = c.soft, .gold = c.gold};
        const dis_model_train_options o = quick(small_model(&c, i, &e.items), "gold+kl");
        if (e.items != c.tokens) continue;
        dis_model *m = train(&e, NULL, &o, 1);
        dis_labels *p[3];
        assert_int_equal(dis_model_predict(NULL, m, many, "soft", &p[0]), DIS_OK);
        assert_int_equal(dis_model_predict(NULL, m, e.items, "gold", &p[1]), DIS_OK);
        assert_int_equal(dis_model_predict(NULL, m, many, "soft", &p[2]), DIS_OK);
        const dis_labels_view first = dis_labels_get_view(p[0]), again = dis_labels_get_view(p[2]);
        assert_int_equal(first.n_items, COPIES * WORDS + COPIES / 3); /* more than a batch */
        assert_memory_equal(first.p, again.p, first.n_items * first.n_classes * sizeof(double));
        const size_t row = first.n_classes, sentence = WORDS * row;
        for (int copy = 1; copy < COPIES; copy++) {
            const size_t odd = (size_t)(copy + 2) / 3;
            assert_memory_equal(first.p, first.p + (size_t)copy * sentence + odd * row, sentence * sizeof(double));
        }
        for (int k = 0; k < 3; k++) dis_labels_destroy(p[k]);
        dis_model_destroy(m);
    }
    dis_items_destroy(many);
    free_crowd(&c);
}

/* What each model can learn, it learns: its items tell the classes apart. */
static void every_model_learns(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.size = sizeof(dis_examples), .gold = c.gold};
        dis_model_train_options o = quick(small_model(&c, i, &e.items), "gold");
        o.epochs = SANITIZED ? 3 : 60;
        o.rate = .01;
        o.optimizer = "adam";
        dis_model *m = train(&e, &e, &o, 1);
        assert_true(accuracy(m, e.items, NULL) > (SANITIZED ? 0 : .95));
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
    assert_int_equal(dis_gold_read(NULL, in_folder("few.csv"), NULL, &few), DIS_OK);
    assert_int_equal(dis_gold_read(NULL, in_folder("odd.csv"), NULL, &odd), DIS_OK);
    const struct {
        const char *model, *objective, *message;
        dis_examples e;
        dis_status status;
    } cases[] = {
        {"mpl",
         "gold",
         "no model \"mpl\"; did you mean mlp? There are: mlp, text",
         {.size = sizeof(dis_examples), .items = c.features},
         DIS_EUSAGE},
        {"mlp", "glod", "no objective \"glod\"", {.size = sizeof(dis_examples), .items = c.features}, DIS_EUSAGE},
        {"mlp:hide=3", "gold", "no option \"hide\"", {.size = sizeof(dis_examples), .items = c.features}, DIS_EUSAGE},
        {"mlp",
         "gold",
         "these items are texts",
         {.size = sizeof(dis_examples), .items = c.texts, .gold = c.gold},
         DIS_EUSAGE},
        {"mlp",
         "gold",
         "needs gold labels",
         {.size = sizeof(dis_examples), .items = c.features, .labels = c.soft},
         DIS_EUSAGE},
        {"mlp",
         "kl",
         "needs soft labels",
         {.size = sizeof(dis_examples), .items = c.features, .gold = c.gold},
         DIS_EUSAGE},
        {"mlp",
         "crowd:mw",
         "needs votes",
         {.size = sizeof(dis_examples), .items = c.features, .labels = c.soft},
         DIS_EUSAGE},
        {"mlp",
         "crowd:mw:on=q",
         "objective crowd:mw: on=q: must be logits|probabilities",
         {.size = sizeof(dis_examples)},
         DIS_EUSAGE},
        {"mlp", "crowd:zz", "no objective \"crowd:zz\"", {.size = sizeof(dis_examples)}, DIS_EUSAGE},
        {"mlp",
         "kl:ties=drop",
         "objective kl: no option \"ties\"; options are: none",
         {.size = sizeof(dis_examples)},
         DIS_EUSAGE},
        {"mlp",
         "crowd:vb:warm-up=4",
         "warm-up=4 leaves none of 4 epochs",
         {.size = sizeof(dis_examples), .items = c.features, .votes = c.votes},
         DIS_EUSAGE},
        {"mlp",
         "gold",
         "the item \"i2\" has no label, nor have 87 others; `lenient`",
         {.size = sizeof(dis_examples), .items = c.features, .gold = few},
         DIS_EDATA},
        {"mlp",
         "gold+kl",
         "the class \"9\" of the gold labels is not a class of the model",
         {.size = sizeof(dis_examples), .items = c.features, .labels = c.soft, .gold = odd},
         DIS_EDATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis_model_train_options o = quick(cases[i].model, cases[i].objective);
        dis_model *m = NULL;
        assert_int_equal(dis_model_train(NULL, &cases[i].e, NULL, &o, &m), cases[i].status);
        if (!strstr(dis_last_error(), cases[i].message)) print_message("%s\n", dis_last_error());
        assert_non_null(strstr(dis_last_error(), cases[i].message));
        assert_null(m);
    }
    dis_model_train_options o = quick("mlp", "gold");
    o.lenient = true;
    const dis_examples some = {.size = sizeof(dis_examples), .items = c.features, .gold = few};
    dis_model *m = train(&some, NULL, &o, 1);
    assert_int_equal(dis_model_get_view(m).n_left_out, N - 2);
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
    dis_examples e = {.size = sizeof(dis_examples), .labels = f->c.soft, .gold = f->c.gold};
    dis_model_train_options o = quick(small_model(&f->c, f->model, &e.items), "gold+kl");
    o.epochs = 1;
    o.batch = N;
    o.folder = folder;
    dis_model *m = NULL, *again = NULL;
    dis_labels *p = NULL;
    dis_status status = dis_model_train(NULL, &e, &e, &o, &m);
    if (status == DIS_OK) status = dis_model_write(NULL, m, in_folder("faulty"));
    if (status == DIS_OK) status = dis_model_read(NULL, in_folder("faulty"), &again);
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
        cmocka_unit_test(silver_ties),
        cmocka_unit_test(warm_up_is_majority_training),
        cmocka_unit_test(equal_targets_give_equal_models),
        cmocka_unit_test(every_model_learns),
        cmocka_unit_test(saved_is_the_same),
        cmocka_unit_test(large_files_are_mapped),
        cmocka_unit_test(predictions_stand_alone),
        cmocka_unit_test(refusals),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
