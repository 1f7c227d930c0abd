/* role_guess.h: guesses which columns are tasks, workers and labels, from a survey. Guesses are used in suggestions
 * only. */
#ifndef DIS_VOTES_ROLES_ROLE_GUESS_H
#define DIS_VOTES_ROLES_ROLE_GUESS_H
#include "votes/roles/column_survey.h"

#define DIS_NO_COLUMN SIZE_MAX

/* Roles suggested by a column name (column_name_stems.c). */
typedef enum {
    DIS_NAMED_NOTHING,
    DIS_NAMED_TASK,
    DIS_NAMED_WORKER,
    DIS_NAMED_LABEL,
    DIS_NAMED_OTHER, /* times, texts, comments, ... */
} dis__name_hint;

dis__name_hint dis__guess_name(const char *name, size_t n);

enum { DIS_GUESSED_LABELS = 3 };

/* One row per vote. */
typedef struct {
    size_t task, worker;              /* columns; DIS_NO_COLUMN: no guess */
    size_t label[DIS_GUESSED_LABELS]; /* columns that could be the label, most likely first */
    size_t n_labels;
    bool either; /* only a slightly larger number of tasks distinguishes task and worker */
} dis__long_guess;

/* known: (3) the columns of task, worker and label that are already known, DIS_NO_COLUMN for the others. */
dis_status dis__guess_long(const dis__survey *survey, const size_t known[3], dis__long_guess *out);

/* One row per item, a column per worker. */
typedef struct {
    size_t task; /* DIS_NO_COLUMN: rows have no ids */
    bool worker[DIS_SURVEY_COLUMNS];
    size_t n_workers; /* 0: no guess */
    size_t n_others;  /* columns that are neither */
} dis__wide_guess;

/* task: the column of the ids if it is known, otherwise DIS_NO_COLUMN. */
void dis__guess_wide(const dis__survey *survey, size_t task, dis__wide_guess *out);

#endif
