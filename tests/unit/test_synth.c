/* Crowds: as many votes as asked for, no one twice on an item, the shares that the options name, the same bytes for any
 * number of threads, and nothing half-written under faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "dissent/synth.h"
#include "support/fault_walk.h"
#include "support/scratch.h"

static char votes_path[96], gold_path[96], other_path[96];

static int name_files(void **state)
{
    if (make_folder(state)) return -1;
    snprintf(votes_path, sizeof votes_path, "%s/votes.csv", folder);
    snprintf(gold_path, sizeof gold_path, "%s/gold.csv", folder);
    snprintf(other_path, sizeof other_path, "%s/other.csv", folder);
    return 0;
}

typedef struct {
    unsigned task, worker, label;
} vote;

/* The rows of votes_path as (n_items * votes_per_item) votes, each seen once, and the truth. */
static vote *read_votes(const dis_synth_options *o, unsigned *truth)
{
    const size_t n = o->n_items * o->votes_per_item;
    vote *votes = calloc(n, sizeof *votes);
    char *seen = calloc(o->n_items * o->n_workers, 1);
    assert_non_null(votes);
    assert_non_null(seen);
    size_t bytes;
    char *text = contents(votes_path, &bytes), *s = text;
    assert_int_equal(strncmp(s, "task,worker,label\n", 18), 0);
    s += 18;
    for (size_t v = 0; v < n; v++) {
        int used = 0;
        assert_int_equal(sscanf(s, "t%u,w%u,%u\n%n", &votes[v].task, &votes[v].worker, &votes[v].label, &used), 3);
        s += used;
        assert_true(votes[v].task < o->n_items && votes[v].worker < o->n_workers && votes[v].label < o->n_classes);
        char *cell = &seen[votes[v].task * o->n_workers + votes[v].worker];
        assert_int_equal(*cell, 0);
        *cell = 1;
    }
    assert_int_equal(*s, 0);
    free(text);
    free(seen);
    text = contents(gold_path, &bytes);
    s = text + strlen("task,label\n");
    for (size_t i = 0; i < o->n_items; i++) {
        unsigned task;
        int used = 0;
        assert_int_equal(sscanf(s, "t%u,%u\n%n", &task, &truth[i], &used), 2);
        assert_int_equal(task, i);
        s += used;
    }
    assert_int_equal(*s, 0);
    free(text);
    return votes;
}

static double share_right(const vote *votes, size_t n, const unsigned *truth)
{
    double right = 0;
    for (size_t v = 0; v < n; v++) right += votes[v].label == truth[votes[v].task];
    return right / (double)n;
}

static void shares_are_as_requested(void **state)
{
    (void)state;
    static unsigned truth[4000];
    const struct {
        const char *model;
        double right;
    } cases[] = {{"one-coin", .7}, {"dawid-skene", .7}, {"spammer", .8 * .7 + .2 * .25}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        dis_synth_options o = dis_synth_options_default();
        o.model = cases[c].model;
        o.n_items = 4000;
        o.n_workers = 1000;
        o.spread = .1;
        o.seed = 3;
        assert_int_equal(dis_synth_write(NULL, &o, votes_path, gold_path), DIS_OK);
        vote *votes = read_votes(&o, truth);
        /* 20,000 votes by 1,000 workers: standard error .0046 */
        assert_float_equal(share_right(votes, 20000, truth), cases[c].right, .015);
        double of_class[4] = {0};
        for (size_t i = 0; i < 4000; i++) of_class[truth[i]]++;
        for (size_t k = 0; k < 4; k++) assert_float_equal(of_class[k], 1000, 120);
        free(votes);
    }
}

static void difficult_items_are_got_wrong(void **state)
{
    (void)state;
    static unsigned truth[2000];
    dis_synth_options o = dis_synth_options_default();
    o.model = "difficulty";
    o.n_items = 2000;
    o.votes_per_item = 20;
    o.n_classes = 2;
    assert_int_equal(dis_synth_write(NULL, &o, votes_path, gold_path), DIS_OK);
    vote *votes = read_votes(&o, truth);
    double spread = 0, mean = 0;
    for (size_t i = 0; i < 2000; i++) {
        const double right = share_right(votes + 20 * i, 20, truth);
        mean += right / 2000;
        spread += right * right / 2000;
    }
    /* Under one accuracy for all items the variance would be p (1 - p) / 20. */
    assert_true(spread - mean * mean > 1.3 * mean * (1 - mean) / 20);
    free(votes);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text, sorted; the text is cut up. */
static char **sorted_lines(char *text, size_t n)
{
    char **lines = malloc(n * sizeof *lines);
    assert_non_null(lines);
    for (size_t i = 0; i < n; i++) {
        lines[i] = text;
        text = strchr(text, '\n');
        *text++ = 0;
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    return lines;
}

static void shuffling_changes_the_order_alone(void **state)
{
    (void)state;
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 701;
    assert_int_equal(dis_synth_write(NULL, &o, votes_path, NULL), DIS_OK);
    o.shuffle = true;
    assert_int_equal(dis_synth_write(NULL, &o, other_path, NULL), DIS_OK);
    size_t n, m;
    char *a = contents(votes_path, &n), *b = contents(other_path, &m);
    assert_int_equal(n, m);
    assert_memory_not_equal(a, b, n);
    const size_t rows = 701 * 5 + 1;
    char **x = sorted_lines(a, rows), **y = sorted_lines(b, rows);
    for (size_t i = 0; i < rows; i++) assert_string_equal(x[i], y[i]);
    free(x);
    free(y);
    free(a);
    free(b);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 60000; /* more than one round of jobs */
    o.shuffle = true;
    assert_int_equal(dis_synth_write(NULL, &o, votes_path, NULL), DIS_OK);
    size_t n, m;
    char *one = contents(votes_path, &n);
    for (int threads = 2; threads <= 7; threads += 5) {
        dis_context_options c = dis_context_options_default();
        c.threads = threads;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&c, &ctx), DIS_OK);
        assert_int_equal(dis_synth_write(ctx, &o, other_path, NULL), DIS_OK);
        dis_context_destroy(ctx);
        char *many = contents(other_path, &m);
        assert_int_equal(n, m);
        assert_memory_equal(one, many, n);
        free(many);
    }
    free(one);
}

