/* Judges: coefficients against those of two annotators, repeated votes, requirements, certificates that are read back,
 * later votes with and without a change, samples, damaged certificates, threads and faults. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"
#include <unistd.h>

enum { ITEMS = 300, PEOPLE = 8, CLASSES = 3, PER_ITEM = 3, JUDGE = PEOPLE };

typedef struct {
    size_t items, people, per_item;
    double person, judge; /* accuracy */
    size_t change;        /* item from which on the judge has the accuracy `later` */
    double later, repeated;
    size_t labelled; /* items with votes of people */
} crowd;

static const crowd usual = {.items = ITEMS,
                            .people = PEOPLE,
                            .per_item = PER_ITEM,
                            .person = .8,
                            .judge = .85,
                            .change = SIZE_MAX,
                            .labelled = SIZE_MAX};
static bool person[PEOPLE + 1];

static size_t answer(uint64_t seed, uint64_t use, uint64_t at, size_t truth, double accuracy)
{
    if (dis__random_uniform(seed, use, at) < accuracy) return truth;
    return (truth + 1 + dis__random_below(seed, use + 1, at, CLASSES - 1)) % CLASSES;
}

static dis_votes *make(uint64_t seed, const crowd *c)
{
    const size_t most = c->items * (c->per_item + 2);
    uint32_t *task = malloc(most * sizeof *task), *worker = malloc(most * sizeof *worker);
    uint16_t *label = malloc(most * sizeof *label);
    size_t n = 0;
    assert_true(task && worker && label);
    for (uint32_t i = 0; i < c->items; i++) {
        const double u = dis__random_uniform(seed, 1, i);
        const size_t truth = u < .5 ? 0 : u < .8 ? 1 : 2;
        const double judge = i < c->change ? c->judge : c->later;
        for (uint32_t x = 0; x < c->per_item && i < c->labelled; x++) {
            task[n] = i;
            worker[n] = (uint32_t)((i + x) % c->people);
            label[n++] = (uint16_t)answer(seed, 10 + 2 * x, i, truth, c->person);
        }
        for (uint64_t x = 0; x < (dis__random_uniform(seed, 3, i) < c->repeated ? 2u : 1u); x++) {
            task[n] = i;
            worker[n] = (uint32_t)c->people;
            label[n++] = (uint16_t)answer(seed, 100 + 2 * x, i, truth, judge);
        }
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = c->items,
                                .n_workers = c->people + 1,
                                .n_classes = CLASSES,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    free(task);
    free(worker);
    free(label);
    for (size_t w = 0; w <= PEOPLE; w++) person[w] = w < c->people;
    return votes;
}

static dis_judge *judge_of(const dis_votes *votes)
{
    dis_judge *judge;
    assert_int_equal(dis_judge_run(NULL, votes, person, NULL, &judge), DIS_OK);
    return judge;
}

/* One person and the judge: the coefficients are those of two annotators. */
static void test_two_annotators(void **state)
{
    (void)state;
    crowd c = usual;
    c.people = c.per_item = 1;
    dis_votes *votes = make(1, &c);
    dis_judge *judge = judge_of(votes);
    const dis_judge_view v = dis_judge_get_view(judge);
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *agreement;
    o.parts = DIS_AGREEMENT_ALL;
    assert_int_equal(dis_agreement_run(NULL, votes, &o, &agreement), DIS_OK);
    const dis_agreement_view a = dis_agreement_get_view(agreement);
    assert_int_equal(v.n_shared, ITEMS);
    em_assert_close(v.coefficients[DIS_JUDGE_AGREEMENT].judge.value, a.pairs[0].agreement, 1e-14);
    em_assert_close(v.coefficients[DIS_JUDGE_KAPPA].judge.value, a.pairs[0].cohen, 1e-14);
    em_assert_close(v.coefficients[DIS_JUDGE_ALPHA].judge.value, dis_agreement_find(agreement, "alpha_nominal")->value,
                    1e-14);
    em_assert_close(v.coefficients[DIS_JUDGE_AC1].judge.value, dis_agreement_find(agreement, "gwet_ac1")->value, 1e-14);
    assert_non_null(v.coefficients[DIS_JUDGE_KAPPA].people.reason);
    assert_true(v.few_people);
    dis_agreement_destroy(agreement);
    dis_judge_destroy(judge);
    dis_votes_destroy(votes);
}

/* Two people by hand: pairs of people, weights as if items were there twice. */
static void test_people_and_weights(void **state)
{
    (void)state;
    dis_votes *votes = make(2, &usual);
    const dis_votes_view v = dis_votes_get_view(votes);
    double weight[ITEMS], a = 0, equal = 0, total = 0, share[CLASSES] = {0}, judged[CLASSES] = {0}, chance = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        const uint8_t *label = v.label8 + v.start[i];
        const double pairs = (label[0] == label[1]) + (label[0] == label[2]) + (label[1] == label[2]);
        weight[i] = (double)(i % 3);
        total += weight[i];
        equal += weight[i] * pairs / 3;
        judged[label[3]] += weight[i];
        for (size_t x = 0; x < 3; x++) {
            a += weight[i] * (label[x] == label[3]) / 3;
            share[label[x]] += weight[i] / 3;
        }
    }
    for (size_t k = 0; k < CLASSES; k++) chance += share[k] * judged[k] / (total * total);
    dis_judge_options o = dis_judge_options_default();
    dis_judge *judge;
    o.weight = weight;
    assert_int_equal(dis_judge_run(NULL, votes, person, &o, &judge), DIS_OK);
    const dis_judge_view j = dis_judge_get_view(judge);
    em_assert_close(j.coefficients[DIS_JUDGE_AGREEMENT].judge.value, a / total, 1e-14);
    em_assert_close(j.coefficients[DIS_JUDGE_AGREEMENT].people.value, equal / total, 1e-14);
    em_assert_close(j.coefficients[DIS_JUDGE_AGREEMENT].difference.value, (a - equal) / total, 1e-14);
    em_assert_close(j.coefficients[DIS_JUDGE_KAPPA].judge.value, (a / total - chance) / (1 - chance), 1e-14);
    em_assert_close(j.coefficients[DIS_JUDGE_AGREEMENT].constant, fmax(share[0], fmax(share[1], share[2])) / total,
                    1e-14);
    em_assert_close(j.coefficients[DIS_JUDGE_KAPPA].constant, 0, 1e-14);
    em_assert_close(j.shares[1].mean, judged[1] / total, 1e-14);
    em_assert_close(j.biases[1].mean, (judged[1] - share[1]) / total, 1e-14);
    weight[7] = -1;
    assert_int_equal(dis_judge_run(NULL, votes, person, &o, &judge), DIS_EDATA);
    dis_judge_destroy(judge);
    dis_votes_destroy(votes);
}

