/* Columns by their usual names, or suggestions: see column_roles.h. Cost: the names; a survey of the first rows only if
 * there is an error to report. */
#include "votes/roles/column_roles.h"
#include "core/memory/memory.h"
#include <stdio.h>
#include <strings.h>

static const char *const role_field[] = {"task", "worker", "label"};

static bool is_named(const dis_column_name *name, const char *text)
{
    return name->n == strlen(text) && memcmp(name->text, text, name->n) == 0;
}

static dis_status list_names(const dis__record_reader *s, dis__roles *out)
{
    const dis__json_value *o = s->table ? NULL : s->record.root.json;
    const size_t n = s->table ? s->csv.n_columns : o->kind == DIS_JSON_OBJECT ? o->n : 0;
    DIS_TRY(dis__alloc_array(&out->names, n ? n : 1, sizeof *out->names));
    const dis__json_value *v = n && o ? o + 1 : NULL;
    for (; out->n_names < n; out->n_names++) {
        const dis__csv_field *h = v ? NULL : &s->csv.header[out->n_names];
        out->names[out->n_names] = v ? (dis_column_name){v->text, v->length} : (dis_column_name){h->text, h->n};
        if (v) v += 1 + v[1].skip;
    }
    return DIS_OK;
}

dis_status dis__roles_find(const dis__reader *r, const dis__record_reader *s, dis__roles *out)
{
    const char *const given[] = {r->o.task, r->o.worker, r->o.label};
    *out = (dis__roles){0};
    DIS_TRY(list_names(s, out));
    for (int role = 0; role < 3; role++) {
        out->given[role] = given[role] != NULL;
        if (!given[role])
            out->n_found[role] = dis_role_find((dis_role)role, out->names, out->n_names, out->found[role]);
        for (size_t i = 0; given[role] && i < out->n_names; i++)
            if (is_named(&out->names[i], given[role])) out->found[role][out->n_found[role]++] = i;
    }
    bool has[2] = {false, false};
    for (size_t i = 0; i < out->n_names; i++) {
        has[0] = has[0] || is_named(&out->names[i], "task");
        has[1] = has[1] || is_named(&out->names[i], "label");
    }
    out->standard = has[0] && has[1];
    return DIS_OK;
}

void dis__roles_free(dis__roles *roles)
{
    dis__free(roles->names);
    roles->names = NULL;
}

static dis_status fail_ambiguous(const dis__record_reader *s, const dis__roles *roles, int role)
{
    dis__suggestion advice = {0};
    const dis_column_name *a = &roles->names[roles->found[role][0]], *b = &roles->names[roles->found[role][1]];
    dis__suggestion_begin_line(&advice);
    dis__suggestion_add_value(&advice, role_field[role], a->text, a->n);
    dis__suggestion_begin_line(&advice);
    dis__suggestion_add_value(&advice, role_field[role], b->text, b->n);
    const dis_status status =
        dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                     "two %s could be the %s: \"%.*s\" and \"%.*s\"; choose one:", s->table ? "columns" : "keys",
                     role_field[role], a->n > 100 ? 100 : (int)a->n, a->text, b->n > 100 ? 100 : (int)b->n, b->text);
    return dis__fail_append(status, advice.text);
}

/* A copy of the name with the lifetime of the reader. */
static dis_status keep_name(dis__reader *r, const dis_column_name *name, const char **out)
{
    char *copy;
    DIS_TRY(dis__reserve(&r->named, &r->named_capacity, r->n_named, r->n_named + 1, sizeof *r->named));
    DIS_TRY(dis__copy_text(&copy, name->text, name->n));
    r->named[r->n_named++] = copy;
    *out = copy;
    return DIS_OK;
}

static dis_status use(dis__reader *r, const dis__roles *roles)
{
    const char **const field[] = {&r->o.task, &r->o.worker, &r->o.label};
    static const char *const standard[][2] = {{"task", "task"}, {"worker", "performer"}, {"label", "label"}};
    bool synonyms = false;
    for (int role = 0; role < 3; role++) {
        const dis_column_name *name = &roles->names[roles->found[role][0]];
        if (roles->given[role] || is_named(name, standard[role][0]) || is_named(name, standard[role][1])) continue;
        DIS_TRY(keep_name(r, name, field[role]));
        synonyms = true;
    }
    if (!synonyms) return DIS_OK;
    char list[500];
    int n = 0;
    for (int role = 0; role < 3; role++) {
        const dis_column_name *name = &roles->names[roles->found[role][0]];
        const char *text = roles->given[role] ? *field[role] : name->text;
        const size_t length = roles->given[role] ? strlen(text) : name->n;
        n += snprintf(list + n, sizeof list - (size_t)n, "%s\"%.*s\" (%s)", role ? ", " : "",
                      length > 120 ? 120 : (int)length, text, role_field[role]);
    }
    return dis__votes_add_note(r->votes, DIS_NOTE_COLUMNS, "using columns %s", list);
}

