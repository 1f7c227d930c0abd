/* hashed_ids.h: numbers the ids of a column in order of first appearance, from all threads in parallel.
 *
 * Text is read in rounds of chunks. All chunks of a round look up their ids in one table and insert missing ones, in
 * parallel. A new id gets a temporary number within its chunk, and records the first chunk that contains it. After the
 * round each chunk assigns final numbers and names to the ids that it had first, in order: the same ones for any
 * division into chunks and any number of threads. If chunks are read sequentially, the temporary numbers are final.
 *
 *     DIS_TRY(dis__ids_begin_round(ids, n_chunks, max, in_order, to_come));
 *     ... in each chunk j: share = dis__chunk_ids_begin(ids, j, before, arena); number = dis__ids_find(&share, &key);
 *     ...
 *     ... all counted: dis__ids_count(&share); room made: dis__ids_reserve(); dis__ids_number(&share); ...
 *     ... dis__ids_resolve(ids, number) of every row ...
 *     dis__ids_end_round(ids, n);
 *
 * A slot of the table has 16 bytes: it contains an id of up to 8 bytes, or 64 bits of the hash of a longer one, whose
 * name is then compared. Four slots form a bucket, one cache line, and nearly all ids are in their home bucket. Once
 * there are ids of 9 to 16 bytes, buckets are wide: they have two slots, and the rest of these ids in the space of the
 * others, so that these ids need no comparison of names either. Hashes are keyed by a secret. */
#ifndef DIS_VOTES_IDS_HASHED_IDS_H
#define DIS_VOTES_IDS_HASHED_IDS_H
#include "dissent/names.h"
#include "votes/ids/intern.h"
#include <stdatomic.h>

enum { DIS_ID_INLINE = 8 };
#define DIS_ID_NONE UINT32_MAX

typedef struct {
    _Atomic uint64_t word; /* the text padded with zeros, or a hash of a longer one */
    _Atomic uint64_t meta; /* tag << 32 | 1 + number; 0: free */
} dis__id_slot;

enum { DIS_BUCKET = 4, DIS_WIDE_BUCKET = 2 }; /* slots in use, of four per line */
enum { DIS_ID_WIDE = 16 };                    /* bytes that fit into a wide bucket */

#define DIS_SLOT_IS_LONG (1ull << 32)           /* in meta: see dis__id_key */
#define DIS_SLOT_LOCKED  ((uint64_t)UINT32_MAX) /* being written: no key has this tag */

/* How a slot represents a text: complete; complete in a wide bucket; as a hash. */
typedef enum { DIS_ID_SHORT = 2, DIS_ID_MEDIUM = 1, DIS_ID_LONG = 3 } dis__id_kind;

/* A key to look up. */
typedef struct {
    uint64_t word;    /* as in a slot */
    uint64_t high;    /* for a text of 9 to 16 bytes in wide buckets: the bytes after the first 8 */
    uint32_t tag;     /* 30 bits of hash, followed by a dis__id_kind */
    uint32_t n;       /* bytes */
    const char *text; /* text of a long id */
    bool is_stable;   /* that text outlives the round */
} dis__id_key;

/* An id that is new in this round. */
typedef struct {
    uint64_t text;          /* as the word of a slot, or the address of a longer text */
    uint32_t n;             /* bytes */
    uint32_t slot;          /* its slot in the table */
    _Atomic uint32_t owner; /* the first chunk known to contain it */
    uint32_t id;            /* its number, once assigned */
} dis__new_id;

typedef struct {
    dis__secret secret;
    dis__id_slot *slot; /* (n_buckets * DIS_BUCKET) */
    size_t n_buckets;
    size_t fill;     /* DIS_BUCKET or DIS_WIDE_BUCKET */
    bool has_medium; /* some ids have 9 to 16 bytes: the table should be wide */
    size_t n;        /* ids of the previous rounds */
    char *bytes;     /* (start[n]) their NUL-terminated names */
    uint64_t *start; /* (n + 1) */
    size_t bytes_capacity, start_capacity;

    /* the current round */
    bool in_order; /* its chunks are read sequentially */
    size_t max;    /* maximum number of new ids per chunk */
    dis__new_id *fresh;
    uint32_t *owned; /* (maximum per chunk) ids that a chunk was the first known to contain, as indices into fresh */
    size_t fresh_capacity, owned_capacity;
} dis__ids;

