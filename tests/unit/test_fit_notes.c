/* What the library finds odd about a fit: each sentence where its bound is passed, none where it is not. */
#include "tool/arrays.h"
#include "support/em_support.h"

static bool warns(const dis_fit *fit, const char *part)
{
    for (size_t i = 0; dis_fit_get_warning(fit, i); i++)
        if (strstr(dis_fit_get_warning(fit, i), part)) return true;
    return false;
}

/* 300 items, 80 % of one class; four of five votes are right on these, two of five on the others. */
static dis_votes *uneven_crowd(void)
{
    enum { ITEMS = 300, EACH = 3, WORKERS = 30 };
    static uint32_t task[ITEMS * EACH], worker[ITEMS * EACH];
    static uint16_t label[ITEMS * EACH];
    uint64_t state = 7;
    for (size_t v = 0; v < ITEMS * EACH; v++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        task[v] = (uint32_t)(v / EACH);
        worker[v] = (uint32_t)((v * 7 + v / EACH) % WORKERS);
        const bool rare = task[v] % 100 < 20, right = (state >> 33) % 100 < (rare ? 40 : 80);
        label[v] = (uint16_t)(rare == right);
    }
    return em_make_votes(ITEMS * EACH, task, worker, label, ITEMS, WORKERS, 2);
}

static void collapse(void **state)
{
    (void)state;
    dis_votes *votes = uneven_crowd();
    dis_fit *reference = em_fit(NULL, votes, "one-coin:prior=estimate,smoothing=0,iterations=1000", NULL);
    dis_fit *mended = em_fit(NULL, votes, "one-coin", NULL);
    for (size_t i = 0; dis_fit_get_warning(reference, i); i++) printf("%s\n", dis_fit_get_warning(reference, i));
    assert_true(warns(reference, "has the most votes on"));
    assert_false(warns(mended, "has the most votes on"));
    dis_fit_destroy(reference);
    dis_fit_destroy(mended);
    dis_votes_destroy(votes);
}

static void convergence(void **state)
{
    (void)state;
    dis_votes *votes = uneven_crowd();
    dis_fit *few = em_fit(NULL, votes, "dawid-skene:iterations=2", NULL);
    dis_fit *fixed = em_fit(NULL, votes, "dawid-skene:iterations=2,tolerance=0", NULL);
    dis_fit *shares = em_fit(NULL, votes, "standard", NULL);
    assert_true(warns(few, "did not converge in 2 iterations"));
    assert_false(warns(fixed, "did not converge"));
    assert_null(dis_fit_get_warning(shares, 0));
    dis_fit_destroy(few);
    dis_fit_destroy(fixed);
    dis_fit_destroy(shares);
    dis_votes_destroy(votes);
}

/* Four workers of three classes; two always say 1 where two others say 2 on what is 0 elsewhere: dawid-skene may name a
 * class that an item's voters did not. The count in the sentence is that of the labels. */
static void nobody_voted(void **state)
{
    (void)state;
    enum { ITEMS = 120 };
    static uint32_t task[ITEMS * 3], worker[ITEMS * 3];
    static uint16_t label[ITEMS * 3];
    size_t n = 0;
    /* Worker 3 renames class 0 to 2 whenever the others, who are right, say 0; alone with worker 3 per item is read as
     * 0. */
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint16_t truth = i % 2;
        const bool alone = i >= ITEMS - 10;
        for (uint32_t w = 0; w < 2 && !alone; w++, n++) task[n] = i, worker[n] = w, label[n] = truth;
        task[n] = i, worker[n] = 3, label[n++] = truth || !alone ? (truth ? 1 : 2) : 2;
    }
    dis_votes *votes = em_make_votes(n, task, worker, label, ITEMS, 4, 3);
    dis_fit *fit = em_fit(NULL, votes, "dawid-skene:smoothing=0", NULL);
    const double *p = dis_fit_p(fit);
    size_t unvoted = 0;
    for (uint32_t i = ITEMS - 10; i < ITEMS; i++) unvoted += dis__argmax(p + 3 * i, 3) == 0;
    char sentence[80];
    snprintf(sentence, sizeof sentence, "on %zu of %d items", unvoted, ITEMS);
    assert_int_equal(unvoted, 5);
    assert_true(warns(fit, sentence));
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collapse),
        cmocka_unit_test(convergence),
        cmocka_unit_test(nobody_voted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
