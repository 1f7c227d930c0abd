/* Who of the voters is a person. */
#include "voters_input.h"
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
    how.table_id = v->table_id;
    how.table_prefix = v->table_prefix;
    dis_status status = dis_worker_table_read(ctx, v->table, &how, &table);
    if (status == DIS_OK) status = dis_worker_table_values(table, v->type, votes->votes, values);
    dis_worker_table_destroy(table);
    return status;
}

/* The value that means people, NULL: none of those that are there does. */
static const char *people_value(const voters_input *in, const dis_names *values)
{
    static const char *const words[] = {"human", "person", "people", "humans"};
    for (size_t i = 0; i < dis_names_count(values); i++) {
        const char *value = dis_names_get(values, i, NULL);
        if (in->v->people && strcmp(value, in->v->people) == 0) return value;
        for (size_t k = 0; !in->v->people && k < sizeof words / sizeof *words; k++)
            if (strcasecmp(value, words[k]) == 0) return value;
    }
    return NULL;
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

static int sort_voters(voters_input *in, const votes_input *votes, const dis_names *values)
{
    const size_t n = votes->look.n_workers;
    const char *people = people_value(in, values);
    char have[400];
    list_values(values, have, sizeof have);
    if (!people && in->v->people)
        return cli_usage(in->c, "--people %s: no voter has this in %s; there are: %s", in->v->people, in->v->type,
                         have);
    if (!people)
        return cli_usage(in->c,
                         "--voter-type %s: which value means a person? There are: %s; say it with --people VALUE",
                         in->v->type, have);
    in->person = calloc(n ? n : 1, sizeof *in->person);
    if (!in->person) return cli_error(in->c, DIS_ELIMIT, "no memory for %zu voters", n);
    for (size_t w = 0; w < n; w++) {
        const char *value = dis_names_get(values, w, NULL);
        if (!*value)
            return cli_error(in->c, DIS_EDATA,
                             "%s: the column %s does not say whether voter \"%s\" is a person or a model; %s",
                             in->v->table ? in->v->table : votes->paths[0], in->v->type,
                             dis_names_get(votes->look.workers, w, NULL),
                             in->v->table ? "add a row for it, or fill it in" : "fill it in");
        in->person[w] = strcmp(value, people) == 0;
        in->n_people += in->person[w];
        in->n_models += !in->person[w];
    }
    return 0;
}

int voters_input_read(voters_input *in, dis_context *ctx, const votes_input *votes)
{
    dis_names *values = NULL;
    int code = cli_failed(in->c, read_values(in, ctx, votes, &values));
    if (code == 0) code = sort_voters(in, votes, values);
    dis_names_destroy(values);
    return code;
}

void voters_input_free(voters_input *in)
{
    free(in->person);
}
