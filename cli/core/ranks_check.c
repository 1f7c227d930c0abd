/* Whether all ranks were started alike. Ranks make the same calls in the same order, so one that has other options waits
 * for a message that never comes, and one that reads other votes mixes two data sets. Before any work, each rank
 * compares itself with the first one: the command, a hash of the value of each option, and for files that are read a
 * hash of their size and of samples of their bytes. Options that may differ from machine to machine are left out. Cost:
 * some 64 reads per file, and one broadcast of some kilobytes per rank. */
#include "core/cli.h"
#include "tool/rank_calls.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN = 80, SAMPLES = 64, SAMPLE = 16384, MAX_RECORDS = 160, MESSAGE = 6 * SHOWN };

/* What a rank has of one option, or of the operands. Sent between ranks of one build. */
typedef struct {
    char shown[SHOWN]; /* "--method majority"; "": not given */
    uint64_t hash;
    bool files, unreadable; /* hash is of contents; a file could not be opened, which its reader reports */
} record;

typedef struct {
    char version[SHOWN], command[SHOWN];
    size_t n;
    record of[MAX_RECORDS];
} command_line;

static void hash_bytes(uint64_t *hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) *hash = (*hash ^ p[i]) * 0x100000001B3ull; /* FNV-1a */
}

/* Size, and SAMPLES pieces from the first byte to the last. False: no regular file that can be read. */
static bool hash_file(const char *path, uint64_t *hash)
{
    struct stat st;
    FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) return false;
    static unsigned char piece[SAMPLE];
    const long size = (long)st.st_size, last = size > SAMPLE ? size - SAMPLE : 0;
    hash_bytes(hash, &size, sizeof size);
    for (long i = 0, at = -1; i < SAMPLES; i++) {
        const long next = last / (SAMPLES - 1) * i + (i == SAMPLES - 1 ? last % (SAMPLES - 1) : 0);
        if (next == at || fseek(file, next, SEEK_SET) != 0) continue;
        at = next;
        hash_bytes(hash, piece, fread(piece, 1, sizeof piece, file));
    }
    fclose(file);
    return true;
}

static void show(record *r, const char *before, const char *value)
{
    const size_t used = strlen(r->shown);
    snprintf(r->shown + used, sizeof r->shown - used, "%s%s", before, value);
}

static void add_value(record *r, const char *value, const char *path)
{
    show(r, " ", value);
    if (!r->files || cli_is_dash(path) || !hash_file(path, &r->hash)) {
        r->unreadable = r->unreadable || r->files;
        hash_bytes(&r->hash, value, strlen(value) + 1);
    }
}

static bool may_differ(const cli_option *o)
{
    return cli_choice_find("threads|memory|quiet|device|help", o->name) >= 0;
}

/* The value of an option as text; NULL: it has none. */
static const char *value_text(const cli_option *o, const void *at, char out[CLI_NUMBER])
{
    switch (o->kind) {
    case CLI_FLAG: return *(const bool *)at ? "" : NULL;
    case CLI_TEXT: return *(const char *const *)at;
    case CLI_CHOICE: snprintf(out, CLI_NUMBER, "%d", *(const int *)at); return *(const int *)at < 0 ? NULL : out;
    case CLI_REAL: snprintf(out, CLI_NUMBER, "%.17g", *(const double *)at); return out;
    default: snprintf(out, CLI_NUMBER, "%llu", *(const unsigned long long *)at); return out;
    }
}

