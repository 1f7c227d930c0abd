/* Percentile bootstrap over items (Efron 1979), exact in distribution, without drawing items one by one.
 *
 * The counts of n items in S draws are multinomial. Three facts make this cheap: - the number of draws per block of
 * items is multinomial too, and given these numbers, blocks are independent; - Poisson variables with equal means are,
 * given their sum, multinomial with that sum; - m more draws added to a multinomial with sum s give a multinomial with
 * sum s + m. So the total S of each block is drawn first, followed by a Poisson variable for each of its n items with
 * mean (S - 3 sqrt S) / n, which compares 16 random bits with a few bounds. If their sum exceeds S (one time in a
 * thousand) they are drawn again; the missing draws, about 3 sqrt S, are drawn one by one.
 *
 * 16 bits cannot represent a Poisson probability exactly. The part of each probability that is a multiple of 2^-16 is
 * encoded in the bounds; the remainders share one further code, and an item with that code (about one in ten thousand)
 * is decided from the remainders with 53 bits.
 *
 * Resamples are processed in groups, one block of items at a time, so a column is read from memory once per group.
 * Cost: about a cycle per item and resample, and half a cycle for each column; a binomial variable for each cell. */
#include "core/numbers/elementary.h"
#include "stats/bootstrap.h"
#include "stats/bootstrap_device.h"
#include "stats/bootstrap_kernel.h"
#include "core/random/rng.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include "core/parallel/rank_jobs.h"
#include <math.h>
#include <string.h>

enum {
    BLOCK = DIS_BOOTSTRAP_BLOCK,
    GROUP = 16,                      /* resamples per job */
    MAX_COUNT = DIS_BOOTSTRAP_COUNT, /* larger counts have a probability below 2^-80 for means up to 1.1 */
    SHORT_BY = DIS_BOOTSTRAP_SHORT_BY,
};

size_t dis__bootstrap_draws(size_t n_items, double fraction)
{
    const double draws = floor((double)n_items * fraction + .5);
    return draws < 1 ? 1 : draws > (double)n_items ? n_items : (size_t)draws;
}

/* ---- counts of one block ---- */

/* A Poisson distribution quantized to 16 bits: codes above each `bound`, followed by the remainders. */
typedef struct {
    int16_t bound[MAX_COUNT + 2];
    size_t n_bounds;            /* codes above the last bound select the remainders */
    double rest[MAX_COUNT + 1]; /* of each count, in units of 2^-16 */
    double all_rest;
    size_t n_numbers;
} poisson;

static void poisson_cut(double mean, poisson *out)
{
    double mass = dis__exp(-mean);
    int32_t cumulative = 0;
    size_t n = 0;
    *out = (poisson){0};
    for (; n <= MAX_COUNT; n++) {
        const double scaled = mass * 65536, part = floor(scaled);
        out->rest[n] = scaled - part;
        out->all_rest += out->rest[n];
        cumulative += (int32_t)part;
        if (part > 0 || n < 2) out->bound[out->n_bounds++] = (int16_t)(cumulative - 32769);
        mass *= mean / (double)(n + 1);
    }
    out->n_numbers = n;
}

/* The count of an item whose code selects the remainders. */
static uint8_t poisson_rest(const poisson *p, dis__rng *source)
{
    double u = dis__rng_uniform(source) * p->all_rest;
    for (size_t k = 0; k + 1 < p->n_numbers; k++) {
        if (u < p->rest[k]) return (uint8_t)k;
        u -= p->rest[k];
    }
    return (uint8_t)(p->n_numbers - 1);
}

/* Seeds eight generators from one word, as their authors recommend (splitmix64). */
static void spread(uint64_t word, uint64_t state[32])
{
    for (size_t i = 0; i < 32; i++) {
        uint64_t z = word += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        state[i] = z ^ z >> 31;
    }
}

static void add_one(uint8_t *count)
{
    *count =
        (uint8_t)(*count + (*count < UINT8_MAX)); /* never overflows: n items have n draws at most, and 255 of one item
                                                   * have a probability of 1e-500 */
}

