/* yaml.h: parses a YAML file into a flat array of nodes, each with its position.
 *
 * A read file is one array: each node is followed by its contents, and `skip` is the distance to the next node. A map's
 * members are alternating keys (texts) and values. The caller interprets texts (number, boolean, path).
 *
 *     dis__yaml yaml;
 *     DIS_TRY(dis__yaml_read(ctx, "experiment.yaml", &yaml));
 *     const dis__yaml_node *name = dis__yaml_member(yaml.node, "name");
 *     if (name && name->kind != DIS_YAML_TEXT) status = dis__yaml_fail(&yaml, name, "name must be a text");
 *     dis__yaml_free(&yaml);
 *
 * Parsing is libyaml's. Errors, DIS_EDATA with the position: invalid YAML, invalid UTF-8, NUL, several documents or
 * none, anchors, aliases and tags (which can expand to gigabytes), equal keys in one map, keys that are not texts, more
 * than DIS_YAML_DEPTH levels, DIS_YAML_NODES nodes, DIS_YAML_KEYS keys in a map or DIS_YAML_BYTES bytes. A build
 * without libyaml returns DIS_EUSAGE. */
#ifndef DIS_IO_YAML_H
#define DIS_IO_YAML_H
#include "io/input/input.h"

#define DIS_YAML_DEPTH 32
#define DIS_YAML_NODES 200000u
#define DIS_YAML_KEYS  4096u
#define DIS_YAML_BYTES (4u << 20)

typedef enum { DIS_YAML_TEXT, DIS_YAML_LIST, DIS_YAML_MAP } dis__yaml_kind;

typedef struct {
    const char *text; /* of a text, NUL-terminated, without other NULs */
    uint32_t length;
    uint32_t n;    /* elements of a list, members of a map */
    uint32_t skip; /* number of nodes in this subtree: the next one is node + skip */
    uint32_t line, column;
    dis__yaml_kind kind;
    bool plain; /* a text without quotes */
} dis__yaml_node;

typedef struct {
    char *path;
    dis__yaml_node *node; /* (n_nodes) the first one is the root */
    size_t n_nodes, capacity;
    char **text; /* memory that the nodes point to */
    size_t n_texts, text_capacity;
} dis__yaml;

/* On failure there is nothing to free. */
dis_status dis__yaml_read(dis_context *ctx, const char *path, dis__yaml *out);
/* The same from bytes; `path` is for messages. */
dis_status dis__yaml_parse(const char *path, const char *bytes, size_t n, dis__yaml *out);
void dis__yaml_free(dis__yaml *yaml);

/* The value of a key of a map, NULL if it is missing (or `map` is not a map). Linear search. */
const dis__yaml_node *dis__yaml_member(const dis__yaml_node *map, const char *key);

/* DIS_EDATA at a node. */
dis_status dis__yaml_fail(const dis__yaml *yaml, const dis__yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
