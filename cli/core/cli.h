/* cli.h: the framework of the command line tool.
 *
 * One static row per subcommand (main.c lists them), one static row per option. Parsing, --help, the man pages and the
 * shell completions all read these rows, so they cannot disagree. Options are parsed into a struct of the subcommand by
 * offset:
 *
 *     typedef struct { cli_common common; const char *output; } x_values;
 *     static const cli_option options[] = {{.name = "output", .letter = 'o', .kind = CLI_TEXT,
 *                                           .offset = offsetof(x_values, output), .argument = "FILE", .summary =
 * "..."}, CLI_COMMON_OPTIONS(x_values)};
 *
 * Standard output carries data, standard error messages; exit codes are those of dis_status, 128 + n after signal n. */
#ifndef DIS_CLI_H
#define DIS_CLI_H
#include "dissent/dissent.h"
#include <stdio.h>
#include <time.h>

enum { CLI_MAX_VALUES = 64, CLI_SAFE = 96, CLI_NUMBER = 32 };

/* The exit code of a check whose result is that a requirement is not met. */
enum { CLI_NOT_MET = 7 };

typedef enum {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char *, NULL: not given */
    CLI_CHOICE, /* int: index into `choices`, -1: not given and no fallback */
    CLI_COUNT,  /* uint64_t */
    CLI_REAL,   /* double */
    CLI_BYTES,  /* uint64_t, given as 500M, 3G, 2GiB */
    CLI_LIST,   /* cli_list: may be given several times */
    CLI_WORDS,  /* cli_list: takes all words up to the next option; may be given several times */
} cli_kind;

typedef struct {
    size_t n;
    const char *value[CLI_MAX_VALUES];
} cli_list;

/* Part of the help in which an option is listed. */
typedef enum {
    CLI_GROUP_SHARED, /* group and text of cli/help/option_text.c */
    CLI_GROUP_INPUT,
    CLI_GROUP_FORMAT,
    CLI_GROUP_ROWS,
    CLI_GROUP_METHOD,
    CLI_GROUP_TRAINING,
    CLI_GROUP_DEVELOPMENT,
    CLI_GROUP_METRICS,
    CLI_GROUP_GROUPS,
    CLI_GROUP_STATISTICS,
    CLI_GROUP_OUTPUT,
    CLI_GROUP_PERFORMANCE,
    CLI_GROUP_GENERAL,
    CLI_N_GROUPS
} cli_group;

/* What the argument of an option names: for completion, and so that no output goes where an input or another output is
 * (file_conflicts.c). */
typedef enum {
    CLI_NAMES_NOTHING,
    CLI_NAMES_FILE,          /* that is read */
    CLI_NAMES_FOLDER,        /* that is read */
    CLI_NAMES_OUTPUT,        /* a file that is written */
    CLI_NAMES_OUTPUT_FOLDER, /* a folder in which files are written */
    CLI_NAMES_METHOD,
    CLI_NAMES_COMBINER,
    CLI_NAMES_PRESET
} cli_names;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    cli_kind kind;
    size_t offset;
    const char *argument; /* FILE, N, ...; NULL for flags */
    const char *fallback; /* the default as a user would write it */
    const char *choices;  /* "a|b|c" */
    const char *none;     /* of a count: a word for 0; of a real: for NaN, "not given" */
    double low, high;     /* inclusive bounds for CLI_COUNT and CLI_REAL */
    cli_names names;
    cli_group group;     /* of `summary`; CLI_GROUP_SHARED: text and group are those of option_text.c */
    const char *summary; /* verb phrase; default in brackets, if it is not `fallback` */
    const char
        *formats; /* of an output: "csv|tsv|jsonl", the accepted ones; a name with another extension is an error */
    const char *standard;  /* of an output: what goes to standard output without it ("the labels") */
    const char *holds;     /* of a folder, or a file that may be one: "model.json|weights-*", files that matter */
    const char *short_for; /* of a flag: "scale=ordinal", the option and value that it stands for */
} cli_option;

