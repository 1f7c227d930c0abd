/* Reviews: the look ahead against a count of all outcomes, the budget against all spreads, planted workers and items,
 * what following the ranking is worth, order of rows, edges, faults. */
#include "tool/arrays.h"
#include "support/review_support.h"
#include "support/fault_walk.h"
#include "review/review_parts.h"

enum { LEVELS = DIS_CROWD_LEVELS };

static dis__crowd_model model_of(const dis_votes *votes)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_fit *fit;
    dis__crowd_model m;
    assert_int_equal(dis_fit_run(NULL, votes, "standard", NULL, &fit), DIS_OK);
    double *p = dis_fit_move_p(fit);
    dis_fit_destroy(fit);
    assert_int_equal(dis__crowd_model_create(NULL, &v, NULL, NULL, p, &m), DIS_OK);
    assert_int_equal(dis__crowd_model_fit(&m), DIS_OK);
    return m;
}

/* Adds up all sequences of n votes, one by one. mass: (LEVELS, K) P(t, e, votes so far). */
static void enumerate(const dis__crowd_model *m, const double *mass, size_t n, dis__review_prediction *out)
{
    const size_t K = m->n_classes;
    if (n == 0) {
        double total = 0, max = 0, p[8] = {0};
        for (size_t e = 0; e < LEVELS; e++)
            for (size_t t = 0; t < K; t++) p[t] += mass[e * K + t];
        for (size_t t = 0; t < K; t++) {
            total += p[t];
            if (p[t] > max) max = p[t];
        }
        for (size_t t = 0; t < K; t++)
            if (p[t] > 0) out->entropy -= p[t] * log(p[t] / total);
        out->right += max;
        return;
    }
    for (size_t v = 0; v < K; v++) {
        double next[LEVELS * 8];
        for (size_t e = 0; e < LEVELS; e++)
            for (size_t t = 0; t < K; t++) next[e * K + t] = mass[e * K + t] * m->crowd[(e * K + v) * K + t];
        enumerate(m, next, n - 1, out);
    }
}

static void prediction_is_exact(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        const review_crowd c = review_good_crowd(K, 120, 12, K);
        dis_votes *votes = review_even_votes(&c, 3);
        dis__crowd_model m = model_of(votes);
        double scratch[(LEVELS + 1) * 8], joint[LEVELS * 8], sums[8];
        for (size_t i = 0; i < 40; i++) {
            dis__crowd_compute_joint(&m, i, joint, sums);
            double before = INFINITY, fall = INFINITY;
            for (size_t n = 0; n <= 5; n++) {
                dis__review_prediction all = {0};
                enumerate(&m, joint, n, &all);
                const dis__review_prediction f = dis__review_predict_item(&m, i, n, scratch);
                em_assert_close(f.entropy, all.entropy, 1e-12);
                em_assert_close(f.right, all.right, 1e-12);
                if (n) {
                    assert_true(before - f.entropy <= fall + 1e-12); /* every vote tells less than the one before */
                    fall = before - f.entropy;
                    assert_true(fall >= -1e-12);
                }
                before = f.entropy;
            }
        }
        dis__crowd_model_destroy(&m);
        dis_votes_destroy(votes);
    }
}

/* With more classes what is taken together tells less, never more. */
static void prediction_is_cautious(void **state)
{
    (void)state;
    const review_crowd c = review_good_crowd(9, 120, 12, 6);
    dis_votes *votes = review_even_votes(&c, 3);
    dis__crowd_model m = model_of(votes);
    double scratch[(LEVELS + 1) * 8], joint[LEVELS * 8], sums[8];
    for (size_t i = 0; i < 40; i++) {
        dis__review_prediction now = {0}, then = {0};
        dis__crowd_compute_joint(&m, i, joint, sums);
        enumerate(&m, joint, 0, &now);
        enumerate(&m, joint, 2, &then);
        const dis__review_prediction f0 = dis__review_predict_item(&m, i, 0, scratch),
                                     f2 = dis__review_predict_item(&m, i, 2, scratch);
        em_assert_close(f0.right, now.right, 1e-12);
        assert_true(f0.entropy - f2.entropy <= now.entropy - then.entropy + 1e-12);
        assert_true(f2.right <= then.right + 1e-12);
    }
    dis__crowd_model_destroy(&m);
    dis_votes_destroy(votes);
}

