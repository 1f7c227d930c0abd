/* Messages of the tool on standard error: errors, notes, a progress bar on a terminal. Ids and file names are
 * text of others; they never reach a terminal unescaped. */
#include "core/cli.h"
#include "os/process.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE = 4096, BAR = 24 };

cli cli_init(void)
{
    cli c = {.command = "", .terminal = isatty(STDERR_FILENO) != 0};
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    c.colour = c.terminal && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
    clock_gettime(CLOCK_MONOTONIC, &c.start);
    return c;
}

const char *cli_bold(const cli *c)
{
    return c->colour ? "\033[1m" : "";
}

const char *cli_dim(const cli *c)
{
    return c->colour ? "\033[2m" : "";
}

const char *cli_plain(const cli *c)
{
    return c->colour ? "\033[0m" : "";
}

/* Bytes of the UTF-8 character at s, 0 when it is none; *code gets the character. */
static size_t decode(const unsigned char *s, uint32_t *code)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (n == 0) return 0;
    uint32_t x = n == 1 ? s[0] : s[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2) return 0;
        x = x << 6 | (s[i] & 0x3F);
    }
    *code = x;
    return n > 1 && x < min[n] ? 0 : n;
}

/* Control characters of ASCII and Latin-1, and those that turn the direction of writing. */
static bool harmful(uint32_t x)
{
    return x < 0x20 || (x >= 0x7F && x < 0xA0) || x == 0x200E || x == 0x200F || (x >= 0x2028 && x <= 0x202E) ||
           (x >= 0x2066 && x <= 0x2069) || x == 0xFEFF;
}

void cli_text_escape(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        uint32_t x = 0;
        size_t n = decode(s, &x);
        char piece[12];
        if (n == 0)
            snprintf(piece, sizeof piece, "\\x%02x", *s);
        else if (harmful(x))
            snprintf(piece, sizeof piece, x < 0x100 ? "\\x%02x" : "\\u%04x", x);
        else {
            memcpy(piece, s, n);
            piece[n] = 0;
        }
        s += n ? n : 1;
        const size_t length = strlen(piece);
        if (used + length + 4 > size) { /* room for the dots and the NUL */
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(out + used, piece, length);
        used += length;
    }
    out[used] = 0;
}

const char *cli_safe(const char *text, char out[CLI_SAFE])
{
    cli_text_escape(text, out, CLI_SAFE);
    return out;
}

void cli_bar_clear(cli *c)
{
    if (c->bar) fputs("\r\033[K", stderr);
    c->bar = false;
}

/* Messages of the library name fields of structs, as in `lenient`, or a struct or a function. At the command line these
 * are options with the same name, except for: */
static const struct {
    const char *field, *option;
} other_names[] = {{"columns", "text"},
                   {"format", "input-format"},
                   {"data_folder", "data"},
                   {"tasks", "ids"},
                   {"id_column", "table-id"},
                   {"id_prefix", "table-prefix"},
                   {"multiple_labels", "several"},
                   {"n_remembered", "remember"},
                   {"number_file", "numbers"},
                   {"dis_gold_options", "gold-columns TASK,LABEL"},
                   {"dis_incremental_write", "save-growing"}};

/* Length of a field's name between backquotes at p, 0: none. */
static size_t field_at(const char *message, const char *p)
{
    if (*p != '`' || (p > message && p[-1] != ' ' && p[-1] != '(')) return 0;
    const size_t n = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz_");
    return p[1 + n] == '`' ? n : 0;
}

void cli_message_format(const char *message, char *out, size_t size)
{
    bool quoted = false;
    size_t used = 0;
    for (const char *p = message; *p && used + 1 < size; p++) {
        quoted ^= *p == '"';
        const size_t n = quoted ? 0 : field_at(message, p);
        if (n == 0) {
            out[used++] = *p;
            continue;
        }
        const char *name = p + 1;
        int length = (int)n;
        for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
            if (strlen(other_names[i].field) == n && strncmp(other_names[i].field, p + 1, n) == 0) {
                name = other_names[i].option;
                length = (int)strlen(name);
            }
        const size_t begin = used;
        used += (size_t)snprintf(out + used, size - used, "--%.*s", length, name);
        if (used >= size) used = size - 1;
        for (size_t i = begin; i < used; i++)
            if (out[i] == '_') out[i] = '-';
        p += n + 1;
    }
    out[used] = 0;
}

