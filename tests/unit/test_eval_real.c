/* The floor of cross-entropy on real crowds, which depends on what is made of the votes. Skipped where the data are
 * not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "dissent/dissent.h"

static const struct {
    const char *file;
    dis_input input;
    double softmax, standard;
} crowds[] = {
    {"labelme/annotations.csv", DIS_INPUT_VOTES, 1.507, .233},
    {"pos_gimpel/annotations.csv", DIS_INPUT_VOTES, .855, .358},
    {"cifar10h/counts.csv", DIS_INPUT_COUNTS, .002, .154},
};

static double floor_of(const dis_votes *votes, const char *method)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_fit *fit;
    assert_int_equal(dis_fit_run(NULL, votes, method, NULL, &fit), DIS_OK);
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = v.n_items,
                                     .n_classes = v.n_classes,
                                     .q = dis_fit_p(fit),
                                     .human = dis_fit_p(fit)};
    dis_evaluation *e;
    assert_int_equal(dis_evaluation_run(NULL, &in, NULL, &e), DIS_OK);
    const dis_evaluation_view x = dis_evaluation_get_view(e);
    const double entropy = x.metric[DIS_EVALUATION_HUMAN_ENTROPY].value;
    /* a model that says what people say is at the floor */
    assert_true(fabs(x.metric[DIS_EVALUATION_CROSS_ENTROPY].value - entropy) < 1e-9);
    assert_true(x.metric[DIS_EVALUATION_KL].value < 1e-9);
    dis_evaluation_destroy(e);
    dis_fit_destroy(fit);
    return entropy;
}

static void floors_of_real_crowds(void **state)
{
    (void)state;
    const char *root = getenv("DISSENT_DATA");
    size_t done = 0;
    for (size_t c = 0; c < sizeof crowds / sizeof *crowds; c++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", root ? root : DIS_SOURCE_DIR "/../shared/data", crowds[c].file);
        if (access(path, R_OK) != 0) {
            printf("skipped: no %s\n", path);
            continue;
        }
        const char *one = path;
        dis_votes_options o = dis_votes_options_default();
        o.input = crowds[c].input;
        dis_votes *votes;
        assert_int_equal(dis_votes_read(NULL, &one, 1, &o, &votes), DIS_OK);
        assert_true(fabs(floor_of(votes, "softmax") - crowds[c].softmax) < 5e-4);
        assert_true(fabs(floor_of(votes, "standard") - crowds[c].standard) < 5e-4);
        dis_votes_destroy(votes);
        done++;
    }
    if (done == 0) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floors_of_real_crowds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
