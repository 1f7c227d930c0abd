/* The table of objectives: one label per item (gold; silver, the majority of the votes), the distribution of the votes,
 * both by a head each on one encoder (multi-task: Fornaciari et al. 2021; Wright and Augenstein 2022), or the votes of
 * each worker through a layer of the worker's own (Rodrigues and Pereira 2018). */
#include "train/objective.h"
#include <string.h>

#define SOFT(name_, loss_, summary_)                                                                              \
    {                                                                                                             \
        .info = {.name = name_, .summary = summary_, .needs_labels = true}, .main = DIS_MAIN_NONE, .soft = loss_, \
        .crowd = -1                                                                                               \
    }
#define GOLD(name_, loss_, summary_)                                                                    \
    {                                                                                                   \
        .info = {.name = name_, .summary = summary_, .needs_gold = true, .needs_labels = (loss_) >= 0}, \
        .main = DIS_MAIN_GOLD, .soft = loss_, .crowd = -1                                               \
    }
#define SILVER(name_, loss_, summary_)                                                                              \
    {                                                                                                               \
        .info = {.name = name_, .summary = summary_, .needs_labels = true}, .main = DIS_MAIN_SILVER, .soft = loss_, \
        .crowd = -1                                                                                                 \
    }
#define CROWD(name_, kind_, summary_)                                                                         \
    {                                                                                                         \
        .info = {.name = name_, .summary = summary_, .needs_votes = true}, .main = DIS_MAIN_NONE, .soft = -1, \
        .crowd = kind_                                                                                        \
    }

static const dis__objective_row rows[] = {
    GOLD("gold", -1, "cross-entropy to the gold label"),
    SILVER("silver", -1, "cross-entropy to the most probable class of the soft label; ties are left out"),
    SOFT("soft-ce", DIS_LOSS_CE, "cross-entropy to the soft label"),
    SOFT("kl", DIS_LOSS_KL, "KL divergence from the soft label to the prediction"),
    SOFT("inverse-kl", DIS_LOSS_INVERSE_KL, "KL divergence from the prediction to the soft label"),
    SOFT("js", DIS_LOSS_JS, "Jensen-Shannon divergence of soft label and prediction"),
    GOLD("gold+ce", DIS_LOSS_CE, "two heads: gold label, and cross-entropy to the soft label"),
    GOLD("gold+kl", DIS_LOSS_KL, "two heads: gold label, and KL to the soft label"),
    GOLD("gold+inverse-kl", DIS_LOSS_INVERSE_KL, "two heads: gold label, and inverse KL to the soft label"),
    SILVER("silver+ce", DIS_LOSS_CE, "two heads: silver label, and cross-entropy to the soft label"),
    SILVER("silver+kl", DIS_LOSS_KL, "two heads: silver label, and KL to the soft label"),
    SILVER("silver+inverse-kl", DIS_LOSS_INVERSE_KL, "two heads: silver label, and inverse KL to the soft label"),
    CROWD("crowd:mw", DIS_CROWD_MW, "votes of each worker through a matrix of the worker's own"),
    CROWD("crowd:vw", DIS_CROWD_VW, "votes of each worker through a factor per class"),
    CROWD("crowd:vb", DIS_CROWD_VB, "votes of each worker through a term per class"),
    CROWD("crowd:vwb", DIS_CROWD_VWB, "votes of each worker through a factor and a term per class"),
    CROWD("crowd:sw", DIS_CROWD_SW, "votes of each worker through one factor"),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const dis_objective *dis_objective_at(size_t i)
{
    return i < N_ROWS ? &rows[i].info : NULL;
}

const dis__objective_row *dis__objective_row_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].info.name, name) == 0) return &rows[i];
    return NULL;
}

const dis_objective *dis_objective_find(const char *name)
{
    const dis__objective_row *row = dis__objective_row_find(name);
    return row ? &row->info : NULL;
}
