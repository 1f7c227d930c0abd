/* json_split.h: a JSON file of any size as records, one after the other: elements of an array, members of an object,
 * values in a row, or lines. Only the current record need be parsed, so memory does not grow with the file.
 *
 *     dis__json_split split;
 *     bool more;
 *     DIS_TRY(dis__json_split_open(&split, &input, NULL, false));
 *     while ((status = dis__json_split_next(&split, &more)) == DIS_OK && more)
 *         ... split.text, split.n: one JSON value, still to be parsed; split.key: its name, if it has one ...
 *
 * What is between records is checked here, what is in them by dis__json_parse(). DIS_EDATA leaves `problem` and
 * `problem_at` and no message. */
#ifndef DIS_IO_JSON_JSON_SPLIT_H
#define DIS_IO_JSON_JSON_SPLIT_H
#include "io/input/input.h"

enum {
    DIS_MAX_RECORD = 1 << 28,  /* bytes of one record, unless it is all of the file */
    DIS_SPLIT_PROBE = 1 << 24, /* bytes that are looked at to tell an object of records from a record */
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
 * A file that is one object: its members where the first is an object or a list, else one record. Objects one behind
 * the other are told from it by the first DIS_SPLIT_PROBE bytes. `lines`: one record
 * per line. */
dis_status dis__json_split_open(dis__json_split *split, const dis__input *input, const char *records, bool lines);
dis_status dis__json_split_next(dis__json_split *split, bool *more);

#endif
