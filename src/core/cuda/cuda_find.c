/* GPUs of this machine, and the lock on their memory. */
#include "core/cuda/cuda_find.h"
#include "core/cuda/cuda_memory.h"
#include "core/cuda_library.h"
#include "dissent/version.h"
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { OLDEST = 80 };

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

void dis__cuda_lock(void)
{
    pthread_mutex_lock(&memory_lock);
}

void dis__cuda_unlock(void)
{
    pthread_mutex_unlock(&memory_lock);
}

/* How many GPUs there are; 0: `why`. */
static int count_all(char why[DIS_CUDA_WHY])
{
    int n = 0, driver = 0, runtime = 0;
    const cudaError_t error = cudaGetDeviceCount(&n);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (error == cudaErrorInsufficientDriver && driver == 0)
        snprintf(why, DIS_CUDA_WHY, "no NVIDIA driver is installed (libcuda.so.1 was not found)");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(why, DIS_CUDA_WHY,
                 "the driver is too old: it knows CUDA %d.%d, and %d.%d is needed; install a newer one", driver / 1000,
                 driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (error == cudaErrorNoDevice || (error == cudaSuccess && n == 0))
        snprintf(why, DIS_CUDA_WHY, "the driver finds no GPU (is CUDA_VISIBLE_DEVICES set?)");
    else if (error != cudaSuccess)
        snprintf(why, DIS_CUDA_WHY, "CUDA does not answer: %s", cudaGetErrorString(error));
    cudaGetLastError();
    return error == cudaSuccess ? n : 0;
}

/* Whether one of them has what the kernels need; false: `why`. */
static bool new_enough(int ordinal, char why[DIS_CUDA_WHY])
{
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess)
        snprintf(why, DIS_CUDA_WHY, "cuda:%d does not answer", ordinal);
    else if (10 * major + minor < OLDEST)
        snprintf(why, DIS_CUDA_WHY, "cuda:%d has compute capability %d.%d, and %d.%d is needed", ordinal, major, minor,
                 OLDEST / 10, OLDEST % 10);
    else
        return true;
    return false;
}

size_t dis__cuda_find_gpus(bool same, const char *version, int ordinal[DIS_CUDA_GPUS], char why[DIS_CUDA_WHY])
{
    size_t n = 0;
    if (!same || strcmp(version, DIS_VERSION) != 0) {
        snprintf(why, DIS_CUDA_WHY, "it was built for another version of dissent than %s", version);
        return 0;
    }
    const int all = count_all(why);
    for (int i = 0; i < all && i < DIS_CUDA_GPUS; i++)
        if (new_enough(i, why)) ordinal[n++] = i;
    return n;
}

#define NAMES(i)                          \
    {                                     \
        "cuda:" #i, "cuda:" #i " float32" \
    }

const char *dis__cuda_name(int ordinal, bool exact)
{
    static const char *const names[DIS_CUDA_GPUS][2] = {NAMES(0),  NAMES(1),  NAMES(2),  NAMES(3), NAMES(4),  NAMES(5),
                                                        NAMES(6),  NAMES(7),  NAMES(8),  NAMES(9), NAMES(10), NAMES(11),
                                                        NAMES(12), NAMES(13), NAMES(14), NAMES(15)};
    return names[ordinal][exact];
}

__attribute__((visibility("default"))) dis__cuda_starter dis_plugin_cuda_start;

/* The context of the driver, and the pinned memory through which arrays go. */
void dis_plugin_cuda_start(int ordinal)
{
    dis__cuda_block pinned = {0};
    if (cudaSetDevice(ordinal) == cudaSuccess && cudaFree(NULL) == cudaSuccess) {
        dis__cuda_lock();
        if (dis__cuda_memory_take(DIS_CUDA_PINNED_MEMORY, ordinal, DIS_CUDA_PINNED_START, &pinned) == cudaSuccess)
            dis__cuda_memory_return(&pinned);
        dis__cuda_unlock();
    }
    cudaGetLastError();
}
