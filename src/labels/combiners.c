/* The table of combinations, in the order of the help, and their common checks. A new combination is one file and one
 * line here. */
#include "labels/combiner.h"
#include "tool/method_checks.h"
#include "core/parallel/comm.h"
#include "core/memory/spill.h"
#include "core/options/option_spec.h"
#include "labels/methods.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_combination, .size = sizeof(dis_combination))
DIS_OPTIONS_DEFAULTS(dis_views, .size = sizeof(dis_views))

/* clang-format off: one combination per line */
#define COMBINERS(X) \
    X(average)       \
    X(centroid)      \
    X(temperature)   \
    X(hybrid)        \
    X(calibrated)

#define DECLARE(name) extern const dis__combiner dis__combiner_##name;
COMBINERS(DECLARE)

static const dis__combiner *const combiners[] = {
#define ROW(name) &dis__combiner_##name,
    COMBINERS(ROW)};
/* clang-format on */

static const char *name_of(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof combiners / sizeof *combiners ? combiners[i]->info.name : NULL;
}

const dis_combiner *dis_combiner_get(size_t i)
{
    return i < sizeof combiners / sizeof *combiners ? &combiners[i]->info : NULL;
}

/* The row of a spec and its options, which begin with the weights; the caller frees them. */
static dis_status parse(const char *spec, const dis__combiner **combiner, dis_reals **options)
{
    size_t row;
    DIS_TRY(dis__spec_find_row("combination", spec, name_of, &row));
    const dis__combiner *c = combiners[row];
    void *parsed;
    DIS_TRY(dis__alloc_zeroed(&parsed, 1, c->options_size));
    dis_status status =
        dis__spec_parse("combination", spec, c->info.options, c->info.n_options, parsed, c->options_size);
    dis_reals *weights = parsed;
    double sum = 0;
    for (size_t m = 0; m < weights->n; m++) sum += weights->value[m];
    if (status == DIS_OK && weights->n && !(sum > 0))
        status = dis__fail(DIS_EUSAGE, "combination %s: weights must not all be 0", c->info.name);
    if (status != DIS_OK) {
        dis__free(parsed);
        return status;
    }
    *combiner = c;
    *options = weights;
    return DIS_OK;
}

dis_status dis_combiner_check(const char *spec)
{
    const dis__combiner *c;
    dis_reals *options;
    DIS_TRY(parse(spec, &c, &options));
    dis__free(options);
    return DIS_OK;
}

static const char *const weights_words[] = {"weights=equal", "weights=auto", "weights=votes"};

/* Parses the text only: full parsing would need memory, and the result must not depend on it. */
static bool has_setting(const char *spec, const char *wanted)
{
    for (const char *one = spec + dis__spec_name_length(spec); *one; one += strcspn(one, ",")) {
        one++; /* ':' or ',' */
        if (strcspn(one, ",") == strlen(wanted) && memcmp(one, wanted, strlen(wanted)) == 0) return true;
    }
    return false;
}

bool dis__combiner_has_weights(const char *spec, int word)
{
    return has_setting(spec, weights_words[word]);
}

bool dis__combiner_has_gold_weights(const char *spec)
{
    return has_setting(spec, "gold=choose");
}

bool dis__combiner_wants_auto_weights(const char *spec)
{
    return dis__combiner_has_weights(spec, DIS_WEIGHTS_AUTO) || dis__combiner_has_weights(spec, DIS_WEIGHTS_VOTES);
}

/* weight (n_views): the caller's, otherwise the spec's, otherwise equal; summing to 1. */
static dis_status choose_weights(const dis_views *views, const dis__combiner *c, const dis_reals *given, double *weight)
{
    const size_t n = views->n_views;
    if (!views->weight && given->n == 0 && given->choice > DIS_WEIGHTS_EQUAL)
        return dis__fail(DIS_EUSAGE, "combination %s: %s needs the votes: give weights, or use `dissent labels`",
                         c->info.name, weights_words[given->choice]);
    if (!views->weight && given->n && given->n != n)
        return dis__fail(DIS_EUSAGE, "combination %s: %zu weights for %zu views", c->info.name, given->n, n);
    const double *from = views->weight ? views->weight : given->n ? given->value : NULL;
    double max = 0, sum = 0;
    for (size_t m = 0; m < n; m++) {
        weight[m] = from ? from[m] : 1;
        if (!(weight[m] >= 0 && weight[m] <= 1e300))
            return dis__fail(DIS_EUSAGE, "combination %s: weight %zu is not a number from 0 to 1e300", c->info.name,
                             m + 1);
        max = weight[m] > max ? weight[m] : max;
    }
    if (!(max > 0)) return dis__fail(DIS_EUSAGE, "combination %s: weights must not all be 0", c->info.name);
    for (size_t m = 0; m < n; m++) sum += weight[m] /= max;
    for (size_t m = 0; m < n; m++) weight[m] /= sum;
    return DIS_OK;
}

