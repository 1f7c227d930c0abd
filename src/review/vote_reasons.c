/* The reason for the cause of a vote: how many others chose the same, how often the annotator slips, and what the
 * group chose. Cost: the votes on the item. */
#include "tool/vote_reasons.h"
#include "tool/arrays.h"
#include "labels/method.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

dis__vote_cause dis__vote_cause_find(const dis_review_vote *vote, double p[DIS_CAUSES])
{
    p[DIS_CAUSE_COMMON] = fmax(0, 1 - vote->p_slip - vote->p_reading - vote->p_group);
    p[DIS_CAUSE_SLIP] = vote->p_slip;
    p[DIS_CAUSE_READING] = vote->p_reading;
    p[DIS_CAUSE_GROUP] = vote->p_group;
    return (dis__vote_cause)dis__argmax(p, DIS_CAUSES);
}

const char *dis__vote_cause_name(dis__vote_cause cause)
{
    static const char *const names[DIS_CAUSES] = {"common", "slip", "reading", "group"};
    return names[cause];
}

/* Other votes on the item. */
typedef struct {
    size_t n, same, group, group_same; /* the last two: of the annotator's group */
} others;

static others count_others(const dis_votes_view *v, const dis_review_vote *x, const int32_t *group)
{
    others o = {0};
    for (uint64_t a = v->start[x->item]; a < v->start[x->item + 1]; a++) {
        if (v->worker[a] == x->worker) continue;
        const bool same = dis__vote_label(v, a) == x->label, in = group && group[v->worker[a]] == group[x->worker];
        o.n++;
        o.same += same;
        o.group += in;
        o.group_same += in && same;
    }
    return o;
}

const char *dis__vote_reason_format(const dis_review_view *review, const dis_votes_view *votes,
                                    const dis_worker_groups *groups, size_t i, char *out, size_t size)
{
    const dis_review_vote *x = &review->votes[i];
    double p[DIS_CAUSES];
    const dis__vote_cause cause = dis__vote_cause_find(x, p);
    dis_worker_groups_view view = {0};
    if (groups) view = dis_worker_groups_get_view(groups);
    const bool known = groups && view.group[x->worker] >= 0;
    const others o = count_others(votes, x, known ? view.group : NULL);
    const int n =
        snprintf(out, size, o.n ? "%zu of %zu others gave this answer" : "no one else voted on the item", o.same, o.n);
    if (n < 0 || (size_t)n >= size) return out;
    if (cause == DIS_CAUSE_SLIP || cause == DIS_CAUSE_READING)
        snprintf(out + n, size - (size_t)n, "; the annotator slips in an estimated %.0f %% of votes",
                 100 * review->slip_rate[x->worker]);
    else if (cause == DIS_CAUSE_GROUP && known)
        snprintf(out + n, size - (size_t)n, "; %zu of %zu others in the group \"%.40s\"", o.group_same, o.group,
                 dis_names_get(view.names, (size_t)view.group[x->worker], NULL));
    return out;
}