/* Whether most cells of the first row, in columns with repeated values, occur again below: it is not a header. */
static bool header_is_data(const dis__survey *s)
{
    size_t n = 0, n_repeating = 0;
    for (size_t c = 0; c < s->n_columns; c++) {
        const dis__survey_column *x = &s->column[c];
        const dis__key key = dis__key_from_text(&s->secret, x->name, x->n_name);
        n += x->n_name && dis__key_table_find(&x->values, &key) != NULL;
        n_repeating += 2 * x->n_values <= x->n_cells;
    }
    return s->table && n > 1 && 2 * n >= n_repeating;
}

static dis_status fail_unknown(const dis__record_reader *s, const dis__roles *roles, const dis__survey *survey,
                               const dis__suggestion *advice, const char *hint)
{
    char missing[80] = "", list[600] = "";
    for (int role = 0; role < 3; role++)
        if (roles->n_found[role] == 0)
            dis__text_list_append(missing, sizeof missing, role_field[role], strlen(role_field[role]));
    for (size_t c = 0; c < survey->n_columns; c++)
        dis__text_list_append(list, sizeof list, survey->column[c].name, survey->column[c].n_name);
    const dis_status status =
        dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                     "no %s for %s; the %s are: %s; this looks like %s; if so, use:", s->table ? "column" : "key",
                     missing, s->table ? "columns" : "keys", list, hint);
    return dis__fail_append(status, advice->text);
}

static dis_status fail_bare(const dis__record_reader *s, const dis__suggestion *advice)
{
    const dis_status status =
        dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                     "the first row is not a header: its values occur again below; name columns by their numbers:");
    return dis__fail_append(status, advice->text);
}

/* The column of the respondents of a survey, which has no repeated value. */
static size_t find_respondents(const dis__survey *s, size_t worker)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        const dis__survey_column *x = &s->column[c];
        const bool named = c == worker || (worker == DIS_NO_COLUMN && strcasecmp(x->name, "ResponseId") == 0) ||
                           (worker == DIS_NO_COLUMN && strcasecmp(x->name, "Response ID") == 0);
        if (named && x->n_values == x->n_cells && x->n_cells + 2 >= s->n_rows && x->n_cells > 2) return c;
    }
    return DIS_NO_COLUMN;
}

static dis_status suggest(const dis__record_reader *s, const dis__roles *roles, dis__survey *survey,
                          bool delimiter_found)
{
    static const size_t nothing[] = {DIS_NO_COLUMN, DIS_NO_COLUMN, DIS_NO_COLUMN};
    size_t known[3];
    dis__long_guess rows;
    dis__wide_guess wide;
    dis__suggestion advice = {0};
    for (int role = 0; role < 3; role++) known[role] = roles->n_found[role] ? roles->found[role][0] : DIS_NO_COLUMN;
    const bool bare = survey->unnamed = header_is_data(survey);
    if (delimiter_found) survey->delimiter = s->csv.separator;
    DIS_TRY(dis__guess_long(survey, bare ? nothing : known, &rows));
    const size_t respondents = bare ? DIS_NO_COLUMN : find_respondents(survey, known[DIS_ROLE_WORKER]);
    dis__guess_wide(survey, respondents == DIS_NO_COLUMN ? known[DIS_ROLE_TASK] : respondents, &wide);
    const bool only_answers = wide.n_workers > 2 && (!bare || wide.n_others == 0);
    const bool is_long =
        rows.task != DIS_NO_COLUMN && !(only_answers && (wide.worker[rows.task] || wide.worker[rows.worker]));
    if (is_long) {
        dis__suggest_long_table(&advice, survey, &rows, bare, bare ? nothing : known);
        return bare ? fail_bare(s, &advice) : fail_unknown(s, roles, survey, &advice, "one row per vote");
    }
    if (bare && wide.n_workers > 1 && wide.n_others == 0)
        return dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                            "the first row is not a header; this looks like a table with a column per worker, as MACE "
                            "reads it: use `preset` mace");
    if (wide.n_workers == 0 || !s->table) return DIS_OK;
    if (respondents != DIS_NO_COLUMN) {
        dis__suggest_survey_table(&advice, survey, &wide, respondents);
        return fail_unknown(s, roles, survey, &advice, "one row per worker and a column per item");
    }
    dis__suggest_wide_table(&advice, survey, &wide);
    return fail_unknown(s, roles, survey, &advice, "one row per item and a column per worker");
}

dis_status dis__roles_apply(dis__reader *r, dis__record_reader *s, const dis__roles *roles)
{
    bool complete = true, found = true;
    for (int role = 0; role < 3; role++) {
        if (!roles->given[role] && roles->n_found[role] > 1) return fail_ambiguous(s, roles, role);
        complete = complete && (roles->given[role] || roles->n_found[role]);
        found = found && (!roles->given[role] || roles->n_found[role]); /* names given by the caller are columns, not
                                                                         * paths */
    }
    if (complete) return use(r, roles);
    DIS_TRY(dis__check_single_column(s));
    if (!found) return DIS_OK;
    DIS_TRY(dis__check_soft_labels(s, roles));
    dis__survey survey;
    DIS_TRY(dis__survey_create(s, &survey));
    const dis_status status = survey.n_columns > 1 ? suggest(s, roles, &survey, r->delimiter_found) : DIS_OK;
    dis__survey_free(&survey);
    return status;
}
