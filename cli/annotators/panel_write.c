/* Results of `dissent panel` as tables and JSON. */
#include "tool/json_writer.h"
#include "annotators/cmd_panel.h"
#include "output/result_rows.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define ROWS(fields, rows, n, name, job)                                                                            \
    (cli_rows)                                                                                                      \
    {                                                                                                               \
        .field = fields, .n_fields = N(fields), .row = rows, .n_rows = n, .row_size = sizeof *(rows), .text = name, \
        .user = job                                                                                                 \
    }

const char *panel_judge_name(const panel_command *job, size_t j)
{
    if (j >= job->view.n_judges) return "majority of the judges";
    return dis_names_get(job->in.view.workers, job->view.judges[j].worker, NULL);
}

const char *panel_source_name(const panel_command *job, const dis_panel_copied_votes *copy)
{
    if (copy->worker == UINT32_MAX) return "majority of people";
    return dis_names_get(job->in.view.workers, copy->worker, NULL);
}

/* ---- rows ---- */

static const char *name_of_judge(const void *user, const cli_field *field, size_t j)
{
    (void)field;
    return panel_judge_name(user, j);
}

static cli_rows rows_of_judges(const panel_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model"),
        CLI_FIELD(dis_panel_judge, COUNT, votes),
        CLI_FIELD(dis_panel_judge, COUNT, shared),
        CLI_FIELD(dis_panel_judge, METRIC, agreement),
        CLI_FIELD(dis_panel_judge, REAL, chance),
        CLI_FIELD(dis_panel_judge, REAL, p_chance),
        {.name = "above_chance",
         .kind = CLI_FIELD_BOOL,
         .offset = offsetof(dis_panel_judge, above_chance),
         .known = offsetof(dis_panel_judge, shared)},
        CLI_FIELD(dis_panel_judge, METRIC, error),
        CLI_FIELD_AS(dis_panel_judge, COUNT, "people", n_people_compared),
        CLI_FIELD_AS(dis_panel_judge, COUNT, "won", n_people_represented),
        CLI_FIELD(dis_panel_judge, REAL, winning_rate),
        {.name = "passed",
         .kind = CLI_FIELD_BOOL,
         .offset = offsetof(dis_panel_judge, passed),
         .known = offsetof(dis_panel_judge, n_people_compared)},
        CLI_FIELD_AS(dis_panel_judge, METRIC, "as_good", advantage_probability),
        CLI_FIELD(dis_panel_judge, ORDINAL, error_group),
    };
    return ROWS(fields, job->view.judges, job->view.n_judges, name_of_judge, job);
}

static const char *name_of_rate(const void *user, const cli_field *field, size_t r)
{
    const panel_command *job = user;
    const dis_panel_rate *x = &job->view.rates[r];
    return strcmp(field->name, "model") == 0 ? panel_judge_name(job, x->judge)
                                             : dis_names_get(job->in.view.classes, x->class_index, NULL);
}

static cli_rows rows_of_rates(const panel_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model"),
        CLI_NAME_FIELD("class"),
        CLI_FIELD_AS(dis_panel_rate, COUNT, "items_with_people", n_people),
        CLI_FIELD_AS(dis_panel_rate, COUNT, "items_alone", n_judge_only),
        CLI_FIELD(dis_panel_rate, REAL, raw),
        CLI_FIELD(dis_panel_rate, REAL, sensitivity),
        CLI_FIELD(dis_panel_rate, REAL, specificity),
        CLI_FIELD(dis_panel_rate, METRIC, bias),
        CLI_FIELD(dis_panel_rate, METRIC, people),
        CLI_FIELD(dis_panel_rate, METRIC, rogan_gladen),
        CLI_FIELD_AS(dis_panel_rate, METRIC, "powered", prediction_powered),
        CLI_FIELD_AS(dis_panel_rate, REAL, "weight", tuning_weight),
        CLI_FIELD_AS(dis_panel_rate, REAL, "items_needed", n_needed),
        CLI_FIELD_AS(dis_panel_rate, REAL, "items_needed_alone", n_needed_without_judge),
    };
    return ROWS(fields, job->view.rates, job->view.n_rates, name_of_rate, job);
}

