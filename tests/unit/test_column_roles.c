/* Names of columns, folded labels, notes of a table, and gold files under other names. */
#include "dissent/align.h"
#include "tool/table_columns.h"
#include "dissent/votes.h"
#include "votes/table/class_names.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t find(dis_role role, const char *const *names, size_t n, size_t found[2])
{
    dis_column_name list[8];
    for (size_t i = 0; i < n; i++) list[i] = (dis_column_name){names[i], strlen(names[i])};
    return dis_role_find(role, list, n, found);
}

static void assert_column(dis_role role, const char *const *names, size_t n, size_t expected)
{
    size_t found[2];
    assert_int_equal(find(role, names, n, found), 1);
    assert_int_equal(found[0], expected);
}

static void names_are_compared_without_case_and_separators(void **state)
{
    (void)state;
    static const char *const spelled[] = {"item_id", "Item ID", "ITEM-ID", "itemId", "item.id", "Itemid"};
    for (size_t i = 0; i < 6; i++) assert_column(DIS_ROLE_TASK, &spelled[i], 1, 0);
    size_t found[2];
    static const char *const others[] = {"items", "it", ""};
    assert_int_equal(find(DIS_ROLE_TASK, others, 3, found), 0);
}

static void the_best_rank_decides(void **state)
{
    (void)state;
    assert_column(DIS_ROLE_TASK, (const char *const[]){"item_id", "task", "id"}, 3, 1);
    assert_column(DIS_ROLE_TASK, (const char *const[]){"id", "item_id"}, 2, 1);
    assert_column(DIS_ROLE_TASK, (const char *const[]){"question", "question_id"}, 2, 1);
    assert_column(DIS_ROLE_TASK, (const char *const[]){"question_id", "question"}, 2, 0);
    assert_column(DIS_ROLE_WORKER, (const char *const[]){"user", "annotator"}, 2, 1);
    assert_column(DIS_ROLE_WORKER, (const char *const[]){"annotator", "performer"}, 2, 1);
    assert_column(DIS_ROLE_LABEL, (const char *const[]){"value", "Label", "answer"}, 3, 1);
    assert_column(DIS_ROLE_GOLD, (const char *const[]){"answer", "truth"}, 2, 1);
}

static void two_names_of_one_rank_are_ambiguous(void **state)
{
    (void)state;
    size_t found[2];
    assert_int_equal(find(DIS_ROLE_LABEL, (const char *const[]){"x", "category", "rating"}, 3, found), 2);
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 2);
}

/* No name stands for two roles of a vote, or the columns of a table could be mixed up. */
static void a_name_has_one_role(void **state)
{
    (void)state;
    dis_synonym s;
    for (int role = 0; role < DIS_ROLE_GOLD; role++)
        for (size_t i = 0; dis__role_synonym((dis_role)role, i, &s); i++) {
            const dis_column_name name = {s.text, s.n};
            size_t found[2];
            for (int other = 0; other < DIS_ROLE_GOLD; other++)
                assert_int_equal(dis_role_find((dis_role)other, &name, 1, found), other == role);
        }
}

static void assert_folded(const char *text, bool fold_case, bool trim, const char *expected)
{
    char out[64];
    const size_t n = dis__label_fold(text, strlen(text), fold_case, trim, out);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(out, expected, n);
}

static void labels_fold(void **state)
{
    (void)state;
    assert_folded("Yes", true, false, "yes");
    assert_folded(" Yes\t", false, true, "Yes");
    assert_folded("\xc2\xa0 \xc3\x84RGER \xe3\x80\x80", true, true, "\xc3\xa4rger"); /* no-break and wide spaces */
    assert_folded("\xd0\x94\xd0\x90", true, false, "\xd0\xb4\xd0\xb0");              /* Cyrillic */
    assert_folded("\xc3\x97\xc3\x9f\xe6\xa0\x87", true, true, "\xc3\x97\xc3\x9f\xe6\xa0\x87"); /* nothing to do */
    assert_folded("  ", true, true, "");
}

/* ---- files ---- */

static char folder[] = "/tmp/dissent-column-roles-XXXXXX";
static char path[2][64];

static void write_file(int which, const char *text)
{
    snprintf(path[which], sizeof path[which], "%s/%d.csv", folder, which);
    FILE *f = fopen(path[which], "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static dis_status read_votes(const dis_votes_options *o, dis_votes **votes)
{
    const char *file = path[0];
    return dis_votes_read(NULL, &file, 1, o, votes);
}

static void write_unique(size_t n)
{
    char text[4096] = "task,worker,label\n";
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "t%zu,w%zu,answer %zu\n", i / 2, i % 2, i);
    write_file(0, text);
}

static void most_labels_different_is_an_error_from_20_votes_on(void **state)
{
    (void)state;
    dis_votes *votes;
    dis_votes_options o = dis_votes_options_default();
    write_unique(19);
    assert_int_equal(read_votes(&o, &votes), DIS_OK);
    dis_votes_destroy(votes);
    write_unique(20);
    assert_int_equal(read_votes(&o, &votes), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "20 different labels in 20 votes"));
    o.allow_many_classes = true;
    assert_int_equal(read_votes(&o, &votes), DIS_OK);
    dis_votes_destroy(votes);
}

