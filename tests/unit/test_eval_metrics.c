/* Metrics equal scikit-learn's and scipy's on fixtures (tests/parity/make_metric_fixtures.py) and are defined or
 * have a reason at every edge. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "support/eval_support.h"
#include "support/fault_walk.h"
#include "stats/ranks.h"

/* ---- parity ---- */

typedef struct {
    dis_labels *pred, *human;
    dis_gold *gold;
    dis_alignment *aligned;
    dis_alignment_view v;
} fixture;

static const char *path_of(const char *name, const char *what)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/parity/fixtures/metrics_%s.%s.csv", DIS_SOURCE_DIR, name, what);
    return path;
}

static fixture load(const char *name)
{
    fixture f;
    assert_int_equal(dis_labels_read(NULL, path_of(name, "pred"), NULL, &f.pred), DIS_OK);
    assert_int_equal(dis_labels_read(NULL, path_of(name, "human"), NULL, &f.human), DIS_OK);
    assert_int_equal(dis_gold_read(NULL, path_of(name, "gold"), NULL, &f.gold), DIS_OK);
    dis_alignment_options o = dis_alignment_options_default();
    o.gold = f.gold;
    const dis_alignment_source sources[] = {{"pred", dis_labels_get_view(f.pred)},
                                            {"human", dis_labels_get_view(f.human)}};
    assert_int_equal(dis_alignment_run(NULL, sources, 2, &o, &f.aligned), DIS_OK);
    f.v = dis_alignment_get_view(f.aligned);
    return f;
}

static void unload(fixture *f)
{
    dis_alignment_destroy(f->aligned);
    dis_gold_destroy(f->gold);
    dis_labels_destroy(f->pred);
    dis_labels_destroy(f->human);
}

static dis_evaluation_input input_of(const fixture *f)
{
    return (dis_evaluation_input){.size = sizeof(dis_evaluation_input),
                                  .n_items = f->v.n_items,
                                  .n_classes = f->v.n_classes,
                                  .q = f->v.p[0],
                                  .human = f->v.p[1],
                                  .gold = f->v.gold};
}

/* What the evaluation says under a name of the expected file. */
static double figure(const dis_evaluation_view *v, const dis_names *classes, const char *name)
{
    const dis_evaluation_metric m = dis_evaluation_metric_find(name);
    if (m < DIS_EVALUATION_METRICS) {
        assert_null(v->metric[m].reason);
        return v->metric[m].value;
    }
    if (strcmp(name, "floored") == 0) return (double)v->n_floored;
    if (strcmp(name, "human_floored") == 0) return (double)v->n_human_floored;
    size_t a, b;
    char what[32];
    if (sscanf(name, "temperature:%zu", &a) == 1) return v->temperature[a];
    if (sscanf(name, "confusion:%zu:%zu", &a, &b) == 2) return (double)v->confusion[a * v->n_classes + b];
    if (sscanf(name, "bin:%zu:%31s", &a, what) == 2)
        return what[0] == 'n' ? (double)v->bin[a].n : what[0] == 'c' ? v->bin[a].confidence : v->bin[a].accuracy;
    const char *colon = strchr(name, ':');
    assert_non_null(colon);
    const dis_class_scores *s = &v->classes[dis_names_find(classes, colon + 1, strlen(colon + 1))];
    return name[0] == 'p'   ? s->precision.value
           : name[0] == 'r' ? s->recall.value
           : name[0] == 'f' ? s->f1.value
                            : (double)s->n_gold;
}

