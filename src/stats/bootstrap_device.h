/* bootstrap_device.h: sums of columns over resamples (stats/bootstrap.h) on a device that has memory of its own, as a
 * table of functions in the registry of devices (core/device/device_registry.h).
 *
 * The device draws the counts of items that the CPU would draw, number for number, and adds up what they count;
 * how the draws of a resample fall on blocks of items is drawn by the CPU, a few at a time while the device
 * works on those before.
 *
 *     DIS_TRY(device->open(device, &shape, &session));
 *     DIS_TRY(device->buffer(session, &at, &bytes));    // room to be filled: as many bytes as there are
 *     DIS_TRY(device->send(session, column, 0, bytes)); // column n_columns: the bins
 *     DIS_TRY(device->plan(session, &total, &mass));    // room to be filled for `chunk` resamples
 *     DIS_TRY(device->draw(session, first, n));         // resamples first .. first + n - 1 are on their way
 *     DIS_TRY(device->sums(session, sums));             // of all resamples
 *     device->close(session);
 *
 * Sums differ from the CPU's by rounding alone; they are the same bytes every time. */
#ifndef DIS_STATS_BOOTSTRAP_DEVICE_H
#define DIS_STATS_BOOTSTRAP_DEVICE_H
#include "core/device/device_registry.h"
#include "stats/bootstrap.h"

enum {
    DIS_BOOTSTRAP_BLOCK = 8192, /* items whose counts are drawn together */
    DIS_BOOTSTRAP_COUNT = 24,   /* Poisson numbers above this are not distinguished */
    DIS_BOOTSTRAP_SHORT_BY = 3  /* standard deviations that the Poisson sum aims below the total */
};

typedef struct {
    size_t n_items, n_blocks, n_resamples;
    size_t n_columns; /* of numbers; 1 with bins */
    size_t n_bins;    /* 0: none. Else sums are (n_resamples, n_bins): of the column, by the bin of the item */
    size_t chunk;     /* resamples of a plan, at most */
    uint64_t seed;
} dis__bootstrap_shape;

typedef struct dis__bootstrap_device dis__bootstrap_device;
struct dis__bootstrap_device {
    const dis__device_row *row;
    dis_status (*open)(const dis__bootstrap_device *device, const dis__bootstrap_shape *shape, void **session);
    dis_status (*buffer)(void *session, void **at, size_t *bytes);
    /* Columns are n_items doubles, bins n_items bytes. */
    dis_status (*send)(void *session, size_t column, size_t offset, size_t bytes);
    /* total (chunk, n_blocks): draws of a resample that fall on a block; mass: the probability that the Poisson numbers
     * of its items are 0. */
    dis_status (*plan)(void *session, uint32_t **total, double **mass);
    dis_status (*draw)(void *session, size_t first, size_t n);
    dis_status (*sums)(void *session, double *sums);
    void (*close)(void *session); /* NULL: nothing */
};

/* The device of the context; *out NULL: the CPU, where it is asked for, where there is so little to do that
 * copies would take longer, or with several ranks. DIS_EUSAGE: no such words; DIS_EIO: it is not there, and why. */
dis_status dis__bootstrap_device_for(dis_context *ctx, const dis__bootstrap *b, const dis__bootstrap_device **out);

/* sums (n_resamples, n_columns), or with bins (n_resamples, n_bins) of one column. */
dis_status dis__bootstrap_device_run(dis_context *ctx, const dis__bootstrap_device *device, const dis__bootstrap *b,
                                     const double *const *columns, size_t n_columns, const uint8_t *bin, size_t n_bins,
                                     double *sums);

/* How the draws of a resample fall on the blocks: total (n_blocks). */
void dis__bootstrap_totals(const dis__bootstrap *b, size_t resample, size_t n_blocks, uint64_t *total);

#endif
