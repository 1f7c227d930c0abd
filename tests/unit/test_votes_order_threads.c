/* Tasks are numbered in one of three ways, which depends on the order in which they come (ids/numbering.h). Whatever
 * the order, the sizes and the threads: the table is that of a reader that looks up every task. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "core/memory/spill.h"
#include "support/fault_walk.h"
#include "support/sanitized.h"
#include "support/scratch.h"
#include "votes/read/reader.h"
#include "support/votes_support.h"

#define HEAD "task,worker,label\n"

static uint64_t draw(uint64_t seed, uint64_t i, uint64_t below)
{
    return dis__random_below(seed, 0, i, below);
}

/* What the rows of a file look like. */
typedef struct {
    const char *name;
    const char *task; /* how a number is written */
    size_t n_rows, n_tasks;
    size_t votes;    /* rows of a task in a row; 0: rows in any order */
    size_t odd_at;   /* from this row on something else, SIZE_MAX: never */
    const char *odd; /* one row that is odd, then on as before */
    bool restarts;   /* tasks begin anew there */
    bool many_labels;
    bool scrambled; /* tasks come in another order, all rows of one together */
    size_t pad;     /* so many letters at most after a task, some ids having one length and some another */
} shape;

enum { MAX_PAD = 600, MAX_LINE = 32 + MAX_PAD };

static size_t write_rows(const shape *s, uint64_t seed, char *text)
{
    size_t n = (size_t)sprintf(text, HEAD);
    for (size_t i = 0; i < s->n_rows; i++) {
        if (i == s->odd_at && s->odd) n += (size_t)sprintf(text + n, "%s\n", s->odd);
        const size_t row = s->restarts && i >= s->odd_at ? i - s->odd_at + 1 : i;
        uint64_t task = s->votes ? row / s->votes : draw(seed, i, s->n_tasks);
        if (s->scrambled) task = task * 7919 % 10007;
        char id[32], pad[MAX_PAD + 1] = "";
        snprintf(id, sizeof id, s->task, (unsigned)task);
        if (s->pad) memset(pad, 'x', (size_t)draw(5, task, s->pad + 1));
        n += (size_t)sprintf(text + n, "%s%s,w%u,%s%u\n", id, pad, (unsigned)(i % 977), s->many_labels ? "c" : "",
                             (unsigned)(s->many_labels ? i % 300 : draw(seed, i + s->n_rows, 4)));
    }
    return n;
}

