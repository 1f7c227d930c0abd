/* record_walk_internal.h: internals of a walk: record_walk.c iterates over a record, path_errors.c reports missing
 * values. */
#ifndef DIS_VOTES_MAPPER_RECORD_WALK_INTERNAL_H
#define DIS_VOTES_MAPPER_RECORD_WALK_INTERNAL_H
#include "votes/mapper/record_walk.h"

typedef enum { DIS_PATH_TASK, DIS_PATH_WORKER, DIS_PATH_LABEL, DIS_PATH_TIME, DIS_PATH_RULE } dis__path_role;

typedef struct {
    const dis__path *path;
    const dis__path_part *part;
    dis__path_role of;
    size_t rule;
    size_t axis[DIS_PATH_AXES]; /* (part->n_axes) steps that are lists */
    /* the current value */
    size_t step;
    dis__node node;
    bool missing; /* step `step` does not apply to `node` */
    dis__node_list list[DIS_PATH_AXES];
    dis__element element; /* of the innermost list */
    char number[24];
} dis__path_cursor;

struct dis__record_walk {
    const dis__mapping *m;
    dis__path_cursor *cursors; /* (n_legs) */
    size_t n_cursors;
    size_t depth, label_depth; /* lists of an answer, and of its labels */
    dis__mapped_record *record;
    dis__row_problem *problem;
    uint64_t dropped;
    dis__answer_callback on_answer;
    void *user;
    dis__answer answer;
    size_t label_capacity;
    char *joined[2]; /* task and worker with several parts */
    size_t joined_capacity[2];
    size_t index[DIS_PATH_AXES];
};

/* Required values of an answer. */
static inline bool dis__path_cursor_is_required(const dis__path_cursor *l)
{
    return l->of == DIS_PATH_TASK || l->of == DIS_PATH_WORKER || l->of == DIS_PATH_LABEL;
}

/* path_lookup.c: the key at `step`, or several steps joined by dots as one key, the longest that exists; NONE if there
 * is none. *n_steps: number of joined steps. */
dis_status dis__path_lookup_key(dis__mapped_record *r, const dis__node *node, const dis__path_step *step,
                                dis__node *out, size_t *n_steps);

/* path_errors.c: DIS_EDATA with the problem of the walk. */
dis_status dis__record_walk_fail(dis__record_walk *w, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "annotations[2].completed_by": the position of a leg. */
void dis__record_walk_position(const dis__record_walk *w, const dis__path_cursor *l, char *out, size_t room);
/* The option of a leg's path. */
const char *dis__path_cursor_option(const dis__record_walk *w, const dis__path_cursor *l);
/* Step l->step does not apply to the current value: reports the value and the remedy. */
dis_status dis__record_walk_fail_missing(dis__record_walk *w, const dis__path_cursor *l);

#endif
