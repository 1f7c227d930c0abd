/* The layouts of recurrent layers, for rows of every kind: each position of a row has the node that its ids make, nodes
 * are reached from those before, and rows of a block share them exactly where they are the same up to there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/random/random.h"
#include "nn/layers/recurrent_layout.h"

typedef struct {
    dis__recurrent_rows rows;
    size_t direction;
    dis__recurrent_layout layout;
    int32_t *length, *ids, *memory;
} sample;

static uint32_t draw(uint64_t stream, uint64_t i, uint32_t below)
{
    return dis__philox(i, stream, 5).word[0] % below;
}

/* letters 0: over values. */
static sample make(size_t n_rows, size_t n_times, uint32_t letters, bool lengths, size_t direction)
{
    sample s = {.direction = direction};
    s.length = calloc(n_rows + 1, sizeof *s.length);
    s.ids = calloc(n_rows * n_times + 1, sizeof *s.ids);
    for (size_t i = 0; i < n_rows; i++) s.length[i] = (int32_t)draw(1, i, (uint32_t)n_times + 2);
    for (size_t i = 0; i < n_rows * n_times; i++) s.ids[i] = (int32_t)draw(2, i, letters ? letters : 1) - 1;
    s.rows = (dis__recurrent_rows){n_rows, n_times, lengths ? s.length : NULL, letters ? s.ids : NULL};
    const size_t size = dis__recurrent_layout_size(n_rows, n_times);
    s.memory = malloc((size + 1) * sizeof *s.memory);
    s.memory[size] = 4711;
    dis__recurrent_lay_out(&s.rows, direction, s.memory, &s.layout);
    assert_int_equal(s.memory[size], 4711);
    return s;
}

static void clear(sample *s)
{
    free(s->length);
    free(s->ids);
    free(s->memory);
}

static size_t length_of(const sample *s, size_t row)
{
    const size_t n = s->rows.n_times;
    return s->rows.length && (size_t)s->rows.length[row] < n ? (size_t)s->rows.length[row] : n;
}

/* The time that is k steps from where the direction begins in a row. */
static size_t time_at(const sample *s, size_t row, size_t k)
{
    return s->direction ? length_of(s, row) - 1 - k : k;
}

static int32_t node_at(const sample *s, size_t row, size_t k)
{
    return s->layout.node[row * s->rows.n_times + time_at(s, row, k)];
}

/* Every node is in one step, follows one of the step before if it is among those that do, and is somebody's. */
static void check_steps(const sample *s)
{
    const dis__recurrent_layout *l = &s->layout;
    const size_t blocks = (s->rows.n_rows + DIS_RECURRENT_BLOCK - 1) / DIS_RECURRENT_BLOCK;
    char *seen = calloc(l->n_nodes + 1, 1);
    size_t n = 0;
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < s->rows.n_times; k++) {
            const dis__recurrent_step *step = &l->steps[b * s->rows.n_times + k];
            assert_true(step->count <= DIS_RECURRENT_BLOCK && step->n_parents <= step->count &&
                        (k || step->n_parents == 0));
            for (int32_t i = 0; i < step->count; i++) {
                const int32_t node = step->begin + i;
                assert_true(node >= 0 && (size_t)node < l->n_nodes && !seen[node]++);
                n++;
                if (i >= step->n_parents) continue;
                const int32_t before = l->parent[node] - step[-1].begin;
                assert_true(before >= 0 && before < step[-1].count);
            }
        }
    assert_true(n == l->n_nodes);
    for (size_t i = 0; i < s->rows.n_rows * s->rows.n_times; i++)
        if (l->node[i] >= 0) seen[l->node[i]] = 2;
    for (size_t i = 0; i < n; i++) assert_int_equal(seen[i], 2);
    free(seen);
}

/* The nodes of each row are a path through its ids, and the rows of a block lie together. */
static void check_rows(const sample *s)
{
    const dis__recurrent_layout *l = &s->layout;
    char *seen = calloc(s->rows.n_rows + 1, 1);
    for (size_t i = 0; i < s->rows.n_rows; i++) {
        const size_t row = (size_t)l->order[i], length = length_of(s, row), block = i / DIS_RECURRENT_BLOCK;
        assert_true(row < s->rows.n_rows && !seen[row]++);
        assert_true((size_t)l->length[row] == length);
        for (size_t t = length; t < s->rows.n_times; t++) assert_int_equal(l->node[row * s->rows.n_times + t], -1);
        for (size_t k = 0; k < length; k++) {
            const size_t place = row * s->rows.n_times + time_at(s, row, k);
            const int32_t node = node_at(s, row, k);
            assert_int_equal(l->from[node], s->rows.ids ? s->rows.ids[place] : (int32_t)place);
            const size_t end = l->by_end ? length : s->rows.n_times;
            const size_t step = s->direction ? end - 1 - time_at(s, row, k) : k;
            const dis__recurrent_step *at = &l->steps[block * s->rows.n_times + step];
            assert_true(node >= at->begin && node < at->begin + at->count);
            assert_true((node < at->begin + at->n_parents) == (k > 0));
            if (k) assert_int_equal(l->parent[node], node_at(s, row, k - 1));
        }
    }
    free(seen);
}

/* Whether the rows share nodes where they are alike, or nowhere. */
static bool check_sharing(const sample *s)
{
    size_t positions = 0;
    for (size_t i = 0; i < s->rows.n_rows; i++) positions += length_of(s, i);
    const bool trees = s->layout.n_nodes < positions;
    for (size_t i = 0; i < s->rows.n_rows; i++)
        for (size_t j = i / DIS_RECURRENT_BLOCK * DIS_RECURRENT_BLOCK; j < i; j++) {
            const size_t x = (size_t)s->layout.order[i], y = (size_t)s->layout.order[j];
            bool alike = trees;
            for (size_t k = 0; k < length_of(s, x) && k < length_of(s, y); k++) {
                alike = alike && s->ids[x * s->rows.n_times + time_at(s, x, k)] ==
                                     s->ids[y * s->rows.n_times + time_at(s, y, k)];
                assert_true((node_at(s, x, k) == node_at(s, y, k)) == alike);
            }
        }
    return trees;
}

static void layouts(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{0, 3}, {1, 1}, {1, 7}, {2, 5}, {63, 4}, {64, 9}, {65, 9}, {200, 12}, {300, 3}};
    static const uint32_t letters[] = {0, 1, 2, 3, 30, 100000};
    size_t with_trees = 0, without = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof letters / sizeof *letters; j++)
            for (size_t way = 0; way < 4; way++) {
                sample s = make(sizes[i][0], sizes[i][1], letters[j], way & 1, way / 2);
                check_steps(&s);
                check_rows(&s);
                const bool trees = check_sharing(&s);
                with_trees += trees;
                without += !trees;
                if (letters[j] == 0) assert_false(trees);
                if (letters[j] == 1 && sizes[i][0] > 2) assert_true(trees);
                if (letters[j] == 100000) assert_false(trees);
                clear(&s);
            }
    assert_true(with_trees > 20 && without > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
