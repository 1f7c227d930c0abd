/* Help texts of options that several commands have: one row per option, so that the same option has the same text
 * everywhere. An option of one command, or one that means something else there, has its text in its own row. */
#include "core/cli.h"
#include <string.h>

static const struct {
    const char *name;
    cli_group group;
    const char *text;
} shared[] = {
    /* input */
    {"gold", CLI_GROUP_INPUT, "known labels (columns task and label)"},
    {"gold-columns", CLI_GROUP_INPUT, "columns of the item and the label in --gold [detected]"},
    {"votes", CLI_GROUP_INPUT, "annotations of the same items"},
    {"human", CLI_GROUP_INPUT, "soft labels of people, as written by dissent labels"},
    {"human-labels", CLI_GROUP_INPUT, "method that computes soft labels from --votes, e.g. standard or softmax"},
    {"labels", CLI_GROUP_INPUT, "labels of the items, as written by dissent labels"},
    {"items", CLI_GROUP_INPUT, "items: texts, tokens, features or images"},
    {"texts", CLI_GROUP_INPUT, "texts of the items (columns task and text), or the export of the votes"},
    {"text", CLI_GROUP_INPUT, "column or JSON path of the item text; repeat for several [text]"},
    {"preset", CLI_GROUP_INPUT, "read an export of a known tool (see: dissent list presets)"},
    {"task", CLI_GROUP_INPUT, "column or JSON path of the item id [detected]"},
    {"worker", CLI_GROUP_INPUT, "column or JSON path of the annotator id [detected]"},
    {"label", CLI_GROUP_INPUT, "column or JSON path of the label, or question of a preset [detected]"},
    {"task,worker,label", CLI_GROUP_INPUT, "column names, if they are not detected (see: dissent list columns)"},
    {"swapped", CLI_GROUP_INPUT, "votes on the same pairs with the two answers exchanged"},
    {"mirror", CLI_GROUP_INPUT,
     "label A of one order is label B of the other, e.g. first=second [labels name the answers]"},
    {"first", CLI_GROUP_INPUT, "label for \"the first answer is better\"; reports the direction of position bias"},
    {"time", CLI_GROUP_INPUT, "column or JSON path of the time, for --duplicates first and last"},
    {"scale", CLI_GROUP_INPUT, "kind of labels (see: dissent list scales)"},
    {"ordinal", CLI_GROUP_INPUT, "short for --scale ordinal"},
    /* input format */
    {"input", CLI_GROUP_FORMAT, "what a row is; wide: an item, with one column per annotator [votes]"},
    {"input-format", CLI_GROUP_FORMAT, "file format: csv, tsv, json, jsonl or npy [by extension, else csv]"},
    {"delimiter", CLI_GROUP_FORMAT, "column separator: one character, tab or space [detected]"},
    {"no-header", CLI_GROUP_FORMAT, "the file has no header row; refer to columns as 0, 1, 2, ..."},
    {"skip", CLI_GROUP_FORMAT, "skip N lines before the header"},
    {"records", CLI_GROUP_FORMAT, "JSON path of the list of records; . for a single record [the file]"},
    {"a", CLI_GROUP_FORMAT, "pairwise: column of the first candidate [a, model_a, model_1 or left]"},
    {"b", CLI_GROUP_FORMAT, "pairwise: column of the second candidate [b, model_b, model_2 or right]"},
    {"start", CLI_GROUP_FORMAT, "spans: column of the start position [start or begin]"},
    {"end", CLI_GROUP_FORMAT, "spans: column of the end position (exclusive) [end or stop]"},
    {"items-format", CLI_GROUP_FORMAT, "csv, tsv, jsonl, conll, npy, f32 or cifar [by extension, else csv]"},
    {"sentence", CLI_GROUP_FORMAT, "column of the sentence id of a token [sentence]"},
    {"ids", CLI_GROUP_FORMAT, "item ids, one per line, for files without an id column [0, 1, 2, ...]"},
    {"width", CLI_GROUP_FORMAT, "values per row of a raw float32 file"},
    /* rows and labels */
    {"drop", CLI_GROUP_ROWS, "skip rows in which COLUMN is VALUE"},
    {"keep", CLI_GROUP_ROWS, "skip rows in which COLUMN is not VALUE (* matches any text)"},
    {"where", CLI_GROUP_ROWS, "read only items in which COLUMN is VALUE"},
    {"several", CLI_GROUP_ROWS, "several labels per answer: separate votes (all) or one class a+b (join)"},
    {"classes", CLI_GROUP_ROWS, "classes in order: a,b,c or a file with one per line [from the data]"},
    {"na", CLI_GROUP_ROWS, "label that means no vote; --na \"\" for empty labels"},
    {"fold-case", CLI_GROUP_ROWS, "ignore case in labels; classes are written in lower case"},
    {"trim", CLI_GROUP_ROWS, "remove spaces around labels"},
    {"allow-many-classes", CLI_GROUP_ROWS, "accept a label column in which most values are different"},
    {"duplicates", CLI_GROUP_ROWS, "rule for several votes of one annotator on one item"},
    {"lenient", CLI_GROUP_ROWS, "skip invalid rows and unmatched items, and report their number"},
    {"renormalise", CLI_GROUP_ROWS, "rescale soft labels that do not sum to 1, and report their number"},
    {"min-votes", CLI_GROUP_ROWS, "skip items with fewer than N votes"},
    /* method and model */
    {"method", CLI_GROUP_METHOD, "label method or recipe, NAME[:key=value,...]; repeat to combine several [default]"},
    {"combine", CLI_GROUP_METHOD, "combination of label sets, NAME[:key=value,...] [set by the recipe]"},
    {"covariate", CLI_GROUP_METHOD,
     "pairwise: covariate in favor of the first candidate: A,B (difference), A,B@GROUP or A"},
    {"seed", CLI_GROUP_METHOD, "random seed (a method's own seed= takes precedence)"},
    {"encoder", CLI_GROUP_METHOD, "folder of a pretrained encoder from Hugging Face"},
    {"max-length", CLI_GROUP_METHOD, "maximum number of tokens per text [the encoder's maximum]"},
    {"budget", CLI_GROUP_METHOD, "number of further votes to assign to items"},
    /* groups of annotators */
    {"worker-table", CLI_GROUP_GROUPS, "annotator metadata: CSV, TSV or JSONL with a column of annotator ids"},
    {"table-id", CLI_GROUP_GROUPS, "column of the annotator id in --worker-table [detected]"},
    {"table-prefix", CLI_GROUP_GROUPS, "text to put before every annotator id of --worker-table"},
    {"group", CLI_GROUP_GROUPS, "column of --worker-table that defines the groups"},
    {"cuts", CLI_GROUP_GROUPS, "split a numeric --group column at these values, e.g. 30,45"},
    {"min-group", CLI_GROUP_GROUPS, "minimum number of annotators in a reported group"},
    {"small-groups", CLI_GROUP_GROUPS, "smaller groups: merge them into \"other\", or hide them"},
    {"permutations", CLI_GROUP_GROUPS, "permutations of group membership in tests of groups; 0: no tests"},
    {"voter-type", CLI_GROUP_GROUPS, "column of the votes or of --worker-table that tells people from models"},
    {"people", CLI_GROUP_GROUPS, "values of --voter-type for people, or ids of people [human, person, people]"},
    /* intervals and tests */
    {"resamples", CLI_GROUP_STATISTICS, "bootstrap resamples for 95 % intervals; 0: no intervals"},
    {"fraction", CLI_GROUP_STATISTICS, "share of the items in each bootstrap resample"},
    {"epsilon", CLI_GROUP_STATISTICS,
     "alternative-annotator test: cost advantage of a judge; .15 skilled people, .2 experts"},
    {"fdr", CLI_GROUP_STATISTICS, "alternative-annotator test: false discovery rate"},
    {"min-people", CLI_GROUP_STATISTICS, "alternative-annotator test: minimum number of human votes per item"},
    {"min-items", CLI_GROUP_STATISTICS,
     "alternative-annotator test: minimum number of common items of a person and a judge"},
    {"half-width", CLI_GROUP_STATISTICS,
     "desired half width of class-share intervals; sets the number of items to label"},
    {"over", CLI_GROUP_STATISTICS, "intervals hold for new annotators and items, or for new items only"},
    /* output */
    {"output", CLI_GROUP_OUTPUT, "write the result to FILE [standard output]"},
    {"format", CLI_GROUP_OUTPUT, "output format: csv, tsv, jsonl or npy [by extension, else csv]"},
    {"page", CLI_GROUP_OUTPUT, "write the result as an HTML page"},
    {"json", CLI_GROUP_OUTPUT, "write a machine-readable summary to FILE (- for standard output)"},
    {"workers", CLI_GROUP_OUTPUT, "write annotator statistics, one row per annotator"},
    {"classes-table", CLI_GROUP_OUTPUT, "write one row per class"},
    {"pairs", CLI_GROUP_OUTPUT, "write one row per pair of annotators"},
    {"group-table", CLI_GROUP_OUTPUT, "write one row per group of annotators"},
    {"table", CLI_GROUP_OUTPUT, "write table NAME (labels, items, workers, ...) of multi-label and other scales"},
    /* performance */
    {"jobs", CLI_GROUP_PERFORMANCE, "number of parallel runs; auto: one per thread, on a GPU up to 12"},
    {"device", CLI_GROUP_PERFORMANCE, "cpu, cuda, cuda:N or auto (see: dissent list devices)"},
    {"precision", CLI_GROUP_PERFORMANCE, "precision of matrix multiplication; auto: bf16 on CUDA, else float32"},
    {"threads", CLI_GROUP_PERFORMANCE, "number of threads; results do not depend on it [all cores]"},
    {"memory", CLI_GROUP_PERFORMANCE,
     "memory limit, e.g. 500M or 3G; larger data is spilled to temporary files [all available]"},
    /* general */
    {"verbose", CLI_GROUP_GENERAL, "print more, e.g. iterations and objectives"},
    {"quiet", CLI_GROUP_GENERAL, "print errors only"},
    {"help", CLI_GROUP_GENERAL, "-h: print common options; --help: print all options"},
};

