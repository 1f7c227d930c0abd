/* dissent embed: computes vectors of items by a pretrained encoder. */
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

#define OPTION(kind, field, name, ...) CLI_OPTION(embed_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    CLI_ENCODER_OPTION(embed_values, CLI_ENCODER_FILES),
    OPTION(TEXT, items, "items", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(CHOICE, pool, "pool", .argument = "WHAT", .fallback = "mean", .choices = "mean|first",
           CLI_HELP(METHOD, "vector of a text: mean of its tokens, or its first token")),
    OPTION(FLAG, normalise, "normalise", CLI_HELP(METHOD, "scale vectors to length 1")),
    CLI_MAX_LENGTH_OPTION(embed_values),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT, .formats = "npy",
           CLI_HELP(OUTPUT, "write one float32 row per item to NAME.npy, and the ids to NAME.tasks.txt")),
    CLI_DEVICE_OPTION(embed_values),
    CLI_PRECISION_OPTION(embed_values),
    CLI_ITEMS_OPTIONS(embed_values, reading),
    CLI_COMMON_OPTIONS(embed_values),
};
/* clang-format on */

static int embed(cli *c, const embed_values *v, dis_context *ctx, const dis_items *items, dis_encoder *encoder)
{
    const dis_items_view view = dis_items_get_view(items);
    const dis_encoder_view e = dis_encoder_get_view(encoder);
    dis_embed_options o = dis_embed_options_default();
    o.pooling = (dis_embed_pooling)v->pool;
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
    .section = CLI_ADVANCED,
    .summary = "compute vectors of texts with a pretrained encoder",
    .operands = "",
    .text = "Writes one vector per item, equal to what transformers computes from the same folder. The folder has "
            "config.json, a tokenizer, and model.safetensors or the files of its index (F32, F16, BF16). BERT, "
            "RoBERTa, XLM-RoBERTa, DistilBERT, ELECTRA and MPNet are supported. An item has one text, or two (--text "
            "twice).\n\n"
            "The output can be used as features: dissent train --model mlp --items x.npy.",
    .examples = "  dissent embed --encoder minilm --items items.csv -o x.npy\n"
                "  dissent embed --encoder minilm --items items.csv --normalise --device auto -o x.npy\n"
                "  dissent embed --encoder minilm --items pairs.csv --text premise --text hypothesis -o x.npy\n",
    .basic = "encoder|items|task|text|pool|normalise|max-length|output|device|quiet",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(embed_values),
    .run = run,
};
