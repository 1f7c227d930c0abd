/* partition.h: hash-partitions unsorted votes by task into cache-sized buckets.
 *
 * Looking up the tasks of a shuffled file one by one costs a cache miss for every row, and rows must still be sorted
 * afterwards. So the votes of a round are appended to buckets by a hash of their tasks. At the end each bucket is
 * processed separately: a small table numbers its tasks, its votes are sorted by task, and their final positions follow
 * from the rows in which the tasks of all buckets first appear. If buckets exceed the memory limit they are stored in a
 * file (core/memory/scratch_file.h), in blocks that are collected in memory.
 *
 *     DIS_TRY(dis__partition_begin(ctx, &partition, &secret, n_bytes, bucket_bytes, words_per_byte, false));
 *     ... round by round:
 *         DIS_TRY(dis__partition_reserve(ctx, &partition, batches, n_batches, done));
 *         ... in each batch j: dis__partition_add_batch(&partition, batches[j], j); ...
 *     DIS_TRY(dis__partition_finish(ctx, &partition, n_rows, class_of, votes));
 *     dis__partition_free(&partition);
 *
 * A record consists of words: the packed task, and a last word with worker, label and row. A task of up to 8 bytes is
 * one word, padded with zeros. A task of 9 or 10 letters, digits, - and _ is also one word, with six bits per
 * character; its first byte cannot begin a UTF-8 text (DIS_TASK_CODED and six bits of the task). A longer task begins
 * with another such byte: DIS_TASK_LONG plus the number of words that follow the first. If that number is too large the
 * byte is DIS_TASK_COUNTED, the other seven bytes of the first word are the length, and the text begins with the second
 * word. */
#ifndef DIS_VOTES_IDS_PARTITION_H
#define DIS_VOTES_IDS_PARTITION_H
#include "dissent/context.h"
#include "core/memory/scratch_file.h"
#include "votes/collect/batch.h"

#define DIS_PARTITION_MAX (1ull << 40) /* votes: a range of rows has 32-bit offsets (partition_finish.c) */
enum { DIS_PARTITION_ROW = 24 };       /* approximate bytes per vote */
enum { DIS_TASK_CODED = 0x80, DIS_TASK_LONG = 0xf8, DIS_TASK_COUNTED = 0xff };
enum { DIS_CODED_MIN = 9, DIS_CODED_MAX = 10 };

typedef struct {
    uint64_t at; /* in the file */
    size_t n;    /* words */
} dis__partition_block;

typedef struct {
    uint64_t *record; /* (n) words, after those in the file */
    size_t n, capacity;
    bool moved;                  /* exceeded its capacity: has separate memory */
    dis__partition_block *block; /* (n_blocks) blocks in the file, in order */
    size_t n_blocks, block_capacity;
} dis__partition_bucket;

typedef struct {
    dis__ids places;               /* maps the hash of a task to a bucket, like a table of ids */
    uint64_t *all;                 /* the capacity of each bucket */
    size_t bucket_words;           /* in words */
    dis__scratch_file file;        /* the file of buckets, if it is open */
    dis__partition_bucket *bucket; /* (places.n_buckets) */
    size_t *place;                 /* (n_batches, n_buckets) offsets of the records of a batch */
    size_t place_capacity;
} dis__partition;

/* Number of words of a packed text, and of a packed task. */
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
/* Length of the text of a packed task. */
size_t dis__packed_length(const uint64_t *task);
/* Packs a text of 9 or 10 bytes into a word; 0: it has other characters. And unpacks it, into DIS_CODED_MAX bytes. */
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
/* Packs a text of more than 8 bytes; returns the number of words. */
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

/* n_bytes: bytes of text, with this many words of records per byte; bucket_bytes: bytes of text for each bucket. Sixty
 * thousand rows per bucket are good: its working set then fits into the L2 cache. in_file: even if memory suffices. */
dis_status dis__partition_begin(dis_context *ctx, dis__partition *partition, const dis__secret *secret,
                                uint64_t n_bytes, size_t bucket_bytes, double words_per_byte, bool in_file);
/* Reserves room for the batches of a round, which keep texts and know their first rows. done: share of the whole text
 * up to and including these. */
dis_status dis__partition_reserve(dis_context *ctx, dis__partition *partition, dis__batch *const *batches,
                                  size_t n_batches, double done);
/* Partitions batch j, whose workers and labels are final. From all threads. */
void dis__partition_add_batch(const dis__partition *partition, const dis__batch *batch, size_t j);
/* Writes all words that are still in memory to the file, if there is one. */
dis_status dis__partition_write(dis_context *ctx, dis__partition *partition);
/* Fills tasks, n_items, start, worker, label8 or label16 and n_votes of `votes`, whose n_classes is set: items numbered
 * by first appearance, votes of an item in the order of rows. class_of: (labels) the class of each; NULL: the label
 * itself. */
dis_status dis__partition_finish(dis_context *ctx, dis__partition *partition, size_t n_rows, const uint16_t *class_of,
                                 dis_votes *votes);
void dis__partition_free(dis__partition *partition);

#endif
