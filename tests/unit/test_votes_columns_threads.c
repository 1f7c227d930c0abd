/* Votes from columns: the same table whatever the layout of cells, the cutting into pieces, the chunks and the threads;
 * the table that a file of the same votes gives; what is refused, with the row; every allocation failing once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "core/random/random.h"
#include "support/fault_walk.h"
#include "votes/read/reader.h"
#include "support/votes_support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 3000, PIECES = 4 };

/* The same ids in every layout; all of them are integers, some of more than 8 bytes and some of more than 16. */
typedef struct {
    int64_t number[ROWS];
    char text[ROWS][32];
    dis_text texts[ROWS];
    int32_t offset[ROWS + 1];
    int64_t offset64[ROWS + 1];
    char bytes[ROWS * 32];
    char view[ROWS][16];
    const void *buffers[1];
    int64_t buffer_size[1];
    int16_t code[ROWS];
    uint8_t valid[ROWS / 8 + 1];
    dis_cells dictionary;
    dis_cells piece[PIECES];
} ids;

static void fill(ids *s, size_t n_different, uint64_t seed, bool grouped)
{
    size_t at = 0;
    memset(s->valid, 0xff, sizeof s->valid);
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t k =
            grouped ? i / 5 % n_different : (size_t)(dis__random_uniform(seed, 3, i) * (double)n_different);
        s->code[i] = (int16_t)k;
        s->number[i] = k % 3 == 0   ? (int64_t)k
                       : k % 3 == 1 ? 1000000000 + (int64_t)k
                                    : -1000000000000000000 + (int64_t)k;
        s->texts[i].n = (size_t)snprintf(s->text[i], sizeof s->text[i], "%lld", (long long)s->number[i]);
        s->texts[i].bytes = s->text[i];
        s->offset[i] = (int32_t)at;
        s->offset64[i] = (int64_t)at;
        memcpy(s->bytes + at, s->text[i], s->texts[i].n);
        const int32_t n = (int32_t)s->texts[i].n, buffer = 0, place = (int32_t)at;
        memcpy(s->view[i], &n, 4);
        memset(s->view[i] + 4, 0, 12);
        memcpy(s->view[i] + 4, s->text[i], n <= 12 ? (size_t)n : 4);
        if (n > 12) {
            memcpy(s->view[i] + 8, &buffer, 4);
            memcpy(s->view[i] + 12, &place, 4);
        }
        at += s->texts[i].n;
    }
    s->offset[ROWS] = (int32_t)at;
    s->offset64[ROWS] = (int64_t)at;
    s->buffers[0] = s->bytes;
    s->buffer_size[0] = (int64_t)at;
}

/* A column of the ids in one layout, cut into pieces at positions that differ from column to column. */
static dis_column column_of(ids *s, dis_cells_kind kind, bool by_dictionary, size_t shift)
{
    dis_cells cells = {.kind = kind, .n = ROWS, .valid = s->valid};
    switch (kind) {
    case DIS_CELLS_TEXTS: cells.values = s->texts; break;
    case DIS_CELLS_STRING: cells.values = s->offset; break;
    case DIS_CELLS_LARGE_STRING: cells.values = s->offset64; break;
    case DIS_CELLS_STRING_VIEW: cells.values = s->view; break;
    default: cells.values = s->number; break;
    }
    cells.bytes = s->bytes;
    cells.buffers = s->buffers;
    cells.buffer_size = s->buffer_size;
    cells.n_buffers = 1;
    if (by_dictionary) { /* the row itself is the code */
        static uint32_t row[ROWS];
        for (uint32_t i = 0; i < ROWS; i++) row[i] = i;
        s->dictionary = cells;
        cells = (dis_cells){.kind = DIS_CELLS_UINT32, .n = ROWS, .values = row, .dictionary = &s->dictionary};
    }
    size_t first = 0;
    for (size_t k = 0; k < PIECES; k++) {
        const size_t end = k + 1 == PIECES ? ROWS : (k + 1) * ROWS / PIECES + shift * (k + 1);
        s->piece[k] = cells;
        s->piece[k].offset = first;
        s->piece[k].n = end - first;
        first = end;
    }
    return (dis_column){s->piece, PIECES};
}

static ids task, worker, label;

