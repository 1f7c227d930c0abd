/* SQLite behind our errors. In test builds each statement is a position where memory, and each step one where the disk,
 * can fail; what SQLite does within is its own. */
#include "experiment/store/sql.h"
#include "core/fault_injection.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "io/files/folder.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DIS_HAVE_SQLITE
#include <sqlite3.h>

/* Bounds for a database that may come from someone else. A statement may take STEPS instructions of SQLite's virtual
 * machine, and STEPS_PER_BYTE more for each byte of the database and of the attached one: what a scan of all rows needs
 * many times over. */
enum { CHECK_EVERY = 100000, STEPS = 200000000, STEPS_PER_BYTE = 64, MAX_TEXT = 1 << 26, MAX_ATTACHED = 1 };

struct dis__sql {
    sqlite3 *db;
    char *path;
    uint64_t steps; /* of the current statement */
};

/* codes, status, what it means for a user */
static const struct {
    int code;
    dis_status status;
    const char *meaning;
} failures[] = {
    {SQLITE_NOMEM, DIS_ELIMIT, "no memory"},
    {SQLITE_BUSY, DIS_EIO, "another program keeps it locked; try again when that is done"},
    {SQLITE_LOCKED, DIS_EIO, "another program keeps it locked; try again when that is done"},
    {SQLITE_FULL, DIS_EIO, "the disk is full; make room and go on with the same command"},
    {SQLITE_READONLY, DIS_EIO, "it cannot be written"},
    {SQLITE_CANTOPEN, DIS_EIO, "it cannot be opened"},
    {SQLITE_IOERR, DIS_EIO, "the disk failed to read or write"},
    {SQLITE_PERM, DIS_EIO, "it cannot be written"},
    {SQLITE_AUTH, DIS_EIO, "it cannot be written"},
    {SQLITE_NOLFS, DIS_EIO, "the file system does not take files that large"},
    {SQLITE_PROTOCOL, DIS_EIO, "another program keeps it locked; try again when that is done"},
    {SQLITE_NOTADB, DIS_EDATA, "it is not an SQLite database; use another store, or move it away"},
    {SQLITE_CORRUPT, DIS_EDATA, "it is damaged; move it away, or repair it with sqlite3's .recover"},
    {SQLITE_TOOBIG, DIS_ELIMIT, "a text is too long for it"},
    {SQLITE_INTERRUPT, DIS_EDATA, "a query takes more steps than a store of this size can need; use another store"},
};

static dis_status failed(const char *path, int code, const char *message)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == (code & 0xFF))
            return dis__fail(failures[i].status, "%s: %s (SQLite: %s)", path, failures[i].meaning,
                             message ? message : sqlite3_errstr(code));
    /* The statements are fixed and tested, so other errors of SQLite are due to the database. */
    return dis__fail(DIS_EDATA, "%s: the database is damaged, or was not written by dissent (SQLite %d: %s)", path,
                     code, message ? message : sqlite3_errstr(code));
}

static dis_status check(dis__sql *db, int code)
{
    return code == SQLITE_OK ? DIS_OK : failed(db->path, code, sqlite3_errmsg(db->db));
}

dis_status dis__sql_require(void)
{
    return DIS_OK;
}

static uint64_t file_bytes(sqlite3 *db, const char *name)
{
    struct stat st;
    const char *path = sqlite3_db_filename(db, name);
    return path && *path && dis__os_stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Called by SQLite every CHECK_EVERY steps; other than 0: stop. */
static int count_steps(void *arg)
{
    dis__sql *db = arg;
    db->steps += CHECK_EVERY;
    if (db->steps <= STEPS) return 0;
    return db->steps > STEPS + STEPS_PER_BYTE * (file_bytes(db->db, "main") + file_bytes(db->db, "other"));
}

/* Nothing in a database may run code or exceed the bounds above. */
static dis_status restrict_database(dis__sql *db)
{
    sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, MAX_TEXT);
    sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, MAX_ATTACHED);
    sqlite3_limit(db->db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    static const int settings[][2] = {
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
#ifdef SQLITE_DBCONFIG_DEFENSIVE
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
#endif
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
#endif
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        sqlite3_db_config(db->db, settings[i][0], settings[i][1], (int *)NULL);
    sqlite3_progress_handler(db->db, CHECK_EVERY, count_steps, db);
    return dis__sql_run(db, "PRAGMA cell_size_check = ON");
}

/* SQLite follows a link, and waits at a FIFO. */
static dis_status check_files(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && status == DIS_OK; i++) {
        char *name;
        struct stat st;
        const size_t n = strlen(path) + 16;
        DIS_TRY(dis__alloc_array(&name, n, 1));
        snprintf(name, n, "%s%s", path, suffixes[i]);
        if (dis__os_link_stat(name, &st) == 0 && !S_ISREG(st.st_mode))
            status = dis__fail(DIS_EDATA, "%s is %s; expected a regular file", name, dis__file_kind(st.st_mode));
        dis__free(name);
    }
    return status;
}