static const char *name_of_pair(const void *user, const cli_field *field, size_t p)
{
    const panel_command *job = user;
    const dis_panel_pair *x = &job->view.pairs[p];
    return panel_judge_name(job, strcmp(field->name, "model_a") == 0 ? x->a : x->b);
}

static cli_rows rows_of_pairs(const panel_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model_a"),
        CLI_NAME_FIELD("model_b"),
        CLI_FIELD_AS(dis_panel_pair, COUNT, "items", n),
        CLI_FIELD(dis_panel_pair, REAL, correlation),
    };
    return ROWS(fields, job->view.pairs, job->view.n_pairs, name_of_pair, job);
}

static const char *name_of_copy(const void *user, const cli_field *field, size_t c)
{
    const panel_command *job = user;
    const dis_panel_copied_votes *x = &job->view.copies[c];
    return strcmp(field->name, "model") == 0 ? panel_judge_name(job, x->judge) : panel_source_name(job, x);
}

static cli_rows rows_of_copies(const panel_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model"),
        CLI_NAME_FIELD("source"),
        CLI_FIELD_AS(dis_panel_copied_votes, COUNT, "items", n),
        CLI_FIELD_AS(dis_panel_copied_votes, REAL, "same", observed),
        CLI_FIELD(dis_panel_copied_votes, REAL, expected),
        CLI_FIELD_AS(dis_panel_copied_votes, REAL, "copied", copied_share),
        CLI_FIELD(dis_panel_copied_votes, REAL, p),
    };
    return ROWS(fields, job->view.copies, job->view.n_copies, name_of_copy, job);
}

static const char *name_of_item(const void *user, const cli_field *field, size_t i)
{
    const panel_command *job = user;
    (void)field;
    return dis_names_get(job->in.view.tasks, job->view.items[i].item, NULL);
}

static cli_rows rows_of_items(const panel_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("task"),
        CLI_FIELD(dis_panel_item, SMALL, people),
        CLI_FIELD_AS(dis_panel_item, SMALL, "buy", votes_to_buy),
        CLI_FIELD(dis_panel_item, REAL, gain),
    };
    return ROWS(fields, job->view.items, job->view.n_items, name_of_item, job);
}

static const char *name_of_voter(const void *user, const cli_field *field, size_t r)
{
    const panel_command *job = user;
    (void)field;
    return dis_names_get(job->in.view.workers, job->swap[r].worker, NULL);
}

static cli_rows rows_of_swaps(const panel_command *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("voter"),
        CLI_FIELD_AS(dis_position_bias, COUNT, "pairs", n),
        CLI_FIELD_AS(dis_position_bias, METRIC, "consistent", consistency),
        CLI_FIELD_AS(dis_position_bias, COUNT, "to_first", flips_to_first),
        CLI_FIELD_AS(dis_position_bias, COUNT, "to_second", flips_to_second),
        CLI_FIELD(dis_position_bias, REAL, p),
    };
    return ROWS(fields, job->swap, job->n_swaps, name_of_voter, job);
}

dis_status panel_judges_write(const panel_command *job, const char *path, const char *format)
{
    const cli_rows rows = rows_of_judges(job);
    return cli_rows_write(&rows, path, format);
}

dis_status panel_tables_write(const panel_command *job)
{
    const panel_values *v = job->v;
    const struct {
        const char *path;
        cli_rows rows;
    } table[] = {{v->rates, rows_of_rates(job)},
                 {v->pairs, rows_of_pairs(job)},
                 {v->copies, rows_of_copies(job)},
                 {v->buy, rows_of_items(job)},
                 {v->swaps, rows_of_swaps(job)}};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < N(table) && status == DIS_OK; i++)
        if (table[i].path) status = cli_rows_write(&table[i].rows, table[i].path, NULL);
    return status;
}

