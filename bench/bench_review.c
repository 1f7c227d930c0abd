/* What following a review is worth: bench_review items|workers|honesty SEEDS [CROWD ...] simulates crowds whose truth is
 * known.
 *
 * items: every item starts with 3 votes; then votes are bought in batches of a tenth of the number of items, up to
 * twice that number, by each policy, and the labels that a label method gives are compared with the truth:
 *   random   any item
 *   fewest   items with the fewest votes
 *   shares   items with the highest entropy of vote shares
 *   doubt    items with the highest entropy of the method's posterior
 *   review   dis_review_run with the batch as its budget
 * Who votes on an item, and how, is fixed beforehand in an order of its own for each item: every policy that buys the
 * m-th vote of an item gets the same one. Workers differ in how often they come (the most active come some 20 times as
 * often as the least). Ties are broken at random.
 *
 * workers: how well rankings of workers find planted spammers: precision at k = the number of spammers, by the review,
 * by raw agreement with the majority, by the posterior quality of `dissent labels --workers`.
 *
 * honesty: whether a review's own figures can be believed, with 5 votes an item: the share of right labels it expects
 * and the true one, now and after a budget of one vote an item was spent as proposed; and how well `surprise` and `hard`
 * tell hard items (ease below 1) from the others (area under the ROC curve; 1/2 is chance).
 *
 * One CSV row a seed and point; tools/review_curve.py makes tables and the picture of docs/review.md. */
#include "dissent/dissent.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000, MOST_WORKERS = 200, FIRST = 3, QUEUE = 48, BATCHES = 20, BATCH = ITEMS / 10, MOST_CLASSES = 8 };
enum { MOST_VOTES = ITEMS * 5 + BATCHES * BATCH };

typedef struct {
    const char *name;
    size_t n_classes, n_workers;
    double accuracy, spread; /* of honest workers */
    double spammers;         /* share of workers who do not look; half of them always say the same */
    double top_class;        /* prior probability of class 0; 0: all classes alike */
    bool hard;               /* items differ in ease: odds to the power of 1/4 .. 4 */
    bool matrices;           /* workers differ by class and have a favourite mistake for each */
} crowd;

static const crowd crowds[] = {
    {.name = "good", .n_classes = 4, .n_workers = 60, .accuracy = .75, .spread = .1, .matrices = true},
    {.name = "spammers", .n_classes = 4, .n_workers = 60, .accuracy = .8, .spread = .1, .spammers = .35},
    {.name = "hard", .n_classes = 3, .n_workers = 60, .accuracy = .72, .spread = .1, .hard = true},
    {.name = "imbalanced",
     .n_classes = 2,
     .n_workers = 60,
     .accuracy = .8,
     .spread = .1,
     .spammers = .15,
     .top_class = .85},
};
enum { N_CROWDS = sizeof crowds / sizeof *crowds };

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* In (0, 1), a function of its arguments. */
static double uniform(uint64_t seed, uint64_t what, uint64_t a, uint64_t b)
{
    const uint64_t x = mix(mix(mix(mix(seed) ^ what) ^ a) ^ b);
    return ((double)(x >> 11) + .5) * 0x1p-53;
}

static double normal(uint64_t seed, uint64_t what, uint64_t a, uint64_t b)
{
    return sqrt(-2 * log(uniform(seed, what, a, 2 * b))) * cos(6.283185307179586 * uniform(seed, what, a, 2 * b + 1));
}

enum { TRUTH, EASE, SKILL, TILT, SPAM, FAVOURITE, ACTIVITY, ARRIVAL, VOTE, MISTAKE, TIE };

typedef struct {
    const crowd *c;
    uint64_t seed;
    uint32_t truth[ITEMS];
    double ease[ITEMS];
    bool spammer[MOST_WORKERS];
    uint16_t queue_worker[ITEMS][QUEUE], queue_label[ITEMS][QUEUE];
} world;

static uint32_t pick(double u, size_t n)
{
    const uint32_t k = (uint32_t)(u * (double)n);
    return k < n ? k : (uint32_t)(n - 1);
}

