/* Reads votes on several ranks: each reads the rows that begin in its share of the bytes of all files, then votes are
 * distributed by item (vote_exchange.c). Finding the start of a row requires the parity of the quotes before it: every
 * rank counts those in its share.
 *
 * Cost: a scan of every byte of the share for quotes, in addition to reading it. */
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "votes/read/reader.h"

/* The overlap of input i, which begins at byte `at` of all inputs together, with bytes [first, last). */
static bool overlap(const dis__input *in, uint64_t at, const uint64_t range[2], uint64_t part[2])
{
    for (int k = 0; k < 2; k++) part[k] = range[k] < at ? 0 : range[k] - at < in->n ? range[k] - at : in->n;
    return part[0] < part[1];
}

/* The number of quotes before and up to the end of this rank's bytes determines whether they begin and end within
 * quotes. */
static dis_status count_quotes(const dis__reader *r, const uint64_t range[2], uint64_t quotes_before[2], bool *any)
{
    const dis__comm *comm = dis__context_comm(r->ctx);
    uint64_t own = 0, at = 0, part[2], *all;
    for (size_t i = 0; i < r->n_inputs; at += r->input[i++].n)
        if (overlap(&r->input[i], at, range, part))
            for (uint64_t b = part[0]; b < part[1]; b++) own += r->input[i].bytes[b] == '"';
    DIS_TRY(dis__alloc_array(&all, (size_t)comm->size, sizeof *all));
    const dis_status status = dis__comm_allgather_counts(comm, own, all);
    quotes_before[0] = quotes_before[1] = 0;
    *any = false;
    for (int k = 0; status == DIS_OK && k < comm->size; k++) {
        quotes_before[0] += k < comm->rank ? all[k] : 0;
        quotes_before[1] += k <= comm->rank ? all[k] : 0;
        *any = *any || all[k];
    }
    dis__free(all);
    return status;
}

void dis__file_part_apply(const dis__file_part *file_part, dis__vote_file *file)
{
    const bool quotes = file_part->quotes && file->format->quotes;
    const char *begin = dis__find_row_start(file, file_part->first, quotes, file_part->quotes_before[0] % 2),
               *end = file->end;
    if (file_part->last < file->input->n)
        end = dis__find_row_start(file, file_part->last, quotes, file_part->quotes_before[1] % 2);
    file->rows = begin;
    file->end = end;
}

/* Reads the rows that begin in this rank's share of the bytes of all inputs. */
static dis_status read_share(dis__reader *r)
{
    const dis__comm *comm = dis__context_comm(r->ctx);
    dis__file_part file_part;
    uint64_t n = 0, part[2];
    for (size_t i = 0; i < r->n_inputs; i++) n += r->input[i].n;
    const uint64_t range[2] = {dis__job_first((size_t)n, (size_t)comm->size, (size_t)comm->rank),
                               dis__job_first((size_t)n, (size_t)comm->size, (size_t)comm->rank + 1)};
    DIS_TRY(count_quotes(r, range, file_part.quotes_before, &file_part.quotes));
    r->collector.n_bytes = range[1] - range[0] + 1;
    uint64_t at = 0;
    for (size_t i = 0; i < r->n_inputs; at += r->input[i++].n) {
        if (!overlap(&r->input[i], at, range, part)) continue;
        file_part.first = part[0];
        file_part.last = part[1];
        DIS_TRY(dis__read_file(r, &r->input[i], &file_part));
    }
    return DIS_OK;
}

static dis_status empty_table(dis_votes *votes)
{
    votes->n_items = votes->n_workers = votes->n_votes = 0;
    DIS_TRY(dis_names_create(NULL, 0, &votes->tasks));
    DIS_TRY(dis_names_create(NULL, 0, &votes->workers));
    if (!votes->classes) DIS_TRY(dis_names_create(NULL, 0, &votes->classes));
    return dis__alloc_zeroed(&votes->start, 1, sizeof *votes->start);
}

static dis_status sum_notes(const dis__comm *comm, dis_votes_notes *notes)
{
    uint64_t *const all[] = {&notes->rows,       &notes->bad_rows, &notes->missing_labels, &notes->dropped,
                             &notes->duplicates, &notes->ties,     &notes->items_left_out};
    enum { N = sizeof all / sizeof *all };
    uint64_t x[N];
    for (size_t i = 0; i < N; i++) x[i] = *all[i];
    DIS_TRY(dis__comm_sum_counts(comm, x, N));
    for (size_t i = 0; i < N; i++) *all[i] = x[i];
    return DIS_OK;
}

/* After votes were removed; if items were left out, workers may have no votes. */
static dis_status share_again(dis__reader *r)
{
    uint64_t left_out = r->votes->notes.items_left_out;
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(r->ctx), &left_out, 1));
    return dis__votes_redistribute(r->ctx, left_out == 0, r->votes);
}

dis_status dis__read_on_ranks(dis__reader *r)
{
    const dis__comm *comm = dis__context_comm(r->ctx);
    dis_votes *votes = r->votes;
    const bool drops =
        r->o.min_votes || r->o.duplicates == DIS_DUPLICATES_FIRST || r->o.duplicates == DIS_DUPLICATES_LAST;
    dis_status status = read_share(r);
    if (status == DIS_OK && r->collector.labels.n) status = dis__reader_finish(r);
    if (status == DIS_OK && !r->collector.labels.n) status = empty_table(votes);
    DIS_TRY(dis__comm_first_failure(comm, status));
    dis_names *declared = NULL;
    if (r->rules.declared) DIS_TRY(dis_names_create(r->o.classes, r->o.n_classes, &declared));
    status = dis__votes_distribute(r->ctx, declared, votes);
    dis_names_destroy(declared);
    if (status == DIS_OK) status = dis__reader_apply_rules(r);
    DIS_TRY(dis__comm_first_failure(comm, status));
    if (drops) DIS_TRY(share_again(r));
    DIS_TRY(sum_notes(comm, &votes->notes));
    return votes->part.n_items ? DIS_OK : dis__comm_first_failure(comm, dis__reader_no_votes(r));
}
