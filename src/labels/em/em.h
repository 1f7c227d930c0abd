/* em.h: the one pass over the votes that dawid-skene, fast-dawid-skene, ibcc, ebcc, one-coin and mace share
 * (docs/development/architecture.md).
 *
 * One iteration of such a method is a fused pass and an update:
 *
 *     pass    for each item: multiply the class prior by the probabilities of its votes, normalise (or choose the best
 *             class), add the posterior to the sums of each (worker, label)
 *     update  for each worker: new probabilities from the sums; then the class prior
 *
 * Two layouts of the table. DIS_EM_ROWS: a row of P(label | worker, true class) over true classes for each (worker,
 * label), followed by the sums of the same shape, so that a vote accesses one contiguous range of memory (K = 4: one
 * cache line) in both halves of the pass. DIS_EM_LABELS and DIS_EM_WORKERS: for models in which P(label | worker, true)
 * = A * B^[label = true] two values are enough, B and the sum of the posterior at the voted class, for each (worker,
 * label) or for each worker; the product of all A does not depend on the items: the update adds its logarithm to the
 * objective.
 *
 * The latent variable of an item is a state. Most methods have one state per class. ebcc has several (DIS_EM_ROWS
 * alone): rows, prior and class sums are then over states, labels stay classes, and the posterior of a class is the sum
 * over its states.
 *
 * On the CPU items are cut into shards, a number that depends on the problem only; each has its own copy of the table,
 * and sums are added in the order of shards: any number of threads gives the same bytes. Each rank has some of the
 * shards; sums are passed from rank to rank in the same order.
 *
 * A probability of zero counts as 2^DIS_EM_LOG2_ZERO if an item has probability 0 under every class (possible after a
 * warm start): it gets the least improbable one rather than NaN.
 *
 * The objective is evaluated at the parameters that gave the posteriors: sum of log normalisers plus the `penalty`
 * (log-prior, minus KL, or constants) of the update that gave those parameters. */
#ifndef DIS_LABELS_METHODS_EM_H
#define DIS_LABELS_METHODS_EM_H
#include "labels/em/em_device.h"
#include "labels/em/item_prior.h"
#include "labels/method.h"
#include "core/numbers/special_functions.h"

#define DIS_EM_LOG2_ZERO (-144269504.0)

typedef enum { DIS_EM_ROWS, DIS_EM_LABELS, DIS_EM_WORKERS } dis__em_layout;

/* Maximum sizes of a kernel's block: items (a multiple of every vector's lanes), and votes. */
enum { DIS_EM_BLOCK = 64, DIS_EM_VOTES = 1024 };

/* The rows of one worker in the tables of several shards. */
typedef struct {
    double *first;      /* row 0 in the first table */
    size_t n, size;     /* tables, doubles of each */
    size_t n_rows, row; /* rows of the worker, doubles of each; sums follow probabilities */
} dis__em_worker_rows;

/* Arguments of a kernel: one shard, one pass. */
typedef struct {
    const dis_votes_view *votes;
    const int32_t *gold;
    size_t first, last; /* items */
    dis__em_layout layout;
    dis__em_step step;
    bool sum; /* add the posteriors to the table */
    double *table;
    size_t row;          /* offset in doubles from the probabilities of a row to its sums */
    size_t block;        /* items at a time */
    size_t n_states;     /* n_classes * n_groups; state s belongs to class s / n_groups */
    size_t n_groups;     /* states per class */
    const double *prior; /* (n_states), followed by zeros */
    const double *item;  /* (n_items, n_classes): a factor of each item in addition to the prior, or NULL; not with
                          * groups */
    const double *log_q; /* (n_items, n_classes): whose expectation under the posteriors is computed, if there is
                          * `item` */
    double *scratch;     /* (block, n_states), padded */
    double *normaliser;  /* (2, DIS_EM_BLOCK): normaliser of each item, and its inverse */
    double *line;        /* (n_states) */
    uint32_t *index;     /* (DIS_EM_VOTES), NULL: the table is too large for it */
    double *p;           /* (n_items, n_classes) output, or NULL */
    double *class_sum;   /* (n_states): output, sum of the posteriors */
    double log_z;        /* output: sum of the log normalisers; under DIS_EM_HARD of the largest terms */
    double evidence;     /* output: sum of log_q under the posteriors; 0 without log_q */
    /* DIS_EM_SHARES with groups: the share of a class is split over its states at random, Dirichlet(1, ..., 1), by the
     * item's signature and this key. */
    const uint64_t *signature; /* (n_items) */
    uint64_t key;
} dis__em_job;

typedef struct dis__em dis__em;

/* The rules of a method that uses the shared loop. */
typedef struct {
    const char *name;
    /* New parameters of worker w. sums: the sums of the pass, (n_classes, row) of [label][state] under DIS_EM_ROWS,
     * (n_classes) under DIS_EM_LABELS, one value under DIS_EM_WORKERS; the probabilities (or B) overwrite them.
     * `scratch` has room for twice as many doubles. Returns the worker's share of the penalty. With `keep` the
     * parameters are also copied to the fit's parameters. Called from any thread. */
    double (*worker)(void *arg, size_t w, double *sums, double *scratch, bool keep);
    /* New prior (n_states) from the class sums over n_items items; returns its share of the penalty. */
    double (*classes)(void *arg, const double *class_sum, size_t n_items, double *prior, bool keep);
    /* Called after each pass if not NULL; true: converged, whatever the objective. It may change em->step. */
    bool (*after)(void *arg, dis__em *em);
    /* Initial parameters and update of a restart; `only`: no iteration follows. NULL: no restarts. */
    dis_status (*begin)(void *arg, int64_t restart, bool only);
    bool update_last; /* parameters are those of an update after the last pass (Dawid-Skene), not those used in the last
                       * pass */
    void *arg;
} dis__em_rules;

