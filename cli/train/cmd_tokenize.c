/* dissent tokenize: texts into the ids that a pretrained encoder reads. */
#include "core/cli.h"

typedef struct {
    cli_common common;
    const char *encoder, *output;
    bool no_special;
    uint64_t max_length;
} tokenize_values;

static const cli_option options[] = {
    CLI_ENCODER_OPTION(tokenize_values,
                       "tokenizer.json|tokenizer_config.json|special_tokens_map.json|config.json|vocab.txt|vocab.json|"
                       "merges.txt|encoder.json|vocab.bpe",
                       "; only its tokenizer is read"),
    {.name = "no-special",
     .kind = CLI_FLAG,
     .offset = offsetof(tokenize_values, no_special),
     .summary = "no special tokens around the texts"},
    CLI_MAX_LENGTH_OPTION(tokenize_values),
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(tokenize_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_OUTPUT,
     .summary = "where the lists go; without it, standard output",
     .formats = "jsonl",
     .standard = "the lists"},
    CLI_COMMON_OPTIONS(tokenize_values),
};

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const tokenize_values *v = values;
    dis_context *ctx = NULL;
    dis_tokenizer *t = NULL;
    size_t n = 0;
    (void)n_operands;
    if (!v->encoder) return cli_usage(c, "tokenize needs the encoder: --encoder FOLDER");
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.no_special = v->no_special;
    o.max_length = (size_t)v->max_length;
    int code = cli_failed(c, cli_context_create(c, &v->common, &ctx));
    if (code == 0) code = cli_failed(c, dis_tokenizer_read(ctx, v->encoder, &t));
    if (code == 0)
        code = cli_failed(c, dis_tokenizer_encode_file(ctx, t, operands[0], &o, v->output ? v->output : "-", &n));
    char number[CLI_NUMBER];
    if (code == 0)
        cli_print(c, "%s text%s by %s, %d ids (%.2f s)", cli_count_format(n, number), cli_plural(n),
                  dis_tokenizer_get_view(t).model, (int)dis_tokenizer_get_view(t).n_ids, cli_seconds_since(&c->start));
    dis_tokenizer_destroy(t);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_tokenize;
const cli_command cli_cmd_tokenize = {
    .name = "tokenize",
    .summary = "texts into the ids that a pretrained encoder reads",
    .operands = "FILE",
    .text =
        "Reads one text per line (- is standard input) and writes one JSON list of ids per line, the same ids as "
        "Hugging "
        "Face tokenizers makes. The tokenizer is that of the folder: tokenizer.json, or vocab.json and merges.txt, or "
        "vocab.txt. No weights are needed. Padding and truncation blocks of tokenizer.json are ignored.",
    .examples = "  dissent tokenize --encoder minilm texts.txt\n"
                "  echo \"A man eats.\" | dissent tokenize --encoder minilm --no-special -\n",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(tokenize_values),
    .run = run,
};