/* p(t, e) straight from its definition. */
static void posterior_is_as_defined(void **state)
{
    (void)state;
    enum { K = 3 };
    const review_crowd c = review_good_crowd(4, 60, 8, K);
    dis_votes *votes = review_even_votes(&c, 4);
    dis__crowd_model m = model_of(votes);
    double joint[LEVELS * K], sums[K];
    for (size_t i = 0; i < c.n_items; i++) {
        double expected[LEVELS * K], total = 0;
        for (size_t e = 0; e < LEVELS; e++)
            for (size_t t = 0; t < K; t++) {
                double p = exp(m.log_level[e] + m.log_prior[t]);
                for (uint64_t a = m.votes.start[i]; a < m.votes.start[i + 1]; a++) {
                    const double *matrix = dis__crowd_matrix_at(&m, m.votes.worker[a]);
                    double norm = 0;
                    for (size_t v = 0; v < K; v++) norm += pow(exp(matrix[v * K + t]), dis__crowd_ease[e]);
                    p *= pow(exp(matrix[m.votes.label8[a] * K + t]), dis__crowd_ease[e]) / norm;
                }
                total += expected[e * K + t] = p;
            }
        dis__crowd_compute_joint(&m, i, joint, sums);
        for (size_t x = 0; x < LEVELS * K; x++) em_assert_close(joint[x], expected[x] / total, 1e-12);
    }
    dis__crowd_model_destroy(&m);
    dis_votes_destroy(votes);
}

static void budget_is_best(void **state)
{
    (void)state;
    enum { N = 4, BUDGET = 6 };
    const review_crowd c = review_good_crowd(21, N, 6, 3);
    dis_votes *votes = review_even_votes(&c, 2);
    dis__crowd_model m = model_of(votes);
    double scratch[(LEVELS + 1) * 3], entropy[N][BUDGET + 1], best = INFINITY, ours = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t n = 0; n <= BUDGET; n++) entropy[i][n] = dis__review_predict_item(&m, i, n, scratch).entropy;
    for (size_t a = 0; a <= BUDGET; a++)
        for (size_t b = 0; a + b <= BUDGET; b++)
            for (size_t d = 0; a + b + d <= BUDGET; d++)
                best = fmin(best, entropy[0][a] + entropy[1][b] + entropy[2][d] + entropy[3][BUDGET - a - b - d]);
    dis__crowd_model_destroy(&m);
    dis_review_options o = dis_review_options_default();
    o.budget = BUDGET;
    dis_review *review = review_of(NULL, votes, &o);
    const dis_review_view v = dis_review_get_view(review);
    size_t bought = 0;
    for (size_t r = 0; r < N; r++) {
        ours += entropy[v.items[r].item][v.items[r].votes_to_buy];
        bought += v.items[r].votes_to_buy;
    }
    em_assert_close(ours, best, 1e-9);
    assert_int_equal(bought, BUDGET);
    assert_int_equal(v.budget_spent, BUDGET);
    assert_true(v.expected_accuracy_after >= v.expected_accuracy);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* More votes than can be placed: each item gets its most, and the rest is not spent. */
