/* A chart, framed. */
#include "report/page/figure.h"

const dis__markup *dis__figure_name(dis__figure *f, const char *kind)
{
    f->name.n = 0;
    dis__markup_appendf(&f->name, "%s, %s. ", f->title, kind);
    dis__markup_append_markup(&f->name, &f->caption);
    return &f->name;
}

static void put_numbers(dis__markup *page, const dis__figure *f)
{
    if (!f->open) dis__markup_append(page, "<details><summary>Numbers</summary>");
    dis__markup_appendf(page, "<p class=\"csv\"><a download=\"%s.csv\" href=\"", f->id);
    dis__data_table_format_data_uri(page, &f->table);
    dis__markup_appendf(page, "\">%s.csv</a>", f->id);
    if (f->note) dis__markup_appendf(page, " <span class=\"q\">%s</span>", f->note);
    dis__markup_append(page, "</p>");
    dis__data_table_format_html(page, &f->table, f->title);
    if (!f->open) dis__markup_append(page, "</details>");
}

void dis__figure_end(dis__markup *page, dis__figure *f)
{
    dis__markup_appendf(page, "<figure id=\"%s\" class=\"%s\"><figcaption><h3>%s</h3><p>", f->id,
                        f->wide ? "wide" : "half", f->question ? f->question : f->title);
    dis__markup_append_markup_escaped(page, &f->caption);
    dis__markup_append(page, "</p></figcaption>\n");
    if (f->chart.n || f->chart.status != DIS_OK) {
        dis__markup_append(page, "<div class=\"chart\">");
        dis__markup_append_markup(page, &f->chart);
        dis__markup_append(page, "</div>");
    }
    if (f->table.n_columns) put_numbers(page, f);
    dis__markup_append(page, "</figure>\n");
    if (page->status == DIS_OK) page->status = f->table.status;
    dis__figure_free(f);
}

void dis__figure_free(dis__figure *f)
{
    dis__markup_free(&f->caption);
    dis__markup_free(&f->chart);
    dis__markup_free(&f->name);
    dis__data_table_free(&f->table);
}
