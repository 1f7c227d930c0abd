/* Variances of coefficients of agreement. A coefficient is a mean over pairs of votes on an item, corrected for chance; its
 * linear part in a pair with labels y and z is
 *
 *     phi(y, z) = c ([y = z] - A) - d ((p_y - P) + (p_z - P)),   c = 1 / (1 - P), d = (1 - A) / (1 - P)^2
 *
 * with A the share of equal pairs, p the class shares and P = sum p^2 (percent: c = 1, d = 0). As a mean over pairs it varies
 * with items, annotators, votes and pairs (Hoeffding):
 *
 *     phi = I + (B_j + B_k) + (C_ij + C_ik) + R_ijk      variance of the mean: I / N + 4 B / A + 4 C / (N m) + 2 R / (N m (m - 1))
 *
 * Two disjoint pairs of an item have covariance I; two pairs with one vote in common, I + B + C; a pair with itself, I + 2 B
 * + 2 C + R. Votes of one annotator on different items have covariance B in their means over the other votes. With fewer
 * than four votes on an item, disjoint pairs do not exist: the ratio of these moments is then that of four draws from an urn
 * in which the first labels are added again (Dirichlet-multinomial law with the same shares and the same agreement).
 * Observed ratios count by their items, the urn's as 20 items.
 *
 * Cost: O(votes x distinct labels of an item). */
#include "study/study_internal.h"
#include "core/memory/memory.h"
#include "core/random/rng.h"
#include "core/random/random.h"
#include <math.h>

enum { DRAWS = 100000, URN_ITEMS = 20 };

typedef struct {
    double c, d, a, chance;
    const double *p;
} kernel;

static double phi(const kernel *k, size_t y, size_t z)
{
    return k->c * ((y == z) - k->a) - k->d * (k->p[y] + k->p[z] - 2 * k->chance);
}

static kernel kernel_of(const dis__study_metric_row *metric, double agreement, const double *p, size_t n_classes)
{
    kernel k = {.c = 1, .a = agreement, .p = p};
    for (size_t y = 0; y < n_classes; y++) k.chance += p[y] * p[y];
    if (metric->metric == DIS_STUDY_PERCENT || k.chance >= 1) return k;
    k.c = 1 / (1 - k.chance);
    k.d = (1 - agreement) * k.c * k.c;
    return k;
}

static double coefficient(const kernel *k)
{
    return k->chance < 1 ? (k->a - k->chance) / (1 - k->chance) : (double)NAN;
}

/* ---- moments of the urn ---- */

typedef struct {
    double same, shared, disjoint;
} pair_moments;

static size_t draw(dis__rng *rng, const double *p, size_t n_classes, double kappa, const size_t *drawn, size_t n)
{
    const double s = (1 - kappa) / kappa;
    double u = dis__rng_uniform(rng) * (s + (double)n);
    if (u >= s) return drawn[(size_t)(u - s) < n ? (size_t)(u - s) : n - 1];
    u /= s;
    size_t y = 0;
    while (y + 1 < n_classes && u >= p[y]) u -= p[y++];
    return y;
}

static pair_moments urn_moments(const kernel *k, size_t n_classes, double kappa, uint64_t seed)
{
    pair_moments out = {0};
    dis__rng rng = dis__rng_at(seed, DIS_STREAM_PLAN, 0);
    const double alike = fmin(fmax(kappa, .01), .99);
    for (int t = 0; t < DRAWS; t++) {
        size_t y[4];
        for (size_t n = 0; n < 4; n++) y[n] = draw(&rng, k->p, n_classes, alike, y, n);
        const double first = phi(k, y[0], y[1]);
        out.same += first * first / DRAWS;
        out.shared += first * phi(k, y[0], y[2]) / DRAWS;
        out.disjoint += first * phi(k, y[2], y[3]) / DRAWS;
    }
    return out;
}

/* Variances from moments; `annotators` is B. */
static void set_variances(const pair_moments *m, double annotators, dis_study_variances *out)
{
    const double disjoint = fmin(fmax(m->disjoint, 0), m->same);
    const double shared = fmin(fmax(m->shared, disjoint), (m->same + disjoint) / 2);
    out->items = disjoint;
    out->annotators = 4 * annotators;
    out->votes = 4 * fmax(shared - disjoint - annotators, 0);
    out->pairs = 2 * (m->same - 2 * shared + disjoint);
}

