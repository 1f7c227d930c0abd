/* Decides by time which of several answers of a worker to an item counts. All votes have been read; a pass over the
 * table finds workers who answered more than once. Only if there are some, the files are read again for the times of
 * these answers: the votes of such a worker on an item have the same order in the files and in the table, so indices of
 * votes correspond. Memory: an index per worker, and some hundred bytes per repeated pair of worker and item. */
#include "votes/mapper/mapped_votes.h"
#include "core/memory/memory.h"
#include "votes/mapper/parse_time.h"
#include <stdio.h>

/* A worker who voted more than once on an item. */
typedef struct {
    size_t item;
    uint32_t worker;
    uint64_t seen;        /* votes so far */
    uint64_t first, last; /* indices of those that count */
    uint64_t answer;      /* their answers */
    double time;
    bool timed;
} pair;

typedef struct {
    dis__reader *reader;
    dis__mapped_votes walk;
    dis__key_table names; /* "task NUL worker"; value: index of the pair */
    dis__arena texts;
    pair *pairs; /* (n) by item */
    size_t n, capacity;
    char *name;
    size_t name_capacity;
} choosing;

static dis_status make_name(choosing *c, const dis__vote_field *task, const dis__vote_field *worker, size_t *n)
{
    *n = task->n + 1 + worker->n;
    DIS_TRY(dis__reserve(&c->name, &c->name_capacity, 0, *n, 1));
    memcpy(c->name, task->text, task->n);
    c->name[task->n] = 0;
    memcpy(c->name + task->n + 1, worker->text, worker->n);
    return DIS_OK;
}

/* ---- who answered twice ---- */

static dis_status add_pair(choosing *c, size_t item, uint32_t worker)
{
    const dis_votes *votes = c->reader->votes;
    dis__vote_field field[2] = {{0}};
    const dis__key *at;
    const char *copy;
    size_t n;
    bool fresh;
    field[0].text = dis_names_get(votes->tasks, item, &field[0].n);
    field[1].text = dis_names_get(votes->workers, worker, &field[1].n);
    DIS_TRY(make_name(c, &field[0], &field[1], &n));
    DIS_TRY(dis__arena_copy(&c->texts, c->name, n, &copy));
    if (c->n == DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "too many votes to resolve duplicates by time");
    DIS_TRY(dis__reserve(&c->pairs, &c->capacity, c->n, c->n + 1, sizeof *c->pairs));
    c->pairs[c->n] = (pair){.item = item, .worker = worker};
    dis__key key = dis__key_from_text(&c->reader->rules.secret, copy, n);
    key.value = (uint32_t)c->n++;
    return dis__key_table_insert(&c->names, &key, &at, &fresh);
}

/* seen: (n_workers) 2 * (item + 1), plus 1 once the pair was added. */
static dis_status find_pairs(choosing *c, uint64_t *seen)
{
    const dis_votes *votes = c->reader->votes;
    for (size_t i = 0; i < votes->n_items; i++)
        for (size_t v = (size_t)votes->start[i]; v < votes->start[i + 1]; v++) {
            uint64_t *s = &seen[votes->worker[v]];
            const uint64_t here = 2 * ((uint64_t)i + 1);
            if (*s == here) {
                *s = here + 1;
                DIS_TRY(add_pair(c, i, votes->worker[v]));
            } else if (*s != here + 1) {
                *s = here;
            }
        }
    return DIS_OK;
}

/* ---- which answer counts ---- */

static dis_status no_time(const dis__answer *a, const dis_votes_options *o, dis__row_problem *problem)
{
    problem->at = a->time.text ? a->time.at : a->at;
    snprintf(problem->text, sizeof problem->text,
             "worker \"%.*s\" answered task \"%.*s\" more than once, and \"%.40s\" is not a time here; name another "
             "path with "
             "`time` (# goes by the order of records)",
             a->worker.n > 40 ? 40 : (int)a->worker.n, a->worker.text, a->task.n > 40 ? 40 : (int)a->task.n,
             a->task.text, o->time);
    return DIS_EDATA;
}

