/* A chart, framed. */
#include "report/figure.h"

const dis__markup *dis__figure_name(dis__figure *f, const char *kind)
{
    f->name.n = 0;
    dis__putf(&f->name, "%s, %s. ", f->title, kind);
    dis__put_markup(&f->name, &f->caption);
    return &f->name;
}

static void put_numbers(dis__markup *page, const dis__figure *f)
{
    if (!f->open) dis__put(page, "<details><summary>Numbers</summary>");
    dis__putf(page, "<p class=\"csv\"><a download=\"%s.csv\" href=\"", f->id);
    dis__grid_data_uri(page, &f->grid);
    dis__putf(page, "\">%s.csv</a>", f->id);
    if (f->note) dis__putf(page, " <span class=\"q\">%s</span>", f->note);
    dis__put(page, "</p>");
    dis__grid_html(page, &f->grid, f->title);
    if (!f->open) dis__put(page, "</details>");
}

void dis__figure_end(dis__markup *page, dis__figure *f)
{
    dis__putf(page, "<figure id=\"%s\" class=\"%s\"><figcaption><h3>%s</h3><p>", f->id, f->wide ? "wide" : "half",
              f->title);
    dis__put_markup_escaped(page, &f->caption);
    dis__put(page, "</p></figcaption>\n");
    if (f->chart.n || f->chart.status != DIS_OK) {
        dis__put(page, "<div class=\"chart\">");
        dis__put_markup(page, &f->chart);
        dis__put(page, "</div>");
    }
    if (f->grid.n_columns) put_numbers(page, f);
    dis__put(page, "</figure>\n");
    if (page->status == DIS_OK) page->status = f->grid.status;
    dis__markup_free(&f->caption);
    dis__markup_free(&f->chart);
    dis__markup_free(&f->name);
    dis__grid_free(&f->grid);
}
