/* result_rows.h: the fields of a row of results, defined once: columns of tables and keys of summaries come from the
 * same list.
 *
 *     static const cli_field fields[] = {CLI_NAME_FIELD("group"), CLI_FIELD(dis_group_row, COUNT, votes), ...};
 *     const cli_rows rows = {.field = fields, .n_fields = N(fields), .row = x, .n_rows = n, .row_size = sizeof *x,
 *                            .text = name_of_group, .user = job};
 *     status = cli_rows_write(&rows, path, NULL);
 *     cli_rows_write_json(&rows, j, "by_group");
 *
 * A metric is three columns (value, low and high end of its interval) and one object. */
#ifndef DIS_CLI_RESULT_ROWS_H
#define DIS_CLI_RESULT_ROWS_H
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "output/metric_table.h"

typedef enum {
    CLI_FIELD_NAME,    /* a text that the caller gives */
    CLI_FIELD_COUNT,   /* uint64_t */
    CLI_FIELD_SMALL,   /* uint32_t */
    CLI_FIELD_ORDINAL, /* uint32_t from 0, shown from 1 */
    CLI_FIELD_REAL,    /* double; NaN is an empty cell */
    CLI_FIELD_METRIC,  /* dis_metric */
    CLI_FIELD_BOOL     /* bool; unknown where the uint64_t at `known` is 0 */
} cli_field_kind;

typedef struct {
    const char *name;
    cli_field_kind kind;
    size_t offset, known;
} cli_field;

#define CLI_NAME_FIELD(name_)                 \
    {                                         \
        .name = name_, .kind = CLI_FIELD_NAME \
    }
#define CLI_FIELD_AS(type, kind_, name_, member)                                   \
    {                                                                              \
        .name = name_, .kind = CLI_FIELD_##kind_, .offset = offsetof(type, member) \
    }
#define CLI_FIELD(type, kind_, member) CLI_FIELD_AS(type, kind_, #member, member)

enum { CLI_MAX_FIELDS = 32 };

typedef struct {
    const cli_field *field; /* (n_fields) CLI_MAX_FIELDS at most */
    size_t n_fields;
    const void *row; /* (n_rows) */
    size_t n_rows, row_size;
    /* Of a field that is a name; NULL: an empty cell. */
    const char *(*text)(const void *user, const cli_field *field, size_t row);
    const void *user;
} cli_rows;

dis_status cli_rows_open(const cli_rows *rows, const char *path, const char *format, dis__table_writer **table);
void cli_rows_add(const cli_rows *rows, dis__table_writer *table);
/* A table of these rows alone. */
dis_status cli_rows_write(const cli_rows *rows, const char *path, const char *format);
/* A list of objects under a key. */
void cli_rows_write_json(const cli_rows *rows, dis__json_writer *j, const char *key);

/* As text: ".448 [.211, .630]" or "-" in so many characters; a p- or q-value, which ends a line or is followed by
 * others. */
void cli_metric_print(const dis_metric *m, int width);
void cli_p_value_print(double p, const char *after);

#endif
