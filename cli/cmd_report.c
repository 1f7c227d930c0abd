/* dissent report: one HTML file about votes, labels and predictions.
 *
 * With votes the methods are fitted here, as `dissent labels` would, so that one command gives a full report; label
 * files made elsewhere stand beside them. The combination of the methods is the view that the report trusts. */
#include "votes_input.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_list votes, method, labels;
    const char *output, *combine, *gold, *title, *json;
    uint64_t seed, bootstrap;
} report_values;

#define TEXT(field, name_, argument_, names_, summary_)                                                   \
    {                                                                                                     \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(report_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                              \
    }
#define LIST(field, name_, argument_, names_, summary_)                                                   \
    {                                                                                                     \
        .name = name_, .kind = CLI_LIST, .offset = offsetof(report_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                              \
    }

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(report_values, output),
     .argument = "FILE",
     .names = CLI_NAMES_FILE,
     .summary = "where the report goes; without it, standard output"},
    LIST(votes, "votes", "FILE", CLI_NAMES_FILE, "the votes; several files make one table"),
    LIST(method, "method", "SPEC", CLI_NAMES_METHOD,
         "NAME[:key=value,...], fitted to the votes; none: standard, softmax, dawid-skene and mace"),
    TEXT(combine, "combine", "SPEC", CLI_NAMES_COMBINER,
         "NAME[:key=value,...]: how several methods become the labels that the report trusts; without it, centroid"),
    LIST(labels, "labels", "NAME=FILE", CLI_NAMES_FILE,
         "soft labels of the same items made elsewhere, to stand beside the methods"),
    TEXT(gold, "gold", "FILE", CLI_NAMES_FILE, "known labels (task,label): labels are judged by them"),
    TEXT(title, "title", "TEXT", CLI_NAMES_NOTHING, "heading of the report"),
    CLI_VOTES_OPTIONS(report_values, reading),
    {.name = "bootstrap",
     .kind = CLI_COUNT,
     .offset = offsetof(report_values, bootstrap),
     .argument = "N",
     .fallback = "200",
     .high = 1000000,
     .summary = "resamples for 95 % intervals; 0: none"},
    {.name = "seed",
     .kind = CLI_COUNT,
     .offset = offsetof(report_values, seed),
     .argument = "N",
     .fallback = "0",
     .summary = "for whatever is random; seed= of a method wins"},
    TEXT(json, "json", "FILE", CLI_NAMES_FILE, "summary for machines; - is standard output (then the report needs -o)"),
    CLI_COMMON_OPTIONS(report_values),
};

static const char *const default_methods[] = {"standard", "softmax", "dawid-skene", "mace"};
enum { N_DEFAULTS = 4, N_DEFAULTS_WITHOUT_WORKERS = 2 };

/* A table from a file, under its name, in the order of the report. */
typedef struct {
    char *name; /* NAME of NAME=FILE, or made from the file's name */
    const char *path;
    dis_labels *labels;
} report_table;

typedef struct {
    cli *c;
    const report_values *v;
    dis_context *ctx;
    votes_input in;
    dis_report *report;
    report_table table[CLI_MOST_VALUES];
    size_t n_tables;
    const char *spec[DIS_MAX_VIEWS];
    dis_fit *fit[DIS_MAX_VIEWS];
    double *p[DIS_MAX_VIEWS];
    size_t n_fits;
    const char *combine;
    double *combined;
} report_job;

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int check_options(report_job *job)
{
    const report_values *v = job->v;
    cli *c = job->c;
    if (v->votes.n == 0 && v->labels.n == 0)
        return cli_usage(c, "a report about what? give --votes FILE or --labels NAME=FILE");
    if (v->votes.n == 0 && (v->method.n || v->combine))
        return cli_usage(c, "--method and --combine need votes; give --votes FILE");
    if (v->votes.n == 0 && v->gold) return cli_usage(c, "--gold needs votes; give --votes FILE");
    if (v->method.n + v->labels.n + 1 > DIS_MAX_VIEWS)
        return cli_usage(c, "more than %d views in one report", DIS_MAX_VIEWS);
    int code = 0;
    for (size_t m = 0; m < v->method.n && code == 0; m++) code = cli_failed(c, dis_method_check(v->method.value[m]));
    if (code == 0 && v->combine) code = cli_failed(c, dis_combiner_check(v->combine));
    if (code != 0) return code;
    if (v->combine && v->method.n == 1)
        return cli_usage(
            c, "--combine needs several views and there is one --method; name another, or leave --combine out");
    if (is_dash(v->json) && (!v->output || is_dash(v->output)))
        return cli_usage(c, "only one thing can go to standard output; give the report a file with -o");
    size_t from_stdin = is_dash(v->gold);
    for (size_t i = 0; i < v->votes.n; i++) from_stdin += is_dash(v->votes.value[i]);
    if (from_stdin > 1) return cli_usage(c, "only one input can be standard input");
    return 0;
}

