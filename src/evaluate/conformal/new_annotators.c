/* Coverage of annotators who did not calibrate: the votes of each annotator, with sets from the votes of others on other
 * items. With more than 20 annotators, random blocks of them are left out together.
 *
 * The coverage of all these votes has an interval for new items and new annotators: the variance of a mean of votes that
 * are grouped by item and by annotator (crossed_intervals.h), from sums of the votes' residuals.
 *
 * Cost: for each of at most 20 blocks a pass over the sorted calibration votes, and a search per vote. */
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "evaluate/annotator_blocks.h"
#include "evaluate/conformal/conformal.h"
#include "stats/crossed_intervals.h"
#include <math.h>
#include <string.h>

typedef struct {
    const dis__conformal *x;
    dis__annotator_blocks blocks;
    double *of_worker;                   /* (n_workers) votes on calibration items */
    bool *covered;                       /* (n_votes of the table) */
    double *count, *unmatched, *n_votes; /* without a block: as those of the sets */
    dis__vote_tail tail;
    double *sum, *inside; /* (n_workers) */
} left_out;

static void remove_votes(left_out *l, uint32_t block, bool restore)
{
    const dis__conformal *x = l->x;
    const double change = restore ? 1 : -1;
    for (size_t r = 0; r < x->in.n_items; r++) {
        if (!x->calibrates[r]) continue;
        const size_t item = x->in.item_map[r];
        for (uint64_t v = x->votes.start[item]; v < x->votes.start[item + 1]; v++) {
            if (l->blocks.block[x->votes.worker[v]] != block) continue;
            const size_t k = dis__vote_class(x, v);
            l->n_votes[r] += change;
            if (k == SIZE_MAX)
                l->unmatched[r] += change;
            else
                l->count[r * x->in.n_classes + k] += change;
        }
    }
}

static void check_block(left_out *l, uint32_t block)
{
    const dis__conformal *x = l->x;
    l->tail.unmatched = l->tail.n_items = 0;
    for (size_t r = 0; r < x->in.n_items; r++) {
        if (!x->calibrates[r] || l->n_votes[r] <= 0) continue;
        l->tail.n_items++;
        l->tail.unmatched += l->unmatched[r] / l->n_votes[r];
    }
    dis__vote_tail_fill(x, l->count, l->n_votes, &l->tail);
    for (size_t r = 0; r < x->in.n_items; r++) {
        if (!x->calibrates[r]) continue;
        const size_t item = x->in.item_map[r];
        const double n = l->tail.n_items + 1 - (l->n_votes[r] > 0);
        for (uint64_t v = x->votes.start[item]; v < x->votes.start[item + 1]; v++) {
            const size_t k = dis__vote_class(x, v);
            if (l->blocks.block[x->votes.worker[v]] != block || k == SIZE_MAX) continue;
            const double score = x->score[r * x->in.n_classes + k];
            const double own = dis__own_share(x, l->count, l->unmatched[r], l->n_votes[r], r, score);
            l->covered[v] = dis__conformal_includes(x, (1 + dis__vote_tail_at(&l->tail, score) - own) / n);
        }
    }
}

static dis_status add_annotators(left_out *l)
{
    const dis__conformal *x = l->x;
    for (size_t w = 0; w < x->votes.n_workers; w++) {
        if (l->of_worker[w] <= 0) continue;
        dis_coverage_row row = {.kind = DIS_COVERAGE_ANNOTATOR,
                                .index = w,
                                .low = NAN,
                                .high = NAN,
                                .n_items = (size_t)l->of_worker[w],
                                .n_votes = l->of_worker[w],
                                .mean_size = NAN};
        const double share = l->inside[w] / l->of_worker[w], df = l->of_worker[w] - 1;
        row.coverage = (dis_metric){.value = share, .ci_low = NAN, .ci_high = NAN, .n = row.n_items};
        dis__share_interval(0, df, l->of_worker[w], &row.coverage);
        DIS_TRY(dis__coverage_row_add(x->out, &row));
    }
    return DIS_OK;
}

