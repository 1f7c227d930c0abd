/* Which voters are people. */
#include "input/voters_input.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static dis_status read_values(const voters_input *in, dis_context *ctx, const votes_input *votes, dis_names **values)
{
    const cli_voters_values *v = in->v;
    if (!v->table)
        return dis_votes_read_workers(ctx, (const char *const *)votes->paths, votes->n_paths, votes->v->input_format,
                                      votes->v->worker, v->type, votes->votes, values);
    dis_worker_table_options how = dis_worker_table_options_default();
    dis_worker_table *table = NULL;
    how.id_column = v->table_id;
    how.id_prefix = v->table_prefix;
    dis_status status = dis_worker_table_read(ctx, v->table, &how, &table);
    if (status == DIS_OK) status = dis_worker_table_values(table, v->type, votes->votes, values);
    dis_worker_table_destroy(table);
    return status;
}

/* "a, b, c": different values, the first few. */
static void list_values(const dis_names *values, char *out, size_t room)
{
    size_t used = 0, shown = 0;
    out[0] = 0;
    for (size_t i = 0; i < dis_names_count(values) && shown < 8; i++) {
        const char *value = dis_names_get(values, i, NULL);
        bool seen = !*value;
        for (size_t k = 0; k < i && !seen; k++) seen = strcmp(dis_names_get(values, k, NULL), value) == 0;
        if (seen || used + 1 >= room) continue;
        const int n = snprintf(out + used, room - used, "%s%.40s", shown++ ? ", " : "", value);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* ---- which values mean a person ---- */

static bool has_value(const dis_names *values, const char *text, size_t n)
{
    for (size_t i = 0; i < dis_names_count(values); i++) {
        size_t length;
        const char *value = dis_names_get(values, i, &length);
        if (length == n && memcmp(value, text, n) == 0) return true;
    }
    return false;
}

/* Whether `value` is one of "a,b,c", or all of it: a value may itself hold commas. */
static bool is_in(const char *list, const char *value)
{
    const size_t n = strlen(value);
    if (strcmp(list, value) == 0) return true;
    for (const char *p = list; *p;) {
        const size_t length = strcspn(p, ",");
        if (length == n && memcmp(p, value, n) == 0) return true;
        p += length + (p[length] == ',');
    }
    return false;
}

static bool means_person(const voters_input *in, const char *value)
{
    static const char *const words[] = {"human", "person", "people", "humans"};
    const cli_list *people = &in->v->people;
    for (size_t i = 0; i < people->n; i++)
        if (is_in(people->value[i], value)) return true;
    for (size_t k = 0; people->n == 0 && k < sizeof words / sizeof *words; k++)
        if (strcasecmp(value, words[k]) == 0) return true;
    return false;
}

/* Every name in --people must be there: one that is not is a typing error. */
static int check_people(const voters_input *in, const dis_names *values, const char *have)
{
    const cli_list *people = &in->v->people;
    for (size_t i = 0; i < people->n; i++) {
        if (has_value(values, people->value[i], strlen(people->value[i]))) continue;
        for (const char *p = people->value[i]; *p;) {
            const size_t n = strcspn(p, ",");
            if (!has_value(values, p, n) && in->v->type)
                return cli_usage(in->c, "--people %.*s: no voter has this value in %s; values: %s", (int)n, p,
                                 in->v->type, have);
            if (!has_value(values, p, n))
                return cli_usage(in->c, "--people %.*s: no annotator has this id; ids: %s (or add --voter-type COLUMN)",
                                 (int)n, p, have);
            p += n + (p[n] == ',');
        }
    }
    for (size_t i = 0; i < dis_names_count(values); i++)
        if (means_person(in, dis_names_get(values, i, NULL))) return 0;
    return cli_usage(in->c,
                     "--voter-type %s: no value is known to mean a person; name it with --people VALUE (values: %s)",
                     in->v->type, have);
}

static int sort_voters(voters_input *in, const votes_input *votes, const dis_names *values)
{
    const size_t n = votes->view.n_workers;
    char have[400];
    list_values(values, have, sizeof have);
    const int code = check_people(in, values, have);
    if (code != 0) return code;
    in->person = calloc(n ? n : 1, sizeof *in->person);
    if (!in->person) return cli_error(in->c, DIS_ELIMIT, "no memory for %zu voters", n);
    for (size_t w = 0; w < n; w++) {
        const char *value = dis_names_get(values, w, NULL);
        if (!*value)
            return cli_error(in->c, DIS_EDATA,
                             "%s: the column %s does not show whether voter \"%s\" is a person or a model; %s",
                             in->v->table ? in->v->table : votes->paths[0], in->v->type,
                             dis_names_get(votes->view.workers, w, NULL),
                             in->v->table ? "add a row for it, or fill it in" : "fill it in");
        in->person[w] = means_person(in, value);
        in->n_people += in->person[w];
        in->n_models += !in->person[w];
    }
    return 0;
}

bool voters_input_is_given(const cli_voters_values *v)
{
    return v->type || v->people.n;
}

int voters_input_read(voters_input *in, dis_context *ctx, const votes_input *votes)
{
    dis_names *values = NULL;
    if (!in->v->type) return sort_voters(in, votes, votes->view.workers);
    int code = cli_failed(in->c, read_values(in, ctx, votes, &values));
    if (code == 0) code = sort_voters(in, votes, values);
    dis_names_destroy(values);
    return code;
}

void voters_input_free(voters_input *in)
{
    free(in->person);
}
