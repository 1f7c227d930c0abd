/* Spans in their texts: the labels highlighted, with what is uncertain and what only some annotators marked. */
#include "report/sections/scaled/scaled_tables.h"
#include "core/text/utf8.h"
#include <math.h>
#include <string.h>

enum { SHOWN_TEXTS = 12, LONGEST = 2000, COLOURS = DIS__SERIES_COLOURS };

/* Byte of a character, or the end of the text. */
static size_t byte_of(const char *text, size_t n, size_t character)
{
    size_t at = 0;
    for (size_t seen = 0; at < n; at++) {
        if (((unsigned char)text[at] & 0xC0) == 0x80) continue;
        if (seen++ == character) return at;
    }
    return n;
}

typedef struct {
    const dis_scaled_column *task, *start, *end, *label, *entropy;
    const dis_scaled_table *table;
    double limit; /* entropy of two equally likely classes */
} pieces;

static void put_piece(dis__markup *m, const pieces *x, size_t row, const char *text, size_t from, size_t to)
{
    const size_t k = x->label->index[row];
    const char *class = dis__scaled_name(x->label, row);
    const bool is_span = k > 0, is_uncertain = x->entropy->values[row] > x->limit;
    if (is_span || is_uncertain) {
        dis__markup_appendf(m, "<mark class=\"%s%zu%s\" title=\"", is_span ? "m" : "x", is_span ? (k - 1) % COLOURS : 0,
                            is_uncertain ? " open" : "");
        if (is_span)
            dis__markup_append_label(m, class, strlen(class), DIS__CHART_NAME);
        else
            dis__markup_append(m, "no span");
        dis__markup_appendf(m, ", uncertainty %s", dis__format_fixed(x->entropy->values[row], 2).text);
        dis__markup_append(m, "\">");
    }
    dis__markup_append_bdi(m, text + from, to - from, LONGEST);
    const bool goes_on = row + 1 < x->table->n_rows && x->label->index[row + 1] == k &&
                         x->start->values[row + 1] == x->end->values[row] &&
                         x->task->index[row + 1] == x->task->index[row];
    if (is_span && !goes_on) {
        dis__markup_append(m, "<sub>");
        dis__markup_append_label(m, class, strlen(class), DIS__CHART_NAME);
        dis__markup_append(m, "</sub>");
    }
    if (is_span || is_uncertain) dis__markup_append(m, "</mark>");
}

static void put_text(dis__markup *m, const pieces *x, const char *task, const char *text, size_t n)
{
    size_t at = 0;
    const size_t end = n < LONGEST ? n : byte_of(text, n, LONGEST);
    dis__markup_append(m, "<p class=\"marked\"><b>");
    dis__markup_append_bdi(m, task, strlen(task), DIS__DATA_TABLE_SHOWN);
    dis__markup_append(m, "</b> ");
    for (size_t i = 0; i < x->table->n_rows; i++) {
        if (strcmp(dis__scaled_name(x->task, i), task) != 0) continue;
        size_t from = byte_of(text, end, (size_t)x->start->values[i]),
               to = byte_of(text, end, (size_t)x->end->values[i]);
        if (from < at) from = at;
        if (to <= from) continue;
        if (from > at) dis__markup_append_bdi(m, text + at, from - at, LONGEST);
        put_piece(m, x, i, text, from, to);
        at = to;
    }
    if (end > at) dis__markup_append_bdi(m, text + at, end - at, LONGEST);
    if (end < n) dis__markup_append(m, "\xE2\x80\xA6");
    dis__markup_append(m, "</p>\n");
}

dis_status dis__figure_span_texts(dis__report_job *job)
{
    const dis_report *r = job->r;
    const dis_scaled_table *items = dis_scaled_find_table(job->scaled, "items");
    pieces x = {.table = dis_scaled_find_table(job->scaled, "pieces"), .limit = .65};
    const dis_scaled_column *task = dis__scaled_column(items, "task");
    if (!r->texts || !task || !x.table) return DIS_OK;
    x.task = dis__scaled_column(x.table, "task");
    x.start = dis__scaled_column(x.table, "start");
    x.end = dis__scaled_column(x.table, "end");
    x.label = dis__scaled_column(x.table, "label");
    x.entropy = dis__scaled_column(x.table, "entropy");
    dis__figure f = {.id = "span-texts",
                     .title = "Spans in the texts",
                     .question = "What is marked in the texts with the least agreement?",
                     .wide = true};
    size_t shown = 0;
    for (size_t i = 0; i < items->n_rows && shown < SHOWN_TEXTS; i++) {
        size_t n = 0;
        const size_t item = dis__scaled_item_of_task(r, dis__scaled_name(task, i));
        const char *text = item == SIZE_MAX ? "" : dis_names_get(r->texts, item, &n);
        if (n == 0) continue;
        put_text(&f.chart, &x, dis__scaled_name(task, i), text, n);
        shown++;
    }
    dis__markup_append(&f.caption,
                       "Labels are highlighted with their classes. Dashed lines mark text for which a second "
                       "answer is about as likely, also text without a label.");
    if (shown)
        dis__page_figure_add(&job->page, &f);
    else
        dis__figure_free(&f);
    return DIS_OK;
}
