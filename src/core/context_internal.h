/* context_internal.h: the internal side of a context: settings of its creator, progress, cancellation and memory
 * limits. */
#ifndef DIS_CORE_CONTEXT_INTERNAL_H
#define DIS_CORE_CONTEXT_INTERNAL_H
#include "dissent/context.h"
#include "core/error.h"

/* The memory limit of a call with this context, in bytes; 0: what the machine has available. */
uint64_t dis__context_memory(const dis_context *ctx);

/* The precision of matrix multiplications in models; DIS_PRECISION_DEFAULT for NULL. */
dis_precision dis__context_precision(const dis_context *ctx);
/* The device as the caller wrote it; "": not set, or calls use the CPU temporarily. */
const char *dis__context_device(const dis_context *ctx);

/* Between the two calls the CPU is used, whatever the device of the context: for results that are stored under keys
 * without a device. */
void dis__context_use_cpu(dis_context *ctx, bool on);

/* Calls the progress callback, if any. */
void dis__progress(dis_context *ctx, const char *what, double done);
/* DIS_ECANCELLED when the stop callback asks to stop. */
dis_status dis__check_stop(dis_context *ctx);
/* While held, nothing is cancelled: for short work that must complete. */
void dis__suspend_stop(dis_context *ctx, bool held);
/* DIS_ELIMIT with both sizes if `bytes` (SIZE_MAX: overflow) exceeds the context's limit or the available memory.
 * `what` reads like "dawid-skene with 5000 classes and 80000 workers". */
dis_status dis__check_resident(const dis_context *ctx, size_t bytes, const char *what);
/* The same for arrays that may be spilled to temporary files: always allowed within a scope (spill.h). */
dis_status dis__check_memory(const dis_context *ctx, size_t bytes, const char *what);

#endif
