/* dissent synth: votes of a simulated crowd with known true labels. */
#include "tool/files.h"
#include "core/cli.h"

typedef struct {
    cli_common common;
    const char *output, *gold, *text, *features;
    int model, theme, to;
    uint64_t items, workers, classes, votes_per_item, seed, n_features, judges, human_items;
    double accuracy, spread, spammers;
    bool shuffle;
} synth_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(synth_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(CHOICE, model, "model", .argument = "NAME", .fallback = "dawid-skene",
           .choices = "dawid-skene|one-coin|spammer|difficulty|ambiguous",
           CLI_HELP(METHOD, "model of the annotators (see: dissent list crowds)")),
    OPTION(COUNT, items, "items", .argument = "N", .fallback = "1000", .low = 1, .high = 4294967294.,
           CLI_HELP(METHOD, "number of items")),
    OPTION(COUNT, workers, "workers", .argument = "N", .fallback = "50", .low = 1, .high = 4294967294.,
           CLI_HELP(METHOD, "number of annotators")),
    OPTION(COUNT, classes, "classes", .argument = "N", .fallback = "4", .low = 1, .high = 65535,
           CLI_HELP(METHOD, "number of classes")),
    OPTION(COUNT, votes_per_item, "votes-per-item", .argument = "N", .fallback = "5", .low = 1, .high = 4294967294.,
           CLI_HELP(METHOD, "votes per item, each by another annotator")),
    OPTION(REAL, accuracy, "accuracy", .argument = "X", .fallback = "0.7", .low = 0, .high = 1,
           CLI_HELP(METHOD, "mean accuracy of the annotators")),
    OPTION(REAL, spread, "spread", .argument = "X", .fallback = "0.15", .low = 0, .high = .5,
           CLI_HELP(METHOD, "standard deviation of the accuracy of annotators")),
    OPTION(REAL, spammers, "spammers", .argument = "X", .fallback = "0.2", .low = 0, .high = 1,
           CLI_HELP(METHOD, "share of annotators who ignore the items (models spammer and ambiguous)")),
    OPTION(CHOICE, theme, "theme", .argument = "NAME", .fallback = "none", .choices = "none|tickets|reviews",
           CLI_HELP(METHOD, "class names and English texts: support tickets (up to 6 classes), reviews (up to 4)")),
    OPTION(COUNT, judges, "judges", .argument = "N", .fallback = "0", .low = 0, .high = 64,
           CLI_HELP(METHOD, "number of LLM judges that vote on every item; adds a column kind (human, llm)")),
    OPTION(COUNT, human_items, "human-items", .argument = "N", .fallback = "0", .low = 0, .high = 4294967294.,
           CLI_HELP(METHOD, "with --judges: people vote on the first N items only [all]")),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0", .low = 0, .high = 0),
    OPTION(FLAG, shuffle, "shuffle", CLI_HELP(OUTPUT, "write rows in random order instead of grouped by item")),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           .formats = "csv|json", .standard = "the votes"),
    OPTION(CHOICE, to, "to", .argument = "FORMAT", .fallback = "votes", .choices = "votes|label-studio|mturk",
           CLI_HELP(OUTPUT, "write task,worker,label (votes), or an export of that tool with the texts")),
    CLI_OUTPUT_OPTION(synth_values, gold, "gold", "csv", CLI_HELP(OUTPUT, "write the true classes (task,label)")),
    CLI_OUTPUT_OPTION(synth_values, text, "text", "csv",
                      CLI_HELP(OUTPUT, "write texts whose words depend on the true class (task,text)")),
    CLI_OUTPUT_OPTION(synth_values, features, "features", "npy",
                      CLI_HELP(OUTPUT, "write features that depend on the true class (npy, float32)")),
    OPTION(COUNT, n_features, "n-features", .argument = "N", .fallback = "16", .low = 1, .high = 16384,
           CLI_HELP(OUTPUT, "values per item in --features")),
    CLI_COMMON_OPTIONS(synth_values),
};
/* clang-format on */

static const char *const themes[] = {"none", "tickets", "reviews"};
static const char *const formats[] = {"votes", "label-studio", "mturk"};

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)operands;
    (void)n_operands;
    const synth_values *v = values;
    dis_synth_options o = dis_synth_options_default();
    o.model = dis_synth_model_get((size_t)v->model)->name;
    o.n_items = v->items;
    o.n_workers = v->workers;
    o.n_classes = v->classes;
    o.votes_per_item = v->votes_per_item;
    o.seed = v->seed;
    o.accuracy = v->accuracy;
    o.spread = v->spread;
    o.spammers = v->spammers;
    o.shuffle = v->shuffle;
    o.text = v->text;
    o.features = v->features;
    o.n_features = v->n_features;
    o.theme = v->theme ? themes[v->theme] : NULL;
    o.to = formats[v->to];
    o.n_judges = v->judges;
    o.human_items = v->human_items;
    bool known;
    dis_status status = DIS_OK;
    if (v->output && !cli_is_dash(v->output))
        status = dis__file_check_output(v->output, v->to == 1 ? "json" : "csv", &known);
    if (status != DIS_OK) return cli_failed(c, status);
    dis_context *ctx;
    status = cli_context_create(c, &v->common, &ctx);
    if (status != DIS_OK) return cli_failed(c, status);
    status = dis_synth_write(ctx, &o, v->output ? v->output : "-", v->gold);
    dis_context_destroy(ctx);
    if (status != DIS_OK) return cli_failed(c, status);
    cli_print(c, "%llu votes on %llu items by %llu workers%s, %llu classes, model %s, seed %llu (%.2f s)",
              (unsigned long long)((v->human_items ? v->human_items : v->items) * v->votes_per_item +
                                   v->items * v->judges),
              (unsigned long long)v->items, (unsigned long long)v->workers, v->judges ? " and judges" : "",
              (unsigned long long)v->classes, o.model, (unsigned long long)v->seed, cli_seconds_since(&c->start));
    return 0;
}

extern const cli_command cli_cmd_synth;
const cli_command cli_cmd_synth = {
    .name = "synth",
    .section = CLI_ADVANCED,
    .summary = "simulate annotations with known true labels",
    .operands = "",
    .text = "Draws annotators of known accuracy and writes their votes (task,worker,label), and the true labels, for "
            "demos, tests and benchmarks. The same options give the same bytes on every machine. Votes are written as "
            "they are drawn, so memory does not grow with their number.\n\n"
            "With --theme, items have English texts that a model can learn from. With --to, votes are written as an "
            "export of Label Studio or MTurk, in which one vote in 50 is cancelled or rejected.",
    .examples = "  dissent synth --items 1000 --gold gold.csv -o votes.csv\n"
                "  dissent synth --theme tickets --model ambiguous --to label-studio -o export.json\n"
                "  dissent synth --theme reviews --judges 3 --human-items 300 --gold gold.csv -o votes.csv\n"
                "  dissent synth --model spammer --spammers .3 --workers 100 --shuffle -o votes.csv\n",
    .basic = "model|items|workers|classes|votes-per-item|theme|seed|output|to|gold",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(synth_values),
    .run = run,
};
