/* Counts per item: one lookup per row; duplicates of soft votes by worker, of counts by task. */
#include "votes/read/count_table.h"
#include "votes/table/class_names.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include <math.h>
#include <stdio.h>

void dis__count_table_free(dis__count_table *t)
{
    dis__key_table_free(&t->tasks);
    dis__key_table_free(&t->pairs);
    dis__arena_free(&t->texts);
    dis__free(t->name);
    dis__free(t->n_name);
    dis__free(t->sum);
    dis__free(t->n_votes);
    dis__free(t->last);
    dis__free(t->last_item);
    dis_names_destroy(t->classes);
    dis__free(t->row);
    dis__free(t->pair);
}

dis_status dis__count_table_set_classes(dis__count_table *t, const dis__key *keys, size_t n)
{
    const dis_votes_options *o = &t->reader->o;
    if (o->n_classes) {
        t->n_classes = o->n_classes;
        DIS_TRY(dis__alloc_array(&t->row, t->n_classes, sizeof *t->row));
        return dis_names_create(o->classes, o->n_classes, &t->classes);
    }
    uint16_t *place = NULL;
    char **texts = NULL;
    dis_status status = dis__alloc_array(&place, n, sizeof *place);
    if (status == DIS_OK) status = dis__alloc_zeroed(&texts, n, sizeof *texts);
    if (status == DIS_OK) status = dis__classes_order(keys, n, false, place);
    for (size_t i = 0; status == DIS_OK && i < n; i++)
        status = dis__copy_text(&texts[place[i]], dis__key_text(&keys[i]), keys[i].n);
    if (status == DIS_OK) status = dis_names_create((const char *const *)texts, n, &t->classes);
    if (status == DIS_OK) status = dis__alloc_array(&t->row, n, sizeof *t->row);
    if (status == DIS_OK) t->n_classes = n;
    for (size_t i = 0; texts && i < n; i++) dis__free(texts[i]);
    dis__free(texts);
    dis__free(place);
    return status;
}

