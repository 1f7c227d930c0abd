/* Lists the files that a command line names, by the rows of its options, and detects conflicts between them.
 *
 * Every option says whether it names what is read or what is written; operands are read. Before anything is done, each
 * output is compared with all inputs and all other outputs: the same file, whatever the name, through symbolic and hard
 * links, and standard input and output for what they are connected to. In folders only the files count that are known
 * to matter there (cli_option.holds). With NAME.npy, the lists that are written and read with it count as well
 * (dis__file_companion). Devices are exempt. Then each new file must have a folder that it can be made in, since that
 * would otherwise be found out after all the work. Cost: a look at the disk for each pair with an output in it. */
#include "tool/files.h"
#include "core/cli.h"
#include "os/process.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const cli_option *option; /* NULL: an operand */
    const char *path;
    const char *holds;            /* of a folder, or NULL */
    bool writes, folder, implied; /* implied: standard output, since the option is missing */
    char *companion;              /* owned: the path, of a list that goes with NAME.npy; else NULL */
    const char *array;            /* NAME.npy, of a companion */
} named_file;

typedef struct {
    named_file *file;
    size_t n;
} file_list;

static void add(file_list *list, named_file file)
{
    if (file.path && *file.path) list->file[list->n++] = file;
}

static bool is_folder(cli_names names)
{
    return names == CLI_NAMES_FOLDER || names == CLI_NAMES_OUTPUT_FOLDER;
}

static bool is_output(cli_names names)
{
    return names == CLI_NAMES_OUTPUT || names == CLI_NAMES_OUTPUT_FOLDER;
}

static bool is_file(cli_names names)
{
    return names == CLI_NAMES_FILE || is_folder(names) || is_output(names);
}

const char *cli_option_path(const cli_option *o, const char *value)
{
    const char *equals = value && o->argument && strncmp(o->argument, "NAME=", 5) == 0 ? strchr(value, '=') : NULL;
    return equals ? equals + 1 : value;
}

static void add_option(file_list *list, const cli_option *o, const void *values)
{
    const void *at = (const char *)values + o->offset;
    named_file file = {.option = o, .holds = o->holds, .writes = is_output(o->names), .folder = is_folder(o->names)};
    if (o->kind == CLI_TEXT) {
        file.path = cli_option_path(o, *(const char *const *)at);
        file.implied = !file.path && o->standard;
        if (file.implied) file.path = "-";
        add(list, file);
    } else if (o->kind == CLI_LIST || o->kind == CLI_WORDS) {
        const cli_list *given = at;
        for (size_t i = 0; i < given->n; i++) {
            file.path = cli_option_path(o, given->value[i]);
            add(list, file);
        }
    }
}

/* Whether an option for formats says npy: --format for the main output, any other for what is read. */
static bool format_is_npy(const cli_command *command, const void *values, bool of_output)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        const size_t n = strlen(o->name);
        if (o->kind != CLI_TEXT || n < 6 || strcmp(o->name + n - 6, "format") != 0 || (n == 6) != of_output) continue;
        const char *value = *(const char *const *)(const void *)((const char *)values + o->offset);
        if (value && strcmp(value, "npy") == 0) return true;
    }
    return false;
}

/* Whether a path has the form of `pattern`, where "*" is any text without "/". */
static bool matches(const char *pattern, const char *path)
{
    for (; *pattern && *pattern != '*'; pattern++, path++)
        if (*pattern != *path) return false;
    if (!*pattern) return !*path;
    for (;; path++) {
        if (matches(pattern + 1, path)) return true;
        if (!*path || *path == '/') return false;
    }
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t n = strlen(text), n_ending = strlen(ending);
    return n >= n_ending && strcmp(text + n - n_ending, ending) == 0;
}

static bool is_npy(const named_file *f, bool main_output, bool input)
{
    if (f->folder || cli_is_dash(f->path)) return false;
    const bool by_name = ends_with(f->path, ".npy") || ends_with(f->path, ".npy.gz") || ends_with(f->path, ".npy.zst");
    const bool is_main = f->writes && f->option && strcmp(f->option->name, "output") == 0;
    return by_name || (is_main && main_output) || (!f->writes && input);
}

/* The lists that go with every NAME.npy. False: no memory. */
static bool add_companions(const cli_command *command, const void *values, file_list *list)
{
    const bool main_output = format_is_npy(command, values, true), input = format_is_npy(command, values, false);
    const size_t n = list->n;
    for (size_t i = 0; i < n; i++) {
        char path[4096];
        if (!is_npy(&list->file[i], main_output, input)) continue;
        for (size_t k = 0; dis__file_companion(list->file[i].path, k, path, sizeof path); k++) {
            named_file file = list->file[i];
            file.array = file.path;
            file.path = file.companion = strdup(path);
            if (!file.path) return false;
            add(list, file);
        }
    }
    return true;
}

