/* Reading what the items say: a table of items, brought into the order of the tasks. */
#include "texts_input.h"

int texts_input_check(cli *c, const cli_texts_values *v)
{
    if (v->text.n && !v->path) return cli_usage(c, "--text names a column of --texts; give --texts FILE");
    if (cli_is_dash(v->path)) return cli_usage(c, "--texts cannot be standard input; give a file");
    return 0;
}

int texts_input_read(cli *c, dis_context *ctx, const cli_texts_values *v, const char *task, const dis_names *tasks,
                     dis_names **out)
{
    if (!v->path) return 0;
    dis_items_options o = dis_items_options_default();
    dis_items *items;
    size_t found = 0;
    char safe[CLI_SAFE];
    o.kind = DIS_ITEMS_TEXT;
    o.task = task;
    o.columns = v->text.value;
    o.n_columns = v->text.n;
    dis_status status = dis_items_read(ctx, v->path, &o, &items);
    if (status != DIS_OK) return cli_failed(c, status);
    status = dis_items_texts(items, tasks, out, &found);
    dis_items_destroy(items);
    if (status != DIS_OK) return cli_failed(c, status);
    if (found == 0 && dis_names_count(tasks))
        cli_warn(c, "%s: none of its ids is an item of the votes or labels", cli_safe(v->path, safe));
    return 0;
}

void texts_input_tell(cli *c, const dis_names *texts)
{
    char has[CLI_NUMBER], all[CLI_NUMBER];
    size_t found = 0;
    for (size_t i = 0; texts && i < dis_names_count(texts); i++) found += *dis_names_get(texts, i, NULL) != 0;
    if (texts)
        cli_say(c, "  %-18s %s of %s items have one", "texts", cli_grouped(found, has),
                cli_grouped(dis_names_count(texts), all));
}
