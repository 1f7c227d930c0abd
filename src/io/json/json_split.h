/* json_split.h: splits a JSON file of any size into records: elements of an array, members of an object, consecutive
 * values, or lines. Only the current record is parsed, so memory does not grow with the file.
 *
 *     dis__json_split split;
 *     bool more;
 *     DIS_TRY(dis__json_split_open(&split, &input, NULL, false));
 *     while ((status = dis__json_split_next(&split, &more)) == DIS_OK && more)
 *         ... split.text, split.n: one unparsed JSON value; split.key: its name, if it has one ...
 *
 * The text between records is checked here, their contents by dis__json_parse(). DIS_EDATA sets `problem` and
 * `problem_at`, but no message. */
#ifndef DIS_IO_JSON_JSON_SPLIT_H
#define DIS_IO_JSON_JSON_SPLIT_H
#include "io/input/input.h"

enum {
    DIS_MAX_RECORD = 1 << 28,  /* maximum bytes of one record, unless it is the whole file */
    DIS_SPLIT_PROBE = 1 << 24, /* bytes examined to distinguish an object of records from a record */
};

typedef enum {
    DIS_SPLIT_LINES,
    DIS_SPLIT_ARRAY,
    DIS_SPLIT_OBJECT,
    DIS_SPLIT_SEQUENCE,
    DIS_SPLIT_SINGLE
} dis__split_kind;

typedef struct {
    dis__split_kind kind;
    const char *at, *end;
    const char *text; /* the record */
    size_t n;
    const char *key; /* with its quotes and escapes; NULL: none */
    size_t n_key;
    uint64_t number; /* of the record, from 0 */
    bool begun, nested;
    const char *problem, *problem_at;
} dis__json_split;

/* `records`: keys, separated by dots, that lead to the list; ".": the whole file is one record; NULL: the file itself.
 * If the file is one object, its members are the records if the first member is an object or a list; otherwise the
 * object is one record. The first DIS_SPLIT_PROBE bytes distinguish one object from consecutive objects. `lines`: one
 * record per line. */
dis_status dis__json_split_open(dis__json_split *split, const dis__input *input, const char *records, bool lines);
dis_status dis__json_split_next(dis__json_split *split, bool *more);

#endif
