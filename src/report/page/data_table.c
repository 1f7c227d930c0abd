/* Tables behind charts.
 *
 * A column of numbers has one number of decimals: four digits for the largest of them. Where a tenth or more of the
 * values would then show nothing but zeros, the whole column is written with exponents. */
#include "report/page/data_table.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/text/utf8.h"
#include "io/output/format_fields.h"
#include <math.h>
#include <string.h>

static void add_column(dis__data_table *g, dis__data_table_column column)
{
    if (g->status != DIS_OK) return;
    if (g->n_columns == DIS__DATA_TABLE_COLUMNS)
        g->status =
            dis__fail(DIS_EBUG, "a table of the report with more than %d columns", (int)DIS__DATA_TABLE_COLUMNS);
    else
        g->column[g->n_columns++] = column;
}

void dis__data_table_add_column(dis__data_table *g, const char *head, dis__data_table_kind kind)
{
    add_column(g, (dis__data_table_column){.head = head, .kind = kind});
}

void dis__data_table_add_named_column(dis__data_table *g, const char *name, dis__data_table_kind kind)
{
    add_column(g, (dis__data_table_column){.head = name, .kind = kind, .head_is_name = true});
}

void dis__data_table_set_csv_only(dis__data_table *g)
{
    if (g->n_columns) g->column[g->n_columns - 1].csv_only = true;
}

void dis__data_table_set_always_shown(dis__data_table *g)
{
    if (g->n_columns) g->column[g->n_columns - 1].keep = true;
}

static void add(dis__data_table *g, dis__data_table_cell cell)
{
    if (g->status == DIS_OK) g->status = g->texts.status;
    if (g->status == DIS_OK)
        g->status = dis__reserve(&g->cell, &g->capacity, g->n_cells, g->n_cells + 1, sizeof *g->cell);
    if (g->status == DIS_OK) g->cell[g->n_cells++] = cell;
}

/* The first n bytes of a text cut to at most `max`, between two characters. */
static size_t cut(const char *text, size_t n, size_t max)
{
    if (n <= max) return n;
    while (max > 0 && ((unsigned char)text[max] & 0xC0) == 0x80) max--;
    return max;
}

void dis__data_table_add_text(dis__data_table *g, const char *text, size_t n)
{
    const size_t c = g->n_columns ? g->n_cells % g->n_columns : 0;
    const size_t max = g->column[c].kind == DIS__CELL_ITEM_TEXT ? DIS__DATA_TABLE_TEXT : DIS__DATA_TABLE_NAME;
    const size_t n_shown = cut(text, n, max), first = g->texts.n;
    dis__markup_append_n(&g->texts, text, n_shown);
    if (n_shown < n) dis__markup_appendf(&g->texts, "\xE2\x80\xA6 (%zu bytes)", n);
    add(g, (dis__data_table_cell){.x = NAN, .first = first, .n = g->texts.n - first});
}

void dis__data_table_add_static_text(dis__data_table *g, const char *text)
{
    dis__data_table_add_text(g, text, strlen(text));
}

void dis__data_table_add_number(dis__data_table *g, double x)
{
    add(g, (dis__data_table_cell){.x = x});
}

void dis__data_table_add_metric(dis__data_table *g, const dis_metric *m)
{
    dis__data_table_add_number(g, m->reason ? (double)NAN : m->value);
    dis__data_table_add_number(g, m->has_interval ? m->ci_low : (double)NAN);
    dis__data_table_add_number(g, m->has_interval ? m->ci_high : (double)NAN);
}

void dis__data_table_add_noted(dis__data_table *g, double x, const char *note)
{
    const size_t first = g->texts.n;
    dis__markup_append(&g->texts, note);
    add(g, (dis__data_table_cell){.x = x, .first = first, .n = g->texts.n - first});
}

void dis__data_table_free(dis__data_table *g)
{
    dis__free(g->cell);
    dis__markup_free(&g->texts);
    *g = (dis__data_table){0};
}

