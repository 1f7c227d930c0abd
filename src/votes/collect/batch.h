/* batch.h: the votes of one piece of a file.
 *
 * Batches are filled by all threads in parallel: ids are looked up in shared tables (hashed_ids.h). Labels are few:
 * those of earlier rounds have final indices, and each batch numbers its new labels after them. collector.h merges
 * batches. */
#ifndef DIS_VOTES_COLLECT_BATCH_H
#define DIS_VOTES_COLLECT_BATCH_H
#include "votes/ids/hashed_ids.h"
#include "votes/table/scales.h"
#include "votes/table/votes_table.h"

enum { DIS_COLUMN_TASK, DIS_COLUMN_WORKER, DIS_ID_COLUMNS };

enum { DIS_CACHED_LABELS = 128 };

/* Problems of a row that an option can solve. */
#define DIS_EMPTY_LABEL "an empty label; if it means \"no vote\", set `na` \"\""

/* Kinds of labels. */
typedef enum { DIS_LABEL_VOTE, DIS_LABEL_NA, DIS_LABEL_EMPTY, DIS_LABEL_UNDECLARED, DIS_LABEL_INVALID } dis__label_kind;

/* Labels with a meaning before the file is read: value is the class, or DIS_LABEL_IS_NA. */
#define DIS_LABEL_IS_NA (UINT32_MAX - 1)
typedef struct {
    dis__secret secret;
    dis__key_table known;
    bool declared;           /* other labels are errors */
    const dis__scale *scale; /* the type of labels; NULL: any text */
    bool fold_case, trim;    /* labels are compared after dis__label_fold() */
} dis__label_rules;

/* The label that `text` stands for under fold_case and trim, in `room` (n bytes); the text itself without these
 * options. */
const char *dis__fold_label(const dis__label_rules *rules, const char *text, size_t *n, char *room);

dis__label_kind dis__label_classify(const dis__label_rules *rules, const dis__key *label);

typedef struct {
    const char *at; /* in the input */
    char *message;
} dis__skipped;

/* A label that earlier rounds did not have, or that is not a vote. */
typedef struct {
    uint32_t index; /* of a vote: after those of earlier rounds */
    uint32_t kind;  /* dis__label_kind */
} dis__label;

/* The new labels of a batch, in order of appearance. */
typedef struct {
    dis__key *key;     /* (n) */
    dis__label *label; /* (n) */
    size_t n, key_capacity, label_capacity;
    size_t n_votes; /* number of those that are votes */
    uint64_t *slot; /* (n_slots) upper half of the hash, then index into key + 1; 0: free */
    size_t n_slots;
} dis__labels;

/* The labels of earlier rounds. */
typedef struct {
    dis__key_table table; /* value: index into key */
    dis__key *key;        /* (n) in order of first appearance */
    size_t n, capacity;
} dis__collected_labels;

/* A short label (up to 8 bytes) in the cache of recent ones. */
typedef struct {
    uint64_t word; /* padded with zeros; DIS_NO_WORD: none */
    dis__label label;
} dis__cached_label;
#define DIS_NO_WORD UINT64_MAX /* no text has these bytes */

/* The first labels that are votes, for kernels that compare with all of them. */
enum { DIS_FIRST_LABELS = 16 };
typedef struct {
    uint64_t word[DIS_FIRST_LABELS];
    uint32_t index[DIS_FIRST_LABELS];
    size_t n;
    bool more; /* more were seen than there is room for */
} dis__first_labels;

/* The text of a task, valid for the round. */
typedef struct {
    const char *text;
    size_t n;
} dis__task_text;

typedef struct {
    const dis__label_rules *rules;
    dis__chunk_ids chunk_ids[DIS_ID_COLUMNS];
    const dis__collected_labels *known;
    dis__labels label;
    dis__cached_label recent[DIS_CACHED_LABELS]; /* labels of previous rows, by dis__label_slot() */
    dis__first_labels first_labels;
    bool input_is_transient;   /* texts of the input are valid for the round only */
    bool numbered_later;       /* tasks get their indices after the round: only their texts are kept here, */
    uint64_t *run_word;        /* (n_runs) as words, or 0 for a text of more than 8 bytes, */
    dis__task_text *long_task; /* (n_long) which are here in order */
    size_t n_long, long_capacity;
    dis__arena long_texts; /* of these, the ones that are not in the input */
    uint32_t *run;         /* (n_runs) indices of tasks, as in the chunk's share; may repeat */
    uint32_t *run_row;     /* (n_runs) the first row of each; it extends to the next */
    uint32_t *worker;      /* (n_rows) indices, as in the chunk's share */
    uint16_t *row_label;   /* (n_rows) */
    size_t n_runs, n_rows, capacity;
    dis__arena *texts; /* long ids that are not in the input; they outlive the batch */

    /* set by the collector after the round */
    size_t first_row;       /* index of its first row in the whole input */
    uint32_t previous_task; /* the last task before the batch; whether a task is smaller than the previous one */
    bool tasks_descend;
    bool first_is_new;  /* with tasks in ascending order: the first one is not the last task before the batch */
    uint16_t *label_of; /* (label.n_votes) final indices of the new labels, from n_known on */
    size_t n_known, label_of_capacity;

    uint64_t seen, na, dropped, bad;
    dis__skipped skipped[DIS_MAX_MESSAGES];
    size_t n_skipped;
} dis__batch;

