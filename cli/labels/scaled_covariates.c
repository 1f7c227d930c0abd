/* --covariate NAME=COLUMNS and --group of comparisons: see scaled_command.h.
 *
 *     NAME=A,B          the number in column A minus that in column B: the length of the first and the second answer
 *     NAME=A,B@COLUMN   1 if the text in A is that of the annotator in COLUMN of --worker-table, minus the same of B
 *     NAME=A            the number in column A, in favour of the first thing
 *
 * Columns are read from the files of the votes. A covariate belongs to an item, that is, to a task and two things. */
#include "labels/scaled_command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char name[CLI_SAFE];
    char first[CLI_SAFE], second[CLI_SAFE], group[CLI_SAFE]; /* "": none */
} covariate_spec;

static int parse_spec(const scaled_command *job, const char *text, covariate_spec *spec)
{
    const char *equals = strchr(text, '='), *comma = equals ? strchr(equals, ',') : NULL,
               *at = comma ? strchr(comma, '@') : NULL;
    *spec = (covariate_spec){{0}, {0}, {0}, {0}};
    if (!equals || equals == text || !equals[1] || (comma && (comma == equals + 1 || !comma[1])) || (at && !at[1]))
        return cli_usage(job->c, "--covariate takes NAME=A,B or NAME=A,B@GROUP or NAME=A with columns, not \"%s\"",
                         text);
    const char *end = text + strlen(text), *second_end = at ? at : end;
    snprintf(spec->name, sizeof spec->name, "%.*s", (int)(equals - text), text);
    snprintf(spec->first, sizeof spec->first, "%.*s", (int)((comma ? comma : end) - equals - 1), equals + 1);
    if (comma) snprintf(spec->second, sizeof spec->second, "%.*s", (int)(second_end - comma - 1), comma + 1);
    if (at) snprintf(spec->group, sizeof spec->group, "%s", at + 1);
    return 0;
}

int scaled_covariates_check(const scaled_command *job, scaled_covariates *x)
{
    covariate_spec spec;
    int code = 0;
    bool table = false;
    const size_t n = job->covariates ? job->covariates->n : 0;
    if (n && votes_input_scale(job->in.v) != DIS_SCALE_PAIRWISE)
        return cli_usage(job->c, "--covariate has an effect with --scale pairwise only; leave it out");
    if (n && !job->in.v->task && !job->in.v->preset)
        return cli_usage(job->c, "--covariate needs --task COLUMN: a covariate belongs to a task and two candidates");
    for (size_t i = 0; i < n && code == 0; i++) {
        code = parse_spec(job, job->covariates->value[i], &spec);
        table = table || *spec.group;
    }
    if (code != 0 || !job->groups) return code;
    if (table && !job->groups->table)
        return cli_usage(job->c, "--covariate with @COLUMN needs the table of annotators; add --worker-table FILE");
    if (job->groups->group && votes_input_scale(job->in.v) != DIS_SCALE_PAIRWISE)
        return cli_usage(job->c, "--group has no effect with --scale %s; leave it out",
                         dis_scale_get(votes_input_scale(job->in.v))->name);
    x->groups = (groups_input){.c = job->c, .v = job->groups};
    return groups_input_check_table(&x->groups, table);
}

static int read_column(const scaled_command *job, dis_context *ctx, const char *column, dis_names **out)
{
    size_t found = 0;
    const int code =
        cli_failed(job->c, dis_votes_read_texts(ctx, (const char *const *)job->in.paths, job->in.n_paths, &job->in.how,
                                                &column, 1, job->in.view.tasks, out, &found));
    if (code == 0 && found == 0)
        return cli_usage(job->c, "--covariate: no row has a value in the column \"%s\"", column);
    return code;
}

/* Adds sign * the numbers of a column. */
static int add_numbers(const scaled_command *job, dis_context *ctx, const char *column, double sign, double *to)
{
    dis_names *text = NULL;
    int code = read_column(job, ctx, column, &text);
    for (size_t i = 0; code == 0 && i < job->in.view.n_items; i++) {
        const char *value = dis_names_get(text, i, NULL);
        char *end, safe[CLI_SAFE];
        const double number = strtod(value, &end);
        if (*value && (*end || !isfinite(number)))
            code = cli_error(job->c, DIS_EDATA, "%s: column \"%s\": \"%s\" is not a number; name a column of numbers",
                             job->in.paths[0], column, cli_safe(value, safe));
        to[i] += *value ? sign * number : (double)NAN;
    }
    dis_names_destroy(text);
    return code;
}

static int read_numbers(const scaled_command *job, dis_context *ctx, const covariate_spec *spec,
                        dis_scaled_covariate *row)
{
    double *value = calloc(job->in.view.n_items ? job->in.view.n_items : 1, sizeof *value);
    if (!value) return cli_error(job->c, DIS_ELIMIT, "no memory for the covariate %s", spec->name);
    row->value = value;
    int code = add_numbers(job, ctx, spec->first, 1, value);
    if (code == 0 && *spec->second) code = add_numbers(job, ctx, spec->second, -1, value);
    return code;
}

static int read_family(const scaled_command *job, dis_context *ctx, const covariate_spec *spec,
                       dis_scaled_covariate *row)
{
    dis_names *name[3] = {NULL, NULL, NULL};
    dis_worker_table_options how = dis_worker_table_options_default();
    dis_worker_table *table = NULL;
    how.id_column = job->groups->table_id;
    how.id_prefix = job->groups->table_prefix;
    int code = read_column(job, ctx, spec->first, &name[0]);
    if (code == 0) code = read_column(job, ctx, spec->second, &name[1]);
    if (code == 0) code = cli_failed(job->c, dis_worker_table_read(ctx, job->groups->table, &how, &table));
    if (code == 0) code = cli_failed(job->c, dis_worker_table_values(table, spec->group, job->in.votes, &name[2]));
    dis_worker_table_destroy(table);
    row->first = name[0];
    row->second = name[1];
    row->worker = name[2];
    return code;
}

int scaled_covariates_read(const scaled_command *job, dis_context *ctx, scaled_covariates *x)
{
    const size_t n = job->covariates ? job->covariates->n : 0;
    int code = x->groups.c ? groups_input_read(&x->groups, ctx, job->in.votes) : 0;
    if (code == 0 && x->groups.groups) groups_input_print(&x->groups);
    if (n == 0 || code != 0) return code;
    x->row = calloc(n, sizeof *x->row);
    x->name = calloc(n, sizeof *x->name);
    if (!x->row || !x->name) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu covariates", n);
    for (; x->n < n && code == 0; x->n++) {
        covariate_spec spec;
        code = parse_spec(job, job->covariates->value[x->n], &spec);
        if (code != 0) return code;
        memcpy(x->name[x->n], spec.name, sizeof spec.name);
        x->row[x->n].name = x->name[x->n];
        code = *spec.group ? read_family(job, ctx, &spec, &x->row[x->n]) : read_numbers(job, ctx, &spec, &x->row[x->n]);
    }
    return code;
}

void scaled_covariates_free(scaled_covariates *x)
{
    for (size_t i = 0; i < x->n; i++) {
        free((void *)(uintptr_t)x->row[i].value);
        dis_names_destroy((dis_names *)(uintptr_t)x->row[i].first);
        dis_names_destroy((dis_names *)(uintptr_t)x->row[i].second);
        dis_names_destroy((dis_names *)(uintptr_t)x->row[i].worker);
    }
    free(x->row);
    free(x->name);
    if (x->groups.c) groups_input_free(&x->groups);
}
