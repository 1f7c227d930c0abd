/* Loads cuBLASLt, once per process: concurrent callers wait for it. It stays loaded. */
#include "nn/cuda/dense/cublas_library.h"
#include "core/device/device_registry.h"
#include <pthread.h>
#include <stdio.h>

#define WORDS(x)    #x
#define MAJOR_OF(x) WORDS(x)
#define MAJOR       MAJOR_OF(CUBLAS_VER_MAJOR)
static const char library_name[] = "libcublasLt.so." MAJOR;

/* Written once. */
static struct {
    pthread_once_t once;
    bool is_loaded;
    dis__cublas calls;
    char why[DIS_DEVICE_WHY];
} opened = {.once = PTHREAD_ONCE_INIT};

static void open_once(void)
{
    static const char *const names[] = {DIS_CUBLAS_FUNCTIONS(DIS_CUDA_FUNCTION_NAME)};
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(opened.why, sizeof opened.why,
                 "cuBLASLt " MAJOR " is not installed; run pip install \"nvidia-cublas==" MAJOR
                 ".*\", or install the CUDA toolkit (%s)",
                 dlerror());
    else if (!dis__cuda_load_functions(library, names, sizeof names / sizeof *names, &opened.calls))
        snprintf(opened.why, sizeof opened.why, "%s is too old", library_name);
    else
        opened.is_loaded = true;
}

const dis__cublas *dis__cublas_open(char *why)
{
    pthread_once(&opened.once, open_once);
    if (opened.is_loaded) return &opened.calls;
    snprintf(why, DIS_DEVICE_WHY, "%s", opened.why);
    return NULL;
}
