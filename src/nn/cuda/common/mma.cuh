/* mma.cuh: multiplication of small tiles on the tensor cores, in bfloat16 with sums in float32 (mma.sync, sm_80 and
 * later), and asynchronous copies to shared memory. */
#ifndef DIS_NN_CUDA_COMMON_MMA_CUH
#define DIS_NN_CUDA_COMMON_MMA_CUH
#include <cuda_bf16.h>
#include <stdint.h>

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Shared memory aligned to `to` bytes; the launch must have allocated as many more. */
__device__ __forceinline__ char *aligned_shared(void *room, uint32_t to)
{
    return (char *)room + (to - shared_address(room) % to) % to;
}

/* Two values packed as bfloat16. */
__device__ __forceinline__ uint32_t pair_to(float x, float y)
{
    const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<const uint32_t *>(&two);
}

/* C (16 x 8) += A (16 x 16) B (16 x 8). */
__device__ __forceinline__ void mma_16x8x16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Four 8 x 8 tiles; lane l gives the address of row l % 8 of tile l / 8. */
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}

__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}

/* Copies 16 bytes to shared memory, bypassing the L1 cache; zeros if `in_range` is false. */
__device__ __forceinline__ void copy_16(void *to, const void *from, bool in_range)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(in_range ? 16 : 0)
                 : "memory");
}

/* 8 bytes, through the L1 cache. */
__device__ __forceinline__ void copy_8(void *to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most N of the groups of copies are in flight. */
template <int N> __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

#endif
