/* Arguments into a struct, by the rows of a subcommand. --name VALUE and --name=VALUE, -o VALUE and -oVALUE; --name V W
 * where an option takes all words up to the next one; "--" ends the options, "-" is an operand. Nothing is allocated:
 * values point into argv. */
#include "tool/arrays.h"
#include "core/cli.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 128 };

int cli_choice_find(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    int index = 0;
    for (const char *c = choices; c && *c; index++) {
        const size_t length = strcspn(c, "|");
        if (length == n && memcmp(c, word, n) == 0) return index;
        c += length + (c[length] == '|');
    }
    return -1;
}

static const char *option_name(const void *arg, size_t i)
{
    const cli_command *command = arg;
    return i < command->n_options ? command->options[i].name : NULL;
}

static const cli_option *find(const cli_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (strlen(command->options[i].name) == length && memcmp(command->options[i].name, name, length) == 0)
            return &command->options[i];
    return NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].letter == letter) return &command->options[i];
    return NULL;
}

/* Numbers as people write them; what is wrong with one, or NULL. */
static const char not_integer[] = "is not a whole number", not_number[] = "is not a number",
                  too_large[] = "is too large", out_of_range[] = "is out of range", negative[] = "is negative";

/* Whether a text is digits with at most a sign, a point and an exponent: no spaces, no nan, no hexadecimal. */
static bool is_decimal(const char *text)
{
    char *end;
    if (!*text || strspn(text, "0123456789.eE+-") != strlen(text)) return false;
    (void)strtod(text, &end);
    return *end == 0;
}

/* Also as 1e6. */
static const char *parse_count(const char *text, uint64_t *out)
{
    char *end;
    if (!is_decimal(text)) return not_integer;
    const double x = strtod(text, NULL);
    if (x < 0 || (*text == '-' && x > 0)) return negative;
    if (x != x - fmod(x, 1)) return not_integer;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*end == 0 && *text != '-') return errno == 0 ? NULL : too_large;
    if (x > 0x1p53) return too_large;
    *out = (uint64_t)x;
    return NULL;
}

static const char *parse_real(const char *text, double *out)
{
    if (!is_decimal(text)) return not_number;
    *out = strtod(text, NULL);
    return isfinite(*out) ? NULL : too_large;
}

/* 500M, 3G, 2GiB, 1.5g: powers of 1024. */
static const char *parse_bytes(const char *text, uint64_t *out)
{
    static const char no_size[] = "is not a size such as 500M or 3G";
    char *end;
    if (*text == '-') return negative;
    if ((*text < '0' || *text > '9') && *text != '.') return no_size;
    double x = strtod(text, &end);
    static const char units[] = "KMGT";
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++) x *= 1024;
        end++;
        if (*end == 'i') end++;
    }
    if (*end == 'B' || *end == 'b') end++;
    if (*end || memchr(text, 'x', (size_t)(end - text))) return no_size;
    if (x > 0x1p62) return too_large;
    *out = (uint64_t)x;
    return NULL;
}

static const char *in_range(const cli_option *o, double x)
{
    const bool bounded = o->kind == CLI_REAL || o->high > 0;
    return x < o->low || (bounded && x > o->high) ? out_of_range : NULL;
}

/* What was wrong with a value; NULL: nothing. */
static const char *store(const cli_option *o, const char *value, void *values)
{
    void *at = (char *)values + o->offset;
    const char *wrong;
    switch (o->kind) {
    case CLI_FLAG: *(bool *)at = true; return NULL;
    case CLI_TEXT: *(const char **)at = value; return NULL;
    case CLI_CHOICE: return (*(int *)at = cli_choice_find(o->choices, value)) >= 0 ? NULL : "is not one of them";
    case CLI_COUNT:
        if (o->none && strcmp(value, o->none) == 0) {
            *(uint64_t *)at = 0;
            return NULL;
        }
        return (wrong = parse_count(value, at)) ? wrong : in_range(o, (double)*(uint64_t *)at);
    case CLI_REAL:
        if (o->none && strcmp(value, o->none) == 0) {
            *(double *)at = NAN;
            return NULL;
        }
        return (wrong = parse_real(value, at)) ? wrong : in_range(o, *(double *)at);
    case CLI_BYTES: return parse_bytes(value, at);
    case CLI_LIST:
    case CLI_WORDS: {
        cli_list *list = at;
        if (list->n == CLI_MAX_VALUES) return "is one too many";
        list->value[list->n++] = value;
        return NULL;
    }
    }
    return "cannot be";
}