static const shape shapes[] = {
    {.name = "by length", .task = "t%u", .n_rows = 3000, .votes = 3, .odd_at = SIZE_MAX},
    {.name = "by bytes", .task = "t%06u", .n_rows = 3000, .votes = 3, .odd_at = SIZE_MAX},
    {.name = "one row per task", .task = "t%u", .n_rows = 3000, .votes = 1, .odd_at = SIZE_MAX},
    {.name = "falls back late", .task = "t%u", .n_rows = 3000, .votes = 3, .odd_at = 2000, .restarts = true},
    {.name = "falls back, one row per task",
     .task = "t%u",
     .n_rows = 3000,
     .votes = 1,
     .odd_at = 2000,
     .restarts = true},
    {.name = "ascends, then a long name",
     .task = "t%u",
     .n_rows = 3000,
     .votes = 3,
     .odd_at = 1500,
     .odd = "a-long-name,w1,0"},
    {.name = "ascends, then quotes",
     .task = "t%u",
     .n_rows = 3000,
     .votes = 3,
     .odd_at = 1500,
     .odd = "t500,\"w,1\",0"},
    {.name = "ascends, then a quoted long name",
     .task = "t%u",
     .n_rows = 3000,
     .votes = 3,
     .odd_at = 1500,
     .odd = "\"t,5000000\",w1,0"},
    {.name = "ascends, then a bad row", .task = "t%u", .n_rows = 3000, .votes = 3, .odd_at = 1500, .odd = "t500,w1"},
    {.name = "no order", .task = "t%u", .n_rows = 4000, .n_tasks = 700, .odd_at = SIZE_MAX},
    {.name = "no order, few tasks", .task = "%u", .n_rows = 4000, .n_tasks = 3, .odd_at = SIZE_MAX},
    {.name = "no order, hardly any task twice", .task = "t%u", .n_rows = 4000, .n_tasks = 9000000, .odd_at = SIZE_MAX},
    {.name = "no order, then a long name",
     .task = "t%u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = 3000,
     .odd = "a-long-name,w1,0"},
    {.name = "no order, then a quoted long name",
     .task = "t%u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = 3999,
     .odd = "\"a-long-name\",w1,0"},
    {.name = "no order, then a bad row", .task = "t%u", .n_rows = 4000, .n_tasks = 700, .odd_at = 3000, .odd = ",w1,0"},
    {.name = "no order, a bad row, then a long name",
     .task = "t%u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = 1000,
     .odd = "x,y\na-long-name,w1,0"},
    {.name = "no order, many labels",
     .task = "t%u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = SIZE_MAX,
     .many_labels = true},
    {.name = "names of 6 to 75 bytes, by bytes",
     .task = "%06u",
     .n_rows = 3000,
     .votes = 3,
     .odd_at = SIZE_MAX,
     .pad = 69},
    {.name = "names of 13 to 16 bytes, by length",
     .task = "a-long-name-%u",
     .n_rows = 3000,
     .votes = 2,
     .odd_at = SIZE_MAX},
    {.name = "names of 1 to 40 bytes in no order",
     .task = "%u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = SIZE_MAX,
     .pad = 37},
    {.name = "names of 9 to 12 letters, digits, - and _ in no order",
     .task = "Zz-_%05u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = SIZE_MAX,
     .pad = 3},
    {.name = "names of 7 to 12 bytes in no order, with a point",
     .task = "t.%05u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = 2000,
     .odd = "t-00001xx,w1,0",
     .pad = 5},
    {.name = "names of 8 to 12 bytes in no order, in UTF-8",
     .task = "\xc3\xa9t%05u",
     .n_rows = 4000,
     .n_tasks = 700,
     .odd_at = SIZE_MAX,
     .pad = 4},
    {.name = "names of 1 to 600 bytes in no order, then quotes",
     .task = "%u",
     .n_rows = 1000,
     .n_tasks = 300,
     .odd_at = 500,
     .odd = "\"a \"\"long\"\" name\",w1,0",
     .pad = MAX_PAD - 3},
    {.name = "names of 1 to 40 bytes, hardly any task twice",
     .task = "%u",
     .n_rows = 4000,
     .n_tasks = 9000000,
     .odd_at = SIZE_MAX,
     .pad = 33},
    {.name = "item by item in no order",
     .task = "%u",
     .n_rows = 4000,
     .votes = 4,
     .odd_at = SIZE_MAX,
     .scrambled = true,
     .pad = 36},
    {.name = "names of 6 to 75 bytes ascend, then fall back",
     .task = "%06u",
     .n_rows = 3000,
     .votes = 2,
     .odd_at = 2000,
     .restarts = true,
     .pad = 69},
    {.name = "long names in no order", .task = "a-long-name-%u", .n_rows = 2000, .n_tasks = 300, .odd_at = SIZE_MAX},
};

typedef struct {
    dis__tuning tuning;
    int threads;
} way;

