/* fuzz_file.h: bytes as a file, for readers that want a path. One folder per process, in memory where there is
 * /dev/shm.
 */
#ifndef DIS_TESTS_FUZZ_FILE_H
#define DIS_TESTS_FUZZ_FILE_H
#include "fuzz.h"
#include <string.h>
#include <unistd.h>

static char fuzz_folder[64];

static inline void fuzz_clean(void)
{
    static const char *const names[] = {"a", "a.tsv", "a.jsonl", "b", "s", "model.json", "w"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_folder, names[i]);
        unlink(path);
    }
    rmdir(fuzz_folder);
}

static inline const char *fuzz_path(const char *name)
{
    static char path[4][128];
    static int next;
    if (!fuzz_folder[0]) {
        strcpy(fuzz_folder,
               access("/dev/shm", W_OK) == 0 ? "/dev/shm/dissent-fuzz-XXXXXX" : "/tmp/dissent-fuzz-XXXXXX");
        MUST(mkdtemp(fuzz_folder));
        atexit(fuzz_clean);
    }
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", fuzz_folder, name);
    return path[next];
}

static inline const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    const char *path = fuzz_path(name);
    FILE *f = fopen(path, "wb");
    MUST(f && (size == 0 || fwrite(data, 1, size, f) == size));
    fclose(f);
    return path;
}

#endif
