/* The rules that need votes grouped by item: duplicates, items with too few votes, ties. One pass over the items finds
 * duplicates and ties; dropping votes and items is rare and takes a pass each. */
#include "votes/table/votes_table.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include <string.h>

enum { FEW_VOTES = 16 };

static void put_label(dis_votes *votes, size_t v, uint16_t label)
{
    if (votes->label8)
        votes->label8[v] = (uint8_t)label;
    else
        votes->label16[v] = label;
}

/* Duplicates and ties, found in one pass over the items. */
typedef struct {
    uint64_t duplicates, ties;
    dis__duplicate first;
} findings;

typedef struct {
    const dis_votes *votes;
    size_t n_jobs;
    findings *found;   /* (n_jobs) */
    bool **seen;       /* (threads) (n_workers), or NULL until the first item with many votes */
    uint64_t **chosen; /* (threads) (n_classes), all 0 between items */
} survey;

static size_t label_at(const dis_votes *votes, size_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* Votes of one item whose worker voted on it before. */
static dis_status find_duplicates(const survey *s, size_t item, int thread, findings *f)
{
    const dis_votes *votes = s->votes;
    const size_t first = (size_t)votes->start[item], n = (size_t)votes->start[item + 1] - first;
    const uint32_t *worker = votes->worker + first;
    uint64_t twice = 0;
    size_t which = 0;
    if (n <= FEW_VOTES) {
        for (size_t i = 1; i < n; i++) {
            bool again = false;
            for (size_t k = 0; k < i; k++) again |= worker[k] == worker[i];
            if (again && twice++ == 0) which = i;
        }
    } else {
        if (!s->seen[thread]) DIS_TRY(dis__alloc_zeroed(&s->seen[thread], votes->n_workers, sizeof(bool)));
        bool *seen = s->seen[thread];
        for (size_t i = 0; i < n; i++) {
            if (seen[worker[i]] && twice++ == 0) which = i;
            seen[worker[i]] = true;
        }
        for (size_t i = 0; i < n; i++) seen[worker[i]] = false;
    }
    if (twice && !f->first.found) f->first = (dis__duplicate){.found = true, .item = item, .worker = worker[which]};
    f->duplicates += twice;
    return DIS_OK;
}

/* Whether the largest count of an item is tied: a class whose count rises to the largest one ties it. */
static bool is_tie(const dis_votes *votes, size_t item, uint64_t *chosen)
{
    const size_t first = (size_t)votes->start[item], last = (size_t)votes->start[item + 1];
    uint64_t best = 0, holders = 0;
    for (size_t v = first; v < last; v++) {
        const uint64_t c = ++chosen[label_at(votes, v)];
        holders = c > best ? 1 : holders + (c == best);
        best = c > best ? c : best;
    }
    for (size_t v = first; v < last; v++) chosen[label_at(votes, v)] = 0;
    return holders > 1;
}

/* Both for at most 8 classes and few votes, with bit operations on words: workers can only repeat if the last 6 bits of
 * two are equal, and the counts of classes are the bytes of one word. */
typedef struct {
    uint64_t seen, again; /* bits of workers seen once, and seen repeatedly */
    uint64_t counts;
} vote_summary;

static vote_summary summarize_votes(const uint32_t *worker, const uint8_t *label, size_t n)
{
    vote_summary q = {0};
    for (size_t i = 0; i < n; i++) {
        const uint64_t bit = 1ull << (worker[i] & 63);
        q.again |= q.seen & bit;
        q.seen |= bit;
        q.counts += 1ull << 8 * label[i];
    }
    return q;
}

static bool counts_tie(uint64_t counts, size_t n)
{
    const uint64_t ones = 0x0101010101010101;
    if ((counts + (0x7f - n / 2) * ones) & 0x80 * ones) return false; /* one class has more than half */
    uint64_t best = 0;
    bool tie = false;
    for (; counts; counts >>= 8) {
        const uint64_t c = counts & 0xff;
        tie = (tie && c <= best) || (c == best && c > 0);
        best = c > best ? c : best;
    }
    return tie;
}

static dis_status survey_job(void *arg, size_t j, int thread)
{
    enum { WORD_CLASSES = 8 };
    const survey *s = arg;
    const dis_votes *votes = s->votes;
    const size_t few = votes->label8 && votes->n_classes <= WORD_CLASSES ? FEW_VOTES : 0;
    findings f = {0};
    const size_t last = dis__job_first(votes->n_items, s->n_jobs, j + 1);
    for (size_t i = dis__job_first(votes->n_items, s->n_jobs, j); i < last; i++) {
        const size_t first = (size_t)votes->start[i], n = (size_t)votes->start[i + 1] - first;
        if (few && n <= few) {
            const vote_summary q = summarize_votes(votes->worker + first, votes->label8 + first, n);
            f.ties += counts_tie(q.counts, n);
            if (!q.again) continue;
        } else {
            f.ties += is_tie(votes, i, s->chosen[thread]);
        }
        DIS_TRY(find_duplicates(s, i, thread, &f));
    }
    s->found[j] = f;
    return DIS_OK;
}

static dis_status run_survey(dis_context *ctx, survey *s, findings *sum)
{
    const size_t n_threads = (size_t)dis_context_n_threads(ctx);
    DIS_TRY(dis__alloc_zeroed(&s->found, s->n_jobs, sizeof *s->found));
    DIS_TRY(dis__alloc_zeroed(&s->seen, n_threads, sizeof *s->seen));
    DIS_TRY(dis__alloc_zeroed(&s->chosen, n_threads, sizeof *s->chosen));
    for (size_t t = 0; t < n_threads; t++)
        DIS_TRY(dis__alloc_zeroed(&s->chosen[t], s->votes->n_classes, sizeof **s->chosen));
    DIS_TRY(dis__run_jobs(ctx, s->n_jobs, survey_job, s));
    for (size_t j = 0; j < s->n_jobs; j++) {
        sum->duplicates += s->found[j].duplicates;
        sum->ties += s->found[j].ties;
        if (!sum->first.found) sum->first = s->found[j].first;
    }
    return DIS_OK;
}

static dis_status survey_votes(dis_context *ctx, const dis_votes *votes, findings *sum)
{
    enum { ITEMS_A_JOB = 4096, MAX_JOBS = 1024 };
    survey s = {.votes = votes, .n_jobs = dis__n_jobs(votes->n_items, ITEMS_A_JOB, MAX_JOBS)};
    const dis_status status = run_survey(ctx, &s, sum);
    for (int t = 0; t < dis_context_n_threads(ctx); t++) {
        if (s.seen) dis__free(s.seen[t]);
        if (s.chosen) dis__free(s.chosen[t]);
    }
    dis__free(s.found);
    dis__free(s.seen);
    dis__free(s.chosen);
    return status;
}

/* Keeps one vote per worker and item, at the position of the first: the first itself, or the last. */
static dis_status drop_duplicates(dis_votes *votes, bool keep_last)
{
    uint32_t *place; /* (n_workers) 1 + the index among the item's kept votes; 0: none yet */
    DIS_TRY(dis__alloc_zeroed(&place, votes->n_workers, sizeof *place));
    size_t n_written = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        const size_t first = (size_t)votes->start[i], last = (size_t)votes->start[i + 1], begin = n_written;
        votes->start[i] = begin;
        for (size_t v = first; v < last; v++) {
            const uint32_t worker = votes->worker[v];
            const uint16_t label = (uint16_t)label_at(votes, v);
            if (place[worker]) {
                if (keep_last) put_label(votes, begin + place[worker] - 1, label);
                continue;
            }
            place[worker] = (uint32_t)(n_written - begin) + 1;
            votes->worker[n_written] = worker;
            put_label(votes, n_written++, label);
        }
        for (size_t v = begin; v < n_written; v++) place[votes->worker[v]] = 0;
    }
    votes->start[votes->n_items] = n_written;
    votes->n_votes = n_written;
    dis__free(place);
    return DIS_OK;
}

