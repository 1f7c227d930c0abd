/* A stream of votes: open items with their votes, workers with expected counts (incremental_em.h), hashes of retired
 * items.
 *
 *     vote     the item's posterior p is recomputed (incremental_em.c), the counts of its workers change by the
 *              difference
 *     label    the largest of p, with the probability q = p^(1/T) / sum of p^(1/T),  T = min(votes, limit) ^ power
 *     retire   q at least `retire`, with min_votes votes or more; the votes are discarded, their counts stay
 *
 * T is that of the default labels (labels/combine/calibrated.c): votes on one item are not independent. Late votes on
 * retired items count for their workers, with the item's final label as the true class.
 *
 * New estimates of workers affect an open item at its next vote, or at a sweep over all open items. A sweep runs after
 * as many new votes as open items have, so sweeps cost O(1) per vote. Items that become confident in a sweep are
 * retired.
 *
 * Items are in a pool; free slots are reused, last freed first, and sweeps process the pool in order, so the output
 * depends on the sequence of votes only. Ids are looked up by a keyed hash; no result depends on the key, except for
 * hash collisions (retired_items.c).
 *
 * Cost of a vote: O(K votes of the item). Memory: per open item some 100 bytes, its name, 8 bytes per vote and 8 per
 * class; per worker 8 K (K + 1) bytes and the name; per retired item 13 to 27 bytes. */
#include "core/numbers/elementary.h"
#include "tool/arrays.h"
#include "core/options/enum_names.h"
#include "labels/online/watch_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/options/sized_structs.h"
#include "votes/table/votes_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SWEEP = 1024 };

DIS_OPTIONS_DEFAULTS(dis_watch_vote, .size = sizeof(dis_watch_vote))
DIS_OPTIONS_DEFAULTS(dis_watch_options, .size = sizeof(dis_watch_options), .confidence = .95, .min_votes = 2,
                     .request_from = 3, .power = .7, .limit = 16)

DIS_ENUM_NAMES(dis_watch_reason, "confident", "needs_votes", "vote_limit")

/* ---- ids ---- */

/* The index of a text among the keys of a table; a new text is added, and *n incremented. */
static dis_status number_of(dis_watch *w, dis__key_table *table, const char *text, size_t n, size_t *count, size_t *out)
{
    dis__key key = dis__key_from_text(&w->secret, text, n);
    const dis__key *at = dis__key_table_find(table, &key);
    if (at) {
        *out = at->value;
        return DIS_OK;
    }
    if (dis__key_table_is_full(table)) DIS_TRY(dis__watch_check_memory(w, 2 * table->n_slots * sizeof *table->slot));
    if (n > DIS_KEY_INLINE) {
        const char *copy;
        DIS_TRY(dis__watch_check_memory(w, n));
        DIS_TRY(dis__arena_copy(&w->texts, text, n, &copy));
        w->blocks_bytes += n;
        key.high = (uint64_t)(uintptr_t)copy;
    }
    bool fresh;
    key.value = (uint32_t)*count;
    DIS_TRY(dis__key_table_insert(table, &key, &at, &fresh));
    *out = (*count)++;
    return DIS_OK;
}

/* Reserves memory for posteriors of this many classes, before the model has them. */
static dis_status widen_posteriors(dis_watch *w, size_t row)
{
    double *p = NULL, *scratch;
    if (row == w->row) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&scratch, row, sizeof *scratch));
    const dis_status status = dis__alloc_zeroed(&p, dis__saturating_size(w->capacity, row, 0), sizeof *p);
    if (status != DIS_OK) {
        dis__free(scratch);
        return status;
    }
    for (size_t i = 0; i < w->n_places; i++) memcpy(p + i * row, w->p + i * w->row, w->row * sizeof *p);
    dis__free(w->p);
    dis__free(w->scratch);
    w->p = p;
    w->scratch = scratch;
    w->row = row;
    return DIS_OK;
}

static dis_status add_class(dis_watch *w, const char *text, size_t n, size_t *out)
{
    const size_t k = w->n_classes;
    if (k == DIS_MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "more than %u different labels; is this the right column?", DIS_MAX_CLASSES);
    const size_t row = dis__incremental_em_row_size(&w->model, k + 1);
    if (row > w->row)
        DIS_TRY(dis__watch_check_memory(w, dis__watch_worker_bytes(w->model.capacity, row) +
                                               dis__watch_pool_bytes(w, w->capacity, row)));
    DIS_TRY(widen_posteriors(w, row));
    DIS_TRY(dis__incremental_em_reserve_classes(&w->model, k + 1));
    if (w->class_name.n == k) DIS_TRY(dis__name_list_add(&w->class_name, text, n));
    const dis_status status = number_of(w, &w->classes, text, n, &w->n_classes, out);
    if (status != DIS_OK) w->class_name.used = (size_t)w->class_name.start[w->class_name.n = k];
    return status;
}

