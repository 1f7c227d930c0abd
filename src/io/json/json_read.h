/* json_read.h: parses strict JSON into a flat array of values, for files of millions of small objects and for single
 * large ones.
 *
 * A parsed text is one array: each value is followed by its contents, and `skip` is the distance to the next value. An
 * object's members are a key (a string) and a value in turn.
 *
 *     dis__json json = {0};
 *     const dis__json_position place = {.file = "votes.jsonl", .line = 7, .column = 1, .offset = 512};
 *     const dis__json_value *root, *task;
 *     DIS_TRY(dis__json_parse(&json, text, n, &place, &root));
 *     if ((task = dis__json_member(root, "task"))) ... task->text, task->length ...
 *     dis__json_free(&json);
 *
 * Errors, with DIS_EDATA and the position: anything after the value, trailing commas, comments, two equal keys in one
 * object, control characters, lone surrogates, the character NUL, invalid UTF-8, numbers that overflow, more than
 * DIS_JSON_DEPTH levels. Parsing does not recurse. A parser reuses its memory for the next text; each thread needs its
 * own. */
#ifndef DIS_IO_JSON_JSON_READ_H
#define DIS_IO_JSON_JSON_READ_H
#include "core/error.h"

#define DIS_JSON_DEPTH 256

typedef enum {
    DIS_JSON_NULL,
    DIS_JSON_FALSE,
    DIS_JSON_TRUE,
    DIS_JSON_NUMBER,
    DIS_JSON_STRING,
    DIS_JSON_ARRAY,
    DIS_JSON_OBJECT,
} dis__json_kind;

typedef struct {
    const char *text; /* strings: decoded, valid until the next parse; others: as written */
    double number;    /* of DIS_JSON_NUMBER */
    uint32_t length;  /* bytes of text; there is no NUL after them */
    uint32_t at;      /* its offset from the start of the parsed text */
    uint32_t n;       /* elements of an array, members of an object */
    uint32_t skip;    /* number of values in this subtree: the next one is value + skip */
    dis__json_kind kind;
} dis__json_value;

/* The position of the text in the user's file. line and column 0: unknown, only the offset is reported. */
typedef struct {
    const char *file;
    uint64_t line, column; /* from 1 */
    uint64_t offset;       /* bytes before it */
} dis__json_position;

typedef struct {
    dis__json_value *values;
    size_t n_values, capacity;
    char *decoded; /* strings that had escapes, concatenated */
    size_t decoded_capacity;
    uint32_t *keys; /* scratch for finding equal keys */
    size_t keys_capacity;
    const char *input; /* the current text */
    size_t n_input;
    dis__json_position position;
} dis__json;

/* Parses n bytes (below 4 GiB) that contain one value, with optional white space around it. *root and its contents stay
 * valid until the next parse, as long as `text` does. DIS_EDATA, DIS_ELIMIT. */
dis_status dis__json_parse(dis__json *json, const char *text, size_t n, const dis__json_position *position,
                           const dis__json_value **root);
void dis__json_free(dis__json *json);

/* The value of a key of an object, NULL if it is missing (or `object` is not an object). Linear search. */
const dis__json_value *dis__json_member(const dis__json_value *object, const char *key);
/* "a, b, c": the keys of an object, as many as fit. */
void dis__json_list_keys(const dis__json_value *object, char *out, size_t room);
bool dis__json_equals(const dis__json_value *string, const char *text);

/* DIS_EDATA at a value of the text parsed last, for values that are valid JSON but not valid for the caller. */
dis_status dis__json_fail(const dis__json *json, const dis__json_value *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