static dis_panel_judge alternative_test(const dis_votes *votes, const double *weight)
{
    dis_judge_options o = dis_judge_options_default();
    dis_judge *judge;
    o.weight = weight;
    o.min_items = 10;
    assert_int_equal(dis_judge_run(NULL, votes, person, &o, &judge), DIS_OK);
    const dis_panel_judge test = dis_judge_get_view(judge).test;
    dis_judge_destroy(judge);
    return test;
}

/* The alternative-annotator test: equal weights change nothing, items without a weight count as if they were not there, and
 * items on which the judge is good decide if they have the weight. */
static void test_weights_of_the_alternative_test(void **state)
{
    (void)state;
    const crowd half = {
        .items = 150, .people = 8, .per_item = 3, .person = .8, .judge = .95, .change = SIZE_MAX, .labelled = SIZE_MAX};
    crowd full = half;
    double weight[ITEMS], equal[ITEMS];
    full.items = ITEMS;
    full.change = 150;
    full.later = .4;
    dis_votes *first = make(5, &half), *all = make(5, &full);
    for (size_t i = 0; i < ITEMS; i++) {
        weight[i] = i < 150 ? 2 : 0;
        equal[i] = 7;
    }
    const dis_panel_judge alone = alternative_test(first, NULL), weighted = alternative_test(all, weight);
    assert_int_equal(weighted.n_people_represented, alone.n_people_represented);
    assert_int_equal(weighted.n_people_compared, alone.n_people_compared);
    em_assert_close(weighted.advantage_probability.value, alone.advantage_probability.value, 1e-12);
    em_assert_close(weighted.advantage_probability.ci_low, alone.advantage_probability.ci_low, 1e-9);
    const dis_panel_judge plain = alternative_test(all, NULL), same = alternative_test(all, equal);
    assert_int_equal(same.n_people_represented, plain.n_people_represented);
    em_assert_close(same.advantage_probability.value, plain.advantage_probability.value, 1e-12);
    assert_true(alone.passed);
    assert_false(plain.passed);
    for (size_t i = 0; i < ITEMS; i++) weight[i] = i < 150 ? 100 : 1;
    assert_true(alternative_test(all, weight).passed);
    dis_votes_destroy(first);
    dis_votes_destroy(all);
}