static dis_status find_class(dis_watch *w, const dis_watch_vote *v, size_t *out)
{
    const dis__key key = dis__key_from_text(&w->secret, v->label, v->n_label);
    const dis__key *at = dis__key_table_find(&w->classes, &key);
    if (at) {
        *out = at->value;
        return DIS_OK;
    }
    if (w->o.n_classes)
        return dis__fail(DIS_EDATA, "the label \"%.*s\" is not among the declared classes; add it to `classes`",
                         v->n_label > 200 ? 200 : (int)v->n_label, v->label);
    return add_class(w, v->label, v->n_label, out);
}

static bool known_worker(const dis_watch *w, const dis_watch_vote *v)
{
    const dis__key key = dis__key_from_text(&w->secret, v->worker, v->n_worker);
    return dis__key_table_find(&w->workers, &key) != NULL;
}

static dis_status find_worker(dis_watch *w, const dis_watch_vote *v, size_t *out)
{
    size_t n = w->model.n_workers;
    if (n == w->model.capacity && !known_worker(w, v))
        DIS_TRY(dis__watch_check_memory(w, dis__watch_worker_bytes(n + n / 2 + 16, w->model.row)));
    DIS_TRY(number_of(w, &w->workers, v->worker, v->n_worker, &n, out));
    if (*out >= w->model.n_workers) DIS_TRY(dis__incremental_em_add_worker(&w->model));
    return DIS_OK;
}

/* ---- decisions ---- */

void dis__watch_temper_posterior(const dis_watch *w, const double *p, size_t n_votes, double *q)
{
    const size_t K = w->model.n_classes, best = dis__argmax(p, K);
    const double n = fmax(1, fmin((double)n_votes, w->o.limit)), power = 1 / dis__pow(n, w->o.power);
    double sum = 0;
    for (size_t t = 0; t < K; t++) sum += q[t] = power == 1 ? p[t] / p[best] : dis__pow(p[t] / p[best], power);
    for (size_t t = 0; t < K; t++) q[t] /= sum;
}

static dis_status emit_row(dis_watch *w, const dis__open_item *item, size_t label, double p, dis_watch_reason reason)
{
    if (!w->o.on_row) return DIS_OK;
    const uint64_t *start = w->class_name.start;
    const dis_watch_row row = {.task = item->name,
                               .n_task = item->n_name,
                               .label = w->class_name.bytes + start[label],
                               .n_label = (size_t)(start[label + 1] - start[label]) - 1,
                               .p = p,
                               .votes = item->n_votes,
                               .reason = reason};
    return w->o.on_row(w->o.user, &row);
}

static dis_status retire(dis_watch *w, size_t i, size_t label, double p, dis_watch_reason reason)
{
    const dis__open_item *item = &w->item[i];
    DIS_TRY(dis__watch_check_retired_memory(w));
    DIS_TRY(dis__retired_items_add(&w->done, item->hash, (uint16_t)label));
    const dis_status status = emit_row(w, item, label, p, reason);
    *(reason == DIS_WATCH_CONFIDENT ? &w->sure : &w->unsure) += 1;
    *(reason == DIS_WATCH_CONFIDENT ? &w->votes_sure : &w->votes_unsure) += item->n_votes;
    dis__watch_remove_item(w, i);
    return status;
}

/* After a vote (`voted`) or a sweep. */
static dis_status decide(dis_watch *w, size_t i, bool voted)
{
    const dis__open_item *item = &w->item[i];
    const size_t n = item->n_votes;
    dis__watch_temper_posterior(w, w->p + i * w->row, n, w->scratch);
    const size_t label = dis__argmax(w->scratch, w->model.n_classes);
    const double p = w->scratch[label];
    const bool sure = p >= w->o.confidence && n >= w->o.min_votes;
    /* A single observed class has no information: there must be another. */
    if (sure && (w->n_classes > 1 || w->o.n_classes)) return retire(w, i, label, p, DIS_WATCH_CONFIDENT);
    if (w->o.max_votes && n >= w->o.max_votes) return retire(w, i, label, p, DIS_WATCH_VOTE_LIMIT);
    return voted && w->o.request_from && n >= w->o.request_from ? emit_row(w, item, label, p, DIS_WATCH_NEEDS_VOTES)
                                                                : DIS_OK;
}

