/* conformal.h: the parts of prediction sets: p-values from calibration votes (prediction_sets.c), and where sets contain
 * the votes (set_coverage.c, new_annotators.c). */
#ifndef DIS_EVALUATE_CONFORMAL_CONFORMAL_H
#define DIS_EVALUATE_CONFORMAL_CONFORMAL_H
#include "dissent/prediction_sets.h"
#include "core/error.h"

/* Calibration votes by score: mass[j] is the mass of votes with a score of at least score[j]; one entry per score,
 * descending. The votes on an item have mass 1. */
typedef struct {
    size_t n;
    double *score, *mass;
    double unmatched; /* mass of votes for classes that predictions lack: their score is infinite */
    double n_items;   /* mass of all votes */
} dis__vote_tail;

/* The mass of calibration votes with at least this score. */
double dis__vote_tail_at(const dis__vote_tail *tail, double score);

struct dis_prediction_sets {
    dis_prediction_sets_view view;
    double *p_value;
    bool *in_set;
    uint32_t *set_size;
    dis_coverage_row *rows;
    size_t rows_capacity;
};

/* While sets are computed. Votes of row r: count[r * n_classes + k], and unmatched[r] for other classes. */
typedef struct {
    dis_context *ctx;
    dis_prediction_sets_input in;
    dis_prediction_sets_options o;
    dis_votes_view votes;
    dis_prediction_sets *out;
    double *score;             /* (n_items, n_classes) */
    double *count, *unmatched; /* (n_items, n_classes), (n_items) */
    double *n_votes;           /* (n_items) */
    bool *calibrates;          /* (n_items) has votes that calibrate */
    size_t *order, n_cells;    /* cells of calibration rows with votes, by descending score */
    dis__vote_tail tail;
} dis__conformal;

/* The class of a vote, SIZE_MAX: none of the predictions. */
static inline size_t dis__vote_class(const dis__conformal *x, uint64_t vote)
{
    const size_t k = x->votes.label8 ? x->votes.label8[vote] : x->votes.label16[vote];
    return x->in.class_map[k] < x->in.n_classes ? x->in.class_map[k] : SIZE_MAX;
}

/* Mass per score of the cells in `order`, weighted by count[cell] / n_votes[row]. The arrays have room for n_cells. */
void dis__vote_tail_fill(const dis__conformal *x, const double *count, const double *n_votes, dis__vote_tail *tail);

/* The share of the votes on a row with a score of at least `score`; 0 without votes. */
double dis__own_share(const dis__conformal *x, const double *count, double unmatched, double n_votes, size_t row,
                      double score);

/* Whether a p-value puts a class into the set. */
bool dis__conformal_includes(const dis__conformal *x, double p);

dis_status dis__coverage_row_add(dis_prediction_sets *sets, const dis_coverage_row *row);

/* Adds rows: of all votes, classes, set sizes and entropies; of annotators. */
dis_status dis__set_coverage_add(const dis__conformal *x);
dis_status dis__new_annotators_add(const dis__conformal *x);

#endif
