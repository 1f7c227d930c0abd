/* Agreement within groups and between them.
 *
 * Of item i group X has R votes and group Y S of them. Within X (Krippendorff 2011), over items with R >= 2:
 *
 *   D_o = sum_i 1 / (R - 1) sum_{pairs of X's votes} d / n,  D_e = sum_kl n_k n_l d_kl / (n (n - 1)),  1 - D_o / D_e
 *
 * Between X and Y, over items with votes of both (xRR: Wong, Paritosh, Aroyo 2021, weighing items with missing votes by
 * R + S):
 *
 *   D_o = sum_i (R + S) mean_{x in X, y in Y} d / sum_i (R + S),  D_e = sum_kl n^X_k n^Y_l d_kl / (n^X n^Y)
 *
 * d is [k != l], or for ordered classes the square of the difference of ranks, computed from all votes, so that all
 * groups share one scale. Both are computed from moments, or from counts per class.
 *
 * Cost: O(votes + items x groups present^2 x classes present). */
#include "agreement/group_sums.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

size_t dis__group_pair_index(size_t n_groups, size_t a, size_t b)
{
    return a * n_groups - a * (a + 1) / 2 + b - a - 1;
}

size_t dis__group_pair_value_index(const dis__group_sums *s, size_t pair)
{
    return s->n_groups * DIS_GROUP_VALUES + pair * DIS_PAIR_VALUES;
}

size_t dis__group_difference_value_index(const dis__group_sums *s)
{
    return s->n_values - 1;
}

static double *next_margin(double **at, size_t n)
{
    double *margin = *at;
    *at += n;
    return margin;
}

dis_status dis__group_sums_create(const dis_votes_view *votes, const double *rank, size_t n_groups, dis__group_sums *s)
{
    const size_t n_pairs = n_groups * (n_groups - 1) / 2, n = votes->n_classes;
    *s = (dis__group_sums){.votes = votes,
                           .rank = rank,
                           .n_groups = n_groups,
                           .n_pairs = n_pairs,
                           .n_values = n_groups * DIS_GROUP_VALUES + n_pairs * DIS_PAIR_VALUES + 1};
    const size_t relations = 2 * n_groups + n_pairs;
    dis_status status = dis__alloc_zeroed(&s->within, relations, sizeof *s->within);
    if (status == DIS_OK)
        status = dis__alloc_zeroed(&s->margins, dis__saturating_size(2 * relations, n, 0), sizeof *s->margins);
    if (status == DIS_OK)
        status = dis__alloc_zeroed(&s->count, dis__saturating_size(n_groups + 1, n, 0), sizeof *s->count);
    if (status == DIS_OK) status = dis__alloc_array(&s->class, n, sizeof *s->class);
    if (status == DIS_OK) status = dis__alloc_zeroed(&s->seen, n, sizeof *s->seen);
    if (status != DIS_OK) {
        dis__group_sums_destroy(s);
        return status;
    }
    s->others = s->within + n_groups;
    s->pair = s->others + n_groups;
    double *at = s->margins;
    for (size_t r = 0; r < relations; r++) {
        s->within[r].x.margin = next_margin(&at, n);
        s->within[r].y.margin = next_margin(&at, n);
    }
    return DIS_OK;
}

void dis__group_sums_destroy(dis__group_sums *s)
{
    dis__free(s->within);
    dis__free(s->margins);
    dis__free(s->count);
    dis__free(s->class);
    dis__free(s->seen);
    *s = (dis__group_sums){0};
}

static void restart(dis__group_sums *s)
{
    const size_t relations = 2 * s->n_groups + s->n_pairs;
    for (size_t r = 0; r < relations; r++) {
        dis__group_relation *x = &s->within[r];
        *x = (dis__group_relation){.x = {.margin = x->x.margin}, .y = {.margin = x->y.margin}};
    }
    memset(s->margins, 0, 2 * relations * s->votes->n_classes * sizeof *s->margins);
}

/* ---- one item ---- */

/* Votes of a side on the current item. */
typedef struct {
    double n, sum, square;
    const double *count; /* (n_classes) */
    const double *minus; /* a group contained in `count` that does not belong to the side; NULL: none */
} present;

