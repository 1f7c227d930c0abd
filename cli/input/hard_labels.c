/* Predictions that are labels, as one-hot tables. */
#include "input/hard_labels.h"
#include <stdlib.h>
#include <string.h>

int hard_labels_read(cli *c, dis_context *ctx, const char *path, hard_labels *out)
{
    const dis_status status = dis_gold_read(ctx, path, NULL, &out->gold);
    if (status != DIS_OK) return cli_failed(c, status);
    const dis_gold_view g = dis_gold_get_view(out->gold);
    const size_t k = dis_names_count(g.classes);
    if (g.n_items < SIZE_MAX / sizeof(double) / k) out->p = calloc(g.n_items * k, sizeof *out->p);
    if (!out->p) return cli_error(c, DIS_ELIMIT, "%s: no memory for %zu items of %zu classes", path, g.n_items, k);
    for (size_t i = 0; i < g.n_items; i++) out->p[i * k + (size_t)g.label[i]] = 1;
    out->view = (dis_labels_view){.size = sizeof(dis_labels_view),
                                  .n_items = g.n_items,
                                  .n_classes = k,
                                  .p = out->p,
                                  .tasks = g.tasks,
                                  .classes = g.classes};
    return 0;
}

void hard_labels_free(hard_labels *hard)
{
    free(hard->p);
    dis_gold_destroy(hard->gold);
}

static bool is_new(const char *const *texts, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0) return false;
    return true;
}

int hard_labels_merge_classes(cli *c, const dis_names *const *lists, size_t n_lists, dis_names **out)
{
    size_t room = 0, n = 0;
    for (size_t l = 0; l < n_lists; l++) room += dis_names_count(lists[l]);
    const char **texts = calloc(room + 1, sizeof *texts);
    if (!texts) return cli_error(c, DIS_ELIMIT, "no memory for %zu classes", room);
    for (size_t l = 0; l < n_lists; l++)
        for (size_t k = 0; k < dis_names_count(lists[l]); k++) {
            const char *text = dis_names_get(lists[l], k, NULL);
            if (is_new(texts, n, text)) texts[n++] = text;
        }
    const dis_status status = dis_names_create(texts, n, out);
    free(texts);
    return cli_failed(c, status);
}
