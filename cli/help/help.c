/* Help texts, from the rows of subcommands, options, methods and combinations. */
#include "core/cli.h"
#include <string.h>

enum { WIDTH = 100, HEAD = 26, NAME = 14 };

void cli_text_wrap(FILE *out, const char *text, int margin, int column)
{
    int indent = margin;
    for (const char *s = text; *s;) {
        if (*s == '\n') { /* a new paragraph, or an entry of a list */
            const bool entry = strncmp(s, "\n- ", 3) == 0;
            indent = column = margin + (entry ? 4 : 0);
            fprintf(out, entry ? "\n%*s  - " : "\n\n%*s", margin, "");
            while (*s == '\n') s++;
            if (entry) s += 2;
            continue;
        }
        const int word = (int)strcspn(s, " \n");
        if (column > indent && column + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", word, s);
        s += word;
        while (*s == ' ') s++;
    }
    fputc('\n', out);
}

void cli_option_head_format(char *out, size_t size, const cli_option *o)
{
    char letter[8] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(out, size, "%s--%s%s%s", letter, o->name, o->argument ? " " : "", o->argument ? o->argument : "");
}

/* `head`, then the text in its column, on a separate line if the head is too long. */
static void entry_at(FILE *out, const char *head, const char *text, int column)
{
    const int n = fprintf(out, "  %s", head);
    if (n > column)
        fprintf(out, "\n%*s", column + 2, "");
    else
        fprintf(out, "%*s", column + 2 - n, "");
    cli_text_wrap(out, text, column + 2, column + 2);
}

static void entry(FILE *out, const char *head, const char *text)
{
    entry_at(out, head, text, HEAD);
}

static void option_help(FILE *out, const cli_option *o)
{
    char head[80], text[512];
    cli_option_head_format(head, sizeof head, o);
    cli_option_text_format(text, sizeof text, o);
    entry(out, head, text);
}

static void options_help(FILE *out, const cli_command *command)
{
    for (int group = 0; group < CLI_N_GROUPS; group++) {
        bool begun = false;
        for (size_t i = 0; i < command->n_options; i++) {
            const cli_option *o = &command->options[i];
            if (cli_option_group(o) != (cli_group)group) continue;
            if (!begun) fprintf(out, "\n%s:\n", cli_group_title((cli_group)group));
            begun = true;
            option_help(out, o);
        }
    }
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t n)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (strlen(command->options[i].name) == n && memcmp(command->options[i].name, name, n) == 0)
            return &command->options[i];
    return NULL;
}

/* An entry of `basic`: one option, or several with one text, such as "task,worker,label". */
static void basic_help(FILE *out, const cli_command *command, const char *entry_text, size_t n)
{
    char head[80] = "", name[64];
    const cli_option *o = NULL;
    snprintf(name, sizeof name, "%.*s", (int)n, entry_text);
    size_t used = 0;
    for (const char *p = name; *p;) {
        const size_t length = strcspn(p, ",");
        o = find_option(command, p, length);
        if (o && length == n) {
            option_help(out, o);
            return;
        }
        used += (size_t)snprintf(head + used, sizeof head - used, "%s--%.*s", used ? ", " : "", (int)length, p);
        p += length + (p[length] == ',');
    }
    if (o && o->argument && used < sizeof head) snprintf(head + used, sizeof head - used, " %s", o->argument);
    entry(out, head, cli_shared_text(name));
}

static cli_group basic_group(const cli_command *command, const char *name)
{
    const cli_option *o = find_option(command, name, strcspn(name, ",|"));
    return o ? cli_option_group(o) : CLI_GROUP_SHARED;
}

static void basic_options_help(FILE *out, const cli_command *command)
{
    for (int group = 0; group < CLI_N_GROUPS; group++) {
        bool begun = false;
        for (const char *p = command->basic; p && *p;) {
            const size_t n = strcspn(p, "|");
            if (basic_group(command, p) == (cli_group)group) {
                if (!begun) fprintf(out, "%s:\n", cli_group_title((cli_group)group));
                begun = true;
                basic_help(out, command, p, n);
            }
            p += n + (p[n] == '|');
        }
    }
}

/* A sentence: capital letter, full stop. */
static void summary_print(FILE *out, const cli_command *command)
{
    const char *text = command->summary;
    fprintf(out, "%c%s.\n\n", *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, text + 1);
}

