/* Panels of people and judges: the alternative-annotator test by hand, tests against chance, judges that err together
 * or copy, class shares with known truth, labels, buying, swapped pairs, threads and faults. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"
#include "stats/distributions.h"

enum { ITEMS = 400, PEOPLE = 5, MODELS = 4, VOTERS = PEOPLE + MODELS, CLASSES = 3 };

static uint32_t task_of[ITEMS * VOTERS], worker_of[ITEMS * VOTERS];
static uint16_t label_of[ITEMS * VOTERS];
static bool person[VOTERS];
static size_t truth_of[ITEMS];

/* People see the truth with .8; models with .7, the last one saying what the one before it says nearly always. People
 * answer the first `n_with_people` items. */
static dis_votes *panel_votes(uint64_t seed, size_t n_with_people)
{
    size_t n = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const double u = dis__random_uniform(seed, 1, i);
        size_t copied = 0;
        truth_of[i] = u < .5 ? 0 : u < .8 ? 1 : 2;
        for (uint32_t w = 0; w < VOTERS; w++) {
            const uint64_t at = (uint64_t)i * VOTERS + w;
            person[w] = w < PEOPLE;
            if (person[w] && i >= n_with_people) continue;
            const bool right = dis__random_uniform(seed, 2, at) < (person[w] ? .8 : .7);
            size_t answer =
                right ? truth_of[i] : (truth_of[i] + 1 + dis__random_below(seed, 3, at, CLASSES - 1)) % CLASSES;
            if (w == VOTERS - 1 && dis__random_uniform(seed, 4, i) < .95) answer = copied;
            if (w == VOTERS - 2) copied = answer;
            task_of[n] = i;
            worker_of[n] = w;
            label_of[n++] = (uint16_t)answer;
        }
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = ITEMS,
                                .n_workers = VOTERS,
                                .n_classes = CLASSES,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static int vote_of(const dis_votes_view *v, size_t i, size_t worker)
{
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++)
        if (v->worker[t] == worker) return v->label8[t];
    return -1;
}

/* Winning rate and share of items `as good` by the paper's rules, people one by one. */
static void reference(const dis_votes_view *v, size_t model, double epsilon, bool numbers, double *rate, double *rho)
{
    double p[PEOPLE], sum = 0;
    for (size_t h = 0; h < PEOPLE; h++) {
        double n = 0, total = 0, squares = 0, stands = 0;
        for (size_t i = 0; i < ITEMS; i++) {
            const int mine = vote_of(v, i, h), theirs = vote_of(v, i, model);
            if (mine < 0 || theirs < 0) continue;
            double a = 0, b = 0, others = 0;
            for (size_t g = 0; g < PEOPLE; g++) {
                const int answer = g == h ? -1 : vote_of(v, i, g);
                if (answer < 0) continue;
                others++;
                a += numbers ? (mine - answer) * (mine - answer) : mine == answer;
                b += numbers ? (theirs - answer) * (theirs - answer) : theirs == answer;
            }
            if (others == 0) continue;
            a = numbers ? -sqrt(a / others) : a / others;
            b = numbers ? -sqrt(b / others) : b / others;
            const double d = (a >= b) - (double)(b >= a);
            n++;
            total += d;
            squares += d * d;
            stands += b >= a;
        }
        const double mean = total / n, sd = sqrt((squares - total * mean) / (n - 1));
        p[h] = dis__student_tail(-(mean - epsilon) / (sd / sqrt(n)), n - 1);
        sum += stands / n;
    }
    assert_int_equal(dis__false_discovery(p, PEOPLE, true, p), DIS_OK);
    *rate = 0;
    for (size_t h = 0; h < PEOPLE; h++) *rate += p[h] <= .05;
    *rate /= PEOPLE;
    *rho = sum / PEOPLE;
}

static void test_alternative(void **state)
{
    (void)state;
    for (int numbers = 0; numbers < 2; numbers++) {
        dis_votes *votes = panel_votes(1, 150);
        const dis_votes_view v = dis_votes_get_view(votes);
        dis_panel_options o = dis_panel_options_default();
        dis_panel *panel;
        o.numeric_classes = numbers;
        o.epsilon = .2;
        assert_int_equal(dis_panel_run(NULL, votes, person, &o, &panel), DIS_OK);
        const dis_panel_view l = dis_panel_get_view(panel);
        assert_int_equal(l.n_judges, MODELS);
        for (size_t j = 0; j < MODELS; j++) {
            double rate, rho;
            reference(&v, PEOPLE + j, .2, numbers, &rate, &rho);
            em_assert_close(l.judges[j].winning_rate, rate, 1e-12);
            em_assert_close(l.judges[j].advantage_probability.value, rho, 1e-12);
            assert_int_equal(l.judges[j].n_people_compared, PEOPLE);
            assert_true(l.judges[j].advantage_probability.ci_low < rho &&
                        rho < l.judges[j].advantage_probability.ci_high);
            assert_int_equal(l.judges[j].shared, 150);
            assert_int_equal(l.judges[j].votes, ITEMS);
        }
        dis_panel_destroy(panel);
        dis_votes_destroy(votes);
    }
}

