/* dissent list TABLE [NAME]: the tables of the library, one row per line, or one row in
 * full. */
#include "tool/arrays.h"
#include "tool/method_checks.h"
#include "tool/experiments.h"
#include "tool/table_columns.h"
#include "core/cli.h"
#include <string.h>

typedef struct {
    cli_common common;
} list_values;

static const cli_option options[] = {CLI_HELP_OPTION(list_values)};

enum { NAME_COLUMN = 20, WIDE_COLUMN = 28 };

static const char *method_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_method_get(i) ? dis_method_get(i)->name : NULL;
}

static const char *combiner_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_combiner_get(i) ? dis_combiner_get(i)->name : NULL;
}

static const char *recipe_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_recipe_get(i) ? dis_recipe_get(i)->name : NULL;
}

static const char *metric_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_evaluation_metric_get(i) ? dis_evaluation_metric_get(i)->name : NULL;
}

static const char *preset_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_votes_preset_get(i) ? dis_votes_preset_get(i)->name : NULL;
}

static const char *crowd_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_synth_model_get(i) ? dis_synth_model_get(i)->name : NULL;
}

static const char *model_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_model_kind_get(i) ? dis_model_kind_get(i)->name : NULL;
}

static const char *objective_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_objective_get(i) ? dis_objective_get(i)->name : NULL;
}

static const char *part_name(const void *arg, size_t i)
{
    (void)arg;
    return dis__experiment_part_get(i) ? dis__experiment_part_get(i)->name : NULL;
}

/* What is missing is a row too. */
static const char *device_name(const void *arg, size_t i)
{
    (void)arg;
    if (dis_device_get(i)) return dis_device_get(i)->name;
    return dis_device_missing_reason() && (i == 0 || dis_device_get(i - 1)) ? "cuda" : NULL;
}

static const char *method_summary(size_t i)
{
    return dis_method_get(i)->summary;
}

static const char *combiner_summary(size_t i)
{
    return dis_combiner_get(i)->summary;
}

static const char *recipe_summary(size_t i)
{
    return dis_recipe_get(i)->summary;
}

static const char *metric_summary(size_t i)
{
    return dis_evaluation_metric_get(i)->summary;
}

/* Texts of the library name fields: here they are options. Valid until the next call. */
static const char *named_options(const char *text)
{
    static char named[256];
    cli_message_format(text, named, sizeof named);
    return named;
}

static const char *preset_summary(size_t i)
{
    return named_options(dis_votes_preset_get(i)->summary);
}

static const char *crowd_summary(size_t i)
{
    return dis_synth_model_get(i)->summary;
}

static const char *model_summary(size_t i)
{
    return dis_model_kind_get(i)->summary;
}

static const char *objective_summary(size_t i)
{
    return dis_objective_get(i)->summary;
}

static const char *part_summary(size_t i)
{
    return dis__experiment_part_get(i)->summary;
}

static const char *device_summary(size_t i)
{
    return dis_device_get(i) ? dis_device_get(i)->summary : "none found: dissent list devices cuda";
}

static void options_of(const dis_option *rows, size_t n)
{
    puts(n ? "options:" : "options: none");
    cli_method_options_print(stdout, rows, n, 2);
}

static void method_detail(size_t i)
{
    const dis_method *m = dis_method_get(i);
    static const char *const predictions[] = {"not used", "the prior of each item", "needed"};
    printf("%s: %s\nsource: %s\nobjective: %s\nneeds workers: %s\npredictions: %s\n", m->name, m->summary, m->source,
           m->objective, m->needs_workers ? "yes" : "no", predictions[m->predictions]);
    options_of(m->options, m->n_options);
}

static void combiner_detail(size_t i)
{
    const dis_combiner *m = dis_combiner_get(i);
    printf("%s: %s\nsource: %s\n", m->name, m->summary, m->source);
    options_of(m->options, m->n_options);
}

static void recipe_detail(size_t i)
{
    const dis_recipe *r = dis_recipe_get(i);
    printf("%s: %s\nsource: %s\n--method %s is equivalent to:\n", r->name, r->summary, r->source, r->name);
    for (size_t m = 0; m < r->n_views; m++) printf("  --method %s\n", r->views[m]);
    printf("  --combine %s\nwithout annotator ids:\n", r->combine);
    for (size_t m = 0; m < r->n_views_for_counts; m++) printf("  --method %s\n", r->views_for_counts[m]);
    printf("  --combine %s\n", r->combine);
    if (i == 0) puts("default of: dissent labels, dissent report");
}