static void every_layout_gives_the_table_of_a_file(void **state)
{
    (void)state;
    static const dis_cells_kind kinds[] = {DIS_CELLS_TEXTS, DIS_CELLS_STRING, DIS_CELLS_LARGE_STRING,
                                           DIS_CELLS_STRING_VIEW, DIS_CELLS_INT64};
    static const struct {
        dis__tuning tuning;
        int threads;
    } ways[] = {{{.chunk = 8192, .round = 4}, 1},
                {{.chunk = 1, .round = 3}, 1},
                {{.chunk = 100, .round = 7}, 2},
                {{.chunk = 61, .round = 16}, 3},
                {{.chunk = 1000, .round = 16}, 7}};
    for (int grouped = 0; grouped < 2; grouped++) {
        fill(&task, 600, 1, grouped);
        fill(&worker, 70, 2, false);
        fill(&label, 9, 3, false);
        char path[] = "/tmp/dissent-columns-XXXXXX";
        const int fd = mkstemp(path);
        FILE *f = fdopen(fd, "w");
        assert_non_null(f);
        fputs("task,worker,label\n", f);
        for (size_t i = 0; i < ROWS; i++) fprintf(f, "%s,%s,%s\n", task.text[i], worker.text[i], label.text[i]);
        assert_int_equal(fclose(f), 0);
        const char *paths = path;
        dis_votes_options o = dis_votes_options_default();
        o.duplicates = DIS_DUPLICATES_ALL;
        dis_votes *expected, *votes;
        assert_int_equal(dis_votes_read(NULL, &paths, 1, &o, &expected), DIS_OK);
        unlink(path);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int by_dictionary = 0; by_dictionary < 2; by_dictionary++)
                for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                    const dis_votes_columns c = {sizeof(dis_votes_columns),
                                                 column_of(&task, kinds[k], by_dictionary, 0),
                                                 column_of(&worker, kinds[(k + 1) % 5], false, 7),
                                                 column_of(&label, kinds[(k + 2) % 5], by_dictionary, 31)};
                    dis_context *ctx = context_of(ways[w].threads);
                    assert_int_equal(dis__votes_from_columns(ctx, &c, &o, &ways[w].tuning, &votes), DIS_OK);
                    assert_same_votes(votes, expected);
                    assert_int_equal(dis_votes_get_notes(votes).rows, ROWS);
                    dis_votes_destroy(votes);
                    dis_context_destroy(ctx);
                }
        dis_votes_destroy(expected);
    }
}

