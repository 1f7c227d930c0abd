/* Labels for the items of a table of votes, from any file of labels: with probabilities, or of task and label alone.
 *
 * Which of the two a text file is, its header or first line says. It is then read from the start by the reader of that
 * kind, so it must be a file that can be opened twice. Cost: O(bytes), and the table. */
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/memory/spill.h"
#include "dissent/labels.h"
#include "tool/arrays.h"
#include "io/csv/csv.h"
#include "io/files/file_format.h"
#include "io/input/input.h"
#include "io/json/json_read.h"
#include "io/input/text_format.h"
#include <math.h>
#include <string.h>

static dis_status csv_has_p(const dis__input *input, char delimiter, bool *out)
{
    dis__csv csv;
    dis__csv_open(&csv, input, delimiter);
    const dis_status status = dis__csv_header(&csv);
    for (size_t i = 0; status == DIS_OK && i < csv.n_columns; i++)
        *out |= csv.header[i].n > 2 && memcmp(csv.header[i].text, "p:", 2) == 0;
    dis__csv_close(&csv);
    return status;
}

static dis_status json_has_p(const dis__input *input, bool *out)
{
    const char *at = input->bytes, *end = at + input->n;
    if (input->n >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    if (at == end) return dis__fail_at(DIS_EDATA, input->path, 0, 0, "an empty file");
    const char *lf = memchr(at, '\n', (size_t)(end - at));
    const dis__json_position place = {.file = input->path,
                                      .line = 1,
                                      .column = 1,
                                      .offset = (uint64_t)(at - input->bytes)};
    dis__json json = {0};
    const dis__json_value *root;
    const dis_status status = dis__json_parse(&json, at, (size_t)((lf ? lf : end) - at), &place, &root);
    if (status == DIS_OK) *out = root->kind == DIS_JSON_OBJECT && dis__json_member(root, "p");
    dis__json_free(&json);
    return status;
}

/* Whether a file has probabilities. */
static dis_status has_p(dis_context *ctx, const char *path, bool *out)
{
    const char *format;
    dis__input input;
    *out = false;
    DIS_TRY(dis__file_format(NULL, path, "csv|tsv|jsonl|npy", &format));
    if (strcmp(format, "npy") == 0) {
        *out = true;
        return DIS_OK;
    }
    char delimiter = strcmp(format, "csv") == 0 ? ',' : strcmp(format, "tsv") == 0 ? '\t' : '\0';
    DIS_TRY(dis__input_open(ctx, path, &input));
    dis_status status = dis__text_format_check(&input, format, NULL, delimiter ? &delimiter : NULL);
    if (status == DIS_OK) status = delimiter ? csv_has_p(&input, delimiter, out) : json_has_p(&input, out);
    return dis__input_finish(&input, status);
}

/* Classes that the votes lack must have no probability anywhere. */
static dis_status check_classes(const char *path, const dis_labels_view *l, const size_t *class_of)
{
    for (size_t k = 0; k < l->n_classes; k++) {
        if (class_of[k] != SIZE_MAX) continue;
        for (size_t r = 0; r < l->n_items; r++)
            if (l->p[r * l->n_classes + k] > 0)
                return dis__fail(DIS_EDATA,
                                 "%s: the label \"%.200s\" is not a class of the votes; declare it among the classes",
                                 path, dis_names_get(l->classes, k, NULL));
    }
    return DIS_OK;
}

/* Rows of the file into the order of the votes; items that it lacks have NaN. *one_hot: all of them are 0 or 1. */
static void gather(const dis_labels_view *l, const size_t *row, const size_t *class_of, const dis_votes_view *v,
                   int32_t *label, double *p, bool *one_hot)
{
    const size_t K = v->n_classes;
    *one_hot = true;
    for (size_t i = 0; i < v->n_items; i++) {
        double *to = p + i * K;
        label[i] = -1;
        for (size_t k = 0; k < K; k++) to[k] = row[i] == SIZE_MAX ? (double)NAN : 0;
        if (row[i] == SIZE_MAX) continue;
        const double *from = l->p + row[i] * l->n_classes;
        for (size_t k = 0; k < l->n_classes; k++)
            if (class_of[k] != SIZE_MAX) to[class_of[k]] = from[k];
        label[i] = (int32_t)dis__argmax(to, K);
        *one_hot &= to[label[i]] >= 1;
    }
}

static dis_status align(const char *path, const dis_labels_view *l, const dis_votes_view *v, int32_t *label,
                        double **out, size_t *unknown)
{
    size_t *row = NULL, *class_of = NULL, found;
    double *p = NULL;
    bool one_hot = false;
    dis_status status;
    DIS_TRY_GOTO(status, dis__names_match_alloc(l->tasks, v->tasks, &row, &found), end);
    DIS_TRY_GOTO(status, dis__names_match_alloc(v->classes, l->classes, &class_of, NULL), end);
    DIS_TRY_GOTO(status, check_classes(path, l, class_of), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&p, dis__saturating_size(v->n_items, v->n_classes, 0), sizeof *p), end);
    gather(l, row, class_of, v, label, p, &one_hot);
    if (unknown) *unknown = l->n_items - found;
    *out = one_hot ? NULL : p;
    if (!one_hot) p = NULL;
end:
    dis__free(row);
    dis__free(class_of);
    dis__free(p);
    return status;
}

dis_status dis_votes_read_labels(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                                 const dis_votes *votes, int32_t *label, double **p, size_t *unknown)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_labels *labels;
    bool soft;
    DIS_TRY(has_p(ctx, path, &soft));
    if (!soft) {
        *p = NULL;
        return dis_votes_read_gold(ctx, path, NULL, votes, label, unknown);
    }
    DIS_TRY(dis_labels_read(ctx, path, options, &labels));
    const dis_labels_view view = dis_labels_get_view(labels);
    const dis_status status = align(path, &view, &v, label, p, unknown);
    dis_labels_destroy(labels);
    return status;
}