/* NAME=FILE; a bare FILE is called by its name without folder and ending. */
static int take_table(report_job *job, const char *given)
{
    report_table *t = &job->table[job->n_tables];
    const char *equals = strchr(given, '='), *slash = strrchr(given, '/');
    const char *name = equals ? given : slash ? slash + 1 : given;
    const size_t length = equals ? (size_t)(equals - given) : strcspn(name, ".");
    if (length == 0) return cli_usage(job->c, "%s: must be NAME=FILE", given);
    t->path = equals ? equals + 1 : given;
    t->name = strndup(name, length);
    if (!t->name) return cli_error(job->c, DIS_ELIMIT, "no memory for a name");
    job->n_tables++;
    return 0;
}

static int read_votes(report_job *job)
{
    const report_values *v = job->v;
    if (v->votes.n == 0) return 0;
    int code = votes_input_read(&job->in, job->ctx);
    if (code == 0 && v->gold) code = votes_input_read_gold(&job->in, job->ctx, v->gold);
    if (code != 0) return code;
    votes_input_tell(&job->in);
    if (v->gold) votes_input_tell_gold(&job->in, "to judge the labels by");
    code = cli_failed(job->c, dis_report_add_votes(job->report, job->in.votes, v->votes.value[0]));
    if (code == 0 && job->in.gold) code = cli_failed(job->c, dis_report_add_gold(job->report, job->in.gold));
    return code;
}

static dis_status read_table(report_job *job, report_table *t)
{
    dis_labels_read_options how = dis_labels_read_options_default();
    how.renormalise = job->v->reading.renormalise;
    dis_labels *read, *aligned;
    dis_status status = dis_labels_read(job->ctx, t->path, &how, &read);
    if (status != DIS_OK) return status;
    const dis_labels_view first = job->table[0].labels ? dis_labels_look(job->table[0].labels) : dis_labels_look(read);
    const bool votes = job->in.votes != NULL;
    status = dis_labels_align(job->ctx, read, votes ? job->in.look.tasks : first.tasks,
                              votes ? job->in.look.classes : first.classes, &aligned);
    dis_labels_destroy(read);
    if (status != DIS_OK) return status;
    t->labels = aligned;
    const dis_labels_view look = dis_labels_look(aligned);
    return dis_report_add_labels(job->report, t->name, &look);
}

static int read_tables(report_job *job)
{
    int code = 0;
    for (size_t i = 0; i < job->n_tables && code == 0; i++) code = cli_failed(job->c, read_table(job, &job->table[i]));
    return code;
}

static int fit_one(report_job *job, size_t m, const dis_fit_options *how)
{
    dis_status status = dis_fit_run(job->ctx, job->in.votes, job->spec[m], how, &job->fit[m]);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->n_fits = m + 1;
    job->p[m] = dis_fit_take_p(job->fit[m]);
    return cli_failed(job->c, dis_report_add_fit(job->report, job->spec[m], job->fit[m], job->p[m]));
}

