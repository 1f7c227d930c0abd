/* The CSV reader: what it accepts reads as Python's csv module (strict) reads it; what it refuses has a position and a
 * reason. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/fault_injection.h"
#include "core/text/utf8.h"
#include "io/csv/csv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All rows as text: fields in [], rows apart by LF. */
static dis_status render(const char *bytes, size_t n, char separator, bool header, char *out, size_t room)
{
    const dis__input in = dis__input_from_bytes("t.csv", bytes, n);
    dis__csv csv;
    dis__csv_open(&csv, &in, separator);
    size_t used = 0;
    out[0] = 0;
    dis_status status = header ? dis__csv_header(&csv) : DIS_OK;
    for (bool more = true; status == DIS_OK;) {
        status = dis__csv_next(&csv, &more);
        if (status != DIS_OK || !more) break;
        for (size_t i = 0; i < csv.n_fields; i++)
            used += (size_t)snprintf(out + used, room - used, "[%.*s]", (int)csv.field[i].n, csv.field[i].text);
        used += (size_t)snprintf(out + used, room - used, "\n");
    }
    dis__csv_close(&csv);
    return status;
}

#define TEXT(s) s, sizeof s - 1

static void reads_like_python(void **state)
{
    (void)state;
    /* expected values: list(csv.reader(io.StringIO(text, newline=''), strict=True)), byte order marks and blank lines
     * apart */
    static const struct {
        const char *text;
        size_t n;
        const char *rows;
    } cases[] = {
        {TEXT("a,b\n"), "[a][b]\n"},
        {TEXT("a,b"), "[a][b]\n"},
        {TEXT("a,b\r\nc,d\r\n"), "[a][b]\n[c][d]\n"},
        {TEXT("\xef\xbb\xbf"
              "a,b\n"),
         "[a][b]\n"},
        {TEXT("\"a\",\"b\"\n"), "[a][b]\n"},
        {TEXT("\"a,b\",c\n"), "[a,b][c]\n"},
        {TEXT("\"a\nb\",c\n"), "[a\nb][c]\n"},
        {TEXT("\"a\r\nb\",c\r\n"), "[a\r\nb][c]\n"},
        {TEXT("\"a\rb\",c\n"), "[a\rb][c]\n"},
        {TEXT("\"a\"\"b\",\"\"\"\"\n"), "[a\"b][\"]\n"},
        {TEXT("\"\",\"\"\n"), "[][]\n"},
        {TEXT(",\n"), "[][]\n"},
        {TEXT("a,\n,b"), "[a][]\n[][b]\n"},
        {TEXT(" a , b \n"), "[ a ][ b ]\n"},
        {TEXT("a,\"b\""), "[a][b]\n"},
        {TEXT("\"a\"\"\",\"\"\"b\",\"c\"\"d\"\"e\"\n"), "[a\"][\"b][c\"d\"e]\n"},
        {TEXT("caf\xc3\xa9,\xe2\x82\xac\n"), "[caf\xc3\xa9][\xe2\x82\xac]\n"},
        {TEXT(""), ""},
        {TEXT("\n"), "[]\n"},
        {TEXT("a;b\tc\n"), "[a;b\tc]\n"},
        {TEXT("'a','b'\n"), "['a']['b']\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[256];
        assert_int_equal(render(cases[i].text, cases[i].n, ',', false, out, sizeof out), DIS_OK);
        assert_string_equal(out, cases[i].rows);
    }
    char out[64];
    assert_int_equal(render(TEXT("a,b,,\nc,d,,\n"), ',', true, out, sizeof out), DIS_OK); /* columns without a name */
    assert_int_equal(render(TEXT("a\t\"b\tc\"\n"), '\t', false, out, sizeof out), DIS_OK);
    assert_string_equal(out, "[a][b\tc]\n");
}

static void refuses_with_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        const char *message;
    } cases[] = {
        {TEXT(""), "t.csv: the file is empty"},
        {TEXT("\xef\xbb\xbf"), "t.csv: the file is empty"},
        {TEXT("a,b\nc\rd,e\n"), "t.csv:2:2: a lone CR"},
        {TEXT("a,b\nc,d\r"), "t.csv:2:4: a lone CR"},
        {TEXT("a,b\n\"c\"\r,e\n"), "t.csv:2:4: a lone CR"},
        {TEXT("a,b\nc,d\"e\n"), "t.csv:2:4: a quote within a field"},
        {TEXT("a,b\nc, \"e\"\n"), "t.csv:2:4: a quote within a field"},
        {TEXT("a,b\n\"c\"d,e\n"), "t.csv:2:4: text after a closing quote"},
        {TEXT("a,b\nc,\"d\n\ne,f\n"), "t.csv:2:3: this quote is never closed"},
        {TEXT("a,b\nc,d,e\n"), "t.csv:2:1: 3 fields where the header has 2"},
        {TEXT("a,b\nc\n"), "t.csv:2:1: 1 field where the header has 2"},
        {TEXT("a,b\nc,d\n\n"), "t.csv:3:1: a blank line"},
        {TEXT("a,b\nc,d\0\n"), "t.csv:2:4: a NUL byte"},
        {TEXT("a,b\n\"c\n\0\",d\n"), "t.csv:3:1: a NUL byte"},
        {TEXT("a,b\nc,caf\xe9\n"), "t.csv:2:6: invalid UTF-8 (byte 0xe9)"},
        {TEXT("a,b\nc,\xed\xa0\x80\n"), "t.csv:2:3: invalid UTF-8"},
        {TEXT("a,b,a\nc,d,e\n"), "t.csv:1:5: two columns are called \"a\""},
        {TEXT("a,b\n\"x\ny\nz\",w\nc\rd,e\n"), "t.csv:5:2: a lone CR"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[256];
        assert_int_equal(render(cases[i].text, cases[i].n, ',', true, out, sizeof out), DIS_EDATA);
        assert_memory_equal(dis_last_error(), cases[i].message, strlen(cases[i].message));
    }
}

