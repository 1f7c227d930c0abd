/* Named sources of votes: each a row of settings for the mapper. A source whose label column is the user's own has none
 * here:
 * --label names it. */
#include "dissent/votes.h"

static const dis_drop_rule mturk_drop[] = {{"AssignmentStatus", "Rejected"}};
static const dis_drop_rule prodigy_drop[] = {{"answer", "ignore"}};

#define DROP(rules) .drop = rules, .n_drop = sizeof rules / sizeof *rules

static const dis_votes_preset presets[] = {
    {.name = "crowd-kit",
     .summary = "CSV with task, worker (or performer), label",
     .input = DIS_INPUT_VOTES,
     .format = "csv"},
    {.name = "mace",
     .summary = "MACE: wide CSV without header, a row per item, a column per worker",
     .input = DIS_INPUT_MACE,
     .format = "csv"},
    {.name = "snow",
     .summary = "Snow et al. 2008: TSV with orig_id, !amt_worker_ids, response",
     .input = DIS_INPUT_VOTES,
     .format = "tsv",
     .task = "orig_id",
     .worker = "!amt_worker_ids",
     .label = "response"},
    {.name = "cifar10h",
     .summary = "CIFAR-10H: npy of counts, a row per image, a column per class",
     .input = DIS_INPUT_COUNTS,
     .format = "npy"},
    {.name = "mturk",
     .summary = "MTurk batch results, rejected assignments left out; --label Answer.NAME says which answer",
     .input = DIS_INPUT_VOTES,
     .format = "csv",
     .task = "HITId",
     .worker = "WorkerId",
     DROP(mturk_drop)},
    {.name = "figure-eight",
     .summary = "Figure Eight full report; --label says which column",
     .input = DIS_INPUT_VOTES,
     .format = "csv",
     .task = "_unit_id",
     .worker = "_worker_id"},
    {.name = "potato",
     .summary = "Potato CSV; --label names the schema's column",
     .input = DIS_INPUT_VOTES,
     .format = "csv",
     .task = "instance_id",
     .worker = "user_id"},
    {.name = "label-studio-csv",
     .summary = "Label Studio CSV export; --label names the control",
     .input = DIS_INPUT_VOTES,
     .format = "csv",
     .task = "id",
     .worker = "annotator"},
    {.name = "prodigy",
     .summary = "Prodigy JSONL of accept/reject decisions, ignored ones left out",
     .input = DIS_INPUT_VOTES,
     .format = "jsonl",
     .task = "_input_hash",
     .worker = "_annotator_id",
     .label = "answer",
     DROP(prodigy_drop)},
    {.name = "prodigy-choice",
     .summary = "Prodigy JSONL of one choice per item (key accept), ignored ones left out",
     .input = DIS_INPUT_VOTES,
     .format = "jsonl",
     .task = "_input_hash",
     .worker = "_annotator_id",
     .label = "accept",
     DROP(prodigy_drop)},
    {.name = "prodigy-session",
     .summary = "as prodigy-choice, workers by _session_id (older versions)",
     .input = DIS_INPUT_VOTES,
     .format = "jsonl",
     .task = "_input_hash",
     .worker = "_session_id",
     .label = "accept",
     DROP(prodigy_drop)},
};

const dis_votes_preset *dis_votes_preset_at(size_t i)
{
    return i < sizeof presets / sizeof *presets ? &presets[i] : NULL;
}
