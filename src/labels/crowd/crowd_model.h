/* crowd_model.h: the model of a crowd used by the label method `crowd` and by `dissent review`.
 *
 *     P(label v | worker w, truth t, level e)  =  confusion[w][v][t] ^ ease[e] / sum over v of the same
 *
 * Levels describe the difficulty of an item: at ease 1 workers vote as they do on average, below it their votes are
 * less informative, above it more (the odds of a correct vote are raised to a power, as in GLAD, Whitehill et al. 2009,
 * but with a few levels and any confusion matrix). If the annotators are unknown, all votes belong to the same
 * worker. */
#ifndef DIS_LABELS_METHODS_CROWD_MODEL_H
#define DIS_LABELS_METHODS_CROWD_MODEL_H
#include "votes/table/votes_table.h"
#include "dissent/votes.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/numbers/special_functions.h"

enum { DIS_CROWD_LEVELS = 3, DIS_CROWD_HARD = 0, DIS_CROWD_NORMAL = 1, DIS_CROWD_ROUNDS = 5 };
extern const double dis__crowd_ease[DIS_CROWD_LEVELS];

typedef struct {
    dis_context *ctx;
    dis_votes_view votes;
    dis__votes_part part; /* which part of the votes of all ranks these are */
    const int32_t *gold;  /* (n_items) or NULL */
    size_t n_workers;     /* 1 if the annotators are unknown */
    size_t n_classes;     /* K */
    dis__special_functions special;
    double *p;             /* (n_items, K): posterior of the true class */
    double *log_confusion; /* (n_workers, K voted, K true) */
    double *log_norm;      /* (n_workers, levels, K true): log of the sum over v above */
    double *crowd;         /* (levels, K voted, K true): confusion matrix of all votes together */
    double *log_prior;     /* (K) */
    double log_level[DIS_CROWD_LEVELS];
    double log_likelihood; /* of all votes, at the parameters that gave p */
    /* Votes by worker, after dis__crowd_model_index_votes(). */
    uint64_t *worker_start; /* (n_workers + 1) */
    uint32_t *item_of;      /* (n_votes) */
    uint16_t *label_of;     /* (n_votes) */
} dis__crowd_model;

/* Bytes in addition to the votes and the posterior. */
size_t dis__crowd_model_memory(const dis_votes_view *votes);

/* Takes ownership of `p`, the initial labels (freed by destroy, on failure too). Does not fit. part: NULL: all of the
 * votes. */
dis_status dis__crowd_model_create(dis_context *ctx, const dis_votes_view *votes, const dis__votes_part *part,
                                   const int32_t *gold, double *p, dis__crowd_model *m);
dis_status dis__crowd_model_init_priors(dis__crowd_model *m); /* class prior and levels, from the initial labels */
/* Runs the rounds of EM of a review. One round is dis__crowd_model_update_matrices and
 * dis__crowd_model_update_posteriors. */
dis_status dis__crowd_model_fit(dis__crowd_model *m);
dis_status dis__crowd_model_update_matrices(dis__crowd_model *m); /* matrices from p */
dis_status dis__crowd_model_update_posteriors(
    dis__crowd_model *m); /* p, levels, class prior and log_likelihood from the matrices */
/* Initializes from matrices (n_workers, K voted, K true) and a class prior (K) of an earlier fit. */
dis_status dis__crowd_model_set_parameters(dis__crowd_model *m, const double *confusion, const double *prior);
void dis__crowd_model_destroy(dis__crowd_model *m);
dis_status dis__crowd_model_index_votes(dis__crowd_model *m); /* groups votes by worker; the workers must be known */
/* crowd_counts.c: expected counts of workers, from p, written to log_confusion. */
dis_status dis__crowd_model_count_votes(const dis__crowd_model *m);

/* Joint posterior (levels, K) of item i: sums to 1. `sums` (K) receives the summed log-probabilities of its votes at
 * ease 1, by class. Returns the log-likelihood of the votes. */
double dis__crowd_compute_joint(const dis__crowd_model *m, size_t i, double *joint, double *sums);
/* The same for n items from `first` on, n at most dis__crowd_block_size(): (n, levels, K), (n, K), (n). */
enum { DIS_CROWD_BLOCK = 32 };
void dis__crowd_compute_joints(const dis__crowd_model *m, size_t first, size_t n, double *joint, double *sums,
                               double *log_likelihood);

static inline size_t dis__crowd_block_size(size_t n_classes)
{
    const size_t n = 512 / (n_classes + 1);
    return n < 1 ? 1 : n < DIS_CROWD_BLOCK ? n : DIS_CROWD_BLOCK;
}

static inline double *dis__crowd_matrix_at(const dis__crowd_model *m, size_t w)
{
    return m->log_confusion + w * m->n_classes * m->n_classes;
}

/* Normalises column t of a matrix of counts (K voted, K true), slightly shrunk towards the diagonal. */
void dis__crowd_matrix_normalize(const double *counts, size_t n_classes, double *out);

#endif