/* Two of four judges are nearly one: worth about 2.7 independent ones, and one error group. Errors are those against
 * the truth, although people err, too. */
static void test_together(void **state)
{
    (void)state;
    dis_votes *votes = panel_votes(2, ITEMS);
    const dis_votes_view view = dis_votes_get_view(votes);
    dis_panel *panel;
    assert_int_equal(dis_panel_run(NULL, votes, person, NULL, &panel), DIS_OK);
    const dis_panel_view l = dis_panel_get_view(panel);
    assert_null(l.missing_reason);
    assert_false(l.few_people);
    assert_int_equal(l.n_above, MODELS);
    assert_int_equal(l.n_error_groups, MODELS - 1);
    assert_int_equal(l.judges[MODELS - 2].error_group, l.judges[MODELS - 1].error_group);
    assert_true(l.pairs[l.n_pairs - 1].correlation > .8);
    assert_true(l.effective.value > 2.4 && l.effective.value < 3.1);
    assert_true(l.effective.ci_low < l.effective.value && l.effective.value < l.effective.ci_high);
    for (size_t j = 0; j < MODELS; j++) {
        double errors = 0;
        for (size_t i = 0; i < ITEMS; i++) errors += vote_of(&view, i, PEOPLE + j) != (int)truth_of[i];
        em_assert_close(l.judges[j].error.value, errors / ITEMS, .05);
        assert_true(l.judges[j].error.ci_low < errors / ITEMS && errors / ITEMS < l.judges[j].error.ci_high);
    }
    assert_true(l.copies_tested);
    assert_int_equal(l.n_copies, 0); /* copying a judge is no copy of a person */
    dis_panel_destroy(panel);
    dis_votes_destroy(votes);
}

/* ---- votes whose labels a function gives; -1: no vote ---- */

typedef int labeller(uint64_t seed, uint32_t i, uint32_t w);

static dis_panel_view run_labels(labeller *label, uint64_t seed, uint32_t n_items, dis_panel **panel, dis_votes **votes)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_items; i++)
        for (uint32_t w = 0; w < VOTERS; w++) {
            const int answer = label(seed, i, w);
            person[w] = w < PEOPLE;
            if (answer < 0) continue;
            task_of[n] = i;
            worker_of[n] = w;
            label_of[n++] = (uint16_t)answer;
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n_items,
                                .n_workers = VOTERS,
                                .n_classes = 2,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, votes), DIS_OK);
    assert_int_equal(dis_panel_run(NULL, *votes, person, NULL, panel), DIS_OK);
    return dis_panel_get_view(*panel);
}

static int at_random(uint64_t seed, uint32_t i, uint32_t w)
{
    return dis__random_uniform(seed, 9, (uint64_t)i * VOTERS + w) < (w < PEOPLE ? .1 : .5);
}

/* People vote at random with a rare class: nothing is reported about judges. */
static void test_noise(void **state)
{
    (void)state;
    int noise = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        dis_panel *panel;
        dis_votes *votes;
        const dis_panel_view l = run_labels(at_random, seed, 100, &panel, &votes);
        noise += l.missing_reason != NULL;
        if (l.missing_reason) {
            assert_non_null(strstr(l.missing_reason, "no more than chance"));
            assert_true(l.p_people > .05);
            assert_int_equal(l.n_copies, 0);
            assert_int_equal(l.budget_spent, 0);
            assert_non_null(l.effective.reason);
            assert_true(isnan(l.judge_strength));
            for (size_t j = 0; j < l.n_judges; j++) {
                assert_false(l.judges[j].passed);
                assert_non_null(l.judges[j].agreement.reason);
                assert_non_null(l.judges[j].error.reason);
                assert_non_null(l.judges[j].advantage_probability.reason);
            }
            for (size_t r = 0; r < l.n_rates; r++) {
                assert_non_null(l.rates[r].bias.reason);
                assert_non_null(l.rates[r].rogan_gladen.reason);
                assert_non_null(l.rates[r].prediction_powered.reason);
                assert_null(l.rates[r].people.reason); /* about people alone */
            }
            assert_true(l.p[0] == l.p[2 * (l.n_items - 1)]); /* items are not distinguished */
        }
        for (size_t j = 0; j < l.n_judges; j++) assert_false(l.judges[j].passed);
        dis_panel_destroy(panel);
        dis_votes_destroy(votes);
    }
    assert_in_range(noise, 17, 20);
}

