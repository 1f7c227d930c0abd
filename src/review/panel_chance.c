/* Tests against chance, which run before all other parts.
 *
 * People: does a vote agree with the other votes of people on its item more than when the labels of each person are
 * permuted over the items of this person? The habits of people stay (a rare class stays rare), so that the test holds
 * at any class balance. People with fewer than MIN_VOTES votes are permuted together. Judges: does a judge agree with
 * people more than when its own answers are permuted over its items? p = (1 + permutations at least as high) /
 * (1 + permutations), for judges corrected by Benjamini and Hochberg. People pass at .05, judges at .01.
 *
 * Cost: O(permutations x votes of people) and O(permutations x items) for each judge; at most WORK of each. */
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "stats/distributions.h"
#include <math.h>

enum { MIN_VOTES = 10, FEW = 199, MANY = 999 };
#define WORK         1e7
#define PEOPLE_LEVEL .05
#define JUDGE_LEVEL  .01

typedef struct {
    uint64_t state; /* SplitMix64 (Steele, Lea and Flood 2014) */
} generator;

static generator generator_for(uint64_t seed, uint64_t use)
{
    return (generator){dis__random(seed, DIS_STREAM_PANEL | (uint64_t)2 << 32, use)};
}

static uint64_t next(generator *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(generator *g, size_t n)
{
    return (size_t)((unsigned __int128)next(g) * n >> 64);
}

static int permutations_for(double n)
{
    return (int)fmin(MANY, fmax(FEW, WORK / fmax(1, n)));
}

/* Whether the number of permutations at least as high rules out a small p. */
static bool hopeless(int higher, int permutations)
{
    return higher > PEOPLE_LEVEL * (permutations + 1);
}

/* ---- people ---- */

typedef struct {
    const dis__panel_data *d;
    uint16_t *label; /* (n_votes) permuted */
    uint64_t *slot;  /* votes of people on items with two or more, grouped by person */
    size_t *end;     /* (n_segments) */
    size_t n_slots, n_segments;
    uint32_t *count; /* (n_classes) */
} people;

static bool usable(const dis__panel_data *d, uint64_t t)
{
    return d->n_votes[d->item[t]] >= 2;
}

static size_t usable_votes(const dis__panel_data *d, size_t w)
{
    size_t n = 0;
    for (uint64_t x = d->first[w]; d->person[w] && x < d->first[w + 1]; x++) n += usable(d, d->vote[x]);
    return n;
}

/* People with enough votes are a segment each, the others together the last one. */
static void list_slots(people *p)
{
    const dis__panel_data *d = p->d;
    for (int pooled = 0; pooled < 2; pooled++) {
        for (size_t w = 0; w < d->votes->n_workers; w++) {
            const size_t n = usable_votes(d, w);
            if (n == 0 || (n < MIN_VOTES) != (pooled == 1)) continue;
            for (uint64_t x = d->first[w]; x < d->first[w + 1]; x++)
                if (usable(d, d->vote[x])) p->slot[p->n_slots++] = d->vote[x];
            if (!pooled) p->end[p->n_segments++] = p->n_slots;
        }
    }
    p->end[p->n_segments++] = p->n_slots;
}

static double people_statistic(const people *p)
{
    const dis_votes_view *v = p->d->votes;
    double sum = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        double pairs = 0;
        if (p->d->n_votes[i] < 2) continue;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++)
            if (p->d->person[v->worker[t]]) pairs += p->count[p->label[t]]++;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++)
            if (p->d->person[v->worker[t]]) p->count[p->label[t]] = 0;
        sum += 2 * pairs / (p->d->n_votes[i] - 1.);
    }
    return sum;
}

static void shuffle_people(people *p, generator *g)
{
    for (size_t s = 0, first = 0; s < p->n_segments; first = p->end[s++])
        for (size_t x = p->end[s]; x > first + 1; x--) {
            uint16_t *a = &p->label[p->slot[x - 1]], *b = &p->label[p->slot[first + below(g, x - first)]];
            const uint16_t keep = *a;
            *a = *b;
            *b = keep;
        }
}

static double permute_people(people *p)
{
    const dis__panel_data *d = p->d;
    for (size_t t = 0; t < d->votes->n_votes; t++) p->label[t] = (uint16_t)dis__panel_label(d->votes, t);
    list_slots(p);
    generator g = generator_for(d->o->seed, UINT32_MAX);
    const double seen = people_statistic(p);
    const int all = permutations_for((double)p->n_slots);
    int higher = 0, drawn = 0;
    while (drawn < all && !hopeless(higher, all)) {
        shuffle_people(p, &g);
        drawn++;
        higher += people_statistic(p) >= seen - 1e-9;
    }
    return (1. + higher) / (1. + drawn);
}

