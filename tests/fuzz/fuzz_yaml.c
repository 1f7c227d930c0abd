/* YAML: any bytes are taken or refused with a message and a position; a tree that is taken is consistent. */
#include "fuzz.h"
#include "io/yaml.h"
#include <string.h>

/* Members of a map are texts, all different; what a node holds ends where it says. */
static size_t walk(const dis__yaml *y, size_t at, int depth)
{
    const dis__yaml_node *node = &y->node[at];
    const size_t end = at + node->skip;
    MUST(depth <= DIS_YAML_DEPTH + 1 && node->skip > 0 && end <= y->n_nodes && node->line && node->column);
    if (node->kind == DIS_YAML_TEXT) {
        MUST(node->skip == 1 && strlen(node->text) == node->length);
        return end;
    }
    size_t next = at + 1;
    for (uint32_t i = 0; i < node->n; i++) {
        if (node->kind == DIS_YAML_MAP) {
            MUST(y->node[next].kind == DIS_YAML_TEXT);
            MUST(dis__yaml_member(node, y->node[next].text) == &y->node[next + 1]);
            next++;
        }
        next = walk(y, next, depth + 1);
    }
    MUST(next == end);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis__yaml y;
    const dis_status status = dis__yaml_parse("f", (const char *)data, size, &y);
    if (status == DIS_OK) {
        MUST(walk(&y, 0, 1) == y.n_nodes);
        dis__yaml_free(&y);
    } else {
        MUST((status == DIS_EDATA && strncmp(dis_last_error(), "f:", 2) == 0) || status == DIS_EUSAGE);
    }
    return 0;
}
