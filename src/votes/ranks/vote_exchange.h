/* vote_exchange.h: distributes the votes read by several ranks: each step sends data to all ranks or to the owner of an
 * item. dis__votes_distribute() and dis__votes_redistribute() (votes_table.h) run the steps; each step's file has the
 * details. */
#ifndef DIS_VOTES_RANKS_VOTE_EXCHANGE_H
#define DIS_VOTES_RANKS_VOTE_EXCHANGE_H
#include "core/parallel/comm.h"
#include "votes/table/votes_table.h"

typedef struct {
    const dis__comm *comm;
    size_t size; /* ranks */
    dis_votes *votes;
    dis__comm_block *to, *from; /* (size) */
    uint64_t *all;              /* (size) */
    uint32_t *worker_to, *class_to;
    dis_names *workers, *classes;
    uint64_t key[2];
    uint32_t *directory_rank; /* (n_items) the home rank of a task */
    uint32_t *number;         /* (n_items) global index of the task */
    bool *is_first;           /* (n_items) no earlier rank has it */
    dis__votes_part part;
    uint64_t *cut, *cut_vote; /* (n_owners + 1) first items, and their first votes */
} dis__vote_exchange;

/* The data that every rank has put into `to`, in `from`. */
dis_status dis__vote_exchange_run(dis__vote_exchange *s);

/* exchange_tasks.c: `number` and `is_first` of this rank's tasks, and the global number of tasks. */
dis_status dis__vote_exchange_number_tasks(dis__vote_exchange *s);

/* exchange_votes.c: sends this rank's votes to the owners of their items, by `cut`; the received votes replace those
 * read. */
dis_status dis__vote_exchange_send(dis__vote_exchange *s);
dis_status dis__vote_exchange_receive(dis__vote_exchange *s);

#endif
