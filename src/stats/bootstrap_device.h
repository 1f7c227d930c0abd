/* bootstrap_device.h: sums of columns over resamples (stats/bootstrap.h) on a device with separate memory, as a table
 * of functions in the registry of devices (core/device/device_registry.h).
 *
 * The device draws exactly the counts of items that the CPU would draw, and computes the sums. The CPU draws the number
 * of draws per block of items, for a few resamples at a time while the device processes the previous ones.
 *
 *     DIS_TRY(device->open(device, &shape, &session));
 *     DIS_TRY(device->buffer(session, &at, &bytes));    // a buffer to fill, of `bytes` bytes
 *     DIS_TRY(device->send(session, column, 0, bytes)); // column n_columns: the bins
 *     DIS_TRY(device->plan(session, &total, &mass));    // buffers to fill for `chunk` resamples
 *     DIS_TRY(device->draw(session, first, n));         // starts resamples first .. first + n - 1
 *     DIS_TRY(device->sums(session, sums));             // of all resamples
 *     device->close(session);
 *
 * Sums differ from the CPU's by rounding only; they are the same bytes in every run. */
#ifndef DIS_STATS_BOOTSTRAP_DEVICE_H
#define DIS_STATS_BOOTSTRAP_DEVICE_H
#include "core/device/device_registry.h"
#include "stats/bootstrap.h"

enum {
    DIS_BOOTSTRAP_BLOCK = 8192, /* items whose counts are drawn together */
    DIS_BOOTSTRAP_COUNT = 24,   /* Poisson counts above this are not distinguished */
    DIS_BOOTSTRAP_SHORT_BY = 3  /* the Poisson sum's mean is this many standard deviations below the total */
};

typedef struct {
    size_t n_items, n_blocks, n_resamples;
    size_t n_columns; /* of values; 1 with bins */
    size_t n_bins;    /* 0: none. Otherwise sums are (n_resamples, n_bins): of the column, by the bin of the item */
    size_t chunk;     /* maximum number of resamples of a plan */
    uint64_t seed;
} dis__bootstrap_shape;

typedef struct dis__bootstrap_device dis__bootstrap_device;
struct dis__bootstrap_device {
    const dis__device_row *row;
    dis_status (*open)(const dis__bootstrap_device *device, const dis__bootstrap_shape *shape, void **session);
    dis_status (*buffer)(void *session, void **at, size_t *bytes);
    /* Columns are n_items doubles, bins n_items bytes. */
    dis_status (*send)(void *session, size_t column, size_t offset, size_t bytes);
    /* total (chunk, n_blocks): draws of a resample in a block; mass: the probability that the Poisson counts of its
     * items are 0. */
    dis_status (*plan)(void *session, uint32_t **total, double **mass);
    dis_status (*draw)(void *session, size_t first, size_t n);
    dis_status (*sums)(void *session, double *sums);
    void (*close)(void *session); /* NULL: nothing */
};

/* The device of the context. *out NULL: the CPU, because it was requested, because the work is too small to pay for the
 * copies, or with several ranks. DIS_EUSAGE: unknown device name; DIS_EIO: it is unavailable, with the reason. */
dis_status dis__bootstrap_device_for(dis_context *ctx, const dis__bootstrap *b, const dis__bootstrap_device **out);

/* sums (n_resamples, n_columns), or with bins (n_resamples, n_bins) of one column. */
dis_status dis__bootstrap_device_run(dis_context *ctx, const dis__bootstrap_device *device, const dis__bootstrap *b,
                                     const double *const *columns, size_t n_columns, const uint8_t *bin, size_t n_bins,
                                     double *sums);

/* Draws the number of draws of the resample in each block: total (n_blocks). */
void dis__bootstrap_totals(const dis__bootstrap *b, size_t resample, size_t n_blocks, uint64_t *total);

#endif