/* The mean over items of the share of covered votes; votes weigh 1 / (votes on the item). */
static dis_status add_all(left_out *l)
{
    const dis__conformal *x = l->x;
    const double n = (double)x->out->view.n_calibration;
    double mean = 0, items = 0, annotators = 0, votes = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t r = 0; r < x->in.n_items; r++) {
            double of_item = 0;
            if (!x->calibrates[r]) continue;
            const size_t item = x->in.item_map[r];
            for (uint64_t v = x->votes.start[item]; v < x->votes.start[item + 1]; v++) {
                const double weight = 1 / (x->n_votes[r] * n), change = weight * (l->covered[v] - mean);
                if (pass == 0) {
                    of_item += weight * l->covered[v];
                    continue;
                }
                of_item += change;
                l->sum[x->votes.worker[v]] += change;
                votes += change * change;
            }
            if (pass == 0)
                mean += of_item;
            else
                items += of_item * of_item;
        }
    for (size_t w = 0; w < x->votes.n_workers; w++) annotators += l->sum[w] * l->sum[w];
    const double n_workers = (double)l->blocks.n_workers;
    const dis__crossed_variances v = {.annotators = annotators * n_workers / (n_workers - 1),
                                      .items = n > 1 ? items * n / (n - 1) : (double)NAN,
                                      .votes = votes,
                                      .df_annotators =
                                          dis__annotator_df(dis__effective_number(l->of_worker, x->votes.n_workers)),
                                      .df_items = n - 1};
    double df;
    const double variance = dis__crossed_variance_sum(&v, &df);
    dis_coverage_row row = {.kind = DIS_COVERAGE_NEW_ANNOTATORS,
                            .low = NAN,
                            .high = NAN,
                            .n_items = x->out->view.n_calibration,
                            .n_votes = x->out->view.n_votes,
                            .mean_size = NAN};
    row.coverage = (dis_metric){.value = fmin(mean, 1), .ci_low = NAN, .ci_high = NAN, .n = row.n_items};
    if (v.df_annotators > 0)
        dis__share_interval(variance, n > 1 ? df : 0, n, &row.coverage);
    else
        row.coverage.no_interval = DIS_NO_INTERVAL_ONE_ANNOTATOR;
    return dis__coverage_row_add(x->out, &row);
}

static dis_status allocate(left_out *l)
{
    const dis__conformal *x = l->x;
    const size_t n = x->in.n_items, cells = n * x->in.n_classes;
    DIS_TRY(dis__alloc_zeroed(&l->of_worker, x->votes.n_workers, sizeof *l->of_worker));
    DIS_TRY(dis__alloc_zeroed(&l->covered, x->votes.n_votes, sizeof *l->covered));
    DIS_TRY(dis__alloc_array(&l->count, cells, sizeof *l->count));
    DIS_TRY(dis__alloc_array(&l->unmatched, n, sizeof *l->unmatched));
    DIS_TRY(dis__alloc_array(&l->n_votes, n, sizeof *l->n_votes));
    DIS_TRY(dis__alloc_array(&l->tail.score, x->n_cells, sizeof *l->tail.score));
    DIS_TRY(dis__alloc_array(&l->tail.mass, x->n_cells, sizeof *l->tail.mass));
    DIS_TRY(dis__alloc_zeroed(&l->sum, x->votes.n_workers, sizeof *l->sum));
    DIS_TRY(dis__alloc_zeroed(&l->inside, x->votes.n_workers, sizeof *l->inside));
    memcpy(l->count, x->count, cells * sizeof *l->count);
    memcpy(l->unmatched, x->unmatched, n * sizeof *l->unmatched);
    memcpy(l->n_votes, x->n_votes, n * sizeof *l->n_votes);
    return DIS_OK;
}

static dis_status run(left_out *l)
{
    const dis__conformal *x = l->x;
    DIS_TRY(allocate(l));
    for (size_t r = 0; r < x->in.n_items; r++)
        for (uint64_t v = x->calibrates[r] ? x->votes.start[x->in.item_map[r]] : 0;
             x->calibrates[r] && v < x->votes.start[x->in.item_map[r] + 1]; v++)
            l->of_worker[x->votes.worker[v]]++;
    DIS_TRY(dis__annotator_blocks_init(l->of_worker, x->votes.n_workers, x->o.seed, &l->blocks));
    x->out->view.n_annotators = l->blocks.n_workers;
    if (l->blocks.n_workers < 2) return DIS_OK;
    for (uint32_t b = 0; b < l->blocks.n_blocks; b++) {
        DIS_TRY(dis__check_stop(x->ctx));
        remove_votes(l, b, false);
        check_block(l, b);
        remove_votes(l, b, true);
    }
    for (size_t r = 0; r < x->in.n_items; r++)
        for (uint64_t v = x->calibrates[r] ? x->votes.start[x->in.item_map[r]] : 0;
             x->calibrates[r] && v < x->votes.start[x->in.item_map[r] + 1]; v++)
            l->inside[x->votes.worker[v]] += l->covered[v];
    DIS_TRY(add_annotators(l));
    return add_all(l);
}

dis_status dis__new_annotators_add(const dis__conformal *x)
{
    left_out l = {.x = x};
    const dis_status status = run(&l);
    dis__free(l.blocks.block);
    dis__free(l.of_worker);
    dis__free(l.covered);
    dis__free(l.count);
    dis__free(l.unmatched);
    dis__free(l.n_votes);
    dis__free(l.tail.score);
    dis__free(l.tail.mass);
    dis__free(l.sum);
    dis__free(l.inside);
    return status;
}
