/* Store and runner: every run once, whatever dies, fails or stands in the way; the same table in the end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/experiment_support.h"
#include "tool/experiments.h"
#include "support/fault_walk.h"
#include "support/scratch.h"
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *fresh(const char *name)
{
    static char path[512];
    remove_in_folder(name);
    snprintf(path, sizeof path, "%s", in_folder(name));
    return path;
}

static dis__store *open_store(const char *path)
{
    dis__store *store;
    if (dis__store_open(path, true, 10000, &store) != DIS_OK) fail_msg("%s", dis_last_error());
    return store;
}

typedef struct {
    dis__run run[FAKE_RUNS];
    dis__plan plan;
    fake_work work;
    bool selected[FAKE_RUNS];
    dis_experiment experiment;
} bench;

static void prepare(bench *b)
{
    *b = (bench){.work = {.bad = SIZE_MAX}};
    b->plan = fake_plan(b->run);
    b->work.plan = &b->plan;
    for (size_t r = 0; r < FAKE_RUNS; r++) b->selected[r] = true;
    b->experiment = (dis_experiment){.plan = &b->plan, .selected = b->selected, .n_selected = FAKE_RUNS};
}

static dis_status run_all(bench *b, dis__store *store, size_t jobs, bool retry, dis_experiment_counts *counts)
{
    dis_experiment_run_options o = dis_experiment_run_options_default();
    o.jobs = jobs;
    o.retry_failed = retry;
    const dis__runner runner = {.plan = &b->plan,
                                .store = store,
                                .selected = b->selected,
                                .execute = fake_execute,
                                .user = &b->work,
                                .options = o};
    return dis__runner_run(NULL, &runner, counts);
}

static char *expected_table(void)
{
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    dis__store *store = open_store(fresh("whole"));
    assert_int_equal(run_all(&b, store, 1, false, &counts), DIS_OK);
    assert_int_equal(counts.done, FAKE_RUNS);
    assert_int_equal(counts.computed, FAKE_RUNS);
    char *text = fake_table(&b.experiment, store);
    assert_non_null(strstr(text, "1 8 8 4 0x"));
    dis__store_close(store);
    return text;
}

static void any_number_of_jobs(void **state)
{
    (void)state;
    char *expected = expected_table();
    for (size_t jobs = 1; jobs <= 7; jobs += 3) {
        bench b;
        dis_experiment_counts counts;
        prepare(&b);
        b.work.sleep_ms = 1;
        dis__store *store = open_store(fresh("jobs"));
        assert_int_equal(run_all(&b, store, jobs, false, &counts), DIS_OK);
        for (size_t r = 0; r < FAKE_RUNS; r++) assert_int_equal(b.work.calls[r], 1);
        char *text = fake_table(&b.experiment, store);
        assert_string_equal(text, expected);
        free(text);
        /* again: nothing to do */
        assert_int_equal(run_all(&b, store, jobs, false, &counts), DIS_OK);
        assert_int_equal(counts.computed, 0);
        assert_int_equal(counts.done, FAKE_RUNS);
        dis__store_close(store);
    }
    free(expected);
}

static void a_failed_run_stops_nobody(void **state)
{
    (void)state;
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    b.work.bad = 5;
    dis__store *store = open_store(fresh("failed"));
    assert_int_equal(run_all(&b, store, 3, false, &counts), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "run 5 is bad on purpose"));
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.done, FAKE_RUNS - 1);
    dis_run_state states[FAKE_RUNS];
    assert_int_equal(dis__store_get_view(store, &b.plan, &(dis__known){.state = states}), DIS_OK);
    assert_int_equal(states[5], DIS_RUN_FAILED);
    assert_int_equal(states[6], DIS_RUN_DONE);
    dis_run_record *record;
    size_t n;
    assert_int_equal(dis__store_record(store, b.run[5].key, &record, &n), DIS_OK);
    assert_string_equal(record->message, "run 5 is bad on purpose");
    dis__run_record_destroy(record);
    /* not by itself again, but when asked to */
    assert_int_equal(run_all(&b, store, 3, false, &counts), DIS_EDATA);
    assert_int_equal(b.work.calls[5], 1);
    b.work.bad = SIZE_MAX;
    assert_int_equal(run_all(&b, store, 3, true, &counts), DIS_OK);
    assert_int_equal(b.work.calls[5], 2);
    assert_int_equal(b.work.calls[6], 1);
    dis__store_close(store);
}

