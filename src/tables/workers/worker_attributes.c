/* What a column of the votes' own files says of each worker. Read as gold labels are: a worker may come many times, but
 * with one value. Cost: two lookups per row. */
#include "dissent/panel.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "tables/gold_labels/gold_table.h"

static dis_status collect(const dis_gold *gold, const dis_names *workers, dis__name_list *list)
{
    size_t *row;
    DIS_TRY(dis__names_match_alloc(gold->tasks, workers, &row, NULL));
    dis_status status = DIS_OK;
    for (size_t w = 0; status == DIS_OK && w < dis_names_count(workers); w++) {
        size_t n = 0;
        const char *text = row[w] == SIZE_MAX ? "" : dis_names_get(gold->classes, (size_t)gold->label[row[w]], &n);
        status = dis__name_list_add(list, text, n);
    }
    dis__free(row);
    return status;
}

dis_status dis_votes_read_workers(dis_context *ctx, const char *const *paths, size_t n_paths, const char *format,
                                  const char *worker, const char *column, const dis_votes *votes, dis_names **out)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    if (!v.start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    dis__gold_source *source;
    dis_gold *gold = NULL;
    dis__name_list list = {0};
    DIS_TRY(dis__alloc_zeroed(&source, n_paths, sizeof *source));
    for (size_t i = 0; i < n_paths; i++)
        source[i] = (dis__gold_source){.path = paths[i],
                                       .format = format,
                                       .task = worker ? worker : "worker|performer",
                                       .label = column,
                                       .subject = "worker",
                                       .what = "value",
                                       .skip_empty = true};
    dis_status status = dis__gold_table_read(ctx, source, n_paths, &gold);
    if (status == DIS_OK) status = collect(gold, v.workers, &list);
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    dis_gold_destroy(gold);
    dis__free(source);
    return status;
}