static void usage_print(FILE *out, const cli_command *command)
{
    fprintf(out, "Usage: dissent %s%s%s [options]\n", command->name, *command->operands ? " " : "", command->operands);
}

static void tool_help(FILE *out)
{
    static const char *const sections[] = {"Start", "Check", "Learn", "Study", "Advanced"};
    fputs("Turn annotator disagreement into better labels and better models.\n\nUsage: dissent COMMAND [options]\n",
          out);
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        fprintf(out, "\n%s:\n", sections[s]);
        for (size_t i = 0; cli_command_at(i); i++)
            if (cli_command_at(i)->section == (cli_section)s)
                entry_at(out, cli_command_at(i)->name, cli_command_at(i)->summary, NAME);
    }
    fputs("\nCommon options of a command:  dissent COMMAND -h\n"
          "All options of a command:     dissent COMMAND --help\n"
          "Version and components:       dissent --version --verbose\n",
          out);
}

static void tables_help(FILE *out, const cli_command *command)
{
    if (command->methods) {
        fputs("\nMethods (--method NAME[:key=value,...]; options of a method: dissent list methods NAME):\n", out);
        for (size_t i = 0; dis_method_get(i); i++) entry(out, dis_method_get(i)->name, dis_method_get(i)->summary);
    }
    if (command->combiners) {
        fputs("\nCombinations (--combine NAME[:key=value,...]; options: dissent list combiners NAME):\n", out);
        for (size_t i = 0; dis_combiner_get(i); i++)
            entry(out, dis_combiner_get(i)->name, dis_combiner_get(i)->summary);
    }
    if (command->methods && command->combiners) {
        fputs("\nRecipes (--method NAME; the first is the default; contents: dissent list recipes NAME):\n", out);
        for (size_t i = 0; dis_recipe_get(i); i++) entry(out, dis_recipe_get(i)->name, dis_recipe_get(i)->summary);
    }
}

void cli_help_print(FILE *out, const cli_command *command)
{
    if (!command) {
        tool_help(out);
        return;
    }
    summary_print(out, command);
    usage_print(out, command);
    fprintf(out, "\nExamples:\n%s", command->examples);
    fputs("\nDescription:\n", out);
    cli_text_wrap(out, command->text, 0, 0);
    options_help(out, command);
    tables_help(out, command);
}

/* The first `max` lines. */
static void lines_print(FILE *out, const char *text, int max)
{
    for (; *text && max > 0; max--) {
        const size_t n = strcspn(text, "\n");
        fprintf(out, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void cli_short_help_print(FILE *out, const cli_command *command)
{
    enum { EXAMPLES = 3 };
    summary_print(out, command);
    usage_print(out, command);
    fputs("\nExamples:\n", out);
    lines_print(out, command->examples, EXAMPLES);
    fputc('\n', out);
    basic_options_help(out, command);
    fprintf(out, "\nAll options and details: dissent %s --help\n", command->name);
}

void cli_option_value_format(char *out, size_t size, const dis_option *o)
{
    static const char *const kinds[] = {"N", "X", "", "X/X/...", "N"};
    if (o->choices && o->kind == DIS_OPTION_CHOICE)
        snprintf(out, size, "%s=%s", o->key, o->choices);
    else
        snprintf(out, size, "%s=%s%s%s", o->key, kinds[o->kind], o->choices ? "|" : "", o->choices ? o->choices : "");
}

void cli_method_option_text_format(char *out, size_t size, const dis_option *o)
{
    const size_t n = strlen(o->summary);
    const char *fallback = n > 0 && o->summary[n - 1] == ']' ? NULL : o->default_value;
    snprintf(out, size, "%s%s%s%s", o->summary, fallback ? " [" : "", fallback ? fallback : "", fallback ? "]" : "");
}

void cli_method_options_print(FILE *out, const dis_option *options, size_t n_options, int indent)
{
    for (size_t i = 0; i < n_options; i++) {
        char head[128];
        cli_option_value_format(head, sizeof head, &options[i]);
        const int n = fprintf(out, "%*s%s", indent, "", head);
        if (n > HEAD)
            fprintf(out, "\n%*s", HEAD + 2, "");
        else
            fprintf(out, "%*s", HEAD + 2 - n, "");
        char text[512];
        cli_method_option_text_format(text, sizeof text, &options[i]);
        cli_text_wrap(out, text, HEAD + 2, HEAD + 2);
    }
}