static void equals_scikit_learn_and_scipy(void **state)
{
    (void)state;
    static const char *const names[] = {"k4", "k2", "zeros"};
    for (size_t i = 0; i < 3; i++) {
        fixture f = load(names[i]);
        const dis_evaluation_input in = input_of(&f);
        dis_evaluation_options o = dis_evaluation_options_default();
        o.seed = 7;
        o.ordinal = strcmp(names[i], "zeros") == 0;
        dis_evaluation *e;
        assert_int_equal(dis_evaluation_run(NULL, &in, &o, &e), DIS_OK);
        FILE *file = fopen(path_of(names[i], "expected"), "r");
        assert_non_null(file);
        char line[256];
        size_t n = 0;
        const dis_evaluation_view view = dis_evaluation_get_view(e);
        assert_non_null(fgets(line, sizeof line, file));
        while (fgets(line, sizeof line, file)) {
            char *comma = strrchr(line, ',');
            *comma = 0;
            const double theirs = strtod(comma + 1, NULL), ours = figure(&view, f.v.classes, line);
            /* a search for a minimum finds the position to the square root of what it finds the value to */
            const double slack = strncmp(line, "temperature", 11) == 0 ? 1e-6 : 1e-9;
            if (!(fabs(ours - theirs) <= slack))
                fail_msg("%s %s: ours %.17g, theirs %.17g", names[i], line, ours, theirs);
            n++;
        }
        assert_true(n > 40);
        fclose(file);
        dis_evaluation_destroy(e);
        unload(&f);
    }
}

/* ---- intervals ---- */

static void intervals_lie_around_the_values(void **state)
{
    (void)state;
    items x = make(2000, 5, 11);
    const dis_evaluation_input in = input(&x);
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 400;
    o.ordinal = true;
    dis_evaluation *e = run(&in, &o);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis_metric *x_ = &v.metric[m];
        if (dis_evaluation_metric_get(m)->needs &
            (DIS_NEEDS_WORKERS | DIS_NEEDS_SETS)) { /* of single workers or sets of classes, which q is not */
            assert_non_null(x_->reason);
            continue;
        }
        assert_null(x_->reason);
        assert_true(x_->has_interval);
        assert_int_equal(x_->n, 2000);
        const double width = x_->ci_high - x_->ci_low;
        assert_true(width >= 0 && width < .5); /* 0: no miscalibration in any resample */
        if (m != DIS_EVALUATION_ECE)           /* resampling raises it: noise in a bin is an error too */
            assert_true(x_->ci_low <= x_->value && x_->value <= x_->ci_high);
    }
    /* of a mean: 1.96 standard errors to each side */
    const double p = v.metric[DIS_EVALUATION_ACCURACY].value, half = 1.96 * sqrt(p * (1 - p) / 2000);
    assert_true(fabs(v.metric[DIS_EVALUATION_ACCURACY].ci_high - p - half) < .15 * half);
    assert_true(fabs(p - v.metric[DIS_EVALUATION_ACCURACY].ci_low - half) < .15 * half);
    /* Spearman and Pearson vary alike */
    const dis_metric *a = &v.metric[DIS_EVALUATION_ENTROPY_SPEARMAN],
                     *b = &v.metric[DIS_EVALUATION_ENTROPY_CORRELATION];
    const double ratio = (a->ci_high - a->ci_low) / (b->ci_high - b->ci_low);
    assert_true(ratio > .6 && ratio < 1.7);
    /* a third of the items: wider by the root of three */
    o.fraction = 1.0 / 3;
    dis_evaluation *third = run(&in, &o);
    const dis_metric c = dis_evaluation_get_view(third).metric[DIS_EVALUATION_KL], d = v.metric[DIS_EVALUATION_KL];
    const double wider = (c.ci_high - c.ci_low) / (d.ci_high - d.ci_low);
    assert_true(wider > 1.4 && wider < 2.1);
    dis_evaluation_destroy(third);
    dis_evaluation_destroy(e);
    unmake(&x);
}

/* The temperature of a split is where the likelihood of its half is best, by a plain search. */
static double plain_nll(const items *x, const bool *in, double beta)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (!in[i]) continue;
        double total = 0;
        for (size_t k = 0; k < x->k; k++) total += pow(x->q[i * x->k + k], beta);
        sum += log(total) - beta * log(x->q[i * x->k + (size_t)x->gold[i]]);
        n++;
    }
    return sum / n;
}

