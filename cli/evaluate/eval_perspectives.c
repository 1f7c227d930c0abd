/* dissent eval --perspectives: predictions for each annotator, scored as Le-Wi-Di 2025 scores them. */
#include "tool/lewidi.h"
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "tool/files.h"
#include "evaluate/cmd_eval.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 64 };

typedef struct {
    cli *c;
    const eval_values *v;
    const dis__lewidi_set *set;
    dis__lewidi *official;
    dis__lewidi_view view;
    dis_context *ctx;
    double *soft;
    int32_t *value;
    double soft_score, score;
} perspectives;

static int check(perspectives *job, size_t n_operands)
{
    const eval_values *v = job->v;
    job->set = dis__lewidi_set_find(v->perspectives);
    if (!job->set)
        return cli_usage(job->c,
                         "--perspectives: no set \"%s\"; there are MP, CSC, Paraphrase and VariErrNLI, and votes for "
                         "any others",
                         v->perspectives);
    if (!v->official) return cli_usage(job->c, "--perspectives: give the official file with --official FILE.json");
    if (n_operands || v->gold || v->human || v->votes.n)
        return cli_usage(job->c, "--perspectives SET needs predictions as --soft FILE or --annotators FILE, and "
                                 "compares them with --official only");
    if (!v->soft && !v->annotators && !v->save_votes && !v->save_texts)
        return cli_usage(job->c, "--perspectives: give predictions with --soft FILE or --annotators FILE");
    if (v->submission && !v->soft && !v->annotators)
        return cli_usage(job->c, "--submission writes predictions; give them with --soft FILE or --annotators FILE");
    return 0;
}

static dis_status read_all(perspectives *job)
{
    const eval_values *v = job->v;
    dis_status status = dis__lewidi_read(job->ctx, v->official, job->set, &job->official);
    if (status != DIS_OK) return status;
    job->view = dis__lewidi_get_view(job->official);
    status = dis__lewidi_export(job->official, v->save_votes, v->save_texts);
    if (status == DIS_OK && v->soft) status = dis__lewidi_read_soft(job->ctx, job->official, v->soft, &job->soft);
    if (status == DIS_OK && v->annotators)
        status = dis__lewidi_read_perspectives(job->ctx, job->official, v->annotators, &job->value);
    if (status == DIS_OK && job->soft && job->view.soft)
        status = dis__lewidi_soft_score(job->official, job->soft, &job->soft_score);
    if (status == DIS_OK && job->value) job->score = dis__lewidi_perspective_score(job->official, job->value);
    return status;
}

/* FOLDER/MP_test_soft.tsv and FOLDER/MP_test_pe.tsv: NULL if there is no memory. The caller frees it. */
static char *submission_path(const perspectives *job, const char *what)
{
    const size_t size = strlen(job->v->submission) + PATH_ROOM;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s_test_%s.tsv", job->v->submission, job->set->name, what);
    return path;
}

/* That no file to submit replaces one that dissent did not write. */
static int check_submission(const perspectives *job)
{
    const struct {
        const char *what;
        bool written;
    } files[] = {{"soft", job->v->soft != NULL}, {"pe", job->v->annotators != NULL}};
    int code = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && code == 0 && job->v->submission; i++) {
        if (!files[i].written) continue;
        char *path = submission_path(job, files[i].what);
        if (!path) return cli_error(job->c, DIS_ELIMIT, "no memory for a file name");
        code = cli_failed(job->c, dis__file_check_replace(path, DIS__OUTPUT_SUBMISSION));
        free(path);
    }
    return code;
}

static dis_status write_submission(const perspectives *job, const char *soft, const char *people)
{
    if (!soft || !people) return DIS_ELIMIT;
    dis_status status = DIS_OK;
    if (job->soft) status = dis__lewidi_write_soft(job->official, job->soft, soft);
    if (status == DIS_OK && job->value) status = dis__lewidi_write_perspectives(job->official, job->value, people);
    return status;
}

