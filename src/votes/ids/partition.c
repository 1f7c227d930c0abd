/* Votes dealt out by task: see partition.h.
 *
 *   deal     a round's cards, in the order of rows; where each batch puts its own is counted first
 *   take up  hand by hand: a table finds its tasks in order of first appearance; votes sorted by task
 *   lay out  range of rows by range of rows: the tasks of all hands that first appear there, in order, are its items;
 *            where their votes begin, their names, their votes
 *
 * Hands and ranges depend on the data alone, so any number of threads gives the same table.
 *
 * Cost: 16 bytes a row written and read, 8 written and read again; tables within the second cache. Memory: 16 bytes a row
 * beside the table. */
#include "votes/ids/partition.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "votes/fast_rows.h"

enum { MOST_HANDS = 1024, ROWS_A_BASE = 1 << 16, CARDS_AT_ONCE = 64, RANGE_ROWS = 1 << 16, MOST_RANGES = 256 };

/* A task of a hand. */
typedef struct {
    uint64_t word;
    uint32_t at; /* its first row; later its place among the items of a range; of an item, where its votes begin */
    uint32_t n;  /* votes */
} dealt_task;

typedef struct {
    uint64_t word; /* 0: free */
    uint32_t task; /* index into the hand's */
} dealt_slot;

typedef struct {
    uint32_t worker;
    uint16_t label;
} laid_vote;

/* The tasks of a hand that first appear in a range of rows. */
typedef struct {
    uint32_t first, n;     /* of the hand's tasks */
    size_t first_vote;     /* among the hand's */
    uint64_t votes, bytes; /* of theirs, and of their names */
} range_part;

/* What one thread needs for the hand or the range it is at. */
typedef struct {
    dealt_slot *slot;
    size_t slot_capacity;
    dealt_task *task; /* of a hand, as they are found */
    size_t task_capacity;
    uint32_t *next; /* (tasks of a hand) counts of votes, then where the next one goes */
    size_t next_capacity;
    laid_vote *sorted; /* (cards of a hand) */
    size_t sorted_capacity;
    uint64_t *is_first; /* (rows of a range, a bit each) an item appears */
    uint32_t *rank;     /* (words of these) items before */
    dealt_task *item;   /* (items of a range) in order */
    size_t item_capacity;
} scratch;

typedef struct {
    const dis__deal *deal;
    const uint16_t *class_of;
    dis_votes *votes;
    size_t n_rows, n_ranges;
    scratch *scratch;     /* (threads) */
    dealt_task **task;    /* (n_hands) by first row */
    dealt_task **own;     /* (n_hands) memory of those that do not fit behind the votes of their hand */
    range_part *part;     /* (n_hands, n_ranges) */
    range_part *range;    /* (n_ranges + 1) n, votes, bytes: of those before it */
    uint64_t *name_start; /* (n_items + 1) */
    char *names;
} finishing;

static size_t n_hands(const dis__deal *d)
{
    return d->places.n_buckets;
}

dis_status dis__deal_begin(dis__deal *d, const dis__secret *secret, uint64_t n_bytes, size_t hand_bytes,
                           double bytes_a_row)
{
    const uint64_t wanted = n_bytes / hand_bytes + 1;
    const size_t n = wanted < MOST_HANDS ? (size_t)wanted : MOST_HANDS;
    const size_t share = (size_t)(1.03 * (double)n_bytes / bytes_a_row / (double)n) + 256;
    *d = (dis__deal){.places = {.secret = *secret, .n_buckets = n}};
    DIS_TRY(dis__alloc_zeroed(&d->hand, n, sizeof *d->hand));
    DIS_TRY(dis__alloc_array(&d->all, dis__size(n, share, 0), sizeof *d->all));
    for (size_t h = 0; h < n; h++) d->hand[h] = (dis__hand){.card = d->all + h * share, .capacity = share};
    return DIS_OK;
}

void dis__deal_free(dis__deal *d)
{
    for (size_t h = 0; d->hand && h < n_hands(d); h++)
        if (d->hand[h].moved) dis__free(d->hand[h].card);
    dis__free(d->hand);
    dis__free(d->all);
    dis__free(d->place);
    *d = (dis__deal){0};
}

/* ---- deal ---- */

typedef struct {
    const dis__deal *deal;
    dis__batch *const *batch;
} dealing;

