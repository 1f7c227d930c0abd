/* dissent report: one HTML file about votes, labels, predictions and training.
 *
 * With votes the methods are fitted here, as `dissent labels` would, so that one command gives a full report; label
 * files made elsewhere are compared with them. The report uses the combination of the methods for its findings. */
#include "tool/json_writer.h"
#include "tool/files.h"
#include "output/confidence_output.h"
#include "report/model_curves.h"
#include "report/cmd_report.h"
#include <stdlib.h>
#include <string.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(report_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .fallback = "report.html",
           .names = CLI_NAMES_OUTPUT, .formats = "html", CLI_HELP(OUTPUT, "write the page to FILE (- for standard output)")),
    OPTION(LIST, votes, "votes", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "votes, same as the operands; repeat for several files")),
    OPTION(LIST, method, "method", .argument = "SPEC", .names = CLI_NAMES_METHOD),
    OPTION(TEXT, combine, "combine", .argument = "SPEC", .names = CLI_NAMES_COMBINER),
    OPTION(LIST, labels, "labels", .argument = "NAME=FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "add soft labels of the same items from another source")),
    OPTION(LIST, pred, "pred", .argument = "NAME=FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "evaluate predictions of a model against gold labels and people")),
    OPTION(LIST, model, "model", .argument = "NAME=FOLDER", .names = CLI_NAMES_FOLDER, .holds = CLI_MODEL_FILES,
           CLI_HELP(INPUT, "plot the training curves of a model of dissent train")),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(TEXT, human, "human", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(TEXT, human_labels, "human-labels", .argument = "SPEC", .names = CLI_NAMES_METHOD),
    CLI_TEXTS_OPTIONS(report_values, texts),
    CLI_GROUPS_OPTIONS(report_values, groups),
    CLI_VOTER_TYPE_OPTIONS(report_values, voters),
    OPTION(FLAG, causes, "causes",
           CLI_HELP(METHOD, "show which votes are probably slips, other readings or views of a --group")),
    OPTION(TEXT, title, "title", .argument = "TEXT", CLI_HELP(OUTPUT, "set the title of the page")),
    CLI_GOLD_COLUMNS_OPTION(report_values, reading.gold_columns),
    CLI_VOTES_OPTIONS(report_values, reading),
    CLI_SCALE_OPTIONS(report_values, reading),
    CLI_PARTS_OPTIONS(report_values, reading),
    OPTION(COUNT, resamples, "resamples", .argument = "N", .fallback = "200", .high = 1000000),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0"),
    CLI_OUTPUT_OPTION(report_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_COMMON_OPTIONS(report_values),
};
/* clang-format on */

static int check_given(report_command *job)
{
    const report_values *v = job->v;
    cli *c = job->c;
    if (v->votes.n == 0 && v->labels.n == 0 && v->pred.n == 0 && v->model.n == 0)
        return cli_usage(c, "report needs input: VOTES, --labels NAME=FILE, --pred NAME=FILE or --model NAME=FOLDER");
    if (v->votes.n == 0 && (v->method.n || v->combine || v->human_labels))
        return cli_usage(c, "--method, --combine and --human-labels need votes; give --votes FILE");
    if (v->human && v->human_labels)
        return cli_usage(c, "--human and --human-labels both define the human labels; give one");
    if (v->pred.n == 0 && (v->human || v->human_labels))
        return cli_usage(c, "--human needs predictions to evaluate; add --pred NAME=FILE");
    if (v->pred.n && !v->gold && !v->human && !v->human_labels)
        return cli_usage(c, "--pred needs labels to evaluate against: --gold, --human, or --votes with --human-labels "
                            "standard, softmax or another method");
    if (v->votes.n == 0 && votes_input_check_unused(c, &v->reading, "give --votes FILE") != 0) return DIS_EUSAGE;
    if (votes_input_is_ordered(&v->reading) && v->votes.n == 0 && v->pred.n == 0)
        return cli_usage(c, "--scale ordinal changes nothing here: it is for the agreement of votes (--votes), and for "
                            "predictions (--pred)");
    if (v->method.n + v->labels.n + 1 > DIS_MAX_VIEWS)
        return cli_usage(c, "more than %d views in one report", DIS_MAX_VIEWS);
    if (v->combine && v->method.n == 1 && !dis_recipe_find(v->method.value[0]))
        return cli_usage(
            c,
            "--combine needs several label sets and only one --method is given; add another, or leave --combine out");
    if (cli_is_dash(v->gold) && (v->votes.n && v->pred.n))
        return cli_usage(c, "the gold labels are read twice here and cannot be standard input");
    if (v->texts.path && v->votes.n == 0 && v->labels.n == 0)
        return cli_usage(c, "--texts needs items; add --votes FILE or --labels NAME=FILE");
    if (v->causes && (v->votes.n == 0 || votes_input_is_scaled(&v->reading)))
        return cli_usage(c, "--causes needs votes of one class each; %s",
                         v->votes.n ? "leave it out" : "add --votes FILE");
    if (v->groups.group && v->votes.n == 0) return cli_usage(c, "--group needs votes; add --votes FILE");
    if (voters_input_is_given(&v->voters) && v->votes.n == 0)
        return cli_usage(c, "--voter-type and --people need votes; add --votes FILE");
    const int code = groups_input_check_table(&job->groups, v->voters.type != NULL);
    return code == 0 ? texts_input_check(c, &v->texts, v->votes.n > 0) : code;
}

static dis_status choose(report_command *job, bool workers)
{
    const report_values *v = job->v;
    return votes_input_select_methods(&v->reading, &v->method, v->combine, workers, &job->choice);
}

static int check_options(report_command *job)
{
    const report_values *v = job->v;
    int code = check_given(job);
    if (code == 0 && v->votes.n) code = cli_failed(job->c, choose(job, true));
    if (code == 0 && v->human_labels) code = cli_failed(job->c, dis_method_check(v->human_labels));
    return code;
}

/* Models as voters: the worker table, where there is one, says who is one. */
static int add_panel(report_command *job)
{
    const report_values *v = job->v;
    if (!voters_input_is_given(&v->voters)) return 0;
    job->voter_values = v->voters;
    job->voter_values.table = v->groups.table;
    job->voter_values.table_id = v->groups.table_id;
    job->voter_values.table_prefix = v->groups.table_prefix;
    job->voters = (voters_input){.c = job->c, .v = &job->voter_values};
    int code = voters_input_read(&job->voters, job->ctx, &job->in);
    if (code != 0) return code;
    dis_panel_options o = dis_panel_options_default();
    o.numeric_classes = votes_input_is_ordered(&v->reading);
    o.seed = v->seed;
    dis_status status = dis_panel_run(job->ctx, job->in.votes, job->voters.person, &o, &job->panel);
    if (status == DIS_OK) status = dis_report_add_panel(job->report, job->panel);
    return cli_failed(job->c, status);
}

/* A path as it stands on a page that others may read: that of the user, of an absolute one the last part. */
static const char *shown(const char *path)
{
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path;
}

static int read_votes(report_command *job)
{
    const report_values *v = job->v;
    if (v->votes.n == 0) return 0;
    int code = votes_input_read(&job->in, job->ctx);
    if (code == 0 && v->gold) code = votes_input_read_gold(&job->in, job->ctx, v->gold);
    if (code != 0) return code;
    votes_input_print(&job->in);
    if (v->gold) votes_input_print_gold(&job->in, "to judge the labels by");
    code = cli_failed(job->c, dis_report_add_votes(job->report, job->in.votes, shown(v->votes.value[0])));
    if (code == 0 && job->in.gold) code = cli_failed(job->c, dis_report_add_gold(job->report, job->in.gold));
    if (code == 0) code = groups_input_read(&job->groups, job->ctx, job->in.votes);
    if (code == 0) code = add_panel(job);
    if (code != 0 || !job->groups.groups) return code;
    groups_input_print(&job->groups);
    return cli_failed(job->c, dis_report_add_groups(job->report, job->groups.groups, v->groups.group));
}

static int add_texts(report_command *job)
{
    const dis_names *tasks = job->in.votes ? job->in.view.tasks : NULL;
    if (!tasks && job->aligned_labels) tasks = dis_alignment_get_view(job->aligned_labels).tasks;
    if (!tasks) return 0;
    const int code = texts_input_read(job->c, job->ctx, &job->v->texts, &job->in, tasks, &job->texts);
    texts_input_print(job->c, job->texts);
    return code == 0 && job->texts ? cli_failed(job->c, dis_report_add_texts(job->report, job->texts)) : code;
}

static int add_result(report_command *job)
{
    const dis_label_result_view result = dis_label_result_get_view(job->result);
    dis_status status = DIS_OK;
    job->choice.n_views = result.n_views; /* views that hardly count are left out */
    for (size_t m = 0; m < result.n_views; m++) job->choice.views[m] = result.parts[m].spec;
    for (size_t m = 0; m < result.n_views; m++) cli_fit_warn(job->c, result.parts[m].spec, result.parts[m].fit);
    for (size_t m = 0; m < result.n_views && status == DIS_OK; m++)
        status = dis_report_add_fit(job->report, result.parts[m].spec, result.parts[m].fit, result.parts[m].p);
    if (status != DIS_OK || !job->choice.combine) return cli_failed(job->c, status);
    const dis_labels_view labels = {.size = sizeof(dis_labels_view),
                                    .n_items = job->in.view.n_items,
                                    .n_classes = job->in.view.n_classes,
                                    .p = result.p,
                                    .tasks = job->in.view.tasks,
                                    .classes = job->in.view.classes};
    return cli_failed(job->c, dis_report_add_labels(job->report, job->choice.combine, &labels));
}

static int fit_all(report_command *job)
{
    if (!job->in.votes) return 0;
    int code = 0;
    if (!job->in.view.start) {
        code = cli_failed(job->c, choose(job, false));
        if (code == 0 && job->choice.recipe) votes_input_warn_no_workers(&job->in, &job->choice);
    }
    dis_fit_options how = dis_fit_options_default();
    how.seed = job->v->seed;
    dis_label_result_options making = dis_label_result_options_default();
    making.fit = &how;
    making.keep_fits = making.keep_views = true;
    if (code == 0)
        code = cli_failed(job->c, dis_label_result_run(job->ctx, job->in.votes, &job->choice, &making, &job->result));
    return code == 0 ? add_result(job) : code;
}

static int add_models(report_command *job)
{
    int code = 0;
    for (size_t i = 0; i < job->models.n && code == 0; i++)
        code = model_curves_add(job->c, job->ctx, job->report, job->models.table[i].name, job->models.table[i].path);
    return code;
}

static dis_status add_file(report_command *job, const char *role, const char *path)
{
    char line[65 + 16] = "", hex[65];
    if (cli_is_dash(path)) return dis_report_add_source(job->report, role, "standard input");
    dis_status status = dis_report_add_source(job->report, role, shown(path));
    if (status == DIS_OK && cli_unhashed_reason(path)) return DIS_OK;
    if (status == DIS_OK) status = dis__file_sha256(path, hex);
    if (status != DIS_OK) return status;
    snprintf(line, sizeof line, "SHA-256 %s", hex);
    return dis_report_add_source(job->report, role, line);
}

static int add_sources(report_command *job)
{
    const report_values *v = job->v;
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->votes.n && status == DIS_OK; i++) status = add_file(job, "votes", v->votes.value[i]);
    for (size_t i = 0; i < job->labels.n && status == DIS_OK; i++)
        status = add_file(job, "labels", job->labels.table[i].path);
    for (size_t i = 0; i < job->pred.n && status == DIS_OK; i++)
        status = add_file(job, "predictions", job->pred.table[i].path);
    for (size_t i = 0; i < job->models.n && status == DIS_OK; i++)
        status = dis_report_add_source(job->report, "model", shown(job->models.table[i].path));
    if (status == DIS_OK && v->human) status = add_file(job, "people", v->human);
    if (status == DIS_OK && v->gold) status = add_file(job, "gold", v->gold);
    if (status == DIS_OK && v->texts.path) status = add_file(job, "texts", v->texts.path);
    if (status == DIS_OK && v->groups.table) status = add_file(job, "worker table", v->groups.table);
    for (size_t m = 0; job->result && m < job->choice.n_views && status == DIS_OK; m++)
        status = dis_report_add_source(job->report, "method", job->choice.views[m]);
    if (status == DIS_OK && job->result && job->choice.combine)
        status = dis_report_add_source(job->report, "combination", job->choice.combine);
    return cli_failed(job->c, status);
}

static dis_status write_json(report_command *job)
{
    const report_values *v = job->v;
    dis__json_writer *j;
    dis_status status = cli_summary_open(v->json, "report", &v->seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    if (job->in.votes) status = votes_input_write_json_files(&job->in, j);
    for (size_t i = 0; i < job->labels.n && status == DIS_OK; i++)
        status = cli_input_write(j, job->labels.table[i].path, "labels");
    for (size_t i = 0; i < job->pred.n && status == DIS_OK; i++)
        status = cli_input_write(j, job->pred.table[i].path, "predictions");
    if (status == DIS_OK && v->human) status = cli_input_write(j, v->human, "human");
    if (status == DIS_OK && v->gold) status = cli_input_write(j, v->gold, "gold");
    if (status == DIS_OK && v->texts.path) status = cli_input_write(j, v->texts.path, "texts");
    if (status == DIS_OK) status = groups_input_write_json_file(&job->groups, j);
    cli_inputs_end(j);
    if (job->in.votes && status == DIS_OK) status = votes_input_write_json_table(&job->in, j);
    dis__json_writer_key(j, "views");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < job->labels.n; i++) dis__json_writer_text(j, job->labels.table[i].name);
    for (size_t m = 0; job->result && m < job->choice.n_views; m++) dis__json_writer_text(j, job->choice.views[m]);
    if (job->result && job->choice.combine) dis__json_writer_text(j, job->choice.combine);
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "predictions");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < job->pred.n; i++) dis__json_writer_text(j, job->pred.table[i].name);
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "models");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < job->models.n; i++) dis__json_writer_text(j, job->models.table[i].name);
    dis__json_writer_end_array(j);
    cli_json_write_text(j, "output", v->output ? v->output : "-");
    return cli_summary_close(j, status);
}

