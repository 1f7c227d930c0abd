/* partition.h: votes in any order, partitioned by their tasks into buckets that fit in a cache.
 *
 * To look up the tasks of a shuffled file one by one means a line of memory far away for every row, and then rows must
 * still be sorted. So the votes of a round are partitioned into buckets by a hash of their tasks, as they come, and at
 * the end each bucket is taken up by itself: a small table numbers its tasks, its votes are sorted by task, and where
 * they go follows from the rows in which the tasks of all buckets first appear. Buckets that are too much for the
 * memory are in a file (core/memory/scratch_file.h), block by block; of each as much as a block is collected in memory.
 *
 *     DIS_TRY(dis__partition_begin(ctx, &partition, &secret, n_bytes, bucket_bytes, words_per_byte, false));
 *     ... round by round:
 *         DIS_TRY(dis__partition_reserve(ctx, &partition, batches, n_batches, done));
 *         ... in each batch j: dis__partition_add_batch(&partition, batches[j], j); ...
 *     DIS_TRY(dis__partition_finish(ctx, &partition, n_rows, class_of, votes));
 *     dis__partition_free(&partition);
 *
 * A record is words: the task, packed, and a last one with worker, label and row. A task of up to 8 bytes is one word,
 * padded with zeros; so is one of 9 or 10 letters, digits, - and _, six bits each, in a word whose first byte is one
 * that no text begins with, as texts are UTF-8 (DIS_TASK_CODED and six bits of it). A longer one has another such byte
 * before it: DIS_TASK_LONG and how many words follow the first, or, from DIS_TASK_COUNTED on, DIS_TASK_COUNTED; then
 * the other seven bytes of the first word are its length, and the text begins with the second. */
#ifndef DIS_VOTES_IDS_PARTITION_H
#define DIS_VOTES_IDS_PARTITION_H
#include "dissent/context.h"
#include "core/memory/scratch_file.h"
#include "votes/collect/batch.h"

#define DIS_PARTITION_MAX (1ull << 40) /* votes: a range of rows has 32 bits (partition_finish.c) */
enum { DIS_PARTITION_ROW = 24 };       /* bytes per vote, more or less */
enum { DIS_TASK_CODED = 0x80, DIS_TASK_LONG = 0xf8, DIS_TASK_COUNTED = 0xff };
enum { DIS_CODED_MIN = 9, DIS_CODED_MAX = 10 };

typedef struct {
    uint64_t at; /* in the file */
    size_t n;    /* words */
} dis__partition_block;

typedef struct {
    uint64_t *record; /* (n) words, behind those in the file */
    size_t n, capacity;
    bool moved;                  /* had more than its share: its memory is its own */
    dis__partition_block *block; /* (n_blocks) what is in the file, in order */
    size_t n_blocks, block_capacity;
} dis__partition_bucket;

typedef struct {
    dis__ids places;               /* the buckets of votes as those of a table of ids, for the hash of a task */
    uint64_t *all;                 /* a share for each bucket, */
    size_t bucket_words;           /* of so many words */
    dis__scratch_file file;        /* where buckets lie if it is open */
    dis__partition_bucket *bucket; /* (places.n_buckets) */
    size_t *place;                 /* (n_batches, n_buckets) where the records of a batch go */
    size_t place_capacity;
} dis__partition;

/* How many words a text takes when it is packed, and a packed one. */
static inline size_t dis__task_words(size_t n)
{
    return n <= DIS_ID_INLINE ? 1 : n / 8 < DIS_TASK_COUNTED - DIS_TASK_LONG ? n / 8 + 1 : (n + 7) / 8 + 1;
}
static inline size_t dis__packed_words(uint64_t first)
{
    const unsigned tag = first & 0xff;
    if (tag < DIS_TASK_LONG) return 1;
    return tag < DIS_TASK_COUNTED ? tag - DIS_TASK_LONG + 1 : (size_t)((first >> 8) + 7) / 8 + 1;
}
static inline bool dis__task_is_coded(uint64_t word)
{
    return (word & 0xc0) == DIS_TASK_CODED;
}
/* How long the text of a packed task is. */
size_t dis__packed_length(const uint64_t *task);
/* A text of 9 or 10 bytes as a word; 0: it has other characters. And back, with room for DIS_CODED_MAX. */
uint64_t dis__task_code(const char *text, size_t n);
void dis__task_decode(uint64_t word, char *to);

/* The text of a packed task that is not coded. */
static inline dis__task_text dis__packed_text(const uint64_t *task)
{
    const unsigned tag = *task & 0xff;
    if (tag < DIS_TASK_LONG) return (dis__task_text){(const char *)task, dis__word_length(*task)};
    if (tag == DIS_TASK_COUNTED) return (dis__task_text){(const char *)(task + 1), (size_t)(*task >> 8)};
    const size_t more = tag - DIS_TASK_LONG;
    return (dis__task_text){(const char *)task + 1, 8 * more - 1 + dis__word_length(task[more])};
}
/* Packs a text of more than 8 bytes; returns how many words it takes. */
static inline size_t dis__task_pack(dis__task_text task, uint64_t *to)
{
    const size_t words = dis__task_words(task.n);
    to[words - 1] = 0;
    if (words - 1 < DIS_TASK_COUNTED - DIS_TASK_LONG) {
        *(unsigned char *)to = (unsigned char)(DIS_TASK_LONG + words - 1);
        memcpy((char *)to + 1, task.text, task.n);
    } else {
        to[0] = (uint64_t)task.n << 8 | DIS_TASK_COUNTED;
        memcpy(to + 1, task.text, task.n);
    }
    return words;
}

/* n_bytes: of text, with so many words of records per byte; bucket_bytes: of text for each bucket. Sixty thousand rows
 * are good: what a bucket needs fits in the L2 cache then. in_file: even if there is memory enough. */
dis_status dis__partition_begin(dis_context *ctx, dis__partition *partition, const dis__secret *secret,
                                uint64_t n_bytes, size_t bucket_bytes, double words_per_byte, bool in_file);
/* Room for what the batches of a round hold, which keep texts and know their first rows. done: the share of all text
 * that they and those before come from. */
dis_status dis__partition_reserve(dis_context *ctx, dis__partition *partition, dis__batch *const *batches,
                                  size_t n_batches, double done);
/* Partitions the j-th batch, whose workers and labels are final. From all threads. */
void dis__partition_add_batch(const dis__partition *partition, const dis__batch *batch, size_t j);
/* All that is still in memory goes to the file, if there is one. */
dis_status dis__partition_write(dis_context *ctx, dis__partition *partition);
/* Fills tasks, n_items, start, worker, label8 or label16 and n_votes of `votes`, whose n_classes is set: items numbered
 * by first appearance, votes of an item in the order of rows. class_of: (labels) the class of each; NULL: the label
 * itself. */
dis_status dis__partition_finish(dis_context *ctx, dis__partition *partition, size_t n_rows, const uint16_t *class_of,
                                 dis_votes *votes);
void dis__partition_free(dis__partition *partition);

#endif