/* Views of votes on several ranks have the items of one rank. */
static dis__votes_part part_of(const dis_views *views)
{
    const dis__votes_part all_votes = {.n_items = views->n_items, .n_owners = 1};
    return views->votes && views->votes->part.n_owners ? views->votes->part : all_votes;
}

/* The maximum number of steps over all ranks. */
static dis_status join_steps(const dis__comm *comm, dis_combination *did)
{
    uint64_t *all;
    if (!dis__comm_is_parallel(comm)) return DIS_OK;
    DIS_TRY(dis__alloc_array(&all, (size_t)comm->size, sizeof *all));
    const dis_status status = dis__comm_allgather_counts(comm, (uint64_t)did->max_steps, all);
    for (int r = 0; status == DIS_OK && r < comm->size; r++)
        if ((int)all[r] > did->max_steps) did->max_steps = (int)all[r];
    dis__free(all);
    return status;
}

/* Combining leaves at least 1 - 1e-16 of a probability of 1 in all views. */
static void pin(const dis_views *views, double *out)
{
    const size_t K = views->n_classes;
    for (size_t i = 0; views->gold && i < views->n_items; i++) {
        if (views->gold[i] < 0) continue;
        memset(out + i * K, 0, K * sizeof *out);
        out[i * K + (size_t)views->gold[i]] = 1;
    }
}

/* Runs the combination over the views with positive weight, or over all if gold labels choose the weights. */
static dis_status run(dis_context *ctx, const dis_views *views, const dis__combiner *c, const dis_reals *options,
                      bool gold_chooses, dis__gold_weights *choice, double *out, dis_combination *did)
{
    const double *p[DIS_MAX_VIEWS];
    double weight[DIS_MAX_VIEWS], temperature[DIS_MAX_VIEWS] = {0};
    bool on_bound[DIS_MAX_VIEWS] = {0};
    size_t n = 0, at[DIS_MAX_VIEWS];
    *did = (dis_combination){.size = sizeof *did,
                             .objective = NAN,
                             .power = NAN,
                             .overdispersion = NAN,
                             .gold_loss = NAN,
                             .gold_loss_base = NAN};
    DIS_TRY(choose_weights(views, c, options, did->weight));
    for (size_t m = 0; m < views->n_views; m++) {
        if (!(did->weight[m] > 0) && !gold_chooses) continue;
        p[n] = views->p[m];
        at[n] = m;
        weight[n++] = did->weight[m];
    }
    const dis__combine_args args = {.ctx = ctx,
                                    .n_items = views->n_items,
                                    .n_classes = views->n_classes,
                                    .n_views = n,
                                    .p = p,
                                    .weight = weight,
                                    .votes = views->votes,
                                    .part = part_of(views),
                                    .options = options,
                                    .out = out,
                                    .temperature = temperature,
                                    .on_bound = on_bound,
                                    .gold = views->gold,
                                    .choice = choice,
                                    .did = did};
    DIS_TRY(c->run(&args));
    DIS_TRY(join_steps(dis__context_comm(ctx), did));
    pin(views, out);
    if (choice->n_gold) {
        did->n_gold = choice->n_gold;
        did->gold_loss = choice->loss;
        did->gold_loss_base = choice->base_loss;
        memcpy(did->weight, choice->weight, views->n_views * sizeof *did->weight);
    }
    for (size_t m = 0; m < n; m++) {
        did->temperature[at[m]] = temperature[m];
        did->at_bound[at[m]] = on_bound[m];
    }
    return DIS_OK;
}

