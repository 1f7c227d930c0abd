/* What a review says of workers and labels comes true as often as it says: intervals of workers on crowds of all four
 * models at 2, 3, 5 and 10 votes per item, random votes, votes that no one else's can be set against, labels under
 * review. One crowd a case here; with DISSENT_SLOW=1 ten, with the bound at 90 % for each (docs/evidence/review.md has
 * those figures). */
#include "support/review_support.h"
#include "support/scratch.h"

enum { ITEMS = 1000, WORKERS = 20 };

typedef struct {
    double held, workers, width, wilson;
} coverage;

static double wilson_width(double right, double n)
{
    const double z = 1.959963984540054, p = right / n;
    return 2 * z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
}

static void add_crowd(const char *model, uint64_t votes_per_item, uint64_t seed, coverage *c)
{
    char path[128], gold_path[128];
    static int32_t gold[ITEMS];
    strcpy(path, in_folder("votes.csv"));
    strcpy(gold_path, in_folder("gold.csv"));
    dis_synth_options o = dis_synth_options_default();
    o.model = model;
    o.n_items = ITEMS;
    o.n_workers = WORKERS;
    o.votes_per_item = votes_per_item;
    o.seed = seed;
    const char *paths[] = {path};
    dis_votes *votes;
    assert_int_equal(dis_synth_write(NULL, &o, path, gold_path), DIS_OK);
    assert_int_equal(dis_votes_read(NULL, paths, 1, NULL, &votes), DIS_OK);
    assert_int_equal(dis_votes_read_gold(NULL, gold_path, NULL, votes, gold, NULL), DIS_OK);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    const dis_votes_view view = dis_votes_get_view(votes);
    double right[WORKERS] = {0};
    for (size_t i = 0; i < view.n_items; i++)
        for (uint64_t a = view.start[i]; a < view.start[i + 1]; a++) right[view.worker[a]] += view.label8[a] == gold[i];
    for (size_t r = 0; r < v.n_workers; r++) {
        const dis_review_worker *w = &v.workers[r];
        const double n = (double)w->votes, truth = right[w->worker] / n;
        assert_int_equal(w->shared, w->votes);
        c->held += w->accuracy_low <= truth + 1e-12 && truth <= w->accuracy_high + 1e-12;
        c->width += w->accuracy_high - w->accuracy_low;
        c->wilson += wilson_width(right[w->worker], n);
        c->workers++;
    }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

static void intervals_hold_the_truth(void **state)
{
    (void)state;
    static const uint64_t votes_per_item[] = {2, 3, 5, 10};
    const bool slow = getenv("DISSENT_SLOW");
    const uint64_t n_seeds = slow ? 10 : 1;
    for (size_t v = 0; v < sizeof votes_per_item / sizeof *votes_per_item; v++) {
        coverage all = {0};
        for (size_t k = 0; dis_synth_model_get(k); k++) {
            coverage c = {0};
            for (uint64_t seed = 1; seed <= n_seeds; seed++)
                add_crowd(dis_synth_model_get(k)->name, votes_per_item[v], seed, &c);
            print_message("%-12s %2d votes per item: %.3f held, %.2f times Wilson's width\n",
                          dis_synth_model_get(k)->name, (int)votes_per_item[v], c.held / c.workers, c.width / c.wilson);
            if (slow) assert_true(c.held >= .9 * c.workers);
            assert_true(c.held >= .75 * c.workers); /* 15 of 20: below that in one of 10^3 crowds at 90 % */
            assert_true(c.width <= 4 * c.wilson);
            all.held += c.held;
            all.workers += c.workers;
        }
        assert_true(all.held >= .9 * all.workers);
    }
}

/* ---- random votes ---- */

static dis_votes *random_votes(size_t n_items, size_t n_classes, size_t each, uint64_t seed)
{
    review_crowd c = review_good_crowd(seed, n_items, WORKERS, n_classes);
    for (size_t w = 0; w < WORKERS; w++) c.accuracy[w] = 1 / (double)n_classes;
    return review_even_votes(&c, each);
}

static void random_votes_are_called_random(void **state)
{
    (void)state;
    static const size_t classes[] = {2, 3, 4, 8};
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
        for (size_t each = 2; each <= 10; each = each == 2 ? 5 : each * 2) {
            dis_votes *votes = random_votes(ITEMS, classes[k], each, 17 * k + each);
            dis_review *review = review_of(NULL, votes, NULL);
            const dis_review_view v = dis_review_get_view(review);
            char reason[DIS_REVIEW_REASON_SIZE];
            assert_false(v.beyond_chance);
            assert_true(isnan(v.expected_accuracy) && isnan(v.items[0].p_correct) && isnan(v.typical_accuracy));
            assert_int_equal(v.n_without_verdict, WORKERS);
            assert_non_null(strstr(dis_review_format_worker_reason(review, votes, 0, reason, sizeof reason), "chance"));
            assert_non_null(strstr(dis_review_format_item_reason(review, votes, 0, reason, sizeof reason), "chance"));
            dis_review_destroy(review);
            dis_votes_destroy(votes);
        }
}

/* ---- votes that no one else's can be set against ---- */

/* Workers 0 and 1 share all their items; worker 2 votes alone; worker 3 once alone and once with others. */
static void nobody_is_judged_alone(void **state)
{
    (void)state;
    enum { SHARED = 60, ALONE = 40 };
    uint32_t task[2 * SHARED + ALONE + 2], worker[2 * SHARED + ALONE + 2];
    uint16_t label[2 * SHARED + ALONE + 2];
    size_t n = 0;
    for (uint32_t i = 0; i < SHARED; i++)
        for (uint32_t w = 0; w < 2; w++, n++) task[n] = i, worker[n] = w, label[n] = (uint16_t)(i % 3);
    for (uint32_t i = 0; i < ALONE; i++, n++) task[n] = SHARED + i, worker[n] = 2, label[n] = 1;
    task[n] = SHARED + ALONE, worker[n] = 3, label[n++] = 0;
    task[n] = 5, worker[n] = 3, label[n++] = 2;
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = SHARED + ALONE + 1,
                                .n_workers = 4,
                                .n_classes = 3,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    assert_true(v.n_without_verdict == 1 && v.beyond_chance);
    for (size_t r = 0; r < v.n_workers; r++) {
        const dis_review_worker *w = &v.workers[r];
        char reason[DIS_REVIEW_REASON_SIZE];
        dis_review_format_worker_reason(review, votes, r, reason, sizeof reason);
        if (w->worker == 2) {
            assert_true(w->verdict == DIS_REVIEW_NO_VERDICT && w->shared == 0 && isnan(w->accuracy) &&
                        isnan(w->accuracy_low));
            assert_non_null(strstr(reason, "no one else voted"));
        } else if (w->worker == 3) {
            assert_true(w->shared == 1 && w->accuracy_high - w->accuracy_low >= .4); /* one vote says little */
            assert_non_null(strstr(reason, "too few votes"));
        } else
            assert_true(w->shared == SHARED && w->accuracy_low > .8);
    }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* Twenty votes for one class of four are no accident, however good the others think that class. */
static void one_class_throughout_is_not_expected(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(4, 40, 12, 4);
    for (size_t w = 0; w < 12; w++) c.accuracy[w] = .6;
    c.habit[3] = 2;
    dis_votes *votes = review_even_votes(&c, 6);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    for (size_t r = 0; r < v.n_workers; r++)
        if (v.workers[r].worker == 3) {
            assert_true(v.workers[r].votes >= 18);
            if (v.workers[r].votes >= 20) assert_int_equal(v.workers[r].verdict, DIS_REVIEW_CONSTANT);
        }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* ---- labels under review ---- */

static void wrong_labels_stand_first(void **state)
{
    (void)state;
    const review_crowd c = review_good_crowd(6, ITEMS, WORKERS, 3);
    dis_votes *votes = review_even_votes(&c, 7);
    static int32_t labels[ITEMS];
    enum { WRONG = 50 };
    for (size_t i = 0; i < ITEMS; i++) labels[i] = (int32_t)((review_truth(&c, i) + (i < WRONG)) % 3);
    dis_review_options o = dis_review_options_default();
    o.labels = labels;
    o.accept = .8;
    dis_review *review = review_of(NULL, votes, &o);
    const dis_review_view v = dis_review_get_view(review);
    size_t found = 0, accepted = 0, right = 0;
    double expected = 0;
    for (size_t r = 0; r < v.n_items; r++) {
        const dis_review_item *x = &v.items[r];
        assert_int_equal(x->label, labels[x->item]);
        assert_true(r == 0 || x->p_correct >= v.items[r - 1].p_correct - 1e-9);
        assert_int_equal(x->accepted, x->p_correct >= .8);
        found += r < WRONG && x->item < WRONG;
        accepted += x->accepted;
        right += x->accepted && x->item >= WRONG;
        expected += x->accepted ? x->p_correct : 0;
    }
    assert_true(found >= WRONG * 8 / 10);
    assert_true(accepted == v.n_accepted && accepted > 0 && accepted < ITEMS);
    em_assert_close(v.expected_accuracy_accepted, expected / (double)accepted, 1e-12);
    assert_true((double)right >= v.expected_accuracy_accepted * (double)accepted);
    o.accept = 1.5;
    dis_review *none = NULL;
    assert_int_equal(dis_review_run(NULL, votes, &o, &none), DIS_EUSAGE);
    o.accept = 0;
    labels[3] = 3;
    assert_int_equal(dis_review_run(NULL, votes, &o, &none), DIS_EDATA);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_hold_the_truth),
                                       cmocka_unit_test(random_votes_are_called_random),
                                       cmocka_unit_test(nobody_is_judged_alone),
                                       cmocka_unit_test(one_class_throughout_is_not_expected),
                                       cmocka_unit_test(wrong_labels_stand_first)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
