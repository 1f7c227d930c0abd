/* map_votes.h: the votes of all inputs by the mapper, one after the other: answers (map_read.h) whose several labels
 * are joined or parted as the options say.
 *
 *     dis__vote_walk walk = {.reader = reader, .take = take, .user = user};
 *     status = dis__vote_walk_run(&walk, &mapping, false);
 *     dis__vote_walk_free(&walk);
 */
#ifndef DIS_VOTES_MAP_VOTES_H
#define DIS_VOTES_MAP_VOTES_H
#include "votes/map_read.h"

typedef struct dis__vote_walk dis__vote_walk;
struct dis__vote_walk {
    dis__reader *reader;
    dis_status (*take)(void *user, const dis__vote_field cell[DIS_ID_COLUMNS + 1], const dis__answer *answer,
                       dis__problem *problem);
    void *user;
    dis__map_run run;   /* for places */
    uint64_t n_answers; /* so far, with the one at hand */
    char *joined;
    size_t joined_capacity;
};
/* `count`: see dis__map_run. */
dis_status dis__vote_walk_run(dis__vote_walk *walk, const dis__mapping *mapping, bool count);
void dis__vote_walk_free(dis__vote_walk *walk);

/* map_times.c: of votes of a worker on an item that were all read into reader->votes, those of the answer that counts
 * by its time stay. The inputs are read once more if there are such. *n_replaced: votes that went. */
dis_status dis__choose_by_time(dis__reader *reader, const dis__mapping *mapping, uint64_t *n_replaced);

#endif
