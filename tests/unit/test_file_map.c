/* Mapped files that get shorter: reading goes on with zeros and the mapping is damaged; any other SIGBUS is handled as
 * if dissent were not there. */
#include "core/memory/file_map.h"
#include "io/input/input.h"
#include "dissent/dissent.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { SIZE = 1 << 18 };

static int open_filled(char *path)
{
    static char bytes[SIZE];
    const int fd = mkstemp(path);
    memset(bytes, 'x', sizeof bytes);
    if (fd < 0 || write(fd, bytes, sizeof bytes) != SIZE) abort();
    return fd;
}

static void a_truncated_file_reads_as_zeros(void **state)
{
    (void)state;
    char path[] = "/tmp/dissent-map-XXXXXX", other_path[] = "/tmp/dissent-map-XXXXXX";
    const int fd = open_filled(path), other_fd = open_filled(other_path);
    volatile char *map = dis__map_file(fd, SIZE), *other = dis__map_file(other_fd, SIZE);
    assert_true(map && other && map[SIZE - 1] == 'x' && !dis__map_is_damaged((void *)(uintptr_t)map));
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(map[0], 'x');
    assert_int_equal(map[SIZE - 1], 0);
    assert_int_equal(map[SIZE / 2], 0);
    assert_true(dis__map_is_damaged((void *)(uintptr_t)map));
    assert_false(dis__map_is_damaged((void *)(uintptr_t)other));
    assert_int_equal(other[SIZE - 1], 'x');
    dis__unmap_file((void *)(uintptr_t)map, SIZE);
    dis__unmap_file((void *)(uintptr_t)other, SIZE);
    close(fd);
    close(other_fd);
    remove(path);
    remove(other_path);
}

static void leave(int signal)
{
    (void)signal;
    _exit(42);
}

/* A child whose own mapping faults, with or without a handler of its own: its status. */
static int fault_outside(bool handled)
{
    const pid_t child = fork();
    if (child == 0) {
        char path[] = "/tmp/dissent-map-XXXXXX";
        const int fd = open_filled(path);
        remove(path);
        signal(SIGBUS, handled ? leave : SIG_DFL); /* not that of the test runner */
        void *guarded = dis__map_file(fd, SIZE);
        volatile char *own = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
        if (!guarded || ftruncate(fd, 0) != 0) _exit(1);
        _exit(own[0] == 'x' ? 2 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

/* Before this process maps a file itself: the handler is installed once. */
static void other_faults_are_passed_on(void **state)
{
    (void)state;
    const int handled = fault_outside(true), standard = fault_outside(false);
    assert_true(WIFEXITED(handled) && WEXITSTATUS(handled) == 42);
    assert_true(WIFSIGNALED(standard) ? WTERMSIG(standard) == SIGBUS
                                      : WEXITSTATUS(standard) > 3); /* or a sanitizer's */
}

/* An input whose file is truncated, extended or overwritten in place, and one whose file is replaced. */
static void inputs_notice_changes(void **state)
{
    (void)state;
    char path[] = "/tmp/dissent-map-XXXXXX", other[] = "/tmp/dissent-map-XXXXXX";
    const int fd = open_filled(path);
    dis__input in;
    assert_int_equal(dis__input_open(NULL, path, &in), DIS_OK);
    assert_int_equal(dis__input_check(&in, DIS_OK), DIS_OK);
    assert_int_equal(dis__input_check(&in, DIS_EDATA), DIS_EDATA);
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(dis__input_finish(&in, DIS_EDATA), DIS_EIO);
    assert_non_null(strstr(dis_last_error(), path));
    assert_non_null(strstr(dis_last_error(), "changed while it was being read"));
    assert_int_equal(dis__input_open(NULL, path, &in), DIS_OK);
    assert_int_equal(pwrite(fd, "y", 1, 200), 1);
    assert_int_equal(dis__input_finish(&in, DIS_OK), DIS_EIO);
    assert_int_equal(dis__input_open(NULL, path, &in), DIS_OK);
    close(open_filled(other));
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(dis__input_finish(&in, DIS_OK), DIS_OK);
    close(fd);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_faults_are_passed_on),
        cmocka_unit_test(a_truncated_file_reads_as_zeros),
        cmocka_unit_test(inputs_notice_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
