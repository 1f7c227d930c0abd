/* Designs of studies. The variance of a figure with N items, m votes on each and A annotators with equal shares of them is
 *
 *     V = items / N + annotators / A + votes / (N m) + pairs / (N m (m - 1))
 *
 * with the parts of study_means.c and study_pairs.c. The intervals of the commands estimate V as (variance over annotators)
 * + (variance over items) - (variance over votes), with degrees of freedom from the first two (crossed_intervals.h). A plan
 * computes what each of the three is expected to be, so that its intervals have the width that the commands will print.
 * The square root of an estimated variance with d degrees of freedom is too small on average by the factor 1 - 1 / (4 d).
 *
 * Majority labels: V = p (1 - p) / N + (m pivot)^2 annotators / A (study_labels.c).
 *
 * Power is the probability that a t test with the same degrees of freedom detects the effect; the law of the estimated
 * variance is integrated by Wilson and Hilferty's (1931) approximation.
 *
 * The search takes the cheapest number of items for each number of votes and annotators by bisection. As many annotators as
 * possible are best if they cost nothing, so it takes the smallest number whose cost is at most a quarter above that.
 *
 * Cost: O(votes of the pilot), and some 20 evaluations per pair of votes and annotators. */
#include "study/study_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "stats/distributions.h"
#include "tool/arrays.h"
#include <math.h>
#include <string.h>

enum { MAX_GRID = 1000000, MAX_ITEMS = 10000000, MIN_ANNOTATORS = 5, QUANTILES = 64 };

static const size_t usual_items[] = {50, 100, 200, 400, 800, 1600};
static const size_t usual_annotators[] = {5, 8, 12, 20, 30, 50, 100};
static const size_t usual_votes[] = {1, 2, 3, 5, 7, 10};

#define LIST(name, values) .name = (values), .n_##name = sizeof(values) / sizeof *(values)
DIS_OPTIONS_DEFAULTS(dis_study_plan, .size = sizeof(dis_study_plan))
DIS_OPTIONS_DEFAULTS(dis_study_options, .size = sizeof(dis_study_options), .metric = "labels", LIST(items, usual_items),
                     LIST(annotators, usual_annotators), LIST(votes_per_item, usual_votes),
                     .figures = {.value = (double)NAN,
                                 .kappa = (double)NAN,
                                 .spread = (double)NAN,
                                 .discordant = (double)NAN,
                                 .judge_kappa = (double)NAN},
                     .effect = (double)NAN, .power = .8, .half_width = (double)NAN, .min_accuracy = (double)NAN,
                     .budget = (double)NAN, .vote_cost = 1, .judge_cost = .01)

/* Priors: from the crowds of docs/evidence/plan.md. */
static const dis__study_metric_row metrics[DIS_STUDY_METRICS] = {
    [DIS_STUDY_LABELS] = {.name = "labels", .metric = DIS_STUDY_LABELS, .prior = {.03, .06, .12}},
    [DIS_STUDY_ALPHA] =
        {.name = "alpha", .metric = DIS_STUDY_ALPHA, .pairs = true, .one_sided = true, .prior = {.03, .06, .07}},
    [DIS_STUDY_KAPPA] =
        {.name = "kappa", .metric = DIS_STUDY_KAPPA, .pairs = true, .one_sided = true, .prior = {.03, .06, .07}},
    [DIS_STUDY_PERCENT] =
        {.name = "percent", .metric = DIS_STUDY_PERCENT, .pairs = true, .one_sided = true, .prior = {.1, .1, .11}},
    [DIS_STUDY_JUDGE] =
        {.name = "judge", .metric = DIS_STUDY_JUDGE, .one_sided = true, .judges = 1, .prior = {.13, .1, .075}},
    [DIS_STUDY_DIFFERENCE] = {.name = "difference",
                              .metric = DIS_STUDY_DIFFERENCE,
                              .judges = 2,
                              .prior = {.38, .18, .002}},
    [DIS_STUDY_SHARE] = {.name = "share", .metric = DIS_STUDY_SHARE, .prior = {.28, .17, .15}},
};

/* ---- options ---- */

static const char *metric_name(const void *arg, size_t i)
{
    (void)arg;
    return i < DIS_STUDY_METRICS ? metrics[i].name : NULL;
}

