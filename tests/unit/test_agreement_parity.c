/* Agreement against other programs on the small crowds of tests/parity/fixtures/agreement_*.votes.csv, within 1e-9:
 * krippendorff, irrCAC and scikit-learn (tests/parity/make_agreement_fixtures.py says where each number comes from). */
#include "support/em_support.h"

enum { MAX_SETS = 16 };

typedef struct {
    char name[32];
    dis_votes *votes;
    dis_votes_view view;
    dis_agreement *a, *singles;
} set;

static set sets[MAX_SETS];
static size_t n_sets;
static em_table expected;

static dis_agreement *agreement(const dis_votes *votes, bool singles)
{
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *a;
    o.resamples = 0;
    o.include_single_votes = singles;
    if (dis_agreement_run(NULL, votes, &o, &a) != DIS_OK) fail_msg("%s", dis_last_error());
    return a;
}

static const set *set_of(const char *name)
{
    for (size_t i = 0; i < n_sets; i++)
        if (strcmp(sets[i].name, name) == 0) return &sets[i];
    assert_true(n_sets < MAX_SETS);
    set *s = &sets[n_sets++];
    char path[4096];
    const char *p = path;
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(path, sizeof path, "%s/tests/parity/fixtures/agreement_%s.votes.csv", DIS_SOURCE_DIR, name);
    if (dis_votes_read(NULL, &p, 1, NULL, &s->votes) != DIS_OK) fail_msg("%s", dis_last_error());
    s->view = dis_votes_get_view(s->votes);
    s->a = agreement(s->votes, false);
    s->singles = agreement(s->votes, true);
    return s;
}

static size_t worker(const set *s, const char *number)
{
    char name[16];
    snprintf(name, sizeof name, "w%s", number);
    const size_t w = dis_names_find(s->view.workers, name, strlen(name));
    assert_true(w != SIZE_MAX);
    return w;
}

/* What we have for "cohen:3:5". */
static double of_pair(const set *s, const char *measure, const char *a, const char *b)
{
    const dis_agreement_view v = dis_agreement_get_view(s->a);
    const size_t x = worker(s, a), y = worker(s, b);
    for (size_t p = 0; p < v.n_pairs; p++) {
        const dis_agreement_pair *q = &v.pairs[p];
        if (!((q->a == x && q->b == y) || (q->a == y && q->b == x))) continue;
        if (strcmp(measure, "n") == 0) return (double)q->n;
        if (strcmp(measure, "agreement") == 0) return q->agreement;
        if (strcmp(measure, "cohen") == 0) return q->cohen;
        if (strcmp(measure, "cohen_linear") == 0) return q->cohen_linear;
        if (strcmp(measure, "cohen_quadratic") == 0) return q->cohen_quadratic;
    }
    fail_msg("no pair %s %s of %s", a, b, measure);
    return 0;
}

static double ours(const set *s, char *measure)
{
    const dis_agreement_view v = dis_agreement_get_view(s->a);
    char *first = strchr(measure, ':');
    if (!first) return dis_agreement_find(s->a, measure)->value;
    *first++ = 0;
    char *second = strchr(first, ':');
    if (strcmp(first, "singles") == 0) return dis_agreement_find(s->singles, measure)->value;
    if (strcmp(measure, "alpha_without") == 0) return v.workers[worker(s, first)].alpha_without_worker;
    if (strcmp(measure, "with_others") == 0) return v.workers[worker(s, first)].agreement;
    if (strcmp(measure, "class_alpha") == 0) return v.classes[atoi(first)].alpha.value;
    if (strcmp(measure, "class_fleiss") == 0) return v.classes[atoi(first)].fleiss.value;
    assert_non_null(second);
    *second++ = 0;
    return of_pair(s, measure, first, second);
}

static void same_numbers(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/parity/fixtures/agreement.expected.csv", DIS_SOURCE_DIR);
    assert_true(em_table_read(path, &expected));
    double worst = 0;
    for (size_t r = 0; r < expected.n_rows; r++) {
        const set *s = set_of(expected.cell[3 * r]);
        char measure[64];
        snprintf(measure, sizeof measure, "%s", expected.cell[3 * r + 1]);
        const double theirs = strtod(expected.cell[3 * r + 2], NULL), mine = ours(s, measure);
        if (!(fabs(mine - theirs) <= 1e-9))
            fail_msg("%s %s: ours %.17g, expected %.17g", s->name, expected.cell[3 * r + 1], mine, theirs);
        worst = fmax(worst, fabs(mine - theirs));
    }
    assert_true(expected.n_rows > 1000);
    print_message("%zu numbers, largest difference %.1e\n", expected.n_rows, worst);
    for (size_t i = 0; i < n_sets; i++) {
        dis_agreement_destroy(sets[i].a);
        dis_agreement_destroy(sets[i].singles);
        dis_votes_destroy(sets[i].votes);
    }
    em_table_free(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