size_t dis__data_table_count_rows(const dis__data_table *g)
{
    return g->n_columns ? g->n_cells / g->n_columns : 0;
}

static bool is_text(dis__data_table_kind kind)
{
    return kind == DIS__CELL_TEXT || kind == DIS__CELL_LONG_TEXT || kind == DIS__CELL_ITEM_TEXT;
}

/* ---- HTML ---- */

/* How a column is shown. */
typedef struct {
    bool shown, alike; /* constant: not shown, but stated above the table */
    int decimals;      /* of its numbers; -1: with exponents */
} column_style;

static bool same_cell(const dis__data_table *g, const dis__data_table_cell *a, const dis__data_table_cell *b)
{
    if (isnan(a->x) != isnan(b->x) || (!isnan(a->x) && a->x != b->x) || a->n != b->n) return false;
    return a->n == 0 || memcmp(g->texts.bytes + a->first, g->texts.bytes + b->first, a->n) == 0;
}

static int decimals_of(const dis__data_table *g, size_t c)
{
    double max = 0, lost = 0, n = 0;
    bool is_integral = true;
    for (size_t i = c; i < g->n_cells; i += g->n_columns) {
        const double x = fabs(g->cell[i].x);
        if (!isfinite(x)) continue;
        max = fmax(max, x);
        is_integral &= x == floor(x);
    }
    if (is_integral && max > 1 && max < 1e15) return 0;
    const int decimals = max >= 1000 ? 0 : max >= 100 ? 1 : max >= 10 ? 2 : max >= 1 ? 3 : 4;
    for (size_t i = c; i < g->n_cells; i += g->n_columns) {
        const double x = fabs(g->cell[i].x);
        if (!isfinite(x) || x == 0) continue;
        n++;
        lost += x < .5 * pow(10, -decimals);
    }
    return lost > 0 && 10 * lost >= n ? -1 : decimals;
}

static column_style style_of(const dis__data_table *g, size_t c)
{
    const dis__data_table_column *column = &g->column[c];
    const size_t rows = dis__data_table_count_rows(g);
    bool any = is_text(column->kind), alike = c > 0 && rows > 2 && !column->keep;
    if (column->csv_only) return (column_style){0};
    for (size_t r = 0; r < rows; r++) {
        const dis__data_table_cell *cell = &g->cell[r * g->n_columns + c];
        any |= !isnan(cell->x);
        alike &= same_cell(g, cell, &g->cell[c]);
    }
    if (!any && !column->keep) return (column_style){0};
    return (column_style){.shown = !alike, .alike = alike, .decimals = decimals_of(g, c)};
}

static void put_number(dis__markup *m, dis__data_table_kind kind, double x, int decimals)
{
    if (isnan(x))
        dis__markup_append(m, "\xE2\x80\x93"); /* en dash */
    else if (kind == DIS__CELL_COUNT && x >= 0 && x < 1e18)
        dis__markup_append(m, dis__format_grouped((uint64_t)(x + .5)).text);
    else if (kind == DIS__CELL_PERCENT)
        dis__markup_appendf(m, "%s&nbsp;%%", dis__format_fixed(100 * x, 1).text);
    else
        dis__markup_append(m, decimals < 0 ? dis__format_scientific(x).text : dis__format_fixed(x, decimals).text);
}

static void put_head_text(dis__markup *m, const dis__data_table_column *column)
{
    if (column->head_is_name)
        dis__markup_append_label(m, column->head, strlen(column->head), DIS__DATA_TABLE_SHOWN);
    else
        dis__markup_append_escaped(m, column->head, strlen(column->head));
}

static void put_head(dis__markup *m, const dis__data_table_column *column)
{
    dis__markup_append(m, is_text(column->kind) ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"n\">");
    put_head_text(m, column);
    dis__markup_append(m, "</th>");
}