static void goes_on_behind_a_bad_row(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1,\"2\nx\"y,3\n4,5\n6\n\"7,8\n9,10\n";
    const dis__input in = dis__input_from_bytes("t.csv", text, sizeof text - 1);
    dis__csv csv;
    dis__csv_open(&csv, &in, ',');
    char log[256] = "";
    assert_int_equal(dis__csv_header(&csv), DIS_OK);
    for (bool more = true; more;) {
        const dis_status status = dis__csv_next(&csv, &more);
        if (!more) break;
        const size_t used = strlen(log);
        snprintf(log + used, sizeof log - used, status == DIS_OK ? "%.*s " : "! ", (int)csv.field[0].n,
                 csv.field[0].text);
    }
    assert_string_equal(log, "! 4 ! ! 9 ");
    dis__csv_close(&csv);
}

static void without_a_header_blank_lines_part_sentences(void **state)
{
    (void)state;
    static const char text[] = "\n1\ta\n2\tb\n\n\r\n3\tc\n\n";
    static const char *const names[] = {"n", "token"};
    const dis__input in = dis__input_from_bytes("t.tsv", text, sizeof text - 1);
    dis__csv csv;
    dis__csv_open(&csv, &in, '\t');
    assert_int_equal(dis__csv_set_columns(&csv, names, 2), DIS_OK);
    char seen[8] = "";
    for (bool more = true; more;) {
        assert_int_equal(dis__csv_next(&csv, &more), DIS_OK);
        if (more) strncat(seen, csv.field[1].text, 1);
    }
    assert_string_equal(seen, "abc");
    dis__csv_close(&csv);
}

