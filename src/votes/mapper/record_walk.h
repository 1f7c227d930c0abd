/* record_walk.h: the votes of one record, by the paths of a mapping.
 *
 *     dis__mapping m;
 *     DIS_TRY(dis__mapping_init(&options, &m));
 *     ... for each record: DIS_TRY(dis__map_record(&m, &record, take, user, &problem)); ...
 *     dis__mapping_free(&m);
 *
 * Paths go through their lists in step (record_path.h): the lists of task and worker make one answer each; what the label
 * goes through beyond them are the labels of one answer: none, one or several. */
#ifndef DIS_VOTES_MAPPER_RECORD_WALK_H
#define DIS_VOTES_MAPPER_RECORD_WALK_H
#include "votes/collect/batch.h"
#include "votes/mapper/record_value.h"

typedef struct {
    dis__path path;
    const char *value; /* with which it is compared */
    bool keep;
} dis__map_rule;

typedef struct {
    dis__path task, worker, label, time;
    dis__map_rule *rule; /* (n_rules) */
    size_t n_rules;
    bool numbers; /* labels are classes with numbers (counts, soft votes): they have names and values */
    bool no_worker;
    char joiner;                    /* between the parts of a task */
    const char *const *part_option; /* (2) what the last two parts of a task are named by; NULL: as the task is */
} dis__mapping;

/* The value of a rule that keeps the options of a question that were chosen (mturk_answers.c). It is known by its address: the
 * other options are not counted as left out. */
extern const char dis__option_chosen[];

/* The options' paths, and the usual names where they have none. `numbers`: counts and soft votes. */
dis_status dis__mapping_init(const dis_votes_options *o, dis__mapping *m);
void dis__mapping_free(dis__mapping *m);

typedef struct {
    dis__vote_field value;
    const char *name; /* of the member or column it comes from; a number of a list */
    size_t n_name;
    char number[24];
} dis__mapped_label;

/* One answer of a worker. */
typedef struct {
    dis__vote_field task, worker, time; /* time.text NULL: there is none */
    dis__mapped_label *label;           /* (n_labels) */
    size_t n_labels;
    const char *at; /* where the answer is */
} dis__answer;

/* DIS_EDATA: *problem says why. */
typedef dis_status (*dis__answer_callback)(void *user, const dis__answer *answer, dis__row_problem *problem);

typedef struct dis__record_walk dis__record_walk;
dis_status dis__record_walk_create(const dis__mapping *m, dis__record_walk **out);
void dis__record_walk_destroy(dis__record_walk *walk);
/* Before the first row of a table: whether it has the columns that the paths name. `header` is a record whose row is the
 * header. DIS_EDATA with *problem. */
dis_status dis__record_walk_check_columns(dis__record_walk *walk, dis__mapped_record *header,
                                          dis__row_problem *problem);
/* *dropped: answers that rules left out. DIS_EDATA with *problem. */
dis_status dis__map_record(dis__record_walk *walk, dis__mapped_record *record, dis__answer_callback on_answer,
                           void *user, uint64_t *dropped, dis__row_problem *problem);
/* Whether a path leads to something in a record: for recognising files. */
dis_status dis__path_exists(const dis__path *path, dis__mapped_record *record, bool *leads);

#endif
