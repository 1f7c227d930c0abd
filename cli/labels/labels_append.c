/* dissent labels --append STATE: adds new votes to a state of earlier ones. */
#include "labels/cmd_labels.h"
#include "tool/rank_calls.h"
#include <stdlib.h>
#include <string.h>

static bool is_dawid_skene(const labels_values *v)
{
    return v->method.n == 1 && strcmp(v->method.value[0], "dawid-skene") == 0 && !v->combine && !v->gold &&
           !v->predictions && votes_input_scale(&v->reading) == DIS_SCALE_NOMINAL;
}

/* Two options that do not go together, the first of such pairs. */
static int check_pairs(labels_command *job, const char *name)
{
    const labels_values *v = job->v;
    const bool alone = v->append && !v->refit;
    const struct {
        bool given;
        const char *name;
    } others[] = {{v->append && v->reading.classes, "classes"},
                  {alone && v->save_growing, "save-growing"},
                  {alone && v->save_state, "save-state"},
                  {alone && v->workers, "workers"},
                  {alone && v->save_views, "save-views"},
                  {alone && v->groups.group, "group"},
                  {alone && v->json, "json"},
                  {alone && v->init_state, "init-state"},
                  {(v->append || v->save_growing) && v->reading.min_votes, "min-votes"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return cli_usage(job->c, "--%s and --%s cannot be combined; leave one of them out", name, others[i].name);
    return 0;
}

int labels_append_check(labels_command *job)
{
    const labels_values *v = job->v;
    const bool alone = v->append && !v->refit;
    if (v->refit && !v->append) return cli_usage(job->c, "--refit needs --append STATE");
    if ((alone || v->save_growing) && !is_dawid_skene(v))
        return cli_usage(
            job->c, "--%s needs --method dawid-skene with its default options; remove other options of the labels%s",
            alone ? "append" : "save-growing", alone ? ", or --refit" : "");
    if (alone && labels_is_on_device(v))
        return cli_usage(job->c, "--append runs on the CPU; remove --device, or add --refit");
    return check_pairs(job, v->append ? "append" : "save-growing");
}

/* The classes of the state as those declared for the new votes. */
static int declare_classes(labels_command *job, const dis_incremental *state, const char ***out)
{
    const dis_names *classes = dis_incremental_get_view(state).classes;
    const size_t n = dis_names_count(classes);
    const char **name = *out = malloc(n * sizeof *name);
    if (!name) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu classes", n);
    for (size_t k = 0; k < n; k++) name[k] = dis_names_get(classes, k, NULL);
    job->in.how.classes = name;
    job->in.how.n_classes = n;
    return 0;
}

static void print_summary(labels_command *job, const dis_incremental_notes *n)
{
    char a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER];
    cli_print(job->c, "  %-18s %s votes on %s items by %s workers", "state", cli_count_format(n->n_votes, a),
              cli_count_format(n->n_items, b), cli_count_format(n->n_workers, c));
    cli_print(job->c, "  %-18s %s item%s that the state has, with %s votes there; %s new", "new votes on",
              cli_count_format(job->in.view.n_items - n->n_new_items, a),
              cli_plural(job->in.view.n_items - n->n_new_items), cli_count_format(n->n_old_votes, b),
              cli_count_format(n->n_new_items, c));
    cli_print(job->c,
              "  %-18s %d, last change %.1g; other items keep their labels; --refit updates all labels from all votes",
              "rounds", n->iterations, n->max_change);
}

static int append(labels_command *job, dis_context *ctx, const dis_incremental *state)
{
    dis_labels *labels;
    dis_incremental_notes notes;
    dis_status status = dis_incremental_append(ctx, state, job->in.votes, &labels, &notes);
    if (status != DIS_OK) return cli_failed(job->c, status);
    const dis_labels_view view = dis_labels_get_view(labels);
    status = dis_labels_write(ctx, &view, job->v->output ? job->v->output : "-", job->v->format);
    if (status == DIS_OK) print_summary(job, &notes);
    dis_labels_destroy(labels);
    return cli_failed(job->c, status);
}

/* The state open, the new votes read. */
static int begin(labels_command *job, dis_context *ctx, dis_incremental **state)
{
    const char **classes = NULL;
    const dis_status status = dis_incremental_read(ctx, job->v->append, state);
    if (status != DIS_OK) return cli_failed(job->c, status);
    int code = declare_classes(job, *state, &classes);
    if (code == 0) code = votes_input_read(&job->in, ctx);
    job->in.how.classes = NULL;
    free(classes);
    return code;
}

static int append_alone(labels_command *job, dis_context *ctx)
{
    dis_incremental *state = NULL;
    int code = begin(job, ctx, &state);
    if (code == 0) labels_input_print(job);
    if (code == 0) code = append(job, ctx, state);
    dis_incremental_destroy(state);
    return code;
}

static int read_alone(labels_command *job, dis_context *ctx)
{
    dis_incremental *state = NULL;
    dis_votes *all;
    char safe[CLI_SAFE];
    int code = begin(job, ctx, &state);
    if (code == 0)
        code = cli_failed(job->c, dis_incremental_merge_votes(ctx, state, job->in.votes, job->in.how.duplicates, &all));
    if (code == 0) {
        dis_votes_destroy(job->in.votes);
        job->in.votes = all;
        cli_print(job->c, "%s with new votes:", cli_safe(job->v->append, safe));
    }
    dis_incremental_destroy(state);
    return code;
}

/* On ranks the first one does it, by itself. */
static int by_first(labels_command *job, int (*work)(labels_command *job, dis_context *ctx))
{
    dis_context *alone;
    if (dis_context_n_ranks(job->ctx) == 1) return work(job, job->ctx);
    if (dis_context_rank(job->ctx) > 0) return 0;
    int code = cli_failed(job->c, cli_context_create_local(job->c, &job->v->common, &alone));
    if (code == 0) {
        code = work(job, alone);
        dis_context_destroy(alone);
    }
    return code;
}

int labels_append_run(labels_command *job)
{
    return by_first(job, append_alone);
}

int labels_refit_read(labels_command *job)
{
    int code = by_first(job, read_alone);
    if (code == 0) code = cli_failed(job->c, dis__votes_scatter(job->ctx, &job->in.votes));
    return code == 0 ? votes_input_set(&job->in, job->ctx) : code;
}
