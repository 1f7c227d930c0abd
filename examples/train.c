/* Trains on texts and soft labels, and says how well that went: train ITEMS LABELS GOLD [PREDICTIONS]
 *
 * One item in five, chosen by chance, is held out. Printed of those: accuracy against gold, and the cross-entropy of
 * the predictions under the soft labels in nats, each with its 95 % interval. PREDICTIONS: where the predictions are
 * written.
 *
 *     cc train.c $(pkg-config --cflags --libs dissent) -o train && ./train items.csv labels.csv gold.csv */
#include <dissent/dissent.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEED = 1, HELD_OUT = 5 };

typedef struct {
    dis_items *all, *train, *test;
    dis_labels *labels, *predicted;
    dis_gold *gold;
    dis_model *model;
} work;

/* 0 .. n - 1 in random order (Fisher and Yates), from the 64-bit generator of Vigna's splitmix64. */
static void shuffle(uint64_t seed, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        uint64_t x = seed += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        const size_t j = (size_t)((x ^ (x >> 31)) % i), last = order[i - 1];
        order[i - 1] = order[j];
        order[j] = last;
    }
}

static dis_status split(work *w)
{
    const size_t n = dis_items_get_view(w->all).n_items, n_test = n / HELD_OUT;
    size_t *order = malloc((n + 1) * sizeof *order);
    if (!order) return DIS_ELIMIT;
    shuffle(SEED, n, order);
    dis_status status = dis_items_gather(NULL, w->all, order, n_test, &w->test);
    if (status == DIS_OK) status = dis_items_gather(NULL, w->all, order + n_test, n - n_test, &w->train);
    free(order);
    return status;
}

static dis_status train_and_predict(work *w)
{
    dis_model_train_options o = dis_model_train_options_default();
    o.model = "text";
    o.objective = "soft-ce";
    o.seed = SEED;
    const dis_examples examples = {.size = sizeof(dis_examples), .items = w->train, .labels = w->labels};
    const dis_status status = dis_model_train(NULL, &examples, NULL, &o, &w->model);
    return status == DIS_OK ? dis_model_predict(NULL, w->model, w->test, NULL, &w->predicted) : status;
}

static void print_metric(const dis_evaluation_view *v, dis_evaluation_metric m)
{
    const char *name = dis_evaluation_metric_get(m)->name;
    if (v->metric[m].reason)
        printf("%s: %s\n", name, v->metric[m].reason);
    else
        printf("%s %.4f [%.4f, %.4f]\n", name, v->metric[m].value, v->metric[m].ci_low, v->metric[m].ci_high);
}

static dis_status evaluate(const dis_alignment_view *a)
{
    const dis_evaluation_input input = {.size = sizeof(dis_evaluation_input),
                                        .n_items = a->n_items,
                                        .n_classes = a->n_classes,
                                        .q = a->p[0],
                                        .human = a->p[1],
                                        .gold = a->gold};
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 1000;
    dis_evaluation *evaluation;
    const dis_status status = dis_evaluation_run(NULL, &input, &o, &evaluation);
    if (status != DIS_OK) return status;
    printf("%zu items held out\n", a->n_items);
    const dis_evaluation_view v = dis_evaluation_get_view(evaluation);
    print_metric(&v, DIS_EVALUATION_ACCURACY);
    print_metric(&v, DIS_EVALUATION_CROSS_ENTROPY);
    dis_evaluation_destroy(evaluation);
    return DIS_OK;
}

/* Predictions, soft labels and gold come in orders of their own: they are matched by task and class first. */
static dis_status match_and_evaluate(const work *w)
{
    const dis_alignment_source sources[] = {{"predictions", dis_labels_get_view(w->predicted)},
                                            {"labels", dis_labels_get_view(w->labels)}};
    dis_alignment_options o = dis_alignment_options_default();
    o.lenient = true; /* labels are of all items, predictions of those held out */
    o.gold = w->gold;
    dis_alignment *aligned;
    dis_status status = dis_alignment_run(NULL, sources, 2, &o, &aligned);
    if (status != DIS_OK) return status;
    const dis_alignment_view view = dis_alignment_get_view(aligned);
    status = evaluate(&view);
    dis_alignment_destroy(aligned);
    return status;
}

static dis_status run(work *w, char **paths, const char *output)
{
    dis_status status = dis_items_read(NULL, paths[0], NULL, &w->all);
    if (status == DIS_OK) status = dis_labels_read(NULL, paths[1], NULL, &w->labels);
    if (status == DIS_OK) status = dis_gold_read(NULL, paths[2], NULL, &w->gold);
    if (status == DIS_OK) status = split(w);
    if (status == DIS_OK) status = train_and_predict(w);
    if (status == DIS_OK) status = match_and_evaluate(w);
    if (status != DIS_OK || !output) return status;
    const dis_labels_view predicted = dis_labels_get_view(w->predicted);
    return dis_labels_write(NULL, &predicted, output, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: train ITEMS LABELS GOLD [PREDICTIONS]\n");
        return 2;
    }
    work w = {0};
    const dis_status status = run(&w, argv + 1, argc > 4 ? argv[4] : NULL);
    if (status != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
    dis_model_destroy(w.model);
    dis_labels_destroy(w.predicted);
    dis_items_destroy(w.train);
    dis_items_destroy(w.test);
    dis_gold_destroy(w.gold);
    dis_labels_destroy(w.labels);
    dis_items_destroy(w.all);
    return (int)status;
}