static dis_status find_metric(const char *name, dis_study_metric *out)
{
    char list[200] = "";
    for (size_t i = 0; i < DIS_STUDY_METRICS; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            *out = (dis_study_metric)i;
            return DIS_OK;
        }
        dis__text_list_append(list, sizeof list, metrics[i].name, strlen(metrics[i].name));
    }
    const char *near = dis__name_find_nearest(name, metric_name, NULL);
    return dis__fail(DIS_EUSAGE, "`metric`: \"%.60s\" is unknown; the metrics are %s%s%s%s", name, list,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static dis_status check_list(const char *name, const size_t *list, size_t n, size_t least, size_t most)
{
    if (n == 0) return dis__fail(DIS_EUSAGE, "`%s` is empty", name);
    for (size_t i = 0; i < n; i++)
        if (list[i] < least || list[i] > most)
            return dis__fail(DIS_EUSAGE, "`%s` has %zu; numbers from %zu to %zu are possible", name, list[i], least,
                             most);
    return DIS_OK;
}

static dis_status check_number(const char *name, double x, double low, double high)
{
    if (isnan(x) || (x >= low && x <= high)) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "`%s` is %g; numbers from %g to %g are possible", name, x, low, high);
}

static dis_status check(const dis_study_options *o, const dis__study_metric_row *metric)
{
    const double costs[] = {o->vote_cost, o->item_cost, o->annotator_cost, o->judge_cost};
    DIS_TRY(check_list("items", o->items, o->n_items, 2, MAX_ITEMS));
    DIS_TRY(check_list("annotators", o->annotators, o->n_annotators, MIN_ANNOTATORS, MAX_ITEMS));
    DIS_TRY(check_list("votes_per_item", o->votes_per_item, o->n_votes_per_item, 1, DIS_STUDY_MAX_VOTES));
    if (o->n_items > MAX_GRID / o->n_annotators / o->n_votes_per_item)
        return dis__fail(DIS_ELIMIT, "the grid has more than %d designs", MAX_GRID);
    DIS_TRY(check_number("effect", o->effect, 1e-6, 2));
    DIS_TRY(check_number("power", o->power, .05, .9999));
    DIS_TRY(check_number("half_width", o->half_width, 1e-6, 1));
    DIS_TRY(check_number("min_accuracy", o->min_accuracy, 0, 1));
    DIS_TRY(check_number("budget", o->budget, 0, 1e15));
    if (!isnan(o->min_accuracy) && metric->metric != DIS_STUDY_LABELS)
        return dis__fail(DIS_EUSAGE, "`min_accuracy` is for the metric \"labels\", not for \"%s\"", metric->name);
    for (size_t c = 0; c < sizeof costs / sizeof *costs; c++)
        if (!(costs[c] >= 0 && costs[c] <= 1e12))
            return dis__fail(DIS_EUSAGE, "a cost is %g; 0 or more is needed", costs[c]);
    if (o->vote_cost + o->item_cost <= 0 || o->judge_cost <= 0)
        return dis__fail(DIS_EUSAGE, "`vote_cost` and `judge_cost` must be above 0");
    return DIS_OK;
}

/* ---- the pilot ---- */

static dis_status find_class(const dis_study_options *o, const dis_votes_view *v, uint32_t *out)
{
    *out = 0;
    if (!o->class_name) return DIS_OK;
    for (size_t k = 0; k < v->n_classes; k++)
        if (strcmp(dis_names_get(v->classes, k, NULL), o->class_name) == 0) {
            *out = (uint32_t)k;
            return DIS_OK;
        }
    return dis__fail(DIS_EUSAGE, "`class_name`: the votes have no class \"%.60s\"", o->class_name);
}

static dis_status read_other(const dis_votes_view *v, const bool *person, const char *name, int32_t **out)
{
    uint32_t worker;
    dis__judge_votes votes;
    DIS_TRY(dis__judge_find(v, person, name, &worker));
    DIS_TRY(dis__judge_votes_read(v, person, worker, &votes));
    *out = votes.answer;
    votes.answer = NULL;
    dis__judge_votes_destroy(&votes);
    return DIS_OK;
}

