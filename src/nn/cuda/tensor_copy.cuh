/* tensor_copy.cuh: boxes of images (number, height, width, channels in bfloat16) copied to shared memory by the copy
 * engine of compute capability 9.0, and the barriers that tell when they are there. A box has 64 channels: each place
 * is a row of 128 bytes, whose chunk c of 16 bytes lies at c ^ row % 8, as descriptors of wgmma.cuh name it. What lies
 * outside of the images is 0. */
#ifndef DIS_NN_CUDA_TENSOR_COPY_CUH
#define DIS_NN_CUDA_TENSOR_COPY_CUH
#include "nn/cuda/mma.cuh"
#include <cuda.h>

enum { BOX_CHANNELS = 64 };

typedef struct {
    int channels, width, height, n;
} box_size;

/* A tensor map is made by the driver; false: it makes none. */
static inline bool box_map(const bf16 *images, box_size all, box_size box, CUtensorMap *map)
{
    typedef CUresult encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                            const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void *found = NULL;
    cudaDriverEntryPointQueryResult how;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how) !=
            cudaSuccess ||
        how != cudaDriverEntryPointSuccess || !found)
        return false;
    const cuuint64_t row = (cuuint64_t)all.channels * sizeof(bf16), w = (cuuint64_t)all.width;
    const cuuint64_t dims[] = {(cuuint64_t)all.channels, w, (cuuint64_t)all.height, (cuuint64_t)all.n};
    const cuuint64_t strides[] = {row, row * w, row * w * (cuuint64_t)all.height};
    const cuuint32_t sides[] = {(cuuint32_t)box.channels, (cuuint32_t)box.width, (cuuint32_t)box.height,
                                (cuuint32_t)box.n};
    const cuuint32_t ones[] = {1, 1, 1, 1};
    return ((encode *)found)(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)images, dims, strides, sides, ones,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ void barrier_open(uint64_t *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/* Barriers are as they were opened for the copy engine, too. */
__device__ __forceinline__ void barriers_opened()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* One arrival, and so many bytes that are on their way. */
__device__ __forceinline__ void barrier_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/* Until the phase of this parity is over. */
__device__ __forceinline__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

/* The box that begins at these numbers on its way. */
__device__ __forceinline__ void copy_box(void *to, const CUtensorMap *map, uint64_t *barrier, int channel, int col,
                                         int row, int image)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
                 "l"(map), "r"(shared_address(barrier)), "r"(channel), "r"(col), "r"(row), "r"(image)
                 : "memory");
}

#endif
#endif