static int work(report_command *job)
{
    const report_values *v = job->v;
    int code = check_options(job);
    if (code == 0) code = report_tables_parse(job, &v->labels, &job->labels);
    if (code == 0) code = report_tables_parse(job, &v->pred, &job->pred);
    if (code == 0) code = report_tables_parse(job, &v->model, &job->models);
    job->human.path = v->human;
    if (code == 0 && v->votes.n) code = votes_input_check(&job->in);
    if (code != 0) return code;
    dis_report_options o = dis_report_options_default();
    o.title = v->title;
    o.seed = v->seed;
    o.resamples = (size_t)v->resamples;
    o.ordinal = votes_input_is_ordered(&v->reading);
    o.causes = v->causes;
    dis_status status = cli_context_create(job->c, &v->common, &job->ctx);
    if (status == DIS_OK) status = dis_report_create(&o, &job->report);
    if (status != DIS_OK) return cli_failed(job->c, status);
    code = read_votes(job);
    if (code == 0) code = report_tables_read(job);
    if (code == 0) code = report_labels_add(job);
    if (code == 0) code = add_texts(job);
    if (code == 0 && !votes_input_is_scaled(&v->reading)) code = fit_all(job);
    if (code == 0) code = report_predictions_add(job);
    if (code == 0) code = add_models(job);
    if (code == 0) code = add_sources(job);
    if (code != 0) return code;
    status = dis_report_write(job->ctx, job->report, v->output);
    if (status == DIS_OK && v->json) status = write_json(job);
    if (status != DIS_OK) return cli_failed(job->c, status);
    char safe[CLI_SAFE];
    if (!cli_is_dash(v->output))
        cli_print(job->c, "%s%s%s: open it in a web browser, %.2f s", cli_bold(job->c), cli_safe(v->output, safe),
                  cli_plain(job->c), cli_seconds_since(&job->c->start));
    if (job->result && !cli_is_dash(v->output)) {
        const dis_label_result_view result = dis_label_result_get_view(job->result);
        (void)confidence_print(job->c, result.p, job->in.view.n_items, job->in.view.n_classes, "to relabel");
    }
    return 0;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    report_command *job = calloc(1, sizeof *job);
    if (!job) return cli_error(c, DIS_ELIMIT, "no memory");
    report_values *v = &job->values;
    job->c = c;
    job->v = v;
    *v = *(const report_values *)values;
    if (v->votes.n + n_operands > CLI_MAX_VALUES) {
        free(job);
        return cli_usage(c, "more than %d files of votes", CLI_MAX_VALUES);
    }
    for (size_t i = 0; i < n_operands; i++) v->votes.value[v->votes.n++] = operands[i];
    job->in = (votes_input){.c = c,
                            .v = &job->v->reading,
                            .paths = (char *const *)job->v->votes.value,
                            .n_paths = job->v->votes.n};
    job->groups = (groups_input){.c = c, .v = &job->v->groups};
    const int code = work(job);
    dis_report_destroy(job->report);
    dis_alignment_destroy(job->aligned_labels);
    dis_alignment_destroy(job->aligned_pred);
    dis_fit_destroy(job->human_fit);
    dis_names_destroy(job->texts);
    dis_gold_destroy(job->gold);
    report_tables_free(&job->labels);
    report_tables_free(&job->pred);
    report_tables_free(&job->models);
    dis_labels_destroy(job->human.labels);
    dis_label_result_destroy(job->result);
    groups_input_free(&job->groups);
    voters_input_free(&job->voters);
    dis_panel_destroy(job->panel);
    votes_input_free(&job->in);
    dis_context_destroy(job->ctx);
    free(job);
    return code;
}