static void budget_has_an_end(void **state)
{
    (void)state;
    const review_crowd c = review_good_crowd(22, 10, 6, 3);
    dis_votes *votes = review_even_votes(&c, 2);
    dis_review_options o = dis_review_options_default();
    o.budget = UINT64_MAX;
    dis_review *review = review_of(NULL, votes, &o);
    const dis_review_view v = dis_review_get_view(review);
    uint64_t bought = 0;
    for (size_t r = 0; r < v.n_items; r++) {
        assert_true(v.items[r].votes_to_buy <= DIS_REVIEW_MAX_VOTES);
        bought += v.items[r].votes_to_buy;
    }
    assert_int_equal(bought, v.budget_spent);
    assert_true(v.budget_spent <= 10 * DIS_REVIEW_MAX_VOTES);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* Under the model surprise has mean 0 and variance near 1. */
static void surprise_is_standard(void **state)
{
    (void)state;
    const review_crowd c = review_good_crowd(31, 3000, 40, 3);
    dis_votes *votes = review_even_votes(&c, 6);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    double sum = 0, square = 0;
    for (size_t r = 0; r < v.n_items; r++) {
        sum += v.items[r].surprise;
        square += v.items[r].surprise * v.items[r].surprise;
    }
    const double mean = sum / 3000, sd = sqrt(square / 3000 - mean * mean);
    assert_true(fabs(mean) < .15);
    assert_true(sd > .7 && sd < 1.3);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* ---- workers ---- */

static const dis_review_worker *row_of(const dis_review_view *v, size_t worker, size_t *row)
{
    for (size_t r = 0; r < v->n_workers; r++)
        if (v->workers[r].worker == worker) {
            *row = r;
            return &v->workers[r];
        }
    fail();
    return NULL;
}

static void planted_workers_are_found(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(41, 900, 30, 3);
    for (size_t w = 6; w < 30; w++) c.accuracy[w] = .8;
    c.habit[0] = 2;         /* always says 2 */
    c.accuracy[1] = 1. / 3; /* does not look */
    c.accuracy[2] = .02;    /* looks, and says something else */
    c.accuracy[3] = .6;     /* weaker, but honest */
    dis_votes *votes = review_even_votes(&c, 6);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    char reason[DIS_REVIEW_REASON_SIZE];
    size_t row;
    const dis_review_worker *w = row_of(&v, 0, &row);
    assert_int_equal(w->verdict, DIS_REVIEW_CONSTANT);
    assert_int_equal(w->chosen_class, 2);
    assert_true(row < 3 && w->evidence > 10 && w->chosen_share == 1);
    assert_non_null(strstr(dis_review_format_worker_reason(review, votes, row, reason, sizeof reason),
                           "answers '2' regardless of the item"));
    w = row_of(&v, 1, &row);
    assert_int_equal(w->verdict, DIS_REVIEW_RANDOM);
    assert_true(row < 3 && w->evidence > 5);
    assert_non_null(strstr(dis_review_format_worker_reason(review, votes, row, reason, sizeof reason),
                           "do not depend on the items"));
    w = row_of(&v, 2, &row);
    assert_int_equal(w->verdict, DIS_REVIEW_CONFUSES);
    assert_true(row < 3 && w->chosen_class != w->true_class);
    w = row_of(&v, 3, &row);
    assert_int_equal(w->verdict, DIS_REVIEW_WEAK);
    assert_true(row == 3 && w->accuracy < w->peer_accuracy && w->difference_high < 0 && w->p_adjusted <= .05);
    assert_true(v.n_unreliable == 3 && v.n_without_verdict == 0 && v.n_weak >= 1);
    for (size_t r = 3; r < v.n_workers; r++) assert_false(dis__review_verdict_is_unreliable(v.workers[r].verdict));
    for (size_t r = 0; r < v.n_workers; r++)
        assert_true(v.workers[r].accuracy_low <= v.workers[r].accuracy_high && v.workers[r].accuracy_low >= 0 &&
                    v.workers[r].accuracy_high <= 1);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* Two workers beside a crowd of ten, always wrong: one has 4 votes, the other 60. */
static void volume_matters(void **state)
{
    (void)state;
    enum { N = 200, W = 12, K = 3, FEW = 10, MANY = 11 };
    review_crowd c = review_good_crowd(43, N, 10, K);
    static uint32_t task[N * W], worker[N * W];
    static uint16_t label[N * W];
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        for (size_t q = 0; q < 4; q++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)review_voter(&c, i, q);
            label[n] = (uint16_t)review_vote(&c, i, worker[n]);
        }
        for (size_t w = FEW; w <= MANY; w++) {
            if (i >= (w == FEW ? 4u : 60u)) continue;
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)w;
            const size_t truth = review_truth(&c, i);
            label[n++] = (uint16_t)(w == FEW && i == 0 ? truth : (truth + 1 + dis__random_below(7, 1, i, 2)) % K);
        }
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = N,
                                .n_workers = W,
                                .n_classes = K,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    char reason[DIS_REVIEW_REASON_SIZE];
    size_t few, many;
    const dis_review_worker *w = row_of(&v, FEW, &few);
    assert_int_equal(w->verdict, DIS_REVIEW_FINE);
    assert_true(w->accuracy < .5 && w->evidence < 1);
    assert_non_null(
        strstr(dis_review_format_worker_reason(review, votes, few, reason, sizeof reason), "too few votes"));
    w = row_of(&v, MANY, &many);
    assert_int_equal(many, 0);
    assert_true(w->evidence > 5 && w->verdict != DIS_REVIEW_FINE);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* ---- items ---- */

/* What is gained by buying 600 votes in 6 batches where the review says, against buying them anywhere. */
static double bought_accuracy(const review_crowd *c, bool follow)
{
    size_t n_votes[600], right = 0;
    for (size_t i = 0; i < c->n_items; i++) n_votes[i] = 3;
    for (size_t round = 0; round < 6; round++) {
        for (size_t b = 0; b < 100 && !follow; b++)
            n_votes[dis__random_below(c->seed, 9, round * 100 + b, c->n_items)]++;
        if (!follow) continue;
        dis_votes *votes = review_votes(c, n_votes);
        dis_review_options o = dis_review_options_default();
        o.budget = 100;
        dis_review *review = review_of(NULL, votes, &o);
        const dis_review_view v = dis_review_get_view(review);
        for (size_t r = 0; r < v.n_items; r++) n_votes[v.items[r].item] += v.items[r].votes_to_buy;
        dis_review_destroy(review);
        dis_votes_destroy(votes);
    }
    dis_votes *votes = review_votes(c, n_votes);
    dis_fit *fit;
    assert_int_equal(dis_fit_run(NULL, votes, "dawid-skene", NULL, &fit), DIS_OK);
    for (size_t i = 0; i < c->n_items; i++)
        right += dis__argmax(dis_fit_p(fit) + i * c->n_classes, c->n_classes) == review_truth(c, i);
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
    return (double)right / (double)c->n_items;
}

/* The margin: of the mistakes that remain after buying at random a third and more are gone. */
static void following_beats_chance(void **state)
{
    (void)state;
    if (SANITIZED) skip(); /* a statistic of many reviews */
    double chance = 0, follow = 0;
    for (uint64_t seed = 51; seed < 54; seed++) {
        review_crowd c = review_good_crowd(seed, 600, 40, 3);
        for (size_t w = 0; w < 8; w++) c.habit[w] = (int)(w % 3);
        chance += bought_accuracy(&c, false) / 3;
        follow += bought_accuracy(&c, true) / 3;
    }
    print_message("share of right labels after buying one vote per item: at random %.3f, as reviewed %.3f\n", chance,
                  follow);
    assert_true(1 - follow < .67 * (1 - chance));
    assert_true(follow > chance + .04);
}

static void orders(void **state)
{
    (void)state;
    const review_crowd c = review_good_crowd(61, 300, 20, 3);
    dis_votes *votes = review_even_votes(&c, 4);
    for (int by = DIS_REVIEW_BY_GAIN; by <= DIS_REVIEW_BY_SURPRISE; by++) {
        int32_t gold[300];
        for (size_t i = 0; i < 300; i++) gold[i] = i % 10 ? -1 : (int32_t)review_truth(&c, i);
        dis_review_options o = dis_review_options_default();
        o.order = (dis_review_order)by;
        o.gold = gold;
        o.budget = 1000;
        dis_review *review = review_of(NULL, votes, &o);
        const dis_review_view v = dis_review_get_view(review);
        bool seen[300] = {0};
        for (size_t r = 0; r < v.n_items; r++) {
            const dis_review_item *x = &v.items[r], *y = x - (r > 0);
            assert_false(seen[x->item]);
            seen[x->item] = true;
            assert_int_equal(x->is_gold, r >= 270);
            if (x->is_gold) {
                assert_int_equal(x->label, gold[x->item]);
                assert_true(x->votes_to_buy == 0 && x->gain == 0 && x->p_correct > .999999);
            } else if (by == DIS_REVIEW_BY_GAIN)
                assert_true(x->gain <= y->gain + 1e-9);
            else if (by == DIS_REVIEW_BY_UNCERTAINTY)
                assert_true(x->p_correct >= y->p_correct - 1e-9);
            else
                assert_true(x->surprise <= y->surprise + 1e-9);
        }
        dis_review_destroy(review);
    }
    dis_review_options wrong = dis_review_options_default();
    wrong.order = (dis_review_order)7;
    dis_review *none = NULL;
    assert_int_equal(dis_review_run(NULL, votes, &wrong, &none), DIS_EUSAGE);
    wrong = dis_review_options_default();
    wrong.order = DIS_REVIEW_BY_DEFAULT;
    static const dis_label_plan unknown = {.size = sizeof unknown, .n_views = 1, .views = {"no-such"}};
    wrong.plan = &unknown;
    assert_int_equal(dis_review_run(NULL, votes, &wrong, &none), DIS_EUSAGE);
    assert_null(none);
    dis_votes_destroy(votes);
}

/* The same votes in another order under other numbers. */
static void names_and_order_do_not_matter(void **state)
{
    (void)state;
    enum { N = 400, W = 25, K = 4, EACH = 4 };
    const review_crowd c = review_good_crowd(71, N, W, K);
    dis_votes *votes = review_even_votes(&c, EACH);
    const dis_votes_view v = dis_votes_get_view(votes);
    static uint32_t task[N * EACH], worker[N * EACH];
    static uint16_t label[N * EACH];
    for (size_t i = 0, n = 0; i < N; i++)
        for (size_t q = 0; q < EACH; q++, n++) { /* steps that have no divisor in common with the numbers of rows */
            const size_t to = n * 611 % (N * EACH), a = v.start[i] + q;
            task[to] = (uint32_t)(i * 147 % N);
            worker[to] = v.worker[a] * 7 % W;
            label[to] = v.label8[a];
        }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = N * EACH,
                                     .n_items = N,
                                     .n_workers = W,
                                     .n_classes = K,
                                     .task = task,
                                     .worker = worker,
                                     .label = label};
    dis_votes *other;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &other), DIS_OK);
    dis_review *x = review_of(NULL, votes, NULL), *y = review_of(NULL, other, NULL);
    const dis_review_view a = dis_review_get_view(x), b = dis_review_get_view(y);
    static dis_review_item by_item[N];
    for (size_t r = 0; r < N; r++) by_item[b.items[r].item] = b.items[r];
    for (size_t r = 0; r < N; r++) {
        const dis_review_item *p = &a.items[r], *q = &by_item[p->item * 147 % N];
        em_assert_close(p->p_correct, q->p_correct, 1e-12);
        em_assert_close(p->gain, q->gain, 1e-12);
        em_assert_close(p->surprise, q->surprise, 1e-11);
        em_assert_close(p->gain, b.items[r].gain, 1e-9); /* the same rank, or a tie */
    }
    for (size_t r = 0; r < W; r++) {
        assert_int_equal(a.workers[r].worker * 7 % W, b.workers[r].worker);
        em_assert_close(a.workers[r].evidence, b.workers[r].evidence, 1e-10);
    }
    dis_review_destroy(x);
    dis_review_destroy(y);
    dis_votes_destroy(votes);
    dis_votes_destroy(other);
}

