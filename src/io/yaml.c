/* YAML by libyaml's events, strictly. Cost: one pass; equal keys of a map are found by comparing all pairs, whose
 * number is bounded by the limit on keys. */
#include "io/yaml.h"
#include "core/memory/memory.h"
#include "core/text/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dis__yaml_free(dis__yaml *yaml)
{
    for (size_t i = 0; i < yaml->n_texts; i++) dis__free(yaml->text[i]);
    dis__free(yaml->text);
    dis__free(yaml->node);
    dis__free(yaml->path);
    *yaml = (dis__yaml){0};
}

const dis__yaml_node *dis__yaml_member(const dis__yaml_node *map, const char *key)
{
    if (!map || map->kind != DIS_YAML_MAP) return NULL;
    const dis__yaml_node *at = map + 1;
    for (uint32_t i = 0; i < map->n; i++) {
        const dis__yaml_node *value = at + 1;
        if (strcmp(at->text, key) == 0) return value;
        at = value + value->skip;
    }
    return NULL;
}

dis_status dis__yaml_fail(const dis__yaml *yaml, const dis__yaml_node *node, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return dis__fail_at(DIS_EDATA, yaml->path, node->line, node->column, "%s", message);
}

dis_status dis__yaml_read(dis_context *ctx, const char *path, dis__yaml *out)
{
    dis__input in;
    DIS_TRY(dis__input_open(ctx, path, &in));
    dis__yaml parsed;
    dis_status status = dis__yaml_parse(path, in.bytes, in.n, &parsed);
    const bool parsed_ok = status == DIS_OK;
    status = dis__input_finish(&in, status);
    if (parsed_ok && status != DIS_OK) dis__yaml_free(&parsed);
    if (status == DIS_OK) *out = parsed;
    return status;
}

#ifndef DIS_HAVE_YAML
dis_status dis__yaml_parse(const char *path, const char *bytes, size_t n, dis__yaml *out)
{
    (void)bytes;
    (void)n;
    (void)out;
    return dis__fail(DIS_EUSAGE,
                     "%s: this build does not support experiments, because libyaml was missing; install "
                     "libyaml-dev and build again",
                     path);
}
#else
#include <yaml.h>

typedef struct {
    dis__yaml *yaml;
    size_t open[DIS_YAML_DEPTH]; /* open lists and maps */
    size_t depth;
    bool done; /* the document has ended */
} reading;

static dis_status fail_mark(const reading *r, const yaml_mark_t *mark, const char *what)
{
    return dis__fail_at(DIS_EDATA, r->yaml->path, mark->line + 1, mark->column + 1, "%s", what);
}

static dis_status add_text(dis__yaml *y, const char *text, size_t n, dis__yaml_node *node)
{
    char *copy;
    DIS_TRY(dis__reserve(&y->text, &y->text_capacity, y->n_texts, y->n_texts + 1, sizeof *y->text));
    DIS_TRY(dis__copy_text(&copy, text, n));
    y->text[y->n_texts++] = copy;
    node->text = copy;
    node->length = (uint32_t)n;
    return DIS_OK;
}

/* A key that repeats an earlier one. The enclosing maps are still open, so their `skip` is unknown, but that of all
 * values in this one is known. */
static dis_status check_key(const reading *r, const dis__yaml_node *map, const dis__yaml_node *key)
{
    const dis__yaml_node *at = map + 1;
    if (map->n / 2 >= DIS_YAML_KEYS) return dis__yaml_fail(r->yaml, key, "more than %u keys in one map", DIS_YAML_KEYS);
    for (uint32_t i = 0; i < map->n / 2; i++) {
        if (strcmp(at->text, key->text) == 0)
            return dis__yaml_fail(r->yaml, key, "the key \"%.100s\" is repeated, first in line %u; keep one", key->text,
                                  (unsigned)at->line);
        at += 1 + (at + 1)->skip;
    }
    return DIS_OK;
}

/* Appends a node. While a map is open its `n` counts keys and values. */
static dis_status add_node(reading *r, const dis__yaml_node *node, const yaml_mark_t *mark)
{
    dis__yaml *y = r->yaml;
    if (y->n_nodes >= DIS_YAML_NODES) return fail_mark(r, mark, "the file has too many parts for an experiment");
    DIS_TRY(dis__reserve(&y->node, &y->capacity, y->n_nodes, y->n_nodes + 1, sizeof *y->node));
    dis__yaml_node *to = &y->node[y->n_nodes++];
    *to = *node;
    to->skip = 1;
    to->line = (uint32_t)mark->line + 1;
    to->column = (uint32_t)mark->column + 1;
    if (r->depth == 0) return DIS_OK;
    dis__yaml_node *parent = &y->node[r->open[r->depth - 1]];
    if (parent->kind == DIS_YAML_MAP && parent->n % 2 == 0) {
        if (to->kind != DIS_YAML_TEXT) return dis__yaml_fail(y, to, "a key must be a text");
        if (to->plain && strcmp(to->text, "<<") == 0)
            return dis__yaml_fail(y, to, "merging maps with << is not supported; write the keys out");
        DIS_TRY(check_key(r, parent, to));
    }
    parent->n++;
    return DIS_OK;
}