static void limits_hold(void **state)
{
    (void)state;
    char *text = calloc(DIS_MAX_FIELD + 64, 1);
    const dis__input all = dis__input_from_bytes("t.csv", text, 0);
    for (int quote = 0; quote < 2; quote++)
        for (size_t over = 0; over < 2; over++) {
            size_t n = 0;
            if (quote) text[n++] = '"';
            memset(text + n, 'x', DIS_MAX_FIELD + over);
            n += DIS_MAX_FIELD + over;
            if (quote) text[n++] = '"';
            memcpy(text + n, "\ny\n", 3);
            dis__input in = all;
            in.n = n + 3;
            dis__csv csv;
            bool more;
            dis__csv_open(&csv, &in, ',');
            assert_int_equal(dis__csv_next(&csv, &more), over ? DIS_EDATA : DIS_OK);
            if (!over) assert_int_equal(csv.field[0].n, DIS_MAX_FIELD);
            assert_int_equal(dis__csv_next(&csv, &more), DIS_OK); /* the next row is found */
            assert_int_equal(csv.field[0].n, 1);
            dis__csv_close(&csv);
        }
    for (size_t over = 0; over < 2; over++) {
        const size_t n = DIS_MAX_COLUMNS - 1 + over;
        memset(text, ',', n);
        dis__input in = all;
        in.n = n;
        dis__csv csv;
        bool more;
        dis__csv_open(&csv, &in, ',');
        assert_int_equal(dis__csv_next(&csv, &more), over ? DIS_EDATA : DIS_OK);
        if (!over) assert_int_equal(csv.n_fields, DIS_MAX_COLUMNS);
        dis__csv_close(&csv);
    }
    free(text);
}

static void utf8_by_the_table(void **state)
{
    (void)state;
    /* all sequences of up to 4 bytes from the values where the rules change, against a decoder that follows the
     * definition */
    static const unsigned char byte[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
                                         0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum { N = sizeof byte };
    for (size_t code = 0; code < (size_t)N * N * N * N; code++) {
        const unsigned char s[4] = {byte[code % N], byte[code / N % N], byte[code / N / N % N], byte[code / N / N / N]};
        size_t i = 0;
        while (i < 4) {
            const size_t n = s[i] < 0x80   ? 1
                             : s[i] < 0xc0 ? 0
                             : s[i] < 0xe0 ? 2
                             : s[i] < 0xf0 ? 3
                             : s[i] < 0xf8 ? 4
                                           : 0;
            if (n == 0 || i + n > 4) break;
            uint32_t c = n == 1 ? s[i] : s[i] & (0xffu >> (n + 1));
            bool good = true;
            for (size_t k = 1; k < n; k++) good = good && (s[i + k] & 0xc0) == 0x80, c = c << 6 | (s[i + k] & 0x3f);
            static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
            if (!good || c < min[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) break;
            i += n;
        }
        if (dis__utf8_check((const char *)s, 4) != i) fail_msg("%02x %02x %02x %02x", s[0], s[1], s[2], s[3]);
    }
    assert_int_equal(dis__utf8_check("aaaaaaaaaaaaaaaaaaaaaaaa\xff", 25), 24);
}

static void survives_no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        char out[512];
        dis__fault_arm(DIS_FAULT_ALLOC, n);
        const dis_status status = render(TEXT("a,b\n\"1\"\"2\",\"3\"\"4567890123456789012345678901234567890\"\n"), ',',
                                         true, out, sizeof out);
        const bool reached = dis__fault_reached(DIS_FAULT_ALLOC);
        dis__fault_arm(DIS_FAULT_ALLOC, 0);
        assert_int_equal(status, reached ? DIS_ELIMIT : DIS_OK);
        if (!reached) {
            assert_string_equal(out, "[1\"2][3\"4567890123456789012345678901234567890]\n");
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_python),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(goes_on_behind_a_bad_row),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(without_a_header_blank_lines_part_sentences),
        cmocka_unit_test(utf8_by_the_table),
        cmocka_unit_test(survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
