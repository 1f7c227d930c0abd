/* dissent labels by groups of people: applies the methods to the votes of each group and writes a file of labels per
 * group. */
#include "tool/json_writer.h"
#include "tool/rank_calls.h"
#include "tool/table_columns.h"
#include "tool/files.h"
#include "labels/cmd_labels.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const cli_command cli_cmd_labels;
enum { MAX_NAME = 100, NUMBERED = MAX_NAME + 24, PATH_ROOM = NUMBERED + 16 };

int labels_groups_check(labels_command *job)
{
    const labels_values *v = job->v;
    if (v->save_groups && !v->groups.group)
        return cli_usage(job->c, "--save-groups needs groups of annotators; add --worker-table and --group");
    if (v->groups.group && !v->save_groups)
        return cli_usage(job->c, "--group needs --save-groups FOLDER, the folder for the labels of each group");
    if (v->groups.group && v->predictions)
        return cli_usage(job->c, "--predictions cannot be combined with --group; leave one of them out");
    if (v->groups.group && v->init_state)
        return cli_usage(job->c, "--init-state cannot be combined with --group; leave one of them out");
    return groups_input_check(&job->groups);
}

/* A name with nothing in it that the name of a file should not have. */
static void plain_name(const dis_names *names, size_t g, char out[MAX_NAME + 1])
{
    snprintf(out, MAX_NAME + 1, "%s", dis_names_get(names, g, NULL));
    for (char *s = out; *s; s++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", *s)) *s = '-';
}

/* FOLDER/GROUP.EXTENSION; equal names distinguished by a number. The caller frees it. */
static char *group_path(const labels_command *job, size_t g)
{
    const size_t size = strlen(job->v->save_groups) + PATH_ROOM;
    char *path = malloc(size), mine[MAX_NAME + 1], other[MAX_NAME + 1], number[24] = "";
    size_t same = 0;
    plain_name(job->groups.view.names, g, mine);
    for (size_t i = 0; i < g; i++) {
        plain_name(job->groups.view.names, i, other);
        same += strcmp(mine, other) == 0;
    }
    if (same) snprintf(number, sizeof number, "-%zu", same + 1);
    if (path)
        snprintf(path, size, "%s/%s%s.%s", job->v->save_groups, mine, number, job->v->format ? job->v->format : "csv");
    return path;
}

/* Gold labels of the items that the group voted on. */
static dis_status read_gold(labels_command *job, const dis_votes *votes, int32_t **gold)
{
    *gold = NULL;
    if (!job->v->gold) return DIS_OK;
    const size_t n = dis_votes_get_view(votes).n_items;
    *gold = malloc((n ? n : 1) * sizeof **gold);
    gold_input how;
    const cli_votes_values *v = &job->v->reading;
    if (gold_input_init(job->c, v->gold_columns, v->fold_case, v->trim, &how) != 0) return DIS_EUSAGE;
    const dis_status status =
        *gold ? dis_votes_read_gold(job->ctx, job->v->gold, &how.o, votes, *gold, NULL) : DIS_ELIMIT;
    gold_input_free(&how);
    return status;
}

static dis_status label_group(labels_command *job, const dis_votes *votes, const char *path)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    int32_t *gold;
    dis_label_result *result = NULL;
    dis_fit_options how = dis_fit_options_default();
    dis_label_result_options making = dis_label_result_options_default();
    dis_status status = read_gold(job, votes, &gold);
    how.seed = job->v->seed;
    how.gold = gold;
    making.fit = &how;
    if (status == DIS_OK) status = dis_label_result_run(job->ctx, votes, &job->choice, &making, &result);
    if (status == DIS_OK) {
        const dis_labels_view labels = {.size = sizeof(dis_labels_view),
                                        .n_items = v.n_items,
                                        .n_classes = v.n_classes,
                                        .p = dis_label_result_get_view(result).p,
                                        .tasks = v.tasks,
                                        .classes = v.classes};
        status = dis_labels_write(job->ctx, &labels, path, job->v->format);
    }
    dis_label_result_destroy(result);
    free(gold);
    return status;
}

static void print_group(const labels_command *job, size_t g, const dis_votes *votes, const char *path)
{
    char name[CLI_SAFE], file[CLI_SAFE], items[CLI_NUMBER], cast[CLI_NUMBER], people[CLI_NUMBER];
    size_t n_items, n_votes;
    dis__votes_get_totals(votes, &n_items, &n_votes);
    cli_safe(dis_names_get(job->groups.view.names, g, NULL), name);
    cli_print(job->c, "  %-28s %6s workers %9s votes on %9s items  %s", name,
              cli_count_format(job->groups.view.workers[g], people), cli_count_format(n_votes, cast),
              cli_count_format(n_items, items), cli_safe(path, file));
}

/* That no group's file replaces an input, another output, or a file that dissent did not write. */
static int check_group_path(const labels_command *job, const char *path)
{
    int code = cli_output_check(job->c, &cli_cmd_labels, job->v, job->in.paths, job->in.n_paths, "save-groups", path);
    if (code == 0) code = cli_failed(job->c, dis__file_check_replace(path, DIS__OUTPUT_LABELS));
    return code;
}

int labels_group_files_check(const labels_command *job)
{
    int code = 0;
    if (!job->v->save_groups || dis_context_rank(job->ctx) != 0) return 0;
    for (size_t g = 0; g < job->groups.view.n_groups && code == 0; g++) {
        char *path = group_path(job, g);
        if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
        code = check_group_path(job, path);
        free(path);
    }
    return code;
}

static int save_group(labels_command *job, size_t g, bool *keep)
{
    dis_votes *votes = NULL;
    char *path = group_path(job, g);
    if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
    for (size_t w = 0; w < job->in.view.n_workers; w++) keep[w] = job->groups.view.group[w] == (int32_t)g;
    int code = cli_failed(job->c, dis__votes_gather_workers(job->ctx, job->in.votes, keep, &votes));
    if (code == 0) code = cli_failed(job->c, label_group(job, votes, path));
    if (code == 0) print_group(job, g, votes, path);
    dis_votes_destroy(votes);
    free(path);
    return code;
}

int labels_groups_write(labels_command *job)
{
    const char *folder = job->v->save_groups;
    if (!folder) return 0;
    int code = cli_create_folder(job->c, folder);
    if (code != 0) return code;
    const size_t n = job->in.view.n_workers;
    bool *keep = malloc(n ? n : 1);
    if (!keep) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu workers", n);
    groups_input_print(&job->groups);
    for (size_t g = 0; g < job->groups.view.n_groups && code == 0; g++) code = save_group(job, g, keep);
    free(keep);
    return code;
}

void labels_groups_write_json(const labels_command *job, dis__json_writer *j)
{
    const dis_worker_groups_view *view = &job->groups.view;
    if (!job->groups.groups) return;
    dis__json_writer_key(j, "groups");
    dis__json_writer_begin_object(j);
    groups_input_write_json(&job->groups, j);
    dis__json_writer_key(j, "by_group");
    dis__json_writer_begin_array(j);
    for (size_t g = 0; g < view->n_groups; g++) {
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "group", dis_names_get(view->names, g, NULL));
        cli_json_write_count(j, "workers", view->workers[g]);
        cli_json_write_count(j, "votes", view->votes[g]);
        char *path = group_path(job, g);
        cli_json_write_text(j, "labels", path);
        free(path);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_end_object(j);
}