/* The most frequent vote of people on an item, the first class on a tie. */
static dis_status set_most_frequent(dis__study_pilot *pilot)
{
    const dis__judge_votes *v = &pilot->people;
    uint32_t *count;
    DIS_TRY(dis__alloc_zeroed(&count, v->n_classes, sizeof *count));
    for (size_t i = 0; i < v->n_items; i++) {
        pilot->gold[i] = -1;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) count[v->label[t]]++;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const uint32_t k = v->label[t], best = pilot->gold[i] < 0 ? k : (uint32_t)pilot->gold[i];
            if (count[k] > count[best] || (count[k] == count[best] && k <= best)) pilot->gold[i] = (int32_t)k;
        }
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) count[v->label[t]] = 0;
    }
    dis__free(count);
    return DIS_OK;
}

static dis_status read_people(const dis_study_options *o, const dis__study_metric_row *metric, const dis_votes_view *v,
                              const bool *person, dis__study_pilot *pilot)
{
    uint32_t worker = UINT32_MAX;
    const bool needs = metric->judges > 0 || o->judge;
    if (v->n_classes < 2) return dis__fail(DIS_EDATA, "all votes of the pilot are for one class");
    if (needs) DIS_TRY(dis__judge_find(v, person, o->judge, &worker));
    if (metric->judges > 1 && !o->second_judge)
        return dis__fail(DIS_EUSAGE,
                         "the metric \"difference\" needs two judges; name them with `judge` and `second_judge`");
    DIS_TRY(dis__judge_votes_read(v, person, worker, &pilot->people));
    if (metric->judges > 1) DIS_TRY(read_other(v, person, o->second_judge, &pilot->other));
    DIS_TRY(find_class(o, v, &pilot->class_index));
    if (metric->metric != DIS_STUDY_LABELS) return DIS_OK;
    DIS_TRY(dis__alloc_array(&pilot->gold, v->n_items, sizeof *pilot->gold));
    pilot->has_gold = o->gold != NULL;
    if (!o->gold) return set_most_frequent(pilot);
    for (size_t i = 0; i < v->n_items; i++) pilot->gold[i] = o->gold[i];
    return DIS_OK;
}

