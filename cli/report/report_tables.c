/* Tables of dissent report: files of labels, predictions, people and gold, read, matched by name and put into the
 * report. */
#include "report/cmd_report.h"
#include <stdlib.h>
#include <string.h>

/* NAME=FILE; a bare FILE is called by its name without folder and ending. */
int report_tables_parse(report_command *job, const cli_list *given, report_tables *out)
{
    for (size_t i = 0; i < given->n; i++) {
        report_table *t = &out->table[out->n];
        const char *text = given->value[i], *equals = strchr(text, '='), *slash = strrchr(text, '/');
        const char *name = equals ? text : slash ? slash + 1 : text;
        const size_t length = equals ? (size_t)(equals - text) : strcspn(name, ".");
        if (length == 0) return cli_usage(job->c, "%s: must be NAME=FILE", text);
        t->path = equals ? equals + 1 : text;
        t->name = strndup(name, length);
        if (!t->name) return cli_error(job->c, DIS_ELIMIT, "no memory for a name");
        out->n++;
    }
    return 0;
}

void report_tables_free(report_tables *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->table[i].name);
        dis_labels_destroy(t->table[i].labels);
    }
}

static int read_table(report_command *job, report_table *t)
{
    dis_labels_read_options how = dis_labels_read_options_default();
    how.renormalise = job->v->reading.renormalise;
    return cli_failed(job->c, dis_labels_read(job->ctx, t->path, &how, &t->labels));
}

static int read_gold(report_command *job)
{
    gold_input how;
    const cli_votes_values *v = &job->v->reading;
    int code = gold_input_init(job->c, v->gold_columns, v->fold_case, v->trim, &how);
    if (code == 0) code = cli_failed(job->c, dis_gold_read(job->ctx, job->v->gold, &how.o, &job->gold));
    gold_input_free(&how);
    return code;
}

int report_tables_read(report_command *job)
{
    int code = 0;
    for (size_t i = 0; i < job->labels.n && code == 0; i++) code = read_table(job, &job->labels.table[i]);
    for (size_t i = 0; i < job->pred.n && code == 0; i++) code = read_table(job, &job->pred.table[i]);
    if (code == 0 && job->human.path) code = read_table(job, &job->human);
    const bool wanted = job->v->gold && (job->v->votes.n == 0 || job->pred.n);
    if (code == 0 && wanted) code = read_gold(job);
    return code;
}

static dis_alignment_source source_of(const report_table *t)
{
    return (dis_alignment_source){.name = t->path, .labels = dis_labels_get_view(t->labels)};
}

static dis_alignment_options matching(const report_command *job)
{
    dis_alignment_options o = dis_alignment_options_default();
    o.lenient = job->v->reading.lenient;
    o.gold = job->gold;
    return o;
}

/* In the order of the votes. */
static dis_status add_labels_beside_votes(report_command *job)
{
    dis_status status = DIS_OK;
    for (size_t i = 0; i < job->labels.n && status == DIS_OK; i++) {
        report_table *t = &job->labels.table[i];
        dis_labels *aligned;
        status = dis_labels_align(job->ctx, t->labels, job->in.view.tasks, job->in.view.classes, &aligned);
        if (status != DIS_OK) return status;
        dis_labels_destroy(t->labels);
        t->labels = aligned;
        const dis_labels_view view = dis_labels_get_view(aligned);
        status = dis_report_add_labels(job->report, t->name, &view);
    }
    return status;
}

/* By themselves, in the order of the first. */
static dis_status add_labels_alone(report_command *job)
{
    dis_alignment_source source[CLI_MAX_VALUES];
    if (job->labels.n == 0) return DIS_OK;
    for (size_t i = 0; i < job->labels.n; i++) source[i] = source_of(&job->labels.table[i]);
    const dis_alignment_options o = matching(job);
    dis_status status = dis_alignment_run(job->ctx, source, job->labels.n, &o, &job->aligned_labels);
    if (status != DIS_OK) return status;
    const dis_alignment_view a = dis_alignment_get_view(job->aligned_labels);
    for (size_t i = 0; i < job->labels.n && status == DIS_OK; i++) {
        const dis_labels_view view = {.size = sizeof(dis_labels_view),
                                      .n_items = a.n_items,
                                      .n_classes = a.n_classes,
                                      .p = a.p[i],
                                      .tasks = a.tasks,
                                      .classes = a.classes};
        status = dis_report_add_labels(job->report, job->labels.table[i].name, &view);
    }
    if (status == DIS_OK && a.gold) status = dis_report_add_gold(job->report, a.gold);
    return status;
}

int report_labels_add(report_command *job)
{
    return cli_failed(job->c, job->in.votes ? add_labels_beside_votes(job) : add_labels_alone(job));
}

/* Human labels: a file, or labels of the votes by a method. */
static dis_status find_human(report_command *job, dis_alignment_source *out, bool *found)
{
    *found = false;
    if (job->human.labels) {
        *out = source_of(&job->human);
        *found = true;
        return DIS_OK;
    }
    if (!job->v->human_labels) return DIS_OK;
    dis_fit_options how = dis_fit_options_default();
    how.seed = job->v->seed;
    const dis_status status = dis_fit_run(job->ctx, job->in.votes, job->v->human_labels, &how, &job->human_fit);
    if (status != DIS_OK) return status;
    *out = (dis_alignment_source){.name = job->v->votes.value[0],
                                  .labels = {.n_items = job->in.view.n_items,
                                             .n_classes = job->in.view.n_classes,
                                             .p = dis_fit_p(job->human_fit),
                                             .tasks = job->in.view.tasks,
                                             .classes = job->in.view.classes}};
    *found = true;
    return DIS_OK;
}

int report_predictions_add(report_command *job)
{
    dis_alignment_source source[CLI_MAX_VALUES + 1];
    bool human = false;
    const size_t n = job->pred.n;
    if (n == 0) return 0;
    for (size_t i = 0; i < n; i++) source[i] = source_of(&job->pred.table[i]);
    dis_status status = find_human(job, &source[n], &human);
    const dis_alignment_options o = matching(job);
    if (status == DIS_OK) status = dis_alignment_run(job->ctx, source, n + human, &o, &job->aligned_pred);
    if (status != DIS_OK) return cli_failed(job->c, status);
    const dis_alignment_view a = dis_alignment_get_view(job->aligned_pred);
    char safe[CLI_SAFE];
    for (size_t i = 0; i < n + human; i++)
        if (a.notes[i].n_items_dropped)
            cli_warn(job->c, "%s: %zu items that are missing from another table are left out (--lenient)",
                     cli_safe(source[i].name, safe), a.notes[i].n_items_dropped);
    const dis_report_test test = {.size = sizeof(dis_report_test),
                                  .n_items = a.n_items,
                                  .n_classes = a.n_classes,
                                  .classes = a.classes,
                                  .gold = a.gold,
                                  .human = human ? a.p[n] : NULL};
    status = dis_report_add_test(job->report, &test);
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        status = dis_report_add_predictions(job->report, job->pred.table[i].name, a.p[i]);
    return cli_failed(job->c, status);
}
