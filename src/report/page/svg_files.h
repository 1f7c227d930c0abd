/* svg_files.h: the charts of a page as files of their own: SVG that looks right on light and on dark.
 *
 *     dis__page page = {.drawings = &drawings};     figures leave their charts there on their way into the page
 *     ...
 *     DIS_TRY(dis__svg_files_write(&drawings, "figures", "labelme"));     figures/labelme-accuracy-images.svg, ...
 *
 * Names come from titles, so that they stay when other figures come or go. */
#ifndef DIS_REPORT_SVG_FILES_H
#define DIS_REPORT_SVG_FILES_H
#include "report/page/figure.h"

enum { DIS__SVG_FILE_NAME = 80 };

typedef struct {
    char name[DIS__SVG_FILE_NAME];
    dis__markup svg;
} dis__svg_file;

typedef struct {
    dis__svg_file *file;
    size_t n, capacity;
    dis_status status;
} dis__svg_files;

/* Colours and rules of charts; light, and dark where that is asked for. */
extern const char dis__chart_style[];

/* Every picture of a figure; a figure without a picture is skipped. */
void dis__svg_files_add(dis__svg_files *svg_files, const dis__figure *f);
/* FOLDER/PREFIX-NAME.svg each, the folder is created if it is missing. */
dis_status dis__svg_files_write(const dis__svg_files *svg_files, const char *folder, const char *prefix);
void dis__svg_files_free(dis__svg_files *svg_files);

#endif
