/* What annotator models learn from: votes, mixed where rows are, and AART's terms of the workers' vectors
 * (Mokhberian et al. 2024): the loss is
 *
 *     (1 - norm - contrast) votes + norm mean |e| + contrast (mean over agreeing pairs of 1 - cos(e, e')
 *                                                             + mean over others of max(0, cos(e, e')))
 *
 * A pair are two workers who voted on one item. AART takes the pairs that a batch happens to hold, and averages over
 * those whose term is not 0; here each vote of a batch is paired with another vote on its item, drawn from all, and the
 * means are over pairs. Cost: O(batch + workers) per step. */
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "train/loop/training.h"
#include "train/workers/worker_net.h"

static bool has_terms(const dis__training *t)
{
    return t->settings.norm > 0 || t->settings.contrast > 0;
}

static size_t max_terms(const dis__training *t)
{
    const size_t workers = t->settings.norm > 0 ? t->targets.n_workers : 0;
    return t->settings.contrast > 0 ? dis__saturating_size(t->limits.units, 1, workers) : workers;
}

dis_status dis__worker_heads_build(dis__training *t, dis__model_net *r, const int *logits)
{
    dis__soft_head_options o = dis__soft_head_options_default();
    o.weight = 1 - t->settings.norm - t->settings.contrast;
    r->head[0] = dis__head_soft(r->net, t->model->head[0], logits[0], &o);
    if (t->model->confuses) r->head[1] = dis__head_soft(r->net, t->model->head[1], logits[1], NULL);
    if (!has_terms(t)) return DIS_OK;
    const size_t n = max_terms(t);
    t->terms = dis__head_pairs(r->net, "terms of workers", r->worker_net->vectors, n);
    DIS_TRY(dis__alloc_array(&t->term, dis__saturating_size(n, 3, 0), sizeof *t->term));
    return dis__alloc_array(&t->term_weight, n, sizeof *t->term_weight);
}

static void add_term(dis__training *t, size_t *n, int32_t a, int32_t b, dis__pair_kind kind, double weight)
{
    t->term[3 * *n] = a;
    t->term[3 * *n + 1] = b;
    t->term[3 * *n + 2] = (int32_t)kind;
    t->term_weight[(*n)++] = (float)weight;
}

/* Another vote on the item of row u; u: there is none. */
static size_t other_vote(const dis__training *t, size_t u, size_t i, uint64_t number)
{
    const dis__worker_examples *p = &t->pairs;
    const size_t first = p->first[u];
    size_t end = u + 1;
    while (end < p->n && p->first[end] == first) end++;
    if (end - first < 2) return u;
    const size_t other =
        first + dis__random_below(t->model->seed, DIS_STREAM_CONTRAST | (uint64_t)i << 32, number, end - first - 1);
    return other + (other >= u);
}

static void add_pairs(dis__training *t, const uint32_t *units, size_t n, size_t *n_terms)
{
    const uint64_t number = (uint64_t)t->at.epoch << 32 | t->at.batch;
    const size_t begin = *n_terms;
    double count[DIS_N_PAIRS] = {0};
    for (size_t i = 0; i < n; i++) {
        const size_t u = units[i], v = other_vote(t, u, i, number);
        const int32_t a = t->pairs.worker[u], b = t->pairs.worker[v];
        if (a < 0 || b < 0 || a == b) continue;
        const dis__pair_kind kind = t->targets.label[u] == t->targets.label[v] ? DIS_PAIR_NEAR : DIS_PAIR_APART;
        add_term(t, n_terms, a, b, kind, 0);
        count[kind]++;
    }
    for (size_t i = begin; i < *n_terms; i++)
        t->term_weight[i] = (float)(t->settings.contrast / count[t->term[3 * i + 2]]);
}

static dis_status put_terms(dis__training *t, const uint32_t *units, size_t n)
{
    size_t n_terms = 0;
    for (size_t w = 0; t->settings.norm > 0 && w < t->targets.n_workers; w++)
        add_term(t, &n_terms, (int32_t)w, (int32_t)w, DIS_PAIR_LENGTH, t->settings.norm / (double)t->targets.n_workers);
    if (t->settings.contrast > 0) add_pairs(t, units, n, &n_terms);
    return dis__head_put_pairs(t->model_net.net, t->terms, n_terms, t->term, t->term_weight);
}

static dis_status put_mixed(dis__training *t, const uint32_t *units, size_t n)
{
    const dis__worker_net *a = t->model_net.worker_net;
    const size_t k = t->targets.n_classes;
    for (size_t i = 0; i < n; i++) {
        float *target = t->target + i * k;
        for (size_t c = 0; c < k; c++) target[c] = 0;
        target[t->targets.label[units[i]]] += a->first[i];
        target[t->targets.label[units[a->pair[2 * i + 1]]]] += 1 - a->first[i];
    }
    return dis__head_put_targets(t->model_net.net, t->model_net.head[0], t->target, NULL);
}

dis_status dis__worker_heads_set_targets(dis__training *t, const uint32_t *units, size_t n)
{
    dis__model_net *r = &t->model_net;
    if (t->model->confuses) dis__head_clear_targets(r->net, r->head[1]);
    if (t->terms != DIS_NONE) DIS_TRY(put_terms(t, units, n));
    if (r->worker_net->mixed) return put_mixed(t, units, n);
    return dis__training_set_labels(t, r->head[0], units, n);
}

void dis__worker_losses_set_norm(dis__training *t, size_t b)
{
    const size_t first = b - b % t->o->accumulate, end = first + t->o->accumulate;
    dis__head_set_norm(t->model_net.net, t->terms, (double)((end < t->batches.n ? end : t->batches.n) - first));
}
