/* What bindings of other languages call: plain functions in place of the inline ones, and labels written in one call. */
#include "dissent/dissent.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static dis_votes *votes_of_six(void)
{
    static const uint32_t task[] = {0, 0, 1, 1, 2, 2}, worker[] = {0, 1, 0, 1, 0, 1};
    static const uint16_t label[] = {0, 0, 1, 1, 0, 1};
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = 6,
                                     .n_items = 3,
                                     .n_workers = 2,
                                     .n_classes = 2,
                                     .task = task,
                                     .worker = worker,
                                     .label = label};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &arrays, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static void structs_by_name(void **state)
{
    (void)state;
    dis_fit_options named, inline_one = dis_fit_options_default();
    memset(&named, 0, sizeof named);
    assert_int_equal(dis_options_init("dis_fit_options", &named, sizeof named), DIS_OK);
    assert_int_equal(named.size, sizeof named);
    assert_true(named.predictions_weight == inline_one.predictions_weight);
    assert_int_equal(dis_options_init("dis_no_options", &named, sizeof named), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "dis_no_options"));
    dis_votes *votes = votes_of_six();
    dis_votes_view view;
    assert_int_equal(dis_view_init("dis_votes_view", &view, sizeof view, votes), DIS_OK);
    assert_int_equal(view.n_items, 3);
    assert_int_equal(dis_view_init("dis_votes", &view, sizeof view, votes), DIS_EUSAGE);
    dis_votes_destroy(votes);
}

static void names_of_constants(void **state)
{
    (void)state;
    assert_string_equal(dis_enum_name("dis_chance", DIS_CHANCE_NOISE), "noise");
    assert_string_equal(dis_chance_name(DIS_CHANCE_NOISE), "noise");
    assert_string_equal(dis_interval_scope_name(DIS_INTERVAL_ITEMS), "items");
    assert_string_equal(dis_requirement_outcome_name(DIS_REQUIREMENT_NOT_MET), "not met");
    assert_string_equal(dis_review_verdict_name(DIS_REVIEW_NO_VERDICT), "unjudged");
    assert_string_equal(dis_run_state_name(DIS_RUN_FAILED), "failed");
    assert_string_equal(dis_watch_reason_name(DIS_WATCH_VOTE_LIMIT), "vote_limit");
    assert_null(dis_enum_name("dis_run_state", DIS_RUN_STATES));
    assert_null(dis_enum_name("dis_review_verdict", DIS_REVIEW_VERDICTS));
    assert_null(dis_enum_name("dis_no_enum", 0));
}

/* What a call reads, its struct has from the library; what it writes to a caller's struct stays within its size. */
static void inputs_by_name(void **state)
{
    (void)state;
    dis_views views;
    assert_int_equal(dis_options_init("dis_views", &views, sizeof views), DIS_OK);
    assert_int_equal(views.size, sizeof views);
    assert_int_equal(views.n_views, 0);
    dis_labels_view labels;
    assert_int_equal(dis_options_init("dis_labels_view", &labels, sizeof labels), DIS_OK);
    assert_int_equal(labels.size, sizeof labels);
    struct {
        dis_combination c;
        unsigned char beyond[sizeof(size_t)];
    } older;
    memset(&older, 0xa5, sizeof older);
    older.c.size = offsetof(dis_combination, weight);
    double out[2];
    const double first[] = {.25, .75}, second[] = {.75, .25};
    const double *p[] = {first, second};
    const dis_views two = {.size = sizeof(dis_views), .n_items = 1, .n_classes = 2, .n_views = 2, .p = p};
    assert_int_equal(dis_views_combine(NULL, &two, "average", out, &older.c), DIS_OK);
    assert_true(out[0] == .5 && older.c.size == offsetof(dis_combination, weight) && isnan(older.c.objective));
    const unsigned char *bytes = (const unsigned char *)&older;
    for (size_t i = offsetof(dis_combination, weight); i < sizeof older; i++) assert_int_equal(bytes[i], 0xa5);
}

