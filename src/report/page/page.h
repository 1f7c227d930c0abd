/* page.h: the page of a report: its parts are filled in any order and put together at the end.
 *
 * Nothing in the page is loaded from anywhere, and the content-security policy says so: one script and one style sheet,
 * both named by their hash, data: pictures, and nothing else. */
#ifndef DIS_REPORT_PAGE_H
#define DIS_REPORT_PAGE_H
#include "report/page/svg_files.h"

extern const char dis__page_style[], dis__page_script[];

typedef struct {
    dis__markup body, tiles, findings, toc, verdict;
    size_t findings_at; /* position in the body where the findings are put; 0: before all of it */
    size_t n_tiles;
    bool in_section;
    size_t section_at, section_toc_at; /* where the open section begins */
    bool has_figure;                   /* the open section */
    size_t unpaired; /* position in the body after the class of a half-wide figure that has no neighbour yet; 0: none */
    dis__svg_files *svg_files; /* where charts are kept, too; NULL: nowhere */
} dis__page;

void dis__page_free(dis__page *page);

/* A section begins: heading and one sentence of what it is about. `id`, `title` and `about` are ours. */
void dis__page_section_begin(dis__page *page, const char *id, const char *title, const char *about);
void dis__page_section_end(dis__page *page);
/* Puts the figure and its line in the table of contents. */
void dis__page_figure_add(dis__page *page, dis__figure *f);
/* A key figure. `label` is program text. */
void dis__page_tile_add(dis__page *page, const char *value, const char *label);
/* The answer to the question that the page is about, above all else: `question`, `id` and `words` are ours, `reasons` is
 * plain text, which is escaped. The last one counts. */
void dis__page_verdict_set(dis__page *page, const char *question, const char *id, const char *words,
                           const dis__markup *reasons);
/* The findings come here, after what has been added so far. */
void dis__page_findings_put(dis__page *page);
/* One sentence of "what this says": plain text, which is escaped and emptied. */
void dis__page_finding_add(dis__page *page, dis__markup *sentence);

/* Writes the whole file or none. `title` and `subtitle` are plain texts, which are freed. */
dis_status dis__page_write(const dis__page *page, dis__markup *title, dis__markup *subtitle, const char *path);

#endif
