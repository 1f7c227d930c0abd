/* gold_input.h: how a gold file is read: the option --gold-columns, and --fold-case and --trim of the votes. */
#ifndef DIS_CLI_GOLD_INPUT_H
#define DIS_CLI_GOLD_INPUT_H
#include "core/cli.h"

/* Of commands with --gold. */
#define CLI_GOLD_COLUMNS_OPTION(type, field) CLI_OPTION(type, TEXT, field, "gold-columns", .argument = "TASK,LABEL")

typedef struct {
    dis_gold_options o;
    char *columns; /* where the names are, to be freed */
} gold_input;

/* columns: "TASK,LABEL" or NULL. 0 or an exit code; errors are reported already. */
int gold_input_init(cli *c, const char *columns, bool fold_case, bool trim, gold_input *out);
void gold_input_free(gold_input *gold);

#endif
