/* em_device.h: passes of the EM methods (labels/em/em.h) on a device that has memory of its own, as a table of
 * functions in the registry of devices (core/device/device_registry.h).
 *
 * Votes go there once per fit, packed to 4 bytes each, through memory that the device can reach fast; probabilities
 * go there before every pass and sums come back after it. Updates stay with the methods.
 *
 *     DIS_TRY(device->open(device, &shape, &tables, &session));
 *     DIS_TRY(device->buffer(session, &at, &bytes));   // room to be filled: as many bytes as there are
 *     DIS_TRY(device->send(session, DIS_EM_SEND_VOTES, 0, bytes));
 *     DIS_TRY(device->start_pass(session, &pass));     // tables.rates are read
 *     DIS_TRY(device->end_pass(session, &pass));       // tables.sums are written; between the two the host is free
 *     DIS_TRY(device->receive(session, 0, bytes, &got, &from)); // posteriors of a pass that kept them
 *     device->close(session);
 *
 * Sums are as exact, relative to themselves, as those of the CPU, small ones too: without pseudo-counts EM
 * goes by their ratios. They are added up in an order that the votes alone decide: the same bytes every time. */
#ifndef DIS_LABELS_METHODS_EM_DEVICE_H
#define DIS_LABELS_METHODS_EM_DEVICE_H
#include "core/device/device_registry.h"

typedef enum { DIS_EM_SHARES, DIS_EM_SOFT, DIS_EM_HARD } dis__em_step;

/* What does not change within a fit. */
typedef struct {
    size_t n_items, n_votes, n_workers, n_classes;
    size_t n_states, n_groups; /* n_classes * n_groups, state s being of class s / n_groups */
    size_t row;                /* numbers of a row of the tables */
    size_t n_rows;             /* (n_workers, n_classes), or (n_workers) */
    bool pairs, by_label;   /* rows have one number, the factor of the voted class: of a (worker, label), or a worker */
    bool gold;              /* some items are known */
    size_t n_long, n_parts; /* items of more than long_votes votes, and how many parts of part_votes they have */
    unsigned label_bits;    /* a vote is worker << label_bits | label */
} dis__em_shape;

/* Memory that both sides see. */
typedef struct {
    double *rates; /* (n_rows, row) probabilities, written by the host */
    double *sums;  /* (n_rows, row) of the last pass that added up; zeros before */
} dis__em_tables;

/* Arrays that are sent: start (n_items + 1) of 8 bytes, votes (n_votes) of 4, gold (n_items) of 4, signatures (n_items)
 * of 8; where there are long items, these (n_long) of 4, ascending, and where the parts of each begin (n_long + 1) of
 * 4. */
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
    bool sum;            /* add the posteriors up */
    bool keep;           /* posteriors of classes, to be received */
    const double *prior; /* (n_states) */
    uint64_t key;        /* of random shares (dis__em_job) */
    double *class_sum;   /* (n_states): out */
    double log_z;        /* out */
} dis__em_device_pass;

typedef struct dis__em_device dis__em_device;
struct dis__em_device {
    const dis__device_row *row;
    size_t max_states;
    size_t long_votes, part_votes; /* items of more votes than long_votes are distinguished; 0: none */
    dis_status (*open)(const dis__em_device *device, const dis__em_shape *shape, dis__em_tables *tables,
                       void **session);
    dis_status (*buffer)(void *session, void **at, size_t *bytes);
    dis_status (*send)(void *session, size_t what, size_t offset, size_t bytes); /* what: dis__em_send */
    dis_status (*start_pass)(void *session, const dis__em_device_pass *pass);
    dis_status (*end_pass)(void *session, dis__em_device_pass *pass);
    /* Posteriors (n_items, n_classes) from byte `offset` on, all `bytes` that are left: *got of them are at *from,
     * until the next call. From 0 on, in order. */
    dis_status (*receive)(void *session, size_t offset, size_t bytes, size_t *got, const void **from);
    /* counts (2 n_classes + 2), of the labels that were received last, over items with votes that are not known: items
     * where a class has most votes, the first on a tie; where it is the label; all; where nobody voted for the label.
     * Of at most count_classes classes. */
    size_t count_classes;
    dis_status (*count_labels)(void *session, uint64_t *counts);
    void (*close)(void *session); /* NULL: nothing */
};

struct dis_fit;
struct dis__fit_args;
/* The device of the context; *out NULL: the CPU, where the context asks for it, and for a fit that passes on devices do
 * not support, which a warning of the fit then reports. DIS_EUSAGE: no such device; DIS_EIO: it is missing, and why. */
dis_status dis__em_device_for(const struct dis__fit_args *args, struct dis_fit *fit, size_t n_states,
                              const dis__em_device **out);

/* Bits of a label, and whether a vote fits in 32. */
unsigned dis__em_label_bits(size_t n_classes);
bool dis__em_fits(size_t n_workers, size_t n_classes);

#endif
