/* Compares two sides: checks, pairs of seeds, McNemar's tests. The bootstrap (paired_bootstrap.c) and the four cells
 * (correctness_cells.c) have their own files. */
#include "dissent/compare.h"
#include "dissent/votes.h"
#include "stats/significance.h"
#include "compare/compare_internal.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

const dis_evaluation_metric_row *dis_comparison_metric_get(size_t i)
{
    static const dis_evaluation_metric compared[DIS_COMPARE_METRICS] = {
        [DIS_COMPARE_ACCURACY] = DIS_EVALUATION_ACCURACY,
        [DIS_COMPARE_MACRO_F1] = DIS_EVALUATION_MACRO_F1,
    };
    return i < DIS_COMPARE_METRICS ? dis_evaluation_metric_get(compared[i]) : NULL;
}

DIS_OPTIONS_DEFAULTS(dis_comparison_input, .size = sizeof(dis_comparison_input))
DIS_OPTIONS_DEFAULTS(dis_comparison_votes, .size = sizeof(dis_comparison_votes))
DIS_OPTIONS_DEFAULTS(dis_comparison_options, .size = sizeof(dis_comparison_options), .resamples = 10000, .fraction = 1)

static dis_status check_side(const dis_comparison_input *in, const int32_t *const *labels, size_t n, const char *side)
{
    if (n == 0 || n > DIS_COMPARE_MAX_SEEDS)
        return dis__fail(DIS_EUSAGE, "side %s has the predictions of %zu seeds; 1 to %d are possible", side, n,
                         DIS_COMPARE_MAX_SEEDS);
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < in->n_items; i++)
            if (in->gold[i] >= 0 && (labels[s][i] < 0 || (size_t)labels[s][i] >= in->n_classes))
                return dis__fail(DIS_EUSAGE, "side %s, seed %zu: item %zu has class %d of %zu", side, s + 1, i + 1,
                                 (int)labels[s][i], in->n_classes);
    return DIS_OK;
}

static dis_status check(const dis_comparison_input *in, const dis_comparison_options *o)
{
    size_t has_gold = 0;
    if (in->n_classes == 0 || in->n_classes > DIS_MAX_CLASSES)
        return dis__fail(DIS_EUSAGE, "%zu classes; 1 to %d are possible", in->n_classes, (int)DIS_MAX_CLASSES);
    for (size_t i = 0; i < in->n_items; i++) {
        if (in->gold[i] >= 0 && (size_t)in->gold[i] >= in->n_classes)
            return dis__fail(DIS_EUSAGE, "the gold label of item %zu is class %d of %zu", i + 1, (int)in->gold[i],
                             in->n_classes);
        has_gold += in->gold[i] >= 0;
    }
    if (has_gold == 0) return dis__fail(DIS_EDATA, "no item has a gold label");
    DIS_TRY(check_side(in, in->a, in->n_a, "A"));
    DIS_TRY(check_side(in, in->b, in->n_b, "B"));
    if (!(o->fraction > 0 && o->fraction <= 1))
        return dis__fail(DIS_EUSAGE, "the fraction is %g; it must be above 0 and at most 1", o->fraction);
    if (o->resamples > UINT32_MAX)
        return dis__fail(DIS_EUSAGE, "%llu resamples; at most %u are possible", (unsigned long long)o->resamples,
                         UINT32_MAX);
    if (o->pool_seeds && in->n_a != in->n_b)
        return dis__fail(DIS_EUSAGE, "seeds can be pooled in pairs only, but A has %zu and B %zu", in->n_a, in->n_b);
    return DIS_OK;
}

static size_t find_pairs(const dis_comparison_input *in, size_t (*pairs)[2])
{
    size_t n = 0;
    for (size_t a = 0; a < in->n_a; a++)
        for (size_t b = 0; b < in->n_b; b++) {
            if (in->n_a == in->n_b && a != b) continue;
            pairs[n][0] = a;
            pairs[n++][1] = b;
        }
    return n;
}

static dis_mcnemar test_pair(const dis_comparison_input *in, const size_t pair[2])
{
    uint64_t only[2] = {0, 0};
    for (size_t i = 0; i < in->n_items; i++) {
        if (in->gold[i] < 0) continue;
        const bool a = in->a[pair[0]][i] == in->gold[i], b = in->b[pair[1]][i] == in->gold[i];
        only[0] += a && !b;
        only[1] += b && !a;
    }
    return dis__mcnemar_test(only[0], only[1]);
}

static dis_status bootstrap(dis_context *ctx, const dis_comparison_input *in, const dis_comparison_options *o,
                            const dis__vote_reference *reference, dis_comparison *out)
{
    dis__answer_patterns patterns;
    dis__crossed_variances crossed[DIS_COMPARE_VALUES];
    const bool annotators = reference && o->resamples && o->interval_scope == DIS_INTERVAL_ANNOTATORS;
    dis_status status = dis__answer_patterns_init(in, o->pool_seeds, &patterns);
    if (status == DIS_OK && annotators) status = dis__vote_reference_variances(ctx, reference, in, &patterns, crossed);
    if (status == DIS_OK) status = dis__paired_bootstrap(ctx, &patterns, o, annotators ? crossed : NULL, out);
    dis__answer_patterns_free(&patterns);
    return status;
}

