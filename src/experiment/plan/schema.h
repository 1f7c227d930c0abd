/* schema.h: what a part of an experiment's file may say: one static row per key, from which reading, checking, the text
 * that keys of runs are made of, and the output of `dissent list keys` come.
 *
 * A record is a struct whose first member is `const dis__yaml_node *at`; rows say where in it a value goes. */
#ifndef DIS_EXPERIMENT_PLAN_SCHEMA_H
#define DIS_EXPERIMENT_PLAN_SCHEMA_H
#include "io/yaml.h"
#include "core/text/sha256.h"
#include "dissent/experiment.h"

/* Memory that lives as long as a plan. */
typedef struct {
    void **block;
    size_t n, capacity;
} dis__plan_memory;
dis_status dis__plan_alloc(dis__plan_memory *memory, void *out, size_t n, size_t size); /* zeroed */
/* snprintf into memory of the plan. */
dis_status dis__plan_format_text(dis__plan_memory *memory, const char **out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dis__plan_memory_free(dis__plan_memory *memory);

typedef struct {
    size_t n;
    const char **text;
    const dis__yaml_node **at;
} dis__texts;

/* A map of texts, in the order of the file. */
typedef struct {
    size_t n;
    const char **key, **value;
    const dis__yaml_node **at; /* of the values */
} dis__text_pairs;

/* A list of records, or a map of them by name. */
typedef struct {
    size_t n;
    const char **name; /* of a map; NULL for a list */
    void *record;
    size_t size; /* of one record */
} dis__parts;

static inline void *dis__part(const dis__parts *parts, size_t i)
{
    return (char *)parts->record + i * parts->size;
}

typedef enum {
    DIS_FIELD_TEXT,   /* const char * */
    DIS_FIELD_TEXTS,  /* dis__texts: one or a list */
    DIS_FIELD_COUNT,  /* uint64_t */
    DIS_FIELD_REAL,   /* double */
    DIS_FIELD_FLAG,   /* bool: yes, no, true, false */
    DIS_FIELD_CHOICE, /* int: index into choices */
    DIS_FIELD_FILE,   /* const char *: where it was found */
    DIS_FIELD_FILES,  /* dis__texts of such */
    DIS_FIELD_FOLDER, /* const char *: of a pretrained encoder, where it was found */
    DIS_FIELD_PAIRS,  /* dis__text_pairs */
    DIS_FIELD_RECORD, /* pointer to a record, NULL: not there */
    DIS_FIELD_LIST,   /* dis__parts: one record or a list of them */
    DIS_FIELD_NAMED,  /* dis__parts: a map of records */
    DIS_FIELD_NODE,   /* const dis__yaml_node *: read by separate code */
} dis__field_kind;

typedef struct dis__schema dis__schema;

typedef struct {
    const char *key;
    dis__field_kind kind;
    size_t offset;
    const char *fallback; /* as written by a user; NULL: not set, all zero */
    double low, high;     /* of numbers */
    const char *choices;  /* "a|b|c" */
    const dis__schema *part;
    bool required;
    const char *form; /* of DIS_FIELD_NODE, for the reference */
    const char *summary;
} dis__field;

struct dis__schema {
    dis_experiment_part info;
    size_t size; /* of the record */
    const dis__field *field;
    size_t n_fields;
    const char *alone; /* the key that a text represents if it replaces the map; NULL: must be a map */
};

/* A missing file or folder, and its message. */
typedef struct dis__missing {
    const dis__yaml_node *at;
    const char *message;
    struct dis__missing *next;
} dis__missing;

/* A file being read. */
typedef struct {
    const dis__yaml *yaml;
    dis__plan_memory *memory;
    const char *folder;      /* of the file itself */
    const char *data_folder; /* further folders to search for data files */
    bool lenient;            /* missing files are recorded in `missing`, and are not errors here */
    dis__missing *missing;
} dis__form;
/* What is missing at a node or within it; NULL: nothing. */
const dis__missing *dis__missing_within(const dis__form *form, const dis__yaml_node *node);

/* DIS_EDATA at the position: an unknown key, a wrong type, a number out of bounds, a missing key. DIS_EIO: a missing
 * file. */
dis_status dis__record_read(dis__form *form, const dis__schema *schema, const dis__yaml_node *node, void *record);
/* Stores a value in its field of the record. */
dis_status dis__field_read(dis__form *form, const dis__field *field, const dis__yaml_node *node, void *record);
dis_status dis__record_defaults(dis__form *form, const dis__schema *schema, void *record);
const dis__field *dis__schema_find(const dis__schema *schema, const char *key);
/* DIS_EDATA: no such key; did you mean ... */
dis_status dis__unknown_key(dis__form *form, const dis__schema *schema, const dis__yaml_node *key);
/* The node of a value if it is set, otherwise that of the record. */
const dis__yaml_node *dis__record_place(const void *record, const char *key);
bool dis__field_is_set(const dis__field *field, const void *record);

/* What a digest of settings is made of: every value that is set, under its key, with its length before it; files by the
 * SHA-256 of their contents. */
typedef struct {
    char *text;
    size_t n, capacity;
    /* Cached digests of files. */
    const char **path;
    char (*digest)[65];
    size_t n_files, path_capacity, digest_capacity;
} dis__run_key;
dis_status dis__run_key_put(dis__run_key *key_text, const char *key, const char *value, size_t n);
dis_status dis__run_key_file(dis__run_key *key_text, const char *key, const char *path);
/* The same for the folder of a pretrained encoder: its whole description. */
dis_status dis__run_key_folder(dis__run_key *key_text, const char *key, const char *path);
dis_status dis__run_key_field(dis__run_key *key_text, const dis__field *field, const void *record);
dis_status dis__run_key_record(dis__run_key *key_text, const dis__schema *schema, const void *record);
void dis__run_key_digest(const dis__run_key *key_text, char hex[65]);
void dis__run_key_free(dis__run_key *key_text);

#endif
