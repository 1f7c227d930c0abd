/* Items of a table: texts, tokens with their sentence, or numbers, one row per item. Rows excluded by a `where` rule
 * are skipped. Cost: one pass. */
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "io/table_rows.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Requested columns in this order: task (unless rows are numbered), sentence (tokens), the contents, those of the
 * rules. */
typedef struct {
    const dis_items_options *o;
    dis_items *items;
    dis__table_rows r;
    const char **wanted;
    char *names; /* of feature columns, copied out of the header */
    size_t n_wanted, sentence, first, n_contents, rules;
    dis__name_list tasks, texts;
    dis__table_row_cell last; /* the sentence of the previous row, in `last_text` */
    char *last_text;
    size_t last_room, sentence_room, x_room, line_room;
} reading;

/* Features without named columns: all columns except the ids and those used by rules. */
static bool is_other(const reading *t, const dis__table_row_cell *name)
{
    const char *task = t->o->task ? t->o->task : "task";
    bool other = !t->o->row_ids && name->n == strlen(task) && memcmp(name->text, task, name->n) == 0;
    for (size_t i = 0; i < t->o->n_keep; i++)
        other |= name->n == strlen(t->o->keep[i].column) && memcmp(name->text, t->o->keep[i].column, name->n) == 0;
    return other;
}

static dis_status want_features(reading *t)
{
    const size_t n = dis__table_rows_n_columns(&t->r);
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) bytes += dis__table_rows_column(&t->r, i).n + 1;
    DIS_TRY(dis__alloc_array(&t->names, bytes, 1));
    char *to = t->names;
    for (size_t i = 0; i < n; i++) {
        const dis__table_row_cell name = dis__table_rows_column(&t->r, i);
        if (is_other(t, &name)) continue;
        if (memchr(name.text, '|', name.n))
            return dis__fail_at(DIS_EDATA, t->r.in.path, 1, 0, "a column name with \"|\" in it; rename it");
        t->wanted[t->n_wanted++] = to;
        memcpy(to, name.text, name.n);
        to[name.n] = 0;
        to += name.n + 1;
    }
    return DIS_OK;
}

static dis_status want(reading *t)
{
    static const char *const usual[] = {[DIS_ITEMS_TEXT] = "text", [DIS_ITEMS_TOKENS] = "token"};
    const dis_items_options *o = t->o;
    const size_t max = 2 + (o->n_columns ? o->n_columns : 1) + dis__table_rows_n_columns(&t->r) + o->n_keep;
    DIS_TRY(dis__alloc_array(&t->wanted, max, sizeof *t->wanted));
    if (!o->row_ids) t->wanted[t->n_wanted++] = o->task ? o->task : "task";
    t->sentence = t->n_wanted;
    if (o->kind == DIS_ITEMS_TOKENS) t->wanted[t->n_wanted++] = o->sentence ? o->sentence : "sentence";
    t->first = t->n_wanted;
    for (size_t i = 0; i < o->n_columns; i++) t->wanted[t->n_wanted++] = o->columns[i];
    if (o->n_columns == 0 && o->kind == DIS_ITEMS_FEATURES)
        DIS_TRY(want_features(t));
    else if (o->n_columns == 0)
        t->wanted[t->n_wanted++] = usual[o->kind];
    t->n_contents = t->n_wanted - t->first;
    if (t->n_contents == 0)
        return dis__fail_at(DIS_EDATA, t->r.in.path, 1, 0, "no columns except the ids; features need some");
    static const char *const hints[] = {[DIS_ITEMS_TEXT] = "; name those to use with `task` and `columns`",
                                        [DIS_ITEMS_TOKENS] =
                                            "; name those to use with `task`, `sentence` and `columns`",
                                        [DIS_ITEMS_FEATURES] = "; name those to use with `task` and `columns`"};
    t->r.hint = (size_t)o->kind < sizeof hints / sizeof *hints ? hints[o->kind] : NULL;
    t->rules = t->n_wanted;
    for (size_t i = 0; i < o->n_keep; i++) t->wanted[t->n_wanted++] = o->keep[i].column;
    return dis__table_rows_select(&t->r, t->wanted, t->n_wanted);
}

static bool is_wanted(const reading *t)
{
    bool good = true;
    for (size_t i = 0; i < t->o->n_keep; i++) {
        const dis__table_row_cell *c = &t->r.cell[t->rules + i];
        const char *value = t->o->keep[i].value;
        good &= c->n == strlen(value) && memcmp(c->text, value, c->n) == 0;
    }
    return good;
}

