/* Why a vote differs from the label of its item: a slip, another reading of the item, or the view of a group.
 *
 * An annotator w slips with probability l_w and then answers d_w, whatever the item is; otherwise the answer follows the
 * readings q_i of the item. An item is of one of these kinds:
 *
 *     single     one reading: q_i is 1 for a class
 *     pair       two readings, the smaller one of at least a tenth of attentive annotators: q_i = (t, 1 - t),
 *                t = .1, .2, ... .9 with equal probabilities
 *     open       any reading: q_i is the share of classes
 *     divided    each group of annotators has one reading, and not all have the same (if groups are given)
 *
 * Classes have shares c, drawn independently for the readings of an item. EM estimates l (prior Beta with the mean of
 * all annotators and the weight of 10 votes), d (prior uniform, 5 votes), c and the shares of the kinds; given these,
 * the posterior of kind, t and slips is exact. What tells slips from readings is that slips of several annotators
 * rarely meet on a class, and that some annotators slip on items that all others agree on. Where neither shows in the
 * votes, probabilities stay near the shares of the crowd.
 *
 * Cost of an iteration: votes of an item x (classes it got)^2 x 9, summed over items. */
#include "review/review_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

enum { KINDS = 4, NODES = 9, MAX_ITERATIONS = 300 };
enum { SINGLE, PAIR, OPEN, DIVIDED };

static const double RATE_WEIGHT = 10, ANSWER_WEIGHT = 5, KIND_WEIGHT = 1, TOLERANCE = 1e-9;

typedef struct {
    const dis_votes_view *v;
    const int32_t *group; /* (n_workers), -1: in none; NULL: no groups */
    size_t n_groups, K, longest;
    double kind[KINDS], *share, *rate, *answer; /* (K), (n_workers), (n_workers, K) */
    double *slip_sum, *answer_sum, *share_sum, kind_sum[KINDS];
    double total_slips;
    /* of one item */
    double *slip;               /* (longest) probability of a slip's answer: l d */
    double *p_slip, *p_divided; /* (longest) posterior: a slip; attentive in a divided item */
    double *q;                  /* (K) posterior mean of the readings */
    uint32_t *seen;             /* classes of the votes */
    size_t n_seen;
    double *by_group, *product; /* (n_groups, K), (n_groups) of a divided item */
} causes;

static size_t label_of(const causes *x, uint64_t v)
{
    return x->v->label8 ? x->v->label8[v] : x->v->label16[v];
}

/* Likelihood of the item's votes when class k has reading share q[k] among the two given; others 0. */
typedef struct {
    size_t k, l;
    double t; /* of k; 1 - t of l; l SIZE_MAX: a class that no vote has */
} reading;

static double share_of_reading(const causes *x, const reading *r, size_t label)
{
    if (r->k == SIZE_MAX) return x->share[label]; /* open */
    return label == r->k ? r->t : label == r->l ? 1 - r->t : 0;
}

/* Long double: an item may have thousands of votes. */
static long double likelihood(const causes *x, uint64_t from, uint64_t to, const reading *r)
{
    long double product = 1;
    for (uint64_t v = from; v < to; v++) {
        const double rate = x->rate[x->v->worker[v]];
        product *= (1 - rate) * share_of_reading(x, r, label_of(x, v)) + x->slip[v - from];
    }
    return product;
}

/* Adds a component with posterior weight p: slips, readings. */
static void add_reading(causes *x, uint64_t from, uint64_t to, const reading *r, double p, double unseen)
{
    for (uint64_t v = from; v < to; v++) {
        const double rate = x->rate[x->v->worker[v]], slip = x->slip[v - from];
        const double attentive = (1 - rate) * share_of_reading(x, r, label_of(x, v));
        if (slip + attentive > 0) x->p_slip[v - from] += p * slip / (slip + attentive);
    }
    if (r->k == SIZE_MAX) {
        for (size_t k = 0; k < x->K; k++) x->q[k] += p * x->share[k];
        return;
    }
    x->q[r->k] += p * r->t;
    x->share_sum[r->k] += p;
    if (r->t == 1) return;
    if (r->l != SIZE_MAX) {
        x->q[r->l] += p * (1 - r->t);
        x->share_sum[r->l] += p;
        return;
    }
    for (size_t k = 0; k < x->K && unseen > 0; k++) { /* the other reading is one that nobody chose */
        bool is_seen = false;
        for (size_t i = 0; i < x->n_seen; i++) is_seen = is_seen || x->seen[i] == k;
        if (is_seen) continue;
        x->q[k] += p * (1 - r->t) * x->share[k] / unseen;
        x->share_sum[k] += p * x->share[k] / unseen;
    }
}

