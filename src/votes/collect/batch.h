/* batch.h: votes as one piece of a file holds them.
 *
 * Batches are filled on all threads at once: ids are looked up in tables that all of them share (hashed_ids.h). Labels
 * are few: those of earlier rounds have their numbers, each batch numbers those that it meets first for itself, behind
 * them. collector.h puts batches together. */
#ifndef DIS_VOTES_COLLECT_BATCH_H
#define DIS_VOTES_COLLECT_BATCH_H
#include "votes/ids/hashed_ids.h"
#include "votes/table/scales.h"
#include "votes/table/votes_table.h"

enum { DIS_COLUMN_TASK, DIS_COLUMN_WORKER, DIS_ID_COLUMNS };

enum { DIS_CACHED_LABELS = 128 };

/* The problem of a row that the user can solve by an option alone. */
#define DIS_EMPTY_LABEL "an empty label; if it means \"no vote\", say `na` \"\""

/* What a label is good for. */
typedef enum { DIS_LABEL_VOTE, DIS_LABEL_NA, DIS_LABEL_EMPTY, DIS_LABEL_UNDECLARED, DIS_LABEL_INVALID } dis__label_kind;

/* Labels that have a meaning before the file is read: value is the class, or DIS_LABEL_IS_NA. */
#define DIS_LABEL_IS_NA (UINT32_MAX - 1)
typedef struct {
    dis__secret secret;
    dis__key_table known;
    bool declared;           /* other labels are errors */
    const dis__scale *scale; /* what a label may be; NULL: anything */
    bool fold_case, trim;    /* labels are known by what dis__label_fold() makes of them */
} dis__label_rules;

/* The label that `text` stands for under fold_case and trim, in `room` (n bytes); the text itself without them. */
const char *dis__fold_label(const dis__label_rules *rules, const char *text, size_t *n, char *room);

dis__label_kind dis__label_classify(const dis__label_rules *rules, const dis__key *label);

typedef struct {
    const char *at; /* in the input */
    char *message;
} dis__skipped;

/* A label that earlier rounds did not have, or that is no vote. */
typedef struct {
    uint32_t index; /* of a vote: behind those of earlier rounds */
    uint32_t kind;  /* dis__label_kind */
} dis__label;

/* The labels that are new in a batch, in order of appearance. */
typedef struct {
    dis__key *key;     /* (n) */
    dis__label *label; /* (n) */
    size_t n, key_capacity, label_capacity;
    size_t n_votes; /* of them are votes */
    uint64_t *slot; /* (n_slots) upper half of the hash, then index into key + 1; 0: free */
    size_t n_slots;
} dis__labels;

/* The labels of earlier rounds. */
typedef struct {
    dis__key_table table; /* value: index into key */
    dis__key *key;        /* (n) in order of first appearance */
    size_t n, capacity;
} dis__collected_labels;

/* A label of up to 8 bytes that was looked up before. */
typedef struct {
    uint64_t word; /* padded with zeros; DIS_NO_WORD: none */
    dis__label label;
} dis__cached_label;
#define DIS_NO_WORD UINT64_MAX /* no text has such bytes */

/* The first of them that are votes, for those who compare with all. */
enum { DIS_FIRST_LABELS = 16 };
typedef struct {
    uint64_t word[DIS_FIRST_LABELS];
    uint32_t index[DIS_FIRST_LABELS];
    size_t n;
    bool more; /* have been seen than there is room for */
} dis__first_labels;

/* A task, where it stays for the round. */
typedef struct {
    const char *text;
    size_t n;
} dis__task_text;

typedef struct {
    const dis__label_rules *rules;
    dis__chunk_ids chunk_ids[DIS_ID_COLUMNS];
    const dis__collected_labels *known;
    dis__labels label;
    dis__cached_label recent[DIS_CACHED_LABELS]; /* labels of the rows before, by dis__label_slot() */
    dis__first_labels first_labels;
    bool input_is_transient;   /* texts of the input are there for the round only */
    bool numbered_later;       /* tasks get their numbers after the round: only their texts are kept here, */
    uint64_t *run_word;        /* (n_runs) as words, or 0 for one of more than 8 bytes, */
    dis__task_text *long_task; /* (n_long) which are here in their order */
    size_t n_long, long_capacity;
    dis__arena long_texts; /* of them, those that are not as they stand in the input */
    uint32_t *run;         /* (n_runs) numbers of tasks, as their share gave them; may repeat */
    uint32_t *run_row;     /* (n_runs) the first row of each; it goes on to the next */
    uint32_t *worker;      /* (n_rows) numbers, as their share gave them */
    uint16_t *row_label;   /* (n_rows) */
    size_t n_runs, n_rows, capacity;
    dis__arena *texts; /* long ids that are not as they stand in the input; outlive the batch */

    /* set by the collector when the round is full */
    size_t first_row;       /* the number of its first row in the whole input */
    uint32_t previous_task; /* the task before the batch; whether a task is smaller than the one before */
    bool tasks_descend;
    bool first_is_new;  /* of tasks in ascending order: the first one is not the one before the batch */
    uint16_t *label_of; /* (label.n_votes) final indices of labels that were new, which are those from n_known on */
    size_t n_known, label_of_capacity;

    uint64_t seen, na, dropped, bad;
    dis__skipped skipped[DIS_MAX_MESSAGES];
    size_t n_skipped;
} dis__batch;

