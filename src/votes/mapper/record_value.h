/* record_value.h: values of paths, independent of the format: JSON, a cell of a table, a part of a text.
 *
 * A row of a table is an object of its cells; cells whose columns are called "a.x", "a.y" are together the object "a".
 * If a path continues at a text, the text is parsed as JSON, once per record. */
#ifndef DIS_VOTES_MAPPER_RECORD_VALUE_H
#define DIS_VOTES_MAPPER_RECORD_VALUE_H
#include "io/csv/csv.h"
#include "io/json/json_read.h"
#include "votes/mapper/record_path.h"

typedef enum {
    DIS_NODE_NONE, /* no value */
    DIS_NODE_JSON,
    DIS_NODE_TEXT,
    DIS_NODE_ROW,
    DIS_NODE_GROUP, /* cells of a row whose columns begin with `text` and a dot */
} dis__node_kind;

typedef struct {
    dis__node_kind kind;
    const dis__json_value *json;
    const char *text;
    size_t n;
    const char *base; /* of JSON: the parsed text, if it is in the input; NULL: it was decoded from a text */
    const char *at;   /* position of the value in the input */
} dis__node;

typedef struct {
    dis__json json;
    const char *text; /* the parsed text; NULL: not JSON */
    const dis__json_value *root;
} dis__embedded;

/* A record of a file. */
typedef struct {
    dis__node root;
    const char *key; /* name of the record */
    size_t n_key;
    const char *file, *folder; /* names of the file, without extension, and of its folder */
    size_t n_file, n_folder;
    const dis__csv *csv;      /* of a row */
    bool bare;                /* its table has no header: columns are numbers */
    const bool *used;         /* (n_columns) of a row: columns that {} skips, since a path names them */
    dis__embedded **embedded; /* (n_embedded) parsed texts, followed by parsers for reuse */
    size_t n_embedded, n_parsers, parsers_capacity;
} dis__mapped_record;

void dis__mapped_record_free(dis__mapped_record *record);

/* The value of a key; NONE where there is none. */
dis_status dis__node_member(dis__mapped_record *record, const dis__node *node, const char *key, size_t n,
                            dis__node *out);
/* The value of one step that is not an axis; NONE if it does not apply. */
dis_status dis__node_step(dis__mapped_record *record, const dis__node *node, const dis__path_step *step,
                          dis__node *out);
/* The existing keys, for messages. */
void dis__node_keys(dis__mapped_record *record, const dis__node *node, char *out, size_t room);
/* The text of a plain value: false for lists, objects and no value. null is an empty text, a list of one element its
 * element. */
bool dis__node_text(const dis__node *node, const char **text, size_t *n);

/* An iterator over the elements of a list. */
typedef struct {
    const dis__path_step *step;
    dis__node list;
    const dis__json_value *next; /* of JSON */
    const char *part;            /* of a text */
    size_t i, n;
    bool single; /* an optional step that did not apply: yields the value itself, once */
} dis__node_list;

typedef struct {
    dis__node node;
    const char *name; /* NULL: a number, or the value itself */
    size_t n_name;
    bool has_name; /* or index */
    bool passed;   /* skip: a condition or pattern does not match, or a cell is empty */
} dis__element;

/* *is_list false: the step does not apply. */
dis_status dis__node_list_open(dis__mapped_record *record, const dis__node *node, const dis__path_step *step,
                               dis__node_list *list, bool *is_list);
/* Element list->i, and advances; there must be one. */
dis_status dis__node_list_next(dis__mapped_record *record, dis__node_list *list, dis__element *out);

#endif
