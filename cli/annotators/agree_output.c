/* Results of dissent agree: tables, the JSON summary, and text. */
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "annotators/cmd_agree.h"
#include "output/chance_output.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* Rows that say something here: those about gold only when there is some. */
static bool is_shown(const agree_command *job, size_t m)
{
    return job->v->gold || !dis_agreement_measure_get(m)->needs_gold;
}

/* ---- tables ---- */

static dis_status write_measures(const agree_command *job, const char *path, const char *format)
{
    static const char *const columns[] = {"measure", "value", "ci_low", "ci_high", "n", "degenerate", "reason", "over"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, format, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t m = 0; m < job->view.n_metrics; m++) {
        if (!is_shown(job, m)) continue;
        const dis_metric *x = &job->view.metric[m];
        cli_cell_write_text(t, dis_agreement_measure_get(m)->name);
        cli_cell_write_metric(t, x);
        dis__table_writer_count(t, x->n);
        cli_cell_write_text(t, x->degenerate ? "true" : NULL);
        cli_cell_write_text(t, x->reason ? x->reason : dis_metric_no_interval_reason(x));
        cli_cell_write_text(t, x->has_interval ? dis_interval_scope_name(job->view.interval_scope) : NULL);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_workers(const agree_command *job, const char *path)
{
    static const char *const columns[] = {"worker",        "votes",      "compared", "agreement",
                                          "alpha_without", "gold_votes", "accuracy"};
    dis__table_writer *t;
    const dis_status status =
        dis__table_writer_create(path, NULL, columns, job->v->gold ? N(columns) : N(columns) - 2, &t);
    if (status != DIS_OK) return status;
    for (size_t w = 0; w < job->view.n_workers; w++) {
        const dis_agreement_worker *x = &job->view.workers[w];
        cli_cell_write_name(t, job->in.view.workers, w);
        dis__table_writer_count(t, x->votes);
        dis__table_writer_count(t, x->compared);
        dis__table_writer_real(t, x->agreement);
        dis__table_writer_real(t, x->alpha_without_worker);
        if (!job->v->gold) continue;
        dis__table_writer_count(t, x->gold_votes);
        dis__table_writer_real(t, x->accuracy);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_items(const agree_command *job, const char *path)
{
    static const char *const columns[] = {"task", "votes", "chosen", "label", "agreement"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t i = 0; i < job->view.n_items; i++) {
        const dis_agreement_item *x = &job->view.items[i];
        cli_cell_write_name(t, job->in.view.tasks, i);
        dis__table_writer_count(t, x->votes);
        dis__table_writer_count(t, x->n_chosen_classes);
        if (x->votes)
            cli_cell_write_name(t, job->in.view.classes, x->majority_class);
        else
            dis__table_writer_null(t);
        dis__table_writer_real(t, x->agreement);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_classes(const agree_command *job, const char *path)
{
    static const char *const columns[] = {
        "class",  "votes",         "share",          "agreement", "agreement_ci_low", "agreement_ci_high",
        "fleiss", "fleiss_ci_low", "fleiss_ci_high", "alpha",     "alpha_ci_low",     "alpha_ci_high"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t k = 0; k < job->view.n_classes; k++) {
        const dis_agreement_class *x = &job->view.classes[k];
        cli_cell_write_name(t, job->in.view.classes, k);
        dis__table_writer_count(t, x->votes);
        dis__table_writer_real(t, x->share);
        cli_cell_write_metric(t, &x->agreement);
        cli_cell_write_metric(t, &x->fleiss);
        cli_cell_write_metric(t, &x->alpha);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static dis_status write_pairs(const agree_command *job, const char *path)
{
    static const char *const columns[] = {"worker_a",     "worker_b",        "n",     "agreement", "cohen",
                                          "cohen_linear", "cohen_quadratic", "scott", "degenerate"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t p = 0; p < job->view.n_pairs; p++) {
        const dis_agreement_pair *x = &job->view.pairs[p];
        cli_cell_write_name(t, job->in.view.workers, x->a);
        cli_cell_write_name(t, job->in.view.workers, x->b);
        dis__table_writer_count(t, x->n);
        dis__table_writer_real(t, x->agreement);
        dis__table_writer_real(t, x->cohen);
        dis__table_writer_real(t, x->cohen_linear);
        dis__table_writer_real(t, x->cohen_quadratic);
        dis__table_writer_real(t, x->scott);
        cli_cell_write_text(t, x->degenerate ? "true" : NULL);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

/* ---- for machines ---- */

static void put_counts(const agree_command *job, dis__json_writer *j)
{
    const dis_agreement_view *l = &job->view;
    dis__json_writer_key(j, "compared");
    dis__json_writer_begin_object(j);
    cli_json_write_count(j, "items", l->n_compared);
    cli_json_write_count(j, "items_with_one_vote", l->n_single_votes);
    cli_json_write_count(j, "items_without_votes", l->n_empty);
    cli_json_write_count(j, "votes", l->votes_compared);
    cli_json_write_bool(j, "singles_in_chance", job->v->singles);
    cli_json_write_count(j, "resamples", job->v->figures.resamples);
    cli_json_write_text(j, "intervals_over", dis_interval_scope_name(l->interval_scope));
    if (l->pairs) {
        cli_json_write_count(j, "pairs_of_workers", l->n_pairs);
        cli_json_write_count(j, "workers_in_pairs", l->n_pair_workers);
        cli_json_write_count(j, "pairs_too_small", l->n_pairs_too_small);
        cli_json_write_count(j, "pairs_degenerate", l->n_pairs_degenerate);
        cli_json_write_count(j, "min_common", job->v->min_common);
    }
    dis__json_writer_end_object(j);
}

static dis_status write_json(const agree_command *job, const char *path)
{
    dis__json_writer *j;
    dis_status status = cli_summary_open(path, "agree", &job->v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = votes_input_write_json_files(&job->in, j);
    if (status == DIS_OK && job->v->gold) status = cli_input_write(j, job->v->gold, "gold");
    if (status == DIS_OK) status = groups_input_write_json_file(&job->groups, j);
    cli_inputs_end(j);
    if (status == DIS_OK) status = votes_input_write_json_table(&job->in, j);
    votes_input_write_json_notes(&job->in, j);
    put_counts(job, j);
    chance_test_write_json(j, &job->view.chance);
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    for (size_t m = 0; m < job->view.n_metrics; m++) {
        if (!is_shown(job, m)) continue;
        dis__json_writer_key(j, dis_agreement_measure_get(m)->name);
        dis__json_writer_metric(j, &job->view.metric[m]);
    }
    dis__json_writer_end_object(j);
    dis__json_writer_key(j, "by_class");
    dis__json_writer_begin_array(j);
    for (size_t k = 0; k < job->view.n_classes; k++) {
        const dis_agreement_class *x = &job->view.classes[k];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "class", dis_names_get(job->in.view.classes, k, NULL));
        cli_json_write_count(j, "votes", x->votes);
        cli_json_write_real(j, "share", x->share);
        dis__json_writer_key(j, "agreement");
        dis__json_writer_metric(j, &x->agreement);
        dis__json_writer_key(j, "fleiss");
        dis__json_writer_metric(j, &x->fleiss);
        dis__json_writer_key(j, "alpha");
        dis__json_writer_metric(j, &x->alpha);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    agree_groups_write_json(job, j);
    return cli_summary_close(j, status);
}

/* ---- for people ---- */

static void print_measure(const agree_command *job, size_t m)
{
    const dis_metric *x = &job->view.metric[m];
    printf("  %-42s ", dis_agreement_measure_get(m)->title);
    if (x->reason)
        printf("%8s  %s", "-", x->reason);
    else
        printf("%8.4f", x->value);
    if (x->has_interval) printf("  [%.4f, %.4f]", x->ci_low, x->ci_high);
    if (x->degenerate)
        printf("  (all labels are the same: 1 by convention)");
    else if (dis_metric_no_interval_reason(x))
        printf("  no interval: %s", dis_metric_no_interval_reason(x));
    printf("\n");
}

/* Whether a measure is among those that come first on the scale of the votes. */
static bool is_headline(const agree_command *job, size_t m)
{
    const char *list = dis_scale_get(dis_votes_scale(job->in.votes))->headline,
               *name = dis_agreement_measure_get(m)->name;
    const size_t n = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
    return false;
}

static void print_measures(const agree_command *job)
{
    const dis_scale_row *scale = dis_scale_get(dis_votes_scale(job->in.votes));
    const char *interval = !job->v->figures.resamples ? ""
                           : job->view.interval_scope == DIS_INTERVAL_ANNOTATORS
                               ? "  95 % interval for new annotators and items"
                               : "  95 % interval for new items";
    bool crowd = false;
    char title[64];
    if (scale->headline) {
        snprintf(title, sizeof title, "Agreement, %s", scale->name);
        printf("%-44s %8s%s\n", title, "value", interval);
        for (size_t m = 0; m < job->view.n_metrics; m++)
            if (is_shown(job, m) && is_headline(job, m)) print_measure(job, m);
        printf("\n");
    }
    printf("%-44s %8s%s\n", scale->headline ? "Agreement, other measures" : "Agreement", "value", interval);
    for (size_t m = 0; m < job->view.n_metrics; m++) {
        const bool is_crowd = dis_agreement_measure_get(m)->describes_crowd;
        if (!is_shown(job, m) || is_headline(job, m)) continue;
        if (is_crowd && !crowd) printf("\n%-44s %8s\n", "Crowd", "value");
        crowd = is_crowd;
        print_measure(job, m);
    }
}

static void print_all(const agree_command *job)
{
    print_measures(job);
    agree_groups_print(job);
}

/* Krippendorff (2004): conclusions need alpha of .8 or more, tentative ones .667. */
static void print_finding(agree_command *job)
{
    static const char *const names[] = {[DIS_SCALE_NOMINAL] = "alpha_nominal", [DIS_SCALE_ORDINAL] = "alpha_ordinal"};
    const dis_scale scale = dis_votes_scale(job->in.votes);
    const char *name = scale < sizeof names / sizeof *names ? names[scale] : NULL;
    const dis_metric *alpha = name ? dis_agreement_find(job->agreement, name) : NULL;
    char value[CLI_METRIC_SIZE];
    if (!alpha || alpha->reason) return;
    cli_print(job->c, "%sagreement%s: Krippendorff's alpha %s, %s", cli_bold(job->c), cli_plain(job->c),
              cli_metric_format(alpha, 2, value),
              job->view.chance.verdict == DIS_CHANCE_NOISE ? "no more than chance"
              : alpha->value >= .8                         ? "reliable (.8 or more)"
              : alpha->value >= .667                       ? "sufficient for tentative conclusions (.667 to .8)"
                                                           : "low (below .667)");
    if (job->in.view.start && alpha->value < .8)
        cli_next_print(job->c, "review", NULL, "which items and annotators lower the agreement");
}

void agree_print(agree_command *job)
{
    const dis_agreement_view *l = &job->view;
    cli *c = job->c;
    char number[CLI_NUMBER], other[CLI_NUMBER];
    votes_input_print(&job->in);
    votes_input_print_gold(&job->in, "with known labels");
    groups_input_print(&job->groups);
    if (l->n_single_votes + l->n_empty)
        cli_print(c, "  %-18s %s item%s with fewer than two votes", "not used",
                  cli_count_format(l->n_single_votes + l->n_empty, number), cli_plural(l->n_single_votes + l->n_empty));
    if (l->pairs && l->n_pair_workers < l->n_workers)
        cli_print(c, "  %-18s of the %s annotators with most votes, of %s (--max-pairs)", "pairs",
                  cli_count_format(l->n_pair_workers, number), cli_count_format(l->n_workers, other));
    if (l->n_pairs_too_small)
        cli_print(c,
                  "  %-18s %s of %s have fewer than %llu common items and are not used in Cohen's kappa (--min-common)",
                  "pairs", cli_count_format(l->n_pairs_too_small, number), cli_count_format(l->n_pairs, other),
                  (unsigned long long)job->v->min_common);
    if (l->n_pairs_degenerate)
        cli_print(c, "  %-18s %s used only one class and are not used in Cohen's kappa", "pairs",
                  cli_count_format(l->n_pairs_degenerate, number));
    if (l->n_compared) chance_test_print(c, &l->chance);
    if (!l->n_workers && job->v->figures.resamples)
        cli_print(c, "  %-18s for new items only, because the input has no annotator ids", "intervals");
    print_finding(job);
}

int agree_write(const agree_command *job)
{
    const agree_values *v = job->v;
    const char *format = cli_metric_table_format(&v->figures);
    dis_status status = DIS_OK;
    if (format)
        status = write_measures(job, cli_metric_table_path(&v->figures), format);
    else
        print_all(job);
    if (status == DIS_OK && v->workers) status = write_workers(job, v->workers);
    if (status == DIS_OK && v->items) status = write_items(job, v->items);
    if (status == DIS_OK && v->by_class) status = write_classes(job, v->by_class);
    if (status == DIS_OK && v->pairs) status = write_pairs(job, v->pairs);
    if (status == DIS_OK) status = agree_groups_write(job);
    if (status == DIS_OK && v->figures.json) status = write_json(job, v->figures.json);
    if (status != DIS_OK) return cli_failed(job->c, status);
    return cli_flush(job->c);
}
