/* How a pass over the votes is cut.
 *
 * A shard's copy of the table costs about as much as four votes per row, and room in the second cache: at least 64
 * votes per row keep that in the per cents. Up to FEW_SHARDS are made at 10 votes per row, so that a second thread has
 * something to do. Beyond ENOUGH shards half as many votes per row will do: threads are seldom equally fast, and with
 * one shard each all would wait for the slowest. Powers of two share out evenly over the usual numbers of threads and
 * ranks.
 * Beyond MANY_VOTES, which take minutes per pass on one machine, there are more, for ranks to share. */
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "votes/table/votes_table.h"

enum { SHARD_BYTES = 256 << 20, FEW_SHARDS = 4, ENOUGH = 16, MAX_SHARDS = 64, LARGE_SHARDS = 256 };
#define MANY_VOTES ((size_t)1 << 33)

size_t dis__votes_shards(size_t n_votes, size_t table_size, size_t row)
{
    const size_t rows = table_size / (2 * row) + 1, max = n_votes < MANY_VOTES ? MAX_SHARDS : LARGE_SHARDS;
    const size_t few = dis__n_jobs(n_votes, 20000 + 10 * rows, FEW_SHARDS),
                 enough = dis__n_jobs(n_votes / 64, rows, ENOUGH),
                 many = enough == ENOUGH ? dis__n_jobs(n_votes / 32, rows, max) : enough,
                 wanted = many > few ? many : few;
    size_t n = 1;
    while (2 * n <= wanted) n *= 2;
    while (n > 1 && dis__saturating_size(table_size, n * sizeof(double), 0) > SHARD_BYTES) n /= 2;
    return n;
}
