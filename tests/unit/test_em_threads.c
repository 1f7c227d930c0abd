/* Any number of threads gives the same bytes: posteriors, parameters and objective of every EM method, on problems
 * large enough to be cut into many shards, with few and with many workers. */
#include "support/em_support.h"
#include "support/sanitized.h"

static uint64_t state_ = 12345;

static uint64_t next_random(void)
{
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
}

static dis_votes *make(size_t n_votes, size_t n_workers, size_t n_classes, size_t per_item)
{
    uint32_t *task = malloc(n_votes * sizeof *task), *worker = malloc(n_votes * sizeof *worker);
    uint16_t *label = malloc(n_votes * sizeof *label);
    for (size_t v = 0; v < n_votes; v++) {
        task[v] = (uint32_t)(v / per_item);
        worker[v] = (uint32_t)(next_random() % n_workers);
        label[v] = (uint16_t)(next_random() % 10 < 6 ? (v / per_item) % n_classes : next_random() % n_classes);
    }
    dis_votes *votes =
        em_make_votes(n_votes, task, worker, label, (n_votes + per_item - 1) / per_item, n_workers, n_classes);
    free(task);
    free(worker);
    free(label);
    return votes;
}

static void assert_same(const dis_fit *a, const dis_fit *b, size_t n, const char *spec, int threads)
{
    if (memcmp(dis_fit_p(a), dis_fit_p(b), n * sizeof(double)) != 0)
        fail_msg("%s: posteriors differ with %d threads", spec, threads);
    const dis_fit_view u = dis_fit_get_view(a), v = dis_fit_get_view(b);
    assert_int_equal(u.n_trace, v.n_trace);
    assert_memory_equal(u.trace, v.trace, u.n_trace * sizeof(double));
    const dis_parameter *p, *q;
    for (size_t i = 0; (p = dis_fit_get_parameter(a, i)); i++) {
        q = dis_fit_get_parameter(b, i);
        if (memcmp(p->values, q->values, p->n * sizeof(double)) != 0)
            fail_msg("%s: %s differs with %d threads", spec, p->name, threads);
    }
}

static void same_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"dawid-skene:iterations=4",
                                        "dawid-skene:iterations=3,smoothing=.1,tolerance=0",
                                        "fast-dawid-skene:iterations=4",
                                        "fast-dawid-skene:method=hybrid,iterations=4",
                                        "one-coin:iterations=4",
                                        "ibcc:iterations=4",
                                        "ebcc:iterations=3,groups=3,restarts=2,screen=2",
                                        "ebcc:iterations=2,groups=10,restarts=2,combine=mean",
                                        "bwa:iterations=4",
                                        "mace:iterations=3,restarts=3,screen=2",
                                        "mace:method=em,iterations=3,restarts=2,screen=1"};
    static const struct {
        size_t n_votes, n_workers, n_classes, per_item;
    } shapes[] = {{120000, 40, 3, 5}, {90000, 2500, 2, 3}, {60000, 30, 11, 7}};
    static const int threads[] = {2, 3, 16, 7};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        dis_votes *votes = make(shapes[s].n_votes, shapes[s].n_workers, shapes[s].n_classes, shapes[s].per_item);
        const size_t n = dis_votes_get_view(votes).n_items * shapes[s].n_classes;
        for (size_t m = 0; m < sizeof specs / sizeof *specs; m++) {
            dis_fit *one = em_fit(NULL, votes, specs[m], NULL);
            for (size_t t = SANITIZED ? 3 : 0; t < sizeof threads / sizeof *threads; t++) {
                dis_context_options o = dis_context_options_default();
                o.threads = threads[t];
                dis_context *ctx;
                assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
                dis_fit *many = em_fit(ctx, votes, specs[m], NULL);
                assert_same(one, many, n, specs[m], threads[t]);
                dis_fit_destroy(many);
                dis_context_destroy(ctx);
            }
            dis_fit_destroy(one);
        }
        dis_votes_destroy(votes);
    }
}

static int stop_now(void *user)
{
    int *left = user;
    return (*left)-- <= 0;
}

/* A caller who wants to stop is heard between iterations. */
static void can_be_stopped(void **state)
{
    (void)state;
    dis_votes *votes = make(20000, 20, 3, 5);
    for (int after = 0; after < 12; after += 3) {
        int left = after;
        dis_context_options o = dis_context_options_default();
        o.threads = 1;
        o.stop = stop_now;
        o.user = &left;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        dis_fit *fit = NULL;
        assert_int_equal(dis_fit_run(ctx, votes, "dawid-skene:iterations=1000,tolerance=0", NULL, &fit),
                         DIS_ECANCELLED);
        assert_null(fit);
        dis_context_destroy(ctx);
    }
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
