/* Distances of sets, and agreement between workers based on them: see sets.c. */
#include "tool/arrays.h"
#include "scaled/sets.h"
#include <math.h>

static void overlap(const dis__sets *x, size_t a, size_t b, double *both, double *any)
{
    *both = 0;
    for (size_t c = 0; c < x->n_classes; c++) *both += x->has[a * x->n_classes + c] && x->has[b * x->n_classes + c];
    *any = x->size[a] + x->size[b] - *both;
}

static double jaccard(const void *arg, size_t a, size_t b)
{
    double both, any;
    overlap(arg, a, b, &both, &any);
    return any > 0 ? 1 - both / any : 0;
}

static double masi(const void *arg, size_t a, size_t b)
{
    const dis__sets *x = arg;
    double both, any;
    overlap(x, a, b, &both, &any);
    if (any == 0 || both == any) return 0;
    const double least = x->size[a] < x->size[b] ? x->size[a] : x->size[b];
    return 1 - both / any * (both == least && both > 0 ? 2. / 3 : both > 0 ? 1. / 3 : 0);
}

static double is_other(const void *arg, size_t a, size_t b)
{
    (void)arg;
    return a != b;
}

static double is_other_for_class(const void *arg, size_t a, size_t b)
{
    const bool *has = arg;
    return has[a] != has[b];
}

static dis_metric alpha(const dis__sets *x, double (*distance)(const void *, size_t, size_t), const void *arg,
                        dis_status *status)
{
    const dis__alpha_input in = {.n_items = x->args->view.n_items,
                                 .n_kinds = x->n_sets,
                                 .start = x->start,
                                 .kind = x->kind,
                                 .distance = distance,
                                 .arg = arg};
    return dis__alpha_compute(x->args->ctx, &in, x->args->o->resamples, x->args->o->seed, status);
}

static dis_status add_classes(dis__sets *x)
{
    dis_scaled_column *c;
    double *votes, *value, *low, *high;
    bool *has;
    dis_status status = DIS_OK;
    DIS_TRY(dis__scaled_add_table(x->out, "classes", "per class: votes, and alpha of yes and no", x->n_classes, 5, &c));
    c[0] = (dis_scaled_column){.name = "class", .names = x->classes};
    DIS_TRY(dis__scaled_init_column(x->out, &c[1], "votes", x->n_classes, &votes));
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "alpha", x->n_classes, &value));
    DIS_TRY(dis__scaled_init_column(x->out, &c[3], "alpha_ci_low", x->n_classes, &low));
    DIS_TRY(dis__scaled_init_column(x->out, &c[4], "alpha_ci_high", x->n_classes, &high));
    DIS_TRY(dis__scaled_allocate(x->out, &has, x->n_sets, sizeof *has));
    for (size_t k = 0; k < x->n_classes; k++) {
        for (size_t s = 0; s < x->n_sets; s++) has[s] = x->has[s * x->n_classes + k];
        for (size_t n = 0; n < x->n_votes; n++) votes[k] += has[x->kind[n]];
        const dis_metric m = alpha(x, is_other_for_class, has, &status);
        value[k] = m.value;
        low[k] = m.has_interval ? m.ci_low : NAN;
        high[k] = m.has_interval ? m.ci_high : NAN;
    }
    return status;
}

/* Per worker the mean Jaccard distance of their sets from those of the others on the same item. */
static dis_status add_workers(dis__sets *x)
{
    const dis_votes_view *v = &x->args->view;
    dis_scaled_column *c;
    double *votes, *apart, *classes, *compared;
    DIS_TRY(
        dis__scaled_add_table(x->out, "workers",
                              "workers by the mean Jaccard distance to the other sets of an item, the largest first",
                              v->n_workers, 5, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = v->workers};
    DIS_TRY(dis__scaled_init_column(x->out, &c[1], "votes", v->n_workers, &votes));
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "distance", v->n_workers, &apart));
    DIS_TRY(dis__scaled_init_column(x->out, &c[3], "compared", v->n_workers, &compared));
    DIS_TRY(dis__scaled_init_column(x->out, &c[4], "classes_per_vote", v->n_workers, &classes));
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t n = x->start[i]; n < x->start[i + 1]; n++) {
            const double others = (double)(x->start[i + 1] - x->start[i] - 1);
            double sum = 0;
            votes[x->worker[n]]++;
            classes[x->worker[n]] += x->size[x->kind[n]];
            for (uint64_t k = x->start[i]; k < x->start[i + 1]; k++)
                if (k != n) sum += jaccard(x, x->kind[n], x->kind[k]);
            compared[x->worker[n]] += others > 0;
            if (others > 0) apart[x->worker[n]] += sum / others;
        }
    for (size_t w = 0; w < v->n_workers; w++) {
        apart[w] = compared[w] > 0 ? apart[w] / compared[w] : NAN;
        classes[w] = votes[w] > 0 ? classes[w] / votes[w] : NAN;
    }
    return dis__scaled_sort_table(x->out, &x->out->table[x->out->n_tables - 1], apart);
}

static dis_status add_measures(dis__sets *x)
{
    dis_status status = DIS_OK;
    const struct {
        const char *name, *title;
        double (*distance)(const void *, size_t, size_t);
    } alphas[] = {{"alpha_masi", "Krippendorff's alpha, MASI distance", masi},
                  {"alpha_jaccard", "Krippendorff's alpha, Jaccard distance", jaccard},
                  {"alpha_nominal", "Krippendorff's alpha, equal sets", is_other}};
    for (size_t m = 0; m < sizeof alphas / sizeof *alphas; m++)
        dis__scaled_add_measure(x->out, alphas[m].name, alphas[m].title, alpha(x, alphas[m].distance, x, &status));
    double classes = 0;
    for (size_t n = 0; n < x->n_votes; n++) classes += x->size[x->kind[n]];
    dis__scaled_add_measure(x->out, "classes_per_vote", "Classes per vote",
                            x->n_votes ? (dis_metric){.value = classes / (double)x->n_votes, .n = x->n_votes}
                                       : dis__metric_undefined("there are no votes"));
    return status;
}

dis_status dis__sets_add_measures(dis__sets *x)
{
    DIS_TRY(add_workers(x));
    DIS_TRY(add_classes(x));
    return add_measures(x);
}
