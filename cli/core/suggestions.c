/* Commands that can be pasted into a shell: suggestions of the library, and the next step. A message of the library may
 * end with lines of fields, such as
 *       `task` "item no" `label` "answer"
 * (src/votes/roles/suggestion.h). Each is shown as the user's own command with these options added, or replaced. A
 * command that lacks one of the options shows the fields alone. */
#include "core/cli.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 12, NAME = 40, VALUE = 1100 };

typedef struct {
    char name[NAME];
    char value[VALUE];
    bool flag;
} field;

static const char *read_value(const char *p, char out[VALUE])
{
    size_t n = 0;
    for (; *p && *p != '"' && *p != '\n'; p++) {
        if (*p == '\\' && p[1]) p++;
        if (n + 1 < VALUE) out[n++] = *p;
    }
    out[n] = 0;
    return p + (*p == '"');
}

/* The fields of a line; returns where it ends. */
static const char *read_line(const char *p, field *fields, size_t *n)
{
    *n = 0;
    while (*p && *p != '\n' && *n < MAX_FIELDS) {
        if (*p++ != '`') continue;
        field *f = &fields[(*n)++];
        const size_t length = strcspn(p, "`\n");
        char quoted[NAME + 3], option[2 * NAME];
        snprintf(quoted, sizeof quoted, "`%.*s`", (int)(length < NAME ? length : NAME - 1), p);
        cli_message_format(quoted, option, sizeof option);
        snprintf(f->name, sizeof f->name, "%.*s", NAME - 1, option + 2);
        p += length + (p[length] == '`');
        f->flag = strncmp(p, " \"", 2) != 0;
        f->value[0] = 0;
        if (!f->flag) p = read_value(p + 2, f->value);
    }
    return p + strcspn(p, "\n");
}

/* A line that is being written; `failed`: it is not printed. */
typedef struct {
    char *text;
    size_t n, capacity;
    bool failed;
} line;

static void put_text(line *out, const char *text)
{
    const size_t n = strlen(text);
    if (out->n + n + 1 > out->capacity) {
        const size_t capacity = 2 * (out->n + n + 1);
        char *more = realloc(out->text, capacity);
        if (!more) {
            out->failed = true;
            return;
        }
        out->text = more;
        out->capacity = capacity;
    }
    memcpy(out->text + out->n, text, n + 1);
    out->n += n;
}

static void put_byte(line *out, char byte)
{
    put_text(out, (const char[]){byte, 0});
}

/* Prints the line for people and releases it. */
static void print_line(line *out)
{
    char *safe = out->text && !out->failed ? malloc(4 * out->n + 16) : NULL;
    if (safe) cli_text_escape(out->text, safe, 4 * out->n + 16);
    if (safe) fprintf(stderr, "%s\n", safe);
    free(safe);
    free(out->text);
}

/* A word as a shell reads it. */
static void put_word(line *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=@%";
    put_byte(out, ' ');
    bool safe = *word != 0;
    for (const char *p = word; *p && safe; p++) safe = (unsigned char)*p >= 0x80 || strchr(plain, *p);
    if (safe) {
        put_text(out, word);
        return;
    }
    put_byte(out, '\'');
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            put_text(out, "'\\''");
        else
            put_byte(out, *p);
    }
    put_byte(out, '\'');
}

/* The option that a word of the command line is, NULL: none. */
static const cli_option *option_of(const cli_command *command, const char *word)
{
    if (word[0] != '-' || word[1] == 0) return NULL;
    const size_t n = word[1] == '-' ? strcspn(word + 2, "=") : 0;
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        if (n ? strlen(o->name) == n && strncmp(o->name, word + 2, n) == 0 : o->letter && o->letter == word[1])
            return o;
    }
    return NULL;
}

static bool has_option(const cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (strcmp(command->options[i].name, name) == 0) return true;
    return false;
}

/* Whether the suggestion replaces an option of the user; lists are added to. */
static bool is_replaced(const cli_option *o, const field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(o->name, fields[i].name) == 0 && o->kind != CLI_LIST && o->kind != CLI_WORDS) return true;
    return false;
}

