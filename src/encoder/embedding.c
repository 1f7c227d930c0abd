/* Texts into vectors: tokens, batches of like lengths, the encoder's layers, the mean or the first token of each text.
 * Texts are taken from the longest to the shortest, so that a batch needs no more than a fixed number of tokens; tokens
 * are packed, so that lengths cost nothing else. The network is planned once for batches of at most TOKENS tokens, or
 * as many as the device likes at once; the next batch is put, and the vectors of the last one are stored, while a
 * device computes. */
#include "dissent/embed.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "encoder/encoder.h"
#include "io/name_file.h"
#include "io/tensors/npy.h"
#include "io/output/output_file.h"
#include "items/items_internal.h"
#include "nn/devices.h"
#include "nn/load_weights.h"
#include <math.h>
#include <string.h>

enum { TOKENS = 2048, ROWS = 512, SHORT = 8 }; /* SHORT: tokens of a text, where batches are large */

struct dis_encoder {
    dis__encoder_config config;
    dis_tokenizer *tokenizer;
    dis__net *net;
    dis__encoder_weight_files *files; /* whose numbers the network uses */
    dis__encoder_net built;
    int pooled[2]; /* values, by dis_embed_pooling */
    size_t n_parameters, max_length, max_tokens, max_rows;
};

DIS_OPTIONS_DEFAULTS(dis_embed_options, .size = sizeof(dis_embed_options))

void dis_encoder_destroy(dis_encoder *e)
{
    if (!e) return;
    dis_tokenizer_destroy(e->tokenizer);
    dis__net_destroy(e->net);
    dis__encoder_weight_files_close(e->files);
    dis__free(e->built.room);
    dis__free(e);
}

static dis_status check_tokenizer(const char *folder, dis_encoder *e)
{
    const dis_tokenizer_view t = dis_tokenizer_get_view(e->tokenizer);
    const size_t longest = dis__encoder_max_length(&e->config);
    e->max_length = t.max_length && t.max_length < longest ? t.max_length : longest;
    if (t.n_ids > 0 && (size_t)t.n_ids > e->config.n_words)
        return dis__fail(DIS_EDATA, "%s: the tokenizer has ids up to %d, vocab_size of config.json is %zu", folder,
                         (int)t.n_ids - 1, e->config.n_words);
    return DIS_OK;
}

/* Replaces a network that was too large by one for this many tokens. */
static dis_status plan_net(dis_context *ctx, const dis__device *device, size_t tokens, size_t rows, dis_encoder *e)
{
    dis__plan_options plan = dis__plan_options_default();
    plan.training = false;
    plan.unset = true;
    e->max_tokens = e->max_length > tokens ? e->max_length : tokens;
    e->max_rows = rows;
    dis__net_destroy(e->net);
    dis__free(e->built.room);
    e->net = NULL;
    e->built.room = NULL;
    const dis__encoder_limits limits = {.rows = rows, .tokens = e->max_tokens, .predicts = true};
    DIS_TRY(dis__net_create(device, 0, &e->net));
    DIS_TRY(dis__encoder_build(e->net, &e->config, &limits, &e->built));
    const dis__encoder_net *b = &e->built;
    e->pooled[DIS_EMBED_MEAN] = dis__layer_pool_packed(e->net, b->hidden, b->start, b->length, DIS_POOL_MEAN);
    e->pooled[DIS_EMBED_FIRST] = dis__layer_pool_packed(e->net, b->hidden, b->start, b->length, DIS_POOL_FIRST);
    return dis__net_plan(e->net, ctx, &plan);
}

static dis_status open_encoder(dis_context *ctx, const char *folder, dis_encoder *e)
{
    const dis__device *device;
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, false, &device)); /* missing files are reported before reading */
    DIS_TRY(dis__encoder_config_read(ctx, folder, &e->config));
    DIS_TRY(dis_tokenizer_read(ctx, folder, &e->tokenizer));
    DIS_TRY(check_tokenizer(folder, e));
    dis_status status = DIS_ELIMIT;
    if (device->at_once) status = plan_net(ctx, device, device->at_once, device->at_once / SHORT, e);
    if (status == DIS_ELIMIT) status = plan_net(ctx, device, TOKENS, ROWS, e);
    DIS_TRY(status);
    e->n_parameters = dis__net_n_parameters(e->net);
    return dis__encoder_map_weights(ctx, folder, &e->config, e->net, &e->files);
}

