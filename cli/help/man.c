/* Man pages (roff, man macros), from the same rows as the help. */
#include "core/cli.h"
#include <ctype.h>
#include <string.h>

/* Text with what roff would take for its own made plain. */
static void roff(FILE *out, const char *text)
{
    bool line_start = true;
    for (const char *s = text; *s; s++) {
        if (line_start && (*s == '.' || *s == '\'')) fputs("\\&", out);
        line_start = false;
        if (*s == '\\')
            fputs("\\e", out);
        else if (*s == '-')
            fputs("\\-", out);
        else if (*s == '\n') {
            const bool entry = strncmp(s, "\n- ", 3) == 0;
            while (s[1] == '\n') s++;
            if (entry) s += 2;
            fputs(entry ? "\n.IP \\(bu 2\n" : "\n.PP\n", out);
            line_start = true;
        } else
            fputc(*s, out);
    }
}

static void line(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    roff(out, text);
    fputs(after, out);
}

static void title(FILE *out, const char *command)
{
    char upper[64] = "";
    for (size_t i = 0; command && command[i] && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)command[i]);
    fputs(".TH DISSENT", out);
    if (command) line(out, "-", upper, "");
    fprintf(out, " 1 \"\" \"dissent %s\" \"dissent\"\n.SH NAME\ndissent%s%s", dis_version(), command ? "\\-" : "",
            command ? command : "");
}

static void named(FILE *out, const char *name, const char *summary)
{
    line(out, ".TP\n.B ", name, "\n");
    line(out, "", summary, "\n");
}

static void option_rows(FILE *out, const dis_option *options, size_t n)
{
    fputs(".RS\n", out);
    for (size_t i = 0; i < n; i++) {
        char head[128];
        cli_option_value_format(head, sizeof head, &options[i]);
        char text[512];
        cli_method_option_text_format(text, sizeof text, &options[i]);
        named(out, head, text);
    }
    fputs(".RE\n", out);
}

static void tool_page(FILE *out)
{
    title(out, NULL);
    fputs(
        " \\- turn annotator disagreement into better labels and better models\n.SH SYNOPSIS\n.B dissent\n.I "
        "COMMAND\n[\\fIOPTIONS\\fR] ...\n"
        ".SH DESCRIPTION\nEstimates soft labels from the votes of several annotators, finds items and annotators that "
        "need attention, trains models on soft labels and evaluates them.\n"
        ".SH COMMANDS\n",
        out);
    for (size_t i = 0; cli_command_at(i); i++) named(out, cli_command_at(i)->name, cli_command_at(i)->summary);
    fputs(
        ".SH EXIT STATUS\n0: success. 1: a bug of dissent. 2: wrong option or argument. 3: bad data. 4: a file could "
        "not "
        "be read or written. 5: a limit or the memory was exceeded. 6: not converged (with "
        "\\-\\-require\\-convergence). 128 + n: stopped by signal n.\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif set, print "
        "no colors\n.TP\n.B DISSENT_ISA\ninstruction set: baseline, avx2 or avx512 (without AMX) [the best "
        "available]\n.SH SEE ALSO\n",
        out);
    for (size_t i = 0; cli_command_at(i); i++)
        fprintf(out, "%s.BR dissent\\-%s (1)", i ? ",\n" : "", cli_command_at(i)->name);
    fputc('\n', out);
}

static void option_group(FILE *out, const cli_command *command, cli_group group)
{
    bool begun = false;
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        char head[80], text[512];
        if (cli_option_group(o) != group) continue;
        if (!begun) line(out, ".SS ", cli_group_title(group), "\n");
        begun = true;
        cli_option_head_format(head, sizeof head, o);
        cli_option_text_format(text, sizeof text, o);
        named(out, head, text);
    }
}

void cli_man_print(FILE *out, const cli_command *command)
{
    if (!command) {
        tool_page(out);
        return;
    }
    title(out, command->name);
    line(out, " \\- ", command->summary, "\n.SH SYNOPSIS\n");
    fprintf(out, ".B dissent %s\n", command->name);
    if (*command->operands) line(out, ".I ", command->operands, "\n");
    fputs("[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n", out);
    line(out, "", command->text, "\n.SH OPTIONS\n");
    for (int group = 0; group < CLI_N_GROUPS; group++) option_group(out, command, (cli_group)group);
    if (command->methods) fputs(".SH METHODS\n\\fB\\-\\-method\\fR NAME[:key=value,...]\n", out);
    for (size_t i = 0; command->methods && dis_method_get(i); i++) {
        named(out, dis_method_get(i)->name, dis_method_get(i)->summary);
        option_rows(out, dis_method_get(i)->options, dis_method_get(i)->n_options);
    }
    if (command->combiners) fputs(".SH COMBINATIONS\n\\fB\\-\\-combine\\fR NAME[:key=value,...]\n", out);
    for (size_t i = 0; command->combiners && dis_combiner_get(i); i++) {
        named(out, dis_combiner_get(i)->name, dis_combiner_get(i)->summary);
        option_rows(out, dis_combiner_get(i)->options, dis_combiner_get(i)->n_options);
    }
    const bool recipes = command->methods && command->combiners;
    if (recipes) fputs(".SH RECIPES\n\\fB\\-\\-method\\fR NAME, the first being the default\n", out);
    for (size_t i = 0; recipes && dis_recipe_get(i); i++)
        named(out, dis_recipe_get(i)->name, dis_recipe_get(i)->summary);
    if (command->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        for (const char *s = command->examples; *s;) {
            char text[256];
            const size_t n = strcspn(s, "\n");
            snprintf(text, sizeof text, "%.*s", (int)n, s);
            line(out, "", text, "\n");
            s += n + (s[n] == '\n');
        }
        fputs(".fi\n", out);
    }
    fputs(".SH EXIT STATUS\nSee\n.BR dissent (1).\n", out);
}