static void a_record_has_everything(void **state)
{
    (void)state;
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    dis__store *store = open_store(fresh("record"));
    assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_OK);
    const size_t r = FAKE_FOLDS * FAKE_SEEDS + 3;
    dis_run_record *record;
    size_t n;
    char prefix[17];
    snprintf(prefix, sizeof prefix, "%.16s", b.run[r].key);
    assert_int_equal(dis__store_record(store, prefix, &record, &n), DIS_OK);
    assert_int_equal(n, 1);
    assert_string_equal(record->key, b.run[r].key);
    assert_string_equal(record->cell, b.plan.cell[1].name);
    assert_int_equal(record->n_settings, 2);
    assert_string_equal(record->setting[1].value, b.plan.cell[1].setting[1].value);
    assert_int_equal(record->seed, 3);
    assert_int_equal(record->state, DIS_RUN_DONE);
    assert_int_equal(record->n_measures, 3);
    assert_int_equal(record->n_epochs, 3);
    assert_true(isnan(record->epoch[0].dev));
    assert_int_equal(record->n_parameters, 1234);
    assert_int_equal(record->n_files, 2);
    for (size_t i = 0; i < 2; i++) { /* ordinary label files, within the store */
        char path[512];
        assert_null(strstr(record->file[i], ".."));
        snprintf(path, sizeof path, "%s/record/%s", folder, record->file[i]);
        dis_labels *labels;
        assert_int_equal(dis_labels_read(NULL, path, NULL, &labels), DIS_OK);
        assert_int_equal(dis_labels_get_view(labels).n_items, FAKE_ITEMS);
        dis_labels_destroy(labels);
    }
    dis__run_record_destroy(record);
    assert_int_equal(dis__store_record(store, "", &record, &n), DIS_OK);
    assert_int_equal(n, FAKE_RUNS);
    assert_int_equal(dis__store_record(store, "'; DROP TABLE runs", &record, &n), DIS_OK);
    assert_int_equal(n, 0);
    dis__store_close(store);
}

/* A measure that the file has got since: the run is done again, and only then. */
static void a_new_measure_is_missing(void **state)
{
    (void)state;
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    b.plan.n_measures = 2;
    dis__store *store = open_store(fresh("measure"));
    assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_OK);
    b.plan.n_measures = 3;
    dis_run_state states[FAKE_RUNS];
    assert_int_equal(dis__store_get_view(store, &b.plan, &(dis__known){.state = states}), DIS_OK);
    assert_int_equal(states[0], DIS_RUN_MISSING);
    assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_OK);
    assert_int_equal(counts.computed, FAKE_RUNS);
    dis__store_close(store);
}

/* ---- several processes ---- */

/* A child that runs on the store until it is done or dead. Notes each call in a file. */
static pid_t child(const char *path, size_t jobs, unsigned sleep_ms)
{
    const pid_t pid = fork();
    if (pid != 0) return pid;
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    b.work.sleep_ms = sleep_ms;
    dis__store *store;
    if (dis__store_open(path, true, 20000, &store) != DIS_OK) _exit(90);
    const dis_status status = run_all(&b, store, jobs, false, &counts);
    dis__store_close(store);
    size_t calls = 0;
    for (size_t r = 0; r < FAKE_RUNS; r++) calls += b.work.calls[r];
    _exit(status == DIS_OK ? (int)calls : 91);
}

static void two_processes_share_a_store(void **state)
{
    (void)state;
    char *expected = expected_table();
    const char *path = fresh("shared");
    const pid_t a = child(path, 2, 5), c = child(path, 2, 5);
    int code_a, code_c;
    waitpid(a, &code_a, 0);
    waitpid(c, &code_c, 0);
    assert_true(WIFEXITED(code_a) && WIFEXITED(code_c));
    assert_int_equal(WEXITSTATUS(code_a) + WEXITSTATUS(code_c), FAKE_RUNS);
    bench b;
    prepare(&b);
    dis__store *store = open_store(path);
    char *text = fake_table(&b.experiment, store);
    assert_string_equal(text, expected);
    dis__store_close(store);
    free(text);
    free(expected);
}

static void a_dead_owner_holds_nothing(void **state)
{
    (void)state;
    char *expected = expected_table();
    const char *path = fresh("dead");
    for (unsigned i = 0; i < 12; i++) {
        const pid_t pid = child(path, 2, 3);
        nanosleep(&(struct timespec){.tv_nsec = (long)(3 + i * 5 % 17) * 1000000}, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    dis__store *store = open_store(path);
    assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_OK);
    assert_int_equal(counts.done, FAKE_RUNS);
    char *text = fake_table(&b.experiment, store);
    assert_string_equal(text, expected);
    dis__store_close(store);
    free(text);
    free(expected);
    /* nothing of the dead is left but what belongs there */
    char owners[300];
    snprintf(owners, sizeof owners, "%s/dead/owners", folder);
    DIR *d = opendir(owners);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) assert_int_equal(e->d_name[0], '.');
    closedir(d);
}