/* Reads in all ways, as a reader that looks tasks up does; the status. */
static dis_status read_in_all_ways(const char *const *paths, size_t n_paths, const dis_votes_options *o,
                                   const way *ways, size_t n_ways)
{
    static const dis__tuning plain = {.chunk = 1 << 20, .round = 2, .tasks = &dis__tasks_hashed};
    dis_votes *want = NULL;
    char message[2048] = "";
    const dis_status expected = dis__votes_read(NULL, paths, n_paths, o, &plain, &want);
    if (expected != DIS_OK) snprintf(message, sizeof message, "%s", dis_last_error());
    for (size_t i = 0; i < n_ways; i++) {
        dis_context *ctx = context_of(ways[i].threads);
        dis_votes *votes = NULL;
        assert_int_equal(dis__votes_read(ctx, paths, n_paths, o, &ways[i].tuning, &votes), expected);
        if (expected == DIS_OK)
            assert_same_votes(votes, want);
        else
            assert_string_equal(dis_last_error(), message);
        dis_votes_destroy(votes);
        dis_context_destroy(ctx);
    }
    dis_votes_destroy(want);
    return expected;
}

static const way small_ways[] = {{{.chunk = 1 << 20, .round = 1}, 1},
                                 {{.chunk = 5000, .round = 4, .bucket = 10000}, 1},
                                 {{.chunk = 333, .round = 16, .bucket = 700}, 2},
                                 {{.chunk = 700, .round = 3, .bucket = 3000, .in_file = true}, 2},
                                 {{.chunk = 2000, .round = 5, .bucket = 100}, 5}};
enum { SMALL_WAYS = sizeof small_ways / sizeof *small_ways };

static void order_makes_no_difference(void **state)
{
    (void)state;
    char *text = malloc(4100 * MAX_LINE);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int lenient = 0; lenient < 2; lenient++) {
            const char *path = put_file("rows.csv", text, write_rows(&shapes[i], i, text));
            const dis_votes_options o = {.size = sizeof o, .duplicates = DIS_DUPLICATES_ALL, .lenient = lenient};
            const bool bad = shapes[i].odd && strstr(shapes[i].name, "bad");
            assert_int_equal(read_in_all_ways(&path, 1, &o, small_ways, SMALL_WAYS),
                             bad && !lenient ? DIS_EDATA : DIS_OK);
        }
    free(text);
}

/* The second file begins where the first has been; it may be of another format. */
static void several_files(void **state)
{
    (void)state;
    static const char more[] = "{\"task\": \"t1\", \"worker\": \"w\", \"label\": \"1\"}\n"
                               "{\"task\": \"t9000\", \"worker\": \"w\", \"label\": \"1\"}\n"
                               "{\"task\": \"a-long-name\", \"worker\": \"w\", \"label\": \"1\"}\n";
    const dis_votes_options o = {.size = sizeof o, .duplicates = DIS_DUPLICATES_ALL};
    char *text = malloc(4100 * MAX_LINE);
    for (size_t i = 0; i < 10; i += 9) {
        put_file("a.csv", text, write_rows(&shapes[i], 1, text));
        put_file("b.csv", text, write_rows(&shapes[9 - i], 2, text));
        put_file("c.jsonl", more, sizeof more - 1);
        const char *const paths[] = {in_folder("a.csv"), in_folder("b.csv"), in_folder("c.jsonl")};
        for (size_t n = 1; n <= 3; n++)
            assert_int_equal(read_in_all_ways(paths, n, &o, small_ways, SMALL_WAYS), DIS_OK);
    }
    free(text);
}

/* More rows than one base or one range of rows has, more buckets than one, and buckets that outgrow their shares: rows
 * get shorter, and one task has half of them. */
