/* Tables without a header in the first line, and wide tables with columns that are not answers: see column_roles.h. */
#include "votes/roles/column_roles.h"
#include <stdio.h>

static const char *const role_field[] = {"task", "worker", "label"};

/* Number of roles named by the cells of a row. */
static size_t count_roles(const dis__csv *csv, size_t found[3][2], size_t n_found[3])
{
    enum { MAX_CELLS = 256 };
    dis_column_name names[MAX_CELLS];
    const size_t n = csv->n_fields < MAX_CELLS ? csv->n_fields : MAX_CELLS;
    for (size_t i = 0; i < n; i++) names[i] = (dis_column_name){csv->field[i].text, csv->field[i].n};
    size_t roles = 0;
    for (int role = 0; role < 3; role++) {
        n_found[role] = dis_role_find((dis_role)role, names, n, found[role]);
        roles += n_found[role] > 0;
    }
    return roles;
}

static void add_number(dis__suggestion *a, const char *field, size_t number)
{
    char text[24];
    dis__suggestion_add_value(a, field, text, (size_t)snprintf(text, sizeof text, "%zu", number));
}

/* A header that names a column twice: columns by their numbers. */
static dis_status advise_numbers(dis_status status, size_t found[3][2], const size_t n_found[3])
{
    dis__suggestion advice = {0};
    for (size_t i = 0; i < n_found[DIS_ROLE_LABEL]; i++) {
        dis__suggestion_begin_line(&advice);
        add_number(&advice, "skip", 1);
        dis__suggestion_add_flag(&advice, "no_header");
        for (int role = 0; role < 3; role++) add_number(&advice, role_field[role], found[role][role == 2 ? i : 0]);
    }
    return dis__fail_append(status, advice.text);
}

static dis_status find_header(const dis__input *in, char separator)
{
    enum { MAX_LINES = 10 };
    dis__csv csv;
    size_t found[3][2], n_found[3];
    dis__csv_open(&csv, in, separator);
    dis_status status = DIS_OK;
    for (size_t line = 0; status == DIS_OK && line < MAX_LINES && csv.next < csv.end; line++) {
        status = dis__csv_row(&csv);
        if (status != DIS_OK || count_roles(&csv, found, n_found) < 3) continue;
        dis__suggestion advice = {0};
        if (line == 0) break;
        dis__suggestion_begin_line(&advice);
        add_number(&advice, "skip", line);
        status =
            dis__fail_append(dis__fail_at(DIS_EDATA, in->path, line + 1, 0,
                                          "this line looks like the header, and there are lines before it; skip them:"),
                             advice.text);
        dis__csv_close(&csv);
        return status;
    }
    dis__csv_close(&csv);
    return status == DIS_EDATA ? DIS_OK : status;
}

dis_status dis__find_header(const dis__input *in)
{
    for (const char *separator = ",;\t|"; *separator; separator++) DIS_TRY(find_header(in, *separator));
    return DIS_OK;
}

dis_status dis__check_header_twice(const dis__input *in, char separator)
{
    dis__csv csv;
    size_t found[3][2], n_found[3];
    char message[DIS_MESSAGE];
    snprintf(message, sizeof message, "%s", dis_last_error());
    if (!strstr(message, "two columns are called")) return DIS_OK;
    dis__csv_open(&csv, in, separator);
    dis_status status = dis__csv_row(&csv);
    const bool header = status == DIS_OK && count_roles(&csv, found, n_found) == 3;
    if (header) dis__set_error(message);
    if (header) status = advise_numbers(DIS_EDATA, found, n_found);
    dis__csv_close(&csv);
    return header ? status : DIS_OK;
}

/* ---- another separator, another kind of table ---- */

static const struct {
    char separator;
    const char *word, *name; /* the option's value, and its name in messages */
} separators[] = {{',', ",", "commas"},
                  {';', ";", "semicolons"},
                  {'\t', "tab", "tabs"},
                  {'|', "|", "the character |"},
                  {' ', "space", "spaces"}};

/* Whether this separator yields columns; spaces also separate words, so that all roles must be named. */
static bool separates(const dis__input *in, char separator)
{
    dis__csv csv;
    size_t found[3][2], n_found[3];
    dis__csv_open(&csv, in, separator);
    const bool fits = dis__csv_row(&csv) == DIS_OK && csv.n_fields > 1 &&
                      (separator != ' ' || count_roles(&csv, found, n_found) == 3);
    dis__csv_close(&csv);
    return fits;
}

