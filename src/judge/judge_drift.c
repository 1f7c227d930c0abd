/* Later votes against a certificate, valid at every look.
 *
 * With x_1, x_2, ... the values of items in their order, d = mean - certified mean after t items has, without drift,
 * the variance v = s^2 / t + S: s^2 is the variance of an item, in the certificate and the new items together, S the
 * variance of the certified mean plus what new annotators add. In the information 1 / v, the score d / v is a Brownian
 * motion. It ends at T = 1 / S, however many items follow: the certificate alone limits what can be known.
 *
 *   agreement       a drop: the largest M of -d / v - a / v, with a = DROP (1 - chance agreement). The p-value is the
 *                   probability that a Brownian motion on (0, T) exceeds the line M + a t (Siegmund 1985):
 *                   1 - F((M + a T) / sqrt(T)) + exp(-2 a M) F((a T - M) / sqrt(T)). As S -> 0, it becomes the
 *                   sequential probability ratio test of a drop by 2 a, exp(-2 a M).
 *   shares, biases  the likelihood ratio of a normal shift with standard deviation .05 or .2, 1/2 each: a martingale,
 *                   whose largest value exceeds 1 / level with probability level at most (Ville 1939)
 *
 * .6 of the level goes to agreement, .2 to the shares of all classes, .2 to their biases. The interval of the new mean is a confidence sequence (Robbins 1970). The change began most likely where the mean of the items
 * after it differs most, by its standard error, from the mean before it, the certificate's items included.
 *
 * Cost: O(items x classes + votes). */
#include "core/numbers/elementary.h"
#include "tool/arrays.h"
#include "judge/judge_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/erfc.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

enum { BURN_IN = 20 };
#define TUNING .04 /* of the confidence sequence: shortest near 200 items */
#define DROP   .04 /* of kappa: tuned to find a drop by .10 */

struct dis_drift {
    dis_drift_view view;
    dis_drift_row *rows;
};

DIS_OPTIONS_DEFAULTS(dis_drift_options, .size = sizeof(dis_drift_options), .level = .05)

static dis_drift_view view_of(const dis_drift *drift)
{
    return drift->view;
}
DIS_VIEW_DEFINE(dis_drift, drift, view_of(drift))

void dis_drift_destroy(dis_drift *drift)
{
    if (!drift) return;
    dis__free(drift->rows);
    dis__free(drift);
}

typedef struct {
    const dis__judge_votes *votes;
    const dis_certificate_view *certificate;
    const size_t *class_here; /* (classes of the certificate) their index in the votes, SIZE_MAX: none */
    double level, n_people;   /* people in the new votes */
    double *value;            /* (n_items) of the current row */
    size_t *item;             /* (n_items) */
} work;

/* ---- values of items ---- */

static double item_value(const work *w, const dis_drift_row *row, size_t i)
{
    const dis__judge_votes *v = w->votes;
    const size_t k = row->kind == DIS_DRIFT_AGREEMENT ? (size_t)v->answer[i] : w->class_here[row->class_index];
    const bool answered = (size_t)v->answer[i] == k;
    if (row->kind == DIS_DRIFT_SHARE) return answered;
    const double people = k == SIZE_MAX ? 0 : dis__judge_people_share(v, i, k);
    return row->kind == DIS_DRIFT_AGREEMENT ? people : answered - people;
}

static size_t list_values(const work *w, const dis_drift_row *row)
{
    const dis__judge_votes *v = w->votes;
    size_t n = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->answer[i] < 0 || (row->kind != DIS_DRIFT_SHARE && dis__judge_n_votes(v, i) == 0)) continue;
        w->value[n] = item_value(w, row, i);
        w->item[n++] = i;
    }
    return n;
}

/* ---- evidence ---- */

/* The probability that a Brownian motion on (0, T) exceeds M + a t somewhere. */
static double crossing_probability(double m, double a, double end)
{
    const double root = sqrt(end), above = (m + a * end) / root, below = (a * end - m) / root;
    return .5 * dis__erfc(above / sqrt(2)) + .5 * dis__exp(-2 * a * m) * dis__erfc(-below / sqrt(2));
}

static double evidence_of_change(double d, double v)
{
    static const double width[] = {.05, .2};
    double sum = 0;
    for (size_t a = 0; a < 2; a++) {
        const double wide = width[a] * width[a];
        sum += sqrt(v / (v + wide)) * dis__exp(d * d * wide / (2 * v * (v + wide))) / 2;
    }
    return sum;
}