static void getters(void **state)
{
    (void)state;
    dis_votes *votes = votes_of_six();
    assert_int_equal(dis_votes_n_items(votes), 3);
    assert_int_equal(dis_votes_n_workers(votes), 2);
    assert_int_equal(dis_votes_n_classes(votes), 2);
    assert_int_equal(dis_votes_n_votes(votes), 6);
    assert_ptr_equal(dis_votes_tasks(votes), dis_votes_get_view(votes).tasks);
    assert_ptr_equal(dis_votes_workers(votes), dis_votes_get_view(votes).workers);
    assert_ptr_equal(dis_votes_classes(votes), dis_votes_get_view(votes).classes);
    dis_agreement *agreement;
    assert_int_equal(dis_agreement_run(NULL, votes, NULL, &agreement), DIS_OK);
    double low, high;
    assert_true(fabs(dis_agreement_value(agreement, "percent") - 2.0 / 3) < 1e-12);
    assert_true(dis_agreement_value(agreement, "alpha_nominal") ==
                dis_agreement_find(agreement, "alpha_nominal")->value);
    assert_true(isnan(dis_agreement_value(agreement, "no such measure")));
    assert_false(dis_agreement_interval(agreement, "no such measure", &low, &high));
    assert_true(isnan(low) && isnan(high));
    dis_agreement_destroy(agreement);
    static const double q[] = {.9, .1, .2, .8, .4, .6};
    static const int32_t gold[] = {0, 1, 0}, wrong[] = {1, 1, 1}, right[] = {0, 1, 0};
    const dis_evaluation_input in = {
        .size = sizeof(dis_evaluation_input), .n_items = 3, .n_classes = 2, .q = q, .gold = gold};
    dis_evaluation *evaluation;
    assert_int_equal(dis_evaluation_run(NULL, &in, NULL, &evaluation), DIS_OK);
    assert_true(fabs(dis_evaluation_value(evaluation, "accuracy") - 2.0 / 3) < 1e-12);
    assert_true(isnan(dis_evaluation_value(evaluation, "jsd"))); /* there are no human labels */
    assert_false(dis_evaluation_interval(evaluation, "accuracy", &low, &high));
    dis_evaluation_destroy(evaluation);
    const int32_t *a[] = {right}, *b[] = {wrong};
    const dis_comparison_input sides = {.size = sizeof(dis_comparison_input),
                                        .n_items = 3,
                                        .n_classes = 2,
                                        .gold = gold,
                                        .a = a,
                                        .n_a = 1,
                                        .b = b,
                                        .n_b = 1};
    dis_comparison *comparison;
    assert_int_equal(dis_comparison_run(NULL, &sides, NULL, &comparison), DIS_OK);
    assert_true(fabs(dis_comparison_difference(comparison, "accuracy") - 2.0 / 3) < 1e-12);
    assert_true(dis_comparison_p_value(comparison, "accuracy") == dis_comparison_get_view(comparison).metric[0].p);
    assert_true(isnan(dis_comparison_difference(comparison, "no such metric")));
    dis_comparison_destroy(comparison);
    dis_review *review;
    assert_int_equal(dis_review_run(NULL, votes, NULL, &review), DIS_OK);
    assert_int_equal(dis_review_find_worker(review, 1)->worker, 1);
    assert_int_equal(dis_review_find_item(review, 2)->item, 2);
    assert_null(dis_review_find_item(review, 3));
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* The file of labels that one call writes is read back as the labels of the fit, bit by bit. */
static void labels_in_one_call(void **state)
{
    (void)state;
    char folder[] = "/tmp/dissent.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/labels.csv", folder);
    dis_votes *votes = votes_of_six();
    dis_fit *fit;
    assert_int_equal(dis_fit_run(NULL, votes, "dawid-skene", NULL, &fit), DIS_OK);
    assert_int_equal(dis_fit_n_items(fit), 3);
    assert_int_equal(dis_fit_n_classes(fit), 2);
    assert_int_equal(dis_fit_iterations(fit), dis_fit_get_view(fit).iterations);
    assert_int_equal(dis_fit_converged(fit), dis_fit_get_view(fit).converged);
    assert_true(dis_fit_objective(fit) == dis_fit_get_view(fit).objective);
    assert_int_equal(dis_fit_write_labels(NULL, fit, votes, path, NULL), DIS_OK);
    dis_labels *labels;
    assert_int_equal(dis_labels_read(NULL, path, NULL, &labels), DIS_OK);
    assert_int_equal(dis_labels_n_items(labels), 3);
    assert_int_equal(dis_labels_n_classes(labels), 2);
    assert_int_equal(dis_names_count(dis_labels_tasks(labels)), 3);
    assert_int_equal(dis_names_count(dis_labels_classes(labels)), 2);
    for (size_t i = 0; i < 6; i++) assert_true(fabs(dis_labels_p(labels)[i] - dis_fit_p(fit)[i]) < 1e-9);
    dis_labels_destroy(labels);
    dis_free(dis_fit_move_p(fit));
    assert_int_equal(dis_fit_write_labels(NULL, fit, votes, path, NULL), DIS_EUSAGE);
    dis_fit_destroy(fit);
    dis_label_plan plan = dis_label_plan_default();
    const char *specs[] = {"majority"};
    dis_label_result *result;
    assert_int_equal(dis_label_plan_parse(specs, 1, NULL, true, &plan), DIS_OK);
    assert_int_equal(dis_label_result_run(NULL, votes, &plan, NULL, &result), DIS_OK);
    assert_true(dis_label_result_p(result)[0] == 1);
    assert_int_equal(dis_label_result_write_labels(NULL, result, votes, path, NULL), DIS_OK);
    dis_label_result_destroy(result);
    dis_votes_destroy(votes);
    remove(path);
    remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structs_by_name), cmocka_unit_test(names_of_constants),
                                       cmocka_unit_test(inputs_by_name), cmocka_unit_test(getters),
                                       cmocka_unit_test(labels_in_one_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