/* The posterior of an item from its votes, of which the counts include n_before; returns its change. */
static double estimate(dis_watch *w, size_t i, size_t n_before)
{
    const dis__open_item *item = &w->item[i];
    double *p = w->p + i * w->row, change = 0;
    dis__incremental_em_compute_posterior(&w->model, item->vote, item->n_votes, n_before, p, w->scratch);
    dis__incremental_em_replace_posterior(&w->model, item->vote, item->n_votes, n_before, p, w->scratch);
    for (size_t t = 0; t < w->model.n_classes; t++) {
        change += fabs(w->scratch[t] - p[t]) / 2;
        p[t] = w->scratch[t];
    }
    return change;
}

static dis_status sweep(dis_watch *w, double *change)
{
    *change = 0;
    w->since_sweep = 0;
    for (size_t i = 0; i < w->n_places; i++) {
        if (!w->item[i].name) continue;
        const double moved = estimate(w, i, w->item[i].n_votes);
        *change = moved > *change ? moved : *change;
        DIS_TRY(decide(w, i, false));
    }
    return DIS_OK;
}

dis_status dis_watch_finalize(dis_watch *w)
{
    enum { ROUNDS = 20 };
    const double tolerance = 1e-4;
    double change = 1;
    for (int r = 0; r < ROUNDS && change > tolerance; r++) DIS_TRY(sweep(w, &change));
    return DIS_OK;
}

/* ---- votes ---- */

static dis_status check_id(const char *what, size_t n)
{
    if (n == 0) return dis__fail(DIS_EDATA, "an empty %s; every vote needs one", what);
    return n > DIS_MAX_ID ? dis__fail(DIS_EDATA, "a %s of more than %u bytes; shorten it", what, DIS_MAX_ID) : DIS_OK;
}

/* A repeated vote of a worker on an open item, at index a of its votes. */
static dis_status vote_again(dis_watch *w, size_t i, size_t a, size_t label, const dis_watch_vote *v)
{
    if (w->o.duplicates == DIS_DUPLICATES_ERROR)
        return dis__fail(DIS_EDATA,
                         "worker \"%.*s\" votes on task \"%.*s\" again; choose the vote to keep (`duplicates`)",
                         v->n_worker > 100 ? 100 : (int)v->n_worker, v->worker, v->n_task > 100 ? 100 : (int)v->n_task,
                         v->task);
    w->duplicates++;
    if (w->o.duplicates == DIS_DUPLICATES_FIRST) return DIS_OK;
    dis__incremental_vote *vote = &w->item[i].vote[a];
    const double *p = w->p + i * w->row;
    dis__incremental_em_add_vote(&w->model, *vote, -1, p);
    vote->label = (uint16_t)label;
    dis__incremental_em_add_vote(&w->model, *vote, 1, p);
    estimate(w, i, w->item[i].n_votes);
    return decide(w, i, true);
}

static dis_status vote_on(dis_watch *w, size_t i, dis__incremental_vote vote, const dis_watch_vote *v)
{
    dis__open_item *item = &w->item[i];
    for (size_t a = 0; a < item->n_votes; a++)
        if (item->vote[a].worker == vote.worker) {
            if (w->o.duplicates != DIS_DUPLICATES_ALL) return vote_again(w, i, a, vote.label, v);
            w->duplicates++;
            break;
        }
    size_t capacity = item->capacity;
    if (item->n_votes == capacity) DIS_TRY(dis__watch_check_memory(w, 2 * capacity * sizeof vote));
    DIS_TRY(dis__reserve(&item->vote, &capacity, item->n_votes, item->n_votes + 1, sizeof vote));
    w->blocks_bytes += (capacity - item->capacity) * sizeof vote;
    item->capacity = (uint32_t)capacity;
    item->vote[item->n_votes++] = vote;
    w->votes++;
    w->votes_open++;
    w->since_sweep++;
    estimate(w, i, item->n_votes - 1);
    DIS_TRY(decide(w, i, true));
    double unused;
    return w->since_sweep >= MIN_SWEEP && w->since_sweep >= w->votes_open ? sweep(w, &unused) : DIS_OK;
}