static void groups_stay_together(void **state)
{
    (void)state;
    items x = make(4000, 3, 21);
    uint32_t *group = malloc(x.n * sizeof *group);
    for (size_t i = 0; i < x.n; i++) group[i] = (uint32_t)(i / 4);
    dis_evaluation_input in = input(&x);
    dis_evaluation_options o = dis_evaluation_options_default();
    dis_evaluation *apart = run(&in, &o);
    in.group = group;
    in.n_groups = x.n / 4;
    dis_evaluation *together = run(&in, &o);
    const double a = dis_evaluation_get_view(apart).metric[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD].value;
    const double b = dis_evaluation_get_view(together).metric[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD].value;
    assert_true(a != b && fabs(a - b) < .02);
    bool *all = malloc(x.n * sizeof *all);
    for (size_t i = 0; i < x.n; i++) all[i] = true;
    const double t = dis_evaluation_get_view(apart).temperature[0];
    assert_true(plain_nll(&x, all, 1 / t) < plain_nll(&x, all, 1 / t * 1.2));
    assert_true(plain_nll(&x, all, 1 / t) < plain_nll(&x, all, 1 / t / 1.2));
    dis_evaluation_destroy(apart);
    dis_evaluation_destroy(together);
    for (size_t i = 0; i < x.n; i++) group[i] = 0; /* one group cannot be split */
    in.n_groups = 1;
    dis_evaluation *one = run(&in, &o);
    assert_non_null(dis_evaluation_get_view(one).metric[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD].reason);
    dis_evaluation_destroy(one);
    in.n_groups = 0;
    assert_int_equal(dis_evaluation_run(NULL, &in, &o, &one), DIS_EUSAGE);
    free(all);
    free(group);
    unmake(&x);
}

/* Many items: the search starts from a sample and ends where it would have ended. */
static void temperatures_of_many_items_are_the_best(void **state)
{
    (void)state;
    items x = make(80000, 3, 31);
    dis_evaluation_input in = input(&x);
    in.human = NULL;
    bool wanted[DIS_EVALUATION_METRICS] = {false};
    wanted[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD] = true;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = wanted;
    o.n_splits = 2;
    dis_evaluation *e = run(&in, &o);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    assert_string_equal(v.metric[DIS_EVALUATION_ACCURACY].reason, "not requested");
    bool *all = malloc(x.n * sizeof *all);
    for (size_t i = 0; i < x.n; i++) all[i] = true;
    double low = .1, high = 10; /* of b; the halves' temperatures lie around that of all */
    for (int i = 0; i < 60; i++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        *(plain_nll(&x, all, a) < plain_nll(&x, all, b) ? &high : &low) =
            plain_nll(&x, all, a) < plain_nll(&x, all, b) ? b : a;
    }
    for (size_t s = 0; s < 2; s++) assert_true(fabs(v.temperature[s] * low - 1) < .05);
    const double best = plain_nll(&x, all, low);
    assert_true(fabs(v.metric[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD].value - best) < .02);
    free(all);
    dis_evaluation_destroy(e);
    unmake(&x);
}

/* Ranks of many numbers are those of counting: all different, a few values, clusters that differ in their last bits,
 * one value far off. */
static void ranks_are_those_of_counting(void **state)
{
    (void)state;
    enum { N = 1500 };
    static double x[N], rank[N];
    for (int kind = 0; kind < 5; kind++) {
        for (size_t i = 0; i < N; i++) {
            const double u = dis__random_uniform(1, 900 + (uint64_t)kind, i);
            x[i] = kind == 0   ? u - .5
                   : kind == 1 ? floor(5 * u) - 2
                   : kind == 2 ? 1 + floor(300 * u) * 0x1p-52
                   : kind == 3 ? (i ? 1 + floor(40 * u) * 0x1p-50 : -1e300)
                               : (u < .5 ? 0 : -0.0);
        }
        double ties, expected_ties = 0;
        assert_int_equal(dis__ranks(x, N, rank, &ties), DIS_OK);
        for (size_t i = 0; i < N; i++) {
            double below = 0, same = 0;
            for (size_t j = 0; j < N; j++) {
                below += x[j] < x[i];
                same += x[j] == x[i];
            }
            assert_true(rank[i] == below + (same + 1) / 2);
            expected_ties += same * same - 1;
        }
        assert_true(ties == expected_ties);
    }
}

