/* Requirements on a judge. A requirement is met if the whole 95 % interval meets its bound, and open if the interval
 * contains the bound.
 *
 * Items needed: with d the distance of the value from the bound, the half width of the interval must be below d. Its
 * variance is V = I n / n' + P for n' items, where I and P are what items and people add; n' solves z^2 V = d^2. Where z^2
 * P alone exceeds d^2, no number of items suffices. */
#include "tool/arrays.h"
#include "core/options/enum_names.h"
#include "judge/judge_internal.h"
#include "core/error.h"
#include <math.h>

#define Z 1.959963984540054

typedef enum { FROM_JUDGE, FROM_DIFFERENCE, FROM_CONSISTENCY, FROM_BIAS, FROM_TEST } source;

static const struct {
    source from;
    size_t coefficient;
} kinds[DIS_REQUIREMENT_KINDS] = {
    [DIS_REQUIRE_AGREEMENT] = {FROM_JUDGE, DIS_JUDGE_AGREEMENT},
    [DIS_REQUIRE_KAPPA] = {FROM_JUDGE, DIS_JUDGE_KAPPA},
    [DIS_REQUIRE_ALPHA] = {FROM_JUDGE, DIS_JUDGE_ALPHA},
    [DIS_REQUIRE_AC1] = {FROM_JUDGE, DIS_JUDGE_AC1},
    [DIS_REQUIRE_DIFFERENCE] = {FROM_DIFFERENCE, DIS_JUDGE_KAPPA},
    [DIS_REQUIRE_CONSISTENCY] = {FROM_CONSISTENCY, 0},
    [DIS_REQUIRE_BIAS] = {FROM_BIAS, 0},
    [DIS_REQUIRE_ALT_TEST] = {FROM_TEST, 0},
};

DIS_ENUM_NAMES(dis_requirement_kind, "min-agreement", "min-kappa", "min-alpha", "min-ac1", "min-difference",
               "min-consistency", "max-bias", "alt-test")
DIS_ENUM_NAMES(dis_requirement_outcome, "met", "not met", "open", "unknown")

static dis_requirement_outcome compare(const dis_metric *m, double bound)
{
    if (m->reason || !m->has_interval) return DIS_REQUIREMENT_UNKNOWN;
    if (m->ci_low >= bound) return DIS_REQUIREMENT_MET;
    return m->ci_high < bound ? DIS_REQUIREMENT_NOT_MET : DIS_REQUIREMENT_OPEN;
}

static double items_needed(const dis_metric *m, double bound, dis__judge_spread spread)
{
    const double apart = (m->value - bound) / Z, left = apart * apart - spread.people;
    if (!(left > 0)) return INFINITY;
    return fmax(1, ceil((double)m->n * (spread.items / left - 1)));
}

/* Variances of a metric of which only the interval is known. */
static dis__judge_spread spread_of_interval(const dis_metric *m)
{
    const double error = (m->ci_high - m->ci_low) / (2 * Z);
    return (dis__judge_spread){.items = error * error};
}

static void evaluate_figure(dis_requirement *row, const dis_metric *m, dis__judge_spread spread)
{
    row->figure = *m;
    row->outcome = compare(m, row->bound);
    if (row->outcome == DIS_REQUIREMENT_OPEN) row->items_needed = items_needed(m, row->bound, spread);
}

/* Every class must meet the bound: the worst outcome counts, and of the rest the largest bias. */
static void evaluate_bias(const dis_judge *judge, dis_requirement *row)
{
    row->outcome = DIS_REQUIREMENT_MET;
    row->figure = dis__metric_undefined("no class has a bias that can be measured");
    for (size_t k = 0; k < judge->view.n_classes; k++) {
        const dis_metric *m = &judge->view.rates[k].bias;
        if (m->reason || !m->has_interval) continue;
        const double least = m->ci_low <= 0 && m->ci_high >= 0 ? 0 : fmin(fabs(m->ci_low), fabs(m->ci_high));
        const double most = fmax(fabs(m->ci_low), fabs(m->ci_high));
        if (row->figure.reason || fabs(m->value) > fabs(row->figure.value)) row->figure = *m;
        if (least > row->bound)
            row->outcome = DIS_REQUIREMENT_NOT_MET;
        else if (most > row->bound && row->outcome == DIS_REQUIREMENT_MET)
            row->outcome = DIS_REQUIREMENT_OPEN;
    }
    if (row->figure.reason) row->outcome = DIS_REQUIREMENT_UNKNOWN;
    if (row->outcome == DIS_REQUIREMENT_OPEN) {
        const double bound = row->figure.value < 0 ? -row->bound : row->bound;
        row->items_needed = items_needed(&row->figure, bound, spread_of_interval(&row->figure));
    }
}

static void evaluate_test(const dis_judge *judge, dis_requirement *row)
{
    const dis_panel_judge *test = &judge->view.test;
    const bool tested = test->n_people_compared > 0;
    row->figure = tested ? (dis_metric){.value = test->winning_rate, .n = (size_t)test->n_people_compared}
                         : dis__metric_undefined("no person shares enough items with the judge");
    row->outcome = !tested ? DIS_REQUIREMENT_UNKNOWN : test->passed ? DIS_REQUIREMENT_MET : DIS_REQUIREMENT_NOT_MET;
}

dis_status dis_judge_evaluate_requirements(const dis_judge *judge, dis_requirement *rows, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        dis_requirement *row = &rows[r];
        if ((size_t)row->kind >= DIS_REQUIREMENT_KINDS) return dis__fail(DIS_EUSAGE, "unknown requirement");
        const size_t c = kinds[row->kind].coefficient;
        row->items_needed = NAN;
        switch (kinds[row->kind].from) {
        case FROM_JUDGE: evaluate_figure(row, &judge->coefficient[c].judge, judge->spread[c]); break;
        case FROM_DIFFERENCE:
            evaluate_figure(row, &judge->coefficient[c].difference, judge->difference_spread[c]);
            break;
        case FROM_CONSISTENCY:
            evaluate_figure(row, &judge->view.consistency, spread_of_interval(&judge->view.consistency));
            break;
        case FROM_BIAS: evaluate_bias(judge, row); break;
        case FROM_TEST: evaluate_test(judge, row); break;
        }
        /* People who agree no more than chance, or a judge that does not, meet no requirement on agreement. */
        const bool noise = judge->view.missing_reason || !judge->view.test.above_chance;
        if (noise && row->outcome == DIS_REQUIREMENT_MET && kinds[row->kind].from != FROM_CONSISTENCY)
            row->outcome = DIS_REQUIREMENT_NOT_MET;
    }
    return DIS_OK;
}