static void test_repeated_votes(void **state)
{
    (void)state;
    crowd c = usual;
    c.repeated = .5;
    dis_votes *votes = make(3, &c);
    const dis_votes_view v = dis_votes_get_view(votes);
    double equal = 0, n = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        if (v.start[i + 1] - v.start[i] < 5) continue;
        n++;
        equal += v.label8[v.start[i] + 3] == v.label8[v.start[i] + 4];
    }
    dis_judge *judge = judge_of(votes);
    const dis_judge_view j = dis_judge_get_view(judge);
    assert_true(n > 100);
    assert_int_equal(j.n_repeated, (uint64_t)n);
    em_assert_close(j.consistency.value, equal / n, 1e-14);
    assert_true(j.consistency.ci_low < equal / n && j.consistency.ci_high > equal / n);
    dis_judge_destroy(judge);
    dis_votes_destroy(votes);
}

/* A judge that chooses class 0 more often on items with a large value, and one that does not. */
static void test_contrasts(void **state)
{
    (void)state;
    double value[ITEMS], other[ITEMS];
    dis_votes *votes = make(4, &usual);
    const dis_votes_view v = dis_votes_get_view(votes);
    for (size_t i = 0; i < ITEMS; i++) {
        const uint8_t judged = v.label8[v.start[i] + 3];
        value[i] = judged == 0 ? 1 : 0; /* depends on the judge alone */
        other[i] = dis__random_uniform(4, 77, i);
    }
    value[5] = NAN;
    const dis_judge_covariate covariates[] = {{"answer", value}, {"noise", other}};
    dis_judge_options o = dis_judge_options_default();
    dis_judge *judge;
    o.covariates = covariates;
    o.n_covariates = 2;
    assert_int_equal(dis_judge_run(NULL, votes, person, &o, &judge), DIS_OK);
    const dis_judge_view j = dis_judge_get_view(judge);
    assert_int_equal(j.n_contrasts, 2 * CLASSES);
    assert_true(j.contrasts[0].difference.value > .1 && j.contrasts[0].p < .001);
    assert_int_equal(j.contrasts[0].n_low + j.contrasts[0].n_high, ITEMS - 1);
    for (size_t k = 0; k < CLASSES; k++) assert_true(j.contrasts[CLASSES + k].p > .05);
    dis_judge_destroy(judge);
    dis_votes_destroy(votes);
}