extern const cli_command cli_cmd_report;
const cli_command cli_cmd_report = {
    .name = "report",
    .section = CLI_START,
    .summary = "write an HTML report on votes, labels and models",
    .operands = "[VOTES...]",
    .text = "Writes one HTML file that works offline: inter-annotator agreement, the labels of each method, items with "
            "disagreement, annotators to check, training curves and evaluation of models. Every chart has its values "
            "as a table and as CSV. With votes, the methods are fitted as by dissent labels, and the report is based "
            "on their combination.\n\n"
            "VOTES are files of votes, as for the other commands. Labels, predictions and models can be added, or be "
            "reported without votes. The size of the page does not grow with the number of items. Ids and labels are "
            "escaped.",
    .examples = "  dissent report votes.csv\n"
                "  dissent report export.json --preset label-studio --gold gold.csv -o report.html\n"
                "  dissent report votes.csv --pred mine=predictions.csv --human-labels standard -o report.html\n"
                "  dissent report votes.csv --worker-table people.csv --group gender -o report.html\n"
                "  dissent report --labels ours=labels.csv --labels theirs=other.csv -o report.html\n"
                "  dissent report --model soft=soft-model --model hard=hard-model -o report.html\n",
    .basic = "preset|task,worker,label|gold|texts|labels|pred|model|method|output|quiet",
    .methods = true,
    .combiners = true,
    .names = CLI_NAMES_FILE,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(report_values),
    .run = run,
};