static size_t rows_end(const dis__batch *b, size_t run)
{
    return run + 1 < b->n_runs ? b->run_row[run + 1] : b->n_rows;
}

/* The hand of each run, and how many cards each hand gets. */
static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dealing *w = arg;
    dis__batch *b = w->batch[j];
    size_t *count = w->deal->place + j * n_hands(w->deal);
    DIS_TRY(dis__batch_reserve(b, DIS_TAKE_MARGIN));
    DIS_KERNEL_PICK(dis__find_homes)(&w->deal->places, b->run_word, b->n_runs, b->run);
    const size_t bases =
        (b->first_row + b->n_rows + ROWS_A_BASE - 1) / ROWS_A_BASE - (b->first_row + ROWS_A_BASE - 1) / ROWS_A_BASE;
    for (size_t h = 0; h < n_hands(w->deal); h++) count[h] = bases;
    for (size_t r = 0; r < b->n_runs; r++) {
        b->run[r] /= DIS_BUCKET;
        count[b->run[r]] += rows_end(b, r) - b->run_row[r];
    }
    return DIS_OK;
}

static dis_status reserve_hand(dis__hand *hand, size_t n)
{
    if (n <= hand->capacity) return DIS_OK;
    const size_t capacity = dis__size(n, 2, 0);
    dis__card *card;
    DIS_TRY(dis__alloc_array(&card, capacity, sizeof *card));
    memcpy(card, hand->card, hand->n * sizeof *card);
    if (hand->moved) dis__free(hand->card);
    hand->card = card;
    hand->capacity = capacity;
    hand->moved = true;
    return DIS_OK;
}

dis_status dis__deal_make_room(dis_context *ctx, dis__deal *d, dis__batch *const *batches, size_t n_batches)
{
    dealing w = {.deal = d, .batch = batches};
    DIS_TRY(dis__reserve(&d->place, &d->place_capacity, 0, dis__size(n_batches, n_hands(d), 0), sizeof *d->place));
    DIS_TRY(dis__run_jobs(ctx, n_batches, count_job, &w));
    for (size_t h = 0; h < n_hands(d); h++) {
        size_t at = d->hand[h].n;
        for (size_t j = 0; j < n_batches; j++) {
            size_t *place = &d->place[j * n_hands(d) + h];
            const size_t count = *place;
            *place = at;
            at += count;
        }
        DIS_TRY(reserve_hand(&d->hand[h], at));
        d->hand[h].n = at;
    }
    return DIS_OK;
}

void dis__deal_batch(const dis__deal *d, const dis__batch *b, size_t j)
{
    enum { AHEAD = 6 };
    size_t *place = d->place + j * n_hands(d);
    const dis__hand *hand = d->hand;
    for (size_t r = 0; r < b->n_runs; r++) {
        const size_t end = rows_end(b, r), h = b->run[r];
        for (size_t i = b->run_row[r]; i < end; i++) {
            const size_t row = b->first_row + i;
            if (row % ROWS_A_BASE == 0)
                for (size_t k = 0; k < n_hands(d); k++) hand[k].card[place[k]++] = (dis__card){.worker = (uint32_t)row};
            dis__card *card = hand[h].card + place[h]++;
            __builtin_prefetch(card + AHEAD, 1); /* of this hand, a line or two later */
            *card = (dis__card){.task = b->run_word[r],
                                .worker = b->worker[i],
                                .label = b->row_label[i],
                                .row = (uint16_t)(row % ROWS_A_BASE)};
        }
    }
}

/* ---- take up ---- */

/* Where the hash of a task points within a table of its hand: bits that did not choose the hand. */
static inline size_t slot_of(const finishing *f, uint64_t word, size_t n_slots)
{
    const uint32_t tag = dis__id_tag(&f->deal->places.secret, word);
    const uint32_t rest = (uint32_t)((uint64_t)tag * n_hands(f->deal));
    return (size_t)((uint64_t)rest * n_slots >> 32);
}

static inline size_t next_slot(size_t k, size_t n_slots)
{
    return k + 1 == n_slots ? 0 : k + 1;
}

/* A table of that size for the n tasks that are known. */
static dis_status make_slots(const finishing *f, scratch *s, size_t n_slots, size_t n)
{
    DIS_TRY(dis__reserve(&s->slot, &s->slot_capacity, 0, n_slots, sizeof *s->slot));
    memset(s->slot, 0, n_slots * sizeof *s->slot);
    for (size_t t = 0; t < n; t++) {
        size_t k = slot_of(f, s->task[t].word, n_slots);
        while (s->slot[k].word) k = next_slot(k, n_slots);
        s->slot[k] = (dealt_slot){s->task[t].word, (uint32_t)t};
    }
    return DIS_OK;
}

