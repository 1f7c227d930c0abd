/* Agreement: against a count of all pairs of votes, edge rules, order of rows, threads, faults, limits. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"

enum { ITEMS = 300, WORKERS = 25, CLASSES = 5 };

typedef struct {
    size_t n, n_items, n_workers, n_classes;
    uint32_t *task, *worker;
    uint16_t *label;
} raw;

static raw raw_make(size_t n_items, size_t n_workers, size_t n_classes)
{
    const size_t room = n_items * n_workers * 2;
    raw r = {.n_items = n_items, .n_workers = n_workers, .n_classes = n_classes};
    r.task = malloc(room * sizeof *r.task);
    r.worker = malloc(room * sizeof *r.worker);
    r.label = malloc(room * sizeof *r.label);
    assert_true(r.task && r.worker && r.label);
    return r;
}

static void raw_free(raw *r)
{
    free(r->task);
    free(r->worker);
    free(r->label);
}

static void raw_add(raw *r, size_t task, size_t worker, size_t label)
{
    r->task[r->n] = (uint32_t)task;
    r->worker[r->n] = (uint32_t)worker;
    r->label[r->n++] = (uint16_t)label;
}

/* Items with 0 to `max` votes; a worker may vote twice. */
static raw random_crowd(uint64_t seed, size_t n_items, size_t n_workers, size_t n_classes, size_t max, bool twice)
{
    raw r = raw_make(n_items, n_workers, n_classes);
    uint64_t at = 0;
    for (size_t i = 0; i < n_items; i++) {
        const size_t truth = dis__random_below(seed, 1, at++, n_classes),
                     votes = dis__random_below(seed, 1, at++, max + 1);
        const size_t first = dis__random_below(seed, 1, at++, n_workers);
        for (size_t v = 0; v < votes; v++) {
            const size_t label =
                dis__random_uniform(seed, 1, at++) < .6 ? truth : dis__random_below(seed, 1, at++, n_classes);
            raw_add(&r, i, (first + (twice ? v / 2 : v)) % n_workers, label);
        }
    }
    return r;
}

