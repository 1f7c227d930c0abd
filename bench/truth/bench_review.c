/* What following a review is worth: bench_review items|workers|honesty SEEDS [CROWD ...] simulates crowds whose truth
 * is known.
 *
 * items: every item starts with 3 votes; then votes are bought in batches of a tenth of the number of items, up to
 * twice that number, by each policy, and the labels that a label method gives are compared with the truth:
 *   random   any item
 *   fewest   items with the fewest votes
 *   shares   items with the highest entropy of vote shares
 *   doubt    items with the highest entropy of the method's posterior
 *   review   dis_review_run with the batch as its budget
 * Who votes on an item, and how, is fixed beforehand in an order of its own for each item: every policy that buys the
 * m-th vote of an item gets the same one. Workers differ in how often they come (the most active come some 40 times as
 * often as the least). Ties are broken at random.
 *
 * workers: how well rankings of workers find planted spammers: precision at k = the number of spammers, by the review,
 * by raw agreement with the majority, by the posterior quality of `dissent labels --workers`.
 *
 * honesty: whether a review's own figures can be believed, with 5 votes per item: the share of right labels it expects
 * and the true one, now and after a budget of one vote an item was spent as proposed; and how well `surprise` and
 * `hard` tell hard items (ease below 1) from the others (area under the ROC curve; 1/2 is chance).
 *
 * file SEEDS NAME VOTES GOLD: as items, but the votes are those of a file, each item's in an order drawn by the seed,
 * and the votes beyond the first three are what can be bought (at most 1,000 items with gold and three votes).
 *
 * One CSV row per seed and point; tools/docs/review_curve.py makes tables and the picture of
 * docs/evidence/review.md. */
#include "dissent/dissent.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000, MAX_WORKERS = 1024, FIRST = 3, QUEUE = 48, BATCHES = 20, MAX_CLASSES = 8 };
enum { MAX_VOTES = ITEMS * QUEUE };

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
    size_t n_items, batch; /* batch: votes bought at a time, a tenth of the items */
    size_t length[ITEMS];  /* of each item's queue */
    uint32_t truth[ITEMS];
    double ease[ITEMS];
    bool spammer[MAX_WORKERS];
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
    w->n_items = ITEMS;
    w->batch = ITEMS / 10;
    double activity[MAX_WORKERS];
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
        arrival who[MAX_WORKERS];
        for (size_t a = 0; a < c->n_workers; a++)
            who[a] = (arrival){.key = -log(uniform(seed, ARRIVAL, i, a)) / activity[a], .worker = (uint16_t)a};
        qsort(who, c->n_workers, sizeof *who, by_key);
        w->length[i] = QUEUE;
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

static dis_votes *votes_of(const world *w, const size_t n_votes_of[ITEMS])
{
    static uint32_t task[MAX_VOTES], worker[MAX_VOTES];
    static uint16_t label[MAX_VOTES];
    size_t n = 0;
    for (size_t i = 0; i < w->n_items; i++)
        for (size_t q = 0; q < n_votes_of[i]; q++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = w->queue_worker[i][q];
            label[n] = w->queue_label[i][q];
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = w->n_items,
                                .n_workers = w->c->n_workers,
                                .n_classes = w->c->n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) complain();
    return votes;
}

static void fit(const dis_votes *votes, const char *method, double *p)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_fit *f;
    if (dis_fit_run(NULL, votes, method, NULL, &f) != DIS_OK) complain();
    memcpy(p, dis_fit_p(f), v.n_items * v.n_classes * sizeof *p);
    dis_fit_destroy(f);
}

static double accuracy(const world *w, const double *p)
{
    size_t right = 0;
    for (size_t i = 0; i < w->n_items; i++)
        right += dis__argmax(p + i * w->c->n_classes, w->c->n_classes) == w->truth[i];
    return (double)right / (double)w->n_items;
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
    double p[MAX_CLASSES] = {0};
    for (size_t q = 0; q < n; q++) p[w->queue_label[i][q]] += 1 / (double)n;
    return dis__entropy(p, w->c->n_classes);
}

/* One vote each for the batch of items of the highest score. */
static void buy_best(const world *w, const char *policy, const dis_votes *votes, const char *method, size_t round,
                     size_t n_votes_of[ITEMS])
{
    static double p[ITEMS * MAX_CLASSES];
    choice c[ITEMS];
    const size_t K = w->c->n_classes;
    if (strcmp(policy, "doubt") == 0) fit(votes, method, p);
    for (size_t i = 0; i < w->n_items; i++) {
        c[i] = (choice){.tie = uniform(w->seed, TIE, round, i), .item = i};
        if (strcmp(policy, "fewest") == 0) c[i].score = -(double)n_votes_of[i];
        if (strcmp(policy, "shares") == 0) c[i].score = share_entropy(w, i, n_votes_of[i]);
        if (strcmp(policy, "doubt") == 0) c[i].score = dis__entropy(p + i * K, K);
    }
    qsort(c, w->n_items, sizeof *c, by_score);
    for (size_t n = 0, r = 0; n < w->batch && r < w->n_items; r++) {
        if (n_votes_of[c[r].item] == w->length[c[r].item]) continue;
        n_votes_of[c[r].item]++;
        n++;
    }
}