static void test_requirements(void **state)
{
    (void)state;
    dis_votes *votes = make(5, &usual);
    dis_judge *judge = judge_of(votes);
    const dis_metric kappa = dis_judge_get_view(judge).coefficients[DIS_JUDGE_KAPPA].judge;
    dis_requirement rows[] = {{.kind = DIS_REQUIRE_KAPPA, .bound = kappa.ci_low},
                              {.kind = DIS_REQUIRE_KAPPA, .bound = kappa.ci_high + 1e-9},
                              {.kind = DIS_REQUIRE_KAPPA, .bound = kappa.value - .001},
                              {.kind = DIS_REQUIRE_CONSISTENCY, .bound = .5},
                              {.kind = DIS_REQUIRE_BIAS, .bound = .9},
                              {.kind = DIS_REQUIRE_BIAS, .bound = 0}};
    assert_int_equal(dis_judge_evaluate_requirements(judge, rows, 6), DIS_OK);
    assert_int_equal(rows[0].outcome, DIS_REQUIREMENT_MET);
    assert_int_equal(rows[1].outcome, DIS_REQUIREMENT_NOT_MET);
    assert_int_equal(rows[2].outcome, DIS_REQUIREMENT_OPEN);
    assert_true(rows[2].items_needed > ITEMS);
    assert_int_equal(rows[3].outcome, DIS_REQUIREMENT_UNKNOWN);
    assert_int_equal(rows[4].outcome, DIS_REQUIREMENT_MET);
    assert_true(rows[5].outcome == DIS_REQUIREMENT_OPEN || rows[5].outcome == DIS_REQUIREMENT_NOT_MET);
    assert_string_equal(dis_requirement_kind_name(DIS_REQUIRE_BIAS), "max-bias");
    assert_null(dis_requirement_kind_name(DIS_REQUIREMENT_KINDS));
    dis_judge_destroy(judge);
    dis_votes_destroy(votes);
}

/* People who answer at random: no one is certified, however low the bound. */
static void test_noise(void **state)
{
    (void)state;
    crowd c = usual;
    c.person = 1. / 3;
    dis_votes *votes = make(6, &c);
    dis_judge *judge = judge_of(votes);
    dis_requirement row = {.kind = DIS_REQUIRE_AGREEMENT, .bound = .01};
    assert_non_null(dis_judge_get_view(judge).missing_reason);
    assert_int_equal(dis_judge_evaluate_requirements(judge, &row, 1), DIS_OK);
    assert_int_equal(row.outcome, DIS_REQUIREMENT_NOT_MET);
    dis_judge_destroy(judge);
    dis_votes_destroy(votes);
}

/* ---- certificates ---- */

static char certificate_path[64];

static void write_certificate(const dis_judge *judge, const dis_names *classes, const char *name)
{
    const dis_certificate_source sources[] = {{"votes", "votes.csv", "00ff"}, {"prompt", "a \"b\".txt", "12"}};
    dis_certificate_facts facts = dis_certificate_facts_default();
    facts.judge = name;
    facts.classes = classes;
    facts.sources = sources;
    facts.n_sources = 2;
    snprintf(certificate_path, sizeof certificate_path, "certificate-%d.json", (int)getpid());
    assert_int_equal(dis_certificate_write(judge, &facts, certificate_path), DIS_OK);
}

static dis_certificate *certificate_of(const dis_votes *votes)
{
    dis_judge *judge = judge_of(votes);
    const dis_judge_view j = dis_judge_get_view(judge);
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_certificate *certificate;
    write_certificate(judge, v.classes, dis_names_get(v.workers, j.worker, NULL));
    assert_int_equal(dis_certificate_read(NULL, certificate_path, &certificate), DIS_OK);
    const dis_certificate_view c = dis_certificate_get_view(certificate);
    assert_memory_equal(&c.agreement, &j.agreement, sizeof c.agreement);
    assert_memory_equal(c.shares, j.shares, CLASSES * sizeof *c.shares);
    assert_memory_equal(c.biases, j.biases, CLASSES * sizeof *c.biases);
    assert_true(c.chance_agreement == j.chance_agreement && c.kappa == j.coefficients[DIS_JUDGE_KAPPA].judge.value);
    assert_int_equal(c.n_people, j.n_people);
    assert_int_equal(c.n_sources, 2);
    assert_string_equal(c.sources[1].path, "a \"b\".txt");
    assert_string_equal(c.sources[0].sha256, "00ff");
    dis_judge_destroy(judge);
    return certificate;
}