static dis_votes *table_named(const raw *r, const dis_names *classes)
{
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = r->n,
                                .n_items = r->n_items,
                                .n_workers = r->n_workers,
                                .n_classes = r->n_classes,
                                .task = r->task,
                                .worker = r->worker,
                                .label = r->label,
                                .classes = classes,
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static dis_votes *table(const raw *r)
{
    return table_named(r, NULL);
}

static dis_agreement *run(dis_context *ctx, const dis_votes *votes, const dis_agreement_options *o)
{
    dis_agreement *a;
    if (dis_agreement_run(ctx, votes, o, &a) != DIS_OK) fail_msg("%s", dis_last_error());
    return a;
}

static dis_agreement *plain(const dis_votes *votes)
{
    dis_agreement_options o = dis_agreement_options_default();
    o.resamples = 0;
    return run(NULL, votes, &o);
}

static double value(const dis_agreement *a, const char *name)
{
    const dis_metric *m = dis_agreement_find(a, name);
    assert_non_null(m);
    if (m->reason) fail_msg("%s: %s", name, m->reason);
    return m->value;
}

/* ---- all pairs of votes, one by one ---- */

/* Krippendorff's nominal alpha without the votes of `but`; NaN when nothing is left to compare. */
static double slow_alpha(const raw *r, size_t but)
{
    double *coincidence = calloc(r->n_classes * r->n_classes, sizeof *coincidence), n = 0, equal = 0, expected = 0;
    for (size_t x = 0; x < r->n; x++) {
        size_t votes = 0;
        if (r->worker[x] == but) continue;
        for (size_t y = 0; y < r->n; y++) votes += r->task[y] == r->task[x] && r->worker[y] != but;
        for (size_t y = 0; y < r->n && votes > 1; y++)
            if (y != x && r->task[y] == r->task[x] && r->worker[y] != but)
                coincidence[r->label[x] * r->n_classes + r->label[y]] += 1 / (double)(votes - 1);
    }
    for (size_t k = 0; k < r->n_classes; k++) {
        double row = 0;
        for (size_t l = 0; l < r->n_classes; l++) row += coincidence[k * r->n_classes + l];
        equal += coincidence[k * r->n_classes + k];
        expected += row * row;
        n += row;
    }
    free(coincidence);
    if (n < 1.5) return NAN;
    return n * n - expected < .5 ? 1 : 1 - (n - 1) * (n - equal) / (n * n - expected);
}

/* Mean share of the others' votes that agree with a worker's. */
static double slow_agreement(const raw *r, size_t who)
{
    double sum = 0;
    size_t n = 0;
    for (size_t x = 0; x < r->n; x++) {
        size_t others = 0, equal = 0;
        if (r->worker[x] != who) continue;
        for (size_t y = 0; y < r->n; y++)
            if (r->task[y] == r->task[x] && r->worker[y] != who) {
                others++;
                equal += r->label[y] == r->label[x];
            }
        if (!others) continue;
        sum += (double)equal / (double)others;
        n++;
    }
    return n ? sum / (double)n : NAN;
}

static void same(double a, double b)
{
    if (isnan(a) && isnan(b)) return;
    em_assert_close(a, b, 1e-11);
}

static void counted_one_by_one(void **state)
{
    (void)state;
    static const struct {
        size_t n_items, n_workers, n_classes, max;
        bool twice;
    } crowds[] = {
        {40, 8, 2, 8, false},  {40, 8, 4, 8, true},  {60, 12, 16, 6, false}, {30, 10, 17, 10, false},
        {30, 9, 300, 9, true}, {50, 2, 3, 2, false}, {1, 3, 2, 3, false},    {12, 40, 3, 40, true},
    };
    for (size_t c = 0; c < sizeof crowds / sizeof *crowds; c++) {
        raw r = random_crowd(c + 1, crowds[c].n_items, crowds[c].n_workers, crowds[c].n_classes, crowds[c].max,
                             crowds[c].twice);
        dis_votes *votes = table(&r);
        dis_agreement *a = plain(votes);
        const dis_agreement_view v = dis_agreement_get_view(a);
        const double alpha = slow_alpha(&r, SIZE_MAX);
        if (!isnan(alpha)) em_assert_close(value(a, "alpha_nominal"), alpha, 1e-11);
        assert_int_equal(v.votes, r.n);
        assert_int_equal(v.n_compared + v.n_single_votes + v.n_empty, r.n_items);
        for (size_t w = 0; w < r.n_workers; w++) {
            same(v.workers[w].agreement, slow_agreement(&r, w));
            same(v.workers[w].alpha_without_worker, slow_alpha(&r, w));
        }
        double percent = 0;
        for (size_t i = 0; i < r.n_items; i++) percent += v.items[i].votes > 1 ? v.items[i].agreement : 0;
        if (v.n_compared) em_assert_close(value(a, "percent"), percent / (double)v.n_compared, 1e-12);
        dis_agreement_destroy(a);
        dis_votes_destroy(votes);
        raw_free(&r);
    }
}

/* Counts give what the votes after them give. */
static void counts_are_votes(void **state)
{
    (void)state;
    raw r = random_crowd(5, ITEMS, WORKERS, CLASSES, 9, false);
    double *counts = calloc(ITEMS * CLASSES, sizeof *counts);
    for (size_t v = 0; v < r.n; v++) counts[r.task[v] * CLASSES + r.label[v]]++;
    dis_votes *votes = table(&r), *counted;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, ITEMS, CLASSES, NULL, NULL, &counted), DIS_OK);
    dis_agreement_options o = dis_agreement_options_default();
    o.interval_scope = DIS_INTERVAL_ITEMS;
    dis_agreement *a = run(NULL, votes, &o), *b = run(NULL, counted, NULL);
    assert_int_equal(dis_agreement_get_view(b).interval_scope, DIS_INTERVAL_ITEMS); /* no one knows the annotators */
    for (size_t m = 0; dis_agreement_measure_get(m); m++) {
        const char *name = dis_agreement_measure_get(m)->name;
        const dis_metric *x = dis_agreement_find(a, name), *y = dis_agreement_find(b, name);
        if (strncmp(name, "cohen", 5) == 0)
            assert_string_equal(y->reason, "the input has no annotator ids");
        else if (!x->reason) {
            assert_true(x->value == y->value);
            assert_true(x->has_interval == y->has_interval);
            if (x->has_interval) assert_true(x->ci_low == y->ci_low && x->ci_high == y->ci_high);
        }
    }
    assert_null(dis_agreement_get_view(b).workers);
    assert_null(dis_agreement_get_view(b).pairs);
    dis_agreement_destroy(a);
    dis_agreement_destroy(b);
    dis_votes_destroy(votes);
    dis_votes_destroy(counted);
    for (int large = 0; large < 2; large++) {
        counts[3] = large ? 5e9 : .5;
        dis_agreement *none = NULL;
        assert_int_equal(dis_votes_create_from_counts(NULL, counts, ITEMS, CLASSES, NULL, NULL, &counted), DIS_OK);
        assert_int_equal(dis_agreement_run(NULL, counted, NULL, &none), large ? DIS_ELIMIT : DIS_EDATA);
        assert_non_null(strstr(dis_last_error(), large ? "more than 4294967295 votes" : "soft votes"));
        assert_null(none);
        dis_votes_destroy(counted);
    }
    free(counts);
    raw_free(&r);
}

