/* The items and annotators among which camps are looked for, and the votes of one item with their probabilities under the
 * crowd model (annotator_camps.c). Draws are keyed by the names of items and annotators, so the order of rows does not
 * matter. */
#include "review/camps/camp_finder.h"
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "core/random/random.h"
#include "labels/method.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_VOTES = 10 /* of an annotator who belongs to a camp */ };
#define BUDGET 3e7 /* multiplications of all items */

static uint64_t key_of_name(const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    return dis__random_key(text, n);
}

static double item_cost(const dis__crowd_model *m, size_t i)
{
    const double n = fmin((double)(m->votes.start[i + 1] - m->votes.start[i]), DIS_CAMP_MAX_VOTES),
                 K = (double)m->n_classes;
    return n < 2 ? 0 : DIS_CAMP_LEVELS * (n * K * K * 4 + n * n * K * 3);
}

/* The items of the sample: all with two votes or more, or some of them. */
dis_status dis__camp_sample_items(dis__camp_finder *x)
{
    const dis__crowd_model *m = x->m;
    double total = 0;
    DIS_TRY(dis__alloc_array(&x->item, m->votes.n_items + 1, sizeof *x->item));
    DIS_TRY(dis__alloc_array(&x->halves, m->votes.n_items + 1, sizeof *x->halves));
    for (size_t i = 0; i < m->votes.n_items; i++) total += item_cost(m, i);
    for (size_t i = 0; i < m->votes.n_items; i++) {
        if (!(item_cost(m, i) > 0)) continue;
        const uint64_t word = dis__random(x->seed, DIS_STREAM_ANNOTATOR_CAMPS, key_of_name(m->votes.tasks, i));
        if ((double)(word >> 12) * 0x1p-52 * total > BUDGET) continue;
        x->halves[x->n_items] = (uint8_t)word;
        x->item[x->n_items++] = (uint32_t)i;
    }
    return DIS_OK;
}

static double logit(double x)
{
    x = fmin(fmax(x, 1e-6), 1 - 1e-6);
    return dis__log(x / (1 - x));
}

/* The matrix of an annotator: that of the crowd, with the odds on the diagonal moved to the annotator's accuracy. What else
 * an annotator does differently is what camps are made of. power: (K, K). */
static void model_annotator(const dis__camp_finder *x, size_t crowd_number, size_t w, double *power)
{
    const dis__crowd_model *m = x->m;
    const size_t K = m->n_classes;
    const double *crowd = m->crowd + DIS_CROWD_NORMAL * K * K, *own = dis__crowd_matrix_at(m, crowd_number);
    double *matrix = x->matrix + w * K * K, accuracy = 0, usual = 0;
    for (size_t t = 0; t < K; t++) {
        accuracy += dis__exp(m->log_prior[t] + own[t * K + t]);
        usual += dis__exp(m->log_prior[t]) * crowd[t * K + t];
    }
    const double shift = logit(accuracy) - logit(usual);
    for (size_t t = 0; t < K; t++) {
        const double correct = crowd[t * K + t], moved = 1 / (1 + dis__exp(-logit(correct) - shift));
        for (size_t v = 0; v < K; v++)
            matrix[v * K + t] = v == t ? moved : crowd[v * K + t] * (1 - moved) / (1 - correct);
    }
    m->special.log(matrix, K * K);
    for (size_t e = 0; e < DIS_CAMP_LEVELS; e++) {
        double *norm = x->norm + (w * DIS_CAMP_LEVELS + e) * K;
        for (size_t a = 0; a < K * K; a++) power[a] = dis__crowd_ease[e] * matrix[a];
        m->special.exp(power, K * K);
        memset(norm, 0, K * sizeof *norm);
        for (size_t v = 0; v < K; v++)
            for (size_t t = 0; t < K; t++) norm[t] += power[v * K + t];
        m->special.log(norm, K);
    }
}

static dis_status model_annotators(dis__camp_finder *x)
{
    const size_t K = x->m->n_classes;
    double *power;
    DIS_TRY(dis__alloc_array(&x->matrix, dis__saturating_size(x->n_workers + 1, K * K, 0), sizeof *x->matrix));
    DIS_TRY(
        dis__alloc_array(&x->norm, dis__saturating_size(x->n_workers + 1, DIS_CAMP_LEVELS * K, 0), sizeof *x->norm));
    DIS_TRY(dis__alloc_array(&power, K * K, sizeof *power));
    for (size_t w = 0; w < x->m->votes.n_workers; w++)
        if (x->number[w] != UINT32_MAX) model_annotator(x, w, x->number[w], power);
    dis__free(power);
    return DIS_OK;
}

/* The annotators of a camp of `all`, on the same items. */
dis_status dis__camp_sample_members(const dis__camp_finder *all, uint8_t camp, dis__camp_finder *x)
{
    const size_t n_workers = all->m->votes.n_workers;
    DIS_TRY(dis__alloc_array(&x->number, n_workers + 1, sizeof *x->number));
    for (size_t w = 0; w < n_workers; w++) {
        const uint32_t number = all->number[w];
        x->number[w] = number != UINT32_MAX && all->camp[number] == camp ? (uint32_t)x->n_workers++ : UINT32_MAX;
    }
    return model_annotators(x);
}