static double votes_for(const present *p, uint32_t k)
{
    return p->minus ? p->count[k] - p->minus[k] : p->count[k];
}

static void add_side(const dis__group_sums *s, size_t n_classes, const present *p, double times, dis__group_side *to)
{
    to->n += times * p->n;
    to->sum += times * p->sum;
    to->square += times * p->square;
    for (size_t c = 0; c < n_classes; c++) to->margin[s->class[c]] += times * votes_for(p, s->class[c]);
}

static void add_within(const dis__group_sums *s, size_t n_classes, const present *p, double times,
                       dis__group_relation *to)
{
    if (p->n < 2) return;
    double same = 0;
    for (size_t c = 0; c < n_classes; c++) same += votes_for(p, s->class[c]) * (votes_for(p, s->class[c]) - 1);
    const double pairs = p->n * (p->n - 1);
    const double apart = s->rank ? 2 * (p->n * p->square - p->sum * p->sum) : pairs - same;
    to->weight += times * p->n;
    to->apart += times * apart / (p->n - 1);
    to->items += times;
    to->agreement += times * same / pairs;
    add_side(s, n_classes, p, times, &to->x);
}

static void add_between(const dis__group_sums *s, size_t n_classes, const present *x, const present *y, double times,
                        dis__group_relation *to)
{
    if (x->n == 0 || y->n == 0) return;
    double same = 0;
    for (size_t c = 0; c < n_classes; c++) same += votes_for(x, s->class[c]) * votes_for(y, s->class[c]);
    same /= x->n * y->n;
    const double apart =
        s->rank ? x->square / x->n + y->square / y->n - 2 * (x->sum / x->n) * (y->sum / y->n) : 1 - same;
    to->weight += times * (x->n + y->n);
    to->apart += times * (x->n + y->n) * apart;
    to->items += times;
    to->agreement += times * same;
    add_side(s, n_classes, x, times, &to->x);
    add_side(s, n_classes, y, times, &to->y);
}

/* Adds the votes of an item to the counts; returns the number of classes with votes. */
static size_t count_item(dis__group_sums *s, size_t i, const int32_t *group, present *sides, present *all)
{
    const dis_votes_view *v = s->votes;
    const size_t n = v->n_classes;
    size_t n_classes = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const int32_t g = group[v->worker[t]];
        const uint32_t k = v->label8 ? v->label8[t] : v->label16[t];
        if (g < 0) continue;
        if (!s->seen[k]) {
            s->seen[k] = true;
            s->class[n_classes++] = k;
        }
        present *const to[2] = {&sides[g], all};
        for (int j = 0; j < 2; j++) {
            to[j]->n++;
            to[j]->sum += s->rank ? s->rank[k] : 0;
            to[j]->square += s->rank ? s->rank[k] * s->rank[k] : 0;
        }
        s->count[(size_t)g * n + k]++;
        s->count[s->n_groups * n + k]++;
    }
    return n_classes;
}

static void clear_item(dis__group_sums *s, size_t n_classes)
{
    for (size_t c = 0; c < n_classes; c++) {
        s->seen[s->class[c]] = false;
        for (size_t g = 0; g <= s->n_groups; g++) s->count[g * s->votes->n_classes + s->class[c]] = 0;
    }
}

void dis__group_sums_add_item(dis__group_sums *s, size_t i, const int32_t *group, double times)
{
    present side[DIS_MAX_GROUPS], all = {.count = s->count + s->n_groups * s->votes->n_classes};
    for (size_t g = 0; g < s->n_groups; g++) side[g] = (present){.count = s->count + g * s->votes->n_classes};
    const size_t n = count_item(s, i, group, side, &all);
    for (size_t g = 0; g < s->n_groups && n; g++) {
        if (side[g].n == 0) continue;
        const present rest = {.n = all.n - side[g].n,
                              .sum = all.sum - side[g].sum,
                              .square = all.square - side[g].square,
                              .count = all.count,
                              .minus = side[g].count};
        add_within(s, n, &side[g], times, &s->within[g]);
        add_between(s, n, &side[g], &rest, times, &s->others[g]);
        for (size_t h = g + 1; h < s->n_groups; h++)
            add_between(s, n, &side[g], &side[h], times, &s->pair[dis__group_pair_index(s->n_groups, g, h)]);
    }
    clear_item(s, n);
}

