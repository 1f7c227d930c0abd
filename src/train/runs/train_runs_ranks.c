/* Trainings that ranks share: each model is trained by one rank, the first run by the first rank. Curves and
 * predictions are then broadcast by the rank that has them; files are those of one process. */
#include "core/memory/memory.h"
#include "tool/rank_calls.h"
#include "core/parallel/comm.h"
#include "train/runs/train_runs_internal.h"
#include <string.h>

bool dis__train_runs_are_split(const dis_context *ctx)
{
    return dis_context_n_ranks(ctx) > 1 && !dis__comm_is_parallel(dis__context_comm(ctx));
}

static int owner_of(const dis_context *ctx, const dis_train_runs *runs, size_t n)
{
    const size_t ranks = (size_t)dis_context_n_ranks(ctx);
    return (int)((n + ranks - runs->n_folds % ranks) % ranks);
}

bool dis__train_runs_are_own(const dis_context *ctx, const dis_train_runs *runs, size_t n)
{
    return owner_of(ctx, runs, n) == dis_context_rank(ctx);
}

static dis_status gather_curve(dis_context *ctx, dis_train_runs *runs, size_t run)
{
    const int from = owner_of(ctx, runs, run + runs->n_folds);
    const bool own = from == dis_context_rank(ctx);
    dis_train_curve *curve = &runs->curve[run], received = *curve;
    dis_epoch *epoch = NULL;
    DIS_TRY(dis__context_broadcast(ctx, from, &received, sizeof received));
    const size_t bytes = received.n_epochs * sizeof *epoch;
    if (own) return dis__context_broadcast(ctx, from, (void *)(uintptr_t)curve->epoch, bytes);
    DIS_TRY(dis__alloc_array(&epoch, received.n_epochs, sizeof *epoch));
    received.epoch = epoch;
    *curve = received;
    return dis__context_broadcast(ctx, from, epoch, bytes);
}

/* Names consecutively, each with its NUL. */
static dis_status join_names(const dis_names *names, char **text, size_t *n_bytes)
{
    const size_t count = dis_names_count(names);
    size_t n, used = 0;
    *n_bytes = 0;
    for (size_t i = 0; i < count; i++) *n_bytes += (dis_names_get(names, i, &n), n + 1);
    DIS_TRY(dis__alloc_array(text, *n_bytes + 1, 1));
    for (size_t i = 0; i < count; i++) {
        const char *name = dis_names_get(names, i, &n);
        memcpy(*text + used, name, n + 1);
        used += n + 1;
    }
    return DIS_OK;
}

static dis_status split_names(const char *text, size_t count, dis_names **out)
{
    const char **name;
    DIS_TRY(dis__alloc_array(&name, count, sizeof *name));
    for (size_t i = 0; i < count; i++) {
        name[i] = text;
        text += strlen(text) + 1;
    }
    const dis_status status = dis_names_create(name, count, out);
    dis__free(name);
    return status;
}

/* *names of rank `from`, on all; the other ranks own *copy. */
static dis_status broadcast_names(dis_context *ctx, int from, const dis_names **names, dis_names **copy)
{
    const bool own = from == dis_context_rank(ctx);
    size_t n[2] = {0, 0}; /* names, bytes */
    char *text = NULL;
    if (own) {
        n[0] = dis_names_count(*names);
        DIS_TRY(join_names(*names, &text, &n[1]));
    }
    dis_status status = dis__context_broadcast(ctx, from, n, sizeof n);
    if (status == DIS_OK && !own) status = dis__alloc_array(&text, n[1] + 1, 1);
    if (status == DIS_OK) status = dis__context_broadcast(ctx, from, text, n[1]);
    if (status == DIS_OK && !own) {
        status = split_names(text, n[0], copy);
        *names = *copy;
    }
    dis__free(text);
    return status;
}

/* The predictions of fold f. */
static dis_status gather_part(dis_context *ctx, dis_train_runs *runs, size_t f)
{
    const int from = owner_of(ctx, runs, f);
    const bool own = from == dis_context_rank(ctx);
    dis_labels_view view = {.size = sizeof(dis_labels_view)};
    dis_names *tasks = NULL, *classes = NULL;
    double *p = NULL;
    if (own) view = dis_labels_get_view(runs->part[f]);
    dis_status status = broadcast_names(ctx, from, &view.tasks, &tasks);
    if (status == DIS_OK) status = broadcast_names(ctx, from, &view.classes, &classes);
    if (status == DIS_OK && !own) {
        view.n_items = dis_names_count(tasks);
        view.n_classes = dis_names_count(classes);
        status = dis__alloc_array(&p, dis__saturating_size(view.n_items, view.n_classes, 0), sizeof *p);
        view.p = p;
    }
    if (status == DIS_OK) { /* the owner's array is only read */
        const size_t bytes = view.n_items * view.n_classes * sizeof *view.p;
        status = dis__context_broadcast(ctx, from, (void *)(uintptr_t)view.p, bytes);
    }
    if (status == DIS_OK && !own) status = dis_labels_create(ctx, &view, &runs->part[f]);
    dis_names_destroy(tasks);
    dis_names_destroy(classes);
    dis__free(p);
    return status;
}

dis_status dis__train_runs_gather(dis_context *ctx, dis_train_runs *runs)
{
    for (size_t f = 0; f < runs->n_folds; f++) DIS_TRY(gather_part(ctx, runs, f));
    for (size_t r = 0; r < runs->n_runs; r++) DIS_TRY(gather_curve(ctx, runs, r));
    return DIS_OK;
}
