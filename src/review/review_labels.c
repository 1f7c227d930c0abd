/* The reviewed labels and their probabilities: one table for all item statistics of a review and its output. They are
 * given by the caller, or computed by dis_label_result_run() with the caller's method or the default recipe, with the
 * same gold labels; `dissent labels` writes the same table.
 *
 * Exception: ordinal votes without a given method. The soft labels of the method ordinal predict votes, so the
 * probability that a label is correct comes from the posterior of the item's position (review_ordinal.c).
 *
 * Cost: that of the fits, or a copy. */
#include "review/review_internal.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 1024 };
#define ROW_SUM 1e-6

static dis_status check_row(const double *p, size_t n_classes, size_t item)
{
    double sum = 0;
    for (size_t k = 0; k < n_classes; k++) {
        if (!(p[k] >= 0 && p[k] <= 1 + ROW_SUM))
            return dis__fail(DIS_EDATA, "item %zu: %g is not a probability; they are 0 to 1", item, p[k]);
        sum += p[k];
    }
    return fabs(sum - 1) <= ROW_SUM
               ? DIS_OK
               : dis__fail(DIS_EDATA, "item %zu: the probabilities sum to %g; scale them to sum to 1", item, sum);
}

/* Overwrites computed rows with the caller's; *lacking: number of rows missing from the caller's labels. */
static dis_status put_given(const dis_review_options *o, size_t n_items, size_t n_classes, double *p, size_t *lacking)
{
    *lacking = 0;
    for (size_t i = 0; i < n_items; i++) {
        const double *from = o->p + i * n_classes;
        double *to = p + i * n_classes;
        if (isnan(from[0])) {
            ++*lacking;
            continue;
        }
        DIS_TRY(check_row(from, n_classes, i));
        memcpy(to, from, n_classes * sizeof *to);
        if (!o->gold || o->gold[i] < 0) continue;
        memset(to, 0, n_classes * sizeof *to);
        to[o->gold[i]] = 1;
    }
    return DIS_OK;
}

/* "default", "mace", "mace + ibcc by centroid" */
static dis_status name_choice(const dis_label_plan *c, char **out)
{
    char name[NAME_SIZE] = "";
    size_t n = 0;
    for (size_t m = 0; m < c->n_views && n < sizeof name; m++)
        n += (size_t)snprintf(name + n, sizeof name - n, "%s%s", m ? " + " : "", c->views[m]);
    if (c->combine && n < sizeof name) snprintf(name + n, sizeof name - n, " by %s", c->combine);
    const char *text = c->recipe ? c->recipe->name : name;
    return dis__copy_text(out, text, strlen(text));
}

static dis_status make(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                       const dis_review_options *o, double **p)
{
    dis_fit_options fit = dis_fit_options_default();
    fit.seed = o->seed;
    fit.gold = o->gold;
    dis_label_result_options how = dis_label_result_options_default();
    how.fit = &fit;
    dis_label_result *result;
    DIS_TRY(dis_label_result_run(ctx, votes, choice, &how, &result));
    *p = dis_label_result_move_p(result);
    dis_label_result_destroy(result);
    return DIS_OK;
}

static dis_status make_all(dis_context *ctx, const dis_votes *votes, const dis_review_options *o, dis_review *review,
                           double **p)
{
    dis_label_plan choice = dis_label_plan_default();
    if (o->plan)
        DIS_TRY(DIS_OPTIONS_COPY(dis_label_plan, &choice, o->plan));
    else
        DIS_TRY(dis_label_plan_parse(NULL, 0, NULL, dis_votes_get_view(votes).start != NULL, &choice));
    DIS_TRY(name_choice(&choice, &review->method));
    return make(ctx, votes, &choice, o, p);
}

static dis_status given(dis_context *ctx, const dis_votes *votes, const dis_review_options *o, dis_review *review,
                        double *p)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    size_t lacking;
    double *estimated = NULL;
    dis_status status = put_given(o, v.n_items, v.n_classes, p, &lacking);
    if (status == DIS_OK && lacking) status = make_all(ctx, votes, o, review, &estimated);
    for (size_t i = 0; status == DIS_OK && lacking && i < v.n_items; i++)
        if (isnan(o->p[i * v.n_classes]))
            memcpy(p + i * v.n_classes, estimated + i * v.n_classes, v.n_classes * sizeof *p);
    dis__free(estimated);
    dis__free(review->method);
    review->method = NULL;
    if (status == DIS_OK) status = dis__copy_text(&review->method, "given", strlen("given"));
    return status;
}

dis_status dis__review_create_labels(dis_context *ctx, const dis_votes *votes, const dis_review_options *o,
                                     dis_review *review, double **p)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    if (o->p) {
        double *own;
        DIS_TRY(dis__alloc_array(&own, dis__saturating_size(v.n_items, v.n_classes, 0), sizeof *own));
        const dis_status status = given(ctx, votes, o, review, own);
        if (status == DIS_OK)
            *p = own;
        else
            dis__free(own);
        return status;
    }
    if (!review->ordinal_items || o->plan) return make_all(ctx, votes, o, review, p);
    DIS_TRY(dis__copy_text(&review->method, "ordinal", strlen("ordinal")));
    *p = review->ordinal_p;
    review->ordinal_p = NULL;
    return DIS_OK;
}
