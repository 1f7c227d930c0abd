/* Growing states: labels after new votes are those of a fit to all votes, as far as promised; damaged states and second
 * votes are refused. */
#include "core/memory/memory.h"
#include "dissent/dissent.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/scratch.h"

enum { ITEMS = 6000, WORKERS = 40, K = 3, EACH = 7, NEW = 30 };

static uint32_t noise(uint32_t x)
{
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

static void write_votes(const char *path, uint32_t first_item, uint32_t n_items, uint32_t first, uint32_t each,
                        const char *extra)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("task,worker,label\n", f);
    for (uint32_t i = first_item; i < first_item + n_items; i++)
        for (uint32_t n = first; n < first + each; n++) {
            const uint32_t w = (i * 7 + n) % WORKERS, r = noise(i * 131 + w * 7919 + 5);
            fprintf(f, "task %u,w%u,%c\n", i, w, 'a' + (r % 100 < 50 + w ? i % K : (i + 1 + r / 100 % (K - 1)) % K));
        }
    fputs(extra, f);
    fclose(f);
}

static dis_votes *read_votes(const char *const *paths, size_t n, const dis_names *classes)
{
    dis_votes_options o = dis_votes_options_default();
    const char *name[K];
    for (size_t k = 0; classes && k < K; k++) name[k] = dis_names_get(classes, k, NULL);
    o.classes = classes ? name : NULL;
    o.n_classes = classes ? K : 0;
    dis_votes *votes;
    if (dis_votes_read(NULL, paths, n, &o, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static dis_fit *fit_votes(const dis_votes *votes)
{
    dis_fit *fit;
    if (dis_fit_run(NULL, votes, "dawid-skene", NULL, &fit) != DIS_OK) fail_msg("%s", dis_last_error());
    return fit;
}

static char old_path[512], new_path[512], state_path[512];
static const char extra[] = "a new item,w1,a\na new item,w2,a\na new item,somebody new,a\ntask 5,somebody new,c\n";

static int make_state(void **state)
{
    if (make_folder_in_memory(state)) return -1;
    strcpy(old_path, in_folder("old.csv"));
    strcpy(new_path, in_folder("new.csv"));
    strcpy(state_path, in_folder("state.safetensors"));
    write_votes(old_path, 0, ITEMS, 0, EACH, "");
    write_votes(new_path, 100, NEW, EACH, 1, extra);
    const char *const paths[] = {old_path};
    dis_votes *votes = read_votes(paths, 1, NULL);
    dis_fit *fit = fit_votes(votes);
    const dis_status status = dis_incremental_write(NULL, votes, dis_fit_p(fit), state_path);
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
    return status == DIS_OK ? 0 : -1;
}

static double apart(const double *a, const double *b)
{
    double sum = 0;
    for (size_t t = 0; t < K; t++) sum += fabs(a[t] - b[t]) / 2;
    return sum;
}

static void labels_are_those_of_a_refit(void **state)
{
    (void)state;
    const char *const paths[] = {old_path, new_path};
    dis_incremental *g;
    dis_labels *labels;
    dis_incremental_notes notes;
    if (dis_incremental_read(NULL, state_path, &g) != DIS_OK) fail_msg("%s", dis_last_error());
    dis_votes *more = read_votes(paths + 1, 1, dis_incremental_get_view(g).classes), *all = read_votes(paths, 2, NULL);
    if (dis_incremental_append(NULL, g, more, &labels, &notes) != DIS_OK) fail_msg("%s", dis_last_error());
    dis_fit *refit = fit_votes(all);
    const dis_labels_view v = dis_labels_get_view(labels);
    const dis_names *tasks = dis_votes_get_view(all).tasks;
    double sum = 0, max = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        size_t n;
        const char *name = dis_names_get(v.tasks, i, &n);
        const double d = apart(v.p + i * K, dis_fit_p(refit) + dis_names_find(tasks, name, n) * K);
        sum += d;
        max = fmax(max, d);
    }
    assert_int_equal(v.n_items, NEW + 2);
    assert_int_equal(notes.n_new_items, 1);
    assert_int_equal(notes.n_new_workers, 1);
    assert_int_equal(notes.n_items, ITEMS);
    assert_int_equal(notes.n_old_votes, (NEW + 1) * EACH);
    if (sum / (double)v.n_items >= 1e-3 || max >= .02) fail_msg("mean %g, largest %g", sum / (double)v.n_items, max);
    dis_fit_destroy(refit);
    dis_labels_destroy(labels);
    dis_votes_destroy(more);
    dis_votes_destroy(all);
    dis_incremental_destroy(g);
}

static void all_votes_are_those_of_both_files(void **state)
{
    (void)state;
    const char *const paths[] = {old_path, new_path};
    dis_incremental *g;
    dis_votes *joined;
    assert_int_equal(dis_incremental_read(NULL, state_path, &g), DIS_OK);
    dis_votes *more = read_votes(paths + 1, 1, dis_incremental_get_view(g).classes), *all = read_votes(paths, 2, NULL);
    if (dis_incremental_merge_votes(NULL, g, more, DIS_DUPLICATES_ERROR, &joined) != DIS_OK)
        fail_msg("%s", dis_last_error());
    const dis_votes_view a = dis_votes_get_view(all), b = dis_votes_get_view(joined);
    assert_int_equal(a.n_items, b.n_items);
    assert_int_equal(a.n_workers, b.n_workers);
    assert_int_equal(a.n_votes, b.n_votes);
    assert_memory_equal(a.start, b.start, (a.n_items + 1) * sizeof *a.start);
    assert_memory_equal(a.worker, b.worker, a.n_votes * sizeof *a.worker);
    assert_memory_equal(a.label8, b.label8, a.n_votes);
    for (size_t i = 0; i < a.n_items; i++)
        assert_string_equal(dis_names_get(a.tasks, i, NULL), dis_names_get(b.tasks, i, NULL));
    for (size_t w = 0; w < a.n_workers; w++)
        assert_string_equal(dis_names_get(a.workers, w, NULL), dis_names_get(b.workers, w, NULL));
    dis_votes_destroy(joined);
    dis_votes_destroy(more);
    dis_votes_destroy(all);
    dis_incremental_destroy(g);
}

static void a_second_vote_is_refused(void **state)
{
    (void)state;
    const char *const paths[] = {in_folder("again.csv")};
    write_votes(paths[0], 7, 1, 2, 1, "");
    dis_incremental *g;
    dis_labels *labels = NULL;
    assert_int_equal(dis_incremental_read(NULL, state_path, &g), DIS_OK);
    dis_votes *more = read_votes(paths, 1, dis_incremental_get_view(g).classes);
    assert_int_equal(dis_incremental_append(NULL, g, more, &labels, NULL), DIS_EDATA);
    assert_null(labels);
    assert_non_null(strstr(dis_last_error(), "task 7"));
    dis_votes *all = NULL;
    assert_int_equal(dis_incremental_merge_votes(NULL, g, more, DIS_DUPLICATES_ERROR, &all), DIS_EDATA);
    assert_null(all);
    dis_votes_destroy(more);
    dis_incremental_destroy(g);
}

/* Reads the state and adds the new votes. */
static dis_status grow(const char *path)
{
    const char *const paths[] = {new_path};
    static const char *const abc[] = {"a", "b", "c"};
    dis_votes_options o = dis_votes_options_default();
    o.classes = abc;
    o.n_classes = K;
    dis_incremental *g;
    dis_votes *more = NULL;
    dis_labels *labels = NULL;
    DIS_TRY(dis_incremental_read(NULL, path, &g));
    dis_status status = dis_votes_read(NULL, paths, 1, &o, &more);
    if (status == DIS_OK) status = dis_incremental_append(NULL, g, more, &labels, NULL);
    dis_votes *all = NULL;
    if (status == DIS_OK) status = dis_incremental_merge_votes(NULL, g, more, DIS_DUPLICATES_ERROR, &all);
    dis_votes_destroy(all);
    dis_labels_destroy(labels);
    dis_votes_destroy(more);
    dis_incremental_destroy(g);
    return status;
}

/* Of every byte of the header and some of the rest, a flip is detected. */
static void damaged_states_are_detected(void **state)
{
    (void)state;
    FILE *f = fopen(state_path, "rb");
    assert_non_null(f);
    static char bytes[1 << 20];
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(n > 1000 && n < sizeof bytes);
    const char *path = in_folder("damaged.safetensors");
    for (size_t i = 0; i < n; i += SANITIZED ? n / 50 + 1 : n / 400 + 1) {
        const char original = bytes[i];
        bytes[i] = (char)(original ^ 0x55);
        f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, n, f), n);
        fclose(f);
        bytes[i] = original;
        const dis_status status = grow(path);
        assert_int_equal(status, DIS_EDATA);
    }
    f = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, n / 2, f), n / 2);
    fclose(f);
    assert_int_equal(grow(path), DIS_EDATA);
}

static dis_status grow_or_fail(void *arg)
{
    (void)arg;
    return grow(state_path);
}

static void failures_are_reported(void **state)
{
    (void)state;
    walk_faults(grow_or_fail, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_those_of_a_refit), cmocka_unit_test(all_votes_are_those_of_both_files),
        cmocka_unit_test(a_second_vote_is_refused),    cmocka_unit_test(damaged_states_are_detected),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests(tests, make_state, remove_folder);
}
