/* vote_reasons.h: why a vote differs from the others, in words: for files and pages. Not part of the public interface. */
#ifndef DIS_TOOL_VOTE_REASONS_H
#define DIS_TOOL_VOTE_REASONS_H
#include "dissent/review.h"

typedef enum { DIS_CAUSE_COMMON, DIS_CAUSE_SLIP, DIS_CAUSE_READING, DIS_CAUSE_GROUP, DIS_CAUSES } dis__vote_cause;

/* The probability of each cause; the most probable one. */
dis__vote_cause dis__vote_cause_find(const dis_review_vote *vote, double p[DIS_CAUSES]);
/* "common", "slip", "reading", "group". */
const char *dis__vote_cause_name(dis__vote_cause cause);
/* The votes that speak for the cause of vote i of the view. Returns `out`. */
const char *dis__vote_reason_format(const dis_review_view *review, const dis_votes_view *votes,
                                    const dis_worker_groups *groups, size_t i, char *out, size_t size);

#endif
