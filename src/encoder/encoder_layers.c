/* The layers of an encoder over packed tokens: embeddings of words, positions and types, normalised; then blocks of
 * self-attention and two linear layers, each normalised after what it adds to (Vaswani et al. 2017, as BERT has it).
 * Queries, keys and values are one matrix. MPNet's layers share one table of biases by the distance of two tokens. */
#include "encoder/encoder.h"
#include "core/memory/memory.h"
#include <stdio.h>
#include <string.h>

enum { FARTHEST = 128 }; /* MPNet: from there on distances share a bucket */
/* Predictions have multiples of so many texts and tokens on GPUs: there are few sizes, and products of fewer rows have
 * other bytes there. */
enum { MULTIPLE = 256 };

bool dis__encoder_lora_select(const dis__encoder_lora *lora, size_t layer, const char *name, size_t width,
                              dis__low_rank_options *out)
{
    static const struct {
        const char *name;
        unsigned part[DIS_LOW_RANK_PARTS];
    } rows[] = {{"qkv", {DIS_LORA_QUERY, DIS_LORA_KEY, DIS_LORA_VALUE}},
                {"proj", {DIS_LORA_OUTPUT, 0, 0}},
                {"up", {DIS_LORA_UP, 0, 0}},
                {"down", {DIS_LORA_DOWN, 0, 0}}};
    dis__low_rank_options o = dis__low_rank_options_default();
    if (!lora || layer < lora->first) return false;
    o.rank = lora->rank;
    o.scale = lora->alpha / (double)lora->rank;
    o.n_parts = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        if (rows[i].part[1]) o.n_out = width;
        for (size_t p = 0; p < DIS_LOW_RANK_PARTS; p++)
            if (lora->targets & rows[i].part[p]) o.first[o.n_parts++] = p * width;
    }
    *out = o;
    return o.n_parts > 0;
}

/* act(W x + b), with what LoRA adds to W. */
static int linear(dis__net *net, const dis__encoder_config *c, const dis__encoder_limits *limits, size_t layer,
                  const char *what, int x, size_t n_out, dis__activation act)
{
    char name[DIS_NET_NAME];
    dis__low_rank_options low;
    snprintf(name, sizeof name, "encoder.layer.%zu.%s", layer, what);
    if (!dis__encoder_lora_select(limits->lora, layer, what, c->width, &low))
        return dis__layer_linear(net, name, x, n_out, act);
    const int y = dis__layer_linear(net, name, x, n_out, DIS_ACT_NONE);
    snprintf(name, sizeof name, "lora.layer.%zu.%s", layer, what);
    const double dropout = limits->dropout ? limits->lora->dropout : 0;
    const int sum = dis__layer_low_rank(net, name, dis__layer_dropout(net, x, dropout), y, &low);
    return act == DIS_ACT_NONE ? sum : dis__layer_activate(net, sum, act);
}

/* After attention, tokens are independent: if only first tokens of the last layer are read, only these are processed
 * further. */
static int block(dis__net *net, const dis__encoder_config *c, const dis__encoder_limits *limits, size_t layer, int x,
                 const dis__encoder_net *b, const dis__packed_attention_options *attend, double dropout)
{
    char name[DIS_NET_NAME];
    dis__layernorm_options norm = dis__layernorm_options_default();
    norm.epsilon = c->epsilon;
#define NAME(what) (snprintf(name, sizeof name, "encoder.layer.%zu." what, layer), name)
    int y = linear(net, c, limits, layer, "qkv", x, 3 * c->width, DIS_ACT_NONE);
    y = dis__layer_packed_attention(net, NAME("attend"), y, b->start, b->length, attend);
    if (limits->first && layer + 1 == c->n_layers) {
        y = dis__layer_pool_packed(net, y, b->start, b->length, DIS_POOL_FIRST);
        x = dis__layer_pool_packed(net, x, b->start, b->length, DIS_POOL_FIRST);
    }
    const int proj = linear(net, c, limits, layer, "proj", y, c->width, DIS_ACT_NONE);
    y = dropout > 0 ? dis__layer_dropout(net, proj, dropout) : proj;
    x = dis__layer_layernorm_with(net, NAME("norm1"), y, x, &norm);
    dis__linear_in_place(net, proj, x);
    y = linear(net, c, limits, layer, "up", x, c->feed, c->act);
    const int down = linear(net, c, limits, layer, "down", y, c->width, DIS_ACT_NONE);
    y = dropout > 0 ? dis__layer_dropout(net, down, dropout) : down;
    x = dis__layer_layernorm_with(net, NAME("norm2"), y, x, &norm);
    dis__linear_in_place(net, down, x);
    return x;
#undef NAME
}

