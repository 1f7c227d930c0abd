/* Cells of votes: see agreement_vote_cells.h. Patterns are sorted, so the pattern of a code is found by bisection;
 * callers cache the results in a table of codes. */
#include "agreement/agreement_vote_cells.h"
#include "core/memory/memory.h"

enum { MAX_CLASSES = 16, MAX_VOTES = 8, MAX_COUNTS = 16 << 20 };

static dis_status number_cells(dis__vote_cells *c, size_t n_classes)
{
    const dis__vote_patterns *all = c->patterns;
    DIS_TRY(dis__alloc_zeroed(&c->cell, dis__saturating_size(all->n, n_classes, 0), sizeof *c->cell));
    DIS_TRY(dis__alloc_array(&c->pattern, c->n, sizeof *c->pattern));
    DIS_TRY(dis__alloc_array(&c->tally, c->n, sizeof *c->tally));
    uint32_t n = 0;
    for (size_t p = 0; p < all->n; p++)
        for (size_t t = 0; all->pattern[p].votes <= c->max_votes && t < all->pattern[p].n; t++) {
            c->cell[p * n_classes + all->pattern[p].tally[t].class] = n;
            c->pattern[n] = (uint32_t)p;
            c->tally[n++] = (uint32_t)t;
        }
    return DIS_OK;
}

dis_status dis__vote_cells_create(const dis__agreement_base *base, const dis_votes_view *votes, size_t n_annotators,
                                  dis__vote_cells *out)
{
    *out = (dis__vote_cells){.bits = 1, .patterns = base->patterns};
    if (!votes->label8 || votes->n_classes > MAX_CLASSES) return DIS_OK;
    while ((size_t)1 << out->bits < votes->n_classes) out->bits++;
    out->max_votes =
        (DIS_CELL_CODE_BITS - 1) / out->bits < MAX_VOTES ? (DIS_CELL_CODE_BITS - 1) / out->bits : MAX_VOTES;
    for (size_t p = 0; p < base->patterns->n; p++)
        if (base->patterns->pattern[p].votes <= out->max_votes) out->n += base->patterns->pattern[p].n;
    if (dis__saturating_size(out->n, n_annotators, 0) > MAX_COUNTS) out->n = 0;
    const dis_status status = out->n ? number_cells(out, votes->n_classes) : DIS_OK;
    if (status != DIS_OK) dis__vote_cells_destroy(out);
    return status;
}

void dis__vote_cells_destroy(dis__vote_cells *c)
{
    dis__free(c->cell);
    dis__free(c->pattern);
    dis__free(c->tally);
    *c = (dis__vote_cells){0};
}

/* -1, 0 or 1: how the counts of a code compare with a pattern, in the order of dis__vote_patterns. */
static int compare(const uint8_t *count, uint64_t votes, const dis__vote_pattern *x)
{
    if (votes != x->votes) return votes < x->votes ? -1 : 1;
    uint32_t class = 0;
    for (size_t t = 0; t < x->n; t++, class ++) {
        while (count[class] == 0) class ++; /* both have votes left */
        if (class != x->tally[t].class) return class < x->tally[t].class ? -1 : 1;
        if (count[class] != x->tally[t].count) return count[class] > x->tally[t].count ? -1 : 1;
    }
    return 0;
}

uint32_t dis__vote_cells_pattern(const dis__vote_cells *c, uint32_t code)
{
    uint8_t count[MAX_CLASSES] = {0};
    uint64_t votes = 0;
    for (; code > 1; code >>= c->bits, votes++) count[code & ((1u << c->bits) - 1)]++;
    size_t low = 0, high = c->patterns->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = compare(count, votes, &c->patterns->pattern[middle]);
        if (order == 0) return (uint32_t)middle;
        *(order < 0 ? &high : &low) = order < 0 ? middle : middle + 1;
    }
    return DIS_NO_PATTERN;
}