static int set(cli *c, const cli_option *o, const char *value, void *values)
{
    const char *wrong = store(o, value, values);
    if (!wrong) return DIS_OK;
    if (o->kind == CLI_CHOICE) return cli_usage(c, "--%s %s: must be one of %s", o->name, value, o->choices);
    if (o->high > 0 && (o->kind == CLI_COUNT || o->kind == CLI_REAL))
        return cli_usage(c, "--%s %s %s; %g to %.10g%s%s is possible", o->name, value, wrong, o->low, o->high,
                         o->none ? " or " : "", o->none ? o->none : "");
    if (o->kind == CLI_COUNT)
        return cli_usage(c, "--%s %s %s; %g to %llu is possible", o->name, value, wrong, o->low,
                         (unsigned long long)UINT64_MAX);
    if (o->kind == CLI_LIST || o->kind == CLI_WORDS)
        return cli_usage(c, "--%s %s %s; %d are possible", o->name, value, wrong, CLI_MAX_VALUES);
    return cli_usage(c, "--%s %s %s", o->name, value, wrong);
}

static void set_defaults(const cli_command *command, void *values)
{
    memset(values, 0, command->values_size);
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        if (o->kind == CLI_CHOICE) *(int *)((char *)values + o->offset) = -1;
        if (o->fallback) (void)store(o, o->fallback, values);
    }
}

/* "-" is standard input or output, not an option. */
static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != 0;
}

/* What an option was given, as the user wrote it: the option itself, or a flag that is short for a value of it. */
typedef struct {
    const cli_option *written; /* NULL: not given yet */
    const char *value;
} given_value;

typedef struct {
    cli *c;
    const cli_command *command;
    void *values;
    given_value given[MAX_OPTIONS]; /* (n_options) */
} parsing;

/* "--scale nominal", or "--ordinal" of a flag. */
static void show_given(const given_value *g, char out[CLI_SAFE])
{
    const bool flag = g->written->kind == CLI_FLAG;
    snprintf(out, CLI_SAFE, "--%s%s%s", g->written->name, flag ? "" : " ", flag ? "" : g->value);
}

/* Stores the value of an option that the user wrote as `written`. A second value that differs from the first is an
 * error: which one was meant is not for the tool to guess. */
static int give(parsing *p, const cli_option *o, const cli_option *written, const char *value)
{
    const bool repeats = o->kind == CLI_LIST || o->kind == CLI_WORDS;
    given_value *before = &p->given[o - p->command->options];
    const given_value now = {written, value};
    if (before->written && !repeats && strcmp(before->value, value) != 0) {
        char x[CLI_SAFE], y[CLI_SAFE];
        show_given(before, x);
        show_given(&now, y);
        return cli_usage(p->c, "%s and %s contradict each other; leave one of them out", x, y);
    }
    *before = now;
    return set(p->c, o, value, p->values);
}

static int give_flag(parsing *p, const cli_option *o)
{
    if (!o->short_for) return give(p, o, o, "");
    const size_t n = strcspn(o->short_for, "=");
    return give(p, find(p->command, o->short_for, n), o, o->short_for + n + 1);
}

/* Handles the option argv[*i]; moves *i over values that are arguments of their own. */
static int parse_argument(parsing *p, int argc, char **argv, int *i)
{
    cli *c = p->c;
    const cli_command *command = p->command;
    const char *arg = argv[*i];
    const bool is_long = arg[1] == '-';
    const char *name = arg + 1 + is_long;
    const size_t length = is_long ? strcspn(name, "=") : 1;
    const cli_option *o = is_long ? find(command, name, length) : find_letter(command, *name);
    const size_t word_length = strcspn(name, "=");
    if (!is_long && word_length > 1 && find(command, name, word_length))
        return cli_usage(c, "no option -%.*s; did you mean --%.*s?", (int)word_length, name, (int)word_length, name);
    if (!o && is_long) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
        const char *near = dis__name_find_nearest(word, option_name, command);
        return near ? cli_usage(c, "no option --%s; did you mean --%s?", word, near)
                    : cli_usage(c, "no option --%s", word);
    }
    if (!o) return cli_usage(c, "no option -%c", *name);
    const char *joined = name[length] == 0 ? NULL : name + length + is_long;
    if (o->kind == CLI_FLAG && joined)
        return is_long ? cli_usage(c, "--%s takes no value", o->name)
                       : cli_usage(c, "-%c takes no value; write -%c -%s", *name, *name, joined);
    if (o->kind == CLI_FLAG) {
        if (!is_long && strcmp(o->name, "help") == 0) ((cli_common *)p->values)->short_help = true;
        return give_flag(p, o);
    }
    if (!joined && ++*i == argc) return cli_usage(c, "--%s needs a value: %s", o->name, o->argument);
    if (o->kind == CLI_WORDS && !joined && is_option(argv[*i]))
        return cli_usage(c, "--%s needs a value: %s", o->name, o->argument);
    int code = give(p, o, o, joined ? joined : argv[*i]);
    while (o->kind == CLI_WORDS && !joined && code == DIS_OK && *i + 1 < argc && !is_option(argv[*i + 1]))
        code = give(p, o, o, argv[++*i]);
    return code;
}