/* Empties a batch (all zero if new), keeping its memory. It becomes batch j of a prepared round; in a round that is
 * filled in order, `before` is the previous batch (NULL: the first one). */
void dis__batch_reset(dis__batch *batch, const dis__label_rules *rules, const dis__collected_labels *known,
                      dis__ids ids[DIS_ID_COLUMNS], size_t j, const dis__batch *before, dis__arena *texts);
void dis__batch_free(dis__batch *batch);
/* Whether it had more new ids than there was room for: its contents are invalid. */
static inline bool dis__batch_is_full(const dis__batch *batch)
{
    return batch->chunk_ids[DIS_COLUMN_TASK].full || batch->chunk_ids[DIS_COLUMN_WORKER].full;
}
/* Reserves n more rows. */
dis_status dis__batch_reserve(dis__batch *batch, size_t n);

/* Cache slot of a short label; a hit needs no hashing. */
static inline size_t dis__label_slot(uint64_t word)
{
    return (size_t)(word * 0x9e3779b97f4a7c15u >> 57);
}

/* Caches a label of up to 8 bytes. */
void dis__batch_cache_label(dis__batch *batch, uint64_t word, dis__label label);

/* A label's index and kind. A text of more than 16 bytes must stay valid. */
dis_status dis__batch_label(dis__batch *batch, const dis__key *key, dis__label *label);

/* Adds a row; there must be room. The label comes first: rows that are not votes add no ids. */
static inline void dis__batch_add(dis__batch *batch, uint32_t task, uint32_t worker, uint32_t label)
{
    if (batch->n_runs == 0 || batch->run[batch->n_runs - 1] != task) {
        batch->run[batch->n_runs] = task;
        batch->run_row[batch->n_runs++] = (uint32_t)batch->n_rows;
    }
    batch->worker[batch->n_rows] = worker;
    batch->row_label[batch->n_rows++] = (uint16_t)label;
}

/* Keeps a long task for a run whose word is 0; it is copied unless it `stays` valid. */
dis_status dis__batch_add_long_task(dis__batch *batch, const char *task, size_t n, bool is_stable);
/* The same for a batch whose tasks are numbered later; word: 0 for a long task, which was kept already. */
static inline void dis__batch_add_unnumbered(dis__batch *batch, uint64_t word, uint32_t worker, uint32_t label)
{
    if (batch->n_runs == 0 || word == 0 || batch->run_word[batch->n_runs - 1] != word) {
        batch->run_word[batch->n_runs] = word;
        batch->run_row[batch->n_runs++] = (uint32_t)batch->n_rows;
    }
    batch->worker[batch->n_rows] = worker;
    batch->row_label[batch->n_rows++] = (uint16_t)label;
}

/* The task of a run of such a batch; runs are requested in order from the first on; long_at: 0 at first. */
static inline dis__task_text dis__batch_task(const dis__batch *batch, size_t run, size_t *long_at)
{
    const uint64_t *word = &batch->run_word[run];
    if (*word == 0) return batch->long_task[(*long_at)++];
    return (dis__task_text){(const char *)word, dis__word_length(*word)};
}

/* A cell of a row on the slow path. */
typedef struct {
    const char *text;
    size_t n;
    const char *at; /* in the input, for messages */
} dis__vote_field;

/* Adds a whole row from its texts, checked: on DIS_EDATA *problem has the reason (static or in `room`), *at the cell,
 * and nothing was added. Texts outside [input, input_end) are copied if needed. */
typedef struct {
    const char *at;
    char text[640];
} dis__row_problem;

/* Sets the message for a problem at a cell; DIS_EDATA. */
__attribute__((format(printf, 3, 4))) dis_status dis__row_problem_set(dis__row_problem *p, const char *at,
                                                                      const char *format, ...);
dis_status dis__batch_row(dis__batch *batch, const dis__vote_field cell[DIS_ID_COLUMNS + 1], const char *input,
                          const char *input_end, dis__row_problem *problem);
/* Whether dis__batch_row() accepts the row and counts it as a vote. */
bool dis__row_is_vote(const dis__label_rules *rules, const dis__vote_field cell[DIS_ID_COLUMNS + 1]);
/* The same for a label by its text. in_input: the text is in the input, and stays valid unless the input `moves`. */
dis_status dis__batch_find_label(dis__batch *batch, const char *text, size_t n, bool in_input, dis__label *label);
/* Counts a skipped row, and keeps its message if it is among the first. */
dis_status dis__batch_skip(dis__batch *batch, const dis__row_problem *problem);

#endif
