/* dissent views: distances between files of soft labels of the same items. */
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "input/label_input.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    cli_metric_table_values figures;
    bool lenient, renormalise;
} views_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(views_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    CLI_METRIC_TABLE_OPTIONS(views_values, figures, "1000"),
    OPTION(FLAG, lenient, "lenient", CLI_SHARED_HELP),
    OPTION(FLAG, renormalise, "renormalise", CLI_SHARED_HELP),
    CLI_DEVICE_OPTION(views_values),
    CLI_COMMON_OPTIONS(views_values),
};
/* clang-format on */

/* A view is called by its file, without folder and ending. */
typedef struct {
    const char *text;
    size_t n;
} view_name;

typedef struct {
    cli *c;
    const views_values *v;
    label_input in;
    view_name name[DIS_MAX_VIEWS];
    dis_views_distances *distances;
    dis_views_distances_view view;
} views_command;

static view_name short_name(const char *path)
{
    static const char *const endings[] = {".gz", ".zst", ".csv", ".tsv", ".jsonl", ".npy"};
    const char *slash = strrchr(path, '/'), *text = slash && slash[1] ? slash + 1 : path;
    view_name name = {.text = text, .n = strlen(text)};
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        const size_t n = strlen(endings[e]);
        if (name.n > n && memcmp(name.text + name.n - n, endings[e], n) == 0) name.n -= n;
    }
    return name;
}

/* Short names, unless two are the same: then the paths. */
static void name_views(views_command *job)
{
    bool twice = false;
    for (size_t m = 0; m < job->in.n; m++) {
        job->name[m] = short_name(job->in.path[m]);
        for (size_t other = 0; other < m; other++)
            twice |= job->name[m].n == job->name[other].n &&
                     memcmp(job->name[m].text, job->name[other].text, job->name[m].n) == 0;
    }
    for (size_t m = 0; twice && m < job->in.n; m++)
        job->name[m] = (view_name){.text = job->in.path[m], .n = strlen(job->in.path[m])};
}

static const char *safe_name(const views_command *job, size_t m, char safe[CLI_SAFE])
{
    char text[4 * CLI_SAFE];
    snprintf(text, sizeof text, "%.*s", (int)(job->name[m].n < sizeof text ? job->name[m].n : sizeof text - 1),
             job->name[m].text);
    return cli_safe(text, safe);
}

static int measure(views_command *job, dis_context *ctx)
{
    const dis_views views = {.size = sizeof(dis_views),
                             .n_items = job->in.alignment.n_items,
                             .n_classes = job->in.alignment.n_classes,
                             .n_views = job->in.n,
                             .p = job->in.alignment.p};
    dis_views_distances_options o = dis_views_distances_options_default();
    o.resamples = job->v->figures.resamples;
    o.fraction = job->v->figures.fraction;
    o.seed = job->v->figures.seed;
    const dis_status status = dis_views_distances_run(ctx, &views, &o, &job->distances);
    if (status == DIS_OK) job->view = dis_views_distances_get_view(job->distances);
    return cli_failed(job->c, status);
}

/* ---- for people ---- */

/* Views by number in the head, so that long names do not widen the matrix. */
static void write_text(const views_command *job)
{
    const dis_views_distances_view *d = &job->view;
    int width = 4;
    char safe[CLI_SAFE], number[CLI_NUMBER];
    for (size_t a = 0; a < d->n_views; a++) {
        const int n = (int)strlen(safe_name(job, a, safe));
        width = n > width ? n : width;
    }
    printf("JSD in nats%*s", width - 4, "");
    printf("  entropy  to others  centroid");
    for (size_t b = 0; b < d->n_views; b++) printf("%8zu", b + 1);
    putchar('\n');
    for (size_t a = 0; a < d->n_views; a++) {
        printf("%4zu  %-*s  %7.4f  %9.4f  %8.4f", a + 1, width, safe_name(job, a, safe), d->entropy[a].value,
               d->to_others[a].value, d->to_centroid[a].value);
        for (size_t b = 0; b < d->n_views; b++)
            if (a == b)
                printf("%8s", ".");
            else
                printf("%8.4f", d->jsd[a * d->n_views + b].value);
        putchar('\n');
    }
    const dis_metric *hub[] = {&d->hubness_over_items, &d->hubness_over_views};
    static const char *const over[] = {"over items", "over views"};
    for (size_t i = 0; i < 2; i++) {
        char text[CLI_METRIC_SIZE];
        printf("r of distance to centroid and to others, %s: %s", over[i], cli_metric_format(hub[i], 4, text));
        if (!hub[i]->reason) printf(" (n %s)", cli_count_format(hub[i]->n, number));
        putchar('\n');
    }
}

/* ---- for other programs ---- */

/* "jsd:NAME" for each view, in one block of memory. */
static char *column_names(const views_command *job, const char **columns)
{
    size_t room = 0;
    for (size_t m = 0; m < job->in.n; m++) room += job->name[m].n + 5;
    char *text = malloc(room + 1), *at = text;
    for (size_t m = 0; text && m < job->in.n; m++) {
        columns[m] = at;
        memcpy(at, "jsd:", 4);
        memcpy(at + 4, job->name[m].text, job->name[m].n);
        at[4 + job->name[m].n] = 0;
        at += job->name[m].n + 5;
    }
    return text;
}

