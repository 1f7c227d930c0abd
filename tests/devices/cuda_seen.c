/* Linked into libdissent-cuda.so by -DDIS_CUDA_SEEN=ON: which of its kernels were launched. Where the variable
 * DISSENT_SEEN names a file, a line is appended to it for each kernel when the process ends: `1 NAME`, or `0 NAME` of
 * one that was not launched. The linker puts these functions in place of the runtime's (-Wl,--wrap); launches by <<<>>>
 * ask for a kernel's handle the first time. */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX = 4096 };

static struct {
    const void *function;
    const char *name;
    bool launched;
} kernel[MAX];
static size_t n_kernels;

static void seen(const void *function)
{
    for (size_t i = 0; i < n_kernels; i++)
        if (kernel[i].function == function) kernel[i].launched = true;
}

void __real___cudaRegisterFunction(void **handle, const char *function, char *device_function, const char *name,
                                   int limit, void *tid, void *bid, void *block, void *grid, int *size);
void __wrap___cudaRegisterFunction(void **handle, const char *function, char *device_function, const char *name,
                                   int limit, void *tid, void *bid, void *block, void *grid, int *size);
void __wrap___cudaRegisterFunction(void **handle, const char *function, char *device_function, const char *name,
                                   int limit, void *tid, void *bid, void *block, void *grid, int *size)
{
    if (n_kernels < MAX) {
        kernel[n_kernels].function = function;
        kernel[n_kernels++].name = name;
    }
    __real___cudaRegisterFunction(handle, function, device_function, name, limit, tid, bid, block, grid, size);
}

cudaError_t __real___cudaGetKernel(cudaKernel_t *handle, const void *function);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *handle, const void *function);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *handle, const void *function)
{
    seen(function);
    return __real___cudaGetKernel(handle, function);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    seen(function);
    return __real_cudaLaunchKernelExC(config, function, args);
}

cudaError_t __real_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                          size_t n, const struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                          size_t n, const struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                          size_t n, const struct cudaKernelNodeParams *params)
{
    seen(params->func);
    return __real_cudaGraphAddKernelNode(node, graph, before, n, params);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("DISSENT_SEEN");
    FILE *out = path ? fopen(path, "a") : NULL;
    for (size_t i = 0; out && i < n_kernels; i++) fprintf(out, "%d %s\n", kernel[i].launched, kernel[i].name);
    if (out) fclose(out);
}
