/* batch_rows_loops.h: rows of arrays on the device, by index: bytes of any type. */
#ifndef DIS_NN_LOOPS_BATCH_ROWS_LOOPS_H
#define DIS_NN_LOOPS_BATCH_ROWS_LOOPS_H

/* An image, shifted and optionally mirrored, with 0 outside. */
static void moved_images(const dis__batch_rows_args *a, const char *from, const int32_t *move, char *to)
{
    const long height = (long)a->height, width = (long)a->width;
    const size_t pixel = a->channels * a->size;
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++, to += pixel) {
            const long fy = y + move[0], fx = (move[2] ? width - 1 - x : x) + move[1];
            if (fy < 0 || fy >= height || fx < 0 || fx >= width)
                memset(to, 0, pixel);
            else
                memcpy(to, from + (size_t)(fy * width + fx) * pixel, pixel);
        }
}

void OP(batch_rows)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__batch_rows_args *a = args;
    const size_t bytes = a->height * a->width * a->channels * a->size;
    (void)scratch;
    for (size_t i = first; i < last; i++) {
        const int32_t *row = a->row + i * (a->moved ? 4 : 1);
        char *to = (char *)a->y + i * bytes;
        if (row[0] < 0)
            memset(to, a->fill, bytes);
        else if (a->moved)
            moved_images(a, (const char *)a->x + (size_t)row[0] * bytes, row + 1, to);
        else
            memcpy(to, (const char *)a->x + (size_t)row[0] * bytes, bytes);
    }
}

void OP(batch_spans)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__batch_spans_args *a = args;
    (void)scratch;
    for (size_t i = first; i < last; i++) {
        const int32_t *span = a->span + 4 * i, n = span[2], room = span[3];
        if (n) memcpy(a->y + span[1], a->x + span[0], (size_t)n * sizeof *a->y);
        for (int32_t j = n; j < room; j++) a->y[span[1] + j] = -1;
    }
}

#endif
