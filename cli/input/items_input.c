/* Reading items for a subcommand: options into dis_items_options. */
#include "input/items_input.h"
#include <stdlib.h>

int items_input_read(cli *c, dis_context *ctx, const cli_items_values *v, const cli_list *where, dis_items_kind kind,
                     const char *path, dis_items **out)
{
    dis_drop_rule rules[CLI_MAX_VALUES];
    char *room = NULL;
    const cli_list *list = where ? where : &v->where;
    size_t n_rules = 0;
    int code = cli_rules_parse(c, "where", list, rules, &n_rules, &room);
    if (code == 0) {
        dis_items_options o = dis_items_options_default();
        o.kind = kind;
        o.format = v->format;
        o.task = v->task;
        o.columns = v->text.value;
        o.n_columns = v->text.n;
        o.sentence = v->sentence;
        o.tasks = v->ids;
        o.width = (size_t)v->width;
        o.keep = rules;
        o.n_keep = n_rules;
        code = cli_failed(c, dis_items_read(ctx, path, &o, out));
    }
    free(room);
    return code;
}