static int embeddings(dis__net *net, const dis__encoder_config *c, const dis__encoder_net *b, double dropout)
{
    const size_t width = c->embedding ? c->embedding : c->width;
    dis__layernorm_options norm = dis__layernorm_options_default();
    norm.epsilon = c->epsilon;
    int x = dis__layer_embed(net, "encoder.words", b->ids, c->n_words, width);
    if (c->n_types) x = dis__layer_add(net, x, dis__layer_embed(net, "encoder.types", b->types, c->n_types, width));
    const int places = dis__layer_embed(net, "encoder.positions", b->positions, c->n_positions, width);
    x = dis__layer_layernorm_with(net, "encoder.norm", x, places, &norm);
    if (dropout > 0) x = dis__layer_dropout(net, x, dropout);
    return c->embedding ? dis__layer_linear(net, "encoder.project", x, c->width, DIS_ACT_NONE) : x;
}

dis_status dis__encoder_build(dis__net *net, const dis__encoder_config *c, const dis__encoder_limits *limits,
                              dis__encoder_net *out)
{
    dis__encoder_net b = {.types = DIS_NONE, .first = limits->first && c->n_layers > 0};
    dis__packed_attention_options attend = dis__packed_attention_options_default();
    const double dropout = limits->dropout ? c->dropout : 0;
    b.rows = limits->predicts ? dis__net_axis_rounded(net, limits->rows, MULTIPLE) : dis__net_axis(net, limits->rows);
    b.tokens = limits->predicts ? dis__net_axis_rounded(net, limits->tokens, MULTIPLE)
                                : dis__net_axis_packed(net, limits->tokens);
    b.ids = dis__net_ints(net, "ids", b.tokens, DIS_NONE, 1);
    b.positions = dis__net_ints(net, "positions", b.tokens, DIS_NONE, 1);
    if (c->n_types) b.types = dis__net_ints(net, "types", b.tokens, DIS_NONE, 1);
    b.start = dis__net_ints(net, "start", b.rows, DIS_NONE, 1);
    b.length = dis__net_ints(net, "length", b.rows, DIS_NONE, 1);
    attend.n_heads = c->n_heads;
    attend.longest = dis__encoder_max_length(c);
    attend.dropout = limits->dropout ? c->attention_dropout : 0;
    attend.farthest = FARTHEST;
    int x = embeddings(net, c, &b, dropout);
    if (c->family->relative) attend.bias = dis__layer_table(net, "encoder.relative", c->n_buckets, c->n_heads);
    for (size_t l = 0; l < c->n_layers; l++) x = block(net, c, limits, l, x, &b, &attend, dropout);
    b.hidden = x;
    const size_t room =
        dis__saturating_size(3, limits->tokens, dis__saturating_size(6, limits->rows, 4 + 2 * MULTIPLE));
    DIS_TRY(dis__alloc_array(&b.room, room, sizeof *b.room));
    *out = b;
    return DIS_OK;
}

int dis__encoder_pooler_build(dis__net *net, const dis__encoder_config *c, const dis__encoder_net *b, bool dropout)
{
    const double rate = dropout ? c->top_dropout : 0;
    int x = b->first ? b->hidden : dis__layer_pool_packed(net, b->hidden, b->start, b->length, DIS_POOL_FIRST);
    if (rate > 0 && c->family->top.dropped) x = dis__layer_dropout(net, x, rate);
    x = dis__layer_linear(net, "top", x, c->width, c->family->top.act);
    return rate > 0 ? dis__layer_dropout(net, x, rate) : x;
}

/* RoBERTa and MPNet number only tokens that are not padding, from after its id on; padding that a text spells out
 * stays at its id. */
static void lay_out(const dis__encoder_config *c, const dis_tokens_view *tokens, size_t text, int32_t *ids,
                    int32_t *positions, int32_t *types)
{
    const size_t first = tokens->text_start[text], n = tokens->text_start[text + 1] - first;
    int32_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t id = tokens->id[first + i];
        ids[i] = id;
        if (!c->family->shifted)
            positions[i] = (int32_t)i;
        else
            positions[i] = (int32_t)c->padding + (id == (int32_t)c->padding ? 0 : ++counted);
        types[i] = c->family->types && tokens->type[first + i] < c->n_types ? tokens->type[first + i] : 0;
    }
}

