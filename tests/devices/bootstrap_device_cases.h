/* bootstrap_device_cases.h: sums over resamples on a device against the CPU's, and the same bytes twice. The
 * tests of CUDA devices and of the stand-in for one (bootstrap_stand_in.c) share the list. */
#ifndef DIS_DEVICES_BOOTSTRAP_DEVICE_CASES_H
#define DIS_DEVICES_BOOTSTRAP_DEVICE_CASES_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stats/bootstrap_device.h"
#include "core/random/random.h"
#include "dissent/dissent.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 20 };

typedef struct {
    size_t n_items, n_draws, n_resamples, n_columns, n_bins;
} resample_case;

/* Blocks that are full, cut off, of one item; draws that are few; more sums than one launch makes; more resamples than
 * one plan. */
static const resample_case resample_cases[] = {
    {8192, 8192, 40, 1, 0},    {8193, 8193, 20, 2, 0}, {20000, 20000, 33, 3, 0},  {20001, 9000, 17, 9, 0},
    {50, 50, 100, 4, 0},       {1, 1, 3, 1, 0},        {100000, 100, 20, 2, 0},   {12345, 12345, 50, 1, 15},
    {70000, 70000, 64, 20, 0}, {8256, 8256, 17, 1, 3}, {300000, 300000, 5, 6, 0}, {16384, 16000, 3000, 1, 0},
    {9000, 9000, 9, 1, 2},     {900, 900, 9, 1, 1},
};

/* Columns of mixed signs, whose sums are small alongside what is added up. */
static inline double **resample_columns(const resample_case *c, double *size)
{
    double **column = calloc(c->n_columns, sizeof *column);
    *size = 0;
    for (size_t k = 0; k < c->n_columns; k++) {
        column[k] = malloc(c->n_items * sizeof *column[k]);
        for (size_t i = 0; i < c->n_items; i++) {
            column[k][i] = dis__random_normal(k + 7, 1, i) * (i % 100 == 3 ? 50 : 1);
            *size = fmax(*size, fabs(column[k][i]));
        }
    }
    return column;
}

static inline dis_context *resample_context(const char *device)
{
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    o.threads = 2;
    o.device = device;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

/* The device of a context, which serves problems of any size here. */
static inline const dis__bootstrap_device *resample_device(dis_context *ctx)
{
    const dis__bootstrap large = {.n_items = 1 << 20, .n_draws = 1 << 20, .n_resamples = 1000};
    const dis__bootstrap_device *device = NULL;
    if (dis__bootstrap_device_for(ctx, &large, &device) != DIS_OK) return NULL;
    return device;
}

static inline double resample_compare(dis_context *host_ctx, dis_context *device_ctx,
                                      const dis__bootstrap_device *device, const resample_case *c)
{
    const dis__bootstrap b = {.n_items = c->n_items,
                              .n_draws = c->n_draws,
                              .n_resamples = c->n_resamples,
                              .seed = 77 + c->n_items};
    const size_t width = c->n_bins ? c->n_bins : c->n_columns, n = width * c->n_resamples;
    double size, max_difference = 0, *sums[3];
    double **column = resample_columns(c, &size);
    uint8_t *bin = malloc(c->n_items);
    for (size_t i = 0; i < c->n_items; i++) bin[i] = (uint8_t)(c->n_bins ? dis__random(5, 1, i) % c->n_bins : 0);
    for (int k = 0; k < 3; k++) sums[k] = malloc(n * sizeof *sums[k]);
    if (c->n_bins)
        assert_int_equal(dis__bootstrap_bins(host_ctx, &b, column[0], bin, c->n_bins, sums[0]), DIS_OK);
    else
        assert_int_equal(dis__bootstrap_sums(host_ctx, &b, (const double *const *)column, c->n_columns, sums[0]),
                         DIS_OK);
    for (int k = 1; k < 3; k++)
        assert_int_equal(dis__bootstrap_device_run(device_ctx, device, &b, (const double *const *)column, c->n_columns,
                                                   c->n_bins ? bin : NULL, c->n_bins, sums[k]),
                         DIS_OK);
    for (size_t i = 0; i < n; i++) {
        const double off = fabs(sums[0][i] - sums[1][i]) / (size * sqrt((double)c->n_draws));
        if (!(off <= max_difference)) max_difference = off;
    }
    if (!(max_difference <= 1e-12))
        fail_msg("%zu items, %zu columns: sums are %g off", c->n_items, c->n_columns, max_difference);
    assert_memory_equal(sums[1], sums[2], n * sizeof(double));
    for (int k = 0; k < 3; k++) free(sums[k]);
    for (size_t k = 0; k < c->n_columns; k++) free(column[k]);
    free(column);
    free(bin);
    return max_difference;
}

static inline void resample_run(dis_context *device_ctx)
{
    dis_context *host_ctx = resample_context(NULL);
    const dis__bootstrap_device *device = resample_device(device_ctx);
    const bool small = getenv("DISSENT_SMALL") != NULL; /* for checkers, which are slow */
    double max_difference = 0;
    assert_non_null(device);
    for (size_t i = 0; i < sizeof resample_cases / sizeof *resample_cases; i++) {
        const resample_case *c = &resample_cases[i];
        if (small && c->n_items * c->n_resamples * c->n_columns > 5000000) continue;
        max_difference = fmax(max_difference, resample_compare(host_ctx, device_ctx, device, c));
    }
    print_message("largest difference of a sum, over the largest number and the root of draws: %.3g\n", max_difference);
    dis_context_destroy(host_ctx);
}

#endif