void dis__group_sums_compute(dis__group_sums *s, const int32_t *group, const uint8_t *times)
{
    restart(s);
    for (size_t i = 0; i < s->votes->n_items; i++)
        if (!times || times[i]) dis__group_sums_add_item(s, i, group, times ? times[i] : 1);
}

void dis__group_sums_copy(const dis__group_sums *from, dis__group_sums *to)
{
    const size_t relations = 2 * from->n_groups + from->n_pairs;
    for (size_t r = 0; r < relations; r++) {
        double *const x = to->within[r].x.margin, *const y = to->within[r].y.margin;
        to->within[r] = from->within[r];
        to->within[r].x.margin = x;
        to->within[r].y.margin = y;
    }
    memcpy(to->margins, from->margins, 2 * relations * from->votes->n_classes * sizeof *to->margins);
}

/* ---- values ---- */

/* 1 if no disagreement is expected: all labels are the same. */
static double beyond(double observed, double expected)
{
    return expected > 0 ? 1 - observed / expected : 1;
}

static double alpha_of(const dis__group_sums *s, const dis__group_relation *r)
{
    const double n = r->x.n;
    if (n == 0) return NAN;
    double expected = 2 * (n * r->x.square - r->x.sum * r->x.sum);
    if (!s->rank) {
        expected = n * n;
        for (size_t k = 0; k < s->votes->n_classes; k++) expected -= r->x.margin[k] * r->x.margin[k];
    }
    return beyond(r->apart / r->weight, expected / (n * (n - 1)));
}

static double across_of(const dis__group_sums *s, const dis__group_relation *r)
{
    const dis__group_side *x = &r->x, *y = &r->y;
    if (x->n == 0) return NAN;
    double expected = x->square / x->n + y->square / y->n - 2 * (x->sum / x->n) * (y->sum / y->n);
    if (!s->rank) {
        double same = 0;
        for (size_t k = 0; k < s->votes->n_classes; k++) same += x->margin[k] * y->margin[k];
        expected = 1 - same / (x->n * y->n);
    }
    return beyond(r->apart / r->weight, expected);
}

static double percent_of(const dis__group_relation *r)
{
    return r->items > 0 ? r->agreement / r->items : (double)NAN;
}

void dis__group_sums_compute_values(const dis__group_sums *s, double *values)
{
    double apart = 0, votes = 0;
    for (size_t g = 0; g < s->n_groups; g++) {
        double *v = values + g * DIS_GROUP_VALUES;
        v[DIS_GROUP_PERCENT] = percent_of(&s->within[g]);
        v[DIS_GROUP_WITHIN] = alpha_of(s, &s->within[g]);
        v[DIS_GROUP_ACROSS] = across_of(s, &s->others[g]);
        v[DIS_GROUP_INDEX] = v[DIS_GROUP_ACROSS] > 0 ? v[DIS_GROUP_WITHIN] / v[DIS_GROUP_ACROSS] : (double)NAN;
        if (isnan(v[DIS_GROUP_WITHIN]) || isnan(v[DIS_GROUP_ACROSS])) continue;
        apart += s->within[g].x.n * (v[DIS_GROUP_WITHIN] - v[DIS_GROUP_ACROSS]);
        votes += s->within[g].x.n;
    }
    for (size_t p = 0; p < s->n_pairs; p++) {
        double *v = values + dis__group_pair_value_index(s, p);
        v[DIS_PAIR_PERCENT] = percent_of(&s->pair[p]);
        v[DIS_PAIR_ACROSS] = across_of(s, &s->pair[p]);
    }
    for (size_t a = 0; a < s->n_groups; a++)
        for (size_t b = a + 1; b < s->n_groups; b++)
            values[dis__group_pair_value_index(s, dis__group_pair_index(s->n_groups, a, b)) + DIS_PAIR_DIFFERENCE] =
                values[a * DIS_GROUP_VALUES + DIS_GROUP_WITHIN] - values[b * DIS_GROUP_VALUES + DIS_GROUP_WITHIN];
    values[dis__group_difference_value_index(s)] = votes > 0 ? apart / votes : (double)NAN;
}