/* Where rows begin, and their lengths; rows after the batch are empty. */
static dis_status put_rows(dis__net *net, const dis__encoder_net *b, const dis_tokens_view *tokens, const uint32_t *row,
                           size_t n_rows)
{
    const size_t all = dis__net_filled(net, b->start);
    int32_t *start = b->room, *length = start + all, at = 0;
    for (size_t r = 0; r < all; r++) {
        length[r] = r < n_rows ? (int32_t)(tokens->text_start[row[r] + 1] - tokens->text_start[row[r]]) : 0;
        start[r] = at;
        at += length[r];
    }
    DIS_TRY(dis__net_put_filled(net, b->start, start));
    return dis__net_put_filled(net, b->length, length);
}

dis_status dis__encoder_set_batch(dis__net *net, const dis__encoder_net *b, const dis__encoder_config *c,
                                  const dis_tokens_view *tokens, const uint32_t *row, size_t n_rows)
{
    size_t n = 0, at = 0;
    for (size_t r = 0; r < n_rows; r++) n += tokens->text_start[row[r] + 1] - tokens->text_start[row[r]];
    dis__net_resize(net, b->rows, n_rows);
    dis__net_resize(net, b->tokens, n);
    int32_t *start = b->room, *ids = start + 2 * dis__net_filled(net, b->start), *positions = ids + n,
            *types = positions + n;
    for (size_t r = 0; r < n_rows; r++) {
        lay_out(c, tokens, row[r], ids + at, positions + at, types + at);
        at += tokens->text_start[row[r] + 1] - tokens->text_start[row[r]];
    }
    DIS_TRY(dis__net_put_ints(net, b->ids, ids));
    DIS_TRY(dis__net_put_ints(net, b->positions, positions));
    if (b->types != DIS_NONE) DIS_TRY(dis__net_put_ints(net, b->types, types));
    return put_rows(net, b, tokens, row, n_rows);
}

/* ---- batches by index ---- */

enum { IDS, POSITIONS, TYPES, ARRAYS };

/* Ids, positions and types of all texts. */
static dis_status keep(dis__net *net, const dis__encoder_config *c, const dis_tokens_view *tokens,
                       const void *uploaded[ARRAYS])
{
    const void *const of[ARRAYS] = {tokens->id, tokens->text_start, tokens->type};
    const size_t n = tokens->text_start[tokens->n_texts];
    bool known = true;
    for (int i = 0; i < ARRAYS; i++) known &= dis__net_find_upload(net, of[i], &uploaded[i]);
    if (known) return DIS_OK;
    int32_t *all;
    DIS_TRY(dis__alloc_array(&all, dis__saturating_size(n, ARRAYS, 0), sizeof *all));
    for (size_t t = 0; t < tokens->n_texts; t++) {
        int32_t *at = all + tokens->text_start[t];
        lay_out(c, tokens, t, at, at + n, at + 2 * n);
    }
    dis_status status = DIS_OK;
    for (int i = 0; i < ARRAYS && status == DIS_OK; i++)
        status = dis__net_upload_ints(net, of[i], all + (size_t)i * n, n, &uploaded[i]);
    dis__free(all);
    return status;
}

dis_status dis__encoder_gather_batch(dis__net *net, const dis__encoder_net *b, const dis__encoder_config *c,
                                     const dis_tokens_view *tokens, const uint32_t *row, size_t n_rows)
{
    const void *uploaded[ARRAYS];
    const int inputs[ARRAYS] = {b->ids, b->positions, b->types};
    size_t at = 0;
    DIS_TRY(keep(net, c, tokens, uploaded));
    for (int i = 0; i < ARRAYS; i++)
        if (!uploaded[i]) return dis__encoder_set_batch(net, b, c, tokens, row, n_rows);
    dis__net_resize(net, b->rows, n_rows);
    int32_t(*span)[4] = (int32_t(*)[4])(b->room + 2 * dis__net_filled(net, b->start));
    for (size_t r = 0; r < n_rows; r++) {
        span[r][1] = (int32_t)at;
        span[r][0] = (int32_t)tokens->text_start[row[r]];
        span[r][2] = span[r][3] = (int32_t)(tokens->text_start[row[r] + 1] - tokens->text_start[row[r]]);
        at += (size_t)span[r][2];
    }
    dis__net_resize(net, b->tokens, at);
    span[n_rows][0] = span[n_rows][2] = 0; /* what lies after the tokens */
    span[n_rows][1] = (int32_t)at;
    span[n_rows][3] = (int32_t)(dis__net_filled(net, b->ids) - at);
    for (int i = 0; i < ARRAYS; i++)
        if (inputs[i] != DIS_NONE)
            DIS_TRY(dis__net_gather_ints(net, inputs[i], uploaded[i], (const int32_t(*)[4])span, n_rows + 1));
    return put_rows(net, b, tokens, row, n_rows);
}
