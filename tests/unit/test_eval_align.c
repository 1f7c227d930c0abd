/* Labels of several files are matched by name; what does not match is named, or counted when asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "tool/table_columns.h"
#include "support/fault_walk.h"

typedef struct {
    dis_names *tasks, *classes;
    dis_alignment_source source;
} table;

static table make(const char *name, const char *const *tasks, size_t n, const char *const *classes, size_t k,
                  const double *p)
{
    table t;
    assert_int_equal(dis_names_create(tasks, n, &t.tasks), DIS_OK);
    assert_int_equal(dis_names_create(classes, k, &t.classes), DIS_OK);
    t.source = (dis_alignment_source){name,
                                      {.size = sizeof(dis_labels_view),
                                       .n_items = n,
                                       .n_classes = k,
                                       .p = p,
                                       .tasks = t.tasks,
                                       .classes = t.classes}};
    return t;
}

static void unmake(table *t)
{
    dis_names_destroy(t->tasks);
    dis_names_destroy(t->classes);
}

static char gold_path[64];

static dis_gold *gold_of(const char *text)
{
    snprintf(gold_path, sizeof gold_path, "/tmp/test_eval_align_%ld.csv", (long)getpid());
    FILE *f = fopen(gold_path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    dis_gold *gold = NULL;
    const dis_status status = dis_gold_read(NULL, gold_path, NULL, &gold);
    unlink(gold_path);
    return status == DIS_OK ? gold : NULL;
}

static const char *const abc[] = {"a", "b", "c"}, *const cab[] = {"c", "a", "b"}, *const yes_no[] = {"yes", "no"},
                         *const no_yes[] = {"no", "yes"};
static const double p_abc[] = {.1, .9, .2, .8, .3, .7}, p_cab[] = {.6, .4, .8, .2, .7, .3};

static void rows_and_columns_follow_the_first(void **state)
{
    (void)state;
    table a = make("a.csv", abc, 3, yes_no, 2, p_abc), b = make("b.csv", cab, 3, no_yes, 2, p_cab);
    const dis_alignment_source sources[] = {a.source, b.source};
    dis_gold *gold = gold_of("task,label\nc,no\na,yes\nb,no\n");
    assert_non_null(gold);
    dis_alignment_options o = dis_alignment_options_default();
    o.gold = gold;
    dis_alignment *aligned;
    assert_int_equal(dis_alignment_run(NULL, sources, 2, &o, &aligned), DIS_OK);
    const dis_alignment_view v = dis_alignment_get_view(aligned);
    assert_int_equal(v.n_items, 3);
    assert_int_equal(v.n_classes, 2);
    assert_ptr_equal(v.p[0], p_abc); /* in order already: not copied */
    static const double expected[] = {.2, .8, .3, .7, .4, .6};
    assert_memory_equal(v.p[1], expected, sizeof expected);
    static const int32_t labels[] = {0, 1, 1};
    assert_memory_equal(v.gold, labels, sizeof labels);
    assert_int_equal(v.n_items_without_gold + v.n_gold_dropped + v.notes[0].n_items_dropped +
                         v.notes[1].n_items_dropped,
                     0);
    dis_alignment_destroy(aligned);
    dis_gold_destroy(gold);
    unmake(&a);
    unmake(&b);
}

static void expect_message(const dis_alignment_source *sources, size_t n, dis_gold *gold, const char *part)
{
    dis_alignment_options o = dis_alignment_options_default();
    o.gold = gold;
    dis_alignment *aligned = NULL;
    assert_int_equal(dis_alignment_run(NULL, sources, n, &o, &aligned), DIS_EDATA);
    assert_null(aligned);
    assert_non_null(strstr(dis_last_error(), part));
    dis_gold_destroy(gold);
}

