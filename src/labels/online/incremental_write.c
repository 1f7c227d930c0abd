/* Growing states, one safetensors file:
 *
 *     names/workers, names/classes, names/tasks (U8, NUL-terminated) and their offsets (.../start, U64)
 *     tasks/index (U32, a power of 2 of slots: item + 1, 0 free), tasks/key (U64, 2: of its SipHash)
 *     votes/start (U64), votes/worker (U32), votes/label (U16): votes by item
 *     counts (F64, workers x voted x true): sum of p(t | item) over votes; class_sum (F64): sum of p over items
 *
 * It has checksums (io/tensors/checked_tensors.h).
 *
 * Ranks: counts are added rank by rank, in the order of items; the first rank writes the data of all.
 *
 * Cost: a pass over the votes, and the bytes of the file. */
#include "labels/online/incremental_internal.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/memory/spill.h"
#include "dissent/version.h"
#include "io/output/output_file.h"
#include "labels/method.h"
#include "labels/passes/item_passes.h"

const struct dis__incremental_tensor dis__incremental_tensors[DIS_INCREMENTAL_TENSORS] = {
    {"tasks/key", "U64"},           {"votes/start", "U64"},         {"names/tasks/start", "U64"},
    {"names/workers/start", "U64"}, {"names/classes/start", "U64"}, {"counts", "F64"},
    {"class_sum", "F64"},           {"votes/worker", "U32"},        {"tasks/index", "U32"},
    {"votes/label", "U16"},         {"names/tasks", "U8"},          {"names/workers", "U8"},
    {"names/classes", "U8"}};

typedef struct {
    uint64_t key[2];
    uint32_t *index;
    size_t n_index;
    uint16_t *label;
    double *counts, *class_sum; /* sequentially */
} writing;

static dis_status index_tasks(const dis_names *tasks, writing *x)
{
    const size_t n = dis_names_count(tasks);
    for (x->n_index = 2; x->n_index < 2 * n; x->n_index *= 2) continue;
    DIS_TRY(dis__alloc_zeroed(&x->index, x->n_index, sizeof *x->index));
    dis__hash_key_draw(x->key, x);
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *name = dis_names_get(tasks, i, &length);
        size_t s = (size_t)dis__siphash(x->key, name, length) & (x->n_index - 1);
        while (x->index[s]) s = (s + 1) & (x->n_index - 1);
        x->index[s] = (uint32_t)(i + 1);
    }
    return DIS_OK;
}

typedef struct {
    const dis_votes_view *v;
    const double *p;
} counting;

static void count_items(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const counting *c = arg;
    const dis_votes_view *v = c->v;
    const size_t K = v->n_classes;
    double *class_sum = sums + v->n_workers * K * K;
    for (size_t i = first; i < last; i++) {
        const double *p = c->p + i * K;
        for (size_t t = 0; t < K; t++) class_sum[t] += p[t];
        for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
            double *row = sums + (v->worker[a] * K + dis__vote_label(v, a)) * K;
            for (size_t t = 0; t < K; t++) row[t] += p[t];
        }
    }
}

static dis_status count_votes(dis_context *ctx, const dis_votes *votes, const double *p, writing *x)
{
    const dis__fit_args args = {.ctx = ctx, .votes = dis_votes_get_view(votes), .part = dis__votes_part_of(votes)};
    const size_t K = args.votes.n_classes, n_counts = dis__saturating_size(args.votes.n_workers, K * K, 0);
    counting c = {.v = &args.votes, .p = p};
    DIS_TRY(dis__alloc_array(&x->counts, dis__saturating_size(n_counts, 1, K), sizeof *x->counts));
    x->class_sum = x->counts + n_counts;
    return dis__item_sums_run_in_order(&args, n_counts + K, count_items, &c, NULL, x->counts);
}

static dis_status widen_labels(const dis_votes_view *v, writing *x)
{
    DIS_TRY(dis__alloc_array(&x->label, v->n_votes, sizeof *x->label));
    for (size_t a = 0; a < v->n_votes; a++) x->label[a] = (uint16_t)dis__vote_label(v, a);
    return DIS_OK;
}