/* file:PATH?immutable=1, with special characters written as %XX. The caller frees it. */
static dis_status frozen_name(const char *path, char **out)
{
    static const char hex[] = "0123456789ABCDEF", scheme[] = "file:", option[] = "?immutable=1";
    DIS_TRY(dis__alloc_array(out, dis__saturating_size(3, strlen(path), sizeof scheme + sizeof option), 1));
    char *at = *out;
    memcpy(at, scheme, sizeof scheme - 1);
    at += sizeof scheme - 1;
    for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
        if (*c == '?' || *c == '#' || *c == '%') {
            *at++ = '%';
            *at++ = hex[*c >> 4];
            *at++ = hex[*c & 15];
        } else {
            *at++ = (char)*c;
        }
    }
    memcpy(at, option, sizeof option);
    return DIS_OK;
}

/* A database beside which nothing may be written has no place for the files of WAL mode: it is read as it lies. Where
 * they are there already, somebody is at work, and SQLite shares them. */
static dis_status open_as_allowed(dis__sql *db, bool create)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0), code;
    char *name = NULL;
    if (!create && dis__os_access(db->path, W_OK) != 0) {
        const size_t n = strlen(db->path) + 5;
        DIS_TRY(dis__alloc_array(&name, n, 1));
        snprintf(name, n, "%s-wal", db->path);
        const bool at_work = dis__os_access(name, F_OK) == 0;
        dis__free(name);
        name = NULL;
        flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (at_work ? 0 : SQLITE_OPEN_URI);
        if (!at_work) DIS_TRY(frozen_name(db->path, &name));
    }
    code = sqlite3_open_v2(name ? name : db->path, &db->db, flags, NULL);
    dis__free(name);
    return code == SQLITE_OK ? DIS_OK : failed(db->path, code, db->db ? sqlite3_errmsg(db->db) : NULL);
}

dis_status dis__sql_open(const char *path, bool create, int wait_ms, dis__sql **out)
{
    dis__sql *db;
    DIS_TRY(dis__alloc_zeroed(&db, 1, sizeof *db));
    dis_status status = dis__copy_text(&db->path, path, strlen(path));
    if (status == DIS_OK && dis__fault_inject(DIS_FAULT_IO)) status = failed(path, SQLITE_CANTOPEN, NULL);
    if (status == DIS_OK) status = check_files(path);
    if (status == DIS_OK) status = open_as_allowed(db, create);
    if (status == DIS_OK) sqlite3_busy_timeout(db->db, wait_ms);
    if (status == DIS_OK) status = restrict_database(db);
    if (status == DIS_OK) {
        *out = db;
    } else {
        dis__sql_close(db);
    }
    return status;
}

void dis__sql_close(dis__sql *db)
{
    if (!db) return;
    sqlite3_close(db->db);
    dis__free(db->path);
    dis__free(db);
}

bool dis__sql_is_busy(const dis__sql *db)
{
    return (sqlite3_errcode(db->db) & 0xff) == SQLITE_BUSY;
}

dis_status dis__sql_run(dis__sql *db, const char *text)
{
    if (dis__fault_inject(DIS_FAULT_ALLOC)) return failed(db->path, SQLITE_NOMEM, NULL);
    if (dis__fault_inject(DIS_FAULT_IO)) return failed(db->path, SQLITE_FULL, NULL);
    db->steps = 0;
    return check(db, sqlite3_exec(db->db, text, NULL, NULL, NULL));
}

dis__query dis__sql_query(dis__sql *db, const char *text)
{
    dis__query q = {.db = db};
    db->steps = 0;
    sqlite3_stmt *statement = NULL;
    if (dis__fault_inject(DIS_FAULT_ALLOC))
        q.status = failed(db->path, SQLITE_NOMEM, NULL);
    else
        q.status = check(db, sqlite3_prepare_v2(db->db, text, -1, &statement, NULL));
    q.statement = statement;
    return q;
}

