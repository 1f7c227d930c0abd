/* Reading the data sets of an experiment. Cost: one pass over each file, and a lookup per task and source. */
#include "experiment/run/dataset.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "dissent/fit.h"
#include "tool/arrays.h"
#include "io/table_rows.h"
#include "items/items_internal.h"
#include "tables/gold_labels/gold_table.h"
#include "votes/table/class_names.h"
#include <string.h>

void dis__dataset_free(dis__dataset *m)
{
    dis_items_destroy(m->items);
    dis_votes_destroy(m->votes);
    dis_names_destroy(m->classes);
    dis__free(m->label);
    dis__free(m->vote_row);
    dis__free(m->group);
    dis__free(m->value);
    dis_names_destroy(m->values);
    *m = (dis__dataset){0};
}

static dis_status rules_of(const dis__text_pairs *where, dis_drop_rule **out)
{
    DIS_TRY(dis__alloc_array(out, where->n, sizeof **out));
    for (size_t i = 0; i < where->n; i++)
        (*out)[i] = (dis_drop_rule){.column = where->key[i], .value = where->value[i]};
    return DIS_OK;
}

/* ---- items ---- */

static dis_status read_items_file(dis_context *ctx, const dis__items_part *part, dis_items **out)
{
    dis_drop_rule *rules;
    dis_items_options o = dis_items_options_default();
    o.kind = (dis_items_kind)part->kind;
    o.format = part->format;
    o.task = part->task;
    o.columns = part->text.text;
    o.n_columns = part->text.n;
    o.sentence = part->sentence;
    o.tasks = part->tasks;
    o.width = (size_t)part->width;
    o.header = part->header.text;
    o.n_header = part->header.n;
    o.row_ids = part->numbered;
    DIS_TRY(rules_of(&part->where, &rules));
    o.keep = rules;
    o.n_keep = part->where.n;
    const dis_status status = dis_items_read(ctx, part->file, &o, out);
    dis__free(rules);
    return status;
}

static dis_status read_items(dis_context *ctx, const dis__parts *parts, dis_items **out)
{
    const dis__items_part *first = dis__part(parts, 0);
    if (parts->n == 1 && !first->prefix) return read_items_file(ctx, first, out);
    dis_items **item;
    const char **prefix;
    DIS_TRY(dis__alloc_zeroed(&item, parts->n, sizeof *item));
    dis_status status = dis__alloc_zeroed(&prefix, parts->n, sizeof *prefix);
    if (status != DIS_OK) {
        dis__free(item);
        return status;
    }
    for (size_t i = 0; i < parts->n && status == DIS_OK; i++) {
        const dis__items_part *part = dis__part(parts, i);
        prefix[i] = part->prefix;
        status = read_items_file(ctx, part, &item[i]);
    }
    if (status == DIS_OK) status = dis__items_concat(ctx, item, prefix, parts->n, out);
    for (size_t i = 0; i < parts->n; i++) dis_items_destroy(item[i]);
    dis__free(item);
    dis__free(prefix);
    return status;
}

/* ---- gold ---- */

static void source_of(const dis__gold_part *part, const dis_drop_rule *rules, const dis_drop_rule *leave_out,
                      dis__gold_source *out)
{
    *out = (dis__gold_source){.path = part->file,
                              .format = part->format,
                              .task = part->task,
                              .label = part->label,
                              .header = part->header.text,
                              .n_header = part->header.n,
                              .numbered = part->numbered,
                              .skip_empty = part->skip_empty,
                              .prefix = part->prefix,
                              .where = rules,
                              .n_where = part->where.n,
                              .leave_out = leave_out,
                              .n_leave_out = part->leave_out.n,
                              .from = part->map.key,
                              .to = part->map.value,
                              .n_map = part->map.n};
}