static void metric_detail(size_t i)
{
    const dis_evaluation_metric_row *m = dis_evaluation_metric_get(i);
    printf("%s: %s\nbetter: %s\nneeds:%s%s%s%s%s%s\n", m->name, m->summary, m->better,
           m->needs & DIS_NEEDS_GOLD ? " gold labels" : "", m->needs & DIS_NEEDS_HUMAN ? " human labels" : "",
           m->needs & DIS_NEEDS_WORKERS ? " predictions per annotator (experiments)" : "",
           m->needs & DIS_NEEDS_ORDER ? ", ordered classes" : "",
           m->needs & DIS_NEEDS_SETS ? ", sets of classes (--scale multi-label)" : "",
           m->needs ? "" : " predictions only");
}

static void preset_detail(size_t i)
{
    static const char *const inputs[] = {"votes", "counts", "mace", "soft", "wide"};
    const dis_votes_preset *p = dis_votes_preset_get(i);
    const struct {
        const char *option, *value;
    } texts[] = {{"input-format", p->format}, {"records", p->records}, {"task", p->task},
                 {"worker", p->worker},       {"label", p->label},     {"time", p->time}};
    printf("%s: %s\n--input %s", p->name, preset_summary(i), inputs[p->input]);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (texts[t].value) printf(" --%s '%s'", texts[t].option, texts[t].value);
    for (size_t d = 0; d < p->n_drop; d++) printf(" --drop '%s=%s'", p->drop[d].column, p->drop[d].value);
    for (size_t d = 0; d < p->n_keep; d++) printf(" --keep '%s=%s'", p->keep[d].column, p->keep[d].value);
    printf("%s%s\n", p->no_header ? " --no-header" : "", p->empty_is_na ? " --na ''" : "");
    if (p->label_template) printf("with --label NAME, which @ stands for: --label '%s'\n", p->label_template);
}

static const char *role_name(const void *arg, size_t i)
{
    (void)arg;
    return dis__role_name((dis_role)i);
}

/* "task; performer, worker_id, ...": the names of a role, ranks apart. */
static const char *role_summary(size_t i)
{
    static char text[1500];
    dis_synonym s;
    size_t n = 0;
    int rank = 0;
    for (size_t k = 0; dis__role_synonym((dis_role)i, k, &s) && n < sizeof text; k++) {
        const char *between = k == 0 ? "" : s.rank == rank ? ", " : "; ";
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", between, (int)s.n, s.text);
        rank = s.rank;
    }
    return text;
}

static void role_detail(size_t i)
{
    printf("%s: %s\nNames before a semicolon take precedence over those after it. Case, '_', '-', '.' and spaces are "
           "ignored.\n",
           dis__role_name((dis_role)i), role_summary(i));
}

static const char *scale_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_scale_get(i) ? dis_scale_get(i)->name : NULL;
}

static const char *scale_summary(size_t i)
{
    return named_options(dis_scale_get(i)->summary);
}

static void scale_detail(size_t i)
{
    const dis_scale_row *s = dis_scale_get(i);
    const dis_scaled_model *m = dis__scaled_model_find((dis_scale)i);
    printf("%s: %s\na label: %s\nmethod: %s\nlabels: %s\n", s->name, scale_summary(i), s->label,
           s->method ? s->method : "label methods [default recipe]", s->columns);
    if (s->headline) printf("first agreement coefficients: %s\n", s->headline);
    if (!m) return;
    printf("%s: %s\nsource: %s\n", m->name, m->summary, m->source);
    options_of(m->options, m->n_options);
}

static void crowd_detail(size_t i)
{
    printf("%s: %s\n", dis_synth_model_get(i)->name, dis_synth_model_get(i)->summary);
}

static void model_detail(size_t i)
{
    static const char *const items[] = {"texts", "tokens", "features", "images"};
    const dis_model_kind *m = dis_model_kind_get(i);
    printf("%s: %s\nsource: %s\nitems: %s\nepochs %zu, batch %zu, rate %g, optimizer %s%s%s\n", m->name, m->summary,
           m->source, items[m->items_kind], m->epochs, m->batch, m->rate, m->optimizer,
           m->schedule ? ", schedule " : "", m->schedule ? m->schedule : "");
    options_of(m->options, m->n_options);
    if (m->n_recipes) printf("recipes:\n");
    for (size_t r = 0; r < m->n_recipes; r++) {
        char text[600];
        const dis_model_recipe *recipe = &m->recipes[r];
        printf("  %-18s", recipe->name);
        snprintf(text, sizeof text, "%s%s%s%s", recipe->summary, *recipe->options ? " (" : "", recipe->options,
                 *recipe->options ? ")" : "");
        for (char *c = text; *c; c++)
            if (*c == ',' && c[1] != ' ') *c = ' ';
        cli_text_wrap(stdout, text, NAME_COLUMN, NAME_COLUMN);
    }
}

static void objective_detail(size_t i)
{
    const dis_objective *o = dis_objective_get(i);
    printf("%s: %s\nneeds:%s%s%s\n", o->name, o->summary, o->needs_gold ? " gold labels" : "",
           o->needs_labels ? o->needs_gold ? ", soft labels" : " soft labels" : "", o->needs_votes ? " votes" : "");
    options_of(o->options, o->n_options);
}