dis_status dis_watch_add(dis_watch *w, const dis_watch_vote *given)
{
    dis_watch_vote vote_given = dis_watch_vote_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_watch_vote, &vote_given, given));
    const dis_watch_vote *v = &vote_given;
    DIS_TRY(check_id("task", v->n_task));
    DIS_TRY(check_id("worker", v->n_worker));
    if (v->n_label == 0) return dis__fail(DIS_EDATA, "an empty label; if it means \"no vote\", set `na` \"\"");
    DIS_TRY(check_id("label", v->n_label));
    const uint64_t hash = dis__siphash(w->key, v->task, v->n_task);
    size_t label, worker, truth, i;
    DIS_TRY(find_class(w, v, &label));
    DIS_TRY(find_worker(w, v, &worker));
    const dis__incremental_vote vote = {.worker = (uint32_t)worker, .label = (uint16_t)label};
    const size_t s = w->slot ? dis__watch_find_slot(w, hash, v->task, v->n_task) : 0;
    if (w->slot && w->slot[s] != DIS_WATCH_NONE) return vote_on(w, w->slot[s] - 1, vote, v);
    if (dis__retired_items_find(&w->done, hash, &truth)) {
        dis__incremental_em_add_gold_vote(&w->model, vote, truth);
        w->votes++;
        w->late++;
        return DIS_OK;
    }
    DIS_TRY(dis__watch_add_item(w, hash, v->task, v->n_task, &i));
    return vote_on(w, i, vote, v);
}

/* ---- a watch ---- */

static dis_status check_options(const dis_watch_options *o)
{
    if (!(o->confidence > 0 && o->confidence <= 1))
        return dis__fail(DIS_EUSAGE, "retire is %g; it must be above 0 and at most 1", o->confidence);
    if (!(o->power >= 0 && o->power <= 1))
        return dis__fail(DIS_EUSAGE, "power is %g; it must be between 0 and 1", o->power);
    if (!(o->limit >= 1)) return dis__fail(DIS_EUSAGE, "limit is %g; it must be at least 1", o->limit);
    if (o->n_classes > DIS_MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "%zu classes are declared; at most %u are possible", o->n_classes,
                         DIS_MAX_CLASSES);
    return DIS_OK;
}

static dis_status declare(dis_watch *w)
{
    for (size_t k = 0; k < w->o.n_classes; k++) {
        const char *text = w->o.classes[k];
        const size_t n = strlen(text);
        const dis__key key = dis__key_from_text(&w->secret, text, n);
        size_t unused;
        if (n == 0 || n > DIS_MAX_ID)
            return dis__fail(DIS_EUSAGE, "a class that is declared has %zu bytes; 1 to %u are possible", n, DIS_MAX_ID);
        if (dis__key_table_find(&w->classes, &key))
            return dis__fail(DIS_EUSAGE, "the class \"%.200s\" is declared twice", text);
        DIS_TRY(add_class(w, text, n, &unused));
    }
    return DIS_OK;
}

dis_status dis_watch_create(const dis_watch_options *options, dis_watch **out)
{
    dis_watch_options o = dis_watch_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_watch_options, &o, options));
    DIS_TRY(check_options(&o));
    dis_watch *w;
    DIS_TRY(dis__alloc_zeroed(&w, 1, sizeof *w));
    w->o = o;
    w->model = (dis__incremental_em){.smoothing = .5, .diagonal = 2}; /* the defaults of dawid-skene */
    w->done.remember = o.n_remembered;
    w->memory = o.memory ? o.memory : dis__memory_available();
    w->secret = dis__secret_draw();
    dis__hash_key_draw(w->key, &w);
    const dis_status status = declare(w);
    w->o.classes = NULL; /* the caller's settings */
    if (status != DIS_OK) {
        dis_watch_destroy(w);
        return status;
    }
    *out = w;
    return DIS_OK;
}

void dis_watch_destroy(dis_watch *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->n_places; i++) {
        dis__free(w->item[i].name);
        dis__free(w->item[i].vote);
    }
    dis__free(w->item);
    dis__free(w->p);
    dis__free(w->slot);
    dis__free(w->scratch);
    dis__key_table_free(&w->classes);
    dis__key_table_free(&w->workers);
    dis__arena_free(&w->texts);
    dis__name_list_free(&w->class_name);
    dis__incremental_em_destroy(&w->model);
    dis__retired_items_destroy(&w->done);
    dis__free(w);
}

static dis_watch_view view_of(const dis_watch *w)
{
    return (dis_watch_view){.votes = w->votes,
                            .late = w->late,
                            .duplicates = w->duplicates,
                            .n_confident = w->sure,
                            .n_at_vote_limit = w->unsure,
                            .votes_confident = w->votes_sure,
                            .votes_at_vote_limit = w->votes_unsure,
                            .bad_rows = w->bad_rows,
                            .na = w->na,
                            .dropped = w->dropped,
                            .open = w->n_open,
                            .votes_open = w->votes_open,
                            .n_workers = w->model.n_workers,
                            .n_classes = w->n_classes};
}
DIS_VIEW_DEFINE(dis_watch, watch, view_of(watch))
