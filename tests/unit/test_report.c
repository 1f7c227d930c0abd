/* Reports: whatever ids, labels and titles hold stays text; the file is small for a million items, the same for any
 * number of threads, and there whole or not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dissent/dissent.h"
#include "support/fault_walk.h"
#include "support/sanitized.h"
#include "support/scratch.h"
#include "report/page/figure.h"
#include "report/page/page.h"

static char target[128];

static int name_target(void **state)
{
    if (make_folder(state)) return -1;
    strcpy(target, in_folder("report.html"));
    return 0;
}

static const char *text_of(dis__markup *m)
{
    dis__markup_append_n(m, "", 1);
    assert_int_equal(m->status, DIS_OK);
    return m->bytes;
}

/* ---- texts ---- */

static void escaped_text_is_inert(void **state)
{
    (void)state;
    dis__markup m = {0};
    const char *bad = "<script>alert('x')</script>&\"\xff\xc3";
    dis__markup_append_escaped(&m, bad, strlen(bad));
    assert_string_equal(text_of(&m),
                        "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\xEF\xBF\xBD\xEF\xBF\xBD");
    dis__markup_free(&m);
}

static void names_are_cut_and_isolated(void **state)
{
    (void)state;
    dis__markup m = {0};
    const char *bad = "a\xE2\x80\xAE"
                      "b\x1b[31m\ncdefgh"; /* a character that turns the direction, an escape */
    dis__markup_append_name(&m, bad, strlen(bad), 9);
    assert_string_equal(text_of(&m), "\xE2\x81\xA8"
                                     "aU+202EbU+001B[31m \xE2\x80\xA6\xE2\x81\xA9");
    dis__markup_free(&m);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is none, nothing is tested but nothing fails either */
    assert_string_equal(dis__format_fixed(1234.5678, 2).text, "1234.57");
    assert_string_equal(dis__format_fixed(-.004, 2).text, "0.00");
    assert_string_equal(dis__format_fixed(NAN, 2).text, "-");
    assert_string_equal(dis__format_brief(5).text, "5");
    assert_string_equal(dis__format_brief(.0123).text, "0.012");
    assert_string_equal(dis__format_brief(1234567.8).text, "1,234,568");
    assert_string_equal(dis__format_brief(1.2e-7).text, "1.2e-7");
    assert_string_equal(dis__format_percent(.5).text, "50\xC2\xA0%");
    assert_string_equal(dis__format_percent(.0123).text, "1.2\xC2\xA0%");
    assert_string_equal(dis__format_grouped(1000).text, "1,000");
    setlocale(LC_ALL, "C");
}

static void scripts_are_named_by_their_hash(void **state)
{
    (void)state; /* printf 'alert(1)' | openssl dgst -sha256 -binary | base64 */
    assert_string_equal(dis__format_csp_hash("alert(1)").text, "bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=");
}

static void ticks_are_round(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        bool integers;
        double expect_low, expect_high, step;
    } rows[] = {{0, 9.3, false, 0, 10, 2},         {0, .07, false, 0, .08, .02}, {3, 3, true, 3, 6, 1},
                {-1, 1, false, -1, 1, .5},         {0, 1, true, 0, 1, 1},        {12, 988, true, 0, 1000, 200},
                {.5, .5 + 1e-16, false, .5, 1, .1}}; /* apart by rounding alone: steps between them would not end */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const dis__axis_scale s = dis__axis_scale_nice(rows[i].low, rows[i].high, 5, rows[i].integers);
        assert_true(fabs(s.low - rows[i].expect_low) < 1e-12 && fabs(s.high - rows[i].expect_high) < 1e-12);
        assert_true(fabs(s.step - rows[i].step) < 1e-12);
    }
}

/* ---- tables ---- */

static void spreadsheets_find_no_formula(void **state)
{
    (void)state;
    dis__data_table g = {0};
    dis__data_table_add_named_column(&g, "=cmd", DIS__CELL_TEXT);
    dis__data_table_add_column(&g, "x", DIS__CELL_REAL);
    dis__data_table_add_text(&g, "=HYPERLINK(\"a\")", 15);
    dis__data_table_add_number(&g, -1.5);
    dis__data_table_add_text(&g, "plain, text", 11);
    dis__data_table_add_number(&g, NAN);
    dis__markup m = {0};
    dis__data_table_format_data_uri(&m, &g);
    assert_string_equal(text_of(&m),
                        "data:text/csv;charset=utf-8,%27%3Dcmd,x%0D%0A%22%27%3DHYPERLINK%28%22%22a%22%22%29%22,-1.5"
                        "%0D%0A%22plain,%20text%22,%0D%0A");
    dis__markup_free(&m);
    dis__data_table_free(&g);
}

