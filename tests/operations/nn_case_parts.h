/* nn_case_parts.h: what the cases of nn_cases.h are put together from. Below each layer stands a linear one or a
 * table, so that the gradient of its input is seen in a parameter. */
#ifndef DIS_OPERATIONS_NN_CASE_PARTS_H
#define DIS_OPERATIONS_NN_CASE_PARTS_H
#include "nn_support.h"
#include "nn/models/network_models.h"

enum { NN_MANY_TOKENS = 700, NN_MANY_ROWS = 4200, NN_MANY_IMAGES = 7700 };

static int below(nn_net *f, size_t channels)
{
    const int x = nn_reals(f, dis__shape_rows(f->rows, 7));
    return dis__layer_linear(f->net, "below", x, channels, DIS_ACT_NONE);
}

/* (rows, time, channels) */
static int sequence(nn_net *f, size_t channels)
{
    const int ids = nn_ints_input(f, f->rows, f->time, 1, -1, 8);
    return dis__layer_embed(f->net, "words", ids, 9, channels);
}

static int lengths(nn_net *f)
{
    return nn_ints_input(f, f->rows, DIS_NONE, 1, 0, DIS_NONE);
}

static void above(nn_net *f, int x)
{
    nn_soft(f, "head", dis__layer_linear(f->net, "above", x, 4, DIS_ACT_NONE), NULL);
}

#endif
