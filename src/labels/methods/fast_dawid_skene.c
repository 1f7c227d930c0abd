/* Fast Dawid-Skene: as dawid-skene, but the E-step assigns each item to its most probable class (Sinha, Rao &
 * Balasubramanian 2018), the first one on a tie. It converges in a few iterations. method=hybrid runs soft iterations
 * until the class marginals change by at most .005 (L1), then hard ones.
 *
 * Objective: the classification log-likelihood, sum over items of max_t log prior[t] prod confusion[w][l][t];
 * coordinate ascent, so it never decreases. With method=hybrid the trace has the marginal likelihood of the soft
 * iterations, and restarts with the first hard one. The reference stops when the class marginals change by less than
 * 1e-4: marginals=1e-4.
 *
 * Cost: as dawid-skene per iteration, without the exponentials. */
#include "labels/em/confusion.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance, smoothing, diagonal, floor, marginals, switch_at;
    int method;
} fds_options;
enum { METHOD_HARD, METHOD_HYBRID };

static const dis_option options_table[] = {
    {.key = "method",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(fds_options, method),
     .default_value = "hard",
     .choices = "hard|hybrid",
     .summary = "hard assignments from the first iteration, or after soft iterations"},
    DIS_OPTION_ITERATIONS(fds_options, "100"),
    DIS_OPTION_TOLERANCE(fds_options, "1e-9"),
    DIS_OPTION_SMOOTHING(fds_options, "0"),
    {.key = "diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(fds_options, diagonal),
     .default_value = "0",
     .low = 0,
     .high = 1e9,
     .summary = "pseudo-count added to the diagonal (correct votes)"},
    DIS_OPTION_FLOOR(fds_options, "0"),
    {.key = "marginals",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(fds_options, marginals),
     .default_value = "0",
     .low = 0,
     .high = 2,
     .summary = "stop when the class marginals change by less (L1 distance); 0: never"},
    {.key = "switch",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(fds_options, switch_at),
     .default_value = ".005",
     .low = 0,
     .high = 2,
     .summary = "hybrid: switch to hard assignments when the class marginals change by at most this (L1 distance)"},
};

typedef struct {
    dis__confusion c; /* first: the shared M-step uses it as its argument */
    const fds_options *o;
    double *marginals; /* (K) after the previous pass; negative at first */
} fds;

static bool after(void *arg, dis__em *em)
{
    fds *f = arg;
    double moved = 0;
    for (size_t k = 0; k < em->n_classes; k++) {
        const double now = em->class_sum[k] / (double)em->n_summed;
        moved += fabs(now - f->marginals[k]);
        f->marginals[k] = now;
    }
    if (em->step == DIS_EM_SOFT) {
        if (moved > f->o->switch_at) return false;
        em->step = DIS_EM_HARD;
        return false;
    }
    return moved < f->o->marginals;
}

static dis_status run(fds *f, const dis__fit_args *args, dis_fit *fit)
{
    dis__em *em = &f->c.em;
    const dis__em_rules rules = {.name = "fast-dawid-skene",
                                 .worker = dis__confusion_update_worker,
                                 .classes = dis__confusion_update_prior,
                                 .after = args->part.n_items ? after : NULL,
                                 .update_last = true,
                                 .arg = f};
    em->step = f->o->method == METHOD_HARD ? DIS_EM_HARD : DIS_EM_SOFT;
    for (size_t k = 0; k < em->n_classes; k++) f->marginals[k] = -10;
    DIS_TRY(dis__confusion_init(&f->c, &rules, "fast-dawid-skene", f->o->iterations == 0));
    (void)fit;
    return dis__em_loop(em, &rules, f->o->iterations, f->o->tolerance);
}

static dis_status fit_fast_dawid_skene(const dis__fit_args *args, dis_fit *fit)
{
    const fds_options *o = args->options;
    fds f = {.c = {.smoothing = o->smoothing, .diagonal = o->diagonal, .floor = o->floor, .soften = 1}, .o = o};
    DIS_TRY(dis__confusion_create(&f.c, args, fit));
    dis_status status = dis__alloc_array(&f.marginals, args->votes.n_classes, sizeof *f.marginals);
    if (status == DIS_OK) status = run(&f, args, fit);
    dis__free(f.marginals);
    dis__em_destroy(&f.c.em);
    return status;
}

const dis__method dis__method_fast_dawid_skene = {
    .info = {.name = "fast-dawid-skene",
             .summary = "Dawid-Skene with hard assignments; converges in a few iterations",
             .source = "Sinha, Rao & Balasubramanian 2018",
             .objective = "classification likelihood",
             .needs_workers = true,
             .predictions = DIS_PREDICTIONS_PRIOR,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(fds_options),
    .memory = dis__confusion_memory,
    .fit = fit_fast_dawid_skene,
    .matrices = true,
    .starts = true,
    .ranks = true,
    .devices = true,
};