/* The names to keep: keep[i] is the new index, UINT32_MAX for none. */
static dis_status keep_names(const dis_names *names, const uint32_t *keep, size_t n_votes_left, dis_names **out)
{
    const char **texts;
    DIS_TRY(dis__alloc_array(&texts, n_votes_left, sizeof *texts));
    for (size_t i = 0; i < dis_names_count(names); i++)
        if (keep[i] != UINT32_MAX) texts[keep[i]] = dis_names_get(names, i, NULL);
    const dis_status status = dis_names_create(texts, n_votes_left, out);
    dis__free(texts);
    return status;
}

/* On ranks all workers stay: another rank may have votes of theirs. */
static dis_status leave_out(dis_votes *votes, size_t min_votes, bool all_workers, uint32_t *item_to,
                            uint32_t *worker_to)
{
    size_t n_items = 0, n_workers = 0;
    for (size_t w = 0; w < votes->n_workers; w++) worker_to[w] = all_workers ? 0 : UINT32_MAX;
    for (size_t i = 0; i < votes->n_items; i++) {
        const bool keep = votes->start[i + 1] - votes->start[i] >= min_votes;
        item_to[i] = keep ? (uint32_t)n_items++ : UINT32_MAX;
        for (size_t v = (size_t)votes->start[i]; keep && v < votes->start[i + 1]; v++) worker_to[votes->worker[v]] = 0;
    }
    for (size_t w = 0; w < votes->n_workers; w++)
        if (worker_to[w] == 0) worker_to[w] = (uint32_t)n_workers++;

    dis_names *tasks, *workers;
    DIS_TRY(keep_names(votes->tasks, item_to, n_items, &tasks));
    const dis_status status = keep_names(votes->workers, worker_to, n_workers, &workers);
    if (status != DIS_OK) {
        dis_names_destroy(tasks);
        return status;
    }
    dis_names_destroy(votes->tasks);
    dis_names_destroy(votes->workers);
    votes->tasks = tasks;
    votes->workers = workers;

    size_t n_written = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        if (item_to[i] == UINT32_MAX) continue;
        const size_t first = (size_t)votes->start[i], last = (size_t)votes->start[i + 1];
        votes->start[item_to[i]] = n_written;
        for (size_t v = first; v < last; v++) {
            votes->worker[n_written] = worker_to[votes->worker[v]];
            put_label(votes, n_written++, (uint16_t)label_at(votes, v));
        }
    }
    votes->start[n_items] = n_written;
    votes->notes.items_left_out = votes->n_items - n_items;
    votes->n_items = n_items;
    votes->n_workers = n_workers;
    votes->n_votes = n_written;
    return DIS_OK;
}