static double find_seen(causes *x, uint64_t from, uint64_t to)
{
    double unseen = 1;
    x->n_seen = 0;
    for (uint64_t v = from; v < to; v++) {
        const uint32_t label = (uint32_t)label_of(x, v);
        bool is_new = true;
        for (size_t i = 0; i < x->n_seen; i++) is_new = is_new && x->seen[i] != label;
        if (!is_new) continue;
        x->seen[x->n_seen++] = label;
        unseen -= x->share[label];
    }
    return unseen > 1e-12 ? unseen : 0;
}

/* Likelihoods of each group's votes for each single reading; false: fewer than two groups voted. */
static bool prepare_groups(causes *x, uint64_t from, uint64_t to)
{
    size_t n_voted = 0;
    if (!x->group) return false;
    for (size_t g = 0; g < x->n_groups; g++) x->product[g] = 0;
    for (uint64_t v = from; v < to; v++)
        if (x->group[x->v->worker[v]] >= 0) x->product[x->group[x->v->worker[v]]] = 1;
    for (size_t g = 0; g < x->n_groups; g++) n_voted += x->product[g] > 0;
    if (n_voted < 2) return false;
    for (size_t i = 0; i < x->n_groups * x->K; i++) x->by_group[i] = 1;
    for (uint64_t v = from; v < to; v++) {
        const int32_t g = x->group[x->v->worker[v]];
        if (g < 0) continue;
        for (size_t k = 0; k < x->K; k++)
            x->by_group[(size_t)g * x->K + k] *=
                x->slip[v - from] + (label_of(x, v) == k ? 1 - x->rate[x->v->worker[v]] : 0);
    }
    return true;
}

/* Of votes of no group, in a divided item: the share of classes. */
static double ungrouped(const causes *x, uint64_t from, uint64_t to)
{
    const reading open = {.k = SIZE_MAX};
    double product = 1;
    for (uint64_t v = from; v < to; v++)
        if (x->group[x->v->worker[v]] < 0)
            product *= (1 - x->rate[x->v->worker[v]]) * share_of_reading(x, &open, label_of(x, v)) + x->slip[v - from];
    return product;
}

/* Likelihood that groups have single readings, not all the same. */
static double divided_likelihood(const causes *x, uint64_t from, uint64_t to)
{
    double all = 1, same = 0, prior_same = 0;
    for (size_t g = 0; g < x->n_groups; g++) {
        double sum = 0;
        for (size_t k = 0; k < x->K && x->product[g] > 0; k++) sum += x->share[k] * x->by_group[g * x->K + k];
        if (x->product[g] > 0) all *= sum;
    }
    for (size_t k = 0; k < x->K; k++) {
        double product = 1, prior = 1;
        for (size_t g = 0; g < x->n_groups; g++) {
            if (!(x->product[g] > 0)) continue;
            product *= x->share[k] * x->by_group[g * x->K + k];
            prior *= x->share[k];
        }
        same += product;
        prior_same += prior;
    }
    return prior_same < 1 - 1e-9 ? ungrouped(x, from, to) * fmax(0, all - same) / (1 - prior_same) : 0;
}