dis_status dis__camp_sample_workers(dis__camp_finder *x)
{
    const dis_votes_view *v = &x->m->votes;
    DIS_TRY(dis__alloc_zeroed(&x->number, v->n_workers + 1, sizeof *x->number));
    DIS_TRY(dis__alloc_array(&x->worker_key, v->n_workers + 1, sizeof *x->worker_key));
    for (size_t s = 0; s < x->n_items; s++)
        for (uint64_t a = v->start[x->item[s]]; a < v->start[x->item[s] + 1]; a++) x->number[v->worker[a]]++;
    for (size_t w = 0; w < v->n_workers; w++) {
        x->worker_key[w] = key_of_name(v->workers, w);
        x->number[w] = x->number[w] >= MIN_VOTES ? (uint32_t)x->n_workers++ : UINT32_MAX;
    }
    return model_annotators(x);
}

static int by_rank(const void *x, const void *y)
{
    const dis__camp_vote *a = x, *b = y;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Votes of annotators of the sample; of many, those of the lowest rank. */
void dis__camp_gather_votes(const dis__camp_finder *x, size_t s, dis__camp_item *q)
{
    const dis_votes_view *v = &x->m->votes;
    const size_t i = x->item[s];
    const uint64_t key = key_of_name(v->tasks, i);
    q->n = 0;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
        const uint32_t w = v->worker[a];
        if (x->number[w] == UINT32_MAX) continue;
        const dis__camp_vote one = {
            .worker = x->number[w],
            .label = (uint32_t)dis__vote_label(v, a),
            .rank = v->start[i + 1] - v->start[i] > DIS_CAMP_MAX_VOTES
                        ? dis__random(x->seed, DIS_STREAM_ANNOTATOR_CAMPS, key ^ x->worker_key[w])
                        : a,
        };
        if (q->n < DIS_CAMP_MAX_VOTES) {
            q->vote[q->n++] = one;
            continue;
        }
        size_t last = 0;
        for (size_t k = 1; k < DIS_CAMP_MAX_VOTES; k++)
            if (q->vote[k].rank > q->vote[last].rank) last = k;
        if (one.rank < q->vote[last].rank) q->vote[last] = one;
    }
    qsort(q->vote, q->n, sizeof *q->vote, by_rank);
}

void dis__camp_bind_scratch(const dis__camp_finder *x, int thread, dis__camp_item *q)
{
    double *at = x->scratch + (size_t)thread * x->n_scratch;
    q->K = x->m->n_classes;
    q->n_states = DIS_CAMP_LEVELS * q->K;
    q->log_p = at, at += DIS_CAMP_MAX_VOTES * q->n_states;
    q->p = at, at += DIS_CAMP_MAX_VOTES * q->n_states * q->K;
    q->state = at, at += q->n_states;
    q->prior = at, at += q->n_states;
    q->mean = at;
}

/* Probabilities of labels by state. */
void dis__camp_compute_labels(const dis__camp_finder *x, dis__camp_item *q)
{
    const dis__crowd_model *m = x->m;
    const size_t K = q->K;
    for (size_t a = 0; a < q->n; a++) {
        const double *matrix = x->matrix + q->vote[a].worker * K * K, *norm = x->norm + q->vote[a].worker * q->n_states;
        double *p = q->p + a * q->n_states * K;
        for (size_t e = 0; e < DIS_CAMP_LEVELS; e++)
            for (size_t t = 0; t < K; t++)
                for (size_t k = 0; k < K; k++)
                    p[(e * K + t) * K + k] = dis__crowd_ease[e] * matrix[k * K + t] - norm[e * K + t];
        for (size_t s = 0; s < q->n_states; s++) q->log_p[a * q->n_states + s] = p[s * K + q->vote[a].label];
    }
    m->special.exp(q->p, q->n * q->n_states * K);
    for (size_t e = 0; e < DIS_CAMP_LEVELS; e++)
        for (size_t t = 0; t < K; t++) q->prior[e * K + t] = m->log_level[e] + m->log_prior[t];
}

/* Posterior of the states from the prior and the votes of `camp` (-1: all) except a and b. */
void dis__camp_compute_states(const dis__camp_finder *x, dis__camp_item *q, int camp, size_t a, size_t b)
{
    double max = -INFINITY, sum = 0;
    memcpy(q->state, q->prior, q->n_states * sizeof *q->state);
    for (size_t v = 0; v < q->n; v++) {
        if (v == a || v == b || (camp >= 0 && x->camp[q->vote[v].worker] != camp)) continue;
        for (size_t s = 0; s < q->n_states; s++) q->state[s] += q->log_p[v * q->n_states + s];
    }
    for (size_t s = 0; s < q->n_states; s++) max = fmax(max, q->state[s]);
    for (size_t s = 0; s < q->n_states; s++) q->state[s] -= max;
    x->m->special.exp(q->state, q->n_states);
    for (size_t s = 0; s < q->n_states; s++) sum += q->state[s];
    for (size_t s = 0; s < q->n_states; s++) q->state[s] /= sum;
}

void dis__camp_finder_free(dis__camp_finder *x)
{
    if (!x->is_part) {
        dis__free(x->item);
        dis__free(x->halves);
        dis__free(x->worker_key);
    }
    dis__free(x->number);
    dis__free(x->matrix);
    dis__free(x->norm);
    dis__free(x->first);
    dis__free(x->pair);
    dis__free(x->degree);
    dis__free(x->vector);
    dis__free(x->next);
    dis__free(x->camp);
    dis__free(x->tally);
    dis__free(x->scratch);
}