#define CLI_LABEL_FORMATS "csv|tsv|jsonl|npy"
#define CLI_TABLE_FORMATS "csv|tsv|jsonl"
/* The files of a model's folder. */
#define CLI_MODEL_FILES                                                                                  \
    "model.json|weights-*.safetensors|best.safetensors|checkpoint.safetensors|seed-*/model.json|seed-*/" \
    "weights-*.safetensors"                                                                              \
    "|seed-*/best.safetensors|seed-*/checkpoint.safetensors|fold-*/best.safetensors|fold-*/checkpoint.safetensors"

/* A file that is written in addition to the main output. */
#define CLI_OUTPUT_OPTION(type, field, name_, formats_, ...)                                  \
    {                                                                                         \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(type, field), .argument = "FILE", \
        .names = CLI_NAMES_OUTPUT, .formats = formats_, __VA_ARGS__                           \
    }
/* An option, and the text of one that is not shared: CLI_OPTION(x_values, TEXT, title, "title", .argument = "TEXT",
 * CLI_HELP(OUTPUT, "title of the page")). */
#define CLI_OPTION(type, kind_, field, name_, ...)                                       \
    {                                                                                    \
        .name = name_, .kind = CLI_##kind_, .offset = offsetof(type, field), __VA_ARGS__ \
    }
#define CLI_HELP(group_, text_) .group = CLI_GROUP_##group_, .summary = text_
#define CLI_SHARED_HELP         .group = CLI_GROUP_SHARED

/* Every subcommand's struct begins with this. */
typedef struct {
    bool help, short_help, quiet, verbose;
    uint64_t threads, memory;
    int precision;           /* dis_precision, of subcommands with CLI_PRECISION_OPTION */
    const char *device;      /* of subcommands with CLI_DEVICE_OPTION; NULL: the CPU */
    bool skips_device_check; /* what was computed on the device is looked at; it need not be here */
} cli_common;

/* What is read of the folder of a pretrained encoder. */
#define CLI_ENCODER_FILES                                                                              \
    "config.json|model.safetensors|model.safetensors.index.json|tokenizer.json|tokenizer_config.json|" \
    "special_tokens_map.json|vocab.txt|vocab.json|merges.txt"
/* clang-format off */
#define CLI_ENCODER_OPTION(type, files)                                                                             \
    CLI_OPTION(type, TEXT, encoder, "encoder", .argument = "FOLDER", .names = CLI_NAMES_FOLDER, .holds = (files))
#define CLI_MAX_LENGTH_OPTION(type)                                                                                 \
    CLI_OPTION(type, COUNT, max_length, "max-length", .argument = "N", .fallback = "0", .high = 1e9)
#define CLI_DEVICE_OPTION(type)                                                                                     \
    CLI_OPTION(type, TEXT, common.device, "device", .argument = "DEVICE", .fallback = "cpu")
#define CLI_PRECISION_OPTION(type)                                                                                  \
    CLI_OPTION(type, CHOICE, common.precision, "precision", .argument = "TYPE", .fallback = "auto",                 \
               .choices = "auto|float32|bf16")
#define CLI_HELP_OPTION(type) CLI_OPTION(type, FLAG, common.help, "help", .letter = 'h')
#define CLI_COMMON_OPTIONS(type)                                                                                    \
    CLI_OPTION(type, COUNT, common.threads, "threads", .argument = "N", .fallback = "0", .high = 1024),             \
    CLI_OPTION(type, BYTES, common.memory, "memory", .argument = "SIZE", .fallback = "0"),                          \
    CLI_OPTION(type, FLAG, common.quiet, "quiet", .letter = 'q'),                                                   \
    CLI_OPTION(type, FLAG, common.verbose, "verbose", .letter = 'v'), CLI_HELP_OPTION(type)
/* clang-format on */

struct cli_command;
/* What the tool was started with. */
typedef struct {
    const struct cli_command *command;
    const void *values;
    char *const *operands;
    size_t n_operands;
} cli_invocation;

