/* Applies a preset: its settings replace defaults, and its rules are added to the caller's. If the caller's label is a
 * plain name, it is inserted into the preset's `choice`: the name of a question or control. */
#include "votes/read/reader.h"
#include "core/memory/memory.h"
#include "dissent/option.h"
#include "tool/arrays.h"
#include "votes/mapper/record_path.h"
#include "votes/roles/column_roles.h"
#include <stdio.h>

static const char *name_at(const void *arg, size_t i)
{
    (void)arg;
    return dis_votes_preset_get(i) ? dis_votes_preset_get(i)->name : NULL;
}

static void list_presets(char *out, size_t room)
{
    out[0] = 0;
    for (size_t i = 0; name_at(NULL, i); i++)
        dis__text_list_append(out, room, name_at(NULL, i), strlen(name_at(NULL, i)));
}

/* `text` with `name` for every "@"; unchanged if it has none, or there is no name. */
static dis_status name_in(dis__reader *r, const char *text, const char *name, const char **out)
{
    *out = text;
    if (!text || !name || !strchr(text, '@')) return DIS_OK;
    size_t n = 1;
    for (const char *s = text; *s; s++) n += *s == '@' ? strlen(name) : 1;
    char *copy;
    DIS_TRY(dis__reserve(&r->named, &r->named_capacity, r->n_named, r->n_named + 1, sizeof *r->named));
    DIS_TRY(dis__alloc_array(&copy, n, 1));
    r->named[r->n_named++] = copy;
    *out = copy;
    for (const char *s = text; *s; s++) {
        const size_t length = *s == '@' ? strlen(name) : 1;
        memcpy(copy, *s == '@' ? name : s, length);
        copy += length;
    }
    *copy = 0;
    return DIS_OK;
}

/* Rules of the caller followed by those of the preset in reader->filters: drop, then keep. */
static dis_status add_rules(dis__reader *r, const dis_votes_preset *p, const char *name)
{
    dis_votes_options *o = &r->o;
    size_t n = 0;
    DIS_TRY(dis__alloc_array(&r->filters, o->n_drop + p->n_drop + o->n_keep + p->n_keep, sizeof *r->filters));
    for (size_t i = 0; i < o->n_drop; i++) r->filters[n++] = o->drop[i];
    for (size_t i = 0; i < p->n_drop; i++) r->filters[n++] = p->drop[i];
    const size_t n_drop = n;
    for (size_t i = 0; i < o->n_keep; i++) r->filters[n++] = o->keep[i];
    for (size_t i = 0; i < p->n_keep; i++) {
        const dis_drop_rule *k = &p->keep[i];
        const bool named = strchr(k->column, '@') || strchr(k->value, '@');
        if (p->label_template && named != (name != NULL)) continue;
        DIS_TRY(name_in(r, k->column, name, &r->filters[n].column));
        DIS_TRY(name_in(r, k->value, name, &r->filters[n].value));
        n++;
    }
    o->drop = r->filters;
    o->n_drop = n_drop;
    o->keep = r->filters + n_drop;
    o->n_keep = n - n_drop;
    return DIS_OK;
}

static dis_status add_na(dis__reader *r)
{
    dis_votes_options *o = &r->o;
    for (size_t i = 0; i < o->n_na; i++)
        if (o->na[i][0] == 0) return DIS_OK;
    DIS_TRY(dis__alloc_array(&r->na, o->n_na + 1, sizeof *r->na));
    for (size_t i = 0; i < o->n_na; i++) r->na[i] = o->na[i];
    r->na[o->n_na++] = "";
    o->na = r->na;
    return DIS_OK;
}

dis_status dis__preset_apply(dis__reader *r)
{
    dis_votes_options *o = &r->o;
    if (!o->preset) return DIS_OK;
    const dis_votes_preset *p = dis_votes_preset_find(o->preset);
    if (!p) {
        const char *near = dis__name_find_nearest(o->preset, name_at, NULL);
        char names[600];
        list_presets(names, sizeof names);
        return dis__fail(DIS_EUSAGE, "no preset \"%.100s\"%s%s%s; there are: %s", o->preset,
                         near ? "; did you mean " : "", near ? near : "", near ? "?" : "", names);
    }
    const char *name = o->label && p->label_template && !dis__path_is_special(o->label, false) ? o->label : NULL;
    if (!o->label && p->label_template && !p->label)
        return dis__fail(DIS_EUSAGE, "preset %s: `label` is required: the name of the question, control or feature",
                         p->name);
    if (o->input == DIS_INPUT_VOTES) o->input = p->input;
    if (!o->format) o->format = p->format;
    if (!o->task) o->task = o->scale == DIS_SCALE_PAIRWISE && p->pair_task ? p->pair_task : p->task;
    if (!o->worker) DIS_TRY(name_in(r, p->worker, name, &o->worker));
    if (!o->time) o->time = p->time;
    if (!o->records) o->records = p->records;
    o->no_header = o->no_header || p->no_header;
    if (name)
        DIS_TRY(name_in(r, p->label_template, name, &o->label));
    else if (!o->label)
        o->label = p->label;
    DIS_TRY(add_rules(r, p, name));
    return p->empty_is_na ? add_na(r) : DIS_OK;
}

static dis_status name_wide_task(dis__reader *r, const dis__csv *csv)
{
    dis_column_name *names;
    size_t found[2];
    char *copy;
    DIS_TRY(dis__alloc_array(&names, csv->n_columns, sizeof *names));
    for (size_t i = 0; i < csv->n_columns; i++) names[i] = (dis_column_name){csv->header[i].text, csv->header[i].n};
    const size_t n = dis_role_find(DIS_ROLE_TASK, names, csv->n_columns, found);
    const dis_column_name *name = n ? &names[found[0]] : NULL;
    dis_status status = DIS_OK;
    if (name) status = dis__reserve(&r->named, &r->named_capacity, r->n_named, r->n_named + 1, sizeof *r->named);
    if (name && status == DIS_OK) status = dis__copy_text(&copy, name->text, name->n);
    if (name && status == DIS_OK) r->o.task = r->named[r->n_named++] = copy;
    dis__free(names);
    return status;
}

/* The column of the items: one with a usual name, otherwise the first. */
static dis_status wide_task(dis__reader *r)
{
    const char *format;
    DIS_TRY(dis__votes_format(r->o.format, r->input[0].path, &format));
    dis__csv csv;
    dis__csv_open(&csv, &r->input[0], dis__votes_separator(&r->o, format));
    dis_status status = dis__csv_header(&csv);
    r->o.task = "[0]";
    if (status == DIS_OK) status = name_wide_task(r, &csv);
    dis__csv_close(&csv);
    return status;
}

dis_status dis__wide_table_apply(dis__reader *r)
{
    dis_votes_options *o = &r->o;
    const char *pattern = o->worker ? o->worker : "";
    const size_t n = strlen(pattern) + 8;
    if (o->label)
        return dis__fail(DIS_EUSAGE, "a wide table has a column per worker and no label column; leave `label` out, and "
                                     "name the columns of workers with `worker` (a,b or ann*)");
    if (!o->task) DIS_TRY(wide_task(r));
    if (!o->worker) DIS_TRY(dis__check_wide_columns(r));
    DIS_TRY(dis__alloc_array(&r->wide_label, n, 1));
    DIS_TRY(dis__alloc_array(&r->wide_worker, n, 1));
    snprintf(r->wide_label, n, "{%s}", pattern);
    snprintf(r->wide_worker, n, "{%s}#", pattern);
    o->label = r->wide_label;
    o->worker = r->wide_worker;
    return DIS_OK;
}