/* ---- edges ---- */

static void reason_is(const dis_evaluation *e, dis_evaluation_metric m, const char *part)
{
    const dis_metric x = dis_evaluation_get_view(e).metric[m];
    assert_non_null(x.reason);
    assert_non_null(strstr(x.reason, part));
    assert_true(isnan(x.value));
    assert_false(x.has_interval);
}

static void nothing_is_nan(const dis_evaluation *e)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis_metric x = dis_evaluation_get_view(e).metric[m];
        assert_true(x.reason || isfinite(x.value));
        assert_true(!x.has_interval || (isfinite(x.ci_low) && isfinite(x.ci_high)));
    }
}

static void edges_have_values_or_reasons(void **state)
{
    (void)state;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 50;
    o.ordinal = true;

    { /* one item */
        const double q[] = {.2, .5, .3}, p[] = {0, 1, 0};
        const int32_t gold[] = {1};
        const dis_evaluation_input in = {
            .size = sizeof(dis_evaluation_input), .n_items = 1, .n_classes = 3, .q = q, .human = p, .gold = gold};
        dis_evaluation *e = run(&in, &o);
        nothing_is_nan(e);
        assert_true(dis_evaluation_get_view(e).metric[DIS_EVALUATION_ACCURACY].value == 1);
        reason_is(e, DIS_EVALUATION_ENTROPY_CORRELATION, "one item");
        reason_is(e, DIS_EVALUATION_ENTROPY_SPEARMAN, "one item");
        reason_is(e, DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD, "two items");
        reason_is(e, DIS_EVALUATION_TOP_K_ACCURACY, "k is not below");
        dis_evaluation_destroy(e);
    }
    { /* one class */
        const double q[] = {1, 1, 1};
        const int32_t gold[] = {0, 0, 0};
        const dis_evaluation_input in = {
            .size = sizeof(dis_evaluation_input), .n_items = 3, .n_classes = 1, .q = q, .human = q, .gold = gold};
        dis_evaluation *e = run(&in, &o);
        nothing_is_nan(e);
        const dis_evaluation_view v = dis_evaluation_get_view(e);
        assert_true(v.metric[DIS_EVALUATION_MACRO_F1].value == 1);
        assert_true(v.metric[DIS_EVALUATION_KL].value == 0);
        reason_is(e, DIS_EVALUATION_ENTROPY_SIMILARITY, "one class");
        reason_is(e, DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD, "one class");
        dis_evaluation_destroy(e);
    }
    { /* sure and right, sure and wrong, zero probabilities, a class never predicted */
        const double q[] = {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0}, p[] = {1, 0, 0, 0, 0, 1, 0, 1, 0, .5, .5, 0};
        const int32_t gold[] = {0, 2, 1, 0};
        const dis_evaluation_input in = {
            .size = sizeof(dis_evaluation_input), .n_items = 4, .n_classes = 3, .q = q, .human = p, .gold = gold};
        dis_evaluation *e = run(&in, &o);
        nothing_is_nan(e);
        const dis_evaluation_view v = dis_evaluation_get_view(e);
        assert_int_equal(v.n_floored, 8);
        assert_true(v.classes[2].precision.degenerate && v.classes[2].f1.value == 0);
        assert_true(fabs(v.metric[DIS_EVALUATION_LOG_LOSS].value + log(1e-12) / 2) < 1e-9);
        reason_is(e, DIS_EVALUATION_ENTROPY_CORRELATION, "predictions is the same");
        dis_evaluation_destroy(e);
    }
    { /* people all agree */
        const double q[] = {.9, .1, .4, .6, .5, .5}, p[] = {1, 0, 0, 1, 1, 0};
        const dis_evaluation_input in = {
            .size = sizeof(dis_evaluation_input), .n_items = 3, .n_classes = 2, .q = q, .human = p};
        dis_evaluation *e = run(&in, &o);
        nothing_is_nan(e);
        reason_is(e, DIS_EVALUATION_ENTROPY_SPEARMAN, "human labels is the same");
        reason_is(e, DIS_EVALUATION_ACCURACY, "no gold");
        assert_true(dis_evaluation_get_view(e).metric[DIS_EVALUATION_HUMAN_ENTROPY].value == 0);
        dis_evaluation_destroy(e);
    }
    { /* predictions alone; then gold of which nothing is known */
        const double q[] = {.9, .1, .4, .6};
        const int32_t gold[] = {-1, -1};
        dis_evaluation_input in = {.size = sizeof(dis_evaluation_input), .n_items = 2, .n_classes = 2, .q = q};
        o.ordinal = false;
        dis_evaluation *e = run(&in, &o);
        nothing_is_nan(e);
        reason_is(e, DIS_EVALUATION_KL, "no human");
        dis_evaluation_destroy(e);
        in.gold = gold;
        in.human = q;
        e = run(&in, &o);
        nothing_is_nan(e);
        reason_is(e, DIS_EVALUATION_WASSERSTEIN, "no order");
        reason_is(e, DIS_EVALUATION_ACCURACY, "no item has a gold label");
        assert_true(dis_evaluation_get_view(e).metric[DIS_EVALUATION_JSD].value == 0);
        assert_true(dis_evaluation_get_view(e).metric[DIS_EVALUATION_ENTROPY_CORRELATION].value == 1);
        dis_evaluation_destroy(e);
    }
    { /* perfect and uniform predictions: temperatures at the bound, or anything */
        double q[40];
        int32_t gold[20];
        for (size_t i = 0; i < 20; i++) {
            gold[i] = (int32_t)(i % 2);
            q[2 * i] = i % 2 ? .1 : .9;
            q[2 * i + 1] = 1 - q[2 * i];
        }
        const dis_evaluation_input in = {
            .size = sizeof(dis_evaluation_input), .n_items = 20, .n_classes = 2, .q = q, .gold = gold};
        dis_evaluation *e = run(&in, &o);
        nothing_is_nan(e);
        assert_true(dis_evaluation_get_view(e).at_bound[0]);
        assert_true(dis_evaluation_get_view(e).temperature[0] == .01);
        assert_true(dis_evaluation_get_view(e).metric[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD].value < 1e-12);
        dis_evaluation_destroy(e);
        for (size_t i = 0; i < 40; i++) q[i] = .5;
        e = run(&in, &o);
        nothing_is_nan(e);
        assert_true(fabs(dis_evaluation_get_view(e).metric[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD].value - log(2)) <
                    1e-12);
        dis_evaluation_destroy(e);
    }
}