/* ---- edges ---- */

static void is_sound(const dis_votes *votes, uint64_t budget)
{
    dis_review_options o = dis_review_options_default();
    o.budget = budget;
    dis_review *review = review_of(NULL, votes, &o);
    const dis_review_view v = dis_review_get_view(review);
    const bool judged = v.beyond_chance && (!v.n_workers || (v.n_compared && v.chance.standard_error > 0));
    char reason[DIS_REVIEW_REASON_SIZE];
    for (size_t r = 0; r < v.n_items; r++) {
        const dis_review_item *x = &v.items[r];
        assert_true(judged ? x->p_correct > 0 && x->p_correct <= 1 : x->is_gold || isnan(x->p_correct));
        assert_true(isfinite(x->gain) && x->gain >= 0 && isfinite(x->surprise));
        assert_true(x->p_hard >= 0 && x->p_hard <= 1 + 1e-12);
        assert_true(*dis_review_format_item_reason(review, votes, r, reason, sizeof reason));
    }
    for (size_t r = 0; r < v.n_workers; r++) {
        const dis_review_worker *x = &v.workers[r];
        assert_true(isfinite(x->evidence) && (x->verdict == DIS_REVIEW_NO_VERDICT || isfinite(x->accuracy)));
        assert_true(isnan(x->accuracy) == (x->shared == 0 || v.n_items == 0 || isnan(x->accuracy_low)));
        assert_true(isnan(x->accuracy_low) || (x->accuracy_low <= x->accuracy && x->accuracy <= x->accuracy_high &&
                                               x->accuracy_low >= 0 && x->accuracy_high <= 1));
        assert_true(*dis_review_format_worker_reason(review, votes, r, reason, sizeof reason));
    }
    assert_true(judged ? isfinite(v.expected_accuracy) && isfinite(v.expected_accuracy_after)
                       : isnan(v.expected_accuracy) && isnan(v.expected_accuracy_after));
    dis_review_destroy(review);
}

