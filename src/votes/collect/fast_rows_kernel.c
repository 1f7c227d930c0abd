/* Rows by columns: see fast_rows.h. With AVX-512 typical rows (task, worker, label; few labels) are processed eight at
 * a time: their texts are loaded one by one, because gathers are slower, everything else operates on eight rows, and a
 * bucket of the table is compared as one vector. Otherwise rows are processed one by one.
 *
 * Cost: see csv_votes.c. */
#include "votes/collect/fast_rows.h"
#if defined(DIS_ISA_avx512)
#include <immintrin.h>
#endif

/* The row code is compiled twice: for any window, and for the typical one, whose shape is a constant. */
static inline __attribute__((always_inline)) size_t add_rows_one_by_one(const dis__batch *b, const dis__window *w,
                                                                        size_t n, dis__fast_rows *t)
{
    const size_t n_columns = w->n_columns, last = n_columns - 1;
    uint16_t *label_out = b->row_label + b->n_rows;
    const uint32_t *row = w->list;
    uint64_t before = 0; /* no task is empty, so none has this word */
    size_t n_runs = 0, r = 0;
    for (; r < n; r++, row += n_columns) {
        uint32_t within = 0;
        for (size_t c = 0; c < last; c++) within |= row[c];
        size_t n_task, n_worker, n_label;
        const char *task = dis__window_field(w, row, w->column[DIS_COLUMN_TASK], &n_task);
        const char *worker = dis__window_field(w, row, w->column[DIS_COLUMN_WORKER], &n_worker);
        const char *label = dis__window_field(w, row, w->column[DIS_ID_COLUMNS], &n_label);
        if (((within | ~row[last]) & DIS_SCAN_LF) | ((n_task - 1) | (n_worker - 1)) / DIS_ID_INLINE |
            (n_label > DIS_ID_INLINE))
            break;
        const uint64_t word = dis__load64(label) & dis__low_bytes_mask[n_label];
        const dis__cached_label *found = &b->recent[dis__label_slot(word)];
        if (found->word != word || found->label.kind != DIS_LABEL_VOTE) break;
        label_out[r] = (uint16_t)found->label.index;
        const uint64_t task_word = dis__load64(task) & dis__low_bytes_mask[n_task],
                       worker_word = dis__load64(worker) & dis__low_bytes_mask[n_worker];
        if (!task_word | !worker_word) break; /* the text became zeros: another process truncated the file */
        t->task[n_runs] = task_word;
        t->first[n_runs] = (uint32_t)r;
        n_runs += task_word != before;
        before = task_word;
        t->worker[r] = worker_word;
    }
    t->n_runs = n_runs;
    return r;
}

static bool is_usual(const dis__window *w)
{
    return w->n_columns == 3 && !w->crlf && w->column[DIS_COLUMN_TASK] == 0 && w->column[DIS_COLUMN_WORKER] == 1 &&
           w->column[DIS_ID_COLUMNS] == 2;
}

#if defined(DIS_ISA_avx512)
enum { ROWS = 8, BLOCK = 256 };

/* Eight bytes of text; written so that compilers do not vectorize it as a gather, which is slower. */
static inline uint64_t load_alone(const char *text)
{
    uint64_t word = dis__load64(text);
    __asm__("" : "+r"(word));
    return word;
}

/* The words at the start of each field, field by field. */
static void fetch(const char *text, const uint32_t *list, size_t n, uint64_t word[3][BLOCK])
{
    for (size_t r = 0; r < n; r++, list += 3) {
        word[0][r] = load_alone(text + ((list[-1] + 1) & ~DIS_SCAN_LF));
        word[1][r] = load_alone(text + 1 + (list[0] & ~DIS_SCAN_LF));
        word[2][r] = load_alone(text + 1 + (list[1] & ~DIS_SCAN_LF));
    }
}

/* The first n[i] bytes of each word; n <= 8. */
static inline __m512i first_bytes(const uint64_t *word, __m256i n)
{
    const __m512i shift = _mm512_cvtepu32_epi64(_mm256_sub_epi32(_mm256_set1_epi32(64), _mm256_slli_epi32(n, 3)));
    return _mm512_and_si512(_mm512_loadu_si512(word), _mm512_srlv_epi64(_mm512_set1_epi64(-1), shift));
}

/* Every third entry of 24. */
static inline __m256i third(const uint32_t *list)
{
    const __m512i at = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i low = _mm512_loadu_si512(list),
                  high = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)(list + 16)));
    return _mm512_castsi512_si256(_mm512_permutex2var_epi32(low, at, high));
}

typedef struct {
    const dis__batch *b;
    dis__fast_rows *t;
    __m512i before; /* the last of its words is the task of the previous row */
    size_t n_runs;
} taking;