static void folded_labels_are_one_class_and_gold_follows(void **state)
{
    (void)state;
    dis_votes *votes;
    int32_t gold[2];
    size_t unknown;
    dis_note_kind kind;
    dis_votes_options o = dis_votes_options_default();
    write_file(0, "item,rater,answer\na,x,Yes\na,y, yes\nb,x,NO\nb,y,no\n");
    write_file(1, "Item,truth\nb,No\na,YES \nc,no\n");
    assert_int_equal(read_votes(&o, &votes), DIS_OK);
    assert_int_equal(dis_votes_get_view(votes).n_classes, 4);
    assert_non_null(strstr(dis_votes_get_note(votes, 0, &kind), "using columns"));
    assert_int_equal(kind, DIS_NOTE_COLUMNS);
    assert_non_null(strstr(dis_votes_get_note(votes, 1, &kind), "\"NO\" and \"no\""));
    assert_int_equal(kind, DIS_NOTE_SUSPICIOUS);
    assert_int_equal(dis_votes_read_gold(NULL, path[1], NULL, votes, gold, &unknown), DIS_EDATA);
    dis_votes_destroy(votes);
    o.fold_case = o.trim = true;
    assert_int_equal(read_votes(&o, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes);
    assert_int_equal(v.n_classes, 2);
    assert_string_equal(dis_names_get(v.classes, 0, NULL), "no");
    assert_int_equal(dis_votes_read_gold(NULL, path[1], NULL, votes, gold, &unknown), DIS_OK);
    assert_int_equal(gold[0], 1);
    assert_int_equal(gold[1], 0);
    assert_int_equal(unknown, 1);
    dis_votes_destroy(votes);
}

static void declared_classes_keep_their_spelling(void **state)
{
    (void)state;
    dis_votes *votes;
    static const char *const classes[] = {"Yes", "No"}, *const na[] = {"unsure"};
    dis_votes_options o = dis_votes_options_default();
    write_file(0, "task,worker,label\na,x,YES\na,y,no\nb,x,Unsure\nb,y,yes\n");
    o.classes = classes;
    o.n_classes = 2;
    o.na = na;
    o.n_na = 1;
    o.fold_case = true;
    assert_int_equal(read_votes(&o, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes);
    assert_int_equal(v.n_votes, 3);
    assert_string_equal(dis_names_get(v.classes, 0, NULL), "Yes");
    assert_int_equal(v.label8[0], 0);
    assert_int_equal(v.label8[1], 1);
    dis_votes_destroy(votes);
}

static void gold_files_have_synonyms_and_named_columns(void **state)
{
    (void)state;
    dis_gold *gold;
    dis_gold_options o = dis_gold_options_default();
    write_file(1, "doc_id;note;expert_label\na;x;1\nb;y;2\n");
    assert_int_equal(dis_gold_read(NULL, path[1], NULL, &gold), DIS_OK);
    assert_string_equal(dis_names_get(dis_gold_get_view(gold).classes, 0, NULL), "1");
    dis_gold_destroy(gold);
    o.task = "doc_id";
    o.label = "note";
    assert_int_equal(dis_gold_read(NULL, path[1], &o, &gold), DIS_OK);
    assert_string_equal(dis_names_get(dis_gold_get_view(gold).classes, 0, NULL), "x");
    dis_gold_destroy(gold);
    write_file(1, "doc_id,gold_label,truth\na,1,2\n");
    assert_int_equal(dis_gold_read(NULL, path[1], NULL, &gold), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "two columns could be the gold label: \"gold_label\" and \"truth\""));
}

/* A name of a column cannot add a suggestion, or reach a terminal. */
static void hostile_names_stay_inert(void **state)
{
    (void)state;
    dis_votes *votes;
    char text[4096] = "\"a\n  `task` \"\"x\"\"\",\"b\x1b[31m\",c\n";
    for (int i = 0; i < 24; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "t%d,w%d,l%d\n", i / 3, i % 3, i % 2);
    write_file(0, text);
    assert_int_equal(read_votes(NULL, &votes), DIS_EDATA);
    assert_null(strchr(dis_last_error(), '\x1b'));
    assert_null(strchr(dis_last_error(), '\n'));
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path[0]);
    unlink(path[1]);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_compared_without_case_and_separators),
        cmocka_unit_test(the_best_rank_decides),
        cmocka_unit_test(two_names_of_one_rank_are_ambiguous),
        cmocka_unit_test(a_name_has_one_role),
        cmocka_unit_test(labels_fold),
        cmocka_unit_test(most_labels_different_is_an_error_from_20_votes_on),
        cmocka_unit_test(folded_labels_are_one_class_and_gold_follows),
        cmocka_unit_test(declared_classes_keep_their_spelling),
        cmocka_unit_test(gold_files_have_synonyms_and_named_columns),
        cmocka_unit_test(hostile_names_stay_inert),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
