/* Ranks by a radix sort of the bits of the values, 11 bits per pass from the lowest. Passes in which all values have
 * equal bits are skipped, so short or coarse values take two or three. Stable, O(n), no comparisons; below a few
 * hundred values an insertion sort is faster. */
#include "stats/ranks.h"
#include "core/memory/memory.h"
#include <string.h>

enum { DIGIT = 11, BUCKETS = 1 << DIGIT, PASSES = (64 + DIGIT - 1) / DIGIT, FEW = 200 };

/* Bits that order as the values do: all bits of negative values inverted, the sign bit of the others set. */
static inline uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static void insertion(dis__indexed_value *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const dis__indexed_value one = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1].value > one.value; j--) x[j] = x[j - 1];
        x[j] = one;
    }
}

void dis__sort_indexed(dis__indexed_value *x, dis__indexed_value *spare, size_t n)
{
    if (n <= FEW) {
        insertion(x, n);
        return;
    }
    dis__indexed_value *from = x, *to = spare;
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
        dis__indexed_value *swap = from;
        from = to;
        to = swap;
    }
    if (from != x) memcpy(x, from, n * sizeof *x);
}

size_t dis__tie_length(const dis__indexed_value *sorted, size_t n)
{
    size_t length = 1;
    while (length < n && sorted[length].value == sorted[0].value) length++;
    return length;
}

/* ---- ranks of many values ----
 *
 * Half of the time above is spent on moving memory. Here a value and its index share one word: the upper 32 bits hold
 * the value's relative position between minimum and maximum. Three passes sort these words; the few values with equal
 * upper bits are then adjacent, and are sorted by comparison. */

enum { PACKED_PASSES = 3 };

static bool packed_below(const double *x, uint64_t a, uint64_t b)
{
    return x[(uint32_t)a] < x[(uint32_t)b];
}

/* Heap sort by value: O(n log n) for any run. */
static void sort_run(const double *x, uint64_t *run, size_t n)
{
    for (size_t built = n / 2, left = n; left > 1;) {
        uint64_t one;
        if (built > 0)
            one = run[--built];
        else {
            one = run[--left];
            run[left] = run[0];
        }
        size_t at = built;
        for (size_t child; (child = 2 * at + 1) < left; at = child) {
            if (child + 1 < left && packed_below(x, run[child], run[child + 1])) child++;
            if (!packed_below(x, one, run[child])) break;
            run[at] = run[child];
        }
        run[at] = one;
    }
}

static void sort_packed(uint64_t **words, uint64_t **spare, size_t n)
{
    size_t place[PACKED_PASSES][BUCKETS] = {{0}};
    for (size_t i = 0; i < n; i++)
        for (int pass = 0; pass < PACKED_PASSES; pass++)
            place[pass][(*words)[i] >> (32 + pass * DIGIT) & (BUCKETS - 1)]++;
    for (int pass = 0; pass < PACKED_PASSES; pass++) {
        const int shift = 32 + pass * DIGIT;
        size_t *p = place[pass], sum = 0;
        if (p[(*words)[0] >> shift & (BUCKETS - 1)] == n) continue;
        for (size_t b = 0; b < BUCKETS; b++) {
            const size_t count = p[b];
            p[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) (*spare)[p[(*words)[i] >> shift & (BUCKETS - 1)]++] = (*words)[i];
        uint64_t *swap = *words;
        *words = *spare;
        *spare = swap;
    }
}

static bool all_same(const double *x, const uint64_t *run, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[(uint32_t)run[i]] != x[(uint32_t)run[0]]) return false;
    return true;
}

static dis_status ranks_of_many(const double *x, size_t n, double *rank, double *ties)
{
    uint64_t *words, min = UINT64_MAX, max = 0;
    DIS_TRY(dis__alloc_array(&words, dis__saturating_size(n, 2, 0), sizeof *words));
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = key_of(x[i]);
        min = key < min ? key : min;
        max = key > max ? key : max;
    }
    int shift = 0;
    while ((max - min) >> shift > UINT32_MAX) shift++;
    for (size_t i = 0; i < n; i++) words[i] = (key_of(x[i]) - min) >> shift << 32 | i;
    uint64_t *sorted = words, *spare = words + n;
    sort_packed(&sorted, &spare, n);
    double sum = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end] >> 32 == sorted[i] >> 32;) end++;
        if (end - i > 1 && !all_same(x, sorted + i, end - i)) sort_run(x, sorted + i, end - i);
        for (size_t j = i, stop; j < end; j = stop) {
            for (stop = j + 1; stop < end && x[(uint32_t)sorted[stop]] == x[(uint32_t)sorted[j]];) stop++;
            const double t = (double)(stop - j), mean = (double)j + (t + 1) / 2;
            for (size_t k = j; k < stop; k++) rank[(uint32_t)sorted[k]] = mean;
            sum += t * t * t - t;
        }
    }
    dis__free(words);
    if (ties) *ties = sum;
    return DIS_OK;
}

dis_status dis__ranks(const double *x, size_t n, double *rank, double *ties)
{
    if (n > FEW && n <= UINT32_MAX) return ranks_of_many(x, n, rank, ties);
    dis__indexed_value *sorted;
    DIS_TRY(dis__alloc_array(&sorted, dis__saturating_size(n, 2, 0), sizeof *sorted));
    for (size_t i = 0; i < n; i++) sorted[i] = (dis__indexed_value){.value = x[i], .index = i};
    dis__sort_indexed(sorted, sorted + n, n);
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