/* How often each of n items (at most BLOCK) is drawn in `total` draws; count has room for n rounded up to 64. */
static void draw_block(const dis__bootstrap *b, size_t resample, size_t block, uint64_t total, uint8_t *count, size_t n)
{
    dis__rng source = dis__rng_at(b->seed, DIS_STREAM_BOOTSTRAP | (uint64_t)(block + 1) << 32, (uint64_t)resample);
    const size_t padded = (n + 63) / 64 * 64;
    const double aim = (double)total - SHORT_BY * sqrt((double)total);
    uint64_t drawn = 0;
    if (aim < 1 || aim > 4 * (double)n) /* few items; or, in theory, all draws were of them */
        memset(count, 0, padded);
    else {
        poisson p;
        poisson_cut(aim / (double)n, &p);
        uint64_t state[32];
        spread(dis__rng_next(&source), state);
        do {
            DIS_KERNEL_SELECT(dis__bootstrap_poisson)(state, p.bound, p.n_bounds, count, padded);
            memset(count + n, 0, padded - n);
            for (uint8_t *at = count; (at = memchr(at, (int)p.n_bounds, (size_t)(count + n - at))); at++)
                *at = poisson_rest(&p, &source);
            drawn = DIS_KERNEL_SELECT(dis__bootstrap_total)(count, n);
        } while (drawn > total);
    }
    for (; drawn + 2 <= total; drawn += 2) { /* two indices below 2^13 from one word, with a relative bias of 2^-19 */
        const uint64_t word = dis__rng_next(&source);
        add_one(&count[(word >> 32) * n >> 32]);
        add_one(&count[(word & UINT32_MAX) * n >> 32]);
    }
    if (drawn < total) add_one(&count[dis__rng_below(&source, n)]);
}

