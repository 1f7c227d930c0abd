/* SHA-256 against the examples of FIPS 180-4 and values of sha256sum. */
#include "tool/files.h"
#include "core/text/sha256.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"

static void hash(const void *bytes, size_t n, size_t piece, char hex[65])
{
    dis__sha256 s;
    unsigned char digest[32];
    dis__sha256_init(&s);
    for (size_t at = 0; at < n; at += piece)
        dis__sha256_update(&s, (const char *)bytes + at, n - at < piece ? n - at : piece);
    dis__sha256_final(&s, digest);
    for (size_t i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static void known_values(void **state)
{
    (void)state;
    char hex[65];
    hash("", 0, 1, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash("abc", 3, 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    hash(two, strlen(two), 7, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *a = malloc(1000000);
    memset(a, 'a', 1000000);
    for (size_t piece = 63; piece <= 65; piece++) {
        hash(a, 1000000, piece, hex);
        assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    hash(a, 1000000, 1000000, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(a);
}

/* The same by plain C, as on a machine without the instructions. */
static void known_values_baseline(void **state)
{
    setenv("DISSENT_ISA", "baseline", 1);
    known_values(state);
    unsetenv("DISSENT_ISA");
}

static dis_status hash_it(void *path)
{
    char hex[65] = "untouched";
    const dis_status status = dis__file_sha256(path, hex);
    if (status != DIS_OK) assert_string_equal(hex, "untouched");
    return status;
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/dissent-sha-XXXXXX", hex[65] = "untouched";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "abc", 3) == 3);
    close(fd);
    walk_faults(hash_it, NULL, path);
    assert_int_equal(dis__file_sha256(path, hex), DIS_OK);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    unlink(path);
    assert_int_equal(dis__file_sha256(path, hex), DIS_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(known_values_baseline),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