static void what_does_not_match_is_named(void **state)
{
    (void)state;
    static const char *const abd[] = {"a", "b", "d"}, *const maybe[] = {"yes", "maybe"},
                             *const three[] = {"yes", "no", "x"};
    static const double p3[] = {.1, .9, 0, .2, .8, 0, .3, .7, 0};
    table a = make("a.csv", abc, 3, yes_no, 2, p_abc), fewer = make("few.csv", abc, 2, yes_no, 2, p_abc),
          other = make("other.csv", abd, 3, yes_no, 2, p_abc), class = make("class.csv", abc, 3, maybe, 2, p_abc),
          more = make("more.csv", abc, 3, three, 3, p3);
    expect_message((dis_alignment_source[]){a.source, fewer.source}, 2, NULL,
                   "few.csv: no item \"c\", which a.csv has");
    expect_message((dis_alignment_source[]){fewer.source, a.source}, 2, NULL,
                   "a.csv: an item \"c\", which few.csv does not");
    expect_message((dis_alignment_source[]){a.source, other.source}, 2, NULL, "other.csv: no item \"c\"");
    expect_message((dis_alignment_source[]){a.source, class.source}, 2, NULL, "class.csv: the class \"maybe\"");
    expect_message((dis_alignment_source[]){a.source, more.source}, 2, NULL, "more.csv: the class \"x\"");
    expect_message((dis_alignment_source[]){more.source, a.source}, 2, NULL,
                   "a.csv: no class \"x\", which more.csv has");
    expect_message(&a.source, 1, gold_of("task,gold\na,yes\nb,no\n"), "no item \"c\", which a.csv has");
    expect_message(&a.source, 1, gold_of("task,gold\na,yes\nb,no\nc,no\nd,no\n"), "an item \"d\"");
    expect_message(&a.source, 1, gold_of("task,gold\na,yes\nb,no\nc,what\n"),
                   "row 3: the gold label \"what\" of task \"c\"");
    dis_alignment *aligned;
    assert_int_equal(dis_alignment_run(NULL, NULL, 0, NULL, &aligned), DIS_EUSAGE);
    unmake(&a);
    unmake(&fewer);
    unmake(&other);
    unmake(&class);
    unmake(&more);
}

static void lenient_counts_instead(void **state)
{
    (void)state;
    static const char *const cdb[] = {"c", "d", "b"}, *const classes[] = {"10", "9"}, *const others[] = {"9", "2"};
    table a = make("a.csv", abc, 3, classes, 2, p_abc), b = make("b.csv", cdb, 3, others, 2, p_cab);
    const dis_alignment_source sources[] = {a.source, b.source};
    dis_gold *gold = gold_of("task,label\nc,9\nz,11\n");
    dis_alignment_options o = dis_alignment_options_default();
    o.gold = gold;
    o.lenient = true;
    dis_alignment *aligned;
    assert_int_equal(dis_alignment_run(NULL, sources, 2, &o, &aligned), DIS_OK);
    const dis_alignment_view v = dis_alignment_get_view(aligned);
    assert_int_equal(v.n_items, 2); /* b and c */
    assert_string_equal(dis_names_get(v.tasks, 0, NULL), "b");
    assert_string_equal(dis_names_get(v.tasks, 1, NULL), "c");
    assert_int_equal(v.n_classes, 4); /* 2 9 10 11, by value */
    static const char *const order[] = {"2", "9", "10", "11"};
    for (size_t k = 0; k < 4; k++) assert_string_equal(dis_names_get(v.classes, k, NULL), order[k]);
    static const double p0[] = {0, .8, .2, 0, 0, .7, .3, 0}, p1[] = {.3, .7, 0, 0, .4, .6, 0, 0};
    assert_memory_equal(v.p[0], p0, sizeof p0);
    assert_memory_equal(v.p[1], p1, sizeof p1);
    assert_int_equal(v.gold[0], -1);
    assert_int_equal(v.gold[1], 1);
    assert_int_equal(v.n_items_without_gold, 1);
    assert_int_equal(v.n_gold_dropped, 1);
    for (size_t s = 0; s < 2; s++) {
        assert_int_equal(v.notes[s].n_items_dropped, 1);
        assert_int_equal(v.notes[s].n_classes_added, 2);
    }
    dis_alignment_destroy(aligned);
    dis_gold_destroy(gold);
    unmake(&a);
    unmake(&b);

    static const char *const xyz[] = {"x", "y", "z"};
    table c = make("c.csv", xyz, 3, yes_no, 2, p_abc), d = make("d.csv", abc, 3, yes_no, 2, p_abc);
    o.gold = NULL;
    assert_int_equal(dis_alignment_run(NULL, (dis_alignment_source[]){c.source, d.source}, 2, &o, &aligned), DIS_EDATA);
    unmake(&c);
    unmake(&d);
}