static dis_status leave_out_items(dis_votes *votes, size_t min_votes, bool all_workers)
{
    size_t few = 0;
    for (size_t i = 0; i < votes->n_items; i++) few += votes->start[i + 1] - votes->start[i] < min_votes;
    if (few == 0) return DIS_OK;
    uint32_t *item_to = NULL, *worker_to = NULL;
    dis_status status = dis__alloc_array(&item_to, votes->n_items, sizeof *item_to);
    if (status == DIS_OK) status = dis__alloc_array(&worker_to, votes->n_workers, sizeof *worker_to);
    if (status == DIS_OK) status = leave_out(votes, min_votes, all_workers, item_to, worker_to);
    dis__free(item_to);
    dis__free(worker_to);
    return status;
}

dis_status dis__votes_dedup(dis_context *ctx, dis_votes *votes, dis_duplicates duplicates, size_t min_votes,
                            dis__duplicate *duplicate)
{
    findings f = {0};
    DIS_TRY(survey_votes(ctx, votes, &f));
    votes->notes.duplicates = f.duplicates;
    if (f.duplicates && duplicates == DIS_DUPLICATES_ERROR) {
        *duplicate = f.first;
        return DIS_OK;
    }
    const size_t n_items = votes->n_items, n_votes = votes->n_votes;
    if (f.duplicates && duplicates != DIS_DUPLICATES_ALL)
        DIS_TRY(drop_duplicates(votes, duplicates == DIS_DUPLICATES_LAST));
    if (min_votes) DIS_TRY(leave_out_items(votes, min_votes, dis__comm_is_parallel(dis__context_comm(ctx))));
    if (votes->n_votes != n_votes || votes->n_items != n_items || (f.duplicates && duplicates == DIS_DUPLICATES_LAST)) {
        f = (findings){0};
        DIS_TRY(survey_votes(ctx, votes, &f));
    }
    votes->notes.ties = f.ties;
    return DIS_OK;
}

void dis__votes_count_ties(dis_votes *votes)
{
    votes->notes.ties = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        const double *c = votes->counts + i * votes->n_classes;
        double best = 0;
        size_t holders = 0;
        for (size_t k = 0; k < votes->n_classes; k++) {
            holders = c[k] > best ? 1 : holders + (c[k] == best);
            best = c[k] > best ? c[k] : best;
        }
        votes->notes.ties += best > 0 && holders > 1;
    }
}
