/* Coefficients of agreement from patterns of votes.
 *
 * Item i has r votes, c_k of them for class k; w is the number of items with its pattern, N = sum w the number of
 * items.
 *
 *   pairs that agree       P   = sum_k c_k (c_k - 1) / (r (r - 1))
 *   their disagreement     D_d = sum_kl c_k c_l d_kl / (r (r - 1)) for a distance d; P = 1 - D for d = [k != l]
 *   percent                mean of P over items
 *   class shares           pi_k = mean over items of c_k / r       (Gwet 2014: Fleiss, AC1, AC2)
 *                          q_k  = n_k / n, n_k = sum w c_k, n = sum w r      (Scott)
 *   Fleiss 1971            (P - pe) / (1 - pe), pe = sum pi_k^2: items have equal weight
 *   Scott 1955             the same with q, and P weighted by r: votes have equal weight
 *   Gwet 2008, 2014        pe = T / (K (K - 1)) sum pi_k (1 - pi_k), T = sum of all weights 1 - d (K for AC1)
 *   Krippendorff 2011      1 - D_o / D_e, D_o = sum w r D_d, D_e = sum_kl n_k n_l d_kl / (n - 1)
 *
 * Distances: linear |x_k - x_l| and quadratic, x the numeric values of the classes (their positions if they are not
 * numeric), divided by their range; ordinal weights (j^2 + j) / (K (K - 1)) for positions j apart; interval =
 * quadratic; ratio ((x_k - x_l) / (x_k + x_l))^2. Krippendorff's ordinal distance is (m_k - m_l)^2 with m_k = n_1 + ...
 * + n_{k-1} + n_k / 2, the mean rank of the class, so it is the interval distance of values that depend on the sample.
 *
 * D of every pattern is computed once, except for m. Sums of |x_k - x_l| and (x_k - x_l)^2 over many pairs come from
 * sums along the order of x and from moments.
 *
 * Cost: once O(tallies) (ratio: the sum over patterns of tallies^2), then O(tallies + K) each time the weights change
 * (ratio: K^2 of the classes used). */
#include "agreement/agreement_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include <math.h>
#include <stdlib.h>

enum { FEW = 8 }; /* patterns up to this many classes: pairs are enumerated */

struct dis__coefficients {
    const dis__vote_patterns *patterns;
    size_t n_classes;
    bool numbers, ordered, negative;
    uint32_t *place; /* (n_classes) in the order of their values, or of the classes if they have none */
    uint32_t *order; /* (n_classes) the class at each position */
    bool rising;     /* class values are ascending */
    double *x;       /* (n_classes) in [0, 1]: values or positions; NULL for classes without order */
    double *raw;     /* (n_classes) unscaled values; NULL: not numeric */
    double total[DIS_PATTERN_DISTANCES]; /* sum of d over all K^2 pairs of classes */
    double *d;                           /* (patterns, DIS_PATTERN_DISTANCES) D of each pattern */
};

/* ---- classes ---- */

static dis_status parse_class_values(const dis_votes_view *votes, dis__coefficients *c)
{
    DIS_TRY(dis__alloc_array(&c->raw, votes->n_classes, sizeof *c->raw));
    c->numbers = votes->n_classes > 0;
    for (size_t k = 0; k < votes->n_classes && c->numbers; k++) {
        size_t n;
        const char *text = dis_names_get(votes->classes, k, &n);
        c->numbers = dis__parse_real(text, n, &c->raw[k]);
        c->negative |= c->numbers && c->raw[k] < 0;
    }
    return DIS_OK;
}

typedef struct {
    double x;
    uint32_t class;
} numbered;

static int by_number(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    if (x->x != y->x) return x->x < y->x ? -1 : 1;
    return (x->class > y->class) - (x->class < y->class);
}

