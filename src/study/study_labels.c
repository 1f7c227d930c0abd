/* Accuracy of majority labels of m votes per item, for any m.
 *
 * Votes on an item are draws from an urn (Polya): the urn begins with s balls in prior shares and the votes of the pilot on
 * this item, and each drawn label is added once more. This is the predictive law of a Dirichlet-multinomial model, so a
 * pilot's items keep their own difficulty as far as their votes show it.
 *
 *     known labels     prior: the correct class with the accuracy of single votes, else a wrong vote of the pilot on an item
 *                      of the same class;
 *                      s = (1 - r) / r, r the intraclass correlation of correct votes
 *     without them     prior: class shares, s from the chance-corrected agreement; the correct class is the most
 *                      frequent one of POPULATION draws, of which the study's votes are the first
 *
 * A tie of t classes that contains the correct one counts 1 / t. The pivot is the change of accuracy when one vote
 * becomes correct: annotators whose accuracy is d higher add m pivot d to the accuracy of labels.
 *
 * Cost: O(DRAWS x (m + POPULATION) x log classes). */
#include "study/study_internal.h"
#include "core/memory/memory.h"
#include "core/random/rng.h"
#include "core/random/random.h"
#include <math.h>

enum { DRAWS = 60000, POPULATION = 101 };

struct dis__study_urns {
    const dis__study_pilot *pilot; /* NULL: stated figures */
    size_t n_classes, n_items;
    double strength, accuracy;
    double *cumulative;  /* (n_classes) of class shares */
    size_t *wrong_start; /* (n_classes + 1) wrong votes on items of a class, with known labels; NULL */
    uint32_t *wrong;     /* (wrong votes) */
    uint32_t *count;     /* (n_classes) votes on an item, 0 between items */
    size_t *item;        /* (n_items) of the pilot */
    uint64_t seed;
};

void dis__study_urns_destroy(dis__study_urns *urns)
{
    if (!urns) return;
    dis__free(urns->cumulative);
    dis__free(urns->wrong_start);
    dis__free(urns->wrong);
    dis__free(urns->item);
    dis__free(urns->count);
    dis__free(urns);
}

/* ---- the prior ---- */

/* Class shares, each item counting the same; returns chance-corrected agreement. */
static double add_shares(dis__study_urns *u, const dis__judge_votes *v)
{
    double agreement = 0, n_pairs = 0, n = 0, chance = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        const double m = (double)dis__judge_n_votes(v, i);
        double pairs = 0;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            u->cumulative[v->label[t]] += 1 / m;
            pairs += u->count[v->label[t]]++;
        }
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) u->count[v->label[t]] = 0;
        n += m > 0;
        if (m < 2) continue;
        agreement += 2 * pairs / (m * (m - 1));
        n_pairs++;
    }
    for (size_t k = 0; k < u->n_classes; k++) {
        const double share = u->cumulative[k] / n;
        chance += share * share;
        u->cumulative[k] = share + (k ? u->cumulative[k - 1] : 0);
    }
    return n_pairs > 0 && chance < 1 ? (agreement / n_pairs - chance) / (1 - chance) : (double)NAN;
}

/* Wrong votes, grouped by the correct class. */
static dis_status group_wrong_votes(dis__study_urns *u)
{
    const dis__study_pilot *pilot = u->pilot;
    const dis__judge_votes *v = &pilot->people;
    DIS_TRY(dis__alloc_zeroed(&u->wrong_start, u->n_classes + 2, sizeof *u->wrong_start));
    DIS_TRY(dis__alloc_array(&u->wrong, (size_t)v->start[v->n_items], sizeof *u->wrong));
    size_t *next = u->wrong_start + 1; /* the start of class k is at next[k], and after the second pass at start[k] */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < v->n_items; i++) {
            const int32_t correct = pilot->gold[i];
            for (uint64_t t = v->start[i]; correct >= 0 && t < v->start[i + 1]; t++) {
                if (v->label[t] == (uint32_t)correct) continue;
                if (pass == 0)
                    next[correct + 1]++;
                else
                    u->wrong[next[correct]++] = v->label[t];
            }
        }
        for (size_t k = 0; pass == 0 && k < u->n_classes; k++) next[k + 1] += next[k];
    }
    return DIS_OK;
}

static void set_prior(dis__study_urns *u, double alike)
{
    const dis__study_pilot *pilot = u->pilot;
    if (!pilot) {
        for (size_t k = 0; k < u->n_classes; k++) u->cumulative[k] = (double)(k + 1) / (double)u->n_classes;
    } else {
        const double agreement = add_shares(u, &pilot->people);
        if (!pilot->has_gold && !isnan(agreement)) alike = agreement;
        for (size_t i = 0; i < pilot->people.n_items; i++) {
            const bool used = pilot->has_gold ? pilot->gold[i] >= 0 : dis__judge_n_votes(&pilot->people, i) > 0;
            if (used) u->item[u->n_items++] = i;
        }
    }
    const double r = fmin(fmax(alike, .02), .98);
    u->strength = (1 - r) / r;
}

