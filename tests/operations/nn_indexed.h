/* nn_indexed.h: a network whose batches are put as numbers or taken by index, of images with labels and of packed
 * tokens with soft targets: the same batches either way. */
#ifndef DIS_OPERATIONS_NN_INDEXED_H
#define DIS_OPERATIONS_NN_INDEXED_H
#include "nn_support.h"
#include "core/random/random.h"

enum {
    ITEMS = 9,
    EVEN = 8,
    ODD = 3,
    HIGH = 3,
    WIDE = 4,
    DEEP = 2,
    PIXELS = HIGH * WIDE * DEEP,
    IDS = 40,
    CLASSES = 3,
    MOST = 6
};

/* Images and rows of whole vectors and of odd width with labels, and packed tokens with soft targets. */
typedef struct {
    dis__net *net;
    int rows, tokens, images, even, odd, ids, label_head, soft_head;
    float image[ITEMS * PIXELS], even_values[ITEMS * EVEN], part[ITEMS * ODD], target[IDS * CLASSES], weight[IDS];
    int32_t id[IDS], label[ITEMS];
} indexed;

static inline void make_indexed(indexed *s, const dis__device *device)
{
    *s = (indexed){0};
    assert_int_equal(dis__net_create(device, 3, &s->net), DIS_OK);
    s->rows = dis__net_axis(s->net, MOST);
    s->tokens = dis__net_axis_packed(s->net, IDS);
    s->images = dis__net_reals(s->net, "images", (dis__shape){s->rows, DIS_NONE, HIGH, WIDE, DEEP});
    s->even = dis__net_reals(s->net, "even", dis__shape_rows(s->rows, EVEN));
    s->odd = dis__net_reals(s->net, "odd", dis__shape_rows(s->rows, ODD));
    s->ids = dis__net_ints(s->net, "ids", s->tokens, DIS_NONE, 1);
    const int flat = dis__layer_reshape(s->net, s->images, 1, 1, PIXELS);
    const int row = dis__layer_concat(s->net, (int[]){flat, s->even, s->odd}, 3);
    s->label_head = dis__head_soft(s->net, "labels", dis__layer_linear(s->net, "a", row, CLASSES, DIS_ACT_NONE), NULL);
    const int word = dis__layer_embed(s->net, "words", s->ids, 7, 4);
    s->soft_head = dis__head_soft(s->net, "soft", dis__layer_linear(s->net, "b", word, CLASSES, DIS_ACT_NONE), NULL);
    if (dis__net_plan(s->net, NULL, NULL) != DIS_OK) fail_msg("%s", dis_last_error());
    for (size_t i = 0; i < ITEMS * PIXELS; i++) s->image[i] = (float)nn_random(1, i);
    for (size_t i = 0; i < ITEMS * EVEN; i++) s->even_values[i] = (float)nn_random(2, i);
    for (size_t i = 0; i < ITEMS * ODD; i++) s->part[i] = (float)nn_random(3, i);
    for (size_t i = 0; i < ITEMS; i++) s->label[i] = (int32_t)dis__random_below(1, 2, i, CLASSES + 1) - 1;
    for (size_t i = 0; i < IDS; i++) {
        s->id[i] = (int32_t)dis__random_below(1, 3, i, 8) - 1;
        s->weight[i] = (float)(i % 3) / 2;
        for (size_t k = 0; k < CLASSES; k++) s->target[i * CLASSES + k] = k == i % CLASSES ? .5f : .25f;
    }
}

/* Whether the images of batch b are moved; others are taken as rows. */
static inline bool is_moved(size_t b)
{
    return b % 4 != 3;
}

/* Batch b: which images, how they are moved, and two spans of tokens. */
static inline size_t rows_of(size_t b, int32_t row[MOST][4], int32_t span[3][4])
{
    const size_t n = 1 + b % MOST;
    for (size_t i = 0; i < n; i++) {
        const int32_t move[4] = {(int32_t)((b * 5 + i * 2) % ITEMS), (int32_t)(i % 3) - 1, (int32_t)(b % 5) - 2,
                                 (i + b) % 2};
        memset(row[i], 0, sizeof row[i]);
        memcpy(row[i], move, is_moved(b) ? sizeof move : sizeof *move);
    }
    span[0][0] = (int32_t)(b % 20), span[0][1] = 0, span[0][2] = span[0][3] = 3 + (int32_t)b % 4;
    span[1][0] = 20, span[1][1] = span[0][2], span[1][2] = span[1][3] = 2;
    return n;
}

