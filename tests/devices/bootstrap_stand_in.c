/* A device for resamples in plain loops, alongside em_stand_in.c: counts of items are drawn one by one and written
 * down, then columns are added up. What the host sends and plans, in small pieces, is what it works with.
 *
 *     STUB_AT=N    the N-th draw fails: the device is lost
 *     STUB_BYTES=N more than N bytes of columns do not fit */
#include "devices/stand_in.h"
#include "stats/bootstrap_device.h"
#include "core/random/rng.h"
#include "core/random/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1000 * 8, LANES = 8 };

typedef struct {
    const dis__bootstrap_device *device;
    dis__bootstrap_shape g;
    char piece[PIECE];
    double **column, *mass, *sums;
    uint8_t *bin, *count;
    uint32_t *total;
    long draws;
} stand_in;

static void close_it(void *session)
{
    stand_in *s = session;
    for (size_t c = 0; s && c < s->g.n_columns; c++) free(s->column[c]);
    if (!s) return;
    free(s->column);
    free(s->mass);
    free(s->sums);
    free(s->bin);
    free(s->count);
    free(s->total);
    free(s);
}

static dis_status open_it(const dis__bootstrap_device *device, const dis__bootstrap_shape *g, void **session)
{
    if (getenv("STUB_BYTES") && 8 * g->n_items * g->n_columns > strtoull(getenv("STUB_BYTES"), NULL, 10))
        return device->row->host->fail(DIS_ELIMIT, "the memory of device cuda:0 is used up (0 of 1 MiB are free)");
    stand_in *s = calloc(1, sizeof *s);
    s->device = device;
    s->g = *g;
    s->column = calloc(g->n_columns, sizeof *s->column);
    for (size_t c = 0; c < g->n_columns; c++) s->column[c] = calloc(g->n_items, sizeof(double));
    s->bin = calloc(g->n_items, 1);
    s->count = calloc(g->n_blocks * DIS_BOOTSTRAP_BLOCK, 1);
    s->total = calloc(g->chunk * g->n_blocks, sizeof *s->total);
    s->mass = calloc(g->chunk * g->n_blocks, sizeof *s->mass);
    s->sums = calloc(g->n_resamples * (g->n_bins ? g->n_bins : g->n_columns), sizeof *s->sums);
    *session = s;
    return DIS_OK;
}

static dis_status buffer(void *session, void **at, size_t *bytes)
{
    *at = ((stand_in *)session)->piece;
    *bytes = PIECE;
    return DIS_OK;
}

static dis_status send_it(void *session, size_t column, size_t offset, size_t bytes)
{
    stand_in *s = session;
    memcpy((column < s->g.n_columns ? (char *)s->column[column] : (char *)s->bin) + offset, s->piece, bytes);
    return DIS_OK;
}

static dis_status plan(void *session, uint32_t **total, double **mass)
{
    *total = ((stand_in *)session)->total;
    *mass = ((stand_in *)session)->mass;
    return DIS_OK;
}

/* Numbers of a Poisson distribution from 16 bits each, of eight generators in turn. */
typedef struct {
    int bound[DIS_BOOTSTRAP_COUNT + 2], n_bounds;
    double rest[DIS_BOOTSTRAP_COUNT + 1], all_rest;
    uint64_t state[LANES][4];
} numbers;

static void cut(numbers *p, double mean, double mass, uint64_t word)
{
    int cumulative = 0;
    for (int n = 0; n <= DIS_BOOTSTRAP_COUNT; n++) {
        const double scaled = mass * 65536, part = floor(scaled);
        p->rest[n] = scaled - part;
        p->all_rest += p->rest[n];
        cumulative += (int)part;
        if (part > 0 || n < 2) p->bound[p->n_bounds++] = cumulative - 32769;
        mass *= mean / (n + 1);
    }
    for (int i = 0; i < 4 * LANES; i++) {
        uint64_t z = word += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        p->state[i % LANES][i / LANES] = z ^ z >> 31;
    }
}

