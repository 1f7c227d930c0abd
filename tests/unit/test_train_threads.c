/* Training is equal to the bit, whatever the threads and the stops do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/train_support.h"

static void threads_change_nothing(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.size = sizeof(dis_examples), .labels = c.soft, .gold = c.gold};
        const dis_model_train_options o = quick(small_model(&c, i, &e.items), "gold+ce");
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

/* A model keeps its network for the next prediction, in whatever context that is. */
static void contexts_change_nothing(void **state)
{
    (void)state;
    crowd c = read_crowd();
    for (size_t i = 0; i < MODELS; i++) {
        dis_examples e = {.size = sizeof(dis_examples), .gold = c.gold};
        const dis_model_train_options o = quick(small_model(&c, i, &e.items), "gold");
        dis_model *m = train(&e, NULL, &o, 1);
        dis_labels *first = NULL;
        static const int threads[] = {2, 1, 3, 2};
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            dis_context_options co = dis_context_options_default();
            co.threads = threads[t];
            dis_context *ctx;
            dis_labels *p;
            assert_int_equal(dis_context_create(&co, &ctx), DIS_OK);
            assert_int_equal(dis_model_predict(ctx, m, e.items, NULL, &p), DIS_OK);
            dis_context_destroy(ctx);
            if (first) {
                assert_memory_equal(dis_labels_get_view(first).p, dis_labels_get_view(p).p, N * K * sizeof(double));
                dis_labels_destroy(p);
            } else {
                first = p;
            }
        }
        dis_labels_destroy(first);
        dis_model_destroy(m);
    }
    free_crowd(&c);
}

static int stop_after(void *user)
{
    return --*(int *)user < 0;
}

/* Stopped after every `stride`-th number of looks, and resumed: the same model. */
static void resume_everywhere(const dis_examples *e, const dis_examples *dev, dis_model_train_options o, int stride)
{
    dis_model *uninterrupted = train(e, dev, &o, 1);
    o.folder = folder;
    bool finished = false;
    for (int n_polls = 1; !finished; n_polls += stride) {
        unlink(in_folder("checkpoint.safetensors"));
        int left = n_polls;
        dis_context_options co = dis_context_options_default();
        co.threads = 1;
        co.stop = stop_after;
        co.user = &left;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&co, &ctx), DIS_OK);
        dis_model *m = NULL;
        o.resume = false;
        const dis_status status = dis_model_train(ctx, e, dev, &o, &m);
        dis_context_destroy(ctx);
        finished = status == DIS_OK;
        if (!finished) {
            assert_int_equal(status, DIS_ECANCELLED);
            o.resume = true;
            m = train(e, dev, &o, 2);
        }
        assert_same(uninterrupted, m, "");
        assert_int_equal(uninterrupted->best_epoch, m->best_epoch);
        assert_memory_equal(uninterrupted->epoch, m->epoch, uninterrupted->n_epochs * sizeof *uninterrupted->epoch);
        dis_model_destroy(m);
    }
    dis_model_destroy(uninterrupted);
}

static void resumed_is_the_same(void **state)
{
    (void)state;
    crowd c = read_crowd();
    dis_examples e = {.size = sizeof(dis_examples), .labels = c.soft, .gold = c.gold};
    dis_model_train_options o = quick(small_model(&c, GRU_TAGGER, &e.items), "gold+kl");
    resume_everywhere(&e, &e, o, 37);
    e.items = c.features;
    o = quick("mlp:hidden=8", "gold+kl");
    o.schedule = "linear:warm-up=3";
    o.optimizer = "adamw:decay=.01,clip=1";
    unlink(in_folder("best.safetensors"));
    resume_everywhere(&e, NULL, o, 5); /* the last epoch is the best, and no file says so */
    assert_int_not_equal(access(in_folder("best.safetensors"), F_OK), 0);
    resume_everywhere(&e, &e, o, 5);
    /* Another run's checkpoint, and a damaged one. */
    dis_model *m = NULL;
    o.folder = folder;
    o.resume = true;
    o.seed = 1;
    assert_int_equal(dis_model_train(NULL, &e, &e, &o, &m), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "other settings or data"));
    o.seed = 0;
    FILE *f = fopen(in_folder("checkpoint.safetensors"), "r+b");
    assert_non_null(f);
    fseek(f, -3, SEEK_END);
    const int byte = fgetc(f);
    fseek(f, -3, SEEK_END);
    fputc(byte ^ 1, f);
    fclose(f);
    assert_int_equal(dis_model_train(NULL, &e, &e, &o, &m), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "damaged"));
    assert_null(m);
    free_crowd(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(contexts_change_nothing),
        cmocka_unit_test(resumed_is_the_same),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
