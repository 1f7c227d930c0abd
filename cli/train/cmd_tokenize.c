/* dissent tokenize: converts texts to the ids of a pretrained encoder. */
#include "core/cli.h"
#include "tool/files.h"

typedef struct {
    cli_common common;
    const char *encoder, *output;
    bool no_special;
    uint64_t max_length;
} tokenize_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(tokenize_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    CLI_ENCODER_OPTION(tokenize_values,
                       "tokenizer.json|tokenizer_config.json|special_tokens_map.json|config.json|vocab.txt|vocab.json|"
                       "merges.txt|encoder.json|vocab.bpe"),
    OPTION(FLAG, no_special, "no-special", CLI_HELP(METHOD, "add no special tokens")),
    CLI_MAX_LENGTH_OPTION(tokenize_values),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT, .formats = "jsonl",
           .standard = "the lists"),
    CLI_COMMON_OPTIONS(tokenize_values),
};
/* clang-format on */

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const tokenize_values *v = values;
    dis_context *ctx = NULL;
    dis_tokenizer *t = NULL;
    size_t n = 0;
    (void)n_operands;
    if (!v->encoder) return cli_usage(c, "tokenize needs the encoder: --encoder FOLDER");
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.no_special_tokens = v->no_special;
    o.max_length = (size_t)v->max_length;
    int code = cli_failed(c, cli_context_create(c, &v->common, &ctx));
    if (code == 0) code = cli_failed(c, dis_tokenizer_read(ctx, v->encoder, &t));
    if (code == 0)
        code = cli_failed(c, dis__tokenizer_encode_file(ctx, t, operands[0], &o, v->output ? v->output : "-", &n));
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
    .section = CLI_ADVANCED,
    .summary = "convert texts to token ids of a pretrained encoder",
    .operands = "FILE",
    .text = "Reads one text per line (- is standard input) and writes one JSON list of token ids per line, equal to "
            "those of Hugging Face tokenizers. The tokenizer is read from the folder: tokenizer.json, or vocab.json "
            "and merges.txt, or vocab.txt. No weights are needed. Padding and truncation settings of tokenizer.json "
            "are ignored.",
    .examples = "  dissent tokenize --encoder minilm texts.txt\n"
                "  dissent tokenize --encoder minilm texts.txt --max-length 128 -o ids.jsonl\n"
                "  echo \"A man eats.\" | dissent tokenize --encoder minilm --no-special -\n",
    .basic = "encoder|max-length|no-special|output|threads|quiet",
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(tokenize_values),
    .run = run,
};