/* However an item is looked up (codes, words of bytes, sums), and whatever the counts are. */
static void many_shapes(void **state)
{
    (void)state;
    static const struct {
        size_t n_classes, max;
    } shapes[] = {{2, 3}, {2, 300}, {3, 5}, {4, 8}, {5, 1000}, {8, 4}, {8, 9}, {9, 5}, {16, 3}, {17, 3}, {300, 2}};
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        const size_t k = shapes[c].n_classes, n = 3000;
        double *counts = calloc(n * k, sizeof *counts);
        raw r = {.n_items = n, .n_workers = 1, .n_classes = k};
        size_t room = 0;
        for (size_t i = 0; i < n; i++) {
            size_t left = i % 3 ? shapes[c].max : dis__random_below(31, c, 7 * i, shapes[c].max + 1);
            for (uint64_t draw = 0; left; draw++) { /* several votes at once for one class */
                const size_t some = 1 + dis__random_below(32, c * n + i, draw, left);
                counts[i * k + dis__random_below(33, c * n + i, draw, k)] += (double)some;
                left -= some;
                room += some;
            }
        }
        r.task = malloc(room * sizeof *r.task);
        r.worker = malloc(room * sizeof *r.worker);
        r.label = malloc(room * sizeof *r.label);
        double percent = 0, compared = 0;
        for (size_t i = 0; i < n; i++) {
            double votes = 0, equal = 0;
            for (size_t j = 0; j < k; j++) {
                votes += counts[i * k + j];
                equal += counts[i * k + j] * (counts[i * k + j] - 1);
                for (double x = 0; x < counts[i * k + j]; x++) raw_add(&r, i, 0, j);
            }
            if (votes < 2) continue;
            percent += equal / (votes * (votes - 1));
            compared++;
        }
        dis_votes *votes = table(&r), *counted;
        assert_int_equal(dis_votes_create_from_counts(NULL, counts, n, k, NULL, NULL, &counted), DIS_OK);
        dis_agreement_options o = dis_agreement_options_default();
        o.resamples = 0;
        o.parts = 0;
        dis_agreement *a = run(NULL, votes, &o), *b = run(NULL, counted, &o);
        em_assert_close(value(a, "percent"), percent / compared, 1e-12);
        for (size_t m = 0; m < dis_agreement_get_view(a).n_metrics; m++)
            if (!dis_agreement_get_view(a).metric[m].reason)
                assert_true(dis_agreement_get_view(a).metric[m].value == dis_agreement_get_view(b).metric[m].value);
        dis_agreement_destroy(a);
        dis_agreement_destroy(b);
        dis_votes_destroy(votes);
        dis_votes_destroy(counted);
        free(counts);
        raw_free(&r);
    }
}

/* ---- edge rules ---- */

static void edges(void **state)
{
    (void)state;
    raw r = raw_make(4, 4, 3);
    raw_add(&r, 0, 0, 1);
    raw_add(&r, 1, 1, 2);
    dis_votes *votes = table(&r);
    dis_agreement *a = run(NULL, votes, NULL); /* nothing comparable */
    for (size_t m = 0; m < dis_agreement_get_view(a).n_metrics; m++) {
        const dis_metric *x = &dis_agreement_get_view(a).metric[m];
        if (dis_agreement_measure_get(m)->describes_crowd) continue;
        assert_string_equal(x->reason, "no item has two votes");
        assert_true(isnan(x->value) && !x->has_interval);
    }
    assert_int_equal(dis_agreement_get_view(a).n_single_votes, 2);
    assert_int_equal(dis_agreement_get_view(a).n_empty, 2);
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);

    raw_add(&r, 0, 1, 1);
    raw_add(&r, 0, 2, 1);
    votes = table(&r); /* all compared labels are the same; the odd one stands alone */
    dis_agreement_options o = dis_agreement_options_default();
    o.min_common = 1;
    a = run(NULL, votes, &o);
    for (size_t m = 0; m < dis_agreement_get_view(a).n_metrics; m++) {
        const dis_metric *x = &dis_agreement_get_view(a).metric[m];
        if (dis_agreement_measure_get(m)->describes_crowd) continue;
        if (strncmp(dis_agreement_measure_get(m)->name, "cohen", 5) == 0) { /* 0/0 of a pair is not an agreement */
            assert_string_equal(x->reason, "every pair of workers chose nothing but one and the same class");
            continue;
        }
        assert_null(x->reason);
        assert_true(x->value == 1 && x->degenerate && !x->has_interval);
        assert_string_equal(dis_metric_no_interval_reason(x), "all labels are the same");
    }
    assert_string_equal(dis_agreement_get_view(a).classes[0].alpha.reason, "no vote for this class");
    assert_true(dis_agreement_get_view(a).classes[1].alpha.degenerate);
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    raw_free(&r);

    r = raw_make(0, 0, 2);
    votes = table(&r); /* an empty table */
    a = run(NULL, votes, NULL);
    assert_string_equal(dis_agreement_find(a, "fleiss")->reason, "no item has two votes");
    assert_string_equal(dis_agreement_find(a, "votes_per_item")->reason, "there are no votes");
    assert_null(dis_agreement_find(a, "no such thing"));
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    raw_free(&r);
}