static dis_status read_pilot(const dis_study_options *o, const dis__study_metric_row *metric, dis__study_pilot *pilot)
{
    const dis_votes_view v = dis_votes_get_view(o->votes);
    bool *all = NULL;
    if (!v.start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; one row per vote with a worker column is needed");
    if (!o->people) {
        DIS_TRY(dis__alloc_array(&all, v.n_workers, sizeof *all));
        for (size_t w = 0; w < v.n_workers; w++) all[w] = true;
    }
    const dis_status status = read_people(o, metric, &v, o->people ? o->people : all, pilot);
    dis__free(all);
    return status;
}

static void free_pilot(dis__study_pilot *pilot)
{
    dis__judge_votes_destroy(&pilot->people);
    dis__free(pilot->other);
    dis__free(pilot->gold);
}

/* ---- stated figures ---- */

static dis_status need(const char *name, double x, double low, double high, const char *metric)
{
    if (isnan(x)) return dis__fail(DIS_EUSAGE, "the metric \"%s\" needs votes of a pilot, or `%s`", metric, name);
    return check_number(name, x, low, high);
}

static dis_status state(const dis__study_metric_row *metric, dis_study_figures *f, uint64_t seed, dis_study_plan *out)
{
    const bool share = metric->metric == DIS_STUDY_SHARE;
    double total;
    if (f->n_classes == 0) f->n_classes = 2;
    if (f->n_classes < 2) return dis__fail(DIS_EUSAGE, "`n_classes` is 1; two or more are needed");
    if (isnan(f->spread)) f->spread = .05;
    DIS_TRY(check_number("spread", f->spread, 0, .5));
    DIS_TRY(check_number("judge_kappa", f->judge_kappa, 0, 1));
    DIS_TRY(need("kappa", f->kappa, 0, .999, metric->name));
    if (metric->pairs) {
        dis__study_state_pairs(metric, f, seed, out);
        return DIS_OK;
    }
    if (metric->metric == DIS_STUDY_DIFFERENCE) {
        if (isnan(f->value)) f->value = 0;
        DIS_TRY(need("discordant", f->discordant, .001, 1, metric->name));
        DIS_TRY(check_number("value", f->value, -f->discordant, f->discordant));
        total = f->discordant - f->value * f->value;
    } else {
        DIS_TRY(need("value", f->value, share ? .001 : .01, .999, metric->name));
        total = f->value * (1 - f->value);
    }
    const double annotators =
        metric->metric == DIS_STUDY_DIFFERENCE ? .004 * total : fmin(f->spread * f->spread, total / 2);
    out->value = f->value;
    out->variances =
        (dis_study_variances){.items = fmin(f->kappa * total, total - annotators), .annotators = annotators};
    out->variances.votes = total - out->variances.items - annotators;
    return DIS_OK;
}

/* ---- designs ---- */

typedef struct {
    const dis_study_options *o;
    const dis__study_metric_row *metric;
    dis_study_variances v;
    double value;
    const double *accuracy, *pivot; /* (n_votes_per_item) of labels */
} study;

static double expected(const study *s, size_t vote)
{
    return s->accuracy ? s->accuracy[vote] : s->value;
}

/* Of a coefficient of agreement, with what a jackknife over votes computes. Without vote j, the mean U of the pairs of an item
 * changes by 2 / m (mean of the pairs of j - mean of the others). Alpha weights an item by its votes, so that its part changes
 * by (2 (mean of the pairs of j) - mean of the others) / m. With two votes, the item is left out. */
static dis__crossed_variances pair_variances(const study *s, double n, double m, double annotators,
                                             dis__crossed_variances out)
{
    const dis_study_variances *v = &s->v;
    const double person = v->annotators / 4, vote = v->votes / 4, pair = v->pairs / 2;
    const double item = v->items + (v->annotators + v->votes) / m + v->pairs / (m * (m - 1));
    double left_out = 2 * item / n;
    if (m > 2 && s->metric->metric == DIS_STUDY_ALPHA)
        left_out = (v->items + 4 * (person + vote) + 2 * pair * (2 * m - 3) / ((m - 1) * (m - 2))) / (n * m);
    else if (m > 2)
        left_out = 4 / (n * (m - 1)) * (person + vote + pair / (m - 2));
    out.items = item / n;
    out.votes = left_out;
    out.annotators = v->annotators / annotators + left_out;
    return out;
}

/* What the three variances of an interval are expected to be. */
static dis__crossed_variances variances_of(const study *s, double n, double annotators, size_t vote)
{
    const double m = (double)s->o->votes_per_item[vote], all = n * m, a = fmin(annotators, all);
    dis__crossed_variances out = {.df_annotators = dis__annotator_df(a), .df_items = n - 1};
    if (s->accuracy) {
        const double p = s->accuracy[vote], gain = m * s->pivot[vote];
        out.items = fmax(p * (1 - p), .25 / n) / n;
        out.annotators = gain * gain * s->v.annotators / a;
        return out;
    }
    if (s->metric->pairs) return pair_variances(s, n, m, a, out);
    const double of_votes = (s->v.votes + s->v.annotators) / all;
    out.items = s->v.items / n + of_votes;
    out.annotators = s->v.annotators / a + (s->v.items + s->v.votes) / all;
    out.votes = of_votes + s->v.items / all;
    return out;
}

static bool is_possible(const study *s, double n, double annotators, size_t vote)
{
    const size_t m = s->o->votes_per_item[vote];
    return annotators >= (double)m && n * (double)m >= annotators && !(s->metric->pairs && m < 2) && n >= 2;
}

/* The mean over the law of an estimated variance of the probability that |estimate| / sqrt(variance) exceeds t. */
static double power_of(double effect, double df, double deviation)
{
    const double t = dis__student_critical(.025, df), apart = effect / deviation, k = 2 / (9 * df);
    double sum = 0;
    for (int q = 0; q < QUANTILES; q++) {
        const double z = dis__normal_quantile((q + .5) / QUANTILES), cube = fmax(1 - k + z * sqrt(k), 1e-3);
        const double bound = t * sqrt(cube * cube * cube);
        sum += .5 * erfc((bound - apart) / sqrt(2)) + .5 * erfc((bound + apart) / sqrt(2));
    }
    return sum / QUANTILES;
}

static double cost_of(const dis_study_options *o, double n, double annotators, double m)
{
    return n * (o->item_cost + m * o->vote_cost) + annotators * o->annotator_cost;
}

static dis_study_design design(const study *s, size_t items, size_t annotators, size_t vote)
{
    const size_t m = s->o->votes_per_item[vote];
    const double n = (double)items;
    dis_study_design row = {.items = items,
                            .annotators = annotators,
                            .votes_per_item = m,
                            .value = expected(s, vote),
                            .half_width = NAN,
                            .power = NAN,
                            .cost = cost_of(s->o, n, (double)annotators, (double)m)};
    if (!is_possible(s, n, (double)annotators, vote)) return row;
    double df;
    const dis__crossed_variances v = variances_of(s, n, (double)annotators, vote);
    const double deviation = sqrt(dis__crossed_variance_sum(&v, &df));
    const double reach = dis__student_critical(.025, df) * deviation * (1 - 1 / (4 * df));
    const double below = 1 - row.value;
    row.half_width = s->metric->one_sided && below > 1e-9 ? below * sinh(reach / below) : reach;
    row.half_width = fmin(row.half_width, 1);
    if (!isnan(s->o->effect)) row.power = power_of(s->o->effect, df, deviation);
    return row;
}

/* ---- search ---- */

static bool has_target(const dis_study_options *o)
{
    return !isnan(o->effect) || !isnan(o->half_width);
}

static bool reaches(const study *s, const dis_study_design *row)
{
    const dis_study_options *o = s->o;
    if (isnan(row->half_width)) return false;
    if (!isnan(o->half_width) && !(row->half_width <= o->half_width)) return false;
    if (!isnan(o->effect) && !(row->power >= o->power)) return false;
    if (!isnan(o->min_accuracy) && !(row->value >= o->min_accuracy)) return false;
    return isnan(o->budget) || row->cost <= o->budget;
}

/* The smallest number of items that reaches the target; false: none. */
static bool find_items(const study *s, size_t annotators, size_t vote, dis_study_design *out)
{
    const size_t m = s->o->votes_per_item[vote];
    size_t low = DIS_JUDGE_MIN_ITEMS, high = s->o->max_items ? s->o->max_items : MAX_ITEMS;
    if (low * m < annotators) low = (annotators + m - 1) / m;
    if (low > high) return false;
    study free_of_charge = *s;
    dis_study_options o = *s->o;
    o.budget = NAN;
    free_of_charge.o = &o;
    dis_study_design row = design(s, high, annotators, vote);
    if (!reaches(&free_of_charge, &row)) return false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        row = design(s, middle, annotators, vote);
        if (reaches(&free_of_charge, &row))
            high = middle;
        else
            low = middle + 1;
    }
    *out = design(s, high, annotators, vote);
    return reaches(s, out);
}

