/* Random numbers: the published vectors of Philox 4x32-10, vectors of an independent restatement, and what the derived
 * numbers promise. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <cmocka.h>
#include "core/random/random.h"

typedef struct {
    uint64_t low, high, key;
    uint32_t word[4];
} vector;

/* The first three are those of Random123's kat_vectors; the rest come from ten lines of Python written from the paper.
 * They move one word at a time, so that a word in the wrong position shows. */
static const vector vectors[] = {
    {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    {1, 0, 0, {0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67}},
    {1ull << 32, 0, 0, {0x6ad0c5ec, 0xea236249, 0x73a459f5, 0x074944b3}},
    {0, 1, 0, {0x844515e1, 0xf08d6eaa, 0x0f19c053, 0x83f875f0}},
    {0, 1ull << 32, 0, {0x2dce73e5, 0x1348e23f, 0xfcf8e0ec, 0xa287aadb}},
    {0, 0, 1, {0xe3e80670, 0xe50a0ebc, 0x95f222c0, 0xb615aa27}},
    {0, 0, 1ull << 32, {0xfdde3e0b, 0xfa7e58b6, 0x3380ec46, 0xd8d55c4f}},
    {7, 3, 42, {0x659ef2d0, 0xb60225b4, 0x14334a91, 0x99097b19}},
};

static void known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const vector *v = &vectors[i];
        const dis_random_block b = dis__philox(v->low, v->high, v->key);
        for (int w = 0; w < 4; w++) assert_int_equal(b.word[w], v->word[w]);
    }
    /* seed is the key, stream the high and index the low half of the counter */
    assert_true(dis__random(42, 3, 7) == 0xb60225b4659ef2d0);
    assert_true(dis__random_uniform(42, 3, 7) == (double)(0xb60225b4659ef2d0 >> 11) / 9007199254740992.0);
}

/* Mean and variance of n draws must lie within 5 standard errors: these draws are fixed, so this never flickers. */
static void moments(double (*draw)(uint64_t), double mean, double variance, double fourth)
{
    enum { N = 200000 };
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < N; i++) {
        const double x = draw(i) - mean;
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / N) < 5 * sqrt(variance / N));
    assert_true(fabs(squares / N - variance) < 5 * sqrt((fourth - variance * variance) / N));
}

static double uniform(uint64_t i)
{
    const double x = dis__random_uniform(1, DIS_STREAM_TIES, i);
    assert_true(x >= 0 && x < 1);
    return x;
}

static double other_seed(uint64_t i)
{
    return dis__random_uniform(i, DIS_STREAM_TIES, 0);
}

static double other_stream(uint64_t i)
{
    return dis__random_uniform(0, DIS_STREAM_TIES | i << 32, 0);
}

static double normal(uint64_t i)
{
    const double x = dis__random_normal(1, DIS_STREAM_TIES, i);
    assert_true(isfinite(x));
    return x;
}

static double below_7(uint64_t i)
{
    const uint64_t x = dis__random_below(1, DIS_STREAM_TIES, i, 7);
    assert_true(x < 7);
    return (double)x;
}

static void distributions(void **state)
{
    (void)state;
    moments(uniform, .5, 1. / 12, 1. / 80);
    moments(other_seed, .5, 1. / 12, 1. / 80); /* neighbouring seeds and streams are as good as neighbouring indices */
    moments(other_stream, .5, 1. / 12, 1. / 80);
    moments(normal, 0, 1, 3);
    moments(below_7, 3, 4, 28);
}

static void edges(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(dis__random_below(9, 1, i, 1) == 0);
        assert_true(dis__random_below(9, 1, i, UINT64_MAX) < UINT64_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(distributions),
                                       cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
