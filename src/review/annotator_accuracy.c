/* How accurate each annotator is: the probability of a correct vote on an item like these, with a 95 % interval.
 *
 * With p the labels' probabilities, the expected accuracy of an annotator's n votes v on items i is
 *
 *     quality = mean of p_i[v_i]
 *
 * Only votes that can be checked are counted: another annotator voted on the item, or it has a gold label.
 *
 * There are two sources of uncertainty. First, the labels: calibrated probabilities allow for errors that annotators
 * share. If errors were independent, the same votes would be more informative, with probabilities near
 *
 *     h_i = p_i ^ T_i, normalised,    T_i = min(n_i, 16) ^ .48,    n_i votes on item i
 *
 * (the temperature that the default labels divide by when they see no dependence). The accuracy by h is unbiased on
 * crowds with independent errors, the one by p is on average unbiased on real crowds, and votes cannot tell which case
 * holds. So the interval covers both means. Second, the sampling
 * error. A vote whose correctness is known with variance h (1 - h) is less informative, which gives
 *
 *     information = n (1 - l) / b,    b = m (1 - m) of the mean m,    l = mean of h (1 - h) / b
 *     variance    = (1 + l / 2) / (information + 10) + (.3 mean of p (1 - p))^2
 *
 * 10 is the precision of a wide prior. The last term is the error of the labels that the votes on different items
 * share: a shift of the log-odds of p with standard deviation .3. Means start with two votes at the crowd's mean;
 * bounds are Wilson's at the number of votes that gives this variance, widened by half a vote. docs/evidence/review.md
 * has the coverage, and bench/truth/annotator_intervals.py measures it and shows how .3 was chosen.
 *
 * Cost: one pass over the items, with a logarithm and an exponential per probability. */
#include "core/numbers/elementary.h"
#include "review/review_parts.h"
#include "labels/method.h"
#include "stats/distributions.h"
#include <math.h>
#include <string.h>

enum { BLOCK_VALUES = 4096 };
#define Z            1.959963984540054
#define PRIOR_VOTES  2.0
#define PRECISION    10.0 /* prior weight of an annotator's accuracy */
#define SHARED_SHIFT .3   /* standard deviation of the common error of log-odds */
#define POWER        .48
#define LIMIT        16.0
#define MOST_MISSING .95
#define SMALLEST     1e-300

/* Sums over the checkable votes of an annotator. */
typedef struct {
    double votes, correct, variance;          /* by the labels' probabilities */
    double independent, independent_variance; /* by the probabilities under independent errors */
    double compared, peers;                   /* votes with others on the item; mean accuracy of these */
    double known, known_correct;              /* votes on items with a gold label */
} annotator_sums;

typedef struct {
    const dis__crowd_model *m;
    const double *p;
    double *sharp; /* (block, K): probabilities under independent errors */
    annotator_sums *of;
} accuracy_work;

static void sharpen(const accuracy_work *work, size_t first, size_t n)
{
    const dis__crowd_model *m = work->m;
    const size_t K = m->n_classes;
    double last_n = 1, temperature = 1; /* consecutive items often have the same number of votes */
    for (size_t x = 0; x < n * K; x++) work->sharp[x] = fmax(work->p[first * K + x], SMALLEST);
    m->special.log(work->sharp, n * K);
    for (size_t i = 0; i < n; i++) {
        double *row = work->sharp + i * K, max = row[0];
        const double votes = fmin((double)(m->votes.start[first + i + 1] - m->votes.start[first + i]), LIMIT);
        if (votes != last_n && votes > 0) temperature = dis__pow(votes, POWER);
        if (votes > 0) last_n = votes;
        for (size_t k = 1; k < K; k++) max = fmax(max, row[k]);
        for (size_t k = 0; k < K; k++) row[k] = (row[k] - max) * temperature;
    }
    m->special.exp(work->sharp, n * K);
    for (size_t i = 0; i < n; i++) {
        double *row = work->sharp + i * K, sum = 0;
        for (size_t k = 0; k < K; k++) sum += row[k];
        for (size_t k = 0; k < K; k++) row[k] /= sum;
    }
}

