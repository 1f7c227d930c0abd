/* Predictions for single workers against their votes: figures by hand, baselines that leave a vote out of itself,
 * groups, and what is refused. */
#include "support/em_support.h"
#include "support/scratch.h"

static dis_votes *votes_of(const char *name, const char *text, const char *const *classes, size_t n_classes)
{
    const char *path = put_text(name, text);
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes;
    o.classes = classes;
    o.n_classes = n_classes;
    if (dis_votes_read(NULL, &path, 1, &o, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static const char *const classes[] = {"1", "2", "3", "4"};

/* Item a: 1, 1, 3 by w, x, y; item b: 2, 4 by w, x; item c: 4 by w. */
static const char truth[] = "task,worker,label\na,w,1\na,x,1\na,y,3\nb,w,2\nb,x,4\nc,w,4\n";
/* Steps off: a: 0, 1, 0; b: 2, 0; c: 3. */
static const char predicted[] = "task,worker,label,p:1\nc,w,1,1\na,w,1,1\na,x,2,0\na,y,3,0\nb,w,4,0\nb,x,4,0\n";

static void small_example(void **state)
{
    (void)state;
    dis_votes *v = votes_of("v.csv", truth, classes, 4), *s = votes_of("s.csv", predicted, classes, 4);
    dis_perspectives_options o = dis_perspectives_options_default();
    dis_perspectives *p;
    o.ordered = true;
    assert_int_equal(dis_perspectives_run(NULL, v, s, NULL, &o, &p), DIS_OK);
    const dis_perspectives_view x = dis_perspectives_get_view(p);
    assert_int_equal(x.n_votes, 6);
    assert_int_equal(x.n_items, 3);
    assert_int_equal(x.n_workers, 3);
    assert_int_equal(x.n_votes_unpredicted, 0);
    em_assert_close(x.error[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_VOTES].value, 3. / 6, 1e-15);
    em_assert_close(x.error[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_ITEMS].value, (1. / 3 + 1. / 2 + 1) / 3, 1e-15);
    em_assert_close(x.error[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_WORKERS].value, (2. / 3 + 1. / 2 + 0) / 3, 1e-15);
    em_assert_close(x.distance[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_VOTES].value, 6. / 6, 1e-15);
    em_assert_close(x.distance[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_ITEMS].value, (1. / 3 + 1 + 3) / 3, 1e-15);
    em_assert_close(x.distance[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_WORKERS].value, (5. / 3 + 1. / 2 + 0) / 3,
                    1e-15);
    assert_true(x.error[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_VOTES].has_interval);
    /* others of a: 1 and 3 (tie: 1) for w and x, 1 for y; of b: each the other; of c: no one */
    assert_int_equal(x.error[DIS_PREDICTION_MAJORITY_OF_OTHERS][DIS_AVERAGE_OVER_VOTES].n, 5);
    em_assert_close(x.error[DIS_PREDICTION_MAJORITY_OF_OTHERS][DIS_AVERAGE_OVER_VOTES].value, 3. / 5, 1e-15);
    em_assert_close(x.distance[DIS_PREDICTION_MAJORITY_OF_OTHERS][DIS_AVERAGE_OVER_VOTES].value,
                    (0 + 0 + 2 + 2 + 2) / 5., 1e-15);
    /* the worker's other votes: w: 2 or 4 (2), 1 or 4 (1), 1 or 2 (1); x: 4, 1; y: none */
    assert_int_equal(x.error[DIS_PREDICTION_MOST_FREQUENT][DIS_AVERAGE_OVER_VOTES].n, 5);
    em_assert_close(x.error[DIS_PREDICTION_MOST_FREQUENT][DIS_AVERAGE_OVER_VOTES].value, 1, 1e-15);
    em_assert_close(x.distance[DIS_PREDICTION_MOST_FREQUENT][DIS_AVERAGE_OVER_VOTES].value, (1 + 1 + 3 + 3 + 3) / 5.,
                    1e-15);
    assert_true(isnan(x.row[2].error[DIS_PREDICTION_MOST_FREQUENT]));
    em_assert_close(x.row[0].distance[DIS_PREDICTION_OF_MODEL], 5. / 3, 1e-15);
    dis_perspectives_destroy(p);
    dis_votes_destroy(v);
    dis_votes_destroy(s);
}

static void test_history_and_groups(void **state)
{
    (void)state;
    dis_votes *v = votes_of("v.csv", truth, classes, 4), *s = votes_of("s.csv", predicted, classes, 4);
    dis_votes *h = votes_of("h.csv", "task,worker,label\nq,w,1\nr,w,1\ns,w,2\nq,y,3\n", classes, 4);
    dis_worker_table *table;
    dis_names *value;
    dis_worker_groups *groups;
    dis_worker_groups_options how = dis_worker_groups_options_default();
    how.min_group = 1;
    assert_int_equal(dis_worker_table_read(NULL, put_text("w.csv", "worker,side\nw,l\nx,r\ny,r\n"), NULL, &table),
                     DIS_OK);
    assert_int_equal(dis_worker_table_values(table, "side", v, &value), DIS_OK);
    assert_int_equal(dis_worker_groups_create(v, value, &how, &groups), DIS_OK);
    dis_perspectives_options o = dis_perspectives_options_default();
    dis_perspectives *p;
    o.groups = groups;
    o.resamples = 0;
    assert_int_equal(dis_perspectives_run(NULL, v, s, h, &o, &p), DIS_OK);
    const dis_perspectives_view x = dis_perspectives_get_view(p);
    /* w: 1 on a (right), b, c (wrong); x has no history; y: 3 (right) */
    assert_int_equal(x.error[DIS_PREDICTION_MOST_FREQUENT][DIS_AVERAGE_OVER_VOTES].n, 4);
    em_assert_close(x.error[DIS_PREDICTION_MOST_FREQUENT][DIS_AVERAGE_OVER_VOTES].value, 2. / 4, 1e-15);
    assert_non_null(x.distance[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_VOTES].reason);
    assert_false(x.error[DIS_PREDICTION_MOST_FREQUENT][DIS_AVERAGE_OVER_VOTES].has_interval);
    assert_int_equal(x.n_groups, 2);
    assert_int_equal(x.group[0].votes, 3);
    assert_int_equal(x.group[1].workers, 2);
    em_assert_close(x.group[0].error[DIS_PREDICTION_OF_MODEL].value, 2. / 3, 1e-15);
    em_assert_close(x.group[1].error[DIS_PREDICTION_OF_MODEL].value, 1. / 3, 1e-15);
    dis_perspectives_destroy(p);
    dis_worker_groups_destroy(groups);
    dis_names_destroy(value);
    dis_worker_table_destroy(table);
    dis_votes_destroy(v);
    dis_votes_destroy(s);
    dis_votes_destroy(h);
}

static void test_refused(void **state)
{
    (void)state;
    dis_votes *v = votes_of("v.csv", truth, NULL, 0),
              *part = votes_of("p.csv", "task,worker,label\na,w,1\nz,w,1\n", NULL, 0);
    dis_votes *other = votes_of("o.csv", "task,worker,label\na,w,9\n", NULL, 0);
    dis_perspectives_options o = dis_perspectives_options_default();
    dis_perspectives *p = NULL;
    assert_int_equal(dis_perspectives_run(NULL, v, part, NULL, &o, &p), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "task \"a\" and worker \"x\""));
    assert_int_equal(dis_perspectives_run(NULL, v, other, NULL, &o, &p), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "\"9\""));
    o.lenient = true;
    assert_int_equal(dis_perspectives_run(NULL, v, part, NULL, &o, &p), DIS_OK);
    const dis_perspectives_view x = dis_perspectives_get_view(p);
    assert_int_equal(x.n_votes, 1);
    assert_int_equal(x.n_votes_unpredicted, 5);
    assert_int_equal(x.n_predictions_unused, 1);
    dis_perspectives_destroy(p);
    dis_votes_destroy(v);
    dis_votes_destroy(part);
    dis_votes_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_example),
        cmocka_unit_test(test_history_and_groups),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
