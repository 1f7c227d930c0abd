/* File names to formats, by one table. */
#include "tool/files.h"
#include "io/files/file_format.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *ending, *format;
} endings[] = {
    {".csv", "csv"},      {".tsv", "tsv"},    {".tab", "tsv"}, {".jsonl", "jsonl"},
    {".ndjson", "jsonl"}, {".json", "jsonl"}, {".npy", "npy"},
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

dis_status dis__file_format(const char *requested, const char *path, const char *formats, const char **out)
{
    const char *found = "csv";
    const size_t n = without_compression(path);
    if (requested && strcmp(requested, "json") == 0 && among("json", formats)) {
        *out = "json";
        return DIS_OK;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (requested ? strcmp(requested, endings[i].format) == 0 : ends_with(path, n, endings[i].ending)) {
            found = endings[i].format;
            break;
        }
    if (requested && strcmp(requested, found) != 0)
        return dis__fail(DIS_EUSAGE, "no format \"%s\"; there are %s", requested, formats);
    if (!among(found, formats))
        return dis__fail(DIS_EUSAGE, "%s: format %s is not possible here; formats: %s", path, found, formats);
    *out = found;
    return DIS_OK;
}

/* Formats implied by output names, with the words of `formats`; `format` NULL: a format that dissent does not write. */
static const struct {
    const char *ending, *format, *name;
} promises[] = {
    {".csv", "csv", "CSV"},
    {".tsv", "tsv", "TSV"},
    {".tab", "tsv", "TSV"},
    {".jsonl", "jsonl", "JSONL"},
    {".ndjson", "jsonl", "JSONL"},
    {".npy", "npy", "npy"},
    {".json", "json", "JSON"},
    {".html", "html", "HTML"},
    {".htm", "html", "HTML"},
    {".md", "markdown", "Markdown"},
    {".markdown", "markdown", "Markdown"},
    {".tex", "latex", "LaTeX"},
    {".safetensors", "safetensors", "safetensors"},
    {".parquet", NULL, "Parquet (Python writes it: pandas.read_csv(LABELS).to_parquet(FILE))"},
    {".pq", NULL, "Parquet (Python writes it: pandas.read_csv(LABELS).to_parquet(FILE))"},
    {".arrow", NULL, "Arrow"},
    {".feather", NULL, "Arrow"},
    {".xlsx", NULL, "a spreadsheet"},
    {".xls", NULL, "a spreadsheet"},
    {".ods", NULL, "a spreadsheet"},
    {".pkl", NULL, "a pickle"},
    {".pickle", NULL, "a pickle"},
    {".joblib", NULL, "a pickle"},
    {".pt", NULL, "a PyTorch file"},
    {".pth", NULL, "a PyTorch file"},
    {".npz", NULL, "npz"},
    {".h5", NULL, "HDF5"},
    {".hdf5", NULL, "HDF5"},
    {".yaml", NULL, "YAML"},
    {".yml", NULL, "YAML"},
    {".xml", NULL, "XML"},
    {".pdf", NULL, "PDF"},
    {".png", NULL, "an image"},
    {".svg", NULL, "an image"},
    {".sqlite", NULL, "a database"},
    {".db", NULL, "a database"},
    {".zip", NULL, "an archive"},
    {".bz2", NULL, "an archive"},
    {".xz", NULL, "an archive"},
};
enum { N_PROMISES = sizeof promises / sizeof *promises, ENDINGS_TEXT = 160 };

/* ".csv, .tsv or .jsonl": the first extension of each of `formats`. */
static void list_endings(const char *formats, char out[ENDINGS_TEXT])
{
    size_t used = 0;
    out[0] = 0;
    for (const char *f = formats; *f;) {
        const size_t n = strcspn(f, "|");
        const bool last = f[n] == 0;
        for (size_t i = 0; i < N_PROMISES; i++) {
            const char *format = promises[i].format;
            if (!format || strlen(format) != n || memcmp(format, f, n) != 0) continue;
            const int wrote = snprintf(out + used, ENDINGS_TEXT - used, "%s%s",
                                       used == 0 ? ""
                                       : last    ? " or "
                                                 : ", ",
                                       promises[i].ending);
            used += wrote > 0 ? (size_t)wrote : 0;
            break;
        }
        f += n + !last;
    }
}

/* Arrays and models are several files, or are mapped in place. */
static dis_status check_compressed_name(const char *path)
{
    static const char *const uncompressed[] = {".npy", ".safetensors"};
    const size_t n = without_compression(path);
    for (size_t i = 0; n < strlen(path) && i < sizeof uncompressed / sizeof *uncompressed; i++)
        if (ends_with(path, n, uncompressed[i]))
            return dis__fail(DIS_EUSAGE, "%s: %s files are not compressed; name it without %s", path,
                             uncompressed[i] + 1, path + n);
    return DIS_OK;
}

dis_status dis__file_check_output(const char *path, const char *formats, bool *known)
{
    *known = false;
    DIS_TRY(check_compressed_name(path));
    for (size_t i = 0; i < N_PROMISES; i++) {
        if (!ends_with(path, without_compression(path), promises[i].ending)) continue;
        *known = true;
        if (promises[i].format && among(promises[i].format, formats)) return DIS_OK;
        char better[ENDINGS_TEXT];
        list_endings(formats, better);
        return dis__fail(DIS_EUSAGE, "%s: the file name extension means %s, which this output cannot be; use %s", path,
                         promises[i].name, better);
    }
    return DIS_OK;
}

bool dis__path_has_ending(const char *path, const char *ending)
{
    return ends_with(path, without_compression(path), ending);
}

dis_status dis__output_file_format(const char *requested, const char *path, const char *formats, const char **out)
{
    bool known;
    DIS_TRY(check_compressed_name(path));
    if (!requested) DIS_TRY(dis__file_check_output(path, formats, &known));
    return dis__file_format(requested, path, formats, out);
}