static void large_files_in_no_order(void **state)
{
    (void)state;
    enum { ROWS = SANITIZED ? 150000 : 400000 };
    static const way ways[] = {{{.chunk = 1 << 17, .round = 4, .bucket = 1 << 16}, 1},
                               {{.chunk = 1 << 18, .round = 4, .bucket = 1 << 16, .in_file = true}, 2},
                               {{.chunk = 1 << 23, .round = 2, .bucket = 1 << 18}, 2},
                               {{.chunk = 1 << 16, .round = 32, .bucket = 3000}, 3}};
    char *text = malloc((size_t)ROWS * 32);
    size_t n = (size_t)sprintf(text, HEAD);
    for (size_t i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%u,%s%u,%u\n", i % 2 && i > ROWS / 4 ? 7 : (unsigned)draw(1, i, 90000),
                             i < ROWS / 4 ? "worker" : "", (unsigned)(i % 5000), (unsigned)(i % 3));
    const char *path = put_file("rows.csv", text, n);
    const dis_votes_options o = {.size = sizeof o, .duplicates = DIS_DUPLICATES_FIRST};
    assert_int_equal(read_in_all_ways(&path, 1, &o, ways, sizeof ways / sizeof *ways), DIS_OK);
    free(text);
}

/* With so little memory that a table of all tasks would be too large: tasks that stop ascending are partitioned, and
 * the rows before with them. */
static void much_for_the_memory(void **state)
{
    (void)state;
    static const shape much[] = {
        {.name = "ascend, then fall back",
         .task = "%06u",
         .n_rows = 300000,
         .votes = 2,
         .odd_at = 200000,
         .restarts = true,
         .pad = 5},
        {.name = "no order", .task = "%u", .n_rows = 300000, .n_tasks = 200000, .odd_at = SIZE_MAX, .pad = 15},
    };
    static const dis__tuning plain = {.chunk = 1 << 20, .round = 2, .tasks = &dis__tasks_hashed},
                             small = {.chunk = 1 << 16, .round = 8, .bucket = 1 << 18};
    const dis_votes_options o = {.size = sizeof o, .duplicates = DIS_DUPLICATES_ALL};
    char *text = malloc((size_t)300000 * 48);
    for (size_t i = 0; i < sizeof much / sizeof *much; i++) {
        const char *path = put_file("rows.csv", text, write_rows(&much[i], i, text));
        dis_votes *want = NULL, *votes = NULL;
        assert_int_equal(dis__votes_read(NULL, &path, 1, &o, &plain, &want), DIS_OK);
        for (int threads = 1; threads <= 2; threads++) {
            dis_context *ctx = context_of(threads);
            const uint64_t before = dis__memory_limit();
            dis__memory_set_limit(DIS_SPILL_MIN);
            assert_int_equal(dis__votes_read(ctx, &path, 1, &o, &small, &votes), DIS_OK);
            dis__memory_set_limit(before);
            assert_same_votes(votes, want);
            dis_votes_destroy(votes);
            dis_context_destroy(ctx);
        }
        dis_votes_destroy(want);
    }
    free(text);
}

/* Rows of a text as columns: cut at commas and line ends, after the header. */
typedef struct {
    dis_text cell[3][4100];
    dis_cells piece[3];
    dis_votes_columns columns;
} cut_rows;

static void cut(const char *text, size_t n, cut_rows *out)
{
    size_t rows = 0;
    for (const char *p = text + sizeof HEAD - 1, *end = text + n; p < end; rows++)
        for (size_t c = 0; c < 3; c++) {
            const size_t length = strcspn(p, ",\n");
            out->cell[c][rows] = (dis_text){.bytes = p, .n = length};
            p += length + 1;
        }
    for (size_t c = 0; c < 3; c++)
        out->piece[c] = (dis_cells){.kind = DIS_CELLS_TEXTS, .n = rows, .values = out->cell[c]};
    out->columns =
        (dis_votes_columns){sizeof(dis_votes_columns), {&out->piece[0], 1}, {&out->piece[1], 1}, {&out->piece[2], 1}};
}