dis_status dis__study_urns_create(const dis__study_pilot *pilot, double accuracy, double alike, size_t n_classes,
                                  uint64_t seed, dis__study_urns **out)
{
    dis__study_urns *u;
    DIS_TRY(dis__alloc_zeroed(&u, 1, sizeof *u));
    u->pilot = pilot;
    u->n_classes = n_classes;
    u->accuracy = accuracy;
    u->seed = seed;
    dis_status status = dis__alloc_zeroed(&u->cumulative, n_classes, sizeof *u->cumulative);
    if (status == DIS_OK) status = dis__alloc_array(&u->item, pilot ? pilot->people.n_items : 0, sizeof *u->item);
    if (status == DIS_OK) status = dis__alloc_zeroed(&u->count, n_classes, sizeof *u->count);
    if (status == DIS_OK && pilot && pilot->has_gold) status = group_wrong_votes(u);
    if (status != DIS_OK) {
        dis__study_urns_destroy(u);
        return status;
    }
    set_prior(u, alike);
    *out = u;
    return DIS_OK;
}

/* ---- draws ---- */

static uint32_t draw_class(const dis__study_urns *u, dis__rng *rng)
{
    const double x = dis__rng_uniform(rng) * u->cumulative[u->n_classes - 1];
    size_t low = 0, high = u->n_classes - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (x < u->cumulative[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

/* A class that is not the correct one: as in the pilot on items of the same class, else by its frequency. */
static uint32_t draw_wrong(const dis__study_urns *u, dis__rng *rng, uint32_t correct)
{
    if (u->wrong_start) {
        const size_t from = u->wrong_start[correct], n = u->wrong_start[correct + 1] - from;
        if (n) return u->wrong[from + (size_t)dis__rng_below(rng, n)];
    }
    for (int t = 0; t < 20; t++) {
        const uint32_t k = draw_class(u, rng);
        if (k != correct) return k;
    }
    return correct ? 0 : 1;
}

typedef struct {
    const uint32_t *pilot; /* (n_pilot) votes on this item */
    size_t n_pilot;
    int32_t correct; /* -1: unknown */
    uint32_t drawn[DIS_STUDY_MAX_VOTES];
} urn;

static uint32_t draw_vote(const dis__study_urns *u, dis__rng *rng, const urn *from, size_t n)
{
    const double balls = u->strength + (double)(from->n_pilot + n), x = dis__rng_uniform(rng) * balls - u->strength;
    if (x < 0) {
        if (from->correct < 0) return draw_class(u, rng);
        const uint32_t correct = (uint32_t)from->correct;
        return dis__rng_uniform(rng) < u->accuracy ? correct : draw_wrong(u, rng, correct);
    }
    const size_t ball = (size_t)x;
    if (ball < from->n_pilot) return from->pilot[ball];
    return from->drawn[ball - from->n_pilot < n ? ball - from->n_pilot : n - 1];
}

/* How often a class has been drawn. */
static size_t count(const uint32_t *votes, size_t n, uint32_t k)
{
    size_t sum = 0;
    for (size_t t = 0; t < n; t++) sum += votes[t] == k;
    return sum;
}

/* Whether vote t is the first one for its class. */
static bool is_first(const uint32_t *votes, size_t t)
{
    for (size_t s = 0; s < t; s++)
        if (votes[s] == votes[t]) return false;
    return true;
}

/* 1 if the class has the most votes, 1 / t if t classes have, else 0. */
static double majority(const uint32_t *votes, size_t n, uint32_t k)
{
    const size_t most = count(votes, n, k);
    size_t tied = 1;
    for (size_t t = 0; t < n; t++) {
        if (votes[t] == k || !is_first(votes, t)) continue;
        const size_t of_other = count(votes, n, votes[t]);
        if (of_other > most) return 0;
        tied += of_other == most;
    }
    return most ? 1 / (double)tied : 0;
}

/* The most frequent class of n votes, the first one that was drawn on a tie. */
static uint32_t most_frequent(const uint32_t *votes, size_t n)
{
    size_t best = 0;
    uint32_t out = votes[0];
    for (size_t t = 0; t < n; t++) {
        const size_t c = is_first(votes, t) ? count(votes, n, votes[t]) : 0;
        if (c > best) {
            best = c;
            out = votes[t];
        }
    }
    return out;
}

static void predict_one(const dis__study_urns *u, dis__rng *rng, urn *from, size_t n, double *accuracy, double *pivot)
{
    for (size_t t = 0; t < n; t++) from->drawn[t] = draw_vote(u, rng, from, t);
    uint32_t correct = from->correct < 0 ? 0 : (uint32_t)from->correct;
    if (from->correct < 0) {
        const size_t all = n > POPULATION ? n : POPULATION;
        for (size_t t = n; t < all; t++) from->drawn[t] = draw_vote(u, rng, from, t);
        correct = most_frequent(from->drawn, all);
    }
    *accuracy += majority(from->drawn, n, correct);
    from->drawn[0] = correct;
    const double with = majority(from->drawn, n, correct);
    from->drawn[0] = draw_wrong(u, rng, correct);
    *pivot += with - majority(from->drawn, n, correct);
}

void dis__study_labels_predict(const dis__study_urns *u, size_t n_votes, double *accuracy, double *pivot)
{
    const size_t draws = n_votes > 20 ? DRAWS / 10 : DRAWS;
    dis__rng rng = dis__rng_at(u->seed, DIS_STREAM_PLAN, 1 + n_votes);
    *accuracy = *pivot = 0;
    for (size_t t = 0; t < draws; t++) {
        urn from = {.correct = 0};
        if (u->pilot) {
            const dis__judge_votes *v = &u->pilot->people;
            const size_t i = u->item[t % u->n_items];
            from.pilot = v->label + v->start[i];
            from.n_pilot = dis__judge_n_votes(v, i);
            from.correct = u->pilot->has_gold ? u->pilot->gold[i] : -1;
        }
        predict_one(u, &rng, &from, n_votes, accuracy, pivot);
    }
    *accuracy /= (double)draws;
    *pivot /= (double)draws;
}