/* Adds a divided item with posterior weight p. */
static void add_divided(causes *x, uint64_t from, uint64_t to, double p)
{
    double weight = 0;
    for (size_t g = 0; g < x->n_groups; g++) {
        if (!(x->product[g] > 0)) continue;
        double total = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < x->K; k++) {
                double others = 1, same = 1;
                for (size_t h = 0; h < x->n_groups; h++) {
                    if (h == g || !(x->product[h] > 0)) continue;
                    double sum = 0;
                    for (size_t l = 0; l < x->K; l++) sum += x->share[l] * x->by_group[h * x->K + l];
                    others *= sum;
                    same *= x->share[k] * x->by_group[h * x->K + k];
                }
                const double joint = x->share[k] * x->by_group[g * x->K + k] * fmax(0, others - same);
                if (pass == 0) {
                    total += joint;
                    continue;
                }
                if (!(total > 0)) continue;
                const double own = p * joint / total;
                x->share_sum[k] += own;
                for (uint64_t v = from; v < to; v++) {
                    if (x->group[x->v->worker[v]] != (int32_t)g) continue;
                    const double slip = x->slip[v - from];
                    const double attentive = label_of(x, v) == k ? 1 - x->rate[x->v->worker[v]] : 0;
                    x->q[k] += own * attentive / (slip + attentive);
                    weight += own * attentive / (slip + attentive);
                    x->p_slip[v - from] += own * slip / (slip + attentive);
                    x->p_divided[v - from] += own * attentive / (slip + attentive);
                }
            }
    }
    for (uint64_t v = from; v < to; v++) {
        if (x->group[x->v->worker[v]] >= 0) continue;
        const double slip = x->slip[v - from], attentive = (1 - x->rate[x->v->worker[v]]) * x->share[label_of(x, v)];
        x->p_slip[v - from] += p * slip / (slip + attentive);
    }
    if (weight > 0) /* readings of a divided item are those of its attentive votes: they sum to p */
        for (uint64_t v = from; v < to; v++) x->q[label_of(x, v)] += x->p_divided[v - from] * (p / weight - 1);
}

/* Visits every component of item i: its likelihood times its prior; with `total`, adds it with its posterior. */
static long double visit(causes *x, uint64_t from, uint64_t to, double unseen, double different, bool divided,
                         long double total)
{
    long double sum = 0;
    reading r = {.t = 1, .l = SIZE_MAX};
    for (size_t i = 0; i < x->n_seen; i++) {
        r.k = x->seen[i];
        const long double p = x->kind[SINGLE] * x->share[r.k] * likelihood(x, from, to, &r);
        sum += p;
        if (total > 0)
            add_reading(x, from, to, &r, (double)(p / total), unseen), x->kind_sum[SINGLE] += (double)(p / total);
    }
    for (size_t i = 0; i < x->n_seen; i++)
        for (size_t j = i + 1; j <= x->n_seen; j++) {
            const bool other = j == x->n_seen;
            const double share = other ? unseen : x->share[x->seen[j]];
            if (!(share > 0)) continue;
            r.k = x->seen[i];
            r.l = other ? SIZE_MAX : x->seen[j];
            for (int node = 1; node <= NODES; node++) {
                r.t = .1 * node;
                const long double p =
                    x->kind[PAIR] * 2 * x->share[r.k] * share / different / NODES * likelihood(x, from, to, &r);
                sum += p;
                if (total > 0)
                    add_reading(x, from, to, &r, (double)(p / total), unseen), x->kind_sum[PAIR] += (double)(p / total);
            }
        }
    r = (reading){.k = SIZE_MAX};
    const long double open = x->kind[OPEN] * likelihood(x, from, to, &r);
    sum += open;
    if (total > 0)
        add_reading(x, from, to, &r, (double)(open / total), unseen), x->kind_sum[OPEN] += (double)(open / total);
    const long double apart = divided ? x->kind[DIVIDED] * divided_likelihood(x, from, to) : 0;
    sum += apart;
    if (total > 0 && apart > 0)
        add_divided(x, from, to, (double)(apart / total)), x->kind_sum[DIVIDED] += (double)(apart / total);
    return sum;
}