/* Some cards of a hand whose tasks are n so far; how many they are then. Slots are asked for together, then looked at one by
 * one. Cards have 1 + the number of their task in place of its word afterwards. */
static size_t number_cards(const finishing *f, const scratch *s, size_t n_slots, size_t n, dis__card *card,
                           size_t n_cards, uint32_t *base)
{
    size_t home[CARDS_AT_ONCE];
    for (size_t i = 0; i < n_cards; i++) {
        home[i] = slot_of(f, card[i].task, n_slots);
        __builtin_prefetch(&s->slot[home[i]]);
    }
    for (size_t i = 0; i < n_cards; i++) {
        const uint64_t word = card[i].task;
        if (word == 0) {
            *base = card[i].worker;
            continue;
        }
        size_t k = home[i];
        while (s->slot[k].word && s->slot[k].word != word) k = next_slot(k, n_slots);
        if (s->slot[k].word == 0) {
            s->slot[k] = (dealt_slot){word, (uint32_t)n};
            s->task[n] = (dealt_task){.word = word, .at = *base + card[i].row};
            s->next[n++] = 0;
        }
        const uint32_t task = s->slot[k].task;
        s->next[task]++;
        card[i].task = task + 1ull;
    }
    return n;
}

/* Finds the tasks of a hand, by first appearance, and counts their votes. */
static dis_status number_tasks(const finishing *f, const dis__hand *hand, scratch *s, size_t *n_tasks)
{
    enum { LEAST_SLOTS = 4 * CARDS_AT_ONCE };
    size_t n_slots = LEAST_SLOTS + hand->n / 2, n = 0;
    uint32_t base = 0;
    DIS_TRY(make_slots(f, s, n_slots, 0));
    for (size_t i = 0; i < hand->n; i += CARDS_AT_ONCE) {
        const size_t n_cards = hand->n - i < CARDS_AT_ONCE ? hand->n - i : CARDS_AT_ONCE;
        DIS_TRY(dis__reserve(&s->task, &s->task_capacity, n, n + n_cards, sizeof *s->task));
        DIS_TRY(dis__reserve(&s->next, &s->next_capacity, n, n + n_cards, sizeof *s->next));
        if (2 * (n + n_cards) > n_slots) DIS_TRY(make_slots(f, s, n_slots *= 2, n));
        n = number_cards(f, s, n_slots, n, hand->card + i, n_cards, &base);
    }
    *n_tasks = n;
    return DIS_OK;
}

/* Votes by task, in place of the cards: they are half as large. Returns their number. */
static size_t sort_hand(const finishing *f, const dis__hand *hand, const scratch *s, size_t n_tasks)
{
    uint32_t at = 0;
    for (size_t t = 0; t < n_tasks; t++) {
        s->task[t].n = s->next[t];
        s->next[t] = at;
        at += s->task[t].n;
    }
    for (const dis__card *card = hand->card, *end = card + hand->n; card < end; card++)
        if (card->task) s->sorted[s->next[card->task - 1]++] = (laid_vote){card->worker, f->class_of[card->label]};
    memcpy(hand->card, s->sorted, at * sizeof *s->sorted);
    return at;
}

/* Puts the tasks of a hand behind its votes, or where there is room. */
static dis_status keep_tasks(const finishing *f, size_t h, const scratch *s, size_t n_tasks, size_t n_votes)
{
    const dis__hand *hand = &f->deal->hand[h];
    const size_t used = (n_votes + 1) / 2; /* cards */
    _Static_assert(sizeof(dis__card) == 2 * sizeof(laid_vote) && sizeof(dis__card) == sizeof(dealt_task), "in place");
    if (n_tasks <= hand->n - used) {
        f->task[h] = (dealt_task *)(void *)(hand->card + used);
    } else {
        DIS_TRY(dis__alloc_array(&f->own[h], n_tasks, sizeof *f->own[h]));
        f->task[h] = f->own[h];
    }
    memcpy(f->task[h], s->task, n_tasks * sizeof *s->task);
    return DIS_OK;
}

static size_t range_first(const finishing *f, size_t r)
{
    return dis__job_first(f->n_rows, f->n_ranges, r);
}

