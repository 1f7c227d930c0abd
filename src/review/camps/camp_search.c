/* Finds two camps of annotators (annotator_camps.c). The crowd model gives the probability that votes a and b on item i are
 * equal, from all other votes on i, for annotators of their accuracy and items of any difficulty. The residual
 * is
 *
 *     g_iab = [x_ia = x_ib] - P(x_ia = x_ib | other votes on i),  less its mean over the pairs of the item
 *
 * M_ab is the sum of g_iab over items, divided by the roots of the numbers of pairs of a and of b. The signs of the
 * eigenvector of M with the largest eigenvalue are a first division. Then each annotator moves to the camp whose mean
 * residuals fit better, until no one moves (a block model). */
#include "review/camps/camp_finder.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

enum {
    MAX_MOVES = 20,  /* steps of the block model */
    ITERATIONS = 100 /* of the power method */
};

static dis_status allocate(dis__camp_finder *x)
{
    const size_t K = x->m->n_classes, n_states = DIS_CAMP_LEVELS * K, W = x->n_workers + 1, N = x->n_items + 1;
    DIS_TRY(dis__alloc_zeroed(&x->degree, W, sizeof *x->degree));
    DIS_TRY(dis__alloc_zeroed(&x->vector, W, sizeof *x->vector));
    DIS_TRY(dis__alloc_zeroed(&x->next, W, sizeof *x->next));
    DIS_TRY(dis__alloc_zeroed(&x->camp, W, sizeof *x->camp));
    DIS_TRY(dis__alloc_zeroed(&x->tally, N, sizeof *x->tally));
    x->n_scratch = DIS_CAMP_MAX_VOTES * n_states * (K + 1) + 2 * n_states + n_states * K + K;
    return dis__alloc_array(&x->scratch,
                            dis__saturating_size((size_t)dis_context_n_threads(x->m->ctx), x->n_scratch, 0),
                            sizeof *x->scratch);
}

static void find_residuals(dis__camp_finder *x, size_t s, dis__camp_item *q)
{
    const size_t K = q->K;
    double sum = 0;
    size_t n = 0;
    dis__camp_pair *pair = x->pair + x->first[s];
    dis__camp_gather_votes(x, s, q);
    dis__camp_compute_labels(x, q);
    for (size_t a = 0; a < q->n; a++)
        for (size_t b = 0; b < a; b++, n++) {
            const double *p = q->p + a * q->n_states * K, *r = q->p + b * q->n_states * K;
            double expected = 0;
            dis__camp_compute_states(x, q, -1, a, b);
            for (size_t t = 0; t < q->n_states; t++) {
                double equal = 0;
                for (size_t k = 0; k < K; k++) equal += p[t * K + k] * r[t * K + k];
                expected += q->state[t] * equal;
            }
            pair[n] = (dis__camp_pair){.a = q->vote[a].worker,
                                       .b = q->vote[b].worker,
                                       .residual = (q->vote[a].label == q->vote[b].label) - expected};
            sum += pair[n].residual;
        }
    for (size_t k = 0; k < n; k++) pair[k].residual -= sum / (double)n;
}

static dis_status residual_job(void *arg, size_t j, int thread)
{
    dis__camp_finder *x = arg;
    dis__camp_item q;
    dis__camp_bind_scratch(x, thread, &q);
    const size_t n_jobs = dis__n_jobs(x->n_items, DIS_CAMP_GRAIN, DIS_CAMP_MAX_JOBS);
    for (size_t s = dis__job_first(x->n_items, n_jobs, j); s < dis__job_first(x->n_items, n_jobs, j + 1); s++)
        find_residuals(x, s, &q);
    return DIS_OK;
}

/* How many votes of an item count: room for its pairs. */
static dis_status reserve_pairs(dis__camp_finder *x)
{
    const dis_votes_view *v = &x->m->votes;
    DIS_TRY(dis__alloc_array(&x->first, x->n_items + 1, sizeof *x->first));
    x->first[0] = 0;
    for (size_t s = 0; s < x->n_items; s++) {
        size_t n = 0;
        for (uint64_t a = v->start[x->item[s]]; a < v->start[x->item[s] + 1]; a++)
            n += x->number[v->worker[a]] != UINT32_MAX;
        if (n > DIS_CAMP_MAX_VOTES) n = DIS_CAMP_MAX_VOTES;
        x->first[s + 1] = x->first[s] + (n > 1 ? n * (n - 1) / 2 : 0);
    }
    return dis__alloc_array(&x->pair, x->first[x->n_items] + 1, sizeof *x->pair);
}

static bool counts_for_finding(const dis__camp_finder *x, size_t s)
{
    return x->finding_on_all || !dis__camp_is_held_out(x, s);
}

