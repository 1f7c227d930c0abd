/* GPUs of this machine, and the lock on their memory. */
#include "core/cuda/cuda_find.h"
#include "core/cuda/cuda_memory.h"
#include "core/cuda_library.h"
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>

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

int dis__cuda_count(char why[DIS_CUDA_WHY])
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

bool dis__cuda_new_enough(int ordinal, char why[DIS_CUDA_WHY])
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

__attribute__((visibility("default"))) dis__cuda_starter dis_plugin_cuda_start;

/* The context of the driver, and the pinned memory through which arrays go. */
void dis_plugin_cuda_start(int ordinal)
{
    dis__cuda_block pinned = {0};
    if (cudaSetDevice(ordinal) == cudaSuccess && cudaFree(NULL) == cudaSuccess) {
        dis__cuda_lock();
        if (dis__cuda_take(DIS_CUDA_PINNED, ordinal, DIS_CUDA_PINNED_START, &pinned) == cudaSuccess)
            dis__cuda_give(&pinned);
        dis__cuda_unlock();
    }
    cudaGetLastError();
}