static int submit(const perspectives *job)
{
    const char *folder = job->v->submission;
    if (!folder) return 0;
    const int code = cli_create_folder(job->c, folder);
    if (code != 0) return code;
    char *soft = submission_path(job, "soft"), *people = submission_path(job, "pe");
    const dis_status status = write_submission(job, soft, people);
    const bool no_memory = !soft || !people;
    free(soft);
    free(people);
    return no_memory ? cli_error(job->c, DIS_ELIMIT, "no memory for a file name") : cli_failed(job->c, status);
}

static dis_status write_json(const perspectives *job)
{
    const eval_values *v = job->v;
    dis__json_writer *j;
    if (!v->figures.json) return DIS_OK;
    dis_status status = cli_summary_open(v->figures.json, "eval", &v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = cli_input_write(j, v->official, "official");
    if (status == DIS_OK && v->soft) status = cli_input_write(j, v->soft, "soft");
    if (status == DIS_OK && v->annotators) status = cli_input_write(j, v->annotators, "annotators");
    cli_inputs_end(j);
    cli_json_write_text(j, "set", job->set->name);
    cli_json_write_count(j, "items", job->view.n_items);
    cli_json_write_count(j, "annotators", job->view.n_workers);
    cli_json_write_count(j, "annotations", job->view.n_annotations);
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    if (job->soft && job->view.soft) cli_json_write_real(j, "soft_score", job->soft_score);
    if (job->value) cli_json_write_real(j, "perspective_score", job->score);
    dis__json_writer_end_object(j);
    return cli_summary_close(j, status);
}

static int print(const perspectives *job)
{
    static const char *const columns[] = {"set", "score", "value", "items", "better"};
    const char *format = cli_metric_table_format(&job->v->figures);
    const struct {
        bool shown;
        const char *name, *text;
        double value;
    } rows[] = {{job->soft && job->view.soft, "soft",
                 job->set->ordered ? "soft: mean Wasserstein distance" : "soft: mean Manhattan distance",
                 job->soft_score},
                {job->value, "perspectives",
                 job->set->ordered ? "perspectives: mean absolute distance, scaled" : "perspectives: error rate",
                 job->score}};
    if (!format) {
        for (size_t r = 0; r < 2; r++)
            if (rows[r].shown) printf("%-12s %-46s %.5f\n", job->set->name, rows[r].text, rows[r].value);
        return cli_flush(job->c);
    }
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(cli_metric_table_path(&job->v->figures), format, columns, 5, &t);
    if (status != DIS_OK) return cli_failed(job->c, status);
    for (size_t r = 0; r < 2; r++) {
        if (!rows[r].shown) continue;
        cli_cell_write_text(t, job->set->name);
        cli_cell_write_text(t, rows[r].name);
        dis__table_writer_real(t, rows[r].value);
        dis__table_writer_count(t, job->view.n_items);
        cli_cell_write_text(t, "lower");
    }
    return cli_failed(job->c, dis__table_writer_finish(t, DIS_OK));
}

static void print_summary(const perspectives *job)
{
    char items[CLI_NUMBER], annotations[CLI_NUMBER], safe[CLI_SAFE];
    cli_print(job->c, "%s: %s, %s items, %s annotations of %zu annotators%s", cli_safe(job->v->official, safe),
              job->set->name, cli_count_format(job->view.n_items, items),
              cli_count_format(job->view.n_annotations, annotations), job->view.n_workers,
              job->view.soft ? "" : "; no soft labels");
}

int eval_perspectives_run(cli *c, const eval_values *v, size_t n_operands)
{
    perspectives job = {.c = c, .v = v};
    int code = check(&job, n_operands);
    if (code == 0) code = cli_metric_table_check(c, &v->figures);
    if (code == 0) code = check_submission(&job);
    if (code == 0) code = cli_failed(c, cli_context_create(c, &v->common, &job.ctx));
    if (code == 0) code = cli_ranks_reject(c, job.ctx, "perspectives");
    if (code == 0) code = cli_failed(c, read_all(&job));
    if (code == 0) print_summary(&job);
    if (code == 0) code = submit(&job);
    if (code == 0) code = cli_failed(c, write_json(&job));
    if (code == 0 && (v->soft || v->annotators)) code = print(&job);
    code = cli_ranks_end(c, job.ctx, code);
    dis_free(job.soft);
    dis_free(job.value);
    dis__lewidi_destroy(job.official);
    dis_context_destroy(job.ctx);
    return code;
}