static dis_status order_classes(dis__coefficients *c)
{
    const size_t n = c->n_classes;
    DIS_TRY(dis__alloc_array(&c->place, n, sizeof *c->place));
    DIS_TRY(dis__alloc_array(&c->order, n, sizeof *c->order));
    numbered *sorted;
    DIS_TRY(dis__alloc_array(&sorted, n, sizeof *sorted));
    for (size_t k = 0; k < n; k++) sorted[k] = (numbered){.x = c->x ? c->x[k] : 0, .class = (uint32_t)k};
    if (n > 1) qsort(sorted, n, sizeof *sorted, by_number);
    c->rising = true;
    for (size_t j = 0; j < n; j++) {
        c->order[j] = sorted[j].class;
        c->place[sorted[j].class] = (uint32_t)j;
        c->rising &= sorted[j].class == j;
    }
    dis__free(sorted);
    return DIS_OK;
}

static dis_status place_classes(const dis_votes_view *votes, bool ordinal, dis__coefficients *c)
{
    const size_t n = votes->n_classes;
    c->n_classes = n;
    DIS_TRY(parse_class_values(votes, c));
    c->ordered = c->numbers || ordinal;
    if (!c->ordered) return order_classes(c);
    DIS_TRY(dis__alloc_array(&c->x, n, sizeof *c->x));
    double min = INFINITY, max = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        c->x[k] = c->numbers ? c->raw[k] : (double)k;
        min = fmin(min, c->x[k]);
        max = fmax(max, c->x[k]);
    }
    /* halved, so that the range stays finite for the largest doubles */
    for (size_t k = 0; k < n; k++) c->x[k] = max > min ? (c->x[k] / 2 - min / 2) / (max / 2 - min / 2) : 0;
    return order_classes(c);
}

static double ratio_distance(double a, double b)
{
    /* halved as above; the distance of two zeros is 0 */
    const double sum = a / 2 + b / 2;
    const double d = sum != 0 ? (a / 2 - b / 2) / sum : 0;
    return d * d;
}

/* ---- patterns ---- */

/* sum_kl c_k c_l d_kl for every distance. `t` is sorted by class. */
static void pair_by_pair(const dis__coefficients *c, const dis__tally *t, size_t n, double sum[DIS_PATTERN_DISTANCES])
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const double both = 2 * (double)t[i].count * (double)t[j].count;
            const double apart = fabs((double)c->place[t[j].class] - (double)c->place[t[i].class]);
            sum[DIS_DISTANCE_NOMINAL] += both;
            sum[DIS_DISTANCE_POSITION] += both * (apart * apart + apart);
            if (c->x) {
                const double dx = fabs(c->x[t[j].class] - c->x[t[i].class]);
                sum[DIS_DISTANCE_LINEAR] += both * dx;
                sum[DIS_DISTANCE_QUADRATIC] += both * dx * dx;
            }
            if (c->numbers) sum[DIS_DISTANCE_RATIO] += both * ratio_distance(c->raw[t[i].class], c->raw[t[j].class]);
        }
}

/* The same in one pass, for all distances except ratio. */
static void along_the_order(const dis__coefficients *c, const dis__tally *t, size_t n,
                            double sum[DIS_PATTERN_DISTANCES])
{
    double before = 0, before_place = 0, before_x = 0, square = 0, place2 = 0, x2 = 0;
    for (size_t i = 0; i < n; i++) {
        const double count = (double)t[i].count, place = (double)t[i].class, x = c->x ? c->x[t[i].class] : 0;
        sum[DIS_DISTANCE_POSITION] += 2 * count * (before * place - before_place); /* of |k - l| */
        sum[DIS_DISTANCE_LINEAR] += 2 * count * (before * x - before_x);
        before += count;
        before_place += count * place;
        before_x += count * x;
        square += count * count;
        place2 += count * place * place;
        x2 += count * x * x;
    }
    sum[DIS_DISTANCE_NOMINAL] = before * before - square;
    sum[DIS_DISTANCE_POSITION] += 2 * (before * place2 - before_place * before_place);
    sum[DIS_DISTANCE_QUADRATIC] = 2 * (before * x2 - before_x * before_x);
    if (!c->numbers) return;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            sum[DIS_DISTANCE_RATIO] +=
                2 * (double)t[i].count * (double)t[j].count * ratio_distance(c->raw[t[i].class], c->raw[t[j].class]);
}

