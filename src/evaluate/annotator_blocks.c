/* Blocks of annotators: annotators in random order are assigned to the blocks in turn. */
#include "evaluate/annotator_blocks.h"
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "stats/crossed_intervals.h"

dis_status dis__annotator_blocks_init(const double *n_votes, size_t n_workers, uint64_t seed,
                                      dis__annotator_blocks *out)
{
    double of_block[DIS_ANNOTATOR_BLOCKS] = {0};
    uint32_t *order;
    *out = (dis__annotator_blocks){0};
    DIS_TRY(dis__alloc_array(&out->block, n_workers, sizeof *out->block));
    DIS_TRY(dis__alloc_array(&order, n_workers, sizeof *order));
    for (size_t w = 0; w < n_workers; w++) {
        out->block[w] = UINT32_MAX;
        if (n_votes[w] > 0) order[out->n_workers++] = (uint32_t)w;
    }
    for (size_t i = out->n_workers; out->n_workers > DIS_ANNOTATOR_BLOCKS && i > 1; i--) {
        const size_t j = (size_t)dis__random_below(seed, DIS_STREAM_ANNOTATORS, i, i);
        const uint32_t other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
    for (size_t i = 0; i < out->n_workers; i++) {
        out->block[order[i]] = (uint32_t)(i % DIS_ANNOTATOR_BLOCKS);
        of_block[i % DIS_ANNOTATOR_BLOCKS] += n_votes[order[i]];
    }
    out->n_blocks = out->n_workers < DIS_ANNOTATOR_BLOCKS ? out->n_workers : DIS_ANNOTATOR_BLOCKS;
    out->effective = dis__effective_number(of_block, out->n_blocks);
    dis__free(order);
    return DIS_OK;
}