/* All that the command line names. False: no memory. */
static bool collect(const cli_command *command, const void *values, char *const *operands, size_t n_operands,
                    file_list *list)
{
    *list = (file_list){.file = calloc(3 * (n_operands + command->n_options * CLI_MAX_VALUES + 1), sizeof *list->file)};
    if (!list->file) return false;
    const size_t first = n_operands && cli_choice_find(command->words, operands[0]) >= 0; /* an action is not a file */
    for (size_t i = first; is_file(command->names) && i < n_operands; i++)
        add(list, (named_file){.path = operands[i], .holds = command->holds, .folder = is_folder(command->names)});
    for (size_t i = 0; i < command->n_options; i++)
        if (is_file(command->options[i].names)) add_option(list, &command->options[i], values);
    return add_companions(command, values, list);
}

static void release(file_list *list)
{
    for (size_t i = 0; i < list->n; i++) free(list->file[i].companion);
    free(list->file);
}

/* "--gold gold.csv", or an operand as it is. */
static const char *show(const named_file *f, char out[CLI_SAFE + 64])
{
    char safe[CLI_SAFE];
    cli_safe(f->path, safe);
    if (f->companion && f->option)
        snprintf(out, CLI_SAFE + 64, "%s (%s with --%s)", safe, f->writes ? "written" : "read", f->option->name);
    else if (f->implied)
        snprintf(out, CLI_SAFE + 64, "standard output");
    else if (f->option)
        snprintf(out, CLI_SAFE + 64, "--%s %s", f->option->name, safe);
    else
        snprintf(out, CLI_SAFE + 64, "%s", safe);
    return out;
}

/* Whether `path` from within a folder is one of the files that matter there. */
static bool matters(const char *holds, const char *path)
{
    char pattern[64];
    for (const char *p = holds; *p;) {
        const size_t n = strcspn(p, "|");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, p);
        if (matches(pattern, path)) return true;
        p += n + (p[n] == '|');
    }
    return false;
}

static const char *real_path(const named_file *f)
{
    return !cli_is_dash(f->path) ? f->path : f->writes ? "/dev/stdout" : "/dev/stdin";
}

static bool within(const named_file *f, const named_file *folder)
{
    char path[4096];
    return folder->holds && dis__file_within(f->path, folder->path, path, sizeof path) && matters(folder->holds, path);
}

static bool clash(const named_file *a, const named_file *b)
{
    if (a->folder && b->folder) return a->writes && b->writes && dis__file_same(a->path, b->path);
    if (a->folder) return within(b, a);
    if (b->folder) return within(a, b);
    return dis__file_same(real_path(a), real_path(b));
}

static int refuse(cli *c, const named_file *output, const named_file *other)
{
    char x[CLI_SAFE + 64], y[CLI_SAFE + 64];
    show(output, x);
    show(other, y);
    if (other->folder)
        return cli_usage(c, "%s is a file in the folder %s, which is %s; name another file", x, y,
                         other->writes ? "also written" : "read");
    if (output->folder) return cli_usage(c, "%s is a file that %s would replace; name another folder", y, x);
    if (other->writes) return cli_usage(c, "%s and %s are the same file; name a different file for each", x, y);
    return cli_usage(c, "%s is the same file as the input %s, which would be lost; name another file", x, y);
}

/* Standard output for several things, standard input for several. */
static int check_dashes(cli *c, const file_list *list)
{
    size_t n[2] = {0};
    const char *standard = NULL;
    for (size_t i = 0; i < list->n; i++) {
        const named_file *f = &list->file[i];
        if (!cli_is_dash(f->path)) continue;
        n[f->writes]++;
        if (f->writes && f->option->standard) standard = f->option->standard;
    }
    if (n[0] > 1) return cli_usage(c, "only one input can be standard input");
    if (n[1] > 1 && standard)
        return cli_usage(c, "only one output can go to standard output; give %s a file with -o", standard);
    return n[1] > 1 ? cli_usage(c, "only one output can go to standard output; give the other a file") : 0;
}

static int check_pairs(cli *c, const file_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; j < list->n && list->file[i].writes; j++) {
            const named_file *output = &list->file[i], *other = &list->file[j];
            const bool seen = other->writes && j <= i; /* two outputs are looked at once */
            const bool dashes = cli_is_dash(output->path) && cli_is_dash(other->path) && other->writes;
            const bool together = output->array && output->array == other->array;
            if (seen || dashes || together || !clash(output, other)) continue;
            return refuse(c, output, other);
        }
    return 0;
}

/* Whether a folder that the command line names as output leads to `folder`, and will be made by the command. */
static bool is_created(const file_list *list, const char *folder)
{
    for (size_t i = 0; i < list->n; i++) {
        const named_file *f = &list->file[i];
        const size_t n = strlen(f->path);
        if (f->writes && f->folder && strncmp(folder, f->path, n) == 0 && (!folder[n] || folder[n] == '/')) return true;
    }
    return false;
}

/* The slash before the last part of a name, NULL: there is none. "model/" is the folder model. */
static const char *last_slash(const named_file *f)
{
    size_t n = strlen(f->path);
    while (f->folder && n > 1 && f->path[n - 1] == '/') n--;
    while (n > 0 && f->path[n - 1] != '/') n--;
    return n ? f->path + n - 1 : NULL;
}

