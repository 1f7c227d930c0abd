/* report.h: one HTML file about votes, labels and models.
 *
 * Create a report, add the available data, and write it. Charts, tables and sentences without data are left out. The
 * file works offline, loads nothing, and stays small: everything is aggregated before it is drawn, so a million items
 * make no larger file than a thousand.
 *
 *     dis_report *report;
 *     if (dis_report_create(NULL, &report) != DIS_OK) return 1;
 *     dis_status status = dis_report_add_votes(report, votes, "votes.csv");
 *     if (status == DIS_OK) status = dis_report_add_fit(report, "dawid-skene", a, dis_fit_p(a));
 *     if (status == DIS_OK) status = dis_report_write(ctx, report, "report.html");
 *     dis_report_destroy(report);
 *
 * Data that are added stay the caller's and must live until the report is written; texts and curves are copied. Ids,
 * labels, titles and file names may contain anything: they are escaped in the page. The same input gives the same
 * bytes, for any number of threads. Threads: one report, one thread at a time. */
#ifndef DIS_REPORT_H
#define DIS_REPORT_H
#include "dissent/combine.h"
#include "dissent/curve.h"
#include "dissent/labels.h"
#include "dissent/panel.h"
#include "dissent/worker_table.h"

typedef struct dis_report dis_report;

typedef struct {
    size_t size;       /* of this struct */
    const char *title; /* NULL: a title from its contents */
    uint64_t seed;     /* for bootstrap intervals */
    size_t resamples;  /* resamples for them; 0: none */
    bool ordinal;      /* the order of the classes means something */
    bool causes;       /* also which votes may be slips, other readings or views of groups */
} dis_report_options;
DIS_OPTIONS_API(dis_report_options);

/* options NULL: the defaults. DIS_ELIMIT. */
DIS_API dis_status dis_report_create(const dis_report_options *options, dis_report **out);
DIS_API void dis_report_destroy(dis_report *report);

/* The votes, once; `source` (may be NULL) is where they come from, for people. */
DIS_API dis_status dis_report_add_votes(dis_report *report, const dis_votes *votes, const char *source);
/* Known classes of the items: (n_items), -1 elsewhere. */
DIS_API dis_status dis_report_add_gold(dis_report *report, const int32_t *gold);
/* Texts of the items, in the order of the votes or of the labels (dis_items_get_texts), shown with their ids; empty
 * if unknown. */
DIS_API dis_status dis_report_add_texts(dis_report *report, const dis_names *texts);
/* Groups of the people who voted, once; `column` is what they are called after ("gender"). They stay the caller's. */
DIS_API dis_status dis_report_add_groups(dis_report *report, const dis_worker_groups *groups, const char *column);
/* What a panel of these votes found (dis_panel_run), once: a section on models as voters. It stays the caller's. */
DIS_API dis_status dis_report_add_panel(dis_report *report, const dis_panel *panel);
/* One view of the labels: the items and classes of all views and of the votes must be the same, in the same order
 * (dis_labels_align). The report uses the view that was added last for its findings. DIS_EUSAGE: another number of
 * items or classes, or more than DIS_MAX_VIEWS views. */
DIS_API dis_status dis_report_add_labels(dis_report *report, const char *name, const dis_labels_view *labels);
/* The same with the fit that it comes from, whose iterations are shown too. `p` as dis_fit_p or dis_fit_move_p gave
 * it. */
DIS_API dis_status dis_report_add_fit(dis_report *report, const char *name, const dis_fit *fit, const double *p);
/* The items that predictions are of, once: the predictions of a report are all of these items and classes, in their
 * order (dis_alignment_run). They need not be the items of the votes. */
typedef struct {
    size_t size; /* of this struct */
    size_t n_items, n_classes;
    const dis_names *classes;
    const int32_t *gold; /* (n_items) known class, -1: not known; NULL: none is */
    const double *human; /* (n_items, n_classes): human labels; NULL: not known */
} dis_report_test;
DIS_OPTIONS_API(dis_report_test);
DIS_API dis_status dis_report_add_test(dis_report *report, const dis_report_test *test);
/* Predictions of one model for them: q (n_items, n_classes), rows sum to 1. DIS_EUSAGE: before dis_report_add_test. */
DIS_API dis_status dis_report_add_predictions(dis_report *report, const char *name, const double *q);
/* How a model was trained, once per run: runs of one name are drawn as thin lines with their mean. The curve is copied.
 * DIS_EUSAGE: a curve without epochs. */
DIS_API dis_status dis_report_add_curve(dis_report *report, const char *name, const dis_curve *curve);
/* A line under "How this was made": "votes.csv", its SHA-256. */
DIS_API dis_status dis_report_add_source(dis_report *report, const char *role, const char *text);

/* Writes the complete file or none ("-": standard output). DIS_EUSAGE: nothing was added. DIS_EIO, DIS_ELIMIT,
 * DIS_ECANCELLED. */
DIS_API dis_status dis_report_write(dis_context *ctx, const dis_report *report, const char *path);

#endif