dis_status dis__check_single_column(const dis__record_reader *s)
{
    if (!s->table || s->csv.n_columns != 1) return DIS_OK;
    const dis__csv_field *header = s->csv.header;
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        if (separators[i].separator == s->csv.separator || !separates(s->input, separators[i].separator)) continue;
        dis__suggestion advice = {0};
        dis__suggestion_begin_line(&advice);
        dis__suggestion_add_value(&advice, "delimiter", separators[i].word, strlen(separators[i].word));
        return dis__fail_append(dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                                             "the table has one column, \"%.*s\"; if %s separate the columns, use:",
                                             header->n > 100 ? 100 : (int)header->n, header->text, separators[i].name),
                                advice.text);
    }
    return DIS_OK;
}

dis_status dis__check_soft_labels(const dis__record_reader *s, const dis__roles *roles)
{
    size_t n = 0;
    if (!roles->standard || roles->given[DIS_ROLE_WORKER] || roles->n_found[DIS_ROLE_WORKER]) return DIS_OK;
    for (size_t i = 0; i < roles->n_names; i++) {
        const dis_column_name *name = &roles->names[i];
        n += s->table ? name->n > 2 && memcmp(name->text, "p:", 2) == 0 : name->n == 1 && *name->text == 'p';
    }
    if (n == 0) return DIS_OK;
    return dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                        "these are soft labels, as dissent labels writes them, and not votes: no column names the "
                        "worker; give the file of the votes");
}

static const size_t nothing[] = {DIS_NO_COLUMN, DIS_NO_COLUMN, DIS_NO_COLUMN};

static dis_status suggest_numbers(dis__record_reader *s, const dis__input *in, bool delimiter_found)
{
    dis__survey survey;
    dis__long_guess guess;
    bool empty;
    DIS_TRY(dis__survey_first(s, &survey, &empty));
    if (empty) return DIS_OK;
    dis__suggestion advice = {0};
    survey.unnamed = true;
    if (delimiter_found) survey.delimiter = s->csv.separator;
    dis_status status = dis__guess_long(&survey, nothing, &guess);
    if (status == DIS_OK && guess.task != DIS_NO_COLUMN) {
        dis__suggest_long_table(&advice, &survey, &guess, true, nothing);
        status = dis__fail_append(dis__fail_at(DIS_EDATA, in->path, 1, 0,
                                               "the first row is not a header; name columns by their numbers:"),
                                  advice.text);
    }
    dis__survey_free(&survey);
    return status;
}

dis_status dis__suggest_no_header(dis__reader *r, dis__input *in)
{
    dis__record_reader s;
    const bool before = r->o.no_header;
    r->o.no_header = true;
    dis_status status = dis__record_reader_open(&s, r, in);
    if (status == DIS_OK) {
        status = suggest_numbers(&s, in, r->delimiter_found);
        dis__record_reader_close(&s);
    }
    r->o.no_header = before;
    return status;
}

/* ---- wide ---- */

static dis_status check_columns(const dis__reader *r, dis__record_reader *s)
{
    dis__survey survey;
    dis__wide_guess guess;
    bool empty;
    size_t task = DIS_NO_COLUMN;
    DIS_TRY(dis__survey_first(s, &survey, &empty));
    if (empty) return DIS_OK;
    for (size_t c = 0; c < survey.n_columns; c++)
        if (strcmp(survey.column[c].name, r->o.task) == 0) task = c;
    if (task == DIS_NO_COLUMN && strcmp(r->o.task, "[0]") == 0) task = 0;
    dis__guess_wide(&survey, task, &guess);
    dis_status status = DIS_OK;
    if (guess.n_workers && guess.n_others && task != DIS_NO_COLUMN) {
        char others[300] = "";
        dis__suggestion advice = {0};
        for (size_t c = 0; c < survey.n_columns; c++)
            if (!guess.worker[c] && c != task && survey.column[c].n_cells)
                dis__text_list_append(others, sizeof others, survey.column[c].name, survey.column[c].n_name);
        dis__suggest_wide_table(&advice, &survey, &guess);
        status = dis__fail_append(dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                                               "not all columns hold answers: %s; name those of the workers:", others),
                                  advice.text);
    }
    dis__survey_free(&survey);
    return status;
}

dis_status dis__check_wide_columns(dis__reader *r)
{
    dis__record_reader s;
    if (r->o.n_classes || r->o.no_header) return DIS_OK; /* a value that cannot be a class is an error in any case */
    DIS_TRY(dis__record_reader_open(&s, r, &r->input[0]));
    const dis_status status = s.table ? check_columns(r, &s) : DIS_OK;
    dis__record_reader_close(&s);
    return status;
}