static void buy_by_review(const world *w, const dis_votes *votes, size_t n_votes_of[ITEMS])
{
    dis_review_options o = dis_review_options_default();
    o.budget = w->batch;
    dis_review *review;
    if (dis_review_run(NULL, votes, &o, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_get_view(review);
    for (size_t r = 0; r < v.n_items; r++) {
        size_t *t = n_votes_of + v.items[r].item;
        *t += v.items[r].votes_to_buy;
        if (*t > w->length[v.items[r].item]) *t = w->length[v.items[r].item]; /* no one is left to ask: votes lost */
    }
    dis_review_destroy(review);
}

static double review_accuracy(const world *w, const dis_votes *votes)
{
    dis_review *review;
    size_t right = 0;
    if (dis_review_run(NULL, votes, NULL, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_get_view(review);
    for (size_t r = 0; r < v.n_items; r++) right += v.items[r].label == w->truth[v.items[r].item];
    dis_review_destroy(review);
    return (double)right / (double)w->n_items;
}

/* The tables of docs/evidence/review.md are of the reference rules, under the methods' names. */
#define ONE_COIN    "one-coin:prior=estimate,smoothing=0"
#define DAWID_SKENE "dawid-skene:smoothing=0"

static int name_length(const char *spec)
{
    return (int)strcspn(spec, ":");
}

static void run_policy(const world *w, const char *policy)
{
    static const char *const judges[] = {"majority", ONE_COIN, DAWID_SKENE, "ibcc"};
    static double p[ITEMS * MAX_CLASSES];
    size_t n_votes_of[ITEMS];
    for (size_t i = 0; i < w->n_items; i++) n_votes_of[i] = FIRST < w->length[i] ? FIRST : w->length[i];
    for (size_t round = 0;; round++) {
        dis_votes *votes = votes_of(w, n_votes_of);
        for (size_t j = 0; j < sizeof judges / sizeof *judges; j++) {
            fit(votes, judges[j], p);
            printf("%s,%s,%.*s,%llu,%zu,%.4f\n", w->c->name, policy, name_length(judges[j]), judges[j],
                   (unsigned long long)w->seed, round * w->batch, accuracy(w, p));
        }
        printf("%s,%s,review,%llu,%zu,%.4f\n", w->c->name, policy, (unsigned long long)w->seed, round * w->batch,
               review_accuracy(w, votes));
        if (round < BATCHES) {
            if (strcmp(policy, "review") == 0)
                buy_by_review(w, votes, n_votes_of);
            else
                buy_best(w, policy, votes, ONE_COIN, round, n_votes_of);
        }
        dis_votes_destroy(votes);
        if (round == BATCHES) return;
    }
}

/* ---- workers ---- */

static double precision(const world *w, const double *suspicion)
{
    choice c[MAX_WORKERS];
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
    static double p[ITEMS * MAX_CLASSES];
    size_t n_votes_of[ITEMS];
    for (size_t i = 0; i < w->n_items; i++) n_votes_of[i] = FIRST < w->length[i] ? FIRST : w->length[i];
    dis_votes *votes = votes_of(w, n_votes_of);
    double suspicion[MAX_WORKERS], quality[MAX_WORKERS];
    static const char *const judges[] = {"majority", ONE_COIN, DAWID_SKENE};
    for (size_t j = 0; j < 3; j++) {
        fit(votes, judges[j], p);
        if (dis_votes_worker_quality(NULL, votes, p, quality, NULL) != DIS_OK) complain();
        for (size_t a = 0; a < w->c->n_workers; a++) suspicion[a] = -quality[a];
        printf("%s,%.*s,%llu,%.4f\n", w->c->name, name_length(judges[j]), judges[j], (unsigned long long)w->seed,
               precision(w, suspicion));
    }
    dis_review *review;
    if (dis_review_run(NULL, votes, NULL, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_get_view(review);
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
    for (size_t a = 0; a < w->n_items; a++)
        for (size_t b = 0; b < w->n_items && w->ease[a] < 1; b++) {
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
    size_t n_votes_of[ITEMS], right = 0;
    for (size_t i = 0; i < w->n_items; i++) n_votes_of[i] = VOTES;
    dis_votes *votes = votes_of(w, n_votes_of);
    dis_review_options o = dis_review_options_default();
    o.budget = w->n_items;
    dis_review *review;
    if (dis_review_run(NULL, votes, &o, &review) != DIS_OK) complain();
    const dis_review_view v = dis_review_get_view(review);
    for (size_t r = 0; r < v.n_items; r++) {
        const dis_review_item *x = &v.items[r];
        right += x->label == w->truth[x->item];
        surprise[x->item] = x->surprise;
        hard[x->item] = x->p_hard;
        n_votes_of[x->item] += x->votes_to_buy;
    }
    const double before = v.expected_accuracy, after = v.expected_accuracy_after;
    dis_review_destroy(review);
    dis_votes_destroy(votes);
    votes = votes_of(w, n_votes_of);
    printf("%s,%llu,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", w->c->name, (unsigned long long)w->seed, before,
           (double)right / (double)w->n_items, after, review_accuracy(w, votes), w->c->hard ? area(w, surprise) : NAN,
           w->c->hard ? area(w, hard) : NAN);
    dis_votes_destroy(votes);
}

/* ---- real votes ---- */

/* The votes of a file on items whose truth is known, each item's in an order drawn by the seed. */
static void real_world(world *w, const crowd *c, const dis_votes *votes, const int32_t *gold, uint64_t seed)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    w->c = c;
    w->seed = seed;
    w->n_items = 0;
    for (size_t i = 0; i < v.n_items && w->n_items < ITEMS; i++) {
        const size_t to = w->n_items,
                     n = (size_t)(v.start[i + 1] - v.start[i]) < QUEUE ? (size_t)(v.start[i + 1] - v.start[i]) : QUEUE;
        arrival order[QUEUE];
        if (gold[i] < 0 || n < FIRST) continue;
        for (size_t q = 0; q < n; q++) order[q] = (arrival){.key = uniform(seed, ARRIVAL, i, q), .worker = (uint16_t)q};
        qsort(order, n, sizeof *order, by_key);
        for (size_t q = 0; q < n; q++) {
            w->queue_worker[to][q] = (uint16_t)v.worker[v.start[i] + order[q].worker];
            w->queue_label[to][q] = v.label8[v.start[i] + order[q].worker];
        }
        w->truth[to] = (uint32_t)gold[i];
        w->length[to] = n;
        w->n_items++;
    }
    w->batch = w->n_items / 10;
}

static int run_file(world *w, uint64_t seeds, char **argv, const char *const *policies, size_t n_policies)
{
    dis_votes_options how = dis_votes_options_default();
    how.duplicates = DIS_DUPLICATES_FIRST;
    dis_votes *votes;
    const char *path = argv[1];
    if (dis_votes_read(NULL, &path, 1, &how, &votes) != DIS_OK) complain();
    const dis_votes_view v = dis_votes_get_view(votes);
    const crowd c = {.name = argv[0], .n_classes = v.n_classes, .n_workers = v.n_workers};
    int32_t *gold = malloc((v.n_items + 1) * sizeof *gold);
    if (!gold || v.n_classes > MAX_CLASSES || v.n_workers > MAX_WORKERS) {
        fprintf(stderr, "%s: at most %d classes and %d workers\n", path, MAX_CLASSES, MAX_WORKERS);
        return 5;
    }
    if (dis_votes_read_gold(NULL, argv[2], NULL, votes, gold, NULL) != DIS_OK) complain();
    for (uint64_t seed = 0; seed < seeds; seed++) {
        real_world(w, &c, votes, gold, seed);
        for (size_t p = 0; p < n_policies; p++) run_policy(w, policies[p]);
    }
    free(gold);
    dis_votes_destroy(votes);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"items", "workers", "honesty", "file"};
    static const char *const heads[] = {"crowd,policy,labels,seed,bought,accuracy", "crowd,ranking,seed,precision",
                                        "crowd,seed,expected,right,expected_after,right_after,surprise_area,hard_area",
                                        "crowd,policy,labels,seed,bought,accuracy"};
    size_t mode = 0;
    while (mode < 4 && (argc < 3 || strcmp(argv[1], modes[mode]) != 0)) mode++;
    if (mode == 4 || (mode == 3 && argc != 6)) {
        fprintf(stderr, "usage: bench_review items|workers|honesty SEEDS [CROWD ...], or file SEEDS NAME VOTES GOLD\n");
        return 2;
    }
    static const char *const policies[] = {"random", "fewest", "shares", "doubt", "review"};
    static world w;
    const size_t n_policies = sizeof policies / sizeof *policies;
    puts(heads[mode]);
    if (mode == 3) return run_file(&w, strtoull(argv[2], NULL, 10), argv + 3, policies, n_policies);
    for (size_t c = 0; c < N_CROWDS; c++) {
        bool wanted = argc == 3;
        for (int a = 3; a < argc; a++) wanted |= strcmp(argv[a], crowds[c].name) == 0;
        for (uint64_t seed = 0; wanted && seed < strtoull(argv[2], NULL, 10); seed++) {
            make_world(&w, &crowds[c], seed);
            if (mode == 1 && crowds[c].spammers > 0) rank_workers(&w);
            if (mode == 2) judge_review(&w);
            for (size_t p = 0; mode == 0 && p < n_policies; p++) run_policy(&w, policies[p]);
        }
    }
    return 0;
}