static int mixed_judges(uint64_t seed, uint32_t i, uint32_t w)
{
    const int truth = dis__random_uniform(seed, 1, i) < .5;
    const bool right = dis__random_uniform(seed, 2, (uint64_t)i * VOTERS + w) < .8;
    if (w == PEOPLE) return 1;                                        /* constant */
    if (w == PEOPLE + 1) return dis__random_uniform(seed, 3, i) < .5; /* random */
    if (w == PEOPLE + 2) return mixed_judges(seed, i, 0);             /* copies person 0 */
    return right ? truth : 1 - truth;
}

static void test_chance_and_copies(void **state)
{
    (void)state;
    dis_panel *panel;
    dis_votes *votes;
    const dis_panel_view l = run_labels(mixed_judges, 7, 300, &panel, &votes);
    const dis_votes_view view = dis_votes_get_view(votes);
    assert_null(l.missing_reason);
    assert_int_equal(l.n_above, 2);
    assert_true(isnan(l.judges[0].p_chance));
    for (size_t j = 0; j < 2; j++) {
        assert_false(l.judges[j].above_chance);
        assert_false(l.judges[j].passed);
        assert_non_null(l.judges[j].error.reason);
        assert_int_equal(l.judges[j].n_people_compared, 0);
        for (size_t k = 0; k < 2; k++) {
            assert_non_null(l.rates[2 * j + k].rogan_gladen.reason);
            assert_non_null(l.rates[2 * j + k].bias.reason);
        }
    }
    double ones = 0, own = 0, expected = 0; /* agreement by chance is the product of shares */
    for (size_t i = 0; i < l.n_items; i++) {
        own += vote_of(&view, i, PEOPLE + 1) == 1;
        for (size_t h = 0; h < PEOPLE; h++) ones += vote_of(&view, i, h) == 1;
    }
    own /= (double)l.n_items;
    ones /= (double)(l.n_items * PEOPLE);
    expected = own * ones + (1 - own) * (1 - ones);
    em_assert_close(l.judges[1].chance, expected, 1e-12);
    assert_true(l.copies_tested);
    assert_int_equal(l.n_copies, 1);
    assert_int_equal(l.copies[0].judge, 2);
    assert_int_equal(l.copies[0].worker, 0);
    assert_true(l.copies[0].observed == 1 && l.copies[0].expected < .8 && l.copies[0].copied_share == 1);
    dis_panel_destroy(panel);
    dis_votes_destroy(votes);
}

/* Judges 0 and 1 always differ, judges 2 and 3 did not vote: ties are split, whatever the order of the classes. People
 * answered the items with class 1 first, which the judges' answers show. */
static int opposed(uint64_t seed, uint32_t i, uint32_t w)
{
    const int truth = i >= 50, answer = dis__random_uniform(seed, 2, (uint64_t)i * VOTERS + w) < .9 ? truth : 1 - truth;
    if (w < PEOPLE) return i < 40 || (i >= 50 && i < 60) ? answer : -1;
    if (w == PEOPLE) return truth;
    return w == PEOPLE + 1 ? (i % 2 ? truth : 1 - truth) : -1;
}

static void test_ties_and_labelled(void **state)
{
    (void)state;
    dis_panel *panel;
    dis_votes *votes;
    const dis_panel_view l = run_labels(opposed, 8, 200, &panel, &votes);
    const dis_panel_rate *all = &l.rates[MODELS * 2];
    em_assert_close(all[0].raw, (25 + .5 * 100) / 200., 1e-12); /* half of the 50 agree; 100 ties of .5 */
    em_assert_close(all[0].raw + all[1].raw, 1, 1e-12);
    assert_true(l.labelled_items_differ);
    dis_panel_destroy(panel);
    dis_votes_destroy(votes);
}

static int all_agree(uint64_t seed, uint32_t i, uint32_t w)
{
    (void)seed;
    return w == 0 || w >= PEOPLE ? (int)(i % 2) : -1;
}