dis_status panel_labels_write(const panel_command *job, dis_context *ctx)
{
    if (!job->v->labels) return DIS_OK;
    const dis_labels_view labels = {.size = sizeof(dis_labels_view),
                                    .n_items = job->view.n_items,
                                    .n_classes = job->view.n_classes,
                                    .p = job->view.p,
                                    .tasks = job->in.view.tasks,
                                    .classes = job->in.view.classes};
    return dis_labels_write(ctx, &labels, job->v->labels, NULL);
}

/* ---- for machines ---- */

static void put_metric(dis__json_writer *j, const char *key, const dis_metric *m)
{
    dis__json_writer_key(j, key);
    dis__json_writer_metric(j, m);
}

static void put_truth(dis__json_writer *j, const char *key, bool value)
{
    dis__json_writer_key(j, key);
    dis__json_writer_bool(j, value);
}

static void put_panel(const panel_command *job, dis__json_writer *j)
{
    const dis_panel_view *l = &job->view;
    dis__json_writer_key(j, "unknown");
    if (l->missing_reason)
        dis__json_writer_text(j, l->missing_reason);
    else
        dis__json_writer_null(j);
    cli_json_write_count(j, "people", l->n_people);
    put_truth(j, "few_people", l->few_people);
    cli_json_write_count(j, "items_with_people", l->n_items_with_people);
    cli_json_write_count(j, "items_with_two_people", l->n_items_with_two);
    cli_json_write_real(j, "p_people", l->p_people);
    cli_json_write_count(j, "judges_above_chance", l->n_above);
    cli_json_write_real(j, "p_labelled", l->p_labelled);
    put_truth(j, "labelled_differ", l->labelled_items_differ);
    put_truth(j, "copies_tested", l->copies_tested);
    cli_json_write_count(j, "error_groups", l->n_error_groups);
    put_metric(j, "correlation", &l->correlation);
    put_metric(j, "effective", &l->effective);
    cli_json_write_real(j, "exponent", l->exponent);
    cli_json_write_real(j, "strength", l->judge_strength);
    put_metric(j, "loss_rates", &l->loss_rates);
    put_metric(j, "loss_shares", &l->loss_shares);
    put_metric(j, "loss_calibrated", &l->loss_calibrated);
    cli_json_write_count(j, "budget", job->v->budget);
    cli_json_write_count(j, "spent", l->budget_spent);
}

dis_status panel_json_write(const panel_command *job)
{
    const panel_values *v = job->v;
    const cli_rows judges = rows_of_judges(job), rates = rows_of_rates(job), swaps = rows_of_swaps(job),
                   copies = rows_of_copies(job);
    dis__json_writer *j;
    if (!v->figures.json) return DIS_OK;
    dis_status status = cli_summary_open(v->figures.json, "panel", &v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = votes_input_write_json_files(&job->in, j);
    if (status == DIS_OK && v->voters.table) status = cli_input_write(j, v->voters.table, "worker table");
    for (size_t i = 0; i < v->swapped.n && status == DIS_OK; i++)
        status = cli_input_write(j, v->swapped.value[i], "swapped");
    cli_inputs_end(j);
    if (status == DIS_OK) status = votes_input_write_json_table(&job->in, j);
    votes_input_write_json_notes(&job->in, j);
    cli_json_write_real(j, "epsilon", v->epsilon);
    cli_json_write_real(j, "fdr", v->fdr);
    put_panel(job, j);
    cli_rows_write_json(&judges, j, "models");
    cli_rows_write_json(&copies, j, "copies");
    cli_rows_write_json(&rates, j, "rates");
    if (swaps.n_rows) cli_rows_write_json(&swaps, j, "swaps");
    return cli_summary_close(j, status);
}