static dis_status read_gold(dis_context *ctx, const dis__parts *parts, dis_gold **out)
{
    dis__gold_source *source;
    dis_drop_rule **rules = NULL;
    DIS_TRY(dis__alloc_array(&source, parts->n, sizeof *source));
    dis_status status = dis__alloc_zeroed(&rules, dis__saturating_size(2, parts->n, 0), sizeof *rules);
    for (size_t i = 0; i < parts->n && status == DIS_OK; i++) {
        const dis__gold_part *part = dis__part(parts, i);
        status = rules_of(&part->where, &rules[2 * i]);
        if (status == DIS_OK) status = rules_of(&part->leave_out, &rules[2 * i + 1]);
        if (status == DIS_OK) source_of(part, rules[2 * i], rules[2 * i + 1], &source[i]);
    }
    if (status == DIS_OK) status = dis__gold_table_read(ctx, source, parts->n, out);
    for (size_t i = 0; rules && i < 2 * parts->n; i++) dis__free(rules[i]);
    dis__free(rules);
    dis__free(source);
    return status;
}

dis_status dis__split_column(dis_context *ctx, const dis__data *data, dis_gold **out)
{
    const dis__split_part *s = data->split;
    if (!s->file && data->part->items.n != 1)
        return dis__fail(DIS_EDATA, "the split needs the key file, the table with its column");
    const dis__items_part *items = data->part->items.n ? dis__part(&data->part->items, 0) : NULL;
    dis_drop_rule *rules = NULL;
    dis__gold_source source = {.path = s->file ? s->file : items->file,
                               .task = s->task             ? s->task
                                       : items && !s->file ? items->task
                                                           : NULL,
                               .label = s->column};
    if (!s->file) {
        source.format = items->format;
        source.header = items->header.text;
        source.n_header = items->header.n;
        source.numbered = items->numbered;
        source.prefix = items->prefix;
        DIS_TRY(rules_of(&items->where, &rules));
        source.where = rules;
        source.n_where = items->where.n;
    }
    const dis_status status = dis__gold_table_read(ctx, &source, 1, out);
    dis__free(rules);
    return status;
}

/* ---- votes ---- */

typedef struct {
    dis__name_list tasks;
    double *counts;
    size_t capacity, n;
} counting;

static dis_status count_rows(dis__table_rows *r, const dis__votes_part *part, const dis_names *classes,
                             const char **columns, counting *c)
{
    const size_t k = dis_names_count(classes), n_columns = part->columns.n;
    columns[0] = part->task ? part->task : "task";
    for (size_t i = 0; i < n_columns; i++) columns[1 + i] = part->columns.key[i];
    for (size_t i = 0; i < part->where.n; i++) columns[1 + n_columns + i] = part->where.key[i];
    DIS_TRY(dis__table_rows_select(r, columns, 1 + n_columns + part->where.n));
    for (size_t i = 0; i < n_columns; i++)
        if (dis_names_find(classes, part->columns.value[i], strlen(part->columns.value[i])) == SIZE_MAX)
            return dis__fail(DIS_EDATA, "columns: \"%.100s\" is not a declared class", part->columns.value[i]);
    for (bool more;;) {
        DIS_TRY(dis__table_rows_next(r, &more));
        if (!more) return DIS_OK;
        bool wanted = true;
        for (size_t i = 0; i < part->where.n; i++) {
            const dis__table_row_cell *cell = &r->cell[1 + n_columns + i];
            const char *value = part->where.value[i];
            wanted &= cell->n == strlen(value) && memcmp(cell->text, value, cell->n) == 0;
        }
        if (!wanted) continue;
        DIS_TRY(dis__name_list_add(&c->tasks, r->cell[0].text, r->cell[0].n));
        DIS_TRY(
            dis__reserve(&c->counts, &c->capacity, c->n * k, dis__saturating_size(c->n + 1, k, 0), sizeof *c->counts));
        double *row = c->counts + c->n++ * k;
        memset(row, 0, k * sizeof *row);
        for (size_t i = 0; i < n_columns; i++) {
            const char *class = part->columns.value[i];
            double x;
            if (!dis__parse_real(r->cell[1 + i].text, r->cell[1 + i].n, &x) || x < 0)
                return dis__table_rows_fail(r, 1 + i, "\"%.*s\" is not a count",
                                            (int)(r->cell[1 + i].n > 60 ? 60 : r->cell[1 + i].n), r->cell[1 + i].text);
            row[dis_names_find(classes, class, strlen(class))] += x;
        }
    }
}

