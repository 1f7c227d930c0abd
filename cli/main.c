/* The tool: finds the subcommand, parses its options, runs it. Signals ask the library to stop between pieces of work,
 * so that no temporary file stays behind; a second one kills. */
#include "tool/arrays.h"
#include "core/cli.h"
#include "os/process.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which the overview lists them within a section. X: commands of every program, FULL: those that the
 * page in web/ (DIS_LABELS_ONLY) lacks, PAGE: those of the page alone. */
/* clang-format off: one command per line */
#define COMMANDS(X, FULL, PAGE) \
    X(report)                   \
    X(labels)                   \
    X(convert)                  \
    X(agree)                    \
    X(review)                   \
    FULL(watch)                 \
    X(panel)                    \
    FULL(judge)                 \
    FULL(plan)                  \
    FULL(train)                 \
    FULL(predict)               \
    FULL(eval)                  \
    FULL(compare)               \
    FULL(conformal)             \
    FULL(model)                 \
    FULL(experiment)            \
    X(views)                    \
    X(combine)                  \
    FULL(embed)                 \
    FULL(tokenize)              \
    X(synth)                    \
    FULL(list)                  \
    FULL(help)                  \
    FULL(completion)            \
    PAGE(tables)
/* clang-format on */

#define DECLARE(name) extern const cli_command cli_cmd_##name;
#define ROW(name)     &cli_cmd_##name,
#define NONE(name)
#ifdef DIS_LABELS_ONLY
#define LIST(x) COMMANDS(x, NONE, x)
#else
#define LIST(x) COMMANDS(x, x, NONE)
#endif

LIST(DECLARE)

static const cli_command *const commands[] = {LIST(ROW)};
enum { N_COMMANDS = sizeof commands / sizeof *commands, MAX_VALUES = 16384 };

static volatile sig_atomic_t caught; /* a handler has nowhere else to write to */

const cli_command *cli_command_at(size_t i)
{
    return i < N_COMMANDS ? commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

int cli_signal(void)
{
    return caught;
}

static void on_signal(int n)
{
    caught = n;
}

#ifdef DIS_FAULT_HOOKS
/* Test builds: DISSENT_FAULT=alloc:N, io:N or short:N makes the N-th of them fail (src/core/fault_injection.h). */
void dis__fault_arm(int kind, uint64_t n);
bool dis__fault_reached(int kind);
int64_t dis__fault_blocks(void);

static int fault_kind(void)
{
    const char *fault = getenv("DISSENT_FAULT");
    static const char *const kinds[] = {"alloc:", "io:", "short:"};
    for (int kind = 0; fault && kind < 3; kind++)
        if (strncmp(fault, kinds[kind], strlen(kinds[kind])) == 0) return kind;
    return -1;
}

static void faults_begin(void)
{
    if (fault_kind() >= 0) dis__fault_arm(fault_kind(), strtoull(strchr(getenv("DISSENT_FAULT"), ':') + 1, NULL, 10));
}

static void faults_end(void)
{
    if (fault_kind() >= 0 && !dis__fault_reached(fault_kind())) fputs("fault not reached\n", stderr);
    if (fault_kind() >= 0 && dis__fault_blocks() != 0) fputs("memory left\n", stderr);
}
#else
static void faults_begin(void)
{
}

static void faults_end(void)
{
}
#endif

static const char *command_name(const void *arg, size_t i)
{
    (void)arg;
    return i < N_COMMANDS ? commands[i]->name : NULL;
}

static int version(cli *c, int argc, char **argv)
{
    const bool verbose = argc > 2 && strcmp(argv[2], "--verbose") == 0;
    if (argc > 3 || (argc > 2 && !verbose)) return cli_usage(c, "--version takes --verbose and nothing else");
    printf("dissent %s\n", dis_version());
    for (size_t i = 0; verbose && dis_version_part(i); i++) printf("%s\n", dis_version_part(i));
    for (size_t i = 0; verbose && dis_device_get(i); i++)
        printf("device %s: %s\n", dis_device_get(i)->name, dis_device_get(i)->description);
    if (verbose && dis_device_missing_reason()) printf("device cuda: absent (%s)\n", dis_device_missing_reason());
    return cli_flush(c);
}

static int run_command(cli *c, const cli_command *command, int argc, char **argv, void *values)
{
    size_t n_operands;
    const int code = cli_options_parse(c, command, argc, argv, values, &n_operands);
    if (code != 0) return code;
    const cli_common *common = values;
    if (common->help) {
        (common->short_help ? cli_short_help_print : cli_help_print)(stdout, command);
        return cli_flush(c);
    }
    c->quiet = common->quiet;
    c->verbose = common->verbose && !common->quiet;
    const cli_invocation started = {command, values, argv, n_operands};
    c->started = &started;
    const int clash = cli_files_check(c, command, values, argv, n_operands);
    const int result = clash != 0 ? clash : command->run(c, values, argv, n_operands);
    c->started = NULL;
    return result;
}

static int dispatch(cli *c, int argc, char **argv)
{
    const char *first = argc < 2 ? "--help" : argv[1];
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) return version(c, argc, argv);
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_help_print(stdout, NULL);
        return cli_flush(c);
    }
    const cli_command *command = cli_command_find(first);
    if (!command) {
        const char *near = dis__name_find_nearest(first, command_name, NULL);
        return near ? cli_usage(c, "no command \"%s\"; did you mean %s?", first, near)
                    : cli_usage(c, "no command \"%s\"", first);
    }
    c->command = command->name;
    union {
        max_align_t align;
        char bytes[MAX_VALUES];
    } values;
    if (command->values_size > sizeof values) return cli_error(c, DIS_EBUG, "too many options for %s", command->name);
    char **words = malloc((size_t)argc * sizeof *words); /* cli_options_parse() reorders argv */
    if (!words) return cli_error(c, DIS_ELIMIT, "no memory for the command line");
    memcpy(words, argv + 2, (size_t)(argc - 2) * sizeof *words);
    c->argv = words;
    c->argc = argc - 2;
    const int code = run_command(c, command, argc - 2, argv + 2, &values);
    free(words);
    return code;
}

int main(int argc, char **argv)
{
    if (!cli_process_fill_descriptors()) return DIS_EIO;
    if (!cli_process_arguments(&argc, &argv)) return DIS_ELIMIT;
    cli_process_catch_signals(on_signal);
    faults_begin();
    cli c = cli_init();
    const int code = dispatch(&c, argc, argv);
    faults_end();
    return code;
}