static uint16_t vote(const world *w, size_t item, size_t worker)
{
    const crowd *c = w->c;
    const size_t K = c->n_classes;
    const uint64_t s = w->seed;
    const uint32_t truth = w->truth[item];
    if (w->spammer[worker]) {
        const double u =
            uniform(s, SPAM, worker, 1) < .5 ? uniform(s, FAVOURITE, worker, 0) : uniform(s, VOTE, item, worker);
        return (uint16_t)pick(u, K);
    }
    double right = c->accuracy + c->spread * normal(s, SKILL, worker, 0);
    if (c->matrices) right += c->spread * normal(s, TILT, worker, truth);
    right = fmin(fmax(right, .5 / (double)K), .98);
    if (c->hard) {
        const double odds = pow(right / (1 - right), w->ease[item]);
        right = odds / (1 + odds);
    }
    if (uniform(s, VOTE, item, worker) < right) return (uint16_t)truth;
    const bool usual = c->matrices && uniform(s, MISTAKE, item, worker) < .5;
    const uint32_t k =
        pick(usual ? uniform(s, MISTAKE, 1u << 20, worker * 64 + truth) : uniform(s, MISTAKE, item, worker + 4096),
             K - 1);
    return (uint16_t)(k + (k >= truth));
}

typedef struct {
    double key;
    uint16_t worker;
} arrival;

static int by_key(const void *x, const void *y)
{
    const arrival *a = x, *b = y;
    return a->key < b->key ? -1 : a->key > b->key;
}

static void make_world(world *w, const crowd *c, uint64_t seed)
{
    static const double eases[] = {.25, .5, 1, 2, 4};
    w->c = c;
    w->seed = seed;
    double activity[MOST_WORKERS];
    for (size_t a = 0; a < c->n_workers; a++) {
        w->spammer[a] = uniform(seed, SPAM, a, 0) < c->spammers;
        activity[a] = exp(.8 * normal(seed, ACTIVITY, a, 0));
    }
    for (size_t i = 0; i < ITEMS; i++) {
        const double u = uniform(seed, TRUTH, i, 0);
        w->truth[i] = c->top_class == 0  ? pick(u, c->n_classes)
                      : u < c->top_class ? 0
                                         : 1 + pick((u - c->top_class) / (1 - c->top_class), c->n_classes - 1);
        w->ease[i] = eases[pick(uniform(seed, EASE, i, 0), 5)];
        arrival who[MOST_WORKERS];
        for (size_t a = 0; a < c->n_workers; a++)
            who[a] = (arrival){.key = -log(uniform(seed, ARRIVAL, i, a)) / activity[a], .worker = (uint16_t)a};
        qsort(who, c->n_workers, sizeof *who, by_key);
        for (size_t q = 0; q < QUEUE; q++) {
            w->queue_worker[i][q] = who[q].worker;
            w->queue_label[i][q] = vote(w, i, who[q].worker);
        }
    }
}

static int complain(void)
{
    fprintf(stderr, "%s\n", dis_last_error());
    exit(1);
}

static dis_votes *votes_of(const world *w, const size_t taken[ITEMS])
{
    static uint32_t task[MOST_VOTES], worker[MOST_VOTES];
    static uint16_t label[MOST_VOTES];
    size_t n = 0;
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t q = 0; q < taken[i]; q++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = w->queue_worker[i][q];
            label[n] = w->queue_label[i][q];
        }
    const dis_votes_arrays a = {.n_votes = n,
                                .n_items = ITEMS,
                                .n_workers = w->c->n_workers,
                                .n_classes = w->c->n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    if (dis_votes_from_arrays(NULL, &a, &votes) != DIS_OK) complain();
    return votes;
}

static void fit(const dis_votes *votes, const char *method, double *p)
{
    const dis_votes_view v = dis_votes_look(votes);
    dis_fit *f;
    if (dis_fit_run(NULL, votes, method, NULL, &f) != DIS_OK) complain();
    memcpy(p, dis_fit_p(f), v.n_items * v.n_classes * sizeof *p);
    dis_fit_destroy(f);
}

static double accuracy(const world *w, const double *p)
{
    size_t right = 0;
    for (size_t i = 0; i < ITEMS; i++) right += dis_argmax(p + i * w->c->n_classes, w->c->n_classes) == w->truth[i];
    return (double)right / ITEMS;
}

/* ---- policies ---- */

typedef struct {
    double score;
    double tie;
    size_t item;
} choice;