/* to = M from + shift from */
static void multiply(const dis__camp_finder *x, const double *from, double shift, double *to)
{
    for (size_t w = 0; w < x->n_workers; w++) to[w] = shift * from[w];
    for (size_t s = 0; s < x->n_items; s++) {
        if (!counts_for_finding(x, s)) continue;
        for (size_t i = x->first[s]; i < x->first[s + 1]; i++) {
            const dis__camp_pair *p = &x->pair[i];
            const double r = p->residual / sqrt(x->degree[p->a] * x->degree[p->b]);
            to[p->a] += r * from[p->b];
            to[p->b] += r * from[p->a];
        }
    }
}

static double normalise(double *v, size_t n)
{
    double sum = 0;
    for (size_t w = 0; w < n; w++) sum += v[w] * v[w];
    const double norm = sqrt(sum);
    for (size_t w = 0; w < n && norm > 0; w++) v[w] /= norm;
    return norm;
}

static void iterate(dis__camp_finder *x, int n, double shift, double *norm)
{
    for (int i = 0; i < n; i++) {
        multiply(x, x->vector, shift, x->next);
        memcpy(x->vector, x->next, x->n_workers * sizeof *x->vector);
        *norm = normalise(x->vector, x->n_workers);
    }
}

/* One step of a block model: means of residuals within the first camp, within the second and between them, then each
 * annotator moves to the camp whose means fit better. Whether anyone moved. */
static bool move_annotators(dis__camp_finder *x)
{
    double sum[3] = {0, 0, 0}, n[3] = {0, 0, 0}, mean[3];
    for (size_t s = 0; s < x->n_items; s++)
        for (size_t i = x->first[s]; i < x->first[s + 1] && counts_for_finding(x, s); i++) {
            const size_t kind = dis__camp_pair_kind(x, x->pair[i].a, x->pair[i].b);
            sum[kind] += x->pair[i].residual;
            n[kind]++;
        }
    for (size_t k = 0; k < 3; k++) mean[k] = n[k] > 0 ? sum[k] / n[k] : 0;
    memset(x->next, 0, x->n_workers * sizeof *x->next); /* log-likelihood of the second camp less that of the first */
    for (size_t s = 0; s < x->n_items; s++)
        for (size_t i = x->first[s]; i < x->first[s + 1] && counts_for_finding(x, s); i++) {
            const dis__camp_pair *p = &x->pair[i];
            for (int end = 0; end < 2; end++) {
                const uint32_t one = end ? p->b : p->a, other = end ? p->a : p->b;
                const double second = mean[x->camp[other] == 1 ? 1 : DIS_CAMP_BETWEEN],
                             first = mean[x->camp[other] == 0 ? 0 : DIS_CAMP_BETWEEN];
                x->next[one] += (second - first) * (2 * p->residual - second - first);
            }
        }
    bool moved = false;
    for (size_t w = 0; w < x->n_workers; w++) {
        const uint8_t camp = x->next[w] > 0;
        moved |= camp != x->camp[w];
        x->camp[w] = camp;
    }
    return moved;
}

void dis__camp_search(dis__camp_finder *x)
{
    double norm = 1;
    memset(x->degree, 0, x->n_workers * sizeof *x->degree);
    for (size_t s = 0; s < x->n_items; s++)
        for (size_t i = x->first[s]; i < x->first[s + 1] && counts_for_finding(x, s); i++) {
            x->degree[x->pair[i].a]++;
            x->degree[x->pair[i].b]++;
        }
    for (size_t w = 0; w < x->m->votes.n_workers; w++)
        if (x->number[w] != UINT32_MAX)
            x->vector[x->number[w]] = dis__random_normal(x->seed, DIS_STREAM_ANNOTATOR_CAMPS, x->worker_key[w]);
    normalise(x->vector, x->n_workers);
    iterate(x, ITERATIONS / 5, 0, &norm); /* norm: the largest absolute eigenvalue */
    for (size_t w = 0; w < x->m->votes.n_workers; w++)
        if (x->number[w] != UINT32_MAX)
            x->vector[x->number[w]] = dis__random_normal(x->seed, DIS_STREAM_ANNOTATOR_CAMPS, x->worker_key[w]);
    iterate(x, ITERATIONS, norm, &norm);
    for (size_t w = 0; w < x->n_workers; w++) x->camp[w] = x->vector[w] > 0;
    for (int i = 0; i < MAX_MOVES && move_annotators(x); i++) continue;
}

dis_status dis__camp_prepare_search(dis__camp_finder *x)
{
    DIS_TRY(reserve_pairs(x));
    DIS_TRY(allocate(x));
    return dis__run_jobs(x->m->ctx, dis__n_jobs(x->n_items, DIS_CAMP_GRAIN, DIS_CAMP_MAX_JOBS), residual_job, x);
}
