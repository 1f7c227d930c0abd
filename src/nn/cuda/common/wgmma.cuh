/* wgmma.cuh: multiplication of tiles by four warps together (wgmma, sm_90a), in bfloat16 with sums in float32.
 *
 * A tile is 64 rows of 64 numbers at a multiple of 1,024 bytes; chunk c of 16 bytes of row r is at position c ^ (r &
 * 7), which is the swizzle of 128 bytes that descriptors name. Of 64 x 64 sums warp w has rows 16 w to 16 w + 15, as
 * mma.sync has them: c[j][0..1] row lane / 4, columns 8 j + lane % 4 * 2 and the next; c[j][2..3] the same 8 rows
 * below. The result of a multiplication may be read after group_wait() and group_registers(). */
#ifndef DIS_NN_CUDA_COMMON_WGMMA_CUH
#define DIS_NN_CUDA_COMMON_WGMMA_CUH
#include "nn/cuda/common/mma.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Descriptor of eight rows of 128 bytes at `at`, with the next eight rows `eight` bytes further; the next 64 values of
 * a row are `wide` bytes further (16 for transposed rows). */
__device__ __forceinline__ uint64_t rows_descriptor(uint32_t at, uint32_t wide, uint32_t eight)
{
    const uint64_t swizzle_128 = 1;
    return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)(wide >> 4) << 16 | (uint64_t)(eight >> 4) << 32 |
           swizzle_128 << 62;
}

__device__ __forceinline__ uint64_t tile_descriptor(const void *tile)
{
    return rows_descriptor(shared_address(tile), 16, 1024);
}

/* The four warps of a group; a block has several groups. */
__device__ __forceinline__ void group_meet(int group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

#define GROUP_SUMS(c)                                                                                            \
    "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]), "+f"(c[1][2]),     \
        "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]), "+f"(c[3][0]), "+f"(c[3][1]), \
        "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]), "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]), \
        "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]), "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]), \
        "+f"(c[7][0]), "+f"(c[7][1]), "+f"(c[7][2]), "+f"(c[7][3])
#define GROUP_NAMES                                                                                               \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28," \
    "%29,%30,%31}"

/* c (64 x 64) = or += A (64 x 16, rows of 16) B' (64 x 16): both from shared memory. */
__device__ __forceinline__ void group_mma(float (&c)[8][4], uint64_t a, uint64_t b, bool add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " GROUP_NAMES ", %32, %33, add, 1, 1, 0, 0;\n}"
                 : GROUP_SUMS(c)
                 : "l"(a), "l"(b), "r"((int)add));
}

/* c (64 x 64) += A (64 x 16, in registers) B (16 x 64). */
__device__ __forceinline__ void group_mma_add(float (&c)[8][4], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " GROUP_NAMES
                 ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
                 : GROUP_SUMS(c)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* Makes register writes visible to the following multiplications. */
__device__ __forceinline__ void group_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void group_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most N of the groups of multiplications are in flight. */
template <int N> __device__ __forceinline__ void group_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void group_registers(float (&c)[8][4])
{
    asm volatile("" : GROUP_SUMS(c)::"memory");
}

/* Makes this thread's writes to shared memory visible to multiplications after the next barrier. */
__device__ __forceinline__ void group_publish()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
#endif
