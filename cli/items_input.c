/* Reading items for a subcommand: options into dis_items_options. */
#include "items_input.h"
#include <stdlib.h>
#include <string.h>

/* COLUMN=VALUE: cut at the first "=". `room` gets the texts. */
static int take_rules(cli *c, const cli_list *list, dis_drop_rule rules[CLI_MOST_VALUES], char **room)
{
    size_t bytes = 1;
    for (size_t i = 0; i < list->n; i++) bytes += strlen(list->value[i]) + 1;
    char *to = *room = malloc(bytes);
    if (!to) return cli_error(c, DIS_ELIMIT, "no memory for --where");
    for (size_t i = 0; i < list->n; i++) {
        const char *rule = list->value[i];
        if (!strchr(rule, '=') || *rule == '=') return cli_usage(c, "--where %s: must be COLUMN=VALUE", rule);
        strcpy(to, rule);
        char *value = strchr(to, '=');
        *value++ = 0;
        rules[i] = (dis_drop_rule){.column = to, .value = value};
        to = value + strlen(value) + 1;
    }
    return 0;
}

int items_input_read(cli *c, dis_context *ctx, const cli_items_values *v, const cli_list *where, dis_items_kind kind,
                     const char *path, dis_items **out)
{
    dis_drop_rule rules[CLI_MOST_VALUES];
    char *room = NULL;
    const cli_list *list = where ? where : &v->where;
    int code = take_rules(c, list, rules, &room);
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
        o.where = rules;
        o.n_where = list->n;
        code = cli_failed(c, dis_items_read(ctx, path, &o, out));
    }
    free(room);
    return code;
}
