/* All per-item metrics in one pass over q and p, DIS_LANES items in parallel.
 *
 * With e the floor, qf = max(q, e), S = sum qf, q' = qf / S, and the same for p with P:
 *
 *     H(q) = -sum q log qf                 cross-entropy = -sum p log q' = -sum p log qf + log S sum p
 *     KL(p || q') = cross-entropy - H(p)   KL(q' || p') = sum q' (log q' - log p') = sum qf (log qf - log pf) / S - log
 *         S + log P
 *     JSD = H((p + q) / 2) - (H(p) + H(q)) / 2
 *
 * so each item and class costs three logarithms and no division. If q is 0, q log qf is 0 as required. */
#include "evaluate/item_metrics.h"
#include "core/numbers/vector_math.h"

typedef dis__vec vec;

static inline vec absolute(vec x)
{
    return (vec)((dis__ivec)x & INT64_MAX);
}

static inline vec at_least_0(vec x)
{
    return dis__vmax(x, (vec){0});
}

static inline vec rows(const double *p, const size_t *at, size_t k)
{
    vec x = {0};
    for (int lane = 0; lane < DIS_LANES; lane++) x[lane] = p[at[lane] + k];
    return x;
}

/* Sums of DIS_LANES items over their classes. */
typedef struct {
    vec max, best;                 /* largest q and its class */
    vec squares, above;            /* sum q^2; classes before gold in the order of q */
    vec below, median, ranked;     /* sum of q up to a class; classes before the median; squared differences of sums */
    vec q_log_q, qf_log_qf, q_sum; /* of q: sum q log qf, sum qf log qf, S */
    vec p_log_p, p_log_q, qf_log_pf, pf_sum, p_sum;
    vec m_log_m, apart, squared_apart, moved, moved_sum;
    dis__ivec floored, human_floored;
} sums;

static inline void add_class(sums *s, vec q, vec p, double k, vec gold_q, vec gold, bool has_gold, bool has_human)
{
    const vec floor = dis__vset(DIS_PROBABILITY_FLOOR), qf = dis__vmax(q, floor), log_q = dis__vlog(qf);
    const dis__ivec better = (dis__ivec)(q > s->max);
    s->max = dis__vselect(better, q, s->max);
    s->best = dis__vselect(better, dis__vset(k), s->best);
    s->q_log_q += q * log_q;
    s->q_sum += qf;
    s->floored += (dis__ivec)(q < floor); /* -1 per lane */
    if (has_gold) {
        const dis__ivec before =
            (dis__ivec)(q > gold_q) | ((dis__ivec)(q == gold_q) & (dis__ivec)(dis__vset(k) < gold));
        s->above += dis__vselect(before, dis__vset(1), (vec){0});
        s->squares += q * q;
        s->below += q;
        s->median += dis__vselect((dis__ivec)(s->below < .5 - DIS_PROBABILITY_FLOOR), dis__vset(1), (vec){0});
        const vec apart = s->below - dis__vselect((dis__ivec)(dis__vset(k) < gold), (vec){0}, dis__vset(1));
        s->ranked += apart * apart;
    }
    if (has_human) {
        const vec pf = dis__vmax(p, floor), log_p = dis__vlog(pf), difference = p - q, middle = (p + q) * .5;
        s->qf_log_qf += qf * log_q;
        s->human_floored += (dis__ivec)(p < floor);
        s->p_sum += p;
        s->pf_sum += pf;
        s->p_log_p += p * log_p;
        s->p_log_q += p * log_q;
        s->qf_log_pf += qf * log_p;
        s->m_log_m += middle * dis__vlog(dis__vmax(middle, floor));
        s->apart += absolute(difference);
        s->squared_apart += difference * difference;
        s->moved += difference;
        s->moved_sum += absolute(s->moved);
    }
}

/* ---- one function per column, of the sums over the classes of an item ---- */

typedef struct {
    sums s;
    vec gold, gold_q, known; /* the gold label, q at gold, 1 with a gold label and 0 without */
    vec log_sum;             /* log S */
    double top_k;
} item;

