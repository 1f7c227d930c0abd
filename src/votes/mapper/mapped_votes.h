/* mapped_votes.h: the votes of all inputs by the mapper, one after the other: answers (record_reader.h) whose several
 * labels are joined or parted as the options say.
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

/* resolve_duplicates.c: of votes of a worker on an item that were all read into reader->votes, those of the answer that
 * counts by its time stay. The inputs are read once more if there are such. *n_replaced: votes that went. */
dis_status dis__resolve_duplicates_by_time(dis__reader *reader, const dis__mapping *mapping, uint64_t *n_replaced);

#endif
