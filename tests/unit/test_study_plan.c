/* Plans of studies: variances of crowds whose parts are known, the formulas of designs, accuracy of majority labels, mistakes. */
#include "support/em_support.h"
#include "dissent/study.h"
#include "core/random/rng.h"
#include <math.h>
#include <stdlib.h>

#define OK(call)              assert_int_equal(call, DIS_OK)
#define NEAR(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

enum { ITEMS = 300, PEOPLE = 30, VOTES = 6 };

static dis_study_design one_design(dis_study_options *o, size_t items, size_t annotators, size_t votes,
                                   dis_study_plan *plan)
{
    static size_t n, a, m;
    dis_study_design row;
    n = items;
    a = annotators;
    m = votes;
    o->items = &n;
    o->annotators = &a;
    o->votes_per_item = &m;
    o->n_items = o->n_annotators = o->n_votes_per_item = 1;
    OK(dis_study_predict(o, &row, plan));
    return row;
}

/* ---- stated figures ---- */

static void a_share_has_the_variance_of_the_formula(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan plan = dis_study_plan_default();
    o.metric = "share";
    o.figures.value = .3;
    o.figures.kappa = .4;
    o.figures.spread = .05;
    const dis_study_design row = one_design(&o, 5000, 2000, 2, &plan);
    const double all = .21, items = .4 * all, people = .0025, votes = all - items - people;
    NEAR(plan.variances.items, items, 1e-12);
    NEAR(plan.variances.annotators, people, 1e-12);
    const double variance = items / 5000 + people / 2000 + votes / 10000;
    NEAR(row.half_width, 1.96 * sqrt(variance), 2e-3 * row.half_width);
    NEAR(row.cost, 10000, 0);
}

static void power_rises_with_items_and_is_the_level_for_no_effect(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan plan = dis_study_plan_default();
    double before = 0;
    o.metric = "difference";
    o.figures.discordant = .2;
    o.figures.kappa = .5;
    o.effect = .03;
    for (size_t n = 50; n <= 12800; n *= 2) {
        const double power = one_design(&o, n, 50, 3, &plan).power;
        assert_true(power > before);
        before = power;
    }
    assert_true(before > .99);
    o.effect = 1e-6;
    NEAR(one_design(&o, 400, 50, 3, &plan).power, .05, 2e-3);
}

static void the_answer_reaches_the_target_and_one_item_less_does_not(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan plan = dis_study_plan_default(), ignored = plan;
    o.metric = "judge";
    o.figures.value = .8;
    o.figures.kappa = .5;
    o.half_width = .04;
    one_design(&o, 100, 20, 3, &plan);
    assert_true(plan.has_best);
    assert_true(plan.best.half_width <= .04);
    assert_true(one_design(&o, plan.best.items - 1, 20, 3, &ignored).half_width > .04);
}

static void a_judge_makes_a_share_cheaper_unless_it_is_useless(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan good = dis_study_plan_default(), useless = good;
    o.metric = "share";
    o.figures.value = .3;
    o.figures.kappa = .6;
    o.figures.judge_kappa = .6;
    o.budget = 900;
    one_design(&o, 100, 100, 3, &good);
    assert_true(good.has_split);
    assert_true(good.split.half_width < .8 * good.split.half_width_people);
    assert_true(good.split.cost <= 900);
    o.figures.judge_kappa = 0;
    one_design(&o, 100, 100, 3, &useless);
    assert_true(useless.split.half_width >= useless.split.half_width_people);
}

static void majority_labels_of_equal_annotators_follow_the_binomial_law(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan plan = dis_study_plan_default();
    o.metric = "labels";
    o.figures.value = .7;
    o.figures.kappa = 0; /* the urn begins with 49 balls: votes on an item are almost independent */
    NEAR(one_design(&o, 100, 20, 1, &plan).value, .7, .01);
    NEAR(one_design(&o, 100, 20, 3, &plan).value, .784, .015);
    NEAR(one_design(&o, 100, 20, 5, &plan).value, .837, .02);
}

/* ---- pilots ---- */

