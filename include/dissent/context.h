/* context.h: resources of a call: threads, memory, device, progress and cancellation.
 *
 * Most calls take a context; NULL stands for one thread, no progress, never stopped. Create one per process or per
 * thread of yours, use it for any number of consecutive calls, destroy it at the end.
 *
 *     dis_context_options o = dis_context_options_default();
 *     o.threads = 2;
 *     dis_context *ctx;
 *     if (dis_context_create(&o, &ctx) != DIS_OK) return 1;
 *     // any number of consecutive calls
 *     dis_context_destroy(ctx);
 *
 * The number of threads never changes a result: work is cut into pieces that depend on the data alone.
 * Threads: a context serves one call at a time. `progress` and `stop` are called from the thread that made the call. */
#ifndef DIS_CONTEXT_H
#define DIS_CONTEXT_H
#include "dissent/status.h"

typedef struct dis_context dis_context;

/* Precision of matrix multiplications in neural networks. BF16: factors rounded to bfloat16, sums in float32.
 * DEFAULT: the best one of the device; float32 on CPUs. */
typedef enum { DIS_PRECISION_DEFAULT, DIS_PRECISION_FLOAT32, DIS_PRECISION_BF16 } dis_precision;

typedef struct {
    size_t size; /* of this struct: lets it grow without breaking callers */
    int threads; /* 0: as many as this process may run on */
    /* Bytes that a call may use; 0: what the machine has available. Arrays that grow with votes and items are kept in
     * temporary files if they take more; other arrays fail with DIS_ELIMIT, as do limits below 32 MiB. */
    uint64_t memory;

    /* `done` goes from 0 to 1 for each `what`; NULL: no progress is reported. */
    void (*progress)(void *user, const char *what, double done);
    /* Polled between pieces of work; anything but 0 ends the call with DIS_ECANCELLED. NULL: never. */
    int (*stop)(void *user);
    void *user;
    dis_precision precision; /* of neural networks; BF16 is an error if the device lacks it (CPUs: in training) */
    /* Which processes share the work: "none", this process alone (as NULL), or "mpi", those that mpirun started:
     * all of them make the same calls (docs/guides/clusters.md). */
    const char *ranks;
    /* Device of neural networks, and of sums over resamples of many items (docs/guides/gpu.md): cpu, cuda, cuda:N, or
     * auto. auto is a CUDA device if available (dissent/device_list.h), which is started at once. NULL: cpu.
     * DIS_EUSAGE for any other word. */
    const char *device;
    /* Each of several ranks has all data, as one process would; resamples and permutations are split across ranks.
     * Otherwise votes are split by item. */
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

/* Frees an array whose ownership a call moved to the caller. NULL is fine. */
DIS_API void dis_free(void *memory);

#endif