static bool cheapest(const study *s, size_t annotators, dis_study_design *best)
{
    bool found = false;
    for (size_t m = 0; m < s->o->n_votes_per_item; m++) {
        dis_study_design row;
        if (!find_items(s, annotators, m, &row)) continue;
        if (found && (row.cost > best->cost || (row.cost >= best->cost && row.items >= best->items))) continue;
        *best = row;
        found = true;
    }
    return found;
}

/* Why the search found nothing. */
static const char *reason_of(const study *s)
{
    const dis_study_options *o = s->o;
    bool accurate = isnan(o->min_accuracy);
    for (size_t m = 0; m < o->n_votes_per_item && !accurate; m++) accurate = expected(s, m) >= o->min_accuracy;
    if (!accurate) return "labels do not become so accurate with these numbers of votes per item";
    if (!isnan(o->budget)) return "the budget is too small";
    if (o->max_items) return "the available items do not suffice";
    return "more items do not suffice; allow more annotators or votes per item";
}

static void search(const study *s, dis_study_plan *out)
{
    const dis_study_options *o = s->o;
    double least = INFINITY;
    dis_study_design row;
    for (size_t a = 0; a < o->n_annotators; a++)
        if (cheapest(s, o->annotators[a], &row)) least = fmin(least, row.cost);
    for (size_t a = 0; a < o->n_annotators; a++) {
        if (!cheapest(s, o->annotators[a], &row) || row.cost > 1.25 * least) continue;
        if (out->has_best && row.annotators >= out->best.annotators) continue;
        out->best = row;
        out->has_best = true;
    }
    if (!out->has_best) {
        out->reason = reason_of(s);
        return;
    }
    size_t vote = 0;
    while (o->votes_per_item[vote] != out->best.votes_per_item) vote++;
    for (int side = -1; side <= 1; side += 2) {
        study other = *s;
        dis_study_options free_of_charge = *o;
        const double parts = s->v.items + s->v.annotators + s->v.votes;
        free_of_charge.budget = NAN;
        free_of_charge.max_items = 0;
        other.o = &free_of_charge;
        other.v.items = fmax(s->v.items + side * s->v.items_error, 0);
        other.v.annotators = fmax(s->v.annotators + side * s->v.annotators_error, 0);
        if (!s->metric->pairs) other.v.votes = fmax(parts - other.v.items - other.v.annotators, 0);
        const bool reached = find_items(&other, out->best.annotators, vote, &row);
        *(side < 0 ? &out->items_low : &out->items_high) = reached ? (double)row.items : (double)INFINITY;
    }
}