static dis_status begin(reading *r, dis__yaml_kind kind, const yaml_mark_t *mark)
{
    char deep[64];
    snprintf(deep, sizeof deep, "more than %d levels", DIS_YAML_DEPTH);
    if (r->depth == DIS_YAML_DEPTH) return fail_mark(r, mark, deep);
    const size_t at = r->yaml->n_nodes;
    DIS_TRY(add_node(r, &(dis__yaml_node){.kind = kind}, mark));
    r->open[r->depth++] = at;
    return DIS_OK;
}

static void end(reading *r)
{
    dis__yaml *y = r->yaml;
    const size_t at = r->open[--r->depth];
    y->node[at].skip = (uint32_t)(y->n_nodes - at);
    if (y->node[at].kind == DIS_YAML_MAP) y->node[at].n /= 2;
}

static dis_status refuse_extras(const reading *r, const yaml_event_t *e, const unsigned char *anchor,
                                const unsigned char *tag)
{
    if (anchor)
        return fail_mark(r, &e->start_mark, "anchors (&) are not supported; write the part out, or use defaults");
    if (tag) return fail_mark(r, &e->start_mark, "tags (!) are not supported; remove it");
    return DIS_OK;
}

static dis_status scalar(reading *r, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    dis__yaml_node node = {.kind = DIS_YAML_TEXT, .plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE};
    DIS_TRY(refuse_extras(r, e, e->data.scalar.anchor, e->data.scalar.tag));
    if (memchr(text, 0, e->data.scalar.length)) return fail_mark(r, &e->start_mark, "a text with a NUL in it");
    DIS_TRY(add_text(r->yaml, text, e->data.scalar.length, &node));
    return add_node(r, &node, &e->start_mark);
}

static dis_status parse_event(reading *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->done ? fail_mark(r, &e->start_mark, "a second document; an experiment is one document") : DIS_OK;
    case YAML_DOCUMENT_END_EVENT: r->done = true; return DIS_OK;
    case YAML_ALIAS_EVENT:
        return fail_mark(r, &e->start_mark, "aliases (*) are not supported; write the part out, or use defaults");
    case YAML_SCALAR_EVENT: return scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
        DIS_TRY(refuse_extras(r, e, e->data.sequence_start.anchor, e->data.sequence_start.tag));
        return begin(r, DIS_YAML_LIST, &e->start_mark);
    case YAML_MAPPING_START_EVENT:
        DIS_TRY(refuse_extras(r, e, e->data.mapping_start.anchor, e->data.mapping_start.tag));
        return begin(r, DIS_YAML_MAP, &e->start_mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: end(r); return DIS_OK;
    default: return DIS_OK;
    }
}

static dis_status no_yaml(const reading *r, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) return dis__fail(DIS_ELIMIT, "%s: no memory to read it", r->yaml->path);
    char what[300];
    snprintf(what, sizeof what, "no YAML: %s%s%s", parser->problem ? parser->problem : "it cannot be read",
             parser->context ? " " : "", parser->context ? parser->context : "");
    return fail_mark(r, &parser->problem_mark, what);
}

static dis_status events(reading *r, yaml_parser_t *parser)
{
    for (bool more = true; more;) {
        yaml_event_t e;
        if (!yaml_parser_parse(parser, &e)) return no_yaml(r, parser);
        more = e.type != YAML_STREAM_END_EVENT;
        const dis_status status = parse_event(r, &e);
        yaml_event_delete(&e);
        DIS_TRY(status);
    }
    if (r->yaml->n_nodes == 0) return dis__fail_at(DIS_EDATA, r->yaml->path, 0, 0, "the file is empty");
    return DIS_OK;
}

/* libyaml also accepts UTF-16, and reports invalid bytes only by offset: check first. */
static dis_status check_bytes(const char *path, const char *bytes, size_t n)
{
    if (n > DIS_YAML_BYTES)
        return dis__fail_at(DIS_EDATA, path, 0, 0, "%zu bytes; at most %u are read", n, DIS_YAML_BYTES);
    size_t bad = dis__utf8_check(bytes, n);
    const char *what = "invalid UTF-8; save the file as UTF-8";
    const char *nul = memchr(bytes, 0, bad);
    if (nul) {
        bad = (size_t)(nul - bytes);
        what = "a NUL byte; is this a text file?";
    }
    if (bad == n) return DIS_OK;
    uint64_t line = 1, column = 1;
    for (size_t i = 0; i < bad; i++) {
        column = bytes[i] == '\n' ? 1 : column + 1;
        line += bytes[i] == '\n';
    }
    return dis__fail_at(DIS_EDATA, path, line, column, "%s", what);
}

dis_status dis__yaml_parse(const char *path, const char *bytes, size_t n, dis__yaml *out)
{
    dis__yaml y = {0};
    yaml_parser_t parser;
    DIS_TRY(check_bytes(path, bytes, n));
    DIS_TRY(dis__copy_text(&y.path, path, strlen(path)));
    if (!yaml_parser_initialize(&parser)) {
        dis__yaml_free(&y);
        return dis__fail(DIS_ELIMIT, "%s: no memory to read it", path);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, n);
    reading r = {.yaml = &y};
    const dis_status status = events(&r, &parser);
    yaml_parser_delete(&parser);
    if (status == DIS_OK)
        *out = y;
    else
        dis__yaml_free(&y);
    return status;
}
#endif