/* The item of a task, a new one with a row of zeros. */
static dis_status find_item(dis__count_table *t, const dis__vote_field *task, size_t *item, bool *fresh)
{
    dis__key key = dis__key_from_text(&t->reader->rules.secret, task->text, task->n);
    const dis__key *at = dis__key_table_find(&t->tasks, &key);
    *fresh = !at;
    if (at) {
        *item = at->value;
        return DIS_OK;
    }
    if (t->n_items == DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u tasks", DIS_MAX_IDS);
    const size_t i = t->n_items;
    DIS_TRY(dis__reserve(&t->name, &t->name_capacity, i, i + 1, sizeof *t->name));
    DIS_TRY(dis__reserve(&t->n_name, &t->n_name_capacity, i, i + 1, sizeof *t->n_name));
    DIS_TRY(dis__reserve(&t->n_votes, &t->n_votes_capacity, i, i + 1, sizeof *t->n_votes));
    DIS_TRY(dis__reserve(&t->sum, &t->sum_capacity, i * t->n_classes, dis__saturating_size(i + 1, t->n_classes, 0),
                         sizeof *t->sum));
    DIS_TRY(dis__arena_copy(&t->texts, task->text, task->n, &t->name[i]));
    key = dis__key_from_text(&t->reader->rules.secret, t->name[i], task->n);
    key.value = (uint32_t)i;
    bool added;
    DIS_TRY(dis__key_table_insert(&t->tasks, &key, &at, &added));
    t->n_name[i] = (uint32_t)task->n;
    t->n_votes[i] = 0;
    memset(t->sum + i * t->n_classes, 0, t->n_classes * sizeof *t->sum);
    t->n_items++;
    *item = i;
    return DIS_OK;
}

/* Whether this worker voted on this task before; *index is the index of the pair. */
static dis_status find_pair(dis__count_table *t, const dis__vote_field *task, const dis__vote_field *worker,
                            size_t *index, bool *fresh)
{
    const size_t n = task->n + 1 + worker->n;
    DIS_TRY(dis__reserve(&t->pair, &t->pair_capacity, 0, n, 1));
    memcpy(t->pair, task->text, task->n);
    t->pair[task->n] = 0;
    memcpy(t->pair + task->n + 1, worker->text, worker->n);
    dis__key key = dis__key_from_text(&t->reader->rules.secret, t->pair, n);
    const dis__key *at = dis__key_table_find(&t->pairs, &key);
    *fresh = !at;
    if (at) {
        *index = at->value;
        return DIS_OK;
    }
    const char *copy;
    DIS_TRY(dis__arena_copy(&t->texts, t->pair, n, &copy));
    key = dis__key_from_text(&t->reader->rules.secret, copy, n);
    key.value = (uint32_t)(*index = t->n_pairs++);
    bool added;
    return dis__key_table_insert(&t->pairs, &key, &at, &added);
}

static dis_status check_id(const dis__vote_field *id, const char *what, dis__row_problem *problem)
{
    if (id->n == 0) return dis__row_problem_set(problem, id->at, "an empty %s; every row needs one", what);
    if (id->n > DIS_MAX_ID)
        return dis__row_problem_set(problem, id->at, "a %s of more than %u bytes; shorten it", what, DIS_MAX_ID);
    return DIS_OK;
}

/* Checks that soft votes sum to 1, or normalises them. */
static dis_status check_sum(dis__count_table *t, const char *at, dis__row_problem *problem)
{
    double total = 0;
    for (size_t k = 0; k < t->n_classes; k++) total += t->row[k];
    if (isinf(total)) return dis__row_problem_set(problem, at, "the numbers of this row are too large to add");
    if (!t->soft || fabs(total - 1) <= 1e-6) return DIS_OK;
    if (!t->reader->o.renormalise)
        return dis__row_problem_set(problem, at, "the row sums to %.9g, not to 1; correct it, or say `renormalise`",
                                    total);
    if (total == 0) return dis__row_problem_set(problem, at, "a row of zeros is not a distribution; correct it");
    for (size_t k = 0; k < t->n_classes; k++) t->row[k] /= total;
    t->reader->votes->notes.renormalised++;
    return DIS_OK;
}

static void add(double *to, const double *row, size_t n)
{
    for (size_t k = 0; k < n; k++) to[k] += row[k];
}

static dis_status keep_last(dis__count_table *t, size_t pair, size_t item)
{
    const size_t n = t->n_classes, used = pair + 1 == t->n_pairs ? pair : t->n_pairs;
    DIS_TRY(
        dis__reserve(&t->last, &t->last_capacity, used * n, dis__saturating_size(t->n_pairs, n, 0), sizeof *t->last));
    DIS_TRY(dis__reserve(&t->last_item, &t->last_item_capacity, used, t->n_pairs, sizeof *t->last_item));
    memcpy(t->last + pair * n, t->row, n * sizeof *t->row);
    t->last_item[pair] = item;
    return DIS_OK;
}

static dis_status refuse_twice(const dis__vote_field *task, const dis__vote_field *worker, dis__row_problem *problem)
{
    const int n = task->n > 100 ? 100 : (int)task->n;
    return worker ? dis__row_problem_set(problem, worker->at,
                                         "this worker has already voted on task \"%.*s\"; choose the vote to keep: "
                                         "`duplicates` first, last "
                                         "or all",
                                         n, task->text)
                  : dis__row_problem_set(
                        problem, task->at,
                        "the task \"%.*s\" is repeated; choose the row to keep: `duplicates` first, last or all", n,
                        task->text);
}

dis_status dis__count_table_add(dis__count_table *t, const dis__vote_field *task, const dis__vote_field *worker,
                                const char *at, dis__row_problem *problem)
{
    const dis_duplicates rule = t->reader->o.duplicates;
    dis_votes_notes *notes = &t->reader->votes->notes;
    const uint64_t renormalised = notes->renormalised;
    DIS_TRY(check_id(task, "task", problem));
    if (worker) DIS_TRY(check_id(worker, "worker", problem));
    DIS_TRY(check_sum(t, at, problem));

    const size_t n = t->n_classes;
    size_t item = 0, pair = 0;
    bool fresh_item, fresh_pair = true;
    if (worker) DIS_TRY(find_pair(t, task, worker, &pair, &fresh_pair));
    DIS_TRY(find_item(t, task, &item, &fresh_item));
    const bool again = worker ? !fresh_pair : !t->soft && !fresh_item;
    notes->duplicates += again;
    if (again && rule == DIS_DUPLICATES_ERROR) {
        notes->renormalised = renormalised;
        return refuse_twice(task, worker, problem);
    }
    if (again && rule == DIS_DUPLICATES_FIRST) return DIS_OK;
    const bool replaces = again && rule == DIS_DUPLICATES_LAST;
    if (!replaces) t->n_votes[item]++;
    if (worker && rule == DIS_DUPLICATES_LAST) return keep_last(t, pair, item);
    if (replaces) memset(t->sum + item * n, 0, n * sizeof *t->sum);
    add(t->sum + item * n, t->row, n);
    return DIS_OK;
}

/* Removes items with too few votes. */
dis_status dis__count_table_finish(dis__count_table *t)
{
    dis_votes *votes = t->reader->votes;
    const size_t min_votes = t->reader->o.min_votes;
    size_t n_items = 0, n_bytes = 0;
    for (size_t p = 0; t->last && p < t->n_pairs; p++)
        add(t->sum + t->last_item[p] * t->n_classes, t->last + p * t->n_classes, t->n_classes);
    for (size_t i = 0; i < t->n_items; i++) {
        double total = 0;
        for (size_t k = 0; k < t->n_classes; k++) total += t->sum[i * t->n_classes + k];
        if ((t->soft ? (double)t->n_votes[i] : total) < (double)min_votes) {
            t->n_votes[i] = 0;
            votes->notes.items_left_out++;
            continue;
        }
        t->n_votes[i] = 1;
        n_items++;
        n_bytes += (size_t)t->n_name[i] + 1;
    }
    if (n_items == 0)
        return dis__fail_at(DIS_EDATA, t->reader->input[0].path, 0, 0, "no items are left of %llu rows",
                            (unsigned long long)votes->notes.rows);
    char *bytes = NULL;
    uint64_t *start = NULL;
    dis_status status = dis__alloc_array(&bytes, n_bytes, 1);
    if (status == DIS_OK) status = dis__alloc_array(&start, n_items + 1, sizeof *start);
    if (status == DIS_OK)
        status =
            dis__alloc_array(&votes->counts, dis__saturating_size(n_items, t->n_classes, 0), sizeof *votes->counts);
    if (status == DIS_OK) {
        size_t at = 0, item = 0;
        for (size_t i = 0; i < t->n_items; i++) {
            if (!t->n_votes[i]) continue;
            memcpy(bytes + at, t->name[i], t->n_name[i]);
            start[item] = at;
            at += t->n_name[i];
            bytes[at++] = 0;
            memcpy(votes->counts + item++ * t->n_classes, t->sum + i * t->n_classes, t->n_classes * sizeof *t->sum);
        }
        start[n_items] = at;
        status = dis__names_from_buffers(bytes, start, n_items, &votes->tasks);
    }
    if (status != DIS_OK) {
        dis__free(bytes);
        dis__free(start);
        return status;
    }
    DIS_TRY(dis__names_from_numbers(0, &votes->workers));
    votes->classes = t->classes;
    t->classes = NULL;
    votes->n_items = n_items;
    votes->n_classes = t->n_classes;
    votes->n_votes = (size_t)(votes->notes.rows - votes->notes.bad_rows - votes->notes.dropped);
    dis__votes_count_ties(votes);
    return DIS_OK;
}
