/* Names of a file, one per line; lines end with LF or CRLF. */
#include "io/name_file.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/os/os.h"
#include "core/text/utf8.h"
#include "dissent/votes.h"
#include "tool/files.h"
#include "io/input/input.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static dis_status parse_lines(const dis__input *input, dis__name_list *list)
{
    const char *begin = input->bytes, *end = begin + input->n;
    if (dis__utf8_check(begin, input->n) < input->n || (input->n && memchr(begin, 0, input->n)))
        return dis__fail_at(DIS_EDATA, input->path, 0, 0, "not valid UTF-8, or text with a NUL byte");
    for (const char *at = begin; at < end;) {
        const char *lf = memchr(at, '\n', (size_t)(end - at)), *stop = lf ? lf : end;
        size_t n = (size_t)(stop - at);
        if (n && at[n - 1] == '\r') n--;
        if (n == 0 || n > DIS_MAX_ID || memchr(at, '\r', n))
            return dis__fail_at(DIS_EDATA, input->path, list->n + 1, 0,
                                "an empty name, one above 64 KiB, or a lone CR");
        DIS_TRY(dis__name_list_add(list, at, n));
        at = lf ? lf + 1 : end;
    }
    return DIS_OK;
}

dis_status dis__names_read(dis_context *ctx, const char *path, dis_names **out)
{
    dis__input input;
    DIS_TRY(dis__input_open(ctx, path, &input));
    dis__name_list list = {0};
    dis_status status = dis__input_check(&input, parse_lines(&input, &list));
    if (status == DIS_OK && list.n == 0) status = dis__fail_at(DIS_EDATA, path, 0, 0, "it contains no names");
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    dis__input_close(&input);
    return status;
}

dis_status dis__names_check_line_breaks(const dis_names *names, const char *what)
{
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        if (memchr(name, '\n', n) || memchr(name, '\r', n))
            return dis__fail(DIS_EDATA,
                             "the name of a %s contains a line break (\"%.100s\"), so it cannot be written to the list "
                             "of an npy file; "
                             "write csv or jsonl instead",
                             what, name);
    }
    return DIS_OK;
}

dis_status dis__names_write(dis__out *out, const dis_names *names)
{
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        DIS_TRY(dis__out_write(out, name, n));
        DIS_TRY(dis__out_write(out, "\n", 1));
    }
    return DIS_OK;
}

/* The length of NAME in NAME.npy, NAME.npy.gz and NAME.npy.zst. */
static size_t stem_of(const char *path)
{
    size_t n = strlen(path);
    if (n > 3 && strcasecmp(path + n - 3, ".gz") == 0) n -= 3;
    if (n > 4 && strncasecmp(path + n - 4, ".zst", 4) == 0) n -= 4;
    if (n > 4 && strncasecmp(path + n - 4, ".npy", 4) == 0) n -= 4;
    return n;
}

bool dis__file_companion(const char *path, size_t i, char *out, size_t size)
{
    static const char *const suffixes[] = {".tasks.txt", ".classes.txt"};
    if (i >= sizeof suffixes / sizeof *suffixes) return false;
    const int n = snprintf(out, size, "%.*s%s", (int)stem_of(path), path, suffixes[i]);
    return n > 0 && (size_t)n < size;
}

dis_status dis__companion_check(const char *path, const char *companion)
{
    struct stat st;
    if (dis__os_link_stat(companion, &st) != 0 || dis__os_link_stat(path, &st) == 0) return DIS_OK;
    return dis__fail(
        DIS_EUSAGE,
        "%s is written with %s, which exists without it and would be overwritten; rename or remove that file, or "
        "name another output",
        path, companion);
}

dis_status dis__companion_path(const char *path, const char *suffix, char **out)
{
    const size_t n = stem_of(path);
    char *name;
    DIS_TRY(dis__alloc_array(&name, n + strlen(suffix) + 1, 1));
    memcpy(name, path, n);
    strcpy(name + n, suffix);
    *out = name;
    return DIS_OK;
}
