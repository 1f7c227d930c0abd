/* label_input.h: several files of soft labels, and gold labels, read and brought into one order: for the subcommands
 * that compare them.
 *
 *     label_input in = {.c = c, .lenient = v->lenient};
 *     int code = label_input_add(&in, path, "a");           before the first byte is read, in the order wanted
 *     in.gold_path = v->gold;
 *     if (code == 0) code = label_input_read(&in, ctx);     in.alignment has everything
 *     if (code == 0) label_input_print(&in);
 *     label_input_free(&in);
 *
 * Calls that return int return an exit code, errors are reported already. */
#ifndef DIS_CLI_LABEL_INPUT_H
#define DIS_CLI_LABEL_INPUT_H
#include "tool/json_writer.h"
#include "input/gold_input.h"
#include "output/metric_table.h"
#include "output/json_summary.h"

enum { LABEL_INPUT_MAX = 2 * CLI_MAX_VALUES + 1 };

typedef struct {
    cli *c;
    bool lenient, renormalise;
    bool multi_label;      /* labels are sets of classes: rows need not sum to 1 */
    bool hard;             /* labels in memory are one class per item: one that they lack is not a news */
    const char *gold_path; /* NULL: none */
    const char *gold_role; /* what the summary calls it; NULL: "gold" */
    const char *gold_columns;
    bool fold_case, trim; /* of the gold labels */
    size_t n;
    const char *path[LABEL_INPUT_MAX], *role[LABEL_INPUT_MAX];
    dis_labels *labels[LABEL_INPUT_MAX];          /* NULL for those that */
    const dis_labels_view *view[LABEL_INPUT_MAX]; /* were in memory */
    const dis_names *classes;                     /* declared ones; NULL: those of the files */
    dis_gold *gold;
    dis_alignment *aligned;
    dis_alignment_view alignment;
} label_input;

/* `role` is what the summary calls the file; both must outlive the input. */
int label_input_add(label_input *in, const char *path, const char *role);
int label_input_read(label_input *in, dis_context *ctx);
/* The same in two steps: the files; then labels that are in memory already, if any, and everything in one order. */
int label_input_read_files(label_input *in, dis_context *ctx);
int label_input_add_view(label_input *in, const char *path, const char *role, const dis_labels_view *view);
int label_input_align(label_input *in, dis_context *ctx);
void label_input_free(label_input *in);

/* As text: what --lenient and --renormalise let pass. */
void label_input_print(label_input *in);
/* As JSON: "inputs", each with what it had let pass. */
dis_status label_input_write_json(const label_input *in, dis__json_writer *j);

/* votes_input_match() for the items and classes of the input. */
int label_input_match_votes(const label_input *in, const dis_votes_view *votes, size_t **item, size_t **class);

#endif