/* While one process is at a run, another waits for it, and takes it over when the first one dies. */
static void a_claim_is_inherited(void **state)
{
    (void)state;
    const char *path = fresh("over");
    bench b;
    prepare(&b);
    dis__store *store = open_store(path);
    const pid_t pid = child(path, 1, 2000); /* at its first run for two seconds */
    dis_run_state states[FAKE_RUNS] = {DIS_RUN_MISSING};
    for (int i = 0; i < 500 && states[0] != DIS_RUN_RUNNING; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
        assert_int_equal(dis__store_get_view(store, &b.plan, &(dis__known){.state = states}), DIS_OK);
    }
    assert_int_equal(states[0], DIS_RUN_RUNNING);
    dis__claim claim;
    assert_int_equal(dis__store_claim(store, &b.plan, 0, false, &claim), DIS_OK);
    assert_int_equal(claim, DIS__RUNS_REMOTELY);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(dis__store_get_view(store, &b.plan, &(dis__known){.state = states}), DIS_OK);
    assert_int_equal(states[0], DIS_RUN_MISSING);
    dis_experiment_counts counts;
    assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_OK);
    assert_int_equal(counts.computed, FAKE_RUNS);
    dis__store_close(store);
}

/* ---- stopping ---- */

static int stop_now(void *user)
{
    return atomic_fetch_add((_Atomic int *)user, 1) > 1;
}

static void a_stop_request_stops(void **state)
{
    (void)state;
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    b.work.sleep_ms = 120;
    _Atomic int n_polls = 0;
    dis_context_options o = dis_context_options_default();
    o.threads = 2;
    o.stop = stop_now;
    o.user = (void *)&n_polls;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    dis__store *store = open_store(fresh("stop"));
    const dis__runner runner = {.plan = &b.plan, .store = store, .execute = fake_execute, .user = &b.work};
    assert_int_equal(dis__runner_run(ctx, &runner, &counts), DIS_ECANCELLED);
    assert_true(counts.done > 0 && counts.done < FAKE_RUNS);
    dis_context_destroy(ctx);
    dis_run_state states[FAKE_RUNS];
    size_t running = 0;
    assert_int_equal(dis__store_get_view(store, &b.plan, &(dis__known){.state = states}), DIS_OK);
    for (size_t r = 0; r < FAKE_RUNS; r++) running += states[r] == DIS_RUN_RUNNING;
    assert_int_equal(running, 0);
    dis__store_close(store);
}

/* ---- what stands in the way ---- */

static void bad_databases_are_refused(void **state)
{
    (void)state;
    char file[600];
    dis__store *store;
    const char *path = fresh("bad");
    mkdir(path, 0777);
    snprintf(file, sizeof file, "%s/results.sqlite", path);
    put_text("bad/results.sqlite",
             "this is no database, but it is long enough to have the header of one, were it one at all......");
    assert_int_equal(dis__store_open(path, true, 100, &store), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "not an SQLite database"));
    /* somebody else's */
    unlink(file);
    dis__sql *db;
    assert_int_equal(dis__sql_open(file, true, 100, &db), DIS_OK);
    assert_int_equal(dis__sql_run(db, "CREATE TABLE t(x)"), DIS_OK);
    dis__sql_close(db);
    assert_int_equal(dis__store_open(path, true, 100, &store), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "another program"));
    /* of a later version */
    store = open_store(fresh("bad"));
    dis__store_close(store);
    assert_int_equal(dis__sql_open(file, false, 100, &db), DIS_OK);
    assert_int_equal(dis__sql_run(db, "PRAGMA user_version = 99"), DIS_OK);
    dis__sql_close(db);
    assert_int_equal(dis__store_open(path, true, 100, &store), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "version 99"));
}

static void a_damaged_database_is_reported(void **state)
{
    (void)state;
    bench b;
    dis_experiment_counts counts;
    prepare(&b);
    const char *path = fresh("damaged");
    dis__store *store = open_store(path);
    assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_OK);
    dis__store_close(store);
    char file[600];
    snprintf(file, sizeof file, "%s/results.sqlite", path);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    FILE *f = fopen(file, "r+b");
    assert_non_null(f);
    fseek(f, 4096, SEEK_SET); /* past the page of the schema */
    for (long i = 4096; i < st.st_size; i++) fputc(0xA5, f);
    fclose(f);
    if (dis__store_open(path, false, 100, &store) == DIS_OK) {
        dis_run_state states[FAKE_RUNS];
        assert_int_equal(dis__store_get_view(store, &b.plan, &(dis__known){.state = states}), DIS_EDATA);
        assert_non_null(strstr(dis_last_error(), "damaged"));
        assert_int_equal(run_all(&b, store, 2, false, &counts), DIS_EDATA);
        dis__store_close(store);
    }
}