static void put_command(const cli *c, const cli_command *command, const field *fields, size_t n, line *out)
{
    put_text(out, "  dissent ");
    put_text(out, command->name);
    int end = c->argc;
    for (int i = 0; i < c->argc; i++) {
        if (strcmp(c->argv[i], "--") == 0) {
            end = i;
            break;
        }
        const cli_option *o = option_of(command, c->argv[i]);
        const bool joined = o && (strchr(c->argv[i], '=') || (c->argv[i][1] != '-' && c->argv[i][2]));
        const bool replaced = o && is_replaced(o, fields, n);
        if (!replaced) put_word(out, c->argv[i]);
        if (!o || o->kind == CLI_FLAG || joined || i + 1 == c->argc) continue;
        i++;
        if (!replaced) put_word(out, c->argv[i]);
    }
    for (size_t i = 0; i < n; i++) {
        put_text(out, " --");
        put_text(out, fields[i].name);
        if (!fields[i].flag) put_word(out, fields[i].value);
    }
    for (int i = end; i < c->argc; i++) put_word(out, c->argv[i]);
}

static void put_fields(const field *fields, size_t n, line *out)
{
    put_text(out, " ");
    for (size_t i = 0; i < n; i++) {
        put_text(out, " ");
        put_text(out, fields[i].name);
        put_text(out, ": ");
        put_text(out, fields[i].flag ? "true" : fields[i].value);
    }
}

static void show(const cli *c, const cli_command *command, const field *fields, size_t n)
{
    line out = {0};
    bool all = command != NULL;
    for (size_t i = 0; i < n && all; i++) all = has_option(command, fields[i].name);
    if (all)
        put_command(c, command, fields, n, &out);
    else
        put_fields(fields, n, &out);
    print_line(&out);
}

void cli_suggestions_print(const cli *c, const char *lines)
{
    const cli_command *command = *c->command ? cli_command_find(c->command) : NULL;
    field *fields = malloc(MAX_FIELDS * sizeof *fields);
    for (const char *p = lines; fields && *p == '\n';) {
        size_t n;
        p = read_line(p + 1, fields, &n);
        show(c, command, fields, n);
    }
    free(fields);
}

static const cli_option *find_option(const cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (strcmp(command->options[i].name, name) == 0) return &command->options[i];
    return NULL;
}

/* Whether an option of the user decides what is read or computed, and `target` has the same option. */
static bool is_passed_on(const cli_option *o, const cli_command *target)
{
    const cli_option *t = find_option(target, o->name);
    const cli_group group = cli_option_group(o);
    return t && t->kind == o->kind && t->names == o->names && strcmp(o->name, "budget") != 0 &&
           ((group >= CLI_GROUP_INPUT && group <= CLI_GROUP_METHOD) || group == CLI_GROUP_GROUPS);
}

/* The user's operands, and the options that `target` has too. False: an input is standard input. */
static bool put_inputs(const cli *c, const cli_command *command, const cli_command *target, line *out)
{
    bool only_operands = false;
    for (int i = 0; i < c->argc; i++) {
        const char *word = c->argv[i];
        if (strcmp(word, "-") == 0) return false;
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        const cli_option *o = only_operands ? NULL : option_of(command, word);
        const bool passed = !o || is_passed_on(o, target);
        if (passed) put_word(out, word);
        const bool joined = o && (strchr(word, '=') || (word[1] != '-' && word[2]));
        if (!o || o->kind == CLI_FLAG || joined) continue;
        do {
            i++;
            if (i < c->argc && passed) put_word(out, c->argv[i]);
        } while (o->kind == CLI_WORDS && i + 1 < c->argc && c->argv[i + 1][0] != '-');
    }
    return true;
}

void cli_next_print(cli *c, const char *name, const char *const *words, const char *why)
{
    const cli_command *command = cli_command_find(c->command), *target = cli_command_find(name);
    line out = {0};
    if (c->quiet || !command || !target) return;
    put_text(&out, "Next: dissent ");
    put_text(&out, name);
    const bool complete =
        !words || words[0] == NULL || words[0][0] == '-' ? put_inputs(c, command, target, &out) : true;
    for (; words && *words; words++) put_word(&out, *words);
    put_text(&out, "  # ");
    put_text(&out, why);
    cli_bar_clear(c);
    out.failed = out.failed || !complete;
    print_line(&out);
}