static int combine_fits(report_job *job, const dis_fit_options *how)
{
    const size_t n_items = job->in.look.n_items, n_classes = job->in.look.n_classes;
    double weight[DIS_MAX_VIEWS];
    const bool automatic = dis_combiner_wants_auto_weights(job->combine);
    dis_status status = DIS_OK;
    if (automatic) status = dis_auto_weights(job->ctx, job->in.votes, job->spec, job->n_fits, how, weight);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->combined = malloc((n_items > 0 ? n_items * n_classes : 1) * sizeof *job->combined);
    if (!job->combined) return cli_error(job->c, DIS_ELIMIT, "no memory for the labels of %zu items", n_items);
    const dis_views views = {.n_items = n_items,
                             .n_classes = n_classes,
                             .n_views = job->n_fits,
                             .p = (const double *const *)job->p,
                             .weight = automatic ? weight : NULL};
    status = dis_combine(job->ctx, &views, job->combine, job->combined, NULL);
    const dis_labels_view labels = {.n_items = n_items,
                                    .n_classes = n_classes,
                                    .p = job->combined,
                                    .tasks = job->in.look.tasks,
                                    .classes = job->in.look.classes};
    if (status == DIS_OK) status = dis_report_add_labels(job->report, job->combine, &labels);
    return cli_failed(job->c, status);
}

static int fit_all(report_job *job)
{
    const report_values *v = job->v;
    if (!job->in.votes) return 0;
    const bool workers = job->in.look.start != NULL;
    size_t n = v->method.n;
    for (size_t m = 0; m < n; m++) job->spec[m] = v->method.value[m];
    if (n == 0) {
        n = workers ? N_DEFAULTS : N_DEFAULTS_WITHOUT_WORKERS;
        for (size_t m = 0; m < n; m++) job->spec[m] = default_methods[m];
    }
    if (v->method.n == 0 && !workers)
        cli_warn(job->c,
                 "this input does not say who voted: dawid-skene and mace are left out, standard and softmax remain");
    int code = cli_failed(job->c, dis_fit_check(job->ctx, job->in.votes, job->spec, n));
    dis_fit_options how = dis_fit_options_default();
    how.seed = v->seed;
    for (size_t m = 0; m < n && code == 0; m++) code = fit_one(job, m, &how);
    if (code != 0 || n == 1) return code;
    job->combine = v->combine ? v->combine : "centroid";
    return combine_fits(job, &how);
}

static dis_status add_file(report_job *job, const char *role, const char *path)
{
    char line[65 + 16] = "", hex[65];
    if (is_dash(path)) return dis_report_add_source(job->report, role, "standard input");
    dis_status status = dis_report_add_source(job->report, role, path);
    if (status == DIS_OK) status = dis_file_sha256(path, hex);
    if (status != DIS_OK) return status;
    snprintf(line, sizeof line, "SHA-256 %s", hex);
    return dis_report_add_source(job->report, role, line);
}

static int add_sources(report_job *job)
{
    const report_values *v = job->v;
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->votes.n && status == DIS_OK; i++) status = add_file(job, "votes", v->votes.value[i]);
    for (size_t i = 0; i < job->n_tables && status == DIS_OK; i++) status = add_file(job, "labels", job->table[i].path);
    if (status == DIS_OK && v->gold) status = add_file(job, "gold", v->gold);
    for (size_t m = 0; m < job->n_fits && status == DIS_OK; m++)
        status = dis_report_add_source(job->report, "method", job->spec[m]);
    if (status == DIS_OK && job->combine) status = dis_report_add_source(job->report, "combination", job->combine);
    return cli_failed(job->c, status);
}

