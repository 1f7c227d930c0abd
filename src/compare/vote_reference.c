/* A reference computed from votes: the class with most votes of each item, and how the metrics of both sides would vary
 * with other annotators.
 *
 * Annotators are drawn with replacement, and every item gets the class with most votes among the drawn annotators. The
 * variance is added to that over items, as in the pigeonhole bootstrap of Owen (2007): the variance of single votes
 * counts twice, so that tests reject too rarely rather than too often. A jackknife fails here: leaving out one
 * annotator rarely changes which class has most votes.
 *
 * Where items have few votes, resamples vary too little: a class decided by one annotator drawn twice depends less on
 * the others than one that all decide. Therefore the variance of the difference in accuracy is also estimated by
 * replacing each vote of an annotator with another vote on the same item, which keeps their number, and summing the
 * changes by annotator. If that estimate is larger, all variances over annotators are scaled by the same ratio.
 *
 * Ties are broken at random by the seed, for each item in the same way for all draws.
 *
 * Cost: RESAMPLES passes over the votes. */
#include "compare/compare_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include "stats/crossed_intervals.h"
#include <math.h>
#include <string.h>

enum { RESAMPLES = 200, VALUES = DIS_COMPARE_VALUES };

static int32_t class_of(const dis__vote_reference *r, uint64_t vote)
{
    const uint32_t k = r->votes.label8 ? r->votes.label8[vote] : r->votes.label16[vote];
    const size_t class = r->from->class_map[k];
    return class < r->n_classes ? (int32_t) class : -1;
}

/* The class with most of the counted votes, -1 without votes. Ties are broken by the item's preference: leaving out a
 * vote for another class never changes the result. */
static int32_t most_voted_class(const dis__vote_reference *r, size_t row, const uint32_t *count)
{
    uint32_t max_count = 0;
    uint64_t preferred = 0;
    int32_t chosen = -1;
    for (size_t k = 0; k < r->n_classes; k++) {
        if (count[k] == 0 || count[k] < max_count) continue;
        const uint64_t preference = dis__random(r->seed, DIS_STREAM_TIES, row * r->n_classes + k);
        if (chosen >= 0 && count[k] == max_count && preference <= preferred) continue;
        max_count = count[k];
        preferred = preference;
        chosen = (int32_t)k;
    }
    return chosen;
}

/* Votes on a row by class. weight: of each annotator; NULL: each once. */
static void count_row(const dis__vote_reference *r, size_t row, const uint32_t *weight, uint32_t *count)
{
    const size_t item = r->from->item_map[row];
    for (size_t k = 0; k < r->n_classes; k++) count[k] = 0;
    if (item >= r->votes.n_items) return;
    for (uint64_t v = r->votes.start[item]; v < r->votes.start[item + 1]; v++) {
        const int32_t class = class_of(r, v);
        if (class >= 0) count[class] += weight ? weight[r->votes.worker[v]] : 1;
    }
}

/* The workers who voted, with their numbers of votes. */
static dis_status find_workers(dis__vote_reference *r)
{
    const dis_votes_view *v = &r->votes;
    DIS_TRY(dis__alloc_zeroed(&r->n_votes, v->n_workers, sizeof *r->n_votes));
    DIS_TRY(dis__alloc_array(&r->worker, v->n_workers, sizeof *r->worker));
    for (size_t row = 0; row < r->n_rows; row++) {
        const size_t item = r->from->item_map[row];
        if (item >= v->n_items) continue;
        for (uint64_t x = v->start[item]; x < v->start[item + 1]; x++) r->n_votes[v->worker[x]] += class_of(r, x) >= 0;
    }
    for (size_t w = 0; w < v->n_workers; w++)
        if (r->n_votes[w] > 0) r->worker[r->n_workers++] = (uint32_t)w;
    return DIS_OK;
}

dis_status dis__vote_reference_init(const dis_comparison_input *in, uint64_t seed, dis__vote_reference *r)
{
    *r = (dis__vote_reference){.from = in->votes,
                               .votes = dis_votes_get_view(in->votes->votes),
                               .seed = seed,
                               .n_rows = in->n_items,
                               .n_classes = in->n_classes};
    if (!r->votes.start)
        return dis__fail(
            DIS_EDATA,
            "the votes have no annotator ids; give one row per vote with a worker column, or compare with gold labels");
    uint32_t *count;
    DIS_TRY(dis__alloc_array(&count, r->n_classes, sizeof *count));
    dis_status status = dis__alloc_array(&r->gold, r->n_rows, sizeof *r->gold);
    for (size_t i = 0; i < r->n_rows && status == DIS_OK; i++) {
        count_row(r, i, NULL, count);
        r->gold[i] = most_voted_class(r, i, count);
    }
    dis__free(count);
    if (status == DIS_OK) status = find_workers(r);
    if (status != DIS_OK) dis__vote_reference_free(r);
    return status;
}

