/* watch.h: updates labels with every vote, and reports items that need no more votes.
 *
 * Votes are added one by one. A watch stores the votes of open items and a matrix of soft counts per worker. Of
 * finished items it stores a hash, by which later votes are recognized. When the label of an item is confident enough,
 * `on_row` is called with its row and the item is retired. The model is dawid-skene with the smoothing of the default
 * labels, updated vote by vote. Probabilities are tempered by the number of votes, as in the default labels
 * (docs/guides/watch.md, docs/concepts/default-labels.md). The same votes in the same order give the same rows.
 *
 *     dis_status print(void *user, const dis_watch_row *row); // yours: writes row->task, returns DIS_OK
 *
 *     dis_watch_options o = dis_watch_options_default();
 *     o.on_row = print;
 *     dis_watch *watch;
 *     if (dis_watch_create(&o, &watch) == DIS_OK) {
 *         const dis_watch_vote vote = {.size = sizeof(dis_watch_vote), .task = "t1", .n_task = 2, .worker = "ann", .n_worker = 3, .label = "b",
 *                                      .n_label = 1};
 *         dis_watch_add(watch, &vote);
 *         dis_watch_destroy(watch);
 *     } */
#ifndef DIS_WATCH_H
#define DIS_WATCH_H
#include "dissent/labels.h"
#include "dissent/votes.h"

typedef struct dis_watch dis_watch;

typedef enum {
    DIS_WATCH_CONFIDENT,   /* retired: its label has at least the requested probability */
    DIS_WATCH_NEEDS_VOTES, /* not confident after the votes that every item gets: one more is needed */
    DIS_WATCH_VOTE_LIMIT,  /* retired without a confident label: it has as many votes as an item may get */
} dis_watch_reason;
/* "confident", "needs_votes", "vote_limit". */
DIS_ENUM_API(dis_watch_reason);

typedef struct {
    const char *task, *label; /* valid during the call; task ends with a NUL */
    size_t n_task, n_label;
    double p; /* of the label */
    uint64_t votes;
    dis_watch_reason reason;
} dis_watch_row;

typedef struct {
    size_t size;        /* of this struct */
    double confidence;  /* an item is finished when its label has this probability, above 0 and at most 1 */
    uint64_t min_votes; /* an item with fewer is not finished */
    uint64_t
        request_from; /* from this number of votes on, an unfinished item needs more: a row per further vote; 0: never */
    uint64_t max_votes;    /* retired with so many; 0: never */
    uint64_t n_remembered; /* finished items that are at least remembered for late votes; 0: all */
    double power,
        limit; /* log-probabilities are divided by min(votes, limit) ^ power, as combination calibrated does */
    dis_duplicates duplicates;  /* a worker votes again on an open item */
    const char *const *classes; /* (n_classes) NULL: those that turn up */
    size_t n_classes;
    /* Called for every row; any other status than DIS_OK ends the call that led to it. NULL: no calls. */
    dis_status (*on_row)(void *user, const dis_watch_row *row);
    void *user;
    uint64_t memory; /* bytes that items, workers and done items may take; 0: what the machine has available */
} dis_watch_options;
DIS_OPTIONS_API(dis_watch_options);

typedef struct {
    size_t size;                       /* of this struct */
    const char *task, *worker, *label; /* nothing of them is kept */
    size_t n_task, n_worker, n_label;
} dis_watch_vote;
DIS_OPTIONS_API(dis_watch_vote);

typedef struct {
    uint64_t votes;                        /* that counted, late ones too */
    uint64_t late;                         /* on items that were retired: they count for their workers only */
    uint64_t duplicates;                   /* left out, or replacing an earlier one, or counted too, by the option */
    uint64_t n_confident, n_at_vote_limit; /* items retired: confident, at the limit of votes */
    uint64_t votes_confident;              /* that these had when they were retired */
    uint64_t votes_at_vote_limit;
    uint64_t bad_rows, na, dropped; /* of dis_watch_read: skipped, without a label, by drop rules */
    size_t open, votes_open;        /* items, and the votes on them */
    size_t n_workers, n_classes;
} dis_watch_view;

/* DIS_EUSAGE: an option out of bounds, classes that repeat. DIS_ELIMIT. */
DIS_API dis_status dis_watch_create(const dis_watch_options *options, dis_watch **out);
DIS_API void dis_watch_destroy(dis_watch *watch);
/* DIS_EDATA: an empty id, a label that was not declared, a worker's second vote if that is an error. The vote did not
 * count, and the watch can be used further. DIS_ELIMIT: more than `memory`, or a limit of votes.h. What `on_row`
 * returns. */
DIS_API dis_status dis_watch_add(dis_watch *watch, const dis_watch_vote *vote);
/* Reads votes of a file or of standard input ("-") line by line, to the end or until the context is stopped. Then it
 * returns DIS_ECANCELLED; all complete lines have counted. CSV, TSV, JSONL; of the options only format, task, worker,
 * label, delimiter, na, drop and lenient count. A bad row ends the reading with DIS_EDATA, its position and reason.
 * With lenient it is counted, `skipped` (may be NULL) is called, and reading continues. `idle` (may be NULL) is called
 * whenever no input is available at the moment. */
typedef struct {
    size_t size;
    const dis_votes_options *votes; /* NULL: the defaults */
    void (*skipped)(void *user, const char *message);
    dis_status (*idle)(void *user);
    void *user;
} dis_watch_read_options;
DIS_OPTIONS_API(dis_watch_read_options);
DIS_API dis_status dis_watch_read(dis_context *ctx, dis_watch *watch, const char *path,
                                  const dis_watch_read_options *options);
/* Updates all open items with the current estimates of workers; those that are confident are retired. */
DIS_API dis_status dis_watch_finalize(dis_watch *watch);
/* The labels of open items, in order of first appearance, as dis_labels_write() does. */
DIS_API dis_status dis_watch_write(const dis_watch *watch, const char *path, const char *format);
DIS_VIEW_API(dis_watch);

#endif
