/* SHA-256 (FIPS 180-4). Blocks of 64 bytes through the SHA extensions of x86-64 if available (1.1 GB/s), otherwise in
 * plain C (0.2 GB/s). Files are read in pieces, in constant memory. */
#include "tool/files.h"
#include "core/os/os.h"
#include "core/text/sha256.h"
#include "core/error.h"
#include "core/kernel.h"
#include "core/memory/memory.h"
#include "core/system_calls.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const uint32_t k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
                               0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
                               0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
                               0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
                               0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
                               0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
                               0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
                               0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
                               0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
                               0xc67178f2};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void blocks_plain(uint32_t h[8], const unsigned char *bytes, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, bytes += 64) {
        uint32_t w[64];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 |
                   bytes[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            const uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
                   (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], z = h[7];
        for (int i = 0; i < 64; i++) {
            const uint32_t t1 = z + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
            const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            z = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + t2;
        }
        const uint32_t end[8] = {a, b, c, d, e, f, g, z};
        for (int i = 0; i < 8; i++) h[i] += end[i];
    }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static bool have_sha(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 19 & 1) || !(c >> 9 & 1)) return false; /* SSE4.1, SSSE3 */
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

/* The instructions expect the state as (a b e f) and (c d g h), and compute two rounds at a time. */
__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_sha(uint32_t h[8], const unsigned char *bytes,
                                                                   size_t n_blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xB1); /* b a d c */
    __m128i high =
        _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1B); /* h g f e reversed */
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xF0);
    for (; n_blocks; n_blocks--, bytes += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i)), swap);
        for (int i = 0; i < 16; i++) {
            if (i >= 4) { /* the next four words of the schedule */
                __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
            }
            const __m128i sum = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(const void *)(k + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1B);
    high = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(low, high, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(high, low, 8));
}
#endif

static void blocks(dis__sha256 *s, const unsigned char *bytes, size_t n_blocks)
{
#if defined(__x86_64__)
    if (s->fast) {
        blocks_sha(s->h, bytes, n_blocks);
        return;
    }
#endif
    blocks_plain(s->h, bytes, n_blocks);
}

void dis__sha256_init(dis__sha256 *s)
{
    *s = (dis__sha256){
        .h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
#if defined(__x86_64__)
    s->fast = dis__isa() != DIS_ISA_BASELINE && have_sha();
#endif
}

void dis__sha256_update(dis__sha256 *s, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    const size_t used = s->n & 63;
    s->n += n;
    if (used) {
        const size_t n_copied = n < 64 - used ? n : 64 - used;
        memcpy(s->block + used, at, n_copied);
        at += n_copied;
        n -= n_copied;
        if (used + n_copied < 64) return;
        blocks(s, s->block, 1);
    }
    if (n / 64) blocks(s, at, n / 64);
    if (n % 64) memcpy(s->block, at + n / 64 * 64, n % 64);
}

void dis__sha256_final(dis__sha256 *s, unsigned char digest[32])
{
    const uint64_t bits = s->n * 8;
    static const unsigned char padding[64] = {0x80};
    dis__sha256_update(s, padding, 1 + (119 - s->n % 64) % 64);
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    dis__sha256_update(s, length, 8);
    for (int i = 0; i < 32; i++) digest[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

static dis_status hash_file(const char *path, int fd, unsigned char *buffer, size_t room, dis__sha256 *s)
{
    for (;;) {
        const ssize_t n = dis__sys_read(fd, buffer, room);
        if (n < 0) return dis__fail_io("read", path);
        if (n == 0) return DIS_OK;
        dis__sha256_update(s, buffer, (size_t)n);
    }
}

void dis__sha256_hex(dis__sha256 *s, char hex[65])
{
    unsigned char digest[32];
    dis__sha256_final(s, digest);
    for (int i = 0; i < 32; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = 0;
}

dis_status dis__sha256_file(const char *path, char hex[65])
{
    enum { ROOM = 1 << 18 };
    unsigned char *buffer;
    DIS_TRY(dis__alloc_array(&buffer, ROOM, 1));
    const int fd = dis__sys_open(path, O_RDONLY | DIS__OS_NO_WAIT, 0); /* opening a FIFO would block */
    struct stat st;
    dis__sha256 s;
    dis__sha256_init(&s);
    dis_status status = fd < 0 ? dis__fail_io("open", path) : DIS_OK;
    if (status == DIS_OK && dis__os_file_stat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        status = dis__fail(DIS_EDATA, "%s is not a regular file, so it has no checksum", path);
    if (status == DIS_OK) status = hash_file(path, fd, buffer, ROOM, &s);
    if (fd >= 0) close(fd);
    dis__free(buffer);
    if (status != DIS_OK) return status;
    dis__sha256_hex(&s, hex);
    return DIS_OK;
}

dis_status dis__file_sha256(const char *path, char hex[65])
{
    return dis__sha256_file(path, hex);
}
