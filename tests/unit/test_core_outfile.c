/* Output files: whole or not at all, under every fault of the system and under kill -9.
 *
 * What a killed process leaves: the old or the new file, whole, and possibly one temporary file NAME.PID.N.tmp beside
 * it, which no one reads and which may be deleted at any time. Every other failure leaves no temporary file. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/fault_injection.h"
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "io/output/output_file.h"
#include "support/scratch.h"

#define NAME "out.csv"
static char path[128];

static int name_file(void **state)
{
    if (make_folder(state)) return -1;
    strcpy(path, in_folder(NAME));
    return 0;
}

/* Names in the folder; those that end in .tmp are removed if `remove_temporaries`. Returns how many of them there were.
 */
static int temporaries(bool remove_temporaries)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 4, ".tmp") != 0) continue;
        n++;
        if (remove_temporaries) assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
    }
    closedir(d);
    return n;
}

static void expect(const char *file, const char *text)
{
    size_t n = 0;
    char *bytes = contents(file, &n);
    assert_non_null(bytes);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, n);
    free(bytes);
}

/* Some of every way of writing: 3 x 100,000 letters in pieces and at once, more than any buffer holds. */
static dis_status write_letters(const char *to, char letter)
{
    static char block[300000];
    memset(block, letter, sizeof block);
    dis__out *out;
    DIS_TRY(dis__out_open(to, &out));
    dis_status status = DIS_OK;
    for (size_t at = 0; status == DIS_OK && at < 100000; at += 1000) status = dis__out_write(out, block, 1000);
    if (status == DIS_OK) status = dis__out_write(out, block, 0);
    for (int i = 0; status == DIS_OK && i < 500; i++) status = dis__out_printf(out, "%.*s", 200, block);
    if (status == DIS_OK) status = dis__out_write(out, block, sizeof block);
    for (int i = 0; status == DIS_OK && i < 4; i++) {
        char *room;
        status = dis__out_reserve(out, 25000, &room);
        if (status != DIS_OK) break;
        memset(room, letter, 25000);
        dis__out_advance(out, 25000);
    }
    return dis__out_finish(out, status);
}

enum { ALL_BYTES = 600000 };

static char letter_of(const char *file)
{
    size_t n = 0;
    char *bytes = contents(file, &n);
    assert_non_null(bytes);
    assert_int_equal(n, ALL_BYTES);
    for (size_t i = 0; i < n; i++) assert_int_equal(bytes[i], bytes[0]);
    const char letter = bytes[0];
    free(bytes);
    return letter;
}

static void writes(void **state)
{
    (void)state;
    assert_int_equal(write_letters(path, 'a'), DIS_OK);
    assert_int_equal(letter_of(path), 'a');
    assert_int_equal(write_letters(path, 'b'), DIS_OK);
    assert_int_equal(letter_of(path), 'b');
    dis__out *out;
    assert_int_equal(dis__out_open(path, &out), DIS_OK);
    assert_int_equal(letter_of(path), 'b'); /* nothing happens before the end */
    assert_int_equal(temporaries(false), 1);
    assert_int_equal(dis__out_finish(out, DIS_OK), DIS_OK);
    expect(path, "");
    assert_int_equal(temporaries(false), 0);
}

static void giving_up(void **state)
{
    (void)state;
    put_text(NAME, "old");
    dis__out *out;
    assert_int_equal(dis__out_open(path, &out), DIS_OK);
    assert_int_equal(dis__out_write(out, "new", 3), DIS_OK);
    dis__fail(DIS_EDATA, "why");
    assert_int_equal(dis__out_finish(out, DIS_EDATA), DIS_EDATA);
    assert_string_equal(dis_last_error(), "why");
    expect(path, "old");
    assert_int_equal(temporaries(false), 0);
}

static void too_much_room(void **state)
{
    (void)state;
    dis__out *out;
    char *room;
    assert_int_equal(dis__out_open(path, &out), DIS_OK);
    assert_int_equal(dis__out_reserve(out, DIS_OUT_BUFFER + 1, &room), DIS_EBUG);
    static char line[DIS_OUT_BUFFER + 1];
    memset(line, 'x', DIS_OUT_BUFFER);
    assert_int_equal(dis__out_printf(out, "%s", line), DIS_EBUG);
    assert_int_equal(dis__out_finish(out, DIS_EBUG), DIS_EBUG);
}

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++) n += fcntl(fd, F_GETFD) != -1;
    return n;
}