dis_status dis_encoder_read(dis_context *ctx, const char *folder, dis_encoder **out)
{
    dis_encoder *e;
    DIS_TRY(dis__alloc_zeroed(&e, 1, sizeof *e));
    const dis_status status = open_encoder(ctx, folder, e);
    if (status == DIS_OK)
        *out = e;
    else
        dis_encoder_destroy(e);
    return status;
}

static dis_encoder_view view_of(const dis_encoder *e)
{
    return (dis_encoder_view){.family = e->config.family->model_type,
                              .width = e->config.width,
                              .n_layers = e->config.n_layers,
                              .n_heads = e->config.n_heads,
                              .n_parameters = e->n_parameters,
                              .max_length = e->max_length};
}
DIS_VIEW_DEFINE(dis_encoder, e, view_of(e))

/* ---- batches ---- */

/* The texts by descending length, stable: a counting sort. */
static dis_status by_length(const dis_tokens_view *tokens, size_t longest, uint32_t **out)
{
    size_t *first;
    DIS_TRY(dis__alloc_zeroed(&first, longest + 2, sizeof *first));
    const dis_status status = dis__alloc_array(out, tokens->n_texts, sizeof **out);
    for (size_t i = 0; i < tokens->n_texts && status == DIS_OK; i++)
        first[longest - (tokens->text_start[i + 1] - tokens->text_start[i]) + 1]++;
    for (size_t l = 1; l <= longest + 1; l++) first[l] += first[l - 1];
    for (size_t i = 0; i < tokens->n_texts && status == DIS_OK; i++)
        (*out)[first[longest - (tokens->text_start[i + 1] - tokens->text_start[i])]++] = (uint32_t)i;
    dis__free(first);
    return status;
}

static size_t next_batch(const dis_encoder *e, const dis_tokens_view *tokens, const uint32_t *order, size_t at)
{
    size_t n = 0, used = 0;
    while (at + n < tokens->n_texts && n < e->max_rows) {
        const uint32_t text = order[at + n];
        used += tokens->text_start[text + 1] - tokens->text_start[text];
        if (n > 0 && used > e->max_tokens) break;
        n++;
    }
    return n;
}

static void normalise(float *x, size_t width)
{
    double squares = 0;
    for (size_t c = 0; c < width; c++) squares += (double)x[c] * (double)x[c];
    const double scale = squares > 0 ? 1 / sqrt(squares) : 1;
    for (size_t c = 0; c < width; c++) x[c] = (float)((double)x[c] * scale);
}

/* raw: room for the vectors of a batch; *bad: the text whose vector is not finite, SIZE_MAX unless there is one. */
static dis_status run_batches(dis_context *ctx, dis_encoder *e, const dis_tokens_view *tokens, const uint32_t *order,
                              const dis_embed_options *o, double *raw, float *out, size_t *bad)
{
    const size_t width = e->config.width;
    size_t done = 0, last = 0;
    for (size_t at = 0, n; at < tokens->n_texts || last; at += n) {
        n = next_batch(e, tokens, order, at);
        DIS_TRY(dis__check_stop(ctx));
        if (n) DIS_TRY(dis__encoder_set_batch(e->net, &e->built, &e->config, tokens, order + at, n));
        DIS_TRY(dis__net_fetch(e->net, e->pooled[o->pooling], last, raw));
        if (n) DIS_TRY(dis__net_forward(e->net, false));
        for (size_t r = 0; r < last; r++) {
            const uint32_t text = order[at - last + r];
            dis__net_decode(e->net, raw, r * width, width, out + text * width);
            if (!dis__all_finite(out + text * width, width)) {
                *bad = text;
                return dis__fail(DIS_EDATA,
                                 "text %zu: the encoder's output is not finite; its weights overflow float32",
                                 (size_t)text + 1);
            }
            if (o->normalise) normalise(out + text * width, width);
            done += tokens->text_start[text + 1] - tokens->text_start[text];
        }
        last = n;
        dis__progress(ctx, "vectors", (double)done / (double)tokens->text_start[tokens->n_texts]);
    }
    return DIS_OK;
}

static dis_status embed_tokens(dis_context *ctx, dis_encoder *e, const dis_tokens_view *tokens,
                               const dis_embed_options *o, float *out, size_t *bad)
{
    uint32_t *order = NULL;
    double *raw = NULL;
    const size_t rows = tokens->n_texts < e->max_rows ? tokens->n_texts : e->max_rows;
    dis_status status = by_length(tokens, e->max_tokens, &order);
    if (status == DIS_OK) status = dis__alloc_array(&raw, dis__saturating_size(rows, e->config.width, 0), sizeof *raw);
    if (status == DIS_OK) status = run_batches(ctx, e, tokens, order, o, raw, out, bad);
    dis__free(raw);
    dis__free(order);
    return status;
}