/* Cuts the tasks of a hand where ranges end. */
static void cut_tasks(const finishing *f, const dealt_task *task, size_t n_tasks, range_part *part)
{
    size_t t = 0, n_votes = 0;
    for (size_t r = 0; r < f->n_ranges; r++) {
        range_part own = {.first = (uint32_t)t, .first_vote = n_votes};
        for (const size_t end = range_first(f, r + 1); t < n_tasks && task[t].at < end; t++) {
            own.votes += task[t].n;
            own.bytes += dis__word_length(task[t].word) + 1;
        }
        own.n = (uint32_t)t - own.first;
        n_votes += (size_t)own.votes;
        part[r] = own;
    }
}

static dis_status take_up_job(void *arg, size_t h, int thread)
{
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    const dis__hand *hand = &f->deal->hand[h];
    size_t n_tasks;
    DIS_TRY(number_tasks(f, hand, s, &n_tasks));
    DIS_TRY(dis__reserve(&s->sorted, &s->sorted_capacity, 0, hand->n, sizeof *s->sorted));
    const size_t n_votes = sort_hand(f, hand, s, n_tasks);
    cut_tasks(f, s->task, n_tasks, f->part + h * f->n_ranges);
    return keep_tasks(f, h, s, n_tasks, n_votes);
}

/* ---- lay out ---- */

/* What is before each range. */
static void add_up(const finishing *f)
{
    range_part sum = {0};
    for (size_t r = 0; r <= f->n_ranges; r++) {
        f->range[r] = sum;
        for (size_t h = 0; r < f->n_ranges && h < n_hands(f->deal); h++) {
            const range_part *part = &f->part[h * f->n_ranges + r];
            sum.n += part->n;
            sum.votes += part->votes;
            sum.bytes += part->bytes;
        }
    }
}

/* By adding neighbours up: the compiler's own would be a call where the instruction cannot be taken for granted. */
static inline uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* The tasks of all hands that first appear in a range, in order: s->item. */
static void put_in_order(const finishing *f, size_t r, const scratch *s)
{
    const size_t first = range_first(f, r), n_words = (range_first(f, r + 1) - first) / 64 + 1;
    memset(s->is_first, 0, n_words * sizeof *s->is_first);
    for (size_t h = 0; h < n_hands(f->deal); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        for (const dealt_task *t = f->task[h] + part->first, *end = t + part->n; t < end; t++)
            s->is_first[(t->at - first) / 64] |= 1ull << (t->at - first) % 64;
    }
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        s->rank[w] = rank;
        rank += count_bits(s->is_first[w]);
    }
    for (size_t h = 0; h < n_hands(f->deal); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        for (dealt_task *t = f->task[h] + part->first, *end = t + part->n; t < end; t++) {
            const size_t row = t->at - first;
            const uint64_t before = (1ull << row % 64) - 1;
            t->at = s->rank[row / 64] + count_bits(s->is_first[row / 64] & before);
            s->item[t->at] = *t;
        }
    }
}

/* Where the votes and the names of a range's items begin; names. */
static void begin_items(const finishing *f, size_t r, const scratch *s)
{
    const range_part *range = &f->range[r];
    uint64_t vote = range->votes, byte = range->bytes;
    for (size_t i = 0; i < range[1].n - range->n; i++) {
        dealt_task *item = &s->item[i];
        const size_t length = dis__word_length(item->word);
        f->votes->start[range->n + i] = vote;
        f->name_start[range->n + i] = byte;
        dis__word_put(item->word, length, f->names + byte, (size_t)(range[1].bytes - byte));
        item->at = (uint32_t)vote;
        vote += item->n;
        byte += length + 1;
    }
}

/* The votes of a range's items, which lie together in each hand, to where they belong. */
static void lay_out(const finishing *f, size_t r, const scratch *s)
{
    const dis_votes *votes = f->votes;
    for (size_t h = 0; h < n_hands(f->deal); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        const laid_vote *from = (const laid_vote *)(const void *)f->deal->hand[h].card + part->first_vote;
        for (const dealt_task *t = f->task[h] + part->first, *end = t + part->n; t < end; t++) {
            const size_t at = s->item[t->at].at;
            for (size_t i = 0; i < t->n; i++) votes->worker[at + i] = from[i].worker;
            if (votes->label8)
                for (size_t i = 0; i < t->n; i++) votes->label8[at + i] = (uint8_t)from[i].label;
            else
                for (size_t i = 0; i < t->n; i++) votes->label16[at + i] = from[i].label;
            from += t->n;
        }
    }
}

