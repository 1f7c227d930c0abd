/* Votes dealt out by task: see deal.h.
 *
 *   deal     a round's cards, in the order of rows; where each batch puts its own is counted first
 *   take up  hand by hand: a table gives its tasks numbers of the hand's own; counts, first rows
 *   rank     range of rows by range of rows: which tasks appear there first, in order: their numbers for good
 *   fill     where the votes and the name of each item begin; names
 *   lay out  hand by hand: votes sorted by task, then copied to where they belong
 *
 * Hands and ranges depend on the data alone, so any number of threads gives the same table.
 *
 * Cost: 16 bytes a row written and read twice, tables within the second cache, one line of memory an item for its
 * workers, one for its labels. */
#include "votes/deal.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "votes/take.h"

enum {
    HAND_BYTES = 1 << 20, /* of text, for each hand: some 60,000 cards */
    MOST_HANDS = 1024,
    ROWS_A_BASE = 1 << 16,
    RANGE_ROWS = 1 << 16,
    MOST_RANGES = 256
};

typedef struct {
    uint64_t word, first_row;
    uint32_t n; /* votes */
    uint32_t item;
} dealt_task;

typedef struct {
    uint64_t word; /* 0: free */
    uint32_t task; /* index into the hand's */
} dealt_slot;

typedef struct {
    uint32_t worker;
    uint16_t label;
} laid_vote;

/* What one thread needs for the hand or the range it is at. */
typedef struct {
    dealt_slot *slot;
    size_t slot_capacity;
    uint32_t *next; /* (tasks of a hand) where its next vote goes among those of the hand */
    size_t next_capacity;
    laid_vote *sorted; /* (cards of a hand) */
    size_t sorted_capacity;
    uint64_t *is_first; /* (rows of a range, a bit each) */
    uint32_t *rank;     /* (words of these) */
} scratch;

typedef struct {
    const dis__deal *deal;
    const uint16_t *class_of;
    dis_votes *votes;
    uint64_t n_rows;
    scratch *scratch;                               /* (threads) */
    dealt_task **task;                              /* (n_hands) by first row */
    size_t *n_tasks;                                /* (n_hands) */
    size_t n_ranges;                                /* of rows */
    uint64_t *range_item, *range_vote, *range_byte; /* (n_ranges + 1) of the items that appear there: the first one, its
                                                       first vote, the first byte of its name */
    uint64_t *word;                                 /* (n_items) */
    uint64_t *name_start;                           /* (n_items + 1) */
    char *names;
} finishing;

static size_t n_hands(const dis__deal *d)
{
    return d->places.n_buckets;
}

