/* Weighted votes in integers.
 *
 * A skill s has the weight round(s * 2^shift), with the largest shift for which the votes of the largest item fit into
 * 64 bits: 2^58 for ten votes per item, beyond the precision of a double. Sums of integers are the same in any order,
 * so neither shuffled rows nor threads can change a tie.
 *
 * Ranks add up their counts, and agree on the shift.
 *
 * Cost: one pass over the votes per call; only scores of classes with votes are cleared, so the cost does not depend on
 * the number of classes. */
#include "labels/passes/weighted_majority.h"
#include "core/parallel/comm.h"
#include <math.h>
#include <string.h>

enum { MAX_JOBS = 16 };

static size_t count_jobs(const dis_votes_view *v)
{
    return dis__n_jobs(v->n_votes, dis__saturating_size(4, v->n_workers, 100000), MAX_JOBS);
}

size_t dis__weighted_majority_memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    return dis__saturating_size(votes->n_workers, (2 + count_jobs(votes)) * sizeof(uint64_t), 0);
}

static dis_status max_over_ranks(const dis__comm *comm, uint64_t *max)
{
    uint64_t *all;
    if (!dis__comm_is_parallel(comm)) return DIS_OK;
    DIS_TRY(dis__alloc_array(&all, (size_t)comm->size, sizeof *all));
    const dis_status status = dis__comm_allgather_counts(comm, *max, all);
    for (int r = 0; status == DIS_OK && r < comm->size; r++) *max = all[r] > *max ? all[r] : *max;
    dis__free(all);
    return status;
}

dis_status dis__weighted_majority_create(const dis__fit_args *args, dis__weighted_majority *out)
{
    const dis_votes_view *v = &args->votes;
    *out = (dis__weighted_majority){.args = args, .n_jobs = count_jobs(v), .shift = 62};
    DIS_TRY(dis__alloc_zeroed(&out->n_voted, v->n_workers, sizeof *out->n_voted));
    DIS_TRY(dis__alloc_array(&out->weight, v->n_workers, sizeof *out->weight));
    DIS_TRY(dis__alloc_array(&out->right, dis__saturating_size(out->n_jobs, v->n_workers, 0), sizeof *out->right));
    DIS_TRY(dis__alloc_array(&out->score, (size_t)dis_context_n_threads(args->ctx), v->n_classes * sizeof *out->score));
    uint64_t max = 1;
    for (size_t i = 0; i < v->n_items; i++) {
        const uint64_t n = v->start[i + 1] - v->start[i];
        max = n > max ? n : max;
    }
    DIS_TRY(max_over_ranks(dis__context_comm(args->ctx), &max));
    for (; max; max >>= 1) out->shift--;
    for (size_t k = 0; k < v->n_votes; k++) out->n_voted[v->worker[k]]++;
    return dis__comm_sum_counts(dis__context_comm(args->ctx), out->n_voted, v->n_workers);
}

void dis__weighted_majority_destroy(dis__weighted_majority *vote)
{
    dis__free(vote->n_voted);
    dis__free(vote->weight);
    dis__free(vote->right);
    dis__free(vote->score);
}

typedef struct {
    dis__weighted_majority *vote;
    double *p; /* shares requested; NULL: accuracies */
} vote_work;

/* The winner of item i by the weights; score (n_classes) receives the sums of the classes with votes. */
static size_t item_winner(const dis__weighted_majority *vote, size_t i, uint64_t *score)
{
    const dis_votes_view *v = &vote->args->votes;
    const uint64_t first = v->start[i], last = v->start[i + 1];
    for (uint64_t k = first; k < last; k++) score[dis__vote_label(v, k)] = 0;
    for (uint64_t k = first; k < last; k++) score[dis__vote_label(v, k)] += vote->weight[v->worker[k]];
    size_t best = dis__vote_label(v, first);
    for (uint64_t k = first + 1; k < last; k++) {
        const size_t label = dis__vote_label(v, k);
        if (score[label] > score[best] || (score[label] == score[best] && label < best)) best = label;
    }
    return best;
}

static void count_right(const dis__weighted_majority *vote, size_t i, uint64_t *score, uint64_t *right)
{
    const dis_votes_view *v = &vote->args->votes;
    if (v->start[i] == v->start[i + 1]) return;
    const int32_t gold = dis__item_gold(vote->args, i);
    const size_t winner = gold >= 0 ? (size_t)gold : item_winner(vote, i, score);
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) right[v->worker[k]] += dis__vote_label(v, k) == winner;
}

static void item_shares(const dis__weighted_majority *vote, size_t i, uint64_t *score, double *p)
{
    const dis_votes_view *v = &vote->args->votes;
    const int32_t gold = dis__item_gold(vote->args, i);
    uint64_t total = 0;
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) total += vote->weight[v->worker[k]];
    if (gold < 0 && total == 0) {
        for (size_t k = 0; k < v->n_classes; k++) p[k] = 1 / (double)v->n_classes;
        return;
    }
    memset(p, 0, v->n_classes * sizeof *p);
    if (gold >= 0) {
        p[gold] = 1;
        return;
    }
    item_winner(vote, i, score);
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
        const size_t label = dis__vote_label(v, k);
        p[label] = (double)score[label] / (double)total;
    }
}

static dis_status vote_job(void *arg, size_t j, int thread)
{
    const vote_work *w = arg;
    dis__weighted_majority *vote = w->vote;
    const dis_votes_view *v = &vote->args->votes;
    uint64_t *score = vote->score + (size_t)thread * v->n_classes, *right = vote->right + j * v->n_workers;
    if (!w->p) memset(right, 0, v->n_workers * sizeof *right);
    const size_t last = dis__job_first(v->n_items, vote->n_jobs, j + 1);
    for (size_t i = dis__job_first(v->n_items, vote->n_jobs, j); i < last; i++) {
        if (w->p)
            item_shares(vote, i, score, w->p + i * v->n_classes);
        else
            count_right(vote, i, score, right);
    }
    return DIS_OK;
}

static void weigh(dis__weighted_majority *vote, const double *skill)
{
    for (size_t w = 0; w < vote->args->votes.n_workers; w++) vote->weight[w] = (uint64_t)ldexp(skill[w], vote->shift);
}

dis_status dis__weighted_majority_compute_accuracy(dis__weighted_majority *vote, const double *skill, double *accuracy)
{
    const size_t n_workers = vote->args->votes.n_workers;
    vote_work w = {.vote = vote};
    weigh(vote, skill);
    DIS_TRY(dis__run_jobs(vote->args->ctx, vote->n_jobs, vote_job, &w));
    for (size_t j = 1; j < vote->n_jobs; j++)
        for (size_t i = 0; i < n_workers; i++) vote->right[i] += vote->right[j * n_workers + i];
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(vote->args->ctx), vote->right, n_workers));
    for (size_t i = 0; i < n_workers; i++)
        if (vote->n_voted[i]) accuracy[i] = (double)vote->right[i] / (double)vote->n_voted[i];
    return DIS_OK;
}

dis_status dis__weighted_majority_compute_shares(dis__weighted_majority *vote, const double *skill, double *p)
{
    vote_work w = {.vote = vote, .p = p};
    weigh(vote, skill);
    return dis__run_jobs(vote->args->ctx, vote->n_jobs, vote_job, &w);
}