static dis_status write_json(report_job *job)
{
    const report_values *v = job->v;
    dis_json *j;
    dis_status status = cli_summary_open(v->json, "report", &v->seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    if (job->in.votes) status = votes_input_put_files(&job->in, j);
    for (size_t i = 0; i < job->n_tables && status == DIS_OK; i++)
        status = cli_put_file(j, job->table[i].path, "labels");
    if (status == DIS_OK && v->gold) status = cli_put_file(j, v->gold, "gold");
    cli_inputs_end(j);
    if (job->in.votes && status == DIS_OK) status = votes_input_put_table(&job->in, j);
    dis_json_key(j, "views");
    dis_json_begin_array(j);
    for (size_t i = 0; i < job->n_tables; i++) dis_json_text(j, job->table[i].name);
    for (size_t m = 0; m < job->n_fits; m++) dis_json_text(j, job->spec[m]);
    if (job->combine) dis_json_text(j, job->combine);
    dis_json_end_array(j);
    cli_put_text(j, "output", v->output ? v->output : "-");
    return cli_summary_finish(j, status);
}

static int work(report_job *job)
{
    const report_values *v = job->v;
    int code = check_options(job);
    for (size_t i = 0; i < v->labels.n && code == 0; i++) code = take_table(job, v->labels.value[i]);
    if (code == 0 && v->votes.n) code = votes_input_check(&job->in);
    if (code != 0) return code;
    dis_report_options o = dis_report_options_default();
    o.title = v->title;
    o.seed = v->seed;
    o.bootstrap = (size_t)v->bootstrap;
    o.ordinal = v->reading.ordinal;
    dis_status status = cli_context(job->c, &v->common, &job->ctx);
    if (status == DIS_OK) status = dis_report_open(&o, &job->report);
    if (status != DIS_OK) return cli_failed(job->c, status);
    code = read_votes(job);
    if (code == 0) code = read_tables(job);
    if (code == 0) code = fit_all(job);
    if (code == 0) code = add_sources(job);
    if (code != 0) return code;
    status = dis_report_write(job->ctx, job->report, v->output ? v->output : "-");
    if (status == DIS_OK && v->json) status = write_json(job);
    if (status != DIS_OK) return cli_failed(job->c, status);
    char safe[CLI_SAFE];
    if (v->output && !is_dash(v->output))
        cli_say(job->c, "%s%s%s: open it in a browser, %.2f s", cli_bold(job->c), cli_safe(v->output, safe),
                cli_plain(job->c), cli_seconds(&job->c->start));
    return 0;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)operands;
    (void)n_operands;
    report_job *job = calloc(1, sizeof *job);
    if (!job) return cli_error(c, DIS_ELIMIT, "no memory");
    job->c = c;
    job->v = values;
    job->in = (votes_input){.c = c,
                            .v = &job->v->reading,
                            .paths = (char *const *)job->v->votes.value,
                            .n_paths = job->v->votes.n};
    const int code = work(job);
    dis_report_destroy(job->report);
    for (size_t m = 0; m < job->n_fits; m++) {
        dis_free(job->p[m]);
        dis_fit_destroy(job->fit[m]);
    }
    for (size_t i = 0; i < job->n_tables; i++) {
        free(job->table[i].name);
        dis_labels_destroy(job->table[i].labels);
    }
    free(job->combined);
    votes_input_free(&job->in);
    dis_context_destroy(job->ctx);
    free(job);
    return code;
}

extern const cli_command cli_cmd_report;
const cli_command cli_cmd_report = {
    .name = "report",
    .summary = "one HTML file that shows what the votes and labels say",
    .operands = "",
    .text =
        "Writes one HTML file that works offline: how far people agree, what the methods make of their votes, which "
        "items are disputed, which workers stand out. Every chart has its numbers as a table and as CSV. With votes "
        "the methods are fitted as dissent labels would; their combination is the view that the report trusts.\n\n"
        "The file stays small whatever the number of items, and ids and labels in it are inert whatever they hold.",
    .examples = "  dissent report --votes votes.csv -o report.html\n"
                "  dissent report --votes votes.csv --gold gold.csv --method standard --method glad -o report.html\n"
                "  dissent report --labels ours=labels.csv --labels theirs=other.csv -o report.html\n",
    .methods = true,
    .combiners = true,
    .names = CLI_NAMES_FILE,
    .most = 0,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(report_values),
    .run = run,
};
