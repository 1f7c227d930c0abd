/* record_value.h: values that paths lead to, whatever container they are in: JSON, a cell of a table, a part of a text.
 *
 * A row of a table is an object of its cells; cells whose columns are called "a.x", "a.y" are together the object "a".
 * A text that a path leads into is parsed as JSON, once per record. */
#ifndef DIS_VOTES_MAPPER_RECORD_VALUE_H
#define DIS_VOTES_MAPPER_RECORD_VALUE_H
#include "io/csv/csv.h"
#include "io/json/json_read.h"
#include "votes/mapper/record_path.h"

typedef enum {
    DIS_NODE_NONE, /* there is nothing */
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
    const char *base; /* of JSON: the text that was parsed, when it is in the input; NULL: it was a text itself */
    const char *at;   /* where the value is in the input */
} dis__node;

typedef struct {
    dis__json json;
    const char *text; /* that it parsed; NULL: it is no JSON */
    const dis__json_value *root;
} dis__embedded;

/* What a file gives, one after the other. */
typedef struct {
    dis__node root;
    const char *key; /* name of the record */
    size_t n_key;
    const char *file, *folder; /* names without ending, and of the folder */
    size_t n_file, n_folder;
    const dis__csv *csv;      /* of a row */
    bool bare;                /* its table has no header: columns are numbers */
    const bool *used;         /* (n_columns) of a row: columns that {} passes over, since a path names them */
    dis__embedded **embedded; /* (n_embedded) parsed texts, then some to be used again */
    size_t n_embedded, n_parsers, parsers_capacity;
} dis__mapped_record;

void dis__mapped_record_free(dis__mapped_record *record);

/* The value of a key; NONE where there is none. */
dis_status dis__node_member(dis__mapped_record *record, const dis__node *node, const char *key, size_t n,
                            dis__node *out);
/* What one step that is no axis leads to; NONE where it does not apply. */
dis_status dis__node_step(dis__mapped_record *record, const dis__node *node, const dis__path_step *step,
                          dis__node *out);
/* Keys that are there, for messages. */
void dis__node_keys(dis__mapped_record *record, const dis__node *node, char *out, size_t room);
/* The text of a plain value: false for lists, objects and nothing. null is an empty text, a list of one what it holds.
 */
bool dis__node_text(const dis__node *node, const char **text, size_t *n);

/* Elements of a list, one after the other. */
typedef struct {
    const dis__path_step *step;
    dis__node list;
    const dis__json_value *next; /* of JSON */
    const char *part;            /* of a text */
    size_t i, n;
    bool single; /* an optional step that did not apply: the value itself, once */
} dis__node_list;

typedef struct {
    dis__node node;
    const char *name; /* NULL: a number, or the value itself */
    size_t n_name;
    bool has_name; /* or number */
    bool passed;   /* over: a condition or pattern does not fit, or a cell is empty */
} dis__element;

/* *is_list false: the step does not apply. */
dis_status dis__node_list_open(dis__mapped_record *record, const dis__node *node, const dis__path_step *step,
                               dis__node_list *list, bool *is_list);
/* Element list->i, and on to the next; there must be one. */
dis_status dis__node_list_next(dis__mapped_record *record, dis__node_list *list, dis__element *out);

#endif