static void declared_classes_lead(void **state)
{
    (void)state;
    static const char *const wanted[] = {"no", "yes", "maybe"}, *const too_few[] = {"no"},
                             *const twice[] = {"no", "no"};
    dis_names *declared;
    table a = make("a.csv", abc, 3, yes_no, 2, p_abc), b = make("b.csv", cab, 3, no_yes, 2, p_cab);
    const dis_alignment_source sources[] = {a.source, b.source};
    dis_alignment_options o = dis_alignment_options_default();
    dis_alignment *aligned;
    assert_int_equal(dis_names_create(wanted, 3, &declared), DIS_OK);
    o.classes = declared;
    assert_int_equal(dis_alignment_run(NULL, sources, 2, &o, &aligned), DIS_OK);
    const dis_alignment_view v = dis_alignment_get_view(aligned);
    assert_int_equal(v.n_classes, 3);
    assert_string_equal(dis_names_get(v.classes, 2, NULL), "maybe");
    static const double p0[] = {.9, .1, 0, .8, .2, 0, .7, .3, 0}, p1[] = {.8, .2, 0, .7, .3, 0, .6, .4, 0};
    assert_memory_equal(v.p[0], p0, sizeof p0);
    assert_memory_equal(v.p[1], p1, sizeof p1);
    assert_int_equal(v.notes[0].n_classes_added, 1);
    dis_alignment_destroy(aligned);
    dis_names_destroy(declared);
    assert_int_equal(dis_names_create(too_few, 1, &declared), DIS_OK);
    o.classes = declared;
    o.lenient = true;
    assert_int_equal(dis_alignment_run(NULL, sources, 2, &o, &aligned), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "\"yes\""));
    dis_names_destroy(declared);
    assert_int_equal(dis_names_create(twice, 2, &declared), DIS_OK);
    o.classes = declared;
    assert_int_equal(dis_alignment_run(NULL, sources, 2, &o, &aligned), DIS_EUSAGE);
    dis_names_destroy(declared);
    unmake(&a);
    unmake(&b);
}

static void bad_gold_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"task,label\na,yes\na,no\n", "task,label\na,\n", "task,what\na,yes\n", "",
                                      "task,label\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_null(gold_of(bad[i]));
    dis_gold *gold = gold_of("task,label\na,yes\na,yes\nb,a very long label of more than sixteen bytes\n"
                             "per task with a long name as well,a very long label of more than sixteen bytes\n");
    assert_non_null(gold);
    const dis_gold_view v = dis_gold_get_view(gold);
    assert_int_equal(v.n_items, 3);
    assert_int_equal(dis_names_count(v.classes), 2);
    assert_int_equal(v.label[2], 1);
    dis_gold_destroy(gold);
}

static void groups_are_found_by_task(void **state)
{
    (void)state;
    snprintf(gold_path, sizeof gold_path, "/tmp/test_eval_align_%ld.csv", (long)getpid());
    FILE *f = fopen(gold_path, "w");
    assert_non_null(f);
    fputs("task,sentence\nz,s9\nb,s1\na,s9\nc,s1\n", f);
    fclose(f);
    dis_names *tasks;
    uint32_t group[3] = {7, 7, 7};
    size_t n = 7;
    assert_int_equal(dis_names_create(abc, 3, &tasks), DIS_OK);
    assert_int_equal(dis__item_groups_read(NULL, gold_path, tasks, group, &n), DIS_OK);
    assert_int_equal(n, 2);
    assert_true(group[0] == 0 && group[1] == 1 && group[2] == 1);
    dis_names_destroy(tasks);
    static const char *const other[] = {"a", "y"};
    assert_int_equal(dis_names_create(other, 2, &tasks), DIS_OK);
    assert_int_equal(dis__item_groups_read(NULL, gold_path, tasks, group, &n), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "no group for the item \"y\""));
    assert_true(n == 2 && group[1] == 1);
    dis_names_destroy(tasks);
    unlink(gold_path);
}

static dis_status lenient_run(void *arg)
{
    const dis_alignment_source *sources = arg;
    dis_gold *gold;
    dis_status status = dis_gold_read(NULL, gold_path, NULL, &gold);
    if (status != DIS_OK) return status;
    dis_alignment_options o = dis_alignment_options_default();
    o.lenient = true;
    o.gold = gold;
    dis_alignment *aligned;
    status = dis_alignment_run(NULL, sources, 2, &o, &aligned);
    if (status == DIS_OK) dis_alignment_destroy(aligned);
    dis_gold_destroy(gold);
    return status;
}

static void every_fault_is_reported(void **state)
{
    (void)state;
    static const char *const cdb[] = {"c", "d", "b"}, *const others[] = {"no", "other"};
    table a = make("a.csv", abc, 3, yes_no, 2, p_abc), b = make("b.csv", cdb, 3, others, 2, p_cab);
    const dis_alignment_source sources[] = {a.source, b.source};
    snprintf(gold_path, sizeof gold_path, "/tmp/test_eval_align_%ld.csv", (long)getpid());
    FILE *f = fopen(gold_path, "w");
    assert_non_null(f);
    fputs("task,label\nb,yes\na task with a long name,a label with a long name\n", f);
    fclose(f);
    walk_faults(lenient_run, NULL, (void *)sources);
    unlink(gold_path);
    unmake(&a);
    unmake(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_columns_follow_the_first),
        cmocka_unit_test(what_does_not_match_is_named),
        cmocka_unit_test(lenient_counts_instead),
        cmocka_unit_test(declared_classes_lead),
        cmocka_unit_test(bad_gold_is_refused),
        cmocka_unit_test(groups_are_found_by_task),
        cmocka_unit_test(every_fault_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
