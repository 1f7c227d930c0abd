/* Recipes: what a choice resolves to, what is refused, and that one call makes what its views and combination make one
 * by one. */
#include "support/em_support.h"
#include "support/fault_walk.h"

static dis_votes *make_votes(void)
{
    enum { ITEMS = 40, WORKERS = 6 };
    uint32_t task[ITEMS * WORKERS], worker[ITEMS * WORKERS];
    uint16_t label[ITEMS * WORKERS];
    for (size_t v = 0; v < ITEMS * WORKERS; v++) {
        task[v] = (uint32_t)(v / WORKERS);
        worker[v] = (uint32_t)(v % WORKERS);
        label[v] = (uint16_t)((v * 7 + v / 5) % 10 < 6 ? task[v] % 3 : (v / 3) % 3);
    }
    return em_make_votes(ITEMS * WORKERS, task, worker, label, ITEMS, WORKERS, 3);
}

static void choices(void **state)
{
    (void)state;
    dis_label_plan c = dis_label_plan_default(), same = c;
    const char *papers[] = {"papers"}, *two[] = {"standard", "mace:restarts=2"}, *one[] = {"ibcc"};
    assert_int_equal(dis_label_plan_parse(NULL, 0, NULL, true, &c), DIS_OK);
    assert_ptr_equal(c.recipe, dis_recipe_get(0));
    assert_int_equal(dis_label_plan_parse(papers, 1, NULL, true, &c), DIS_OK);
    assert_ptr_equal(c.recipe, dis_recipe_find("papers"));
    assert_int_equal(c.n_views, 4);
    assert_string_equal(c.views[2], "dawid-skene:smoothing=0");
    assert_string_equal(c.combine, "centroid");
    assert_int_equal(dis_label_plan_parse(papers, 1, "average", false, &c), DIS_OK);
    assert_int_equal(c.n_views, 2);
    assert_string_equal(c.views[1], "softmax");
    assert_string_equal(c.combine, "average");
    assert_int_equal(dis_label_plan_parse(two, 2, NULL, true, &c), DIS_OK);
    assert_null(c.recipe);
    assert_string_equal(c.combine, "centroid");
    assert_string_equal(c.views[1], two[1]);
    assert_int_equal(dis_label_plan_parse(one, 1, NULL, true, &c), DIS_OK);
    assert_int_equal(c.n_views, 1);
    assert_null(c.combine);

    const char *mixed[] = {"standard", "papers"}, *options[] = {"papers:weights=1"}, *unknown[] = {"paper"};
    same = c;
    assert_int_equal(dis_label_plan_parse(mixed, 2, NULL, true, &c), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "cannot be combined with others"));
    assert_int_equal(dis_label_plan_parse(options, 1, NULL, true, &c), DIS_EUSAGE);
    assert_int_equal(dis_label_plan_parse(unknown, 1, NULL, true, &c), DIS_EUSAGE);
    assert_int_equal(dis_label_plan_parse(one, 1, "average", true, &c), DIS_EUSAGE);
    assert_int_equal(dis_label_plan_parse(two, 2, "avarage", true, &c), DIS_EUSAGE);
    assert_memory_equal(&c, &same, sizeof c);
}

/* Every recipe of the table can be fitted, with workers and without. */
static void table(void **state)
{
    (void)state;
    dis_votes *votes = make_votes();
    const double counts[] = {1, 2, 0, 3, 0, 1};
    dis_votes *nobody = NULL;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 2, 3, NULL, NULL, &nobody), DIS_OK);
    assert_non_null(dis_recipe_find("papers"));
    for (size_t i = 0; dis_recipe_get(i); i++) {
        const char *name = dis_recipe_get(i)->name;
        assert_null(dis_method_find(name)); /* a name has one meaning */
        for (int workers = 0; workers < 2; workers++) {
            dis_label_plan c = dis_label_plan_default();
            dis_label_result *result;
            assert_int_equal(dis_label_plan_parse(&name, 1, NULL, workers, &c), DIS_OK);
            assert_int_equal(dis_label_result_run(NULL, workers ? votes : nobody, &c, NULL, &result), DIS_OK);
            const dis_label_result_view view = dis_label_result_get_view(result);
            assert_int_equal(view.n_views, c.n_views);
            for (size_t j = 0; j < 2; j++)
                em_assert_close(view.p[3 * j] + view.p[3 * j + 1] + view.p[3 * j + 2], 1, 1e-12);
            dis_label_result_destroy(result);
        }
    }
    dis_votes_destroy(nobody);
    dis_votes_destroy(votes);
}

