/* device.h: the interface of a device, as a table of functions; each device is one static row.
 *
 * A network opens a session on its device, allocates memory, copies values in and out, and runs operations (nn/ops.h).
 * Only the device accesses its memory: other code may compare a pointer with NULL and add byte offsets, nothing else.
 * The device decides how an operation is divided into jobs, tiles or blocks, and allocates its own scratch memory.
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
 * Work is done in the order of the calls; a device may run it asynchronously, and copy_out and synchronise wait for it.
 * A failure may be reported by a later call than the one that caused it. */
#ifndef DIS_NN_DEVICE_H
#define DIS_NN_DEVICE_H
#include "core/device/device_registry.h"
#include "dissent/context.h"
#include "nn/ops.h"

typedef enum { DIS_FLOAT64, DIS_FLOAT32, DIS_BFLOAT16, DIS_INT32, DIS_N_NUMBERS } dis__number;

size_t dis__number_size(dis__number number);
const char *dis__number_name(dis__number number); /* name in safetensors: "F32" */

/* Roles of tensors. A device defines the type of each: values and their gradients may be bfloat16
 * where parameters (masters), their gradients and the optimiser's state, and statistics, losses and probabilities are
 * float32. */
typedef enum { DIS_ROLE_VALUE, DIS_ROLE_PARAM, DIS_ROLE_STAT, DIS_N_ROLES } dis__role;

/* Purposes of memory. A device may allocate more than the size of parameters: copies in another type. */
typedef enum { DIS_MEMORY_PARAMS, DIS_MEMORY_GRADS, DIS_MEMORY_STATE, DIS_MEMORY_OTHER, DIS_N_MEMORIES } dis__memory;

enum { DIS_TEAM_ID = 128 }; /* bytes */

typedef struct dis__device dis__device;
struct dis__device {
    const char *name, *summary; /* "cuda:0 float32" */
    const dis__device_row *row; /* of the machine, in the registry */
    size_t n_ops;               /* DIS_N_OPS of the sources from which it was built; 0: of these */
    dis_precision precision;    /* of GEMMs with weights; devices of one row differ in it */
    bool trains;                /* false: forward passes only */
    bool shares;                /* it accesses the host's memory directly, in the types of its roles */
    dis_status (*usable)(const dis__device *device); /* fails with the missing feature of this machine; NULL: never */
    dis__number number[DIS_N_ROLES];
    /* Description of the hardware: "AVX-512, 8 threads". */
    void (*describe)(const dis__device *device, char *text, size_t n);
    size_t round;   /* counts of packed tokens are rounded up to multiples of this; 1: not rounded */
    size_t at_once; /* preferred number of tokens per prediction pass; 0: the model's default */
    bool sums;      /* GEMMs that accumulate are as fast: networks that only predict use them to add residuals */
    size_t lag; /* the inputs of an operation remain valid for this many more layers: some operations may run later, or
                 * with the next */

    dis_status (*open)(const dis__device *device, void **session);
    void (*close)(void *session); /* frees remaining memory too; NULL: nothing */
    /* While a network is planned: announces an operation, with arguments of maximum size, whose pointers are
     * meaningless. Returns the bytes of device memory for args->work; SIZE_MAX: overflow. */
    size_t (*plan)(void *session, dis__op op, const void *args);
    size_t (*own_bytes)(const void *session, const dis_context *ctx); /* bytes that begin() will allocate */
    /* DIS_ELIMIT: `bytes` more are not available. */
    dis_status (*fits)(void *session, dis_context *ctx, size_t bytes, const char *what);
    dis_status (*begin)(void *session, dis_context *ctx); /* after planning, before running */
    bool (*serve)(void *session, dis_context *ctx);       /* later calls run there; false: too many threads for it */

    dis_status (*allocate)(void *session, dis__memory what, size_t bytes, bool zeroed, void **out);
    void (*release)(void *session, void *memory);
    dis_status (*copy_in)(void *session, void *to, const void *from, size_t bytes);
    dis_status (*copy_out)(void *session, void *to, const void *from, size_t bytes);
    dis_status (*zero)(void *session, void *to, size_t bytes);
    dis_status (*run)(void *session, dis__op op, const void *args);

    /* Operations between the two calls form one training step, or one prediction pass. Steps with equal keys run the
     * same operations with the same arguments, so a device may record one and replay it: then *replayed is set, the
     * caller runs nothing and calls end_step. Values that differ from step to step (rate, pass, scales) are in device
     * memory. *again: a recording was lost and no operation of the step has run, whatever the operations returned; the
     * caller runs them again and calls end_step. */
    dis_status (*begin_step)(void *session, const uint64_t *key, size_t n, bool *replayed);
    dis_status (*end_step)(void *session, bool *again);
    dis_status (*layer_done)(void *session); /* a layer's backward pass is complete, or it had none; NULL: not needed */
    dis_status (*synchronise)(void *session);

    /* Ranks that train one network, each on such a device, may sum gradients without the host; NULL: not supported. All
     * of them open a team, which returns its name or fails with the missing requirement; the first one creates an id,
     * all join with it, and x (n float32, in device memory) is replaced by the sum over ranks, added in their order. */
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
