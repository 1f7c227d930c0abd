/* The shared table of ids: see hashed_ids.h. Linear probing starts at the first slot of a bucket. A slot is claimed by
 * replacing its zero by a mark (compare and exchange), filled, and published with its number; other threads wait at the
 * mark for some ten instructions. The table grows between rounds only, so slots do not move during lookups. It is kept
 * as small as the existing ids and the expected ids of the next round allow: a table of some ten thousand workers
 * should stay in the L2 cache. Slots are in the order of their hashes, so growing accesses memory sequentially.
 *
 * Cost: one cache line per lookup; for a new id 40 bytes more, and its name. */
#include "votes/ids/hashed_ids.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"

enum { FIRST_SLOTS = 256, AHEAD = 16 };

void dis__ids_free(dis__ids *ids)
{
    dis__free(ids->slot);
    dis__free(ids->bytes);
    dis__free(ids->start);
    dis__free(ids->fresh);
    dis__free(ids->owned);
    *ids = (dis__ids){0};
}

static uint64_t relaxed(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void put_in(const dis__ids *to, uint64_t meta, uint64_t word, uint64_t high)
{
    size_t k = dis__ids_bucket(to, (uint32_t)(meta >> 32));
    while (relaxed(&to->slot[k].meta)) k = dis__ids_next(to, k);
    atomic_store_explicit(&to->slot[k].word, word, memory_order_relaxed);
    if (to->fill == DIS_WIDE_BUCKET) atomic_store_explicit(dis__ids_high(to, k), high, memory_order_relaxed);
    atomic_store_explicit(&to->slot[k].meta, meta, memory_order_relaxed);
}

/* Creates a table of another size, wide if needed. Keys are then recomputed from the names, as they are for the first
 * table of ids that were numbered without one. */
static dis_status resize(dis__ids *ids, size_t n_buckets)
{
    dis__ids to = *ids;
    to.fill = ids->has_medium ? DIS_WIDE_BUCKET : DIS_BUCKET;
    to.n_buckets = n_buckets;
    if (n_buckets > UINT32_MAX / DIS_BUCKET) return dis__fail(DIS_ELIMIT, "more than %zu different names", ids->n);
    DIS_TRY(dis__alloc_zeroed(&to.slot, n_buckets * DIS_BUCKET, sizeof *to.slot));
    if (ids->slot && to.fill == ids->fill) {
        for (size_t b = 0; b < ids->n_buckets; b++)
            for (size_t i = b * DIS_BUCKET; i < b * DIS_BUCKET + ids->fill; i++) {
                const uint64_t meta = relaxed(&ids->slot[i].meta);
                if (meta == 0) continue;
                put_in(&to, meta, relaxed(&ids->slot[i].word),
                       to.fill == DIS_WIDE_BUCKET ? relaxed(dis__ids_high(ids, i)) : 0);
            }
    } else {
        for (size_t i = 0; i < ids->n; i++) {
            const size_t n = (size_t)(ids->start[i + 1] - ids->start[i]) - 1;
            dis__id_key key;
            dis__id_key_init(&to, ids->bytes + ids->start[i], n, true, &key);
            put_in(&to, (uint64_t)key.tag << 32 | (i + 1), key.word, key.high);
        }
    }
    dis__free(ids->slot);
    *ids = to;
    return DIS_OK;
}

/* At least five slots for four expected ids. If the table must grow, to two slots per id, and for the expected rest of
 * the input, but at most four times the size, since the estimate may be wrong. A table that is far too large
 * shrinks. */
static dis_status make_slots(dis__ids *ids, size_t fresh, double n_expected)
{
    const size_t ids_soon = dis__saturating_size(ids->n, 1, fresh),
                 need = dis__saturating_size(ids_soon, 5, FIRST_SLOTS) / 4;
    const size_t fill = ids->has_medium ? DIS_WIDE_BUCKET : DIS_BUCKET, n_slots = fill * ids->n_buckets;
    const double min = 2. * (double)ids_soon + FIRST_SLOTS, guess = 1.7 * ((double)ids->n + n_expected),
                 max = 4. * (double)n_slots;
    const double some = guess > max ? max : guess, wanted = some > min ? some : min;
    const bool fits = need <= n_slots && (double)n_slots < 4 * wanted;
    return fits && fill == ids->fill ? DIS_OK : resize(ids, fits ? ids->n_buckets : (size_t)wanted / fill + 1);
}

dis_status dis__ids_begin_round(dis__ids *ids, size_t n_chunks, size_t max, bool in_order, double n_expected)
{
    const size_t fresh = dis__saturating_size(n_chunks, max, 0);
    if (fresh >= UINT32_MAX - ids->n) return dis__fail(DIS_ELIMIT, "more than %zu different names", ids->n);
    DIS_TRY(make_slots(ids, fresh, n_expected));
    DIS_TRY(dis__reserve(&ids->fresh, &ids->fresh_capacity, 0, fresh, sizeof *ids->fresh));
    DIS_TRY(dis__reserve(&ids->owned, &ids->owned_capacity, 0, fresh, sizeof *ids->owned));
    ids->max = max;
    ids->in_order = in_order;
    return DIS_OK;
}

dis__chunk_ids dis__chunk_ids_begin(dis__ids *ids, size_t chunk, const dis__chunk_ids *before, dis__arena *texts)
{
    const size_t first = !ids->in_order ? chunk * ids->max : before ? before->first + before->n_fresh : 0;
    return (dis__chunk_ids){.ids = ids, .texts = texts, .chunk = (uint32_t)chunk, .first = first};
}

void dis__ids_undo_round(dis__ids *ids, const dis__chunk_ids *chunk_ids)
{
    for (size_t i = 0; i < chunk_ids->n_fresh; i++)
        atomic_store_explicit(&ids->slot[ids->fresh[chunk_ids->first + i].slot].meta, 0, memory_order_relaxed);
}

uint64_t dis__id_hash_long(const dis__secret *s, const char *text, size_t n)
{
    uint64_t h = s->word[2] ^ n;
    size_t i = 0;
    for (; n - i > 16; i += 16)
        h = dis__mix(dis__load64(text + i) ^ s->word[0], dis__load64(text + i + 8) ^ s->word[1] ^ h);
    const char *last = n < 16 ? text : text + n - 16;
    return dis__mix(dis__load64(last) ^ s->word[0], dis__load64(text + n - 8) ^ s->word[1] ^ h);
}

/* Fields are written one by one, each once: reading a key that was just copied as a whole would stall. */
void dis__id_key_init(const dis__ids *ids, const char *text, size_t n, bool is_stable, dis__id_key *key)
{
    const dis__secret *s = &ids->secret;
    uint64_t word = 0, high = 0;
    uint32_t tag;
    if (n <= DIS_ID_INLINE) {
        memcpy(&word, text, n);
        tag = dis__id_tag(s, word);
    } else if (n <= DIS_ID_WIDE && ids->fill == DIS_WIDE_BUCKET) {
        word = dis__load64(text);
        high = dis__load64(text + n - 8) >> 8 * (DIS_ID_WIDE - n);
        tag = ((uint32_t)dis__hash_short(s, word, high) & ~3u) | DIS_ID_MEDIUM;
    } else {
        word = dis__id_hash_long(s, text, n);
        tag = dis__id_tag_long(s, word);
    }
    key->word = word;
    key->high = high;
    key->tag = tag;
    key->n = (uint32_t)n;
    key->text = text;
    key->is_stable = is_stable;
}

bool dis__ids_same_text(const dis__ids *ids, uint32_t number, const dis__id_key *key)
{
    const char *text;
    size_t n;
    if (number < ids->n) {
        text = ids->bytes + ids->start[number];
        n = (size_t)(ids->start[number + 1] - ids->start[number]) - 1;
    } else {
        const dis__new_id *f = &ids->fresh[number - ids->n];
        text = (const char *)(uintptr_t)f->text;
        n = f->n;
    }
    return n == key->n && memcmp(text, key->text, n) == 0;
}

/* Claims a free slot; false: another chunk was faster. */
static inline bool claim(const dis__ids *ids, dis__id_slot *slot)
{
    uint64_t none = 0;
    return ids->in_order || atomic_compare_exchange_strong_explicit(&slot->meta, &none, DIS_SLOT_LOCKED,
                                                                    memory_order_acquire, memory_order_relaxed);
}

bool dis__ids_insert(dis__chunk_ids *s, const dis__id_key *key, size_t i, uint32_t *number)
{
    dis__ids *ids = s->ids;
    const size_t index = s->first + s->n_fresh;
    uint64_t text = key->word;
    if (s->n_owned == ids->max) {
        s->full = true;
        *number = 0;
        return true;
    }
    if (key->n > DIS_ID_INLINE) {
        const char *stored = key->text;
        *number = DIS_ID_NONE;
        if (!key->is_stable && dis__arena_copy(s->texts, key->text, key->n, &stored) != DIS_OK) return true;
        text = (uint64_t)(uintptr_t)stored;
    }
    if (!claim(ids, &ids->slot[i])) return false;
    dis__new_id *f = &ids->fresh[index];
    f->text = text;
    f->n = key->n;
    f->slot = (uint32_t)i;
    atomic_store_explicit(&f->owner, s->chunk, memory_order_relaxed);
    atomic_store_explicit(&ids->slot[i].word, key->word, memory_order_relaxed);
    if ((key->tag & 3) == DIS_ID_MEDIUM) atomic_store_explicit(dis__ids_high(ids, i), key->high, memory_order_relaxed);
    *number = (uint32_t)(ids->n + index);
    atomic_store_explicit(&ids->slot[i].meta, (uint64_t)key->tag << 32 | (*number + 1), memory_order_release);
    ids->owned[s->chunk * ids->max + s->n_owned++] = (uint32_t)index;
    s->n_fresh++;
    s->n_ids++;
    s->n_bytes += (size_t)key->n + 1;
    s->has_medium = s->has_medium || (key->n > DIS_ID_INLINE && key->n <= DIS_ID_WIDE);
    return true;
}

/* A new id usually finds a free slot in its home bucket: slots are filled in order, so counting the used ones gives the
 * free one without branches. */
void dis__ids_find_short(dis__chunk_ids *s, const uint64_t *word, const uint32_t *first_slot, const uint32_t *which,
                         size_t n, uint32_t *out)
{
    dis__ids *ids = s->ids;
    dis__id_slot *const slots = ids->slot;
    const dis__secret secret = ids->secret;
    const bool narrow = ids->fill == DIS_BUCKET;
    uint32_t *owned = ids->owned + s->chunk * ids->max;
    for (size_t i = 0; i < n; i++) {
        const uint64_t text = word[which[i]];
        dis__id_slot *bucket = slots + first_slot[which[i]];
        const dis__id_key key = {.word = text,
                                 .tag = dis__id_tag(&secret, text),
                                 .n = (uint32_t)dis__word_length(text)};
        size_t n_used = 0;
        bool known = false; /* or possibly in a slot that is being written */
        for (size_t k = 0; k < DIS_BUCKET; k++) {
            const uint64_t meta = atomic_load_explicit(&bucket[k].meta, memory_order_acquire);
            n_used += meta != 0;
            known |= (meta == DIS_SLOT_LOCKED) | (relaxed(&bucket[k].word) == text);
        }
        if (!narrow || known || n_used == DIS_BUCKET || s->n_owned == ids->max || !claim(ids, &bucket[n_used])) {
            out[which[i]] = dis__ids_find(s, &key);
            continue;
        }
        const size_t index = s->first + s->n_fresh;
        const uint32_t number = (uint32_t)(ids->n + index);
        dis__new_id *f = &ids->fresh[index];
        f->text = text;
        f->n = key.n;
        f->slot = (uint32_t)(bucket + n_used - slots);
        atomic_store_explicit(&f->owner, s->chunk, memory_order_relaxed);
        atomic_store_explicit(&bucket[n_used].word, text, memory_order_relaxed);
        atomic_store_explicit(&bucket[n_used].meta, (uint64_t)key.tag << 32 | (number + 1), memory_order_release);
        owned[s->n_owned++] = (uint32_t)index;
        s->n_fresh++;
        s->n_ids++;
        s->n_bytes += (size_t)key.n + 1;
        out[which[i]] = number;
    }
}

void dis__ids_record_use(dis__chunk_ids *s, uint32_t number)
{
    const uint32_t index = (uint32_t)(number - s->ids->n);
    dis__new_id *f = &s->ids->fresh[index];
    uint32_t owner = atomic_load_explicit(&f->owner, memory_order_relaxed);
    while (owner > s->chunk && !(s->full = s->full || s->n_owned == s->ids->max))
        if (atomic_compare_exchange_weak_explicit(&f->owner, &owner, s->chunk, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            s->ids->owned[s->chunk * s->ids->max + s->n_owned++] = index;
            return;
        }
}

static bool is_owned(const dis__chunk_ids *s, const dis__new_id *f)
{
    return atomic_load_explicit(&f->owner, memory_order_relaxed) == s->chunk;
}

void dis__ids_count(dis__chunk_ids *s)
{
    const dis__ids *ids = s->ids;
    if (ids->in_order) return;
    const uint32_t *owned = ids->owned + s->chunk * ids->max;
    s->n_ids = s->n_bytes = 0;
    for (size_t i = 0; i < s->n_owned; i++) {
        const dis__new_id *f = &ids->fresh[owned[i]];
        const bool counts = is_owned(s, f);
        s->n_ids += counts;
        s->n_bytes += counts ? (size_t)f->n + 1 : 0;
    }
}

/* The required number, and if the table must grow, the estimated number, within four times the requirement. */
static size_t with_foresight(size_t need, double guess)
{
    const double max = 4. * (double)need;
    const double wanted = guess > max ? max : guess;
    return wanted > (double)need ? (size_t)wanted : need;
}

dis_status dis__ids_reserve(dis__ids *ids, size_t n, size_t n_bytes, double n_guess, double bytes_guess)
{
    enum { WORD_BYTES = 8 }; /* a short name is written as one word */
    const size_t used = ids->start ? (size_t)ids->start[ids->n] : 0, n_start = dis__saturating_size(n, 1, 1),
                 n_text = dis__saturating_size(n_bytes, 1, WORD_BYTES);
    if (n_start > ids->start_capacity) {
        const size_t capacity = with_foresight(n_start, n_guess);
        DIS_TRY(dis__resize_array(&ids->start, ids->n + 1, capacity, sizeof *ids->start));
        ids->start_capacity = capacity;
    }
    if (n_text > ids->bytes_capacity) {
        const size_t capacity = with_foresight(n_text, bytes_guess);
        DIS_TRY(dis__resize_array(&ids->bytes, used, capacity, 1));
        ids->bytes_capacity = capacity;
    }
    ids->start[n] = n_bytes;
    return DIS_OK;
}

void dis__ids_number(const dis__chunk_ids *s)
{
    dis__ids *ids = s->ids;
    size_t id = s->id, at = s->byte;
    const uint32_t *owned = ids->owned + s->chunk * ids->max;
    char *bytes = ids->bytes;
    const size_t end = at + s->n_bytes;
    for (size_t i = 0; i < s->n_owned; i++) {
        dis__new_id *f = &ids->fresh[owned[i]];
        if (!ids->in_order && i + AHEAD < s->n_owned)
            __builtin_prefetch(&ids->slot[ids->fresh[owned[i + AHEAD]].slot], 1);
        if (!is_owned(s, f)) continue;
        f->id = (uint32_t)id;
        ids->start[id] = at;
        if (f->n > DIS_ID_INLINE) {
            memcpy(bytes + at, (const char *)(uintptr_t)f->text, f->n);
            bytes[at + f->n] = 0;
        } else {
            dis__word_write(f->text, f->n, bytes + at, end - at);
        }
        at += f->n + 1;
        if (id != ids->n + owned[i]) {
            _Atomic uint64_t *meta = &ids->slot[f->slot].meta;
            atomic_store_explicit(meta, (atomic_load_explicit(meta, memory_order_relaxed) >> 32) << 32 | (id + 1),
                                  memory_order_relaxed);
        }
        id++;
    }
}

void dis__ids_resolve_all(const dis__ids *ids, const uint32_t *number, size_t n, uint32_t *to)
{
    if (ids->in_order && to != number) memcpy(to, number, n * sizeof *to);
    if (ids->in_order) return;
    for (size_t i = 0; i < n; i++) to[i] = dis__ids_resolve(ids, number[i]);
}

void dis__ids_end_round(dis__ids *ids, size_t n, bool has_medium)
{
    ids->has_medium = ids->has_medium || has_medium;
    ids->n = n;
}

dis_status dis__ids_names(dis__ids *ids, dis_names **out)
{
    DIS_TRY(dis__names_from_buffers(ids->bytes, ids->start, ids->n, out));
    ids->bytes = NULL;
    ids->start = NULL;
    dis__ids_free(ids);
    return DIS_OK;
}