/* Every allocation and every system call fails once. An error means the old file, but for the flush of the folder (the
 * last call), after which the new one stands. Nothing else is left behind. */
static void fault_walk(void **state)
{
    (void)state;
    const int files = open_files();
    for (int kind = DIS_FAULT_ALLOC; kind <= DIS_FAULT_IO; kind++) {
        int walked = 0, new_despite_error = 0;
        for (uint64_t n = 1;; n++) {
            assert_int_equal(write_letters(path, 'o'), DIS_OK);
            dis__set_error("");
            dis__fault_arm((dis_fault_kind)kind, n);
            const dis_status status = write_letters(path, 'n');
            const bool reached = dis__fault_reached((dis_fault_kind)kind);
            dis__fault_arm((dis_fault_kind)kind, 0);
            assert_int_equal(temporaries(false), 0);
            assert_int_equal(open_files(), files);
            if (!reached) {
                assert_int_equal(status, DIS_OK);
                assert_int_equal(letter_of(path), 'n');
                break;
            }
            walked++;
            assert_int_equal(status, kind == DIS_FAULT_ALLOC ? DIS_ELIMIT : DIS_EIO);
            assert_non_null(strstr(dis_last_error(), kind == DIS_FAULT_ALLOC ? "no memory" : path));
            if (letter_of(path) == 'n') {
                new_despite_error++;
                assert_non_null(strstr(dis_last_error(), "cannot flush the folder of"));
            }
        }
        assert_true(walked >= 4);
        assert_int_equal(new_despite_error, kind == DIS_FAULT_IO);
    }
    /* Without an old file there is none afterwards. */
    for (uint64_t n = 1;; n++) {
        unlink(path);
        dis__fault_arm(DIS_FAULT_IO, n);
        const dis_status status = write_letters(path, 'n');
        const bool reached = dis__fault_reached(DIS_FAULT_IO);
        dis__fault_arm(DIS_FAULT_IO, 0);
        if (!reached) break;
        assert_int_equal(status, DIS_EIO);
        assert_true(access(path, F_OK) != 0 || strstr(dis_last_error(), "folder of"));
        assert_int_equal(temporaries(false), 0);
    }
}

/* A write that takes less than it was given is no error. */
static void short_writes(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        dis__fault_arm(DIS_FAULT_SHORT, n);
        assert_int_equal(write_letters(path, 's'), DIS_OK);
        const bool reached = dis__fault_reached(DIS_FAULT_SHORT);
        dis__fault_arm(DIS_FAULT_SHORT, 0);
        assert_int_equal(letter_of(path), 's');
        if (!reached) break;
    }
}

static void targets_that_are_no_files(void **state)
{
    (void)state;
    assert_int_equal(write_letters(folder, 'a'), DIS_EIO);
    assert_non_null(strstr(dis_last_error(), "it is a folder; name a file in it"));
    assert_int_equal(write_letters("", 'a'), DIS_EUSAGE);
    assert_int_equal(write_letters("/dev/null", 'a'), DIS_OK);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(write_letters("/dev/full", 'a'), DIS_EIO);
        assert_string_equal(dis_last_error(), "cannot write /dev/full: No space left on device");
    }
    char name[256];
    snprintf(name, sizeof name, "%s/none/out.csv", folder);
    assert_int_equal(write_letters(name, 'a'), DIS_EIO);
    char message[400];
    snprintf(message, sizeof message, "cannot create %s: the folder %s/none does not exist; create it first", name,
             folder);
    assert_string_equal(dis_last_error(), message);

    snprintf(name, sizeof name, "%s/pipe", folder);
    assert_int_equal(mkfifo(name, 0600), 0);
    const pid_t reader = fork();
    if (reader == 0) {
        const int fd = open(name, O_RDONLY);
        static char bytes[65536];
        size_t total = 0;
        for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;) total += (size_t)n;
        _exit(total == ALL_BYTES ? 0 : 1);
    }
    assert_int_equal(write_letters(name, 'p'), DIS_OK);
    int how;
    assert_int_equal(waitpid(reader, &how, 0), reader);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_int_equal(unlink(name), 0);
}