static int by_score(const void *x, const void *y)
{
    const choice *a = x, *b = y;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->tie < b->tie ? -1 : a->tie > b->tie;
}

static double share_entropy(const world *w, size_t i, size_t n)
{
    double p[MOST_CLASSES] = {0};
    for (size_t q = 0; q < n; q++) p[w->queue_label[i][q]] += 1 / (double)n;
    return dis_entropy(p, w->c->n_classes);
}

/* One vote each for the BATCH items of the highest score. */
static void buy_best(const world *w, const char *policy, const dis_votes *votes, const char *method, size_t round,
                     size_t taken[ITEMS])
{
    static double p[ITEMS * MOST_CLASSES];
    choice c[ITEMS];
    const size_t K = w->c->n_classes;
    if (strcmp(policy, "doubt") == 0) fit(votes, method, p);
    for (size_t i = 0; i < ITEMS; i++) {
        c[i] = (choice){.tie = uniform(w->seed, TIE, round, i), .item = i};
        if (strcmp(policy, "fewest") == 0) c[i].score = -(double)taken[i];
        if (strcmp(policy, "shares") == 0) c[i].score = share_entropy(w, i, taken[i]);
        if (strcmp(policy, "doubt") == 0) c[i].score = dis_entropy(p + i * K, K);
    }
    qsort(c, ITEMS, sizeof *c, by_score);
    for (size_t n = 0, r = 0; n < BATCH && r < ITEMS; r++) {
        if (taken[c[r].item] == QUEUE) continue;
        taken[c[r].item]++;
        n++;
    }
}

