/* File names to formats, by one table. */
#include "io/format_name.h"
#include <string.h>
#include <strings.h>

static const struct {
    const char *ending, *format;
} endings[] = {
    {".csv", "csv"}, {".tsv", "tsv"}, {".tab", "tsv"}, {".jsonl", "jsonl"}, {".ndjson", "jsonl"}, {".npy", "npy"},
};
static const char *const compressions[] = {".gz", ".zst"};

/* Whether `ending` ends the first n bytes of `path`. */
static bool ends_with(const char *path, size_t n, const char *ending)
{
    const size_t e = strlen(ending);
    return n > e && strncasecmp(path + n - e, ending, e) == 0;
}

static size_t without_compression(const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
        if (ends_with(path, n, compressions[i])) return n - strlen(compressions[i]);
    return n;
}

/* Whether `word` is one of "a|b|c". */
static bool among(const char *word, const char *formats)
{
    const size_t n = strlen(word);
    for (const char *f = formats; *f;) {
        const size_t length = strcspn(f, "|");
        if (length == n && memcmp(f, word, n) == 0) return true;
        f += length + (f[length] == '|');
    }
    return false;
}

dis_status dis__format_name(const char *asked, const char *path, const char *formats, const char **out)
{
    const char *found = "csv";
    const size_t n = without_compression(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (asked ? strcmp(asked, endings[i].format) == 0 : ends_with(path, n, endings[i].ending)) {
            found = endings[i].format;
            break;
        }
    if (asked && strcmp(asked, found) != 0)
        return dis__fail(DIS_EUSAGE, "no format \"%s\"; there are %s", asked, formats);
    if (!among(found, formats))
        return dis__fail(DIS_EUSAGE, "%s: this cannot be %s; there are %s", path, found, formats);
    *out = found;
    return DIS_OK;
}

dis_status dis__refuse_compressed_name(const char *path)
{
    if (without_compression(path) == strlen(path)) return DIS_OK;
    return dis__fail(DIS_EUSAGE,
                     "%s: output is not compressed; name the file without .gz or .zst and compress it afterwards",
                     path);
}

bool dis__path_ends(const char *path, const char *ending)
{
    return ends_with(path, without_compression(path), ending);
}