static void add_item(const accuracy_work *work, size_t i, const double *sharp)
{
    const dis_votes_view *v = &work->m->votes;
    const double *p = work->p + i * work->m->n_classes, n = (double)(v->start[i + 1] - v->start[i]);
    const int32_t gold = work->m->gold ? work->m->gold[i] : -1;
    double all = 0;
    if (!dis__review_is_comparable(work->m, i)) return;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) all += p[dis__vote_label(v, a)];
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
        annotator_sums *s = &work->of[v->worker[a]];
        const size_t label = dis__vote_label(v, a);
        const double correct = p[label], independent = sharp[label];
        s->votes++;
        s->correct += correct;
        s->variance += correct * (1 - correct);
        s->independent += independent;
        s->independent_variance += independent * (1 - independent);
        s->compared += n > 1;
        s->peers += n > 1 ? (all - correct) / (n - 1) : 0;
        s->known += gold >= 0;
        s->known_correct += gold == (int32_t)label;
    }
}

static dis_status add_items(const accuracy_work *work, size_t block)
{
    const size_t n_items = work->m->votes.n_items, K = work->m->n_classes;
    for (size_t first = 0, n; first < n_items; first += n) {
        n = block < n_items - first ? block : n_items - first;
        DIS_TRY(dis__check_stop(work->m->ctx));
        sharpen(work, first, n);
        for (size_t i = 0; i < n; i++) add_item(work, first + i, work->sharp + i * K);
    }
    return DIS_OK;
}

/* ---- intervals ---- */

static double bound(const annotator_sums *s, double mean, int side)
{
    const double spread = fmax(mean * (1 - mean), 1e-4), shift = SHARED_SHIFT * s->variance / s->votes;
    const double missing = fmin(s->independent_variance / s->votes / spread, MOST_MISSING);
    const double information = (s->votes + PRIOR_VOTES) * (1 - missing) / spread;
    const double variance = (1 + missing / 2) / (information + PRECISION) + shift * shift;
    return fmin(fmax(dis__wilson_bound(mean, spread / variance, Z, side) + side * .5 / s->votes, 0), 1);
}

static double drawn_to(double sum, double n, double mean)
{
    return (sum + PRIOR_VOTES * mean) / (n + PRIOR_VOTES);
}

static void put_gold(const annotator_sums *s, dis_review_worker *row)
{
    row->shared = (uint64_t)s->votes;
    row->gold_votes = (uint64_t)s->known;
    if (!(s->known > 0)) return;
    row->gold_accuracy = s->known_correct / s->known;
    row->gold_low = dis__wilson_bound(row->gold_accuracy, s->known, Z, -1);
    row->gold_high = dis__wilson_bound(row->gold_accuracy, s->known, Z, 1);
}

/* all: sums over all annotators. */
static void put_accuracy(const annotator_sums *s, const annotator_sums *all, dis_review_worker *row)
{
    const double calibrated = drawn_to(s->correct, s->votes, all->correct / all->votes),
                 independent = drawn_to(s->independent, s->votes, all->independent / all->votes);
    row->accuracy = fmin(s->correct / s->votes, 1);
    row->accuracy_low = fmin(bound(s, fmin(calibrated, independent), -1), row->accuracy);
    row->accuracy_high = fmax(bound(s, fmax(calibrated, independent), 1), row->accuracy);
    if (s->compared > 0) row->peer_accuracy = fmin(fmax(s->peers / s->compared, 0), 1);
}

dis_status dis__review_compute_accuracy(const dis__crowd_model *m, const double *p, bool judged,
                                        dis_review_worker *rows)
{
    const size_t K = m->n_classes, block = BLOCK_VALUES / K + 1;
    accuracy_work work = {.m = m, .p = p};
    annotator_sums all = {0};
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&work.of, m->n_workers, sizeof *work.of), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&work.sharp, dis__saturating_size(block, K, 0), sizeof *work.sharp), end);
    DIS_TRY_GOTO(status, add_items(&work, block), end);
    for (size_t w = 0; w < m->n_workers; w++) {
        all.votes += work.of[w].votes;
        all.correct += work.of[w].correct;
        all.independent += work.of[w].independent;
    }
    for (size_t w = 0; w < m->n_workers; w++) {
        put_gold(&work.of[w], &rows[w]);
        if (judged && K > 1 && work.of[w].votes > 0) put_accuracy(&work.of[w], &all, &rows[w]);
    }
end:
    dis__free(work.of);
    dis__free(work.sharp);
    return status;
}
