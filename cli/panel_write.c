/* What `dissent panel` found: tables, a summary for machines, text for people. */
#include "panel_job.h"
#include "fields.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define ROWS(fields, rows, n, name, job)                                                                            \
    (cli_rows)                                                                                                      \
    {                                                                                                               \
        .field = fields, .n_fields = N(fields), .row = rows, .n_rows = n, .row_size = sizeof *(rows), .text = name, \
        .user = job                                                                                                 \
    }
enum { NAME_WIDTH = 26, SHOWN_CLASSES = 12 };
static const char all_judges[] = "majority of the models";

static const char *judge_name(const panel_job *job, size_t j)
{
    if (j >= job->look.n_judges) return all_judges;
    return dis_names_get(job->in.look.workers, job->look.judges[j].worker, NULL);
}

/* ---- rows ---- */

static const char *name_of_judge(const void *user, const cli_field *field, size_t j)
{
    (void)field;
    return judge_name(user, j);
}

static cli_rows rows_of_judges(const panel_job *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model"),
        CLI_FIELD(dis_panel_judge, COUNT, votes),
        CLI_FIELD(dis_panel_judge, COUNT, shared),
        CLI_FIELD(dis_panel_judge, METRIC, agreement),
        CLI_FIELD(dis_panel_judge, METRIC, error),
        CLI_FIELD(dis_panel_judge, COUNT, people),
        CLI_FIELD(dis_panel_judge, COUNT, won),
        CLI_FIELD(dis_panel_judge, REAL, winning_rate),
        {.name = "passed",
         .kind = CLI_FIELD_TRUTH,
         .offset = offsetof(dis_panel_judge, passed),
         .known = offsetof(dis_panel_judge, people)},
        CLI_FIELD(dis_panel_judge, METRIC, advantage),
        CLI_FIELD(dis_panel_judge, ORDINAL, cluster),
    };
    return ROWS(fields, job->look.judges, job->look.n_judges, name_of_judge, job);
}

static const char *name_of_rate(const void *user, const cli_field *field, size_t r)
{
    const panel_job *job = user;
    const dis_panel_rate *x = &job->look.rates[r];
    return strcmp(field->name, "model") == 0 ? judge_name(job, x->judge)
                                             : dis_names_get(job->in.look.classes, x->class, NULL);
}

static cli_rows rows_of_rates(const panel_job *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model"),
        CLI_NAME_FIELD("class"),
        CLI_FIELD_AS(dis_panel_rate, COUNT, "items_with_people", n_people),
        CLI_FIELD_AS(dis_panel_rate, COUNT, "items_alone", n_alone),
        CLI_FIELD(dis_panel_rate, REAL, raw),
        CLI_FIELD(dis_panel_rate, REAL, sensitivity),
        CLI_FIELD(dis_panel_rate, REAL, specificity),
        CLI_FIELD(dis_panel_rate, METRIC, people),
        CLI_FIELD(dis_panel_rate, METRIC, rogan_gladen),
        CLI_FIELD(dis_panel_rate, METRIC, powered),
        CLI_FIELD(dis_panel_rate, REAL, lambda),
        CLI_FIELD_AS(dis_panel_rate, REAL, "items_needed", needed),
        CLI_FIELD_AS(dis_panel_rate, REAL, "items_needed_alone", needed_alone),
    };
    return ROWS(fields, job->look.rates, job->look.n_rates, name_of_rate, job);
}

static const char *name_of_pair(const void *user, const cli_field *field, size_t p)
{
    const panel_job *job = user;
    const dis_panel_pair *x = &job->look.pairs[p];
    return judge_name(job, strcmp(field->name, "model_a") == 0 ? x->a : x->b);
}

static cli_rows rows_of_pairs(const panel_job *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("model_a"),
        CLI_NAME_FIELD("model_b"),
        CLI_FIELD_AS(dis_panel_pair, COUNT, "items", n),
        CLI_FIELD(dis_panel_pair, REAL, correlation),
    };
    return ROWS(fields, job->look.pairs, job->look.n_pairs, name_of_pair, job);
}

static const char *name_of_item(const void *user, const cli_field *field, size_t i)
{
    const panel_job *job = user;
    (void)field;
    return dis_names_get(job->in.look.tasks, job->look.items[i].item, NULL);
}

static cli_rows rows_of_items(const panel_job *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("task"),
        CLI_FIELD(dis_panel_item, SMALL, people),
        CLI_FIELD(dis_panel_item, SMALL, buy),
        CLI_FIELD(dis_panel_item, REAL, gain),
    };
    return ROWS(fields, job->look.items, job->look.n_items, name_of_item, job);
}

static const char *name_of_voter(const void *user, const cli_field *field, size_t r)
{
    const panel_job *job = user;
    (void)field;
    return dis_names_get(job->in.look.workers, job->swap[r].worker, NULL);
}

static cli_rows rows_of_swaps(const panel_job *job)
{
    static const cli_field fields[] = {
        CLI_NAME_FIELD("voter"),
        CLI_FIELD_AS(dis_panel_swap, COUNT, "pairs", n),
        CLI_FIELD(dis_panel_swap, METRIC, consistent),
        CLI_FIELD_AS(dis_panel_swap, COUNT, "to_first", first),
        CLI_FIELD_AS(dis_panel_swap, COUNT, "to_second", second),
        CLI_FIELD(dis_panel_swap, REAL, p),
    };
    return ROWS(fields, job->swap, job->n_swaps, name_of_voter, job);
}

dis_status panel_write_judges(const panel_job *job, const char *path, const char *format)
{
    const cli_rows rows = rows_of_judges(job);
    return cli_rows_write(&rows, path, format);
}

dis_status panel_write_tables(const panel_job *job)
{
    const panel_values *v = job->v;
    const struct {
        const char *path;
        cli_rows rows;
    } table[] = {{v->rates, rows_of_rates(job)},
                 {v->pairs, rows_of_pairs(job)},
                 {v->buy, rows_of_items(job)},
                 {v->swaps, rows_of_swaps(job)}};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < N(table) && status == DIS_OK; i++)
        if (table[i].path) status = cli_rows_write(&table[i].rows, table[i].path, NULL);
    return status;
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
    const cli_rows judges = rows_of_judges(job), rates = rows_of_rates(job), swaps = rows_of_swaps(job);
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
    cli_rows_put(&judges, j, "models");
    cli_rows_put(&rates, j, "rates");
    if (swaps.n_rows) cli_rows_put(&swaps, j, "swaps");
    return cli_summary_finish(j, status);
}

/* ---- for people ---- */

static void print_judges(const panel_job *job, int width)
{
    char safe[CLI_SAFE], people[CLI_NUMBER];
    printf("%-*s %7s  %-*s%-*s%6s %8s  %-6s %s\n", NAME_WIDTH, "Model", "shared", width, "agreement", width,
           "advantage", "omega", "people", "passes", "cluster");
    for (size_t j = 0; j < job->look.n_judges; j++) {
        const dis_panel_judge *x = &job->look.judges[j];
        cli_escape(judge_name(job, j), safe, NAME_WIDTH);
        printf("%-*s %7llu  ", NAME_WIDTH, safe, (unsigned long long)x->shared);
        cli_print_figure(&x->agreement, width);
        cli_print_figure(&x->advantage, width);
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
        cli_print_figure(&x->rogan_gladen, width);
        cli_print_figure(&x->powered, width);
        cli_print_figure(&x->people, width);
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
        cli_print_figure(&x->consistent, width);
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
