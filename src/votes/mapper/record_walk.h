/* record_walk.h: the votes of one record, by the paths of a mapping.
 *
 *     dis__mapping m;
 *     DIS_TRY(dis__mapping_init(&options, &m));
 *     ... for each record: DIS_TRY(dis__map_record(&m, &record, take, user, &problem)); ...
 *     dis__mapping_free(&m);
 *
 * Paths iterate over their lists in parallel (record_path.h): each element of the lists of task and worker is one
 * answer; further lists of the label yield the labels of one answer: none, one or several. */
#ifndef DIS_VOTES_MAPPER_RECORD_WALK_H
#define DIS_VOTES_MAPPER_RECORD_WALK_H
#include "votes/collect/batch.h"
#include "votes/mapper/record_value.h"

typedef struct {
    dis__path path;
    const char *value; /* the value to compare with */
    bool keep;
} dis__map_rule;

typedef struct {
    dis__path task, worker, label, time;
    dis__map_rule *rule; /* (n_rules) */
    size_t n_rules;
    bool numbers; /* labels are classes with values (counts, soft votes): names and numbers */
    bool no_worker;
    char joiner;                    /* separator of the parts of a task */
    const char *const *part_option; /* (2) paths of the names of the last two parts of a task; NULL: their values */
} dis__mapping;

/* The value of a rule that keeps the chosen options of a question (mturk_answers.c). It is recognized by its address:
 * the other options are not counted as dropped. */
extern const char dis__option_chosen[];

/* Parses the options' paths, with the usual names as defaults. `numbers`: counts and soft votes. */
dis_status dis__mapping_init(const dis_votes_options *o, dis__mapping *m);
void dis__mapping_free(dis__mapping *m);

typedef struct {
    dis__vote_field value;
    const char *name; /* name of the member or column; the index in a list */
    size_t n_name;
    char number[24];
} dis__mapped_label;

/* One answer of a worker. */
typedef struct {
    dis__vote_field task, worker, time; /* time.text NULL: none */
    dis__mapped_label *label;           /* (n_labels) */
    size_t n_labels;
    const char *at; /* where the answer is */
} dis__answer;

/* DIS_EDATA: *problem has the reason. */
typedef dis_status (*dis__answer_callback)(void *user, const dis__answer *answer, dis__row_problem *problem);

typedef struct dis__record_walk dis__record_walk;
dis_status dis__record_walk_create(const dis__mapping *m, dis__record_walk **out);
void dis__record_walk_destroy(dis__record_walk *walk);
/* Call it before the first row of a table: checks that it has the columns named by the paths. `header` is a record
 * whose row is the header. DIS_EDATA with *problem. */
dis_status dis__record_walk_check_columns(dis__record_walk *walk, dis__mapped_record *header,
                                          dis__row_problem *problem);
/* *dropped: answers dropped by rules. DIS_EDATA with *problem. */
dis_status dis__map_record(dis__record_walk *walk, dis__mapped_record *record, dis__answer_callback on_answer,
                           void *user, uint64_t *dropped, dis__row_problem *problem);
/* Whether a path has a value in a record: to recognize files. */
dis_status dis__path_exists(const dis__path *path, dis__mapped_record *record, bool *leads);

#endif