static void part_detail(size_t i)
{
    dis_experiment_key key;
    printf("%s: %s\nkeys:\n", dis__experiment_part_get(i)->name, dis__experiment_part_get(i)->summary);
    for (size_t k = 0; dis__experiment_key_get(i, k, &key); k++) {
        char text[600];
        printf("  %-18s", key.key);
        snprintf(text, sizeof text, "%s (%s%s%s%s%s%s)", key.summary, key.required ? "required; " : "",
                 key.is_map ? "NAME: " : "", key.form, key.is_list && !key.is_map ? ", or a list of them" : "",
                 key.default_value ? "; default " : "", key.default_value ? key.default_value : "");
        cli_text_wrap(stdout, text, NAME_COLUMN, NAME_COLUMN);
    }
}

static void device_detail(size_t i)
{
    const dis_device *d = dis_device_get(i);
    if (!d) {
        printf("cuda: none found\nwhy: %s\n", dis_device_missing_reason());
        return;
    }
    printf("%s: %s\nfound: %s\nprecision: %s\ntrains: %s\n", d->name, d->summary, d->description,
           d->precision == DIS_PRECISION_BF16 ? "bf16" : "float32", d->can_train ? "yes" : "no");
}

static const struct {
    const char *name;
    const char *(*row)(const void *arg, size_t i);
    const char *(*summary)(size_t i);
    void (*detail)(size_t i);
} tables[] = {
    {"methods", method_name, method_summary, method_detail},
    {"combiners", combiner_name, combiner_summary, combiner_detail},
    {"recipes", recipe_name, recipe_summary, recipe_detail},
    {"metrics", metric_name, metric_summary, metric_detail},
    {"models", model_name, model_summary, model_detail},
    {"objectives", objective_name, objective_summary, objective_detail},
    {"presets", preset_name, preset_summary, preset_detail},
    {"columns", role_name, role_summary, role_detail},
    {"scales", scale_name, scale_summary, scale_detail},
    {"crowds", crowd_name, crowd_summary, crowd_detail},
    {"keys", part_name, part_summary, part_detail},
    {"devices", device_name, device_summary, device_detail},
};
enum { N_TABLES = sizeof tables / sizeof *tables };

static const char *table_name(const void *arg, size_t i)
{
    (void)arg;
    return i < N_TABLES ? tables[i].name : NULL;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)values;
    size_t t = 0;
    while (t < N_TABLES && strcmp(tables[t].name, operands[0]) != 0) t++;
    if (t == N_TABLES) {
        const char *near = dis__name_find_nearest(operands[0], table_name, NULL);
        return cli_usage(
            c,
            "no table \"%s\"; there are methods, combiners, recipes, metrics, models, objectives, presets, "
            "columns, scales, crowds, keys and devices%s%s%s",
            operands[0], near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (n_operands == 1) {
        int width = NAME_COLUMN;
        for (size_t i = 0; tables[t].row(NULL, i); i++)
            if (strlen(tables[t].row(NULL, i)) >= NAME_COLUMN) width = WIDE_COLUMN;
        for (size_t i = 0; tables[t].row(NULL, i); i++) {
            printf("%-*s", width, tables[t].row(NULL, i));
            cli_text_wrap(stdout, tables[t].summary(i), width, width);
        }
        return cli_flush(c);
    }
    for (size_t i = 0; tables[t].row(NULL, i); i++)
        if (strcmp(tables[t].row(NULL, i), operands[1]) == 0) {
            tables[t].detail(i);
            return cli_flush(c);
        }
    const char *near = dis__name_find_nearest(operands[1], tables[t].row, NULL);
    return cli_usage(c, "no \"%s\" among the %s%s%s%s", operands[1], tables[t].name, near ? "; did you mean " : "",
                     near ? near : "", near ? "?" : "");
}

extern const cli_command cli_cmd_list;
const cli_command cli_cmd_list = {
    .name = "list",
    .section = CLI_ADVANCED,
    .summary = "list methods, metrics, models, presets and other names",
    .operands = "TABLE [NAME]",
    .text =
        "TABLE is methods, combiners, recipes, metrics, models, objectives, presets, columns (recognized column "
        "names), scales (kinds of labels), crowds (models of simulated annotators), keys (of an experiment file) or "
        "devices. With NAME, prints all details of that row: the source of the formula, and each option with its "
        "default.",
    .examples = "  dissent list methods\n"
                "  dissent list methods dawid-skene\n"
                "  dissent list presets label-studio\n",
    .basic = "help",
    .words = "methods|combiners|recipes|metrics|models|objectives|presets|columns|scales|crowds|keys|devices",
    .min = 1,
    .max = 2,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(list_values),
    .run = run,
};