static void names_links_and_modes(void **state)
{
    (void)state;
    char link[128], name[400];
    struct stat st;
    snprintf(link, sizeof link, "%s/link", folder);
    put_text(NAME, "old");
    assert_int_equal(symlink("out.csv", link), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(write_letters(link, 'l'), DIS_OK); /* the file after the link is replaced, and keeps its mode */
    assert_int_equal(letter_of(path), 'l');
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(unlink(link), 0);

    snprintf(name, sizeof name, "%s/", folder); /* the longest name that a file system takes */
    const size_t n = strlen(name);
    memset(name + n, 'n', 255);
    name[n + 255] = 0;
    assert_int_equal(write_letters(name, 'n'), DIS_OK);
    assert_int_equal(letter_of(name), 'n');
    assert_int_equal(unlink(name), 0);

    char here[256]; /* a name without a folder */
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(write_letters("plain", 'h'), DIS_OK);
    assert_int_equal(letter_of("plain"), 'h');
    assert_int_equal(unlink("plain"), 0);
    assert_int_equal(chdir(here), 0);

    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0400), 0);
        assert_int_equal(write_letters(path, 'r'), DIS_EIO);
        assert_int_equal(letter_of(path), 'l');
        assert_int_equal(chmod(path, 0600), 0);
    }
}

/* Two at once in one folder, and a stale temporary file of the same name, do not meet. */
static void side_by_side(void **state)
{
    (void)state;
    char stale[200];
    snprintf(stale, sizeof stale, "%s.%ld.0.tmp", path, (long)getpid());
    put_text(strrchr(stale, '/') + 1, "stale");
    dis__out *a, *b;
    assert_int_equal(dis__out_open(path, &a), DIS_OK);
    assert_int_equal(dis__out_open(path, &b), DIS_OK);
    assert_int_equal(dis__out_write(a, "first", 5), DIS_OK);
    assert_int_equal(dis__out_write(b, "second", 6), DIS_OK);
    assert_int_equal(dis__out_finish(a, DIS_OK), DIS_OK);
    expect(path, "first");
    assert_int_equal(dis__out_finish(b, DIS_OK), DIS_OK);
    expect(path, "second");
    expect(stale, "stale");
    assert_int_equal(unlink(stale), 0);
}

static void standard_output(void **state)
{
    (void)state;
    fflush(stdout);
    const int saved_stdout = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved_stdout >= 0 && fd >= 0);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    const dis_status status = write_letters("-", 'd');
    const bool still_open = fcntl(STDOUT_FILENO, F_GETFD) != -1;
    dup2(saved_stdout, STDOUT_FILENO);
    close(saved_stdout);
    assert_int_equal(status, DIS_OK);
    assert_true(still_open);
    assert_int_equal(letter_of(path), 'd');
}

/* A process that writes 'a', 'b', 'c', ... over and over is killed at random times. */
static void killed(void **state)
{
    (void)state;
    enum { KILLS = 40 };
    assert_int_equal(write_letters(path, 'z'), DIS_OK);
    volatile int *rounds = mmap(NULL, sizeof *rounds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(rounds != MAP_FAILED);
    bool seen_new = false;
    for (uint64_t i = 0; i < KILLS; i++) {
        const pid_t child = fork();
        if (child == 0) {
            for (char letter = 'a';; letter = letter == 'y' ? 'a' : (char)(letter + 1)) {
                if (write_letters(path, letter) != DIS_OK) _exit(1);
                ++*rounds;
            }
        }
        usleep((useconds_t)(500 + dis__random_below(1, 1, i, 20000)));
        kill(child, SIGKILL);
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        seen_new |= letter_of(path) != 'z'; /* asserts that the file is whole */
        assert_true(temporaries(true) <= 1);
    }
    print_message("%d kills during %d writes\n", KILLS, *rounds);
    assert_true(seen_new);
    munmap((void *)(uintptr_t)rounds, sizeof *rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes),
        cmocka_unit_test(giving_up),
        cmocka_unit_test(too_much_room),
        cmocka_unit_test(fault_walk),
        cmocka_unit_test(short_writes),
        cmocka_unit_test(targets_that_are_no_files),
        cmocka_unit_test(names_links_and_modes),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(standard_output),
        cmocka_unit_test(killed),
    };
    return cmocka_run_group_tests(tests, name_file, remove_folder);
}
