/* Runs a fuzz target over every file of a folder, and over all their prefixes up to 256 bytes: a plain test of what
 * fuzzing found. */
#include "fuzz.h"
#include <dirent.h>
#include <string.h>

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    uint8_t *bytes = malloc(1 << 20);
    const size_t n = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    for (size_t cut = 0; cut <= n; cut++) {
        if (cut > 256 && cut < n) cut = n;
        uint8_t *exact = malloc(cut ? cut : 1); /* so that a sanitizer sees what is read after it */
        if (cut) memcpy(exact, bytes, cut);
        LLVMFuzzerTestOneInput(exact, cut);
        free(exact);
    }
    free(bytes);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    DIR *folder = opendir(argv[1]);
    int n = 0;
    if (folder) {
        for (struct dirent *e; (e = readdir(folder));) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
            if (e->d_name[0] != '.') n += run_file(path);
        }
        closedir(folder);
    }
    printf("%d files\n", n);
    return n ? 0 : 1; /* a target without a corpus tests nothing */
}
