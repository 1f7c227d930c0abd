/* The first bytes of a safetensors file are a length, and some lengths begin like a pickle, gzip or UTF-16 file: such a
 * file is read as what it is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "io/input/input.h"
#include <stdio.h>
#include <string.h>

static const char path[] = "test_state_header.tmp";

static void put(const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void lengths_are_no_signatures(void **state)
{
    (void)state;
    static const unsigned lengths[] = {0x0280, 0x0380, 0x0480, 0x0580, 0x8b1f, 0xfeff, 0xfffe};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char bytes[16] = {(char)(lengths[i] & 255), (char)(lengths[i] >> 8)};
        memcpy(bytes + 8, "{      }", 8);
        put(bytes, sizeof bytes);
        dis__input in;
        assert_int_equal(dis__input_open(NULL, path, &in), DIS_OK);
        assert_int_equal(in.n, sizeof bytes);
        dis__input_close(&in);
    }
    dis__input in;
    put("\x80\x04\x95\x05\0\0\0\0\0\0\0K\x01.", 14);
    assert_int_equal(dis__input_open(NULL, path, &in), DIS_EDATA);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths_are_no_signatures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
