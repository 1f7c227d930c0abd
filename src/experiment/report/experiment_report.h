/* experiment_report.h: shared by the sections of an experiment's report. */
#ifndef DIS_EXPERIMENT_EXPERIMENT_REPORT_H
#define DIS_EXPERIMENT_EXPERIMENT_REPORT_H
#include "experiment/experiment_internal.h"
#include "experiment/compare_cells.h"
#include "report/report_internal.h"

typedef struct {
    dis_context *ctx;
    const dis_experiment *e;
    dis__store *store; /* NULL: nothing was run */
    const dis__known *known;
    dis_experiment_table_view t;
    dis__page *page;
    size_t n_ids;          /* figures so far that are numbered */
    size_t n_one_class;    /* cells that predict one class for all items of a set */
    const char *one_class; /* the name of the first */
} dis__experiment_page;

/* A number for the next figure's id. */
typedef struct {
    char text[48];
} dis__figure_id;
dis__figure_id dis__next_id(dis__experiment_page *p, const char *kind);
/* A title from program text and user text, escaped; the caller frees it. */
void dis__put_title(dis__markup *m, const char *ours, const char *theirs);
/* The same with the name of a set of items, and of the data set where there are several. */
void dis__put_set_title(const dis__experiment_page *p, dis__markup *m, const char *ours, const char *set,
                        const char *data);

/* Rows of the table that belong to the data set of row `first`: first .. end - 1 (cells of a data set lie together). */
size_t dis__data_end(const dis__experiment_page *p, size_t first);
const dis_experiment_cell *dis__row_cell(const dis__experiment_page *p, size_t row);

/* The name of row r's cell among the rows first .. end - 1 of one data set: without "DATA: " where all begin so. */
const char *dis__short_name(const dis__experiment_page *p, size_t first, size_t end, size_t r);

/* Predictions of the first seed of a cell that is done, all its folds together; *found false: there is none. */
dis_status dis__first_pooled(dis__experiment_page *p, size_t cell, const char *set, dis__pooled *out, bool *found);

/* How conditions do where people are divided: figures of the rows first .. end - 1 on a set of items; none where people
 * are not known. */
dis_status dis__divided_figures(dis__experiment_page *p, size_t first, size_t end, const char *set);

/* A measure as a function of each number that varies between the cells of the rows first .. end - 1; none if no number
 * varies. */
void dis__by_setting_figures(dis__experiment_page *p, size_t first, size_t end, size_t m, const char *metric);

/* report_calibration.c: stored predictions of a set of items; without them, nothing is added. */
dis_status dis__calibration_figure(dis__experiment_page *p, size_t first, size_t end, const char *set);

/* One section each; an empty section is not an error. */
dis_status dis__experiment_results(dis__experiment_page *p);
dis_status dis__experiment_labels(dis__experiment_page *p);
dis_status dis__experiment_training(dis__experiment_page *p);
dis_status dis__experiment_baseline(dis__experiment_page *p);
/* Sets of the plan, each once: *next goes from 0; false: no more. */
bool dis__next_set(const dis__plan *plan, size_t *next, const char **set);
dis_status dis__experiment_people(dis__experiment_page *p);
dis_status dis__experiment_provenance(dis__experiment_page *p);

#endif