static dis_status check_twice(const char *path, const dis_names *tasks)
{
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(tasks, &twice));
    if (twice == SIZE_MAX) return DIS_OK;
    return dis__fail_at(DIS_EDATA, path, 0, 0, "the task \"%.200s\" is repeated; keep one row of it",
                        dis_names_get(tasks, twice, NULL));
}

/* Counts that stand in some columns of a table. */
static dis_status read_columns(dis_context *ctx, const dis__votes_part *part, const dis_names *classes, dis_votes **out)
{
    dis__table_rows r;
    const char **columns;
    counting c = {0};
    dis_names *tasks = NULL;
    DIS_TRY(dis__alloc_array(&columns, 1 + part->columns.n + part->where.n, sizeof *columns));
    dis_status status = dis__table_rows_open(ctx, part->file.text[0], part->format, &r);
    if (status == DIS_OK) {
        status = count_rows(&r, part, classes, columns, &c);
        status = dis__table_rows_finish(&r, status);
    }
    if (status == DIS_OK && c.n == 0)
        status = dis__fail_at(DIS_EDATA, part->file.text[0], 0, 0, "it contains no counts");
    if (status == DIS_OK) status = dis__name_list_move(&c.tasks, &tasks);
    if (status == DIS_OK) status = check_twice(part->file.text[0], tasks);
    if (status == DIS_OK)
        status = dis_votes_create_from_counts(ctx, c.counts, c.n, dis_names_count(classes), tasks, classes, out);
    dis_names_destroy(tasks);
    dis__name_list_free(&c.tasks);
    dis__free(c.counts);
    dis__free(columns);
    return status;
}

/* `classes` NULL: those found in the data. */
static dis_status read_votes_files(dis_context *ctx, const dis__votes_part *part, const char *const *classes,
                                   size_t n_classes, dis_votes **out)
{
    dis_votes_options o = dis_votes_options_default();
    o.input = (dis_input)part->input;
    o.preset = part->preset;
    o.format = part->format;
    o.task = part->task;
    o.worker = part->worker;
    o.label = part->label;
    o.na = part->na.text;
    o.n_na = part->na.n;
    o.duplicates = (dis_duplicates)part->duplicates;
    o.min_votes = (size_t)part->min_votes;
    o.classes = classes;
    o.n_classes = n_classes;
    return dis_votes_read(ctx, part->file.text, part->file.n, &o, out);
}

static dis_status read_votes(dis_context *ctx, const dis__votes_part *part, const dis_names *classes, dis_votes **out)
{
    if (part->columns.n) return read_columns(ctx, part, classes, out);
    const size_t n = dis_names_count(classes);
    const char **name;
    DIS_TRY(dis__alloc_array(&name, n, sizeof *name));
    for (size_t k = 0; k < n; k++) name[k] = dis_names_get(classes, k, NULL);
    const dis_status status = read_votes_files(ctx, part, name, n, out);
    dis__free(name);
    return status;
}

/* ---- classes ---- */

static dis_status add_names(dis__name_list *list, const dis_names *names)
{
    for (size_t i = 0; names && i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        bool present = false;
        for (size_t j = 0; j < list->n && !present; j++)
            present =
                list->start[j + 1] - list->start[j] == n + 1 && memcmp(list->bytes + list->start[j], name, n) == 0;
        if (!present) DIS_TRY(dis__name_list_add(list, name, n));
    }
    return DIS_OK;
}

