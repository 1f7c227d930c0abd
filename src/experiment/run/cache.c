/* A workshop: shelves with a state each, behind one mutex. The work itself is done outside of it: a shelf is marked as
 * being made, and whoever else wants it waits for the mark to go. A failure leaves the shelf empty for the next to try,
 * since what failed for one (memory, a stop) need not fail for another.
 *
 * Label sets that were drawn for one seed are given up when the last user returns them; all others stay. */
#include "experiment/run/cache.h"
#include "core/memory.h"
#include "core/sys.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef enum { EMPTY, MAKING, READY } shelf_state;

struct dis__shelf {
    shelf_state state;
    dis__material material;
    /* of labels */
    dis__label_set labels;
    size_t data, set, users;
    bool drawn;
    char key[65];
    dis__shelf *next;
};

struct dis__workshop {
    const dis__plan_inside *plan;
    char *cache;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    dis__ink ink;
    dis__shelf **material; /* (n data sets), each (1 + its sets) */
    dis__shelf *labels;
};

const dis__plan_inside *dis__workshop_plan(const dis__workshop *shop)
{
    return shop->plan;
}

static dis_status fill(dis__workshop *shop, const char *cache)
{
    const size_t n = shop->plan->file.data.n;
    DIS_TRY(dis__alloc_zeroed(&shop->material, n, sizeof *shop->material));
    for (size_t i = 0; i < n; i++)
        DIS_TRY(dis__alloc_zeroed(&shop->material[i], 1 + shop->plan->data[i].part->sets.n, sizeof **shop->material));
    if (!cache) return DIS_OK;
    DIS_TRY(dis__copy_text(&shop->cache, cache, strlen(cache)));
    if (dis__sys_mkdir(cache) != 0 && errno != EEXIST) return dis__fail_io("make the folder", cache);
    return DIS_OK;
}

dis_status dis__workshop_open(const dis__plan *plan, const char *cache, dis__workshop **out)
{
    dis__workshop *shop;
    DIS_TRY(dis__alloc_zeroed(&shop, 1, sizeof *shop));
    shop->plan = dis__inside(plan);
    pthread_mutex_init(&shop->mutex, NULL);
    pthread_cond_init(&shop->changed, NULL);
    const dis_status status = fill(shop, cache);
    if (status == DIS_OK)
        *out = shop;
    else
        dis__workshop_close(shop);
    return status;
}

void dis__workshop_close(dis__workshop *shop)
{
    if (!shop) return;
    for (size_t i = 0; shop->material && i < shop->plan->file.data.n; i++) {
        for (size_t s = 0; shop->material[i] && s <= shop->plan->data[i].part->sets.n; s++)
            dis__material_free(&shop->material[i][s].material);
        dis__free(shop->material[i]);
    }
    while (shop->labels) {
        dis__shelf *shelf = shop->labels;
        shop->labels = shelf->next;
        dis__label_set_free(&shelf->labels);
        dis__free(shelf);
    }
    dis__free(shop->material);
    dis__free(shop->cache);
    dis__ink_free(&shop->ink);
    pthread_cond_destroy(&shop->changed);
    pthread_mutex_destroy(&shop->mutex);
    dis__free(shop);
}

/* With the mutex held: true when the caller is the one to make it. */
static bool is_mine(dis__workshop *shop, dis__shelf *shelf)
{
    while (shelf->state == MAKING) pthread_cond_wait(&shop->changed, &shop->mutex);
    if (shelf->state == READY) return false;
    shelf->state = MAKING;
    return true;
}

static void done(dis__workshop *shop, dis__shelf *shelf, bool fine)
{
    shelf->state = fine ? READY : EMPTY;
    pthread_cond_broadcast(&shop->changed);
}

dis_status dis__workshop_material(dis_context *ctx, dis__workshop *shop, size_t data, size_t set,
                                  const dis__material **out)
{
    const dis__material *own = NULL;
    dis__shelf *shelf = &shop->material[data][set == SIZE_MAX ? 0 : 1 + set];
    if (set != SIZE_MAX) DIS_TRY(dis__workshop_material(ctx, shop, data, SIZE_MAX, &own));
    dis_status status = DIS_OK;
    pthread_mutex_lock(&shop->mutex);
    const bool mine = is_mine(shop, shelf);
    pthread_mutex_unlock(&shop->mutex);
    if (mine) {
        status = dis__material_read(ctx, &shop->plan->data[data], set, own, &shelf->material);
        pthread_mutex_lock(&shop->mutex);
        done(shop, shelf, status == DIS_OK);
        pthread_mutex_unlock(&shop->mutex);
    }
    if (status == DIS_OK) *out = &shelf->material;
    return status;
}

/* With the mutex held. */
static dis_status find_shelf(dis__workshop *shop, size_t data, size_t set, const dis__labels_part *labels,
                             uint64_t votes_per_item, uint64_t seed, dis__shelf **out)
{
    const dis__data_part *part = shop->plan->data[data].part;
    const dis__set_part *of_set = set == SIZE_MAX ? NULL : dis__part(&part->sets, set);
    char key[65];
    DIS_TRY(dis__labels_key(&shop->ink, part, of_set ? of_set->votes : part->votes, labels, votes_per_item, seed, key));
    for (dis__shelf *s = shop->labels; s; s = s->next)
        if (s->data == data && s->set == set && strcmp(s->key, key) == 0) {
            *out = s;
            return DIS_OK;
        }
    dis__shelf *made;
    DIS_TRY(dis__alloc_zeroed(&made, 1, sizeof *made));
    made->data = data;
    made->set = set;
    made->drawn = votes_per_item > 0;
    memcpy(made->key, key, sizeof made->key);
    made->next = shop->labels;
    shop->labels = made;
    *out = made;
    return DIS_OK;
}

dis_status dis__workshop_labels(dis_context *ctx, dis__workshop *shop, size_t data, size_t set,
                                const dis__labels_part *labels, uint64_t votes_per_item, uint64_t seed,
                                dis__shelf **out)
{
    const dis__material *m;
    dis__shelf *shelf = NULL;
    bool mine = false;
    DIS_TRY(dis__workshop_material(ctx, shop, data, set, &m));
    pthread_mutex_lock(&shop->mutex);
    dis_status status = find_shelf(shop, data, set, labels, votes_per_item, seed, &shelf);
    if (status == DIS_OK) {
        shelf->users++;
        mine = is_mine(shop, shelf);
    }
    pthread_mutex_unlock(&shop->mutex);
    DIS_TRY(status);
    if (mine) {
        status = dis__label_set_make(ctx, m, labels, votes_per_item, seed, shop->cache, shelf->key, &shelf->labels);
        pthread_mutex_lock(&shop->mutex);
        done(shop, shelf, status == DIS_OK);
        pthread_mutex_unlock(&shop->mutex);
    }
    if (status == DIS_OK)
        *out = shelf;
    else
        dis__workshop_return(shop, shelf);
    return status;
}

const dis__label_set *dis__shelf_labels(const dis__shelf *shelf)
{
    return shelf ? &shelf->labels : NULL;
}

void dis__workshop_return(dis__workshop *shop, dis__shelf *shelf)
{
    if (!shelf) return;
    pthread_mutex_lock(&shop->mutex);
    if (--shelf->users == 0 && shelf->drawn) {
        dis__shelf **at = &shop->labels;
        while (*at != shelf) at = &(*at)->next;
        *at = shelf->next;
        dis__label_set_free(&shelf->labels);
        dis__free(shelf);
    }
    pthread_mutex_unlock(&shop->mutex);
}
