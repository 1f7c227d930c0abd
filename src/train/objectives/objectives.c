/* The table of objectives: one label per item (gold; silver, the majority of the votes), the distribution of the votes,
 * both by a head each on one encoder (multi-task: Fornaciari et al. 2021; Wright and Augenstein 2022), the votes of
 * each worker through a layer of the worker's own (Rodrigues and Pereira 2018), or each vote by a model that is told
 * whose it is (AART: Mokhberian et al. 2024; annot-mix: Herde et al. 2024). Names may hold a colon (crowd:mw); settings
 * follow behind another one (crowd:mw:on=probabilities). */
#include "train/objectives/objective.h"
#include "core/options/option_spec.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const dis_option silver_options[] = {
    {.key = "ties",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__objective_settings, ties),
     .default_value = "drop",
     .choices = "drop|first",
     .summary =
         "items whose soft label has several most probable classes: drop them from all heads, or use the first class"},
};
static const dis_option crowd_options[] = {
    {.key = "on",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__objective_settings, on),
     .default_value = "logits",
     .choices = "logits|probabilities",
     .summary = "input of the annotator layer: logits (Uma et al. 2020) or probabilities (Rodrigues and Pereira 2018)"},
    {.key = "warm-up",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__objective_settings, warm_up),
     .default_value = "0",
     .low = 0,
     .high = 1e6,
     .summary = "train the first N epochs on majority labels without ties; these epochs are never kept as the best"},
};
#define OF_WORKERS(key_, kind_, fallback_, low_, high_, summary_)                                                   \
    {                                                                                                               \
        .key = #key_, .kind = kind_, .offset = offsetof(dis__objective_settings, key_), .default_value = fallback_, \
        .low = low_, .high = high_, .summary = summary_                                                             \
    }
#define HIDDEN(summary_) OF_WORKERS(hidden, DIS_OPTION_INT, "0", 0, 1e5, summary_)
#define ALPHA(fallback_)                                  \
    OF_WORKERS(alpha, DIS_OPTION_REAL, fallback_, 0, 1e3, \
               "mixup: mix pairs of items, annotators and votes with a weight from Beta(alpha, alpha); 0: no mixup")
#define UNKNOWN                                 \
    OF_WORKERS(                                 \
        unknown, DIS_OPTION_REAL, "0.1", 0, .9, \
        "share of votes trained with the vector of an unknown annotator; 0: unknown annotators get the mean vector")
#define NORM                                      \
    OF_WORKERS(norm, DIS_OPTION_REAL, "0", 0, .9, \
               "loss weight of the mean length of the annotator vectors (AART: lambda)")
#define CONTRAST                                      \
    OF_WORKERS(contrast, DIS_OPTION_REAL, "0", 0, .9, \
               "loss weight of a contrastive term: annotators who agree on an item get similar vectors (AART: alpha)")
static const dis_option annotator_options[] = {
    HIDDEN("units of a layer after the sum of item and annotator vectors, so that effects of annotators can depend on "
           "the item; 0: no layer"),
    ALPHA("0"),
    UNKNOWN,
    NORM,
    CONTRAST,
};
static const dis_option annot_mix_options[] = {
    HIDDEN("units of a layer between the item and annotator vectors and the confusion matrix; 0: no layer"),
    OF_WORKERS(width, DIS_OPTION_INT, "32", 1, 1e5, "width of the annotator vectors"),
    ALPHA("1"),
    OF_WORKERS(eta, DIS_OPTION_REAL, "0.9", .01, .999, "initial probability that a vote is the true class"),
    UNKNOWN,
    NORM,
    CONTRAST,
};
enum {
    N_ANNOTATOR = sizeof annotator_options / sizeof *annotator_options,
    N_ANNOT_MIX = sizeof annot_mix_options / sizeof *annot_mix_options,
    N_SILVER = sizeof silver_options / sizeof *silver_options,
    N_CROWD = sizeof crowd_options / sizeof *crowd_options
};

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
#define SILVER(name_, loss_, summary_)                      \
    {                                                       \
        .info = {.name = name_,                             \
                 .summary = summary_,                       \
                 .needs_labels = true,                      \
                 .options = silver_options,                 \
                 .n_options = N_SILVER},                    \
        .main = DIS_MAIN_SILVER, .soft = loss_, .crowd = -1 \
    }
#define CROWD(name_, kind_, summary_)                     \
    {                                                     \
        .info = {.name = name_,                           \
                 .summary = summary_,                     \
                 .needs_votes = true,                     \
                 .options = crowd_options,                \
                 .n_options = N_CROWD},                   \
        .main = DIS_MAIN_NONE, .soft = -1, .crowd = kind_ \
    }

