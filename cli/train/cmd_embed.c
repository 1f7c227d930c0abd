/* dissent embed: items into vectors by a pretrained encoder. */
#include "input/items_input.h"
#include <stdlib.h>

typedef struct {
    cli_common common;
    cli_items_values reading;
    const char *encoder, *items, *output;
    int pool;
    bool normalise;
    uint64_t max_length;
} embed_values;

static const cli_option options[] = {
    CLI_ENCODER_OPTION(embed_values, CLI_ENCODER_FILES, ""),
    {.name = "items",
     .kind = CLI_TEXT,
     .offset = offsetof(embed_values, items),
     .argument = "FILE",
     .names = CLI_NAMES_FILE,
     .summary = "the items, of one text or two"},
    {.name = "pool",
     .kind = CLI_CHOICE,
     .offset = offsetof(embed_values, pool),
     .argument = "WHAT",
     .fallback = "mean",
     .choices = "mean|first",
     .summary = "a text's vector: the mean of its tokens, or its first token"},
    {.name = "normalise",
     .kind = CLI_FLAG,
     .offset = offsetof(embed_values, normalise),
     .summary = "vectors of length 1"},
    CLI_MAX_LENGTH_OPTION(embed_values),
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(embed_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_OUTPUT,
     .summary = "NAME.npy, a row of float32 per item; ids go to NAME.tasks.txt beside it",
     .formats = "npy"},
    CLI_DEVICE_OPTION(embed_values),
    CLI_PRECISION_OPTION(embed_values),
    CLI_ITEMS_OPTIONS(embed_values, reading),
    CLI_COMMON_OPTIONS(embed_values),
};

static int embed(cli *c, const embed_values *v, dis_context *ctx, const dis_items *items, dis_encoder *encoder)
{
    const dis_items_view view = dis_items_get_view(items);
    const dis_encoder_view e = dis_encoder_get_view(encoder);
    dis_embed_options o = dis_embed_options_default();
    o.pool = (dis_embed_pooling)v->pool;
    o.normalise = v->normalise;
    o.max_length = (size_t)v->max_length;
    float *x = calloc(view.n_items ? view.n_items : 1, e.width * sizeof *x);
    if (!x) return cli_error(c, DIS_ELIMIT, "no memory for %zu vectors of %zu numbers", view.n_items, e.width);
    int code = cli_failed(c, dis_encoder_embed_items(ctx, encoder, items, &o, x));
    if (code == 0) code = cli_failed(c, dis_embedding_write(view.tasks, x, e.width, v->output));
    free(x);
    char number[CLI_NUMBER];
    if (code == 0)
        cli_print(c, "%s item%s, %zu numbers each by %s of %zu layers (%.2f s)", cli_count_format(view.n_items, number),
                  cli_plural(view.n_items), e.width, e.family, e.n_layers, cli_seconds_since(&c->start));
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const embed_values *v = values;
    dis_context *ctx = NULL;
    dis_encoder *encoder = NULL;
    dis_items *items = NULL;
    (void)operands;
    (void)n_operands;
    if (!v->encoder) return cli_usage(c, "embed needs the encoder: --encoder FOLDER");
    if (!v->items) return cli_usage(c, "embed needs the items: --items FILE");
    if (!v->output) return cli_usage(c, "embed needs a file for the vectors: --output NAME.npy");
    int code = cli_failed(c, cli_context_create(c, &v->common, &ctx));
    if (code == 0) code = items_input_read(c, ctx, &v->reading, NULL, DIS_ITEMS_TEXT, v->items, &items);
    if (code == 0) code = cli_failed(c, dis_encoder_read(ctx, v->encoder, &encoder));
    if (code == 0) code = embed(c, v, ctx, items, encoder);
    dis_encoder_destroy(encoder);
    dis_items_destroy(items);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_embed;
const cli_command cli_cmd_embed = {
    .name = "embed",
    .summary = "items into vectors by a pretrained encoder",
    .operands = "",
    .text =
        "Writes one row of numbers per item, the same as transformers computes from the same folder: config.json, a "
        "tokenizer, and model.safetensors or the files of its index (F32, F16, BF16). Encoders are those of BERT, "
        "RoBERTa, XLM-RoBERTa, DistilBERT, ELECTRA and MPNet. An item has one text or two (--text twice).\n\n"
        "The model mlp learns on such a file: dissent train --model mlp --items x.npy.",
    .examples = "  dissent embed --encoder minilm --items items.csv -o x.npy\n"
                "  dissent embed --encoder minilm --items pairs.csv --text premise --text hypothesis --pool first "
                "-o x.npy\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(embed_values),
    .run = run,
};
