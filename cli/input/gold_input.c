/* Options of gold files: see gold_input.h. */
#include "input/gold_input.h"
#include <stdlib.h>
#include <string.h>

int gold_input_init(cli *c, const char *columns, bool fold_case, bool trim, gold_input *out)
{
    *out = (gold_input){.o = dis_gold_options_default()};
    out->o.fold_case = fold_case;
    out->o.trim = trim;
    if (!columns) return 0;
    const char *comma = strchr(columns, ',');
    if (!comma || comma == columns || !comma[1])
        return cli_usage(c, "--gold-columns %s: expected two columns, TASK,LABEL", columns);
    out->columns = strdup(columns);
    if (!out->columns) return cli_error(c, DIS_ELIMIT, "no memory for --gold-columns");
    out->columns[comma - columns] = 0;
    out->o.task = out->columns;
    out->o.label = out->columns + (comma - columns) + 1;
    return 0;
}

void gold_input_free(gold_input *gold)
{
    free(gold->columns);
    gold->columns = NULL;
}