static dis_status compare_times(void *user, const dis__vote_field *cell, const dis__answer *a,
                                dis__row_problem *problem)
{
    choosing *c = user;
    size_t n;
    DIS_TRY(make_name(c, &cell[DIS_COLUMN_TASK], &cell[DIS_COLUMN_WORKER], &n));
    const dis__key key = dis__key_from_text(&c->reader->rules.secret, c->name, n),
                   *at = dis__key_table_find(&c->names, &key);
    if (!at || !dis__row_is_vote(&c->reader->rules, cell)) return DIS_OK;
    pair *p = &c->pairs[at->value];
    const uint64_t number = p->seen++, answer = c->walk.n_answers;
    if (number && answer == p->answer) { /* another label of the same answer */
        p->last = number + 1;
        return DIS_OK;
    }
    double time = 0;
    const bool timed = a->time.text && dis__parse_time(a->time.text, a->time.n, &time);
    if (number && (!timed || !p->timed)) return no_time(a, &c->reader->o, problem);
    const bool last = c->reader->o.duplicates == DIS_DUPLICATES_LAST;
    if (number && (last ? time < p->time : time >= p->time)) return DIS_OK;
    p->first = number;
    p->last = number + 1;
    p->answer = answer;
    p->time = time;
    p->timed = timed;
    return DIS_OK;
}

/* ---- they alone stay ---- */

static void move_vote(dis_votes *votes, size_t to, size_t from)
{
    votes->worker[to] = votes->worker[from];
    if (votes->label8)
        votes->label8[to] = votes->label8[from];
    else
        votes->label16[to] = votes->label16[from];
}

/* Number of votes that remain on an item with pairs p[0 .. n); they are moved to `to`. */
static size_t keep_of_item(dis_votes *votes, size_t first, size_t last, size_t to, pair *p, size_t n)
{
    const size_t begin = to;
    for (size_t k = 0; k < n; k++) p[k].seen = 0;
    for (size_t v = first; v < last; v++) {
        size_t k = 0;
        while (k < n && p[k].worker != votes->worker[v]) k++;
        const uint64_t number = k < n ? p[k].seen++ : 0;
        if (k == n || (number >= p[k].first && number < p[k].last)) move_vote(votes, to++, v);
    }
    return to - begin;
}

static void keep_chosen(choosing *c)
{
    dis_votes *votes = c->reader->votes;
    size_t n_unique = 0, k = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        const size_t first = (size_t)votes->start[i], last = (size_t)votes->start[i + 1];
        size_t n = 0;
        while (k + n < c->n && c->pairs[k + n].item == i) n++;
        votes->start[i] = n_unique;
        n_unique += keep_of_item(votes, first, last, n_unique, c->pairs + k, n);
        k += n;
    }
    votes->start[votes->n_items] = n_unique;
    votes->n_votes = n_unique;
}

static dis_status choose(choosing *c, const dis__mapping *mapping, uint64_t *n_replaced)
{
    const dis_votes *votes = c->reader->votes;
    const size_t before = votes->n_votes;
    uint64_t *seen;
    DIS_TRY(dis__alloc_zeroed(&seen, votes->n_workers, sizeof *seen));
    const dis_status status = find_pairs(c, seen);
    dis__free(seen);
    if (status != DIS_OK || c->n == 0) return status;
    c->walk = (dis__mapped_votes){.reader = c->reader, .on_answer = compare_times, .user = c};
    DIS_TRY(dis__mapped_votes_run(&c->walk, mapping, false));
    for (size_t k = 0; k < c->n; k++)
        if (c->pairs[k].seen < 2) return dis__fail_file_changed(c->reader->input[0].path);
    keep_chosen(c);
    *n_replaced = before - votes->n_votes;
    return DIS_OK;
}

dis_status dis__resolve_duplicates_by_time(dis__reader *r, const dis__mapping *mapping, uint64_t *n_replaced)
{
    choosing c = {.reader = r};
    const dis_status status = choose(&c, mapping, n_replaced);
    dis__mapped_votes_free(&c.walk);
    dis__key_table_free(&c.names);
    dis__arena_free(&c.texts);
    dis__free(c.pairs);
    dis__free(c.name);
    return status;
}
