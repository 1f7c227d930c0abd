/* KOS: message passing between items and workers for two classes (Karger, Oh and Shah 2011, Budget-optimal task
 * allocation for reliable crowdsourcing systems). With A = +1 for a vote for the first class and -1 for the second,
 *
 *     x(i -> j) = sum over the other workers j' of item i of A(i, j') y(j' -> i),
 *     y(j -> i) = sum over the other items i' of worker j of A(i', j) x(i' -> j).
 *
 * Messages start at 1, the mean of the published random start, so that the result does not depend on a seed or on the
 * order of rows. They are divided by the largest one in each iteration, since only their ratios matter. The sign of sum
 * A y decides; the soft label is the share of |y| that supports a class; a worker of negative reliability supports the
 * other one. A worker with one vote has no message.
 *
 * Cost: two passes over the votes per iteration. */
#include "labels/method.h"
#include <math.h>

typedef struct {
    int64_t iterations;
} kos_options;

static const dis_option options[] = {DIS_OPTION_ITERATIONS(kos_options, "100")};

typedef struct {
    const dis_votes_view *votes;
    double *x, *y; /* (n_votes) messages of items and of workers */
    double *sum;   /* (n_workers) */
} kos;

static double sign_of(const dis_votes_view *votes, size_t v)
{
    return dis__vote_label(votes, v) == 0 ? 1 : -1;
}

static double item_sum(const kos *k, size_t i)
{
    double sum = 0;
    for (uint64_t v = k->votes->start[i]; v < k->votes->start[i + 1]; v++) sum += sign_of(k->votes, v) * k->y[v];
    return sum;
}

static void send_from_items(const kos *k)
{
    for (size_t i = 0; i < k->votes->n_items; i++) {
        const double sum = item_sum(k, i);
        for (uint64_t v = k->votes->start[i]; v < k->votes->start[i + 1]; v++)
            k->x[v] = sum - sign_of(k->votes, v) * k->y[v];
    }
}

/* The largest message, by which all are divided; 0: no messages. */
static double send_from_workers(const kos *k)
{
    const dis_votes_view *votes = k->votes;
    double largest = 0;
    for (size_t w = 0; w < votes->n_workers; w++) k->sum[w] = 0;
    for (size_t v = 0; v < votes->n_votes; v++) k->sum[votes->worker[v]] += sign_of(votes, v) * k->x[v];
    for (size_t v = 0; v < votes->n_votes; v++) {
        k->y[v] = k->sum[votes->worker[v]] - sign_of(votes, v) * k->x[v];
        if (fabs(k->y[v]) > largest) largest = fabs(k->y[v]);
    }
    for (size_t v = 0; v < votes->n_votes && largest > 0; v++) k->y[v] /= largest;
    return largest;
}

static void label_items(const kos *k, const dis__fit_args *args, double *p)
{
    for (size_t i = 0; i < k->votes->n_items; i++) {
        const int32_t gold = dis__item_gold(args, i);
        double size = 0;
        for (uint64_t v = k->votes->start[i]; v < k->votes->start[i + 1]; v++) size += fabs(k->y[v]);
        const double decision = gold >= 0 ? (gold == 0 ? 1 : -1) : size > 0 ? item_sum(k, i) / size : 0;
        p[2 * i] = (1 + decision) / 2;
        p[2 * i + 1] = 1 - p[2 * i];
    }
}

/* The mean message of each worker, in units of the largest one. */
static dis_status add_skills(const kos *k, dis_fit *fit)
{
    double *skill;
    DIS_TRY(dis__fit_add_parameter(fit, "skill", "w", &skill));
    for (size_t w = 0; w < fit->n_workers; w++) k->sum[w] = 0;
    for (size_t v = 0; v < k->votes->n_votes; v++) {
        skill[k->votes->worker[v]] += k->y[v];
        k->sum[k->votes->worker[v]]++;
    }
    for (size_t w = 0; w < fit->n_workers; w++) skill[w] = k->sum[w] > 0 ? skill[w] / k->sum[w] : 0;
    return DIS_OK;
}

static dis_status run(const dis__fit_args *args, kos *k, dis_fit *fit)
{
    const kos_options *o = args->options;
    for (size_t v = 0; v < k->votes->n_votes; v++) k->y[v] = 1;
    for (int64_t step = 1; step <= o->iterations; step++) {
        DIS_TRY(dis__check_stop(args->ctx));
        send_from_items(k);
        fit->iterations = (int)step;
        if (send_from_workers(k) == 0) break;
        dis__progress(args->ctx, "kos", (double)step / (double)o->iterations);
    }
    label_items(k, args, fit->p);
    return add_skills(k, fit);
}

static dis_status fit_kos(const dis__fit_args *args, dis_fit *fit)
{
    kos k = {.votes = &args->votes};
    if (fit->n_classes == 1) {
        for (size_t i = 0; i < fit->n_items; i++) fit->p[i] = 1;
        return DIS_OK;
    }
    if (fit->n_classes != 2)
        return dis__fail(DIS_EDATA, "kos needs two classes, but the votes have %zu; choose another method",
                         fit->n_classes);
    dis_status status = dis__alloc_array(&k.x, args->votes.n_votes, sizeof *k.x);
    if (status == DIS_OK) status = dis__alloc_array(&k.y, args->votes.n_votes, sizeof *k.y);
    if (status == DIS_OK) status = dis__alloc_array(&k.sum, args->votes.n_workers, sizeof *k.sum);
    if (status == DIS_OK) status = run(args, &k, fit);
    dis__free(k.x);
    dis__free(k.y);
    dis__free(k.sum);
    return status;
}

static size_t memory_of(const dis_votes_view *votes, const void *o)
{
    (void)o;
    return dis__saturating_size(votes->n_votes, 2 * sizeof(double), votes->n_workers * sizeof(double));
}

const dis__method dis__method_kos = {
    .info = {.name = "kos",
             .summary = "message passing between items and annotators; two classes only",
             .source = "Karger, Oh and Shah 2011",
             .objective = "none",
             .needs_workers = true,
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(kos_options),
    .memory = memory_of,
    .fit = fit_kos,
};
