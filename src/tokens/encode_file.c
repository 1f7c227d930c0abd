/* Files of texts, a line each, into lists of ids: some thousand lines at a time on all threads, written in order. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "core/text/utf8.h"
#include "io/input/input.h"
#include "io/output/output_file.h"
#include "io/output/format_fields.h"
#include "tool/files.h"
#include <string.h>

enum { LINES_AT_ONCE = 16384, NUMBER_BYTES = 22 };

static dis_status check_line(const char *path, size_t line, const char *text, size_t n)
{
    const size_t bad = dis__utf8_check(text, n);
    if (bad == n) return DIS_OK;
    return dis__fail_at(DIS_EDATA, path, line, bad + 1, "invalid UTF-8 (byte 0x%02x); save the file as UTF-8",
                        (unsigned)(unsigned char)text[bad]);
}

/* Up to LINES_AT_ONCE lines from *at on; how many. */
static dis_status gather_lines(const dis__input *in, size_t *at, size_t before, dis_token_text *texts, size_t *n)
{
    for (*n = 0; *n < LINES_AT_ONCE && *at < in->n; ++*n) {
        const char *start = in->bytes + *at, *end = memchr(start, '\n', in->n - *at);
        size_t length = end ? (size_t)(end - start) : in->n - *at;
        *at += length + (end != NULL);
        if (end && length && start[length - 1] == '\r') length--;
        DIS_TRY(check_line(in->path, before + *n + 1, start, length));
        texts[*n] = (dis_token_text){.first = start, .n_first = length};
    }
    return DIS_OK;
}

static dis_status write_lists(dis__out *out, const dis_tokens_view *v)
{
    for (size_t i = 0; i < v->n_texts; i++) {
        char *room, *at;
        DIS_TRY(dis__out_write(out, "[", 1));
        for (size_t k = v->text_start[i]; k < v->text_start[i + 1]; k++) {
            DIS_TRY(dis__out_reserve(out, NUMBER_BYTES, &room));
            at = room;
            if (k > v->text_start[i]) at = memcpy(at, ", ", 2), at += 2;
            at = dis__format_count(at, (uint64_t)v->id[k]);
            dis__out_advance(out, (size_t)(at - room));
        }
        DIS_TRY(dis__out_write(out, "]\n", 2));
    }
    return DIS_OK;
}

static dis_status encode_lines(dis_context *ctx, const dis_tokenizer *t, const dis__input *in, dis_token_text *texts,
                               const dis_tokenizer_options *options, dis__out *out, size_t *n_texts)
{
    for (size_t at = 0, n; at < in->n; *n_texts += n) {
        dis_tokens *tokens;
        DIS_TRY(gather_lines(in, &at, *n_texts, texts, &n));
        DIS_TRY(dis_tokenizer_encode(ctx, t, texts, n, options, &tokens));
        const dis_tokens_view v = dis_tokens_get_view(tokens);
        const dis_status status = write_lists(out, &v);
        dis_tokens_destroy(tokens);
        DIS_TRY(status);
    }
    return DIS_OK;
}

dis_status dis__tokenizer_encode_file(dis_context *ctx, const dis_tokenizer *t, const char *path,
                                      const dis_tokenizer_options *options, const char *output, size_t *n_texts)
{
    dis_tokenizer_options o = dis_tokenizer_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_tokenizer_options, &o, options));
    dis_token_text *texts = NULL;
    dis__out *out = NULL;
    dis__input in;
    size_t n = 0;
    DIS_TRY(dis__input_open(ctx, path, &in));
    dis_status status = dis__alloc_array(&texts, LINES_AT_ONCE, sizeof *texts);
    if (status == DIS_OK) status = dis__out_open(output, &out);
    if (status == DIS_OK) {
        status = dis__input_check(&in, encode_lines(ctx, t, &in, texts, &o, out, &n));
        status = dis__out_finish(out, status);
    }
    dis__free(texts);
    dis__input_close(&in);
    if (status == DIS_OK && n_texts) *n_texts = n;
    return status;
}