static size_t block_items(const dis__bootstrap *b, size_t block)
{
    const size_t left = b->n_items - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

void dis__bootstrap_totals(const dis__bootstrap *b, size_t resample, size_t n_blocks, uint64_t *total)
{
    dis__rng source = dis__rng_at(b->seed, DIS_STREAM_BOOTSTRAP, (uint64_t)resample);
    uint64_t draws = b->n_draws, left = b->n_items;
    for (size_t block = 0; block < n_blocks; block++) {
        const uint64_t n = block_items(b, block);
        total[block] = n == left ? draws : dis__rng_binomial(&source, draws, (double)n / (double)left);
        draws -= total[block];
        left -= n;
    }
}

/* ---- groups of resamples ---- */

typedef struct {
    const dis__bootstrap *b;
    size_t n_blocks, n_values;
    const double *const *columns;
    double *values;
    dis__bootstrap_statistic statistic;
    dis__bootstrap_cell_statistic of_cells;
    void *arg;
    const uint64_t *cells;
    size_t n_cells;
    uint64_t *totals; /* per thread: (GROUP, n_blocks); or (DIS_RNG_BATCH, n_cells) */
    uint8_t *counts;  /* per thread: (counts_room) */
    size_t counts_room;
} work;

static dis_status sums_job(void *arg, size_t j, int thread)
{
    const work *w = arg;
    const dis__bootstrap *b = w->b;
    const size_t first = j * GROUP, n = b->n_resamples - first < GROUP ? b->n_resamples - first : GROUP;
    uint64_t *total = w->totals + (size_t)thread * GROUP * w->n_blocks;
    uint8_t *count = w->counts + (size_t)thread * w->counts_room;
    for (size_t r = 0; r < n; r++) dis__bootstrap_totals(b, first + r, w->n_blocks, total + r * w->n_blocks);
    memset(w->values + first * w->n_values, 0, n * w->n_values * sizeof *w->values);
    for (size_t block = 0; block < w->n_blocks; block++) {
        const size_t items = block_items(b, block);
        for (size_t r = 0; r < n; r++)
            draw_block(b, first + r, block, total[r * w->n_blocks + block], count + r * BLOCK, items);
        DIS_KERNEL_SELECT(dis__bootstrap_dot)
        (count, BLOCK, n, w->columns, w->n_values, block * BLOCK, items, w->values + first * w->n_values);
    }
    return DIS_OK;
}

static dis_status run_job(void *arg, size_t j, int thread)
{
    const work *w = arg;
    const dis__bootstrap *b = w->b;
    const size_t last = (j + 1) * GROUP < b->n_resamples ? (j + 1) * GROUP : b->n_resamples;
    uint64_t *total = w->totals + (size_t)thread * GROUP * w->n_blocks;
    uint8_t *count = w->counts + (size_t)thread * w->counts_room;
    for (size_t r = j * GROUP; r < last; r++) {
        dis__bootstrap_totals(b, r, w->n_blocks, total);
        for (size_t block = 0; block < w->n_blocks; block++)
            draw_block(b, r, block, total[block], count + block * BLOCK, block_items(b, block));
        DIS_TRY(w->statistic(w->arg, count, r, thread, w->values + r * w->n_values));
    }
    return DIS_OK;
}

static dis_status cells_job(void *arg, size_t j, int thread)
{
    const work *w = arg;
    const dis__bootstrap *b = w->b;
    const size_t last = (j + 1) * GROUP < b->n_resamples ? (j + 1) * GROUP : b->n_resamples;
    uint64_t *drawn = w->totals + (size_t)thread * DIS_RNG_BATCH * w->n_cells;
    for (size_t first = j * GROUP; first < last; first += DIS_RNG_BATCH) {
        const size_t many = last - first < DIS_RNG_BATCH ? last - first : DIS_RNG_BATCH;
        dis__rng sources[DIS_RNG_BATCH];
        for (size_t r = 0; r < many; r++)
            sources[r] = dis__rng_at(b->seed, DIS_STREAM_BOOTSTRAP, (uint64_t)(first + r));
        dis__rng_multinomial(sources, many, b->n_draws, w->cells, w->n_cells, drawn);
        for (size_t r = 0; r < many; r++)
            DIS_TRY(
                w->of_cells(w->arg, drawn + r * w->n_cells, first + r, thread, w->values + (first + r) * w->n_values));
    }
    return DIS_OK;
}

static dis_status run(dis_context *ctx, work *w, size_t totals_room, dis_status (*job)(void *, size_t, int))
{
    const size_t threads = (size_t)dis_context_n_threads(ctx);
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&w->totals, dis__saturating_size(threads, totals_room, 0), sizeof *w->totals),
                 end);
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&w->counts, dis__saturating_size(threads, w->counts_room, 0), sizeof *w->counts),
                 end);
    const dis__rank_rows rows = {.table = w->values,
                                 .row_size = w->n_values * sizeof *w->values,
                                 .n = w->b->n_resamples,
                                 .per_job = GROUP};
    status = dis__run_rank_jobs(ctx, (w->b->n_resamples + GROUP - 1) / GROUP, job, w, &rows, 1);
end:
    dis__free(w->totals);
    dis__free(w->counts);
    return status;
}

dis_status dis__bootstrap_sums(dis_context *ctx, const dis__bootstrap *b, const double *const *columns,
                               size_t n_columns, double *sums)
{
    const size_t n_blocks = (b->n_items + BLOCK - 1) / BLOCK;
    const dis__bootstrap_device *device;
    DIS_TRY(dis__bootstrap_device_for(ctx, b, &device));
    if (device) return dis__bootstrap_device_run(ctx, device, b, columns, n_columns, NULL, 0, sums);
    work w = {.b = b,
              .n_blocks = n_blocks,
              .n_values = n_columns,
              .columns = columns,
              .values = sums,
              .counts_room = GROUP * BLOCK};
    return run(ctx, &w, dis__saturating_size(GROUP, n_blocks, 0), sums_job);
}