/* ---- all ---- */

static dis_status predict_labels(const dis_study_options *o, const dis__study_pilot *pilot, const dis_study_plan *out,
                                 double *accuracy, double *pivot)
{
    const dis_study_variances *v = &out->variances;
    const double alike = v->items / (v->items + v->annotators + v->votes);
    const size_t n = pilot ? pilot->people.n_classes : o->figures.n_classes;
    dis__study_urns *urns;
    DIS_TRY(dis__study_urns_create(pilot, out->value, alike, n, o->seed, &urns));
    for (size_t m = 0; m < o->n_votes_per_item; m++)
        dis__study_labels_predict(urns, o->votes_per_item[m], &accuracy[m], &pivot[m]);
    dis__study_urns_destroy(urns);
    return DIS_OK;
}

static dis_status plan(const dis_study_options *o, const dis__study_metric_row *metric, const dis__study_pilot *pilot,
                       dis_study_design *rows, dis_study_plan *out)
{
    dis_study_options own = *o;
    double *accuracy = NULL, *pivot = NULL;
    dis_status status = DIS_OK;
    if (!pilot)
        status = state(metric, &own.figures, o->seed, out);
    else if (metric->pairs)
        status = dis__study_compute_pairs(metric, pilot, o->seed, out);
    else
        status = dis__study_compute_means(metric, pilot, out);
    if (status == DIS_OK && metric->metric == DIS_STUDY_LABELS) {
        status = dis__alloc_array(&accuracy, o->n_votes_per_item, sizeof *accuracy);
        if (status == DIS_OK) status = dis__alloc_array(&pivot, o->n_votes_per_item, sizeof *pivot);
        if (status == DIS_OK) status = predict_labels(&own, pilot, out, accuracy, pivot);
    }
    if (status == DIS_OK) {
        const study s = {.o = &own,
                         .metric = metric,
                         .v = out->variances,
                         .value = out->value,
                         .accuracy = accuracy,
                         .pivot = pivot};
        for (size_t i = 0; i < o->n_items; i++)
            for (size_t a = 0; a < o->n_annotators; a++)
                for (size_t m = 0; m < o->n_votes_per_item; m++)
                    rows[(i * o->n_annotators + a) * o->n_votes_per_item + m] =
                        design(&s, o->items[i], o->annotators[a], m);
        if (has_target(o)) search(&s, out);
        if (metric->metric == DIS_STUDY_SHARE && (out->has_best || !isnan(o->budget)))
            dis__study_compute_split(&own, pilot && pilot->people.worker != UINT32_MAX ? pilot : NULL, out);
    }
    dis__free(accuracy);
    dis__free(pivot);
    return status;
}

dis_status dis_study_predict(const dis_study_options *options, dis_study_design *rows, dis_study_plan *summary)
{
    dis_study_options o = dis_study_options_default();
    dis_study_plan out = dis_study_plan_default();
    dis__study_pilot pilot = {0};
    DIS_TRY(DIS_OPTIONS_COPY(dis_study_options, &o, options));
    DIS_TRY(DIS_OPTIONS_COPY(dis_study_plan, &out, summary));
    out = dis_study_plan_default();
    DIS_TRY(find_metric(o.metric ? o.metric : "labels", &out.metric));
    const dis__study_metric_row *metric = &metrics[out.metric];
    DIS_TRY(check(&o, metric));
    dis_status status = o.votes ? read_pilot(&o, metric, &pilot) : DIS_OK;
    if (status == DIS_OK) status = plan(&o, metric, o.votes ? &pilot : NULL, rows, &out);
    free_pilot(&pilot);
    return status == DIS_OK ? DIS_STRUCT_WRITE(dis_study_plan, summary, &out) : status;
}