/* The promise is over machines and versions: these bytes must not change. */
static void bytes_are_fixed(void **state)
{
    (void)state;
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 2;
    o.votes_per_item = 3;
    o.text = other_path;
    assert_int_equal(dis_synth_write(NULL, &o, votes_path, gold_path), DIS_OK);
    size_t n;
    char *text = contents(votes_path, &n);
    assert_string_equal(text, "task,worker,label\nt0,w6,3\nt0,w32,1\nt0,w4,3\nt1,w18,1\nt1,w11,1\nt1,w38,0\n");
    free(text);
    text = contents(gold_path, &n);
    assert_string_equal(text, "task,label\nt0,3\nt1,1\n");
    free(text);
    text = contents(other_path, &n);
    assert_string_equal(text, "task,text\nt0,nana zada tuma refa reka gana zoma goma zoga doda gofa tima nifa loda "
                              "geda\nt1,gifa zaka lofa laga lafa zaka zoga luga dela gega rola\n");
    free(text);
}

static void features_are_an_npy_file(void **state)
{
    (void)state;
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 5;
    o.n_features = 3;
    o.features = other_path;
    assert_int_equal(dis_synth_write(NULL, &o, votes_path, NULL), DIS_OK);
    size_t n;
    char *bytes = contents(other_path, &n);
    assert_int_equal(n, 128 + 5 * 3 * 4);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_non_null(strstr(bytes + 10, "'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }"));
    assert_int_equal(bytes[127], '\n');
    free(bytes);
}

