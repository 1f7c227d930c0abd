/* Tables behind charts. */
#include "report/grid.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/utf8.h"
#include "io/text_write.h"
#include <math.h>
#include <string.h>

static void add_column(dis__grid *g, dis__column column)
{
    if (g->status != DIS_OK) return;
    if (g->n_columns == DIS__GRID_COLUMNS)
        g->status = dis__fail(DIS_EBUG, "a table of the report with more than %d columns", (int)DIS__GRID_COLUMNS);
    else
        g->column[g->n_columns++] = column;
}

void dis__grid_column(dis__grid *g, const char *head, dis__cell_kind kind)
{
    add_column(g, (dis__column){.head = head, .kind = kind});
}

void dis__grid_column_named(dis__grid *g, const char *name, dis__cell_kind kind)
{
    add_column(g, (dis__column){.head = name, .kind = kind, .head_is_name = true});
}

void dis__grid_csv_only(dis__grid *g)
{
    if (g->n_columns) g->column[g->n_columns - 1].csv_only = true;
}

static void add(dis__grid *g, dis__grid_cell cell)
{
    if (g->status == DIS_OK) g->status = g->texts.status;
    if (g->status == DIS_OK)
        g->status = dis__reserve(&g->cell, &g->capacity, g->n_cells, g->n_cells + 1, sizeof *g->cell);
    if (g->status == DIS_OK) g->cell[g->n_cells++] = cell;
}

/* The first n bytes of a text cut to at most `most`, between two characters. */
static size_t cut(const char *text, size_t n, size_t most)
{
    if (n <= most) return n;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80) most--;
    return most;
}

void dis__grid_text(dis__grid *g, const char *text, size_t n)
{
    const size_t kept = cut(text, n, DIS__GRID_NAME), first = g->texts.n;
    dis__put_n(&g->texts, text, kept);
    if (kept < n) dis__putf(&g->texts, "\xE2\x80\xA6 (%zu bytes)", n);
    add(g, (dis__grid_cell){.x = NAN, .first = first, .n = g->texts.n - first});
}

void dis__grid_ours(dis__grid *g, const char *text)
{
    dis__grid_text(g, text, strlen(text));
}

void dis__grid_number(dis__grid *g, double x)
{
    add(g, (dis__grid_cell){.x = x});
}

void dis__grid_free(dis__grid *g)
{
    dis__free(g->cell);
    dis__markup_free(&g->texts);
    *g = (dis__grid){0};
}

size_t dis__grid_rows(const dis__grid *g)
{
    return g->n_columns ? g->n_cells / g->n_columns : 0;
}

static bool is_text(dis__cell_kind kind)
{
    return kind == DIS__TEXT || kind == DIS__LONG;
}

/* ---- HTML ---- */

static void put_number(dis__markup *m, dis__cell_kind kind, double x)
{
    if (isnan(x))
        dis__put(m, "\xE2\x80\x93"); /* en dash */
    else if (kind == DIS__COUNT && x >= 0 && x < 1e18)
        dis__put(m, dis__grouped((uint64_t)(x + .5)).text);
    else if (kind == DIS__SHARE)
        dis__putf(m, "%s&nbsp;%%", dis__fixed(100 * x, 1).text);
    else
        dis__put(m, fabs(x) < 10 && (fabs(x) >= 1e-3 || x == 0) ? dis__fixed(x, 4).text : dis__brief(x).text);
}

static void put_head(dis__markup *m, const dis__column *column)
{
    if (column->csv_only) return;
    dis__put(m, is_text(column->kind) ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"n\">");
    if (column->head_is_name)
        dis__put_label(m, column->head, strlen(column->head), 24);
    else
        dis__put_escaped(m, column->head, strlen(column->head));
    dis__put(m, "</th>");
}

static void put_cell(dis__markup *m, const dis__grid *g, const dis__grid_cell *cell, size_t c)
{
    const dis__cell_kind kind = g->column[c].kind;
    if (g->column[c].csv_only) return;
    if (!is_text(kind)) {
        dis__put(m, "<td class=\"n\">");
        put_number(m, kind, cell->x);
        dis__put(m, "</td>");
        return;
    }
    dis__put(m, c == 0 ? "<th scope=\"row\"><bdi>" : kind == DIS__LONG ? "<td class=\"long\"><bdi>" : "<td><bdi>");
    dis__put_shown(m, g->texts.bytes + cell->first, cell->n, kind == DIS__LONG ? DIS__GRID_NAME : DIS__GRID_SHOWN);
    dis__put(m, c == 0 ? "</bdi></th>" : "</bdi></td>");
}

void dis__grid_html(dis__markup *m, const dis__grid *g, const char *caption)
{
    if (m->status == DIS_OK) m->status = g->status;
    dis__put(m, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    dis__put_escaped(m, caption, strlen(caption));
    dis__put(m, ": table\"><table class=\"sort\"><thead><tr>");
    for (size_t c = 0; c < g->n_columns; c++) put_head(m, &g->column[c]);
    dis__put(m, "</tr></thead><tbody>\n");
    for (size_t i = 0; g->n_columns && i < g->n_cells; i++) {
        const size_t c = i % g->n_columns;
        if (c == 0) dis__put(m, "<tr>");
        put_cell(m, g, &g->cell[i], c);
        if (c + 1 == g->n_columns) dis__put(m, "</tr>\n");
    }
    dis__put(m, "</tbody></table></div>");
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
            dis__put_n(m, text + i, 1);
        } else {
            const char code[] = {'%', hex[c >> 4], hex[c & 15]};
            dis__put_n(m, code, sizeof code);
        }
    }
}

static void put_csv_text(dis__markup *m, const char *text, size_t n)
{
    char guarded[DIS__GRID_NAME + 48], field[DIS_FIELD_BYTES(sizeof guarded)];
    size_t used = 0;
    if (n > DIS__GRID_NAME + 40) n = cut(text, n, DIS__GRID_NAME + 40);
    if (n && memchr("=+-@\t\r\n|%", text[0], 9)) guarded[used++] = '\'';
    if (n) memcpy(guarded + used, text, n);
    used += n;
    put_uri(m, field, (size_t)(dis__put_field(field, guarded, used, ',') - field));
}

void dis__grid_data_uri(dis__markup *m, const dis__grid *g)
{
    if (m->status == DIS_OK) m->status = g->status;
    dis__put(m, "data:text/csv;charset=utf-8,");
    for (size_t c = 0; c < g->n_columns; c++) {
        if (c) dis__put(m, ",");
        put_csv_text(m, g->column[c].head, strlen(g->column[c].head));
    }
    for (size_t i = 0; g->n_columns && i < g->n_cells; i++) {
        const size_t c = i % g->n_columns;
        dis__put(m, c ? "," : "%0D%0A");
        if (is_text(g->column[c].kind)) {
            put_csv_text(m, g->texts.bytes + g->cell[i].first, g->cell[i].n);
        } else {
            char number[DIS_REAL_TEXT];
            put_uri(m, number, (size_t)(dis__put_real_field(number, g->cell[i].x) - number));
        }
    }
    dis__put(m, "%0D%0A");
}
