/* dissent help [COMMAND] [--man]: help on the terminal, or a man page for the build to install. */
#include "tool/arrays.h"
#include "core/cli.h"

typedef struct {
    cli_common common;
    bool man;
} help_values;

/* clang-format off */
static const cli_option options[] = {
    CLI_OPTION(help_values, FLAG, man, "man", CLI_HELP(OUTPUT, "print as a man page (roff)")),
    CLI_HELP_OPTION(help_values),
};
/* clang-format on */

static const char *command_name(const void *arg, size_t i)
{
    (void)arg;
    return cli_command_at(i) ? cli_command_at(i)->name : NULL;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const help_values *v = values;
    const cli_command *command = n_operands ? cli_command_find(operands[0]) : NULL;
    if (n_operands && !command) {
        const char *near = dis__name_find_nearest(operands[0], command_name, NULL);
        return near ? cli_usage(c, "no command \"%s\"; did you mean %s?", operands[0], near)
                    : cli_usage(c, "no command \"%s\"", operands[0]);
    }
    (v->man ? cli_man_print : cli_help_print)(stdout, command);
    return cli_flush(c);
}

extern const cli_command cli_cmd_help;
const cli_command cli_cmd_help = {
    .name = "help",
    .section = CLI_ADVANCED,
    .summary = "print the help of a command",
    .operands = "[COMMAND]",
    .text = "Prints the description and all options of a command. Without COMMAND, prints the list of commands.",
    .examples = "  dissent help\n"
                "  dissent help labels\n"
                "  dissent help --man labels\n",
    .basic = "man|help",
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(help_values),
    .run = run,
};
