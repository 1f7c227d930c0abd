/* dissent train of several models on ranks: each run and each fold is trained as a whole by one of them, the first run
 * by the first rank; what is told of them comes to the first rank afterwards. Files are those of one process. */
#include "train/cmd_train.h"
#include <stdlib.h>
#include <string.h>

bool train_is_on_ranks(const train_values *v)
{
    return cli_ranks_count() > 1 && (v->folds || v->runs > 1);
}

/* The rank that trains fold n or, behind the folds, run n. */
static int owner_of(const train_command *job, size_t n)
{
    const size_t ranks = (size_t)dis_context_n_ranks(job->ctx), folds = (size_t)job->v->folds;
    return (int)((n + ranks - folds % ranks) % ranks);
}

bool train_is_own(const train_command *job, size_t n)
{
    return !job->c->whole || owner_of(job, n) == dis_context_rank(job->ctx);
}

static dis_status gather_curve(train_command *job, size_t run)
{
    const int from = owner_of(job, run + (size_t)job->v->folds);
    const bool mine = from == dis_context_rank(job->ctx);
    train_curve *curve = &job->curve[run];
    train_curve told = *curve;
    dis_status status = dis_context_broadcast(job->ctx, from, &told, sizeof told);
    if (status != DIS_OK) return status;
    if (!mine) {
        told.epoch = malloc((told.n_epochs + 1) * sizeof *told.epoch);
        *curve = told;
    }
    return curve->epoch ? dis_context_broadcast(job->ctx, from, curve->epoch, told.n_epochs * sizeof *curve->epoch)
                        : DIS_ELIMIT;
}

/* Names one behind the other, each with its NUL. */
static char *join_names(const dis_names *names, size_t *n_bytes)
{
    const size_t count = dis_names_count(names);
    size_t n, used = 0;
    *n_bytes = 0;
    for (size_t i = 0; i < count; i++) *n_bytes += (dis_names_get(names, i, &n), n + 1);
    char *text = malloc(*n_bytes + 1);
    for (size_t i = 0; text && i < count; i++) {
        const char *name = dis_names_get(names, i, &n);
        memcpy(text + used, name, n + 1);
        used += n + 1;
    }
    return text;
}

static dis_status split_names(const char *text, size_t count, dis_names **out)
{
    const char **name = malloc((count + 1) * sizeof *name);
    if (!name) return DIS_ELIMIT;
    for (size_t i = 0; i < count; i++) {
        name[i] = text;
        text += strlen(text) + 1;
    }
    const dis_status status = dis_names_create(name, count, out);
    free(name);
    return status;
}

/* names of rank `from`, on all; those of the others are made. */
static dis_status tell_names(train_command *job, int from, const dis_names **names, dis_names **made)
{
    const bool mine = from == dis_context_rank(job->ctx);
    size_t n[2] = {0, 0}; /* names, bytes */
    char *text = NULL;
    if (mine) {
        n[0] = dis_names_count(*names);
        text = join_names(*names, &n[1]);
    }
    dis_status status = dis_context_broadcast(job->ctx, from, n, sizeof n);
    if (!mine) text = malloc(n[1] + 1);
    if (status == DIS_OK) status = text ? dis_context_broadcast(job->ctx, from, text, n[1]) : DIS_ELIMIT;
    if (status == DIS_OK && !mine) {
        status = split_names(text, n[0], made);
        *names = *made;
    }
    free(text);
    return status;
}

/* Predictions of fold f. */
static dis_status gather_part(train_command *job, size_t f)
{
    const int from = owner_of(job, f);
    const bool mine = from == dis_context_rank(job->ctx);
    dis_labels_view view = {0};
    dis_names *tasks = NULL, *classes = NULL;
    double *p = NULL;
    if (mine) view = dis_labels_get_view(job->part[f]);
    dis_status status = tell_names(job, from, &view.tasks, &tasks);
    if (status == DIS_OK) status = tell_names(job, from, &view.classes, &classes);
    if (status == DIS_OK && !mine) {
        view.n_items = dis_names_count(tasks);
        view.n_classes = dis_names_count(classes);
        view.p = p = malloc((view.n_items * view.n_classes + 1) * sizeof *p);
    }
    const size_t n = view.n_items * view.n_classes * sizeof *view.p;
    if (status == DIS_OK) {
        void *bytes = (void *)(uintptr_t)view.p; /* where they come from they are not written to */
        status = bytes ? dis_context_broadcast(job->ctx, from, bytes, n) : DIS_ELIMIT;
    }
    if (status == DIS_OK && !mine) status = dis_labels_create(job->ctx, &view, &job->part[f]);
    dis_names_destroy(tasks);
    dis_names_destroy(classes);
    free(p);
    return status;
}

dis_status train_results_gather(train_command *job)
{
    dis_status status = DIS_OK;
    if (!job->c->whole) return DIS_OK;
    for (size_t f = 0; f < job->v->folds && status == DIS_OK; f++) status = gather_part(job, f);
    for (size_t r = 0; job->v->output && r < job->v->runs && status == DIS_OK; r++) status = gather_curve(job, r);
    return status;
}