/* The beginning of the text; a click shows the rest of a longer one. */
static void append_item_text(dis__markup *m, const char *text, size_t n)
{
    size_t letters = 0;
    for (size_t i = 0; i < n; i++) letters += ((unsigned char)text[i] & 0xC0) != 0x80;
    if (letters <= DIS__DATA_TABLE_PREVIEW + 20) {
        dis__markup_append(m, "<bdi>");
        dis__markup_append_bdi(m, text, n, letters);
        dis__markup_append(m, "</bdi>");
        return;
    }
    dis__markup_append(m, "<details class=\"said\"><summary><bdi>");
    dis__markup_append_bdi(m, text, n, DIS__DATA_TABLE_PREVIEW);
    dis__markup_append(m, "</bdi></summary><bdi>");
    dis__markup_append_bdi(m, text, n, letters);
    dis__markup_append(m, "</bdi></details>");
}

static void put_text_cell(dis__markup *m, const dis__data_table *g, const dis__data_table_cell *cell, size_t c)
{
    const dis__data_table_kind kind = g->column[c].kind;
    const char *text = cell->n ? g->texts.bytes + cell->first : "";
    dis__markup_append(m, c == 0
                              ? kind == DIS__CELL_LONG_TEXT ? "<th scope=\"row\" class=\"long\">" : "<th scope=\"row\">"
                          : kind == DIS__CELL_TEXT ? "<td data-h=\""
                                                   : "<td class=\"long\" data-h=\"");
    if (c > 0) {
        put_head_text(m, &g->column[c]);
        dis__markup_append(m, "\">");
    }
    if (kind == DIS__CELL_ITEM_TEXT) {
        append_item_text(m, text, cell->n);
    } else {
        dis__markup_append(m, "<bdi>");
        dis__markup_append_bdi(m, text, cell->n,
                               kind == DIS__CELL_LONG_TEXT ? DIS__DATA_TABLE_NAME : DIS__DATA_TABLE_SHOWN);
        dis__markup_append(m, "</bdi>");
    }
    dis__markup_append(m, c == 0 ? "</th>" : "</td>");
}

static void put_cell(dis__markup *m, const dis__data_table *g, const dis__data_table_cell *cell, size_t c,
                     const column_style *l)
{
    const dis__data_table_kind kind = g->column[c].kind;
    if (is_text(kind)) {
        put_text_cell(m, g, cell, c);
        return;
    }
    dis__markup_append(m, "<td class=\"n\" data-h=\"");
    put_head_text(m, &g->column[c]);
    dis__markup_append(m, "\">");
    put_number(m, kind, cell->x, l->decimals);
    if (cell->n) {
        dis__markup_append(m, "<span class=\"sub\">");
        dis__markup_append_escaped(m, g->texts.bytes + cell->first, cell->n);
        dis__markup_append(m, "</span>");
    }
    dis__markup_append(m, "</td>");
}

/* "In every row: baseline soft; runs 3." */
static void put_alike(dis__markup *m, const dis__data_table *g, const column_style *l)
{
    bool any = false;
    for (size_t c = 0; c < g->n_columns; c++) {
        if (!l[c].alike) continue;
        const dis__data_table_cell *cell = &g->cell[c];
        dis__markup_append(m, any ? "; " : "<p class=\"alike q\">In every row: ");
        put_head_text(m, &g->column[c]);
        dis__markup_append(m, " ");
        if (is_text(g->column[c].kind)) {
            dis__markup_append(m, "<bdi>");
            dis__markup_append_bdi(m, cell->n ? g->texts.bytes + cell->first : "", cell->n, DIS__DATA_TABLE_PREVIEW);
            dis__markup_append(m, "</bdi>");
        } else {
            const bool is_integral =
                fabs(cell->x) < 1e15 && cell->x == floor(cell->x); /* a single number: no alignment needed */
            put_number(m, g->column[c].kind, cell->x, is_integral ? 0 : l[c].decimals);
        }
        any = true;
    }
    if (any) dis__markup_append(m, ".</p>");
}

