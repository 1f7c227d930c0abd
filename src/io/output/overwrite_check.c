/* Whether a file that is about to be replaced was written by dissent, judged by its first line. */
#include "tool/files.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n;
} first_line;

static bool starts_with(first_line line, const char *prefix)
{
    const size_t n = strlen(prefix);
    return line.n >= n && memcmp(line.text, prefix, n) == 0;
}

/* CSV and TSV: the header; JSONL: an object with these two members. */
static bool is_labels(first_line line)
{
    if (starts_with(line, "task,label,entropy,") || starts_with(line, "task\tlabel\tentropy\t")) return true;
    return starts_with(line, "{\"task\":") &&
           dis__os_find_text(line.text, line.n, ",\"p\":{", strlen(",\"p\":{")) != NULL;
}

/* id<TAB>[...] */
static bool is_submission(first_line line)
{
    const char *tab = line.n ? memchr(line.text, '\t', line.n) : NULL;
    return tab && tab > line.text && tab + 1 < line.text + line.n && tab[1] == '[';
}

static bool is_chart(first_line line)
{
    return starts_with(line, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
}

static bool (*const recognizes[])(first_line line) = {
    [DIS__OUTPUT_LABELS] = is_labels, [DIS__OUTPUT_SUBMISSION] = is_submission, [DIS__OUTPUT_CHART] = is_chart};

static bool exists(const char *path)
{
    struct stat st;
    return dis__os_stat(path, &st) == 0;
}

/* An array of labels has both lists as companions. */
static bool is_label_array(const char *path, const dis__input *in)
{
    static const char magic[] = "\x93NUMPY";
    char list[PATH_MAX];
    if (in->n < sizeof magic - 1 || memcmp(in->bytes, magic, sizeof magic - 1) != 0) return false;
    for (size_t i = 0; dis__file_companion(path, i, list, sizeof list); i++)
        if (!exists(list)) return false;
    return true;
}

static dis_status check_existing(const char *path, dis__output_kind kind)
{
    dis__input in;
    const dis_status opened = dis__input_open_stream(NULL, path, &in);
    if (opened == DIS_EDATA) return dis__fail_foreign_file(path); /* a format that dissent does not read */
    DIS_TRY(opened);
    const char *lf = in.n ? memchr(in.bytes, '\n', in.n) : NULL;
    const first_line line = {in.bytes, lf ? (size_t)(lf - in.bytes) : in.n};
    const bool array = kind == DIS__OUTPUT_LABELS && is_label_array(path, &in);
    const bool own = in.n == 0 || array || recognizes[kind](line);
    const dis_status status = dis__input_finish(&in, DIS_OK);
    return status == DIS_OK && !own ? dis__fail_foreign_file(path) : status;
}

dis_status dis__file_check_replace(const char *path, dis__output_kind kind)
{
    struct stat st;
    char list[PATH_MAX];
    const size_t n = strlen(path);
    if ((size_t)kind >= sizeof recognizes / sizeof *recognizes)
        return dis__fail(DIS_EUSAGE, "no kind of file %d", (int)kind);
    if (dis__os_stat(path, &st) == 0)
        return S_ISREG(st.st_mode) ? check_existing(path, kind) : dis__check_regular(path);
    if (errno != ENOENT && errno != ENOTDIR) return dis__fail_io("open", path);
    const bool npy = kind == DIS__OUTPUT_LABELS && n > 4 && strcmp(path + n - 4, ".npy") == 0;
    for (size_t i = 0; npy && dis__file_companion(path, i, list, sizeof list); i++)
        if (exists(list)) return dis__fail_foreign_file(list);
    return DIS_OK;
}
