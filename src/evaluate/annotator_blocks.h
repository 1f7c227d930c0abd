/* annotator_blocks.h: annotators divided into blocks that are left out in turn. */
#ifndef DIS_EVALUATE_ANNOTATOR_BLOCKS_H
#define DIS_EVALUATE_ANNOTATOR_BLOCKS_H
#include "core/error.h"

enum { DIS_ANNOTATOR_BLOCKS = 20 };

typedef struct {
    uint32_t *block;  /* (n_workers) UINT32_MAX: no vote that counts; for dis__free */
    size_t n_workers; /* with votes */
    size_t n_blocks;  /* at most DIS_ANNOTATOR_BLOCKS */
    double effective; /* blocks with equal numbers of votes that would weigh as much */
} dis__annotator_blocks;

/* n_votes (n_workers): votes that count. Each annotator is a block, or random ones share a block if there are more.
 * After a failure, `block` may still have to be freed. */
dis_status dis__annotator_blocks_init(const double *n_votes, size_t n_workers, uint64_t seed,
                                      dis__annotator_blocks *out);

#endif