/* One person, everybody agrees, few items: no interval of width 0, nothing that cannot be known. */
static void test_small(void **state)
{
    (void)state;
    dis_panel *panel;
    dis_votes *votes;
    dis_panel_view l = run_labels(all_agree, 0, 40, &panel, &votes);
    assert_null(l.missing_reason);
    assert_true(isnan(l.p_people));
    for (size_t j = 0; j < l.n_judges; j++) {
        assert_true(l.judges[j].agreement.value == 1 && l.judges[j].agreement.ci_low < .95);
        assert_non_null(l.judges[j].error.reason); /* people's errors are not known */
        assert_int_equal(l.judges[j].n_people_compared, 0);
    }
    assert_non_null(l.effective.reason);
    for (size_t r = 0; r < l.n_rates; r++) {
        const dis_metric *m[] = {&l.rates[r].bias, &l.rates[r].people, &l.rates[r].prediction_powered,
                                 &l.rates[r].rogan_gladen};
        for (size_t x = 0; x < 4; x++) assert_true(m[x]->reason || m[x]->ci_low < m[x]->ci_high);
    }
    dis_panel_destroy(panel);
    dis_votes_destroy(votes);
    l = run_labels(all_agree, 0, 2, &panel, &votes);
    assert_non_null(l.missing_reason);
    for (size_t r = 0; r < l.n_rates; r++) assert_non_null(l.rates[r].people.reason);
    dis_panel_destroy(panel);
    dis_votes_destroy(votes);
}

/* The rate of class 0 among people's answers is .5 * .8 + .5 * .1 = .45: intervals hold it about 95 times of 100, and
 * those with models are narrower than those without. */
static void test_rates(void **state)
{
    (void)state;
    enum { TIMES = 200 };
    int powered = 0, corrected = 0, alone = 0;
    double width[2] = {0};
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        dis_votes *votes = panel_votes(100 + seed, 100);
        dis_panel_options o = dis_panel_options_default();
        dis_panel *panel;
        assert_int_equal(dis_panel_run(NULL, votes, person, &o, &panel), DIS_OK);
        const dis_panel_view l = dis_panel_get_view(panel);
        const dis_panel_rate *r = &l.rates[MODELS * CLASSES];
        assert_int_equal(r->judge, MODELS);
        assert_int_equal(r->n_people, 100);
        assert_int_equal(r->n_judge_only, ITEMS - 100);
        powered += r->prediction_powered.ci_low < .45 && .45 < r->prediction_powered.ci_high;
        corrected += r->rogan_gladen.ci_low < .45 && .45 < r->rogan_gladen.ci_high;
        alone += r->people.ci_low < .45 && .45 < r->people.ci_high;
        width[0] += r->prediction_powered.ci_high - r->prediction_powered.ci_low;
        width[1] += r->people.ci_high - r->people.ci_low;
        assert_true(r->n_needed <= r->n_needed_without_judge);
        dis_panel_destroy(panel);
        dis_votes_destroy(votes);
    }
    assert_in_range(powered, TIMES * 9 / 10, TIMES);
    assert_in_range(corrected, TIMES * 9 / 10, TIMES);
    assert_in_range(alone, TIMES * 9 / 10, TIMES);
    assert_true(width[0] < .9 * width[1]);
}

static void test_labels(void **state)
{
    (void)state;
    dis_votes *votes = panel_votes(3, 200);
    dis_panel_options o = dis_panel_options_default();
    dis_panel *panel;
    o.budget = 500;
    assert_int_equal(dis_panel_run(NULL, votes, person, &o, &panel), DIS_OK);
    const dis_panel_view l = dis_panel_get_view(panel);
    assert_true(l.loss_calibrated.value < l.loss_shares.value && l.loss_shares.value < l.loss_rates.value);
    assert_true(l.exponent < .95); /* two of the judges are one */
    size_t right = 0;
    double loss = 0; /* of the truth, on items that no one was asked about */
    for (size_t i = 0; i < ITEMS; i++) {
        const double *p = l.p + i * CLASSES;
        double sum = 0;
        size_t top = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            sum += p[k];
            if (p[k] > p[top]) top = k;
        }
        em_assert_close(sum, 1, 1e-12);
        if (i < 200) continue;
        right += top == truth_of[i];
        loss -= log(p[truth_of[i]]) / 200;
    }
    assert_true(right > 155);
    assert_true(loss < .75);
    uint64_t bought = 0;
    for (size_t i = 0; i < l.n_items; i++) {
        bought += l.items[i].votes_to_buy;
        if (i) assert_true(l.items[i].votes_to_buy <= l.items[i - 1].votes_to_buy);
    }
    assert_int_equal(bought, 500);
    assert_int_equal(l.budget_spent, 500);
    assert_int_equal(l.items[0].people, 0); /* where no one was asked */
    dis_panel_destroy(panel);
    dis_votes_destroy(votes);
}

