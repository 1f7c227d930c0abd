/* train_support.h: a small crowd with items of every kind, and small models of every kind. After cmocka.h. */
#ifndef DIS_SUPPORT_TRAIN_SUPPORT_H
#define DIS_SUPPORT_TRAIN_SUPPORT_H
#include "dissent/dissent.h"
#include "tool/arrays.h"
#include "train/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scratch.h"

enum { N = 90, K = 3, F = 5 };

static inline FILE *begin(const char *name)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    return f;
}

/* Class k of item i has a bump at feature k; texts say it in words. Labels: hard as a one-hot table, soft, gold, votes
 * of three workers of whom the last is always wrong. */
static inline void write_crowd(void)
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

static inline crowd read_crowd(void)
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
    assert_int_equal(dis_gold_read(NULL, in_folder("gold.csv"), NULL, &c.gold), DIS_OK);
    const char *votes = in_folder("votes.csv");
    assert_int_equal(dis_votes_read(NULL, &votes, 1, NULL, &c.votes), DIS_OK);
    return c;
}

static inline void free_crowd(crowd *c)
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
enum { MODELS = 11, GRU_TAGGER = 4 };
static inline const char *small_model(const crowd *c, size_t i, const dis_items **items)
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
        {"encoder", c->texts},
        {"encoder:frozen=0,layer-decay=0.9", c->pairs},
        {"encoder-tagger", c->tokens},
        {"encoder:lora=3,lora-targets=all", c->texts},
    };
    *items = models[i].items;
    return models[i].spec;
}

static inline dis_model_train_options quick(const char *model, const char *objective)
{
    dis_model_train_options o = dis_model_train_options_default();
    o.model = model;
    o.objective = objective;
    o.epochs = 4;
    o.batch = 16;
    o.rate = .02;
    if (strncmp(model, "encoder", strlen("encoder")) == 0)
        o.encoder = DIS_SOURCE_DIR "/tests/parity/fixtures/encoders/bert_vocabulary";
    return o;
}

static inline dis_model *train(const dis_examples *e, const dis_examples *dev, const dis_model_train_options *o,
                               int threads)
{
    dis_context_options co = dis_context_options_default();
    co.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&co, &ctx), DIS_OK);
    dis_model *m = NULL;
    const dis_status status = dis_model_train(ctx, e, dev, o, &m);
    if (status != DIS_OK) print_message("%s\n", dis_last_error());
    assert_int_equal(status, DIS_OK);
    dis_context_destroy(ctx);
    return m;
}

/* The parameters whose name begins with `prefix` are the same to the bit. */
static inline void assert_same(const dis_model *a, const dis_model *b, const char *prefix)
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

static inline double accuracy(dis_model *m, const dis_items *items, const char *head)
{
    dis_labels *p;
    assert_int_equal(dis_model_predict(NULL, m, items, head, &p), DIS_OK);
    const dis_labels_view v = dis_labels_get_view(p);
    size_t right = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) sum += v.p[i * K + k];
        assert_true(fabs(sum - 1) < 1e-6);
        right += dis__argmax(v.p + i * K, K) == i % K;
    }
    dis_labels_destroy(p);
    return (double)right / N;
}

#endif