static dis_status count_views(void *user, size_t m, const dis_label_result_part *part)
{
    size_t *n = user;
    assert_int_equal(*n, m);
    assert_non_null(part->p);
    return ++*n == 3 ? DIS_ECANCELLED : DIS_OK;
}

static void equals_the_parts(void **state)
{
    (void)state;
    dis_votes *votes = make_votes();
    const dis_votes_view v = dis_votes_get_view(votes);
    const size_t n = v.n_items * v.n_classes;
    const char *papers[] = {"papers"};
    dis_label_plan c = dis_label_plan_default();
    assert_int_equal(dis_label_plan_parse(papers, 1, NULL, true, &c), DIS_OK);
    const double *p[4];
    dis_fit *fit[4];
    for (size_t m = 0; m < 4; m++) p[m] = dis_fit_p(fit[m] = em_fit(NULL, votes, c.views[m], NULL));
    double *out = malloc(n * sizeof *out);
    const dis_views views = {
        .size = sizeof(dis_views), .n_items = v.n_items, .n_classes = v.n_classes, .n_views = 4, .p = p};
    assert_int_equal(dis_views_combine(NULL, &views, "centroid", out, NULL), DIS_OK);

    dis_label_result_options o = dis_label_result_options_default();
    for (int keep = 0; keep < 2; keep++) {
        dis_label_result *result;
        o.keep_fits = o.keep_views = keep;
        assert_int_equal(dis_label_result_run(NULL, votes, &c, &o, &result), DIS_OK);
        const dis_label_result_view view = dis_label_result_get_view(result);
        assert_memory_equal(view.p, out, n * sizeof *out);
        for (size_t m = 0; m < 4; m++) {
            assert_true(keep == (view.parts[m].p != NULL));
            if (keep) assert_memory_equal(view.parts[m].p, p[m], n * sizeof *out);
            assert_int_equal(dis_fit_get_view(view.parts[m].fit).iterations, dis_fit_get_view(fit[m]).iterations);
        }
        assert_true(keep == (dis_fit_get_parameter(view.parts[2].fit, 0) != NULL));
        double *moved = dis_label_result_move_p(result);
        dis_label_result_destroy(result);
        assert_memory_equal(moved, out, n * sizeof *out);
        dis_free(moved);
    }
    size_t called = 0;
    dis_label_result *none = NULL;
    o.on_fit = count_views;
    o.user = &called;
    assert_int_equal(dis_label_result_run(NULL, votes, &c, &o, &none), DIS_ECANCELLED);
    assert_int_equal(called, 3);
    assert_null(none);
    for (size_t m = 0; m < 4; m++) dis_fit_destroy(fit[m]);
    free(out);
    dis_votes_destroy(votes);
}

static dis_status run_faulty(void *arg)
{
    dis_label_plan c = dis_label_plan_default();
    dis_label_result *result = NULL;
    assert_int_equal(dis_label_plan_parse(NULL, 0, NULL, true, &c), DIS_OK);
    const dis_status status = dis_label_result_run(NULL, arg, &c, NULL, &result);
    if (status != DIS_OK) assert_null(result);
    dis_label_result_destroy(result);
    return status;
}

/* Known labels choose: every view is fitted twice. */
static dis_status run_faulty_with_gold(void *arg)
{
    dis_label_plan c = dis_label_plan_default();
    dis_label_result *result = NULL;
    int32_t gold[40];
    dis_fit_options fit = dis_fit_options_default();
    dis_label_result_options o = dis_label_result_options_default();
    for (size_t i = 0; i < 40; i++) gold[i] = i < 12 ? (int32_t)(i % 3) : -1;
    fit.gold = gold;
    o.fit = &fit;
    assert_int_equal(dis_label_plan_parse(NULL, 0, NULL, true, &c), DIS_OK);
    const dis_status status = dis_label_result_run(NULL, arg, &c, &o, &result);
    if (status != DIS_OK)
        assert_null(result);
    else
        assert_int_equal(dis_label_result_get_view(result).combination->n_gold, 12);
    dis_label_result_destroy(result);
    return status;
}

static void failing_allocations(void **state)
{
    (void)state;
    dis_votes *votes = make_votes();
    walk_faults(run_faulty, NULL, votes);
    walk_faults(run_faulty_with_gold, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices),
        cmocka_unit_test(table),
        cmocka_unit_test(equals_the_parts),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