static void distances_of(const dis__coefficients *c, const dis__tally *t, size_t n, double sum[DIS_PATTERN_DISTANCES])
{
    for (int d = 0; d < DIS_PATTERN_DISTANCES; d++) sum[d] = 0;
    if (n <= FEW || !c->rising)
        pair_by_pair(c, t, n, sum);
    else
        along_the_order(c, t, n, sum);
    const double k = (double)c->n_classes;
    if (c->n_classes > 1) sum[DIS_DISTANCE_POSITION] /= k * (k - 1);
}

static dis_status measure_patterns(dis__coefficients *c)
{
    const dis__vote_patterns *all = c->patterns;
    DIS_TRY(dis__alloc_array(&c->d, all->n, DIS_PATTERN_DISTANCES * sizeof *c->d));
    for (size_t p = 0; p < all->n; p++) {
        double *d = c->d + p * DIS_PATTERN_DISTANCES;
        const double r = (double)all->pattern[p].votes;
        distances_of(c, all->pattern[p].tally, all->pattern[p].n, d);
        for (int j = 0; j < DIS_PATTERN_DISTANCES; j++) d[j] /= r > 1 ? r * (r - 1) : 1;
    }
    /* one vote for each class: sums over all pairs of classes */
    dis__tally *one;
    DIS_TRY(dis__alloc_array(&one, c->n_classes, sizeof *one));
    for (size_t k = 0; k < c->n_classes; k++) one[k] = (dis__tally){.class = (uint32_t)k, .count = 1};
    const bool numbers = c->numbers;
    c->numbers = false; /* no caller requested the ratio sum */
    distances_of(c, one, c->n_classes, c->total);
    c->numbers = numbers;
    dis__free(one);
    return DIS_OK;
}

dis_status dis__coefficients_create(const dis_votes_view *votes, const dis__vote_patterns *patterns, bool ordinal,
                                    dis__coefficients **out)
{
    dis__coefficients *c;
    DIS_TRY(dis__alloc_zeroed(&c, 1, sizeof *c));
    c->patterns = patterns;
    dis_status status = place_classes(votes, ordinal, c);
    if (status == DIS_OK) status = measure_patterns(c);
    if (status != DIS_OK) {
        dis__coefficients_destroy(c);
        return status;
    }
    *out = c;
    return DIS_OK;
}

void dis__coefficients_destroy(dis__coefficients *c)
{
    if (!c) return;
    dis__free(c->x);
    dis__free(c->raw);
    dis__free(c->place);
    dis__free(c->order);
    dis__free(c->d);
    dis__free(c);
}

const uint32_t *dis__coefficients_class_order(const dis__coefficients *c)
{
    return c->ordered ? c->order : NULL;
}

const char *dis__coefficient_reason(const dis__coefficients *c, dis__coefficient_id measure)
{
    static const char *const order = "the classes are not numbers and no order was declared for them";
    static const char *const number = "the classes are not numbers";
    static const char *const sign = "a class is negative, and ratios need a scale that begins at 0";
    if (c->patterns->compared == 0) return "no item has two votes";
    const dis__scale scale = dis__measure_scale(measure);
    if (scale >= DIS_SCALE_NUMBERS && !c->numbers) return number;
    if (scale >= DIS_SCALE_ORDER && !c->ordered) return order;
    return scale >= DIS_SCALE_RATIO && c->negative ? sign : NULL;
}

/* ---- all coefficients ---- */

static void add_patterns(const dis__coefficients *c, const double *times, dis__class_sums *k, dis__agreement_totals *t)
{
    for (size_t i = 0; i < c->n_classes; i++) k[i] = (dis__class_sums){0};
    *t = (dis__agreement_totals){0};
    for (size_t p = 0; p < c->patterns->n; p++) {
        const dis__vote_pattern *x = &c->patterns->pattern[p];
        const double w = times[p], r = (double)x->votes, *d = c->d + p * DIS_PATTERN_DISTANCES;
        if (w == 0) continue;
        t->shared += w;
        for (size_t i = 0; i < x->n; i++) k[x->tally[i].class].share += w * (double)x->tally[i].count / r;
        if (x->votes < 2) continue;
        t->items += w;
        t->votes += w * r;
        for (int j = 0; j < DIS_PATTERN_DISTANCES; j++) {
            t->mean[j] += w * d[j];
            t->paired[j] += w * r * d[j];
        }
        for (size_t i = 0; i < x->n; i++) {
            const double n = (double)x->tally[i].count;
            dis__class_sums *to = &k[x->tally[i].class];
            to->votes += w * n;
            to->both += w * (n * (n - 1) / (r - 1));
            to->parted += w * (2 * n * (r - n) / (r * (r - 1)));
        }
    }
}