void dis__vote_reference_free(dis__vote_reference *r)
{
    dis__free(r->gold);
    dis__free(r->n_votes);
    dis__free(r->worker);
    *r = (dis__vote_reference){0};
}

/* ---- resamples ---- */

typedef struct {
    const dis__vote_reference *r;
    const dis_comparison_input *in;
    const dis__answer_patterns *p; /* for its sizes */
    size_t counts_size;
    double *values; /* (RESAMPLES, VALUES) */
} resampling;

/* A row with this label goes into the tally. */
static void add_row(const resampling *s, size_t row, int32_t label, uint64_t *counts)
{
    const size_t K = s->p->n_classes;
    counts[s->p->n_series * K + (size_t)label]++;
    for (size_t x = 0; x < s->p->n_series; x++) {
        const int32_t answer = x < s->in->n_a ? s->in->a[x][row] : s->in->b[x - s->in->n_a][row];
        counts[x * K + (size_t)answer] += answer == label ? (uint64_t)1 << 32 | 1 : 1;
    }
}

static void measure(const resampling *s, const uint32_t *weight, uint64_t *counts, uint32_t *count, double *values)
{
    const double seeds = (double)s->in->n_a * (double)s->in->n_b;
    double n = 0;
    memset(counts, 0, s->counts_size * sizeof *counts);
    for (size_t row = 0; row < s->r->n_rows; row++) {
        if (s->r->gold[row] < 0) continue;
        count_row(s->r, row, weight, count);
        const int32_t label = most_voted_class(s->r, row, count);
        if (label < 0) continue; /* none of its votes was drawn */
        add_row(s, row, label, counts);
        n++;
    }
    for (int v = 0; v < VALUES; v++) values[v] = NAN;
    if (n == 0) return;
    dis__answer_counts_measure(s->p, counts, n, values);
    values[DIS_COMPARE_ACCURACY * DIS_COMPARE_SIDES + DIS_COMPARE_DIFFERENCE] /= seeds * n;
}

static dis_status resample_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const resampling *s = arg;
    const dis__vote_reference *r = s->r;
    uint64_t *counts = NULL;
    uint32_t *count = NULL, *weight = NULL;
    dis_status status = dis__alloc_array(&counts, s->counts_size, sizeof *counts);
    if (status == DIS_OK) status = dis__alloc_array(&count, r->n_classes, sizeof *count);
    if (status == DIS_OK) status = dis__alloc_zeroed(&weight, r->votes.n_workers, sizeof *weight);
    if (status == DIS_OK) {
        const uint64_t stream = (uint64_t)j << 32 | DIS_STREAM_ANNOTATORS;
        for (size_t i = 0; i < r->n_workers; i++)
            weight[r->worker[dis__random_below(r->seed, stream, i, r->n_workers)]]++;
        measure(s, weight, counts, count, s->values + j * VALUES);
    }
    dis__free(counts);
    dis__free(count);
    dis__free(weight);
    return status;
}

/* ---- votes replaced ---- */

/* The classes of an item: their votes, and the difference in accuracy if that class is the true one. */
typedef struct {
    size_t n;
    double votes;
    size_t *class;  /* (n_classes): their indices */
    double *count;  /* (n_classes) */
    double *score;  /* (n_classes) */
    double *change; /* (n_classes) of a vote for this class */
} row_classes;

/* The expected score of the class with most votes; ties are split. */
static double score_of(const row_classes *r)
{
    double max_count = 0, tied = 0, sum = 0;
    for (size_t k = 0; k < r->n; k++) {
        if (r->count[k] < max_count) continue;
        if (r->count[k] > max_count) tied = sum = 0;
        max_count = r->count[k];
        tied++;
        sum += r->score[k];
    }
    return sum / tied;
}

static double score_if(const resampling *s, size_t row, size_t class)
{
    double a = 0, b = 0;
    for (size_t x = 0; x < s->in->n_a; x++) a += s->in->a[x][row] == (int32_t) class;
    for (size_t x = 0; x < s->in->n_b; x++) b += s->in->b[x][row] == (int32_t) class;
    return a / (double)s->in->n_a - b / (double)s->in->n_b;
}