void dis__study_state_pairs(const dis__study_metric_row *metric, const dis_study_figures *f, uint64_t seed,
                            dis_study_plan *out)
{
    enum { MAX_CLASSES = 64 };
    double p[MAX_CLASSES];
    const size_t n = f->n_classes < MAX_CLASSES ? f->n_classes : MAX_CLASSES;
    for (size_t y = 0; y < n; y++) p[y] = 1 / (double)n;
    const double chance = 1 / (double)n, agreement = chance + f->kappa * (1 - chance);
    const kernel k = kernel_of(metric, agreement, p, n);
    const pair_moments m = urn_moments(&k, n, f->kappa, seed);
    set_variances(&m, f->spread * f->spread, &out->variances);
    out->value = metric->metric == DIS_STUDY_PERCENT ? agreement : f->kappa;
}

/* ---- moments of a pilot ---- */

typedef struct {
    const dis__study_pilot *pilot;
    size_t n_classes;
    double *p, *count;                  /* (n_classes) */
    uint32_t *present;                  /* (n_classes) classes on an item */
    double *sum, *squares, *n_voted;    /* (n_people) of row means */
    double n_items, n_votes, agreement; /* items with two votes or more */
    double same, n_three, same_three, shared_three, n_four, same_four, disjoint_four, item_squares;
} work;

static size_t count_item(work *w, size_t i)
{
    const dis__judge_votes *v = &w->pilot->people;
    size_t n = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const uint32_t y = v->label[t];
        if (w->count[y]++ == 0) w->present[n++] = y;
    }
    return n;
}

static void clear_item(work *w, size_t n)
{
    for (size_t x = 0; x < n; x++) w->count[w->present[x]] = 0;
}

static void add_shares(work *w, size_t i)
{
    const double m = (double)dis__judge_n_votes(&w->pilot->people, i);
    if (m < 2) return;
    const size_t n = count_item(w, i);
    for (size_t x = 0; x < n; x++) {
        const double c = w->count[w->present[x]];
        w->p[w->present[x]] += c / m;
        w->agreement += c * (c - 1) / (m * (m - 1));
    }
    w->n_items++;
    w->n_votes += m;
    clear_item(w, n);
}

static double row_sum(const work *w, const kernel *k, size_t y, size_t n)
{
    double sum = -phi(k, y, y);
    for (size_t x = 0; x < n; x++) sum += w->count[w->present[x]] * phi(k, y, w->present[x]);
    return sum;
}

static void add_moments(work *w, const kernel *k, size_t i)
{
    const dis__judge_votes *v = &w->pilot->people;
    const double m = (double)dis__judge_n_votes(v, i), pairs = m * (m - 1);
    double total = 0, rows = 0, squares = 0;
    if (m < 2) return;
    const size_t n = count_item(w, i);
    for (size_t x = 0; x < n; x++) {
        const size_t y = w->present[x];
        const double c = w->count[y], row = row_sum(w, k, y, n);
        total += c * row;
        rows += c * row * row;
        squares -= c * phi(k, y, y) * phi(k, y, y);
        for (size_t z = 0; z < n; z++) {
            const double one = phi(k, y, w->present[z]);
            squares += c * w->count[w->present[z]] * one * one;
        }
    }
    w->same += squares / pairs;
    w->item_squares += total * total / (pairs * pairs);
    if (m >= 3) {
        w->n_three++;
        w->same_three += squares / pairs;
        w->shared_three += (rows - squares) / (pairs * (m - 2));
    }
    if (m >= 4) {
        w->n_four++;
        w->same_four += squares / pairs;
        w->disjoint_four += (total * total - 2 * squares - 4 * (rows - squares)) / (pairs * (m - 2) * (m - 3));
    }
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const double mean = row_sum(w, k, v->label[t], n) / (m - 1);
        w->sum[v->person[t]] += mean;
        w->squares[v->person[t]] += mean * mean;
        w->n_voted[v->person[t]]++;
    }
    clear_item(w, n);
}

