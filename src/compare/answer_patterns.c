/* Patterns of answers: items with the same gold label and the same prediction of every seed share a pattern.
 *
 * One pass for each array of labels: an item's pattern so far and its next label form the key of a hash table, which
 * renumbers the patterns in order of first appearance. O(items x seeds). The keys are small internal integers, so a
 * fixed hash suffices. */
#include "compare/compare_internal.h"
#include "core/memory/memory.h"

typedef struct {
    uint64_t *key;   /* (mask + 1), key + 1; 0: free */
    uint32_t *value; /* (mask + 1) */
    size_t mask;
} numbering;

static uint32_t number_of(numbering *t, uint64_t key, size_t *n)
{
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 20) & t->mask;
    while (t->key[at] && t->key[at] != key + 1) at = (at + 1) & t->mask;
    if (!t->key[at]) {
        t->key[at] = key + 1;
        t->value[at] = (uint32_t)(*n)++;
    }
    return t->value[at];
}

/* Refines the patterns by one more array of labels. Returns their number. */
static size_t refine(numbering *t, const dis_comparison_input *in, const int32_t *label, uint32_t *pattern)
{
    size_t n = 0, j = 0;
    for (size_t i = 0; i <= t->mask; i++) t->key[i] = 0;
    for (size_t i = 0; i < in->n_items; i++) {
        if (in->gold[i] < 0) continue;
        pattern[j] = number_of(t, (uint64_t)pattern[j] << 20 | (uint32_t)label[i], &n);
        j++;
    }
    return n;
}

/* Pooled seeds: all items with the first pair of seeds, followed by all with the second, and so on; a key holds the
 * three labels. */
static size_t pool(numbering *t, const dis_comparison_input *in, uint32_t *pattern)
{
    size_t n = 0, j = 0;
    for (size_t i = 0; i <= t->mask; i++) t->key[i] = 0;
    for (size_t s = 0; s < in->n_a; s++)
        for (size_t i = 0; i < in->n_items; i++)
            if (in->gold[i] >= 0) {
                const uint64_t key = (uint64_t)in->gold[i] << 40 | (uint64_t)in->a[s][i] << 20 | (uint64_t)in->b[s][i];
                pattern[j++] = number_of(t, key, &n);
            }
    return n;
}

static void number_all(const dis_comparison_input *in, bool pool_seeds, numbering *t, dis__answer_patterns *p)
{
    if (pool_seeds) {
        p->n_patterns = pool(t, in, p->pattern);
        return;
    }
    for (size_t i = 0; i < p->n; i++) p->pattern[i] = 0;
    p->n_patterns = refine(t, in, in->gold, p->pattern);
    for (size_t s = 0; s < in->n_a; s++) p->n_patterns = refine(t, in, in->a[s], p->pattern);
    for (size_t s = 0; s < in->n_b; s++) p->n_patterns = refine(t, in, in->b[s], p->pattern);
}

/* Counts, and the labels that the items of each pattern share. */
static void describe(const dis_comparison_input *in, bool pool_seeds, dis__answer_patterns *p)
{
    for (size_t j = 0, s = 0; j < p->n; s++)
        for (size_t i = 0; i < in->n_items; i++) {
            if (in->gold[i] < 0) continue;
            const size_t c = p->pattern[j++];
            if (p->count[c]++) continue;
            uint32_t *answer = p->answer + c * p->n_series;
            p->gold[c] = (uint32_t)in->gold[i];
            for (size_t a = 0; a < p->n_a; a++) answer[a] = (uint32_t)in->a[pool_seeds ? s : a][i];
            for (size_t b = 0; b < p->n_series - p->n_a; b++)
                answer[p->n_a + b] = (uint32_t)in->b[pool_seeds ? s : b][i];
        }
}

/* At most the number of answers, and of possible answers. */
static size_t max_patterns(const dis__answer_patterns *p)
{
    size_t ways = 1;
    for (size_t s = 0; s <= p->n_series && ways < p->n; s++) ways = dis__saturating_size(ways, p->n_classes, 0);
    return ways < p->n ? ways : p->n;
}

dis_status dis__answer_patterns_init(const dis_comparison_input *in, bool pool_seeds, dis__answer_patterns *out)
{
    *out = (dis__answer_patterns){.n_classes = in->n_classes,
                                  .n_a = pool_seeds ? 1 : in->n_a,
                                  .n_series = pool_seeds ? 2 : in->n_a + in->n_b};
    size_t known = 0;
    for (size_t i = 0; i < in->n_items; i++) known += in->gold[i] >= 0;
    out->n = dis__saturating_size(known, pool_seeds ? in->n_a : 1, 0);
    if (out->n > UINT32_MAX)
        return dis__fail(DIS_ELIMIT, "%zu answers per side; at most %u can be compared", out->n, UINT32_MAX);
    numbering t = {.mask = 1};
    const size_t max = max_patterns(out);
    while (t.mask < max + max / 2) t.mask = t.mask * 2 + 1;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&out->pattern, out->n, sizeof *out->pattern), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&t.key, t.mask + 1, sizeof *t.key), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&t.value, t.mask + 1, sizeof *t.value), end);
    number_all(in, pool_seeds, &t, out);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&out->count, out->n_patterns, sizeof *out->count), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&out->gold, out->n_patterns, sizeof *out->gold), end);
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&out->answer, dis__saturating_size(out->n_patterns, out->n_series, 0),
                                  sizeof *out->answer),
                 end);
    describe(in, pool_seeds, out);
end:
    dis__free(t.key);
    dis__free(t.value);
    return status;
}

void dis__answer_patterns_free(dis__answer_patterns *p)
{
    dis__free(p->count);
    dis__free(p->gold);
    dis__free(p->answer);
    dis__free(p->pattern);
}