dis_status dis__bootstrap_run(dis_context *ctx, const dis__bootstrap *b, dis__bootstrap_statistic statistic, void *arg,
                              size_t n_values, double *values)
{
    const size_t n_blocks = (b->n_items + BLOCK - 1) / BLOCK;
    work w = {.b = b,
              .n_blocks = n_blocks,
              .n_values = n_values,
              .values = values,
              .statistic = statistic,
              .arg = arg,
              .counts_room = dis__saturating_size(n_blocks, BLOCK, 0)};
    return run(ctx, &w, dis__saturating_size(GROUP, n_blocks, 0), run_job);
}

typedef struct {
    size_t n_items, n_bins;
    const double *column;
    const uint8_t *bin;
} binned;

static dis_status bins_of(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    (void)thread;
    const binned *x = arg;
    double sum[DIS_BOOTSTRAP_MAX_BINS] = {0};
    for (size_t i = 0; i < x->n_items; i++) sum[x->bin[i]] += count[i] * x->column[i];
    memcpy(values, sum, x->n_bins * sizeof *values);
    return DIS_OK;
}

dis_status dis__bootstrap_bins(dis_context *ctx, const dis__bootstrap *b, const double *column, const uint8_t *bin,
                               size_t n_bins, double *sums)
{
    const dis__bootstrap_device *device;
    DIS_TRY(dis__bootstrap_device_for(ctx, b, &device));
    if (device) return dis__bootstrap_device_run(ctx, device, b, &column, 1, bin, n_bins, sums);
    binned x = {.n_items = b->n_items, .n_bins = n_bins, .column = column, .bin = bin};
    return dis__bootstrap_run(ctx, b, bins_of, &x, n_bins, sums);
}

dis_status dis__bootstrap_cells(dis_context *ctx, const dis__bootstrap *b, const uint64_t *cells, size_t n_cells,
                                dis__bootstrap_cell_statistic statistic, void *arg, size_t n_values, double *values)
{
    work w = {.b = b,
              .n_values = n_values,
              .values = values,
              .of_cells = statistic,
              .arg = arg,
              .cells = cells,
              .n_cells = n_cells};
    return run(ctx, &w, dis__saturating_size(n_cells, DIS_RNG_BATCH, 0), cells_job);
}

/* ---- intervals ---- */

/* Element i of n in ascending order, with smaller ones before it and larger ones after it (Hoare's quickselect). */
static double select_place(double *x, size_t n, size_t i)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const double a = x[low], b = x[middle], c = x[high];
        const double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        /* of three values two are at least the median: both ends move, and `down` ends below `high` */
        size_t up = low, down = high;
        for (;; up++, down--) {
            while (x[up] < pivot) up++;
            while (x[down] > pivot) down--;
            if (up >= down) break;
            const double swap = x[up];
            x[up] = x[down];
            x[down] = swap;
        }
        if (i <= down) /* up to here at most the pivot, after it at least */
            high = down;
        else
            low = down + 1;
    }
    return x[i];
}

static double quantile(double *figures, size_t n, double q)
{
    const double at = q * (double)(n - 1), below = floor(at);
    const size_t i = (size_t)below;
    const double x = select_place(figures, n, i);
    double y = i + 1 < n ? figures[i + 1] : x; /* the smallest of the elements after it */
    for (size_t j = i + 2; j < n; j++) y = figures[j] < y ? figures[j] : y;
    return x == y ? x : x + (at - below) * (y - x); /* equal ones may be infinite */
}

bool dis__bootstrap_interval(double *figures, size_t n, double *low, double *high)
{
    size_t defined = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(figures[i])) figures[defined++] = figures[i];
    if (defined == 0 || 2 * defined < n) return false;
    *low = quantile(figures, defined, .025);
    *high = quantile(figures, defined, .975);
    return true;
}

bool dis__bootstrap_interval_of(const double *values, size_t n_resamples, size_t n_values, size_t v, double *scratch,
                                double *low, double *high)
{
    for (size_t r = 0; r < n_resamples; r++) scratch[r] = values[r * n_values + v];
    return dis__bootstrap_interval(scratch, n_resamples, low, high);
}