typedef struct {
    const cli_invocation *started; /* NULL: nothing yet */
    bool replicates_data;          /* ranks hold all data each (dis_context_options) */
    bool silent;                   /* another rank tells what is wrong */
    bool quiet, verbose;           /* print less, print more */
    bool colour, terminal;         /* of standard error */
    bool bar;                      /* a progress bar is on the screen */
    struct timespec start, drawn;
    const char *command; /* the subcommand at work, "" before there is one */
    char *const *argv;   /* (argc) what the user wrote after it */
    int argc;
} cli;

/* Where the overview lists a command. */
typedef enum { CLI_START, CLI_CHECK, CLI_LEARN, CLI_STUDY, CLI_ADVANCED } cli_section;

typedef struct cli_command {
    const char *name;
    cli_section section;
    const char *summary;     /* verb phrase */
    const char *operands;    /* as the usage line shows them */
    const char *text;        /* paragraphs between the usage line and the options; "\n\n" parts them */
    const char *examples;    /* one per line; the first three are part of the short help */
    const char *basic;       /* "a|b,c|d": options of the short help, b and c with one text */
    bool ranks;              /* mpirun shares it out; others refuse to be started N times */
    bool late_device;        /* a device that is likely to be there is asked for when it is used */
    bool methods, combiners; /* help and man page go on with these tables */
    cli_names names;         /* what operands are: inputs */
    const char *holds;       /* as that of an option */
    const char *words;       /* "a|b" that may stand first, for completion */
    size_t min, max;         /* number of operands */
    const cli_option *options;
    size_t n_options, values_size;
    int (*run)(cli *c, const void *values, char **operands, size_t n_operands);
} cli_command;

/* main.c */
const cli_command *cli_command_at(size_t i);
const cli_command *cli_command_find(const char *name);
int cli_signal(void); /* the signal that asked to stop, 0: none */

/* parse_options.c: fills `values` and moves the operands to the front of argv. DIS_OK or DIS_EUSAGE, reported
 * already. */
int cli_options_parse(cli *c, const cli_command *command, int argc, char **argv, void *values, size_t *n_operands);
/* Index of a word in "a|b|c", -1. */
int cli_choice_find(const char *choices, const char *word);

/* COLUMN=VALUE of an option, each cut at its first "=", into rules[*n] and on; *n is then how many there are, *room
 * where their texts are (to be freed). 0 or an exit code; errors are reported already. */
int cli_rules_parse(cli *c, const char *option, const cli_list *list, dis_drop_rule rules[CLI_MAX_VALUES], size_t *n,
                    char **room);
/* Whether a path says standard input or output; NULL does not. */
bool cli_is_dash(const char *path);
/* FILE of NAME=FILE, where the option takes that; else the value. */
const char *cli_option_path(const cli_option *o, const char *value);
/* ranks_check.c: compares options and inputs of all ranks. 0 or, reported already and the same on every rank,
 * DIS_EUSAGE (options) or DIS_EDATA (files). */
int cli_ranks_check(cli *c, dis_context *ctx);
/* file_conflicts.c: refuses, before any work, an output that is an input or another output (links followed), names of
 * outputs that promise another format than they get, and standard input or output for two things. 0 or DIS_EUSAGE,
 * reported already. */
int cli_files_check(cli *c, const cli_command *command, const void *values, char *const *operands, size_t n_operands);
/* The same for one more output, `path`, that the option `name` brings about. */
int cli_output_check(cli *c, const cli_command *command, const void *values, char *const *operands, size_t n_operands,
                     const char *name, const char *path);
/* Refuses what is not a format of a label file. 0 or DIS_EUSAGE, reported already. */
int cli_format_check(cli *c, const char *option, const char *format);

