/* The context of a command: threads, memory and device as its options say, and the ranks that mpirun or srun has
 * started. No function here ends the process; a failure is a status. */
#include "core/cli.h"
#include "tool/device_calls.h"
#include "tool/rank_calls.h"
#include <stdlib.h>
#include <string.h>

static int stop(void *user)
{
    (void)user;
    return cli_signal();
}

/* The value that a starter of ranks (mpirun, srun) has set in the first of these variables; -1: none is set. */
static long started_as(const char *const *variables)
{
    for (; *variables; variables++) {
        const char *text = getenv(*variables);
        if (text && *text >= '0' && *text <= '9') return strtol(text, NULL, 10);
    }
    return -1;
}

long cli_ranks_count(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};
    const long n = started_as(sizes);
    return n > 0 ? n : 0;
}

/* `--device cuda` on several ranks: the devices of each machine in turn. Into `name`; false: unchanged. */
static bool device_of_rank(const char *device, char *name, size_t n)
{
    static const char *const locals[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL};
    const long local = cli_ranks_count() > 1 ? started_as(locals) : -1;
    return local >= 0 && dis__device_of_rank(device, local, name, n);
}

static void set_common(cli *c, const cli_common *common, dis_context_options *o)
{
    o->threads = (int)common->threads;
    o->memory = common->memory;
    o->precision = (dis_precision)common->precision;
    o->progress = cli_progress_draw;
    o->stop = stop;
    o->user = c;
}

dis_status cli_context_create_local(cli *c, const cli_common *common, dis_context **out)
{
    dis_context_options o = dis_context_options_default();
    set_common(c, common, &o);
    return dis_context_create(&o, out);
}

/* CUDA takes tenths of a second to list its devices. Where its driver is loaded, and only passes over votes or items
 * are made on the device, its first use starts it, and files are read meanwhile. */
static bool is_checked_later(const cli *c, const char *device)
{
    return cli_command_find(c->command)->late_device && dis__device_has_driver(device);
}

/* The first rank prints the error for all. mpirun stops all ranks when one ends, so the others wait until it has. */
static dis_status fail_after_first(cli *c, dis_status status)
{
    const struct timespec moment = {.tv_sec = 5};
    c->silent = true;
    nanosleep(&moment, NULL);
    return status;
}

/* A command that works in one process was started by mpirun. */
static dis_status reject_ranks(cli *c, long rank)
{
    if (rank > 0) return fail_after_first(c, DIS_EUSAGE);
    cli_error(
        c, DIS_EUSAGE,
        "%s does not support MPI; run it without mpirun (labels, agree, eval, compare, review and train support MPI)",
        c->command);
    c->silent = true; /* it is printed */
    return DIS_EUSAGE;
}

dis_status cli_context_create(cli *c, const cli_common *common, dis_context **out)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
    if (common->device && strcmp(common->device, "cpu") != 0 && !common->skips_device_check &&
        !is_checked_later(c, common->device)) {
        const dis_device *device;
        const dis_status found = dis_device_find(common->device, (dis_precision)common->precision, false, &device);
        if (found != DIS_OK) return found;
        if (strcmp(common->device, "auto") == 0) cli_print(c, "computing on %s: %s", device->name, device->description);
    }
    dis_context_options o = dis_context_options_default();
    if (cli_ranks_count() > 1) o.ranks = "mpi";
    const long rank = started_as(ranks);
    if (o.ranks && !cli_command_find(c->command)->ranks) return reject_ranks(c, rank);
    o.replicate_data = c->replicates_data;
    set_common(c, common, &o);
    char device[32];
    o.device = device_of_rank(common->device, device, sizeof device) ? device : common->device;
    dis_context *ctx;
    dis_status status = dis_context_create(&o, &ctx);
    if (status != DIS_OK) return o.ranks && rank > 0 ? fail_after_first(c, DIS_EUSAGE) : status;
    status = (dis_status)cli_ranks_check(c, ctx);
    if (status != DIS_OK) {
        c->silent = true; /* it is printed */
        dis_context_destroy(ctx);
        return status;
    }
    if (dis_context_rank(ctx) > 0) {
        c->quiet = true;
        c->silent = c->replicates_data;
    }
    *out = ctx;
    return DIS_OK;
}

int cli_ranks_end(cli *c, dis_context *ctx, int code)
{
    const struct timespec moment = {.tv_sec = 5};
    const int rank = dis_context_rank(ctx);
    if (code == 0 || dis_context_n_ranks(ctx) == 1) return code;
    /* the first rank tells what went wrong for all, and ends this one meanwhile, by a signal */
    if (rank > 0 && c->silent && nanosleep(&moment, NULL) == 0) {
        c->silent = false;
        cli_error(c, (dis_status)code, "rank %d: %s", rank, dis_last_error());
    }
    dis__context_abort(ctx, code);
    return code;
}

void cli_ranks_print(cli *c, dis_context *ctx, uint64_t own_votes)
{
    uint64_t max_votes = 0, max_sent = 0, sent = 0;
    const uint64_t own_sent = dis__context_bytes_sent(ctx);
    for (int r = 0; r < dis_context_n_ranks(ctx); r++) {
        uint64_t x[2] = {own_votes, own_sent};
        if (dis__context_broadcast(ctx, r, x, sizeof x) != DIS_OK) return;
        max_votes = x[0] > max_votes ? x[0] : max_votes;
        max_sent = x[1] > max_sent ? x[1] : max_sent;
        sent += x[1];
    }
    char votes[CLI_NUMBER], most[CLI_NUMBER], all[CLI_NUMBER];
    cli_print(c, "  %-18s at most %s votes and %s bytes sent by one, %s bytes in all, %.2f s", "ranks",
              cli_count_format(max_votes, votes), cli_count_format(max_sent, most), cli_count_format(sent, all),
              cli_seconds_since(&c->start));
}

int cli_ranks_reject(cli *c, const dis_context *ctx, const char *option)
{
    if (dis_context_n_ranks(ctx) == 1) return 0;
    c->silent = dis_context_rank(ctx) > 0;
    return cli_usage(c, "--%s does not support MPI; run without mpirun", option);
}
