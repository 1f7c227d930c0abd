/* hard_labels.h: predictions that are one label per item, as tables of soft labels with all mass on it.
 *
 *     hard_labels hard = {0};
 *     int code = hard_labels_read(c, ctx, path, &hard);     task and label, as gold labels are read
 *     if (code == 0) code = label_input_add_view(&in, path, "a", &hard.view);
 *     ...
 *     hard_labels_free(&hard);                              after the input
 *
 * Calls that return int return an exit code, errors are reported already. */
#ifndef DIS_CLI_HARD_LABELS_H
#define DIS_CLI_HARD_LABELS_H
#include "core/cli.h"

typedef struct {
    dis_gold *gold; /* has the names */
    double *p;
    dis_labels_view view; /* classes are those that the file has */
} hard_labels;

int hard_labels_read(cli *c, dis_context *ctx, const char *path, hard_labels *out);
void hard_labels_free(hard_labels *hard);

/* All names of several lists, each once, in order of appearance. */
int hard_labels_merge_classes(cli *c, const dis_names *const *lists, size_t n_lists, dis_names **out);

#endif