/* Eight rows from r on, whose words are loaded; returns the number of simple rows before the first one that is not. */
static inline size_t add_eight_rows(taking *k, const uint32_t *list, size_t r, uint64_t word[3][BLOCK], size_t at)
{
    const dis__first_labels *first_labels = &k->b->first_labels;
    const __m256i one = _mm256_set1_epi32(1), max = _mm256_set1_epi32(DIS_ID_INLINE),
                  offset = _mm256_set1_epi32((int)~DIS_SCAN_LF);
    const __m256i end0 = third(list), end1 = third(list + 1), end2 = third(list + 2);
    const __m256i begin = _mm256_and_si256(_mm256_add_epi32(third(list - 1), one), offset);
    const __m256i n_task = _mm256_sub_epi32(end0, begin),
                  n_worker = _mm256_sub_epi32(_mm256_sub_epi32(end1, end0), one);
    const __m256i n_label = _mm256_sub_epi32(_mm256_sub_epi32(_mm256_and_si256(end2, offset), end1), one);
    unsigned bad = (unsigned)_mm256_movepi32_mask(_mm256_or_si256(end0, end1)) |
                   ((unsigned)_mm256_movepi32_mask(end2) ^ 0xffu) |
                   (unsigned)_mm256_cmpge_epu32_mask(_mm256_sub_epi32(n_task, one), max) |
                   (unsigned)_mm256_cmpge_epu32_mask(_mm256_sub_epi32(n_worker, one), max) |
                   (unsigned)_mm256_cmpgt_epu32_mask(n_label, max);
    const __m512i label = first_bytes(word[2] + at, n_label);
    __m512i index = _mm512_setzero_si512();
    unsigned known = 0;
    for (size_t i = 0; i < first_labels->n; i++) {
        const __mmask8 same = _mm512_cmpeq_epi64_mask(label, _mm512_set1_epi64((long long)first_labels->word[i]));
        index = _mm512_mask_mov_epi64(index, same, _mm512_set1_epi64((long long)first_labels->index[i]));
        known |= same;
    }
    bad |= known ^ 0xffu;
    const __m512i task = first_bytes(word[0] + at, n_task), worker = first_bytes(word[1] + at, n_worker);
    /* zeros: another process truncated the file after the fields were found */
    bad |= _mm512_testn_epi64_mask(task, task) | (unsigned)_mm512_testn_epi64_mask(worker, worker);
    const size_t n = (size_t)__builtin_ctz(bad | 1u << ROWS);
    _mm_storeu_si128((void *)(k->b->row_label + k->b->n_rows + r), _mm512_cvtepi64_epi16(index));

    dis__fast_rows *t = k->t;
    _mm512_storeu_si512(t->worker + r, worker);
    const __mmask8 begins =
        (__mmask8)(_mm512_cmpneq_epi64_mask(task, _mm512_alignr_epi64(task, k->before, 7)) & ((1u << n) - 1));
    const __m256i row = _mm256_add_epi32(_mm256_set1_epi32((int)r), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm512_storeu_si512(t->task + k->n_runs, _mm512_maskz_compress_epi64(begins, task));
    _mm256_storeu_si256((void *)(t->first + k->n_runs), _mm256_maskz_compress_epi32(begins, row));
    k->n_runs += (size_t)__builtin_popcount(begins);
    k->before = task;
    return n;
}

static size_t add_usual_rows(const dis__batch *b, const dis__window *w, size_t n, dis__fast_rows *t)
{
    uint64_t word[3][BLOCK];
    taking k = {.b = b, .t = t, .before = _mm512_setzero_si512()};
    size_t r = 0;
    for (bool easy = true; easy && r < n;) {
        const size_t first = r, size = n - first < BLOCK ? n - first : BLOCK;
        fetch(w->text, w->list + 3 * first, size, word);
        for (size_t i = 0; i < size && easy; i += ROWS) {
            const size_t left = size - i < ROWS ? size - i : ROWS,
                         n_added = add_eight_rows(&k, w->list + 3 * r, r, word, i);
            easy = n_added >= left;
            r += easy ? left : n_added;
        }
    }
    /* rows after the last one may have looked like further ones */
    while (k.n_runs && t->first[k.n_runs - 1] >= r) k.n_runs--;
    t->n_runs = k.n_runs;
    return r;
}
#endif

size_t DIS_KERNEL(dis__fast_rows_read)(const dis__batch *b, const dis__window *w, size_t n, dis__fast_rows *t)
{
    size_t r;
    if (is_usual(w)) {
#if defined(DIS_ISA_avx512)
        if (!b->first_labels.more) {
            r = add_usual_rows(b, w, n, t);
        } else
#endif
        {
            const dis__window usual = {
                .text = w->text, .list = w->list, .n_columns = 3, .column = {0, 1, 2}, .crlf = false};
            r = add_rows_one_by_one(b, &usual, n, t);
        }
    } else {
        r = add_rows_one_by_one(b, w, n, t);
    }
    t->n_votes = r;
    t->is_long[DIS_COLUMN_TASK] = t->is_long[DIS_COLUMN_WORKER] = false;
    return r;
}

void DIS_KERNEL(dis__find_buckets)(const dis__ids *ids, const uint64_t *word, size_t n, uint32_t *first_slot)
{
    const dis__secret secret = ids->secret;
    const size_t n_buckets = ids->n_buckets;
#if defined(DIS_ISA_avx512)
    const __m512i add = _mm512_set1_epi64((long long)secret.word[0]),
                  factor = _mm512_set1_epi64((long long)secret.word[3]),
                  buckets = _mm512_set1_epi64((long long)n_buckets);
    for (size_t i = 0; i < n; i += ROWS) {
        const __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(word + i), add);
        __m512i h = _mm512_mul_epu32(sum, _mm512_srli_epi64(sum, 32));
        h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 32)), factor);
        const __m512i tag = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi64(h, 32), _mm512_set1_epi64(~3ll)),
                                            _mm512_set1_epi64(DIS_ID_SHORT));
        const __m512i bucket = _mm512_srli_epi64(_mm512_mul_epu32(tag, buckets), 32);
        _mm256_storeu_si256((void *)(first_slot + i), _mm512_cvtepi64_epi32(_mm512_slli_epi64(bucket, 2)));
    }
