/* scratch.h: a folder of its own for a group of tests, and files in it.
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {...};
 *         return cmocka_run_group_tests(tests, make_folder, remove_folder);
 *     } */
#ifndef DIS_SUPPORT_SCRATCH_H
#define DIS_SUPPORT_SCRATCH_H
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static inline int make_folder_within(const char *parent)
{
    static const char name[] = "dissent-test-XXXXXX";
    const bool fits = strlen(parent) + 1 + sizeof name <= sizeof folder;
    snprintf(folder, sizeof folder, "%s/%s", fits ? parent : "/tmp", name);
    return mkdtemp(folder) ? 0 : -1;
}

static inline int make_folder(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    return make_folder_within(parent && *parent ? parent : "/tmp");
}

/* The same where flushing costs nothing, for tests that write thousands of files. */
static inline int make_folder_in_memory(void **state)
{
    return access("/dev/shm", W_OK) == 0 ? make_folder_within("/dev/shm") : make_folder(state);
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* The path of a name in the folder; the last four are kept. */
static inline const char *in_folder(const char *name)
{
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

/* A file or a whole folder in it, if it is there. */
static inline void remove_in_folder(const char *name)
{
    nftw(in_folder(name), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A file of these bytes in the folder; its path. */
static inline const char *put_file(const char *name, const void *bytes, size_t n)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    if (n) assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return path;
}

static inline const char *put_text(const char *name, const char *text)
{
    return put_file(name, text, strlen(text));
}

/* All bytes of a file and a NUL after them; the caller frees. NULL: there is no such file. */
static inline char *contents_if_any(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    *n = 0;
    if (!f) return NULL;
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    bytes[*n] = 0;
    fclose(f);
    return bytes;
}

static inline char *contents(const char *path, size_t *n)
{
    char *bytes = contents_if_any(path, n);
    if (bytes) return bytes;
    fail_msg("%s is missing", path);
    abort(); /* for the compiler: the line above does not return */
}

#endif