static void test_drift(void **state)
{
    (void)state;
    crowd later = usual;
    dis_votes *votes = make(7, &usual);
    dis_certificate *certificate = certificate_of(votes);
    dis_drift *drift;
    later.items = 600;
    dis_votes *same = make(8, &later);
    assert_int_equal(dis_drift_run(NULL, certificate, same, person, NULL, &drift), DIS_OK);
    assert_false(dis_drift_get_view(drift).drifted);
    assert_int_equal(dis_drift_get_view(drift).n_rows, 1 + 2 * CLASSES);
    dis_drift_destroy(drift);
    later.change = 200;
    later.later = .4;
    dis_votes *changed = make(9, &later);
    assert_int_equal(dis_drift_run(NULL, certificate, changed, person, NULL, &drift), DIS_OK);
    const dis_drift_view d = dis_drift_get_view(drift);
    assert_true(d.drifted && d.rows[0].drifted && d.rows[0].p < .05);
    assert_in_range(d.rows[0].since, 180, 220);
    assert_true(d.rows[0].now.value < d.rows[0].certified);
    assert_true(d.rows[0].now.ci_low < d.rows[0].now.value && d.rows[0].now.ci_high > d.rows[0].now.value);
    dis_drift_destroy(drift);
    dis_drift_options o = dis_drift_options_default();
    o.name = "no one";
    assert_int_equal(dis_drift_run(NULL, certificate, changed, person, &o, &drift), DIS_EUSAGE);
    o = dis_drift_options_default();
    o.level = 0;
    assert_int_equal(dis_drift_run(NULL, certificate, changed, person, &o, &drift), DIS_EUSAGE);
    dis_votes_destroy(changed);
    dis_votes_destroy(same);
    dis_votes_destroy(votes);
    dis_certificate_destroy(certificate);
    unlink(certificate_path);
}

/* Every prefix of a certificate is an error with a message, and so are other files. */
static void test_damaged(void **state)
{
    (void)state;
    dis_votes *votes = make(10, &usual);
    dis_certificate *certificate = certificate_of(votes), *other = NULL;
    char *text = malloc(1 << 16);
    FILE *f = fopen(certificate_path, "rb");
    assert_true(text && f);
    const size_t n = fread(text, 1, 1 << 16, f);
    fclose(f);
    assert_true(n > 1000 && n < 1 << 16);
    for (size_t cut = 0; cut + 2 < n; cut += 97) {
        f = fopen(certificate_path, "wb");
        assert_int_equal(fwrite(text, 1, cut, f), cut);
        fclose(f);
        assert_int_equal(dis_certificate_read(NULL, certificate_path, &other), DIS_EDATA);
        assert_null(other);
    }
    static const char *const wrong[] = {"{}", "[]", "{\"format\": 1}",
                                        "{\"format\": \"dissent-judge-certificate\", \"schema_version\": 9}"};
    for (size_t x = 0; x < 4; x++) {
        f = fopen(certificate_path, "wb");
        fputs(wrong[x], f);
        fclose(f);
        assert_int_equal(dis_certificate_read(NULL, certificate_path, &other), DIS_EDATA);
    }
    assert_non_null(strstr(dis_last_error(), "schema version 9"));
    free(text);
    dis_certificate_destroy(certificate);
    dis_votes_destroy(votes);
    unlink(certificate_path);
}

/* ---- samples ---- */

static void test_sample(void **state)
{
    (void)state;
    crowd c = usual;
    double score[ITEMS], weights = 0;
    c.labelled = 100;
    dis_votes *votes = make(11, &c);
    for (size_t i = 0; i < ITEMS; i++) score[i] = i % 7 == 0 ? (double)NAN : dis__random_uniform(11, 5, i);
    dis_judge_sample_options o = dis_judge_sample_options_default();
    dis_judge_sample_row *rows, *again;
    size_t n, n_again;
    o.score = score;
    o.n = 60;
    assert_int_equal(dis_judge_sample(NULL, votes, person, &o, &rows, &n), DIS_OK);
    assert_int_equal(dis_judge_sample(NULL, votes, person, &o, &again, &n_again), DIS_OK);
    assert_int_equal(n, 60);
    assert_int_equal(n_again, 60);
    for (size_t r = 0; r < n; r++) {
        assert_int_equal(rows[r].item, again[r].item);
        assert_true(rows[r].item >= 100 && (r == 0 || rows[r].item > rows[r - 1].item));
        em_assert_close(rows[r].weight * rows[r].probability, 1, 1e-14);
        weights += rows[r].weight;
    }
    em_assert_close(weights, 200, 1e-9); /* every open item is represented */
    dis_free(rows);
    dis_free(again);
    o.n = 1000;
    assert_int_equal(dis_judge_sample(NULL, votes, person, &o, &rows, &n), DIS_OK);
    assert_int_equal(n, 200);
    dis_free(rows);
    dis_votes_destroy(votes);
    votes = make(11, &usual);
    assert_int_equal(dis_judge_sample(NULL, votes, person, &o, &rows, &n), DIS_EDATA);
    dis_votes_destroy(votes);
}

