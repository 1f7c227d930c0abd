/* load_weights.h: parameters of a network from arrays of other names, as pretrained models have them.
 *
 *     const dis__fill_row rows[] = {
 *         {"bert.embeddings.word_embeddings.weight", "words.weight"},
 *         {"bert.encoder.layer.0.attention.self.query.weight", "layer.0.qkv.weight", 0, 384},   // rows 0 .. 383 of it
 *         {"bert.encoder.layer.0.attention.self.key.weight", "layer.0.qkv.weight", 384, 384},
 *     };
 *     const dis__fill fill = {.file = files, .path = paths, .n_files = 1, .rows = rows, .n_rows = 3, .fresh = "out."};
 *     DIS_TRY(dis__net_fill(net, &fill));
 *
 * Arrays are F64, F32, F16 or BF16. DIS_EDATA, before anything is changed: an array that is missing, of another
 * shape or type, or not finite; a parameter that no row (or not all of it) fills; an array that no row takes. Each
 * is named. */
#ifndef DIS_NN_LOAD_WEIGHTS_H
#define DIS_NN_LOAD_WEIGHTS_H
#include "io/tensors/safetensors.h"
#include "nn/net.h"

/* An array, and the rows [first, first + n) of a parameter that it fills; n 0: the whole parameter. The array has the
 * parameter's further dimensions. */
typedef struct {
    const char *array, *param;
    size_t first, n;
} dis__fill_row;

typedef struct {
    const dis__safetensors *file; /* (n_files): a model may come in several */
    const char *const *path;      /* (n_files), for messages */
    size_t n_files;
    const dis__fill_row *rows;
    size_t n_rows;
    const char *fresh;          /* parameters whose names begin with this need no array; NULL: all need one */
    const char *only;           /* those whose names do not begin with this need none; NULL: all need one */
    const char *const *ignored; /* arrays whose names contain one of these need no row; NULL at the end; NULL: none */
    const char *by;             /* source of the required shapes, for messages; NULL: the parameter's name */
    bool lasting;               /* the files outlive the network: one that only predicts may use their memory */
} dis__fill;

dis_status dis__net_fill(dis__net *net, const dis__fill *fill);

bool dis__all_finite(const float *x, size_t n);

#endif
