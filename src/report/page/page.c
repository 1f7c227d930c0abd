/* The frame of a report. */
#include "report/page/page.h"
#include "dissent/version.h"
#include "io/output/output_file.h"
#include <string.h>

void dis__page_free(dis__page *page)
{
    dis__markup_free(&page->body);
    dis__markup_free(&page->tiles);
    dis__markup_free(&page->findings);
    dis__markup_free(&page->toc);
    dis__markup_free(&page->verdict);
}

/* A half-width figure without a neighbour uses the full row: text on the left, the chart on the right. */
static void widen_unpaired(dis__page *page)
{
    if (page->unpaired && page->body.status == DIS_OK) memcpy(page->body.bytes + page->unpaired, "solo", 4);
    page->unpaired = 0;
}

void dis__page_section_begin(dis__page *page, const char *id, const char *title, const char *about)
{
    dis__page_section_end(page);
    page->section_at = page->body.n;
    page->section_toc_at = page->toc.n;
    page->has_figure = false;
    dis__markup_appendf(&page->body,
                        "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2><p>%s</p><div class=\"figures\">\n", id,
                        id, title, about);
    dis__markup_appendf(&page->toc, "<li><a href=\"#%s\">%s</a><ul>", id, title);
    page->in_section = true;
}

void dis__page_section_end(dis__page *page)
{
    if (!page->in_section) return;
    widen_unpaired(page);
    if (page->has_figure) {
        dis__markup_append(&page->body, "</div></section>\n");
        dis__markup_append(&page->toc, "</ul></li>\n");
    } else { /* a heading with nothing below it */
        page->body.n = page->section_at;
        page->toc.n = page->section_toc_at;
    }
    page->in_section = false;
}

void dis__page_figure_add(dis__page *page, dis__figure *f)
{
    page->has_figure = true;
    dis__markup_appendf(&page->toc, "<li><a href=\"#%s\">%s</a></li>", f->id, f->title);
    const size_t behind = strlen("<figure id=\"") + strlen(f->id) + strlen("\" class=\"");
    if (f->wide) widen_unpaired(page);
    const size_t at = page->body.n + behind;
    if (!f->wide) page->unpaired = page->unpaired ? 0 : at;
    if (page->svg_files) dis__svg_files_add(page->svg_files, f);
    dis__figure_end(&page->body, f);
}

void dis__page_tile_add(dis__page *page, const char *value, const char *label)
{
    page->n_tiles++;
    dis__markup_append(&page->tiles, "<div><dt>");
    dis__markup_append(&page->tiles, label);
    dis__markup_append(&page->tiles, "</dt><dd>");
    dis__markup_append(&page->tiles, value);
    dis__markup_append(&page->tiles, "</dd></div>\n");
}

void dis__page_finding_add(dis__page *page, dis__markup *sentence)
{
    dis__markup_append(&page->findings, "<li>");
    dis__markup_append_markup_escaped(&page->findings, sentence);
    dis__markup_append(&page->findings, "</li>\n");
    sentence->n = 0;
}

void dis__page_verdict_set(dis__page *page, const char *question, const char *id, const char *words,
                           const dis__markup *reasons)
{
    dis__markup *m = &page->verdict;
    m->n = 0;
    dis__markup_appendf(m,
                        "<section class=\"verdict\" data-verdict=\"%s\" aria-labelledby=\"verdict\"><h2 "
                        "id=\"verdict\">%s <strong>%s.</strong></h2><p>",
                        id, question, words);
    dis__markup_append_markup_escaped(m, reasons);
    dis__markup_append(m, "</p></section>\n");
}

void dis__page_findings_put(dis__page *page)
{
    dis__page_section_end(page);
    page->findings_at = page->body.n;
}

static void put_findings(dis__markup *m, const dis__page *page)
{
    if (page->findings.n == 0) return;
    dis__markup_append(
        m, "<section class=\"says\" aria-labelledby=\"says\"><h2 id=\"says\">The evidence in short</h2><ul>\n");
    dis__markup_append_markup(m, &page->findings);
    dis__markup_append(m, "</ul></section>\n");
}

static void format_page(dis__markup *m, const dis__page *page, const dis__markup *title, const dis__markup *subtitle)
{
    dis__markup_append(m, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    dis__markup_appendf(
        m,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
        "style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
        dis__format_csp_hash(dis__page_script).text, dis__format_csp_hash(dis__page_style).text);
    dis__markup_append(m, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                          "<meta name=\"referrer\" content=\"no-referrer\">\n");
    dis__markup_appendf(m, "<meta name=\"generator\" content=\"dissent %s\">\n<title>", dis_version());
    dis__markup_append_markup_escaped(m, title);
    dis__markup_append(m, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
    dis__markup_append(m, dis__page_style);
    dis__markup_append(m, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n"
                          "<div class=\"shell\">\n<header><h1>");
    dis__markup_append_markup_escaped(m, title);
    dis__markup_append(m, "</h1><p>");
    dis__markup_append_markup_escaped(m, subtitle);
    dis__markup_append(m, "</p></header>\n<nav aria-label=\"Contents\"><ul>\n");
    dis__markup_append_markup(m, &page->toc);
    dis__markup_append(m, "</ul></nav>\n<main id=\"main\" tabindex=\"-1\">\n");
    dis__markup_append_markup(m, &page->verdict);
    if (page->tiles.n) {
        /* more than eight are placed in two rows of about equal length */
        dis__markup_appendf(m, "<dl class=\"tiles c%zu\">\n", page->n_tiles <= 8 ? 8 : (page->n_tiles + 1) / 2);
        dis__markup_append_markup(m, &page->tiles);
        dis__markup_append(m, "</dl>\n");
    }
    if (page->body.status == DIS_OK) dis__markup_append_n(m, page->body.bytes, page->findings_at);
    put_findings(m, page);
    if (page->body.status == DIS_OK)
        dis__markup_append_n(m, page->body.bytes + page->findings_at, page->body.n - page->findings_at);
    dis__markup_appendf(
        m,
        "</main>\n<footer>Made by dissent %s. Everything is in this file: it loads nothing and sends "
        "nothing. Entropies are in nats, or as a share of the largest possible where it says so.</footer>\n"
        "</div>\n<script>",
        dis_version());
    dis__markup_append(m, dis__page_script);
    dis__markup_append(m, "</script>\n</body>\n</html>\n");
    const dis__markup *parts[] = {&page->tiles, &page->findings, &page->body, &page->verdict};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (m->status == DIS_OK) m->status = parts[i]->status;
}

dis_status dis__page_write(const dis__page *page, dis__markup *title, dis__markup *subtitle, const char *path)
{
    dis__markup file = {0};
    dis__out *out;
    format_page(&file, page, title, subtitle);
    dis_status status = file.status;
    if (status == DIS_OK) status = dis__out_open(path, &out);
    if (status == DIS_OK) status = dis__out_finish(out, dis__out_write(out, file.bytes, file.n));
    dis__markup_free(title);
    dis__markup_free(subtitle);
    dis__markup_free(&file);
    return status;
}