/* The part of one chunk in the round. */
typedef struct {
    dis__ids *ids;
    dis__arena *texts; /* for long texts that do not stay valid */
    uint32_t chunk;
    size_t first; /* its own index among the new ids */
    size_t n_fresh, n_owned;
    bool has_medium;
    bool full;             /* had more new ids than there is room for: its numbers are invalid */
    size_t n_ids, n_bytes; /* number of ids that it numbers and bytes of their names, after counting */
    size_t id, byte;       /* the number of the first one and the offset of its name, after placement */
} dis__chunk_ids;

void dis__ids_free(dis__ids *ids);
/* Starts a round of n_chunks with at most `max` new ids each; a chunk with more becomes full, and the round must be
 * withdrawn. to_come: estimated number of ids in the rest of the input. DIS_ELIMIT: too many. */
dis_status dis__ids_begin_round(dis__ids *ids, size_t n_chunks, size_t max, bool in_order, double n_expected);
/* Starts the share of a chunk; before: that of the previous chunk, NULL for the first. */
dis__chunk_ids dis__chunk_ids_begin(dis__ids *ids, size_t chunk, const dis__chunk_ids *before, dis__arena *texts);
/* Removes the ids of the round by rebuilding the table, since single removals are not supported. */
void dis__ids_undo_round(dis__ids *ids, const dis__chunk_ids *chunk_ids);

/* The keys of texts: of 1 to 8 bytes in a word padded with zeros, of any length >= 1. The hash of a word can be
 * computed by vector instructions: its halves are added to secrets and multiplied (NH of Black et al. 1999, universal
 * to 2^-32), the product is mixed by a bijection and multiplied by an odd secret, of which the upper bits count
 * (Dietzfelbinger et al. 1997). */
static inline uint32_t dis__id_tag(const dis__secret *s, uint64_t word)
{
    const uint32_t low = (uint32_t)word + (uint32_t)s->word[0],
                   high = (uint32_t)(word >> 32) + (uint32_t)(s->word[0] >> 32);
    const uint64_t h = (uint64_t)low * high;
    return ((uint32_t)((h ^ h >> 32) * s->word[3] >> 32) & ~3u) | DIS_ID_SHORT;
}
/* 64 bits of hash of a text of more than 8 bytes, and its tag. */
uint64_t dis__id_hash_long(const dis__secret *secret, const char *text, size_t n);
static inline uint32_t dis__id_tag_long(const dis__secret *s, uint64_t hash)
{
    return (uint32_t)dis__mix(hash ^ s->word[2], s->word[3]) | DIS_ID_LONG;
}
void dis__id_key_init(const dis__ids *ids, const char *text, size_t n, bool is_stable, dis__id_key *key);

/* Length of the text in a word; writes its NUL-terminated name, if there is room for `room` bytes. */
static inline size_t dis__word_length(uint64_t word)
{
    return (size_t)(71 - __builtin_clzll(word | 1)) / 8; /* a file that was truncated may give 0 */
}
static inline void dis__word_write(uint64_t word, size_t n, char *to, size_t room)
{
    if (room > sizeof word)
        memcpy(to, &word, sizeof word);
    else
        memcpy(to, &word, n); /* not past the end of the text */
    to[n] = 0;
}

/* The first slot of a key's home bucket, the slot after a slot, and the rest of a slot's text. */
static inline size_t dis__ids_bucket(const dis__ids *ids, uint32_t tag)
{
    return DIS_BUCKET * dis__hash_slot(tag, ids->n_buckets);
}
static inline size_t dis__ids_next(const dis__ids *ids, size_t i)
{
    i += i % DIS_BUCKET == ids->fill - 1 ? DIS_BUCKET - ids->fill + 1 : 1;
    return i == DIS_BUCKET * ids->n_buckets ? 0 : i;
}
static inline _Atomic uint64_t *dis__ids_high(const dis__ids *ids, size_t i)
{
    dis__id_slot *rest = &ids->slot[i - i % DIS_BUCKET + DIS_WIDE_BUCKET];
    return i % 2 ? &rest->meta : &rest->word;
}

