/* mapped_votes.h: iterates over the votes of all inputs by the mapper: answers (record_reader.h) whose labels are
 * joined or split according to the options.
 *
 *     dis__mapped_votes walk = {.reader = reader, .take = take, .user = user};
 *     status = dis__mapped_votes_run(&walk, &mapping, false);
 *     dis__mapped_votes_free(&walk);
 */
#ifndef DIS_VOTES_MAPPER_MAPPED_VOTES_H
#define DIS_VOTES_MAPPER_MAPPED_VOTES_H
#include "votes/mapper/record_reader.h"

typedef struct dis__mapped_votes dis__mapped_votes;
struct dis__mapped_votes {
    dis__reader *reader;
    dis_status (*on_answer)(void *user, const dis__vote_field cell[DIS_ID_COLUMNS + 1], const dis__answer *answer,
                            dis__row_problem *problem);
    void *user;
    dis__mapping_run run; /* for positions */
    uint64_t n_answers;   /* so far, with the current one */
    char *joined;
    size_t joined_capacity;
};
/* `count`: see dis__mapping_run. */
dis_status dis__mapped_votes_run(dis__mapped_votes *walk, const dis__mapping *mapping, bool count);
void dis__mapped_votes_free(dis__mapped_votes *walk);

/* resolve_duplicates.c: after all votes were read into reader->votes, keeps, for each worker and item, the answer that
 * counts by its time. The inputs are read again if there are duplicates. *n_replaced: number of removed votes. */
dis_status dis__resolve_duplicates_by_time(dis__reader *reader, const dis__mapping *mapping, uint64_t *n_replaced);

#endif