static void a_locked_database_is_reported(void **state)
{
    (void)state;
    const char *path = fresh("locked");
    dis__store *store = open_store(path);
    dis__store_close(store);
    char file[600];
    snprintf(file, sizeof file, "%s/results.sqlite", path);
    dis__sql *db;
    assert_int_equal(dis__sql_open(file, false, 100, &db), DIS_OK);
    assert_int_equal(dis__sql_begin(db), DIS_OK);
    assert_int_equal(dis__store_open(path, true, 50, &store), DIS_EIO);
    assert_non_null(strstr(dis_last_error(), "locked"));
    assert_int_equal(dis__sql_commit(db, DIS_OK), DIS_OK);
    dis__sql_close(db);
    store = open_store(path);
    dis__store_close(store);
}

static void no_store_is_no_failure(void **state)
{
    (void)state;
    bench b;
    prepare(&b);
    dis__store *store = (dis__store *)&b;
    assert_int_equal(dis__store_open(fresh("none"), false, 100, &store), DIS_OK);
    assert_null(store);
    dis_run_state states[FAKE_RUNS];
    assert_int_equal(dis__store_get_view(NULL, &b.plan, &(dis__known){.state = states}), DIS_OK);
    assert_int_equal(states[0], DIS_RUN_MISSING);
    char *text = fake_table(&b.experiment, NULL);
    assert_non_null(strstr(text, "0 8 0 0 nan"));
    free(text);
}

/* ---- faults ---- */

static dis_status small_experiment(void *arg)
{
    bench *b = arg;
    dis__store *store;
    dis_experiment_counts counts;
    for (size_t r = 0; r < FAKE_RUNS; r++) b->selected[r] = r == 0 || r == 8;
    DIS_TRY(dis__store_open(fresh("faults"), true, 1000, &store));
    dis_status status = run_all(b, store, 1, false, &counts);
    dis__known known = {0};
    dis_experiment_table *table = NULL;
    dis_run_record *record = NULL;
    size_t n;
    if (status == DIS_OK) status = dis__known_read(&b->experiment, store, &known);
    if (status == DIS_OK) status = dis__table_make(NULL, &b->experiment, store, &known, &table);
    if (status == DIS_OK) status = dis__store_record(store, b->run[8].key, &record, &n);
    dis__run_record_destroy(record);
    dis_experiment_table_destroy(table);
    dis__known_free(&known);
    dis__store_close(store);
    return status;
}

static bool has_temporary(const char *path)
{
    bool found = false;
    DIR *d = opendir(path);
    if (!d) return false;
    for (const struct dirent *e; (e = readdir(d)) && !found;) {
        char inner[1024];
        if (e->d_name[0] == '.') continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        found = strstr(e->d_name, ".tmp") || has_temporary(inner);
    }
    closedir(d);
    return found;
}

/* After any fault the store is whole: the same work, undisturbed, goes through on what is there. */
static void still_usable(void *arg)
{
    bench *b = arg;
    const char *path = in_folder("faults");
    assert_false(has_temporary(path));
    dis__store *store;
    dis_experiment_counts counts;
    assert_int_equal(dis__store_open(path, true, 1000, &store), DIS_OK);
    assert_int_equal(run_all(b, store, 1, true, &counts), DIS_OK);
    assert_int_equal(counts.done, 2);
    dis__store_close(store);
}

static void every_fault_is_reported(void **state)
{
    (void)state;
    bench b;
    prepare(&b);
    walk_faults(small_experiment, still_usable, &b);
}

/* ---- figures ---- */

static void student_is_right(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double t;
    } known[] = {{1, 12.706204736432095}, {2, 4.302652729911275},  {3, 3.182446305284263},   {4, 2.7764451051977987},
                 {9, 2.2621571627409915}, {29, 2.045229642132703}, {100, 1.9839715184496334}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(dis__student_quantile(.95, known[i].n) - known[i].t) < 1e-9 * known[i].t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_jobs),
        cmocka_unit_test(a_failed_run_stops_nobody),
        cmocka_unit_test(a_record_has_everything),
        cmocka_unit_test(a_new_measure_is_missing),
        cmocka_unit_test(two_processes_share_a_store),
        cmocka_unit_test(a_dead_owner_holds_nothing),
        cmocka_unit_test(a_claim_is_inherited),
        cmocka_unit_test(a_stop_request_stops),
        cmocka_unit_test(bad_databases_are_refused),
        cmocka_unit_test(a_damaged_database_is_reported),
        cmocka_unit_test(a_locked_database_is_reported),
        cmocka_unit_test(no_store_is_no_failure),
        cmocka_unit_test(every_fault_is_reported),
        cmocka_unit_test(student_is_right),
    };
    if (dis__sql_require() != DIS_OK) {
        printf("skipped: %s\n", dis_last_error());
        return 77;
    }
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
