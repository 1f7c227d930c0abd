/* Word vectors: a line is read from its end, because a word may contain spaces (as in GloVe's Common Crawl) and the
 * number of columns is known from the first line. Cost: one pass; values are parsed for requested words only. */
#include "text/word_vectors.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/parallel/pool.h"
#include "io/input/input.h"
#include <float.h>
#include <math.h>
#include <string.h>

static size_t count_numbers(const char *line, size_t n)
{
    size_t spaces = 0;
    for (size_t i = 0; i < n; i++) spaces += line[i] == ' ';
    return spaces;
}

/* Start of the last `width` fields of a line: after the word and a space. NULL: the line has fewer. */
static const char *numbers_of(const char *line, size_t n, size_t width)
{
    const char *at = line + n;
    for (size_t i = 0; i < width; i++) {
        do {
            if (at == line) return NULL;
            at--;
        } while (*at != ' ');
    }
    return at == line ? NULL : at;
}

static dis_status parse_line(const dis__input *in, uint64_t number, const char *line, size_t n,
                             const dis__vocabulary *words, dis__word_vectors *v)
{
    const char *at = numbers_of(line, n, v->width);
    if (!at) return dis__fail_at(DIS_EDATA, in->path, number, 1, "expected a word and %zu numbers", v->width);
    const int32_t id = dis__vocabulary_find(words, line, (size_t)(at - line));
    if (id == DIS_UNKNOWN || v->known[id]) return DIS_OK;
    const char *end = line + n;
    float *x = v->x + (size_t)id * v->width;
    for (size_t i = 0; i < v->width; i++) {
        const char *first = ++at;
        while (at < end && *at != ' ') at++;
        double value;
        if (!dis__parse_real(first, (size_t)(at - first), &value) || fabs(value) > (double)FLT_MAX)
            return dis__fail_at(DIS_EDATA, in->path, number, (uint64_t)(first - line) + 1, "\"%.*s\" is not a number",
                                at - first > 40 ? 40 : (int)(at - first), first);
        x[i] = (float)value;
    }
    v->known[id] = 1;
    v->n_known++;
    return DIS_OK;
}

static dis_status read_lines(dis_context *ctx, const dis__input *in, const dis__vocabulary *words, dis__word_vectors *v)
{
    const char *at = in->bytes, *end = at + in->n;
    const size_t size = dis__vocabulary_size(words);
    enum { CHECK_INTERVAL = 65536 };
    for (uint64_t number = 1; at < end; number++) {
        const char *lf = memchr(at, '\n', (size_t)(end - at)), *stop = lf ? lf : end;
        size_t n = (size_t)(stop - at);
        if (n && at[n - 1] == '\r') n--;
        while (n && at[n - 1] == ' ') n--;
        const bool head = number == 1 && count_numbers(at, n) == 1;
        if (v->width == 0 && !head) {
            v->width = count_numbers(at, n);
            if (v->width == 0)
                return dis__fail_at(
                    DIS_EDATA, in->path, number, 1,
                    "no numbers after the first word; word vectors are lines of a word and its numbers");
            DIS_TRY(dis__check_memory(ctx,
                                      dis__saturating_size(dis__saturating_size(size, v->width, 0), sizeof *v->x, 0),
                                      "the word vectors"));
            DIS_TRY(dis__alloc_zeroed(&v->x, dis__saturating_size(size, v->width, 0), sizeof *v->x));
            DIS_TRY(dis__alloc_zeroed(&v->known, size, 1));
        }
        if (!head) DIS_TRY(parse_line(in, number, at, n, words, v));
        if (number % CHECK_INTERVAL == 0) DIS_TRY(dis__check_stop(ctx));
        at = lf ? lf + 1 : end;
    }
    return v->width ? DIS_OK : dis__fail_at(DIS_EDATA, in->path, 0, 0, "it contains no word vectors");
}

dis_status dis__word_vectors_read(dis_context *ctx, const char *path, const dis__vocabulary *words,
                                  dis__word_vectors *out)
{
    dis__input in;
    DIS_TRY(dis__input_open(ctx, path, &in));
    dis__word_vectors v = {0};
    const dis_status status = dis__input_finish(&in, read_lines(ctx, &in, words, &v));
    if (status != DIS_OK) {
        dis__word_vectors_free(&v);
        return status;
    }
    *out = v;
    return DIS_OK;
}

void dis__word_vectors_free(dis__word_vectors *v)
{
    dis__free(v->x);
    dis__free(v->known);
    *v = (dis__word_vectors){0};
}
