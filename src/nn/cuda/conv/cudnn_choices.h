/* cudnn_choices.h: engines of cuDNN and their settings for shapes whose first heuristic choice is slower than another
 * one by 3 % or more, determined by running all choices once, on an H200 with cuDNN 9.19, for ResNet-34 with batches of
 * 128 and 512 images of 32 x 32. A fixed list, so that every run uses the same engines; a version without an entry uses
 * its heuristics. */
#ifndef DIS_NN_CUDA_CONV_CUDNN_CHOICES_H
#define DIS_NN_CUDA_CONV_CUDNN_CHOICES_H
#include "nn/cuda/conv/cudnn_conv.h"

enum { DIS_CUDNN_KNOBS = 6 };

typedef struct {
    dis__cudnn_kind kind;
    int height, channels, out, kernel, stride; /* images as wide as high, padded by half of the kernel */
    int min_images, max_images;                /* images */
    int engine, n_knobs;
    struct {
        int type, value;
    } knob[DIS_CUDNN_KNOBS];
} dis__cudnn_choice;

static const dis__cudnn_choice dis__cudnn_choices[] = {
    {DIS_CUDNN_FORWARD, 16, 128, 128, 3, 1, 96, 192, 62, 6, {{2, 3}, {13, 1}, {18, 0}, {25, 1}, {27, 2}, {28, 1}}},
    {DIS_CUDNN_BY_INPUT, 16, 128, 128, 3, 1, 96, 192, 67, 6, {{2, 3}, {13, 1}, {18, 0}, {25, 1}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_FORWARD, 4, 512, 512, 3, 1, 96, 192, 62, 6, {{2, 7}, {13, 1}, {18, 0}, {25, 1}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_INPUT, 4, 512, 512, 3, 1, 96, 192, 67, 6, {{2, 7}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_BY_WEIGHT, 4, 512, 512, 3, 1, 96, 192, 65, 6, {{2, 0}, {13, 1}, {18, 1}, {25, 0}, {27, 1}, {28, 4}}},
    {DIS_CUDNN_FORWARD, 32, 64, 128, 1, 2, 96, 192, 45, 3, {{2, 0}, {5, 3}, {14, 4}}},
    {DIS_CUDNN_FORWARD, 32, 64, 128, 3, 2, 96, 192, 62, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_BY_INPUT, 32, 64, 128, 1, 2, 96, 192, 64, 3, {{2, 4}, {5, 3}, {14, 3}}},
    {DIS_CUDNN_BY_WEIGHT, 32, 64, 128, 1, 2, 96, 192, 65, 6, {{2, 5}, {13, 1}, {18, 1}, {25, 0}, {27, 3}, {28, 1}}},
    {DIS_CUDNN_FORWARD, 16, 128, 256, 1, 2, 96, 192, 45, 3, {{2, 0}, {5, 3}, {14, 4}}},
    {DIS_CUDNN_FORWARD, 16, 128, 256, 3, 2, 96, 192, 62, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_INPUT, 16, 128, 256, 1, 2, 96, 192, 22, 4, {{2, 3}, {13, 0}, {14, 2}, {23, 0}}},
    {DIS_CUDNN_BY_INPUT, 16, 128, 256, 3, 2, 96, 192, 73, 5, {{2, 0}, {13, 1}, {18, 1}, {27, 8}, {28, 1}}},
    {DIS_CUDNN_BY_WEIGHT, 16, 128, 256, 1, 2, 96, 192, 49, 4, {{0, 16}, {2, 5}, {5, 4}, {14, 4}}},
    {DIS_CUDNN_BY_WEIGHT, 16, 128, 256, 3, 2, 96, 192, 65, 6, {{2, 5}, {13, 1}, {18, 1}, {25, 1}, {27, 2}, {28, 3}}},
    {DIS_CUDNN_FORWARD, 8, 256, 512, 1, 2, 96, 192, 45, 3, {{2, 7}, {5, 3}, {14, 5}}},
    {DIS_CUDNN_FORWARD, 8, 256, 512, 3, 2, 96, 192, 62, 6, {{2, 7}, {13, 1}, {18, 0}, {25, 1}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_INPUT, 8, 256, 512, 1, 2, 96, 192, 22, 4, {{2, 1}, {13, 1}, {14, 2}, {23, 0}}},
    {DIS_CUDNN_BY_INPUT, 8, 256, 512, 3, 2, 96, 192, 73, 5, {{2, 0}, {13, 1}, {18, 1}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_WEIGHT, 8, 256, 512, 1, 2, 96, 192, 65, 6, {{2, 5}, {13, 1}, {18, 1}, {25, 1}, {27, 2}, {28, 3}}},
    {DIS_CUDNN_BY_WEIGHT, 32, 8, 64, 3, 1, 96, 192, 49, 4, {{0, 66}, {2, 5}, {5, 4}, {14, 4}}},
    {DIS_CUDNN_FORWARD, 16, 128, 128, 3, 1, 384, 768, 62, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_BY_INPUT, 16, 128, 128, 3, 1, 384, 768, 67, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_FORWARD, 4, 512, 512, 3, 1, 384, 768, 62, 6, {{2, 3}, {13, 1}, {18, 0}, {25, 1}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_INPUT, 4, 512, 512, 3, 1, 384, 768, 67, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_WEIGHT, 4, 512, 512, 3, 1, 384, 768, 65, 6, {{2, 0}, {13, 1}, {18, 1}, {25, 0}, {27, 4}, {28, 2}}},
    {DIS_CUDNN_FORWARD, 32, 64, 128, 1, 2, 384, 768, 62, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 1}, {27, 2}, {28, 1}}},
    {DIS_CUDNN_FORWARD, 32, 64, 128, 3, 2, 384, 768, 62, 6, {{2, 0}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_BY_INPUT, 32, 64, 128, 1, 2, 384, 768, 73, 5, {{2, 4}, {13, 1}, {18, 1}, {27, 1}, {28, 1}}},
    {DIS_CUDNN_BY_WEIGHT, 32, 64, 128, 1, 2, 384, 768, 49, 4, {{0, 66}, {2, 5}, {5, 4}, {14, 4}}},
    {DIS_CUDNN_FORWARD, 16, 128, 256, 1, 2, 384, 768, 62, 6, {{2, 3}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_FORWARD, 16, 128, 256, 3, 2, 384, 768, 62, 6, {{2, 3}, {13, 1}, {18, 0}, {25, 0}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_INPUT, 16, 128, 256, 1, 2, 384, 768, 73, 5, {{2, 3}, {13, 1}, {18, 1}, {27, 2}, {28, 1}}},
    {DIS_CUDNN_BY_WEIGHT, 16, 128, 256, 1, 2, 384, 768, 65, 6, {{2, 5}, {13, 1}, {18, 1}, {25, 0}, {27, 4}, {28, 2}}},
    {DIS_CUDNN_BY_INPUT, 8, 256, 512, 1, 2, 384, 768, 73, 5, {{2, 0}, {13, 1}, {18, 1}, {27, 1}, {28, 2}}},
    {DIS_CUDNN_BY_WEIGHT, 8, 256, 512, 1, 2, 384, 768, 33, 4, {{0, 8}, {2, 1}, {5, 4}, {14, 2}}},
    {DIS_CUDNN_BY_WEIGHT, 32, 8, 64, 3, 1, 384, 768, 49, 4, {{0, 132}, {2, 7}, {5, 3}, {14, 5}}},
};

#endif
