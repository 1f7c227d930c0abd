/* Times training and prediction through the library, on the files that PyTorch gets (peers_torch.py). One line of JSON:
 *
 *     bench_train features|tokens|texts ITEMS GOLD.csv MODEL BATCH EPOCHS
 *
 * start: CPU time from the start of the program to the first step, reading included; epoch: CPU time of
 * each epoch after the first, one thread, no checkpoints; predict: CPU time of seven predictions of all items;
 * parameters; peak: the most memory the process had, in bytes. Only public headers are used. */
#include "dissent/dissent.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_EPOCHS = 64, PREDICTIONS = 7 };

typedef struct {
    double polled, start;    /* asked: when training last asked whether to stop, which it does before a step */
    double mark[MAX_EPOCHS]; /* CPU time at the end of each epoch's first step */
    int n_marks, epochs;
} watch;

static double read_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ask(void *user)
{
    ((watch *)user)->polled = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    return 0;
}

static void progress(void *user, const char *what, double done)
{
    watch *w = user;
    if (strncmp(what, "training", 8) != 0 && strncmp(what, "loss", 4) != 0) return;
    if (w->n_marks == 0) w->start = w->polled;
    if (done * w->epochs + 1e-9 >= w->n_marks && w->n_marks < MAX_EPOCHS)
        w->mark[w->n_marks++] = read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void must(dis_status status)
{
    if (status == DIS_OK) return;
    fprintf(stderr, "bench_train: %s\n", dis_last_error());
    exit((int)status);
}

static dis_items *read_items(dis_context *ctx, const char *kind, const char *path)
{
    static const char *const texts[] = {"word", "stem"};
    dis_items_options o = dis_items_options_default();
    o.kind = strcmp(kind, "features") == 0 ? DIS_ITEMS_FEATURES
             : strcmp(kind, "tokens") == 0 ? DIS_ITEMS_TOKENS
                                           : DIS_ITEMS_TEXT;
    if (o.kind == DIS_ITEMS_TEXT) {
        o.columns = texts;
        o.n_columns = 2;
    }
    dis_items *items;
    must(dis_items_read(ctx, path, &o, &items));
    return items;
}

static void print_list(const char *name, const double *x, int n)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < n; i++) printf("%s%.9g", i ? ", " : "", x[i]);
    printf("], ");
}

int main(int argc, char **argv)
{
    watch w = {0};
    if (argc != 7) {
        fprintf(stderr, "usage: bench_train features|tokens|texts ITEMS GOLD.csv MODEL BATCH EPOCHS\n");
        return 2;
    }
    dis_context_options c = dis_context_options_default();
    c.threads = 1;
    c.progress = progress;
    c.stop = ask;
    c.user = &w;
    dis_context *ctx;
    must(dis_context_create(&c, &ctx));
    dis_items *items = read_items(ctx, argv[1], argv[2]);
    dis_gold *gold;
    must(dis_gold_read(ctx, argv[3], NULL, &gold));
    dis_model_train_options o = dis_model_train_options_default();
    o.model = argv[4];
    o.objective = "gold";
    o.batch = (size_t)atol(argv[5]);
    o.epochs = (size_t)(w.epochs = atoi(argv[6]));
    const dis_examples train = {.size = sizeof(dis_examples), .items = items, .gold = gold};
    dis_model *model;
    must(dis_model_train(ctx, &train, NULL, &o, &model));
    double epoch[MAX_EPOCHS], predict[PREDICTIONS];
    for (int e = 1; e < w.n_marks; e++) epoch[e - 1] = w.mark[e] - w.mark[e - 1];
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    for (int i = 0; i < PREDICTIONS; i++) {
        dis_labels *labels;
        const double begun = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        must(dis_model_predict(ctx, model, items, NULL, &labels));
        predict[i] = read_clock(CLOCK_PROCESS_CPUTIME_ID) - begun;
        dis_labels_destroy(labels);
    }
    printf("{\"start\": %.9g, ", w.start);
    print_list("epoch", epoch, w.n_marks - 1);
    print_list("predict", predict, PREDICTIONS);
    printf("\"parameters\": %zu, \"peak\": %.0f}\n", dis_model_get_view(model).n_parameters,
           (double)usage.ru_maxrss * 1024);
    dis_model_destroy(model);
    dis_gold_destroy(gold);
    dis_items_destroy(items);
    dis_context_destroy(ctx);
    return 0;
}