/* The backend of passes and tables: a row each for the CPU and for devices from a library. */
typedef struct {
    dis_status (*open)(dis__em *em); /* at the end of dis__em_create; NULL: nothing to do */
    dis_status (*pass)(dis__em *em, dis__em_step step, bool sum, bool write); /* as dis__em_pass */
    dis_status (*collect)(dis__em *em);                           /* before an update; NULL: nothing to do */
    void (*gather)(const dis__em *em, size_t w, double *out);     /* sums of worker w; from any thread */
    void (*scatter)(dis__em *em, size_t w, const double *values); /* new probabilities; from any thread */
    void (*close)(dis__em *em);                                   /* NULL: nothing to do */
} dis__em_backend;
extern const dis__em_backend dis__em_cpu, dis__em_device_backend;

struct dis__em {
    const dis__em_backend *place;
    const dis__em_device *device; /* of dis__em_device_backend; NULL: the CPU */
    void *session;                /* of the device, with its tables */
    double *rates, *sums;         /* (n_workers, worker_size) of the session: probabilities to the device, sums from the
                            * device */
    bool signed_on_device;        /* the signatures were sent */
    size_t touched;               /* bytes of the labels whose pages are allocated */
    const dis__fit_args *args;
    dis_fit *fit;
    dis__em_layout layout;
    dis__em_step step; /* of the passes after the first: soft or hard */
    size_t n_classes, n_states, n_groups, row, worker_size /* doubles of sums per worker */, table_size, n_shards,
        n_update_jobs, block;
    double *tables; /* (n_shards, table_size) */
    dis__em_job *jobs;
    double *class_sums; /* of each shard */
    double *class_sum;  /* (n_states): the total */
    size_t n_summed;    /* items in it */
    double *prior;      /* (n_states) */
    double *update_scratch;
    double *penalties; /* per update job, on separate cache lines */
    double log_z, penalty;
    dis__item_prior *items; /* predictions as the prior of each item; NULL: none */
    double evidence;        /* of the last pass (item_prior.h); NaN before the first */
    dis__special_functions special;
    void (*kernel)(dis__em_job *job);
    void (*add_sums)(const dis__em_worker_rows *tables, double *out);          /* em_kernel.c */
    void (*set_rows)(const dis__em_worker_rows *tables, const double *values); /* likewise; sums become 0 */
    /* Of passes under DIS_EM_SHARES with groups (dis__em_job). */
    const uint64_t *signature;
    uint64_t key;
    const dis__em_rules *rules; /* for the current update */
    bool keep;
    /* Ranks: the shards of this rank, of n_all_shards in all. */
    const struct dis__comm *comm;
    size_t n_all_shards, first_shard;
    double *total; /* (n_workers, worker_size) sums of all ranks; NULL: one rank */
    double *lines; /* (n_all_shards, n_states + 2) */
};

/* Bytes that dis__em_create will allocate. */
size_t dis__em_memory(const dis_votes_view *votes, dis__em_layout layout, size_t n_groups);

/* Creates zeroed tables. n_groups: states per class, 1 except for DIS_EM_ROWS. On failure everything is freed. The
 * caller destroys it. */
dis_status dis__em_create(const dis__fit_args *args, dis_fit *fit, dis__em_layout layout, size_t n_groups, dis__em *em);
void dis__em_destroy(dis__em *em);

/* Resets for another start: forgets the weight of predictions. */
void dis__em_reset(dis__em *em);

/* One pass: class sums, sums in the table (unless sum is false), em->log_z; posteriors into fit->p with `write`. */
dis_status dis__em_pass(dis__em *em, dis__em_step step, bool sum, bool write);

/* New parameters from the sums, which are reset to zero; em->penalty. Before any pass the sums are zero and n_items is
 * 0: this is how external parameters enter. */
dis_status dis__em_update(dis__em *em, const dis__em_rules *rules, bool keep);

/* The sums of the passes for worker w so far: worker_size values, as passed to `worker` of the rules. After a pass and
 * before an update, on several ranks, call dis__em_gather_sums() first. */
dis_status dis__em_gather_sums(dis__em *em);
void dis__em_get_worker_sums(const dis__em *em, size_t w, double *out);

/* Passes and updates from the current parameters until the objective changes by less than `tolerance` relative to
 * itself or n_passes have run: records the trace, sets fit->converged and fit->iterations (the number of passes),
 * writes the posteriors to fit->p. n_passes = 0: nothing. */
dis_status dis__em_loop(dis__em *em, const dis__em_rules *rules, int64_t n_passes, double tolerance);

/* Of n restarts, the one with the highest objective after n_screen soft passes continues to its end: sets fit->restart,
 * then as dis__em_loop(). With n = 1 or without passes, restart 0. */
dis_status dis__em_run_best_restart(dis__em *em, const dis__em_rules *rules, int64_t n, int64_t n_screen,
                                    int64_t n_passes, double tolerance);

/* (n_workers, n_classes) votes of each worker by class, or (n_workers) votes of each worker, over all ranks. */
dis_status dis__em_count_labels(const dis__fit_args *args, double *counts);
dis_status dis__em_count_votes(const dis__fit_args *args, double *counts);

#endif