/* The likely number of a key, from its home bucket only; DIS_ID_NONE: unknown. */
static inline uint32_t dis__ids_guess(const dis__ids *ids, const dis__id_key *key)
{
    const dis__id_slot *bucket = &ids->slot[dis__ids_bucket(ids, key->tag)];
    for (size_t i = 0; i < ids->fill; i++) {
        const uint64_t meta = atomic_load_explicit(&bucket[i].meta, memory_order_acquire);
        if (meta >> 32 == key->tag) return (uint32_t)meta - 1;
    }
    return DIS_ID_NONE;
}

/* Whether a number's name is that long text. */
bool dis__ids_same_text(const dis__ids *ids, uint32_t number, const dis__id_key *key);
/* Writes a key into a slot that was free; false: another chunk was faster. *number is DIS_ID_NONE if there is no memory
 * for its text. */
bool dis__ids_insert(dis__chunk_ids *chunk_ids, const dis__id_key *key, size_t slot, uint32_t *number);
/* Records that this chunk contains an id that is new in this round. */
void dis__ids_record_use(dis__chunk_ids *chunk_ids, uint32_t number);

/* Whether a slot with the tag and the word of a key matches the rest of it. */
static inline bool dis__ids_slot_equals(const dis__ids *ids, size_t i, uint32_t number, const dis__id_key *key)
{
    switch ((dis__id_kind)(key->tag & 3)) {
    case DIS_ID_SHORT: return true;
    case DIS_ID_MEDIUM: return atomic_load_explicit(dis__ids_high(ids, i), memory_order_relaxed) == key->high;
    case DIS_ID_LONG: break;
    }
    return dis__ids_same_text(ids, number, key);
}

/* The number of a key. DIS_ID_NONE: no memory, with the allocator's message; never for a text that stays valid. */
static inline uint32_t dis__ids_find(dis__chunk_ids *chunk_ids, const dis__id_key *key)
{
    const dis__ids *ids = chunk_ids->ids;
    for (size_t i = dis__ids_bucket(ids, key->tag);;) {
        dis__id_slot *slot = &ids->slot[i];
        const uint64_t meta = atomic_load_explicit(&slot->meta, memory_order_acquire);
        if (meta >> 32 == key->tag && atomic_load_explicit(&slot->word, memory_order_relaxed) == key->word) {
            const uint32_t number = (uint32_t)meta - 1;
            if (dis__ids_slot_equals(ids, i, number, key)) {
                if (number >= ids->n && !ids->in_order) dis__ids_record_use(chunk_ids, number);
                return number;
            }
        }
        if (meta == 0) {
            uint32_t number;
            if (dis__ids_insert(chunk_ids, key, i, &number)) return number;
        } else if (meta != DIS_SLOT_LOCKED) {
            i = dis__ids_next(ids, i);
        }
    }
}

/* The numbers of texts of 1 to 8 bytes whose home buckets are known; which: (n) the requested ones; most are new. */
void dis__ids_find_short(dis__chunk_ids *chunk_ids, const uint64_t *word, const uint32_t *first_slot,
                         const uint32_t *which, size_t n, uint32_t *out);

/* After all chunks of the round, chunk by chunk: counts the ids that the chunk numbers. */
void dis__ids_count(dis__chunk_ids *chunk_ids);
/* Reserves room for that many ids and bytes of names in total, and an estimate of the final numbers. */
dis_status dis__ids_reserve(dis__ids *ids, size_t n, size_t n_bytes, double n_guess, double bytes_guess);
/* Numbers this chunk's ids from share->id on, and stores their names from share->byte on. */
void dis__ids_number(const dis__chunk_ids *chunk_ids);
/* The final number; after all chunks have numbered theirs. */
static inline uint32_t dis__ids_resolve(const dis__ids *ids, uint32_t number)
{
    return number < ids->n ? number : ids->fresh[number - ids->n].id;
}
/* The same for n numbers; may be in place. */
void dis__ids_resolve_all(const dis__ids *ids, const uint32_t *number, size_t n, uint32_t *to);
/* Ends the round with n ids in total; has_medium: some of the new ones have 9 to 16 bytes. */
void dis__ids_end_round(dis__ids *ids, size_t n, bool has_medium);

/* Returns the names, and frees the ids. */
dis_status dis__ids_names(dis__ids *ids, dis_names **out);

#endif