static void test_threads(void **state)
{
    (void)state;
    dis_votes *votes = panel_votes(4, 200);
    dis_panel *panel[2];
    for (int t = 0; t < 2; t++) {
        dis_context_options how = dis_context_options_default();
        dis_panel_options o = dis_panel_options_default();
        dis_context *ctx;
        how.threads = t ? 3 : 1;
        assert_int_equal(dis_context_create(&how, &ctx), DIS_OK);
        assert_int_equal(dis_panel_run(ctx, votes, person, &o, &panel[t]), DIS_OK);
        dis_context_destroy(ctx);
    }
    const dis_panel_view a = dis_panel_get_view(panel[0]), b = dis_panel_get_view(panel[1]);
    assert_memory_equal(a.p, b.p, ITEMS * CLASSES * sizeof *a.p);
    assert_true(a.effective.ci_low == b.effective.ci_low &&
                a.judges[1].advantage_probability.ci_high == b.judges[1].advantage_probability.ci_high);
    dis_panel_destroy(panel[0]);
    dis_panel_destroy(panel[1]);
    dis_votes_destroy(votes);
}

static void test_refused(void **state)
{
    (void)state;
    dis_votes *votes = panel_votes(5, 50);
    dis_panel *panel = NULL;
    bool all[VOTERS], none[VOTERS] = {false};
    for (size_t w = 0; w < VOTERS; w++) all[w] = true;
    assert_int_equal(dis_panel_run(NULL, votes, all, NULL, &panel), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "no worker is a judge"));
    assert_int_equal(dis_panel_run(NULL, votes, none, NULL, &panel), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "no worker is a person"));
    dis_panel_options o = dis_panel_options_default();
    o.epsilon = 2;
    assert_int_equal(dis_panel_run(NULL, votes, person, &o, &panel), DIS_EUSAGE);
    dis_votes_destroy(votes);
    votes = panel_votes(5, 0);
    assert_int_equal(dis_panel_run(NULL, votes, person, NULL, &panel), DIS_EDATA);
    assert_null(panel);
    dis_votes_destroy(votes);
}

/* ---- swapped pairs ---- */

static dis_votes *pairs(const uint16_t *label, size_t n)
{
    static const uint32_t task[6] = {0, 1, 2, 3, 4, 5}, worker[6] = {0};
    static const char *const names[] = {"first", "second", "tie"};
    dis_names *classes;
    dis_votes *votes;
    assert_int_equal(dis_names_create(names, 3, &classes), DIS_OK);
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n,
                                .n_workers = 1,
                                .n_classes = 3,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .classes = classes};
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    dis_names_destroy(classes);
    return votes;
}

static void test_swaps(void **state)
{
    (void)state;
    static const uint16_t one[6] = {0, 0, 1, 0, 2, 1}, other[6] = {1, 0, 0, 0, 2, 2};
    static const size_t mirror[3] = {1, 0, 2};
    dis_votes *a = pairs(one, 6), *b = pairs(other, 6);
    dis_position_bias *rows;
    size_t n;
    assert_int_equal(dis_position_bias_run(a, b, mirror, 0, &rows, &n), DIS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].n, 6);
    em_assert_close(rows[0].consistency.value, .5, 1e-15); /* the first, the third and the fifth pair */
    assert_int_equal(rows[0].flips_to_first, 2);
    assert_int_equal(rows[0].flips_to_second, 0);
    em_assert_close(rows[0].p, .5, 1e-15);
    em_assert_close(rows[0].consistency.ci_low, .18761, 1e-4); /* Wilson's interval of 3 of 6 */
    dis_free(rows);
    assert_int_equal(dis_position_bias_run(a, b, NULL, SIZE_MAX, &rows, &n), DIS_OK);
    em_assert_close(rows[0].consistency.value, .5, 1e-15); /* labels name answers: the second, fourth and fifth */
    dis_free(rows);
    dis_votes_destroy(a);
    dis_votes_destroy(b);
}

static dis_status one_panel(void *arg)
{
    dis_panel *panel = NULL;
    dis_panel_options o = dis_panel_options_default();
    o.min_items = 2;
    o.numeric_classes = true;
    const dis_status status = dis_panel_run(NULL, arg, person, &o, &panel);
    dis_panel_destroy(panel);
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    dis_votes *votes = panel_votes(6, 20);
    walk_faults(one_panel, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alternative),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_chance_and_copies),
        cmocka_unit_test(test_ties_and_labelled),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_swaps),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
