/* What `dissent panel` found: tables, a summary for machines, text for people. */
#include "panel_job.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { NAME_WIDTH = 26, SHOWN_CLASSES = 12 };
static const char all_judges[] = "majority of the models";

static const char *judge_name(const panel_job *job, size_t j)
{
    if (j >= job->look.n_judges) return all_judges;
    return dis_names_get(job->in.look.workers, job->look.judges[j].worker, NULL);
}

/* ---- tables ---- */

dis_status panel_write_judges(const panel_job *job, const char *path, const char *format)
{
    static const char *const columns[] = {"model",
                                          "votes",
                                          "shared",
                                          "agreement",
                                          "agreement_ci_low",
                                          "agreement_ci_high",
                                          "error",
                                          "error_ci_low",
                                          "error_ci_high",
                                          "people",
                                          "won",
                                          "winning_rate",
                                          "passed",
                                          "advantage",
                                          "advantage_ci_low",
                                          "advantage_ci_high",
                                          "cluster"};
    dis_table *t;
    const dis_status status = dis_table_open(path, format, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t j = 0; j < job->look.n_judges; j++) {
        const dis_panel_judge *x = &job->look.judges[j];
        cli_cell_text(t, judge_name(job, j));
        dis_table_count(t, x->votes);
        dis_table_count(t, x->shared);
        cli_cell_metric(t, &x->agreement);
        cli_cell_metric(t, &x->error);
        dis_table_count(t, x->people);
        dis_table_count(t, x->won);
        dis_table_real(t, x->winning_rate);
        cli_cell_text(t, x->people == 0 ? NULL : x->passed ? "true" : "false");
        cli_cell_metric(t, &x->advantage);
        dis_table_count(t, x->cluster + 1u);
    }
    return dis_table_finish(t, DIS_OK);
}

dis_status panel_write_rates(const panel_job *job)
{
    static const char *const columns[] = {"model",
                                          "class",
                                          "items_with_people",
                                          "items_alone",
                                          "raw",
                                          "sensitivity",
                                          "specificity",
                                          "people",
                                          "people_ci_low",
                                          "people_ci_high",
                                          "rogan_gladen",
                                          "rogan_gladen_ci_low",
                                          "rogan_gladen_ci_high",
                                          "powered",
                                          "powered_ci_low",
                                          "powered_ci_high",
                                          "lambda",
                                          "items_needed",
                                          "items_needed_alone"};
    dis_table *t;
    if (!job->v->rates) return DIS_OK;
    const dis_status status = dis_table_open(job->v->rates, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < job->look.n_rates; r++) {
        const dis_panel_rate *x = &job->look.rates[r];
        cli_cell_text(t, judge_name(job, x->judge));
        cli_cell_name(t, job->in.look.classes, x->class);
        dis_table_count(t, x->n_people);
        dis_table_count(t, x->n_alone);
        dis_table_real(t, x->raw);
        dis_table_real(t, x->sensitivity);
        dis_table_real(t, x->specificity);
        cli_cell_metric(t, &x->people);
        cli_cell_metric(t, &x->rogan_gladen);
        cli_cell_metric(t, &x->powered);
        dis_table_real(t, x->lambda);
        dis_table_real(t, x->needed);
        dis_table_real(t, x->needed_alone);
    }
    return dis_table_finish(t, DIS_OK);
}

dis_status panel_write_pairs(const panel_job *job)
{
    static const char *const columns[] = {"model_a", "model_b", "items", "correlation"};
    dis_table *t;
    if (!job->v->pairs) return DIS_OK;
    const dis_status status = dis_table_open(job->v->pairs, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t p = 0; p < job->look.n_pairs; p++) {
        const dis_panel_pair *x = &job->look.pairs[p];
        cli_cell_text(t, judge_name(job, x->a));
        cli_cell_text(t, judge_name(job, x->b));
        dis_table_count(t, x->n);
        dis_table_real(t, x->correlation);
    }
    return dis_table_finish(t, DIS_OK);
}

