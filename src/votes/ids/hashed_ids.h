/* hashed_ids.h: one numbering of the ids of a column, by first appearance, filled from all threads at once.
 *
 * Text is read in rounds of chunks. All chunks of a round look their ids up in one table and put in what is not there,
 * side by side; an id that is new gets a number of its chunk's own for the time being, and remembers the first chunk
 * that has it. After the round each chunk goes through the ids it had first, in order, and gives them their numbers and
 * names: the same ones for any cutting into chunks and any number of threads. When chunks are read one after the other,
 * the first number is already the right one.
 *
 *     DIS_TRY(dis__ids_begin_round(ids, n_chunks, max, in_order, to_come));
 *     ... in each chunk j: share = dis__chunk_ids_begin(ids, j, before, arena); number = dis__ids_find(&share, &key);
 *     ...
 *     ... all counted: dis__ids_count(&share); room made: dis__ids_reserve(); dis__ids_number(&share); ...
 *     ... dis__ids_resolve(ids, number) of every row ...
 *     dis__ids_end_round(ids, n);
 *
 * A slot of the table has 16 bytes: an id of up to 8 bytes is in it whole; of a longer one the slot has 64 bits of
 * hash, and its name is compared. Four slots make a bucket, one line of memory, and nearly all ids are in the bucket
 * where they belong. Once there are ids of 9 to 16 bytes, a bucket has two slots, and the rest of their texts in place
 * of the others: it is wide, and these ids need no comparison of names either. Hashes are keyed by a secret. */
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

enum { DIS_BUCKET = 4, DIS_WIDE_BUCKET = 2 }; /* slots that are used as such, of a line of four */
enum { DIS_ID_WIDE = 16 };                    /* bytes that fit into a wide bucket */

#define DIS_SLOT_IS_LONG (1ull << 32)           /* in meta: see dis__id_key */
#define DIS_SLOT_LOCKED  ((uint64_t)UINT32_MAX) /* being written: its tag is none that a key has */

/* How a text is in a slot: whole; whole in a wide bucket; as a hash. */
typedef enum { DIS_ID_SHORT = 2, DIS_ID_MEDIUM = 1, DIS_ID_LONG = 3 } dis__id_kind;

/* A text to be looked up. */
typedef struct {
    uint64_t word;    /* as in a slot */
    uint64_t high;    /* of a text of 9 to 16 bytes in wide buckets: what follows the first 8 */
    uint32_t tag;     /* 30 bits of hash, then a dis__id_kind */
    uint32_t n;       /* bytes */
    const char *text; /* of a long one */
    bool is_stable;   /* that text outlives the round where it is */
} dis__id_key;

/* An id that no earlier round had. */
typedef struct {
    uint64_t text;          /* as the word of a slot, or the address of a longer text */
    uint32_t n;             /* bytes */
    uint32_t slot;          /* where it is in the table */
    _Atomic uint32_t owner; /* the first chunk that is known to have it */
    uint32_t id;            /* its number, once it has one */
} dis__new_id;

typedef struct {
    dis__secret secret;
    dis__id_slot *slot; /* (n_buckets * DIS_BUCKET) */
    size_t n_buckets;
    size_t fill;     /* DIS_BUCKET or DIS_WIDE_BUCKET */
    bool has_medium; /* some ids have 9 to 16 bytes: the table should be wide */
    size_t n;        /* ids of the rounds before */
    char *bytes;     /* (start[n]) their names, each with a NUL after it */
    uint64_t *start; /* (n + 1) */
    size_t bytes_capacity, start_capacity;

    /* the current round */
    bool in_order; /* its chunks are read one after the other */
    size_t max;    /* new ids a chunk may have */
    dis__new_id *fresh;
    uint32_t *owned; /* (most a chunk) ids that a chunk was the first known to have, as indices into fresh */
    size_t fresh_capacity, owned_capacity;
} dis__ids;

/* One chunk's part in the round. */
typedef struct {
    dis__ids *ids;
    dis__arena *texts; /* for long texts that do not stay */
    uint32_t chunk;
    size_t first; /* of its own among the new ids */
    size_t n_fresh, n_owned;
    bool has_medium;
    bool full;             /* had more new ids than there is room for: its numbers are worth nothing */
    size_t n_ids, n_bytes; /* ids that are its to number and bytes of their names, once they are counted */
    size_t id, byte;       /* the number of the first of them and where its name begins, once they are placed */
} dis__chunk_ids;

void dis__ids_free(dis__ids *ids);
/* Room for a round of n_chunks with at most `max` new ids each; a chunk that has more becomes full, and the round must
 * be withdrawn. to_come: how many ids the rest of the input may bring, as a guess. DIS_ELIMIT: too many. */
