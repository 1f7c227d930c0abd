/* added_search.h: the longest of many tokens at each position of a text, in time that grows with the text alone.
 *
 * A walk through a trie from each position takes text length x token length in the worst case, which a hostile
 * tokenizer can bring about. This is an Aho-Corasick automaton (1975) of the reversed tokens, run over the text from
 * its end: having read text[i .. n) backwards, its state is the longest beginning of text[i ..] that begins the
 * reversal of some token, and the longest token among the suffixes of that state is the longest token that begins at
 * i. */
#ifndef DIS_TOKENS_STEPS_ADDED_SEARCH_H
#define DIS_TOKENS_STEPS_ADDED_SEARCH_H
#include "tokens/models/trie.h"

typedef struct {
    dis__trie trie;  /* reversed tokens to their numbers */
    uint32_t *fail;  /* (n_nodes) the longest proper suffix that is a node */
    uint32_t *token; /* (n_nodes) the longest token among the suffixes; DIS_TRIE_NONE: none */
} dis__added_search;

/* Builds it over n tokens; token i is text[i] with length[i] > 0 bytes. Of equal tokens the last counts. */
dis_status dis__added_search_build(dis__added_search *s, const char *const *text, const size_t *length, size_t n);
void dis__added_search_free(dis__added_search *s);
/* longest[i]: the longest token that begins at text[i], DIS_TRIE_NONE: none. */
void dis__added_search_run(const dis__added_search *s, const char *text, size_t n, uint32_t *longest);

#endif
