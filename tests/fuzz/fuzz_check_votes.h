/* fuzz_check_votes.h: a table of votes that was read is whole: indices in range, votes of an item together, numbers
 * finite. */
#ifndef DIS_FUZZ_CHECK_VOTES_H
#define DIS_FUZZ_CHECK_VOTES_H
#include "fuzz.h"
#include "votes/read/reader.h"
#include <math.h>

static void check_votes(const dis_votes *votes)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    MUST(v.n_items > 0 && v.n_classes > 0 && v.n_classes <= DIS_MAX_CLASSES);
    MUST(dis_names_count(v.tasks) == v.n_items && dis_names_count(v.workers) == v.n_workers);
    MUST(dis_names_count(v.classes) == v.n_classes);
    if (v.counts) {
        for (size_t i = 0; i < v.n_items * v.n_classes; i++) MUST(v.counts[i] >= 0 && isfinite(v.counts[i]));
        return;
    }
    MUST(v.start[0] == 0 && v.start[v.n_items] == v.n_votes);
    for (size_t i = 0; i < v.n_items; i++) MUST(v.start[i] < v.start[i + 1]);
    for (size_t k = 0; k < v.n_votes; k++)
        MUST(v.worker[k] < v.n_workers && (v.label8 ? v.label8[k] : v.label16[k]) < v.n_classes);
}

#endif