static void extremes_work(void **state)
{
    (void)state;
    static unsigned truth[100000];
    const struct {
        uint64_t items, workers, classes, votes;
    } cases[] = {{1, 1, 1, 1}, {1, 3000, 2, 3000}, {100, 7, 65535, 7}, {3, 2, 1, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t m = 0; dis_synth_model_get(m); m++) {
            dis_synth_options o = dis_synth_options_default();
            o.model = dis_synth_model_get(m)->name;
            o.n_items = cases[c].items;
            o.n_workers = cases[c].workers;
            o.n_classes = cases[c].classes;
            o.votes_per_item = cases[c].votes;
            o.seed = UINT64_MAX;
            o.shuffle = m % 2;
            assert_int_equal(dis_synth_write(NULL, &o, votes_path, gold_path), DIS_OK);
            free(read_votes(&o, truth));
        }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const dis_synth_options fine = dis_synth_options_default();
    dis_synth_options o[17];
    for (size_t i = 0; i < 17; i++) o[i] = fine;
    o[0].model = "coin";
    o[1].n_items = 0;
    o[2].n_workers = 0;
    o[3].n_classes = 65536;
    o[4].votes_per_item = 51;
    o[5].accuracy = 1.5;
    o[6].spread = NAN;
    o[7].spammers = -1;
    o[8].features = other_path;
    o[8].n_features = 0;
    o[9].text = "-";
    o[10].theme = "sports";
    o[11].theme = "reviews";
    o[11].n_classes = 5;
    o[12].to = "doccano";
    o[13].to = "mturk";
    o[13].shuffle = true;
    o[14].to = "label-studio";
    o[14].n_judges = 1;
    o[15].n_judges = 65;
    o[16].human_items = 999;
    unlink(votes_path);
    for (size_t i = 0; i < 17; i++) {
        assert_int_equal(dis_synth_write(NULL, &o[i], i == 9 ? "-" : votes_path, NULL), DIS_EUSAGE);
        assert_true(strlen(dis_last_error()) > 20);
    }
    struct stat st;
    assert_int_not_equal(stat(votes_path, &st), 0);
}

static dis_status write_all(void *options)
{
    return dis_synth_write(NULL, options, votes_path, gold_path);
}

static void nothing_left(void *arg)
{
    (void)arg;
    char command[160];
    snprintf(command, sizeof command, "test -z \"$(find '%s' -name '*.tmp')\"", folder);
    assert_int_equal(system(command), 0);
}

static void faults_leave_nothing_behind(void **state)
{
    (void)state;
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 50;
    o.text = other_path;
    walk_faults(write_all, nothing_left, &o);
    o.theme = "tickets";
    o.n_items = 10;
    for (int format = 0; format < 2; format++) {
        o.to = format ? "mturk" : "label-studio";
        walk_faults(write_all, nothing_left, &o);
    }
}

/* People vote on the first items, judges on all; labels are the theme's; people's votes are those without judges. */
static void judges_come_after_people(void **state)
{
    (void)state;
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 40;
    o.theme = "reviews";
    o.n_classes = 3;
    o.model = "ambiguous";
    assert_int_equal(dis_synth_write(NULL, &o, other_path, NULL), DIS_OK);
    o.n_judges = 4;
    o.human_items = 30;
    assert_int_equal(dis_synth_write(NULL, &o, votes_path, gold_path), DIS_OK);
    size_t n, m;
    char *both = contents(votes_path, &n), *people = contents(other_path, &m), *line = both;
    size_t by_people = 0, by_judges = 0, right = 0, random_right = 0;
    char *gold = contents(gold_path, &m);
    for (line = strchr(both, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        unsigned task, worker;
        char label[16], kind[8], row[64];
        if (sscanf(line, "t%u,w%u,%15[a-z],%7[a-z]", &task, &worker, label, kind) == 4) {
            assert_string_equal(kind, "human");
            assert_true(task < 30);
            snprintf(row, sizeof row, "\nt%u,w%u,%s\n", task, worker, label);
            assert_non_null(strstr(people, row));
            by_people++;
            continue;
        }
        assert_int_equal(sscanf(line, "t%u,judge%u,%15[a-z],%7[a-z]", &task, &worker, label, kind), 4);
        assert_string_equal(kind, "llm");
        assert_true(worker >= 1 && worker <= 4);
        assert_true(!strcmp(label, "negative") || !strcmp(label, "neutral") || !strcmp(label, "positive"));
        snprintf(row, sizeof row, "\nt%u,%s\n", task, label);
        if (worker == 1) right += strstr(gold, row) != NULL;
        if (worker == 4) random_right += strstr(gold, row) != NULL;
        by_judges++;
    }
    assert_int_equal(by_people, 150);
    assert_int_equal(by_judges, 160);
    assert_in_range(right, 25, 38);       /* .9 (1 - .19) + .1 * .19 / 2 = .74 of 40, standard error 2.8 */
    assert_in_range(random_right, 5, 22); /* a third of 40, standard error 3 */
    free(both);
    free(people);
    free(gold);
}

/* Texts of a theme: ASCII that needs no escape in CSV and JSON, sentences of the true class, no item twice the same. */
static void texts_of_themes_tell_the_class(void **state)
{
    (void)state;
    const struct {
        const char *theme, *label, *word;
        uint64_t n_classes;
    } cases[] = {{"tickets", "payment", "invoice", 6}, {"reviews", "positive", "love", 3}};
    for (size_t c = 0; c < 2; c++) {
        dis_synth_options o = dis_synth_options_default();
        o.theme = cases[c].theme;
        o.n_classes = cases[c].n_classes;
        o.n_items = 600;
        o.text = other_path;
        assert_int_equal(dis_synth_write(NULL, &o, votes_path, gold_path), DIS_OK);
        size_t n;
        char *texts = contents(other_path, &n), *gold = contents(gold_path, &n), *line = strchr(texts, '\n') + 1;
        unsigned with_word = 0;
        for (unsigned i = 0; i < 600; i++) {
            char row[64], *end = strchr(line, '\n'), *first = strchr(line, '"') + 1;
            *end = 0;
            assert_true(end - first >= 15 && end[-1] == '"');
            for (const char *s = first; s < end - 1; s++)
                assert_true(*s >= ' ' && *s < 127 && *s != '"' && *s != '\\' && *s != '{');
            snprintf(row, sizeof row, "\nt%u,%s\n", i, cases[c].label);
            if (strstr(first, cases[c].word)) {
                with_word++;
                assert_non_null(strstr(gold, row));
            }
            line = end + 1;
        }
        assert_true(with_word > 10);
        free(texts);
        free(gold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_as_requested),
        cmocka_unit_test(difficult_items_are_got_wrong),
        cmocka_unit_test(shuffling_changes_the_order_alone),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(bytes_are_fixed),
        cmocka_unit_test(features_are_an_npy_file),
        cmocka_unit_test(extremes_work),
        cmocka_unit_test(judges_come_after_people),
        cmocka_unit_test(texts_of_themes_tell_the_class),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(faults_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, name_files, remove_folder);
}