static dis_status test_people(const dis__panel_data *d, double *p_value)
{
    people p = {.d = d};
    dis_status status = dis__alloc_array(&p.label, d->votes->n_votes, sizeof *p.label);
    if (status == DIS_OK) status = dis__alloc_array(&p.slot, d->votes->n_votes, sizeof *p.slot);
    if (status == DIS_OK) status = dis__alloc_array(&p.end, d->votes->n_workers + 1, sizeof *p.end);
    if (status == DIS_OK) status = dis__alloc_zeroed(&p.count, d->votes->n_classes, sizeof *p.count);
    if (status == DIS_OK) *p_value = permute_people(&p);
    dis__free(p.label);
    dis__free(p.slot);
    dis__free(p.end);
    dis__free(p.count);
    return status;
}

/* ---- judges ---- */

typedef struct {
    const dis__panel_data *d;
    uint32_t *item;  /* (n) items of the judge with votes of people */
    uint16_t *label; /* (n) */
    size_t n;
} answers;

static double agreement_of(const answers *a)
{
    const size_t n = a->d->votes->n_classes;
    double sum = 0;
    for (size_t x = 0; x < a->n; x++)
        sum += (double)a->d->people[a->item[x] * n + a->label[x]] / a->d->n_votes[a->item[x]];
    return sum;
}

/* The mean over all permutations, of n answers; *same: all answers are equal. */
static double expected_agreement(const answers *a, double *share, bool *same)
{
    const size_t n = a->d->votes->n_classes;
    double sum = 0;
    *same = true;
    for (size_t k = 0; k < n; k++) share[k] = 0;
    for (size_t x = 0; x < a->n; x++) {
        share[a->label[x]] += 1 / (double)a->n;
        *same = *same && a->label[x] == a->label[0];
    }
    for (size_t x = 0; x < a->n; x++)
        for (size_t k = 0; k < n; k++) sum += share[k] * a->d->people[a->item[x] * n + k] / a->d->n_votes[a->item[x]];
    return sum;
}

static void permute_judge(answers *a, size_t j, double *share, dis_panel_judge *to)
{
    bool same;
    const double seen = agreement_of(a);
    to->chance = expected_agreement(a, share, &same) / (double)a->n;
    if (same) return;
    generator g = generator_for(a->d->o->seed, j);
    const int all = permutations_for((double)a->n);
    int higher = 0, drawn = 0;
    while (drawn < all && !hopeless(higher, all)) {
        for (size_t x = a->n; x > 1; x--) {
            const size_t y = below(&g, x);
            const uint16_t keep = a->label[x - 1];
            a->label[x - 1] = a->label[y];
            a->label[y] = keep;
        }
        drawn++;
        higher += agreement_of(a) >= seen - 1e-9;
    }
    to->p_chance = (1. + higher) / (1. + drawn);
}

static void list_answers(answers *a, size_t j)
{
    const size_t n_items = a->d->votes->n_items;
    a->n = 0;
    for (size_t i = 0; i < n_items; i++) {
        const int32_t answer = a->d->answer[j * n_items + i];
        if (answer < 0 || a->d->n_votes[i] == 0) continue;
        a->item[a->n] = (uint32_t)i;
        a->label[a->n++] = (uint16_t)answer;
    }
}

static dis_status test_judges(const dis__panel_data *d, dis_panel_judge *judges)
{
    answers a = {.d = d};
    double p[DIS_MAX_JUDGES], *share = NULL;
    dis_status status = dis__alloc_array(&a.item, d->votes->n_items, sizeof *a.item);
    if (status == DIS_OK) status = dis__alloc_array(&a.label, d->votes->n_items, sizeof *a.label);
    if (status == DIS_OK) status = dis__alloc_array(&share, d->votes->n_classes, sizeof *share);
    for (size_t j = 0; j < d->n_judges && status == DIS_OK; j++) {
        list_answers(&a, j);
        if (a.n >= DIS_PANEL_MIN_ITEMS) permute_judge(&a, j, share, &judges[j]);
        p[j] = judges[j].p_chance;
    }
    if (status == DIS_OK) status = dis__false_discovery(p, d->n_judges, false, p);
    for (size_t j = 0; j < d->n_judges && status == DIS_OK; j++) {
        judges[j].p_chance = p[j];
        judges[j].above_chance = p[j] <= JUDGE_LEVEL;
    }
    dis__free(a.item);
    dis__free(a.label);
    dis__free(share);
    return status;
}

dis_status dis__panel_test_chance(dis__panel_data *d, dis_panel_judge *judges, dis_panel_view *view)
{
    uint64_t most = 0;
    for (size_t j = 0; j < d->n_judges; j++) most = judges[j].shared > most ? judges[j].shared : most;
    view->p_people = NAN;
    if (most < DIS_PANEL_MIN_ITEMS)
        d->unknown = "fewer than 10 items have votes of people and of a judge, too few for results on judges";
    if (view->n_items_with_two >= DIS_PANEL_MIN_ITEMS) DIS_TRY(test_people(d, &view->p_people));
    if (!d->unknown && view->p_people > PEOPLE_LEVEL)
        d->unknown = "people agree with each other no more than chance, so there are no results on judges";
    if (!d->unknown) DIS_TRY(test_judges(d, judges));
    for (size_t j = 0; j < d->n_judges; j++) view->n_above += judges[j].above_chance;
    return DIS_OK;
}