/* An output that exists. One with `holds` may be either, as another option says. */
static int check_kind(cli *c, const named_file *f, mode_t mode)
{
    char shown[CLI_SAFE + 64];
    if (f->companion || (f->holds && !f->folder) || f->folder == S_ISDIR(mode)) return 0;
    show(f, shown);
    return f->folder ? cli_error(c, DIS_EIO, "%s is a file; name a folder", shown)
                     : cli_error(c, DIS_EIO, "%s is a folder; name a file in it", shown);
}

/* The folder of an output that does not exist. */
static int check_parent(cli *c, const file_list *list, const named_file *f)
{
    struct stat st;
    char folder[4096], safe[CLI_SAFE], shown[CLI_SAFE + 64];
    const char *slash = last_slash(f);
    if (!slash || slash == f->path || (size_t)(slash - f->path) >= sizeof folder) return 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - f->path), f->path);
    if (is_created(list, folder)) return 0;
    int why = stat(folder, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (why == 0 && access(folder, W_OK | X_OK) != 0) why = errno;
    if (why == 0) return 0;
    cli_safe(folder, safe);
    show(f, shown);
    if (why == ENOENT) return cli_error(c, DIS_EIO, "%s: the folder %s does not exist; create it first", shown, safe);
    return cli_error(c, DIS_EIO, "%s: cannot write to the folder %s: %s", shown, safe, strerror(why));
}

/* Over ranks one of them writes, and others may be on machines that have no such folder. */
static int check_folders(cli *c, const file_list *list)
{
    int code = 0;
    for (size_t i = 0; i < list->n && cli_ranks_count() <= 1 && code == 0; i++) {
        const named_file *f = &list->file[i];
        struct stat st;
        if (!f->writes || cli_is_dash(f->path)) continue;
        if (stat(f->path, &st) == 0)
            code = check_kind(c, f, st.st_mode);
        else if (!f->companion && !cli_process_exists(f->path) && (errno == ENOENT || errno == ENOTDIR))
            code = check_parent(c, list, f);
    }
    return code;
}

/* Whether --format says what the main output is, whatever its name. */
static bool format_given(const cli_command *command, const void *values)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        const void *at = (const char *)values + o->offset;
        if (strcmp(o->name, "format") != 0) continue;
        return o->kind == CLI_CHOICE ? *(const int *)at >= 0 : *(const char *const *)at != NULL;
    }
    return false;
}

static int check_names(cli *c, const file_list *list, bool format)
{
    for (size_t i = 0; i < list->n; i++) {
        const named_file *f = &list->file[i];
        if (!f->writes || f->companion || !f->option->formats || cli_is_dash(f->path)) continue;
        const bool main_one = strcmp(f->option->name, "output") == 0;
        if (main_one && format) continue;
        bool known;
        if (dis__file_check_output(f->path, f->option->formats, &known) != DIS_OK)
            return cli_usage(c, "--%s %s", f->option->name, dis_last_error());
        const char *slash = strrchr(f->path, '/'), *dot = strrchr(f->path, '.');
        char safe[CLI_SAFE];
        if (!known && dot && dot[1] && dot > f->path && (!slash || dot > slash + 1))
            cli_print(c, "%s is written as %.*s%s", cli_safe(f->path, safe), (int)strcspn(f->option->formats, "|"),
                      f->option->formats, strchr(f->option->formats, '|') ? ", since its name does not say" : "");
    }
    return 0;
}

int cli_files_check(cli *c, const cli_command *command, const void *values, char *const *operands, size_t n_operands)
{
    file_list list;
    if (!collect(command, values, operands, n_operands, &list))
        return cli_error(c, DIS_ELIMIT, "no memory for a list of files");
    int code = check_dashes(c, &list);
    if (code == 0) code = check_pairs(c, &list);
    if (code == 0) code = check_names(c, &list, format_given(command, values));
    if (code == 0) code = check_folders(c, &list);
    release(&list);
    return code;
}

static int check_one(cli *c, const named_file *output, const file_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->file[i].folder && clash(output, &list->file[i])) return refuse(c, output, &list->file[i]);
    return 0;
}

int cli_output_check(cli *c, const cli_command *command, const void *values, char *const *operands, size_t n_operands,
                     const char *name, const char *path)
{
    file_list list;
    const cli_option option = {.name = name};
    const named_file output = {.option = &option, .path = path, .writes = true};
    if (!collect(command, values, operands, n_operands, &list))
        return cli_error(c, DIS_ELIMIT, "no memory for a list of files");
    int code = check_one(c, &output, &list);
    for (size_t k = 0; code == 0 && is_npy(&output, false, false); k++) {
        char companion[4096];
        if (!dis__file_companion(path, k, companion, sizeof companion)) break;
        const named_file also = {.option = &option, .path = companion, .writes = true};
        code = check_one(c, &also, &list);
    }
    release(&list);
    return code;
}