static int write_table(const views_command *job, const char *format)
{
    enum { BEFORE = 4 };
    const dis_views_distances_view *d = &job->view;
    const char *columns[BEFORE + DIS_MAX_VIEWS] = {"view", "entropy", "to_others", "to_centroid"};
    char *text = column_names(job, columns + BEFORE);
    if (!text) return cli_error(job->c, DIS_ELIMIT, "no memory for the names of the columns");
    dis__table_writer *table;
    dis_status status =
        dis__table_writer_create(cli_metric_table_path(&job->v->figures), format, columns, BEFORE + d->n_views, &table);
    free(text);
    if (status != DIS_OK) return cli_failed(job->c, status);
    for (size_t a = 0; a < d->n_views; a++) {
        dis__table_writer_text(table, job->name[a].text, job->name[a].n);
        dis__table_writer_real(table, d->entropy[a].value);
        dis__table_writer_real(table, d->to_others[a].value);
        dis__table_writer_real(table, d->to_centroid[a].value);
        for (size_t b = 0; b < d->n_views; b++) dis__table_writer_real(table, d->jsd[a * d->n_views + b].value);
    }
    return cli_failed(job->c, dis__table_writer_finish(table, DIS_OK));
}

static void put_metric(dis__json_writer *j, const char *key, const dis_metric *m)
{
    dis__json_writer_key(j, key);
    dis__json_writer_metric(j, m);
}

static dis_status write_json(const views_command *job)
{
    const dis_views_distances_view *d = &job->view;
    dis__json_writer *j;
    dis_status status = cli_summary_open(job->v->figures.json, "views", &job->v->figures.seed, &j);
    if (status != DIS_OK) return status;
    status = label_input_write_json(&job->in, j);
    cli_json_write_count(j, "items", d->n_items);
    cli_json_write_names(j, "classes", job->in.alignment.classes);
    cli_json_write_text(j, "unit", "nats");
    cli_json_write_count(j, "resamples", job->v->figures.resamples);
    cli_json_write_real(j, "fraction", job->v->figures.fraction);
    dis__json_writer_key(j, "views");
    dis__json_writer_begin_array(j);
    for (size_t a = 0; a < d->n_views; a++) {
        dis__json_writer_begin_object(j);
        dis__json_writer_key(j, "name");
        dis__json_writer_text_n(j, job->name[a].text, job->name[a].n);
        put_metric(j, "entropy", &d->entropy[a]);
        put_metric(j, "jsd_to_others", &d->to_others[a]);
        put_metric(j, "jsd_to_centroid", &d->to_centroid[a]);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "jsd");
    dis__json_writer_begin_array(j);
    for (size_t a = 0; a < d->n_views; a++) {
        dis__json_writer_begin_array(j);
        for (size_t b = 0; b < d->n_views; b++) dis__json_writer_metric(j, &d->jsd[a * d->n_views + b]);
        dis__json_writer_end_array(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "centroid_correlation");
    dis__json_writer_begin_object(j);
    put_metric(j, "over_items", &d->hubness_over_items);
    put_metric(j, "over_views", &d->hubness_over_views);
    dis__json_writer_end_object(j);
    return cli_summary_close(j, status);
}

static int work(views_command *job, dis_context *ctx)
{
    int code = label_input_read(&job->in, ctx);
    if (code == 0) label_input_print(&job->in);
    if (code == 0) code = measure(job, ctx);
    if (code != 0) return code;
    name_views(job);
    const char *format = cli_metric_table_format(&job->v->figures);
    if (format)
        code = write_table(job, format);
    else {
        write_text(job);
        code = cli_flush(job->c);
    }
    if (code == 0 && job->v->figures.json) code = cli_failed(job->c, write_json(job));
    char items[CLI_NUMBER];
    if (code == 0)
        cli_print(job->c, "%zu files of labels, %s items, %zu classes (%.2f s)", job->in.n,
                  cli_count_format(job->view.n_items, items), job->view.n_classes, cli_seconds_since(&job->c->start));
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const views_values *v = values;
    views_command job = {.c = c, .v = v, .in = {.c = c, .lenient = v->lenient, .renormalise = v->renormalise}};
    int code = cli_metric_table_check(c, &v->figures);
    for (size_t i = 0; i < n_operands && code == 0; i++) code = label_input_add(&job.in, operands[i], "view");
    if (code != 0) return code;
    dis_context *ctx;
    const dis_status status = cli_context_create(c, &v->common, &ctx);
    if (status != DIS_OK) return cli_failed(c, status);
    code = work(&job, ctx);
    dis_views_distances_destroy(job.distances);
    label_input_free(&job.in);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_views;
const cli_command cli_cmd_views = {
    .name = "views",
    .late_device = true,
    .section = CLI_STUDY,
    .summary = "measure distances between several sets of soft labels",
    .operands = "VIEW VIEW...",
    .text =
        "Compares files of soft labels of the same items:\n"
        "- the mean Jensen-Shannon divergence (nats) of each pair of files\n"
        "- the mean entropy of each file\n"
        "- the mean distance of each file to the others and to the centroid of all\n"
        "- Pearson's r between the distance to the centroid and the distance to the others, over items and over files\n"
        "\n"
        "dissent labels --save-views writes the labels of each method. The table has the columns view, entropy, "
        "to_others, to_centroid and jsd:VIEW. Intervals are in the machine-readable summary (--json).",
    .examples = "  dissent views a.csv b.csv c.csv\n"
                "  dissent views a.csv b.csv labels.csv --json views.json -o views.tsv\n"
                "  dissent views a.csv b.csv --format text --resamples 0\n",
    .basic = "lenient|renormalise|resamples|output|format|json|seed|threads|quiet",
    .names = CLI_NAMES_FILE,
    .min = 2,
    .max = DIS_MAX_VIEWS,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(views_values),
    .run = run,
};