static inline vec confidence(const item *x)
{
    return x->s.max;
}

static inline vec model_entropy(const item *x)
{
    return at_least_0(-x->s.q_log_q);
}

static inline vec log_loss(const item *x)
{
    return x->known * at_least_0(x->log_sum - dis__vlog(dis__vmax(x->gold_q, dis__vset(DIS_PROBABILITY_FLOOR))));
}

static inline vec brier(const item *x)
{
    return x->known * at_least_0(x->s.squares - 2 * x->gold_q + 1);
}

static inline vec absolute_error(const item *x)
{
    return x->known * absolute(x->s.median - x->gold);
}

static inline vec ranked_probability_score(const item *x)
{
    return x->known * x->s.ranked;
}

static inline vec correct(const item *x)
{
    return dis__vselect((dis__ivec)(x->s.best == x->gold), x->known, (vec){0});
}

static inline vec in_top_k(const item *x)
{
    return dis__vselect((dis__ivec)(x->s.above < x->top_k), x->known, (vec){0});
}

static inline vec human_entropy(const item *x)
{
    return at_least_0(-x->s.p_log_p);
}

static inline vec cross_entropy(const item *x)
{
    return x->log_sum * x->s.p_sum - x->s.p_log_q;
}

static inline vec kl(const item *x)
{
    return at_least_0(cross_entropy(x) + x->s.p_log_p);
}

static inline vec inverse_kl(const item *x)
{
    return at_least_0((x->s.qf_log_qf - x->s.qf_log_pf) / x->s.q_sum - x->log_sum + dis__vlog(x->s.pf_sum));
}

static inline vec jsd(const item *x)
{
    return at_least_0((x->s.p_log_p + x->s.q_log_q) * .5 - x->s.m_log_m);
}

static inline vec total_variation(const item *x)
{
    return x->s.apart * .5;
}

static inline vec wasserstein(const item *x)
{
    return x->s.moved_sum;
}

static inline vec human_brier(const item *x)
{
    return x->s.squared_apart;
}

static inline vec entropy_gap(const item *x)
{
    return absolute(human_entropy(x) - model_entropy(x));
}

static inline vec entropy_excess(const item *x)
{
    return model_entropy(x) - human_entropy(x);
}

/* Of distributions: sum of min(p, q) = 1 - total variation, sum of max(p, q) = 1 + total variation. */
static inline vec soft_jaccard(const item *x)
{
    return (2 - x->s.apart) / (2 + x->s.apart);
}

static inline void store_column(double *const *column, dis__item_column c, size_t i, size_t many, vec x)
{
    if (many == DIS_LANES)
        dis__vstore(column[c] + i, x);
    else
        for (size_t lane = 0; lane < many; lane++) column[c][i + lane] = x[lane];
}

static inline uint64_t count_lanes(dis__ivec minus, size_t many)
{
    uint64_t n = 0;
    for (size_t lane = 0; lane < many; lane++) n -= (uint64_t)minus[lane];
    return n;
}