/* Items without gold count for what people say and for nothing else. */
static void unknown_gold_is_left_out(void **state)
{
    (void)state;
    items x = make(300, 3, 8);
    dis_evaluation_input in = input(&x);
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 100;
    o.keep_items = true;
    in.n_items = 200;
    dis_evaluation *first = run(&in, &o);
    for (size_t i = 200; i < 300; i++) x.gold[i] = -1;
    in.n_items = 300;
    dis_evaluation *all = run(&in, &o);
    const dis_evaluation_view a = dis_evaluation_get_view(first), b = dis_evaluation_get_view(all);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        if (a.metric[m].reason) continue;
        const bool gold = dis_evaluation_metric_get(m)->needs & DIS_NEEDS_GOLD;
        assert_int_equal(b.metric[m].n, gold ? 200 : 300);
        if (!gold) continue;
        assert_true(fabs(a.metric[m].value - b.metric[m].value) < 1e-12);
        assert_true(fabs(a.metric[m].ci_low - b.metric[m].ci_low) < 1e-12);
    }
    const double *log_loss = dis_evaluation_values(&b, DIS_EVALUATION_LOG_LOSS);
    assert_true(isnan(log_loss[250]) && isfinite(log_loss[10]));
    dis_evaluation_destroy(first);
    dis_evaluation_destroy(all);
    unmake(&x);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    const double q[] = {.9, .1};
    const int32_t gold[] = {2};
    dis_evaluation_input in = {
        .size = sizeof(dis_evaluation_input), .n_items = 1, .n_classes = 2, .q = q, .gold = gold};
    dis_evaluation *e = NULL;
    assert_int_equal(dis_evaluation_run(NULL, &in, NULL, &e), DIS_EUSAGE);
    in.gold = NULL;
    in.n_items = 0;
    assert_int_equal(dis_evaluation_run(NULL, &in, NULL, &e), DIS_EUSAGE);
    in.n_items = 1;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.fraction = 0;
    assert_int_equal(dis_evaluation_run(NULL, &in, &o, &e), DIS_EUSAGE);
    o = dis_evaluation_options_default();
    o.n_bins = 1000;
    assert_int_equal(dis_evaluation_run(NULL, &in, &o, &e), DIS_EUSAGE);
    o = dis_evaluation_options_default();
    o.n_splits = 17;
    assert_int_equal(dis_evaluation_run(NULL, &in, &o, &e), DIS_EUSAGE);
    assert_null(e);
    assert_int_equal(dis_evaluation_metric_find("no such thing"), DIS_EVALUATION_METRICS);
    assert_null(dis_evaluation_metric_get(DIS_EVALUATION_METRICS));
}