static void edges(void **state)
{
    (void)state;
    static const size_t sizes[][4] = {/* items, workers, classes, votes */
                                      {1, 1, 1, 1}, {1, 1, 2, 1},   {5, 1, 3, 1},    {5, 4, 1, 3},
                                      {3, 3, 2, 0}, {1, 40, 2, 40}, {40, 40, 40, 2}, {20, 5, 2, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        review_crowd c = review_good_crowd(s, sizes[s][0], sizes[s][1], sizes[s][2]);
        for (size_t w = 0; w < c.n_workers && c.n_classes == 1; w++) c.habit[w] = 0;
        dis_votes *votes = review_even_votes(&c, sizes[s][3]);
        is_sound(votes, 7);
        dis_votes_destroy(votes);
    }
    /* counts: whole, soft, none, a great many */
    const double counts[] = {3, 1, 0, .5, .25, .25, 0, 0, 0, 90000, 10000, 0, 1, 1, 1};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 5, 3, NULL, NULL, &votes), DIS_OK);
    is_sound(votes, 30);
    dis_review *review = review_of(NULL, votes, NULL);
    assert_int_equal(dis_review_get_view(review).n_workers, 0);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* ---- faults ---- */

static dis_status one_review(void *arg)
{
    dis_review_options o = dis_review_options_default();
    o.budget = 20;
    o.causes = true;
    dis_review *review = NULL;
    const dis_status status = dis_review_run(NULL, arg, &o, &review);
    assert_true((status == DIS_OK) == (review != NULL));
    dis_review_destroy(review);
    return status;
}