static void wrong_options(void **state)
{
    (void)state;
    raw r = random_crowd(9, 10, 4, 3, 4, false);
    dis_votes *votes = table(&r);
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *a = NULL;
    o.max_pairs = SIZE_MAX;
    assert_int_equal(dis_agreement_run(NULL, votes, &o, &a), DIS_EUSAGE);
    o = dis_agreement_options_default();
    o.resamples = SIZE_MAX;
    assert_int_equal(dis_agreement_run(NULL, votes, &o, &a), DIS_EUSAGE);
    o = dis_agreement_options_default();
    const int32_t gold[10] = {0, 1, 2, 3};
    o.gold = gold;
    assert_int_equal(dis_agreement_run(NULL, votes, &o, &a), DIS_EUSAGE);
    assert_null(a);
    dis_votes_destroy(votes);
    raw_free(&r);
}

/* Classes that are not numbers, have an order that was declared, are numbers in another order, are negative. */
static void scales(void **state)
{
    (void)state;
    raw r = random_crowd(11, ITEMS, WORKERS, 4, 7, false);
    static const char *const words[] = {"a", "b", "c", "d"}, *const numbers[] = {"10.5", "2.5", "-1", "7"},
                             *const places[] = {"3", "1", "0", "2"};
    dis_names *names;
    assert_int_equal(dis_names_create(words, 4, &names), DIS_OK);
    dis_votes *votes = table_named(&r, names);
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *a = run(NULL, votes, &o);
    assert_non_null(dis_agreement_find(a, "alpha_ordinal")->reason);
    assert_non_null(dis_agreement_find(a, "alpha_interval")->reason);
    assert_non_null(dis_agreement_find(a, "cohen_linear")->reason);
    assert_true(isnan(dis_agreement_get_view(a).pairs[0].cohen_linear));
    dis_agreement_destroy(a);
    o.ordinal = true;
    a = run(NULL, votes, &o);
    assert_null(dis_agreement_find(a, "alpha_ordinal")->reason);
    assert_null(dis_agreement_find(a, "gwet_ac2_linear")->reason);
    assert_null(dis_agreement_find(a, "cohen_quadratic")->reason);
    assert_string_equal(dis_agreement_find(a, "alpha_ratio")->reason, "the classes are not numbers");
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    dis_names_destroy(names);

    /* by numbers, not by the order in which the classes come: as if they were called by their positions */
    assert_int_equal(dis_names_create(numbers, 4, &names), DIS_OK);
    votes = table_named(&r, names);
    a = run(NULL, votes, NULL);
    assert_string_equal(dis_agreement_find(a, "alpha_ratio")->reason,
                        "a class is negative, and ratios need a scale that begins at 0");
    const double ordinal = value(a, "alpha_ordinal"), linear = value(a, "cohen_linear"),
                 weighted = value(a, "gwet_ac2_ordinal");
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    dis_names_destroy(names);
    assert_int_equal(dis_names_create(places, 4, &names), DIS_OK);
    votes = table_named(&r, names);
    a = run(NULL, votes, NULL);
    em_assert_close(value(a, "alpha_ordinal"), ordinal, 1e-12);
    em_assert_close(value(a, "cohen_linear"), linear, 1e-12);
    em_assert_close(value(a, "gwet_ac2_ordinal"), weighted, 1e-12);
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    dis_names_destroy(names);
    raw_free(&r);
}