dis_status dis__deal_begin(dis__deal *d, const dis__secret *secret, uint64_t n_bytes, double bytes_a_row)
{
    const uint64_t wanted = n_bytes / HAND_BYTES + 1;
    const size_t n = wanted < MOST_HANDS ? (size_t)wanted : MOST_HANDS;
    const size_t share = (size_t)(1.1 * (double)n_bytes / bytes_a_row / (double)n) + 256;
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
    const size_t bases = (b->n_rows + ROWS_A_BASE - 1) / ROWS_A_BASE;
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

void dis__deal_batch(const dis__deal *d, const dis__batch *b, size_t j, uint64_t first_row)
{
    size_t *place = d->place + j * n_hands(d);
    const dis__hand *hand = d->hand;
    for (size_t r = 0; r < b->n_runs; r++) {
        const size_t end = rows_end(b, r), h = b->run[r];
        for (size_t i = b->run_row[r]; i < end; i++) {
            if (i % ROWS_A_BASE == 0) {
                const uint64_t base = first_row + i;
                for (size_t k = 0; k < n_hands(d); k++)
                    hand[k].card[place[k]++] = (dis__card){.worker = (uint32_t)base, .label = (uint16_t)(base >> 32)};
            }
            hand[h].card[place[h]++] = (dis__card){.task = b->run_word[r],
                                                   .worker = b->worker[i],
                                                   .label = b->row_label[i],
                                                   .row = (uint16_t)(i % ROWS_A_BASE)};
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

static dis_status make_slots(const finishing *f, scratch *s, size_t n_slots, const dealt_task *task, size_t n)
{
    DIS_TRY(dis__reserve(&s->slot, &s->slot_capacity, 0, n_slots, sizeof *s->slot));
    memset(s->slot, 0, n_slots * sizeof *s->slot);
    for (size_t t = 0; t < n; t++) {
        size_t k = slot_of(f, task[t].word, n_slots);
        while (s->slot[k].word) k = k + 1 == n_slots ? 0 : k + 1;
        s->slot[k] = (dealt_slot){task[t].word, (uint32_t)t};
    }
    return DIS_OK;
}

/* Cards have 1 + the index of their task in place of its word afterwards. */
static dis_status take_up_job(void *arg, size_t h, int thread)
{
    enum { LEAST_SLOTS = 64 };
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    const dis__hand *hand = &f->deal->hand[h];
    size_t n_slots = LEAST_SLOTS + hand->n / 2, n = 0, capacity = 0;
    uint64_t base = 0;
    DIS_TRY(make_slots(f, s, n_slots, NULL, 0));
    for (dis__card *card = hand->card, *end = card + hand->n; card < end; card++) {
        const uint64_t word = card->task;
        if (word == 0) {
            base = card->worker | (uint64_t)card->label << 32;
            continue;
        }
        size_t k = slot_of(f, word, n_slots);
        while (s->slot[k].word && s->slot[k].word != word) k = k + 1 == n_slots ? 0 : k + 1;
        uint32_t t = s->slot[k].task;
        if (s->slot[k].word == 0) {
            t = (uint32_t)n;
            s->slot[k] = (dealt_slot){word, t};
            if (n == capacity) DIS_TRY(dis__reserve(&f->task[h], &capacity, n, n + hand->n / 4 + 1, sizeof **f->task));
            f->task[h][n++] = (dealt_task){.word = word, .first_row = base + card->row};
            if (2 * n > n_slots) DIS_TRY(make_slots(f, s, n_slots *= 2, f->task[h], n));
        }
        f->task[h][t].n++;
        card->task = t + 1ull;
    }
    f->n_tasks[h] = n;
    return DIS_OK;
}

/* ---- rank ---- */

static size_t range_first(const finishing *f, size_t r)
{
    return dis__job_first((size_t)f->n_rows, f->n_ranges, r);
}

/* How many tasks of a hand first appear before a row. */
static size_t tasks_before(const finishing *f, size_t h, uint64_t row)
{
    size_t low = 0, high = f->n_tasks[h];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->task[h][middle].first_row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static dis_status count_items_job(void *arg, size_t r, int thread)
{
    (void)thread;
    const finishing *f = arg;
    uint64_t n = 0;
    for (size_t h = 0; h < n_hands(f->deal); h++)
        n += tasks_before(f, h, range_first(f, r + 1)) - tasks_before(f, h, range_first(f, r));
    f->range_item[r] = n;
    return DIS_OK;
}

/* Numbers the items of a range; start is how many votes each has, for now. */
static dis_status rank_job(void *arg, size_t r, int thread)
{
    const finishing *f = arg;
    const scratch *s = &f->scratch[thread];
    const uint64_t first = range_first(f, r), last = range_first(f, r + 1);
    const size_t n_words = (size_t)(last - first) / 64 + 1;
    memset(s->is_first, 0, n_words * sizeof *s->is_first);
    for (size_t h = 0; h < n_hands(f->deal); h++)
        for (size_t t = tasks_before(f, h, first); t < f->n_tasks[h] && f->task[h][t].first_row < last; t++) {
            const uint64_t at = f->task[h][t].first_row - first;
            s->is_first[at / 64] |= 1ull << at % 64;
        }
    uint32_t item = (uint32_t)f->range_item[r];
    for (size_t w = 0; w < n_words; w++) {
        s->rank[w] = item;
        item += (uint32_t)__builtin_popcountll(s->is_first[w]);
    }
    uint64_t votes = 0, bytes = 0;
    for (size_t h = 0; h < n_hands(f->deal); h++)
        for (size_t t = tasks_before(f, h, first); t < f->n_tasks[h] && f->task[h][t].first_row < last; t++) {
            dealt_task *task = &f->task[h][t];
            const uint64_t at = task->first_row - first, before = (1ull << at % 64) - 1;
            task->item = s->rank[at / 64] + (uint32_t)__builtin_popcountll(s->is_first[at / 64] & before);
            f->votes->start[task->item] = task->n;
            f->word[task->item] = task->word;
            votes += task->n;
            bytes += dis__word_length(task->word) + 1;
        }
    f->range_vote[r] = votes;
    f->range_byte[r] = bytes;
    return DIS_OK;
}

/* What ranges have becomes what is before them. */
static void add_up(uint64_t *count, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        const uint64_t own = i < n ? count[i] : 0;
        count[i] = sum;
        sum += own;
    }
}

/* ---- fill ---- */

static dis_status fill_job(void *arg, size_t r, int thread)
{
    (void)thread;
    const finishing *f = arg;
    uint64_t vote = f->range_vote[r], byte = f->range_byte[r];
    const uint64_t end = f->range_byte[r + 1];
    for (size_t i = (size_t)f->range_item[r]; i < f->range_item[r + 1]; i++) {
        const uint64_t n = f->votes->start[i];
        f->votes->start[i] = vote;
        vote += n;
        const size_t length = dis__word_length(f->word[i]);
        f->name_start[i] = byte;
        dis__word_put(f->word[i], length, f->names + byte, (size_t)(end - byte));
        byte += length + 1;
    }
    return DIS_OK;
}

/* ---- lay out ---- */

/* The votes of a hand by task. */
static void sort_hand(const finishing *f, size_t h, const scratch *s)
{
    const dis__hand *hand = &f->deal->hand[h];
    uint32_t at = 0;
    for (size_t t = 0; t < f->n_tasks[h]; t++) {
        s->next[t] = at;
        at += f->task[h][t].n;
    }
    for (const dis__card *card = hand->card, *end = card + hand->n; card < end; card++)
        if (card->task) s->sorted[s->next[card->task - 1]++] = (laid_vote){card->worker, f->class_of[card->label]};
}

/* Lines that votes will go to are asked for ahead: items of a hand lie far apart. */
static dis_status lay_out_job(void *arg, size_t h, int thread)
{
    enum { AHEAD = 12 };
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    const dis_votes *votes = f->votes;
    const dealt_task *task = f->task[h];
    const size_t n_tasks = f->n_tasks[h];
    DIS_TRY(dis__reserve(&s->next, &s->next_capacity, 0, n_tasks, sizeof *s->next));
    DIS_TRY(dis__reserve(&s->sorted, &s->sorted_capacity, 0, f->deal->hand[h].n, sizeof *s->sorted));
    sort_hand(f, h, s);
    const laid_vote *from = s->sorted;
    for (size_t t = 0; t < n_tasks; t++) {
        if (t + 2 * AHEAD < n_tasks) __builtin_prefetch(&votes->start[task[t + 2 * AHEAD].item]);
        if (t + AHEAD < n_tasks) {
            const uint64_t soon = votes->start[task[t + AHEAD].item];
            __builtin_prefetch(&votes->worker[soon], 1);
            if (votes->label8) __builtin_prefetch(&votes->label8[soon], 1);
        }
        const uint64_t at = votes->start[task[t].item];
        const size_t n = task[t].n;
        for (size_t i = 0; i < n; i++) votes->worker[at + i] = from[i].worker;
        if (votes->label8)
            for (size_t i = 0; i < n; i++) votes->label8[at + i] = (uint8_t)from[i].label;
        else
            for (size_t i = 0; i < n; i++) votes->label16[at + i] = from[i].label;
        from += n;
    }
    return DIS_OK;
}

static dis_status alloc_ranges(dis_context *ctx, finishing *f)
{
    const size_t n = f->n_ranges + 1, widest = (size_t)f->n_rows / f->n_ranges / 64 + 2;
    DIS_TRY(dis__alloc_array(&f->range_item, n, sizeof *f->range_item));
    DIS_TRY(dis__alloc_array(&f->range_vote, n, sizeof *f->range_vote));
    DIS_TRY(dis__alloc_array(&f->range_byte, n, sizeof *f->range_byte));
    for (int t = 0; t < dis_context_threads(ctx); t++) {
        DIS_TRY(dis__alloc_array(&f->scratch[t].is_first, widest, sizeof *f->scratch[t].is_first));
        DIS_TRY(dis__alloc_array(&f->scratch[t].rank, widest, sizeof *f->scratch[t].rank));
    }
    return DIS_OK;
}

static dis_status finish(dis_context *ctx, finishing *f)
{
    dis_votes *votes = f->votes;
    const size_t n = n_hands(f->deal);
    DIS_TRY(dis__alloc_zeroed(&f->scratch, (size_t)dis_context_threads(ctx), sizeof *f->scratch));
    DIS_TRY(dis__alloc_zeroed(&f->task, n, sizeof *f->task));
    DIS_TRY(dis__alloc_zeroed(&f->n_tasks, n, sizeof *f->n_tasks));
    DIS_TRY(alloc_ranges(ctx, f));
    DIS_TRY(dis__run_jobs(ctx, n, take_up_job, f));

    DIS_TRY(dis__run_jobs(ctx, f->n_ranges, count_items_job, f));
    add_up(f->range_item, f->n_ranges);
    if (f->range_item[f->n_ranges] > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u tasks", DIS_MAX_IDS);
    votes->n_items = (size_t)f->range_item[f->n_ranges];
    DIS_TRY(dis__alloc_array(&votes->start, votes->n_items + 1, sizeof *votes->start));
    DIS_TRY(dis__alloc_array(&f->word, votes->n_items, sizeof *f->word));
    DIS_TRY(dis__run_jobs(ctx, f->n_ranges, rank_job, f));
    add_up(f->range_vote, f->n_ranges);
    add_up(f->range_byte, f->n_ranges);

    DIS_TRY(dis__alloc_array(&f->name_start, votes->n_items + 1, sizeof *f->name_start));
    DIS_TRY(dis__alloc_array(&f->names, (size_t)f->range_byte[f->n_ranges], 1));
    votes->n_votes = (size_t)f->range_vote[f->n_ranges];
    votes->start[votes->n_items] = votes->n_votes;
    f->name_start[votes->n_items] = f->range_byte[f->n_ranges];
    DIS_TRY(dis__run_jobs(ctx, f->n_ranges, fill_job, f));
    DIS_TRY(dis__names_adopt(f->names, f->name_start, votes->n_items, &votes->tasks));
    f->names = NULL;
    f->name_start = NULL;

    DIS_TRY(dis__alloc_array(&votes->worker, votes->n_votes, sizeof *votes->worker));
    DIS_TRY(votes->n_classes <= 256 ? dis__alloc_array(&votes->label8, votes->n_votes, sizeof *votes->label8)
                                    : dis__alloc_array(&votes->label16, votes->n_votes, sizeof *votes->label16));
    return dis__run_jobs(ctx, n, lay_out_job, f);
}

dis_status dis__deal_finish(dis_context *ctx, dis__deal *d, uint64_t n_rows, const uint16_t *class_of, dis_votes *votes)
{
    finishing f = {.deal = d,
                   .class_of = class_of,
                   .votes = votes,
                   .n_rows = n_rows,
                   .n_ranges = dis__n_jobs((size_t)n_rows, RANGE_ROWS, MOST_RANGES)};
    const dis_status status = finish(ctx, &f);
    for (int t = 0; f.scratch && t < dis_context_threads(ctx); t++) {
        dis__free(f.scratch[t].slot);
        dis__free(f.scratch[t].next);
        dis__free(f.scratch[t].sorted);
        dis__free(f.scratch[t].is_first);
        dis__free(f.scratch[t].rank);
    }
    for (size_t h = 0; f.task && h < n_hands(d); h++) dis__free(f.task[h]);
    dis__free(f.scratch);
    dis__free(f.task);
    dis__free(f.n_tasks);
    dis__free(f.range_item);
    dis__free(f.range_vote);
    dis__free(f.range_byte);
    dis__free(f.word);
    dis__free(f.name_start);
    dis__free(f.names);
    return status;
}