/* The variance of an item; if all certified items are equal, the variance with one more item that differs. */
static double item_variance(const dis_judge_baseline *b)
{
    const double p = 1 / ((double)b->n + 2);
    return fmax(b->item_variance, p * (1 - p));
}

/* The variance of the certified mean, plus the contribution of the people of the new votes. */
static double fixed_variance(const work *w, const dis_drift_row *row, const dis_judge_baseline *b)
{
    const double items = b->n ? b->item_variance / (double)b->n : 0, people = fmax(0, b->variance - items);
    const double ratio = w->n_people > 0 ? (double)w->certificate->n_people / w->n_people : 1;
    const double floor_variance = item_variance(b) / fmax(1, (double)b->n);
    return fmax(b->variance, floor_variance) + (row->kind == DIS_DRIFT_SHARE ? 0 : people * ratio);
}

/* The p-value, valid at every look; *variance: of an item. */
static double test_values(const work *w, const dis_drift_row *row, const dis_judge_baseline *b, size_t n,
                          double *variance)
{
    const double certified = item_variance(b), fixed = fixed_variance(w, row, b), n_certified = (double)b->n;
    const double slope = DROP * (1 - w->certificate->chance_agreement);
    const bool drops = row->kind == DIS_DRIFT_AGREEMENT;
    double sum = 0, squares = 0, largest = 0;
    for (size_t t = 1; t <= n; t++) {
        const double x = w->value[t - 1] - b->mean;
        sum += x;
        squares += x * x;
        const double count = (double)t, d = sum / count, own = t > 1 ? (squares - sum * d) / (count - 1) : certified;
        *variance = (n_certified * certified + count * own) / (n_certified + count);
        const double v = *variance / count + fixed;
        if (t >= BURN_IN) largest = fmax(largest, drops ? (-d - slope) / v : evidence_of_change(d, v));
    }
    if (drops) return largest > 0 ? crossing_probability(largest, slope, 1 / fixed) : 1;
    return largest > 1 ? 1 / largest : 1;
}

static size_t find_change(const work *w, const dis_judge_baseline *b, size_t n)
{
    double total = 0, before = 0, best = -1;
    size_t at = 0;
    for (size_t t = 0; t < n; t++) total += w->value[t];
    for (size_t s = 0; s < n; s++) {
        const double n_before = (double)b->n + (double)s, n_after = (double)(n - s);
        const double mean = (b->mean * (double)b->n + before) / fmax(1, n_before);
        const double apart = (total - before) / n_after - mean;
        const double score = apart * apart * n_before * n_after / (n_before + n_after);
        if (score > best) {
            best = score;
            at = s;
        }
        before += w->value[s];
    }
    return w->item[at];
}

static dis_metric sequence(const work *w, size_t n, double mean, double variance, double least)
{
    const double t = (double)n, tuned = t * TUNING + 1;
    const double reach = sqrt(variance * 2 * tuned / (t * t * TUNING) * dis__log(sqrt(tuned) / w->level));
    return (dis_metric){.value = mean,
                        .ci_low = fmax(least, mean - reach),
                        .ci_high = fmin(1, mean + reach),
                        .n = n,
                        .has_interval = n >= BURN_IN};
}

/* share: fraction of the level assigned to this row. */
static void check_row(const work *w, dis_drift_row *row, const dis_judge_baseline *b, double share)
{
    const size_t n = list_values(w, row);
    double sum = 0, variance;
    row->n = n;
    row->certified = b->mean;
    row->p = 1;
    row->since = SIZE_MAX;
    row->now = dis__metric_undefined("no items");
    if (n == 0) return;
    for (size_t t = 0; t < n; t++) sum += w->value[t];
    const double p = test_values(w, row, b, n, &variance);
    row->now = sequence(w, n, sum / (double)n, variance, row->kind == DIS_DRIFT_BIAS ? -1 : 0);
    row->p = fmin(1, p / share);
    row->drifted = row->p <= w->level;
    if (row->drifted) row->since = find_change(w, b, n);
}

/* ---- all ---- */