static void numbers_of_every_size(void **state)
{
    (void)state;
    static const int8_t i8[] = {-128, 127};
    static const int16_t i16[] = {-32768, 32767};
    static const int32_t i32[] = {INT32_MIN, INT32_MAX};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const uint8_t u8[] = {0, 255};
    static const uint16_t u16[] = {0, 65535};
    static const uint32_t u32[] = {0, UINT32_MAX};
    static const uint64_t u64[] = {0, UINT64_MAX};
    static const float f32[] = {1, .5f};
    static const double f64[] = {-2, 1e300};
    static const uint8_t bits[] = {1};
    static const struct {
        dis_cells_kind kind;
        const void *values;
        const char *names[2];
    } cases[] = {{DIS_CELLS_INT8, i8, {"-128", "127"}},
                 {DIS_CELLS_INT16, i16, {"-32768", "32767"}},
                 {DIS_CELLS_INT32, i32, {"-2147483648", "2147483647"}},
                 {DIS_CELLS_INT64, i64, {"-9223372036854775808", "9223372036854775807"}},
                 {DIS_CELLS_UINT8, u8, {"0", "255"}},
                 {DIS_CELLS_UINT16, u16, {"0", "65535"}},
                 {DIS_CELLS_UINT32, u32, {"0", "4294967295"}},
                 {DIS_CELLS_UINT64, u64, {"0", "18446744073709551615"}},
                 {DIS_CELLS_FLOAT, f32, {"1", "0.5"}},
                 {DIS_CELLS_DOUBLE, f64, {"-2", "1e+300"}},
                 {DIS_CELLS_BOOL, bits, {"true", "false"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dis_cells c = {.kind = cases[i].kind, .n = 2, .values = cases[i].values};
        const dis_votes_columns columns = {sizeof(dis_votes_columns), {&c, 1}, {&c, 1}, {&c, 1}};
        dis_votes *votes;
        assert_int_equal(dis_votes_create_from_columns(NULL, &columns, NULL, &votes), DIS_OK);
        const dis_votes_view v = dis_votes_get_view(votes);
        for (size_t k = 0; k < 2; k++) {
            double x = 0;
            const char *name = dis_names_get(v.tasks, k, NULL);
            if (cases[i].kind == DIS_CELLS_DOUBLE && k == 1) {
                x = strtod(name, NULL);
                assert_true(x >= 1e300 && x <= 1e300);
            } else {
                assert_string_equal(name, cases[i].names[k]);
            }
        }
        dis_votes_destroy(votes);
    }
}

/* Two votes of which the second can be spoiled. */
typedef struct {
    dis_text text[3][2];
    dis_cells cells[3];
    dis_votes_columns columns;
} pair;

static pair two_votes(void)
{
    return (pair){.text = {{{"t1", 2}, {"t2", 2}}, {{"w1", 2}, {"w2", 2}}, {{"a", 1}, {"b", 1}}},
                  .columns = {.size = sizeof(dis_votes_columns)}};
}

static dis_status try_pair(pair *p, const dis_votes_options *o, dis_votes **out)
{
    dis_column *column[] = {&p->columns.task, &p->columns.worker, &p->columns.label};
    for (int c = 0; c < 3; c++) {
        p->cells[c] = (dis_cells){.kind = DIS_CELLS_TEXTS, .n = 2, .values = p->text[c]};
        *column[c] = (dis_column){&p->cells[c], 1};
    }
    return dis_votes_create_from_columns(NULL, &p->columns, o, out);
}

static void odd_rows_are_named(void **state)
{
    (void)state;
    static char long_id[DIS_MAX_ID + 1];
    memset(long_id, 'x', sizeof long_id);
    const struct {
        int column;
        dis_text text;
        const char *message;
    } cases[] = {{0, {"", 0}, "row 1: no task"},
                 {0, {NULL, 0}, "row 1: no task"},
                 {1, {"", 0}, "row 1: no worker"},
                 {2, {"", 0}, "row 1: no label"},
                 {2, {NULL, 0}, "row 1: no label"},
                 {0, {"t\0", 2}, "row 1: the task has a NUL"},
                 {1, {"\xff", 1}, "row 1: the worker is not valid UTF-8"},
                 {2, {"caf\xc3", 4}, "row 1: the label is not valid UTF-8"},
                 {0, {long_id, sizeof long_id}, "row 1: a task of more than"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair p = two_votes();
        dis_votes *votes = NULL;
        p.text[cases[i].column][1] = cases[i].text;
        assert_int_equal(try_pair(&p, NULL, &votes), DIS_EDATA);
        assert_null(votes);
        assert_non_null(strstr(dis_last_error(), cases[i].message));
        dis_votes_options o = dis_votes_options_default();
        o.lenient = true;
        assert_int_equal(try_pair(&p, &o, &votes), DIS_OK);
        assert_int_equal(dis_votes_get_view(votes).n_votes, 1);
        assert_int_equal(dis_votes_get_view(votes).n_items, 1);
        assert_int_equal(dis_votes_get_view(votes).n_workers, 1);
        assert_int_equal(dis_votes_get_notes(votes).bad_rows, 1);
        assert_non_null(strstr(dis_votes_get_skipped_row(votes, 0), cases[i].message));
        dis_votes_destroy(votes);
    }
}

static void rules_are_those_of_files(void **state)
{
    (void)state;
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes;
    const char *nothing = "";
    pair p = two_votes();
    p.text[2][1] = (dis_text){NULL, 0};
    o.na = &nothing;
    o.n_na = 1;
    assert_int_equal(try_pair(&p, &o, &votes), DIS_OK);
    assert_int_equal(dis_votes_get_notes(votes).missing_labels, 1);
    dis_votes_destroy(votes);

    static const char *const classes[] = {"z", "b", "a"};
    o = dis_votes_options_default();
    o.classes = classes;
    o.n_classes = 3;
    p = two_votes();
    assert_int_equal(try_pair(&p, &o, &votes), DIS_OK);
    assert_int_equal(dis_votes_get_view(votes).n_classes, 3);
    assert_string_equal(dis_names_get(dis_votes_get_view(votes).classes, 1, NULL), "b");
    dis_votes_destroy(votes);
    o.n_classes = 1;
    assert_int_equal(try_pair(&p, &o, &votes), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "row 0: the label \"a\" is not among"));

    p.text[0][1] = p.text[0][0];
    p.text[1][1] = p.text[1][0];
    assert_int_equal(try_pair(&p, NULL, &votes), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "row 1: worker \"w1\" has already voted on task \"t1\" (row 0)"));
    o = dis_votes_options_default();
    o.duplicates = DIS_DUPLICATES_LAST;
    assert_int_equal(try_pair(&p, &o, &votes), DIS_OK);
    assert_int_equal(dis_votes_get_view(votes).n_votes, 1);
    dis_votes_destroy(votes);
}

static void damaged_columns(void **state)
{
    (void)state;
    pair p = two_votes();
    dis_votes *votes;
    static const int32_t falling[] = {0, 2, 1};
    static const int8_t codes[] = {0, 5}, below[] = {0, -1};
    static const char view[2][16] = {{13}, {-1, -1, -1, -1}};
    assert_int_equal(try_pair(&p, NULL, &votes), DIS_OK);
    dis_votes_destroy(votes);
    const dis_cells good = p.cells[0];
    const dis_cells bad[] = {{.kind = DIS_CELLS_STRING, .n = 2, .values = falling, .bytes = "abc"},
                             {.kind = DIS_CELLS_INT8, .n = 2, .values = codes, .dictionary = &good},
                             {.kind = DIS_CELLS_INT8, .n = 2, .values = below, .dictionary = &good},
                             {.kind = DIS_CELLS_STRING_VIEW, .n = 2, .values = view},
                             {.kind = DIS_CELLS_STRING_VIEW, .n = 1, .offset = 1, .values = view}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int c = 0; c < 3; c++) {
            dis_column column[3] = {p.columns.task, p.columns.worker, p.columns.label};
            dis_cells one[2] = {{.kind = DIS_CELLS_TEXTS, .n = 1, .values = p.text[c]}, bad[i]};
            column[c] = (dis_column){bad[i].n == 2 ? &bad[i] : one, bad[i].n == 2 ? 1 : 2};
            const dis_votes_columns columns = {sizeof(dis_votes_columns), column[0], column[1], column[2]};
            assert_int_equal(dis_votes_create_from_columns(NULL, &columns, NULL, &votes), DIS_EDATA);
            assert_non_null(strstr(dis_last_error(), "damaged"));
        }
    const dis_cells twice = {.kind = DIS_CELLS_INT8, .n = 2, .values = codes, .dictionary = &bad[1]},
                    odd = {.kind = (dis_cells_kind)99, .n = 2, .values = codes},
                    texts = {.kind = DIS_CELLS_TEXTS, .n = 2, .values = p.text[0], .dictionary = &good},
                    shorter = {.kind = DIS_CELLS_TEXTS, .n = 1, .values = p.text[0]}, none = {.kind = DIS_CELLS_TEXTS};
    const dis_cells *const wrong[] = {&twice, &odd, &texts};
    for (size_t i = 0; i < 3; i++) {
        const dis_votes_columns columns = {sizeof(dis_votes_columns), {wrong[i], 1}, p.columns.worker, p.columns.label};
        assert_int_equal(dis_votes_create_from_columns(NULL, &columns, NULL, &votes), DIS_EUSAGE);
    }
    const dis_votes_columns uneven = {sizeof(dis_votes_columns), p.columns.task, {&shorter, 1}, p.columns.label},
                            empty = {sizeof empty, {&none, 1}, {&none, 1}, {NULL, 0}};
    assert_int_equal(dis_votes_create_from_columns(NULL, &uneven, NULL, &votes), DIS_EDATA);
    assert_int_equal(dis_votes_create_from_columns(NULL, &empty, NULL, &votes), DIS_EDATA);
    dis_votes_options o = dis_votes_options_default();
    o.input = DIS_INPUT_COUNTS;
    assert_int_equal(dis_votes_create_from_columns(NULL, &p.columns, &o, &votes), DIS_EUSAGE);
}

static dis_status call_once(void *arg)
{
    dis_votes *votes = NULL;
    dis_votes_options o = dis_votes_options_default();
    o.duplicates = DIS_DUPLICATES_FIRST;
    o.lenient = true;
    static const dis__tuning tuning = {.chunk = 500, .round = 2};
    const dis_status status = dis__votes_from_columns(NULL, arg, &o, &tuning, &votes);
    assert_true((status == DIS_OK) == (votes != NULL));
    dis_votes_destroy(votes);
    return status;
}

static void every_fault_comes_back(void **state)
{
    (void)state;
    fill(&task, 600, 1, false);
    fill(&worker, 70, 2, false);
    fill(&label, 9, 3, false);
    label.valid[0] = 0xfb; /* one row to be skipped */
    dis_votes_columns c = {sizeof(dis_votes_columns), column_of(&task, DIS_CELLS_STRING, false, 0),
                           column_of(&worker, DIS_CELLS_INT64, false, 7), column_of(&label, DIS_CELLS_TEXTS, true, 31)};
    walk_faults(call_once, NULL, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_gives_the_table_of_a_file),
        cmocka_unit_test(numbers_of_every_size),
        cmocka_unit_test(odd_rows_are_named),
        cmocka_unit_test(rules_are_those_of_files),
        cmocka_unit_test(damaged_columns),
        cmocka_unit_test(every_fault_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