/* ---- order of rows, threads ---- */

static void order_of_rows(void **state)
{
    (void)state;
    raw r = random_crowd(13, ITEMS, WORKERS, CLASSES, 9, false), s = raw_make(ITEMS, WORKERS, CLASSES);
    for (size_t v = r.n; v-- > 0;) /* rows, items and workers the other way round */
        raw_add(&s, ITEMS - 1 - r.task[v], WORKERS - 1 - r.worker[v], r.label[v]);
    dis_votes *votes[] = {table(&r), table(&s)};
    dis_agreement *a[] = {run(NULL, votes[0], NULL), run(NULL, votes[1], NULL)};
    for (size_t m = 0; m < dis_agreement_get_view(a[0]).n_metrics; m++) {
        const dis_metric *x = &dis_agreement_get_view(a[0]).metric[m], *y = &dis_agreement_get_view(a[1]).metric[m];
        assert_true((x->reason == NULL) == (y->reason == NULL));
        if (!x->reason) em_assert_close(x->value, y->value, 1e-12);
        /* Resamples of patterns do not know items; those of pairs do. */
        if (x->has_interval && strncmp(dis_agreement_measure_get(m)->name, "cohen", 5) != 0)
            em_assert_close(x->ci_low, y->ci_low, 1e-12);
    }
    for (size_t w = 0; w < WORKERS; w++)
        em_assert_close(dis_agreement_get_view(a[0]).workers[w].alpha_without_worker,
                        dis_agreement_get_view(a[1]).workers[WORKERS - 1 - w].alpha_without_worker, 1e-12);
    for (int i = 0; i < 2; i++) {
        dis_agreement_destroy(a[i]);
        dis_votes_destroy(votes[i]);
    }
    raw_free(&r);
    raw_free(&s);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    enum { MANY = 600000 };
    raw r = raw_make(MANY, 2, 3); /* room for four votes per item */
    r.n_workers = 500;
    for (size_t i = 0; i < MANY; i++)
        for (size_t v = 0; v < dis__random_below(3, 2, i, 5); v++)
            raw_add(&r, i, (i * 7 + v * 31) % 500, dis__random_below(3, 3, 4 * i + v, 3));
    dis_votes *votes = table(&r);
    int32_t *gold = malloc(MANY * sizeof *gold);
    for (size_t i = 0; i < MANY; i++) gold[i] = (int32_t)dis__random_below(3, 4, i, 4) - 1;
    dis_agreement_options o = dis_agreement_options_default();
    o.gold = gold;
    o.resamples = 50;
    dis_agreement *first = run(NULL, votes, &o);
    const dis_agreement_view x = dis_agreement_get_view(first);
    for (int threads = 2; threads <= 5; threads += 3) {
        dis_context_options co = dis_context_options_default();
        dis_context *ctx;
        co.threads = threads;
        assert_int_equal(dis_context_create(&co, &ctx), DIS_OK);
        dis_agreement *other = run(ctx, votes, &o);
        const dis_agreement_view y = dis_agreement_get_view(other);
        for (size_t m = 0; m < x.n_metrics; m++) {
            assert_memory_equal(&x.metric[m].value, &y.metric[m].value, sizeof(double));
            assert_memory_equal(&x.metric[m].ci_low, &y.metric[m].ci_low, sizeof(double));
            assert_memory_equal(&x.metric[m].ci_high, &y.metric[m].ci_high, sizeof(double));
        }
        assert_memory_equal(x.items, y.items, x.n_items * sizeof *x.items);
        assert_memory_equal(x.workers, y.workers, x.n_workers * sizeof *x.workers);
        assert_int_equal(x.n_pairs, y.n_pairs);
        for (size_t p = 0; p < x.n_pairs; p++)
            assert_memory_equal(&x.pairs[p].cohen, &y.pairs[p].cohen, 3 * sizeof(double));
        dis_agreement_destroy(other);
        dis_context_destroy(ctx);
    }
    dis_agreement_destroy(first);
    dis_votes_destroy(votes);
    free(gold);
    raw_free(&r);
}

/* ---- pairs ---- */

