/* context.h: what a piece of work may use: threads, memory, a way to show progress and a way to be stopped.
 *
 * Most calls take a context; NULL stands for one thread, no progress, never stopped. Create one per process or per
 * thread of yours, use it for any number of calls one after the other, destroy it at the end.
 *
 *     dis_context_options o = dis_context_options_default();
 *     o.threads = 2;
 *     dis_context *ctx;
 *     if (dis_context_create(&o, &ctx) != DIS_OK) return 1;
 *     // any number of calls, one after the other
 *     dis_context_destroy(ctx);
 *
 * The number of threads never changes a result: work is cut into pieces that depend on the data alone.
 * Threads: a context serves one call at a time. `progress` and `stop` are called from the thread that made the call. */
#ifndef DIS_CONTEXT_H
#define DIS_CONTEXT_H
#include "dissent/status.h"

typedef struct dis_context dis_context;

/* How nets multiply. BF16: weights and what they are multiplied with rounded to bfloat16, sums in float32. DEFAULT: as
 * the device does best; the processor in float32. */
typedef enum { DIS_PRECISION_DEFAULT, DIS_PRECISION_FLOAT32, DIS_PRECISION_BF16 } dis_precision;

typedef struct {
    size_t size; /* of this struct: lets it grow without breaking callers */
    int threads; /* 0: as many as this process may run on */
    /* Bytes that a call may use; 0: what the machine has available. Arrays that grow with votes and items lie in
     * temporary files when they take more; what cannot is refused with DIS_ELIMIT, as is everything below 32 MiB. */
    uint64_t memory;

    /* `done` goes from 0 to 1 for each `what`; NULL: nobody watches. */
    void (*progress)(void *user, const char *what, double done);
    /* Polled between pieces of work; anything but 0 ends the call with DIS_ECANCELLED. NULL: never. */
    int (*stop)(void *user);
    void *user;
    dis_precision precision; /* of nets; BF16 is refused where the device lacks it (the processor: in training) */
    /* Which processes share the work: "none", this one by itself (so does NULL), or "mpi", those that mpirun started:
     * all of them make the same calls (docs/guides/clusters.md). */
    const char *ranks;
    /* Where nets run, and where sums over resamples are made when there are many items (docs/guides/gpu.md): cpu, cuda,
     * cuda:N, or auto: a CUDA device where there is one (dissent/device_list.h), which is started at once; NULL: cpu.
     */
    const char *device;
    /* Of several ranks each holds all data, as one process would; what is done over and over with them (resamples,
     * permutations) is shared out. Else votes are dealt out by item. */
    bool replicate_data;
} dis_context_options;

DIS_OPTIONS_API(dis_context_options);

/* DIS_EUSAGE: a negative or absurd number of threads, `ranks` that cannot be had. DIS_ELIMIT: no memory, or the system
 * gives no thread. */
DIS_API dis_status dis_context_create(const dis_context_options *options, dis_context **out);

/* Ends the threads. NULL is fine. */
DIS_API void dis_context_destroy(dis_context *ctx);

/* Threads in use, the caller's own included; 1 for NULL. */
DIS_API int dis_context_n_threads(const dis_context *ctx);

/* This process among those that share the work, and how many they are; 0 and 1 by itself. */
DIS_API int dis_context_rank(const dis_context *ctx);
DIS_API int dis_context_n_ranks(const dis_context *ctx);

/* After a failure, instead of dis_context_destroy(): ends the other ranks, which may wait for this one, with `code`.
 * Does not come back when there are others; by itself it does nothing. */
DIS_API void dis_context_abort(dis_context *ctx, int code);

/* A point that all ranks reach, each with how it went so far: the failure of the lowest rank that has one comes back
 * there, and the others wait to be ended by it (dis_context_abort). By itself a process gets `so_far` back. */
DIS_API dis_status dis_context_reduce_status(dis_context *ctx, dis_status so_far);

/* Bytes that this rank has sent to others so far, each broadcast counted once. */
DIS_API uint64_t dis_context_bytes_sent(const dis_context *ctx);

/* n bytes of rank `from` to all ranks, which all call this. By itself it does nothing. */
DIS_API dis_status dis_context_broadcast(dis_context *ctx, int from, void *bytes, size_t n);

/* Frees an array that a call gave away. NULL is fine. */
DIS_API void dis_free(void *memory);

#endif