#else
    for (size_t i = 0; i < n; i++)
        first_slot[i] = (uint32_t)(DIS_BUCKET * dis__hash_slot(dis__id_tag(&secret, word[i]), n_buckets));
#endif
}

/* A bucket is read as one vector, each element of which is read atomically; race checkers cannot know that. */
#if defined(DIS_ISA_avx512) && !defined(__SANITIZE_THREAD__)
#define BUCKET_AS_VECTOR
#endif

#ifndef BUCKET_AS_VECTOR
static inline bool has_word(const dis__id_slot *slot, uint64_t word)
{
    return atomic_load_explicit(&slot->word, memory_order_relaxed) == word;
}

/* The slot of a bucket with that word, or its first: branchless, since any of the four is equally likely. */
static inline const dis__id_slot *in_bucket(const dis__id_slot *bucket, uint64_t word)
{
    const dis__id_slot *at = has_word(&bucket[1], word) ? &bucket[1] : bucket;
    at = has_word(&bucket[2], word) ? &bucket[2] : at;
    return has_word(&bucket[3], word) ? &bucket[3] : at;
}
#endif

/* Misses are appended to a list without a branch, which would often be mispredicted. */
size_t DIS_KERNEL(dis__find_in_buckets)(const dis__ids *ids, const uint64_t *word, const uint32_t *first_slot, size_t n,
                                        uint32_t *out, uint32_t *missed, dis__bucket_prefetch prefetch)
{
    enum { STEP = 8 };
    const dis__id_slot *slot = ids->slot;
    const uint64_t sure = ids->in_order ? UINT32_MAX : ids->n; /* lower indices are final */
    const size_t at_once = prefetch.n / (n / STEP + 1) + 1;
    size_t n_missed = 0, n_prefetched = 0;
    for (size_t i = 0; i < n;) {
        const size_t stop = prefetch.n - n_prefetched < at_once ? prefetch.n : n_prefetched + at_once;
        for (; n_prefetched < stop; n_prefetched++)
            __builtin_prefetch(&prefetch.ids->slot[prefetch.first_slot[n_prefetched]]);
        for (const size_t end = n - i < STEP ? n : i + STEP; i < end; i++) {
            const dis__id_slot *bucket = &slot[first_slot[i]];
#ifdef BUCKET_AS_VECTOR
            const __m512i line = _mm512_load_si512((const void *)bucket);
            const unsigned same = _mm512_cmpeq_epi64_mask(line, _mm512_set1_epi64((long long)word[i])) & 0x55u;
            const dis__id_slot *at = (const void *)((const char *)bucket + 8 * __builtin_ctz(same | 0x40));
            const bool matches = same != 0;
#else
            const dis__id_slot *at = in_bucket(bucket, word[i]);
            const bool matches = has_word(at, word[i]);
#endif
            const uint64_t meta = atomic_load_explicit(&at->meta, memory_order_acquire);
            out[i] = (uint32_t)meta - 1;
            missed[n_missed] = (uint32_t)i;
            n_missed += !(matches & ((meta & (DIS_SLOT_IS_LONG | UINT32_MAX)) - 1 < sure));
        }
    }
    return n_missed;
}