static void long_ids_are_cut_in_tables(void **state)
{
    (void)state;
    char *id = malloc(65537);
    memset(id, '<', 65536);
    id[65536] = 0;
    dis__data_table g = {0};
    dis__data_table_add_column(&g, "id", DIS__CELL_TEXT);
    dis__data_table_add_text(&g, id, 65536);
    dis__markup m = {0};
    dis__data_table_format_html(&m, &g, "ids");
    dis__data_table_format_data_uri(&m, &g);
    assert_true(m.n < 3000);
    assert_null(strstr(text_of(&m), "<<"));
    dis__markup_free(&m);
    dis__data_table_free(&g);
    free(id);
}

/* ---- whole reports ---- */

static const char *const hostile[] = {"<script>window.pwned=1</script>",
                                      "</script><img src=x onerror=pwned()>",
                                      "\" onload=\"pwned()",
                                      "javascript:pwned()",
                                      "=cmd|' /C calc'!A0",
                                      "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
                                      "a\xE2\x80\xAEtxt.exe",
                                      "]]>--><!--"};
enum { N_HOSTILE = 8 };

typedef struct {
    dis_votes *votes;
    dis_fit *fit[3];
    dis_context *ctx;
    int32_t *gold;
} setup;

/* n items, `each` votes on each; every name hostile when `names`. */
static void make(setup *s, size_t n, size_t n_workers, size_t n_classes, size_t each, bool names, int threads)
{
    uint32_t *task = malloc(n * each * sizeof *task), *worker = malloc(n * each * sizeof *worker);
    uint16_t *label = malloc(n * each * sizeof *label);
    s->gold = malloc(n * sizeof *s->gold);
    for (size_t i = 0; i < n; i++) {
        s->gold[i] = i % 3 ? (int32_t)(i % n_classes) : -1;
        for (size_t v = 0; v < each; v++) {
            task[i * each + v] = (uint32_t)i;
            worker[i * each + v] = (uint32_t)((i * 7 + v) % n_workers);
            label[i * each + v] =
                (uint16_t)((i + (v * v + i) % 5 / 4 + (worker[i * each + v] % 5 == 4) * i / 3) % n_classes);
        }
    }
    dis_names *tasks = NULL, *workers = NULL, *classes = NULL;
    if (names) {
        assert_true(n <= N_HOSTILE && n_workers <= N_HOSTILE && n_classes <= N_HOSTILE);
        assert_int_equal(dis_names_create(hostile, n, &tasks), DIS_OK);
        assert_int_equal(dis_names_create(hostile, n_workers, &workers), DIS_OK);
        assert_int_equal(dis_names_create(hostile, n_classes, &classes), DIS_OK);
    }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = n * each,
                                     .n_items = n,
                                     .n_workers = n_workers,
                                     .n_classes = n_classes,
                                     .task = task,
                                     .worker = worker,
                                     .label = label,
                                     .tasks = tasks,
                                     .workers = workers,
                                     .classes = classes};
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    assert_int_equal(dis_context_create(&o, &s->ctx), DIS_OK);
    assert_int_equal(dis_votes_create_from_arrays(s->ctx, &arrays, &s->votes), DIS_OK);
    static const char *const specs[] = {"standard", "dawid-skene:iterations=5", "one-coin:iterations=5"};
    for (size_t m = 0; m < 3; m++) assert_int_equal(dis_fit_run(s->ctx, s->votes, specs[m], NULL, &s->fit[m]), DIS_OK);
    free(task);
    free(worker);
    free(label);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    dis_names_destroy(classes);
}

static void unmake(setup *s)
{
    for (size_t m = 0; m < 3; m++) dis_fit_destroy(s->fit[m]);
    dis_votes_destroy(s->votes);
    dis_context_destroy(s->ctx);
    free(s->gold);
}