/* talk.c */
cli cli_init(void);
/* Escapes untrusted text for a terminal: control characters escaped, cut to some 90 characters. Returns `out`. */
const char *cli_safe(const char *text, char out[CLI_SAFE]);
/* The same, cut to fit into `size` bytes. */
void cli_text_escape(const char *text, char *out, size_t size);
/* Fields that messages of the library name, as in `lenient`, as options. What stands in quotes is the user's own. */
void cli_message_format(const char *message, char *out, size_t size);
/* "dissent: message", then where help is. Returns exit code 2. */
int cli_usage(cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says what the library's last call failed with; returns the exit code. */
int cli_failed(cli *c, dis_status status);
/* The same for bad data of a file that the message may not name: it is put before. */
int cli_failed_on(cli *c, dis_status status, const char *path);
/* suggestions.c: the suggestions at the end of a message of the library, "\n  `task` \"x\"" each, as commands. */
void cli_suggestions_print(const cli *c, const char *lines);
/* A line "Next: dissent NAME ...  # why" with a complete command: the user's inputs and the options that NAME has too,
 * then `words` (NULL: none). If the first of the words is not an option, they replace the user's inputs. */
void cli_next_print(cli *c, const char *name, const char *const *words, const char *why);
/* The same for a failure of the tool's own. */
int cli_error(cli *c, dis_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A folder for output, unless it exists. The exit code. */
int cli_create_folder(cli *c, const char *path);
/* A line of text, unless --quiet. */
void cli_print(cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_warn(cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The library's warnings about a fit. */
void cli_fit_warn(cli *c, const char *spec, const dis_fit *fit);
/* 1,234,567 */
const char *cli_count_format(uint64_t x, char out[CLI_NUMBER]);
/* The "s" of several. */
const char *cli_plural(uint64_t n);
const char *cli_bold(const cli *c), *cli_dim(const cli *c), *cli_plain(const cli *c); /* "" without colour */
void cli_bar_clear(cli *c);
double cli_seconds_since(const struct timespec *since);
/* A progress bar on a terminal; `user` is the cli. */
void cli_progress_draw(void *user, const char *what, double done);
/* command_context.c. A failure that only one rank prints, or that is printed already, sets c->silent. */
dis_status cli_context_create(cli *c, const cli_common *common, dis_context **out);
/* One of a single process, also if it was started by mpirun. */
dis_status cli_context_create_local(cli *c, const cli_common *common, dis_context **out);
/* How many processes mpirun or srun says that it has started, 0: this was not started by them. mpirun gives processes a
 * terminal, whatever it is connected to. */
long cli_ranks_count(void);
/* At the end of a command that ranks share: a failure is reported once and stops the other ranks. */
int cli_ranks_end(cli *c, dis_context *ctx, int code);
/* At the end of a command that splits votes across ranks, on all ranks: what each has and sends. */
void cli_ranks_print(cli *c, dis_context *ctx, uint64_t own_votes);
/* Exit code 2 on several ranks, for what stays in one process. */
int cli_ranks_reject(cli *c, const dis_context *ctx, const char *option);
/* Flushes standard output; exit code 4 when that fails. */
int cli_flush(cli *c);

/* help.c, man.c: for `command` NULL the whole tool. */
void cli_help_print(FILE *out, const cli_command *command);
void cli_short_help_print(FILE *out, const cli_command *command);
void cli_man_print(FILE *out, const cli_command *command);
/* Help of one option as "-o, --output FILE". */
void cli_option_head_format(char *out, size_t size, const cli_option *o);
/* Paragraphs, wrapped; a line that begins with "- " is an entry of a list. `column`: where the first line begins. */
void cli_text_wrap(FILE *out, const char *text, int margin, int column);
void cli_method_options_print(FILE *out, const dis_option *options, size_t n_options, int indent);
/* The text of an option of a method with its default. */
void cli_method_option_text_format(char *out, size_t size, const dis_option *o);
void cli_option_value_format(char *out, size_t size, const dis_option *o);

/* option_text.c */
const char *cli_option_summary(const cli_option *o);
cli_group cli_option_group(const cli_option *o);
/* The summary with the choices and the default. */
void cli_option_text_format(char *out, size_t size, const cli_option *o);
/* The text of the shared option `name`, "": no such row. */
const char *cli_shared_text(const char *name);
const char *cli_group_title(cli_group group);

#endif
