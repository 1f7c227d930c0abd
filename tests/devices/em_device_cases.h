/* em_device_cases.h: fits on a device against fits on the CPU: within 1e-10, and the same bytes twice. The
 * tests of CUDA devices and of the stand-in for one (em_stand_in.c) share the list. */
#ifndef DIS_DEVICES_EM_DEVICE_CASES_H
#define DIS_DEVICES_EM_DEVICE_CASES_H
#include "support/em_support.h"

static uint64_t cases_state = 777;

static uint64_t cases_random(void)
{
    cases_state ^= cases_state << 13;
    cases_state ^= cases_state >> 7;
    return cases_state ^= cases_state << 17;
}

typedef struct {
    size_t n_items, n_workers, n_classes, most; /* votes of an item */
    bool known;                                 /* some items are */
} em_crowd;

/* Workers of different skill, the last tenth with one vote each; some items without votes, some with many. */
static inline dis_votes *cases_votes(const em_crowd *c)
{
    const size_t room = c->n_items * c->most + c->n_workers, steady = c->n_workers - c->n_workers / 10;
    uint32_t *task = malloc(room * sizeof *task), *worker = malloc(room * sizeof *worker);
    uint16_t *label = malloc(room * sizeof *label);
    size_t n = 0;
    for (size_t i = 0; i < c->n_items; i++)
        for (size_t v = i % 11 == 3   ? 0
                        : i % 50 == 7 ? c->most
                                      : 2 + cases_random() % 6;
             v > 0 && n + v < room; v--, n++) {
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)(cases_random() % steady);
            const bool right = cases_random() % 10 < 4 + worker[n] % 6;
            label[n] = (uint16_t)(right ? i % c->n_classes : cases_random() % c->n_classes);
        }
    for (size_t w = steady; w < c->n_workers; w++, n++) {
        task[n] = (uint32_t)(w % c->n_items);
        worker[n] = (uint32_t)w;
        label[n] = (uint16_t)(w % c->n_classes);
    }
    dis_votes *votes = em_make_votes(n, task, worker, label, c->n_items, c->n_workers, c->n_classes);
    free(task);
    free(worker);
    free(label);
    return votes;
}

static const em_crowd em_crowds[] = {
    {3000, 40, 4, 40, false}, {700, 9, 2, 12, false},   {70, 9, 3, 7000, true},   {900, 30, 3, 40, true},
    {600, 9, 1, 12, false},   {60, 12, 9, 2500, false}, {700, 20, 8, 8, false},   {400, 25, 16, 8, false},
    {300, 25, 17, 8, false},  {400, 25, 40, 20, true},  {400, 60, 65, 20, false}, {90, 12, 200, 8, false},
    {60, 6, 300, 8, false},   {3, 1, 3, 2, false},      {60, 12, 4, 2000, false}, /* products that no double holds */
};

static const char *const em_specs[] = {"dawid-skene:iterations=6",
                                       "dawid-skene:iterations=5,smoothing=0,tolerance=0",
                                       "dawid-skene:iterations=0",
                                       "dawid-skene",
                                       "fast-dawid-skene:iterations=6",
                                       "fast-dawid-skene:method=hybrid,iterations=6",
                                       "one-coin:iterations=6",
                                       "ibcc:iterations=6",
                                       "ebcc:iterations=4,groups=3,restarts=2,screen=2",
                                       "ebcc:iterations=2,groups=2,restarts=2,combine=mean",
                                       "mace:iterations=4,restarts=2,screen=2",
                                       "mace:method=em,iterations=4,restarts=2,screen=1"};

/* For checkers, under which a pass takes seconds; the first two for every crowd. */
static const char *const em_small_specs[] = {"dawid-skene:iterations=2", "one-coin:iterations=2",
                                             "fast-dawid-skene:iterations=2",
                                             "ebcc:iterations=1,groups=3,restarts=1,screen=1",
                                             "mace:iterations=1,restarts=1,screen=1"};

static inline double cases_distance(const dis_fit *a, const dis_fit *b, size_t n)
{
    double most = 0;
    for (size_t e = 0; e < n; e++) {
        const double d = fabs(dis_fit_p(a)[e] - dis_fit_p(b)[e]);
        if (!(d <= most)) most = d; /* NaN too */
    }
    return most;
}