static void busiest_workers(void **state)
{
    (void)state;
    raw r = raw_make(50, 10, 2);
    for (size_t i = 0; i < 50; i++)
        for (size_t w = 0; w < 10; w++)
            if (i < 5 * (w + 1)) raw_add(&r, i, w, (i + w) % 2);
    dis_votes *votes = table(&r);
    dis_agreement_options o = dis_agreement_options_default();
    o.max_pairs = 8; /* four workers make six pairs, five make ten */
    dis_agreement *a = run(NULL, votes, &o);
    const dis_agreement_view v = dis_agreement_get_view(a);
    assert_int_equal(v.n_pair_workers, 4);
    assert_int_equal(v.n_pairs, 6);
    for (size_t p = 0; p < v.n_pairs; p++) {
        assert_true(v.pairs[p].a >= 6 && v.pairs[p].a < v.pairs[p].b);
        assert_int_equal(v.pairs[p].n, 5 * (v.pairs[p].a + 1));
    }
    dis_agreement_destroy(a);
    o.max_pairs = 100;
    o.min_common = 20;
    a = run(NULL, votes, &o);
    assert_int_equal(dis_agreement_get_view(a).n_pairs, 45);
    assert_int_equal(dis_agreement_get_view(a).n_pairs_too_small, 9 + 8 + 7); /* those of the three laziest */
    assert_int_equal(dis_agreement_find(a, "cohen")->n, 21);
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    raw_free(&r);
}

/* The intervals of the mean kappas are as wide as resamples of the votes themselves say. */
static void interval_of_pairs(void **state)
{
    (void)state;
    enum { N = 1000, DRAWS = 300, KAPPAS = 3 };
    static const char *const names[KAPPAS] = {"cohen", "cohen_linear", "cohen_quadratic"};
    raw r = random_crowd(21, N, 6, 4, 6, false);
    size_t first[N + 1] = {0};
    for (size_t v = 0; v < r.n; v++) first[r.task[v] + 1] = v + 1;
    for (size_t i = 0; i < N; i++) first[i + 1] = first[i + 1] > first[i] ? first[i + 1] : first[i];
    dis_votes *votes = table(&r);
    dis_agreement_options o = dis_agreement_options_default();
    o.resamples = 4000;
    o.interval_scope = DIS_INTERVAL_ITEMS;
    dis_agreement *a = run(NULL, votes, &o);
    o.resamples = 0;
    o.parts = DIS_AGREEMENT_PAIRS;
    double sum[KAPPAS] = {0}, squares[KAPPAS] = {0};
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        raw s = raw_make(N, 6, 4);
        for (size_t i = 0; i < N; i++) {
            const size_t from = dis__random_below(99, draw, i, N);
            for (size_t v = first[from]; v < first[from + 1]; v++) raw_add(&s, i, r.worker[v], r.label[v]);
        }
        dis_votes *drawn = table(&s);
        dis_agreement *b = run(NULL, drawn, &o);
        for (int m = 0; m < KAPPAS; m++) {
            sum[m] += value(b, names[m]);
            squares[m] += value(b, names[m]) * value(b, names[m]);
        }
        dis_agreement_destroy(b);
        dis_votes_destroy(drawn);
        raw_free(&s);
    }
    for (int m = 0; m < KAPPAS; m++) {
        const dis_metric *x = dis_agreement_find(a, names[m]);
        const double sd = sqrt(squares[m] / DRAWS - sum[m] * sum[m] / DRAWS / DRAWS), width = x->ci_high - x->ci_low;
        assert_true(x->has_interval && x->ci_low < x->value && x->value < x->ci_high);
        if (!(width > .85 * 3.92 * sd && width < 1.15 * 3.92 * sd))
            fail_msg("%s: interval of width %.4f, standard deviation of resamples %.4f", names[m], width, sd);
    }
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    raw_free(&r);
}

/* ---- faults ---- */

static dis_status faulty(void *arg)
{
    dis_agreement *a = NULL;
    dis_agreement_options o = dis_agreement_options_default();
    static int32_t gold[40];
    o.resamples = 20;
    o.gold = gold;
    const dis_status status = dis_agreement_run(NULL, arg, &o, &a);
    assert_true((status == DIS_OK) == (a != NULL));
    dis_agreement_destroy(a);
    return status;
}

static void faults(void **state)
{
    (void)state;
    raw r = random_crowd(17, 40, 8, 20, 8, false);
    dis_votes *votes = table(&r);
    walk_faults(faulty, NULL, votes);
    dis_votes_destroy(votes);
    raw_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_one_by_one),
        cmocka_unit_test(counts_are_votes),
        cmocka_unit_test(many_shapes),
        cmocka_unit_test(edges),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(scales),
        cmocka_unit_test(order_of_rows),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(busiest_workers),
        cmocka_unit_test(interval_of_pairs),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