/* 1 - observed / expected disagreement. If the expected disagreement is 0, all labels are equal and the result is 1 by
 * convention. */
static void set_coefficient(dis__coefficient_values *out, dis__coefficient_id which, double observed, double expected)
{
    const bool none = !(expected > 0);
    out->degenerate[which] = none;
    out->value[which] = none ? 1 : 1 - observed / expected;
}

/* sum_kl n_k n_l (x_k - x_l)^2 / (n - 1), about the mean so that nothing cancels. */
static double spread(const dis__class_sums *k, size_t n_classes, const double *x, double n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n_classes; i++) mean += k[i].votes * x[i];
    mean /= n;
    for (size_t i = 0; i < n_classes; i++) sum += k[i].votes * (x[i] - mean) * (x[i] - mean);
    return 2 * n * sum / (n - 1);
}

/* Mean ranks of the classes, and the disagreement of each pattern under the rank distance. */
static void add_ranks(const dis__coefficients *c, const double *times, const dis__class_sums *k, double *rank,
                      dis__agreement_totals *t)
{
    double before = 0;
    for (size_t j = 0; j < c->n_classes; j++) {
        const size_t i = c->order[j];
        rank[i] = (before + k[i].votes / 2) / t->votes - .5;
        before += k[i].votes;
    }
    for (size_t p = 0; p < c->patterns->n; p++) {
        const dis__vote_pattern *x = &c->patterns->pattern[p];
        if (x->votes < 2 || times[p] == 0) continue;
        double mean = 0, sum = 0;
        const double r = (double)x->votes;
        for (size_t i = 0; i < x->n; i++) mean += (double)x->tally[i].count * rank[x->tally[i].class];
        mean /= r;
        for (size_t i = 0; i < x->n; i++) {
            const double from = rank[x->tally[i].class] - mean;
            sum += (double)x->tally[i].count * from * from;
        }
        t->paired[DIS_DISTANCE_RANK] += times[p] * (2 * r * sum / (r - 1));
    }
}

static void alpha_ratio(const dis__coefficients *c, const dis__class_sums *k, const dis__agreement_totals *t,
                        dis__coefficient_values *out)
{
    double expected = 0;
    for (size_t i = 0; i < c->n_classes; i++) {
        if (k[i].votes == 0) continue;
        double sum = 0;
        for (size_t j = i + 1; j < c->n_classes; j++) sum += k[j].votes * ratio_distance(c->raw[i], c->raw[j]);
        expected += 2 * k[i].votes * sum;
    }
    set_coefficient(out, DIS_MEASURE_ALPHA_RATIO, t->paired[DIS_DISTANCE_RATIO], expected / (t->votes - 1));
}

static void gwet(const dis__coefficients *c, double share_variance, const dis__agreement_totals *t,
                 dis__coefficient_id which, dis__distance d, dis__coefficient_values *out)
{
    const double n = (double)c->n_classes;
    const double chance = n > 1 ? (n * n - c->total[d]) / (n * (n - 1)) * share_variance : 1;
    set_coefficient(out, which, t->mean[d] / t->items, 1 - chance);
}

