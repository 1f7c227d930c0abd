/* em_device.h: passes of the EM methods (labels/em/em.h) on a device with separate memory, as a table of functions in
 * the registry of devices (core/device/device_registry.h).
 *
 * Votes are copied to the device once per fit, packed to 4 bytes each, through memory with fast access; probabilities
 * are copied to it before every pass and sums back after it. Updates are computed by the methods on the CPU.
 *
 *     DIS_TRY(device->open(device, &shape, &tables, &session));
 *     DIS_TRY(device->buffer(session, &at, &bytes));   // a buffer to fill, of `bytes` bytes
 *     DIS_TRY(device->send(session, DIS_EM_SEND_VOTES, 0, bytes));
 *     DIS_TRY(device->start_pass(session, &pass));     // tables.rates are read
 *     DIS_TRY(device->end_pass(session, &pass));       // tables.sums are written; the host can work in between
 *     DIS_TRY(device->receive(session, 0, bytes, &got, &from)); // posteriors of a pass that kept them
 *     device->close(session);
 *
 * Sums have the relative accuracy of the CPU, small ones too: without pseudo-counts EM depends on their ratios. They
 * are added in an order that depends on the votes only, so results are the same bytes in every run. */
#ifndef DIS_LABELS_METHODS_EM_DEVICE_H
#define DIS_LABELS_METHODS_EM_DEVICE_H
#include "core/device/device_registry.h"

typedef enum { DIS_EM_SHARES, DIS_EM_SOFT, DIS_EM_HARD } dis__em_step;

/* Constant within a fit. */
typedef struct {
    size_t n_items, n_votes, n_workers, n_classes;
    size_t n_states, n_groups; /* n_classes * n_groups; state s belongs to class s / n_groups */
    size_t row;                /* values per row of the tables */
    size_t n_rows;             /* (n_workers, n_classes), or (n_workers) */
    bool pairs, by_label;   /* rows have one value, the factor of the voted class: per (worker, label), or per worker */
    bool gold;              /* some items have gold labels */
    size_t n_long, n_parts; /* items with more than long_votes votes, and the number of their parts of part_votes */
    unsigned label_bits;    /* a vote is worker << label_bits | label */
} dis__em_shape;

/* Memory accessible by both sides. */
typedef struct {
    double *rates; /* (n_rows, row) probabilities, written by the host */
    double *sums;  /* (n_rows, row) sums of the last pass with `sum`; zeros before */
} dis__em_tables;

/* Arrays that are sent: start (n_items + 1) of 8 bytes, votes (n_votes) of 4, gold (n_items) of 4, signatures (n_items)
 * of 8; long items (n_long) of 4, ascending, and the start of the parts of each (n_long + 1) of 4. */
typedef enum {
    DIS_EM_SEND_START,
    DIS_EM_SEND_VOTES,
    DIS_EM_SEND_GOLD,
    DIS_EM_SEND_SIGNATURE,
    DIS_EM_SEND_LONG,
    DIS_EM_SEND_PARTS,
    DIS_EM_N_SENDS
} dis__em_send;

typedef struct {
    dis__em_step step;
    bool sum;            /* add up the posteriors */
    bool keep;           /* keep class posteriors, to be received */
    const double *prior; /* (n_states) */
    uint64_t key;        /* of random shares (dis__em_job) */
    double *class_sum;   /* (n_states): output */
    double log_z;        /* output */
} dis__em_device_pass;

typedef struct dis__em_device dis__em_device;
struct dis__em_device {
    const dis__device_row *row;
    size_t max_states;
    size_t long_votes, part_votes; /* items with more votes are split into parts; 0: never */
    dis_status (*open)(const dis__em_device *device, const dis__em_shape *shape, dis__em_tables *tables,
                       void **session);
    dis_status (*buffer)(void *session, void **at, size_t *bytes);
    dis_status (*send)(void *session, size_t what, size_t offset, size_t bytes); /* what: dis__em_send */
    dis_status (*start_pass)(void *session, const dis__em_device_pass *pass);
    dis_status (*end_pass)(void *session, dis__em_device_pass *pass);
    /* Copies posteriors (n_items, n_classes) from byte `offset` on, `bytes` remaining: *got of them are at *from, until
     * the next call. Sequentially from 0. */
    dis_status (*receive)(void *session, size_t offset, size_t bytes, size_t *got, const void **from);
    /* counts (2 n_classes + 2), of the labels that were received last, over items with votes but without gold labels:
     * items where a class has most votes, the first on a tie; where it is the label; all; where the label has no votes.
     * Of at most count_classes classes. */
    size_t count_classes;
    dis_status (*count_labels)(void *session, uint64_t *counts);
    void (*close)(void *session); /* NULL: nothing */
};

struct dis_fit;
struct dis__fit_args;
/* The device of the context. *out NULL: the CPU, because the context requests it, or because passes on devices do not
 * support the fit, which is then reported by a warning of the fit. DIS_EUSAGE: unknown device; DIS_EIO: it is
 * unavailable, with the reason. */
dis_status dis__em_device_for(const struct dis__fit_args *args, struct dis_fit *fit, size_t n_states,
                              const dis__em_device **out);

/* Bits of a label, and whether a vote fits in 32. */
unsigned dis__em_label_bits(size_t n_classes);
bool dis__em_fits(size_t n_workers, size_t n_classes);

#endif