dis_status dis__ids_begin_round(dis__ids *ids, size_t n_chunks, size_t max, bool in_order, double n_expected);
/* The share of a chunk that begins; before: that of the chunk before it, NULL for the first. */
dis__chunk_ids dis__chunk_ids_begin(dis__ids *ids, size_t chunk, const dis__chunk_ids *before, dis__arena *texts);
/* Takes out again what the chunks of the round put in; all of them, for tables know no single removals. */
void dis__ids_undo_round(dis__ids *ids, const dis__chunk_ids *chunk_ids);

/* The keys of texts: of 1 to 8 bytes in a word padded with zeros, of any length >= 1. The hash of a word is one that
 * vectors can compute: its halves are added to secrets and multiplied (NH of Black et al. 1999, universal to 2^-32),
 * the product is mixed by a bijection and multiplied by an odd secret, of which the upper bits count (Dietzfelbinger et
 * al. 1997). */
static inline uint32_t dis__id_tag(const dis__secret *s, uint64_t word)
{
    const uint32_t low = (uint32_t)word + (uint32_t)s->word[0],
                   high = (uint32_t)(word >> 32) + (uint32_t)(s->word[0] >> 32);
    const uint64_t h = (uint64_t)low * high;
    return ((uint32_t)((h ^ h >> 32) * s->word[3] >> 32) & ~3u) | DIS_ID_SHORT;
}
/* 64 bits of a text of more than 8 bytes, and the tag of these. */
uint64_t dis__id_hash_long(const dis__secret *secret, const char *text, size_t n);
static inline uint32_t dis__id_tag_long(const dis__secret *s, uint64_t hash)
{
    return (uint32_t)dis__mix(hash ^ s->word[2], s->word[3]) | DIS_ID_LONG;
}
void dis__id_key_init(const dis__ids *ids, const char *text, size_t n, bool is_stable, dis__id_key *key);

/* How long the text in a word is; its name, with a NUL after it, where there is room for `room` bytes. */
static inline size_t dis__word_length(uint64_t word)
{
    return (size_t)(71 - __builtin_clzll(word | 1)) / 8; /* a file that was truncated may give 0 */
}
static inline void dis__word_write(uint64_t word, size_t n, char *to, size_t room)
{
    if (room > sizeof word)
        memcpy(to, &word, sizeof word);
    else
        memcpy(to, &word, n); /* not into what follows */
    to[n] = 0;
}

/* The first slot of the bucket where a key belongs, the one to look at after a slot, and the rest of a slot's text. */
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

/* The number that a key likely has, from a look at its bucket alone; DIS_ID_NONE: unknown. */
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
/* Puts a key into a slot that was free a moment ago; false: another chunk was faster. *number is DIS_ID_NONE when there
 * is no memory for its text. */
bool dis__ids_insert(dis__chunk_ids *chunk_ids, const dis__id_key *key, size_t slot, uint32_t *number);
/* Tells an id that is new in this round that this chunk has it too. */
void dis__ids_record_use(dis__chunk_ids *chunk_ids, uint32_t number);

/* Whether a slot with the tag and the word of a key has all of it. */
static inline bool dis__ids_slot_equals(const dis__ids *ids, size_t i, uint32_t number, const dis__id_key *key)
{
    switch ((dis__id_kind)(key->tag & 3)) {
    case DIS_ID_SHORT: return true;
    case DIS_ID_MEDIUM: return atomic_load_explicit(dis__ids_high(ids, i), memory_order_relaxed) == key->high;
    case DIS_ID_LONG: break;
    }
    return dis__ids_same_text(ids, number, key);
}

/* The number of a key. DIS_ID_NONE: no memory, with the allocator's message; never for a text that stays. */
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

/* The numbers of texts of 1 to 8 bytes whose homes are known, which: (n) those that are wanted; most are new. */
void dis__ids_find_short(dis__chunk_ids *chunk_ids, const uint64_t *word, const uint32_t *first_slot,
                         const uint32_t *which, size_t n, uint32_t *out);

/* After all chunks of the round, chunk by chunk: how many ids are its to number. */
void dis__ids_count(dis__chunk_ids *chunk_ids);
/* Room for that many ids and bytes of names in all, and a guess of how many it will be in the end. */
dis_status dis__ids_reserve(dis__ids *ids, size_t n, size_t n_bytes, double n_guess, double bytes_guess);
/* Gives this chunk's ids the numbers from share->id on, and puts their names from share->byte on. */
void dis__ids_number(const dis__chunk_ids *chunk_ids);
/* The number for good; after all chunks have numbered theirs. */
static inline uint32_t dis__ids_resolve(const dis__ids *ids, uint32_t number)
{
    return number < ids->n ? number : ids->fresh[number - ids->n].id;
}
/* The same of n numbers; may be in place. */
void dis__ids_resolve_all(const dis__ids *ids, const uint32_t *number, size_t n, uint32_t *to);
/* Ends the round: there are n ids now; has_medium: some of the new ones have 9 to 16 bytes. */
void dis__ids_end_round(dis__ids *ids, size_t n, bool has_medium);

/* The names; the ids are gone afterwards. */
dis_status dis__ids_names(dis__ids *ids, dis_names **out);

#endif