/* Logarithms are in nats, distances of ordered classes in steps; shares, correlations and squares have no unit. What
 * has a range without an end has a unit, but for the ranked probability score, a sum of squares. */
static void units(void **state)
{
    (void)state;
    assert_string_equal(dis_evaluation_metric_get(DIS_EVALUATION_LOG_LOSS)->unit, "nats");
    assert_string_equal(dis_evaluation_metric_get(DIS_EVALUATION_JSD)->unit, "nats");
    assert_string_equal(dis_evaluation_metric_get(DIS_EVALUATION_ABSOLUTE_ERROR)->unit, "steps");
    assert_string_equal(dis_evaluation_metric_get(DIS_EVALUATION_ACCURACY)->unit, "");
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        if (isinf(dis_evaluation_metric_get(m)->high) && m != DIS_EVALUATION_RANKED_PROBABILITY_SCORE)
            assert_true(*dis_evaluation_metric_get(m)->unit);
    }
}

/* More classes than a matrix is kept for give the same scores. */
static void many_classes(void **state)
{
    (void)state;
    enum { K = DIS_EVALUATION_MAX_CONFUSED + 1, N = 40 };
    double *q = calloc((size_t)N * K, sizeof *q);
    int32_t gold[N];
    for (size_t i = 0; i < N; i++) {
        gold[i] = (int32_t)(i * 100 % K);
        q[i * K + (i % 4 ? i * 100 % K : 7)] = 1;
    }
    const dis_evaluation_input in = {
        .size = sizeof(dis_evaluation_input), .n_items = N, .n_classes = K, .q = q, .gold = gold};
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 20;
    dis_evaluation *e = run(&in, &o);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    assert_null(v.confusion);
    assert_true(fabs(v.metric[DIS_EVALUATION_ACCURACY].value - .75) < 1e-12);
    assert_true(fabs(v.metric[DIS_EVALUATION_MACRO_F1].value - 30.0 / 41) < 1e-12);
    assert_true(v.metric[DIS_EVALUATION_MACRO_F1].has_interval);
    dis_evaluation_destroy(e);
    free(q);
}