static dis_status range_job(void *arg, size_t r, int thread)
{
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    DIS_TRY(dis__reserve(&s->item, &s->item_capacity, 0, f->range[r + 1].n - f->range[r].n, sizeof *s->item));
    put_in_order(f, r, s);
    begin_items(f, r, s);
    lay_out(f, r, s);
    return DIS_OK;
}

static dis_status alloc_for(dis_context *ctx, finishing *f)
{
    const size_t n_threads = (size_t)dis_context_threads(ctx), widest = f->n_rows / f->n_ranges / 64 + 2;
    const size_t n = n_hands(f->deal);
    DIS_TRY(dis__alloc_zeroed(&f->scratch, n_threads, sizeof *f->scratch));
    for (size_t t = 0; t < n_threads; t++) {
        DIS_TRY(dis__alloc_array(&f->scratch[t].is_first, widest, sizeof *f->scratch[t].is_first));
        DIS_TRY(dis__alloc_array(&f->scratch[t].rank, widest, sizeof *f->scratch[t].rank));
    }
    DIS_TRY(dis__alloc_array(&f->task, n, sizeof *f->task));
    DIS_TRY(dis__alloc_zeroed(&f->own, n, sizeof *f->own));
    DIS_TRY(dis__alloc_array(&f->part, dis__size(n, f->n_ranges, 0), sizeof *f->part));
    return dis__alloc_array(&f->range, f->n_ranges + 1, sizeof *f->range);
}

static dis_status finish(dis_context *ctx, finishing *f)
{
    dis_votes *votes = f->votes;
    const size_t n = n_hands(f->deal);
    DIS_TRY(alloc_for(ctx, f));
    DIS_TRY(dis__run_jobs(ctx, n, take_up_job, f));
    add_up(f);
    const range_part *all = &f->range[f->n_ranges];
    votes->n_items = all->n;
    votes->n_votes = (size_t)all->votes;
    DIS_TRY(dis__alloc_array(&votes->start, votes->n_items + 1, sizeof *votes->start));
    DIS_TRY(dis__alloc_array(&f->name_start, votes->n_items + 1, sizeof *f->name_start));
    DIS_TRY(dis__alloc_array(&f->names, (size_t)all->bytes, 1));
    votes->start[votes->n_items] = all->votes;
    f->name_start[votes->n_items] = all->bytes;
    DIS_TRY(dis__alloc_array(&votes->worker, votes->n_votes, sizeof *votes->worker));
    DIS_TRY(votes->n_classes <= 256 ? dis__alloc_array(&votes->label8, votes->n_votes, sizeof *votes->label8)
                                    : dis__alloc_array(&votes->label16, votes->n_votes, sizeof *votes->label16));
    DIS_TRY(dis__run_jobs(ctx, f->n_ranges, range_job, f));
    DIS_TRY(dis__names_adopt(f->names, f->name_start, votes->n_items, &votes->tasks));
    f->names = NULL;
    f->name_start = NULL;
    return DIS_OK;
}

dis_status dis__deal_finish(dis_context *ctx, dis__deal *d, size_t n_rows, const uint16_t *class_of, dis_votes *votes)
{
    finishing f = {.deal = d,
                   .class_of = class_of,
                   .votes = votes,
                   .n_rows = n_rows,
                   .n_ranges = dis__n_jobs(n_rows, RANGE_ROWS, MOST_RANGES)};
    const dis_status status = finish(ctx, &f);
    for (int t = 0; f.scratch && t < dis_context_threads(ctx); t++) {
        dis__free(f.scratch[t].slot);
        dis__free(f.scratch[t].task);
        dis__free(f.scratch[t].next);
        dis__free(f.scratch[t].sorted);
        dis__free(f.scratch[t].is_first);
        dis__free(f.scratch[t].rank);
        dis__free(f.scratch[t].item);
    }
    for (size_t h = 0; f.own && h < n_hands(d); h++) dis__free(f.own[h]);
    dis__free(f.scratch);
    dis__free(f.task);
    dis__free(f.own);
    dis__free(f.part);
    dis__free(f.range);
    dis__free(f.name_start);
    dis__free(f.names);
    return status;
}
