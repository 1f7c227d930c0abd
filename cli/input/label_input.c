/* Files of soft labels, and gold labels, in one order. */
#include "tool/json_writer.h"
#include "input/label_input.h"
#include "input/votes_input.h"
#include <stdlib.h>
#include <string.h>

int label_input_add(label_input *in, const char *path, const char *role)
{
    if (in->n == LABEL_INPUT_MAX) return cli_usage(in->c, "%s: too many files", path);
    in->path[in->n] = path;
    in->role[in->n++] = role;
    return 0;
}

int label_input_read_files(label_input *in, dis_context *ctx)
{
    dis_labels_read_options how = dis_labels_read_options_default();
    how.renormalise = in->renormalise;
    how.multi_label = in->multi_label;
    for (size_t i = 0; i < in->n; i++) {
        const dis_status status = dis_labels_read(ctx, in->path[i], &how, &in->labels[i]);
        if (status != DIS_OK) return cli_failed(in->c, status);
    }
    if (!in->gold_path) return 0;
    gold_input gold;
    int code = gold_input_init(in->c, in->gold_columns, in->fold_case, in->trim, &gold);
    if (code == 0) code = cli_failed(in->c, dis_gold_read(ctx, in->gold_path, &gold.o, &in->gold));
    gold_input_free(&gold);
    return code;
}

int label_input_add_view(label_input *in, const char *path, const char *role, const dis_labels_view *view)
{
    const int code = label_input_add(in, path, role);
    if (code == 0) in->view[in->n - 1] = view;
    return code;
}

int label_input_align(label_input *in, dis_context *ctx)
{
    dis_alignment_source sources[LABEL_INPUT_MAX];
    for (size_t i = 0; i < in->n; i++)
        sources[i] = (dis_alignment_source){.name = in->path[i],
                                            .labels = in->view[i] ? *in->view[i] : dis_labels_get_view(in->labels[i])};
    dis_alignment_options o = dis_alignment_options_default();
    o.lenient = in->lenient;
    o.gold = in->gold;
    o.classes = in->classes;
    const dis_status status = dis_alignment_run(ctx, sources, in->n, &o, &in->aligned);
    if (status != DIS_OK) return cli_failed(in->c, status);
    in->alignment = dis_alignment_get_view(in->aligned);
    return 0;
}

int label_input_read(label_input *in, dis_context *ctx)
{
    const int code = label_input_read_files(in, ctx);
    return code != 0 ? code : label_input_align(in, ctx);
}

static uint64_t renormalised(const label_input *in, size_t i)
{
    return in->labels[i] ? dis_labels_n_renormalised(in->labels[i]) : 0;
}

void label_input_free(label_input *in)
{
    dis_alignment_destroy(in->aligned);
    dis_gold_destroy(in->gold);
    for (size_t i = 0; i < in->n; i++) dis_labels_destroy(in->labels[i]);
}

void label_input_print(label_input *in)
{
    const dis_alignment_view *v = &in->alignment;
    for (size_t i = 0; i < in->n; i++) {
        const uint64_t scaled = renormalised(in, i);
        if (scaled)
            cli_warn(in->c, "%s: %llu rows that did not sum to 1 were rescaled", in->path[i],
                     (unsigned long long)scaled);
        if (v->notes[i].n_items_dropped)
            cli_warn(in->c, "%s: %zu items that are not in all files are skipped", in->path[i],
                     v->notes[i].n_items_dropped);
        if (v->notes[i].n_classes_added && !(in->hard && in->view[i]))
            cli_warn(in->c, "%s: %zu classes that only other files have are read as 0", in->path[i],
                     v->notes[i].n_classes_added);
    }
    if (!in->gold) return;
    if (v->n_items_without_gold)
        cli_warn(in->c, "%s: %zu items have no gold label", in->gold_path, v->n_items_without_gold);
    if (v->n_gold_dropped)
        cli_warn(in->c, "%s: %zu gold labels belong to items that are in none of the files", in->gold_path,
                 v->n_gold_dropped);
}

dis_status label_input_write_json(const label_input *in, dis__json_writer *j)
{
    dis_status status = DIS_OK;
    cli_inputs_begin(j);
    for (size_t i = 0; i < in->n && status == DIS_OK; i++) {
        dis__json_writer_begin_object(j);
        status = cli_input_write_fields(j, in->path[i], in->role[i]);
        cli_json_write_count(j, "renormalised", renormalised(in, i));
        cli_json_write_count(j, "items_left_out", in->alignment.notes[i].n_items_dropped);
        cli_json_write_count(j, "classes_added", in->alignment.notes[i].n_classes_added);
        dis__json_writer_end_object(j);
    }
    if (status == DIS_OK && in->gold_path) {
        dis__json_writer_begin_object(j);
        status = cli_input_write_fields(j, in->gold_path, in->gold_role ? in->gold_role : "gold");
        cli_json_write_count(j, "items_without", in->alignment.n_items_without_gold);
        cli_json_write_count(j, "left_out", in->alignment.n_gold_dropped);
        dis__json_writer_end_object(j);
    }
    cli_inputs_end(j);
    return status;
}

int label_input_match_votes(const label_input *in, const dis_votes_view *votes, size_t **item, size_t **class)
{
    return votes_input_match(in->c, votes, in->alignment.tasks, in->alignment.classes, item, class);
}