static dis_status evaluate_once(void *arg)
{
    const items *x = arg;
    const dis_evaluation_input in = input(x);
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 17;
    o.keep_items = true;
    dis_evaluation *e = NULL;
    const dis_status status = dis_evaluation_run(NULL, &in, &o, &e);
    if (status != DIS_OK) assert_null(e);
    dis_evaluation_destroy(e);
    return status;
}

/* 1 - total variation, 1 - JSD in bits, and the difference of both entropies: values and ends of intervals. */
static void soft_metrics_follow_from_others(void **state)
{
    (void)state;
    enum { N = 40, K = 3 };
    double q[N * K], p[N * K];
    for (size_t i = 0; i < N; i++) {
        double sum_q = 0, sum_p = 0;
        for (size_t k = 0; k < K; k++) {
            q[i * K + k] = 1 + (double)((i * 7 + k * 5) % 11);
            p[i * K + k] = (double)((i * 3 + k * 4) % 7);
            sum_q += q[i * K + k];
            sum_p += p[i * K + k];
        }
        for (size_t k = 0; k < K; k++) {
            q[i * K + k] /= sum_q;
            p[i * K + k] /= sum_p;
        }
    }
    const dis_evaluation_input in = {
        .size = sizeof(dis_evaluation_input), .n_items = N, .n_classes = K, .q = q, .human = p};
    dis_evaluation_options o = dis_evaluation_options_default();
    dis_evaluation *e;
    o.resamples = 200;
    assert_int_equal(dis_evaluation_run(NULL, &in, &o, &e), DIS_OK);
    const dis_metric *m = dis_evaluation_get_view(e).metric;
    const struct {
        dis_evaluation_metric metric, of;
        double scale;
    } rows[] = {{DIS_EVALUATION_SOFT_MICRO_F1, DIS_EVALUATION_TOTAL_VARIATION, 1},
                {DIS_EVALUATION_PO_JSD, DIS_EVALUATION_JSD, 1 / log(2)}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const dis_metric *x = &m[rows[r].metric], *of = &m[rows[r].of];
        assert_true(fabs(x->value - (1 - rows[r].scale * of->value)) < 1e-12);
        assert_true(x->has_interval && fabs(x->ci_low - (1 - rows[r].scale * of->ci_high)) < 1e-9);
        assert_true(fabs(x->ci_high - (1 - rows[r].scale * of->ci_low)) < 1e-9);
    }
    assert_true(fabs(m[DIS_EVALUATION_ENTROPY_EXCESS].value -
                     (m[DIS_EVALUATION_MODEL_ENTROPY].value - m[DIS_EVALUATION_HUMAN_ENTROPY].value)) < 1e-12);
    double overlap = 0; /* sum of min(p, q), as defined */
    for (size_t i = 0; i < N * K; i++) overlap += fmin(p[i], q[i]) / N;
    assert_true(fabs(m[DIS_EVALUATION_SOFT_MICRO_F1].value - overlap) < 1e-12);
    dis_evaluation_destroy(e);
}

static void every_fault_is_reported(void **state)
{
    (void)state;
    items x = make(50, 3, 2);
    x.gold[7] = -1;
    walk_faults(evaluate_once, NULL, &x);
    unmake(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_scikit_learn_and_scipy),
        cmocka_unit_test(intervals_lie_around_the_values),
        cmocka_unit_test(groups_stay_together),
        cmocka_unit_test(temperatures_of_many_items_are_the_best),
        cmocka_unit_test(ranks_are_those_of_counting),
        cmocka_unit_test(edges_have_values_or_reasons),
        cmocka_unit_test(unknown_gold_is_left_out),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(many_classes),
        cmocka_unit_test(units),
        cmocka_unit_test(soft_metrics_follow_from_others),
        cmocka_unit_test(every_fault_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
