/* Checks optional columns and paths named by the caller, for times and rules: one that exists nowhere in the files is a
 * typing error, and without this check it would silently have no effect. Cost: reads the first records, and nothing if
 * none is named. Drop rules are not checked in JSON, in which a key may be present only in the records that the rule is
 * about. */
#include "votes/mapper/record_reader.h"
#include <stdio.h>

enum { RECORDS = 1000 };

/* Whether a path has a value in one of the first records. Bad records are left to the reader. */
static dis_status find_path(dis__record_reader *s, const dis__path *path, bool *found)
{
    *found = false;
    for (size_t i = 0; i < RECORDS && !*found; i++) {
        dis__mapped_record *record;
        bool go_on;
        const dis_status status = dis__record_reader_next(s, &record, &go_on);
        if (status == DIS_EDATA && go_on) continue;
        if (status == DIS_EDATA || (status == DIS_OK && !record)) break;
        DIS_TRY(status);
        DIS_TRY(dis__path_exists(path, record, found));
    }
    return DIS_OK;
}

static dis_status fail_missing(const dis__record_reader *s, const char *name, const char *role)
{
    char columns[400];
    if (!s->table)
        return dis__fail_at(DIS_EDATA, s->input->path, 0, 0,
                            "none of the first records has \"%.100s\"; correct the path, `%s`", name, role);
    dis__csv_list_columns(&s->csv, columns, sizeof columns);
    return dis__fail_at(DIS_EDATA, s->input->path, 1, 0,
                        "no column \"%.100s\"; the columns are: %s; name the one to use with `%s`", name, columns,
                        role);
}

static dis_status check_name(dis__reader *r, dis__input *in, const char *name, const char *role)
{
    dis__path path;
    dis__record_reader s;
    DIS_TRY(dis__path_parse(name, role, &path));
    dis_status status = dis__record_reader_open(&s, r, in);
    if (status == DIS_EDATA) return DIS_OK;
    DIS_TRY(status);
    bool found = true;
    if (s.table || strcmp(role, "drop") != 0) status = find_path(&s, &path, &found);
    if (status == DIS_OK && !found && s.n_records > 1) status = fail_missing(&s, name, role);
    dis__record_reader_close(&s);
    return status;
}

dis_status dis__check_named_columns(dis__reader *r, const dis_votes_options *caller)
{
    for (size_t i = 0; i < r->n_inputs; i++) {
        const char *format;
        DIS_TRY(dis__votes_format(r->o.format, r->input[i].path, &format));
        if (strcmp(format, "npy") == 0) continue;
        if (caller->time) DIS_TRY(check_name(r, &r->input[i], caller->time, "time"));
        for (size_t k = 0; k < caller->n_drop; k++)
            DIS_TRY(check_name(r, &r->input[i], caller->drop[k].column, "drop"));
        for (size_t k = 0; k < caller->n_keep; k++)
            DIS_TRY(check_name(r, &r->input[i], caller->keep[k].column, "keep"));
    }
    return DIS_OK;
}
