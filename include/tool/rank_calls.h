/* rank_calls.h: what the program does as one of several MPI ranks. Not part of the public interface. */
#ifndef DIS_TOOL_RANK_CALLS_H
#define DIS_TOOL_RANK_CALLS_H
#include "dissent/context.h"
#include "dissent/incremental.h"
#include "dissent/votes.h"

/* After a failure, instead of dis_context_destroy(): ends the other ranks, which may wait for this one, with `code`.
 * Does not return if there are others; in a single process it does nothing. */
void dis__context_abort(dis_context *ctx, int code);
/* A point that all ranks reach, each with its status. The lowest rank with a failure gets it back, and the others
 * wait until that rank stops them (dis__context_abort). A single process gets `so_far` back. */
dis_status dis__context_reduce_status(dis_context *ctx, dis_status so_far);
/* Bytes that this rank has sent to others so far, each broadcast counted once. */
uint64_t dis__context_bytes_sent(const dis_context *ctx);
/* n bytes of rank `from` to all ranks, which all call this. In a single process it does nothing. */
dis_status dis__context_broadcast(dis_context *ctx, int from, void *bytes, size_t n);
/* Items and votes of all ranks together (`ranks` of a context); the view has this rank's. */
void dis__votes_get_totals(const dis_votes *votes, size_t *n_items, size_t *n_votes);
/* Votes that the first rank alone has (*votes is NULL elsewhere), split across all ranks as those that dis_votes_read()
 * reads; all ranks call it. A single process keeps them unchanged. DIS_EDATA: they do not say who voted. */
dis_status dis__votes_scatter(dis_context *ctx, dis_votes **votes);

#endif
