/* Votes of every shape and container: the first two bytes choose the options. One chunk and tiny chunks must agree, in
 * the table as in the message; a table that is read is whole: indices in range, names different, votes of an item
 * together. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "fuzz_check_votes.h"
#include "votes/read/reader.h"
#include <math.h>

static void check(const dis_votes *votes)
{
    check_votes(votes);
    const dis_votes_view v = dis_votes_get_view(votes);
    for (size_t i = 0; i < v.n_items && i < 300; i++)
        for (size_t k = 0; k < i; k++)
            MUST(strcmp(dis_names_get(v.tasks, i, NULL), dis_names_get(v.tasks, k, NULL)) != 0);
}

static void compare(const dis_votes *a, const dis_votes *b)
{
    const dis_votes_view x = dis_votes_get_view(a), y = dis_votes_get_view(b);
    MUST(x.n_items == y.n_items && x.n_workers == y.n_workers && x.n_classes == y.n_classes && x.n_votes == y.n_votes);
    for (size_t i = 0; i < x.n_items; i++)
        MUST(strcmp(dis_names_get(x.tasks, i, NULL), dis_names_get(y.tasks, i, NULL)) == 0);
    if (x.start) {
        MUST(memcmp(x.start, y.start, (x.n_items + 1) * sizeof *x.start) == 0);
        MUST(memcmp(x.worker, y.worker, x.n_votes * sizeof *x.worker) == 0);
        MUST(x.label8 ? memcmp(x.label8, y.label8, x.n_votes) == 0
                      : memcmp(x.label16, y.label16, x.n_votes * sizeof *x.label16) == 0);
    } else {
        MUST(memcmp(x.counts, y.counts, x.n_items * x.n_classes * sizeof *x.counts) == 0);
    }
    const dis_votes_notes m = dis_votes_get_notes(a), n = dis_votes_get_notes(b);
    MUST(m.rows == n.rows && m.bad_rows == n.bad_rows && m.missing_labels == n.missing_labels &&
         m.duplicates == n.duplicates && m.ties == n.ties);
    for (size_t i = 0; dis_votes_get_skipped_row(a, i); i++)
        MUST(strcmp(dis_votes_get_skipped_row(a, i), dis_votes_get_skipped_row(b, i)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"csv", "tsv", "jsonl", "npy"}, *const na[] = {""};
    if (size < 2) return 0;
    dis_votes_options o = dis_votes_options_default();
    o.input = (dis_input)(data[0] & 3);
    o.format = formats[data[0] >> 2 & 3];
    o.duplicates = (dis_duplicates)(data[0] >> 4 & 3);
    o.lenient = data[0] >> 6 & 1;
    o.renormalise = data[0] >> 7;
    o.na = na;
    o.n_na = data[1] & 1;
    o.min_votes = data[1] >> 1 & 3;
    const dis__tuning one_chunk = {.chunk = 1 << 19, .round = 16, .tasks = &dis__tasks_hashed},
                      tiny = {.chunk = 1 + (data[1] >> 3), .round = 3, .bucket = 30};
    const char *path = fuzz_file("a", data + 2, size - 2);
    dis_votes *a = NULL, *b = NULL;
    char message[2048] = "";
    const dis_status status = dis__votes_read(NULL, &path, 1, &o, &one_chunk, &a);
    if (status != DIS_OK) snprintf(message, sizeof message, "%s", dis_last_error());
    MUST(status == dis__votes_read(NULL, &path, 1, &o, &tiny, &b));
    if (status != DIS_OK) {
        MUST(strcmp(message, dis_last_error()) == 0 && message[0]);
        return 0;
    }
    check(a);
    compare(a, b);
    dis_votes_destroy(a);
    dis_votes_destroy(b);
    return 0;
}