/* "ordinal" of "nominal|ordinal", for people. */
static void show_choice(const char *choices, int i, char out[CLI_NUMBER])
{
    while (i-- > 0) choices += strcspn(choices, "|") + 1;
    snprintf(out, CLI_NUMBER, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void add_option(command_line *line, const cli_option *o, const void *values)
{
    const void *at = (const char *)values + o->offset;
    record *r = &line->of[line->n++];
    char text[CLI_NUMBER];
    *r = (record){.hash = 0xCBF29CE484222325ull, .files = o->names == CLI_NAMES_FILE};
    if (may_differ(o) || o->short_for) return;
    if (o->kind == CLI_LIST || o->kind == CLI_WORDS) {
        const cli_list *list = at;
        if (list->n) show(r, "--", o->name);
        for (size_t i = 0; i < list->n; i++) add_value(r, list->value[i], cli_option_path(o, list->value[i]));
        return;
    }
    const char *value = value_text(o, at, text);
    if (!value) return;
    if (o->kind == CLI_CHOICE) show_choice(o->choices, *(const int *)at, text);
    show(r, "--", o->name);
    add_value(r, value, cli_option_path(o, value));
}

static void describe(const cli *c, command_line *line)
{
    const cli_command *command = c->started->command;
    *line = (command_line){0};
    snprintf(line->version, sizeof line->version, "%s", dis_version());
    snprintf(line->command, sizeof line->command, "%s", command->name);
    for (size_t i = 0; i < command->n_options && i + 1 < MAX_RECORDS; i++)
        add_option(line, &command->options[i], c->started->values);
    record *r = &line->of[line->n++];
    *r = (record){.hash = 0xCBF29CE484222325ull, .files = command->names == CLI_NAMES_FILE};
    for (size_t i = 0; i < c->started->n_operands; i++) add_value(r, c->started->operands[i], c->started->operands[i]);
}

/* "--gold gold.csv", "votes.csv", or "no --gold". */
static void show_record(const record *r, const record *other, char out[SHOWN])
{
    if (*r->shown)
        snprintf(out, SHOWN, "%s", r->shown + (*r->shown == ' '));
    else
        snprintf(out, SHOWN, "no %.*s", (int)strcspn(other->shown, " "), other->shown);
}

/* How `own` differs from `first`, in `out`; the exit code that this means. */
static int find_difference(const command_line *own, const command_line *first, int rank, char out[MESSAGE])
{
    char x[SHOWN], y[SHOWN];
    if (strcmp(own->version, first->version) != 0 || strcmp(own->command, first->command) != 0 || own->n != first->n) {
        snprintf(out, MESSAGE, "rank 0 runs dissent %s %s, rank %d dissent %s %s; start the same on all ranks",
                 first->version, first->command, rank, own->version, own->command);
        return DIS_EUSAGE;
    }
    for (size_t i = 0; i < own->n; i++) {
        const record *a = &first->of[i], *b = &own->of[i];
        if (a->hash == b->hash || a->unreadable != b->unreadable) continue;
        const bool files = a->files && !a->unreadable && *a->shown && *b->shown;
        const char *verb = files ? "reads" : "has";
        show_record(a, b, x);
        show_record(b, a, y);
        snprintf(out, MESSAGE, "rank 0 %s %s, rank %d %s %s%s; give all ranks the same %s", verb, x, rank, verb, y,
                 files ? " with other contents" : "", files ? "files" : "options");
        return files ? DIS_EDATA : DIS_EUSAGE;
    }
    return 0;
}

int cli_ranks_check(cli *c, dis_context *ctx)
{
    const int ranks = dis_context_n_ranks(ctx), rank = dis_context_rank(ctx);
    if (ranks == 1 || !c->started) return 0;
    command_line *line = calloc(2, sizeof *line);
    if (!line) return cli_error(c, DIS_ELIMIT, "no memory for the options of the ranks");
    struct {
        int code;
        char text[MESSAGE];
    } found = {0}, first = {0};
    describe(c, line);
    line[1] = line[0];
    dis_status status = dis__context_broadcast(ctx, 0, &line[1], sizeof *line);
    if (status == DIS_OK) found.code = find_difference(&line[0], &line[1], rank, found.text);
    for (int r = 1; r < ranks && status == DIS_OK && first.code == 0; r++) {
        first = found;
        status = dis__context_broadcast(ctx, r, &first, sizeof first);
    }
    free(line);
    if (status != DIS_OK) return cli_failed(c, status);
    if (first.code == 0) return 0;
    c->silent = rank > 0;
    return cli_error(c, (dis_status)first.code, "the ranks differ: %s", first.text);
}