/* A row whose sentence differs from the previous row's begins a new one. */
static dis_status read_sentence(reading *t)
{
    dis_items *items = t->items;
    const dis__table_row_cell *c = &t->r.cell[t->sentence];
    if (items->n_items && c->n == t->last.n && memcmp(c->text, t->last.text, c->n) == 0) return DIS_OK;
    DIS_TRY(dis__reserve(&items->sentence, &t->sentence_room, items->n_sentences, items->n_sentences + 2,
                         sizeof *items->sentence));
    items->sentence[items->n_sentences++] = items->n_items;
    DIS_TRY(dis__reserve(&t->last_text, &t->last_room, 0, c->n + 1, 1));
    memcpy(t->last_text, c->text, c->n);
    t->last = (dis__table_row_cell){.text = t->last_text, .n = c->n};
    return DIS_OK;
}

static dis_status read_values(reading *t)
{
    dis_items *items = t->items;
    const size_t k = t->n_contents, used = items->n_items * k;
    DIS_TRY(dis__reserve(&items->x, &t->x_room, used, used + k, sizeof *items->x));
    for (size_t i = 0; i < k; i++) {
        const dis__table_row_cell *c = &t->r.cell[t->first + i];
        double x;
        if (!dis__parse_real(c->text, c->n, &x) || fabs(x) > (double)FLT_MAX)
            return dis__table_rows_fail(&t->r, t->first + i, "\"%.*s\" is not a number; name the columns of features",
                                        c->n > 60 ? 60 : (int)c->n, c->text);
        items->x[used + i] = (float)x;
    }
    return DIS_OK;
}

static dis_status read_task(reading *t)
{
    if (t->o->row_ids) {
        char number[24];
        const int n = snprintf(number, sizeof number, "%llu", (unsigned long long)t->r.n_rows - 1);
        return dis__name_list_add(&t->tasks, number, (size_t)n);
    }
    const dis__table_row_cell *task = &t->r.cell[0];
    if (task->n == 0) return dis__table_rows_fail(&t->r, 0, "an empty id; every item needs one");
    if (task->n > DIS_MAX_ID)
        return dis__table_rows_fail(&t->r, 0, "an id of more than %u bytes; shorten it", DIS_MAX_ID);
    return dis__name_list_add(&t->tasks, task->text, task->n);
}

static dis_status read_row(reading *t)
{
    dis_items *items = t->items;
    DIS_TRY(read_task(t));
    DIS_TRY(dis__reserve(&items->line, &t->line_room, items->n_items, items->n_items + 1, sizeof *items->line));
    items->line[items->n_items] = dis__table_rows_line(&t->r);
    if (t->o->kind == DIS_ITEMS_FEATURES) {
        DIS_TRY(read_values(t));
    } else {
        for (size_t i = 0; i < t->n_contents; i++)
            DIS_TRY(dis__name_list_add(&t->texts, t->r.cell[t->first + i].text, t->r.cell[t->first + i].n));
        if (t->o->kind == DIS_ITEMS_TOKENS) DIS_TRY(read_sentence(t));
    }
    items->n_items++;
    return DIS_OK;
}

static dis_status read_rows(reading *t)
{
    if (t->o->kind == DIS_ITEMS_TOKENS && t->o->n_columns > 1)
        return dis__fail(DIS_EUSAGE, "tokens must be in one column, not in %zu", t->o->n_columns);
    DIS_TRY(want(t));
    for (bool more;;) {
        DIS_TRY(dis__table_rows_next(&t->r, &more));
        if (!more) break;
        if (is_wanted(t)) DIS_TRY(read_row(t));
    }
    dis_items *items = t->items;
    if (items->n_items == 0 && t->o->n_keep)
        return dis__fail_at(DIS_EDATA, t->r.in.path, 0, 0, "no row has the requested values (%s=%s%s)",
                            t->o->keep[0].column, t->o->keep[0].value, t->o->n_keep > 1 ? ", ..." : "");
    if (items->n_items == 0) return DIS_OK;
    DIS_TRY(dis__name_list_move(&t->tasks, &items->tasks));
    if (t->o->kind == DIS_ITEMS_FEATURES) {
        items->n_features = t->n_contents;
        return DIS_OK;
    }
    items->n_texts = t->n_contents;
    if (items->sentence) items->sentence[items->n_sentences] = items->n_items;
    return dis__name_list_move(&t->texts, &items->texts);
}

dis_status dis__items_read_table(dis_context *ctx, const char *path, const char *format,
                                 const dis_items_options *options, dis_items *items)
{
    reading t = {.o = options, .items = items};
    DIS_TRY(dis__table_rows_open_headerless(ctx, path, format, options->header, options->n_header, &t.r));
    dis_status status = read_rows(&t);
    status = dis__table_rows_finish(&t.r, status);
    dis__name_list_free(&t.tasks);
    dis__name_list_free(&t.texts);
    dis__free(t.wanted);
    dis__free(t.names);
    dis__free(t.last_text);
    return status;
}
