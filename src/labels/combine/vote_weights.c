/* Weights of views by the number of votes per parameter. A method with one confusion matrix per annotator estimates
 * K^2 values for each of them; with few votes these are noise, and methods that pool annotators predict better. With r
 * votes per value such a method gets r / (r + 1), one that estimates nothing about annotators .5 / (r + 1), any other 1.
 * docs/concepts/default-labels.md has the figures. */
#include "labels/combiner.h"
#include "labels/methods.h"

#define OF_SHARES .5 /* weight of vote shares if annotators have no votes to be judged by */

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
