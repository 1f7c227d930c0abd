/* confusion.h: the M-step that dawid-skene and fast-dawid-skene share: a class prior and one confusion matrix per
 * worker from expected counts. Fields with the names of options have their values (see dawid_skene.c). */
#ifndef DIS_LABELS_METHODS_CONFUSION_H
#define DIS_LABELS_METHODS_CONFUSION_H
#include "labels/em/em.h"

typedef struct {
    double smoothing, diagonal, floor, prior_count;
    double soften; /* votes, spread over all labels, added to each column of a state's matrices; 0: unchanged */
    bool uniform_prior;
    dis__em em;
    double *confusion; /* (n_workers, K voted, K true): parameters of the fit */
    double *prior;     /* (K) */
    bool warm;         /* the next update uses the parameters in the two arrays above */
} dis__confusion;

/* Adds the parameters to the fit and creates the tables (destroyed by dis__em_destroy). */
dis_status dis__confusion_create(dis__confusion *c, const dis__fit_args *args, dis_fit *fit);
size_t dis__confusion_memory(const dis_votes_view *votes, const void *options);

/* For dis__em_rules; arg is a dis__confusion. */
double dis__confusion_update_worker(void *arg, size_t w, double *sums, double *scratch, bool keep);
double dis__confusion_update_prior(void *arg, const double *class_sum, size_t n_items, double *out, bool keep);

/* Initial parameters: those of the state if the caller passed one that contains `method`, otherwise from vote
 * shares. */
dis_status dis__confusion_init(dis__confusion *c, const dis__em_rules *rules, const char *method, bool only);

#endif