void dis__bind_text(dis__query *q, const char *text)
{
    if (q->status == DIS_OK)
        q->status = check(q->db, sqlite3_bind_text(q->statement, ++q->bound, text, -1, SQLITE_TRANSIENT));
}

void dis__bind_count(dis__query *q, uint64_t x)
{
    if (q->status == DIS_OK) q->status = check(q->db, sqlite3_bind_int64(q->statement, ++q->bound, (int64_t)x));
}

void dis__bind_real(dis__query *q, double x)
{
    if (q->status == DIS_OK)
        q->status = check(q->db, isnan(x) ? sqlite3_bind_null(q->statement, ++q->bound)
                                          : sqlite3_bind_double(q->statement, ++q->bound, x));
}

bool dis__sql_next(dis__query *q)
{
    if (q->status != DIS_OK) return false;
    const int code = dis__fault_inject(DIS_FAULT_IO) ? SQLITE_IOERR : sqlite3_step(q->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) q->status = failed(q->db->path, code, sqlite3_errmsg(q->db->db));
    return false;
}

const char *dis__sql_text(dis__query *q, int column)
{
    return (const char *)sqlite3_column_text(q->statement, column);
}

double dis__sql_real(dis__query *q, int column)
{
    return sqlite3_column_type(q->statement, column) == SQLITE_NULL ? (double)NAN
                                                                    : sqlite3_column_double(q->statement, column);
}

uint64_t dis__sql_count(dis__query *q, int column)
{
    return (uint64_t)sqlite3_column_int64(q->statement, column);
}

void dis__sql_again(dis__query *q)
{
    if (q->statement) sqlite3_reset(q->statement);
    q->db->steps = 0;
    q->bound = 0;
}

dis_status dis__sql_end(dis__query *q)
{
    sqlite3_finalize(q->statement);
    q->statement = NULL;
    return q->status;
}

dis_status dis__sql_commit(dis__sql *db, dis_status so_far)
{
    dis_status status = so_far;
    if (status == DIS_OK) status = dis__sql_run(db, "COMMIT");
    if (status != DIS_OK)
        sqlite3_exec(db->db, "ROLLBACK", NULL, NULL, NULL); /* the message remains that of the first
                                                                               * failure */
    return status;
}
#else
/* Without SQLite nothing can be opened, so nothing else is ever called with a connection. */
dis_status dis__sql_require(void)
{
    return dis__fail(DIS_EUSAGE,
                     "results of experiments need SQLite, and this build has none; install libsqlite3-dev and "
                     "build again");
}

dis_status dis__sql_open(const char *path, bool create, int wait_ms, dis__sql **out)
{
    (void)path;
    (void)create;
    (void)wait_ms;
    (void)out;
    return dis__sql_require();
}

void dis__sql_close(dis__sql *db)
{
    (void)db;
}

static dis_status absent(void)
{
    return dis__fail(DIS_EBUG, "SQLite is called in a build without it");
}

bool dis__sql_is_busy(const dis__sql *db)
{
    (void)db;
    return false;
}

dis_status dis__sql_run(dis__sql *db, const char *text)
{
    (void)db;
    (void)text;
    return absent();
}

dis__query dis__sql_query(dis__sql *db, const char *text)
{
    (void)text;
    return (dis__query){.db = db, .status = absent()};
}

void dis__bind_text(dis__query *q, const char *text)
{
    (void)q;
    (void)text;
}

void dis__bind_count(dis__query *q, uint64_t x)
{
    (void)q;
    (void)x;
}

void dis__bind_real(dis__query *q, double x)
{
    (void)q;
    (void)x;
}

bool dis__sql_next(dis__query *q)
{
    (void)q;
    return false;
}

const char *dis__sql_text(dis__query *q, int column)
{
    (void)q;
    (void)column;
    return NULL;
}

double dis__sql_real(dis__query *q, int column)
{
    (void)q;
    (void)column;
    return (double)NAN;
}

uint64_t dis__sql_count(dis__query *q, int column)
{
    (void)q;
    (void)column;
    return 0;
}

void dis__sql_again(dis__query *q)
{
    (void)q;
}

dis_status dis__sql_end(dis__query *q)
{
    return q->status;
}

dis_status dis__sql_commit(dis__sql *db, dis_status so_far)
{
    (void)db;
    return so_far;
}
#endif

dis_status dis__sql_do(dis__query *q)
{
    while (dis__sql_next(q)) {}
    return dis__sql_end(q);
}

dis_status dis__sql_begin(dis__sql *db)
{
    return dis__sql_run(db, "BEGIN IMMEDIATE");
}