/* Pooled seeds have no values per seed: their deviations are computed separately. */
static dis_status deviations(dis_context *ctx, const dis_comparison_input *in, dis_comparison *out)
{
    const dis_comparison_options apart = {.size = sizeof apart, .fraction = 1};
    dis_comparison each = {0};
    DIS_TRY(bootstrap(ctx, in, &apart, NULL, &each));
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        out->metric[m].sd_a = each.metric[m].sd_a;
        out->metric[m].sd_b = each.metric[m].sd_b;
    }
    return DIS_OK;
}

static dis_status compare(dis_context *ctx, const dis_comparison_input *in, const dis_comparison_options *o,
                          const dis__vote_reference *reference, size_t (*pairs)[2], dis_comparison *c)
{
    dis_comparison_view *v = &c->view;
    v->n_a = in->n_a;
    v->n_b = in->n_b;
    v->n_pairs = find_pairs(in, pairs);
    v->mcnemar = c->mcnemar;
    v->metric = c->metric;
    v->n_metrics = DIS_COMPARE_METRICS;
    v->statistic = c->statistic;
    v->n_statistics = DIS_CELL_STATISTICS;
    v->cell = c->cell;
    for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) c->statistic[s].mean = c->mean[s];
    for (size_t i = 0; i < in->n_items; i++) v->n_items += in->gold[i] >= 0;
    for (size_t q = 0; q < v->n_pairs; q++) c->mcnemar[q] = test_pair(in, pairs[q]);
    DIS_TRY(dis__correctness_cells_compute(in, pairs, v->n_pairs, o->alternative, c));
    v->interval_scope = reference ? o->interval_scope : DIS_INTERVAL_ITEMS;
    v->n_annotators = reference ? reference->n_workers : 0;
    v->few_annotators = reference && reference->n_workers < DIS_COMPARE_FEW_ANNOTATORS;
    DIS_TRY(bootstrap(ctx, in, o, reference, c));
    return o->pool_seeds ? deviations(ctx, in, c) : DIS_OK;
}

static dis_status run(dis_context *ctx, const dis_comparison_input *in, const dis_comparison_options *o,
                      const dis__vote_reference *reference, dis_comparison *c)
{
    size_t(*pairs)[2] = NULL;
    DIS_TRY(check(in, o));
    DIS_TRY(dis__alloc_array(&c->mcnemar, in->n_a * in->n_b, sizeof *c->mcnemar));
    dis_status status = dis__alloc_array(&pairs, in->n_a * in->n_b, sizeof *pairs);
    if (status == DIS_OK) status = compare(ctx, in, o, reference, pairs, c);
    dis__free(pairs);
    return status;
}

/* With the gold labels from votes. */
static dis_status run_with_votes(dis_context *ctx, const dis_comparison_input *in, const dis_comparison_options *o,
                                 dis_comparison *c)
{
    if (in->gold) return dis__fail(DIS_EUSAGE, "pass either `gold` or `votes` for the true labels, not both");
    if (o->interval_scope == DIS_INTERVAL_ANNOTATORS && (o->pool_seeds || o->fraction < 1))
        return dis__fail(DIS_EUSAGE, "`pool_seeds` and a `fraction` below 1 are about intervals over items");
    dis__vote_reference reference;
    DIS_TRY(dis__vote_reference_init(in, o->seed, &reference));
    dis_comparison_input has_gold = *in;
    has_gold.gold = reference.gold;
    const dis_status status = run(ctx, &has_gold, o, &reference, c);
    dis__vote_reference_free(&reference);
    return status;
}

dis_status dis_comparison_run(dis_context *ctx, const dis_comparison_input *input,
                              const dis_comparison_options *options, dis_comparison **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_comparison_options o = dis_comparison_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_comparison_options, &o, options));
    dis_comparison_input in = dis_comparison_input_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_comparison_input, &in, input));
    dis_comparison_votes votes = dis_comparison_votes_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_comparison_votes, &votes, in.votes));
    if (in.votes) in.votes = &votes;
    dis_comparison *c;
    DIS_TRY(dis__alloc_zeroed(&c, 1, sizeof *c));
    const dis_status status = in.votes ? run_with_votes(ctx, &in, &o, c) : run(ctx, &in, &o, NULL, c);
    if (status == DIS_OK)
        *out = c;
    else
        dis_comparison_destroy(c);
    return status;
}

DIS_VIEW_DEFINE(dis_comparison, comparison, comparison->view)

static const dis_significance *find_metric(const dis_comparison *c, const char *name)
{
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++)
        if (strcmp(dis_comparison_metric_get(m)->name, name) == 0) return &c->metric[m];
    return NULL;
}

double dis_comparison_difference(const dis_comparison *comparison, const char *name)
{
    const dis_significance *s = find_metric(comparison, name);
    return s && !s->difference.reason ? s->difference.value : NAN;
}

double dis_comparison_p_value(const dis_comparison *comparison, const char *name)
{
    const dis_significance *s = find_metric(comparison, name);
    return s ? s->p : NAN;
}

void dis_comparison_destroy(dis_comparison *comparison)
{
    if (!comparison) return;
    dis__free(comparison->mcnemar);
    dis__free(comparison);
}
