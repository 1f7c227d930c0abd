/* dissent synth: votes of a crowd whose truth is known. */
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

#define COUNT(field, name_, fallback_, low_, high_, summary_)                                       \
    {                                                                                               \
        .name = name_, .kind = CLI_COUNT, .offset = offsetof(synth_values, field), .argument = "N", \
        .fallback = fallback_, .low = low_, .high = high_, .summary = summary_                      \
    }
#define SHARE(field, name_, fallback_, high_, summary_)                                            \
    {                                                                                              \
        .name = name_, .kind = CLI_REAL, .offset = offsetof(synth_values, field), .argument = "X", \
        .fallback = fallback_, .low = 0, .high = high_, .summary = summary_                        \
    }

static const cli_option options[] = {
    {.name = "model",
     .kind = CLI_CHOICE,
     .offset = offsetof(synth_values, model),
     .argument = "NAME",
     .fallback = "dawid-skene",
     .choices = "dawid-skene|one-coin|spammer|difficulty|ambiguous",
     .summary = "how the crowd votes"},
    COUNT(items, "items", "1000", 1, 4294967294., "number of items"),
    COUNT(workers, "workers", "50", 1, 4294967294., "number of workers"),
    COUNT(classes, "classes", "4", 1, 65535, "number of classes"),
    COUNT(votes_per_item, "votes-per-item", "5", 1, 4294967294., "votes on each item, by that many different workers"),
    SHARE(accuracy, "accuracy", "0.7", 1, "mean chance that a worker is right"),
    SHARE(spread, "spread", "0.15", .5, "how much workers differ: standard deviation of that chance"),
    SHARE(spammers, "spammers", "0.2", 1, "share of workers who vote without looking (models spammer and ambiguous)"),
    {.name = "theme",
     .kind = CLI_CHOICE,
     .offset = offsetof(synth_values, theme),
     .argument = "NAME",
     .fallback = "none",
     .choices = "none|tickets|reviews",
     .summary = "class names and English texts: support tickets (up to 6 classes) or product reviews (up to 4)"},
    COUNT(judges, "judges", "0", 0, 64, "LLM judges that vote on every item; adds the column kind (human or llm)"),
    COUNT(human_items, "human-items", "0", 0, 4294967294.,
          "with --judges: people vote on the first N items; 0: on all"),
    COUNT(seed, "seed", "0", 0, 0, "another seed, another crowd"),
    {.name = "shuffle",
     .kind = CLI_FLAG,
     .offset = offsetof(synth_values, shuffle),
     .summary = "rows in random order instead of grouped by item"},
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(synth_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_OUTPUT,
     .summary = "where the votes go; without it, standard output",
     .formats = "csv|json",
     .standard = "the votes"},
    {.name = "to",
     .kind = CLI_CHOICE,
     .offset = offsetof(synth_values, to),
     .argument = "FORMAT",
     .fallback = "votes",
     .choices = "votes|label-studio|mturk",
     .summary = "votes: task,worker,label; else the export of that tool, with the texts"},
    CLI_OUTPUT_OPTION(synth_values, gold, "gold", "csv", "also write the true classes (task,label)"),
    CLI_OUTPUT_OPTION(synth_values, text, "text", "csv",
                      "also write texts whose words depend on the true class (task,text)"),
    CLI_OUTPUT_OPTION(synth_values, features, "features", "npy",
                      "also write features that depend on the true class (npy, float32)"),
    COUNT(n_features, "n-features", "16", 1, 16384, "numbers per item in --features"),
    CLI_COMMON_OPTIONS(synth_values),
};

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
    .summary = "make the votes of a crowd whose truth is known",
    .operands = "",
    .text =
        "Draws annotators of known accuracy and writes their votes (task,worker,label), and the true labels, for "
        "demos, "
        "tests and benchmarks. The same options give the same bytes on every machine. Votes are written as they are "
        "drawn: 1e8 of them need no more memory than 1e3.\n\n"
        "With --theme, items have English texts that a model can learn from. With --to, votes are written as an export "
        "of Label Studio or MTurk, in which one vote in 50 is cancelled or rejected.",
    .examples = "  dissent synth --items 1000 --gold gold.csv -o votes.csv\n"
                "  dissent synth --model spammer --spammers .3 --items 1e6 --workers 1000 --shuffle -o votes.csv\n"
                "  dissent synth --theme tickets --model ambiguous --to label-studio -o export.json\n"
                "  dissent synth --theme reviews --judges 3 --human-items 300 --gold gold.csv -o votes.csv\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(synth_values),
    .run = run,
};