static dis_status embed(dis_context *ctx, dis_encoder *e, const dis_token_text *texts, size_t n,
                        const dis_embed_options *options, float *out, size_t *bad)
{
    *bad = SIZE_MAX;
    dis_embed_options o = dis_embed_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_embed_options, &o, options));
    const size_t longest = dis__encoder_max_length(&e->config);
    if (o.max_length > longest)
        return dis__fail(DIS_EUSAGE, "a maximum length of %zu tokens; the encoder has positions for %zu", o.max_length,
                         longest);
    if (n > UINT32_MAX) return dis__fail(DIS_ELIMIT, "%zu texts are too many for one call", n);
    if (!dis__net_set_context(e->net, ctx))
        return dis__fail(DIS_EUSAGE, "the encoder was opened for fewer threads than this context has");
    dis_tokenizer_options how = dis_tokenizer_options_default();
    how.max_length = o.max_length ? o.max_length : e->max_length;
    dis_tokens *tokens;
    DIS_TRY(dis_tokenizer_encode(ctx, e->tokenizer, texts, n, &how, &tokens));
    const dis_tokens_view view = dis_tokens_get_view(tokens);
    const dis_status status = dis__encoder_weight_files_check(e->files, embed_tokens(ctx, e, &view, &o, out, bad));
    dis_tokens_destroy(tokens);
    return status;
}

dis_status dis_encoder_embed(dis_context *ctx, dis_encoder *e, const dis_token_text *texts, size_t n,
                             const dis_embed_options *options, float *out)
{
    size_t bad;
    return embed(ctx, e, texts, n, options, out, &bad);
}

dis_status dis_encoder_embed_items(dis_context *ctx, dis_encoder *e, const dis_items *items,
                                   const dis_embed_options *options, float *out)
{
    const dis_items_view v = dis_items_get_view(items);
    if (v.kind != DIS_ITEMS_TEXT || v.n_texts < 1 || v.n_texts > 2)
        return dis__fail(DIS_EUSAGE, "embeddings need items with one or two texts");
    dis_token_text *texts;
    DIS_TRY(dis__alloc_zeroed(&texts, v.n_items, sizeof *texts));
    for (size_t i = 0; i < v.n_items; i++) {
        texts[i].first = dis_names_get(v.texts, i * v.n_texts, &texts[i].n_first);
        if (v.n_texts == 2) texts[i].second = dis_names_get(v.texts, i * v.n_texts + 1, &texts[i].n_second);
    }
    size_t bad;
    dis_status status = embed(ctx, e, texts, v.n_items, options, out, &bad);
    dis__free(texts);
    if (status == DIS_EDATA && bad != SIZE_MAX)
        status = dis__items_fail(items, bad,
                                 "item \"%.100s\": the encoder's output is not finite; its weights overflow float32",
                                 dis_names_get(v.tasks, bad, NULL));
    return status;
}

dis_status dis_embedding_write(const dis_names *tasks, const float *x, size_t width, const char *path)
{
    if (dis__out_is_stream(path))
        return dis__fail(DIS_EUSAGE, "npy is written with a second file, of tasks, and cannot go to standard output, a "
                                     "pipe or a device; name a file");
    DIS_TRY(dis__names_check_line_breaks(tasks, "task"));
    const size_t n = dis_names_count(tasks);
    dis__out *outs[2] = {NULL, NULL};
    char *name = NULL;
    dis_status status = dis__companion_path(path, ".tasks.txt", &name);
    if (status == DIS_OK) status = dis__companion_check(path, name);
    if (status == DIS_OK) status = dis__out_open(name, &outs[0]);
    if (status == DIS_OK) status = dis__names_write(outs[0], tasks);
    if (status == DIS_OK) status = dis__out_open(path, &outs[1]);
    if (status == DIS_OK) status = dis__npy_write_header(outs[1], sizeof *x, n, width);
    if (status == DIS_OK) status = dis__out_write(outs[1], x, n * width * sizeof *x);
    dis__free(name);
    dis__out *const array_first[] = {outs[1], outs[0]}; /* a list never exists without its array */
    return dis__out_finish_all(array_first, 2, status);
}
