/* Building: failure links level by level, over all tokens that are that long, so the cost is the bytes of all tokens. */
#include "tokens/steps/added_search.h"
#include "core/memory/memory.h"

static uint32_t follow(const dis__added_search *s, uint32_t node, char byte)
{
    for (;; node = s->fail[node]) {
        const uint32_t next = dis__trie_step(&s->trie, node, byte);
        if (next || node == 0) return next;
    }
}

static dis_status put_reversed(dis__trie *trie, const char *text, size_t n, uint32_t value, char *room)
{
    for (size_t i = 0; i < n; i++) room[i] = text[n - 1 - i];
    return dis__trie_put(trie, room, n, value);
}

static dis_status fill_trie(dis__added_search *s, const char *const *text, const size_t *length, size_t n)
{
    size_t max = 0;
    for (size_t i = 0; i < n; i++) max = length[i] > max ? length[i] : max;
    char *room;
    DIS_TRY(dis__alloc_array(&room, max, 1));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        status = put_reversed(&s->trie, text[i], length[i], (uint32_t)i, room);
    dis__free(room);
    return status;
}

/* A token on its way down the trie. */
typedef struct {
    uint32_t token, node;
} walker;

/* One level: the nodes at depth `depth` get their links. Tokens that end there are dropped; how many are left. */
static size_t link_level(dis__added_search *s, const char *const *text, const size_t *length, walker *w, size_t n,
                         size_t depth)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t token = w[i].token;
        const char byte = text[token][length[token] - depth];
        const uint32_t parent = w[i].node, node = dis__trie_step(&s->trie, parent, byte);
        s->fail[node] = parent ? follow(s, s->fail[parent], byte) : 0;
        const uint32_t own = s->trie.value[node];
        s->token[node] = own != DIS_TRIE_NONE ? own : s->token[s->fail[node]];
        if (length[token] > depth) w[left++] = (walker){token, node};
    }
    return left;
}

static dis_status link_nodes(dis__added_search *s, const char *const *text, const size_t *length, size_t n)
{
    walker *w;
    DIS_TRY(dis__alloc_array(&w, n, sizeof *w));
    for (size_t i = 0; i < n; i++) w[i] = (walker){(uint32_t)i, 0};
    s->token[0] = DIS_TRIE_NONE;
    s->fail[0] = 0;
    for (size_t depth = 1, left = n; left; depth++) left = link_level(s, text, length, w, left, depth);
    dis__free(w);
    return DIS_OK;
}

dis_status dis__added_search_build(dis__added_search *s, const char *const *text, const size_t *length, size_t n)
{
    DIS_TRY(fill_trie(s, text, length, n));
    DIS_TRY(dis__alloc_array(&s->fail, s->trie.n_nodes, sizeof *s->fail));
    DIS_TRY(dis__alloc_array(&s->token, s->trie.n_nodes, sizeof *s->token));
    return link_nodes(s, text, length, n);
}

void dis__added_search_free(dis__added_search *s)
{
    dis__trie_free(&s->trie);
    dis__free(s->fail);
    dis__free(s->token);
    *s = (dis__added_search){0};
}

void dis__added_search_run(const dis__added_search *s, const char *text, size_t n, uint32_t *longest)
{
    uint32_t node = 0;
    for (size_t i = n; i-- > 0;) {
        node = follow(s, node, text[i]);
        longest[i] = s->token[node];
    }
}