static dis_status write_parts(const dis_votes_view *v, const writing *x, const char *path)
{
    static const char *const metadata[][2] = {{"format", DIS_INCREMENTAL_FORMAT},
                                              {"version", DIS_INCREMENTAL_VERSION},
                                              {"dissent", DIS_VERSION}};
    const size_t K = v->n_classes;
    const dis_names *const names[] = {v->tasks, v->workers, v->classes};
    const void *data[DIS_INCREMENTAL_TENSORS] = {
        [DIS_INCREMENTAL_KEY] = x->key,       [DIS_INCREMENTAL_START] = v->start,
        [DIS_INCREMENTAL_COUNTS] = x->counts, [DIS_INCREMENTAL_CLASS_SUM] = x->class_sum,
        [DIS_INCREMENTAL_WORKER] = v->worker, [DIS_INCREMENTAL_INDEX] = x->index,
        [DIS_INCREMENTAL_LABEL] = x->label};
    size_t n[DIS_INCREMENTAL_TENSORS] = {[DIS_INCREMENTAL_KEY] = 2,
                                         [DIS_INCREMENTAL_START] = v->n_items + 1,
                                         [DIS_INCREMENTAL_COUNTS] = v->n_workers * K * K,
                                         [DIS_INCREMENTAL_CLASS_SUM] = K,
                                         [DIS_INCREMENTAL_WORKER] = v->n_votes,
                                         [DIS_INCREMENTAL_INDEX] = x->n_index,
                                         [DIS_INCREMENTAL_LABEL] = v->n_votes};
    for (size_t i = 0; i < 3; i++) {
        data[DIS_INCREMENTAL_TASK_START + i] = names[i]->start;
        n[DIS_INCREMENTAL_TASK_START + i] = dis_names_count(names[i]) + 1;
        data[DIS_INCREMENTAL_TASKS + i] = names[i]->bytes;
        n[DIS_INCREMENTAL_TASKS + i] = (size_t)names[i]->start[dis_names_count(names[i])];
    }
    dis__tensor tensor[DIS_INCREMENTAL_TENSORS];
    for (size_t i = 0; i < DIS_INCREMENTAL_TENSORS; i++)
        tensor[i] = (dis__tensor){.name = dis__incremental_tensors[i].name,
                                  .dtype = dis__dtype_find(dis__incremental_tensors[i].type,
                                                           strlen(dis__incremental_tensors[i].type)),
                                  .n_dims = 1,
                                  .dim = {n[i]},
                                  .n = n[i],
                                  .data = data[i]};
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    return dis__out_finish(out, dis__checked_write(out, tensor, DIS_INCREMENTAL_TENSORS, metadata,
                                                   sizeof metadata / sizeof *metadata));
}

dis_status dis_incremental_write(dis_context *ctx, const dis_votes *votes, const double *p, const char *path)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis__comm *comm = dis__context_comm(ctx);
    const bool shared = dis__comm_is_parallel(comm);
    dis_votes *all = NULL;
    if (!votes->start)
        return dis__fail(DIS_EDATA, "this input has no annotator ids; give one row per vote with a worker column");
    writing x = {.n_index = 0};
    dis_status status;
    DIS_TRY_GOTO(status, count_votes(ctx, votes, p, &x), end);
    if (shared) DIS_TRY_GOTO(status, dis__votes_gather(comm, votes, &all), end);
    if (shared && comm->rank > 0) goto end;
    const dis_votes_view v = dis_votes_get_view(shared ? all : votes);
    DIS_TRY_GOTO(status, widen_labels(&v, &x), end);
    DIS_TRY_GOTO(status, index_tasks(v.tasks, &x), end);
    status = write_parts(&v, &x, path);
end:
    dis_votes_destroy(all);
    dis__free(x.index);
    dis__free(x.label);
    dis__free(x.counts);
    return status;
}
