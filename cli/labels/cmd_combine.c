/* dissent combine: one file of soft labels from several, matched by the names of items and classes. */
#include "tool/json_writer.h"
#include "tool/method_checks.h"
#include "output/json_summary.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    const char *output, *format, *combine, *json;
    bool renormalise;
} combine_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(combine_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT, .formats = CLI_LABEL_FORMATS, .standard = "the labels"),
    OPTION(TEXT, format, "format", .argument = "FORMAT"),
    OPTION(TEXT, combine, "combine", .argument = "SPEC", .fallback = "centroid", .names = CLI_NAMES_COMBINER),
    OPTION(FLAG, renormalise, "renormalise", CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(combine_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_COMMON_OPTIONS(combine_values),
};
/* clang-format on */

typedef struct {
    cli *c;
    const combine_values *v;
    dis_context *ctx;
    char *const *paths;
    size_t n;
    dis_labels *labels[DIS_MAX_VIEWS]; /* as read, then in the order of the first */
    dis_combination did;
    double *p;
} combine_command;

static int read_all(combine_command *job)
{
    dis_labels_read_options o = dis_labels_read_options_default();
    o.renormalise = job->v->renormalise;
    for (size_t m = 0; m < job->n; m++) {
        dis_status status = dis_labels_read(job->ctx, job->paths[m], &o, &job->labels[m]);
        if (status != DIS_OK) return cli_failed(job->c, status);
        const uint64_t scaled = dis_labels_n_renormalised(job->labels[m]);
        if (scaled)
            cli_warn(job->c, "%s: %llu rows that did not sum to 1 were rescaled", job->paths[m],
                     (unsigned long long)scaled);
        if (m == 0) continue;
        const dis_labels_view first = dis_labels_get_view(job->labels[0]);
        dis_labels *aligned;
        status = dis_labels_align(job->ctx, job->labels[m], first.tasks, first.classes, &aligned);
        if (status != DIS_OK) return cli_failed_on(job->c, status, job->paths[m]);
        dis_labels_destroy(job->labels[m]);
        job->labels[m] = aligned;
    }
    return 0;
}

static int combine_all(combine_command *job)
{
    const dis_labels_view first = dis_labels_get_view(job->labels[0]);
    const double *p[DIS_MAX_VIEWS];
    for (size_t m = 0; m < job->n; m++) p[m] = dis_labels_get_view(job->labels[m]).p;
    job->p = calloc(first.n_items ? first.n_items : 1, first.n_classes * sizeof *job->p);
    if (!job->p) return cli_error(job->c, DIS_ELIMIT, "no memory for the labels of %zu items", first.n_items);
    const dis_views views = {
        .size = sizeof(dis_views), .n_items = first.n_items, .n_classes = first.n_classes, .n_views = job->n, .p = p};
    dis_status status = dis_views_combine(job->ctx, &views, job->v->combine, job->p, &job->did);
    if (status != DIS_OK) return cli_failed(job->c, status);
    const dis_labels_view out = {.size = sizeof(dis_labels_view),
                                 .n_items = first.n_items,
                                 .n_classes = first.n_classes,
                                 .p = job->p,
                                 .tasks = first.tasks,
                                 .classes = first.classes};
    return cli_failed(job->c, dis_labels_write(job->ctx, &out, job->v->output ? job->v->output : "-", job->v->format));
}

static dis_status write_json(const combine_command *job)
{
    dis__json_writer *j;
    dis_status status = cli_summary_open(job->v->json, "combine", NULL, &j);
    if (status != DIS_OK) return status;
    cli_json_write_text(j, "spec", job->v->combine);
    cli_json_write_count(j, "items", dis_labels_get_view(job->labels[0]).n_items);
    cli_inputs_begin(j);
    for (size_t m = 0; m < job->n && status == DIS_OK; m++) {
        dis__json_writer_begin_object(j);
        status = cli_input_write_fields(j, job->paths[m], "labels");
        cli_json_write_count(j, "renormalised", dis_labels_n_renormalised(job->labels[m]));
        cli_json_write_real(j, "weight", job->did.weight[m]);
        cli_json_write_real(j, "temperature", job->did.temperature[m] > 0 ? job->did.temperature[m] : NAN);
        cli_json_write_bool(j, "on_bound", job->did.at_bound[m]);
        dis__json_writer_end_object(j);
    }
    cli_inputs_end(j);
    cli_json_write_real(j, "objective", job->did.objective);
    return cli_summary_close(j, status);
}

static void print_summary(combine_command *job)
{
    for (size_t m = 0; m < job->n; m++) {
        char safe[CLI_SAFE], temperature[64] = "";
        if (job->did.temperature[m] > 0)
            snprintf(temperature, sizeof temperature, "  temperature %.4f%s", job->did.temperature[m],
                     job->did.at_bound[m] ? " (on its bound)" : "");
        cli_print(job->c, "  %-26s weight %.4f%s", cli_safe(job->paths[m], safe), job->did.weight[m], temperature);
    }
    const dis_labels_view first = dis_labels_get_view(job->labels[0]);
    char safe[CLI_SAFE], items[CLI_NUMBER];
    cli_print(job->c, "%s items, %zu classes, %zu files of labels combined by %s (%.2f s)",
              cli_count_format(first.n_items, items), first.n_classes, job->n, cli_safe(job->v->combine, safe),
              cli_seconds_since(&job->c->start));
}

static int work(combine_command *job)
{
    const combine_values *v = job->v;
    cli *c = job->c;
    dis_status status = dis_combiner_check(v->combine);
    if (status != DIS_OK) return cli_failed(c, status);
    if (dis__combiner_wants_auto_weights(v->combine))
        return cli_usage(c, "weights=auto and weights=votes need the votes, which label files do not hold; use dissent "
                            "labels, or give the weights");
    if (cli_format_check(c, "format", v->format) != 0) return DIS_EUSAGE;
    status = cli_context_create(c, &v->common, &job->ctx);
    if (status != DIS_OK) return cli_failed(c, status);
    int code = read_all(job);
    if (code == 0) code = combine_all(job);
    if (code == 0 && v->json) code = cli_failed(c, write_json(job));
    if (code == 0) print_summary(job);
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    combine_command job = {.did = dis_combination_default(), .c = c, .v = values, .paths = operands, .n = n_operands};
    const int code = work(&job);
    for (size_t m = 0; m < job.n; m++) dis_labels_destroy(job.labels[m]);
    free(job.p);
    dis_context_destroy(job.ctx);
    return code;
}

extern const cli_command cli_cmd_combine;
const cli_command cli_cmd_combine = {
    .name = "combine",
    .section = CLI_STUDY,
    .summary = "combine several files of soft labels into one",
    .operands = "LABELS LABELS...",
    .text = "Reads files of soft labels as written by dissent labels, matches rows by task and columns by class, and "
            "combines them. All files must have the same items and classes. The output has the order of the first "
            "file.",
    .examples = "  dissent combine ds.csv mace.csv -o both.csv\n"
                "  dissent combine ds.csv mace.csv glad.csv --combine average:weights=.5/.3/.2 -o all.csv\n"
                "  dissent combine ds.csv mace.csv --combine hybrid -o labels.csv\n",
    .basic = "renormalise|combine|output|format|json|threads|quiet",
    .combiners = true,
    .names = CLI_NAMES_FILE,
    .min = 2,
    .max = DIS_MAX_VIEWS,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(combine_values),
    .run = run,
};
