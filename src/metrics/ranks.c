/* Ranks by a radix sort of the numbers' bits, 11 bits a pass from the lowest. Passes in which all numbers agree are left
 * out, so short or coarse numbers take two or three. Stable, O(n), no comparisons; below some hundred numbers an
 * insertion sort is quicker. */
#include "metrics/ranks.h"
#include "core/memory.h"
#include <string.h>

enum { DIGIT = 11, BUCKETS = 1 << DIGIT, PASSES = (64 + DIGIT - 1) / DIGIT, FEW = 200 };

/* Bits that order as the numbers do: negative ones turned over, the sign of the others set. */
static inline uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static void insertion(dis__ranked *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const dis__ranked one = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1].value > one.value; j--) x[j] = x[j - 1];
        x[j] = one;
    }
}

void dis__sort_ranked(dis__ranked *x, dis__ranked *spare, size_t n)
{
    if (n <= FEW) {
        insertion(x, n);
        return;
    }
    dis__ranked *from = x, *to = spare;
    for (int pass = 0; pass < PASSES; pass++) {
        size_t place[BUCKETS] = {0};
        const int shift = pass * DIGIT;
        for (size_t i = 0; i < n; i++) place[key_of(from[i].value) >> shift & (BUCKETS - 1)]++;
        if (place[key_of(from[0].value) >> shift & (BUCKETS - 1)] == n) continue;
        size_t sum = 0;
        for (size_t b = 0; b < BUCKETS; b++) {
            const size_t count = place[b];
            place[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) to[place[key_of(from[i].value) >> shift & (BUCKETS - 1)]++] = from[i];
        dis__ranked *swap = from;
        from = to;
        to = swap;
    }
    if (from != x) memcpy(x, from, n * sizeof *x);
}

size_t dis__tie_length(const dis__ranked *sorted, size_t n)
{
    size_t length = 1;
    while (length < n && sorted[length].value == sorted[0].value) length++;
    return length;
}

dis_status dis__ranks(const double *x, size_t n, double *rank, double *ties)
{
    dis__ranked *sorted;
    DIS_TRY(dis__alloc_array(&sorted, dis__size(n, 2, 0), sizeof *sorted));
    for (size_t i = 0; i < n; i++) sorted[i] = (dis__ranked){.value = x[i], .index = i};
    dis__sort_ranked(sorted, sorted + n, n);
    double sum = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = dis__tie_length(sorted + i, n - i);
        const double t = (double)length, mean = (double)i + (t + 1) / 2;
        for (size_t j = i; j < i + length; j++) rank[sorted[j].index] = mean;
        sum += t * t * t - t;
    }
    dis__free(sorted);
    if (ties) *ties = sum;
    return DIS_OK;
}
