/* map_walk_inside.h: a walk from the inside, for its parts: map_walk.c goes through a record, map_missing.c says what a
 * path does not find there. */
#ifndef DIS_VOTES_MAP_WALK_INSIDE_H
#define DIS_VOTES_MAP_WALK_INSIDE_H
#include "votes/map_walk.h"

typedef enum { DIS_LEG_TASK, DIS_LEG_WORKER, DIS_LEG_LABEL, DIS_LEG_TIME, DIS_LEG_RULE } dis__leg_of;

typedef struct {
    const dis__path *path;
    const dis__path_part *part;
    dis__leg_of of;
    size_t rule;
    size_t axis[DIS_PATH_AXES]; /* (part->n_axes) steps that are lists */
    /* where it stands */
    size_t step;
    dis__node node;
    bool missing; /* step `step` does not apply to `node` */
    dis__node_list list[DIS_PATH_AXES];
    dis__element element; /* of the innermost list */
    char number[24];
} dis__leg;

struct dis__walk {
    const dis__mapping *m;
    dis__leg *legs; /* (n_legs) */
    size_t n_legs;
    size_t depth, label_depth; /* lists of an answer, and of its labels */
    dis__record *record;
    dis__problem *problem;
    uint64_t dropped;
    dis__take_answer take;
    void *user;
    dis__answer answer;
    size_t label_capacity;
    char *joined[2]; /* task and worker of several parts */
    size_t joined_capacity[2];
    size_t index[DIS_PATH_AXES];
};

/* What an answer cannot do without. */
static inline bool dis__leg_needed(const dis__leg *l)
{
    return l->of == DIS_LEG_TASK || l->of == DIS_LEG_WORKER || l->of == DIS_LEG_LABEL;
}

/* map_lead.c: the key at `step`, or several together as one key with dots in it, the longest that is there; NONE where
 * there is none. *n_steps: how many steps that were. */
dis_status dis__step_key(dis__record *r, const dis__node *node, const dis__path_step *step, dis__node *out,
                         size_t *n_steps);

/* map_missing.c: DIS_EDATA with the problem of the walk. */
dis_status dis__walk_bad(dis__walk *w, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "annotations[2].completed_by": how far a leg has come. */
void dis__walk_place(const dis__walk *w, const dis__leg *l, char *out, size_t room);
/* The option that names what a leg leads to. */
const char *dis__leg_option(const dis__walk *w, const dis__leg *l);
/* Step l->step does not apply where the leg stands: what is there instead, and what to do. */
dis_status dis__walk_missing(dis__walk *w, const dis__leg *l);

#endif