static void order_of_columns_makes_no_difference(void **state)
{
    (void)state;
    static const dis__tuning plain = {.chunk = 10000, .round = 2, .tasks = &dis__tasks_hashed};
    static const way ways[] = {{{.chunk = 10000, .round = 1}, 1},
                               {{.chunk = 300, .round = 4, .bucket = 1000}, 1},
                               {{.chunk = 17, .round = 16, .bucket = 70}, 2},
                               {{.chunk = 500, .round = 5, .bucket = 10}, 5}};
    const dis_votes_options o = {.size = sizeof o, .duplicates = DIS_DUPLICATES_ALL};
    char *text = malloc(4100 * MAX_LINE);
    cut_rows *rows = malloc(sizeof *rows);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strpbrk(shapes[i].odd ? shapes[i].odd : "", "\"\n") || strstr(shapes[i].name, "bad")) continue;
        cut(text, write_rows(&shapes[i], i, text), rows);
        for (int flawed = 0; flawed < 2; flawed++) {
            if (flawed) rows->cell[1][rows->piece[1].n - 10].n = 0; /* no worker */
            dis_votes *want = NULL, *votes = NULL;
            const dis_status expected = dis__votes_from_columns(NULL, &rows->columns, &o, &plain, &want);
            assert_int_equal(expected, flawed ? DIS_EDATA : DIS_OK);
            char message[300];
            snprintf(message, sizeof message, "%s", dis_last_error());
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                dis_context *ctx = context_of(ways[w].threads);
                assert_int_equal(dis__votes_from_columns(ctx, &rows->columns, &o, &ways[w].tuning, &votes), expected);
                if (flawed)
                    assert_string_equal(dis_last_error(), message);
                else
                    assert_same_votes(votes, want);
                if (!flawed) dis_votes_destroy(votes);
                dis_context_destroy(ctx);
            }
            dis_votes_destroy(want);
        }
    }
    free(rows);
    free(text);
}

/* Rounds of rows, each given to the collector once, and the numbering of tasks after each. */
enum { ROUNDS = 3, ROUND_ROWS = 6 };
typedef struct {
    const char *task[ROUNDS][ROUND_ROWS];
    const dis__numbering *after[ROUNDS];
} handover;

/* max_partitioned: rows, from the second round on. */
static dis_votes *collect_rounds(dis_context *ctx, const handover *h, const dis__numbering *first,
                                 size_t max_partitioned)
{
    static const char *const workers[] = {"a", "b", "a-long-worker"};
    static const uint16_t class_of[] = {1, 0};
    dis__label_rules rules = {.secret = dis__secret_draw()};
    dis__collector c;
    dis__arena texts[2] = {0};
    dis__batch batch[2] = {0}, *batches[2] = {&batch[0], &batch[1]};
    assert_int_equal(dis__collector_init(&c, &rules.secret, 1000), DIS_OK);
    c.tasks = first;
    c.bucket = 100;
    for (size_t r = 0; r < ROUNDS; r++) {
        const dis__round plan = {2, 100, ROUND_ROWS, DIS_HEADROOM_UNLIMITED, dis_context_n_threads(ctx) == 1};
        assert_int_equal(dis__collector_begin_round(&c, &plan), DIS_OK);
        for (size_t j = 0; j < 2; j++) {
            dis__batch_reset(&batch[j], &rules, &c.labels, c.ids, j, j ? &batch[0] : NULL, &texts[j]);
            batch[j].numbered_later = c.tasks->numbered_later;
            for (size_t i = j * ROUND_ROWS / 2; i < (j + 1) * ROUND_ROWS / 2; i++) {
                const char *const text[] = {h->task[r][i], workers[i % 3], i % 2 ? "no" : "yes"};
                dis__vote_field cell[3];
                for (int k = 0; k < 3; k++) cell[k] = (dis__vote_field){.text = text[k], .n = strlen(text[k])};
                dis__row_problem problem;
                assert_int_equal(dis__batch_row(&batch[j], cell, NULL, NULL, &problem), DIS_OK);
            }
        }
        assert_int_equal(dis__collector_add_round(ctx, &c, batches, 2, 100), DIS_OK);
        c.max_partitioned = max_partitioned;
        if (first == &dis__tasks_sorted) assert_string_equal(c.tasks->name, h->after[r]->name);
    }
    dis_votes *votes = calloc(1, sizeof *votes);
    votes->n_classes = 2;
    assert_int_equal(dis__collector_finish(ctx, &c, class_of, votes), DIS_OK);
    assert_int_equal(votes->n_votes, ROUNDS * ROUND_ROWS);
    for (size_t j = 0; j < 2; j++) {
        dis__batch_free(&batch[j]);
        dis__arena_free(&texts[j]);
    }
    dis__collector_free(&c);
    return votes;
}

