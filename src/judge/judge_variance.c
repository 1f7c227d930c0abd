/* Variance of an estimate with new items and new people (two-way clustering: Cameron, Gelbach and Miller 2011; Owen
 * 2007): the sum of squares of the influences of items, plus that of the sums per person, minus that of single votes.
 * With fewer than DIS_JUDGE_MIN_PEOPLE people it is the variance for new items alone. Cost: O(votes). */
#include "judge/judge_internal.h"
#include "core/memory/memory.h"

dis_status dis__judge_variance_create(size_t n_people, dis__judge_variance *v)
{
    *v = (dis__judge_variance){.n_people = n_people};
    DIS_TRY(dis__alloc_zeroed(&v->person, n_people, sizeof *v->person));
    const dis_status status = dis__alloc_zeroed(&v->n_votes, n_people, sizeof *v->n_votes);
    if (status != DIS_OK) dis__judge_variance_destroy(v);
    return status;
}

void dis__judge_variance_clear(dis__judge_variance *v)
{
    for (size_t w = 0; w < v->n_people; w++) v->person[w] = v->n_votes[w] = 0;
    v->n_items = 0;
    v->items = v->votes = 0;
}

void dis__judge_variance_add_item(dis__judge_variance *v, double influence)
{
    v->items += influence * influence;
    v->n_items++;
}

void dis__judge_variance_add_vote(dis__judge_variance *v, size_t person, double influence)
{
    v->person[person] += influence;
    v->n_votes[person]++;
    v->votes += influence * influence;
}

dis__crossed_variances dis__judge_variance_compute(const dis__judge_variance *v)
{
    const double n = (double)v->n_items;
    dis__crossed_variances out = {.items = n > 1 ? v->items * n / (n - 1) : 0,
                                  .df_items = n - 1,
                                  .df_annotators = n - 1};
    double people = 0, sum = 0;
    for (size_t w = 0; w < v->n_people; w++) {
        people += v->n_votes[w] > 0;
        sum += v->person[w] * v->person[w];
    }
    if (people < DIS_JUDGE_MIN_PEOPLE) return out;
    out.annotators = sum * people / (people - 1);
    out.votes = v->votes;
    out.df_annotators = dis__annotator_df(dis__effective_number(v->n_votes, v->n_people));
    return out;
}

void dis__judge_variance_destroy(dis__judge_variance *v)
{
    dis__free(v->person);
    dis__free(v->n_votes);
    *v = (dis__judge_variance){0};
}