static dis_status check(const dis__combiner *c, const dis_votes *votes, size_t n_views)
{
    if (n_views < 1) return dis__fail(DIS_EUSAGE, "combination %s: there is no view to combine", c->info.name);
    if (n_views > DIS_MAX_VIEWS)
        return dis__fail(DIS_EUSAGE, "combination %s: %zu views; at most %d are possible", c->info.name, n_views,
                         DIS_MAX_VIEWS);
    if (c->info.needs_votes && !votes)
        return dis__fail(DIS_EUSAGE,
                         "combination %s needs the votes that the views were made from: use `dissent labels`, or "
                         "another combination",
                         c->info.name);
    return DIS_OK;
}

dis_status dis__views_check(const dis_votes *votes, size_t n_views, const char *spec)
{
    const dis__combiner *c;
    dis_reals *options;
    double weight[DIS_MAX_VIEWS];
    const dis_views views = {.size = sizeof(dis_views), .n_views = n_views};
    DIS_TRY(parse(spec, &c, &options));
    dis_status status = check(c, votes, n_views);
    if (status == DIS_OK && !dis__combiner_wants_auto_weights(spec))
        status = choose_weights(&views, c, options, weight);
    dis__free(options);
    return status;
}

dis_status dis__views_combine(dis_context *ctx, const dis_views *views, const char *spec, dis__gold_weights *choice,
                              double *out, dis_combination *did)
{
    const dis__combiner *c;
    dis_reals *options;
    DIS_TRY(parse(spec, &c, &options));
    dis_combination done;
    dis_status status = check(c, views->votes, views->n_views);
    if (status == DIS_OK && dis__comm_is_parallel(dis__context_comm(ctx)) && !views->votes)
        status = dis__fail(DIS_EUSAGE, "combination %s over ranks needs the votes that the views were made from",
                           c->info.name);
    const bool gold_chooses = views->gold && dis__combiner_has_gold_weights(spec);
    if (status == DIS_OK) status = run(ctx, views, c, options, gold_chooses, choice, out, &done);
    dis__free(options);
    if (status == DIS_OK && did) *did = done;
    return status;
}

dis_status dis_views_combine(dis_context *ctx, const dis_views *views, const char *spec, double *out,
                             dis_combination *did)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_views own = dis_views_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_views, &own, views));
    dis_combination done = dis_combination_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_combination, &done, did));
    dis__gold_weights choice = {0};
    dis_status status = dis__views_combine(ctx, &own, spec, &choice, out, &done);
    dis__free(choice.class_weight);
    if (status == DIS_OK && did) status = DIS_STRUCT_WRITE(dis_combination, did, &done);
    return status;
}

/* ---- weights by the number of votes ---- */

/* Weights of views by the number of votes per parameter. A method with one confusion matrix per annotator estimates K^2
 * values for each of them; with few votes these are noise, and methods that pool annotators predict better. With r
 * votes per value such a method gets weight r / (r + 1), one without annotator parameters .5 / (r + 1), any other 1.
 * docs/concepts/default-labels.md has the measurements. */
#define OF_SHARES .5 /* weight of vote shares if the annotators' votes cannot be compared */

dis_status dis_views_vote_weights(const dis_votes *votes, const char *const *specs, size_t n_specs, double *weight)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const double values = (double)v.n_workers * (double)v.n_classes * (double)v.n_classes;
    const double r = values > 0 ? (double)dis__votes_part_of(votes).n_votes / values : 0;
    double sum = 0;
    if (n_specs < 1 || n_specs > DIS_MAX_VIEWS)
        return dis__fail(DIS_EUSAGE, "weights=votes: %zu views; 1 to %d are possible", n_specs, DIS_MAX_VIEWS);
    for (size_t m = 0; m < n_specs; m++) {
        const dis__method *method;
        DIS_TRY(dis__method_find(specs[m], &method));
        sum += weight[m] = method->matrices ? r / (r + 1) : method->shares ? OF_SHARES / (r + 1) : 1;
    }
    for (size_t m = 0; m < n_specs; m++) weight[m] = sum > 0 ? weight[m] / sum : 1 / (double)n_specs;
    return DIS_OK;
}