static const dis__objective_row rows[] = {
    GOLD("gold", -1, "cross-entropy to the gold label"),
    SILVER("silver", -1, "cross-entropy to the most probable class of the soft label"),
    SOFT("soft-ce", DIS_LOSS_CE, "cross-entropy to the soft label"),
    SOFT("kl", DIS_LOSS_KL, "KL divergence from the soft label to the prediction"),
    SOFT("inverse-kl", DIS_LOSS_INVERSE_KL, "KL divergence from the prediction to the soft label"),
    SOFT("js", DIS_LOSS_JS, "Jensen-Shannon divergence of soft label and prediction"),
    GOLD("gold+ce", DIS_LOSS_CE, "two heads: gold label, and cross-entropy to the soft label"),
    GOLD("gold+kl", DIS_LOSS_KL, "two heads: gold label, and KL to the soft label"),
    GOLD("gold+inverse-kl", DIS_LOSS_INVERSE_KL, "two heads: gold label, and inverse KL to the soft label"),
    GOLD("gold+js", DIS_LOSS_JS, "two heads: gold label, and Jensen-Shannon divergence to the soft label"),
    SILVER("silver+ce", DIS_LOSS_CE, "two heads: silver label, and cross-entropy to the soft label"),
    SILVER("silver+kl", DIS_LOSS_KL, "two heads: silver label, and KL to the soft label"),
    SILVER("silver+inverse-kl", DIS_LOSS_INVERSE_KL, "two heads: silver label, and inverse KL to the soft label"),
    SILVER("silver+js", DIS_LOSS_JS, "two heads: silver label, and Jensen-Shannon divergence to the soft label"),
    {.info = {.name = "annotator",
              .summary = "predict each vote from the item and a vector of its annotator",
              .needs_votes = true,
              .options = annotator_options,
              .n_options = N_ANNOTATOR},
     .main = DIS_MAIN_GOLD,
     .soft = -1,
     .crowd = -1,
     .annotator = true},
    {.info = {.name = "annot-mix",
              .summary = "predict each vote from a class per item and a confusion matrix of its annotator, with mixup",
              .needs_votes = true,
              .options = annot_mix_options,
              .n_options = N_ANNOT_MIX},
     .main = DIS_MAIN_GOLD,
     .soft = -1,
     .crowd = -1,
     .annotator = true,
     .confuses = true},
    CROWD("crowd:mw", DIS_CROWD_MW, "predict each vote from the class scores and one matrix per annotator"),
    CROWD("crowd:vw", DIS_CROWD_VW, "predict each vote from the class scores, scaled per annotator and class"),
    CROWD("crowd:vb", DIS_CROWD_VB, "predict each vote from the class scores, shifted per annotator and class"),
    CROWD("crowd:vwb", DIS_CROWD_VWB,
          "predict each vote from the class scores, scaled and shifted per annotator and class"),
    CROWD("crowd:sw", DIS_CROWD_SW, "predict each vote from the class scores, scaled per annotator"),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const dis_objective *dis_objective_get(size_t i)
{
    return i < N_ROWS ? &rows[i].info : NULL;
}

const dis__objective_row *dis__objective_row_find(const char *spec)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const size_t n = strlen(rows[i].info.name);
        if (strncmp(rows[i].info.name, spec, n) == 0 && (spec[n] == 0 || spec[n] == ':')) return &rows[i];
    }
    return NULL;
}

dis_status dis__objective_parse(const char *spec, const dis__objective_row **row, dis__objective_settings *settings)
{
    const dis__objective_row *found = dis__objective_row_find(spec);
    if (!found) return dis__fail(DIS_EUSAGE, "no objective \"%.60s\"; dissent list objectives shows them", spec);
    const dis_objective *info = &found->info;
    DIS_TRY(dis__spec_parse_after("objective", spec, strlen(info->name), info->options, info->n_options, settings,
                                  sizeof *settings));
    if (settings->norm + settings->contrast >= 1)
        return dis__fail(DIS_EUSAGE, "objective %s: norm and contrast leave no weight for the votes", info->name);
    *row = found;
    return DIS_OK;
}

dis_status dis__objective_format(const char *spec, char *out)
{
    const dis__objective_row *row = NULL;
    dis__objective_settings s;
    DIS_TRY(dis__objective_parse(spec, &row, &s));
    if (row->crowd >= 0)
        snprintf(out, DIS__OBJECTIVE_TEXT_SIZE, "%s:on=%s,warm-up=%lld", row->info.name,
                 s.on == DIS_CROWD_ON_LOGITS ? "logits" : "probabilities", (long long)s.warm_up);
    else if (row->annotator)
        snprintf(out, DIS__OBJECTIVE_TEXT_SIZE,
                 row->confuses ? "%s:hidden=%lld,alpha=%g,unknown=%g,norm=%g,contrast=%g,width=%lld,eta=%g"
                               : "%s:hidden=%lld,alpha=%g,unknown=%g,norm=%g,contrast=%g",
                 row->info.name, (long long)s.hidden, s.alpha, s.unknown, s.norm, s.contrast, (long long)s.width,
                 s.eta);
    else if (row->main == DIS_MAIN_SILVER)
        snprintf(out, DIS__OBJECTIVE_TEXT_SIZE, "%s:ties=%s", row->info.name,
                 s.ties == DIS_TIES_DROP ? "drop" : "first");
    else
        snprintf(out, DIS__OBJECTIVE_TEXT_SIZE, "%s", row->info.name);
    return DIS_OK;
}

const dis_objective *dis_objective_find(const char *spec)
{
    const dis__objective_row *row = dis__objective_row_find(spec);
    return row ? &row->info : NULL;
}