static inline void all_items(const dis__item_args *args, size_t first, size_t n, double *const *column,
                             int32_t *predicted, dis__item_count_votes *counts, bool has_gold, bool has_human)
{
    const size_t n_classes = args->n_classes;
    for (size_t i = 0; i < n; i += DIS_LANES) {
        const size_t many = n - i < DIS_LANES ? n - i : DIS_LANES;
        size_t at[DIS_LANES];
        item x = {.s = {.max = dis__vset(-1)}, .top_k = (double)args->top_k};
        for (size_t lane = 0; lane < DIS_LANES; lane++) {
            const size_t row = first + i + (lane < many ? lane : 0);
            at[lane] = row * n_classes;
            if (!has_gold) continue;
            const int32_t g = args->gold[row];
            x.known[lane] = g >= 0;
            x.gold[lane] = g >= 0 ? g : 0;
            x.gold_q[lane] = args->q[at[lane] + (size_t)(g >= 0 ? g : 0)];
        }
        for (size_t k = 0; k < n_classes; k++)
            add_class(&x.s, rows(args->q, at, k), has_human ? rows(args->human, at, k) : (vec){0}, (double)k, x.gold_q,
                      x.gold, has_gold, has_human);
        x.log_sum = dis__vlog(x.s.q_sum);
        counts->floored += count_lanes(x.s.floored, many);
        if (has_human) counts->human_floored += count_lanes(x.s.human_floored, many);
        for (size_t lane = 0; lane < many; lane++) predicted[i + lane] = (int32_t)x.s.best[lane];
#define STORE(id, name, needs, listed)                                                        \
    if ((!((needs)&DIS_NEEDS_GOLD) || has_gold) && (!((needs)&DIS_NEEDS_HUMAN) || has_human)) \
        store_column(column, DIS_ITEM_##id, i, many, name(&x));
        DIS__ITEM_COLUMN_LIST(STORE)
#undef STORE
    }
}

/* Only the largest element of each row. */
static void labels_only(const dis__item_args *args, size_t first, size_t n, int32_t *predicted)
{
    const size_t n_classes = args->n_classes;
    for (size_t i = 0; i < n; i += DIS_LANES) {
        const size_t many = n - i < DIS_LANES ? n - i : DIS_LANES;
        size_t at[DIS_LANES];
        for (size_t lane = 0; lane < DIS_LANES; lane++) at[lane] = (first + i + (lane < many ? lane : 0)) * n_classes;
        vec max = rows(args->q, at, 0), best = {0};
        for (size_t k = 1; k < n_classes; k++) {
            const vec q = rows(args->q, at, k);
            const dis__ivec better = (dis__ivec)(q > max);
            max = dis__vselect(better, q, max);
            best = dis__vselect(better, dis__vset((double)k), best);
        }
        for (size_t lane = 0; lane < many; lane++) predicted[i + lane] = (int32_t)best[lane];
    }
}

void DIS_KERNEL(dis__item_metrics)(const dis__item_args *args, size_t first, size_t n,
                                   double *const column[DIS_ITEM_COLUMNS], int32_t *predicted,
                                   dis__item_count_votes *counts)
{
    if (args->labels_only)
        labels_only(args, first, n, predicted);
    else if (args->gold && args->human)
        all_items(args, first, n, column, predicted, counts, true, true);
    else if (args->gold)
        all_items(args, first, n, column, predicted, counts, true, false);
    else if (args->human)
        all_items(args, first, n, column, predicted, counts, false, true);
    else
        all_items(args, first, n, column, predicted, counts, false, false);
}

static inline double across(vec x)
{
    double sum = 0;
    for (int lane = 0; lane < DIS_LANES; lane++) sum += x[lane];
    return sum;
}

double DIS_KERNEL(dis__item_sum)(const double *x, size_t n)
{
    vec a = {0}, b = {0};
    size_t i = 0;
    for (; i + 2 * DIS_LANES <= n; i += 2 * DIS_LANES) {
        a += dis__vload(x + i);
        b += dis__vload(x + i + DIS_LANES);
    }
    double sum = across(a + b);
    for (; i < n; i++) sum += x[i];
    return sum;
}

void DIS_KERNEL(dis__item_moments)(const double *x, const double *y, size_t n, double x_mean, double y_mean,
                                   double sums_out[3])
{
    vec xy = {0}, xx = {0}, yy = {0};
    size_t i = 0;
    for (; i + DIS_LANES <= n; i += DIS_LANES) {
        const vec a = dis__vload(x + i) - x_mean, b = dis__vload(y + i) - y_mean;
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    sums_out[0] += across(xy);
    sums_out[1] += across(xx);
    sums_out[2] += across(yy);
    for (; i < n; i++) {
        const double a = x[i] - x_mean, b = y[i] - y_mean;
        sums_out[0] += a * b;
        sums_out[1] += a * a;
        sums_out[2] += b * b;
    }
}