/* Posterior of item i; its log-likelihood. */
static double expect_item(causes *x, size_t i)
{
    const uint64_t from = x->v->start[i], to = x->v->start[i + 1];
    double different = 1;
    if (from == to) return 0;
    for (size_t k = 0; k < x->K; k++) different -= x->share[k] * x->share[k];
    if (!(different > 1e-12)) different = 1e-12;
    for (uint64_t v = from; v < to; v++) {
        const size_t w = x->v->worker[v];
        x->slip[v - from] = x->rate[w] * x->answer[w * x->K + label_of(x, v)];
        x->p_slip[v - from] = x->p_divided[v - from] = 0;
    }
    memset(x->q, 0, x->K * sizeof *x->q);
    const double unseen = find_seen(x, from, to);
    const bool divided = prepare_groups(x, from, to);
    const long double total = visit(x, from, to, unseen, different, divided, 0);
    if (!(total > 0)) return 0;
    visit(x, from, to, unseen, different, divided, total);
    for (uint64_t v = from; v < to; v++) {
        const size_t w = x->v->worker[v];
        x->slip_sum[w] += x->p_slip[v - from];
        x->answer_sum[w * x->K + label_of(x, v)] += x->p_slip[v - from];
        x->total_slips += x->p_slip[v - from];
    }
    return (double)logl(total);
}

static double expect(causes *x)
{
    const size_t W = x->v->n_workers;
    double sum = 0;
    memset(x->slip_sum, 0, W * sizeof *x->slip_sum);
    memset(x->answer_sum, 0, W * x->K * sizeof *x->answer_sum);
    memset(x->share_sum, 0, x->K * sizeof *x->share_sum);
    memset(x->kind_sum, 0, sizeof x->kind_sum);
    x->total_slips = 0;
    for (size_t i = 0; i < x->v->n_items; i++) sum += expect_item(x, i);
    return sum;
}

static void maximise(causes *x, const uint64_t *n_votes)
{
    double kinds = 0, shares = 0;
    const double mean = fmax(1e-4, x->total_slips / (double)x->v->n_votes);
    for (size_t w = 0; w < x->v->n_workers; w++) {
        x->rate[w] = (x->slip_sum[w] + RATE_WEIGHT * mean) / ((double)n_votes[w] + RATE_WEIGHT);
        for (size_t k = 0; k < x->K; k++)
            x->answer[w * x->K + k] =
                (x->answer_sum[w * x->K + k] + ANSWER_WEIGHT / (double)x->K) / (x->slip_sum[w] + ANSWER_WEIGHT);
    }
    for (int t = 0; t < KINDS; t++)
        if (t != DIVIDED || x->group) kinds += x->kind_sum[t] + KIND_WEIGHT;
    for (int t = 0; t < KINDS; t++) x->kind[t] = t != DIVIDED || x->group ? (x->kind_sum[t] + KIND_WEIGHT) / kinds : 0;
    for (size_t k = 0; k < x->K; k++) shares += x->share_sum[k] + 1;
    for (size_t k = 0; k < x->K; k++) x->share[k] = (x->share_sum[k] + 1) / shares;
}

static void start(causes *x)
{
    static const double kind[KINDS] = {.7, .2, .05, .05};
    for (int t = 0; t < KINDS; t++) x->kind[t] = t != DIVIDED || x->group ? kind[t] : 0;
    for (size_t k = 0; k < x->K; k++) x->share[k] = 1;
    for (uint64_t v = 0; v < x->v->n_votes; v++) x->share[label_of(x, v)]++;
    for (size_t k = 0; k < x->K; k++) x->share[k] /= (double)(x->v->n_votes + x->K);
    for (size_t w = 0; w < x->v->n_workers; w++) x->rate[w] = .05;
    for (size_t i = 0; i < x->v->n_workers * x->K; i++) x->answer[i] = 1 / (double)x->K;
}

