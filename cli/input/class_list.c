/* Declared classes: a list in an option, or a file of lines. */
#include "input/class_list.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Cuts the text at `separator`. A line may end in CR LF. */
static int split(cli *c, const char *given, class_list *out, char separator)
{
    size_t n = 1;
    for (const char *s = out->text; *s; s++) n += *s == separator;
    out->name = malloc(n * sizeof *out->name);
    if (!out->name) return cli_error(c, DIS_ELIMIT, "no memory for %zu classes", n);
    for (char *s = out->text; s;) {
        char *end = strchr(s, separator);
        if (end) *end = 0;
        const size_t length = strlen(s);
        if (separator == '\n' && length && s[length - 1] == '\r') s[length - 1] = 0;
        if (*s)
            out->name[out->n++] = s;
        else if (separator == ',')
            return cli_usage(c, "--classes %s: a class is empty", given);
        s = end ? end + 1 : NULL;
    }
    if (out->n == 0) return cli_usage(c, "--classes %s: the file contains no class", given);
    return 0;
}

static int read_file(cli *c, const char *path, size_t size, class_list *out)
{
    enum { MAX = 1 << 28 };
    FILE *f = size < MAX ? fopen(path, "rbe") : NULL;
    out->text = malloc(size + 1);
    const size_t n = f && out->text ? fread(out->text, 1, size, f) : 0;
    const bool fine = f && out->text && !ferror(f) && n == size;
    if (f) fclose(f);
    if (!fine) return cli_error(c, DIS_EIO, "cannot read the classes in %s", path);
    out->text[n] = 0;
    if (strlen(out->text) != n) return cli_error(c, DIS_EDATA, "%s: a NUL byte in a class name", path);
    return split(c, path, out, '\n');
}

int class_list_read(cli *c, const char *given, class_list *out)
{
    struct stat st;
    if (!given) return 0;
    if (stat(given, &st) == 0 && S_ISREG(st.st_mode)) return read_file(c, given, (size_t)st.st_size, out);
    out->text = strdup(given);
    if (!out->text) return cli_error(c, DIS_ELIMIT, "no memory for --classes");
    return split(c, given, out, ',');
}

void class_list_free(class_list *classes)
{
    free(classes->name);
    free(classes->text);
}