dis_status panel_write_buy(const panel_job *job)
{
    static const char *const columns[] = {"task", "people", "buy", "gain"};
    dis_table *t;
    if (!job->v->buy) return DIS_OK;
    const dis_status status = dis_table_open(job->v->buy, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t i = 0; i < job->look.n_items; i++) {
        const dis_panel_item *x = &job->look.items[i];
        cli_cell_name(t, job->in.look.tasks, x->item);
        dis_table_count(t, x->people);
        dis_table_count(t, x->buy);
        dis_table_real(t, x->gain);
    }
    return dis_table_finish(t, DIS_OK);
}

dis_status panel_write_swaps(const panel_job *job)
{
    static const char *const columns[] = {
        "voter", "pairs", "consistent", "consistent_ci_low", "consistent_ci_high", "to_first", "to_second", "p"};
    dis_table *t;
    if (!job->v->swaps) return DIS_OK;
    const dis_status status = dis_table_open(job->v->swaps, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < job->n_swaps; r++) {
        const dis_panel_swap *x = &job->swap[r];
        cli_cell_name(t, job->in.look.workers, x->worker);
        dis_table_count(t, x->n);
        cli_cell_metric(t, &x->consistent);
        dis_table_count(t, x->first);
        dis_table_count(t, x->second);
        dis_table_real(t, x->p);
    }
    return dis_table_finish(t, DIS_OK);
}

dis_status panel_write_labels(const panel_job *job, dis_context *ctx)
{
    if (!job->v->labels) return DIS_OK;
    const dis_labels_view labels = {.n_items = job->look.n_items,
                                    .n_classes = job->look.n_classes,
                                    .p = job->look.p,
                                    .tasks = job->in.look.tasks,
                                    .classes = job->in.look.classes};
    return dis_labels_write(ctx, &labels, job->v->labels, NULL);
}

/* ---- for machines ---- */

static void put_metric(dis_json *j, const char *key, const dis_metric *m)
{
    dis_json_key(j, key);
    dis_json_metric(j, m);
}

static void put_judge(const panel_job *job, dis_json *j, size_t i)
{
    const dis_panel_judge *x = &job->look.judges[i];
    dis_json_begin_object(j);
    cli_put_text(j, "model", judge_name(job, i));
    cli_put_count(j, "votes", x->votes);
    cli_put_count(j, "shared", x->shared);
    put_metric(j, "agreement", &x->agreement);
    put_metric(j, "error", &x->error);
    cli_put_count(j, "people", x->people);
    cli_put_count(j, "won", x->won);
    cli_put_real(j, "winning_rate", x->winning_rate);
    put_metric(j, "advantage", &x->advantage);
    cli_put_bool(j, "passed", x->passed);
    cli_put_count(j, "cluster", x->cluster + 1u);
    dis_json_end_object(j);
}

static void put_rate(const panel_job *job, dis_json *j, const dis_panel_rate *x)
{
    dis_json_begin_object(j);
    cli_put_text(j, "model", judge_name(job, x->judge));
    cli_put_text(j, "class", dis_names_get(job->in.look.classes, x->class, NULL));
    cli_put_count(j, "items_with_people", x->n_people);
    cli_put_count(j, "items_alone", x->n_alone);
    cli_put_real(j, "raw", x->raw);
    cli_put_real(j, "sensitivity", x->sensitivity);
    cli_put_real(j, "specificity", x->specificity);
    put_metric(j, "people", &x->people);
    put_metric(j, "rogan_gladen", &x->rogan_gladen);
    put_metric(j, "powered", &x->powered);
    cli_put_real(j, "lambda", x->lambda);
    cli_put_real(j, "items_needed", x->needed);
    cli_put_real(j, "items_needed_alone", x->needed_alone);
    dis_json_end_object(j);
}