static void free_collected(dis_votes *votes)
{
    dis__free(votes->start);
    dis__free(votes->worker);
    dis__free(votes->label8);
    dis_names_destroy(votes->tasks);
    dis_names_destroy(votes->workers);
    free(votes);
}

static void compare_handover(const handover *h, size_t max_partitioned)
{
    for (int threads = 1; threads < 4; threads += 2) {
        dis_context *ctx = context_of(threads);
        dis_votes *votes = collect_rounds(ctx, h, &dis__tasks_sorted, max_partitioned),
                  *want = collect_rounds(ctx, h, &dis__tasks_hashed, 0);
        assert_int_equal(votes->n_items, want->n_items);
        for (size_t t = 0; t < want->n_items; t++)
            assert_string_equal(dis_names_get(votes->tasks, t, NULL), dis_names_get(want->tasks, t, NULL));
        assert_memory_equal(votes->start, want->start, (want->n_items + 1) * sizeof *want->start);
        assert_memory_equal(votes->worker, want->worker, want->n_votes * sizeof *want->worker);
        assert_memory_equal(votes->label8, want->label8, want->n_votes);
        free_collected(votes);
        free_collected(want);
        dis_context_destroy(ctx);
    }
}

/* A numbering takes over what others have collected and the current round: no row is read again. */
static void numberings_switch(void **state)
{
    (void)state;
    static const dis__numbering *const hashed = &dis__tasks_hashed, *const sorted = &dis__tasks_sorted,
                                       *const partitioned = &dis__tasks_partitioned;
    const handover cases[] = {
        {{{"a", "a", "b", "b", "c", "c"}, {"d", "d", "d", "e", "f", "f"}, {"g", "g", "g", "h", "h", "h"}},
         {sorted, sorted, sorted}},
        {{{"a", "a", "b", "b", "c", "c"}, {"d", "d", "a", "a", "f", "b"}, {"g", "a", "g", "h", "f", "h"}},
         {sorted, hashed, hashed}},
        {{{"a", "a", "b", "b", "c", "c"},
          {"d", "long-task-2", "e", "long-task-1", "d", "a"},
          {"a", "c", "e", "z", "y", "x"}},
         {sorted, hashed, hashed}},
        {{{"a", "a", "b", "b", "c", "c"},
          {"long-task-1", "long-task-1", "long-task-1", "long-task-2", "long-task-3", "long-task-of-20-bytes"},
          {"long-task-of-20-bytes", "long-task-of-20-bytes", "m", "m", "n", "n"}},
         {sorted, sorted, sorted}},
        {{{"long-task-1", "long-task-2", "long-task-2", "long-task-3", "long-task-of-20-bytes", "z"},
          {"z-long-task", "z-long-task", "z-long-task-of-more-than-40-bytes-as-some-are", "z-longer", "z-longer", "zz"},
          {"zz", "zz-long-task", "zz-long-task", "zz-long-task-1", "zz-long-task-1", "zz-long-task-2"}},
         {sorted, sorted, sorted}},
        {{{"x", "a", "y", "b", "z", "c"}, {"d", "x", "a", "e", "f", "b"}, {"g", "a", "c", "h", "f", "x"}},
         {partitioned, partitioned, partitioned}},
        {{{"x", "a", "y", "b", "z", "c"},
          {"d", "x", "a", "e", "f", "b"},
          {"z", "long-task-1", "c", "h", "long-task-of-20-bytes", "x"}},
         {partitioned, partitioned, partitioned}},
        {{{"x", "a", "y", "b", "z", "c"},
          {"long-task-1", "x", "a", "a", "f", "q"},
          {"z", "c", "long-task-1", "q", "a", "n"}},
         {partitioned, partitioned, partitioned}},
        {{{"long-task-1", "a", "y", "b", "z", "c"},
          {"c", "c", "c", "c", "f", "q"},
          {"z", "c", "long-task-1", "q", "a", "n"}},
         {partitioned, partitioned, partitioned}},
    };
    const handover too_many = {{{"x", "a", "y", "b", "long-task-1", "c"},
                                {"long-task-1", "x", "a", "a", "f", "q"},
                                {"z", "c", "long-task-1", "q", "a", "long-task-2"}},
                               {partitioned, partitioned, hashed}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) compare_handover(&cases[i], DIS_PARTITION_MAX);
    compare_handover(&too_many, 2 * ROUND_ROWS);
}