/* Empties a batch, keeping its memory; of a new one (all zero) too. It becomes the j-th of a round that was prepared;
 * in a round that is filled in order, `before` is the batch before it (NULL: the first one). */
void dis__batch_reset(dis__batch *batch, const dis__label_rules *rules, const dis__collected_labels *known,
                      dis__ids ids[DIS_ID_COLUMNS], size_t j, const dis__batch *before, dis__arena *texts);
void dis__batch_free(dis__batch *batch);
/* Whether it had more new ids than there was room for: what it holds is worth nothing. */
static inline bool dis__batch_is_full(const dis__batch *batch)
{
    return batch->chunk_ids[DIS_COLUMN_TASK].full || batch->chunk_ids[DIS_COLUMN_WORKER].full;
}
/* Room for n more rows. */
dis_status dis__batch_reserve(dis__batch *batch, size_t n);

/* A cheap place for a short label among the recent ones; it need not be hashed when it is there. */
static inline size_t dis__label_slot(uint64_t word)
{
    return (size_t)(word * 0x9e3779b97f4a7c15u >> 57);
}

/* Remembers a label of up to 8 bytes. */
void dis__batch_cache_label(dis__batch *batch, uint64_t word, dis__label label);

/* A label's index and kind. A text of more than 16 bytes must stay where it is. */
dis_status dis__batch_label(dis__batch *batch, const dis__key *key, dis__label *label);

/* Adds a row; there must be room. The label comes first: rows that are no votes leave no ids behind. */
static inline void dis__batch_add(dis__batch *batch, uint32_t task, uint32_t worker, uint32_t label)
{
    if (batch->n_runs == 0 || batch->run[batch->n_runs - 1] != task) {
        batch->run[batch->n_runs] = task;
        batch->run_row[batch->n_runs++] = (uint32_t)batch->n_rows;
    }
    batch->worker[batch->n_rows] = worker;
    batch->row_label[batch->n_rows++] = (uint16_t)label;
}

/* Keeps a long task for a run whose word is 0; it is copied unless it `stays` where it is. */
dis_status dis__batch_add_long_task(dis__batch *batch, const char *task, size_t n, bool is_stable);
/* The same of a batch whose tasks are numbered late; word: 0 for a long task, which was kept before. */
static inline void dis__batch_add_unnumbered(dis__batch *batch, uint64_t word, uint32_t worker, uint32_t label)
{
    if (batch->n_runs == 0 || word == 0 || batch->run_word[batch->n_runs - 1] != word) {
        batch->run_word[batch->n_runs] = word;
        batch->run_row[batch->n_runs++] = (uint32_t)batch->n_rows;
    }
    batch->worker[batch->n_rows] = worker;
    batch->row_label[batch->n_rows++] = (uint16_t)label;
}

/* The task of a run of such a batch, runs being asked for in their order from the first on; long_at: 0 at first. */
static inline dis__task_text dis__batch_task(const dis__batch *batch, size_t run, size_t *long_at)
{
    const uint64_t *word = &batch->run_word[run];
    if (*word == 0) return batch->long_task[(*long_at)++];
    return (dis__task_text){(const char *)word, dis__word_length(*word)};
}

/* One cell of a row that was read the slow way. */
typedef struct {
    const char *text;
    size_t n;
    const char *at; /* in the input, for messages */
} dis__vote_field;

/* A whole row by its texts, checked: on DIS_EDATA *problem says why (static or in `room`), *at where; nothing was
 * added. Texts outside [input, input_end) are copied if need be. */
typedef struct {
    const char *at;
    char text[640];
} dis__row_problem;

/* Says what is wrong, and where; DIS_EDATA. */
__attribute__((format(printf, 3, 4))) dis_status dis__row_problem_set(dis__row_problem *p, const char *at,
                                                                      const char *format, ...);
dis_status dis__batch_row(dis__batch *batch, const dis__vote_field cell[DIS_ID_COLUMNS + 1], const char *input,
                          const char *input_end, dis__row_problem *problem);
/* Whether dis__batch_row() takes the row, and counts it as a vote. */
bool dis__row_is_vote(const dis__label_rules *rules, const dis__vote_field cell[DIS_ID_COLUMNS + 1]);
/* The same for a label by its text. in_input: it lies there, and stays unless the input `moves`. */
dis_status dis__batch_find_label(dis__batch *batch, const char *text, size_t n, bool in_input, dis__label *label);
/* Counts a row that is skipped, and keeps its message if it is among the first. */
dis_status dis__batch_skip(dis__batch *batch, const dis__row_problem *problem);

#endif