void dis__coefficients_from_totals(const dis__coefficients *c, const dis__agreement_totals *t,
                                   const dis__class_sums *classes, const double *rank, dis__coefficient_values *out)
{
    *out = (dis__coefficient_values){.items = t->items, .shared = t->shared, .votes = t->votes};
    double variance = 0, scott = 0, nominal = 0, used = 0; /* 1 - sum pi^2 = sum pi (1 - pi) without cancellation */
    for (size_t k = 0; k < c->n_classes; k++) {
        const double pi = classes[k].share / t->shared, q = classes[k].votes / t->votes;
        variance += pi * (1 - pi);
        scott += q * (1 - q);
        nominal += classes[k].votes * (t->votes - classes[k].votes);
        used += classes[k].votes > 0;
    }
    out->value[DIS_MEASURE_PERCENT] = (t->items - t->mean[DIS_DISTANCE_NOMINAL]) / t->items;
    set_coefficient(out, DIS_MEASURE_FLEISS, t->mean[DIS_DISTANCE_NOMINAL] / t->items, variance);
    set_coefficient(out, DIS_MEASURE_SCOTT, t->paired[DIS_DISTANCE_NOMINAL] / t->votes, scott);
    set_coefficient(out, DIS_MEASURE_ALPHA_NOMINAL, t->paired[DIS_DISTANCE_NOMINAL], nominal / (t->votes - 1));
    gwet(c, variance, t, DIS_MEASURE_AC1, DIS_DISTANCE_NOMINAL, out);
    if (c->ordered) {
        set_coefficient(out, DIS_MEASURE_ALPHA_ORDINAL, t->paired[DIS_DISTANCE_RANK],
                        spread(classes, c->n_classes, rank, t->votes));
        gwet(c, variance, t, DIS_MEASURE_AC2_LINEAR, DIS_DISTANCE_LINEAR, out);
        gwet(c, variance, t, DIS_MEASURE_AC2_QUADRATIC, DIS_DISTANCE_QUADRATIC, out);
        gwet(c, variance, t, DIS_MEASURE_AC2_ORDINAL, DIS_DISTANCE_POSITION, out);
    }
    if (c->numbers) {
        set_coefficient(out, DIS_MEASURE_ALPHA_INTERVAL, t->paired[DIS_DISTANCE_QUADRATIC],
                        spread(classes, c->n_classes, c->x, t->votes));
        alpha_ratio(c, classes, t, out);
    }
    if (used > 1) return;
    for (int m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) { /* all labels are the same */
        out->value[m] = 1;
        out->degenerate[m] = true;
    }
}

void dis__coefficients_compute_totals(const dis__coefficients *c, const double *times, dis__class_sums *classes,
                                      double *rank, dis__agreement_totals *out)
{
    add_patterns(c, times, classes, out);
    if (c->ordered) add_ranks(c, times, classes, rank, out);
}

void dis__coefficients_compute(const dis__coefficients *c, const double *times, dis__class_sums *classes, double *rank,
                               dis__coefficient_values *out)
{
    dis__agreement_totals t;
    dis__coefficients_compute_totals(c, times, classes, rank, &t);
    dis__coefficients_from_totals(c, &t, classes, rank, out);
}

size_t dis__coefficients_count_distances(const dis__coefficients *c)
{
    return c->ordered ? DIS_DISTANCES : 1;
}

void dis__coefficients_compute_distances(const dis__coefficients *c, const double *rank, uint32_t k, uint32_t l,
                                         double out[DIS_DISTANCES])
{
    const double apart = fabs((double)c->place[k] - (double)c->place[l]), n = (double)c->n_classes;
    const double x = c->x ? c->x[k] - c->x[l] : 0, ranks = c->ordered ? rank[k] - rank[l] : 0;
    out[DIS_DISTANCE_NOMINAL] = k != l;
    out[DIS_DISTANCE_LINEAR] = fabs(x);
    out[DIS_DISTANCE_QUADRATIC] = x * x;
    out[DIS_DISTANCE_POSITION] = c->n_classes > 1 ? (apart * apart + apart) / (n * (n - 1)) : 0;
    out[DIS_DISTANCE_RATIO] = c->numbers ? ratio_distance(c->raw[k], c->raw[l]) : 0;
    out[DIS_DISTANCE_RANK] = ranks * ranks;
}

bool dis__class_compute_measures(const dis__class_sums *k, const dis__coefficient_values *all,
                                 double out[DIS_CLASS_MEASURES], bool *degenerate)
{
    if (k->votes == 0) return false;
    const double rest = all->votes - k->votes, pi = k->share / all->shared;
    *degenerate = rest == 0;
    out[0] = k->both / k->votes;
    out[1] = rest == 0 ? 1 : 1 - k->parted / all->items / (2 * pi * (1 - pi));
    out[2] = rest == 0 ? 1 : 1 - (all->votes - 1) * (k->votes - k->both) / (k->votes * rest);
    return true;
}