static void print_escaped(cli *c, const char *before, const char *format, va_list args)
{
    char raw[MESSAGE], named[MESSAGE * 2], safe[MESSAGE * 2];
    vsnprintf(raw, sizeof raw, format, args);
    cli_message_format(raw, named, sizeof named);
    cli_text_escape(named, safe, sizeof safe);
    cli_bar_clear(c);
    fprintf(stderr, "%s%s\n", before, safe);
}

int cli_usage(cli *c, const char *format, ...)
{
    if (c->silent) return DIS_EUSAGE;
    va_list args;
    va_start(args, format);
    print_escaped(c, "dissent: ", format, args);
    va_end(args);
    fprintf(stderr, "see dissent %s%s--help\n", c->command, *c->command ? " " : "");
    return DIS_EUSAGE;
}

/* Stopped by a signal: no error, and nothing to say. */
static int stopped(cli *c)
{
    cli_bar_clear(c);
    return 128 + cli_signal();
}

int cli_error(cli *c, dis_status status, const char *format, ...)
{
    if (status == DIS_ECANCELLED) return stopped(c);
    if (c->silent) return (int)status;
    va_list args;
    va_start(args, format);
    print_escaped(c, "dissent: ", format, args);
    va_end(args);
    return (int)status;
}

int cli_create_folder(cli *c, const char *path)
{
    char safe[CLI_SAFE];
    if (cli_process_create_folder(path) || errno == EEXIST) return 0;
    return cli_error(c, DIS_EIO, "cannot make the folder %s: %s", cli_safe(path, safe), strerror(errno));
}

int cli_failed(cli *c, dis_status status)
{
    if (status == DIS_OK) return 0;
    const char *message = dis_last_error();
    const size_t n = strcspn(message, "\n"); /* suggestions follow, a line each */
    if (status == DIS_EUSAGE) return cli_usage(c, "%s", message);
    const int code = cli_error(c, status, "%.*s", (int)n, message);
    if (!c->silent && status == DIS_EDATA) cli_suggestions_print(c, message + n);
    return code;
}

int cli_failed_on(cli *c, dis_status status, const char *path)
{
    if (status != DIS_EDATA || strstr(dis_last_error(), path)) return cli_failed(c, status);
    char message[1024];
    snprintf(message, sizeof message, "%s", dis_last_error());
    return cli_error(c, status, "%s: %s", path, message);
}

void cli_print(cli *c, const char *format, ...)
{
    if (c->quiet) return;
    cli_bar_clear(c);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_warn(cli *c, const char *format, ...)
{
    if (c->quiet) return;
    va_list args;
    va_start(args, format);
    print_escaped(c, "dissent: note: ", format, args);
    va_end(args);
}

double cli_seconds_since(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) + 1e-9 * (double)(now.tv_nsec - since->tv_nsec);
}

/* Only what takes longer than a moment is worth a bar, and ten per second are enough. */
void cli_progress_draw(void *user, const char *what, double done)
{
    cli *c = user;
    if (!c->terminal || c->quiet || cli_seconds_since(&c->start) < .4 || cli_seconds_since(&c->drawn) < .1) return;
    clock_gettime(CLOCK_MONOTONIC, &c->drawn);
    const int full = done < 0 ? 0 : done > 1 ? BAR : (int)(done * BAR);
    char safe[CLI_SAFE];
    fprintf(stderr, "\r\033[K  %s [%.*s%.*s] %3.0f%%", cli_safe(what, safe), full, "########################",
            BAR - full, "........................", 100 * done);
    c->bar = true;
}

int cli_flush(cli *c)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return cli_error(c, DIS_EIO, "cannot write standard output");
}

const char *cli_count_format(uint64_t x, char out[CLI_NUMBER])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)x);
    int used = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = 0;
    return out;
}

const char *cli_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

void cli_fit_warn(cli *c, const char *spec, const dis_fit *fit)
{
    char name[CLI_SAFE], text[CLI_SAFE];
    for (size_t i = 0; dis_fit_get_warning(fit, i); i++)
        cli_warn(c, "%s: %s", cli_safe(spec, name), cli_safe(dis_fit_get_warning(fit, i), text));
}
