/* cmd_review.h: one run of `dissent review`, shared by the files that work, tell and write it down. */
#ifndef DIS_CLI_CMD_REVIEW_H
#define DIS_CLI_CMD_REVIEW_H
#include "output/metric_table.h"
#include "input/groups_input.h"
#include "input/texts_input.h"
#include "input/votes_input.h"

enum { REVIEW_TOP = 20 }; /* rows for people where --top leaves it open */

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_metric_table_values figures;
    cli_texts_values texts;
    cli_list method;
    const char *combine, *gold, *items, *workers, *labels, *accepted, *send_back, *causes, *readings, *camps;
    cli_groups_values groups;
    int by;
    uint64_t top, budget;
    double accept;
} review_values;

typedef struct {
    cli *c;
    const review_values *v;
    votes_input in;
    dis_review *review;
    dis_review_view view;
    dis_names *texts; /* (n_items), empty: not known; NULL without --texts */
    dis_label_plan choice;
    int32_t *labels; /* of --labels */
    double *p;       /* their probabilities, or NULL */
    size_t n_labels, n_labels_unknown;
    groups_input groups;
} review_command;

static inline size_t review_rows_limit(size_t n, uint64_t max)
{
    return n < max ? n : (size_t)max;
}

/* review_output.c; n: the first so many rows. */
typedef enum { REVIEW_ALL_ITEMS, REVIEW_ACCEPTED_ITEMS, REVIEW_OTHER_ITEMS } review_which;
dis_status review_items_write(const review_command *job, const char *path, const char *format, size_t n,
                              review_which which);
dis_status review_workers_write(const review_command *job, const char *path);
dis_status review_causes_write(const review_command *job, const char *path);
dis_status review_camps_write(const review_command *job, const char *path);
dis_status review_json_write(const review_command *job, const char *path);
void review_items_print(const review_command *job, size_t n);
void review_workers_print(const review_command *job, size_t n);
void review_biased_print(const review_command *job, size_t n);

#endif