/* ---- errors ---- */

static void test_errors(void **state)
{
    (void)state;
    crowd c = usual;
    dis_judge *judge = NULL;
    dis_judge_options o = dis_judge_options_default();
    dis_votes *votes = make(12, &c);
    o.name = "nobody";
    assert_int_equal(dis_judge_run(NULL, votes, person, &o, &judge), DIS_EUSAGE);
    for (size_t w = 0; w <= PEOPLE; w++) person[w] = true;
    assert_int_equal(dis_judge_run(NULL, votes, person, NULL, &judge), DIS_EDATA);
    for (size_t w = 0; w <= PEOPLE; w++) person[w] = w < 4;
    assert_int_equal(dis_judge_run(NULL, votes, person, NULL, &judge), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "5 judges"));
    dis_votes_destroy(votes);
    c.labelled = 5;
    votes = make(12, &c);
    assert_int_equal(dis_judge_run(NULL, votes, person, NULL, &judge), DIS_EDATA);
    assert_null(judge);
    dis_votes_destroy(votes);
}

static dis_status all_of_it(void *arg)
{
    static const double value[40] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                     1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    const dis_judge_covariate covariate = {"length", value};
    const dis_votes_view v = dis_votes_get_view(arg);
    dis_judge_options o = dis_judge_options_default();
    dis_judge *judge = NULL;
    dis_certificate *certificate = NULL;
    dis_drift *drift = NULL;
    o.covariates = &covariate;
    o.n_covariates = 1;
    dis_status status = dis_judge_run(NULL, arg, person, &o, &judge);
    if (status == DIS_OK) {
        dis_certificate_facts facts = dis_certificate_facts_default();
        facts.judge = dis_names_get(v.workers, PEOPLE, NULL);
        facts.classes = v.classes;
        status = dis_certificate_write(judge, &facts, certificate_path);
        if (status == DIS_OK) status = dis_certificate_write_page(judge, &facts, "/dev/null");
    }
    if (status == DIS_OK) status = dis_certificate_read(NULL, certificate_path, &certificate);
    if (status == DIS_OK) status = dis_drift_run(NULL, certificate, arg, person, NULL, &drift);
    dis_drift_destroy(drift);
    dis_certificate_destroy(certificate);
    dis_judge_destroy(judge);
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    crowd c = usual;
    c.items = 40;
    dis_votes *votes = make(13, &c);
    snprintf(certificate_path, sizeof certificate_path, "certificate-%d.json", (int)getpid());
    walk_faults(all_of_it, NULL, votes);
    dis_votes_destroy(votes);
    unlink(certificate_path);
}

static dis_status one_sample(void *arg)
{
    dis_judge_sample_row *rows = NULL;
    size_t n;
    const dis_status status = dis_judge_sample(NULL, arg, person, NULL, &rows, &n);
    dis_free(rows);
    return status;
}

static void test_sample_faults(void **state)
{
    (void)state;
    crowd c = usual;
    c.items = 40;
    c.labelled = 20;
    dis_votes *votes = make(14, &c);
    walk_faults(one_sample, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_annotators),
        cmocka_unit_test(test_people_and_weights),
        cmocka_unit_test(test_weights_of_the_alternative_test),
        cmocka_unit_test(test_repeated_votes),
        cmocka_unit_test(test_contrasts),
        cmocka_unit_test(test_requirements),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_sample_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