static size_t shared_at(const char *name)
{
    enum { N = sizeof shared / sizeof *shared };
    size_t i = 0;
    while (i < N && strcmp(shared[i].name, name) != 0) i++;
    return i < N ? i : SIZE_MAX;
}

const char *cli_shared_text(const char *name)
{
    const size_t i = shared_at(name);
    return i == SIZE_MAX ? "" : shared[i].text;
}

const char *cli_option_summary(const cli_option *o)
{
    return o->summary ? o->summary : cli_shared_text(o->name);
}

cli_group cli_option_group(const cli_option *o)
{
    const size_t i = o->group == CLI_GROUP_SHARED ? shared_at(o->name) : SIZE_MAX;
    return i == SIZE_MAX ? o->group : shared[i].group;
}

const char *cli_group_title(cli_group group)
{
    static const char *const titles[] = {
        [CLI_GROUP_SHARED] = "Other",
        [CLI_GROUP_INPUT] = "Input",
        [CLI_GROUP_FORMAT] = "Input format",
        [CLI_GROUP_ROWS] = "Rows and labels",
        [CLI_GROUP_METHOD] = "Method",
        [CLI_GROUP_TRAINING] = "Training",
        [CLI_GROUP_DEVELOPMENT] = "Development set",
        [CLI_GROUP_METRICS] = "Metrics",
        [CLI_GROUP_GROUPS] = "Annotators and groups",
        [CLI_GROUP_STATISTICS] = "Intervals and tests",
        [CLI_GROUP_OUTPUT] = "Output",
        [CLI_GROUP_PERFORMANCE] = "Performance",
        [CLI_GROUP_GENERAL] = "General",
    };
    return titles[group];
}

void cli_option_text_format(char *out, size_t size, const cli_option *o)
{
    const char *text = cli_option_summary(o);
    const size_t n = strlen(text);
    const bool repeats = o->kind == CLI_LIST && !strstr(text, "repeat");
    const char *bracket = n > 0 && text[n - 1] == ']' ? strrchr(text, '[') : NULL;
    const int before = (int)(bracket ? (size_t)(bracket - text) - (bracket > text) : n);
    const char *fallback = bracket ? NULL : o->fallback;
    snprintf(out, size, "%.*s%s%s%s%s%s%s%s%s", before, text, o->choices ? ": " : "", o->choices ? o->choices : "",
             repeats ? "; repeatable" : "", bracket ? " " : "", bracket ? bracket : "", fallback ? " [" : "",
             fallback ? fallback : "", fallback ? "]" : "");
}
