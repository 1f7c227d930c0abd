/* Help texts, from the rows of subcommands, options, methods and combinations. */
#include "core/cli.h"
#include <string.h>

enum { WIDTH = 100, HEAD = 26 };

void cli_text_wrap(FILE *out, const char *text, int indent, int column)
{
    for (const char *s = text; *s;) {
        if (*s == '\n') { /* a new paragraph */
            fputs("\n\n", out);
            while (*s == '\n') s++;
            fprintf(out, "%*s", indent, "");
            column = indent;
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

/* `head`, then the text in its column, on a line of its own when the head is long. */
static void entry(FILE *out, const char *head, const char *text)
{
    const int n = fprintf(out, "  %s", head);
    if (n > HEAD)
        fprintf(out, "\n%*s", HEAD + 2, "");
    else
        fprintf(out, "%*s", HEAD + 2 - n, "");
    cli_text_wrap(out, text, HEAD + 2, HEAD + 2);
}

static void options_help(FILE *out, const cli_option *options, size_t n)
{
    fputs("\nOptions:\n", out);
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &options[i];
        char head[80], text[512];
        cli_option_head_format(head, sizeof head, o);
        const bool shown = o->fallback && strcmp(o->fallback, "0") != 0;
        snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", o->summary, o->choices ? ": " : "",
                 o->choices ? o->choices : "", o->kind == CLI_LIST ? " (may be repeated)" : "",
                 shown ? " (default " : "", shown ? o->fallback : "", shown ? ")" : "", "");
        entry(out, head, text);
    }
}

static void tool_help(FILE *out)
{
    fputs("usage: dissent COMMAND [OPTIONS] ...\n\nTurns annotator disagreement into training signal: votes in, soft "
          "labels out.\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; cli_command_at(i); i++) entry(out, cli_command_at(i)->name, cli_command_at(i)->summary);
    fputs("\n  dissent COMMAND --help    options of a command\n"
          "  dissent --version         which version this is; with --verbose also what it was built with\n\n"
          "Exit codes: 0 fine, 1 bug, 2 usage, 3 bad data, 4 input or output, 5 limit or memory, 6 not converged\n"
          "(when asked to require it), 128 + n signal n.\n",
          out);
}

void cli_help_print(FILE *out, const cli_command *command)
{
    if (!command) {
        tool_help(out);
        return;
    }
    fprintf(out, "usage: dissent %s%s%s [OPTIONS]\n\n", command->name, *command->operands ? " " : "",
            command->operands);
    cli_text_wrap(out, command->text, 0, 0);
    options_help(out, command->options, command->n_options);
    if (command->methods) {
        fputs("\nMethods (--method NAME[:key=value,...]; options of one: dissent list methods NAME):\n", out);
        for (size_t i = 0; dis_method_get(i); i++) entry(out, dis_method_get(i)->name, dis_method_get(i)->summary);
    }
    if (command->combiners) {
        fputs("\nCombinations (--combine NAME[:key=value,...]; options of one: dissent list combiners NAME):\n", out);
        for (size_t i = 0; dis_combiner_get(i); i++)
            entry(out, dis_combiner_get(i)->name, dis_combiner_get(i)->summary);
    }
    if (command->methods && command->combiners) {
        fputs("\nRecipes (--method NAME; the first is the default; what is in one: dissent list recipes NAME):\n", out);
        for (size_t i = 0; dis_recipe_get(i); i++) entry(out, dis_recipe_get(i)->name, dis_recipe_get(i)->summary);
    }
    if (command->examples) fprintf(out, "\nExamples:\n%s", command->examples);
}

void cli_option_value_format(char *out, size_t size, const dis_option *o)
{
    static const char *const kinds[] = {"N", "X", "", "X/X/...", "N"};
    if (o->choices && o->kind == DIS_OPTION_CHOICE)
        snprintf(out, size, "%s=%s", o->key, o->choices);
    else
        snprintf(out, size, "%s=%s%s%s", o->key, kinds[o->kind], o->choices ? "|" : "", o->choices ? o->choices : "");
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
        const char *fallback = options[i].fallback;
        snprintf(text, sizeof text, "%s%s%s%s", options[i].summary, fallback ? " (default " : "",
                 fallback ? fallback : "", fallback ? ")" : "");
        cli_text_wrap(out, text, HEAD + 2, HEAD + 2);
    }
}