/* Those of the votes and those of gold, in the usual order. */
static dis_status find_classes(dis_context *ctx, const dis__data_part *part, const dis_gold *gold, dis_names **out)
{
    if (part->classes.n) return dis_names_create(part->classes.text, part->classes.n, out);
    dis__name_list list = {0};
    dis_names *all = NULL, *columns = NULL;
    dis_votes *votes = NULL;
    dis_status status = DIS_OK;
    if (part->votes && part->votes->columns.n)
        status = dis_names_create(part->votes->columns.value, part->votes->columns.n, &columns);
    else if (part->votes)
        status = read_votes_files(ctx, part->votes, NULL, 0, &votes);
    if (status == DIS_OK)
        status = add_names(&list, columns ? columns : votes ? dis_votes_get_view(votes).classes : NULL);
    if (status == DIS_OK && gold) status = add_names(&list, dis_gold_get_view(gold).classes);
    if (status == DIS_OK) status = dis__name_list_move(&list, &all);
    if (status == DIS_OK) status = dis__names_in_class_order(all, out);
    dis_names_destroy(all);
    dis_names_destroy(columns);
    dis_votes_destroy(votes);
    dis__name_list_free(&list);
    return status;
}

/* ---- everything by task ---- */

static dis_status match_gold(dis__dataset *m, const dis_gold *gold, const char *name)
{
    const dis_gold_view v = dis_gold_get_view(gold);
    size_t *row, found;
    DIS_TRY(dis__alloc_array(&m->label, m->n, sizeof *m->label));
    DIS_TRY(dis__names_match_alloc(v.tasks, m->tasks, &row, &found));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < m->n && status == DIS_OK; i++) {
        size_t length;
        m->label[i] = -1;
        if (row[i] == SIZE_MAX) continue;
        const char *class = dis_names_get(v.classes, (size_t)v.label[row[i]], &length);
        const size_t k = dis_names_find(m->classes, class, length);
        if (k == SIZE_MAX)
            status = dis__fail(DIS_EDATA, "%s: the gold label \"%.100s\" is not a class of %s; rename it with map",
                               gold->path, class, name);
        m->label[i] = (int32_t)k;
    }
    dis__free(row);
    if (status == DIS_OK && found == 0)
        status = dis__fail(DIS_EDATA, "%s: no gold label for any item of %s; do the ids (\"%.100s\", ...) match?",
                           gold->path, name, dis_names_get(m->tasks, 0, NULL));
    return status;
}

static dis_status match_votes(dis__dataset *m, const char *name)
{
    size_t found;
    DIS_TRY(dis__alloc_array(&m->vote_row, m->n, sizeof *m->vote_row));
    DIS_TRY(dis__names_match(dis_votes_get_view(m->votes).tasks, m->tasks, m->vote_row, &found));
    if (found == 0)
        return dis__fail(DIS_EDATA, "%s: no votes on any of its items; do the ids (\"%.100s\", ...) match?", name,
                         dis_names_get(m->tasks, 0, NULL));
    return DIS_OK;
}

/* The value of the split's column for each task. */
static dis_status match_column(dis_context *ctx, const dis__data *data, dis__dataset *m)
{
    dis_gold *column;
    size_t *row = NULL;
    DIS_TRY(dis__alloc_array(&m->value, m->n, sizeof *m->value));
    DIS_TRY(dis__split_column(ctx, data, &column));
    const dis_gold_view v = dis_gold_get_view(column);
    dis_status status = dis__names_copy(v.classes, &m->values);
    if (status == DIS_OK) status = dis__names_match_alloc(v.tasks, m->tasks, &row, NULL);
    for (size_t i = 0; i < m->n && status == DIS_OK; i++) m->value[i] = row[i] == SIZE_MAX ? -1 : v.label[row[i]];
    dis__free(row);
    dis_gold_destroy(column);
    return status;
}

static dis_status match_sentences(dis__dataset *m)
{
    const dis_items_view v = dis_items_get_view(m->items);
    if (!v.sentence) return DIS_OK;
    DIS_TRY(dis__alloc_array(&m->group, m->n, sizeof *m->group));
    for (size_t s = 0; s < v.n_sentences; s++)
        for (uint64_t i = v.sentence[s]; i < v.sentence[s + 1]; i++) m->group[i] = (uint32_t)s;
    m->n_groups = v.n_sentences;
    return DIS_OK;
}

