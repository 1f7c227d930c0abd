/* A cache: entries with a state each, behind one mutex. The work itself is done outside of it: an entry is marked as
 * being made, and whoever else wants it waits for the mark to go. A failure leaves the entry empty for the next to try,
 * since what failed for one (memory, a stop) need not fail for another.
 *
 * Label sets that were drawn for one seed are given up when the last user returns them; all others stay. */
#include "experiment/run/run_cache.h"
#include "core/memory/memory.h"
#include "io/files/folder.h"
#include <pthread.h>
#include <string.h>

typedef enum { EMPTY, MAKING, READY } entry_state;

struct dis__cache_entry {
    entry_state state;
    dis__dataset dataset;
    /* of labels */
    dis__label_set labels;
    size_t data, set, users;
    bool drawn;
    char key[65];
    dis__cache_entry *next;
};

struct dis__cache {
    const dis__plan_internal *plan;
    char *folder;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    dis__run_key key_text;
    dis__cache_entry **dataset; /* (n data sets), each (1 + its sets) */
    dis__cache_entry *labels;
};

const dis__plan_internal *dis__cache_plan(const dis__cache *cache)
{
    return cache->plan;
}

static dis_status fill(dis__cache *cache, const char *folder)
{
    const size_t n = cache->plan->file.data.n;
    DIS_TRY(dis__alloc_zeroed(&cache->dataset, n, sizeof *cache->dataset));
    for (size_t i = 0; i < n; i++)
        DIS_TRY(dis__alloc_zeroed(&cache->dataset[i], 1 + cache->plan->data[i].part->sets.n, sizeof **cache->dataset));
    if (!folder) return DIS_OK;
    DIS_TRY(dis__copy_text(&cache->folder, folder, strlen(folder)));
    return dis__create_folder(folder);
}

dis_status dis__cache_open(const dis__plan *plan, const char *folder, dis__cache **out)
{
    dis__cache *cache;
    DIS_TRY(dis__alloc_zeroed(&cache, 1, sizeof *cache));
    cache->plan = dis__plan_internal_of(plan);
    pthread_mutex_init(&cache->mutex, NULL);
    pthread_cond_init(&cache->changed, NULL);
    const dis_status status = fill(cache, folder);
    if (status == DIS_OK)
        *out = cache;
    else
        dis__cache_close(cache);
    return status;
}

void dis__cache_close(dis__cache *cache)
{
    if (!cache) return;
    for (size_t i = 0; cache->dataset && i < cache->plan->file.data.n; i++) {
        for (size_t s = 0; cache->dataset[i] && s <= cache->plan->data[i].part->sets.n; s++)
            dis__dataset_free(&cache->dataset[i][s].dataset);
        dis__free(cache->dataset[i]);
    }
    while (cache->labels) {
        dis__cache_entry *entry = cache->labels;
        cache->labels = entry->next;
        dis__label_set_free(&entry->labels);
        dis__free(entry);
    }
    dis__free(cache->dataset);
    dis__free(cache->folder);
    dis__run_key_free(&cache->key_text);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->mutex);
    dis__free(cache);
}

/* With the mutex held: true if the caller has to compute it. */
static bool is_mine(dis__cache *cache, dis__cache_entry *entry)
{
    while (entry->state == MAKING) pthread_cond_wait(&cache->changed, &cache->mutex);
    if (entry->state == READY) return false;
    entry->state = MAKING;
    return true;
}

static void done(dis__cache *cache, dis__cache_entry *entry, bool fine)
{
    entry->state = fine ? READY : EMPTY;
    pthread_cond_broadcast(&cache->changed);
}

dis_status dis__cache_dataset(dis_context *ctx, dis__cache *cache, size_t data, size_t set, const dis__dataset **out)
{
    const dis__dataset *own = NULL;
    dis__cache_entry *entry = &cache->dataset[data][set == SIZE_MAX ? 0 : 1 + set];
    if (set != SIZE_MAX) DIS_TRY(dis__cache_dataset(ctx, cache, data, SIZE_MAX, &own));
    dis_status status = DIS_OK;
    pthread_mutex_lock(&cache->mutex);
    const bool mine = is_mine(cache, entry);
    pthread_mutex_unlock(&cache->mutex);
    if (mine) {
        status = dis__dataset_read(ctx, &cache->plan->data[data], set, own, &entry->dataset);
        pthread_mutex_lock(&cache->mutex);
        done(cache, entry, status == DIS_OK);
        pthread_mutex_unlock(&cache->mutex);
    }
    if (status == DIS_OK) *out = &entry->dataset;
    return status;
}

/* With the mutex held. */
static dis_status find_entry(dis__cache *cache, size_t data, size_t set, const dis__labels_part *labels,
                             const dis__vote_draw *draw, dis__cache_entry **out)
{
    const dis__data_part *part = cache->plan->data[data].part;
    const dis__set_part *of_set = set == SIZE_MAX ? NULL : dis__part(&part->sets, set);
    char key[65];
    DIS_TRY(dis__labels_key(&cache->key_text, part, of_set ? of_set->votes : part->votes, labels, draw, key));
    for (dis__cache_entry *s = cache->labels; s; s = s->next)
        if (s->data == data && s->set == set && strcmp(s->key, key) == 0) {
            *out = s;
            return DIS_OK;
        }
    dis__cache_entry *entry;
    DIS_TRY(dis__alloc_zeroed(&entry, 1, sizeof *entry));
    entry->data = data;
    entry->set = set;
    entry->drawn = draw != NULL;
    memcpy(entry->key, key, sizeof entry->key);
    entry->next = cache->labels;
    cache->labels = entry;
    *out = entry;
    return DIS_OK;
}

dis_status dis__cache_labels(dis_context *ctx, dis__cache *cache, size_t data, size_t set,
                             const dis__labels_part *labels, const dis__vote_draw *draw, dis__cache_entry **out)
{
    const dis__dataset *m;
    dis__cache_entry *entry = NULL;
    bool mine = false;
    DIS_TRY(dis__cache_dataset(ctx, cache, data, set, &m));
    pthread_mutex_lock(&cache->mutex);
    dis_status status = find_entry(cache, data, set, labels, draw, &entry);
    if (status == DIS_OK) {
        entry->users++;
        mine = is_mine(cache, entry);
    }
    pthread_mutex_unlock(&cache->mutex);
    DIS_TRY(status);
    if (mine) {
        status = dis__label_set_make(ctx, m, labels, draw, cache->folder, entry->key, &entry->labels);
        pthread_mutex_lock(&cache->mutex);
        done(cache, entry, status == DIS_OK);
        pthread_mutex_unlock(&cache->mutex);
    }
    if (status == DIS_OK)
        *out = entry;
    else
        dis__cache_release(cache, entry);
    return status;
}

const dis__label_set *dis__cache_entry_labels(const dis__cache_entry *entry)
{
    return entry ? &entry->labels : NULL;
}

void dis__cache_release(dis__cache *cache, dis__cache_entry *entry)
{
    if (!entry) return;
    pthread_mutex_lock(&cache->mutex);
    if (--entry->users == 0 && entry->drawn) {
        dis__cache_entry **at = &cache->labels;
        while (*at != entry) at = &(*at)->next;
        *at = entry->next;
        dis__label_set_free(&entry->labels);
        dis__free(entry);
    }
    pthread_mutex_unlock(&cache->mutex);
}
