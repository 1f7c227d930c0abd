/* dissent eval --scale multi-label: people's votes for sets of classes, as the probability of each class. */
#include "evaluate/cmd_eval.h"
#include <stdlib.h>
#include <string.h>

bool eval_is_of_sets(const eval_command *job)
{
    return votes_input_scale(&job->v->reading) == DIS_SCALE_MULTI_LABEL;
}

/* Columns task, label, entropy, then p:CLASS. */
enum { FIRST_CLASS = 3 };

/* The class that a column is about. */
static const char *class_of(const dis_scaled_column *column)
{
    return column->name + strlen("p:");
}

/* Classes of the predictions, and with --lenient others that people chose. */
static int find_classes(const eval_command *job, const dis_scaled_table *table, const char **names, size_t *n)
{
    const dis_names *known = dis_labels_classes(job->in.labels[0]);
    *n = dis_names_count(known);
    for (size_t k = 0; k < *n; k++) names[k] = dis_names_get(known, k, NULL);
    for (size_t c = FIRST_CLASS; c < table->n_columns; c++) {
        const char *class = class_of(&table->columns[c]);
        if (dis_names_find(known, class, strlen(class)) != SIZE_MAX) continue;
        if (!job->v->reading.lenient)
            return cli_error(
                job->c, DIS_EDATA,
                "%s: people chose the class \"%.60s\", which the predictions lack; add it, or accept it as "
                "probability 0 (--lenient)",
                job->votes.paths[0], class);
        names[(*n)++] = class;
    }
    return 0;
}

static void fill(const dis_scaled_table *table, const char *const *names, size_t n_classes, double *p)
{
    for (size_t k = 0; k < n_classes; k++)
        for (size_t c = FIRST_CLASS; c < table->n_columns; c++) {
            if (strcmp(class_of(&table->columns[c]), names[k]) != 0) continue;
            for (size_t i = 0; i < table->n_rows; i++) p[i * n_classes + k] = table->columns[c].values[i];
        }
}

static int put_people(eval_command *job, const dis_scaled_table *table)
{
    const size_t max = dis_names_count(dis_labels_classes(job->in.labels[0])) + table->n_columns;
    const char **names = calloc(max, sizeof *names);
    size_t n = 0;
    int code =
        names ? find_classes(job, table, names, &n) : cli_error(job->c, DIS_ELIMIT, "no memory for %zu classes", max);
    job->set_p = code == 0 ? calloc(table->n_rows * n + 1, sizeof *job->set_p) : NULL;
    if (code == 0 && !job->set_p)
        code = cli_error(job->c, DIS_ELIMIT, "no memory for the labels of %zu items", table->n_rows);
    if (code == 0) code = cli_failed(job->c, dis_names_create(names, n, &job->set_classes));
    if (code == 0) {
        fill(table, names, n, job->set_p);
        job->human = (dis_labels_view){.size = sizeof(dis_labels_view),
                                       .n_items = table->n_rows,
                                       .n_classes = n,
                                       .p = job->set_p,
                                       .tasks = table->columns[0].names,
                                       .classes = job->set_classes};
        code = label_input_add_view(&job->in, job->votes.paths[0], "votes", &job->human);
    }
    free(names);
    return code;
}

int eval_sets_people(eval_command *job, dis_context *ctx)
{
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *result = NULL;
    o.method = &job->v->human_labels;
    o.n_methods = 1;
    o.resamples = 0;
    o.seed = job->v->figures.seed;
    int code = votes_input_read(&job->votes, ctx);
    if (code == 0) code = cli_failed(job->c, dis_scaled_run(ctx, job->votes.votes, &o, &result));
    if (code == 0) code = put_people(job, dis_scaled_find_table(result, "labels"));
    dis_scaled_destroy(result);
    return code;
}