static dis_status match_classes(const dis_certificate_view *c, const dis_votes_view *v, size_t *here)
{
    size_t found = 0;
    for (size_t k = 0; k < dis_names_count(c->classes); k++) {
        size_t n;
        const char *name = dis_names_get(c->classes, k, &n);
        here[k] = dis_names_find(v->classes, name, n);
        found += here[k] != SIZE_MAX;
    }
    for (size_t k = 0; found < v->n_classes && k < v->n_classes; k++) {
        size_t n;
        const char *name = dis_names_get(v->classes, k, &n);
        if (dis_names_find(c->classes, name, n) == SIZE_MAX)
            return dis__fail(DIS_EDATA,
                             "the votes have the class \"%s\", which the certificate does not have; a judge with other "
                             "classes needs a new certificate",
                             name);
    }
    return DIS_OK;
}

static double count_people(const dis__judge_votes *v, bool *seen)
{
    double n = 0;
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t t = v->start[i]; v->answer[i] >= 0 && t < v->start[i + 1]; t++) {
            n += !seen[v->person[t]];
            seen[v->person[t]] = true;
        }
    return n;
}

static dis_status check_all(work *w, dis_drift *drift)
{
    const dis_certificate_view *c = w->certificate;
    const size_t n = dis_names_count(c->classes);
    const double each = .2 / (double)n;
    DIS_TRY(dis__alloc_zeroed(&drift->rows, 1 + 2 * n, sizeof *drift->rows));
    check_row(w, &drift->rows[0], &c->agreement, .6);
    for (size_t k = 0; k < n; k++) {
        dis_drift_row *share = &drift->rows[1 + k], *bias = &drift->rows[1 + n + k];
        *share = (dis_drift_row){.kind = DIS_DRIFT_SHARE, .class_index = (uint32_t)k};
        *bias = (dis_drift_row){.kind = DIS_DRIFT_BIAS, .class_index = (uint32_t)k};
        check_row(w, share, &c->shares[k], each);
        check_row(w, bias, &c->biases[k], each);
    }
    drift->view = (dis_drift_view){.n_rows = 1 + 2 * n,
                                   .rows = drift->rows,
                                   .n_items = w->votes->n_answers,
                                   .n_shared = w->votes->n_shared};
    for (size_t r = 0; r < drift->view.n_rows; r++) drift->view.drifted = drift->view.drifted || drift->rows[r].drifted;
    return DIS_OK;
}

static dis_status run(const dis_certificate_view *c, const dis_votes_view *v, const dis__judge_votes *mine,
                      double level, dis_drift *drift)
{
    work w = {.votes = mine, .certificate = c, .level = level};
    size_t *here = NULL;
    bool *seen = NULL;
    dis_status status = dis__alloc_array(&here, dis_names_count(c->classes), sizeof *here);
    if (status == DIS_OK) status = dis__alloc_zeroed(&seen, mine->n_people, sizeof *seen);
    if (status == DIS_OK) status = dis__alloc_array(&w.value, mine->n_items, sizeof *w.value);
    if (status == DIS_OK) status = dis__alloc_array(&w.item, mine->n_items, sizeof *w.item);
    if (status == DIS_OK) status = match_classes(c, v, here);
    if (status == DIS_OK) {
        w.class_here = here;
        w.n_people = count_people(mine, seen);
        status = check_all(&w, drift);
    }
    dis__free(here);
    dis__free(seen);
    dis__free(w.value);
    dis__free(w.item);
    return status;
}

dis_status dis_drift_run(dis_context *ctx, const dis_certificate *certificate, const dis_votes *votes,
                         const bool *person, const dis_drift_options *options, dis_drift **out)
{
    dis_drift_options o = dis_drift_options_default();
    const dis_certificate_view c = dis_certificate_get_view(certificate);
    const dis_votes_view v = dis_votes_get_view(votes);
    dis__judge_votes mine;
    dis_drift *drift;
    (void)ctx;
    DIS_TRY(DIS_OPTIONS_COPY(dis_drift_options, &o, options));
    if (!(o.level > 0 && o.level < 1)) return dis__fail(DIS_EUSAGE, "`level` must be between 0 and 1");
    DIS_TRY(dis__judge_votes_create(&v, person, o.name ? o.name : c.judge, &mine));
    dis_status status = mine.n_answers ? DIS_OK : dis__fail(DIS_EDATA, "the judge has no votes in these files");
    if (status == DIS_OK) status = dis__alloc_zeroed(&drift, 1, sizeof *drift);
    if (status == DIS_OK) {
        status = run(&c, &v, &mine, o.level, drift);
        if (status == DIS_OK)
            *out = drift;
        else
            dis_drift_destroy(drift);
    }
    dis__judge_votes_destroy(&mine);
    return status;
}
