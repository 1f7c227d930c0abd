/* Agreement of real crowds: alpha as the krippendorff package has it, kappas as irrCAC and scikit-learn have them, the
 * agreement that MULTI-VIEW reports, and the crowd statistics of SOFT-LOSS table 1. Looks in $DISSENT_DATA or
 * ../shared/data; skipped where a file is absent. */
#include "support/em_support.h"
#include <unistd.h>

static const char *data(const char *file)
{
    static char path[4096];
    return em_shared("data", path, sizeof path, file);
}

/* Ends the test as skipped when the file is not there. */
static void need(const char *file)
{
    if (access(data(file), R_OK) == 0) return;
    print_message("skipped: %s is not there\n", data(file));
    skip();
}

static dis_votes *read_votes(const char *file, dis_input input)
{
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes;
    const char *path = data(file);
    o.input = input;
    if (dis_votes_read(NULL, &path, 1, &o, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static dis_agreement *measure(const dis_votes *votes, const int32_t *gold)
{
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *a;
    o.resamples = 0;
    o.gold = gold;
    if (dis_agreement_run(NULL, votes, &o, &a) != DIS_OK) fail_msg("%s", dis_last_error());
    return a;
}

static const struct {
    const char *file, *measure;
    double value, within;
} figures[] = {
    {"rte_snow/annotations.csv", "percent", .6287, 5e-5},
    {"rte_snow/annotations.csv", "alpha_nominal", 0.24147876613881003, 1e-9},
    {"rte_snow/annotations.csv", "fleiss", 0.241383939131223, 1e-9},
    {"rte_snow/annotations.csv", "gwet_ac1", 0.27273246124206, 1e-9},
    {"rte_snow/annotations.csv", "cohen", 0.2385688358106346, 1e-9},
    {"mre_crowdtruth/annotations_cause_expert_subset.csv", "percent", .8570, 5e-5},
    {"mre_crowdtruth/annotations_cause_expert_subset.csv", "alpha_nominal", 0.2648254935760167, 1e-9},
    {"mre_crowdtruth/annotations_cause_expert_subset.csv", "fleiss", 0.268019046897622, 1e-9},
    {"mre_crowdtruth/annotations_cause_expert_subset.csv", "gwet_ac1", 0.822351952021801, 1e-9},
    {"mre_crowdtruth/annotations_cause_expert_subset.csv", "cohen", 0.22933491113747057, 1e-9},
    {"pos_gimpel/annotations.csv", "percent", .7254, 5e-5},
    {"pos_gimpel/annotations.csv", "alpha_nominal", 0.7869449137893285, 1e-9},
    {"popquorn/annotations.csv", "alpha_nominal", 0.13389979095635263, 1e-9},
    {"popquorn/annotations.csv", "alpha_ordinal", 0.286488592272091, 1e-9},
    {"popquorn/annotations.csv", "alpha_interval", 0.2871752730325716, 1e-9},
    {"popquorn/annotations.csv", "alpha_ratio", 0.27229421640593954, 1e-9},
    {"popquorn/annotations.csv", "fleiss", 0.134930839778346, 1e-9},
    {"popquorn/annotations.csv", "gwet_ac1", 0.370498115925198, 1e-9},
    {"popquorn/annotations.csv", "gwet_ac2_quadratic", 0.688053874787274, 1e-9},
    {"popquorn/annotations.csv", "cohen", 0.13540213156774392, 1e-9},
    {"popquorn/annotations.csv", "cohen_linear", 0.20159894886116675, 1e-9},
    {"popquorn/annotations.csv", "cohen_quadratic", 0.26061507185227295, 1e-9},
    {"lewidi2023/HS-Brexit/annotations.csv", "alpha_nominal", 0.34746193297733563, 1e-9},
    {"lewidi2023/HS-Brexit/annotations.csv", "fleiss", 0.347364814646165, 1e-9},
    {"lewidi2023/HS-Brexit/annotations.csv", "gwet_ac1", 0.810323149075994, 1e-9},
    {"lewidi2023/HS-Brexit/annotations.csv", "cohen", 0.34664290675171555, 1e-9},
};

static void known_coefficients(void **state)
{
    (void)state;
    dis_votes *votes = NULL;
    dis_agreement *a = NULL;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        need(figures[i].file);
        if (i == 0 || strcmp(figures[i].file, figures[i - 1].file) != 0) {
            dis_agreement_destroy(a);
            dis_votes_destroy(votes);
            votes = read_votes(figures[i].file, DIS_INPUT_VOTES);
            a = measure(votes, NULL);
        }
        const dis_metric *m = dis_agreement_find(a, figures[i].measure);
        assert_non_null(m);
        if (!(fabs(m->value - figures[i].value) <= figures[i].within))
            fail_msg("%s, %s: %.17g, expected %.17g", figures[i].file, figures[i].measure, m->value, figures[i].value);
    }
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
}

/* ---- SOFT-LOSS table 1 ---- */

static int32_t *read_gold(const dis_votes *votes, const char *file)
{
    int32_t *gold = malloc(dis_votes_get_view(votes).n_items * sizeof *gold);
    assert_non_null(gold);
    if (dis_votes_read_gold(NULL, data(file), NULL, votes, gold, NULL) != DIS_OK) fail_msg("%s", dis_last_error());
    return gold;
}

static void expect(const dis_agreement *a, const char *measure, double value, double within)
{
    const dis_metric *m = dis_agreement_find(a, measure);
    assert_non_null(m);
    if (m->reason) fail_msg("%s: %s", measure, m->reason);
    if (!(fabs(m->value - value) <= within)) fail_msg("%s: %.6f, expected %.4f", measure, m->value, value);
}

/* The first `max` votes of every item. */
static dis_votes *first_votes(const dis_votes *votes, size_t max)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    uint32_t *task = malloc(v.n_votes * sizeof *task), *worker = malloc(v.n_votes * sizeof *worker);
    uint16_t *label = malloc(v.n_votes * sizeof *label);
    assert_true(task && worker && label && v.label8);
    size_t n = 0;
    for (size_t i = 0; i < v.n_items; i++)
        for (uint64_t x = v.start[i]; x < v.start[i + 1] && x < v.start[i] + max; x++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = v.worker[x];
            label[n] = v.label8[x];
        }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = n,
                                     .n_items = v.n_items,
                                     .n_workers = v.n_workers,
                                     .n_classes = v.n_classes,
                                     .task = task,
                                     .worker = worker,
                                     .label = label,
                                     .tasks = v.tasks,
                                     .workers = v.workers,
                                     .classes = v.classes};
    dis_votes *out;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &out), DIS_OK);
    free(task);
    free(worker);
    free(label);
    return out;
}