static inline void put_batch(indexed *s, size_t b)
{
    int32_t row[MOST][4], span[3][4], label[MOST], id[IDS];
    float image[MOST * PIXELS] = {0}, even_values[MOST * EVEN], part[MOST * ODD], target[IDS * CLASSES], weight[IDS];
    const size_t n = rows_of(b, row, span), n_tokens = (size_t)span[1][1] + 2;
    for (size_t i = 0; i < n; i++) {
        label[i] = s->label[row[i][0]];
        memcpy(even_values + i * EVEN, s->even_values + row[i][0] * EVEN, EVEN * sizeof *even_values);
        memcpy(part + i * ODD, s->part + row[i][0] * ODD, ODD * sizeof *part);
        for (int e = 0; e < PIXELS; e++) {
            const int x = e / DEEP % WIDE, fy = e / DEEP / WIDE + row[i][1],
                      fx = (row[i][3] ? WIDE - 1 - x : x) + row[i][2];
            if (fy >= 0 && fy < HIGH && fx >= 0 && fx < WIDE)
                image[i * PIXELS + (size_t)e] = s->image[row[i][0] * PIXELS + (fy * WIDE + fx) * DEEP + e % DEEP];
        }
    }
    for (size_t j = 0; j < n_tokens; j++) {
        const size_t from = (size_t)(j < (size_t)span[1][1] ? span[0][0] + (int32_t)j : 20 + (int32_t)j - span[1][1]);
        id[j] = s->id[from];
        weight[j] = s->weight[from];
        memcpy(target + j * CLASSES, s->target + from * CLASSES, CLASSES * sizeof *target);
    }
    dis__net_resize(s->net, s->rows, n);
    dis__net_resize(s->net, s->tokens, n_tokens);
    assert_int_equal(dis__net_put(s->net, s->images, image), DIS_OK);
    assert_int_equal(dis__net_put(s->net, s->even, even_values), DIS_OK);
    assert_int_equal(dis__net_put(s->net, s->odd, part), DIS_OK);
    assert_int_equal(dis__net_put_ints(s->net, s->ids, id), DIS_OK);
    assert_int_equal(dis__head_put_labels(s->net, s->label_head, label), DIS_OK);
    assert_int_equal(dis__head_put_targets(s->net, s->soft_head, target, weight), DIS_OK);
}

static inline void upload_batch(indexed *s, size_t b)
{
    int32_t row[MOST][4], span[3][4], item[IDS];
    const size_t n = rows_of(b, row, span), n_tokens = (size_t)span[1][1] + 2;
    const void *image, *even_values, *part, *id, *label, *target, *weight;
    double labels = 0, weights = 0;
    dis__net_resize(s->net, s->rows, n);
    dis__net_resize(s->net, s->tokens, n_tokens);
    assert_int_equal(dis__net_upload_reals(s->net, DIS_ROLE_VALUE, s->image, s->image, ITEMS * PIXELS, &image), DIS_OK);
    assert_int_equal(dis__net_upload_reals(s->net, DIS_ROLE_VALUE, s->even_values, s->even_values, ITEMS * EVEN,
                                           &even_values),
                     DIS_OK);
    assert_int_equal(dis__net_upload_reals(s->net, DIS_ROLE_VALUE, s->part, s->part, ITEMS * ODD, &part), DIS_OK);
    assert_int_equal(dis__net_upload_ints(s->net, s->id, s->id, IDS, &id), DIS_OK);
    assert_int_equal(dis__net_upload_ints(s->net, s->label, s->label, ITEMS, &label), DIS_OK);
    assert_int_equal(dis__net_upload_reals(s->net, DIS_ROLE_STAT, s->target, s->target, IDS * CLASSES, &target),
                     DIS_OK);
    assert_int_equal(dis__net_upload_reals(s->net, DIS_ROLE_STAT, s->weight, s->weight, IDS, &weight), DIS_OK);
    assert_true(image && even_values && part && id && label && target && weight);
    span[2][0] = span[2][2] = 0;
    span[2][1] = (int32_t)n_tokens;
    span[2][3] = (int32_t)(dis__net_filled(s->net, s->ids) - n_tokens);
    assert_int_equal(dis__net_gather_ints(s->net, s->ids, id, (const int32_t(*)[4])span, 3), DIS_OK);
    for (size_t i = 0; i < n; i++) {
        item[i] = row[i][0];
        labels += s->label[item[i]] >= 0;
    }
    assert_int_equal(dis__net_gather_reals(s->net, s->images, image, is_moved(b) ? row[0] : item, is_moved(b)), DIS_OK);
    assert_int_equal(dis__net_gather_reals(s->net, s->even, even_values, item, false), DIS_OK);
    assert_int_equal(dis__net_gather_reals(s->net, s->odd, part, item, false), DIS_OK);
    assert_int_equal(dis__head_gather_labels(s->net, s->label_head, label, item, labels), DIS_OK);
    for (size_t j = 0; j < n_tokens; j++) {
        item[j] = j < (size_t)span[1][1] ? span[0][0] + (int32_t)j : 20 + (int32_t)j - span[1][1];
        weights += (double)s->weight[item[j]];
    }
    assert_int_equal(dis__head_gather_targets(s->net, s->soft_head, target, weight, item, weights), DIS_OK);
}

#endif
