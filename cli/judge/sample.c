/* dissent judge sample: items that people should label next. */
#include "tool/table_writer.h"
#include "judge/cmd_judge.h"
#include "output/metric_table.h"
#include <stdlib.h>

static dis_status write_rows(const judge_command *job, const dis_judge_sample_row *rows, size_t n)
{
    static const char *const columns[] = {"task", "answer", "third", "probability", "weight"};
    static const char *const thirds[] = {"low", "middle", "high"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(job->v->output ? job->v->output : "-", NULL, columns,
                                                       sizeof columns / sizeof *columns, &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < n; r++) {
        cli_cell_write_name(t, job->in.view.tasks, rows[r].item);
        cli_cell_write_name(t, job->in.view.classes, rows[r].class_index);
        cli_cell_write_text(t, job->v->score ? thirds[rows[r].third] : NULL);
        dis__table_writer_real(t, rows[r].probability);
        dis__table_writer_real(t, rows[r].weight);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

int judge_sample(judge_command *job)
{
    dis_judge_sample_options o = dis_judge_sample_options_default();
    dis_judge_sample_row *rows = NULL;
    double *score = NULL;
    size_t n = 0;
    char number[CLI_NUMBER];
    int code = job->v->score ? judge_column_read(job, "score", job->v->score, NULL, &score) : 0;
    o.name = job->v->judge;
    o.score = score;
    o.n = (size_t)job->v->n;
    o.seed = job->v->seed;
    if (code == 0) code = cli_failed(job->c, dis_judge_sample(job->ctx, job->in.votes, job->person, &o, &rows, &n));
    if (code == 0) {
        votes_input_print(&job->in);
        code = cli_failed(job->c, write_rows(job, rows, n));
    }
    if (code == 0)
        cli_print(job->c, "  %-18s %s items; after labelling, use the file as --weights of judge certify", "chosen",
                  cli_count_format(n, number));
    dis_free(rows);
    free(score);
    return code;
}
