/* Texts of items: from a table of items, or from the files of the votes, in the order of the tasks. */
#include "tool/files.h"
#include "input/texts_input.h"

int texts_input_check(cli *c, const cli_texts_values *v, bool votes)
{
    if (v->text.n && !v->path && !votes) return cli_usage(c, "--text names a column of --texts; give --texts FILE");
    if (cli_is_dash(v->path)) return cli_usage(c, "--texts cannot be standard input; give a file");
    return 0;
}

static bool is_among(const char *path, const votes_input *votes)
{
    for (size_t i = 0; i < votes->n_paths; i++)
        if (dis__file_same(path, votes->paths[i])) return true;
    return false;
}

static dis_status read_table(dis_context *ctx, const cli_texts_values *v, const char *task, const dis_names *tasks,
                             dis_names **out, size_t *found)
{
    dis_items_options o = dis_items_options_default();
    dis_items *items;
    o.kind = DIS_ITEMS_TEXT;
    o.task = task;
    o.columns = v->text.value;
    o.n_columns = v->text.n;
    dis_status status = dis_items_read(ctx, v->path, &o, &items);
    if (status != DIS_OK) return status;
    status = dis_items_get_texts(items, tasks, out, found);
    dis_items_destroy(items);
    return status;
}

/* Texts from the files of the votes, or from an export that --texts names by the same options. */
static dis_status read_export(dis_context *ctx, const cli_texts_values *v, const votes_input *votes,
                              const dis_names *tasks, dis_names **out, size_t *found)
{
    const char *const *paths = v->path ? &v->path : (const char *const *)votes->paths;
    const size_t n = v->path ? 1 : votes->n_paths;
    return dis_votes_read_texts(ctx, paths, n, &votes->how, v->text.value, v->text.n, tasks, out, found);
}

int texts_input_read(cli *c, dis_context *ctx, const cli_texts_values *v, const votes_input *votes,
                     const dis_names *tasks, dis_names **out)
{
    size_t found = 0;
    char safe[CLI_SAFE];
    if (!v->path && !v->text.n) return 0;
    for (size_t i = 0; i < votes->n_paths && !v->path; i++)
        if (cli_unhashed_reason(votes->paths[i]))
            return cli_usage(c, "--text without --texts reads the votes again, but %s; name a file",
                             cli_unhashed_reason(votes->paths[i]));
    const bool exported = !v->path || is_among(v->path, votes) || (votes->n_paths == 0 && votes->how.preset);
    const dis_status status = exported ? read_export(ctx, v, votes, tasks, out, &found)
                                       : read_table(ctx, v, votes->v->task, tasks, out, &found);
    if (status != DIS_OK) return cli_failed(c, status);
    if (found == 0 && dis_names_count(tasks))
        cli_warn(c, "%s: none of its ids is an item of the votes or labels; check that the item ids are the same",
                 cli_safe(v->path ? v->path : votes->paths[0], safe));
    return 0;
}

void texts_input_print(cli *c, const dis_names *texts)
{
    char has[CLI_NUMBER], all[CLI_NUMBER];
    size_t found = 0;
    for (size_t i = 0; texts && i < dis_names_count(texts); i++) found += *dis_names_get(texts, i, NULL) != 0;
    if (texts)
        cli_print(c, "  %-18s of %s of %s items", "texts", cli_count_format(found, has),
                  cli_count_format(dis_names_count(texts), all));
}
