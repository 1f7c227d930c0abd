/* GPUs of this machine as rows of the registry, and the lock on their memory. */
#include "core/cuda/cuda_devices.h"
#include "core/cuda/cuda_memory.h"
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

/* Number of GPUs; 0: `why` has the reason. */
static int count_all(char why[DIS_DEVICE_WHY])
{
    int n = 0, driver = 0, runtime = 0;
    const cudaError_t error = cudaGetDeviceCount(&n);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (error == cudaErrorInsufficientDriver && driver == 0)
        snprintf(
            why, DIS_DEVICE_WHY,
            "no NVIDIA driver is installed (libcuda.so.1 was not found); install the one of your system, on Debian "
            "with apt-get install nvidia-driver");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(why, DIS_DEVICE_WHY,
                 "the driver is too old: it knows CUDA %d.%d, and %d.%d is needed; install a newer one", driver / 1000,
                 driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (error == cudaErrorNoDevice || (error == cudaSuccess && n == 0))
        snprintf(why, DIS_DEVICE_WHY, "the driver finds no GPU (is CUDA_VISIBLE_DEVICES set?)");
    else if (error != cudaSuccess)
        snprintf(why, DIS_DEVICE_WHY, "CUDA does not answer: %s", cudaGetErrorString(error));
    cudaGetLastError();
    return error == cudaSuccess ? n : 0;
}

/* Whether a GPU supports the kernels; false: `why` has the reason. */
static bool new_enough(int ordinal, char why[DIS_DEVICE_WHY])
{
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess)
        snprintf(why, DIS_DEVICE_WHY, "cuda:%d does not answer", ordinal);
    else if (10 * major + minor < OLDEST)
        snprintf(why, DIS_DEVICE_WHY, "cuda:%d has compute capability %d.%d, and %d.%d is needed", ordinal, major,
                 minor, OLDEST / 10, OLDEST % 10);
    else
        return true;
    return false;
}

/* Creates the driver's context and the pinned memory for copies of arrays. */
static void start(const dis__device_row *row)
{
    dis__cuda_block pinned = {0};
    if (cudaSetDevice(row->ordinal) == cudaSuccess && cudaFree(NULL) == cudaSuccess) {
        dis__cuda_lock();
        if (dis__cuda_memory_allocate(DIS_CUDA_PINNED_MEMORY, row->ordinal, DIS_CUDA_PINNED_START, &pinned) ==
            cudaSuccess)
            dis__cuda_memory_return(&pinned);
        dis__cuda_unlock();
    }
    cudaGetLastError();
}

static const char *const names[DIS_CUDA_GPUS] = {"cuda:0",  "cuda:1",  "cuda:2",  "cuda:3", "cuda:4",  "cuda:5",
                                                 "cuda:6",  "cuda:7",  "cuda:8",  "cuda:9", "cuda:10", "cuda:11",
                                                 "cuda:12", "cuda:13", "cuda:14", "cuda:15"};

__attribute__((visibility("default"))) dis__device_plugin dis_device_plugin;

size_t dis_device_plugin(const dis__device_host *host, dis__device_row *rows, size_t room, char why[DIS_DEVICE_WHY])
{
    size_t n = 0;
    if (host->size != sizeof *host || host->row_size != sizeof *rows || strcmp(host->version, DIS_VERSION) != 0) {
        snprintf(why, DIS_DEVICE_WHY, "it was built for another version of dissent than %s", host->version);
        return 0;
    }
    const int all = count_all(why);
    for (int i = 0; i < all && i < DIS_CUDA_GPUS && n < room; i++) {
        if (!new_enough(i, why)) continue;
        dis__device_row *row = &rows[n++];
        *row = (dis__device_row){.name = names[i], .machine = "cuda", .ordinal = i, .host = host, .start = start};
        dis__cuda_add_networks(row);
        dis__cuda_add_em(row);
        dis__cuda_add_bootstrap(row);
    }
    if (n == 0) {
        const size_t length = strlen(why);
        dis__cuda_missing_libraries(why + length, DIS_DEVICE_WHY - length);
    }
    return n;
}
