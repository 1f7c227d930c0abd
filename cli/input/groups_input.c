/* Groups of workers for a subcommand: options, the worker table, the text and JSON summary. */
#include "tool/json_writer.h"
#include "tool/rank_calls.h"
#include "input/groups_input.h"
#include <stdlib.h>
#include <string.h>

static int parse_cuts(groups_input *in)
{
    for (const char *s = in->v->cuts; s && *s;) {
        char *end;
        const double x = strtod(s, &end);
        if (end == s || (*end && *end != ',') || in->n_cuts == GROUPS_MAX_CUTS)
            return cli_usage(in->c, "--cuts: expected at most %d numbers separated by commas (30,45), not \"%s\"",
                             GROUPS_MAX_CUTS - 1, in->v->cuts);
        in->cut[in->n_cuts++] = x;
        s = end + (*end == ',');
    }
    return 0;
}

int groups_input_check(groups_input *in)
{
    return groups_input_check_table(in, false);
}

int groups_input_check_table(groups_input *in, bool used)
{
    const cli_groups_values *v = in->v;
    if (v->group && !v->table)
        return cli_usage(in->c, "--group names a column of the worker table; add --worker-table FILE");
    const struct {
        bool given;
        const char *name;
    } about[] = {{v->table && !used, "worker-table"},
                 {v->table_id && !used, "table-id"},
                 {v->table_prefix && !used, "table-prefix"},
                 {v->cuts != NULL, "cuts"}};
    for (size_t i = 0; !v->group && i < sizeof about / sizeof *about; i++)
        if (about[i].given)
            return cli_usage(in->c, "--%s needs groups of annotators; add --group COLUMN", about[i].name);
    return parse_cuts(in);
}

/* Votes of each group on all ranks, where each has some. */
static dis_status sum_votes(groups_input *in, dis_context *ctx)
{
    uint64_t part[DIS_MAX_GROUPS + 1];
    const size_t n = in->view.n_groups;
    for (int r = 0; r < dis_context_n_ranks(ctx); r++) {
        memcpy(part, in->view.votes, n * sizeof *part);
        const dis_status status = dis__context_broadcast(ctx, r, part, n * sizeof *part);
        if (status != DIS_OK) return status;
        for (size_t g = 0; g < n; g++) in->votes[g] += part[g];
    }
    in->view.votes = in->votes;
    return DIS_OK;
}

int groups_input_read(groups_input *in, dis_context *ctx, const dis_votes *votes)
{
    const cli_groups_values *v = in->v;
    if (!v->group) return 0;
    dis_worker_table_options how = dis_worker_table_options_default();
    how.id_column = v->table_id;
    how.id_prefix = v->table_prefix;
    dis_worker_groups_options o = dis_worker_groups_options_default();
    o.min_group = (size_t)v->min_group;
    o.hide_small = v->small == 1;
    o.cuts = in->cut;
    o.n_cuts = in->n_cuts;
    dis_worker_table *table = NULL;
    dis_names *value = NULL;
    dis_status status = dis_worker_table_read(ctx, v->table, &how, &table);
    if (status == DIS_OK) status = dis_worker_table_values(table, v->group, votes, &value);
    if (status == DIS_OK) status = dis_worker_groups_create(votes, value, &o, &in->groups);
    if (status == DIS_OK) in->view = dis_worker_groups_get_view(in->groups);
    if (status == DIS_OK && !in->c->replicates_data && dis_context_n_ranks(ctx) > 1) status = sum_votes(in, ctx);
    dis_names_destroy(value);
    dis_worker_table_destroy(table);
    return cli_failed(in->c, status);
}

int worker_table_input_read(cli *c, dis_context *ctx, const cli_table_values *v, dis_worker_table **out)
{
    dis_worker_table_options how = dis_worker_table_options_default();
    if (!v->file && (v->id || v->prefix))
        return cli_usage(c, "--table-%s needs --worker-table FILE", v->id ? "id" : "prefix");
    if (!v->file) return 0;
    how.id_column = v->id;
    how.id_prefix = v->prefix;
    return cli_failed(c, dis_worker_table_read(ctx, v->file, &how, out));
}

void groups_input_free(groups_input *in)
{
    dis_worker_groups_destroy(in->groups);
}

void groups_input_print(const groups_input *in)
{
    const dis_worker_groups_view *g = &in->view;
    char number[CLI_NUMBER], other[CLI_NUMBER], safe[CLI_SAFE];
    if (!in->groups) return;
    uint64_t people = 0;
    for (size_t i = 0; i < g->n_groups; i++) people += g->workers[i];
    cli_print(in->c, "  %-18s %zu by %s, with %s annotator%s", "groups", g->n_groups, cli_safe(in->v->group, safe),
              cli_count_format(people, number), cli_plural(people));
    if (g->n_merged)
        cli_print(in->c, "  %-18s %s groups of fewer than %llu annotators merged into \"other\" (--min-group)",
                  "small groups", cli_count_format(g->n_merged, number), (unsigned long long)g->min_group);
    if (g->n_hidden)
        cli_print(in->c, "  %-18s %s group%s of fewer than %llu annotators hidden, %s annotator%s (--min-group)",
                  "small groups", cli_count_format(g->n_hidden, number), cli_plural(g->n_hidden),
                  (unsigned long long)g->min_group, cli_count_format(g->n_hidden_workers, other),
                  cli_plural(g->n_hidden_workers));
    if (g->n_unknown)
        cli_print(in->c, "  %-18s %s annotator%s without a value in --worker-table", "in no group",
                  cli_count_format(g->n_unknown, number), cli_plural(g->n_unknown));
}

dis_status groups_input_write_json_file(const groups_input *in, dis__json_writer *j)
{
    return in->groups ? cli_input_write(j, in->v->table, "worker table") : DIS_OK;
}

void groups_input_write_json(const groups_input *in, dis__json_writer *j)
{
    cli_json_write_text(j, "column", in->v->group);
    cli_json_write_count(j, "min_group", in->view.min_group);
    cli_json_write_count(j, "merged", in->view.n_merged);
    cli_json_write_count(j, "hidden", in->view.n_hidden);
    cli_json_write_count(j, "hidden_workers", in->view.n_hidden_workers);
    cli_json_write_count(j, "workers_unknown", in->view.n_unknown);
}