/* The contribution of a vote for each class, compared with the other votes on the item. */
static void replace_votes(row_classes *r)
{
    const double score = score_of(r);
    for (size_t k = 0; k < r->n; k++) {
        r->change[k] = 0;
        r->count[k]--;
        for (size_t l = 0; l < r->n; l++) {
            const double others = r->count[l]++;
            r->change[k] += others / (r->votes - 1) * (score - score_of(r));
            r->count[l]--;
        }
        r->count[k]++;
    }
}

static void replace_row(const resampling *s, size_t row, uint32_t *count, row_classes *r, double *by_worker)
{
    const dis__vote_reference *ref = s->r;
    const size_t item = ref->from->item_map[row];
    count_row(ref, row, NULL, count);
    r->n = 0;
    r->votes = 0;
    for (size_t k = 0; k < ref->n_classes; k++) {
        if (count[k] == 0) continue;
        r->class[k] = r->n;
        r->count[r->n] = count[k];
        r->score[r->n++] = score_if(s, row, k);
        r->votes += count[k];
    }
    if (r->n < 2) return; /* any other vote would have the same effect */
    replace_votes(r);
    for (uint64_t v = ref->votes.start[item]; v < ref->votes.start[item + 1]; v++) {
        const int32_t class = class_of(ref, v);
        if (class >= 0) by_worker[ref->votes.worker[v]] += r->change[r->class[class]];
    }
}

/* The variance over annotators of the difference in accuracy. It includes the variance of single votes, as the
 * bootstrap over items does: without it, true null hypotheses are rejected too often
 * (bench/truth/annotator_coverage.py). */
static dis_status replaced_variance(const resampling *s, double *variance)
{
    const size_t K = s->r->n_classes, n_workers = s->r->votes.n_workers;
    uint32_t *count = NULL;
    double *by_worker = NULL, *class_values = NULL, sum = 0, squares = 0, rows = 0;
    row_classes r = {0};
    dis_status status = dis__alloc_array(&count, K, sizeof *count);
    if (status == DIS_OK) status = dis__alloc_array(&r.class, K, sizeof *r.class);
    if (status == DIS_OK) status = dis__alloc_array(&class_values, dis__saturating_size(K, 3, 0), sizeof *class_values);
    if (status == DIS_OK) status = dis__alloc_zeroed(&by_worker, n_workers, sizeof *by_worker);
    if (status == DIS_OK) {
        r.count = class_values;
        r.score = class_values + K;
        r.change = class_values + 2 * K;
        for (size_t row = 0; row < s->r->n_rows; row++) {
            if (s->r->gold[row] < 0) continue;
            rows++;
            replace_row(s, row, count, &r, by_worker);
        }
        for (size_t w = 0; w < n_workers; w++) {
            sum += by_worker[w] / rows;
            squares += by_worker[w] / rows * (by_worker[w] / rows);
        }
        const double n = (double)s->r->n_workers;
        *variance = fmax(squares - sum * sum / n, 0) * (n - 1) / n;
    }
    dis__free(count);
    dis__free(r.class);
    dis__free(class_values);
    dis__free(by_worker);
    return status;
}

dis_status dis__vote_reference_variances(dis_context *ctx, const dis__vote_reference *r, const dis_comparison_input *in,
                                         const dis__answer_patterns *p, dis__crossed_variances out[VALUES])
{
    resampling s = {.r = r, .in = in, .p = p, .counts_size = dis__saturating_size(p->n_series + 1, p->n_classes, 0)};
    DIS_TRY(dis__alloc_array(&s.values, (size_t)RESAMPLES * VALUES, sizeof *s.values));
    double replaced = 0;
    dis_status status = dis__run_jobs(ctx, RESAMPLES, resample_job, &s);
    if (status == DIS_OK) status = replaced_variance(&s, &replaced);
    const double effective = dis__effective_number(r->n_votes, r->votes.n_workers), n = (double)r->n_workers;
    const double all = n > 1 ? n / (n - 1) : 1; /* a bootstrap of n has (n - 1) / n of the variance */
    for (int v = 0; v < VALUES && status == DIS_OK; v++)
        out[v] = (dis__crossed_variances){.annotators = all * dis__resampled_variance(s.values + v, RESAMPLES, VALUES),
                                          .df_annotators = r->n_workers > 1 ? fmax(effective - 1, 1) : 0,
                                          .df_items = (double)p->n - 1};
    const double of_difference = out[DIS_COMPARE_ACCURACY * DIS_COMPARE_SIDES + DIS_COMPARE_DIFFERENCE].annotators;
    for (int v = 0; v < VALUES && replaced > of_difference && of_difference > 0; v++)
        out[v].annotators *= replaced / of_difference;
    dis__free(s.values);
    return status;
}
