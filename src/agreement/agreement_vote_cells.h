/* agreement_vote_cells.h: the change from leaving out one vote, for items with few votes on few classes.
 *
 * Such an item has a code: its labels, each reduced to the bits it needs. Votes of the same class on items with the
 * same pattern change the totals in the same way. They form a cell, and are only counted, per annotator.
 *
 *     dis__vote_cells cells;
 *     DIS_TRY(dis__vote_cells_create(&base, votes, n_annotators, &cells));  // n = 0: not efficient for these votes
 *     pattern = dis__vote_cells_pattern(&cells, code);                      // DIS_NO_PATTERN: none
 *     cell = cells.cell[pattern * n_classes + class];
 *     dis__vote_cells_destroy(&cells); */
#ifndef DIS_AGREEMENT_AGREEMENT_VOTE_CELLS_H
#define DIS_AGREEMENT_AGREEMENT_VOTE_CELLS_H
#include "agreement/agreement_jackknife.h"

#define DIS_NO_PATTERN UINT32_MAX
enum { DIS_CELL_CODE_BITS = 15 };

typedef struct {
    size_t n;         /* cells */
    unsigned bits;    /* bits of a label in a code */
    size_t max_votes; /* maximum number of votes of an item with a code */
    const dis__vote_patterns *patterns;
    uint32_t *cell;    /* (patterns, n_classes) */
    uint32_t *pattern; /* (n) of each cell */
    uint32_t *tally;   /* (n) and the position of its class in it */
} dis__vote_cells;

dis_status dis__vote_cells_create(const dis__agreement_base *base, const dis_votes_view *votes, size_t n_annotators,
                                  dis__vote_cells *out);
void dis__vote_cells_destroy(dis__vote_cells *cells);
/* The pattern of a code: labels from the lowest bits up, followed by a 1 bit. */
uint32_t dis__vote_cells_pattern(const dis__vote_cells *cells, uint32_t code);

#endif