static inline bool cases_small(void)
{
    return getenv("DISSENT_SMALL") != NULL;
}

/* One method on one crowd: the CPU (ctx[0]), then the device twice (for checkers once). */
static inline double cases_compare(dis_context *const ctx[2], const dis_votes *votes, const em_crowd *c,
                                   const char *spec, const int32_t *gold)
{
    dis_fit *fit[3];
    const size_t n = c->n_items * c->n_classes;
    const int n_fits = cases_small() ? 2 : 3;
    for (int k = 0; k < n_fits; k++) {
        dis_fit_options o = dis_fit_options_default();
        o.gold = gold;
        o.seed = 5;
        fit[k] = em_fit(ctx[k > 0], votes, spec, &o);
        assert_string_equal(dis_fit_get_view(fit[k]).device, k ? "cuda:0" : "cpu");
    }
    const double most = cases_distance(fit[0], fit[1], n);
    const dis_fit_view a = dis_fit_get_view(fit[0]), b = dis_fit_get_view(fit[1]);
    if (!(most <= 1e-10)) fail_msg("%s, %zu classes: labels are %g off", spec, c->n_classes, most);
    assert_int_equal(a.iterations, b.iterations);
    if (!isnan(a.objective)) em_assert_close(a.objective, b.objective, 1e-10 * fmax(1, fabs(a.objective)));
    for (size_t i = 0; dis_fit_get_parameter(fit[0], i); i++) {
        const dis_parameter *x = dis_fit_get_parameter(fit[0], i), *y = dis_fit_get_parameter(fit[1], i);
        for (size_t e = 0; e < x->n; e++)
            if (!(fabs(x->values[e] - y->values[e]) <= 1e-10))
                fail_msg("%s, %zu classes: %s[%zu] is %.17g, not %.17g", spec, c->n_classes, x->name, e, y->values[e],
                         x->values[e]);
    }
    assert_memory_equal(dis_fit_p(fit[1]), dis_fit_p(fit[n_fits - 1]), n * sizeof(double));
    for (size_t i = 0; dis_fit_get_warning(fit[0], i) || dis_fit_get_warning(fit[1], i); i++) {
        assert_non_null(dis_fit_get_warning(fit[0], i));
        assert_non_null(dis_fit_get_warning(fit[1], i));
        assert_string_equal(dis_fit_get_warning(fit[0], i), dis_fit_get_warning(fit[1], i));
    }
    for (int k = 0; k < n_fits; k++) dis_fit_destroy(fit[k]);
    return most;
}

static inline dis_context *cases_context(const char *device, int threads)
{
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    o.threads = threads;
    o.device = device;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

/* Every cases_apart-th crowd is run, from one on, where a checker has them run in parallel. */
static size_t cases_first, cases_apart = 1;

static inline void cases_run(int threads)
{
    dis_context *const ctx[2] = {cases_context(NULL, threads), cases_context("cuda", threads)};
    const bool small = cases_small();
    double most = 0;
    for (size_t i = 0; i < sizeof em_crowds / sizeof *em_crowds; i++) {
        const em_crowd *c = &em_crowds[i], few = {12, c->n_workers, c->n_classes, 2100, c->known};
        if (i % cases_apart != cases_first) continue;
        if (small && i != 2 && c->n_items > few.n_items) c = &few; /* as many classes, an item in parts */
        dis_votes *votes = cases_votes(c);
        int32_t *gold = malloc(c->n_items * sizeof *gold);
        for (size_t k = 0; k < c->n_items; k++) gold[k] = k % 7 == 2 ? (int32_t)(k % c->n_classes) : -1;
        const char *const *specs = small ? em_small_specs : em_specs;
        const size_t all = (small ? sizeof em_small_specs : sizeof em_specs) / sizeof *specs;
        for (size_t s = 0; s < (small && i > 2 ? 2 : all); s++)
            most = fmax(most, cases_compare(ctx, votes, c, specs[s], c->known ? gold : NULL));
        free(gold);
        dis_votes_destroy(votes);
    }
    print_message("largest difference of a label from the CPU's: %.3g\n", most);
    for (int k = 0; k < 2; k++) dis_context_destroy(ctx[k]);
}

#endif