static void faults(void **state)
{
    (void)state;
    const review_crowd c = review_good_crowd(81, 30, 6, 3);
    dis_votes *votes = review_even_votes(&c, 3);
    walk_faults(one_review, NULL, votes);
    dis_context_options small = dis_context_options_default();
    small.memory = 100;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&small, &ctx), DIS_OK);
    dis_review *none = NULL;
    assert_int_equal(dis_review_run(ctx, votes, NULL, &none), DIS_ELIMIT);
    dis_context_destroy(ctx);
    dis_votes_destroy(votes);
}

/* ---- causes of votes ---- */

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* 300 items with one reading of three; ten annotators, of whom number 0 slips in half of the votes; the first `n_open` items
 * have two readings. */
static dis_votes *crowd_with_slips(size_t n_open)
{
    enum { ITEMS = 300, WORKERS = 10 };
    static uint32_t task[ITEMS * WORKERS], worker[ITEMS * WORKERS];
    static uint16_t label[ITEMS * WORKERS];
    size_t n = 0;
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t w = 0; w < WORKERS; w++, n++) {
            const uint32_t x = mix((uint32_t)(n + 1)) >> 4;
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)w;
            label[n] = (uint16_t)(i % 3);
            if (i < n_open && x % 5 < 2) label[n] = (uint16_t)((i + 1) % 3);
            if (w == 0 && x % 2) label[n] = (uint16_t)((x >> 3) % 3);
        }
    dis_votes_arrays arrays = dis_votes_arrays_default();
    arrays.n_votes = n;
    arrays.n_items = ITEMS;
    arrays.n_workers = WORKERS;
    arrays.n_classes = 3;
    arrays.task = task;
    arrays.worker = worker;
    arrays.label = label;
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &votes), DIS_OK);
    return votes;
}

