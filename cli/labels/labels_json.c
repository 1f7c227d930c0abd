/* The JSON summary of `dissent labels`. Nothing in it depends on the machine or the number of threads: no
 * times, no thread count. Undefined values are null, with a reason where the cause is not plain; infinite ones are
 * "inf". */
#include "tool/json_writer.h"
#include "tool/rank_calls.h"
#include "tool/label_calls.h"
#include "labels/cmd_labels.h"
#include "output/chance_output.h"
#include <math.h>
#include <string.h>

static dis_status put_inputs(const labels_command *job, dis__json_writer *j)
{
    cli_inputs_begin(j);
    dis_status status = votes_input_write_json_files(&job->in, j);
    if (status == DIS_OK && job->v->gold) status = cli_input_write(j, job->v->gold, "gold");
    if (status == DIS_OK && job->v->predictions) status = cli_input_write(j, job->v->predictions, "predictions");
    if (status == DIS_OK && job->v->init_state) status = cli_input_write(j, job->v->init_state, "state");
    if (status == DIS_OK) status = groups_input_write_json_file(&job->groups, j);
    cli_inputs_end(j);
    return status;
}

static void put_methods(const labels_command *job, dis__json_writer *j)
{
    dis__json_writer_key(j, "methods");
    dis__json_writer_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++) {
        const labels_result *r = &job->view[m];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "spec", r->spec);
        cli_json_write_text(j, "name", r->fit_view.method->name);
        cli_json_write_count(j, "iterations", (uint64_t)r->fit_view.iterations);
        cli_json_write_bool(j, "converged", r->fit_view.converged);
        cli_json_write_count(j, "restart", (uint64_t)r->fit_view.restart);
        cli_json_write_text(j, "objective_is", r->fit_view.method->objective);
        cli_json_write_real(j, "objective", r->fit_view.objective);
        if (!isnan(r->fit_view.prior_strength)) cli_json_write_real(j, "strength", r->fit_view.prior_strength);
        if (job->predictions) cli_json_write_real(j, "predictions_weight", r->fit_view.predictions_weight);
        if (strcmp(r->fit_view.device, "cpu") != 0) cli_json_write_text(j, "device", r->fit_view.device);
        dis__json_writer_key(j, "warnings");
        dis__json_writer_begin_array(j);
        for (size_t i = 0; dis_fit_get_warning(r->fit, i); i++)
            dis__json_writer_text(j, dis_fit_get_warning(r->fit, i));
        dis__json_writer_end_array(j);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

/* What known labels have chosen besides weights and power. */
static void put_gold(const labels_command *job, dis__json_writer *j)
{
    cli_json_write_count(j, "gold", job->did.n_gold);
    cli_json_write_real(j, "gold_log_loss", job->did.gold_loss);
    cli_json_write_real(j, "gold_log_loss_before", job->did.gold_loss_base);
    dis__json_writer_key(j, "class_weights");
    if (!job->class_weight) {
        dis__json_writer_null(j);
        return;
    }
    dis__json_writer_begin_array(j);
    for (size_t k = 0; k < job->in.view.n_classes; k++) dis__json_writer_real(j, job->class_weight[k]);
    dis__json_writer_end_array(j);
}

static void put_combination(const labels_command *job, dis__json_writer *j)
{
    dis__json_writer_key(j, "combination");
    if (!job->choice.combine) {
        dis__json_writer_null(j);
        return;
    }
    dis__json_writer_begin_object(j);
    cli_json_write_text(j, "spec", job->choice.combine);
    dis__json_writer_key(j, "weights");
    dis__json_writer_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++) dis__json_writer_real(j, job->did.weight[m]);
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "temperatures");
    dis__json_writer_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++)
        dis__json_writer_real(j, job->did.temperature[m] > 0 ? job->did.temperature[m] : NAN);
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "on_bound");
    dis__json_writer_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++) dis__json_writer_bool(j, job->did.at_bound[m]);
    dis__json_writer_end_array(j);
    cli_json_write_real(j, "objective", job->did.objective);
    cli_json_write_count(j, "steps", (uint64_t)job->did.max_steps);
    cli_json_write_real(j, "overdispersion", job->did.overdispersion);
    cli_json_write_real(j, "power", job->did.power);
    put_gold(job, j);
    dis__json_writer_end_object(j);
}

static void put_mean(dis__json_writer *j, const char *name, const dis_metric *mean)
{
    dis__json_writer_key(j, name);
    dis__json_writer_begin_object(j);
    cli_json_write_real(j, "value", mean->value);
    cli_json_write_real(j, "ci_low", mean->ci_low);
    cli_json_write_real(j, "ci_high", mean->ci_high);
    cli_json_write_count(j, "n", mean->n);
    if (mean->reason) cli_json_write_text(j, "reason", mean->reason);
    dis__json_writer_end_object(j);
}

typedef struct {
    dis_metric entropy, largest;
} label_means;

static void put_metrics(const label_means *means, dis__json_writer *j)
{
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    put_mean(j, "entropy_nats", &means->entropy);
    put_mean(j, "largest_probability", &means->largest);
    dis__json_writer_end_object(j);
}

static dis_status write_file(const labels_command *job, const label_means *means, const char *path)
{
    dis__json_writer *j;
    dis_status status = cli_summary_open(path, "labels", &job->v->seed, &j);
    if (status != DIS_OK) return status;
    status = put_inputs(job, j);
    if (status == DIS_OK) status = votes_input_write_json_table(&job->in, j);
    if (status == DIS_OK) {
        votes_input_write_json_notes(&job->in, j);
        if (job->predictions) labels_predictions_write_json(job, j);
        put_methods(job, j);
        put_combination(job, j);
        chance_test_write_json(j, &job->chance);
        put_metrics(means, j);
    }
    labels_groups_write_json(job, j);
    return cli_summary_close(j, status);
}

int labels_json_write(const labels_command *job, const char *path)
{
    label_means means;
    size_t n, n_votes;
    dis__votes_get_totals(job->in.votes, &n, &n_votes);
    const dis_status status = dis__labels_compute_means(job->ctx, job->p, job->in.view.n_items, job->in.view.n_classes,
                                                        n, &means.entropy, &means.largest);
    if (status != DIS_OK) return cli_failed(job->c, status);
    return dis_context_rank(job->ctx) == 0 ? cli_failed(job->c, write_file(job, &means, path)) : 0;
}
