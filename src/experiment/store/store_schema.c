/* The tables of a store, and the check that a database has them and nothing else.
 *
 * The database may come from someone else. A view in place of a table can have rows without end, and a trigger or a
 * generated column can change what a statement does. SQLite keeps each CREATE statement as text and parses that text,
 * so comparing the texts is comparing the schemas. What ANALYZE writes is allowed. */
#include "experiment/store/store_internal.h"
#include <stdio.h>
#include <string.h>

enum { APPLICATION = 0x44695373, SCHEMA = 1 };

static const struct {
    const char *name, *text;
} tables[] = {
    {"runs",
     "CREATE TABLE runs(key TEXT PRIMARY KEY, experiment TEXT, cell TEXT, data TEXT, settings TEXT, fold INTEGER,"
     " seed INTEGER, state TEXT NOT NULL, owner TEXT, message TEXT, version TEXT, finished TEXT, seconds REAL,"
     " best_epoch INTEGER, parameters INTEGER, examples INTEGER) WITHOUT ROWID"},
    {"measures", "CREATE TABLE measures(key TEXT, set_name TEXT, metric TEXT, value REAL,"
                 " PRIMARY KEY(key, set_name, metric)) WITHOUT ROWID"},
    {"epochs", "CREATE TABLE epochs(key TEXT, epoch INTEGER, loss REAL, rate REAL, dev REAL, dev_cross_entropy REAL,"
               " PRIMARY KEY(key, epoch)) WITHOUT ROWID"},
    {"sets", "CREATE TABLE sets(key TEXT, set_name TEXT, path TEXT, truth TEXT, PRIMARY KEY(key, set_name))"
             " WITHOUT ROWID"},
};
enum { N_TABLES = sizeof tables / sizeof *tables };
static const char *const analyzed[] = {"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
                                       "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"};

dis_status dis__schema_create(dis__sql *db)
{
    for (size_t i = 0; i < N_TABLES; i++) DIS_TRY(dis__sql_run(db, tables[i].text));
    char text[96];
    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION, SCHEMA);
    return dis__sql_run(db, text);
}

static dis_status read_count(dis__sql *db, const char *text, uint64_t *out)
{
    dis__query q = dis__sql_query(db, text);
    if (dis__sql_next(&q)) *out = dis__sql_count(&q, 0);
    return dis__sql_end(&q);
}

/* One row of sqlite_master; *found counts the tables of the store. */
static dis_status check_object(dis__query *q, const char *path, size_t *found)
{
    const char *type = dis__sql_text(q, 0), *name = dis__sql_text(q, 1), *text = dis__sql_text(q, 2);
    if (!type || !name) return dis__fail(DIS_EDATA, "%s: the schema has no names; the store is damaged", path);
    for (size_t i = 0; text && i < sizeof analyzed / sizeof *analyzed; i++)
        if (strcmp(type, "table") == 0 && strcmp(text, analyzed[i]) == 0) return DIS_OK;
    for (size_t i = 0; i < N_TABLES; i++) {
        if (strcmp(name, tables[i].name) != 0) continue;
        ++*found;
        if (strcmp(type, "table") == 0 && text && strcmp(text, tables[i].text) == 0) return DIS_OK;
        return dis__fail(DIS_EDATA, "%s: \"%s\" is not the table that dissent creates, but: %.100s; use another store",
                         path, name, text ? text : type);
    }
    return dis__fail(DIS_EDATA,
                     "%s: contains the %.20s \"%.60s\", which dissent does not create; drop it with sqlite3, or use "
                     "another store",
                     path, type, name);
}

static dis_status check_objects(dis__sql *db, const char *master, const char *path)
{
    char text[96];
    size_t found = 0;
    snprintf(text, sizeof text, "SELECT type, name, sql FROM %s", master);
    dis__query q = dis__sql_query(db, text);
    while (dis__sql_next(&q)) {
        const dis_status status = check_object(&q, path, &found);
        if (status == DIS_OK) continue;
        q.status = status;
        break;
    }
    DIS_TRY(dis__sql_end(&q));
    if (found == N_TABLES) return DIS_OK;
    return dis__fail(DIS_EDATA, "%s: has %zu of the %d tables of a store; the store is damaged", path, found,
                     (int)N_TABLES);
}

dis_status dis__schema_check(dis__sql *db, const char *path, bool *empty)
{
    uint64_t application = 0, schema = 0, n_objects = 0;
    DIS_TRY(read_count(db, "PRAGMA application_id", &application));
    DIS_TRY(read_count(db, "PRAGMA user_version", &schema));
    DIS_TRY(read_count(db, "SELECT count(*) FROM sqlite_master", &n_objects));
    *empty = n_objects == 0 && application == 0;
    if (*empty) return DIS_OK;
    if (application != APPLICATION)
        return dis__fail(DIS_EDATA, "%s: a database of another program; use another store", path);
    if (schema != SCHEMA)
        return dis__fail(DIS_EDATA,
                         "%s: the store has version %llu, this version of dissent reads %d; use the version that wrote "
                         "it, or another store",
                         path, (unsigned long long)schema, SCHEMA);
    return check_objects(db, "sqlite_master", path);
}

dis_status dis__schema_check_other(dis__sql *db, const char *path)
{
    return check_objects(db, "other.sqlite_master", path);
}