static dis_status write_report(void *arg)
{
    const setup *s = arg;
    dis_report_options o = dis_report_options_default();
    o.title = hostile[0];
    o.resamples = 20;
    dis_report *r;
    dis_status status = dis_report_create(&o, &r);
    if (status != DIS_OK) return status;
    status = dis_report_add_votes(r, s->votes, hostile[1]);
    if (status == DIS_OK) status = dis_report_add_gold(r, s->gold);
    for (size_t m = 0; m < 3 && status == DIS_OK; m++)
        status = dis_report_add_fit(r, hostile[m], s->fit[m], dis_fit_p(s->fit[m]));
    const dis_votes_view view = dis_votes_get_view(s->votes);
    const dis_report_test test = {.size = sizeof(dis_report_test),
                                  .n_items = view.n_items,
                                  .n_classes = view.n_classes,
                                  .classes = view.classes,
                                  .gold = s->gold,
                                  .human = dis_fit_p(s->fit[0])};
    if (status == DIS_OK) status = dis_report_add_test(r, &test);
    for (size_t m = 1; m < 3 && status == DIS_OK; m++)
        status = dis_report_add_predictions(r, hostile[m], dis_fit_p(s->fit[m]));
    if (status == DIS_OK) status = dis_report_add_source(r, hostile[2], hostile[3]);
    if (status == DIS_OK) status = dis_report_write(s->ctx, r, target);
    dis_report_destroy(r);
    return status;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

static void hostile_names_stay_text(void **state)
{
    (void)state;
    setup s;
    make(&s, 8, 8, 4, 3, true, 1);
    assert_int_equal(write_report(&s), DIS_OK);
    size_t n;
    char *page = contents(target, &n);
    assert_int_equal(strlen(page), n);
    assert_int_equal(count(page, "<script"), 1); /* ours, at the end */
    assert_int_equal(count(page, "</script"), 1);
    assert_int_equal(count(page, "<img"), 0);
    assert_int_equal(count(page, "<!--"), 0);
    assert_int_equal(count(page, "\" onload"), 0);
    assert_int_equal(count(page, "href=\"javascript"), 0);
    assert_int_equal(count(page, "\xE2\x80\xAE"), 0);
    assert_int_equal(count(page, "style=\""), 0); /* the policy would block it */
    assert_true(count(page, "<figure") >= 18);
    assert_int_equal(count(page, "<svg "), count(page, "<svg role=\"img\""));
    assert_int_equal(count(page, "aria-label=\"\""), 0);
    assert_int_equal(count(page, "nan"), 0);
    free(page);
    unmake(&s);
}

/* As attributes and as text, nothing but our own tags: angle brackets balance, quotes pair within tags. */
static void the_page_is_well_formed(void **state)
{
    (void)state;
    setup s;
    make(&s, 8, 5, 3, 2, true, 1);
    assert_int_equal(write_report(&s), DIS_OK);
    size_t n;
    char *page = contents(target, &n);
    const char *end = strstr(page, "<script>"), *at = strstr(page, "</style>");
    bool tag = false, quoted = false;
    for (; at < end; at++) {
        if (quoted) {
            quoted = *at != '"';
            assert_true(*at != '<' && *at != '>');
        } else if (*at == '"' && tag) {
            quoted = true;
        } else if (*at == '<') {
            assert_false(tag);
            tag = true;
        } else if (*at == '>') {
            assert_true(tag);
            tag = false;
        }
    }
    assert_false(tag || quoted);
    free(page);
    unmake(&s);
}

static void many_items_make_no_large_file(void **state)
{
    (void)state;
    setup s;
    make(&s, SANITIZED ? 5000 : 300000, SANITIZED ? 500 : 10000, 3, 2, false, 2);
    assert_int_equal(write_report(&s), DIS_OK);
    size_t n;
    char *page = contents(target, &n);
    assert_true(n < 5000000);
    print_message("%zu bytes\n", n);
    free(page);
    unmake(&s);
}

static void faults_leave_no_trace(void **state)
{
    (void)state;
    setup s;
    make(&s, 8, 8, 4, 3, true, 1);
    walk_faults(write_report, NULL, &s);
    unmake(&s);
}

/* ---- training curves ---- */

static dis_epoch epochs[2][250];

static void fill_epochs(void)
{
    for (size_t r = 0; r < 2; r++)
        for (size_t e = 0; e < 250; e++)
            epochs[r][e] = (dis_epoch){.loss = 1. / (double)(e + 1),
                                       .dev = .5 + .001 * (double)e,
                                       .dev_cross_entropy = r ? (double)NAN : .5 + .01 * (double)e};
}

static dis_status write_curves(void *arg)
{
    (void)arg;
    dis_report *r;
    dis_status status = dis_report_create(NULL, &r);
    if (status != DIS_OK) return status;
    static const char *const name[] = {"<b>\"hard\"", "soft", "soft"};
    const dis_curve curve[] = {
        {.epoch = epochs[0], .n_epochs = 250, .best_epoch = 249, .dev_metric = "macro_f1"},
        {.seed = 1, .epoch = epochs[1], .n_epochs = 9, .best_epoch = 3, .dev_metric = "macro_f1"},
        {.seed = 2, .epoch = epochs[0], .n_epochs = 7, .best_epoch = 5, .dev_metric = "no such metric"},
    };
    for (size_t i = 0; i < 3 && status == DIS_OK; i++) status = dis_report_add_curve(r, name[i], &curve[i]);
    if (status == DIS_OK) status = dis_report_write(NULL, r, target);
    dis_report_destroy(r);
    return status;
}

static void training_curves_are_drawn(void **state)
{
    (void)state;
    fill_epochs();
    assert_int_equal(write_curves(NULL), DIS_OK);
    size_t n;
    char *page = contents(target, &n);
    assert_non_null(strstr(page, "<h2 id=\"training\">"));
    assert_non_null(strstr(page, "<figure id=\"dev-macro-f1\""));
    assert_non_null(strstr(page, "<figure id=\"dev-cross-entropy\""));
    assert_non_null(strstr(page, "<figure id=\"training-loss\""));
    assert_non_null(strstr(page, "thin"));
    assert_null(strstr(page, "<b>\"hard\""));
    strstr(page, "<script>")[0] = 0;
    assert_null(strstr(page, "NaN"));
    assert_true(n < 200000);
    free(page);
    walk_faults(write_curves, NULL, NULL);
    dis_report *r;
    assert_int_equal(dis_report_create(NULL, &r), DIS_OK);
    assert_int_equal(dis_report_add_curve(r, "x", &(dis_curve){0}), DIS_EUSAGE);
    assert_int_equal(dis_report_add_curve(r, "x", &(dis_curve){.epoch = epochs[0], .n_epochs = 2, .best_epoch = 2}),
                     DIS_EUSAGE);
    dis_report_destroy(r);
}

static void wrong_use_is_reported(void **state)
{
    (void)state;
    setup s;
    make(&s, 8, 8, 4, 3, true, 1);
    dis_report *r;
    assert_int_equal(dis_report_create(NULL, &r), DIS_OK);
    assert_int_equal(dis_report_write(NULL, r, target), DIS_EUSAGE);
    assert_int_equal(dis_report_add_predictions(r, "x", dis_fit_p(s.fit[0])), DIS_EUSAGE);
    assert_int_equal(dis_report_add_fit(r, "x", s.fit[0], dis_fit_p(s.fit[0])), DIS_EUSAGE);
    assert_int_equal(dis_report_add_votes(r, s.votes, NULL), DIS_OK);
    assert_int_equal(dis_report_add_votes(r, s.votes, NULL), DIS_EUSAGE);
    const dis_labels_view other = {.size = sizeof(dis_labels_view), .n_items = 3, .n_classes = 2};
    assert_int_equal(dis_report_add_labels(r, "x", &other), DIS_EUSAGE);
    assert_int_equal(dis_report_write(NULL, r, target), DIS_OK); /* votes alone are enough */
    dis_report_destroy(r);
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escaped_text_is_inert),
        cmocka_unit_test(names_are_cut_and_isolated),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(scripts_are_named_by_their_hash),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(spreadsheets_find_no_formula),
        cmocka_unit_test(long_ids_are_cut_in_tables),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(the_page_is_well_formed),
        cmocka_unit_test(many_items_make_no_large_file),
        cmocka_unit_test(faults_leave_no_trace),
        cmocka_unit_test(training_curves_are_drawn),
        cmocka_unit_test(wrong_use_is_reported),
    };
    return cmocka_run_group_tests(tests, name_target, remove_folder);
}
