/* dissent completion bash|zsh|fish: a script for that shell, from the rows of subcommands and options. Names of methods
 * and combinations are asked of the tool itself when the user presses Tab, so a script stays true after an upgrade. */
#include "core/cli.h"
#include <string.h>

typedef struct {
    cli_common common;
} completion_values;

static const cli_option options[] = {CLI_HELP_OPTION(completion_values)};

/* The table of `dissent list` for the argument of an option; NULL: none. */
static const char *table_of(cli_names names)
{
    static const char *const tables[] = {
        [CLI_NAMES_METHOD] = "methods", [CLI_NAMES_COMBINER] = "combiners", [CLI_NAMES_PRESET] = "presets"};
    return tables[names];
}

/* Words of "a|b|c" with another character between. */
static void words(const char *choices, char between)
{
    for (const char *s = choices; s && *s; s++) putchar(*s == '|' ? between : *s);
}

static void bash_values(const cli_command *command)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        if (!o->argument) continue;
        printf("    '%s --%s'", command->name, o->name);
        if (o->letter) printf("|'%s -%c'", command->name, o->letter);
        printf(") ");
        if (o->choices) {
            printf("COMPREPLY=($(compgen -W '");
            words(o->choices, ' ');
            printf("' -- \"$cur\"))");
        } else if (table_of(o->names))
            printf("COMPREPLY=($(compgen -W \"$(dissent list %s 2>/dev/null | cut -d' ' -f1)\" -- \"$cur\"))",
                   table_of(o->names));
        else
            printf("COMPREPLY=($(compgen -%c -- \"$cur\"))",
                   (o->names == CLI_NAMES_FOLDER || o->names == CLI_NAMES_OUTPUT_FOLDER) ? 'd' : 'f');
        puts("; return;;");
    }
}

static void bash(void)
{
    puts("# bash completion for dissent; source it, or put it in "
         "/usr/share/bash-completion/completions/dissent\n_dissent() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}");
    printf("    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; cli_command_at(i); i++) printf("%s ", cli_command_at(i)->name);
    puts("--help --version' -- \"$cur\"))\n        return\n    fi\n    case \"$command $prev\" in");
    for (size_t i = 0; cli_command_at(i); i++) bash_values(cli_command_at(i));
    puts("    esac\n    case \"$command\" in");
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        printf("    %s) if [[ $cur = -* ]]; then COMPREPLY=($(compgen -W '", command->name);
        for (size_t j = 0; j < command->n_options; j++) printf("--%s ", command->options[j].name);
        printf("' -- \"$cur\")); else COMPREPLY=($(compgen ");
        if (command->words) {
            printf("-W '");
            words(command->words, ' ');
            printf("'");
        } else
            printf("-f");
        puts(" -- \"$cur\")); fi;;");
    }
    puts("    esac\n}\ncomplete -o filenames -F _dissent dissent");
}

/* Text inside '...' of zsh and fish, where : [ ] and ' mean something. */
static void quoted(const char *text)
{
    for (const char *s = text; *s; s++) {
        if (*s == '\'')
            printf("'\\''");
        else {
            if (*s == ':' || *s == '[' || *s == ']' || *s == '\\') putchar('\\');
            putchar(*s);
        }
    }
}

static void zsh_option(const cli_option *o)
{
    const bool words_follow = o->kind == CLI_WORDS;
    printf("            '%s--%s%s[", o->kind == CLI_LIST || words_follow ? "*" : "", o->name,
           o->argument && !words_follow ? "=" : "");
    quoted(cli_option_summary(o));
    putchar(']');
    if (o->argument) {
        printf("%s:%s:", words_follow ? ":*-*" : "", o->argument);
        if (o->choices) {
            putchar('(');
            words(o->choices, ' ');
            putchar(')');
        } else if (table_of(o->names))
            printf("($(dissent list %s 2>/dev/null | cut -d\" \" -f1))", table_of(o->names));
        else if (o->names == CLI_NAMES_FOLDER || o->names == CLI_NAMES_OUTPUT_FOLDER)
            printf("_files -/");
        else if (o->names == CLI_NAMES_FILE || o->names == CLI_NAMES_OUTPUT)
            printf("_files");
    }
    puts("' \\");
}

static void zsh(void)
{
    puts("#compdef dissent\n# zsh completion for dissent; put it as _dissent in a folder of $fpath\n_dissent() {\n"
         "    if (( CURRENT == 2 )); then\n        local -a commands=(");
    for (size_t i = 0; cli_command_at(i); i++) {
        printf("            '%s:", cli_command_at(i)->name);
        quoted(cli_command_at(i)->summary);
        puts("'");
    }
    puts("        )\n        _describe command commands\n        return\n    fi\n    local command=$words[2]\n"
         "    shift words\n    (( CURRENT-- ))\n    case $command in");
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        printf("    %s)\n        _arguments \\\n", command->name);
        for (size_t j = 0; j < command->n_options; j++) zsh_option(&command->options[j]);
        if (command->words) {
            printf("            '1:what:(");
            words(command->words, ' ');
            puts(")';;");
        } else
            puts("            '*:file:_files';;");
    }
    puts("    esac\n}\n_dissent \"$@\"");
}

static void fish(void)
{
    puts("# fish completion for dissent; put it in ~/.config/fish/completions/dissent.fish");
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        printf("complete -c dissent -n __fish_use_subcommand -f -a %s -d '", command->name);
        quoted(command->summary);
        puts("'");
        for (size_t j = 0; j < command->n_options; j++) {
            const cli_option *o = &command->options[j];
            printf("complete -c dissent -n '__fish_seen_subcommand_from %s' -l %s", command->name, o->name);
            if (o->letter) printf(" -s %c", o->letter);
            if (o->choices) {
                printf(" -x -a '");
                words(o->choices, ' ');
                putchar('\'');
            } else if (table_of(o->names))
                printf(" -x -a '(dissent list %s 2>/dev/null | string split -f1 \" \")'", table_of(o->names));
            else if (o->argument)
                printf(o->names == CLI_NAMES_NOTHING ? " -x" : " -r -F");
            printf(" -d '");
            quoted(cli_option_summary(o));
            puts("'");
        }
        if (command->words) {
            printf("complete -c dissent -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
            words(command->words, ' ');
            puts("'");
        }
    }
}

static const struct {
    const char *name;
    void (*write)(void);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)values;
    (void)n_operands;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, operands[0]) == 0) {
            shells[i].write();
            return cli_flush(c);
        }
    return cli_usage(c, "no completion for \"%s\"; choose bash, zsh or fish", operands[0]);
}

extern const cli_command cli_cmd_completion;
const cli_command cli_cmd_completion = {
    .name = "completion",
    .section = CLI_ADVANCED,
    .summary = "write a completion script for bash, zsh or fish",
    .operands = "bash|zsh|fish",
    .text = "Writes a script with which the shell completes commands, options, methods and files.",
    .examples = "  . <(dissent completion bash)\n"
                "  dissent completion zsh > ~/.zfunc/_dissent\n"
                "  dissent completion fish > ~/.config/fish/completions/dissent.fish\n",
    .basic = "help",
    .words = "bash|zsh|fish",
    .min = 1,
    .max = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(completion_values),
    .run = run,
};
