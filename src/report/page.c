/* The frame of a report. */
#include "report/page.h"
#include "dissent/version.h"
#include <string.h>

void dis__page_free(dis__page *page)
{
    dis__markup_free(&page->body);
    dis__markup_free(&page->tiles);
    dis__markup_free(&page->says);
    dis__markup_free(&page->toc);
}

/* A half-wide figure that stays without a neighbour takes the row: words on the left, the chart on the right. */
static void widen_alone(dis__page *page)
{
    if (page->alone && page->body.status == DIS_OK) memcpy(page->body.bytes + page->alone, "solo", 4);
    page->alone = 0;
}

void dis__page_section(dis__page *page, const char *id, const char *title, const char *about)
{
    dis__page_section_end(page);
    dis__putf(&page->body, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2><p>%s</p><div class=\"figures\">\n",
              id, id, title, about);
    dis__putf(&page->toc, "<li><a href=\"#%s\">%s</a><ul>", id, title);
    page->in_section = true;
}

void dis__page_section_end(dis__page *page)
{
    if (!page->in_section) return;
    widen_alone(page);
    dis__put(&page->body, "</div></section>\n");
    dis__put(&page->toc, "</ul></li>\n");
    page->in_section = false;
}

void dis__page_figure(dis__page *page, dis__figure *f)
{
    dis__putf(&page->toc, "<li><a href=\"#%s\">%s</a></li>", f->id, f->title);
    const size_t behind = strlen("<figure id=\"") + strlen(f->id) + strlen("\" class=\"");
    if (f->wide) widen_alone(page);
    const size_t at = page->body.n + behind;
    if (!f->wide) page->alone = page->alone ? 0 : at;
    if (page->drawings) dis__drawings_add(page->drawings, f);
    dis__figure_end(&page->body, f);
}

void dis__page_tile(dis__page *page, const char *value, const char *label)
{
    page->n_tiles++;
    dis__put(&page->tiles, "<div><dt>");
    dis__put(&page->tiles, label);
    dis__put(&page->tiles, "</dt><dd>");
    dis__put(&page->tiles, value);
    dis__put(&page->tiles, "</dd></div>\n");
}

void dis__page_say(dis__page *page, dis__markup *sentence)
{
    dis__put(&page->says, "<li>");
    dis__put_markup_escaped(&page->says, sentence);
    dis__put(&page->says, "</li>\n");
    sentence->n = 0;
}

void dis__page_put(dis__markup *m, const dis__page *page, const dis__markup *title, const dis__markup *subtitle)
{
    dis__put(m, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    dis__putf(m,
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
              "style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
              dis__csp_hash(dis__page_script).text, dis__csp_hash(dis__page_style).text);
    dis__put(m, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n");
    dis__putf(m, "<meta name=\"generator\" content=\"dissent %s\">\n<title>", dis_version());
    dis__put_markup_escaped(m, title);
    dis__put(m, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
    dis__put(m, dis__page_style);
    dis__put(m, "</style>\n</head>\n<body>\n<div class=\"shell\">\n<header><h1>");
    dis__put_markup_escaped(m, title);
    dis__put(m, "</h1><p>");
    dis__put_markup_escaped(m, subtitle);
    dis__put(m, "</p></header>\n<nav aria-label=\"Contents\"><ul>\n");
    dis__put_markup(m, &page->toc);
    dis__put(m, "</ul></nav>\n<main>\n");
    if (page->tiles.n) {
        /* more than eight stand in two rows of one length, or nearly so */
        dis__putf(m, "<dl class=\"tiles c%zu\">\n", page->n_tiles <= 8 ? 8 : (page->n_tiles + 1) / 2);
        dis__put_markup(m, &page->tiles);
        dis__put(m, "</dl>\n");
    }
    if (page->says.n) {
        dis__put(m, "<section class=\"says\" aria-labelledby=\"says\"><h2 id=\"says\">What this says</h2><ul>\n");
        dis__put_markup(m, &page->says);
        dis__put(m, "</ul></section>\n");
    }
    dis__put_markup(m, &page->body);
    dis__putf(m,
              "</main>\n<footer>Made by dissent %s. Everything is in this file: it loads nothing and sends "
              "nothing. Entropies are in nats, or as a share of the largest possible where it says so.</footer>\n"
              "</div>\n<script>",
              dis_version());
    dis__put(m, dis__page_script);
    dis__put(m, "</script>\n</body>\n</html>\n");
    const dis__markup *parts[] = {&page->tiles, &page->says};
    for (size_t i = 0; i < 2; i++)
        if (m->status == DIS_OK) m->status = parts[i]->status;
}
