/* column_survey.h: statistics of the first rows of a table, column by column, for suggestions. It never decides what is
 * read. */
#ifndef DIS_VOTES_ROLES_COLUMN_SURVEY_H
#define DIS_VOTES_ROLES_COLUMN_SURVEY_H
#include "votes/mapper/record_reader.h"

enum { DIS_SURVEY_ROWS = 2000, DIS_SURVEY_COLUMNS = 256, DIS_SURVEY_MISSING = 4 };
#define DIS_NO_VALUE UINT32_MAX /* a missing value */

typedef struct {
    const char *name; /* ends with NUL */
    size_t n_name;
    dis__key_table values;                   /* value: a number from 0 */
    size_t n_cells;                          /* neither empty nor a word for a missing value (NA, nan, ...) */
    size_t n_empty;                          /* empty cells */
    const char *missing[DIS_SURVEY_MISSING]; /* (n_missing) such words, in order of appearance */
    size_t n_missing;
    size_t n_values;   /* distinct ones */
    size_t n_bytes;    /* of all cells */
    size_t n_numbers;  /* cells that are numbers */
    size_t n_measured; /* cells that are decimal fractions, dates or times: not ids */
    size_t n_mails;    /* cells with an @ */
    size_t n_files;    /* cells with a slash or several words */
    uint32_t *cell;    /* (DIS_SURVEY_ROWS) the value index of each row, DIS_NO_VALUE */
} dis__survey_column;

typedef struct {
    dis__secret secret;
    dis__arena texts;
    dis__survey_column *column; /* (n_columns) */
    size_t n_columns, n_rows;
    bool table;     /* not JSON */
    bool unnamed;   /* the column names are data, or numbers */
    char delimiter; /* first line of a table that `no_header` would skip; 0: none */
} dis__survey;

/* Surveys the rows of `source`, from the last record on (`record`, not NULL). Unreadable rows end the survey. On
 * failure there is nothing to free. */
dis_status dis__survey_create(dis__record_reader *source, dis__survey *out);
/* The same from the first record of `source` on; *empty: there is none, and nothing to free. */
dis_status dis__survey_first(dis__record_reader *source, dis__survey *out, bool *empty);
void dis__survey_free(dis__survey *survey);

/* Words for a missing value: NA, nan, NULL and so on. */
bool dis__is_missing_word(const char *text, size_t n);

/* Number of cells of column a with a value that occurs in column b. */
size_t dis__survey_shared(const dis__survey *survey, size_t a, size_t b);
/* Number of distinct pairs of values in two columns. */
dis_status dis__survey_pairs(const dis__survey *survey, size_t a, size_t b, size_t *n);
/* The text of a value of a column. */
const dis__key *dis__survey_text(const dis__survey *survey, size_t column, uint32_t value);
/* Whether the value in `from` determines the value in `to`, in every row. */
bool dis__survey_determines(const dis__survey *survey, size_t from, size_t to);

#endif
