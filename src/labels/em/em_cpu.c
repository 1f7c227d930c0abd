/* Passes on the CPU (labels/methods/em.h): shards of items, each with its own table, distributed over ranks.
 * em_kernel.c has the pass over one shard.
 *
 * Cost: a pass over the votes, and for an update one over the tables, n_shards times the parameters. */
#include "labels/em/em.h"
#include "core/parallel/comm.h"
#include <string.h>

static dis_status pass_job(void *arg, size_t j, int thread)
{
    (void)thread;
    dis__em *em = arg;
    em->kernel(&em->jobs[j]);
    return DIS_OK;
}

/* Class sums and log normalisers over the shards of all ranks, in the order of shards. */
static dis_status add_lines(dis__em *em)
{
    const size_t width = em->n_states + 2;
    dis__comm_block *from;
    for (size_t j = 0; j < em->n_shards; j++) {
        double *line = em->lines + (em->first_shard + j) * width;
        memcpy(line, em->jobs[j].class_sum, em->n_states * sizeof *line);
        line[em->n_states] = em->jobs[j].log_z;
        line[em->n_states + 1] = em->jobs[j].evidence;
    }
    DIS_TRY(dis__alloc_zeroed(&from, (size_t)em->comm->size, sizeof *from));
    const dis_status status = dis__comm_allgather_blocks(em->comm, em->lines + em->first_shard * width,
                                                         em->n_shards * width * sizeof *em->lines, from);
    for (int r = 0; status == DIS_OK && r < em->comm->size; r++) {
        const double *line = (const double *)(const void *)from[r].bytes;
        for (size_t j = 0; j < from[r].n / (width * sizeof *line); j++, line += width) {
            em->evidence += line[em->n_states + 1];
            for (size_t k = 0; k < em->n_states; k++) em->class_sum[k] += line[k];
            em->log_z += line[em->n_states];
        }
    }
    dis__comm_blocks_free(em->comm, from);
    return status;
}

static dis_status run_pass(dis__em *em, dis__em_step step, bool sum, bool write)
{
    for (size_t j = 0; j < em->n_shards; j++) {
        em->jobs[j].step = step;
        em->jobs[j].sum = sum;
        em->jobs[j].p = write ? em->fit->p : NULL;
        em->jobs[j].signature = em->signature;
        em->jobs[j].key = em->key;
    }
    DIS_TRY(dis__run_jobs(em->args->ctx, em->n_shards, pass_job, em));
    memset(em->class_sum, 0, em->n_states * sizeof *em->class_sum);
    em->log_z = em->evidence = 0;
    em->n_summed = em->args->part.n_items;
    if (em->total) return add_lines(em);
    for (size_t j = 0; j < em->n_shards; j++) {
        em->evidence += em->jobs[j].evidence;
        for (size_t k = 0; k < em->n_states; k++) em->class_sum[k] += em->jobs[j].class_sum[k];
        em->log_z += em->jobs[j].log_z;
    }
    return DIS_OK;
}

/* The rows of worker w in the tables of the local shards. */
static dis__em_worker_rows tables_of(const dis__em *em, size_t w)
{
    return (dis__em_worker_rows){.first = em->tables + w * 2 * em->worker_size,
                                 .n = em->n_shards,
                                 .size = em->table_size,
                                 .n_rows = em->worker_size / em->row,
                                 .row = em->row};
}

/* Adds the current shards to out, in their order. */
static void add_shards(const dis__em *em, size_t w, double *out)
{
    const dis__em_worker_rows tables = tables_of(em, w);
    em->add_sums(&tables, out);
}

static void gather(const dis__em *em, size_t w, double *out)
{
    if (em->total) {
        memcpy(out, em->total + w * em->worker_size, em->worker_size * sizeof *out);
        return;
    }
    memset(out, 0, em->worker_size * sizeof *out);
    add_shards(em, w, out);
}

/* em->total: the sums over the shards of all ranks, added in the order of shards. Each owner adds its shards to the
 * sums of the previous one, worker by worker, and sends them on; the last one has the total and broadcasts it. In
 * pieces, so that all owners work concurrently. */
static dis_status add_ranks(dis__em *em)
{
    enum { PIECE = 1 << 15 }; /* doubles */
    if (!em->total) return DIS_OK;
    const dis__comm *comm = em->comm;
    const int last = (int)em->args->part.n_owners - 1;
    const size_t n_workers = em->args->votes.n_workers, step = em->worker_size < PIECE ? PIECE / em->worker_size : 1;
    for (size_t w = 0; w < n_workers && comm->rank <= last; w += step) {
        const size_t end = n_workers - w < step ? n_workers : w + step,
                     n = (end - w) * em->worker_size * sizeof(double);
        double *x = em->total + w * em->worker_size;
        memset(x, 0, n);
        if (comm->rank > 0) DIS_TRY(dis__comm_receive(comm, x, n, comm->rank - 1));
        for (size_t i = w; i < end; i++) add_shards(em, i, em->total + i * em->worker_size);
        if (comm->rank < last) DIS_TRY(dis__comm_send(comm, x, n, comm->rank + 1));
    }
    return dis__comm_broadcast(comm, em->total, n_workers * em->worker_size * sizeof *em->total, last);
}

static void scatter(dis__em *em, size_t w, const double *values)
{
    const dis__em_worker_rows tables = tables_of(em, w);
    em->set_rows(&tables, values);
}

const dis__em_backend dis__em_cpu = {.pass = run_pass, .collect = add_ranks, .gather = gather, .scatter = scatter};