void dis__data_table_format_html(dis__markup *m, const dis__data_table *g, const char *caption)
{
    column_style l[DIS__DATA_TABLE_COLUMNS];
    bool wordy = false;
    if (m->status == DIS_OK) m->status = g->status;
    if (m->status != DIS_OK) return;
    for (size_t c = 0; c < g->n_columns; c++) {
        l[c] = style_of(g, c);
        wordy |= l[c].shown && (g->column[c].kind == DIS__CELL_LONG_TEXT || g->column[c].kind == DIS__CELL_ITEM_TEXT);
    }
    put_alike(m, g, l);
    dis__markup_append(m, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    dis__markup_append_escaped(m, caption, strlen(caption));
    dis__markup_appendf(m, ": table\"><table class=\"sort%s\"><caption class=\"sr\">", wordy ? " wordy" : "");
    dis__markup_append_escaped(m, caption, strlen(caption));
    dis__markup_append(m, "</caption><thead><tr>");
    for (size_t c = 0; c < g->n_columns; c++)
        if (l[c].shown) put_head(m, &g->column[c]);
    dis__markup_append(m, "</tr></thead><tbody>\n");
    for (size_t i = 0; g->n_columns && i < g->n_cells; i++) {
        const size_t c = i % g->n_columns;
        if (c == 0) dis__markup_append(m, "<tr>");
        if (l[c].shown) put_cell(m, g, &g->cell[i], c, &l[c]);
        if (c + 1 == g->n_columns) dis__markup_append(m, "</tr>\n");
    }
    dis__markup_append(m, "</tbody></table></div>");
}

/* ---- CSV in a link ---- */

/* Everything that means something to a URI or to HTML is percent-encoded; digits, letters and commas, nearly all of a
 * table, stay as they are. */
static void put_uri(dis__markup *m, const char *text, size_t n)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ',' ||
                           c == '.' || c == '-' || c == '_';
        if (plain) {
            dis__markup_append_n(m, text + i, 1);
        } else {
            const char code[] = {'%', hex[c >> 4], hex[c & 15]};
            dis__markup_append_n(m, code, sizeof code);
        }
    }
}

static void put_csv_text(dis__markup *m, const char *text, size_t n)
{
    char guarded[DIS__DATA_TABLE_TEXT + 48], field[DIS_FIELD_BYTES(sizeof guarded)];
    size_t used = 0;
    if (n > DIS__DATA_TABLE_TEXT + 40) n = cut(text, n, DIS__DATA_TABLE_TEXT + 40);
    if (n && memchr("=+-@\t\r\n|%", text[0], 9)) guarded[used++] = '\'';
    if (n) memcpy(guarded + used, text, n);
    used += n;
    put_uri(m, field, (size_t)(dis__format_csv_field(field, guarded, used, ',') - field));
}

void dis__data_table_format_data_uri(dis__markup *m, const dis__data_table *g)
{
    if (m->status == DIS_OK) m->status = g->status;
    dis__markup_append(m, "data:text/csv;charset=utf-8,");
    for (size_t c = 0; c < g->n_columns; c++) {
        if (c) dis__markup_append(m, ",");
        put_csv_text(m, g->column[c].head, strlen(g->column[c].head));
    }
    for (size_t i = 0; g->n_columns && i < g->n_cells; i++) {
        const size_t c = i % g->n_columns;
        dis__markup_append(m, c ? "," : "%0D%0A");
        if (is_text(g->column[c].kind)) {
            put_csv_text(m, g->texts.bytes + g->cell[i].first, g->cell[i].n);
        } else {
            char number[DIS_REAL_TEXT];
            put_uri(m, number, (size_t)(dis__format_csv_real(number, g->cell[i].x) - number));
        }
    }
    dis__markup_append(m, "%0D%0A");
}
