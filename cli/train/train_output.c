/* What `dissent train` has trained: in sentences for people, the curves as a table, a summary for machines. */
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "train/cmd_train.h"
#include <math.h>

/* Mean and standard deviation of what the kept epochs reached. */
static void spread(const train_command *job, double (*of)(const dis_train_curve *curve), double *mean, double *sd)
{
    double sum = 0, squares = 0;
    const double n = (double)job->v->runs;
    for (size_t r = 0; r < job->v->runs; r++) sum += of(&job->trained.curve[r]);
    *mean = sum / n;
    for (size_t r = 0; r < job->v->runs; r++)
        squares += (of(&job->trained.curve[r]) - *mean) * (of(&job->trained.curve[r]) - *mean);
    *sd = n > 1 ? sqrt(squares / (n - 1)) : NAN;
}

static double selected_dev(const dis_train_curve *curve)
{
    return curve->epoch[curve->best_epoch].dev;
}

static double selected_loss(const dis_train_curve *curve)
{
    return curve->epoch[curve->best_epoch].loss;
}

/* Which epochs were kept. A model that was best in its last epoch may not have converged. */
static void print_epochs(const train_command *job, bool has_dev)
{
    size_t first = SIZE_MAX, last = 0, longest = 0, at_end = 0;
    for (size_t r = 0; r < job->v->runs; r++) {
        const dis_train_curve *m = &job->trained.curve[r];
        first = m->best_epoch < first ? m->best_epoch : first;
        last = m->best_epoch > last ? m->best_epoch : last;
        longest = m->n_epochs > longest ? m->n_epochs : longest;
        at_end += m->best_epoch + 1 == m->n_epochs;
    }
    char range[64];
    snprintf(range, sizeof range, first == last ? "%zu" : "%zu to %zu", first + 1, last + 1);
    cli_print(job->c, "  %-18s %s of %zu%s", "kept epoch", range, longest,
              !has_dev                ? " (the last; there is no development set)"
              : at_end && longest > 1 ? "; the last was best, so more --epochs may help"
                                      : "");
}

static void print_next_steps(const train_command *job)
{
    const char *const predict[] = {job->v->output, "--items", "new.csv", "-o", "predictions.csv", NULL};
    cli_next_print(job->c, "predict", predict, "predict other items");
}

void train_result_print(const train_command *job)
{
    cli *c = job->c;
    const dis_model_view m = dis_model_get_view(job->trained.model);
    char safe[CLI_SAFE], number[CLI_NUMBER], examples[CLI_NUMBER];
    cli_print(c, "  %-18s %s item%s%s", "trained on", cli_count_format(m.n_examples, examples),
              cli_plural(m.n_examples), m.n_left_out ? "; items without a label were skipped" : "");
    if (c->verbose) cli_print(c, "  %-18s %s", "parameters", cli_count_format(m.n_parameters, number));
    if (*m.gradients_by)
        cli_print(c, "  %-18s of %d ranks, summed by %s", "gradients", dis_context_n_ranks(job->ctx), m.gradients_by);
    double mean, sd;
    char deviation[64] = "";
    spread(job, selected_loss, &mean, &sd);
    if (job->v->runs > 1) snprintf(deviation, sizeof deviation, " (sd %.4f)", sd);
    if (c->verbose || !m.keep) cli_print(c, "  %-18s %.4f%s", "training loss", mean, deviation);
    if (m.keep) {
        spread(job, selected_dev, &mean, &sd);
        if (job->v->runs > 1) snprintf(deviation, sizeof deviation, " (sd %.4f)", sd);
        cli_print(c, "  %-18s %.4f%s on the development set", m.keep, mean, deviation);
    }
    print_epochs(job, m.keep != NULL);
    cli_print(c, "%s%s%s: %s, %s, %llu run%s from seed %llu, %.2f s", cli_bold(c), cli_safe(job->v->output, safe),
              cli_plain(c), m.spec, m.objective, (unsigned long long)job->v->runs, cli_plural(job->v->runs),
              (unsigned long long)job->v->seed, cli_seconds_since(&c->start));
    print_next_steps(job);
}

dis_status train_curves_write(const train_command *job)
{
    static const char *const columns[] = {"seed", "epoch", "loss", "rate", "dev", "dev_cross_entropy", "kept"};
    dis__table_writer *table;
    dis_status status = dis__table_writer_create(job->v->curves, NULL, columns, 7, &table);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < job->v->runs; r++) {
        const dis_train_curve *m = &job->trained.curve[r];
        for (size_t e = 0; e < m->n_epochs; e++) {
            dis__table_writer_count(table, m->seed);
            dis__table_writer_count(table, e + 1);
            dis__table_writer_real(table, m->epoch[e].loss);
            dis__table_writer_real(table, m->epoch[e].rate);
            dis__table_writer_real(table, m->epoch[e].dev);
            dis__table_writer_real(table, m->epoch[e].dev_cross_entropy);
            dis__table_writer_count(table, e == m->best_epoch);
        }
    }
    return dis__table_writer_finish(table, DIS_OK);
}

static dis_status put_files(const train_command *job, dis__json_writer *j)
{
    const train_values *v = job->v;
    const char *const files[][2] = {{v->items, "items"},         {v->labels, "labels"},
                                    {v->gold, "gold"},           {v->votes, "votes"},
                                    {v->dev_items, "dev items"}, {v->dev_labels, "dev labels"},
                                    {v->dev_gold, "dev gold"},   {v->train.vectors, "word vectors"}};
    dis_status status = DIS_OK;
    cli_inputs_begin(j);
    for (size_t i = 0; i < sizeof files / sizeof *files && status == DIS_OK; i++)
        if (files[i][0]) status = cli_input_write(j, files[i][0], files[i][1]);
    cli_inputs_end(j);
    return status;
}

static void put_spread(const train_command *job, dis__json_writer *j, const char *name,
                       double (*of)(const dis_train_curve *curve))
{
    double mean, sd;
    spread(job, of, &mean, &sd);
    dis__json_writer_key(j, name);
    dis__json_writer_begin_object(j);
    cli_json_write_real(j, "value", mean);
    cli_json_write_real(j, "sd", sd);
    cli_json_write_count(j, "n", job->v->runs);
    dis__json_writer_end_object(j);
}

dis_status train_json_write(const train_command *job)
{
    dis__json_writer *j;
    dis_status status = cli_summary_open(job->v->json, "train", &job->v->seed, &j);
    if (status != DIS_OK) return status;
    const dis_model_view m = dis_model_get_view(job->trained.model);
    cli_json_write_text(j, "model", m.spec);
    cli_json_write_text(j, "objective", m.objective);
    status = put_files(job, j);
    cli_json_write_count(j, "runs", job->v->runs);
    cli_json_write_count(j, "examples", m.n_examples);
    cli_json_write_count(j, "left_out", m.n_left_out);
    cli_json_write_count(j, "parameters", m.n_parameters);
    cli_json_write_names(j, "classes", m.classes);
    cli_json_write_text(j, "kept_by", m.keep);
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    put_spread(job, j, "loss", selected_loss);
    if (m.keep) put_spread(job, j, m.keep, selected_dev);
    dis__json_writer_end_object(j);
    return cli_summary_close(j, status);
}