/* Gold labels computed from the votes by a method; none if two classes tie. */
static dis_status gold_by_method(dis_context *ctx, dis__dataset *m, const dis__gold_part *part)
{
    const dis__labels_part labels = {.method = part->method};
    dis__label_set set;
    const size_t k = dis_names_count(m->classes);
    DIS_TRY(dis__label_set_make(ctx, m, &labels, NULL, NULL, NULL, &set));
    const dis_status status = dis__alloc_array(&m->label, m->n, sizeof *m->label);
    for (size_t i = 0; i < m->n && status == DIS_OK; i++) {
        const double *p = set.p + i * k;
        const size_t best = dis__argmax(p, k);
        bool tie = !set.has[i];
        for (size_t c = best + 1; c < k; c++) tie |= p[c] == p[best];
        m->label[i] = tie ? -1 : (int32_t)best;
    }
    dis__label_set_free(&set);
    return status;
}

static dis_status fill(dis_context *ctx, const dis__data *data, size_t set, const dis__dataset *own, dis_gold **gold,
                       dis__dataset *m)
{
    const dis__set_part *part = set == SIZE_MAX ? NULL : dis__part(&data->part->sets, set);
    const dis__parts *items = part ? &part->items : &data->part->items, *golds = part ? &part->gold : &data->part->gold;
    const dis__votes_part *votes = part ? part->votes : data->part->votes;
    const dis__gold_part *first = golds->n ? dis__part(golds, 0) : NULL;
    const char *name = part ? data->part->sets.name[set] : data->name;
    if (items->n) DIS_TRY(read_items(ctx, items, &m->items));
    if (first && !first->method) DIS_TRY(read_gold(ctx, golds, gold));
    DIS_TRY(own ? dis__names_copy(own->classes, &m->classes) : find_classes(ctx, data->part, *gold, &m->classes));
    if (votes) DIS_TRY(read_votes(ctx, votes, m->classes, &m->votes));
    m->tasks = m->items ? dis_items_get_view(m->items).tasks : dis_votes_get_view(m->votes).tasks;
    m->n = dis_names_count(m->tasks);
    if (m->items) DIS_TRY(match_sentences(m));
    if (votes) DIS_TRY(match_votes(m, name));
    if (!own && data->split->column) DIS_TRY(match_column(ctx, data, m));
    if (*gold) return match_gold(m, *gold, name);
    return first ? gold_by_method(ctx, m, first) : DIS_OK;
}

dis_status dis__dataset_read(dis_context *ctx, const dis__data *data, size_t set, const dis__dataset *own,
                             dis__dataset *out)
{
    dis_gold *gold = NULL;
    dis__dataset m = {0};
    const dis_status status = fill(ctx, data, set, own, &gold, &m);
    dis_gold_destroy(gold);
    if (status == DIS_OK)
        *out = m;
    else
        dis__dataset_free(&m);
    return status;
}

dis_status dis__dataset_read_texts(dis_context *ctx, const dis__data *data, const char *set, const dis_names *tasks,
                                   dis_names **out)
{
    const size_t at = dis__set_find(data->part, set);
    const dis__parts *items =
        at == SIZE_MAX ? &data->part->items : &((const dis__set_part *)dis__part(&data->part->sets, at))->items;
    dis_items *read = NULL;
    *out = NULL;
    if (items->n == 0) return DIS_OK;
    dis_status status = read_items(ctx, items, &read);
    if (status == DIS_OK) status = dis_items_get_texts(read, tasks, out, NULL);
    dis_items_destroy(read);
    /* a page without texts is better than none; only what stops all work is passed on */
    return status == DIS_ELIMIT || status == DIS_ECANCELLED ? status : DIS_OK;
}