/* Probabilities of each vote and readings of each item, at the last parameters. */
static void write_results(causes *x, dis_review *review)
{
    for (size_t i = 0; i < x->v->n_items; i++) {
        expect_item(x, i);
        size_t most = 0;
        double sum = 0;
        for (size_t k = 0; k < x->K; k++) {
            sum += x->q[k];
            if (x->q[k] > x->q[most]) most = k;
        }
        for (size_t k = 0; k < x->K; k++) review->reading_p[i * x->K + k] = sum > 0 ? x->q[k] / sum : 1 / (double)x->K;
        for (uint64_t v = x->v->start[i]; v < x->v->start[i + 1]; v++) {
            const double slip = fmin(1, x->p_slip[v - x->v->start[i]]), divided = x->p_divided[v - x->v->start[i]];
            const bool same = label_of(x, v) == most;
            review->votes[v] = (dis_review_vote){.item = i,
                                                 .worker = x->v->worker[v],
                                                 .label = label_of(x, v),
                                                 .p_slip = slip,
                                                 .p_group = same ? 0 : divided,
                                                 .p_reading = same ? 0 : fmax(0, 1 - slip - divided)};
        }
    }
    for (size_t w = 0; w < x->v->n_workers; w++) review->slip_rate[w] = x->rate[w];
}

static dis_status allocate(causes *x, dis_review *review, double **memory, uint64_t **n_votes)
{
    const size_t W = x->v->n_workers, K = x->K, G = x->n_groups ? x->n_groups : 1, L = x->longest;
    DIS_TRY(dis__alloc_zeroed(&review->votes, x->v->n_votes, sizeof *review->votes));
    DIS_TRY(dis__alloc_zeroed(&review->slip_rate, W, sizeof *review->slip_rate));
    DIS_TRY(
        dis__alloc_zeroed(&review->reading_p, dis__saturating_size(x->v->n_items, K, 0), sizeof *review->reading_p));
    DIS_TRY(dis__alloc_zeroed(n_votes, W, sizeof **n_votes));
    const size_t n = dis__saturating_size(W, 2 * K + 2, 3 * K + 3 * L + G * K + G);
    DIS_TRY(dis__alloc_zeroed(memory, n, sizeof **memory));
    double *at = *memory;
    x->rate = at, at += W;
    x->slip_sum = at, at += W;
    x->answer = at, at += W * K;
    x->answer_sum = at, at += W * K;
    x->share = at, at += K;
    x->share_sum = at, at += K;
    x->q = at, at += K;
    x->slip = at, at += L;
    x->p_slip = at, at += L;
    x->p_divided = at, at += L;
    x->by_group = at, at += G * K;
    x->product = at;
    return dis__alloc_zeroed(&x->seen, L < K ? L : K, sizeof *x->seen);
}

static dis_status fit(dis_context *ctx, causes *x, const uint64_t *n_votes, dis_review *review)
{
    double before = -INFINITY;
    start(x);
    for (int n = 0; n < MAX_ITERATIONS; n++) {
        DIS_TRY(dis__check_stop(ctx));
        const double now = expect(x);
        if (fabs(now - before) <= TOLERANCE * fabs(now)) break;
        maximise(x, n_votes);
        before = now;
    }
    write_results(x, review);
    return DIS_OK;
}

dis_status dis__review_find_causes(dis_context *ctx, const dis_votes *votes, const dis_worker_groups *groups,
                                   dis_review *review)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    causes x = {.v = &v, .K = v.n_classes};
    double *memory = NULL;
    uint64_t *n_votes = NULL;
    if (groups) {
        const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
        if (g.n_workers != v.n_workers)
            return dis__fail(DIS_EUSAGE, "the groups are of %zu annotators, and the votes of %zu", g.n_workers,
                             v.n_workers);
        x.group = g.group;
        x.n_groups = g.n_groups;
    }
    for (size_t i = 0; i < v.n_items; i++)
        if (v.start[i + 1] - v.start[i] > x.longest) x.longest = (size_t)(v.start[i + 1] - v.start[i]);
    dis_status status = allocate(&x, review, &memory, &n_votes);
    for (uint64_t n = 0; status == DIS_OK && n < v.n_votes; n++) n_votes[v.worker[n]]++;
    if (status == DIS_OK) status = fit(ctx, &x, n_votes, review);
    dis__free(memory);
    dis__free(n_votes);
    dis__free(x.seen);
    DIS_TRY(status);
    review->view.votes = review->votes;
    review->view.n_votes = v.n_votes;
    review->view.slip_rate = review->slip_rate;
    review->view.reading_p = review->reading_p;
    return DIS_OK;
}
