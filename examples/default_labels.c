/* The default soft labels of votes, as a file: default_labels VOTES LABELS
 *
 *     cc default_labels.c $(pkg-config --cflags --libs dissent) -o default_labels
 *     ./default_labels votes.csv labels.csv */
#include <dissent/dissent.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *in = argc > 1 ? argv[1] : "-", *out = argc > 2 ? argv[2] : "-";
    dis_votes *votes = NULL;
    dis_label_plan plan = dis_label_plan_default();
    dis_label_result *result = NULL;
    dis_status status = dis_votes_read(NULL, &in, 1, NULL, &votes);
    if (status == DIS_OK) status = dis_label_plan_parse(NULL, 0, NULL, true, &plan); /* nothing named: the default */
    if (status == DIS_OK) status = dis_label_result_run(NULL, votes, &plan, NULL, &result);
    if (status == DIS_OK) status = dis_label_result_write_labels(NULL, result, votes, out, NULL);
    if (status != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
    dis_label_result_destroy(result);
    dis_votes_destroy(votes);
    return (int)status;
}