static void buy_by_review(const dis_votes *votes, size_t taken[ITEMS])
{
    dis_review_options o = dis_review_options_default();
    o.budget = BATCH;
    dis_review *review;
    if (dis_review_run(NULL, votes, &o, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_look(review);
    for (size_t r = 0; r < v.n_items; r++) {
        size_t *t = taken + v.items[r].item;
        *t += v.items[r].buy;
        if (*t > QUEUE) *t = QUEUE;
    }
    dis_review_destroy(review);
}

static double review_accuracy(const world *w, const dis_votes *votes)
{
    dis_review *review;
    size_t right = 0;
    if (dis_review_run(NULL, votes, NULL, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_look(review);
    for (size_t r = 0; r < v.n_items; r++) right += v.items[r].label == w->truth[v.items[r].item];
    dis_review_destroy(review);
    return (double)right / ITEMS;
}

static void run_policy(const world *w, const char *policy)
{
    static const char *const judges[] = {"majority", "one-coin", "dawid-skene", "ibcc"};
    static double p[ITEMS * MOST_CLASSES];
    size_t taken[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) taken[i] = FIRST;
    for (size_t round = 0;; round++) {
        dis_votes *votes = votes_of(w, taken);
        for (size_t j = 0; j < sizeof judges / sizeof *judges; j++) {
            fit(votes, judges[j], p);
            printf("%s,%s,%s,%llu,%zu,%.4f\n", w->c->name, policy, judges[j], (unsigned long long)w->seed,
                   round * BATCH, accuracy(w, p));
        }
        printf("%s,%s,review,%llu,%zu,%.4f\n", w->c->name, policy, (unsigned long long)w->seed, round * BATCH,
               review_accuracy(w, votes));
        if (round < BATCHES) {
            if (strcmp(policy, "review") == 0)
                buy_by_review(votes, taken);
            else
                buy_best(w, policy, votes, "one-coin", round, taken);
        }
        dis_votes_destroy(votes);
        if (round == BATCHES) return;
    }
}

/* ---- workers ---- */

static double precision(const world *w, const double *suspicion)
{
    choice c[MOST_WORKERS];
    size_t n_spammers = 0, found = 0;
    for (size_t a = 0; a < w->c->n_workers; a++) {
        n_spammers += w->spammer[a];
        c[a] = (choice){.score = suspicion[a], .tie = uniform(w->seed, TIE, 99, a), .item = a};
    }
    qsort(c, w->c->n_workers, sizeof *c, by_score);
    for (size_t r = 0; r < n_spammers; r++) found += w->spammer[c[r].item];
    return n_spammers ? (double)found / (double)n_spammers : NAN;
}

static void rank_workers(const world *w)
{
    static double p[ITEMS * MOST_CLASSES];
    size_t taken[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) taken[i] = FIRST;
    dis_votes *votes = votes_of(w, taken);
    double suspicion[MOST_WORKERS], quality[MOST_WORKERS];
    static const char *const judges[] = {"majority", "one-coin", "dawid-skene"};
    for (size_t j = 0; j < 3; j++) {
        fit(votes, judges[j], p);
        if (dis_worker_quality(NULL, votes, p, quality, NULL) != DIS_OK) complain();
        for (size_t a = 0; a < w->c->n_workers; a++) suspicion[a] = -quality[a];
        printf("%s,%s,%llu,%.4f\n", w->c->name, judges[j], (unsigned long long)w->seed, precision(w, suspicion));
    }
    dis_review *review;
    if (dis_review_run(NULL, votes, NULL, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_look(review);
    for (size_t r = 0; r < v.n_workers; r++) suspicion[v.workers[r].worker] = -(double)r;
    printf("%s,review,%llu,%.4f\n", w->c->name, (unsigned long long)w->seed, precision(w, suspicion));
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* ---- honesty ---- */

/* Area under the ROC curve of `score` for items of ease below 1. */
static double area(const world *w, const double *score)
{
    double wins = 0, pairs = 0;
    for (size_t a = 0; a < ITEMS; a++)
        for (size_t b = 0; b < ITEMS && w->ease[a] < 1; b++) {
            if (w->ease[b] < 1) continue;
            wins += score[a] > score[b] ? 1 : score[a] == score[b] ? .5 : 0;
            pairs++;
        }
    return pairs > 0 ? wins / pairs : NAN;
}

static void judge_review(const world *w)
{
    enum { VOTES = 5 };
    static double surprise[ITEMS], hard[ITEMS];
    size_t taken[ITEMS], right = 0;
    for (size_t i = 0; i < ITEMS; i++) taken[i] = VOTES;
    dis_votes *votes = votes_of(w, taken);
    dis_review_options o = dis_review_options_default();
    o.budget = ITEMS;
    dis_review *review;
    if (dis_review_run(NULL, votes, &o, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_look(review);
    for (size_t r = 0; r < v.n_items; r++) {
        const dis_review_item *x = &v.items[r];
        right += x->label == w->truth[x->item];
        surprise[x->item] = x->surprise;
        hard[x->item] = x->hard;
        taken[x->item] += x->buy;
    }
    const double before = v.right, after = v.right_after;
    dis_review_destroy(review);
    dis_votes_destroy(votes);
    votes = votes_of(w, taken);
    printf("%s,%llu,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", w->c->name, (unsigned long long)w->seed, before,
           (double)right / ITEMS, after, review_accuracy(w, votes), w->c->hard ? area(w, surprise) : NAN,
           w->c->hard ? area(w, hard) : NAN);
    dis_votes_destroy(votes);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"items", "workers", "honesty"};
    static const char *const heads[] = {"crowd,policy,labels,seed,bought,accuracy", "crowd,ranking,seed,precision",
                                        "crowd,seed,expected,right,expected_after,right_after,surprise_area,hard_area"};
    size_t mode = 0;
    while (mode < 3 && (argc < 3 || strcmp(argv[1], modes[mode]) != 0)) mode++;
    if (mode == 3) {
        fprintf(stderr, "usage: bench_review items|workers|honesty SEEDS [CROWD ...]\n");
        return 2;
    }
    static const char *const policies[] = {"random", "fewest", "shares", "doubt", "review"};
    static world w;
    puts(heads[mode]);
    for (size_t c = 0; c < N_CROWDS; c++) {
        bool wanted = argc == 3;
        for (int a = 3; a < argc; a++) wanted |= strcmp(argv[a], crowds[c].name) == 0;
        for (uint64_t seed = 0; wanted && seed < strtoull(argv[2], NULL, 10); seed++) {
            make_world(&w, &crowds[c], seed);
            if (mode == 1 && crowds[c].spammers > 0) rank_workers(&w);
            if (mode == 2) judge_review(&w);
            for (size_t p = 0; mode == 0 && p < sizeof policies / sizeof *policies; p++) run_policy(&w, policies[p]);
        }
    }
    return 0;
}
