/* sql.h: SQLite as the store uses it: statements with values in, rows out, and failures as everywhere else here.
 *
 *     dis__query q = dis__sql_query(db, "SELECT name FROM runs WHERE key = ?");
 *     dis__bind_text(&q, key);
 *     while (dis__sql_next(&q)) puts(dis__sql_text(&q, 0));
 *     DIS_TRY(dis__sql_end(&q));
 *
 * Calls between begin and end cannot fail by themselves: the first failure comes back from the end. One connection, one
 * thread at a time. */
#ifndef DIS_EXPERIMENT_STORE_SQL_H
#define DIS_EXPERIMENT_STORE_SQL_H
#include "core/error.h"

typedef struct dis__sql dis__sql;

typedef struct {
    dis__sql *db;
    void *statement;
    int bound;
    dis_status status;
} dis__query;

/* DIS_EUSAGE: this build has no SQLite. */
dis_status dis__sql_require(void);

/* `wait_ms`: how long to wait for other processes. Without `create`, what may not be written can still be read.
 * DIS_EIO; DIS_EDATA: not a database. */
dis_status dis__sql_open(const char *path, bool create, int wait_ms, dis__sql **out);
void dis__sql_close(dis__sql *db);

/* Statements without values; several, parted by semicolons. */
dis_status dis__sql_run(dis__sql *db, const char *text);
/* Whether the last call failed because another process holds a lock. */
bool dis__sql_is_busy(const dis__sql *db);

dis__query dis__sql_query(dis__sql *db, const char *text);
/* Values of the question marks, from left to right. NULL and NaN are NULL in the database. Texts are copied. */
void dis__bind_text(dis__query *q, const char *text);
void dis__bind_count(dis__query *q, uint64_t x);
void dis__bind_real(dis__query *q, double x);
/* The next row; false: the end, or a failure. */
bool dis__sql_next(dis__query *q);
/* Columns of the current row, from 0. A text is valid until the next row; NULL is NULL, NaN and 0. */
const char *dis__sql_text(dis__query *q, int column);
double dis__sql_real(dis__query *q, int column);
uint64_t dis__sql_count(dis__query *q, int column);
/* Ready for other values. */
void dis__sql_again(dis__query *q);
dis_status dis__sql_end(dis__query *q);
/* The same for a statement that gives no rows. */
dis_status dis__sql_do(dis__query *q);

/* A transaction that writes: others wait. */
dis_status dis__sql_begin(dis__sql *db);
/* Commits if `so_far` is DIS_OK, otherwise rolls back and returns `so_far`. */
dis_status dis__sql_commit(dis__sql *db, dis_status so_far);

#endif
