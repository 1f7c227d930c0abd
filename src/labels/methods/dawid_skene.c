/* Dawid-Skene: a class prior and one confusion matrix per worker, by EM (Dawid & Skene 1979; update rules as
 * crowd-kit 1.4.1).
 *
 *     E   p(t | item)  ~  prior[t] * product over votes of confusion[worker][label][t]          (in logs)
 *     M   confusion[w][l][t] = sum of p(t | item) over w's votes for l, normalised over l;  prior = mean of p
 *
 * Starts from vote shares. If a worker has no votes on items of a class, that column is uniform over the labels that
 * the worker used. Options turn the estimates into posterior modes: `smoothing` and `diagonal` are pseudo-counts of a
 * Dirichlet prior on each column of each matrix (every cell; the diagonal in addition), `prior-count` of one on the
 * class prior. `floor` is crowd-kit's rule (1e-10 there): expected counts of used labels and the class prior are at
 * least this value; with it the likelihood may decrease slightly.
 *
 * Objective: the marginal log-likelihood, plus the log-prior up to its constant.
 *
 * Defaults: half a vote on every cell and two on the diagonal, which is better in log-loss on nearly every real crowd
 * and never collapses if workers have few votes (docs/evidence/methods.md). smoothing=0 is the reference rule,
 * without any pseudo-count, and gives the published accuracies (RTE .9275, MRE .760, POS .779; measured in
 * tests/unit/test_em_data.c).
 *
 * Cost: one pass over the votes per iteration (labels/methods/em.h); tables of n_workers * K * K. */
#include "labels/em/confusion.h"

typedef struct {
    int64_t iterations;
    double tolerance, smoothing, diagonal, floor, prior_count, soften;
    int prior;
} ds_options;
enum { PRIOR_ESTIMATE, PRIOR_UNIFORM };

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(ds_options, "100"),
    DIS_OPTION_TOLERANCE(ds_options, "1e-7"),
    DIS_OPTION_SMOOTHING(ds_options, ".5"),
    {.key = "diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ds_options, diagonal),
     .default_value = "-1",
     .low = -1,
     .high = 1e9,
     .summary = "pseudo-count added to the diagonal (correct votes); below 0: 2 with smoothing, 0 without"},
    DIS_OPTION_FLOOR(ds_options, "0"),
    {.key = "prior",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(ds_options, prior),
     .default_value = "estimate",
     .choices = "estimate|uniform",
     .summary = "class prior"},
    {.key = "prior-count",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ds_options, prior_count),
     .default_value = "0",
     .low = 0,
     .high = 1e9,
     .summary = "pseudo-count added to every class in the estimated prior"},
    {.key = "soften",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ds_options, soften),
     .default_value = "1",
     .low = 0,
     .high = 1e9,
     .summary =
         "with a saved state: pseudo-votes added to each column of its confusion matrices; 0: use them unchanged"},
};

static dis_status run(const ds_options *o, dis__confusion *c)
{
    const dis__em_rules rules = {.name = "dawid-skene",
                                 .worker = dis__confusion_update_worker,
                                 .classes = dis__confusion_update_prior,
                                 .update_last = true,
                                 .arg = c};
    DIS_TRY(dis__confusion_init(c, &rules, "dawid-skene", o->iterations == 0));
    return dis__em_loop(&c->em, &rules, o->iterations, o->tolerance);
}

static dis_status fit_dawid_skene(const dis__fit_args *args, dis_fit *fit)
{
    const ds_options *o = args->options;
    dis__confusion c = {.smoothing = o->smoothing,
                        .diagonal = o->diagonal >= 0   ? o->diagonal
                                    : o->smoothing > 0 ? 2
                                                       : 0,
                        .floor = o->floor,
                        .prior_count = o->prior_count,
                        .soften = o->soften,
                        .uniform_prior = o->prior == PRIOR_UNIFORM};
    DIS_TRY(dis__confusion_create(&c, args, fit));
    const dis_status status = run(o, &c);
    dis__em_destroy(&c.em);
    return status;
}

const dis__method dis__method_dawid_skene = {
    .info = {.name = "dawid-skene",
             .summary = "EM with one confusion matrix per annotator",
             .source = "Dawid & Skene 1979",
             .objective = "marginal likelihood, plus prior where there are pseudo-counts",
             .needs_workers = true,
             .predictions = DIS_PREDICTIONS_PRIOR,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(ds_options),
    .memory = dis__confusion_memory,
    .fit = fit_dawid_skene,
    .matrices = true,
    .starts = true,
    .ranks = true,
    .devices = true,
};
