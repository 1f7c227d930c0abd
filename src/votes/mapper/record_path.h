/* record_path.h: the path language of mappings, which locates tasks, workers and labels in a record.
 *
 * A record is a JSON value, or a row of a table as an object of its columns. A path is read from left to right:
 *
 *     id                        the value of a key, or a column
 *     annotations.result        a nested key; a key that contains dots is found too
 *     "a.b"                     a key in quotes: any characters
 *     completed_by|user         the first of these keys that is present
 *     completed_by.email?       the key, or the value itself where it has none
 *     annotations[]             every element of a list
 *     result[type=choices]      every element whose key `type` has this value; [a=x&b=y] both
 *     annotations{}             every member of an object; {ann*,x} those whose names match
 *     annotators[,]             every part of a text that is separated by commas (or another character)
 *     label_dist[0], x[,0]      one element, one part
 *     annotations{}#            the name (or number) of the element, not its value; the value if {}? found no members #
 *     the key of the record in an object of records, else its number from 0
 *     $file, $folder            the name of the file without its ending, and of its folder
 *     a + b                     both texts with "/" between them
 *
 * Parallel lists: the first [] (or {} or [,]) of every path iterates together with the first of the other paths, the
 * second together with the second ones, and so on; parallel lists must have the same length. A text value is parsed as
 * JSON if the path continues. */
#ifndef DIS_VOTES_MAPPER_RECORD_PATH_H
#define DIS_VOTES_MAPPER_RECORD_PATH_H
#include "core/error.h"

enum { DIS_PATH_STEPS = 16, DIS_PATH_AXES = 4, DIS_PATH_PARTS = 6, DIS_PATH_TESTS = 3 };

typedef enum {
    DIS_STEP_KEY,     /* one of `text`, separated by '|' */
    DIS_STEP_EACH,    /* elements of a list */
    DIS_STEP_MEMBERS, /* members of an object whose names match `text` */
    DIS_STEP_SPLIT,   /* parts of a text, separated by `separator` */
    DIS_STEP_INDEX,   /* element `index` */
    DIS_STEP_PART,    /* part `index` of a text */
    DIS_STEP_NAME,    /* the name of the element */
    DIS_STEP_RECORD,  /* the name of the record */
    DIS_STEP_FILE,
    DIS_STEP_FOLDER,
} dis__path_step_kind;

typedef struct {
    const char *key, *value;
    size_t n_key, n_value;
} dis__step_test;

typedef struct {
    dis__path_step_kind kind;
    const char *text; /* in the path's text, without quotes */
    size_t n;
    size_t chain;  /* for a key: number of plain keys from here on, which may be one key that contains dots */
    bool optional; /* keep the value if the step does not apply */
    bool quoted;
    char separator;
    size_t index;
    dis__step_test test[DIS_PATH_TESTS];
    size_t n_tests;
} dis__path_step;

typedef struct {
    dis__path_step step[DIS_PATH_STEPS];
    size_t n_steps;
    size_t n_axes; /* steps that iterate over a list */
} dis__path_part;

typedef struct {
    const char *text; /* the caller's, or a preset's; NULL: no path */
    dis__path_part part[DIS_PATH_PARTS];
    size_t n_parts; /* joined by "/" */
} dis__path;

static inline bool dis__step_is_axis(const dis__path_step *step)
{
    return step->kind == DIS_STEP_EACH || step->kind == DIS_STEP_MEMBERS || step->kind == DIS_STEP_SPLIT;
}

/* `text` must outlive the path. `role`: "task", for messages. DIS_EUSAGE with the position in the path. */
dis_status dis__path_parse(const char *text, const char *role, dis__path *path);
/* Number of lists on a path; the maximum over its parts. */
size_t dis__path_axes(const dis__path *path);
/* Whether a text is more than a column name: it has a character with a meaning in paths. */
bool dis__path_is_special(const char *text, bool dots);
/* Whether n bytes match a pattern in which * stands for any text. */
bool dis__glob(const char *pattern, size_t n_pattern, const char *text, size_t n);

#endif
