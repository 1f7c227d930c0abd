/* drawings.h: the charts of a page as files of their own: SVG that looks right on light and on dark.
 *
 *     dis__page page = {.drawings = &drawings};     figures leave their charts there on their way into the page
 *     ...
 *     DIS_TRY(dis__drawings_write(&drawings, "figures", "labelme"));     figures/labelme-accuracy-images.svg, ...
 *
 * Names come from titles, so that they stay when other figures come or go. */
#ifndef DIS_REPORT_DRAWINGS_H
#define DIS_REPORT_DRAWINGS_H
#include "report/figure.h"

enum { DIS__DRAWING_NAME = 80 };

typedef struct {
    char name[DIS__DRAWING_NAME];
    dis__markup svg;
} dis__drawing;

typedef struct {
    dis__drawing *drawing;
    size_t n, capacity;
    dis_status status;
} dis__drawings;

/* Colours and rules of charts; light, and dark where that is asked for. */
extern const char dis__chart_style[];

/* Every picture of a figure; one without is left alone. */
void dis__drawings_add(dis__drawings *drawings, const dis__figure *f);
/* FOLDER/PREFIX-NAME.svg each, the folder made where it is not there. */
dis_status dis__drawings_write(const dis__drawings *drawings, const char *folder, const char *prefix);
void dis__drawings_free(dis__drawings *drawings);

#endif