static void crowd_of_pos(void **state)
{
    (void)state;
    need("pos_gimpel/annotations.csv");
    need("pos_gimpel/gold.csv");
    dis_votes *all = read_votes("pos_gimpel/annotations.csv", DIS_INPUT_VOTES), *votes = first_votes(all, 5);
    int32_t *gold = read_gold(votes, "pos_gimpel/gold.csv");
    dis_agreement *a = measure(votes, gold);
    expect(a, "votes_per_item", 5.00, 5e-3);
    expect(a, "percent", .7255, 5e-5);
    expect(a, "worker_accuracy", .684, 5e-4);
    expect(a, "workers_above_75", .288, 5e-4);
    expect(a, "workers_at_75", .3051, 5e-5);
    dis_agreement_destroy(a);
    a = measure(all, gold);
    expect(a, "gold_never_voted", .104, 5e-4);
    dis_agreement_destroy(a);
    free(gold);
    dis_votes_destroy(votes);
    dis_votes_destroy(all);
}

static void crowd_of_labelme(void **state)
{
    (void)state;
    need("labelme/annotations.csv");
    need("labelme/gold.csv");
    dis_votes *votes = read_votes("labelme/annotations.csv", DIS_INPUT_VOTES);
    int32_t *gold = read_gold(votes, "labelme/gold.csv");
    dis_agreement *a = measure(votes, gold);
    expect(a, "votes_per_item", 2.547, 5e-4);
    expect(a, "agreement_with_singles", .7323, 5e-5);
    expect(a, "percent", .7206, 5e-5);
    expect(a, "worker_accuracy", .6916, 5e-5);
    expect(a, "workers_at_75", .4237, 5e-5);
    expect(a, "workers_above_75", .3898, 5e-5);
    expect(a, "gold_never_voted", .111, 5e-4);
    dis_agreement_destroy(a);
    free(gold);
    dis_votes_destroy(votes);
}

/* The gold file says "3" where the columns of counts are called c3. */
static int32_t *cifar_gold(const dis_votes_view *v)
{
    em_table t;
    int32_t *gold = malloc(v->n_items * sizeof *gold);
    assert_non_null(gold);
    assert_true(em_table_read(data("cifar10h/gold.csv"), &t));
    assert_int_equal(t.n_rows, v->n_items);
    for (size_t i = 0; i < t.n_rows; i++) {
        char class[32];
        assert_string_equal(t.cell[2 * i], dis_names_get(v->tasks, i, NULL));
        snprintf(class, sizeof class, "c%s", t.cell[2 * i + 1]);
        gold[i] = (int32_t)dis_names_find(v->classes, class, strlen(class));
    }
    em_table_free(&t);
    return gold;
}

static void crowd_of_cifar(void **state)
{
    (void)state;
    need("cifar10h/counts.csv");
    need("cifar10h/gold.csv");
    dis_votes *votes = read_votes("cifar10h/counts.csv", DIS_INPUT_COUNTS);
    const dis_votes_view view = dis_votes_get_view(votes);
    int32_t *gold = cifar_gold(&view);
    dis_agreement *a = measure(votes, gold);
    expect(a, "votes_per_item", 51.10, 5e-3);
    expect(a, "coder_to_label_ratio", 5.11, 5e-3);
    expect(a, "percent", .9235, 5e-5);
    expect(a, "vote_accuracy", .952, 5e-4);
    expect(a, "gold_never_voted", 0, 5e-4);
    assert_non_null(dis_agreement_find(a, "worker_accuracy")->reason);
    dis_agreement_destroy(a);
    free(gold);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_coefficients),
        cmocka_unit_test(crowd_of_pos),
        cmocka_unit_test(crowd_of_labelme),
        cmocka_unit_test(crowd_of_cifar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