/* An operand too many. Commands whose operands are not files take files by options. */
static int fail_operand(cli *c, const cli_command *command, const char *operand)
{
    char safe[CLI_SAFE];
    cli_safe(operand, safe);
    for (size_t i = 0; command->names != CLI_NAMES_FILE && i < command->n_options; i++)
        if (command->options[i].names == CLI_NAMES_FILE)
            return cli_usage(c, "unexpected argument %s; %s takes files by options, such as --%s %s", safe,
                             command->name, command->options[i].name, safe);
    return cli_usage(c, "unexpected argument: %s", safe);
}

int cli_options_parse(cli *c, const cli_command *command, int argc, char **argv, void *values, size_t *n_operands)
{
    parsing p = {.c = c, .command = command, .values = values};
    if (command->n_options > MAX_OPTIONS)
        return cli_error(c, DIS_EBUG, "%s has more options than the parser supports", command->name);
    set_defaults(command, values);
    size_t n = 0;
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        if (only_operands || !is_option(argv[i]))
            argv[n++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_operands = true;
        else {
            const int code = parse_argument(&p, argc, argv, &i);
            if (code != DIS_OK) return code;
        }
    }
    *n_operands = n;
    if (((cli_common *)values)->help) return DIS_OK;
    if (n < command->min) return cli_usage(c, "%s needs %s", command->name, command->operands);
    return n > command->max ? fail_operand(c, command, argv[command->max]) : DIS_OK;
}

bool cli_is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

int cli_format_check(cli *c, const char *option, const char *format)
{
    const bool input = strcmp(option, "input-format") == 0;
    const char *formats = input ? "csv|tsv|json|jsonl|npy" : "csv|tsv|jsonl|npy";
    if (!format || cli_choice_find(formats, format) >= 0) return 0;
    if (strcmp(format, "parquet") != 0) return cli_usage(c, "--%s %s: must be one of %s", option, format, formats);
    return cli_usage(c, "--%s parquet: use Python for Parquet (%s); dissent supports %s", option,
                     input ? "dissent.Votes(pandas.read_parquet(FILE))" : "pandas.read_csv(LABELS).to_parquet(FILE)",
                     formats);
}

/* Where COLUMN=VALUE is cut: at the first = that is not within brackets of a path. */
static const char *find_equals(const char *rule)
{
    for (int depth = 0; *rule; rule++) {
        depth += (*rule == '[') - (*rule == ']');
        if (*rule == '=' && depth <= 0) return rule;
    }
    return NULL;
}

int cli_rules_parse(cli *c, const char *option, const cli_list *list, dis_drop_rule rules[CLI_MAX_VALUES], size_t *n,
                    char **room)
{
    size_t bytes = 1;
    for (size_t i = 0; i < list->n; i++) bytes += strlen(list->value[i]) + 1;
    char *to = *room = malloc(bytes);
    if (!to) return cli_error(c, DIS_ELIMIT, "no memory for --%s", option);
    for (size_t i = 0; i < list->n; i++) {
        const char *rule = list->value[i];
        const char *equals = find_equals(rule);
        if (!equals || equals == rule) return cli_usage(c, "--%s %s: must be COLUMN=VALUE", option, rule);
        if (*n == CLI_MAX_VALUES) return cli_usage(c, "--%s %s: one rule too many", option, rule);
        strcpy(to, rule);
        char *value = to + (equals - rule);
        *value++ = 0;
        rules[(*n)++] = (dis_drop_rule){.column = to, .value = value};
        to = value + strlen(value) + 1;
    }
    return 0;
}