typedef struct {
    const char *path;
    const dis_votes_columns *columns; /* NULL: read the file */
    dis__tuning tuning;
} fault_case;

static dis_status read_once(void *arg)
{
    const fault_case *c = arg;
    const dis_votes_options o = {.size = sizeof o, .duplicates = DIS_DUPLICATES_ALL, .lenient = true};
    dis_votes *votes = NULL;
    const dis_status status = c->columns ? dis__votes_from_columns(NULL, c->columns, &o, &c->tuning, &votes)
                                         : dis__votes_read(NULL, &c->path, 1, &o, &c->tuning, &votes);
    assert_true((status == DIS_OK) == (votes != NULL));
    dis_votes_destroy(votes);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    static const char *const files[] = {
        HEAD "t1,a,x\nt2,a,x\nt3,a,x\nt3,b,y\nt4,a,x\nt5,a,y\n",
        HEAD "t3,a,x\nt1,a,x\nt2,a,x\nt3,b,y\nt,bad\nt1,b,x\nt9,a,y\nt8,a,y\nt7,a,y\nt6,a,y\n",
        HEAD "t3,a,x\nt1,a,x\nt2,a,x\nt3,b,y\nt,bad\na-long-name,b,x\nt9,a,y\n",
        HEAD "t1,a,x\nt1,b,x\nt2,a,x\nt2,b,x\nt1,c,x\nt1,d,x\nt3,a,y\n",
        HEAD "t3,a,x\nt1,a,x\nt2,a,x\nt3,b,y\nt1,b,x\nt9,a,y\nt8,a,y\nt7,a,y\n",
        HEAD "t3,a,x\nt1,a,x\nt2,a,x\nt3,b,y\na-long-name,b,x\nt9,a,y\n",
        HEAD "a-long-name,a,x\na-long-name,b,x\na-longer-name,b,x\na-name-of-more-than-20-bytes,a,y\n",
    };
    cut_rows *rows = malloc(sizeof *rows);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fault_case c = {put_text("f.csv", files[i]), NULL, {.chunk = 20, .round = 2, .bucket = 30}};
        walk_faults(read_once, NULL, &c);
        if (strstr(files[i], "bad")) continue;
        c.tuning.in_file = true;
        walk_faults(read_once, NULL, &c);
        cut(files[i], strlen(files[i]), rows);
        c = (fault_case){NULL, &rows->columns, {.chunk = 2, .round = 2, .bucket = 3}};
        walk_faults(read_once, NULL, &c);
    }
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_makes_no_difference), cmocka_unit_test(several_files),
        cmocka_unit_test(large_files_in_no_order),   cmocka_unit_test(order_of_columns_makes_no_difference),
        cmocka_unit_test(much_for_the_memory),       cmocka_unit_test(numberings_switch),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