static void put_swaps(const panel_job *job, dis_json *j)
{
    if (job->n_swaps == 0) return;
    dis_json_key(j, "swaps");
    dis_json_begin_array(j);
    for (size_t r = 0; r < job->n_swaps; r++) {
        const dis_panel_swap *x = &job->swap[r];
        dis_json_begin_object(j);
        cli_put_text(j, "voter", dis_names_get(job->in.look.workers, x->worker, NULL));
        cli_put_count(j, "pairs", x->n);
        put_metric(j, "consistent", &x->consistent);
        cli_put_count(j, "to_first", x->first);
        cli_put_count(j, "to_second", x->second);
        cli_put_real(j, "p", x->p);
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
}

static void put_panel(const panel_job *job, dis_json *j)
{
    const dis_panel_view *l = &job->look;
    cli_put_count(j, "people", l->n_people);
    cli_put_count(j, "items_with_people", l->items_with_people);
    cli_put_count(j, "clusters", l->n_clusters);
    put_metric(j, "correlation", &l->correlation);
    put_metric(j, "effective", &l->effective);
    put_metric(j, "effective_by_spectrum", &l->spectrum);
    cli_put_real(j, "exponent", l->exponent);
    cli_put_real(j, "strength", l->strength);
    put_metric(j, "loss_rates", &l->loss_rates);
    put_metric(j, "loss_shares", &l->loss_shares);
    put_metric(j, "loss_calibrated", &l->loss_calibrated);
    cli_put_count(j, "budget", job->v->budget);
    cli_put_count(j, "spent", l->spent);
}

dis_status panel_write_json(const panel_job *job)
{
    const panel_values *v = job->v;
    dis_json *j;
    if (!v->figures.json) return DIS_OK;
    dis_status status = cli_summary_open(v->figures.json, "panel", &v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = votes_input_put_files(&job->in, j);
    if (status == DIS_OK && v->voters.table) status = cli_put_file(j, v->voters.table, "worker table");
    for (size_t i = 0; i < v->swapped.n && status == DIS_OK; i++)
        status = cli_put_file(j, v->swapped.value[i], "swapped");
    cli_inputs_end(j);
    if (status == DIS_OK) status = votes_input_put_table(&job->in, j);
    votes_input_put_notes(&job->in, j);
    cli_put_real(j, "epsilon", v->epsilon);
    cli_put_real(j, "fdr", v->fdr);
    put_panel(job, j);
    dis_json_key(j, "models");
    dis_json_begin_array(j);
    for (size_t i = 0; i < job->look.n_judges; i++) put_judge(job, j, i);
    dis_json_end_array(j);
    dis_json_key(j, "rates");
    dis_json_begin_array(j);
    for (size_t r = 0; r < job->look.n_rates; r++) put_rate(job, j, &job->look.rates[r]);
    dis_json_end_array(j);
    put_swaps(job, j);
    return cli_summary_finish(j, status);
}

/* ---- for people ---- */

static void print_figure(const dis_metric *m, int width)
{
    char text[CLI_FIGURE];
    if (m->reason)
        snprintf(text, sizeof text, "-");
    else
        cli_figure(m, 3, text);
    printf("%-*s", width, text);
}

static void print_judges(const panel_job *job, int width)
{
    char safe[CLI_SAFE], people[CLI_NUMBER];
    printf("%-*s %7s  %-*s%-*s%6s %8s  %-6s %s\n", NAME_WIDTH, "Model", "shared", width, "agreement", width,
           "advantage", "omega", "people", "passes", "cluster");
    for (size_t j = 0; j < job->look.n_judges; j++) {
        const dis_panel_judge *x = &job->look.judges[j];
        cli_escape(judge_name(job, j), safe, NAME_WIDTH);
        printf("%-*s %7llu  ", NAME_WIDTH, safe, (unsigned long long)x->shared);
        print_figure(&x->agreement, width);
        print_figure(&x->advantage, width);
        if (x->people)
            printf("%6.2f %8s  %-6s %u\n", x->winning_rate, cli_grouped(x->people, people), x->passed ? "yes" : "no",
                   x->cluster + 1);
        else
            printf("%6s %8s  %-6s %u\n", "-", "0", "-", x->cluster + 1);
    }
}

static void print_together(const panel_job *job)
{
    const dis_panel_view *l = &job->look;
    char text[CLI_FIGURE];
    if (l->n_judges > 1 && !l->effective.reason) {
        printf("\n%-44s %s\n", "Independent judges that the models are worth", cli_figure(&l->effective, 2, text));
        printf("%-44s %s\n", "  by the spectrum of their errors", cli_figure(&l->spectrum, 2, text));
        printf("%-44s %s\n", "  mean correlation of errors", cli_figure(&l->correlation, 3, text));
        printf("%-44s %zu\n", "  clusters", l->n_clusters);
    }
    printf("\n%-44s %8s\n", "A person's vote, held out (-log, nats)", "");
    printf("  %-42s %8.4f\n", "by how common classes are", l->loss_rates.value);
    printf("  %-42s %8.4f\n", "by the shares of the models", l->loss_shares.value);
    printf("  %-42s %8.4f\n", "by calibrated labels", l->loss_calibrated.value);
    printf("  %-42s %8.2f\n", "votes of people that the models are worth", l->strength);
}

static void print_rates(const panel_job *job, int width)
{
    const size_t n = job->look.n_classes, shown = n < SHOWN_CLASSES ? n : SHOWN_CLASSES;
    char safe[CLI_SAFE];
    printf("\n%-*s %7s  %-*s%-*s%-*s%8s %8s\n", NAME_WIDTH, "Class, by all models", "raw", width, "Rogan-Gladen", width,
           "powered", width, "people alone", "needed", "alone");
    for (size_t k = 0; k < shown; k++) {
        const dis_panel_rate *x = &job->look.rates[job->look.n_judges * n + k];
        cli_escape(dis_names_get(job->in.look.classes, k, NULL), safe, NAME_WIDTH);
        printf("%-*s %7.3f  ", NAME_WIDTH, safe, x->raw);
        print_figure(&x->rogan_gladen, width);
        print_figure(&x->powered, width);
        print_figure(&x->people, width);
        printf("%8.0f %8.0f\n", x->needed, x->needed_alone);
    }
    if (shown < n) printf("... and %zu more: --rates FILE has them all\n", n - shown);
}

static void print_swaps(const panel_job *job, int width)
{
    char safe[CLI_SAFE];
    if (job->n_swaps == 0) return;
    printf("\n%-*s %7s  %-*s%9s %9s  %s\n", NAME_WIDTH, "Voter, both orders", "pairs", width, "consistent", "to first",
           "to second", "p");
    for (size_t r = 0; r < job->n_swaps; r++) {
        const dis_panel_swap *x = &job->swap[r];
        cli_escape(dis_names_get(job->in.look.workers, x->worker, NULL), safe, NAME_WIDTH);
        printf("%-*s %7llu  ", NAME_WIDTH, safe, (unsigned long long)x->n);
        print_figure(&x->consistent, width);
        printf("%9llu %9llu  %.4f\n", (unsigned long long)x->first, (unsigned long long)x->second, x->p);
    }
}

void panel_print(const panel_job *job)
{
    const int width = 24;
    print_judges(job, width);
    print_together(job);
    print_rates(job, width);
    print_swaps(job, width);
}

void panel_tell(panel_job *job)
{
    char people[CLI_NUMBER], items[CLI_NUMBER], number[CLI_NUMBER];
    votes_input_tell(&job->in);
    cli_say(job->c, "  %-18s %s people and %zu model%s; %s items have votes of people", "voters",
            cli_grouped(job->look.n_people, people), job->look.n_judges, cli_plural(job->look.n_judges),
            cli_grouped(job->look.items_with_people, items));
    if (job->v->budget)
        cli_say(job->c, "  %-18s %s votes of people placed (--buy FILE has where)", "budget",
                cli_grouped(job->look.spent, number));
}