/* Votes for class 1 with probability .5 + item + annotator, uniform parts of these half widths. */
static dis_votes *crowd(double item, double annotator, uint64_t seed)
{
    dis__rng rng = dis__rng_at(seed, 1, 1);
    static uint32_t task[ITEMS * VOTES], worker[ITEMS * VOTES];
    static uint16_t label[ITEMS * VOTES];
    double person[PEOPLE];
    dis_votes *votes;
    size_t n = 0;
    for (size_t w = 0; w < PEOPLE; w++) person[w] = annotator * (2 * dis__rng_uniform(&rng) - 1);
    for (uint32_t i = 0; i < ITEMS; i++) {
        const double here = item * (2 * dis__rng_uniform(&rng) - 1);
        const uint32_t first = (uint32_t)dis__rng_below(&rng, PEOPLE);
        for (uint32_t v = 0; v < VOTES; v++, n++) {
            task[n] = i;
            worker[n] = (first + 5 * v) % PEOPLE;
            label[n] = dis__rng_uniform(&rng) < .5 + here + person[worker[n]];
        }
    }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = n,
                                     .n_items = ITEMS,
                                     .n_workers = PEOPLE,
                                     .n_classes = 2,
                                     .task = task,
                                     .worker = worker,
                                     .label = label};
    OK(dis_votes_create_from_arrays(NULL, &arrays, &votes));
    return votes;
}

static void variances_of_a_pilot_are_those_of_the_crowd(void **state)
{
    (void)state;
    double items = 0, annotators = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        dis_study_options o = dis_study_options_default();
        dis_study_plan plan = dis_study_plan_default();
        dis_votes *votes = crowd(.3, .2, seed);
        o.metric = "share";
        o.votes = votes;
        one_design(&o, 100, 20, 3, &plan);
        items += plan.variances.items / 20;
        annotators += plan.variances.annotators / 20;
        NEAR(plan.variances.items + plan.variances.annotators + plan.variances.votes, .25, .02);
        assert_int_equal(plan.n_items, ITEMS);
        dis_votes_destroy(votes);
    }
    NEAR(items, .03, .004);
    NEAR(annotators, .0133, .004);
}

static void pairs_of_a_pilot_predict_more_precision_with_more_votes(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan plan = dis_study_plan_default();
    dis_votes *votes = crowd(.4, .05, 3);
    o.votes = votes;
    static const char *const metrics[] = {"alpha", "kappa", "percent"};
    for (size_t k = 0; k < 3; k++) {
        o.metric = metrics[k];
        const double two = one_design(&o, 400, 30, 2, &plan).half_width,
                     four = one_design(&o, 400, 30, 4, &plan).half_width;
        assert_true(four < two);
        assert_true(isnan(one_design(&o, 400, 30, 1, &plan).half_width));
        NEAR(plan.value, k < 2 ? .213 : .607, .05);
    }
    dis_votes_destroy(votes);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    dis_study_options o = dis_study_options_default();
    dis_study_plan plan = dis_study_plan_default();
    dis_study_design rows[6 * 7 * 6];
    o.metric = "accuracy";
    assert_int_equal(dis_study_predict(&o, rows, &plan), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "the metrics are labels"));
    o.metric = "share";
    assert_int_equal(dis_study_predict(&o, rows, &plan), DIS_EUSAGE);
    o.figures.kappa = .5;
    o.figures.value = 1.5;
    assert_int_equal(dis_study_predict(&o, rows, &plan), DIS_EUSAGE);
    o.figures.value = .5;
    o.vote_cost = -1;
    assert_int_equal(dis_study_predict(&o, rows, &plan), DIS_EUSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_has_the_variance_of_the_formula),
        cmocka_unit_test(power_rises_with_items_and_is_the_level_for_no_effect),
        cmocka_unit_test(the_answer_reaches_the_target_and_one_item_less_does_not),
        cmocka_unit_test(a_judge_makes_a_share_cheaper_unless_it_is_useless),
        cmocka_unit_test(majority_labels_of_equal_annotators_follow_the_binomial_law),
        cmocka_unit_test(variances_of_a_pilot_are_those_of_the_crowd),
        cmocka_unit_test(pairs_of_a_pilot_predict_more_precision_with_more_votes),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
