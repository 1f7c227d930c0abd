/* report_internal.h: shared by the sections of a report. */
#ifndef DIS_REPORT_REPORT_INTERNAL_H
#define DIS_REPORT_REPORT_INTERNAL_H
#include "dissent/agreement.h"
#include "dissent/evaluate.h"
#include "dissent/report.h"
#include "dissent/review.h"
#include "dissent/scaled.h"
#include "report/page/page.h"

enum { DIS__REPORT_BINS = 20, DIS__REPORT_SHOWN_CLASSES = 12, DIS__REPORT_SHOWN_VIEWS = 8 };

typedef struct {
    char *name;
    const double *p; /* (n_items, n_classes) */
    const dis_fit *fit;
} dis__report_view;

typedef struct {
    char *name;
    const double *q; /* (test.n_items, test.n_classes) */
} dis__report_prediction;

typedef struct {
    char *name;
    dis_epoch *epoch;
    size_t n_epochs, best_epoch;
    const dis_evaluation_metric_row *keep; /* what `dev` of the epochs is; NULL: nothing, or nothing known */
} dis__report_curve;

typedef struct {
    char *role, *text;
} dis__report_source;

struct dis_report {
    char *title, *votes_source;
    uint64_t seed;
    size_t resamples;
    bool ordinal, causes;
    const dis_votes *votes;
    size_t n_items, n_classes; /* of the votes, or of the first view */
    const dis_names *tasks, *classes;
    const int32_t *gold;
    const dis_worker_groups *groups;
    const dis_panel *panel;
    char *group_column;     /* display text, not yet escaped */
    const dis_names *texts; /* (n_items), empty: unknown; NULL: all unknown */
    dis__report_view view[DIS_MAX_VIEWS];
    size_t n_views;
    dis_report_test test; /* what predictions are of */
    dis__report_prediction prediction[DIS_MAX_VIEWS];
    size_t n_predictions;
    dis__report_curve *curve; /* in the order of their adding */
    size_t n_curves, curves_capacity;
    dis__report_source *source;
    size_t n_sources, sources_capacity;
};

/* The results of one pass over a view. Entropies are shares of log n_classes. */
typedef struct {
    uint64_t bin[DIS__REPORT_BINS];
    double mean_entropy;
    double *prevalence; /* (n_classes), sums to 1 */
    uint64_t changed;   /* items whose first class is not that of the trusted view */
    uint64_t right, n_gold;
} dis__view_statistics;

typedef struct {
    dis_context *ctx;
    const dis_report *r;
    dis_votes_view votes_view; /* all zero without votes */
    size_t main;               /* the trusted view; n_views when there is none */
    dis__view_statistics statistics[DIS_MAX_VIEWS];
    double *raw;        /* (n_classes): mean over items of the share of their votes; NULL without votes */
    double *gold_share; /* (n_classes): share of the known classes; NULL when none is known */
    size_t *top_class;  /* (n_shown): the most frequent classes, most frequent first */
    size_t n_shown;
    dis_review *review;                        /* NULL if votes cannot be judged one by one, or are too many */
    dis_review_view verdicts;                  /* of the review; all zero without */
    dis_agreement *agreement;                  /* NULL where votes cannot be compared one by one */
    dis_chance_test chance;                    /* of it */
    dis_evaluation *evaluation[DIS_MAX_VIEWS]; /* (n_predictions) */
    const dis_evaluation_view *model[DIS_MAX_VIEWS];
    dis_scaled *scaled; /* of votes of a scale with own labels; NULL: the report has everything else */
    dis__page page;
} dis__report_job;

/* view_statistics.c: fills tally, raw and top_class. */
dis_status dis__report_statistics_compute(dis__report_job *job);
void dis__report_statistics_free(dis__report_job *job);

/* The items with the largest score, best first, ties by weight, then by index. */
typedef struct {
    double score, weight;
    size_t item;
} dis__top_item;
size_t dis__top_items_add(dis__top_item *best, size_t n, size_t max, dis__top_item one);

const char *dis__class_name(const dis__report_job *job, size_t k);

/* The unit of a metric for the title of an axis: " (nats)", or "". Returns `out`. */
enum { DIS__METRIC_UNIT = 16 };
const char *dis__metric_unit(size_t metric, char out[DIS__METRIC_UNIT]);

/* An item's text, as the next column of a table; nothing if no texts were given. */
void dis__report_add_text_column(const dis__report_job *job, dis__data_table *g);
void dis__report_add_text_cell(const dis__report_job *job, dis__data_table *g, size_t item);

/* section_review.c: fills job->review and job->verdicts. */
dis_status dis__report_review(dis__report_job *job);

/* One section each; an empty section is not an error. */
dis_status dis__section_votes(dis__report_job *job);
dis_status dis__section_scaled(dis__report_job *job);
dis_status dis__section_labels(dis__report_job *job);
dis_status dis__section_workers(dis__report_job *job);
dis_status dis__section_groups(dis__report_job *job);
dis_status dis__section_panel(dis__report_job *job);
dis_status dis__section_training(dis__report_job *job);
dis_status dis__section_model(dis__report_job *job);
dis_status dis__section_review(dis__report_job *job);
dis_status dis__section_provenance(dis__report_job *job);

/* Figures with their own files; each adds itself to the open section. */
dis_status dis__figure_distances(dis__report_job *job);
void dis__figure_label_entropies(dis__report_job *job); /* section_labels.c */
void dis__figure_views(dis__report_job *job);           /* likewise */
dis_status dis__figure_traces(dis__report_job *job);

/* figure_agreement.c */
dis_status dis__report_agreement(dis__report_job *job); /* fills job->agreement */
void dis__report_add_agreement_finding(dis__report_job *job);
/* "fair agreement beyond chance (Krippendorff's alpha 0.35, 95 % from 0.31 to 0.38)" */
void dis__report_append_chance_agreement(dis__markup *m, const char *kind, const dis_metric *alpha,
                                         const dis_chance_test *test); /* kind: "ordinal ", or ""; test: or NULL */
/* Votes that agree no more than chance: no statements on labels and workers. */
bool dis__report_is_chance_level(const dis__report_job *job);
/* Too few votes to tell: labels are shown, but neither their accuracy nor that of any annotator is judged. */
bool dis__report_is_undecided(const dis__report_job *job);
/* figure_scaled_labels.c: the labels of a scale with own labels, as a picture. */
void dis__figure_scaled(dis__report_job *job);
void dis__figure_coefficients(dis__report_job *job);
void dis__figure_class_agreement(dis__report_job *job);
void dis__figure_pairs(dis__report_job *job);

#endif