static void causes_of_votes(void **state)
{
    (void)state;
    dis_votes *votes = crowd_with_slips(90);
    dis_review_options o = dis_review_options_default();
    dis_review *review;
    o.causes = true;
    assert_int_equal(dis_review_run(NULL, votes, &o, &review), DIS_OK);
    const dis_review_view v = dis_review_get_view(review);
    assert_int_equal(v.n_votes, 3000);
    assert_true(v.slip_rate[0] > .35 && v.slip_rate[0] < .6);
    double slip = 0, reading = 0, n_slip = 0, n_reading = 0;
    for (size_t w = 1; w < 10; w++) assert_true(v.slip_rate[w] < .05);
    for (size_t n = 0; n < v.n_votes; n++) {
        const dis_review_vote *x = &v.votes[n];
        const double rest = 1 - x->p_slip - x->p_reading - x->p_group;
        assert_true(x->p_slip >= 0 && x->p_reading >= 0 && x->p_group == 0 && rest > -1e-9);
        if (x->label == x->item % 3) continue;
        if (x->item >= 90 && x->worker == 0) slip += x->p_slip, n_slip++;
        if (x->item < 90 && x->worker > 0) reading += x->p_reading, n_reading++;
    }
    assert_true(n_slip > 50 && slip / n_slip > .95); /* alone against nine on an item that is clear */
    assert_true(n_reading > 200 &&
                reading / n_reading > .5); /* the most common reading of some items is the second one */
    for (size_t i = 0; i < v.n_items; i++) {
        const double *p = v.reading_p + 3 * i;
        assert_true(fabs(p[0] + p[1] + p[2] - 1) < 1e-9);
        if (i >= 90) assert_true(p[i % 3] > .97);
    }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* On noise nothing is said. */
static void no_causes_on_noise(void **state)
{
    (void)state;
    uint32_t task[600], worker[600];
    uint16_t label[600];
    for (uint32_t n = 0; n < 600; n++) {
        task[n] = n / 6;
        worker[n] = n % 6;
        label[n] = (uint16_t)(mix(n + 1) % 2);
    }
    dis_votes_arrays arrays = dis_votes_arrays_default();
    arrays.n_votes = 600;
    arrays.n_items = 100;
    arrays.n_workers = 6;
    arrays.n_classes = 2;
    arrays.task = task;
    arrays.worker = worker;
    arrays.label = label;
    dis_votes *votes;
    dis_review *review;
    dis_review_options o = dis_review_options_default();
    o.causes = true;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &votes), DIS_OK);
    assert_int_equal(dis_review_run(NULL, votes, &o, &review), DIS_OK);
    const dis_review_view v = dis_review_get_view(review);
    assert_false(v.beyond_chance);
    assert_null(v.votes);
    assert_null(v.reading_p);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_of_votes),
        cmocka_unit_test(no_causes_on_noise),
        cmocka_unit_test(prediction_is_exact),
        cmocka_unit_test(prediction_is_cautious),
        cmocka_unit_test(posterior_is_as_defined),
        cmocka_unit_test(budget_is_best),
        cmocka_unit_test(budget_has_an_end),
        cmocka_unit_test(surprise_is_standard),
        cmocka_unit_test(planted_workers_are_found),
        cmocka_unit_test(volume_matters),
        cmocka_unit_test(following_beats_chance),
        cmocka_unit_test(orders),
        cmocka_unit_test(names_and_order_do_not_matter),
        cmocka_unit_test(edges),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