static double mix(double observed, double n, double urn)
{
    return n > 0 ? (n * observed + URN_ITEMS * urn) / (n + URN_ITEMS) : urn;
}

static void finish(work *w, const dis__study_metric_row *metric, const kernel *k, uint64_t seed, dis_study_plan *out)
{
    const size_t n_people = w->pilot->people.n_people;
    const pair_moments urn = urn_moments(k, w->n_classes, coefficient(k), seed);
    pair_moments m = {.same = w->same / w->n_items};
    m.shared = m.same * mix(w->shared_three / w->same_three, w->n_three, urn.shared / urn.same);
    m.disjoint = m.same * mix(w->disjoint_four / w->same_four, w->n_four, urn.disjoint / urn.same);
    double between = 0, n_between = 0;
    for (size_t j = 0; j < n_people; j++) {
        between += w->sum[j] * w->sum[j] - w->squares[j];
        n_between += w->n_voted[j] * (w->n_voted[j] - 1);
        out->n_annotators += w->n_voted[j] > 0;
    }
    out->effective_annotators = dis__effective_number(w->n_voted, n_people);
    const double items = fmax(m.disjoint, 0);
    const dis__study_estimate e = {.total = m.same,
                                   .items = items,
                                   .annotators = n_between > 0 ? 4 * between / n_between : (double)NAN,
                                   .per_item = w->item_squares / w->n_items,
                                   .per_annotator = m.same * out->effective_annotators / w->n_votes,
                                   .n_items = w->n_items,
                                   .n_annotators = out->effective_annotators};
    dis_study_variances parts;
    dis__study_shrink(&metric->prior, &e, &parts);
    set_variances(&m, parts.annotators / 4, &out->variances);
    out->variances.items_error = sqrt(2 / fmax(w->n_items - 1, 1)) * e.per_item;
    out->variances.annotators_error = parts.annotators_error;
    out->value = metric->metric == DIS_STUDY_PERCENT ? k->a : coefficient(k);
    out->n_items = (uint64_t)w->n_items;
    out->n_votes = (uint64_t)w->n_votes;
}

static dis_status run(work *w, const dis__study_metric_row *metric, uint64_t seed, dis_study_plan *out)
{
    const dis__judge_votes *v = &w->pilot->people;
    double **all[] = {&w->p, &w->count}, **people[] = {&w->sum, &w->squares, &w->n_voted};
    for (size_t a = 0; a < 2; a++) DIS_TRY(dis__alloc_zeroed(all[a], w->n_classes, sizeof **all[a]));
    for (size_t a = 0; a < 3; a++) DIS_TRY(dis__alloc_zeroed(people[a], v->n_people, sizeof **people[a]));
    DIS_TRY(dis__alloc_array(&w->present, w->n_classes, sizeof *w->present));
    for (size_t i = 0; i < v->n_items; i++) add_shares(w, i);
    if (w->n_items < DIS_JUDGE_MIN_ITEMS)
        return dis__fail(DIS_EDATA, "%.0f items of the pilot have votes of two people; at least %d are needed",
                         w->n_items, DIS_JUDGE_MIN_ITEMS);
    for (size_t y = 0; y < w->n_classes; y++) w->p[y] /= w->n_items;
    const kernel k = kernel_of(metric, w->agreement / w->n_items, w->p, w->n_classes);
    if (k.chance > 1 - 1e-9)
        return dis__fail(DIS_EDATA, "all votes of the pilot are for one class; agreement cannot be planned from them");
    for (size_t i = 0; i < v->n_items; i++) add_moments(w, &k, i);
    finish(w, metric, &k, seed, out);
    return DIS_OK;
}

dis_status dis__study_compute_pairs(const dis__study_metric_row *metric, const dis__study_pilot *pilot, uint64_t seed,
                                    dis_study_plan *out)
{
    work w = {.pilot = pilot, .n_classes = pilot->people.n_classes};
    const dis_status status = run(&w, metric, seed, out);
    double *all[] = {w.p, w.count, w.sum, w.squares, w.n_voted};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) dis__free(all[a]);
    dis__free(w.present);
    return status;
}