static void fill(numbers *p, dis__rng *source, uint8_t *count, size_t n)
{
    for (size_t i = 0; i < n; i += 64)
        for (size_t half = 0; half < 2; half++)
            for (size_t lane = 0; lane < LANES; lane++) {
                dis__rng of;
                memcpy(of.s, p->state[lane], sizeof of.s);
                const uint64_t word = dis__rng_next(&of);
                memcpy(p->state[lane], of.s, sizeof of.s);
                for (size_t h = 0; h < 4; h++) {
                    const int x = (int16_t)(word >> 16 * h);
                    uint8_t code = 0;
                    for (int t = 0; t < p->n_bounds; t++) code = (uint8_t)(code + (x > p->bound[t]));
                    if (i + 32 * half + 4 * lane + h < n) count[i + 32 * half + 4 * lane + h] = code;
                }
            }
    for (size_t i = 0; i < n; i++) {
        if (count[i] != p->n_bounds) continue;
        double u = dis__rng_uniform(source) * p->all_rest;
        uint8_t k = 0;
        for (; k < DIS_BOOTSTRAP_COUNT && u >= p->rest[k]; k++) u -= p->rest[k];
        count[i] = k;
    }
}

static void draw_block(const stand_in *s, size_t resample, size_t block, uint32_t total, double mass, size_t n)
{
    uint8_t *count = s->count + block * DIS_BOOTSTRAP_BLOCK;
    dis__rng source = dis__rng_at(s->g.seed, DIS_STREAM_BOOTSTRAP | (uint64_t)(block + 1) << 32, resample);
    const double aim = total - DIS_BOOTSTRAP_SHORT_BY * sqrt(total);
    uint64_t drawn = 0;
    memset(count, 0, n);
    if (aim >= 1 && aim <= 4 * (double)n) {
        numbers p = {0};
        cut(&p, aim / (double)n, mass, dis__rng_next(&source));
        do {
            fill(&p, &source, count, n);
            drawn = 0;
            for (size_t i = 0; i < n; i++) drawn += count[i];
        } while (drawn > total);
    }
    for (; drawn + 2 <= total; drawn += 2) {
        const uint64_t word = dis__rng_next(&source);
        count[(word >> 32) * n >> 32]++;
        count[(word & UINT32_MAX) * n >> 32]++;
    }
    if (drawn < total) count[dis__rng_below(&source, n)]++;
}

static dis_status draw(void *session, size_t first, size_t n)
{
    stand_in *s = session;
    const dis__bootstrap_shape *g = &s->g;
    const size_t width = g->n_bins ? g->n_bins : g->n_columns;
    if (getenv("STUB_AT") && ++s->draws == atol(getenv("STUB_AT")))
        return s->device->row->host->fail(DIS_EIO, "drawing resamples on device cuda:0: it is lost");
    for (size_t r = 0; r < n; r++) {
        double *sums = s->sums + (first + r) * width;
        for (size_t b = 0; b < g->n_blocks; b++) {
            const size_t left = g->n_items - b * DIS_BOOTSTRAP_BLOCK;
            draw_block(s, first + r, b, s->total[r * g->n_blocks + b], s->mass[r * g->n_blocks + b],
                       left < DIS_BOOTSTRAP_BLOCK ? left : DIS_BOOTSTRAP_BLOCK);
        }
        for (size_t i = 0; i < g->n_items; i++)
            for (size_t c = 0; c < g->n_columns; c++) sums[g->n_bins ? s->bin[i] : c] += s->count[i] * s->column[c][i];
    }
    return DIS_OK;
}

static dis_status sums(void *session, double *out)
{
    const stand_in *s = session;
    memcpy(out, s->sums, s->g.n_resamples * (s->g.n_bins ? s->g.n_bins : s->g.n_columns) * sizeof *out);
    return DIS_OK;
}

void stand_in_add_bootstrap(dis__device_row *row)
{
    static dis__bootstrap_device device;
    device = (dis__bootstrap_device){.row = row,
                                     .open = open_it,
                                     .buffer = buffer,
                                     .send = send_it,
                                     .plan = plan,
                                     .draw = draw,
                                     .sums = sums,
                                     .close = close_it};
    row->bootstrap = (dis__device_table){.functions = &device, .size = sizeof device};
}
