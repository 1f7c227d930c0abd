/* device.h: what a device does, as a table of functions; each device is one static row.
 *
 * A network opens a session on its device, takes its memory there, moves numbers in and out by copies, and has
 * operations (nn/ops.h) run. No one but the device looks at its memory: a pointer to it may be compared with NULL
 * and moved on by bytes, and that is all. How an operation is cut into jobs, tiles or blocks is the device's own
 * business, and so is memory that it needs for itself.
 *
 *     void *session, *x;
 *     DIS_TRY(device->open(device, &session));
 *     DIS_TRY(device->begin(session, ctx));
 *     DIS_TRY(device->allocate(session, DIS_MEMORY_OTHER, n * sizeof(float), true, &x));
 *     DIS_TRY(device->copy_in(session, x, numbers, n * sizeof(float)));
 *     DIS_TRY(device->run(session, DIS_OP_activate, &args));
 *     DIS_TRY(device->copy_out(session, numbers, x, n * sizeof(float)));
 *     device->close(session);
 *
 * Work is done in the order of the calls; a device may do it later than the call, and then copy_out and synchronise
 * wait. A failure may be told by a later call than the one that caused it. */
#ifndef DIS_NN_DEVICE_H
#define DIS_NN_DEVICE_H
#include "core/device/device_registry.h"
#include "dissent/context.h"
#include "nn/ops.h"

typedef enum { DIS_FLOAT64, DIS_FLOAT32, DIS_BFLOAT16, DIS_INT32, DIS_N_NUMBERS } dis__number;

size_t dis__number_size(dis__number number);
const char *dis__number_name(dis__number number); /* as safetensors calls it: "F32" */

/* What a tensor is for. A device says which type of number it keeps each in: values and their gradients may be bfloat16
 * where parameters (masters), their gradients and the optimiser's state, and statistics, losses and probabilities are
 * float32. */
typedef enum { DIS_ROLE_VALUE, DIS_ROLE_PARAM, DIS_ROLE_STAT, DIS_N_ROLES } dis__role;

/* What memory is taken for. A device may keep more alongside parameters than they themselves: copies in another
 * type. */
typedef enum { DIS_MEMORY_PARAMS, DIS_MEMORY_GRADS, DIS_MEMORY_STATE, DIS_MEMORY_OTHER, DIS_N_MEMORIES } dis__memory;

enum { DIS_TEAM_ID = 128 }; /* bytes */

typedef struct dis__device dis__device;
struct dis__device {
    const char *name, *summary; /* "cuda:0 float32" */
    const dis__device_row *row; /* of the machine, in the registry */
    size_t n_ops;               /* DIS_N_OPS of the sources that it was built from; 0: of these */
    dis_precision precision;    /* of products with weights; devices of one row differ in it */
    bool trains;                /* false: forward passes alone */
    bool shares;                /* it uses the host's memory where it is, in the types of its roles */
    dis_status (*usable)(const dis__device *device); /* fails with what this machine lacks for it; NULL: never */
    dis__number number[DIS_N_ROLES];
    /* What was found on this machine: "AVX-512, 8 threads". */
    void (*describe)(const dis__device *device, char *text, size_t n);
    size_t round;   /* counts of packed tokens are rounded up to multiples of this; 1: as they are */
    size_t at_once; /* tokens of texts that a pass of prediction has where there are so many; 0: as a model has them */
    bool sums;  /* products that add to what is there are as fast: in networks that never train they add residuals */
    size_t lag; /* what an operation reads stays for so many layers more: some may be run later, or with the next */

    dis_status (*open)(const dis__device *device, void **session);
    void (*close)(void *session); /* memory that is still there goes too; NULL: nothing */
    /* While a network is planned: this operation will be run, with arguments no larger than these, whose pointers mean
     * nothing yet. Returns the bytes of device memory that args->work must point to then; SIZE_MAX: overflow. */
    size_t (*plan)(void *session, dis__op op, const void *args);
    size_t (*own_bytes)(const void *session, const dis_context *ctx); /* what begin() will take */
    /* DIS_ELIMIT: `bytes` more are not there. */
    dis_status (*fits)(void *session, dis_context *ctx, size_t bytes, const char *what);
    dis_status (*begin)(void *session, dis_context *ctx); /* after planning, before running */
    bool (*serve)(void *session, dis_context *ctx);       /* runs there from now on; false: too many threads for it */

    dis_status (*allocate)(void *session, dis__memory what, size_t bytes, bool zeroed, void **out);
    void (*release)(void *session, void *memory);
    dis_status (*copy_in)(void *session, void *to, const void *from, size_t bytes);
    dis_status (*copy_out)(void *session, void *to, const void *from, size_t bytes);
    dis_status (*zero)(void *session, void *to, size_t bytes);
    dis_status (*run)(void *session, dis__op op, const void *args);

    /* Operations between the two make one step of training, or one pass of a prediction. Steps of equal keys run the
     * same operations with the same arguments, so a device may record one and replay it: then *replayed is set,
     * nothing is to be run, and end_step follows. What differs from step to step (rate, pass, scales) is in device
     * memory. *again: a recording was lost, nothing of the step has happened, whatever its operations returned; they
     * are to be run again, and end_step follows. */
    dis_status (*begin_step)(void *session, const uint64_t *key, size_t n, bool *replayed);
    dis_status (*end_step)(void *session, bool *again);
    dis_status (*layer_done)(void *session); /* each layer has gone backward, or had nothing to; NULL: not asked for */
    dis_status (*synchronise)(void *session);

    /* Ranks that train one network, each on a device like this, may add up gradients without the host; NULL: they
     * cannot. All of them open a team, which tells its name or fails with what is missing; the first makes an id,
     * all join by it, and x (n float32, in the device's memory) becomes the sum over ranks, added in their order. */
    dis_status (*team_open)(void *session, char *name, size_t size);
    dis_status (*team_id)(void *session, void *id); /* (DIS_TEAM_ID) */
    dis_status (*team_join)(void *session, const void *id, int rank, int size);
    dis_status (*team_sum)(void *session, void *x, size_t n);
};

extern const dis__device dis__device_ref, dis__device_cpu, dis__device_cpu_bf16;
/* Devices that run networks, those of the CPU first. */
const dis__device *dis__device_at(size_t i);           /* NULL past the end */
const dis__device *dis__device_find(const char *name); /* NULL: there is none */

#endif
